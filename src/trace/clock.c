/*
 * Counts of a clock as time.
 */
#include "trace/clock.h"

uint64_t
hwtdi_clock_whole(const struct hwtd_clock *clock, uint64_t n)
{
	return (clock->wrap_mask == 0 ? n
				      : clock->wrap_base +
		    ((n - clock->wrap_base) & clock->wrap_mask));
}

/* Of a count that does not begin again. */
static uint64_t
whole_ns(const struct hwtd_clock *clock, uint64_t n)
{
	uint64_t d, q, r, early = 0 - clock->base_ns;
	bool before = n < clock->base_count;

	d = before ? clock->base_count - n : n - clock->base_count;
	q = d / clock->counts_per;
	r = d % clock->counts_per;
	/* What does not fit is the end of time, not its beginning. */
	if (__builtin_mul_overflow(q, clock->ns_per, &q))
		return (before ? 0 : UINT64_MAX);
	if (__builtin_mul_overflow(r, clock->ns_per, &r))
		r = (uint64_t)((long double)(d % clock->counts_per) *
		    (long double)clock->ns_per /
		    (long double)clock->counts_per);
	else
		r /= clock->counts_per;
	if (__builtin_add_overflow(q, r, &d))
		return (before ? 0 : UINT64_MAX);
	/* A base before time 0. */
	if (clock->base_ns > INT64_MAX)
		return (before || d < early ? 0 : d - early);
	if (!before)
		return (__builtin_add_overflow(clock->base_ns, d, &d)
			? UINT64_MAX
			: d);
	return (d < clock->base_ns ? clock->base_ns - d : 0);
}

uint64_t
hwtdi_clock_ns(const struct hwtd_clock *clock, uint64_t count)
{
	return (whole_ns(clock, hwtdi_clock_whole(clock, count)));
}
