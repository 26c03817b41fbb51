/*
 * Callers of a function and what it called, out of stacks and of branches.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/profile_order.h"
#include "analysis/profile/profile_rows.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/sort.h"

struct making {
	struct hwtd_profile *p;
	struct hwtdi_profile_relatives *r;
	/* Number of arrival of the function; callers or callees are asked for. */
	uint32_t function;
	uint32_t side;
	/* By relative: calls of it that are open. */
	uint32_t *open;
	size_t cap_open;
};

/* `function` is a number of arrival. */
static int
find(struct making *m, uint32_t function, uint32_t type, uint32_t *no_out)
{
	struct hwtdi_profile_relatives *r = m->r;
	struct hwtd_profile *p = m->p;
	const uint32_t rank = hwtdi_profile_rank(&p->order->functions,
	    function);
	const uint64_t hash = hwtdi_hash_pair(p->library->seed, rank, type);
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&r->index, hash, &tries, no_out))
		if (r->at[*no_out].function == rank &&
		    r->at[*no_out].type == type)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&r->index, p->library, NULL);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &r->at, &r->cap, r->n + 1,
		    sizeof(*r->at), NULL);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &m->open, &m->cap_open,
		    r->n + 1, sizeof(*m->open), NULL);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)r->n++;
	hwtdi_index_put(&r->index, hash, *no_out);
	memset(&r->at[*no_out], 0, sizeof(*r->at));
	r->at[*no_out].function = rank;
	r->at[*no_out].type = type;
	m->open[*no_out] = 0;
	return (HWTD_OK);
}

/* From calls. */

/* True: a node is a call from or to the function; the other one of both. */
static bool
is_relative(const struct making *m, uint32_t no, uint32_t *function_out)
{
	const struct hwtdi_profile_node *node = &m->p->nodes[no];
	uint32_t caller;

	if (node->parent == HWTD_NO_ID)
		return (false);
	caller = m->p->nodes[node->parent].function;
	*function_out = m->side == HWTD_PROFILE_CALLERS ? caller
							: node->function;
	return ((m->side == HWTD_PROFILE_CALLERS ? node->function : caller) ==
	    m->function);
}

static void
leave(void *arg, uint32_t no)
{
	struct making *m = arg;
	uint32_t function, relative;

	/* It is there, so finding it cannot fail. */
	if (is_relative(m, no, &function) &&
	    find(m, function, m->p->nodes[no].type, &relative) == HWTD_OK)
		m->open[relative]--;
}

static int
add_node(struct making *m, uint32_t no)
{
	const struct hwtdi_profile_node *node = &m->p->nodes[no];
	struct hwtd_profile_sums sums = m->p->order->totals[no];
	uint32_t function, relative;
	int rc;

	if (!is_relative(m, no, &function))
		return (HWTD_OK);
	rc = find(m, function, node->type, &relative);
	if (rc != HWTD_OK)
		return (rc);
	if (m->open[relative]++ != 0)
		memset(&sums, 0, sizeof(sums));
	sums.calls = node->self.calls;
	hwtdi_profile_add_sums(&m->r->at[relative].sums, &sums);
	return (HWTD_OK);
}

/* From runs. */

/* True: a branch is a call, or a jump to another function that takes its place. */
static bool
is_call(const struct hwtd_profile_edge *e, uint32_t *type_out)
{
	switch (e->branch) {
	case HWTD_BRANCH_CALL:
	case HWTD_BRANCH_INDIRECT_CALL:
		*type_out = HWTD_CALL_TYPE_CALL;
		return (true);
	case HWTD_BRANCH_FAR_CALL:
		*type_out = HWTD_CALL_TYPE_SYSCALL;
		return (true);
	case HWTD_BRANCH_CONDITIONAL:
	case HWTD_BRANCH_JUMP:
	case HWTD_BRANCH_INDIRECT_JUMP:
		*type_out = HWTD_CALL_TYPE_TAIL;
		return ((e->flags & HWTD_PROFILE_EDGEF_TO_START) != 0 &&
		    e->from_function != e->to_function);
	default:
		return (false);
	}
}

static int
add_edge(struct making *m, const struct hwtd_profile_edge *e)
{
	const bool callers = m->side == HWTD_PROFILE_CALLERS;
	uint32_t type, relative;
	int rc;

	if ((callers ? e->to_function : e->from_function) != m->function ||
	    !is_call(e, &type))
		return (HWTD_OK);
	rc = find(m, callers ? e->from_function : e->to_function, type,
	    &relative);
	if (rc == HWTD_OK)
		m->r->at[relative]
		    .branches = hwtdi_profile_sum(m->r->at[relative].branches,
		    e->count);
	return (rc);
}

/* All of them. */

static int
compare(const void *va, const void *vb)
{
	const struct hwtd_profile_relative *a = va, *b = vb;

	if (a->function != b->function)
		return (a->function < b->function ? -1 : 1);
	return (a->type < b->type ? -1 : a->type > b->type);
}

static int
make(struct making *m)
{
	struct hwtd_profile *p = m->p;
	struct hwtdi_profile_path path = { .n = 0 };
	int rc = HWTD_OK;

	for (size_t i = 0; i < p->n_nodes && rc == HWTD_OK; i++) {
		const uint32_t no = p->order->nodes.at[i];

		rc = hwtdi_profile_path_to(p, &path, no, leave, m, NULL);
		if (rc == HWTD_OK)
			rc = add_node(m, no);
	}
	for (size_t i = 0; i < p->n_edges && rc == HWTD_OK; i++)
		rc = add_edge(m, &p->edges[i]);
	hwtdi_array_free(p->library, path.at, path.cap, sizeof(*path.at));
	return (rc != HWTD_OK ? rc
			      : hwtdi_sort(p->library, m->r->at, m->r->n,
				    sizeof(*m->r->at), compare, NULL));
}

/* Those of the function that was asked for last are kept. */
static int
make_relatives(struct hwtd_profile *p, uint32_t function, uint32_t side)
{
	struct hwtdi_profile_relatives *r = &p->order->relatives;
	struct making m = { .p = p, .r = r, .side = side };
	int rc;

	if (r->made && r->function == function && r->side == side)
		return (HWTD_OK);
	r->made = false;
	r->n = 0;
	hwtdi_index_fini(&r->index, p->library);
	m.function = p->order->functions.at[function];
	rc = make(&m);
	hwtdi_array_free(p->library, m.open, m.cap_open, sizeof(*m.open));
	r->function = function;
	r->side = side;
	r->made = rc == HWTD_OK;
	return (rc);
}

int
hwtd_profile_relatives(struct hwtd_profile *p, uint32_t function,
    uint32_t side, uint64_t first, struct hwtd_profile_relative *out,
    size_t stride, size_t cap, size_t *n_out)
{
	const struct hwtdi_profile_relatives *r;
	int rc = hwtdi_profile_check_read(p, out, stride, sizeof(*out), cap,
	    n_out);

	if (rc == HWTD_OK && side > HWTD_PROFILE_CALLEES)
		rc = HWTD_E_INVALID;
	if (rc != HWTD_OK)
		return (rc);
	if (function >= p->n_functions)
		return (HWTD_END);
	rc = make_relatives(p, function, side);
	if (rc != HWTD_OK)
		return (rc);
	r = &p->order->relatives;
	if (first >= r->n)
		return (HWTD_END);
	for (; *n_out < cap && first + *n_out < r->n; ++*n_out)
		hwtdi_profile_store(out, stride, *n_out,
		    &r->at[first + *n_out], sizeof(*r->at));
	return (HWTD_OK);
}
