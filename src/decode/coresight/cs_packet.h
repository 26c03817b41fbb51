/*
 * CoreSight packets as rows: what they are called, and what is in them.
 */
#ifndef HWTDI_CS_PACKET_H
#define HWTDI_CS_PACKET_H

#include <hwtdecode/packet.h>
#include <stdbool.h>

#include "decode/coresight/cs_library.h"

/*
 * A code is the number of a packet in its protocol, and from bit 16 on the
 * protocol, an hwtd_cs_protocol.  ETE has those of ETMv4.
 */
#define HWTDI_CS_CODE(protocol, number)                                       \
	((uint32_t)(protocol) << 16 | (uint32_t)(number))

/* The protocol of what sinks write. */
#define HWTDI_CS_SINK 15

/* STM: bits of the number for a marker and a timestamp. */
#define HWTDI_CS_STM_MARKER 0x100
#define HWTDI_CS_STM_STAMP 0x200

/* Numbers of what a sink writes. */
enum hwtdi_cs_sink_packet {
	HWTDI_CS_SINK_FRAME,
	HWTDI_CS_SINK_BARRIER,
	HWTDI_CS_SINK_SYNC,
	HWTDI_CS_SINK_FOOTER
};

/* Its hwtd_packet_kind; HWTD_PK_UNKNOWN for those that are none. */
uint16_t hwtdi_cs_packet_kind(uint32_t code);
/* NULL: there is none. */
const char *hwtdi_cs_packet_name(uint32_t code);

/* Of bytes without synchronisation. */
uint32_t hwtdi_cs_unsynced_code(uint32_t protocol);

/* Reading packets, one after the other. */
struct hwtdi_cs_reader {
	uint32_t protocol;
	struct hwtdi_cs_layout layout;
	/* ETMv4, ETE: a context was told; it can be as before from then on. */
	bool has_context;
	/* STM: the last time that was told; 0 where nothing was before. */
	uint64_t stamp;
};

/*
 * What a packet of the library says: all of `out` but where it lies.  `bytes`
 * are those of the packet.
 */
void hwtdi_cs_read_packet(struct hwtdi_cs_reader *reader, const void *packet,
    const uint8_t *bytes, size_t n, struct hwtd_packet *out);

#endif /* HWTDI_CS_PACKET_H */
