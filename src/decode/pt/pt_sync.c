/*
 * Finding PSB, and reading the packets of PSB+.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions" (lengths) and "Packet Stream
 * Boundary (PSB) Packet" (what PSB+ may hold).
 */
#include "decode/pt/pt_sync.h"

#include <string.h>

#include "base/bytes.h"

/* Pairs of 02 82 beyond which nobody asks where the first came from. */
#define MOST_PAIRS 64

/* Eight bytes within a PSB, from an even or odd place of it on. */
static inline bool
is_in_psb(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return ((v & 0x7f7f7f7f7f7f7f7f) == 0x0202020202020202);
}

size_t
hwtdi_pt_find_psb(const uint8_t *bytes, size_t n, size_t from)
{
	static const uint8_t psb[HWTDI_PT_PSB_BYTES] = { 0x02, 0x82, 0x02,
		0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
		0x82, 0x02, 0x82 };
	const size_t step = sizeof(psb) / 2;
	size_t word = from;

	if (n < sizeof(psb) || from > n - sizeof(psb))
		return (n);
	/* At one of every eighth byte, eight of its bytes follow. */
	for (; word <= n - step; word += step) {
		while (word + 4 * step <= n && !is_in_psb(bytes + word) &&
		    !is_in_psb(bytes + word + step) &&
		    !is_in_psb(bytes + word + 2 * step))
			word += 3 * step;
		if (!is_in_psb(bytes + word))
			continue;
		for (size_t at = word - from < step ? from : word - step + 1;
		     at <= word && at <= n - sizeof(psb); at++)
			if (memcmp(bytes + at, psb, sizeof(psb)) == 0)
				return (at);
	}
	return (n);
}

/* Of several pairs of 02 82 at a byte, the last eight are the PSB. */
static size_t
last_of_pairs(const uint8_t *bytes, size_t at, size_t seen)
{
	size_t pairs = 0, end = at;

	while (seen - end >= 2 && pairs < MOST_PAIRS && bytes[end] == 0x02 &&
	    bytes[end + 1] == 0x82) {
		pairs++;
		end += 2;
	}
	if (pairs == MOST_PAIRS)
		return (at);
	return (at + pairs % (HWTDI_PT_PSB_BYTES / 2) * 2);
}

size_t
hwtdi_pt_next_psb(const uint8_t *bytes, size_t n, size_t seen)
{
	const size_t look = seen - n > HWTDI_PT_PSB_BYTES
	    ? n + HWTDI_PT_PSB_BYTES
	    : seen;
	const size_t at = hwtdi_pt_find_psb(bytes, look, 0);

	return (at == look ? seen : last_of_pairs(bytes, at, seen));
}

size_t
hwtdi_pt_find_sync(const uint8_t *bytes, size_t n, size_t seen, size_t from)
{
	size_t at = hwtdi_pt_find_psb(bytes, n, from);

	if (at < n)
		at = last_of_pairs(bytes, at, seen);
	return (at + HWTDI_PT_PSB_BYTES <= n ? at : n);
}

/* Payload bytes of an IP packet by its compression mode. */
static const uint8_t ip_bytes[8] = { 0, 2, 4, 6, 6, 0, 8, 0 };

/* Bytes of a packet that starts with 02, or 0 if it cannot be in PSB+. */
static size_t
extended_bytes(uint8_t opcode)
{
	switch (opcode) {
	case 0x03: /* CBR */
		return (4);
	case 0x23: /* PSBEND */
	case 0x83: /* TraceStop */
	case 0xf3: /* OVF */
		return (2);
	case 0x43: /* PIP */
		return (8);
	case 0x73: /* TMA */
	case 0xc8: /* VMCS */
		return (7);
	case 0xc3: /* MNT */
		return (11);
	default:
		return (0);
	}
}

static size_t
cyc_bytes(const uint8_t *p, size_t n)
{
	size_t i = 1;

	if ((p[0] & 0x04) == 0)
		return (1);
	while (i < n && (p[i] & 0x01) != 0)
		i++;
	return (i + 1);
}

/* Bytes of the packet at p[0..n), or 0 if it cannot be in PSB+. */
static size_t
packet_bytes(const uint8_t *p, size_t n)
{
	if (p[0] == 0x00) /* PAD */
		return (1);
	if (p[0] == 0x02)
		return (n < 2 ? 0 : extended_bytes(p[1]));
	if (p[0] == 0x19) /* TSC */
		return (8);
	if (p[0] == 0x59 || p[0] == 0x99) /* MTC, MODE */
		return (2);
	if ((p[0] & 0x03) == 0x03) /* CYC */
		return (cyc_bytes(p, n));
	if ((p[0] & 0x1f) == 0x1d) /* FUP */
		return (1 + (size_t)ip_bytes[p[0] >> 5]);
	return (0);
}

/* The address in a FUP after a PSB, where the last IP counts as 0. */
static bool
fup_ip(const uint8_t *p, uint64_t *ip_out)
{
	unsigned int mode = p[0] >> 5;
	uint64_t ip = hwtdi_le(p + 1, ip_bytes[mode]);

	if (ip_bytes[mode] == 0)
		return (false);
	if (mode == 3 && (ip & (uint64_t)1 << 47) != 0)
		ip |= (uint64_t)0xffff << 48;
	*ip_out = ip;
	return (true);
}

bool
hwtdi_pt_read_psb(const uint8_t *bytes, size_t n, struct hwtdi_pt_psb *out)
{
	size_t at = HWTDI_PT_PSB_BYTES;

	memset(out, 0, sizeof(*out));
	while (at < n) {
		const uint8_t *p = bytes + at;
		size_t len = packet_bytes(p, n - at);

		if (len == 0 || len > n - at)
			break;
		if ((p[0] & 0x1f) == 0x1d)
			out->has_ip = fup_ip(p, &out->ip);
		if (p[0] == 0x99 && p[1] >> 5 == 0)
			out->has_mode = true;
		if (p[0] == 0x19) {
			out->has_tsc = true;
			out->tsc = hwtdi_le(p + 1, 7);
		}
		at += len;
		if (p[0] == 0x02 && (p[1] == 0x23 || p[1] == 0xf3)) {
			out->bytes = at;
			return (true);
		}
	}
	out->bytes = at < n ? at : n;
	return (false);
}
