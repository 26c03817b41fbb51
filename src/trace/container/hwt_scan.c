/*
 * Reading .hwt files without index: from header to header, and over damage to
 * the next valid one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/container/hwt_reader.h"

/* Bytes looked at in one go when searching. */
#define PART ((size_t)64 << 10)

int
hwtdi_hwt_read_header(const struct hwtdi_trace_file *file, uint64_t off,
    struct hwtdi_hwt_header *out, bool *valid_out, struct hwtd_error *err)
{
	uint8_t bytes[HWTDI_HWT_HEADER_SIZE];
	int rc;

	*valid_out = false;
	if (off > file->size || file->size - off < sizeof(bytes))
		return (HWTD_OK);
	rc = hwtdi_trace_file_read(file, off, bytes, sizeof(bytes), err);
	if (rc == HWTD_OK)
		*valid_out = hwtdi_hwt_header_get(bytes, off, out);
	return (rc);
}

/* Index in `bytes` of the first valid header, or `n`. */
static size_t
find_header(const uint8_t *bytes, size_t n, uint64_t off)
{
	struct hwtdi_hwt_header h;
	size_t at = 0;

	while (n - at >= HWTDI_HWT_HEADER_SIZE) {
		size_t left = n - at - (HWTDI_HWT_HEADER_SIZE - 1);
		const uint8_t *hit = memchr(bytes + at,
		    HWTDI_HWT_CHUNK_MAGIC[0] & 0xff, left);

		if (hit == NULL)
			return (n);
		at = (size_t)(hit - bytes);
		if (hwtdi_hwt_header_get(hit, off + at, &h))
			return (at);
		at++;
	}
	return (n);
}

/* Offset of the next valid header at or after `off`, or the file's size. */
static int
search(const struct hwtd_trace *trace, uint64_t off, uint64_t *out,
    struct hwtd_error *err)
{
	const struct hwtdi_trace_file *file = &trace->file;
	uint8_t *part = hwtdi_alloc(trace->library, PART);
	int rc = HWTD_OK;

	if (part == NULL)
		return (hwtdi_fail_nomem(err, PART));
	while (off < file->size && file->size - off >= HWTDI_HWT_HEADER_SIZE) {
		size_t n = file->size - off < PART ? (size_t)(file->size - off)
						   : PART;
		size_t at;

		rc = hwtdi_poll(trace->library, err);
		if (rc == HWTD_OK)
			rc = hwtdi_trace_file_read(file, off, part, n, err);
		if (rc != HWTD_OK)
			break;
		at = find_header(part, n, off);
		if (at != n) {
			*out = off + at;
			break;
		}
		/* A header may lie across the joint. */
		off += n - (HWTDI_HWT_HEADER_SIZE - 1);
	}
	hwtdi_free(trace->library, part, PART);
	return (rc);
}

struct scan {
	struct hwtdi_hwt_reader *reader;
	uint64_t at;
	/* Number that the next chunk must have at least. */
	uint64_t sequence;
	/* Chunks may be missing before the next one: that was noted. */
	bool lost;
	bool ended;
};

/* Go on at the next valid header; what lies between is damage. */
static int
skip(struct scan *s, uint64_t from, const char *what, struct hwtd_error *err)
{
	struct hwtd_trace *trace = s->reader->trace;
	uint64_t next = trace->file.size;
	int rc;

	rc = search(trace, from, &next, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_trace_note_damage(trace, s->at, next - s->at, HWTD_NO_ID, 0,
	    0, err, "%s",
	    next == trace->file.size ? "file is cut inside a chunk" : what);
	s->at = next;
	s->lost = true;
	return (rc);
}

/* Take in the chunk at s->at, whose header is valid. */
static int
step(struct scan *s, const struct hwtdi_hwt_header *h, struct hwtd_error *err)
{
	struct hwtd_trace *trace = s->reader->trace;
	const uint64_t left = trace->file.size - s->at - HWTDI_HWT_HEADER_SIZE;
	const uint64_t n = HWTDI_HWT_HEADER_SIZE + (uint64_t)h->stored_size;
	const char *fault = hwtdi_hwt_header_fault(h);
	int rc;

	if (h->stored_size > left)
		return (skip(s, s->at + HWTDI_HWT_HEADER_SIZE,
		    "chunk claims more bytes than the file has", err));
	if (fault == NULL && h->sequence < s->sequence)
		fault = "chunk number goes back";
	if (fault == NULL && h->sequence > s->sequence && !s->lost) {
		rc = hwtdi_trace_note_damage(trace, s->at, 0, HWTD_NO_ID, 0, 0,
		    err, "%" PRIu64 " chunks are missing before this one",
		    h->sequence - s->sequence);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (fault != NULL) {
		s->lost = true;
		rc = hwtdi_trace_note_damage(trace, s->at, n, HWTD_NO_ID, 0, 0,
		    err, "%s", fault);
		s->at += n;
		return (rc);
	}
	s->sequence = h->sequence + 1;
	s->lost = false;
	s->at += n;
	if (h->type == HWTDI_HWT_END)
		s->ended = true;
	if (h->type == HWTDI_HWT_END || h->type == HWTDI_HWT_INDEX)
		return (HWTD_OK);
	return (hwtdi_hwt_accept(s->reader, h, err));
}

int
hwtdi_hwt_scan(struct hwtdi_hwt_reader *reader, struct hwtd_error *err)
{
	struct hwtd_trace *trace = reader->trace;
	const uint64_t size = trace->file.size;
	struct scan s = { .reader = reader, .at = HWTDI_HWT_FILE_HEADER_SIZE };
	int rc = HWTD_OK;

	if (size < s.at)
		return (hwtdi_trace_note_damage(trace, 0, size, HWTD_NO_ID, 0,
		    0, err, "file is cut inside its header"));
	while (rc == HWTD_OK && s.at < size && !s.ended) {
		struct hwtdi_hwt_header h;
		bool valid;

		rc = hwtdi_hwt_read_header(&trace->file, s.at, &h, &valid,
		    err);
		if (rc != HWTD_OK)
			return (rc);
		if (valid)
			rc = step(&s, &h, err);
		else
			rc = skip(&s, s.at + 1, "chunk header is damaged",
			    err);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(trace->library, err);
	}
	if (rc != HWTD_OK)
		return (rc);
	if (s.ended && s.at < size)
		return (hwtdi_trace_note_damage(trace, s.at, size - s.at,
		    HWTD_NO_ID, 0, 0, err,
		    "bytes after the end chunk are not read"));
	if (!s.ended && !s.lost)
		return (hwtdi_trace_note_damage(trace, size, 0, HWTD_NO_ID, 0,
		    0, err, "file ends without its end chunk"));
	return (HWTD_OK);
}
