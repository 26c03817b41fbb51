/*
 * Headers and tables of an ELF file, entry by entry, every bound checked.
 *
 * libelf translates the structures (class and byte order); where they lie is
 * worked out here, because its own tables trust counts and offsets of the file
 * more than a hostile file deserves, and lose a table whose end is cut off.
 * Nothing is allocated, so nothing is to be closed.
 *
 * Threads: libelf keeps its last error per thread; elf_version(), which is
 * called here, stores the same constant each time.
 */
#ifndef HWTDI_ELF_TABLES_H
#define HWTDI_ELF_TABLES_H

#include <gelf.h>
#include <stdbool.h>

#include "base/library.h"

/* Bytes of a name, with its NUL. */
#define HWTDI_ELF_TEXT_MAX 4096u

struct hwtdi_elf_tables {
	/* For messages. */
	const char *name;
	const uint8_t *bytes;
	uint64_t n_bytes;
	bool is_64;
	/* ELFDATA2LSB or ELFDATA2MSB. */
	unsigned int encoding;
	GElf_Ehdr header;
	/* Entries as the header claims, and those that the file has. */
	uint32_t claimed_segments;
	uint32_t n_segments;
	uint32_t claimed_sections;
	uint32_t n_sections;
	/* Index of the section with the names of sections; 0: none. */
	uint32_t names;
};

/*
 * HWTD_E_UNRECOGNIZED (no ELF), HWTD_E_CORRUPT, HWTD_E_UNSUPPORTED (class,
 * byte order or size of entries).  `name` and `bytes` are borrowed.
 */
int hwtdi_elf_tables_init(struct hwtdi_elf_tables *t, const char *name,
    const void *bytes, uint64_t n_bytes, struct hwtd_error *err);

/* Entry `i`; false if the file does not have it. */
bool hwtdi_elf_segment(const struct hwtdi_elf_tables *t, uint32_t i,
    GElf_Phdr *out);
bool hwtdi_elf_section(const struct hwtdi_elf_tables *t, uint32_t i,
    GElf_Shdr *out);

/* File offset of an entry, for messages. */
uint64_t hwtdi_elf_segment_off(const struct hwtdi_elf_tables *t, uint32_t i);
uint64_t hwtdi_elf_section_off(const struct hwtdi_elf_tables *t, uint32_t i);

/* Entry `i` of a table of symbols, or of relocations of either kind. */
bool hwtdi_elf_symbol(const struct hwtdi_elf_tables *t, const GElf_Shdr *table,
    uint64_t i, GElf_Sym *out);
bool hwtdi_elf_relocation(const struct hwtdi_elf_tables *t,
    const GElf_Shdr *table, uint64_t i, GElf_Rela *out);

/* The 4-byte number at a file offset. */
bool hwtdi_elf_word(const struct hwtdi_elf_tables *t, uint64_t off,
    uint32_t *out);

/*
 * The text at `off` of a string section, in place; NULL if it does not end
 * inside the section and the file, or is longer than HWTDI_ELF_TEXT_MAX.
 */
const char *hwtdi_elf_text(const struct hwtdi_elf_tables *t,
    const GElf_Shdr *strings, uint64_t off);

/* Name of a section; "" if it has none. */
const char *hwtdi_elf_section_name(const struct hwtdi_elf_tables *t,
    const GElf_Shdr *section);

#endif /* HWTDI_ELF_TABLES_H */
