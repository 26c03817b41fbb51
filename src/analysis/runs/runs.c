/*
 * Runs: what the public interface says, by tokens where that will do, else by
 * rows.
 */
#include "analysis/runs/run_source.h"

#include <string.h>

#include "analysis/runs/row_counts.h"
#include "analysis/runs/tally_crew.h"
#include "base/fail.h"
#include "base/users.h"
#include "event/cursor.h"
#include "event/rows.h"
#include "trace/trace_model.h"

struct hwtd_runs {
	struct hwtd_context *library;
	struct hwtdi_users users;
	struct hwtd_trace *trace;
	struct hwtdi_filter filter;
	bool with_edges;
	/* Until all is counted: `rows` if the filter is by row, else `crew`. */
	struct hwtdi_tally_crew *crew;
	struct hwtdi_row_counts rows;

	bool done, failed;
	/* Of what was decoded by tokens. */
	struct hwtd_stats stats;
	struct hwtd_run *runs;
	size_t n_runs, cap_runs;
	uint64_t insns;
	/* Of these the edges stay. */
	struct hwtdi_code_counts code;
};

/* Opening and closing. */

static int
begin(struct hwtd_runs *runs, const struct hwtd_runs_options *o,
    struct hwtd_error *err)
{
	struct hwtd_events_options events;
	int rc;

	if ((o->flags & ~(uint32_t)HWTD_RUNS_EDGES) != 0 || o->reserved != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "flags %#x, %#x",
		    o->flags, o->reserved));
	rc = hwtdi_options_copy(&events, sizeof(events), o->events, err);
	if (rc != HWTD_OK)
		return (rc);
	events.size = sizeof(events);
	events.level = HWTD_LEVEL_BLOCK;
	events.kinds = 0;
	runs->with_edges = (o->flags & HWTD_RUNS_EDGES) != 0;
	rc = hwtdi_filter_init(&runs->filter, runs->library, &events, err);
	if (rc == HWTD_OK)
		rc = hwtdi_filter_check_streams(&runs->filter, runs->trace,
		    err);
	if (rc != HWTD_OK)
		return (rc);
	return (runs->filter.by_row
		? hwtdi_row_counts_init(&runs->rows, runs->trace, &events,
		      runs->with_edges, err)
		: hwtdi_tally_crew_create(runs->trace, &runs->filter,
		      runs->with_edges, &runs->crew, err));
}

int
hwtd_runs_open(struct hwtd_trace *trace, const struct hwtd_runs_options *opts,
    struct hwtd_runs **runs_out, struct hwtd_error *err)
{
	struct hwtd_context *library;
	struct hwtd_runs_options o;
	struct hwtd_runs *runs;
	int rc;

	if (trace == NULL || runs_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no trace or no place for the runs"));
	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	library = hwtdi_trace_library(trace);
	runs = hwtdi_zalloc(library, sizeof(*runs));
	if (runs == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*runs)));
	runs->library = library;
	runs->trace = hwtdi_trace_hold(trace);
	runs->filter.library = library;
	runs->rows.library = library;
	runs->rows.code.library = library;
	runs->code.library = library;
	rc = begin(runs, &o, err);
	if (rc != HWTD_OK) {
		hwtd_runs_close(runs);
		return (rc);
	}
	*runs_out = runs;
	return (HWTD_OK);
}

static void
end_counting(struct hwtd_runs *runs)
{
	hwtdi_tally_crew_destroy(runs->crew);
	runs->crew = NULL;
	hwtdi_row_counts_fini(&runs->rows);
}

struct hwtd_runs *
hwtdi_runs_hold(struct hwtd_runs *runs)
{
	hwtdi_users_add(&runs->users);
	return (runs);
}

void
hwtd_runs_close(struct hwtd_runs *runs)
{
	struct hwtd_trace *trace;

	if (runs == NULL || !hwtdi_users_drop(&runs->users))
		return;
	trace = runs->trace;
	end_counting(runs);
	hwtdi_code_counts_fini(&runs->code);
	hwtdi_array_free(runs->library, runs->runs, runs->cap_runs,
	    sizeof(*runs->runs));
	hwtdi_filter_fini(&runs->filter);
	hwtdi_free(runs->library, runs, sizeof(*runs));
	hwtd_trace_close(trace);
}

struct hwtd_trace *
hwtdi_runs_trace(const struct hwtd_runs *runs)
{
	return (runs->trace);
}

bool
hwtdi_runs_have_edges(const struct hwtd_runs *runs)
{
	return (runs->with_edges);
}

/* Counting. */

/* Damage of the file that belongs to no stream is told by rows. */
static void
add_stray_damage(struct hwtd_runs *runs)
{
	struct hwtd_damage damage;
	struct hwtd_gap gap;
	size_t no = 0;

	while (hwtdi_stray_damage(runs->trace, &runs->filter, &no, &damage)) {
		hwtdi_stray_gap(&damage, &gap);
		hwtdi_stats_add_gap(&runs->stats, &gap);
	}
}

static int
take_counts(struct hwtd_runs *runs, struct hwtd_error *err)
{
	if (runs->filter.by_row) {
		runs->stats = runs->rows.stats;
		runs->code = runs->rows.code;
		memset(&runs->rows.code, 0, sizeof(runs->rows.code));
		runs->rows.code.library = runs->library;
		return (HWTD_OK);
	}
	hwtdi_tally_crew_stats(runs->crew, &runs->stats);
	add_stray_damage(runs);
	return (hwtdi_tally_crew_take(runs->crew, &runs->code, err));
}

/* All was counted: make of it what can be read. */
static int
finish(struct hwtd_runs *runs, struct hwtd_error *err)
{
	int rc = take_counts(runs, err);

	end_counting(runs);
	if (rc == HWTD_OK)
		rc = hwtdi_code_runs(&runs->code, &runs->runs, &runs->n_runs,
		    &runs->cap_runs, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_code_counts_keep_edges(&runs->code);
	rc = hwtdi_code_edges(&runs->code, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < runs->n_runs; i++)
		runs->insns += runs->runs[i].count * runs->runs[i].insns;
	runs->done = true;
	return (HWTD_END);
}

int
hwtd_runs_count(struct hwtd_runs *runs, struct hwtd_error *err)
{
	int rc;

	if (runs == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no runs"));
	if (runs->done)
		return (HWTD_END);
	if (runs->failed)
		return (hwtdi_fail(err, HWTD_E_STATE, "counting failed"));
	rc = runs->filter.by_row ? hwtdi_row_counts_work(&runs->rows, err)
				 : hwtdi_tally_crew_work(runs->crew, err);
	if (rc == HWTD_END)
		rc = finish(runs, err);
	runs->failed = rc < 0;
	return (rc);
}

/* Reading. */

int
hwtd_runs_info(const struct hwtd_runs *runs, struct hwtd_runs_info *out)
{
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_stats stats;

	if (runs == NULL || out == NULL)
		return (HWTD_E_INVALID);
	stats = runs->filter.by_row ? runs->rows.stats : runs->stats;
	if (runs->crew != NULL)
		hwtdi_tally_crew_stats(runs->crew, &stats);
	info.done = runs->done;
	info.bytes = stats.bytes;
	if (runs->done) {
		info.n_runs = runs->n_runs;
		info.n_edges = runs->code.n_edges;
		info.insns = runs->insns;
	}
	info.gap_bytes = stats.gap_bytes;
	info.file_gap_bytes = stats.file_gap_bytes;
	memcpy(info.gaps, stats.gaps, sizeof(info.gaps));
	memcpy(info.gap_bytes_by_reason, stats.gap_bytes_by_reason,
	    sizeof(info.gap_bytes_by_reason));
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

/* Copy entries of an array that is made. */
static int
read_from(const struct hwtd_runs *runs, const void *array, size_t n,
    size_t elem, uint64_t first, void *out, size_t stride, size_t cap,
    size_t *n_out)
{
	uint8_t *to = out;

	if (n_out == NULL)
		return (HWTD_E_INVALID);
	*n_out = 0;
	if (runs == NULL || out == NULL || cap == 0 || stride < elem ||
	    stride % 8 != 0)
		return (HWTD_E_INVALID);
	if (!runs->done)
		return (HWTD_E_STATE);
	if (first >= n)
		return (HWTD_END);
	if (cap > n - first)
		cap = (size_t)(n - first);
	for (size_t i = 0; i < cap; i++)
		memcpy(to + i * stride,
		    (const uint8_t *)array + ((size_t)first + i) * elem, elem);
	*n_out = cap;
	return (HWTD_OK);
}

int
hwtd_runs_read(const struct hwtd_runs *runs, uint64_t first,
    struct hwtd_run *out, size_t stride, size_t cap, size_t *n_out)
{
	return (read_from(runs, runs != NULL ? runs->runs : NULL,
	    runs != NULL ? runs->n_runs : 0, sizeof(*out), first, out, stride,
	    cap, n_out));
}

int
hwtd_runs_edges(const struct hwtd_runs *runs, uint64_t first,
    struct hwtd_edge *out, size_t stride, size_t cap, size_t *n_out)
{
	return (read_from(runs, runs != NULL ? runs->code.edges : NULL,
	    runs != NULL ? runs->code.n_edges : 0, sizeof(*out), first, out,
	    stride, cap, n_out));
}
