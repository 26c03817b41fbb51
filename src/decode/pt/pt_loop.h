/*
 * Endless loops without trace: between two places where the trace speaks, no
 * branch may be passed twice.
 */
#ifndef HWTDI_PT_LOOP_H
#define HWTDI_PT_LOOP_H

#include <hwtdecode/event.h>

#include "base/library.h"

struct hwtdi_loop_mark {
	uint64_t ip;
	uint64_t chain;
};

/*
 * Instructions between two places where the trace speaks.  No program has so
 * many without a branch that needs trace, but an image of zeros does.
 */
#define HWTDI_LOOP_MAX_INSNS ((uint64_t)1 << 20)

/* The runs passed since the trace spoke last: a set of their last addresses. */
struct hwtdi_loop {
	struct hwtd_context *library;
	struct hwtdi_loop_mark *marks;
	size_t n_marks, used;
	/* Number of the chain at hand; a new number empties the set. */
	uint64_t chain;
	uint64_t used_chain;
	/* Instructions passed in the chain at hand. */
	uint64_t insns;
};

void hwtdi_loop_init(struct hwtdi_loop *loop, struct hwtd_context *library);
void hwtdi_loop_fini(struct hwtdi_loop *loop);

/* Pass a run that ends without trace, by its last address. */
int hwtdi_loop_pass(struct hwtdi_loop *loop, uint64_t last_ip, uint32_t insns,
    struct hwtd_error *err);

/* The trace has to speak at the end of a run that ends so. */
static inline bool
hwtdi_loop_needs_trace(uint8_t branch)
{
	return (branch != HWTD_BRANCH_NONE && branch != HWTD_BRANCH_JUMP &&
	    branch != HWTD_BRANCH_CALL);
}

/*
 * Pass a run.  HWTD_OK; HWTD_END if its end was passed in this chain before;
 * HWTD_E_LIMIT: too many instructions; HWTD_E_NOMEM.
 */
static inline int
hwtdi_loop_step(struct hwtdi_loop *loop, uint64_t last_ip, uint8_t branch,
    uint32_t insns, struct hwtd_error *err)
{
	if (hwtdi_loop_needs_trace(branch)) {
		loop->chain++;
		return (HWTD_OK);
	}
	return (hwtdi_loop_pass(loop, last_ip, insns, err));
}

#endif /* HWTDI_PT_LOOP_H */
