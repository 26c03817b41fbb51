/*
 * The cursor: merges the lanes of all streams into one order of rows.
 */
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "event/cursor.h"
#include "event/lane.h"

struct hwtd_events {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	struct hwtdi_filter filter;
	struct hwtdi_pool *pool;
	/* Nothing that is being made is needed. */
	atomic_bool cancel;

	struct hwtdi_lane **lanes;
	size_t n_lanes;
	/* Heap of lanes by their next row; those without time wait behind. */
	size_t *heap;
	size_t n_heap;
	size_t next_untimed;
	/* Lanes below this one were started. */
	size_t n_started;
	bool started;
	/* The first lane of the heap has to be fetched and put in its place. */
	bool waiting;
	/* Stream alone to be read after a seek by offset, or HWTD_NO_ID. */
	uint32_t only;

	struct hwtd_stats stats;
	/* Damage of the file that belongs to no stream: the next to tell. */
	size_t damage_no;
	bool strict_end;
	struct hwtdi_record_lane records;
	/*
	 * Details of the batch that was handed out last.  It is the last member,
	 * because it has no rows of its own, and no memory for them.
	 */
	struct hwtdi_rows details;
};

#define EVENTS_BYTES                                                          \
	(offsetof(struct hwtd_events, details) +                              \
	    offsetof(struct hwtdi_rows, own))

/* Stands for the records that come by time, which no lane has. */
#define RECORDS SIZE_MAX

static uint64_t
row_time(const struct hwtd_event *row)
{
	return ((row->flags & HWTD_EVF_TIME) != 0 ? row->time_ns : 0);
}

/* The time of what is next in the lane. */
static uint64_t
head_time(const struct hwtd_events *ev, size_t lane_no)
{
	const struct hwtdi_lane *lane = ev->lanes[lane_no];
	const struct hwtdi_mark *mark = hwtdi_lane_mark(lane);

	return (mark != NULL ? mark->time_ns
			     : row_time(&lane->front->rows[lane->at]));
}

/* Order of rows: (time, stream, offset); within a lane as they come. */
static bool
time_before(uint64_t x, size_t x_lane, uint64_t y, size_t y_lane)
{
	return (x != y ? x < y : x_lane < y_lane);
}

static bool
before(const struct hwtd_events *ev, size_t a, size_t b)
{
	return (time_before(head_time(ev, a), a, head_time(ev, b), b));
}

static void
sift_down(struct hwtd_events *ev, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1;

		for (size_t c = left; c < left + 2 && c < ev->n_heap; c++)
			if (before(ev, ev->heap[c], ev->heap[least]))
				least = c;
		if (least == i)
			return;
		size_t lane = ev->heap[i];
		ev->heap[i] = ev->heap[least];
		ev->heap[least] = lane;
		i = least;
	}
}

static void
push(struct hwtd_events *ev, size_t lane)
{
	size_t i = ev->n_heap++;

	ev->heap[i] = lane;
	while (i > 0 && before(ev, ev->heap[i], ev->heap[(i - 1) / 2])) {
		size_t parent = (i - 1) / 2;

		ev->heap[i] = ev->heap[parent];
		ev->heap[parent] = lane;
		i = parent;
	}
}

/*
 * Have a row at the front of the lane.  HWTD_OK, HWTD_END, an error, or
 * HWTD_AGAIN: a batch was made, but no row of it is wanted.
 */
static int
fetch(struct hwtd_events *ev, size_t lane_no, struct hwtd_error *err)
{
	struct hwtdi_lane *lane = ev->lanes[lane_no];
	struct hwtdi_rows *rows;
	bool turned = false;
	int rc;

	if (lane->ended || hwtdi_lane_empty(lane))
		return (HWTD_END);
	rc = hwtdi_lane_ready(lane, err);
	if (rc != HWTD_OK)
		return (rc);
	rows = lane->front;
	while (!lane->opened || !hwtdi_lane_has(lane)) {
		if (lane->opened && rows->rc == HWTD_END) {
			lane->ended = true;
			/* Of one lane nothing is saved; it may be sought. */
			if (ev->n_lanes > 1 || lane->crew != NULL)
				hwtdi_lane_rest(lane);
			return (HWTD_END);
		}
		if (lane->opened && rows->rc != HWTD_OK)
			return (hwtdi_fail_pass(err, &rows->err));
		if (turned && !hwtdi_lane_skips(lane))
			return (HWTD_AGAIN);
		hwtdi_lane_turn(lane);
		rows = lane->front;
		hwtdi_stats_add(&ev->stats, &rows->stats);
		turned = true;
	}
	return (HWTD_OK);
}

static bool
chosen(const struct hwtd_events *ev, size_t lane)
{
	return (ev->only == HWTD_NO_ID || ev->lanes[lane]->stream == ev->only);
}

/* Put all lanes with time on the heap.  HWTD_AGAIN: go on later. */
static int
start(struct hwtd_events *ev, struct hwtd_error *err)
{
	int rc;

	for (; ev->n_started < ev->n_lanes; ev->n_started++) {
		size_t i = ev->n_started;

		if (!ev->lanes[i]->timed || !chosen(ev, i))
			continue;
		rc = fetch(ev, i, err);
		if (rc < 0 || rc == HWTD_AGAIN)
			return (rc);
		if (rc == HWTD_OK)
			push(ev, i);
	}
	ev->started = true;
	return (HWTD_OK);
}

/* The first lane of the heap was read from: put it in its place again. */
static int
settle(struct hwtd_events *ev, struct hwtd_error *err)
{
	int rc = fetch(ev, ev->heap[0], err);

	ev->waiting = rc < 0 || rc == HWTD_AGAIN;
	if (ev->waiting)
		return (rc);
	if (rc == HWTD_END)
		ev->heap[0] = ev->heap[--ev->n_heap];
	sift_down(ev, 0);
	return (HWTD_OK);
}

/*
 * The lane whose row is next, or RECORDS.  HWTD_OK, HWTD_END, HWTD_AGAIN or
 * an error.
 */
static int
next_lane(struct hwtd_events *ev, size_t *lane_out, struct hwtd_error *err)
{
	uint64_t ns;
	int rc;

	if (ev->waiting) {
		rc = settle(ev, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (hwtdi_record_lane_next(&ev->records, &ns) &&
	    (ev->n_heap == 0 || ns <= head_time(ev, ev->heap[0]))) {
		*lane_out = RECORDS;
		return (HWTD_OK);
	}
	if (ev->n_heap > 0) {
		*lane_out = ev->heap[0];
		return (HWTD_OK);
	}
	for (; ev->next_untimed < ev->n_lanes; ev->next_untimed++) {
		if (ev->lanes[ev->next_untimed]->timed ||
		    !chosen(ev, ev->next_untimed))
			continue;
		rc = fetch(ev, ev->next_untimed, err);
		if (rc == HWTD_END)
			continue;
		*lane_out = ev->next_untimed;
		return (rc);
	}
	return (HWTD_END);
}

/* The first lane of the heap is read up to this time and lane, or on. */
static bool
turn_ends(const struct hwtd_events *ev, uint64_t *ns_out, size_t *lane_out)
{
	uint64_t ns;

	*ns_out = UINT64_MAX;
	*lane_out = SIZE_MAX;
	if (ev->n_heap > 1) {
		*lane_out = ev->heap[1];
		if (ev->n_heap > 2 && before(ev, ev->heap[2], *lane_out))
			*lane_out = ev->heap[2];
		*ns_out = head_time(ev, *lane_out);
	}
	/* Records come before all rows of their time. */
	if (hwtdi_record_lane_next(&ev->records, &ns) && ns <= *ns_out) {
		*ns_out = ns;
		*lane_out = 0;
	}
	return (*lane_out != SIZE_MAX);
}

/*
 * How many rows of the lane, which has the next one, come before those of
 * every other lane and before a record.
 */
static size_t
run_length(const struct hwtd_events *ev, size_t lane_no, size_t most)
{
	const struct hwtdi_lane *lane = ev->lanes[lane_no];
	const struct hwtdi_rows *rows = lane->front;
	size_t n = rows->n - lane->at, k = 1, other;
	uint64_t ns;

	if (lane->mark < rows->n_marks)
		n = rows->marks[lane->mark].at - lane->at;
	if (n > most)
		n = most;
	if (ev->n_heap == 0 || !turn_ends(ev, &ns, &other))
		return (n);
	while (k < n &&
	    time_before(row_time(&rows->rows[lane->at + k]), lane_no, ns,
		other))
		k++;
	return (k);
}

/* Handing out. */

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

static bool
has_detail(const struct hwtd_event *row)
{
	return (row->kind == HWTD_EV_GAP || row->kind == HWTD_EV_MARKER ||
	    row->kind == HWTD_EV_POWER || row->kind == HWTD_EV_ASYNC);
}

/* Give the row the trace's number of its context. */
static int
number_context(struct hwtd_events *ev, struct hwtdi_lane *lane,
    struct hwtd_event *row, struct hwtd_error *err)
{
	uint32_t *id = &lane->ids[row->context];
	int rc;

	if (*id == UINT32_MAX) {
		rc = hwtdi_trace_intern_context(ev->trace,
		    &lane->front->contexts[row->context], id, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	row->context = *id;
	return (HWTD_OK);
}

/* The next row of the lane as it is handed out; `out` may be where it is. */
static int
take(struct hwtd_events *ev, struct hwtdi_lane *lane, size_t i,
    struct hwtd_event *out, struct hwtd_error *err)
{
	const struct hwtdi_rows *rows = lane->front;
	struct hwtd_event row = rows->rows[i];
	int rc = number_context(ev, lane, &row, err);

	if (rc == HWTD_OK && has_detail(&row) &&
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

	if (next_place(batch)->kind == HWTD_EV_GAP) {
		if ((o->flags & HWTD_DECODE_STRICT) != 0)
			ev->strict_end = true;
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
	const uint64_t ns = ev->n_heap > 0 ? head_time(ev, ev->heap[0])
					   : UINT64_MAX;
	size_t end = records->n_timed;

	if (ns < UINT64_MAX)
		end = hwtdi_record_lane_find(records->places, end, ns + 1);
	return (fill_from_places(ev, records->places, &records->at, end, batch,
	    err));
}

/*
 * Hand out rows of code as far as they come, of at most `n` rows, and as their
 * contexts have numbers.  Returns how many.
 */
static size_t
take_code(const struct hwtdi_lane *lane, size_t first, size_t n,
    struct hwtd_batch *batch)
{
	const struct hwtd_event *row = &lane->front->rows[first];
	uint8_t *to = (uint8_t *)next_place(batch);
	size_t i;

	for (i = 0; i < n; i++, row++, to += batch->stride) {
		const uint32_t id = lane->ids[row->context];
		struct hwtd_event *out = (struct hwtd_event *)(void *)to;

		if ((row->kind != HWTD_EV_BLOCK &&
			row->kind != HWTD_EV_INSN) ||
		    id == UINT32_MAX)
			break;
		if (out != row)
			*out = *row;
		out->context = id;
	}
	batch->n += i;
	return (i);
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
	n = run_length(ev, lane_no, batch->cap - batch->n);
	for (i = 0; i < n && !ev->strict_end; i++) {
		i += take_code(lane, lane->at + i, n - i, batch);
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
		if (ev->n_lanes == 1 && ev->records.n == 0)
			hwtdi_lane_lend(ev->lanes[0], batch);
		rc = next_lane(ev, &lane, err);
		if (rc == HWTD_OK)
			rc = lane == RECORDS
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
}

int
hwtd_events_read(struct hwtd_events *ev, struct hwtd_batch *user,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_batch batch;
	int rc = HWTD_OK;

	if (ev == NULL || user == NULL ||
	    user->size < offsetof(struct hwtd_batch, gaps))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no cursor or no batch of a known size"));
	memset(&batch, 0, sizeof(batch));
	memcpy(&batch, user,
	    user->size < sizeof(batch) ? user->size : sizeof(batch));
	if (batch.events == NULL || batch.cap == 0 ||
	    batch.stride < sizeof(struct hwtd_event) || batch.stride % 8 != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no room: cap %zu, stride %zu (at least %zu, by 8)",
		    batch.cap, batch.stride, sizeof(struct hwtd_event)));
	batch.n = 0;
	hwtdi_rows_clear(&ev->details);
	if (!ev->started)
		rc = start(ev, &inner);
	if (rc == HWTD_OK)
		rc = fill(ev, &batch, &inner);
	if (ev->n_lanes == 1)
		hwtdi_lane_take_back(ev->lanes[0]);
	if (rc == HWTD_OK && ev->strict_end && batch.n == 0)
		rc = hwtdi_fail(&inner, HWTD_E_CORRUPT,
		    "the trace has a gap, and the cursor is strict");
	/* What was read before the end or an error is handed out first. */
	if (batch.n > 0 || rc == HWTD_AGAIN)
		rc = HWTD_OK;
	lend_details(ev, &batch);
	(void)hwtdi_result_copy(user, &batch, sizeof(batch));
	return (rc < 0 ? hwtdi_fail_pass(err, &inner) : rc);
}

/* Opening and closing. */

static int
add_lanes(struct hwtd_events *ev, struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtdi_crew_args args = { .trace = ev->trace,
		.filter = &ev->filter,
		.records = &ev->records,
		.pool = ev->pool,
		.cancel = &ev->cancel };
	int rc;

	hwtdi_crew_share(&args, ev->filter.o.jobs);
	(void)hwtd_trace_info(ev->trace, &info);
	rc = hwtdi_filter_check_streams(&ev->filter, ev->trace, err);
	if (rc != HWTD_OK)
		return (rc);
	ev->lanes = hwtdi_zalloc(ev->library,
	    info.n_streams * sizeof(struct hwtdi_lane *));
	ev->heap = hwtdi_zalloc(ev->library,
	    info.n_streams * sizeof(*ev->heap));
	if (ev->lanes == NULL || ev->heap == NULL)
		return (hwtdi_fail_nomem(err,
		    info.n_streams * sizeof(*ev->heap)));
	for (uint32_t i = 0; i < info.n_streams; i++) {
		desc.size = sizeof(desc);
		rc = hwtd_trace_stream(ev->trace, i, &desc);
		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc, "no stream %u", i));
		if (!hwtdi_filter_stream(&ev->filter, i, &desc))
			continue;
		args.stream = i;
		rc = hwtdi_lane_create(&args, &ev->lanes[ev->n_lanes], err);
		if (rc != HWTD_OK)
			return (rc);
		ev->n_lanes++;
	}
	return (HWTD_OK);
}

int
hwtd_events_open(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct hwtd_events **ev_out,
    struct hwtd_error *err)
{
	struct hwtd_context *library;
	struct hwtd_events *ev;
	int rc;

	if (trace == NULL || ev_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no trace or no place for the cursor"));
	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	library = hwtdi_trace_library(trace);
	ev = hwtdi_zalloc(library, EVENTS_BYTES);
	if (ev == NULL)
		return (hwtdi_fail_nomem(err, EVENTS_BYTES));
	ev->library = library;
	ev->trace = hwtdi_trace_hold(trace);
	ev->only = HWTD_NO_ID;
	ev->stats.size = sizeof(ev->stats);
	hwtdi_rows_init(&ev->details, library);
	rc = hwtdi_filter_init(&ev->filter, library, opts, err);
	if (rc == HWTD_OK && ev->filter.o.jobs > 1)
		/* The caller's own thread is one of them. */
		rc = hwtdi_pool_create(library, ev->filter.o.jobs - 1,
		    &ev->pool, err);
	if (rc == HWTD_OK)
		rc = hwtdi_record_lane_init(&ev->records, trace, &ev->filter,
		    err);
	if (rc == HWTD_OK)
		rc = add_lanes(ev, err);
	if (rc != HWTD_OK) {
		hwtd_events_close(ev);
		return (rc);
	}
	*ev_out = ev;
	return (HWTD_OK);
}

void
hwtd_events_close(struct hwtd_events *ev)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;

	if (ev == NULL)
		return;
	trace = ev->trace;
	(void)hwtd_trace_info(trace, &info);
	atomic_store(&ev->cancel, true);
	for (size_t i = 0; i < ev->n_lanes; i++)
		hwtdi_lane_destroy(ev->lanes[i]);
	hwtdi_pool_destroy(ev->pool);
	hwtdi_free(ev->library, ev->lanes,
	    info.n_streams * sizeof(struct hwtdi_lane *));
	hwtdi_free(ev->library, ev->heap, info.n_streams * sizeof(*ev->heap));
	hwtdi_record_lane_fini(&ev->records);
	hwtdi_rows_fini(&ev->details);
	hwtdi_filter_fini(&ev->filter);
	hwtdi_free(ev->library, ev, EVENTS_BYTES);
	hwtd_trace_close(trace);
}

/* Seeking. */

static void
forget(struct hwtd_events *ev)
{
	atomic_store(&ev->cancel, true);
	for (size_t i = 0; i < ev->n_lanes; i++)
		hwtdi_lane_halt(ev->lanes[i]);
	atomic_store(&ev->cancel, false);
	ev->started = false;
	ev->n_started = 0;
	ev->n_heap = 0;
	ev->next_untimed = 0;
	ev->waiting = false;
	ev->strict_end = false;
	ev->damage_no = 0;
	ev->only = HWTD_NO_ID;
	hwtdi_record_lane_rewind(&ev->records);
	memset(&ev->stats, 0, sizeof(ev->stats));
	ev->stats.size = sizeof(ev->stats);
}

int
hwtd_events_seek_ns(struct hwtd_events *ev, uint64_t time_ns,
    struct hwtd_error *err)
{
	int rc;

	if (ev == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no cursor"));
	forget(ev);
	hwtdi_record_lane_seek_ns(&ev->records, time_ns);
	for (size_t i = 0; i < ev->n_lanes; i++) {
		rc = hwtdi_lane_seek_ns(ev->lanes[i], time_ns, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

int
hwtd_events_seek_offset(struct hwtd_events *ev, uint32_t stream,
    uint64_t stream_off, struct hwtd_error *err)
{
	if (ev == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no cursor"));
	for (size_t i = 0; i < ev->n_lanes; i++) {
		if (ev->lanes[i]->stream != stream)
			continue;
		forget(ev);
		ev->only = stream;
		hwtdi_record_lane_seek_offset(&ev->records, stream,
		    stream_off);
		return (hwtdi_lane_seek_offset(ev->lanes[i], stream_off, err));
	}
	return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
	    "stream %u is not read by this cursor", stream));
}

int
hwtd_events_stats(const struct hwtd_events *ev, struct hwtd_stats *stats)
{
	if (ev == NULL || stats == NULL)
		return (HWTD_E_INVALID);
	return (hwtdi_result_copy(stats, &ev->stats, sizeof(ev->stats)));
}

struct hwtd_context *
hwtdi_events_library(const struct hwtd_events *ev)
{
	return (ev->library);
}

struct hwtd_trace *
hwtdi_events_trace(const struct hwtd_events *ev)
{
	return (ev->trace);
}
