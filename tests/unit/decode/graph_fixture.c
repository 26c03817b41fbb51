/*
 * A code graph for tests.
 */
#include "graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

int
graph_setup(void **state)
{
	struct graph_fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || hwtd_context_create(NULL, &f->library, NULL) != 0 ||
	    hwtdi_graph_create(f->library, &f->graph, NULL) != 0)
		return (-1);
	*state = f;
	return (0);
}

int
graph_teardown(void **state)
{
	struct graph_fixture *f = *state;
	uint64_t now = 1;

	hwtdi_graph_drop(f->graph);
	hwtd_context_memory(f->library, &now, NULL);
	hwtd_context_destroy(f->library);
	free(f);
	return (now == 0 ? 0 : -1);
}

uint32_t
graph_unit_of(struct hwtdi_code_graph *graph, const uint8_t *bytes, size_t n,
    uint8_t isa, uint64_t address)
{
	uint32_t unit = UINT32_MAX;

	assert_int_equal(hwtdi_graph_unit(graph, bytes, n, isa, address, &unit,
			     NULL),
	    HWTD_OK);
	return (unit);
}

uint32_t
graph_node_at(struct hwtdi_code_graph *graph, uint32_t unit, uint32_t off)
{
	uint32_t node = 0;

	assert_int_equal(hwtdi_graph_node(graph, unit, off, &node, NULL),
	    HWTD_OK);
	assert_int_not_equal(node, 0);
	return (node);
}

const struct hwtdi_node *
graph_see(struct hwtdi_code_graph *graph, uint32_t node)
{
	struct hwtdi_graph_view view;

	hwtdi_graph_see(graph, &view);
	return (&view.nodes[node]);
}
