/*
 * Packets of the ITM protocol: what software writes to stimulus ports, what the
 * DWT reports, timestamps.
 *
 * Source: Armv7-M Architecture Reference Manual (DDI 0403), appendix "Debug ITM
 * and DWT Packet Protocol".
 */
#ifndef HWTDI_ITM_PACKET_H
#define HWTDI_ITM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hwtdi_itm_kind {
	/* More bytes are needed. */
	HWTDI_ITM_NONE,
	HWTDI_ITM_SYNC,
	HWTDI_ITM_OVERFLOW,
	HWTDI_ITM_LOCAL,
	/* Low and high bits of a global timestamp. */
	HWTDI_ITM_GLOBAL_1,
	HWTDI_ITM_GLOBAL_2,
	/* The page of stimulus ports. */
	HWTDI_ITM_PAGE,
	HWTDI_ITM_SOFTWARE,
	HWTDI_ITM_HARDWARE,
	HWTDI_ITM_RESERVED
};

/* GLOBAL_1: the frequency has changed; the high bits have. */
#define HWTDI_ITM_CLOCK_CHANGED 0x1
#define HWTDI_ITM_WRAPPED 0x2
/* LOCAL: the timestamp, or the packet it is of, is delayed. */
#define HWTDI_ITM_TIME_DELAYED 0x1
#define HWTDI_ITM_DATA_DELAYED 0x2

struct hwtdi_itm_packet {
	enum hwtdi_itm_kind kind;
	/* SOFTWARE: port in its page.  HARDWARE: discriminator. */
	uint8_t source;
	uint8_t flags;
	/* Bits of the value that are told. */
	uint8_t bits;
	uint8_t bytes;
	uint64_t value;
};

/* No packet but SYNC is longer. */
#define HWTDI_ITM_MAX_BYTES 7
/* Bytes of 0 that come before the 80 of a SYNC, at least. */
#define HWTDI_ITM_SYNC_ZEROS 5

/*
 * The packet at bytes[0] that is no SYNC, of which n bytes are there.  NONE: it
 * is cut off.
 */
void hwtdi_itm_read(const uint8_t *bytes, size_t n,
    struct hwtdi_itm_packet *out);

#endif /* HWTDI_ITM_PACKET_H */
