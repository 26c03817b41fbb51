/*
 * Checks of traces that were read of what Linux perf records.
 */
#ifndef FUZZ_PERF_H
#define FUZZ_PERF_H

#include <hwtdecode/hwtdecode.h>

/* A context with little memory. */
struct hwtd_context *fuzz_perf_context(void);

/* Everything was given back. */
void fuzz_perf_context_end(struct hwtd_context *ctx);

/* What opening may say. */
void fuzz_perf_check_result(int rc, const struct hwtd_error *err);

/*
 * Records have what their types need; bytes of streams are there or lost in places
 * that damage names; damage lies in the file, of `size` bytes; rows can be read.
 */
void fuzz_perf_check(struct hwtd_trace *trace, uint64_t size);

#endif /* FUZZ_PERF_H */
