/*
 * The native engine alone, fed by segments as a lane of the library does it.
 */
#include "bench_tokens.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decoder.h"
#include "event/segment.h"
#include "trace/trace_model.h"

struct bench_tokens {
	struct hwtd_trace *trace;
	const struct hwtdi_engine *engine;
	struct hwtdi_decoder *decoder;
	struct hwtdi_code_graph *graph;
	struct hwtdi_segments segments;
	struct hwtdi_flow *flow;
	/* Of runs: tokens, by number; and nodes, of which so many are known. */
	bool runs;
	uint32_t *run_counts, *counts;
	size_t cap_run_counts, cap_counts;
	/* The last, because it is not set as a whole. */
	struct hwtdi_code_answers answers;
};

static int
find_code(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	struct bench_tokens *t = arg;
	struct hwtdi_code_place place = {
		.context = query->context,
		.stream_off = query->stream_off,
		.moments = query->moments,
		.chosen = query->chosen,
		.n_chosen = query->n_chosen,
		.choice = query->choice,
		.answers = &t->answers,
	};
	struct hwtdi_span span;
	int rc = hwtdi_trace_find_code(t->trace, &place, address, &span);

	if (rc < 0)
		return (rc);
	out->bytes = span.bytes;
	out->address = span.address;
	out->length = span.length;
	out->section = span.section;
	out->moments = span.moments;
	return (rc);
}

struct bench_tokens *
bench_tokens_open(struct hwtd_trace *trace, bool runs)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_context *library = hwtdi_trace_library(trace);
	struct bench_tokens *t = hwtdi_alloc(library, sizeof(*t));
	struct hwtdi_decoder_args args;

	if (t == NULL)
		bench_die("out of memory");
	memset(t, 0, offsetof(struct bench_tokens, answers));
	hwtdi_code_answers_init(&t->answers);
	t->flow = hwtdi_alloc(library, sizeof(*t->flow));
	if (t->flow == NULL)
		bench_die("out of memory");
	hwtdi_flow_init(t->flow);
	t->trace = trace;
	t->runs = runs;
	t->engine = hwtdi_engine_find(HWTD_TECH_INTEL_PT, "native");
	if (t->engine == NULL)
		bench_die("no engine \"native\"");
	bench_check(hwtdi_graph_create(library, &t->graph, &err), &err);
	bench_check(hwtdi_segments_init(&t->segments, trace, t->engine, 0,
			&err),
	    &err);
	(void)hwtd_trace_stream(trace, 0, &desc);
	memset(&args, 0, sizeof(args));
	args.library = library;
	args.pt = desc.pt;
	args.context.size = sizeof(args.context);
	args.context.pid = desc.pid;
	args.context.tid = desc.tid;
	args.context.cpu = desc.cpu;
	args.timed = desc.clock.counts_per != 0;
	args.code.find = find_code;
	args.code.arg = t;
	args.code.fixed = hwtdi_trace_is_fixed(trace);
	args.graph = t->graph;
	args.runs = runs;
	args.near_count = desc.clock.base_count;
	bench_check(t->engine->open(&args, &t->decoder, &err), &err);
	return (t);
}

void
bench_tokens_close(struct bench_tokens *t)
{
	if (t == NULL)
		return;
	t->engine->close(t->decoder);
	hwtdi_segments_fini(&t->segments);
	hwtdi_graph_drop(t->graph);
	hwtdi_array_free(hwtdi_trace_library(t->trace), t->counts,
	    t->cap_counts, sizeof(t->counts[0]));
	hwtdi_array_free(hwtdi_trace_library(t->trace), t->run_counts,
	    t->cap_run_counts, sizeof(t->run_counts[0]));
	hwtdi_free(hwtdi_trace_library(t->trace), t->flow, sizeof(*t->flow));
	hwtdi_free(hwtdi_trace_library(t->trace), t, sizeof(*t));
}

static void
count_flow(const struct hwtdi_flow *flow, struct bench_count *out)
{
	struct hwtdi_graph_view view;
	uint64_t insns = 0;

	hwtdi_graph_see(flow->graph, &view);
	for (size_t i = 0; i < flow->n_tokens; i++)
		insns += view.nodes[flow->tokens[i]].insns;
	out->insns += insns;
	out->items += flow->n_tokens;
	for (size_t i = 0; i < flow->n_rares; i++)
		out->errors += flow->rares[i].row.kind == HWTD_EV_GAP;
}

/* Counts of 0 for what is new. */
static void
have_counts(const struct bench_tokens *t, uint32_t **counts, size_t *cap,
    size_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const size_t old = *cap;

	if (n <= old)
		return;
	bench_check(hwtdi_array_grow(hwtdi_trace_library(t->trace), counts,
			cap, n, sizeof(**counts), &err),
	    &err);
	memset(*counts + old, 0, (*cap - old) * sizeof(**counts));
}

/* The same of tokens that may be runs: how many there are of each. */
static void
count_runs(struct bench_tokens *t, struct bench_count *out)
{
	const struct hwtdi_flow *flow = t->flow;
	struct hwtdi_graph_view view;

	hwtdi_graph_see(flow->graph, &view);
	have_counts(t, &t->counts, &t->cap_counts, view.n_nodes);
	have_counts(t, &t->run_counts, &t->cap_run_counts, flow->n_runs);
	for (size_t i = 0; i < flow->n_tokens; i++) {
		const uint32_t token = flow->tokens[i];
		uint32_t *counts = (token & HWTDI_TOKEN_RUN) != 0
		    ? t->run_counts
		    : t->counts;

		counts[token & ~HWTDI_TOKEN_RUN]++;
	}
	for (size_t i = 0; i < flow->n_rares; i++)
		out->errors += flow->rares[i].row.kind == HWTD_EV_GAP;
}

/* Count for the nodes what was counted for runs. */
static void
fold_runs(struct bench_tokens *t)
{
	for (uint32_t no = 0; no < t->flow->n_runs; no++) {
		const uint32_t *nodes;
		size_t n;

		if (t->run_counts[no] == 0)
			continue;
		nodes = t->engine->run(t->decoder, no, &n);
		for (size_t i = 0; i < n; i++)
			if (nodes[i] == HWTDI_TOKEN_OFF)
				i += HWTDI_TOKEN_OFF_WORDS - 1;
			else
				t->counts[nodes[i]] += t->run_counts[no];
		t->run_counts[no] = 0;
	}
}

/* Count for instructions what was counted for nodes. */
static void
fold_nodes(struct bench_tokens *t, struct bench_count *out)
{
	struct hwtdi_graph_view view;

	hwtdi_graph_see(t->graph, &view);
	for (size_t node = 0; node < t->cap_counts && node < view.n_nodes;
	     node++) {
		out->insns += (uint64_t)t->counts[node] *
		    view.nodes[node].insns;
		out->items += t->counts[node];
		t->counts[node] = 0;
	}
}

static void
walk_segment(struct bench_tokens *t, const struct hwtdi_segment *segment,
    struct bench_count *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int rc;

	bench_check(t->engine->start(t->decoder, segment, &err), &err);
	do {
		hwtdi_flow_clear(t->flow);
		rc = t->engine->read(t->decoder, t->flow, &err);
		if (rc < 0)
			bench_die("%s", err.message);
		if (t->runs)
			count_runs(t, out);
		else
			count_flow(t->flow, out);
		if (t->flow->runs_over)
			fold_runs(t);
	} while (rc != HWTD_END);
}

static void
walk(struct bench_tokens *t, struct bench_count *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_part part;

	memset(out, 0, sizeof(*out));
	hwtdi_segments_rewind(&t->segments);
	for (;;) {
		bench_check(hwtdi_segments_next(&t->segments, &part, &err),
		    &err);
		if (part.kind == HWTDI_PART_END) {
			fold_runs(t);
			fold_nodes(t, out);
			return;
		}
		if (part.kind == HWTDI_PART_SEGMENT)
			walk_segment(t, &part.segment, out);
		else
			out->errors++;
	}
}

void
bench_tokens_learn(struct bench_tokens *t)
{
	struct bench_count count;

	walk(t, &count);
}

BENCH_NOINLINE void
bench_tokens_warm(struct bench_tokens *t, struct bench_count *out)
{
	struct bench_count count;

	/* No tail call: callgrind would not see the end. */
	walk(t, &count);
	*out = count;
}

BENCH_NOINLINE void
bench_tokens_cold(struct hwtd_trace *trace, bool runs, struct bench_count *out)
{
	struct bench_tokens *t = bench_tokens_open(trace, runs);

	walk(t, out);
	bench_tokens_close(t);
}
