/*
 * The native engine alone: flows of tokens, of which the instructions are
 * counted, and no rows.
 */
#ifndef BENCH_TOKENS_H
#define BENCH_TOKENS_H

#include "bench_peer.h"

/*
 * A decoder with its code graph, for stream 0 of a sealed trace.  With `runs`
 * its tokens are counted by run first.
 */
struct bench_tokens *bench_tokens_open(struct hwtd_trace *trace, bool runs);
void bench_tokens_close(struct bench_tokens *t);

/* Decode the stream, so that its code is known. */
void bench_tokens_learn(struct bench_tokens *t);

/* The same again, which is what counts. */
void bench_tokens_warm(struct bench_tokens *t, struct bench_count *out);

/* Open, decode, close. */
void bench_tokens_cold(struct hwtd_trace *trace, bool runs,
    struct bench_count *out);

#endif /* BENCH_TOKENS_H */
