/*
 * Branches of an image and the edges from them.
 */
#include <stdlib.h>

#include "analysis/coverage/coverage_sums.h"
#include "base/sort.h"

/* Where a branch without a jump goes on. */
static uint64_t
behind(const struct hwtdi_cov_site *site)
{
	return (site->off + site->length);
}

static void
count_ways(struct hwtdi_cov_way *way, uint32_t image)
{
	way->taken = way->not_taken = 0;
	for (size_t i = 0; i < way->n_edges; i++) {
		const struct hwtdi_cov_edge *e = &way->edges[i];

		if (e->to_image == image && e->to == behind(way->site))
			way->not_taken = hwtdi_cov_sum(way->not_taken,
			    e->count);
		else
			way->taken = hwtdi_cov_sum(way->taken, e->count);
	}
}

bool
hwtdi_cov_ways_next(struct hwtdi_cov_ways *ways, struct hwtdi_cov_way *out)
{
	const struct hwtdi_cov_count *counts;
	const struct hwtdi_cov_site *sites;
	const struct hwtdi_cov_edge *edges;
	size_t n_sites, n_edges, n_counts, end;

	sites = hwtdi_cov_list(ways->store, ways->image, HWTDI_COV_SITES,
	    &n_sites);
	edges = hwtdi_cov_list(ways->store, ways->image, HWTDI_COV_EDGES,
	    &n_edges);
	counts = hwtdi_cov_list(ways->store, ways->image, HWTDI_COV_COUNTS,
	    &n_counts);
	if (ways->site == n_sites)
		return (false);
	out->site = &sites[ways->site++];
	while (ways->edge < n_edges && edges[ways->edge].from < out->site->off)
		ways->edge++;
	end = ways->edge;
	while (end < n_edges && edges[end].from == out->site->off)
		end++;
	out->edges = end != ways->edge ? edges + ways->edge : NULL;
	out->n_edges = end - ways->edge;
	ways->edge = end;
	out->reached = out->n_edges != 0 ||
	    hwtdi_cov_count_at(counts, n_counts, out->site->off) != 0;
	count_ways(out, ways->image);
	return (true);
}

struct hwtd_coverage_share
hwtdi_cov_way_share(const struct hwtdi_cov_way *way)
{
	struct hwtd_coverage_share share = { 0, 0 };

	switch (way->site->branch) {
	case HWTD_BRANCH_CONDITIONAL:
		share.total = 2;
		share.hit = (way->taken != 0) + (way->not_taken != 0);
		break;
	case HWTD_BRANCH_JUMP:
	case HWTD_BRANCH_CALL:
		share.total = 1;
		share.hit = way->n_edges != 0;
		break;
	default:
		break;
	}
	return (share);
}

/* What the code says of where it leads: up to two places in the image. */
static size_t
known_ways(const struct hwtdi_cov_site *site, uint64_t to[2])
{
	size_t n = 0;

	if (site->branch != HWTD_BRANCH_CONDITIONAL &&
	    site->branch != HWTD_BRANCH_JUMP &&
	    site->branch != HWTD_BRANCH_CALL)
		return (0);
	if (site->is_direct)
		to[n++] = site->to;
	if (site->branch == HWTD_BRANCH_CONDITIONAL &&
	    (n == 0 || behind(site) != to[0]))
		to[n++] = behind(site);
	return (n);
}

static bool
was_seen(const struct hwtdi_cov_way *way, uint32_t image, uint64_t to)
{
	for (size_t i = 0; i < way->n_edges; i++)
		if (way->edges[i].to_image == image && way->edges[i].to == to)
			return (true);
	return (false);
}

uint64_t
hwtdi_cov_way_rows(const struct hwtdi_cov_way *way, uint32_t image)
{
	uint64_t to[2], n = way->n_edges;
	const size_t n_known = known_ways(way->site, to);

	for (size_t i = 0; i < n_known; i++)
		n += !was_seen(way, image, to[i]);
	return (n);
}

static int
add_rows(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_way *way,
    uint32_t image, struct hwtd_error *err)
{
	uint64_t to[2];
	const size_t n_known = known_ways(way->site, to);
	const bool is_known = hwtdi_cov_way_share(way).total != 0;
	struct hwtd_coverage_edge row = { .from = way->site->off,
		.from_image = sums->image_ranks[image],
		.branch = way->site->branch };
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < way->n_edges; i++) {
		const struct hwtdi_cov_edge *e = &way->edges[i];

		row.branch = e->branch;
		row.to = e->to;
		row.count = e->count;
		row.to_image = e->to_image != HWTD_NO_ID
		    ? sums->image_ranks[e->to_image]
		    : HWTD_NO_ID;
		row.flags = is_known ? HWTD_COVERAGE_EDGE_KNOWN : 0;
		rc = hwtdi_cov_table_add(&sums->edges, sums->library, &row,
		    sizeof(row), err);
	}
	for (size_t i = 0; rc == HWTD_OK && i < n_known; i++) {
		if (was_seen(way, image, to[i]))
			continue;
		row.branch = way->site->branch;
		row.to = to[i];
		row.count = 0;
		row.to_image = row.from_image;
		row.flags = HWTD_COVERAGE_EDGE_KNOWN;
		rc = hwtdi_cov_table_add(&sums->edges, sums->library, &row,
		    sizeof(row), err);
	}
	return (rc);
}

#define ORDER(field)                                                          \
	if (a->field != b->field)                                             \
	return (a->field < b->field ? -1 : 1)

static int
by_edge(const void *va, const void *vb)
{
	const struct hwtd_coverage_edge *a = va, *b = vb;

	ORDER(from_image);
	ORDER(from);
	ORDER(to_image);
	ORDER(to);
	ORDER(branch);
	return (0);
}

int
hwtdi_cov_sums_make_edges(struct hwtdi_cov_sums *sums,
    struct hwtdi_cov_store *store, struct hwtd_error *err)
{
	struct hwtdi_cov_way way;
	int rc = HWTD_OK;

	if (sums->has_edges)
		return (HWTD_OK);
	sums->edges.n = 0;
	for (uint32_t i = 0; rc == HWTD_OK && i < store->n_images; i++) {
		struct hwtdi_cov_ways ways = { .store = store, .image = i };

		while (rc == HWTD_OK && hwtdi_cov_ways_next(&ways, &way))
			rc = add_rows(sums, &way, i, err);
	}
	if (rc == HWTD_OK)
		rc = hwtdi_sort(sums->library, sums->edges.at, sums->edges.n,
		    sizeof(struct hwtd_coverage_edge), by_edge, err);
	sums->has_edges = rc == HWTD_OK;
	return (rc);
}
