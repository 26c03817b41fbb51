/*
 * perf.data: what Linux perf records, in a file or through a pipe.
 */
#ifndef HWTDI_PERF_DATA_H
#define HWTDI_PERF_DATA_H

#include "trace/trace_internal.h"

/*
 * A folder of perf record --kcore: the path of the data in it, owned, or NULL: `path`
 * is no such folder.
 */
int hwtdi_perf_data_path(struct hwtd_context *ctx, const char *path,
    char **out, struct hwtd_error *err);

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

/* Records of a ring buffer, in memory. */
struct hwtdi_perf_records {
	const uint8_t *bytes;
	size_t n;
	/* Of the file, for messages. */
	const char *name;
	/* What each ends with. */
	uint64_t sample_type;
	/* Of records that do not tell theirs, or HWTD_NO_ID. */
	uint32_t cpu;
	bool big;
	/* What is wrong is an error, and no damage. */
	bool strict;
	/* Only who runs counts; others may have no sample id. */
	bool switches_only;
};

/*
 * Add what they say to a trace.  Their times are on its clock.
 * HWTD_E_CORRUPT: they are damaged, and it is to be strict; offset says where.
 */
int hwtdi_perf_records_add(struct hwtd_trace *trace,
    const struct hwtdi_perf_records *records, struct hwtd_error *err);

/* Those of files that the options name. */
int hwtdi_perf_records_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err);

#endif /* HWTDI_PERF_DATA_H */
