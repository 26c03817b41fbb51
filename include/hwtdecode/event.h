/*
 * The event stream: what the hardware recorded, as rows, whatever the
 * hardware was.
 *
 * Rows are plain data of 64 bytes.  "Unknown" is a presence bit and never a
 * value: 0 is a valid address and a valid time.  What does not fit in a row is
 * a row of the batch's detail array for that kind, indexed by `value`.
 *
 * Order: (time_ns, stream, stream_off).  Rows of a stream keep its order.
 * Within a segment (see hwtd_events_open()) time never goes back, and from one
 * segment to the next only if the hardware's clock does.  Streams without a
 * clock come last, by id.  Records, where asked for, come before the rows from
 * which on they hold, see HWTD_EV_RECORD.
 */
#ifndef HWTDECODE_EVENT_H
#define HWTDECODE_EVENT_H

#ifndef HWTD_CDEF
#include <hwtdecode/sample.h>
#include <hwtdecode/trace.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_events;

/** What a row says.  Numbers are pinned for ever. */
enum hwtd_event_kind {
	HWTD_EV_UNKNOWN = 0,
	/**
	 * Instructions at consecutive addresses [ip, ip + bytes), `insns` of
	 * them.  A block ends after every executed branch instruction, taken
	 * or not (direct jumps and calls included), before another event, at
	 * a change of section or mode, and at a segment boundary (see
	 * hwtd_events_open()).  `branch` says how it ended, `target` where
	 * execution went; HWTD_EVF_TAKEN is set when that is not ip + bytes.
	 */
	HWTD_EV_BLOCK = 1,
	/** One instruction at `ip`, `bytes` long; otherwise as a block. */
	HWTD_EV_INSN = 2,
	/**
	 * Interrupt, exception or abort at `ip`, going to `target`.  With
	 * HWTD_EVF_VALUE `value` is a detail hwtd_async; without `target` the
	 * row only tells what is known of a transfer in the rows around it.
	 */
	HWTD_EV_ASYNC = 3,
	/** Tracing went on at `ip`.  HWTD_EVF_RESUMED: where it had ended. */
	HWTD_EV_ENABLE = 4,
	/**
	 * Tracing went off.  `target` is where execution went, if recorded.
	 * With HWTD_EVF_ASYNC `ip` is the instruction that did not execute.
	 */
	HWTD_EV_DISABLE = 5,
	/** Bytes or time that gave nothing.  `value`: detail hwtd_gap. */
	HWTD_EV_GAP = 6,
	/** What runs changed.  `context` is the new one; `ip` from where on. */
	HWTD_EV_CONTEXT = 7,
	/** Execution mode.  `value` is hwtd_mode bits; the ISA is in flags. */
	HWTD_EV_MODE = 8,
	/**
	 * A time stamp of the hardware; only where `kinds` names this kind.
	 * `value` is the raw count.
	 */
	HWTD_EV_TIME = 9,
	/** Cycles since the row of this kind before, in `value`. */
	HWTD_EV_CYCLES = 10,
	/** Core frequency.  `value` is core clocks per bus clock (ratio). */
	HWTD_EV_FREQUENCY = 11,
	/** Software or hardware marker.  `value`: detail hwtd_marker. */
	HWTD_EV_MARKER = 12,
	/** Power state.  `value`: detail hwtd_power. */
	HWTD_EV_POWER = 13,
	/**
	 * A sample of Arm SPE: one operation, at `ip`.  `value`: detail
	 * hwtd_sample.  Of a branch `branch` is told as far as the hardware does,
	 * or else its instruction, if its code is there; HWTD_EVF_TAKEN if it was
	 * taken, and `target` then.  It says nothing of
	 * what was executed before and behind it.
	 */
	HWTD_EV_SAMPLE = 14,
	/**
	 * A record of the trace, once; only where `kinds` names this kind.
	 * `value` is its number for hwtd_trace_record(), `ip` its address,
	 * `context` holds its process, thread and CPU, `stream` and
	 * `stream_off` are what it names, else HWTD_NO_ID and 0.
	 *
	 * With time it comes before the rows of that time, with time 0 before
	 * all rows.  Without time, but with a byte of a stream, it comes in
	 * that stream, before the rows at or after the byte.  With neither it
	 * comes right after the record it follows, or first.  It has no time
	 * but its own.
	 */
	HWTD_EV_RECORD = 15
};

/** Number of kinds; kinds lie in [0, HWTD_EV_KINDS). */
#define HWTD_EV_KINDS 16

/**
 * How a block ended, or what a single instruction is.
 *
 * In A32 and T32 other branches than direct ones may have a condition too: they
 * keep their class, and without HWTD_EVF_TAKEN execution went on behind them.
 */
enum hwtd_branch {
	/** No branch: the block ended for another reason. */
	HWTD_BRANCH_NONE = 0,
	/** A direct branch with a condition; in A32 and T32 be it a call. */
	HWTD_BRANCH_CONDITIONAL = 1,
	HWTD_BRANCH_JUMP = 2,
	HWTD_BRANCH_INDIRECT_JUMP = 3,
	HWTD_BRANCH_CALL = 4,
	HWTD_BRANCH_INDIRECT_CALL = 5,
	HWTD_BRANCH_RETURN = 6,
	/** System call, software interrupt, VM entry, far call. */
	HWTD_BRANCH_FAR_CALL = 7,
	/** Return from interrupt or system call, VM resume, far return. */
	HWTD_BRANCH_FAR_RETURN = 8,
	HWTD_BRANCH_FAR_JUMP = 9,
	/**
	 * The trace does not tell the way: some `insns` instructions were
	 * executed from `ip` on, up to `target`; `bytes` is 0.  0 `insns`: how
	 * many is not known either.
	 */
	HWTD_BRANCH_NO_PATH = 10
};

/** `time_ns` is known. */
#define HWTD_EVF_TIME 0x0001
/** `ip` is known. */
#define HWTD_EVF_IP 0x0002
/** `target` is known. */
#define HWTD_EVF_TARGET 0x0004
/** `value` is known. */
#define HWTD_EVF_VALUE 0x0008
/**
 * `time_ns` is not the time of a timing packet at this row: it was carried
 * over from an earlier row, or timing packets were lost.
 */
#define HWTD_EVF_TIME_ESTIMATED 0x0010
/** Execution did not go on at ip + bytes. */
#define HWTD_EVF_TAKEN 0x0020
/** The row restates what holds (at a sync point); nothing happened here. */
#define HWTD_EVF_STATUS 0x0040
/** DISABLE: by an interrupt, exception or the like, at `ip`. */
#define HWTD_EVF_ASYNC 0x0080
/** Executed in a transaction whose outcome is not known at this row. */
#define HWTD_EVF_SPECULATIVE 0x0100
/** ENABLE: at the address where tracing had gone off. */
#define HWTD_EVF_RESUMED 0x0200
/**
 * DISABLE: the hardware stopped by its own rule (TraceStop).  This row comes
 * behind the one of tracing off; without that it has the last known address as
 * `target`.
 */
#define HWTD_EVF_STOPPED 0x0400
/** `section` is known. */
#define HWTD_EVF_SECTION 0x0800
/** The instruction set, an hwtd_isa, is (flags >> 12) & 15. */
#define HWTD_EVF_ISA_SHIFT 12
#define HWTD_EVF_ISA_MASK 0xf000

/** Instruction sets. */
enum hwtd_isa {
	HWTD_ISA_UNKNOWN = 0,
	HWTD_ISA_X86_16 = 1,
	HWTD_ISA_X86_32 = 2,
	HWTD_ISA_X86_64 = 3,
	HWTD_ISA_A32 = 4,
	HWTD_ISA_T32 = 5,
	HWTD_ISA_T32EE = 6,
	HWTD_ISA_A64 = 7
};

/** Bits of `value` in a row of kind HWTD_EV_MODE. */
#define HWTD_MODE_TRANSACTION 0x1
/** The transaction was aborted; its effects were undone. */
#define HWTD_MODE_ABORTED 0x2
/** The row speaks of the transaction, not of the instruction set. */
#define HWTD_MODE_IS_TRANSACTION 0x4
/** Interrupts are enabled (only where the hardware says so). */
#define HWTD_MODE_INTERRUPTS 0x8
#define HWTD_MODE_HAS_INTERRUPTS 0x10

/** One row. */
struct hwtd_event {
	/** ns on the clock of the trace. */
	uint64_t time_ns;
	/** Virtual address. */
	uint64_t ip;
	/** Virtual address. */
	uint64_t target;
	/**
	 * Bytes from the start of the raw stream to where the decoder stood
	 * when it had the row: at or behind the end of the packets that the
	 * row needed, by as much as the engine reads ahead.  Never goes back
	 * within a stream, but for records.  The bytes of a gap are in its
	 * detail.
	 */
	uint64_t stream_off;
	/** By kind. */
	uint64_t value;
	/** Instructions. */
	uint32_t insns;
	/** Bytes of code. */
	uint32_t bytes;
	/** Stream id, or HWTD_NO_ID. */
	uint32_t stream;
	/** See hwtd_trace_exec_context(). */
	uint32_t context;
	/** See hwtd_trace_section(); valid with HWTD_EVF_SECTION. */
	uint32_t section;
	/** An hwtd_event_kind. */
	uint8_t kind;
	/** An hwtd_branch. */
	uint8_t branch;
	/** HWTD_EVF_* bits and the ISA. */
	uint16_t flags;
};

/** Why bytes gave nothing.  Numbers are pinned for ever. */
enum hwtd_gap_reason {
	HWTD_GAP_UNKNOWN = 0,
	/** Bytes before the first point where decoding can start. */
	HWTD_GAP_UNSYNCED = 1,
	/** The hardware dropped packets (overflow); no byte is missing here. */
	HWTD_GAP_OVERFLOW = 2,
	/** Bytes that are no packet, or a packet that cannot stand here. */
	HWTD_GAP_BAD_PACKET = 3,
	/** Packets and code contradict each other. */
	HWTD_GAP_BAD_FLOW = 4,
	/** No image holds the address; `addr` says which. */
	HWTD_GAP_NO_CODE = 5,
	/** The bytes at `addr` are no instruction. */
	HWTD_GAP_BAD_CODE = 6,
	/** The code loops for ever without a packet. */
	HWTD_GAP_ENDLESS_LOOP = 7,
	/** Several images could lie at `addr`; the trace does not decide. */
	HWTD_GAP_AMBIGUOUS_MAPPING = 8,
	/** Data was lost here, or the last packet is cut off. */
	HWTD_GAP_TRUNCATED = 9,
	/** The trace file is damaged; `file_off` says where. */
	HWTD_GAP_FILE_DAMAGED = 10,
	/** No decoder for this kind of stream in this build. */
	HWTD_GAP_UNSUPPORTED = 11,
	/** The decoding library failed in a way of its own. */
	HWTD_GAP_ENGINE = 12,
	/** A limit of the context was reached. */
	HWTD_GAP_LIMIT = 13
};

#define HWTD_GAP_REASONS 14

/** Detail of HWTD_EV_GAP. */
struct hwtd_gap {
	/** An hwtd_gap_reason. */
	uint32_t reason;
	/** HWTD_GAPF_* bits: which fields are known. */
	uint32_t flags;
	/** Bytes of the stream: [first, end).  Empty for lost hardware data. */
	uint64_t first;
	uint64_t end;
	/** The last address that was decoded before. */
	uint64_t ip_before;
	/** The address at which decoding goes on. */
	uint64_t ip_after;
	/** NO_CODE, BAD_CODE, AMBIGUOUS_MAPPING: the address. */
	uint64_t addr;
	/** Time at the start and at the end, ns. */
	uint64_t time_before_ns;
	uint64_t time_after_ns;
	/** FILE_DAMAGED: bytes of the file, [file_off, file_off+file_bytes). */
	uint64_t file_off;
	uint64_t file_bytes;
	/** One line about the cause, lower case, NUL-terminated. */
	char text[64];
};

#define HWTD_GAPF_IP_BEFORE 0x1
#define HWTD_GAPF_IP_AFTER 0x2
#define HWTD_GAPF_ADDR 0x4
#define HWTD_GAPF_TIME_BEFORE 0x8
#define HWTD_GAPF_TIME_AFTER 0x10
#define HWTD_GAPF_FILE 0x20
/** Of an earlier file than this one: see HWTD_DAMAGEF_EARLIER_FILE. */
#define HWTD_GAPF_EARLIER_FILE 0x40

/** Detail of HWTD_EV_MARKER. */
struct hwtd_marker {
	/** An hwtd_marker_source. */
	uint32_t source;
	/** Bytes of payload that count: 0 to 8. */
	uint32_t size;
	uint64_t payload;
	/** STM master and channel, ITM port; 0 elsewhere. */
	uint32_t master;
	uint32_t channel;
	/** HWTD_MARKERF_* bits. */
	uint32_t flags;
	uint32_t reserved;
};

/** TRIGGER: others, which are not told, came at the same place. */
#define HWTD_MARKERF_MULTIPLE 0x1
/** EVENT, STM: a trigger. */
#define HWTD_MARKERF_TRIGGER 0x2
/** STM: the packet is marked. */
#define HWTD_MARKERF_MARKED 0x4
/** STM: master and channel are not known. */
#define HWTD_MARKERF_NO_CHANNEL 0x8
/** STM: the payload is an error code: of the STM, of the master. */
#define HWTD_MARKERF_GLOBAL_ERROR 0x10
#define HWTD_MARKERF_MASTER_ERROR 0x20
/** STM: the payload is the frequency of the timestamps, in Hz. */
#define HWTD_MARKERF_FREQUENCY 0x40
/** ITM: of the DWT, `channel` is the discriminator of the packet. */
#define HWTD_MARKERF_HARDWARE 0x80

enum hwtd_marker_source {
	HWTD_MARKER_UNKNOWN = 0,
	HWTD_MARKER_PTWRITE = 1,
	/** Intel PT maintenance packet. */
	HWTD_MARKER_MNT = 2,
	HWTD_MARKER_STM = 3,
	HWTD_MARKER_ITM = 4,
	HWTD_MARKER_EVENT = 5,
	/** Intel PT trigger; the payload is the bit vector of triggers. */
	HWTD_MARKER_TRIGGER = 6,
	/** Arm ITE; `channel` is the exception level. */
	HWTD_MARKER_INSTRUMENTATION = 7
};

/** Detail of HWTD_EV_POWER. */
struct hwtd_power {
	/** An hwtd_power_what. */
	uint32_t what;
	/** MWAIT: hints (EAX). */
	uint32_t hints;
	/** MWAIT: extensions (ECX). */
	uint32_t extensions;
	/** ENTRY: thread C-state; EXIT: core C-state at the wake. */
	uint8_t state;
	/** ENTRY: sub C-state; EXIT: deepest core C-state. */
	uint8_t sub_state;
	/** ENTRY: 1 = started by hardware. */
	uint8_t by_hardware;
	/** EXIT: 1 interrupt, 2 store, 4 autonomous. */
	uint8_t wake;
};

enum hwtd_power_what {
	HWTD_POWER_UNKNOWN = 0,
	/** Execution stopped (EXSTOP). */
	HWTD_POWER_STOP = 1,
	HWTD_POWER_MWAIT = 2,
	HWTD_POWER_ENTRY = 3,
	HWTD_POWER_EXIT = 4
};

/** Detail of HWTD_EV_ASYNC where the trace says more than from and to. */
struct hwtd_async {
	/** An hwtd_async_type. */
	uint32_t type;
	/** HWTD_ASYNCF_* bits: which fields are known. */
	uint32_t flags;
	/** Vector (x86) or exception number (Arm). */
	uint32_t number;
	uint32_t reserved;
	/** Fault address (CR2), if the trace carries it. */
	uint64_t fault_addr;
	/** Where the handler will return to, if the trace carries it. */
	uint64_t return_addr;
	/** VM exits: reason and qualification, if the trace carries them. */
	uint64_t exit_reason;
	uint64_t exit_qualification;
};

/**
 * What happened.  Those from RETURN on are done by an instruction: their rows
 * only say so, the instruction is in a row of its own.
 */
enum hwtd_async_type {
	HWTD_ASYNC_UNKNOWN = 0,
	HWTD_ASYNC_INTERRUPT = 1,
	HWTD_ASYNC_EXCEPTION = 2,
	HWTD_ASYNC_TRANSACTION_ABORT = 3,
	HWTD_ASYNC_VM_EXIT = 4,
	HWTD_ASYNC_SYSTEM_MANAGEMENT = 5,
	HWTD_ASYNC_STARTUP = 6,
	HWTD_ASYNC_INIT = 7,
	HWTD_ASYNC_SHUTDOWN = 8,
	HWTD_ASYNC_USER_INTERRUPT = 9,
	HWTD_ASYNC_RETURN = 32,
	HWTD_ASYNC_USER_RETURN = 33,
	HWTD_ASYNC_SYSTEM_MANAGEMENT_RETURN = 34,
	HWTD_ASYNC_VM_ENTRY = 35,
	HWTD_ASYNC_SOFTWARE_INTERRUPT = 36,
	HWTD_ASYNC_SYSTEM_CALL = 37
};

#define HWTD_ASYNCF_NUMBER 0x1
#define HWTD_ASYNCF_FAULT_ADDR 0x2
#define HWTD_ASYNCF_RETURN_ADDR 0x4
#define HWTD_ASYNCF_EXIT_REASON 0x8
#define HWTD_ASYNCF_EXIT_QUALIFICATION 0x10

/**
 * A batch of rows.  The caller sets size, events, stride and cap; a read sets
 * the rest.  Detail arrays are borrowed until the next call on the cursor.
 */
struct hwtd_batch {
	/** sizeof(struct hwtd_batch) as the caller knows it. */
	size_t size;
	/** Shape [cap], `stride` bytes apart; the caller's. */
	struct hwtd_event *events;
	/** sizeof(struct hwtd_event) as the caller knows it; by 8. */
	size_t stride;
	size_t cap;
	/** Rows stored; the room behind them may have been used. */
	size_t n;

	/** Details, each array `..._stride` bytes apart.  Borrowed. */
	const struct hwtd_gap *gaps;
	size_t gap_stride;
	size_t n_gaps;
	const struct hwtd_marker *markers;
	size_t marker_stride;
	size_t n_markers;
	const struct hwtd_power *powers;
	size_t power_stride;
	size_t n_powers;
	const struct hwtd_async *asyncs;
	size_t async_stride;
	size_t n_asyncs;
	const struct hwtd_sample *samples;
	size_t sample_stride;
	size_t n_samples;
};

/** Which rows a cursor makes of code. */
enum hwtd_level {
	HWTD_LEVEL_BLOCK = 0,
	HWTD_LEVEL_INSN = 1
};

/** Half-open range [start, end). */
struct hwtd_range {
	uint64_t start;
	uint64_t end;
};

/** Options of a cursor.  All zero means defaults. */
struct hwtd_events_options {
	/** sizeof(struct hwtd_events_options). */
	size_t size;
	/** An hwtd_level. */
	uint32_t level;
	/**
	 * Threads that decode, also one stream: segments at the same time.
	 * The caller's is one of them.  Rows that are ahead of it are kept,
	 * about 3 MiB for each, or up to 13 if few are code; at most 256 MiB.
	 * 0 or 1: the caller's alone.
	 */
	uint32_t jobs;
	/**
	 * Bit (1 << kind) for each kind wanted.  0: all but RECORD and
	 * TIME.  For RECORD alone streams are decoded only as far as it takes to place
	 * those that name a byte and no time, or if the cursor is strict.
	 */
	uint32_t kinds;
	/** HWTD_DECODE_* bits. */
	uint32_t flags;
	/** Only streams and records of these CPUs.  NULL: all. */
	const uint32_t *cpus;
	size_t n_cpus;
	/** Only these thread ids.  NULL: all. */
	const uint32_t *tids;
	size_t n_tids;
	/** Only these process ids.  NULL: all. */
	const uint32_t *pids;
	size_t n_pids;
	/** Only rows with a time in one of these, ns.  NULL: all. */
	const struct hwtd_range *times_ns;
	size_t n_times;
	/** Only rows whose code, or record, touches one.  NULL: all. */
	const struct hwtd_range *addresses;
	size_t n_addresses;
	/**
	 * Name of the engine, for instance "libipt", for streams of its
	 * technology.  NULL: the default one of each.
	 */
	const char *engine;
	/** Only these streams.  NULL: all. */
	const uint32_t *streams;
	size_t n_streams;
};

/** The first gap ends the cursor with HWTD_E_CORRUPT. */
#define HWTD_DECODE_STRICT 0x1

/**
 * What a cursor has seen so far.  Filters do not change it, but for `kinds` of
 * RECORD alone, which may leave streams unread.
 */
struct hwtd_stats {
	/** sizeof(struct hwtd_stats) as the caller knows it. */
	size_t size;
	/** Raw bytes of all selected streams read so far. */
	uint64_t bytes;
	/** Those of them inside gaps. */
	uint64_t gap_bytes;
	/** Rows of each kind made (before filters). */
	uint64_t kinds[HWTD_EV_KINDS];
	/** Gaps by hwtd_gap_reason. */
	uint64_t gaps[HWTD_GAP_REASONS];
	/** Stream bytes in gaps by hwtd_gap_reason. */
	uint64_t gap_bytes_by_reason[HWTD_GAP_REASONS];
	uint64_t insns;
	/** Blocks as HWTD_EV_BLOCK defines them, at either level. */
	uint64_t blocks;
	/** First and last known time of streams, ns; valid if has_time. */
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t has_time;
	uint32_t reserved;
	/** File bytes in gaps of reason FILE_DAMAGED. */
	uint64_t file_gap_bytes;
};

/**
 * Open a cursor over the events of a sealed trace.
 *
 * Streams are decoded in segments of about 64 KiB that start at sync points
 * of the trace and depend on nothing before them.  Reading on, seeking and
 * decoding with several jobs therefore give the same rows.  At the start of a
 * segment rows with HWTD_EVF_STATUS restate mode and context.
 *
 * @param[in]  trace   A sealed trace; kept alive by the cursor.
 * @param[in]  opts    NULL: defaults.  Copied.
 * @param[out] ev_out  Set on success.
 * @param[out] err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID    a pointer is NULL or an option is out of range;
 *         HWTD_E_STATE      the trace is not sealed;
 *         HWTD_E_NOT_FOUND  a stream, or an engine of that name, is not there;
 *         HWTD_E_NOMEM      out of memory;
 *         HWTD_E_TOO_NEW    `opts` has fields that this library does not know.
 *
 * Lives:  owned; close with hwtd_events_close().  One thread at a time.
 * Source: src/README.md, "Segments".
 * Since:  0.1
 */
HWTD_MUST int hwtd_events_open(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct hwtd_events **ev_out,
    struct hwtd_error *err);

/**
 * Read the next rows, oldest first.
 *
 * A short read is not the end, nor is one without rows, where filters let
 * nothing pass in what was decoded: only HWTD_END says that no row is left.
 * Damage in the trace is no error; it arrives as rows of kind HWTD_EV_GAP.
 *
 * @param[in,out] ev     Open cursor.  One thread at a time.
 * @param[in,out] batch  See struct hwtd_batch.
 * @param[out]    err    Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END, or
 *         HWTD_E_INVALID  no room, or `stride` is under 64 or not by 8;
 *         HWTD_E_CORRUPT  HWTD_DECODE_STRICT and the trace has a gap, which
 *                         begins at byte err->offset of its stream;
 *         HWTD_E_STATE    seeking failed: the cursor must be closed or sought;
 *         HWTD_E_NOMEM    out of memory; the cursor must be closed or sought;
 *         HWTD_E_IO       a read failed; see err->sys_errno.
 *
 * Units:  see struct hwtd_event.
 * Lives:  `batch->events` is the caller's; details are borrowed until the
 *         next call on `ev`.
 * Since:  0.1
 */
HWTD_MUST int hwtd_events_read(struct hwtd_events *ev,
    struct hwtd_batch *batch, struct hwtd_error *err);

/**
 * Go to the first row at or after a time.
 *
 * Time 0 is the start: all rows are read again.  From another time on a stream
 * is read from its first row at or after that time; rows before it that have no
 * time are not.  So of a stream with a clock whose packets tell no time nothing
 * is read, but at time 0.  Streams without a clock are read from their start
 * again.  Records are read from that time on; one without time, if the row that
 * it comes before is.
 *
 * @param[in,out] ev       Open cursor.
 * @param[in]     time_ns  On the clock of the trace.
 * @param[out]    err      Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_IO.
 * Since:  0.1
 */
HWTD_MUST int hwtd_events_seek_ns(struct hwtd_events *ev, uint64_t time_ns,
    struct hwtd_error *err);

/**
 * Go to the first row of a stream at or after an offset; of this stream only.
 * Of records those are read that name a byte of it at or after the offset.
 *
 * @param[in,out] ev          Open cursor; afterwards it reads one stream.
 * @param[in]     stream      Stream id.
 * @param[in]     stream_off  Bytes from the start of the raw stream.
 * @param[out]    err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or HWTD_E_INVALID, HWTD_E_NOT_FOUND, HWTD_E_NOMEM,
 *         HWTD_E_IO.
 * Since:  0.1
 */
HWTD_MUST int hwtd_events_seek_offset(struct hwtd_events *ev, uint32_t stream,
    uint64_t stream_off, struct hwtd_error *err);

/**
 * What the cursor has seen since it was opened or sought.
 *
 * @param[in]     ev     Open cursor.
 * @param[in,out] stats  `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_events_stats(const struct hwtd_events *ev,
    struct hwtd_stats *stats);

/**
 * Close a cursor; its trace stays open.
 *
 * @param[in] ev  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_events_close(struct hwtd_events *ev);

/** An implementation of a decoder. */
struct hwtd_engine {
	size_t size;
	/** An hwtd_tech. */
	uint32_t tech;
	/** 1: taken where the options name none. */
	uint32_t is_default;
	/** Name for hwtd_events_options.  Static storage. */
	const char *name;
};

/**
 * The engines of this build.
 *
 * @param[in]     index  Counts from 0.
 * @param[in,out] out    `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END when `index` is past the last one, or
 *         HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_engine(size_t index, struct hwtd_engine *out);

/**
 * Short stable names, for instance "block".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_event_kind_name(uint32_t kind);
HWTD_API const char *hwtd_branch_name(uint32_t branch);
HWTD_API const char *hwtd_isa_name(uint32_t isa);
HWTD_API const char *hwtd_gap_reason_name(uint32_t reason);
HWTD_API const char *hwtd_marker_source_name(uint32_t source);
HWTD_API const char *hwtd_power_what_name(uint32_t what);
HWTD_API const char *hwtd_async_type_name(uint32_t type);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_EVENT_H */
