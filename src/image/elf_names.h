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
	/* 0: it goes on to the next one. */
	uint64_t size;
	/* Borrowed from the file. */
	const char *name;
	/* How well it names its place, where several do. */
	uint32_t rank;
	uint32_t no;
};

/* A piece of the file that is mapped. */
struct hwtdi_elf_load {
	uint64_t file_off, n_bytes, address;
};

/* All zero: none. */
struct hwtdi_elf_names {
	/* By address, one for each; functions and what has no type. */
	struct hwtdi_elf_name *at;
	size_t n, cap;
	struct hwtdi_elf_load *loads;
	size_t n_loads, cap_loads;
};

/*
 * Of a file, whose bytes must stay as long: SHT_SYMTAB, else SHT_DYNSYM.
 * One without symbols is no failure.  HWTD_E_NOMEM.
 */
int hwtdi_elf_names_init(struct hwtdi_elf_names *names,
    struct hwtd_context *ctx, const struct hwtdi_elf_tables *file,
    struct hwtd_error *err);

/* Where a byte of the file is mapped, of an object itself; false: nowhere. */
bool hwtdi_elf_names_address(const struct hwtdi_elf_names *names,
    uint64_t file_off, uint64_t *address_out);

/* The symbol that an address is in; NULL: none. */
const struct hwtdi_elf_name *hwtdi_elf_names_find(
    const struct hwtdi_elf_names *names, uint64_t address);

void hwtdi_elf_names_fini(struct hwtdi_elf_names *names,
    struct hwtd_context *ctx);

#endif /* HWTDI_ELF_NAMES_H */
