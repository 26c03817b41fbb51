/*
 * Sequences of code that are brought together: against what looking at every
 * place finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diff/flow_block.h"
#include "support/random_program.h"

#define MOST 64u

static struct hwtdi_flow_block
code_at(uint64_t off, uint32_t bytes)
{
	return ((struct hwtdi_flow_block){ .kind = HWTDI_FLOW_CODE,
	    .told = { .file_off = off, .bytes = bytes } });
}

/* Few different blocks, so that they repeat. */
static size_t
make(struct hwtdi_flow_block *out, uint64_t *random, uint32_t kinds)
{
	const size_t n = random_below(random, MOST + 1);

	for (size_t i = 0; i < n; i++) {
		out[i] = code_at(16 * random_below(random, kinds), 4);
		if (random_below(random, 40) == 0)
			out[i].kind = HWTDI_FLOW_FOREIGN;
	}
	return (n);
}

static size_t
same_from(const struct hwtdi_flow_block *x, size_t n_x,
    const struct hwtdi_flow_block *y, size_t n_y)
{
	size_t n = 0;

	while (n < n_x && n < n_y && hwtdi_flow_same(&x[n], &y[n]))
		n++;
	return (n);
}

static void
the_longest_begin_is_found(void **state)
{
	struct hwtdi_flow_block x[MOST], y[MOST];
	size_t scratch[MOST];
	uint64_t random = 1;

	(void)state;
	for (size_t round = 0; round < 20000; round++) {
		const uint32_t kinds = 1 + random_below(&random, 4);
		const size_t n_x = make(x, &random, kinds);
		const size_t n_y = make(y, &random, kinds);
		const struct hwtdi_flow_fit got = hwtdi_flow_fit(x, n_x, y,
		    n_y, scratch);
		size_t at = 0, most = 0, times = 0;

		for (size_t i = 0; i < n_y; i++) {
			const size_t n = same_from(x, n_x, y + i, n_y - i);

			if (n > most) {
				most = n;
				at = i;
				times = 0;
			}
			times += n == most && n != 0;
		}
		assert_int_equal(got.n, most);
		assert_int_equal(got.at, at);
		assert_int_equal(got.ambiguous, times > 1);
	}
}

static void
the_nearest_meeting_is_found(void **state)
{
	struct hwtdi_flow_block x[MOST], y[MOST];
	size_t *scratch = calloc(hwtdi_flow_meet_room(MOST), sizeof(size_t));
	uint64_t random = 2;

	(void)state;
	assert_non_null(scratch);
	for (size_t round = 0; round < 20000; round++) {
		const uint32_t kinds = 1 + random_below(&random, 6);
		const size_t n_x = make(x, &random, kinds);
		const size_t n_y = make(y, &random, kinds);
		const size_t n = 1 + random_below(&random, 5);
		size_t best = SIZE_MAX, i = 0, j = 0;
		bool found;

		for (size_t a = 0; a + n <= n_x; a++)
			for (size_t b = 0; b + n <= n_y; b++)
				if (a + b < best &&
				    same_from(x + a, n, y + b, n) == n)
					best = a + b;
		found = hwtdi_flow_meet(x, n_x, y, n_y, n, round, scratch, &i,
		    &j);
		assert_int_equal(found, best != SIZE_MAX);
		if (!found)
			continue;
		assert_int_equal(i + j, best);
		assert_int_equal(same_from(x + i, n, y + j, n), n);
	}
	free(scratch);
}

static void
cut_blocks_are_the_same_as_whole_ones(void **state)
{
	struct hwtdi_flow_block whole = code_at(0x100, 20);
	struct hwtdi_flow_block part = code_at(0x108, 12);

	(void)state;
	assert_false(hwtdi_flow_same(&whole, &part));
	part.cut = HWTDI_FLOW_CUT_BEGIN;
	assert_true(hwtdi_flow_same(&whole, &part));
	assert_true(hwtdi_flow_same(&part, &whole));
	/* It goes on beyond the end, or begins behind it. */
	part.told.bytes = 13;
	assert_false(hwtdi_flow_same(&whole, &part));
	part.told.file_off = 0x114;
	part.told.bytes = 1;
	assert_false(hwtdi_flow_same(&whole, &part));
	part = code_at(0x100, 6);
	assert_false(hwtdi_flow_same(&whole, &part));
	part.cut = HWTDI_FLOW_CUT_END;
	assert_true(hwtdi_flow_same(&whole, &part));
	assert_true(hwtdi_flow_same(&part, &whole));
	part.told.bytes = 21;
	assert_false(hwtdi_flow_same(&whole, &part));
	/* Both ends are cut. */
	part = code_at(0x104, 3);
	part.cut = HWTDI_FLOW_CUT_BEGIN | HWTDI_FLOW_CUT_END;
	assert_true(hwtdi_flow_same(&whole, &part));
	part.told.image = 1;
	assert_false(hwtdi_flow_same(&whole, &part));
}

static void
gaps_are_never_the_same(void **state)
{
	const struct hwtdi_flow_block gap = { .kind = HWTDI_FLOW_GAP };
	struct hwtdi_flow_block a = code_at(0, 4), b = code_at(0, 4);

	(void)state;
	assert_false(hwtdi_flow_same(&gap, &gap));
	assert_true(hwtdi_flow_same(&a, &b));
	/* Instruction sets differ. */
	a.told.flags = HWTD_ISA_A32 << HWTD_EVF_ISA_SHIFT;
	b.told.flags = HWTD_ISA_T32 << HWTD_EVF_ISA_SHIFT;
	assert_false(hwtdi_flow_same(&a, &b));
	/* Of foreign code the image alone counts. */
	a.kind = b.kind = HWTDI_FLOW_FOREIGN;
	b.told.file_off = 99;
	assert_true(hwtdi_flow_same(&a, &b));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_begin_is_found),
		cmocka_unit_test(the_nearest_meeting_is_found),
		cmocka_unit_test(cut_blocks_are_the_same_as_whole_ones),
		cmocka_unit_test(gaps_are_never_the_same),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
