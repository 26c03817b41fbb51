/*
 * One trace, several threads, a cursor each.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/long_trace.h"
#include "support/row_text.h"

#define THREADS 6
#define STREAMS 3

struct worker {
	struct hwtd_trace *trace;
	const struct mt_rows *want;
	uint32_t jobs;
	size_t batch;
	/* Rows that were as wanted; what went wrong. */
	size_t n;
	const char *wrong;
	/* Contexts that were looked up. */
	size_t n_contexts;
};

/* Rows without details only are compared: a thread must not fail a test. */
static bool
same(const struct hwtd_event *row, const struct mt_row *want)
{
	struct hwtd_event copy = *row;

	if (row->kind == HWTD_EV_GAP || row->kind == HWTD_EV_MARKER ||
	    row->kind == HWTD_EV_POWER)
		copy.value = 0;
	copy.context = want->row.context;
	return (memcmp(&copy, &want->row, sizeof(copy)) == 0);
}

static const char *
check_batch(struct worker *w, const struct hwtd_batch *b)
{
	for (size_t i = 0; i < b->n; i++, w->n++) {
		struct hwtd_exec_context c = { .size = sizeof(c) };
		const struct hwtd_event *row = &b->events[i];

		if (w->n == w->want->n || !same(row, &w->want->at[w->n]))
			return ("another row");
		if (hwtd_trace_exec_context(w->trace, row->context, &c) !=
			HWTD_OK ||
		    c.tid != row->stream + 100)
			return ("another context");
		w->n_contexts++;
	}
	return (NULL);
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	struct hwtd_events_options o = { .size = sizeof(o), .jobs = w->jobs };
	struct hwtd_event rows[64];
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = w->batch,
	};
	struct hwtd_events *ev = NULL;
	int rc;

	for (int pass = 0; pass < 2 && w->wrong == NULL; pass++) {
		w->n = 0;
		if (hwtd_events_open(w->trace, &o, &ev, NULL) != HWTD_OK) {
			w->wrong = "open";
			return (NULL);
		}
		while ((rc = hwtd_events_read(ev, &b, NULL)) == HWTD_OK &&
		    w->wrong == NULL)
			w->wrong = check_batch(w, &b);
		if (w->wrong == NULL && rc != HWTD_END)
			w->wrong = "read";
		hwtd_events_close(ev);
	}
	return (NULL);
}

static struct hwtd_trace *
make_trace(void)
{
	struct hwtd_trace *trace = mt_create();

	(void)long_trace_code(trace);
	for (uint32_t i = 0; i < STREAMS; i++) {
		struct long_trace_options o = {
			.seed = i,
			.insns = 2000,
			.psb_bytes = 200,
			.timed = true,
			.tsc = 10 * i,
			.interrupt_of = 30,
		};
		struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = 1,
			.tid = 100 + i,
			.clock = { .counts_per = 1, .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &o);
		(void)mt_stream(trace, &t.packets, &desc);
		long_trace_free(&t);
	}
	return (mt_seal(trace));
}

static void
every_thread_reads_the_same_rows(void **state)
{
	struct hwtd_trace *other = make_trace(), *trace = make_trace();
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	struct mt_rows want;

	(void)state;
	/* The other one's contexts are numbered before, alone. */
	mt_rows(other, NULL, &want);
	for (size_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){
			.trace = trace,
			.want = &want,
			.jobs = i % 3 == 2 ? 2 : 1,
			.batch = 1 + 10 * i,
		};
		assert_int_equal(pthread_create(&threads[i], NULL, work,
				     &workers[i]),
		    0);
	}
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (size_t i = 0; i < THREADS; i++) {
		if (workers[i].wrong != NULL)
			fail_msg("thread %zu, row %zu: %s", i, workers[i].n,
			    workers[i].wrong);
		assert_int_equal(workers[i].n, want.n);
		assert_int_equal(workers[i].n_contexts, 2 * want.n);
	}
	mt_rows_free(&want);
	hwtd_trace_close(other);
	hwtd_trace_close(trace);
}

struct closer {
	struct hwtd_events *ev;
	pthread_barrier_t *barrier;
	size_t n;
};

static void *
read_and_close(void *arg)
{
	struct closer *c = arg;
	struct hwtd_event rows[64];
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 64,
	};

	(void)pthread_barrier_wait(c->barrier);
	while (hwtd_events_read(c->ev, &b, NULL) == HWTD_OK)
		c->n += b.n;
	hwtd_events_close(c->ev);
	return (NULL);
}

/* The trace is closed first; the last cursor frees it, on its own thread. */
static void
the_last_cursor_may_close_on_any_thread(void **state)
{
	struct hwtd_trace *trace = make_trace();
	struct closer closers[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t barrier;
	struct mt_rows want;

	(void)state;
	mt_rows(trace, NULL, &want);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
	for (size_t i = 0; i < THREADS; i++)
		closers[i] = (struct closer){
			.ev = mt_events(trace, NULL),
			.barrier = &barrier,
		};
	hwtd_trace_close(trace);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
				     read_and_close, &closers[i]),
		    0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(closers[i].n, want.n);
	pthread_barrier_destroy(&barrier);
	mt_rows_free(&want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_thread_reads_the_same_rows),
		cmocka_unit_test(the_last_cursor_may_close_on_any_thread),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
