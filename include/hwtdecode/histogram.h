/*
 * Histograms: how values of calls are distributed, by function: how long they
 * took, how many instructions or cycles; or how long it took from one function to
 * another one.
 *
 * A distribution has only what was seen in full.  Calls of which the begin or the
 * end was not seen, calls with a gap in them, and those of which the value is not
 * known are counted apart, and so are times that are not those of the hardware.
 *
 * Histograms keep their own texts, so that traces can be closed, and those of
 * parts or of several traces be merged.  A function is the same one if its name,
 * its image and the place in that are the same.
 */
#ifndef HWTDECODE_HISTOGRAM_H
#define HWTDECODE_HISTOGRAM_H

#ifndef HWTD_CDEF
#include <hwtdecode/calls.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_histogram;

/** What is measured.  Numbers are pinned for ever. */
enum hwtd_histogram_value {
	HWTD_HISTOGRAM_UNKNOWN = 0,
	/** ns from begin to end. */
	HWTD_HISTOGRAM_TIME = 1,
	/** ns in which its thread ran, with what it called. */
	HWTD_HISTOGRAM_RUNNING = 2,
	/** The same without what it called. */
	HWTD_HISTOGRAM_SELF = 3,
	/** CPU cycles, with what it called, and without. */
	HWTD_HISTOGRAM_CYCLES = 4,
	HWTD_HISTOGRAM_SELF_CYCLES = 5,
	/** Executed instructions, with what it called, and without. */
	HWTD_HISTOGRAM_INSNS = 6,
	HWTD_HISTOGRAM_SELF_INSNS = 7,
	/**
	 * ns from where a call of one function began to where one of another
	 * function began next, on the same thread.
	 */
	HWTD_HISTOGRAM_BETWEEN = 8
};

#define HWTD_HISTOGRAM_VALUES 9

/** In which order rows are.  Numbers are pinned for ever. */
enum hwtd_histogram_sort {
	/** By name, image and place in that. */
	HWTD_HISTOGRAM_BY_NAME = 0,
	/** These: greatest first. */
	HWTD_HISTOGRAM_BY_SUM = 1,
	HWTD_HISTOGRAM_BY_CALLS = 2,
	HWTD_HISTOGRAM_BY_MEAN = 3,
	HWTD_HISTOGRAM_BY_MAX = 4,
	HWTD_HISTOGRAM_BY_P50 = 5,
	HWTD_HISTOGRAM_BY_P99 = 6
};

#define HWTD_HISTOGRAM_SORTS 7

/** Options.  All zero means defaults. */
struct hwtd_histogram_options {
	/** sizeof(struct hwtd_histogram_options). */
	size_t size;
	/** An hwtd_histogram_value; 0: TIME, or BETWEEN if `to` is set. */
	uint32_t value;
	/** HWTD_HISTOGRAM_* bits. */
	uint32_t flags;
	/**
	 * Only functions whose name as people write it is this one; "*" stands
	 * for any text, "?" for any byte, and "\" takes the meaning from
	 * what follows.  What has no name is "0x" with its address, or one of
	 * "[syscall]", "[interrupt]", "[exception]", "[untraced]", "[unknown]".
	 * NULL: all.  Copied.
	 */
	const char *function;
	/** BETWEEN: where it ends; `function` is where it begins.  Copied. */
	const char *to;
};

/** Leave times out that are not those of timing packets; they are counted. */
#define HWTD_HISTOGRAM_EXACT 0x1

/** All rows in one. */
#define HWTD_HISTOGRAM_ALL UINT64_MAX

/** Values of a function. */
struct hwtd_histogram_row {
	/** As people write it, NULL: not known; borrowed until destroyed. */
	const char *function;
	const char *image;
	/** BETWEEN: where it ends. */
	const char *to_function;
	const char *to_image;
	/** Of the first byte, see `flags`. */
	uint64_t address;
	uint64_t to_address;
	/** HWTD_HISTOGRAM_ROWF_* bits. */
	uint32_t flags;
	/** What was not traced: an hwtd_call_type. */
	uint32_t type;
	/**
	 * Calls that ended or were open at the end; BETWEEN: times that the
	 * function at the end was come to.  It is the sum of the six below.
	 */
	uint64_t calls;
	/** Those in the distribution. */
	uint64_t n;
	/** Begin or end was not seen. */
	uint64_t unseen;
	/** Else: there was a gap, and who knows what in it. */
	uint64_t gapped;
	/** Else, of TIME: other stacks of the thread ran meanwhile. */
	uint64_t switched;
	/** Else: there is no time, or are no cycles, in the trace. */
	uint64_t unknown;
	/** Left out by HWTD_HISTOGRAM_EXACT. */
	uint64_t inexact;
	/**
	 * Of those seen in full: begin or end are the time of an earlier timing
	 * packet.  Else: they lie between such, by instructions.
	 */
	uint64_t estimated;
	uint64_t interpolated;
	/** Of those in the distribution; without any 0. */
	uint64_t min;
	uint64_t max;
	/** UINT64_MAX: that or more. */
	uint64_t sum;
	/** See hwtd_histogram_quantile(). */
	uint64_t p50;
	uint64_t p90;
	uint64_t p99;
	/** 99.9 of 100. */
	uint64_t p999;
	/** See hwtd_histogram_buckets(). */
	uint64_t n_buckets;
};

/** `address` is a byte of the image's file; or a virtual address. */
#define HWTD_HISTOGRAM_ROWF_FILE_OFF 0x1
#define HWTD_HISTOGRAM_ROWF_ADDRESS 0x2
/** The same of `to_address`. */
#define HWTD_HISTOGRAM_ROWF_TO_FILE_OFF 0x4
#define HWTD_HISTOGRAM_ROWF_TO_ADDRESS 0x8
/** What was called was not traced; `type` says how. */
#define HWTD_HISTOGRAM_ROWF_UNTRACED 0x10
/** The same of where BETWEEN ends; `type` is not told. */
#define HWTD_HISTOGRAM_ROWF_TO_UNTRACED 0x20

/** Values that lie near each other. */
struct hwtd_histogram_bucket {
	/** From `first` to `last`, which is one of them. */
	uint64_t first;
	uint64_t last;
	uint64_t n;
};

/** What was seen. */
struct hwtd_histogram_info {
	/** sizeof(struct hwtd_histogram_info) as the caller knows it. */
	size_t size;
	/** An hwtd_histogram_value. */
	uint32_t value;
	uint32_t reserved;
	uint64_t n_rows;
	/**
	 * BETWEEN: begins that another begin came behind before an end; and those
	 * that nothing came behind.
	 */
	uint64_t restarted;
	uint64_t unfinished;
	/** Of all calls as far as they were added: hwtd_calls_info(). */
	uint64_t bytes;
	uint64_t insns;
	uint64_t limited;
	uint64_t gap_bytes;
	uint64_t file_gap_bytes;
	uint64_t gaps[HWTD_GAP_REASONS];
};

/**
 * Make a histogram without values.
 *
 * @param[in]  ctx            A context; kept alive.
 * @param[in]  opts           NULL: defaults.  Copied.
 * @param[out] histogram_out  Set on success.
 * @param[out] err            Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_TOO_NEW.
 *
 * Lives:  owned; destroy with hwtd_histogram_destroy().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_histogram_create(struct hwtd_context *ctx,
    const struct hwtd_histogram_options *opts,
    struct hwtd_histogram **histogram_out, struct hwtd_error *err);

/**
 * Add the values of calls.  Some rows are read at a time; to be called until it
 * returns HWTD_END.  In between progress can be shown (hwtd_calls_info()).
 *
 * @param[in,out] histogram  A histogram.
 * @param[in,out] calls      Open, with nothing read yet; of a trace or of text.
 *                           Kept alive until all was added.  BETWEEN needs
 *                           HWTD_CALLS_ENTERS and HWTD_CALLS_GAPS.
 * @param[out]    err        Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END: all was added, or as hwtd_calls_read(), or
 *         HWTD_E_INVALID  a pointer is NULL, or rows are missing that are needed;
 *         HWTD_E_STATE    other calls are not at their end, or it failed before.
 *
 * After an error it can only be destroyed.
 * Since:  0.1
 */
HWTD_MUST int hwtd_histogram_add_calls(struct hwtd_histogram *histogram,
    struct hwtd_calls *calls, struct hwtd_error *err);

/**
 * Add what another one has.  Merged in any order and grouping, they tell the
 * same.
 *
 * @param[in,out] into  A histogram.
 * @param[in]     from  Another one of the same value and flags; it stays as it is.
 *                      Its calls are at their end.
 * @param[out]    err   Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID  a pointer is NULL, both are one, or they differ in what
 *                         they measure;
 *         HWTD_E_STATE    calls are not at their end, or one failed before;
 *         HWTD_E_NOMEM    out of memory.
 *
 * After an error `into` can only be destroyed.
 * Since:  0.1
 */
HWTD_MUST int hwtd_histogram_merge(struct hwtd_histogram *into,
    const struct hwtd_histogram *from, struct hwtd_error *err);

/**
 * What was seen.
 *
 * @param[in]     histogram  A histogram.
 * @param[in,out] out        `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_histogram_info(const struct hwtd_histogram *histogram,
    struct hwtd_histogram_info *out);

/**
 * Put rows in an order; what is equal is in that of names.  Rows can be read until
 * something is added or merged.  Calls need not be at their end.
 *
 * @param[in,out] histogram  A histogram.
 * @param[in]     sort       An hwtd_histogram_sort.
 * @param[out]    err        Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE, HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_MUST int hwtd_histogram_sort(struct hwtd_histogram *histogram,
    uint32_t sort, struct hwtd_error *err);

/**
 * Read rows as they were sorted; or one for all, from HWTD_HISTOGRAM_ALL, which
 * needs no sorting.
 *
 * @param[in]  histogram  A histogram.
 * @param[in]  first      Index of the first one that is wanted.
 * @param[out] out        Shape [cap], `stride` bytes apart.
 * @param[in]  stride     sizeof(struct hwtd_histogram_row) as the caller knows
 *                        it; by 8.
 * @param[in]  cap        Room, in rows.
 * @param[out] n_out      Rows stored.
 *
 * @return HWTD_OK, HWTD_END: there is none from `first` on, or
 *         HWTD_E_INVALID  a pointer is NULL, no room, or a bad `stride`;
 *         HWTD_E_STATE    they are not sorted.
 * Since:  0.1
 */
HWTD_API int hwtd_histogram_rows(const struct hwtd_histogram *histogram,
    uint64_t first, struct hwtd_histogram_row *out, size_t stride, size_t cap,
    size_t *n_out);

/**
 * The least value that so many of all are not above: exact up to 4096, above at
 * most 1/128 too low, but not less than the least; that of all is exact.
 *
 * @param[in]  histogram   A histogram.
 * @param[in]  row         Index of the row, or HWTD_HISTOGRAM_ALL.
 * @param[in]  millionths  For instance 999000 for 99.9 of 100; up to 1000000.
 * @param[out] value_out   0 without values.
 *
 * @return HWTD_OK, HWTD_END: there is no such row, HWTD_E_INVALID, HWTD_E_STATE.
 * Since:  0.1
 */
HWTD_API int hwtd_histogram_quantile(const struct hwtd_histogram *histogram,
    uint64_t row, uint32_t millionths, uint64_t *value_out);

/**
 * Buckets with values, lowest first.  Up to 4096 each value is a bucket, above
 * 128 are as many as it doubles.
 *
 * @param[in]  histogram  A histogram.
 * @param[in]  row        Index of the row, or HWTD_HISTOGRAM_ALL.
 * @param[in]  first      Index of the first bucket that is wanted.
 * @param[out] out        Shape [cap], `stride` bytes apart.
 * @param[in]  stride     sizeof(struct hwtd_histogram_bucket); by 8.
 * @param[in]  cap        Room, in buckets.
 * @param[out] n_out      Buckets stored.
 *
 * @return as hwtd_histogram_rows().
 * Since:  0.1
 */
HWTD_API int hwtd_histogram_buckets(const struct hwtd_histogram *histogram,
    uint64_t row, uint64_t first, struct hwtd_histogram_bucket *out,
    size_t stride, size_t cap, size_t *n_out);

/**
 * Give up a histogram.
 *
 * @param[in] histogram  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_histogram_destroy(struct hwtd_histogram *histogram);

/**
 * Short stable names, for instance "self-cycles", "p99".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_histogram_value_name(uint32_t value);
HWTD_API const char *hwtd_histogram_sort_name(uint32_t sort);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_HISTOGRAM_H */
