/*
 * Two threads in lockstep.
 */
#ifndef HWTDI_FLOW_WALK_H
#define HWTDI_FLOW_WALK_H

#include "analysis/diff/flow_side.h"

/* What has to be done before blocks can be compared one by one. */
enum hwtdi_flow_state {
	HWTDI_FLOW_AT_START,
	HWTDI_FLOW_IN_STEP,
	HWTDI_FLOW_BEHIND_GAP,
	HWTDI_FLOW_APART,
	HWTDI_FLOW_DONE
};

struct hwtdi_flow_walk {
	struct hwtd_context *library;
	struct hwtdi_flow_images images;
	struct hwtdi_flow_side sides[2];
	uint32_t max_rows, n_blocks;
	size_t window;
	/* Numbers for hwtdi_flow_fit() and _meet(). */
	size_t *scratch;
	size_t cap_scratch;

	/* Of the pair that is compared. */
	enum hwtdi_flow_state state;
	/* What both executed last, a ring; and the same in order. */
	struct hwtd_flow_block *ring[2], *common[2], *next[2];
	size_t n_ring, at_ring;
	struct hwtd_divergence_pair pair;
	uint32_t rows;
	/* Since the last row. */
	uint64_t same;
	bool any, gapped, ambiguous;
	/* Of BEHIND_GAP: which sides had it. */
	bool had_gap[2];
};

int hwtdi_flow_walk_init(struct hwtdi_flow_walk *w,
    struct hwtd_context *library, struct hwtd_trace *a, struct hwtd_trace *b,
    const struct hwtd_divergences_options *o, struct hwtd_error *err);
void hwtdi_flow_walk_fini(struct hwtdi_flow_walk *w);

/* Begin with a pair; `events` by side, which may be NULL. */
int hwtdi_flow_walk_begin(struct hwtdi_flow_walk *w,
    const struct hwtdi_flow_thread *a, const struct hwtdi_flow_thread *b,
    const struct hwtd_events_options *const events[2], struct hwtd_error *err);
void hwtdi_flow_walk_end(struct hwtdi_flow_walk *w);

/*
 * Go on for a while.  HWTD_OK: a row if its `kind` is not 0.  HWTD_END: the pair is
 * done.
 */
int hwtdi_flow_walk_step(struct hwtdi_flow_walk *w,
    struct hwtd_divergence *row, struct hwtd_error *err);

#endif /* HWTDI_FLOW_WALK_H */
