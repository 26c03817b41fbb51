/*
 * Flows to rows: what the files of it share.
 */
#ifndef HWTDI_EXPAND_INTERNAL_H
#define HWTDI_EXPAND_INTERNAL_H

#include "event/expand.h"

/* Rows that one item of a flow may make. */
#define HWTDI_EXPAND_ROOM 4

/* expand_state.c */
/* Note the places of units that are told before the token at hand. */
int hwtdi_expand_places(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow);
/* Move what is left of a used-up flow to its front. */
void hwtdi_expand_keep(struct hwtdi_expander *x, struct hwtdi_flow *flow);

/* expand_time.c */
uint64_t hwtdi_clock_factor(const struct hwtd_clock *clock);
/* Pass an anchor.  HWTD_OK, HWTD_E_NOMEM. */
int hwtdi_expand_anchor(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, const struct hwtdi_anchor *anchor);
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
