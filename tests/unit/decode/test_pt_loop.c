/*
 * Endless loops without trace: no branch is passed twice in one chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_loop.h"

struct fixture {
	struct hwtd_context *library;
	struct hwtdi_loop loop;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || hwtd_context_create(NULL, &f->library, NULL) != 0)
		return (-1);
	hwtdi_loop_init(&f->loop, f->library);
	*state = f;
	return (0);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now = 1;

	hwtdi_loop_fini(&f->loop);
	hwtd_context_memory(f->library, &now, NULL);
	hwtd_context_destroy(f->library);
	free(f);
	return (now == 0 ? 0 : -1);
}

static int
step(struct fixture *f, uint64_t last_ip, uint8_t branch)
{
	struct hwtd_error err = { .size = sizeof(err) };

	return (hwtdi_loop_step(&f->loop, last_ip, branch, 0, &err));
}

static void
a_branch_passed_twice_is_a_loop(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(step(f, 0x1000, HWTD_BRANCH_JUMP), HWTD_OK);
	assert_int_equal(step(f, 0x2000, HWTD_BRANCH_CALL), HWTD_OK);
	assert_int_equal(step(f, 0x3000, HWTD_BRANCH_NONE), HWTD_OK);
	assert_int_equal(step(f, 0x1000, HWTD_BRANCH_JUMP), HWTD_END);
}

static void
each_kind_that_needs_no_packet_counts(void **state)
{
	static const uint8_t kinds[] = { HWTD_BRANCH_NONE, HWTD_BRANCH_JUMP,
		HWTD_BRANCH_CALL };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(kinds); i++) {
		assert_int_equal(step(f, i, kinds[i]), HWTD_OK);
		assert_int_equal(step(f, i, kinds[i]), HWTD_END);
	}
}

static void
where_the_trace_speaks_the_chain_starts_anew(void **state)
{
	static const uint8_t kinds[] = { HWTD_BRANCH_CONDITIONAL,
		HWTD_BRANCH_INDIRECT_JUMP, HWTD_BRANCH_INDIRECT_CALL,
		HWTD_BRANCH_RETURN, HWTD_BRANCH_FAR_CALL,
		HWTD_BRANCH_FAR_RETURN, HWTD_BRANCH_FAR_JUMP };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(kinds); i++) {
		assert_int_equal(step(f, 0x1000, HWTD_BRANCH_JUMP), HWTD_OK);
		/* It may be passed as often as there are packets. */
		assert_int_equal(step(f, 0x2000, kinds[i]), HWTD_OK);
		assert_int_equal(step(f, 0x2000, kinds[i]), HWTD_OK);
	}
	assert_int_equal(step(f, 0x1000, HWTD_BRANCH_JUMP), HWTD_OK);
	assert_int_equal(step(f, 0x1000, HWTD_BRANCH_JUMP), HWTD_END);
}

static void
addresses_zero_and_the_highest_are_addresses(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(step(f, 0, HWTD_BRANCH_JUMP), HWTD_OK);
	assert_int_equal(step(f, UINT64_MAX, HWTD_BRANCH_JUMP), HWTD_OK);
	assert_int_equal(step(f, 0, HWTD_BRANCH_JUMP), HWTD_END);
	assert_int_equal(step(f, UINT64_MAX, HWTD_BRANCH_JUMP), HWTD_END);
}

/* Long chains of different branches are no loop, whatever their addresses. */
static void
a_long_chain_grows_and_forgets_nothing(void **state)
{
	static const uint64_t strides[] = { 1, 64, 4096, (uint64_t)1 << 32,
		(uint64_t)1 << 44 };
	struct fixture *f = *state;

	for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		const uint64_t n = 3000;

		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(step(f, i * strides[s],
					     HWTD_BRANCH_JUMP),
			    HWTD_OK);
		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(step(f, i * strides[s],
					     HWTD_BRANCH_JUMP),
			    HWTD_END);
		assert_int_equal(step(f, 1, HWTD_BRANCH_CONDITIONAL), HWTD_OK);
	}
}

/* An old chain's marks are no marks of a new one, also while it grows. */
static void
marks_of_old_chains_do_not_count(void **state)
{
	struct fixture *f = *state;

	for (int chain = 0; chain < 500; chain++) {
		for (uint64_t i = 0; i < 40; i++)
			assert_int_equal(step(f, 0x1000 + i * 8,
					     HWTD_BRANCH_JUMP),
			    HWTD_OK);
		assert_int_equal(step(f, 0, HWTD_BRANCH_RETURN), HWTD_OK);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_branch_passed_twice_is_a_loop),
		TEST(each_kind_that_needs_no_packet_counts),
		TEST(where_the_trace_speaks_the_chain_starts_anew),
		TEST(addresses_zero_and_the_highest_are_addresses),
		TEST(a_long_chain_grows_and_forgets_nothing),
		TEST(marks_of_old_chains_do_not_count),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
