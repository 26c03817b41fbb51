/*
 * Classes of A32 instructions.
 *
 * Source: DDI 0487, "T32 and A32 Base Instruction Set Instruction
 * Descriptions" and "A32 instruction set encoding"; DDI 0406 for what Armv8 does
 * not have any more.
 */
#include "decode/code/arm_insn.h"

#define LR 14
#define PC 15

/* Bits [low, low + n). */
static uint32_t
field(uint32_t word, unsigned int low, unsigned int n)
{
	return (word >> low & (((uint32_t)1 << n) - 1));
}

unsigned int
hwtdi_a32_cp15_binds(uint32_t word)
{
	/* MCR p15, 0, Rt, c7, CRm, opc2 */
	switch (word & 0x0fff0fff) {
	case 0x0e070f95:
		return (HWTDI_ARM_ISB);
	case 0x0e070f9a:
	case 0x0e070fba:
		return (HWTDI_ARM_BARRIER);
	default:
		return (0);
	}
}

/* What data-processing instructions, which BX and the like are among, do. */
static void
data_processing(uint32_t word, struct hwtdi_arm_insn *out)
{
	const bool compares = field(word, 23, 2) == 2;
	const bool immediate = field(word, 25, 1) != 0;
	/* MOV and MVN have no first operand. */
	const bool moves = (field(word, 21, 4) | 2) == 15;

	/* Shifts by a register cannot write PC. */
	if (compares || field(word, 12, 4) != PC ||
	    (!immediate && field(word, 4, 1) != 0) ||
	    (moves && field(word, 16, 4) != 0))
		return;
	if (field(word, 20, 1) != 0)
		out->branch = HWTD_BRANCH_FAR_RETURN;
	else if ((word & 0x0fffffff) == 0x01a0f00e)
		/* MOV PC, LR */
		out->branch = HWTD_BRANCH_RETURN;
	else
		out->branch = HWTD_BRANCH_INDIRECT_JUMP;
}

/* Bits 27 to 23 are 00010, 20 and 7 are 0. */
static void
miscellaneous(uint32_t word, struct hwtdi_arm_insn *out)
{
	switch (word & 0x0ffffff0) {
	case 0x012fff10: /* BX */
		out->branch = field(word, 0, 4) == LR
		    ? HWTD_BRANCH_RETURN
		    : HWTD_BRANCH_INDIRECT_JUMP;
		return;
	case 0x012fff20: /* BXJ */
		out->branch = HWTD_BRANCH_INDIRECT_JUMP;
		return;
	case 0x012fff30: /* BLX */
		out->branch = HWTD_BRANCH_INDIRECT_CALL;
		return;
	case 0x01600070: /* SMC */
		out->branch = HWTD_BRANCH_FAR_CALL;
		return;
	default:
		break;
	}
	if ((word & 0x0fffffff) == 0x0160006e)
		/* ERET */
		out->branch = HWTD_BRANCH_FAR_RETURN;
	else if ((word & 0x0ff000f0) == 0x01400070)
		/* HVC */
		out->branch = HWTD_BRANCH_FAR_CALL;
}

/* LDR of a word to PC; without P and with W it is LDRT, which cannot. */
static void
load(uint32_t word, struct hwtdi_arm_insn *out)
{
	if ((word & 0x0050f000) != 0x0010f000 ||
	    (word & 0x01200000) == 0x00200000)
		return;
	/* LDR PC, [SP], #imm */
	out->branch = (word & 0x0fff0000) == 0x049d0000
	    ? HWTD_BRANCH_RETURN
	    : HWTD_BRANCH_INDIRECT_JUMP;
}

static void
load_multiple(uint32_t word, struct hwtdi_arm_insn *out)
{
	if ((word & 0x00108000) != 0x00108000)
		return;
	if (field(word, 22, 1) != 0)
		out->branch = HWTD_BRANCH_FAR_RETURN;
	else
		/* POP is LDMIA SP!. */
		out->branch = (word & 0x0fff0000) == 0x08bd0000
		    ? HWTD_BRANCH_RETURN
		    : HWTD_BRANCH_INDIRECT_JUMP;
}

static void
branch(uint32_t word, uint64_t address, struct hwtdi_arm_insn *out)
{
	const bool conditional = word >> 28 < 14;

	hwtdi_arm_branch_32(out,
	    field(word, 24, 1) != 0 ? HWTD_BRANCH_CALL
		: conditional	    ? HWTD_BRANCH_CONDITIONAL
				    : HWTD_BRANCH_JUMP,
	    address + 8, hwtdi_arm_signed(word, 24) * 4);
}

/* What has no condition. */
static void
unconditional(uint32_t word, uint64_t address, struct hwtdi_arm_insn *out)
{
	switch (field(word, 25, 3)) {
	case 2:
		if ((word & 0xffffff00) != 0xf57ff000)
			break;
		switch (field(word, 4, 4)) {
		case 4:
		case 5:
			out->binds = HWTDI_ARM_BARRIER;
			break;
		case 6:
			out->binds = HWTDI_ARM_ISB;
			break;
		default:
			break;
		}
		break;
	case 4: /* RFE */
		if ((word & 0x0050ffff) == 0x00100a00)
			out->branch = HWTD_BRANCH_FAR_RETURN;
		break;
	case 5: /* BLX */
		hwtdi_arm_branch_32(out, HWTD_BRANCH_CALL, address + 8,
		    hwtdi_arm_signed(word, 24) * 4 +
			(int64_t)field(word, 24, 1) * 2);
		out->target_isa = HWTD_ISA_T32;
		break;
	default:
		break;
	}
}

bool
hwtdi_a32_decode(uint32_t word, uint64_t address, struct hwtdi_arm_insn *out)
{
	*out = (struct hwtdi_arm_insn){ .length = 4 };
	if (word >> 28 == 15) {
		unconditional(word, address, out);
		return (true);
	}
	switch (field(word, 25, 3)) {
	case 0:
		if ((word & 0x01900080) == 0x01000000)
			miscellaneous(word, out);
		else
			data_processing(word, out);
		break;
	case 1:
		/* WFE, WFI */
		if ((word & 0x0ffffffe) == 0x0320f002)
			out->binds = HWTDI_ARM_WAIT;
		else
			data_processing(word, out);
		break;
	case 2:
		load(word, out);
		break;
	case 3:
		/* UDF */
		if ((word & 0x0ff000f0) == 0x07f000f0)
			return (false);
		if (field(word, 4, 1) == 0)
			load(word, out);
		break;
	case 4:
		load_multiple(word, out);
		break;
	case 5:
		branch(word, address, out);
		break;
	case 7:
		if (field(word, 24, 1) != 0)
			out->branch = HWTD_BRANCH_FAR_CALL;
		else
			out->binds = (uint8_t)hwtdi_a32_cp15_binds(word);
		break;
	default:
		break;
	}
	if (word >> 28 != 14)
		out->binds |= HWTDI_ARM_CONDITIONAL;
	return (true);
}
