/*
 * The cursor: rows as they are handed out, with the numbers of their contexts
 * and the details of the batch.
 */
#include <string.h>

#include "base/fail.h"
#include "event/events_internal.h"

static int
copy_detail(struct hwtd_events *ev, const struct hwtdi_rows *from,
    struct hwtd_event *row)
{
	struct hwtdi_rows *to = &ev->details;
	struct hwtd_context *library = ev->library;
	size_t i = (size_t)row->value;
	int rc = HWTD_OK;

	switch (row->kind) {
	case HWTD_EV_GAP:
		rc = hwtdi_array_grow(library, &to->gaps, &to->cap_gaps,
		    to->n_gaps + 1, sizeof(*to->gaps), NULL);
		if (rc == HWTD_OK) {
			to->gaps[to->n_gaps] = from->gaps[i];
			row->value = to->n_gaps++;
		}
		break;
	case HWTD_EV_MARKER:
		rc = hwtdi_array_grow(library, &to->markers, &to->cap_markers,
		    to->n_markers + 1, sizeof(*to->markers), NULL);
		if (rc == HWTD_OK) {
			to->markers[to->n_markers] = from->markers[i];
			row->value = to->n_markers++;
		}
		break;
	case HWTD_EV_POWER:
		rc = hwtdi_array_grow(library, &to->powers, &to->cap_powers,
		    to->n_powers + 1, sizeof(*to->powers), NULL);
		if (rc == HWTD_OK) {
			to->powers[to->n_powers] = from->powers[i];
			row->value = to->n_powers++;
		}
		break;
	case HWTD_EV_SAMPLE:
		rc = hwtdi_array_grow(library, &to->samples, &to->cap_samples,
		    to->n_samples + 1, sizeof(*to->samples), NULL);
		if (rc == HWTD_OK) {
			to->samples[to->n_samples] = from->samples[i];
			row->value = to->n_samples++;
		}
		break;
	case HWTD_EV_ASYNC:
		if ((row->flags & HWTD_EVF_VALUE) == 0)
			break;
		rc = hwtdi_array_grow(library, &to->asyncs, &to->cap_asyncs,
		    to->n_asyncs + 1, sizeof(*to->asyncs), NULL);
		if (rc == HWTD_OK) {
			to->asyncs[to->n_asyncs] = from->asyncs[i];
			row->value = to->n_asyncs++;
		}
		break;
	default:
		break;
	}
	return (rc);
}

/* Have the trace's number of context i of the lane's batch. */
static int
number_context(struct hwtd_events *ev, struct hwtdi_lane *lane, size_t i,
    struct hwtd_error *err)
{
	uint32_t *id = &lane->ids[i];
	int rc;

	if (*id != UINT32_MAX)
		return (HWTD_OK);
	rc = hwtdi_trace_intern_context(ev->trace, &lane->front->contexts[i],
	    id, err);
	if (rc == HWTD_OK)
		lane->last_id = *id;
	return (rc);
}

/* The next row of the lane as it is handed out; `out` may be where it is. */
static int
take(struct hwtd_events *ev, struct hwtdi_lane *lane, size_t i,
    struct hwtd_event *out, struct hwtd_error *err)
{
	const struct hwtdi_rows *rows = lane->front;
	struct hwtd_event row = rows->rows[i];
	const size_t context = row.context - rows->first_context;
	int rc = number_context(ev, lane, context, err);

	row.context = lane->ids[context];
	if (rc == HWTD_OK && hwtdi_event_has_detail(&row) &&
	    copy_detail(ev, rows, &row) != HWTD_OK)
		rc = hwtdi_fail_nomem(err, sizeof(struct hwtd_gap));
	if (rc == HWTD_OK)
		*out = row;
	return (rc);
}

/* Damage that no stream can tell, as the last rows. */
static int
stray_damage(struct hwtd_events *ev, struct hwtd_event *row,
    struct hwtd_error *err)
{
	struct hwtdi_rows *to = &ev->details;
	struct hwtd_exec_context nobody;
	struct hwtd_damage damage;
	int rc;

	if (ev->only != HWTD_NO_ID ||
	    !hwtdi_stray_damage(ev->trace, &ev->filter, &ev->damage_no,
		&damage))
		return (HWTD_END);
	rc = hwtdi_array_grow(ev->library, &to->gaps, &to->cap_gaps,
	    to->n_gaps + 1, sizeof(*to->gaps), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_stray_gap(&damage, &to->gaps[to->n_gaps]);
	hwtdi_stats_add_gap(&ev->stats, &to->gaps[to->n_gaps]);
	memset(row, 0, sizeof(*row));
	row->kind = HWTD_EV_GAP;
	row->flags = HWTD_EVF_VALUE;
	row->stream = HWTD_NO_ID;
	row->value = to->n_gaps++;
	ev->stats.kinds[HWTD_EV_GAP]++;
	memset(&nobody, 0, sizeof(nobody));
	nobody.size = sizeof(nobody);
	nobody.pid = nobody.tid = nobody.cpu = HWTD_NO_ID;
	return (hwtdi_trace_intern_context(ev->trace, &nobody, &row->context,
	    err));
}

static struct hwtd_event *
next_place(const struct hwtd_batch *batch)
{
	return ((void *)((uint8_t *)batch->events + batch->n * batch->stride));
}

/*
 * The row in the next place counts.  A strict cursor ends with a gap, also
 * with one of a kind that was not asked for.
 */
static void
accept(struct hwtd_events *ev, struct hwtd_batch *batch)
{
	const struct hwtd_events_options *o = &ev->filter.o;

	const struct hwtd_event *row = next_place(batch);

	if (row->kind == HWTD_EV_GAP) {
		if ((o->flags & HWTD_DECODE_STRICT) != 0) {
			ev->strict_end = true;
			ev->strict_off = ev->details.gaps[row->value].first;
		}
		if ((o->kinds >> HWTD_EV_GAP & 1) == 0)
			return;
	}
	batch->n++;
}

/* Records at places[*at_inout, end), while there is room. */
static int
fill_from_places(struct hwtd_events *ev,
    const struct hwtdi_record_place *places, size_t *at_inout, size_t end,
    struct hwtd_batch *batch, struct hwtd_error *err)
{
	int rc;

	for (; *at_inout < end && batch->n < batch->cap; ++*at_inout) {
		rc = hwtdi_record_lane_row(&ev->records, &places[*at_inout],
		    next_place(batch), err);
		if (rc < 0)
			return (rc);
		if (rc != HWTD_END)
			ev->stats.kinds[HWTD_EV_RECORD]++;
		if (rc == HWTD_OK)
			batch->n++;
	}
	return (HWTD_OK);
}

/* The records that come by time, up to the next row. */
static int
fill_from_records(struct hwtd_events *ev, struct hwtd_batch *batch,
    struct hwtd_error *err)
{
	struct hwtdi_record_lane *records = &ev->records;
	const uint64_t ns = ev->n_heap > 0 ? ev->heap[0].ns : UINT64_MAX;
	size_t end = records->n_timed;

	if (ns < UINT64_MAX)
		end = hwtdi_record_lane_find(records->places, end, ns + 1);
	return (fill_from_places(ev, records->places, &records->at, end, batch,
	    err));
}

/*
 * Hand out rows as far as they come, of at most `n` rows, and as they have no
 * details and their contexts have numbers.  Returns how many.
 */
static size_t
take_plain(const struct hwtdi_lane *lane, size_t first, size_t n,
    struct hwtd_batch *batch)
{
	const struct hwtdi_rows *const rows = lane->front;
	const bool all = hwtdi_rows_plain(rows) && lane->ids[0] != UINT32_MAX;
	const struct hwtd_event *row = &rows->rows[first];
	uint8_t *to = (uint8_t *)next_place(batch);
	size_t i;

	/* They are where they should be, as they should be. */
	if (all && lane->ids[0] == rows->first_context &&
	    row == next_place(batch)) {
		batch->n += n;
		return (n);
	}
	for (i = 0; i < n; i++, row++, to += batch->stride) {
		const uint32_t
		    id = lane->ids[row->context - rows->first_context];
		struct hwtd_event *out = (struct hwtd_event *)(void *)to;

		if (!all && (hwtdi_event_has_detail(row) || id == UINT32_MAX))
			break;
		if (out != row)
			*out = *row;
		out->context = id;
	}
	batch->n += i;
	return (i);
}

static void
swap_samples(struct hwtdi_rows *a, struct hwtdi_rows *b)
{
	struct hwtd_sample *const samples = a->samples;
	const size_t cap = a->cap_samples;

	a->samples = b->samples;
	a->cap_samples = b->cap_samples;
	b->samples = samples;
	b->cap_samples = cap;
}

/*
 * All rows of a batch that is where the user wants it, and of which samples are
 * the only details: those change hands as a whole.  Returns how many rows.
 */
static size_t
take_samples(struct hwtd_events *ev, struct hwtdi_lane *lane, size_t n,
    struct hwtd_batch *batch, int *rc_out, struct hwtd_error *err)
{
	struct hwtdi_rows *const rows = lane->front, *const to = &ev->details;

	if (lane->at != 0 || n != rows->n || rows->rows != next_place(batch) ||
	    rows->n_samples == 0 || to->n_samples != 0 ||
	    rows->n_gaps + rows->n_markers + rows->n_powers + rows->n_asyncs !=
		0)
		return (0);
	/* They come in the order of their first rows. */
	for (size_t i = 0; i < rows->n_contexts; i++) {
		*rc_out = number_context(ev, lane, i, err);
		if (*rc_out != HWTD_OK)
			return (0);
	}
	for (size_t i = 0; i < n; i++)
		rows->rows[i].context = lane->ids[rows->rows[i].context -
		    rows->first_context];
	to->n_samples = rows->n_samples;
	rows->n_samples = 0;
	swap_samples(to, rows);
	lane->lends_samples = true;
	batch->n += n;
	return (n);
}

/*
 * Have those back whose time is over: whoever makes the next ones in the same memory
 * has it in its cache.
 */
static void
take_samples_back(struct hwtd_events *ev)
{
	struct hwtdi_lane *const lane = ev->n_lanes == 1 ? ev->lanes[0] : NULL;

	if (lane != NULL && lane->lends_samples)
		swap_samples(&ev->details, lane->front);
	if (lane != NULL)
		lane->lends_samples = false;
}

static int
fill_from_lane(struct hwtd_events *ev, size_t lane_no,
    struct hwtd_batch *batch, struct hwtd_error *err)
{
	struct hwtdi_lane *lane = ev->lanes[lane_no];
	struct hwtdi_mark *mark = hwtdi_lane_mark(lane);
	size_t n, i;
	int rc = HWTD_OK;

	if (mark != NULL) {
		rc = fill_from_places(ev, lane->maker.expander.places,
		    &mark->first, mark->end, batch, err);
		if (mark->first == mark->end)
			lane->mark++;
		ev->waiting = ev->n_heap > 0;
		return (rc);
	}
	n = hwtdi_events_run(ev, lane_no, batch->cap - batch->n);
	i = take_samples(ev, lane, n, batch, &rc, err);
	for (; rc == HWTD_OK && i < n && !ev->strict_end; i++) {
		i += take_plain(lane, lane->at + i, n - i, batch);
		if (i == n)
			break;
		rc = take(ev, lane, lane->at + i, next_place(batch), err);
		if (rc != HWTD_OK)
			break;
		accept(ev, batch);
	}
	lane->at += i;
	ev->waiting = ev->n_heap > 0;
	return (rc);
}

static int
fill(struct hwtd_events *ev, struct hwtd_batch *batch, struct hwtd_error *err)
{
	size_t lane = 0;
	int rc;

	while (batch->n < batch->cap && !ev->strict_end) {
		/* No row but those of the lane can come. */
		if (ev->n_lanes == 1 && ev->records.n == 0) {
			/* Samples that are lent are those of one batch. */
			if (ev->lanes[0]->lends_samples ||
			    hwtdi_lane_would_rather(ev->lanes[0], batch))
				break;
			hwtdi_lane_lend(ev->lanes[0], batch);
		}
		rc = hwtdi_events_next(ev, &lane, err);
		if (rc == HWTD_OK && hwtdi_events_merge(ev, lane, batch))
			continue;
		if (rc == HWTD_OK)
			rc = lane == HWTDI_EVENTS_RECORDS
			    ? fill_from_records(ev, batch, err)
			    : fill_from_lane(ev, lane, batch, err);
		else if (rc == HWTD_END) {
			rc = stray_damage(ev, next_place(batch), err);
			if (rc == HWTD_OK)
				accept(ev, batch);
		}
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

static void
lend_details(const struct hwtd_events *ev, struct hwtd_batch *batch)
{
	const struct hwtdi_rows *d = &ev->details;

	batch->gaps = d->gaps;
	batch->gap_stride = sizeof(*d->gaps);
	batch->n_gaps = d->n_gaps;
	batch->markers = d->markers;
	batch->marker_stride = sizeof(*d->markers);
	batch->n_markers = d->n_markers;
	batch->powers = d->powers;
	batch->power_stride = sizeof(*d->powers);
	batch->n_powers = d->n_powers;
	batch->asyncs = d->asyncs;
	batch->async_stride = sizeof(*d->asyncs);
	batch->n_asyncs = d->n_asyncs;
	batch->samples = d->samples;
	batch->sample_stride = sizeof(*d->samples);
	batch->n_samples = d->n_samples;
}

int
hwtd_events_read(struct hwtd_events *ev, struct hwtd_batch *user,
    struct hwtd_error *err)
{
	struct hwtd_error inner;
	struct hwtd_batch batch;
	int rc = HWTD_OK;

	if (ev == NULL || user == NULL ||
	    user->size < offsetof(struct hwtd_batch, gaps))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no cursor or no batch of a known size"));
	if (user->size >= sizeof(batch)) {
		batch = *user;
	} else {
		memset(&batch, 0, sizeof(batch));
		memcpy(&batch, user, user->size);
	}
	if (batch.events == NULL || batch.cap == 0 ||
	    batch.stride < sizeof(struct hwtd_event) || batch.stride % 8 != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no room: cap %zu, stride %zu (at least %zu, by 8)",
		    batch.cap, batch.stride, sizeof(struct hwtd_event)));
	if (ev->astray)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "seek again: seeking failed"));
	batch.n = 0;
	hwtdi_error_begin(&inner);
	take_samples_back(ev);
	hwtdi_rows_empty(&ev->details);
	if (!ev->started)
		rc = hwtdi_events_start(ev, &inner);
	if (rc == HWTD_OK)
		rc = fill(ev, &batch, &inner);
	if (ev->n_lanes == 1)
		hwtdi_lane_take_back(ev->lanes[0]);
	if (rc == HWTD_OK && ev->strict_end && batch.n == 0)
		rc = hwtdi_fail_at(&inner, HWTD_E_CORRUPT, ev->strict_off,
		    "the trace has a gap, and the cursor is strict");
	/* What was read before the end or an error is handed out first. */
	if (batch.n > 0 || rc == HWTD_AGAIN)
		rc = HWTD_OK;
	lend_details(ev, &batch);
	(void)hwtdi_result_copy(user, &batch, sizeof(batch));
	return (rc < 0 ? hwtdi_fail_pass(err, &inner) : rc);
}
