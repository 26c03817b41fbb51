/*
 * What an image with DWARF is made of, for the files that read it.
 */
#ifndef HWTDI_DWARF_IMAGE_INTERNAL_H
#define HWTDI_DWARF_IMAGE_INTERNAL_H

#include "image/dwarf_image.h"
#include "image/dwarf_lines.h"
#include "image/dwarf_shared.h"

/* What was read of a unit. */
struct hwtdi_dwarf_loaded {
	uint64_t used;
	uint64_t bytes;
	struct hwtdi_dwarf_abbrevs abbrevs;
	struct hwtdi_dwarf_scopes scopes;
	struct hwtdi_dwarf_lines lines;
	bool has_abbrevs, has_scopes, has_lines;
	/* The part of it that is elsewhere; of a package the file is that. */
	bool asked_split, has_split;
	struct hwtdi_dwarf_file own_file;
	const struct hwtdi_dwarf_file *split_file;
	struct hwtdi_dwarf_unit split_unit;
	struct hwtdi_dwarf_abbrevs split_abbrevs;
	/* The first thing that is damaged, or not there. */
	struct hwtd_error fault;
};

struct hwtdi_dwarf_entry {
	struct hwtdi_dwarf_unit unit;
	/* Its root can be read; it has code. */
	bool usable, covered;
	struct hwtdi_dwarf_loaded *loaded;
};

struct hwtdi_dwarf_unit_piece {
	uint64_t low, high, reach;
	uint32_t unit;
};

struct hwtdi_dwarf_image {
	struct hwtd_context *ctx;
	struct hwtdi_dwarf_file file;
	struct hwtdi_dwarf_split_places places;
	struct hwtdi_dwarf_shared shared;
	/* By offset. */
	struct hwtdi_dwarf_entry *units;
	size_t n_units, cap_units;
	/* By address. */
	struct hwtdi_dwarf_unit_piece *pieces;
	size_t n_pieces, cap_pieces;
	bool asked_package, has_package;
	struct hwtdi_dwarf_file package;
	uint64_t clock, bytes;
	/* What the index may still take. */
	uint64_t left;
	struct hwtd_error fault;
};

/* Keep the first of several errors; HWTD_E_NOMEM goes on as such. */
int hwtdi_dwarf_image_note(struct hwtd_error *fault, int rc,
    const struct hwtd_error *err, struct hwtd_error *caller);

/* What entries of a unit are read with. */
struct hwtdi_dwarf_view hwtdi_dwarf_image_view(const struct hwtdi_dwarf_image
						   *image,
    const struct hwtdi_dwarf_entry *entry);

/* The unit that has an offset; NULL: none. */
struct hwtdi_dwarf_entry *hwtdi_dwarf_image_unit_at(
    struct hwtdi_dwarf_image *image, uint64_t off);

/*
 * Read the abbreviations of a unit, its scopes, its lines.  What of them is
 * damaged is in its fault.  HWTD_E_NOMEM.
 */
int hwtdi_dwarf_image_load(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry, struct hwtd_error *err);
int hwtdi_dwarf_image_load_scopes(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry, struct hwtd_error *err);
int hwtdi_dwarf_image_load_lines(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry, struct hwtd_error *err);
void hwtdi_dwarf_image_unload(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry);

/* Names of the function that an entry is of.  HWTD_E_NOMEM. */
int hwtdi_dwarf_image_names(struct hwtdi_dwarf_image *image,
    const struct hwtdi_dwarf_entry *entry, uint64_t off,
    struct hwtdi_dwarf_frame *frame, struct hwtd_error *fault,
    struct hwtd_error *err);

/* A file of the lines of a unit. */
void hwtdi_dwarf_image_set_file(const struct hwtdi_dwarf_entry *entry,
    uint32_t file, struct hwtdi_dwarf_frame *frame);

#endif /* HWTDI_DWARF_IMAGE_INTERNAL_H */
