/*
 * Filters by address as users write them, and which images they name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/address_filter_internal.h"
#include "support/failing_allocator.h"
#include "support/temp_dir.h"

static const struct {
	const char *text;
	uint32_t what, mode;
	const char *function, *image;
	uint64_t first, last;
} good[] = {
	{ "main@prog", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_TRACE, "main",
	    "prog", 0, 0 },
	{ "stop:exit@libc.so.7", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_STOP,
	    "exit", "libc.so.7", 0, 0 },
	{ "foo@@VER@lib.so", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_TRACE,
	    "foo@@VER", "lib.so", 0, 0 },
	{ "foo@VER@lib.so", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_TRACE,
	    "foo@VER", "lib.so", 0, 0 },
	{ "foo@/a@b/c@d", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_TRACE, "foo",
	    "/a@b/c@d", 0, 0 },
	{ "foo@./c@d", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_TRACE, "foo",
	    "./c@d", 0, 0 },
	{ "foo@V@../c@d", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_TRACE, "foo@V",
	    "../c@d", 0, 0 },
	{ "_ZN1a1bEv@x", HWTDI_FILTER_FUNCTION, HWTDI_FILTER_TRACE,
	    "_ZN1a1bEv", "x", 0, 0 },
	{ "@prog", HWTDI_FILTER_IMAGE, HWTDI_FILTER_TRACE, NULL, "prog", 0,
	    0 },
	{ "stop:@/x/prog", HWTDI_FILTER_IMAGE, HWTDI_FILTER_STOP, NULL,
	    "/x/prog", 0, 0 },
	{ "0x1000-0x1fFf@kernel", HWTDI_FILTER_ADDRESSES, HWTDI_FILTER_TRACE,
	    NULL, "kernel", 0x1000, 0x1ffe },
	{ "0-1@x", HWTDI_FILTER_ADDRESSES, HWTDI_FILTER_TRACE, NULL, "x", 0,
	    0 },
	{ "stop:16-0X20@x", HWTDI_FILTER_ADDRESSES, HWTDI_FILTER_STOP, NULL,
	    "x", 16, 31 },
	{ "0xfffffffffffffffe-0xffffffffffffffff@x", HWTDI_FILTER_ADDRESSES,
	    HWTDI_FILTER_TRACE, NULL, "x", UINT64_MAX - 1, UINT64_MAX - 1 },
};

static const struct {
	const char *text;
	const char *why;
} bad[] = {
	{ "", "no '@'" },
	{ "main", "no '@'" },
	{ "stop:", "no '@'" },
	{ "main@", "names no image" },
	{ "main@/usr/lib/", "names no image" },
	{ "foo@@VER", "a version of a function, but no image" },
	{ "@@x", "a version of a function, but no image" },
	{ "0x1000@x", "two addresses" },
	{ "0x1000-@x", "two addresses" },
	{ "0x-0x2@x", "two addresses" },
	{ "1+2@x", "two addresses" },
	{ "0x1-0xg@x", "two addresses" },
	{ "1-2-3@x", "two addresses" },
	{ "1-a@x", "two addresses" },
	{ "9lives@x", "two addresses" },
	{ "0-0x10000000000000000@x", "two addresses" },
	{ "0-18446744073709551616@x", "two addresses" },
	{ "2-2@x", "not above the first" },
	{ "2-1@x", "not above the first" },
};

static struct hwtd_context *
new_context(struct failing_allocator *f)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_context *ctx;

	failing_allocator_init(f);
	o.allocator = &f->allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static void
texts_are_taken_apart(void **state)
{
	struct hwtdi_address_filter filter;
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		print_message("%s\n", good[i].text);
		assert_int_equal(hwtdi_address_filter_parse(&filter, ctx,
				     good[i].text, NULL),
		    HWTD_OK);
		assert_string_equal(filter.text, good[i].text);
		assert_int_equal(filter.what, good[i].what);
		assert_int_equal(filter.mode, good[i].mode);
		assert_string_equal(filter.image, good[i].image);
		assert_int_equal(filter.first, good[i].first);
		assert_int_equal(filter.last, good[i].last);
		if (good[i].function == NULL)
			assert_null(filter.function);
		else
			assert_string_equal(filter.function, good[i].function);
		hwtdi_address_filter_fini(&filter, ctx);
		assert_int_equal(f.blocks, 1);
	}
	hwtd_context_destroy(ctx);
}

static void
what_is_no_filter_is_refused_with_the_reason(void **state)
{
	struct hwtdi_address_filter filter;
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };

		assert_int_equal(hwtdi_address_filter_parse(&filter, ctx,
				     bad[i].text, &err),
		    HWTD_E_INVALID);
		print_message("%s\n", err.message);
		assert_non_null(strstr(err.message, bad[i].why));
		assert_non_null(strstr(err.message, bad[i].text));
		assert_int_equal(f.blocks, 1);
	}
	hwtd_context_destroy(ctx);
}

static void
texts_of_4096_bytes_and_more_are_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_address_filter filter;
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	char text[4097];

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text, "f@", 2);
	text[4095] = '\0';
	assert_int_equal(hwtdi_address_filter_parse(&filter, ctx, text, NULL),
	    HWTD_OK);
	hwtdi_address_filter_fini(&filter, ctx);
	text[4095] = 'a';
	text[4096] = '\0';
	assert_int_equal(hwtdi_address_filter_parse(&filter, ctx, text, &err),
	    HWTD_E_LIMIT);
	assert_non_null(strstr(err.message, "4095"));
	hwtd_context_destroy(ctx);
}

static const struct {
	const char *image;
	const char *path;
	bool names;
} named[] = {
	{ "libc.so.7", "/lib/libc.so.7", true },
	{ "libc.so.7", "libc.so.7", true },
	{ "libc.so", "/lib/libc.so.7", false },
	{ "c.so.7", "/lib/libc.so.7", false },
	{ "kernel", "kernel", true },
	{ "/lib/libc.so.7", "/lib/libc.so.7", true },
	{ "/lib/libc.so.7", "/usr/lib/libc.so.7", false },
	{ "lib/libc.so.7", "/usr/lib/libc.so.7", true },
	{ "ib/libc.so.7", "/usr/lib/libc.so.7", false },
	{ "./build/prog", "/home/u/build/prog", true },
	{ "././prog", "/home/u/prog", true },
	{ "./prog", "/home/u/pro", false },
	{ "x/very/long/path/prog", "prog", false },
};

static void
images_are_named_by_base_name_path_or_end_of_a_path(void **state)
{
	struct hwtdi_address_filter filter = { .what = HWTDI_FILTER_IMAGE };

	(void)state;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		print_message("%s, %s\n", named[i].image, named[i].path);
		filter.image = named[i].image;
		assert_int_equal(hwtdi_address_filter_names(&filter, NULL,
				     named[i].path, NULL),
		    named[i].names);
		/* Also where the caller knows the file by another path. */
		assert_int_equal(hwtdi_address_filter_names(&filter, NULL,
				     "other", named[i].path),
		    named[i].names);
	}
}

static void
links_and_roots_lead_to_an_image(void **state)
{
	struct hwtdi_address_filter filter = { .what = HWTDI_FILTER_IMAGE };
	char file[300], link[300], root[300], slow[600];
	const char *roots[2] = { "/no/such/root", root };
	const struct hwtdi_image_places places = { .roots = roots,
		.n_roots = 2 };
	char deep[HWTDI_SEARCH_PATH_MAX + 10];
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "file", file), "x", 1);
	assert_int_equal(symlink(file, temp_dir_file(&dir, "link", link)), 0);
	(void)snprintf(root, sizeof(root), "%s/", dir.path);
	filter.image = link;
	assert_true(hwtdi_address_filter_names(&filter, NULL, file, NULL));
	assert_true(hwtdi_address_filter_names(&filter, NULL, "x", file));
	assert_false(hwtdi_address_filter_names(&filter, NULL, "/x", NULL));
	/* Paths of records are below a root. */
	assert_false(hwtdi_address_filter_names(&filter, NULL, "/file", NULL));
	assert_true(hwtdi_address_filter_names(&filter, &places, "/file",
	    NULL));
	filter.image = file;
	assert_true(hwtdi_address_filter_names(&filter, &places, "/file",
	    NULL));
	(void)snprintf(slow, sizeof(slow), "%s/./file", dir.path);
	filter.image = slow;
	assert_true(hwtdi_address_filter_names(&filter, &places, "/file",
	    NULL));
	memset(deep, 'd', sizeof(deep));
	deep[0] = '/';
	deep[sizeof(deep) - 1] = '\0';
	assert_false(hwtdi_address_filter_names(&filter, &places, deep, NULL));
	/* A base name leads nowhere. */
	filter.image = "link";
	assert_false(hwtdi_address_filter_names(&filter, &places, "/file",
	    NULL));
	temp_dir_remove(&dir);
}

static void
running_out_of_memory_is_told(void **state)
{
	struct hwtdi_address_filter filter;
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);

	(void)state;
	for (uint64_t n = 1; n <= 2; n++) {
		failing_allocator_arm(&f, n, false);
		assert_int_equal(hwtdi_address_filter_parse(&filter, ctx,
				     "f@x", NULL),
		    HWTD_E_NOMEM);
		assert_int_equal(f.blocks, 1);
	}
	failing_allocator_arm(&f, 0, false);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_taken_apart),
		cmocka_unit_test(what_is_no_filter_is_refused_with_the_reason),
		cmocka_unit_test(texts_of_4096_bytes_and_more_are_refused),
		cmocka_unit_test(
		    images_are_named_by_base_name_path_or_end_of_a_path),
		cmocka_unit_test(links_and_roots_lead_to_an_image),
		cmocka_unit_test(running_out_of_memory_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
