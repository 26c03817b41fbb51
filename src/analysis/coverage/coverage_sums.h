/*
 * What a coverage says: tables made of what it keeps, in an order by content.
 */
#ifndef HWTDI_COVERAGE_SUMS_H
#define HWTDI_COVERAGE_SUMS_H

#include "analysis/coverage/coverage_store.h"

/* Entries, and room. */
struct hwtdi_cov_table {
	void *at;
	size_t n, cap;
};

struct hwtdi_cov_sums {
	struct hwtd_context *library;
	/* All but `edges` are made. */
	bool made, has_edges;
	struct hwtd_coverage_info info;
	struct hwtdi_cov_table images, files, functions, lines, branches;
	struct hwtdi_cov_table edges;
	/* By number in the store: index in `images`. */
	uint32_t *image_ranks;
	size_t n_image_ranks;
	/* By text: its place among all; and index in `files`, or NO_ID. */
	uint32_t *text_ranks, *file_ranks;
	size_t n_texts;
};

/* HWTD_E_NOMEM: nothing is made.  The store gets tidy. */
int hwtdi_cov_sums_make(struct hwtdi_cov_sums *sums,
    struct hwtdi_cov_store *store, struct hwtd_error *err);
/* The edges besides. */
int hwtdi_cov_sums_make_edges(struct hwtdi_cov_sums *sums,
    struct hwtdi_cov_store *store, struct hwtd_error *err);
void hwtdi_cov_sums_fini(struct hwtdi_cov_sums *sums);

/* Add an entry to a table. */
int hwtdi_cov_table_add(struct hwtdi_cov_table *table,
    struct hwtd_context *library, const void *entry, size_t size,
    struct hwtd_error *err);

/* The row of an image of the store. */
struct hwtd_coverage_image *hwtdi_cov_image_row(
    const struct hwtdi_cov_sums *sums, uint32_t image);

/* coverage_functions.c */
int hwtdi_cov_make_functions(struct hwtdi_cov_sums *sums,
    const struct hwtdi_cov_store *store, struct hwtd_error *err);

/* coverage_edges.c */

/* A branch and the edges from it. */
struct hwtdi_cov_way {
	const struct hwtdi_cov_site *site;
	const struct hwtdi_cov_edge *edges;
	size_t n_edges;
	/* Of one with a condition. */
	uint64_t taken, not_taken;
	/* The instruction ran. */
	bool reached;
};

/* All branches of an image; begin with all zero but `store` and `image`. */
struct hwtdi_cov_ways {
	const struct hwtdi_cov_store *store;
	uint32_t image;
	size_t site, edge;
};

/* The next one, by place; false: there are no more. */
bool hwtdi_cov_ways_next(struct hwtdi_cov_ways *ways,
    struct hwtdi_cov_way *out);

/* How many edges of a branch there could be, and were. */
struct hwtd_coverage_share hwtdi_cov_way_share(const struct hwtdi_cov_way
	*way);

/* How many rows of edges it has. */
uint64_t hwtdi_cov_way_rows(const struct hwtdi_cov_way *way, uint32_t image);

#endif /* HWTDI_COVERAGE_SUMS_H */
