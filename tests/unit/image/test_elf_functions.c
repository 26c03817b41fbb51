/*
 * Functions of an ELF file by name: all of them, and where each one ends.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf_functions.h"
#include "support/code_file.h"
#include "support/failing_allocator.h"

#define LOCAL(type) ((uint8_t)(type))
#define GLOBAL(type) ((uint8_t)(0x10 | (type)))
#define NOTYPE 0
#define OBJECT 1
#define FUNC 2
#define SECTION 3
#define FILE_NAME 4
#define IFUNC 10

/* The first section is shorter than its segment. */
static const struct code_area areas[] = { { 0x1000, 0x1000, 0x80 },
	{ 0x5000, 0x1000, 0 } };

static const struct code_symbol symbols[] = {
	{ "alpha", LOCAL(FILE_NAME), CODE_ABS, 0, 0, 0 },
	{ "alpha", GLOBAL(FUNC), 1, 0x1010, 0x20, 0 },
	{ "alias", GLOBAL(FUNC), 1, 0x1010, 0x20, 0 },
	{ "alias", LOCAL(FUNC), 1, 0x1010, 0x18, 0 },
	{ "twice", LOCAL(FUNC), 2, 0x5100, 8, 0 },
	{ "twice", LOCAL(FUNC), 1, 0x1100, 0x10, 0 },
	{ "short", GLOBAL(FUNC), 1, 0x1200, 0, 0 },
	{ "label", LOCAL(NOTYPE), 1, 0x1208, 0, 0 },
	{ "after", GLOBAL(NOTYPE), 1, 0x1240, 4, 0 },
	{ "ver@@V2", GLOBAL(FUNC), 1, 0x1300, 0x10, 0 },
	{ "ver@V1", GLOBAL(FUNC), 1, 0x1320, 0x10, 0 },
	{ "@odd", GLOBAL(FUNC), 1, 0x1340, 0x10, 0 },
	{ "@odd@x", GLOBAL(FUNC), 1, 0x1350, 0x10, 0 },
	{ "last", GLOBAL(FUNC), 1, 0x1f00, 0, 0 },
	{ "endless", GLOBAL(FUNC), 2, 0x5f00, 0x100000, 0 },
	{ "tail", GLOBAL(FUNC), 0xffff, 0x5f80, 0, 0 },
	{ "sized", GLOBAL(FUNC), 2, 0x5200, 0, 0 },
	{ "sized", LOCAL(FUNC), 2, 0x5200, 0x30, 0 },
	{ "sized", LOCAL(FUNC), 2, 0x5200, 0, 0 },
	{ "pick", GLOBAL(IFUNC), 1, 0x1400, 0x10, 0 },
	{ "table", GLOBAL(OBJECT), 1, 0x1500, 0x10, 0 },
	{ "fixed", GLOBAL(FUNC), CODE_ABS, 0x1600, 0x10, 0 },
	{ "outside", GLOBAL(FUNC), 1, 0x9000, 0x10, 0 },
	{ "absent", GLOBAL(FUNC), 0, 0, 0, 0 },
	{ "", GLOBAL(FUNC), 1, 0x1700, 4, 0 },
};

#define N_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static const struct {
	const char *name;
	size_t n;
	uint64_t first[2], last[2];
	bool guessed, indirect, data, elsewhere;
} wanted[] = {
	{ .name = "alpha", .n = 1, .first = { 0x1010 }, .last = { 0x102f } },
	{ .name = "alias", .n = 1, .first = { 0x1010 }, .last = { 0x102f } },
	{ .name = "twice",
	    .n = 2,
	    .first = { 0x1100, 0x5100 },
	    .last = { 0x110f, 0x5107 } },
	/* The label in it does not end it. */
	{ .name = "short",
	    .n = 1,
	    .first = { 0x1200 },
	    .last = { 0x123f },
	    .guessed = true },
	{ .name = "after", .n = 1, .first = { 0x1240 }, .last = { 0x1243 } },
	{ .name = "ver",
	    .n = 2,
	    .first = { 0x1300, 0x1320 },
	    .last = { 0x130f, 0x132f } },
	{ .name = "ver@V2", .n = 1, .first = { 0x1300 }, .last = { 0x130f } },
	{ .name = "ver@@V2", .n = 1, .first = { 0x1300 }, .last = { 0x130f } },
	{ .name = "ver@@V1", .n = 1, .first = { 0x1320 }, .last = { 0x132f } },
	{ .name = "ver@V3" },
	{ .name = "alpha@V1" },
	{ .name = "@odd", .n = 1, .first = { 0x1340 }, .last = { 0x134f } },
	/* The section ends before the segment. */
	{ .name = "last",
	    .n = 1,
	    .first = { 0x1f00 },
	    .last = { 0x1f7f },
	    .guessed = true },
	{ .name = "endless", .n = 1, .first = { 0x5f00 }, .last = { 0x5fff } },
	/* Its section is not known: to the end of the segment. */
	{ .name = "tail",
	    .n = 1,
	    .first = { 0x5f80 },
	    .last = { 0x5fff },
	    .guessed = true },
	{ .name = "sized", .n = 1, .first = { 0x5200 }, .last = { 0x522f } },
	{ .name = "pick", .indirect = true },
	{ .name = "table", .data = true },
	{ .name = "fixed", .data = true },
	{ .name = "outside", .data = true },
	{ .name = "absent", .elsewhere = true },
	{ .name = "alph" },
	{ .name = "alphabet" },
};

struct opened {
	struct failing_allocator allocator;
	struct hwtd_context *ctx;
	struct elf_writer w;
	struct hwtdi_elf_tables tables;
	struct hwtdi_elf_code code;
};

static void
begin(struct opened *o, const struct code_spec *spec)
{
	struct hwtd_context_options options = { .size = sizeof(options) };

	failing_allocator_init(&o->allocator);
	options.allocator = &o->allocator.allocator;
	assert_int_equal(hwtd_context_create(&options, &o->ctx, NULL),
	    HWTD_OK);
	code_file_write(&o->w, spec);
	assert_int_equal(hwtdi_elf_tables_init(&o->tables, "f", o->w.bytes,
			     o->w.n_bytes, NULL),
	    HWTD_OK);
}

static void
open_linked(struct opened *o, const struct code_spec *spec, uint64_t bias)
{
	struct hwtdi_elf_file file;

	begin(o, spec);
	assert_int_equal(hwtdi_elf_file_init(&file, o->ctx, "f", o->w.bytes,
			     o->w.n_bytes, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_code_init_linked(&o->code, o->ctx, &file,
			     bias, NULL),
	    HWTD_OK);
	hwtdi_elf_file_fini(&file, o->ctx);
}

static void
close_it(struct opened *o)
{
	hwtdi_elf_code_fini(&o->code, o->ctx);
	elf_writer_free(&o->w);
	/* Only the context. */
	assert_int_equal(o->allocator.blocks, 1);
	hwtd_context_destroy(o->ctx);
}

static void
check(struct opened *o, size_t i)
{
	struct hwtdi_elf_functions f;

	print_message("%s\n", wanted[i].name);
	assert_int_equal(hwtdi_elf_functions_find(&f, o->ctx, &o->code,
			     &o->tables, wanted[i].name, NULL),
	    HWTD_OK);
	assert_int_equal(f.n, wanted[i].n);
	for (size_t k = 0; k < f.n; k++) {
		assert_int_equal(f.at[k].first, wanted[i].first[k]);
		assert_int_equal(f.at[k].last, wanted[i].last[k]);
		assert_int_equal(f.at[k].guessed, wanted[i].guessed);
	}
	assert_int_equal(f.indirect, wanted[i].indirect);
	assert_int_equal(f.data, wanted[i].data);
	assert_int_equal(f.elsewhere, wanted[i].elsewhere);
	assert_true(f.complete);
	hwtdi_elf_functions_fini(&f, o->ctx);
}

static void
functions_of_a_name_are_all_found_with_their_ends(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		const struct code_spec spec = { .is_32 = (k & 1) != 0,
			.is_big = (k & 2) != 0,
			.areas = areas,
			.n_areas = 2,
			.symbols = symbols,
			.n_symbols = N_SYMBOLS };
		struct opened o;

		open_linked(&o, &spec, 0x100000);
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			check(&o, i);
		close_it(&o);
	}
}

static void
code_lies_where_the_bias_puts_it_unless_it_wraps(void **state)
{
	const struct code_spec spec = { .areas = areas, .n_areas = 2 };
	struct opened o;

	(void)state;
	open_linked(&o, &spec, 0x7000000);
	assert_int_equal(o.code.n, 2);
	assert_int_equal(o.code.parts[0].address, 0x7001000);
	assert_int_equal(o.code.parts[1].address, 0x7005000);
	assert_ptr_equal(hwtdi_elf_code_find(&o.code, 0x1000, 0x1fff),
	    &o.code.parts[0]);
	assert_ptr_equal(hwtdi_elf_code_find(&o.code, 0x5fff, 0x5fff),
	    &o.code.parts[1]);
	assert_null(hwtdi_elf_code_find(&o.code, 0x1000, 0x2000));
	assert_null(hwtdi_elf_code_find(&o.code, 0x1002, 0x1001));
	assert_null(hwtdi_elf_code_find(&o.code, 0xfff, 0x1000));
	close_it(&o);
	/* The second one would go past the end of the address space. */
	open_linked(&o, &spec, UINT64_MAX - 0x57ff);
	assert_int_equal(o.code.n, 1);
	assert_int_equal(o.code.parts[0].first, 0x1000);
	close_it(&o);
}

static const struct code_symbol dynamic[] = {
	{ "ver", GLOBAL(FUNC), 1, 0x1300, 0x10, 3 },
	/* Hidden: not the one that is linked to. */
	{ "ver", GLOBAL(FUNC), 1, 0x1320, 0x10, 0x8002 },
	{ "none", GLOBAL(FUNC), 1, 0x1340, 0x10, 1 },
	{ "lost", GLOBAL(FUNC), 1, 0x1360, 0x10, 9 },
};
static const char *const versions[] = { "V1", "V2" };

static void
find_dynamic(struct opened *o, const char *name, size_t n, uint64_t first)
{
	struct hwtdi_elf_functions f;

	print_message("%s\n", name);
	assert_int_equal(hwtdi_elf_functions_find(&f, o->ctx, &o->code,
			     &o->tables, name, NULL),
	    HWTD_OK);
	assert_false(f.complete);
	assert_int_equal(f.n, n);
	if (n > 0)
		assert_int_equal(f.at[0].first, first);
	hwtdi_elf_functions_fini(&f, o->ctx);
}

static void
versions_of_dynamic_symbols_are_looked_up(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		const struct code_spec spec = { .is_32 = (k & 1) != 0,
			.is_big = (k & 2) != 0,
			.areas = areas,
			.n_areas = 1,
			.dynamic = dynamic,
			.n_dynamic = 4,
			.versions = versions,
			.n_versions = 2 };
		struct opened o;

		open_linked(&o, &spec, 0);
		find_dynamic(&o, "ver", 2, 0x1300);
		find_dynamic(&o, "ver@V1", 1, 0x1320);
		find_dynamic(&o, "ver@@V2", 1, 0x1300);
		find_dynamic(&o, "ver@V3", 0, 0);
		find_dynamic(&o, "none", 1, 0x1340);
		find_dynamic(&o, "none@V1", 0, 0);
		find_dynamic(&o, "lost", 1, 0x1360);
		find_dynamic(&o, "lost@V1", 0, 0);
		close_it(&o);
	}
}

/* Index of the section of a type. */
static size_t
section_of(const struct opened *o, uint32_t type)
{
	for (size_t i = 0; i < o->w.n_sections; i++)
		if (o->w.sections[i].type == type)
			return (i);
	fail();
	return (0);
}

static void
damaged_versions_are_none(void **state)
{
	static const struct {
		const char *what;
		/* In the first entry of the list. */
		size_t at;
		uint32_t value;
		size_t n_v1, n_v2;
	} damage[] = {
		{ "it is the last one", 16, 0, 1, 0 },
		{ "the next is far away", 16, 0x7fffffff, 1, 0 },
		{ "the next is inside of this one", 16, 1, 1, 0 },
		{ "the name is far away", 12, 0x7fffffff, 0, 1 },
		{ "the text of the name is far away", 20, 0x7fffffff, 0, 1 },
	};
	const struct code_spec spec = { .areas = areas,
		.n_areas = 1,
		.dynamic = dynamic,
		.n_dynamic = 4,
		.versions = versions,
		.n_versions = 2 };
	struct opened o;

	(void)state;
	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		size_t list;

		print_message("%s\n", damage[i].what);
		open_linked(&o, &spec, 0);
		list = o.w.sections[section_of(&o, 0x6ffffffd)].off;
		elf_writer_poke(&o.w, list + damage[i].at, damage[i].value, 4);
		find_dynamic(&o, "ver", 2, 0x1300);
		find_dynamic(&o, "ver@V1", damage[i].n_v1, 0x1320);
		find_dynamic(&o, "ver@V2", damage[i].n_v2, 0x1300);
		close_it(&o);
	}
}

static void
thumb_functions_begin_at_even_addresses(void **state)
{
	static const struct code_symbol thumb[] = {
		{ "thumb", GLOBAL(FUNC), 1, 0x1011, 0x20, 0 },
	};
	const struct code_spec spec = { .is_32 = true,
		.machine = 40,
		.areas = areas,
		.n_areas = 1,
		.symbols = thumb,
		.n_symbols = 1 };
	struct hwtdi_elf_functions f;
	struct opened o;

	(void)state;
	open_linked(&o, &spec, 0);
	assert_int_equal(hwtdi_elf_functions_find(&f, o.ctx, &o.code,
			     &o.tables, "thumb", NULL),
	    HWTD_OK);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.at[0].first, 0x1010);
	assert_int_equal(f.at[0].last, 0x102f);
	hwtdi_elf_functions_fini(&f, o.ctx);
	close_it(&o);
}

static void
functions_of_an_object_are_counted_from_its_file(void **state)
{
	static const struct code_area sections[] = { { 0, 0x104, 0 },
		{ 0, 0x40, 0 } };
	static const struct code_symbol two[] = {
		{ "one", GLOBAL(FUNC), 1, 0x10, 0x20, 0 },
		{ "other", LOCAL(FUNC), 2, 0x8, 0, 0 },
		{ "far", GLOBAL(FUNC), 1, 0x104, 4, 0 },
		{ "none", GLOBAL(FUNC), 7, 0, 4, 0 },
	};
	const struct code_spec spec = { .type = 1,
		.areas = sections,
		.n_areas = 2,
		.symbols = two,
		.n_symbols = 4 };
	struct hwtdi_elf_object object;
	struct hwtdi_elf_functions f;
	struct opened o;
	uint64_t off[2];

	(void)state;
	begin(&o, &spec);
	off[0] = o.w.sections[1].off;
	off[1] = o.w.sections[2].off;
	assert_int_equal(hwtdi_elf_object_init(&object, o.ctx, "f", o.w.bytes,
			     o.w.n_bytes, 0xffff0000, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_code_init_object(&o.code, o.ctx, &object,
			     NULL),
	    HWTD_OK);
	hwtdi_elf_object_fini(&object, o.ctx);
	assert_int_equal(o.code.n, 2);
	assert_int_equal(o.code.parts[0].address, 0xffff0000);
	/* 0x104 bytes, aligned to 16: padding only. */
	assert_int_equal(o.code.parts[1].address, 0xffff0110);
	assert_false(o.code.parts[0].padded);
	assert_true(o.code.parts[1].padded);
	assert_int_equal(hwtdi_elf_functions_find(&f, o.ctx, &o.code,
			     &o.tables, "one", NULL),
	    HWTD_OK);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.at[0].first, off[0] + 0x10);
	assert_int_equal(f.at[0].last, off[0] + 0x2f);
	hwtdi_elf_functions_fini(&f, o.ctx);
	assert_int_equal(hwtdi_elf_functions_find(&f, o.ctx, &o.code,
			     &o.tables, "other", NULL),
	    HWTD_OK);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.at[0].first, off[1] + 8);
	assert_int_equal(f.at[0].last, off[1] + 0x3f);
	assert_true(f.at[0].guessed);
	hwtdi_elf_functions_fini(&f, o.ctx);
	for (size_t i = 2; i < 4; i++) {
		assert_int_equal(hwtdi_elf_functions_find(&f, o.ctx, &o.code,
				     &o.tables, two[i].name, NULL),
		    HWTD_OK);
		assert_int_equal(f.n, 0);
		assert_true(f.data);
		hwtdi_elf_functions_fini(&f, o.ctx);
	}
	close_it(&o);
}

/* As many functions of one name, 16 bytes apart. */
static void
write_many(struct elf_writer *w, size_t n)
{
	size_t at;

	elf_writer_init(w, true, false, 3, 62);
	at = elf_writer_put(w, NULL, n * 16, CODE_FILE_PAGE);
	(void)elf_writer_segment(w,
	    &(struct elf_writer_segment){ .type = 1,
		.flags = 5,
		.off = at,
		.vaddr = 0x1000,
		.file_bytes = n * 16,
		.memory_bytes = n * 16 });
	at = elf_writer_put(w, "\0f", 3, 1);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = at,
		.size = 3 });
	at = elf_writer_put(w, NULL, 0, 8);
	(void)elf_writer_put_symbol(w, 0, 0, 0, 0);
	for (size_t i = 0; i < n; i++)
		(void)elf_writer_put_sized_symbol(w, 1, 2, 1, 0x1000 + i * 16,
		    8);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".symtab",
		.type = 2,
		.off = at,
		.size = w->n_bytes - at,
		.link = 1 });
	elf_writer_finish(w);
}

static void
more_functions_of_one_name_than_1024_are_refused(void **state)
{
	const struct code_spec spec = { .areas = areas, .n_areas = 1 };

	(void)state;
	for (size_t n = 1024; n <= 1025; n++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_elf_functions f;
		struct hwtdi_elf_file file;
		struct opened o;

		begin(&o, &spec);
		elf_writer_free(&o.w);
		write_many(&o.w, n);
		assert_int_equal(hwtdi_elf_tables_init(&o.tables, "f",
				     o.w.bytes, o.w.n_bytes, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_elf_file_init(&file, o.ctx, "f",
				     o.w.bytes, o.w.n_bytes, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_elf_code_init_linked(&o.code, o.ctx,
				     &file, 0, NULL),
		    HWTD_OK);
		hwtdi_elf_file_fini(&file, o.ctx);
		assert_int_equal(hwtdi_elf_functions_find(&f, o.ctx, &o.code,
				     &o.tables, "f", &err),
		    n == 1024 ? HWTD_OK : HWTD_E_LIMIT);
		assert_int_equal(f.n, n == 1024 ? n : 0);
		if (n == 1025)
			assert_non_null(strstr(err.message, "1024"));
		hwtdi_elf_functions_fini(&f, o.ctx);
		close_it(&o);
	}
}

static void
names_of_functions_that_the_file_has_are_offered(void **state)
{
	const struct code_spec spec = { .areas = areas,
		.n_areas = 2,
		.symbols = symbols,
		.n_symbols = N_SYMBOLS };
	struct hwtdi_near_names near;
	struct opened o;

	(void)state;
	open_linked(&o, &spec, 0);
	hwtdi_near_names_init(&near, "alpho");
	hwtdi_elf_functions_near(&o.tables, &near);
	assert_int_equal(near.n, 1);
	assert_string_equal(near.names[0], "alpha");
	/* It is not in this file. */
	hwtdi_near_names_init(&near, "absen");
	hwtdi_elf_functions_near(&o.tables, &near);
	assert_int_equal(near.n, 0);
	close_it(&o);
}

static void
running_out_of_memory_is_told(void **state)
{
	const struct code_spec spec = { .areas = areas,
		.n_areas = 2,
		.symbols = symbols,
		.n_symbols = N_SYMBOLS };
	struct hwtdi_elf_functions f;
	struct hwtdi_elf_code code;
	struct hwtdi_elf_file file;
	struct opened o;

	(void)state;
	open_linked(&o, &spec, 0);
	failing_allocator_arm(&o.allocator, 1, false);
	assert_int_equal(hwtdi_elf_functions_find(&f, o.ctx, &o.code,
			     &o.tables, "twice", NULL),
	    HWTD_E_NOMEM);
	failing_allocator_arm(&o.allocator, 0, false);
	assert_int_equal(hwtdi_elf_file_init(&file, o.ctx, "f", o.w.bytes,
			     o.w.n_bytes, NULL),
	    HWTD_OK);
	failing_allocator_arm(&o.allocator, 1, false);
	assert_int_equal(hwtdi_elf_code_init_linked(&code, o.ctx, &file, 0,
			     NULL),
	    HWTD_E_NOMEM);
	failing_allocator_arm(&o.allocator, 0, false);
	hwtdi_elf_file_fini(&file, o.ctx);
	close_it(&o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    functions_of_a_name_are_all_found_with_their_ends),
		cmocka_unit_test(
		    code_lies_where_the_bias_puts_it_unless_it_wraps),
		cmocka_unit_test(versions_of_dynamic_symbols_are_looked_up),
		cmocka_unit_test(damaged_versions_are_none),
		cmocka_unit_test(thumb_functions_begin_at_even_addresses),
		cmocka_unit_test(
		    functions_of_an_object_are_counted_from_its_file),
		cmocka_unit_test(
		    more_functions_of_one_name_than_1024_are_refused),
		cmocka_unit_test(
		    names_of_functions_that_the_file_has_are_offered),
		cmocka_unit_test(running_out_of_memory_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
