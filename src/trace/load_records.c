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
	struct hwtdi_shown_elf elf = { .loaded = true };
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
		    r->addr, b->seq, b->err);
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
	const struct hwtdi_load *load;
	int rc = HWTD_OK;

	if ((r->flags & HWTD_RECF_ADDR) == 0)
		return (HWTD_OK);
	load = hwtdi_load_list_take(&b->loads, space, r->addr, b->seq);
	for (size_t i = 0; load != NULL && i < load->n_pieces && rc == HWTD_OK;
	     i++) {
		const struct hwtdi_load_piece
		    *p = &b->loads.pieces[load->piece + i];

		rc = hwtdi_timeline_unmap(b->space->timeline, b->seq, space,
		    p->address, p->length, b->err);
	}
	return (rc);
}
