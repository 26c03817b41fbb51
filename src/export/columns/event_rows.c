/*
 * Rows of a cursor over events, for columns.
 */
#include <string.h>

#include <hwtdecode/symbol.h>

#include "base/fail.h"
#include "event/cursor.h"
#include "export/columns/column_batch.h"

struct event_rows {
	struct hwtdi_rows head;
	struct hwtd_events *events;
	struct hwtd_trace *trace;
	bool with_contexts;
	/* All contexts up to the highest id that was seen. */
	struct hwtd_exec_context *contexts;
	size_t n_contexts, cap_contexts;
	/* NULL: no column needs names. */
	struct code_names *names;
	/* What was read last. */
	struct hwtd_batch batch;
	struct hwtd_event chunk[HWTDI_CHUNK];
};

/* What naming the code of a chunk takes. */
struct code_names {
	struct hwtd_symbolizer *symbolizer;
	uint16_t at[HWTDI_CHUNK];
	struct hwtd_where where[HWTDI_CHUNK];
	struct hwtd_symbol symbols[HWTDI_CHUNK];
	struct hwtdi_code_name names[HWTDI_CHUNK];
};

static const struct hwtd_event *
row_at(const struct hwtd_batch *rows, size_t i)
{
	return ((const void *)((const uint8_t *)rows->events +
	    i * rows->stride));
}

/* A row of a record names a byte only if the record does. */
static bool
record_is_placed(const struct hwtd_trace *trace, uint64_t index)
{
	struct hwtd_record record = { .size = sizeof(record) };

	return (hwtd_trace_record(trace, index, &record) == HWTD_OK &&
	    (record.flags & HWTD_RECF_STREAM_OFF) != 0);
}

static bool
is_placed(const struct hwtd_trace *trace, const struct hwtd_event *row)
{
	if (row->stream == HWTD_NO_ID)
		return (false);
	return (row->kind != HWTD_EV_RECORD || row->stream_off != 0 ||
	    record_is_placed(trace, row->value));
}

static bool
all_are_placed(const struct hwtd_batch *rows)
{
	unsigned int records = 0, nowhere = 0;

	for (size_t i = 0; i < rows->n; i++) {
		records |= row_at(rows, i)->kind == HWTD_EV_RECORD;
		nowhere |= row_at(rows, i)->stream == HWTD_NO_ID;
	}
	return (records == 0 && nowhere == 0);
}

/* Mostly one context executes for long. */
static void
gather_contexts(const struct event_rows *r, struct hwtdi_column_filler *f)
{
	const struct hwtd_batch *rows = &r->batch;
	uint32_t others = 0;

	for (size_t i = 0; i < rows->n; i++)
		others |= row_at(rows, i)->context ^ row_at(rows, 0)->context;
	if (others == 0) {
		hwtdi_rows_put_all(f, &r->contexts[row_at(rows, 0)->context],
		    0, rows->n);
		return;
	}
	for (size_t i = 0; i < rows->n; i++)
		hwtdi_rows_put(f, &r->contexts[row_at(rows, i)->context], i);
}

static void
gather_details(struct hwtdi_column_filler *f, const struct hwtd_batch *rows,
    uint8_t kind, const void *details, size_t stride, size_t n)
{
	if (n == 0)
		return;
	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_event *row = row_at(rows, i);

		if (row->kind == kind && (row->flags & HWTD_EVF_VALUE) != 0 &&
		    row->value < n)
			hwtdi_rows_put(f,
			    (const uint8_t *)details + row->value * stride, i);
	}
}

static void
gather_rows(const struct event_rows *r, struct hwtdi_column_filler *f,
    bool placed)
{
	const struct hwtd_batch *rows = &r->batch;

	if (!placed || all_are_placed(rows)) {
		hwtdi_rows_put_all(f, rows->events, rows->stride, rows->n);
		return;
	}
	for (size_t i = 0; i < rows->n; i++)
		if (is_placed(r->trace, row_at(rows, i)))
			hwtdi_rows_put(f, row_at(rows, i), i);
}

static void
set_where(const struct hwtd_event *row, struct hwtd_where *where)
{
	*where = (struct hwtd_where){ .address = row->ip,
		.context = row->context,
		.section = row->section,
		.stream = row->stream,
		.stream_off = row->stream_off,
		.time_ns = row->time_ns };
	if (row->context != HWTD_NO_ID)
		where->flags |= HWTD_WHERE_CONTEXT;
	if ((row->flags & HWTD_EVF_SECTION) != 0)
		where->flags |= HWTD_WHERE_SECTION;
	if (row->stream != HWTD_NO_ID)
		where->flags |= HWTD_WHERE_OFFSET;
	if ((row->flags & HWTD_EVF_TIME) != 0)
		where->flags |= HWTD_WHERE_TIME;
}

static void
set_name(const struct hwtd_symbol *symbol, struct hwtdi_code_name *name)
{
	*name = (struct hwtdi_code_name){ .function = symbol->text,
		.image = symbol->image_name };
	if (symbol->n_frames == 0)
		return;
	if (symbol->frames[0].function != NULL)
		name->function = symbol->frames[0].function;
	name->file = symbol->frames[0].file;
	name->line = symbol->frames[0].line;
}

static int
gather_names(struct event_rows *r, struct hwtdi_column_filler *f,
    struct hwtd_error *err)
{
	struct code_names *names = r->names;
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < r->batch.n; i++) {
		const struct hwtd_event *row = row_at(&r->batch, i);

		if ((row->flags & HWTD_EVF_IP) == 0)
			continue;
		names->at[n] = (uint16_t)i;
		set_where(row, &names->where[n++]);
	}
	rc = hwtd_symbolize(names->symbolizer, names->where,
	    sizeof(names->where[0]), n, names->symbols,
	    sizeof(names->symbols[0]), err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		set_name(&names->symbols[i], &names->names[i]);
		hwtdi_rows_put(f, &names->names[i], names->at[i]);
	}
	return (rc);
}

static int
gather(struct hwtdi_rows *head, unsigned int source,
    struct hwtdi_column_filler *f, struct hwtd_error *err)
{
	struct event_rows *r = (struct event_rows *)(void *)head;
	const struct hwtd_batch *rows = &r->batch;

	switch ((enum hwtdi_event_source)source) {
	case HWTDI_FROM_ROW:
	case HWTDI_FROM_PLACED_ROW:
		gather_rows(r, f, source == HWTDI_FROM_PLACED_ROW);
		break;
	case HWTDI_FROM_CONTEXT:
		gather_contexts(r, f);
		break;
	case HWTDI_FROM_GAP:
		gather_details(f, rows, HWTD_EV_GAP, rows->gaps,
		    rows->gap_stride, rows->n_gaps);
		break;
	case HWTDI_FROM_MARKER:
		gather_details(f, rows, HWTD_EV_MARKER, rows->markers,
		    rows->marker_stride, rows->n_markers);
		break;
	case HWTDI_FROM_POWER:
		gather_details(f, rows, HWTD_EV_POWER, rows->powers,
		    rows->power_stride, rows->n_powers);
		break;
	case HWTDI_FROM_ASYNC:
		gather_details(f, rows, HWTD_EV_ASYNC, rows->asyncs,
		    rows->async_stride, rows->n_asyncs);
		break;
	case HWTDI_FROM_SAMPLE:
		gather_details(f, rows, HWTD_EV_SAMPLE, rows->samples,
		    rows->sample_stride, rows->n_samples);
		break;
	case HWTDI_FROM_NAME:
		return (gather_names(r, f, err));
	}
	return (HWTD_OK);
}

/* Contexts never change and their ids count from 0, so copies are kept. */
static int
know_contexts(struct event_rows *r, struct hwtd_error *err)
{
	const struct hwtd_batch *rows = &r->batch;
	size_t n = r->n_contexts;
	uint32_t most = 0;
	int rc;

	if (!r->with_contexts)
		return (HWTD_OK);
	for (size_t i = 0; i < rows->n; i++) {
		const uint32_t context = row_at(rows, i)->context;

		most = context > most ? context : most;
	}
	if (rows->n > 0 && most >= n)
		n = (size_t)most + 1;
	rc = hwtdi_array_grow(r->head.library, &r->contexts, &r->cap_contexts,
	    n, sizeof(*r->contexts), err);
	for (; rc == HWTD_OK && r->n_contexts < n; r->n_contexts++) {
		struct hwtd_exec_context *c = &r->contexts[r->n_contexts];

		c->size = sizeof(*c);
		rc = hwtd_trace_exec_context(r->trace, (uint32_t)r->n_contexts,
		    c);
		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc, "no context %zu",
			    r->n_contexts));
	}
	return (rc);
}

static int
read_rows(struct hwtdi_rows *head, size_t most, size_t *n_out,
    struct hwtd_error *err)
{
	struct event_rows *r = (struct event_rows *)(void *)head;
	int rc;

	r->batch = (struct hwtd_batch){ .size = sizeof(r->batch),
		.events = r->chunk,
		.stride = sizeof(r->chunk[0]),
		.cap = most };
	rc = hwtd_events_read(r->events, &r->batch, err);
	if (rc != HWTD_OK)
		return (rc);
	*n_out = r->batch.n;
	return (know_contexts(r, err));
}

/* The cursor is not given up. */
static void
destroy(struct event_rows *r)
{
	struct hwtd_context *library = r->head.library;

	if (r->names != NULL) {
		hwtd_symbolizer_close(r->names->symbolizer);
		hwtdi_free(library, r->names, sizeof(*r->names));
	}
	hwtdi_array_free(library, r->contexts, r->cap_contexts,
	    sizeof(*r->contexts));
	hwtdi_rows_destroy(&r->head, sizeof(*r));
}

static void
close_rows(struct hwtdi_rows *head)
{
	struct event_rows *r = (struct event_rows *)(void *)head;
	struct hwtd_events *events = r->events;

	destroy(r);
	hwtd_events_close(events);
}

static const struct hwtdi_rows_ops ops = {
	.table = &hwtdi_event_columns,
	.n_sources = HWTDI_EVENT_SOURCES,
	.read = read_rows,
	.gather = gather,
	.close = close_rows,
};

static int
make_names(struct event_rows *r, struct hwtd_error *err)
{
	r->names = hwtdi_zalloc(r->head.library, sizeof(*r->names));
	if (r->names == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*r->names)));
	return (hwtd_symbolizer_open(r->trace, NULL, &r->names->symbolizer,
	    err));
}

int
hwtd_events_export(struct hwtd_events *ev,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err)
{
	struct hwtd_export_options o;
	struct event_rows *r;
	int rc;

	if (ev == NULL || stream_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no cursor or no place for the stream"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	r = hwtdi_rows_create(hwtdi_events_library(ev), &ops, sizeof(*r), err);
	if (r == NULL)
		return (HWTD_E_NOMEM);
	r->events = ev;
	r->trace = hwtdi_events_trace(ev);
	rc = hwtdi_column_stream(&r->head, &o, stream_out, err);
	if (rc == HWTD_OK)
		r->with_contexts = hwtdi_columns_need(ops.table, &o,
		    HWTDI_FROM_CONTEXT);
	if (rc == HWTD_OK &&
	    hwtdi_columns_need(ops.table, &o, HWTDI_FROM_NAME)) {
		rc = make_names(r, err);
		/* The stream would close the cursor. */
		if (rc != HWTD_OK)
			(void)hwtdi_events_hold(ev);
		if (rc != HWTD_OK)
			stream_out->release(stream_out);
		return (rc);
	}
	if (rc != HWTD_OK)
		destroy(r);
	return (rc);
}
