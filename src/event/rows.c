/*
 * A batch of rows of one stream.
 */
#include "event/rows.h"

#include <string.h>

#include "base/fail.h"

void
hwtdi_rows_init(struct hwtdi_rows *rows, struct hwtd_context *library)
{
	memset(rows, 0, sizeof(*rows));
	rows->library = library;
	hwtdi_rows_clear(rows);
}

void
hwtdi_row_store_init(struct hwtdi_row_store *store,
    struct hwtd_context *library)
{
	hwtdi_rows_init(&store->rows, library);
	store->rows.own = store->own;
	hwtdi_rows_clear(&store->rows);
}

void
hwtdi_rows_fini(struct hwtdi_rows *rows)
{
	struct hwtd_context *library = rows->library;

	hwtdi_array_free(library, rows->gaps, rows->cap_gaps,
	    sizeof(*rows->gaps));
	hwtdi_array_free(library, rows->markers, rows->cap_markers,
	    sizeof(*rows->markers));
	hwtdi_array_free(library, rows->powers, rows->cap_powers,
	    sizeof(*rows->powers));
	hwtdi_array_free(library, rows->asyncs, rows->cap_asyncs,
	    sizeof(*rows->asyncs));
	hwtdi_array_free(library, rows->samples, rows->cap_samples,
	    sizeof(*rows->samples));
	hwtdi_array_free(library, rows->contexts, rows->cap_contexts,
	    sizeof(*rows->contexts));
	hwtdi_array_free(library, rows->marks, rows->cap_marks,
	    sizeof(*rows->marks));
}

void
hwtdi_rows_empty(struct hwtdi_rows *rows)
{
	rows->rows = rows->own;
	rows->packed = NULL;
	rows->n = 0;
	rows->cap = rows->own != NULL ? HWTDI_ROWS : 0;
	rows->n_gaps = 0;
	rows->n_markers = 0;
	rows->n_powers = 0;
	rows->n_asyncs = 0;
	rows->n_samples = 0;
	rows->n_contexts = 0;
	rows->first_context = 0;
	rows->n_marks = 0;
	rows->n_hidden = 0;
	rows->ends_segment = false;
	rows->last_ns = 0;
	rows->rc = HWTD_OK;
	hwtdi_error_begin(&rows->err);
}

void
hwtdi_rows_clear(struct hwtdi_rows *rows)
{
	hwtdi_rows_empty(rows);
	memset(&rows->stats, 0, sizeof(rows->stats));
	rows->stats.size = sizeof(rows->stats);
}

void
hwtdi_stats_add(struct hwtd_stats *sum, const struct hwtd_stats *more)
{
	sum->bytes += more->bytes;
	sum->gap_bytes += more->gap_bytes;
	for (size_t i = 0; i < HWTD_EV_KINDS; i++)
		sum->kinds[i] += more->kinds[i];
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++) {
		sum->gaps[i] += more->gaps[i];
		sum->gap_bytes_by_reason[i] += more->gap_bytes_by_reason[i];
	}
	sum->insns += more->insns;
	sum->blocks += more->blocks;
	sum->file_gap_bytes += more->file_gap_bytes;
	if (!more->has_time)
		return;
	if (!sum->has_time || more->first_ns < sum->first_ns)
		sum->first_ns = more->first_ns;
	if (!sum->has_time || more->last_ns > sum->last_ns)
		sum->last_ns = more->last_ns;
	sum->has_time = 1;
}

void
hwtdi_stats_add_gap(struct hwtd_stats *stats, const struct hwtd_gap *gap)
{
	uint32_t reason = gap->reason < HWTD_GAP_REASONS ? gap->reason : 0;

	stats->gaps[reason]++;
	stats->gap_bytes_by_reason[reason] += gap->end - gap->first;
	stats->gap_bytes += gap->end - gap->first;
	stats->file_gap_bytes += gap->file_bytes;
}
