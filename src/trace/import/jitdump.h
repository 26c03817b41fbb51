/*
 * Code that a program made at run time, as its runtime wrote it down for perf:
 * jit-PID.dump.
 */
#ifndef HWTDI_JITDUMP_H
#define HWTDI_JITDUMP_H

#include "trace/trace_internal.h"

/* Bytes of one file. */
#define HWTDI_JITDUMP_MAX ((uint64_t)4 << 30)

/* Damaged places of one file that are told one by one. */
#define HWTDI_JITDUMP_MAX_NOTES 16u

/* What the file does not tell.  All zero but `pid`: nothing else is known. */
struct hwtdi_jitdump_how {
	/* Process of the records; HWTD_NO_ID: the one that the file names. */
	uint32_t pid;
	/*
	 * Stamps that are no counts are of CLOCK_MONOTONIC; that is the clock
	 * of the trace.  Else they tell no time.
	 */
	bool same_clock;
	/* Of stamps that are counts (TSC); NULL: they tell no time. */
	const struct hwtd_clock *counts;
};

/* What was in it. */
struct hwtdi_jitdump_sum {
	/* As the file has it: of its own PID namespace; e_machine. */
	uint32_t pid, machine;
	uint64_t n_loads, n_moves;
	/* Records that could not be used. */
	uint64_t n_bad;
	/* Its image, or HWTD_NO_ID. */
	uint32_t image;
};

/* Whether bytes begin like such a file. */
bool hwtdi_jitdump_is(const void *bytes, size_t n);

/*
 * Add the code in the bytes of a file, which stay the caller's: one image with
 * all of it, named `name`, and for each function and each move of one a record
 * CODE that names the function and points into the image.
 *
 * What is damaged is left out and told; the rest is used.
 *
 * HWTD_E_UNRECOGNIZED, HWTD_E_UNSUPPORTED (version), HWTD_E_CORRUPT (its head),
 * HWTD_E_LIMIT, HWTD_E_NOMEM.  Messages begin with `name`.
 */
int hwtdi_jitdump_add(struct hwtd_trace *trace, const char *name,
    const void *bytes, size_t n, const struct hwtdi_jitdump_how *how,
    struct hwtdi_jitdump_sum *sum, struct hwtd_error *err);

/* The same of a file beside the trace, or of an absolute path; HWTD_E_IO. */
int hwtdi_jitdump_read(struct hwtd_trace *trace, const char *path,
    const struct hwtdi_jitdump_how *how, struct hwtdi_jitdump_sum *sum,
    struct hwtd_error *err);

#endif /* HWTDI_JITDUMP_H */
