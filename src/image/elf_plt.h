/*
 * Names of the stubs that call into other files: "puts@plt".
 */
#ifndef HWTDI_ELF_PLT_H
#define HWTDI_ELF_PLT_H

#include "image/elf_tables.h"

/* A stub, where the file has it. */
struct hwtdi_elf_stub {
	uint64_t address;
	uint64_t size;
	/* Of the symbol, borrowed from the file; NULL: it is known by .. */
	const char *name;
	/* .. the address of the function that finds the one to call (ifunc). */
	uint64_t finder;
};

/*
 * The next stub of a file, x86 or AArch64; false: there are no more.  Begin with
 * all zero.
 *
 * Which symbol a stub calls is read from its code, which loads a slot, and the
 * relocation of that slot; tools lay stubs out differently.
 */
struct hwtdi_elf_stubs {
	/* Slots and what they are for, by address. */
	struct hwtdi_elf_slot *slots;
	size_t n, cap;
	/* The same of .rel[a].plt, by number. */
	struct hwtdi_elf_slot *pushed;
	size_t n_pushed, cap_pushed;
	/* The table that EBX points to. */
	uint64_t got;
	/* The section that is read, and the next byte of it. */
	uint32_t section;
	uint64_t off;
};

/* HWTD_E_NOMEM; a file without stubs has none. */
int hwtdi_elf_stubs_init(struct hwtdi_elf_stubs *stubs,
    struct hwtd_context *ctx, const struct hwtdi_elf_tables *file,
    struct hwtd_error *err);

bool hwtdi_elf_stubs_next(struct hwtdi_elf_stubs *stubs,
    const struct hwtdi_elf_tables *file, struct hwtdi_elf_stub *out);

void hwtdi_elf_stubs_fini(struct hwtdi_elf_stubs *stubs,
    struct hwtd_context *ctx);

#endif /* HWTDI_ELF_PLT_H */
