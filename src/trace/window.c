/*
 * Windows over the raw bytes of a stream: in place where they lie in memory
 * in one stretch, else from an unpacked chunk or joined in a buffer.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/container/hwt_chunk.h"
#include "trace/sink/sink.h"
#include "trace/trace_internal.h"

/* Bytes read at once from a file of raw bytes. */
#define READ_AHEAD ((uint64_t)256 << 10)

/* Bytes copied at once by read_bytes. */
#define COPY_PART ((uint64_t)1 << 20)

struct hwtdi_window {
	const struct hwtd_trace *trace;
	const struct hwtdi_stream *stream;
	uint32_t id;
	/* Joined bytes: [joined_at, joined_at + joined) of the stream. */
	uint8_t *buffer;
	size_t room;
	uint64_t joined_at;
	uint64_t joined;
	/* The chunk stretch that `chunk` holds, or NULL. */
	const struct hwtdi_stretch *unpacked;
	struct hwtdi_hwt_unpacker chunk;
	/* Of the sink whose frames the bytes are in, once it is looked at. */
	struct hwtdi_window *sink;
	/* Where in their piece the bytes of a stretch are, or NULL. */
	const struct hwtdi_stretch *placed;
	uint64_t *places;
	size_t cap_places;
};

static const uint8_t nothing[1];

int
hwtdi_window_open(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtdi_window **out, struct hwtd_error *err)
{
	const struct hwtdi_stream *s = hwtdi_trace_stream_at(trace, stream);
	struct hwtdi_window *window = NULL;

	if (s == NULL)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "stream %" PRIu32 " of %zu", stream, trace->n_streams));
	window = hwtdi_zalloc(trace->library, sizeof(*window));
	if (window == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*window)));
	window->trace = trace;
	window->stream = s;
	window->id = stream;
	hwtdi_hwt_unpacker_init(&window->chunk, trace->library);
	*out = window;
	return (HWTD_OK);
}

int
hwtdi_window_create(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtdi_window **out, struct hwtd_error *err)
{
	if (!trace->sealed)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	return (hwtdi_window_open(trace, stream, out, err));
}

void
hwtdi_window_destroy(struct hwtdi_window *window)
{
	struct hwtd_context *ctx;

	if (window == NULL)
		return;
	ctx = window->trace->library;
	hwtdi_window_destroy(window->sink);
	hwtdi_array_free(ctx, window->places, window->cap_places,
	    sizeof(*window->places));
	hwtdi_hwt_unpacker_fini(&window->chunk);
	hwtdi_free(ctx, window->buffer, window->room);
	hwtdi_free(ctx, window, sizeof(*window));
}

static void
set_damage(struct hwtd_damage *damage, uint32_t stream,
    const struct hwtdi_stretch *stretch, uint64_t file_bytes,
    const struct hwtd_error *why)
{
	memset(damage, 0, sizeof(*damage));
	damage->size = sizeof(*damage);
	damage->file_off = stretch->kind == HWTDI_STRETCH_FRAMES
	    ? 0
	    : stretch->at.file_off;
	damage->file_bytes = file_bytes;
	damage->stream = stream;
	damage->first = stretch->start;
	damage->end = stretch->start + stretch->length;
	memcpy(damage->text, why->message, sizeof(damage->text) - 1);
}

/* Unpack the chunk of a stretch, unless it is the one at hand. */
static int
unpack(struct hwtdi_window *w, const struct hwtdi_stretch *stretch,
    struct hwtd_damage *damage, struct hwtd_error *err)
{
	struct hwtdi_hwt_header want = {
		.type = HWTDI_HWT_DATA,
		.id = w->id,
		.position = stretch->start,
		.raw_size = (uint32_t)stretch->length,
		.stored_size = stretch->room,
		.file_off = stretch->at.file_off,
	};
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc;

	if (w->unpacked == stretch)
		return (HWTD_OK);
	w->unpacked = NULL;
	rc = hwtdi_hwt_unpack(&w->chunk, &w->trace->file, &want, &inner);
	if (rc == HWTD_OK) {
		w->unpacked = stretch;
		return (HWTD_OK);
	}
	if (rc == HWTD_E_CORRUPT)
		set_damage(damage, w->id, stretch,
		    HWTDI_HWT_HEADER_SIZE + (uint64_t)stretch->room, &inner);
	return (hwtdi_fail_pass(err, &inner));
}

/* The bytes of the sink that a stretch is taken from. */
static int
see_piece(struct hwtdi_window *w, const struct hwtdi_stretch *stretch,
    const struct hwtdi_sink_piece **piece_out, const uint8_t **bytes_out,
    struct hwtd_error *err)
{
	const uint32_t sink = w->stream->desc.sink_plus_1 - 1;
	const struct hwtdi_sink_piece
	    *piece = &w->trace->streams[sink]->sink->pieces[stretch->at.piece];
	struct hwtd_damage damage = { .size = sizeof(damage) };
	int rc = HWTD_OK;

	*piece_out = piece;
	if (w->sink == NULL)
		rc = hwtdi_window_open(w->trace, sink, &w->sink, err);
	return (rc == HWTD_OK ? hwtdi_window_see(w->sink, piece->start,
				    (size_t)(piece->end - piece->start),
				    bytes_out, &damage, err)
			      : rc);
}

static int
copy_frames(struct hwtdi_window *w, const struct hwtdi_stretch *stretch,
    uint64_t first, uint8_t *to, uint64_t n, struct hwtd_damage *damage,
    struct hwtd_error *err)
{
	const struct hwtdi_sink_ask ask = {
		.id = (uint8_t)w->stream->coresight.trace_id,
		.first = first,
		.n = n,
		.to = to,
	};
	struct hwtd_error inner = { .size = sizeof(inner) };
	const struct hwtdi_sink_piece *piece;
	const uint8_t *bytes = NULL;
	int rc;

	rc = see_piece(w, stretch, &piece, &bytes, &inner);
	if (rc == HWTD_OK) {
		hwtdi_sink_take(piece, bytes, &ask);
		return (HWTD_OK);
	}
	/* It was whole when the trace was sealed. */
	if (rc == HWTD_E_CORRUPT)
		set_damage(damage, w->id, stretch, 0, &inner);
	return (hwtdi_fail_pass(err, &inner));
}

/* Copy [off, off + n) of a stretch. */
static int
copy_piece(struct hwtdi_window *w, const struct hwtdi_stretch *stretch,
    uint64_t off, uint8_t *to, uint64_t n, struct hwtd_damage *damage,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	const uint64_t at = off - stretch->start;
	int rc;

	switch (stretch->kind) {
	case HWTDI_STRETCH_MEMORY:
		memcpy(to, stretch->at.memory + at, (size_t)n);
		return (HWTD_OK);
	case HWTDI_STRETCH_FILE:
		rc = hwtdi_trace_file_read(stretch->room == 0
			? &w->trace->file
			: &w->trace->more_files[stretch->room - 1],
		    stretch->at.file_off + at, to, (size_t)n, &inner);
		if (rc == HWTD_OK)
			return (HWTD_OK);
		if (rc == HWTD_E_CORRUPT) {
			set_damage(damage, w->id, stretch, stretch->length,
			    &inner);
			damage->file_off += at;
			damage->file_bytes -= at;
			damage->first += at;
		}
		return (hwtdi_fail_pass(err, &inner));
	case HWTDI_STRETCH_FRAMES:
		return (copy_frames(w, stretch, at, to, n, damage, err));
	default:
		rc = unpack(w, stretch, damage, err);
		if (rc == HWTD_OK)
			memcpy(to, w->chunk.raw + at, (size_t)n);
		return (rc);
	}
}

/* Keep what the buffer already has from `off` on; make room for `total`. */
static int
slide(struct hwtdi_window *w, uint64_t off, uint64_t total,
    struct hwtd_error *err)
{
	uint64_t room = w->room + w->room / 2;
	uint8_t *buffer;

	if (off >= w->joined_at && off - w->joined_at < w->joined) {
		w->joined -= off - w->joined_at;
		memmove(w->buffer, w->buffer + (off - w->joined_at),
		    (size_t)w->joined);
	} else {
		w->joined = 0;
	}
	w->joined_at = off;
	if (total <= w->room)
		return (HWTD_OK);
	if (room < total || room > SIZE_MAX)
		room = total;
	buffer = hwtdi_resize(w->trace->library, w->buffer, w->room,
	    (size_t)room);
	if (buffer == NULL && room > total) {
		room = total;
		buffer = hwtdi_resize(w->trace->library, w->buffer, w->room,
		    (size_t)room);
	}
	if (buffer == NULL)
		return (hwtdi_fail_nomem(err, (size_t)room));
	w->buffer = buffer;
	w->room = (size_t)room;
	return (HWTD_OK);
}

/* Join [off, off + n) in the buffer; `limit` is where the extent ends. */
static int
join(struct hwtdi_window *w, uint64_t off, uint64_t n, uint64_t limit,
    struct hwtd_damage *damage, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	const struct hwtdi_stream *s = w->stream;
	size_t index = hwtdi_stream_stretch(s, off);
	uint64_t total = n;
	int rc;

	if (s->stretches[index].kind != HWTDI_STRETCH_MEMORY &&
	    s->stretches[index].kind != HWTDI_STRETCH_CHUNK &&
	    total < READ_AHEAD)
		total = limit - off < READ_AHEAD ? limit - off : READ_AHEAD;
	rc = slide(w, off, total, err);
	if (rc != HWTD_OK)
		return (rc);
	index = hwtdi_stream_stretch(s, off + w->joined);
	while (w->joined < total && index < s->n_stretches) {
		const struct hwtdi_stretch *stretch = &s->stretches[index];
		uint64_t at = off + w->joined;
		uint64_t part = stretch->start + stretch->length - at;

		if (part > total - w->joined)
			part = total - w->joined;
		rc = copy_piece(w, stretch, at, w->buffer + w->joined, part,
		    damage, &inner);
		if (rc == HWTD_OK) {
			w->joined += part;
			index++;
			continue;
		}
		/* What was read ahead may be what fails. */
		if (total == n)
			break;
		total = n;
	}
	return (w->joined >= n ? HWTD_OK : hwtdi_fail_pass(err, &inner));
}

int
hwtdi_window_see(struct hwtdi_window *window, uint64_t off, size_t n,
    const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err)
{
	const struct hwtdi_stream *s = window->stream;
	const struct hwtdi_stretch *stretch;
	size_t extent, index;
	int rc;

	if (n == 0) {
		*bytes_out = nothing;
		return (HWTD_OK);
	}
	extent = hwtdi_stream_extent(s, off);
	if (extent == s->n_extents || n > s->extents[extent].end - off)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%zu bytes from %" PRIu64 " on are not in one extent of "
		    "stream %" PRIu32,
		    n, off, window->id));
	if (off >= window->joined_at &&
	    off - window->joined_at < window->joined &&
	    n <= window->joined - (off - window->joined_at)) {
		*bytes_out = window->buffer + (off - window->joined_at);
		return (HWTD_OK);
	}
	index = hwtdi_stream_stretch(s, off);
	stretch = &s->stretches[index];
	if (n <= stretch->start + stretch->length - off) {
		if (stretch->kind == HWTDI_STRETCH_MEMORY) {
			*bytes_out = stretch->at.memory +
			    (off - stretch->start);
			return (HWTD_OK);
		}
		if (stretch->kind == HWTDI_STRETCH_CHUNK) {
			rc = unpack(window, stretch, damage_out, err);
			if (rc == HWTD_OK)
				*bytes_out = window->chunk.raw +
				    (off - stretch->start);
			return (rc);
		}
	}
	rc = join(window, off, n, s->extents[extent].end, damage_out, err);
	if (rc == HWTD_OK)
		*bytes_out = window->buffer;
	return (rc);
}

/* Find the places of all bytes of a stretch: others will be asked for. */
static int
find_places(struct hwtdi_window *w, const struct hwtdi_stretch *stretch,
    struct hwtd_error *err)
{
	const size_t n = (size_t)stretch->length;
	const struct hwtdi_sink_piece *piece;
	const uint8_t *bytes = NULL;
	int rc;

	if (w->placed == stretch)
		return (HWTD_OK);
	w->placed = NULL;
	rc = hwtdi_array_grow(w->trace->library, &w->places, &w->cap_places, n,
	    sizeof(*w->places), err);
	if (rc == HWTD_OK)
		rc = see_piece(w, stretch, &piece, &bytes, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_sink_places(piece, bytes, (uint8_t)w->stream->coresight.trace_id,
	    w->places, n);
	w->placed = stretch;
	return (HWTD_OK);
}

int
hwtdi_window_sink_off(struct hwtdi_window *window, uint64_t off,
    uint64_t *sink_off_out, struct hwtd_error *err)
{
	const struct hwtdi_stream *s = window->stream;
	const size_t index = hwtdi_stream_stretch(s, off);
	const struct hwtdi_stretch *stretch;
	int rc;

	if (index == s->n_stretches ||
	    s->stretches[index].kind != HWTDI_STRETCH_FRAMES)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "byte %" PRIu64 " of stream %" PRIu32 " is in no sink",
		    off, window->id));
	stretch = &s->stretches[index];
	rc = find_places(window, stretch, err);
	if (rc != HWTD_OK)
		return (rc);
	*sink_off_out = window->places[off - stretch->start];
	return (HWTD_OK);
}

/* Copy from one extent; what lies before damage is copied all the same. */
static int
copy_extent(struct hwtdi_window *window, uint64_t off, uint8_t *buf, size_t n,
    size_t *n_out, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_damage damage;
	const uint8_t *bytes = NULL;
	int rc;

	rc = hwtdi_window_see(window, off, n, &bytes, &damage, &inner);
	if (rc == HWTD_E_CORRUPT && damage.first > off &&
	    hwtdi_window_see(window, off, (size_t)(damage.first - off), &bytes,
		&damage, NULL) == HWTD_OK)
		n = (size_t)(damage.first - off);
	else if (rc != HWTD_OK)
		n = 0;
	if (n != 0)
		memcpy(buf, bytes, n);
	*n_out = n;
	if (rc != HWTD_OK)
		return (hwtdi_fail_pass(err, &inner));
	return (HWTD_OK);
}

/* Bytes between two extents: say where in the file they should be. */
static int
fail_missing(const struct hwtdi_window *window, uint64_t off,
    struct hwtd_error *err)
{
	const struct hwtd_trace *trace = window->trace;
	uint64_t file_off = UINT64_MAX;

	for (size_t i = 0; i < trace->n_damages; i++) {
		const struct hwtd_damage *d = &trace->damages[i];

		if (d->stream == window->id && d->first <= off && off < d->end)
			file_off = d->file_off;
	}
	return (hwtdi_fail_at(err, HWTD_E_CORRUPT, file_off,
	    "byte %" PRIu64 " of stream %" PRIu32 " is missing in the file",
	    off, window->id));
}

static int
copy_stream(struct hwtdi_window *window, uint64_t off, uint8_t *buf,
    uint64_t n, size_t *n_out, struct hwtd_error *err)
{
	const struct hwtdi_stream *s = window->stream;
	uint64_t done = 0;

	*n_out = 0;
	while (done < n && off + done < s->end) {
		size_t extent = hwtdi_stream_extent(s, off + done);
		size_t part = 0;
		uint64_t want;
		int rc;

		if (extent == s->n_extents)
			return (fail_missing(window, off + done, err));
		want = s->extents[extent].end - (off + done);
		if (want > n - done)
			want = n - done;
		if (want > COPY_PART)
			want = COPY_PART;
		rc = copy_extent(window, off + done, buf + done, (size_t)want,
		    &part, err);
		done += part;
		*n_out = (size_t)done;
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

int
hwtd_trace_read_bytes(const struct hwtd_trace *trace, uint32_t stream,
    uint64_t off, void *buf, size_t n, size_t *n_out, struct hwtd_error *err)
{
	struct hwtdi_window *window = NULL;
	int rc;

	if (trace == NULL || n_out == NULL || (buf == NULL && n != 0))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	*n_out = 0;
	rc = hwtdi_window_create(trace, stream, &window, err);
	if (rc != HWTD_OK)
		return (rc);
	if (off < window->stream->end)
		rc = copy_stream(window, off, buf, n, n_out, err);
	hwtdi_window_destroy(window);
	return (rc);
}
