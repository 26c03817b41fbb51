/*
 * How often code was executed, by address: stretches of instructions and edges,
 * each once, with their counts.
 */
#ifndef HWTDI_CODE_COUNTS_H
#define HWTDI_CODE_COUNTS_H

#include <hwtdecode/runs.h>

#include "base/index.h"
#include "space/key_sort.h"

/* Instructions at consecutive addresses; at most the last is a branch. */
struct hwtdi_stretch {
	uint64_t ip;
	/* How often all of it was executed. */
	uint64_t count;
	/* Of each instruction; they stay as long as the counts. */
	const uint8_t *lengths;
	uint32_t insns;
	uint32_t bytes;
	uint32_t section;
	/* An hwtd_branch, and an hwtd_isa. */
	uint8_t branch;
	uint8_t isa;
	/* Of who makes runs of them: the next one that ends further on. */
	struct hwtdi_stretch *next;
};

struct hwtdi_length_chunk;

/* All zero but for `library`: empty. */
struct hwtdi_code_counts {
	struct hwtd_context *library;
	struct hwtdi_stretch *stretches;
	size_t n_stretches, cap_stretches;
	/* The first ones are in order, each once. */
	size_t n_sorted;
	/* Of those that were added, but not put. */
	struct hwtdi_index stretch_index;
	struct hwtd_edge *edges;
	size_t n_edges, cap_edges;
	struct hwtdi_index edge_index;
	/* Lengths of instructions, and how many. */
	struct hwtdi_length_chunk *chunks;
	size_t n_lengths;
};

void hwtdi_code_counts_fini(struct hwtdi_code_counts *c);
/* Give up all but the edges; nothing is to be added any more. */
void hwtdi_code_counts_keep_edges(struct hwtdi_code_counts *c);

/*
 * Add the count of a stretch; its lengths are copied.  It is looked up each time;
 * those that are put are put beside each other, which is cheap where few come
 * twice, and sorted when they have become many.  Of the same counts either the
 * one or the other.
 */
int hwtdi_code_counts_add(struct hwtdi_code_counts *c,
    const struct hwtdi_stretch *s, struct hwtd_error *err);
int hwtdi_code_counts_put(struct hwtdi_code_counts *c,
    const struct hwtdi_stretch *s, struct hwtd_error *err);

/* Have room for so many more that are put. */
int hwtdi_code_counts_reserve(struct hwtdi_code_counts *c, size_t n,
    struct hwtd_error *err);

/* Give back lengths that are of no stretch any more, if they are many. */
int hwtdi_code_counts_tidy(struct hwtdi_code_counts *c,
    struct hwtd_error *err);

/* Add the count of an edge; its number, if that is asked for. */
int hwtdi_code_counts_edge(struct hwtdi_code_counts *c,
    const struct hwtd_edge *e, size_t *no_out, struct hwtd_error *err);

/* Add what others counted. */
int hwtdi_code_counts_join(struct hwtdi_code_counts *to,
    const struct hwtdi_code_counts *from, struct hwtd_error *err);

/* code_sort.c */
/*
 * Have the stretches in order, each once: by section, instruction set, address,
 * and then content.
 */
int hwtdi_code_counts_sort(struct hwtdi_code_counts *c,
    struct hwtd_error *err);
/*
 * That order, of stretches that stay where they are, and equal ones are beside
 * each other.  To be freed with room for twice as many.
 */
int hwtdi_code_counts_order(const struct hwtdi_code_counts *c,
    struct hwtdi_keyed **order_out, struct hwtd_error *err);
/*
 * Put keys in order by way of `other`; equal ones stay in order.  The one of the
 * two where they are.
 */
struct hwtdi_keyed *hwtdi_code_sort_keys(struct hwtdi_keyed *keys,
    struct hwtdi_keyed *other, size_t n);

/* code_runs.c */
/*
 * Runs out of stretches, in order.  Afterwards the stretches are of no use but
 * to be given up.
 */
int hwtdi_code_runs(struct hwtdi_code_counts *c, struct hwtd_run **runs_out,
    size_t *n_out, size_t *cap_out, struct hwtd_error *err);

/* code_edges.c */
/*
 * Put the edges in order.  What went to an address whose section was not seen
 * joins what went there from the same place, if only one section is known.
 */
int hwtdi_code_edges(struct hwtdi_code_counts *c, struct hwtd_error *err);

#endif /* HWTDI_CODE_COUNTS_H */
