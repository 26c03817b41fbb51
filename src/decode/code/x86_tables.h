/*
 * The opcode map of x86: which encodings there are and what follows them.
 *
 * Source: Intel SDM vol. 2D, "Opcode Map", and the instruction pages of
 * vol. 2; AMD APM vol. 3, "Opcode and Operand Encodings"; Intel APX
 * specification.
 */
#ifndef HWTDI_X86_TABLES_H
#define HWTDI_X86_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * An entry of an opcode map.  Its low byte is the forms that exist: one bit
 * for each mandatory prefix (none, 66, F3, F2), the low four for a memory
 * operand, the high four for a register or no operand.
 */
#define HWTDI_X86_NP 1u
#define HWTDI_X86_66 2u
#define HWTDI_X86_F3 4u
#define HWTDI_X86_F2 8u
#define HWTDI_X86_FORM_MASK 0xffu
#define HWTDI_X86_REG_SHIFT 4

/* What follows the opcode and its operand. */
#define HWTDI_X86_TAIL_SHIFT 8
#define HWTDI_X86_TAIL_MASK (15u << 8)
enum hwtdi_x86_tail {
	HWTDI_X86_TAIL_NONE,
	/* Bytes: 1, 2, 3, 4, and 1 twice. */
	HWTDI_X86_TAIL_8,
	HWTDI_X86_TAIL_16,
	HWTDI_X86_TAIL_24,
	HWTDI_X86_TAIL_32,
	/* By operand size: 2, 4, 4 and 2, 4, 8. */
	HWTDI_X86_TAIL_Z,
	HWTDI_X86_TAIL_V,
	/* The displacement of a near branch: 4 in 64-bit code. */
	HWTDI_X86_TAIL_J,
	/* A far pointer. */
	HWTDI_X86_TAIL_P,
	HWTDI_X86_N_TAILS
};

/* There is no modrm byte. */
#define HWTDI_X86_BARE_SHIFT 4
#define HWTDI_X86_BARE (1u << 12)
#define HWTDI_X86_NOT_64 (1u << 13)
#define HWTDI_X86_ONLY_64 (1u << 14)
/* LOCK is allowed if the operand is in memory. */
#define HWTDI_X86_LOCKABLE (1u << 15)
/* An hwtd_branch. */
#define HWTDI_X86_BRANCH_SHIFT 16
#define HWTDI_X86_BRANCH_MASK (15u << 16)
/* An hwtdi_x86_special. */
#define HWTDI_X86_SPECIAL_SHIFT 20
#define HWTDI_X86_SPECIAL_MASK (63u << 20)
/* A prefix, an escape or the first byte of VEX and the like. */
#define HWTDI_X86_HEAD (1u << 26)
/* Bits 30 and 31: what mod says is ignored, the operand is a register. */
#define HWTDI_X86_MOD_IGNORED (0xc0u << 24)

/* Groups by modrm.reg come first: they have a row in hwtdi_x86_groups. */
enum hwtdi_x86_special {
	HWTDI_X86_SP_NONE,
	HWTDI_X86_SP_POP,
	HWTDI_X86_SP_FROM_SEG,
	HWTDI_X86_SP_TO_SEG,
	HWTDI_X86_SP_MOV_IMM,
	HWTDI_X86_SP_UNARY,
	HWTDI_X86_SP_INC_DEC,
	HWTDI_X86_SP_GROUP5,
	HWTDI_X86_SP_GROUP6,
	HWTDI_X86_SP_GROUP7,
	HWTDI_X86_SP_BIT_TEST,
	HWTDI_X86_SP_GROUP9,
	HWTDI_X86_SP_SHIFT_W_D,
	HWTDI_X86_SP_SHIFT_Q,
	HWTDI_X86_SP_GROUP15,
	HWTDI_X86_SP_VMREAD,
	HWTDI_X86_SP_AES_WIDE,
	HWTDI_X86_SP_HRESET,
	HWTDI_X86_N_GROUPS,

	HWTDI_X86_SP_STRING = HWTDI_X86_N_GROUPS,
	HWTDI_X86_SP_PORT_STRING,
	HWTDI_X86_SP_PORT_READ,
	HWTDI_X86_SP_MOFFS,
	HWTDI_X86_SP_FPU,
	HWTDI_X86_SP_IFLAG,
	HWTDI_X86_SP_TRACE_SWITCH,
	HWTDI_X86_SP_CONTROL,
	HWTDI_X86_SP_TO_CONTROL,
	HWTDI_X86_SP_DEBUG,
	HWTDI_X86_SP_3DNOW,
	HWTDI_X86_SP_PADLOCK_A6,
	HWTDI_X86_SP_PADLOCK_A7
};

/* Which values of modrm.reg exist, one bit each, by mandatory prefix. */
struct hwtdi_x86_group {
	uint8_t mem[4], reg[4];
	/* With LOCK, in memory. */
	uint8_t lock;
};

extern const uint32_t hwtdi_x86_one_byte[256];
extern const uint32_t hwtdi_x86_two_byte[256];
extern const struct hwtdi_x86_group hwtdi_x86_groups[HWTDI_X86_N_GROUPS];
/*
 * 0F 01 with the register forms C0 to FF: the low four bits say with which
 * mandatory prefixes it exists, the high four which of them need 64-bit code.
 */
extern const uint8_t hwtdi_x86_0f01[64];
/* D8 to DF with register operands: bit modrm & 63. */
extern const uint64_t hwtdi_x86_fpu[8];
/* Their memory operands: bit modrm.reg. */
extern const uint8_t hwtdi_x86_fpu_mem[8];
/* The last byte of 3DNow! instructions, one bit each. */
extern const uint32_t hwtdi_x86_3dnow[8];

/* Forms of 0F 38 and 0F 3A; the latter all end in a byte. */
extern const uint8_t hwtdi_x86_0f38[256];
extern const uint8_t hwtdi_x86_0f3a[256];
/* Forms by map: 1 to 3; 1 to 6; 8 to 10. */
extern const uint8_t hwtdi_x86_vex[4][256];
extern const uint8_t hwtdi_x86_evex[7][256];
extern const uint8_t hwtdi_x86_xop[3][256];

enum hwtdi_x86_encoding {
	HWTDI_X86_LEGACY,
	HWTDI_X86_VEX,
	HWTDI_X86_EVEX,
	HWTDI_X86_XOP
};

/*
 * The entry of an opcode with VEX, EVEX or XOP, 0 if there is none.  `map` is
 * the number in the prefix, `mandatory` its field pp.
 */
uint32_t hwtdi_x86_vector_entry(enum hwtdi_x86_encoding encoding,
    unsigned int map, uint8_t opcode, unsigned int mandatory);

/*
 * What the entry does not say: whether the operand may be this one.  `sib`:
 * it has that byte.
 */
bool hwtdi_x86_vector_has(enum hwtdi_x86_encoding encoding, unsigned int map,
    uint8_t opcode, unsigned int mandatory, uint8_t modrm, bool sib);

/* 0F 38 and 0F 3A. */
uint32_t hwtdi_x86_three_byte_entry(uint8_t escape, uint8_t opcode);

#endif /* HWTDI_X86_TABLES_H */
