/*
 * An instruction on the way: what its prefixes and opcode have said so far.
 */
#ifndef HWTDI_X86_STATE_H
#define HWTDI_X86_STATE_H

#include "decode/code/x86_insn.h"
#include "decode/code/x86_tables.h"

/* Which prefixes there are. */
#define HWTDI_X86_OPERAND_SIZE (1u << 0)
#define HWTDI_X86_ADDRESS_SIZE (1u << 1)
#define HWTDI_X86_REP (1u << 2)
#define HWTDI_X86_REPNE (1u << 3)
#define HWTDI_X86_LOCK (1u << 4)

/* Bits of REX and REX2: a higher register by reg, 64 bits wide. */
#define HWTDI_X86_REX_R 0x04
#define HWTDI_X86_REX_W 0x08

/* Mandatory prefixes as numbers: bits of a form, columns of a group. */
enum hwtdi_x86_mandatory {
	HWTDI_X86_NO_PREFIX,
	HWTDI_X86_WITH_66,
	HWTDI_X86_WITH_F3,
	HWTDI_X86_WITH_F2
};

enum hwtdi_x86_size {
	HWTDI_X86_SIZE_16,
	HWTDI_X86_SIZE_32,
	HWTDI_X86_SIZE_64
};

struct hwtdi_x86_state {
	/* The next byte and the end of what may be read. */
	const uint8_t *at, *end;
	uint32_t prefixes;
	uint8_t isa;
	/* REX right before the opcode, or 0. */
	uint8_t rex;
	bool wide;
	uint8_t opcode, modrm;
	/* An hwtdi_x86_mandatory, an hwtdi_x86_size. */
	uint8_t mandatory, size;
	/* Bytes at the end that the entry does not tell of. */
	uint8_t tail;
	/* An hwtdi_x86_encoding, and the map of opcodes in it. */
	uint8_t encoding, map;
};

/*
 * The operand by modrm, outside of 16-bit addresses; from 256 on those of
 * instructions without modrm.
 *
 * HWTDI_X86_SIB: with a base of 5 in SIB there are four bytes more.
 * HWTDI_X86_REGISTER: the shift to the forms with a register.
 * In the high bits the bytes of modrm, SIB and displacement.
 */
#define HWTDI_X86_SIB 1u
#define HWTDI_X86_REGISTER 4u
#define HWTDI_X86_OPERAND_SHIFT 4
extern const uint8_t hwtdi_x86_operands[512];

/* Bytes of a tail, with a column to fill up. */
extern const uint8_t hwtdi_x86_tail_bytes[HWTDI_X86_N_TAILS][4];

static inline bool
hwtdi_x86_is_register(uint8_t modrm)
{
	return (modrm >= 0xc0);
}

static inline unsigned int
hwtdi_x86_reg(uint8_t modrm)
{
	return (modrm >> 3 & 7);
}

/* Branches whose target is in the instruction. */
static inline bool
hwtdi_x86_branches_near(uint8_t branch)
{
	return (branch == HWTD_BRANCH_CONDITIONAL ||
	    branch == HWTD_BRANCH_JUMP || branch == HWTD_BRANCH_CALL);
}

/*
 * What there is to know of an instruction besides its entry, of which `which`
 * is the hwtdi_x86_special.  False if there is no such instruction.
 */
bool hwtdi_x86_special(struct hwtdi_x86_state *s, unsigned int which,
    struct hwtdi_x86_insn *out);

/*
 * LOCK where it is allowed only, and the prefixes of lock elision.  False if
 * LOCK is not.
 */
bool hwtdi_x86_lock(const struct hwtdi_x86_state *s, uint32_t entry,
    struct hwtdi_x86_insn *out);

/* As hwtdi_x86_decode, of an instruction set that is one of x86. */
bool hwtdi_x86_decode_any(const uint8_t *bytes, size_t n, uint8_t isa,
    uint64_t address, struct hwtdi_x86_insn *out);

#endif /* HWTDI_X86_STATE_H */
