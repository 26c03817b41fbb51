/*
 * perf.data: what Linux perf records, in a file or through a pipe.
 */
#ifndef HWTDI_PERF_DATA_H
#define HWTDI_PERF_DATA_H

#include "trace/trace_internal.h"

/* Whether the file of `trace` is one. */
int hwtdi_perf_data_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err);

/*
 * Fill `trace` with records and streams: one for each CPU or thread, for each trace
 * ID of CoreSight.  What is damaged, or missing, is damage of the trace.
 *
 * HWTD_E_CORRUPT: not even the header can be read; HWTD_E_IO, HWTD_E_LIMIT,
 * HWTD_E_NOMEM.
 */
int hwtdi_perf_data_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err);

#endif /* HWTDI_PERF_DATA_H */
