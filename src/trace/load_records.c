/*
 * Records that load or unload a file as a whole: kernels, their modules, and
 * what debuggers call modules.
 */
#include "image/elf_load.h"
#include "image/elf_symbols.h"
#include "trace/space_builder.h"

/* From the first byte of a kernel to its last. */
#define LARGEST_KERNEL ((uint64_t)1 << 30)

/* Names of kernels that lie where they like at each start; Linux. */
static const struct {
	const char *symbol;
	uint32_t flag;
} starts[2] = { { "_text", HWTD_RECF_VALUE }, { "_stext", HWTD_RECF_BASE } };

static uint64_t
start_of(const struct hwtd_record *r, size_t i)
{
	return (i == 0 ? r->value : r->base);
}

static void
ask_starts(const struct hwtdi_space_builder *b, struct hwtdi_named_file *file)
{
	const struct hwtdi_image *image = &b->trace->images[file->image];
	struct hwtdi_elf_tables tables;

	if (file->asked_start)
		return;
	file->asked_start = true;
	if (image->bytes == NULL ||
	    hwtdi_elf_tables_init(&tables, image->path, image->bytes,
		image->n_bytes, NULL) != HWTD_OK)
		return;
	for (size_t i = 0; i < 2; i++)
		file->has_start[i] = hwtdi_elf_symbol_value(&tables,
		    starts[i].symbol, &file->start[i]);
}

static uint64_t
lowest_code(const struct hwtdi_elf_file *elf)
{
	uint64_t lowest = elf->lowest_vaddr;

	for (size_t i = 0; i < elf->n_segments; i++)
		if (i == 0 || elf->segments[i].vaddr < lowest)
			lowest = elf->segments[i].vaddr;
	return (lowest);
}

uint64_t
hwtdi_space_load_bias(const struct hwtdi_space_builder *b,
    const struct hwtd_record *r, struct hwtdi_named_file *file)
{
	const struct hwtdi_elf_file *elf = &file->elf;
	const uint64_t page = HWTDI_SPACE_PAGE;

	if (elf->type == HWTDI_ELF_CORE || !elf->has_load)
		return (0);
	for (size_t i = 0; i < 2 && r->type == HWTD_REC_KERNEL; i++) {
		if ((r->flags & starts[i].flag) == 0)
			continue;
		ask_starts(b, file);
		if (file->has_start[i])
			return (start_of(r, i) - file->start[i]);
	}
	for (size_t i = 0; i < 2 && r->type == HWTD_REC_KERNEL; i++)
		if ((r->flags & starts[i].flag) != 0)
			return (start_of(r, i) -
			    (lowest_code(elf) & ~(page - 1)));
	/* Data of CPUs can be linked for an address of its own, mostly 0. */
	if (r->type == HWTD_REC_KERNEL &&
	    lowest_code(elf) - elf->lowest_vaddr > LARGEST_KERNEL)
		return (r->addr - (lowest_code(elf) & ~(page - 1)));
	/* Who says where it lies knows better than a fixed address in it. */
	return (r->addr - (elf->lowest_vaddr & ~(page - 1)));
}

int
hwtdi_space_file(struct hwtdi_space_builder *b, const struct hwtd_record *r,
    struct hwtdi_named_file **out)
{
	uint64_t around = r->addr;
	int rc;

	for (size_t i = 2; i-- > 0;)
		if ((r->flags & starts[i].flag) != 0)
			around = start_of(r, i);
	b->files.around = r->type == HWTD_REC_KERNEL ? &around : NULL;
	rc = hwtdi_named_files_get(&b->files, r->name, r->build_id,
	    r->n_build_id, out, b->err);
	b->files.around = NULL;
	return (rc);
}

/* Images that are copies of the memory of a kernel. */

static bool
is_copy(const struct hwtdi_space_builder *b, uint32_t image)
{
	for (size_t i = 0; i < b->n_copies; i++)
		if (b->copies[i] == image)
			return (true);
	return (false);
}

static void
note_copy(struct hwtdi_space_builder *b, const struct hwtdi_named_file *file)
{
	if (b->record->type == HWTD_REC_KERNEL &&
	    file->elf.type == HWTDI_ELF_CORE && !is_copy(b, file->image) &&
	    b->n_copies < HWTDI_SPACE_MAX_COPIES)
		b->copies[b->n_copies++] = file->image;
}

/* Whether an address shows one. */
static bool
shows_copy(const struct hwtdi_space_builder *b, uint32_t space, uint64_t addr,
    uint32_t *image_out)
{
	struct hwtdi_place place;

	if (b->n_copies == 0)
		return (false);
	hwtdi_timeline_newest(b->space->timeline, space, addr, &place);
	if ((place.piece.flags & HWTDI_PIECE_NOTHING) != 0 ||
	    place.piece.section == HWTD_NO_ID)
		return (false);
	*image_out = b->trace->sections[place.piece.section].image;
	return (is_copy(b, *image_out));
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
	uint32_t copy;
	int rc;

	if ((r->flags & HWTD_RECF_ADDR) == 0 || r->name == NULL)
		return (HWTD_OK);
	/* Memory shows what a file became; what is loaded later is not in it. */
	if (r->type == HWTD_REC_MODULE_LOAD &&
	    ((r->flags & HWTD_RECF_TIME) == 0 || r->time_ns == 0) &&
	    shows_copy(b, space, r->addr, &copy))
		return (hwtdi_load_list_add(&b->loads, b->trace->library,
		    space, r->addr, copy, false, b->seq, b->err));
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
	elf.bias = hwtdi_space_load_bias(b, r, file);
	note_copy(b, file);
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
