/*
 * A lane: cuts one stream into segments, has them decoded, expands the flows
 * to rows.
 */
#include "event/lane.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static int
find_code(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	struct hwtdi_lane *lane = arg;
	struct hwtd_exec_context context = *query->context;
	struct hwtdi_code_place place = {
		.context = &context,
		.stream = lane->stream,
		.stream_off = query->stream_off,
		.has_time = query->has_count && lane->timed,
		.moments = query->moments,
		.chosen = query->chosen,
		.n_chosen = query->n_chosen,
		.choice = query->choice,
		.answers = &lane->answers,
	};
	struct hwtdi_span span;
	int rc;

	if (place.has_time)
		place.time_ns = hwtdi_clock_ns(&lane->expander.clock,
		    query->count);
	hwtdi_trace_runner(lane->trace, &place, &context.pid, &context.tid,
	    NULL);
	rc = hwtdi_trace_find_code(lane->trace, &place, address, &span);
	if (rc < 0)
		return (rc);
	out->bytes = span.bytes;
	out->address = span.address;
	out->length = span.length;
	out->section = span.section;
	out->moments = span.moments;
	return (rc);
}

/* The first count that is at or behind a time. */
static uint64_t
count_of(const struct hwtd_clock *clock, uint64_t time_ns)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (hwtdi_clock_ns(clock, middle) < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

static void
code_until(void *arg, const struct hwtdi_code_query *query, uint64_t *off_out,
    uint64_t *count_out)
{
	const struct hwtdi_lane *lane = arg;
	struct hwtdi_code_place place = { .stream = lane->stream,
		.stream_off = query->stream_off,
		.has_time = query->has_count && lane->timed };
	uint64_t time_ns;

	if (place.has_time)
		place.time_ns = hwtdi_clock_ns(&lane->expander.clock,
		    query->count);
	hwtdi_trace_until(lane->trace, &place, off_out, &time_ns);
	*count_out = time_ns == UINT64_MAX || !place.has_time
	    ? UINT64_MAX
	    : count_of(&lane->expander.clock, time_ns);
}

static void
drop_graph(void *graph)
{
	hwtdi_graph_drop(graph);
}

/* The code graph of the trace, which all lanes share; a new one if it is full. */
static int
take_graph(struct hwtdi_lane *lane, struct hwtd_error *err)
{
	struct hwtdi_shared *shared = hwtdi_trace_shared(lane->trace);
	struct hwtdi_code_graph *graph;
	int rc = HWTD_OK;

	pthread_mutex_lock(&shared->lock);
	graph = shared->object;
	if (graph == NULL || hwtdi_graph_is_full(graph)) {
		hwtdi_graph_drop(graph);
		shared->object = NULL;
		rc = hwtdi_graph_create(lane->library, &graph, err);
		if (rc == HWTD_OK)
			shared->object = graph;
		shared->drop = rc == HWTD_OK ? drop_graph : NULL;
	}
	if (rc == HWTD_OK)
		lane->graph = hwtdi_graph_hold(graph);
	pthread_mutex_unlock(&shared->lock);
	return (rc);
}

static int
open_decoder(struct hwtdi_lane *lane, struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtdi_decoder_args args;
	int rc;

	if (lane->engine == NULL)
		return (HWTD_OK);
	rc = take_graph(lane, err);
	if (rc != HWTD_OK)
		return (rc);
	(void)hwtd_trace_stream(lane->trace, lane->stream, &desc);
	memset(&args, 0, sizeof(args));
	args.library = lane->library;
	args.pt = desc.pt;
	args.context = lane->expander.base;
	args.code.find = find_code;
	args.code.until = code_until;
	args.code.arg = lane;
	args.code.fixed = hwtdi_trace_is_fixed(lane->trace);
	args.table = &lane->table;
	args.graph = lane->graph;
	args.near_count = desc.clock.base_count;
	args.timed = lane->timed;
	rc = lane->engine->open(&args, &lane->decoder, err);
	lane->expander.engine = lane->engine;
	lane->expander.decoder = lane->decoder;
	return (rc);
}

int
hwtdi_lane_create(struct hwtd_trace *trace, uint32_t stream,
    const struct hwtdi_filter *filter, const struct hwtdi_record_lane *records,
    struct hwtdi_pool *pool, struct hwtdi_lane **out, struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_context *library = hwtdi_trace_library(trace);
	struct hwtd_exec_context base;
	struct hwtdi_lane *lane;
	int rc;

	rc = hwtd_trace_stream(trace, stream, &desc);
	if (rc != HWTD_OK)
		return (hwtdi_fail(err, rc, "no stream %u", stream));
	lane = hwtdi_zalloc(library, sizeof(*lane));
	if (lane == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*lane)));
	lane->library = library;
	lane->trace = trace;
	lane->stream = stream;
	lane->filter = filter;
	lane->pool = pool;
	pthread_mutex_init(&lane->lock, NULL);
	pthread_cond_init(&lane->done, NULL);
	memset(&base, 0, sizeof(base));
	base.size = sizeof(base);
	base.pid = desc.pid;
	base.tid = desc.tid;
	base.cpu = desc.cpu;
	lane->timed = desc.clock.counts_per != 0;
	lane->places_only = hwtdi_filter_records_only(filter);
	lane->engine = hwtdi_engine_find(desc.tech, filter->engine);
	hwtdi_code_table_init(&lane->table, library);
	hwtdi_expander_init(&lane->expander, trace, filter, &lane->table,
	    stream, &desc.clock, &base);
	lane->expander.places = hwtdi_record_lane_of(records, stream,
	    &lane->expander.n_places);
	*out = lane;
	return (HWTD_OK);
}

bool
hwtdi_lane_empty(const struct hwtdi_lane *lane)
{
	return (lane->places_only && lane->expander.n_places == 0);
}

int
hwtdi_lane_ready(struct hwtdi_lane *lane, struct hwtd_error *err)
{
	int rc;

	if (lane->ready)
		return (HWTD_OK);
	lane->ready = true;
	lane->flow = hwtdi_zalloc(lane->library, sizeof(*lane->flow));
	rc = lane->flow != NULL ? HWTD_OK
				: hwtdi_fail_nomem(err, sizeof(*lane->flow));
	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++) {
		lane->rows[i] = hwtdi_alloc(lane->library,
		    sizeof(*lane->rows[i]));
		if (lane->rows[i] == NULL)
			rc = hwtdi_fail_nomem(err, sizeof(*lane->rows[i]));
		else
			hwtdi_rows_init(lane->rows[i], lane->library);
	}
	if (rc == HWTD_OK)
		rc = hwtdi_segments_init(&lane->segments, lane->trace,
		    lane->engine, lane->stream, err);
	if (rc == HWTD_OK)
		rc = open_decoder(lane, err);
	if (rc != HWTD_OK)
		hwtdi_lane_rest(lane);
	return (rc);
}

void
hwtdi_lane_rest(struct hwtdi_lane *lane)
{
	if (lane->decoder != NULL)
		lane->engine->close(lane->decoder);
	lane->decoder = NULL;
	lane->expander.decoder = NULL;
	hwtdi_expander_rest(&lane->expander);
	hwtdi_graph_drop(lane->graph);
	lane->graph = NULL;
	hwtdi_segments_fini(&lane->segments);
	hwtdi_free(lane->library, lane->flow, sizeof(*lane->flow));
	lane->flow = NULL;
	for (unsigned int i = 0; i < 2; i++) {
		if (lane->rows[i] != NULL)
			hwtdi_rows_fini(lane->rows[i]);
		hwtdi_free(lane->library, lane->rows[i],
		    sizeof(*lane->rows[i]));
		lane->rows[i] = NULL;
	}
	hwtdi_array_free(lane->library, lane->ids, lane->cap_ids,
	    sizeof(*lane->ids));
	lane->ids = NULL;
	lane->cap_ids = 0;
	hwtdi_code_table_fini(&lane->table);
	hwtdi_code_table_init(&lane->table, lane->library);
	lane->ready = false;
}

/* Wait for the batch that is being made. */
static void
wait_idle(struct hwtdi_lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	while (lane->busy)
		pthread_cond_wait(&lane->done, &lane->lock);
	pthread_mutex_unlock(&lane->lock);
}

void
hwtdi_lane_destroy(struct hwtdi_lane *lane)
{
	if (lane == NULL)
		return;
	wait_idle(lane);
	hwtdi_lane_rest(lane);
	pthread_cond_destroy(&lane->done);
	pthread_mutex_destroy(&lane->lock);
	hwtdi_free(lane->library, lane, sizeof(*lane));
}

/* Making rows. */

/* Code that a hostile trace makes up must not fill the memory. */
#define MANY_RUNS ((size_t)1 << 20)

static int
begin_segment(struct hwtdi_lane *lane, const struct hwtdi_segment *segment,
    struct hwtdi_rows *rows)
{
	int rc;

	if (lane->table.n_runs > MANY_RUNS)
		hwtdi_code_table_clear(&lane->table);
	if (hwtdi_graph_is_full(lane->graph)) {
		lane->engine->close(lane->decoder);
		lane->decoder = NULL;
		hwtdi_expander_rest(&lane->expander);
		hwtdi_graph_drop(lane->graph);
		lane->graph = NULL;
		rc = open_decoder(lane, &rows->err);
		if (rc != HWTD_OK)
			return (rc);
	}
	rows->stats.bytes += segment->n;
	hwtdi_expander_start(&lane->expander);
	lane->flow->n_tokens = 0;
	lane->flow->n_rares = 0;
	lane->flow->n_anchors = 0;
	lane->flow->n_places = 0;
	lane->flow->has_next_ip = false;
	lane->last_flow = false;
	lane->state = LANE_IN_SEGMENT;
	return (lane->engine->start(lane->decoder, segment, &rows->err));
}

/*
 * What is left of the stream is not needed: all records have their place, or
 * without time they come in the order that they are in.
 */
static bool
is_enough(const struct hwtdi_lane *lane)
{
	const struct hwtdi_expander *x = &lane->expander;

	return (lane->places_only &&
	    (!lane->timed || x->i_place == x->n_places));
}

static int
end_stream(struct hwtdi_lane *lane, struct hwtdi_rows *rows)
{
	lane->state = LANE_DONE;
	if (hwtdi_expand_end(&lane->expander, rows) == HWTDI_EXPAND_NOMEM)
		return (hwtdi_fail_nomem(&rows->err,
		    sizeof(struct hwtdi_mark)));
	return (HWTD_END);
}

/* Between segments: tell a gap, begin a segment, or end. */
static int
next_part(struct hwtdi_lane *lane, struct hwtdi_rows *rows)
{
	struct hwtdi_part part;
	int rc;

	if (is_enough(lane))
		return (end_stream(lane, rows));
	rc = hwtdi_segments_next(&lane->segments, &part, &rows->err);
	if (rc != HWTD_OK)
		return (rc);
	if (part.kind == HWTDI_PART_SEGMENT)
		return (begin_segment(lane, &part.segment, rows));
	if (part.kind == HWTDI_PART_END)
		return (end_stream(lane, rows));
	rows->stats.bytes += part.gap.end - part.gap.first;
	if (hwtdi_expand_gap(&lane->expander, &part.gap, rows) ==
	    HWTDI_EXPAND_NOMEM)
		return (hwtdi_fail_nomem(&rows->err, sizeof(part.gap)));
	return (HWTD_OK);
}

static int
in_segment(struct hwtdi_lane *lane, struct hwtdi_rows *rows, bool *full)
{
	int rc;

	switch (hwtdi_expand(&lane->expander, lane->flow, lane->last_flow,
	    rows)) {
	case HWTDI_EXPAND_FULL:
		*full = true;
		return (HWTD_OK);
	case HWTDI_EXPAND_NOMEM:
		return (hwtdi_fail_nomem(&rows->err, sizeof(*rows)));
	default:
		break;
	}
	if (lane->last_flow || is_enough(lane)) {
		lane->state = LANE_BETWEEN;
		/* Filters may let nothing pass: the user hears of it. */
		*full = (rows->n == 0 && lane->expander.filter->by_row) ||
		    lane->skip != HWTDI_SKIP_NOTHING;
		return (HWTD_OK);
	}
	rc = lane->engine->read(lane->decoder, lane->flow, &rows->err);
	lane->last_flow = rc == HWTD_END;
	return (rc < 0 ? rc : HWTD_OK);
}

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

/* Room that one gap needs at the most. */
#define ROOM 8

static void
make(struct hwtdi_lane *lane, struct hwtdi_rows *rows)
{
	bool full = false;
	int rc = HWTD_OK;

	hwtdi_rows_clear(rows);
	while (rc == HWTD_OK && !full) {
		if (lane->state == LANE_DONE)
			rc = HWTD_END;
		else if (rows->n + ROOM > HWTDI_ROWS)
			full = true;
		else if (lane->state == LANE_IN_SEGMENT)
			rc = in_segment(lane, rows, &full);
		else
			rc = next_part(lane, rows);
		if ((full || rc != HWTD_OK) &&
		    lane->skip != HWTDI_SKIP_NOTHING) {
			skip_rows(lane, rows);
			full = full &&
			    (rows->n + ROOM > HWTDI_ROWS ||
				lane->state == LANE_BETWEEN);
		}
	}
	rows->rc = rc;
	if (rc >= 0)
		return;
	lane->state = LANE_DONE;
	if (rows->err.code != rc)
		(void)hwtdi_fail(&rows->err, rc, "%s", hwtd_code_text(rc));
}

/* Turning. */

static void
run_job(void *arg)
{
	struct hwtdi_lane *lane = arg;

	make(lane, lane->rows[1 - lane->front]);
	pthread_mutex_lock(&lane->lock);
	lane->busy = false;
	pthread_cond_signal(&lane->done);
	pthread_mutex_unlock(&lane->lock);
}

static void
order(struct hwtdi_lane *lane)
{
	lane->busy = true;
	lane->job.run = run_job;
	lane->job.arg = lane;
	hwtdi_pool_add(lane->pool, &lane->job);
}

void
hwtdi_lane_turn(struct hwtdi_lane *lane)
{
	struct hwtdi_rows *front;

	lane->at = 0;
	lane->mark = 0;
	if (lane->pool == NULL) {
		make(lane, lane->rows[lane->front]);
	} else {
		if (!lane->opened)
			order(lane);
		wait_idle(lane);
		lane->front = 1 - lane->front;
		front = lane->rows[lane->front];
		if (front->rc == HWTD_OK)
			order(lane);
	}
	lane->opened = true;
	front = lane->rows[lane->front];
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
hwtdi_lane_has(const struct hwtdi_lane *lane)
{
	const struct hwtdi_rows *rows = lane->rows[lane->front];

	return (lane->at < rows->n || lane->mark < rows->n_marks);
}

struct hwtdi_mark *
hwtdi_lane_mark(const struct hwtdi_lane *lane)
{
	struct hwtdi_rows *rows = lane->rows[lane->front];

	return (lane->mark < rows->n_marks &&
		    rows->marks[lane->mark].at == lane->at
		? &rows->marks[lane->mark]
		: NULL);
}

/* Seeking. */

int
hwtdi_lane_rewind(struct hwtdi_lane *lane, struct hwtd_error *err)
{
	int rc;

	wait_idle(lane);
	rc = hwtdi_lane_ready(lane, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_segments_rewind(&lane->segments);
	lane->state = LANE_BETWEEN;
	lane->skip = HWTDI_SKIP_NOTHING;
	lane->opened = false;
	lane->ended = false;
	lane->at = 0;
	lane->mark = 0;
	lane->expander.i_place = 0;
	lane->expander.last_ns = 0;
	hwtdi_rows_clear(lane->rows[0]);
	hwtdi_rows_clear(lane->rows[1]);
	hwtdi_expander_start(&lane->expander);
	return (HWTD_OK);
}

int
hwtdi_lane_seek_offset(struct hwtdi_lane *lane, uint64_t off,
    struct hwtd_error *err)
{
	struct hwtdi_expander *x = &lane->expander;
	int rc;

	if (hwtdi_lane_empty(lane))
		return (HWTD_OK);
	rc = hwtdi_lane_rewind(lane, err);
	if (rc == HWTD_OK)
		rc = hwtdi_segments_seek(&lane->segments,
		    off > 0 ? off - 1 : 0, err);
	x->i_place = hwtdi_record_lane_find(x->places, x->n_places, off);
	lane->skip = HWTDI_SKIP_TO_OFFSET;
	lane->skip_to = off;
	return (rc);
}

/* The time of the first row with time in the segment at hand, if any. */
static int
first_time(struct hwtdi_lane *lane, bool *has_out, uint64_t *ns_out,
    struct hwtd_error *err)
{
	struct hwtdi_rows *rows = lane->rows[lane->front];
	int rc = HWTD_OK;

	*has_out = false;
	hwtdi_expander_start(&lane->expander);
	hwtdi_rows_clear(rows);
	while (rc == HWTD_OK && lane->state == LANE_BETWEEN)
		rc = next_part(lane, rows);
	while (rc == HWTD_OK && lane->state == LANE_IN_SEGMENT) {
		bool full = false;

		rc = in_segment(lane, rows, &full);
		if (rows->stats.has_time) {
			*has_out = true;
			*ns_out = rows->stats.first_ns;
			break;
		}
		if (full)
			hwtdi_rows_clear(rows);
	}
	lane->state = LANE_BETWEEN;
	return (rc < 0 ? hwtdi_fail_pass(err, &rows->err) : HWTD_OK);
}

int
hwtdi_lane_seek_ns(struct hwtdi_lane *lane, uint64_t time_ns,
    struct hwtd_error *err)
{
	uint64_t low = 0, high;
	int rc;

	if (hwtdi_lane_empty(lane))
		return (HWTD_OK);
	rc = hwtdi_lane_rewind(lane, err);
	if (rc != HWTD_OK || !lane->timed || lane->engine == NULL)
		return (rc);
	/* The last slot whose first time is below; slots may lack a cut. */
	high = hwtdi_segments_slots(&lane->segments);
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2, slot = middle;
		uint64_t ns = 0;
		bool has = false;

		for (; slot < high && !has; slot++) {
			rc = hwtdi_segments_seek_slot(&lane->segments, slot,
			    err);
			if (rc == HWTD_E_NOT_FOUND)
				continue;
			if (rc == HWTD_OK)
				rc = first_time(lane, &has, &ns, err);
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
		rc = hwtdi_segments_seek_slot(&lane->segments, low, err);
	lane->skip = HWTDI_SKIP_TO_TIME;
	lane->skip_to = time_ns;
	return (rc);
}
