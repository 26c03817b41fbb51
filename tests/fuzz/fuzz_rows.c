/*
 * All rows of a cursor with their details.
 */
#include "fuzz_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define MAX_BATCH 1024

static struct fuzz_row *
add(struct fuzz_rows *rows)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap == 0 ? 256 : rows->cap * 2;
		rows->at = realloc(rows->at, rows->cap * sizeof(*rows->at));
		FUZZ_CHECK(rows->at != NULL, "no memory for rows");
	}
	memset(&rows->at[rows->n], 0, sizeof(*rows->at));
	return (&rows->at[rows->n++]);
}

/* Copy element `value` of a detail array. */
static void
detail(struct fuzz_row *row, const void *array, size_t stride, size_t n,
    void *to, size_t bytes)
{
	FUZZ_CHECK(row->e.value < n, "kind %u: detail %" PRIu64 " of %zu",
	    row->e.kind, row->e.value, n);
	FUZZ_CHECK(stride >= bytes, "kind %u: stride %zu", row->e.kind,
	    stride);
	memcpy(to, (const uint8_t *)array + row->e.value * stride, bytes);
	row->e.value = 0;
}

static void
take(const struct hwtd_batch *b, const struct hwtd_event *e,
    struct fuzz_row *row)
{
	row->e = *e;
	switch (e->kind) {
	case HWTD_EV_GAP:
		detail(row, b->gaps, b->gap_stride, b->n_gaps,
		    &row->detail.gap, sizeof(row->detail.gap));
		break;
	case HWTD_EV_MARKER:
		detail(row, b->markers, b->marker_stride, b->n_markers,
		    &row->detail.marker, sizeof(row->detail.marker));
		break;
	case HWTD_EV_POWER:
		detail(row, b->powers, b->power_stride, b->n_powers,
		    &row->detail.power, sizeof(row->detail.power));
		break;
	case HWTD_EV_SAMPLE:
		detail(row, b->samples, b->sample_stride, b->n_samples,
		    &row->detail.sample, sizeof(row->detail.sample));
		break;
	case HWTD_EV_ASYNC:
		if ((e->flags & HWTD_EVF_VALUE) != 0)
			detail(row, b->asyncs, b->async_stride, b->n_asyncs,
			    &row->detail.async, sizeof(row->detail.async));
		break;
	default:
		break;
	}
}

void
fuzz_rows_read(struct hwtd_events *ev, size_t batch, size_t max,
    struct fuzz_rows *out)
{
	static struct hwtd_event events[MAX_BATCH];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_batch b = { .size = sizeof(b) };
	size_t empty = 0;
	int rc;

	memset(out, 0, sizeof(*out));
	b.events = events;
	b.stride = sizeof(events[0]);
	b.cap = batch < MAX_BATCH ? batch : MAX_BATCH;
	for (;;) {
		rc = hwtd_events_read(ev, &b, &err);
		if (rc != HWTD_OK)
			break;
		/* A filter may let nothing pass, but not for ever. */
		FUZZ_CHECK(b.n <= b.cap && (b.n > 0 || ++empty < 100000),
		    "%zu rows read", b.n);
		for (size_t i = 0; i < b.n; i++)
			take(&b, &events[i], add(out));
		if (out->n > max) {
			out->cut = true;
			return;
		}
	}
	FUZZ_CHECK(rc == HWTD_END, "read: %d %s", rc, err.message);
	FUZZ_CHECK(hwtd_events_read(ev, &b, &err) == HWTD_END,
	    "rows after the end");
	out->stats.size = sizeof(out->stats);
	FUZZ_CHECK(hwtd_events_stats(ev, &out->stats) == HWTD_OK, "no stats");
}

void
fuzz_rows_free(struct fuzz_rows *rows)
{
	free(rows->at);
	memset(rows, 0, sizeof(*rows));
}

void
fuzz_row_print(const char *what, const struct fuzz_row *row)
{
	const struct hwtd_event *e = &row->e;

	(void)fprintf(stderr,
	    "%s: kind %u branch %u flags %#x ip %#" PRIx64 " target %#" PRIx64
	    " off %" PRIu64 " value %#" PRIx64 " insns %u bytes %u stream %u "
	    "context %u section %u time %" PRIu64,
	    what, e->kind, e->branch, e->flags, e->ip, e->target,
	    e->stream_off, e->value, e->insns, e->bytes, e->stream, e->context,
	    e->section, e->time_ns);
	if (e->kind == HWTD_EV_GAP)
		(void)fprintf(stderr,
		    " reason %u flags %#x [%" PRIu64 ", %" PRIu64 ") "
		    "before %#" PRIx64 " after %#" PRIx64 " addr %#" PRIx64
		    " \"%s\"",
		    row->detail.gap.reason, row->detail.gap.flags,
		    row->detail.gap.first, row->detail.gap.end,
		    row->detail.gap.ip_before, row->detail.gap.ip_after,
		    row->detail.gap.addr, row->detail.gap.text);
	if (e->kind == HWTD_EV_POWER)
		(void)fprintf(stderr,
		    " power %u hints %#x extensions %#x state %u %u wake %u",
		    row->detail.power.what, row->detail.power.hints,
		    row->detail.power.extensions, row->detail.power.state,
		    row->detail.power.sub_state, row->detail.power.wake);
	if (e->kind == HWTD_EV_MARKER)
		(void)fprintf(stderr, " marker %u of %u: %#" PRIx64,
		    row->detail.marker.source, row->detail.marker.size,
		    row->detail.marker.payload);
	if (e->kind == HWTD_EV_ASYNC)
		(void)fprintf(stderr, " async %u flags %#x number %#x",
		    row->detail.async.type, row->detail.async.flags,
		    row->detail.async.number);
	(void)fputc('\n', stderr);
}

void
fuzz_rows_same(const char *what, const struct fuzz_rows *a, size_t from,
    const struct fuzz_rows *b)
{
	for (size_t i = 0; from + i < a->n && i < b->n; i++) {
		if (memcmp(&a->at[from + i], &b->at[i], sizeof(*b->at)) == 0)
			continue;
		fuzz_row_print("this", &a->at[from + i]);
		fuzz_row_print("that", &b->at[i]);
		fuzz_fail(__FILE__, __LINE__, "%s: row %zu (from %zu) differs",
		    what, i, from);
	}
	if (a->n - from != b->n)
		fuzz_row_print("first of the rest",
		    a->n - from > b->n ? &a->at[from + b->n]
				       : &b->at[a->n - from]);
	FUZZ_CHECK(a->n - from == b->n, "%s: %zu (from %zu) and %zu rows",
	    what, a->n, from, b->n);
}

void
fuzz_rows_of(const struct fuzz_rows *all, uint32_t stream,
    struct fuzz_rows *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < all->n; i++) {
		struct fuzz_row *row;

		if (all->at[i].e.stream != stream)
			continue;
		row = add(out);
		*row = all->at[i];
		row->e.stream = 0;
	}
}
