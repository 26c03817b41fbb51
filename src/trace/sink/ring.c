/*
 * Finding the phase of frames in memory, and the oldest one.
 */
#include "trace/sink/ring.h"

#include <string.h>

/* Frames that have to be there to say anything. */
#define FRAMES_MIN 8

/* One of so many may have a wrong ID. */
#define WRONG_FEW 32

/* Frames begin elsewhere if there are so many times more synchronisations. */
#define SYNCS_MORE 2

/* Bytes of a synchronisation before its last one, of all protocols. */
#define SYNC_ZEROS 5
#define SYNC_ONES 10

/* Bytes that a synchronisation begins with. */
#define SYNC_BYTES 4

static bool
is_barrier(const uint8_t *frame)
{
	static const uint8_t fsync[4] = { 0xff, 0xff, 0xff, 0x7f };

	for (size_t i = 0; i < HWTDI_FRAME_BYTES; i += sizeof(fsync))
		if (memcmp(frame + i, fsync, sizeof(fsync)) != 0)
			return (false);
	return (true);
}

/* An ID in it is that of nobody. */
static bool
is_wrong(const struct hwtdi_ring *ring, const uint8_t *frame)
{
	if (is_barrier(frame))
		return (false);
	for (size_t i = 0; i + 1 < HWTDI_FRAME_BYTES; i += 2) {
		const uint8_t id = frame[i] >> 1;

		if ((frame[i] & 1) != 0 && id != HWTDI_TRACE_ID_NULL &&
		    id != HWTDI_TRACE_ID_TRIGGER && !ring->known[id])
			return (true);
	}
	return (false);
}

/* What speaks for frames at a phase, and what against it. */
struct score {
	size_t syncs, wrong;
};

/* Bytes of each source that a synchronisation has, up to now. */
struct runs {
	uint8_t zeros[HWTDI_TRACE_IDS], ones[HWTDI_TRACE_IDS];
};

/* True: the byte ends a synchronisation. */
static bool
ends_sync(struct runs *runs, uint8_t id, uint8_t byte)
{
	const uint8_t zeros = runs->zeros[id], ones = runs->ones[id];

	runs->zeros[id] = byte != 0x00 ? 0
	    : zeros < UINT8_MAX	       ? zeros + 1
				       : zeros;
	runs->ones[id] = byte != 0xff ? 0 : ones < UINT8_MAX ? ones + 1 : ones;
	return ((byte == 0x80 && zeros >= SYNC_ZEROS) ||
	    (byte != 0xff && ones >= SYNC_ONES));
}

static struct score
score_of(const struct hwtdi_ring *ring, const uint8_t *bytes, size_t n)
{
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	struct score score = { 0, 0 };
	struct runs runs = { { 0 }, { 0 } };
	uint8_t id = HWTDI_TRACE_ID_UNTOLD;

	for (size_t i = 0; i + HWTDI_FRAME_BYTES <= n;
	     i += HWTDI_FRAME_BYTES) {
		size_t n_parts;

		score.wrong += is_wrong(ring, bytes + i);
		n_parts = hwtdi_frame_split(bytes + i, &id, parts);
		for (size_t k = 0; k < n_parts; k++)
			for (size_t b = 0;
			     hwtdi_trace_id_is_source(parts[k].id) &&
			     b < parts[k].n;
			     b++)
				score.syncs += ends_sync(&runs, parts[k].id,
				    parts[k].bytes[b]);
	}
	return (score);
}

void
hwtdi_ring_find_phase(struct hwtdi_ring *ring, const uint8_t *bytes, size_t n)
{
	const size_t frames = n / HWTDI_FRAME_BYTES;
	const struct score plain = score_of(ring, bytes, n);
	size_t most = 1;

	ring->phase = 0;
	ring->likely = plain.wrong * WRONG_FEW <= frames;
	if (ring->likely)
		most += SYNCS_MORE * plain.syncs;
	if (frames < FRAMES_MIN)
		return;
	for (uint8_t phase = 1; phase < HWTDI_FRAME_BYTES; phase++) {
		const struct score score = score_of(ring, bytes + phase,
		    n - phase);

		if (score.wrong * WRONG_FEW > frames || score.syncs <= most)
			continue;
		most = score.syncs;
		ring->phase = phase;
		ring->likely = true;
	}
}

/* A source says who it is, and begins with what synchronises. */
static bool
begins_capture(const uint8_t *frame, const struct hwtdi_frame_part *part)
{
	if ((frame[0] & 1) == 0 || !hwtdi_trace_id_is_source(part->id) ||
	    part->n < SYNC_BYTES)
		return (false);
	for (size_t i = 0; i < SYNC_BYTES; i++)
		if (part->bytes[i] != part->bytes[0])
			return (false);
	return (part->bytes[0] == 0x00 || part->bytes[0] == 0xff);
}

/* Bytes that fill up are 0: these are of a source that is not named. */
static bool
has_data(const struct hwtdi_frame_part *part)
{
	for (size_t i = 0; i < part->n; i++)
		if (part->bytes[i] != 0)
			return (part->id == HWTDI_TRACE_ID_NULL);
	return (false);
}

void
hwtdi_ring_see(struct hwtdi_ring *ring, uint64_t off,
    const uint8_t frame[HWTDI_FRAME_BYTES])
{
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	bool begins, cannot;
	size_t n;

	/* What is behind it begins anew, and lies behind it also in a ring. */
	if (is_barrier(frame)) {
		ring->from_start = ring->from_start || !ring->any;
		ring->any = true;
		ring->padded = false;
		ring->id = HWTDI_TRACE_ID_UNTOLD;
		return;
	}
	if (!ring->any)
		ring->id = HWTDI_TRACE_ID_UNTOLD;
	n = hwtdi_frame_split(frame, &ring->id, parts);
	begins = n > 0 && begins_capture(frame, &parts[0]);
	cannot = ring->padded && n > 0 && has_data(&parts[0]);
	if (!ring->any)
		ring->from_start = begins;
	else if (ring->padded && (begins || cannot)) {
		/* What cannot follow is sure, wherever others may be. */
		if (!ring->sure || cannot)
			ring->seam = off;
		ring->n_seams = cannot && !ring->sure ? 1 : ring->n_seams + 1;
		ring->sure = ring->sure || cannot;
	}
	ring->any = true;
	ring->padded = ring->id == HWTDI_TRACE_ID_NULL;
}

bool
hwtdi_ring_is_turned(const struct hwtdi_ring *ring)
{
	return (ring->likely && ring->n_seams == 1 && !ring->from_start &&
	    (ring->sure || !ring->padded));
}
