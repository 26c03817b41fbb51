/*
 * Finding CoreSight formatter frames in the bytes of a trace sink.
 *
 * No even byte of a frame is ff: that would be the trace ID 7f, which no source
 * has, so that FSYNC (ff ff ff 7f) and HSYNC (ff 7f) cannot be mistaken.
 */
#include "trace/sink/framer.h"

#include <string.h>

/* More is told in pieces. */
#define LOST_MAX (UINT32_C(1) << 20)

static const uint8_t fsync_bytes[4] = { 0xff, 0xff, 0xff, 0x7f };

void
hwtdi_framer_init(struct hwtdi_framer *framer, enum hwtdi_framing framing,
    uint64_t off)
{
	memset(framer, 0, sizeof(*framer));
	framer->framing = framing;
	framer->off = off;
	framer->frame_off = off;
}

static bool
is_barrier(const uint8_t *frame)
{
	for (size_t i = 0; i < HWTDI_FRAME_BYTES; i += sizeof(fsync_bytes))
		if (memcmp(frame + i, fsync_bytes, sizeof(fsync_bytes)) != 0)
			return (false);
	return (true);
}

static void
found(struct hwtdi_frame *out, enum hwtdi_frame_kind kind, uint64_t off,
    const uint8_t *frame)
{
	out->kind = kind;
	out->off = off;
	out->lost = 0;
	memcpy(out->bytes, frame, HWTDI_FRAME_BYTES);
}

static void
tell_lost(struct hwtdi_framer *f, struct hwtdi_frame *out)
{
	out->kind = HWTDI_FRAME_LOST;
	out->off = f->off;
	out->lost = f->skipped;
	f->skipped = 0;
}

static size_t
next_in_memory(struct hwtdi_framer *f, const uint8_t *bytes, size_t n,
    struct hwtdi_frame *out)
{
	size_t part = (size_t)HWTDI_FRAME_BYTES - f->n;
	const uint8_t *frame = bytes;

	if (part > n)
		part = n;
	if (part < HWTDI_FRAME_BYTES) {
		if (f->n == 0)
			f->frame_off = f->off;
		memcpy(f->frame + f->n, bytes, part);
		f->n += (uint8_t)part;
		f->off += part;
		if (f->n < HWTDI_FRAME_BYTES)
			return (part);
		frame = f->frame;
		f->n = 0;
	} else {
		f->frame_off = f->off;
		f->off += part;
	}
	found(out, is_barrier(frame) ? HWTDI_FRAME_BARRIER : HWTDI_FRAME_DATA,
	    f->frame_off, frame);
	if (out->kind == HWTDI_FRAME_BARRIER)
		f->sync_bytes += HWTDI_FRAME_BYTES;
	return (part);
}

/* Skip bytes at hand but for the last `left`. */
static void
skip(struct hwtdi_framer *f, uint8_t left)
{
	const uint8_t gone = (uint8_t)(f->n - left);

	memmove(f->frame, f->frame + gone, left);
	f->n = left;
	f->frame_off += gone;
	f->skipped += gone;
}

/* The last bytes at hand are an FSYNC; what is left before it is lost. */
static void
take_fsync(struct hwtdi_framer *f)
{
	skip(f, sizeof(fsync_bytes));
	f->sync_bytes += sizeof(fsync_bytes);
	f->n = 0;
	f->synced = true;
}

static bool
ends_with_fsync(const struct hwtdi_framer *f)
{
	return (f->n >= sizeof(fsync_bytes) &&
	    memcmp(f->frame + f->n - sizeof(fsync_bytes), fsync_bytes,
		sizeof(fsync_bytes)) == 0);
}

/* A halfword is complete that is no part of a frame, or cannot be. */
static void
take_marker(struct hwtdi_framer *f, uint8_t second)
{
	if (second == 0x7f) {
		f->sync_bytes += 2;
		f->n -= 2;
	} else if (second != 0xff) {
		f->synced = false;
	}
}

/* One byte that a TPIU wrote.  True: a frame is complete. */
static bool
tpiu_byte(struct hwtdi_framer *f, uint8_t byte)
{
	const uint8_t *half;

	if (f->n == 0)
		f->frame_off = f->off;
	f->frame[f->n++] = byte;
	if (f->synced && f->n % 2 == 0) {
		half = f->frame + f->n - 2;
		if (ends_with_fsync(f))
			take_fsync(f);
		else if (f->n >= 4 && half[-2] == 0xff)
			f->synced = false;
		else if (half[0] == 0xff)
			take_marker(f, half[1]);
		else if (f->n == HWTDI_FRAME_BYTES)
			return (true);
	}
	if (!f->synced && ends_with_fsync(f))
		take_fsync(f);
	else if (!f->synced && f->n >= HWTDI_FRAME_BYTES)
		skip(f, sizeof(fsync_bytes) - 1);
	return (false);
}

/* All of a frame is there, and nothing else among it. */
static bool
is_plain(const struct hwtdi_framer *f, const uint8_t *bytes, size_t n)
{
	if (!f->synced || f->n != 0 || n < HWTDI_FRAME_BYTES)
		return (false);
	for (size_t i = 0; i < HWTDI_FRAME_BYTES; i += 2)
		if (bytes[i] == 0xff)
			return (false);
	return (true);
}

/* Bytes from here on up to where something else than trace comes. */
static size_t
trace_bytes(const struct hwtdi_framer *f, size_t n)
{
	const uint64_t place = f->off % HWTDI_DSTREAM_BLOCK;

	if (f->framing != HWTDI_FRAMING_DSTREAM)
		return (n);
	if (place >= HWTDI_DSTREAM_TRACE)
		return (0);
	return (n < HWTDI_DSTREAM_TRACE - place
		? n
		: (size_t)(HWTDI_DSTREAM_TRACE - place));
}

static size_t
next_of_tpiu(struct hwtdi_framer *f, const uint8_t *bytes, size_t n,
    struct hwtdi_frame *out)
{
	size_t at = 0;

	while (at < n) {
		const size_t room = trace_bytes(f, n - at);

		if (room == 0) {
			f->footer_bytes++;
			f->off++;
			at++;
			continue;
		}
		if (is_plain(f, bytes + at, room)) {
			found(out, HWTDI_FRAME_DATA, f->off, bytes + at);
			f->off += HWTDI_FRAME_BYTES;
			return (at + HWTDI_FRAME_BYTES);
		}
		if (tpiu_byte(f, bytes[at])) {
			found(out, HWTDI_FRAME_DATA, f->frame_off, f->frame);
			f->n = 0;
		}
		f->off++;
		at++;
		if (out->kind != HWTDI_FRAME_NONE)
			break;
		if (f->skipped >= LOST_MAX || (f->synced && f->skipped != 0)) {
			tell_lost(f, out);
			break;
		}
	}
	return (at);
}

size_t
hwtdi_framer_next(struct hwtdi_framer *framer, const uint8_t *bytes, size_t n,
    struct hwtdi_frame *out)
{
	out->kind = HWTDI_FRAME_NONE;
	return (framer->framing == HWTDI_FRAMING_MEMORY
		? next_in_memory(framer, bytes, n, out)
		: next_of_tpiu(framer, bytes, n, out));
}

void
hwtdi_framer_end(struct hwtdi_framer *framer, struct hwtdi_frame *out)
{
	out->kind = HWTDI_FRAME_NONE;
	skip(framer, 0);
	if (framer->skipped != 0)
		tell_lost(framer, out);
}
