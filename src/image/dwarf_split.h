/*
 * Split DWARF: the part of a unit that is in a file of its own (.dwo), or in a
 * package of them (.dwp).
 */
#ifndef HWTDI_DWARF_SPLIT_H
#define HWTDI_DWARF_SPLIT_H

#include "image/dwarf_die.h"
#include "image/image_search.h"

/* Where the parts are; all of it borrowed. */
struct hwtdi_dwarf_split_places {
	/* The file of the skeletons, and that of the code; NULL: not known. */
	const char *debug_path, *code_path;
	/* NULL: only beside these. */
	const struct hwtdi_image_places *places;
};

/*
 * Open the package of a program, beside it with ".dwp" behind its name.
 *
 * HWTD_E_NOT_FOUND, HWTD_E_CORRUPT, HWTD_E_NOMEM.
 */
int hwtdi_dwarf_package_open(struct hwtdi_dwarf_file *package,
    struct hwtd_context *ctx, const struct hwtdi_dwarf_split_places *places,
    struct hwtd_error *err);

/*
 * The unit of a package that belongs to `skeleton`.
 * HWTD_E_NOT_FOUND, HWTD_E_CORRUPT.
 */
int hwtdi_dwarf_package_find(const struct hwtdi_dwarf_file *package,
    const struct hwtdi_dwarf_unit *skeleton, struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err);

/*
 * Open the file that `skeleton` names, and find its unit there.  The name is
 * hostile: what is opened is a regular file or nothing, and has to have the id
 * that the skeleton asks for.
 *
 * HWTD_E_NOT_FOUND, HWTD_E_CORRUPT, HWTD_E_NOMEM.
 */
int hwtdi_dwarf_split_open(struct hwtdi_dwarf_file *file,
    struct hwtd_context *ctx, const struct hwtdi_dwarf_split_places *places,
    const struct hwtdi_dwarf_unit *skeleton, struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err);

#endif /* HWTDI_DWARF_SPLIT_H */
