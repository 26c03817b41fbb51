/*
 * Where the code of linked ELF files lies in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf_load.h"

static struct hwtd_context *
new_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

/* A file of 0x5000 bytes with up to two executable segments. */
static struct hwtdi_elf_file
file_of(uint32_t type, struct hwtdi_elf_segment *segments, size_t n)
{
	struct hwtdi_elf_file f = { .type = type, .is_64 = true };

	f.is_little = true;
	f.n_bytes = 0x5000;
	f.has_load = true;
	f.segments = segments;
	f.n_segments = n;
	return (f);
}

static const struct {
	const char *name;
	uint32_t type;
	struct hwtdi_elf_segment segment;
	uint64_t bias;
	uint64_t page;
	size_t n;
	struct hwtdi_elf_piece want;
} layouts[] = {
	{ "a page and a bit", HWTDI_ELF_DYN,
	    { 0, false, 0x1000, 0x1000, 0x1234, 0x1234, 4096 }, 0x7f0000000000,
	    0, 1, { 0x7f0000001000, 0x2000, 0x1000 } },
	{ "from the middle of a page, as ld.lld lays out", HWTDI_ELF_DYN,
	    { 0, false, 0x2680, 0x1680, 0x100, 0x100, 4096 }, 0x10000, 0, 1,
	    { 0x12000, 0x1000, 0x1000 } },
	{ "the last page ends with the file", HWTDI_ELF_EXEC,
	    { 0, false, 0x404800, 0x4800, 0x700, 0x700, 4096 }, 0, 0, 1,
	    { 0x404000, 0x1000, 0x4000 } },
	{ "16 KiB pages", HWTDI_ELF_DYN,
	    { 0, false, 0x14100, 0x4100, 0x200, 0x200, 65536 }, 0x100000,
	    16384, 1, { 0x114000, 0x1000, 0x4000 } },
	{ "64 KiB pages show all of this file", HWTDI_ELF_DYN,
	    { 0, false, 0x14100, 0x4100, 0x200, 0x200, 65536 }, 0x100000,
	    65536, 1, { 0x110000, 0x5000, 0 } },
	{ "aligned to less than a page: only itself", HWTDI_ELF_DYN,
	    { 0, false, 0x12000, 0x1000, 0x200, 0x200, 4096 }, 0x100000, 65536,
	    1, { 0x112000, 0x200, 0x1000 } },
	{ "zeros follow in memory", HWTDI_ELF_DYN,
	    { 0, false, 0x1080, 0x1080, 0x100, 0x800, 4096 }, 0, 0, 1,
	    { 0x1000, 0x180, 0x1000 } },
	{ "a core file is not mapped", HWTDI_ELF_CORE,
	    { 0, false, 0xffffffff81000000, 0x1080, 0x100, 0x100, 0 }, 0, 0, 1,
	    { 0xffffffff81000000, 0x100, 0x1080 } },
	{ "a bias below zero", HWTDI_ELF_DYN,
	    { 0, false, 0x400000, 0x1000, 0x1000, 0x1000, 4096 },
	    (uint64_t)0 - 0x300000, 0, 1, { 0x100000, 0x1000, 0x1000 } },
	{ "the last page of all", HWTDI_ELF_DYN,
	    { 0, false, 0x1000, 0x1000, 0x10, 0x10, 4096 },
	    UINT64_MAX - 0x1fff, 0, 1,
	    { UINT64_MAX - 0xfff, 0x1000, 0x1000 } },
	{ "past the last page of all", HWTDI_ELF_DYN,
	    { 0, false, 0x1000, 0x1000, 0x1010, 0x1010, 4096 },
	    UINT64_MAX - 0x1fff, 0, 0, { 0, 0, 0 } },
};

static void
segments_lie_in_whole_pages(void **state)
{
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct hwtdi_elf_segment s = layouts[i].segment;
		struct hwtdi_elf_file f = file_of(layouts[i].type, &s, 1);
		struct hwtdi_elf_layout l;

		print_message("%s\n", layouts[i].name);
		assert_int_equal(hwtdi_elf_layout_init(&l, ctx, &f,
				     layouts[i].bias, layouts[i].page, NULL),
		    HWTD_OK);
		assert_int_equal(l.n_pieces, layouts[i].n);
		assert_int_equal(l.n_left_out, 1 - layouts[i].n);
		if (l.n_pieces != 0)
			assert_memory_equal(&l.pieces[0], &layouts[i].want,
			    sizeof(l.pieces[0]));
		hwtdi_elf_layout_fini(&l, ctx);
	}
	hwtd_context_destroy(ctx);
}

static void
page_sizes_that_are_no_power_of_2_are_refused(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_file f = file_of(HWTDI_ELF_DYN, NULL, 0);
	struct hwtdi_elf_mapping m = { .address = 0x1000 };
	struct hwtdi_elf_layout l;
	struct hwtdi_elf_bias b;

	(void)state;
	assert_int_equal(hwtdi_elf_layout_init(&l, ctx, &f, 0, 4097, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_elf_bias_of_mappings(&f, &m, 1, 3, &b, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_elf_bias_of_mappings(&f, &m, 0, 0, &b, NULL),
	    HWTD_E_INVALID);
	hwtd_context_destroy(ctx);
}

static void
programs_that_are_not_moved_have_no_bias(void **state)
{
	struct hwtdi_elf_file f = file_of(HWTDI_ELF_EXEC, NULL, 0);

	(void)state;
	f.lowest_vaddr = 0x400000;
	assert_int_equal(hwtdi_elf_bias_of_program(&f, 0), 0);
	assert_int_equal(hwtdi_elf_bias_of_program(&f, 0x1000), 0);
	assert_int_equal(hwtdi_elf_bias_of_base(&f, 0x400000, 0), 0);
	f.type = HWTDI_ELF_DYN;
	assert_int_equal(hwtdi_elf_bias_of_program(&f, 0x1000), 0x1000);
}

static void
a_base_is_where_the_lowest_segment_starts(void **state)
{
	struct hwtdi_elf_file f = file_of(HWTDI_ELF_DYN, NULL, 0);

	(void)state;
	f.lowest_vaddr = 0;
	assert_int_equal(hwtdi_elf_bias_of_base(&f, 0x7000, 0), 0x7000);
	/* Prelinked, and not from the start of a page. */
	f.lowest_vaddr = 0x40000123;
	assert_int_equal(hwtdi_elf_bias_of_base(&f, 0x50000000, 0),
	    0x10000000);
	assert_int_equal(hwtdi_elf_bias_of_base(&f, 0x30000000, 0),
	    (uint64_t)0 - 0x10000000);
	f.lowest_vaddr = 0x5000;
	assert_int_equal(hwtdi_elf_bias_of_base(&f, 0x70000, 65536), 0x70000);
}

/* Segments at 0x1000 (file 0x1000) and 0x9200 (file 0x3200). */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t align;
	size_t n;
	struct hwtdi_elf_mapping m[3];
	int rc;
	struct hwtdi_elf_bias want;
} mappings[] = {
	{ "an address alone can be either", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80009000, false, false, 0, 0 } }, HWTD_OK,
	    { 0x80008000, 0, 2 } },
	{ "alignment decides between two", HWTDI_ELF_DYN, 0x10000, 1,
	    { { 0x80009000, false, false, 0, 0 } }, HWTD_OK,
	    { 0x80000000, 1, 2 } },
	{ "alignment that none keeps decides nothing", HWTDI_ELF_DYN, 0x100000,
	    1, { { 0x80109000 - 0x4000, false, false, 0, 0 } }, HWTD_OK,
	    { 0x80104000, 0, 2 } },
	{ "both mappings", HWTDI_ELF_DYN, 4096, 2,
	    { { 0x80009000, false, false, 0, 0 },
		{ 0x80001000, false, false, 0, 0 } },
	    HWTD_OK, { 0x80000000, 1, 1 } },
	{ "mappings of two loads", HWTDI_ELF_DYN, 4096, 2,
	    { { 0x80009000, false, false, 0, 0 },
		{ 0x90000000, false, false, 0, 0 } },
	    HWTD_E_NOT_FOUND, { 0, 0, 0 } },
	{ "file offset of the second", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80009000, true, false, 0x3000, 0 } }, HWTD_OK,
	    { 0x80000000, 1, 1 } },
	{ "file offset inside the first", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80002000, true, false, 0x2000, 0 } }, HWTD_OK,
	    { 0x80000000, 0, 1 } },
	{ "file offset outside of all", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80002000, true, false, 0x4000, 0 } }, HWTD_E_NOT_FOUND,
	    { 0, 0, 0 } },
	{ "length of the first", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80009000, false, true, 0, 0x1800 } }, HWTD_OK,
	    { 0x80008000, 0, 1 } },
	{ "length of the second", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80009000, false, true, 0, 0x1000 } }, HWTD_OK,
	    { 0x80000000, 1, 1 } },
	{ "length of none", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80009000, false, true, 0, 0x3000 } }, HWTD_E_NOT_FOUND,
	    { 0, 0, 0 } },
	{ "length 0", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80009000, false, true, 0, 0 } }, HWTD_E_NOT_FOUND,
	    { 0, 0, 0 } },
	{ "not at a page", HWTDI_ELF_DYN, 4096, 1,
	    { { 0x80009010, false, false, 0, 0 } }, HWTD_E_NOT_FOUND,
	    { 0, 0, 0 } },
	{ "a program where it must be", HWTDI_ELF_EXEC, 4096, 1,
	    { { 0x9000, false, false, 0, 0 } }, HWTD_OK, { 0, 1, 1 } },
	{ "a program where it cannot be", HWTDI_ELF_EXEC, 4096, 1,
	    { { 0x5000, false, false, 0, 0 } }, HWTD_E_NOT_FOUND,
	    { 0, 0, 0 } },
	{ "below its own addresses", HWTDI_ELF_DYN, 4096, 1,
	    { { 0, true, false, 0x3000, 0 } }, HWTD_OK,
	    { (uint64_t)0 - 0x9000, 1, 1 } },
};

static void
mappings_give_the_bias_and_tell_doubt(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_elf_segment s[2] = {
			{ 1, false, 0x1000, 0x1000, 0x1800, 0x1800, 4096 },
			{ 2, false, 0x9200, 0x3200, 0x100, 0x100, 4096 },
		};
		struct hwtdi_elf_file f = file_of(mappings[i].type, s, 2);
		struct hwtdi_elf_bias got;

		print_message("%s\n", mappings[i].name);
		f.largest_align = mappings[i].align;
		assert_int_equal(hwtdi_elf_bias_of_mappings(&f, mappings[i].m,
				     mappings[i].n, 0, &got, &err),
		    mappings[i].rc);
		assert_int_equal(got.bias, mappings[i].want.bias);
		assert_int_equal(got.segment, mappings[i].want.segment);
		assert_int_equal(got.n_fits, mappings[i].want.n_fits);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_lie_in_whole_pages),
		cmocka_unit_test(
		    page_sizes_that_are_no_power_of_2_are_refused),
		cmocka_unit_test(programs_that_are_not_moved_have_no_bias),
		cmocka_unit_test(a_base_is_where_the_lowest_segment_starts),
		cmocka_unit_test(mappings_give_the_bias_and_tell_doubt),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
