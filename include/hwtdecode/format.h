/*
 * Files for viewers, profilers and compilers: what was found in a trace, written
 * in a format of theirs.
 *
 * An export is opened over what it tells of: calls here, other sources in their
 * headers.  It reads its source step by step, hands bytes to a function of the
 * caller, and holds no more of them than a file of its format needs to be right.
 */
#ifndef HWTDECODE_FORMAT_H
#define HWTDECODE_FORMAT_H

#ifndef HWTD_CDEF
#include <hwtdecode/calls.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_export;

/** Formats.  Numbers are pinned for ever. */
enum hwtd_export_format {
	HWTD_FORMAT_UNKNOWN = 0,

	/** Of a profile: a line for each stack, as flamegraph.pl reads them. */
	HWTD_FORMAT_FOLDED = 1,
	/** Of a profile: pprof's profile.proto, packed with gzip. */
	HWTD_FORMAT_PPROF = 2,
	/** Of a profile: as callgrind_annotate(1) and kcachegrind read it. */
	HWTD_FORMAT_CALLGRIND = 3,
	/** Of a profile: speedscope's JSON, stacks with weights. */
	HWTD_FORMAT_SPEEDSCOPE_SAMPLED = 4,
	/** Of a profile: a flame graph that any browser shows. */
	HWTD_FORMAT_FLAME_SVG = 5,

	/** Of calls: speedscope's JSON, calls in their order. */
	HWTD_FORMAT_SPEEDSCOPE = 10,
	/** Of calls: a processed profile of the Firefox Profiler, version 56. */
	HWTD_FORMAT_FIREFOX = 11,
	/** Of calls: trace packets of Perfetto. */
	HWTD_FORMAT_PERFETTO = 12,
	/** Of calls: the Trace Event Format of Chrome. */
	HWTD_FORMAT_CHROME = 13,

	/** Of runs: for llvm-profgen --unsymbolized-profile. */
	HWTD_FORMAT_LLVM_UNSYMBOLIZED = 20,
	/** Of runs: for create_llvm_prof --profiler=text. */
	HWTD_FORMAT_AUTOFDO = 21,
	/** Of runs: for perf2bolt -pa. */
	HWTD_FORMAT_BOLT = 22,
	/** The same for versions before 20. */
	HWTD_FORMAT_BOLT_LEGACY = 23,

	/** Of events: text of perf-script(1) with stacks of branches. */
	HWTD_FORMAT_PERF_SCRIPT = 30,

	/** Of coverage: for genhtml(1). */
	HWTD_FORMAT_LCOV = 40
};

/** What a format tells of.  Numbers are pinned for ever. */
enum hwtd_export_source {
	HWTD_SOURCE_UNKNOWN = 0,
	HWTD_SOURCE_PROFILE = 1,
	HWTD_SOURCE_CALLS = 2,
	HWTD_SOURCE_RUNS = 3,
	HWTD_SOURCE_EVENTS = 4,
	HWTD_SOURCE_COVERAGE = 5
};

/** What weighs, in formats that have one number.  Numbers are pinned for ever. */
enum hwtd_export_value {
	/** Time where it is known, else instructions. */
	HWTD_VALUE_DEFAULT = 0,
	HWTD_VALUE_INSNS = 1,
	HWTD_VALUE_TIME = 2,
	HWTD_VALUE_CYCLES = 3,
	HWTD_VALUE_CALLS = 4
};

/**
 * Takes bytes of a file; may be called with many or few, never with none.
 *
 * @return 0, or an errno value; the export fails with it.
 */
typedef int (*hwtd_write_fn)(void *arg, const void *bytes, size_t n);

/**
 * Ends a file and begins the next one: what is written then goes there.
 *
 * @return 0, or an errno value; the export fails with it.
 */
typedef int (*hwtd_next_fn)(void *arg);

/** Options of an export to a format.  What a format has no use for is passed over. */
struct hwtd_format_options {
	/** sizeof(struct hwtd_format_options). */
	size_t size;
	/** An hwtd_export_format. */
	uint32_t format;
	/** HWTD_EXPORT_* bits, below. */
	uint32_t flags;
	/** Not NULL. */
	hwtd_write_fn write;
	/** For `write` and `next`. */
	void *write_arg;
	/** NULL: all goes into one file. */
	hwtd_next_fn next;
	/**
	 * About so many bytes, before they are packed, then the next file
	 * begins: each can be opened alone.  0: all goes into one file.
	 */
	uint64_t split_bytes;
	/** Calls that took less are left out, with all in them. */
	uint64_t min_ns;
	/**
	 * Calls that took less, one behind the other in the same call, become
	 * one, as long as all of them together.
	 */
	uint64_t resolution_ns;
	/** Levels of calls from the first of a stack on; 0: all. */
	uint32_t max_depth;
	/** An hwtd_export_value. */
	uint32_t value;
	/** What viewers call it.  NULL: nothing particular.  Copied. */
	const char *title;
	/**
	 * Of pictures: frames that are narrower, in tenths of a pixel, are drawn
	 * together.  0: 3.
	 */
	uint32_t min_width;
	uint32_t reserved;
};

/** Pack with gzip; formats that are always packed are anyway. */
#define HWTD_EXPORT_GZIP 0x1
/** Addresses, instructions and cycles of each call, where a format has room. */
#define HWTD_EXPORT_DETAILS 0x2
/** Curves of what is executed over time, where a format has them. */
#define HWTD_EXPORT_COUNTERS 0x4
/** Of pictures: the root is at the top. */
#define HWTD_EXPORT_ICICLE 0x8

/** What was written so far. */
struct hwtd_export_info {
	/** sizeof(struct hwtd_export_info) as the caller knows it. */
	size_t size;
	/** An hwtd_export_format. */
	uint32_t format;
	/** HWTD_EXPORTF_* bits. */
	uint32_t flags;
	/** Given to `write`, in all files. */
	uint64_t bytes;
	/** Of the largest file, before it was packed. */
	uint64_t largest_file;
	/** What the viewer takes of that; 0: any. */
	uint64_t viewer_bytes;
	/** What the format has: slices, samples, stacks, lines. */
	uint64_t rows;
	/** Calls that were left out, and those that became part of others. */
	uint64_t dropped;
	uint64_t merged;
	/** See HWTD_EXPORTF_TIME_MOVED. */
	int64_t moved_ns;
	/** Files begun. */
	uint32_t files;
	uint32_t reserved;
};

/** A file is larger than its viewer takes. */
#define HWTD_EXPORTF_VIEWER_LIMIT 0x1
/** There is no time: where there should be, an instruction takes 1 ns. */
#define HWTD_EXPORTF_INSNS_AS_TIME 0x2
/**
 * Times are `moved_ns` later than in the trace: viewers have no room for large
 * ones, or there has to be some for calls that began before it.
 */
#define HWTD_EXPORTF_TIME_MOVED 0x4

/** A format. */
struct hwtd_export_format_info {
	/** sizeof(struct hwtd_export_format_info) as the caller knows it. */
	size_t size;
	/** An hwtd_export_format. */
	uint32_t format;
	/** An hwtd_export_source. */
	uint32_t source;
	/** Short and stable, for instance "perfetto". */
	const char *name;
	/** What names of its files end in, one space between; the first is usual. */
	const char *suffixes;
	/** Who reads it. */
	const char *viewer;
	/** What that takes, at most; 0: any. */
	uint64_t viewer_bytes;
};

/**
 * Begin to write calls, of which nothing was read yet and which were opened
 * with HWTD_CALLS_ENTERS and HWTD_CALLS_GAPS.
 *
 * @param[in]  calls       Read by the export from now on; kept alive.
 * @param[in]  opts        `format` and `write` have to be set.  Copied.
 * @param[out] export_out  Set on success.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID   a pointer is NULL, an option is wrong, or the
 *                          format is not one of calls;
 *         HWTD_E_STATE     calls were opened without these rows, or some were
 *                          read;
 *         HWTD_E_NOMEM     out of memory;
 *         HWTD_E_TOO_NEW   `opts` has fields that this library does not know.
 *
 * Lives:  owned; close with hwtd_export_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_export_open_calls(struct hwtd_calls *calls,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err);

/**
 * Read some more of the source and write it.  To be called until it returns
 * HWTD_END, when all was given to `write`; in between progress can be shown, or
 * the whole be given up.
 *
 * @param[in,out] ex   Open.  One thread at a time.
 * @param[out]    err  Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END, or
 *         HWTD_E_INVALID  `ex` is NULL;
 *         HWTD_E_IO       `write` or `next` failed: err->sys_errno; or a read;
 *         HWTD_E_STATE    it failed before;
 *         and what reading the source returns.
 *
 * After an error it can only be closed.
 * Since:  0.1
 */
HWTD_MUST int hwtd_export_write(struct hwtd_export *ex,
    struct hwtd_error *err);

/**
 * Read no more of the source: what hwtd_export_write() then writes ends the file
 * as it has to end, with what was read so far.
 *
 * @param[in,out] ex  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_export_stop(struct hwtd_export *ex);

/**
 * What was written so far.
 *
 * @param[in]     ex   Open.
 * @param[in,out] out  `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_export_info(const struct hwtd_export *ex,
    struct hwtd_export_info *out);

/**
 * Give up an export; its source stays open.  What was not written yet is lost.
 *
 * @param[in] ex  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_export_close(struct hwtd_export *ex);

/**
 * Which formats there are.
 *
 * @param[in]     index  From 0.
 * @param[in,out] out    `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END when `index` is past the last one, or
 *         HWTD_E_INVALID.
 *
 * Lives:  texts are in static storage.
 * Since:  0.1
 */
HWTD_API int hwtd_export_format_info(size_t index,
    struct hwtd_export_format_info *out);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_FORMAT_H */
