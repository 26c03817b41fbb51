/*
 * Included before segment.c in harnesses: the size of a slot is a variable, so
 * that small inputs have several segments.
 */
#ifndef SLOT_BYTES_H
#define SLOT_BYTES_H

#include <stdint.h>

extern uint64_t fuzz_slot_bytes;

#define HWTDI_SLOT_BYTES fuzz_slot_bytes

#endif /* SLOT_BYTES_H */
