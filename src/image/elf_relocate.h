/*
 * Relocations of objects (ET_REL) that change code, applied to a copy of the
 * file.
 */
#ifndef HWTDI_ELF_RELOCATE_H
#define HWTDI_ELF_RELOCATE_H

#include "image/elf_object.h"

/* Who links an object to what is there. */
struct hwtdi_elf_linker {
	void *arg;
	/*
	 * Address of a symbol that the object lacks, for instance of the
	 * kernel; false if it is not known.  `name` is borrowed during the
	 * call and hostile.  NULL: none is known.
	 */
	bool (*resolve_fn)(void *arg, const char *name, uint64_t *address_out);
	/*
	 * [off, off + n) of the file is where a direct branch goes, and it was
	 * left as it is: executing it leads nowhere that is known.  May be
	 * NULL.
	 */
	void (*left_fn)(void *arg, uint64_t off, uint64_t n);
	/* Whatever was told of it before, this is what is there.  May be NULL. */
	void (*known_fn)(void *arg, uint64_t off, uint64_t n);
};

/* Relocations of code, by what came of them; what was not done is left. */
struct hwtdi_elf_relocated {
	uint64_t n_done;
	/* Symbols that nobody knows, or that lie in sections without a place. */
	uint64_t n_unresolved;
	/* Of a type that is not known here. */
	uint64_t n_unknown;
	/* The value does not fit, or the place is outside of the section. */
	uint64_t n_unfit;
};

/*
 * Change the code in `copy`, which has as many bytes as the file and at first
 * the same.  x86-64, i386 and AArch64, little-endian.
 *
 * HWTD_E_UNSUPPORTED (another machine or byte order), HWTD_E_CORRUPT (tables
 * overlap so much that it would take for ever; `copy` is half done).
 */
int hwtdi_elf_relocate(const struct hwtdi_elf_object *object,
    const struct hwtdi_elf_linker *linker, uint8_t *copy,
    struct hwtdi_elf_relocated *out, struct hwtd_error *err);

#endif /* HWTDI_ELF_RELOCATE_H */
