/*
 * One CoreSight formatter frame: 16 bytes that carry up to 15 bytes of trace
 * sources, told apart by trace IDs.
 *
 * Source: CoreSight Architecture Specification (IHI 0029), "Trace Formatter".
 */
#ifndef HWTDI_FRAME_H
#define HWTDI_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hwtdecode/coresight.h>

#define HWTDI_FRAME_BYTES 16

/* Data of it fills frames up. */
#define HWTDI_TRACE_ID_NULL 0x00
/* Its data says that a trigger happened. */
#define HWTDI_TRACE_ID_TRIGGER 0x7d
/* There are so many; and the one of bytes before the first ID is told. */
#define HWTDI_TRACE_IDS 0x80
#define HWTDI_TRACE_ID_UNTOLD 0x80

/* Bytes of one source in one frame. */
struct hwtdi_frame_part {
	uint8_t id;
	uint8_t n;
	/* Place in the frame where it begins, with the ID if that is told. */
	uint8_t at;
	uint8_t bytes[HWTDI_FRAME_BYTES - 1];
};

/* A new ID at each of the eight even places, and the ID of the frame before. */
#define HWTDI_FRAME_PARTS 9

/*
 * Take a frame apart; `id` is that of the source whose bytes come next.  How
 * many parts there are: at least one byte is in each.
 */
size_t hwtdi_frame_split(const uint8_t frame[HWTDI_FRAME_BYTES], uint8_t *id,
    struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS]);

static inline bool
hwtdi_trace_id_is_source(uint8_t id)
{
	return (id >= HWTD_CS_FIRST_ID && id <= HWTD_CS_LAST_ID);
}

#endif /* HWTDI_FRAME_H */
