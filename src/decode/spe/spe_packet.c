/*
 * Packets of Arm SPE.
 */
#include "decode/spe/spe_packet.h"

#include <string.h>

#include "base/bytes.h"

/* Bits 5 and 4 of a header are the size of what follows, but of the first 64. */
#define SIZE(h) (1 << ((h) >> 4 & 3))

/* The first that fits counts. */
#define KIND(h)                                                               \
	((h) == 0x00		     ? HWTDI_SPE_PAD                          \
		: (h) == 0x01	     ? HWTDI_SPE_END                          \
		: ((h)&0xfc) == 0x20 ? HWTDI_SPE_EXTENDED                     \
		: (h) < 0x40	     ? HWTDI_SPE_UNKNOWN                      \
		: ((h)&0xcf) == 0x42 ? HWTDI_SPE_EVENTS                       \
		: ((h)&0xcf) == 0x43 ? HWTDI_SPE_SOURCE                       \
		: ((h)&0xfc) == 0x48 ? HWTDI_SPE_OPERATION                    \
		: ((h)&0xfc) == 0x64 ? HWTDI_SPE_CONTEXT                      \
		: (h) == 0x71	     ? HWTDI_SPE_TIMESTAMP                    \
		: ((h)&0xf8) == 0x98 ? HWTDI_SPE_COUNTER                      \
		: ((h)&0xf8) == 0xb0 ? HWTDI_SPE_ADDRESS                      \
				     : HWTDI_SPE_UNKNOWN)
#define ENTRY(h) (uint8_t)(KIND(h) | ((h) < 0x40 ? 0 : SIZE(h)) << 4)
#define ROW4(h) ENTRY(h), ENTRY((h) + 1), ENTRY((h) + 2), ENTRY((h) + 3)
#define ROW16(h) ROW4(h), ROW4((h) + 4), ROW4((h) + 8), ROW4((h) + 12)
#define ROW64(h) ROW16(h), ROW16((h) + 16), ROW16((h) + 32), ROW16((h) + 48)

const uint8_t hwtdi_spe_headers[256] = { ROW64(0x00), ROW64(0x40), ROW64(0x80),
	ROW64(0xc0) };

bool
hwtdi_spe_is_header(uint8_t byte)
{
	/* Sizes, classes and indexes that nothing is known to have are left out. */
	switch (HWTDI_SPE_HEADER_KIND(hwtdi_spe_headers[byte])) {
	case HWTDI_SPE_UNKNOWN:
		return (false);
	case HWTDI_SPE_SOURCE:
		return (byte < 0x60);
	case HWTDI_SPE_OPERATION:
		return (byte != 0x4b);
	case HWTDI_SPE_CONTEXT:
		return (byte < 0x66);
	default:
		return (true);
	}
}

size_t
hwtdi_spe_zeros(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	/* Many words at once: buffers may be empty for the most part. */
	while (n - i >= 32) {
		uint64_t words[4];

		memcpy(words, bytes + i, sizeof(words));
		if ((words[0] | words[1] | words[2] | words[3]) != 0)
			break;
		i += sizeof(words);
	}
	while (n - i >= 8) {
		const uint64_t v = hwtdi_le64(bytes + i);

		if (v != 0)
			return (i + (unsigned int)__builtin_ctzll(v) / 8);
		i += 8;
	}
	while (i < n && bytes[i] == 0)
		i++;
	return (i);
}

static void
read_alignment(uint8_t header, size_t n, uint64_t off,
    struct hwtdi_spe_packet *out)
{
	const uint64_t unit = UINT64_C(2) << (header & 15);
	const uint64_t bytes = unit - off % unit;

	out->kind = bytes > n ? HWTDI_SPE_NONE : HWTDI_SPE_ALIGNMENT;
	out->bytes = bytes > n ? n : (size_t)bytes;
}

/* The payload of a header that ends at bytes[at]. */
static void
read_payload(const uint8_t *bytes, size_t n, size_t at, uint8_t kind,
    size_t size, struct hwtdi_spe_packet *out)
{
	out->payload_bytes = (uint8_t)size;
	if (n - at < size) {
		/* What is there is no value. */
		out->kind = HWTDI_SPE_NONE;
		out->bytes = n;
		return;
	}
	out->kind = kind;
	out->bytes = at + size;
	out->payload = hwtdi_le(bytes + at, size);
}

static void
read_extended(const uint8_t *bytes, size_t n, uint64_t off,
    struct hwtdi_spe_packet *out)
{
	uint8_t entry;

	if (n < 2) {
		out->bytes = n;
		return;
	}
	if (bytes[1] == 0) {
		read_alignment(bytes[0], n, off, out);
		return;
	}
	entry = hwtdi_spe_headers[bytes[1]];
	if (HWTDI_SPE_HEADER_KIND(entry) != HWTDI_SPE_ADDRESS &&
	    HWTDI_SPE_HEADER_KIND(entry) != HWTDI_SPE_COUNTER) {
		out->kind = HWTDI_SPE_BAD;
		out->bytes = 1;
		return;
	}
	out->header = bytes[1];
	out->extended = true;
	out->index = (uint8_t)((bytes[0] & 3) << 3 | (bytes[1] & 7));
	read_payload(bytes, n, 2, HWTDI_SPE_HEADER_KIND(entry),
	    HWTDI_SPE_HEADER_BYTES(entry), out);
}

/* Size bits hold for all headers; but where no packet follows it was none. */
static void
read_unknown(const uint8_t *bytes, size_t n, uint64_t off, unsigned int flags,
    struct hwtdi_spe_packet *out)
{
	if ((flags & HWTDI_SPE_WIDE_ALIGNMENT) != 0 &&
	    (bytes[0] & 0xf0) == 0x20 && (n < 2 || bytes[1] == 0)) {
		out->bytes = n;
		if (n >= 2)
			read_alignment(bytes[0], n, off, out);
		return;
	}
	if ((flags & HWTDI_SPE_ONE_BYTE_UNKNOWN) == 0) {
		read_payload(bytes, n, 1, HWTDI_SPE_UNKNOWN,
		    HWTDI_SPE_HEADER_BYTES(hwtdi_spe_headers[bytes[0]]), out);
		if (out->bytes == n || hwtdi_spe_is_header(bytes[out->bytes]))
			return;
	}
	out->kind = HWTDI_SPE_BAD;
	out->payload_bytes = 0;
	out->payload = 0;
	out->bytes = 1;
}

/* One of a header of one byte and of what the most common ones have. */
static bool
read_plain(const uint8_t *bytes, struct hwtdi_spe_packet *out)
{
	/* Bits of the header that are an index, by kind. */
	static const uint8_t indexes[16] = {
		[HWTDI_SPE_OPERATION] = 3,
		[HWTDI_SPE_CONTEXT] = 3,
		[HWTDI_SPE_COUNTER] = 7,
		[HWTDI_SPE_ADDRESS] = 7,
	};
	const uint8_t entry = hwtdi_spe_headers[bytes[0]];
	const uint8_t kind = HWTDI_SPE_HEADER_KIND(entry);
	const unsigned int size = HWTDI_SPE_HEADER_BYTES(entry);

	if (kind < HWTDI_SPE_EVENTS || kind > HWTDI_SPE_ADDRESS)
		return (false);
	out->kind = kind;
	out->header = bytes[0];
	out->index = bytes[0] & indexes[kind];
	out->payload_bytes = (uint8_t)size;
	out->extended = false;
	out->bytes = 1 + size;
	out->payload = hwtdi_le64(bytes + 1) & UINT64_MAX >> (64 - 8 * size);
	return (true);
}

void
hwtdi_spe_packet_read(const uint8_t *bytes, size_t n, uint64_t off,
    unsigned int flags, struct hwtdi_spe_packet *out)
{
	uint8_t entry;

	if (n >= HWTDI_SPE_MAX_BYTES && read_plain(bytes, out))
		return;
	out->kind = HWTDI_SPE_NONE;
	out->header = 0;
	out->index = 0;
	out->payload_bytes = 0;
	out->extended = false;
	out->bytes = 0;
	out->payload = 0;
	if (n == 0)
		return;
	entry = hwtdi_spe_headers[bytes[0]];
	out->header = bytes[0];
	switch (HWTDI_SPE_HEADER_KIND(entry)) {
	case HWTDI_SPE_PAD:
		out->kind = HWTDI_SPE_PAD;
		out->bytes = hwtdi_spe_zeros(bytes, n);
		return;
	case HWTDI_SPE_EXTENDED:
		read_extended(bytes, n, off, out);
		return;
	case HWTDI_SPE_UNKNOWN:
		read_unknown(bytes, n, off, flags, out);
		return;
	case HWTDI_SPE_OPERATION:
	case HWTDI_SPE_CONTEXT:
		out->index = bytes[0] & 3;
		break;
	case HWTDI_SPE_COUNTER:
	case HWTDI_SPE_ADDRESS:
		out->index = bytes[0] & 7;
		break;
	default:
		break;
	}
	read_payload(bytes, n, 1, HWTDI_SPE_HEADER_KIND(entry),
	    HWTDI_SPE_HEADER_BYTES(entry), out);
}
