/*
 * Runs: which code was executed and how often, of a whole trace.
 *
 * The sums that coverage, counts of instructions and histograms of functions
 * are made of.  Reading all rows and adding them up gives the same, but takes
 * several times as long: here code that was executed a million times is looked
 * at once.  What is held grows with the code that was executed, not with the
 * trace.
 */
#ifndef HWTDECODE_RUNS_H
#define HWTDECODE_RUNS_H

#ifndef HWTD_CDEF
#include <hwtdecode/event.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_runs;

/**
 * Instructions at consecutive addresses, all of them executed equally often.
 *
 * A run ends behind every branch instruction, where the next instruction was
 * executed more or less often, and at a change of section or instruction set.
 * So an instruction is in one run, and runs do not overlap: but for code that
 * jumps into the middle of its instructions, where both ways to read the bytes
 * are runs.
 *
 * How often a function was entered is the `count` of the run that holds its
 * first instruction; a branch back to that counts, too.
 */
struct hwtd_run {
	/** Virtual address of the first byte. */
	uint64_t address;
	/** How often each of its instructions was executed. */
	uint64_t count;
	/** Bytes of code. */
	uint32_t bytes;
	/** Instructions. */
	uint32_t insns;
	/**
	 * See hwtd_trace_section(): byte `address - section.address +
	 * section.file_off` of the image's file is the first one.  Code that
	 * is mapped at two places is two sections of one image.
	 */
	uint32_t section;
	/** What the last instruction is, an hwtd_branch. */
	uint8_t branch;
	/** An hwtd_isa. */
	uint8_t isa;
	/** Bytes of the last instruction: it is at `address + bytes - last_bytes`. */
	uint16_t last_bytes;
};

/**
 * A branch instruction and where execution went from it.  A conditional branch
 * that is not taken goes to the next instruction.
 *
 * Only instructions are sources: an interrupt between two of them makes no
 * edge, nor does a gap.  A branch out of what was traced is one, if the trace
 * says where it went.
 */
struct hwtd_edge {
	/** Virtual address of the first byte of the branch instruction. */
	uint64_t from;
	/** Virtual address of what was executed next. */
	uint64_t to;
	/** How often. */
	uint64_t count;
	/** The section of `from`. */
	uint32_t from_section;
	/**
	 * That of `to`, or HWTD_NO_ID: not known, because tracing went off with
	 * the branch, or nothing was seen to run there.
	 */
	uint32_t to_section;
	/** An hwtd_branch, but not HWTD_BRANCH_NONE. */
	uint32_t branch;
	/** 0. */
	uint32_t reserved;
};

/** What was seen so far. */
struct hwtd_runs_info {
	/** sizeof(struct hwtd_runs_info) as the caller knows it. */
	size_t size;
	/** 1: all was counted, and runs and edges can be read. */
	uint32_t done;
	uint32_t reserved;
	/** Raw bytes of all selected streams decoded so far. */
	uint64_t bytes;
	/** How many there are to read. */
	uint64_t n_runs;
	uint64_t n_edges;
	/** Executed instructions: the sum of `count` times `insns`. */
	uint64_t insns;
	/** Stream bytes in gaps; what ran then is not counted. */
	uint64_t gap_bytes;
	/** File bytes in gaps of reason FILE_DAMAGED. */
	uint64_t file_gap_bytes;
	/** Gaps by hwtd_gap_reason. */
	uint64_t gaps[HWTD_GAP_REASONS];
	/** Stream bytes in gaps by hwtd_gap_reason. */
	uint64_t gap_bytes_by_reason[HWTD_GAP_REASONS];
};

/** Options.  All zero means defaults. */
struct hwtd_runs_options {
	/** sizeof(struct hwtd_runs_options). */
	size_t size;
	/** HWTD_RUNS_* bits. */
	uint32_t flags;
	/** 0. */
	uint32_t reserved;
	/**
	 * What is counted: code that hwtd_events_read() would give rows of,
	 * with these options; `level` and `kinds` do not matter.  NULL: all
	 * code of all streams.
	 *
	 * Where single rows are chosen (`tids`, `pids`, `times_ns`,
	 * `addresses`), rows are made and added up, which is slower.
	 */
	const struct hwtd_events_options *events;
};

/** Count edges, too. */
#define HWTD_RUNS_EDGES 0x1

/**
 * Begin to count the code of a sealed trace.
 *
 * @param[in]  trace     A sealed trace; kept alive.
 * @param[in]  opts      NULL: defaults.  Copied.
 * @param[out] runs_out  Set on success.
 * @param[out] err       Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or as hwtd_events_open().
 *
 * Lives:  owned; close with hwtd_runs_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_runs_open(struct hwtd_trace *trace,
    const struct hwtd_runs_options *opts, struct hwtd_runs **runs_out,
    struct hwtd_error *err);

/**
 * Decode some more of the trace, about a megabyte, and count its code.  To be
 * called until it returns HWTD_END; in between progress can be shown, or the
 * whole be given up.  Other jobs go on meanwhile.
 *
 * @param[in,out] runs  Open.  One thread at a time.
 * @param[out]    err   Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END: all was counted, or
 *         HWTD_E_INVALID  `runs` is NULL;
 *         HWTD_E_STATE    it failed before;
 *         HWTD_E_CORRUPT  HWTD_DECODE_STRICT and the trace has a gap;
 *         HWTD_E_NOMEM    out of memory;
 *         HWTD_E_LIMIT    a limit of the context was reached;
 *         HWTD_E_IO       a read failed; see err->sys_errno.
 *
 * After an error it can only be closed.
 * Since:  0.1
 */
HWTD_MUST int hwtd_runs_count(struct hwtd_runs *runs, struct hwtd_error *err);

/**
 * What was seen so far.  Its gaps say what is missing in the counts.
 *
 * @param[in]     runs  Open.
 * @param[in,out] out   `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_runs_info(const struct hwtd_runs *runs,
    struct hwtd_runs_info *out);

/**
 * Runs, when all was counted: by address, then section, then instruction set.
 * They are the same whatever the number of jobs.
 *
 * @param[in]  runs    Counted to the end.
 * @param[in]  first   Index of the first one that is wanted.
 * @param[out] out     Shape [cap], `stride` bytes apart.
 * @param[in]  stride  sizeof(struct hwtd_run) as the caller knows it; by 8.
 * @param[in]  cap     Room, in runs.
 * @param[out] n_out   Runs stored.
 *
 * @return HWTD_OK, HWTD_END: there is none from `first` on, or
 *         HWTD_E_INVALID  a pointer is NULL, no room, or a bad `stride`;
 *         HWTD_E_STATE    hwtd_runs_count() has not returned HWTD_END.
 * Since:  0.1
 */
HWTD_API int hwtd_runs_read(const struct hwtd_runs *runs, uint64_t first,
    struct hwtd_run *out, size_t stride, size_t cap, size_t *n_out);

/**
 * Edges, if they were asked for: by `from`, then `to`, then sections.
 * Otherwise as hwtd_runs_read().
 *
 * @param[in]  runs    Counted to the end.
 * @param[in]  first   Index of the first one that is wanted.
 * @param[out] out     Shape [cap], `stride` bytes apart.
 * @param[in]  stride  sizeof(struct hwtd_edge) as the caller knows it; by 8.
 * @param[in]  cap     Room, in edges.
 * @param[out] n_out   Edges stored.
 *
 * @return as hwtd_runs_read().
 * Since:  0.1
 */
HWTD_API int hwtd_runs_edges(const struct hwtd_runs *runs, uint64_t first,
    struct hwtd_edge *out, size_t stride, size_t cap, size_t *n_out);

/**
 * Give up what was counted; the trace stays open.
 *
 * @param[in] runs  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_runs_close(struct hwtd_runs *runs);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_RUNS_H */
