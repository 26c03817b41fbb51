/*
 * What a profile keeps: each thing once, found by what it is.
 */
#include "analysis/profile/profile_store.h"

#include <string.h>

#include "analysis/profile/profile_order.h"
#include "base/fail.h"
#include "base/hash.h"

#define DEFAULT_NODES (UINT32_C(1) << 22)
#define DEFAULT_FUNCTIONS (UINT32_C(1) << 22)
#define DEFAULT_BLOCKS (UINT32_C(1) << 26)
/* So many blocks wait to be put in order, whatever there is. */
#define SPARE_BLOCKS ((size_t)1 << 16)
/* An index has no more. */
#define MOST (UINT32_C(1) << 29)

#define ALL_FLAGS                                                             \
	((uint32_t)(HWTD_PROFILE_THREADS | HWTD_PROFILE_LINES |               \
	    HWTD_PROFILE_NO_SYMBOLS))
#define ALL_FUNCTION_FLAGS                                                    \
	((uint32_t)(HWTD_PROFILE_FUNCTIONF_OFFSET |                           \
	    HWTD_PROFILE_FUNCTIONF_ADDRESS | HWTD_PROFILE_FUNCTIONF_INLINED | \
	    HWTD_PROFILE_FUNCTIONF_PLT | HWTD_PROFILE_FUNCTIONF_LINKED))
/* What tells functions apart. */
#define KEY_FUNCTION_FLAGS                                                    \
	((uint32_t)(HWTD_PROFILE_FUNCTIONF_OFFSET |                           \
	    HWTD_PROFILE_FUNCTIONF_ADDRESS | HWTD_PROFILE_FUNCTIONF_INLINED))

/* The same of nodes. */
#define KEY_NODE_FLAGS                                                        \
	((uint32_t)(HWTD_PROFILE_NODEF_ROOT | HWTD_PROFILE_NODEF_OTHERS))

/* Making and giving up. */

static int
complete(struct hwtd_profile_options *o, struct hwtd_error *err)
{
	if ((o->flags & ~ALL_FLAGS) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "flags %#x of a profile", o->flags));
	if (o->max_nodes == 0)
		o->max_nodes = DEFAULT_NODES;
	if (o->max_functions == 0)
		o->max_functions = DEFAULT_FUNCTIONS;
	if (o->max_blocks == 0)
		o->max_blocks = DEFAULT_BLOCKS;
	if (o->max_nodes > MOST || o->max_functions > MOST ||
	    o->max_blocks > MOST)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u nodes, %u functions, %u blocks: a profile has up to "
		    "%u of each",
		    o->max_nodes, o->max_functions, o->max_blocks, MOST));
	return (HWTD_OK);
}

int
hwtd_profile_create(struct hwtd_context *ctx,
    const struct hwtd_profile_options *opts, struct hwtd_profile **profile_out,
    struct hwtd_error *err)
{
	struct hwtd_profile_options o;
	struct hwtd_profile *p;
	int rc;

	if (ctx == NULL || profile_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no context or no place for the profile"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = complete(&o, err);
	if (rc != HWTD_OK)
		return (rc);
	p = hwtdi_zalloc(ctx, sizeof(*p));
	if (p == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*p)));
	p->library = hwtdi_context_hold(ctx);
	p->options = o;
	*profile_out = p;
	return (HWTD_OK);
}

#define FREE(p, what)                                                         \
	hwtdi_array_free((p)->library, (p)->what, (p)->cap_##what,            \
	    sizeof(*(p)->what))

struct hwtd_profile *
hwtdi_profile_hold(struct hwtd_profile *p)
{
	hwtdi_users_add(&p->users);
	return (p);
}

void
hwtd_profile_destroy(struct hwtd_profile *p)
{
	struct hwtd_context *library;

	if (p == NULL || !hwtdi_users_drop(&p->users))
		return;
	library = p->library;
	if (p->adding != NULL)
		(void)p->adding->end(p, p->adding, false, NULL);
	hwtdi_profile_order_drop(p);
	FREE(p, images);
	FREE(p, functions);
	FREE(p, threads);
	FREE(p, lines);
	FREE(p, nodes);
	FREE(p, places);
	FREE(p, edges);
	FREE(p, blocks);
	FREE(p, lengths);
	hwtdi_index_fini(&p->image_index, library);
	hwtdi_index_fini(&p->function_index, library);
	hwtdi_index_fini(&p->thread_index, library);
	hwtdi_index_fini(&p->line_index, library);
	hwtdi_index_fini(&p->node_index, library);
	hwtdi_index_fini(&p->place_index, library);
	hwtdi_index_fini(&p->edge_index, library);
	hwtdi_text_pool_fini(&p->texts, library);
	hwtdi_free(library, p, sizeof(*p));
	hwtd_context_destroy(library);
}

/* Sums. */

uint64_t
hwtdi_profile_sum(uint64_t a, uint64_t b)
{
	return (a > UINT64_MAX - b ? UINT64_MAX : a + b);
}

void
hwtdi_profile_add_sums(struct hwtd_profile_sums *to,
    const struct hwtd_profile_sums *from)
{
	to->calls = hwtdi_profile_sum(to->calls, from->calls);
	to->insns = hwtdi_profile_sum(to->insns, from->insns);
	to->cycles = hwtdi_profile_sum(to->cycles, from->cycles);
	to->ns = hwtdi_profile_sum(to->ns, from->ns);
	to->gap_ns = hwtdi_profile_sum(to->gap_ns, from->gap_ns);
	to->off_ns = hwtdi_profile_sum(to->off_ns, from->off_ns);
	to->gap_bytes = hwtdi_profile_sum(to->gap_bytes, from->gap_bytes);
	to->gaps = hwtdi_profile_sum(to->gaps, from->gaps);
}

/* What readers told does not hold any more. */
static void
touch(struct hwtd_profile *p)
{
	if (p->order != NULL)
		hwtdi_profile_order_drop(p);
}

void
hwtdi_profile_add_seen(struct hwtd_profile *p, enum hwtd_profile_source source,
    const struct hwtd_profile_seen *seen)
{
	struct hwtd_profile_seen *to = &p->seen[source];

	touch(p);
	to->added = hwtdi_profile_sum(to->added, seen->added);
	to->bytes = hwtdi_profile_sum(to->bytes, seen->bytes);
	to->insns = hwtdi_profile_sum(to->insns, seen->insns);
	to->gap_bytes = hwtdi_profile_sum(to->gap_bytes, seen->gap_bytes);
	to->file_gap_bytes = hwtdi_profile_sum(to->file_gap_bytes,
	    seen->file_gap_bytes);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++) {
		to->gaps[i] = hwtdi_profile_sum(to->gaps[i], seen->gaps[i]);
		to->gap_bytes_by_reason[i] = hwtdi_profile_sum(
		    to->gap_bytes_by_reason[i], seen->gap_bytes_by_reason[i]);
	}
	to->timed_calls = hwtdi_profile_sum(to->timed_calls,
	    seen->timed_calls);
	to->estimated_calls = hwtdi_profile_sum(to->estimated_calls,
	    seen->estimated_calls);
	to->interpolated_calls = hwtdi_profile_sum(to->interpolated_calls,
	    seen->interpolated_calls);
}

/* Adding. */

int
hwtdi_profile_begin(struct hwtd_profile *p, const void *by,
    struct hwtd_error *err)
{
	struct hwtdi_profile_adding *adding = p->adding;
	int rc = HWTD_OK;

	if (p->failed)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "something failed to be added to the profile"));
	hwtdi_profile_order_drop(p);
	if (adding == NULL || adding->by == by)
		return (HWTD_OK);
	p->adding = NULL;
	rc = adding->end(p, adding, true, err);
	p->failed = rc < 0;
	return (rc);
}

/* Room for one more: afterwards neither array nor index can fail. */
static int
make_room(struct hwtd_profile *p, struct hwtdi_index *index, void *array,
    size_t *cap, size_t n, size_t elem, const char *what,
    struct hwtd_error *err)
{
	int rc;

	if (n >= p->options.max_functions)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u %s in a profile", p->options.max_functions,
		    what));
	rc = hwtdi_index_reserve(index, p->library, err);
	return (rc == HWTD_OK
		? hwtdi_array_grow(p->library, array, cap, n + 1, elem, err)
		: rc);
}

static int
add_text(struct hwtd_profile *p, const char *text, uint32_t *no_out,
    struct hwtd_error *err)
{
	touch(p);
	return (hwtdi_text_pool_add(&p->texts, p->library, text, no_out, err));
}

static const char *
text_of(const struct hwtd_profile *p, uint32_t no)
{
	const char *text = hwtdi_text_pool_get(&p->texts, no);

	return (text != NULL ? text : "");
}

uint32_t
hwtdi_profile_choose_text(const struct hwtd_profile *p, uint32_t a, uint32_t b)
{
	if (a == b || b == 0)
		return (a);
	if (a == 0)
		return (b);
	return (strcmp(text_of(p, a), text_of(p, b)) <= 0 ? a : b);
}

int
hwtdi_profile_add_image(struct hwtd_profile *p,
    const struct hwtd_profile_image *image, uint32_t *no_out,
    struct hwtd_error *err)
{
	struct hwtdi_profile_image what;
	struct hwtdi_profile_image *at;
	size_t tries = 0;
	uint64_t hash;
	int rc;

	if (image->n_build_id > HWTD_MAX_BUILD_ID)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a build-id of %u bytes", image->n_build_id));
	memset(&what, 0, sizeof(what));
	what.n_build_id = image->n_build_id;
	what.flags = image->flags & HWTD_PROFILE_IMAGEF_ADDRESSES;
	memcpy(what.build_id, image->build_id, image->n_build_id);
	rc = add_text(p, image->name, &what.name, err);
	if (rc != HWTD_OK)
		return (rc);
	hash = hwtdi_hash(p->library, &what, sizeof(what));
	while (hwtdi_index_next(&p->image_index, hash, &tries, no_out)) {
		at = &p->images[*no_out];
		if (at->name == what.name && at->flags == what.flags &&
		    at->n_build_id == what.n_build_id &&
		    memcmp(at->build_id, what.build_id,
			sizeof(at->build_id)) == 0)
			return (HWTD_OK);
	}
	rc = make_room(p, &p->image_index, &p->images, &p->cap_images,
	    p->n_images, sizeof(*p->images), "images", err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)p->n_images++;
	p->images[*no_out] = what;
	hwtdi_index_put(&p->image_index, hash, *no_out);
	return (HWTD_OK);
}

static bool
is_same_function(const struct hwtdi_profile_function *a,
    const struct hwtdi_profile_function *b)
{
	return (a->image == b->image && a->name == b->name &&
	    a->file_off == b->file_off &&
	    ((a->flags ^ b->flags) & KEY_FUNCTION_FLAGS) == 0 &&
	    ((a->flags & HWTD_PROFILE_FUNCTIONF_INLINED) == 0 ||
		a->linkage_name == b->linkage_name));
}

/* Tell what one of them does not; of two answers one whatever came first. */
static void
complete_function(const struct hwtd_profile *p,
    struct hwtdi_profile_function *at,
    const struct hwtdi_profile_function *more)
{
	uint32_t file;

	at->linkage_name = hwtdi_profile_choose_text(p, at->linkage_name,
	    more->linkage_name);
	if (more->bytes > at->bytes)
		at->bytes = more->bytes;
	if ((more->flags & HWTD_PROFILE_FUNCTIONF_LINKED) != 0 &&
	    ((at->flags & HWTD_PROFILE_FUNCTIONF_LINKED) == 0 ||
		more->link_address < at->link_address))
		at->link_address = more->link_address;
	at->flags |= more->flags;
	file = hwtdi_profile_choose_text(p, at->file, more->file);
	if (more->file == file &&
	    (at->file != file ||
		(more->line != 0 && (at->line == 0 || more->line < at->line))))
		at->line = more->line;
	at->file = file;
}

static int
read_function(struct hwtd_profile *p, const struct hwtd_profile_function *f,
    struct hwtdi_profile_function *out, struct hwtd_error *err)
{
	int rc;

	if ((f->image != HWTD_NO_ID && f->image >= p->n_images) ||
	    (f->flags & ~ALL_FUNCTION_FLAGS) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a function with flags %#x of image %u", f->flags,
		    f->image));
	memset(out, 0, sizeof(*out));
	out->image = f->image;
	out->flags = f->flags;
	if ((f->flags &
		(HWTD_PROFILE_FUNCTIONF_OFFSET |
		    HWTD_PROFILE_FUNCTIONF_ADDRESS)) != 0)
		out->file_off = f->file_off;
	if ((f->flags & HWTD_PROFILE_FUNCTIONF_LINKED) != 0)
		out->link_address = f->link_address;
	out->bytes = f->bytes;
	out->line = f->file != NULL && f->file[0] != '\0' ? f->line : 0;
	rc = add_text(p, f->name, &out->name, err);
	if (rc == HWTD_OK)
		rc = add_text(p, f->linkage_name, &out->linkage_name, err);
	if (rc == HWTD_OK)
		rc = add_text(p, f->file, &out->file, err);
	if (out->linkage_name == out->name)
		out->linkage_name = 0;
	return (rc);
}

int
hwtdi_profile_add_function(struct hwtd_profile *p,
    const struct hwtd_profile_function *function, uint32_t *no_out,
    struct hwtd_error *err)
{
	struct hwtdi_profile_function what;
	size_t tries = 0;
	uint64_t hash;
	int rc;

	rc = read_function(p, function, &what, err);
	if (rc != HWTD_OK)
		return (rc);
	hash = hwtdi_hash_pair(p->library->seed, what.file_off,
	    (uint64_t)what.image << 32 | what.name);
	while (hwtdi_index_next(&p->function_index, hash, &tries, no_out))
		if (is_same_function(&p->functions[*no_out], &what)) {
			complete_function(p, &p->functions[*no_out], &what);
			return (HWTD_OK);
		}
	rc = make_room(p, &p->function_index, &p->functions, &p->cap_functions,
	    p->n_functions, sizeof(*p->functions), "functions", err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)p->n_functions++;
	p->functions[*no_out] = what;
	hwtdi_index_put(&p->function_index, hash, *no_out);
	return (HWTD_OK);
}

static uint64_t
hash_of_thread(const struct hwtd_profile *p, uint32_t pid, uint32_t tid,
    uint32_t stream)
{
	return (hwtdi_hash_pair(p->library->seed, (uint64_t)pid << 32 | tid,
	    stream));
}

bool
hwtdi_profile_find_thread(const struct hwtd_profile *p, uint32_t pid,
    uint32_t tid, uint32_t stream, uint32_t *no_out)
{
	const uint64_t hash = hash_of_thread(p, pid, tid, stream);
	size_t tries = 0;

	while (hwtdi_index_next(&p->thread_index, hash, &tries, no_out))
		if (p->threads[*no_out].pid == pid &&
		    p->threads[*no_out].tid == tid &&
		    p->threads[*no_out].stream == stream)
			return (true);
	return (false);
}

int
hwtdi_profile_add_thread(struct hwtd_profile *p,
    const struct hwtd_profile_thread *thread, uint32_t *no_out,
    struct hwtd_error *err)
{
	struct hwtdi_profile_thread *at;
	uint32_t name;
	int rc;

	rc = add_text(p, thread->name, &name, err);
	if (rc != HWTD_OK)
		return (rc);
	if (hwtdi_profile_find_thread(p, thread->pid, thread->tid,
		thread->stream, no_out)) {
		at = &p->threads[*no_out];
		at->name = hwtdi_profile_choose_text(p, at->name, name);
		at->idle_ns = hwtdi_profile_sum(at->idle_ns, thread->idle_ns);
		return (HWTD_OK);
	}
	rc = make_room(p, &p->thread_index, &p->threads, &p->cap_threads,
	    p->n_threads, sizeof(*p->threads), "threads", err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)p->n_threads++;
	p->threads[*no_out] = (struct hwtdi_profile_thread){
		.pid = thread->pid,
		.tid = thread->tid,
		.stream = thread->stream,
		.name = name,
		.idle_ns = thread->idle_ns,
	};
	hwtdi_index_put(&p->thread_index,
	    hash_of_thread(p, thread->pid, thread->tid, thread->stream),
	    *no_out);
	return (HWTD_OK);
}

int
hwtdi_profile_add_line(struct hwtd_profile *p, const char *file, uint32_t line,
    uint32_t *no_out, struct hwtd_error *err)
{
	size_t tries = 0;
	uint64_t hash;
	uint32_t text;
	int rc;

	rc = add_text(p, file, &text, err);
	if (rc != HWTD_OK)
		return (rc);
	if (text == 0) {
		*no_out = HWTD_NO_ID;
		return (HWTD_OK);
	}
	hash = hwtdi_hash_pair(p->library->seed, text, line);
	while (hwtdi_index_next(&p->line_index, hash, &tries, no_out))
		if (p->lines[*no_out].file == text &&
		    p->lines[*no_out].line == line)
			return (HWTD_OK);
	rc = make_room(p, &p->line_index, &p->lines, &p->cap_lines, p->n_lines,
	    sizeof(*p->lines), "lines", err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)p->n_lines++;
	p->lines[*no_out] = (struct hwtdi_profile_line){ text, line };
	hwtdi_index_put(&p->line_index, hash, *no_out);
	return (HWTD_OK);
}

/* Stacks. */

static bool
is_known(uint32_t no, size_t n)
{
	return (no == HWTD_NO_ID || no < n);
}

static bool
find_node(const struct hwtd_profile *p, const struct hwtd_profile_node *node,
    uint64_t hash, uint32_t *no_out)
{
	size_t tries = 0;

	while (hwtdi_index_next(&p->node_index, hash, &tries, no_out)) {
		const struct hwtdi_profile_node *at = &p->nodes[*no_out];

		if (at->parent == node->parent &&
		    at->function == node->function &&
		    at->thread == node->thread && at->type == node->type &&
		    ((at->flags ^ node->flags) & KEY_NODE_FLAGS) == 0)
			return (true);
	}
	return (false);
}

static uint64_t
hash_of_node(const struct hwtd_profile *p,
    const struct hwtd_profile_node *node)
{
	return (hwtdi_hash_pair(p->library->seed,
	    (uint64_t)node->parent << 32 | node->function,
	    (uint64_t)node->thread << 32 | node->type << 8 |
		(node->flags & KEY_NODE_FLAGS)));
}

/* The node of other calls of the same caller. */
static void
make_others(struct hwtd_profile_node *node)
{
	node->function = HWTD_NO_ID;
	node->type = HWTD_CALL_TYPE_FOUND;
	node->flags = HWTD_PROFILE_NODEF_OTHERS;
}

static int
check_node(const struct hwtd_profile *p, struct hwtd_profile_node *node,
    struct hwtd_error *err)
{
	const uint32_t known = HWTD_PROFILE_NODEF_ROOT |
	    HWTD_PROFILE_NODEF_UNTRACED | HWTD_PROFILE_NODEF_OTHERS;

	if (!is_known(node->parent, p->n_nodes) ||
	    !is_known(node->function, p->n_functions) ||
	    !is_known(node->thread, p->n_threads) ||
	    node->type >= HWTD_CALL_TYPES || (node->flags & ~known) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a node of function %u below node %u", node->function,
		    node->parent));
	node->flags &= ~(uint32_t)HWTD_PROFILE_NODEF_ROOT;
	if (node->parent != HWTD_NO_ID) {
		node->thread = p->nodes[node->parent].thread;
		return (HWTD_OK);
	}
	node->function = HWTD_NO_ID;
	node->type = HWTD_CALL_TYPE_FOUND;
	node->flags = HWTD_PROFILE_NODEF_ROOT;
	if ((p->options.flags & HWTD_PROFILE_THREADS) == 0)
		node->thread = HWTD_NO_ID;
	return (HWTD_OK);
}

static int
new_node(struct hwtd_profile *p, const struct hwtd_profile_node *node,
    uint64_t hash, uint32_t *no_out, struct hwtd_error *err)
{
	struct hwtdi_profile_node *at;
	int rc;

	/* Each node has one of other calls at the most. */
	if (p->n_nodes >= (size_t)MOST * 2)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %zu nodes in a profile", p->n_nodes));
	rc = hwtdi_index_reserve(&p->node_index, p->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &p->nodes, &p->cap_nodes,
		    p->n_nodes + 1, sizeof(*p->nodes), err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)p->n_nodes++;
	at = &p->nodes[*no_out];
	memset(at, 0, sizeof(*at));
	at->parent = node->parent;
	at->function = node->function;
	at->thread = node->thread;
	at->type = node->type;
	at->flags = node->flags;
	if (node->parent != HWTD_NO_ID)
		at->depth = p->nodes[node->parent].depth + 1;
	hwtdi_index_put(&p->node_index, hash, *no_out);
	return (HWTD_OK);
}

int
hwtdi_profile_add_node(struct hwtd_profile *p,
    const struct hwtd_profile_node *node, uint32_t *no_out,
    struct hwtd_error *err)
{
	struct hwtd_profile_node what = *node;
	uint64_t hash;
	int rc = check_node(p, &what, err);

	touch(p);
	if (rc != HWTD_OK)
		return (rc);
	if (what.parent != HWTD_NO_ID &&
	    (p->nodes[what.parent].flags & HWTD_PROFILE_NODEF_OTHERS) != 0) {
		p->others = hwtdi_profile_sum(p->others, node->self.calls);
		*no_out = what.parent;
		hwtdi_profile_add_sums(&p->nodes[*no_out].self, &node->self);
		return (HWTD_OK);
	}
	hash = hash_of_node(p, &what);
	if (!find_node(p, &what, hash, no_out)) {
		if (p->n_nodes >= p->options.max_nodes &&
		    what.parent != HWTD_NO_ID) {
			make_others(&what);
			hash = hash_of_node(p, &what);
		}
		if (!find_node(p, &what, hash, no_out))
			rc = new_node(p, &what, hash, no_out, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if ((what.flags & HWTD_PROFILE_NODEF_OTHERS) != 0)
		p->others = hwtdi_profile_sum(p->others, node->self.calls);
	hwtdi_profile_add_sums(&p->nodes[*no_out].self, &node->self);
	p->nodes[*no_out].flags |= what.flags;
	return (HWTD_OK);
}

int
hwtdi_profile_add_root(struct hwtd_profile *p, uint32_t thread,
    uint32_t *no_out, struct hwtd_error *err)
{
	struct hwtd_profile_node root;

	memset(&root, 0, sizeof(root));
	root.parent = HWTD_NO_ID;
	root.function = HWTD_NO_ID;
	root.thread = thread;
	return (hwtdi_profile_add_node(p, &root, no_out, err));
}

/* Code. */

static int
check_code(const struct hwtd_profile *p, const struct hwtdi_profile_code *code,
    const uint8_t *lengths, struct hwtd_error *err)
{
	uint64_t bytes = 0;
	bool fits = true;

	for (size_t i = 0; i < code->insns; i++) {
		bytes += lengths[i];
		fits = fits && lengths[i] != 0 &&
		    lengths[i] <= HWTDI_PROFILE_INSN_MAX;
	}
	if (!fits || code->insns == 0 || bytes != code->bytes ||
	    code->off > UINT64_MAX - bytes ||
	    !is_known(code->image, p->n_images) ||
	    !is_known(code->function, p->n_functions) ||
	    !is_known(code->inlined, p->n_functions) ||
	    !is_known(code->line, p->n_lines))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u instructions of %u bytes at %#llx", code->insns,
		    code->bytes, (unsigned long long)code->off));
	return (HWTD_OK);
}

int
hwtdi_profile_add_code(struct hwtd_profile *p,
    const struct hwtdi_profile_code *code, const uint8_t *lengths,
    struct hwtd_error *err)
{
	int rc = check_code(p, code, lengths, err);

	touch(p);
	/* What has come may be the same code again and again. */
	if (rc == HWTD_OK &&
	    (p->n_blocks >= p->n_ordered * 2 + SPARE_BLOCKS ||
		p->n_blocks >= p->options.max_blocks + SPARE_BLOCKS))
		rc = hwtdi_profile_order_blocks(p, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &p->blocks, &p->cap_blocks,
		    p->n_blocks + 1, sizeof(*p->blocks), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &p->lengths, &p->cap_lengths,
		    p->n_lengths + code->insns, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	p->blocks[p->n_blocks] = *code;
	p->blocks[p->n_blocks++].lengths = p->n_lengths;
	memcpy(p->lengths + p->n_lengths, lengths, code->insns);
	p->n_lengths += code->insns;
	return (HWTD_OK);
}

static bool
is_same_edge(const struct hwtd_profile_edge *a,
    const struct hwtd_profile_edge *b)
{
	return (a->from_off == b->from_off && a->to_off == b->to_off &&
	    a->from_image == b->from_image && a->to_image == b->to_image &&
	    a->from_function == b->from_function &&
	    a->to_function == b->to_function && a->branch == b->branch &&
	    a->flags == b->flags);
}

int
hwtdi_profile_add_edge(struct hwtd_profile *p,
    const struct hwtd_profile_edge *edge, struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash_pair(p->library->seed, edge->from_off,
	    edge->to_off ^ (uint64_t)edge->branch << 56);
	size_t tries = 0;
	uint32_t no;
	int rc;

	touch(p);
	if (!is_known(edge->from_image, p->n_images) ||
	    !is_known(edge->to_image, p->n_images) ||
	    !is_known(edge->from_function, p->n_functions) ||
	    !is_known(edge->to_function, p->n_functions))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an edge from image %u to %u", edge->from_image,
		    edge->to_image));
	while (hwtdi_index_next(&p->edge_index, hash, &tries, &no))
		if (is_same_edge(&p->edges[no], edge)) {
			p->edges[no]
			    .count = hwtdi_profile_sum(p->edges[no].count,
			    edge->count);
			return (HWTD_OK);
		}
	if (p->n_edges >= p->options.max_blocks)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u edges in a profile", p->options.max_blocks));
	rc = hwtdi_index_reserve(&p->edge_index, p->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &p->edges, &p->cap_edges,
		    p->n_edges + 1, sizeof(*p->edges), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&p->edge_index, hash, (uint32_t)p->n_edges);
	p->edges[p->n_edges++] = *edge;
	return (HWTD_OK);
}

int
hwtdi_profile_add_place(struct hwtd_profile *p,
    const struct hwtdi_profile_place *place, struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash_pair(p->library->seed, place->thread,
	    place->cpu);
	size_t tries = 0;
	uint32_t no;
	int rc;

	touch(p);
	if (!is_known(place->thread, p->n_threads))
		return (hwtdi_fail(err, HWTD_E_INVALID, "thread %u",
		    place->thread));
	while (hwtdi_index_next(&p->place_index, hash, &tries, &no)) {
		struct hwtdi_profile_place *at = &p->places[no];

		if (at->thread != place->thread || at->cpu != place->cpu)
			continue;
		at->insns = hwtdi_profile_sum(at->insns, place->insns);
		return (HWTD_OK);
	}
	rc = make_room(p, &p->place_index, &p->places, &p->cap_places,
	    p->n_places, sizeof(*p->places), "threads on CPUs", err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&p->place_index, hash, (uint32_t)p->n_places);
	p->places[p->n_places++] = *place;
	return (HWTD_OK);
}
