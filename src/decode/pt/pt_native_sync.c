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

void
hwtdi_ptn_look(const struct hwtdi_decoder *d, struct hwtdi_ptn_ahead *a,
    size_t at)
{
	a->lex = d->lex;
	a->at = at;
}

/* What erratum SKZ84 leaves: TMA, and a byte behind it. */
#define CORRUPT_TMA_BYTES 8u

/*
 * Erratum SKZ84: reserved bits of the TMA at `at` are set, so that it was not
 * read.  Bytes that are lost otherwise do not go on with a packet.
 */
static bool
is_corrupt_tma(const struct hwtdi_decoder *d,
    const struct hwtdi_pt_lex_state *lex, size_t at)
{
	const uint8_t *const p = hwtdi_ptn_bytes(d, at);
	const size_t left = d->segment.n - at;
	size_t end = at + CORRUPT_TMA_BYTES + HWTDI_PT_PSB_BYTES - 1;
	struct hwtdi_pt_lex_state state = *lex;
	struct hwtdi_pt_packet next;

	if (left < CORRUPT_TMA_BYTES || p[0] != 0x02 || p[1] != 0x73)
		return (false);
	/* A PSB is none of them. */
	if (end > d->segment.n)
		end = d->segment.n;
	if (hwtdi_pt_find_psb(d->segment.bytes, end, at) <
	    at + CORRUPT_TMA_BYTES)
		return (false);
	if (left == CORRUPT_TMA_BYTES)
		return (true);
	at += CORRUPT_TMA_BYTES;
	return (hwtdi_pt_lex(&state, hwtdi_ptn_bytes(d, at),
		    hwtdi_ptn_bytes(d, at) + 1, &next) &&
	    next.bytes <= left - CORRUPT_TMA_BYTES);
}

bool
hwtdi_ptn_lex(const struct hwtdi_decoder *d, struct hwtdi_pt_lex_state *lex,
    size_t at, size_t run, struct hwtdi_pt_packet *out)
{
	const uint8_t *const p = hwtdi_ptn_bytes(d, at);

	if (hwtdi_pt_lex(lex, p, p + run, out))
		return (true);
	if (!is_corrupt_tma(d, lex, at))
		return (false);
	hwtdi_pt_put(out, HWTD_PK_UNKNOWN, CORRUPT_TMA_BYTES, 0, 0);
	return (true);
}

/* The packet at a->at; false: none, or its end is missing. */
bool
hwtdi_ptn_peek(const struct hwtdi_decoder *d, struct hwtdi_ptn_ahead *a)
{
	const size_t left = d->segment.n - a->at;

	if (a->at >= d->segment.n)
		return (false);
	/* Padding is read up to where bytes are read from elsewhere. */
	return (hwtdi_ptn_lex(d, &a->lex, a->at,
		    a->at < d->edge_at ? d->edge_at - a->at : left,
		    &a->packet) &&
	    a->packet.bytes <= left);
}

bool
hwtdi_ptn_is_timing(unsigned int kind)
{
	switch (kind) {
	case HWTD_PK_PT_PAD:
	case HWTD_PK_PT_TSC:
	case HWTD_PK_PT_TMA:
	case HWTD_PK_PT_MTC:
	case HWTD_PK_PT_CYC:
	case HWTD_PK_PT_CBR:
	case HWTD_PK_UNKNOWN:
		return (true);
	default:
		return (false);
	}
}

/* The PSB at `at`, maybe that of the next segment. */
bool
hwtdi_ptn_psb_at(const struct hwtdi_decoder *d, size_t at,
    struct hwtdi_pt_psb *out)
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
	d->passed_at = SIZE_MAX;
	d->choice.moments.until = UINT64_MAX;
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
	struct hwtdi_ptn_ahead a;

	memset(out, 0, sizeof(*out));
	out->context = d->context;
	hwtdi_ptn_look(d, &a, d->at);
	for (; a.at < d->segment.n; a.at += a.packet.bytes) {
		const struct hwtdi_pt_packet *p = &a.packet;
		const bool known = hwtdi_ptn_peek(d, &a);

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
	e->moments = d->choice.moments;
}

/* Tell a gap from `first` on, and go on as `r` says. */
static int
resume(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t reason,
    size_t first, const struct resync *r, const char *text)
{
	struct hwtd_gap *gap;

	hwtdi_pt_choice_lost(&d->choice, first, reason);
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
	d->fresh = false;
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

int
hwtdi_ptn_lose_psb(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason)
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
	struct hwtdi_ptn_ahead a;

	hwtdi_ptn_look(d, &a, d->at);
	for (; hwtdi_ptn_peek(d, &a); a.at += a.packet.bytes) {
		switch (a.packet.kind) {
		case HWTD_PK_PT_TIP_PGE:
			return ((a.packet.flags & HWTD_PKF_IP) != 0);
		case HWTD_PK_PT_MODE_EXEC:
		case HWTD_PK_PT_PIP:
		case HWTD_PK_PT_VMCS:
			break;
		default:
			if (!hwtdi_ptn_is_timing(a.packet.kind))
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
	hwtdi_pt_choice_begin(&d->choice);
	d->ratio = 0;
	d->has_iflag = false;
	d->synced = true;
	/* What time it is, PSB+ will tell; rows before it keep theirs. */
	d->anchored = false;
	hwtdi_ptn_anchor(d, flow, at);
	flow->anchors[flow->n_anchors - 1].flags = 0;
	hwtdi_ptn_context(d, flow, &d->base, HWTD_EVF_STATUS, NULL);
	hwtdi_ptn_forget_code(d);
	d->isa = d->fresh ? HWTD_ISA_UNKNOWN : HWTD_ISA_X86_64;
	note_entry(d, true);
	return (HWTD_OK);
}
