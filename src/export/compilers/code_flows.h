/*
 * How execution went on from where branches led: counts of pieces of code and of
 * edges, made into ways that were gone.
 */
#ifndef HWTDI_CODE_FLOWS_H
#define HWTDI_CODE_FLOWS_H

#include "export/compilers/code_profile.h"

/* A piece of code where it was loaded: its addresses there are `bias` higher. */
struct hwtdi_code_piece {
	struct hwtdi_code_range code;
	uint64_t bias;
	/* How often the branch at its end was not taken. */
	uint64_t not_taken;
};

/* A taken branch; `bias` is that of where it leads to. */
struct hwtdi_code_edge {
	struct hwtdi_code_branch branch;
	uint64_t bias;
};

struct hwtdi_code_pieces {
	/* By bias and address. */
	struct hwtdi_code_piece *pieces;
	size_t n_pieces, cap_pieces;
	/* In any order; they are put in one. */
	struct hwtdi_code_edge *edges;
	size_t n_edges, cap_edges;
};

/*
 * Put branches, and flows if they are wanted, into a profile, in any order.
 * Returns from interrupts and the like are branches only where execution had not
 * been before: a signal that is handled, for instance.
 */
int hwtdi_code_flows_make(struct hwtdi_code_profile *profile,
    struct hwtdi_code_pieces *code, bool with_flows, struct hwtd_error *err);

#endif /* HWTDI_CODE_FLOWS_H */
