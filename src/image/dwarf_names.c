/*
 * What functions of DWARF are called, and where files of lines are.
 */
#include <string.h>

#include "base/fail.h"
#include "image/dwarf_image_internal.h"

/* A DIE says by others what it is called, and these by others. */
#define MOST_ORIGINS 16u

static uint32_t
number(const struct hwtdi_dwarf_die *die, enum hwtdi_dwarf_attribute attribute)
{
	const uint64_t v = hwtdi_dwarf_die_number(die, attribute, 0);

	return (v <= UINT32_MAX ? (uint32_t)v : 0);
}

/*
 * The view of a DIE that may be in another unit than that of `entry` (NULL: any);
 * HWTD_E_NOT_FOUND: it is in none.
 */
static int
view_at(struct hwtdi_dwarf_image *image, const struct hwtdi_dwarf_entry *entry,
    uint64_t off, struct hwtdi_dwarf_view *out, struct hwtd_error *err)
{
	struct hwtdi_dwarf_entry *other;
	int rc;

	*out = (struct hwtdi_dwarf_view){ .file = &image->file };
	if (entry != NULL) {
		*out = hwtdi_dwarf_image_view(image, entry);
		if (off >= out->unit->dies && off < out->unit->end)
			return (HWTD_OK);
	}
	other = out->file == &image->file
	    ? hwtdi_dwarf_image_unit_at(image, off)
	    : NULL;
	if (other == NULL || off < other->unit.dies)
		return (HWTD_E_NOT_FOUND);
	rc = hwtdi_dwarf_image_load(image, other, err);
	*out = (struct hwtdi_dwarf_view){ &image->file, &other->unit,
		&image->file, &other->unit,
		rc == HWTD_OK ? &other->loaded->abbrevs : NULL };
	return (rc);
}

/* What a DIE says of its name; `to` is the one that says more, or NULL. */
static bool
take_names(const struct hwtdi_dwarf_view *view,
    const struct hwtdi_dwarf_die *die, struct hwtdi_dwarf_frame *frame,
    const struct hwtdi_dwarf_value **to)
{
	const struct hwtdi_dwarf_value *name = hwtdi_dwarf_die_get(die,
					   HWTDI_DW_NAME),
				       *linkage = hwtdi_dwarf_die_get(die,
					   HWTDI_DW_LINKAGE_NAME);

	if (frame->name == NULL)
		frame->name = hwtdi_dwarf_text(view->file, view->unit, name);
	frame->linkage_name = hwtdi_dwarf_text(view->file, view->unit,
	    linkage);
	*to = hwtdi_dwarf_die_get(die, HWTDI_DW_ORIGIN);
	if (*to == NULL)
		*to = hwtdi_dwarf_die_get(die, HWTDI_DW_SPECIFICATION);
	/* False: it is in a file that is not there. */
	return (view->file->shared != NULL ||
	    ((name == NULL || name->kind != HWTDI_DW_SHARED_STR_OFFSET) &&
		(linkage == NULL ||
		    linkage->kind != HWTDI_DW_SHARED_STR_OFFSET) &&
		(*to == NULL || (*to)->kind != HWTDI_DW_SHARED_REFERENCE)));
}

int
hwtdi_dwarf_image_names(struct hwtdi_dwarf_image *image,
    const struct hwtdi_dwarf_entry *entry, uint64_t off,
    struct hwtdi_dwarf_frame *frame, struct hwtd_error *fault,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };

	for (unsigned int i = 0; i < MOST_ORIGINS; i++) {
		const struct hwtdi_dwarf_value *to;
		struct hwtdi_dwarf_reader r;
		struct hwtdi_dwarf_view view;
		struct hwtdi_dwarf_die die;
		int rc;

		rc = view_at(image, entry, off, &view, err);
		if (rc == HWTD_E_NOT_FOUND)
			rc = hwtdi_dwarf_fail(&inner, view.file,
			    HWTDI_DWARF_INFO, off, "no unit has this entry");
		else if (rc != HWTD_OK)
			return (rc);
		if (rc == HWTD_OK) {
			r = hwtdi_dwarf_unit_reader(view.file, view.unit, off);
			rc = hwtdi_dwarf_die_next(&view, &r, &die, &inner);
		}
		if (rc != HWTD_OK)
			return (hwtdi_dwarf_image_note(fault, rc, &inner,
			    err));
		if (frame->decl_line == 0) {
			frame->decl_line = number(&die, HWTDI_DW_DECL_LINE);
			/* Of other tables of files it says nothing here. */
			if (entry != NULL && view.unit == &entry->unit)
				frame->decl_file = number(&die,
				    HWTDI_DW_DECL_FILE);
		}
		if (!take_names(&view, &die, frame, &to) &&
		    image->shared.fault.code != HWTD_OK)
			(void)hwtdi_dwarf_image_note(fault, HWTD_E_NOT_FOUND,
			    &image->shared.fault, err);
		if (frame->linkage_name != NULL || to == NULL)
			return (HWTD_OK);
		off = to->v;
		if (to->kind == HWTDI_DW_SHARED_REFERENCE &&
		    image->shared.image != NULL) {
			image = image->shared.image;
			entry = NULL;
		} else if (to->kind != HWTDI_DW_REFERENCE) {
			return (HWTD_OK);
		}
	}
	return (HWTD_OK);
}

void
hwtdi_dwarf_image_set_file(const struct hwtdi_dwarf_entry *entry,
    uint32_t file, struct hwtdi_dwarf_frame *frame)
{
	const struct hwtdi_dwarf_lines *lines = &entry->loaded->lines;
	bool whole;

	if (!hwtdi_dwarf_lines_file(lines, file, &frame->dir, &whole,
		&frame->file) ||
	    whole)
		return;
	frame->comp_dir = entry->unit.comp_dir;
	if (frame->comp_dir == NULL && lines->version >= 5 &&
	    lines->n_dirs > 0)
		frame->comp_dir = lines->dirs[0];
}
