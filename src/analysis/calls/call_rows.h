/*
 * Rows of events to transfers of control.
 */
#ifndef HWTDI_CALL_ROWS_H
#define HWTDI_CALL_ROWS_H

#include "analysis/calls/call_feed.h"

/* A jump that was found to stay in its function. */
struct hwtdi_call_jump {
	uint64_t from, to;
	/* Where it is. */
	uint32_t section;
	/* How many functions were known then: with more it may be otherwise. */
	size_t n_functions;
};

#define HWTDI_CALL_JUMPS 4096u

/* What is known of one stream. */
struct hwtdi_call_stream {
	struct hwtdi_call_feed feed;
	/* The last branch: where it went is told by the row behind it, too. */
	struct hwtd_event branch;
	bool pending;
	/* Tracing is on; how it went on is not known. */
	bool on, lost;
	/* The row before was an interrupt or the like; to where is not told. */
	bool was_async, has_told;
	struct hwtdi_step told;
	/* In which section it went on the row behind it tells. */
	bool arriving;
	struct hwtdi_step arrival;
	bool has_thread;
	uint32_t thread;
	uint32_t context;
	/* Of the last row of code. */
	bool has_time;
	uint64_t last_ns;
	/* Code of the function that ran last, [first, end). */
	uint64_t first, end;
};

struct hwtdi_call_rows {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	struct hwtdi_call_threads *threads;
	struct hwtdi_call_functions *functions;
	struct hwtdi_call_stream *streams;
	size_t n_streams;
	/* Recent jumps, HWTDI_CALL_JUMPS of them. */
	struct hwtdi_call_jump *jumps;
	/* Thread of each context, + 1; 0: not asked for yet. */
	uint32_t *thread_of;
	size_t n_thread_of, cap_thread_of;
};

/* HWTD_E_NOMEM.  What is borrowed stays as long. */
int hwtdi_call_rows_init(struct hwtdi_call_rows *rows,
    struct hwtd_trace *trace, struct hwtdi_call_threads *threads,
    struct hwtdi_call_functions *functions, bool interpolate,
    struct hwtd_error *err);

/* HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_call_rows_add(struct hwtdi_call_rows *rows,
    const struct hwtd_batch *batch, struct hwtd_error *err);

/* No more rows. */
int hwtdi_call_rows_end(struct hwtdi_call_rows *rows, struct hwtd_error *err);
void hwtdi_call_rows_fini(struct hwtdi_call_rows *rows);

#endif /* HWTDI_CALL_ROWS_H */
