/*
 * Names that resemble one that was not found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/near_names.h"

static const struct {
	const char *wanted;
	/* Ends with NULL. */
	const char *offered[8];
	const char *kept[HWTDI_NEAR_MAX];
} cases[] = {
	/* One change before two, and of equals the first that was offered. */
	{ "handler", { "hxndlxr", "handlers", "handle", "other" },
	    { "handlers", "handle", "hxndlxr" } },
	/* The worst of four goes. */
	{ "handler", { "hxndlxr", "handlers", "handle", "Handler" },
	    { "handlers", "handle", "Handler" } },
	/* A third of the bytes may be others. */
	{ "abcdef", { "abcdxy", "abcxyz" }, { "abcdxy" } },
	{ "ab", { "ax", "xy", "abc" }, { "ax", "abc" } },
	/* Mangled names have it in them; short ones count less. */
	{ "parse", { "_ZN6config5parseEv", "_Z5parsev" },
	    { "_Z5parsev", "_ZN6config5parseEv" } },
	{ "ab", { "xxxxabxxxx" }, { NULL } },
	{ "name", { "name\t", "nam\x7f", "named", "named", "" }, { "named" } },
	{ "", { "a", "ab" }, { "a" } },
};

static void
the_best_names_are_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_near_names near;
		size_t n = 0;

		print_message("%s\n", cases[i].wanted);
		hwtdi_near_names_init(&near, cases[i].wanted);
		for (size_t k = 0; cases[i].offered[k] != NULL; k++)
			hwtdi_near_names_offer(&near, cases[i].offered[k]);
		while (n < HWTDI_NEAR_MAX && cases[i].kept[n] != NULL)
			n++;
		assert_int_equal(near.n, n);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(near.names[k], cases[i].kept[k]);
	}
}

static void
names_of_more_than_200_bytes_are_not_compared(void **state)
{
	char a[202], b[202];
	struct hwtdi_near_names near;

	(void)state;
	for (size_t n = 200; n <= 201; n++) {
		memset(a, 'a', n);
		a[n] = '\0';
		memcpy(b, a, n + 1);
		b[0] = 'b';
		hwtdi_near_names_init(&near, a);
		hwtdi_near_names_offer(&near, b);
		assert_int_equal(near.n, n == 200 ? 1 : 0);
	}
}

static void
comparing_ends_after_some_work(void **state)
{
	char wanted[201], other[201];
	struct hwtdi_near_names near;

	(void)state;
	memset(wanted, 'a', 200);
	memset(other, 'b', 200);
	wanted[200] = other[200] = '\0';
	hwtdi_near_names_init(&near, wanted);
	/* A comparison is 200 * 200 steps at least; 2^25 are allowed. */
	for (size_t i = 0; i < ((size_t)1 << 25) / (200 * 200) + 1; i++)
		hwtdi_near_names_offer(&near, other);
	hwtdi_near_names_offer(&near, wanted);
	assert_int_equal(near.n, 0);
	hwtdi_near_names_init(&near, wanted);
	hwtdi_near_names_offer(&near, wanted);
	assert_int_equal(near.n, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_names_are_kept),
		cmocka_unit_test(
		    names_of_more_than_200_bytes_are_not_compared),
		cmocka_unit_test(comparing_ends_after_some_work),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
