/*
 * Bytes of Arm SPE by hand, and records out of them.
 */
#ifndef SPE_BYTES_H
#define SPE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/spe/spe_record.h"
#include "support/memory_trace.h"

/* A record as cores of Arm Ltd. write it: 64 bytes, a load at `pc`. */
#define SPE_SLOT 64
void spe_slot(uint8_t out[SPE_SLOT], uint64_t pc, uint64_t count);

/*
 * The records of one buffer, read as a whole, and found to be the same in pieces
 * and with little room; bytes are those of records and padding.  Returns how many.
 */
size_t spe_records(const uint8_t *bytes, size_t n, struct hwtd_sample *out,
    size_t cap);

/* The only record of a buffer. */
struct hwtd_sample spe_record(const uint8_t *bytes, size_t n);

/*
 * A trace, not sealed yet, of one stream with these bytes; 4 ns are a count, and
 * count 1000 is at 1 us.
 */
struct hwtd_trace *spe_trace(uint32_t cpu, const uint8_t *bytes, size_t n);

#endif /* SPE_BYTES_H */
