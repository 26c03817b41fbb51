/*
 * Profiles for compilers and linkers: how often code ran and where branches went,
 * for llvm-profgen, create_llvm_prof (AutoFDO) and perf2bolt (BOLT).
 *
 * These tools take the profile of one program or library, so that an export is of
 * one image.  What runs elsewhere is left out and counted; branches between images
 * come from, or lead to, a place outside, as each format writes it.
 */
#ifndef HWTDECODE_COMPILER_H
#define HWTDECODE_COMPILER_H

#ifndef HWTD_CDEF
#include <hwtdecode/format.h>
#include <hwtdecode/runs.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/** What an export for compilers holds, and what it left out. */
struct hwtd_compiler_info {
	/** sizeof(struct hwtd_compiler_info) as the caller knows it. */
	size_t size;
	/** The image, or HWTD_NO_ID: all, or not known yet. */
	uint32_t image;
	/** HWTD_COMPILERF_* bits. */
	uint32_t flags;
	/** What was subtracted from the addresses that the file has. */
	uint64_t base;
	/** Executed instructions in it, and in other images. */
	uint64_t insns;
	uint64_t insns_elsewhere;
	/** Branches taken inside of the image, that came to it, that left it. */
	uint64_t branches;
	uint64_t branches_in;
	uint64_t branches_out;
	/** Those between other images or inside of them, also if not taken. */
	uint64_t branches_elsewhere;
	/**
	 * Far transfers of the image: system calls, interrupts and returns from
	 * them.  They are no branches of the program: it goes on behind them.
	 */
	uint64_t branches_far;
	/**
	 * How often execution was seen to begin without a branch: where tracing
	 * went on, or behind a gap.
	 */
	uint64_t starts;
	/** Lines, or samples: of code, and of branches. */
	uint64_t n_ranges;
	uint64_t n_branches;
};

/** The file is not moved: addresses in it are where it runs. */
#define HWTD_COMPILERF_FIXED 0x1
/** A count was larger than its format has room for, and is that. */
#define HWTD_COMPILERF_SATURATED 0x2

/**
 * Begin to write runs: HWTD_FORMAT_LLVM_UNSYMBOLIZED, HWTD_FORMAT_AUTOFDO,
 * HWTD_FORMAT_BOLT or HWTD_FORMAT_BOLT_LEGACY.
 *
 * @param[in]  runs        Opened with HWTD_RUNS_EDGES.  What was not counted yet
 *                         is, by hwtd_export_write().  Kept alive.
 * @param[in]  image       Image id; HWTD_NO_ID: the program that executed most
 *                         instructions.
 * @param[in]  opts        `format` and `write` have to be set.  Copied.
 * @param[out] export_out  Set on success.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID    a pointer is NULL, an option is wrong, or the format
 *                           is not one of runs;
 *         HWTD_E_NOT_FOUND  there is no such image;
 *         HWTD_E_STATE      runs were opened without edges;
 *         HWTD_E_NOMEM      out of memory;
 *         HWTD_E_TOO_NEW    `opts` has fields that this library does not know.
 *
 * hwtd_export_write() also returns HWTD_E_NOT_FOUND: nothing of the image was
 * executed, or its file is not there; HWTD_E_UNSUPPORTED: it is no ELF program or
 * library, so that its code has no addresses that such tools know.
 *
 * Lives:  owned; close with hwtd_export_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_export_open_runs(struct hwtd_runs *runs, uint32_t image,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err);

/**
 * Begin to write rows of events: HWTD_FORMAT_PERF_SCRIPT.  Branches of a thread are
 * told together, the newest first, up to `max_depth` of `opts` or 1024 of them in a
 * line, and some more where a line would end with a call: what it ends with begins
 * the next one, so that no range of code is lost between them.
 *
 * @param[in]  events      With rows of code and of gaps, of which nothing was
 *                         read yet; read by the export from now on.  Kept
 *                         alive.
 * @param[in]  image       Image id: only branches that come from it or lead to
 *                         it.  HWTD_NO_ID: all.
 * @param[in]  opts        `format` and `write` have to be set.  Copied.
 * @param[out] export_out  Set on success.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOT_FOUND, HWTD_E_NOMEM or
 *         HWTD_E_TOO_NEW, as above.
 *
 * Lives:  owned; close with hwtd_export_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_export_open_events(struct hwtd_events *events,
    uint32_t image, const struct hwtd_format_options *opts,
    struct hwtd_export **export_out, struct hwtd_error *err);

/**
 * What an export for compilers holds.  All of it is known when hwtd_export_write()
 * has returned HWTD_END.
 *
 * @param[in]     ex   Opened by one of the functions above.
 * @param[in,out] out  `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID: a pointer is NULL, or the export is of
 *         another kind.
 * Since:  0.1
 */
HWTD_API int hwtd_export_compiler_info(const struct hwtd_export *ex,
    struct hwtd_compiler_info *out);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_COMPILER_H */
