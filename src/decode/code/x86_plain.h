/*
 * Length and class of x86 instructions: what most of them are.
 *
 * Plain are those with at most one of the prefixes 66, F2 and F3, REX, an opcode
 * of one or two bytes and nothing special, in 32- and 64-bit code.
 */
#ifndef HWTDI_X86_PLAIN_H
#define HWTDI_X86_PLAIN_H

#include "decode/code/x86_insn.h"
#include "decode/code/x86_state.h"

/* What is read at once. */
#define HWTDI_X86_PLAIN_BYTES 8

#define HWTDI_X86_INLINE static inline __attribute__((always_inline))

struct hwtdi_x86_plain {
	/* From the last byte of the opcode on. */
	uint64_t word;
	uint32_t entry;
	/* Bytes, and those of them behind the operand. */
	unsigned int length, tail;
};

/* By hwtdi_x86_special: values of modrm.reg that are nothing special. */
extern const uint8_t hwtdi_x86_plain_regs[64];

/* The first byte in the lowest bits; compilers make one load of it. */
HWTDI_X86_INLINE uint64_t
hwtdi_x86_word(const uint8_t *p)
{
	return ((uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	    (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
	    (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	    (uint64_t)p[7] << 56);
}

/*
 * What a plain instruction is; false if it is anything else, or none, or without
 * `prefixed`, if it has one of the prefixes 66, F2 and F3.  There are
 * HWTDI_X86_PLAIN_BYTES bytes; whether there are more, if it is longer, is for
 * the caller to see.
 *
 * There are few conditions on the way to the length: which instruction comes
 * next, a processor foretells badly.
 */
HWTDI_X86_INLINE bool
hwtdi_x86_plain(const uint8_t *bytes, bool in_64, bool prefixed,
    struct hwtdi_x86_plain *out)
{
	uint64_t word = hwtdi_x86_word(bytes);
	const uint32_t *map = hwtdi_x86_one_byte;
	unsigned int mandatory = HWTDI_X86_NO_PREFIX;
	unsigned int size = HWTDI_X86_SIZE_32, length = 1;
	unsigned int opcode, operand, special, tail;
	uint32_t entry;

	opcode = word & 0xff;
	if (prefixed && (opcode == 0x66 || (opcode & 0xfe) == 0xf2)) {
		mandatory = opcode == 0xf2 ? HWTDI_X86_WITH_F2
					   : HWTDI_X86_WITH_F3;
		if (opcode == 0x66) {
			mandatory = HWTDI_X86_WITH_66;
			size = HWTDI_X86_SIZE_16;
		}
		word >>= 8;
		length++;
	}
	opcode = word & 0xff;
	if (in_64 && opcode >> 4 == 4) {
		if ((opcode & HWTDI_X86_REX_W) != 0)
			size = HWTDI_X86_SIZE_64;
		word >>= 8;
		length++;
	}
	opcode = word & 0xff;
	if (opcode == 0x0f) {
		word >>= 8;
		opcode = word & 0xff;
		length++;
		map = hwtdi_x86_two_byte;
	} else if (mandatory >= HWTDI_X86_WITH_F3)
		return (false);

	entry = map[opcode];
	/* Without waiting for the entry. */
	operand = hwtdi_x86_operands[(uint8_t)(word >> 8)];
	if ((entry & HWTDI_X86_BARE) != 0)
		operand = HWTDI_X86_REGISTER;
	if ((entry &
		(in_64 ? HWTDI_X86_HEAD | HWTDI_X86_NOT_64
		       : HWTDI_X86_HEAD | HWTDI_X86_ONLY_64)) != 0 ||
	    (entry >> ((operand & HWTDI_X86_REGISTER) + mandatory) & 1) == 0 ||
	    ((entry & HWTDI_X86_BRANCH_MASK) != 0 &&
		mandatory != HWTDI_X86_NO_PREFIX))
		return (false);
	special = (entry & HWTDI_X86_SPECIAL_MASK) >> HWTDI_X86_SPECIAL_SHIFT;
	if (special != 0 &&
	    (hwtdi_x86_plain_regs[special] >> (word >> 11 & 7) & 1) == 0)
		return (false);
	length += operand >> HWTDI_X86_OPERAND_SHIFT;
	if ((operand & HWTDI_X86_SIB) != 0 && (word >> 16 & 7) == 5)
		length += 4;
	tail = hwtdi_x86_tail_bytes[(entry & HWTDI_X86_TAIL_MASK) >>
	    HWTDI_X86_TAIL_SHIFT][size];
	out->word = word;
	out->entry = entry;
	out->length = length + tail;
	out->tail = tail;
	return (true);
}

/* Where a near branch leads. */
static inline void
hwtdi_x86_plain_target(const struct hwtdi_x86_plain *plain, bool in_64,
    uint64_t address, struct hwtdi_x86_insn *out)
{
	uint64_t target;

	if (!hwtdi_x86_branches_near(out->branch))
		return;
	target = address + out->length +
	    (uint64_t)(plain->tail == 1
		    ? (int64_t)(int8_t)(plain->word >> 8)
		    : (int64_t)(int32_t)(plain->word >> 8));
	out->direct = true;
	out->target = in_64 || address > UINT32_MAX ? target
						    : (uint32_t)target;
}

HWTDI_X86_INLINE void
hwtdi_x86_plain_insn(const struct hwtdi_x86_plain *plain, bool in_64,
    uint64_t address, struct hwtdi_x86_insn *out)
{
	out->length = (uint8_t)plain->length;
	out->branch = (plain->entry & HWTDI_X86_BRANCH_MASK) >>
	    HWTDI_X86_BRANCH_SHIFT;
	out->direct = false;
	out->binds = 0;
	out->target = 0;
	if ((plain->entry & HWTDI_X86_BRANCH_MASK) != 0)
		hwtdi_x86_plain_target(plain, in_64, address, out);
}

#endif /* HWTDI_X86_PLAIN_H */
