/*
 * The native Intel PT engine: packets and code graph in one loop.
 */
#include "decode/pt/pt_native.h"

/* What the loop keeps at hand; the rest of the decoder is for other packets. */
struct walk {
	const struct hwtdi_node *nodes;
	const struct hwtdi_graph_view *view;
	uint32_t *tokens;
	size_t n;
	uint32_t node;
	uint32_t top;
	uint64_t bits;
	uint32_t n_bits;
};

static void
begin(struct walk *w, const struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	w->nodes = d->view.nodes;
	w->view = &d->view;
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

HWTDI_PT_INLINE void
push(struct walk *w, uint32_t *calls, const struct hwtdi_node *n,
    uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		w->top = (w->top + 1) % HWTDI_PTN_CALLS;
		calls[w->top] = n->push + i;
	}
}

/*
 * A compressed return: the node that the newest call returns to, or 0 if that
 * has to be found out.
 */
HWTDI_PT_INLINE uint32_t
returned(const struct walk *w, const uint32_t *calls,
    const struct hwtdi_node *n)
{
	const uint32_t call = n->pushes != 0 ? n->push + n->pushes - 1u
					     : calls[w->top];

	/* No call, or one that is remembered by its address. */
	if (call + 1 <= 1)
		return (0);
	return (hwtdi_graph_returned(w->view, call));
}

/* Use up outcomes.  False: one does not fit to the node at hand. */
HWTDI_PT_INLINE bool
walk_bits(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    int *rc, struct hwtd_error *err)
{
	uint32_t *const calls = d->calls;

	while (w->n_bits != 0) {
		const struct hwtdi_node *n = &w->nodes[w->node];
		const unsigned int taken = (unsigned int)(w->bits >> 63);
		uint32_t next;

		if (n->kind == HWTDI_NODE_RETURN) {
			next = returned(w, calls, n);
			if (taken == 0 || next == 0)
				return (false);
			w->tokens[w->n++] = w->node;
			if (n->pushes != 0)
				push(w, calls, n, n->pushes - 1u);
			else {
				calls[w->top] = 0;
				w->top = (w->top + HWTDI_PTN_CALLS - 1) %
				    HWTDI_PTN_CALLS;
			}
		} else {
			if (n->kind == HWTDI_NODE_COND_PUSH)
				push(w, calls, n, n->pushes);
			else if (n->kind != HWTDI_NODE_COND)
				return (false);
			w->tokens[w->n++] = w->node;
			next = atomic_load_explicit(&n->next[taken],
			    memory_order_acquire);
			if (next == 0) {
				end(w, d, flow);
				*rc = hwtdi_ptn_link(d, taken, err);
				if (*rc != HWTD_OK) {
					flow->n_tokens--;
					return (false);
				}
				begin(w, d, flow);
				next = d->node;
			}
		}
		w->node = next;
		w->bits <<= 1;
		w->n_bits--;
	}
	return (true);
}

/* The branch at the end of the node at hand goes where a TIP packet says. */
HWTDI_PT_INLINE bool
walk_tip(struct walk *w, struct hwtdi_decoder *d, uint64_t ip)
{
	const struct hwtdi_node *n = &w->nodes[w->node];
	const struct hwtdi_ptn_target *t;

	if (n->kind < HWTDI_NODE_RETURN || n->kind > HWTDI_NODE_FAR)
		return (false);
	w->tokens[w->n++] = w->node;
	if (n->pushes != 0)
		push(w, d->calls, n, n->pushes);
	if (n->kind == HWTDI_NODE_RETURN && d->calls[w->top] != 0) {
		d->calls[w->top] = 0;
		w->top = (w->top + HWTDI_PTN_CALLS - 1) % HWTDI_PTN_CALLS;
	}
	t = &d->targets[hwtdi_ptn_target_slot(ip)];
	d->ip = ip;
	w->node = t->ip == ip && t->epoch == d->epoch ? t->node : 0;
	return (true);
}

HWTDI_PT_INLINE void
put_anchor(struct hwtdi_flow *flow, const struct walk *w, uint32_t flags,
    uint64_t stream_off)
{
	struct hwtdi_anchor *a = &flow->anchors[flow->n_anchors++];

	a->at = (uint32_t)w->n;
	a->flags = flags;
	a->stream_off = stream_off;
}

int
hwtdi_ptn_walk(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const bool plain = hwtdi_ptn_is_plain(d);
	const uint32_t flags = d->timed ? HWTDI_ANCHOR_ASK : 0;
	size_t limit = d->segment.n;
	const uint8_t *start, *p, *stop, *bytes_end;
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
	start = p = hwtdi_ptn_bytes(d, d->at);
	bytes_end = p + (limit - d->at);
	if (d->at < d->edge_at && limit > d->edge_at)
		limit = d->edge_at;
	if (limit > d->recheck_at)
		limit = d->recheck_at;
	stop = limit > d->at ? p + (limit - d->at) : p;
	base = d->segment.stream_off + d->at - (uint64_t)(uintptr_t)start;
	begin(&w, d, flow);
	for (;;) {
		unsigned int n;
		uint64_t v;

		if (w.n_bits != 0) {
			if (!walk_bits(&w, d, flow, &rc, err)) {
				why = HWTDI_PTN_STOP_NODE;
				break;
			}
			/* A TIP was taken ahead of its turn. */
			if (d->ahead != 0)
				break;
		}
		if (p >= stop)
			break;
		switch (hwtdi_pt_classes[p[0]]) {
		case HWTDI_PT_TNT:
			if (!plain)
				goto other;
			if (w.n + HWTDI_PTN_ROOM_TOKENS > HWTDI_FLOW_TOKENS ||
			    flow->n_anchors + HWTDI_PTN_ROOM_ANCHORS >
				HWTDI_FLOW_ANCHORS)
				goto full;
			n = hwtdi_pt_stop_bit(p[0]);
			w.bits = (uint64_t)p[0] << (64 - n);
			w.n_bits = n - 1;
			d->tnt_bytes = 1;
			p++;
			put_anchor(flow, &w, flags,
			    base + (uint64_t)(uintptr_t)p);
			continue;
		case HWTDI_PT_CYC:
			v = hwtdi_pt_load(p, 2);
			if (((v | d->lex.skd007) & HWTDI_PT_CYC_LONG) ==
			    HWTDI_PT_CYC_LONG)
				goto other;
			n = 1 + (p[0] >> 2 & 1);
			if (n > (size_t)(bytes_end - p))
				goto other;
			p += n;
			continue;
		case HWTDI_PT_PAD:
			p += hwtdi_pt_pad_run(p, stop);
			continue;
		case HWTDI_PT_IP:
			if ((p[0] & 0x1f) != 0x0d || !plain)
				goto other;
			if (w.n + HWTDI_PTN_ROOM_TOKENS > HWTDI_FLOW_TOKENS ||
			    flow->n_anchors + HWTDI_PTN_ROOM_ANCHORS >
				HWTDI_FLOW_ANCHORS)
				goto full;
			if (w.nodes[w.node].kind < HWTDI_NODE_RETURN ||
			    w.nodes[w.node].kind > HWTDI_NODE_FAR)
				goto other;
			hwtdi_pt_lex_ip(&d->lex, p, &packet);
			if ((packet.flags & HWTD_PKF_IP) == 0 ||
			    packet.bytes > (size_t)(bytes_end - p))
				goto other;
			p += packet.bytes;
			put_anchor(flow, &w, flags,
			    base + (uint64_t)(uintptr_t)p);
			(void)walk_tip(&w, d, packet.ip);
			continue;
		case HWTDI_PT_MTC:
			if (bytes_end - p < 2)
				goto other;
			p += 2;
			continue;
		case HWTDI_PT_EXT:
			v = hwtdi_pt_load(p + 2, 6);
			if (p[1] != 0xa3 || v <= 1 || !plain ||
			    bytes_end - p < 8)
				goto other;
			if (w.n + HWTDI_PTN_ROOM_TOKENS > HWTDI_FLOW_TOKENS ||
			    flow->n_anchors + HWTDI_PTN_ROOM_ANCHORS >
				HWTDI_FLOW_ANCHORS)
				goto full;
			n = hwtdi_pt_stop_bit(v);
			w.bits = v << (64 - n);
			w.n_bits = n;
			d->tnt_bytes = 8;
			p += 8;
			put_anchor(flow, &w, flags,
			    base + (uint64_t)(uintptr_t)p);
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
	d->at += (size_t)(p - start);
	if (flow->n_anchors != 0) {
		d->anchor_off = flow->anchors[flow->n_anchors - 1].stream_off -
		    d->segment.stream_off;
		d->anchored = true;
	}
	return (rc != HWTD_OK ? rc : why);
}
