/*
 * Entries of instructions with VEX, EVEX and XOP.
 */
#include "decode/code/x86_state.h"

#define TAIL(t) ((uint32_t)HWTDI_X86_TAIL_##t << HWTDI_X86_TAIL_SHIFT)
#define SP(s) ((uint32_t)HWTDI_X86_SP_##s << HWTDI_X86_SPECIAL_SHIFT)
#define REG_ONLY(p) ((uint32_t)(p) << HWTDI_X86_REG_SHIFT)

uint32_t
hwtdi_x86_three_byte_entry(uint8_t escape, uint8_t opcode)
{
	uint32_t entry = 0;

	if (escape == 0x3a) {
		entry |= hwtdi_x86_0f3a[opcode] | TAIL(8);
		return (opcode == 0xf0 ? entry | SP(HRESET) : entry);
	}
	entry |= hwtdi_x86_0f38[opcode];
	switch (opcode) {
	case 0x8a:
	case 0x8b:
		return (entry | HWTDI_X86_ONLY_64);
	case 0xd8:
		return (entry | SP(AES_WIDE));
	default:
		return (entry);
	}
}

/* A byte follows: shifts by a number, comparisons, shuffles. */
static bool
map1_has_byte(uint8_t opcode)
{
	return ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
	    (opcode >= 0xc4 && opcode <= 0xc6));
}

/* RDMSR and WRMSRNS, URDMSR and UWRMSR of a number. */
static uint32_t
map7_entry(uint8_t opcode, unsigned int mandatory)
{
	uint32_t entry = REG_ONLY(HWTDI_X86_F3 | HWTDI_X86_F2) |
	    HWTDI_X86_ONLY_64 | TAIL(32);

	if (opcode == 0xf8)
		return (entry);
	if (opcode != 0xf6)
		return (0);
	return (mandatory == HWTDI_X86_WITH_F3 ? entry | SP(TRACE_SWITCH)
					       : entry);
}

static uint32_t
vex_entry(unsigned int map, uint8_t opcode, unsigned int mandatory)
{
	uint32_t entry = 0;

	switch (map) {
	case 1:
		entry |= hwtdi_x86_vex[1][opcode];
		if (opcode == 0x77)
			return (entry | HWTDI_X86_BARE);
		return (map1_has_byte(opcode) ? entry | TAIL(8) : entry);
	case 2:
		entry |= hwtdi_x86_vex[2][opcode];
		/* AMX and CMPccXADD. */
		if ((opcode >= 0x48 && opcode <= 0x4b) || opcode == 0x5c ||
		    opcode == 0x5e || opcode == 0x6c ||
		    (opcode & 0xf0) == 0xe0)
			entry |= HWTDI_X86_ONLY_64;
		return (entry);
	case 3:
		return (entry | hwtdi_x86_vex[3][opcode] | TAIL(8));
	case 5:
		/* AMX-FP8. */
		return (opcode == 0xfd
			? entry | REG_ONLY(15) | HWTDI_X86_ONLY_64
			: 0);
	case 7:
		return (map7_entry(opcode, mandatory));
	default:
		return (0);
	}
}

/* What follows instructions of map 0 and 1 also follows them in map 4. */
static uint32_t
map4_tail(uint8_t opcode)
{
	switch (opcode) {
	case 0x24: /* SHLD */
	case 0x2c: /* SHRD */
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
		return (TAIL(8));
	case 0x69:
	case 0x81:
		return (TAIL(Z));
	case 0xf6:
	case 0xf7:
		return (SP(UNARY));
	default:
		return (0);
	}
}

/* APX gave these encodings to instructions of VEX and others. */
static bool
evex_is_apx(unsigned int map, uint8_t opcode)
{
	switch (map) {
	case 1: /* KMOV */
		return ((opcode & 0xfc) == 0x90);
	case 2: /* AMX, CMPccXADD, BMI */
		return ((opcode >= 0x48 && opcode <= 0x4b) || opcode == 0x6d ||
		    opcode >= 0xe0);
	case 3: /* AMX, RORX */
		return (opcode == 0x07 || opcode == 0x77 || opcode == 0xf0);
	case 4:
		return (true);
	default:
		return (false);
	}
}

static uint32_t
evex_entry(unsigned int map, uint8_t opcode, unsigned int mandatory)
{
	uint32_t entry = 0;

	if (map < 1 || map > 7)
		return (0);
	if (map < 7)
		entry |= hwtdi_x86_evex[map][opcode];
	if (evex_is_apx(map, opcode))
		entry |= HWTDI_X86_ONLY_64;
	switch (map) {
	case 1:
		return (map1_has_byte(opcode) ? entry | TAIL(8) : entry);
	case 3:
		return (entry | TAIL(8));
	case 4:
		return (entry | map4_tail(opcode));
	case 7:
		return (map7_entry(opcode, mandatory));
	default:
		return (entry);
	}
}

static uint32_t
xop_entry(unsigned int map, uint8_t opcode)
{
	static const uint32_t tails[3] = { TAIL(8), 0, TAIL(32) };

	if (map < 8 || map > 10)
		return (0);
	return (hwtdi_x86_xop[map - 8][opcode] | tails[map - 8]);
}

uint32_t
hwtdi_x86_vector_entry(enum hwtdi_x86_encoding encoding, unsigned int map,
    uint8_t opcode, unsigned int mandatory)
{
	switch (encoding) {
	case HWTDI_X86_VEX:
		return (vex_entry(map, opcode, mandatory));
	case HWTDI_X86_EVEX:
		return (evex_entry(map, opcode, mandatory));
	case HWTDI_X86_XOP:
		return (xop_entry(map, opcode));
	default:
		return (0);
	}
}

/* Opcodes whose modrm.reg selects the instruction: which values exist. */
static unsigned int
vex_group(unsigned int map, uint8_t opcode)
{
	switch (map << 8 | opcode) {
	case 0x171:
	case 0x172:
		return (0x54);
	case 0x173:
		return (0xcc);
	case 0x1ae:
		return (0x0c);
	case 0x2f3:
		return (0x0e);
	case 0x7f6:
	case 0x7f8:
		return (0x01);
	default:
		return (0xff);
	}
}

static unsigned int
evex_group(unsigned int map, uint8_t opcode)
{
	switch (map << 8 | opcode) {
	case 0x171:
		return (0x54);
	case 0x172:
		return (0x57);
	case 0x173:
		return (0xcc);
	case 0x249:
	case 0x48f:
	case 0x7f6:
	case 0x7f8:
		return (0x01);
	case 0x2c6:
	case 0x2c7:
		return (0x66);
	case 0x2f3:
		return (0x0e);
	case 0x4fe:
		return (0x03);
	/* INC, DEC, PUSH2. */
	case 0x4ff:
		return (0x43);
	default:
		return (0xff);
	}
}

static unsigned int
xop_group(unsigned int map, uint8_t opcode)
{
	switch (map << 8 | opcode) {
	case 0x901:
		return (0xfe);
	case 0x902:
		return (0x42);
	case 0x912:
	case 0xa12:
		return (0x03);
	default:
		return (0xff);
	}
}

/* The operand is an array of addresses, or a tile: SIB is needed. */
static bool
needs_sib(enum hwtdi_x86_encoding encoding, unsigned int map, uint8_t opcode)
{
	if (map != 2 || encoding == HWTDI_X86_XOP)
		return (false);
	if (opcode >= 0x90 && opcode <= 0x93)
		return (true);
	if (opcode == 0x4a || opcode == 0x4b)
		return (true);
	return (encoding == HWTDI_X86_EVEX &&
	    ((opcode >= 0xa0 && opcode <= 0xa3) || opcode == 0xc6 ||
		opcode == 0xc7));
}

bool
hwtdi_x86_vector_has(enum hwtdi_x86_encoding encoding, unsigned int map,
    uint8_t opcode, unsigned int mandatory, uint8_t modrm, bool sib)
{
	unsigned int reg = modrm >> 3 & 7, regs;

	if (encoding == HWTDI_X86_VEX) {
		/* LDTILECFG, STTILECFG, TILERELEASE, TILEZERO. */
		if (map == 2 && opcode == 0x49) {
			if (modrm < 0xc0)
				return (reg == 0);
			return (mandatory == 0 ? modrm == 0xc0
					       : (modrm & 7) == 0);
		}
		regs = vex_group(map, opcode);
	} else if (encoding == HWTDI_X86_EVEX)
		regs = evex_group(map, opcode);
	else
		regs = xop_group(map, opcode);
	if (modrm < 0xc0 && !sib && needs_sib(encoding, map, opcode))
		return (false);
	return ((regs >> reg & 1) != 0);
}
