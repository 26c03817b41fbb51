/*
 * Calls along an axis of time: which are drawn, from where to where.
 */
#include "export/calls/call_timeline.h"

#include <string.h>

#include "analysis/calls/call_source.h"
#include "base/fail.h"

#define ROWS_AT_ONCE 512
/* Rows of a thread that wait for its first time. */
#define HELD_MOST 4096
/*
 * Late spans begin 1 ns before one another.  Times are moved by so much where
 * there is no room for that at the start of the axis.
 */
#define LATE_ROOM (UINT64_C(1) << 24)
/* A lane is free for another line when it was left so long ago. */
#define LANE_REST (UINT64_C(1) << 16)
#define LANES_MOST 64

/* The axis. */

static uint64_t
later(uint64_t a, uint64_t b)
{
	return (a > b ? a : b);
}

static uint64_t
axis(const struct hwtdi_timeline *tl, const struct hwtdi_timeline_thread *t,
    const struct hwtd_call *row, bool end)
{
	const uint32_t known = end ? HWTD_CALLF_END_TIME
				   : HWTD_CALLF_BEGIN_TIME;
	uint64_t at;

	if (t->by_insns)
		return (LATE_ROOM * tl->ops->lanes + t->rows +
		    (end ? row->end_insns : row->begin_insns));
	at = (row->flags & known) == 0 ? t->first_ns
	    : end		       ? row->end_ns
				       : row->begin_ns;
	/* What is before the first of all, if it is moved to the front. */
	if ((int64_t)tl->offset < 0)
		return (at < 0 - tl->offset ? 0 : at + tl->offset);
	return (at + tl->offset < at ? UINT64_MAX : at + tl->offset);
}

void
hwtdi_timeline_moved(struct hwtdi_timeline *tl, uint64_t by)
{
	tl->ex->info.moved_ns = (int64_t)by;
	if (by != 0)
		tl->ex->info.flags |= HWTD_EXPORTF_TIME_MOVED;
}

/* The first time that is told says whether all have to be moved. */
static void
choose_offset(struct hwtdi_timeline *tl, const struct hwtdi_timeline_thread *t)
{
	if (tl->has_offset || t->by_insns)
		return;
	tl->has_offset = true;
	if (!tl->ops->lanes)
		return;
	if (t->first_ns < LATE_ROOM)
		tl->offset = LATE_ROOM;
	else if (t->first_ns > tl->ops->latest)
		tl->offset = LATE_ROOM - t->first_ns;
	hwtdi_timeline_moved(tl, tl->offset);
}

/* Lanes. */

static int
take_lane(struct hwtdi_timeline *tl, struct hwtdi_timeline_thread *t,
    struct hwtdi_line *line, uint64_t at, struct hwtd_error *err)
{
	size_t i = 0, best = SIZE_MAX;
	int rc;

	for (; i < t->n_lanes; i++) {
		if (t->lanes[i].left == UINT64_MAX)
			continue;
		if (best == SIZE_MAX || t->lanes[i].left < t->lanes[best].left)
			best = i;
		if (t->lanes[i].left + LANE_REST <= at)
			break;
	}
	if (i == t->n_lanes && best != SIZE_MAX && t->n_lanes >= LANES_MOST)
		i = best;
	if (i == t->n_lanes) {
		rc = hwtdi_array_grow(tl->ctx, &t->lanes, &t->cap_lanes,
		    t->n_lanes + 1, sizeof(*t->lanes), err);
		if (rc != HWTD_OK)
			return (rc);
		t->lanes[t->n_lanes++] = (struct hwtdi_lane){
			.track = tl->n_tracks++
		};
	}
	line->late_room = at > t->lanes[i].left ? at - t->lanes[i].left : 0;
	line->lane = (uint32_t)i;
	line->track = t->lanes[i].track;
	t->lanes[i].left = UINT64_MAX;
	return (HWTD_OK);
}

static void
leave_lane(struct hwtdi_timeline_thread *t, const struct hwtdi_line *line)
{
	if (line->lane < t->n_lanes)
		t->lanes[line->lane].left = line->last;
}

/* Lines. */

/* Short calls that are held are told now. */
static int
flush_run(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    struct hwtdi_run *run, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (run->n == 0)
		return (HWTD_OK);
	/* One alone is what it is. */
	if (run->n == 1)
		tl->ex->info.merged--;
	tl->ex->info.rows++;
	rc = tl->ops->brief(tl->arg, line, run, err);
	memset(run, 0, sizeof(*run));
	return (rc);
}

static struct hwtdi_run *
run_around(struct hwtdi_line *line, size_t i)
{
	return (i == 0 ? &line->run : &line->open[i - 1].run);
}

static int
show(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    struct hwtd_error *err)
{
	struct hwtdi_span *span = &line->open[line->n_shown];
	int rc = flush_run(tl, line, run_around(line, line->n_shown), err);

	if (rc != HWTD_OK)
		return (rc);
	span->shown = true;
	line->n_shown++;
	tl->ex->info.rows++;
	/* Out of room: it begins where it became known. */
	if (span->late && tl->ops->lanes) {
		if (++line->n_late < line->late_room)
			span->begin = line->start - line->n_late;
		else
			span->begin = line->last;
	}
	return (tl->ops->begin(tl->arg, line, span, err));
}

/* Spans that are long enough by now are told; `all`: the others, too. */
static int
settle(struct hwtdi_timeline *tl, struct hwtdi_line *line, uint64_t now,
    bool all, struct hwtd_error *err)
{
	const uint32_t most = tl->ex->options.max_depth;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && line->n_shown < line->n &&
	    (most == 0 || line->n_shown < most)) {
		const struct hwtdi_span *span = &line->open[line->n_shown];

		if (!all && now - span->begin < tl->threshold)
			break;
		rc = show(tl, line, err);
	}
	return (rc);
}

static struct hwtdi_line *
find_line(struct hwtdi_timeline *tl, const struct hwtd_call *row)
{
	const struct hwtdi_timeline_thread *t = &tl->threads[row->thread];
	uint32_t at = t->current;

	if (at != 0 && tl->lines[at - 1].stack == row->stack)
		return (&tl->lines[at - 1]);
	for (at = t->newest; at != 0; at = tl->lines[at - 1].older)
		if (tl->lines[at - 1].stack == row->stack)
			return (&tl->lines[at - 1]);
	return (NULL);
}

/* One that is free, with the room that it had, or a new one. */
static int
free_line(struct hwtdi_timeline *tl, struct hwtdi_line **out,
    struct hwtd_error *err)
{
	struct hwtdi_line *line;
	int rc;

	if (tl->n_free > 0) {
		*out = &tl->lines[tl->free_lines[--tl->n_free]];
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(tl->ctx, &tl->lines, &tl->cap_lines,
	    tl->n_lines + 1, sizeof(*tl->lines), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(tl->ctx, &tl->free_lines, &tl->cap_free,
		    tl->n_lines + 1, sizeof(*tl->free_lines), err);
	if (rc != HWTD_OK)
		return (rc);
	line = &tl->lines[tl->n_lines];
	memset(line, 0, sizeof(*line));
	line->no = (uint32_t)tl->n_lines++;
	*out = line;
	return (HWTD_OK);
}

static int
line_of(struct hwtdi_timeline *tl, const struct hwtd_call *row,
    struct hwtdi_line **out, struct hwtd_error *err)
{
	struct hwtdi_timeline_thread *t = &tl->threads[row->thread];
	struct hwtdi_line *line = find_line(tl, row);
	int rc;

	*out = line;
	if (line != NULL)
		return (HWTD_OK);
	rc = free_line(tl, &line, err);
	if (rc != HWTD_OK)
		return (rc);
	line->thread = row->thread;
	line->stack = row->stack;
	line->older = t->newest;
	line->used = true;
	line->n = line->n_shown = 0;
	line->n_late = 0;
	line->late_room = 0;
	line->mark = 0;
	line->lowest = row->depth;
	line->start = axis(tl, t, row, row->kind == HWTD_CALL_LEAVE);
	line->last = line->start;
	memset(&line->run, 0, sizeof(line->run));
	t->newest = line->no + 1;
	*out = line;
	return (tl->ops->lanes ? take_lane(tl, t, line, line->start, err)
			       : HWTD_OK);
}

/* It has no calls, and execution does not go on in it. */
static int
drop_line(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    struct hwtd_error *err)
{
	struct hwtdi_timeline_thread *t = &tl->threads[line->thread];
	uint32_t *link = &t->newest;
	int rc = flush_run(tl, line, &line->run, err);

	while (*link != line->no + 1)
		link = &tl->lines[*link - 1].older;
	*link = line->older;
	if (t->current == line->no + 1)
		t->current = 0;
	if (tl->ops->lanes)
		leave_lane(t, line);
	line->used = false;
	tl->free_lines[tl->n_free++] = line->no;
	return (rc);
}

/* Rows. */

/* Ended while it waited: the thread does not go on there. */
static bool
ends_waiting(const struct hwtd_call *row)
{
	return (row->kind == HWTD_CALL_LEAVE &&
	    (row->end == HWTD_CALL_END_LIMIT ||
		row->end == HWTD_CALL_END_OPEN ||
		row->end == HWTD_CALL_END_EXEC));
}

static int
switch_to(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    const struct hwtd_call *row, struct hwtd_error *err)
{
	struct hwtdi_timeline_thread *t = &tl->threads[line->thread];
	struct hwtdi_line *from = t->current == 0 ? NULL
						  : &tl->lines[t->current - 1];
	uint64_t at = axis(tl, t, row, row->kind == HWTD_CALL_LEAVE);
	int rc = HWTD_OK;

	if (from == line || (from != NULL && ends_waiting(row)))
		return (HWTD_OK);
	if (from != NULL) {
		at = later(at, from->last);
		if (from->n == 0)
			rc = drop_line(tl, from, err);
		else if (!tl->ops->lanes)
			rc = settle(tl, from, at, true, err);
		/* What is short there is told before time goes on. */
		if (rc == HWTD_OK && from->n != 0 && !tl->ops->lanes)
			rc = flush_run(tl, from,
			    run_around(from, from->n_shown), err);
	}
	t->current = line->no + 1;
	if (!tl->ops->lanes && rc == HWTD_OK) {
		line->last = later(line->last, at);
		rc = tl->ops->switched(tl->arg, line, at, err);
	}
	return (rc);
}

static uint32_t
name_of(const struct hwtd_call *row)
{
	if (row->function != HWTD_NO_ID)
		return (HWTDI_NAME_FUNCTIONS + row->function);
	if ((row->flags & HWTD_CALLF_UNTRACED) == 0)
		return (HWTDI_NAME_UNKNOWN);
	switch (row->type) {
	case HWTD_CALL_TYPE_SYSCALL:
		return (HWTDI_NAME_SYSCALL);
	case HWTD_CALL_TYPE_INTERRUPT:
		return (HWTDI_NAME_INTERRUPT);
	case HWTD_CALL_TYPE_EXCEPTION:
		return (HWTDI_NAME_EXCEPTION);
	default:
		return (HWTDI_NAME_UNTRACED);
	}
}

static int
enter(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    const struct hwtd_call *row, uint64_t at, struct hwtd_error *err)
{
	struct hwtdi_span *span;
	int rc = settle(tl, line, at, false, err);

	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(tl->ctx, &line->open, &line->cap,
		    line->n + 1, sizeof(*line->open), err);
	if (rc != HWTD_OK)
		return (rc);
	span = &line->open[line->n];
	*span = (struct hwtdi_span){ .begin = at,
		.address = row->address,
		.site = row->call_site,
		.name = name_of(row),
		.flags = row->flags,
		.type = row->type };
	if (line->n == 0 && row->depth < line->lowest &&
	    (row->flags & HWTD_CALLF_BEGAN_BEFORE) != 0) {
		span->late = true;
		span->begin = line->start;
	}
	if (row->depth < line->lowest)
		line->lowest = row->depth;
	line->n++;
	return (settle(tl, line, at, false, err));
}

static int
merge(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    const struct hwtd_call *row, uint64_t at, struct hwtd_error *err)
{
	const struct hwtdi_span *span = &line->open[line->n - 1];
	struct hwtdi_run *run = run_around(line, line->n - 1);
	int rc = HWTD_OK;

	/* Of what is not shown yet nothing can be, either. */
	if (run->n != 0 && line->n_shown + 1 == line->n &&
	    span->begin - run->end >= tl->ex->options.resolution_ns)
		rc = flush_run(tl, line, run, err);
	if (run->n == 0) {
		run->begin = span->begin;
		run->name = span->name;
		run->type = span->type;
	}
	run->n++;
	run->sum += at - span->begin;
	run->end = at;
	run->insns += row->insns;
	tl->ex->info.merged++;
	return (rc);
}

static int
leave(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    const struct hwtd_call *row, uint64_t at, struct hwtd_error *err)
{
	const struct hwtd_format_options *o = &tl->ex->options;
	struct hwtdi_span *span;
	int rc = settle(tl, line, at, false, err);

	/* Rows nest: it is the one that was entered last. */
	if (rc != HWTD_OK || line->n == 0)
		return (rc);
	span = &line->open[line->n - 1];
	if (span->shown) {
		rc = flush_run(tl, line, &span->run, err);
		if (rc == HWTD_OK)
			rc = tl->ops->end(tl->arg, line, span, at, row, err);
		line->n_shown--;
	} else if (at - span->begin < o->min_ns ||
	    (o->max_depth != 0 && line->n > o->max_depth)) {
		tl->ex->info.dropped++;
	} else {
		rc = merge(tl, line, row, at, err);
	}
	line->n--;
	return (rc);
}

static int
add_gap(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    const struct hwtd_call *row, uint64_t at, uint64_t begin,
    struct hwtd_error *err)
{
	/* Where it stands among calls, all of those have to be there. */
	int rc = settle(tl, line, begin, !tl->ops->lanes, err);

	if (rc == HWTD_OK && !tl->ops->lanes)
		rc = flush_run(tl, line, run_around(line, line->n_shown), err);
	tl->ex->info.rows++;
	return (rc != HWTD_OK
		? rc
		: tl->ops->gap(tl->arg, line, begin, at, row, err));
}

static int
take_row(struct hwtdi_timeline *tl, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	struct hwtdi_timeline_thread *t = &tl->threads[row->thread];
	struct hwtdi_line *line;
	uint64_t at, begin;
	int rc;

	if (t->by_insns && tl->by_rows)
		t->rows++;
	rc = line_of(tl, row, &line, err);
	if (rc == HWTD_OK)
		rc = switch_to(tl, line, row, err);
	if (rc != HWTD_OK)
		return (rc);
	begin = later(axis(tl, t, row, false), line->last);
	at = row->kind == HWTD_CALL_ENTER
	    ? begin
	    : later(axis(tl, t, row, true), line->last);
	/* That of a caller that becomes known is long ago. */
	line->last = at;
	if (row->kind == HWTD_CALL_ENTER)
		rc = enter(tl, line, row, at, err);
	else if (row->kind == HWTD_CALL_LEAVE)
		rc = leave(tl, line, row, at, err);
	else if (row->kind == HWTD_CALL_GAP)
		rc = add_gap(tl, line, row, at, begin, err);
	if (rc == HWTD_OK && tl->counts && !t->by_insns)
		rc = tl->ops->count(tl->arg, row->thread, at,
		    row->kind == HWTD_CALL_ENTER ? row->begin_insns
						 : row->end_insns,
		    err);
	if (rc == HWTD_OK && line->n == 0 && t->current != line->no + 1)
		rc = drop_line(tl, line, err);
	return (rc);
}

/* Threads. */

int
hwtdi_timeline_need(struct hwtd_context *ctx, void *array_inout,
    size_t *n_inout, size_t wanted, size_t bytes, struct hwtd_error *err)
{
	const size_t old = *n_inout;
	uint8_t *at;
	int rc;

	if (wanted <= old)
		return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, array_inout, n_inout, wanted, bytes, err);
	if (rc != HWTD_OK)
		return (rc);
	memcpy(&at, array_inout, sizeof(at));
	memset(at + old * bytes, 0, (*n_inout - old) * bytes);
	return (HWTD_OK);
}

static int
need_thread(struct hwtdi_timeline *tl, uint32_t thread, struct hwtd_error *err)
{
	return (hwtdi_timeline_need(tl->ctx, &tl->threads, &tl->n_threads,
	    (size_t)thread + 1, sizeof(*tl->threads), err));
}

/* Rows that waited; the axis is known now. */
static int
release(struct hwtdi_timeline *tl, uint32_t thread, struct hwtd_error *err)
{
	struct hwtdi_timeline_thread *t = &tl->threads[thread];
	int rc = HWTD_OK;

	t->waiting = false;
	choose_offset(tl, t);
	if (t->by_insns)
		tl->ex->info.flags |= HWTD_EXPORTF_INSNS_AS_TIME;
	for (size_t i = 0; i < t->n_held && rc == HWTD_OK; i++)
		rc = take_row(tl, &tl->threads[thread].held[i], err);
	t = &tl->threads[thread];
	hwtdi_array_free(tl->ctx, t->held, t->cap_held, sizeof(*t->held));
	t->held = NULL;
	t->n_held = t->cap_held = 0;
	return (rc);
}

static int
choose_axis(struct hwtdi_timeline *tl, uint32_t thread, struct hwtd_error *err)
{
	struct hwtdi_timeline_thread *t = &tl->threads[thread];
	struct hwtd_call_thread who = { .size = sizeof(who) };

	if (!t->known) {
		t->known = t->waiting = true;
		t->by_insns = tl->ex->options.value == HWTD_VALUE_INSNS;
	}
	if (!t->waiting)
		return (HWTD_OK);
	(void)hwtd_calls_thread(tl->calls, thread, &who);
	t->first_ns = who.first_ns;
	if (who.has_time == 0 && !t->by_insns && t->n_held < HELD_MOST)
		return (HWTD_OK);
	t->by_insns = t->by_insns || who.has_time == 0;
	return (release(tl, thread, err));
}

static int
hold_or_take(struct hwtdi_timeline *tl, const struct hwtd_call *row,
    struct hwtd_error *err)
{
	struct hwtdi_timeline_thread *t;
	int rc = need_thread(tl, row->thread, err);

	if (rc == HWTD_OK)
		rc = choose_axis(tl, row->thread, err);
	if (rc != HWTD_OK)
		return (rc);
	t = &tl->threads[row->thread];
	if (!t->waiting)
		return (take_row(tl, row, err));
	rc = hwtdi_array_grow(tl->ctx, &t->held, &t->cap_held, t->n_held + 1,
	    sizeof(*t->held), err);
	if (rc == HWTD_OK)
		t->held[t->n_held++] = *row;
	return (rc);
}

/* Files. */

/* What is open goes on in the next file, or is cut. */
static int
cut_line(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    struct hwtd_error *err)
{
	/* What is short so far is in both files: it goes on where its callers do. */
	int rc = settle(tl, line, line->last, true, err);

	if (rc == HWTD_OK)
		rc = flush_run(tl, line, run_around(line, line->n_shown), err);
	for (size_t i = line->n_shown; i > 0 && rc == HWTD_OK; i--) {
		rc = flush_run(tl, line, &line->open[i - 1].run, err);
		if (rc == HWTD_OK)
			rc = tl->ops->end(tl->arg, line, &line->open[i - 1],
			    line->last, NULL, err);
	}
	return (rc);
}

static int
cut_lines(struct hwtdi_timeline *tl, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < tl->n_lines && rc == HWTD_OK; i++)
		if (tl->lines[i].used)
			rc = cut_line(tl, &tl->lines[i], err);
	return (rc);
}

static void
restart_line(struct hwtdi_line *line)
{
	line->start = line->last;
	line->mark = 0;
	line->n_late = 0;
	line->late_room = line->start < LATE_ROOM ? line->start : LATE_ROOM;
}

static int
continue_line(struct hwtdi_timeline *tl, struct hwtdi_line *line,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < line->n_shown && rc == HWTD_OK; i++) {
		struct hwtdi_span *span = &line->open[i];

		span->begin = line->last;
		span->late = false;
		span->continued = true;
		rc = tl->ops->begin(tl->arg, line, span, err);
	}
	return (rc);
}

/* Threads show the lines that run, and what is open is begun again. */
static int
continue_lines(struct hwtdi_timeline *tl, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < tl->n_lines; i++)
		restart_line(&tl->lines[i]);
	for (size_t i = 0; i < tl->n_threads && rc == HWTD_OK; i++) {
		const uint32_t current = tl->threads[i].current;

		if (!tl->ops->lanes && current != 0)
			rc = tl->ops->switched(tl->arg,
			    &tl->lines[current - 1],
			    tl->lines[current - 1].last, err);
	}
	for (size_t i = 0; i < tl->n_lines && rc == HWTD_OK; i++)
		if (tl->lines[i].used)
			rc = continue_line(tl, &tl->lines[i], err);
	return (rc);
}

static uint64_t
file_bytes(const struct hwtdi_timeline *tl)
{
	return (tl->ops->file_bytes != NULL ? tl->ops->file_bytes(tl->arg)
					    : tl->ex->sink.file_put);
}

/* What is open is open in the next one, too. */
static int
end_file(struct hwtdi_timeline *tl, struct hwtd_error *err)
{
	int rc = cut_lines(tl, err);

	if (rc == HWTD_OK && tl->ops->end_file != NULL)
		rc = tl->ops->end_file(tl->arg, err);
	return (rc);
}

static int
next_file(struct hwtdi_timeline *tl, struct hwtd_error *err)
{
	int rc = end_file(tl, err);

	if (rc == HWTD_OK)
		rc = hwtdi_sink_next_file(&tl->ex->sink, err);
	if (rc == HWTD_OK)
		rc = tl->ops->begin_file(tl->arg, err);
	if (rc == HWTD_OK)
		rc = continue_lines(tl, err);
	tl->file_begin = file_bytes(tl);
	return (rc);
}

/* What is open may take most of a file: each has to get further. */
static bool
is_full(struct hwtdi_timeline *tl)
{
	const uint64_t most = tl->ex->options.split_bytes;
	uint64_t bytes;

	if (most == 0)
		return (false);
	bytes = file_bytes(tl);
	return (bytes >= most && bytes >= 2 * tl->file_begin);
}

static int
finish(struct hwtdi_timeline *tl, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < tl->n_threads && rc == HWTD_OK; i++) {
		if (!tl->threads[i].waiting)
			continue;
		tl->threads[i].by_insns = true;
		rc = release(tl, (uint32_t)i, err);
	}
	if (rc == HWTD_OK)
		rc = end_file(tl, err);
	tl->ended = true;
	return (rc != HWTD_OK ? rc : HWTD_END);
}

int
hwtdi_timeline_step(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct hwtdi_timeline *tl = ex->state;
	struct hwtd_call_batch batch = { .size = sizeof(batch),
		.calls = tl->rows,
		.stride = sizeof(*tl->rows),
		.cap = ROWS_AT_ONCE };
	int rc = HWTD_OK;

	if (tl->ended)
		return (HWTD_END);
	if (!tl->begun) {
		tl->begun = true;
		rc = tl->ops->begin_file(tl->arg, err);
		if (rc != HWTD_OK)
			return (rc);
		tl->file_begin = file_bytes(tl);
	}
	if (tl->ex->stopped)
		return (finish(tl, err));
	rc = hwtd_calls_read(tl->calls, &batch, err);
	if (rc == HWTD_END)
		return (finish(tl, err));
	for (size_t i = 0; i < batch.n && rc == HWTD_OK; i++) {
		if (is_full(tl))
			rc = next_file(tl, err);
		if (rc == HWTD_OK)
			rc = hold_or_take(tl, &tl->rows[i], err);
	}
	return (rc);
}

int
hwtdi_timeline_init(struct hwtdi_timeline *tl, struct hwtd_export *ex,
    const struct hwtdi_timeline_ops *ops, void *arg, struct hwtd_error *err)
{
	const struct hwtd_format_options *o = &ex->options;

	if (o->value == HWTD_VALUE_CYCLES || o->value == HWTD_VALUE_CALLS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "format %s draws time or instructions, not value %u",
		    ex->ops->name, o->value));
	tl->ex = ex;
	tl->ctx = ex->ctx;
	tl->calls = ex->source.calls;
	tl->by_rows = hwtdi_calls_trace(tl->calls) == NULL;
	tl->ops = ops;
	tl->arg = arg;
	tl->counts = ops->count != NULL &&
	    (o->flags & HWTD_EXPORT_COUNTERS) != 0;
	tl->threshold = later(o->min_ns, o->resolution_ns);
	tl->rows = hwtdi_alloc(tl->ctx, ROWS_AT_ONCE * sizeof(*tl->rows));
	return (tl->rows == NULL
		? hwtdi_fail_nomem(err, ROWS_AT_ONCE * sizeof(*tl->rows))
		: HWTD_OK);
}

void
hwtdi_timeline_fini(struct hwtdi_timeline *tl)
{
	struct hwtd_context *ctx = tl->ctx;

	if (ctx == NULL)
		return;
	for (size_t i = 0; i < tl->n_lines; i++)
		hwtdi_array_free(ctx, tl->lines[i].open, tl->lines[i].cap,
		    sizeof(*tl->lines[i].open));
	hwtdi_array_free(ctx, tl->lines, tl->cap_lines, sizeof(*tl->lines));
	hwtdi_array_free(ctx, tl->free_lines, tl->cap_free,
	    sizeof(*tl->free_lines));
	for (size_t i = 0; i < tl->n_threads; i++) {
		struct hwtdi_timeline_thread *t = &tl->threads[i];

		hwtdi_array_free(ctx, t->held, t->cap_held, sizeof(*t->held));
		hwtdi_array_free(ctx, t->lanes, t->cap_lanes,
		    sizeof(*t->lanes));
	}
	hwtdi_array_free(ctx, tl->threads, tl->n_threads,
	    sizeof(*tl->threads));
	if (tl->rows != NULL)
		hwtdi_free(ctx, tl->rows, ROWS_AT_ONCE * sizeof(*tl->rows));
}
