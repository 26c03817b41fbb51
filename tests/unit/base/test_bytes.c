/*
 * Little-endian reads that never go past the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/bytes.h"

static void
numbers_are_little_endian(void **state)
{
	static const uint8_t bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 0x88 };
	uint8_t back[8] = { 0 };

	(void)state;
	assert_int_equal(hwtdi_le(bytes, 0), 0);
	assert_int_equal(hwtdi_le(bytes, 1), 1);
	assert_int_equal(hwtdi_le(bytes, 2), 0x0201);
	assert_int_equal(hwtdi_le(bytes, 3), 0x030201);
	assert_int_equal(hwtdi_le(bytes, 6), 0x060504030201);
	assert_true(hwtdi_le(bytes, 8) == 0x8807060504030201u);
	hwtdi_put_le(back, 0x8807060504030201u, 8);
	assert_memory_equal(back, bytes, 8);
	hwtdi_put_le(back, 0xffff, 1);
	assert_int_equal(back[0], 0xff);
	assert_int_equal(back[1], 2);
}

static void
read_past_the_end_is_bad_for_ever(void **state)
{
	static const uint8_t bytes[5] = { 1, 2, 3, 4, 5 };
	struct hwtdi_bytes b = { .at = bytes, .left = sizeof(bytes) };

	(void)state;
	assert_int_equal(hwtdi_bytes_le(&b, 2), 0x0201);
	assert_ptr_equal(hwtdi_bytes_take(&b, 0), bytes + 2);
	assert_false(b.bad);
	assert_int_equal(hwtdi_bytes_le(&b, 4), 0);
	assert_true(b.bad);
	assert_int_equal(hwtdi_bytes_le(&b, 1), 0);
	assert_null(hwtdi_bytes_take(&b, 1));
	assert_true(b.bad);
}

static void
exactly_all_bytes_can_be_taken(void **state)
{
	static const uint8_t bytes[5] = { 1, 2, 3, 4, 5 };
	struct hwtdi_bytes b = { .at = bytes, .left = sizeof(bytes) };

	(void)state;
	assert_ptr_equal(hwtdi_bytes_take(&b, 5), bytes);
	assert_false(b.bad);
	assert_int_equal(b.left, 0);
	assert_null(hwtdi_bytes_take(&b, SIZE_MAX));
	assert_true(b.bad);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(read_past_the_end_is_bad_for_ever),
		cmocka_unit_test(exactly_all_bytes_can_be_taken),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
