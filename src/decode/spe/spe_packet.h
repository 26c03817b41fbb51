/*
 * Packets of Arm SPE, one at a time from bytes.
 *
 * Source: Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling
 * Extension Sample Record Specification".
 */
#ifndef HWTDI_SPE_PACKET_H
#define HWTDI_SPE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum hwtdi_spe_kind {
	/* The packet is cut off by the end of the bytes. */
	HWTDI_SPE_NONE,
	/* All zeros that follow one another. */
	HWTDI_SPE_PAD,
	HWTDI_SPE_END,
	HWTDI_SPE_EVENTS,
	HWTDI_SPE_SOURCE,
	HWTDI_SPE_OPERATION,
	HWTDI_SPE_CONTEXT,
	HWTDI_SPE_TIMESTAMP,
	HWTDI_SPE_COUNTER,
	HWTDI_SPE_ADDRESS,
	/* Up to a multiple of bytes of the buffer. */
	HWTDI_SPE_ALIGNMENT,
	/* A header without meaning, as long as its size bits say. */
	HWTDI_SPE_UNKNOWN,
	/* One byte that cannot begin a packet. */
	HWTDI_SPE_BAD,
	/* Of headers alone: the first byte of two. */
	HWTDI_SPE_EXTENDED
};

/* Indexes of addresses. */
#define HWTDI_SPE_PC 0
#define HWTDI_SPE_TARGET 1
#define HWTDI_SPE_VA 2
#define HWTDI_SPE_PA 3
#define HWTDI_SPE_PREV_TARGET 4

/* Indexes of counters. */
#define HWTDI_SPE_TOTAL 0
#define HWTDI_SPE_ISSUE 1
#define HWTDI_SPE_XLAT 2

/* An extended header and the longest payload. */
#define HWTDI_SPE_MAX_BYTES 10

/* Unknown headers are bad bytes: what perf lists. */
#define HWTDI_SPE_ONE_BYTE_UNKNOWN 0x1
/* 24 to 2F before a 00 are alignment too: text of the first revisions. */
#define HWTDI_SPE_WIDE_ALIGNMENT 0x2

struct hwtdi_spe_packet {
	/* An hwtdi_spe_kind. */
	uint8_t kind;
	/* The header; of an extended one the second byte. */
	uint8_t header;
	/* Of an address, counter or context; of OPERATION the class. */
	uint8_t index;
	uint8_t payload_bytes;
	bool extended;
	/* All of it; of NONE those that are there. */
	size_t bytes;
	uint64_t payload;
};

/* Kind by first byte in the low half, bytes of payload in the high one. */
extern const uint8_t hwtdi_spe_headers[256];

#define HWTDI_SPE_HEADER_KIND(entry) ((entry)&15)
#define HWTDI_SPE_HEADER_BYTES(entry) ((size_t)(entry) >> 4)

/* The next packet may begin with this byte. */
bool hwtdi_spe_is_header(uint8_t byte);

/* How many of the first n bytes are 0 in a row. */
size_t hwtdi_spe_zeros(const uint8_t *bytes, size_t n);

/* The same of the next 8 bytes. */
static inline size_t
hwtdi_spe_few_zeros(const uint8_t *p)
{
	const uint64_t v = hwtdi_le64(p);

	return (v == 0 ? 8 : (size_t)__builtin_ctzll(v) / 8);
}

/*
 * The packet at bytes[0], of which n > 0 bytes are there; `off` is its offset in
 * the buffer.  `flags` are HWTDI_SPE_* bits.
 */
void hwtdi_spe_packet_read(const uint8_t *bytes, size_t n, uint64_t off,
    unsigned int flags, struct hwtdi_spe_packet *out);

#endif /* HWTDI_SPE_PACKET_H */
