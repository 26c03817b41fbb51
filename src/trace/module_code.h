/*
 * Code of kernel modules that are objects (ET_REL): laid out and linked as
 * their kernel does it.
 */
#ifndef HWTDI_MODULE_CODE_H
#define HWTDI_MODULE_CODE_H

#include "image/elf_symbols.h"

struct hwtdi_image_found;
struct hwtdi_named_file;
struct hwtdi_space_builder;

/* Places where one file is linked; at further ones its code is unknown. */
#define HWTDI_MODULE_MAX_PLACES 64u

/* Unknown stretches that all loads together map; then modules are unknown. */
#define HWTDI_MODULE_MAX_HOLES (1u << 20)

/* Bytes of all linked files together. */
#define HWTDI_MODULE_MAX_BYTES ((uint64_t)1 << 30)

/* Bytes of a file that nobody knows. */
struct hwtdi_module_hole {
	uint64_t off;
	uint64_t n;
};

/* A file as it is when it is linked for one place. */
struct hwtdi_module_link {
	uint64_t addr;
	/* Of the kernel that loads it. */
	uint32_t vmid;
	/* Owned by the trace. */
	const uint8_t *code;
	/* By offset; they do not overlap. */
	struct hwtdi_module_hole *holes;
	size_t n_holes, cap_holes;
	/* Index + 1 of another one of this file. */
	size_t before;
};

/* A kernel, with what it and its modules offer to others. */
struct hwtdi_kernel {
	/* HWTD_NO_ID: the host's. */
	uint32_t vmid;
	struct hwtdi_elf_symbols symbols;
};

/* All zero: nothing yet. */
struct hwtdi_modules {
	struct hwtdi_kernel *kernels;
	size_t n_kernels, cap_kernels;
	/* Files of debug information that have symbols. */
	struct hwtdi_image_found **found;
	size_t n_found, cap_found;
	struct hwtdi_module_link *links;
	size_t n_links, cap_links;
	uint64_t n_holes, n_bytes;
};

/*
 * The record at hand loads the object `file`: map its code, and add the pieces
 * to the load that was added last.  Where a direct branch goes to what nobody
 * knows, its bytes are unknown.  An object that cannot be laid out is a
 * missing image that says why.
 *
 * HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_module_map(struct hwtdi_space_builder *b, uint32_t space,
    struct hwtdi_named_file *file);

void hwtdi_modules_fini(struct hwtdi_modules *modules,
    struct hwtd_context *ctx);

#endif /* HWTDI_MODULE_CODE_H */
