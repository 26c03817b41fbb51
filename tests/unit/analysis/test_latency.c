/*
 * Latencies added up: buckets, percentiles, merging.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/histogram/latency.h"

static struct hwtd_context *
new_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static void
buckets_are_exact_up_to_4096_and_near_above(void **state)
{
	uint64_t low, last, before_last = 0;
	uint32_t before = 0;

	(void)state;
	for (uint32_t value = 0; value <= UINT16_MAX; value++) {
		const uint32_t bucket = hwtdi_latency_bucket(value);

		hwtdi_latency_range(bucket, &low, &last);
		assert_true(low <= value && value <= last);
		if (value < 4096)
			assert_int_equal(last, low);
		/* Within 1/128 of the latency. */
		assert_true((last + 1 - low) * 128 <= low || value < 4096);
		assert_true(bucket == before || bucket == before + 1);
		if (bucket != before)
			assert_int_equal(low, before_last + 1);
		before = bucket;
		before_last = last;
	}
	hwtdi_latency_range(hwtdi_latency_bucket(4096), &low, &last);
	assert_int_equal(low, 4096);
	assert_int_equal(last, 4127);
	hwtdi_latency_range(hwtdi_latency_bucket(65535), &low, &last);
	assert_int_equal(low, 65280);
	assert_int_equal(last, 65535);
}

/* 2^62 to 2^63 is 128 steps of 2^55; the greatest ends in 2^64 - 1. */
static void
buckets_go_on_up_to_the_greatest_number(void **state)
{
	const uint64_t big = UINT64_C(1) << 62, step = UINT64_C(1) << 55;
	uint64_t low, last;

	(void)state;
	hwtdi_latency_range(hwtdi_latency_bucket(big + 3 * step + 5), &low,
	    &last);
	assert_true(low == big + 3 * step && last == low + step - 1);
	hwtdi_latency_range(hwtdi_latency_bucket(UINT64_MAX), &low, &last);
	assert_true(low == UINT64_MAX - 2 * step + 1 && last == UINT64_MAX);
	/* Each begins behind the one before. */
	for (uint32_t i = 1; i <= hwtdi_latency_bucket(UINT64_MAX); i++) {
		uint64_t next;

		hwtdi_latency_range(i - 1, &low, &last);
		hwtdi_latency_range(i, &next, &low);
		assert_true(next == last + 1);
		assert_int_equal(hwtdi_latency_bucket(next), i);
		assert_int_equal(hwtdi_latency_bucket(last), i - 1);
	}
}

static void
percentiles_are_those_of_the_list(void **state)
{
	/* Sorted: 1 2 2 3 5 8 13 100 4095 5000. */
	static const uint32_t cycles[] = { 8, 2, 5000, 1, 3, 100, 2, 13, 4095,
		5 };
	struct hwtd_context *ctx = new_context();
	struct hwtdi_latency l = { 0 };
	bool more;

	(void)state;
	assert_int_equal(hwtdi_latency_percentile(&l, 50, &more), 0);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(hwtdi_latency_add(ctx, &l, cycles[i], false,
				     NULL),
		    HWTD_OK);
	assert_int_equal(l.n, 10);
	assert_int_equal(l.sum, 9229);
	assert_int_equal(l.min, 1);
	assert_int_equal(l.max, 5000);
	assert_int_equal(hwtdi_latency_percentile(&l, 10, &more), 1);
	assert_int_equal(hwtdi_latency_percentile(&l, 50, &more), 5);
	assert_int_equal(hwtdi_latency_percentile(&l, 51, &more), 8);
	assert_int_equal(hwtdi_latency_percentile(&l, 90, &more), 4095);
	/* The greatest one is known, not only [4992, 5024). */
	assert_int_equal(hwtdi_latency_percentile(&l, 99, &more), 5000);
	assert_false(more);
	hwtdi_latency_fini(ctx, &l);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(hwtdi_latency_add(ctx, &l, 6000 + 30 * i,
				     false, NULL),
		    HWTD_OK);
	/* Nor is one less than the least; 6030 is in [6016, 6048). */
	assert_int_equal(hwtdi_latency_percentile(&l, 1, &more), 6000);
	assert_int_equal(hwtdi_latency_percentile(&l, 50, &more), 6016);
	assert_int_equal(hwtdi_latency_percentile(&l, 90, &more), 6060);
	hwtdi_latency_fini(ctx, &l);
	hwtd_context_destroy(ctx);
}

/* Two of ten are 2^33 and more; sums end at the greatest number. */
static void
values_beyond_32_bits_are_held(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_latency l = { 0 };
	bool more;

	(void)state;
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(hwtdi_latency_add(ctx, &l, 100 + i, false,
				     NULL),
		    HWTD_OK);
	assert_int_equal(hwtdi_latency_add(ctx, &l, UINT64_C(1) << 33, false,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_latency_add(ctx, &l, UINT64_MAX - 5, false,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_latency_percentile(&l, 80, &more), 107);
	assert_true(hwtdi_latency_percentile(&l, 90, &more) ==
	    UINT64_C(1) << 33);
	assert_true(hwtdi_latency_quantile(&l, 999000, &more) ==
	    UINT64_MAX - 5);
	assert_false(more);
	assert_true(l.max == UINT64_MAX - 5 && l.sum == UINT64_MAX);
	assert_true(hwtdi_latency_longest(&l, &more) == UINT64_MAX - 5);
	hwtdi_latency_fini(ctx, &l);
	hwtd_context_destroy(ctx);
}

/* Of a thousand numbers 1 to 1000, 999 are at most 999. */
static void
a_thousandth_is_told_apart(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_latency l = { 0 };
	bool more;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(hwtdi_latency_add(ctx, &l, i, false, NULL),
		    HWTD_OK);
	assert_int_equal(hwtdi_latency_quantile(&l, 0, &more), 1);
	assert_int_equal(hwtdi_latency_quantile(&l, 1, &more), 1);
	assert_int_equal(hwtdi_latency_quantile(&l, 990000, &more), 990);
	assert_int_equal(hwtdi_latency_quantile(&l, 999000, &more), 999);
	assert_int_equal(hwtdi_latency_quantile(&l, 999001, &more), 1000);
	assert_int_equal(hwtdi_latency_quantile(&l, 1000000, &more), 1000);
	hwtdi_latency_fini(ctx, &l);
	hwtd_context_destroy(ctx);
}

/* 5000 lies in [4992, 5024), which begins below it. */
static void
no_percentile_is_below_the_least(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_latency l = { 0 };
	bool more;

	(void)state;
	assert_int_equal(hwtdi_latency_add(ctx, &l, 5000, false, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_latency_percentile(&l, 50, &more), 5000);
	assert_int_equal(hwtdi_latency_percentile(&l, 99, &more), 5000);
	hwtdi_latency_fini(ctx, &l);
	hwtd_context_destroy(ctx);
}

static void
what_is_at_a_limit_is_above_all_and_in_no_mean(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_latency l = { 0 };
	bool more;

	(void)state;
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(hwtdi_latency_add(ctx, &l, 10, false, NULL),
		    HWTD_OK);
	assert_int_equal(hwtdi_latency_add(ctx, &l, 4095, true, NULL),
	    HWTD_OK);
	assert_int_equal(l.n, 9);
	assert_int_equal(l.sum, 90);
	assert_int_equal(l.max, 10);
	assert_int_equal(l.n_saturated, 1);
	assert_int_equal(l.saturated_sum, 4095);
	assert_int_equal(hwtdi_latency_percentile(&l, 90, &more), 10);
	assert_false(more);
	assert_int_equal(hwtdi_latency_percentile(&l, 91, &more), 4095);
	assert_true(more);
	hwtdi_latency_fini(ctx, &l);
	hwtd_context_destroy(ctx);
}

/* Of counters of 12 and of 16 bits. */
static void
limits_that_differ_are_not_averaged(void **state)
{
	static const uint32_t limits[] = { 65535, 4095, 65535, 4095 };
	struct hwtd_context *ctx = new_context();
	struct hwtdi_latency l = { 0 };
	bool more;

	(void)state;
	assert_int_equal(hwtdi_latency_longest(&l, &more), 0);
	assert_false(more);
	assert_int_equal(hwtdi_latency_add(ctx, &l, 5000, false, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_latency_longest(&l, &more), 5000);
	assert_false(more);
	/* A counter of 12 bits was at its limit, others can have more. */
	assert_int_equal(hwtdi_latency_add(ctx, &l, 4095, true, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_latency_longest(&l, &more), 5000);
	assert_true(more);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(hwtdi_latency_add(ctx, &l, limits[i], true,
				     NULL),
		    HWTD_OK);
	assert_int_equal(hwtdi_latency_longest(&l, &more), 65535);
	assert_true(more);
	/* Three of them may have been of 4095 cycles and no more. */
	assert_int_equal(hwtdi_latency_percentile(&l, 50, &more), 4095);
	assert_true(more);
	hwtdi_latency_fini(ctx, &l);
	hwtd_context_destroy(ctx);
}

static void
merged_is_as_added_together(void **state)
{
	struct hwtd_context *ctx = new_context();
	uint32_t random = 12345;

	(void)state;
	for (size_t round = 0; round < 50; round++) {
		struct hwtdi_latency all = { 0 }, parts[2] = { { 0 }, { 0 } };

		for (size_t i = 0; i < round * 7; i++) {
			random = random * 1664525u + 1013904223u;
			const uint32_t cycles = random >> 16 & 0xffff;
			const bool limit = (random >> 8 & 15) == 0;

			assert_int_equal(hwtdi_latency_add(ctx, &all, cycles,
					     limit, NULL),
			    HWTD_OK);
			assert_int_equal(hwtdi_latency_add(ctx,
					     &parts[random >> 4 & 1], cycles,
					     limit, NULL),
			    HWTD_OK);
		}
		assert_int_equal(hwtdi_latency_merge(ctx, &parts[0], &parts[1],
				     NULL),
		    HWTD_OK);
		assert_int_equal(parts[0].n, all.n);
		assert_int_equal(parts[0].sum, all.sum);
		assert_int_equal(parts[0].min, all.min);
		assert_int_equal(parts[0].max, all.max);
		assert_int_equal(parts[0].limit, all.limit);
		assert_int_equal(parts[0].least_limit, all.least_limit);
		assert_int_equal(parts[0].n_saturated, all.n_saturated);
		assert_int_equal(parts[0].saturated_sum, all.saturated_sum);
		assert_int_equal(parts[0].n_buckets, all.n_buckets);
		if (all.n_buckets != 0)
			assert_memory_equal(parts[0].buckets, all.buckets,
			    all.n_buckets * sizeof(*all.buckets));
		hwtdi_latency_fini(ctx, &all);
		hwtdi_latency_fini(ctx, &parts[0]);
		hwtdi_latency_fini(ctx, &parts[1]);
	}
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_exact_up_to_4096_and_near_above),
		cmocka_unit_test(buckets_go_on_up_to_the_greatest_number),
		cmocka_unit_test(percentiles_are_those_of_the_list),
		cmocka_unit_test(values_beyond_32_bits_are_held),
		cmocka_unit_test(a_thousandth_is_told_apart),
		cmocka_unit_test(no_percentile_is_below_the_least),
		cmocka_unit_test(
		    what_is_at_a_limit_is_above_all_and_in_no_mean),
		cmocka_unit_test(limits_that_differ_are_not_averaged),
		cmocka_unit_test(merged_is_as_added_together),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
