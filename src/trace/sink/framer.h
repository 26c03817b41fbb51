/*
 * Finding the formatter frames in what a trace sink wrote: memory that holds
 * nothing else, or the output of a TPIU with its synchronisation packets.
 *
 * The state is small and plain, so that reading can go on from a copy of it.
 */
#ifndef HWTDI_FRAMER_H
#define HWTDI_FRAMER_H

#include "trace/sink/frame.h"

enum hwtdi_framing {
	/* Frames follow one another from the first byte on (ETR, ETB, TRBE). */
	HWTDI_FRAMING_MEMORY = 1,
	/* FSYNC between frames, HSYNC between halfwords (TPIU). */
	HWTDI_FRAMING_TPIU = 2,
	/* The same in blocks of 512 bytes, the last 8 of which are no trace. */
	HWTDI_FRAMING_DSTREAM = 3
};

#define HWTDI_DSTREAM_BLOCK 512
#define HWTDI_DSTREAM_TRACE 504

enum hwtdi_frame_kind {
	/* More bytes are needed. */
	HWTDI_FRAME_NONE,
	HWTDI_FRAME_DATA,
	/* A frame of FSYNCs in memory: what comes behind does not adjoin. */
	HWTDI_FRAME_BARRIER,
	/* Bytes that are no frame: see `lost`. */
	HWTDI_FRAME_LOST
};

/* What was found, and the bytes of the sink that it took. */
struct hwtdi_frame {
	enum hwtdi_frame_kind kind;
	/* DATA: of the first byte of the frame. */
	uint64_t off;
	uint8_t bytes[HWTDI_FRAME_BYTES];
	/* LOST: so many bytes up to here. */
	uint32_t lost;
};

struct hwtdi_framer {
	enum hwtdi_framing framing;
	/* Offset of the next byte in the sink. */
	uint64_t off;
	/* TPIU: a synchronisation packet was seen, and all was well since. */
	bool synced;
	/* Bytes at hand, maybe with the first half of an FSYNC behind them. */
	uint8_t n;
	uint8_t frame[HWTDI_FRAME_BYTES + 4];
	/* Offset of the first of them. */
	uint64_t frame_off;
	/* Bytes that were skipped and not yet told as lost. */
	uint32_t skipped;
	/* Sums, for whoever accounts for all bytes. */
	uint64_t sync_bytes;
	uint64_t footer_bytes;
};

void hwtdi_framer_init(struct hwtdi_framer *framer, enum hwtdi_framing framing,
    uint64_t off);

/*
 * Take bytes of the sink up to the end of what they hold next; how many were
 * taken.  NONE: all were, and nothing is complete.
 */
size_t hwtdi_framer_next(struct hwtdi_framer *framer, const uint8_t *bytes,
    size_t n, struct hwtdi_frame *out);

/* There are no more bytes: what is at hand is LOST, else NONE. */
void hwtdi_framer_end(struct hwtdi_framer *framer, struct hwtdi_frame *out);

#endif /* HWTDI_FRAMER_H */
