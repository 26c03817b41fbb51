/*
 * Flows to rows: blocks, of which most rows are, made in place.
 */
#include <string.h>

#include "event/expand_internal.h"
#include "event/packed_rows.h"

/* Pairs of numbers that are copied as one. */
#define INSNS offsetof(struct hwtd_event, insns)
#define RUN_INSNS offsetof(struct hwtdi_code_run, insns)
#define STREAM offsetof(struct hwtd_event, stream)
_Static_assert(offsetof(struct hwtd_event, bytes) == INSNS + 4 &&
	offsetof(struct hwtdi_code_run, bytes) == RUN_INSNS + 4 &&
	offsetof(struct hwtd_event, context) == STREAM + 4,
    "they are side by side");

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

	/* Packed rows: the one that waits is `row`, and goes to `to`. */
	struct hwtdi_packed_rows *packed;
	struct hwtdi_packed_row *to, *first_to, *last_to;
	struct hwtd_event row;
	/* Of that row: what it has of the one before; not 0: it does not fit. */
	uint64_t head, odd;
	/* The same of the next row, and of those behind it. */
	uint64_t next_head, next_odd, unit_head, unit_odd;
	uint8_t section_no;
	/* Of the row before it; the first one's time, and odd ones before that. */
	uint64_t last_ns, last_off, first_ns;
	size_t first_odd;
	struct hwtd_context *library;
	bool nomem;

	/* Instructions of all rows. */
	uint64_t insns;

	/* Of rows to come. */
	uint64_t time_ns, stream_off;
	/* Stream and context. */
	uint64_t who;
	unsigned int flags_of_rows;
	/* Flags but those of the unit. */
	unsigned int common;

	/* The row that waited when the time was told. */
	struct hwtd_event *before;
	struct hwtdi_packed_row *before_to;
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

/* Packed rows: the time, offset or unit of rows to come is another one. */
static inline void
set_next(struct blocks *b)
{
	const uint64_t more_ns = b->time_ns - b->row.time_ns;
	const uint64_t more_off = b->stream_off - b->row.stream_off;

	b->next_head = hwtdi_packed_head(more_ns, more_off, b->section_no);
	b->next_odd = b->unit_odd |
	    hwtdi_packed_head_excess(more_ns, more_off, b->section_no);
}

/* What the expander knows of the time. */
static inline void
take_time(struct blocks *b, struct hwtdi_expander *x,
    const struct hwtdi_flow *flow)
{
	b->stream_off = x->stream_off;
	b->before = b->out;
	b->before_to = b->to;
	b->time_ns = 0;
	b->same_off = x->same_off;
	b->fresh_time = x->fresh_time;
	b->estimated = x->estimated;
	b->when = b->last_when = &x->whens[x->i_when];
	if (!x->has_time) {
		/* Who runs is asked by the byte then. */
		if (b->same_off > x->until)
			b->same_off = x->until;
		if (b->packed != NULL)
			set_next(b);
		return;
	}
	b->time_ns = x->time_ns;
	b->last_when = &x->whens[x->n_whens - 1];
	b->until = x->until;
	b->most_ns = hwtdi_expand_most_ns(x, flow);
	b->common |= HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED;
	b->flags_of_rows |= HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED;
	if (b->packed != NULL)
		set_next(b);
}

/* The first row since the time was told has that time, the others not quite. */
static inline void
keep_time(struct blocks *b)
{
	if (b->packed != NULL ? b->to == b->before_to : b->out == b->before)
		return;
	if (b->fresh_time && !b->estimated) {
		if (b->packed != NULL ? b->to == b->before_to + 1
				      : b->out == b->before + 1)
			b->flags &= ~(unsigned int)HWTD_EVF_TIME_ESTIMATED;
		else if (b->packed != NULL)
			b->before_to[1].place &= ~(uint64_t)
						     HWTD_EVF_TIME_ESTIMATED;
		else
			b->before[1]
			    .flags &= (uint16_t)~HWTD_EVF_TIME_ESTIMATED;
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
	b->before_to = b->to;
	b->when = now;
	if (b->packed != NULL)
		set_next(b);
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
	if (b->packed == NULL)
		return;
	b->section_no = hwtdi_packed_section(b->packed, b->section);
	b->unit_head = hwtdi_packed_head(0, 0, b->section_no);
	b->unit_odd = hwtdi_packed_head_excess(0, 0, b->section_no) |
	    hwtdi_packed_excess(b->address) |
	    hwtdi_packed_excess(b->address + UINT32_MAX);
	/* It is the target of the row that waits. */
	b->odd |= b->unit_odd;
	set_next(b);
}

static inline void
begin(struct blocks *b, struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, struct hwtdi_rows *rows, bool packed)
{
	const struct hwtd_event *row = &x->row;

	const size_t last = rows->cap - HWTDI_EXPAND_ROOM + 1;

	if (packed) {
		b->packed = rows->packed;
		b->library = rows->library;
		b->out = &b->row;
		b->first_to = b->to = &b->packed->rows[rows->n];
		b->last_to = &b->packed->rows[last];
		b->first_ns = row->time_ns;
		b->first_odd = b->packed->n_odd;
		b->last_ns = b->packed->last_ns;
		b->last_off = b->packed->last_off;
		b->section_no = hwtdi_packed_section(b->packed, row->section);
		b->head = hwtdi_packed_head(row->time_ns - b->last_ns,
		    row->stream_off - b->last_off, b->section_no);
		b->odd = hwtdi_packed_head_excess(row->time_ns - b->last_ns,
			     row->stream_off - b->last_off, b->section_no) |
		    hwtdi_packed_code_excess(row->insns, row->bytes) |
		    hwtdi_packed_excess(row->ip);
	} else {
		b->first = b->out = &rows->rows[rows->n];
		b->last = &rows->rows[last];
	}
	*b->out = *row;
	b->end = row->ip + row->bytes;
	b->flags = row->flags;
	b->branch = row->branch;
	b->insns = row->insns;
	b->out->context = hwtdi_rows_context(rows);
	memcpy(&b->who, (uint8_t *)b->out + STREAM, sizeof(b->who));
	b->common = HWTD_EVF_IP | HWTD_EVF_SECTION |
	    (x->transaction ? HWTD_EVF_SPECULATIVE : 0);
	b->unit = UINT32_MAX;
	take_time(b, x, flow);
}

/* The times of the first and last of `n` rows, if the last has one. */
static inline bool
times_of(const struct blocks *b, size_t n, uint64_t *first_out,
    uint64_t *last_out)
{
	const struct hwtd_event *row = b->first;

	if (n == 0 || (b->out[-1].flags & HWTD_EVF_TIME) == 0)
		return (false);
	/* Times do not go back, and who has none comes before. */
	while ((row->flags & HWTD_EVF_TIME) == 0)
		row++;
	*first_out = row->time_ns;
	*last_out = b->out[-1].time_ns;
	return (true);
}

static inline bool
is_odd(const struct hwtdi_packed_row *row)
{
	return ((uint8_t)(row->rest >> HWTDI_PACKED_BRANCH) ==
	    HWTDI_PACKED_ODD);
}

/* The same of packed ones. */
static inline bool
packed_times_of(const struct blocks *b, size_t n, uint64_t *first_out,
    uint64_t *last_out)
{
	const struct hwtdi_packed_row *row = b->first_to;
	const struct hwtd_event *odd = &b->packed->odd[b->first_odd];

	if (n == 0 || (row[n - 1].place & HWTD_EVF_TIME) == 0)
		return (false);
	*first_out = b->first_ns;
	*last_out = b->packed->last_ns;
	if ((row->place & HWTD_EVF_TIME) != 0)
		return (true);
	/* Those without time are at time 0. */
	for (; (row->place & HWTD_EVF_TIME) == 0; row++)
		odd += is_odd(row);
	*first_out = is_odd(row) ? odd->time_ns
				 : row->rest >> HWTDI_PACKED_TIME;
	return (true);
}

/* Count the rows that were made. */
static inline void
finish(struct blocks *b, struct hwtdi_expander *x, struct hwtdi_rows *rows)
{
	const size_t n = (size_t)(b->packed != NULL ? b->to - b->first_to
						    : b->out - b->first);
	struct hwtd_stats *stats = &rows->stats;
	uint64_t first_ns, last_ns;
	bool has_time;

	give_time(b, x);
	x->row = *b->out;
	x->row.flags = (uint16_t)b->flags;
	x->row.branch = (uint8_t)b->branch;
	x->row.target = 0;
	rows->n += n;
	stats->blocks += n;
	stats->kinds[HWTD_EV_BLOCK] += n;
	stats->insns += b->insns - b->out->insns;
	if (b->packed != NULL) {
		/* Where the last row goes. */
		b->to->place = hwtdi_packed_place(b->row.ip, 0);
		b->packed->last_ns = b->last_ns;
		b->packed->last_off = b->last_off;
		has_time = packed_times_of(b, n, &first_ns, &last_ns);
	} else
		has_time = times_of(b, n, &first_ns, &last_ns);
	if (!has_time)
		return;
	if (!stats->has_time || first_ns < stats->first_ns)
		stats->first_ns = first_ns;
	if (!stats->has_time || last_ns > stats->last_ns)
		stats->last_ns = last_ns;
	stats->has_time = 1;
}

/* Add a run to the row that waits.  False: it does not go on there. */
static inline bool
extend(struct blocks *b, const struct hwtdi_code_run *r, uint64_t ip)
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
	b->odd |= hwtdi_packed_code_excess(b->out->insns, b->out->bytes);
	return (true);
}

/* Instructions and bytes of a row are those of a run. */
static inline void
set_insns(struct hwtd_event *row, const struct hwtdi_code_run *r)
{
	memcpy((uint8_t *)row + INSNS, (const uint8_t *)r + RUN_INSNS,
	    2 * sizeof(uint32_t));
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
	set_insns(out, r);
	memcpy((uint8_t *)out + STREAM, &b->who, sizeof(b->who));
	out->section = b->section;
	out->kind = HWTD_EV_BLOCK;
	out->branch = r->branch;
	b->flags = b->flags_of_rows;
}

/* The row that waits does not fit. */
static inline void
put_odd(struct blocks *b, unsigned int flags, uint64_t ip)
{
	/* A copy: the rest of the blocks stays in registers. */
	struct hwtd_event row = b->row;

	row.target = ip;
	row.flags = (uint16_t)flags;
	row.branch = (uint8_t)b->branch;
	if (hwtdi_packed_odd(b->library, b->packed,
		(size_t)(b->to - b->packed->rows), &row) != HWTD_OK)
		b->nomem = true;
}

_Static_assert(HWTDI_BLOCK_INSNS < 256, "a run fits");

/* The same of packed rows. */
static inline void
put_packed(struct blocks *b, const struct hwtdi_code_run *r, uint64_t ip)
{
	struct hwtd_event *const row = &b->row;
	const unsigned int flags = b->flags | HWTD_EVF_TARGET |
	    (ip != b->end ? HWTD_EVF_TAKEN : 0);

	b->to->place = hwtdi_packed_place(row->ip, flags);
	b->to->rest = b->head |
	    hwtdi_packed_code(row->insns, row->bytes, b->branch);
	if (b->odd != 0)
		put_odd(b, flags, ip);
	b->to++;
	b->head = b->next_head;
	b->odd = b->next_odd;
	b->next_head = b->unit_head;
	b->next_odd = b->unit_odd;
	b->last_ns = row->time_ns;
	b->last_off = row->stream_off;
	row->time_ns = b->time_ns;
	row->ip = ip;
	row->stream_off = b->stream_off;
	set_insns(row, r);
	row->section = b->section;
	b->flags = b->flags_of_rows;
}

/*
 * Make rows of the runs of token `*i` from `*k` on, and of those behind it up
 * to `end`.  False: there is no room for more.
 */
static inline bool
put_tokens(struct blocks *b, const struct hwtdi_expander *x,
    const struct hwtdi_graph_view *view, const uint32_t *tokens, size_t *i,
    uint32_t *k, size_t end, bool packed)
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
				if (packed ? b->to == b->last_to
					   : b->out == b->last)
					return (false);
				if (packed)
					put_packed(b, r, ip);
				else
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

__attribute__((always_inline)) static inline int
make_blocks(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows, bool packed)
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
	begin(&b, x, flow, rows, packed);
	do {
		for (; a < a_end && a->at <= i && rc == HWTD_OK; a++) {
			if (a->stream_off < b.same_off) {
				if (a->stream_off > b.stream_off)
					b.stream_off = a->stream_off;
				if (packed)
					set_next(&b);
			} else if (!pass_simply(&b, a))
				rc = pass_anchor(&b, x, flow, a);
		}
		if (rc != HWTD_OK)
			break;
		end = a < a_end && a->at < limit ? a->at : limit;
	} while (put_tokens(&b, x, &view, flow->tokens, &i, &k, end, packed) &&
	    end < limit);
	x->i_anchor = (size_t)(a - flow->anchors);
	if (i != x->i_token || k != x->i_run) {
		x->i_token = i;
		x->i_run = k;
		set_target(x, &view, flow, b.branch);
	}
	finish(&b, x, rows);
	return (b.nomem ? HWTD_E_NOMEM : rc);
}

int
hwtdi_expand_blocks(struct hwtdi_expander *x, const struct hwtdi_flow *flow,
    struct hwtdi_rows *rows)
{
	return (rows->packed != NULL ? make_blocks(x, flow, rows, true)
				     : make_blocks(x, flow, rows, false));
}
