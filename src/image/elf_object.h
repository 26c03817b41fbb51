/*
 * Where a kernel puts the sections of a relocatable object (ET_REL), as
 * kernel modules are on FreeBSD/amd64 and on Linux.
 *
 * Each kernel has rules of its own, told at its function.  What is placed and
 * holds code gives pieces as of linked files; elf_relocate.h changes the code
 * as the kernel did.
 */
#ifndef HWTDI_ELF_OBJECT_H
#define HWTDI_ELF_OBJECT_H

#include "image/elf_load.h"
#include "image/elf_tables.h"

/* Sections of one object. */
#define HWTDI_ELF_MAX_SECTIONS (1u << 17)

/* One section, by its index. */
struct hwtdi_elf_place {
	/* The rules put it at `address`. */
	bool placed;
	/* It is code, and the file has bytes for it. */
	bool code;
	uint64_t address;
};

struct hwtdi_elf_object {
	struct hwtdi_elf_tables tables;
	struct hwtdi_elf_place *places;
	uint32_t n_places;
	/* After the last byte that was placed, without what is of init. */
	uint64_t end;
};

/*
 * Place the sections as FreeBSD's kernel linker does; the boot loader places
 * those of preloaded modules alike.  `name` and `bytes` are borrowed by the
 * object.
 *
 * HWTD_E_UNRECOGNIZED (no ELF), HWTD_E_UNSUPPORTED (not ET_REL),
 * HWTD_E_CORRUPT, HWTD_E_LIMIT, HWTD_E_NOMEM.
 */
int hwtdi_elf_object_init_freebsd(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, const char *name, const void *bytes,
    uint64_t n_bytes, uint64_t address, struct hwtd_error *err);

/*
 * Place the sections as Linux does.  `address` is that of its text, as
 * /proc/modules tells.  What is used while it starts (".init*") is placed at
 * `init_address`; 0: it is not placed, for it is soon gone.
 *
 * Read-only and writable data follow the text, each from a new page, as Linux
 * to 6.3 placed them; newer ones put them elsewhere, which only matters to
 * relocations that name data.  On AArch64 the loader makes room for veneers
 * (.plt sections) first, which moves what follows; that is not reproduced.
 */
int hwtdi_elf_object_init_linux(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, const char *name, const void *bytes,
    uint64_t n_bytes, uint64_t address, uint64_t init_address, uint64_t page,
    struct hwtd_error *err);

/*
 * As the kernel does that the module is for, told by its sections: Linux's
 * modules have .modinfo.  Init sections and page as in .._linux with 0.
 */
int hwtdi_elf_object_init(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, const char *name, const void *bytes,
    uint64_t n_bytes, uint64_t address, struct hwtd_error *err);
bool hwtdi_elf_object_is_for_linux(const struct hwtdi_elf_tables *tables);

void hwtdi_elf_object_fini(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx);

/*
 * A piece for each section of code that was placed.  hwtdi_elf_layout_fini()
 * gives it back.
 */
int hwtdi_elf_object_layout(const struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, struct hwtdi_elf_layout *layout,
    struct hwtd_error *err);

#endif /* HWTDI_ELF_OBJECT_H */
