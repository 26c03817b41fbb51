/*
 * Classes of T32 instructions, and the state of IT blocks.
 *
 * Source: DDI 0487, "T32 instruction set encoding"; DDI 0553, "T32 instruction
 * set encoding" and "Armv8.1-M Low Overhead Branch extension".
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

static void
to_register(uint32_t rm, struct hwtdi_arm_insn *out)
{
	out->branch = rm == LR ? HWTD_BRANCH_RETURN
			       : HWTD_BRANCH_INDIRECT_JUMP;
}

static void
conditional(uint64_t pc, int64_t offset, struct hwtdi_arm_insn *out)
{
	hwtdi_arm_branch_32(out, HWTD_BRANCH_CONDITIONAL, pc, offset);
	out->binds = HWTDI_ARM_CONDITIONAL;
}

/* Bits 15 to 10 are 010001. */
static void
high_registers(uint32_t half, struct hwtdi_arm_insn *out)
{
	const unsigned int rm = field(half, 3, 4);
	const bool to_pc = field(half, 7, 1) != 0 && field(half, 0, 3) == 7;

	switch (field(half, 8, 2)) {
	case 0: /* ADD PC */
		if (to_pc)
			out->branch = HWTD_BRANCH_INDIRECT_JUMP;
		break;
	case 2: /* MOV PC */
		if (to_pc)
			to_register(rm, out);
		break;
	case 3: /* BX, BLX, and with bit 2 BXNS, BLXNS */
		if (field(half, 0, 2) != 0)
			break;
		if (field(half, 7, 1) != 0)
			out->branch = HWTD_BRANCH_INDIRECT_CALL;
		else
			to_register(rm, out);
		break;
	default:
		break;
	}
}

/* Bits 15 to 12 are 1011. */
static void
miscellaneous(uint32_t half, uint64_t pc, struct hwtdi_arm_insn *out)
{
	if ((half & 0x0500) == 0x0100)
		/* CBZ, CBNZ */
		conditional(pc,
		    (int64_t)(field(half, 9, 1) << 6 | field(half, 3, 5) << 1),
		    out);
	else if ((half & 0x0f00) == 0x0d00)
		/* POP with PC */
		out->branch = HWTD_BRANCH_RETURN;
	else if ((half & 0x0f00) == 0x0f00) {
		if (field(half, 0, 4) != 0)
			out->it = (uint8_t)half;
		else if (half == 0xbf20 || half == 0xbf30)
			/* WFE, WFI */
			out->binds = HWTDI_ARM_WAIT;
	}
}

static bool
decode_short(uint32_t half, uint64_t pc, struct hwtdi_arm_insn *out)
{
	switch (half >> 12) {
	case 0x4:
		if (field(half, 10, 2) == 1)
			high_registers(half, out);
		break;
	case 0xb:
		miscellaneous(half, pc, out);
		break;
	case 0xd:
		switch (field(half, 8, 4)) {
		case 14: /* UDF */
			return (false);
		case 15: /* SVC */
			out->branch = HWTD_BRANCH_FAR_CALL;
			break;
		default:
			conditional(pc, hwtdi_arm_signed(half, 8) * 2, out);
			break;
		}
		break;
	case 0xe:
		hwtdi_arm_branch_32(out, HWTD_BRANCH_JUMP, pc,
		    hwtdi_arm_signed(half, 11) * 2);
		break;
	default:
		break;
	}
	return (true);
}

/*
 * What has 110 or 111 in bits 15 to 13 and 0 in bit 12, with bit 0 set: the
 * loops of Armv8.1-M.
 */
static bool
loops(uint32_t word, uint64_t pc, struct hwtdi_arm_insn *out)
{
	const uint32_t offset = field(word, 1, 10) << 2 |
	    field(word, 11, 1) << 1;
	const uint32_t rn = field(word, 16, 4), op = field(word, 20, 7);

	/* Somewhere there is a branch label: BF, BFL and the like are hints. */
	if (field(word, 23, 4) != 0)
		return (true);
	/* DLS, DLSTP, LCTP, VCTP */
	if (field(word, 12, 4) == 14)
		return (op < 5 && field(word, 1, 10) == 0);
	if (rn != PC) {
		/* WLS, WLSTP */
		conditional(pc, (int64_t)offset, out);
		return (op < 5);
	}
	if (op == 2)
		/* LE without LR */
		hwtdi_arm_branch_32(out, HWTD_BRANCH_JUMP, pc,
		    -(int64_t)offset);
	else
		/* LE, LETP */
		conditional(pc, -(int64_t)offset, out);
	return (op < 3);
}

/* Offset of B, BL and BLX. */
static int64_t
far_offset(uint32_t word)
{
	const uint32_t s = field(word, 26, 1);
	const uint32_t i1 = field(word, 13, 1) ^ s ^ 1;
	const uint32_t i2 = field(word, 11, 1) ^ s ^ 1;

	return (hwtdi_arm_signed(s << 24 | i1 << 23 | i2 << 22 |
		field(word, 16, 10) << 12 | field(word, 0, 11) << 1,
	    25));
}

/* Bits 15 to 12 are 10x0. */
static bool
control(uint32_t word, uint64_t pc, struct hwtdi_arm_insn *out)
{
	if (field(word, 23, 3) != 7) {
		/* B under a condition */
		conditional(pc,
		    hwtdi_arm_signed(field(word, 26, 1) << 20 |
			    field(word, 11, 1) << 19 |
			    field(word, 13, 1) << 18 |
			    field(word, 16, 6) << 12 | field(word, 0, 11) << 1,
			21),
		    out);
		return (true);
	}
	if ((word & 0xfffffffe) == 0xf3af8002)
		/* WFE, WFI */
		out->binds = HWTDI_ARM_WAIT;
	else if ((word & 0xffffffe0) == 0xf3bf8f40)
		out->binds = HWTDI_ARM_BARRIER;
	else if ((word & 0xfffffff0) == 0xf3bf8f60)
		out->binds = HWTDI_ARM_ISB;
	else if ((word & 0xfff0ffff) == 0xf3c08f00)
		/* BXJ */
		out->branch = HWTD_BRANCH_INDIRECT_JUMP;
	else if ((word & 0xffffff00) == 0xf3de8f00)
		/* SUBS PC, LR; ERET */
		out->branch = HWTD_BRANCH_FAR_RETURN;
	else if ((word & 0xfff0f000) == 0xf7e08000 ||
	    (word & 0xfff0ffff) == 0xf7f08000)
		/* HVC, SMC */
		out->branch = HWTD_BRANCH_FAR_CALL;
	/* UDF */
	return ((word & 0xfff0f000) != 0xf7f0a000);
}

/* Bits 31 to 27 are 11110, bit 15 is set. */
static bool
branches(uint32_t word, uint64_t pc, struct hwtdi_arm_insn *out)
{
	switch (word & 0x5000) {
	case 0x0000:
		return (control(word, pc, out));
	case 0x1000:
		hwtdi_arm_branch_32(out, HWTD_BRANCH_JUMP, pc,
		    far_offset(word));
		return (true);
	case 0x4000:
		if ((word & 1) != 0)
			return (loops(word, pc, out));
		hwtdi_arm_branch_32(out, HWTD_BRANCH_CALL, pc & ~(uint64_t)3,
		    far_offset(word));
		out->target_isa = HWTD_ISA_A32;
		return (true);
	default:
		hwtdi_arm_branch_32(out, HWTD_BRANCH_CALL, pc,
		    far_offset(word));
		return (true);
	}
}

/* Bits 31 to 25 are 1110100. */
static void
load_multiple(uint32_t word, struct hwtdi_arm_insn *out)
{
	const uint32_t mode = field(word, 23, 2), rn = field(word, 16, 4);

	if ((word & 0xfff0ffe0) == 0xe8d0f000) {
		/* TBB, TBH */
		out->branch = HWTD_BRANCH_INDIRECT_JUMP;
		return;
	}
	/* Two registers, exclusive; stores. */
	if (field(word, 22, 1) != 0 || field(word, 20, 1) == 0)
		return;
	if (mode == 0 || mode == 3) {
		/* RFE */
		if ((word & 0xffff) == 0xc000)
			out->branch = HWTD_BRANCH_FAR_RETURN;
	} else if (field(word, 15, 1) != 0 && rn != PC)
		/* With PC for a base it is CLRM. */
		out->branch = (word & 0xffff0000) == 0xe8bd0000
		    ? HWTD_BRANCH_RETURN
		    : HWTD_BRANCH_INDIRECT_JUMP;
}

/* LDR of a word to PC. */
static void
load(uint32_t word, struct hwtdi_arm_insn *out)
{
	const bool literal = field(word, 16, 4) == PC;
	const unsigned int puw = field(word, 8, 3);

	if ((word & 0xff70f000) != 0xf850f000)
		return;
	if (!literal && field(word, 23, 1) == 0) {
		/* A register; else not LDRT, nor none of P and W. */
		if (field(word, 11, 1) == 0 ? field(word, 6, 5) != 0
					    : puw == 6 || (puw & 5) == 0)
			return;
		/* LDR PC, [SP], #imm */
		if ((word & 0xffffff00) == 0xf85dfb00) {
			out->branch = HWTD_BRANCH_RETURN;
			return;
		}
	}
	out->branch = HWTD_BRANCH_INDIRECT_JUMP;
}

static bool
decode_long(uint32_t word, uint64_t pc, struct hwtdi_arm_insn *out)
{
	switch (word >> 27) {
	case 0x1d:
		if (field(word, 25, 2) == 0)
			load_multiple(word, out);
		else if (word >> 28 == 0xe)
			out->binds = (uint8_t)hwtdi_a32_cp15_binds(word);
		return (true);
	case 0x1e:
		return (field(word, 15, 1) == 0 || branches(word, pc, out));
	default:
		/* BXAUT */
		if ((word & 0xfff00ff0) == 0xfb500f10)
			to_register(field(word, 0, 4), out);
		else
			load(word, out);
		return (true);
	}
}

bool
hwtdi_t32_decode(uint16_t high, uint16_t low, uint64_t address,
    struct hwtdi_arm_insn *out)
{
	const uint64_t pc = address + 4;
	const bool is_long = hwtdi_t32_is_long(high);

	*out = (struct hwtdi_arm_insn){ .length = is_long ? 4 : 2 };
	return (is_long ? decode_long((uint32_t)high << 16 | low, pc, out)
			: decode_short(high, pc, out));
}

/* IT blocks. */

/* Longest way back from an instruction to its IT: three of 4 bytes and IT. */
#define IT_REACH 14

/* How far is looked back for where an instruction begins. */
#define BEGIN_REACH 256

/*
 * An instruction begins at bytes[off]: one ends with each halfword that begins
 * none of two, and those that could come in pairs from there on.
 */
static bool
begins(const uint8_t *bytes, uint32_t off)
{
	uint32_t at = off;

	while (at >= 2 && off - at < BEGIN_REACH &&
	    hwtdi_t32_is_long(hwtdi_arm_half(bytes + at - 2)))
		at -= 2;
	return ((off - at) % 4 == 0);
}

/* The state at `off` if there is an IT at `at`; 0: it has come to its end. */
static uint8_t
state_from(const uint8_t *bytes, uint32_t at, uint32_t off)
{
	uint8_t it = bytes[at];

	for (at += 2; at < off && it != 0; it = hwtdi_t32_it_next(it))
		at += hwtdi_t32_is_long(hwtdi_arm_half(bytes + at)) ? 4 : 2;
	return (at == off ? it : 0);
}

uint8_t
hwtdi_t32_it_at(const uint8_t *bytes, uint32_t off)
{
	for (uint32_t back = 2; back <= IT_REACH && back <= off; back += 2) {
		const uint16_t half = hwtdi_arm_half(bytes + off - back);

		if ((half & 0xff00) == 0xbf00 && (half & 0xf) != 0 &&
		    begins(bytes, off - back))
			return (state_from(bytes, off - back, off));
	}
	return (0);
}

bool
hwtdi_arm_decode(const uint8_t *bytes, size_t n, uint8_t isa, uint64_t address,
    struct hwtdi_arm_insn *out)
{
	uint16_t high, low = 0;

	if (n < hwtdi_arm_length(bytes, n, isa))
		return (false);
	high = hwtdi_arm_half(bytes);
	if (isa != HWTD_ISA_T32 || hwtdi_t32_is_long(high))
		low = hwtdi_arm_half(bytes + 2);
	switch (isa) {
	case HWTD_ISA_A64:
		return (hwtdi_a64_decode((uint32_t)low << 16 | high, address,
		    out));
	case HWTD_ISA_A32:
		return (hwtdi_a32_decode((uint32_t)low << 16 | high, address,
		    out));
	case HWTD_ISA_T32:
		return (hwtdi_t32_decode(high, low, address, out));
	default:
		return (false);
	}
}
