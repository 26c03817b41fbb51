/*
 * State of the code graph, shared by its files.
 */
#ifndef HWTDI_GRAPH_INTERNAL_H
#define HWTDI_GRAPH_INTERNAL_H

#include "decode/code/code_graph.h"

/* Numbers stay below these, so that hostile code cannot fill the memory. */
#define HWTDI_GRAPH_MAX_NODES ((uint32_t)1 << 22)
#define HWTDI_GRAPH_MAX_UNITS ((uint32_t)1 << 20)
_Static_assert(HWTDI_GRAPH_MAX_NODES <= HWTDI_GRAPH_USER_BIT,
    "users have the top bit of tokens");

#define HWTDI_CHUNK HWTDI_GRAPH_CHUNK
/* Of units there are few. */
#define HWTDI_UNIT_CHUNK 512u

/* An open-addressed index of numbers + 1, published as a whole. */
struct hwtdi_graph_index {
	struct hwtdi_graph_index *older;
	size_t mask;
	_Atomic uint32_t slots[];
};

/* An array that was outgrown; someone may read it still. */
struct hwtdi_retired {
	struct hwtdi_retired *next;
	void *memory;
	size_t bytes;
};

/* Memory for what never changes. */
struct hwtdi_arena {
	struct hwtdi_arena *next;
	size_t used, size;
	_Alignas(16) uint8_t bytes[];
};

struct hwtdi_code_graph {
	struct hwtd_context *library;
	_Atomic uint32_t users;
	pthread_mutex_t lock;
	_Atomic bool full;
	_Atomic size_t bytes;

	_Atomic(struct hwtdi_node *) nodes;
	uint32_t n_nodes;
	_Atomic uint32_t cap_nodes;
	/* Nodes by unit and offset; parts by node and instructions. */
	_Atomic(struct hwtdi_graph_index *) index;
	struct hwtdi_graph_index *parts;
	uint32_t n_parts;

	_Atomic(_Atomic uint32_t *) returns;
	uint32_t n_pushes;
	_Atomic uint32_t cap_returns;

	uint32_t n_units;
	/* Units by what they are of. */
	struct hwtdi_graph_index *unit_index;

	struct hwtdi_arena *arena;
	struct hwtdi_retired *retired;

	/*
	 * Tables of chunks, of which the first so many are there.  What is
	 * behind these is not set: it would be most of the work for short
	 * streams.
	 */
	uint32_t n_block_chunks, n_push_chunks, n_unit_chunks;
	struct hwtdi_code_block *blocks[HWTDI_GRAPH_MAX_NODES / HWTDI_CHUNK];
	struct hwtdi_push *pushes[HWTDI_GRAPH_MAX_NODES / HWTDI_CHUNK];
	struct hwtdi_code_unit
	    *units[HWTDI_GRAPH_MAX_UNITS / HWTDI_UNIT_CHUNK];
};

/* A superblock as it is being made. */
struct hwtdi_draft {
	struct hwtdi_code_block block;
	uint8_t kind;
	uint16_t insns;
	uint8_t n_pushes;
	struct hwtdi_code_run runs[HWTDI_BLOCK_RUNS];
	uint8_t lengths[HWTDI_BLOCK_INSNS];
	/* Offsets that calls return to. */
	uint32_t pushes[HWTDI_BLOCK_RUNS];
};

/* graph_memory.c */
#define HWTDI_ARENA_BYTES ((size_t)1 << 16)

/* The next size of an array that grows. */
static inline uint32_t
hwtdi_graph_next_cap(uint32_t cap)
{
	return (cap == 0 ? 2048 : cap * 2);
}

/* Memory that counts as the graph's; it is not set. */
void *hwtdi_graph_take(struct hwtdi_code_graph *g, size_t bytes);
void hwtdi_graph_give(struct hwtdi_code_graph *g, void *memory, size_t bytes);
/* Have an arena that nothing is in; false: no memory. */
bool hwtdi_graph_new_arena(struct hwtdi_code_graph *g);

/* `bytes` that never change; NULL: no memory. */
static inline void *
hwtdi_graph_place(struct hwtdi_code_graph *g, size_t bytes)
{
	struct hwtdi_arena *arena = g->arena;
	void *at;

	bytes = (bytes + 7) & ~(size_t)7;
	if (arena == NULL || arena->size - arena->used < bytes) {
		if (!hwtdi_graph_new_arena(g))
			return (NULL);
		arena = g->arena;
	}
	at = arena->bytes + arena->used;
	arena->used += bytes;
	return (at);
}

/*
 * One more chunk of so many bytes in a table of a fixed size, of which *n_inout
 * are there.
 */
bool hwtdi_graph_add_chunk(struct hwtdi_code_graph *g, void *table,
    uint32_t *n_inout, size_t bytes);
/* One more chunk of blocks; false: no memory. */
bool hwtdi_graph_new_blocks(struct hwtdi_code_graph *g);
/*
 * Room for one more in an array that is read without a lock: the new one has
 * what the old one had, and is to be published.  NULL: no memory.
 */
void *hwtdi_graph_outgrow(struct hwtdi_code_graph *g, void *old,
    uint32_t old_cap, size_t elem);
/*
 * An index with room for one more than `n`, of `first` slots if it is new.  The
 * old ones stay behind it, for those who are reading.  NULL: no memory.
 */
struct hwtdi_graph_index *hwtdi_graph_index_grow(struct hwtdi_code_graph *g,
    struct hwtdi_graph_index *index, size_t first,
    uint64_t (*hash_of)(const struct hwtdi_code_graph *, uint32_t));

static inline struct hwtdi_graph_index *
hwtdi_graph_index_reserve(struct hwtdi_code_graph *g,
    struct hwtdi_graph_index *index, uint32_t n, size_t first,
    uint64_t (*hash_of)(const struct hwtdi_code_graph *, uint32_t))
{
	/* Half of the slots stay free. */
	if (index != NULL && ((size_t)n + 1) * 2 <= index->mask + 1)
		return (index);
	return (hwtdi_graph_index_grow(g, index, first, hash_of));
}

void hwtdi_graph_index_put(struct hwtdi_graph_index *index, uint64_t hash,
    uint32_t no);
void hwtdi_graph_index_free(struct hwtdi_code_graph *g,
    struct hwtdi_graph_index *index);

/* An instruction as a draft needs it. */
struct hwtdi_draft_insn {
	uint8_t length;
	/* An hwtd_branch: what it does if it does it. */
	uint8_t branch;
	/* A direct call that may not be made. */
	bool conditional;
	/* As in blocks, but the target is a virtual address. */
	uint8_t target_isa;
	uint16_t binds;
	uint64_t target;
};

/*
 * code_build_arm.c: the instruction at a byte of a unit of Arm code.  *it_inout:
 * state of its IT block, then that of the next one.  False: it is none, or its
 * bytes end too early.
 */
bool hwtdi_arm_draft_insn(const struct hwtdi_code_unit *unit, uint32_t off,
    uint8_t *it_inout, struct hwtdi_draft_insn *out);

/* code_build.c */
/* Go from `off` up to where a trace must speak. */
void hwtdi_code_draft(const struct hwtdi_code_unit *unit, uint32_t off,
    struct hwtdi_draft *out);

#endif /* HWTDI_GRAPH_INTERNAL_H */
