/*
 * Samples to rows, each where its details are to be from the start.
 */
#include "decode/spe/spe_row.h"
#include "event/expand_put.h"

/* The row of a sample that is where its details are to be. */
static int
put_sample(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    const struct hwtd_sample *s, uint8_t branch)
{
	struct hwtd_event packed,
	    *row = rows->packed == NULL ? &rows->rows[rows->n] : &packed;

	hwtdi_spe_row(s, branch, row);
	hwtdi_expand_set_common(x, row);
	hwtdi_expand_set_sampled(x, s);
	if (hwtdi_expand_pass_records(x, rows, row) != HWTD_OK)
		return (HWTD_E_NOMEM);
	if (!hwtdi_expand_wanted(x, rows, row, NULL))
		return (HWTD_OK);
	row->flags |= HWTD_EVF_VALUE;
	row->value = rows->n_samples++;
	return (hwtdi_expand_append_row(x, rows, row));
}

/* Of samples nothing but rows is to be made, one for each. */
static bool
samples_are_plain(const struct hwtdi_expander *x,
    const struct hwtdi_rows *rows)
{
	return (!x->context_new && rows->n_contexts != 0 &&
	    x->i_place == x->n_places && !x->filter->by_row &&
	    x->clock.counts_per == 0);
}

/*
 * Rows of samples that are where their details are to be, as long as that is all.
 * Returns how many.
 */
static size_t
put_plain_samples(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    const struct hwtd_sample *samples, const uint8_t *branches, size_t n)
{
	const uint32_t context = hwtdi_rows_context(rows);
	struct hwtd_event packed, *row;
	size_t i = 0;

	for (; i < n; i++) {
		if (!hwtdi_expand_is_sampled(x, &samples[i]))
			hwtdi_expand_set_sampled(x, &samples[i]);
		if (x->context_new)
			break;
		row = rows->packed == NULL ? &rows->rows[rows->n + i]
					   : &packed;
		hwtdi_spe_row(&samples[i], branches[i], row);
		hwtdi_expand_set_common(x, row);
		row->flags |= HWTD_EVF_VALUE;
		row->value = rows->n_samples + i;
		row->context = context;
		if (row == &packed &&
		    !hwtdi_packed_sample(rows->packed, rows->n + i, row))
			break;
	}
	rows->stats.kinds[HWTD_EV_SAMPLE] += i;
	rows->n += i;
	rows->n_samples += i;
	return (i);
}

/* The same with all that may come before it. */
static int
put_next_sample(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows, const struct hwtd_sample *s, uint8_t branch)
{
	const struct hwtdi_anchor anchor = {
		.flags = HWTDI_ANCHOR_TIME,
		.stream_off = s->stream_off + s->bytes,
		.count = s->count,
	};
	int rc = HWTD_OK;

	if (x->clock.counts_per != 0 &&
	    (s->present & HWTD_SAMPLE_COUNT) != 0) {
		rc = hwtdi_expand_anchor(x, flow, &anchor);
		if (rc == HWTD_OK && hwtdi_expand_may_switch(x))
			rc = hwtdi_expand_switch(x, flow, false, rows);
	}
	/* Filters left out some before it. */
	if (s != &rows->samples[rows->n_samples])
		rows->samples[rows->n_samples] = *s;
	return (rc == HWTD_OK
		? put_sample(x, rows, &rows->samples[rows->n_samples], branch)
		: rc);
}

int
hwtdi_expand_samples(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows)
{
	const size_t room = (rows->cap - rows->n) / HWTDI_EXPAND_ROOM;
	uint8_t branches[HWTDI_FLOW_SAMPLES];
	struct hwtd_sample *s;
	size_t n = room < HWTDI_FLOW_SAMPLES ? room : HWTDI_FLOW_SAMPLES, need;

	need = rows->n_samples + n;
	if (need > rows->cap_samples && need > rows->cap / 4)
		need = rows->cap;
	if (hwtdi_array_grow(rows->library, &rows->samples, &rows->cap_samples,
		need, sizeof(*rows->samples), NULL) != HWTD_OK)
		return (HWTD_E_NOMEM);
	s = &rows->samples[rows->n_samples];
	n = x->engine->samples(x->decoder, s, branches, n);
	for (size_t i = 0; i < n; i++) {
		if (samples_are_plain(x, rows))
			i += put_plain_samples(x, rows, s + i, branches + i,
			    n - i);
		if (i < n &&
		    put_next_sample(x, flow, rows, s + i, branches[i]) !=
			HWTD_OK)
			return (HWTD_E_NOMEM);
	}
	return (n > 0 ? HWTD_OK : HWTD_AGAIN);
}
