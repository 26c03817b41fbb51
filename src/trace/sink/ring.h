/*
 * Memory of a trace sink that was read as it lay there: where frames begin, and
 * where the oldest of them is.
 *
 * Nothing in the memory says so.  Frames begin where IDs are those of sources, and
 * what sources wrote has synchronisations.  The oldest one is behind a frame that
 * was filled up with nothing, where a capture starts; but only if there is one such
 * place, and the memory itself neither begins nor ends like that.
 */
#ifndef HWTDI_RING_H
#define HWTDI_RING_H

#include "trace/sink/frame.h"

/* Bytes of a memory that say where frames begin, at most. */
#define HWTDI_RING_LOOK ((size_t)256 << 10)

struct hwtdi_ring {
	/* By trace ID: there is such a source. */
	bool known[HWTDI_TRACE_IDS];
	/* Offset in the memory of the first frame that is whole. */
	uint8_t phase;
	/* IDs there are those of sources. */
	bool likely;

	/* Of looking for the oldest frame. */
	bool any, from_start, padded;
	uint8_t id;
	/* Frames before which one ends; the last of them. */
	size_t n_seams;
	uint64_t seam;
	/* One of them holds what cannot follow. */
	bool sure;
};

/* Sets `phase`, from the start of the memory; 0 if not much speaks for another. */
void hwtdi_ring_find_phase(struct hwtdi_ring *ring, const uint8_t *bytes,
    size_t n);

/* The next frame, which lies at `off`. */
void hwtdi_ring_see(struct hwtdi_ring *ring, uint64_t off,
    const uint8_t frame[HWTDI_FRAME_BYTES]);

/* All were seen.  True: the oldest one is at `seam`. */
bool hwtdi_ring_is_turned(const struct hwtdi_ring *ring);

#endif /* HWTDI_RING_H */
