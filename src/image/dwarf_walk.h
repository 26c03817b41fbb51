/*
 * All code of an image by its DWARF, unit by unit: stretches of code with their
 * line and the function that they were written in.
 */
#ifndef HWTDI_DWARF_WALK_H
#define HWTDI_DWARF_WALK_H

#include "image/dwarf_image.h"
#include "image/dwarf_lines.h"

#define HWTDI_DWARF_NO_SCOPE UINT32_MAX

/* Code of one row of the table of lines, [low, high). */
struct hwtdi_dwarf_seg {
	uint64_t low, high;
	/* Of the unit's table; line 0: of none. */
	uint32_t file, line;
	/* The innermost one at `low`, or HWTDI_DWARF_NO_SCOPE. */
	uint32_t scope;
	/*
	 * A statement of the line begins at `low`, or goes on from the code right
	 * before it: some compilers mark only the first row of a line.
	 */
	bool is_statement;
};

/* Where a scope is the innermost one. */
struct hwtdi_dwarf_region {
	uint64_t low, high;
	uint32_t scope;
};

struct hwtdi_dwarf_walk {
	struct hwtdi_dwarf_image *image;
	/* Of the unit; borrowed until hwtdi_dwarf_walk_fini(). */
	const struct hwtdi_dwarf_scopes *scopes;
	const struct hwtdi_dwarf_lines *lines;
	/* What of it is damaged; code 0: nothing. */
	const struct hwtd_error *fault;
	/* Rows, files, scopes, ranges and so on that were read for it. */
	uint64_t work;
	struct hwtdi_dwarf_region *regions;
	size_t n_regions, cap_regions;
	uint32_t unit;
	/* The next row, and what came before it. */
	size_t sequence, row;
	struct hwtdi_dwarf_seg last;
};

/* Units, also those without code. */
size_t hwtdi_dwarf_walk_units(const struct hwtdi_dwarf_image *image);

/*
 * Read a unit and stand before its first code.  HWTD_E_NOT_FOUND: it has none, or
 * cannot be read; HWTD_E_NOMEM.
 */
int hwtdi_dwarf_walk_init(struct hwtdi_dwarf_walk *walk,
    struct hwtdi_dwarf_image *image, uint32_t unit, struct hwtd_error *err);

/* The next code of the unit, sequence by sequence; false: there is no more. */
bool hwtdi_dwarf_walk_next(struct hwtdi_dwarf_walk *walk,
    struct hwtdi_dwarf_seg *out);

/* Names of the function of a scope, and where it is declared.  HWTD_E_NOMEM. */
int hwtdi_dwarf_walk_function(struct hwtdi_dwarf_walk *walk, uint32_t scope,
    struct hwtdi_dwarf_frame *out, struct hwtd_error *err);

/* A file of the unit's table; none if it is not there. */
void hwtdi_dwarf_walk_file(const struct hwtdi_dwarf_walk *walk, uint32_t file,
    struct hwtdi_dwarf_frame *out);

/* Give up what was read of the unit. */
void hwtdi_dwarf_walk_fini(struct hwtdi_dwarf_walk *walk);

/*
 * The path of a file from the folder of the compiler on, in `buf` if it has to be
 * put together.  NULL: none.
 */
const char *hwtdi_dwarf_frame_path(const struct hwtdi_dwarf_frame *frame,
    char *buf, size_t cap);

#endif /* HWTDI_DWARF_WALK_H */
