/*
 * Reports as a user makes them, and what the names in them take.
 */
#include <string.h>

#include "bench_rows.h"

static void
report(struct hwtd_trace *trace, struct bench_count *out)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_profile_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_profile_row row;
	struct hwtd_profile *profile;
	struct hwtd_context *ctx;
	struct hwtd_runs *runs;
	size_t n;
	int rc;

	memset(out, 0, sizeof(*out));
	bench_check(hwtd_context_create(&o, &ctx, &err), &err);
	bench_check(hwtd_profile_create(ctx, NULL, &profile, &err), &err);
	bench_check(hwtd_runs_open(trace, NULL, &runs, &err), &err);
	while ((rc = hwtd_profile_add_runs(profile, runs, NULL, &err)) ==
	    HWTD_OK)
		continue;
	if (rc != HWTD_END)
		bench_die("%s", err.message);
	while (hwtd_profile_rows(profile, HWTD_PROFILE_BY_FUNCTION, out->items,
		   &row, sizeof(row), 1, &n) == HWTD_OK) {
		out->insns += row.insns;
		out->items++;
	}
	(void)hwtd_profile_info(profile, &info);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		out->errors += info.seen[HWTD_PROFILE_RUNS].gaps[i];
	hwtd_runs_close(runs);
	hwtd_profile_destroy(profile);
	hwtd_context_destroy(ctx);
}

BENCH_NOINLINE void
bench_report_warm(struct hwtd_trace *trace, struct bench_count *out)
{
	struct bench_count count;

	/* No tail call: callgrind would not see the end. */
	report(trace, &count);
	*out = count;
}

struct hwtd_runs *
bench_runs_open(struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs;
	int rc;

	bench_check(hwtd_runs_open(trace, NULL, &runs, &err), &err);
	while ((rc = hwtd_runs_count(runs, &err)) == HWTD_OK)
		continue;
	if (rc != HWTD_END)
		bench_die("%s", err.message);
	return (runs);
}

#define BATCH 256

static void
name_batch(struct hwtd_symbolizer *symbolizer, const struct hwtd_run *runs,
    size_t n, struct bench_count *out)
{
	static struct hwtd_where where[BATCH];
	static struct hwtd_symbol symbols[BATCH];
	struct hwtd_error err = { .size = sizeof(err) };

	for (size_t i = 0; i < n; i++) {
		where[i] = (struct hwtd_where){ .flags = HWTD_WHERE_SECTION,
			.section = runs[i].section,
			.address = runs[i].address };
		out->insns += runs[i].count * runs[i].insns;
	}
	bench_check(hwtd_symbolize(symbolizer, where, sizeof(where[0]), n,
			symbols, sizeof(symbols[0]), &err),
	    &err);
	for (size_t i = 0; i < n; i++)
		out->items += symbols[i].name != NULL;
}

static void
name_runs(struct hwtd_trace *trace, struct hwtd_runs *runs,
    struct bench_count *out)
{
	static struct hwtd_run some[BATCH];
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.flags = HWTD_SYMBOLIZER_NO_LINES };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_symbolizer *symbolizer;
	uint64_t first = 0;
	size_t n;

	memset(out, 0, sizeof(*out));
	bench_check(hwtd_symbolizer_open(trace, &opts, &symbolizer, &err),
	    &err);
	while (hwtd_runs_read(runs, first, some, sizeof(some[0]), BATCH, &n) ==
	    HWTD_OK) {
		name_batch(symbolizer, some, n, out);
		first += n;
	}
	hwtd_symbolizer_close(symbolizer);
}

BENCH_NOINLINE void
bench_names_warm(struct hwtd_trace *trace, struct hwtd_runs *runs,
    struct bench_count *out)
{
	struct bench_count count;

	name_runs(trace, runs, &count);
	*out = count;
}
