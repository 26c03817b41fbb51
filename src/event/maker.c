/*
 * A maker: cuts one stream into segments, has them decoded, expands the flows
 * to rows.
 */
#include "event/maker.h"

#include <string.h>

#include "base/fail.h"
#include "event/idle.h"

static int
find_code(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	struct hwtdi_maker *maker = arg;
	struct hwtd_exec_context context = *query->context;
	struct hwtdi_code_place place = {
		.context = &context,
		.stream = maker->stream,
		.stream_off = query->stream_off,
		.has_time = query->has_count && maker->timed,
		.moments = query->moments,
		.chosen = query->chosen,
		.n_chosen = query->n_chosen,
		.choice = query->choice,
		.answers = maker->answers,
	};
	struct hwtdi_span span;
	int rc;

	if (place.has_time)
		place.time_ns = hwtdi_clock_ns(&maker->expander.clock,
		    query->count);
	hwtdi_trace_runner(maker->trace, &place, &context.pid, &context.tid,
	    NULL);
	hwtdi_trace_in_context(maker->trace, maker->stream, &context,
	    &context.pid, &context.tid);
	rc = hwtdi_trace_find_code(maker->trace, &place, address, &span);
	if (rc < 0)
		return (rc);
	out->bytes = span.bytes;
	out->address = span.address;
	out->length = span.length;
	out->section = span.section;
	out->moments = span.moments;
	return (rc);
}

/*
 * The first count that is at or behind a time; from `near` on, of counts that
 * begin again at 0.
 */
static uint64_t
count_of(const struct hwtd_clock *clock, uint64_t time_ns, uint64_t near)
{
	const uint64_t from = hwtdi_clock_whole(clock, near);
	uint64_t low = clock->wrap_mask == 0 ? 0 : from, high = UINT64_MAX;
	struct hwtd_clock whole = *clock;

	whole.wrap_mask = 0;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (hwtdi_clock_ns(&whole, middle) < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (low == UINT64_MAX ? low : low - from + near);
}

static void
code_until(void *arg, const struct hwtdi_code_query *query, uint64_t *off_out,
    uint64_t *count_out)
{
	const struct hwtdi_maker *maker = arg;
	struct hwtdi_code_place place = { .stream = maker->stream,
		.stream_off = query->stream_off,
		.has_time = query->has_count && maker->timed };
	uint64_t time_ns;

	if (place.has_time)
		place.time_ns = hwtdi_clock_ns(&maker->expander.clock,
		    query->count);
	hwtdi_trace_until(maker->trace, &place, off_out, &time_ns);
	*count_out = time_ns == UINT64_MAX || !place.has_time
	    ? UINT64_MAX
	    : count_of(&maker->expander.clock, time_ns, query->count);
}

static int
open_decoder(struct hwtdi_maker *maker, struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtdi_decoder_use use = { .engine = maker->engine,
		.stream = maker->stream };
	struct hwtdi_decoder_args args;
	int rc;

	if (maker->engine == NULL)
		return (HWTD_OK);
	(void)hwtd_trace_stream(maker->trace, maker->stream, &desc);
	memset(&args, 0, sizeof(args));
	args.library = maker->library;
	args.pt = desc.pt;
	args.coresight = desc.coresight;
	args.spe = desc.spe;
	args.context = maker->expander.base;
	args.code.find = find_code;
	args.code.until = code_until;
	args.code.arg = maker;
	args.code.fixed = hwtdi_trace_is_fixed(maker->trace);
	args.near_count = desc.clock.base_count;
	args.wrap_base = desc.clock.wrap_base;
	args.wrap_mask = desc.clock.wrap_mask;
	args.timed = maker->timed;
	args.runs = maker->sink != NULL;
	rc = hwtdi_idle_take(maker->trace, &args, &use, err);
	maker->graph = use.graph;
	maker->decoder = use.decoder;
	maker->expander.engine = maker->engine;
	maker->expander.decoder = maker->decoder;
	return (rc);
}

void
hwtdi_maker_init(struct hwtdi_maker *maker, struct hwtd_trace *trace,
    uint32_t stream, const struct hwtd_stream_desc *desc,
    const struct hwtdi_filter *filter, const struct hwtdi_record_lane *records)
{
	struct hwtd_exec_context base;

	memset(maker, 0, offsetof(struct hwtdi_maker, expander));
	maker->library = hwtdi_trace_library(trace);
	maker->trace = trace;
	maker->stream = stream;
	maker->filter = filter;
	memset(&base, 0, sizeof(base));
	base.size = sizeof(base);
	base.pid = desc->pid;
	base.tid = desc->tid;
	base.cpu = desc->cpu;
	maker->timed = desc->clock.counts_per != 0;
	maker->places_only = hwtdi_filter_records_only(filter);
	maker->engine = hwtdi_engine_find(desc->tech, filter->engine);
	if (maker->engine == NULL)
		maker->engine = hwtdi_engine_find(desc->tech, NULL);
	hwtdi_expander_init(&maker->expander, trace, filter, stream,
	    &desc->clock, &base);
	maker->expander.places = hwtdi_record_lane_of(records, stream,
	    &maker->expander.n_places);
}

static int
make_answers(struct hwtdi_maker *maker, struct hwtd_error *err)
{
	maker->answers = hwtdi_alloc(maker->library, sizeof(*maker->answers));
	if (maker->answers == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*maker->answers)));
	hwtdi_code_answers_init(maker->answers);
	return (HWTD_OK);
}

int
hwtdi_maker_ready(struct hwtdi_maker *maker, struct hwtd_error *err)
{
	int rc;

	if (maker->ready)
		return (HWTD_OK);
	maker->ready = true;
	maker->flow = hwtdi_alloc(maker->library, sizeof(*maker->flow));
	rc = maker->flow != NULL ? HWTD_OK
				 : hwtdi_fail_nomem(err, sizeof(*maker->flow));
	if (rc == HWTD_OK)
		hwtdi_flow_init(maker->flow);
	if (rc == HWTD_OK)
		rc = make_answers(maker, err);
	if (rc == HWTD_OK)
		rc = hwtdi_segments_init(&maker->segments, maker->trace,
		    maker->engine, maker->stream, err);
	if (rc == HWTD_OK)
		rc = open_decoder(maker, err);
	if (rc != HWTD_OK)
		hwtdi_maker_rest(maker);
	return (rc);
}

static void
close_decoder(struct hwtdi_maker *maker)
{
	struct hwtdi_decoder_use use = { .engine = maker->engine,
		.stream = maker->stream,
		.runs = maker->sink != NULL,
		.graph = maker->graph,
		.decoder = maker->decoder };

	maker->decoder = NULL;
	maker->graph = NULL;
	maker->expander.decoder = NULL;
	hwtdi_expander_rest(&maker->expander);
	hwtdi_idle_give(maker->trace, &use);
}

void
hwtdi_maker_rest(struct hwtdi_maker *maker)
{
	close_decoder(maker);
	hwtdi_segments_fini(&maker->segments);
	hwtdi_free(maker->library, maker->flow, sizeof(*maker->flow));
	maker->flow = NULL;
	hwtdi_free(maker->library, maker->answers, sizeof(*maker->answers));
	maker->answers = NULL;
	maker->ready = false;
}

static void
start_anew(struct hwtdi_maker *maker)
{
	maker->state = HWTDI_MAKER_BETWEEN;
	maker->expander.i_place = 0;
	maker->expander.last_ns = 0;
	hwtdi_expander_start(&maker->expander);
}

void
hwtdi_maker_rewind(struct hwtdi_maker *maker)
{
	hwtdi_segments_rewind(&maker->segments);
	maker->single = false;
	maker->by_segment = false;
	start_anew(maker);
}

/* Making rows. */

/* Have a new decoder, and a graph that is not full. */
static int
change_decoder(struct hwtdi_maker *maker, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (maker->sink != NULL && maker->decoder != NULL)
		rc = maker->sink->leave(maker->sink->arg, err);
	close_decoder(maker);
	return (rc == HWTD_OK ? open_decoder(maker, err) : rc);
}

static int
begin_segment(struct hwtdi_maker *maker, const struct hwtdi_segment *segment,
    struct hwtdi_rows *rows)
{
	int rc;

	/* There is none if a new one could not be opened before. */
	if (maker->decoder == NULL || hwtdi_graph_is_full(maker->graph)) {
		rc = change_decoder(maker, &rows->err);
		if (rc != HWTD_OK)
			return (rc);
	}
	rows->stats.bytes += segment->n;
	hwtdi_expander_start(&maker->expander);
	hwtdi_flow_clear(maker->flow);
	maker->last_flow = false;
	maker->behind_gap = false;
	maker->state = HWTDI_MAKER_IN_SEGMENT;
	return (maker->engine->start(maker->decoder, segment, &rows->err));
}

/*
 * What is left of the stream is not needed: all records have their place, or
 * without time they come in the order that they are in.
 */
static bool
is_enough(const struct hwtdi_maker *maker)
{
	const struct hwtdi_expander *x = &maker->expander;

	return (maker->places_only &&
	    (!maker->timed || x->i_place == x->n_places));
}

static int
end_stream(struct hwtdi_maker *maker, struct hwtdi_rows *rows)
{
	maker->state = HWTDI_MAKER_DONE;
	if (hwtdi_expand_end(&maker->expander, rows) == HWTDI_EXPAND_NOMEM)
		return (hwtdi_fail_nomem(&rows->err,
		    sizeof(struct hwtdi_mark)));
	return (HWTD_END);
}

static int
tell_gap(struct hwtdi_maker *maker, const struct hwtd_gap *gap,
    struct hwtdi_rows *rows)
{
	maker->behind_gap = true;
	rows->stats.bytes += gap->end - gap->first;
	if (hwtdi_expand_gap(&maker->expander, gap, rows) ==
	    HWTDI_EXPAND_NOMEM)
		return (hwtdi_fail_nomem(&rows->err, sizeof(*gap)));
	return (HWTD_OK);
}

/* Between segments: tell a gap, begin a segment, or end. */
static int
next_part(struct hwtdi_maker *maker, struct hwtdi_rows *rows)
{
	struct hwtdi_part part;
	int rc;

	if (is_enough(maker))
		return (end_stream(maker, rows));
	rc = hwtdi_segments_next(&maker->segments, &part, &rows->err);
	if (rc != HWTD_OK)
		return (rc);
	if (part.kind == HWTDI_PART_SEGMENT)
		return (begin_segment(maker, &part.segment, rows));
	if (part.kind == HWTDI_PART_END)
		return (end_stream(maker, rows));
	return (tell_gap(maker, &part.gap, rows));
}

/* Of a single segment: the next one, whatever gaps come before it. */
static int
next_segment(struct hwtdi_maker *maker, struct hwtdi_rows *rows)
{
	struct hwtdi_expander *x = &maker->expander;
	struct hwtdi_part part;
	int rc;

	rc = hwtdi_segments_next(&maker->segments, &part, &rows->err);
	if (rc != HWTD_OK || part.kind == HWTDI_PART_GAP)
		return (rc);
	if (part.kind == HWTDI_PART_END) {
		maker->state = HWTDI_MAKER_DONE;
		return (HWTD_END);
	}
	/* Its first row marks what comes before it, if that was not done. */
	x->i_place = hwtdi_record_lane_find(x->places, x->n_places,
	    part.segment.stream_off);
	if (x->i_place > 0)
		x->i_place--;
	return (begin_segment(maker, &part.segment, rows));
}

/* Slots of segments that make few rows, and are made by one maker. */
#define FEW_SLOTS 32

/*
 * Before the first segment: find where several of them end together.  To hand over
 * a segment of few rows takes longer than to make it.
 */
static void
find_end(struct hwtdi_maker *maker)
{
	struct hwtdi_segments *const s = &maker->segments;
	const struct hwtdi_segments from = *s;

	maker->until = 0;
	if (maker->sink != NULL || maker->engine->samples == NULL)
		return;
	if (hwtdi_segments_skip(s, FEW_SLOTS)) {
		maker->until = s->at;
		hwtdi_segments_go(&maker->next, s);
	}
	*s = from;
}

/* The first segment has begun. */
static void
set_next(struct hwtdi_maker *maker)
{
	const struct hwtdi_segments *const s = &maker->segments;

	if (maker->until > s->at)
		return;
	maker->until = 0;
	hwtdi_segments_go(&maker->next, s);
}

/* Of a single segment, which was made: gaps behind it belong to it. */
static int
behind_segment(struct hwtdi_maker *maker, struct hwtdi_rows *rows)
{
	struct hwtdi_part part;
	int rc;

	if (!maker->behind_gap && hwtdi_segments_at_cut(&maker->segments) &&
	    maker->segments.at >= maker->until) {
		maker->state = HWTDI_MAKER_PAUSED;
		return (HWTD_OK);
	}
	rc = hwtdi_segments_next(&maker->segments, &part, &rows->err);
	if (rc != HWTD_OK)
		return (rc);
	if (part.kind == HWTDI_PART_GAP)
		return (tell_gap(maker, &part.gap, rows));
	if (part.kind == HWTDI_PART_END)
		return (end_stream(maker, rows));
	if (part.segment.stream_off < maker->until)
		return (begin_segment(maker, &part.segment, rows));
	maker->state = HWTDI_MAKER_PAUSED;
	return (HWTD_OK);
}

/* Have the next flow, and let it be used elsewhere. */
static int
feed_sink(struct hwtdi_maker *maker, struct hwtdi_rows *rows)
{
	int rc;

	hwtdi_flow_clear(maker->flow);
	rc = maker->engine->read(maker->decoder, maker->flow, &rows->err);
	if (rc < 0)
		return (rc);
	maker->last_flow = rc == HWTD_END;
	if (maker->last_flow)
		maker->state = HWTDI_MAKER_BETWEEN;
	return (maker->sink->take(maker->sink->arg, maker, rows));
}

static int
in_segment(struct hwtdi_maker *maker, struct hwtdi_rows *rows, bool *full)
{
	int rc;

	if (maker->sink != NULL)
		return (feed_sink(maker, rows));
	switch (hwtdi_expand(&maker->expander, maker->flow, maker->last_flow,
	    rows)) {
	case HWTDI_EXPAND_FULL:
		*full = true;
		return (HWTD_OK);
	case HWTDI_EXPAND_NOMEM:
		return (hwtdi_fail_nomem(&rows->err, sizeof(*rows)));
	default:
		break;
	}
	if (maker->last_flow || is_enough(maker)) {
		maker->state = HWTDI_MAKER_BETWEEN;
		/* Filters may let nothing pass: the user hears of it. */
		*full = (rows->n == 0 && maker->expander.filter->by_row) ||
		    maker->by_segment;
		return (HWTD_OK);
	}
	if (maker->engine->samples != NULL && maker->flow->n_rares == 0) {
		rc = hwtdi_expand_samples(&maker->expander, maker->flow, rows);
		if (rc == HWTD_E_NOMEM)
			return (hwtdi_fail_nomem(&rows->err, sizeof(*rows)));
		if (rc == HWTD_OK)
			return (HWTD_OK);
	}
	rc = maker->engine->read(maker->decoder, maker->flow, &rows->err);
	maker->last_flow = rc == HWTD_END;
	return (rc < 0 ? rc : HWTD_OK);
}

/* Room that one gap needs at the most. */
#define ROOM 8

static bool
has_room(const struct hwtdi_rows *rows)
{
	return (rows->n + ROOM <= rows->cap);
}

static void
end_rows(struct hwtdi_maker *maker, struct hwtdi_rows *rows, int rc)
{
	rows->rc = rc;
	rows->ends_segment = maker->state != HWTDI_MAKER_IN_SEGMENT;
	rows->last_ns = maker->expander.last_ns;
	if (rc >= 0)
		return;
	maker->state = HWTDI_MAKER_DONE;
	if (rows->err.code != rc)
		(void)hwtdi_fail(&rows->err, rc, "%s", hwtd_code_text(rc));
}

void
hwtdi_maker_make(struct hwtdi_maker *maker, struct hwtdi_rows *rows)
{
	bool full = false;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && !full) {
		if (maker->state == HWTDI_MAKER_DONE)
			rc = HWTD_END;
		else if (maker->state == HWTDI_MAKER_PAUSED || !has_room(rows))
			full = true;
		else if (maker->state == HWTDI_MAKER_IN_SEGMENT)
			rc = in_segment(maker, rows, &full);
		else if (maker->single)
			rc = behind_segment(maker, rows);
		else
			rc = next_part(maker, rows);
	}
	end_rows(maker, rows, rc);
}

int
hwtdi_maker_begin(struct hwtdi_maker *maker, const struct hwtdi_segments *from,
    bool first, struct hwtdi_rows *rows)
{
	int rc = HWTD_OK;

	if (from != NULL) {
		hwtdi_segments_go(&maker->segments, from);
		maker->single = true;
		maker->by_segment = false;
		start_anew(maker);
	}
	find_end(maker);
	while (rc == HWTD_OK && maker->state == HWTDI_MAKER_BETWEEN &&
	    has_room(rows))
		rc = first ? next_part(maker, rows)
			   : next_segment(maker, rows);
	if (rc == HWTD_OK && maker->state == HWTDI_MAKER_IN_SEGMENT) {
		set_next(maker);
		return (HWTD_OK);
	}
	end_rows(maker, rows, rc);
	return (HWTD_END);
}

int
hwtdi_maker_first_time(struct hwtdi_maker *maker, struct hwtdi_rows *rows,
    bool *has_out, uint64_t *ns_out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	*has_out = false;
	hwtdi_expander_start(&maker->expander);
	hwtdi_rows_clear(rows);
	while (rc == HWTD_OK && maker->state == HWTDI_MAKER_BETWEEN)
		rc = next_part(maker, rows);
	while (rc == HWTD_OK && maker->state == HWTDI_MAKER_IN_SEGMENT) {
		bool full = false;

		rc = in_segment(maker, rows, &full);
		if (rows->stats.has_time) {
			*has_out = true;
			*ns_out = rows->stats.first_ns;
			break;
		}
		if (full)
			hwtdi_rows_clear(rows);
	}
	maker->state = HWTDI_MAKER_BETWEEN;
	return (rc < 0 ? hwtdi_fail_pass(err, &rows->err) : HWTD_OK);
}
