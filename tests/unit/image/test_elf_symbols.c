/*
 * Global symbols by name: which of a file are there for others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "image/elf_symbols.h"
#include "support/chosen_key.h"
#include "support/elf_writer.h"
#include "support/failing_allocator.h"

#define NAMES "\0global\0weak\0local\0absent\0fixed\0section"

static const struct {
	const char *name;
	uint32_t at;
	uint8_t info;
	uint16_t section;
	uint64_t value;
	/* With the bias 0x100000; 0: not for others. */
	uint64_t want;
} symbols[] = {
	{ "", 0, 0, 0, 0, 0 },
	{ "global", 1, 0x12, 1, 0x10, 0x100010 },
	{ "weak", 8, 0x22, 1, 0x20, 0x100020 },
	{ "local", 13, 0x02, 1, 0x30, 0 },
	{ "absent", 19, 0x10, 0, 0, 0 },
	{ "fixed", 26, 0x10, 0xfff1, 0x40, 0x40 },
	{ "section", 32, 0x13, 1, 0, 0 },
	{ "no such name", 0xffff, 0x12, 1, 0x50, 0 },
};

#define N_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static void
write_symbols(struct elf_writer *w, uint16_t type, uint32_t table)
{
	size_t at;

	elf_writer_init(w, true, false, type, 62);
	at = elf_writer_put(w, NULL, 0x100, 16);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = 1,
		.flags = 6,
		.off = at,
		.size = 0x100,
		.align = 16 });
	at = elf_writer_put(w, NAMES, sizeof(NAMES), 1);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = at,
		.size = sizeof(NAMES) });
	at = elf_writer_put(w, NULL, 0, 8);
	for (size_t i = 0; i < N_SYMBOLS; i++)
		(void)elf_writer_put_symbol(w, symbols[i].at, symbols[i].info,
		    symbols[i].section, symbols[i].value);
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
check(const struct hwtdi_elf_symbols *s)
{
	for (size_t i = 0; i < N_SYMBOLS; i++) {
		uint64_t address = 0;
		bool found = hwtdi_elf_symbols_find(s, symbols[i].name,
		    &address);

		print_message("%s\n", symbols[i].name);
		assert_int_equal(found, symbols[i].want != 0);
		if (found)
			assert_int_equal(address, symbols[i].want);
	}
}

static struct hwtd_context *
new_context(const struct hwtd_context_options *o)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(o, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static void
what_others_may_use_is_found_by_name(void **state)
{
	/* SHT_SYMTAB, SHT_DYNSYM. */
	static const uint32_t tables[2] = { 2, 11 };
	struct hwtd_context *ctx = new_context(NULL);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hwtdi_elf_symbols s = { 0 };
		struct hwtdi_elf_tables t;
		struct elf_writer w;
		bool found;

		write_symbols(&w, 2, tables[i]);
		assert_int_equal(hwtdi_elf_tables_init(&t, "f", w.bytes,
				     w.n_bytes, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_elf_symbols_add_linked(&s, ctx, &t,
				     0x100000, &found, NULL),
		    HWTD_OK);
		assert_true(found);
		check(&s);
		hwtdi_elf_symbols_fini(&s, ctx);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

static void
symbols_of_an_object_lie_where_its_sections_do(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_elf_symbols s = { 0 };
	struct hwtdi_elf_object o;
	struct elf_writer w;

	(void)state;
	write_symbols(&w, 1, 2);
	assert_int_equal(hwtdi_elf_object_init(&o, ctx, "m", w.bytes,
			     w.n_bytes, 0x100000, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_symbols_add_object(&s, ctx, &o, NULL),
	    HWTD_OK);
	check(&s);
	hwtdi_elf_object_fini(&o, ctx);
	hwtdi_elf_symbols_fini(&s, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

/* Two files, or one at two places: which of them is meant is not known. */
static void
what_two_files_put_at_two_places_is_not_told(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_elf_symbols s = { 0 };
	struct hwtdi_elf_tables t;
	struct elf_writer w;
	uint64_t address;
	bool found;

	(void)state;
	write_symbols(&w, 2, 2);
	assert_int_equal(hwtdi_elf_tables_init(&t, "f", w.bytes, w.n_bytes,
			     NULL),
	    HWTD_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(hwtdi_elf_symbols_add_linked(&s, ctx, &t,
				     0x100000, &found, NULL),
		    HWTD_OK);
	check(&s);
	assert_int_equal(hwtdi_elf_symbols_add_linked(&s, ctx, &t, 0x200000,
			     &found, NULL),
	    HWTD_OK);
	assert_false(hwtdi_elf_symbols_find(&s, "global", &address));
	assert_true(hwtdi_elf_symbols_find(&s, "fixed", &address));
	hwtdi_elf_symbols_fini(&s, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtdi_elf_tables t;
	struct hwtd_context *ctx;
	struct elf_writer w;
	bool found;
	int rc = HWTD_E_NOMEM;

	(void)state;
	write_symbols(&w, 2, 2);
	assert_int_equal(hwtdi_elf_tables_init(&t, "f", w.bytes, w.n_bytes,
			     NULL),
	    HWTD_OK);
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	ctx = new_context(&o);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtdi_elf_symbols s = { 0 };

		failing_allocator_arm(&f, n, false);
		rc = hwtdi_elf_symbols_add_linked(&s, ctx, &t, 0, &found,
		    NULL);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		hwtdi_elf_symbols_fini(&s, ctx);
	}
	failing_allocator_arm(&f, 0, false);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
	elf_writer_free(&w);
}

static void
names_that_were_chosen_for_a_hash_are_not_slow(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_elf_symbols s = { 0 };
	struct hwtdi_elf_tables t;
	struct elf_writer w;
	size_t names, table;
	uint64_t address;
	double start;
	char name[16];
	uint32_t n = 0;
	bool found;

	(void)state;
	elf_writer_init(&w, true, false, 2, 62);
	names = elf_writer_put(&w, "", 1, 1);
	for (uint32_t i = 0; n < CHOSEN_KEYS; i++) {
		int length = snprintf(name, sizeof(name), "%07x", i);

		if (!is_chosen(XXH3_64bits(name, (size_t)length)))
			continue;
		(void)elf_writer_put(&w, name, (size_t)length + 1, 1);
		n++;
	}
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = names,
		.size = w.n_bytes - names });
	table = elf_writer_put(&w, NULL, 0, 8);
	(void)elf_writer_put_symbol(&w, 0, 0, 0, 0);
	for (uint32_t i = 0; i < n; i++)
		(void)elf_writer_put_symbol(&w, 1 + 8 * i, 0x12, 0xfff1, i);
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".symtab",
		.type = 2,
		.off = table,
		.size = w.n_bytes - table,
		.link = 1,
		.entry_bytes = 24 });
	elf_writer_finish(&w);
	assert_int_equal(hwtdi_elf_tables_init(&t, "f", w.bytes, w.n_bytes,
			     NULL),
	    HWTD_OK);
	start = cpu_seconds();
	assert_int_equal(hwtdi_elf_symbols_add_linked(&s, ctx, &t, 0, &found,
			     NULL),
	    HWTD_OK);
	assert_int_equal(s.n, n);
	assert_true(hwtdi_elf_symbols_find(&s, name, &address));
	assert_int_equal(address, n - 1);
	assert_true(cpu_seconds() - start < chosen_seconds());
	hwtdi_elf_symbols_fini(&s, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_may_use_is_found_by_name),
		cmocka_unit_test(
		    symbols_of_an_object_lie_where_its_sections_do),
		cmocka_unit_test(what_two_files_put_at_two_places_is_not_told),
		cmocka_unit_test(
		    each_refused_request_is_reported_and_leaks_nothing),
		cmocka_unit_test(
		    names_that_were_chosen_for_a_hash_are_not_slow),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
