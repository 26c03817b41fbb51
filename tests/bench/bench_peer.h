/*
 * The peer of the Intel PT benchmark: a bare loop around libipt's block
 * decoder, as its users write it.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench_input.h"

struct bench_count {
	uint64_t insns;
	/* Rows or tokens; of the peer, blocks and events. */
	uint64_t items;
	/* Errors of the peer, gaps of ours. */
	uint64_t errors;
};

struct bench_peer_args {
	const struct bench_case *at;
	const struct hwtd_pt_config *pt;
	/* Blocks end at calls and jumps, as the rows of hwtd_events do. */
	bool end_flags;
	/*
	 * A file for each image: libipt maps them and caches blocks.  NULL: it
	 * reads memory through a callback that looks up this trace's images,
	 * and caches nothing.
	 */
	char *const *files;
	struct hwtd_trace *trace;
};

/* A decoder with its image and section cache. */
struct bench_peer *bench_peer_open(const struct bench_peer_args *args);
void bench_peer_close(struct bench_peer *peer);

/* Decode the trace, so that its code is cached. */
void bench_peer_learn(struct bench_peer *peer);

/* The same again, which is what counts. */
void bench_peer_warm(struct bench_peer *peer, struct bench_count *out);

/* Open, decode, close. */
void bench_peer_cold(const struct bench_peer_args *args,
    struct bench_count *out);

/* Whether `end_flags` can be, with errata that this CPU has. */
bool bench_peer_can_end(const struct hwtd_pt_config *pt);

/* Temporary files with the bytes of the images; removed by the second. */
char **bench_peer_files(const struct bench_case *c);
void bench_peer_files_free(const struct bench_case *c, char **files);

#endif /* BENCH_PEER_H */
