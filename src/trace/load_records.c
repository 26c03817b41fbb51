/*
 * Records that load or unload a file as a whole: kernels, their modules, and
 * what debuggers call modules.
 */
#include "image/elf_load.h"
#include "trace/space_builder.h"

uint64_t
hwtdi_space_load_bias(const struct hwtdi_elf_file *elf, uint64_t addr)
{
	const uint64_t page = HWTDI_SPACE_PAGE;

	/* Who says where it lies knows better than a fixed address in it. */
	return (elf->has_load ? addr - (elf->lowest_vaddr & ~(page - 1)) : 0);
}

int
hwtdi_space_load(struct hwtdi_space_builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_shown_elf elf = { .loads = &b->loads };
	struct hwtdi_shown plain = { .address = r->addr,
		.length = (r->flags & HWTD_RECF_LEN) != 0 ? r->len
							  : HWTDI_SPACE_PAGE };
	struct hwtdi_named_file *file;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0 || r->name == NULL)
		return (HWTD_OK);
	rc = hwtdi_space_named(b, &file);
	if (rc == HWTD_OK)
		rc = hwtdi_load_list_add(&b->loads, b->trace->library, space,
		    r->addr, file->image, false, b->seq, b->err);
	if (rc != HWTD_OK)
		return (rc);
	if (!file->is_elf) {
		plain.image = file->image;
		rc = hwtdi_load_list_add_piece(&b->loads, b->trace->library,
		    plain.address, plain.length, b->err);
		return (rc == HWTD_OK ? hwtdi_space_map(b, space, &plain)
				      : rc);
	}
	if (file->elf.type == HWTDI_ELF_REL)
		return (hwtdi_module_map(b, space, file));
	elf.file = file;
	elf.bias = hwtdi_space_load_bias(&file->elf, r->addr);
	return (hwtdi_space_map_elf(b, space, &elf));
}

int
hwtdi_space_unload(struct hwtdi_space_builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	const struct hwtdi_load_piece *pieces;
	size_t load, n = 0;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0)
		return (HWTD_OK);
	rc = hwtdi_load_list_take(&b->loads, b->trace->library, space, r->addr,
	    b->seq, &load, b->err);
	if (rc == HWTD_OK && load != 0)
		n = hwtdi_load_list_pieces(&b->loads, load, &pieces);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		rc = hwtdi_timeline_unmap(b->space->timeline, b->seq, space,
		    pieces[i].address, pieces[i].length, b->err);
	return (rc);
}

/* A piece of a file is gone, unless something else lies there by now. */
static int
unmap_piece(struct hwtdi_space_builder *b, uint32_t space, uint32_t image,
    const struct hwtdi_load_piece *p)
{
	struct hwtdi_place place;

	hwtdi_timeline_newest(b->space->timeline, space, p->address, &place);
	if (place.piece.section == HWTD_NO_ID ||
	    b->trace->sections[place.piece.section].image != image)
		return (HWTD_OK);
	return (hwtdi_timeline_unmap(b->space->timeline, b->seq, space,
	    p->address, p->length, b->err));
}

/*
 * The file that starts at the address of the record, unless `there`, which is
 * not nothing, is of another one.
 */
static int
unmap_file(struct hwtdi_space_builder *b, uint32_t space,
    struct hwtdi_load_list *list, const struct hwtdi_place *there)
{
	const struct hwtd_record *r = b->record;
	const struct hwtdi_load_piece *pieces;
	uint32_t image;
	size_t load, n;
	int rc;

	rc = hwtdi_load_list_take(list, b->trace->library, space, r->addr,
	    b->seq, &load, b->err);
	if (rc != HWTD_OK || load == 0)
		return (rc);
	image = list->loads[load - 1].image;
	if ((there->piece.flags & HWTDI_PIECE_NOTHING) == 0 &&
	    (there->piece.section == HWTD_NO_ID ||
		b->trace->sections[there->piece.section].image != image))
		return (HWTD_OK);
	for (; load != 0 && rc == HWTD_OK;
	     load = hwtdi_load_list_next(list, load)) {
		n = hwtdi_load_list_pieces(list, load, &pieces);
		for (size_t i = 0; i < n && rc == HWTD_OK; i++)
			rc = unmap_piece(b, space, image, &pieces[i]);
	}
	return (rc);
}

int
hwtdi_space_unmap(struct hwtdi_space_builder *b, uint32_t space)
{
	const struct hwtd_record *r = b->record;
	struct hwtdi_timeline *timeline = b->space->timeline;
	struct hwtdi_place there;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0)
		return (HWTD_OK);
	if ((r->flags & HWTD_RECF_LEN) != 0)
		return (hwtdi_timeline_unmap(timeline, b->seq, space, r->addr,
		    r->len, b->err));
	/* Kernels that tell no length unmap what they mapped, as a rule. */
	hwtdi_timeline_newest(timeline, space, r->addr, &there);
	rc = unmap_file(b, space, &b->loads, &there);
	if (rc == HWTD_OK)
		rc = unmap_file(b, space, &b->segments, &there);
	if (rc != HWTD_OK || (there.piece.flags & HWTDI_PIECE_NOTHING) != 0)
		return (rc);
	return (hwtdi_timeline_unmap(timeline, b->seq, space, there.first,
	    there.last - there.first + 1, b->err));
}
