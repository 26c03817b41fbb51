/*
 * Runs as a user of the library counts them, and calls as one reads them.
 */
#include <string.h>

#include "bench_rows.h"

static void
count_runs(struct hwtd_trace *trace, uint32_t flags, struct bench_count *out)
{
	const struct hwtd_runs_options opts = { .size = sizeof(opts),
		.flags = flags };
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs;
	int rc;

	memset(out, 0, sizeof(*out));
	bench_check(hwtd_runs_open(trace, &opts, &runs, &err), &err);
	while ((rc = hwtd_runs_count(runs, &err)) == HWTD_OK)
		continue;
	if (rc != HWTD_END)
		bench_die("%s", err.message);
	(void)hwtd_runs_info(runs, &info);
	out->insns = info.insns;
	out->items = flags != 0 ? info.n_edges : info.n_runs;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		out->errors += info.gaps[i];
	hwtd_runs_close(runs);
}

BENCH_NOINLINE void
bench_coverage_warm(struct hwtd_trace *trace, struct bench_count *out)
{
	struct bench_count count;

	/* No tail call: callgrind would not see the end. */
	count_runs(trace, 0, &count);
	*out = count;
}

BENCH_NOINLINE void
bench_edges_warm(struct hwtd_trace *trace, struct bench_count *out)
{
	struct bench_count count;

	count_runs(trace, HWTD_RUNS_EDGES, &count);
	*out = count;
}

static void
read_calls(struct hwtd_trace *trace, struct bench_count *out)
{
	static struct hwtd_call rows[512];
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_call_batch batch = { .size = sizeof(batch),
		.calls = rows,
		.stride = sizeof(rows[0]),
		.cap = 512 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_calls *calls;
	int rc;

	memset(out, 0, sizeof(*out));
	bench_check(hwtd_calls_open(trace, NULL, &calls, &err), &err);
	while ((rc = hwtd_calls_read(calls, &batch, &err)) == HWTD_OK)
		out->items += batch.n;
	if (rc != HWTD_END)
		bench_die("%s", err.message);
	(void)hwtd_calls_info(calls, &info);
	out->insns = info.insns;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		out->errors += info.gaps[i];
	hwtd_calls_close(calls);
}

BENCH_NOINLINE void
bench_calls_warm(struct hwtd_trace *trace, struct bench_count *out)
{
	struct bench_count count;

	read_calls(trace, &count);
	*out = count;
}

BENCH_NOINLINE void
bench_coverage_cold(struct hwtd_trace *trace, struct bench_count *out)
{
	struct bench_count count;

	bench_forget_code(trace);
	count_runs(trace, 0, &count);
	*out = count;
}
