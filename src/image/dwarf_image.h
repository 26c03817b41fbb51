/*
 * Files, lines and inlined functions by address, from the DWARF of one image.
 *
 * Units are indexed by the addresses that they cover; all else of a unit is read
 * when an address of it is asked for, and given up again.  So a file of a
 * gigabyte is looked into at a few places.
 *
 * Everything in the file is hostile: damage is an error with the section and the
 * offset, and what can be told in spite of it is told.
 */
#ifndef HWTDI_DWARF_IMAGE_H
#define HWTDI_DWARF_IMAGE_H

#include "image/dwarf_scopes.h"
#include "image/dwarf_split.h"

/* Where code comes from.  Texts are in place, and hold until the next call. */
struct hwtdi_dwarf_frame {
	/* The function; NULL: not known.  The linkage name is mangled. */
	const char *linkage_name, *name;
	/* A file is relative to `dir`, and that to `comp_dir`; NULL: none. */
	const char *comp_dir, *dir, *file;
	/* 0: not known. */
	uint32_t line, column, discriminator;
	/* Where the function is declared; 0: not known, of the file also that. */
	uint32_t decl_line, decl_file;
};

struct hwtdi_dwarf_image;

/* What an image is opened with; all of it borrowed while it is open. */
struct hwtdi_dwarf_source {
	/* Name of the file with the DWARF, for messages. */
	const char *name;
	/* Where it lies; mapped if there are no bytes of it.  NULL: nowhere. */
	const char *path;
	const void *bytes;
	uint64_t n_bytes;
	/* The file with the code, if it is another one; NULL. */
	const char *code_path;
	/* The code of an object (ET_REL), if it is another file; NULL. */
	const struct hwtdi_elf_tables *code;
	/* For files of split DWARF; NULL: only beside these. */
	const struct hwtdi_image_places *places;
	/* Others share it: it does so with none itself. */
	bool is_shared;
};

/*
 * Open and index.  HWTD_E_NOT_FOUND: there is no DWARF; others as of
 * hwtdi_dwarf_file_open().
 */
int hwtdi_dwarf_image_open(struct hwtd_context *ctx,
    const struct hwtdi_dwarf_source *source, struct hwtdi_dwarf_image **out,
    struct hwtd_error *err);

/*
 * Where the code at an address (as the file has it) comes from: the innermost
 * function first, each with where it calls the one before.
 *
 * HWTD_OK; HWTD_E_NOT_FOUND: no unit has it, or, with a message, a file that has
 * more is not there; HWTD_E_CORRUPT: the DWARF of it is damaged, frames that are
 * told are whole; HWTD_E_LIMIT; HWTD_E_NOMEM.
 */
int hwtdi_dwarf_image_find(struct hwtdi_dwarf_image *image, uint64_t address,
    struct hwtdi_dwarf_frame frames[HWTDI_DWARF_DEPTH_MAX], size_t *n_out,
    struct hwtd_error *err);

/* What was damaged when it was indexed; NULL: nothing. */
const struct hwtd_error *hwtdi_dwarf_image_fault(const struct hwtdi_dwarf_image
	*image);

/*
 * Bytes that units hold; give up those asked for longest ago, down to `most`.  Only
 * for 0 that asked for last is given up, which is what addresses are in again.
 */
uint64_t hwtdi_dwarf_image_bytes(const struct hwtdi_dwarf_image *image);
void hwtdi_dwarf_image_trim(struct hwtdi_dwarf_image *image, uint64_t most);

/* Its sections. */
const struct hwtdi_dwarf_file *hwtdi_dwarf_image_file(
    const struct hwtdi_dwarf_image *image);

void hwtdi_dwarf_image_close(struct hwtdi_dwarf_image *image);

#endif /* HWTDI_DWARF_IMAGE_H */
