/*
 * Length and class of x86 instructions: what most of them are.
 */
#include "decode/code/x86_insn.h"
#include "decode/code/x86_state.h"

/* What is read at once. */
#define WORD_BYTES 8

/* By hwtdi_x86_special: values of modrm.reg that are nothing special. */
static const uint8_t plain_regs[64] = {
	[HWTDI_X86_SP_MOV_IMM] = 0x01,
	[HWTDI_X86_SP_UNARY] = 0xfc,
	[HWTDI_X86_SP_INC_DEC] = 0x03,
	[HWTDI_X86_SP_GROUP5] = 0x43,
};

/* The first byte in the lowest bits; compilers make one load of it. */
static inline uint64_t
load_word(const uint8_t *p)
{
	return ((uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	    (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
	    (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	    (uint64_t)p[7] << 56);
}

/* A branch of which `word` starts with the last byte of the opcode. */
static void
plain_branch(uint64_t word, unsigned int tail, bool in_64, uint64_t address,
    struct hwtdi_x86_insn *out)
{
	uint64_t target;

	if (!hwtdi_x86_branches_near(out->branch))
		return;
	target = address + out->length +
	    (uint64_t)(tail == 1 ? (int64_t)(int8_t)(word >> 8)
				 : (int64_t)(int32_t)(word >> 8));
	out->direct = true;
	out->target = in_64 || address > UINT32_MAX ? target
						    : (uint32_t)target;
}

/*
 * Decode what most instructions are: at most one of the prefixes 66, F2 and
 * F3, REX, an opcode of one or two bytes and nothing special.  False if it is
 * anything else, or none.  There are WORD_BYTES bytes, and more if the length
 * comes out as more.
 *
 * There are few conditions on the way to the length: which instruction comes
 * next, a processor foretells badly.
 */
static inline bool
decode_plain(const uint8_t *bytes, size_t n, bool in_64, uint64_t address,
    struct hwtdi_x86_insn *out)
{
	uint64_t word = load_word(bytes);
	const uint32_t *map = hwtdi_x86_one_byte;
	unsigned int mandatory = HWTDI_X86_NO_PREFIX;
	unsigned int size = HWTDI_X86_SIZE_32, length = 1;
	unsigned int opcode, operand, special, tail;
	uint32_t entry;

	opcode = word & 0xff;
	if (opcode == 0x66 || (opcode & 0xfe) == 0xf2) {
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
	if (special != 0 && (plain_regs[special] >> (word >> 11 & 7) & 1) == 0)
		return (false);
	length += operand >> HWTDI_X86_OPERAND_SHIFT;
	if ((operand & HWTDI_X86_SIB) != 0 && (word >> 16 & 7) == 5)
		length += 4;
	tail = hwtdi_x86_tail_bytes[(entry & HWTDI_X86_TAIL_MASK) >>
	    HWTDI_X86_TAIL_SHIFT][size];
	length += tail;
	if (length > n)
		return (false);
	out->length = (uint8_t)length;
	out->branch = (entry & HWTDI_X86_BRANCH_MASK) >>
	    HWTDI_X86_BRANCH_SHIFT;
	out->direct = false;
	out->binds = 0;
	out->target = 0;
	if ((entry & HWTDI_X86_BRANCH_MASK) != 0)
		plain_branch(word, tail, in_64, address, out);
	return (true);
}

bool
hwtdi_x86_decode(const uint8_t *bytes, size_t n, uint8_t isa, uint64_t address,
    struct hwtdi_x86_insn *out)
{
	bool in_64 = isa == HWTD_ISA_X86_64;

	if (n >= WORD_BYTES && (in_64 || isa == HWTD_ISA_X86_32) &&
	    decode_plain(bytes, n, in_64, address, out))
		return (true);
	if (isa < HWTD_ISA_X86_16 || isa > HWTD_ISA_X86_64)
		return (false);
	return (hwtdi_x86_decode_any(bytes, n, isa, address, out));
}
