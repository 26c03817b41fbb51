/*
 * What samples of Arm SPE say together: where time went, by code, by data, by
 * where data came from and by who used it.
 *
 * Samples of one trace are added one by one, whichever the caller chose, to the
 * tables that were asked for.  Tables of several traces can be merged; that gives
 * the same as one trace with all of their samples.
 */
#ifndef HWTDECODE_MEMORY_H
#define HWTDECODE_MEMORY_H

#ifndef HWTD_CDEF
#include <hwtdecode/event.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_memory;

/** What rows of a table are.  Numbers are pinned for ever. */
enum hwtd_memory_table {
	/** Functions, or images where there are no symbols. */
	HWTD_MEMORY_SYMBOL = 0,
	/** Instructions: `address` is that of the lowest seen. */
	HWTD_MEMORY_INSN = 1,
	/** Loads and stores by virtual address of the data. */
	HWTD_MEMORY_ADDRESS = 2,
	HWTD_MEMORY_PAGE = 3,
	/** Cache lines. */
	HWTD_MEMORY_LINE = 4,
	/** Loads and stores by data source. */
	HWTD_MEMORY_SOURCE = 5,
	HWTD_MEMORY_CPU = 6,
	HWTD_MEMORY_THREAD = 7,
	/** Branches: from, to, taken or not. */
	HWTD_MEMORY_BRANCH = 8,
	/** `prev_target` to `address`, and from there `to`. */
	HWTD_MEMORY_PATH = 9
};

#define HWTD_MEMORY_TABLES 10

/** Latencies.  Numbers are pinned for ever. */
enum hwtd_memory_latency_kind {
	HWTD_MEMORY_TOTAL = 0,
	/** Until the operation was issued. */
	HWTD_MEMORY_ISSUE = 1,
	/** Of the translation of the address. */
	HWTD_MEMORY_TRANSLATION = 2,
	/** Total less issue. */
	HWTD_MEMORY_EXECUTION = 3
};

#define HWTD_MEMORY_LATENCIES 4

/** Where data was.  Numbers are pinned for ever. */
enum hwtd_memory_level {
	HWTD_MEMORY_LEVEL_UNKNOWN = 0,
	HWTD_MEMORY_LEVEL_L1 = 1,
	/** A line that was on its way. */
	HWTD_MEMORY_LEVEL_BUFFER = 2,
	HWTD_MEMORY_LEVEL_L2 = 3,
	/** As far as a cache of another core nearby is. */
	HWTD_MEMORY_LEVEL_L3 = 4,
	HWTD_MEMORY_LEVEL_SYSTEM = 5,
	HWTD_MEMORY_LEVEL_MEMORY = 6,
	HWTD_MEMORY_LEVEL_DEVICE = 7
};

#define HWTD_MEMORY_LEVELS 8

/** How a cache line is used.  Numbers are pinned for ever. */
enum hwtd_memory_sharing {
	/** By one, or nobody was seen to write it. */
	HWTD_MEMORY_SHARING_NONE = 0,
	/** What one writes others do not touch: they only share the line. */
	HWTD_MEMORY_SHARING_FALSE = 1,
	/** What one writes others touch. */
	HWTD_MEMORY_SHARING_TRUE = 2,
	HWTD_MEMORY_SHARING_MIXED = 3
};

/** By what rows are sorted, highest first.  Numbers are pinned for ever. */
enum hwtd_memory_sort {
	HWTD_MEMORY_BY_SAMPLES = 0,
	HWTD_MEMORY_BY_WEIGHT = 1,
	/** Sum of total latencies. */
	HWTD_MEMORY_BY_LATENCY = 2,
	/** Greatest and mean total latency. */
	HWTD_MEMORY_BY_MAX = 3,
	HWTD_MEMORY_BY_MEAN = 4,
	/** Misses of the first-level and of the last-level cache. */
	HWTD_MEMORY_BY_L1_MISSES = 5,
	HWTD_MEMORY_BY_LLC_MISSES = 6,
	HWTD_MEMORY_BY_TLB_MISSES = 7,
	HWTD_MEMORY_BY_REMOTE = 8,
	HWTD_MEMORY_BY_MISPREDICTED = 9,
	/** Lines from cache to cache. */
	HWTD_MEMORY_BY_TRANSFERS = 10,
	/** HWTD_MEMORY_LINE: shared lines first, those that cost most. */
	HWTD_MEMORY_BY_SHARING = 11,
	/** Lowest first: by address, number, name. */
	HWTD_MEMORY_BY_KEY = 12
};

#define HWTD_MEMORY_SORTS 13

/** Options.  All zero means defaults. */
struct hwtd_memory_options {
	/** sizeof(struct hwtd_memory_options). */
	size_t size;
	/** Bit (1 << table) for each that is wanted.  0: all. */
	uint32_t tables;
	/** HWTD_MEMORY_KEEP_* bits. */
	uint32_t flags;
	/** Bytes of a cache line, a power of 2 from 8 to 4096.  0: 64. */
	uint32_t line_bytes;
	/** Bytes of a page, a power of 2 up to 2^30.  0: 4096. */
	uint32_t page_bytes;
	/**
	 * Rows of a table; what else there is goes into one row with
	 * HWTD_MEMORY_ROW_OTHER.  0: 262144.
	 */
	uint32_t max_rows;
	/** Accesses that are kept; others are counted only.  0: 1048576. */
	uint32_t max_accesses;
	/** Of streams that do not tell: MIDR_EL1; 0: not known. */
	uint32_t midr;
	/** The same of ID_AA64DFR0_EL1.PMSVer; 1: version 1.0. */
	uint32_t version;
	/** The same of the sampling interval, in operations. */
	uint64_t interval;
};

/** Of lines: who touched which byte, and which code; see accesses. */
#define HWTD_MEMORY_KEEP_ACCESSES 0x1
/**
 * ADDRESS, PAGE and LINE are physical addresses, of samples that have one: what
 * processes share at different addresses is one row.  `pid` is not known then.
 */
#define HWTD_MEMORY_KEEP_PHYSICAL 0x2

/** Latencies of one kind, in cycles. */
struct hwtd_memory_latency {
	/** Latencies below the limit of their counter, and their sum. */
	uint64_t n;
	uint64_t sum;
	/** Those at the limit, which were that or more, and its sum. */
	uint64_t n_saturated;
	uint64_t saturated_sum;
	/** Of those below the limit; 0 without any. */
	uint32_t min;
	uint32_t max;
	/**
	 * Of all of them, those at a limit being the greatest: exact up to
	 * 4096, the lower end of steps of at most 1/128 above, but not less than
	 * `min`.  At a limit: the least one, if there are several.
	 */
	uint32_t p50;
	uint32_t p90;
	uint32_t p99;
	/**
	 * Bit n: percentile n (0: p50) is at a limit, "at least"; bit 3: the
	 * same of `longest`.
	 */
	uint32_t at_least;
	/** The longest of all; 0 without any. */
	uint32_t longest;
	uint32_t reserved;
};

/** A row of a table. */
struct hwtd_memory_row {
	/** HWTD_MEMORY_ROW_* bits. */
	uint32_t flags;
	/** Of SOURCE, CPU and THREAD: HWTD_NO_ID where it is not known. */
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	/** Instruction, data, page, line, or where a branch is. */
	uint64_t address;
	/** Where a branch goes. */
	uint64_t to;
	/** Target of the last branch that was taken before. */
	uint64_t prev_target;
	/** Data source as samples have it. */
	uint64_t source;
	/** Its name; NULL: not known.  Static storage. */
	const char *source_name;
	/** Code: name of its image and symbol; NULL: not known.  Borrowed. */
	const char *image;
	const char *symbol;
	/**
	 * Byte of the symbol, without one that of the file of the image; of
	 * SYMBOL the address of the symbol in its file.
	 */
	uint64_t symbol_off;

	/** Samples, and for how many operations they stand, if that is known. */
	uint64_t samples;
	uint64_t weight;
	/** Loads with atomic ones that are told as such; only stores. */
	uint64_t loads;
	uint64_t stores;
	/** Of both those that are atomic. */
	uint64_t atomics;
	uint64_t branches;
	uint64_t others;
	/** Branches. */
	uint64_t taken;
	uint64_t mispredicted;
	/** Operations that had no effect in the end. */
	uint64_t not_retired;
	uint64_t exceptions;
	/** Accesses to caches, and those that missed. */
	uint64_t l1_accesses;
	uint64_t l1_misses;
	uint64_t l2_accesses;
	uint64_t l2_misses;
	uint64_t llc_accesses;
	uint64_t llc_misses;
	uint64_t tlb_accesses;
	uint64_t tlb_misses;
	uint64_t misaligned;
	/** Of another chip or socket. */
	uint64_t remote;
	/** Loads and stores of a line that another cache had. */
	uint64_t transfers;
	/** Those of them that were modified there, where that is told. */
	uint64_t modified;
	/**
	 * Loads and stores by hwtd_memory_level: by the data source if it
	 * means something, else by events.  Where it missed that level, and
	 * nothing tells where data was then, it is in the other one.
	 */
	uint64_t at_level[HWTD_MEMORY_LEVELS];
	uint64_t missed_level[HWTD_MEMORY_LEVELS];
	/** By hwtd_memory_latency_kind. */
	struct hwtd_memory_latency latency[HWTD_MEMORY_LATENCIES];

	/** LINE, with accesses that are kept: an hwtd_memory_sharing. */
	uint32_t sharing;
	/** Threads (CPUs, where threads are not known), and those that write. */
	uint32_t users;
	uint32_t writers;
	uint32_t cpus;
};

#define HWTD_MEMORY_ROW_ADDRESS 0x1
#define HWTD_MEMORY_ROW_TO 0x2
#define HWTD_MEMORY_ROW_PREV_TARGET 0x4
/** `source`; without it samples had none. */
#define HWTD_MEMORY_ROW_SOURCE 0x8
/** BRANCH, PATH: taken. */
#define HWTD_MEMORY_ROW_TAKEN 0x10
/** SOURCE: of stores. */
#define HWTD_MEMORY_ROW_STORES 0x20
/** What had no room in the table. */
#define HWTD_MEMORY_ROW_OTHER 0x40

/** Latencies of a range. */
struct hwtd_memory_bucket {
	/** Cycles, [first, end). */
	uint32_t first;
	uint32_t end;
	uint64_t n;
};

/** How code of one thread used one byte of a line. */
struct hwtd_memory_access {
	/** Byte of the line. */
	uint32_t offset;
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	/** HWTD_MEMORY_ROW_SOURCE, HWTD_MEMORY_ROW_ADDRESS (of `pc`). */
	uint32_t flags;
	uint32_t reserved;
	uint64_t pc;
	uint64_t source;
	uint64_t loads;
	uint64_t stores;
	uint64_t transfers;
	/** Sum of total latencies, with those at their limit. */
	uint64_t latency;
	/** As of rows. */
	const char *source_name;
	const char *image;
	const char *symbol;
	uint64_t symbol_off;
};

/** What was added. */
struct hwtd_memory_info {
	/** sizeof(struct hwtd_memory_info) as the caller knows it. */
	size_t size;
	/** Samples added, and those of them that tables are made of. */
	uint64_t samples;
	uint64_t used;
	/** Those left out, each by the first that holds. */
	uint64_t damaged;
	uint64_t truncated;
	uint64_t duplicate;
	uint64_t headless;
	/** Of those used: without an address of the instruction. */
	uint64_t without_pc;
	/** In code that no symbol is known of: no file, or none in it. */
	uint64_t without_symbol;
	/** Loads and stores of which nothing tells where data was. */
	uint64_t without_origin;
	/** With a latency at its limit. */
	uint64_t saturated;
	/** Of streams of unknown interval: they have no weight. */
	uint64_t unweighted;
	/** Accesses that there was no room for. */
	uint64_t accesses_lost;
	/** Intervals of streams, lowest and highest; 0: not known. */
	uint64_t interval_min;
	uint64_t interval_max;
	/** HWTD_MEMORY_INFO_* bits. */
	uint32_t flags;
	/** The MIDR_EL1 of samples, if all have one; else 0. */
	uint32_t midr;
	/** Rows of each table. */
	uint64_t rows[HWTD_MEMORY_TABLES];
};

/**
 * Samples are of CPUs that sample targets of branches too often, and what
 * follows them too seldom.
 * Source: Neoverse N1 Software Developer Errata Notice, erratum 1694299.
 */
#define HWTD_MEMORY_INFO_BRANCH_BIAS 0x1
/** Samples of unknown CPUs: what their data sources mean is not known. */
#define HWTD_MEMORY_INFO_NO_MIDR 0x2
/** Samples of CPUs of more than one kind. */
#define HWTD_MEMORY_INFO_MANY_MIDRS 0x4
/** A table was full. */
#define HWTD_MEMORY_INFO_FULL 0x8

/**
 * Tables without samples.
 *
 * @param[in]  trace       A sealed trace; kept alive.
 * @param[in]  opts        NULL: defaults.  Copied.
 * @param[out] memory_out  Set on success.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (not sealed), HWTD_E_NOMEM,
 *         HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_memory_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_memory_open(struct hwtd_trace *trace,
    const struct hwtd_memory_options *opts, struct hwtd_memory **memory_out,
    struct hwtd_error *err);

/**
 * Add a sample.  One that is damaged, cut off, mixed of two or without a
 * beginning is counted in the information only.
 *
 * @param[in,out] memory  Open.
 * @param[in]     row     A row of kind HWTD_EV_SAMPLE of its trace.
 * @param[in]     sample  The detail of the row.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID  a pointer is NULL or the row is no sample;
 *         HWTD_E_NOMEM    out of memory;
 *         HWTD_E_LIMIT    a limit of the context was reached.
 *
 * After an error the sample may be in some of the tables.
 * Since:  0.1
 */
HWTD_MUST int hwtd_memory_add(struct hwtd_memory *memory,
    const struct hwtd_event *row, const struct hwtd_sample *sample,
    struct hwtd_error *err);

/**
 * Add all that is in other tables, also of another trace.  Rows that are the
 * same (a symbol of an image of the same name, an address of a process of the
 * same id) become one.  Tables that only one of them has stay as they are.
 *
 * @param[in,out] memory  Open.
 * @param[in]     from    Another one, with the same `line_bytes` and
 *                        `page_bytes`, and by the same kind of addresses.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_LIMIT.  After an error
 *         some of it may have been added.
 * Since:  0.1
 */
HWTD_MUST int hwtd_memory_merge(struct hwtd_memory *memory,
    const struct hwtd_memory *from, struct hwtd_error *err);

/**
 * Sort the rows of a table.  What is equal is in the order of BY_KEY, so that
 * the same samples give the same order however they were added.
 *
 * @param[in,out] memory  Open.
 * @param[in]     table   An hwtd_memory_table.
 * @param[in]     sort    An hwtd_memory_sort.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOT_FOUND (the table was not asked
 *         for), HWTD_E_STATE (BY_SHARING without accesses), HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_MUST int hwtd_memory_sort(struct hwtd_memory *memory, uint32_t table,
    uint32_t sort, struct hwtd_error *err);

/**
 * Rows of a table as they were sorted last.  When samples were added since then
 * it has to be sorted again.
 *
 * @param[in]  memory  Open.
 * @param[in]  table   An hwtd_memory_table.
 * @param[in]  first   Index of the first one that is wanted.
 * @param[out] out     Shape [cap], `stride` bytes apart.
 * @param[in]  stride  sizeof(struct hwtd_memory_row) as the caller knows it;
 *                     by 8.
 * @param[in]  cap     Room, in rows.
 * @param[out] n_out   Rows stored.
 *
 * @return HWTD_OK, HWTD_END: there is none from `first` on, or
 *         HWTD_E_INVALID    a pointer is NULL, no room, or a bad `stride`;
 *         HWTD_E_NOT_FOUND  the table was not asked for;
 *         HWTD_E_STATE      it is not sorted.
 *
 * Lives:  names are borrowed while `memory` is open.
 * Since:  0.1
 */
HWTD_API int hwtd_memory_read(const struct hwtd_memory *memory, uint32_t table,
    uint64_t first, struct hwtd_memory_row *out, size_t stride, size_t cap,
    size_t *n_out);

/**
 * The histogram of a row: buckets with latencies, lowest first.  Those at the
 * limit of their counter are in none.
 *
 * @param[in]  memory  Open.
 * @param[in]  table   An hwtd_memory_table.
 * @param[in]  row     Index of the row as sorted.
 * @param[in]  kind    An hwtd_memory_latency_kind.
 * @param[in]  first   Index of the first bucket that is wanted.
 * @param[out] out     Shape [cap], `stride` bytes apart.
 * @param[in]  stride  sizeof(struct hwtd_memory_bucket); by 8.
 * @param[in]  cap     Room, in buckets.
 * @param[out] n_out   Buckets stored.
 *
 * @return as hwtd_memory_read().
 * Since:  0.1
 */
HWTD_API int hwtd_memory_histogram(const struct hwtd_memory *memory,
    uint32_t table, uint64_t row, uint32_t kind, uint64_t first,
    struct hwtd_memory_bucket *out, size_t stride, size_t cap, size_t *n_out);

/**
 * Who used a line and how, by offset, then thread, CPU, code and data source.
 *
 * @param[in]  memory  Open, with HWTD_MEMORY_KEEP_ACCESSES.
 * @param[in]  row     Index of the row as sorted.
 * @param[in]  first   Index of the first access that is wanted.
 * @param[out] out     Shape [cap], `stride` bytes apart.
 * @param[in]  stride  sizeof(struct hwtd_memory_access); by 8.
 * @param[in]  cap     Room, in accesses.
 * @param[out] n_out   Accesses stored.
 *
 * @return as hwtd_memory_read().
 *
 * Lives:  names are borrowed while `memory` is open.
 * Since:  0.1
 */
HWTD_API int hwtd_memory_accesses(const struct hwtd_memory *memory,
    uint64_t row, uint64_t first, struct hwtd_memory_access *out,
    size_t stride, size_t cap, size_t *n_out);

/**
 * What was added.
 *
 * @param[in]     memory  Open.
 * @param[in,out] out     `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_memory_info(const struct hwtd_memory *memory,
    struct hwtd_memory_info *out);

/**
 * Give up the tables; the trace stays open.
 *
 * @param[in] memory  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_memory_close(struct hwtd_memory *memory);

/**
 * Short stable names, for instance "symbol", "l1", "false".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_memory_table_name(uint32_t table);
HWTD_API const char *hwtd_memory_level_name(uint32_t level);
HWTD_API const char *hwtd_memory_sharing_name(uint32_t sharing);
HWTD_API const char *hwtd_memory_sort_name(uint32_t sort);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_MEMORY_H */
