/*
 * Keeping calls of threads until their file is written.
 */
#include "export/calls/call_spool.h"

#include <string.h>

#include "base/fail.h"

#define CHUNK_BYTES (UINT32_C(64) << 10)
/* Of a record: a byte, and three numbers of up to 10. */
#define RECORD_MOST 32

enum record {
	/* name */
	RECORD_BEGIN,
	RECORD_END,
	/* Of a line that is not shown: line, name; line. */
	RECORD_PUSH,
	RECORD_POP,
	/* name, length */
	RECORD_WHOLE,
	/* line */
	RECORD_SWITCH
};

struct hwtdi_spool_chunk {
	struct hwtdi_spool_chunk *next;
	size_t n;
	uint8_t bytes[CHUNK_BYTES];
};

static void
free_chunks(struct hwtdi_spool *spool, struct hwtdi_spool_thread *t)
{
	while (t->first != NULL) {
		struct hwtdi_spool_chunk *next = t->first->next;

		hwtdi_free(spool->timeline.ctx, t->first, sizeof(*t->first));
		t->first = next;
	}
	t->last = NULL;
}

/* The next file begins. */
static void
clear(struct hwtdi_spool *spool)
{
	for (size_t i = 0; i < spool->n_threads; i++) {
		free_chunks(spool, &spool->threads[i]);
		memset(&spool->threads[i], 0, sizeof(spool->threads[i]));
	}
	for (size_t i = 0; i < spool->n_used_lines; i++)
		spool->lines[i].n = spool->lines[i].n_late = 0;
	spool->n_used_lines = 0;
	spool->events = 0;
}

void
hwtdi_spool_fini(struct hwtdi_spool *spool)
{
	struct hwtd_context *ctx = spool->timeline.ctx;

	if (ctx == NULL)
		return;
	clear(spool);
	for (size_t i = 0; i < spool->n_lines; i++) {
		struct hwtdi_spool_line *line = &spool->lines[i];

		hwtdi_array_free(ctx, line->names, line->cap,
		    sizeof(*line->names));
		hwtdi_array_free(ctx, line->late, line->cap_late,
		    sizeof(*line->late));
	}
	hwtdi_array_free(ctx, spool->lines, spool->n_lines,
	    sizeof(*spool->lines));
	hwtdi_array_free(ctx, spool->threads, spool->n_threads,
	    sizeof(*spool->threads));
	hwtdi_timeline_fini(&spool->timeline);
}

/* Writing. */

/* Room for a record at the end. */
static int
room(struct hwtdi_spool *spool, struct hwtdi_spool_thread *t, uint8_t **out,
    struct hwtd_error *err)
{
	struct hwtdi_spool_chunk *chunk = t->last;

	if (chunk == NULL || chunk->n + RECORD_MOST > CHUNK_BYTES) {
		chunk = hwtdi_alloc(spool->timeline.ctx, sizeof(*chunk));
		if (chunk == NULL)
			return (hwtdi_fail_nomem(err, sizeof(*chunk)));
		chunk->next = NULL;
		chunk->n = 0;
		if (t->last != NULL)
			t->last->next = chunk;
		else
			t->first = chunk;
		t->last = chunk;
	}
	*out = chunk->bytes + chunk->n;
	return (HWTD_OK);
}

static uint8_t *
pack(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (uint8_t)(v | 0x80);
	*at++ = (uint8_t)v;
	return (at);
}

static int
add(struct hwtdi_spool *spool, struct hwtdi_spool_thread *t,
    enum record record, uint64_t at, uint64_t a, uint64_t b,
    struct hwtd_error *err)
{
	uint8_t *begin = NULL, *end;
	int rc = room(spool, t, &begin, err);

	if (rc != HWTD_OK)
		return (rc);
	if (t->first == t->last && t->first->n == 0)
		t->at = t->begin = at;
	end = begin;
	*end++ = (uint8_t)record;
	end = pack(end, at > t->at ? at - t->at : 0);
	end = pack(end, a);
	end = pack(end, b);
	if (at > t->at)
		t->at = at;
	t->last->n += (size_t)(end - begin);
	return (HWTD_OK);
}

/* The thread, and what is kept of a line in this file. */
static int
find(struct hwtdi_spool *spool, struct hwtdi_line *line,
    struct hwtdi_spool_thread **t, struct hwtdi_spool_line **l,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (line->thread >= spool->n_threads)
		rc = hwtdi_timeline_need(spool->timeline.ctx, &spool->threads,
		    &spool->n_threads, (size_t)line->thread + 1,
		    sizeof(*spool->threads), err);
	if (rc == HWTD_OK && line->mark == 0) {
		rc = hwtdi_timeline_need(spool->timeline.ctx, &spool->lines,
		    &spool->n_lines, spool->n_used_lines + 1,
		    sizeof(*spool->lines), err);
		if (rc == HWTD_OK)
			line->mark = (uint32_t)++spool->n_used_lines;
	}
	if (rc != HWTD_OK)
		return (rc);
	*t = &spool->threads[line->thread];
	*l = &spool->lines[line->mark - 1];
	return (HWTD_OK);
}

static int
begin(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    struct hwtd_error *err)
{
	struct hwtdi_spool *spool = arg;
	struct hwtdi_spool_thread *t;
	struct hwtdi_spool_line *l;
	int rc = find(spool, line, &t, &l, err);

	if (rc != HWTD_OK)
		return (rc);
	spool->events++;
	l->n++;
	if (span->late) {
		/* It was there whenever the line was shown. */
		rc = hwtdi_array_grow(spool->timeline.ctx, &l->late,
		    &l->cap_late, l->n_late + 1, sizeof(*l->late), err);
		if (rc == HWTD_OK)
			l->late[l->n_late++] = span->name;
		return (rc);
	}
	if (t->current != line->mark)
		return (add(spool, t, RECORD_PUSH,
		    t->first != NULL ? t->at : span->begin, line->mark - 1,
		    span->name, err));
	return (add(spool, t, RECORD_BEGIN, span->begin, span->name, 0, err));
}

static int
end(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    uint64_t at, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct hwtdi_spool *spool = arg;
	struct hwtdi_spool_thread *t;
	struct hwtdi_spool_line *l;
	int rc = find(spool, line, &t, &l, err);

	(void)span;
	(void)row;
	if (rc != HWTD_OK)
		return (rc);
	spool->events++;
	if (l->n > 0)
		l->n--;
	if (t->current != line->mark)
		return (add(spool, t, RECORD_POP, t->at, line->mark - 1, 0,
		    err));
	return (add(spool, t, RECORD_END, at, 0, 0, err));
}

static int
brief(void *arg, struct hwtdi_line *line, const struct hwtdi_run *run,
    struct hwtd_error *err)
{
	struct hwtdi_spool *spool = arg;
	struct hwtdi_spool_thread *t;
	struct hwtdi_spool_line *l;
	int rc = find(spool, line, &t, &l, err);

	/* Of a line that is not shown there is nowhere to draw it. */
	if (rc != HWTD_OK || t->current != line->mark)
		return (rc);
	spool->events += 2;
	rc = add(spool, t, RECORD_WHOLE, run->begin,
	    run->n == 1 ? run->name : HWTDI_NAME_SHORT, run->sum, err);
	if (rc == HWTD_OK)
		t->at += run->sum;
	return (rc);
}

static int
gap(void *arg, struct hwtdi_line *line, uint64_t from, uint64_t to,
    const struct hwtd_call *row, struct hwtd_error *err)
{
	struct hwtdi_spool *spool = arg;
	struct hwtdi_spool_thread *t;
	struct hwtdi_spool_line *l;
	int rc = find(spool, line, &t, &l, err);

	if (rc != HWTD_OK)
		return (rc);
	if (from < t->at)
		from = t->at < to ? t->at : to;
	spool->events += 2;
	rc = add(spool, t, RECORD_WHOLE, from, HWTDI_NAME_GAPS + row->end,
	    to - from, err);
	if (rc == HWTD_OK)
		t->at += to - from;
	return (rc);
}

static int
switched(void *arg, struct hwtdi_line *line, uint64_t at,
    struct hwtd_error *err)
{
	struct hwtdi_spool *spool = arg;
	struct hwtdi_spool_thread *t;
	struct hwtdi_spool_line *l;
	int rc = find(spool, line, &t, &l, err);

	if (rc != HWTD_OK || t->current == line->mark)
		return (rc);
	/* What one shows ends, and what the other shows begins. */
	if (t->current != 0)
		spool->events += spool->lines[t->current - 1].n;
	spool->events += l->n;
	t->current = line->mark;
	return (add(spool, t, RECORD_SWITCH, at, line->mark - 1, 0, err));
}

/* Files. */

/* The first of all threads whose axis is time; false: there is none. */
static bool
first_time(const struct hwtdi_spool *spool, uint64_t *first)
{
	bool found = false;

	for (size_t i = 0; i < spool->n_threads; i++) {
		const uint64_t at = spool->threads[i].begin;

		if (spool->threads[i].first == NULL ||
		    spool->timeline.threads[i].by_insns ||
		    (found && at >= *first))
			continue;
		*first = at;
		found = true;
	}
	return (found);
}

static int
begin_file(void *arg, struct hwtd_error *err)
{
	struct hwtdi_spool *spool = arg;

	clear(spool);
	return (spool->ops->begin_file(spool->arg, err));
}

static int
end_file(void *arg, struct hwtd_error *err)
{
	struct hwtdi_spool *spool = arg;

	if (!spool->based && first_time(spool, &spool->base)) {
		spool->based = true;
		hwtdi_timeline_moved(&spool->timeline, 0 - spool->base);
	}
	return (spool->ops->put_file(spool->arg, err));
}

static uint64_t
file_bytes(void *arg)
{
	const struct hwtdi_spool *spool = arg;

	return (spool->events * spool->ops->event_bytes);
}

static const struct hwtdi_timeline_ops timeline_ops = {
	.begin = begin,
	.end = end,
	.brief = brief,
	.gap = gap,
	.switched = switched,
	.begin_file = begin_file,
	.end_file = end_file,
	.file_bytes = file_bytes,
};

int
hwtdi_spool_init(struct hwtdi_spool *spool, struct hwtd_export *ex,
    const struct hwtdi_spool_ops *ops, void *arg, struct hwtd_error *err)
{
	spool->ops = ops;
	spool->arg = arg;
	return (hwtdi_timeline_init(&spool->timeline, ex, &timeline_ops, spool,
	    err));
}

/* Reading. */

bool
hwtdi_spool_has(const struct hwtdi_spool *spool, size_t thread)
{
	return (thread < spool->n_threads &&
	    spool->threads[thread].first != NULL);
}

uint64_t
hwtdi_spool_from(const struct hwtdi_spool *spool, size_t thread)
{
	return (spool->timeline.threads[thread].by_insns ? 0 : spool->base);
}

struct reading {
	struct hwtdi_spool *spool;
	const struct hwtdi_spool_reader *to;
	uint64_t at;
	/* Line that is shown, + 1. */
	size_t shown;
};

/* Late calls of a line are there from its begin on, the last one around all. */
static int
begin_line(struct hwtdi_spool *spool, struct hwtdi_spool_line *line,
    struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(spool->timeline.ctx, &line->names,
	    &line->cap, line->n_late, sizeof(*line->names), err);

	line->n = 0;
	for (size_t i = line->n_late; i > 0 && rc == HWTD_OK; i--)
		line->names[line->n++] = line->late[i - 1];
	return (rc);
}

static int
push(struct reading *r, size_t line, uint32_t name, struct hwtd_error *err)
{
	struct hwtdi_spool_line *l = &r->spool->lines[line];
	int rc = hwtdi_array_grow(r->spool->timeline.ctx, &l->names, &l->cap,
	    l->n + 1, sizeof(*l->names), err);

	if (rc == HWTD_OK)
		l->names[l->n++] = name;
	if (rc == HWTD_OK && r->shown == line + 1)
		rc = r->to->begin(r->to->arg, r->at, name, err);
	return (rc);
}

static int
pop(struct reading *r, size_t line, struct hwtd_error *err)
{
	struct hwtdi_spool_line *l = &r->spool->lines[line];

	if (l->n == 0)
		return (HWTD_OK);
	l->n--;
	return (r->shown != line + 1
		? HWTD_OK
		: r->to->end(r->to->arg, r->at, l->names[l->n], err));
}

static int
show_line(struct reading *r, size_t line, struct hwtd_error *err)
{
	const struct hwtdi_spool_line *l;
	int rc = HWTD_OK;

	if (r->shown != 0) {
		l = &r->spool->lines[r->shown - 1];
		for (size_t i = l->n; i > 0 && rc == HWTD_OK; i--)
			rc = r->to->end(r->to->arg, r->at, l->names[i - 1],
			    err);
	}
	l = &r->spool->lines[line];
	r->shown = line + 1;
	for (size_t i = 0; i < l->n && rc == HWTD_OK; i++)
		rc = r->to->begin(r->to->arg, r->at, l->names[i], err);
	return (rc);
}

static int
take(struct reading *r, enum record record, uint64_t a, uint64_t b,
    struct hwtd_error *err)
{
	int rc;

	switch (record) {
	case RECORD_BEGIN:
		return (push(r, r->shown - 1, (uint32_t)a, err));
	case RECORD_END:
		return (pop(r, r->shown - 1, err));
	case RECORD_PUSH:
		return (push(r, a, (uint32_t)b, err));
	case RECORD_POP:
		return (pop(r, a, err));
	case RECORD_SWITCH:
		return (show_line(r, a, err));
	case RECORD_WHOLE:
		rc = r->to->begin(r->to->arg, r->at, (uint32_t)a, err);
		r->at += b;
		return (rc != HWTD_OK
			? rc
			: r->to->end(r->to->arg, r->at, (uint32_t)a, err));
	}
	return (HWTD_OK);
}

static const uint8_t *
unpack(const uint8_t *at, uint64_t *v)
{
	unsigned int shift = 0;

	*v = 0;
	for (; *at >= 0x80; shift += 7)
		*v |= (uint64_t)(*at++ & 0x7f) << shift;
	*v |= (uint64_t)*at++ << shift;
	return (at);
}

int
hwtdi_spool_read(struct hwtdi_spool *spool, size_t thread,
    const struct hwtdi_spool_reader *reader, struct hwtd_error *err)
{
	struct hwtdi_spool_thread *t = &spool->threads[thread];
	struct reading r = { .spool = spool, .to = reader, .at = t->begin };
	int rc = HWTD_OK;

	/* Of all threads: those that were begun before are begun again. */
	for (size_t i = 0; i < spool->n_used_lines && rc == HWTD_OK; i++)
		rc = begin_line(spool, &spool->lines[i], err);
	for (const struct hwtdi_spool_chunk *c = t->first;
	     c != NULL && rc == HWTD_OK; c = c->next) {
		rc = hwtdi_poll(spool->timeline.ctx, err);
		for (const uint8_t *at = c->bytes;
		     at < c->bytes + c->n && rc == HWTD_OK;) {
			const enum record record = (enum record) * at++;
			uint64_t passed, a, b;

			at = unpack(unpack(unpack(at, &passed), &a), &b);
			r.at += passed;
			rc = take(&r, record, a, b, err);
		}
	}
	/* What is left is of late calls whose ends the file does not have. */
	if (rc == HWTD_OK && r.shown != 0) {
		struct hwtdi_spool_line *l = &spool->lines[r.shown - 1];

		while (rc == HWTD_OK && l->n > 0)
			rc = pop(&r, r.shown - 1, err);
	}
	return (rc);
}
