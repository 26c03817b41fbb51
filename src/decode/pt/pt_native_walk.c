/*
 * The native Intel PT engine: packets and code graph in one loop.
 */
#include "decode/pt/pt_native.h"

/* What the loop keeps at hand; the rest of the decoder is for other packets. */
struct walk {
	const struct hwtdi_node *nodes;
	uint32_t *tokens;
	size_t n;
	uint32_t node;
	uint32_t top;
	uint64_t bits;
	uint32_t n_bits;
	/* The next packet. */
	const uint8_t *p;
};

static void
begin(struct walk *w, const struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	w->nodes = d->view.nodes;
	w->tokens = flow->tokens;
	w->n = flow->n_tokens;
	w->node = d->node;
	w->top = d->top;
	w->bits = d->bits;
	w->n_bits = d->n_bits;
}

static void
end(const struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	if (w->n != flow->n_tokens) {
		d->last_token = w->tokens[w->n - 1];
		d->wrote_cr3 = false;
	}
	flow->n_tokens = w->n;
	d->node = w->node;
	d->top = w->top;
	d->bits = w->bits;
	d->n_bits = w->n_bits;
}

HWTDI_PT_INLINE uint32_t
push(uint32_t *calls, uint32_t top, const struct hwtdi_node *n, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		top = (top + 1) % HWTDI_PTN_CALLS;
		calls[top] = n->push + i;
	}
	return (top);
}

/*
 * A compressed return: the node that the newest call returns to, or 0 if that
 * has to be found out.
 */
HWTDI_PT_INLINE uint32_t
returned(const struct walk *w, const struct hwtdi_decoder *d,
    const struct hwtdi_node *n)
{
	const uint32_t call = n->pushes != 0 ? n->push + n->pushes - 1u
					     : d->calls[w->top];

	/* No call, or one that is remembered by its address. */
	if (call + 1 <= 1)
		return (0);
	return (hwtdi_graph_returned(&d->view, call));
}

/* The node at an address, if it is known. */
HWTDI_PT_INLINE uint32_t
target(const struct hwtdi_decoder *d, uint64_t ip)
{
	const struct hwtdi_ptn_target
	    *t = &d->targets[hwtdi_ptn_target_slot(ip)];

	return (t->ip == ip && t->epoch == d->epoch ? t->node : 0);
}

/* Nodes. */

/* Nodes that are passed at once without trace. */
#define SKIPPED 4u

struct skipped {
	/* Where execution stands then; 0: it is for someone else. */
	uint32_t node;
	uint32_t top;
	uint32_t tokens;
};

/*
 * Go on without trace to a node whose end needs it, if that is near and all is
 * known.  Nothing is passed twice then: behind it execution would go the same
 * way again, and never come to that node.
 */
static struct skipped
skip(struct hwtdi_decoder *d, uint32_t *tokens, uint32_t node, uint32_t top)
{
	struct skipped out = { 0, top, 0 };
	uint32_t path[SKIPPED];
	unsigned int n = 0;

	for (;; n++) {
		const struct hwtdi_node *at = &d->view.nodes[node];

		if (at->kind >= HWTDI_NODE_COND && at->kind <= HWTDI_NODE_FAR)
			break;
		if (n == SKIPPED)
			return (out);
		path[n] = node;
		if (at->kind == HWTDI_NODE_AWAY) {
			const struct hwtdi_code_block
			    *b = hwtdi_graph_view_block(&d->view, node);

			node = target(d,
			    d->places[b->unit].address + (uint64_t)b->target);
		} else if (at->kind == HWTDI_NODE_ON)
			node = atomic_load_explicit(&at->next[0],
			    memory_order_acquire);
		else
			return (out);
		if (node == 0)
			return (out);
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct hwtdi_node *at = &d->view.nodes[path[i]];

		if (at->insns != 0)
			tokens[out.tokens++] = path[i];
		out.top = push(d->calls, out.top, at, at->pushes);
	}
	out.node = node;
	return (out);
}

/* The same of the node at hand; false: it is for someone else. */
HWTDI_PT_INLINE bool
walk_on(struct walk *w, struct hwtdi_decoder *d)
{
	struct skipped s;

	if (w->nodes[w->node].kind < HWTDI_NODE_ON ||
	    w->n + w->n_bits + SKIPPED + 1 > HWTDI_FLOW_TOKENS)
		return (false);
	s = skip(d, w->tokens + w->n, w->node, w->top);
	if (s.node == 0)
		return (false);
	w->node = s.node;
	w->top = s.top;
	w->n += s.tokens;
	return (true);
}

/* The branch at the end of the node at hand goes to an address. */
HWTDI_PT_INLINE void
walk_to(struct walk *w, struct hwtdi_decoder *d, uint64_t ip)
{
	const struct hwtdi_node *n = &w->nodes[w->node];

	w->tokens[w->n++] = w->node;
	if (n->pushes != 0)
		w->top = push(d->calls, w->top, n, n->pushes);
	if (n->kind == HWTDI_NODE_RETURN && d->calls[w->top] != 0) {
		d->calls[w->top] = 0;
		w->top = (w->top + HWTDI_PTN_CALLS - 1) % HWTDI_PTN_CALLS;
	}
	d->ip = ip;
	w->node = target(d, ip);
}

/*
 * A TIP packet at byte `at` that comes ahead of its turn, behind a TNT packet
 * whose outcomes are not used up.  False: there is none, or it is for someone
 * else.
 */
static bool
lex_ahead(struct hwtdi_decoder *d, size_t at, uint64_t *ip_out)
{
	struct hwtdi_pt_lex_state lex = d->lex;
	struct hwtdi_pt_packet packet;
	const uint8_t *p;

	if (at >= d->segment.n)
		return (false);
	p = hwtdi_ptn_bytes(d, at);
	if ((p[0] & 0x1f) != 0x0d || hwtdi_pt_classes[p[0]] != HWTDI_PT_IP)
		return (false);
	hwtdi_pt_lex_ip(&lex, p, &packet);
	if ((packet.flags & HWTD_PKF_IP) == 0 ||
	    packet.bytes > d->segment.n - at)
		return (false);
	d->lex = lex;
	d->ahead = at + packet.bytes;
	*ip_out = packet.ip;
	return (true);
}

/* False: it is for someone else. */
HWTDI_PT_INLINE bool
walk_ahead(struct walk *w, struct hwtdi_decoder *d, const uint8_t *bytes_end)
{
	const struct hwtdi_node *n = &w->nodes[w->node];
	uint64_t ip;

	if (n->kind < HWTDI_NODE_RETURN || n->kind > HWTDI_NODE_FAR ||
	    w->n + w->n_bits + 1 > HWTDI_FLOW_TOKENS)
		return (false);
	/* A compressed return whose node is not known. */
	if (n->kind == HWTDI_NODE_RETURN && w->bits >> 63 != 0 &&
	    (n->pushes != 0 || d->calls[w->top] != 0))
		return (false);
	if (!lex_ahead(d,
		d->ahead != 0 ? d->ahead
			      : d->segment.n - (size_t)(bytes_end - w->p),
		&ip))
		return (false);
	d->loop_at = SIZE_MAX;
	walk_to(w, d, ip);
	return (true);
}

/* Find the node at hand.  False: it is for someone else. */
HWTDI_PT_INLINE bool
find_here(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	/* Else it counts where the stream is. */
	if (!d->code.fixed)
		return (false);
	end(w, d, flow);
	if (!hwtdi_ptn_has_room(flow) ||
	    hwtdi_ptn_find_node(d, flow, NULL) != HWTD_OK)
		return (false);
	begin(w, d, flow);
	return (true);
}

/*
 * Follow the link of the node at hand, whose token is there already, that has
 * not been followed before.
 */
HWTDI_PT_INLINE bool
walk_link(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    int *rc, struct hwtd_error *err)
{
	end(w, d, flow);
	*rc = hwtdi_ptn_link(d, (unsigned int)(w->bits >> 63), err);
	if (*rc != HWTD_OK) {
		flow->n_tokens--;
		return (false);
	}
	begin(w, d, flow);
	return (true);
}

/* Use up outcomes.  False: one does not fit to the node at hand. */
HWTDI_PT_INLINE bool
walk_bits(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint8_t *bytes_end, int *rc, struct hwtd_error *err)
{
	uint32_t *const calls = d->calls;

	do {
		const struct hwtdi_node *n = &w->nodes[w->node];
		uint32_t next;

		if (n->kind <= HWTDI_NODE_COND_PUSH) {
			if (n->kind == HWTDI_NODE_NONE) {
				if (!find_here(w, d, flow))
					return (false);
				continue;
			}
			w->top = push(calls, w->top, n, n->pushes);
			/* The node that is not known ends this as well. */
			do {
				next = w->node;
				w->tokens[w->n++] = next;
				w->node = atomic_load_explicit(
				    &n->next[w->bits >> 63],
				    memory_order_acquire);
				w->bits = w->bits << 1 | w->bits >> 63;
				n = &w->nodes[w->node];
			} while (--w->n_bits != 0 &&
			    n->kind == HWTDI_NODE_COND);
			if (w->node != 0)
				continue;
			w->node = next;
			w->bits = w->bits >> 1 | w->bits << 63;
			w->n_bits++;
			if (!walk_link(w, d, flow, rc, err))
				return (false);
			next = w->node;
		} else if (n->kind == HWTDI_NODE_RETURN &&
		    w->bits >> 63 != 0 && (next = returned(w, d, n)) != 0) {
			w->tokens[w->n++] = w->node;
			if (n->pushes != 0)
				w->top = push(calls, w->top, n,
				    n->pushes - 1u);
			else {
				calls[w->top] = 0;
				w->top = (w->top + HWTDI_PTN_CALLS - 1) %
				    HWTDI_PTN_CALLS;
			}
		} else if (walk_on(w, d) || walk_ahead(w, d, bytes_end))
			continue;
		else
			return (false);
		w->node = next;
		w->bits <<= 1;
		w->n_bits--;
	} while (w->n_bits != 0);
	return (true);
}

/* Packets. */

HWTDI_PT_INLINE void
put_anchor(struct hwtdi_flow *flow, size_t at, uint32_t flags,
    uint64_t stream_off)
{
	struct hwtdi_anchor *a = &flow->anchors[flow->n_anchors++];

	a->at = (uint32_t)at;
	a->flags = flags;
	a->stream_off = stream_off;
}

HWTDI_PT_INLINE bool
has_room(const struct walk *w, const struct hwtdi_flow *flow)
{
	return (w->n + HWTDI_PTN_ROOM_TOKENS <= HWTDI_FLOW_TOKENS &&
	    flow->n_anchors + HWTDI_PTN_ROOM_ANCHORS <= HWTDI_FLOW_ANCHORS);
}

int
hwtdi_ptn_walk(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const bool plain = hwtdi_ptn_is_plain(d);
	const uint32_t flags = d->timed ? HWTDI_ANCHOR_ASK : 0;
	size_t limit = d->segment.n;
	const uint8_t *start, *stop, *bytes_end;
	uint64_t base;
	struct hwtdi_pt_packet packet;
	struct walk w;
	int rc = HWTD_OK, why = HWTDI_PTN_STOP_END;

	if (d->n_bits != 0 && d->stale)
		return (HWTDI_PTN_STOP_NODE);
	if (d->lex.classes != hwtdi_pt_classes && d->at < limit)
		return (HWTDI_PTN_STOP_PACKET);
	if (d->n_bits == 0 && d->ahead != 0) {
		d->at = d->ahead;
		d->ahead = 0;
	}
	start = w.p = hwtdi_ptn_bytes(d, d->at);
	bytes_end = w.p + (limit - d->at);
	if (d->at < d->edge_at && limit > d->edge_at)
		limit = d->edge_at;
	if (limit > d->recheck_at)
		limit = d->recheck_at;
	stop = limit > d->at ? w.p + (limit - d->at) : w.p;
	base = d->segment.stream_off + d->at - (uint64_t)(uintptr_t)start;
	if (plain && d->node == 0)
		d->node = target(d, d->ip);
	begin(&w, d, flow);
	for (;;) {
		unsigned int n;
		uint8_t class;
		uint64_t v;
		size_t first;

		if (w.n_bits != 0) {
			if (!walk_bits(&w, d, flow, bytes_end, &rc, err)) {
				why = HWTDI_PTN_STOP_NODE;
				break;
			}
			/* A TIP was taken ahead of its turn. */
			if (d->ahead != 0) {
				if (w.p >= stop)
					break;
				w.p = bytes_end - (d->segment.n - d->ahead);
				d->ahead = 0;
			}
		}
		if (w.p >= stop)
			break;
		class = hwtdi_pt_classes[w.p[0]];
		/* A branch is foreseen better than a jump through a table. */
		if (class == HWTDI_PT_TNT) {
			if (!plain)
				goto other;
			if (!has_room(&w, flow))
				goto full;
			n = hwtdi_pt_stop_bit(w.p[0]);
			w.bits = (uint64_t)w.p[0] << (64 - n);
			w.n_bits = n - 1;
			d->tnt_bytes = 1;
			w.p++;
			put_anchor(flow, w.n, flags,
			    base + (uint64_t)(uintptr_t)w.p);
			continue;
		}
		switch (class) {
		case HWTDI_PT_CYC:
			v = hwtdi_pt_load(w.p, 2);
			if (((v | d->lex.skd007) & HWTDI_PT_CYC_LONG) ==
			    HWTDI_PT_CYC_LONG)
				goto other;
			n = 1 + (w.p[0] >> 2 & 1);
			if (n > (size_t)(bytes_end - w.p))
				goto other;
			w.p += n;
			continue;
		case HWTDI_PT_PAD:
			w.p += hwtdi_pt_pad_run(w.p, stop);
			continue;
		case HWTDI_PT_IP:
			if ((w.p[0] & 0x1f) != 0x0d || !plain)
				goto other;
			if (!has_room(&w, flow))
				goto full;
			/* What is passed without trace belongs to the packet. */
			first = w.n;
			if (w.nodes[w.node].kind > HWTDI_NODE_FAR &&
			    !walk_on(&w, d))
				goto other;
			if (w.nodes[w.node].kind < HWTDI_NODE_RETURN)
				goto other;
			hwtdi_pt_lex_ip(&d->lex, w.p, &packet);
			if ((packet.flags & HWTD_PKF_IP) == 0 ||
			    packet.bytes > (size_t)(bytes_end - w.p))
				goto other;
			w.p += packet.bytes;
			put_anchor(flow, first, flags,
			    base + (uint64_t)(uintptr_t)w.p);
			walk_to(&w, d, packet.ip);
			continue;
		case HWTDI_PT_MTC:
			if (bytes_end - w.p < 2)
				goto other;
			w.p += 2;
			continue;
		case HWTDI_PT_EXT:
			v = hwtdi_pt_load(w.p + 2, 6);
			if (w.p[1] != 0xa3 || v <= 1 || !plain ||
			    bytes_end - w.p < 8)
				goto other;
			if (!has_room(&w, flow))
				goto full;
			n = hwtdi_pt_stop_bit(v);
			w.bits = v << (64 - n);
			w.n_bits = n;
			d->tnt_bytes = 8;
			w.p += 8;
			put_anchor(flow, w.n, flags,
			    base + (uint64_t)(uintptr_t)w.p);
			continue;
		default:
			goto other;
		}
	}
	goto done;
full:
	why = HWTDI_PTN_STOP_FULL;
	goto done;
other:
	why = HWTDI_PTN_STOP_PACKET;
done:
	if (rc == HWTD_OK)
		end(&w, d, flow);
	d->at += (size_t)(w.p - start);
	if (flow->n_anchors != 0) {
		d->anchor_off = flow->anchors[flow->n_anchors - 1].stream_off -
		    d->segment.stream_off;
		d->anchored = true;
	}
	return (rc != HWTD_OK ? rc : why);
}
