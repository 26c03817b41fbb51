/*
 * Records of a perf.data one after the other, unpacked, whatever lies between.
 */
#ifndef HWTDI_PERF_READER_H
#define HWTDI_PERF_READER_H

#include "trace/import/perf/perf_format.h"
#include "trace/trace_internal.h"

struct hwtdi_perf_record {
	uint32_t type;
	uint32_t misc;
	/* Behind the header.  Valid up to the next record. */
	struct hwtdi_perf_bytes body;
	/* In the file; of an unpacked record that of the one it was packed in. */
	uint64_t off;
	bool unpacked;
	/* Bytes of trace that follow it in the file; fewer where that ends. */
	uint64_t data_off;
	uint64_t n_data;
	/* That many it should be. */
	uint64_t n_data_told;
};

struct hwtdi_perf_reader;

/* Where records lie. */
struct hwtdi_perf_range {
	/* Records in memory; NULL: in the file of the trace. */
	const uint8_t *bytes;
	/* [start, end) of the bytes, or of the file. */
	uint64_t start;
	uint64_t end;
	bool big;
	/*
	 * Where bytes of trace begin, in ascending order, as far as that is known:
	 * nothing is read ahead past them.  Borrowed.
	 */
	const uint64_t *stops;
	size_t n_stops;
	/* A record that cannot be one is an error and no damage. */
	bool strict;
	/* Of the bytes, for messages; NULL: of the file. */
	const char *name;
};

int hwtdi_perf_reader_create(struct hwtd_trace *trace,
    const struct hwtdi_perf_range *range, struct hwtdi_perf_reader **out,
    struct hwtd_error *err);
void hwtdi_perf_reader_destroy(struct hwtdi_perf_reader *reader);

/*
 * The next record.  What is damaged is noted as damage of the trace, and reading
 * goes on where records follow one another again.
 *
 * HWTD_OK, HWTD_END, HWTD_E_CORRUPT (of a strict range), HWTD_E_IO, HWTD_E_NOMEM,
 * HWTD_E_LIMIT.
 */
int hwtdi_perf_reader_next(struct hwtdi_perf_reader *reader,
    struct hwtdi_perf_record *out, struct hwtd_error *err);

#endif /* HWTDI_PERF_READER_H */
