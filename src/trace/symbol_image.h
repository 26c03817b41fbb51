/*
 * The symbols and lines of one image of a trace: which files have them.
 */
#ifndef HWTDI_SYMBOL_IMAGE_H
#define HWTDI_SYMBOL_IMAGE_H

#include "image/dwarf_image.h"
#include "image/elf_names.h"
#include "trace/trace_model.h"

/* All zero: not opened. */
struct hwtdi_symbol_image {
	bool opened;
	struct hwtdi_elf_names names;
	/* NULL: none. */
	struct hwtdi_dwarf_image *dwarf;
	/* The file of the code, of its debug information, and packed symbols. */
	struct hwtdi_image_found *code, *debug;
	/* The file of the code as ELF; `bytes` NULL: it is none, or not there. */
	struct hwtdi_elf_tables tables;
	uint8_t *packed;
	uint64_t n_packed;
	/* Why something of them cannot be used. */
	struct hwtd_error fault;
};

/* What to look for, and where. */
struct hwtdi_symbol_search {
	struct hwtdi_image_places places;
	bool lines, debug_files;
};

/*
 * Find and open the files of an image.  What is not there or damaged is no
 * failure.  The search has to stay as long as the image.  HWTD_E_NOMEM.
 */
int hwtdi_symbol_image_open(struct hwtdi_symbol_image *image,
    const struct hwtd_trace *trace, uint32_t no,
    const struct hwtdi_symbol_search *search, struct hwtd_error *err);

void hwtdi_symbol_image_fini(struct hwtdi_symbol_image *image,
    struct hwtd_context *ctx);

#endif /* HWTDI_SYMBOL_IMAGE_H */
