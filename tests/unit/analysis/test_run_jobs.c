/*
 * Runs of random traces are the sums of their rows, the same with any number of
 * jobs, and survive every allocation that fails.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "support/random_trace.h"
#include "support/run_sums.h"
#include "support/slot_size.h"
#include "trace/trace_model.h"

static bool
is_small(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL);
}

/* All ways to count agree with the rows, and with each other. */
static void
check(struct hwtd_trace *trace, const char *engine)
{
	struct hwtd_events_options o = { .size = sizeof(o), .engine = engine };
	struct hwtd_runs *one, *several;
	struct run_sums sums;

	run_sums_make(trace, &o, &sums);
	one = run_sums_count(trace, HWTD_RUNS_EDGES, &o);
	run_sums_assert(&sums, one, true);
	for (o.jobs = 2; o.jobs <= 6; o.jobs += 2) {
		several = run_sums_count(trace, HWTD_RUNS_EDGES, &o);
		run_sums_assert_same(one, several);
		hwtd_runs_close(several);
	}
	hwtd_runs_close(one);
	several = run_sums_count(trace, 0, &o);
	run_sums_assert(&sums, several, false);
	hwtd_runs_close(several);
	run_sums_free(&sums);
}

static void
random_programs_are_counted(void **state)
{
	static const uint64_t slots[] = { 0, 16, 100, 700 };
	const uint64_t seeds = is_small() ? 15 : 150;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		const struct hwtd_stream_desc any = { .cpu = HWTD_NO_ID,
			.pid = HWTD_NO_ID,
			.tid = HWTD_NO_ID };
		struct hwtd_stream_desc desc = any;
		struct random_trace truth;
		struct hwtd_trace *trace = mt_create();
		uint64_t random = seed;

		random_trace_make(&truth, seed,
		    random_below(&random, RANDOM_ALL + 1), 3000);
		desc.pt = &truth.config;
		for (uint32_t i = 0; i < truth.program.n_images; i++)
			(void)mt_code(trace, truth.program.images[i].address,
			    truth.program.images[i].bytes,
			    truth.program.images[i].n_bytes);
		(void)mt_stream(trace, &truth.packets, &desc);
		mt_seal(trace);
		slot_bytes = slots[seed % 4];
		/* In too many slots without a PSB a cut is forced. */
		if (slot_bytes != 0 && slot_bytes < truth.packets.n / 60)
			slot_bytes = truth.packets.n / 60;
		print_message("seed %llu\n", (unsigned long long)seed);
		check(trace, "native");
		hwtd_trace_close(trace);
		random_trace_free(&truth);
	}
	slot_bytes = 0;
}

/* Streams with gaps, interrupts, threads that take turns. */
static struct hwtd_trace *
make_trace(struct hwtd_context *ctx, uint32_t streams, size_t insns)
{
	struct hwtd_trace *trace = ctx != NULL ? mt_create_in(ctx)
					       : mt_create();

	(void)long_trace_code(trace);
	for (uint32_t i = 0; i < streams; i++) {
		const struct long_trace_options o = {
			.seed = 40 + i,
			.insns = insns,
			.psb_bytes = 130 + 30 * i,
			.timed = i != 1,
			.tsc = 300 * i,
			.interrupt_of = 30,
			.overflow_of = 30,
			.pause_of = 5,
			.garbage_of = i % 2 != 0 ? 0 : 60,
		};
		const struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = 1,
			.tid = i == 0 ? HWTD_NO_ID : 100 + i,
			.clock = { .counts_per = i != 1, .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &o);
		(void)mt_stream(trace, &t.packets, &desc);
		mt_extent(trace, i, HWTD_EXTENT_AFTER_LOSS, t.packets.bytes,
		    t.packets.n / 2);
		mt_extent(trace, i, HWTD_EXTENT_NEW, t.packets.bytes, 30);
		long_trace_free(&t);
	}
	for (uint32_t i = 0; i < 20; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_SWITCH, 1, 0, 0);

		r.tid = 200 + i % 3;
		r.cpu = 0;
		mr_time(&r, 211 * i);
		mr_add(trace, &r);
	}
	return (mt_seal(trace));
}

static void
streams_with_all_kinds_of_events_are_counted(void **state)
{
	static const uint64_t slots[] = { 16, 64, 256, 1000, 0 };

	(void)state;
	for (uint32_t streams = 1; streams <= 4; streams += 3) {
		struct hwtd_trace *trace = make_trace(NULL, streams, 1500);

		for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
			slot_bytes = slots[i];
			print_message("%u streams, slots of %llu\n", streams,
			    (unsigned long long)slot_bytes);
			check(trace, "native");
			check(trace, "libipt");
		}
		hwtd_trace_close(trace);
	}
	slot_bytes = 0;
}

/* What is counted of chosen streams, threads and times. */
static void
choices_are_those_of_rows(void **state)
{
	static const uint32_t streams[] = { 2, 0 }, tids[] = { 101, 201 },
			      cpus[] = { 1, 3 };
	static const struct hwtd_range times[] = { { 200, 500 },
		{ 900, 1000 } };
	struct hwtd_events_options choices[] = {
		{ .streams = streams, .n_streams = 2 },
		{ .cpus = cpus, .n_cpus = 2 },
		{ .tids = tids, .n_tids = 2 },
		{ .times_ns = times, .n_times = 2 },
		{ .streams = streams,
		    .n_streams = 2,
		    .tids = tids + 1,
		    .n_tids = 1 },
	};
	struct hwtd_trace *trace = make_trace(NULL, 4, 1500);

	(void)state;
	slot_bytes = 256;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		for (uint32_t jobs = 0; jobs < 4; jobs += 3) {
			struct hwtd_runs *runs;
			struct run_sums sums;

			choices[i].size = sizeof(choices[i]);
			choices[i].jobs = jobs;
			run_sums_make(trace, &choices[i], &sums);
			assert_true(sums.n_insns > 0);
			runs = run_sums_count(trace, HWTD_RUNS_EDGES,
			    &choices[i]);
			run_sums_assert(&sums, runs, true);
			hwtd_runs_close(runs);
			run_sums_free(&sums);
		}
	hwtd_trace_close(trace);
	slot_bytes = 0;
}

/* Open, count, read: 0 or what failed. */
static int
count_once(struct hwtd_trace *trace, const char *engine, uint32_t jobs)
{
	const struct hwtd_events_options events = { .size = sizeof(events),
		.engine = engine,
		.jobs = jobs };
	const struct hwtd_runs_options o = { .size = sizeof(o),
		.flags = HWTD_RUNS_EDGES,
		.events = &events };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs;
	int rc = hwtd_runs_open(trace, &o, &runs, &err);

	if (rc != HWTD_OK) {
		assert_int_equal(err.code, rc);
		return (rc);
	}
	while ((rc = hwtd_runs_count(runs, &err)) == HWTD_OK)
		continue;
	if (rc < 0) {
		assert_int_equal(err.code, rc);
		assert_true(err.message[0] != '\0');
	}
	hwtd_runs_close(runs);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static void
every_allocation_may_fail(void **state)
{
	static const struct {
		const char *engine;
		uint32_t jobs;
	} ways[] = { { "native", 1 }, { "native", 3 }, { "libipt", 1 } };
	struct failing_allocator f;
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	int64_t held;

	(void)state;
	slot_bytes = 256;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	trace = make_trace(ctx, 2, 300);
	held = atomic_load(&f.blocks);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (uint64_t n = 1, good = 0; good < 20; n++) {
			int rc;

			/* With decoders that know the trace, or new ones. */
			assert_int_equal(count_once(trace, ways[i].engine, 0),
			    HWTD_OK);
			if (n % 4 >= 2)
				hwtdi_trace_forget(trace);
			failing_allocator_arm(&f, n, n % 2 == 0);
			rc = count_once(trace, ways[i].engine, ways[i].jobs);
			failing_allocator_arm(&f, 0, false);
			if (rc != HWTD_OK)
				assert_int_equal(rc, HWTD_E_NOMEM);
			/* Threads may need less another time. */
			good = rc == HWTD_OK ? good + 1 : 0;
			hwtdi_trace_forget(trace);
			assert_int_equal(atomic_load(&f.blocks), held);
			assert_true(n < 100000);
		}
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(atomic_load(&f.blocks), 0);
	slot_bytes = 0;
}

/* Closed at any moment, nothing is left behind. */
static void
counting_can_be_given_up(void **state)
{
	struct hwtd_trace *trace = make_trace(NULL, 3, 1500);

	(void)state;
	slot_bytes = 64;
	for (uint32_t i = 0; i < 40; i++) {
		const struct hwtd_events_options events = {
			.size = sizeof(events),
			.jobs = 1 + i % 4,
			.engine = i % 8 == 0 ? "libipt" : NULL
		};
		const struct hwtd_runs_options o = { .size = sizeof(o),
			.events = &events };
		struct hwtd_runs *runs;

		assert_int_equal(hwtd_runs_open(trace, &o, &runs, NULL),
		    HWTD_OK);
		for (uint32_t k = 0; k < i % 5; k++)
			assert_true(hwtd_runs_count(runs, NULL) >= 0);
		hwtd_runs_close(runs);
	}
	hwtd_trace_close(trace);
	slot_bytes = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs_are_counted),
		cmocka_unit_test(streams_with_all_kinds_of_events_are_counted),
		cmocka_unit_test(choices_are_those_of_rows),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(counting_can_be_given_up),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
