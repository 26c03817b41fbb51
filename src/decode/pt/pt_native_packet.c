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

/* Packets with addresses. */

/* Tell what waited for a TIP. */
static int
tell_at_tip(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint64_t *ip, struct hwtd_error *err)
{
	struct hwtdi_ptn_pending waiting[HWTDI_PTN_PENDING];
	uint32_t n = 0, kept = 0;
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < d->n_pending; i++) {
		if ((d->pending[i].wait & HWTDI_PTN_TIP) != 0)
			waiting[n++] = d->pending[i];
		else
			d->pending[kept++] = d->pending[i];
	}
	d->n_pending = kept;
	for (uint32_t i = 0; i < n && rc == HWTD_OK; i++)
		rc = hwtdi_ptn_tell(d, flow, &waiting[i], ip, err);
	return (rc);
}

static int
async_branch(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint64_t *ip, struct hwtd_error *err)
{
	struct hwtdi_rare *rare;
	int rc;

	rc = hwtdi_ptn_to_ip(d, flow, d->async_ip, err);
	if (rc != HWTD_OK)
		return (rc);
	d->async = false;
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_ASYNC);
	hwtdi_ptn_set_ip(rare, d->async_ip);
	if (ip != NULL)
		hwtdi_ptn_set_target(rare, *ip);
	if (d->has_detail) {
		rare->detail.async = d->detail;
		rare->has_detail = true;
		d->has_detail = false;
	}
	return (HWTD_OK);
}

static int
sync_branch(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	int rc;

	if (d->half)
		return (HWTD_OK);
	rc = hwtdi_ptn_pass(d, flow, err);
	if (rc != HWTD_OK)
		return (rc);
	if (d->view.nodes[d->node].kind < HWTDI_NODE_RETURN)
		return (hwtdi_ptn_contradict(d, flow,
		    "an address where an outcome must come", err));
	hwtdi_ptn_emit(d, flow);
	return (HWTD_OK);
}

static int
tip(struct hwtdi_decoder *d, struct hwtdi_flow *flow, const uint64_t *ip,
    struct hwtd_error *err)
{
	int rc;

	if (!d->on)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "TIP while tracing is off"));
	if (ip == NULL)
		return (hwtdi_ptn_contradict(d, flow, "TIP without address",
		    err));
	rc = d->async ? async_branch(d, flow, ip, err)
		      : sync_branch(d, flow, err);
	if (rc != HWTD_OK)
		return (rc);
	d->half = false;
	hwtdi_ptn_go(d, *ip);
	return (tell_at_tip(d, flow, ip, err));
}

static int
tip_pge(struct hwtdi_decoder *d, struct hwtdi_flow *flow, const uint64_t *ip,
    struct hwtd_error *err)
{
	struct hwtdi_rare *rare;
	int rc;

	if (d->on) {
		rc = hwtdi_ptn_is_plain(d) ? hwtdi_ptn_run_out(d, flow, err)
					   : HWTD_OK;
		return (rc != HWTD_OK
			? rc
			: hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
			      "TIP.PGE while tracing is on"));
	}
	if (ip == NULL)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "TIP.PGE without address"));
	hwtdi_ptn_tell_detail(d, flow);
	/* What is not traced in between can start another program. */
	d->moments.until = UINT64_MAX;
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_ENABLE);
	hwtdi_ptn_set_ip(rare, *ip);
	if (d->has_resume && d->resume_ip == *ip)
		rare->row.flags |= HWTD_EVF_RESUMED;
	d->has_resume = false;
	d->fresh = false;
	d->on = true;
	d->async = false;
	d->wrote_cr3 = false;
	hwtdi_ptn_go(d, *ip);
	return (tell_at_tip(d, flow, ip, err));
}

/* Erratum SKD022: a FUP before the TIP.PGD of VMLAUNCH or VMRESUME. */
static bool
is_vm_entry(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	const struct hwtdi_code_block *b;

	if (!d->errata.skd022 ||
	    (d->node == 0 && hwtdi_ptn_find_node(d, flow, NULL) != HWTD_OK))
		return (false);
	b = hwtdi_graph_block(d->graph, d->node);
	return (d->view.nodes[d->node].insns == 1 &&
	    (b->binds & HWTDI_X86_VM_ENTRY) != 0);
}

static int
async_disable(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_rare **rare_out, struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_ptn_to_ip(d, flow, d->async_ip, err);
	if (rc != HWTD_OK)
		return (rc);
	d->async = false;
	hwtdi_ptn_tell_detail(d, flow);
	if (is_vm_entry(d, flow)) {
		hwtdi_ptn_emit(d, flow);
		d->has_resume = false;
		*rare_out = hwtdi_ptn_rare(d, flow, HWTD_EV_DISABLE);
		return (HWTD_OK);
	}
	*rare_out = hwtdi_ptn_rare(d, flow, HWTD_EV_DISABLE);
	(*rare_out)->row.flags |= HWTD_EVF_ASYNC;
	hwtdi_ptn_set_ip(*rare_out, d->async_ip);
	d->has_resume = true;
	d->resume_ip = d->async_ip;
	return (HWTD_OK);
}

static int
tip_pgd(struct hwtdi_decoder *d, struct hwtdi_flow *flow, const uint64_t *ip,
    struct hwtd_error *err)
{
	struct hwtdi_rare *rare = NULL;
	int rc = HWTD_OK;

	if (!d->on)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "TIP.PGD while tracing is off"));
	if (d->async)
		rc = async_disable(d, flow, &rare, err);
	else if (!d->half && !(d->wrote_cr3 && ip == NULL))
		rc = hwtdi_ptn_to_disable(d, flow, ip, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_ptn_tell_detail(d, flow);
	if (rare == NULL) {
		if (d->wrote_cr3) {
			d->has_resume = true;
			d->resume_ip = hwtdi_ptn_ip(d);
		} else if (!d->half)
			hwtdi_ptn_note_resume(d);
		rare = hwtdi_ptn_rare(d, flow, HWTD_EV_DISABLE);
	}
	if (ip != NULL)
		hwtdi_ptn_set_target(rare, *ip);
	d->half = false;
	d->on = false;
	return (tell_at_tip(d, flow, NULL, err));
}

/* Begin to tell a FUP: which events it is for. */
static void
begin_fup(struct hwtdi_decoder *d)
{
	if (d->in_fup)
		return;
	d->in_fup = true;
	d->fup_bound = false;
	d->fup_branches = false;
	for (uint32_t i = 0; i < d->n_pending; i++)
		if ((d->pending[i].wait & HWTDI_PTN_FUP_BOUND) != 0)
			d->fup_bound = true;
}

static int
fup(struct hwtdi_decoder *d, struct hwtdi_flow *flow, const uint64_t *ip,
    struct hwtd_error *err)
{
	uint32_t i = 0;
	int rc;

	begin_fup(d);
	while (i < d->n_pending) {
		const struct hwtdi_ptn_pending e = d->pending[i];

		if ((e.wait & (HWTDI_PTN_FUP | HWTDI_PTN_FUP_BOUND)) == 0) {
			i++;
			continue;
		}
		rc = hwtdi_ptn_tell(d, flow, &e, ip, err);
		if (rc != HWTD_OK)
			return (rc);
		d->fup_branches |= e.what == HWTDI_PTN_TRACE_EVENT &&
		    (e.detail.async.type < HWTD_ASYNC_RETURN ||
			e.detail.async.type == HWTD_ASYNC_SOFTWARE_INTERRUPT);
		memmove(&d->pending[i], &d->pending[i + 1],
		    (d->n_pending - i - 1) * sizeof(d->pending[0]));
		d->n_pending--;
	}
	d->in_fup = false;
	/* The FUP of a CFE may be that of the branch too. */
	if (d->fup_bound && d->fup_branches && d->on && ip != NULL) {
		d->async = true;
		d->async_ip = *ip;
		d->async_at = d->at;
		d->weak = true;
	}
	if (d->fup_bound)
		return (HWTD_OK);
	if (ip == NULL)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "FUP without address"));
	if (d->on) {
		d->async = true;
		d->async_ip = *ip;
		d->async_at = d->at;
	}
	return (HWTD_OK);
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
	const uint64_t *ip = (p->flags & HWTD_PKF_IP) != 0 ? &p->ip : NULL;

	switch (p->kind) {
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
		return (tnt(d, flow, p, err));
	case HWTD_PK_PT_TIP:
		return (tip(d, flow, ip, err));
	case HWTD_PK_PT_TIP_PGE:
		return (tip_pge(d, flow, ip, err));
	case HWTD_PK_PT_TIP_PGD:
		return (tip_pgd(d, flow, ip, err));
	case HWTD_PK_PT_FUP:
		return (fup(d, flow, ip, err));
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

int
hwtdi_ptn_packet(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const uint8_t *bytes = hwtdi_ptn_bytes(d, d->at);
	const size_t left = d->segment.n - d->at;
	struct hwtdi_pt_lex_state lex = d->lex;
	struct hwtdi_pt_packet p;
	int rc;

	if (!hwtdi_ptn_lex(d, &lex, d->at, 1, &p)) {
		/* What goes before the next branch does not depend on it. */
		rc = hwtdi_ptn_is_plain(d) ? hwtdi_ptn_run_out(d, flow, err)
					   : HWTD_OK;
		if (rc != HWTD_OK)
			return (rc);
		if (d->segment.tail == 0 && hwtdi_pt_is_cut(bytes, left))
			return (hwtdi_ptn_lose(d, flow, HWTD_GAP_TRUNCATED,
			    "the last packet is cut off"));
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "no packet begins with these bytes"));
	}
	if (p.bytes > left)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_TRUNCATED,
		    "the last packet is cut off"));
	if (p.kind == HWTD_PK_PT_PSB) {
		if (d->n_pending != 0 || d->async || d->half)
			return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
			    "PSB between packets that belong together"));
		return (hwtdi_ptn_psb(d, flow, err));
	}
	if (p.kind == HWTD_PK_PT_OVF)
		return (hwtdi_ptn_overflow(d, flow, err));
	if (drop_suspicions(d, &p))
		return (HWTD_OK);
	hwtdi_ptn_anchor(d, flow, d->at + p.bytes);
	rc = by_kind(d, flow, &p, err);
	if (rc == HWTD_E_LIMIT)
		rc = hwtdi_ptn_lose(d, flow, HWTD_GAP_LIMIT,
		    "too much waits for one address");
	if (rc != HWTD_OK)
		return (rc);
	d->weak = d->weak && p.kind == HWTD_PK_PT_FUP;
	lex.place = 0;
	d->lex = lex;
	d->at += p.bytes;
	d->passed_at = is_branch(p.kind) ? SIZE_MAX : d->at;
	return (HWTD_OK);
}
