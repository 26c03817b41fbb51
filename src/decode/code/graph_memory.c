/*
 * The code graph: memory of its arrays, which others read while they grow.
 */
#include <string.h>

#include "decode/code/graph_internal.h"

/* Nothing is touched: much of an array may never be used. */
void *
hwtdi_graph_take(struct hwtdi_code_graph *g, size_t bytes)
{
	void *memory = hwtdi_alloc(g->library, bytes);

	if (memory != NULL)
		atomic_fetch_add_explicit(&g->bytes, bytes,
		    memory_order_relaxed);
	return (memory);
}

void
hwtdi_graph_give(struct hwtdi_code_graph *g, void *memory, size_t bytes)
{
	if (memory == NULL)
		return;
	atomic_fetch_sub_explicit(&g->bytes, bytes, memory_order_relaxed);
	hwtdi_free(g->library, memory, bytes);
}

/* Keep an array until nobody can read it any more. */
static void
retire(struct hwtdi_code_graph *g, struct hwtdi_retired *note, void *memory,
    size_t bytes)
{
	note->memory = memory;
	note->bytes = bytes;
	note->next = g->retired;
	g->retired = note;
}

bool
hwtdi_graph_new_arena(struct hwtdi_code_graph *g)
{
	struct hwtdi_arena *arena = hwtdi_graph_take(g, HWTDI_ARENA_BYTES);

	if (arena == NULL)
		return (false);
	arena->next = g->arena;
	arena->used = 0;
	arena->size = HWTDI_ARENA_BYTES - sizeof(*arena);
	g->arena = arena;
	return (true);
}

bool
hwtdi_graph_add_chunk(struct hwtdi_code_graph *g, void *table,
    uint32_t *n_inout, size_t bytes)
{
	void *chunk = hwtdi_graph_take(g, bytes);

	if (chunk == NULL)
		return (false);
	memcpy((uint8_t *)table + *n_inout * sizeof(chunk), &chunk,
	    sizeof(chunk));
	*n_inout += 1;
	return (true);
}

/* Blocks begin with lines of the cache. */
#define LINE 64

bool
hwtdi_graph_new_blocks(struct hwtdi_code_graph *g)
{
	const size_t bytes = HWTDI_CHUNK * sizeof(struct hwtdi_code_block) +
	    LINE;
	struct hwtdi_retired *note;
	uint8_t *memory;

	_Static_assert(sizeof(struct hwtdi_code_block) == LINE,
	    "a block is a line");
	note = hwtdi_graph_take(g, sizeof(*note));
	memory = note != NULL ? hwtdi_graph_take(g, bytes) : NULL;
	if (memory == NULL) {
		hwtdi_graph_give(g, note, sizeof(*note));
		return (false);
	}
	/* It is given back at the end. */
	retire(g, note, memory, bytes);
	memory += LINE - (uintptr_t)memory % LINE;
	g->blocks[g->n_block_chunks++] = (struct hwtdi_code_block *)(void *)
	    memory;
	return (true);
}

void *
hwtdi_graph_outgrow(struct hwtdi_code_graph *g, void *old, uint32_t old_cap,
    size_t elem)
{
	const uint32_t cap = hwtdi_graph_next_cap(old_cap);
	struct hwtdi_retired *note = NULL;
	void *array = hwtdi_graph_take(g, cap * elem);

	if (array == NULL)
		return (NULL);
	if (old != NULL) {
		note = hwtdi_graph_take(g, sizeof(*note));
		if (note == NULL) {
			hwtdi_graph_give(g, array, cap * elem);
			return (NULL);
		}
		memcpy(array, old, old_cap * elem);
		retire(g, note, old, old_cap * elem);
	}
	return (array);
}

/* Indexes. */

/* Small ones grow faster, so that little is put anew. */
#define MANY_SLOTS 65536

static size_t
index_bytes(size_t slots)
{
	return (sizeof(struct hwtdi_graph_index) + slots * sizeof(uint32_t));
}

static struct hwtdi_graph_index *
index_new(struct hwtdi_code_graph *g, size_t slots)
{
	struct hwtdi_graph_index *index = hwtdi_graph_take(g,
	    index_bytes(slots));

	if (index == NULL)
		return (NULL);
	memset(index, 0, index_bytes(slots));
	index->mask = slots - 1;
	return (index);
}

void
hwtdi_graph_index_put(struct hwtdi_graph_index *index, uint64_t hash,
    uint32_t no)
{
	size_t i = (size_t)hash & index->mask;

	while (atomic_load_explicit(&index->slots[i], memory_order_relaxed) !=
	    0)
		i = (i + 1) & index->mask;
	atomic_store_explicit(&index->slots[i], no + 1, memory_order_release);
}

void
hwtdi_graph_index_free(struct hwtdi_code_graph *g,
    struct hwtdi_graph_index *index)
{
	while (index != NULL) {
		struct hwtdi_graph_index *older = index->older;

		hwtdi_graph_give(g, index, index_bytes(index->mask + 1));
		index = older;
	}
}

struct hwtdi_graph_index *
hwtdi_graph_index_grow(struct hwtdi_code_graph *g,
    struct hwtdi_graph_index *index, size_t first,
    uint64_t (*hash_of)(const struct hwtdi_code_graph *, uint32_t))
{
	struct hwtdi_graph_index *bigger;
	size_t slots = first;

	if (index != NULL)
		slots = (index->mask + 1) * (index->mask < MANY_SLOTS ? 4 : 2);
	bigger = index_new(g, slots);
	if (bigger == NULL)
		return (NULL);
	bigger->older = index;
	for (size_t i = 0; index != NULL && i <= index->mask; i++) {
		uint32_t no = atomic_load_explicit(&index->slots[i],
		    memory_order_relaxed);

		if (no != 0)
			hwtdi_graph_index_put(bigger, hash_of(g, no - 1),
			    no - 1);
	}
	return (bigger);
}
