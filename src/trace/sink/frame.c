/*
 * Taking CoreSight formatter frames apart.
 */
#include "trace/sink/frame.h"

/* Where the low bits of the even bytes are. */
#define FLAGS (HWTDI_FRAME_BYTES - 1)

static struct hwtdi_frame_part *
begin_part(struct hwtdi_frame_part *part, uint8_t id, unsigned int at)
{
	part->id = id;
	part->at = (uint8_t)at;
	part->n = 0;
	return (part);
}

size_t
hwtdi_frame_split(const uint8_t frame[HWTDI_FRAME_BYTES], uint8_t *id,
    struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS])
{
	struct hwtdi_frame_part *part = begin_part(parts, *id, 0);
	size_t n = 1;

	for (unsigned int i = 0; i < FLAGS; i += 2) {
		const unsigned int flag = frame[FLAGS] >> (i / 2) & 1;
		const bool told = (frame[i] & 1) != 0;

		if (!told)
			part->bytes[part->n++] = (uint8_t)(frame[i] | flag);
		/* The byte behind an ID may still be of the source before. */
		if (told && flag != 0 && i + 1 < FLAGS)
			part->bytes[part->n++] = frame[i + 1];
		if (told) {
			const uint8_t old = *id;

			*id = frame[i] >> 1;
			/* The same ID again begins nothing new. */
			if (part->n != 0 && *id != old)
				part = begin_part(&parts[n++], *id, i);
			else if (part->n == 0)
				part = begin_part(part, *id, i);
		}
		if ((!told || flag == 0) && i + 1 < FLAGS)
			part->bytes[part->n++] = frame[i + 1];
	}
	return (part->n != 0 ? n : n - 1);
}
