/*
 * Trees of calls that are not over yet.
 */
#include "analysis/profile/profile_stacks.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

static uint64_t
hash_of(const struct hwtd_profile *p,
    const struct hwtdi_profile_tree_node *node)
{
	return (hwtdi_hash_pair(p->library->seed,
	    (uint64_t)node->parent << 32 | node->function, node->type));
}

/* A node that is in no index: the one around all. */
static int
make_base(struct hwtdi_profile_stack *s, struct hwtd_profile *p,
    struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(p->library, &s->nodes, &s->cap_nodes,
	    s->n_nodes + 1, sizeof(*s->nodes), err);

	if (rc != HWTD_OK)
		return (rc);
	s->base = (struct hwtdi_profile_open){ .node = (uint32_t)s->n_nodes };
	s->nodes[s->n_nodes++] = (struct hwtdi_profile_tree_node){
		.parent = HWTD_NO_ID,
		.function = HWTD_NO_ID,
	};
	return (HWTD_OK);
}

int
hwtdi_profile_stack_begin(struct hwtdi_profile_stack *s,
    struct hwtd_profile *p, uint32_t id, struct hwtd_error *err)
{
	s->n_nodes = s->n_open = 0;
	hwtdi_index_fini(&s->index, p->library);
	s->id = id;
	s->used = true;
	return (make_base(s, p, err));
}

static int
push(struct hwtdi_profile_stack *s, struct hwtd_profile *p,
    const struct hwtdi_profile_open *open, struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(p->library, &s->open, &s->cap_open,
	    s->n_open + 1, sizeof(*s->open), err);

	if (rc == HWTD_OK)
		s->open[s->n_open++] = *open;
	return (rc);
}

/* What was around all is this call; something else is around it. */
static int
enter_around(struct hwtdi_profile_stack *s, struct hwtd_profile *p,
    const struct hwtdi_profile_tree_node *node, struct hwtd_error *err)
{
	const struct hwtdi_profile_open open = s->base;
	struct hwtdi_profile_tree_node *at;
	uint64_t hash;
	int rc = make_base(s, p, err);

	if (rc == HWTD_OK)
		rc = hwtdi_index_reserve(&s->index, p->library, err);
	if (rc != HWTD_OK)
		return (rc);
	at = &s->nodes[open.node];
	at->parent = s->base.node;
	at->function = node->function;
	at->type = node->type;
	hash = hash_of(p, at);
	hwtdi_index_put(&s->index, hash, open.node);
	return (push(s, p, &open, err));
}

static int
find(struct hwtdi_profile_stack *s, struct hwtd_profile *p,
    const struct hwtdi_profile_tree_node *node, uint32_t *no_out,
    struct hwtd_error *err)
{
	const uint64_t hash = hash_of(p, node);
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&s->index, hash, &tries, no_out)) {
		const struct hwtdi_profile_tree_node *at = &s->nodes[*no_out];

		if (at->parent == node->parent &&
		    at->function == node->function && at->type == node->type)
			return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&s->index, p->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &s->nodes, &s->cap_nodes,
		    s->n_nodes + 1, sizeof(*s->nodes), err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)s->n_nodes++;
	s->nodes[*no_out] = *node;
	memset(&s->nodes[*no_out].self, 0, sizeof(node->self));
	hwtdi_index_put(&s->index, hash, *no_out);
	return (HWTD_OK);
}

int
hwtdi_profile_stack_enter(struct hwtdi_profile_stack *s,
    struct hwtd_profile *p, const struct hwtdi_profile_tree_node *node,
    bool around, struct hwtd_error *err)
{
	struct hwtdi_profile_open open = { .gaps = 0 };
	struct hwtdi_profile_tree_node what = *node;
	int rc;

	if (around && s->n_open == 0)
		return (enter_around(s, p, node, err));
	what.parent = s->n_open > 0 ? s->open[s->n_open - 1].node
				    : s->base.node;
	rc = find(s, p, &what, &open.node, err);
	return (rc == HWTD_OK ? push(s, p, &open, err) : rc);
}

void
hwtdi_profile_stack_leave(struct hwtdi_profile_stack *s,
    const struct hwtd_profile_sums *sums, uint32_t flags)
{
	struct hwtd_profile_sums self = *sums;
	struct hwtdi_profile_open *open, *outer;

	if (s->n_open == 0)
		return;
	open = &s->open[--s->n_open];
	outer = s->n_open > 0 ? &s->open[s->n_open - 1] : &s->base;
	self.gaps -= self.gaps > open->gaps ? open->gaps : self.gaps;
	self.gap_bytes -= self.gap_bytes > open->gap_bytes ? open->gap_bytes
							   : self.gap_bytes;
	outer->gaps += sums->gaps;
	outer->gap_bytes += sums->gap_bytes;
	hwtdi_profile_add_sums(&s->nodes[open->node].self, &self);
	s->nodes[open->node].flags |= flags;
}

/* Into the profile. */

/* Those around a node come before it, whatever their numbers are. */
static int
put_node(struct hwtdi_profile_stack *s, struct hwtd_profile *p, uint32_t no,
    uint32_t *numbers, uint32_t *path, struct hwtd_error *err)
{
	size_t n = 0;
	int rc = HWTD_OK;

	for (; numbers[no] == HWTD_NO_ID; no = s->nodes[no].parent)
		path[n++] = no;
	while (n > 0 && rc == HWTD_OK) {
		const struct hwtdi_profile_tree_node
		    *at = &s->nodes[path[--n]];
		const struct hwtd_profile_node node = {
			.parent = numbers[at->parent],
			.function = at->function,
			.thread = HWTD_NO_ID,
			.type = at->type,
			.flags = at->flags,
			.self = at->self,
		};

		rc = hwtdi_profile_add_node(p, &node, &numbers[path[n]], err);
	}
	return (rc);
}

static int
put_all(struct hwtdi_profile_stack *s, struct hwtd_profile *p, uint32_t root,
    struct hwtd_error *err)
{
	const size_t bytes = s->n_nodes * 2 * sizeof(uint32_t);
	uint32_t *numbers;
	int rc = HWTD_OK;

	numbers = hwtdi_alloc(p->library, bytes);
	if (numbers == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	memset(numbers, 0xff, s->n_nodes * sizeof(*numbers));
	numbers[s->base.node] = root;
	for (size_t i = 0; i < s->n_nodes && rc == HWTD_OK; i++)
		rc = put_node(s, p, (uint32_t)i, numbers, numbers + s->n_nodes,
		    err);
	hwtdi_free(p->library, numbers, bytes);
	return (rc);
}

int
hwtdi_profile_stack_end(struct hwtdi_profile_stack *s, struct hwtd_profile *p,
    uint32_t root, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (!s->used)
		return (HWTD_OK);
	if (s->n_nodes > 1)
		rc = put_all(s, p, root, err);
	s->used = false;
	s->n_nodes = s->n_open = 0;
	hwtdi_index_fini(&s->index, p->library);
	return (rc);
}

/* Begin with the calls that are open, of which `nodes` are the nodes. */
static int
reopen(struct hwtdi_profile_stack *s, struct hwtd_profile *p,
    const struct hwtdi_profile_tree_node *nodes, struct hwtd_error *err)
{
	const struct hwtdi_profile_open base = s->base;
	int rc;

	s->n_nodes = 0;
	hwtdi_index_fini(&s->index, p->library);
	rc = make_base(s, p, err);
	s->base.gaps = base.gaps;
	s->base.gap_bytes = base.gap_bytes;
	for (size_t i = 0; i < s->n_open && rc == HWTD_OK; i++) {
		struct hwtdi_profile_tree_node what = nodes[i];

		what.parent = i > 0 ? s->open[i - 1].node : s->base.node;
		rc = find(s, p, &what, &s->open[i].node, err);
	}
	return (rc);
}

int
hwtdi_profile_stack_spill(struct hwtdi_profile_stack *s,
    struct hwtd_profile *p, uint32_t root, struct hwtd_error *err)
{
	const size_t bytes = s->n_open * sizeof(*s->nodes);
	struct hwtdi_profile_tree_node *nodes = NULL;
	int rc = put_all(s, p, root, err);

	if (rc != HWTD_OK)
		return (rc);
	if (bytes != 0) {
		nodes = hwtdi_alloc(p->library, bytes);
		if (nodes == NULL)
			return (hwtdi_fail_nomem(err, bytes));
		for (size_t i = 0; i < s->n_open; i++)
			nodes[i] = s->nodes[s->open[i].node];
	}
	rc = reopen(s, p, nodes, err);
	hwtdi_free(p->library, nodes, bytes);
	return (rc);
}

void
hwtdi_profile_stack_fini(struct hwtdi_profile_stack *s,
    struct hwtd_context *library)
{
	hwtdi_array_free(library, s->nodes, s->cap_nodes, sizeof(*s->nodes));
	hwtdi_array_free(library, s->open, s->cap_open, sizeof(*s->open));
	hwtdi_index_fini(&s->index, library);
	memset(s, 0, sizeof(*s));
}
