/*
 * A program of branches, and runs of it: what they execute is known because a model
 * runs it, and told by packets of Intel PT.
 */
#ifndef TEST_BRANCH_PROGRAM_H
#define TEST_BRANCH_PROGRAM_H

#include "support/memory_trace.h"

/*
 * A program of nodes of 16 bytes.  Those that are not jumps have a conditional
 * branch of 6 bytes, and nop behind that.  Every fifth one leads to a detour of
 * three blocks, which ends behind the branch.
 */
#define BP_NODES 40u
#define BP_NODE_BYTES 16u
#define BP_DETOURS (BP_NODES * BP_NODE_BYTES)
#define BP_DETOUR_BYTES 16u
#define BP_CODE_BYTES (BP_DETOURS + BP_NODES * BP_DETOUR_BYTES)
#define BP_COND_BYTES 6u
#define BP_MOST_BLOCKS 40000u

struct branch_block {
	uint32_t start, end;
};

/* What a run does. */
struct branch_plan {
	uint64_t seed;
	/* Branches, with those of detours not counted. */
	uint32_t steps;
	/* The branch that goes elsewhere; UINT32_MAX: none. */
	uint32_t flip;
	/* One of so many branches to a detour takes it; 0: none does. */
	uint32_t detour_of;
	/* Of branches [gap, gap_end) packets are lost. */
	uint32_t gap, gap_end;
	uint64_t base;
};

struct branch_run {
	struct branch_block blocks[BP_MOST_BLOCKS];
	size_t n;
	/* Blocks that lie in the gap, [lost, lost_end). */
	size_t lost, lost_end;
	struct pt_packets packets;
	/* Outcomes that wait for a packet. */
	char tnt[7];
	size_t n_tnt;
	bool dark;
};

void bp_code(uint8_t code[BP_CODE_BYTES]);

/* Its packets are the caller's to free. */
void bp_run(struct branch_run *r, const struct branch_plan *plan);

/* A sealed trace of a run: of an image of this name and code; of "prog". */
struct hwtd_trace *bp_trace_in(struct hwtd_context *ctx,
    const struct branch_run *r, uint64_t base, const char *name,
    const uint8_t code[BP_CODE_BYTES]);
struct hwtd_trace *bp_trace(const struct branch_run *r,
    const struct branch_plan *plan);

#endif /* TEST_BRANCH_PROGRAM_H */
