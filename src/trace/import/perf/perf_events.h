/*
 * The events that a perf.data was recorded with: what their records end with, and
 * which event a record is of.
 */
#ifndef HWTDI_PERF_EVENTS_H
#define HWTDI_PERF_EVENTS_H

#include "base/index.h"
#include "trace/import/perf/perf_reader.h"

/* perf_event_attr, as far as it is of use. */
struct hwtdi_perf_event {
	/* Of the PMU. */
	uint32_t type;
	uint64_t config;
	uint64_t sample_type;
	uint64_t read_format;
	/* Records that are no samples end with a sample id. */
	bool has_sample_id;
	bool has_clockid;
	int32_t clockid;
	/* What samples have. */
	uint64_t branch_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	char *name;
};

struct hwtdi_perf_event_id {
	uint64_t id;
	uint32_t event;
	/* What it counts on, or HWTD_NO_ID. */
	uint32_t cpu;
	uint32_t tid;
};

/* All zero: none. */
struct hwtdi_perf_events {
	struct hwtdi_perf_event *events;
	size_t n, cap;
	struct hwtdi_perf_event_id *ids;
	size_t n_ids, cap_ids;
	struct hwtdi_index by_id;
};

/* Who and when: what a record ends with.  A field that is not there is not set. */
struct hwtdi_perf_sample_id {
	/* PERF_SAMPLE_* of the fields below that are there. */
	uint64_t has;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t id;
	uint32_t cpu;
	/* Bytes. */
	size_t size;
	/* What the event with that id is counted on, or HWTD_NO_ID. */
	uint32_t event_cpu;
	uint32_t event_tid;
};

/* Events of one file at the most. */
#define HWTDI_PERF_MAX_EVENTS 65536u

/*
 * Add an event: perf_event_attr is `n` bytes at `attr`, of any version.
 * HWTD_E_CORRUPT: it is less than the first version.
 */
int hwtdi_perf_events_add(struct hwtdi_perf_events *events,
    struct hwtd_context *ctx, const uint8_t *attr, size_t n, bool big,
    uint32_t *event_out, struct hwtd_error *err);

/* Add an event of which only what records end with is known. */
int hwtdi_perf_events_add_plain(struct hwtdi_perf_events *events,
    struct hwtd_context *ctx, uint64_t sample_type, struct hwtd_error *err);

/* `id` in records stands for the event, unless it does for one before it. */
int hwtdi_perf_events_add_id(struct hwtdi_perf_events *events,
    struct hwtd_context *ctx, uint64_t id, uint32_t event,
    struct hwtd_error *err);

/* What the event of an id, if there is one, is counted on. */
void hwtdi_perf_events_place_id(struct hwtdi_perf_events *events,
    const struct hwtd_context *ctx, uint64_t id, uint32_t cpu, uint32_t tid);

/* The event of an id, or NULL. */
struct hwtdi_perf_event *hwtdi_perf_events_find(const struct hwtdi_perf_events
						    *events,
    const struct hwtd_context *ctx, uint64_t id);

/*
 * What a record that is no sample ends with; *event_out (may be NULL) is the event
 * that it is of.  HWTD_E_CORRUPT: there is no room for it in the record.
 */
int hwtdi_perf_events_sample_id(const struct hwtdi_perf_events *events,
    const struct hwtd_context *ctx, const struct hwtdi_perf_record *record,
    struct hwtdi_perf_sample_id *out, struct hwtd_error *err);

void hwtdi_perf_events_fini(struct hwtdi_perf_events *events,
    struct hwtd_context *ctx);

#endif /* HWTDI_PERF_EVENTS_H */
