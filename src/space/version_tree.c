/*
 * A persistent AVL tree: parts of old versions are joined to new ones, and
 * only nodes that were made for the new version are written.
 */
#include "space/version_tree.h"

#include <string.h>

#include "base/fail.h"

/* One set copies a few nodes for each level of a tree, of at most 46. */
#define CHUNK 1024u

static struct hwtdi_version_node *
at(const struct hwtdi_version_tree *tree, uint32_t node)
{
	return (&tree->chunks[node / CHUNK][node % CHUNK]);
}

static uint32_t
height(const struct hwtdi_version_tree *tree, uint32_t node)
{
	return (node == 0 ? 0 : at(tree, node)->height);
}

int
hwtdi_version_tree_reserve(struct hwtd_context *ctx,
    struct hwtdi_version_tree *tree, struct hwtd_error *err)
{
	int rc;

	/* Node 0 is no node. */
	if (tree->n == 0)
		tree->n = 1;
	if (tree->n > UINT32_MAX - 2 * CHUNK)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "mappings change too often: more than 2^32 tree nodes"));
	while (tree->n_chunks < tree->n / CHUNK + 2) {
		struct hwtdi_version_node *chunk;

		rc = hwtdi_array_grow(ctx, &tree->chunks, &tree->cap_chunks,
		    tree->n_chunks + 1, sizeof(*tree->chunks), err);
		if (rc != HWTD_OK)
			return (rc);
		chunk = hwtdi_alloc(ctx, CHUNK * sizeof(*chunk));
		if (chunk == NULL)
			return (hwtdi_fail_nomem(err, CHUNK * sizeof(*chunk)));
		tree->chunks[tree->n_chunks++] = chunk;
	}
	return (HWTD_OK);
}

void
hwtdi_version_tree_fini(struct hwtd_context *ctx,
    struct hwtdi_version_tree *tree)
{
	for (size_t i = 0; i < tree->n_chunks; i++)
		hwtdi_free(ctx, tree->chunks[i],
		    CHUNK * sizeof(*tree->chunks[i]));
	hwtdi_array_free(ctx, tree->chunks, tree->cap_chunks,
	    sizeof(*tree->chunks));
	memset(tree, 0, sizeof(*tree));
}

static uint32_t
new_node(struct hwtdi_version_tree *tree, uint64_t first, uint32_t value)
{
	struct hwtdi_version_node *node = at(tree, tree->n);

	node->first = first;
	node->value = value;
	node->left = 0;
	node->right = 0;
	node->height = 1;
	return (tree->n++);
}

/* A node with the same contents that may be written. */
static uint32_t
own(struct hwtdi_version_tree *tree, uint32_t node)
{
	if (node >= tree->frozen)
		return (node);
	*at(tree, tree->n) = *at(tree, node);
	return (tree->n++);
}

static uint32_t
set_children(struct hwtdi_version_tree *tree, uint32_t node, uint32_t left,
    uint32_t right)
{
	struct hwtdi_version_node *x = at(tree, node);
	uint32_t l = height(tree, left), r = height(tree, right);

	x->left = left;
	x->right = right;
	x->height = (l > r ? l : r) + 1;
	return (node);
}

/* The right child of `node` becomes its parent.  Both may be written. */
static uint32_t
rotate_left(struct hwtdi_version_tree *tree, uint32_t node)
{
	uint32_t up = own(tree, at(tree, node)->right);

	set_children(tree, node, at(tree, node)->left, at(tree, up)->left);
	return (set_children(tree, up, node, at(tree, up)->right));
}

static uint32_t
rotate_right(struct hwtdi_version_tree *tree, uint32_t node)
{
	uint32_t up = own(tree, at(tree, node)->left);

	set_children(tree, node, at(tree, up)->right, at(tree, node)->right);
	return (set_children(tree, up, at(tree, up)->left, node));
}

/* `node` gets these children, which may differ by two in height. */
static uint32_t
balance(struct hwtdi_version_tree *tree, uint32_t node, uint32_t left,
    uint32_t right)
{
	const uint32_t l = height(tree, left), r = height(tree, right);

	if (l > r + 1) {
		const struct hwtdi_version_node *x = at(tree, left);

		if (height(tree, x->left) < height(tree, x->right))
			left = rotate_left(tree, own(tree, left));
		set_children(tree, node, left, right);
		return (rotate_right(tree, node));
	}
	if (r > l + 1) {
		const struct hwtdi_version_node *x = at(tree, right);

		if (height(tree, x->right) < height(tree, x->left))
			right = rotate_right(tree, own(tree, right));
		set_children(tree, node, left, right);
		return (rotate_left(tree, node));
	}
	return (set_children(tree, node, left, right));
}

/* All of `left`, then the node `middle` (to be written), all of `right`. */
static uint32_t
join(struct hwtdi_version_tree *tree, uint32_t left, uint32_t middle,
    uint32_t right)
{
	const uint32_t l = height(tree, left), r = height(tree, right);
	uint32_t node, part;

	if (l > r + 1) {
		node = own(tree, left);
		part = join(tree, at(tree, node)->right, middle, right);
		return (balance(tree, node, at(tree, node)->left, part));
	}
	if (r > l + 1) {
		node = own(tree, right);
		part = join(tree, left, middle, at(tree, node)->left);
		return (balance(tree, node, part, at(tree, node)->right));
	}
	return (set_children(tree, middle, left, right));
}

/* The nodes that begin before `address`. */
static uint32_t
part_below(struct hwtdi_version_tree *tree, uint32_t root, uint64_t address)
{
	const struct hwtdi_version_node *x;
	uint32_t part, middle;

	while (root != 0 && at(tree, root)->first >= address)
		root = at(tree, root)->left;
	if (root == 0)
		return (0);
	x = at(tree, root);
	part = part_below(tree, x->right, address);
	/* Nothing was cut off: the version shares this node. */
	if (part == x->right)
		return (root);
	middle = new_node(tree, x->first, x->value);
	return (join(tree, x->left, middle, part));
}

/* The nodes that begin at `address` or later. */
static uint32_t
part_from(struct hwtdi_version_tree *tree, uint32_t root, uint64_t address)
{
	const struct hwtdi_version_node *x;
	uint32_t part, middle;

	while (root != 0 && at(tree, root)->first < address)
		root = at(tree, root)->right;
	if (root == 0)
		return (0);
	x = at(tree, root);
	part = part_from(tree, x->left, address);
	if (part == x->left)
		return (root);
	middle = new_node(tree, x->first, x->value);
	return (join(tree, part, middle, x->right));
}

uint32_t
hwtdi_version_tree_set(struct hwtdi_version_tree *tree, uint32_t root,
    uint64_t first, uint64_t last, uint32_t value)
{
	uint32_t left, right = 0;

	tree->frozen = tree->n;
	left = part_below(tree, root, first);
	if (last != UINT64_MAX) {
		struct hwtdi_version_range end;

		right = part_from(tree, root, last + 1);
		end = hwtdi_version_tree_find(tree, root, last);
		/* What is cut goes on behind the new range. */
		if (end.last != last)
			right = join(tree, 0,
			    new_node(tree, last + 1, end.value), right);
	}
	return (join(tree, left, new_node(tree, first, value), right));
}

struct hwtdi_version_range
hwtdi_version_tree_find(const struct hwtdi_version_tree *tree, uint32_t root,
    uint64_t address)
{
	struct hwtdi_version_range range = { 0, UINT64_MAX, 0 };

	while (root != 0) {
		const struct hwtdi_version_node *x = at(tree, root);

		if (x->first <= address) {
			range.first = x->first;
			range.value = x->value;
			root = x->right;
		} else {
			range.last = x->first - 1;
			root = x->left;
		}
	}
	return (range);
}
