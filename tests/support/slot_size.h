/*
 * Segments of another size, so that short traces have several.  The test must
 * be linked with -Wl,--wrap=hwtdi_segments_init.
 */
#ifndef TEST_SLOT_SIZE_H
#define TEST_SLOT_SIZE_H

#include "event/segment.h"

/* Bytes of a slot; 0: as the library has it. */
extern uint64_t slot_bytes;

#endif /* TEST_SLOT_SIZE_H */
