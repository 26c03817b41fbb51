/*
 * Functions of an ELF file by name, and where its code lies, for filters by
 * address.
 *
 * All is counted as in the file: by virtual address in linked files, by offset
 * in the file in objects (ET_REL).
 */
#ifndef HWTDI_ELF_FUNCTIONS_H
#define HWTDI_ELF_FUNCTIONS_H

#include "base/near_names.h"
#include "image/elf_file.h"
#include "image/elf_object.h"

/* Functions of one name. */
#define HWTDI_ELF_FUNCTIONS_MAX 1024u

/* An executable segment, or a section of an object that is code. */
struct hwtdi_elf_code_part {
	/* In the file; both ends are inside. */
	uint64_t first;
	uint64_t last;
	/* Where the first byte is in memory; the last one does not wrap. */
	uint64_t address;
	/* Of an object: index of the section. */
	uint32_t section;
	/* Of an object: only padding lies between it and the part before. */
	bool padded;
};

struct hwtdi_elf_code {
	struct hwtdi_elf_code_part *parts;
	size_t n, cap;
	bool is_object;
	/* Bit 0 of the address of a function says that it is Thumb code. */
	bool has_thumb;
};

/* Of a linked file, moved by `bias`.  HWTD_E_NOMEM. */
int hwtdi_elf_code_init_linked(struct hwtdi_elf_code *code,
    struct hwtd_context *ctx, const struct hwtdi_elf_file *file, uint64_t bias,
    struct hwtd_error *err);

/* Of an object that was placed, by section.  HWTD_E_NOMEM. */
int hwtdi_elf_code_init_object(struct hwtdi_elf_code *code,
    struct hwtd_context *ctx, const struct hwtdi_elf_object *object,
    struct hwtd_error *err);

/* The part that has all of [first, last]; NULL: none has. */
const struct hwtdi_elf_code_part *hwtdi_elf_code_find(
    const struct hwtdi_elf_code *code, uint64_t first, uint64_t last);

void hwtdi_elf_code_fini(struct hwtdi_elf_code *code,
    struct hwtd_context *ctx);

struct hwtdi_elf_function {
	/* In one part; both ends are inside. */
	uint64_t first;
	uint64_t last;
	/* It has no size, and ends where the next one begins: a guess. */
	bool guessed;
};

/* What there is of one name. */
struct hwtdi_elf_functions {
	/* By address. */
	struct hwtdi_elf_function *at;
	size_t n, cap;
	/* Also, or only: indirect (ifunc); no code; in another file. */
	bool indirect;
	bool data;
	bool elsewhere;
	/* The file has symbols that are not for dynamic linking. */
	bool complete;
};

/*
 * All functions called `name` in the symbols of `file`, which is the file of
 * the code or has its debug information: global and local ones, of SHT_SYMTAB
 * and SHT_DYNSYM.  "name@VERSION" and "name@@VERSION" have that version, and
 * "name" has any.
 *
 * None is no failure.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_elf_functions_find(struct hwtdi_elf_functions *functions,
    struct hwtd_context *ctx, const struct hwtdi_elf_code *code,
    const struct hwtdi_elf_tables *file, const char *name,
    struct hwtd_error *err);

void hwtdi_elf_functions_fini(struct hwtdi_elf_functions *functions,
    struct hwtd_context *ctx);

/* Offer the names of all functions that the file itself has. */
void hwtdi_elf_functions_near(const struct hwtdi_elf_tables *file,
    struct hwtdi_near_names *near);

#endif /* HWTDI_ELF_FUNCTIONS_H */
