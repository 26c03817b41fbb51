/*
 * The encodings of A64, A32 and T32, compared with Capstone.  What Capstone 4.0
 * does not know yet is in test_arm_insn.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arm_oracle.h"
#include "decode/code/arm_insn.h"

/* Every n-th of what would be walked, for slow builds. */
static uint32_t
stride(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL ? 16 : 1);
}

/*
 * Words all over those with `bits` in `mask`: `n` of them, by a walk that takes
 * each once before it comes back.
 */
static uint32_t
walk(uint32_t mask, uint32_t bits, uint32_t n, uint8_t isa)
{
	uint32_t at = 1, known = 0;

	for (uint32_t i = 0; i < n; i += stride()) {
		/* Odd, so all numbers come. */
		at += 0x9e3779b1u;
		known += arm_oracle_compare((at & ~mask) | bits, isa);
	}
	return (known);
}

static void
every_halfword_of_t32_is_as_capstone_says(void **state)
{
	uint32_t known = 0;

	(void)state;
	/* Behind long ones is what a register form of most has. */
	for (uint32_t half = 0; half < 0x10000; half++) {
		known += arm_oracle_compare(half << 16 | 0xbf00, HWTD_ISA_T32);
		known += arm_oracle_compare(half << 16 | 0xf001, HWTD_ISA_T32);
	}
	assert_true(known > 120000);
}

static void
long_instructions_of_t32_are_as_capstone_says(void **state)
{
	static const uint32_t heads[] = { 0xe8000000, 0xf0000000, 0xf8000000 };
	uint32_t known = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		known += walk(0xf8000000, heads[i], 250000, HWTD_ISA_T32);
	/* Branches and control; to PC; LDM and the like. */
	known += walk(0xf8008000, 0xf0008000, 500000, HWTD_ISA_T32);
	known += walk(0xff00f000, 0xf800f000, 200000, HWTD_ISA_T32);
	known += walk(0xfe000000, 0xe8000000, 200000, HWTD_ISA_T32);
	assert_true(known > 700000 / stride());
}

static void
a32_is_as_capstone_says(void **state)
{
	uint32_t known = 0;

	(void)state;
	for (uint32_t top = 0; top < 16; top++)
		known += walk(0x0e000000, top % 8 << 25, 100000, HWTD_ISA_A32);
	/* Without a condition, to PC, miscellaneous, LDM. */
	known += walk(0xf0000000, 0xf0000000, 200000, HWTD_ISA_A32);
	known += walk(0x0000f000, 0x0000f000, 400000, HWTD_ISA_A32);
	known += walk(0x0f900f80, 0x01000f00, 100000, HWTD_ISA_A32);
	known += walk(0x0f90ff00, 0x0100ff00, 50000, HWTD_ISA_A32);
	known += walk(0x0e108000, 0x08108000, 100000, HWTD_ISA_A32);
	/* Writes of CP15. */
	known += walk(0x0fff0f10, 0x0e070f10, 50000, HWTD_ISA_A32);
	assert_true(known > 1500000 / stride());
}

static void
a64_is_as_capstone_says(void **state)
{
	uint32_t known = 0;

	(void)state;
	known += walk(0, 0, 500000, HWTD_ISA_A64);
	/* The groups of branches, and what they have in few places. */
	for (uint32_t top = 0; top < 8; top++)
		known += walk(0xfc000000, top << 29 | 0x14000000, 100000,
		    HWTD_ISA_A64);
	known += walk(0xfffff000, 0xd5033000, 0x1000, HWTD_ISA_A64);
	known += walk(0xfffff000, 0xd5032000, 0x1000, HWTD_ISA_A64);
	known += walk(0xffe00000, 0xd4000000, 100000, HWTD_ISA_A64);
	for (uint32_t op = 0; op < 16; op++)
		known += walk(0xfffff000, 0xd61f0000 | op << 21, 0x1000,
		    HWTD_ISA_A64);
	assert_true(known > 400000 / stride());
}

static int
init(void **state)
{
	(void)state;
	return (arm_oracle_init() ? 0 : -1);
}

static int
fini(void **state)
{
	(void)state;
	arm_oracle_fini();
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_halfword_of_t32_is_as_capstone_says),
		cmocka_unit_test(
		    long_instructions_of_t32_are_as_capstone_says),
		cmocka_unit_test(a32_is_as_capstone_says),
		cmocka_unit_test(a64_is_as_capstone_says),
	};

	return (cmocka_run_group_tests(tests, init, fini));
}
