/*
 * Names of code and data by address in an ELF file: which symbol an address is
 * in.
 */
#ifndef HWTDI_ELF_NAMES_H
#define HWTDI_ELF_NAMES_H

#include "image/elf_tables.h"

struct hwtdi_elf_name {
	/* As the file has it, before it is moved; of an object, where it is in it. */
	uint64_t address;
	/* As the file says; 0: it goes on to `end`. */
	uint64_t size;
	/* No byte behind this one is of it. */
	uint64_t end;
	/* Borrowed from the file. */
	const char *name;
	/* Bytes of the name. */
	uint32_t length;
	/* How well it names its place, where several do. */
	uint32_t rank;
	/* HWTDI_ELF_NAME_* bits. */
	uint32_t flags;
};

/* A bit of `rank`: it has no type, so it may be no function. */
#define HWTDI_ELF_NAME_NO_FUNCTION (1u << 8)

/* What stands there finds the function to call (ifunc). */
#define HWTDI_ELF_NAME_FINDER 0x1
/* A stub that calls it: it is to be shown as "name@plt". */
#define HWTDI_ELF_NAME_STUB 0x2
/* For dynamic linking only: local functions have no names. */
#define HWTDI_ELF_NAME_DYNAMIC 0x4

/* A piece of the file that is mapped. */
struct hwtdi_elf_load {
	uint64_t file_off, n_bytes, address;
};

/* All zero: none. */
struct hwtdi_elf_names {
	/* By address, one for each; functions and what has no type. */
	struct hwtdi_elf_name *at;
	size_t n, cap;
	/* Up to where the names before and at each reach. */
	uint64_t *reach;
	size_t cap_reach;
	struct hwtdi_elf_load *loads;
	size_t n_loads, cap_loads;
};

/*
 * Of a file, whose bytes must stay as long: SHT_SYMTAB, else SHT_DYNSYM, and
 * stubs.  One without symbols is no failure.  HWTD_E_NOMEM.
 *
 * Of names at one address that is taken which people know best: of functions
 * before what has no type, with a size before those without, not local before
 * local, then with fewer underscores at the front ("write", not "__libc_write" or
 * "__GI_write"), global before weak, the shorter one, and the first by its
 * bytes.
 */
int hwtdi_elf_names_init(struct hwtdi_elf_names *names,
    struct hwtd_context *ctx, const struct hwtdi_elf_tables *file,
    struct hwtd_error *err);

/*
 * Add those of a further file about the same code: of its debug information, or
 * of symbols that were packed into it.  HWTD_E_NOMEM.
 */
int hwtdi_elf_names_add(struct hwtdi_elf_names *names,
    struct hwtd_context *ctx, const struct hwtdi_elf_tables *file,
    struct hwtd_error *err);

/* Some are of code that is not only for dynamic linking. */
bool hwtdi_elf_names_complete(const struct hwtdi_elf_names *names);

/* Where a byte of the file is mapped, of an object itself; false: nowhere. */
bool hwtdi_elf_names_address(const struct hwtdi_elf_names *names,
    uint64_t file_off, uint64_t *address_out);

/* The symbol that an address is in; NULL: none. */
const struct hwtdi_elf_name *hwtdi_elf_names_find(
    const struct hwtdi_elf_names *names, uint64_t address);

void hwtdi_elf_names_fini(struct hwtdi_elf_names *names,
    struct hwtd_context *ctx);

#endif /* HWTDI_ELF_NAMES_H */
