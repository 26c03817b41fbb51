/*
 * Cursors on the CoreSight fixtures: many at a time, many one after the other, and
 * what they count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "support/cs_case.h"
#include "support/run_sums.h"

#define THREADS 4
#define MAX_CASES 200

static struct hwtd_trace *traces[MAX_CASES];
static size_t n_traces;

static void
load_group(const char *group)
{
	char path[1000];
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), TEST_FIXTURES "/%s", group);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		struct cs_case c;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), TEST_FIXTURES "/%s/%s",
		    group, entry->d_name);
		cs_case_load(path, &c);
		assert_true(n_traces < MAX_CASES);
		traces[n_traces++] = cs_case_trace(&c, 0);
		cs_case_free(&c);
	}
	(void)closedir(dir);
}

static int
load_all(void **state)
{
	(void)state;
	load_group("cs-good");
	load_group("cs-bad");
	return (n_traces > 80 ? 0 : -1);
}

static int
close_all(void **state)
{
	(void)state;
	while (n_traces > 0)
		hwtd_trace_close(traces[--n_traces]);
	return (0);
}

/* Samples of n instructions each, and their sum, have no other base than these. */
static void
instructions_are_as_many_however_they_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_traces; i++) {
		const struct hwtd_events_options plain = {
			.size = sizeof(plain)
		};
		struct hwtd_stats stats = { .size = sizeof(stats) };
		struct run_sums sums = { 0 };
		struct hwtd_events *ev;
		struct hwtd_runs *runs;
		struct mt_rows blocks = { 0 };
		uint64_t insns = 0, no_path = 0;

		ev = mt_events(traces[i], &plain);
		mt_read(ev, 7, &blocks);
		hwtd_events_stats(ev, &stats);
		hwtd_events_close(ev);
		for (size_t k = 0; k < blocks.n; k++) {
			const struct hwtd_event *e = &blocks.at[k].row;

			insns += e->insns;
			no_path += e->branch == HWTD_BRANCH_NO_PATH ? e->insns
								    : 0;
		}
		mt_rows_free(&blocks);
		run_sums_make(traces[i], &plain, &sums);
		assert_int_equal(stats.insns, insns);
		/* Which ones they are where no way is traced is not known. */
		assert_int_equal(sums.n_insns, insns - no_path);
		runs = run_sums_count(traces[i], HWTD_RUNS_EDGES, &plain);
		run_sums_assert(&sums, runs, true);
		hwtd_runs_close(runs);
		run_sums_free(&sums);
	}
}

/* What a cursor tells, as a number; 0: it failed. */
static uint64_t
sum_of(struct hwtd_trace *trace)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts) };
	struct hwtd_event rows[64];
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 64 };
	struct hwtd_events *ev;
	uint64_t sum = 1;
	int rc;

	if (hwtd_events_open(trace, &opts, &ev, NULL) != HWTD_OK)
		return (0);
	while ((rc = hwtd_events_read(ev, &batch, NULL)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++) {
			const struct hwtd_event *e = &batch.events[i];
			const uint64_t of[] = { e->kind, e->flags, e->stream,
				e->stream_off, e->ip, e->target, e->insns,
				e->branch };

			for (size_t k = 0; k < sizeof(of) / sizeof(of[0]); k++)
				sum = (sum ^ of[k]) * UINT64_C(0x100000001b3);
		}
	hwtd_events_close(ev);
	return (rc == HWTD_END ? sum : 0);
}

static void *
sum_all(void *arg)
{
	uint64_t *sums = arg;

	for (size_t i = 0; i < n_traces; i++)
		sums[i] = sum_of(traces[i]);
	return (NULL);
}

/*
 * Each makes trees of OpenCSD, and reads code through them.  (Its own accessors of
 * files do not bear that.)
 */
static void
threads_tell_what_one_tells(void **state)
{
	static uint64_t want[MAX_CASES], got[THREADS][MAX_CASES];
	pthread_t threads[THREADS];

	(void)state;
	(void)sum_all(want);
	for (size_t k = 0; k < THREADS; k++)
		assert_int_equal(pthread_create(&threads[k], NULL, sum_all,
				     got[k]),
		    0);
	for (size_t k = 0; k < THREADS; k++)
		assert_int_equal(pthread_join(threads[k], NULL), 0);
	for (size_t i = 0; i < n_traces; i++) {
		assert_int_not_equal(want[i], 0);
		for (size_t k = 0; k < THREADS; k++)
			assert_true(got[k][i] == want[i]);
	}
}

/* Bytes that the process has allocated; 0: not known. */
static uint64_t
allocated(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	return (mallinfo2().uordblks);
#else
	return (0);
#endif
}

/*
 * Of each decoder OpenCSD 1.3.3 keeps 48 bytes for ever (OpenCSD issue 55), and no
 * more than that.
 */
static void
cursors_that_are_closed_hold_little(void **state)
{
	const unsigned int rounds = 20;
	uint64_t before, after;

	(void)state;
	/* What stays with a trace, and in the process, is there. */
	for (size_t i = 0; i < n_traces; i++)
		assert_int_not_equal(sum_of(traces[i]), 0);
	before = allocated();
	for (unsigned int k = 0; k < rounds; k++)
		for (size_t i = 0; i < n_traces; i++)
			(void)sum_of(traces[i]);
	after = allocated();
	print_message("%g bytes a cursor\n",
	    ((double)after - (double)before) / (double)(rounds * n_traces));
	assert_true(after <= before + (uint64_t)512 * rounds * n_traces);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    instructions_are_as_many_however_they_are_read),
		cmocka_unit_test(threads_tell_what_one_tells),
		cmocka_unit_test(cursors_that_are_closed_hold_little),
	};

	return (cmocka_run_group_tests(tests, load_all, close_all));
}
