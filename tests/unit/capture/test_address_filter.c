/*
 * Filters by address: which ranges they have as images are loaded.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/address_filter.h"
#include "support/code_file.h"
#include "support/failing_allocator.h"
#include "support/temp_dir.h"

#define FUNC 0x12
#define LOCAL_FUNC 0x02
#define IFUNC 0x1a
#define OBJECT 0x11

/* Files of a system below a root, and filters. */
struct scene {
	struct temp_dir dir;
	struct failing_allocator allocator;
	struct hwtd_context *ctx;
	const char *roots[1];
	struct hwtdi_image_places places;
	struct hwtdi_filters filters;
};

static const struct code_area prog_areas[] = { { 0x1000, 0x1000, 0 } };
static const struct code_symbol prog_symbols[] = {
	{ "main", FUNC, 1, 0x1100, 0x40, 0 },
	{ "helper", LOCAL_FUNC, 1, 0x1140, 0x20, 0 },
	{ "helper", LOCAL_FUNC, 1, 0x1800, 0x20, 0 },
	{ "bare", FUNC, 1, 0x1900, 0, 0 },
	{ "next", FUNC, 1, 0x1980, 4, 0 },
	{ "near1", FUNC, 1, 0x1c00, 4, 0 },
	{ "near2", FUNC, 1, 0x1c10, 4, 0 },
	{ "near3", FUNC, 1, 0x1c20, 4, 0 },
	{ "pick", IFUNC, 1, 0x1a00, 4, 0 },
	{ "table", OBJECT, 1, 0x1b00, 4, 0 },
	{ "puts", FUNC, 0, 0, 0, 0 },
};
static const struct code_spec prog = { .areas = prog_areas,
	.n_areas = 1,
	.symbols = prog_symbols,
	.n_symbols = 11,
	.interpreter = "/ld-elf.so.1" };

static const struct code_area two_areas[] = { { 0x2000, 0x1000, 0 },
	{ 0x6000, 0x2000, 0 } };
static const struct code_symbol two_symbols[] = {
	{ "first", FUNC, 1, 0x2010, 0x10, 0 },
	{ "second", FUNC, 2, 0x6020, 0x10, 0 },
};
static const struct code_spec two = { .areas = two_areas,
	.n_areas = 2,
	.symbols = two_symbols,
	.n_symbols = 2 };

static const struct code_area rtld_areas[] = { { 0x3000, 0x1000, 0 } };
static const struct code_symbol rtld_symbols[] = {
	{ "r_debug_state", FUNC, 1, 0x3020, 0x10, 0 },
};
static const struct code_spec rtld = { .areas = rtld_areas,
	.n_areas = 1,
	.symbols = rtld_symbols,
	.n_symbols = 1 };

static const struct code_area kernel_areas[] = { { 0xffffffff80200000, 0x2000,
    0 } };
static const struct code_symbol kernel_symbols[] = {
	{ "vn_open", FUNC, 1, 0xffffffff80200100, 0x80, 0 },
};
static const struct code_spec kernel = { .type = 2,
	.areas = kernel_areas,
	.n_areas = 1,
	.symbols = kernel_symbols,
	.n_symbols = 1 };

/* Sizes of sections are no multiples of 16, to which they are aligned. */
static const struct code_area module_areas[] = { { 0, 0x108, 0 },
	{ 0, 0x40, 0 } };
static const struct code_symbol module_symbols[] = {
	{ "zfs_open", FUNC, 1, 0x20, 0x10, 0 },
	{ "zfs_close", FUNC, 2, 0x8, 0x10, 0 },
};
static const struct code_spec module = { .type = 1,
	.areas = module_areas,
	.n_areas = 2,
	.symbols = module_symbols,
	.n_symbols = 2 };

static void
put_file(struct scene *s, const char *name, const struct code_spec *spec)
{
	struct elf_writer w;
	char path[300];

	code_file_write(&w, spec);
	write_file(temp_dir_file(&s->dir, name, path), w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

static void
open_scene(struct scene *s)
{
	struct hwtd_context_options o = { .size = sizeof(o) };

	memset(s, 0, sizeof(*s));
	temp_dir_create(&s->dir);
	failing_allocator_init(&s->allocator);
	o.allocator = &s->allocator.allocator;
	assert_int_equal(hwtd_context_create(&o, &s->ctx, NULL), HWTD_OK);
	s->roots[0] = s->dir.path;
	s->places.roots = s->roots;
	s->places.n_roots = 1;
	s->places.dirs = s->roots;
	s->places.n_dirs = 1;
	hwtdi_filters_init(&s->filters, s->ctx, &s->places, 0);
	put_file(s, "prog", &prog);
	put_file(s, "libtwo.so", &two);
	put_file(s, "ld-elf.so.1", &rtld);
	put_file(s, "kernel", &kernel);
	put_file(s, "zfs.ko", &module);
}

static void
close_scene(struct scene *s)
{
	hwtdi_filters_fini(&s->filters);
	/* Only the context. */
	assert_int_equal(s->allocator.blocks, 1);
	hwtd_context_destroy(s->ctx);
	temp_dir_remove(&s->dir);
}

static void
add(struct scene *s, const char *text)
{
	assert_int_equal(hwtdi_filters_add(&s->filters, text, NULL), HWTD_OK);
}

/* A record; it is to be taken without an error. */
static bool
see(struct scene *s, const struct hwtdi_filter_load *load)
{
	struct hwtd_error err = { .size = sizeof(err) };
	bool changed;
	int rc = hwtdi_filters_see(&s->filters, load, &changed, &err);

	if (rc != HWTD_OK)
		print_message("%s\n", err.message);
	assert_int_equal(rc, HWTD_OK);
	return (changed);
}

static bool
see_program(struct scene *s, const char *path, uint64_t bias, uint64_t base)
{
	return (see(s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_EXECUTABLE,
		.path = path,
		.addr = bias,
		.base = base }));
}

static bool
see_mapping(struct scene *s, const char *path, uint64_t addr)
{
	return (see(s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_MMAP,
		.path = path,
		.addr = addr,
		/* As stock kernels tell it. */
		.base = 0xdeadbeef }));
}

static bool
see_kernel(struct scene *s, const char *path, uint64_t addr)
{
	return (see(s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_KERNEL,
		.path = path,
		.addr = addr }));
}

/* The ranges are these: pairs, both ends inside. */
static void
check_ranges(struct scene *s, size_t n, const uint64_t *want)
{
	struct hwtdi_filter_range out[8];
	size_t got;

	assert_int_equal(hwtdi_filters_ranges(&s->filters, 8, out, &got, NULL),
	    HWTD_OK);
	assert_int_equal(got, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(out[i].start, want[2 * i]);
		assert_int_equal(out[i].end, want[2 * i + 1]);
		assert_int_equal(out[i].mode, HWTDI_FILTER_TRACE);
	}
}

#define CHECK_RANGES(s, ...)                                                  \
	check_ranges(s,                                                       \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t) / 2, \
	    (const uint64_t[]){ __VA_ARGS__ })

static void
check_missing(struct scene *s, size_t n, const char *part)
{
	char text[2000];

	assert_int_equal(hwtdi_filters_missing(&s->filters, text,
			     sizeof(text)),
	    n);
	print_message("%s\n", text);
	assert_non_null(strstr(text, part));
	assert_int_equal(hwtdi_filters_ready(&s->filters), n == 0);
}

static void
a_function_is_found_when_its_program_starts(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	assert_true(hwtdi_filters_ready(&s.filters));
	add(&s, "main@prog");
	check_missing(&s, 1, "\"main@prog\": no such image was loaded");
	assert_false(see_mapping(&s, "/libtwo.so", 0x10000000));
	assert_false(see_program(&s, "/other", 0x200000, 0));
	check_missing(&s, 1, "no such image");
	assert_true(see_program(&s, "/prog", 0x200000, 0x800000));
	check_missing(&s, 0, "");
	CHECK_RANGES(&s, 0x201100, 0x20113f);
	/* Another program: all is gone. */
	assert_true(see_program(&s, "/other", 0x200000, 0));
	assert_false(hwtdi_filters_ready(&s.filters));
	check_ranges(&s, 0, NULL);
	assert_true(see_program(&s, "/prog", 0x7fff00000000, 0));
	CHECK_RANGES(&s, 0x7fff00001100, 0x7fff0000113f);
	close_scene(&s);
}

static void
a_program_that_is_not_moved_lies_where_its_file_says(void **state)
{
	struct code_spec fixed = prog;
	struct scene s;

	(void)state;
	fixed.type = 2;
	open_scene(&s);
	put_file(&s, "fixed", &fixed);
	add(&s, "main@fixed");
	assert_true(see_program(&s, "/fixed", 0, 0x800000));
	CHECK_RANGES(&s, 0x1100, 0x113f);
	close_scene(&s);
}

static void
the_elf_interpreter_is_found_by_its_base(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "r_debug_state@ld-elf.so.1");
	/* Static programs have none, and tell their own place. */
	assert_false(see_program(&s, "/libtwo.so", 0x200000, 0x200000));
	assert_false(see_program(&s, "/prog", 0x200000, 0));
	/* A program that is not there leads nowhere, which is no error. */
	assert_false(see_program(&s, "/gone", 0x200000, 0x800000));
	assert_true(see_program(&s, "/prog", 0x200000, 0x800000));
	/* The lowest segment of the file, 0x3000, lies at the base. */
	CHECK_RANGES(&s, 0x800020, 0x80002f);
	close_scene(&s);
}

static void
an_interpreter_that_is_missing_is_told(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct code_spec spec = prog;
	struct scene s;
	bool changed;

	(void)state;
	spec.interpreter = "/no-ld.so";
	open_scene(&s);
	put_file(&s, "prog", &spec);
	add(&s, "f@no-ld.so");
	add(&s, "main@prog");
	assert_int_equal(hwtdi_filters_see(&s.filters,
			     &(const struct hwtdi_filter_load){
				 .kind = HWTDI_FILTER_EXECUTABLE,
				 .path = "/prog",
				 .base = 0x800000 },
			     &changed, &err),
	    HWTD_E_NOT_FOUND);
	assert_true(changed);
	check_missing(&s, 1, "no-ld.so");
	close_scene(&s);
}

static void
a_mapping_of_the_only_segment_tells_the_place(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	put_file(&s, "libone.so", &rtld);
	add(&s, "r_debug_state@libone.so");
	assert_true(see_mapping(&s, "/libone.so", 0x10003000));
	CHECK_RANGES(&s, 0x10003020, 0x1000302f);
	/* The same again is nothing new; loaded elsewhere, it moves. */
	assert_false(see_mapping(&s, "/libone.so", 0x10003000));
	assert_true(see_mapping(&s, "/libone.so", 0x20003000));
	CHECK_RANGES(&s, 0x20003020, 0x2000302f);
	close_scene(&s);
}

static void
of_two_segments_the_second_mapping_decides(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "second@libtwo.so");
	assert_false(see_mapping(&s, "/libtwo.so", 0x10006000));
	/* Less 0x2000, or less 0x6000. */
	check_missing(&s, 1,
	    "allows 2 load addresses: 0x10004000, 0x10000000");
	/* This one cannot be of the first place. */
	assert_true(see_mapping(&s, "/libtwo.so", 0x10002000));
	CHECK_RANGES(&s, 0x10006020, 0x1000602f);
	/* It is loaded again; the old place counts until the new is known. */
	assert_false(see_mapping(&s, "/libtwo.so", 0x30002000));
	CHECK_RANGES(&s, 0x10006020, 0x1000602f);
	assert_true(see_mapping(&s, "/libtwo.so", 0x30006000));
	CHECK_RANGES(&s, 0x30006020, 0x3000602f);
	close_scene(&s);
}

static void
the_file_offset_of_a_mapping_decides_at_once(void **state)
{
	struct hwtdi_filter_load load = { .kind = HWTDI_FILTER_MMAP,
		.path = "/libtwo.so",
		.addr = 0x10006000,
		.has_file_off = true,
		.has_length = true,
		.length = 0x2000 };
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "first@libtwo.so");
	/* The areas begin the next pages of the file after the header. */
	load.file_off = 0x2000;
	assert_true(see(&s, &load));
	CHECK_RANGES(&s, 0x10002010, 0x1000201f);
	close_scene(&s);
}

static void
a_length_alone_tells_segments_apart(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "first@libtwo.so");
	assert_true(see(&s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_MMAP,
		.path = "/libtwo.so",
		.addr = 0x10006000,
		.has_length = true,
		.length = 0x2000 }));
	CHECK_RANGES(&s, 0x10002010, 0x1000201f);
	close_scene(&s);
}

static void
mappings_that_stay_in_doubt_tell_their_places(void **state)
{
	static const struct code_area areas[] = { { 0x1000, 0x1000, 0 },
		{ 0x2000, 0x1000, 0 }, { 0x3000, 0x1000, 0 },
		{ 0x4000, 0x1000, 0 }, { 0x5000, 0x1000, 0 } };
	const struct code_spec five = { .areas = areas, .n_areas = 5 };
	struct scene s;

	(void)state;
	open_scene(&s);
	put_file(&s, "five", &five);
	add(&s, "@five");
	assert_false(see_mapping(&s, "/five", 0x10005000));
	check_missing(&s, 1,
	    "allows 5 load addresses: 0x10004000, 0x10003000, 0x10002000, "
	    "...");
	/* Next to it: the first two are out, for nothing is behind them. */
	assert_false(see_mapping(&s, "/five", 0x10002000));
	check_missing(&s, 1,
	    "allows 2 load addresses: 0x10001000, "
	    "0x10000000");
	assert_true(see_mapping(&s, "/five", 0x10001000));
	CHECK_RANGES(&s, 0x10001000, 0x10005fff);
	close_scene(&s);
}

static void
files_of_the_kernel_lie_at_their_address(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "vn_open@kernel");
	add(&s, "zfs_close@zfs.ko");
	assert_true(see_kernel(&s, "zfs.ko", 0xffffffff82000000));
	assert_false(hwtdi_filters_ready(&s.filters));
	assert_true(see_kernel(&s, "kernel", 0xffffffff80200000));
	assert_true(hwtdi_filters_ready(&s.filters));
	/* The second section begins at 0x110, 0x108 rounded up to 16. */
	CHECK_RANGES(&s, 0xffffffff80200100, 0xffffffff8020017f,
	    0xffffffff82000118, 0xffffffff82000127);
	/* Programs come and go; the kernel stays. */
	assert_false(see_program(&s, "/prog", 0x200000, 0x800000));
	assert_true(hwtdi_filters_ready(&s.filters));
	/* A kernel that was moved. */
	assert_true(see_kernel(&s, "kernel", 0xffffffff90200000));
	CHECK_RANGES(&s, 0xffffffff82000118, 0xffffffff82000127,
	    0xffffffff90200100, 0xffffffff9020017f);
	close_scene(&s);
}

static void
a_whole_image_has_a_range_for_each_segment(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "@libtwo.so");
	assert_true(see_program(&s, "/libtwo.so", 0x10000000, 0));
	CHECK_RANGES(&s, 0x10002000, 0x10002fff, 0x10006000, 0x10007fff);
	close_scene(&s);
	/* Of a module, sections with padding between them are one. */
	open_scene(&s);
	add(&s, "@zfs.ko");
	assert_true(see_kernel(&s, "zfs.ko", 0xffffffff82000000));
	CHECK_RANGES(&s, 0xffffffff82000000, 0xffffffff8200014f);
	close_scene(&s);
}

static void
addresses_are_those_of_the_file(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "0x1010-0x1020@prog");
	assert_true(see_program(&s, "/prog", 0x200000, 0));
	CHECK_RANGES(&s, 0x201010, 0x20101f);
	close_scene(&s);
}

static void
ranges_are_sorted_and_joined(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "second@libtwo.so");
	add(&s, "helper@libtwo.so");
	add(&s, "helper@prog");
	add(&s, "main@prog");
	add(&s, "0x1150-0x1170@prog");
	add(&s, "0x1172-0x1174@prog");
	(void)see_program(&s, "/prog", 0x200000, 0);
	/* main and the first helper adjoin; a byte lies before the last. */
	CHECK_RANGES(&s, 0x201100, 0x20116f, 0x201172, 0x201173, 0x201800,
	    0x20181f);
	close_scene(&s);
}

static void
ranges_at_the_end_of_the_address_space_are_joined(void **state)
{
	static const struct code_area areas[] = { { 0xfffffffffffff000, 0x1000,
	    0 } };
	const struct code_spec high = { .type = 2,
		.areas = areas,
		.n_areas = 1 };
	struct scene s;

	(void)state;
	open_scene(&s);
	put_file(&s, "high", &high);
	add(&s, "@high");
	add(&s, "0xfffffffffffff000-0xfffffffffffffff0@high");
	assert_true(see_program(&s, "/high", 0, 0));
	CHECK_RANGES(&s, 0xfffffffffffff000, UINT64_MAX);
	close_scene(&s);
}

static void
more_ranges_than_the_hardware_has_are_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_filter_range out[4];
	struct scene s;
	size_t n;

	(void)state;
	open_scene(&s);
	add(&s, "main@prog");
	add(&s, "helper@prog");
	add(&s, "bare@prog");
	(void)see_program(&s, "/prog", 0, 0);
	assert_int_equal(hwtdi_filters_ranges(&s.filters, 2, out, &n, &err),
	    HWTD_E_LIMIT);
	assert_int_equal(n, 3);
	assert_non_null(strstr(err.message, "3 ranges"));
	assert_non_null(strstr(err.message, "hardware has 2"));
	assert_int_equal(hwtdi_filters_ranges(&s.filters, 3, out, &n, &err),
	    HWTD_OK);
	assert_int_equal(n, 3);
	close_scene(&s);
}

static void
ranges_that_stop_are_kept_apart(void **state)
{
	struct hwtdi_filter_range out[4];
	struct scene s;
	size_t n;

	(void)state;
	open_scene(&s);
	add(&s, "main@prog");
	assert_true(hwtdi_filters_any(&s.filters, HWTDI_FILTER_TRACE));
	assert_false(hwtdi_filters_any(&s.filters, HWTDI_FILTER_STOP));
	add(&s, "stop:0x1100-0x1200@prog");
	assert_true(hwtdi_filters_any(&s.filters, HWTDI_FILTER_STOP));
	(void)see_program(&s, "/prog", 0, 0);
	assert_int_equal(hwtdi_filters_ranges(&s.filters, 4, out, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, 2);
	assert_int_equal(out[0].mode, HWTDI_FILTER_TRACE);
	assert_int_equal(out[0].end, 0x113f);
	assert_int_equal(out[1].mode, HWTDI_FILTER_STOP);
	assert_int_equal(out[1].end, 0x11ff);
	close_scene(&s);
}

static void
functions_without_a_size_are_told(void **state)
{
	char text[200];
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "bare@prog");
	add(&s, "main@prog");
	assert_int_equal(hwtdi_filters_guessed(&s.filters, text, sizeof(text)),
	    0);
	assert_string_equal(text, "");
	(void)see_program(&s, "/prog", 0, 0);
	CHECK_RANGES(&s, 0x1100, 0x113f, 0x1900, 0x197f);
	assert_int_equal(hwtdi_filters_guessed(&s.filters, text, sizeof(text)),
	    1);
	assert_non_null(strstr(text, "\"bare@prog\" has no size"));
	assert_int_equal(hwtdi_filters_guessed(&s.filters, NULL, 0), 1);
	close_scene(&s);
}

static const struct {
	const char *text;
	int code;
	const char *message;
} wrong[] = {
	{ "mein@prog", HWTD_E_NOT_FOUND,
	    "prog: no function \"mein\"; there is \"main\"" },
	{ "helperx@prog", HWTD_E_NOT_FOUND, "there is \"helper\"" },
	{ "near@prog", HWTD_E_NOT_FOUND,
	    "there is \"near1\", \"near2\" and \"near3\"" },
	{ "nothing_like_it@prog", HWTD_E_NOT_FOUND,
	    "prog: no function \"nothing_like_it\"" },
	{ "puts@prog", HWTD_E_NOT_FOUND, "it is of another image" },
	{ "pick@prog", HWTD_E_UNSUPPORTED,
	    "\"pick\" is an indirect function" },
	{ "table@prog", HWTD_E_UNSUPPORTED, "\"table\" is no code" },
	{ "0x9000-0x9001@prog", HWTD_E_NOT_FOUND, "no code at 0x9000" },
	{ "0x1800-0x2001@prog", HWTD_E_NOT_FOUND,
	    "the code at 0x1800 ends at 0x2000, before 0x2001" },
};

static void
what_cannot_be_found_in_its_image_is_told_with_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct scene s;
		bool changed;

		open_scene(&s);
		add(&s, wrong[i].text);
		add(&s, "main@prog");
		assert_int_equal(hwtdi_filters_see(&s.filters,
				     &(const struct hwtdi_filter_load){
					 .kind = HWTDI_FILTER_EXECUTABLE,
					 .path = "/prog" },
				     &changed, &err),
		    wrong[i].code);
		print_message("%s\n", err.message);
		assert_non_null(strstr(err.message, wrong[i].message));
		/* The other one was found. */
		assert_true(changed);
		CHECK_RANGES(&s, 0x1100, 0x113f);
		check_missing(&s, 1, wrong[i].message);
		close_scene(&s);
	}
}

static void
an_image_of_the_same_name_takes_nothing_away(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct scene s;
	bool changed;

	(void)state;
	open_scene(&s);
	put_file(&s, "libone.so", &rtld);
	add(&s, "r_debug_state@libone.so");
	assert_true(see_mapping(&s, "/libone.so", 0x10003000));
	put_file(&s, "libone.so", &two);
	assert_int_equal(hwtdi_filters_see(&s.filters,
			     &(const struct hwtdi_filter_load){
				 .kind = HWTDI_FILTER_MMAP,
				 .path = "/libone.so",
				 .addr = 0x20002000,
				 .has_length = true,
				 .length = 0x1000 },
			     &changed, &err),
	    HWTD_E_NOT_FOUND);
	assert_false(changed);
	CHECK_RANGES(&s, 0x10003020, 0x1000302f);
	close_scene(&s);
}

static void
write_text(struct scene *s, const char *name, const char *text)
{
	char path[300];

	write_file(temp_dir_file(&s->dir, name, path), text, strlen(text));
}

static void
images_that_cannot_be_used_are_told(void **state)
{
	static const struct code_area no_code[] = { { 0, 0, 0 } };
	const struct code_spec empty = { .areas = no_code };
	struct code_spec core = prog;
	static const struct {
		const char *path;
		uint32_t kind;
		uint64_t addr;
		int code;
	} cases[] = {
		{ "/gone", HWTDI_FILTER_MMAP, 0x1000, HWTD_E_NOT_FOUND },
		{ "/script", HWTDI_FILTER_EXECUTABLE, 0, HWTD_E_UNRECOGNIZED },
		{ "/cut", HWTDI_FILTER_MMAP, 0x1000, HWTD_E_NOT_FOUND },
		{ "/module", HWTDI_FILTER_MMAP, 0x1000, HWTD_E_UNSUPPORTED },
		{ "/core", HWTDI_FILTER_MMAP, 0x1000, HWTD_E_UNSUPPORTED },
		{ "/empty", HWTDI_FILTER_EXECUTABLE, 0, HWTD_E_NOT_FOUND },
		/* No segment can lie where it is no page. */
		{ "/prog", HWTDI_FILTER_MMAP, 0x1001, HWTD_E_NOT_FOUND },
		{ "/prog", 0, 0, HWTD_E_INVALID },
	};
	struct scene s;
	char text[100];

	(void)state;
	core.type = 4;
	open_scene(&s);
	write_text(&s, "script", "#!/bin/sh\n");
	write_text(&s, "cut", "\177ELF\2\1\1");
	put_file(&s, "module", &module);
	put_file(&s, "core", &core);
	put_file(&s, "empty", &empty);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		bool changed = true;

		hwtdi_filters_fini(&s.filters);
		hwtdi_filters_init(&s.filters, s.ctx, &s.places, 0);
		(void)snprintf(text, sizeof(text), "@%s", cases[i].path + 1);
		add(&s, text);
		assert_int_equal(hwtdi_filters_see(&s.filters,
				     &(const struct hwtdi_filter_load){
					 .kind = cases[i].kind,
					 .path = cases[i].path,
					 .addr = cases[i].addr },
				     &changed, &err),
		    cases[i].code);
		print_message("%s\n", err.message);
		assert_false(changed);
		assert_int_equal(err.code, cases[i].code);
		if (cases[i].code != HWTD_E_INVALID)
			check_missing(&s, 1, cases[i].path + 1);
	}
	close_scene(&s);
}

static void
a_module_that_is_damaged_is_told(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct elf_writer w;
	struct scene s;
	char path[300];
	bool changed;

	(void)state;
	open_scene(&s);
	code_file_write(&w, &module);
	/* Without the end of the table of sections. */
	write_file(temp_dir_file(&s.dir, "zfs.ko", path), w.bytes,
	    w.n_bytes - 64);
	elf_writer_free(&w);
	add(&s, "@zfs.ko");
	assert_int_equal(hwtdi_filters_see(&s.filters,
			     &(const struct hwtdi_filter_load){
				 .kind = HWTDI_FILTER_KERNEL,
				 .path = "zfs.ko",
				 .addr = 0xffffffff82000000 },
			     &changed, &err),
	    HWTD_E_CORRUPT);
	check_missing(&s, 1, "section headers");
	close_scene(&s);
}

static void
a_file_that_the_caller_knows_is_taken(void **state)
{
	char path[300];
	struct scene s;

	(void)state;
	open_scene(&s);
	hwtdi_filters_init(&s.filters, s.ctx, NULL, 0);
	add(&s, "vn_open@kernel.old");
	assert_true(see(&s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_KERNEL,
		.path = "kernel.old",
		.file = temp_dir_file(&s.dir, "kernel", path),
		.addr = 0xffffffff80200000 }));
	CHECK_RANGES(&s, 0xffffffff80200100, 0xffffffff8020017f);
	/* And without any places, paths are taken as they are. */
	add(&s, "main@prog");
	assert_true(see_program(&s, temp_dir_file(&s.dir, "prog", path), 0,
	    0));
	assert_true(hwtdi_filters_ready(&s.filters));
	close_scene(&s);
}

/* Stripped files, with debug files or without. */

static const uint8_t build_id[20] = { 0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	10, 11, 12, 13, 14, 15, 16, 17, 18 };
static const struct code_symbol exported[] = {
	{ "exported", FUNC, 1, 0x1200, 0x10, 0 },
	{ "puts", FUNC, 0, 0, 0, 0 },
	{ "shared", OBJECT, 1, 0x1b00, 4, 0 },
};
static const struct code_spec stripped = { .areas = prog_areas,
	.n_areas = 1,
	.dynamic = exported,
	.n_dynamic = 3,
	.build_id = build_id };
static const struct code_spec debug = { .areas = prog_areas,
	.n_areas = 1,
	.symbols = prog_symbols,
	.n_symbols = 11,
	.build_id = build_id,
	.debug = true };
#define DEBUG_NAME "ab/cd0102030405060708090a0b0c0d0e0f101112.debug"

static int
find_stripped(struct scene *s, const char *text, struct hwtd_error *err)
{
	bool changed;

	hwtdi_filters_fini(&s->filters);
	hwtdi_filters_init(&s->filters, s->ctx, &s->places, 0);
	add(s, text);
	err->size = sizeof(*err);
	return (hwtdi_filters_see(&s->filters,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_EXECUTABLE,
		.path = "/stripped" },
	    &changed, err));
}

/* The same program again, whatever comes of it. */
static int
see_another(struct scene *s)
{
	bool changed;

	return (hwtdi_filters_see(&s->filters,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_EXECUTABLE,
		.path = "/stripped" },
	    &changed, NULL));
}

static void
stripped_files_have_their_functions_in_debug_files(void **state)
{
	static const uint8_t other_id[20] = { 0x12 };
	struct code_spec other = debug;
	const char *dirs[1];
	struct hwtd_error err;
	struct scene s;
	char path[300];

	(void)state;
	open_scene(&s);
	other.build_id = other_id;
	put_file(&s, "stripped", &stripped);
	assert_int_equal(find_stripped(&s, "exported@stripped", &err),
	    HWTD_OK);
	CHECK_RANGES(&s, 0x1200, 0x120f);
	assert_int_equal(find_stripped(&s, "main@stripped", &err),
	    HWTD_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "it is stripped"));
	dirs[0] = s.dir.path;
	s.places.build_id_dirs = dirs;
	s.places.n_build_id_dirs = 1;
	put_file(&s, "debug", &debug);
	(void)snprintf(path, sizeof(path),
	    "cd '%s' && mkdir ab && mv debug " DEBUG_NAME, s.dir.path);
	assert_int_equal(system(path), 0);
	assert_int_equal(find_stripped(&s, "main@stripped", &err), HWTD_OK);
	CHECK_RANGES(&s, 0x1100, 0x113f);
	assert_int_equal(find_stripped(&s, "mein@stripped", &err),
	    HWTD_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "there is \"main\""));
	assert_null(strstr(err.message, "it is stripped"));
	/* The debug files are looked for once. */
	add(&s, "helper@stripped");
	add(&s, "main@stripped");
	(void)see_another(&s);
	CHECK_RANGES(&s, 0x1100, 0x115f, 0x1800, 0x181f);
	/* Those of another build are none. */
	put_file(&s, "debug", &other);
	(void)snprintf(path, sizeof(path), "cd '%s' && mv debug " DEBUG_NAME,
	    s.dir.path);
	assert_int_equal(system(path), 0);
	assert_int_equal(find_stripped(&s, "main@stripped", &err),
	    HWTD_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "it is stripped"));
	(void)snprintf(path, sizeof(path), "rm -r '%s/ab'", s.dir.path);
	assert_int_equal(system(path), 0);
	close_scene(&s);
}

static void
a_program_can_be_tried_before_it_is_started(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	char path[300];
	struct scene s;

	(void)state;
	open_scene(&s);
	(void)temp_dir_file(&s.dir, "prog", path);
	add(&s, "first@libtwo.so");
	/* A file that no filter names is not read. */
	assert_int_equal(hwtdi_filters_try(&s.filters, "/no/such/file", &err),
	    HWTD_OK);
	add(&s, "main@prog");
	add(&s, "helper@prog");
	assert_int_equal(hwtdi_filters_try(&s.filters, path, &err), HWTD_OK);
	/* Nothing was changed. */
	check_missing(&s, 3, "\"main@prog\": no such image was loaded");
	add(&s, "mein@prog");
	assert_int_equal(hwtdi_filters_try(&s.filters, path, &err),
	    HWTD_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "\"mein\""));
	assert_int_equal(hwtdi_filters_try(&s.filters, "/gone/prog", &err),
	    HWTD_E_NOT_FOUND);
	check_missing(&s, 4, "\"mein@prog\": no such image was loaded");
	add(&s, "zfs_open@zfs.ko");
	assert_int_equal(hwtdi_filters_try(&s.filters,
			     temp_dir_file(&s.dir, "zfs.ko", path), &err),
	    HWTD_OK);
	close_scene(&s);
}

static void
there_are_64_filters_at_most(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct scene s;

	(void)state;
	open_scene(&s);
	for (size_t i = 0; i < HWTDI_FILTERS_MAX; i++)
		add(&s, "main@prog");
	assert_int_equal(hwtdi_filters_add(&s.filters, "helper@prog", &err),
	    HWTD_E_LIMIT);
	assert_non_null(strstr(err.message, "helper@prog"));
	assert_non_null(strstr(err.message, "64"));
	(void)see_program(&s, "/prog", 0, 0);
	CHECK_RANGES(&s, 0x1100, 0x113f);
	close_scene(&s);
}

static void
mappings_of_65_images_are_one_too_many(void **state)
{
	char path[300], other[600];

	(void)state;
	for (int n = 63; n <= 64; n++) {
		struct scene s;

		open_scene(&s);
		hwtdi_filters_init(&s.filters, s.ctx, NULL, 0);
		(void)temp_dir_file(&s.dir, "libtwo.so", path);
		add(&s, "second@libtwo.so");
		assert_false(see_mapping(&s, path, 0x10006000));
		/* Other names of the file are other images. */
		for (int i = 0; i < n; i++) {
			(void)snprintf(other, sizeof(other),
			    "%s%.*s/libtwo.so", s.dir.path, 1 + i,
			    "////////////////////////////////"
			    "////////////////////////////////");
			assert_false(see_mapping(&s, other, 0x20006000));
		}
		/* Of the first one only this is known, or that as well. */
		assert_int_equal(see_mapping(&s, path, 0x10002000), n == 63);
		close_scene(&s);
	}
}

static void
text_is_cut_off_where_there_is_no_room(void **state)
{
	char text[12];
	struct scene s;

	(void)state;
	open_scene(&s);
	add(&s, "main@prog");
	add(&s, "helper@prog");
	assert_int_equal(hwtdi_filters_missing(&s.filters, text, sizeof(text)),
	    2);
	assert_string_equal(text, "\"main@prog\"");
	assert_int_equal(hwtdi_filters_missing(&s.filters, NULL, 0), 2);
	close_scene(&s);
}

/* Everything there is, until an allocation fails; false: none did. */
static bool
run_short_of_memory(struct scene *s, uint64_t n, int *rc_out)
{
	static const struct hwtdi_filter_load loads[] = {
		{ .kind = HWTDI_FILTER_KERNEL,
		    .path = "kernel",
		    .addr = 0xffffffff80200000 },
		{ .kind = HWTDI_FILTER_KERNEL,
		    .path = "zfs.ko",
		    .addr = 0xffffffff82000000 },
		{ .kind = HWTDI_FILTER_EXECUTABLE,
		    .path = "/prog",
		    .base = 0x800000 },
		{ .kind = HWTDI_FILTER_EXECUTABLE,
		    .path = "/stripped",
		    .base = 0x800000 },
		{ .kind = HWTDI_FILTER_MMAP,
		    .path = "/libtwo.so",
		    .addr = 0x10006000,
		    .has_length = true,
		    .length = 0x2000 },
	};
	static const char *const texts[] = { "vn_open@kernel", "@zfs.ko",
		"r_debug_state@ld-elf.so.1", "0x1000-0x1010@stripped",
		"second@libtwo.so", "exported@stripped" };
	struct hwtdi_filter_range out[8];
	char path[300];
	size_t n_out;
	bool changed;
	int rc = HWTD_OK;

	failing_allocator_arm(&s->allocator, n, false);
	for (size_t i = 0; i < 6 && rc == HWTD_OK; i++)
		rc = hwtdi_filters_add(&s->filters, texts[i], NULL);
	if (rc == HWTD_OK)
		rc = hwtdi_filters_try(&s->filters,
		    temp_dir_file(&s->dir, "stripped", path), NULL);
	for (size_t i = 0; i < 5 && rc == HWTD_OK; i++)
		rc = hwtdi_filters_see(&s->filters, &loads[i], &changed, NULL);
	if (rc == HWTD_OK)
		rc = hwtdi_filters_ranges(&s->filters, 8, out, &n_out, NULL);
	failing_allocator_arm(&s->allocator, 0, false);
	*rc_out = rc;
	return (rc != HWTD_OK);
}

static void
running_out_of_memory_is_told_at_any_time(void **state)
{
	uint64_t n = 1;
	int rc = HWTD_E_NOMEM;

	(void)state;
	for (; rc != HWTD_OK; n++) {
		struct scene s;

		open_scene(&s);
		put_file(&s, "stripped", &stripped);
		if (run_short_of_memory(&s, n, &rc))
			assert_int_equal(rc, HWTD_E_NOMEM);
		assert_true(n < 1000);
		close_scene(&s);
	}
	print_message("%" PRIu64 " allocations\n", n);
	assert_true(n > 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found_when_its_program_starts),
		cmocka_unit_test(
		    a_program_that_is_not_moved_lies_where_its_file_says),
		cmocka_unit_test(the_elf_interpreter_is_found_by_its_base),
		cmocka_unit_test(an_interpreter_that_is_missing_is_told),
		cmocka_unit_test(
		    a_mapping_of_the_only_segment_tells_the_place),
		cmocka_unit_test(of_two_segments_the_second_mapping_decides),
		cmocka_unit_test(the_file_offset_of_a_mapping_decides_at_once),
		cmocka_unit_test(a_length_alone_tells_segments_apart),
		cmocka_unit_test(
		    mappings_that_stay_in_doubt_tell_their_places),
		cmocka_unit_test(files_of_the_kernel_lie_at_their_address),
		cmocka_unit_test(a_whole_image_has_a_range_for_each_segment),
		cmocka_unit_test(addresses_are_those_of_the_file),
		cmocka_unit_test(ranges_are_sorted_and_joined),
		cmocka_unit_test(
		    ranges_at_the_end_of_the_address_space_are_joined),
		cmocka_unit_test(
		    more_ranges_than_the_hardware_has_are_refused),
		cmocka_unit_test(ranges_that_stop_are_kept_apart),
		cmocka_unit_test(functions_without_a_size_are_told),
		cmocka_unit_test(
		    what_cannot_be_found_in_its_image_is_told_with_the_reason),
		cmocka_unit_test(an_image_of_the_same_name_takes_nothing_away),
		cmocka_unit_test(images_that_cannot_be_used_are_told),
		cmocka_unit_test(a_module_that_is_damaged_is_told),
		cmocka_unit_test(a_file_that_the_caller_knows_is_taken),
		cmocka_unit_test(
		    stripped_files_have_their_functions_in_debug_files),
		cmocka_unit_test(a_program_can_be_tried_before_it_is_started),
		cmocka_unit_test(there_are_64_filters_at_most),
		cmocka_unit_test(mappings_of_65_images_are_one_too_many),
		cmocka_unit_test(text_is_cut_off_where_there_is_no_room),
		cmocka_unit_test(running_out_of_memory_is_told_at_any_time),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
