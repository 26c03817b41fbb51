/*
 * Which engines and which libraries underneath there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "decode/decoder.h"

static void
libipt_is_found_by_technology_and_by_name(void **state)
{
	const struct hwtdi_engine *e;

	(void)state;
	e = hwtdi_engine_find(HWTD_TECH_INTEL_PT, "libipt");
	assert_non_null(e);
	assert_string_equal(e->name, "libipt");
	assert_int_equal(e->tech, HWTD_TECH_INTEL_PT);
	assert_true(hwtdi_engine_exists("libipt"));
}

static void
intel_pt_has_a_default_engine(void **state)
{
	const struct hwtdi_engine *e;

	(void)state;
	e = hwtdi_engine_find(HWTD_TECH_INTEL_PT, NULL);
	assert_non_null(e);
	assert_int_equal(e->tech, HWTD_TECH_INTEL_PT);
	assert_true(hwtdi_engine_exists(e->name));
}

static void
an_engine_is_not_found_for_another_technology(void **state)
{
	(void)state;
	assert_null(hwtdi_engine_find(HWTD_TECH_UNKNOWN, NULL));
	assert_null(hwtdi_engine_find(HWTD_TECH_SPE, "libipt"));
	assert_null(hwtdi_engine_find(99, NULL));
}

static void
names_count_in_whole_and_in_their_case(void **state)
{
	static const char *const names[] = { "", "lib", "libipt2", "LIBIPT",
		" libipt" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_false(hwtdi_engine_exists(names[i]));
		assert_null(hwtdi_engine_find(HWTD_TECH_INTEL_PT, names[i]));
	}
}

static void
each_technology_that_is_listed_has_one_default(void **state)
{
	size_t defaults[HWTD_TECH_SPE + 1] = { 0 };
	struct hwtd_engine e;
	bool libipt = false;
	size_t n = 0;

	(void)state;
	for (;; n++) {
		memset(&e, 0, sizeof(e));
		e.size = sizeof(e);
		if (hwtd_engine(n, &e) == HWTD_END)
			break;
		assert_true(n < 100);
		assert_int_equal(e.size, sizeof(e));
		assert_in_range(e.tech, HWTD_TECH_INTEL_PT, HWTD_TECH_SPE);
		assert_true(e.is_default <= 1);
		defaults[e.tech] += e.is_default;
		assert_true(hwtdi_engine_exists(e.name));
		assert_string_equal(hwtdi_engine_find(e.tech, e.name)->name,
		    e.name);
		if (e.is_default != 0)
			assert_string_equal(
			    hwtdi_engine_find(e.tech, NULL)->name, e.name);
		libipt = libipt || strcmp(e.name, "libipt") == 0;
	}
	assert_true(libipt);
	assert_int_equal(defaults[HWTD_TECH_INTEL_PT], 1);
	assert_true(defaults[HWTD_TECH_CORESIGHT] <= 1);
	assert_true(defaults[HWTD_TECH_SPE] <= 1);
	assert_int_equal(hwtd_engine(SIZE_MAX, &e), HWTD_END);
	assert_int_equal(hwtd_engine(0, NULL), HWTD_E_INVALID);
}

static void
the_version_is_that_of_the_header(void **state)
{
	char want[32];

	(void)state;
	(void)snprintf(want, sizeof(want), "%d.%d.%d", HWTD_VERSION_MAJOR,
	    HWTD_VERSION_MINOR, HWTD_VERSION_PATCH);
	assert_string_equal(hwtd_version(), want);
}

static void
every_library_underneath_is_named_once(void **state)
{
	static const char *const wanted[] = { "libipt", "zstd", "xxHash" };
	unsigned int seen[sizeof(wanted) / sizeof(wanted[0])] = { 0 };
	struct hwtd_component c;
	size_t n = 0;

	(void)state;
	for (;; n++) {
		unsigned int a, b, p;
		char rest;

		memset(&c, 0xa5, sizeof(c));
		if (hwtd_version_component(n, &c) == HWTD_END)
			break;
		assert_true(n < 100);
		assert_non_null(memchr(c.name, '\0', sizeof(c.name)));
		/* Three numbers and nothing behind. */
		assert_int_equal(sscanf(c.version, "%u.%u.%u%c", &a, &b, &p,
				     &rest),
		    3);
		assert_int_equal(sscanf(c.built_with, "%u.%u.%u%c", &a, &b, &p,
				     &rest),
		    3);
		for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
			if (strcmp(c.name, wanted[i]) == 0)
				seen[i]++;
	}
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		assert_int_equal(seen[i], 1);
	/* The end stays the end. */
	assert_int_equal(hwtd_version_component(n + 1, &c), HWTD_END);
	assert_int_equal(hwtd_version_component(SIZE_MAX, &c), HWTD_END);
}

static void
engines_are_listed_with_one_default_each_technology(void **state)
{
	struct hwtd_engine e = { .size = sizeof(e) };
	unsigned int defaults = 0, n = 0;

	(void)state;
	for (; hwtd_engine(n, &e) == HWTD_OK; n++) {
		if (e.tech == HWTD_TECH_INTEL_PT && e.is_default)
			defaults++;
		assert_true(e.name[0] != '\0');
	}
	assert_true(n >= 1);
	assert_int_equal(defaults, 1);
	assert_int_equal(hwtd_engine(n, &e), HWTD_END);
	assert_int_equal(hwtd_engine(0, NULL), HWTD_E_INVALID);
	e.size = 0;
	assert_int_equal(hwtd_engine(0, &e), HWTD_E_INVALID);
}

static void
a_component_without_a_place_is_refused(void **state)
{
	(void)state;
	assert_int_equal(hwtd_version_component(0, NULL), HWTD_E_INVALID);
	assert_int_equal(hwtd_version_component(SIZE_MAX, NULL),
	    HWTD_E_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libipt_is_found_by_technology_and_by_name),
		cmocka_unit_test(intel_pt_has_a_default_engine),
		cmocka_unit_test(
		    an_engine_is_not_found_for_another_technology),
		cmocka_unit_test(names_count_in_whole_and_in_their_case),
		cmocka_unit_test(
		    each_technology_that_is_listed_has_one_default),
		cmocka_unit_test(the_version_is_that_of_the_header),
		cmocka_unit_test(every_library_underneath_is_named_once),
		cmocka_unit_test(
		    engines_are_listed_with_one_default_each_technology),
		cmocka_unit_test(a_component_without_a_place_is_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
