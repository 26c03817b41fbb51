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

/* The node where the code of the node at hand leads, out of its unit, or 0. */
static uint32_t
foresee_away(struct hwtdi_ptn_foresight *f, const struct hwtdi_decoder *d,
    const struct hwtdi_code_block *b, int64_t target)
{
	f->away = true;
	return (hwtdi_ptn_target(d,
	    d->places[b->unit].address + (uint64_t)target));
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
		next = hwtdi_ptn_next(d, f->node);
		f->away |= n->kind == HWTDI_NODE_AWAY;
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

struct hwtdi_ptn_calls_effect
hwtdi_ptn_foreseen(const struct hwtdi_ptn_foresight *f, uint32_t *stack)
{
	memcpy(stack, f->taken, f->n_taken * sizeof(stack[0]));
	memcpy(stack + f->n_taken, f->made, f->n_made * sizeof(stack[0]));
	return ((struct hwtdi_ptn_calls_effect){ .pops = (uint8_t)f->n_taken,
	    .pushes = (uint8_t)f->n_made,
	    .writes = (uint8_t)(f->highest + (int)f->n_taken) });
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
	stack += effect.pops;
	for (uint32_t i = 0; i < effect.writes; i++)
		calls[(base + 1 + i) % HWTDI_PTN_CALLS] = i < effect.pushes
		    ? stack[i]
		    : 0;
	*top_inout = (base + effect.pushes) % HWTDI_PTN_CALLS;
	return (true);
}
