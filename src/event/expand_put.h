/*
 * Flows to rows: what is done for each row, whatever it is of.
 */
#ifndef HWTDI_EXPAND_PUT_H
#define HWTDI_EXPAND_PUT_H

#include "event/expand_internal.h"
#include "event/packed_rows.h"

/* A new context, which later rows of these carry. */
static inline int
hwtdi_expand_put_context(struct hwtdi_expander *x, struct hwtdi_rows *rows)
{
	if (hwtdi_array_grow(rows->library, &rows->contexts,
		&rows->cap_contexts, rows->n_contexts + 1,
		sizeof(*rows->contexts), NULL) != HWTD_OK)
		return (HWTD_E_NOMEM);
	rows->contexts[rows->n_contexts++] = x->context;
	x->context_new = false;
	return (HWTD_OK);
}

/* Who the next rows are of. */
static inline void
hwtdi_expand_set_thread(struct hwtdi_expander *x, uint32_t pid, uint32_t tid)
{
	if (pid == x->context.pid && tid == x->context.tid)
		return;
	x->context.pid = pid;
	x->context.tid = tid;
	x->context_new = true;
}

/* The thread of a sample: what it tells of that, if it is whole, comes first. */
static inline void
hwtdi_expand_set_sampled(struct hwtdi_expander *x, const struct hwtd_sample *s)
{
	const uint32_t bad = HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_DUPLICATE |
	    HWTD_SAMPLEF_TRUNCATED;
	struct hwtdi_sampled *const last = &x->sampled;

	if ((s->flags & bad) != 0 ||
	    (s->context_el2 == 0 && s->context_el1 == 0)) {
		hwtdi_expand_set_thread(x, x->run_pid, x->run_tid);
		return;
	}
	if (last->context_el1 != s->context_el1 ||
	    last->context_el2 != s->context_el2 ||
	    last->run_pid != x->run_pid || last->run_tid != x->run_tid) {
		*last = (struct hwtdi_sampled){ .context_el1 = s->context_el1,
			.context_el2 = s->context_el2,
			.run_pid = x->run_pid,
			.run_tid = x->run_tid,
			.pid = x->run_pid,
			.tid = x->run_tid };
		hwtdi_trace_sampled(x->trace, x->stream, s->context_el2,
		    s->context_el1, &last->pid, &last->tid);
	}
	hwtdi_expand_set_thread(x, last->pid, last->tid);
}

/* It is of the thread of the one before, and rows have that already. */
static inline bool
hwtdi_expand_is_sampled(const struct hwtdi_expander *x,
    const struct hwtd_sample *s)
{
	const uint32_t bad = HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_DUPLICATE |
	    HWTD_SAMPLEF_TRUNCATED;
	const struct hwtdi_sampled *const last = &x->sampled;

	return (((last->context_el1 ^ s->context_el1) |
		    (last->context_el2 ^ s->context_el2) | (s->flags & bad) |
		    (last->run_pid ^ x->run_pid) |
		    (last->run_tid ^ x->run_tid) |
		    (last->pid ^ x->context.pid) |
		    (last->tid ^ x->context.tid)) == 0 &&
	    (s->context_el1 | s->context_el2) != 0);
}

static inline void
hwtdi_expand_set_common(struct hwtdi_expander *x, struct hwtd_event *row)
{
	/* Offsets never go back, also where decoding does. */
	if (x->stream_off < row->stream_off)
		x->stream_off = row->stream_off;
	row->stream_off = x->stream_off;
	row->stream = x->stream;
	if (!x->has_time)
		return;
	row->time_ns = x->time_ns;
	row->flags |= HWTD_EVF_TIME;
	if (!x->fresh_time || x->estimated)
		row->flags |= HWTD_EVF_TIME_ESTIMATED;
	x->fresh_time = false;
}

/* Records up to `end` come before the row that is next. */
static inline int
hwtdi_expand_put_mark(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    size_t end)
{
	struct hwtdi_mark *mark;

	if (end == x->i_place)
		return (HWTD_OK);
	if (hwtdi_array_grow(rows->library, &rows->marks, &rows->cap_marks,
		rows->n_marks + 1, sizeof(*rows->marks), NULL) != HWTD_OK)
		return (HWTD_E_NOMEM);
	mark = &rows->marks[rows->n_marks++];
	mark->at = rows->n;
	mark->first = x->i_place;
	mark->end = end;
	mark->time_ns = x->last_ns;
	x->i_place = end;
	return (HWTD_OK);
}

/* Mark the records that come before a row, wanted or not. */
static inline int
hwtdi_expand_pass_records(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    const struct hwtd_event *row)
{
	size_t end = x->i_place;

	if (end == x->n_places)
		return (HWTD_OK);
	if ((row->flags & HWTD_EVF_TIME) != 0 && row->time_ns > x->last_ns)
		x->last_ns = row->time_ns;
	while (end < x->n_places && x->places[end].key <= row->stream_off)
		end++;
	return (hwtdi_expand_put_mark(x, rows, end));
}

static inline void
hwtdi_expand_count(struct hwtdi_rows *rows, const struct hwtd_event *row)
{
	struct hwtd_stats *stats = &rows->stats;

	stats->kinds[row->kind]++;
	stats->insns += row->insns;
	if ((row->flags & HWTD_EVF_TIME) == 0)
		return;
	if (!stats->has_time || row->time_ns < stats->first_ns)
		stats->first_ns = row->time_ns;
	if (!stats->has_time || row->time_ns > stats->last_ns)
		stats->last_ns = row->time_ns;
	stats->has_time = 1;
}

/* The row was made: count it.  False: a filter leaves it out. */
static inline bool
hwtdi_expand_wanted(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    const struct hwtd_event *row, const struct hwtd_gap *gap)
{
	hwtdi_expand_count(rows, row);
	if (!x->filter->by_row ||
	    hwtdi_filter_row(x->filter, row, gap, &x->context))
		return (true);
	rows->n_hidden++;
	return (false);
}

static inline int
hwtdi_expand_append_row(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    const struct hwtd_event *row)
{
	struct hwtd_event packed, *out;

	if ((x->context_new || rows->n_contexts == 0) &&
	    hwtdi_expand_put_context(x, rows) != HWTD_OK)
		return (HWTD_E_NOMEM);
	out = rows->packed == NULL ? &rows->rows[rows->n] : &packed;
	if (out != row)
		*out = *row;
	out->context = hwtdi_rows_context(rows);
	if (rows->packed != NULL && row->kind == HWTD_EV_SAMPLE &&
	    hwtdi_packed_sample(rows->packed, rows->n, out)) {
		rows->n++;
		return (HWTD_OK);
	}
	if (rows->packed != NULL &&
	    hwtdi_packed_odd(rows->library, rows->packed, rows->n, out) !=
		HWTD_OK)
		return (HWTD_E_NOMEM);
	rows->n++;
	return (HWTD_OK);
}

#endif /* HWTDI_EXPAND_PUT_H */
