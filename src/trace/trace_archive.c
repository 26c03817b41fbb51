/*
 * Writing the code of mapped files into a saved trace.
 */
#include "trace/trace_archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "image/elf_file.h"
#include "image/elf_tables.h"

/* Headers mostly lie at the front of a file: of ELF, segments and notes. */
#define HEADER_BYTES 4096

struct range {
	uint64_t start, end;
};

/* Bytes that are mapped of the file that stands for an image. */
struct piece {
	uint32_t file;
	struct range range;
};

/* A file whose bytes are at hand. */
struct source {
	uint64_t n_bytes, sum;
	uint32_t image;
};

struct archive {
	const struct hwtd_trace *trace;
	bool any_file;
	struct hwtdi_writer *w;
	/* By image: the first one of equal bytes, or none; and its part. */
	uint32_t *files, *first_parts;
	/* By file and start. */
	struct piece *pieces;
	size_t n_pieces, cap_pieces;
	/* Of the file at hand. */
	struct range *ranges;
	size_t n_ranges, cap_ranges;
	struct hwtd_error *err;
};

/* Files of equal bytes. */

static int
by_bytes(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return (x->n_bytes < y->n_bytes ? -1 : 1);
	if (x->sum != y->sum)
		return (x->sum < y->sum ? -1 : 1);
	return (x->image < y->image ? -1 : x->image > y->image);
}

/* What came from parts is written again as these. */
static bool
is_whole(const struct hwtdi_image *image)
{
	return (image->named && !image->sparse && image->bytes != NULL &&
	    image->n_bytes != 0);
}

static bool
same_bytes(const struct archive *a, const struct source *x,
    const struct source *y)
{
	return (x->n_bytes == y->n_bytes && x->sum == y->sum &&
	    memcmp(a->trace->images[x->image].bytes,
		a->trace->images[y->image].bytes, (size_t)x->n_bytes) == 0);
}

static int
find_equal(struct archive *a)
{
	const struct hwtd_trace *trace = a->trace;
	const size_t room = trace->n_images * sizeof(struct source);
	struct source *sources = hwtdi_alloc(trace->library, room);
	size_t n = 0, first = 0;

	if (sources == NULL)
		return (hwtdi_fail_nomem(a->err, room));
	for (size_t i = 0; i < trace->n_images; i++) {
		const struct hwtdi_image *image = &trace->images[i];

		a->files[i] = HWTD_NO_ID;
		if (!is_whole(image) ||
		    (!a->any_file && hwtdi_trace_is_stranger(image)))
			continue;
		sources[n].image = (uint32_t)i;
		sources[n].n_bytes = image->n_bytes;
		sources[n++].sum = hwtdi_checksum(image->bytes,
		    (size_t)image->n_bytes);
	}
	qsort(sources, n, sizeof(*sources), by_bytes);
	for (size_t i = 0; i < n; i++) {
		if (!same_bytes(a, &sources[first], &sources[i]))
			first = i;
		a->files[sources[i].image] = sources[first].image;
	}
	hwtdi_free(trace->library, sources, room);
	return (HWTD_OK);
}

/* Ranges. */

/* What the file has of `length` bytes at `start`; false: nothing. */
static bool
clip(const struct hwtdi_image *image, uint64_t start, uint64_t length,
    struct range *out)
{
	if (start >= image->n_bytes || length == 0)
		return (false);
	out->start = start;
	out->end = length < image->n_bytes - start ? start + length
						   : image->n_bytes;
	return (true);
}

static int
by_file(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->file != y->file)
		return (x->file < y->file ? -1 : 1);
	return (x->range.start < y->range.start
		? -1
		: x->range.start > y->range.start);
}

/* Sections, by the file that holds their bytes. */
static int
find_pieces(struct archive *a)
{
	const struct hwtd_trace *trace = a->trace;
	int rc;

	for (size_t i = 0; i < trace->n_sections; i++) {
		const struct hwtd_section *s = &trace->sections[i];
		struct piece piece = { .file = a->files[s->image] };

		if (piece.file == HWTD_NO_ID ||
		    !clip(&trace->images[piece.file], s->file_off, s->length,
			&piece.range))
			continue;
		rc = hwtdi_array_grow(trace->library, &a->pieces,
		    &a->cap_pieces, a->n_pieces + 1, sizeof(piece), a->err);
		if (rc != HWTD_OK)
			return (rc);
		a->pieces[a->n_pieces++] = piece;
	}
	if (a->n_pieces > 0)
		qsort(a->pieces, a->n_pieces, sizeof(*a->pieces), by_file);
	return (HWTD_OK);
}

static int
add_range(struct archive *a, const struct hwtdi_image *image, uint64_t start,
    uint64_t length)
{
	struct range range;
	int rc;

	if (!clip(image, start, length, &range))
		return (HWTD_OK);
	rc = hwtdi_array_grow(a->trace->library, &a->ranges, &a->cap_ranges,
	    a->n_ranges + 1, sizeof(range), a->err);
	if (rc == HWTD_OK)
		a->ranges[a->n_ranges++] = range;
	return (rc);
}

static int
by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start < y->start ? -1 : x->start > y->start);
}

/*
 * Sort, and join what overlaps.  What adjoins stays apart: of two files with
 * the same code and other headers the code is equal.
 */
static void
join(struct archive *a)
{
	struct range *ranges = a->ranges;
	size_t kept = 0;

	if (a->n_ranges > 0)
		qsort(ranges, a->n_ranges, sizeof(*ranges), by_start);
	for (size_t i = 0; i < a->n_ranges; i++) {
		if (kept > 0 && ranges[i].start < ranges[kept - 1].end) {
			if (ranges[i].end > ranges[kept - 1].end)
				ranges[kept - 1].end = ranges[i].end;
		} else
			ranges[kept++] = ranges[i];
	}
	a->n_ranges = kept;
}

/* Objects are laid out by their sections, so all of them is needed. */
static bool
is_object(const struct hwtdi_image *image)
{
	return (image->n_bytes > 18 &&
	    memcmp(image->bytes, "\177ELF", 4) == 0 &&
	    image->bytes[16] == HWTDI_ELF_REL);
}

/* Headers, and executable segments. */
static int
add_elf(struct archive *a, const struct hwtdi_image *image)
{
	struct hwtdi_elf_tables t;
	GElf_Phdr ph;
	int rc;

	if (is_object(image))
		return (add_range(a, image, 0, image->n_bytes));
	rc = add_range(a, image, 0, HEADER_BYTES);
	if (rc != HWTD_OK ||
	    hwtdi_elf_tables_init(&t, "", image->bytes, image->n_bytes,
		NULL) != HWTD_OK)
		return (rc);
	if (t.n_segments > 0)
		rc = add_range(a, image, hwtdi_elf_segment_off(&t, 0),
		    hwtdi_elf_segment_off(&t, t.n_segments) -
			hwtdi_elf_segment_off(&t, 0));
	/* The number of segments, where it does not fit the header. */
	if (rc == HWTD_OK && t.header.e_phnum == PN_XNUM &&
	    t.header.e_shoff != 0)
		rc = add_range(a, image, hwtdi_elf_section_off(&t, 0),
		    hwtdi_elf_section_off(&t, 1) -
			hwtdi_elf_section_off(&t, 0));
	/* Where code ends decides what a mapping shows, so it is kept whole. */
	for (uint32_t i = 0; rc == HWTD_OK && hwtdi_elf_segment(&t, i, &ph);
	     i++)
		if (ph.p_type == PT_INTERP || ph.p_type == PT_NOTE ||
		    (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) != 0))
			rc = add_range(a, image, ph.p_offset, ph.p_filesz);
	return (rc);
}

/* Writing. */

/* Pieces of other files before it were taken. */
static int
write_file(struct archive *a, uint32_t file, size_t *piece_inout)
{
	const struct hwtdi_image *whole = &a->trace->images[file];
	int rc;

	a->n_ranges = 0;
	rc = add_elf(a, whole);
	for (; rc == HWTD_OK && *piece_inout < a->n_pieces &&
	     a->pieces[*piece_inout].file == file;
	     (*piece_inout)++) {
		const struct range *r = &a->pieces[*piece_inout].range;

		rc = add_range(a, whole, r->start, r->end - r->start);
	}
	if (rc != HWTD_OK)
		return (rc);
	join(a);
	for (size_t i = 0; i < a->n_ranges && rc == HWTD_OK; i++) {
		struct hwtdi_image part = *whole;
		uint32_t id;

		part.part = true;
		part.mapped = false;
		part.offset = a->ranges[i].start;
		part.bytes = whole->bytes + a->ranges[i].start;
		part.n_bytes = a->ranges[i].end - a->ranges[i].start;
		rc = hwtdi_writer_image(a->w, &part, true, &id, a->err);
		if (i == 0)
			a->first_parts[file] = id;
	}
	return (rc);
}

static int
write_files(struct archive *a)
{
	size_t piece = 0;
	int rc = HWTD_OK;

	for (uint32_t i = 0; rc == HWTD_OK && i < a->trace->n_images; i++) {
		if (a->files[i] == i)
			rc = write_file(a, i, &piece);
		else if (a->files[i] != HWTD_NO_ID)
			rc = hwtdi_writer_same_file(a->w, &a->trace->images[i],
			    a->first_parts[a->files[i]], a->err);
	}
	return (rc);
}

/* Code that a loader changed, as it is in memory; without what is unknown. */
static int
write_linked(struct archive *a)
{
	const struct hwtd_trace *trace = a->trace;
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < trace->n_sections; i++) {
		const struct hwtd_section *s = &trace->sections[i];
		const uint8_t *code = trace->section_code[i];
		struct hwtdi_image part = trace->images[s->image];
		/* The writer only reads it. */
		union {
			const uint8_t *in;
			uint8_t *out;
		} u = { .in = code };
		struct range range;

		if (code == NULL || code == hwtdi_no_code ||
		    a->files[s->image] == HWTD_NO_ID ||
		    !clip(&part, s->file_off, s->length, &range))
			continue;
		part.part = true;
		part.linked = true;
		part.from_file = false;
		part.address = s->address;
		part.offset = range.start;
		part.n_bytes = range.end - range.start;
		part.bytes = u.out + range.start;
		rc = hwtdi_writer_image(a->w, &part, true, NULL, a->err);
	}
	return (rc);
}

int
hwtdi_trace_archive(const struct hwtd_trace *trace, bool any_file,
    struct hwtdi_writer *w, struct hwtd_error *err)
{
	struct hwtd_context *ctx = trace->library;
	struct archive a = { .trace = trace,
		.any_file = any_file,
		.w = w,
		.err = err };
	const size_t room = trace->n_images * sizeof(uint32_t);
	int rc = HWTD_OK;

	if (trace->n_images == 0)
		return (HWTD_OK);
	a.files = hwtdi_alloc(ctx, room);
	a.first_parts = hwtdi_zalloc(ctx, room);
	if (a.files == NULL || a.first_parts == NULL)
		rc = hwtdi_fail_nomem(err, room);
	if (rc == HWTD_OK)
		rc = find_equal(&a);
	if (rc == HWTD_OK)
		rc = find_pieces(&a);
	if (rc == HWTD_OK)
		rc = write_files(&a);
	if (rc == HWTD_OK)
		rc = write_linked(&a);
	hwtdi_free(ctx, a.files, room);
	hwtdi_free(ctx, a.first_parts, room);
	hwtdi_array_free(ctx, a.pieces, a.cap_pieces, sizeof(*a.pieces));
	hwtdi_array_free(ctx, a.ranges, a.cap_ranges, sizeof(*a.ranges));
	return (rc);
}
