/*
 * Threads of two traces, and which of them are compared.
 */
#ifndef HWTDI_FLOW_THREADS_H
#define HWTDI_FLOW_THREADS_H

#include "analysis/diff/flow_side.h"
#include "base/index.h"

struct hwtdi_flow_who {
	struct hwtdi_flow_thread thread;
	/* Borrowed of the trace, or NULL. */
	const char *name;
	bool paired;
};

/* All zero: nothing was looked for. */
struct hwtdi_flow_threads {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	struct hwtd_events *events;
	struct hwtd_event *rows;
	/* By who began first. */
	struct hwtdi_flow_who *at;
	size_t n, cap;
	struct hwtdi_index index;
	/* Contexts and streams that were looked at. */
	uint8_t *seen;
	size_t n_seen, cap_seen;
	/* Those of the row before. */
	bool has_last;
	uint32_t last_context, last_stream;
	bool done;
};

/* Look for the threads that execute code; as hwtd_events_open(). */
int hwtdi_flow_threads_begin(struct hwtdi_flow_threads *t,
    struct hwtd_context *library, struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct hwtd_error *err);
/* Some more rows.  HWTD_END: that were all. */
int hwtdi_flow_threads_work(struct hwtdi_flow_threads *t,
    struct hwtd_error *err);
void hwtdi_flow_threads_fini(struct hwtdi_flow_threads *t);

/* A pair; SIZE_MAX: it has no counterpart. */
struct hwtdi_flow_couple {
	size_t no[2];
};

/*
 * Who is compared with whom: by name and order, then by order alone; those
 * without counterpart last.  `out` has room for all of both.
 */
int hwtdi_flow_threads_pair(struct hwtdi_flow_threads *a,
    struct hwtdi_flow_threads *b, struct hwtdi_flow_couple *out, size_t *n_out,
    struct hwtd_error *err);

#endif /* HWTDI_FLOW_THREADS_H */
