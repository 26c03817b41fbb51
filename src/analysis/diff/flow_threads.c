/*
 * Threads that execute code, and which of two traces belong together.
 */
#include "analysis/diff/flow_threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

#define ROWS_AT_ONCE 1024u

int
hwtdi_flow_threads_begin(struct hwtdi_flow_threads *t,
    struct hwtd_context *library, struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct hwtd_error *err)
{
	memset(t, 0, sizeof(*t));
	t->library = library;
	t->trace = trace;
	t->rows = hwtdi_alloc(library, ROWS_AT_ONCE * sizeof(*t->rows));
	if (t->rows == NULL)
		return (hwtdi_fail_nomem(err,
		    ROWS_AT_ONCE * sizeof(*t->rows)));
	return (hwtdi_flow_open_events(trace, opts, &t->events, err));
}

void
hwtdi_flow_threads_fini(struct hwtdi_flow_threads *t)
{
	struct hwtd_context *ctx = t->library;

	if (ctx == NULL)
		return;
	hwtd_events_close(t->events);
	hwtdi_free(ctx, t->rows, ROWS_AT_ONCE * sizeof(*t->rows));
	hwtdi_array_free(ctx, t->at, t->cap, sizeof(*t->at));
	hwtdi_array_free(ctx, t->seen, t->cap_seen, sizeof(*t->seen));
	hwtdi_index_fini(&t->index, ctx);
	memset(t, 0, sizeof(*t));
}

static int
take(struct hwtdi_flow_threads *t, const struct hwtdi_flow_thread *thread,
    struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash(t->library, thread, sizeof(*thread));
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&t->index, hash, &tries, &no))
		if (memcmp(&t->at[no].thread, thread, sizeof(*thread)) == 0)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&t->index, t->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(t->library, &t->at, &t->cap, t->n + 1,
		    sizeof(*t->at), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&t->index, hash, (uint32_t)t->n);
	t->at[t->n++] = (struct hwtdi_flow_who){ .thread = *thread };
	return (HWTD_OK);
}

enum {
	SEEN_NOT,
	SEEN_KNOWN,
	SEEN_NOBODY
};

static int
add_row(struct hwtdi_flow_threads *t, const struct hwtd_event *row,
    struct hwtd_error *err)
{
	const size_t need = (size_t)row->context + 1;
	struct hwtdi_flow_thread thread;
	int rc;

	if (row->kind != HWTD_EV_BLOCK ||
	    (t->has_last && t->last_context == row->context &&
		t->last_stream == row->stream))
		return (HWTD_OK);
	t->has_last = true;
	t->last_context = row->context;
	t->last_stream = row->stream;
	if (need <= t->n_seen && t->seen[row->context] == SEEN_KNOWN)
		return (HWTD_OK);
	if (need > t->n_seen) {
		rc = hwtdi_array_grow(t->library, &t->seen, &t->cap_seen, need,
		    sizeof(*t->seen), err);
		if (rc != HWTD_OK)
			return (rc);
		memset(t->seen + t->n_seen, SEEN_NOT, need - t->n_seen);
		t->n_seen = need;
	}
	hwtdi_flow_thread_of(t->trace, row, &thread);
	/* What nobody is known of is looked at by stream, each time. */
	t->seen[row->context] = thread.tid != HWTD_NO_ID ? SEEN_KNOWN
							 : SEEN_NOBODY;
	return (take(t, &thread, err));
}

/* The last names that records tell, of the whole trace. */
static int
set_names(struct hwtdi_flow_threads *t)
{
	struct hwtd_record r = { .size = sizeof(r) };

	for (uint64_t i = 0; hwtd_trace_record(t->trace, i, &r) == HWTD_OK;
	     i++) {
		const struct hwtdi_flow_thread who = { r.pid, r.tid,
			HWTD_NO_ID };
		size_t tries = 0;
		uint32_t no;

		if (r.type != HWTD_REC_THREAD_NAME || r.name == NULL ||
		    r.tid == HWTD_NO_ID)
			continue;
		while (hwtdi_index_next(&t->index,
		    hwtdi_hash(t->library, &who, sizeof(who)), &tries, &no))
			if (memcmp(&t->at[no].thread, &who, sizeof(who)) == 0)
				t->at[no].name = r.name;
	}
	return (HWTD_END);
}

int
hwtdi_flow_threads_work(struct hwtdi_flow_threads *t, struct hwtd_error *err)
{
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = t->rows,
		.stride = sizeof(*t->rows),
		.cap = ROWS_AT_ONCE };
	int rc;

	if (t->done)
		return (HWTD_END);
	rc = hwtd_events_read(t->events, &batch, err);
	if (rc == HWTD_END) {
		t->done = true;
		return (set_names(t));
	}
	for (size_t i = 0; rc == HWTD_OK && i < batch.n; i++)
		rc = add_row(t, &t->rows[i], err);
	return (rc);
}

/* Pairing. */

struct sorted {
	const char *name;
	size_t no;
};

static int
by_name(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;
	const int order = strcmp(a->name, b->name);

	if (order != 0)
		return (order);
	return (a->no < b->no ? -1 : a->no > b->no);
}

static int
sort(struct hwtdi_flow_threads *t, struct sorted **out, struct hwtd_error *err)
{
	*out = hwtdi_zalloc(t->library, (t->n + 1) * sizeof(**out));
	if (*out == NULL)
		return (hwtdi_fail_nomem(err, (t->n + 1) * sizeof(**out)));
	for (size_t i = 0; i < t->n; i++)
		(*out)[i] = (struct sorted){
			t->at[i].name != NULL ? t->at[i].name : "", i
		};
	if (t->n > 1)
		qsort(*out, t->n, sizeof(**out), by_name);
	return (HWTD_OK);
}

static void
couple(struct hwtdi_flow_threads *a, struct hwtdi_flow_threads *b, size_t i,
    size_t j, struct hwtdi_flow_couple *out)
{
	if (i != SIZE_MAX)
		a->at[i].paired = true;
	if (j != SIZE_MAX)
		b->at[j].paired = true;
	out->no[0] = i;
	out->no[1] = j;
}

static size_t
couple_names(struct hwtdi_flow_threads *a, struct hwtdi_flow_threads *b,
    const struct sorted *x, const struct sorted *y,
    struct hwtdi_flow_couple *out)
{
	size_t i = 0, j = 0, n = 0;

	while (i < a->n && j < b->n) {
		const int order = strcmp(x[i].name, y[j].name);

		if (order == 0)
			couple(a, b, x[i].no, y[j].no, &out[n++]);
		i += order <= 0;
		j += order >= 0;
	}
	return (n);
}

static size_t
next_single(const struct hwtdi_flow_threads *t, size_t i)
{
	while (i < t->n && t->at[i].paired)
		i++;
	return (i);
}

static int
by_order(const void *va, const void *vb)
{
	const struct hwtdi_flow_couple *a = va, *b = vb;

	/* Those of A, by when they began; then those that only B has. */
	if (a->no[0] != b->no[0])
		return (a->no[0] < b->no[0] ? -1 : 1);
	return (a->no[1] < b->no[1] ? -1 : a->no[1] > b->no[1]);
}

int
hwtdi_flow_threads_pair(struct hwtdi_flow_threads *a,
    struct hwtdi_flow_threads *b, struct hwtdi_flow_couple *out, size_t *n_out,
    struct hwtd_error *err)
{
	struct sorted *x = NULL, *y = NULL;
	size_t n = 0, i = 0, j = 0;
	int rc = sort(a, &x, err);

	if (rc == HWTD_OK)
		rc = sort(b, &y, err);
	if (rc == HWTD_OK) {
		n = couple_names(a, b, x, y, out);
		for (;;) {
			i = next_single(a, i);
			j = next_single(b, j);
			if (i == a->n && j == b->n)
				break;
			couple(a, b, i < a->n ? i : SIZE_MAX,
			    j < b->n ? j : SIZE_MAX, &out[n++]);
		}
		if (n > 1)
			qsort(out, n, sizeof(*out), by_order);
		*n_out = n;
	}
	hwtdi_free(a->library, x, (a->n + 1) * sizeof(*x));
	hwtdi_free(b->library, y, (b->n + 1) * sizeof(*y));
	return (rc);
}
