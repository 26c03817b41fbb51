/*
 * Writes ELF files with executable segments and symbols in them.
 */
#ifndef TEST_CODE_FILE_H
#define TEST_CODE_FILE_H

#include "support/elf_writer.h"

#define CODE_FILE_PAGE 0x1000u
#define CODE_FUNC 2
#define CODE_GLOBAL 0x10
#define CODE_ABS 0xfff1

struct code_symbol {
	const char *name;
	/* st_info */
	uint8_t info;
	/* 0: undefined; n: in segment or section of code n, from 1 on. */
	uint16_t section;
	uint64_t value;
	uint64_t size;
	/* Of dynamic ones, vs_index; 0: none. */
	uint16_t version;
};

/* Code from `vaddr` on, which begins a page; of an object vaddr does not count. */
struct code_area {
	uint64_t vaddr;
	uint64_t size;
	/* Bytes at its end that are of no section. */
	uint64_t rest;
};

struct code_spec {
	bool is_32;
	bool is_big;
	/* 0: ET_DYN, EM_X86_64 */
	uint16_t type;
	uint16_t machine;
	const struct code_area *areas;
	size_t n_areas;
	const struct code_symbol *symbols;
	size_t n_symbols;
	const struct code_symbol *dynamic;
	size_t n_dynamic;
	/* Names of versions 2, 3, ...; NULL: none. */
	const char *const *versions;
	size_t n_versions;
	/* NULL: none. */
	const char *interpreter;
	/* 20 bytes of a build-id; NULL: none. */
	const uint8_t *build_id;
	/* Debug information only: sections have no code. */
	bool debug;
};

/* The file; elf_writer_free() gives it back. */
void code_file_write(struct elf_writer *w, const struct code_spec *spec);

#endif /* TEST_CODE_FILE_H */
