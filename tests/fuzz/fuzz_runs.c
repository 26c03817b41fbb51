/*
 * Runs of a trace, for the harness that makes traces: counted by tokens, by
 * rows, and with several jobs, they are the same.
 */
#include "fuzz_runs.h"

#include <stdlib.h>

#include "fuzz.h"

#define MAX 4096

struct counted {
	struct hwtd_runs_info info;
	struct hwtd_run runs[MAX];
	struct hwtd_edge edges[MAX];
	size_t n_runs, n_edges;
};

static void
count(struct hwtd_trace *trace, const struct hwtd_events_options *events,
    struct counted *out)
{
	const struct hwtd_runs_options opts = { .size = sizeof(opts),
		.flags = HWTD_RUNS_EDGES,
		.events = events };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs;
	int rc = hwtd_runs_open(trace, &opts, &runs, &err);

	FUZZ_CHECK(rc == HWTD_OK, "%d %s", rc, err.message);
	while ((rc = hwtd_runs_count(runs, &err)) == HWTD_OK)
		continue;
	FUZZ_CHECK(rc == HWTD_END, "%d %s", rc, err.message);
	memset(out, 0, sizeof(*out));
	out->info.size = sizeof(out->info);
	(void)hwtd_runs_info(runs, &out->info);
	(void)hwtd_runs_read(runs, 0, out->runs, sizeof(out->runs[0]), MAX,
	    &out->n_runs);
	(void)hwtd_runs_edges(runs, 0, out->edges, sizeof(out->edges[0]), MAX,
	    &out->n_edges);
	hwtd_runs_close(runs);
}

static void
same(const char *what, const struct counted *a, const struct counted *b)
{
	FUZZ_CHECK(a->n_runs == b->n_runs &&
		memcmp(a->runs, b->runs, a->n_runs * sizeof(a->runs[0])) == 0,
	    "%s: other runs", what);
	FUZZ_CHECK(memcmp(a->info.gaps, b->info.gaps, sizeof(a->info.gaps)) ==
		    0 &&
		a->info.gap_bytes == b->info.gap_bytes &&
		a->info.insns == b->info.insns,
	    "%s: other sums", what);
}

/* How often execution went from one address to another. */
static uint64_t
edge_count(const struct counted *c, const struct hwtd_edge *edge)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_edges; i++) {
		const struct hwtd_edge *e = &c->edges[i];

		if (e->from == edge->from && e->to == edge->to &&
		    e->from_section == edge->from_section &&
		    e->branch == edge->branch)
			n += e->count;
	}
	return (n);
}

void
fuzz_runs_check(struct hwtd_trace *trace)
{
	static const struct hwtd_range all = { 0, UINT64_MAX };
	struct hwtd_events_options events = { .size = sizeof(events) };
	struct counted *tokens = malloc(3 * sizeof(*tokens));
	struct counted *rows = tokens + 1, *jobs = tokens + 2;

	if (tokens == NULL)
		return;
	count(trace, &events, tokens);
	events.addresses = &all;
	events.n_addresses = 1;
	count(trace, &events, rows);
	same("rows", tokens, rows);
	/* Where much happens at once, rows leave out where a branch went. */
	for (size_t i = 0; i < rows->n_edges && rows->n_edges < MAX; i++)
		FUZZ_CHECK(edge_count(tokens, &rows->edges[i]) >=
			edge_count(rows, &rows->edges[i]),
		    "edge %zu of rows", i);
	events.n_addresses = 0;
	events.jobs = 3;
	count(trace, &events, jobs);
	same("jobs", tokens, jobs);
	FUZZ_CHECK(tokens->n_edges == jobs->n_edges &&
		memcmp(tokens->edges, jobs->edges,
		    tokens->n_edges * sizeof(tokens->edges[0])) == 0,
	    "jobs: other edges");
	free(tokens);
}
