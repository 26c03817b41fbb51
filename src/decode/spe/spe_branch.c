/*
 * What kind of branch a sample is of.
 *
 * Few CPUs tell calls and returns from other branches (FEAT_SPE_CRR); of others
 * the instruction does, if it is there.
 */
#include "decode/spe/spe_branch.h"

#include <string.h>

#include "decode/code/arm_insn.h"

/* What an instruction of A64 is, as far as a record can be of it. */
static uint8_t
branch_of_code(const uint8_t *bytes, size_t n, const struct hwtd_sample *s)
{
	const bool indirect = (s->op_flags & HWTD_OPF_INDIRECT) != 0;
	struct hwtdi_arm_insn insn;

	if (!hwtdi_arm_decode(bytes, n, HWTD_ISA_A64, s->pc, &insn))
		return (HWTD_BRANCH_NONE);
	switch (insn.branch) {
	case HWTD_BRANCH_JUMP:
	case HWTD_BRANCH_CALL:
		return (indirect ? HWTD_BRANCH_NONE : insn.branch);
	case HWTD_BRANCH_INDIRECT_JUMP:
	case HWTD_BRANCH_INDIRECT_CALL:
	case HWTD_BRANCH_RETURN:
		return (indirect ? insn.branch : HWTD_BRANCH_NONE);
	/* Records of it may say either. */
	case HWTD_BRANCH_FAR_RETURN:
		return (insn.branch);
	default:
		return (HWTD_BRANCH_NONE);
	}
}

static uint8_t
find_branch(struct hwtdi_spe_branches *b, const struct hwtd_sample *s)
{
	const struct hwtdi_code_query query = {
		.context = &b->context,
		.stream_off = s->stream_off,
		.moments = { HWTD_NO_ID, 0, UINT64_MAX },
	};
	struct hwtdi_code_span span = { .length = 0 };
	uint64_t at;

	/* Where other code may be there as well nothing is guessed. */
	if (b->code.find == NULL ||
	    b->code.find(b->code.arg, &query, s->pc, &span) != HWTD_OK)
		return (HWTD_BRANCH_NONE);
	at = s->pc - span.address;
	return (branch_of_code(span.bytes + at, (size_t)(span.length - at),
	    s));
}

/* Of those that look the same to the hardware. */
static uint8_t
ask_code(struct hwtdi_spe_branches *b, const struct hwtd_sample *s)
{
	struct hwtdi_spe_known_branch
	    *known = &b->known[s->pc / 4 % HWTDI_SPE_BRANCHES];

	if ((s->present & HWTD_SAMPLE_PC) == 0)
		return (HWTD_BRANCH_NONE);
	if (!b->code.fixed)
		return (find_branch(b, s));
	if (!known->known || known->pc != s->pc) {
		known->pc = s->pc;
		known->branch = find_branch(b, s);
		known->known = true;
	}
	return (known->branch);
}

void
hwtdi_spe_branches_init(struct hwtdi_spe_branches *b,
    const struct hwtdi_code_source *code,
    const struct hwtd_exec_context *context)
{
	memset(b, 0, sizeof(*b));
	b->code = *code;
	b->context = *context;
}

uint8_t
hwtdi_spe_branch(struct hwtdi_spe_branches *b, const struct hwtd_sample *s)
{
	const bool indirect = (s->op_flags & HWTD_OPF_INDIRECT) != 0;

	if (s->op != HWTD_OP_BRANCH)
		return (HWTD_BRANCH_NONE);
	if ((s->op_flags & HWTD_OPF_RETURN) != 0)
		return (HWTD_BRANCH_RETURN);
	if ((s->op_flags & HWTD_OPF_LINK) != 0)
		return (indirect ? HWTD_BRANCH_INDIRECT_CALL
				 : HWTD_BRANCH_CALL);
	if ((s->op_flags & HWTD_OPF_CONDITIONAL) != 0)
		return (HWTD_BRANCH_CONDITIONAL);
	if ((s->op_flags & HWTD_OPF_NO_LINK_RETURN) != 0)
		return (indirect ? HWTD_BRANCH_INDIRECT_JUMP
				 : HWTD_BRANCH_JUMP);
	return (ask_code(b, s));
}
