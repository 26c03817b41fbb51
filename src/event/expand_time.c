/*
 * Flows to rows: the time at anchors.
 */
#include "event/expand_internal.h"

uint64_t
hwtdi_clock_ns(const struct hwtd_clock *clock, uint64_t n)
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

__extension__ typedef unsigned __int128 wide;

uint64_t
hwtdi_clock_factor(const struct hwtd_clock *clock)
{
	/* Times of simple clocks are below their counts. */
	if (clock->ns_per >= clock->counts_per ||
	    clock->counts_per > INT64_MAX || clock->base_ns > INT64_MAX)
		return (0);
	return ((uint64_t)(((wide)clock->ns_per << 64) / clock->counts_per));
}

/* hwtdi_clock_ns(), mostly without a division. */
static uint64_t
clock_ns(const struct hwtdi_expander *x, uint64_t n)
{
	const struct hwtd_clock *clock = &x->clock;
	const uint64_t d = n - clock->base_count;
	uint64_t q;

	if (x->clock_factor == 0 || n < clock->base_count || d > INT64_MAX)
		return (hwtdi_clock_ns(clock, n));
	q = (uint64_t)((wide)d * x->clock_factor >> 64);
	/* The factor is too small by less than 1, so this is by 1 at most. */
	q += d * clock->ns_per - q * clock->counts_per >= clock->counts_per;
	return (clock->base_ns + q);
}

/* The time that none of the flow is behind. */
static uint64_t
most_ns(struct hwtdi_expander *x, const struct hwtdi_flow *flow)
{
	if (!x->has_most || x->most != flow->last_count) {
		x->has_most = true;
		x->most = flow->last_count;
		x->most_ns = clock_ns(x, x->most);
	}
	return (x->most_ns);
}

/*
 * The count at an anchor, if it has one.  HWTD_OK, HWTD_E_NOT_FOUND,
 * HWTD_E_NOMEM.
 */
static int
count_at(const struct hwtdi_expander *x, const struct hwtdi_anchor *anchor,
    struct hwtdi_when *out)
{
	if ((anchor->flags & HWTDI_ANCHOR_ASK) != 0)
		return (x->engine->time(x->decoder, anchor->stream_off, out));
	if ((anchor->flags & HWTDI_ANCHOR_TIME) == 0)
		return (HWTD_E_NOT_FOUND);
	out->count = anchor->count;
	out->until_off = 0;
	out->estimated = (anchor->flags & HWTDI_ANCHOR_ESTIMATED) != 0;
	return (HWTD_OK);
}

int
hwtdi_expand_anchor(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    const struct hwtdi_anchor *anchor)
{
	struct hwtdi_when when = { 0 };
	uint64_t now, last;
	int rc;

	if (anchor->stream_off > x->stream_off)
		x->stream_off = anchor->stream_off;
	if (anchor->stream_off < x->same_off)
		return (HWTD_OK);
	if (x->clock.counts_per == 0) {
		x->same_off = UINT64_MAX;
		return (HWTD_OK);
	}
	rc = count_at(x, anchor, &when);
	if (rc == HWTD_E_NOMEM)
		return (rc);
	x->same_off = when.until_off;
	if (rc != HWTD_OK) {
		x->fresh_time = false;
		return (HWTD_OK);
	}
	now = clock_ns(x, when.count);
	x->estimated = when.estimated || now == UINT64_MAX;
	if (flow->has_last_count) {
		last = most_ns(x, flow);
		if (now > last) {
			now = last;
			x->estimated = true;
		}
	}
	if (x->has_time && now < x->time_ns) {
		now = x->time_ns;
		x->estimated = true;
	}
	if (!x->has_time || now != x->time_ns)
		x->fresh_time = true;
	/* Who runs is now asked by time, no longer by offset. */
	if (!x->has_time)
		x->until = 0;
	x->has_time = true;
	x->time_ns = now;
	return (HWTD_OK);
}

bool
hwtdi_expand_time_after(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, bool last, bool *wait, uint64_t *ns)
{
	*wait = false;
	if (x->clock.counts_per == 0)
		return (false);
	/* The engine is asked for what comes later, and may then know more. */
	if (!x->has_time)
		x->same_off = 0;
	for (size_t i = x->i_anchor; i < flow->n_anchors; i++) {
		struct hwtdi_when when;

		if (count_at(x, &flow->anchors[i], &when) != HWTD_OK)
			continue;
		*ns = hwtdi_clock_ns(&x->clock, when.count);
		if (x->has_time && *ns < x->time_ns)
			*ns = x->time_ns;
		return (true);
	}
	*wait = !last && x->i_token == flow->n_tokens;
	if (!last || !flow->has_last_count)
		return (false);
	/* It ends where the next segment begins. */
	*ns = hwtdi_clock_ns(&x->clock, flow->last_count);
	if (x->has_time && *ns < x->time_ns)
		*ns = x->time_ns;
	return (true);
}
