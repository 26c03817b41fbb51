/*
 * Frames of a thread: beginning and ending calls, stacks that wait, and what
 * time and instructions each has.
 */
#include "analysis/calls/call_frames.h"

#include <string.h>

#include "base/fail.h"

void
hwtdi_call_thread_init(struct hwtdi_call_thread *t,
    struct hwtdi_call_rules *rules, uint32_t no)
{
	memset(t, 0, sizeof(*t));
	t->rules = rules;
	t->no = no;
}

void
hwtdi_call_thread_fini(struct hwtdi_call_thread *t)
{
	struct hwtd_context *ctx = t->rules->library;

	for (size_t i = 0; i < t->n_stacks; i++)
		hwtdi_array_free(ctx, t->stacks[i].frames, t->stacks[i].cap,
		    sizeof(*t->stacks[i].frames));
	hwtdi_array_free(ctx, t->stacks, t->cap_stacks, sizeof(*t->stacks));
	t->stacks = NULL;
	t->n_stacks = t->cap_stacks = 0;
}

/* Flags of a time at a step, for the begin of a call; the end's are twice. */
static uint32_t
time_flags(uint32_t step_flags)
{
	if ((step_flags & HWTDI_STEP_TIME) == 0)
		return (0);
	return (HWTD_CALLF_BEGIN_TIME |
	    ((step_flags & HWTDI_STEP_ESTIMATED) != 0
		    ? HWTD_CALLF_BEGIN_ESTIMATED
		    : 0) |
	    ((step_flags & HWTDI_STEP_INTERPOLATED) != 0
		    ? HWTD_CALLF_BEGIN_INTERPOLATED
		    : 0));
}

/* Those that have nothing to do with when it began. */
#define BEGIN_FLAGS                                                           \
	(HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_BEGIN_ESTIMATED |                 \
	    HWTD_CALLF_BEGIN_INTERPOLATED)

static void
make_row(const struct hwtdi_call_thread *t, const struct hwtdi_stack *s,
    size_t at, uint8_t kind, struct hwtd_call *row)
{
	const struct hwtdi_frame *f = &s->frames[at];

	memset(row, 0, sizeof(*row));
	row->id = f->id;
	row->begin_ns = f->begin_ns;
	row->address = f->address;
	row->call_site = f->site;
	row->ns = f->self_ns + f->ns;
	row->insns = f->self_insns + f->insns;
	row->self_insns = f->self_insns;
	row->cycles = f->self_cycles + f->cycles;
	row->self_cycles = f->self_cycles;
	row->self_ns = f->self_ns;
	row->gap_ns = f->self_gap_ns + f->gap_ns;
	row->off_ns = f->self_off_ns + f->off_ns;
	row->self_gap_ns = f->self_gap_ns;
	row->self_off_ns = f->self_off_ns;
	row->gap_bytes = f->gap_bytes;
	row->gaps = f->gaps;
	row->thread = t->no;
	row->stack = s->id;
	row->depth = s->depth + (int32_t)at;
	row->function = f->function;
	row->section = f->section;
	row->call_section = f->site_section;
	row->context = f->context;
	row->flags = f->flags;
	row->kind = kind;
	row->type = f->type;
	row->begin_insns = f->begin_insns;
}

/* The sums of a call that ended are also those of who called it. */
static void
add_sums(struct hwtdi_frame *to, const struct hwtdi_frame *f)
{
	to->ns += f->self_ns + f->ns;
	to->insns += f->self_insns + f->insns;
	to->cycles += f->self_cycles + f->cycles;
	to->gap_ns += f->self_gap_ns + f->gap_ns;
	to->off_ns += f->self_off_ns + f->off_ns;
	to->gap_bytes += f->gap_bytes;
	to->gaps += f->gaps;
	to->flags |= f->flags & (HWTD_CALLF_CYCLES | HWTD_CALLF_SWITCHED);
}

static int
pop_of(struct hwtdi_call_thread *t, struct hwtdi_stack *s, uint8_t end,
    struct hwtd_error *err)
{
	struct hwtdi_frame *f = &s->frames[s->n - 1];
	struct hwtd_call row;

	if (s->n <= s->unproven &&
	    (end == HWTD_CALL_END_OPEN || end == HWTD_CALL_END_LIMIT))
		f->flags |= HWTD_CALLF_UNPROVEN;
	make_row(t, s, s->n - 1, HWTD_CALL_LEAVE, &row);
	row.end = end;
	row.end_ns = t->last_ns;
	row.end_insns = t->insns;
	/* The flags of the end are those of the begin, one bit higher. */
	row.flags |= time_flags(t->last_flags) << 1;
	if (end == HWTD_CALL_END_LIMIT)
		t->rules->limited++;
	if ((f->state & HWTDI_FRAME_FAR) != 0)
		s->far = f->far;
	add_sums(s->n > 1 ? &s->frames[s->n - 2] : &s->all, f);
	s->n--;
	t->n_frames--;
	if (s->unproven > s->n)
		s->unproven = s->n;
	if (s->doubtful > s->n)
		s->doubtful = s->n;
	return (t->rules->put(t->rules->arg, &row, err));
}

int
hwtdi_call_pop(struct hwtdi_call_thread *t, uint8_t end,
    struct hwtd_error *err)
{
	return (pop_of(t, hwtdi_call_current(t), end, err));
}

int
hwtdi_call_pop_to(struct hwtdi_call_thread *t, size_t keep, uint8_t end,
    struct hwtd_error *err)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);
	int rc = HWTD_OK;

	while (s->n > keep && rc == HWTD_OK) {
		const struct hwtdi_frame *f = &s->frames[s->n - 1];
		/* One whose return address was used up did not end early. */
		const uint8_t as = end == HWTD_CALL_END_UNWOUND &&
			(f->state & HWTDI_FRAME_SPENT) != 0
		    ? HWTD_CALL_END_RETURN
		    : end == HWTD_CALL_END_UNWOUND && s->n <= s->doubtful
		    ? HWTD_CALL_END_GAP
		    : end;

		rc = pop_of(t, s, as, err);
	}
	return (rc);
}

/* Stacks. */

static void
unlink_waiting(struct hwtdi_call_thread *t, struct hwtdi_stack *s)
{
	if (s->older != 0)
		t->stacks[s->older - 1].newer = s->newer;
	else
		t->oldest = s->newer;
	if (s->newer != 0)
		t->stacks[s->newer - 1].older = s->older;
	else
		t->newest = s->older;
	s->older = s->newer = 0;
	t->n_waiting--;
}

static void
link_waiting(struct hwtdi_call_thread *t, uint32_t no)
{
	struct hwtdi_stack *s = &t->stacks[no];

	s->older = t->newest;
	s->newer = 0;
	if (t->newest != 0)
		t->stacks[t->newest - 1].newer = no + 1;
	else
		t->oldest = no + 1;
	t->newest = no + 1;
	t->n_waiting++;
}

static void
begin_stack(struct hwtdi_call_thread *t, struct hwtdi_stack *s)
{
	struct hwtdi_frame *const frames = s->frames;
	const size_t cap = s->cap;

	memset(s, 0, sizeof(*s));
	s->frames = frames;
	s->cap = cap;
	s->used = true;
	s->id = t->next_stack++;
	s->begin_ns = t->last_ns;
	s->begin_insns = t->insns;
	s->begin_flags = t->last_flags;
}

/* One that is free, made if need be. */
static int
free_stack(struct hwtdi_call_thread *t, uint32_t *no_out,
    struct hwtd_error *err)
{
	int rc;

	for (uint32_t i = 0; i < t->n_stacks; i++) {
		if (!t->stacks[i].used) {
			*no_out = i;
			return (HWTD_OK);
		}
	}
	rc = hwtdi_array_grow(t->rules->library, &t->stacks, &t->cap_stacks,
	    t->n_stacks + 1, sizeof(*t->stacks), err);
	if (rc != HWTD_OK)
		return (rc);
	memset(&t->stacks[t->n_stacks], 0, sizeof(*t->stacks));
	*no_out = (uint32_t)t->n_stacks++;
	return (HWTD_OK);
}

static int
first_stack(struct hwtdi_call_thread *t, struct hwtd_error *err)
{
	uint32_t no;
	int rc;

	if (t->n_stacks != 0)
		return (HWTD_OK);
	rc = free_stack(t, &no, err);
	if (rc != HWTD_OK)
		return (rc);
	t->current = no;
	begin_stack(t, &t->stacks[no]);
	return (HWTD_OK);
}

/* The stack that was left first ends, and is free. */
static int
drop_oldest(struct hwtdi_call_thread *t, struct hwtd_error *err)
{
	struct hwtdi_stack *s = &t->stacks[t->oldest - 1];
	int rc = HWTD_OK;

	while (s->n > 0 && rc == HWTD_OK)
		rc = pop_of(t, s, HWTD_CALL_END_LIMIT, err);
	unlink_waiting(t, s);
	s->used = false;
	return (rc);
}

int
hwtdi_call_new_stack(struct hwtdi_call_thread *t, struct hwtd_error *err)
{
	uint32_t no;
	int rc = HWTD_OK;

	if (t->n_waiting >= t->rules->max_stacks)
		rc = drop_oldest(t, err);
	if (rc == HWTD_OK)
		rc = free_stack(t, &no, err);
	if (rc != HWTD_OK)
		return (rc);
	if (hwtdi_call_top(t) != NULL) {
		hwtdi_call_top(t)->flags |= HWTD_CALLF_SWITCHED;
		link_waiting(t, t->current);
	} else {
		hwtdi_call_current(t)->used = false;
	}
	t->current = no;
	begin_stack(t, &t->stacks[no]);
	return (HWTD_OK);
}

void
hwtdi_call_switch(struct hwtdi_call_thread *t, uint32_t stack)
{
	unlink_waiting(t, &t->stacks[stack]);
	if (hwtdi_call_top(t) != NULL) {
		hwtdi_call_top(t)->flags |= HWTD_CALLF_SWITCHED;
		link_waiting(t, t->current);
	} else {
		hwtdi_call_current(t)->used = false;
	}
	t->current = stack;
}

int
hwtdi_call_pop_all(struct hwtdi_call_thread *t, uint8_t end,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (t->n_stacks == 0)
		return (HWTD_OK);
	while (rc == HWTD_OK && hwtdi_call_top(t) != NULL)
		rc = hwtdi_call_pop(t, end, err);
	while (rc == HWTD_OK && t->oldest != 0) {
		struct hwtdi_stack *s = &t->stacks[t->oldest - 1];

		while (s->n > 0 && rc == HWTD_OK)
			rc = pop_of(t, s, end, err);
		unlink_waiting(t, s);
		s->used = false;
	}
	begin_stack(t, hwtdi_call_current(t));
	return (rc);
}

/* Beginning. */

static void
set_place(struct hwtdi_frame *f, const struct hwtdi_push *push)
{
	const struct hwtdi_step *step = push->step;

	f->function = push->at.function;
	f->family = push->at.family;
	f->is_cold = push->at.is_cold;
	f->state |= push->at.resumes ? HWTDI_FRAME_RESUMES : 0;
	f->first = push->at.first;
	f->end = push->at.end;
	f->section = HWTD_NO_ID;
	if (!push->placed)
		return;
	f->address = step->to;
	f->section = step->to_section;
	f->flags |= HWTD_CALLF_ADDRESS;
}

static void
set_site(struct hwtdi_frame *f, const struct hwtdi_push *push)
{
	const struct hwtdi_step *step = push->step;

	f->site_section = HWTD_NO_ID;
	if ((step->flags & HWTDI_STEP_FROM) == 0 ||
	    push->type == HWTD_CALL_TYPE_FOUND)
		return;
	f->site = step->from;
	f->site_section = step->from_section;
	f->flags |= HWTD_CALLF_SITE;
}

static int
put_enter(struct hwtdi_call_thread *t, struct hwtd_error *err)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	struct hwtd_call row;

	if (!t->rules->enters)
		return (HWTD_OK);
	make_row(t, s, s->n - 1, HWTD_CALL_ENTER, &row);
	/* What a caller that becomes known late has is told when it ends. */
	row.ns = row.insns = row.cycles = row.gap_ns = row.off_ns = 0;
	row.gap_bytes = 0;
	row.gaps = 0;
	row.flags &= ~(uint32_t)(HWTD_CALLF_CYCLES | HWTD_CALLF_SWITCHED);
	return (t->rules->put(t->rules->arg, &row, err));
}

/* So many calls may be held: when there are more, all end. */
static int
make_room(struct hwtdi_call_thread *t, struct hwtd_error *err)
{
	int rc = first_stack(t, err);

	if (rc == HWTD_OK && t->n_frames >= t->rules->max_frames)
		rc = hwtdi_call_pop_all(t, HWTD_CALL_END_LIMIT, err);
	return (rc);
}

/* One more, for which there is room; all zero but for what all have. */
static int
add_frame(struct hwtdi_call_thread *t, const struct hwtdi_push *push,
    struct hwtdi_frame **out, struct hwtd_error *err)
{
	struct hwtdi_stack *s;
	struct hwtdi_frame *f;
	int rc;

	s = hwtdi_call_current(t);
	rc = hwtdi_array_grow(t->rules->library, &s->frames, &s->cap, s->n + 1,
	    sizeof(*s->frames), err);
	if (rc != HWTD_OK)
		return (rc);
	f = &s->frames[s->n++];
	t->n_frames++;
	memset(f, 0, sizeof(*f));
	f->id = t->rules->next_id++;
	f->type = push->type;
	f->context = push->step->context;
	f->flags = push->flags;
	f->state = push->state;
	if (t->credit < UINT32_C(1) << 20)
		t->credit += 64;
	*out = f;
	return (HWTD_OK);
}

int
hwtdi_call_push(struct hwtdi_call_thread *t, const struct hwtdi_push *push,
    struct hwtd_error *err)
{
	struct hwtdi_stack *s;
	struct hwtdi_frame *f;
	int rc = make_room(t, err);

	if (rc == HWTD_OK)
		rc = add_frame(t, push, &f, err);
	if (rc != HWTD_OK)
		return (rc);
	s = hwtdi_call_current(t);
	f->begin_ns = t->last_ns;
	f->begin_insns = t->insns;
	f->flags |= time_flags(t->last_flags);
	set_place(f, push);
	set_site(f, push);
	if ((push->state & HWTDI_FRAME_BACK) != 0)
		f->back = push->step->back;
	if ((push->state & HWTDI_FRAME_FAR) != 0) {
		f->far = s->far;
		s->far = (uint32_t)s->n;
	}
	return (put_enter(t, err));
}

int
hwtdi_call_replace(struct hwtdi_call_thread *t, const struct hwtdi_push *push,
    struct hwtd_error *err)
{
	const struct hwtdi_frame old = *hwtdi_call_top(t);
	struct hwtdi_stack *s = hwtdi_call_current(t);
	const size_t unproven = s->unproven, doubtful = s->doubtful;
	struct hwtdi_frame *f;
	int rc = hwtdi_call_pop(t, HWTD_CALL_END_TAIL, err);

	if (rc == HWTD_OK)
		rc = add_frame(t, push, &f, err);
	if (rc != HWTD_OK)
		return (rc);
	/* It was seen to begin; those below are as they were. */
	s->unproven = unproven < s->n ? unproven : s->n - 1;
	s->doubtful = doubtful;
	f->begin_ns = t->last_ns;
	f->begin_insns = t->insns;
	f->flags |= time_flags(t->last_flags);
	set_place(f, push);
	set_site(f, push);
	f->back = old.back;
	f->state |= old.state & ~(HWTDI_FRAME_AWAY | HWTDI_FRAME_RESUMES);
	if ((old.state & HWTDI_FRAME_FAR) != 0) {
		f->far = s->far;
		s->far = (uint32_t)s->n;
	}
	return (put_enter(t, err));
}

int
hwtdi_call_push_caller(struct hwtdi_call_thread *t,
    const struct hwtdi_push *push, struct hwtd_error *err)
{
	struct hwtdi_frame *f, all;
	struct hwtdi_stack *s;
	int32_t depth;
	int rc = make_room(t, err);

	if (rc == HWTD_OK)
		rc = add_frame(t, push, &f, err);
	if (rc != HWTD_OK)
		return (rc);
	s = hwtdi_call_current(t);
	all = s->all;
	depth = s->depth;
	memset(&s->all, 0, sizeof(s->all));
	if (depth > INT32_MIN)
		s->depth = depth - 1;
	add_sums(f, &all);
	f->begin_ns = s->begin_ns;
	f->begin_insns = s->begin_insns;
	f->flags |= time_flags(s->begin_flags);
	set_place(f, push);
	f->site_section = HWTD_NO_ID;
	return (put_enter(t, err));
}

/* Time. */

/* The gap that was last is over. */
static int
put_gap(struct hwtdi_call_thread *t, struct hwtd_error *err)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	const struct hwtd_call row = { .kind = HWTD_CALL_GAP,
		.begin_ns = t->gap_ns,
		.end_ns = t->last_ns,
		.gap_ns = t->last_ns - t->gap_ns,
		.self_gap_ns = t->last_ns - t->gap_ns,
		.begin_insns = t->gap_insns,
		.end_insns = t->insns,
		.end = (uint8_t)t->gap_reason,
		.flags = t->has_time
		    ? HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME
		    : 0,
		.gap_bytes = t->gap_bytes,
		.gaps = 1,
		.thread = t->no,
		.stack = s->id,
		.depth = s->depth + (int32_t)s->n,
		.function = HWTD_NO_ID,
		.section = HWTD_NO_ID,
		.call_section = HWTD_NO_ID,
		.context = t->gap_context };

	t->in_gap = false;
	return (t->rules->gaps ? t->rules->put(t->rules->arg, &row, err)
			       : HWTD_OK);
}

/* The time of a thread goes on to here; what passed. */
static uint64_t
pass(struct hwtdi_call_thread *t, uint64_t ns, uint32_t flags)
{
	uint64_t passed = 0;

	if ((flags & HWTDI_STEP_TIME) == 0)
		return (0);
	if (!t->has_time) {
		t->has_time = true;
		t->first_ns = ns;
		t->last_ns = ns;
	}
	/* The clock of another CPU may be a little behind. */
	if (ns >= t->last_ns) {
		passed = ns - t->last_ns;
		t->last_ns = ns;
		t->last_flags = flags;
	} else {
		t->last_flags = flags | HWTDI_STEP_ESTIMATED;
	}
	return (passed);
}

int
hwtdi_call_charge(struct hwtdi_call_thread *t, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	const bool first = !t->has_time;
	const uint64_t passed = pass(t, step->time_ns, step->flags);
	struct hwtdi_frame none, *top;
	uint64_t lost;
	int rc = first_stack(t, err);

	if (rc != HWTD_OK)
		return (rc);
	top = hwtdi_call_top(t);
	if (top == NULL) {
		memset(&none, 0, sizeof(none));
		top = &none;
	}
	if (first && t->has_time) {
		hwtdi_call_current(t)->begin_ns = t->last_ns;
		hwtdi_call_current(t)->begin_flags = t->last_flags;
	}
	*(t->in_gap	 ? &top->self_gap_ns
		: t->out ? &top->self_off_ns
			 : &top->self_ns) += passed;
	if (top == &none) {
		t->nobody_ns += passed;
		/* Who turns out to be around all of the stack was there. */
		hwtdi_call_current(t)->all.off_ns += passed;
	}
	top->self_insns += step->insns;
	t->insns += step->insns;
	top->self_cycles += step->cycles;
	if ((step->flags & HWTDI_STEP_CYCLES) != 0)
		top->flags |= HWTD_CALLF_CYCLES;
	if (t->in_gap)
		rc = put_gap(t, err);
	if (rc != HWTD_OK || step->what != HWTDI_TRANSFER_GAP)
		return (rc);
	top->gaps++;
	top->gap_bytes += step->gap_bytes;
	t->in_gap = true;
	t->gap_ns = t->last_ns;
	t->gap_bytes = step->gap_bytes;
	t->gap_insns = t->insns;
	t->gap_reason = step->gap_reason;
	t->gap_context = step->context;
	if ((step->flags & HWTDI_STEP_UNTIL) == 0)
		return (HWTD_OK);
	lost = pass(t, step->until_ns, HWTDI_STEP_TIME);
	top->self_gap_ns += lost;
	if (top == &none) {
		t->nobody_ns += lost;
		hwtdi_call_current(t)->all.off_ns += lost;
	}
	return (put_gap(t, err));
}
