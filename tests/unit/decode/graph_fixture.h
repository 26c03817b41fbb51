/*
 * A code graph for tests, whose memory is all given back.
 */
#ifndef TESTS_GRAPH_FIXTURE_H
#define TESTS_GRAPH_FIXTURE_H

#include "decode/code/code_graph.h"

struct graph_fixture {
	struct hwtd_context *library;
	struct hwtdi_code_graph *graph;
};

/* For cmocka; the state is a graph_fixture. */
int graph_setup(void **state);
int graph_teardown(void **state);

uint32_t graph_unit_of(struct hwtdi_code_graph *graph, const uint8_t *bytes,
    size_t n, uint8_t isa, uint64_t address);
uint32_t graph_node_at(struct hwtdi_code_graph *graph, uint32_t unit,
    uint32_t off);
const struct hwtdi_node *graph_see(struct hwtdi_code_graph *graph,
    uint32_t node);

#endif /* TESTS_GRAPH_FIXTURE_H */
