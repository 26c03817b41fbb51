/*
 * Writing the code of mapped files into a saved trace.
 */
#include "trace/trace_archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/elf_file.h"
#include "image/elf_tables.h"

/* Headers lie at the front of a file: of ELF, segments and notes. */
#define HEADER_BYTES 4096

struct range {
	uint64_t start, end;
};

static int
by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start < y->start ? -1 : x->start > y->start);
}

/* Sort, and join what adjoins; how many are left. */
static size_t
join(struct range *ranges, size_t n)
{
	size_t kept = 0;

	qsort(ranges, n, sizeof(*ranges), by_start);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && ranges[i].start <= ranges[kept - 1].end) {
			if (ranges[i].end > ranges[kept - 1].end)
				ranges[kept - 1].end = ranges[i].end;
		} else
			ranges[kept++] = ranges[i];
	}
	return (kept);
}

/* Objects are laid out by their sections, so all of them is needed. */
static bool
is_object(const struct hwtdi_image *image)
{
	return (image->n_bytes > 18 &&
	    memcmp(image->bytes, "\177ELF", 4) == 0 &&
	    image->bytes[16] == HWTDI_ELF_REL);
}

static size_t
collect(const struct hwtd_trace *trace, uint32_t image, struct range *ranges)
{
	const uint64_t n_bytes = trace->images[image].n_bytes;
	struct hwtdi_elf_tables t;
	GElf_Phdr ph;
	size_t n = 0;

	ranges[n].start = 0;
	ranges[n].end = n_bytes < HEADER_BYTES ||
		is_object(&trace->images[image])
	    ? n_bytes
	    : HEADER_BYTES;
	n++;
	if (hwtdi_elf_tables_init(&t, "", trace->images[image].bytes, n_bytes,
		NULL) == HWTD_OK &&
	    t.n_segments > 0) {
		ranges[n].start = hwtdi_elf_segment_off(&t, 0);
		ranges[n++].end = hwtdi_elf_segment_off(&t, t.n_segments);
		for (uint32_t i = 0; hwtdi_elf_segment(&t, i, &ph); i++)
			if (ph.p_type == PT_INTERP && ph.p_offset < n_bytes) {
				ranges[n].start = ph.p_offset;
				ranges[n++].end = ph.p_filesz <
					n_bytes - ph.p_offset
				    ? ph.p_offset + ph.p_filesz
				    : n_bytes;
				break;
			}
	}
	for (size_t i = 0; i < trace->n_sections; i++) {
		const struct hwtd_section *s = &trace->sections[i];

		if (s->image != image || s->file_off >= n_bytes)
			continue;
		ranges[n].start = s->file_off;
		ranges[n].end = s->length < n_bytes - s->file_off
		    ? s->file_off + s->length
		    : n_bytes;
		n++;
	}
	return (join(ranges, n));
}

int
hwtdi_trace_archive(const struct hwtd_trace *trace, uint32_t image,
    struct hwtdi_writer *w, struct hwtd_error *err)
{
	const struct hwtdi_image *whole = &trace->images[image];
	const size_t room = (trace->n_sections + 3) * sizeof(struct range);
	struct range *ranges;
	size_t n;
	int rc = HWTD_OK;

	/* What came from parts is written again as these. */
	if (whole->bytes == NULL || whole->n_bytes == 0 || whole->sparse)
		return (HWTD_OK);
	ranges = hwtdi_alloc(trace->library, room);
	if (ranges == NULL)
		return (hwtdi_fail_nomem(err, room));
	n = collect(trace, image, ranges);
	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		struct hwtdi_image part = *whole;

		part.part = true;
		part.mapped = false;
		part.offset = ranges[i].start;
		part.bytes = whole->bytes + ranges[i].start;
		part.n_bytes = ranges[i].end - ranges[i].start;
		rc = hwtdi_writer_image(w, &part, true, err);
	}
	hwtdi_free(trace->library, ranges, room);
	return (rc);
}
