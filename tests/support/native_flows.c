/*
 * Flows of the native Intel PT engine, put together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/native_flows.h"
#include "trace/trace_model.h"

/* Fuzz harnesses use this, too. */
static void
check(bool ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "%s\n", what);
	abort();
}

static int
find_code(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	struct native_reader *r = arg;
	struct hwtdi_code_place place = { .context = query->context,
		.stream_off = query->stream_off,
		.moments = query->moments,
		.chosen = query->chosen,
		.n_chosen = query->n_chosen,
		.choice = query->choice };
	struct hwtdi_span span;
	int rc = hwtdi_trace_find_code(r->trace, &place, address, &span);

	if (rc < 0)
		return (rc);
	out->bytes = span.bytes;
	out->address = span.address;
	out->length = span.length;
	out->section = span.section;
	out->moments = span.moments;
	return (rc);
}

static void
until(void *arg, const struct hwtdi_code_query *query, uint64_t *off_out,
    uint64_t *count_out)
{
	const struct native_reader *r = arg;

	*off_out = query->stream_off + r->horizon;
	*count_out = UINT64_MAX;
}

static const struct hwtdi_engine *
engine(void)
{
	const struct hwtdi_engine *e = hwtdi_engine_find(HWTD_TECH_INTEL_PT,
	    "native");

	check(e != NULL, "no engine");
	return (e);
}

void
native_open(struct native_reader *r, struct hwtd_trace *trace,
    struct hwtdi_code_graph *graph, const struct hwtd_pt_config *pt,
    uint64_t horizon, bool runs)
{
	struct hwtdi_decoder_args args;

	memset(r, 0, sizeof(*r));
	r->trace = trace;
	r->graph = hwtdi_graph_hold(graph);
	r->horizon = horizon;
	r->random = 1;
	r->flow = calloc(1, sizeof(*r->flow));
	check(r->flow != NULL, "out of memory");
	hwtdi_flow_init(r->flow);
	memset(&args, 0, sizeof(args));
	args.library = hwtdi_trace_library(trace);
	args.pt = pt;
	args.context.size = sizeof(args.context);
	args.context.pid = HWTD_NO_ID;
	args.context.tid = HWTD_NO_ID;
	args.context.cpu = HWTD_NO_ID;
	args.code.find = find_code;
	args.code.until = until;
	args.code.arg = r;
	args.code.fixed = horizon == 0;
	args.graph = graph;
	args.runs = runs;
	check(engine()->open(&args, &r->decoder, NULL) == HWTD_OK, "open");
}

void
native_close(struct native_reader *r)
{
	engine()->close(r->decoder);
	hwtdi_graph_drop(r->graph);
	free(r->flow);
}

static void *
one_more(void *array, size_t n, size_t *cap, size_t elem)
{
	void *bigger = array;

	if (n < *cap)
		return (array);
	*cap = *cap == 0 ? 256 : *cap * 2;
	bigger = realloc(array, *cap * elem);
	check(bigger != NULL, "out of memory");
	return (bigger);
}

static void
add_token(struct native_flows *out, uint32_t token)
{
	out->tokens = one_more(out->tokens, out->n_tokens, &out->cap_tokens,
	    sizeof(out->tokens[0]));
	out->tokens[out->n_tokens++] = token;
}

/* What comes before token `at` of the flow. */
static void
add_before(const struct hwtdi_flow *flow, size_t at, size_t next[3],
    struct native_flows *out)
{
	const uint32_t now = (uint32_t)out->n_tokens;

	for (; next[0] < flow->n_places && flow->places[next[0]].at == at;
	     next[0]++) {
		out->places = one_more(out->places, out->n_places,
		    &out->cap_places, sizeof(out->places[0]));
		out->places[out->n_places] = flow->places[next[0]];
		out->places[out->n_places++].at = now;
	}
	for (; next[1] < flow->n_rares && flow->rares[next[1]].at == at;
	     next[1]++) {
		out->rares = one_more(out->rares, out->n_rares,
		    &out->cap_rares, sizeof(out->rares[0]));
		out->rares[out->n_rares] = flow->rares[next[1]];
		out->rares[out->n_rares++].at = now;
	}
	for (; next[2] < flow->n_anchors && flow->anchors[next[2]].at == at;
	     next[2]++) {
		out->anchors = one_more(out->anchors, out->n_anchors,
		    &out->cap_anchors, sizeof(out->anchors[0]));
		out->anchors[out->n_anchors] = flow->anchors[next[2]];
		out->anchors[out->n_anchors++].at = now;
	}
}

static void
add_rare(struct native_flows *out, const struct hwtd_event *row)
{
	struct hwtdi_rare *rare;

	out->rares = one_more(out->rares, out->n_rares, &out->cap_rares,
	    sizeof(out->rares[0]));
	rare = &out->rares[out->n_rares++];
	memset(rare, 0, sizeof(*rare));
	rare->row = *row;
	rare->at = (uint32_t)out->n_tokens;
}

/* Where a node lies by what was told last. */
static uint64_t
address_of(const struct native_flows *f, const struct hwtdi_code_graph *graph,
    uint32_t node)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(graph, node);

	for (size_t i = f->n_places; i-- > 0;)
		if (f->places[i].unit == b->unit)
			return (f->places[i].address + b->off);
	check(false, "a unit that is nowhere");
	return (0);
}

/* Tracing goes off, and on again with a node, as rare events tell it. */
static void
add_off(const struct native_reader *r, struct native_flows *out,
    const uint32_t *words, uint32_t node)
{
	const struct hwtd_event off = { .kind = HWTD_EV_DISABLE,
		.flags = HWTD_EVF_TARGET,
		.target = words[1] | (uint64_t)words[2] << 32 };
	const struct hwtd_event on = { .kind = HWTD_EV_ENABLE,
		.flags = HWTD_EVF_IP,
		.ip = address_of(out, r->graph, node) };

	add_rare(out, &off);
	add_rare(out, &on);
	out->n_off++;
}

static void
add_run(const struct native_reader *r, struct native_flows *out,
    uint32_t number)
{
	const uint32_t *words;
	size_t n;

	check(number < r->flow->n_runs && r->flow->n_runs <= HWTDI_RUNS,
	    "number of a run");
	words = engine()->run(r->decoder, number, &n);
	check(n > 1, "a run of one node");
	for (size_t i = 0; i < n; i++) {
		if (words[i] == HWTDI_TOKEN_OFF) {
			check(i > 0 && n - i > HWTDI_TOKEN_OFF_WORDS,
			    "a run that begins or ends with tracing off");
			add_off(r, out, words + i,
			    words[i + HWTDI_TOKEN_OFF_WORDS]);
			i += HWTDI_TOKEN_OFF_WORDS - 1;
			continue;
		}
		check((words[i] & HWTDI_TOKEN_RUN) == 0, "a run in a run");
		add_token(out, words[i]);
	}
}

static void
add_flow(const struct native_reader *r, struct native_flows *out)
{
	const struct hwtdi_flow *flow = r->flow;
	size_t next[3] = { 0 };

	for (size_t i = 0; i < flow->n_tokens; i++) {
		const uint32_t token = flow->tokens[i];

		add_before(flow, i, next, out);
		if ((token & HWTDI_TOKEN_RUN) != 0)
			add_run(r, out, token & ~HWTDI_TOKEN_RUN);
		else
			add_token(out, token);
	}
	add_before(flow, flow->n_tokens, next, out);
	check(next[0] == flow->n_places && next[1] == flow->n_rares &&
		next[2] == flow->n_anchors,
	    "order in a flow");
	out->n_told += flow->n_tokens;
	out->n_over += flow->runs_over;
}

static void
read_segment(struct native_reader *r, const struct hwtdi_segment *segment,
    struct native_flows *out)
{
	struct hwtdi_flow *flow = r->flow;
	int rc;

	check(engine()->start(r->decoder, segment, NULL) == HWTD_OK, "start");
	do {
		hwtdi_flow_clear(flow);
		if (r->prepare != NULL)
			r->prepare(r->decoder, &r->random);
		rc = engine()->read(r->decoder, flow, NULL);
		check(rc == HWTD_OK || rc == HWTD_END, "read");
		add_flow(r, out);
	} while (rc != HWTD_END);
}

void
native_read(struct native_reader *r, const uint8_t *bytes, size_t n, bool cut,
    struct native_flows *out)
{
	size_t at = 0;

	while (at < n) {
		struct hwtdi_segment segment = { .bytes = bytes + at,
			.n = n - at,
			.stream_off = at };

		if (cut && n - at > 1)
			segment.n = engine()->find_sync(bytes + at, n - at,
			    n - at, 1);
		segment.tail = n - at - segment.n;
		if (segment.tail > engine()->tail_bytes)
			segment.tail = engine()->tail_bytes;
		read_segment(r, &segment, out);
		at += segment.n;
	}
}

void
native_free(struct native_flows *f)
{
	free(f->tokens);
	free(f->rares);
	free(f->places);
	free(f->anchors);
	memset(f, 0, sizeof(*f));
}

/* What runs do not say of tracing that goes off and on is left out. */
static struct hwtd_event
said(const struct hwtd_event *row, bool all)
{
	struct hwtd_event said = *row;

	if (all ||
	    (row->kind != HWTD_EV_DISABLE && row->kind != HWTD_EV_ENABLE))
		return (said);
	said.stream_off = 0;
	said.flags &= (uint16_t)~HWTD_EVF_RESUMED;
	return (said);
}

static bool
same_rare(const struct hwtdi_rare *a, const struct hwtdi_rare *b, bool all)
{
	const struct hwtd_event x = said(&a->row, all), y = said(&b->row, all);

	return (a->at == b->at && a->has_detail == b->has_detail &&
	    a->has_stop_ip == b->has_stop_ip &&
	    memcmp(&x, &y, sizeof(x)) == 0);
}

static bool
same_anchor(const struct hwtdi_anchor *a, const struct hwtdi_anchor *b)
{
	return (a->at == b->at && a->flags == b->flags &&
	    a->stream_off == b->stream_off);
}

bool
native_same(const struct native_flows *a, const struct native_flows *b,
    bool anchors, char *text, size_t text_bytes)
{
	size_t i = 0, j = 0, k = 0, l = 0;

	while (i < a->n_tokens && i < b->n_tokens &&
	    a->tokens[i] == b->tokens[i])
		i++;
	while (j < a->n_rares && j < b->n_rares &&
	    same_rare(&a->rares[j], &b->rares[j], anchors))
		j++;
	while (k < a->n_places && k < b->n_places &&
	    memcmp(&a->places[k], &b->places[k], sizeof(a->places[k])) == 0)
		k++;
	while (anchors && l < a->n_anchors && l < b->n_anchors &&
	    same_anchor(&a->anchors[l], &b->anchors[l]))
		l++;
	(void)snprintf(text, text_bytes,
	    "token %zu of %zu and %zu, event %zu of %zu and %zu, "
	    "place %zu of %zu and %zu, anchor %zu of %zu and %zu",
	    i, a->n_tokens, b->n_tokens, j, a->n_rares, b->n_rares, k,
	    a->n_places, b->n_places, l, a->n_anchors, b->n_anchors);
	return (i == a->n_tokens && i == b->n_tokens && j == a->n_rares &&
	    j == b->n_rares && k == a->n_places && k == b->n_places &&
	    (!anchors || (l == a->n_anchors && l == b->n_anchors)));
}
