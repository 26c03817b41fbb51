/*
 * A crew: several makers that make the rows of one stream at the same time, a
 * segment each, and hand them over in the order of the stream.
 *
 * No job of a crew waits for anything: a maker whose segment has made as many
 * rows as are kept of it gives its thread back, and the reader goes on with it
 * when it comes there.  So crews can share a pool of any size.
 */
#ifndef HWTDI_CREW_H
#define HWTDI_CREW_H

#include <stdatomic.h>

#include "base/pool.h"
#include "event/maker.h"

struct hwtdi_crew;

struct hwtdi_crew_args {
	struct hwtd_trace *trace;
	uint32_t stream;
	const struct hwtdi_filter *filter;
	const struct hwtdi_record_lane *records;
	struct hwtdi_pool *pool;
	/* Makers at work at the same time, and batches of rows that are kept,
	 * not counting what was taken. */
	unsigned int makers;
	size_t batches;
	/* Rows of other streams come between these. */
	bool merged;
	/* Set by whoever gives up: what is being made is not needed. */
	const atomic_bool *cancel;
};

/*
 * Set `makers` and `batches`: streams that are read side by side share the jobs
 * and what is kept.
 */
void hwtdi_crew_share(struct hwtdi_crew_args *args, uint32_t jobs);

int hwtdi_crew_create(const struct hwtdi_crew_args *args,
    struct hwtdi_crew **out, struct hwtd_error *err);
void hwtdi_crew_destroy(struct hwtdi_crew *crew);

/* Begin where segments of the stream stand.  Only one that rests. */
void hwtdi_crew_start(struct hwtdi_crew *crew,
    const struct hwtdi_segments *from);

/* Wait for jobs that run, drop their rows; `give_up`: and give back memory. */
void hwtdi_crew_stop(struct hwtdi_crew *crew, bool give_up);

/*
 * The next rows, at `place`, where there is room for HWTDI_ROWS; `first_context`
 * is what they have as theirs.  What goes with them is borrowed until the next
 * call on the crew.  NULL: `err` says why.  After rows whose `rc` is
 * not HWTD_OK it must not be called.
 */
struct hwtdi_rows *hwtdi_crew_next(struct hwtdi_crew *crew,
    struct hwtd_event *place, uint32_t first_context, struct hwtd_error *err);

#endif /* HWTDI_CREW_H */
