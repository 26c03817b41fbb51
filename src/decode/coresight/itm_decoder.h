/*
 * ITM sources: packets of the protocol as elements.
 */
#ifndef HWTDI_ITM_DECODER_H
#define HWTDI_ITM_DECODER_H

#include "decode/coresight/cs_element.h"
#include "decode/coresight/itm_packet.h"

struct hwtdi_itm {
	struct hwtdi_cs_queue *queue;
	bool synced;
	/* Nothing was said yet of bytes without synchronisation. */
	bool told;
	/* Bytes of 0 at hand that may begin a SYNC. */
	uint64_t zeros;
	/* Bytes of a packet that is not whole yet. */
	uint8_t bytes[HWTDI_ITM_MAX_BYTES];
	uint8_t n;
	uint64_t off;
	/* Of stimulus ports. */
	uint32_t page;
	/* The bits of a global timestamp, and that its high ones are to come. */
	uint64_t global;
	bool has_high, awaits_high;
};

void hwtdi_itm_reset(struct hwtdi_itm *itm, struct hwtdi_cs_queue *queue,
    uint64_t off);
void hwtdi_itm_feed(struct hwtdi_itm *itm, uint64_t off, const uint8_t *bytes,
    size_t n);
void hwtdi_itm_end(struct hwtdi_itm *itm, uint64_t off);

#endif /* HWTDI_ITM_DECODER_H */
