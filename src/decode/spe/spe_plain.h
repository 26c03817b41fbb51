/*
 * The packets that nearly all records are made of, quickly.
 */
#ifndef HWTDI_SPE_PLAIN_H
#define HWTDI_SPE_PLAIN_H

#include "decode/spe/spe_record.h"

/*
 * Add packets from `at` on, each of which ends at or before `stop`, as far as the
 * longest one fits; 16 more bytes are there to read.  Stops behind a timestamp, which is the end then, and before one
 * that comes a second time, or is not of the most common ones.  *end_out: the end of the last that is no PAD.
 * Returns where it stopped.
 */
const uint8_t *hwtdi_spe_plain(struct hwtdi_spe_reader *r, const uint8_t *at,
    const uint8_t *stop, struct hwtd_sample *s, const uint8_t **end_out);

#endif /* HWTDI_SPE_PLAIN_H */
