/*
 * The code graph: instructions of Arm code for superblocks.
 */
#include "decode/code/arm_insn.h"
#include "decode/code/graph_internal.h"

bool
hwtdi_arm_draft_insn(const struct hwtdi_code_unit *unit, uint32_t off,
    uint8_t *it_inout, struct hwtdi_draft_insn *out)
{
	const uint8_t it = *it_inout;
	struct hwtdi_arm_insn insn;

	if (!hwtdi_arm_decode(unit->bytes + off, unit->length - off, unit->isa,
		unit->address + off, &insn))
		return (false);
	if (hwtdi_t32_it_is_conditional(it)) {
		insn.binds |= HWTDI_ARM_CONDITIONAL;
		if (insn.branch == HWTD_BRANCH_JUMP)
			insn.branch = HWTD_BRANCH_CONDITIONAL;
	}
	*it_inout = insn.it != 0 ? insn.it : hwtdi_t32_it_next(it);
	out->length = insn.length;
	out->branch = insn.branch;
	out->conditional = insn.branch == HWTD_BRANCH_CALL &&
	    (insn.binds & HWTDI_ARM_CONDITIONAL) != 0;
	out->target_isa = insn.target_isa;
	out->binds = insn.binds;
	out->target = insn.target;
	return (true);
}
