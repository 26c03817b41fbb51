/*
 * Records among the rows: where each one comes, and its row.
 *
 * A record with time comes before the rows of that time, in the order of the
 * records; those with time 0 are the first rows.  A record without time that
 * names a byte of a stream comes in that stream, before the rows at or after
 * the byte.  One with neither comes right after the record it follows, or
 * first.
 */
#ifndef HWTDI_RECORD_LANE_H
#define HWTDI_RECORD_LANE_H

#include "event/filter.h"
#include "trace/trace_model.h"

struct hwtdi_record_place {
	/* Its time, or its byte in `stream`, or what it follows has. */
	uint64_t key;
	size_t index;
	/* HWTD_NO_ID: it comes by time. */
	uint32_t stream;
	/* A filter leaves it out. */
	bool hidden;
};

struct hwtdi_record_lane {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	/* Those by time first, then stream by stream; room for `cap`. */
	struct hwtdi_record_place *places;
	size_t n, n_timed, cap;
	/* The next one by time. */
	size_t at;
	/* After a seek by offset: only those that name such a byte. */
	uint32_t only;
	uint64_t only_from;
};

/* Nothing is in it unless the filter asks for records. */
int hwtdi_record_lane_init(struct hwtdi_record_lane *lane,
    struct hwtd_trace *trace, const struct hwtdi_filter *filter,
    struct hwtd_error *err);
void hwtdi_record_lane_fini(struct hwtdi_record_lane *lane);

/* Those that come in a stream, lowest byte first.  Borrowed from `lane`. */
const struct hwtdi_record_place *hwtdi_record_lane_of(
    const struct hwtdi_record_lane *lane, uint32_t stream, size_t *n_out);

/* The first place in [0, n) that is not below `key`, all of one stream. */
size_t hwtdi_record_lane_find(const struct hwtdi_record_place *places,
    size_t n, uint64_t key);

/* From the start; from a time; only what names a byte at or after `off`. */
void hwtdi_record_lane_rewind(struct hwtdi_record_lane *lane);
void hwtdi_record_lane_seek_ns(struct hwtdi_record_lane *lane,
    uint64_t time_ns);
void hwtdi_record_lane_seek_offset(struct hwtdi_record_lane *lane,
    uint32_t stream, uint64_t off);

/* One comes by time, before all rows of *time_out. */
bool hwtdi_record_lane_next(const struct hwtdi_record_lane *lane,
    uint64_t *time_out);

/*
 * The row of a record.  HWTD_OK; HWTD_AGAIN: it is made, but left out;
 * HWTD_END: it is not read after this seek; or an error.
 */
int hwtdi_record_lane_row(const struct hwtdi_record_lane *lane,
    const struct hwtdi_record_place *place, struct hwtd_event *row,
    struct hwtd_error *err);

#endif /* HWTDI_RECORD_LANE_H */
