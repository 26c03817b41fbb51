/*
 * Calls: which function ran when, for how long, and called by whom.
 *
 * The rows of a trace say which code ran; here they become stacks of calls, one
 * or more for each thread.  A call ends where execution comes back to behind the
 * instruction that made it: addresses decide, never names.  What was not seen is
 * told: calls that began before the trace, that ended in a gap, or that nothing
 * proved to be still there.
 *
 * What is held grows with the depth of stacks and with the code that was
 * executed, not with the trace.
 */
#ifndef HWTDECODE_CALLS_H
#define HWTDECODE_CALLS_H

#ifndef HWTD_CDEF
#include <hwtdecode/event.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_calls;

/** What a row says.  Numbers are pinned for ever. */
enum hwtd_call_kind {
	HWTD_CALL_UNKNOWN = 0,
	/** A call began; only with HWTD_CALLS_ENTERS. */
	HWTD_CALL_ENTER = 1,
	/** A call ended, or is open at the end: all is known of it now. */
	HWTD_CALL_LEAVE = 2,
	/**
	 * What ran from `begin_ns` to `end_ns` is not known; only with
	 * HWTD_CALLS_GAPS.  `gap_bytes` is that of this gap.
	 */
	HWTD_CALL_GAP = 3
};

/** What made a call.  Numbers are pinned for ever. */
enum hwtd_call_type {
	/** It was found running. */
	HWTD_CALL_TYPE_FOUND = 0,
	/** A call instruction. */
	HWTD_CALL_TYPE_CALL = 1,
	/** A jump to a function: that one goes back to the caller of this one. */
	HWTD_CALL_TYPE_TAIL = 2,
	/** An interrupt, or something else that is not caused by the code. */
	HWTD_CALL_TYPE_INTERRUPT = 3,
	HWTD_CALL_TYPE_EXCEPTION = 4,
	/** A system call, or another call to a higher level. */
	HWTD_CALL_TYPE_SYSCALL = 5,
	/** What ran was not traced, and how that came is not known. */
	HWTD_CALL_TYPE_UNTRACED = 6,
	/** The kernel went on elsewhere than it had come from. */
	HWTD_CALL_TYPE_SIGNAL = 7,
	/** Text only: of a list of callers that was sampled. */
	HWTD_CALL_TYPE_SAMPLED = 8
};

#define HWTD_CALL_TYPES 9

/** How a call ended.  Numbers are pinned for ever. */
enum hwtd_call_end {
	HWTD_CALL_END_UNKNOWN = 0,
	/** Execution came back to behind the call. */
	HWTD_CALL_END_RETURN = 1,
	/** It jumped to another function, which took its place. */
	HWTD_CALL_END_TAIL = 2,
	/** Execution went on in a caller of its caller: longjmp, exceptions. */
	HWTD_CALL_END_UNWOUND = 3,
	/** Return from an interrupt, exception or system call. */
	HWTD_CALL_END_FAR_RETURN = 4,
	/** Unseen, in a gap: `end_ns` is when that was clear. */
	HWTD_CALL_END_GAP = 5,
	/** It is open at the end of what was decoded. */
	HWTD_CALL_END_OPEN = 6,
	/** A limit on the calls that are held was reached. */
	HWTD_CALL_END_LIMIT = 7,
	/** The process executed another program. */
	HWTD_CALL_END_EXEC = 8,
	/** Text only: it was in no later sample. */
	HWTD_CALL_END_SAMPLED = 9,
	/** Its thread ended, and another one has its number. */
	HWTD_CALL_END_EXIT = 10
};

#define HWTD_CALL_ENDS 11

/** `begin_ns`, `end_ns` are known, and with them the other times. */
#define HWTD_CALLF_BEGIN_TIME 0x1
#define HWTD_CALLF_END_TIME 0x2
/** It is the time of the last timing packet before. */
#define HWTD_CALLF_BEGIN_ESTIMATED 0x4
#define HWTD_CALLF_END_ESTIMATED 0x8
/** It lies between two times of the hardware, by instructions executed. */
#define HWTD_CALLF_BEGIN_INTERPOLATED 0x10
#define HWTD_CALLF_END_INTERPOLATED 0x20
/** `cycles` and `self_cycles` are known. */
#define HWTD_CALLF_CYCLES 0x40
/** `call_site` is known. */
#define HWTD_CALLF_SITE 0x80
/** `address` is known. */
#define HWTD_CALLF_ADDRESS 0x100
/**
 * It began before what was decoded of its thread; `begin_ns` is when that
 * begins.  Such a call becomes known when execution goes back to it: it is then
 * one level above the highest call so far, around all there was.
 */
#define HWTD_CALLF_BEGAN_BEFORE 0x200
/** It began in a gap, or while nothing was traced; `begin_ns`: at the latest. */
#define HWTD_CALLF_BEGAN_UNSEEN 0x400
/** There was a gap in it, and nothing showed that it was still there. */
#define HWTD_CALLF_UNPROVEN 0x800
/** What it did was not traced. */
#define HWTD_CALLF_UNTRACED 0x1000
/** Several stacks waited to go on here; the one that waited longest was taken. */
#define HWTD_CALLF_GUESSED 0x2000
/**
 * Other stacks of the thread ran from `begin_ns` to `end_ns`, too; that is in
 * none of the other times.
 */
#define HWTD_CALLF_SWITCHED 0x4000

/** A row. */
struct hwtd_call {
	/** Number of the call, from 0; that of ENTER and LEAVE is the same. */
	uint64_t id;
	/** ns on the clock of the trace. */
	uint64_t begin_ns;
	uint64_t end_ns;
	/** Where it began: the first instruction that was executed, mostly. */
	uint64_t address;
	/**
	 * In the instruction that called: its last byte, of text the first.
	 * What was interrupted: the instruction that had not been executed.
	 */
	uint64_t call_site;
	/** Time in it and in what it called, without gaps and `off_ns`. */
	uint64_t ns;
	/** Executed in it and in what it called; and in itself only. */
	uint64_t insns;
	uint64_t self_insns;
	/** The same of CPU cycles. */
	uint64_t cycles;
	uint64_t self_cycles;
	/**
	 * Time in itself only.  Those of all calls of a thread, with their
	 * `self_gap_ns` and `self_off_ns` and the thread's `idle_ns`, add up to
	 * the time of the thread.
	 */
	uint64_t self_ns;
	/** Time in gaps, and while its thread did not run; with all it called. */
	uint64_t gap_ns;
	uint64_t off_ns;
	/** Those in itself only. */
	uint64_t self_gap_ns;
	uint64_t self_off_ns;
	/** Bytes of trace in gaps, with all it called. */
	uint64_t gap_bytes;
	/** Gaps, with all it called. */
	uint32_t gaps;
	/** See hwtd_calls_thread(). */
	uint32_t thread;
	/** Stack of the thread, from 0: coroutines have their own. */
	uint32_t stack;
	/** Level: 0 for the first call of a stack, below 0 for its callers. */
	int32_t depth;
	/** See hwtd_calls_function(), or HWTD_NO_ID. */
	uint32_t function;
	/** Those of `address` and `call_site`, or HWTD_NO_ID. */
	uint32_t section;
	uint32_t call_section;
	/** Who executed when it began. */
	uint32_t context;
	/** HWTD_CALLF_* bits. */
	uint32_t flags;
	/** An hwtd_call_kind. */
	uint8_t kind;
	/** An hwtd_call_type. */
	uint8_t type;
	/** LEAVE: an hwtd_call_end.  GAP: an hwtd_gap_reason. */
	uint8_t end;
	/** 0. */
	uint8_t reserved;
	/**
	 * Instructions that its thread had executed, as far as is known, when it
	 * began and when it ended: what is left of time where there is none.
	 */
	uint64_t begin_insns;
	uint64_t end_insns;
};

/** Rows; as struct hwtd_batch. */
struct hwtd_call_batch {
	/** sizeof(struct hwtd_call_batch) as the caller knows it. */
	size_t size;
	/** Shape [cap], `stride` bytes apart; the caller's. */
	struct hwtd_call *calls;
	/** sizeof(struct hwtd_call) as the caller knows it; by 8. */
	size_t stride;
	size_t cap;
	/** Rows stored. */
	size_t n;
};

/** Who calls. */
struct hwtd_call_thread {
	/** sizeof(struct hwtd_call_thread) as the caller knows it. */
	size_t size;
	/** HWTD_NO_ID: not known. */
	uint32_t pid;
	uint32_t tid;
	/** Where nothing tells threads apart: the stream.  Else HWTD_NO_ID. */
	uint32_t stream;
	/** 1: the times are known. */
	uint32_t has_time;
	/** From the first to the last row of the thread so far. */
	uint64_t first_ns;
	uint64_t last_ns;
	/** Time in no call at all: between a program and another one. */
	uint64_t idle_ns;
};

/** Code that was called. */
struct hwtd_call_function {
	/** sizeof(struct hwtd_call_function) as the caller knows it. */
	size_t size;
	/** Where it was first seen, or HWTD_NO_ID. */
	uint32_t section;
	/** HWTD_CALL_FUNCTIONF_* bits. */
	uint32_t flags;
	/** Its first byte; without a name where it was called. */
	uint64_t address;
	/** Bytes; 0: not known. */
	uint64_t bytes;
	/** Its symbol, and the image that has it; NULL: not known.  Borrowed. */
	const char *name;
	const char *image;
};

/** `address` is known; of text that tells names without offsets it is not. */
#define HWTD_CALL_FUNCTIONF_ADDRESS 0x1

/** Times of all calls of a function that have ended. */
struct hwtd_call_times {
	/** sizeof(struct hwtd_call_times) as the caller knows it. */
	size_t size;
	/** All of them. */
	uint64_t calls;
	/**
	 * Those of which begin and end were seen and that have no gap in them.
	 * The times below are of these.
	 */
	uint64_t whole;
	/** ns, with what they called; of themselves only. */
	uint64_t ns;
	uint64_t self_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	/**
	 * Exact up to 4096 ns, and min_ns and max_ns are; else the lower end of
	 * steps of 1/128.
	 */
	uint64_t p50_ns;
	uint64_t p90_ns;
	uint64_t p99_ns;
	/** Of all calls. */
	uint64_t self_insns;
	uint64_t self_cycles;
	/** Of all calls: of themselves, and not theirs. */
	uint64_t all_self_ns;
};

/** Options.  All zero means defaults. */
struct hwtd_calls_options {
	/** sizeof(struct hwtd_calls_options). */
	size_t size;
	/** HWTD_CALLS_* bits. */
	uint32_t flags;
	/**
	 * Calls that are held of a thread, with all its stacks.  When there
	 * are more they all end, and what goes on was found running.  0:
	 * 262144, which may take 80 MB.
	 */
	uint32_t max_depth;
	/** Stacks of a thread that wait to go on.  0: 256. */
	uint32_t max_stacks;
	/** 0. */
	uint32_t reserved;
	/**
	 * Which rows: as for hwtd_events_open(), but `addresses` cannot be
	 * chosen, since calls need all code; `level` and `kinds` do not matter.
	 */
	const struct hwtd_events_options *events;
};

/** Rows when calls begin. */
#define HWTD_CALLS_ENTERS 0x1
/** Rows of gaps. */
#define HWTD_CALLS_GAPS 0x2
/** Keep the times of calls for hwtd_calls_times(). */
#define HWTD_CALLS_TIMES 0x4
/** Do not interpolate: a time is that of the last timing packet. */
#define HWTD_CALLS_NO_INTERPOLATION 0x8
/** Look for no symbols: addresses of calls alone tell functions. */
#define HWTD_CALLS_NO_SYMBOLS 0x10

/** What was seen so far. */
struct hwtd_calls_info {
	/** sizeof(struct hwtd_calls_info) as the caller knows it. */
	size_t size;
	/** Calls that began, and those of them that ended by a limit. */
	uint64_t calls;
	uint64_t limited;
	uint32_t n_threads;
	uint32_t n_functions;
	/** What hwtd_events_stats() says; of text the file's bytes and gaps. */
	uint64_t bytes;
	uint64_t insns;
	uint64_t gap_bytes;
	uint64_t file_gap_bytes;
	uint64_t gaps[HWTD_GAP_REASONS];
	/** Text only: lines, and those that are none that are known. */
	uint64_t lines;
	uint64_t bad_lines;
	/** The first of these, from 1; 0: none. */
	uint64_t first_bad_line;
};

/**
 * Begin to follow the calls of a sealed trace.
 *
 * @param[in]  trace      A sealed trace; kept alive.
 * @param[in]  opts       NULL: defaults.  Copied.
 * @param[out] calls_out  Set on success.
 * @param[out] err        Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or as hwtd_events_open().
 *
 * Lives:  owned; close with hwtd_calls_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_calls_open(struct hwtd_trace *trace,
    const struct hwtd_calls_options *opts, struct hwtd_calls **calls_out,
    struct hwtd_error *err);

/**
 * Begin to follow the calls of branches in a file of text, as perf-script(1)
 * writes it: lines of branches (`--itrace=b`), of errors, and samples with their
 * callers.
 *
 * Text has no code.  So a call is matched by the address behind it as far as
 * that is known without the length of its instruction, and functions are those
 * that the text names.  `opts->events` has to be NULL.
 *
 * @param[in]  ctx        A context; kept alive.
 * @param[in]  path       Of the file.
 * @param[in]  opts       NULL: defaults.  Copied.
 * @param[out] calls_out  Set on success.
 * @param[out] err        Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID       a pointer is NULL or an option is wrong;
 *         HWTD_E_UNRECOGNIZED  no line at the start of the file is one of these;
 *         HWTD_E_NOMEM         out of memory;
 *         HWTD_E_IO            it cannot be read; see err->sys_errno;
 *         HWTD_E_TOO_NEW       `opts` has fields that this library does not know.
 *
 * Lives:  owned; close with hwtd_calls_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_calls_open_text(struct hwtd_context *ctx, const char *path,
    const struct hwtd_calls_options *opts, struct hwtd_calls **calls_out,
    struct hwtd_error *err);

/**
 * Read the next rows.  Within a stack they nest: what began last ends first.
 * Calls of threads that are open at the end come when all was decoded.
 *
 * A short read is not the end, nor is one without rows: only HWTD_END says
 * that no row is left.
 *
 * @param[in,out] calls  Open.  One thread at a time.
 * @param[in,out] batch  See struct hwtd_call_batch.
 * @param[out]    err    Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END, or
 *         HWTD_E_INVALID  no room, or a bad `stride`;
 *         HWTD_E_STATE    it failed before;
 *         HWTD_E_CORRUPT  HWTD_DECODE_STRICT and the trace has a gap;
 *         HWTD_E_NOMEM    out of memory;
 *         HWTD_E_LIMIT    a limit of the context was reached;
 *         HWTD_E_IO       a read failed; see err->sys_errno.
 *
 * After an error it can only be closed.
 * Since:  0.1
 */
HWTD_MUST int hwtd_calls_read(struct hwtd_calls *calls,
    struct hwtd_call_batch *batch, struct hwtd_error *err);

/**
 * What was seen so far.
 *
 * @param[in]     calls  Open.
 * @param[in,out] out    `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_calls_info(const struct hwtd_calls *calls,
    struct hwtd_calls_info *out);

/**
 * Look up a thread of rows.
 *
 * @param[in]     calls   Open.
 * @param[in]     thread  Its number in rows.
 * @param[in,out] out     `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END when `thread` is past the last one, or
 *         HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_calls_thread(const struct hwtd_calls *calls, uint32_t thread,
    struct hwtd_call_thread *out);

/**
 * Look up a function of rows.
 *
 * @param[in]     calls     Open.
 * @param[in]     function  Its number in rows.
 * @param[in,out] out       `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END when `function` is past the last one, or
 *         HWTD_E_INVALID.
 *
 * Lives:  names are borrowed while `calls` is open.
 * Since:  0.1
 */
HWTD_API int hwtd_calls_function(const struct hwtd_calls *calls,
    uint32_t function, struct hwtd_call_function *out);

/**
 * Times of a function, of calls that were read so far.
 *
 * @param[in]     calls     Open, with HWTD_CALLS_TIMES.
 * @param[in]     function  Its number in rows.
 * @param[in,out] out       `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END when `function` is past the last one, or
 *         HWTD_E_INVALID  a pointer is NULL;
 *         HWTD_E_STATE    times are not kept.
 * Since:  0.1
 */
HWTD_API int hwtd_calls_times(const struct hwtd_calls *calls,
    uint32_t function, struct hwtd_call_times *out);

/**
 * Stop following calls; the trace stays open.
 *
 * @param[in] calls  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_calls_close(struct hwtd_calls *calls);

/**
 * Short stable names, for instance "tail", "return".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_call_type_name(uint32_t type);
HWTD_API const char *hwtd_call_end_name(uint32_t end);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_CALLS_H */
