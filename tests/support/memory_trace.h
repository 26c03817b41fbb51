/*
 * Traces in memory for tests: code, streams and rows in a few calls.  Every
 * failure fails the test.
 */
#ifndef TEST_MEMORY_TRACE_H
#define TEST_MEMORY_TRACE_H

#include <hwtdecode/hwtdecode.h>

#include "support/pt_packets.h"

/* A trace that is not sealed; its context is already given up. */
struct hwtd_trace *mt_create(void);
struct hwtd_trace *mt_create_in(struct hwtd_context *ctx);

/* Map code everywhere; the image id. */
uint32_t mt_code(struct hwtd_trace *trace, uint64_t address, const void *bytes,
    size_t n);

/*
 * Add an Intel PT stream of one extent.  `desc` (may be NULL) gives ids and
 * clock; its size and technology are set here.
 */
uint32_t mt_stream(struct hwtd_trace *trace, const struct pt_packets *packets,
    const struct hwtd_stream_desc *desc);

/* One more extent of a stream. */
void mt_extent(struct hwtd_trace *trace, uint32_t stream, uint32_t why,
    const void *bytes, size_t n);

struct hwtd_trace *mt_seal(struct hwtd_trace *trace);

/* Sealed: code at `address` and one stream. */
struct hwtd_trace *mt_simple(uint64_t address, const void *code, size_t n,
    const struct pt_packets *packets);

/* The same with 64 bytes of code: nop with something at their start. */
struct hwtd_trace *mt_nops_after(uint64_t address, const void *start, size_t n,
    const struct pt_packets *packets);

/* What decodes where options name no engine; NULL: the default. */
void mt_use_engine(const char *name);

struct hwtd_events *mt_events(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts);

/* A row with its detail; `value` of a row with a detail is 0. */
struct mt_row {
	struct hwtd_event row;
	union {
		struct hwtd_gap gap;
		struct hwtd_marker marker;
		struct hwtd_power power;
		struct hwtd_async async;
		struct hwtd_sample sample;
	} detail;
};

struct mt_rows {
	struct mt_row *at;
	size_t n;
	size_t cap;
};

/* Read to the end, `batch` rows at a time. */
void mt_read(struct hwtd_events *ev, size_t batch, struct mt_rows *out);

/* Read up to `most` rows more. */
void mt_read_some(struct hwtd_events *ev, size_t most, struct mt_rows *out);

/* Open, read all, close. */
void mt_rows(struct hwtd_trace *trace, const struct hwtd_events_options *opts,
    struct mt_rows *out);
void mt_rows_free(struct mt_rows *rows);

/* Rows [first, n) of `a` and all of `b` are the same bytes. */
void mt_assert_same(const struct mt_rows *a, size_t first,
    const struct mt_rows *b);

/* The next rows of the cursor, up to `most`, are those of `a` from `first`. */
void mt_assert_next(struct hwtd_events *ev, const struct mt_rows *a,
    size_t first, size_t most);

#endif /* TEST_MEMORY_TRACE_H */
