/*
 * Writes ELF files with executable segments and symbols in them.
 *
 * Source: ELF gABI, "Symbol Table"; LSB core, "Symbol Versioning".
 */
#include "support/code_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MOST_SYMBOLS 64

static void
put_areas(struct elf_writer *w, const struct code_spec *spec, bool is_object)
{
	for (size_t i = 0; i < spec->n_areas; i++) {
		const struct code_area *a = &spec->areas[i];
		const size_t off = elf_writer_put(w, NULL, a->size,
		    is_object ? 16 : CODE_FILE_PAGE);

		if (!is_object)
			(void)elf_writer_segment(w,
			    &(struct elf_writer_segment){ .type = 1,
				.flags = 5,
				.off = off,
				.vaddr = a->vaddr,
				.file_bytes = a->size,
				.memory_bytes = a->size,
				.align = CODE_FILE_PAGE });
		(void)elf_writer_section(w,
		    &(struct elf_writer_section){ .name = ".text",
			.type = spec->debug ? 8 : 1,
			.flags = 6,
			.addr = is_object ? 0 : a->vaddr,
			.off = off,
			.size = a->size - a->rest,
			.align = 16 });
	}
}

/* A table of strings, then the table of symbols; index of the latter. */
static size_t
put_symbols(struct elf_writer *w, const struct code_symbol *symbols, size_t n,
    uint32_t type)
{
	uint32_t names[MOST_SYMBOLS];
	size_t at, strings, end;

	assert_true(n <= MOST_SYMBOLS);
	strings = elf_writer_put(w, "", 1, 1);
	for (size_t i = 0; i < n; i++)
		names[i] = (uint32_t)(elf_writer_put(w, symbols[i].name,
					  strlen(symbols[i].name) + 1, 1) -
		    strings);
	end = w->n_bytes;
	at = elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = strings,
		.size = end - strings,
		.align = 1 });
	strings = elf_writer_put(w, NULL, 0, 8);
	(void)elf_writer_put_symbol(w, 0, 0, 0, 0);
	for (size_t i = 0; i < n; i++)
		(void)elf_writer_put_sized_symbol(w, names[i], symbols[i].info,
		    symbols[i].section, symbols[i].value, symbols[i].size);
	return (elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".symtab",
		.type = type,
		.off = strings,
		.size = w->n_bytes - strings,
		.link = (uint32_t)at,
		.align = 8,
		.entry_bytes = w->is_64 ? 24 : 16 }));
}

/* .gnu.version for the table, and .gnu.version_d with names of its own. */
static void
put_versions(struct elf_writer *w, const struct code_spec *spec, size_t table)
{
	size_t at, strings;
	uint32_t names[MOST_SYMBOLS];

	at = elf_writer_put(w, NULL, 2, 2);
	for (size_t i = 0; i < spec->n_dynamic; i++)
		(void)elf_writer_put_number(w, spec->dynamic[i].version, 2);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".gnu.version",
		.type = 0x6fffffff,
		.off = at,
		.size = w->n_bytes - at,
		.link = (uint32_t)table,
		.entry_bytes = 2 });
	strings = elf_writer_put(w, "", 1, 1);
	for (size_t i = 0; i < spec->n_versions; i++)
		names[i] = (uint32_t)(elf_writer_put(w, spec->versions[i],
					  strlen(spec->versions[i]) + 1, 1) -
		    strings);
	at = elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".dynstr",
		.type = 3,
		.off = strings,
		.size = w->n_bytes - strings });
	strings = elf_writer_put(w, NULL, 0, 4);
	for (size_t i = 0; i < spec->n_versions; i++) {
		(void)elf_writer_put_number(w, 1, 2);
		(void)elf_writer_put_number(w, 0, 2);
		(void)elf_writer_put_number(w, i + 2, 2);
		(void)elf_writer_put_number(w, 1, 2);
		(void)elf_writer_put_number(w, 0, 4);
		(void)elf_writer_put_number(w, 20, 4);
		(void)elf_writer_put_number(w,
		    i + 1 < spec->n_versions ? 28 : 0, 4);
		(void)elf_writer_put_number(w, names[i], 4);
		(void)elf_writer_put_number(w, 0, 4);
	}
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".gnu.version_d",
		.type = 0x6ffffffd,
		.off = strings,
		.size = w->n_bytes - strings,
		.link = (uint32_t)at,
		.info = (uint32_t)spec->n_versions });
}

void
code_file_write(struct elf_writer *w, const struct code_spec *spec)
{
	const uint16_t type = spec->type != 0 ? spec->type : 3;
	size_t at;

	elf_writer_init(w, !spec->is_32, spec->is_big, type,
	    spec->machine != 0 ? spec->machine : 62);
	put_areas(w, spec, type == 1);
	if (spec->interpreter != NULL) {
		const size_t n = strlen(spec->interpreter) + 1;

		at = elf_writer_put(w, spec->interpreter, n, 1);
		(void)elf_writer_segment(w,
		    &(struct elf_writer_segment){ .type = 3,
			.flags = 4,
			.off = at,
			.file_bytes = n });
	}
	if (spec->build_id != NULL) {
		at = elf_writer_put_note(w, 3, spec->build_id, 20);
		(void)elf_writer_segment(w,
		    &(struct elf_writer_segment){ .type = 4,
			.flags = 4,
			.off = at,
			.file_bytes = w->n_bytes - at,
			.align = 4 });
	}
	if (spec->n_symbols != 0)
		(void)put_symbols(w, spec->symbols, spec->n_symbols, 2);
	if (spec->n_dynamic != 0) {
		at = put_symbols(w, spec->dynamic, spec->n_dynamic, 11);
		if (spec->n_versions != 0)
			put_versions(w, spec, at);
	}
	elf_writer_finish(w);
}
