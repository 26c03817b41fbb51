/*
 * Writes ELF files of any class and byte order, byte by byte, without any
 * library; tests spoil the result afterwards.
 */
#ifndef TEST_ELF_WRITER_H
#define TEST_ELF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_WRITER_SEGMENTS 8
#define ELF_WRITER_SECTIONS 24

struct elf_writer_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t off;
	uint64_t vaddr;
	uint64_t file_bytes;
	uint64_t memory_bytes;
	uint64_t align;
};

struct elf_writer_section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t addr;
	uint64_t off;
	uint64_t size;
	uint32_t link;
	uint32_t info;
	uint64_t align;
	uint64_t entry_bytes;
};

struct elf_writer {
	bool is_64;
	bool is_big;
	uint16_t type;
	uint16_t machine;
	uint64_t entry;
	struct elf_writer_segment segments[ELF_WRITER_SEGMENTS];
	size_t n_segments;
	/* Section 0 is there from the start. */
	struct elf_writer_section sections[ELF_WRITER_SECTIONS];
	size_t n_sections;
	uint8_t *bytes;
	size_t n_bytes;
	size_t cap;
};

/* Room for the file header and all program headers is left at the front. */
void elf_writer_init(struct elf_writer *w, bool is_64, bool is_big,
    uint16_t type, uint16_t machine);

/* Append bytes (NULL: zeros) at an aligned offset, which is returned. */
size_t elf_writer_put(struct elf_writer *w, const void *bytes, size_t n,
    size_t align);

/* A number of `n` bytes in the order of the file, appended or in place. */
size_t elf_writer_put_number(struct elf_writer *w, uint64_t v, size_t n);
void elf_writer_poke(struct elf_writer *w, size_t at, uint64_t v, size_t n);

/* Append a note "GNU" of `type`. */
size_t elf_writer_put_note(struct elf_writer *w, uint32_t type,
    const void *desc, size_t n);

/* Append a symbol, of size 0 or another one, or a relocation with addend. */
size_t elf_writer_put_symbol(struct elf_writer *w, uint32_t name, uint8_t info,
    uint16_t section, uint64_t value);
size_t elf_writer_put_sized_symbol(struct elf_writer *w, uint32_t name,
    uint8_t info, uint16_t section, uint64_t value, uint64_t size);
size_t elf_writer_put_rela(struct elf_writer *w, uint64_t off, uint32_t type,
    uint32_t symbol, int64_t addend);

/* Index of the new header. */
size_t elf_writer_segment(struct elf_writer *w,
    const struct elf_writer_segment *segment);
size_t elf_writer_section(struct elf_writer *w,
    const struct elf_writer_section *section);

/* Where program headers lie. */
size_t elf_writer_segment_off(const struct elf_writer *w, size_t i);

/*
 * Append names and section headers (if there are sections besides 0) and
 * write the headers at the front.
 */
void elf_writer_finish(struct elf_writer *w);

void elf_writer_free(struct elf_writer *w);

#endif /* TEST_ELF_WRITER_H */
