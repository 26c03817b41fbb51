/*
 * The code graph: superblocks out of code bytes.
 */
#include <string.h>

#include "decode/code/arm_insn.h"
#include "decode/code/graph_internal.h"
#include "decode/code/x86_plain.h"

/* A packet can be bound to these, so nodes end with them. */
#define X86_STOPS (HWTDI_X86_MOV_CR3 | HWTDI_X86_VMPTRLD | HWTDI_X86_PTWRITE)
/* Some protocols have an atom for these. */
#define ARM_STOPS                                                             \
	(HWTDI_ARM_ISB | HWTDI_ARM_BARRIER | HWTDI_ARM_WAIT | HWTDI_ARM_TSTART)

/* How far the draft is. */
struct cursor {
	const struct hwtdi_code_unit *unit;
	struct hwtdi_draft *draft;
	struct hwtdi_code_run *run;
	uint32_t off;
	bool is_arm;
	/* Of T32: the state of the IT block at `off`. */
	uint8_t it;
};

static void
end_block(struct cursor *c, enum hwtdi_node_kind kind, int64_t target)
{
	c->draft->kind = (uint8_t)kind;
	c->draft->block.target = target;
	c->draft->block.end = c->off;
}

/* Begin a run at `off`.  False if there is no room. */
static bool
begin_run(struct cursor *c)
{
	struct hwtdi_draft *d = c->draft;

	if (d->block.n_runs == HWTDI_BLOCK_RUNS)
		return (false);
	c->run = &d->runs[d->block.n_runs++];
	memset(c->run, 0, sizeof(*c->run));
	c->run->off = c->off;
	if (c->unit->isa == HWTD_ISA_T32)
		c->it = hwtdi_t32_it_at(c->unit->bytes, c->off);
	return (true);
}

static void
drop_empty_run(struct cursor *c)
{
	if (c->run != NULL && c->run->insns == 0)
		c->draft->block.n_runs--;
	c->run = NULL;
}

/* The direct branch that is last in the run at hand was passed before. */
static bool
was_passed(const struct hwtdi_draft *d)
{
	const struct hwtdi_code_run *last = &d->runs[d->block.n_runs - 1];

	for (const struct hwtdi_code_run *r = d->runs; r < last; r++)
		if (hwtdi_run_last(r) == hwtdi_run_last(last))
			return (true);
	return (false);
}

/* Take back the run at hand: it was passed before. */
static void
close_loop(struct cursor *c)
{
	struct hwtdi_draft *d = c->draft;

	d->insns = (uint16_t)(d->insns - c->run->insns);
	d->block.n_runs--;
	c->off = c->run->off;
	end_block(c, HWTDI_NODE_LOOP, (int64_t)c->off);
}

static void
push(struct cursor *c)
{
	c->draft->pushes[c->draft->n_pushes++] = c->off;
}

/*
 * A direct jump or call was added: go on at its target.  False: the draft is
 * done.
 */
static bool
follow(struct cursor *c, bool call, int64_t target)
{
	struct hwtdi_draft *d = c->draft;
	bool inside = target >= 0 && target < (int64_t)c->unit->length;

	if (was_passed(d)) {
		close_loop(c);
		return (false);
	}
	/*
	 * On x86 a call of the next instruction only asks for its own address;
	 * on Arm it is a call as any other.
	 */
	if (call && (c->is_arm || target != (int64_t)c->off))
		push(c);
	if (!inside || d->block.target_isa != 0) {
		end_block(c, HWTDI_NODE_AWAY, target);
		return (false);
	}
	if (d->block.n_runs == HWTDI_BLOCK_RUNS) {
		end_block(c, HWTDI_NODE_ON, target);
		return (false);
	}
	c->off = (uint32_t)target;
	return (begin_run(c));
}

/* An instruction that ends the node was added. */
static void
finish(struct cursor *c, const struct hwtdi_draft_insn *insn, int64_t target)
{
	switch (insn->branch) {
	case HWTD_BRANCH_CALL:
		push(c);
		end_block(c, HWTDI_NODE_COND_CALL, target);
		break;
	case HWTD_BRANCH_CONDITIONAL:
		end_block(c,
		    c->draft->n_pushes != 0 ? HWTDI_NODE_COND_PUSH
					    : HWTDI_NODE_COND,
		    target);
		break;
	case HWTD_BRANCH_RETURN:
		end_block(c, HWTDI_NODE_RETURN, 0);
		break;
	case HWTD_BRANCH_INDIRECT_CALL:
		push(c);
		end_block(c, HWTDI_NODE_INDIRECT, 0);
		break;
	case HWTD_BRANCH_INDIRECT_JUMP:
		end_block(c, HWTDI_NODE_INDIRECT, 0);
		break;
	case HWTD_BRANCH_NONE:
		end_block(c, HWTDI_NODE_ON, (int64_t)c->off);
		break;
	default:
		end_block(c, HWTDI_NODE_FAR, 0);
		break;
	}
}

/*
 * Add the instruction at hand; with one of `stops` in `binds` it ends the node.
 * False: the draft is done.
 */
HWTDI_X86_INLINE bool
add(struct cursor *c, const struct hwtdi_draft_insn *insn, unsigned int stops)
{
	struct hwtdi_draft *d = c->draft;
	struct hwtdi_code_run *run = c->run;
	int64_t target = (int64_t)(insn->target - c->unit->address);

	d->lengths[d->insns++] = insn->length;
	run->to_last = (uint16_t)(c->off - run->off);
	run->bytes += insn->length;
	run->insns++;
	run->branch = insn->conditional ? HWTD_BRANCH_CONDITIONAL
					: insn->branch;
	c->off += insn->length;
	d->block.binds = insn->binds;
	d->block.target_isa = insn->target_isa;
	if ((insn->branch == HWTD_BRANCH_JUMP ||
		insn->branch == HWTD_BRANCH_CALL) &&
	    !insn->conditional) {
		if (!follow(c, insn->branch == HWTD_BRANCH_CALL, target))
			return (false);
	} else if (insn->branch != HWTD_BRANCH_NONE ||
	    (insn->binds & stops) != 0) {
		finish(c, insn, target);
		return (false);
	}
	if (d->insns == HWTDI_BLOCK_INSNS) {
		end_block(c, HWTDI_NODE_ON, (int64_t)c->off);
		return (false);
	}
	return (true);
}

/*
 * Add plain instructions that are no branches, and decode the one behind them.
 * False: it is none, or its bytes end too early.
 */
HWTDI_X86_INLINE bool
pass_plain(struct cursor *c, bool in_64, struct hwtdi_x86_insn *insn)
{
	const struct hwtdi_code_unit *const unit = c->unit;
	struct hwtdi_draft *const d = c->draft;
	struct hwtdi_code_run *const run = c->run;
	uint32_t off = c->off, last = off;
	unsigned int insns = d->insns;
	struct hwtdi_x86_plain plain;
	bool is_plain = false;

	/*
	 * The last one that there is room for is for add().  Few have prefixes,
	 * and looking for them here takes time with each.
	 */
	while (unit->length - off >= HWTDI_X86_MAX_LENGTH) {
		is_plain = hwtdi_x86_plain(unit->bytes + off, in_64, false,
			       &plain) &&
		    plain.length <= HWTDI_X86_MAX_LENGTH;
		if (!is_plain || (plain.entry & HWTDI_X86_BRANCH_MASK) != 0 ||
		    insns + 1 == HWTDI_BLOCK_INSNS)
			break;
		d->lengths[insns++] = (uint8_t)plain.length;
		last = off;
		off += plain.length;
		is_plain = false;
	}
	if (insns != d->insns) {
		run->to_last = (uint16_t)(last - run->off);
		run->bytes += off - c->off;
		run->insns += insns - d->insns;
		run->branch = HWTD_BRANCH_NONE;
		d->block.binds = 0;
		d->insns = (uint16_t)insns;
		c->off = off;
	}
	if (is_plain) {
		hwtdi_x86_plain_insn(&plain, in_64, unit->address + off, insn);
		return (true);
	}
	return (hwtdi_x86_decode(unit->bytes + off, unit->length - off,
	    unit->isa, unit->address + off, insn));
}

/* Decode an instruction of x86, and add those before it. */
HWTDI_X86_INLINE bool
next_x86(struct cursor *c, struct hwtdi_draft_insn *out)
{
	const struct hwtdi_code_unit *const unit = c->unit;
	struct hwtdi_x86_insn insn;
	bool is_one;

	if (unit->isa == HWTD_ISA_X86_64)
		is_one = pass_plain(c, true, &insn);
	else if (unit->isa == HWTD_ISA_X86_32)
		is_one = pass_plain(c, false, &insn);
	else
		is_one = hwtdi_x86_decode(unit->bytes + c->off,
		    unit->length - c->off, unit->isa, unit->address + c->off,
		    &insn);
	if (!is_one)
		return (false);
	out->length = insn.length;
	out->branch = insn.branch;
	out->conditional = false;
	out->target_isa = 0;
	out->binds = insn.binds;
	out->target = insn.target;
	return (true);
}

/* There is no instruction at hand. */
static void
end_at_none(struct cursor *c)
{
	const struct hwtdi_code_unit *unit = c->unit;
	const uint32_t left = unit->length - c->off;
	/* Bytes that may be missing. */
	const size_t most = c->is_arm
	    ? hwtdi_arm_length(unit->bytes + c->off, left, unit->isa)
	    : HWTDI_X86_MAX_LENGTH;

	end_block(c,
	    left == 0			      ? HWTDI_NODE_AWAY
		: left < most && !unit->joint ? HWTDI_NODE_CUT
					      : HWTDI_NODE_BAD,
	    (int64_t)c->off);
}

static void
draft_x86(struct cursor *c)
{
	struct hwtdi_draft_insn insn;

	do
		if (!next_x86(c, &insn)) {
			end_at_none(c);
			break;
		}
	while (add(c, &insn, X86_STOPS));
}

static void
draft_arm(struct cursor *c)
{
	struct hwtdi_draft_insn insn;

	do
		if (!hwtdi_arm_draft_insn(c->unit, c->off, &c->it, &insn)) {
			end_at_none(c);
			break;
		}
	while (add(c, &insn, ARM_STOPS));
}

void
hwtdi_code_draft(const struct hwtdi_code_unit *unit, uint32_t off,
    struct hwtdi_draft *out)
{
	struct cursor c = { .unit = unit,
		.draft = out,
		.off = off,
		.is_arm = hwtdi_isa_is_arm(unit->isa) };

	memset(&out->block, 0, sizeof(out->block));
	out->block.off = off;
	out->insns = 0;
	out->n_pushes = 0;
	(void)begin_run(&c);
	if (c.is_arm)
		draft_arm(&c);
	else
		draft_x86(&c);
	drop_empty_run(&c);
}
