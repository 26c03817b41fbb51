/*
 * Frames of a thread: what all transfers are made of.
 */
#ifndef HWTDI_CALL_FRAMES_H
#define HWTDI_CALL_FRAMES_H

#include "analysis/calls/call_stack.h"

static inline struct hwtdi_stack *
hwtdi_call_current(struct hwtdi_call_thread *t)
{
	return (&t->stacks[t->current]);
}

/* The call that runs; NULL: none. */
static inline struct hwtdi_frame *
hwtdi_call_top(struct hwtdi_call_thread *t)
{
	struct hwtdi_stack *s = &t->stacks[t->current];

	return (s->n == 0 ? NULL : &s->frames[s->n - 1]);
}

/* What a new frame is to be. */
struct hwtdi_push {
	const struct hwtdi_step *step;
	struct hwtdi_extent at;
	/* An hwtd_call_type; HWTD_CALLF_*; HWTDI_FRAME_*. */
	uint8_t type;
	uint32_t flags;
	uint32_t state;
	/* The place it goes to is known. */
	bool placed;
};

/*
 * Begin a call in the stack that runs.  When there are too many all others end
 * first.  HWTD_E_NOMEM, or what a callback says.
 */
int hwtdi_call_push(struct hwtdi_call_thread *t, const struct hwtdi_push *push,
    struct hwtd_error *err);

/* End the call that runs. */
int hwtdi_call_pop(struct hwtdi_call_thread *t, uint8_t end,
    struct hwtd_error *err);

/* End those above number `keep` of the stack that runs. */
int hwtdi_call_pop_to(struct hwtdi_call_thread *t, size_t keep, uint8_t end,
    struct hwtd_error *err);

/* End all calls of all stacks; one stack is left, which has none. */
int hwtdi_call_pop_all(struct hwtdi_call_thread *t, uint8_t end,
    struct hwtd_error *err);

/* Another function takes the place of the call that runs. */
int hwtdi_call_replace(struct hwtdi_call_thread *t,
    const struct hwtdi_push *push, struct hwtd_error *err);

/* A call below the lowest one becomes known, which has ended. */
int hwtdi_call_push_caller(struct hwtdi_call_thread *t,
    const struct hwtdi_push *push, struct hwtd_error *err);

/* Time, instructions and cycles up to a step go to the call that runs. */
int hwtdi_call_charge(struct hwtdi_call_thread *t,
    const struct hwtdi_step *step, struct hwtd_error *err);

/* Let the stack that runs wait, and begin another one. */
int hwtdi_call_new_stack(struct hwtdi_call_thread *t, struct hwtd_error *err);

/* Go on with number `stack`, which waits; the one that runs waits then. */
void hwtdi_call_switch(struct hwtdi_call_thread *t, uint32_t stack);

/* Searching: true, and an index. */

/* Below number `below`, the highest that goes on at an address. */
bool hwtdi_call_find_back(struct hwtdi_call_thread *t, size_t below,
    uint64_t to, size_t *at_out);
/* Below number `below`, the highest call of a function. */
bool hwtdi_call_find_function(struct hwtdi_call_thread *t, size_t below,
    const struct hwtdi_extent *at, size_t *at_out);
/* The call that went on at this address before, behind a call it made. */
bool hwtdi_call_find_point(struct hwtdi_call_thread *t, uint64_t to,
    size_t *at_out);
void hwtdi_call_note_point(struct hwtdi_call_thread *t, uint64_t to);
/* The stack that waits longest to go on there; how many do. */
bool hwtdi_call_find_waiting(struct hwtdi_call_thread *t, uint64_t to,
    uint32_t *stack_out, size_t *n_out);

/* A frame goes on at this address. */
static inline bool
hwtdi_frame_matches(const struct hwtdi_frame *f, uint64_t to)
{
	if ((f->state & HWTDI_FRAME_BACK) == 0)
		return (false);
	if ((f->state & HWTDI_FRAME_LOOSE) == 0)
		return (f->back == to);
	return (to - f->back - 1 < HWTDI_INSN_MAX);
}

#endif /* HWTDI_CALL_FRAMES_H */
