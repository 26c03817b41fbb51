/*
 * The code graph: units and nodes, found without a lock and made under one.
 */
#include "decode/code/graph_internal.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

/* Slots of the first indexes: short streams have few units and parts. */
#define NODE_SLOTS 512
#define FEW_SLOTS 128

static uint64_t
hash_at(const struct hwtdi_code_graph *g, uint32_t unit, uint32_t off)
{
	return (hwtdi_hash_pair(g->library->seed, unit, off));
}

static uint64_t
node_hash(const struct hwtdi_code_graph *g, uint32_t node)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(g, node);

	return (hash_at(g, b->unit, b->off));
}

static uint64_t
part_hash_of(const struct hwtdi_code_graph *g, uint32_t node, uint32_t insns)
{
	return (hwtdi_hash_pair(g->library->seed, node, insns));
}

/* A part keeps the number of its node where others keep their first push. */
static uint64_t
part_hash(const struct hwtdi_code_graph *g, uint32_t part)
{
	const struct hwtdi_node *n = &g->nodes[part];

	return (part_hash_of(g, n->push, n->insns));
}

static uint64_t
unit_hash_of(const struct hwtdi_code_graph *g, const uint8_t *bytes,
    uint32_t length, uint8_t isa, uint64_t address)
{
	const uint64_t key[4] = { (uint64_t)(uintptr_t)bytes, length, isa,
		address };

	return (hwtdi_hash(g->library, key, sizeof(key)));
}

/* Joints are found by their bytes, all others by where those are. */
static uint64_t
joint_hash_of(const struct hwtdi_code_graph *g, const uint8_t *bytes,
    uint32_t length, uint8_t isa, uint64_t address)
{
	return (hwtdi_hash_more(unit_hash_of(g, NULL, length, isa, address),
	    bytes, length));
}

static uint64_t
unit_hash(const struct hwtdi_code_graph *g, uint32_t unit)
{
	const struct hwtdi_code_unit *u = hwtdi_graph_unit_at(g, unit);

	return (u->joint
		? joint_hash_of(g, u->bytes, u->length, u->isa, u->address)
		: unit_hash_of(g, u->bytes, u->length, u->isa, u->address));
}

/* Reading. */

const struct hwtdi_code_block *
hwtdi_graph_block(const struct hwtdi_code_graph *graph, uint32_t node)
{
	return (&graph->blocks[node / HWTDI_CHUNK][node % HWTDI_CHUNK]);
}

const struct hwtdi_code_unit *
hwtdi_graph_unit_at(const struct hwtdi_code_graph *graph, uint32_t unit)
{
	return (&graph->units[unit / HWTDI_UNIT_CHUNK]
			     [unit % HWTDI_UNIT_CHUNK]);
}

const struct hwtdi_push *
hwtdi_graph_push(const struct hwtdi_code_graph *graph, uint32_t push)
{
	return (&graph->pushes[push / HWTDI_CHUNK][push % HWTDI_CHUNK]);
}

void
hwtdi_graph_see(const struct hwtdi_code_graph *graph,
    struct hwtdi_graph_view *out)
{
	/* The numbers first: what is seen then is not smaller. */
	out->n_nodes = atomic_load_explicit(&graph->cap_nodes,
	    memory_order_acquire);
	out->n_returns = atomic_load_explicit(&graph->cap_returns,
	    memory_order_acquire);
	out->nodes = atomic_load_explicit(&graph->nodes, memory_order_acquire);
	out->returns = atomic_load_explicit(&graph->returns,
	    memory_order_acquire);
	out->blocks = graph->blocks;
}

bool
hwtdi_graph_is_full(const struct hwtdi_code_graph *graph)
{
	return (atomic_load_explicit(&graph->full, memory_order_relaxed));
}

size_t
hwtdi_graph_bytes(const struct hwtdi_code_graph *graph)
{
	return (atomic_load_explicit(&graph->bytes, memory_order_relaxed));
}

/* The node at a byte of a unit, or 0. */
static uint32_t
find_node(const struct hwtdi_code_graph *g, uint32_t unit, uint32_t off,
    uint64_t hash)
{
	const struct hwtdi_graph_index *index = atomic_load_explicit(&g->index,
	    memory_order_acquire);
	size_t i;

	if (index == NULL)
		return (0);
	i = (size_t)hash & index->mask;
	for (;; i = (i + 1) & index->mask) {
		uint32_t no = atomic_load_explicit(&index->slots[i],
		    memory_order_acquire);
		const struct hwtdi_code_block *b;

		if (no == 0)
			return (0);
		b = hwtdi_graph_block(g, no - 1);
		if (b->off == off && b->unit == unit)
			return (no - 1);
	}
}

/* Making, under the lock. */

static int
no_memory(struct hwtd_error *err)
{
	return (hwtdi_fail(err, HWTD_E_NOMEM,
	    "out of memory for the code graph"));
}

static int
too_much(struct hwtdi_code_graph *g, struct hwtd_error *err)
{
	atomic_store_explicit(&g->full, true, memory_order_relaxed);
	return (hwtdi_fail(err, HWTD_E_LIMIT,
	    "more than %u different blocks of code", HWTDI_GRAPH_MAX_NODES));
}

/* Number of a new node, which is not published yet. */
static inline int
new_node(struct hwtdi_code_graph *g, uint32_t *out, struct hwtd_error *err)
{
	const uint32_t no = g->n_nodes;
	struct hwtdi_node *nodes = g->nodes;

	if (no >= HWTDI_GRAPH_MAX_NODES)
		return (too_much(g, err));
	if (no / HWTDI_CHUNK >= g->n_block_chunks &&
	    !hwtdi_graph_new_blocks(g))
		return (no_memory(err));
	if (no == g->cap_nodes) {
		nodes = hwtdi_graph_outgrow(g, nodes, no, sizeof(*nodes));
		if (nodes == NULL)
			return (no_memory(err));
		atomic_store_explicit(&g->nodes, nodes, memory_order_release);
		/* Behind the array: see hwtdi_graph_see(). */
		atomic_store_explicit(&g->cap_nodes, hwtdi_graph_next_cap(no),
		    memory_order_release);
	}
	*out = no;
	return (HWTD_OK);
}

static int
add_push(struct hwtdi_code_graph *g, uint32_t unit, uint32_t off,
    struct hwtd_error *err)
{
	const uint32_t no = g->n_pushes;
	_Atomic uint32_t *returns = g->returns;
	struct hwtdi_push *push;

	if (no >= HWTDI_GRAPH_MAX_NODES)
		return (too_much(g, err));
	if (no / HWTDI_CHUNK >= g->n_push_chunks &&
	    !hwtdi_graph_add_chunk(g, g->pushes, &g->n_push_chunks,
		HWTDI_CHUNK * sizeof(*push)))
		return (no_memory(err));
	if (no == g->cap_returns) {
		returns = hwtdi_graph_outgrow(g, (void *)(uintptr_t)returns,
		    no, sizeof(*returns));
		if (returns == NULL)
			return (no_memory(err));
		atomic_store_explicit(&g->returns, returns,
		    memory_order_release);
		atomic_store_explicit(&g->cap_returns,
		    hwtdi_graph_next_cap(no), memory_order_release);
	}
	push = &g->pushes[no / HWTDI_CHUNK][no % HWTDI_CHUNK];
	push->unit = unit;
	push->off = off;
	atomic_init(&returns[no], 0);
	g->n_pushes++;
	return (HWTD_OK);
}

/* Copy what lies in a draft to where it stays. */
static int
keep_block(struct hwtdi_code_graph *g, const struct hwtdi_draft *draft,
    struct hwtdi_code_block *out, struct hwtd_error *err)
{
	const bool one = draft->block.n_runs == 1;
	const size_t runs = one ? 0
				: draft->block.n_runs * sizeof(draft->runs[0]);
	uint8_t *kept = hwtdi_graph_place(g, runs + draft->insns);

	if (kept == NULL)
		return (no_memory(err));
	*out = draft->block;
	if (one)
		out->only = draft->runs[0];
	memcpy(kept, draft->runs, runs);
	memcpy(kept + runs, draft->lengths, draft->insns);
	out->runs = one ? &out->only
			: (const struct hwtdi_code_run *)(const void *)kept;
	out->lengths = kept + runs;
	return (HWTD_OK);
}

static void
clear_links(struct hwtdi_node *node)
{
	atomic_init(&node->next[0], 0);
	atomic_init(&node->next[1], 0);
}

static int
add_node(struct hwtdi_code_graph *g, uint32_t unit, uint32_t off,
    uint64_t hash, uint32_t *node_out, struct hwtd_error *err)
{
	struct hwtdi_graph_index *index;
	struct hwtdi_draft draft;
	struct hwtdi_node *node;
	uint32_t no = 0, first = g->n_pushes;
	int rc;

	hwtdi_code_draft(hwtdi_graph_unit_at(g, unit), off, &draft);
	draft.block.unit = unit;
	rc = new_node(g, &no, err);
	index = rc == HWTD_OK ? hwtdi_graph_index_reserve(g, g->index,
				    g->n_nodes, NODE_SLOTS, node_hash)
			      : NULL;
	if (rc == HWTD_OK && index == NULL)
		rc = no_memory(err);
	if (rc == HWTD_OK)
		atomic_store_explicit(&g->index, index, memory_order_release);
	if (rc == HWTD_OK)
		rc = keep_block(g, &draft,
		    &g->blocks[no / HWTDI_CHUNK][no % HWTDI_CHUNK], err);
	for (uint32_t i = 0; rc == HWTD_OK && i < draft.n_pushes; i++)
		rc = add_push(g, unit, draft.pushes[i], err);
	if (rc != HWTD_OK)
		return (rc);
	node = &g->nodes[no];
	clear_links(node);
	node->insns = draft.insns;
	node->kind = draft.kind;
	node->pushes = draft.n_pushes;
	node->push = first;
	g->n_nodes++;
	hwtdi_graph_index_put(index, hash, no);
	*node_out = no;
	return (HWTD_OK);
}

static int
node_at(struct hwtdi_code_graph *g, uint32_t unit, uint32_t off, uint64_t hash,
    uint32_t *node_out, struct hwtd_error *err)
{
	uint32_t found = find_node(g, unit, off, hash);

	*node_out = found;
	return (found != 0 ? HWTD_OK
			   : add_node(g, unit, off, hash, node_out, err));
}

int
hwtdi_graph_node(struct hwtdi_code_graph *graph, uint32_t unit, uint32_t off,
    uint32_t *node_out, struct hwtd_error *err)
{
	const uint64_t hash = hash_at(graph, unit, off);
	int rc;

	*node_out = find_node(graph, unit, off, hash);
	if (*node_out != 0)
		return (HWTD_OK);
	pthread_mutex_lock(&graph->lock);
	rc = node_at(graph, unit, off, hash, node_out, err);
	pthread_mutex_unlock(&graph->lock);
	return (rc);
}

/* Where a link leads, from the unit's first byte.  False: not in the unit. */
static bool
link_target(const struct hwtdi_code_graph *g, uint32_t node,
    const struct hwtdi_code_block *b, unsigned int taken, uint32_t *out)
{
	const bool goes = g->nodes[node].kind == HWTDI_NODE_ON || taken != 0;
	const int64_t target = goes ? b->target : (int64_t)b->end;

	*out = (uint32_t)target;
	return (target >= 0 &&
	    target < (int64_t)hwtdi_graph_unit_at(g, b->unit)->length &&
	    (!goes || b->target_isa == 0));
}

int
hwtdi_graph_link(struct hwtdi_code_graph *graph, uint32_t node,
    unsigned int taken, uint32_t *next_out, struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(graph, node);
	uint32_t target, next = 0;
	int rc = HWTD_OK;

	pthread_mutex_lock(&graph->lock);
	if (link_target(graph, node, b, taken, &target)) {
		rc = node_at(graph, b->unit, target,
		    hash_at(graph, b->unit, target), &next, err);
		if (rc == HWTD_OK)
			atomic_store_explicit(&graph->nodes[node].next[taken],
			    next, memory_order_release);
	}
	pthread_mutex_unlock(&graph->lock);
	*next_out = next;
	return (rc);
}

int
hwtdi_graph_return(struct hwtdi_code_graph *graph, uint32_t push,
    uint32_t *node_out, struct hwtd_error *err)
{
	const struct hwtdi_push *p;
	int rc;

	pthread_mutex_lock(&graph->lock);
	p = hwtdi_graph_push(graph, push);
	rc = node_at(graph, p->unit, p->off, hash_at(graph, p->unit, p->off),
	    node_out, err);
	if (rc == HWTD_OK)
		atomic_store_explicit(&graph->returns[push], *node_out,
		    memory_order_release);
	pthread_mutex_unlock(&graph->lock);
	return (rc);
}

/* Parts. */

/* The first instructions of a block. */
static int
cut_block(struct hwtdi_code_graph *g, const struct hwtdi_code_block *whole,
    uint32_t insns, struct hwtdi_code_block *out, struct hwtd_error *err)
{
	struct hwtdi_code_run *runs;
	uint32_t left = insns, i = 0;
	const uint8_t *length = whole->lengths;

	while (left > whole->runs[i].insns) {
		left -= whole->runs[i].insns;
		length += whole->runs[i++].insns;
	}
	*out = *whole;
	out->n_runs = (uint16_t)(i + 1);
	out->target_isa = 0;
	runs = i == 0 ? &out->only
		      : hwtdi_graph_place(g, out->n_runs * sizeof(*runs));
	if (runs == NULL)
		return (no_memory(err));
	memcpy(runs, whole->runs, out->n_runs * sizeof(*runs));
	out->runs = runs;
	if (left == runs[i].insns) {
		if (i + 1u < whole->n_runs)
			out->target = whole->runs[i + 1].off;
		return (HWTD_OK);
	}
	runs[i].branch = HWTD_BRANCH_NONE;
	runs[i].insns = left;
	runs[i].bytes = 0;
	for (uint32_t k = 0; k < left; k++) {
		runs[i].to_last = (uint16_t)runs[i].bytes;
		runs[i].bytes += length[k];
	}
	out->end = runs[i].off + runs[i].bytes;
	return (HWTD_OK);
}

static uint32_t
find_part(const struct hwtdi_code_graph *g, uint32_t node, uint32_t insns)
{
	const struct hwtdi_graph_index *index = g->parts;
	size_t i;

	if (index == NULL)
		return (0);
	i = (size_t)part_hash_of(g, node, insns) & index->mask;
	for (; index->slots[i] != 0; i = (i + 1) & index->mask) {
		const struct hwtdi_node *n = &g->nodes[index->slots[i] - 1];

		if (n->push == node && n->insns == insns)
			return (index->slots[i] - 1);
	}
	return (0);
}

static int
add_part(struct hwtdi_code_graph *g, uint32_t node, uint32_t insns,
    uint32_t *token_out, struct hwtd_error *err)
{
	struct hwtdi_graph_index *index;
	uint32_t no = 0;
	int rc;

	rc = new_node(g, &no, err);
	if (rc != HWTD_OK)
		return (rc);
	index = hwtdi_graph_index_reserve(g, g->parts, g->n_parts, FEW_SLOTS,
	    part_hash);
	if (index == NULL)
		return (no_memory(err));
	g->parts = index;
	rc = cut_block(g, hwtdi_graph_block(g, node), insns,
	    &g->blocks[no / HWTDI_CHUNK][no % HWTDI_CHUNK], err);
	if (rc != HWTD_OK)
		return (rc);
	clear_links(&g->nodes[no]);
	g->nodes[no].insns = (uint16_t)insns;
	g->nodes[no].kind = HWTDI_NODE_PART;
	g->nodes[no].pushes = 0;
	g->nodes[no].push = node;
	g->n_nodes++;
	g->n_parts++;
	hwtdi_graph_index_put(index, part_hash(g, no), no);
	*token_out = no;
	return (HWTD_OK);
}

int
hwtdi_graph_part(struct hwtdi_code_graph *graph, uint32_t node, uint32_t insns,
    uint32_t *token_out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	pthread_mutex_lock(&graph->lock);
	if (graph->nodes[node].insns == insns)
		*token_out = node;
	else {
		*token_out = find_part(graph, node, insns);
		if (*token_out == 0)
			rc = add_part(graph, node, insns, token_out, err);
	}
	pthread_mutex_unlock(&graph->lock);
	return (rc);
}

/* Units. */

/* Branches in 64-bit code lead as far from anywhere. */
static uint64_t
address_of_unit(uint8_t isa, uint64_t address)
{
	return (isa == HWTD_ISA_X86_64 || isa == HWTD_ISA_A64 ? 0 : address);
}

static bool
is_unit(const struct hwtdi_code_unit *u, const struct hwtdi_code_unit *other)
{
	if (u->length != other->length || u->isa != other->isa ||
	    u->address != other->address || u->joint != other->joint)
		return (false);
	return (u->joint ? memcmp(u->bytes, other->bytes, u->length) == 0
			 : u->bytes == other->bytes);
}

static int
add_unit(struct hwtdi_code_graph *g, const struct hwtdi_code_unit *unit,
    uint64_t hash, uint32_t *unit_out, struct hwtd_error *err)
{
	const uint32_t no = g->n_units;
	struct hwtdi_graph_index *index;
	struct hwtdi_code_unit *kept;
	uint8_t *bytes;

	if (no >= HWTDI_GRAPH_MAX_UNITS)
		return (too_much(g, err));
	index = hwtdi_graph_index_reserve(g, g->unit_index, g->n_units,
	    FEW_SLOTS, unit_hash);
	if (index == NULL)
		return (no_memory(err));
	g->unit_index = index;
	if (no / HWTDI_UNIT_CHUNK >= g->n_unit_chunks &&
	    !hwtdi_graph_add_chunk(g, g->units, &g->n_unit_chunks,
		HWTDI_UNIT_CHUNK * sizeof(*kept)))
		return (no_memory(err));
	kept = &g->units[no / HWTDI_UNIT_CHUNK][no % HWTDI_UNIT_CHUNK];
	*kept = *unit;
	if (unit->joint) {
		bytes = hwtdi_graph_place(g, unit->length);
		if (bytes == NULL)
			return (no_memory(err));
		memcpy(bytes, unit->bytes, unit->length);
		kept->bytes = bytes;
	}
	g->n_units++;
	hwtdi_graph_index_put(index, hash, no);
	*unit_out = no;
	return (HWTD_OK);
}

static int
unit_of(struct hwtdi_code_graph *g, const struct hwtdi_code_unit *unit,
    uint64_t hash, uint32_t *unit_out, struct hwtd_error *err)
{
	const struct hwtdi_graph_index *index;
	uint32_t no;
	int rc;

	pthread_mutex_lock(&g->lock);
	index = g->unit_index;
	for (size_t i = (size_t)hash; index != NULL; i++) {
		no = index->slots[i & index->mask];
		if (no == 0)
			break;
		if (is_unit(hwtdi_graph_unit_at(g, no - 1), unit)) {
			pthread_mutex_unlock(&g->lock);
			*unit_out = no - 1;
			return (HWTD_OK);
		}
	}
	rc = add_unit(g, unit, hash, unit_out, err);
	pthread_mutex_unlock(&g->lock);
	return (rc);
}

int
hwtdi_graph_unit(struct hwtdi_code_graph *graph, const uint8_t *bytes,
    uint64_t length, uint8_t isa, uint64_t address, uint32_t *unit_out,
    struct hwtd_error *err)
{
	struct hwtdi_code_unit unit = { .bytes = bytes,
		.length = (uint32_t)(length > UINT32_MAX - HWTDI_CHUNK
			? UINT32_MAX - HWTDI_CHUNK
			: length),
		.isa = isa,
		.address = address_of_unit(isa, address) };

	return (unit_of(graph, &unit,
	    unit_hash_of(graph, bytes, unit.length, isa, unit.address),
	    unit_out, err));
}

int
hwtdi_graph_joint(struct hwtdi_code_graph *graph, const uint8_t *bytes,
    uint32_t length, uint8_t isa, uint64_t address, uint32_t *unit_out,
    struct hwtd_error *err)
{
	struct hwtdi_code_unit unit = { .bytes = bytes,
		.length = length,
		.isa = isa,
		.joint = true,
		.address = address_of_unit(isa, address) };

	return (unit_of(graph, &unit,
	    joint_hash_of(graph, bytes, length, isa, unit.address), unit_out,
	    err));
}

/* Life. */

int
hwtdi_graph_create(struct hwtd_context *library, struct hwtdi_code_graph **out,
    struct hwtd_error *err)
{
	struct hwtdi_code_graph *g = hwtdi_alloc(library, sizeof(*g));
	uint32_t no;
	int rc;

	if (g == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*g)));
	memset(g, 0, offsetof(struct hwtdi_code_graph, blocks));
	g->library = library;
	atomic_init(&g->users, 1);
	atomic_init(&g->bytes, sizeof(*g));
	pthread_mutex_init(&g->lock, NULL);
	/* Number 0 stands for none; what it is of fits nothing. */
	rc = new_node(g, &no, err);
	if (rc == HWTD_OK)
		rc = add_push(g, UINT32_MAX, 0, err);
	if (rc != HWTD_OK) {
		hwtdi_graph_drop(g);
		return (rc);
	}
	memset(g->nodes, 0, sizeof(g->nodes[0]));
	memset(&g->blocks[0][0], 0, sizeof(g->blocks[0][0]));
	g->blocks[0][0].unit = UINT32_MAX;
	g->n_nodes = 1;
	*out = g;
	return (HWTD_OK);
}

struct hwtdi_code_graph *
hwtdi_graph_hold(struct hwtdi_code_graph *graph)
{
	atomic_fetch_add_explicit(&graph->users, 1, memory_order_relaxed);
	return (graph);
}

static void
free_chunks(struct hwtdi_code_graph *g, void *chunks, size_t n, size_t bytes)
{
	uint8_t *at = chunks;

	for (size_t i = 0; i < n; i++) {
		void *chunk;

		memcpy(&chunk, at + i * sizeof(chunk), sizeof(chunk));
		hwtdi_graph_give(g, chunk, bytes);
	}
}

void
hwtdi_graph_drop(struct hwtdi_code_graph *g)
{
	struct hwtd_context *library;

	if (g == NULL ||
	    atomic_fetch_sub_explicit(&g->users, 1, memory_order_acq_rel) != 1)
		return;
	library = g->library;
	while (g->retired != NULL) {
		struct hwtdi_retired *note = g->retired;

		g->retired = note->next;
		hwtdi_graph_give(g, note->memory, note->bytes);
		hwtdi_graph_give(g, note, sizeof(*note));
	}
	while (g->arena != NULL) {
		struct hwtdi_arena *arena = g->arena;

		g->arena = arena->next;
		hwtdi_graph_give(g, arena, HWTDI_ARENA_BYTES);
	}
	hwtdi_graph_give(g, g->nodes,
	    g->cap_nodes * sizeof(struct hwtdi_node));
	hwtdi_graph_give(g, (void *)(uintptr_t)g->returns,
	    g->cap_returns * sizeof(uint32_t));
	free_chunks(g, g->pushes, g->n_push_chunks,
	    HWTDI_CHUNK * sizeof(struct hwtdi_push));
	free_chunks(g, g->units, g->n_unit_chunks,
	    HWTDI_UNIT_CHUNK * sizeof(struct hwtdi_code_unit));
	hwtdi_graph_index_free(g, g->index);
	hwtdi_graph_index_free(g, g->parts);
	hwtdi_graph_index_free(g, g->unit_index);
	pthread_mutex_destroy(&g->lock);
	hwtdi_free(library, g, sizeof(*g));
}
