/*
 * Code that a thread executed, as it is compared with that of another trace, and
 * how two such sequences are brought together.
 */
#ifndef HWTDI_FLOW_BLOCK_H
#define HWTDI_FLOW_BLOCK_H

#include <hwtdecode/divergence.h>

#include "base/library.h"

enum hwtdi_flow_kind {
	HWTDI_FLOW_CODE,
	/* Code of an image that cannot be compared: all up to another one. */
	HWTDI_FLOW_FOREIGN,
	HWTDI_FLOW_GAP
};

/* A gap, an interrupt, or where the trace begins or ends, may have a part of it. */
#define HWTDI_FLOW_CUT_BEGIN 0x1u
#define HWTDI_FLOW_CUT_END 0x2u

struct hwtdi_flow_block {
	/* An hwtdi_flow_kind. */
	uint32_t kind;
	/* HWTDI_FLOW_CUT_* bits. */
	uint32_t cut;
	/* `image`, `file_off`, `bytes` and the ISA say what it is. */
	struct hwtd_flow_block told;
};

/* The same code, or of the same image; never gaps. */
bool hwtdi_flow_same(const struct hwtdi_flow_block *a,
    const struct hwtdi_flow_block *b);

/* Where the begin of one sequence is in another one. */
struct hwtdi_flow_fit {
	/* Blocks of `y` before, and how many are the same from there on. */
	size_t at, n;
	/* As many are the same elsewhere, too. */
	bool ambiguous;
};

/*
 * The place in y[0, n_y) that is the same as x[0, n_x) the longest, the first of
 * them.  O(n_x + n_y); `scratch` has room for n_x numbers.
 */
struct hwtdi_flow_fit hwtdi_flow_fit(const struct hwtdi_flow_block *x,
    size_t n_x, const struct hwtdi_flow_block *y, size_t n_y, size_t *scratch);

/*
 * The nearest places from which on `n` blocks are the same: those with the least
 * sum of *i_out and *j_out.  False: there are none.  `scratch` has room for
 * hwtdi_flow_meet_room() numbers.  The seed keeps who chose the code from making
 * it blind.
 */
bool hwtdi_flow_meet(const struct hwtdi_flow_block *x, size_t n_x,
    const struct hwtdi_flow_block *y, size_t n_y, size_t n, uint64_t seed,
    size_t *scratch, size_t *i_out, size_t *j_out);
size_t hwtdi_flow_meet_room(size_t n_x);

#endif /* HWTDI_FLOW_BLOCK_H */
