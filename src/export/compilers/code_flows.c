/*
 * How execution went on from where branches led.
 *
 * Pieces are passed in the order of their addresses.  What came to a piece, by
 * branches or from the piece before it, waits in a queue; as much of it as does not
 * go on to the next piece ends there, first what has waited longest.  So each piece
 * ends at most one more flow than branches lead to it, and the counts of pieces and
 * of branches are those that were given, whatever else execution did.
 */
#include "export/compilers/code_flows.h"

#include <stdlib.h>

#include "base/fail.h"

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

/* So many times execution came from `from` to `to`. */
struct waiting {
	uint64_t from, to, count;
	uint8_t origin;
};

struct making {
	struct hwtdi_code_profile *profile;
	struct hwtd_error *err;
	bool with_flows;
	struct waiting *queue;
	/* [head, n) of it wait, so many times together. */
	size_t head, n, cap;
	uint64_t count;
	int rc;
};

static int
by_target(const void *a, const void *b)
{
	const struct hwtdi_code_edge *x = a, *y = b;

	ORDER(x->branch.to_side, y->branch.to_side);
	ORDER(x->bias, y->bias);
	ORDER(x->branch.to, y->branch.to);
	ORDER(x->branch.from_side, y->branch.from_side);
	ORDER(x->branch.from, y->branch.from);
	ORDER(x->branch.branch, y->branch.branch);
	return (0);
}

static uint8_t
origin_of(const struct hwtdi_code_branch *b)
{
	const bool returns = b->branch == HWTD_BRANCH_RETURN;

	if (b->from_side == HWTDI_CODE_INSIDE)
		return (returns ? HWTDI_FLOW_RETURN : HWTDI_FLOW_BRANCH);
	return (returns ? HWTDI_FLOW_RETURN_FROM_ELSEWHERE
			: HWTDI_FLOW_FROM_ELSEWHERE);
}

static void
add_branch(struct making *m, const struct hwtdi_code_branch *b)
{
	struct hwtdi_code_profile *p = m->profile;

	if (m->rc != HWTD_OK || b->count == 0)
		return;
	m->rc = hwtdi_array_grow(p->ctx, &p->branches, &p->cap_branches,
	    p->n_branches + 1, sizeof(*b), m->err);
	if (m->rc == HWTD_OK)
		p->branches[p->n_branches++] = *b;
}

static void
add_flow(struct making *m, const struct hwtdi_code_flow *f)
{
	struct hwtdi_code_profile *p = m->profile;

	if (m->rc != HWTD_OK || f->count == 0 || !m->with_flows)
		return;
	m->rc = hwtdi_array_grow(p->ctx, &p->flows, &p->cap_flows,
	    p->n_flows + 1, sizeof(*f), m->err);
	if (m->rc == HWTD_OK)
		p->flows[p->n_flows++] = *f;
}

/* A branch led there, and no more is known. */
static void
add_bare(struct making *m, const struct waiting *w, uint64_t count)
{
	const struct hwtdi_code_flow flow = { .from = w->from,
		.to = w->to,
		.count = count,
		.origin = w->origin,
		.bare = true };

	add_flow(m, &flow);
}

/* The queue. */

static void
enqueue(struct making *m, const struct waiting *w)
{
	if (m->rc != HWTD_OK || w->count == 0)
		return;
	if (m->head == m->n)
		m->head = m->n = 0;
	m->rc = hwtdi_array_grow(m->profile->ctx, &m->queue, &m->cap, m->n + 1,
	    sizeof(*w), m->err);
	if (m->rc != HWTD_OK)
		return;
	m->queue[m->n++] = *w;
	m->count = hwtdi_sum(m->count, w->count);
}

static uint64_t
lower(uint64_t a, uint64_t b)
{
	return (a < b ? a : b);
}

/* So many end at `last`. */
static void
end_some(struct making *m, uint64_t count, uint64_t last)
{
	while (count > 0 && m->head < m->n) {
		struct waiting *w = &m->queue[m->head];
		const struct hwtdi_code_flow flow = { .from = w->from,
			.to = w->to,
			.last = last,
			.count = lower(w->count, count),
			.origin = w->origin };

		add_flow(m, &flow);
		count -= flow.count;
		m->count -= lower(m->count, flow.count);
		w->count -= flow.count;
		if (w->count == 0)
			m->head++;
	}
}

/* Of those that came last, so many executed nothing that is known. */
static void
drop_some(struct making *m, uint64_t count)
{
	while (count > 0 && m->head < m->n) {
		struct waiting *w = &m->queue[m->n - 1];
		const uint64_t some = lower(w->count, count);

		add_bare(m, w, some);
		count -= some;
		m->count -= lower(m->count, some);
		w->count -= some;
		if (w->count == 0)
			m->n--;
	}
}

/* Pieces. */

/* How often execution went on from a piece to the one behind it. */
static uint64_t
flow_between(const struct hwtdi_code_piece *p,
    const struct hwtdi_code_piece *next, uint64_t inflow)
{
	switch (p->code.branch) {
	case HWTD_BRANCH_NONE:
	case HWTD_BRANCH_FAR_CALL:
		return (next->code.count > inflow
			? lower(p->code.count, next->code.count - inflow)
			: 0);
	default:
		return (lower(p->not_taken, p->code.count));
	}
}

static bool
is_before(const struct hwtdi_code_edge *e, const struct hwtdi_code_piece *p)
{
	return (e->bias < p->bias ||
	    (e->bias == p->bias && e->branch.to < p->code.start));
}

static bool
is_at(const struct hwtdi_code_edge *e, const struct hwtdi_code_piece *p)
{
	return (e->bias == p->bias && e->branch.to == p->code.start);
}

static bool
returns_far(const struct hwtdi_code_edge *e)
{
	return (e->branch.branch == HWTD_BRANCH_FAR_RETURN);
}

static struct waiting
waiting_of(const struct hwtdi_code_branch *b)
{
	return ((struct waiting){ .from = b->from,
	    .to = b->to,
	    .count = b->count,
	    .origin = origin_of(b) });
}

/* Edges to what nothing is known of, or is in the middle of a piece. */
static void
pass_edge(struct making *m, const struct hwtdi_code_edge *e)
{
	const struct waiting w = waiting_of(&e->branch);

	if (returns_far(e))
		return;
	add_branch(m, &e->branch);
	add_bare(m, &w, w.count);
}

/* What is missing came from a kernel, as far as that returned there. */
static void
fill_up(struct making *m, const struct hwtdi_code_piece *p, uint64_t far)
{
	const uint64_t missing = p->code.count - m->count,
		       entered = lower(missing, far);
	struct waiting w = { .to = p->code.start,
		.count = entered,
		.origin = HWTDI_FLOW_FROM_ELSEWHERE };
	const struct hwtdi_code_branch b = { .to = w.to,
		.count = entered,
		.from_side = HWTDI_CODE_ELSEWHERE,
		.branch = HWTD_BRANCH_FAR_RETURN };

	enqueue(m, &w);
	add_branch(m, &b);
	w.count = missing - entered;
	w.origin = HWTDI_FLOW_UNKNOWN;
	enqueue(m, &w);
	m->profile->info.starts = hwtdi_sum(m->profile->info.starts, w.count);
}

/* Edges [first, end) lead to the piece. */
static void
pass_piece(struct making *m, const struct hwtdi_code_piece *before,
    const struct hwtdi_code_piece *p, const struct hwtdi_code_edge *first,
    const struct hwtdi_code_edge *end)
{
	uint64_t inflow = 0, far = 0, flow = 0;

	for (const struct hwtdi_code_edge *e = first; e < end; e++)
		if (returns_far(e))
			far = hwtdi_sum(far, e->branch.count);
		else
			inflow = hwtdi_sum(inflow, e->branch.count);
	if (before != NULL && before->bias == p->bias &&
	    before->code.end == p->code.start)
		flow = flow_between(before, p, inflow);
	/* What came on and was not executed ends where it was last seen. */
	if (flow > p->code.count || inflow > p->code.count - flow)
		flow = inflow < p->code.count ? p->code.count - inflow : 0;
	if (before != NULL && m->count > flow)
		end_some(m, m->count - flow, before->code.last);
	for (const struct hwtdi_code_edge *e = first; e < end; e++) {
		const struct waiting w = waiting_of(&e->branch);

		if (returns_far(e))
			continue;
		enqueue(m, &w);
		add_branch(m, &e->branch);
	}
	if (m->count < p->code.count)
		fill_up(m, p, far);
	else
		drop_some(m, m->count - p->code.count);
}

int
hwtdi_code_flows_make(struct hwtdi_code_profile *profile,
    struct hwtdi_code_pieces *code, bool with_flows, struct hwtd_error *err)
{
	struct making m = { .profile = profile,
		.err = err,
		.with_flows = with_flows };
	const struct hwtdi_code_piece *before = NULL;
	const struct hwtdi_code_edge *e = code->edges, *end = e;
	size_t inside = 0;

	if (code->n_edges > 0)
		qsort(code->edges, code->n_edges, sizeof(*code->edges),
		    by_target);
	while (inside < code->n_edges &&
	    code->edges[inside].branch.to_side == HWTDI_CODE_INSIDE)
		end = &code->edges[++inside];
	for (size_t i = 0; i < code->n_pieces && m.rc == HWTD_OK; i++) {
		const struct hwtdi_code_piece *p = &code->pieces[i];
		const struct hwtdi_code_edge *first;

		for (; e < end && is_before(e, p); e++)
			pass_edge(&m, e);
		for (first = e; e < end && is_at(e, p);)
			e++;
		pass_piece(&m, before, p, first, e);
		before = p;
	}
	if (before != NULL)
		end_some(&m, m.count, before->code.last);
	for (; e < end; e++)
		pass_edge(&m, e);
	for (; inside < code->n_edges; inside++)
		add_branch(&m, &code->edges[inside].branch);
	hwtdi_array_free(profile->ctx, m.queue, m.cap, sizeof(*m.queue));
	return (m.rc);
}
