/*
 * Flows to rows: the time at anchors.
 */
#include "event/expand_internal.h"

void
hwtdi_expand_clock_init(struct hwtdi_expander *x,
    const struct hwtd_clock *clock)
{
	x->clock = *clock;
	if (!hwtdi_ratio_init(&x->clock_ratio, clock->ns_per,
		clock->counts_per) ||
	    clock->base_ns > INT64_MAX)
		x->clock_ratio.per = 0;
}

/* The same, mostly without a division. */
static uint64_t
clock_ns(const struct hwtdi_expander *x, uint64_t count)
{
	const uint64_t n = hwtdi_clock_whole(&x->clock, count);
	const uint64_t d = n - x->clock.base_count;

	/* Times of simple clocks are below their counts. */
	if (x->clock_ratio.per == 0 || n < x->clock.base_count ||
	    d > INT64_MAX)
		return (hwtdi_clock_ns(&x->clock, count));
	return (x->clock.base_ns + hwtdi_ratio_of(&x->clock_ratio, d));
}

static void
set_ns(const struct hwtdi_expander *x, struct hwtdi_when *when)
{
	when->count = clock_ns(x, when->count);
	/* Times that do not fit are at the end of time. */
	if (when->count == UINT64_MAX)
		when->flags |= HWTDI_ANCHOR_ESTIMATED;
}

void
hwtdi_expand_told(const struct hwtdi_expander *x,
    const struct hwtdi_anchor *anchor, struct hwtdi_when *out)
{
	out->count = anchor->count;
	out->flags = anchor->flags;
	if ((anchor->flags & HWTDI_ANCHOR_TIME) != 0)
		set_ns(x, out);
}

void
hwtdi_expand_set_most(struct hwtdi_expander *x, uint64_t count)
{
	x->has_most = true;
	x->most = count;
	x->most_ns = clock_ns(x, count);
}

int
hwtdi_expand_more_whens(struct hwtdi_expander *x)
{
	size_t n;
	int rc;

	x->whens[0] = x->whens[x->n_whens - 1];
	x->i_when = 0;
	x->n_whens = 1;
	rc = x->engine->times(x->decoder, &x->whens[1], &n);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < n; i++)
		set_ns(x, &x->whens[x->n_whens++]);
	x->all_whens = n == 0;
	return (HWTD_OK);
}

bool
hwtdi_expand_time_after(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, bool last, bool *wait, uint64_t *ns)
{
	uint64_t until;

	*wait = false;
	if (x->clock.counts_per == 0)
		return (false);
	for (size_t i = x->i_anchor; i < flow->n_anchors; i++) {
		const struct hwtdi_anchor *const a = &flow->anchors[i];
		struct hwtdi_when when;

		/* The first time can be passed here, but they come before it. */
		if (!x->has_time && a->stream_off < x->same_off)
			continue;
		if (hwtdi_expand_when(x, a, &when, &until) != HWTD_OK)
			continue;
		if ((when.flags & HWTDI_ANCHOR_TIME) == 0) {
			if (!x->has_time)
				x->same_off = until;
			continue;
		}
		*ns = when.count;
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
