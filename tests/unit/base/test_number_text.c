/*
 * Numbers in texts of others: digits, and nothing but them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number_text.h"

static void
digits_of_either_base_are_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = {
		{ "0", 0 },
		{ "00012", 12 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0x0", 0 },
		{ "0Xff", 255 },
		{ "0xFfFfFfFfFfFfFfFf", UINT64_MAX },
		{ "0x00000000000000000001", 1 },
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("case %s\n", cases[i].text);
		assert_true(hwtdi_number_of(cases[i].text,
		    strlen(cases[i].text), &value));
		assert_true(value == cases[i].value);
	}
	assert_true(hwtdi_hex_of("1f3c6e0", 7, &value));
	assert_int_equal(value, 0x1f3c6e0);
	/* Only as many characters as are said. */
	assert_true(hwtdi_number_of("123x", 3, &value));
	assert_int_equal(value, 123);
}

static void
anything_else_is_none(void **state)
{
	static const char *const cases[] = { "", "0x", "x", "-1", "+1", " 1",
		"1 ", "1a", "0x1g", "0x-1", "1.0", "18446744073709551616",
		"0x10000000000000000", "99999999999999999999" };
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("case '%s'\n", cases[i]);
		assert_false(hwtdi_number_of(cases[i], strlen(cases[i]),
		    &value));
	}
	assert_false(hwtdi_hex_of("0x1", 3, &value));
	assert_false(hwtdi_hex_of("", 0, &value));
	assert_int_equal(hwtdi_hex_digit('g'), -1);
	assert_int_equal(hwtdi_hex_digit('/'), -1);
	assert_int_equal(hwtdi_hex_digit('A'), 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_of_either_base_are_numbers),
		cmocka_unit_test(anything_else_is_none),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
