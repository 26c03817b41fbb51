/*
 * Flows to rows.
 */
#include <string.h>

#include "event/expand_put.h"

/* After so many rows that filters leave out, the user hears of it. */
#define MANY_HIDDEN ((size_t)1 << 18)

/*
 * A flow with so many of them left is expanded without waiting for more, for which
 * there may be no room.
 */
#define MANY_RARES (HWTDI_FLOW_RARES / 2)
#define MANY_ANCHORS (HWTDI_FLOW_ANCHORS / 2)

/* Rows. */

static int
put_detail(struct hwtdi_rows *rows, void *array_inout, size_t *n, size_t *cap,
    const void *detail, size_t elem, struct hwtd_event *row)
{
	uint8_t *array;

	if (hwtdi_array_grow(rows->library, array_inout, cap, *n + 1, elem,
		NULL) != HWTD_OK)
		return (HWTD_E_NOMEM);
	memcpy(&array, array_inout, sizeof(array));
	memcpy(array + *n * elem, detail, elem);
	row->value = (*n)++;
	row->flags |= HWTD_EVF_VALUE;
	return (HWTD_OK);
}

/* The thread of the rows that come: who runs, by records and the trace. */
static void
set_runner(struct hwtdi_expander *x)
{
	struct hwtdi_sampled *const last = &x->sampled;
	const uint32_t id = (uint32_t)x->context.contextidr;

	if ((x->context.flags & HWTD_CTXF_CONTEXTIDR) == 0 || id == 0) {
		hwtdi_expand_set_thread(x, x->run_pid, x->run_tid);
		return;
	}
	if (last->context_el1 != id || last->run_pid != x->run_pid ||
	    last->run_tid != x->run_tid) {
		*last = (struct hwtdi_sampled){ .context_el1 = id,
			.run_pid = x->run_pid,
			.run_tid = x->run_tid,
			.pid = x->run_pid,
			.tid = x->run_tid };
		hwtdi_trace_in_context(x->trace, x->stream, &x->context,
		    &last->pid, &last->tid);
	}
	hwtdi_expand_set_thread(x, last->pid, last->tid);
}

/*
 * The same for a time stamp, which may be left out: it makes no difference to
 * the row behind it.
 */
static void
set_stamp(struct hwtdi_expander *x, struct hwtd_event *row)
{
	const bool fresh = x->fresh_time;

	hwtdi_expand_set_common(x, row);
	x->fresh_time = fresh;
}

static int
put_row(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    const struct hwtd_event *row)
{
	if (hwtdi_expand_pass_records(x, rows, row) != HWTD_OK)
		return (HWTD_E_NOMEM);
	return (hwtdi_expand_wanted(x, rows, row, NULL)
		? hwtdi_expand_append_row(x, rows, row)
		: HWTD_OK);
}

/* Code. */

static int
flush(struct hwtdi_expander *x, struct hwtdi_rows *rows, bool has_next,
    uint64_t next)
{
	struct hwtd_event *row = &x->row;

	if (!x->pending)
		return (HWTD_OK);
	x->pending = false;
	rows->stats.blocks++;
	if (has_next) {
		row->target = next;
		row->flags |= HWTD_EVF_TARGET;
	} else if (x->has_target) {
		row->target = x->target;
		row->flags |= HWTD_EVF_TARGET;
	}
	if ((row->flags & HWTD_EVF_TARGET) != 0 &&
	    row->target != row->ip + row->bytes)
		row->flags |= HWTD_EVF_TAKEN;
	return (put_row(x, rows, row));
}

/* A run of instructions, at its address. */
struct stretch {
	uint64_t ip;
	uint64_t target;
	/* `target` is where it goes, if nothing else is known. */
	bool has_target;
	uint32_t insns;
	uint32_t bytes;
	uint32_t section;
	uint8_t branch;
	/* ISA, and HWTD_EVF_SPECULATIVE. */
	uint16_t flags;
	/* Of each instruction. */
	const uint8_t *lengths;
	/* It is the last of its token. */
	bool last;
};

/* The run at hand. */
static void
stretch_at(const struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct stretch *out)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(flow->graph,
	    flow->tokens[x->i_token]);
	const struct hwtdi_code_run *r = &b->runs[x->i_run];
	const struct hwtdi_expand_place *place = &x->places_of[b->unit];

	out->ip = place->address + r->off;
	out->insns = r->insns;
	out->bytes = r->bytes;
	out->section = place->section;
	out->branch = r->branch;
	out->flags = place->flags |
	    (x->transaction ? HWTD_EVF_SPECULATIVE : 0);
	out->last = x->i_run + 1u == b->n_runs;
	out->has_target = r->branch == HWTD_BRANCH_JUMP ||
	    r->branch == HWTD_BRANCH_CALL;
	out->target = place->address + (uint64_t)b->target;
}

/* Lengths of the instructions of run `i`. */
static const uint8_t *
lengths_of(const struct hwtdi_code_graph *graph, uint32_t token, uint32_t i)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(graph, token);
	const uint8_t *lengths = b->lengths;

	for (uint32_t k = 0; k < i; k++)
		lengths += b->runs[k].insns;
	return (lengths);
}

static void
fill_code(const struct stretch *s, struct hwtd_event *row)
{
	row->ip = s->ip;
	row->insns = s->insns;
	row->bytes = s->bytes;
	row->section = s->section;
	row->branch = s->branch;
	row->flags |= (uint16_t)(HWTD_EVF_IP | HWTD_EVF_SECTION) | s->flags;
}

/* The run goes on where the row at hand ends, without a branch between. */
static bool
continues(const struct hwtdi_expander *x, const struct stretch *s)
{
	const struct hwtd_event *row = &x->row;
	const uint16_t same = HWTD_EVF_ISA_MASK | HWTD_EVF_SPECULATIVE;

	return (x->pending && row->branch == HWTD_BRANCH_NONE &&
	    row->ip + row->bytes == s->ip && row->section == s->section &&
	    (row->flags & same) == s->flags &&
	    UINT32_MAX - row->bytes > s->bytes);
}

static void
set_branch(struct hwtdi_expander *x, const struct stretch *s)
{
	x->row.branch = s->branch;
	x->has_target = s->has_target;
	x->target = s->target;
}

/* The run at hand is used up. */
static void
next_run(struct hwtdi_expander *x, const struct stretch *s)
{
	x->i_run++;
	if (!s->last)
		return;
	x->i_run = 0;
	x->i_token++;
}

static int
expand_block(struct hwtdi_expander *x, const struct stretch *s,
    struct hwtdi_rows *rows)
{
	int rc;

	next_run(x, s);
	if (continues(x, s)) {
		x->row.insns += s->insns;
		x->row.bytes += s->bytes;
		set_branch(x, s);
		return (HWTD_OK);
	}
	rc = flush(x, rows, true, s->ip);
	if (rc != HWTD_OK)
		return (rc);
	memset(&x->row, 0, sizeof(x->row));
	x->row.kind = HWTD_EV_BLOCK;
	fill_code(s, &x->row);
	hwtdi_expand_set_common(x, &x->row);
	set_branch(x, s);
	x->pending = true;
	return (HWTD_OK);
}

/*
 * One row per instruction.  The last instruction of the run waits, as a block
 * does, and stands for it when blocks are counted.
 */
static int
expand_insns(struct hwtdi_expander *x, const struct stretch *s,
    struct hwtdi_rows *rows)
{
	int rc = HWTD_OK;

	if (x->i_insn == 0) {
		bool more = x->pending && continues(x, s);

		rc = flush(x, rows, true, s->ip);
		if (more)
			rows->stats.blocks--;
		x->insn_ip = s->ip;
	}
	while (rc == HWTD_OK && x->i_insn < s->insns &&
	    rows->n + HWTDI_EXPAND_ROOM <= rows->cap) {
		struct hwtd_event *row = &x->row;
		bool is_last = x->i_insn + 1 == s->insns;

		memset(row, 0, sizeof(*row));
		fill_code(s, row);
		row->kind = HWTD_EV_INSN;
		row->ip = x->insn_ip;
		row->insns = 1;
		row->bytes = s->lengths[x->i_insn];
		row->branch = HWTD_BRANCH_NONE;
		hwtdi_expand_set_common(x, row);
		x->insn_ip += row->bytes;
		x->i_insn++;
		if (is_last) {
			set_branch(x, s);
			x->pending = true;
		} else
			rc = put_row(x, rows, row);
	}
	if (x->i_insn == s->insns) {
		x->i_insn = 0;
		next_run(x, s);
	}
	return (rc);
}

/* Rare events. */

/*
 * Where execution goes when rare event i_rare comes.  False: not known.
 * *wait: the next flow may tell.
 */
static bool
next_ip(const struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    bool last, bool *wait, uint64_t *ip)
{
	size_t i = x->i_rare;

	*wait = false;
	for (; i < flow->n_rares && flow->rares[i].at <= x->i_token; i++) {
		const struct hwtd_event *row = &flow->rares[i].row;

		switch (row->kind) {
		case HWTD_EV_ASYNC:
			*ip = row->ip;
			return ((row->flags & HWTD_EVF_IP) != 0);
		case HWTD_EV_DISABLE:
			if ((row->flags & HWTD_EVF_ASYNC) != 0) {
				*ip = row->ip;
				return ((row->flags & HWTD_EVF_IP) != 0);
			}
			*ip = row->target;
			return ((row->flags & HWTD_EVF_TARGET) != 0);
		case HWTD_EV_GAP:
			*ip = flow->rares[i].stop_ip;
			return (flow->rares[i].has_stop_ip);
		case HWTD_EV_ENABLE:
			return (false);
		default:
			break;
		}
	}
	if (x->i_token < flow->n_tokens) {
		struct stretch s;

		stretch_at(x, flow, &s);
		*ip = s.ip;
		return (true);
	}
	*wait = !last;
	*ip = flow->next_ip;
	return (last && flow->has_next_ip);
}

static int
put_gap(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    struct hwtd_event *row, struct hwtd_gap *gap)
{
	hwtdi_stats_add_gap(&rows->stats, gap);
	if ((gap->flags & HWTD_GAPF_IP_BEFORE) != 0) {
		row->ip = gap->ip_before;
		row->flags |= HWTD_EVF_IP;
	}
	if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0) {
		row->target = gap->ip_after;
		row->flags |= HWTD_EVF_TARGET;
	}
	if (x->has_time) {
		gap->time_before_ns = x->time_ns;
		gap->flags |= HWTD_GAPF_TIME_BEFORE;
	}
	if (hwtdi_expand_pass_records(x, rows, row) != HWTD_OK)
		return (HWTD_E_NOMEM);
	if (!hwtdi_expand_wanted(x, rows, row, gap))
		return (HWTD_OK);
	if (put_detail(rows, &rows->gaps, &rows->n_gaps, &rows->cap_gaps, gap,
		sizeof(*gap), row) != HWTD_OK)
		return (HWTD_E_NOMEM);
	return (hwtdi_expand_append_row(x, rows, row));
}

static int
add_detail(struct hwtdi_rows *rows, const struct hwtdi_rare *rare,
    struct hwtd_event *row)
{
	switch (row->kind) {
	case HWTD_EV_MARKER:
		return (put_detail(rows, &rows->markers, &rows->n_markers,
		    &rows->cap_markers, &rare->detail.marker,
		    sizeof(rare->detail.marker), row));
	case HWTD_EV_POWER:
		return (put_detail(rows, &rows->powers, &rows->n_powers,
		    &rows->cap_powers, &rare->detail.power,
		    sizeof(rare->detail.power), row));
	case HWTD_EV_SAMPLE:
		return (put_detail(rows, &rows->samples, &rows->n_samples,
		    &rows->cap_samples, &rare->detail.sample,
		    sizeof(rare->detail.sample), row));
	default:
		if (!rare->has_detail)
			return (HWTD_OK);
		return (put_detail(rows, &rows->asyncs, &rows->n_asyncs,
		    &rows->cap_asyncs, &rare->detail.async,
		    sizeof(rare->detail.async), row));
	}
}

static int
put_rare(struct hwtdi_expander *x, struct hwtdi_rows *rows,
    struct hwtdi_rare *rare, bool has_after, uint64_t after_ns)
{
	struct hwtd_event *row = &rare->row;

	if (row->kind == HWTD_EV_TIME) {
		set_stamp(x, row);
		return (put_row(x, rows, row));
	}
	hwtdi_expand_set_common(x, row);
	if (row->kind == HWTD_EV_SAMPLE)
		hwtdi_expand_set_sampled(x, &rare->detail.sample);
	else
		set_runner(x);
	switch (row->kind) {
	case HWTD_EV_MODE:
		if ((row->value & HWTD_MODE_IS_TRANSACTION) != 0)
			x->transaction = (row->value &
					     HWTD_MODE_TRANSACTION) != 0;
		return (put_row(x, rows, row));
	case HWTD_EV_GAP:
		x->transaction = false;
		if (has_after) {
			rare->detail.gap.time_after_ns = after_ns;
			rare->detail.gap.flags |= HWTD_GAPF_TIME_AFTER;
		}
		return (put_gap(x, rows, row, &rare->detail.gap));
	case HWTD_EV_CONTEXT:
		/* Who runs is told by records, the rest by the trace. */
		rare->detail.context.pid = x->run_pid;
		rare->detail.context.tid = x->run_tid;
		x->context = rare->detail.context;
		set_runner(x);
		x->context_new = true;
		return (put_row(x, rows, row));
	case HWTD_EV_MARKER:
	case HWTD_EV_POWER:
	case HWTD_EV_ASYNC:
	case HWTD_EV_SAMPLE:
		if (hwtdi_expand_pass_records(x, rows, row) != HWTD_OK)
			return (HWTD_E_NOMEM);
		if (!hwtdi_expand_wanted(x, rows, row, NULL))
			return (HWTD_OK);
		return (add_detail(rows, rare, row) == HWTD_OK
			? hwtdi_expand_append_row(x, rows, row)
			: HWTD_E_NOMEM);
	default:
		return (put_row(x, rows, row));
	}
}

/* Pass rare event i_rare.  HWTD_AGAIN: the next flow has to be seen first. */
static int
expand_rare(struct hwtdi_expander *x, struct hwtdi_flow *flow, bool last,
    struct hwtdi_rows *rows)
{
	struct hwtdi_rare *rare = &flow->rares[x->i_rare];
	const bool patient = flow->n_rares - x->i_rare < MANY_RARES &&
	    flow->n_anchors - x->i_anchor < MANY_ANCHORS;
	bool wait = false, known = false, after = false;
	uint64_t ip = 0, ns = 0;
	int rc;

	if (rare->row.kind == HWTD_EV_TIME &&
	    (x->filter->o.kinds >> HWTD_EV_TIME & 1) == 0) {
		/* It cuts no block, so nobody has to know of it. */
		x->i_rare++;
		set_stamp(x, &rare->row);
		hwtdi_expand_count(rows, &rare->row);
		return (HWTD_OK);
	}

	if (x->pending) {
		known = next_ip(x, flow, last, &wait, &ip);
		if (wait && patient)
			return (HWTD_AGAIN);
	}
	if (rare->row.kind == HWTD_EV_GAP) {
		after = hwtdi_expand_time_after(x, flow, last, &wait, &ns);
		if (wait && patient)
			return (HWTD_AGAIN);
	}
	rc = flush(x, rows, known, ip);
	if (rc != HWTD_OK)
		return (rc);
	x->i_rare++;
	return (put_rare(x, rows, rare, after, ns));
}

/* Threads. */

int
hwtdi_expand_switch(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    bool last, struct hwtdi_rows *rows)
{
	struct hwtdi_code_place place = {
		.context = &x->context,
		.stream = x->stream,
		.stream_off = x->stream_off,
		.has_time = x->has_time,
		.time_ns = x->time_ns,
	};
	uint32_t pid = x->run_pid, tid = x->run_tid;
	bool first = x->until == 0, known, wait;
	struct hwtd_event row;
	uint64_t ip = 0;
	int rc;

	hwtdi_trace_runner(x->trace, &place, &pid, &tid, &x->until);
	if (pid == x->run_pid && tid == x->run_tid)
		return (HWTD_OK);
	known = next_ip(x, flow, last, &wait, &ip);
	rc = flush(x, rows, known, ip);
	if (rc != HWTD_OK)
		return (rc);
	x->run_pid = pid;
	x->run_tid = tid;
	set_runner(x);
	memset(&row, 0, sizeof(row));
	row.kind = HWTD_EV_CONTEXT;
	if (first)
		row.flags |= HWTD_EVF_STATUS;
	hwtdi_expand_set_common(x, &row);
	return (put_row(x, rows, &row));
}

/* Flows. */

static bool
rare_is_next(const struct hwtdi_expander *x, const struct hwtdi_flow *flow)
{
	return (x->i_insn == 0 && x->i_run == 0 && x->i_rare < flow->n_rares &&
	    flow->rares[x->i_rare].at <= x->i_token);
}

static bool
anchor_is_next(const struct hwtdi_expander *x, const struct hwtdi_flow *flow)
{
	if (x->i_insn != 0 || x->i_run != 0 ||
	    x->i_anchor >= flow->n_anchors ||
	    flow->anchors[x->i_anchor].at > x->i_token)
		return (false);
	return (!rare_is_next(x, flow) ||
	    x->i_anchor < flow->anchors_before[x->i_rare]);
}

static int
expand_token(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows)
{
	struct stretch s;

	stretch_at(x, flow, &s);
	if (x->filter->o.level != HWTD_LEVEL_INSN)
		return (expand_block(x, &s, rows));
	s.lengths = lengths_of(flow->graph, flow->tokens[x->i_token],
	    x->i_run);
	return (expand_insns(x, &s, rows));
}

/* The tokens at hand become blocks, and nothing else is to be done. */
static bool
is_plain(const struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    const struct hwtdi_rows *rows)
{
	return (x->pending && !x->context_new && rows->n_contexts != 0 &&
	    x->i_place == x->n_places && !x->filter->by_row &&
	    x->filter->o.level != HWTD_LEVEL_INSN &&
	    x->i_token < hwtdi_expand_plain_end(x, flow));
}

enum hwtdi_expand_result
hwtdi_expand(struct hwtdi_expander *x, struct hwtdi_flow *flow, bool last,
    struct hwtdi_rows *rows)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK) {
		if (rows->n + HWTDI_EXPAND_ROOM > rows->cap ||
		    rows->n_hidden >= MANY_HIDDEN)
			return (HWTDI_EXPAND_FULL);
		if (x->i_placed < flow->n_places &&
		    hwtdi_expand_places(x, flow) != HWTD_OK)
			return (HWTDI_EXPAND_NOMEM);
		if (is_plain(x, flow, rows)) {
			rc = hwtdi_expand_blocks(x, flow, rows);
			if (rc == HWTD_AGAIN)
				rc = hwtdi_expand_switch(x, flow, last, rows);
		} else if (anchor_is_next(x, flow)) {
			rc = hwtdi_expand_anchor(x, flow,
			    &flow->anchors[x->i_anchor++]);
			if (rc == HWTD_OK && hwtdi_expand_may_switch(x))
				rc = hwtdi_expand_switch(x, flow, last, rows);
		} else if (rare_is_next(x, flow))
			rc = expand_rare(x, flow, last, rows);
		else if (x->i_token < flow->n_tokens)
			rc = expand_token(x, flow, rows);
		else
			break;
	}
	if (rc < 0)
		return (HWTDI_EXPAND_NOMEM);
	if (last &&
	    flush(x, rows, flow->has_next_ip, flow->next_ip) != HWTD_OK)
		return (HWTDI_EXPAND_NOMEM);
	hwtdi_expand_keep(x, flow);
	return (HWTDI_EXPAND_MORE);
}

enum hwtdi_expand_result
hwtdi_expand_gap(struct hwtdi_expander *x, const struct hwtd_gap *gap,
    struct hwtdi_rows *rows)
{
	struct hwtd_event row;
	struct hwtd_gap copy = *gap;

	if (rows->n + HWTDI_EXPAND_ROOM > rows->cap)
		return (HWTDI_EXPAND_FULL);
	memset(&row, 0, sizeof(row));
	row.kind = HWTD_EV_GAP;
	row.stream_off = gap->first;
	hwtdi_expand_set_common(x, &row);
	return (put_gap(x, rows, &row, &copy) == HWTD_OK ? HWTDI_EXPAND_MORE
							 : HWTDI_EXPAND_NOMEM);
}

enum hwtdi_expand_result
hwtdi_expand_end(struct hwtdi_expander *x, struct hwtdi_rows *rows)
{
	return (hwtdi_expand_put_mark(x, rows, x->n_places) == HWTD_OK
		? HWTDI_EXPAND_MORE
		: HWTDI_EXPAND_NOMEM);
}
