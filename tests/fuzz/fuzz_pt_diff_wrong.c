/*
 * The differences between engine native and engine libipt in traces that no CPU
 * makes.
 */

#include "decode/pt/pt_sync.h"
#include "fuzz_pt_diff_rules.h"

/* Outcomes are left, but no address; libipt tells the next instruction. */
static bool
passes_far_transfer(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->native);

	return (is_gap(gap, "an outcome where an address must come") &&
	    is_at(p, gap) && is_kind(p->b, HWTD_EV_BLOCK) &&
	    p->b->e.branch >= HWTD_BRANCH_FAR_CALL &&
	    p->b->e.target == p->b->e.ip + p->b->e.bytes);
}

/* A FUP while tracing is off: libipt keeps a PIP or VMCS behind it for a TIP. */
static bool
context_behind_fup(const struct diff_pair *p)
{
	return (is_kind(p->a, HWTD_EV_CONTEXT) &&
	    !is_kind(p->b, HWTD_EV_CONTEXT) &&
	    diff_is_strange(p, p->a->e.stream_off, KIND(HWTD_PK_PT_FUP)));
}

/*
 * The PSB+ ends with an OVF, which native tells: what it says of before does not
 * matter any more.
 */
static bool
status_before_overflow(const struct diff_pair *p)
{
	size_t off;

	if (!is_gap(p->b, "bad status update") ||
	    !is_kind(p->a, HWTD_EV_GAP) ||
	    !has_reason(p->a, HWTD_GAP_OVERFLOW))
		return (false);
	off = (size_t)p->b->detail.gap.first;
	return (off + 2 <= p->n && p->packets[off] == 0x02 &&
	    p->packets[off + 1] == 0xf3);
}

static bool
is_off(const struct diff_pair *p)
{
	return (is_gap(p->a, "TIP.PGD while tracing is off") ||
	    is_gap(p->a, "TIP while tracing is off"));
}

/* Rows of a far transfer, and of what native binds to it. */
#define BOUND 4

static bool
bound_twice(const struct diff_pair *p)
{
	for (size_t i = p->i; i < p->i + BOUND; i++)
		if (is_gap(row_at(p->native, i),
			"two packets for one instruction"))
			return (true);
	return (false);
}

/* The gap begins with a FUP of an asynchronous branch. */
static bool
outcomes_behind_fup(const struct diff_pair *p)
{
	const struct fuzz_row *gap = ends_with(p->a, HWTD_BRANCH_NONE)
	    ? row_at(p->native, p->i + 1)
	    : p->a;

	return (is_gap(gap, "outcomes where an address must come") &&
	    (p->packets[gap->detail.gap.first] & 0x1f) == 0x1d);
}

/* Behind a far transfer, and the PIP or VMCS that wait for its TIP. */
static bool
outcomes_behind_context(const struct diff_pair *p)
{
	size_t i = p->i;

	while (i > 0 && is_kind(&p->native->at[i - 1], HWTD_EV_CONTEXT))
		i--;
	return (is_gap(p->a, "outcomes where an address must come") && i > 0 &&
	    i < p->i && is_kind(&p->native->at[i - 1], HWTD_EV_BLOCK) &&
	    p->native->at[i - 1].e.branch >= HWTD_BRANCH_FAR_CALL);
}

static bool
waits_at_psb(const struct diff_pair *p)
{
	return (is_gap(p->a, "PSB between packets that belong together"));
}

static bool
mismatch_at_psb(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->native);

	return (has_reason(gap, HWTD_GAP_BAD_FLOW) &&
	    (size_t)(gap - p->native->at) <= p->i + 2 &&
	    hwtdi_pt_find_psb(p->packets, p->n,
		(size_t)gap->detail.gap.first) == gap->detail.gap.first);
}

static bool
both_lost(const struct diff_pair *p)
{
	return (is_kind(p->a, HWTD_EV_GAP) && is_kind(p->b, HWTD_EV_GAP) &&
	    !has_reason(p->a, HWTD_GAP_OVERFLOW) &&
	    !has_reason(p->b, HWTD_GAP_OVERFLOW));
}

static bool
gives_up_near(const struct diff_pair *p)
{
	const struct fuzz_row *a = diff_first_gap(p, p->native);
	const struct fuzz_row *b = diff_first_gap(p, p->libipt);

	return (is_at(p, a) && b != NULL &&
	    a->detail.gap.first <= b->detail.gap.first + NEAR &&
	    b->detail.gap.first <= a->detail.gap.first + NEAR);
}

static bool
reads_ahead(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->native);

	return (has_reason(p->b, HWTD_GAP_BAD_PACKET) && is_at(p, gap));
}

static bool
is_tolerant(const struct diff_pair *p)
{
	const struct fuzz_row *a = diff_first_gap(p, p->native);
	const struct fuzz_row *b = diff_first_gap(p, p->libipt);

	return ((is_at(p, a) &&
		    diff_is_strange(p, a->detail.gap.first, UINT64_MAX)) ||
	    (is_at(p, b) &&
		diff_is_strange(p, b->detail.gap.first, UINT64_MAX)));
}

/* Not far from `off` two FUPs come, one of them with this address. */
static bool
has_two_fups(const struct diff_pair *p, uint64_t off, uint64_t ip)
{
	struct hwtdi_pt_packet two[2];
	size_t from = 0;

	while (diff_find_two(p, off, HWTD_PK_PT_FUP, &from, two))
		if (two[1].kind == HWTD_PK_PT_FUP &&
		    (two[0].ip == ip || two[1].ip == ip))
			return (true);
	return (false);
}

/*
 * An asynchronous branch of each of two FUPs, for one TIP; native tells one, of
 * the FUP behind.  The code need not lead from the first branch to the second.
 */
static bool
two_fups(const struct diff_pair *p)
{
	const struct fuzz_row *async = p->b;

	if (p->b == NULL)
		return (false);
	if (gives_up(p, "trace stream does not match query"))
		async = row_at(p->native, p->i - 1);
	else if (ends_with(p->b, HWTD_BRANCH_NONE)) {
		async = row_at(p->libipt, p->i + 1);
		if (async != NULL && p->b->e.target != async->e.ip)
			return (false);
	}
	return (is_kind(async, HWTD_EV_ASYNC) &&
	    has_two_fups(p, p->b->e.stream_off, async->e.ip));
}

/* Of an MWAIT without EXSTOP, for which libipt takes the next FUP. */
static bool
mwait_alone(const struct diff_pair *p)
{
	const struct fuzz_row *power = p->b;
	struct hwtdi_pt_packet two[2];
	size_t from = 0;

	if (is_kind(p->a, HWTD_EV_POWER))
		return (false);
	/* A block may end there. */
	if (ends_with(power, HWTD_BRANCH_NONE))
		power = row_at(p->libipt, p->i + 1);
	if (!is_kind(power, HWTD_EV_POWER) ||
	    power->detail.power.what != HWTD_POWER_MWAIT ||
	    (power != p->b && power->e.ip != p->b->e.target))
		return (false);
	while (diff_find_two(p, power->e.stream_off, HWTD_PK_PT_MWAIT, &from,
	    two))
		if (two[1].kind != HWTD_PK_PT_EXSTOP &&
		    (uint32_t)two[0].value == power->detail.power.hints)
			return (true);
	return (false);
}

/* The mode that a MODE.Exec says, if it says one. */
static uint8_t
isa_of(const struct hwtdi_pt_packet *mode)
{
	if ((mode->value & 1) != 0)
		return (HWTD_ISA_X86_64);
	return ((mode->value & 2) != 0 ? HWTD_ISA_X86_32 : HWTD_ISA_X86_16);
}

/* A MODE.Exec before a TIP.PGD, or of both modes at once. */
static bool
strange_mode(const struct diff_pair *p)
{
	struct hwtdi_pt_packet two[2];
	size_t from = 0;
	uint8_t isa;

	if (!is_kind(p->b, HWTD_EV_MODE))
		return (false);
	isa = (p->b->e.flags & HWTD_EVF_ISA_MASK) >> HWTD_EVF_ISA_SHIFT;
	while (diff_find_two(p, p->b->e.stream_off, HWTD_PK_PT_MODE_EXEC,
	    &from, two)) {
		if ((two[0].value & 3) == 3 && isa == HWTD_ISA_UNKNOWN)
			return (true);
		if (two[1].kind == HWTD_PK_PT_TIP_PGD &&
		    isa == isa_of(&two[0]))
			return (true);
	}
	return (false);
}

/*
 * The mode, which libipt tells before an asynchronous branch, if its packet is
 * before the FUP; of an abort it then does not tell what the branch is of.
 */
static bool
mode_before_branch(const struct diff_pair *p)
{
	const struct fuzz_row *branch = row_at(p->libipt, p->i + 1);
	struct hwtdi_pt_packet two[2];
	size_t from = 0;

	if (!is_kind(p->a, HWTD_EV_ASYNC) || !is_kind(p->b, HWTD_EV_MODE) ||
	    !is_kind(branch, HWTD_EV_ASYNC) || p->a->e.ip != branch->e.ip ||
	    p->a->e.target != branch->e.target)
		return (false);
	while (diff_find_two(p, p->b->e.stream_off, HWTD_PK_PT_MODE_EXEC,
	    &from, two))
		if (two[1].kind == HWTD_PK_PT_FUP && two[1].ip == p->a->e.ip)
			return (true);
	return (false);
}

static bool
loops(const struct diff_pair *p)
{
	const struct fuzz_row *gap = diff_first_gap(p, p->native);

	return (has_reason(gap, HWTD_GAP_ENDLESS_LOOP) && is_at(p, gap) &&
	    diff_first_gap(p, p->libipt) != NULL);
}

static const struct diff_rule rules[] = {
	{ "libipt lets a FUP and a TIP pass while tracing is off", is_off },
	{ "libipt takes a FUP while tracing is off for that of a branch",
	    context_behind_fup },
	{ "libipt lets two PIPs, or two VMCSs, be of one instruction",
	    bound_twice },
	{ "libipt lets outcomes pass between a FUP and its TIP",
	    outcomes_behind_fup },
	{ "libipt lets outcomes pass between a PIP and its TIP",
	    outcomes_behind_context },
	{ "libipt passes a far transfer without TIP at the end of the bytes",
	    passes_far_transfer },
	{ "libipt carries what waits for an address over a PSB",
	    waits_at_psb },
	{ "libipt does not compare the address of PSB+ with where it is",
	    mismatch_at_psb },
	{ "libipt compares the mode of a PSB+ that ends with an OVF",
	    status_before_overflow },
	{ "which of several faults it is", both_lost },
	{ "how much is told before one fault", gives_up_near },
	{ "libipt reads ahead, and loses what is before a packet it refuses",
	    reads_ahead },
	{ "native goes on at packets that cannot follow each other",
	    is_tolerant },
	{ "which of two FUPs it is", two_fups },
	{ "libipt takes any FUP for that of an MWAIT without EXSTOP",
	    mwait_alone },
	{ "which mode it is that MODE.Exec packets say", strange_mode },
	{ "libipt tells a mode before the branch whose FUP its packet is "
	  "before",
	    mode_before_branch },
	{ "how much of an endless loop is told", loops },
};

const char *
diff_wrong(const struct diff_pair *p)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].holds(p))
			return (rules[i].why);
	return (NULL);
}
