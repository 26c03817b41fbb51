/*
 * The native Intel PT engine: OVF, and where tracing goes on behind it.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

/* Whether, and where, tracing is on behind an OVF. */
static bool
is_on_behind(const struct hwtdi_decoder *d, const struct hwtdi_ptn_ahead *from,
    uint64_t *ip_out)
{
	struct hwtdi_ptn_ahead a = *from;

	for (; hwtdi_ptn_peek(d, &a); a.at += a.packet.bytes) {
		if (a.packet.kind == HWTD_PK_PT_FUP) {
			*ip_out = a.packet.ip;
			return ((a.packet.flags & HWTD_PKF_IP) != 0);
		}
		if (!hwtdi_ptn_is_timing(a.packet.kind) &&
		    a.packet.kind != HWTD_PK_PT_MNT)
			return (false);
	}
	return (false);
}

/*
 * Erratum APL12: an extra FUP though tracing is off.  It is, if a TIP.PGE or a
 * PSB+ without address is the next that tells.
 */
static bool
is_extra_fup(const struct hwtdi_decoder *d, size_t behind_fup,
    const struct hwtdi_pt_lex_state *lex)
{
	struct hwtdi_ptn_ahead a = { .lex = *lex, .at = behind_fup };
	struct hwtdi_pt_psb psb;

	for (; hwtdi_ptn_peek(d, &a); a.at += a.packet.bytes) {
		switch (a.packet.kind) {
		case HWTD_PK_PT_TIP_PGE:
			return (true);
		case HWTD_PK_PT_PSB:
			return (hwtdi_ptn_psb_at(d, a.at, &psb) &&
			    !psb.has_ip);
		case HWTD_PK_PT_MODE_EXEC:
		case HWTD_PK_PT_MODE_TSX:
		case HWTD_PK_PT_PIP:
		case HWTD_PK_PT_VMCS:
		case HWTD_PK_PT_MNT:
			break;
		default:
			if (!hwtdi_ptn_is_timing(a.packet.kind))
				return (false);
			break;
		}
	}
	return (a.at == d->segment.n && hwtdi_ptn_psb_at(d, a.at, &psb) &&
	    !psb.has_ip);
}

/* Behind an OVF without FUP: what the next packets say. */
enum behind_overflow {
	BEHIND_NOTHING,
	/* Erratum SKD010 or APL11: off behind a TIP.PGD. */
	BEHIND_OFF,
	/* Erratum SKD010: on at a FUP or TIP. */
	BEHIND_ON
};

static enum behind_overflow
look_behind(struct hwtdi_decoder *d, struct hwtdi_ptn_ahead *a)
{
	for (; hwtdi_ptn_peek(d, a); a->at += a->packet.bytes) {
		switch (a->packet.kind) {
		case HWTD_PK_PT_TIP_PGE:
		case HWTD_PK_PT_OVF:
		case HWTD_PK_PT_STOP:
		case HWTD_PK_PT_TNT_8:
		case HWTD_PK_PT_TNT_64:
			return (BEHIND_NOTHING);
		case HWTD_PK_PT_TIP_PGD:
			return (BEHIND_OFF);
		case HWTD_PK_PT_TIP:
		case HWTD_PK_PT_FUP:
			return ((a->packet.flags & HWTD_PKF_IP) != 0
				? BEHIND_ON
				: BEHIND_NOTHING);
		case HWTD_PK_PT_PSB:
			return (BEHIND_NOTHING);
		default:
			break;
		}
	}
	return (BEHIND_NOTHING);
}

static void
tell_overflow(struct hwtdi_decoder *d, struct hwtdi_flow *flow, size_t off,
    const uint64_t *ip)
{
	struct hwtd_gap *gap;

	gap = hwtdi_ptn_gap(d, flow, HWTD_GAP_OVERFLOW, off, off,
	    "the CPU dropped packets");
	if (ip != NULL) {
		gap->ip_after = *ip;
		gap->flags |= HWTD_GAPF_IP_AFTER;
	}
}

/* What waits for an address gets none. */
static void
tell_waiting(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	for (uint32_t i = 0; i < d->n_pending; i++)
		(void)hwtdi_ptn_tell(d, flow, &d->pending[i], NULL, NULL);
	d->n_pending = 0;
}

/*
 * The same of what waited before the OVF.  While tracing was on, of that only
 * what needs no place in the code: the rest is of a branch that was dropped.
 */
static void
tell_before(struct hwtdi_decoder *d, struct hwtdi_flow *flow, bool on)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->n_pending; i++) {
		const struct hwtdi_ptn_pending *e = &d->pending[i];

		if (!on || e->what == HWTDI_PTN_ROW ||
		    e->what == HWTDI_PTN_ROW_AFTER)
			d->pending[kept++] = *e;
	}
	d->n_pending = kept;
	tell_waiting(d, flow);
	hwtdi_ptn_tell_detail(d, flow);
}

/* What may stand between an OVF and the packet that ends it. */
struct between {
	/* PIP and VMCS are not of a branch that was dropped. */
	bool context;
	/* The packet is a FUP that is not the OVF's. */
	bool fup;
	/* A MODE.TSX, which holds behind the gap. */
	bool has_tsx;
	uint64_t tsx;
};

/* The MODE.TSX, whose FUP comes next or was dropped. */
static void
tell_transaction(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct between *between)
{
	struct hwtdi_ptn_pending e = { .wait = HWTDI_PTN_FUP_BOUND,
		.what = HWTDI_PTN_TSX };

	if (!between->has_tsx)
		return;
	if ((between->tsx & 1) != 0)
		e.value |= HWTD_MODE_TRANSACTION;
	if ((between->tsx & 2) != 0) {
		e.value |= HWTD_MODE_ABORTED;
		e.wait = HWTDI_PTN_FUP;
	}
	if (!between->fup)
		hwtdi_ptn_transaction(d, flow, e.value, 0, NULL);
	else if (hwtdi_ptn_pend(d, &e) != HWTD_OK) {
		tell_waiting(d, flow);
		(void)hwtdi_ptn_pend(d, &e);
	}
}

static void
tell_packet(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct between *between)
{
	switch (p->kind) {
	case HWTD_PK_PT_TSC:
	case HWTD_PK_PT_CBR:
	case HWTD_PK_PT_MNT:
	case HWTD_PK_PT_PTW:
	case HWTD_PK_PT_TRIG:
	case HWTD_PK_PT_MWAIT:
	case HWTD_PK_PT_EXSTOP:
	case HWTD_PK_PT_PWRE:
	case HWTD_PK_PT_PWRX:
	case HWTD_PK_PT_BEP:
		(void)hwtdi_ptn_event(d, flow, p, NULL);
		break;
	case HWTD_PK_PT_CFE:
	case HWTD_PK_PT_EVD:
		/* There is a gap already: data whose CFE is lost come alone. */
		if (!hwtdi_ptn_fits_data(d, p))
			tell_waiting(d, flow);
		(void)hwtdi_ptn_event(d, flow, p, NULL);
		break;
	case HWTD_PK_PT_PIP:
	case HWTD_PK_PT_VMCS:
		if (between->context)
			(void)hwtdi_ptn_event(d, flow, p, NULL);
		break;
	case HWTD_PK_PT_MODE_EXEC:
		hwtdi_ptn_mode(d, flow, hwtdi_ptn_isa(p->value), 0, NULL);
		break;
	case HWTD_PK_PT_MODE_TSX:
		between->has_tsx = true;
		between->tsx = p->value;
		break;
	default:
		break;
	}
}

/* As far as there is room: each makes a row or two, or has it later. */
static void
tell_between(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_ahead *from, size_t end, struct between *between)
{
	struct hwtdi_ptn_ahead a = *from;

	for (; a.at < end && hwtdi_ptn_peek(d, &a); a.at += a.packet.bytes) {
		if (d->n_pending == HWTDI_PTN_PENDING)
			tell_waiting(d, flow);
		if (flow->n_rares + d->n_pending + 8 <= HWTDI_FLOW_RARES)
			tell_packet(d, flow, &a.packet, between);
	}
	if (!between->fup)
		tell_waiting(d, flow);
}

int
hwtdi_ptn_overflow(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	struct between between = { .context = !d->on };
	struct hwtdi_ptn_ahead a, behind;
	enum behind_overflow state;
	struct hwtdi_pt_psb psb;
	uint64_t ip = 0;
	bool on = d->on;

	(void)err;
	hwtdi_ptn_look(d, &a, d->at);
	if (!hwtdi_ptn_peek(d, &a))
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_TRUNCATED,
		    "the last packet is cut off"));
	a.at += a.packet.bytes;
	a.lex.place = 0;
	/* What it was compared with may be among what was dropped. */
	a.lex.last_ip = 0;
	a.lex.ip_known = UINT64_MAX;
	hwtdi_ptn_anchor(d, flow, a.at);
	d->on = false;
	d->fresh = false;
	tell_before(d, flow, on);
	d->async = false;
	d->weak = false;
	d->in_fup = false;
	d->half = false;
	d->n_bits = 0;
	d->ahead = 0;
	d->transaction = false;
	d->has_resume = false;
	d->choice.moments.until = UINT64_MAX;
	hwtdi_ptn_clear_calls(d);
	on = is_on_behind(d, &a, &ip);
	behind = a;
	if (on) {
		/* Skip the FUP; there is one. */
		while (hwtdi_ptn_peek(d, &behind) &&
		    behind.packet.kind != HWTD_PK_PT_FUP)
			behind.at += behind.packet.bytes;
		behind.at += behind.packet.bytes;
		if (d->errata.apl12 && is_extra_fup(d, behind.at, &behind.lex))
			on = false;
	}
	if (on || behind.at != a.at) {
		tell_between(d, flow, &a, behind.at, &between);
		hwtdi_ptn_anchor(d, flow, behind.at);
		tell_overflow(d, flow, behind.at, on ? &ip : NULL);
		d->on = on;
		hwtdi_ptn_go(d, on ? ip : 0);
		d->lex = behind.lex;
		d->at = behind.at;
		return (HWTD_OK);
	}
	state = look_behind(d, &behind);
	if (state == BEHIND_NOTHING) {
		/* If a PSB comes next, it tells. */
		tell_overflow(d, flow, a.at,
		    hwtdi_ptn_psb_at(d, behind.at, &psb) && psb.has_ip
			? &psb.ip
			: NULL);
		d->lex = a.lex;
		d->at = a.at;
		d->fresh = true;
		return (HWTD_OK);
	}
	ip = behind.packet.ip;
	between.context = true;
	/* A FUP there is not the OVF's: it tells of something else. */
	between.fup = behind.packet.kind == HWTD_PK_PT_FUP;
	if (!between.fup)
		behind.at += behind.packet.bytes;
	tell_between(d, flow, &a, behind.at, &between);
	hwtdi_ptn_anchor(d, flow, behind.at);
	tell_overflow(d, flow, behind.at, state == BEHIND_ON ? &ip : NULL);
	tell_transaction(d, flow, &between);
	d->lex = behind.lex;
	d->at = behind.at;
	if (state == BEHIND_OFF)
		return (HWTD_OK);
	d->on = true;
	hwtdi_ptn_go(d, ip);
	d->weak = between.fup;
	return (HWTD_OK);
}
