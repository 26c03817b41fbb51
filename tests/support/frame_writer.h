/*
 * A writer of CoreSight formatter frames, as the hardware makes them.
 */
#ifndef HWTDT_FRAME_WRITER_H
#define HWTDT_FRAME_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct frame_writer {
	uint8_t *out;
	size_t n, cap;
	/* The frame at hand: places that are taken, and who wrote last. */
	uint8_t frame[16];
	unsigned int place;
	uint8_t id;
	/* TPIU: FSYNC before each so many frames, HSYNC at each so many halfwords. */
	unsigned int fsync_every, hsync_every;
	unsigned int frames, halfwords;
};

void frame_writer_init(struct frame_writer *w, uint8_t *out, size_t cap);
/* One byte of a source. */
void frame_writer_put(struct frame_writer *w, uint8_t id, uint8_t byte);
/* Fill the last frame up. */
void frame_writer_finish(struct frame_writer *w);
/* Bytes that are no frame. */
void frame_writer_raw(struct frame_writer *w, const uint8_t *bytes, size_t n);

#endif /* HWTDT_FRAME_WRITER_H */
