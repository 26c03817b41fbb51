/*
 * Which symbol an address is in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf_names.h"
#include "support/elf_writer.h"
#include "support/failing_allocator.h"

#define NAMES "\0main\0_main\0label\0helper\0$x\0data\0tail\0absent\0__alias"

/* Binding in the high half, type in the low one: 1 global, 2 weak, 0 local. */
static const struct {
	uint32_t name;
	uint8_t info;
	uint16_t section;
	uint64_t value, size;
} symbols[] = {
	{ 0, 0, 0, 0, 0 },
	/* Two names of one function: the global one names it. */
	{ 6, 0x02, 1, 0x400100, 0x40 },
	{ 1, 0x12, 1, 0x400100, 0x40 },
	/* A label and a mapping symbol inside of it. */
	{ 12, 0x00, 1, 0x400110, 0 },
	{ 25, 0x00, 1, 0x400100, 0 },
	/* A function with a hole behind it. */
	{ 18, 0x12, 1, 0x400140, 0x20 },
	/* No code. */
	{ 28, 0x11, 2, 0x400148, 8 },
	/* Without a size: up to the end. */
	{ 33, 0x12, 1, 0x4001c0, 0 },
	/* People write the weak one, which has no underscores. */
	{ 45, 0x12, 1, 0x400190, 8 },
	{ 47, 0x22, 1, 0x400190, 8 },
	/* Not in this file. */
	{ 38, 0x12, 0, 0x400180, 0x10 },
};

static const struct {
	uint64_t address;
	const char *want;
	uint64_t start;
} cases[] = {
	{ 0x4000ff, NULL, 0 },
	{ 0x400100, "main", 0x400100 },
	{ 0x40010f, "main", 0x400100 },
	{ 0x400114, "main", 0x400100 },
	{ 0x40013f, "main", 0x400100 },
	{ 0x400140, "helper", 0x400140 },
	{ 0x400150, "helper", 0x400140 },
	{ 0x400160, NULL, 0 },
	{ 0x400184, NULL, 0 },
	{ 0x400194, "alias", 0x400190 },
	{ 0x400198, NULL, 0 },
	{ 0x4001c0, "tail", 0x4001c0 },
	{ 0x4fffff, "tail", 0x4001c0 },
};

static void
write_file(struct elf_writer *w, uint32_t table)
{
	size_t at;

	elf_writer_init(w, true, false, 2, 183);
	at = elf_writer_put(w, NULL, 0x200, 0x1000);
	(void)elf_writer_segment(w,
	    &(struct elf_writer_segment){ .type = 1,
		.flags = 5,
		.off = at,
		.vaddr = 0x400000,
		.file_bytes = 0x200,
		.memory_bytes = 0x200,
		.align = 0x1000 });
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = 1,
		.flags = 6,
		.off = at,
		.size = 0x200 });
	at = elf_writer_put(w, NAMES, sizeof(NAMES), 1);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = at,
		.size = sizeof(NAMES) });
	at = elf_writer_put(w, NULL, 0, 8);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const size_t symbol = elf_writer_put_symbol(w, symbols[i].name,
		    symbols[i].info, symbols[i].section, symbols[i].value);

		elf_writer_poke(w, symbol + 16, symbols[i].size, 8);
	}
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".table",
		.type = table,
		.off = at,
		.size = w->n_bytes - at,
		.link = 2,
		.entry_bytes = 24 });
	elf_writer_finish(w);
}

static void
an_address_is_in_the_function_around_it(void **state)
{
	/* SHT_SYMTAB, SHT_DYNSYM. */
	static const uint32_t tables[2] = { 2, 11 };
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (size_t k = 0; k < 2; k++) {
		struct hwtdi_elf_names names;
		struct hwtdi_elf_tables t;
		struct elf_writer w;
		uint64_t address;

		write_file(&w, tables[k]);
		assert_int_equal(hwtdi_elf_tables_init(&t, "f", w.bytes,
				     w.n_bytes, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_elf_names_init(&names, ctx, &t, NULL),
		    HWTD_OK);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			const struct hwtdi_elf_name
			    *name = hwtdi_elf_names_find(&names,
				cases[i].address);

			print_message("%#llx\n",
			    (unsigned long long)cases[i].address);
			assert_int_equal(name == NULL, cases[i].want == NULL);
			if (name == NULL)
				continue;
			assert_string_equal(name->name, cases[i].want);
			assert_int_equal(name->address, cases[i].start);
		}
		assert_true(hwtdi_elf_names_address(&names, 0x1104, &address));
		assert_int_equal(address, 0x400104);
		assert_false(hwtdi_elf_names_address(&names, 0xfff, &address));
		assert_false(hwtdi_elf_names_address(&names, 0x1200,
		    &address));
		hwtdi_elf_names_fini(&names, ctx);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtdi_elf_names names;
	struct failing_allocator f;
	struct hwtdi_elf_tables t;
	struct hwtd_context *ctx;
	struct elf_writer w;
	int rc = HWTD_E_NOMEM;

	(void)state;
	write_file(&w, 2);
	assert_int_equal(hwtdi_elf_tables_init(&t, "f", w.bytes, w.n_bytes,
			     NULL),
	    HWTD_OK);
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		failing_allocator_arm(&f, n, false);
		rc = hwtdi_elf_names_init(&names, ctx, &t, NULL);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
	}
	failing_allocator_arm(&f, 0, false);
	hwtdi_elf_names_fini(&names, ctx);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
	elf_writer_free(&w);
}

/* As kernel modules are: symbols are counted from their sections. */
static void
symbols_of_objects_are_places_in_the_file(void **state)
{
	static const char text[] = "\0one\0two\0far";
	struct hwtdi_elf_names names;
	const struct hwtdi_elf_name *name;
	struct hwtdi_elf_tables t;
	struct hwtd_context *ctx;
	struct elf_writer w;
	uint64_t address;
	size_t at, symbol;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	elf_writer_init(&w, true, false, 1, 183);
	for (size_t i = 0; i < 2; i++) {
		at = elf_writer_put(&w, NULL, 0x100, 0x1000);
		assert_int_equal(at, 0x1000 * (i + 1));
		(void)elf_writer_section(&w,
		    &(struct elf_writer_section){ .name = i ? ".b" : ".a",
			.type = 1,
			.flags = 6,
			.off = at,
			.size = 0x100 });
	}
	at = elf_writer_put(&w, text, sizeof(text), 1);
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = at,
		.size = sizeof(text) });
	at = elf_writer_put(&w, NULL, 0, 8);
	(void)elf_writer_put_symbol(&w, 0, 0, 0, 0);
	symbol = elf_writer_put_symbol(&w, 1, 0x12, 1, 0x20);
	elf_writer_poke(&w, symbol + 16, 0x10, 8);
	/* Its size goes past its section. */
	symbol = elf_writer_put_symbol(&w, 5, 0x12, 2, 0x20);
	elf_writer_poke(&w, symbol + 16, 0x1000, 8);
	(void)elf_writer_put_symbol(&w, 9, 0x12, 2, 0x100);
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".symtab",
		.type = 2,
		.off = at,
		.size = w.n_bytes - at,
		.link = 3,
		.entry_bytes = 24 });
	elf_writer_finish(&w);
	assert_int_equal(hwtdi_elf_tables_init(&t, "f", w.bytes, w.n_bytes,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_names_init(&names, ctx, &t, NULL), HWTD_OK);
	assert_int_equal(names.n, 2);
	assert_true(hwtdi_elf_names_address(&names, 0x1024, &address));
	assert_int_equal(address, 0x1024);
	name = hwtdi_elf_names_find(&names, address);
	assert_non_null(name);
	assert_string_equal(name->name, "one");
	assert_null(hwtdi_elf_names_find(&names, 0x1030));
	name = hwtdi_elf_names_find(&names, 0x20ff);
	assert_non_null(name);
	assert_string_equal(name->name, "two");
	assert_int_equal(name->address, 0x2020);
	assert_null(hwtdi_elf_names_find(&names, 0x2100));
	hwtdi_elf_names_fini(&names, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_in_the_function_around_it),
		cmocka_unit_test(symbols_of_objects_are_places_in_the_file),
		cmocka_unit_test(
		    each_refused_request_is_reported_and_leaks_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
