/*
 * The native Intel PT engine: packets that need more than the loop, and nodes
 * that do not end as the next outcome would have it.
 */
#include <string.h>

#include "decode/pt/pt_lexer.h"
#include "decode/pt/pt_native.h"

/* TIP ahead of its turn. */

/*
 * Take the TIP that follows the TNT packet at hand, whose outcomes are not used
 * up.  False: there is none.
 */
static bool
take_ahead(struct hwtdi_decoder *d, uint64_t *ip_out)
{
	struct hwtdi_pt_lex_state lex = d->lex;
	size_t at = d->ahead != 0 ? d->ahead : d->at;
	struct hwtdi_pt_packet p;

	for (; at < d->segment.n; at += p.bytes) {
		if (!hwtdi_ptn_lex(d, &lex, at, 1, &p) ||
		    p.bytes > d->segment.n - at)
			return (false);
		switch (p.kind) {
		case HWTD_PK_PT_TIP:
			if ((p.flags & HWTD_PKF_IP) == 0)
				return (false);
			d->lex = lex;
			d->ahead = at + p.bytes;
			*ip_out = p.ip;
			return (true);
		case HWTD_PK_PT_PAD:
		case HWTD_PK_PT_CYC:
		case HWTD_PK_PT_MTC:
		case HWTD_PK_PT_TSC:
		case HWTD_PK_PT_TMA:
		case HWTD_PK_PT_CBR:
		case HWTD_PK_UNKNOWN:
			break;
		default:
			return (false);
		}
	}
	return (false);
}

/* The newest call is one whose node is not known yet. */
static int
resolve_return(struct hwtdi_decoder *d, const struct hwtdi_node *n,
    struct hwtd_error *err)
{
	const uint32_t call = n->pushes != 0 ? n->push + n->pushes - 1u
					     : d->calls[d->top];
	uint32_t node;
	int rc;

	if (call == 0 || call == UINT32_MAX ||
	    hwtdi_graph_returned(&d->view, call) != 0)
		return (HWTD_OK);
	rc = hwtdi_graph_return(d->graph, call, &node, err);
	hwtdi_graph_see(d->graph, &d->view);
	return (rc);
}

static int
ahead_or_lose(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const char *text, struct hwtd_error *err)
{
	uint64_t ip;

	if (!take_ahead(d, &ip))
		return (hwtdi_ptn_contradict(d, flow, text, err));
	hwtdi_ptn_emit(d, flow);
	hwtdi_ptn_go(d, ip);
	d->loop_at = SIZE_MAX;
	return (HWTD_OK);
}

int
hwtdi_ptn_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_node *n;
	int rc;

	rc = hwtdi_ptn_pass(d, flow, err);
	if (rc != HWTD_OK)
		return (rc);
	n = &d->view.nodes[d->node];
	switch (n->kind) {
	case HWTDI_NODE_COND:
	case HWTDI_NODE_COND_PUSH:
		if (!d->stale)
			return (HWTD_OK);
		hwtdi_ptn_emit(d, flow);
		rc = hwtdi_ptn_link(d, (unsigned int)(d->bits >> 63), err);
		break;
	case HWTDI_NODE_RETURN:
		if (d->bits >> 63 == 0)
			return (ahead_or_lose(d, flow,
			    "a return that is not taken", err));
		if (n->pushes == 0 && d->calls[d->top] == 0)
			return (ahead_or_lose(d, flow,
			    "a compressed return without a call", err));
		rc = resolve_return(d, n, err);
		if (rc != HWTD_OK)
			return (rc);
		n = &d->view.nodes[d->node];
		if (!d->stale &&
		    (n->pushes != 0 || d->calls[d->top] != UINT32_MAX))
			return (HWTD_OK);
		hwtdi_ptn_emit(d, flow);
		break;
	default:
		return (ahead_or_lose(d, flow,
		    "an outcome where an address must come", err));
	}
	d->bits <<= 1;
	d->n_bits--;
	return (rc);
}

/* Outcomes that the loop did not take. */
static int
tnt(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	if (p->count == 0)
		return (HWTD_OK);
	if (!d->on)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_FLOW,
		    "TNT while tracing is off"));
	if (!d->stale || d->n_pending != 0 || d->async || d->half)
		return (hwtdi_ptn_contradict(d, flow,
		    "outcomes where an address must come", err));
	d->n_bits = p->count;
	d->bits = p->value << (64 - p->count);
	d->tnt_bytes = p->bytes;
	return (HWTD_OK);
}

static int
by_kind(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	switch (p->kind) {
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
		return (tnt(d, flow, p, err));
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TIP_PGE:
	case HWTD_PK_PT_TIP_PGD:
	case HWTD_PK_PT_FUP:
		return (hwtdi_ptn_address(d, flow, p, err));
	default:
		return (hwtdi_ptn_event(d, flow, p, err));
	}
}

/* What was begun on suspicion does not stand in the way of outcomes. */
static bool
drop_suspicions(struct hwtdi_decoder *d, const struct hwtdi_pt_packet *p)
{
	const bool was = d->async || d->n_pending != 0;
	const bool tip = p->kind == HWTD_PK_PT_TIP;
	uint32_t kept = 0;
	bool same = false;

	if (p->kind != HWTD_PK_PT_TNT_8 && p->kind != HWTD_PK_PT_TNT_64 &&
	    p->kind != HWTD_PK_PT_TIP)
		return (false);
	if (d->weak && !tip)
		d->async = false;
	/* A mode that did not change, and MWAIT without EXSTOP. */
	for (uint32_t i = 0; i < d->n_pending; i++) {
		const struct hwtdi_ptn_pending *e = &d->pending[i];

		if (e->what == HWTDI_PTN_ISA)
			same = !tip && e->value == d->isa;
		if ((e->wait & HWTDI_PTN_EXSTOP) == 0 &&
		    !(same &&
			(e->what == HWTDI_PTN_ISA ||
			    e->what == HWTDI_PTN_IFLAG)))
			d->pending[kept++] = *e;
	}
	d->n_pending = kept;
	return (was && hwtdi_ptn_is_plain(d));
}

/* It says where execution is. */
static bool
is_branch(unsigned int kind)
{
	return (kind == HWTD_PK_PT_TNT_8 || kind == HWTD_PK_PT_TNT_64 ||
	    kind == HWTD_PK_PT_TIP || kind == HWTD_PK_PT_TIP_PGE ||
	    kind == HWTD_PK_PT_TIP_PGD);
}

static int
psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow, struct hwtd_error *err)
{
	if (d->n_pending != 0 || d->async || d->half)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "PSB between packets that belong together"));
	return (hwtdi_ptn_psb(d, flow, err));
}

/* No packet was found at `at`. */
static int
no_packet(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint8_t *bytes, struct hwtd_error *err)
{
	/* What goes before the next branch does not depend on it. */
	const int rc = hwtdi_ptn_is_plain(d) ? hwtdi_ptn_run_out(d, flow, err)
					     : HWTD_OK;

	if (rc != HWTD_OK)
		return (rc);
	if (d->segment.tail == 0 &&
	    hwtdi_pt_is_cut(bytes, d->segment.n - d->at))
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_TRUNCATED,
		    "the last packet is cut off"));
	return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
	    "no packet begins with these bytes"));
}

/* Take the packet at `at`; *taken_out: it is behind us. */
static int
take(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, bool *taken_out, struct hwtd_error *err)
{
	const bool branch = is_branch(p->kind);
	int rc;

	*taken_out = false;
	if (p->bytes > d->segment.n - d->at)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_TRUNCATED,
		    "the last packet is cut off"));
	if (p->kind == HWTD_PK_PT_OVF)
		return (hwtdi_ptn_overflow(d, flow, err));
	if (drop_suspicions(d, p))
		return (HWTD_OK);
	if (!branch)
		hwtdi_ptn_count_on(d);
	hwtdi_ptn_anchor(d, flow, d->at + p->bytes);
	rc = by_kind(d, flow, p, err);
	if (rc == HWTD_E_LIMIT)
		rc = hwtdi_ptn_lose(d, flow, HWTD_GAP_LIMIT,
		    "too much waits for one address");
	if (rc != HWTD_OK)
		return (rc);
	*taken_out = true;
	d->weak = d->weak && p->kind == HWTD_PK_PT_FUP;
	d->at += p->bytes;
	d->passed_at = branch ? SIZE_MAX : d->at;
	d->lex.place = 0;
	return (HWTD_OK);
}

/*
 * A packet with an address.  Those that the loop passes on come one after the
 * other, and then the state of packets is better not stored and loaded as a whole.
 */
static int
address(struct hwtdi_decoder *d, struct hwtdi_flow *flow, const uint8_t *bytes,
    struct hwtd_error *err)
{
	struct hwtdi_pt_lex_state lex;
	struct hwtdi_pt_packet p;
	bool taken;
	int rc;

	lex.last_ip = d->lex.last_ip;
	lex.ip_known = d->lex.ip_known;
	hwtdi_pt_lex_ip(&lex, bytes, &p);
	rc = take(d, flow, &p, &taken, err);
	if (!taken)
		return (rc);
	d->lex.last_ip = lex.last_ip;
	d->lex.ip_known = lex.ip_known;
	return (HWTD_OK);
}

int
hwtdi_ptn_packet(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const uint8_t *bytes = hwtdi_ptn_bytes(d, d->at);
	const size_t left = d->segment.n - d->at;
	struct hwtdi_pt_lex_state lex;
	struct hwtdi_pt_packet p;
	bool taken;
	int rc;

	if (d->lex.classes[bytes[0]] == HWTDI_PT_IP)
		return (address(d, flow, bytes, err));
	if (hwtdi_pt_is_psb(bytes) && left >= HWTDI_PT_PSB_BYTES)
		return (psb(d, flow, err));
	lex = d->lex;
	if (!hwtdi_ptn_lex(d, &lex, d->at, 1, &p))
		return (no_packet(d, flow, bytes, err));
	rc = take(d, flow, &p, &taken, err);
	if (!taken)
		return (rc);
	d->lex = lex;
	d->lex.place = 0;
	return (HWTD_OK);
}
