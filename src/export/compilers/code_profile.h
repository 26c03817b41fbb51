/*
 * What runs tell of one image, as profiles for compilers need it: ranges of code,
 * taken branches, and how execution went on from where a branch led.
 *
 * Addresses are those of the ELF file, so that counts of all processes, and of all
 * places where the image was loaded, add up.
 */
#ifndef HWTDI_CODE_PROFILE_H
#define HWTDI_CODE_PROFILE_H

#include <hwtdecode/compiler.h>

#include "trace/image_layout.h"

/* Instructions one behind the other, all executed equally often. */
struct hwtdi_code_range {
	uint64_t start;
	/* The last instruction: its first byte, and the byte behind it. */
	uint64_t last, end;
	uint64_t count;
	/* What it is, and an hwtd_isa. */
	uint8_t branch;
	uint8_t isa;
};

/* Where a branch is, or leads. */
enum hwtdi_code_side {
	/* In the image. */
	HWTDI_CODE_INSIDE = 0,
	/* In another one, or nobody knows where. */
	HWTDI_CODE_ELSEWHERE = 1
};

/* A branch that was taken; an address elsewhere is 0. */
struct hwtdi_code_branch {
	uint64_t from, to;
	uint64_t count;
	uint8_t from_side, to_side;
	/* An hwtd_branch. */
	uint8_t branch;
};

/* How execution came to where a flow begins. */
enum hwtdi_flow_origin {
	/* By the branch at `from`. */
	HWTDI_FLOW_BRANCH = 0,
	HWTDI_FLOW_RETURN = 1,
	/* By a branch that is elsewhere. */
	HWTDI_FLOW_FROM_ELSEWHERE = 2,
	HWTDI_FLOW_RETURN_FROM_ELSEWHERE = 3,
	/* Nobody knows: tracing went on there, or a gap ended. */
	HWTDI_FLOW_UNKNOWN = 4
};

/*
 * From `to` on one instruction behind the other up to `last`, which was taken, or
 * behind which nothing is known.  Counts of branches say how often a way was gone
 * only where it cannot be another; else some way is told that all counts allow.
 */
struct hwtdi_code_flow {
	uint64_t from, to, last;
	uint64_t count;
	/* An hwtdi_flow_origin. */
	uint8_t origin;
	/* Nothing at `to` is known to have run: `last` is not known. */
	bool bare;
};

/* All zero: empty. */
struct hwtdi_code_profile {
	struct hwtd_context *ctx;
	uint32_t image;
	struct hwtdi_image_layout layout;
	/* By address, each once. */
	struct hwtdi_code_range *ranges;
	size_t n_ranges, cap_ranges;
	/* Taken: by `from`, `to` and sides, each once; those of kernels not. */
	struct hwtdi_code_branch *branches;
	size_t n_branches, cap_branches;
	/* By origin and addresses, each once; if they were asked for. */
	struct hwtdi_code_flow *flows;
	size_t n_flows, cap_flows;
	struct hwtd_compiler_info info;
};

/*
 * Of runs that were counted to the end, with edges.  `image` HWTD_NO_ID: the
 * program that executed most instructions.
 *
 * HWTD_E_NOT_FOUND (nothing of the image was executed, or its file is not there),
 * HWTD_E_UNSUPPORTED, HWTD_E_CORRUPT (its file), HWTD_E_NOMEM.
 */
int hwtdi_code_profile_init(struct hwtdi_code_profile *profile,
    const struct hwtd_runs *runs, uint32_t image, bool with_flows,
    struct hwtd_error *err);
void hwtdi_code_profile_fini(struct hwtdi_code_profile *profile);

/*
 * Of flows keep only where they begin and end: of origin UNKNOWN, and with `outside`
 * those behind a return or from elsewhere of origin FROM_ELSEWHERE.
 */
void hwtdi_code_profile_forget_origins(struct hwtdi_code_profile *profile,
    bool outside);

/* Sums stay at the largest number rather than begin anew. */
static inline uint64_t
hwtdi_sum(uint64_t a, uint64_t b)
{
	return (b > UINT64_MAX - a ? UINT64_MAX : a + b);
}

static inline uint64_t
hwtdi_product(uint64_t a, uint64_t b)
{
	return (b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b);
}

#endif /* HWTDI_CODE_PROFILE_H */
