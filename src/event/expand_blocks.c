/*
 * Flows to rows: blocks, of which most rows are, made in place.
 */
#include "event/expand_internal.h"

/* The row that waits, and what rows have in common. */
struct blocks {
	/*
	 * Where the row that waits will be, of which only time and offset are
	 * there already; the first such place, and the last.
	 */
	struct hwtd_event *out, *first, *last;
	/* The rest of it; `end` is the byte behind. */
	uint64_t ip, end;
	uint32_t insns, bytes, section;
	uint16_t flags;
	uint8_t branch;
	/* Instructions of all rows. */
	uint64_t all_insns;

	/* Of rows to come. */
	uint64_t time_ns, stream_off;
	uint32_t stream, context;
	uint16_t common;
	/* A flag that the next row has not, if it is the first of its time. */
	uint16_t once;
	/* The row that waited when the time was told. */
	const struct hwtd_event *before;
};

static inline void
set_time(struct blocks *b, const struct hwtdi_expander *x)
{
	b->stream_off = x->stream_off;
	b->before = b->out;
	b->once = 0;
	b->time_ns = 0;
	if (!x->has_time)
		return;
	b->time_ns = x->time_ns;
	b->common |= HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED;
	if (x->fresh_time && !x->estimated)
		b->once = HWTD_EVF_TIME_ESTIMATED;
}

/* The time was told by a row. */
static inline void
keep_time(const struct blocks *b, struct hwtdi_expander *x)
{
	if (x->has_time && b->out != b->before)
		x->fresh_time = false;
}

static void
begin(struct blocks *b, const struct hwtdi_expander *x,
    struct hwtdi_rows *rows)
{
	const struct hwtd_event *row = &x->row;

	b->first = b->out = &rows->rows[rows->n];
	b->last = &rows->rows[HWTDI_ROWS - HWTDI_EXPAND_ROOM + 1];
	b->out->time_ns = row->time_ns;
	b->out->stream_off = row->stream_off;
	b->ip = row->ip;
	b->end = row->ip + row->bytes;
	b->insns = row->insns;
	b->bytes = row->bytes;
	b->section = row->section;
	b->flags = row->flags;
	b->branch = row->branch;
	b->all_insns = row->insns;
	b->stream = x->stream;
	b->context = (uint32_t)(rows->n_contexts - 1);
	b->common = HWTD_EVF_IP | HWTD_EVF_SECTION |
	    (x->transaction ? HWTD_EVF_SPECULATIVE : 0);
	set_time(b, x);
}

/* Count the rows that were made. */
static void
finish(const struct blocks *b, struct hwtdi_expander *x,
    struct hwtdi_rows *rows)
{
	const uint64_t n = (uint64_t)(b->out - b->first);
	const struct hwtd_event *row = b->first;
	struct hwtd_stats *stats = &rows->stats;

	keep_time(b, x);
	x->row.time_ns = b->out->time_ns;
	x->row.stream_off = b->out->stream_off;
	x->row.ip = b->ip;
	x->row.insns = b->insns;
	x->row.bytes = b->bytes;
	x->row.section = b->section;
	x->row.flags = b->flags;
	x->row.branch = b->branch;
	rows->n += (size_t)n;
	stats->blocks += n;
	stats->kinds[HWTD_EV_BLOCK] += n;
	stats->insns += b->all_insns - b->insns;
	/* Times do not go back, and who has none comes before. */
	if (n == 0 || (b->out[-1].flags & HWTD_EVF_TIME) == 0)
		return;
	while ((row->flags & HWTD_EVF_TIME) == 0)
		row++;
	if (!stats->has_time || row->time_ns < stats->first_ns)
		stats->first_ns = row->time_ns;
	if (!stats->has_time || b->out[-1].time_ns > stats->last_ns)
		stats->last_ns = b->out[-1].time_ns;
	stats->has_time = 1;
}

/* Add a run to the row that waits.  False: it does not go on there. */
static inline bool
extend(struct blocks *b, const struct hwtdi_code_run *r, uint64_t ip,
    uint32_t section, uint16_t flags)
{
	const uint16_t same = HWTD_EVF_ISA_MASK | HWTD_EVF_SPECULATIVE;

	if (b->branch != HWTD_BRANCH_NONE || b->end != ip ||
	    b->section != section || ((b->flags ^ flags) & same) != 0 ||
	    UINT32_MAX - b->bytes <= r->bytes)
		return (false);
	b->insns += r->insns;
	b->bytes += r->bytes;
	return (true);
}

/* End the row that waits, and begin one with a run. */
static inline void
put(struct blocks *b, const struct hwtdi_code_run *r, uint64_t ip,
    uint32_t section, uint16_t flags)
{
	struct hwtd_event *const out = b->out++;

	out->ip = b->ip;
	out->target = ip;
	out->value = 0;
	out->insns = b->insns;
	out->bytes = b->bytes;
	out->stream = b->stream;
	out->context = b->context;
	out->section = b->section;
	out->kind = HWTD_EV_BLOCK;
	out->branch = b->branch;
	out->flags = b->flags | HWTD_EVF_TARGET |
	    (ip != b->end ? HWTD_EVF_TAKEN : 0);
	out[1].time_ns = b->time_ns;
	out[1].stream_off = b->stream_off;
	b->ip = ip;
	b->insns = r->insns;
	b->bytes = r->bytes;
	b->section = section;
	b->flags = flags & (uint16_t)~b->once;
	b->once = 0;
}

/*
 * Make rows of tokens [i, end), the first from run x->i_run on.  Returns the
 * token at hand; it is below `end` if there is no room.
 */
static size_t
put_tokens(struct blocks *all, struct hwtdi_expander *x,
    const struct hwtdi_graph_view *view, const uint32_t *tokens, size_t i,
    size_t end)
{
	struct hwtdi_expand_place place = { 0 };
	uint32_t unit = UINT32_MAX, k = x->i_run;
	/* In registers. */
	struct blocks b = *all;

	for (; i < end; i++) {
		const struct hwtdi_code_block
		    *block = hwtdi_graph_view_block(view, tokens[i]);
		const uint32_t n = block->n_runs;
		uint16_t flags;

		if (block->unit != unit) {
			unit = block->unit;
			place = x->places_of[unit];
		}
		flags = b.common | place.flags;
		do {
			const struct hwtdi_code_run *r = &block->runs[k];
			const uint64_t ip = place.address + r->off;

			if (!extend(&b, r, ip, place.section, flags)) {
				if (b.out == b.last)
					goto full;
				put(&b, r, ip, place.section, flags);
			}
			b.branch = r->branch;
			b.end = ip + r->bytes;
			b.all_insns += r->insns;
		} while (++k < n);
		k = 0;
	}
full:
	x->i_run = k;
	*all = b;
	return (i);
}

/* Pass the next anchor; results as of hwtdi_expand_blocks(). */
static inline int
pass_anchor(struct blocks *b, struct hwtdi_expander *x,
    const struct hwtdi_flow *flow)
{
	const struct hwtdi_anchor *a = &flow->anchors[x->i_anchor++];
	int rc = HWTD_OK;

	if (hwtdi_expand_same_time(x, a)) {
		if (a->stream_off > x->stream_off)
			x->stream_off = a->stream_off;
		b->stream_off = x->stream_off;
		return (HWTD_OK);
	}
	keep_time(b, x);
	if (a->flags != 0) {
		rc = hwtdi_expand_anchor(x, flow, a);
	} else {
		if (a->stream_off > x->stream_off)
			x->stream_off = a->stream_off;
		x->fresh_time = false;
	}
	set_time(b, x);
	return (rc == HWTD_OK && hwtdi_expand_may_switch(x) ? HWTD_AGAIN : rc);
}

/* Where execution goes behind the last run that was passed. */
static void
set_target(struct hwtdi_expander *x, const struct hwtdi_graph_view *view,
    const struct hwtdi_flow *flow, uint8_t branch)
{
	const struct hwtdi_code_block *block;

	x->has_target = branch == HWTD_BRANCH_JUMP ||
	    branch == HWTD_BRANCH_CALL;
	if (!x->has_target)
		return;
	block = hwtdi_graph_view_block(view,
	    flow->tokens[x->i_run != 0 ? x->i_token : x->i_token - 1]);
	x->target = x->places_of[block->unit].address +
	    (uint64_t)block->target;
}

int
hwtdi_expand_blocks(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows)
{
	const size_t limit = hwtdi_expand_plain_end(x, flow);
	const size_t from = x->i_token;
	const uint32_t from_run = x->i_run;
	struct hwtdi_graph_view view;
	size_t end = from;
	struct blocks b;
	int rc = HWTD_OK;

	hwtdi_graph_see(flow->graph, &view);
	begin(&b, x, rows);
	while (x->i_token == end && end < limit) {
		while (x->i_run == 0 && x->i_anchor < flow->n_anchors &&
		    flow->anchors[x->i_anchor].at <= x->i_token &&
		    rc == HWTD_OK)
			rc = pass_anchor(&b, x, flow);
		if (rc != HWTD_OK)
			break;
		end = limit;
		if (x->i_anchor < flow->n_anchors &&
		    flow->anchors[x->i_anchor].at < end)
			end = flow->anchors[x->i_anchor].at;
		x->i_token = put_tokens(&b, x, &view, flow->tokens, x->i_token,
		    end);
	}
	if (x->i_token != from || x->i_run != from_run)
		set_target(x, &view, flow, b.branch);
	finish(&b, x, rows);
	return (rc);
}
