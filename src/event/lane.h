/*
 * A lane: the rows of one stream, batch by batch, made here or by a crew.
 */
#ifndef HWTDI_LANE_H
#define HWTDI_LANE_H

#include "event/crew.h"

/* What rows to leave out at the start, after a seek. */
enum hwtdi_lane_skip {
	HWTDI_SKIP_NOTHING,
	HWTDI_SKIP_TO_OFFSET,
	HWTDI_SKIP_TO_TIME
};

struct hwtdi_lane {
	struct hwtd_context *library;
	uint32_t stream;
	bool timed;

	struct hwtdi_crew *crew;
	/* The crew has begun. */
	bool at_work;

	enum hwtdi_lane_skip skip;
	uint64_t skip_to;

	/* The batch that is read: `rows`, or one of the crew's. */
	struct hwtdi_rows *front, *rows;
	/* What `rows` is in. */
	struct hwtdi_row_store *store;
	/* Its samples were handed out. */
	bool lends_samples;
	/* Where to make the next one, and how many; 0: as usual. */
	struct hwtd_event *lent;
	size_t room;
	/* The next row and mark of the front batch, the ids of its contexts. */
	size_t at, mark;
	uint32_t *ids;
	size_t cap_ids;
	/* The id that was the last to be used. */
	uint32_t last_id;
	bool opened, ended;

	/* Of a crew's rows: records below came; the latest time of rows. */
	size_t i_place;
	uint64_t last_ns;

	/*
	 * Makes the rows, or only finds where to begin: then a crew does.  At the
	 * end, because it is not set as a whole.
	 */
	struct hwtdi_maker maker;
};

/* `pool` may be NULL: rows are made when they are asked for. */
int hwtdi_lane_create(const struct hwtdi_crew_args *args,
    struct hwtdi_lane **out, struct hwtd_error *err);
void hwtdi_lane_destroy(struct hwtdi_lane *lane);

/* It has no row and no place of a record, and never will. */
bool hwtdi_lane_empty(const struct hwtdi_lane *lane);

/* Get and give up what is only needed while the stream is read. */
int hwtdi_lane_ready(struct hwtdi_lane *lane, struct hwtd_error *err);
void hwtdi_lane_rest(struct hwtdi_lane *lane);

/* Let nothing go on in the background; the lane is to be sought then. */
void hwtdi_lane_halt(struct hwtdi_lane *lane);

/*
 * Let the next batch be made where the user wants it: all rows go there as they
 * come.  Until the batch is taken back nothing else may be put there, but for
 * rows of this lane that were taken before.
 */
void hwtdi_lane_lend(struct hwtdi_lane *lane, const struct hwtd_batch *batch);
/* It would, in a batch with more room than this one has left. */
bool hwtdi_lane_would_rather(const struct hwtdi_lane *lane,
    const struct hwtd_batch *batch);
void hwtdi_lane_take_back(struct hwtdi_lane *lane);

/*
 * Make the next batch of a ready lane the front one; its `rc` says if more
 * will come.
 */
void hwtdi_lane_turn(struct hwtdi_lane *lane);

/* What was sought is still to come, in the segment of the front batch. */
bool hwtdi_lane_skips(const struct hwtdi_lane *lane);

/* The front batch has a row or mark left. */
static inline bool
hwtdi_lane_has(const struct hwtdi_lane *lane)
{
	const struct hwtdi_rows *rows = lane->front;

	return (lane->at < rows->n || lane->mark < rows->n_marks);
}

/* The mark before the next row, or NULL. */
static inline struct hwtdi_mark *
hwtdi_lane_mark(const struct hwtdi_lane *lane)
{
	struct hwtdi_rows *rows = lane->front;

	return (lane->mark < rows->n_marks &&
		    rows->marks[lane->mark].at == lane->at
		? &rows->marks[lane->mark]
		: NULL);
}

/* Begin anew. */
int hwtdi_lane_rewind(struct hwtdi_lane *lane, struct hwtd_error *err);
int hwtdi_lane_seek_offset(struct hwtdi_lane *lane, uint64_t off,
    struct hwtd_error *err);
int hwtdi_lane_seek_ns(struct hwtdi_lane *lane, uint64_t time_ns,
    struct hwtd_error *err);

#endif /* HWTDI_LANE_H */
