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
	/* Below what is taken there is to be no call. */
	bool empty;
};

/*
 * Do that to the return stack; `stack` has the pops, the newest first, and the
 * pushes.  False: the newest calls are others, and nothing was done.
 */
bool hwtdi_ptn_calls_apply(uint32_t *calls, uint32_t *top_inout,
    struct hwtdi_ptn_calls_effect effect, const uint32_t *stack);

/* Calls that are taken, and such as are made. */
#define HWTDI_PTN_FORESEE_STACK 16u
#define HWTDI_PTN_FORESEE_MADE 32u

/*
 * The node that is to be at an address; with HWTDI_PTN_PLACED it is enough that
 * its unit lies so.
 */
struct hwtdi_ptn_foreseen_target {
	uint64_t ip;
	uint32_t node;
};

#define HWTDI_PTN_PLACED 0x80000000u

/* That is so now, as far as is known. */
bool hwtdi_ptn_still_at(const struct hwtdi_decoder *d, uint32_t node,
    uint64_t ip);

/* Set what is before `taken`, and `targets`; the rest is to be 0. */
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
	/* A return found no call. */
	bool empty;
	/* Tracing went off; HWTDI_TOKEN_OFF and an address are with tokens. */
	bool goes_off;
	/* Addresses it depends on, if these are asked for. */
	struct hwtdi_ptn_foreseen_target *targets;
	uint32_t n_targets, max_targets;
};

/*
 * From f->node on; the next outcome is in the top bit.  False: it is not known,
 * or too much.  Outcomes are left if that is where they never fit.
 */
bool hwtdi_ptn_foresee(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t bits, uint32_t *n_inout);

/* The same over a branch that goes to an address. */
bool hwtdi_ptn_foresee_target(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t ip);

/*
 * The same over a branch with which tracing goes off; and to where it goes on
 * then.  In between the node is 0.
 */
bool hwtdi_ptn_foresee_off(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t ip);
bool hwtdi_ptn_foresee_on(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t ip);

/* What that does to the return stack. */
struct hwtdi_ptn_calls_effect hwtdi_ptn_foreseen(
    const struct hwtdi_ptn_foresight *f, uint32_t *stack);

#endif /* HWTDI_PT_NATIVE_FORESEE_H */
