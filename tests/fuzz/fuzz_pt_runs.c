/*
 * Flows of the native Intel PT engine with and without what it remembers.
 */
#include "fuzz_pt_runs.h"

#include <stdlib.h>

#include "decode/pt/pt_native.h"
#include "fuzz.h"
#include "support/native_flows.h"
#include "trace/trace_model.h"

/* What is met three times is found out, and then used. */
#define PASSES 5

static void
forget(struct hwtdi_decoder *d, uint64_t *random)
{
	(void)random;
	d->memo.on = false;
	d->memo.rest = 0;
}

static void
remember(struct hwtdi_decoder *d, uint64_t *random)
{
	(void)random;
	(void)hwtdi_ptn_memo_wake(&d->memo, d->library);
	if (d->runs == NULL)
		return;
	(void)hwtdi_ptn_runs_wake(d->runs, d->library);
	d->runs->sparse = false;
}

static void
compare(struct hwtd_trace *trace, struct hwtdi_code_graph *graph,
    const struct hwtd_pt_config *pt, const uint8_t *bytes, size_t n, bool runs,
    const struct native_flows *expected)
{
	struct native_reader r;
	char text[240];

	native_open(&r, trace, graph, pt, 0, runs);
	r.prepare = remember;
	for (int i = 0; i < PASSES; i++) {
		struct native_flows got = { 0 };

		native_read(&r, bytes, n, true, &got);
		FUZZ_CHECK(native_same(expected, &got, !runs, text,
			       sizeof(text)),
		    "%s, pass %d: %s", runs ? "runs" : "memo", i, text);
		native_free(&got);
	}
	native_close(&r);
}

void
fuzz_pt_runs(struct hwtd_trace *trace, const struct hwtd_pt_config *pt,
    const uint8_t *bytes, size_t n)
{
	struct hwtdi_code_graph *graph;
	struct native_flows plain = { 0 };
	struct native_reader r;

	FUZZ_CHECK(hwtdi_graph_create(hwtdi_trace_library(trace), &graph,
		       NULL) == HWTD_OK,
	    "graph");
	native_open(&r, trace, graph, pt, 0, false);
	r.prepare = forget;
	native_read(&r, bytes, n, true, &plain);
	native_close(&r);
	compare(trace, graph, pt, bytes, n, false, &plain);
	compare(trace, graph, pt, bytes, n, true, &plain);
	native_free(&plain);
	hwtdi_graph_drop(graph);
}
