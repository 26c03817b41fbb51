/*
 * Divergences of random traces with everything in them: one differs from itself
 * nowhere, and two have an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/random_trace.h"

static struct hwtd_trace *
trace_of(struct random_trace *truth)
{
	const struct random_program *p = &truth->program;
	struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.pt = &truth->config };
	struct hwtd_trace *trace = mt_create();

	for (uint32_t i = 0; i < p->n_images; i++)
		(void)mt_code(trace, p->images[i].address, p->images[i].bytes,
		    p->images[i].n_bytes);
	(void)mt_stream(trace, &truth->packets, &desc);
	return (mt_seal(trace));
}

struct sums {
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	struct hwtd_divergence_pair pair;
	uint32_t n_pairs;
};

static void
compare(struct random_trace *a, struct random_trace *b, uint32_t window,
    struct sums *out)
{
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.max_rows = 1000,
		.window = window };
	struct hwtd_trace *traces[2] = { trace_of(a), trace_of(b) };
	struct hwtd_divergences_info info = { .size = sizeof(info) };
	struct hwtd_divergence row = { .size = sizeof(row) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_divergences *d;
	int rc;

	memset(out, 0, sizeof(*out));
	assert_int_equal(hwtd_divergences_open(traces[0], traces[1], &opts, &d,
			     &err),
	    HWTD_OK);
	hwtd_trace_close(traces[0]);
	hwtd_trace_close(traces[1]);
	while ((rc = hwtd_divergences_read(d, &row, &err)) == HWTD_OK)
		out->rows[row.kind]++;
	assert_int_equal(rc, HWTD_END);
	assert_int_equal(hwtd_divergences_info(d, &info), HWTD_OK);
	out->n_pairs = info.n_pairs;
	out->pair.size = sizeof(out->pair);
	if (info.n_pairs != 0)
		assert_int_equal(hwtd_divergences_pair(d, 0, &out->pair),
		    HWTD_OK);
	hwtd_divergences_close(d);
}

static void
a_trace_differs_from_itself_nowhere(void **state)
{
	uint64_t gaps = 0, same = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct random_trace t;
		struct sums sums;

		random_trace_make(&t, seed,
		    RANDOM_ALL & (unsigned int)(seed * 2654435761u >> 3),
		    3000);
		compare(&t, &t, seed % 3 == 0 ? 64 : 0, &sums);
		assert_int_equal(sums.rows[HWTD_DIVERGENCE_FLOW], 0);
		assert_int_equal(sums.rows[HWTD_DIVERGENCE_END], 0);
		assert_int_equal(sums.rows[HWTD_DIVERGENCE_LOST], 0);
		assert_int_equal(sums.pair.passed[0] + sums.pair.passed[1], 0);
		assert_int_equal(sums.pair.other[0] + sums.pair.other[1], 0);
		gaps += sums.pair.gaps[0];
		same += sums.pair.same;
		random_trace_free(&t);
	}
	assert_true(gaps > 50);
	assert_true(same > 10000);
}

/* Programs have nothing to do with each other, but for their places. */
static void
any_two_are_compared_to_their_end(void **state)
{
	uint64_t rows = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct random_trace a, b;
		struct sums sums;

		random_trace_make(&a, seed, RANDOM_ALL, 1500);
		random_trace_make(&b, seed + 1000, RANDOM_ALL, 1500);
		compare(&a, &b, seed % 2 == 0 ? 64 : 0, &sums);
		rows += sums.rows[HWTD_DIVERGENCE_FLOW] +
		    sums.rows[HWTD_DIVERGENCE_LOST];
		if (sums.n_pairs == 1)
			assert_true((sums.pair.flags &
					HWTD_DIVERGENCE_PAIRF_DONE) != 0);
		random_trace_free(&a);
		random_trace_free(&b);
	}
	assert_true(rows > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_differs_from_itself_nowhere),
		cmocka_unit_test(any_two_are_compared_to_their_end),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
