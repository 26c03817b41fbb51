/*
 * Timestamps of STM in Gray code.
 *
 * Source: MIPI System Trace Protocol 2, "Timestamps".
 */
#ifndef HWTDI_STM_STAMP_H
#define HWTDI_STM_STAMP_H

#include <stddef.h>
#include <stdint.h>

/*
 * The time that a packet has, if `before` was that of the packet before it.  Its
 * timestamp is behind the header and `data` half bytes of data.  Nothing new for
 * bytes that have no whole timestamp.
 */
uint64_t hwtdi_stm_gray_stamp(const uint8_t *bytes, size_t n,
    unsigned int data, uint64_t before);

#endif /* HWTDI_STM_STAMP_H */
