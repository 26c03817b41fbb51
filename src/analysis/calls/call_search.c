/*
 * Searching the stacks of a thread for who goes on at an address.
 *
 * What finds nothing costs credit that calls have paid in, so that all searches
 * together cost as much as the calls of the trace do.
 */
#include "analysis/calls/call_frames.h"

/* Frames that are looked at without credit. */
#define FREE_LOOKS 32u

/* How far down it may be looked. */
static size_t
reach(const struct hwtdi_call_thread *t, size_t below)
{
	const size_t most = FREE_LOOKS + (size_t)t->credit;

	return (below < most ? below : most);
}

static void
pay(struct hwtdi_call_thread *t, size_t looks)
{
	if (looks > FREE_LOOKS)
		t->credit -= (uint32_t)(looks - FREE_LOOKS);
}

bool
hwtdi_call_find_back(struct hwtdi_call_thread *t, size_t below, uint64_t to,
    size_t *at_out)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	const size_t looks = reach(t, below);

	for (size_t i = 1; i <= looks; i++) {
		const struct hwtdi_frame *f = &s->frames[below - i];

		if ((f->state & HWTDI_FRAME_FAR) == 0 &&
		    hwtdi_frame_matches(f, to)) {
			*at_out = below - i;
			return (true);
		}
	}
	pay(t, looks);
	return (false);
}

bool
hwtdi_call_find_function(struct hwtdi_call_thread *t, size_t below,
    const struct hwtdi_extent *at, size_t *at_out)
{
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	const size_t looks = reach(t, below);

	if (at->function == HWTDI_NO_FUNCTION)
		return (false);
	for (size_t i = 1; i <= looks; i++) {
		const struct hwtdi_frame *f = &s->frames[below - i];

		if (hwtdi_same_function(f->function, f->family, f->is_cold,
			at)) {
			*at_out = below - i;
			return (true);
		}
	}
	pay(t, looks);
	return (false);
}

static struct hwtdi_return_point *
point_of(struct hwtdi_call_thread *t, uint64_t address)
{
	const uint64_t h = address * 0x9e3779b97f4a7c15u;

	return (&t->points[h >> 32 & (HWTDI_RETURN_POINTS - 1)]);
}

void
hwtdi_call_note_point(struct hwtdi_call_thread *t, uint64_t to)
{
	struct hwtdi_stack *s = hwtdi_call_current(t);

	if (s->n == 0)
		return;
	s->frames[s->n - 1].point = to;
	*point_of(t, to) = (struct hwtdi_return_point){ .address = to,
		.id = s->frames[s->n - 1].id,
		.frame = (uint32_t)s->n,
		.stack = s->id };
}

bool
hwtdi_call_find_point(struct hwtdi_call_thread *t, uint64_t to, size_t *at_out)
{
	const struct hwtdi_return_point *p = point_of(t, to);
	const struct hwtdi_stack *s = hwtdi_call_current(t);
	const size_t looks = reach(t, s->n);

	if (p->frame != 0 && p->address == to && p->stack == s->id &&
	    p->frame <= s->n && s->frames[p->frame - 1].id == p->id) {
		*at_out = p->frame - 1;
		return (true);
	}
	/* Another call may have taken its place there. */
	for (size_t i = 1; i <= looks && to != 0; i++) {
		if (s->frames[s->n - i].point == to) {
			*at_out = s->n - i;
			return (true);
		}
	}
	pay(t, looks);
	return (false);
}

bool
hwtdi_call_find_waiting(struct hwtdi_call_thread *t, uint64_t to,
    uint32_t *stack_out, size_t *n_out)
{
	size_t n = 0;

	for (uint32_t no = t->oldest; no != 0; no = t->stacks[no - 1].newer) {
		const struct hwtdi_stack *s = &t->stacks[no - 1];

		if (!hwtdi_frame_matches(&s->frames[s->n - 1], to))
			continue;
		if (n++ == 0)
			*stack_out = no - 1;
	}
	*n_out = n;
	return (n != 0);
}
