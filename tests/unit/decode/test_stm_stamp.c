/*
 * Timestamps of STM in Gray code: neighbours differ in one bit.
 *
 * Source: MIPI System Trace Protocol 2: packets and timestamps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "decode/coresight/stm_stamp.h"

static const struct {
	const char *name;
	uint8_t bytes[16];
	size_t n;
	unsigned int data;
	uint64_t before;
	uint64_t want;
} cases[] = {
	/* The lower half of a byte comes first. */
	{ "f 4: 8 bits, 9 halves of time", /* 140000001 */
	    { 0x4f, 0xba, 0x19, 0x04, 0, 0, 0x10 }, 7, 2, 0, 0x180000001 },
	{ "e in the upper half: one half of time", /* 3 */
	    { 0xe0, 0x31 }, 2, 0, 0x180000001, 0x180000002 },
	{ "f 0 1: no time, the one before", { 0x0f, 0x01 }, 2, 0, 7, 7 },
	{ "f 0 7: two halves of data", /* 6 is 4 */
	    { 0x0f, 0x27, 0x11, 0x06 }, 4, 2, 0, 4 },
	{ "size 14 is 16 halves", /* all 1: every second bit */
	    { 0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 9, 0, 5,
	    0xaaaaaaaaaaaaaaaa },
	{ "size 13 is 14 halves", /* 80000000000000: bit 55 and all below */
	    { 0xde, 0x08, 0, 0, 0, 0, 0, 0 }, 8, 0, 0, 0xffffffffffffff },
	{ "cut off", { 0x4f, 0xba, 0x19, 0x04 }, 4, 2, 9, 9 },
	{ "size 15 is none", { 0xfe, 0x11 }, 2, 0, 9, 9 },
	{ "nothing", { 0 }, 0, 0, 9, 9 },
	{ "no header", { 0x0f }, 1, 0, 9, 9 },
};

static void
times_in_gray_code_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("case %s\n", cases[i].name);
		assert_int_equal(hwtdi_stm_gray_stamp(cases[i].bytes,
				     cases[i].n, cases[i].data,
				     cases[i].before),
		    cases[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_in_gray_code_are_read),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
