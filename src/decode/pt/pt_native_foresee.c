/*
 * The native Intel PT engine: where outcomes lead.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

static bool
foresee_pushes(struct hwtdi_ptn_foresight *f, const struct hwtdi_node *n,
    uint32_t count)
{
	if (count > HWTDI_PTN_FORESEE_MADE - f->n_made)
		return (false);
	for (uint32_t i = 0; i < count; i++)
		f->made[f->n_made++] = n->push + i;
	f->level += (int)count;
	if (f->level > f->highest)
		f->highest = f->level;
	return (true);
}

static bool
foresee_token(struct hwtdi_ptn_foresight *f)
{
	if (f->n_tokens == f->max_tokens)
		return (false);
	f->tokens[f->n_tokens++] = f->node;
	return (true);
}

/* Take the newest call; 0: none is known. */
static uint32_t
foresee_pop(struct hwtdi_ptn_foresight *f, const uint32_t *calls)
{
	uint32_t call;

	if (f->n_made != 0) {
		f->level--;
		return (f->made[--f->n_made]);
	}
	call = calls[f->top];
	/* None, or one that is remembered by its address. */
	if (call + 1 <= 1 || f->n_taken == f->max_stack)
		return (0);
	f->taken[f->n_taken++] = call;
	f->top = (f->top + HWTDI_PTN_CALLS - 1) % HWTDI_PTN_CALLS;
	f->level--;
	return (call);
}

/* The same over a branch to an address, where what is taken does not matter. */
static bool
foresee_drop(struct hwtdi_ptn_foresight *f, const uint32_t *calls)
{
	if (f->n_made == 0 && calls[f->top] == 0) {
		f->empty = true;
		return (true);
	}
	if (f->n_made != 0)
		f->n_made--;
	else if (f->n_taken == f->max_stack)
		return (false);
	else {
		f->taken[f->n_taken++] = calls[f->top];
		f->top = (f->top + HWTDI_PTN_CALLS - 1) % HWTDI_PTN_CALLS;
	}
	f->level--;
	return (true);
}

/* Over a return. */
static uint32_t
foresee_return(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    const struct hwtdi_node *n)
{
	uint32_t call;

	if (n->pushes != 0) {
		if (!foresee_pushes(f, n, n->pushes - 1u))
			return (0);
		return (hwtdi_graph_returned(&d->view,
		    n->push + n->pushes - 1u));
	}
	call = foresee_pop(f, d->calls);
	return (call != 0 ? hwtdi_graph_returned(&d->view, call) : 0);
}

static bool
foresee_depends(struct hwtdi_ptn_foresight *f, uint32_t node, uint64_t ip)
{
	f->away = true;
	if (f->targets == NULL)
		return (true);
	if (f->n_targets == f->max_targets)
		return (false);
	f->targets[f->n_targets].ip = ip;
	f->targets[f->n_targets++].node = node;
	return (true);
}

/* The node at an address, or 0. */
static uint32_t
foresee_at(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    uint64_t ip)
{
	const uint32_t node = hwtdi_ptn_known_node(d, ip);

	return (foresee_depends(f, node, ip) ? node : 0);
}

/* It depends on where the node at hand lies. */
static bool
foresee_place(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    const struct hwtdi_code_block *b)
{
	return (foresee_depends(f, f->node | HWTDI_PTN_PLACED,
	    d->places[b->unit].address + b->off));
}

/*
 * The node where the code of a node leads, out of its unit, or 0.  From
 * elsewhere the unit would lead elsewhere.
 */
static uint32_t
foresee_away(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    const struct hwtdi_code_block *b, int64_t target)
{
	return (foresee_place(f, d, b)
		? foresee_at(f, d,
		      d->places[b->unit].address + (uint64_t)target)
		: 0);
}

/* Where a node goes on without trace, or 0. */
static uint32_t
foresee_next(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    const struct hwtdi_node *n)
{
	const struct hwtdi_code_block *b;

	if (n->kind != HWTDI_NODE_AWAY)
		return (hwtdi_ptn_next(d, f->node));
	b = hwtdi_graph_view_block(&d->view, f->node);
	return (foresee_away(f, d, b, b->target));
}

/* To a node whose end needs trace, as the loop does it. */
static bool
foresee_pass(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d)
{
	for (unsigned int i = 0;; i++) {
		const struct hwtdi_node *n = &d->view.nodes[f->node];
		uint32_t next;

		if (hwtdi_ptn_needs_trace(n))
			return (true);
		if (i == HWTDI_PTN_WAY)
			return (false);
		next = foresee_next(f, d, n);
		if (next == 0 || (n->insns != 0 && !foresee_token(f)) ||
		    !foresee_pushes(f, n, n->pushes))
			return (false);
		f->node = next;
	}
}

/* Where a conditional branch leads; 0: not known. */
static uint32_t
foresee_branch(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    const struct hwtdi_node *n, unsigned int taken)
{
	const uint32_t next = atomic_load_explicit(&n->next[taken],
	    memory_order_acquire);
	const struct hwtdi_code_block *b;
	int64_t target;

	if (next != 0)
		return (next);
	b = hwtdi_graph_view_block(&d->view, f->node);
	target = taken != 0 ? b->target : (int64_t)b->end;
	if (target >= 0 &&
	    target < (int64_t)hwtdi_graph_unit_at(d->graph, b->unit)->length)
		return (0);
	return (foresee_away(f, d, b, target));
}

/* Over the end of a node by an outcome; 0: not known. */
static uint32_t
foresee_end(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    const struct hwtdi_node *n, unsigned int taken)
{
	if (n->kind > HWTDI_NODE_COND_PUSH)
		return (foresee_return(f, d, n));
	return (foresee_pushes(f, n, n->pushes)
		? foresee_branch(f, d, n, taken)
		: 0);
}

bool
hwtdi_ptn_foresee(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    uint64_t bits, uint32_t *n_inout)
{
	for (; *n_inout != 0; (*n_inout)--, bits <<= 1) {
		const struct hwtdi_node *n;
		uint32_t next;

		if (!foresee_pass(f, d))
			return (false);
		n = &d->view.nodes[f->node];
		if (n->kind > HWTDI_NODE_RETURN ||
		    (n->kind == HWTDI_NODE_RETURN && bits >> 63 == 0))
			break;
		if (!foresee_token(f))
			return (false);
		next = foresee_end(f, d, n, (unsigned int)(bits >> 63));
		if (next == 0)
			return (false);
		f->node = next;
	}
	return (f->n_taken + f->n_made <= f->max_stack);
}

/* Over the end of a node that no outcome tells of. */
static bool
foresee_leave(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d)
{
	const struct hwtdi_node *n = &d->view.nodes[f->node];

	return (foresee_token(f) && foresee_pushes(f, n, n->pushes) &&
	    (n->kind != HWTDI_NODE_RETURN || foresee_drop(f, d->calls)) &&
	    f->n_taken + f->n_made <= f->max_stack);
}

bool
hwtdi_ptn_foresee_target(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t ip)
{
	if (f->node == 0 || !foresee_pass(f, d) ||
	    d->view.nodes[f->node].kind < HWTDI_NODE_RETURN ||
	    !foresee_leave(f, d))
		return (false);
	f->node = foresee_at(f, d, ip);
	return (f->node != 0);
}

bool
hwtdi_ptn_foresee_off(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t ip)
{
	const struct hwtdi_code_block *b;
	struct hwtdi_ptn_way way;

	/* See hwtdi_ptn_quick(). */
	if (f->node == 0 || d->has_detail ||
	    !hwtdi_ptn_find_way_to(d, f->node, ip, &way) || way.has_ip ||
	    !foresee_pass(f, d) || f->max_tokens - f->n_tokens < 4)
		return (false);
	b = hwtdi_graph_view_block(&d->view, f->node);
	if (!foresee_place(f, d, b) || !foresee_leave(f, d))
		return (false);
	f->tokens[f->n_tokens++] = HWTDI_TOKEN_OFF;
	f->tokens[f->n_tokens++] = (uint32_t)ip;
	f->tokens[f->n_tokens++] = (uint32_t)(ip >> 32);
	f->goes_off = true;
	f->node = 0;
	return (true);
}

bool
hwtdi_ptn_foresee_on(struct hwtdi_ptn_foresight *f,
    const struct hwtdi_decoder *d, uint64_t ip)
{
	if (f->node == 0)
		f->node = foresee_at(f, d, ip);
	else
		f->node = 0;
	return (f->node != 0);
}

bool
hwtdi_ptn_still_at(const struct hwtdi_decoder *d, uint32_t node, uint64_t ip)
{
	const struct hwtdi_code_block *b;

	if ((node & HWTDI_PTN_PLACED) == 0)
		return (hwtdi_ptn_known_node(d, ip) == node);
	b = hwtdi_graph_view_block(&d->view, node & ~HWTDI_PTN_PLACED);
	return (d->places[b->unit].known &&
	    d->places[b->unit].address + b->off == ip);
}

struct hwtdi_ptn_calls_effect
hwtdi_ptn_foreseen(const struct hwtdi_ptn_foresight *f, uint32_t *stack)
{
	memcpy(stack, f->taken, f->n_taken * sizeof(stack[0]));
	memcpy(stack + f->n_taken, f->made, f->n_made * sizeof(stack[0]));
	return ((struct hwtdi_ptn_calls_effect){ .pops = (uint8_t)f->n_taken,
	    .pushes = (uint8_t)f->n_made,
	    .writes = (uint8_t)(f->highest + (int)f->n_taken),
	    .empty = f->empty });
}

bool
hwtdi_ptn_calls_apply(uint32_t *calls, uint32_t *top_inout,
    struct hwtdi_ptn_calls_effect effect, const uint32_t *stack)
{
	const uint32_t top = *top_inout;
	const uint32_t base = top - effect.pops;

	for (uint32_t i = 0; i < effect.pops; i++)
		if (calls[(top - i) % HWTDI_PTN_CALLS] != stack[i])
			return (false);
	if (effect.empty && calls[base % HWTDI_PTN_CALLS] != 0)
		return (false);
	stack += effect.pops;
	for (uint32_t i = 0; i < effect.writes; i++)
		calls[(base + 1 + i) % HWTDI_PTN_CALLS] = i < effect.pushes
		    ? stack[i]
		    : 0;
	*top_inout = (base + effect.pushes) % HWTDI_PTN_CALLS;
	return (true);
}
