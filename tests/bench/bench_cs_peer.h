/*
 * The peer of the CoreSight benchmark: a bare OpenCSD loop.
 */
#ifndef BENCH_CS_PEER_H
#define BENCH_CS_PEER_H

#include "bench_input.h"
#include "bench_peer.h"

/* A sink with its sources, or a source on its own, and all of its bytes. */
struct bench_cs_input {
	struct hwtd_trace *trace;
	uint32_t stream;
	uint32_t framing;
	struct bench_bytes bytes;
};

/* False: the stream is a source that is in a sink, or nothing is in it. */
bool bench_cs_input_load(struct hwtd_trace *trace, uint32_t stream,
    struct bench_cs_input *out);
void bench_cs_input_free(struct bench_cs_input *input);

/* Decode all of it, with new decoders; adds to what is counted. */
void bench_cs_peer(const struct bench_cs_input *input,
    struct bench_count *sum);

#endif /* BENCH_CS_PEER_H */
