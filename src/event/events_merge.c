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

static uint64_t
head_ns(const struct hwtdi_lane *lane)
{
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
before(const struct hwtdi_head *a, const struct hwtdi_head *b)
{
	return (time_before(a->ns, a->lane, b->ns, b->lane));
}

/* Put a head in its place, which is there or below. */
static void
sift_down(struct hwtd_events *ev, size_t i)
{
	struct hwtdi_head *const heap = ev->heap;
	const struct hwtdi_head head = heap[i];
	size_t least;

	for (;; i = least) {
		least = 2 * i + 1;
		if (least + 1 < ev->n_heap &&
		    before(&heap[least + 1], &heap[least]))
			least++;
		if (least >= ev->n_heap || !before(&heap[least], &head))
			break;
		heap[i] = heap[least];
	}
	heap[i] = head;
}

static void
push(struct hwtd_events *ev, size_t lane)
{
	const struct hwtdi_head head = { head_ns(ev->lanes[lane]), lane };
	size_t i = ev->n_heap++;

	for (; i > 0 && before(&head, &ev->heap[(i - 1) / 2]); i = (i - 1) / 2)
		ev->heap[i] = ev->heap[(i - 1) / 2];
	ev->heap[i] = head;
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

	if (lane->ended)
		return (HWTD_END);
	if (lane->opened && hwtdi_lane_has(lane))
		return (HWTD_OK);
	if (hwtdi_lane_empty(lane))
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
	struct hwtdi_head *const head = &ev->heap[0];
	int rc = fetch(ev, head->lane, err);

	ev->waiting = rc < 0 || rc == HWTD_AGAIN;
	if (ev->waiting)
		return (rc);
	if (rc == HWTD_END)
		*head = ev->heap[--ev->n_heap];
	else
		head->ns = head_ns(ev->lanes[head->lane]);
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
	    (ev->n_heap == 0 || ns <= ev->heap[0].ns)) {
		*lane_out = HWTDI_EVENTS_RECORDS;
		return (HWTD_OK);
	}
	if (ev->n_heap > 0) {
		*lane_out = ev->heap[0].lane;
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
		const struct hwtdi_head *head = &ev->heap[1];

		if (ev->n_heap > 2 && before(&head[1], head))
			head++;
		*ns_out = head->ns;
		*lane_out = head->lane;
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

/* Rows of the front batch of a lane, up to the next record. */
struct stretch {
	const struct hwtd_event *row, *end;
	const uint32_t *ids;
	uint32_t first_context;
};

static bool
stretch_of(const struct hwtdi_lane *lane, struct stretch *out)
{
	const struct hwtdi_rows *rows = lane->front;
	const size_t n = lane->mark < rows->n_marks
	    ? rows->marks[lane->mark].at
	    : rows->n;

	out->row = &rows->rows[lane->at];
	out->end = &rows->rows[n];
	out->ids = lane->ids;
	out->first_context = rows->first_context;
	return (out->row < out->end);
}

/*
 * Rows that have a detail, or whose context has no number yet, are not for here.
 * Which of the two is next depends on nothing that a CPU could foresee: so it
 * is no branch.
 */
static size_t
merge_two(struct stretch two[2], size_t lane_0, size_t lane_1,
    const struct hwtdi_head limit, struct hwtd_batch *batch)
{
	const bool second_first = lane_1 < lane_0;
	const struct hwtd_event *a = two[0].row, *b = two[1].row;
	uint8_t *to = (uint8_t *)batch->events + batch->n * batch->stride;
	const size_t most = batch->cap - batch->n;
	uint64_t a_ns = row_time(a), b_ns = row_time(b);
	size_t n = 0;

	while (n < most) {
		const bool second = (b_ns < a_ns) |
		    ((b_ns == a_ns) & second_first);
		const struct hwtd_event *row = second ? b : a;
		struct hwtd_event *out = (struct hwtd_event *)(void *)to;
		uint32_t id;

		if (!time_before(second ? b_ns : a_ns,
			second ? lane_1 : lane_0, limit.ns, limit.lane))
			break;
		id = two[second].ids[row->context - two[second].first_context];
		if (id == UINT32_MAX || hwtdi_event_has_detail(row))
			break;
		*out = *row;
		out->context = id;
		to += batch->stride;
		n++;
		a += !second;
		b += second;
		if (a == two[0].end || b == two[1].end)
			break;
		a_ns = row_time(a);
		b_ns = row_time(b);
	}
	two[0].row = a;
	two[1].row = b;
	batch->n += n;
	return (n);
}

/* The heads below the first two, and records: what their rows stay before. */
static struct hwtdi_head
limit_of(const struct hwtd_events *ev, size_t second)
{
	const size_t others[] = { 3 - second, 2 * second + 1, 2 * second + 2 };
	struct hwtdi_head limit = { UINT64_MAX, SIZE_MAX };
	uint64_t ns;

	for (size_t i = 0; i < 3; i++)
		if (others[i] < ev->n_heap &&
		    before(&ev->heap[others[i]], &limit))
			limit = ev->heap[others[i]];
	/* Records come before all rows of their time. */
	if (hwtdi_record_lane_next(&ev->records, &ns) && ns <= limit.ns)
		limit = (struct hwtdi_head){ ns, 0 };
	return (limit);
}

bool
hwtdi_events_merge(struct hwtd_events *ev, size_t lane_no,
    struct hwtd_batch *batch)
{
	struct hwtdi_head *const heap = ev->heap, *other;
	struct hwtdi_lane *lane[2];
	struct stretch two[2];
	size_t second = 1, n;

	if (ev->n_heap < 2 || lane_no != heap[0].lane)
		return (false);
	if (ev->n_heap > 2 && before(&heap[2], &heap[1]))
		second = 2;
	other = &heap[second];
	lane[0] = ev->lanes[heap[0].lane];
	lane[1] = ev->lanes[other->lane];
	if (!stretch_of(lane[0], &two[0]) || !stretch_of(lane[1], &two[1]))
		return (false);
	n = merge_two(two, heap[0].lane, other->lane, limit_of(ev, second),
	    batch);
	if (n == 0)
		return (false);
	for (size_t i = 0; i < 2; i++)
		lane[i]->at = (size_t)(two[i].row - lane[i]->front->rows);
	/* Whoever has no row now comes first, to be fetched. */
	if (two[1].row == two[1].end) {
		const struct hwtdi_head head = *other;

		*other = heap[0];
		heap[0] = head;
		other->ns = head_ns(lane[0]);
		ev->waiting = true;
	} else {
		other->ns = head_ns(lane[1]);
		ev->waiting = two[0].row == two[0].end;
	}
	if (!ev->waiting)
		heap[0].ns = head_ns(lane[0]);
	sift_down(ev, second);
	if (!ev->waiting)
		sift_down(ev, 0);
	return (true);
}
