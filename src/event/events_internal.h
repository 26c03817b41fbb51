/*
 * State of a cursor, shared by its files.
 */
#ifndef HWTDI_EVENTS_INTERNAL_H
#define HWTDI_EVENTS_INTERNAL_H

#include "base/users.h"
#include "event/cursor.h"
#include "event/lane.h"

/* A lane and the time of what is next in it. */
struct hwtdi_head {
	uint64_t ns;
	size_t lane;
};

struct hwtd_events {
	struct hwtd_context *library;
	struct hwtdi_users users;
	struct hwtd_trace *trace;
	struct hwtdi_filter filter;
	struct hwtdi_pool *pool;
	/* Nothing that is being made is needed. */
	atomic_bool cancel;

	struct hwtdi_lane **lanes;
	size_t n_lanes;
	/* Heap of lanes by their next row; those without time wait behind. */
	struct hwtdi_head *heap;
	size_t n_heap;
	size_t next_untimed;
	/* Lanes below this one were started. */
	size_t n_started;
	bool started;
	/* The first lane of the heap has to be fetched and put in its place. */
	bool waiting;
	/* Stream alone to be read after a seek by offset, or HWTD_NO_ID. */
	uint32_t only;

	struct hwtd_stats stats;
	/* Damage of the file that belongs to no stream: the next to tell. */
	size_t damage_no;
	bool strict_end;
	/* The first byte of the gap that a strict cursor ended with. */
	uint64_t strict_off;
	/* Seeking failed, and where it is cannot be said. */
	bool astray;
	struct hwtdi_record_lane records;
	/* Details of the batch that was handed out last. */
	struct hwtdi_rows details;
};

/* events_merge.c */
/* Stands for the records that come by time, which no lane has. */
#define HWTDI_EVENTS_RECORDS SIZE_MAX

/* Put all lanes with time on the heap.  HWTD_AGAIN: go on later. */
int hwtdi_events_start(struct hwtd_events *ev, struct hwtd_error *err);
/*
 * The lane whose row is next, or HWTDI_EVENTS_RECORDS.  HWTD_OK, HWTD_END,
 * HWTD_AGAIN or an error.
 */
int hwtdi_events_next(struct hwtd_events *ev, size_t *lane_out,
    struct hwtd_error *err);
/*
 * Hand out rows of the lane, which has the next one, and of the one that comes
 * after it, as far as that takes nothing but copying.  False: there are none such.
 */
bool hwtdi_events_merge(struct hwtd_events *ev, size_t lane_no,
    struct hwtd_batch *batch);
/*
 * How many rows of the lane, which has the next one, come before those of
 * every other lane and before a record.
 */
size_t hwtdi_events_run(const struct hwtd_events *ev, size_t lane_no,
    size_t most);

#endif /* HWTDI_EVENTS_INTERNAL_H */
