/*
 * Runs of every fixture are the sums of its rows, whoever decodes and with any
 * number of jobs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "bench_input.h"
#include "support/run_sums.h"

static const struct {
	const char *engine;
	uint32_t jobs;
	uint32_t flags;
} ways[] = {
	{ "native", 0, HWTD_RUNS_EDGES },
	{ "native", 0, 0 },
	{ "native", 2, HWTD_RUNS_EDGES },
	{ "native", 5, HWTD_RUNS_EDGES },
	{ "libipt", 0, HWTD_RUNS_EDGES },
	{ "libipt", 2, 0 },
};

static void
check(struct hwtd_trace *trace)
{
	struct run_sums sums = { 0 };
	const char *made = "";

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct hwtd_events_options o = { .size = sizeof(o),
			.engine = ways[i].engine,
			.jobs = ways[i].jobs };
		struct hwtd_runs *runs;

		if (strcmp(made, o.engine) != 0) {
			run_sums_free(&sums);
			run_sums_make(trace, &o, &sums);
			made = o.engine;
		}
		runs = run_sums_count(trace, ways[i].flags, &o);
		run_sums_assert(&sums, runs, ways[i].flags != 0);
		hwtd_runs_close(runs);
	}
	run_sums_free(&sums);
}

static void
check_case(struct hwtd_context *ctx, const char *folder)
{
	struct hwtd_pt_config pt;
	struct hwtd_trace *trace;
	struct bench_case c;

	print_message("%s\n", folder);
	bench_case_load(folder, NULL, &c);
	bench_case_config(folder, &pt);
	/* Two of them are merged, and do not meet. */
	trace = bench_case_trace(&c, ctx, &pt, 2);
	check(trace);
	hwtd_trace_close(trace);
	bench_case_free(&c);
}

static size_t
check_group(struct hwtd_context *ctx, const char *group)
{
	char path[1000];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), TEST_FIXTURES "/%s", group);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), TEST_FIXTURES "/%s/%s",
		    group, entry->d_name);
		check_case(ctx, path);
		n++;
	}
	(void)closedir(dir);
	return (n);
}

static void
runs_are_the_sums_of_rows(void **state)
{
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_true(check_group(ctx, "pt-good") > 30);
	assert_true(check_group(ctx, "pt-bad") > 20);
	assert_true(check_group(ctx, "pt-captured") > 2);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_the_sums_of_rows),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
