/*
 * The differences between engine native and engine libipt that are known, each
 * with the reason and which of them is right.
 */

#include "decode/pt/pt_sync.h"
#include <string.h>

#include "fuzz_pt_diff_rules.h"

/* What the rules ask for. */

#define NEWER                                                                 \
	(EVENT_TRACE | KIND(HWTD_PK_PT_TRIG) | KIND(HWTD_PK_PT_BBP) |         \
	    KIND(HWTD_PK_PT_BIP) | KIND(HWTD_PK_PT_BEP))

/* The rules. */

static bool
mwait_without_ip(const struct diff_pair *p)
{
	return (is_kind(p->a, HWTD_EV_POWER) && is_kind(p->b, HWTD_EV_POWER) &&
	    p->a->detail.power.what == HWTD_POWER_MWAIT &&
	    (p->a->e.flags & HWTD_EVF_IP) == 0);
}

static bool
resumed_elsewhere(const struct diff_pair *p)
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
	if (memcmp(&x, p->b, sizeof(x)) != 0)
		return (false);
	/* Where there was none yet, libipt compares with address 0. */
	if (code == NULL)
		return (p->a->e.ip == 0);
	return (code->e.branch == HWTD_BRANCH_NONE ||
	    code->e.branch == HWTD_BRANCH_JUMP ||
	    code->e.branch == HWTD_BRANCH_CALL);
}

/* What the hardware remembers of calls. */
struct calls {
	uint64_t ips[64];
	size_t n;
};

/* Intel SDM vol. 3C, "Indirect Transfer Compression for Returns (RET)". */
static void
pass_calls(struct calls *calls, const struct hwtd_event *e)
{
	const uint64_t behind = e->ip + e->bytes;

	if (e->kind == HWTD_EV_GAP)
		calls->n = 0;
	if (e->kind != HWTD_EV_BLOCK)
		return;
	if (e->branch == HWTD_BRANCH_RETURN && calls->n > 0)
		calls->n--;
	if ((e->branch != HWTD_BRANCH_CALL || e->target == behind) &&
	    e->branch != HWTD_BRANCH_INDIRECT_CALL)
		return;
	if (calls->n == 64)
		memmove(calls->ips, calls->ips + 1,
		    --calls->n * sizeof(calls->ips[0]));
	calls->ips[calls->n++] = behind;
}

/* Those of the rows before the row at hand; PSB and OVF forget them. */
static void
find_calls(const struct diff_pair *p, struct calls *out)
{
	size_t psb = HWTDI_PT_PSB_BYTES;

	out->n = 0;
	psb = hwtdi_pt_find_psb(p->packets, p->n, psb);
	for (size_t i = 0; i <= p->i && i < p->native->n; i++) {
		const struct hwtd_event *e = &p->native->at[i].e;

		for (; psb < e->stream_off;
		     psb = hwtdi_pt_find_psb(p->packets, p->n,
			 psb + HWTDI_PT_PSB_BYTES))
			out->n = 0;
		if (i < p->i)
			pass_calls(out, e);
	}
}

/* Where the hardware would go libipt does not. */
static bool
pops_nothing(const struct diff_pair *p)
{
	struct calls calls;
	size_t next = p->i + 1;
	uint64_t to;

	if (!ends_with(p->a, HWTD_BRANCH_RETURN) ||
	    !ends_with(p->b, HWTD_BRANCH_RETURN) || p->a->e.ip != p->b->e.ip)
		return (false);
	/* A CBR can stand before the packet that does not fit. */
	while (is_kind(row_at(p->native, next), HWTD_EV_FREQUENCY))
		next++;
	find_calls(p, &calls);
	if (calls.n == 0)
		return (false);
	to = calls.ips[calls.n - 1];
	if ((p->a->e.flags & HWTD_EVF_ISA_MASK) !=
	    HWTD_ISA_X86_64 << HWTD_EVF_ISA_SHIFT)
		to = (uint32_t)to;
	return (p->b->e.target != to &&
	    (p->a->e.target == to ||
		((p->a->e.flags & HWTD_EVF_TARGET) == 0 &&
		    is_kind(row_at(p->native, next), HWTD_EV_GAP))));
}

/* Execution is at `ip`: a row says so, or the PSB behind the outcomes. */
static bool
is_told(const struct diff_pair *p, uint64_t ip)
{
	const size_t off = (size_t)p->b->detail.gap.first;
	struct hwtdi_pt_psb psb;

	if (p->a != NULL && p->a->e.kind != HWTD_EV_GAP &&
	    (p->a->e.flags & HWTD_EVF_IP) != 0)
		return (p->a->e.ip == ip);
	return (hwtdi_pt_find_psb(p->packets, p->n, off) == off &&
	    hwtdi_pt_read_psb(p->packets + off, p->n - off, &psb) &&
	    psb.has_ip && psb.ip == ip);
}

/*
 * The same, where an event or a PSB is at the place to which the hardware
 * returns.  Where libipt goes it does not tell, and does not come to them.
 */
static bool
pops_nothing_before(const struct diff_pair *p)
{
	struct diff_pair at = *p;
	struct calls calls;

	if (p->i == 0 || !is_gap(p->b, "trace stream does not match query"))
		return (false);
	at.i--;
	if (!ends_with(row_at(p->native, at.i), HWTD_BRANCH_RETURN))
		return (false);
	find_calls(&at, &calls);
	return (calls.n != 0 && is_told(p, calls.ips[calls.n - 1]));
}

/* Rows that the outcomes of one packet make, at the most about. */
#define OUTCOMES 64

/* The return goes to the last call, where another return is. */
static bool
returns_on(const struct diff_pair *p, const struct calls *calls)
{
	const struct fuzz_row *next = row_at(p->libipt, p->i + 1);

	return (calls->n == 1 && ends_with(p->a, HWTD_BRANCH_RETURN) &&
	    p->a->e.ip == p->b->e.ip && p->b->e.target == calls->ips[0] &&
	    ends_with(next, HWTD_BRANCH_RETURN) && next->e.insns == 1);
}

/*
 * Without a call native finds none, too, or takes the TIP behind the outcomes;
 * if the address is the same by chance they differ behind the return, in the
 * same packet.
 */
static bool
call_is_gone(const struct diff_pair *p)
{
	const char *const text = "a compressed return without a call";
	struct diff_pair at = *p;
	struct calls calls;

	if (ends_with(p->b, HWTD_BRANCH_RETURN) &&
	    (is_gap(p->a, text) ||
		is_gap(row_at(p->native, p->i + 1), text))) {
		find_calls(p, &calls);
		return (calls.n == 0 || returns_on(p, &calls));
	}
	while (p->a != NULL && at.i < p->native->n && p->i - at.i < OUTCOMES &&
	    p->native->at[at.i].e.stream_off == p->a->e.stream_off) {
		if (!ends_with(row_at(p->native, at.i), HWTD_BRANCH_RETURN) ||
		    !ends_with(row_at(p->libipt, at.i), HWTD_BRANCH_RETURN))
			calls.n = 1;
		else
			find_calls(&at, &calls);
		if (calls.n == 0)
			return (true);
		if (at.i-- == 0)
			break;
	}
	return (false);
}

static bool
deferred_return(const struct diff_pair *p)
{
	return ((ends_with(p->a, HWTD_BRANCH_RETURN) ||
		    ends_with(row_at(p->native, p->i + 1),
			HWTD_BRANCH_RETURN)) &&
	    (gives_up(p, "compressed return without call") ||
		gives_up(p, "bad compressed return")));
}

static bool
event_inside(const struct diff_pair *p)
{
	return ((is_kind(p->a, HWTD_EV_CONTEXT) ||
		    is_kind(row_at(p->native, p->i + 1), HWTD_EV_CONTEXT)) &&
	    gives_up(p, "trace stream does not match query"));
}

static bool
newer_packets(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->libipt);

	return ((is_kind(p->a, HWTD_EV_MODE) &&
		    (p->a->e.value & HWTD_MODE_HAS_INTERRUPTS) != 0) ||
	    (is_at(p, gap) && diff_has_packets(p, gap, NEWER)));
}

static bool
engine_fails(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->libipt);

	return (has_reason(gap, HWTD_GAP_ENGINE) && is_at(p, gap));
}

static bool
last_ip_of_bdm70(const struct diff_pair *p)
{
	struct hwtdi_pt_lex_state state = { .classes = hwtdi_pt_classes };
	struct hwtdi_pt_packet k = { .kind = HWTD_PK_PT_PSB };
	bool fup = false;
	size_t at = 0;

	if (!is_kind(p->a, HWTD_EV_ENABLE) || !is_kind(p->b, HWTD_EV_ENABLE) ||
	    (uint16_t)p->a->e.ip != (uint16_t)p->b->e.ip)
		return (false);
	while (k.kind != HWTD_PK_PT_PSBEND &&
	    diff_next_packet(p, &state, &at, &k))
		fup = fup || k.kind == HWTD_PK_PT_FUP;
	return (fup);
}

/* libipt tells no more code than a block without its end. */
static bool
is_over(const struct diff_pair *p)
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
runs_out(const struct diff_pair *p)
{
	const struct fuzz_row *last = row_at(p->native, p->native->n - 1);
	size_t end = p->n;

	if (!is_over(p))
		return (false);
	/* A PSB+ that is cut off counts as the end. */
	if (is_kind(last, HWTD_EV_GAP) && has_reason(last, HWTD_GAP_TRUNCATED))
		end = (size_t)last->detail.gap.first;
	for (size_t i = p->i; i < p->native->n; i++)
		if (p->native->at[i].e.stream_off + LAST < end)
			return (false);
	return (true);
}

/* A TMA with reserved bits, on a CPU that is not known to have erratum SKZ84. */
static bool
corrupt_tma(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->libipt);
	size_t at;

	if (!is_at(p, gap) || !has_reason(gap, HWTD_GAP_BAD_PACKET))
		return (false);
	at = (size_t)gap->detail.gap.first;
	for (size_t end = at + NEAR; at < end && at + 8 <= p->n; at++)
		if (p->packets[at] == 0x02 && p->packets[at + 1] == 0x73 &&
		    (p->packets[at + 4] != 0 || p->packets[at + 6] > 1))
			return (true);
	return (false);
}

static bool
loses_block(const struct diff_pair *p)
{
	const struct fuzz_row *a = row_at(p->native, p->i + 1);
	const struct fuzz_row *b = row_at(p->libipt, p->i + 1);

	return (is_kind(p->a, HWTD_EV_BLOCK) && is_kind(p->b, HWTD_EV_BLOCK) &&
	    p->a->e.ip == p->b->e.ip && p->a->e.insns == p->b->e.insns &&
	    is_kind(a, HWTD_EV_MARKER) && is_kind(b, HWTD_EV_MARKER) &&
	    a->detail.marker.source == HWTD_MARKER_MNT);
}

/* PIP, the MNT, and TIP.PGD, all of one MOV CR3. */
static bool
loses_disable(const struct diff_pair *p)
{
	const struct fuzz_row *at;
	size_t i = p->i + 1;

	if (!ends_with(p->a, HWTD_BRANCH_NONE) ||
	    !ends_with(p->b, HWTD_BRANCH_NONE) || p->a->e.ip != p->b->e.ip ||
	    p->a->e.insns != p->b->e.insns ||
	    !is_kind(row_at(p->native, i++), HWTD_EV_CONTEXT))
		return (false);
	while (at = row_at(p->native, i),
	    is_kind(at, HWTD_EV_MARKER) &&
		at->detail.marker.source == HWTD_MARKER_MNT)
		i++;
	return (i > p->i + 2 && is_kind(at, HWTD_EV_DISABLE) &&
	    (at->e.flags & HWTD_EVF_ASYNC) == 0);
}

/*
 * Rows between an OVF and where tracing goes on, of which native tells the gap;
 * libipt tells it at the OVF, and not all of them if the FUP is lost (SKD010).
 */
static bool
before_overflow(const struct diff_pair *p)
{
	const uint64_t kinds = KIND(HWTD_EV_MARKER) | KIND(HWTD_EV_POWER) |
	    KIND(HWTD_EV_MODE) | KIND(HWTD_EV_CONTEXT) |
	    KIND(HWTD_EV_FREQUENCY);
	const struct fuzz_row *at;
	size_t i = p->i;

	while (at = row_at(p->native, i),
	    at != NULL && (kinds >> at->e.kind & 1) != 0)
		i++;
	return (i > p->i && has_reason(p->b, HWTD_GAP_OVERFLOW) &&
	    is_kind(at, HWTD_EV_GAP) && has_reason(at, HWTD_GAP_OVERFLOW));
}

/*
 * MODE.Exec and TIP of a far transfer, to itself or back to where execution is
 * already, or is going to be before it: there libipt takes the mode for what
 * holds before the transfer.
 */
static bool
mode_of_itself(const struct diff_pair *p)
{
	const struct fuzz_row *far = p->a, *early = p->b, *mode;
	size_t i = p->i;

	if (!is_kind(p->a, HWTD_EV_BLOCK) || p->b == NULL ||
	    p->a->e.ip != p->b->e.ip)
		return (false);
	/* The block is cut off there. */
	if (ends_with(p->b, HWTD_BRANCH_NONE))
		early = row_at(p->libipt, p->i + 1);
	if (!is_kind(early, HWTD_EV_MODE) ||
	    (early != p->b && early->e.ip != p->b->e.target))
		return (false);
	while (ends_with(far, HWTD_BRANCH_JUMP) ||
	    ends_with(far, HWTD_BRANCH_CALL))
		far = row_at(p->native, ++i);
	mode = row_at(p->native, i + 1);
	return (is_kind(far, HWTD_EV_BLOCK) &&
	    far->e.branch >= HWTD_BRANCH_FAR_CALL &&
	    far->e.target == early->e.ip && is_kind(mode, HWTD_EV_MODE) &&
	    mode->e.flags == early->e.flags && mode->e.ip == early->e.ip);
}

/* A MODE.TSX and its FUP behind an OVF, for which libipt takes the FUP. */
static bool
mode_behind_overflow(const struct diff_pair *p)
{
	struct fuzz_row x;

	if (!is_kind(p->a, HWTD_EV_MODE) || !is_kind(p->b, HWTD_EV_MODE) ||
	    p->i == 0 || !is_kind(&p->native->at[p->i - 1], HWTD_EV_GAP) ||
	    (p->a->e.value & HWTD_MODE_IS_TRANSACTION) == 0)
		return (false);
	x = *p->a;
	x.e.ip = 0;
	x.e.flags &= (uint16_t)~HWTD_EVF_IP;
	return (x.e.flags == p->b->e.flags && x.e.value == p->b->e.value &&
	    x.e.ip == p->b->e.ip);
}

static bool
at_0_behind_overflow(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->libipt);
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

/* The row is of an overflow, and it says where tracing is on behind it. */
static bool
is_overflow(const struct fuzz_row *row, bool on)
{
	return (is_kind(row, HWTD_EV_GAP) &&
	    has_reason(row, HWTD_GAP_OVERFLOW) &&
	    on == ((row->detail.gap.flags & HWTD_GAPF_IP_AFTER) != 0));
}

/*
 * Behind an OVF without FUP tracing is on where the next PSB+ says so, or, of
 * SKD010, the next address; libipt knows that of the CPUs of the erratum only.
 */
static bool
off_behind_overflow(const struct diff_pair *p)
{
	size_t i = p->i;

	while (i > 0 && diff_is_aside(&p->native->at[i - 1]))
		i--;
	return (i > 0 && !is_kind(p->b, HWTD_EV_BLOCK) &&
	    is_overflow(&p->native->at[i - 1], true) &&
	    is_overflow(&p->libipt->at[i - 1], false));
}

/* Rows of a MOV CR3 that stops tracing. */
#define STOPS 4

/* A TraceStop behind a TIP.PGE, or with one for its TIP.PGD. */
static bool
stops_while_on(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->libipt);

	for (size_t i = p->i; is_at(p, gap) && i < p->i + STOPS; i++) {
		const struct fuzz_row *row = row_at(p->native, i);

		if (is_kind(row, HWTD_EV_DISABLE) &&
		    (row->e.flags & HWTD_EVF_STOPPED) != 0)
			return ((row->e.flags & HWTD_EVF_TARGET) != 0 ||
			    (i > 1 &&
				is_kind(&p->native->at[i - 1],
				    HWTD_EV_DISABLE) &&
				is_kind(&p->native->at[i - 2],
				    HWTD_EV_CONTEXT)));
	}
	return (false);
}

/* Prefix 66 in 32-bit code: Intel SDM vol. 2, "JMP - Jump" and the like. */
static bool
cuts_ip(const struct diff_pair *p)
{
	return (is_kind(p->a, HWTD_EV_BLOCK) && is_kind(p->b, HWTD_EV_BLOCK) &&
	    (p->a->e.flags & HWTD_EVF_ISA_MASK) >> HWTD_EVF_ISA_SHIFT ==
		HWTD_ISA_X86_32 &&
	    p->a->e.ip == p->b->e.ip && p->a->e.insns == p->b->e.insns &&
	    p->a->e.branch == p->b->e.branch &&
	    p->a->e.target == (uint16_t)p->b->e.target);
}

/* An address is not far behind another. */
static bool
is_behind(uint64_t ip, uint64_t from)
{
	return (ip - from < NEAR);
}

/* The bytes of an image at `at` are an UD0. */
static bool
is_ud0(const struct diff_image *im, size_t at)
{
	return (at + 1 < im->n && im->bytes[at] == 0x0f &&
	    im->bytes[at + 1] == 0xff);
}

/* libipt comes to an event between the opcode and its ModRM byte. */
static bool
stops_in_ud0(const struct diff_pair *p, uint64_t ip)
{
	return (is_kind(p->a, HWTD_EV_BLOCK) && is_kind(p->b, HWTD_EV_BLOCK) &&
	    p->a->e.ip == p->b->e.ip && p->b->e.branch == HWTD_BRANCH_NONE &&
	    (p->b->e.flags & HWTD_EVF_TARGET) != 0 &&
	    p->b->e.target == ip + 2);
}

/*
 * 0f ff, which has a ModRM byte: Intel SDM vol. 2, "UD - Undefined".  It is
 * where the rows at hand differ, or where libipt then gives up.
 */
static bool
ends_ud0(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->libipt);
	const bool bad = has_reason(gap, HWTD_GAP_BAD_CODE) ||
	    has_reason(gap, HWTD_GAP_NO_CODE);

	for (size_t i = 0; i < p->in->n_images; i++) {
		const struct diff_image *im = &p->in->images[i];

		for (size_t at = 0; at < im->n; at++) {
			const uint64_t ip = im->address + at;

			if (!is_ud0(im, at))
				continue;
			if (stops_in_ud0(p, ip))
				return (true);
			if (bad &&
			    (is_behind(gap->detail.gap.addr, ip) ||
				(p->a != NULL && is_behind(ip, p->a->e.ip))))
				return (true);
		}
	}
	return (false);
}

/*
 * 66 0f 01 cc to cf ends the block at hand, or the last one before a gap, where
 * libipt goes on.  Source: Intel TDX CPU architectural specification, "TDCALL",
 * "SEAMRET", "SEAMOPS", "SEAMCALL".
 */
static bool
ends_tdx(const struct diff_pair *p)
{
	static const uint8_t tdx[] = { 0x66, 0x0f, 0x01, 0xcc };
	const struct fuzz_row *block = p->a;
	uint64_t last;

	if (is_kind(block, HWTD_EV_GAP) && p->i > 0)
		block = row_at(p->native, p->i - 1);
	if (!ends_with(block, HWTD_BRANCH_FAR_CALL) ||
	    block->e.bytes < sizeof(tdx))
		return (false);
	last = block->e.ip + block->e.bytes - sizeof(tdx);
	for (size_t i = 0; i < p->in->n_images; i++) {
		const struct diff_image *im = &p->in->images[i];
		const uint64_t at = last - im->address;

		if (at < im->n && im->n - at >= sizeof(tdx) &&
		    memcmp(im->bytes + at, tdx, sizeof(tdx) - 1) == 0 &&
		    (im->bytes[at + 3] & 0xfc) == 0xcc)
			return (true);
	}
	return (false);
}

/* Native is right: Intel SDM vol. 3C, or the report. */
static const struct diff_rule rules[] = {
	{ "libipt keeps a MWAIT whose EXSTOP has no address for the next FUP",
	    mwait_without_ip },
	{ "libipt lets tracing go on at MOV CR3, or at a call out of a filter",
	    resumed_elsewhere },
	{ "libipt keeps the call of a return that is not compressed",
	    pops_nothing },
	{ "the same, and an event is behind the return", pops_nothing_before },
	{ "the same, and it keeps calls over a PSB", call_is_gone },
	/* https://github.com/intel/libipt/issues/118 */
	{ "libipt has no deferred TIP of a return", deferred_return },
	{ "libipt has no other event between a PIP and its TIP",
	    event_inside },
	{ "libipt 2.0 has no event trace, no triggers and no PEBS blocks",
	    newer_packets },
	{ "libipt knows erratum SKZ84 of some CPUs only", corrupt_tma },
	{ "libipt does not tell the branch between an MNT and its TIP",
	    loses_block },
	{ "libipt goes on behind a MOV CR3 if an MNT is before its TIP.PGD",
	    loses_disable },
	{ "libipt tells an OVF before what is between it and its end",
	    before_overflow },
	{ "libipt tells a mode before the far transfer that sets it",
	    mode_of_itself },
	{ "libipt takes the FUP of MODE.TSX for that of the OVF",
	    mode_behind_overflow },
	{ "libipt goes on at address 0 behind an OVF (SKD010)",
	    at_0_behind_overflow },
	{ "libipt takes tracing for off behind an OVF without FUP",
	    off_behind_overflow },
	{ "libipt has no TraceStop while tracing is on", stops_while_on },
	{ "libipt has room for a few events only", engine_fails },
	{ "libipt does not cut EIP to the 16 bits of a branch", cuts_ip },
	{ "libipt takes UD0 for two bytes", ends_ud0 },
	{ "libipt does not know the instructions of TDX", ends_tdx },
	{ "libipt does not tell all of the last bytes", runs_out },
	/* Nobody says. */
	{ "libipt does not take the FUP of BDM70 for the last address",
	    last_ip_of_bdm70 },
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

const char *
diff_known(const struct diff_pair *p)
{
	for (size_t i = 0; i < N(rules); i++)
		if (rules[i].holds(p))
			return (rules[i].why);
	return (p->in->consistent ? NULL : diff_wrong(p));
}
