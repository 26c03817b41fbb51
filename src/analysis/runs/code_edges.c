/*
 * Edges in order.
 */
#include "analysis/runs/code_counts.h"
#include "base/fail.h"

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

/* Of the same addresses.  An unknown section is the last. */
static int
by_kind(const struct hwtd_edge *a, const struct hwtd_edge *b)
{
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

/* By addresses: that where they go to, and then, of the same, that from where. */
static struct hwtdi_keyed *
sort_addresses(const struct hwtd_edge *edges, struct hwtdi_keyed *keys,
    size_t n)
{
	struct hwtdi_keyed *sorted;

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct hwtdi_keyed){ edges[i].to, i };
	sorted = hwtdi_code_sort_keys(keys, keys + n, n);
	for (size_t i = 0; i < n; i++)
		sorted[i].key = edges[sorted[i].index].from;
	return (hwtdi_code_sort_keys(sorted, sorted == keys ? keys + n : keys,
	    n));
}

static int
sort_edges(struct hwtdi_code_counts *c, struct hwtd_error *err)
{
	const size_t n = c->n_edges,
		     bytes = 2 * n * sizeof(struct hwtdi_keyed);
	struct hwtdi_keyed *keys = hwtdi_alloc(c->library, bytes);
	struct hwtd_edge *edges = hwtdi_alloc(c->library, n * sizeof(*edges));
	const struct hwtdi_keyed *sorted;

	if (keys == NULL || edges == NULL) {
		hwtdi_free(c->library, keys, bytes);
		hwtdi_free(c->library, edges, n * sizeof(*edges));
		return (hwtdi_fail_nomem(err, bytes));
	}
	sorted = sort_addresses(c->edges, keys, n);
	for (size_t i = 0; i < n; i++) {
		const struct hwtd_edge *e = &c->edges[sorted[i].index];
		size_t k = i;

		/* Those with the same addresses are few. */
		for (; k > 0 && edges[k - 1].from == e->from &&
		     edges[k - 1].to == e->to && by_kind(&edges[k - 1], e) > 0;
		     k--)
			edges[k] = edges[k - 1];
		edges[k] = *e;
	}
	hwtdi_free(c->library, keys, bytes);
	hwtdi_array_free(c->library, c->edges, c->cap_edges, sizeof(*edges));
	c->edges = edges;
	c->cap_edges = n;
	return (HWTD_OK);
}

int
hwtdi_code_edges(struct hwtdi_code_counts *c, struct hwtd_error *err)
{
	struct hwtd_edge *edges;
	size_t n = 0, first = 0;
	int rc = c->n_edges > 1 ? sort_edges(c, err) : HWTD_OK;

	if (rc != HWTD_OK)
		return (rc);
	edges = c->edges;
	for (size_t i = 0; i < c->n_edges; i++) {
		if (n == 0 || !same_ends(&edges[n - 1], &edges[i]))
			first = n;
		if (edges[i].to_section == HWTD_NO_ID && n == first + 1)
			edges[first].count += edges[i].count;
		else
			edges[n++] = edges[i];
	}
	c->n_edges = n;
	return (HWTD_OK);
}
