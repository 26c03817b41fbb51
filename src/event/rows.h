/*
 * A batch of rows of one stream, with details and contexts of its own.
 */
#ifndef HWTDI_ROWS_H
#define HWTDI_ROWS_H

#include <hwtdecode/event.h>

#include "base/library.h"

#define HWTDI_ROWS 1024

/* Records that come before a row. */
struct hwtdi_mark {
	/* Index of the row. */
	size_t at;
	/* [first, end) of the records with a place in the stream. */
	size_t first, end;
	/* The latest time of rows up to it, also of filtered ones; or 0. */
	uint64_t time_ns;
};

struct hwtdi_packed_rows;

struct hwtdi_rows {
	struct hwtd_context *library;
	/*
	 * There is room for `cap`, at most HWTDI_ROWS: those of `own`, unless
	 * whoever has them made lends others.  `value` of rows with details is an
	 * index below, and `context` one above `first_context`.
	 */
	struct hwtd_event *rows;
	size_t n, cap;

	struct hwtd_gap *gaps;
	size_t n_gaps, cap_gaps;
	struct hwtd_marker *markers;
	size_t n_markers, cap_markers;
	struct hwtd_power *powers;
	size_t n_powers, cap_powers;
	struct hwtd_async *asyncs;
	size_t n_asyncs, cap_asyncs;
	struct hwtd_sample *samples;
	size_t n_samples, cap_samples;
	struct hwtd_exec_context *contexts;
	size_t n_contexts, cap_contexts;
	/* What is probably the trace's number of the first one. */
	uint32_t first_context;

	struct hwtdi_mark *marks;
	size_t n_marks, cap_marks;

	/* Rows that filters left out. */
	size_t n_hidden;

	/* They end where a segment does. */
	bool ends_segment;
	/* While records are to come: the latest time of a row up to here. */
	uint64_t last_ns;

	/* What was seen while these rows were made. */
	struct hwtd_stats stats;
	/* Why there are no more: HWTD_OK, HWTD_END or an error. */
	int rc;
	struct hwtd_error err;

	/* HWTDI_ROWS of them; NULL: only details are kept. */
	struct hwtd_event *own;
	/* NULL, or the rows come here, in place of `rows`. */
	struct hwtdi_packed_rows *packed;
};

/* With the rows that are its own. */
struct hwtdi_row_store {
	struct hwtdi_rows rows;
	struct hwtd_event own[HWTDI_ROWS];
};

void hwtdi_row_store_init(struct hwtdi_row_store *store,
    struct hwtd_context *library);
/* Without rows of its own. */
void hwtdi_rows_init(struct hwtdi_rows *rows, struct hwtd_context *library);
/* `value` is, or can be, the index of a detail. */
static inline bool
hwtdi_event_has_detail(const struct hwtd_event *row)
{
	return (row->kind == HWTD_EV_GAP || row->kind == HWTD_EV_MARKER ||
	    row->kind == HWTD_EV_POWER || row->kind == HWTD_EV_ASYNC ||
	    row->kind == HWTD_EV_SAMPLE);
}

void hwtdi_rows_fini(struct hwtdi_rows *rows);
void hwtdi_rows_clear(struct hwtdi_rows *rows);
/* The same without the statistics, of which nothing is to be read. */
void hwtdi_rows_empty(struct hwtdi_rows *rows);

/* The number of the context that is the last one now, in rows. */
static inline uint32_t
hwtdi_rows_context(const struct hwtdi_rows *rows)
{
	return (rows->first_context + (uint32_t)(rows->n_contexts - 1));
}

/* None of them has a detail, and all have the same context. */
static inline bool
hwtdi_rows_plain(const struct hwtdi_rows *rows)
{
	return (rows->n_contexts == 1 && rows->n_gaps == 0 &&
	    rows->n_markers == 0 && rows->n_powers == 0 &&
	    rows->n_asyncs == 0 && rows->n_samples == 0);
}

void hwtdi_stats_add(struct hwtd_stats *sum, const struct hwtd_stats *more);
void hwtdi_stats_add_gap(struct hwtd_stats *stats, const struct hwtd_gap *gap);

#endif /* HWTDI_ROWS_H */
