/*
 * Records of a perf.data one after the other, unpacked, whatever lies between.
 *
 * Source: Linux, tools/perf/util/session.c (what a reader of records has to know),
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "trace/import/perf/perf_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <zstd.h>

#include "base/fail.h"

/* The size of a record has 16 bits. */
#define MAX_RECORD 65536u

/* Bytes read at once: where it is known what comes, and where it is not. */
#define READ_KNOWN ((uint64_t)64 << 10)
#define READ_UNKNOWN ((uint64_t)4 << 10)
#define BUFFER_BYTES (READ_KNOWN + MAX_RECORD)

/* Unpacked bytes at once; a record is among them whole. */
#define UNPACKED_BYTES ((size_t)2 * MAX_RECORD)

/* So many records in a row are no accident. */
#define LIKELY_RECORDS 4u

struct hwtdi_perf_reader {
	struct hwtd_trace *trace;
	struct hwtdi_perf_range range;
	uint64_t at;
	size_t next_stop;
	/* [buffer_at, buffer_at + n_buffer) of the file. */
	uint8_t *buffer;
	uint64_t buffer_at;
	size_t n_buffer;
	/* What is packed, all of it one stream. */
	ZSTD_DStream *zstd;
	ZSTD_inBuffer packed;
	uint64_t packed_off;
	/* There was no room for all of it: it is not at its end when its bytes are. */
	bool packed_waits;
	/* A record of it was lost, and with it what follows. */
	bool packed_lost;
	/* [unpacked_at, n_unpacked) of it are not read yet. */
	uint8_t *unpacked;
	size_t unpacked_at;
	size_t n_unpacked;
};

const char *
hwtdi_perf_text(struct hwtdi_perf_bytes *b, size_t n)
{
	const uint8_t *at = hwtdi_bytes_take(&b->rest, n);

	if (at == NULL || n == 0 || memchr(at, 0, n) == NULL)
		return (NULL);
	return ((const char *)at);
}

int
hwtdi_perf_reader_create(struct hwtd_trace *trace,
    const struct hwtdi_perf_range *range, struct hwtdi_perf_reader **out,
    struct hwtd_error *err)
{
	struct hwtdi_perf_reader *r = hwtdi_zalloc(trace->library, sizeof(*r));

	if (r == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*r)));
	r->trace = trace;
	r->range = *range;
	r->at = range->start;
	if (range->bytes == NULL)
		r->buffer = hwtdi_alloc(trace->library, BUFFER_BYTES);
	if (range->bytes == NULL && r->buffer == NULL) {
		hwtdi_perf_reader_destroy(r);
		return (hwtdi_fail_nomem(err, BUFFER_BYTES));
	}
	*out = r;
	return (HWTD_OK);
}

void
hwtdi_perf_reader_destroy(struct hwtdi_perf_reader *r)
{
	struct hwtd_context *ctx;

	if (r == NULL)
		return;
	ctx = r->trace->library;
	if (r->zstd != NULL)
		(void)ZSTD_freeDStream(r->zstd);
	hwtdi_free(ctx, r->unpacked, UNPACKED_BYTES);
	hwtdi_free(ctx, r->buffer, BUFFER_BYTES);
	hwtdi_free(ctx, r, sizeof(*r));
}

/* How many bytes to read from `off` on, `n` of which are needed. */
static size_t
how_many(struct hwtdi_perf_reader *r, uint64_t off, size_t n)
{
	const struct hwtdi_perf_range *range = &r->range;
	uint64_t most = range->n_stops > 0 ? READ_KNOWN : READ_UNKNOWN;

	while (r->next_stop < range->n_stops &&
	    range->stops[r->next_stop] <= off)
		r->next_stop++;
	if (r->next_stop < range->n_stops &&
	    range->stops[r->next_stop] - off < most)
		most = range->stops[r->next_stop] - off;
	/* Where records are looked for, the next ones are read with it. */
	if (n == MAX_RECORD)
		most = BUFFER_BYTES;
	if (most < n)
		most = n;
	return ((size_t)(most < range->end - off ? most : range->end - off));
}

/* [off, off + n), which is in the range and not over MAX_RECORD. */
static int
see(struct hwtdi_perf_reader *r, uint64_t off, size_t n,
    const uint8_t **bytes_out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (r->range.bytes != NULL) {
		*bytes_out = r->range.bytes + off;
		return (HWTD_OK);
	}
	if (off < r->buffer_at || off - r->buffer_at > r->n_buffer ||
	    n > r->n_buffer - (size_t)(off - r->buffer_at)) {
		r->n_buffer = how_many(r, off, n);
		r->buffer_at = off;
		rc = hwtdi_trace_file_read(&r->trace->file, off, r->buffer,
		    r->n_buffer, err);
		if (rc != HWTD_OK)
			r->n_buffer = 0;
	}
	*bytes_out = r->buffer + (off - r->buffer_at);
	return (rc);
}

static struct hwtdi_perf_bytes
bytes_of(const struct hwtdi_perf_reader *r, const uint8_t *at, size_t n)
{
	return ((struct hwtdi_perf_bytes){ { at, n, false }, r->range.big });
}

/* The header of a record. */
static size_t
read_header(const struct hwtdi_perf_reader *r, const uint8_t *at,
    struct hwtdi_perf_record *out)
{
	struct hwtdi_perf_bytes b = bytes_of(r, at, PERF_RECORD_HEADER_BYTES);

	memset(out, 0, sizeof(*out));
	out->type = hwtdi_perf_u32(&b);
	out->misc = (uint32_t)hwtdi_perf_get(&b, 2);
	return ((size_t)hwtdi_perf_get(&b, 2));
}

/* Damage. */

/*
 * Where records go on behind damage: a few in a row look like records, or lead to
 * the end or to bytes of trace.
 */
static bool
are_records(const struct hwtdi_perf_reader *r, const uint8_t *at, size_t n,
    bool is_end)
{
	struct hwtdi_perf_record record;
	size_t size;

	for (unsigned i = 0; i < LIKELY_RECORDS; i++) {
		if (n < PERF_RECORD_HEADER_BYTES)
			return (is_end && n == 0 && i > 0);
		size = read_header(r, at, &record);
		if (record.type == 0 || record.type >= PERF_RECORD_BEYOND ||
		    size < PERF_RECORD_HEADER_BYTES || size % 8 != 0)
			return (false);
		if (size > n)
			return (!is_end && i > 0);
		if (record.type == PERF_RECORD_AUXTRACE && size >= 48)
			return (true);
		at += size;
		n -= size;
	}
	return (true);
}

static int
find_records(struct hwtdi_perf_reader *r, uint64_t from, uint64_t *out,
    struct hwtd_error *err)
{
	const uint64_t end = r->range.end;
	const uint8_t *at;
	uint64_t off = from;

	while (end - off >= PERF_RECORD_HEADER_BYTES) {
		const size_t n = end - off < MAX_RECORD ? (size_t)(end - off)
							: MAX_RECORD;
		const size_t some = n == MAX_RECORD ? n / 2 : n;
		int rc = hwtdi_poll(r->trace->library, err);

		if (rc == HWTD_OK)
			rc = see(r, off, n, &at, err);
		if (rc != HWTD_OK)
			return (rc);
		for (size_t i = 0;
		     i + PERF_RECORD_HEADER_BYTES <= n && i < some; i += 8) {
			if (!are_records(r, at + i, n - i, off + n == end))
				continue;
			*out = off + i;
			return (HWTD_OK);
		}
		off += some;
	}
	*out = end;
	return (HWTD_OK);
}

/* What is at `at` is no record.  Go on behind it. */
static int damaged(struct hwtdi_perf_reader *r, struct hwtdi_perf_record *none,
    struct hwtd_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int
damaged(struct hwtdi_perf_reader *r, struct hwtdi_perf_record *none,
    struct hwtd_error *err, const char *fmt, ...)
{
	char why[80];
	va_list args;
	uint64_t next = r->range.end;
	int rc = HWTD_OK;

	va_start(args, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	none->type = 0;
	if (r->range.strict)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, r->at,
		    "record at %" PRIu64 " %s", r->at, why));
	if (r->range.end - r->at > PERF_RECORD_HEADER_BYTES)
		rc = find_records(r, r->at + 8, &next, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_note_damage(r->trace, r->at, next - r->at,
		    HWTD_NO_ID, 0, 0, err, "%.20s%srecord at %#" PRIx64 " %s",
		    r->range.name != NULL ? r->range.name : "",
		    r->range.name != NULL ? ": " : "", r->at, why);
	r->at = next;
	return (rc);
}

/* Packed records. */

static int
begin_packed(struct hwtdi_perf_reader *r,
    const struct hwtdi_perf_record *record, struct hwtd_error *err)
{
	struct hwtdi_perf_bytes body = record->body;
	uint64_t n = body.rest.left;

	if (record->type == PERF_RECORD_COMPRESSED2)
		n = hwtdi_perf_u64(&body);
	if (body.rest.bad || n > body.rest.left)
		return (hwtdi_trace_note_damage(r->trace, record->off,
		    PERF_RECORD_HEADER_BYTES, HWTD_NO_ID, 0, 0, err,
		    "compressed record at %#" PRIx64 ": its size is beyond it",
		    record->off));
	if (r->packed_lost)
		return (HWTD_OK);
	if (r->zstd == NULL) {
		r->zstd = ZSTD_createDStream();
		r->unpacked = hwtdi_alloc(r->trace->library, UNPACKED_BYTES);
		if (r->zstd == NULL || r->unpacked == NULL)
			return (hwtdi_fail_nomem(err, UNPACKED_BYTES));
		(void)ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, 27);
	}
	r->packed = (ZSTD_inBuffer){ body.rest.at, (size_t)n, 0 };
	r->packed_off = record->off;
	return (HWTD_OK);
}

/* What is packed is one stream: without a part of it the rest is lost. */
static int
lose_packed(struct hwtdi_perf_reader *r, struct hwtd_error *err,
    const char *why)
{
	r->packed_lost = true;
	r->packed_waits = false;
	r->packed.pos = r->packed.size;
	r->unpacked_at = r->n_unpacked = 0;
	return (hwtdi_trace_note_damage(r->trace, r->packed_off,
	    PERF_RECORD_HEADER_BYTES + (uint64_t)r->packed.size, HWTD_NO_ID, 0,
	    0, err,
	    "compressed record at %#" PRIx64
	    ": %s; compressed records from here on are lost",
	    r->packed_off, why));
}

static int
unpack(struct hwtdi_perf_reader *r, struct hwtd_error *err)
{
	ZSTD_outBuffer out = { r->unpacked, UNPACKED_BYTES, 0 };
	const size_t left = r->n_unpacked - r->unpacked_at;
	size_t rc;

	memmove(r->unpacked, r->unpacked + r->unpacked_at, left);
	r->unpacked_at = 0;
	r->n_unpacked = out.pos = left;
	rc = ZSTD_decompressStream(r->zstd, &out, &r->packed);
	r->n_unpacked = out.pos;
	r->packed_waits = out.pos == out.size;
	if (ZSTD_isError(rc))
		return (lose_packed(r, err, ZSTD_getErrorName(rc)));
	return (HWTD_OK);
}

/*
 * The next record of what is unpacked.  HWTD_END: there is none, and no more is
 * packed.
 */
static int
next_unpacked(struct hwtdi_perf_reader *r, struct hwtdi_perf_record *out,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK) {
		const uint8_t *at = r->unpacked + r->unpacked_at;
		const size_t n = r->n_unpacked - r->unpacked_at;
		const size_t before = r->packed.pos;
		size_t size = 0;

		if (n >= PERF_RECORD_HEADER_BYTES) {
			size = read_header(r, at, out);
			if (size < PERF_RECORD_HEADER_BYTES) {
				rc = lose_packed(r, err,
				    "a record in it has no size");
				return (rc == HWTD_OK ? HWTD_END : rc);
			}
		}
		if (size != 0 && size <= n) {
			out->body = bytes_of(r, at + PERF_RECORD_HEADER_BYTES,
			    size - PERF_RECORD_HEADER_BYTES);
			out->off = r->packed_off;
			out->unpacked = true;
			r->unpacked_at += size;
			return (HWTD_OK);
		}
		if (r->packed.pos == r->packed.size && !r->packed_waits)
			return (HWTD_END);
		rc = unpack(r, err);
		if (rc == HWTD_OK && r->packed.pos == before &&
		    r->n_unpacked == n)
			return (HWTD_END);
	}
	return (rc);
}

/* No record follows. */
static int
end_packed(struct hwtdi_perf_reader *r, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (r->n_unpacked > r->unpacked_at)
		rc = lose_packed(r, err, "they end inside of a record");
	return (rc == HWTD_OK ? HWTD_END : rc);
}

/* Records of the file. */

/* Bytes that follow a record, beside it. */
static void
find_data(struct hwtdi_perf_reader *r, struct hwtdi_perf_record *record,
    uint64_t end)
{
	struct hwtdi_perf_bytes body = record->body;
	uint64_t n = 0;

	/* In memory are records of a ring buffer alone. */
	if (r->range.bytes != NULL)
		n = 0;
	else if (record->type == PERF_RECORD_AUXTRACE)
		n = hwtdi_perf_u64(&body);
	else if (record->type == PERF_RECORD_HEADER_TRACING_DATA)
		n = ((uint64_t)hwtdi_perf_u32(&body) + 7) & ~(uint64_t)7;
	record->data_off = end;
	record->n_data_told = n;
	record->n_data = n < r->range.end - end ? n : r->range.end - end;
}

/* A record of a type that is not known is one if another one follows, or nothing. */
static int
fits(struct hwtdi_perf_reader *r, uint64_t off, bool *out,
    struct hwtd_error *err)
{
	struct hwtdi_perf_record next;
	const uint8_t *at;
	size_t size;
	int rc;

	*out = off == r->range.end;
	if (r->range.end - off < PERF_RECORD_HEADER_BYTES)
		return (HWTD_OK);
	rc = see(r, off, PERF_RECORD_HEADER_BYTES, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	size = read_header(r, at, &next);
	*out = size >= PERF_RECORD_HEADER_BYTES && size % 8 == 0 &&
	    size <= r->range.end - off;
	return (HWTD_OK);
}

static int
next_outer(struct hwtdi_perf_reader *r, struct hwtdi_perf_record *out,
    struct hwtd_error *err)
{
	const uint64_t left = r->range.end - r->at;
	const uint8_t *at;
	bool is_good;
	size_t size;
	int rc;

	if (left < PERF_RECORD_HEADER_BYTES)
		return (damaged(r, out, err, "%" PRIu64 " bytes are no header",
		    left));
	rc = see(r, r->at, PERF_RECORD_HEADER_BYTES, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	size = read_header(r, at, out);
	if (size < PERF_RECORD_HEADER_BYTES)
		return (damaged(r, out, err,
		    "of type %" PRIu32 " has %zu bytes", out->type, size));
	if (size > left)
		return (damaged(r, out, err,
		    "of type %" PRIu32 " has %zu bytes; %" PRIu64 " are left",
		    out->type, size, left));
	if (out->type == 0 || out->type >= PERF_RECORD_BEYOND) {
		rc = fits(r, r->at + size, &is_good, err);
		if (rc != HWTD_OK)
			return (rc);
		if (!is_good)
			return (damaged(r, out, err,
			    "of type %" PRIu32 ", and none comes behind it",
			    out->type));
	}
	rc = see(r, r->at, size, &at, err);
	if (rc != HWTD_OK)
		return (rc);
	out->off = r->at;
	out->body = bytes_of(r, at + PERF_RECORD_HEADER_BYTES,
	    size - PERF_RECORD_HEADER_BYTES);
	find_data(r, out, r->at + size);
	r->at = out->data_off + out->n_data;
	return (HWTD_OK);
}

int
hwtdi_perf_reader_next(struct hwtdi_perf_reader *r,
    struct hwtdi_perf_record *out, struct hwtd_error *err)
{
	int rc = HWTD_END;

	out->type = 0;
	for (;;) {
		if (r->zstd != NULL)
			rc = next_unpacked(r, out, err);
		if (rc != HWTD_END)
			break;
		if (r->at >= r->range.end)
			return (end_packed(r, err));
		rc = next_outer(r, out, err);
		if (rc != HWTD_OK)
			break;
		/* Damage was noted. */
		if (out->type == 0) {
			rc = HWTD_END;
			continue;
		}
		if (r->range.bytes != NULL ||
		    (out->type != PERF_RECORD_COMPRESSED &&
			out->type != PERF_RECORD_COMPRESSED2))
			break;
		rc = begin_packed(r, out, err);
		if (rc != HWTD_OK)
			break;
		rc = HWTD_END;
	}
	return (rc);
}
