/*
 * The native Intel PT engine: PSB+, inside of the flow and at joints.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

/*
 * Erratum BDM70: a FUP in PSB+ though tracing is off.  Nothing else has a
 * TIP.PGE behind a PSB+ with a FUP.
 */
static bool
is_off_anyway(const struct hwtdi_decoder *d,
    const struct hwtdi_ptn_ahead *from)
{
	struct hwtdi_ptn_ahead a = *from;

	for (; hwtdi_ptn_peek(d, &a); a.at += a.packet.bytes) {
		switch (a.packet.kind) {
		case HWTD_PK_PT_TIP_PGE:
			return (true);
		case HWTD_PK_PT_PSBEND:
		case HWTD_PK_PT_PIP:
		case HWTD_PK_PT_MODE_EXEC:
		case HWTD_PK_PT_MODE_TSX:
		case HWTD_PK_PT_VMCS:
		case HWTD_PK_PT_MNT:
			break;
		default:
			if (!hwtdi_ptn_is_timing(a.packet.kind))
				return (false);
			break;
		}
	}
	return (false);
}

static void
read_mode(struct hwtdi_ptn_psb *out, const struct hwtdi_pt_packet *p)
{
	if (p->kind == HWTD_PK_PT_MODE_EXEC) {
		out->has_mode = true;
		out->mode = (uint8_t)p->value;
	} else {
		out->has_tsx = true;
		out->tsx = (uint8_t)p->value;
	}
}

/* One packet of PSB+.  False: it is none. */
static bool
read_status(const struct hwtdi_decoder *d, const struct hwtdi_ptn_ahead *a,
    struct hwtdi_ptn_psb *out)
{
	const struct hwtdi_pt_packet *p = &a->packet;

	switch (p->kind) {
	case HWTD_PK_PT_FUP:
		out->has_ip = (p->flags & HWTD_PKF_IP) != 0;
		out->ip = p->ip;
		return (true);
	case HWTD_PK_PT_MODE_EXEC:
	case HWTD_PK_PT_MODE_TSX:
		read_mode(out, p);
		return (true);
	case HWTD_PK_PT_PIP:
		out->has_pip = true;
		out->cr3 = p->value;
		out->non_root = (p->flags & HWTD_PKF_NON_ROOT) != 0;
		return (true);
	case HWTD_PK_PT_VMCS:
		out->has_vmcs = true;
		out->vmcs = p->value;
		return (true);
	case HWTD_PK_PT_CBR:
		out->has_cbr = true;
		out->ratio = (uint32_t)p->value;
		return (true);
	case HWTD_PK_PT_TSC:
		out->has_tsc = true;
		out->tsc = p->value;
		return (true);
	case HWTD_PK_PT_MNT:
		out->has_mnt = true;
		return (true);
	default:
		(void)d;
		return (hwtdi_ptn_is_timing(p->kind));
	}
}

/* The same bytes as before tell the same. */
static bool
read_again(struct hwtdi_decoder *d, size_t at, struct hwtdi_ptn_ahead *a,
    struct hwtdi_ptn_psb *out)
{
	const struct hwtdi_ptn_known_psb *known;
	uint32_t i = 0;

	/* The last one first. */
	for (;; i++) {
		if (i == d->n_psbs)
			return (false);
		known = &d->psbs[(d->psb + i) % d->n_psbs];
		if (d->segment.n - at >= known->n &&
		    memcmp(d->segment.bytes + at, known->bytes, known->n) == 0)
			break;
	}
	d->psb = (d->psb + i) % d->n_psbs;
	*out = known->psb;
	out->end = at + known->n;
	a->at = out->end;
	a->lex.classes = hwtdi_pt_classes;
	a->lex.last_ip = known->last_ip;
	a->lex.ip_known = known->ip_known;
	return (true);
}

static void
remember(struct hwtdi_decoder *d, size_t at, const struct hwtdi_ptn_ahead *a,
    const struct hwtdi_ptn_psb *psb)
{
	struct hwtdi_ptn_known_psb *known;

	/* Only what ends with all of PSBEND: then nothing behind it counts. */
	if (psb->open || psb->end - at > sizeof(known->bytes) ||
	    d->segment.bytes[psb->end - 2] != 0x02 ||
	    d->segment.bytes[psb->end - 1] != 0x23)
		return;
	if (d->n_psbs < HWTDI_PTN_PSBS)
		d->psb = d->n_psbs++;
	else
		d->psb = (d->psb + 1) % HWTDI_PTN_PSBS;
	known = &d->psbs[d->psb];
	known->n = psb->end - at;
	memcpy(known->bytes, d->segment.bytes + at, known->n);
	known->psb = *psb;
	known->last_ip = a->lex.last_ip;
	known->ip_known = a->lex.ip_known;
}

/* Read the packets of PSB+ at `at`.  False: see read_psb(). */
static bool
read_packets(const struct hwtdi_decoder *d, struct hwtdi_ptn_ahead *a,
    struct hwtdi_ptn_psb *out)
{
	memset(out, 0, sizeof(*out));
	if (!hwtdi_ptn_peek(d, a))
		return (false);
	a->at += a->packet.bytes;
	for (; hwtdi_ptn_peek(d, a); a->at += a->packet.bytes) {
		if (a->packet.kind == HWTD_PK_PT_PSBEND) {
			a->at += a->packet.bytes;
			break;
		}
		if (!read_status(d, a, out)) {
			out->overflow = a->packet.kind == HWTD_PK_PT_OVF;
			out->open = true;
			break;
		}
	}
	out->end = a->at;
	return (out->open || a->packet.kind == HWTD_PK_PT_PSBEND);
}

/* Read PSB+ at `at`.  False: its end is missing, or it is damaged. */
static bool
read_psb(struct hwtdi_decoder *d, size_t at, struct hwtdi_ptn_ahead *a,
    struct hwtdi_ptn_psb *out)
{
	hwtdi_ptn_look(d, a, at);
	if (!read_again(d, at, a, out)) {
		if (!read_packets(d, a, out))
			return (false);
		remember(d, at, a, out);
	}
	a->lex.place = 0;
	out->on = out->has_ip;
	if (out->on) {
		struct hwtdi_ptn_ahead more = *a;

		out->on = !is_off_anyway(d, &more);
	}
	return (true);
}

/* It says of page tables and VMCS what is known. */
static bool
is_context(const struct hwtd_exec_context *c, const struct hwtdi_ptn_psb *psb)
{
	const uint32_t paging = HWTD_CTXF_CR3 |
	    (psb->non_root ? HWTD_CTXF_GUEST : 0);

	if (psb->has_pip &&
	    (c->cr3 != psb->cr3 ||
		(c->flags & (HWTD_CTXF_CR3 | HWTD_CTXF_GUEST)) != paging))
		return (false);
	return (!psb->has_vmcs ||
	    (c->vmcs == psb->vmcs && (c->flags & HWTD_CTXF_VMCS) != 0));
}

static void
apply_context(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_psb *psb, const uint64_t *ip)
{
	struct hwtd_exec_context now = d->context;

	if (psb->has_pip) {
		now.cr3 = psb->cr3;
		now.flags |= HWTD_CTXF_CR3;
		now.flags &= ~(uint32_t)HWTD_CTXF_GUEST;
		if (psb->non_root)
			now.flags |= HWTD_CTXF_GUEST;
	}
	if (psb->has_vmcs) {
		now.vmcs = psb->vmcs;
		now.flags |= HWTD_CTXF_VMCS;
	}
	hwtdi_ptn_context(d, flow, &now, HWTD_EVF_STATUS, ip);
}

/* What PSB+ says holds. */
static void
apply_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_psb *psb)
{
	const uint64_t *ip = psb->on ? &psb->ip : NULL;
	struct hwtdi_rare *rare;

	if (psb->has_tsc)
		hwtdi_ptn_stamp(d, flow, psb->tsc);
	if (psb->has_mode) {
		hwtdi_ptn_mode(d, flow, hwtdi_ptn_isa(psb->mode),
		    HWTD_EVF_STATUS, ip);
		hwtdi_ptn_iflag(d, flow, (psb->mode & 4) != 0, HWTD_EVF_STATUS,
		    ip);
	}
	if (psb->has_tsx)
		hwtdi_ptn_transaction(d, flow,
		    ((psb->tsx & 1) != 0 ? HWTD_MODE_TRANSACTION : 0) |
			((psb->tsx & 2) != 0 ? HWTD_MODE_ABORTED : 0),
		    HWTD_EVF_STATUS, ip);
	if (!is_context(&d->context, psb))
		apply_context(d, flow, psb, ip);
	if (psb->has_cbr && psb->ratio != d->ratio) {
		d->ratio = psb->ratio;
		rare = hwtdi_ptn_rare(d, flow, HWTD_EV_FREQUENCY);
		hwtdi_rare_set_value(rare, d->ratio);
		rare->row.flags |= HWTD_EVF_STATUS;
	}
}

static void
tell_mnts(struct hwtdi_decoder *d, struct hwtdi_flow *flow, size_t at,
    size_t end)
{
	struct hwtdi_ptn_ahead a;

	hwtdi_ptn_look(d, &a, at);
	for (; a.at < end && hwtdi_ptn_peek(d, &a); a.at += a.packet.bytes) {
		struct hwtdi_ptn_pending mnt = { .what = HWTDI_PTN_ROW,
			.kind = HWTD_EV_MARKER };

		if (a.packet.kind != HWTD_PK_PT_MNT ||
		    flow->n_rares + 8 > HWTDI_FLOW_RARES)
			continue;
		mnt.detail.marker.source = HWTD_MARKER_MNT;
		mnt.detail.marker.size = 8;
		mnt.detail.marker.payload = a.packet.value;
		(void)hwtdi_ptn_tell(d, flow, &mnt, NULL, NULL);
	}
}

/* Go on to where PSB+ says that execution is. */
static int
reach_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_psb *psb, struct hwtd_error *err)
{
	if (d->on && !psb->on && !psb->overflow)
		return (hwtdi_ptn_contradict(d, flow,
		    "PSB+ says that tracing is off", err));
	if (!d->on && psb->on && !psb->overflow)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_FLOW,
		    "PSB+ says that tracing is on"));
	if (d->on && psb->has_mode && !psb->overflow &&
	    hwtdi_ptn_isa(psb->mode) != d->isa)
		return (hwtdi_ptn_contradict(d, flow, "PSB+ says another mode",
		    err));
	return (d->on && psb->on ? hwtdi_ptn_to_ip(d, flow, psb->ip, err)
				 : HWTD_OK);
}

int
hwtdi_ptn_joint(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_segment segment = d->segment;
	struct hwtdi_ptn_ahead a;
	struct hwtdi_ptn_psb psb;
	bool whole;

	if (d->n_pending != 0 || d->async || d->half)
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "PSB between packets that belong together"));
	/* What is behind the segment is read as if it belonged to it. */
	d->segment.n += d->segment.tail;
	d->segment.tail = 0;
	hwtdi_ptn_copy_edge(d);
	whole = read_psb(d, segment.n, &a, &psb);
	d->segment = segment;
	hwtdi_ptn_copy_edge(d);
	/* If not, the next segment says so. */
	return (whole ? reach_psb(d, flow, &psb, err) : HWTD_OK);
}

int
hwtdi_ptn_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	struct hwtdi_ptn_ahead a;
	struct hwtdi_ptn_psb psb;
	int rc;

	if (!read_psb(d, d->at, &a, &psb))
		return (hwtdi_ptn_lose_psb(d, flow,
		    a.at >= d->segment.n ||
			    a.packet.bytes > d->segment.n - a.at
			? HWTD_GAP_TRUNCATED
			: HWTD_GAP_BAD_PACKET));
	if (!d->fresh) {
		rc = reach_psb(d, flow, &psb, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	hwtdi_ptn_anchor(d, flow, psb.end);
	hwtdi_ptn_clear_calls(d);
	hwtdi_ptn_tell_detail(d, flow);
	d->on = psb.on;
	d->half = false;
	d->wrote_cr3 = false;
	if (psb.on)
		hwtdi_ptn_go(d, psb.ip);
	apply_psb(d, flow, &psb);
	if (psb.has_mnt)
		tell_mnts(d, flow, d->at, psb.end);
	d->lex = a.lex;
	d->fresh = false;
	d->at = psb.end;
	return (HWTD_OK);
}
