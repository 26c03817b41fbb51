/*
 * The native Intel PT engine: where outcomes lead.
 *
 * What the walk would do is found out without doing it, as far as links, targets
 * and calls are known.  It can be done later then, as often as it holds.
 */
#ifndef HWTDI_PT_NATIVE_FORESEE_H
#define HWTDI_PT_NATIVE_FORESEE_H

#include <stdbool.h>
#include <stdint.h>

struct hwtdi_decoder;

/* Calls that the hardware remembers for returns. */
#define HWTDI_PTN_CALLS 64u

/* What walking does to the return stack. */
struct hwtdi_ptn_calls_effect {
	/* The newest calls, which have to be these, are taken. */
	uint8_t pops;
	/* Calls that are left behind. */
	uint8_t pushes;
	/* Entries that are written over, from the oldest one taken on. */
	uint8_t writes;
};

/*
 * Do that to the return stack; `stack` has the pops, the newest first, and the
 * pushes.  False: the newest calls are others, and nothing was done.
 */
bool hwtdi_ptn_calls_apply(uint32_t *calls, uint32_t *top_inout,
    struct hwtdi_ptn_calls_effect effect, const uint32_t *stack);

/* Calls that are taken, and such as are made. */
#define HWTDI_PTN_FORESEE_STACK 9u
#define HWTDI_PTN_FORESEE_MADE 16u

/* Set what is before `taken`; the rest is to be 0. */
struct hwtdi_ptn_foresight {
	uint32_t node;
	uint32_t *tokens;
	uint32_t n_tokens, max_tokens;
	uint32_t max_stack;
	/* The newest call that was there before and is not taken. */
	uint32_t top;
	uint32_t taken[HWTDI_PTN_FORESEE_STACK];
	uint32_t n_taken;
	uint32_t made[HWTDI_PTN_FORESEE_MADE];
	uint32_t n_made;
	/* Entries that the stack grew by, and at the most. */
	int level, highest;
	/* It depends on where units lie. */
	bool away;
};

/*
 * From f->node on; the next outcome is in the top bit.  False: it is not known,
 * or too much.  Outcomes are left if that is where they never fit.
 */
bool hwtdi_ptn_foresee(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t bits, uint32_t *n_inout);

/* What that does to the return stack. */
struct hwtdi_ptn_calls_effect hwtdi_ptn_foreseen(
    const struct hwtdi_ptn_foresight *f, uint32_t *stack);

#endif /* HWTDI_PT_NATIVE_FORESEE_H */
