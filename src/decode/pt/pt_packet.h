/*
 * Intel PT packets, one at a time: what begins here, and how long is it?
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions"; TRIG from "Trigger Trace".
 *
 * What is frequent is inline, because the loops around it (rows, visitor, the
 * flow of the engine) are only as fast as this.
 */
#ifndef HWTDI_PT_PACKET_H
#define HWTDI_PT_PACKET_H

#include <hwtdecode/packet.h>
#include <stdbool.h>
#include <string.h>

/* The longest packet: CYC of 15 bytes, PSB of 16. */
#define HWTDI_PT_PACKET_MAX 16

struct hwtdi_pt_packet {
	uint64_t value;
	/* With HWTD_PKF_IP. */
	uint64_t ip;
	/* Bytes; of padding, those of the run. */
	uint32_t bytes;
	uint32_t count;
	/* An hwtd_packet_kind, and HWTD_PKF_* bits. */
	uint16_t kind;
	uint16_t flags;
};

/* Classes of first bytes. */
enum hwtdi_pt_class {
	HWTDI_PT_BAD,
	HWTDI_PT_PAD,
	HWTDI_PT_TNT,
	HWTDI_PT_EXT,
	HWTDI_PT_CYC,
	/* CYC of several bytes. */
	HWTDI_PT_CYCS,
	HWTDI_PT_TIP,
	HWTDI_PT_PGE,
	HWTDI_PT_PGD,
	HWTDI_PT_FUP,
	HWTDI_PT_TSC,
	HWTDI_PT_MTC,
	HWTDI_PT_MODE,
	HWTDI_PT_TRIG,
	HWTDI_PT_BIP
};

/* By first byte: usually, in a block, and where no packet is known to begin. */
extern const uint8_t hwtdi_pt_classes[256];
extern const uint8_t hwtdi_pt_block_classes[256];
extern const uint8_t hwtdi_pt_no_classes[256];

/* What packets mean depends on this. */
struct hwtdi_pt_lex_state {
	/* One of the tables above. */
	const uint8_t *classes;
	/* Last IP; its bits in `ip_known` are known. */
	uint64_t last_ip;
	uint64_t ip_known;
	/* HWTD_PKF_STATUS, HWTD_PKF_GUESSED: what packets have here. */
	uint16_t place;
	/* Bytes of an item of the block that is open. */
	uint8_t item_bytes;
	/* The CPU has erratum SKD007. */
	bool skd007;
};

static inline uint64_t
hwtdi_pt_load(const uint8_t *p, unsigned int n)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return (n >= 8 ? v : v & (((uint64_t)1 << 8 * n) - 1));
}

static inline void
hwtdi_pt_put(struct hwtdi_pt_packet *out, unsigned int kind,
    unsigned int bytes, uint64_t value, unsigned int count)
{
	out->kind = (uint16_t)kind;
	out->flags = 0;
	out->bytes = bytes;
	out->value = value;
	out->ip = 0;
	out->count = count;
}

/* `n` outcomes below the stop bit of `bits`, which is not 0. */
static inline unsigned int
hwtdi_pt_stop_bit(uint64_t bits)
{
	return (63u - (unsigned int)__builtin_clzll(bits));
}

#define HWTDI_PT_INLINE static inline __attribute__((always_inline))

/* An IP packet, and last IP behind it. */
HWTDI_PT_INLINE bool
hwtdi_pt_lex_ip(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    unsigned int kind, struct hwtdi_pt_packet *out)
{
	const unsigned int mode = p[0] >> 5;
	uint64_t v, mask;

	switch (mode) {
	case 0:
		hwtdi_pt_put(out, kind, 1, 0, 0);
		return (true);
	case 1:
		v = hwtdi_pt_load(p + 1, 2);
		mask = 0xffff;
		hwtdi_pt_put(out, kind, 3, v, mode);
		break;
	case 2:
		v = hwtdi_pt_load(p + 1, 4);
		mask = 0xffffffff;
		hwtdi_pt_put(out, kind, 5, v, mode);
		break;
	case 3:
		v = hwtdi_pt_load(p + 1, 6);
		hwtdi_pt_put(out, kind, 7, v, mode);
		v = (uint64_t)((int64_t)(v << 16) >> 16);
		mask = UINT64_MAX;
		break;
	case 4:
		v = hwtdi_pt_load(p + 1, 6);
		mask = 0xffffffffffff;
		hwtdi_pt_put(out, kind, 7, v, mode);
		break;
	case 6:
		v = hwtdi_pt_load(p + 1, 8);
		mask = UINT64_MAX;
		hwtdi_pt_put(out, kind, 9, v, mode);
		break;
	default:
		return (false);
	}
	state->last_ip = (state->last_ip & ~mask) | v;
	state->ip_known |= mask;
	if (state->ip_known == UINT64_MAX) {
		out->flags = HWTD_PKF_IP;
		out->ip = state->last_ip;
	}
	return (true);
}

/* Bytes of the run of padding that begins at `p`, before `end`. */
static inline unsigned int
hwtdi_pt_pad_run(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *at = p + 1;
	uint64_t v;

	if ((uint64_t)(end - p) > UINT32_MAX)
		end = p + UINT32_MAX;
	while (end - at >= 8) {
		memcpy(&v, at, sizeof(v));
		if (v != 0)
			break;
		at += 8;
	}
	while (at < end && *at == 0)
		at++;
	return ((unsigned int)(at - p));
}

/*
 * The packet at `p`, if it is one of the frequent ones.  HWTDI_PT_PACKET_MAX
 * bytes must be readable, and [p, end) is what counts for padding.
 */
HWTDI_PT_INLINE bool
hwtdi_pt_lex_hot(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    const uint8_t *end, struct hwtdi_pt_packet *out)
{
	const uint8_t b = p[0];
	unsigned int n;
	uint64_t v;

	switch (state->classes[b]) {
	case HWTDI_PT_TNT:
		n = hwtdi_pt_stop_bit(b) - 1;
		hwtdi_pt_put(out, HWTD_PK_PT_TNT_8, 1,
		    (uint64_t)(b >> 1) & ((1u << n) - 1), n);
		return (true);
	case HWTDI_PT_PAD:
		n = hwtdi_pt_pad_run(p, end);
		hwtdi_pt_put(out, HWTD_PK_PT_PAD, n, 0, n);
		return (true);
	case HWTDI_PT_TIP:
		return (hwtdi_pt_lex_ip(state, p, HWTD_PK_PT_TIP, out));
	case HWTDI_PT_PGE:
		return (hwtdi_pt_lex_ip(state, p, HWTD_PK_PT_TIP_PGE, out));
	case HWTDI_PT_PGD:
		return (hwtdi_pt_lex_ip(state, p, HWTD_PK_PT_TIP_PGD, out));
	case HWTDI_PT_FUP:
		return (hwtdi_pt_lex_ip(state, p, HWTD_PK_PT_FUP, out));
	case HWTDI_PT_CYC:
		hwtdi_pt_put(out, HWTD_PK_PT_CYC, 1, b >> 3, 0);
		return (true);
	case HWTDI_PT_CYCS:
		if ((p[1] & 1) != 0 || state->skd007)
			return (false);
		hwtdi_pt_put(out, HWTD_PK_PT_CYC, 2,
		    (uint64_t)(b >> 3 | p[1] >> 1 << 5), 0);
		return (true);
	case HWTDI_PT_MTC:
		hwtdi_pt_put(out, HWTD_PK_PT_MTC, 2, p[1], 0);
		return (true);
	case HWTDI_PT_TSC:
		hwtdi_pt_put(out, HWTD_PK_PT_TSC, 8, hwtdi_pt_load(p + 1, 7),
		    0);
		return (true);
	case HWTDI_PT_EXT:
		/* Outcomes, up to 47. */
		v = hwtdi_pt_load(p + 2, 6);
		if (p[1] != 0xa3 || v == 0)
			return (false);
		n = hwtdi_pt_stop_bit(v);
		hwtdi_pt_put(out, HWTD_PK_PT_TNT_64, 8,
		    v & (((uint64_t)1 << n) - 1), n);
		return (true);
	default:
		return (false);
	}
}

/* The same of the others; false: no packet begins at `p`. */
bool hwtdi_pt_lex_cold(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out);

/*
 * The packet at `p`; false: none begins there.  It may come out longer than
 * what is there: then its end is not, and `state` is of no use.
 */
static inline bool
hwtdi_pt_lex(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    const uint8_t *end, struct hwtdi_pt_packet *out)
{
	return (hwtdi_pt_lex_hot(state, p, end, out) ||
	    hwtdi_pt_lex_cold(state, p, out));
}

#endif /* HWTDI_PT_PACKET_H */
