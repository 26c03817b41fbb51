/*
 * A classification of branches by their opcodes.  Lengths are known for
 * branches only; nothing else is needed, since the next address is observed.
 *
 * Source: Intel SDM vol. 2, appendix A, "Opcode Map".
 */
#include "insn_class.h"

/* Bytes of a ModRM operand: the byte itself, SIB and displacement. */
static unsigned int
modrm_bytes(const uint8_t *modrm)
{
	const unsigned int mod = modrm[0] >> 6;
	const unsigned int rm = modrm[0] & 7;
	unsigned int n = 1;

	if (mod == 3)
		return (n);
	if (rm == 4) {
		n++;
		if (mod == 0 && (modrm[1] & 7) == 5)
			n += 4;
	}
	if (mod == 1)
		n += 1;
	else if (mod == 2 || (mod == 0 && rm == 5))
		n += 4;
	return (n);
}

static int64_t
displacement(const uint8_t *at, unsigned int bytes)
{
	if (bytes == 1)
		return ((int8_t)at[0]);
	return ((int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 |
	    (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24));
}

static struct insn_class
direct(enum insn_kind kind, uint64_t ip, const uint8_t *code, unsigned int at,
    unsigned int bytes)
{
	struct insn_class c = { .kind = kind, .next = ip + at + bytes };

	c.target = c.next + (uint64_t)displacement(code + at, bytes);
	return (c);
}

static bool
is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return (true);
	default:
		return (false);
	}
}

static bool
is_string(uint8_t opcode)
{
	return ((opcode >= 0x6c && opcode <= 0x6f) ||
	    (opcode >= 0xa4 && opcode <= 0xa7) ||
	    (opcode >= 0xaa && opcode <= 0xaf));
}

static struct insn_class
two_byte(uint64_t ip, const uint8_t *code, unsigned int at)
{
	struct insn_class c = { .kind = INSN_OTHER };
	const uint8_t opcode = code[at++];

	if (opcode >= 0x80 && opcode <= 0x8f)
		return (direct(INSN_COND, ip, code, at, 4));
	if (opcode == 0x05) {
		c.kind = INSN_SYSCALL;
		c.next = ip + at;
	} else if (opcode == 0x07 || opcode == 0x34 || opcode == 0x35)
		c.kind = INSN_FAR;
	return (c);
}

static struct insn_class
group_five(uint64_t ip, const uint8_t *code, unsigned int at)
{
	struct insn_class c = { .kind = INSN_OTHER };

	switch (code[at] >> 3 & 7) {
	case 2:
		c.kind = INSN_INDIRECT_CALL;
		break;
	case 4:
		c.kind = INSN_INDIRECT_JUMP;
		break;
	case 3:
	case 5:
		c.kind = INSN_FAR;
		break;
	default:
		return (c);
	}
	c.next = ip + at + modrm_bytes(code + at);
	return (c);
}

struct insn_class
insn_classify(uint64_t ip, const uint8_t code[INSN_MAX])
{
	struct insn_class c = { .kind = INSN_OTHER };
	unsigned int at = 0;
	bool rep = false;
	uint8_t opcode;

	/* Room for the longest branch behind the prefixes must be left. */
	while (at < INSN_MAX - 8 && is_prefix(code[at])) {
		rep = rep || code[at] == 0xf2 || code[at] == 0xf3;
		at++;
	}
	if ((code[at] & 0xf0) == 0x40)
		at++;
	opcode = code[at++];
	if (opcode == 0x0f)
		return (two_byte(ip, code, at));
	if (opcode >= 0x70 && opcode <= 0x7f)
		return (direct(INSN_COND, ip, code, at, 1));
	if (opcode >= 0xe0 && opcode <= 0xe3)
		return (direct(INSN_COND, ip, code, at, 1));
	if (opcode == 0xff)
		return (group_five(ip, code, at));
	switch (opcode) {
	case 0xe8:
		return (direct(INSN_CALL, ip, code, at, 4));
	case 0xe9:
		return (direct(INSN_JUMP, ip, code, at, 4));
	case 0xeb:
		return (direct(INSN_JUMP, ip, code, at, 1));
	case 0xc2:
		c.kind = INSN_RETURN;
		c.next = ip + at + 2;
		break;
	case 0xc3:
		c.kind = INSN_RETURN;
		c.next = ip + at;
		break;
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf1:
		c.kind = INSN_FAR;
		break;
	default:
		c.repeats = rep && is_string(opcode);
		break;
	}
	return (c);
}
