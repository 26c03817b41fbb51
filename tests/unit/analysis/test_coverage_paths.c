/*
 * Which images and source files a coverage is of, and what paths become.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/coverage/coverage_paths.h"

static void
paths_are_shortened_and_mapped(void **state)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "/a/b.c", "/a/b.c" },
		{ "/a//b/./c.c", "/a/b/c.c" },
		{ "/a/b/../c.c", "/a/c.c" },
		{ "/a/../../c.c", "/c.c" },
		{ "../a/../b.c", "../b.c" },
		{ "../../b.c", "../../b.c" },
		{ "./b.c", "b.c" },
		{ "a/..", NULL },
		{ "/", "/" },
		{ "//", "/" },
		{ "a/b/../../../c", "../c" },
		{ "...", "..." },
		{ "/build/x/y.c", "src/y.c" },
		{ "/build/x/../z/y.c", "/build/z/y.c" },
		{ "/gone/y.c", NULL },
		{ "/deep/a/b/test_y.c", NULL },
	};
	static const struct hwtd_path_map maps[] = {
		{ "/build/x", "src" },
		{ "/build/x/y.c", "never" },
	};
	static const char *const excludes[] = { "/gone/*", "*/test_*" };
	const struct hwtd_coverage_options o = { .size = sizeof(o),
		.maps = maps,
		.n_maps = 2,
		.excludes = excludes,
		.n_excludes = 2 };
	static char buf[HWTDI_COV_PATH_MAX], large[HWTDI_COV_PATH_MAX + 9];
	struct hwtd_context *ctx;
	struct hwtdi_cov_paths p;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtdi_cov_paths_init(&p, ctx, &o, NULL), HWTD_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].path);
		assert_int_equal(hwtdi_cov_paths_map(&p, cases[i].path, buf),
		    cases[i].want != NULL);
		if (cases[i].want != NULL)
			assert_string_equal(buf, cases[i].want);
	}
	memset(large, 'x', sizeof(large) - 1);
	assert_false(hwtdi_cov_paths_map(&p, large, buf));
	hwtdi_cov_paths_fini(&p);
	hwtd_context_destroy(ctx);
}

static void
images_are_chosen_by_the_end_of_their_path_or_build_id(void **state)
{
	static const char *const images[] = { "x.so", "0aff" };
	const struct hwtd_coverage_options o = { .size = sizeof(o),
		.images = images,
		.n_images = 2 };
	const uint8_t id[] = { 0x0a, 0xff };
	struct hwtd_context *ctx;
	struct hwtdi_cov_paths p;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtdi_cov_paths_init(&p, ctx, &o, NULL), HWTD_OK);
	assert_true(hwtdi_cov_paths_has_image(&p, "x.so", NULL, 0));
	assert_true(hwtdi_cov_paths_has_image(&p, "/lib/x.so", NULL, 0));
	assert_false(hwtdi_cov_paths_has_image(&p, "/lib/ax.so", NULL, 0));
	assert_false(hwtdi_cov_paths_has_image(&p, "so", NULL, 0));
	assert_true(hwtdi_cov_paths_has_image(&p, "y", id, 2));
	assert_false(hwtdi_cov_paths_has_image(&p, "y", id, 1));
	assert_false(hwtdi_cov_paths_has_image(&p, NULL, NULL, 0));
	hwtdi_cov_paths_fini(&p);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_shortened_and_mapped),
		cmocka_unit_test(
		    images_are_chosen_by_the_end_of_their_path_or_build_id),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
