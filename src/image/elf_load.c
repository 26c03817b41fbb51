/*
 * How the code of a linked ELF file lies in memory.
 *
 * Sources: ELF gABI, "Program Loading" (segments and pages); mmap(2).
 */
#include "image/elf_load.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

static bool
is_page(uint64_t page)
{
	return (page != 0 && (page & (page - 1)) == 0);
}

static uint64_t
trunc_page(uint64_t n, uint64_t page)
{
	return (n & ~(page - 1));
}

static bool
is_fixed(const struct hwtdi_elf_file *file)
{
	return (file->type != HWTDI_ELF_DYN);
}

uint64_t
hwtdi_elf_bias_of_program(const struct hwtdi_elf_file *file,
    uint64_t load_bias)
{
	return (is_fixed(file) ? 0 : load_bias);
}

uint64_t
hwtdi_elf_bias_of_base(const struct hwtdi_elf_file *file, uint64_t base,
    uint64_t page)
{
	if (!is_page(page))
		page = HWTDI_ELF_PAGE;
	if (is_fixed(file) || !file->has_load)
		return (0);
	return (base - trunc_page(file->lowest_vaddr, page));
}

/* First and last byte of the file that mmap shows for a segment's pages. */
static uint64_t
first_off(const struct hwtdi_elf_segment *s, uint64_t page)
{
	return (trunc_page(s->file_off, page));
}

static uint64_t
last_off(const struct hwtdi_elf_segment *s, uint64_t page)
{
	/* file_bytes is at least 1 and lies in the file. */
	return ((s->file_off + s->file_bytes - 1) | (page - 1));
}

/* Whether a mapping can show this segment, and the bias if it does. */
static bool
fits(const struct hwtdi_elf_segment *s, const struct hwtdi_elf_mapping *m,
    uint64_t page, uint64_t *bias_out)
{
	uint64_t off = m->has_file_off ? m->file_off : first_off(s, page);
	uint64_t left;

	if (off < first_off(s, page) || off > last_off(s, page))
		return (false);
	/* A cut segment was longer when it was mapped. */
	left = last_off(s, page) - off;
	if (m->has_length && !s->cut &&
	    (m->length == 0 || m->length - 1 > left))
		return (false);
	/* Without an offset it is all of the segment. */
	if (m->has_length && !m->has_file_off && !s->cut &&
	    ((m->length - 1) | (page - 1)) != left)
		return (false);
	if (m->has_file_off)
		*bias_out = m->address - (s->vaddr + (off - s->file_off));
	else
		*bias_out = m->address - trunc_page(s->vaddr, page);
	return ((*bias_out & (page - 1)) == 0);
}

static bool
all_fit(const struct hwtdi_elf_file *file,
    const struct hwtdi_elf_mapping *mappings, size_t n, uint64_t page,
    uint64_t bias)
{
	for (size_t m = 0; m < n; m++) {
		bool one = false;
		uint64_t other;

		for (size_t i = 0; i < file->n_segments && !one; i++)
			one = fits(&file->segments[i], &mappings[m], page,
				  &other) &&
			    other == bias;
		if (!one)
			return (false);
	}
	return (true);
}

/*
 * Whether the bias keeps the alignment that the file asks for.  Not all
 * loaders obey it, so this decides between biases and refuses none.
 */
static bool
is_aligned(const struct hwtdi_elf_file *file, uint64_t bias)
{
	uint64_t align = file->largest_align;

	return (!is_page(align) || (bias & (align - 1)) == 0);
}

/* Whether a segment before segment `n` gives the same bias. */
static bool
is_known(const struct hwtdi_elf_file *file, size_t n,
    const struct hwtdi_elf_mapping *m, uint64_t page, uint64_t bias)
{
	uint64_t other;

	for (size_t i = 0; i < n; i++)
		if (fits(&file->segments[i], m, page, &other) && other == bias)
			return (true);
	return (false);
}

int
hwtdi_elf_bias_of_mappings(const struct hwtdi_elf_file *file,
    const struct hwtdi_elf_mapping *mappings, size_t n, uint64_t page,
    struct hwtdi_elf_bias *out, struct hwtd_error *err)
{
	bool aligned = false;
	uint64_t bias;

	memset(out, 0, sizeof(*out));
	page = page != 0 ? page : HWTDI_ELF_PAGE;
	if (n == 0 || !is_page(page))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    n == 0 ? "no mapping" : "page size is no power of 2"));
	if (n > HWTDI_ELF_MAX_MAPPINGS)
		n = HWTDI_ELF_MAX_MAPPINGS;
	for (size_t i = 0;
	     i < file->n_segments && out->n_fits < HWTDI_ELF_MAX_FITS; i++) {
		if (!fits(&file->segments[i], &mappings[0], page, &bias) ||
		    (is_fixed(file) && bias != 0) ||
		    is_known(file, i, &mappings[0], page, bias) ||
		    !all_fit(file, mappings + 1, n - 1, page, bias))
			continue;
		out->n_fits++;
		if (out->n_fits == 1 || (!aligned && is_aligned(file, bias))) {
			out->bias = bias;
			out->segment = (uint32_t)i;
			aligned = is_aligned(file, bias);
		}
	}
	if (out->n_fits == 0)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "no executable segment can lie at %#" PRIx64,
		    mappings[0].address));
	return (HWTD_OK);
}

int
hwtdi_elf_layout_add(struct hwtdi_elf_layout *layout, struct hwtd_context *ctx,
    const struct hwtdi_elf_piece *piece, struct hwtd_error *err)
{
	int rc;

	if (piece->length == 0)
		return (HWTD_OK);
	if (piece->length - 1 > UINT64_MAX - piece->address) {
		layout->n_left_out++;
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(ctx, &layout->pieces, &layout->cap_pieces,
	    layout->n_pieces + 1, sizeof(*piece), err);
	if (rc == HWTD_OK)
		layout->pieces[layout->n_pieces++] = *piece;
	return (rc);
}

/*
 * What mmap shows of a segment.  Pages are whole pages of the file: before
 * and behind the segment they show what lies there in the file.  Where memory
 * goes on behind the bytes of the file, loaders write zeros there.
 */
static struct hwtdi_elf_piece
whole_pages(const struct hwtdi_elf_file *file,
    const struct hwtdi_elf_segment *s, uint64_t bias, uint64_t page)
{
	struct hwtdi_elf_piece piece = { .address = s->vaddr + bias,
		.length = s->file_bytes,
		.file_off = s->file_off };
	uint64_t before = s->vaddr & (page - 1);
	uint64_t end;

	/* A core file is not mapped; others cannot be if they differ here. */
	if (file->type == HWTDI_ELF_CORE ||
	    (s->file_off & (page - 1)) != before || (bias & (page - 1)) != 0)
		return (piece);
	piece.address -= before;
	piece.file_off -= before;
	piece.length += before;
	if (s->memory_bytes == s->file_bytes) {
		end = last_off(s, page);
		end = end < file->n_bytes ? end + 1 : file->n_bytes;
		piece.length = end - piece.file_off;
	}
	return (piece);
}

int
hwtdi_elf_layout_init(struct hwtdi_elf_layout *layout,
    struct hwtd_context *ctx, const struct hwtdi_elf_file *file, uint64_t bias,
    uint64_t page, struct hwtd_error *err)
{
	struct hwtdi_elf_piece piece;
	int rc = HWTD_OK;

	memset(layout, 0, sizeof(*layout));
	page = page != 0 ? page : HWTDI_ELF_PAGE;
	if (!is_page(page))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "page size %" PRIu64 " is no power of 2", page));
	for (size_t i = 0; i < file->n_segments && rc == HWTD_OK; i++) {
		piece = whole_pages(file, &file->segments[i], bias, page);
		rc = hwtdi_elf_layout_add(layout, ctx, &piece, err);
	}
	if (rc != HWTD_OK)
		hwtdi_elf_layout_fini(layout, ctx);
	return (rc);
}

void
hwtdi_elf_layout_fini(struct hwtdi_elf_layout *layout,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, layout->pieces, layout->cap_pieces,
	    sizeof(*layout->pieces));
	memset(layout, 0, sizeof(*layout));
}
