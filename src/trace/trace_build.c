/*
 * Adding bytes, records and images to a trace that is not sealed.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "image/image_bytes.h"
#include "trace/trace_internal.h"

static int
check_open(const struct hwtd_trace *trace, struct hwtd_error *err)
{
	if (trace == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "trace is NULL"));
	if (trace->sealed)
		return (hwtdi_fail(err, HWTD_E_STATE, "the trace is sealed"));
	return (HWTD_OK);
}

static int
check_stream(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtd_error *err)
{
	int rc = check_open(trace, err);

	if (rc == HWTD_OK && hwtdi_trace_stream_at(trace, stream) == NULL)
		rc = hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "stream %" PRIu32 " of %zu", stream, trace->n_streams);
	if (rc == HWTD_OK && trace->streams[stream]->desc.sink_plus_1 != 0)
		rc = hwtdi_fail(err, HWTD_E_INVALID,
		    "stream %" PRIu32 " has the bytes of its sink", stream);
	return (rc);
}

/* The last stretch, if it is memory that `n` more bytes can adjoin. */
static struct hwtdi_stretch *
last_memory(struct hwtdi_stream *stream)
{
	struct hwtdi_stretch *stretch;

	if (stream->n_stretches == 0)
		return (NULL);
	stretch = &stream->stretches[stream->n_stretches - 1];
	if (stretch->kind != HWTDI_STRETCH_MEMORY ||
	    stretch->length == HWTDI_STRETCH_MAX)
		return (NULL);
	/* A pending extent, and what is behind a hole, begins with a new one. */
	return (stream->pending ||
		    stretch->start + stretch->length != stream->end
		? NULL
		: stretch);
}

/* Make room for `n` more bytes in a memory stretch. */
static int
grow_memory(struct hwtd_context *ctx, struct hwtdi_stretch *stretch,
    uint64_t n, struct hwtd_error *err)
{
	uint64_t need = stretch->length + n;
	uint64_t room = stretch->room + stretch->room / 2;
	uint8_t *memory = NULL;

	if (need <= stretch->room)
		return (HWTD_OK);
	if (room > HWTDI_STRETCH_MAX)
		room = HWTDI_STRETCH_MAX;
	if (room > need)
		memory = hwtdi_resize(ctx, stretch->at.memory, stretch->room,
		    (size_t)room);
	if (memory == NULL) {
		room = need;
		memory = hwtdi_resize(ctx, stretch->at.memory, stretch->room,
		    (size_t)room);
	}
	if (memory == NULL)
		return (hwtdi_trace_no_room(ctx, n, err));
	stretch->at.memory = memory;
	stretch->room = (uint32_t)room;
	return (HWTD_OK);
}

/* Append up to HWTDI_STRETCH_MAX bytes; *n_out says how many. */
static int
add_part(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    const uint8_t *bytes, uint64_t n, uint64_t *n_out, struct hwtd_error *err)
{
	struct hwtdi_stretch *last = last_memory(stream);
	struct hwtdi_stretch stretch = { .kind = HWTDI_STRETCH_MEMORY };
	uint64_t room = HWTDI_STRETCH_MAX;
	int rc;

	if (room > ctx->max_alloc)
		room = ctx->max_alloc;
	if (last != NULL && last->length < room) {
		room -= last->length;
		if (n > room)
			n = room;
		rc = grow_memory(ctx, last, n, err);
		if (rc != HWTD_OK)
			return (rc);
		memcpy(last->at.memory + last->length, bytes, (size_t)n);
		last->length += n;
		stream->end += n;
		stream->extents[stream->n_extents - 1].end = stream->end;
		*n_out = n;
		return (HWTD_OK);
	}
	if (n > room)
		n = room;
	stretch.start = stream->end;
	stretch.length = n;
	stretch.room = (uint32_t)n;
	stretch.at.memory = hwtdi_alloc(ctx, (size_t)n);
	if (stretch.at.memory == NULL)
		return (hwtdi_trace_no_room(ctx, n, err));
	memcpy(stretch.at.memory, bytes, (size_t)n);
	rc = hwtdi_stream_place(ctx, stream, &stretch, err);
	if (rc != HWTD_OK)
		hwtdi_free(ctx, stretch.at.memory, (size_t)n);
	*n_out = n;
	return (rc);
}

/* What add_bytes must put back when it fails half way. */
struct mark {
	uint64_t end;
	size_t n_extents;
	size_t n_stretches;
	uint64_t last_length;
	bool pending;
	uint32_t pending_why;
};

static struct mark
mark_stream(const struct hwtdi_stream *stream)
{
	struct mark m = {
		.end = stream->end,
		.n_extents = stream->n_extents,
		.n_stretches = stream->n_stretches,
		.pending = stream->pending,
		.pending_why = stream->pending_why,
	};

	if (m.n_stretches > 0)
		m.last_length = stream->stretches[m.n_stretches - 1].length;
	return (m);
}

static void
back_to(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    const struct mark *m)
{
	while (stream->n_stretches > m->n_stretches) {
		struct hwtdi_stretch
		    *p = &stream->stretches[--stream->n_stretches];

		hwtdi_free(ctx, p->at.memory, p->room);
	}
	if (m->n_stretches > 0)
		stream->stretches[m->n_stretches - 1].length = m->last_length;
	stream->end = m->end;
	stream->n_extents = m->n_extents;
	if (m->n_extents > 0)
		stream->extents[m->n_extents - 1].end = m->end;
	stream->pending = m->pending;
	stream->pending_why = m->pending_why;
}

int
hwtd_trace_add_bytes(struct hwtd_trace *trace, uint32_t stream,
    const void *bytes, size_t n, struct hwtd_error *err)
{
	const uint8_t *at = bytes;
	struct hwtdi_stream *s;
	struct mark m;
	int rc;

	rc = check_stream(trace, stream, err);
	if (rc != HWTD_OK)
		return (rc);
	if (bytes == NULL && n != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "bytes is NULL"));
	s = hwtdi_trace_stream_at(trace, stream);
	if (n > UINT64_MAX - s->end)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "stream %" PRIu32 " is full", stream));
	m = mark_stream(s);
	while (n > 0) {
		uint64_t part = 0;

		rc = add_part(trace->library, s, at, n, &part, err);
		if (rc != HWTD_OK) {
			back_to(trace->library, s, &m);
			return (rc);
		}
		at += part;
		n -= (size_t)part;
	}
	return (HWTD_OK);
}

int
hwtd_trace_start_extent(struct hwtd_trace *trace, uint32_t stream,
    uint32_t why, struct hwtd_error *err)
{
	int rc = check_stream(trace, stream, err);

	if (rc != HWTD_OK)
		return (rc);
	if (why > HWTD_EXTENT_AFTER_DAMAGE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "reason %" PRIu32 " for an extent is not known", why));
	hwtdi_stream_break(hwtdi_trace_stream_at(trace, stream), why);
	return (HWTD_OK);
}

int
hwtd_trace_add_record(struct hwtd_trace *trace,
    const struct hwtd_record *record, struct hwtd_error *err)
{
	const uint32_t known = 2 * HWTD_RECF_HYPERVISOR_SPACE - 1;
	struct hwtd_record r;
	int rc;

	rc = check_open(trace, err);
	if (rc != HWTD_OK)
		return (rc);
	if (record == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "record is NULL"));
	rc = hwtdi_options_copy(&r, sizeof(r), record, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_trace_check_text("record name", r.name, err);
	if (rc != HWTD_OK)
		return (rc);
	if (r.type >= HWTD_REC_TYPES)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "record type %" PRIu32 " is not known", r.type));
	if (r.flags & ~known)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "record flags %#" PRIx32 " are not known", r.flags));
	if (r.n_build_id > HWTD_MAX_BUILD_ID)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "build-id of %" PRIu32 " bytes; at most %d", r.n_build_id,
		    HWTD_MAX_BUILD_ID));
	if ((r.flags & HWTD_RECF_VMID) != 0 && r.vmid == HWTD_NO_ID)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "virtual machine %" PRIu32 " is the number for none",
		    r.vmid));
	if (r.stream != HWTD_NO_ID && r.stream >= trace->n_streams)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "record speaks of stream %" PRIu32
		    " of %zu; none is HWTD_NO_ID",
		    r.stream, trace->n_streams));
	if (r.image != HWTD_NO_ID && r.image >= trace->n_images)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "record speaks of image %" PRIu32
		    " of %zu; none is HWTD_NO_ID",
		    r.image, trace->n_images));
	return (hwtdi_record_list_add(trace->library, &trace->records, &r,
	    err));
}

/* Append to a list of images. */
static int
put(struct hwtd_context *ctx, struct hwtdi_image **list, size_t *n,
    size_t *cap, const struct hwtdi_image *image, const char *path,
    uint32_t *id_out, struct hwtd_error *err)
{
	struct hwtdi_image *new;
	char *copy;
	int rc;

	if (*n >= HWTDI_MAX_IMAGES)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "a trace may have %u images", HWTDI_MAX_IMAGES));
	rc = hwtdi_array_grow(ctx, list, cap, *n + 1, sizeof(**list), err);
	if (rc != HWTD_OK)
		return (rc);
	copy = hwtdi_strdup(ctx, path);
	if (copy == NULL)
		return (hwtdi_fail_nomem(err, strlen(path) + 1));
	new = &(*list)[*n];
	*new = *image;
	new->path = copy;
	if (id_out != NULL)
		*id_out = (uint32_t)*n;
	(*n)++;
	return (HWTD_OK);
}

int
hwtdi_trace_put_image(struct hwtd_trace *trace,
    const struct hwtdi_image *image, const char *path, uint32_t *id_out,
    struct hwtd_error *err)
{
	if (image->mapped && image->n_bytes != 0 &&
	    image->n_bytes - 1 > UINT64_MAX - image->address)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "image of %" PRIu64 " bytes at %#" PRIx64
		    " goes past the end of the address space",
		    image->n_bytes, image->address));
	return (put(trace->library, &trace->images, &trace->n_images,
	    &trace->cap_images, image, path, id_out, err));
}

int
hwtdi_trace_put_part(struct hwtd_trace *trace, const struct hwtdi_image *part,
    const char *path, uint32_t *no_out, struct hwtd_error *err)
{
	return (put(trace->library, &trace->parts, &trace->n_parts,
	    &trace->cap_parts, part, path, no_out, err));
}

int
hwtd_trace_add_image(struct hwtd_trace *trace,
    const struct hwtd_image_desc *desc, uint32_t *id_out,
    struct hwtd_error *err)
{
	struct hwtd_image_desc d;
	struct hwtdi_image image = { 0 };
	int rc;

	rc = check_open(trace, err);
	if (rc != HWTD_OK)
		return (rc);
	if (desc == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "desc is NULL"));
	rc = hwtdi_options_copy(&d, sizeof(d), desc, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_trace_check_text("image path", d.path, err);
	if (rc != HWTD_OK)
		return (rc);
	if (d.path == NULL && d.bytes == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "image has neither path nor bytes"));
	if (d.flags & ~(uint32_t)HWTD_IMAGEF_ADDRESS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "image flags %#" PRIx32 " are not known", d.flags));
	if (d.bytes != NULL) {
		image.n_bytes = d.n_bytes;
		rc = hwtdi_image_copy(trace->library, d.bytes, d.n_bytes,
		    &image.bytes, err);
	} else {
		image.from_file = true;
		rc = hwtdi_image_read(trace->library, d.path, d.offset,
		    d.length, &image.bytes, &image.n_bytes, err);
	}
	if (rc != HWTD_OK)
		return (rc);
	image.offset = d.offset;
	image.state = HWTD_IMAGE_FOUND;
	image.mapped = (d.flags & HWTD_IMAGEF_ADDRESS) != 0;
	image.address = image.mapped ? d.address : 0;
	rc = hwtdi_trace_put_image(trace, &image,
	    d.path != NULL ? d.path : "memory", id_out, err);
	if (rc != HWTD_OK)
		hwtdi_free(trace->library, image.bytes, (size_t)image.n_bytes);
	return (rc);
}
