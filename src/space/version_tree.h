/*
 * A map from addresses to numbers, of which every earlier version stays
 * readable: a balanced tree that copies the path it changes.
 */
#ifndef HWTDI_VERSION_TREE_H
#define HWTDI_VERSION_TREE_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* From `first` on, up to the next node, the map says `value`. */
struct hwtdi_version_node {
	uint64_t first;
	uint32_t value;
	uint32_t left;
	uint32_t right;
	uint32_t height;
};

/*
 * The nodes of all versions of all maps.  A version is the number of its root
 * node; version 0 says 0 everywhere.  All zero: no nodes yet.
 */
struct hwtdi_version_tree {
	struct hwtdi_version_node **chunks;
	size_t n_chunks;
	size_t cap_chunks;
	/* Nodes in use; nodes below `frozen` belong to finished versions. */
	uint32_t n;
	uint32_t frozen;
};

/* What a version says around an address. */
struct hwtdi_version_range {
	uint64_t first;
	uint64_t last;
	uint32_t value;
};

/*
 * Make room for one hwtdi_version_tree_set(), which then cannot fail.
 * HWTD_E_NOMEM, HWTD_E_LIMIT (2^32 nodes).
 */
int hwtdi_version_tree_reserve(struct hwtd_context *ctx,
    struct hwtdi_version_tree *tree, struct hwtd_error *err);

/*
 * The version that says `value` in [first, last] and elsewhere what `root`
 * says.  O(log n) time and nodes, n being the number of ranges in `root`.
 */
uint32_t hwtdi_version_tree_set(struct hwtdi_version_tree *tree, uint32_t root,
    uint64_t first, uint64_t last, uint32_t value);

/* O(log n). */
struct hwtdi_version_range hwtdi_version_tree_find(
    const struct hwtdi_version_tree *tree, uint32_t root, uint64_t address);

void hwtdi_version_tree_fini(struct hwtd_context *ctx,
    struct hwtdi_version_tree *tree);

#endif /* HWTDI_VERSION_TREE_H */
