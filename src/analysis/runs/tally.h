/*
 * A tally: counts the tokens of one decoder, and turns counts of tokens into
 * counts of code while it is known what they stand for and where it lies.
 */
#ifndef HWTDI_TALLY_H
#define HWTDI_TALLY_H

#include "analysis/runs/code_counts.h"
#include "event/maker.h"

/* Where a unit of the code graph lies. */
struct hwtdi_tally_place {
	uint64_t address;
	uint32_t section;
	uint8_t isa;
	bool known;
};

/* How often execution went on at the nodes that a node is linked to. */
struct hwtdi_tally_links {
	uint64_t n[2];
};

/* The nodes that a run begins and ends with. */
struct hwtdi_tally_ends {
	uint32_t first, last;
};

/* The edge from a node to another that it has no link to. */
struct hwtdi_tally_pair {
	uint32_t from, to;
	size_t edge;
};

/* Pairs that are remembered at first and at the most, as powers of 2. */
#define HWTDI_TALLY_FIRST_PAIRS 9u
#define HWTDI_TALLY_MOST_PAIRS 14u

/* A counter of what did not come: that it does is seen by the sum that is 0. */
#define HWTDI_TALLY_NONE UINT32_MAX

struct hwtdi_tally {
	struct hwtd_context *library;
	bool with_edges;
	struct hwtdi_code_counts code;

	/* What tokens are of, while a decoder is at work. */
	const struct hwtdi_engine *engine;
	const struct hwtdi_decoder *decoder;
	const struct hwtdi_code_graph *graph;
	struct hwtdi_graph_view view;
	struct hwtdi_tally_place *places;
	size_t cap_places;
	/* By token: how often it came, and HWTDI_TALLY_NONE. */
	uint32_t *counts;
	size_t cap_counts;
	/* Tokens counted since all became counts of code. */
	uint32_t n_counted;
	/* Tokens that came. */
	uint32_t *touched;
	size_t n_touched, cap_touched;
	/* By node. */
	struct hwtdi_tally_links *links;
	size_t cap_links;
	/* 2 to the power of `log_pairs`, or none yet. */
	struct hwtdi_tally_pair *pairs;
	uint8_t log_pairs;
	/* Pairs that were driven out since there are so many. */
	uint32_t driven_out;
	/* By run. */
	struct hwtdi_tally_ends *ends;
	size_t n_ends, cap_ends;

	/* The last branch, if where it went is still to come. */
	bool pending;
	struct hwtd_edge edge;
	/* Where it goes if nothing else is said. */
	bool has_target;
	uint64_t target;

	/* What a maker hands its flows to. */
	struct hwtdi_flow_sink sink;
};

void hwtdi_tally_init(struct hwtdi_tally *t, struct hwtd_context *library,
    bool with_edges);
void hwtdi_tally_fini(struct hwtdi_tally *t);

/* Have all that was counted in `code`. */
int hwtdi_tally_fold(struct hwtdi_tally *t, struct hwtd_error *err);

#endif /* HWTDI_TALLY_H */
