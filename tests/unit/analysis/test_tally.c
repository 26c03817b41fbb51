/*
 * A tally of flows that are made here: nodes, runs of nodes whose numbers come
 * to stand for others, and code that comes to lie elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/runs/tally.h"

/* nop; dec %eax; jne back to the nop; then nop; jmp *%rax. */
static const uint8_t code[] = { 0x90, 0xff, 0xc8, 0x75, 0xfb, 0x90, 0xff,
	0xe0 };

#define LOOP 0
#define OUT 5

/* What numbers of runs stand for. */
static uint32_t runs[2][6];
static size_t run_lengths[2] = { 1, 1 };

static const uint32_t *
run_of(const struct hwtdi_decoder *decoder, uint32_t number, size_t *n_out)
{
	(void)decoder;
	assert_true(number < HWTDI_RUNS);
	*n_out = run_lengths[number == HWTDI_RUNS - 1];
	return (runs[number == HWTDI_RUNS - 1]);
}

static const struct hwtdi_engine engine = { .name = "made", .run = run_of };

#define FIRST_RUN HWTDI_TOKEN_RUN
#define LAST_RUN (HWTDI_TOKEN_RUN | (HWTDI_RUNS - 1))

struct fixture {
	struct hwtd_context *ctx;
	struct hwtdi_code_graph *graph;
	struct hwtdi_tally tally;
	struct hwtdi_maker maker;
	struct hwtdi_rows rows;
	uint32_t unit, loop, out;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hwtdi_flow *flow = calloc(1, sizeof(*flow));
	uint32_t next;

	if (f == NULL || flow == NULL ||
	    hwtd_context_create(NULL, &f->ctx, NULL) != HWTD_OK ||
	    hwtdi_graph_create(f->ctx, &f->graph, NULL) != HWTD_OK ||
	    hwtdi_graph_unit(f->graph, code, sizeof(code), HWTD_ISA_X86_64, 0,
		&f->unit, NULL) != HWTD_OK ||
	    hwtdi_graph_node(f->graph, f->unit, LOOP, &f->loop, NULL) !=
		HWTD_OK ||
	    hwtdi_graph_node(f->graph, f->unit, OUT, &f->out, NULL) !=
		HWTD_OK ||
	    hwtdi_graph_link(f->graph, f->loop, 0, &next, NULL) != HWTD_OK ||
	    hwtdi_graph_link(f->graph, f->loop, 1, &next, NULL) != HWTD_OK)
		return (-1);
	hwtdi_rows_init(&f->rows, f->ctx);
	hwtdi_tally_init(&f->tally, f->ctx, true);
	flow->graph = f->graph;
	f->maker.engine = &engine;
	f->maker.flow = flow;
	*state = f;
	return (0);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t held = 0;

	hwtdi_tally_fini(&f->tally);
	hwtdi_rows_fini(&f->rows);
	hwtdi_graph_drop(f->graph);
	hwtd_context_memory(f->ctx, &held, NULL);
	hwtd_context_destroy(f->ctx);
	free(f->maker.flow);
	free(f);
	return (held == 0 ? 0 : -1);
}

static void
place(struct fixture *f, uint32_t at, uint64_t address, uint32_t section)
{
	struct hwtdi_flow *flow = f->maker.flow;

	flow->places[flow->n_places++] = (struct hwtdi_placement){ .at = at,
		.unit = f->unit,
		.section = section,
		.address = address };
}

static void
take(struct fixture *f, const uint32_t *tokens, size_t n, bool over, bool last)
{
	struct hwtdi_flow *flow = f->maker.flow;

	memcpy(flow->tokens, tokens, n * sizeof(*tokens));
	flow->n_tokens = n;
	flow->n_runs = HWTDI_RUNS;
	flow->runs_over = over;
	f->maker.last_flow = last;
	assert_int_equal(f->tally.sink.take(f->tally.sink.arg, &f->maker,
			     &f->rows),
	    HWTD_OK);
	flow->n_places = 0;
	flow->n_rares = 0;
}

static void
assert_run(const struct hwtd_run *r, uint64_t address, uint32_t section,
    uint32_t insns, uint64_t count)
{
	assert_int_equal(r->address, address);
	assert_int_equal(r->section, section);
	assert_int_equal(r->insns, insns);
	assert_int_equal(r->count, count);
}

static void
assert_edge(const struct hwtd_edge *e, uint64_t from, uint64_t to,
    uint32_t from_section, uint32_t to_section, uint64_t count)
{
	assert_int_equal(e->from, from);
	assert_int_equal(e->to, to);
	assert_int_equal(e->from_section, from_section);
	assert_int_equal(e->to_section, to_section);
	assert_int_equal(e->count, count);
}

static void
numbers_of_runs_stand_for_what_they_stood_for(void **state)
{
	struct fixture *f = *state;
	struct hwtdi_code_counts *c = &f->tally.code;
	const uint32_t first[] = { FIRST_RUN, f->loop, FIRST_RUN };
	const uint32_t second[] = { FIRST_RUN, LAST_RUN };
	struct hwtd_run *got;
	size_t n, cap;

	/* Two rounds and out; then a round; then the same again. */
	memcpy(runs[0], (uint32_t[]){ f->loop, f->loop, f->out },
	    3 * sizeof(runs[0][0]));
	run_lengths[0] = 3;
	runs[1][0] = f->loop;
	run_lengths[1] = 1;
	place(f, 0, 0x1000, 2);
	take(f, first, 3, true, false);
	/* The number stands for another run, and then the code moves. */
	runs[0][0] = f->out;
	run_lengths[0] = 1;
	place(f, 1, 0x5000, 6);
	f->maker.flow->has_next_ip = true;
	f->maker.flow->next_ip = 0x5005;
	take(f, second, 2, false, true);
	assert_int_equal(hwtdi_tally_fold(&f->tally, NULL), HWTD_OK);

	assert_int_equal(hwtdi_code_runs(c, &got, &n, &cap, NULL), HWTD_OK);
	assert_int_equal(n, 3);
	assert_run(&got[0], 0x1000, 2, 3, 5);
	assert_run(&got[1], 0x1005, 2, 2, 3);
	assert_run(&got[2], 0x5000, 6, 3, 1);
	hwtdi_array_free(f->ctx, got, cap, sizeof(*got));
	assert_int_equal(hwtdi_code_edges(c, NULL), HWTD_OK);
	assert_int_equal(c->n_edges, 6);
	assert_edge(&c->edges[0], 0x1003, 0x1000, 2, 2, 3);
	assert_edge(&c->edges[1], 0x1003, 0x1005, 2, 2, 2);
	assert_edge(&c->edges[2], 0x1006, 0x1000, 2, 2, 1);
	assert_edge(&c->edges[3], 0x1006, 0x1005, 2, 2, 1);
	assert_edge(&c->edges[4], 0x1006, 0x5000, 2, 6, 1);
	assert_edge(&c->edges[5], 0x5003, 0x5005, 6, HWTD_NO_ID, 1);
}

/* Told at the same place again, or elsewhere and back: sums stay. */
static void
code_that_moves_to_and_fro_is_counted_where_it_was(void **state)
{
	struct fixture *f = *state;
	struct hwtd_run *got;
	size_t n, cap;

	for (uint32_t i = 0; i < 100000; i++) {
		const uint32_t tokens[] = { f->loop, f->out };

		place(f, 0, i % 3 == 0 ? 0x1000 : 0x5000, i % 3 == 0 ? 1 : 4);
		take(f, tokens, 2, false, i % 5 == 0);
	}
	assert_int_equal(hwtdi_tally_fold(&f->tally, NULL), HWTD_OK);
	assert_int_equal(hwtdi_code_runs(&f->tally.code, &got, &n, &cap, NULL),
	    HWTD_OK);
	assert_int_equal(n, 4);
	assert_run(&got[0], 0x1000, 1, 3, 33334);
	assert_run(&got[1], 0x1005, 1, 2, 33334);
	assert_run(&got[2], 0x5000, 4, 3, 66666);
	assert_run(&got[3], 0x5005, 4, 2, 66666);
	hwtdi_array_free(f->ctx, got, cap, sizeof(*got));
}

/* A gap between two tokens; a jump before it went where it goes. */
static void
what_comes_between_tokens_makes_no_edge(void **state)
{
	struct fixture *f = *state;
	struct hwtdi_flow *flow = f->maker.flow;
	const uint32_t tokens[] = { f->out, f->loop, f->out };
	struct hwtdi_code_counts *c = &f->tally.code;

	place(f, 0, 0x1000, 1);
	flow->n_rares = 2;
	flow->rares[0].at = 1;
	flow->rares[0].row.kind = HWTD_EV_GAP;
	flow->rares[0].detail.gap.reason = HWTD_GAP_BAD_FLOW;
	flow->rares[0].detail.gap.first = 10;
	flow->rares[0].detail.gap.end = 17;
	flow->rares[1].at = 2;
	flow->rares[1].row.kind = HWTD_EV_MARKER;
	take(f, tokens, 3, false, true);
	assert_int_equal(hwtdi_tally_fold(&f->tally, NULL), HWTD_OK);
	assert_int_equal(hwtdi_code_edges(c, NULL), HWTD_OK);
	assert_int_equal(c->n_edges, 1);
	assert_edge(&c->edges[0], 0x1003, 0x1005, 1, 1, 1);
	assert_int_equal(f->rows.stats.gaps[HWTD_GAP_BAD_FLOW], 1);
	assert_int_equal(f->rows.stats.gap_bytes, 7);
}

/* In a run tracing goes off to an address, and on again somewhere else. */
static void
tracing_that_goes_off_in_a_run_goes_to_an_address(void **state)
{
	struct fixture *f = *state;
	const uint32_t tokens[] = { FIRST_RUN, FIRST_RUN };
	struct hwtdi_code_counts *c = &f->tally.code;
	struct hwtd_run *got;
	size_t n, cap;

	memcpy(runs[0],
	    (uint32_t[]){ f->loop, f->out, HWTDI_TOKEN_OFF, 0x80000001,
		0xffff8000, f->loop },
	    6 * sizeof(runs[0][0]));
	run_lengths[0] = 6;
	place(f, 0, 0x1000, 1);
	take(f, tokens, 2, false, true);
	assert_int_equal(hwtdi_tally_fold(&f->tally, NULL), HWTD_OK);
	assert_int_equal(hwtdi_code_runs(c, &got, &n, &cap, NULL), HWTD_OK);
	assert_int_equal(n, 2);
	assert_run(&got[0], 0x1000, 1, 3, 4);
	assert_run(&got[1], 0x1005, 1, 2, 2);
	hwtdi_array_free(f->ctx, got, cap, sizeof(*got));
	assert_int_equal(hwtdi_code_edges(c, NULL), HWTD_OK);
	assert_int_equal(c->n_edges, 3);
	/* From one run to the next. */
	assert_edge(&c->edges[0], 0x1003, 0x1000, 1, 1, 1);
	assert_edge(&c->edges[1], 0x1003, 0x1005, 1, 1, 2);
	assert_edge(&c->edges[2], 0x1006, 0xffff800080000001, 1, HWTD_NO_ID,
	    2);
}

/* Before a counter could overflow, counts become counts of code. */
static void
counters_are_read_before_they_are_full(void **state)
{
	struct fixture *f = *state;
	const uint32_t tokens[] = { f->loop, f->loop };
	struct hwtd_run *got;
	size_t n, cap;

	place(f, 0, 0x1000, 1);
	take(f, tokens, 2, false, false);
	assert_int_equal(f->tally.n_counted, 2);
	assert_int_equal(f->tally.code.n_stretches, 0);
	/* So many runs, of as many words as there can be. */
	f->tally.n_counted = UINT32_MAX / HWTDI_RUN_WORDS - HWTDI_FLOW_TOKENS;
	take(f, tokens, 2, false, false);
	assert_int_equal(f->tally.code.n_stretches, 1);
	assert_int_equal(f->tally.n_counted, 0);
	take(f, tokens, 1, false, true);
	assert_int_equal(hwtdi_tally_fold(&f->tally, NULL), HWTD_OK);
	assert_int_equal(hwtdi_code_runs(&f->tally.code, &got, &n, &cap, NULL),
	    HWTD_OK);
	assert_int_equal(n, 1);
	assert_run(&got[0], 0x1000, 1, 3, 5);
	hwtdi_array_free(f->ctx, got, cap, sizeof(*got));
}

/* Branches that lead anywhere: each edge has its count, of more than are kept. */
static void
edges_of_indirect_branches_are_counted_one_by_one(void **state)
{
	enum {
		JUMPS = 64,
		TOKENS = 4000
	};
	struct fixture *f = *state;
	struct hwtdi_code_counts *c = &f->tally.code;
	static uint64_t truth[JUMPS][JUMPS];
	static uint32_t tokens[TOKENS];
	uint8_t jumps[2 * JUMPS];
	uint32_t nodes[JUMPS], random = 1, last = JUMPS;
	size_t n = 0;

	memset(truth, 0, sizeof(truth));
	for (size_t i = 0; i < JUMPS; i++)
		memcpy(jumps + 2 * i, code + 6, 2);
	assert_int_equal(hwtdi_graph_unit(f->graph, jumps, sizeof(jumps),
			     HWTD_ISA_X86_64, 0, &f->unit, NULL),
	    HWTD_OK);
	for (uint32_t i = 0; i < JUMPS; i++)
		assert_int_equal(hwtdi_graph_node(f->graph, f->unit, 2 * i,
				     &nodes[i], NULL),
		    HWTD_OK);
	place(f, 0, 0x1000, 1);
	for (unsigned int flow = 0; flow < 5; flow++) {
		for (size_t i = 0; i < TOKENS; i++) {
			uint32_t to;

			random = random * 1664525u + 1013904223u;
			to = random >> 26;
			tokens[i] = nodes[to];
			if (last != JUMPS)
				truth[last][to]++;
			last = to;
		}
		take(f, tokens, TOKENS, false, flow == 4);
		/* That makes no difference. */
		if (flow == 2)
			assert_int_equal(hwtdi_tally_fold(&f->tally, NULL),
			    HWTD_OK);
	}
	assert_true(f->tally.log_pairs > HWTDI_TALLY_FIRST_PAIRS);
	assert_int_equal(hwtdi_tally_fold(&f->tally, NULL), HWTD_OK);
	assert_int_equal(hwtdi_code_edges(c, NULL), HWTD_OK);
	for (uint32_t i = 0; i < JUMPS; i++)
		for (uint32_t k = 0; k < JUMPS; k++) {
			if (truth[i][k] == 0)
				continue;
			assert_true(n < c->n_edges);
			assert_edge(&c->edges[n++], 0x1000 + 2 * i,
			    0x1000 + 2 * k, 1, 1, truth[i][k]);
		}
	assert_int_equal(n, c->n_edges);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    numbers_of_runs_stand_for_what_they_stood_for, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    code_that_moves_to_and_fro_is_counted_where_it_was, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    what_comes_between_tokens_makes_no_edge, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    tracing_that_goes_off_in_a_run_goes_to_an_address, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    counters_are_read_before_they_are_full, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    edges_of_indirect_branches_are_counted_one_by_one, setup,
		    teardown),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
