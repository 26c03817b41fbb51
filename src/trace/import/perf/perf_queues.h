/*
 * Bytes of trace in a perf.data: which lie where, and which are missing; of this
 * folder.
 */
#ifndef HWTDI_PERF_QUEUES_H
#define HWTDI_PERF_QUEUES_H

#include "trace/import/perf/perf_file.h"

/* A run of bytes that was written at one go, or a part of it. */
struct hwtdi_perf_run {
	/* Of the file.  Unless they are missing. */
	uint64_t data_off;
	/* In memory, of its buffer; NULL: in the file. */
	const uint8_t *bytes;
	uint64_t n;
	/* Place in what the event wrote. */
	uint64_t aux_off;
	/* It does not adjoin what is before it. */
	bool breaks;
	/* An hwtd_extent_start, then. */
	uint32_t why;
	/* The file does not have the bytes. */
	bool is_missing;
	/* Of its piece; HWTD_NO_ID: not known. */
	uint32_t cpu;
	uint64_t flags;
	/* Order in the queue. */
	size_t no;
};

/* What was recorded into one buffer: that of a CPU or of a thread. */
struct hwtdi_perf_queue {
	uint32_t cpu;
	uint32_t tid;
	uint32_t pid;
	/* Buffers in the file's order: [first_buffer, + n_buffers). */
	size_t first_buffer, n_buffers;
	struct hwtdi_perf_run *runs;
	size_t n_runs, cap_runs;
};

struct hwtdi_perf_queues {
	struct hwtdi_perf_queue *queues;
	size_t n, cap;
};

/*
 * Sort buffers into queues, and find their runs.  Pieces get the number of their
 * queue + 1 in `queue_plus_1`, or 0.
 */
int hwtdi_perf_queues_make(struct hwtdi_perf_file *f,
    struct hwtdi_perf_queues *out);
void hwtdi_perf_queues_fini(struct hwtdi_perf_queues *queues,
    struct hwtd_context *ctx);

/* perf fills buffers up to a multiple of this. */
#define HWTDI_PERF_ALIGNMENT 8u

/*
 * How many bytes at the start of a snapshot's buffer are the last ones of the
 * buffer before it: a snapshot is taken of what is in memory, old or new.
 * *filler_out: as many bytes at the end of that one were filled up by perf.
 */
int hwtdi_perf_overlap(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_buffer *before,
    const struct hwtdi_perf_buffer *buffer, uint64_t *out,
    uint64_t *filler_out);

#endif /* HWTDI_PERF_QUEUES_H */
