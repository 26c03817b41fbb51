/*
 * A profile in the order of its contents: what readers tell.
 */
#ifndef HWTDI_PROFILE_ORDER_H
#define HWTDI_PROFILE_ORDER_H

#include "analysis/profile/profile_store.h"

/* Numbers of arrival in order, and the place of each in it. */
struct hwtdi_profile_list {
	uint32_t *at, *ranks;
	size_t n;
};

struct hwtdi_profile_table {
	struct hwtd_profile_row *rows;
	size_t n, cap;
	bool made;
};

struct hwtdi_profile_relatives {
	struct hwtd_profile_relative *at;
	size_t n, cap;
	struct hwtdi_index index;
	uint32_t function, side;
	bool made;
};

struct hwtdi_profile_order {
	/* By number - 1; none: UINT32_MAX. */
	struct hwtdi_profile_list texts;
	struct hwtdi_profile_list images, functions, threads, lines;
	/* A node, then all below it. */
	struct hwtdi_profile_list nodes;
	struct hwtdi_profile_list blocks, edges;
	/* By number of arrival. */
	struct hwtd_profile_sums *totals;
	struct hwtd_profile_sums total;
	uint64_t idle_ns;
	/* Made when they are asked for. */
	struct hwtdi_profile_table tables[HWTD_PROFILE_BYS];
	struct hwtdi_profile_relatives relatives;
};

/* What is added in between ends, and all is in order.  As readers say. */
int hwtdi_profile_settle(struct hwtd_profile *p);
void hwtdi_profile_order_drop(struct hwtd_profile *p);

/* Blocks of the same code become one.  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_profile_order_blocks(struct hwtd_profile *p, struct hwtd_error *err);

/* The place of a number; HWTD_NO_ID stays what it is. */
static inline uint32_t
hwtdi_profile_rank(const struct hwtdi_profile_list *list, uint32_t no)
{
	return (no == HWTD_NO_ID ? HWTD_NO_ID : list->ranks[no]);
}

/* By what they are, not by number; HWTD_NO_ID is behind all others. */
int hwtdi_profile_compare_functions(const struct hwtd_profile *p, uint32_t a,
    uint32_t b);
int hwtdi_profile_compare_lines(const struct hwtd_profile *p, uint32_t a,
    uint32_t b);

/* Calls of one node in another one between the same two count once. */
struct hwtdi_profile_path {
	/* By depth: a number of arrival. */
	uint32_t *at;
	size_t n, cap;
};

/*
 * The path to a node that is visited in order; what is left is told first.
 * HWTD_E_NOMEM.
 */
int hwtdi_profile_path_to(struct hwtd_profile *p,
    struct hwtdi_profile_path *path, uint32_t node,
    void (*left)(void *arg, uint32_t node), void *arg, struct hwtd_error *err);

#endif /* HWTDI_PROFILE_ORDER_H */
