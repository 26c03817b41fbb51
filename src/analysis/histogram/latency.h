/*
 * Latencies added up, or other values: sums, extremes, and a histogram that is
 * exact up to 4096 and in steps of at most 1/128 above.
 */
#ifndef HWTDI_LATENCY_H
#define HWTDI_LATENCY_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* Below it each latency is a bucket; above, 128 are as many as it doubles. */
#define HWTDI_LATENCY_EXACT 4096u
#define HWTDI_LATENCY_STEPS 128u

struct hwtdi_latency_bucket {
	uint32_t bucket;
	uint32_t reserved;
	uint64_t n;
};

/* All zero: nothing yet. */
struct hwtdi_latency {
	/* Of those that are below the limit of their counter. */
	uint64_t n;
	/* UINT64_MAX: that or more. */
	uint64_t sum;
	uint64_t min, max;
	/* Of those that are at it: they were that or more. */
	uint64_t n_saturated, saturated_sum;
	/* The greatest of these limits, and the least. */
	uint64_t limit, least_limit;
	/* By bucket, of what is below. */
	uint32_t n_buckets, cap_buckets;
	struct hwtdi_latency_bucket *buckets;
};

uint32_t hwtdi_latency_bucket(uint64_t value);
/* The values of a bucket, from *low_out to *last_out. */
void hwtdi_latency_range(uint32_t bucket, uint64_t *low_out,
    uint64_t *last_out);

/* HWTD_E_NOMEM; then nothing was added. */
int hwtdi_latency_add(struct hwtd_context *ctx, struct hwtdi_latency *l,
    uint64_t value, bool saturated, struct hwtd_error *err);
/* HWTD_E_NOMEM; then a part may have been added. */
int hwtdi_latency_merge(struct hwtd_context *ctx, struct hwtdi_latency *l,
    const struct hwtdi_latency *from, struct hwtd_error *err);

/*
 * What `millionths` of all are at most: the lower end of its bucket, but not less
 * than the least of all.  Those at a limit are above all others; where one is
 * asked for it is the least of their limits, which it was or more, and
 * *at_least_out is true.  Without any 0.
 */
uint64_t hwtdi_latency_quantile(const struct hwtdi_latency *l,
    uint32_t millionths, bool *at_least_out);

/* The same of hundredths. */
uint64_t hwtdi_latency_percentile(const struct hwtdi_latency *l,
    unsigned int percent, bool *at_least_out);

/* The longest of all; *at_least_out: some at a limit may have been longer. */
uint64_t hwtdi_latency_longest(const struct hwtdi_latency *l,
    bool *at_least_out);

void hwtdi_latency_fini(struct hwtd_context *ctx, struct hwtdi_latency *l);

#endif /* HWTDI_LATENCY_H */
