/*
 * Edges in order.
 */
#include <stdlib.h>

#include "analysis/code_counts.h"

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

/* An unknown section is the last. */
static int
by_place(const void *x, const void *y)
{
	const struct hwtd_edge *a = x, *b = y;

	ORDER(a->from, b->from);
	ORDER(a->to, b->to);
	ORDER(a->from_section, b->from_section);
	ORDER(a->branch, b->branch);
	ORDER(a->to_section, b->to_section);
	return (0);
}

static bool
same_ends(const struct hwtd_edge *a, const struct hwtd_edge *b)
{
	return (a->from == b->from && a->to == b->to &&
	    a->from_section == b->from_section && a->branch == b->branch);
}

void
hwtdi_code_edges(struct hwtdi_code_counts *c)
{
	struct hwtd_edge *edges = c->edges;
	size_t n = 0, first = 0;

	if (c->n_edges > 1)
		qsort(edges, c->n_edges, sizeof(*edges), by_place);
	for (size_t i = 0; i < c->n_edges; i++) {
		if (n == 0 || !same_ends(&edges[n - 1], &edges[i]))
			first = n;
		if (edges[i].to_section == HWTD_NO_ID && n == first + 1)
			edges[first].count += edges[i].count;
		else
			edges[n++] = edges[i];
	}
	c->n_edges = n;
}
