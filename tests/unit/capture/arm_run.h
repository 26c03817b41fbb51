/*
 * Captures on the simulated arm64 machine: what its hardware samples, or traces.
 */
#ifndef TEST_ARM_RUN_H
#define TEST_ARM_RUN_H

#include <hwtdecode/hwtdecode.h>

#include "engine_account.h"
#include "support/spe_bytes.h"

#define ARM_RUN_PAGE 4096u
/* Records in a half of the buffers: 2 pages, of which each half is one. */
#define ARM_RUN_HALF (ARM_RUN_PAGE / SPE_SLOT)
#define ARM_RUN_BYTES ((size_t)1 << 18)

struct arm_run {
	struct engine_run run;
	struct hwtd_capture_spe spe;
	struct hwtd_capture_coresight cs;
	struct sim_program *script;
	const char *argv[2];
	/* What steps write. */
	uint8_t bytes[ARM_RUN_BYTES];
	size_t n_bytes;
};

/* A sample that was decoded. */
struct arm_sample {
	uint64_t pc;
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	/* A physical address is told. */
	bool has_pa;
};

/*
 * A program without steps; SPE with buffers of 2 pages.  `sim` NULL: defaults,
 * but arm64.  To be freed with arm_run_fini().
 */
struct arm_run *arm_run_new(const struct sim_options *sim);
void arm_run_free(struct arm_run *r);

void arm_run_step(struct arm_run *r, const struct sim_step *step);
void arm_run_exec(struct arm_run *r);
void arm_run_exit(struct arm_run *r);

/*
 * `n` records of the process `pid`: from `pc` on each 4 further, counts from
 * `count` on.  They are kept as long as the run.
 */
const uint8_t *arm_run_records(struct arm_run *r, uint32_t pid, uint64_t pc,
    uint64_t count, size_t n);
/* A thread is on a CPU for `n` of them, pid 7, after `ns`. */
void arm_run_sample(struct arm_run *r, unsigned thread, unsigned cpu,
    uint64_t ns, uint64_t pc, uint64_t count, size_t n);

/* Run it; ends the test if it fails, panics, hangs or leaks. */
void arm_run_ok(struct arm_run *r);
/* Run it; it has to fail with `code` and a message that has `words`. */
void arm_run_fails(struct arm_run *r, int code, const char *words);

/* Losses: "stalls=2 unknown=1", in the order of their kinds. */
void arm_run_assert_losses(const struct arm_run *r, const char *text);
/* The text of the file has this line. */
void arm_run_assert_said(const struct arm_run *r, const char *line);

/* Samples of a stream, in order, without gaps; returns how many. */
size_t arm_run_samples(struct hwtd_trace *trace, uint32_t stream,
    struct arm_sample *out, size_t room);
/*
 * Samples [*at_inout, + n) are those from `pc` and `count` on, of pid 7 and the
 * tid and CPU that are given.
 */
void arm_run_assert_samples(const struct arm_sample *samples, size_t *at_inout,
    size_t n, uint64_t pc, uint64_t count, uint32_t tid, uint32_t cpu);
/* The stream of that name; ends the test if there is none. */
uint32_t arm_run_stream(struct hwtd_trace *trace, const char *name,
    struct hwtd_stream_desc *desc);

#endif /* TEST_ARM_RUN_H */
