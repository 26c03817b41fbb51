/*
 * A tally: counts tokens.
 *
 * What a token costs is one counter.  Where a unit of code comes to lie
 * elsewhere, and where the tokens are void, counters become counts of code by
 * address and begin anew: at the price of those that were touched since the
 * last time.
 */
#include "analysis/runs/tally.h"

#include <string.h>

#include "base/fail.h"

/* Counters. */

/*
 * So many tokens at the most are counted before runs are folded: what counts of
 * runs add up to stays below what a counter can hold.
 */
#define MOST_TOKENS (UINT32_MAX / HWTDI_RUN_WORDS - HWTDI_FLOW_TOKENS)

/* Nodes and runs have every other counter: so which it is makes no difference. */
static inline size_t
counter_no(uint32_t token)
{
	return (token << 1 | token >> 31);
}

static inline void
count(struct hwtdi_tally *t, uint32_t token, uint32_t n)
{
	uint32_t *counter = &t->counts[counter_no(token)];

	if (*counter == HWTDI_TALLY_NONE)
		t->touched[t->n_touched++] = token;
	*counter += n;
}

/* What was counted of a token, of which nothing is counted then. */
static uint32_t
take_count(struct hwtdi_tally *t, uint32_t token)
{
	uint32_t *counter = &t->counts[counter_no(token)];
	const uint32_t n = *counter - HWTDI_TALLY_NONE;

	*counter = HWTDI_TALLY_NONE;
	return (n);
}

/* Grow an array; all bytes that are new in it are `byte`. */
static int
grow(struct hwtdi_tally *t, void *array_inout, size_t *cap_inout, size_t need,
    size_t elem, int byte, struct hwtd_error *err)
{
	const size_t cap = *cap_inout;
	uint8_t *array;
	int rc;

	if (need <= cap)
		return (HWTD_OK);
	rc = hwtdi_array_grow(t->library, array_inout, cap_inout, need, elem,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	memcpy(&array, array_inout, sizeof(array));
	memset(array + cap * elem, byte, (*cap_inout - cap) * elem);
	return (HWTD_OK);
}

static size_t
pairs_bytes(const struct hwtdi_tally *t)
{
	return (sizeof(*t->pairs) << t->log_pairs);
}

/* Have so many pairs, of which none is known. */
static int
need_pairs(struct hwtdi_tally *t, uint8_t log, struct hwtd_error *err)
{
	struct hwtdi_tally_pair *pairs = hwtdi_zalloc(t->library,
	    sizeof(*pairs) << log);

	if (pairs == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*pairs) << log));
	hwtdi_free(t->library, t->pairs, pairs_bytes(t));
	t->pairs = pairs;
	t->log_pairs = log;
	t->driven_out = 0;
	return (HWTD_OK);
}

/* The place of a pair. */
static struct hwtdi_tally_pair *
pair_at(const struct hwtdi_tally *t, uint32_t from, uint32_t to)
{
	return (&t->pairs[((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15u >>
	    (64 - t->log_pairs)]);
}

/* The same for a new one.  Where many drive each other out there will be more. */
static struct hwtdi_tally_pair *
place_pair(struct hwtdi_tally *t, uint32_t from, uint32_t to)
{
	struct hwtdi_tally_pair *pair = pair_at(t, from, to);

	/* No node has number 0. */
	if (pair->from == 0 || ++t->driven_out >> t->log_pairs == 0 ||
	    t->log_pairs == HWTDI_TALLY_MOST_PAIRS ||
	    need_pairs(t, t->log_pairs + 1, NULL) != HWTD_OK)
		return (pair);
	return (pair_at(t, from, to));
}

/* Have counters of all tokens that can be in a flow. */
static int
need_counters(struct hwtdi_tally *t, uint32_t n_runs, struct hwtd_error *err)
{
	const size_t nodes = t->view.n_nodes;
	int rc;

	rc = grow(t, &t->counts, &t->cap_counts,
	    2 * (nodes > n_runs ? nodes : n_runs), sizeof(*t->counts), 0xff,
	    err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(t->library, &t->touched, &t->cap_touched,
		    nodes + n_runs, sizeof(*t->touched), err);
	if (rc == HWTD_OK && t->with_edges)
		rc = grow(t, &t->links, &t->cap_links, nodes,
		    sizeof(*t->links), 0, err);
	return (rc == HWTD_OK && t->with_edges && t->pairs == NULL
		? need_pairs(t, HWTDI_TALLY_FIRST_PAIRS, err)
		: rc);
}

/* Know where runs that are new begin and end. */
static int
need_ends(struct hwtdi_tally *t, uint32_t n_runs, struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(t->library, &t->ends, &t->cap_ends, n_runs,
	    sizeof(*t->ends), err);

	for (; rc == HWTD_OK && t->n_ends < n_runs; t->n_ends++) {
		size_t n;
		const uint32_t *words = t->engine->run(t->decoder,
		    (uint32_t)t->n_ends, &n);

		t->ends[t->n_ends] = (struct hwtdi_tally_ends){ words[0],
			words[n - 1] };
	}
	return (rc);
}

/* The nodes that a token begins and ends with. */
static inline struct hwtdi_tally_ends
ends_of(const struct hwtdi_tally *t, uint32_t token)
{
	return ((token & HWTDI_TOKEN_RUN) == 0
		? (struct hwtdi_tally_ends){ token, token }
		: t->ends[token & ~HWTDI_TOKEN_RUN]);
}

static const struct hwtdi_code_block *
block_of(const struct hwtdi_tally *t, uint32_t node)
{
	return (hwtdi_graph_view_block(&t->view, node));
}

/* Edges. */

static int
put_edge(struct hwtdi_tally *t, const struct hwtd_edge *from, uint64_t to,
    uint32_t section, uint64_t n, size_t *no_out, struct hwtd_error *err)
{
	struct hwtd_edge e = *from;

	e.to = to;
	e.to_section = section;
	e.count = n;
	return (hwtdi_code_counts_edge(&t->code, &e, no_out, err));
}

/* An edge from the end of run `i` of a block; false: it ends with no branch. */
static bool
edge_of(const struct hwtdi_tally *t, const struct hwtdi_code_block *b,
    uint32_t i, struct hwtd_edge *out)
{
	const struct hwtdi_tally_place *place = &t->places[b->unit];
	const struct hwtdi_code_run *r = &b->runs[i];

	memset(out, 0, sizeof(*out));
	out->from = place->address + hwtdi_run_last(r);
	out->from_section = place->section;
	out->branch = r->branch;
	return (r->branch != HWTD_BRANCH_NONE);
}

/* `to` was executed behind `from`, and is not linked to it. */
static int
count_pair(struct hwtdi_tally *t, uint32_t from, uint32_t to, uint64_t n,
    struct hwtd_error *err)
{
	struct hwtdi_tally_pair *pair = pair_at(t, from, to);
	const struct hwtdi_code_block *b, *next;
	const struct hwtdi_tally_place *place;
	struct hwtd_edge edge;

	if (pair->from == from && pair->to == to) {
		t->code.edges[pair->edge].count += n;
		return (HWTD_OK);
	}
	b = block_of(t, from);
	if (!edge_of(t, b, b->n_runs - 1u, &edge))
		return (HWTD_OK);
	next = block_of(t, to);
	place = &t->places[next->unit];
	pair = place_pair(t, from, to);
	pair->from = from;
	pair->to = to;
	return (put_edge(t, &edge, place->address + next->off, place->section,
	    n, &pair->edge, err));
}

static inline int
count_next(struct hwtdi_tally *t, uint32_t from, uint32_t to, uint64_t n,
    struct hwtd_error *err)
{
	struct hwtdi_node *node = &t->view.nodes[from];
	const bool first = atomic_load_explicit(&node->next[0],
			       memory_order_relaxed) == to;
	const bool second = atomic_load_explicit(&node->next[1],
				memory_order_relaxed) == to;

	/* Which of the two it is is hard to foresee: without a branch. */
	if (first | second) {
		t->links[from].n[!first] += n;
		return (HWTD_OK);
	}
	return (count_pair(t, from, to, n, err));
}

/* The branch that was last went to `to`. */
static int
end_edge(struct hwtdi_tally *t, uint64_t to, uint32_t section,
    struct hwtd_error *err)
{
	t->pending = false;
	return (put_edge(t, &t->edge, to, section, 1, NULL, err));
}

/* Nothing is said of where the last branch went. */
static int
drop_edge(struct hwtdi_tally *t, struct hwtd_error *err)
{
	if (t->has_target)
		return (end_edge(t, t->target, HWTD_NO_ID, err));
	t->pending = false;
	return (HWTD_OK);
}

/* The last branch is that of a node; where it goes is still to come. */
static void
begin_edge(struct hwtdi_tally *t, uint32_t node)
{
	const struct hwtdi_code_block *b = block_of(t, node);

	t->pending = edge_of(t, b, b->n_runs - 1u, &t->edge);
	t->has_target = t->edge.branch == HWTD_BRANCH_JUMP ||
	    t->edge.branch == HWTD_BRANCH_CALL;
	t->target = t->places[b->unit].address + (uint64_t)b->target;
}

/* Edges between tokens [at, end) of a flow, and from what was before. */
static int
count_edges(struct hwtdi_tally *t, const struct hwtdi_flow *flow, size_t at,
    size_t end, struct hwtd_error *err)
{
	struct hwtdi_tally_ends ends = ends_of(t, flow->tokens[at]);
	uint32_t last = ends.last;
	int rc = HWTD_OK;

	if (t->pending) {
		const struct hwtdi_code_block *b = block_of(t, ends.first);

		rc = end_edge(t, t->places[b->unit].address + b->off,
		    t->places[b->unit].section, err);
	}
	for (at++; at < end && rc == HWTD_OK; at++) {
		ends = ends_of(t, flow->tokens[at]);
		rc = count_next(t, last, ends.first, 1, err);
		last = ends.last;
	}
	begin_edge(t, last);
	return (rc);
}

/* Folding. */

/* Tracing went off with a node, and execution to an address. */
static int
count_off(struct hwtdi_tally *t, uint32_t node, const uint32_t *words,
    uint64_t n, struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = block_of(t, node);
	struct hwtd_edge edge;

	if (!edge_of(t, b, b->n_runs - 1u, &edge))
		return (HWTD_OK);
	return (put_edge(t, &edge, words[1] | (uint64_t)words[2] << 32,
	    HWTD_NO_ID, n, NULL, err));
}

static int
fold_run(struct hwtdi_tally *t, uint32_t number, uint32_t n,
    struct hwtd_error *err)
{
	size_t n_words;
	const uint32_t *words = t->engine->run(t->decoder, number, &n_words);
	/* No node has number 0. */
	uint32_t last = 0;
	int rc = HWTD_OK;

	for (size_t i = 0; i < n_words && rc == HWTD_OK; i++) {
		if (words[i] == HWTDI_TOKEN_OFF) {
			if (t->with_edges)
				rc = count_off(t, last, words + i, n, err);
			i += HWTDI_TOKEN_OFF_WORDS - 1;
			last = 0;
			continue;
		}
		count(t, words[i], n);
		if (t->with_edges && last != 0)
			rc = count_next(t, last, words[i], n, err);
		last = words[i];
	}
	return (rc);
}

/* Counts of runs become counts of nodes. */
static int
fold_runs(struct hwtdi_tally *t, struct hwtd_error *err)
{
	int rc = HWTD_OK;
	size_t i = 0;

	while (i < t->n_touched && rc == HWTD_OK) {
		const uint32_t token = t->touched[i];

		if ((token & HWTDI_TOKEN_RUN) == 0) {
			i++;
			continue;
		}
		t->touched[i] = t->touched[--t->n_touched];
		rc = fold_run(t, token & ~HWTDI_TOKEN_RUN,
		    take_count(t, token), err);
	}
	return (rc);
}

static int
fold_links(struct hwtdi_tally *t, uint32_t node,
    const struct hwtdi_code_block *b, struct hwtd_error *err)
{
	const struct hwtdi_tally_place *place = &t->places[b->unit];
	struct hwtdi_tally_links *links = &t->links[node];
	struct hwtd_edge edge;
	int rc = HWTD_OK;

	if (edge_of(t, b, b->n_runs - 1u, &edge))
		for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++)
			if (links->n[i] != 0)
				rc = put_edge(t, &edge,
				    place->address +
					block_of(t,
					    t->view.nodes[node].next[i])
					    ->off,
				    place->section, links->n[i], NULL, err);
	memset(links, 0, sizeof(*links));
	return (rc);
}

static int
fold_node(struct hwtdi_tally *t, uint32_t node, uint64_t n,
    struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = block_of(t, node);
	const struct hwtdi_tally_place *place = &t->places[b->unit];
	const uint8_t *lengths = b->lengths;
	struct hwtd_edge edge;
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < b->n_runs && rc == HWTD_OK; i++) {
		const struct hwtdi_code_run *r = &b->runs[i];
		const struct hwtdi_stretch s = {
			.ip = place->address + r->off,
			.count = n,
			.lengths = lengths,
			.insns = r->insns,
			.bytes = r->bytes,
			.section = place->section,
			.branch = r->branch,
			.isa = place->isa,
		};

		rc = hwtdi_code_counts_put(&t->code, &s, err);
		lengths += r->insns;
		if (rc == HWTD_OK && t->with_edges && i + 1u < b->n_runs &&
		    edge_of(t, b, i, &edge))
			rc = put_edge(t, &edge,
			    place->address + b->runs[i + 1].off,
			    place->section, n, NULL, err);
	}
	return (rc == HWTD_OK && t->with_edges ? fold_links(t, node, b, err)
					       : rc);
}

int
hwtdi_tally_fold(struct hwtdi_tally *t, struct hwtd_error *err)
{
	int rc = fold_runs(t, err);

	if (rc == HWTD_OK)
		rc = hwtdi_code_counts_reserve(&t->code, t->n_touched, err);
	for (size_t i = 0; i < t->n_touched && rc == HWTD_OK; i++) {
		const uint32_t node = t->touched[i];

		rc = fold_node(t, node, take_count(t, node), err);
	}
	t->n_touched = 0;
	t->n_counted = 0;
	if (t->pairs != NULL)
		memset(t->pairs, 0, pairs_bytes(t));
	return (rc);
}

/* Flows. */

static int
pass_place(struct hwtdi_tally *t, const struct hwtdi_placement *p,
    struct hwtd_error *err)
{
	struct hwtdi_tally_place *place;
	int rc;

	rc = grow(t, &t->places, &t->cap_places, (size_t)p->unit + 1,
	    sizeof(*t->places), 0, err);
	if (rc != HWTD_OK)
		return (rc);
	place = &t->places[p->unit];
	if (place->known &&
	    (place->address != p->address || place->section != p->section))
		rc = hwtdi_tally_fold(t, err);
	place->known = true;
	place->address = p->address;
	place->section = p->section;
	place->isa = hwtdi_graph_unit_at(t->graph, p->unit)->isa;
	return (rc);
}

/* What a rare event says of where the last branch went, as rows say it. */
static int
pass_rare(struct hwtdi_tally *t, const struct hwtdi_rare *rare,
    struct hwtdi_rows *rows)
{
	const struct hwtd_event *row = &rare->row;
	bool known = false;
	uint64_t to = 0;

	switch (row->kind) {
	case HWTD_EV_GAP:
		hwtdi_stats_add_gap(&rows->stats, &rare->detail.gap);
		known = rare->has_stop_ip;
		to = rare->stop_ip;
		break;
	case HWTD_EV_ASYNC:
		known = (row->flags & HWTD_EVF_IP) != 0;
		to = row->ip;
		break;
	case HWTD_EV_DISABLE:
		if ((row->flags & HWTD_EVF_ASYNC) != 0) {
			known = (row->flags & HWTD_EVF_IP) != 0;
			to = row->ip;
			break;
		}
		known = (row->flags & HWTD_EVF_TARGET) != 0;
		to = row->target;
		break;
	case HWTD_EV_ENABLE:
		break;
	default:
		return (HWTD_OK);
	}
	if (!t->pending)
		return (HWTD_OK);
	return (known ? end_edge(t, to, HWTD_NO_ID, &rows->err)
		      : drop_edge(t, &rows->err));
}

static void
count_tokens(struct hwtdi_tally *t, const uint32_t *tokens, size_t n)
{
	/* In registers. */
	uint32_t *const counts = t->counts;
	uint32_t *touched = t->touched + t->n_touched;

	for (size_t i = 0; i < n; i++) {
		uint32_t *counter = &counts[counter_no(tokens[i])];

		if (++*counter == HWTDI_TALLY_NONE + 1)
			*touched++ = tokens[i];
	}
	t->n_touched = (size_t)(touched - t->touched);
}

static int
pass_tokens(struct hwtdi_tally *t, const struct hwtdi_flow *flow, size_t at,
    size_t end, struct hwtd_error *err)
{
	count_tokens(t, flow->tokens + at, end - at);
	return (t->with_edges ? count_edges(t, flow, at, end, err) : HWTD_OK);
}

static int
pass_flow(struct hwtdi_tally *t, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows)
{
	size_t place = 0, rare = 0, at = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK) {
		size_t end = flow->n_tokens;

		if (place < flow->n_places && flow->places[place].at <= at) {
			rc = pass_place(t, &flow->places[place++], &rows->err);
			continue;
		}
		if (rare < flow->n_rares && flow->rares[rare].at <= at) {
			rc = pass_rare(t, &flow->rares[rare++], rows);
			continue;
		}
		if (at == end)
			break;
		if (place < flow->n_places && flow->places[place].at < end)
			end = flow->places[place].at;
		if (rare < flow->n_rares && flow->rares[rare].at < end)
			end = flow->rares[rare].at;
		rc = pass_tokens(t, flow, at, end, &rows->err);
		at = end;
	}
	return (rc);
}

static int
take(void *arg, const struct hwtdi_maker *maker, struct hwtdi_rows *rows)
{
	const struct hwtdi_flow *flow = maker->flow;
	struct hwtdi_tally *t = arg;
	int rc;

	t->engine = maker->engine;
	t->decoder = maker->decoder;
	t->graph = flow->graph;
	hwtdi_graph_see(t->graph, &t->view);
	rc = need_counters(t, flow->n_runs, &rows->err);
	if (rc == HWTD_OK && t->with_edges)
		rc = need_ends(t, flow->n_runs, &rows->err);
	t->n_counted += (uint32_t)flow->n_tokens;
	if (rc == HWTD_OK && t->n_counted > MOST_TOKENS)
		rc = hwtdi_tally_fold(t, &rows->err);
	if (rc == HWTD_OK)
		rc = pass_flow(t, flow, rows);
	if (rc == HWTD_OK && flow->runs_over) {
		rc = fold_runs(t, &rows->err);
		t->n_ends = 0;
	}
	if (rc == HWTD_OK && maker->last_flow && t->pending)
		rc = flow->has_next_ip
		    ? end_edge(t, flow->next_ip, HWTD_NO_ID, &rows->err)
		    : drop_edge(t, &rows->err);
	return (rc);
}

static int
leave(void *arg, struct hwtd_error *err)
{
	struct hwtdi_tally *t = arg;
	int rc = hwtdi_tally_fold(t, err);

	if (t->places != NULL)
		memset(t->places, 0, t->cap_places * sizeof(*t->places));
	t->pending = false;
	t->n_ends = 0;
	return (rc);
}

void
hwtdi_tally_init(struct hwtdi_tally *t, struct hwtd_context *library,
    bool with_edges)
{
	memset(t, 0, sizeof(*t));
	t->library = library;
	t->with_edges = with_edges;
	t->code.library = library;
	t->sink.take = take;
	t->sink.leave = leave;
	t->sink.arg = t;
}

void
hwtdi_tally_fini(struct hwtdi_tally *t)
{
	hwtdi_code_counts_fini(&t->code);
	hwtdi_array_free(t->library, t->ends, t->cap_ends, sizeof(*t->ends));
	hwtdi_array_free(t->library, t->places, t->cap_places,
	    sizeof(*t->places));
	hwtdi_array_free(t->library, t->counts, t->cap_counts,
	    sizeof(*t->counts));
	hwtdi_free(t->library, t->pairs, pairs_bytes(t));
	hwtdi_array_free(t->library, t->touched, t->cap_touched,
	    sizeof(*t->touched));
	hwtdi_array_free(t->library, t->links, t->cap_links,
	    sizeof(*t->links));
}
