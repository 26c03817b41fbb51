/*
 * Flows to rows: what the files of it share.
 */
#ifndef HWTDI_EXPAND_INTERNAL_H
#define HWTDI_EXPAND_INTERNAL_H

#include "event/expand.h"

/* Rows that one item of a flow may make. */
#define HWTDI_EXPAND_ROOM 4

/* expand.c */
/* Ask who runs; if it is another one, say so in a row.  HWTD_OK, HWTD_E_NOMEM. */
int hwtdi_expand_switch(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, bool last, struct hwtdi_rows *rows);

/* expand_state.c */
/* Note the places of units that are told before the token at hand. */
int hwtdi_expand_places(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow);
/* Move what is left of a used-up flow to its front. */
void hwtdi_expand_keep(struct hwtdi_expander *x, struct hwtdi_flow *flow);

/* expand_time.c */
void hwtdi_expand_clock_init(struct hwtdi_expander *x,
    const struct hwtd_clock *clock);
/* The time that an anchor has itself, if it has one; its count is ns. */
void hwtdi_expand_told(const struct hwtdi_expander *x,
    const struct hwtdi_anchor *anchor, struct hwtdi_when *out);
/* None of the flow is behind this count: note its ns. */
void hwtdi_expand_set_most(struct hwtdi_expander *x, uint64_t count);
/* Ask the engine for times behind those that it told.  HWTD_OK, HWTD_E_NOMEM. */
int hwtdi_expand_more_whens(struct hwtdi_expander *x);
/*
 * The time at which a gap ends: that of the first anchor after it.  False: not
 * known.  *wait: the next flow may tell.
 */
bool hwtdi_expand_time_after(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, bool last, bool *wait, uint64_t *ns);

/* expand_blocks.c */
/*
 * Make rows of the tokens at hand up to the next rare event or place, with the
 * anchors between them; the row at hand waits already, and nothing but blocks
 * is to be made of them.  HWTD_OK; HWTD_AGAIN: another thread may run from the
 * next token on; HWTD_E_NOMEM.
 */
int hwtdi_expand_blocks(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, struct hwtdi_rows *rows);

/*
 * The time in ns at an anchor, if its flags say that there is one, and the byte before
 * which anchors have the same; they must not go back.  HWTD_OK, HWTD_E_NOMEM.
 */
static inline int
hwtdi_expand_when(struct hwtdi_expander *x, const struct hwtdi_anchor *anchor,
    struct hwtdi_when *out, uint64_t *until_out)
{
	uint64_t until;
	int rc = HWTD_OK;

	if ((anchor->flags & HWTDI_ANCHOR_ASK) == 0) {
		hwtdi_expand_told(x, anchor, out);
		*until_out = 0;
		return (HWTD_OK);
	}
	do {
		for (; x->i_when + 1 < x->n_whens; x->i_when++) {
			until = x->whens[x->i_when + 1].from_off;
			if (anchor->stream_off >= until)
				continue;
			*out = x->whens[x->i_when];
			*until_out = until;
			return (HWTD_OK);
		}
	} while (!x->all_whens &&
	    (rc = hwtdi_expand_more_whens(x)) == HWTD_OK);
	if (rc != HWTD_OK)
		return (rc);
	/* The last one holds to the end. */
	*out = x->whens[x->i_when];
	*until_out = UINT64_MAX;
	return (HWTD_OK);
}

/* The time that none of the flow is behind. */
static inline uint64_t
hwtdi_expand_most_ns(struct hwtdi_expander *x, const struct hwtdi_flow *flow)
{
	if (!flow->has_last_count)
		return (UINT64_MAX);
	if (!x->has_most || x->most != flow->last_count)
		hwtdi_expand_set_most(x, flow->last_count);
	return (x->most_ns);
}

/* Pass an anchor.  HWTD_OK, HWTD_E_NOMEM. */
static inline int
hwtdi_expand_anchor(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    const struct hwtdi_anchor *anchor)
{
	struct hwtdi_when when;
	uint64_t now, most;

	if (anchor->stream_off > x->stream_off)
		x->stream_off = anchor->stream_off;
	if (anchor->stream_off < x->same_off)
		return (HWTD_OK);
	if (x->clock.counts_per == 0) {
		x->same_off = UINT64_MAX;
		return (HWTD_OK);
	}
	if (hwtdi_expand_when(x, anchor, &when, &x->same_off) != HWTD_OK)
		return (HWTD_E_NOMEM);
	if ((when.flags & HWTDI_ANCHOR_TIME) == 0) {
		x->fresh_time = false;
		return (HWTD_OK);
	}
	now = when.count;
	x->estimated = (when.flags & HWTDI_ANCHOR_ESTIMATED) != 0;
	most = hwtdi_expand_most_ns(x, flow);
	if (now > most) {
		now = most;
		x->estimated = true;
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

/* Tokens up to this one have nothing but anchors before them. */
static inline size_t
hwtdi_expand_plain_end(const struct hwtdi_expander *x,
    const struct hwtdi_flow *flow)
{
	size_t end = flow->n_tokens;

	if (x->i_rare < flow->n_rares && flow->rares[x->i_rare].at < end)
		end = flow->rares[x->i_rare].at;
	if (x->i_placed < flow->n_places && flow->places[x->i_placed].at < end)
		end = flow->places[x->i_placed].at;
	return (end);
}

/* Another thread may run from here on. */
static inline bool
hwtdi_expand_may_switch(const struct hwtdi_expander *x)
{
	return ((x->has_time ? x->time_ns : x->stream_off) >= x->until);
}

#endif /* HWTDI_EXPAND_INTERNAL_H */
