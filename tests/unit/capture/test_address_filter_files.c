/*
 * Filters by address: files that are missing, damaged, stripped or known, and
 * limits.
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
	.n_symbols = N_PROG_SYMBOLS,
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
