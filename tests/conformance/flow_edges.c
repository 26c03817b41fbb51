/*
 * The sink that counts edges: from the address of a branch to the address
 * that executes next.
 */
#include "flow.h"

#include <inttypes.h>
#include <stdlib.h>

struct edge {
	uint64_t from;
	uint64_t to;
	/* 0: a free slot. */
	uint64_t count;
};

struct edges {
	struct flow_sink sink;
	FILE *out;
	struct edge *slots;
	/* Slots, a power of two, and how many of them are in use. */
	size_t n_slots;
	size_t used;
	uint64_t from;
	bool has_from;
	/* The last branch, wherever execution went; 0: none yet. */
	uint64_t last_branch;
	/* The next branch is the first behind a break of the flow. */
	bool behind_break;
};

static struct edge *
slot(const struct edges *edges, uint64_t from, uint64_t to)
{
	uint64_t h = (from * UINT64_C(0x9e3779b97f4a7c15)) ^
	    (to * UINT64_C(0xd6e8feb86659fd93));
	size_t i = (size_t)(h ^ h >> 32) & (edges->n_slots - 1);

	while (edges->slots[i].count != 0 &&
	    (edges->slots[i].from != from || edges->slots[i].to != to))
		i = (i + 1) & (edges->n_slots - 1);
	return (&edges->slots[i]);
}

static void
enlarge(struct edges *edges)
{
	struct edge *old = edges->slots;
	size_t n_old = edges->n_slots;

	edges->n_slots = n_old == 0 ? 4096 : n_old * 2;
	edges->slots = flow_alloc(edges->n_slots * sizeof(*edges->slots));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].count != 0)
			*slot(edges, old[i].from, old[i].to) = old[i];
	free(old);
}

static void
count(struct edges *edges, uint64_t from, uint64_t to)
{
	struct edge *edge;

	if (edges->used * 2 >= edges->n_slots)
		enlarge(edges);
	edge = slot(edges, from, to);
	if (edge->count == 0) {
		edge->from = from;
		edge->to = to;
		edges->used++;
	}
	edge->count++;
}

/*
 * A break of the flow: tell its addresses, and of the last branch before it;
 * the first branch behind it follows.
 */
static void
touch(struct edges *edges, const struct hwtd_event *row)
{
	if ((row->flags & HWTD_EVF_STATUS) != 0)
		return;
	fprintf(edges->out, "t %" PRIx64 "\n", edges->last_branch);
	edges->behind_break = true;
	if ((row->flags & HWTD_EVF_IP) != 0)
		fprintf(edges->out, "t %" PRIx64 "\n", row->ip);
	if ((row->flags & HWTD_EVF_TARGET) != 0)
		fprintf(edges->out, "t %" PRIx64 "\n", row->target);
	edges->has_from = false;
}

static void
see_branch(struct edges *edges, uint64_t ip)
{
	edges->last_branch = ip;
	if (!edges->behind_break)
		return;
	edges->behind_break = false;
	fprintf(edges->out, "t %" PRIx64 "\n", ip);
}

static void
edges_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct edges *edges = (struct edges *)(void *)sink;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];

		switch (row->kind) {
		case HWTD_EV_INSN:
			if (edges->has_from)
				count(edges, edges->from, row->ip);
			edges->from = row->ip;
			edges->has_from = row->branch != HWTD_BRANCH_NONE;
			if (edges->has_from)
				see_branch(edges, row->ip);
			break;
		case HWTD_EV_ASYNC:
		case HWTD_EV_ENABLE:
		case HWTD_EV_DISABLE:
		case HWTD_EV_GAP:
			touch(edges, row);
			break;
		default:
			break;
		}
	}
}

static bool
edges_end(struct flow_sink *sink)
{
	struct edges *edges = (struct edges *)(void *)sink;
	bool good;

	for (size_t i = 0; i < edges->n_slots; i++)
		if (edges->slots[i].count != 0)
			fprintf(edges->out,
			    "e %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
			    edges->slots[i].from, edges->slots[i].to,
			    edges->slots[i].count);
	good = fflush(edges->out) == 0 && ferror(edges->out) == 0;
	if (edges->out != stdout)
		good = fclose(edges->out) == 0 && good;
	free(edges->slots);
	free(edges);
	return (good);
}

struct flow_sink *
flow_edges(FILE *out)
{
	struct edges *edges = flow_alloc(sizeof(*edges));

	*edges = (struct edges){
		.sink = { .rows = edges_rows, .end = edges_end },
		.out = out,
	};
	enlarge(edges);
	return (&edges->sink);
}
