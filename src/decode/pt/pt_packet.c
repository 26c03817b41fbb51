/*
 * Intel PT packets: first bytes by class, and the rarer packets.
 */
#include "decode/pt/pt_packet.h"

#define B HWTDI_PT_BAD
#define T HWTDI_PT_TNT
#define C HWTDI_PT_CYC
#define A HWTDI_PT_IP

/*
 * 32 first bytes each.  Even ones but 00 and 02 are TNT; 11 in the low bits is
 * CYC; five low bits 00001, 01101, 10001, 11101 are the packets with an IP,
 * unless their three high bits are reserved.  In a block 100 in the low bits
 * is an item.
 */
#define BYTES(first, second, nine, ip, item)                                  \
	first, ip, second, C, item, B, T, C, T, B, T, C, item, ip, T, C, T,   \
	    ip, T, C, item, B, T, C, T, nine, T, C, item, ip, T, C
#define ALL(item)                                                             \
	BYTES(HWTDI_PT_PAD, HWTDI_PT_EXT, HWTDI_PT_TSC, A, item),             \
	    BYTES(T, T, B, A, item), BYTES(T, T, HWTDI_PT_MTC, A, item),      \
	    BYTES(T, T, B, A, item), BYTES(T, T, HWTDI_PT_MODE, A, item),     \
	    BYTES(T, T, B, B, item), BYTES(T, T, HWTDI_PT_TRIG, A, item),     \
	    BYTES(T, T, B, B, item)

const uint8_t hwtdi_pt_classes[256] = { ALL(T) };
const uint8_t hwtdi_pt_block_classes[256] = { ALL(HWTDI_PT_BIP) };
const uint8_t hwtdi_pt_no_classes[256] = { B };

#undef B
#undef T
#undef C
#undef A

#define LOW(n) (((uint64_t)1 << (n)) - 1)

const struct hwtdi_pt_ip_mode hwtdi_pt_ip_modes[8] = {
	{ 0, 0, 0, 1 },
	{ LOW(16), LOW(16), 0, 3 },
	{ LOW(32), LOW(32), 0, 5 },
	{ LOW(48), UINT64_MAX, (uint64_t)1 << 47, 7 },
	{ LOW(48), LOW(48), 0, 7 },
	{ 0, 0, 0, 1 },
	{ UINT64_MAX, UINT64_MAX, 0, 9 },
	{ 0, 0, 0, 1 },
};

const uint8_t hwtdi_pt_ip_kinds[8] = {
	[0x01 >> 2] = HWTD_PK_PT_TIP_PGD,
	[0x0d >> 2] = HWTD_PK_PT_TIP,
	[0x11 >> 2] = HWTD_PK_PT_TIP_PGE,
	[0x1d >> 2] = HWTD_PK_PT_FUP,
};

static bool
put(struct hwtdi_pt_packet *out, unsigned int kind, unsigned int bytes,
    uint64_t value, unsigned int count, unsigned int flags)
{
	hwtdi_pt_put(out, kind, bytes, value, count);
	out->flags = (uint16_t)flags;
	return (true);
}

static unsigned int
if_set(uint64_t bits, unsigned int flag)
{
	return (bits != 0 ? flag : 0);
}

static bool
lex_cyc(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out)
{
	uint64_t value = p[0] >> 3;
	unsigned int bits = 5, n = 1;
	bool is_large = false;

	/* OVF came after the first of two bytes. */
	if (state->skd007 != 0 && p[1] == 2 && p[2] == 0xf3) {
		state->classes = hwtdi_pt_classes;
		return (put(out, HWTD_PK_PT_OVF, 3, 0, 0, 0));
	}

	/* Seven bits a byte, as long as the lowest bit says so. */
	do {
		const uint64_t more = p[n] >> 1;

		if (bits < 64)
			value |= more << bits;
		is_large = is_large ||
		    (more != 0 && bits > 57 &&
			(bits >= 64 || more >> (64 - bits) != 0));
		bits += 7;
	} while ((p[n++] & 1) != 0 && n < 15);
	/* More bytes than a number of 64 bits has. */
	if ((p[n - 1] & 1) != 0)
		return (false);
	return (put(out, HWTD_PK_PT_CYC, n, is_large ? UINT64_MAX : value, 0,
	    0));
}

static bool
lex_trig(const uint8_t *p, struct hwtdi_pt_packet *out)
{
	/* Bit 7 IP, 6 a count follows, 5 more than one. */
	const bool counts = (p[1] & 0x40) != 0;

	return (put(out, HWTD_PK_PT_TRIG, counts ? 5 : 3, p[2],
	    counts ? (unsigned int)hwtdi_pt_load(p + 3, 2) : 0,
	    if_set(p[1] & 0x80, HWTD_PKF_FUP_FOLLOWS) |
		if_set(p[1] & 0x40, HWTD_PKF_TRIG_COUNT) |
		if_set(p[1] & 0x20, HWTD_PKF_TRIG_MULTIPLE) |
		if_set(p[1] & 0x1f, HWTD_PKF_RESERVED)));
}

static bool
lex_mode(const uint8_t *p, struct hwtdi_pt_packet *out)
{
	/* Leaf 0 is Exec, 1 is TSX. */
	const bool exec = p[1] >> 5 == 0;

	return (p[1] >> 5 <= 1 &&
	    put(out, exec ? HWTD_PK_PT_MODE_EXEC : HWTD_PK_PT_MODE_TSX, 2,
		p[1] & (exec ? 7 : 3), 0,
		if_set(p[1] & (exec ? 0x18 : 0x1c), HWTD_PKF_RESERVED)));
}

static bool
lex_psb(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out)
{
	if (!hwtdi_pt_is_psb(p))
		return (false);
	state->last_ip = 0;
	state->ip_known = UINT64_MAX;
	state->classes = hwtdi_pt_classes;
	state->place = HWTD_PKF_STATUS;
	return (put(out, HWTD_PK_PT_PSB, 16, 0, 0, 0));
}

static bool
lex_tma(const uint8_t *p, struct hwtdi_pt_packet *out)
{
	const uint64_t fast = hwtdi_pt_load(p + 5, 2);

	/* Erratum SKZ84: reserved bits are set, and one byte more follows. */
	if (p[4] != 0 || fast > 0x1ff)
		return (false);
	return (put(out, HWTD_PK_PT_TMA, 7, hwtdi_pt_load(p + 2, 2),
	    (unsigned int)fast, 0));
}

static bool
lex_pip(const uint8_t *p, struct hwtdi_pt_packet *out)
{
	/* Bit 0 is NR; CR3 from bit 5 on. */
	const uint64_t v = hwtdi_pt_load(p + 2, 6);

	return (put(out, HWTD_PK_PT_PIP, 8, v >> 1 << 5, 0,
	    if_set(v & 1, HWTD_PKF_NON_ROOT)));
}

static bool
lex_pwrx(const uint8_t *p, struct hwtdi_pt_packet *out)
{
	const uint64_t v = hwtdi_pt_load(p + 2, 5);

	return (put(out, HWTD_PK_PT_PWRX, 7, v >> 4 & 15,
	    (unsigned int)(v & 15),
	    if_set(v & 0x100, HWTD_PKF_WAKE_INTERRUPT) |
		if_set(v & 0x400, HWTD_PKF_WAKE_STORE) |
		if_set(v & 0x800, HWTD_PKF_WAKE_AUTONOMOUS) |
		if_set(v >> 12 | (v & 0x200), HWTD_PKF_RESERVED)));
}

/* PTW: bit 7 says that a FUP follows, bits 6:5 how long it is. */
static bool
lex_ptw(const uint8_t *p, struct hwtdi_pt_packet *out)
{
	const unsigned int n = (p[1] >> 5 & 3) == 0 ? 4 : 8;

	if ((p[1] >> 5 & 3) > 1)
		return (false);
	return (put(out, HWTD_PK_PT_PTW, 2 + n, hwtdi_pt_load(p + 2, n), n,
	    if_set(p[1] & 0x80, HWTD_PKF_FUP_FOLLOWS)));
}

/* Blocks, and events: third byte first. */
static bool
lex_third(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out)
{
	switch (p[1]) {
	case 0x13:
		return (put(out, HWTD_PK_PT_CFE, 4, p[3], p[2] & 0x1f,
		    if_set(p[2] & 0x80, HWTD_PKF_FUP_FOLLOWS) |
			if_set(p[2] & 0x60, HWTD_PKF_RESERVED)));
	case 0x53:
		return (put(out, HWTD_PK_PT_EVD, 11, hwtdi_pt_load(p + 3, 8),
		    p[2] & 0x3f, if_set(p[2] & 0xc0, HWTD_PKF_RESERVED)));
	case 0x63:
		state->item_bytes = (p[2] & 0x80) != 0 ? 4 : 8;
		state->classes = hwtdi_pt_block_classes;
		return (put(out, HWTD_PK_PT_BBP, 3, p[2] & 0x1f,
		    state->item_bytes,
		    if_set(p[2] & 0x60, HWTD_PKF_RESERVED)));
	default:
		return (p[2] == 0x88 &&
		    put(out, HWTD_PK_PT_MNT, 11, hwtdi_pt_load(p + 3, 8), 0,
			0));
	}
}

static bool
lex_ext(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out)
{
	uint64_t v;

	switch (p[1]) {
	case 0x82:
		return (lex_psb(state, p, out));
	case 0x23:
		return (put(out, HWTD_PK_PT_PSBEND, 2, 0, 0, 0));
	case 0xf3:
		state->classes = hwtdi_pt_classes;
		return (put(out, HWTD_PK_PT_OVF, 2, 0, 0, 0));
	case 0x83:
		return (put(out, HWTD_PK_PT_STOP, 2, 0, 0, 0));
	case 0x03:
		return (put(out, HWTD_PK_PT_CBR, 4, p[2], 0,
		    if_set(p[3], HWTD_PKF_RESERVED)));
	case 0x73:
		return (lex_tma(p, out));
	case 0x43:
		return (lex_pip(p, out));
	case 0xc8:
		return (put(out, HWTD_PK_PT_VMCS, 7,
		    hwtdi_pt_load(p + 2, 5) << 12, 0, 0));
	case 0x62:
	case 0xe2:
		return (put(out, HWTD_PK_PT_EXSTOP, 2, 0, 0,
		    if_set(p[1] & 0x80, HWTD_PKF_FUP_FOLLOWS)));
	case 0xc2:
		/* Hints have 8 bits, extensions 2. */
		v = hwtdi_pt_load(p + 2, 8);
		return (put(out, HWTD_PK_PT_MWAIT, 10, (uint32_t)v,
		    (unsigned int)(v >> 32),
		    if_set(v & ~(uint64_t)0x3000000ff, HWTD_PKF_RESERVED)));
	case 0x22:
		/* HW is bit 7; libipt has it in bit 3, which is reserved. */
		v = hwtdi_pt_load(p + 2, 2);
		return (put(out, HWTD_PK_PT_PWRE, 4, v >> 12,
		    (unsigned int)(v >> 8 & 15),
		    if_set(v & 0x88, HWTD_PKF_HARDWARE) |
			if_set(v & 0x7f, HWTD_PKF_RESERVED)));
	case 0xa2:
		return (lex_pwrx(p, out));
	case 0x33:
	case 0xb3:
		state->classes = hwtdi_pt_classes;
		return (put(out, HWTD_PK_PT_BEP, 2, 0, 0,
		    if_set(p[1] & 0x80, HWTD_PKF_FUP_FOLLOWS)));
	case 0x13:
	case 0x53:
	case 0x63:
	case 0xc3:
		return (lex_third(state, p, out));
	default:
		return ((p[1] & 0x1f) == 0x12 && lex_ptw(p, out));
	}
}

bool
hwtdi_pt_lex_cold(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out)
{
	switch (state->classes[p[0]]) {
	case HWTDI_PT_EXT:
		return (lex_ext(state, p, out));
	case HWTDI_PT_CYC:
		return (lex_cyc(state, p, out));
	case HWTDI_PT_MODE:
		return (lex_mode(p, out));
	case HWTDI_PT_TRIG:
		return (lex_trig(p, out));
	case HWTDI_PT_BIP:
		return (put(out, HWTD_PK_PT_BIP, 1u + state->item_bytes,
		    hwtdi_pt_load(p + 1, state->item_bytes), p[0] >> 3, 0));
	default:
		return (false);
	}
}
