/*
 * Trace sinks: reading what one wrote, and giving sources their bytes.
 */
#include "trace/sink/sink.h"

#include <string.h>

#include "base/fail.h"
#include "trace/sink/ring.h"
#include "trace/trace_internal.h"

/* Bytes of a sink in a piece, unless something ends it before. */
#define PIECE_BYTES ((uint64_t)64 << 10)

/* Bytes looked at at a time. */
#define LOOK_BYTES ((uint64_t)HWTDI_RING_LOOK)

/* Reading one sink. */
struct reader {
	struct hwtd_trace *trace;
	uint32_t stream;
	struct hwtdi_sink *sink;
	struct hwtdi_window *window;
	struct hwtdi_framer framer;
	uint8_t id;
	/* The piece at hand, and the bytes that each source has in it. */
	struct hwtdi_sink_piece piece;
	uint64_t bytes[HWTDI_TRACE_IDS];
	/* Streams of the sources; NULL: there is none. */
	struct hwtdi_stream *sources[HWTDI_TRACE_IDS];
};

void
hwtdi_sink_destroy(struct hwtd_context *library, struct hwtdi_sink *sink)
{
	if (sink == NULL)
		return;
	hwtdi_array_free(library, sink->pieces, sink->cap_pieces,
	    sizeof(*sink->pieces));
	hwtdi_free(library, sink, sizeof(*sink));
}

/* Bytes of one part that are asked for. */
static void
take_part(const struct hwtdi_frame_part *part, uint64_t at,
    const struct hwtdi_sink_ask *ask)
{
	uint64_t skip = at < ask->first ? ask->first - at : 0;
	uint64_t end = part->n;

	if (at + end > ask->first + ask->n)
		end = ask->first + ask->n - at;
	if (skip < end)
		memcpy(ask->to + (at + skip - ask->first), part->bytes + skip,
		    (size_t)(end - skip));
}

void
hwtdi_sink_take(const struct hwtdi_sink_piece *piece, const uint8_t *bytes,
    const struct hwtdi_sink_ask *ask)
{
	const uint64_t end = ask->first + ask->n;
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	struct hwtdi_framer framer = piece->framer;
	size_t left = (size_t)(piece->end - piece->start);
	struct hwtdi_frame frame;
	uint8_t id = piece->id;
	uint64_t at = 0;

	while (left > 0 && at < end) {
		size_t n = hwtdi_framer_next(&framer, bytes, left, &frame);

		bytes += n;
		left -= n;
		if (frame.kind != HWTDI_FRAME_DATA)
			continue;
		n = hwtdi_frame_split(frame.bytes, &id, parts);
		for (size_t i = 0; i < n; i++) {
			if (parts[i].id != ask->id || at >= end)
				continue;
			take_part(&parts[i], at, ask);
			at += parts[i].n;
		}
	}
}

/* Where a byte of a frame is, of which some were before the piece. */
static uint64_t
place_of(const struct hwtdi_frame *frame, size_t before, size_t at,
    const struct hwtdi_sink_piece *piece)
{
	const bool is_turned = before != 0 && frame->off > piece->start;

	return (is_turned && at >= before ? piece->start + (at - before)
					  : frame->off + at);
}

void
hwtdi_sink_places(const struct hwtdi_sink_piece *piece, const uint8_t *bytes,
    uint8_t id, uint64_t *places, size_t n)
{
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	struct hwtdi_framer framer = piece->framer;
	/*
	 * Bytes of the first frame that are not in the piece: it begins before it,
	 * or in memory that was turned at the end of that.
	 */
	size_t before = piece->framer.n;
	size_t left = (size_t)(piece->end - piece->start);
	struct hwtdi_frame frame;
	uint8_t now = piece->id;
	size_t at = 0;

	while (left > 0 && at < n) {
		size_t k = hwtdi_framer_next(&framer, bytes, left, &frame);

		bytes += k;
		left -= k;
		if (frame.kind != HWTDI_FRAME_DATA)
			continue;
		k = hwtdi_frame_split(frame.bytes, &now, parts);
		for (size_t i = 0; i < k; i++)
			for (size_t b = 0;
			     parts[i].id == id && b < parts[i].n && at < n;
			     b++)
				places[at++] = place_of(&frame, before,
				    parts[i].at + b, piece);
		before = 0;
	}
}

static void
begin_piece(struct reader *r)
{
	r->piece.start = r->framer.off;
	r->piece.framer = r->framer;
	r->piece.id = r->id;
	memset(r->bytes, 0, sizeof(r->bytes));
}

/* Give sources what they have in the piece at hand. */
static int
end_piece(struct reader *r, struct hwtd_error *err)
{
	struct hwtd_context *library = r->trace->library;
	struct hwtdi_sink *sink = r->sink;
	int rc;

	r->piece.end = r->framer.off;
	if (r->piece.end == r->piece.start)
		return (HWTD_OK);
	rc = hwtdi_array_grow(library, &sink->pieces, &sink->cap_pieces,
	    sink->n_pieces + 1, sizeof(*sink->pieces), err);
	for (size_t i = 0; rc == HWTD_OK && i < HWTDI_TRACE_IDS; i++) {
		struct hwtdi_stretch stretch = {
			.length = r->bytes[i],
			.at.piece = sink->n_pieces,
			.kind = HWTDI_STRETCH_FRAMES,
		};

		sink->info.id_bytes[i] += r->bytes[i];
		if (r->bytes[i] == 0 || r->sources[i] == NULL)
			continue;
		stretch.start = r->sources[i]->end;
		rc = hwtdi_stream_place(library, r->sources[i], &stretch, err);
	}
	if (rc == HWTD_OK)
		sink->pieces[sink->n_pieces++] = r->piece;
	begin_piece(r);
	return (rc);
}

/* What comes next does not adjoin; who it belongs to is not told. */
static int
end_run(struct reader *r, uint32_t why, struct hwtd_error *err)
{
	int rc = end_piece(r, err);

	for (size_t i = 0; i < HWTDI_TRACE_IDS; i++)
		if (r->sources[i] != NULL)
			hwtdi_stream_break(r->sources[i], why);
	r->id = HWTDI_TRACE_ID_UNTOLD;
	begin_piece(r);
	return (rc);
}

static void
count_frame(struct reader *r, const struct hwtdi_frame *frame)
{
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	struct hwtd_sink_info *info = &r->sink->info;
	size_t n = hwtdi_frame_split(frame->bytes, &r->id, parts);
	uint64_t data = 0;

	for (size_t i = 0; i < n; i++) {
		data += parts[i].n;
		if (parts[i].id == HWTDI_TRACE_ID_UNTOLD)
			info->untold_bytes += parts[i].n;
		else
			r->bytes[parts[i].id] += parts[i].n;
	}
	info->n_frames++;
	info->overhead_bytes += HWTDI_FRAME_BYTES - data;
}

static int
pass(struct reader *r, const struct hwtdi_frame *frame, struct hwtd_error *err)
{
	switch (frame->kind) {
	case HWTDI_FRAME_DATA:
		count_frame(r, frame);
		return (r->framer.off - r->piece.start < PIECE_BYTES
			? HWTD_OK
			: end_piece(r, err));
	case HWTDI_FRAME_BARRIER:
		r->sink->info.n_barriers++;
		return (end_run(r, HWTD_EXTENT_NEW, err));
	case HWTDI_FRAME_LOST:
		r->sink->info.lost_bytes += frame->lost;
		return (end_run(r, HWTD_EXTENT_AFTER_LOSS, err));
	default:
		return (HWTD_OK);
	}
}

static int
pass_bytes(struct reader *r, const uint8_t *bytes, size_t n,
    struct hwtd_error *err)
{
	struct hwtdi_frame frame;
	int rc = HWTD_OK;

	while (n > 0 && rc == HWTD_OK) {
		size_t took = hwtdi_framer_next(&r->framer, bytes, n, &frame);

		bytes += took;
		n -= took;
		rc = pass(r, &frame, err);
	}
	return (rc);
}

/* A run of bytes that adjoin begins. */
static void
begin_run(struct reader *r, uint64_t off)
{
	uint64_t sync = r->framer.sync_bytes, footer = r->framer.footer_bytes;

	hwtdi_framer_init(&r->framer,
	    (enum hwtdi_framing)r->sink->info.framing, off);
	r->framer.sync_bytes = sync;
	r->framer.footer_bytes = footer;
	begin_piece(r);
}

static int
finish_run(struct reader *r, uint32_t why, struct hwtd_error *err)
{
	struct hwtdi_frame frame;
	int rc;

	hwtdi_framer_end(&r->framer, &frame);
	rc = pass(r, &frame, err);
	return (rc == HWTD_OK ? end_run(r, why, err) : rc);
}

/* Read [off, end), which adjoin what was read; what is damaged is lost. */
static int
read_range(struct reader *r, uint64_t off, uint64_t end,
    struct hwtd_error *err)
{
	struct hwtd_damage damage = { .size = sizeof(damage) };
	const uint8_t *bytes = NULL;
	int rc = HWTD_OK;

	while (off < end && rc == HWTD_OK) {
		uint64_t n = end - off < LOOK_BYTES ? end - off : LOOK_BYTES;

		rc = hwtdi_window_see(r->window, off, (size_t)n, &bytes,
		    &damage, err);
		if (rc == HWTD_OK) {
			rc = pass_bytes(r, bytes, (size_t)n, err);
			if (rc == HWTD_OK)
				rc = hwtdi_poll(r->trace->library, err);
			off += n;
			continue;
		}
		if (rc != HWTD_E_CORRUPT || damage.first >= off + n ||
		    damage.end <= off)
			return (rc);
		rc = HWTD_OK;
		n = 0;
		if (damage.first > off) {
			n = damage.first - off;
			rc = hwtdi_window_see(r->window, off, (size_t)n,
			    &bytes, &damage, err);
			if (rc == HWTD_OK)
				rc = pass_bytes(r, bytes, (size_t)n, err);
		}
		if (rc == HWTD_OK)
			rc = finish_run(r, HWTD_EXTENT_AFTER_DAMAGE, err);
		n = damage.end < end ? damage.end : end;
		r->sink->info.lost_bytes += n -
		    (damage.first > off ? damage.first : off);
		off = n;
		begin_run(r, off);
	}
	return (rc);
}

static int
read_extent(struct reader *r, uint64_t off, uint64_t end,
    struct hwtd_error *err)
{
	int rc;

	begin_run(r, off);
	rc = read_range(r, off, end, err);
	return (rc == HWTD_OK ? finish_run(r, HWTD_EXTENT_NEW, err) : rc);
}

/*
 * Look at all of a memory, whether it is turned.  HWTD_OK also if it cannot be
 * looked at: that is told when it is read.
 */
static int
look_for_seam(struct reader *r, uint64_t off, uint64_t end,
    struct hwtdi_ring *ring, struct hwtd_error *err)
{
	struct hwtd_damage damage = { .size = sizeof(damage) };
	const uint8_t *bytes = NULL;
	uint64_t at = off;
	int rc = HWTD_OK;

	uint8_t across[HWTDI_FRAME_BYTES];

	for (size_t i = 0; i < HWTDI_TRACE_IDS; i++)
		ring->known[i] = r->sources[i] != NULL;
	while (end - at >= HWTDI_FRAME_BYTES && rc == HWTD_OK) {
		const size_t n = (size_t)(end - at < LOOK_BYTES ? end - at
								: LOOK_BYTES);
		size_t i = 0;

		rc = hwtdi_window_see(r->window, at, n, &bytes, &damage, err);
		if (rc != HWTD_OK)
			break;
		if (at == off) {
			hwtdi_ring_find_phase(ring, bytes, n);
			i = ring->phase;
			memcpy(across + HWTDI_FRAME_BYTES - i, bytes, i);
		}
		for (; n - i >= HWTDI_FRAME_BYTES; i += HWTDI_FRAME_BYTES)
			hwtdi_ring_see(ring, at + i, bytes + i);
		at += i;
		rc = hwtdi_poll(r->trace->library, err);
	}
	/* One may begin at the end and go on at the start. */
	if (rc == HWTD_OK && end - at + ring->phase == HWTDI_FRAME_BYTES)
		rc = hwtdi_window_see(r->window, at, (size_t)(end - at),
		    &bytes, &damage, err);
	if (rc == HWTD_OK && end - at + ring->phase == HWTDI_FRAME_BYTES) {
		memcpy(across, bytes, (size_t)(end - at));
		hwtdi_ring_see(ring, at, across);
	}
	if (rc == HWTD_E_CORRUPT) {
		memset(ring, 0, sizeof(*ring));
		rc = HWTD_OK;
	}
	return (rc);
}

/* Read a memory that may have been turned: the oldest frame is not the first. */
static int
read_memory(struct reader *r, uint64_t off, uint64_t end,
    struct hwtd_error *err)
{
	struct hwtdi_ring ring = { .phase = 0 };
	int rc = look_for_seam(r, off, end, &ring, err);

	if (rc != HWTD_OK)
		return (rc);
	if (!hwtdi_ring_is_turned(&ring)) {
		r->sink->info.lost_bytes += ring.phase;
		return (read_extent(r, off + ring.phase, end, err));
	}
	r->sink->info.turned_off = ring.seam;
	begin_run(r, ring.seam);
	rc = read_range(r, ring.seam, end, err);
	if (rc == HWTD_OK)
		rc = end_piece(r, err);
	/* A frame that the end cuts goes on at the start. */
	r->framer.off = off;
	begin_piece(r);
	if (rc == HWTD_OK)
		rc = read_range(r, off, ring.seam, err);
	return (rc == HWTD_OK ? finish_run(r, HWTD_EXTENT_NEW, err) : rc);
}

static int
read_extents(struct reader *r, struct hwtd_error *err)
{
	const struct hwtdi_stream *s = r->trace->streams[r->stream];
	int rc = HWTD_OK;

	r->id = HWTDI_TRACE_ID_UNTOLD;
	for (size_t i = 0; rc == HWTD_OK && i < s->n_extents; i++) {
		for (size_t id = 0; id < HWTDI_TRACE_IDS; id++)
			if (r->sources[id] != NULL)
				hwtdi_stream_break(r->sources[id],
				    s->extents[i].why);
		rc = s->n_extents == 1 &&
			r->sink->info.framing == HWTD_FRAMING_MEMORY
		    ? read_memory(r, s->extents[i].start, s->extents[i].end,
			  err)
		    : read_extent(r, s->extents[i].start, s->extents[i].end,
			  err);
	}
	r->sink->info.sync_bytes = r->framer.sync_bytes;
	r->sink->info.footer_bytes = r->framer.footer_bytes;
	for (size_t id = 0; rc == HWTD_OK && id < HWTDI_TRACE_IDS; id++)
		if (r->sources[id] != NULL)
			rc = hwtdi_stream_finish(r->trace->library,
			    r->sources[id], err);
	return (rc);
}

static int
read_sink(struct hwtd_trace *trace, uint32_t stream, struct hwtd_error *err)
{
	struct hwtdi_stream *s = trace->streams[stream];
	struct reader r = { .trace = trace, .stream = stream };
	int rc;

	r.sink = hwtdi_zalloc(trace->library, sizeof(*r.sink));
	if (r.sink == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*r.sink)));
	s->sink = r.sink;
	r.sink->info.size = sizeof(r.sink->info);
	r.sink->info.framing = s->desc.framing;
	for (size_t i = stream + 1; i < trace->n_streams; i++)
		if (trace->streams[i]->desc.sink_plus_1 == stream + 1)
			r.sources[trace->streams[i]
				      ->coresight.trace_id] = trace
								  ->streams[i];
	rc = hwtdi_window_open(trace, stream, &r.window, err);
	if (rc == HWTD_OK)
		rc = read_extents(&r, err);
	hwtdi_window_destroy(r.window);
	return (rc);
}

void
hwtdi_sinks_forget(struct hwtd_trace *trace)
{
	for (size_t i = 0; i < trace->n_streams; i++) {
		struct hwtdi_stream *s = trace->streams[i];

		if (s->desc.sink_plus_1 != 0)
			hwtdi_stream_clear(trace->library, s);
		hwtdi_sink_destroy(trace->library, s->sink);
		s->sink = NULL;
	}
}

int
hwtdi_sinks_read(struct hwtd_trace *trace, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (uint32_t i = 0; rc == HWTD_OK && i < trace->n_streams; i++)
		if (trace->streams[i]->desc.framing != HWTD_FRAMING_NONE)
			rc = read_sink(trace, i, err);
	if (rc != HWTD_OK)
		hwtdi_sinks_forget(trace);
	return (rc);
}

int
hwtd_trace_sink(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtd_sink_info *out)
{
	const struct hwtdi_stream *s;

	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (!trace->sealed)
		return (HWTD_E_STATE);
	s = hwtdi_trace_stream_at(trace, stream);
	if (s == NULL || s->sink == NULL)
		return (HWTD_E_NOT_FOUND);
	return (hwtdi_result_copy(out, &s->sink->info, sizeof(s->sink->info)));
}
