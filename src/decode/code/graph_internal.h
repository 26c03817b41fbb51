/*
 * State of the code graph, shared by its files.
 */
#ifndef HWTDI_GRAPH_INTERNAL_H
#define HWTDI_GRAPH_INTERNAL_H

#include "decode/code/code_graph.h"

/* Numbers stay below these, so that hostile code cannot fill the memory. */
#define HWTDI_GRAPH_MAX_NODES ((uint32_t)1 << 22)
#define HWTDI_GRAPH_MAX_UNITS ((uint32_t)1 << 20)

#define HWTDI_CHUNK HWTDI_GRAPH_CHUNK

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
	struct hwtdi_code_block *blocks[HWTDI_GRAPH_MAX_NODES / HWTDI_CHUNK];
	/* Nodes by unit and offset; parts by node and instructions. */
	_Atomic(struct hwtdi_graph_index *) index;
	struct hwtdi_graph_index *parts;
	uint32_t n_parts;

	_Atomic(_Atomic uint32_t *) returns;
	uint32_t n_pushes;
	_Atomic uint32_t cap_returns;
	struct hwtdi_push *pushes[HWTDI_GRAPH_MAX_NODES / HWTDI_CHUNK];

	struct hwtdi_code_unit *units[HWTDI_GRAPH_MAX_UNITS / HWTDI_CHUNK];
	uint32_t n_units;
	/* Units by what they are of. */
	struct hwtdi_graph_index *unit_index;

	struct hwtdi_arena *arena;
	struct hwtdi_retired *retired;
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

/* code_build.c */
/* Go from `off` up to where a trace must speak. */
void hwtdi_code_draft(const struct hwtdi_code_unit *unit, uint32_t off,
    struct hwtdi_draft *out);

#endif /* HWTDI_GRAPH_INTERNAL_H */
