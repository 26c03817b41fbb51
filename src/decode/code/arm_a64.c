/*
 * Classes of A64 instructions.
 *
 * Source: DDI 0487, "A64 Instruction Set Encoding", "Branches, Exception
 * Generating and System instructions"; there is no branch elsewhere.
 */
#include "decode/code/arm_insn.h"

/* Bits [low, low + n). */
static uint32_t
field(uint32_t word, unsigned int low, unsigned int n)
{
	return (word >> low & (((uint32_t)1 << n) - 1));
}

static void
conditional(uint32_t imm, unsigned int bits, uint64_t address,
    struct hwtdi_arm_insn *out)
{
	hwtdi_arm_branch_to(out, HWTD_BRANCH_CONDITIONAL,
	    address + (uint64_t)(hwtdi_arm_signed(imm, bits) * 4));
	out->binds = HWTDI_ARM_CONDITIONAL;
}

/* SVC, HVC, SMC, TENTER; BRK, HLT, TCANCEL and DCPS have no class. */
static bool
exception(uint32_t word, struct hwtdi_arm_insn *out)
{
	const unsigned int ll = field(word, 0, 2);

	if (field(word, 2, 3) != 0)
		return (false);
	switch (field(word, 21, 3)) {
	case 0:
		if (ll == 0)
			return (false);
		out->branch = HWTD_BRANCH_FAR_CALL;
		return (true);
	case 1:
	case 2:
	case 3:
		return (ll == 0);
	case 5:
		return (ll != 0);
	case 7:
		/* Bit 17: NB; the immediate has seven bits. */
		if (field(word, 18, 3) != 0 || field(word, 12, 5) != 0 ||
		    ll != 0)
			return (false);
		out->branch = HWTD_BRANCH_FAR_CALL;
		return (true);
	default:
		return (false);
	}
}

static void
system_insn(uint32_t word, struct hwtdi_arm_insn *out)
{
	if ((word & 0xfffff01f) == 0xd503301f) {
		/* Barriers; of those with 001 the nXS forms of DSB. */
		switch (field(word, 5, 3)) {
		case 1:
			if (field(word, 8, 2) == 2)
				out->binds = HWTDI_ARM_BARRIER;
			break;
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
	} else if (word == 0xd503205f || word == 0xd503207f ||
	    (word & 0xffffffc0) == 0xd5031000)
		/* WFE, WFI; WFET, WFIT. */
		out->binds = HWTDI_ARM_WAIT;
	else if ((word & 0xffffffe0) == 0xd5233060)
		out->binds = HWTDI_ARM_TSTART;
}

/* Which key or none: fields op3 and op4, and where there is one register. */
static bool
is_plain_or_key(uint32_t word)
{
	const unsigned int op3 = field(word, 10, 6), op4 = field(word, 0, 5);

	return (op3 == 0 ? op4 == 0 : (op3 & ~1u) == 2 && op4 == 31);
}

/* Bits 31 to 25 are those of branches to a register. */
static bool
to_register(uint32_t word, struct hwtdi_arm_insn *out)
{
	static const uint8_t classes[3] = { HWTD_BRANCH_INDIRECT_JUMP,
		HWTD_BRANCH_INDIRECT_CALL, HWTD_BRANCH_RETURN };
	const unsigned int opc = field(word, 21, 4), op3 = field(word, 10, 6);
	const unsigned int rn = field(word, 5, 5);
	bool is_one;

	if (field(word, 16, 5) != 31)
		return (false);
	switch (opc) {
	case 0:
	case 1:
		is_one = is_plain_or_key(word);
		break;
	case 2:
		/* With a key it is LR; the last field can be a register. */
		is_one = op3 == 0 ? field(word, 0, 5) == 0
				  : (op3 & ~1u) == 2 && rn == 31;
		break;
	case 4:
		is_one = is_plain_or_key(word) && rn == 31;
		break;
	case 5:
		/* DRPS: only a debugger has it. */
		return (word == 0xd6bf03e0);
	case 7:
		/* TEXIT, with NB. */
		is_one = (word & ~0x400u) == 0xd6ff03e0;
		break;
	case 8:
	case 9:
		is_one = (op3 & ~1u) == 2;
		break;
	default:
		return (false);
	}
	if (opc == 4 || opc == 7)
		out->branch = HWTD_BRANCH_FAR_RETURN;
	else
		out->branch = classes[opc & 3];
	return (is_one);
}

/* CB and its forms for bytes and halfwords. */
static bool
compare_and_branch(uint32_t word, uint64_t address, struct hwtdi_arm_insn *out)
{
	const unsigned int cc = field(word, 21, 3);
	bool is_one = cc < 4 || cc >= 6;

	if (field(word, 24, 1) != 0)
		/* An immediate. */
		is_one = is_one && field(word, 14, 1) == 0;
	else if (field(word, 15, 1) != 0)
		/* Bytes, halfwords. */
		is_one = is_one && word >> 31 == 0;
	else
		is_one = is_one && field(word, 14, 1) == 0;
	conditional(field(word, 5, 9), 9, address, out);
	return (is_one);
}

/* Bits 31 to 25 of one of the groups with 101 in its middle. */
static bool
branches(uint32_t word, uint64_t address, struct hwtdi_arm_insn *out)
{
	switch (field(word, 25, 7)) {
	case 0x0a: /* ...... B, BL */
	case 0x0b:
	case 0x4a:
	case 0x4b:
		hwtdi_arm_branch_to(out,
		    word >> 31 != 0 ? HWTD_BRANCH_CALL : HWTD_BRANCH_JUMP,
		    address + (uint64_t)(hwtdi_arm_signed(word, 26) * 4));
		return (true);
	case 0x1a: /* CBZ, CBNZ */
	case 0x5a:
		conditional(field(word, 5, 19), 19, address, out);
		return (true);
	case 0x1b: /* TBZ, TBNZ */
	case 0x5b:
		conditional(field(word, 5, 14), 14, address, out);
		return (true);
	case 0x2a: /* B.cond, BC.cond; RETAASPPC, RETABSPPC with a label */
		if (field(word, 24, 1) == 0) {
			conditional(field(word, 5, 19), 19, address, out);
			return (true);
		}
		out->branch = HWTD_BRANCH_RETURN;
		return (field(word, 22, 2) == 0 && field(word, 0, 5) == 31);
	case 0x3a:
	case 0x7a:
		return (compare_and_branch(word, address, out));
	case 0x6a:
		if (field(word, 24, 1) == 0)
			return (exception(word, out));
		system_insn(word, out);
		return (true);
	case 0x6b:
		return (to_register(word, out));
	default:
		return (false);
	}
}

bool
hwtdi_a64_decode(uint32_t word, uint64_t address, struct hwtdi_arm_insn *out)
{
	*out = (struct hwtdi_arm_insn){ .length = 4 };
	if ((word >> 26 & 7) == 5)
		return (branches(word, address, out));
	/* UDF. */
	return (word > 0xffff);
}
