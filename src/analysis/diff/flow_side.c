/*
 * Rows of a thread become blocks that end with a branch, whatever cut the rows.
 */
#include "analysis/diff/flow_side.h"

#include <string.h>

#include "base/fail.h"

#define ROWS_AT_ONCE 1024u

/* Rows that tell of flow. */
#define KINDS                                                                 \
	(1u << HWTD_EV_BLOCK | 1u << HWTD_EV_ASYNC | 1u << HWTD_EV_GAP |      \
	    1u << HWTD_EV_CONTEXT | 1u << HWTD_EV_ENABLE |                    \
	    1u << HWTD_EV_DISABLE)

/* Before the times that are asked for: a gap may reach into them. */
#define LOOK_BACK_NS UINT64_C(10000000)

int
hwtdi_flow_open_events(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct hwtd_events **out,
    struct hwtd_error *err)
{
	struct hwtd_events_options o;
	uint64_t first = UINT64_MAX;
	int rc = hwtdi_options_copy(&o, sizeof(o), opts, err);

	if (rc != HWTD_OK)
		return (rc);
	o.size = sizeof(o);
	o.level = HWTD_LEVEL_BLOCK;
	o.kinds = KINDS;
	rc = hwtd_events_open(trace, &o, out, err);
	for (size_t i = 0; i < o.n_times; i++)
		if (o.times_ns[i].start < first)
			first = o.times_ns[i].start;
	if (rc != HWTD_OK || o.n_times == 0 || first <= LOOK_BACK_NS)
		return (rc);
	return (hwtd_events_seek_ns(*out, first - LOOK_BACK_NS, err));
}

void
hwtdi_flow_thread_of(const struct hwtd_trace *trace,
    const struct hwtd_event *row, struct hwtdi_flow_thread *out)
{
	struct hwtd_exec_context c = { .size = sizeof(c) };

	*out = (struct hwtdi_flow_thread){ HWTD_NO_ID, HWTD_NO_ID,
		HWTD_NO_ID };
	if (hwtd_trace_exec_context(trace, row->context, &c) == HWTD_OK) {
		out->pid = c.pid;
		out->tid = c.tid;
	}
	if (out->tid == HWTD_NO_ID)
		out->stream = row->stream;
}

int
hwtdi_flow_side_begin(struct hwtdi_flow_side *s,
    const struct hwtdi_flow_thread *thread,
    const struct hwtd_events_options *opts, struct hwtd_error *err)
{
	s->thread = *thread;
	s->begin = s->n = 0;
	s->ended = s->open = s->has_led = false;
	s->cut = true;
	s->depth = 0;
	s->insns = s->foreign_insns = s->gaps = s->gap_bytes = 0;
	s->n_of_thread = 0;
	if (s->rows == NULL)
		s->rows = hwtdi_alloc(s->library,
		    ROWS_AT_ONCE * sizeof(*s->rows));
	if (s->rows == NULL)
		return (hwtdi_fail_nomem(err,
		    ROWS_AT_ONCE * sizeof(*s->rows)));
	return (hwtdi_flow_open_events(s->trace, opts, &s->events, err));
}

void
hwtdi_flow_side_end(struct hwtdi_flow_side *s)
{
	struct hwtd_context *ctx = s->library;

	hwtd_events_close(s->events);
	hwtdi_free(ctx, s->rows, ROWS_AT_ONCE * sizeof(*s->rows));
	hwtdi_array_free(ctx, s->of_thread, s->cap_of_thread,
	    sizeof(*s->of_thread));
	hwtdi_array_free(ctx, s->at, s->cap, sizeof(*s->at));
	s->events = NULL;
	s->rows = NULL;
	s->of_thread = NULL;
	s->n_of_thread = s->cap_of_thread = 0;
	s->at = NULL;
	s->begin = s->n = s->cap = 0;
}

/* Which rows are of the thread. */

enum owner {
	OWNER_OPEN,
	OWNER_THIS,
	OWNER_OTHER,
	OWNER_NOBODY
};

static int
owner_of(struct hwtdi_flow_side *s, const struct hwtd_event *row, uint8_t *out,
    struct hwtd_error *err)
{
	const size_t need = (size_t)row->context + 1;
	struct hwtdi_flow_thread t;
	uint8_t *at;

	if (need > s->n_of_thread) {
		const int rc = hwtdi_array_grow(s->library, &s->of_thread,
		    &s->cap_of_thread, need, sizeof(*s->of_thread), err);

		if (rc != HWTD_OK)
			return (rc);
		memset(s->of_thread + s->n_of_thread, OWNER_OPEN,
		    need - s->n_of_thread);
		s->n_of_thread = need;
	}
	at = &s->of_thread[row->context];
	if (*at == OWNER_OPEN) {
		hwtdi_flow_thread_of(s->trace, row, &t);
		*at = t.tid == HWTD_NO_ID ? OWNER_NOBODY
		    : t.tid == s->thread.tid && t.pid == s->thread.pid
		    ? OWNER_THIS
		    : OWNER_OTHER;
	}
	*out = *at;
	/* What nobody is known of is of its stream. */
	if (*at == OWNER_NOBODY && s->thread.tid == HWTD_NO_ID)
		*out = row->stream == s->thread.stream ? OWNER_THIS
						       : OWNER_OTHER;
	return (HWTD_OK);
}

/* Blocks. */

static int
push(struct hwtdi_flow_side *s, const struct hwtdi_flow_block *block,
    struct hwtd_error *err)
{
	int rc;

	/* What was taken makes room. */
	if (s->begin > 4096 && s->begin > s->n / 2) {
		memmove(s->at, s->at + s->begin,
		    (s->n - s->begin) * sizeof(*s->at));
		s->n -= s->begin;
		s->begin = 0;
	}
	rc = hwtdi_array_grow(s->library, &s->at, &s->cap, s->n + 1,
	    sizeof(*s->at), err);
	if (rc == HWTD_OK)
		s->at[s->n++] = *block;
	return (rc);
}

static int
close_last(struct hwtdi_flow_side *s, struct hwtd_error *err)
{
	if (!s->open)
		return (HWTD_OK);
	s->open = false;
	return (push(s, &s->last, err));
}

/* Nobody knows what came behind it. */
static int
cut_last(struct hwtdi_flow_side *s, struct hwtd_error *err)
{
	if (s->open && s->last.told.branch == HWTD_BRANCH_NONE)
		s->last.cut |= HWTDI_FLOW_CUT_END;
	s->cut = true;
	return (close_last(s, err));
}

static bool
goes_on(const struct hwtdi_flow_side *s, const struct hwtdi_flow_block *next)
{
	const struct hwtd_flow_block *a = &s->last.told, *b = &next->told;

	if (!s->open || s->last.kind != next->kind || a->image != b->image)
		return (false);
	return (next->kind == HWTDI_FLOW_FOREIGN ||
	    (a->branch == HWTD_BRANCH_NONE &&
		a->file_off + a->bytes == b->file_off &&
		a->address + a->bytes == b->address &&
		((a->flags ^ b->flags) & HWTD_EVF_ISA_MASK) == 0));
}

static void
join(struct hwtdi_flow_side *s, const struct hwtdi_flow_block *next)
{
	struct hwtd_flow_block *a = &s->last.told;

	s->last.cut &= ~HWTDI_FLOW_CUT_END;
	a->insns += next->told.insns;
	a->branch = next->told.branch;
	a->flags = (a->flags & ~(uint32_t)HWTD_EVF_TAKEN) |
	    (next->told.flags & HWTD_EVF_TAKEN);
	/* Of foreign code there is no end. */
	if (next->kind == HWTDI_FLOW_CODE)
		a->bytes += next->told.bytes;
}

static int
add(struct hwtdi_flow_side *s, const struct hwtdi_flow_block *block,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (goes_on(s, block)) {
		join(s, block);
	} else {
		rc = close_last(s, err);
		s->open = true;
		s->last = *block;
		if (s->cut)
			s->last.cut = HWTDI_FLOW_CUT_BEGIN;
		s->cut = false;
	}
	/* What ended with a branch is whole. */
	if (rc == HWTD_OK && block->kind == HWTDI_FLOW_CODE &&
	    block->told.branch != HWTD_BRANCH_NONE)
		rc = close_last(s, err);
	return (rc);
}

static int
add_gap(struct hwtdi_flow_side *s, const struct hwtd_event *row,
    uint64_t bytes, struct hwtd_error *err)
{
	struct hwtdi_flow_block block = { .kind = HWTDI_FLOW_GAP };
	int rc = cut_last(s, err);

	s->depth = 0;
	s->has_led = false;
	s->gaps++;
	s->gap_bytes += bytes;
	/* Several in a row are one for who compares. */
	if (rc != HWTD_OK ||
	    (s->n > s->begin && s->at[s->n - 1].kind == HWTDI_FLOW_GAP))
		return (rc);
	block.told.section = block.told.image = HWTD_NO_ID;
	block.told.time_ns = row->time_ns;
	block.told.stream = row->stream;
	block.told.stream_off = row->stream_off;
	return (push(s, &block, err));
}

static bool
is_kernel(uint64_t address)
{
	return (address >> 63 != 0);
}

/* Interrupts are passed over, up to where they go back. */
static bool
passes_over(struct hwtdi_flow_side *s, const struct hwtd_event *row)
{
	bool pass;

	if (s->with_kernel)
		return (false);
	if (is_kernel(row->ip)) {
		s->has_led = false;
		return (true);
	}
	if (s->has_led && row->ip == s->led)
		s->depth++;
	s->has_led = false;
	pass = s->depth != 0;
	if (pass && row->branch == HWTD_BRANCH_FAR_RETURN)
		s->depth--;
	return (pass);
}

static int
add_code(struct hwtdi_flow_side *s, const struct hwtd_event *row,
    struct hwtd_error *err)
{
	const uint32_t told = HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED |
	    HWTD_EVF_TAKEN | HWTD_EVF_ISA_MASK;
	const bool has_section = (row->flags & HWTD_EVF_SECTION) != 0;
	const struct hwtdi_flow_section *section = NULL;
	struct hwtdi_flow_block block = { .kind = HWTDI_FLOW_CODE };
	int rc = HWTD_OK;

	if (passes_over(s, row))
		return (HWTD_OK);
	/* The way is not told: as good as a gap. */
	if (row->branch == HWTD_BRANCH_NO_PATH) {
		s->insns += row->insns;
		return (add_gap(s, row, 0, err));
	}
	if (has_section)
		rc = hwtdi_flow_images_section(s->images, s->side,
		    row->section, &section, err);
	if (rc != HWTD_OK)
		return (rc);
	block.told = (struct hwtd_flow_block){ .time_ns = row->time_ns,
		.address = row->ip,
		.file_off = row->ip + (section != NULL ? section->delta : 0),
		.stream_off = row->stream_off,
		.insns_before = s->insns,
		.insns = row->insns,
		.bytes = row->bytes,
		.stream = row->stream,
		.context = row->context,
		.section = has_section ? row->section : HWTD_NO_ID,
		.branch = row->branch,
		.flags = row->flags & told,
		.image = section != NULL ? section->image : HWTD_NO_ID };
	s->insns += row->insns;
	if (block.told.image != HWTD_NO_ID)
		s->images->at[block.told.image].insns[s->side] += row->insns;
	if (section != NULL && section->foreign) {
		block.kind = HWTDI_FLOW_FOREIGN;
		s->foreign_insns += row->insns;
	}
	return (add(s, &block, err));
}

/* An interrupt or exception whose handler is traced. */
static void
note_async(struct hwtdi_flow_side *s, const struct hwtd_batch *batch,
    const struct hwtd_event *row)
{
	uint32_t type = HWTD_ASYNC_UNKNOWN;

	if ((row->flags & HWTD_EVF_VALUE) != 0 &&
	    row->value < batch->n_asyncs) {
		const struct hwtd_async
		    *async = (const void *)((const uint8_t *)batch->asyncs +
			(size_t)row->value * batch->async_stride);

		type = async->type;
	}
	/* Aborts go on elsewhere for good; others are done by instructions. */
	if (type == HWTD_ASYNC_TRANSACTION_ABORT || type >= HWTD_ASYNC_RETURN)
		return;
	s->has_led = (row->flags & HWTD_EVF_TARGET) != 0;
	s->led = row->target;
}

static uint64_t
bytes_of_gap(const struct hwtd_batch *batch, const struct hwtd_event *row)
{
	const struct hwtd_gap *gap;

	if ((row->flags & HWTD_EVF_VALUE) == 0 || row->value >= batch->n_gaps)
		return (0);
	gap = (const void *)((const uint8_t *)batch->gaps +
	    (size_t)row->value * batch->gap_stride);
	return (gap->end - gap->first);
}

static int
add_row(struct hwtdi_flow_side *s, const struct hwtd_batch *batch,
    const struct hwtd_event *row, struct hwtd_error *err)
{
	uint8_t owner;
	int rc = owner_of(s, row, &owner, err);

	/* A gap that nobody is known of may be anybody's. */
	if (rc != HWTD_OK || owner == OWNER_OTHER ||
	    (owner == OWNER_NOBODY && row->kind != HWTD_EV_GAP))
		return (rc);
	switch (row->kind) {
	case HWTD_EV_BLOCK:
		return (add_code(s, row, err));
	case HWTD_EV_GAP:
		return (add_gap(s, row, bytes_of_gap(batch, row), err));
	case HWTD_EV_ASYNC:
		/* What is left of the block may come later, or never. */
		if (s->open && s->last.told.branch == HWTD_BRANCH_NONE)
			s->last.cut |= HWTDI_FLOW_CUT_END;
		note_async(s, batch, row);
		return (HWTD_OK);
	default:
		return (HWTD_OK);
	}
}

static int
read_some(struct hwtdi_flow_side *s, struct hwtd_error *err)
{
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = s->rows,
		.stride = sizeof(*s->rows),
		.cap = ROWS_AT_ONCE };
	int rc = hwtd_events_read(s->events, &batch, err);

	if (rc == HWTD_END) {
		s->ended = true;
		return (cut_last(s, err));
	}
	for (size_t i = 0; rc == HWTD_OK && i < batch.n; i++)
		rc = add_row(s, &batch, &s->rows[i], err);
	return (rc);
}

int
hwtdi_flow_side_fill(struct hwtdi_flow_side *s, size_t want,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && !s->ended && hwtdi_flow_side_n(s) < want)
		rc = read_some(s, err);
	return (rc);
}
