/*
 * Counts of code out of rows: for what tokens do not tell, such as who ran.
 */
#ifndef HWTDI_ROW_COUNTS_H
#define HWTDI_ROW_COUNTS_H

#include "analysis/runs/code_counts.h"

/* The last branch of a stream, if the row behind it is still to come. */
struct hwtdi_row_branch {
	bool pending;
	struct hwtd_edge edge;
};

struct hwtdi_row_counts {
	struct hwtd_context *library;
	bool with_edges;
	struct hwtd_events *events;
	struct hwtd_event *rows;
	struct hwtdi_row_branch *branches;
	uint32_t n_streams;
	struct hwtdi_code_counts code;
	/* Gaps of rows that were read, and bytes decoded. */
	struct hwtd_stats stats;
};

int hwtdi_row_counts_init(struct hwtdi_row_counts *c, struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, bool with_edges,
    struct hwtd_error *err);
void hwtdi_row_counts_fini(struct hwtdi_row_counts *c);

/* Count some more.  HWTD_OK; HWTD_END: all was counted; or an error. */
int hwtdi_row_counts_work(struct hwtdi_row_counts *c, struct hwtd_error *err);

#endif /* HWTDI_ROW_COUNTS_H */
