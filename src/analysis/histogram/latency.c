/*
 * Latencies added up, with a sparse histogram.
 */
#include "analysis/histogram/latency.h"

#include <string.h>

#include "base/fail.h"

#define MILLION 1000000u

uint32_t
hwtdi_latency_bucket(uint64_t value)
{
	uint32_t octave = 0;

	if (value < HWTDI_LATENCY_EXACT)
		return ((uint32_t)value);
	while (value >> octave >= 2 * HWTDI_LATENCY_EXACT)
		octave++;
	return (HWTDI_LATENCY_EXACT + octave * HWTDI_LATENCY_STEPS +
	    ((uint32_t)(value >> octave) - HWTDI_LATENCY_EXACT) /
		(HWTDI_LATENCY_EXACT / HWTDI_LATENCY_STEPS));
}

void
hwtdi_latency_range(uint32_t bucket, uint64_t *low_out, uint64_t *last_out)
{
	const uint64_t width = HWTDI_LATENCY_EXACT / HWTDI_LATENCY_STEPS;
	uint32_t octave, step;

	*low_out = *last_out = bucket;
	if (bucket < HWTDI_LATENCY_EXACT)
		return;
	octave = (bucket - HWTDI_LATENCY_EXACT) / HWTDI_LATENCY_STEPS;
	step = (bucket - HWTDI_LATENCY_EXACT) % HWTDI_LATENCY_STEPS;
	*low_out = (HWTDI_LATENCY_EXACT + step * width) << octave;
	*last_out = *low_out + (width << octave) - 1;
}

/* The greatest number stands for all that are more. */
static uint64_t
add_up(uint64_t a, uint64_t b)
{
	return (a + b < a ? UINT64_MAX : a + b);
}

/* The place of a bucket, or where it would be. */
static uint32_t
find(const struct hwtdi_latency *l, uint32_t bucket)
{
	uint32_t low = 0, high = l->n_buckets;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (l->buckets[middle].bucket < bucket)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

static int
count(struct hwtd_context *ctx, struct hwtdi_latency *l, uint32_t bucket,
    uint64_t n, struct hwtd_error *err)
{
	const uint32_t at = find(l, bucket);

	if (at < l->n_buckets && l->buckets[at].bucket == bucket) {
		l->buckets[at].n += n;
		return (HWTD_OK);
	}
	/* Most rows have few: their arrays begin small. */
	if (l->n_buckets == l->cap_buckets) {
		const uint32_t cap = l->cap_buckets == 0 ? 1
							 : 2 * l->cap_buckets;
		void *grown = hwtdi_resize(ctx, l->buckets,
		    l->cap_buckets * sizeof(*l->buckets),
		    cap * sizeof(*l->buckets));

		if (grown == NULL)
			return (hwtdi_fail_nomem(err,
			    cap * sizeof(*l->buckets)));
		l->buckets = grown;
		l->cap_buckets = cap;
	}
	memmove(l->buckets + at + 1, l->buckets + at,
	    (l->n_buckets - at) * sizeof(*l->buckets));
	l->buckets[at] = (struct hwtdi_latency_bucket){ bucket, 0, n };
	l->n_buckets++;
	return (HWTD_OK);
}

int
hwtdi_latency_add(struct hwtd_context *ctx, struct hwtdi_latency *l,
    uint64_t value, bool saturated, struct hwtd_error *err)
{
	int rc;

	if (saturated) {
		if (l->n_saturated == 0 || value < l->least_limit)
			l->least_limit = value;
		l->n_saturated++;
		l->saturated_sum = add_up(l->saturated_sum, value);
		if (value > l->limit)
			l->limit = value;
		return (HWTD_OK);
	}
	rc = count(ctx, l, hwtdi_latency_bucket(value), 1, err);
	if (rc != HWTD_OK)
		return (rc);
	if (l->n == 0 || value < l->min)
		l->min = value;
	if (value > l->max)
		l->max = value;
	l->n++;
	l->sum = add_up(l->sum, value);
	return (HWTD_OK);
}

int
hwtdi_latency_merge(struct hwtd_context *ctx, struct hwtdi_latency *l,
    const struct hwtdi_latency *from, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (uint32_t i = 0; rc == HWTD_OK && i < from->n_buckets; i++)
		rc = count(ctx, l, from->buckets[i].bucket, from->buckets[i].n,
		    err);
	if (rc != HWTD_OK)
		return (rc);
	if (from->n != 0 && (l->n == 0 || from->min < l->min))
		l->min = from->min;
	if (from->max > l->max)
		l->max = from->max;
	if (from->limit > l->limit)
		l->limit = from->limit;
	if (from->n_saturated != 0 &&
	    (l->n_saturated == 0 || from->least_limit < l->least_limit))
		l->least_limit = from->least_limit;
	l->n += from->n;
	l->sum = add_up(l->sum, from->sum);
	l->n_saturated += from->n_saturated;
	l->saturated_sum = add_up(l->saturated_sum, from->saturated_sum);
	return (HWTD_OK);
}

uint64_t
hwtdi_latency_quantile(const struct hwtdi_latency *l, uint32_t millionths,
    bool *at_least_out)
{
	const uint64_t all = l->n + l->n_saturated;
	/* The rank of it, from 1 on; without a product that overflows. */
	const uint64_t rank = all / MILLION * millionths +
	    (all % MILLION * millionths + MILLION - 1) / MILLION;
	uint64_t seen = 0, low = 0, last;

	*at_least_out = rank > l->n;
	if (rank > l->n)
		return (l->least_limit);
	/* The first and the last one are known better than by their steps. */
	if (rank == l->n && l->n != 0)
		return (l->max);
	for (uint32_t i = 0; i < l->n_buckets && seen < rank; i++) {
		seen += l->buckets[i].n;
		hwtdi_latency_range(l->buckets[i].bucket, &low, &last);
	}
	return (low < l->min ? l->min : low);
}

uint64_t
hwtdi_latency_percentile(const struct hwtdi_latency *l, unsigned int percent,
    bool *at_least_out)
{
	return (hwtdi_latency_quantile(l, percent * (MILLION / 100),
	    at_least_out));
}

uint64_t
hwtdi_latency_longest(const struct hwtdi_latency *l, bool *at_least_out)
{
	*at_least_out = l->n_saturated != 0;
	return (l->limit > l->max ? l->limit : l->max);
}

void
hwtdi_latency_fini(struct hwtd_context *ctx, struct hwtdi_latency *l)
{
	hwtdi_free(ctx, l->buckets, l->cap_buckets * sizeof(*l->buckets));
	memset(l, 0, sizeof(*l));
}
