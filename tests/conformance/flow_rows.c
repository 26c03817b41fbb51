/*
 * Rows of one decode: reading ahead, comparing, and writing one.
 */
#include "flow_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 4096

void
flow_rows_open(struct flow_rows *rows, struct hwtd_trace *trace,
    const struct hwtd_events_options *how, const char *engine)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options options = *how;

	options.engine = engine;
	*rows = (struct flow_rows){ .trace = trace,
		.batch = { .size = sizeof(rows->batch),
		    .stride = sizeof(struct hwtd_event),
		    .cap = BATCH_ROWS } };
	if (hwtd_events_open(trace, &options, &rows->events, &err) != HWTD_OK)
		flow_die("%s: %s", engine, err.message);
	rows->batch.events = flow_alloc(BATCH_ROWS *
	    sizeof(struct hwtd_event));
}

void
flow_rows_close(struct flow_rows *rows)
{
	hwtd_events_close(rows->events);
	free(rows->batch.events);
	free(rows->rows);
	free(rows->facts);
}

static void
take_detail(struct flow_row *row, const void *array, size_t stride, size_t n,
    size_t bytes)
{
	if (row->event.value >= n)
		flow_die("a row has no detail");
	memcpy(&row->detail, (const char *)array + row->event.value * stride,
	    bytes);
	row->event.value = 0;
}

static void
fill(struct flow_row *row, const struct hwtd_event *event,
    const struct hwtd_batch *b)
{
	row->event = *event;
	switch (event->kind) {
	case HWTD_EV_GAP:
		take_detail(row, b->gaps, b->gap_stride, b->n_gaps,
		    sizeof(row->detail.gap));
		break;
	case HWTD_EV_MARKER:
		take_detail(row, b->markers, b->marker_stride, b->n_markers,
		    sizeof(row->detail.marker));
		break;
	case HWTD_EV_POWER:
		take_detail(row, b->powers, b->power_stride, b->n_powers,
		    sizeof(row->detail.power));
		break;
	case HWTD_EV_ASYNC:
		memset(&row->detail, 0, sizeof(row->detail));
		if ((event->flags & HWTD_EVF_VALUE) != 0)
			take_detail(row, b->asyncs, b->async_stride,
			    b->n_asyncs, sizeof(row->detail.async));
		break;
	default:
		break;
	}
}

static size_t
context_facts(const struct hwtd_trace *trace, uint32_t id,
    struct flow_fact out[FLOW_ROW_FACTS])
{
	struct hwtd_exec_context context = { .size = sizeof(context) };
	size_t n = 0;

	if (hwtd_trace_exec_context(trace, id, &context) != HWTD_OK)
		flow_die("a row has no context");
	if ((context.flags & HWTD_CTXF_CR3) != 0)
		out[n++] = (struct flow_fact){ FLOW_FACT_CR3,
			context.cr3 |
			    ((context.flags & HWTD_CTXF_GUEST) != 0) };
	if ((context.flags & HWTD_CTXF_VMCS) != 0)
		out[n++] = (struct flow_fact){ FLOW_FACT_VMCS, context.vmcs };
	return (n);
}

size_t
flow_row_facts(const struct hwtd_trace *trace, const struct flow_row *row,
    struct flow_fact out[FLOW_ROW_FACTS])
{
	const struct hwtd_event *e = &row->event;

	out[0].value = e->value;
	switch (e->kind) {
	case HWTD_EV_MODE:
		if ((e->value & HWTD_MODE_IS_TRANSACTION) != 0) {
			out[0].name = FLOW_FACT_TRANSACTION;
			out[0].value &= HWTD_MODE_TRANSACTION;
		} else if ((e->value & HWTD_MODE_HAS_INTERRUPTS) != 0)
			out[0].name = FLOW_FACT_INTERRUPTS;
		else {
			out[0].name = FLOW_FACT_MODE;
			out[0].value = e->flags & HWTD_EVF_ISA_MASK;
		}
		return (1);
	case HWTD_EV_CONTEXT:
		return (context_facts(trace, e->context, out));
	case HWTD_EV_FREQUENCY:
		out[0].name = FLOW_FACT_RATIO;
		return (1);
	default:
		return (0);
	}
}

static void
add_facts(struct flow_rows *rows, const struct flow_row *row)
{
	struct flow_fact facts[FLOW_ROW_FACTS];
	const size_t n = flow_row_facts(rows->trace, row, facts);

	/* Rows at hand count facts from the first on. */
	if (rows->fact_head == rows->n_facts && rows->head == rows->n)
		rows->fact_head = rows->n_facts = 0;
	if (rows->n_facts + n > rows->cap_facts) {
		rows->cap_facts = rows->cap_facts * 2 + 64;
		rows->facts = flow_grow(rows->facts,
		    rows->cap_facts * sizeof(*rows->facts));
	}
	for (size_t i = 0; i < n; i++)
		rows->facts[rows->n_facts++] = facts[i];
}

/* Read one more row.  False: none is left. */
static bool
more(struct flow_rows *rows)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int rc;

	while (rows->next == rows->batch.n) {
		if (rows->ended)
			return (false);
		rc = hwtd_events_read(rows->events, &rows->batch, &err);
		if (rc < 0)
			flow_die("read: %s", err.message);
		rows->next = 0;
		if (rc == HWTD_END) {
			rows->ended = true;
			rows->batch.n = 0;
			return (false);
		}
	}
	if (rows->head == rows->n)
		rows->head = rows->n = 0;
	if (rows->n == rows->cap) {
		rows->cap = rows->cap * 2 + 64;
		rows->rows = flow_grow(rows->rows,
		    rows->cap * sizeof(*rows->rows));
	}
	fill(&rows->rows[rows->n], &rows->batch.events[rows->next++],
	    &rows->batch);
	rows->rows[rows->n].facts = rows->n_facts;
	if ((rows->rows[rows->n].event.flags & HWTD_EVF_STATUS) != 0)
		add_facts(rows, &rows->rows[rows->n]);
	else
		rows->n++;
	return (true);
}

const struct flow_row *
flow_rows_at(struct flow_rows *rows, size_t i)
{
	while (rows->head + i >= rows->n)
		if (!more(rows))
			return (NULL);
	return (&rows->rows[rows->head + i]);
}

void
flow_rows_take(struct flow_rows *rows, size_t n)
{
	for (; n > 0 && flow_rows_at(rows, 0) != NULL; n--)
		rows->insns += rows->rows[rows->head++].event.kind ==
		    HWTD_EV_INSN;
}

bool
flow_rows_fact(struct flow_rows *rows, struct flow_fact *out)
{
	if (rows->fact_head == rows->n_facts)
		return (false);
	*out = rows->facts[rows->fact_head++];
	return (true);
}

bool
flow_row_is_loss(const struct flow_row *row)
{
	return (row->event.kind == HWTD_EV_GAP &&
	    row->detail.gap.reason != HWTD_GAP_OVERFLOW);
}

/*
 * How far a decoder reads before it notices is its own affair: the place is an
 * address, or bytes of which both lost some.
 */
static bool
same_gap(const struct hwtd_gap *a, const struct hwtd_gap *b)
{
	const uint32_t known = a->reason == HWTD_GAP_OVERFLOW
	    ? HWTD_GAPF_IP_AFTER
	    : HWTD_GAPF_ADDR;

	if (a->reason != b->reason || ((a->flags ^ b->flags) & known) != 0)
		return (false);
	if (a->reason == HWTD_GAP_OVERFLOW)
		return ((a->flags & known) == 0 || a->ip_after == b->ip_after);
	if ((a->flags & known) != 0)
		return (a->addr == b->addr);
	return (a->first <= b->end && b->first <= a->end);
}

static bool
same_detail(const struct flow_row *a, const struct flow_row *b)
{
	switch (a->event.kind) {
	case HWTD_EV_GAP:
		return (same_gap(&a->detail.gap, &b->detail.gap));
	case HWTD_EV_MARKER:
		return (memcmp(&a->detail.marker, &b->detail.marker,
			    sizeof(a->detail.marker)) == 0);
	case HWTD_EV_POWER:
		return (memcmp(&a->detail.power, &b->detail.power,
			    sizeof(a->detail.power)) == 0);
	case HWTD_EV_ASYNC:
		return (memcmp(&a->detail.async, &b->detail.async,
			    sizeof(a->detail.async)) == 0);
	default:
		return (true);
	}
}

/*
 * Whether a row says where execution went: behind an instruction that is no
 * branch it goes without saying.
 */
static bool
says_target(const struct hwtd_event *e)
{
	return ((e->flags & HWTD_EVF_TARGET) != 0 &&
	    (e->kind != HWTD_EV_INSN || e->branch != HWTD_BRANCH_NONE ||
		e->target != e->ip + e->bytes));
}

bool
flow_row_same(const struct flow_row *a, const struct flow_row *b)
{
	const int not_compared = HWTD_EVF_TIME | HWTD_EVF_TIME_ESTIMATED |
	    HWTD_EVF_TARGET;
	const struct hwtd_event *x = &a->event, *y = &b->event;

	if (x->kind != y->kind || x->value != y->value ||
	    x->insns != y->insns || x->bytes != y->bytes ||
	    x->branch != y->branch || x->stream != y->stream ||
	    x->context != y->context || x->section != y->section)
		return (false);
	/* The address of a gap is in its detail. */
	if (x->kind == HWTD_EV_GAP)
		return (same_detail(a, b));
	return (((x->flags ^ y->flags) & ~not_compared) == 0 &&
	    x->ip == y->ip && says_target(x) == says_target(y) &&
	    (!says_target(x) || x->target == y->target) && same_detail(a, b));
}

void
flow_row_put(FILE *out, const struct hwtd_trace *trace,
    const struct flow_row *row)
{
	const struct hwtd_event *e = &row->event;
	const struct hwtd_batch batch = { .size = sizeof(batch),
		.gaps = &row->detail.gap,
		.n_gaps = 1,
		.markers = &row->detail.marker,
		.n_markers = 1,
		.powers = &row->detail.power,
		.n_powers = 1,
		.asyncs = &row->detail.async,
		.n_asyncs = 1 };

	flow_put_row(out, trace, e, &batch);
	if (e->kind != HWTD_EV_INSN)
		return;
	fprintf(out, " bytes=%" PRIu32 " branch=%s", e->bytes,
	    hwtd_branch_name(e->branch));
	if ((e->flags & HWTD_EVF_TAKEN) != 0)
		fputs(" taken", out);
	if ((e->flags & HWTD_EVF_SPECULATIVE) != 0)
		fputs(" speculative", out);
	fprintf(out, " isa=%d context=%" PRIu32,
	    (e->flags & HWTD_EVF_ISA_MASK) >> HWTD_EVF_ISA_SHIFT, e->context);
	if ((e->flags & HWTD_EVF_SECTION) != 0)
		fprintf(out, " section=%" PRIu32, e->section);
}
