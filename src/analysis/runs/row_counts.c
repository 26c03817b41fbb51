/*
 * Counts of code out of rows, one for each instruction.
 */
#include "analysis/runs/row_counts.h"

#include <string.h>

#include "base/fail.h"
#include "event/rows.h"
#include "trace/trace_model.h"

#define ROWS_AT_ONCE 1024
#define READS_AT_ONCE 64

int
hwtdi_row_counts_init(struct hwtdi_row_counts *c, struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, bool with_edges,
    struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_events_options o = *opts;

	(void)hwtd_trace_info(trace, &info);
	memset(c, 0, sizeof(*c));
	c->library = hwtdi_trace_library(trace);
	c->code.library = c->library;
	c->with_edges = with_edges;
	c->n_streams = info.n_streams;
	c->rows = hwtdi_alloc(c->library, ROWS_AT_ONCE * sizeof(*c->rows));
	c->branches = hwtdi_zalloc(c->library,
	    c->n_streams * sizeof(*c->branches));
	if (c->rows == NULL || c->branches == NULL)
		return (hwtdi_fail_nomem(err,
		    ROWS_AT_ONCE * sizeof(*c->rows)));
	o.level = HWTD_LEVEL_INSN;
	o.kinds = 1u << HWTD_EV_INSN | 1u << HWTD_EV_GAP |
	    1u << HWTD_EV_ASYNC | 1u << HWTD_EV_DISABLE | 1u << HWTD_EV_ENABLE;
	return (hwtd_events_open(trace, &o, &c->events, err));
}

void
hwtdi_row_counts_fini(struct hwtdi_row_counts *c)
{
	hwtd_events_close(c->events);
	c->events = NULL;
	hwtdi_free(c->library, c->rows, ROWS_AT_ONCE * sizeof(*c->rows));
	hwtdi_free(c->library, c->branches,
	    c->n_streams * sizeof(*c->branches));
	c->rows = NULL;
	c->branches = NULL;
	hwtdi_code_counts_fini(&c->code);
}

/* The row behind a branch, or NULL, says what section it went to. */
static int
end_branch(struct hwtdi_row_counts *c, struct hwtdi_row_branch *branch,
    const struct hwtd_event *row, struct hwtd_error *err)
{
	if (!branch->pending)
		return (HWTD_OK);
	branch->pending = false;
	if (row != NULL && row->kind == HWTD_EV_INSN &&
	    row->ip == branch->edge.to)
		branch->edge.to_section = row->section;
	return (hwtdi_code_counts_edge(&c->code, &branch->edge, NULL, err));
}

static int
count_insn(struct hwtdi_row_counts *c, const struct hwtd_event *row,
    struct hwtd_error *err)
{
	const uint8_t length = (uint8_t)row->bytes;
	const struct hwtdi_stretch s = {
		.ip = row->ip,
		.count = 1,
		.lengths = &length,
		.insns = 1,
		.bytes = length,
		.section = row->section,
		.branch = row->branch,
		.isa = (uint8_t)((row->flags & HWTD_EVF_ISA_MASK) >>
		    HWTD_EVF_ISA_SHIFT),
	};
	struct hwtdi_row_branch *branch = &c->branches[row->stream];
	int rc = hwtdi_code_counts_add(&c->code, &s, err);

	if (rc == HWTD_OK)
		rc = end_branch(c, branch, row, err);
	if (rc != HWTD_OK || row->branch == HWTD_BRANCH_NONE ||
	    (row->flags & HWTD_EVF_TARGET) == 0 || !c->with_edges)
		return (rc);
	branch->pending = true;
	branch->edge.from = row->ip;
	branch->edge.to = row->target;
	branch->edge.count = 1;
	branch->edge.from_section = row->section;
	branch->edge.to_section = HWTD_NO_ID;
	branch->edge.branch = row->branch;
	return (HWTD_OK);
}

static int
count_rows(struct hwtdi_row_counts *c, const struct hwtd_batch *batch,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < batch->n && rc == HWTD_OK; i++) {
		const struct hwtd_event *row = &c->rows[i];

		if (row->kind == HWTD_EV_INSN) {
			rc = count_insn(c, row, err);
			continue;
		}
		/* What comes next is not what the branch led to. */
		if (row->stream < c->n_streams)
			rc = end_branch(c, &c->branches[row->stream], NULL,
			    err);
		if (row->kind == HWTD_EV_GAP)
			hwtdi_stats_add_gap(&c->stats,
			    (const struct hwtd_gap *)(const void
				    *)((const uint8_t *)batch->gaps +
				row->value * batch->gap_stride));
	}
	return (rc);
}

int
hwtdi_row_counts_work(struct hwtdi_row_counts *c, struct hwtd_error *err)
{
	struct hwtd_stats stats = { .size = sizeof(stats) };
	int rc = HWTD_OK, counted = HWTD_OK;

	for (size_t i = 0;
	     i < READS_AT_ONCE && rc == HWTD_OK && counted == HWTD_OK; i++) {
		struct hwtd_batch batch = { .size = sizeof(batch),
			.events = c->rows,
			.stride = sizeof(*c->rows),
			.cap = ROWS_AT_ONCE };

		rc = hwtd_events_read(c->events, &batch, err);
		if (rc == HWTD_OK)
			counted = count_rows(c, &batch, err);
	}
	(void)hwtd_events_stats(c->events, &stats);
	c->stats.bytes = stats.bytes;
	if (counted != HWTD_OK)
		return (counted);
	for (uint32_t i = 0; i < c->n_streams && rc == HWTD_END; i++) {
		counted = end_branch(c, &c->branches[i], NULL, err);
		if (counted != HWTD_OK)
			return (counted);
	}
	return (rc);
}
