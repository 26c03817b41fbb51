/*
 * The order of what a profile has, which follows from contents alone.
 */
#include "analysis/profile/profile_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sort.h"

#define MAX_KEYS 6

struct key {
	uint64_t k[MAX_KEYS];
	uint32_t no;
	uint32_t reserved;
};

static int
compare_keys(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;

	for (size_t i = 0; i < MAX_KEYS; i++)
		if (a->k[i] != b->k[i])
			return (a->k[i] < b->k[i] ? -1 : 1);
	return (0);
}

/* Lists. */

static int
make_list(struct hwtd_profile *p, struct hwtdi_profile_list *list, size_t n,
    struct hwtd_error *err)
{
	const size_t bytes = n * sizeof(*list->at);

	if (n == 0)
		return (HWTD_OK);
	list->at = hwtdi_alloc(p->library, bytes);
	list->ranks = hwtdi_alloc(p->library, bytes);
	list->n = n;
	return (list->at != NULL && list->ranks != NULL
		? HWTD_OK
		: hwtdi_fail_nomem(err, bytes));
}

static void
drop_list(struct hwtd_profile *p, struct hwtdi_profile_list *list)
{
	hwtdi_free(p->library, list->at, list->n * sizeof(*list->at));
	hwtdi_free(p->library, list->ranks, list->n * sizeof(*list->ranks));
	memset(list, 0, sizeof(*list));
}

typedef void (*key_fn)(const struct hwtd_profile *p,
    const struct hwtdi_profile_order *o, uint32_t no, uint64_t *k);

static int
sort_list(struct hwtd_profile *p, struct hwtdi_profile_order *o,
    struct hwtdi_profile_list *list, size_t n, key_fn fn,
    struct hwtd_error *err)
{
	struct key *keys;
	int rc = make_list(p, list, n, err);

	if (rc != HWTD_OK || n == 0)
		return (rc);
	keys = hwtdi_zalloc(p->library, n * sizeof(*keys));
	if (keys == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*keys)));
	for (size_t i = 0; i < n; i++) {
		keys[i].no = (uint32_t)i;
		fn(p, o, (uint32_t)i, keys[i].k);
	}
	rc = hwtdi_sort(p->library, keys, n, sizeof(*keys), compare_keys, err);
	for (size_t i = 0; i < n; i++) {
		list->at[i] = keys[i].no;
		list->ranks[keys[i].no] = (uint32_t)i;
	}
	hwtdi_free(p->library, keys, n * sizeof(*keys));
	return (rc);
}

struct text_key {
	const char *text;
	uint32_t no;
};

static int
compare_texts(const void *va, const void *vb)
{
	const struct text_key *a = va, *b = vb;

	return (strcmp(a->text, b->text));
}

static int
sort_texts(struct hwtd_profile *p, struct hwtdi_profile_order *o,
    struct hwtd_error *err)
{
	const size_t n = p->texts.n;
	struct text_key *keys;
	int rc = make_list(p, &o->texts, n, err);

	if (rc != HWTD_OK || n == 0)
		return (rc);
	keys = hwtdi_alloc(p->library, n * sizeof(*keys));
	if (keys == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*keys)));
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct text_key){ p->texts.at[i], (uint32_t)i };
	rc = hwtdi_sort(p->library, keys, n, sizeof(*keys), compare_texts,
	    err);
	for (size_t i = 0; i < n; i++) {
		o->texts.at[i] = keys[i].no;
		o->texts.ranks[keys[i].no] = (uint32_t)i;
	}
	hwtdi_free(p->library, keys, n * sizeof(*keys));
	return (rc);
}

/* What things are ordered by. */

static uint64_t
text_rank(const struct hwtdi_profile_order *o, uint32_t text)
{
	return (text == 0 ? UINT32_MAX : o->texts.ranks[text - 1]);
}

static void
image_key(const struct hwtd_profile *p, const struct hwtdi_profile_order *o,
    uint32_t no, uint64_t *k)
{
	const struct hwtdi_profile_image *image = &p->images[no];

	k[0] = text_rank(o, image->name);
	for (size_t i = 0; i < HWTD_MAX_BUILD_ID; i++)
		k[1 + i / 8] = k[1 + i / 8] << 8 | image->build_id[i];
	k[5] = (uint64_t)image->n_build_id << 32 | image->flags;
}

/* Those of which the place is not known come last. */
static uint64_t
kind_of(uint32_t flags)
{
	return ((flags & HWTD_PROFILE_FUNCTIONF_OFFSET) != 0	? 0
		: (flags & HWTD_PROFILE_FUNCTIONF_ADDRESS) != 0 ? 1
								: 2);
}

static void
function_key(const struct hwtd_profile *p, const struct hwtdi_profile_order *o,
    uint32_t no, uint64_t *k)
{
	const struct hwtdi_profile_function *f = &p->functions[no];
	const uint32_t inlined = f->flags & HWTD_PROFILE_FUNCTIONF_INLINED;

	k[0] = hwtdi_profile_rank(&o->images, f->image);
	k[1] = kind_of(f->flags);
	k[2] = f->file_off;
	k[3] = text_rank(o, f->name);
	k[4] = inlined;
	/* Only there it tells functions apart; it may be made known later. */
	k[5] = inlined != 0 ? text_rank(o, f->linkage_name) : 0;
}

static void
thread_key(const struct hwtd_profile *p, const struct hwtdi_profile_order *o,
    uint32_t no, uint64_t *k)
{
	(void)o;
	k[0] = p->threads[no].pid;
	k[1] = p->threads[no].tid;
	k[2] = p->threads[no].stream;
}

static void
line_key(const struct hwtd_profile *p, const struct hwtdi_profile_order *o,
    uint32_t no, uint64_t *k)
{
	k[0] = text_rank(o, p->lines[no].file);
	k[1] = p->lines[no].line;
}

static void
block_key(const struct hwtd_profile *p, const struct hwtdi_profile_order *o,
    uint32_t no, uint64_t *k)
{
	const struct hwtdi_profile_code *code = &p->blocks[no];

	k[0] = hwtdi_profile_rank(&o->images, code->image);
	k[1] = code->generation;
	k[2] = code->off;
	k[3] = code->isa;
	/* Readings of the same bytes that differ: which is first, too. */
	k[4] = p->lengths[code->lengths];
	k[5] = code->bytes;
}

static void
edge_key(const struct hwtd_profile *p, const struct hwtdi_profile_order *o,
    uint32_t no, uint64_t *k)
{
	const struct hwtd_profile_edge *e = &p->edges[no];

	k[0] = hwtdi_profile_rank(&o->images, e->from_image);
	k[1] = e->from_off;
	k[2] = hwtdi_profile_rank(&o->images, e->to_image);
	k[3] = e->to_off;
	k[4] = (uint64_t)e->branch << 32 | e->flags;
	k[5] = (uint64_t)hwtdi_profile_rank(&o->functions, e->from_function)
		<< 32 |
	    hwtdi_profile_rank(&o->functions, e->to_function);
}

/* The same without lists. */

static int
compare_text_numbers(const struct hwtd_profile *p, uint32_t a, uint32_t b)
{
	if (a == b || a == 0 || b == 0)
		return (a == b ? 0 : a == 0 ? 1 : -1);
	return (strcmp(hwtdi_text_pool_get(&p->texts, a),
	    hwtdi_text_pool_get(&p->texts, b)));
}

static int
compare_images(const struct hwtd_profile *p, uint32_t na, uint32_t nb)
{
	const struct hwtdi_profile_image *a, *b;
	int order;

	if (na == nb || na == HWTD_NO_ID || nb == HWTD_NO_ID)
		return (na == nb ? 0 : na == HWTD_NO_ID ? 1 : -1);
	a = &p->images[na];
	b = &p->images[nb];
	order = compare_text_numbers(p, a->name, b->name);
	if (order == 0)
		order = memcmp(a->build_id, b->build_id, sizeof(a->build_id));
	if (order == 0 && a->n_build_id != b->n_build_id)
		order = a->n_build_id < b->n_build_id ? -1 : 1;
	if (order == 0 && a->flags != b->flags)
		order = a->flags < b->flags ? -1 : 1;
	return (order);
}

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

int
hwtdi_profile_compare_functions(const struct hwtd_profile *p, uint32_t na,
    uint32_t nb)
{
	const uint32_t bit = HWTD_PROFILE_FUNCTIONF_INLINED;
	const struct hwtdi_profile_function *a, *b;
	int order;

	if (na == nb || na == HWTD_NO_ID || nb == HWTD_NO_ID)
		return (na == nb ? 0 : na == HWTD_NO_ID ? 1 : -1);
	a = &p->functions[na];
	b = &p->functions[nb];
	order = compare_images(p, a->image, b->image);
	if (order != 0)
		return (order);
	ORDER(kind_of(a->flags), kind_of(b->flags));
	ORDER(a->file_off, b->file_off);
	order = compare_text_numbers(p, a->name, b->name);
	if (order != 0)
		return (order);
	ORDER(a->flags & bit, b->flags & bit);
	return ((a->flags & bit) != 0
		? compare_text_numbers(p, a->linkage_name, b->linkage_name)
		: 0);
}

int
hwtdi_profile_compare_lines(const struct hwtd_profile *p, uint32_t na,
    uint32_t nb)
{
	int order;

	if (na == nb || na == HWTD_NO_ID || nb == HWTD_NO_ID)
		return (na == nb ? 0 : na == HWTD_NO_ID ? 1 : -1);
	order = compare_text_numbers(p, p->lines[na].file, p->lines[nb].file);
	if (order != 0)
		return (order);
	ORDER(p->lines[na].line, p->lines[nb].line);
	return (0);
}

/* Stacks. */

struct child {
	/* Number of arrival; ranks; type and flags. */
	uint32_t parent, function, thread, what;
	uint32_t no;
};

static int
compare_children(const void *va, const void *vb)
{
	const struct child *a = va, *b = vb;

	ORDER(a->parent, b->parent);
	ORDER(a->thread, b->thread);
	ORDER(a->function, b->function);
	ORDER(a->what, b->what);
	return (0);
}

/*
 * Each node, then its children.  `children` are sorted, those of the node `no`
 * from starts[no] on; `stack` has room for all.
 */
static void
walk(const struct hwtd_profile *p, struct hwtdi_profile_order *o,
    const struct child *children, const uint32_t *starts, uint32_t *stack)
{
	size_t n = 0, n_stack = 0;

	/* Roots have the greatest of all numbers as parent. */
	for (size_t i = p->n_nodes;
	     i > 0 && children[i - 1].parent == HWTD_NO_ID; i--)
		stack[n_stack++] = children[i - 1].no;
	while (n_stack > 0) {
		const uint32_t no = stack[--n_stack];

		o->nodes.ranks[no] = (uint32_t)n;
		o->nodes.at[n++] = no;
		for (uint32_t i = starts[no + 1]; i > starts[no]; i--)
			stack[n_stack++] = children[i - 1].no;
	}
}

static int
sort_nodes(struct hwtd_profile *p, struct hwtdi_profile_order *o,
    struct hwtd_error *err)
{
	const size_t n = p->n_nodes;
	struct child *children;
	uint32_t *starts;
	int rc = make_list(p, &o->nodes, n, err);

	if (rc != HWTD_OK || n == 0)
		return (rc);
	children = hwtdi_alloc(p->library, n * sizeof(*children));
	starts = hwtdi_zalloc(p->library, (n * 2 + 1) * sizeof(*starts));
	if (children != NULL && starts != NULL) {
		for (size_t i = 0; i < n; i++) {
			const struct hwtdi_profile_node *node = &p->nodes[i];

			children[i] = (struct child){
				.parent = node->parent,
				.function = hwtdi_profile_rank(&o->functions,
				    node->function),
				.thread = hwtdi_profile_rank(&o->threads,
				    node->thread),
				.what = node->type << 8 |
				    (node->flags & HWTD_PROFILE_NODEF_OTHERS),
				.no = (uint32_t)i,
			};
			if (node->parent != HWTD_NO_ID)
				starts[node->parent + 1]++;
		}
		rc = hwtdi_sort(p->library, children, n, sizeof(*children),
		    compare_children, err);
		for (size_t i = 0; i < n; i++)
			starts[i + 1] += starts[i];
		if (rc == HWTD_OK)
			walk(p, o, children, starts, starts + n + 1);
	} else {
		rc = hwtdi_fail_nomem(err, n * sizeof(*children));
	}
	hwtdi_free(p->library, children, n * sizeof(*children));
	hwtdi_free(p->library, starts, (n * 2 + 1) * sizeof(*starts));
	return (rc);
}

static int
sum_nodes(struct hwtd_profile *p, struct hwtdi_profile_order *o,
    struct hwtd_error *err)
{
	const size_t bytes = p->n_nodes * sizeof(*o->totals);

	for (size_t i = 0; i < p->n_threads; i++)
		o->idle_ns = hwtdi_profile_sum(o->idle_ns,
		    p->threads[i].idle_ns);
	if (p->n_nodes == 0)
		return (HWTD_OK);
	o->totals = hwtdi_zalloc(p->library, bytes);
	if (o->totals == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	/* Children come behind their parents. */
	for (size_t i = p->n_nodes; i-- > 0;) {
		const struct hwtdi_profile_node *node = &p->nodes[i];

		hwtdi_profile_add_sums(&o->totals[i], &node->self);
		hwtdi_profile_add_sums(node->parent == HWTD_NO_ID
			? &o->total
			: &o->totals[node->parent],
		    &o->totals[i]);
	}
	return (HWTD_OK);
}

int
hwtdi_profile_path_to(struct hwtd_profile *p, struct hwtdi_profile_path *path,
    uint32_t node, void (*left)(void *arg, uint32_t node), void *arg,
    struct hwtd_error *err)
{
	const uint32_t depth = p->nodes[node].depth;
	int rc;

	while (path->n > depth)
		left(arg, path->at[--path->n]);
	rc = hwtdi_array_grow(p->library, &path->at, &path->cap, path->n + 1,
	    sizeof(*path->at), err);
	if (rc == HWTD_OK)
		path->at[path->n++] = node;
	return (rc);
}

/* All of it. */

void
hwtdi_profile_order_drop(struct hwtd_profile *p)
{
	struct hwtdi_profile_order *o = p->order;

	if (o == NULL)
		return;
	drop_list(p, &o->texts);
	drop_list(p, &o->images);
	drop_list(p, &o->functions);
	drop_list(p, &o->threads);
	drop_list(p, &o->lines);
	/* What was not added to since has as many nodes as there are. */
	hwtdi_free(p->library, o->totals, o->nodes.n * sizeof(*o->totals));
	drop_list(p, &o->nodes);
	drop_list(p, &o->blocks);
	drop_list(p, &o->edges);
	for (size_t i = 0; i < HWTD_PROFILE_BYS; i++)
		hwtdi_array_free(p->library, o->tables[i].rows,
		    o->tables[i].cap, sizeof(*o->tables[i].rows));
	hwtdi_array_free(p->library, o->relatives.at, o->relatives.cap,
	    sizeof(*o->relatives.at));
	hwtdi_index_fini(&o->relatives.index, p->library);
	hwtdi_free(p->library, o, sizeof(*o));
	p->order = NULL;
}

static int
put_in_order(struct hwtd_profile *p, struct hwtd_error *err)
{
	struct hwtdi_profile_order *o = p->order;
	int rc = hwtdi_profile_order_blocks(p, err);

	if (rc == HWTD_OK)
		rc = sort_texts(p, o, err);
	if (rc == HWTD_OK)
		rc = sort_list(p, o, &o->images, p->n_images, image_key, err);
	if (rc == HWTD_OK)
		rc = sort_list(p, o, &o->functions, p->n_functions,
		    function_key, err);
	if (rc == HWTD_OK)
		rc = sort_list(p, o, &o->threads, p->n_threads, thread_key,
		    err);
	if (rc == HWTD_OK)
		rc = sort_list(p, o, &o->lines, p->n_lines, line_key, err);
	if (rc == HWTD_OK)
		rc = sort_list(p, o, &o->blocks, p->n_blocks, block_key, err);
	if (rc == HWTD_OK)
		rc = sort_list(p, o, &o->edges, p->n_edges, edge_key, err);
	if (rc == HWTD_OK)
		rc = sort_nodes(p, o, err);
	return (rc == HWTD_OK ? sum_nodes(p, o, err) : rc);
}

int
hwtdi_profile_settle(struct hwtd_profile *p)
{
	int rc;

	if (p->failed)
		return (HWTD_E_STATE);
	if (p->order != NULL)
		return (HWTD_OK);
	rc = hwtdi_profile_begin(p, NULL, NULL);
	if (rc != HWTD_OK)
		return (rc);
	p->order = hwtdi_zalloc(p->library, sizeof(*p->order));
	if (p->order == NULL)
		return (HWTD_E_NOMEM);
	rc = put_in_order(p, NULL);
	if (rc != HWTD_OK)
		hwtdi_profile_order_drop(p);
	return (rc);
}
