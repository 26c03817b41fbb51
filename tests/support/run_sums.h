/*
 * What runs have to say, added up from rows of single instructions.
 */
#ifndef TEST_RUN_SUMS_H
#define TEST_RUN_SUMS_H

#include <hwtdecode/hwtdecode.h>

struct run_sum {
	/* Of an instruction; of an edge, `b` is where it goes. */
	uint64_t a, b;
	uint64_t count;
	uint32_t section;
	uint32_t branch;
	uint32_t isa;
	/* A run, or an edge, has it. */
	uint32_t told;
};

struct run_sum_list {
	struct run_sum *at;
	/* Of these, `sorted` are in order, each once. */
	size_t n, sorted, cap;
};

struct run_sums {
	/* `a`: address, `b`: bytes. */
	struct run_sum_list insns;
	struct run_sum_list edges;
	uint64_t gaps[HWTD_GAP_REASONS];
	uint64_t gap_bytes;
	uint64_t n_insns;
};

/* Read all rows of the trace with these options, but for level and kinds. */
void run_sums_make(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct run_sums *out);
void run_sums_free(struct run_sums *sums);

/* Open and count to the end; failure fails the test. */
struct hwtd_runs *run_sums_count(struct hwtd_trace *trace, uint32_t flags,
    const struct hwtd_events_options *opts);

/* Runs, edges if they were asked for, and gaps are those of the rows. */
void run_sums_assert(struct run_sums *sums, const struct hwtd_runs *runs,
    bool edges);

/* Both tell the same runs and edges. */
void run_sums_assert_same(const struct hwtd_runs *a,
    const struct hwtd_runs *b);

#endif /* TEST_RUN_SUMS_H */
