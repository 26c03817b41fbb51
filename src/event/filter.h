/*
 * Which rows a cursor hands out.
 */
#ifndef HWTDI_FILTER_H
#define HWTDI_FILTER_H

#include <hwtdecode/event.h>

#include "base/library.h"

/* A copy of the caller's options, with what they point to. */
struct hwtdi_filter {
	struct hwtd_context *library;
	struct hwtd_events_options o;
	char *engine;
	/* Some row may be left out for its process, time or address. */
	bool by_row;
};

int hwtdi_filter_init(struct hwtdi_filter *filter,
    struct hwtd_context *library, const struct hwtd_events_options *opts,
    struct hwtd_error *err);
void hwtdi_filter_fini(struct hwtdi_filter *filter);

/* Rows of kind RECORD alone are asked for, and gaps do not matter. */
bool hwtdi_filter_records_only(const struct hwtdi_filter *filter);

/* HWTD_E_NOT_FOUND: a stream that is asked for is not there. */
int hwtdi_filter_check_streams(const struct hwtdi_filter *filter,
    const struct hwtd_trace *trace, struct hwtd_error *err);

bool hwtdi_filter_stream(const struct hwtdi_filter *filter, uint32_t stream,
    const struct hwtd_stream_desc *desc);
/*
 * `gap` is the detail of a row of kind GAP, else NULL.  Gaps are not hidden by
 * addresses, nor by times that they span or that they do not know, and not at
 * all from a strict cursor.
 */
bool hwtdi_filter_row(const struct hwtdi_filter *filter,
    const struct hwtd_event *row, const struct hwtd_gap *gap,
    const struct hwtd_exec_context *context);

/* The same for a record, which touches all addresses that it speaks of. */
bool hwtdi_filter_record(const struct hwtdi_filter *filter,
    const struct hwtd_record *record);

#endif /* HWTDI_FILTER_H */
