/*
 * The code graph: where superblocks end and lead to, what is shared, and that
 * arrays may grow while others read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/code/code_graph.h"
#include "decode/code/x86_insn.h"
#include "graph_fixture.h"
#include "support/failing_allocator.h"

#define BASE 0x400000u

static uint32_t
node_of(struct graph_fixture *f, const uint8_t *bytes, size_t n, uint32_t off)
{
	return (graph_node_at(f->graph,
	    graph_unit_of(f->graph, bytes, n, HWTD_ISA_X86_64, BASE), off));
}

static const struct {
	const char *name;
	uint8_t bytes[24];
	uint32_t n;
	uint8_t kind;
	uint16_t insns, runs;
	uint8_t pushes;
	/* Where it leads, or the end. */
	int64_t target;
	uint32_t end;
} ends[] = {
	{ "conditional", { 0x90, 0x75, 0x05, 0x90 }, 16, HWTDI_NODE_COND, 2, 1,
	    0, 8, 3 },
	{ "indirect jump", { 0xff, 0xe0 }, 16, HWTDI_NODE_INDIRECT, 1, 1, 0, 0,
	    2 },
	{ "indirect call", { 0xff, 0xd0 }, 16, HWTDI_NODE_INDIRECT, 1, 1, 1, 0,
	    2 },
	{ "return", { 0x90, 0xc3 }, 16, HWTDI_NODE_RETURN, 2, 1, 0, 0, 2 },
	{ "system call", { 0x0f, 0x05 }, 16, HWTDI_NODE_FAR, 1, 1, 0, 0, 2 },
	{ "far return", { 0xcb }, 16, HWTDI_NODE_FAR, 1, 1, 0, 0, 1 },
	{ "jump, then a conditional", { 0xeb, 0x01, 0x90, 0x74, 0xfb }, 16,
	    HWTDI_NODE_COND, 2, 2, 0, 0, 5 },
	{ "call, then a return", { 0xe8, 0x01, 0, 0, 0, 0x90, 0xc3 }, 16,
	    HWTDI_NODE_RETURN, 2, 2, 1, 0, 7 },
	{ "call, then a conditional", { 0xe8, 0, 0, 0, 0, 0x75, 0xf9 }, 16,
	    HWTDI_NODE_COND, 2, 2, 0, 0, 7 },
	{ "call over a byte, then a conditional",
	    { 0xe8, 0x01, 0, 0, 0, 0x90, 0x75, 0xf8 }, 16,
	    HWTDI_NODE_COND_PUSH, 2, 2, 1, 0, 8 },
	{ "write of CR3", { 0x0f, 0x22, 0xd8, 0x90 }, 16, HWTDI_NODE_ON, 1, 1,
	    0, 3, 3 },
	{ "PTWRITE", { 0xf3, 0x0f, 0xae, 0xe0 }, 16, HWTDI_NODE_ON, 1, 1, 0, 4,
	    4 },
	{ "jump out of the unit", { 0xeb, 0x7e }, 16, HWTDI_NODE_AWAY, 1, 1, 0,
	    0x80, 2 },
	{ "jump to before the unit", { 0xe9, 0, 0, 0, 0xff }, 16,
	    HWTDI_NODE_AWAY, 1, 1, 0, 5 - 0x1000000, 5 },
	{ "end of the unit", { 0x90, 0x90 }, 2, HWTDI_NODE_AWAY, 2, 1, 0, 2,
	    2 },
	{ "jump to itself", { 0x90, 0xeb, 0xfe }, 16, HWTDI_NODE_LOOP, 2, 1, 0,
	    1, 1 },
	{ "ring of jumps", { 0xeb, 0x02, 0xeb, 0xfc, 0xeb, 0xfc }, 16,
	    HWTDI_NODE_LOOP, 3, 3, 0, 0, 0 },
	{ "no instruction", { 0x90, 0x06 }, 24, HWTDI_NODE_BAD, 1, 1, 0, 1,
	    1 },
	{ "no instruction at once", { 0x06 }, 24, HWTDI_NODE_BAD, 0, 0, 0, 0,
	    0 },
	{ "cut off", { 0x90, 0xe9, 0x01 }, 3, HWTDI_NODE_CUT, 1, 1, 0, 1, 1 },
};

static void
superblocks_end_where_the_trace_has_to_speak(void **state)
{
	struct graph_fixture *f = *state;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const uint32_t node = node_of(f, ends[i].bytes, ends[i].n, 0);
		const struct hwtdi_node *n = graph_see(f->graph, node);
		const struct hwtdi_code_block *b = hwtdi_graph_block(f->graph,
		    node);
		uint32_t insns = 0;

		print_message("%s\n", ends[i].name);
		assert_int_equal(n->kind, ends[i].kind);
		assert_int_equal(n->insns, ends[i].insns);
		assert_int_equal(n->pushes, ends[i].pushes);
		assert_int_equal(b->n_runs, ends[i].runs);
		assert_int_equal(b->target, ends[i].target);
		assert_int_equal(b->end, ends[i].end);
		for (uint32_t r = 0; r < b->n_runs; r++) {
			uint32_t bytes = 0, last = 0;

			for (uint32_t k = 0; k < b->runs[r].insns; k++) {
				last = bytes;
				bytes += b->lengths[insns++];
			}
			assert_int_equal(b->runs[r].bytes, bytes);
			assert_int_equal(hwtdi_run_last(&b->runs[r]),
			    b->runs[r].off + last);
		}
		assert_int_equal(insns, n->insns);
	}
}

static void
links_and_returns_are_found_once(void **state)
{
	/* call 8; jne 0; 8: jne 0; ret */
	static const uint8_t code[] = { 0xe8, 0x03, 0, 0, 0, 0x75, 0xf9, 0x90,
		0x75, 0xf6, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90 };
	struct graph_fixture *f = *state;
	const uint32_t node = node_of(f, code, sizeof(code), 0);
	struct hwtdi_graph_view view;
	uint32_t taken = 0, not_taken = 0, back = 0;

	assert_int_equal(graph_see(f->graph, node)->kind,
	    HWTDI_NODE_COND_PUSH);
	assert_int_equal(hwtdi_graph_link(f->graph, node, 1, &taken, NULL),
	    HWTD_OK);
	assert_int_equal(taken, node);
	assert_int_equal(hwtdi_graph_link(f->graph, node, 0, &not_taken, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_graph_block(f->graph, not_taken)->off, 10);
	assert_int_equal(graph_see(f->graph, node)->next[0], not_taken);
	assert_int_equal(graph_see(f->graph, node)->next[1], node);
	assert_int_equal(hwtdi_graph_return(f->graph,
			     graph_see(f->graph, node)->push, &back, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_graph_block(f->graph, back)->off, 5);
	hwtdi_graph_see(f->graph, &view);
	assert_int_equal(hwtdi_graph_returned(&view, view.nodes[node].push),
	    back);
	/* A conditional branch out of the unit has no node there. */
	assert_int_equal(hwtdi_graph_link(f->graph, node_of(f, code, 7, 5), 1,
			     &taken, NULL),
	    HWTD_OK);
	assert_int_not_equal(taken, 0);
}

static void
the_same_bytes_are_one_unit_wherever_they_lie(void **state)
{
	static const uint8_t code[16] = { 0x75, 0x02 };
	struct graph_fixture *f = *state;
	const uint32_t a = graph_unit_of(f->graph, code, 16, HWTD_ISA_X86_64,
	    BASE);

	assert_int_equal(graph_unit_of(f->graph, code, 16, HWTD_ISA_X86_64,
			     0x7f0000000000),
	    a);
	assert_int_not_equal(graph_unit_of(f->graph, code, 15, HWTD_ISA_X86_64,
				 BASE),
	    a);
	assert_int_not_equal(graph_unit_of(f->graph, code, 16, HWTD_ISA_X86_32,
				 BASE),
	    a);
	/* What branches of 16- and 32-bit code cut off depends on it. */
	assert_int_not_equal(graph_unit_of(f->graph, code, 16, HWTD_ISA_X86_32,
				 BASE),
	    graph_unit_of(f->graph, code, 16, HWTD_ISA_X86_32, 2 * BASE));
	assert_int_equal(graph_node_at(f->graph, a, 0),
	    graph_node_at(f->graph, a, 0));
}

static void
branches_of_narrow_code_stay_in_it(void **state)
{
	static const uint8_t code[16] = { 0xe9, 0, 0, 0, 0xff };
	struct graph_fixture *f = *state;
	const uint32_t unit = graph_unit_of(f->graph, code, 16,
	    HWTD_ISA_X86_32, 0x1000);
	const struct hwtdi_code_block *b;

	b = hwtdi_graph_block(f->graph, graph_node_at(f->graph, unit, 0));
	assert_int_equal(0x1000 + b->target, 0xff001005);
}

static void
an_instruction_in_pieces_is_a_unit_of_its_own(void **state)
{
	static const uint8_t jump[] = { 0xe9, 0x10, 0, 0, 0 };
	struct graph_fixture *f = *state;
	uint8_t copy[sizeof(jump)];
	uint32_t a = 0, b = 1;

	memcpy(copy, jump, sizeof(jump));
	assert_int_equal(hwtdi_graph_joint(f->graph, jump, 5, HWTD_ISA_X86_64,
			     BASE, &a, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_graph_joint(f->graph, copy, 5, HWTD_ISA_X86_64,
			     BASE + 1, &b, NULL),
	    HWTD_OK);
	assert_int_equal(a, b);
	/* Its bytes are copied. */
	memset(copy, 0, sizeof(copy));
	assert_int_equal(
	    hwtdi_graph_block(f->graph, graph_node_at(f->graph, b, 0))->target,
	    0x15);
}

static void
parts_are_the_first_instructions_of_a_node(void **state)
{
	/* nop; jmp 5; .. 5: nop; nop; jne 0 */
	static const uint8_t code[16] = { 0x90, 0xeb, 0x02, 0, 0, 0x90, 0x90,
		0x75, 0xf7 };
	struct graph_fixture *f = *state;
	const uint32_t node = node_of(f, code, sizeof(code), 0);
	const struct hwtdi_code_block *b;
	uint32_t part = 0, again = 0;

	assert_int_equal(graph_see(f->graph, node)->insns, 5);
	for (uint32_t insns = 1; insns < 5; insns++) {
		assert_int_equal(hwtdi_graph_part(f->graph, node, insns, &part,
				     NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_graph_part(f->graph, node, insns,
				     &again, NULL),
		    HWTD_OK);
		assert_int_equal(part, again);
		assert_int_equal(graph_see(f->graph, part)->insns, insns);
		b = hwtdi_graph_block(f->graph, part);
		assert_int_equal(b->n_runs, insns <= 2 ? 1 : 2);
		assert_int_equal(b->runs[b->n_runs - 1].branch,
		    insns == 2 ? HWTD_BRANCH_JUMP : HWTD_BRANCH_NONE);
	}
	b = hwtdi_graph_block(f->graph, part);
	assert_int_equal(b->runs[1].off, 5);
	assert_int_equal(b->runs[1].bytes, 2);
	assert_int_equal(hwtdi_run_last(&b->runs[1]), 6);
	assert_int_equal(hwtdi_graph_part(f->graph, node, 5, &part, NULL),
	    HWTD_OK);
	assert_int_equal(part, node);
}

#define MANY 40000u

/* jne +0, many times: each byte pair is a node. */
static uint8_t *
many_branches(void)
{
	uint8_t *code = calloc(MANY, 1);

	assert_non_null(code);
	for (uint32_t i = 0; i < MANY; i += 2)
		code[i] = 0x75;
	return (code);
}

static void
long_code_without_branches_is_cut_in_pieces(void **state)
{
	struct graph_fixture *f = *state;
	uint8_t *code = malloc(MANY);
	uint32_t unit, node, next = 1, off = 0;
	size_t bytes;

	assert_non_null(code);
	memset(code, 0x90, MANY);
	unit = graph_unit_of(f->graph, code, MANY, HWTD_ISA_X86_64, BASE);
	node = graph_node_at(f->graph, unit, 0);
	while (graph_see(f->graph, node)->kind == HWTDI_NODE_ON) {
		assert_int_equal(hwtdi_graph_block(f->graph, node)->off, off);
		off += graph_see(f->graph, node)->insns;
		assert_int_equal(hwtdi_graph_link(f->graph, node, 0, &next,
				     NULL),
		    HWTD_OK);
		node = next;
	}
	assert_int_equal(graph_see(f->graph, node)->kind, HWTDI_NODE_AWAY);
	assert_int_equal(off + graph_see(f->graph, node)->insns, MANY);
	/* Wherever it is entered, little is kept for it. */
	bytes = hwtdi_graph_bytes(f->graph);
	for (uint32_t i = 1; i < 1000; i++)
		(void)graph_node_at(f->graph, unit, i);
	assert_true(hwtdi_graph_bytes(f->graph) - bytes < 1000 * 400);
	hwtdi_graph_drop(f->graph);
	assert_int_equal(hwtdi_graph_create(f->library, &f->graph, NULL),
	    HWTD_OK);
	free(code);
}

static void
what_was_seen_before_stays_readable_when_arrays_grow(void **state)
{
	struct graph_fixture *f = *state;
	uint8_t *code = many_branches();
	uint32_t unit = graph_unit_of(f->graph, code, MANY, HWTD_ISA_X86_64,
	    BASE);
	uint32_t first = graph_node_at(f->graph, unit, 0), next = 0;
	struct hwtdi_graph_view old;

	hwtdi_graph_see(f->graph, &old);
	for (uint32_t off = 2; off < MANY; off += 2)
		(void)graph_node_at(f->graph, unit, off);
	assert_int_equal(old.nodes[first].kind, HWTDI_NODE_COND);
	assert_int_equal(hwtdi_graph_link(f->graph, first, 0, &next, NULL),
	    HWTD_OK);
	/* A link that is found later is only in the new arrays. */
	assert_int_equal(old.nodes[first].next[0], 0);
	assert_int_equal(graph_see(f->graph, first)->next[0], next);
	hwtdi_graph_drop(f->graph);
	assert_int_equal(hwtdi_graph_create(f->library, &f->graph, NULL),
	    HWTD_OK);
	free(code);
}

struct walker {
	struct hwtdi_code_graph *graph;
	uint32_t unit;
	uint32_t first;
	uint64_t sum;
	pthread_t thread;
};

static void *
walk(void *arg)
{
	struct walker *w = arg;
	struct hwtdi_graph_view view;
	uint32_t node = w->first, next;

	hwtdi_graph_see(w->graph, &view);
	for (uint32_t steps = 0; steps + 2 < MANY / 2; steps++) {
		w->sum += hwtdi_graph_block(w->graph, node)->off;
		next = atomic_load_explicit(&view.nodes[node].next[0],
		    memory_order_acquire);
		if (next == 0) {
			if (hwtdi_graph_link(w->graph, node, 0, &next, NULL) !=
			    HWTD_OK)
				break;
			hwtdi_graph_see(w->graph, &view);
		}
		node = next;
	}
	return (NULL);
}

static void
threads_build_one_graph(void **state)
{
	struct graph_fixture *f = *state;
	uint8_t *code = many_branches();
	uint32_t unit = graph_unit_of(f->graph, code, MANY, HWTD_ISA_X86_64,
	    BASE);
	struct walker w[4];
	size_t bytes;

	for (size_t i = 0; i < 4; i++) {
		w[i] = (struct walker){ .graph = f->graph,
			.unit = unit,
			.first = graph_node_at(f->graph, unit, 0) };
		assert_int_equal(pthread_create(&w[i].thread, NULL, walk,
				     &w[i]),
		    0);
	}
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_join(w[i].thread, NULL), 0);
	for (size_t i = 1; i < 4; i++)
		assert_true(w[i].sum == w[0].sum);
	/* Each node was made once. */
	bytes = hwtdi_graph_bytes(f->graph);
	w[0].sum = 0;
	(void)walk(&w[0]);
	assert_true(w[0].sum == w[1].sum);
	assert_int_equal(hwtdi_graph_bytes(f->graph), bytes);
	hwtdi_graph_drop(f->graph);
	assert_int_equal(hwtdi_graph_create(f->library, &f->graph, NULL),
	    HWTD_OK);
	free(code);
}

/* All that a graph does; false: no memory, *rc says so. */
static bool
use_graph(struct hwtd_context *library, const uint8_t *code, int *rc)
{
	struct hwtdi_code_graph *graph = NULL;
	uint32_t unit = 0, joint = 0, node = 0, next = 0, part = 0;

	*rc = hwtdi_graph_create(library, &graph, NULL);
	if (*rc == HWTD_OK)
		*rc = hwtdi_graph_unit(graph, code, MANY, HWTD_ISA_X86_64,
		    BASE, &unit, NULL);
	if (*rc == HWTD_OK)
		*rc = hwtdi_graph_joint(graph, code, 2, HWTD_ISA_X86_64, BASE,
		    &joint, NULL);
	for (uint32_t off = 0; *rc == HWTD_OK && off < 6000; off += 2) {
		*rc = hwtdi_graph_node(graph, unit, off, &node, NULL);
		if (*rc == HWTD_OK)
			*rc = hwtdi_graph_link(graph, node, 0, &next, NULL);
		if (*rc == HWTD_OK)
			*rc = hwtdi_graph_part(graph, node, 1, &part, NULL);
	}
	hwtdi_graph_drop(graph);
	return (*rc == HWTD_OK);
}

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	struct failing_allocator memory;
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_context *library = NULL;
	uint8_t *code = many_branches();
	uint64_t now = 1, n = 1;
	int rc;

	(void)state;
	failing_allocator_init(&memory);
	opts.allocator = &memory.allocator;
	assert_int_equal(hwtd_context_create(&opts, &library, NULL), HWTD_OK);
	for (;; n++) {
		bool good;

		failing_allocator_arm(&memory, n, n % 2 == 0);
		good = use_graph(library, code, &rc);
		failing_allocator_arm(&memory, 0, false);
		hwtd_context_memory(library, &now, NULL);
		assert_int_equal(now, 0);
		if (good)
			break;
		assert_int_equal(rc, HWTD_E_NOMEM);
	}
	assert_true(n > 10);
	hwtd_context_destroy(library);
	free(code);
}

/* Plain instructions are passed many at a time: the last one counts. */
static void
plain_instructions_bind_nothing(void **state)
{
	/* MWAIT, MOV, NOP, and what is none in 64-bit code. */
	static const uint8_t bytes[40] = { 0x0f, 0x01, 0xc9, 0x48, 0x89, 0xd8,
		0x90, 0x06 };
	struct graph_fixture *f = *state;
	const uint32_t node = node_of(f, bytes, sizeof(bytes), 0);
	const struct hwtdi_code_block *b = hwtdi_graph_block(f->graph, node);

	assert_int_equal(graph_see(f->graph, node)->kind, HWTDI_NODE_BAD);
	assert_int_equal(graph_see(f->graph, node)->insns, 3);
	assert_int_equal(b->binds, 0);
	assert_int_equal(b->end, 7);
	assert_int_equal(b->n_runs, 1);
	assert_int_equal(b->runs[0].insns, 3);
	assert_int_equal(b->runs[0].bytes, 7);
	assert_int_equal(b->runs[0].to_last, 6);
	assert_int_equal(b->lengths[0], 3);
	assert_int_equal(b->lengths[1], 3);
	assert_int_equal(b->lengths[2], 1);
}

/* A node has as many of them as there is room for, and goes on. */
static void
nodes_of_plain_instructions_are_full(void **state)
{
	uint8_t bytes[HWTDI_BLOCK_INSNS + 40];
	struct graph_fixture *f = *state;
	uint32_t node, next = 0;

	memset(bytes, 0x90, sizeof(bytes));
	node = node_of(f, bytes, sizeof(bytes), 0);
	assert_int_equal(graph_see(f->graph, node)->kind, HWTDI_NODE_ON);
	assert_int_equal(graph_see(f->graph, node)->insns, HWTDI_BLOCK_INSNS);
	assert_int_equal(hwtdi_graph_block(f->graph, node)->end,
	    HWTDI_BLOCK_INSNS);
	assert_int_equal(hwtdi_graph_link(f->graph, node, 0, &next, NULL),
	    HWTD_OK);
	assert_int_equal(graph_see(f->graph, next)->kind, HWTDI_NODE_AWAY);
	assert_int_equal(graph_see(f->graph, next)->insns, 40);
	assert_int_equal(hwtdi_graph_block(f->graph, next)->end,
	    sizeof(bytes));
}

int
main(void)
{
#define TEST(name)                                                            \
	cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		TEST(superblocks_end_where_the_trace_has_to_speak),
		TEST(links_and_returns_are_found_once),
		TEST(the_same_bytes_are_one_unit_wherever_they_lie),
		TEST(branches_of_narrow_code_stay_in_it),
		TEST(an_instruction_in_pieces_is_a_unit_of_its_own),
		TEST(parts_are_the_first_instructions_of_a_node),
		TEST(long_code_without_branches_is_cut_in_pieces),
		TEST(what_was_seen_before_stays_readable_when_arrays_grow),
		TEST(threads_build_one_graph),
		TEST(plain_instructions_bind_nothing),
		TEST(nodes_of_plain_instructions_are_full),
		cmocka_unit_test(
		    each_refused_request_is_reported_and_leaks_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
