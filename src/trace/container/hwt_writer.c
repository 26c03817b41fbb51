/*
 * Writing .hwt files: chunk after chunk, in bounded memory.
 */
#include "trace/container/hwt_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "trace/container/hwt_fields.h"
#include "trace/container/hwt_stored.h"
#include "trace/container/hwt_zstd.h"

#define DEFAULT_LEVEL 3
#define DEFAULT_CHUNK ((uint32_t)1 << 20)

/* Entries are written when this many bytes have come together. */
#define ENTRIES_BYTES ((size_t)64 << 10)

/* Entries of one INDEX chunk. */
#define INDEX_ENTRIES ((size_t)16384)

/* Names tried for a file that has not appeared. */
#define TEMP_NAMES 100

struct writer_stream {
	uint64_t end;
	/* An extent starts at `start`. */
	bool pending;
	uint32_t why;
	uint64_t start;
};

/* Entries of a list that were not written yet. */
struct entries {
	uint16_t type;
	struct hwtdi_hwt_buffer buffer;
	/* All that there were, and the number of the first in the buffer. */
	uint64_t n;
	uint64_t position;
};

struct hwtdi_writer {
	struct hwtd_context *library;
	char *path;
	/* Name until the file is finished; NULL: `path`. */
	char *temp;
	int fd;
	int level;
	uint32_t chunk_bytes;
	/* Where the next chunk goes, and its number. */
	uint64_t file_off;
	uint64_t sequence;
	struct writer_stream *streams;
	size_t n_streams;
	size_t cap_streams;
	uint32_t n_images;
	struct hwtdi_hwt_stored stored;
	struct hwtdi_hwt_kept kept;
	struct entries records;
	struct entries damages;
	struct hwtdi_hwt_buffer index;
	/* Header and stored payload of one chunk. */
	uint8_t *chunk;
	size_t cap_chunk;
	/* Of hwt_zstd.c. */
	void *zstd;
};

static int
write_all(struct hwtdi_writer *w, const uint8_t *bytes, size_t n,
    struct hwtd_error *err)
{
	uint64_t off = w->file_off;

	/* At an offset: what a failed call left is written over. */
	while (n > 0) {
		ssize_t put = pwrite(w->fd, bytes, n, (off_t)off);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return (hwtdi_fail_sys(err, put < 0 ? errno : EIO,
			    "%.100s: cannot write at %" PRIu64 ": %s", w->path,
			    off, strerror(put < 0 ? errno : EIO)));
		bytes += put;
		off += (uint64_t)put;
		n -= (size_t)put;
	}
	return (HWTD_OK);
}

/* Put the payload behind the header; sets the stored size and the flag. */
static int
pack(struct hwtdi_writer *w, struct hwtdi_hwt_header *h, const void *raw,
    const struct hwtdi_hwt_kept *kept, struct hwtd_error *err)
{
	const bool plain = h->type == HWTDI_HWT_END || w->level <= 0;
	const uint64_t end = w->file_off + HWTDI_HWT_HEADER_SIZE;
	const size_t n = h->raw_size;
	uint8_t *to;
	size_t got;
	int rc;

	rc = hwtdi_array_grow(w->library, &w->chunk, &w->cap_chunk,
	    HWTDI_HWT_HEADER_SIZE + n, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	to = w->chunk + HWTDI_HWT_HEADER_SIZE;
	h->stored_size = h->raw_size;
	if (!plain && n > 0) {
		/*
		 * Does not fit in `n` bytes: then it is not worth it.  So
		 * small that a reader would see a bomb: not either.
		 */
		got = hwtdi_hwt_pack(w->zstd, raw, n, w->level, to, n);
		if (got > 0 && got < n &&
		    (h->type == HWTDI_HWT_DATA ||
			hwtdi_hwt_kept_fits(kept, end + got))) {
			h->flags |= HWTDI_HWT_ZSTD;
			h->stored_size = (uint32_t)got;
			return (HWTD_OK);
		}
	}
	if (n > 0)
		memcpy(to, raw, n);
	return (HWTD_OK);
}

static void
put_index_entry(uint8_t *at, const struct hwtdi_hwt_header *h)
{
	hwtdi_put_le(at, h->file_off, 8);
	hwtdi_put_le(at + 8, h->position, 8);
	hwtdi_put_le(at + 16, h->id, 4);
	hwtdi_put_le(at + 20, h->raw_size, 4);
	hwtdi_put_le(at + 24, h->stored_size, 4);
	hwtdi_put_le(at + 28, h->detail, 4);
	hwtdi_put_le(at + 32, h->type, 2);
	hwtdi_put_le(at + 34, h->flags, 2);
	hwtdi_put_le(at + 36, 0, 4);
}

/* Write one chunk.  A failed call changes nothing and can be repeated. */
static int
put_chunk(struct hwtdi_writer *w, uint16_t type, uint32_t id, uint32_t detail,
    uint64_t position, const void *raw, size_t n, struct hwtd_error *err)
{
	const bool index = type == HWTDI_HWT_INDEX || type == HWTDI_HWT_END;
	struct hwtdi_hwt_header h = {
		.type = type,
		.id = id,
		.detail = detail,
		.position = position,
		.sequence = w->sequence,
		.file_off = w->file_off,
		.raw_size = (uint32_t)n,
	};
	struct hwtdi_hwt_kept kept = w->kept;
	int rc = HWTD_OK;

	/* The index is read on its own. */
	if (!index)
		rc = hwtdi_hwt_keep(&kept, &h, w->library, err);
	if (rc == HWTD_OK)
		rc = pack(w, &h, raw, &kept, err);
	if (rc == HWTD_OK && !index)
		rc = hwtdi_array_grow(w->library, &w->index.bytes,
		    &w->index.cap, w->index.n + HWTDI_HWT_INDEX_ENTRY_SIZE, 1,
		    err);
	if (rc != HWTD_OK)
		return (rc);
	h.payload_sum = hwtdi_checksum(w->chunk + HWTDI_HWT_HEADER_SIZE,
	    h.stored_size);
	hwtdi_hwt_header_put(&h, w->chunk);
	rc = write_all(w, w->chunk, HWTDI_HWT_HEADER_SIZE + h.stored_size,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	if (!index) {
		put_index_entry(w->index.bytes + w->index.n, &h);
		w->index.n += HWTDI_HWT_INDEX_ENTRY_SIZE;
	}
	w->kept = kept;
	w->file_off += HWTDI_HWT_HEADER_SIZE + h.stored_size;
	w->sequence++;
	return (HWTD_OK);
}

static int
put_file_header(struct hwtdi_writer *w, struct hwtd_error *err)
{
	uint8_t h[HWTDI_HWT_FILE_HEADER_SIZE] = { 0 };
	int rc;

	memcpy(h, HWTDI_HWT_MAGIC, HWTDI_HWT_MAGIC_SIZE);
	hwtdi_put_le(h + 8, HWTDI_HWT_MAJOR, 2);
	hwtdi_put_le(h + 10, HWTDI_HWT_MINOR, 2);
	hwtdi_put_le(h + 24, hwtdi_checksum(h, 24), 8);
	rc = write_all(w, h, sizeof(h), err);
	if (rc == HWTD_OK)
		w->file_off = sizeof(h);
	return (rc);
}

/* Create a file with a name of its own beside `path`. */
static int
create_temp(struct hwtdi_writer *w, struct hwtd_error *err)
{
	size_t n = strlen(w->path) + 48;
	char *name = hwtdi_alloc(w->library, n);
	int e = EEXIST;

	if (name == NULL)
		return (hwtdi_fail_nomem(err, n));
	for (int i = 0; i < TEMP_NAMES && w->fd < 0 && e == EEXIST; i++) {
		(void)snprintf(name, n, "%s.tmp-%ld-%d", w->path,
		    (long)getpid(), i);
		w->fd = open(name,
		    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		e = errno;
	}
	if (w->fd >= 0) {
		w->temp = hwtdi_strdup(w->library, name);
		if (w->temp == NULL)
			(void)unlink(name);
	}
	hwtdi_free(w->library, name, n);
	if (w->fd < 0)
		return (hwtdi_fail_sys(err, e,
		    "%.100s: cannot create a file beside it: %s", w->path,
		    strerror(e)));
	if (w->temp == NULL)
		return (hwtdi_fail_nomem(err, n));
	return (HWTD_OK);
}

static int
create_file(struct hwtdi_writer *w, const struct hwtdi_writer_options *opts,
    struct hwtd_error *err)
{
	int how = O_EXCL;
	struct stat st;

	/* A rename would put the file in the place of a device. */
	if (stat(w->path, &st) == 0 && !S_ISREG(st.st_mode))
		return (hwtdi_fail_sys(err,
		    S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
		    "%.100s: is not a regular file; name a file to write",
		    w->path));
	if (!opts->in_place)
		return (create_temp(w, err));
	/*
	 * A file of its own: who writes or runs the one that is there keeps that,
	 * and a link leads nowhere.  Folders may forbid it.
	 */
	if (!opts->only_new && unlink(w->path) != 0 && errno != ENOENT)
		how = O_TRUNC;
	w->fd = open(w->path, O_RDWR | O_CREAT | how | O_CLOEXEC, 0666);
	if (w->fd < 0)
		return (hwtdi_fail_sys(err, errno, "%.100s: cannot create: %s",
		    w->path, strerror(errno)));
	return (HWTD_OK);
}

int
hwtdi_writer_create(struct hwtd_context *ctx, const char *path,
    const struct hwtdi_writer_options *opts, struct hwtdi_writer **out,
    struct hwtd_error *err)
{
	struct hwtdi_writer *w;
	int rc = HWTD_OK;

	if (opts->level > hwtdi_hwt_zstd_max())
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "compression level %" PRId32 "; the highest is %d",
		    opts->level, hwtdi_hwt_zstd_max()));
	if (opts->chunk_bytes > HWTDI_HWT_RAW_MAX)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "chunks of %" PRIu32 " bytes; at most %" PRIu32,
		    opts->chunk_bytes, HWTDI_HWT_RAW_MAX));
	w = hwtdi_zalloc(ctx, sizeof(*w));
	if (w == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*w)));
	w->library = hwtdi_context_hold(ctx);
	w->records.type = HWTDI_HWT_RECORDS;
	w->records.buffer.library = ctx;
	w->damages.type = HWTDI_HWT_DAMAGE;
	w->damages.buffer.library = ctx;
	w->index.library = ctx;
	w->fd = -1;
	w->level = opts->level != 0 ? opts->level : DEFAULT_LEVEL;
	w->chunk_bytes = opts->chunk_bytes != 0 ? opts->chunk_bytes
						: DEFAULT_CHUNK;
	w->path = hwtdi_strdup(ctx, path);
	if (w->path == NULL)
		rc = hwtdi_fail_nomem(err, strlen(path) + 1);
	if (rc == HWTD_OK && w->level > 0)
		rc = hwtdi_hwt_packer_create(&w->zstd, err);
	if (rc == HWTD_OK)
		rc = create_file(w, opts, err);
	if (rc == HWTD_OK)
		rc = put_file_header(w, err);
	if (rc != HWTD_OK) {
		hwtdi_writer_destroy(w);
		return (rc);
	}
	*out = w;
	return (HWTD_OK);
}

void
hwtdi_writer_destroy(struct hwtdi_writer *w)
{
	struct hwtd_context *ctx;

	if (w == NULL)
		return;
	ctx = w->library;
	if (w->fd >= 0)
		(void)close(w->fd);
	if (w->temp != NULL)
		(void)unlink(w->temp);
	hwtdi_strfree(ctx, w->temp);
	hwtdi_strfree(ctx, w->path);
	hwtdi_array_free(ctx, w->streams, w->cap_streams, sizeof(*w->streams));
	hwtdi_hwt_stored_fini(&w->stored, ctx);
	hwtdi_array_free(ctx, w->records.buffer.bytes, w->records.buffer.cap,
	    1);
	hwtdi_array_free(ctx, w->damages.buffer.bytes, w->damages.buffer.cap,
	    1);
	hwtdi_array_free(ctx, w->index.bytes, w->index.cap, 1);
	hwtdi_array_free(ctx, w->chunk, w->cap_chunk, 1);
	hwtdi_hwt_packer_destroy(w->zstd);
	hwtdi_free(ctx, w, sizeof(*w));
	hwtd_context_destroy(ctx);
}

int
hwtdi_writer_meta(struct hwtdi_writer *w, const struct hwtdi_trace_text *text,
    struct hwtd_error *err)
{
	struct hwtdi_hwt_buffer b = { .library = w->library };
	char writer[48];
	int rc;

	(void)snprintf(writer, sizeof(writer), "libhwtdecode %s",
	    hwtd_version());
	rc = hwtdi_hwt_put_text(&b, HWTDI_HWT_META_ORIGIN, text->origin, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(&b, HWTDI_HWT_META_ABI, text->abi,
		    err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(&b, HWTDI_HWT_META_CPU_MODEL,
		    text->cpu_model, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(&b, HWTDI_HWT_META_CLOCK, text->clock,
		    err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(&b, HWTDI_HWT_META_WRITER, writer,
		    err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(&b, HWTDI_HWT_META_RELEASE,
		    text->release, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_text(&b, HWTDI_HWT_META_CAPTURE,
		    text->capture, err);
	if (rc == HWTD_OK)
		rc = put_chunk(w, HWTDI_HWT_META, HWTDI_HWT_NO_ID, 0, 0,
		    b.bytes, b.n, err);
	hwtdi_array_free(w->library, b.bytes, b.cap, 1);
	return (rc);
}

int
hwtdi_writer_stream(struct hwtdi_writer *w,
    const struct hwtd_stream_desc *desc, uint32_t *id_out,
    struct hwtd_error *err)
{
	struct hwtdi_hwt_buffer b = { .library = w->library };
	const uint32_t id = (uint32_t)w->n_streams;
	int rc;

	if (w->n_streams >= HWTDI_MAX_STREAMS)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "a trace may have %u streams", HWTDI_MAX_STREAMS));
	rc = hwtdi_trace_check_text("stream name", desc->name, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(w->library, &w->streams, &w->cap_streams,
		    w->n_streams + 1, sizeof(*w->streams), err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_stream(&b, desc, err);
	if (rc == HWTD_OK)
		rc = put_chunk(w, HWTDI_HWT_STREAM, id, 0, 0, b.bytes, b.n,
		    err);
	hwtdi_array_free(w->library, b.bytes, b.cap, 1);
	if (rc != HWTD_OK)
		return (rc);
	memset(&w->streams[id], 0, sizeof(w->streams[id]));
	w->n_streams++;
	*id_out = id;
	return (HWTD_OK);
}

static int
find_stream(const struct hwtdi_writer *w, uint32_t stream,
    struct writer_stream **out, struct hwtd_error *err)
{
	if (stream >= w->n_streams)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "stream %" PRIu32 " of %zu", stream, w->n_streams));
	*out = &w->streams[stream];
	return (HWTD_OK);
}

/* One DATA chunk. */
static int
put_data(struct hwtdi_writer *w, uint32_t stream, struct writer_stream *s,
    const uint8_t *bytes, size_t n, struct hwtd_error *err)
{
	uint64_t position = s->pending ? s->start : s->end;
	uint32_t detail = s->pending
	    ? HWTDI_HWT_EXTENT | s->why << HWTDI_HWT_WHY_SHIFT
	    : 0;
	int rc;

	if (n > UINT64_MAX - position)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "stream %" PRIu32 " is full", stream));
	rc = put_chunk(w, HWTDI_HWT_DATA, stream, detail, position, bytes, n,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	s->end = position + n;
	s->pending = false;
	s->why = 0;
	return (HWTD_OK);
}

int
hwtdi_writer_extent(struct hwtdi_writer *w, uint32_t stream, uint64_t start,
    uint32_t why, struct hwtd_error *err)
{
	struct writer_stream *s = NULL;
	int rc = find_stream(w, stream, &s, err);

	if (rc != HWTD_OK)
		return (rc);
	if (start < s->end || (s->pending && start < s->start))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "extent at %" PRIu64 " lies before the end %" PRIu64
		    " of stream %" PRIu32,
		    start, s->end, stream));
	/* What is behind a hole is told of the hole; what comes there, beside it. */
	if (s->pending && start == s->start && start > s->end &&
	    why != s->why) {
		rc = put_data(w, stream, s, NULL, 0, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (!s->pending || why > s->why)
		s->why = why;
	s->pending = true;
	s->start = start;
	return (HWTD_OK);
}

int
hwtdi_writer_bytes(struct hwtdi_writer *w, uint32_t stream, const void *bytes,
    size_t n, struct hwtd_error *err)
{
	const uint8_t *at = bytes;
	struct writer_stream *s = NULL;
	int rc = find_stream(w, stream, &s, err);

	while (rc == HWTD_OK && n > 0) {
		size_t part = n < w->chunk_bytes ? n : w->chunk_bytes;

		rc = put_data(w, stream, s, at, part, err);
		at += part;
		n -= part;
	}
	return (rc);
}

int
hwtdi_writer_end_stream(struct hwtdi_writer *w, uint32_t stream,
    struct hwtd_error *err)
{
	struct writer_stream *s = NULL;
	int rc = find_stream(w, stream, &s, err);

	if (rc == HWTD_OK && s->pending &&
	    (s->why != HWTD_EXTENT_NEW || s->start != s->end))
		rc = put_data(w, stream, s, NULL, 0, err);
	return (rc);
}

static int
put_image_bytes(struct hwtdi_writer *w, uint32_t id,
    const struct hwtdi_image *image, struct hwtd_error *err)
{
	uint64_t at = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && at < image->n_bytes) {
		uint64_t part = image->n_bytes - at;

		if (part > DEFAULT_CHUNK)
			part = DEFAULT_CHUNK;
		rc = hwtdi_poll(w->library, err);
		if (rc == HWTD_OK)
			rc = put_chunk(w, HWTDI_HWT_IMAGE_DATA, id, 0, at,
			    image->bytes + at, (size_t)part, err);
		at += part;
	}
	return (rc);
}

static int
put_image(struct hwtdi_writer *w, const struct hwtdi_hwt_image *image,
    const char *path, struct hwtd_error *err)
{
	struct hwtdi_hwt_buffer b = { .library = w->library };
	int rc;

	rc = hwtdi_hwt_put_image(&b, image, path, err);
	if (rc == HWTD_OK)
		rc = put_chunk(w, HWTDI_HWT_IMAGE, w->n_images, 0, 0, b.bytes,
		    b.n, err);
	hwtdi_array_free(w->library, b.bytes, b.cap, 1);
	return (rc);
}

/* What the file says about an image without its bytes. */
static struct hwtdi_hwt_image
describe(const struct hwtdi_image *image)
{
	struct hwtdi_hwt_image i = {
		.same_bytes = HWTD_NO_ID,
		.same_file = HWTD_NO_ID,
	};

	i.n_build_id = image->n_build_id;
	memcpy(i.build_id, image->build_id, sizeof(i.build_id));
	if (image->part)
		i.flags |= HWTDI_HWT_IMAGE_PART;
	if (image->linked)
		i.flags |= HWTDI_HWT_IMAGE_LINKED;
	if (image->mapped)
		i.flags |= HWTDI_HWT_IMAGE_MAPPED;
	if (image->from_file)
		i.flags |= HWTDI_HWT_IMAGE_FILE;
	return (i);
}

int
hwtdi_writer_image(struct hwtdi_writer *w, const struct hwtdi_image *image,
    bool with_bytes, uint32_t *id_out, struct hwtd_error *err)
{
	struct hwtdi_hwt_image i = describe(image);
	struct hwtdi_hwt_stored_image bytes = {
		.n_bytes = image->n_bytes,
		.bytes = image->bytes,
		.id = w->n_images,
	};
	int rc = HWTD_OK;

	i.offset = image->offset;
	i.n_bytes = image->n_bytes;
	i.address = image->address;
	with_bytes = with_bytes && image->bytes != NULL;
	if (image->bytes != NULL) {
		i.sum = hwtdi_checksum(image->bytes, (size_t)image->n_bytes);
		i.flags |= HWTDI_HWT_IMAGE_HASH;
	} else if (image->has_sum) {
		i.sum = image->sum;
		i.flags |= HWTDI_HWT_IMAGE_HASH;
	}
	/* The sum can be made to be that of other bytes. */
	if (with_bytes)
		bytes.hash = hwtdi_hash(w->library, image->bytes,
		    (size_t)image->n_bytes);
	if (with_bytes && image->n_bytes != 0 &&
	    hwtdi_hwt_stored_find(&w->stored, &bytes, &i.same_bytes))
		with_bytes = false;
	if (with_bytes) {
		i.flags |= HWTDI_HWT_IMAGE_BYTES;
		rc = hwtdi_hwt_stored_add(&w->stored, w->library, &bytes, err);
	}
	if (rc == HWTD_OK)
		rc = put_image(w, &i, image->path, err);
	if (rc == HWTD_OK && with_bytes)
		rc = put_image_bytes(w, w->n_images, image, err);
	if (rc != HWTD_OK)
		return (rc);
	if (id_out != NULL)
		*id_out = w->n_images;
	w->n_images++;
	return (HWTD_OK);
}

int
hwtdi_writer_same_file(struct hwtdi_writer *w, const struct hwtdi_image *image,
    uint32_t part, struct hwtd_error *err)
{
	struct hwtdi_hwt_image i = describe(image);
	int rc;

	i.flags = HWTDI_HWT_IMAGE_PART | HWTDI_HWT_IMAGE_FILE;
	i.same_file = part;
	rc = put_image(w, &i, image->path, err);
	if (rc == HWTD_OK)
		w->n_images++;
	return (rc);
}

static int
flush_entries(struct hwtdi_writer *w, struct entries *e,
    struct hwtd_error *err)
{
	int rc;

	if (e->buffer.n == 0)
		return (HWTD_OK);
	rc = put_chunk(w, e->type, HWTDI_HWT_NO_ID, 0, e->position,
	    e->buffer.bytes, e->buffer.n, err);
	if (rc != HWTD_OK)
		return (rc);
	e->buffer.n = 0;
	e->position = e->n;
	return (HWTD_OK);
}

int
hwtdi_writer_flush(struct hwtdi_writer *w, struct hwtd_error *err)
{
	int rc = flush_entries(w, &w->records, err);

	return (rc == HWTD_OK ? flush_entries(w, &w->damages, err) : rc);
}

int
hwtdi_writer_record(struct hwtdi_writer *w, const struct hwtd_record *record,
    struct hwtd_error *err)
{
	int rc = hwtdi_trace_check_text("record name", record->name, err);

	if (rc == HWTD_OK && w->records.buffer.n >= ENTRIES_BYTES)
		rc = flush_entries(w, &w->records, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_record(&w->records.buffer, record, err);
	if (rc == HWTD_OK)
		w->records.n++;
	return (rc);
}

int
hwtdi_writer_damage(struct hwtdi_writer *w, const struct hwtd_damage *damage,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (w->damages.buffer.n >= ENTRIES_BYTES)
		rc = flush_entries(w, &w->damages, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_put_damage(&w->damages.buffer, damage, err);
	if (rc == HWTD_OK)
		w->damages.n++;
	return (rc);
}

/* INDEX chunks and END. */
static int
put_index(struct hwtdi_writer *w, struct hwtd_error *err)
{
	const size_t part_max = INDEX_ENTRIES * HWTDI_HWT_INDEX_ENTRY_SIZE;
	const uint64_t first = w->file_off;
	const uint64_t n_chunks = w->index.n / HWTDI_HWT_INDEX_ENTRY_SIZE;
	uint8_t end[HWTDI_HWT_END_SIZE] = { 0 };
	uint64_t n_index = 0;
	size_t at = 0;
	int rc;

	do {
		size_t part = w->index.n - at < part_max ? w->index.n - at
							 : part_max;

		rc = put_chunk(w, HWTDI_HWT_INDEX, HWTDI_HWT_NO_ID, 0,
		    at / HWTDI_HWT_INDEX_ENTRY_SIZE,
		    part != 0 ? w->index.bytes + at : NULL, part, err);
		if (rc != HWTD_OK)
			return (rc);
		at += part;
		n_index++;
	} while (at < w->index.n);
	hwtdi_put_le(end, first, 8);
	hwtdi_put_le(end + 8, n_index, 8);
	hwtdi_put_le(end + 16, n_chunks, 8);
	return (put_chunk(w, HWTDI_HWT_END, HWTDI_HWT_NO_ID, 0, 0, end,
	    sizeof(end), err));
}

int
hwtdi_writer_finish(struct hwtdi_writer *w, struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_writer_flush(w, err);
	if (rc == HWTD_OK)
		rc = put_index(w, err);
	if (rc != HWTD_OK)
		return (rc);
	if (ftruncate(w->fd, (off_t)w->file_off) != 0 || fsync(w->fd) != 0)
		return (hwtdi_fail_sys(err, errno, "%.100s: cannot write: %s",
		    w->path, strerror(errno)));
	if (w->temp == NULL)
		return (HWTD_OK);
	if (rename(w->temp, w->path) != 0)
		return (hwtdi_fail_sys(err, errno, "%.100s: cannot create: %s",
		    w->path, strerror(errno)));
	hwtdi_strfree(w->library, w->temp);
	w->temp = NULL;
	return (HWTD_OK);
}
