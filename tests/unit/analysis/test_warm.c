/*
 * Whoever decoded a trace before, with the decoder that is taken over or with
 * another, makes no difference: rows and runs are those of a trace that nobody
 * read.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/random_trace.h"
#include "support/run_sums.h"
#include "trace/trace_model.h"

#define THREADS 4

/* Streams of the same trace; each is decoded as if it were alone. */
static struct hwtd_trace *
make(uint64_t seed, unsigned int has, uint32_t streams,
    struct random_trace *truth)
{
	const struct hwtd_stream_desc any = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	struct hwtd_stream_desc desc = any;
	struct hwtd_trace *trace = mt_create();

	random_trace_make(truth, seed, has, 2000);
	desc.pt = &truth->config;
	for (uint32_t i = 0; i < truth->program.n_images; i++)
		(void)mt_code(trace, truth->program.images[i].address,
		    truth->program.images[i].bytes,
		    truth->program.images[i].n_bytes);
	for (uint32_t i = 0; i < streams; i++) {
		desc.tid = 10 + i;
		(void)mt_stream(trace, &truth->packets, &desc);
	}
	return (mt_seal(trace));
}

/* What is read in several ways. */
struct reading {
	struct mt_rows all, insns, some, tail;
	struct hwtd_runs *runs;
};

static void
read_in_all_ways(struct hwtd_trace *trace, const struct random_trace *truth,
    bool cold, uint32_t jobs, struct reading *out)
{
	const struct hwtd_range range = { truth->program.images[0].address,
		truth->program.images[0].address +
		    truth->program.images[0].n_bytes / 2 };
	struct hwtd_events_options all = { .size = sizeof(all), .jobs = jobs },
				   insns = all, some = all;
	struct hwtd_events *ev;

	insns.level = HWTD_LEVEL_INSN;
	some.addresses = &range;
	some.n_addresses = 1;
	mt_rows(trace, &all, &out->all);
	if (cold)
		hwtdi_trace_forget(trace);
	out->runs = run_sums_count(trace, HWTD_RUNS_EDGES, &all);
	if (cold)
		hwtdi_trace_forget(trace);
	mt_rows(trace, &some, &out->some);
	if (cold)
		hwtdi_trace_forget(trace);
	ev = mt_events(trace, &all);
	assert_int_equal(hwtd_events_seek_offset(ev, 0, truth->packets.n / 2,
			     NULL),
	    HWTD_OK);
	mt_read(ev, 100, &out->tail);
	hwtd_events_close(ev);
	if (cold)
		hwtdi_trace_forget(trace);
	mt_rows(trace, &insns, &out->insns);
	if (cold)
		hwtdi_trace_forget(trace);
}

static void
free_reading(struct reading *r)
{
	mt_rows_free(&r->all);
	mt_rows_free(&r->insns);
	mt_rows_free(&r->some);
	mt_rows_free(&r->tail);
	hwtd_runs_close(r->runs);
}

static void
assert_same(const struct reading *a, const struct reading *b)
{
	mt_assert_same(&a->all, 0, &b->all);
	mt_assert_same(&a->insns, 0, &b->insns);
	mt_assert_same(&a->some, 0, &b->some);
	mt_assert_same(&a->tail, 0, &b->tail);
	run_sums_assert_same(a->runs, b->runs);
}

static void
who_read_before_makes_no_difference(void **state)
{
	const uint64_t seeds = getenv("HWTDECODE_TEST_SMALL") != NULL ? 15
								      : 150;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct random_trace truth;
		struct reading cold, warm;
		uint64_t random = seed;
		unsigned int has = (unsigned int)random_below(&random,
		    RANDOM_ALL + 1);
		struct hwtd_trace *trace;

		print_message("seed %llu\n", (unsigned long long)seed);
		if (seed % 3 == 0)
			has |= RANDOM_REPEATS;
		trace = make(seed, has, 1 + seed % 3, &truth);
		read_in_all_ways(trace, &truth, true, 0, &cold);
		for (uint32_t i = 0; i < 3; i++) {
			read_in_all_ways(trace, &truth, false, i, &warm);
			assert_same(&cold, &warm);
			free_reading(&warm);
		}
		free_reading(&cold);
		hwtd_trace_close(trace);
		random_trace_free(&truth);
	}
}

/* Memory of decoders that wait is that of the trace. */
static void
all_is_given_back_with_the_trace(void **state)
{
	struct random_trace truth;
	struct hwtd_context *ctx;
	uint64_t now, before;
	struct hwtd_trace *trace = make(5, RANDOM_REPEATS, 3, &truth);
	struct reading r;

	(void)state;
	ctx = hwtdi_context_hold(hwtdi_trace_library(trace));
	hwtdi_trace_forget(trace);
	read_in_all_ways(trace, &truth, true, 0, &r);
	free_reading(&r);
	hwtd_context_memory(ctx, &before, NULL);
	read_in_all_ways(trace, &truth, false, 2, &r);
	free_reading(&r);
	hwtd_context_memory(ctx, &now, NULL);
	assert_true(now > before);
	hwtdi_trace_forget(trace);
	hwtd_context_memory(ctx, &now, NULL);
	assert_int_equal(now, before);
	read_in_all_ways(trace, &truth, false, 0, &r);
	free_reading(&r);
	hwtd_trace_close(trace);
	hwtd_context_memory(ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(ctx);
	random_trace_free(&truth);
}

struct reader {
	struct hwtd_trace *trace;
	uint64_t rows, insns;
	bool failed;
};

/* A thread must not fail a test. */
static void *
read_often(void *arg)
{
	static const struct hwtd_events_options o = { .size = sizeof(o) };
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct reader *r = arg;
	struct hwtd_event rows[64];
	struct hwtd_batch b = { .size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 64 };

	for (int i = 0; i < 10 && !r->failed; i++) {
		struct hwtd_events *ev;
		struct hwtd_runs *runs;
		int rc = HWTD_OK;

		if (hwtd_events_open(r->trace, &o, &ev, NULL) != HWTD_OK) {
			r->failed = true;
			break;
		}
		while (hwtd_events_read(ev, &b, NULL) == HWTD_OK)
			r->rows += b.n;
		hwtd_events_close(ev);
		if (hwtd_runs_open(r->trace, NULL, &runs, NULL) != HWTD_OK) {
			r->failed = true;
			break;
		}
		while (rc == HWTD_OK)
			rc = hwtd_runs_count(runs, NULL);
		r->failed = rc != HWTD_END;
		(void)hwtd_runs_info(runs, &info);
		r->insns += info.insns;
		hwtd_runs_close(runs);
	}
	return (NULL);
}

static void
threads_share_what_waits(void **state)
{
	struct random_trace truth;
	struct hwtd_trace *trace = make(7, RANDOM_REPEATS, 2, &truth);
	struct reader alone = { .trace = trace }, readers[THREADS];
	pthread_t threads[THREADS];

	(void)state;
	(void)read_often(&alone);
	assert_false(alone.failed);
	assert_true(alone.rows > 0 && alone.insns > 0);
	hwtdi_trace_forget(trace);
	for (size_t i = 0; i < THREADS; i++) {
		readers[i] = (struct reader){ .trace = trace };
		assert_int_equal(pthread_create(&threads[i], NULL, read_often,
				     &readers[i]),
		    0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_false(readers[i].failed);
		assert_int_equal(readers[i].rows, alone.rows);
		assert_int_equal(readers[i].insns, alone.insns);
	}
	hwtd_trace_close(trace);
	random_trace_free(&truth);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_read_before_makes_no_difference),
		cmocka_unit_test(all_is_given_back_with_the_trace),
		cmocka_unit_test(threads_share_what_waits),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
