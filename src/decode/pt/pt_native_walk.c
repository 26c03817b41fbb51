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
	/* The next packet, which may begin a run. */
	const uint8_t *p;
	bool may_be_run;
	/* With runs: behind the last packet that told something; NULL: none. */
	const uint8_t *behind;
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
		if ((d->last_token & HWTDI_TOKEN_RUN) != 0)
			d->last_token = hwtdi_ptn_runs_last(d->runs,
			    d->last_token & ~HWTDI_TOKEN_RUN);
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

/* Nodes. */

/* Pass a node that goes on without trace. */
HWTDI_PT_INLINE void
walk_past(struct walk *w, struct hwtdi_decoder *d, uint32_t node)
{
	const struct hwtdi_node *n = &w->nodes[node];

	if (n->insns != 0)
		w->tokens[w->n++] = node;
	w->top = push(d->calls, w->top, n, n->pushes);
}

/*
 * Go on without trace to a node whose end needs it, if that is near and all is
 * known; false: it is for someone else.
 */
HWTDI_PT_INLINE bool
walk_on(struct walk *w, struct hwtdi_decoder *d)
{
	struct hwtdi_ptn_way way;
	uint32_t next;

	if (w->nodes[w->node].kind < HWTDI_NODE_ON ||
	    w->n + w->n_bits + HWTDI_PTN_WAY + 1 > HWTDI_FLOW_TOKENS)
		return (false);
	/* Mostly it is the next one. */
	next = hwtdi_ptn_next(d, w->node);
	if (next != 0 && hwtdi_ptn_needs_trace(&w->nodes[next])) {
		walk_past(w, d, w->node);
		w->node = next;
		return (true);
	}
	if (next == 0 || !hwtdi_ptn_find_way(d, w->node, &way))
		return (false);
	for (uint32_t i = 0; i < way.n_passed; i++)
		walk_past(w, d, way.passed[i]);
	w->node = way.node;
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
	w->node = hwtdi_ptn_target(d, ip);
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

/* The bytes that the loop goes over: of the segment, or of its edge. */
struct reach {
	/* That at `at` of the segment. */
	const uint8_t *first;
	size_t at;
	/* No packet is begun here. */
	const uint8_t *stop;
	const uint8_t *end;
	/* With the address of a byte it is the offset in the stream. */
	uint64_t base;
	/* Of anchors. */
	uint32_t flags;
	/* Tokens may be runs, and there are no anchors. */
	bool runs;
};

HWTDI_PT_INLINE void
reach_from(struct reach *r, const struct hwtdi_decoder *d, bool runs)
{
	size_t limit = d->segment.n;

	r->first = hwtdi_ptn_bytes(d, d->at);
	r->at = d->at;
	r->end = r->first + (limit - d->at);
	if (d->at < d->edge_at && limit > d->edge_at)
		limit = d->edge_at;
	if (limit > d->recheck_at)
		limit = d->recheck_at;
	r->stop = limit > d->at ? r->first + (limit - d->at) : r->first;
	r->base = d->segment.stream_off + d->at -
	    (uint64_t)(uintptr_t)r->first;
	r->flags = d->timed ? HWTDI_ANCHOR_ASK : 0;
	r->runs = runs;
}

/* Tokens from `at` on are of the packet that ends here. */
HWTDI_PT_INLINE void
put_anchor(struct walk *w, const struct reach *r, struct hwtdi_flow *flow,
    size_t at)
{
	struct hwtdi_anchor *a;

	if (r->runs) {
		w->behind = w->p;
		return;
	}
	a = &flow->anchors[flow->n_anchors++];
	a->at = (uint32_t)at;
	a->flags = r->flags;
	a->stream_off = r->base + (uint64_t)(uintptr_t)w->p;
}

/* The last one says behind which packet tokens are. */
HWTDI_PT_INLINE void
keep_anchor(const struct walk *w, const struct reach *r,
    struct hwtdi_decoder *d, const struct hwtdi_flow *flow)
{
	uint64_t off;

	if (r->runs ? w->behind == NULL : flow->n_anchors == 0)
		return;
	off = r->runs ? r->base + (uint64_t)(uintptr_t)w->behind
		      : flow->anchors[flow->n_anchors - 1].stream_off;
	d->anchor_off = off - d->segment.stream_off;
	d->anchored = true;
}

HWTDI_PT_INLINE bool
has_room(const struct walk *w, const struct reach *r,
    const struct hwtdi_flow *flow)
{
	return (w->n + HWTDI_PTN_ROOM_TOKENS <= HWTDI_FLOW_TOKENS &&
	    (r->runs ||
		flow->n_anchors + HWTDI_PTN_ROOM_ANCHORS <=
		    HWTDI_FLOW_ANCHORS));
}

/* What became of a packet. */
enum taken {
	TAKEN,
	/* It is for someone else: nothing of it was used. */
	OTHER,
	FULL
};

/* `n` outcomes, the first in the top bit, of a packet of some bytes. */
HWTDI_PT_INLINE enum taken
take_outcomes(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r, uint64_t bits, unsigned int n, uint32_t bytes)
{
	w->bits = bits;
	w->n_bits = n;
	d->tnt_bytes = bytes;
	w->p += bytes;
	put_anchor(w, r, flow, w->n);
	return (TAKEN);
}

/* Take packets that are a run.  False: they are not. */
HWTDI_PT_INLINE bool
take_run(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r)
{
	const struct hwtdi_ptn_run *run;
	/* The walk itself stays in registers. */
	uint32_t top = w->top;

	if (w->node == 0 || r->stop - w->p < HWTDI_PTN_RUN_LEAST)
		return (false);
	run = hwtdi_ptn_runs_take(d, w->node, &top, w->p, r->stop);
	if (run == NULL) {
		/* Not before the next TIP. */
		w->may_be_run = false;
		return (false);
	}
	w->top = top;
	w->p += run->n_bytes;
	put_anchor(w, r, flow, w->n);
	w->tokens[w->n++] = run->token;
	w->node = run->end;
	d->tnt_bytes = run->n_last;
	return (true);
}

/* Take TNT packets that were walked before.  False: there are none. */
HWTDI_PT_INLINE bool
take_known(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r)
{
	struct hwtdi_ptn_known k;

	if (w->node == 0 && !find_here(w, d, flow))
		return (false);
	k = (struct hwtdi_ptn_known){ .p = w->p,
		.stop = r->stop,
		.base = r->base,
		.n = w->n,
		.node = w->node,
		.top = w->top };
	if (r->runs)
		hwtdi_ptn_memo_runs(d, flow, &k);
	else
		hwtdi_ptn_memo_packets(d, flow, &k);
	if (w->p == k.p)
		return (false);
	if (r->runs && k.behind != NULL)
		w->behind = k.behind;
	d->tnt_bytes = 1;
	w->p = k.p;
	w->n = k.n;
	w->node = k.node;
	w->top = k.top;
	w->bits = k.bits;
	w->n_bits = k.n_bits;
	return (true);
}

HWTDI_PT_INLINE enum taken
take_tnt(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r)
{
	const unsigned int n = hwtdi_pt_stop_bit(w->p[0]);

	if (!has_room(w, r, flow))
		return (FULL);
	if (r->runs && w->may_be_run && take_run(w, d, flow, r))
		return (TAKEN);
	if (d->memo.on && w->p[0] >= HWTDI_PTN_MEMO_WORTH &&
	    take_known(w, d, flow, r))
		return (TAKEN);
	/* The lowest bit is none of them. */
	return (take_outcomes(w, d, flow, r, (uint64_t)w->p[0] << (64 - n),
	    n - 1, 1));
}

HWTDI_PT_INLINE enum taken
take_long_tnt(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r)
{
	const uint64_t v = hwtdi_pt_load(w->p + 2, 6);
	unsigned int n;

	if (w->p[1] != 0xa3 || v <= 1 || r->end - w->p < 8)
		return (OTHER);
	if (!has_room(w, r, flow))
		return (FULL);
	if (r->runs && w->may_be_run && take_run(w, d, flow, r))
		return (TAKEN);
	n = hwtdi_pt_stop_bit(v);
	return (take_outcomes(w, d, flow, r, v << (64 - n), n, 8));
}

HWTDI_PT_INLINE enum taken
take_tip(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r)
{
	/* What is passed without trace belongs to the packet. */
	const size_t first = w->n;
	struct hwtdi_pt_packet packet;

	if (!has_room(w, r, flow))
		return (FULL);
	/* Also one that begins where tracing goes off. */
	if (r->runs && w->may_be_run && take_run(w, d, flow, r))
		return (TAKEN);
	if ((w->p[0] & 0x1f) != 0x0d)
		return (OTHER);
	if (w->nodes[w->node].kind > HWTDI_NODE_FAR && !walk_on(w, d))
		return (OTHER);
	if (w->nodes[w->node].kind < HWTDI_NODE_RETURN)
		return (OTHER);
	hwtdi_pt_lex_ip(&d->lex, w->p, &packet);
	if ((packet.flags & HWTD_PKF_IP) == 0 ||
	    packet.bytes > (size_t)(r->end - w->p))
		return (OTHER);
	w->p += packet.bytes;
	put_anchor(w, r, flow, first);
	walk_to(w, d, packet.ip);
	w->may_be_run = r->runs && hwtdi_ptn_runs_begin_with(d->runs, w->node);
	return (TAKEN);
}

HWTDI_PT_INLINE enum taken
take_cyc(struct walk *w, const struct hwtdi_decoder *d, const struct reach *r)
{
	const uint64_t v = hwtdi_pt_load(w->p, 2);
	const unsigned int n = 1 + (w->p[0] >> 2 & 1);

	if (((v | d->lex.skd007) & HWTDI_PT_CYC_LONG) == HWTDI_PT_CYC_LONG ||
	    n > (size_t)(r->end - w->p))
		return (OTHER);
	w->p += n;
	return (TAKEN);
}

/* The packet at hand; `plain`: hwtdi_ptn_is_plain(). */
HWTDI_PT_INLINE enum taken
take(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r, bool plain)
{
	const uint8_t class = hwtdi_pt_classes[w->p[0]];

	/* A branch is foreseen better than a jump through a table. */
	if (class == HWTDI_PT_TNT)
		return (plain ? take_tnt(w, d, flow, r) : OTHER);
	switch (class) {
	case HWTDI_PT_CYC:
		return (take_cyc(w, d, r));
	case HWTDI_PT_PAD:
		w->p += hwtdi_pt_pad_run(w->p, r->stop);
		return (TAKEN);
	case HWTDI_PT_IP:
		return (plain ? take_tip(w, d, flow, r) : OTHER);
	case HWTDI_PT_MTC:
		if (r->end - w->p < 2)
			return (OTHER);
		w->p += 2;
		return (TAKEN);
	case HWTDI_PT_EXT:
		return (plain ? take_long_tnt(w, d, flow, r) : OTHER);
	default:
		return (OTHER);
	}
}

/* A TIP behind the outcomes may have been taken ahead of its turn. */
HWTDI_PT_INLINE void
step_over(struct walk *w, struct hwtdi_decoder *d, const struct reach *r)
{
	if (d->ahead == 0 || w->p >= r->stop)
		return;
	w->p = r->end - (d->segment.n - d->ahead);
	d->ahead = 0;
}

/* Tell the decoder how far the loop is. */
HWTDI_PT_INLINE void
note_place(const struct walk *w, struct hwtdi_decoder *d,
    const struct hwtdi_flow *flow, const struct reach *r)
{
	d->at = r->at + (size_t)(w->p - r->first);
	keep_anchor(w, r, d, flow);
}

/* Go on in the loop where the decoder stands. */
HWTDI_PT_INLINE void
come_back(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r, bool plain)
{
	if (plain && d->node == 0)
		d->node = hwtdi_ptn_target(d, d->ip);
	begin(w, d, flow);
	w->behind = NULL;
	w->may_be_run = r->runs && d->lex.ip_known == UINT64_MAX &&
	    !d->wrote_cr3 && !d->has_detail &&
	    hwtdi_ptn_runs_begin_with(d->runs, d->node);
	w->p = r->first + (d->at - r->at);
}

/*
 * A packet that needs more than the loop.  TAKEN: go on in the loop; else
 * *stop_out is an hwtdi_ptn_stop or an error.
 */
HWTDI_PT_INLINE enum taken
pass_on(struct walk *w, struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct reach *r, bool *plain, int *stop_out, struct hwtd_error *err)
{
	int rc;

	end(w, d, flow);
	note_place(w, d, flow, r);
	if (!hwtdi_ptn_has_room(flow))
		return (FULL);
	rc = HWTD_OK;
	if (hwtdi_pt_classes[w->p[0]] != HWTDI_PT_IP ||
	    !hwtdi_ptn_quick(d, flow, w->p))
		rc = hwtdi_ptn_packet(d, flow, err);
	*stop_out = rc < 0 ? rc : HWTDI_PTN_STOP_MORE;
	if (rc == HWTD_AGAIN)
		return (FULL);
	if (rc != HWTD_OK || d->n_bits != 0 ||
	    d->at >= r->at + (size_t)(r->stop - r->first) ||
	    d->lex.classes != hwtdi_pt_classes)
		return (OTHER);
	*plain = hwtdi_ptn_is_plain(d);
	come_back(w, d, flow, r, *plain);
	return (TAKEN);
}

HWTDI_PT_INLINE int
walk(struct hwtdi_decoder *d, struct hwtdi_flow *flow, bool runs,
    struct hwtd_error *err)
{
	bool plain = hwtdi_ptn_is_plain(d);
	int rc = HWTD_OK, stop = HWTDI_PTN_STOP_MORE;
	enum taken taken = TAKEN;
	struct reach r;
	struct walk w;

	if (d->n_bits != 0 && d->stale)
		return (HWTDI_PTN_STOP_NODE);
	if (d->lex.classes != hwtdi_pt_classes && d->at < d->segment.n)
		return (HWTDI_PTN_STOP_PACKET);
	if (d->n_bits == 0 && d->ahead != 0) {
		d->at = d->ahead;
		d->ahead = 0;
	}
	reach_from(&r, d, runs);
	come_back(&w, d, flow, &r, plain);
	while (taken == TAKEN) {
		if (w.n_bits != 0) {
			if (!walk_bits(&w, d, flow, r.end, &rc, err)) {
				stop = HWTDI_PTN_STOP_NODE;
				break;
			}
			step_over(&w, d, &r);
		}
		if (w.p >= r.stop) {
			stop = HWTDI_PTN_STOP_END;
			break;
		}
		taken = take(&w, d, flow, &r, plain);
		if (taken != OTHER)
			continue;
		taken = pass_on(&w, d, flow, &r, &plain, &stop, err);
		if (taken != TAKEN)
			return (taken == FULL ? HWTDI_PTN_STOP_FULL : stop);
	}
	note_place(&w, d, flow, &r);
	if (rc != HWTD_OK)
		return (rc);
	end(&w, d, flow);
	return (taken == FULL ? HWTDI_PTN_STOP_FULL : stop);
}

/* A loop for each: what the one does not need would cost it with every packet. */
static int
walk_runs(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	return (walk(d, flow, true, err));
}

int
hwtdi_ptn_walk(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	return (d->runs != NULL ? walk_runs(d, flow, err)
				: walk(d, flow, false, err));
}
