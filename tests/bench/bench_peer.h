/*
 * The peer of the Intel PT benchmark: a bare loop around libipt's block
 * decoder, as its users write it.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench_input.h"

struct bench_count {
	uint64_t insns;
	uint64_t rows;
	/* Errors of the peer, gaps of ours. */
	uint64_t errors;
};

struct bench_peer {
	struct hwtd_trace *trace;
	const struct bench_case *at;
	const struct hwtd_pt_config *pt;
	/* Blocks end at calls and jumps, as the rows of hwtd_events do. */
	bool end_flags;
	/*
	 * A file for each image: libipt maps them and caches blocks.  NULL:
	 * it reads memory through a callback that looks up the trace's
	 * images, and caches nothing.
	 */
	char *const *files;
};

/* Decode stream 0. */
void bench_peer(const struct bench_peer *peer, struct bench_count *out);

/* Temporary files with the bytes of the images; removed by the second. */
char **bench_peer_files(const struct bench_case *c);
void bench_peer_files_free(const struct bench_case *c, char **files);

#endif /* BENCH_PEER_H */
