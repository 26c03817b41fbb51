/*
 * What each transfer of control does to the stacks of its thread.
 */
#include "analysis/calls/call_frames.h"

/*
 * Of retpolines: a call over a loop that is never executed, at most 8 bytes, up to
 * a multiple of 16 or 32; there the return address is changed.
 */
#define DETOUR_BYTES 40u
#define DETOUR_INSNS 4u

static int take_on(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err);

static int
extent_of(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    bool called, struct hwtdi_extent *out, struct hwtd_error *err)
{
	*out = (struct hwtdi_extent){ .function = HWTDI_NO_FUNCTION };
	if ((step->flags & HWTDI_STEP_TO) == 0)
		return (HWTD_OK);
	return (t->rules->extent(t->rules->arg, step, called, out, err));
}

static bool
in_frame(const struct hwtdi_frame *f, uint64_t address)
{
	return (address - f->first < f->end - f->first);
}

/* Of this function, which is known. */
static bool
is_of(const struct hwtdi_frame *f, const struct hwtdi_extent *at)
{
	return (hwtdi_same_function(f->function, f->family, f->is_cold, at));
}

/* Code was found running that nothing called. */
static int
push_found(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    const struct hwtdi_extent *at, uint32_t flags, struct hwtd_error *err)
{
	const struct hwtdi_push push = { .step = step,
		.at = *at,
		.type = HWTD_CALL_TYPE_FOUND,
		.flags = flags,
		.placed = (step->flags & HWTDI_STEP_TO) != 0 };

	return (hwtdi_call_push(t, &push, err));
}

static uint32_t
found_flags(const struct hwtdi_call_thread *t)
{
	return (t->started ? HWTD_CALLF_BEGAN_UNSEEN
			   : HWTD_CALLF_BEGAN_BEFORE);
}

/*
 * Number `n` was still there behind a gap, with all below.  What began behind the
 * gap says nothing of what was before.
 */
static void
prove(struct hwtdi_stack *s, size_t n)
{
	if (n <= s->unproven)
		s->unproven = 0;
}

/* Frames above a place end; those that a gap may have ended by that. */
static int
go_down(struct hwtdi_call_thread *t, size_t keep, struct hwtd_error *err)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);

	prove(s, keep);
	return (hwtdi_call_pop_to(t, keep, HWTD_CALL_END_UNWOUND, err));
}

/* Execution comes back to who called the lowest call, or to what a gap hid. */
static int
return_to_unseen(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    const struct hwtdi_extent *at, struct hwtd_error *err)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	const bool before = s->n == 1 &&
	    (s->frames[0].flags & HWTD_CALLF_BEGAN_UNSEEN) == 0;
	const struct hwtdi_push caller = { .step = step,
		.at = *at,
		.type = HWTD_CALL_TYPE_FOUND,
		.flags = HWTD_CALLF_BEGAN_BEFORE,
		.placed = (step->flags & HWTDI_STEP_TO) != 0 };
	int rc;

	if (!before && s->n > 0) {
		rc = hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err);
		return (rc != HWTD_OK ? rc
				      : push_found(t, step, at,
					    HWTD_CALLF_BEGAN_UNSEEN, err));
	}
	rc = s->n > 0 ? hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err) : HWTD_OK;
	if (rc != HWTD_OK || (step->flags & HWTDI_STEP_TO) == 0)
		return (rc);
	return (hwtdi_call_push_caller(t, &caller, err));
}

/* If no call is left, the code that goes on is of one that is around all. */
static int
find_around(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_extent at;
	int rc;

	if (hwtdi_call_top(t) != NULL)
		return (HWTD_OK);
	rc = extent_of(t, step, false, &at, err);
	return (rc != HWTD_OK ? rc : return_to_unseen(t, step, &at, err));
}

/* Execution goes on behind the call of number `at`. */
static int
return_from(struct hwtdi_call_thread *t, size_t at,
    const struct hwtdi_step *step, struct hwtd_error *err)
{
	int rc = go_down(t, at + 1, err);

	if (rc == HWTD_OK)
		rc = hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err);
	hwtdi_call_note_point(t, step->to);
	return (rc != HWTD_OK ? rc : find_around(t, step, err));
}

/* A stack that waits to go on there does. */
static int
go_on_waiting(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    bool *done, struct hwtd_error *err)
{
	uint32_t stack;
	size_t n;

	*done = hwtdi_call_find_waiting(t, step->to, &stack, &n);
	if (!*done)
		return (HWTD_OK);
	hwtdi_call_switch(t, stack);
	if (n > 1)
		hwtdi_call_top(t)->flags |= HWTD_CALLF_GUESSED;
	return (return_from(t, hwtdi_call_current(t)->n - 1, step, err));
}

/* A jump takes the place of the call, whose caller it goes back to. */
static int
tail_to(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    const struct hwtdi_extent *at, struct hwtd_error *err)
{
	const struct hwtdi_push push = { .step = step,
		.at = *at,
		.type = HWTD_CALL_TYPE_TAIL,
		.placed = true };

	return (hwtdi_call_top(t) == NULL
		? push_found(t, step, at, found_flags(t), err)
		: hwtdi_call_replace(t, &push, err));
}

/* The far frames from the highest on, as many as may be looked at. */
static bool
find_far(struct hwtdi_call_thread *t, uint64_t to, size_t *at_out)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	uint32_t far = s->far;

	for (size_t i = 0; i < 64 && far != 0; i++) {
		if (hwtdi_frame_matches(&s->frames[far - 1], to)) {
			*at_out = far - 1;
			return (true);
		}
		far = s->frames[far - 1].far;
	}
	return (false);
}

/* The highest frame that goes on there, however it ends. */
static bool
find_any_back(struct hwtdi_call_thread *t, uint64_t to, size_t *at_out)
{
	const bool found = hwtdi_call_find_back(t, hwtdi_call_current(t)->n,
	    to, at_out);
	size_t far;

	if (!find_far(t, to, &far))
		return (found);
	if (!found || far > *at_out)
		*at_out = far;
	return (true);
}

/* Execution was found at a place, and it is not known how it came there. */
static int
arrive(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);
	struct hwtdi_frame *top = hwtdi_call_top(t);
	struct hwtdi_extent at;
	size_t i;
	int rc;

	if (top != NULL && (top->state & HWTDI_FRAME_AWAY) != 0)
		return (take_on(t, step, err));
	if (top != NULL && in_frame(top, step->to)) {
		prove(s, s->n);
		return (HWTD_OK);
	}
	/* Behind a call it is over. */
	if (top != NULL && find_any_back(t, step->to, &i)) {
		prove(s, i + 1);
		rc = hwtdi_call_pop_to(t, i, HWTD_CALL_END_GAP, err);
		hwtdi_call_note_point(t, step->to);
		return (rc != HWTD_OK ? rc : find_around(t, step, err));
	}
	rc = extent_of(t, step, false, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	if (top == NULL)
		return (push_found(t, step, &at, found_flags(t), err));
	if (is_of(top, &at)) {
		prove(s, s->n);
		return (HWTD_OK);
	}
	if (at.function == HWTDI_NO_FUNCTION &&
	    top->function == HWTDI_NO_FUNCTION &&
	    (top->state & HWTDI_FRAME_BACK) == 0)
		return (HWTD_OK);
	/* It may have gone back to one of those below. */
	if (hwtdi_call_find_function(t, s->n, &at, &i)) {
		prove(s, i + 1);
		return (hwtdi_call_pop_to(t, i + 1, HWTD_CALL_END_GAP, err));
	}
	/* Gap by gap there would be ever more calls of which nothing is seen. */
	if (s->n > 1 && (top->state & HWTDI_FRAME_BACK) == 0 &&
	    (top->flags & HWTD_CALLF_BEGAN_UNSEEN) != 0) {
		rc = hwtdi_call_pop(t, HWTD_CALL_END_GAP, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (push_found(t, step, &at, HWTD_CALLF_BEGAN_UNSEEN, err));
}

/* The call that runs has no return address that is known. */
static int
return_open(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    const struct hwtdi_extent *at, struct hwtd_error *err)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);
	const size_t below = s->n - 1;
	bool done;
	size_t i;
	int rc;

	if (hwtdi_call_find_back(t, below, step->to, &i)) {
		rc = hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err);
		if (rc == HWTD_OK)
			rc = hwtdi_call_pop_to(t, i + 1, HWTD_CALL_END_GAP,
			    err);
		return (rc != HWTD_OK ? rc : return_from(t, i, step, err));
	}
	/* What is not traced had called it. */
	if (below > 0 && (s->frames[below - 1].state & HWTDI_FRAME_AWAY) != 0)
		return (hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err));
	rc = go_on_waiting(t, step, &done, err);
	if (rc != HWTD_OK || done)
		return (rc);
	if (hwtdi_call_find_function(t, below, at, &i)) {
		rc = hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err);
		return (rc != HWTD_OK
			? rc
			: hwtdi_call_pop_to(t, i + 1, HWTD_CALL_END_GAP, err));
	}
	return (return_to_unseen(t, step, at, err));
}

/*
 * Unwinding went on: the call that runs is over, with who made it.  Of a function
 * that calls itself it is the next one below that goes on, or one farther down.
 */
static int
resume(struct hwtdi_call_thread *t, const struct hwtdi_extent *at, bool *done,
    struct hwtd_error *err)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	size_t i;

	*done = s->n > 2 && hwtdi_call_find_function(t, s->n - 2, at, &i);
	return (*done ? go_down(t, i + 1, err) : HWTD_OK);
}

/*
 * Calls of code that is close behind and that calls nothing: where that returns to
 * is no call, it is a jump (retpolines).
 */
static bool
is_detour(const struct hwtdi_stack *s)
{
	const uint32_t known = HWTD_CALLF_ADDRESS | HWTD_CALLF_SITE;
	const struct hwtdi_frame *f = &s->frames[s->n - 1];

	/* It is no function of its own. */
	if (s->n < 2 || (f->first != f->end && f->function != f[-1].function))
		return (false);
	return (f->type == HWTD_CALL_TYPE_CALL &&
	    (f->flags & known) == known &&
	    f->address - f->site < DETOUR_BYTES && f->point == 0 &&
	    f->insns == 0 && f->self_insns <= DETOUR_INSNS);
}

/* Another place than behind the call that runs: longjmp, unwinding, stacks. */
static int
go_elsewhere(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    const struct hwtdi_extent *at, bool *done, struct hwtd_error *err)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	size_t i;
	int rc;

	*done = true;
	if (hwtdi_call_find_back(t, s->n, step->to, &i))
		return (return_from(t, i, step, err));
	if (hwtdi_call_find_point(t, step->to, &i))
		return (go_down(t, i + 1, err));
	rc = go_on_waiting(t, step, done, err);
	if (rc != HWTD_OK || *done)
		return (rc);
	/* Itself once more, if a gap may have hid that, is another call of it. */
	*done = hwtdi_call_find_function(t,
	    s->n <= s->doubtful && s->n > 0 ? s->n - 1 : s->n, at, &i);
	return (*done ? go_down(t, i + 1, err) : HWTD_OK);
}

/* The call that runs was none: it goes where it was told to. */
static int
take_detour(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_extent at;
	bool done;
	int rc;

	rc = extent_of(t, step, false, &at, err);
	if (rc == HWTD_OK)
		rc = hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err);
	if (rc != HWTD_OK)
		return (rc);
	if (at.at_start && at.function != HWTDI_NO_FUNCTION)
		return (tail_to(t, step, &at, err));
	/* It stands for a return, or for a jump. */
	if ((hwtdi_call_top(t)->state & HWTDI_FRAME_BACK) == 0)
		return (return_open(t, step, &at, err));
	rc = go_elsewhere(t, step, &at, &done, err);
	if (rc != HWTD_OK || done || at.function == HWTDI_NO_FUNCTION)
		return (rc);
	return (tail_to(t, step, &at, err));
}

static int
take_return(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);
	struct hwtdi_frame *top = hwtdi_call_top(t);
	struct hwtdi_extent at;
	bool done;
	int rc;

	if ((step->flags & HWTDI_STEP_TO) == 0)
		return (top == NULL
			? HWTD_OK
			: hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err));
	if (top != NULL && (top->state & HWTDI_FRAME_RESUMES) != 0) {
		rc = extent_of(t, step, false, &at, err);
		if (rc == HWTD_OK)
			rc = resume(t, &at, &done, err);
		if (rc != HWTD_OK || done)
			return (rc);
	}
	if (top != NULL && (top->state & HWTDI_FRAME_FAR) == 0 &&
	    hwtdi_frame_matches(top, step->to)) {
		prove(s, s->n);
		rc = hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err);
		if (rc != HWTD_OK)
			return (rc);
		if (s->n != 0) {
			hwtdi_call_note_point(t, step->to);
			return (HWTD_OK);
		}
		top = NULL;
	}
	if (top != NULL && is_detour(s))
		return (take_detour(t, step, err));
	rc = extent_of(t, step, false, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	if (top == NULL)
		return (return_to_unseen(t, step, &at, err));
	/* No call is in front of a function: code that returns to jump. */
	if (at.at_start && at.function != HWTDI_NO_FUNCTION) {
		rc = tail_to(t, step, &at, err);
		if (rc == HWTD_OK)
			hwtdi_call_top(t)->state |= HWTDI_FRAME_SPENT;
		return (rc);
	}
	if ((top->state & HWTDI_FRAME_BACK) == 0)
		return (return_open(t, step, &at, err));
	rc = go_elsewhere(t, step, &at, &done, err);
	if (rc != HWTD_OK || done)
		return (rc);
	/* The kernel has put a return address under a handler of signals. */
	if ((top->state & HWTDI_FRAME_FAR) != 0)
		return (HWTD_OK);
	/* A gap hid that it was called; its caller is there, and no other. */
	if (s->n <= s->doubtful) {
		rc = hwtdi_call_pop(t,
		    s->n <= s->unproven ? HWTD_CALL_END_GAP
					: HWTD_CALL_END_RETURN,
		    err);
		return (rc != HWTD_OK ? rc
				      : push_found(t, step, &at,
					    HWTD_CALLF_BEGAN_UNSEEN, err));
	}
	rc = hwtdi_call_new_stack(t, err);
	return (rc != HWTD_OK
		? rc
		: push_found(t, step, &at, HWTD_CALLF_BEGAN_UNSEEN, err));
}

static int
take_call(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	const bool loose = (step->flags & HWTDI_STEP_LOOSE) != 0;
	struct hwtdi_push push = { .step = step,
		.type = HWTD_CALL_TYPE_CALL,
		.state = HWTDI_FRAME_BACK | (loose ? HWTDI_FRAME_LOOSE : 0),
		.placed = (step->flags & HWTDI_STEP_TO) != 0 };
	int rc;

	/* Code that asks for its own address calls the next instruction. */
	if (push.placed &&
	    (loose ? step->to - step->from - 1 < 7 : step->to == step->back))
		return (HWTD_OK);
	rc = extent_of(t, step, true, &push.at, err);
	if (rc != HWTD_OK)
		return (rc);
	return (hwtdi_call_push(t, &push, err));
}

static int
take_jump(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_frame *top = hwtdi_call_top(t);
	struct hwtdi_extent at;
	bool done;
	int rc;

	if ((step->flags & HWTDI_STEP_TO) == 0 ||
	    (top != NULL && in_frame(top, step->to)))
		return (HWTD_OK);
	rc = extent_of(t, step, false, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	if (top == NULL)
		return (push_found(t, step, &at, found_flags(t), err));
	if (is_of(top, &at))
		return (HWTD_OK);
	if (at.function != HWTDI_NO_FUNCTION && at.at_start)
		return (tail_to(t, step, &at, err));
	if (step->what == HWTDI_TRANSFER_INDIRECT) {
		if ((top->state & HWTDI_FRAME_RESUMES) != 0) {
			rc = resume(t, &at, &done, err);
			if (rc != HWTD_OK || done)
				return (rc);
		}
		rc = go_elsewhere(t, step, &at, &done, err);
		if (rc != HWTD_OK || done)
			return (rc);
	}
	/* Nothing says that it is another function. */
	if (at.function == HWTDI_NO_FUNCTION)
		return (HWTD_OK);
	return (tail_to(t, step, &at, err));
}

static int
take_far_call(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    uint8_t type, struct hwtd_error *err)
{
	const bool placed = (step->flags & HWTDI_STEP_TO) != 0;
	struct hwtdi_push push = { .step = step,
		.type = type,
		.flags = placed ? 0 : HWTD_CALLF_UNTRACED,
		.state = HWTDI_FRAME_FAR | (placed ? 0 : HWTDI_FRAME_AWAY),
		.placed = placed };
	int rc = extent_of(t, step, true, &push.at, err);

	if ((step->flags & HWTDI_STEP_BACK) != 0)
		push.state |= HWTDI_FRAME_BACK |
		    ((step->flags & HWTDI_STEP_LOOSE) != 0 &&
				type == HWTD_CALL_TYPE_SYSCALL
			    ? HWTDI_FRAME_LOOSE
			    : 0);
	return (rc != HWTD_OK ? rc : hwtdi_call_push(t, &push, err));
}

/* The kernel went to another place than it had come from: a signal. */
static int
push_signal(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    const struct hwtdi_frame *ended, struct hwtd_error *err)
{
	struct hwtdi_step at = *step;
	struct hwtdi_push push = { .step = &at,
		.type = HWTD_CALL_TYPE_SIGNAL,
		.state = HWTDI_FRAME_FAR |
		    (ended->state & (HWTDI_FRAME_BACK | HWTDI_FRAME_LOOSE)),
		.placed = true };
	int rc = extent_of(t, step, true, &push.at, err);

	at.back = ended->back;
	at.from = ended->back;
	return (rc != HWTD_OK ? rc : hwtdi_call_push(t, &push, err));
}

/* Back from a higher level, to a place that some frame may go on at. */
static int
come_back(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);
	struct hwtdi_frame ended;
	struct hwtdi_extent at;
	size_t i;
	int rc;

	if ((step->flags & HWTDI_STEP_TO) != 0 && find_far(t, step->to, &i)) {
		rc = go_down(t, i + 1, err);
		if (rc == HWTD_OK)
			rc = hwtdi_call_pop(t, HWTD_CALL_END_FAR_RETURN, err);
		return (rc != HWTD_OK ? rc : find_around(t, step, err));
	}
	if (s->far == 0) {
		/* All there is is the level that it came from. */
		s->unproven = 0;
		while (s->n > 1) {
			rc = hwtdi_call_pop(t, HWTD_CALL_END_FAR_RETURN, err);
			if (rc != HWTD_OK)
				return (rc);
		}
		rc = extent_of(t, step, false, &at, err);
		if (rc == HWTD_OK && s->n == 1 &&
		    (s->frames[0].flags & HWTD_CALLF_BEGAN_BEFORE) == 0)
			s->frames[0].flags &= ~(uint32_t)
						  HWTD_CALLF_BEGAN_UNSEEN;
		return (rc != HWTD_OK ? rc
				      : return_to_unseen(t, step, &at, err));
	}
	/* A gap hid that it was over: it may be anywhere now. */
	if (s->far <= s->doubtful) {
		rc = hwtdi_call_pop_to(t, s->far - 1, HWTD_CALL_END_GAP, err);
		return (rc != HWTD_OK || (step->flags & HWTDI_STEP_TO) == 0
			? rc
			: arrive(t, step, err));
	}
	ended = s->frames[s->far - 1];
	rc = go_down(t, s->far, err);
	if (rc == HWTD_OK)
		rc = hwtdi_call_pop(t, HWTD_CALL_END_FAR_RETURN, err);
	if (rc != HWTD_OK || (step->flags & HWTDI_STEP_TO) == 0)
		return (rc);
	rc = extent_of(t, step, false, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	/* System calls are restarted, and the kernel repairs what failed. */
	if (hwtdi_call_top(t) != NULL &&
	    (in_frame(hwtdi_call_top(t), step->to) ||
		is_of(hwtdi_call_top(t), &at)))
		return (HWTD_OK);
	return (push_signal(t, step, &ended, err));
}

static int
take_off(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_frame *top = hwtdi_call_top(t);
	struct hwtdi_push push = { .step = step,
		.at = { .function = HWTDI_NO_FUNCTION },
		.type = HWTD_CALL_TYPE_UNTRACED,
		.flags = HWTD_CALLF_UNTRACED,
		.state = HWTDI_FRAME_AWAY };

	if (top != NULL && (top->state & HWTDI_FRAME_AWAY) != 0)
		return (HWTD_OK);
	/* What was called last, or what it was interrupted by, is not traced. */
	if (top != NULL && (step->flags & HWTDI_STEP_LED_OUT) != 0 &&
	    (top->type == HWTD_CALL_TYPE_CALL ||
		(top->state & HWTDI_FRAME_FAR) != 0)) {
		top->flags |= HWTD_CALLF_UNTRACED;
		top->state |= HWTDI_FRAME_AWAY;
		return (HWTD_OK);
	}
	if ((step->flags & HWTDI_STEP_BACK) != 0)
		push.state |= HWTDI_FRAME_BACK;
	if ((step->flags & (HWTDI_STEP_ASYNC | HWTDI_STEP_BACK)) ==
	    (HWTDI_STEP_ASYNC | HWTDI_STEP_BACK)) {
		push.type = HWTD_CALL_TYPE_INTERRUPT;
		push.state |= HWTDI_FRAME_FAR;
	}
	return (hwtdi_call_push(t, &push, err));
}

/* Tracing goes on at another place than behind what was not traced. */
static int
turn_up(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);
	struct hwtdi_extent at;
	bool done;
	int rc;

	if (hwtdi_call_top(t) != NULL && in_frame(hwtdi_call_top(t), step->to))
		return (HWTD_OK);
	rc = extent_of(t, step, false, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	if (s->n == 0)
		return (push_found(t, step, &at, found_flags(t), err));
	if (is_of(hwtdi_call_top(t), &at))
		return (HWTD_OK);
	if (!at.at_start) {
		rc = go_elsewhere(t, step, &at, &done, err);
		if (rc != HWTD_OK || done)
			return (rc);
	}
	/* Nothing says that it is another function than before. */
	if (at.function == HWTDI_NO_FUNCTION &&
	    hwtdi_call_top(t)->first == hwtdi_call_top(t)->end)
		return (HWTD_OK);
	return (push_found(t, step, &at, HWTD_CALLF_BEGAN_UNSEEN, err));
}

static int
take_on(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	struct hwtdi_frame *top = hwtdi_call_top(t);
	const struct hwtdi_frame was = top == NULL ? (struct hwtdi_frame){ 0 }
						   : *top;
	const bool far = (was.state & HWTDI_FRAME_FAR) != 0;
	struct hwtdi_extent at;
	int rc;

	if ((was.state & HWTDI_FRAME_AWAY) == 0)
		return (arrive(t, step, err));
	if (hwtdi_frame_matches(&was, step->to)) {
		rc = hwtdi_call_pop(t,
		    far ? HWTD_CALL_END_FAR_RETURN : HWTD_CALL_END_RETURN,
		    err);
		if (rc == HWTD_OK && !far)
			hwtdi_call_note_point(t, step->to);
		return (rc != HWTD_OK ? rc : find_around(t, step, err));
	}
	if (far)
		return (come_back(t, step, err));
	if (was.type != HWTD_CALL_TYPE_UNTRACED) {
		/* Code that is not traced calls back. */
		rc = extent_of(t, step, false, &at, err);
		if (rc != HWTD_OK)
			return (rc);
		if (at.at_start)
			return (push_found(t, step, &at,
			    HWTD_CALLF_BEGAN_UNSEEN, err));
		return (turn_up(t, step, err));
	}
	rc = hwtdi_call_pop(t, HWTD_CALL_END_RETURN, err);
	return (rc != HWTD_OK ? rc : turn_up(t, step, err));
}

/* In a gap any call may have ended, also of stacks that waited. */
static void
doubt_all(struct hwtdi_call_thread *t)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);

	s->unproven = s->doubtful = s->n;
	for (uint32_t no = t->oldest; no != 0; no = s->newer) {
		s = &t->stacks[no - 1];
		s->unproven = s->doubtful = s->n;
	}
}

static int
take(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	switch (step->what) {
	case HWTDI_TRANSFER_ARRIVE:
		return (arrive(t, step, err));
	case HWTDI_TRANSFER_CALL:
		return (take_call(t, step, err));
	case HWTDI_TRANSFER_RETURN:
		return (take_return(t, step, err));
	case HWTDI_TRANSFER_JUMP:
	case HWTDI_TRANSFER_INDIRECT:
		return (take_jump(t, step, err));
	case HWTDI_TRANSFER_FAR_CALL:
		return (take_far_call(t, step, HWTD_CALL_TYPE_SYSCALL, err));
	case HWTDI_TRANSFER_INTERRUPT:
		return (take_far_call(t, step, HWTD_CALL_TYPE_INTERRUPT, err));
	case HWTDI_TRANSFER_EXCEPTION:
		return (take_far_call(t, step, HWTD_CALL_TYPE_EXCEPTION, err));
	case HWTDI_TRANSFER_FAR_RETURN:
		return (come_back(t, step, err));
	case HWTDI_TRANSFER_OFF:
		return (take_off(t, step, err));
	case HWTDI_TRANSFER_ON:
		return (take_on(t, step, err));
	case HWTDI_TRANSFER_GAP:
		doubt_all(t);
		return (HWTD_OK);
	case HWTDI_TRANSFER_EXEC:
		return (hwtdi_call_pop_all(t, HWTD_CALL_END_EXEC, err));
	case HWTDI_TRANSFER_GONE:
		return (hwtdi_call_pop_all(t, HWTD_CALL_END_EXIT, err));
	default:
		return (HWTD_OK);
	}
}

int
hwtdi_call_thread_step(struct hwtdi_call_thread *t,
    const struct hwtdi_step *step, struct hwtd_error *err)
{
	int rc = hwtdi_call_charge(t, step, err);

	if (rc == HWTD_OK)
		rc = take(t, step, err);
	if (rc != HWTD_OK)
		return (rc);
	if (step->what == HWTDI_TRANSFER_OUT ||
	    step->what == HWTDI_TRANSFER_IN)
		t->out = step->what == HWTDI_TRANSFER_OUT;
	if (hwtdi_call_top(t) != NULL)
		t->started = true;
	return (HWTD_OK);
}

int
hwtdi_call_thread_sample(struct hwtdi_call_thread *t,
    const struct hwtdi_step *step, const struct hwtdi_caller *callers,
    size_t n, struct hwtd_error *err)
{
	struct hwtdi_step at = *step;
	size_t same = 0;
	int rc = hwtdi_call_charge(t, step, err);

	if (rc != HWTD_OK)
		return (rc);
	if (n > t->rules->max_frames)
		n = t->rules->max_frames;
	while (same < n && same < hwtdi_call_current(t)->n &&
	    hwtdi_call_current(t)->frames[same].address ==
		callers[same].address)
		same++;
	rc = hwtdi_call_pop_to(t, same, HWTD_CALL_END_SAMPLED, err);
	for (size_t i = same; i < n && rc == HWTD_OK; i++) {
		const struct hwtdi_push push = { .step = &at,
			.at = { .function = callers[i].function },
			.type = HWTD_CALL_TYPE_SAMPLED,
			.placed = true };

		at.to = callers[i].address;
		rc = hwtdi_call_push(t, &push, err);
	}
	t->started = true;
	return (rc);
}

int
hwtdi_call_thread_end(struct hwtdi_call_thread *t, struct hwtd_error *err)
{
	return (hwtdi_call_pop_all(t, HWTD_CALL_END_OPEN, err));
}
