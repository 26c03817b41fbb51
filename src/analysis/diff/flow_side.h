/*
 * One of two traces: the code that a thread of it executed, block by block.
 */
#ifndef HWTDI_FLOW_SIDE_H
#define HWTDI_FLOW_SIDE_H

#include "analysis/diff/flow_block.h"
#include "analysis/diff/flow_images.h"

/* A thread; where `tid` is not known a stream. */
struct hwtdi_flow_thread {
	uint32_t pid, tid, stream;
};

struct hwtdi_flow_side {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	struct hwtdi_flow_images *images;
	unsigned int side;
	bool with_kernel;

	struct hwtd_events *events;
	struct hwtd_event *rows;
	struct hwtdi_flow_thread thread;
	/* By context: 0 not known, 1 of the thread, 2 of another one, 3 of whom? */
	uint8_t *of_thread;
	size_t n_of_thread, cap_of_thread;

	/* Blocks that were read and not taken, from `begin` on. */
	struct hwtdi_flow_block *at;
	size_t begin, n, cap;
	bool ended;
	/* The last one may go on; the next one may lack its begin. */
	bool open, cut;
	struct hwtdi_flow_block last;

	/* In so many interrupts; one has begun that leads there. */
	uint32_t depth;
	bool has_led;
	uint64_t led;

	uint64_t insns, foreign_insns, gaps, gap_bytes;
};

/*
 * Begin with a thread; `opts` may be NULL.  As hwtd_events_open().  To be given up
 * in any case.
 */
int hwtdi_flow_side_begin(struct hwtdi_flow_side *s,
    const struct hwtdi_flow_thread *thread,
    const struct hwtd_events_options *opts, struct hwtd_error *err);
void hwtdi_flow_side_end(struct hwtdi_flow_side *s);

/* Read until there are `want` blocks, or the thread ended. */
int hwtdi_flow_side_fill(struct hwtdi_flow_side *s, size_t want,
    struct hwtd_error *err);

/* Borrowed until it is filled. */
static inline struct hwtdi_flow_block *
hwtdi_flow_side_blocks(const struct hwtdi_flow_side *s)
{
	return (s->at + s->begin);
}

static inline size_t
hwtdi_flow_side_n(const struct hwtdi_flow_side *s)
{
	return (s->n - s->begin);
}

static inline void
hwtdi_flow_side_drop(struct hwtdi_flow_side *s, size_t n)
{
	s->begin += n;
}

/* Whose row it is: exactly one of all threads that rows are of. */
void hwtdi_flow_thread_of(const struct hwtd_trace *trace,
    const struct hwtd_event *row, struct hwtdi_flow_thread *out);

/* All kinds of rows that tell of flow; from where on they are asked for. */
int hwtdi_flow_open_events(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct hwtd_events **out,
    struct hwtd_error *err);

#endif /* HWTDI_FLOW_SIDE_H */
