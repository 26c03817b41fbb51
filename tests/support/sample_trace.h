/*
 * A small trace with some of everything, and the comparison of two traces.
 */
#ifndef TEST_SAMPLE_TRACE_H
#define TEST_SAMPLE_TRACE_H

#include <hwtdecode/hwtdecode.h>

/* Build and seal the sample.  Returns what the first failing call did. */
int sample_trace_build(struct hwtd_context *ctx, struct hwtd_trace **out,
    struct hwtd_error *err);

/*
 * Read everything of a trace.  Returns the first code that is not HWTD_OK;
 * never asserts, so that it can be used where allocation fails.
 */
int trace_read_all(struct hwtd_trace *trace);

/* NULL if the traces say the same, else what differs (static storage). */
const char *trace_difference(struct hwtd_trace *a, struct hwtd_trace *b);

/* Bytes that do not compress, the same for a seed. */
void random_bytes(uint64_t seed, void *to, size_t n);
uint64_t next_random(uint64_t *state);

#endif /* TEST_SAMPLE_TRACE_H */
