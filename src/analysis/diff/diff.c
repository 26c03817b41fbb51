/*
 * Differences of two profiles: what both have comes together.
 */
#include <string.h>

#include "analysis/diff/diff_store.h"
#include "base/fail.h"
#include "base/hash.h"

#define READ_ROWS 256

/* Sums stay at the greatest number. */
static void
add_to(uint64_t *sum, uint64_t more)
{
	*sum = *sum + more < *sum ? UINT64_MAX : *sum + more;
}

/* Numbers of one profile, and what they are in the difference. */
struct side {
	struct hwtd_diff *d;
	struct hwtd_profile *profile;
	unsigned int no;
	struct hwtd_profile_info info;
	/* By image of the profile. */
	uint32_t *images;
	/* By function of it; the last one is of what is not known. */
	uint32_t *functions;
	struct hwtd_error *err;
};

/* Images. */

static const char *
last_name(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

static int
find_image(struct side *s, uint32_t name, uint32_t *no_out)
{
	struct hwtd_diff *d = s->d;
	const uint64_t hash = hwtdi_hash_pair(d->library->seed, name, 1);
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&d->image_index, hash, &tries, no_out))
		if (d->images[*no_out].name == name)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&d->image_index, d->library, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(d->library, &d->images, &d->cap_images,
		    d->n_images + 1, sizeof(*d->images), s->err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&d->image_index, hash, (uint32_t)d->n_images);
	*no_out = (uint32_t)d->n_images++;
	memset(&d->images[*no_out], 0, sizeof(*d->images));
	d->images[*no_out].name = name;
	return (HWTD_OK);
}

static int
add_image(struct side *s, uint32_t id)
{
	struct hwtd_profile_image image = { .size = sizeof(image) };
	struct hwtdi_diff_image *at;
	uint32_t name, path;
	int rc = hwtd_profile_image(s->profile, id, &image);

	if (rc == HWTD_OK)
		rc = hwtdi_text_pool_add(&s->d->texts, s->d->library,
		    image.name, &path, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_text_pool_add(&s->d->texts, s->d->library,
		    last_name(image.name), &name, s->err);
	if (rc == HWTD_OK)
		rc = find_image(s, name, &s->images[id]);
	if (rc != HWTD_OK)
		return (rc);
	at = &s->d->images[s->images[id]];
	if (at->path == 0)
		at->path = path;
	/* Of several files of one name places are not known apart. */
	if ((at->in >> s->no & 1) != 0)
		at->many = 1;
	at->in |= 1u << s->no;
	at->n_build_id[s->no] = image.n_build_id;
	memcpy(at->build_id[s->no], image.build_id, sizeof(image.build_id));
	if ((image.flags & HWTD_PROFILE_IMAGEF_ADDRESSES) != 0 || name == 0)
		at->no_file = true;
	return (HWTD_OK);
}

enum build {
	BUILD_SAME,
	BUILD_ASSUMED,
	BUILD_DIFFERENT,
	BUILD_ALONE
};

static enum build
build_of(const struct hwtdi_diff_image *image)
{
	if (image->in != 3 || image->no_file)
		return (BUILD_ALONE);
	if (image->many != 0)
		return (BUILD_DIFFERENT);
	if (image->n_build_id[0] == 0 || image->n_build_id[1] == 0)
		return (BUILD_ASSUMED);
	return (image->n_build_id[0] == image->n_build_id[1] &&
		    memcmp(image->build_id[0], image->build_id[1],
			sizeof(image->build_id[0])) == 0
		? BUILD_SAME
		: BUILD_DIFFERENT);
}

static void
count_images(struct hwtd_diff *d)
{
	for (size_t i = 0; i < d->n_images; i++) {
		const enum build build = build_of(&d->images[i]);

		d->info.same_images += build == BUILD_SAME;
		d->info.assumed_images += build == BUILD_ASSUMED;
		d->info.different_images += build == BUILD_DIFFERENT;
	}
}

/* Functions. */

static int
find_function(struct side *s, const struct hwtdi_diff_name *key,
    uint32_t *no_out)
{
	struct hwtd_diff *d = s->d;
	const uint64_t hash = hwtdi_hash(d->library, key, sizeof(*key));
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&d->function_index, hash, &tries, no_out))
		if (memcmp(&d->functions[*no_out].key, key, sizeof(*key)) == 0)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&d->function_index, d->library, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(d->library, &d->functions,
		    &d->cap_functions, d->n_functions + 1,
		    sizeof(*d->functions), s->err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&d->function_index, hash, (uint32_t)d->n_functions);
	*no_out = (uint32_t)d->n_functions++;
	memset(&d->functions[*no_out], 0, sizeof(*d->functions));
	d->functions[*no_out].key = *key;
	return (HWTD_OK);
}

static int
add_function(struct side *s, uint32_t id)
{
	struct hwtd_profile_function f = { .size = sizeof(f) };
	struct hwtdi_diff_name key = { .name = 0 };
	struct hwtdi_diff_function *at;
	uint32_t path = 0;
	int rc = hwtd_profile_function(s->profile, id, &f);

	if (rc == HWTD_OK)
		rc = hwtdi_text_pool_add(&s->d->texts, s->d->library, f.name,
		    &key.name, s->err);
	if (rc != HWTD_OK)
		return (rc);
	if (f.image < s->info.n_images) {
		key.image = s->d->images[s->images[f.image]].name;
		path = s->d->images[s->images[f.image]].path;
	}
	if (key.name == 0)
		key.file_off = f.file_off;
	rc = find_function(s, &key, &s->functions[id]);
	if (rc != HWTD_OK)
		return (rc);
	at = &s->d->functions[s->functions[id]];
	if (at->image_path == 0)
		at->image_path = path;
	return (HWTD_OK);
}

/* The number in the difference. */
static uint32_t
function_of(const struct side *s, uint32_t id)
{
	return (
	    s->functions[id < s->info.n_functions ? id : s->info.n_functions]);
}

/* Code without a function is told by image, as far as that is known. */
static int
nobody_of(struct side *s, uint32_t image, uint32_t *no_out)
{
	struct hwtdi_diff_name key = { .file_off = HWTDI_DIFF_NO_FUNCTION };
	uint32_t path = 0;
	int rc;

	if (image < s->info.n_images) {
		key.image = s->d->images[s->images[image]].name;
		path = s->d->images[s->images[image]].path;
	}
	rc = find_function(s, &key, no_out);
	if (rc == HWTD_OK && s->d->functions[*no_out].image_path == 0)
		s->d->functions[*no_out].image_path = path;
	return (rc);
}

static int
add_row(struct side *s, const struct hwtd_profile_row *row)
{
	const unsigned int no = s->no;
	struct hwtdi_diff_function *at;
	struct hwtd_diff_function *to;
	uint32_t number = function_of(s, row->function);

	if (row->function >= s->info.n_functions) {
		const int rc = nobody_of(s, row->image, &number);

		if (rc != HWTD_OK)
			return (rc);
	}
	at = &s->d->functions[number];
	to = &at->row;
	at->in |= 1u << no;
	to->n[no]++;
	add_to(&to->insns[no], row->insns);
	add_to(&to->entered[no], row->entered);
	add_to(&to->calls[no], row->self.calls);
	add_to(&to->self_insns[no], row->self.insns);
	add_to(&to->self_ns[no], row->self.ns);
	add_to(&to->total_ns[no], row->total.ns);
	add_to(&to->self_cycles[no], row->self.cycles);
	return (HWTD_OK);
}

static int
add_functions(struct side *s)
{
	struct hwtd_profile_row rows[READ_ROWS];
	uint64_t first = 0;
	size_t n;
	int rc = HWTD_OK;

	for (uint32_t i = 0; rc == HWTD_OK && i < s->info.n_images; i++)
		rc = add_image(s, i);
	for (uint32_t i = 0; rc == HWTD_OK && i < s->info.n_functions; i++)
		rc = add_function(s, i);
	if (rc == HWTD_OK)
		rc = nobody_of(s, HWTD_NO_ID,
		    &s->functions[s->info.n_functions]);
	while (rc == HWTD_OK) {
		rc = hwtd_profile_rows(s->profile, HWTD_PROFILE_BY_FUNCTION,
		    first, rows, sizeof(rows[0]), READ_ROWS, &n);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(s->d->library, s->err);
		for (size_t i = 0; rc == HWTD_OK && i < n; i++)
			rc = add_row(s, &rows[i]);
		first += n;
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

/* Calls between functions. */

static int
find_edge(struct side *s, uint32_t from, uint32_t to,
    struct hwtdi_diff_edge **out)
{
	struct hwtd_diff *d = s->d;
	const uint64_t hash = hwtdi_hash_pair(d->library->seed, from, to);
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&d->edge_index, hash, &tries, &no)) {
		*out = &d->edges[no];
		if ((*out)->from == from && (*out)->to == to)
			return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&d->edge_index, d->library, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(d->library, &d->edges, &d->cap_edges,
		    d->n_edges + 1, sizeof(*d->edges), s->err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&d->edge_index, hash, (uint32_t)d->n_edges);
	*out = &d->edges[d->n_edges++];
	memset(*out, 0, sizeof(**out));
	(*out)->from = from;
	(*out)->to = to;
	return (HWTD_OK);
}

static bool
is_call(uint32_t branch)
{
	return (branch == HWTD_BRANCH_CALL ||
	    branch == HWTD_BRANCH_INDIRECT_CALL);
}

/* Branches that lead into another function, or call this one. */
static int
add_between(struct side *s, const struct hwtd_profile_edge *edge)
{
	const uint32_t from = function_of(s, edge->from_function);
	const uint32_t to = function_of(s, edge->to_function);
	struct hwtdi_diff_edge *at;
	int rc;

	if (!is_call(edge->branch) &&
	    (edge->from_function == edge->to_function ||
		(edge->flags & HWTD_PROFILE_EDGEF_TO_START) == 0))
		return (HWTD_OK);
	rc = find_edge(s, from, to, &at);
	if (rc != HWTD_OK)
		return (rc);
	s->d->with_branches = true;
	at->in |= 1u << s->no;
	add_to(&at->branches[s->no], edge->count);
	return (HWTD_OK);
}

static int
find_branch(struct side *s, const struct hwtdi_diff_way *key,
    struct hwtdi_diff_branch **out)
{
	struct hwtd_diff *d = s->d;
	const uint64_t hash = hwtdi_hash(d->library, key, sizeof(*key));
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&d->branch_index, hash, &tries, &no)) {
		*out = &d->branches[no];
		if (memcmp(&(*out)->key, key, sizeof(*key)) == 0)
			return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&d->branch_index, d->library, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(d->library, &d->branches,
		    &d->cap_branches, d->n_branches + 1, sizeof(*d->branches),
		    s->err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&d->branch_index, hash, (uint32_t)d->n_branches);
	*out = &d->branches[d->n_branches++];
	memset(*out, 0, sizeof(**out));
	(*out)->key = *key;
	return (HWTD_OK);
}

/* Places mean the same in both. */
static bool
is_comparable(const struct side *s, uint32_t image)
{
	enum build build;

	if (image >= s->info.n_images)
		return (false);
	build = build_of(&s->d->images[s->images[image]]);
	return (build == BUILD_SAME || build == BUILD_ASSUMED);
}

static int
add_branch(struct side *s, const struct hwtd_profile_edge *edge)
{
	struct hwtdi_diff_branch *at;
	struct hwtdi_diff_way key;
	int rc;

	if (!is_comparable(s, edge->from_image) ||
	    !is_comparable(s, edge->to_image))
		return (HWTD_OK);
	key = (struct hwtdi_diff_way){ s->images[edge->from_image],
		s->images[edge->to_image], edge->from_off, edge->to_off };
	rc = find_branch(s, &key, &at);
	if (rc != HWTD_OK)
		return (rc);
	/* The first profile that has it names it. */
	if (at->in == 0) {
		at->from = function_of(s, edge->from_function);
		at->to = function_of(s, edge->to_function);
		at->branch = edge->branch;
	}
	at->in |= 1u << s->no;
	add_to(&at->count[s->no], edge->count);
	return (HWTD_OK);
}

static int
add_edges(struct side *s)
{
	struct hwtd_profile_edge edges[READ_ROWS];
	uint64_t first = 0;
	size_t n;
	int rc = HWTD_OK;

	while (rc == HWTD_OK) {
		rc = hwtd_profile_edges(s->profile, first, edges,
		    sizeof(edges[0]), READ_ROWS, &n);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(s->d->library, s->err);
		for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
			rc = add_between(s, &edges[i]);
			if (rc == HWTD_OK)
				rc = add_branch(s, &edges[i]);
		}
		first += n;
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

/* Calls of the tree of stacks; parents come before their children. */
static int
add_calls(struct side *s)
{
	const size_t bytes = ((size_t)s->info.n_nodes + 1) * sizeof(uint32_t);
	struct hwtd_profile_node nodes[READ_ROWS];
	struct hwtdi_diff_edge *at;
	uint32_t *function = hwtdi_alloc(s->d->library, bytes);
	uint64_t first = 0;
	size_t n;
	int rc = HWTD_OK;

	if (function == NULL)
		return (hwtdi_fail_nomem(s->err, bytes));
	while (rc == HWTD_OK) {
		rc = hwtd_profile_nodes(s->profile, first, nodes,
		    sizeof(nodes[0]), READ_ROWS, &n);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(s->d->library, s->err);
		for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
			const struct hwtd_profile_node *node = &nodes[i];

			function[first + i] = node->function;
			/* What is below a root was called by nobody. */
			if (node->parent == HWTD_NO_ID || node->depth < 2)
				continue;
			rc = find_edge(s,
			    function_of(s, function[node->parent]),
			    function_of(s, node->function), &at);
			if (rc == HWTD_OK) {
				at->in |= 1u << s->no;
				add_to(&at->calls[s->no], node->self.calls);
			}
		}
		first += n;
	}
	hwtdi_free(s->d->library, function, bytes);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

/* All. */

static int
begin_side(struct side *s)
{
	struct hwtd_context *ctx = s->d->library;
	int rc;

	s->info.size = sizeof(s->info);
	rc = hwtd_profile_info(s->profile, &s->info);
	if (rc != HWTD_OK)
		return (hwtdi_fail(s->err, rc, "profile %u cannot be read",
		    s->no + 1));
	s->images = hwtdi_zalloc(ctx,
	    ((size_t)s->info.n_images + 1) * sizeof(uint32_t));
	s->functions = hwtdi_zalloc(ctx,
	    ((size_t)s->info.n_functions + 1) * sizeof(uint32_t));
	if (s->images == NULL || s->functions == NULL)
		return (hwtdi_fail_nomem(s->err,
		    ((size_t)s->info.n_functions + 1) * sizeof(uint32_t)));
	return (HWTD_OK);
}

static void
end_side(struct side *s)
{
	struct hwtd_context *ctx = s->d->library;

	hwtdi_free(ctx, s->images,
	    ((size_t)s->info.n_images + 1) * sizeof(uint32_t));
	hwtdi_free(ctx, s->functions,
	    ((size_t)s->info.n_functions + 1) * sizeof(uint32_t));
}

static bool
has(const struct side *s, enum hwtd_profile_source source)
{
	return (s->info.seen[source].added != 0);
}

/* The source that what is measured comes from. */
static int
check_source(struct side *s)
{
	const uint32_t by = s->d->options.by;
	const bool either = by == HWTD_DIFF_BY_INSNS ||
	    by == HWTD_DIFF_BY_CALLS;
	const bool runs = either && has(s, HWTD_PROFILE_RUNS);
	const struct hwtd_profile_seen
	    *seen = &s->info
			 .seen[runs ? HWTD_PROFILE_RUNS : HWTD_PROFILE_CALLS];
	struct hwtd_diff_info *info = &s->d->info;

	if (!runs && !has(s, HWTD_PROFILE_CALLS))
		return (hwtdi_fail(s->err, HWTD_E_NOT_FOUND,
		    "profile %u has no calls, which %s comes from", s->no + 1,
		    hwtd_diff_by_name(by)));
	info->bytes[s->no] = seen->bytes;
	info->gap_bytes[s->no] = seen->gap_bytes;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		info->gaps[s->no] += seen->gaps[i];
	return (HWTD_OK);
}

static int
collect(struct hwtd_diff *d, struct side sides[2])
{
	int rc = HWTD_OK;

	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++)
		rc = begin_side(&sides[i]);
	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++)
		rc = check_source(&sides[i]);
	if (rc != HWTD_OK)
		return (rc);
	/* Both have to say the same of one thing. */
	if (has(&sides[0], HWTD_PROFILE_RUNS) !=
		has(&sides[1], HWTD_PROFILE_RUNS) &&
	    (d->options.by == HWTD_DIFF_BY_INSNS ||
		d->options.by == HWTD_DIFF_BY_CALLS))
		return (hwtdi_fail(sides[0].err, HWTD_E_INVALID,
		    "one profile has counts of code and the other has not"));
	d->with_runs = has(&sides[0], HWTD_PROFILE_RUNS) &&
	    has(&sides[1], HWTD_PROFILE_RUNS);
	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++)
		rc = add_functions(&sides[i]);
	if (rc == HWTD_OK)
		count_images(d);
	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++) {
		rc = add_edges(&sides[i]);
		if (rc == HWTD_OK)
			rc = add_calls(&sides[i]);
	}
	return (rc);
}

static int
check_options(const struct hwtd_diff_options *o, struct hwtd_error *err)
{
	if ((o->flags & ~(uint32_t)HWTD_DIFF_NORMALIZE) != 0 ||
	    o->by >= HWTD_DIFF_BYS)
		return (hwtdi_fail(err, HWTD_E_INVALID, "flags %#x, by %u",
		    o->flags, o->by));
	return (HWTD_OK);
}

int
hwtd_diff_create(struct hwtd_context *ctx, struct hwtd_profile *a,
    struct hwtd_profile *b, const struct hwtd_diff_options *opts,
    struct hwtd_diff **diff_out, struct hwtd_error *err)
{
	struct hwtd_diff_options o;
	struct side sides[2] = { { .profile = a, .no = 0, .err = err },
		{ .profile = b, .no = 1, .err = err } };
	struct hwtd_diff *d;
	int rc;

	if (ctx == NULL || a == NULL || b == NULL || diff_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no context, no profiles, or no place for what differs"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = check_options(&o, err);
	if (rc != HWTD_OK)
		return (rc);
	d = hwtdi_zalloc(ctx, sizeof(*d));
	if (d == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*d)));
	d->library = hwtdi_context_hold(ctx);
	d->options = o;
	sides[0].d = sides[1].d = d;
	rc = collect(d, sides);
	end_side(&sides[0]);
	end_side(&sides[1]);
	if (rc == HWTD_OK)
		rc = hwtdi_diff_order(d, err);
	if (rc != HWTD_OK) {
		hwtd_diff_destroy(d);
		return (rc);
	}
	*diff_out = d;
	return (HWTD_OK);
}

void
hwtd_diff_destroy(struct hwtd_diff *diff)
{
	struct hwtd_diff *d = diff;
	struct hwtd_context *ctx;

	if (d == NULL)
		return;
	ctx = d->library;
	hwtdi_free(ctx, d->order[0], (d->n_functions + 1) * sizeof(uint32_t));
	hwtdi_free(ctx, d->order[1], (d->n_edges + 1) * sizeof(uint32_t));
	hwtdi_free(ctx, d->order[2], (d->n_branches + 1) * sizeof(uint32_t));
	hwtdi_array_free(ctx, d->functions, d->cap_functions,
	    sizeof(*d->functions));
	hwtdi_array_free(ctx, d->edges, d->cap_edges, sizeof(*d->edges));
	hwtdi_array_free(ctx, d->branches, d->cap_branches,
	    sizeof(*d->branches));
	hwtdi_array_free(ctx, d->images, d->cap_images, sizeof(*d->images));
	hwtdi_index_fini(&d->function_index, ctx);
	hwtdi_index_fini(&d->edge_index, ctx);
	hwtdi_index_fini(&d->branch_index, ctx);
	hwtdi_index_fini(&d->image_index, ctx);
	hwtdi_text_pool_fini(&d->texts, ctx);
	hwtdi_free(ctx, d, sizeof(*d));
	hwtd_context_destroy(ctx);
}
