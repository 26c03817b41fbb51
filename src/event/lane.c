/*
 * A lane: hands over the rows of one stream, made here or by a crew.
 */
#include "event/lane.h"

#include <string.h>

#include "base/fail.h"

int
hwtdi_lane_create(const struct hwtdi_crew_args *args, struct hwtdi_lane **out,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_context *library = hwtdi_trace_library(args->trace);
	struct hwtdi_lane *lane;
	int rc;

	rc = hwtd_trace_stream(args->trace, args->stream, &desc);
	if (rc != HWTD_OK)
		return (hwtdi_fail(err, rc, "no stream %u", args->stream));
	lane = hwtdi_alloc(library, sizeof(*lane));
	if (lane == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*lane)));
	memset(lane, 0, offsetof(struct hwtdi_lane, maker));
	lane->library = library;
	lane->stream = args->stream;
	hwtdi_maker_init(&lane->maker, args->trace, args->stream, &desc,
	    args->filter, args->records);
	lane->timed = lane->maker.timed;
	/* Where only places are asked for, reading ends with the last one. */
	if (args->pool != NULL && lane->maker.engine != NULL &&
	    !lane->maker.places_only) {
		rc = hwtdi_crew_create(args, &lane->crew, err);
		if (rc != HWTD_OK) {
			hwtdi_lane_destroy(lane);
			return (rc);
		}
	}
	*out = lane;
	return (HWTD_OK);
}

bool
hwtdi_lane_empty(const struct hwtdi_lane *lane)
{
	return (lane->maker.places_only && lane->maker.expander.n_places == 0);
}

int
hwtdi_lane_ready(struct hwtdi_lane *lane, struct hwtd_error *err)
{
	if (lane->store == NULL) {
		lane->store = hwtdi_alloc(lane->library, sizeof(*lane->store));
		if (lane->store == NULL)
			return (hwtdi_fail_nomem(err, sizeof(*lane->store)));
		hwtdi_row_store_init(lane->store, lane->library);
		lane->rows = &lane->store->rows;
		lane->front = lane->rows;
	}
	return (hwtdi_maker_ready(&lane->maker, err));
}

void
hwtdi_lane_halt(struct hwtdi_lane *lane)
{
	lane->lends_samples = false;
	if (lane->crew == NULL || !lane->at_work)
		return;
	hwtdi_crew_stop(lane->crew, false);
	lane->at_work = false;
	/* The crew has the batch. */
	lane->front = lane->rows;
	hwtdi_rows_clear(lane->front);
	lane->at = 0;
	lane->mark = 0;
}

void
hwtdi_lane_rest(struct hwtdi_lane *lane)
{
	lane->lends_samples = false;
	if (lane->crew != NULL)
		hwtdi_crew_stop(lane->crew, true);
	lane->at_work = false;
	hwtdi_maker_rest(&lane->maker);
	if (lane->rows != NULL)
		hwtdi_rows_fini(lane->rows);
	hwtdi_free(lane->library, lane->store, sizeof(*lane->store));
	lane->store = NULL;
	lane->rows = NULL;
	lane->front = NULL;
	hwtdi_array_free(lane->library, lane->ids, lane->cap_ids,
	    sizeof(*lane->ids));
	lane->ids = NULL;
	lane->cap_ids = 0;
}

void
hwtdi_lane_destroy(struct hwtdi_lane *lane)
{
	if (lane == NULL)
		return;
	hwtdi_lane_rest(lane);
	hwtdi_crew_destroy(lane->crew);
	hwtdi_free(lane->library, lane, sizeof(*lane));
}

/* Lending. */

/* Of fewer rows it is not worth it. */
#define FEW_ROWS 64

/* What a crew made comes as it is. */
static size_t
least_room(const struct hwtdi_lane *lane)
{
	return (lane->crew != NULL ? HWTDI_ROWS : FEW_ROWS);
}

static bool
can_lend(const struct hwtdi_lane *lane, const struct hwtd_batch *batch)
{
	return (batch->stride == sizeof(struct hwtd_event) &&
	    batch->cap >= HWTDI_ROWS / 2 && batch->cap >= least_room(lane) &&
	    lane->skip == HWTDI_SKIP_NOTHING);
}

void
hwtdi_lane_lend(struct hwtdi_lane *lane, const struct hwtd_batch *batch)
{
	const size_t room = batch->cap - batch->n;

	lane->lent = NULL;
	lane->room = 0;
	if (!can_lend(lane, batch) || room < least_room(lane))
		return;
	lane->room = room < HWTDI_ROWS ? room : HWTDI_ROWS;
	lane->lent = batch->events + batch->n;
}

bool
hwtdi_lane_would_rather(const struct hwtdi_lane *lane,
    const struct hwtd_batch *batch)
{
	return (batch->n >= FEW_ROWS && can_lend(lane, batch) &&
	    lane->front != NULL && !hwtdi_lane_has(lane) &&
	    batch->cap - batch->n < least_room(lane));
}

void
hwtdi_lane_take_back(struct hwtdi_lane *lane)
{
	struct hwtdi_rows *rows = lane->front;
	struct hwtd_event *own;

	lane->lent = NULL;
	lane->room = 0;
	if (rows == NULL)
		return;
	own = lane->store->own;
	if (rows->rows == own)
		return;
	memcpy(own + lane->at, rows->rows + lane->at,
	    (rows->n - lane->at) * sizeof(own[0]));
	rows->rows = own;
	rows->cap = HWTDI_ROWS;
}

/* Turning. */

/* `n` rows are left out, and with them records before rows before `ns`. */
static void
skip_marks(struct hwtdi_rows *rows, size_t n, uint64_t ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->n_marks; i++) {
		struct hwtdi_mark mark = rows->marks[i];

		if (mark.at <= n && mark.time_ns < ns)
			continue;
		mark.at = mark.at > n ? mark.at - n : 0;
		rows->marks[kept++] = mark;
	}
	rows->n_marks = kept;
}

/* Leave out rows that come before what was sought. */
static void
skip_rows(struct hwtdi_lane *lane, struct hwtdi_rows *rows)
{
	const bool by_time = lane->skip == HWTDI_SKIP_TO_TIME;
	size_t i = 0;

	for (; i < rows->n; i++) {
		const struct hwtd_event *row = &rows->rows[i];

		if (lane->skip == HWTDI_SKIP_TO_OFFSET
			? row->stream_off >= lane->skip_to
			: (row->flags & HWTD_EVF_TIME) != 0 &&
			    row->time_ns >= lane->skip_to) {
			lane->skip = HWTDI_SKIP_NOTHING;
			break;
		}
	}
	/* After a seek by offset, records before it are not even marked. */
	skip_marks(rows, i, by_time ? lane->skip_to : 0);
	rows->n -= i;
	rows->n_hidden = 0;
	memmove(rows->rows, rows->rows + i, rows->n * sizeof(rows->rows[0]));
}

/*
 * A crew's makers do not know which records come before their segment: those
 * that had no row before it come now, and those that came do not come again.
 */
static void
join_marks(struct hwtdi_lane *lane, struct hwtdi_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->n_marks; i++) {
		struct hwtdi_mark mark = rows->marks[i];

		mark.first = lane->i_place;
		if (mark.first >= mark.end)
			continue;
		if (mark.time_ns < lane->last_ns)
			mark.time_ns = lane->last_ns;
		lane->i_place = mark.end;
		rows->marks[kept++] = mark;
	}
	rows->n_marks = kept;
	if (rows->last_ns > lane->last_ns)
		lane->last_ns = rows->last_ns;
}

static struct hwtdi_rows *
next_of_crew(struct hwtdi_lane *lane)
{
	struct hwtdi_rows *rows;

	if (!lane->at_work)
		hwtdi_crew_start(lane->crew, &lane->maker.segments);
	lane->at_work = true;
	rows = hwtdi_crew_next(lane->crew,
	    lane->lent != NULL ? lane->lent : lane->store->own, lane->last_id,
	    &lane->rows->err);
	if (rows == NULL) {
		rows = lane->rows;
		rows->rc = lane->rows->err.code;
		return (rows);
	}
	join_marks(lane, rows);
	return (rows);
}

void
hwtdi_lane_turn(struct hwtdi_lane *lane)
{
	struct hwtdi_rows *front = lane->rows;

	lane->lends_samples = false;
	lane->at = 0;
	lane->mark = 0;
	hwtdi_rows_clear(front);
	front->first_context = lane->last_id;
	if (lane->crew != NULL) {
		front = next_of_crew(lane);
	} else {
		lane->maker.by_segment = lane->skip != HWTDI_SKIP_NOTHING;
		if (lane->lent != NULL)
			front->rows = lane->lent;
		if (lane->room != 0)
			front->cap = lane->room;
		hwtdi_maker_make(&lane->maker, front);
	}
	if (lane->skip != HWTDI_SKIP_NOTHING)
		skip_rows(lane, front);
	lane->opened = true;
	lane->front = front;
	if (hwtdi_array_grow(lane->library, &lane->ids, &lane->cap_ids,
		front->n_contexts, sizeof(*lane->ids),
		&front->err) != HWTD_OK) {
		front->n = 0;
		front->n_marks = 0;
		front->rc = HWTD_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < front->n_contexts; i++)
		lane->ids[i] = UINT32_MAX;
}

bool
hwtdi_lane_skips(const struct hwtdi_lane *lane)
{
	return (lane->skip != HWTDI_SKIP_NOTHING &&
	    !lane->front->ends_segment);
}

/* Seeking. */

int
hwtdi_lane_rewind(struct hwtdi_lane *lane, struct hwtd_error *err)
{
	int rc;

	hwtdi_lane_halt(lane);
	rc = hwtdi_lane_ready(lane, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_maker_rewind(&lane->maker);
	lane->skip = HWTDI_SKIP_NOTHING;
	lane->opened = false;
	lane->ended = false;
	lane->at = 0;
	lane->mark = 0;
	lane->i_place = 0;
	lane->last_ns = 0;
	lane->front = lane->rows;
	hwtdi_rows_empty(lane->rows);
	return (HWTD_OK);
}

int
hwtdi_lane_seek_offset(struct hwtdi_lane *lane, uint64_t off,
    struct hwtd_error *err)
{
	struct hwtdi_expander *x = &lane->maker.expander;
	int rc;

	if (hwtdi_lane_empty(lane))
		return (HWTD_OK);
	rc = hwtdi_lane_rewind(lane, err);
	if (rc == HWTD_OK)
		rc = hwtdi_segments_seek(&lane->maker.segments,
		    off > 0 ? off - 1 : 0, err);
	x->i_place = hwtdi_record_lane_find(x->places, x->n_places, off);
	lane->i_place = x->i_place;
	lane->skip = HWTDI_SKIP_TO_OFFSET;
	lane->skip_to = off;
	return (rc);
}

int
hwtdi_lane_seek_ns(struct hwtdi_lane *lane, uint64_t time_ns,
    struct hwtd_error *err)
{
	struct hwtdi_segments *segments = &lane->maker.segments;
	uint64_t low = 0, high;
	int rc;

	if (hwtdi_lane_empty(lane))
		return (HWTD_OK);
	rc = hwtdi_lane_rewind(lane, err);
	/* Nothing is before time 0, rows without time neither. */
	if (rc != HWTD_OK || !lane->timed || lane->maker.engine == NULL ||
	    time_ns == 0)
		return (rc);
	/* The last slot whose first time is below; slots may lack a cut. */
	high = hwtdi_segments_slots(segments);
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2, slot = middle;
		uint64_t ns = 0;
		bool has = false;

		for (; slot < high && !has; slot++) {
			rc = hwtdi_segments_seek_slot(segments, slot, err);
			if (rc == HWTD_E_NOT_FOUND)
				continue;
			if (rc == HWTD_OK)
				rc = hwtdi_maker_first_time(&lane->maker,
				    lane->rows, &has, &ns, err);
			if (rc != HWTD_OK)
				return (rc);
		}
		if (has && ns < time_ns)
			low = slot - 1;
		else
			high = middle;
	}
	rc = hwtdi_lane_rewind(lane, err);
	if (rc == HWTD_OK && low > 0)
		rc = hwtdi_segments_seek_slot(segments, low, err);
	lane->skip = HWTDI_SKIP_TO_TIME;
	lane->skip_to = time_ns;
	return (rc);
}
