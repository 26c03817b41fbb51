/*
 * Intel PT packets, one at a time: what begins here, and how long is it?
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions"; TRIG from its newer editions.
 *
 * What is frequent is inline, because the loops around it (rows, visitor, the
 * flow of the engine) are only as fast as this.
 */
#ifndef HWTDI_PT_PACKET_H
#define HWTDI_PT_PACKET_H

#include <hwtdecode/packet.h>
#include <stdbool.h>
#include <stdint.h>
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
	/* TIP, TIP.PGE, TIP.PGD, FUP. */
	HWTDI_PT_IP,
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

/* How an IP is compressed, by IPBytes. */
struct hwtdi_pt_ip_mode {
	/* Bits of the payload, and of last IP that it replaces. */
	uint64_t payload;
	uint64_t replaced;
	/* The bit that says what is above it, if one does. */
	uint64_t sign;
	/* Bytes of the packet. */
	uint64_t bytes;
};
extern const struct hwtdi_pt_ip_mode hwtdi_pt_ip_modes[8];

/* Kinds of packets with an IP, by bits 4:2 of the first byte. */
extern const uint8_t hwtdi_pt_ip_kinds[8];

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
	/* The CPU has erratum SKD007: HWTDI_PT_CYC_MORE, else 0. */
	uint16_t skd007;
};

/* CYC, of its first two bytes: there are more than two; so says the second. */
#define HWTDI_PT_CYC_LONG 0x0104u
#define HWTDI_PT_CYC_MORE 0x0100u

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

/* PSB, whose 16 bytes are there. */
static inline bool
hwtdi_pt_is_psb(const uint8_t *p)
{
	const uint64_t half = 0x8202820282028202;

	return (hwtdi_pt_load(p, 8) == half &&
	    hwtdi_pt_load(p + 8, 8) == half);
}

#define HWTDI_PT_INLINE static inline __attribute__((always_inline))

/*
 * An IP packet, and last IP behind it.  No branches: how an IP is compressed
 * cannot be foreseen.
 */
HWTDI_PT_INLINE void
hwtdi_pt_lex_ip(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out)
{
	const unsigned int mode = p[0] >> 5;
	const struct hwtdi_pt_ip_mode *const m = &hwtdi_pt_ip_modes[mode];
	const uint64_t v = hwtdi_pt_load(p + 1, 8) & m->payload;
	const uint64_t ip = (state->last_ip & ~m->replaced) |
	    ((v ^ m->sign) - m->sign);
	const uint64_t known = state->ip_known | m->replaced;
	const bool tell = mode != 0 && known == UINT64_MAX;

	state->last_ip = ip;
	state->ip_known = known;
	hwtdi_pt_put(out, hwtdi_pt_ip_kinds[p[0] >> 2 & 7],
	    (unsigned int)m->bytes, v, mode);
	out->flags = tell ? HWTD_PKF_IP : 0;
	out->ip = tell ? ip : 0;
}

/*
 * Of a CYC packet of at most two bytes: its bytes and the cycles; else 0.
 * `skd007` is that of the state.
 */
HWTDI_PT_INLINE unsigned int
hwtdi_pt_short_cyc(const uint8_t *p, uint16_t skd007, uint64_t *cycles_out)
{
	const uint64_t v = hwtdi_pt_load(p, 2);
	const unsigned int more = p[0] >> 2 & 1;

	/* One or two bytes, without a branch: both are frequent. */
	*cycles_out = p[0] >> 3 | ((v >> 9 & -(uint64_t)more) << 5);
	return (((v | skd007) & HWTDI_PT_CYC_LONG) == HWTDI_PT_CYC_LONG
		? 0
		: 1 + more);
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
		v = hwtdi_pt_load(at, 8);
		if (v != 0)
			return ((unsigned int)(at - p) +
			    ((unsigned int)__builtin_ctzll(v) >> 3));
		at += 8;
	}
	while (at < end && *at == 0)
		at++;
	return ((unsigned int)(at - p));
}

/*
 * The packet at `p`, if it is one of the frequent ones, and its class; else
 * HWTDI_PT_BAD.  HWTDI_PT_PACKET_MAX bytes must be readable, and [p, end) is
 * what counts for padding.  `classes` are those of the state.
 */
HWTDI_PT_INLINE enum hwtdi_pt_class
hwtdi_pt_lex_hot(struct hwtdi_pt_lex_state *state, const uint8_t *classes,
    const uint8_t *p, const uint8_t *end, struct hwtdi_pt_packet *out)
{
	const uint8_t b = p[0];
	const uint8_t class = classes[b];
	unsigned int n;
	uint64_t v;

	/*
	 * The three most frequent first: a branch is foreseen better than a
	 * jump through a table.
	 */
	if (class == HWTDI_PT_TNT) {
		n = hwtdi_pt_stop_bit(b);
		hwtdi_pt_put(out, HWTD_PK_PT_TNT_8, 1,
		    (b ^ (uint64_t)1 << n) >> 1, n - 1);
		return (HWTDI_PT_TNT);
	}
	if (class == HWTDI_PT_CYC) {
		n = hwtdi_pt_short_cyc(p, state->skd007, &v);
		if (n == 0)
			return (HWTDI_PT_BAD);
		hwtdi_pt_put(out, HWTD_PK_PT_CYC, n, v, 0);
		return (HWTDI_PT_CYC);
	}
	if (class == HWTDI_PT_IP) {
		hwtdi_pt_lex_ip(state, p, out);
		return (HWTDI_PT_IP);
	}
	switch (class) {
	case HWTDI_PT_PAD:
		n = hwtdi_pt_pad_run(p, end);
		hwtdi_pt_put(out, HWTD_PK_PT_PAD, n, 0, n);
		return (HWTDI_PT_PAD);
	case HWTDI_PT_MTC:
		hwtdi_pt_put(out, HWTD_PK_PT_MTC, 2, p[1], 0);
		return (HWTDI_PT_MTC);
	case HWTDI_PT_TSC:
		hwtdi_pt_put(out, HWTD_PK_PT_TSC, 8, hwtdi_pt_load(p + 1, 7),
		    0);
		return (HWTDI_PT_TSC);
	case HWTDI_PT_EXT:
		/* Outcomes, up to 47. */
		v = hwtdi_pt_load(p + 2, 6);
		if (p[1] != 0xa3 || v == 0)
			return (HWTDI_PT_BAD);
		n = hwtdi_pt_stop_bit(v);
		hwtdi_pt_put(out, HWTD_PK_PT_TNT_64, 8, v ^ (uint64_t)1 << n,
		    n);
		return (HWTDI_PT_TNT);
	default:
		return (HWTDI_PT_BAD);
	}
}

/* The same of the others; false: no packet begins at `p`. */
bool hwtdi_pt_lex_cold(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    struct hwtdi_pt_packet *out);

/*
 * The packet at `p`; false: none begins there, and `state` is as it was.  It may
 * come out longer than what is there: then its end is not, and `state` is of no
 * use.
 */
static inline bool
hwtdi_pt_lex(struct hwtdi_pt_lex_state *state, const uint8_t *p,
    const uint8_t *end, struct hwtdi_pt_packet *out)
{
	return (hwtdi_pt_lex_hot(state, state->classes, p, end, out) !=
		HWTDI_PT_BAD ||
	    hwtdi_pt_lex_cold(state, p, out));
}

/*
 * The first packet from `p` on, before `end`, that is neither a short TNT nor
 * has an IP.
 */
HWTDI_PT_INLINE const uint8_t *
hwtdi_pt_skip(const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		const uint8_t class = hwtdi_pt_classes[p[0]];

		if (class == HWTDI_PT_TNT)
			p++;
		else if (class == HWTDI_PT_IP)
			p += hwtdi_pt_ip_modes[p[0] >> 5].bytes;
		else
			break;
	}
	return (p);
}

#endif /* HWTDI_PT_PACKET_H */
