/*
 * Flows to rows: blocks, of which most rows are, made in place.
 */
#include "event/expand_internal.h"

/* The row that waits, and what rows have in common. */
struct blocks {
	/*
	 * The row that waits, but for its flags; the first that waited, and the
	 * last place for one.
	 */
	struct hwtd_event *out, *first, *last;
	/* Its flags; the byte behind it, and its branch again. */
	uint64_t end;
	unsigned int flags;
	unsigned int branch;

	/* Instructions of all rows. */
	uint64_t insns;

	/* Of rows to come. */
	uint64_t time_ns, stream_off;
	uint32_t stream, context;
	unsigned int flags_of_rows;
	/* Flags but those of the unit. */
	unsigned int common;

	/* The row that waited when the time was told. */
	struct hwtd_event *before;
	/* As in the expander. */
	uint64_t same_off;
	bool fresh_time, estimated;
	const struct hwtdi_when *when;
	/* Those that are told; none if there is no time yet. */
	const struct hwtdi_when *last_when;
	/* None of the flow is later, and another thread runs from then on. */
	uint64_t most_ns, until;

	/* Where the unit at hand lies. */
	uint32_t unit;
	uint32_t section;
	uint64_t address;
};

/* What the expander knows of the time. */
static inline void
take_time(struct blocks *b, struct hwtdi_expander *x,
    const struct hwtdi_flow *flow)
{
	b->stream_off = x->stream_off;
	b->before = b->out;
	b->time_ns = 0;
	b->same_off = x->same_off;
	b->fresh_time = x->fresh_time;
	b->estimated = x->estimated;
	b->when = b->last_when = &x->whens[x->i_when];
	if (!x->has_time) {
		/* Who runs is asked by the byte then. */
		if (b->same_off > x->until)
			b->same_off = x->until;
		return;
	}
	b->time_ns = x->time_ns;
	b->last_when = &x->whens[x->n_whens - 1];
	b->until = x->until;
	b->most_ns = hwtdi_expand_most_ns(x, flow);
	b->common |= HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED;
	b->flags_of_rows |= HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED;
}

/* The first row since the time was told has that time, the others not quite. */
static inline void
keep_time(struct blocks *b)
{
	struct hwtd_event *const row = b->before + 1;

	if (b->out == b->before)
		return;
	if (b->fresh_time && !b->estimated) {
		if (row == b->out)
			b->flags &= ~(unsigned int)HWTD_EVF_TIME_ESTIMATED;
		else
			row->flags &= (uint16_t)~HWTD_EVF_TIME_ESTIMATED;
	}
	b->fresh_time = false;
}

/* Back to the expander. */
static inline void
give_time(struct blocks *b, struct hwtdi_expander *x)
{
	x->stream_off = b->stream_off;
	if (!x->has_time)
		return;
	keep_time(b);
	x->time_ns = b->time_ns;
	x->same_off = b->same_off;
	x->fresh_time = b->fresh_time;
	x->estimated = b->estimated;
	x->i_when = (size_t)(b->when - x->whens);
}

/*
 * Pass an anchor with the next time that was told, as hwtdi_expand_anchor()
 * does.  False: it is not so simple.
 */
static inline bool
pass_simply(struct blocks *b, const struct hwtdi_anchor *a)
{
	const struct hwtdi_when *const now = b->when + 1;

	if (b->last_when - b->when < 2 || a->stream_off < now->from_off ||
	    a->stream_off >= now[1].from_off ||
	    (a->flags & HWTDI_ANCHOR_ASK) == 0 || now->count < b->time_ns ||
	    now->count > b->most_ns || now->count >= b->until)
		return (false);
	keep_time(b);
	b->fresh_time |= now->count != b->time_ns;
	b->estimated = (now->flags & HWTDI_ANCHOR_ESTIMATED) != 0;
	b->time_ns = now->count;
	b->same_off = now[1].from_off;
	if (a->stream_off > b->stream_off)
		b->stream_off = a->stream_off;
	b->before = b->out;
	b->when = now;
	return (true);
}

static inline void
set_unit(struct blocks *b, const struct hwtdi_expander *x, uint32_t unit)
{
	const struct hwtdi_expand_place *place = &x->places_of[unit];

	b->unit = unit;
	b->address = place->address;
	b->section = place->section;
	b->flags_of_rows = b->common | place->flags;
}

static void
begin(struct blocks *b, struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, struct hwtdi_rows *rows)
{
	const struct hwtd_event *row = &x->row;

	b->first = b->out = &rows->rows[rows->n];
	b->last = &rows->rows[rows->cap - HWTDI_EXPAND_ROOM + 1];
	*b->out = *row;
	b->end = row->ip + row->bytes;
	b->flags = row->flags;
	b->branch = row->branch;
	b->insns = row->insns;
	b->stream = x->stream;
	b->context = hwtdi_rows_context(rows);
	b->out->context = b->context;
	b->common = HWTD_EVF_IP | HWTD_EVF_SECTION |
	    (x->transaction ? HWTD_EVF_SPECULATIVE : 0);
	b->unit = UINT32_MAX;
	take_time(b, x, flow);
}

/* Count the rows that were made. */
static void
finish(struct blocks *b, struct hwtdi_expander *x, struct hwtdi_rows *rows)
{
	const uint64_t n = (uint64_t)(b->out - b->first);
	const struct hwtd_event *row = b->first;
	struct hwtd_stats *stats = &rows->stats;

	give_time(b, x);
	x->row = *b->out;
	x->row.flags = (uint16_t)b->flags;
	x->row.branch = (uint8_t)b->branch;
	x->row.target = 0;
	rows->n += (size_t)n;
	stats->blocks += n;
	stats->kinds[HWTD_EV_BLOCK] += n;
	stats->insns += b->insns - b->out->insns;
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
extend(const struct blocks *b, const struct hwtdi_code_run *r, uint64_t ip)
{
	const unsigned int same = HWTD_EVF_ISA_MASK | HWTD_EVF_SPECULATIVE;

	if (b->branch != HWTD_BRANCH_NONE || b->end != ip ||
	    b->out->section != b->section ||
	    ((b->flags ^ b->flags_of_rows) & same) != 0 ||
	    UINT32_MAX - b->out->bytes <= r->bytes)
		return (false);
	b->out->insns += r->insns;
	b->out->bytes += r->bytes;
	b->out->branch = r->branch;
	return (true);
}

/* End the row that waits, and begin one with a run. */
static inline void
put(struct blocks *b, const struct hwtdi_code_run *r, uint64_t ip)
{
	struct hwtd_event *out = b->out;

	out->target = ip;
	out->flags = (uint16_t)(b->flags | HWTD_EVF_TARGET |
	    (ip != b->end ? HWTD_EVF_TAKEN : 0));
	b->out = ++out;
	out->time_ns = b->time_ns;
	out->ip = ip;
	out->stream_off = b->stream_off;
	out->value = 0;
	out->insns = r->insns;
	out->bytes = r->bytes;
	out->stream = b->stream;
	out->context = b->context;
	out->section = b->section;
	out->kind = HWTD_EV_BLOCK;
	out->branch = r->branch;
	b->flags = b->flags_of_rows;
}

/*
 * Make rows of the runs of token `*i` from `*k` on, and of those behind it up
 * to `end`.  False: there is no room for more.
 */
static inline bool
put_tokens(struct blocks *b, const struct hwtdi_expander *x,
    const struct hwtdi_graph_view *view, const uint32_t *tokens, size_t *i,
    uint32_t *k, size_t end)
{
	for (; *i < end; ++*i, *k = 0) {
		const struct hwtdi_code_block
		    *block = hwtdi_graph_view_block(view, tokens[*i]);
		const uint32_t n = block->n_runs;

		if (block->unit != b->unit)
			set_unit(b, x, block->unit);
		do {
			const struct hwtdi_code_run *r = &block->runs[*k];
			const uint64_t ip = b->address + r->off;

			if (!extend(b, r, ip)) {
				if (b->out == b->last)
					return (false);
				put(b, r, ip);
			}
			b->branch = r->branch;
			b->end = ip + r->bytes;
			b->insns += r->insns;
		} while (++*k < n);
	}
	return (true);
}

/* Where execution goes behind the last run that was passed. */
static void
set_target(struct hwtdi_expander *x, const struct hwtdi_graph_view *view,
    const struct hwtdi_flow *flow, unsigned int branch)
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

/* Pass an anchor with another time; results as of hwtdi_expand_blocks(). */
static inline int
pass_anchor(struct blocks *b, struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, const struct hwtdi_anchor *a)
{
	int rc;

	give_time(b, x);
	rc = hwtdi_expand_anchor(x, flow, a);
	take_time(b, x, flow);
	return (rc == HWTD_OK && hwtdi_expand_may_switch(x) ? HWTD_AGAIN : rc);
}

int
hwtdi_expand_blocks(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows)
{
	const size_t limit = hwtdi_expand_plain_end(x, flow);
	const struct hwtdi_anchor *a = &flow->anchors[x->i_anchor];
	const struct hwtdi_anchor
	    *const a_end = &flow->anchors[flow->n_anchors];
	size_t i = x->i_token, end;
	uint32_t k = x->i_run;
	struct hwtdi_graph_view view;
	struct blocks b = { 0 };
	int rc = HWTD_OK;

	hwtdi_graph_see(flow->graph, &view);
	begin(&b, x, flow, rows);
	do {
		for (; a < a_end && a->at <= i && rc == HWTD_OK; a++) {
			if (a->stream_off < b.same_off) {
				if (a->stream_off > b.stream_off)
					b.stream_off = a->stream_off;
			} else if (!pass_simply(&b, a))
				rc = pass_anchor(&b, x, flow, a);
		}
		if (rc != HWTD_OK)
			break;
		end = a < a_end && a->at < limit ? a->at : limit;
	} while (put_tokens(&b, x, &view, flow->tokens, &i, &k, end) &&
	    end < limit);
	x->i_anchor = (size_t)(a - flow->anchors);
	if (i != x->i_token || k != x->i_run) {
		x->i_token = i;
		x->i_run = k;
		set_target(x, &view, flow, b.branch);
	}
	finish(&b, x, rows);
	return (rc);
}
