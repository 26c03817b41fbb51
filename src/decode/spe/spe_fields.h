/*
 * Packets of Arm SPE into the fields of a record.
 */
#ifndef HWTDI_SPE_FIELDS_H
#define HWTDI_SPE_FIELDS_H

#include <hwtdecode/sample.h>

#include "decode/spe/spe_packet.h"

/*
 * The packet, which is no PAD, ALIGNMENT, BAD or END, belongs to the record.
 * `counter_bits` as of a reader.
 */
void hwtdi_spe_add(struct hwtd_sample *s, const struct hwtdi_spe_packet *p,
    unsigned int counter_bits);

/* The field that the packet is of, an HWTD_SAMPLE_* bit; 0: none. */
uint32_t hwtdi_spe_field(const struct hwtdi_spe_packet *p);

/* The same of a header of one byte. */
uint32_t hwtdi_spe_header_field(uint8_t header);

#endif /* HWTDI_SPE_FIELDS_H */
