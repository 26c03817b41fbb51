/*
 * The decoder of any x86 instruction.
 */
#include "decode/code/x86_state.h"

/* The prefixes that none of VEX, EVEX and XOP may follow. */
#define NOT_BEFORE_VEX                                                        \
	(HWTDI_X86_OPERAND_SIZE | HWTDI_X86_REP | HWTDI_X86_REPNE |           \
	    HWTDI_X86_LOCK)

/* JMPABS: eight bytes behind the opcode, given by REX.W. */
#define JMPABS                                                                \
	(HWTDI_X86_FORM_MASK | HWTDI_X86_BARE |                               \
	    (uint32_t)HWTDI_X86_TAIL_V << HWTDI_X86_TAIL_SHIFT |              \
	    (uint32_t)HWTD_BRANCH_INDIRECT_JUMP << HWTDI_X86_BRANCH_SHIFT)

/* Addresses are of 16 bits. */
static bool
has_short_addresses(const struct hwtdi_x86_state *s)
{
	return (s->isa != HWTD_ISA_X86_64 &&
	    (s->isa == HWTD_ISA_X86_16) ==
		((s->prefixes & HWTDI_X86_ADDRESS_SIZE) == 0));
}

/* Skip what the operand in memory needs.  False if it is cut short. */
static inline bool
skip_address(struct hwtdi_x86_state *s)
{
	unsigned int mod = s->modrm >> 6, rm = s->modrm & 7, n;

	if (has_short_addresses(s)) {
		n = mod == 0 && rm == 6 ? 2 : mod;
	} else {
		n = hwtdi_x86_operands[s->modrm];
		if ((n & HWTDI_X86_SIB) != 0) {
			if (s->at == s->end)
				return (false);
			n += (s->at[0] & 7) == 5 ? 4 << HWTDI_X86_OPERAND_SHIFT
						 : 0;
		}
		/* modrm itself is behind us. */
		n = (n >> HWTDI_X86_OPERAND_SHIFT) - 1;
	}
	if ((size_t)(s->end - s->at) < n)
		return (false);
	s->at += n;
	return (true);
}

/* The prefix that selects one of several instructions. */
static uint8_t
mandatory_of(uint32_t prefixes)
{
	if ((prefixes & HWTDI_X86_REPNE) != 0)
		return (HWTDI_X86_WITH_F2);
	if ((prefixes & HWTDI_X86_REP) != 0)
		return (HWTDI_X86_WITH_F3);
	return ((prefixes & HWTDI_X86_OPERAND_SIZE) != 0
		? HWTDI_X86_WITH_66
		: HWTDI_X86_NO_PREFIX);
}

/* 16-bit code and the others swap what 66 makes of the operand size. */
static uint8_t
size_of(const struct hwtdi_x86_state *s)
{
	if (s->wide)
		return (HWTDI_X86_SIZE_64);
	return ((s->isa == HWTD_ISA_X86_16) ==
		    ((s->prefixes & HWTDI_X86_OPERAND_SIZE) != 0)
		? HWTDI_X86_SIZE_32
		: HWTDI_X86_SIZE_16);
}

/* The displacement of a near branch: the n bytes before `end`. */
static int64_t
displacement(const uint8_t *end, unsigned int n)
{
	if (n == 1)
		return ((int8_t)end[-1]);
	if (n == 2)
		return ((int16_t)(end[-2] | end[-1] << 8));
	return ((int32_t)((uint32_t)end[-4] | (uint32_t)end[-3] << 8 |
	    (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24));
}

/*
 * Where a branch with IP of 16 bits goes.  In 16-bit code addresses hold the
 * base of CS, which nobody tells, so it is not known whether IP wraps around;
 * unless the address would leave the 4 GiB, in which the segment lies.
 */
static uint64_t
in_segment(const struct hwtdi_x86_state *s, uint64_t target)
{
	if (s->isa != HWTD_ISA_X86_16)
		return ((uint16_t)target);
	if (target <= UINT32_MAX)
		return (target);
	return ((int64_t)target < 0 ? target + 0x10000 : target - 0x10000);
}

/* Where it goes: the end of the instruction plus the displacement. */
static void
near_branch(const struct hwtdi_x86_state *s, uint64_t address,
    unsigned int tail, struct hwtdi_x86_insn *out)
{
	uint64_t target = address + out->length +
	    (uint64_t)displacement(s->at, tail);

	out->direct = true;
	/* Addresses out of the mode's reach are left as they are. */
	if (s->isa == HWTD_ISA_X86_64 || address > UINT32_MAX)
		out->target = target;
	else
		out->target = s->size == HWTDI_X86_SIZE_16
		    ? in_segment(s, target)
		    : (uint32_t)target;
}

/* modrm, its operand and the tail of what `entry` describes. */
static bool
finish(struct hwtdi_x86_state *s, uint32_t entry, const uint8_t *bytes,
    uint64_t address, struct hwtdi_x86_insn *out)
{
	unsigned int forms = entry & HWTDI_X86_FORM_MASK, which, tail;

	if ((entry &
		(s->isa == HWTD_ISA_X86_64 ? HWTDI_X86_NOT_64
					   : HWTDI_X86_ONLY_64)) != 0)
		return (false);
	if ((entry & HWTDI_X86_BARE) == 0) {
		if (s->at == s->end)
			return (false);
		s->modrm = *s->at++ |
		    (uint8_t)(entry >> 24 & HWTDI_X86_MOD_IGNORED >> 24);
		if (hwtdi_x86_is_register(s->modrm))
			forms >>= HWTDI_X86_REG_SHIFT;
		else if (!skip_address(s))
			return (false);
	} else
		forms >>= HWTDI_X86_REG_SHIFT;
	if ((forms >> s->mandatory & 1) == 0)
		return (false);
	if (s->encoding != HWTDI_X86_LEGACY &&
	    !hwtdi_x86_vector_has(s->encoding, s->map, s->opcode, s->mandatory,
		s->modrm, (s->modrm & 7) == 4 && !has_short_addresses(s)))
		return (false);
	out->branch = (entry & HWTDI_X86_BRANCH_MASK) >>
	    HWTDI_X86_BRANCH_SHIFT;
	out->direct = false;
	out->binds = 0;
	out->target = 0;
	if (s->isa == HWTD_ISA_X86_64 && hwtdi_x86_branches_near(out->branch))
		s->size = HWTDI_X86_SIZE_64;
	tail = hwtdi_x86_tail_bytes[(entry & HWTDI_X86_TAIL_MASK) >>
	    HWTDI_X86_TAIL_SHIFT][s->size];
	which = (entry & HWTDI_X86_SPECIAL_MASK) >> HWTDI_X86_SPECIAL_SHIFT;
	if (which != 0) {
		if (!hwtdi_x86_special(s, which, out))
			return (false);
		tail += s->tail;
	}
	if ((s->prefixes &
		(HWTDI_X86_LOCK | HWTDI_X86_REP | HWTDI_X86_REPNE)) != 0 &&
	    !hwtdi_x86_lock(s, entry, out))
		return (false);
	if ((size_t)(s->end - s->at) < tail)
		return (false);
	s->at += tail;
	out->length = (uint8_t)(s->at - bytes);
	if (hwtdi_x86_branches_near(out->branch))
		near_branch(s, address, tail, out);
	return (true);
}

/* The entry behind 0F; 0 if there is none. */
static uint32_t
two_byte(struct hwtdi_x86_state *s)
{
	uint8_t escape;

	if (s->at == s->end)
		return (0);
	s->map = 1;
	s->opcode = *s->at++;
	if ((hwtdi_x86_two_byte[s->opcode] & HWTDI_X86_HEAD) == 0)
		return (hwtdi_x86_two_byte[s->opcode]);
	if (s->at == s->end)
		return (0);
	escape = s->opcode;
	s->map = 2;
	s->opcode = *s->at++;
	return (hwtdi_x86_three_byte_entry(escape, s->opcode));
}

/*
 * Fill in from the bytes of VEX, EVEX and XOP that hold the map, W and pp, of
 * which the opcode comes `n` bytes behind the first.
 */
static uint32_t
vector(struct hwtdi_x86_state *s, enum hwtdi_x86_encoding encoding,
    uint8_t map, uint8_t w_pp, size_t n)
{
	if ((s->prefixes & NOT_BEFORE_VEX) != 0 || s->rex != 0 ||
	    (size_t)(s->end - s->at) <= n)
		return (0);
	s->encoding = (uint8_t)encoding;
	s->map = map;
	s->wide = (w_pp & 0x80) != 0;
	s->mandatory = w_pp & 3;
	if (s->isa == HWTD_ISA_X86_64 && s->wide)
		s->size = HWTDI_X86_SIZE_64;
	else
		s->size = s->mandatory == HWTDI_X86_WITH_66
		    ? HWTDI_X86_SIZE_16
		    : HWTDI_X86_SIZE_32;
	s->opcode = s->at[n];
	s->at += n + 1;
	return (hwtdi_x86_vector_entry(encoding, map, s->opcode,
	    s->mandatory));
}

static uint32_t
evex(struct hwtdi_x86_state *s)
{
	bool in_64 = s->isa == HWTD_ISA_X86_64;
	uint8_t map;

	if (s->end - s->at < 4)
		return (0);
	/* With APX these are bits of register numbers. */
	if (!in_64 && ((s->at[0] & 0x08) != 0 || (s->at[1] & 0x04) == 0))
		return (0);
	map = s->at[0] & 7;
	return (vector(s, HWTDI_X86_EVEX, map, s->at[1], 3));
}

/* A jump to an address of its own, which a trace tells with a TIP. */
static uint32_t
jmpabs(struct hwtdi_x86_state *s)
{
	if ((s->prefixes & (NOT_BEFORE_VEX | HWTDI_X86_ADDRESS_SIZE)) != 0 ||
	    s->wide)
		return (0);
	s->size = HWTDI_X86_SIZE_64;
	return (JMPABS);
}

/* REX2, which has a bit for map 1; without that bit A1 is JMPABS. */
static uint32_t
rex2(struct hwtdi_x86_state *s)
{
	uint8_t payload, row;
	uint32_t entry;

	if (s->end - s->at < 2 || s->rex != 0)
		return (0);
	payload = s->at[0];
	s->wide = (payload & HWTDI_X86_REX_W) != 0;
	s->size = size_of(s);
	s->rex = payload;
	s->opcode = s->at[1];
	s->at += 2;
	row = s->opcode & 0xf0;
	if ((payload & 0x80) != 0) {
		s->map = 1;
		if (row == 0x30 || row == 0x80)
			return (0);
		return (hwtdi_x86_two_byte[s->opcode]);
	}
	if (s->opcode == 0xa1)
		return (jmpabs(s));
	if (row == 0x40 || row == 0x70 || row == 0xa0 || row == 0xe0)
		return (0);
	entry = hwtdi_x86_one_byte[s->opcode];
	/* POP is a head only because of XOP. */
	if ((entry & HWTDI_X86_HEAD) != 0 && s->opcode != 0x8f)
		return (0);
	return (entry);
}

/*
 * The entry of what starts with a HEAD byte, already in s->opcode.
 */
static uint32_t
head(struct hwtdi_x86_state *s)
{
	const bool in_64 = s->isa == HWTD_ISA_X86_64;
	uint8_t next;

	if (s->opcode == 0x0f)
		return (two_byte(s));
	if (s->opcode == 0xd5 && in_64)
		return (rex2(s));
	/* Of the rest, the next byte tells what the first one is. */
	next = s->at < s->end ? s->at[0] : 0;
	switch (s->opcode) {
	case 0xc4:
		if ((in_64 || next >= 0xc0) && s->end - s->at > 1)
			return (vector(s, HWTDI_X86_VEX, next & 0x1f, s->at[1],
			    2));
		break;
	case 0xc5:
		if (in_64 || next >= 0xc0)
			return (vector(s, HWTDI_X86_VEX, 1, next & 0x7f, 1));
		break;
	case 0x62:
		if (in_64 || next >= 0xc0)
			return (evex(s));
		break;
	case 0x8f:
		if ((next & 0x1f) >= 8 && s->end - s->at > 1)
			return (vector(s, HWTDI_X86_XOP, next & 0x1f, s->at[1],
			    2));
		break;
	default:
		break;
	}
	return (hwtdi_x86_one_byte[s->opcode]);
}

/* Note a prefix.  False if the byte is none. */
static bool
is_prefix(struct hwtdi_x86_state *s, uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
		break;
	case 0x66:
		s->prefixes |= HWTDI_X86_OPERAND_SIZE;
		break;
	case 0x67:
		s->prefixes |= HWTDI_X86_ADDRESS_SIZE;
		break;
	case 0xf0:
		s->prefixes |= HWTDI_X86_LOCK;
		break;
	case 0xf2:
		s->prefixes = (s->prefixes & ~HWTDI_X86_REP) | HWTDI_X86_REPNE;
		break;
	case 0xf3:
		s->prefixes = (s->prefixes & ~HWTDI_X86_REPNE) | HWTDI_X86_REP;
		break;
	default:
		if (s->isa != HWTD_ISA_X86_64 || (byte & 0xf0) != 0x40)
			return (false);
		s->rex = byte;
		return (true);
	}
	/* REX counts only right before the opcode. */
	s->rex = 0;
	return (true);
}

bool
hwtdi_x86_decode_any(const uint8_t *bytes, size_t n, uint8_t isa,
    uint64_t address, struct hwtdi_x86_insn *out)
{
	struct hwtdi_x86_state s = { .at = bytes, .isa = isa };
	uint32_t entry;

	s.end = bytes + (n < HWTDI_X86_MAX_LENGTH ? n : HWTDI_X86_MAX_LENGTH);
	do {
		if (s.at == s.end)
			return (false);
		s.opcode = *s.at++;
		entry = hwtdi_x86_one_byte[s.opcode];
	} while ((entry & HWTDI_X86_HEAD) != 0 && is_prefix(&s, s.opcode));
	s.wide = (s.rex & HWTDI_X86_REX_W) != 0;
	s.mandatory = mandatory_of(s.prefixes);
	s.size = size_of(&s);
	if ((entry & HWTDI_X86_HEAD) != 0)
		entry = head(&s);
	return (finish(&s, entry, bytes, address, out));
}
