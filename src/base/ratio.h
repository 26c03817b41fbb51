/*
 * Many numbers times the same ratio, each without a division.
 */
#ifndef HWTDI_RATIO_H
#define HWTDI_RATIO_H

#include <stdbool.h>
#include <stdint.h>

/* So many per so many; below 1. */
struct hwtdi_ratio {
	uint64_t many, per;
	/* The ratio, of 2^64. */
	uint64_t factor;
};

__extension__ typedef unsigned __int128 hwtdi_uint128;

/* False: it is not below 1, or `per` is too much; all fields are 0 then. */
static inline bool
hwtdi_ratio_init(struct hwtdi_ratio *ratio, uint64_t many, uint64_t per)
{
	const bool fits = many < per && per <= INT64_MAX;

	ratio->many = fits ? many : 0;
	ratio->per = fits ? per : 0;
	ratio->factor = fits ? (uint64_t)(((hwtdi_uint128)many << 64) / per)
			     : 0;
	return (fits);
}

/* n * many / per, rounded down. */
static inline uint64_t
hwtdi_ratio_of(const struct hwtdi_ratio *ratio, uint64_t n)
{
	const uint64_t q = (uint64_t)((hwtdi_uint128)n * ratio->factor >> 64);

	/*
	 * The factor is too small by less than 1, so this is by 1 at most; what
	 * is left fits also where the products do not.
	 */
	return (q + (n * ratio->many - q * ratio->per >= ratio->per));
}

#endif /* HWTDI_RATIO_H */
