/*
 * The file that several files of debug information share: dwz(1) puts there what
 * is the same in them.
 */
#ifndef HWTDI_DWARF_SHARED_H
#define HWTDI_DWARF_SHARED_H

#include "image/dwarf_file.h"
#include "image/image_search.h"

struct hwtdi_dwarf_image;

/* All zero: there is none. */
struct hwtdi_dwarf_shared {
	/* Its entries and texts; NULL: none is named, or `fault` says why. */
	struct hwtdi_dwarf_image *image;
	struct hwtdi_image_found *found;
	struct hwtd_error fault;
};

/*
 * Open the file that `file` names as the one that it shares.  The name is hostile:
 * what is opened is a regular file that has the build-id asked for.  `places` NULL:
 * nowhere.  HWTD_OK also if it is not there, or damaged; HWTD_E_NOMEM.
 */
int hwtdi_dwarf_shared_open(struct hwtdi_dwarf_shared *shared,
    const struct hwtdi_dwarf_file *file,
    const struct hwtdi_image_places *places, struct hwtd_error *err);

void hwtdi_dwarf_shared_close(struct hwtdi_dwarf_shared *shared,
    struct hwtd_context *ctx);

#endif /* HWTDI_DWARF_SHARED_H */
