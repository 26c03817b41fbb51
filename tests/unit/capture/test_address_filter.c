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

#include "filter_scene.h"

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
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
