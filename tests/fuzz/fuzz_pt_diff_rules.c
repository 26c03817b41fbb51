/*
 * The differences between engine native and engine libipt that are known, each
 * with the reason and which of them is right.
 */
#include <stdio.h>
#include <stdlib.h>

#include "decode/pt/pt_packet.h"
#include "decode/pt/pt_sync.h"
#include "fuzz_pt_diff.h"

#define MAX_CODE 1024

void
diff_parse(struct fuzz_in from, struct diff_input *out)
{
	static const uint8_t models[8] = { 0, 0x3d, 0x47, 0x4e, 0x5c, 0x6a,
		0x7d, 0x97 };
	size_t n_code, split, shift;
	uint8_t cpu, filter;
	uint64_t base;

	/* Choices, size of segments. */
	(void)fuzz_take(&from, 2);
	cpu = (uint8_t)fuzz_take(&from, 1);
	(void)fuzz_take(&from, 1);
	filter = (uint8_t)fuzz_take(&from, 1);
	(void)fuzz_take(&from, 2);
	split = (size_t)fuzz_take(&from, 1);
	base = fuzz_take(&from, 6);
	base = (uint64_t)((int64_t)(base << 16) >> 16);
	n_code = (size_t)fuzz_take(&from, 2);
	if (n_code > from.left)
		n_code = from.left;
	out->packets = from.at + n_code;
	out->n_packets = from.left - n_code;
	if (n_code > MAX_CODE)
		n_code = MAX_CODE;
	if (out->n_packets > MAX_PACKETS)
		out->n_packets = MAX_PACKETS;
	shift = (split & 0x80) != 0 ? 0 : 3;
	split &= 0x7f;
	if (split > n_code || split == 0)
		split = n_code;
	out->images[0] = (struct diff_image){ base, from.at, split };
	out->images[1] = (struct diff_image){ base + split + shift,
		from.at + split, n_code - split };
	out->n_images = split < n_code ? 2 : 1;
	out->pt.size = sizeof(out->pt);
	out->pt.cpu_model = models[cpu & 7];
	out->pt.cpu_family = out->pt.cpu_model != 0 ? 6 : 0;
	out->pt.filters[0].mode = (filter & 3) == 3 ? HWTD_PT_FILTER_OFF
						    : filter & 3;
	out->pt.filters[0].start = base;
	out->pt.filters[0].end = base + (uint64_t)(filter >> 2) * 4;
}

/* Two rows that differ, and what is before them. */
struct pair {
	const struct diff_input *in;
	const uint8_t *packets;
	size_t n;
	const struct fuzz_rows *native, *libipt;
	size_t i;
	/* NULL: no row is left. */
	const struct fuzz_row *a, *b;
};

/* What the rules ask for. */

#define KIND(k) ((uint64_t)1 << (k))
#define EVENT_TRACE (KIND(HWTD_PK_PT_CFE) | KIND(HWTD_PK_PT_EVD))
#define NEWER                                                                 \
	(EVENT_TRACE | KIND(HWTD_PK_PT_TRIG) | KIND(HWTD_PK_PT_BBP) |         \
	    KIND(HWTD_PK_PT_BIP) | KIND(HWTD_PK_PT_BEP))

/* Row `i` of those of one engine, or NULL. */
static const struct fuzz_row *
row_at(const struct fuzz_rows *rows, size_t i)
{
	return (i < rows->n ? &rows->at[i] : NULL);
}

static bool
is_kind(const struct fuzz_row *row, unsigned int kind)
{
	return (row != NULL && row->e.kind == kind);
}

static bool
ends_with(const struct fuzz_row *row, unsigned int branch)
{
	return (is_kind(row, HWTD_EV_BLOCK) && row->e.branch == branch);
}

static bool
is_gap(const struct fuzz_row *row, const char *text)
{
	return (is_kind(row, HWTD_EV_GAP) &&
	    strcmp(row->detail.gap.text, text) == 0);
}

/* The first gap from the row at hand on that is not an overflow, or NULL. */
static const struct fuzz_row *
first_gap(const struct pair *p, const struct fuzz_rows *rows)
{
	for (size_t i = p->i; i < rows->n; i++)
		if (rows->at[i].e.kind == HWTD_EV_GAP &&
		    rows->at[i].detail.gap.reason != HWTD_GAP_OVERFLOW)
			return (&rows->at[i]);
	return (NULL);
}

static bool
has_reason(const struct fuzz_row *gap, uint32_t reason)
{
	return (gap != NULL && gap->detail.gap.reason == reason);
}

/* libipt gives up here, or behind a block that it tells without its end. */
static bool
gives_up(const struct pair *p, const char *text)
{
	return (is_gap(p->b, text) ||
	    (p->a != NULL && is_kind(p->b, HWTD_EV_BLOCK) &&
		p->a->e.ip == p->b->e.ip &&
		is_gap(row_at(p->libipt, p->i + 1), text)));
}

/* Read the packet at *at and go on behind it; false: there is none. */
static bool
next_packet(const struct pair *p, struct hwtdi_pt_lex_state *state, size_t *at,
    struct hwtdi_pt_packet *out)
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

/* The piece has packets of some kinds (bits). */
static bool
has_packets(const struct pair *p, uint64_t kinds)
{
	struct hwtdi_pt_lex_state state = { .classes = hwtdi_pt_classes };
	struct hwtdi_pt_packet packet;
	size_t at = 0;

	while (next_packet(p, &state, &at, &packet))
		if ((kinds >> packet.kind & 1) != 0 ||
		    (packet.kind == HWTD_PK_PT_MODE_EXEC &&
			(packet.value & 4) != 0 && (kinds & EVENT_TRACE) != 0))
			return (true);
	return (false);
}

/* The rules. */

static bool
mwait_without_ip(const struct pair *p)
{
	return (is_kind(p->a, HWTD_EV_POWER) && is_kind(p->b, HWTD_EV_POWER) &&
	    p->a->detail.power.what == HWTD_POWER_MWAIT &&
	    (p->a->e.flags & HWTD_EVF_IP) == 0);
}

static bool
resumed_elsewhere(const struct pair *p)
{
	struct fuzz_row x;
	const struct fuzz_row *code = NULL;

	if (!is_kind(p->a, HWTD_EV_ENABLE) || !is_kind(p->b, HWTD_EV_ENABLE))
		return (false);
	x = *p->a;
	x.e.flags ^= HWTD_EVF_RESUMED;
	x.e.stream_off = p->b->e.stream_off;
	x.e.flags = (uint16_t)((x.e.flags &
				   ~(HWTD_EVF_TIME |
				       HWTD_EVF_TIME_ESTIMATED)) |
	    (p->b->e.flags & (HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED)));
	for (size_t i = 0; i < p->i; i++)
		if (is_kind(&p->native->at[i], HWTD_EV_BLOCK))
			code = &p->native->at[i];
	return (memcmp(&x, p->b, sizeof(x)) == 0 && code != NULL &&
	    (code->e.branch == HWTD_BRANCH_NONE ||
		code->e.branch == HWTD_BRANCH_JUMP ||
		code->e.branch == HWTD_BRANCH_CALL));
}

static bool
pops_nothing(const struct pair *p)
{
	bool before = false;

	for (size_t i = 0; i < p->i; i++)
		before = before ||
		    ends_with(&p->native->at[i], HWTD_BRANCH_RETURN);
	return (before && ends_with(p->a, HWTD_BRANCH_RETURN) &&
	    ends_with(p->b, HWTD_BRANCH_RETURN) && p->a->e.ip == p->b->e.ip);
}

static bool
deferred_return(const struct pair *p)
{
	return ((ends_with(p->a, HWTD_BRANCH_RETURN) ||
		    ends_with(row_at(p->native, p->i + 1),
			HWTD_BRANCH_RETURN)) &&
	    (gives_up(p, "compressed return without call") ||
		gives_up(p, "bad compressed return")));
}

static bool
event_inside(const struct pair *p)
{
	return (is_kind(row_at(p->native, p->i + 1), HWTD_EV_CONTEXT) &&
	    gives_up(p, "trace stream does not match query"));
}

static bool
newer_packets(const struct pair *p)
{
	return (first_gap(p, p->libipt) != NULL && has_packets(p, NEWER));
}

static bool
both_lost(const struct pair *p)
{
	return (is_kind(p->a, HWTD_EV_GAP) && is_kind(p->b, HWTD_EV_GAP) &&
	    !has_reason(p->a, HWTD_GAP_OVERFLOW) &&
	    !has_reason(p->b, HWTD_GAP_OVERFLOW));
}

/* Bytes between the places at which both give up, for one fault. */
#define NEAR 128

static bool
gives_up_near(const struct pair *p)
{
	const struct fuzz_row *a = first_gap(p, p->native);
	const struct fuzz_row *b = first_gap(p, p->libipt);

	return (a != NULL && b != NULL &&
	    a->detail.gap.first <= b->detail.gap.first + NEAR &&
	    b->detail.gap.first <= a->detail.gap.first + NEAR);
}

static bool
reads_ahead(const struct pair *p)
{
	const struct fuzz_row *gap = first_gap(p, p->native);

	return (has_reason(p->b, HWTD_GAP_BAD_PACKET) && gap != NULL);
}

/* Packets that only tell what holds, or the time. */
#define STATUS                                                                \
	(KIND(HWTD_PK_PT_PAD) | KIND(HWTD_PK_PT_TSC) | KIND(HWTD_PK_PT_TMA) | \
	    KIND(HWTD_PK_PT_MTC) | KIND(HWTD_PK_PT_CYC) |                     \
	    KIND(HWTD_PK_PT_CBR) | KIND(HWTD_PK_PT_MODE_EXEC) |               \
	    KIND(HWTD_PK_PT_MODE_TSX) | KIND(HWTD_PK_PT_PIP) |                \
	    KIND(HWTD_PK_PT_VMCS) | KIND(HWTD_PK_PT_MNT))

/*
 * A second PSB in PSB+; PSBEND, missing or alone; two FUPs; a FUP while
 * tracing is off; MODE.Exec twice in PSB+ or before TIP.PGD; MWAIT without EXSTOP; a
 * CBR of 0; a CYC of more than 64 bits.
 */
static bool
is_tolerant(const struct pair *p)
{
	struct hwtdi_pt_lex_state state = { .classes = hwtdi_pt_classes };
	const struct fuzz_row *gap = first_gap(p, p->libipt);
	bool in_psb = false, fup = false, mwait = false, off = false;
	unsigned int modes = 0;
	struct hwtdi_pt_packet k;
	size_t at = 0;

	while (gap != NULL && (in_psb || at < gap->detail.gap.end + NEAR) &&
	    next_packet(p, &state, &at, &k)) {
		if (k.kind == HWTD_PK_PT_TIP_PGD && modes != 0 && !in_psb)
			return (true);
		if (k.kind == HWTD_PK_PT_TIP_PGE && fup)
			return (true);
		if (k.kind == HWTD_PK_PT_FUP && off && !in_psb)
			return (true);
		if (k.kind == HWTD_PK_PT_TIP_PGD)
			off = true;
		else if (k.kind == HWTD_PK_PT_TIP_PGE ||
		    k.kind == HWTD_PK_PT_FUP || k.kind == HWTD_PK_PT_OVF)
			off = false;
		if ((STATUS >> k.kind & 1) == 0) {
			if (mwait && k.kind != HWTD_PK_PT_EXSTOP)
				return (true);
			mwait = k.kind == HWTD_PK_PT_MWAIT;
		}
		if ((k.kind == HWTD_PK_PT_CBR && k.value == 0) ||
		    (k.kind == HWTD_PK_PT_CYC && k.bytes > 10))
			return (true);
		if (k.kind == HWTD_PK_PT_PSB) {
			if (in_psb)
				return (true);
			in_psb = true;
			off = true;
			modes = 0;
		} else if (k.kind == HWTD_PK_PT_MODE_EXEC) {
			if (++modes > 1 && in_psb)
				return (true);
		} else if (k.kind == HWTD_PK_PT_PSBEND) {
			if (!in_psb)
				return (true);
			in_psb = false;
		} else if (k.kind == HWTD_PK_PT_OVF)
			in_psb = false;
		else if ((STATUS >> k.kind & 1) == 0 &&
		    (k.kind == HWTD_PK_PT_FUP ? fup : in_psb))
			return (true);
		if ((STATUS >> k.kind & 1) == 0 && !in_psb)
			modes = 0;
		if ((STATUS >> k.kind & 1) == 0)
			fup = k.kind == HWTD_PK_PT_FUP && !in_psb;
	}
	return (false);
}

static bool
engine_fails(const struct pair *p)
{
	return (has_reason(first_gap(p, p->libipt), HWTD_GAP_ENGINE));
}

static bool
last_ip_of_bdm70(const struct pair *p)
{
	struct hwtdi_pt_lex_state state = { .classes = hwtdi_pt_classes };
	struct hwtdi_pt_packet k = { .kind = HWTD_PK_PT_PSB };
	bool fup = false;
	size_t at = 0;

	if (!is_kind(p->a, HWTD_EV_ENABLE) || !is_kind(p->b, HWTD_EV_ENABLE))
		return (false);
	while (k.kind != HWTD_PK_PT_PSBEND && next_packet(p, &state, &at, &k))
		fup = fup || k.kind == HWTD_PK_PT_FUP;
	return (fup);
}

static bool
loops(const struct pair *p)
{
	return (has_reason(first_gap(p, p->native), HWTD_GAP_ENDLESS_LOOP) &&
	    first_gap(p, p->libipt) != NULL);
}

/* libipt tells no more code than a block without its end. */
static bool
is_over(const struct pair *p)
{
	if (p->b == NULL)
		return (true);
	for (size_t i = p->i + 1; i < p->libipt->n; i++)
		if (p->libipt->at[i].e.kind == HWTD_EV_BLOCK ||
		    p->libipt->at[i].e.kind == HWTD_EV_GAP)
			return (false);
	return (p->b->e.kind == HWTD_EV_BLOCK &&
	    (p->b->e.flags & HWTD_EVF_TARGET) == 0 &&
	    (p->a == NULL || p->a->e.kind != HWTD_EV_BLOCK ||
		p->a->e.ip == p->b->e.ip));
}

/* Bytes of the last packets, of which libipt may tell nothing. */
#define LAST 32

/* Native tells what the last bytes say, and the way to the next branch. */
static bool
runs_out(const struct pair *p)
{
	if (!is_over(p))
		return (false);
	for (size_t i = p->i; i < p->native->n; i++)
		if (p->native->at[i].e.stream_off + LAST < p->n)
			return (false);
	return (true);
}

static bool
mismatch_at_psb(const struct pair *p)
{
	const struct fuzz_row *gap = first_gap(p, p->native);

	return (has_reason(gap, HWTD_GAP_BAD_FLOW) &&
	    (gap == p->a || gap == row_at(p->native, p->i + 1)) &&
	    hwtdi_pt_find_psb(p->packets, p->n,
		(size_t)gap->detail.gap.first) == gap->detail.gap.first);
}

static bool
is_off(const struct pair *p)
{
	return (is_gap(p->a, "TIP.PGD while tracing is off") ||
	    is_gap(p->a, "TIP while tracing is off"));
}

static bool
waits_at_psb(const struct pair *p)
{
	return (is_gap(p->a, "PSB between packets that belong together"));
}

static bool
loses_block(const struct pair *p)
{
	const struct fuzz_row *a = row_at(p->native, p->i + 1);
	const struct fuzz_row *b = row_at(p->libipt, p->i + 1);

	return (is_kind(p->a, HWTD_EV_BLOCK) && is_kind(p->b, HWTD_EV_BLOCK) &&
	    p->a->e.ip == p->b->e.ip && p->a->e.insns == p->b->e.insns &&
	    is_kind(a, HWTD_EV_MARKER) && is_kind(b, HWTD_EV_MARKER) &&
	    a->detail.marker.source == HWTD_MARKER_MNT);
}

static bool
at_0_behind_overflow(const struct pair *p)
{
	const struct fuzz_row *gap = first_gap(p, p->libipt);
	bool overflow = false;

	for (size_t i = 0; i < p->i; i++)
		overflow = overflow ||
		    has_reason(&p->libipt->at[i], HWTD_GAP_OVERFLOW);
	for (size_t i = p->i; i < p->libipt->n && &p->libipt->at[i] != gap;
	     i++)
		if (p->libipt->at[i].e.kind == HWTD_EV_BLOCK)
			return (false);
	return (overflow && gap != NULL && has_reason(gap, HWTD_GAP_NO_CODE) &&
	    gap->detail.gap.addr == 0);
}

static bool
is_16_bit(const struct pair *p)
{
	return (is_kind(p->a, HWTD_EV_BLOCK) && is_kind(p->b, HWTD_EV_BLOCK) &&
	    (p->a->e.flags & HWTD_EVF_ISA_MASK) >> HWTD_EVF_ISA_SHIFT ==
		HWTD_ISA_X86_16 &&
	    p->a->e.ip == p->b->e.ip &&
	    (uint16_t)p->a->e.target == (uint16_t)p->b->e.target);
}

/* 0f ff, which has a ModRM byte: Intel SDM vol. 2, "UD - Undefined". */
static bool
is_ud0(const struct pair *p)
{
	const struct fuzz_row *gap = first_gap(p, p->libipt);

	if (!has_reason(gap, HWTD_GAP_BAD_CODE) &&
	    !has_reason(gap, HWTD_GAP_NO_CODE))
		return (false);
	for (size_t i = 0; i < p->in->n_images; i++) {
		const struct diff_image *im = &p->in->images[i];

		for (size_t at = 0; at + 1 < im->n; at++)
			if (im->bytes[at] == 0x0f && im->bytes[at + 1] == 0xff)
				return (true);
	}
	return (false);
}

struct rule {
	const char *why;
	bool (*holds)(const struct pair *p);
};

static const struct rule rules[] = {
	/* Native is right: Intel SDM vol. 3C, or the report. */
	{ "libipt keeps a MWAIT whose EXSTOP has no address for the next FUP",
	    mwait_without_ip },
	{ "libipt lets tracing go on at MOV CR3, or at a call out of a filter",
	    resumed_elsewhere },
	{ "libipt keeps the call of a return that is not compressed",
	    pops_nothing },
	/* https://github.com/intel/libipt/issues/118 */
	{ "libipt has no deferred TIP of a return", deferred_return },
	{ "libipt has no other event between a PIP and its TIP",
	    event_inside },
	{ "libipt 2.0 has no event trace, no triggers and no PEBS blocks",
	    newer_packets },
	{ "libipt lets a FUP and a TIP pass while tracing is off", is_off },
	{ "libipt carries what waits for an address over a PSB",
	    waits_at_psb },
	{ "libipt does not tell the branch between an MNT and its TIP",
	    loses_block },
	{ "libipt goes on at address 0 behind an OVF (SKD010)",
	    at_0_behind_overflow },
	{ "libipt does not compare the address of PSB+ with where it is",
	    mismatch_at_psb },
	{ "libipt has room for a few events only", engine_fails },
	{ "libipt takes UD0 for two bytes", is_ud0 },
	{ "libipt does not tell all of the last bytes", runs_out },
	/* Libipt is right: the addresses hold the base of CS. */
	{ "native cuts branches of 16-bit code off", is_16_bit },
	/* Nobody says. */
	{ "libipt does not take the FUP of BDM70 for the last address",
	    last_ip_of_bdm70 },
	/* The trace is wrong, and what is told of that differs. */
	{ "which of several faults it is", both_lost },
	{ "how much is told before one fault", gives_up_near },
	{ "libipt reads ahead, and loses what is before a packet it refuses",
	    reads_ahead },
	{ "native goes on at packets that cannot follow each other",
	    is_tolerant },
	{ "how much of an endless loop is told", loops },
	{ NULL, NULL },
};

static bool
same_gap(const struct fuzz_row *a, const struct fuzz_row *b)
{
	return (a->detail.gap.reason == b->detail.gap.reason &&
	    a->detail.gap.addr == b->detail.gap.addr);
}

static bool
same_row(const struct fuzz_row *a, const struct fuzz_row *b)
{
	const uint16_t not_compared = HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED;
	struct fuzz_row x = *a, y = *b;

	if (a->e.kind == HWTD_EV_GAP && b->e.kind == HWTD_EV_GAP)
		return (same_gap(a, b));
	x.e.flags &= (uint16_t)~not_compared;
	y.e.flags &= (uint16_t)~not_compared;
	x.e.stream_off = 0;
	y.e.stream_off = 0;
	return (memcmp(&x, &y, sizeof(x)) == 0);
}

static const char *
known(const struct pair *p)
{
	for (size_t i = 0; rules[i].why != NULL; i++)
		if (rules[i].holds(p))
			return (rules[i].why);
	return (NULL);
}

static void
tell(const struct pair *p)
{
	const size_t first = p->i > 6 ? p->i - 6 : 0;

	for (size_t i = first; i < p->i; i++)
		fuzz_row_print("both", &p->native->at[i]);
	(void)fprintf(stderr, "from byte %zu\n",
	    (size_t)(p->packets - p->in->packets));
	if (p->a != NULL)
		fuzz_row_print("native", p->a);
	if (p->b != NULL)
		fuzz_row_print("libipt", p->b);
	if (first_gap(p, p->native) != NULL)
		fuzz_row_print("lost native", first_gap(p, p->native));
	if (first_gap(p, p->libipt) != NULL)
		fuzz_row_print("lost libipt", first_gap(p, p->libipt));
	for (size_t i = p->i + 1; i < p->i + 3; i++) {
		if (i < p->native->n)
			fuzz_row_print("then native", &p->native->at[i]);
		if (i < p->libipt->n)
			fuzz_row_print("then libipt", &p->libipt->at[i]);
	}
}

/* If `b` goes on where `a` was cut, which is no branch, make `a` both. */
static bool
join(struct fuzz_row *a, const struct fuzz_row *b)
{
	const uint16_t open = HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED |
	    HWTD_EVF_TARGET | HWTD_EVF_TAKEN;
	const struct hwtd_event x = a->e;

	if (x.kind != HWTD_EV_BLOCK || b->e.kind != HWTD_EV_BLOCK ||
	    x.branch != HWTD_BRANCH_NONE || x.ip + x.bytes != b->e.ip ||
	    (x.flags & HWTD_EVF_TARGET) == 0 || x.target != b->e.ip ||
	    ((x.flags ^ b->e.flags) & ~open) != 0 ||
	    x.context != b->e.context || x.section != b->e.section)
		return (false);
	a->e = b->e;
	a->e.ip = x.ip;
	a->e.insns += x.insns;
	a->e.bytes += x.bytes;
	return (true);
}

/*
 * Rows that restate what holds come in another order, and libipt tells them
 * before the code that leads to the PSB.  Of a packet that comes twice in PSB+
 * it tells both.  So neither they count nor that they cut a block.
 */
static void
drop_status(struct fuzz_rows *rows)
{
	bool dropped = false;
	size_t kept = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct fuzz_row *row = &rows->at[i];

		if ((row->e.flags & HWTD_EVF_STATUS) != 0) {
			dropped = true;
			continue;
		}
		if (!dropped || kept == 0 || !join(&rows->at[kept - 1], row))
			rows->at[kept++] = *row;
		dropped = false;
	}
	rows->n = kept;
}

size_t
diff_rows(const struct diff_input *in, const uint8_t *packets, size_t n,
    struct fuzz_rows *native, struct fuzz_rows *libipt)
{
	struct pair p = { .in = in,
		.packets = packets,
		.n = n,
		.native = native,
		.libipt = libipt };

	drop_status(native);
	drop_status(libipt);
	for (;; p.i++) {
		p.a = p.i < native->n ? &native->at[p.i] : NULL;
		p.b = p.i < libipt->n ? &libipt->at[p.i] : NULL;
		if (p.a == NULL && p.b == NULL)
			return (SIZE_MAX);
		if ((p.a == NULL && native->cut) ||
		    (p.b == NULL && libipt->cut))
			return (SIZE_MAX);
		if (p.a == NULL || p.b == NULL || !same_row(p.a, p.b))
			break;
		if (p.a->e.kind == HWTD_EV_GAP &&
		    p.a->detail.gap.reason != HWTD_GAP_OVERFLOW)
			return ((size_t)p.a->detail.gap.first);
	}
	if (known(&p) == NULL) {
		tell(&p);
		fuzz_fail(__FILE__, __LINE__,
		    "row %zu: a difference that is not known", p.i);
	}
	return ((size_t)(p.a != NULL ? p.a->e.stream_off : p.b->e.stream_off));
}
