/*
 * JSON that is written piece by piece, and what becomes of hostile text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/json_writer.h"
#include "export/plain_text.h"
#include "support/sink_text.h"

static struct sink_text out;

static int
set_up(void **state)
{
	(void)state;
	return (sink_text_init(&out));
}

static int
tear_down(void **state)
{
	(void)state;
	sink_text_fini(&out);
	return (0);
}

static void
values_have_commas_between_and_keys_before(void **state)
{
	struct hwtdi_json_writer j;

	(void)state;
	hwtdi_json_begin(&j, &out.sink);
	hwtdi_json_begin_object(&j);
	hwtdi_json_key(&j, "a");
	hwtdi_json_put_u64(&j, UINT64_MAX);
	hwtdi_json_key(&j, "b");
	hwtdi_json_begin_array(&j);
	hwtdi_json_put_i64(&j, INT64_MIN);
	hwtdi_json_put_null(&j);
	hwtdi_json_begin_object(&j);
	hwtdi_json_end(&j);
	hwtdi_json_begin_array(&j);
	hwtdi_json_end(&j);
	hwtdi_json_put_bool(&j, true);
	hwtdi_json_put_bool(&j, false);
	hwtdi_json_end(&j);
	hwtdi_json_key(&j, "c");
	hwtdi_json_put_text(&j, NULL);
	hwtdi_json_key(&j, "d");
	hwtdi_json_put_address(&j, 0xffff800000001000);
	hwtdi_json_key(&j, "e");
	hwtdi_json_put_format(&j, "%d%s", 7, "\"");
	hwtdi_json_end(&j);
	assert_string_equal(sink_text_get(&out),
	    "{\"a\":18446744073709551615,\"b\":[-9223372036854775808,null,{},"
	    "[],true,false],\"c\":null,\"d\":\"0xffff800000001000\","
	    "\"e\":\"7\\\"\"}");
}

static void
decimals_are_exact_and_have_no_zeros_at_the_end(void **state)
{
	static const struct {
		uint64_t v;
		unsigned int digits;
		const char *want;
	} cases[] = {
		{ 0, 3, "0" },
		{ 1, 3, "0.001" },
		{ 1500, 3, "1.5" },
		{ 2000, 3, "2" },
		{ 1000001, 6, "1.000001" },
		{ 1234567, 0, "1234567" },
		{ UINT64_MAX, 6, "18446744073709.551615" },
		{ UINT64_MAX, 3, "18446744073709551.615" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_json_writer j;

		hwtdi_json_begin(&j, &out.sink);
		hwtdi_json_put_decimal(&j, cases[i].v, cases[i].digits);
		assert_string_equal(sink_text_get(&out), cases[i].want);
	}
}

/* Source: RFC 8259, "Strings"; The Unicode Standard, table 3-7. */
static void
any_bytes_become_text_that_json_allows(void **state)
{
#define BAD "\xef\xbf\xbd"
	static const struct {
		const char *text;
		size_t n;
		const char *want;
	} cases[] = {
		{ "", 0, "\"\"" },
		{ "main", 4, "\"main\"" },
		{ "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
		{ "a;b\nc\td\re", 9, "\"a;b\\u000ac\\u0009d\\u000de\"" },
		{ "a\0b", 3, "\"a\\u0000b\"" },
		{ "\x1b[0m\x7f", 5, "\"\\u001b[0m\\u007f\"" },
		{ "</script>", 9, "\"</script>\"" },
		/* Two, three and four bytes. */
		{ "\xc3\xa4", 2, "\"\xc3\xa4\"" },
		{ "\xe2\x82\xac", 3, "\"\xe2\x82\xac\"" },
		{ "\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"" },
		{ "\xef\xbf\xbf", 3, "\"\xef\xbf\xbf\"" },
		{ "\xf4\x8f\xbf\xbf", 4, "\"\xf4\x8f\xbf\xbf\"" },
		/* Cut. */
		{ "\xc3", 1, "\"" BAD "\"" },
		{ "\xe2\x82", 2, "\"" BAD BAD "\"" },
		{ "\xf0\x9f\x98", 3, "\"" BAD BAD BAD "\"" },
		{ "\xe2\x82z", 3, "\"" BAD BAD "z\"" },
		/* Without a begin; overlong; surrogates; past the end. */
		{ "\x80\xbf", 2, "\"" BAD BAD "\"" },
		{ "\xc0\xaf", 2, "\"" BAD BAD "\"" },
		{ "\xc1\xbf", 2, "\"" BAD BAD "\"" },
		{ "\xe0\x9f\xbf", 3, "\"" BAD BAD BAD "\"" },
		{ "\xed\xa0\x80", 3, "\"" BAD BAD BAD "\"" },
		{ "\xf0\x8f\xbf\xbf", 4, "\"" BAD BAD BAD BAD "\"" },
		{ "\xf4\x90\x80\x80", 4, "\"" BAD BAD BAD BAD "\"" },
		{ "\xf5\x80\x80\x80", 4, "\"" BAD BAD BAD BAD "\"" },
		{ "\xff\xfe", 2, "\"" BAD BAD "\"" },
		/* Just inside of what is allowed. */
		{ "\xe0\xa0\x80", 3, "\"\xe0\xa0\x80\"" },
		{ "\xed\x9f\xbf", 3, "\"\xed\x9f\xbf\"" },
		{ "\xf0\x90\x80\x80", 4, "\"\xf0\x90\x80\x80\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_json_writer j;

		print_message("case %zu\n", i);
		hwtdi_json_begin(&j, &out.sink);
		hwtdi_json_put_string(&j, cases[i].text, cases[i].n);
		assert_string_equal(sink_text_get(&out), cases[i].want);
	}
}

static void
long_names_are_cut_between_characters(void **state)
{
	/* Of 65536 bytes, two for each character. */
	static char name[65536];
	const char *got;
	struct hwtdi_json_writer j;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	hwtdi_json_begin(&j, &out.sink);
	hwtdi_json_put_string(&j, name, sizeof(name));
	got = sink_text_get(&out);
	n = strlen(got);
	/* 4092 bytes are 2046 characters; then the dots and quotes. */
	assert_int_equal(n, 4092 + 3 + 2);
	assert_memory_equal(got + 1, name, 4092);
	assert_string_equal(got + n - 4, "...\"");

	/* What is just short enough is whole. */
	hwtdi_json_begin(&j, &out.sink);
	hwtdi_json_put_string(&j, name, HWTDI_NAME_MAX);
	assert_int_equal(strlen(sink_text_get(&out)), HWTDI_NAME_MAX + 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    values_have_commas_between_and_keys_before, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    decimals_are_exact_and_have_no_zeros_at_the_end, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    any_bytes_become_text_that_json_allows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    long_names_are_cut_between_characters, set_up, tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
