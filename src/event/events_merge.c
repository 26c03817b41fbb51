/*
 * The cursor: which lane has the next row.
 */
#include "base/fail.h"
#include "event/events_internal.h"

static uint64_t
row_time(const struct hwtd_event *row)
{
	return ((row->flags & HWTD_EVF_TIME) != 0 ? row->time_ns : 0);
}

uint64_t
hwtdi_events_head_ns(const struct hwtd_events *ev, size_t lane_no)
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
	return (time_before(hwtdi_events_head_ns(ev, a), a,
	    hwtdi_events_head_ns(ev, b), b));
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

int
hwtdi_events_start(struct hwtd_events *ev, struct hwtd_error *err)
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

int
hwtdi_events_next(struct hwtd_events *ev, size_t *lane_out,
    struct hwtd_error *err)
{
	uint64_t ns;
	int rc;

	if (ev->waiting) {
		rc = settle(ev, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (hwtdi_record_lane_next(&ev->records, &ns) &&
	    (ev->n_heap == 0 || ns <= hwtdi_events_head_ns(ev, ev->heap[0]))) {
		*lane_out = HWTDI_EVENTS_RECORDS;
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
		*ns_out = hwtdi_events_head_ns(ev, *lane_out);
	}
	/* Records come before all rows of their time. */
	if (hwtdi_record_lane_next(&ev->records, &ns) && ns <= *ns_out) {
		*ns_out = ns;
		*lane_out = 0;
	}
	return (*lane_out != SIZE_MAX);
}

size_t
hwtdi_events_run(const struct hwtd_events *ev, size_t lane_no, size_t most)
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
