/*
 * Writes ELF files of any class and byte order, byte by byte.
 *
 * Source: ELF gABI, "ELF Header", "Program Header", "Sections", "Symbol
 * Table", "Relocation", "Note Section".
 */
#include "support/elf_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t
header_bytes(const struct elf_writer *w)
{
	return (w->is_64 ? 64 : 52);
}

static size_t
segment_bytes(const struct elf_writer *w)
{
	return (w->is_64 ? 56 : 32);
}

/* Addresses, offsets and most sizes. */
static size_t
wide(const struct elf_writer *w)
{
	return (w->is_64 ? 8 : 4);
}

void
elf_writer_poke(struct elf_writer *w, size_t at, uint64_t v, size_t n)
{
	assert_true(at <= w->n_bytes && n <= w->n_bytes - at);
	for (size_t i = 0; i < n; i++) {
		size_t place = w->is_big ? n - 1 - i : i;

		w->bytes[at + place] = (uint8_t)(v >> (8 * i));
	}
}

size_t
elf_writer_put(struct elf_writer *w, const void *bytes, size_t n, size_t align)
{
	size_t at = (w->n_bytes + align - 1) / align * align;

	while (at + n > w->cap) {
		w->cap = w->cap != 0 ? w->cap * 2 : 1024;
		w->bytes = realloc(w->bytes, w->cap);
		assert_non_null(w->bytes);
	}
	memset(w->bytes + w->n_bytes, 0, at + n - w->n_bytes);
	if (bytes != NULL)
		memcpy(w->bytes + at, bytes, n);
	w->n_bytes = at + n;
	return (at);
}

size_t
elf_writer_put_number(struct elf_writer *w, uint64_t v, size_t n)
{
	size_t at = elf_writer_put(w, NULL, n, 1);

	elf_writer_poke(w, at, v, n);
	return (at);
}

void
elf_writer_init(struct elf_writer *w, bool is_64, bool is_big, uint16_t type,
    uint16_t machine)
{
	memset(w, 0, sizeof(*w));
	w->is_64 = is_64;
	w->is_big = is_big;
	w->type = type;
	w->machine = machine;
	w->sections[0].name = "";
	w->n_sections = 1;
	(void)elf_writer_put(w, NULL,
	    header_bytes(w) + ELF_WRITER_SEGMENTS * segment_bytes(w), 1);
}

size_t
elf_writer_put_note(struct elf_writer *w, uint32_t type, const void *desc,
    size_t n)
{
	size_t at = elf_writer_put(w, NULL, 0, 4);

	(void)elf_writer_put_number(w, 4, 4);
	(void)elf_writer_put_number(w, n, 4);
	(void)elf_writer_put_number(w, type, 4);
	(void)elf_writer_put(w, "GNU", 4, 1);
	(void)elf_writer_put(w, desc, n, 1);
	(void)elf_writer_put(w, NULL, 0, 4);
	return (at);
}

size_t
elf_writer_put_symbol(struct elf_writer *w, uint32_t name, uint8_t info,
    uint16_t section, uint64_t value)
{
	return (elf_writer_put_sized_symbol(w, name, info, section, value, 0));
}

size_t
elf_writer_put_sized_symbol(struct elf_writer *w, uint32_t name, uint8_t info,
    uint16_t section, uint64_t value, uint64_t size)
{
	size_t at = elf_writer_put_number(w, name, 4);

	if (!w->is_64) {
		(void)elf_writer_put_number(w, value, 4);
		(void)elf_writer_put_number(w, size, 4);
	}
	(void)elf_writer_put_number(w, info, 1);
	(void)elf_writer_put_number(w, 0, 1);
	(void)elf_writer_put_number(w, section, 2);
	if (w->is_64) {
		(void)elf_writer_put_number(w, value, 8);
		(void)elf_writer_put_number(w, size, 8);
	}
	return (at);
}

size_t
elf_writer_put_rela(struct elf_writer *w, uint64_t off, uint32_t type,
    uint32_t symbol, int64_t addend)
{
	size_t at = elf_writer_put_number(w, off, wide(w));
	uint64_t info = w->is_64 ? (uint64_t)symbol << 32 | type
				 : (uint64_t)symbol << 8 | (type & 0xff);

	(void)elf_writer_put_number(w, info, wide(w));
	(void)elf_writer_put_number(w, (uint64_t)addend, wide(w));
	return (at);
}

size_t
elf_writer_segment(struct elf_writer *w,
    const struct elf_writer_segment *segment)
{
	assert_true(w->n_segments < ELF_WRITER_SEGMENTS);
	w->segments[w->n_segments] = *segment;
	return (w->n_segments++);
}

size_t
elf_writer_section(struct elf_writer *w,
    const struct elf_writer_section *section)
{
	assert_true(w->n_sections < ELF_WRITER_SECTIONS);
	w->sections[w->n_sections] = *section;
	return (w->n_sections++);
}

size_t
elf_writer_segment_off(const struct elf_writer *w, size_t i)
{
	return (header_bytes(w) + i * segment_bytes(w));
}

static void
write_segment(struct elf_writer *w, size_t i)
{
	const struct elf_writer_segment *s = &w->segments[i];
	size_t at = elf_writer_segment_off(w, i);
	size_t n = wide(w);

	elf_writer_poke(w, at, s->type, 4);
	if (w->is_64)
		elf_writer_poke(w, at + 4, s->flags, 4);
	else
		elf_writer_poke(w, at + 24, s->flags, 4);
	at += w->is_64 ? 8 : 4;
	elf_writer_poke(w, at, s->off, n);
	elf_writer_poke(w, at + n, s->vaddr, n);
	elf_writer_poke(w, at + 2 * n, s->vaddr, n);
	elf_writer_poke(w, at + 3 * n, s->file_bytes, n);
	elf_writer_poke(w, at + 4 * n, s->memory_bytes, n);
	elf_writer_poke(w, at + (w->is_64 ? 40 : 24), s->align, n);
}

static void
put_section(struct elf_writer *w, const struct elf_writer_section *s,
    uint32_t name)
{
	size_t n = wide(w);

	(void)elf_writer_put_number(w, name, 4);
	(void)elf_writer_put_number(w, s->type, 4);
	(void)elf_writer_put_number(w, s->flags, n);
	(void)elf_writer_put_number(w, s->addr, n);
	(void)elf_writer_put_number(w, s->off, n);
	(void)elf_writer_put_number(w, s->size, n);
	(void)elf_writer_put_number(w, s->link, 4);
	(void)elf_writer_put_number(w, s->info, 4);
	(void)elf_writer_put_number(w, s->align, n);
	(void)elf_writer_put_number(w, s->entry_bytes, n);
}

/* Names, then the headers; the offset of the headers. */
static size_t
write_sections(struct elf_writer *w)
{
	struct elf_writer_section names = { .name = ".shstrtab",
		.type = 3,
		.align = 1 };
	uint32_t name_off[ELF_WRITER_SECTIONS];
	size_t index = elf_writer_section(w, &names);
	size_t at;

	w->sections[index].off = elf_writer_put(w, NULL, 0, 1);
	for (size_t i = 0; i < w->n_sections; i++) {
		at = elf_writer_put(w, w->sections[i].name,
		    strlen(w->sections[i].name) + 1, 1);
		name_off[i] = (uint32_t)(at - w->sections[index].off);
	}
	w->sections[index].size = w->n_bytes - w->sections[index].off;
	at = elf_writer_put(w, NULL, 0, 8);
	for (size_t i = 0; i < w->n_sections; i++)
		put_section(w, &w->sections[i], name_off[i]);
	return (at);
}

void
elf_writer_finish(struct elf_writer *w)
{
	size_t n = wide(w);
	bool sections = w->n_sections > 1;
	size_t shoff = sections ? write_sections(w) : 0;
	size_t at = 24;

	memcpy(w->bytes, "\177ELF", 4);
	w->bytes[4] = w->is_64 ? 2 : 1;
	w->bytes[5] = w->is_big ? 2 : 1;
	w->bytes[6] = 1;
	elf_writer_poke(w, 16, w->type, 2);
	elf_writer_poke(w, 18, w->machine, 2);
	elf_writer_poke(w, 20, 1, 4);
	elf_writer_poke(w, at, w->entry, n);
	elf_writer_poke(w, at + n, w->n_segments != 0 ? header_bytes(w) : 0,
	    n);
	elf_writer_poke(w, at + 2 * n, shoff, n);
	at += 3 * n + 4;
	elf_writer_poke(w, at, header_bytes(w), 2);
	elf_writer_poke(w, at + 2, segment_bytes(w), 2);
	elf_writer_poke(w, at + 4, w->n_segments, 2);
	elf_writer_poke(w, at + 6, w->is_64 ? 64 : 40, 2);
	elf_writer_poke(w, at + 8, sections ? w->n_sections : 0, 2);
	elf_writer_poke(w, at + 10, sections ? w->n_sections - 1 : 0, 2);
	for (size_t i = 0; i < w->n_segments; i++)
		write_segment(w, i);
}

void
elf_writer_free(struct elf_writer *w)
{
	free(w->bytes);
	memset(w, 0, sizeof(*w));
}
