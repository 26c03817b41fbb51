/*
 * Numbers times a ratio, against exact quotients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/ratio.h"

static void
ratios_are_exact(void **state)
{
	static const struct {
		uint64_t many, per, n, want;
	} cases[] = {
		{ 0, 1, UINT64_MAX, 0 },
		{ 1, 2, 0, 0 },
		{ 1, 2, 1, 0 },
		{ 1, 2, UINT64_MAX, INT64_MAX },
		{ 1, 3, 3, 1 },
		{ 1, 3, 8, 2 },
		{ 1, 3, 9, 3 },
		{ 1, 3, UINT64_MAX, UINT64_MAX / 3 },
		{ 2, 3, 3, 2 },
		{ 2, 3, 4, 2 },
		{ 99, 100, 100, 99 },
		{ 99, 100, 101, 99 },
		{ 99, 100, 200, 198 },
		/* Products that do not fit. */
		{ INT64_MAX - 1, INT64_MAX, INT64_MAX, INT64_MAX - 1 },
		{ INT64_MAX - 1, INT64_MAX, 2, 1 },
		{ INT64_MAX - 1, INT64_MAX, UINT64_MAX, UINT64_MAX - 3 },
		{ (uint64_t)1 << 40, (uint64_t)1 << 60, UINT64_MAX,
		    ((uint64_t)1 << 44) - 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_ratio r;

		assert_true(hwtdi_ratio_init(&r, cases[i].many, cases[i].per));
		assert_true(hwtdi_ratio_of(&r, cases[i].n) == cases[i].want);
	}
}

static void
others_are_refused(void **state)
{
	struct hwtdi_ratio r;

	(void)state;
	assert_false(hwtdi_ratio_init(&r, 0, 0));
	assert_false(hwtdi_ratio_init(&r, 1, 1));
	assert_false(hwtdi_ratio_init(&r, 3, 2));
	assert_false(hwtdi_ratio_init(&r, 1, (uint64_t)INT64_MAX + 1));
	assert_true(r.per == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratios_are_exact),
		cmocka_unit_test(others_are_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
