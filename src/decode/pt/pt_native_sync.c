/*
 * The native Intel PT engine: where decoding starts, and starts again.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

const uint8_t *
hwtdi_ptn_bytes(const struct hwtdi_decoder *d, size_t off)
{
	return (off < d->edge_at ? d->segment.bytes + off
				 : d->edge + (off - d->edge_at));
}

/* What is read before it can be told. */
struct ahead {
	struct hwtdi_pt_lex_state lex;
	size_t at;
	struct hwtdi_pt_packet packet;
};

static void
look(const struct hwtdi_decoder *d, struct ahead *a, size_t at)
{
	a->lex = d->lex;
	a->at = at;
}

/* The packet at a->at; false: none, or its end is missing. */
static bool
peek(const struct hwtdi_decoder *d, struct ahead *a)
{
	const size_t left = d->segment.n - a->at;
	const uint8_t *p;

	if (a->at >= d->segment.n)
		return (false);
	p = hwtdi_ptn_bytes(d, a->at);
	/* Padding is read up to where bytes are read from elsewhere. */
	return (hwtdi_pt_lex(&a->lex, p,
		    p + (a->at < d->edge_at ? d->edge_at - a->at : left),
		    &a->packet) &&
	    a->packet.bytes <= left);
}

static bool
is_timing(unsigned int kind)
{
	switch (kind) {
	case HWTD_PK_PT_PAD:
	case HWTD_PK_PT_TSC:
	case HWTD_PK_PT_TMA:
	case HWTD_PK_PT_MTC:
	case HWTD_PK_PT_CYC:
	case HWTD_PK_PT_CBR:
		return (true);
	default:
		return (false);
	}
}

/* PSB+. */

struct psb {
	/* Byte behind it; what stands there if that is not PSBEND. */
	size_t end;
	bool has_ip, on;
	uint64_t ip;
	bool has_mode, has_tsx, has_pip, has_vmcs, has_cbr, has_tsc, has_mnt;
	uint8_t mode, tsx;
	bool non_root;
	uint64_t cr3, vmcs, tsc;
	uint32_t ratio;
	/* It ends with an OVF or a packet that should not be in it. */
	bool overflow, open;
};

/*
 * Erratum BDM70: a FUP in PSB+ though tracing is off.  Nothing else has a
 * TIP.PGE behind a PSB+ with a FUP.
 */
static bool
is_off_anyway(const struct hwtdi_decoder *d, const struct ahead *from)
{
	struct ahead a = *from;

	for (; peek(d, &a); a.at += a.packet.bytes) {
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
			if (!is_timing(a.packet.kind))
				return (false);
			break;
		}
	}
	return (false);
}

static void
read_mode(struct psb *out, const struct hwtdi_pt_packet *p)
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
read_status(const struct hwtdi_decoder *d, const struct ahead *a,
    struct psb *out)
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
		return (is_timing(p->kind));
	}
}

/* Read PSB+ at `at`.  False: its end is missing, or it is damaged. */
static bool
read_psb(const struct hwtdi_decoder *d, size_t at, struct ahead *a,
    struct psb *out)
{
	memset(out, 0, sizeof(*out));
	look(d, a, at);
	if (!peek(d, a))
		return (false);
	a->at += a->packet.bytes;
	for (; peek(d, a); a->at += a->packet.bytes) {
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
	if (a->at < d->segment.n && !out->open &&
	    a->packet.kind != HWTD_PK_PT_PSBEND)
		return (false);
	a->lex.place = 0;
	if (!out->open && a->packet.kind != HWTD_PK_PT_PSBEND)
		return (false);
	out->on = out->has_ip;
	if (out->on) {
		struct ahead more = *a;

		out->on = !is_off_anyway(d, &more);
	}
	return (true);
}

/* What PSB+ says holds. */
static void
apply_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct psb *psb)
{
	const uint64_t *ip = psb->on ? &psb->ip : NULL;
	struct hwtd_exec_context now = d->context;
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
	if (psb->has_cbr && psb->ratio != d->ratio) {
		d->ratio = psb->ratio;
		rare = hwtdi_ptn_rare(d, flow, HWTD_EV_FREQUENCY);
		hwtdi_ptn_set_value(rare, d->ratio);
		rare->row.flags |= HWTD_EVF_STATUS;
	}
}

static void
tell_mnts(struct hwtdi_decoder *d, struct hwtdi_flow *flow, size_t at,
    size_t end)
{
	struct ahead a;

	look(d, &a, at);
	for (; a.at < end && peek(d, &a); a.at += a.packet.bytes) {
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
    const struct psb *psb, struct hwtd_error *err)
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
	struct ahead a;
	struct psb psb;
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

static int lose_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason);

int
hwtdi_ptn_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	struct ahead a;
	struct psb psb;
	int rc;

	if (!read_psb(d, d->at, &a, &psb))
		return (lose_psb(d, flow,
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

/* OVF. */

/* Whether, and where, tracing is on behind an OVF. */
static bool
is_on_behind(const struct hwtdi_decoder *d, const struct ahead *from,
    uint64_t *ip_out)
{
	struct ahead a = *from;

	for (; peek(d, &a); a.at += a.packet.bytes) {
		if (a.packet.kind == HWTD_PK_PT_FUP) {
			*ip_out = a.packet.ip;
			return ((a.packet.flags & HWTD_PKF_IP) != 0);
		}
		if (!is_timing(a.packet.kind) &&
		    a.packet.kind != HWTD_PK_PT_MNT)
			return (false);
	}
	return (false);
}

/* The PSB at `at`, maybe that of the next segment. */
static bool
psb_at(const struct hwtdi_decoder *d, size_t at, struct hwtdi_pt_psb *out)
{
	const size_t left = d->segment.n - at;

	if (left == 0) {
		*out = d->next_psb;
		return (d->has_next_psb);
	}
	if (left < HWTDI_PT_PSB_BYTES ||
	    hwtdi_pt_find_psb(d->segment.bytes + at, HWTDI_PT_PSB_BYTES, 0) !=
		0)
		return (false);
	return (hwtdi_pt_read_psb(d->segment.bytes + at, left, out));
}

/*
 * Erratum APL12: an extra FUP though tracing is off.  It is, if a TIP.PGE or a
 * PSB+ without address is the next that tells.
 */
static bool
is_extra_fup(const struct hwtdi_decoder *d, size_t behind_fup,
    const struct hwtdi_pt_lex_state *lex)
{
	struct ahead a = { .lex = *lex, .at = behind_fup };
	struct hwtdi_pt_psb psb;

	for (; peek(d, &a); a.at += a.packet.bytes) {
		switch (a.packet.kind) {
		case HWTD_PK_PT_TIP_PGE:
			return (true);
		case HWTD_PK_PT_PSB:
			return (psb_at(d, a.at, &psb) && !psb.has_ip);
		case HWTD_PK_PT_MODE_EXEC:
		case HWTD_PK_PT_MODE_TSX:
		case HWTD_PK_PT_PIP:
		case HWTD_PK_PT_VMCS:
		case HWTD_PK_PT_MNT:
			break;
		default:
			if (!is_timing(a.packet.kind))
				return (false);
			break;
		}
	}
	return (a.at == d->segment.n && psb_at(d, a.at, &psb) && !psb.has_ip);
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
look_behind(struct hwtdi_decoder *d, struct ahead *a, uint64_t *tsx_out,
    bool *has_tsx_out)
{
	*has_tsx_out = false;
	for (; peek(d, a); a->at += a->packet.bytes) {
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
		case HWTD_PK_PT_MODE_TSX:
			*has_tsx_out = true;
			*tsx_out = a->packet.value;
			break;
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

/* What packets between an OVF and its FUP tell. */
static void
tell_between(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct ahead *from, size_t end)
{
	struct ahead a = *from;

	for (; a.at < end && peek(d, &a); a.at += a.packet.bytes)
		if ((a.packet.kind == HWTD_PK_PT_TSC ||
			a.packet.kind == HWTD_PK_PT_CBR ||
			a.packet.kind == HWTD_PK_PT_MNT) &&
		    flow->n_rares + 8 <= HWTDI_FLOW_RARES)
			(void)hwtdi_ptn_event(d, flow, &a.packet, NULL);
}

/* Of a MODE.TSX before the FUP that comes next. */
static int
pend_transaction(struct hwtdi_decoder *d, uint64_t tsx)
{
	struct hwtdi_ptn_pending e = { .wait = HWTDI_PTN_FUP_BOUND,
		.what = HWTDI_PTN_TSX };

	if ((tsx & 1) != 0)
		e.value |= HWTD_MODE_TRANSACTION;
	if ((tsx & 2) != 0) {
		e.value |= HWTD_MODE_ABORTED;
		e.wait = HWTDI_PTN_FUP;
	}
	return (hwtdi_ptn_pend(d, &e));
}

int
hwtdi_ptn_overflow(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	struct ahead a, behind;
	enum behind_overflow state;
	uint64_t ip = 0, tsx = 0;
	struct hwtdi_pt_psb psb;
	bool on, has_tsx;

	(void)err;
	look(d, &a, d->at);
	if (!peek(d, &a))
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_TRUNCATED,
		    "the last packet is cut off"));
	a.at += a.packet.bytes;
	a.lex.place = 0;
	/* What it was compared with may be among what was dropped. */
	a.lex.last_ip = 0;
	a.lex.ip_known = UINT64_MAX;
	hwtdi_ptn_anchor(d, flow, a.at);
	/* What waits can be told if it needs no place in the code. */
	for (uint32_t i = 0; i < d->n_pending && !d->on; i++)
		(void)hwtdi_ptn_tell(d, flow, &d->pending[i], NULL, NULL);
	hwtdi_ptn_tell_detail(d, flow);
	d->n_pending = 0;
	d->async = false;
	d->in_fup = false;
	d->half = false;
	d->n_bits = 0;
	d->ahead = 0;
	d->transaction = false;
	d->has_resume = false;
	d->moments.until = UINT64_MAX;
	hwtdi_ptn_clear_calls(d);
	on = is_on_behind(d, &a, &ip);
	behind = a;
	if (on) {
		/* Skip the FUP; there is one. */
		while (peek(d, &behind) &&
		    behind.packet.kind != HWTD_PK_PT_FUP)
			behind.at += behind.packet.bytes;
		behind.at += behind.packet.bytes;
		if (d->errata.apl12 && is_extra_fup(d, behind.at, &behind.lex))
			on = false;
	}
	if (on || behind.at != a.at) {
		tell_between(d, flow, &a, behind.at);
		hwtdi_ptn_anchor(d, flow, behind.at);
		tell_overflow(d, flow, behind.at, on ? &ip : NULL);
		d->on = on;
		hwtdi_ptn_go(d, on ? ip : 0);
		d->lex = behind.lex;
		d->at = behind.at;
		return (HWTD_OK);
	}
	state = look_behind(d, &behind, &tsx, &has_tsx);
	d->on = false;
	if (state == BEHIND_NOTHING) {
		/* If a PSB comes next, it tells. */
		tell_overflow(d, flow, a.at,
		    psb_at(d, behind.at, &psb) && psb.has_ip ? &psb.ip : NULL);
		d->lex = a.lex;
		d->at = a.at;
		d->fresh = true;
		return (HWTD_OK);
	}
	ip = behind.packet.ip;
	/* A FUP there is not the OVF's: it tells of something else. */
	if (behind.packet.kind != HWTD_PK_PT_FUP)
		behind.at += behind.packet.bytes;
	tell_between(d, flow, &a, behind.at);
	hwtdi_ptn_anchor(d, flow, behind.at);
	tell_overflow(d, flow, behind.at, state == BEHIND_ON ? &ip : NULL);
	d->lex = behind.lex;
	d->at = behind.at;
	if (state == BEHIND_OFF)
		return (HWTD_OK);
	d->on = true;
	hwtdi_ptn_go(d, ip);
	if (behind.packet.kind == HWTD_PK_PT_FUP) {
		d->weak = true;
		if (has_tsx)
			return (pend_transaction(d, tsx));
	}
	return (HWTD_OK);
}

/* Losing and entering. */

static void
forget_state(struct hwtdi_decoder *d)
{
	d->n_pending = 0;
	d->async = false;
	d->weak = false;
	d->in_fup = false;
	d->half = false;
	d->n_bits = 0;
	d->ahead = 0;
	d->has_detail = false;
	d->has_resume = false;
	d->wrote_cr3 = false;
	d->transaction = false;
	d->loop_at = SIZE_MAX;
	d->moments.until = UINT64_MAX;
	hwtdi_ptn_clear_calls(d);
	d->last_token = 0;
	d->has_last_ip = false;
}

/*
 * Find where decoding can go on: at a PSB or OVF, before a TIP.PGE or FUP,
 * behind a TIP or TIP.PGD.  *ip_out is where execution is then, if *on_out.
 */
struct resync {
	size_t end;
	bool on, fresh, weak;
	uint64_t ip;
	struct hwtdi_pt_lex_state lex;
	bool has_mode, has_pip, has_vmcs;
	struct hwtd_exec_context context;
	uint8_t isa;
};

static void
find_psb(const struct hwtdi_decoder *d, size_t at, struct resync *out)
{
	out->end = at < d->segment.n
	    ? hwtdi_pt_find_psb(d->segment.bytes, d->segment.n, at)
	    : d->segment.n;
	out->fresh = true;
	out->on = false;
}

/* An address at which to go on; where there is no code, there is no point. */
static bool
is_of_use(struct hwtdi_decoder *d, const struct resync *r,
    const struct hwtdi_pt_packet *p)
{
	if ((p->flags & HWTD_PKF_IP) == 0)
		return (false);
	return (r->has_pip || r->has_vmcs || hwtdi_ptn_has_code(d, p->ip));
}

static void
scan(struct hwtdi_decoder *d, struct resync *out)
{
	struct ahead a;

	memset(out, 0, sizeof(*out));
	out->context = d->context;
	look(d, &a, d->at);
	for (; a.at < d->segment.n; a.at += a.packet.bytes) {
		const struct hwtdi_pt_packet *p = &a.packet;
		const bool known = peek(d, &a);

		out->lex = a.lex;
		if (!known) {
			find_psb(d, a.at, out);
			return;
		}
		out->end = a.at;
		switch (p->kind) {
		case HWTD_PK_PT_PSB:
			out->fresh = true;
			return;
		case HWTD_PK_PT_OVF:
			return;
		case HWTD_PK_PT_TIP_PGE:
			if ((p->flags & HWTD_PKF_IP) == 0)
				break;
			return;
		case HWTD_PK_PT_TIP_PGD:
			out->end += p->bytes;
			return;
		case HWTD_PK_PT_FUP:
			if (!is_of_use(d, out, p))
				break;
			out->on = true;
			out->weak = true;
			out->ip = p->ip;
			return;
		case HWTD_PK_PT_TIP:
			if (!is_of_use(d, out, p))
				break;
			out->end += p->bytes;
			out->on = true;
			out->ip = p->ip;
			return;
		case HWTD_PK_PT_MODE_EXEC:
			out->has_mode = true;
			out->isa = hwtdi_ptn_isa(p->value);
			break;
		case HWTD_PK_PT_PIP:
			out->has_pip = true;
			out->context.cr3 = p->value;
			out->context.flags |= HWTD_CTXF_CR3;
			out->context.flags &= ~(uint32_t)HWTD_CTXF_GUEST;
			if ((p->flags & HWTD_PKF_NON_ROOT) != 0)
				out->context.flags |= HWTD_CTXF_GUEST;
			break;
		case HWTD_PK_PT_VMCS:
			out->has_vmcs = true;
			out->context.vmcs = p->value;
			out->context.flags |= HWTD_CTXF_VMCS;
			break;
		default:
			break;
		}
	}
	out->end = d->segment.n;
	out->fresh = d->at_joint;
	out->lex = a.lex;
}

static void
note_entry(struct hwtdi_decoder *d, bool at_psb)
{
	struct hwtdi_ptn_entry *e = &d->entry;

	e->at = d->at;
	e->at_psb = at_psb;
	e->on = d->on;
	e->ip = d->ip;
	e->isa = d->isa;
	e->lex = d->lex;
	e->context = d->context;
	e->moments = d->moments;
}

/* Tell a gap from `first` on, and go on as `r` says. */
static int
resume(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t reason,
    size_t first, const struct resync *r, const char *text)
{
	struct hwtd_gap *gap;

	if (!d->lost) {
		d->lost = true;
		d->lost_at = first;
		d->lost_reason = reason;
	}
	hwtdi_ptn_tell_detail(d, flow);
	gap = hwtdi_ptn_gap(d, flow, reason, first < r->end ? first : r->end,
	    r->end, text);
	if (r->on) {
		gap->ip_after = r->ip;
		gap->flags |= HWTD_GAPF_IP_AFTER;
	}
	if (r->fresh && r->end < d->segment.n) {
		struct hwtdi_pt_psb psb;

		(void)hwtdi_pt_read_psb(d->segment.bytes + r->end,
		    d->segment.n - r->end, &psb);
		if (psb.has_ip) {
			gap->ip_after = psb.ip;
			gap->flags |= HWTD_GAPF_IP_AFTER;
		}
	} else if (r->fresh && d->at_joint && d->next_psb.has_ip) {
		gap->ip_after = d->next_psb.ip;
		gap->flags |= HWTD_GAPF_IP_AFTER;
	}
	forget_state(d);
	d->at = r->end;
	d->lex = r->lex;
	d->lex.place = 0;
	d->on = r->on;
	hwtdi_ptn_go(d, r->ip);
	if (r->fresh) {
		d->synced = false;
		return (HWTD_END);
	}
	d->weak = r->weak;
	if (memcmp(&r->context, &d->context, sizeof(r->context)) != 0)
		hwtdi_ptn_context(d, flow, &r->context, 0, NULL);
	if (r->has_mode)
		hwtdi_ptn_mode(d, flow, r->isa, 0, NULL);
	hwtdi_ptn_anchor(d, flow, d->at);
	note_entry(d, false);
	return (HWTD_END);
}

int
hwtdi_ptn_lose(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason, const char *text)
{
	size_t first = d->at;
	struct resync r;

	if (d->n_bits != 0)
		first = (size_t)d->anchor_off - d->tnt_bytes;
	else if (d->async)
		first = d->async_at;

	scan(d, &r);
	return (resume(d, flow, reason, first, &r, text));
}

static int
lose_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t reason)
{
	struct resync r;

	memset(&r, 0, sizeof(r));
	find_psb(d, d->at + HWTDI_PT_PSB_BYTES, &r);
	return (resume(d, flow, reason, d->at, &r,
	    "PSB+ is cut off or damaged"));
}

/*
 * Without a PSB decoding can start at a TIP.PGE with a whole address, if all
 * packets before it tell of a CPU that does not trace yet.
 */
static bool
starts_without_psb(const struct hwtdi_decoder *d)
{
	struct ahead a;

	look(d, &a, d->at);
	for (; peek(d, &a); a.at += a.packet.bytes) {
		switch (a.packet.kind) {
		case HWTD_PK_PT_TIP_PGE:
			return ((a.packet.flags & HWTD_PKF_IP) != 0);
		case HWTD_PK_PT_MODE_EXEC:
		case HWTD_PK_PT_PIP:
		case HWTD_PK_PT_VMCS:
			break;
		default:
			if (!is_timing(a.packet.kind))
				return (false);
			break;
		}
	}
	return (false);
}

int
hwtdi_ptn_enter(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	struct hwtdi_pt_psb psb;
	struct hwtd_gap *gap;
	size_t at;

	(void)err;
	if (d->at >= d->segment.n) {
		d->done = true;
		return (HWTD_OK);
	}
	at = hwtdi_pt_find_psb(d->segment.bytes, d->segment.n, d->at);
	memset(&d->lex, 0, sizeof(d->lex));
	d->lex.classes = hwtdi_pt_classes;
	d->lex.skd007 = d->errata.skd007 ? HWTDI_PT_CYC_MORE : 0;
	if (at > d->at && d->at == 0 && starts_without_psb(d)) {
		at = d->at;
		d->fresh = false;
	} else
		d->fresh = true;
	if (at > d->at) {
		gap = hwtdi_ptn_gap(d, flow, HWTD_GAP_UNSYNCED, d->at, at,
		    "no PSB before these bytes");
		if (at < d->segment.n) {
			(void)hwtdi_pt_read_psb(d->segment.bytes + at,
			    d->segment.n - at, &psb);
			if (psb.has_ip) {
				gap->ip_after = psb.ip;
				gap->flags |= HWTD_GAPF_IP_AFTER;
			}
		}
	}
	d->at = at;
	if (at >= d->segment.n) {
		d->done = true;
		return (HWTD_OK);
	}
	forget_state(d);
	d->on = false;
	hwtdi_ptn_go(d, 0);
	d->n_chosen = d->trial ? d->n_chosen : 0;
	d->moments.space = HWTD_NO_ID;
	d->ratio = 0;
	d->has_iflag = false;
	d->synced = true;
	hwtdi_ptn_anchor(d, flow, at);
	/* What time it is, PSB+ will tell. */
	flow->anchors[flow->n_anchors - 1].flags = 0;
	hwtdi_ptn_context(d, flow, &d->base, HWTD_EVF_STATUS, NULL);
	hwtdi_ptn_forget_code(d);
	d->isa = d->fresh ? HWTD_ISA_UNKNOWN : HWTD_ISA_X86_64;
	note_entry(d, true);
	return (HWTD_OK);
}
