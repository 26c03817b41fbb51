/*
 * Latencies added up, with a sparse histogram.
 */
#include "analysis/latency.h"

#include <string.h>

#include "base/fail.h"

uint32_t
hwtdi_latency_bucket(uint32_t cycles)
{
	uint32_t octave = 0;

	if (cycles < HWTDI_LATENCY_EXACT)
		return (cycles);
	while (cycles >> octave >= 2 * HWTDI_LATENCY_EXACT)
		octave++;
	return (HWTDI_LATENCY_EXACT + octave * HWTDI_LATENCY_STEPS +
	    ((cycles >> octave) - HWTDI_LATENCY_EXACT) /
		(HWTDI_LATENCY_EXACT / HWTDI_LATENCY_STEPS));
}

void
hwtdi_latency_range(uint32_t bucket, uint32_t *low_out, uint32_t *end_out)
{
	const uint32_t width = HWTDI_LATENCY_EXACT / HWTDI_LATENCY_STEPS;
	uint32_t octave, step;

	*low_out = bucket;
	*end_out = bucket + 1;
	if (bucket < HWTDI_LATENCY_EXACT)
		return;
	octave = (bucket - HWTDI_LATENCY_EXACT) / HWTDI_LATENCY_STEPS;
	step = (bucket - HWTDI_LATENCY_EXACT) % HWTDI_LATENCY_STEPS;
	*low_out = (HWTDI_LATENCY_EXACT + step * width) << octave;
	*end_out = *low_out + (width << octave);
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
    uint32_t cycles, bool saturated, struct hwtd_error *err)
{
	int rc;

	if (saturated) {
		if (l->n_saturated == 0 || cycles < l->least_limit)
			l->least_limit = cycles;
		l->n_saturated++;
		l->saturated_sum += cycles;
		if (cycles > l->limit)
			l->limit = cycles;
		return (HWTD_OK);
	}
	rc = count(ctx, l, hwtdi_latency_bucket(cycles), 1, err);
	if (rc != HWTD_OK)
		return (rc);
	if (l->n == 0 || cycles < l->min)
		l->min = cycles;
	if (cycles > l->max)
		l->max = cycles;
	l->n++;
	l->sum += cycles;
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
	l->sum += from->sum;
	l->n_saturated += from->n_saturated;
	l->saturated_sum += from->saturated_sum;
	return (HWTD_OK);
}

uint32_t
hwtdi_latency_percentile(const struct hwtdi_latency *l, unsigned int percent,
    bool *at_least_out)
{
	const uint64_t all = l->n + l->n_saturated;
	/* The rank of it, from 1 on; without a product that overflows. */
	const uint64_t rank = all / 100 * percent +
	    (all % 100 * percent + 99) / 100;
	uint64_t seen = 0;
	uint32_t low = 0, end;

	*at_least_out = rank > l->n;
	if (rank > l->n)
		return (l->least_limit);
	/* The first and the last one are known better than by their steps. */
	if (rank == l->n && l->n != 0)
		return (l->max);
	for (uint32_t i = 0; i < l->n_buckets && seen < rank; i++) {
		seen += l->buckets[i].n;
		hwtdi_latency_range(l->buckets[i].bucket, &low, &end);
	}
	return (low < l->min ? l->min : low);
}

uint32_t
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
