/*
 * Sections of a trace, one for equal bytes at equal addresses, and mappings
 * of them.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "image/elf_load.h"
#include "trace/space_builder.h"

const uint8_t hwtdi_no_code[1];

static uint64_t
hash_of(const struct hwtd_trace *trace, const struct hwtd_section *s,
    const uint8_t *code)
{
	const uint64_t key[5] = { s->address, s->file_off, s->length, s->image,
		(uint64_t)(uintptr_t)code };

	return (hwtdi_hash(trace->library, key, sizeof(key)));
}

static bool
is_same(const struct hwtd_section *a, const struct hwtd_section *b)
{
	return (a->image == b->image && a->address == b->address &&
	    a->length == b->length && a->file_off == b->file_off);
}

static int
section_of(struct hwtdi_space_builder *b, const struct hwtdi_shown *shown,
    uint32_t *out)
{
	struct hwtd_trace *trace = b->trace;
	struct hwtd_section s;
	size_t tries = 0;
	uint64_t hash;
	uint32_t no;
	int rc;

	memset(&s, 0, sizeof(s));
	s.size = sizeof(s);
	s.image = shown->image;
	s.address = shown->address;
	s.length = shown->length;
	s.file_off = shown->file_off;
	hash = hash_of(trace, &s, shown->code);
	while (hwtdi_index_next(&b->sections, hash, &tries, &no))
		if (trace->section_code[no] == shown->code &&
		    is_same(&trace->sections[no], &s)) {
			*out = no;
			return (HWTD_OK);
		}
	rc = hwtdi_index_reserve(&b->sections, trace->library, b->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(trace->library, &trace->sections,
		    &trace->cap_sections, trace->n_sections + 1,
		    sizeof(*trace->sections), b->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(trace->library, &trace->section_code,
		    &trace->cap_section_code, trace->n_sections + 1,
		    sizeof(*trace->section_code), b->err);
	if (rc != HWTD_OK)
		return (rc);
	*out = (uint32_t)trace->n_sections;
	hwtdi_index_put(&b->sections, hash, *out);
	trace->section_code[trace->n_sections] = shown->code;
	trace->sections[trace->n_sections++] = s;
	return (HWTD_OK);
}

int
hwtdi_space_map(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_shown *shown)
{
	struct hwtdi_piece piece = { .section = HWTD_NO_ID,
		.flags = shown->flags };
	int rc = HWTD_OK;

	if (shown->length == 0)
		return (HWTD_OK);
	if (shown->image != HWTD_NO_ID)
		rc = section_of(b, shown, &piece.section);
	return (rc != HWTD_OK
		? rc
		: hwtdi_timeline_map(b->space->timeline, b->seq, space,
		      shown->address, shown->length, &piece, b->err));
}

bool
hwtdi_space_take_pieces(struct hwtdi_space_builder *b, size_t n)
{
	const size_t more = n > HWTDI_SPACE_OWN_PIECES
	    ? n - HWTDI_SPACE_OWN_PIECES
	    : 0;

	if (more > HWTDI_SPACE_MAX_PIECES - b->n_pieces)
		return (false);
	b->n_pieces += more;
	return (true);
}

/* Whether a piece is asked for. */
static bool
is_wanted(const struct hwtdi_shown_elf *elf, const struct hwtdi_elf_piece *p)
{
	return (elf->around == NULL || *elf->around - p->address < p->length);
}

/* One stretch of unknown bytes in the place of all pieces that are wanted. */
static void
leave_unknown(struct hwtdi_space_builder *b, const struct hwtdi_shown_elf *elf,
    struct hwtdi_elf_layout *layout, struct hwtdi_shown *shown)
{
	struct hwtdi_image *image = &b->trace->images[elf->file->image];
	struct hwtdi_elf_piece all = { .address = UINT64_MAX };
	uint64_t last = 0;

	for (size_t i = 0; i < layout->n_pieces; i++) {
		const struct hwtdi_elf_piece *p = &layout->pieces[i];

		if (!is_wanted(elf, p))
			continue;
		if (p->address < all.address) {
			all.address = p->address;
			all.file_off = p->file_off;
		}
		if (p->address + (p->length - 1) > last)
			last = p->address + (p->length - 1);
	}
	all.length = last - all.address + 1;
	layout->pieces[0] = all;
	layout->n_pieces = 1;
	shown->code = hwtdi_no_code;
	image->state = HWTD_IMAGE_MISSING;
	(void)snprintf(image->text, sizeof(image->text),
	    "limit: files of many segments are loaded too often");
}

int
hwtdi_space_map_elf(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_shown_elf *elf)
{
	struct hwtd_context *ctx = b->trace->library;
	struct hwtdi_shown shown = { .image = elf->file->image,
		.flags = elf->flags };
	struct hwtdi_elf_layout layout;
	size_t n = 0;
	int rc;

	rc = hwtdi_elf_layout_init(&layout, ctx, &elf->file->elf, elf->bias,
	    HWTDI_SPACE_PAGE, b->err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < layout.n_pieces; i++)
		n += is_wanted(elf, &layout.pieces[i]);
	if (!hwtdi_space_take_pieces(b, n))
		leave_unknown(b, elf, &layout, &shown);
	for (size_t i = 0; i < layout.n_pieces && rc == HWTD_OK; i++) {
		const struct hwtdi_elf_piece *p = &layout.pieces[i];

		if (!is_wanted(elf, p))
			continue;
		shown.address = p->address;
		shown.length = p->length;
		shown.file_off = p->file_off;
		rc = hwtdi_space_map(b, space, &shown);
		if (rc == HWTD_OK && elf->loads != NULL)
			rc = hwtdi_load_list_add_piece(elf->loads, ctx,
			    p->address, p->length, b->err);
	}
	hwtdi_elf_layout_fini(&layout, ctx);
	return (rc);
}
