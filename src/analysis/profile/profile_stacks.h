/*
 * The calls of one stack of a thread as a tree.
 *
 * They are no part of the profile before the stack is over: until then a caller of
 * all that ran so far may become known.
 */
#ifndef HWTDI_PROFILE_STACKS_H
#define HWTDI_PROFILE_STACKS_H

#include "analysis/profile/profile_store.h"

struct hwtdi_profile_tree_node {
	/* HWTD_NO_ID: it is around all others. */
	uint32_t parent;
	uint32_t function, type, flags;
	struct hwtd_profile_sums self;
};

/* A call that is not over, with what those that it made told of gaps. */
struct hwtdi_profile_open {
	uint32_t node;
	uint64_t gaps, gap_bytes;
};

struct hwtdi_profile_stack {
	/* As rows have it. */
	uint32_t id;
	bool used;
	struct hwtdi_profile_tree_node *nodes;
	size_t n_nodes, cap_nodes;
	struct hwtdi_index index;
	/* What is around all, and is no call yet; then those that are open. */
	struct hwtdi_profile_open base;
	struct hwtdi_profile_open *open;
	size_t n_open, cap_open;
};

/* HWTD_E_NOMEM. */
int hwtdi_profile_stack_begin(struct hwtdi_profile_stack *s,
    struct hwtd_profile *p, uint32_t id, struct hwtd_error *err);

/*
 * A call began; `around`: it turns out to be around all there was.  Of `node` only
 * function and type count.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_profile_stack_enter(struct hwtdi_profile_stack *s,
    struct hwtd_profile *p, const struct hwtdi_profile_tree_node *node,
    bool around, struct hwtd_error *err);

/*
 * The call that began last is over.  Gaps are those with all it called; `flags`
 * are HWTD_PROFILE_NODEF_* bits.
 */
void hwtdi_profile_stack_leave(struct hwtdi_profile_stack *s,
    const struct hwtd_profile_sums *sums, uint32_t flags);

/* Put all of it below node number `root` of the profile, and forget it. */
int hwtdi_profile_stack_end(struct hwtdi_profile_stack *s,
    struct hwtd_profile *p, uint32_t root, struct hwtd_error *err);

/*
 * The same while calls are open: those go on.  Callers of all are then none of
 * what there was.
 */
int hwtdi_profile_stack_spill(struct hwtdi_profile_stack *s,
    struct hwtd_profile *p, uint32_t root, struct hwtd_error *err);

void hwtdi_profile_stack_fini(struct hwtdi_profile_stack *s,
    struct hwtd_context *library);

#endif /* HWTDI_PROFILE_STACKS_H */
