/*
 * The code graph: what code does between two places where a trace must speak.
 *
 * A *unit* is a run of code bytes in one mode.  A *node* is a superblock of it:
 * instructions from one address on, through direct jumps and calls, up to the
 * first that a trace has to say something about.  Nothing in it depends on the
 * address at which the bytes are mapped, so all processes share it.
 *
 * In A32 and T32 all that ends a node but a direct jump may have a condition, or be
 * in an IT block: RETURN, INDIRECT and FAR nodes with HWTDI_ARM_CONDITIONAL in
 * `binds` may go on at `end` instead, which is where hwtdi_graph_link() with
 * taken == 0 leads, and an indirect call then pushes nothing.  A conditional
 * direct branch has the class CONDITIONAL in its run, be it a call; others have
 * the class that they have without the condition.
 *
 * Nodes of Arm code also end with what some protocols have an atom for though it
 * is no branch, such as ISB: HWTDI_ARM_* in `binds` says so.
 *
 * Nodes are made on demand under a lock, and read without one: who has the id of
 * a node can read it for as long as the graph is.  Ids stand for code in flows,
 * where they are called tokens.
 */
#ifndef HWTDI_CODE_GRAPH_H
#define HWTDI_CODE_GRAPH_H

#include <hwtdecode/event.h>
#include <pthread.h>

#include "base/library.h"

/* How a node ends. */
enum hwtdi_node_kind {
	/* Node 0: not known yet. */
	HWTDI_NODE_NONE = 0,
	/* A conditional branch; `next` by its outcome; no pushes. */
	HWTDI_NODE_COND,
	/* The same with pushes. */
	HWTDI_NODE_COND_PUSH,
	/*
	 * A direct call under a condition, of A32 and T32: the same, but the last
	 * push is its own, for when it is taken.
	 */
	HWTDI_NODE_COND_CALL,
	HWTDI_NODE_RETURN,
	HWTDI_NODE_INDIRECT,
	/* A far transfer. */
	HWTDI_NODE_FAR,
	/* Goes on at next[0] without trace; see `binds`. */
	HWTDI_NODE_ON,
	/* Goes on at `target`, which is not in the unit, or see target_isa. */
	HWTDI_NODE_AWAY,
	/* Its direct jumps lead back into it. */
	HWTDI_NODE_LOOP,
	/* The bytes behind it are no instruction. */
	HWTDI_NODE_BAD,
	/* The instruction behind it has bytes behind the unit. */
	HWTDI_NODE_CUT,
	/* The first instructions of another node; not to be walked. */
	HWTDI_NODE_PART
};

/* No id of a node has this bit: it is free for who needs other ids as well. */
#define HWTDI_GRAPH_USER_BIT 0x80000000u

/* What walking needs. */
struct hwtdi_node {
	/* Nodes; 0: not known yet, or not in the unit. */
	_Atomic uint32_t next[2];
	uint16_t insns;
	uint8_t kind;
	/* Calls in it, and the first of their pushes. */
	uint8_t pushes;
	uint32_t push;
};

/* Instructions at consecutive addresses; at most the last is a branch. */
struct hwtdi_code_run {
	/* First byte, from the unit's first. */
	uint32_t off;
	/* From there to the last instruction. */
	uint16_t to_last;
	/* An hwtd_branch. */
	uint8_t branch;
	uint8_t reserved;
	/* As in rows, side by side. */
	uint32_t insns;
	uint32_t bytes;
};

/* The last instruction, from the unit's first byte. */
static inline uint32_t
hwtdi_run_last(const struct hwtdi_code_run *r)
{
	return (r->off + r->to_last);
}

#define HWTDI_BLOCK_RUNS 48
#define HWTDI_BLOCK_INSNS 192

/* The rest of a node; it has a line of the cache for itself. */
struct hwtdi_code_block {
	const struct hwtdi_code_run *runs;
	/* Of each instruction, in order. */
	const uint8_t *lengths;
	uint32_t unit;
	uint32_t off;
	/* Behind the last instruction. */
	uint32_t end;
	uint16_t n_runs;
	/* HWTDI_X86_* or HWTDI_ARM_* bits of the last instruction. */
	uint16_t binds;
	/*
	 * Of a direct branch at the end, or of AWAY: where it leads, from the
	 * unit's first byte.
	 */
	int64_t target;
	/* `runs` is this, if it is the only one: most are. */
	struct hwtdi_code_run only;
	/* An hwtd_isa: of the code at `target`; 0: that of the unit. */
	uint8_t target_isa;
	uint8_t reserved[7];
};

struct hwtdi_code_unit {
	const uint8_t *bytes;
	uint32_t length;
	/* An hwtd_isa. */
	uint8_t isa;
	/* The bytes are those of one instruction, copied. */
	bool joint;
	/*
	 * Of 16- and 32-bit code: the address of the first byte, because what
	 * branches cut off depends on it, in T32 below too; else 0.
	 */
	uint64_t address;
};

/* A call: where it returns to. */
struct hwtdi_push {
	uint32_t unit;
	uint32_t off;
};

struct hwtdi_code_graph;

/*
 * Arrays that are read without a lock.  They move when they grow; what was there
 * before stays, but links that are found later are only in the new ones.
 */
struct hwtdi_graph_view {
	struct hwtdi_node *nodes;
	/* By push: the node at its return address, or 0. */
	_Atomic uint32_t *returns;
	/* Numbers below these are in them. */
	uint32_t n_nodes, n_returns;
	/* Chunks of blocks; those of nodes that are known are there. */
	struct hwtdi_code_block *const *blocks;
};

/* Entries of an array in chunks, which never move. */
#define HWTDI_GRAPH_CHUNK 2048u

static inline const struct hwtdi_code_block *
hwtdi_graph_view_block(const struct hwtdi_graph_view *view, uint32_t node)
{
	return (&view->blocks[node / HWTDI_GRAPH_CHUNK]
			     [node % HWTDI_GRAPH_CHUNK]);
}

/*
 * The node at the return address of a push, or 0: not known, or in newer arrays
 * than these.  The two grow apart, so one can name what the other has not.
 */
static inline uint32_t
hwtdi_graph_returned(const struct hwtdi_graph_view *view, uint32_t push)
{
	uint32_t node;

	if (push >= view->n_returns)
		return (0);
	node = atomic_load_explicit(&view->returns[push],
	    memory_order_acquire);
	return (node < view->n_nodes ? node : 0);
}

int hwtdi_graph_create(struct hwtd_context *library,
    struct hwtdi_code_graph **out, struct hwtd_error *err);
struct hwtdi_code_graph *hwtdi_graph_hold(struct hwtdi_code_graph *graph);
void hwtdi_graph_drop(struct hwtdi_code_graph *graph);

/* It has so much code that a new one should be begun. */
bool hwtdi_graph_is_full(const struct hwtdi_code_graph *graph);

/* Bytes of memory that it holds. */
size_t hwtdi_graph_bytes(const struct hwtdi_code_graph *graph);

void hwtdi_graph_see(const struct hwtdi_code_graph *graph,
    struct hwtdi_graph_view *out);

/*
 * The unit of these bytes at an address; they stay as long as the graph is used.
 * More than 4 GiB are cut off.  HWTD_OK, HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_graph_unit(struct hwtdi_code_graph *graph, const uint8_t *bytes,
    uint64_t length, uint8_t isa, uint64_t address, uint32_t *unit_out,
    struct hwtd_error *err);
/* The same of one instruction, whose bytes are copied. */
int hwtdi_graph_joint(struct hwtdi_code_graph *graph, const uint8_t *bytes,
    uint32_t length, uint8_t isa, uint64_t address, uint32_t *unit_out,
    struct hwtd_error *err);

/*
 * The node at a byte of a unit.  HWTD_OK, HWTD_E_NOMEM, HWTD_E_LIMIT: see
 * hwtdi_graph_is_full().
 */
int hwtdi_graph_node(struct hwtdi_code_graph *graph, uint32_t unit,
    uint32_t off, uint32_t *node_out, struct hwtd_error *err);

/* Follow a link, and remember it; *next_out is 0 if it leads away. */
int hwtdi_graph_link(struct hwtdi_code_graph *graph, uint32_t node,
    unsigned int taken, uint32_t *next_out, struct hwtd_error *err);

/* The node at the return address of a push. */
int hwtdi_graph_return(struct hwtdi_code_graph *graph, uint32_t push,
    uint32_t *node_out, struct hwtd_error *err);

/* A token for the first `insns` instructions of a node; at least one. */
int hwtdi_graph_part(struct hwtdi_code_graph *graph, uint32_t node,
    uint32_t insns, uint32_t *token_out, struct hwtd_error *err);

const struct hwtdi_code_block *hwtdi_graph_block(
    const struct hwtdi_code_graph *graph, uint32_t node);
const struct hwtdi_code_unit *hwtdi_graph_unit_at(
    const struct hwtdi_code_graph *graph, uint32_t unit);
const struct hwtdi_push *hwtdi_graph_push(const struct hwtdi_code_graph *graph,
    uint32_t push);

#endif /* HWTDI_CODE_GRAPH_H */
