/*
 * A lane: the rows of one stream, made batch by batch, here or by a job.
 */
#ifndef HWTDI_LANE_H
#define HWTDI_LANE_H

#include <pthread.h>

#include "base/pool.h"
#include "event/expand.h"
#include "event/segment.h"

/* What rows to leave out at the start, after a seek. */
enum hwtdi_lane_skip {
	HWTDI_SKIP_NOTHING,
	HWTDI_SKIP_TO_OFFSET,
	HWTDI_SKIP_TO_TIME
};

struct hwtdi_lane {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	uint32_t stream;
	bool timed;

	const struct hwtdi_engine *engine;
	struct hwtdi_decoder *decoder;
	struct hwtdi_code_table table;
	struct hwtdi_code_graph *graph;
	struct hwtdi_segments segments;
	struct hwtdi_expander expander;
	struct hwtdi_flow *flow;
	/* What is needed while the stream is read is there. */
	bool ready;
	const struct hwtdi_filter *filter;
	/* No row is asked for, only where records come among them. */
	bool places_only;
	enum {
		LANE_BETWEEN,
		LANE_IN_SEGMENT,
		LANE_DONE
	} state;
	/* The decoder has said all of the segment. */
	bool last_flow;

	enum hwtdi_lane_skip skip;
	uint64_t skip_to;

	/* One batch is read while the other is made. */
	struct hwtdi_rows *rows[2];
	unsigned int front;
	/* The next row and mark of the front batch, the ids of its contexts. */
	size_t at, mark;
	uint32_t *ids;
	size_t cap_ids;
	bool opened, ended;

	struct hwtdi_pool *pool;
	struct hwtdi_job job;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool busy;
	/* Code that was found before. */
	struct hwtdi_code_answers answers;
};

/*
 * `records` outlive the lane.  `pool` may be NULL: batches are made when they
 * are asked for.
 */
int hwtdi_lane_create(struct hwtd_trace *trace, uint32_t stream,
    const struct hwtdi_filter *filter, const struct hwtdi_record_lane *records,
    struct hwtdi_pool *pool, struct hwtdi_lane **out, struct hwtd_error *err);
void hwtdi_lane_destroy(struct hwtdi_lane *lane);

/* It has no row and no place of a record, and never will. */
bool hwtdi_lane_empty(const struct hwtdi_lane *lane);

/* Get and give up what is only needed while the stream is read. */
int hwtdi_lane_ready(struct hwtdi_lane *lane, struct hwtd_error *err);
void hwtdi_lane_rest(struct hwtdi_lane *lane);

/*
 * Make the next batch of a ready lane the front one; its `rc` says if more
 * will come.
 */
void hwtdi_lane_turn(struct hwtdi_lane *lane);

/* The front batch has a row or mark left; the mark before the row, or NULL. */
bool hwtdi_lane_has(const struct hwtdi_lane *lane);
struct hwtdi_mark *hwtdi_lane_mark(const struct hwtdi_lane *lane);

/* Begin anew. */
int hwtdi_lane_rewind(struct hwtdi_lane *lane, struct hwtd_error *err);
int hwtdi_lane_seek_offset(struct hwtdi_lane *lane, uint64_t off,
    struct hwtd_error *err);
int hwtdi_lane_seek_ns(struct hwtdi_lane *lane, uint64_t time_ns,
    struct hwtd_error *err);

#endif /* HWTDI_LANE_H */
