/*
 * The native Intel PT engine: packets with addresses.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

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
	hwtdi_rare_set_ip(rare, d->async_ip);
	if (ip != NULL)
		hwtdi_rare_set_target(rare, *ip);
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

static inline void
enable(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip)
{
	struct hwtdi_rare *rare = hwtdi_ptn_bare(d, flow, HWTD_EV_ENABLE);

	/* What is not traced in between can start another program. */
	d->choice.moments.until = UINT64_MAX;
	hwtdi_rare_set_ip(rare, ip);
	if (d->has_resume && d->resume_ip == ip)
		rare->row.flags |= HWTD_EVF_RESUMED;
	d->has_resume = false;
	d->fresh = false;
	d->on = true;
	d->async = false;
	d->wrote_cr3 = false;
	hwtdi_ptn_go(d, ip);
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
	hwtdi_rare_set_ip(*rare_out, d->async_ip);
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
		hwtdi_rare_set_target(rare, *ip);
	d->half = false;
	d->on = false;
	return (tell_at_tip(d, flow, NULL, err));
}

/* A TraceStop comes next. */
static bool
is_before_stop(const struct hwtdi_decoder *d)
{
	struct hwtdi_ptn_ahead a;

	hwtdi_ptn_look(d, &a, d->at);
	if (!hwtdi_ptn_peek(d, &a))
		return (false);
	do
		a.at += a.packet.bytes;
	while (hwtdi_ptn_peek(d, &a) && hwtdi_ptn_is_timing(a.packet.kind));
	return (a.at < d->segment.n && a.packet.kind == HWTD_PK_PT_STOP);
}

/*
 * MOV CR3 that clears PacketEn by a TraceStop: Intel SDM vol. 3C, table "Packet
 * Generation under Different Enable Conditions", 5e, where it has a TIP.PGE of
 * the next instruction.
 */
static bool
is_stop_by_cr3(const struct hwtdi_decoder *d, const uint64_t *ip)
{
	return (d->wrote_cr3 && ip != NULL && *ip == hwtdi_ptn_ip(d) &&
	    is_before_stop(d));
}

static int
tip_pge(struct hwtdi_decoder *d, struct hwtdi_flow *flow, const uint64_t *ip,
    struct hwtd_error *err)
{
	int rc;

	if (d->on && is_stop_by_cr3(d, ip))
		return (tip_pgd(d, flow, ip, err));
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
	enable(d, flow, *ip);
	return (tell_at_tip(d, flow, ip, err));
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

/* An asynchronous branch begins with the FUP at `at`. */
static inline void
begin_async(struct hwtdi_decoder *d, uint64_t ip)
{
	d->async = true;
	d->async_ip = ip;
	d->async_at = d->at;
	/* Triggers count from there. */
	d->passed = 0;
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
		begin_async(d, *ip);
		d->weak = true;
	}
	if (d->fup_bound)
		return (HWTD_OK);
	if (ip == NULL)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "FUP without address"));
	if (d->on)
		begin_async(d, *ip);
	return (HWTD_OK);
}

int
hwtdi_ptn_address(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	const uint64_t *ip = (p->flags & HWTD_PKF_IP) != 0 ? &p->ip : NULL;

	switch (p->kind) {
	case HWTD_PK_PT_TIP:
		return (tip(d, flow, ip, err));
	case HWTD_PK_PT_TIP_PGE:
		return (tip_pge(d, flow, ip, err));
	case HWTD_PK_PT_TIP_PGD:
		return (tip_pgd(d, flow, ip, err));
	default:
		return (fup(d, flow, ip, err));
	}
}

/* The usual cases. */

/* The branch at hand leads out of what is traced. */
static bool
quick_disable(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip,
    size_t behind)
{
	struct hwtdi_ptn_way way;
	struct hwtdi_rare *rare;

	if (d->wrote_cr3 || d->loop_at == d->at)
		return (false);
	if (d->node == 0 || !hwtdi_ptn_find_way_to(d, d->node, ip, &way) ||
	    way.has_ip)
		return (false);
	hwtdi_ptn_anchor(d, flow, behind);
	hwtdi_ptn_go_way(d, flow, &way);
	hwtdi_ptn_emit(d, flow);
	hwtdi_ptn_note_resume(d);
	rare = hwtdi_ptn_bare(d, flow, HWTD_EV_DISABLE);
	hwtdi_rare_set_target(rare, ip);
	d->on = false;
	return (true);
}

bool
hwtdi_ptn_quick(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint8_t *bytes)
{
	struct hwtdi_pt_lex_state lex;
	struct hwtdi_pt_packet p;
	bool weak = false;

	if (d->n_pending != 0 || d->async || d->half || d->has_detail ||
	    d->stale)
		return (false);
	lex.last_ip = d->lex.last_ip;
	lex.ip_known = d->lex.ip_known;
	hwtdi_pt_lex_ip(&lex, bytes, &p);
	if ((p.flags & HWTD_PKF_IP) == 0 || p.bytes > d->segment.n - d->at)
		return (false);
	if (p.kind == HWTD_PK_PT_TIP_PGE && !d->on) {
		hwtdi_ptn_anchor(d, flow, d->at + p.bytes);
		enable(d, flow, p.ip);
	} else if (p.kind == HWTD_PK_PT_FUP && d->on) {
		hwtdi_ptn_anchor(d, flow, d->at + p.bytes);
		begin_async(d, p.ip);
		d->passed_at = d->at + p.bytes;
		weak = d->weak;
	} else if (p.kind != HWTD_PK_PT_TIP_PGD || !d->on ||
	    !quick_disable(d, flow, p.ip, d->at + p.bytes))
		return (false);
	d->weak = weak;
	d->lex.last_ip = lex.last_ip;
	d->lex.ip_known = lex.ip_known;
	d->lex.place = 0;
	d->at += p.bytes;
	return (true);
}
