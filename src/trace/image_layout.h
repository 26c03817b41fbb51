/*
 * Where the bytes of an image's file have their addresses, as the file says: by
 * its program headers, wherever it was loaded.
 */
#ifndef HWTDI_IMAGE_LAYOUT_H
#define HWTDI_IMAGE_LAYOUT_H

#include <stdbool.h>

#include "trace/trace_model.h"

/* Segments of one file; a file with more is refused. */
#define HWTDI_LAYOUT_SEGMENTS 1024u

/* A PT_LOAD. */
struct hwtdi_layout_segment {
	uint64_t vaddr;
	uint64_t file_off;
	uint64_t file_bytes;
	bool executable;
};

/* All zero: none. */
struct hwtdi_image_layout {
	struct hwtd_context *ctx;
	struct hwtdi_layout_segment *segments;
	size_t n_segments, cap_segments;
	/* It is run, not only loaded: not moved, or with an interpreter. */
	bool is_program;
	/* Addresses are where it is loaded. */
	bool is_fixed;
};

/*
 * Read the program headers of an image: of the bytes that the trace has of it,
 * else of its file.
 *
 * HWTD_E_NOT_FOUND (its file is not there), HWTD_E_UNSUPPORTED (no ELF file, or
 * one without executable segments: JIT code, a kernel module), HWTD_E_CORRUPT,
 * HWTD_E_NOMEM.  Messages begin with the name of the image.
 */
int hwtdi_image_layout_init(struct hwtdi_image_layout *layout,
    const struct hwtd_trace *trace, uint32_t image, struct hwtd_error *err);
void hwtdi_image_layout_fini(struct hwtdi_image_layout *layout);

/* The address of a byte of the file; false: it is not loaded. */
bool hwtdi_image_layout_address(const struct hwtdi_image_layout *layout,
    uint64_t file_off, uint64_t *address_out);

#endif /* HWTDI_IMAGE_LAYOUT_H */
