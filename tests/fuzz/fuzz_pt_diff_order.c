/*
 * Packets that no CPU writes in such an order, for the rules of the harness that
 * compares engines.
 */

#include "fuzz_pt_diff.h"

bool
diff_next_packet(const struct diff_pair *p, struct hwtdi_pt_lex_state *state,
    size_t *at, struct hwtdi_pt_packet *out)
{
	uint8_t bytes[4 * HWTDI_PT_PACKET_MAX];
	const size_t left = p->n - *at;

	if (left == 0)
		return (false);
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, p->packets + *at,
	    left < HWTDI_PT_PACKET_MAX ? left : HWTDI_PT_PACKET_MAX);
	if (!hwtdi_pt_lex(state, bytes, bytes + 1, out) || out->bytes > left)
		return (false);
	*at += out->bytes;
	return (true);
}

bool
diff_has_packets(const struct diff_pair *p, const struct fuzz_row *gap,
    uint64_t kinds)
{
	struct hwtdi_pt_lex_state state = { .classes = hwtdi_pt_classes };
	struct hwtdi_pt_packet packet;
	size_t at = 0;

	while (at < gap->detail.gap.end + NEAR &&
	    diff_next_packet(p, &state, &at, &packet))
		if (at + NEAR > gap->detail.gap.first &&
		    ((kinds >> packet.kind & 1) != 0 ||
			(packet.kind == HWTD_PK_PT_MODE_EXEC &&
			    (packet.value & 4) != 0 &&
			    (kinds & EVENT_TRACE) != 0)))
			return (true);
	return (false);
}

/* Packets that only tell what holds, or the time. */
#define STATUS                                                                \
	(KIND(HWTD_PK_PT_PAD) | KIND(HWTD_PK_PT_TSC) | KIND(HWTD_PK_PT_TMA) | \
	    KIND(HWTD_PK_PT_MTC) | KIND(HWTD_PK_PT_CYC) |                     \
	    KIND(HWTD_PK_PT_CBR) | KIND(HWTD_PK_PT_MODE_EXEC) |               \
	    KIND(HWTD_PK_PT_MODE_TSX) | KIND(HWTD_PK_PT_PIP) |                \
	    KIND(HWTD_PK_PT_VMCS) | KIND(HWTD_PK_PT_MNT))

/* What packets say of those that follow. */
struct order {
	/* In PSB+; behind a FUP, MWAIT or OVF; a FUP is due; tracing is off. */
	bool in_psb, fup, mwait, overflow, due, off;
	/* MODE.Exec packets of PSB+, or since the last branch. */
	unsigned int modes;
};

/*
 * A second PSB in PSB+; PSBEND, missing or alone; two FUPs; a FUP while
 * tracing is off; MODE.Exec twice, of no mode, or before MODE.TSX or TIP.PGD;
 * MWAIT without EXSTOP; a CBR of 0; a CYC of more than nine bytes; a TNT of
 * no outcomes; what says that a FUP follows, and a branch; a branch behind an
 * OVF.
 */
static bool
cannot_follow(const struct order *o, const struct hwtdi_pt_packet *k)
{
	const bool status = (STATUS >> k->kind & 1) != 0;

	switch (k->kind) {
	case HWTD_PK_PT_PSB:
		return (o->in_psb || o->mwait);
	case HWTD_PK_PT_PSBEND:
		return (!o->in_psb || o->mwait);
	case HWTD_PK_PT_CBR:
		return (k->value == 0);
	case HWTD_PK_PT_CYC:
		return (k->bytes > 9);
	case HWTD_PK_PT_MODE_EXEC:
		return (o->modes != 0 || (k->value & 3) == 3);
	case HWTD_PK_PT_MODE_TSX:
		return (o->modes != 0 && !o->in_psb);
	case HWTD_PK_PT_FUP:
		return (o->fup || o->mwait || (o->off && !o->in_psb));
	case HWTD_PK_PT_TIP_PGE:
		return (o->fup || o->in_psb || o->mwait || o->due);
	case HWTD_PK_PT_TIP_PGD:
		return (o->modes != 0 || o->in_psb || o->mwait || o->due ||
		    o->overflow);
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
		return ((k->kind != HWTD_PK_PT_TIP && k->count == 0) ||
		    o->in_psb || o->mwait || o->due || o->overflow);
	case HWTD_PK_PT_EXSTOP:
		return (o->in_psb);
	case HWTD_PK_PT_OVF:
		return (o->mwait);
	default:
		return (!status && (o->in_psb || o->mwait));
	}
}

/* Packets of which MODE.Exec can be. */
#define BRANCHES                                                              \
	(KIND(HWTD_PK_PT_TIP) | KIND(HWTD_PK_PT_TIP_PGE) |                    \
	    KIND(HWTD_PK_PT_TIP_PGD) | KIND(HWTD_PK_PT_TNT_8) |               \
	    KIND(HWTD_PK_PT_TNT_64) | KIND(HWTD_PK_PT_OVF) |                  \
	    KIND(HWTD_PK_PT_PSB) | KIND(HWTD_PK_PT_PSBEND))

static void
follow(struct order *o, const struct hwtdi_pt_packet *k)
{
	const bool status = (STATUS >> k->kind & 1) != 0;
	const bool own_fup = k->kind == HWTD_PK_PT_FUP && !o->due;

	if (k->kind == HWTD_PK_PT_FUP || k->kind == HWTD_PK_PT_OVF)
		o->due = false;
	else if ((k->flags & HWTD_PKF_FUP_FOLLOWS) != 0 ||
	    (k->kind == HWTD_PK_PT_MODE_TSX && !o->off && !o->in_psb))
		o->due = true;
	if (k->kind == HWTD_PK_PT_TIP_PGD || k->kind == HWTD_PK_PT_PSB)
		o->off = true;
	else if (k->kind == HWTD_PK_PT_TIP_PGE || k->kind == HWTD_PK_PT_FUP ||
	    k->kind == HWTD_PK_PT_OVF)
		o->off = false;
	if (k->kind == HWTD_PK_PT_PSB)
		o->in_psb = true;
	else if (k->kind == HWTD_PK_PT_PSBEND || k->kind == HWTD_PK_PT_OVF)
		o->in_psb = false;
	if (status) {
		o->modes += k->kind == HWTD_PK_PT_MODE_EXEC;
		return;
	}
	o->mwait = k->kind == HWTD_PK_PT_MWAIT;
	o->overflow = k->kind == HWTD_PK_PT_OVF;
	if ((BRANCHES >> k->kind & 1) != 0 || (own_fup && !o->in_psb))
		o->modes = 0;
	if (k->kind != HWTD_PK_PT_PSBEND)
		o->fup = k->kind == HWTD_PK_PT_FUP && !o->in_psb;
}

bool
diff_is_strange(const struct diff_pair *p, uint64_t off, uint64_t kinds)
{
	struct hwtdi_pt_lex_state state = { .classes = hwtdi_pt_classes };
	struct order order = { 0 };
	struct hwtdi_pt_packet k;
	size_t at = 0;

	while ((order.in_psb || at < off + NEAR) &&
	    diff_next_packet(p, &state, &at, &k)) {
		if (at + NEAR > off && (kinds >> k.kind & 1) != 0 &&
		    cannot_follow(&order, &k))
			return (true);
		follow(&order, &k);
	}
	return (false);
}

bool
diff_find_two(const struct diff_pair *p, uint64_t off, uint32_t first,
    size_t *from_inout, struct hwtdi_pt_packet out[2])
{
	const uint64_t passed = STATUS | KIND(HWTD_PK_PT_PSBEND) |
	    KIND(HWTD_PK_PT_PWRE) | KIND(HWTD_PK_PT_PWRX);
	struct hwtdi_pt_lex_state state = { .classes = hwtdi_pt_classes };
	struct hwtdi_pt_packet k;
	bool found = false;
	size_t at = 0;

	while (at < off + NEAR && diff_next_packet(p, &state, &at, &k)) {
		if (found && (passed >> k.kind & 1) == 0) {
			out[1] = k;
			return (true);
		}
		if (!found && k.kind == first && at > *from_inout &&
		    at + NEAR > off) {
			out[0] = k;
			*from_inout = at;
			found = true;
		}
	}
	return (false);
}
