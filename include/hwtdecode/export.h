/*
 * Events, calls, packets and records as columns: an Arrow C stream, which pyarrow,
 * polars, DuckDB, pandas and others read without copies.  Nothing of Arrow is
 * needed to build or to use the library.
 */
#ifndef HWTDECODE_EXPORT_H
#define HWTDECODE_EXPORT_H

#ifndef HWTD_CDEF
#include <hwtdecode/calls.h>
#include <hwtdecode/packet.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/*
 * The structs that Arrow's C interfaces define, under the guards that they
 * name, so that other headers may define them too.
 *
 * Source: Apache Arrow, "The Arrow C data interface", "The Arrow C stream
 *         interface".
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/*
 * Columns, each of the name in lower case: HWTD_COL_TIME_NS is "time_ns".
 * Those of whole details, at the end, are named where they are explained.
 * Numbers are pinned for ever; the order in the schema is the library's.
 */
#define HWTD_COL_TIME_NS 0x1
#define HWTD_COL_STREAM 0x2
#define HWTD_COL_STREAM_OFF 0x4
/** Text, as hwtd_event_kind_name(). */
#define HWTD_COL_KIND 0x8
#define HWTD_COL_IP 0x10
#define HWTD_COL_TARGET 0x20
#define HWTD_COL_INSNS 0x40
#define HWTD_COL_BYTES 0x80
/** Text, as hwtd_branch_name(); null in rows that are no code. */
#define HWTD_COL_BRANCH 0x100
/** Null in rows that are no code or whose target is not known. */
#define HWTD_COL_TAKEN 0x200
/** Text, as hwtd_isa_name(). */
#define HWTD_COL_ISA 0x400
/** Of rows without a detail; details are columns of their own. */
#define HWTD_COL_VALUE 0x800
/** Id for hwtd_trace_section(). */
#define HWTD_COL_SECTION 0x1000
/** Id for hwtd_trace_exec_context(). */
#define HWTD_COL_CONTEXT 0x2000

/* Flags of the row, true or false. */
/** Null in rows without time. */
#define HWTD_COL_TIME_ESTIMATED 0x4000
#define HWTD_COL_STATUS 0x8000
#define HWTD_COL_SPECULATIVE 0x10000
#define HWTD_COL_ASYNC 0x20000
#define HWTD_COL_RESUMED 0x40000
#define HWTD_COL_STOPPED 0x80000

/* What is known of the row's context: who executed. */
#define HWTD_COL_PID 0x100000
#define HWTD_COL_TID 0x200000
#define HWTD_COL_CPU 0x400000
#define HWTD_COL_CR3 0x800000
#define HWTD_COL_VMCS 0x1000000
#define HWTD_COL_GUEST 0x2000000
#define HWTD_COL_LEVEL 0x4000000
#define HWTD_COL_SECURITY 0x8000000
#define HWTD_COL_CONTEXTIDR 0x10000000
#define HWTD_COL_VMID 0x20000000

/* All columns of a kind of detail; null in rows of other kinds. */
/** "mode_" transaction, aborted, interrupts: bits of `value`. */
#define HWTD_COL_MODES 0x100000000
/**
 * "gap_" reason (text, as hwtd_gap_reason_name()), first, end, ip_before,
 * ip_after, addr, time_before_ns, time_after_ns, file_off, file_bytes, text.
 */
#define HWTD_COL_GAPS 0x200000000
/** "marker_" source (text), size, payload, master, channel, flags, multiple. */
#define HWTD_COL_MARKERS 0x400000000
/**
 * "power_" what (text), hints, extensions, state, sub_state, by_hardware,
 * wake.
 */
#define HWTD_COL_POWERS 0x800000000
/**
 * "async_" type (text), number, fault_addr, return_addr, exit_reason,
 * exit_qualification.
 */
#define HWTD_COL_ASYNCS 0x1000000000
/**
 * "sample_" and the name of the field of struct hwtd_sample (pc is `ip`); bad:
 * what belongs in no statistics; store, conditional, indirect: bits of op_flags;
 * and "_saturated" of each latency.
 */
#define HWTD_COL_SAMPLES 0x2000000000

/**
 * "function", "image", "file" and "line" of the code at `ip`: text, line a number.
 * They are looked up for each row, and are there only if they are asked for.
 */
#define HWTD_COL_NAMES 0x4000000000

/** Rows in an Arrow array that an export may be asked for, at most. */
#define HWTD_EXPORT_MAX_ROWS 0x1000000

/** Options of an export.  All zero means defaults. */
struct hwtd_export_options {
	/** sizeof(struct hwtd_export_options). */
	size_t size;
	/**
	 * Events: HWTD_COL_* bits.  0: all columns that the library has but
	 * HWTD_COL_NAMES; and 0 for rows that are no events.
	 */
	uint64_t columns;
	/**
	 * Rows in each array but the last; fewer where they have more than a
	 * GiB of text.  0: 65536.
	 */
	uint32_t rows;
	/** 0. */
	uint32_t reserved;
	/**
	 * Shape [n_names]: columns by name, in the order that they are wanted in,
	 * each once.  None: as `columns` says; else that has to be 0.
	 */
	const char *const *names;
	size_t n_names;
	/**
	 * Called with `poll_arg` while an array is made, between reads, on the
	 * thread that asked for it.  Other than 0: the stream answers EINTR, keeps
	 * what it has of the array, and goes on when it is asked again.  It must
	 * not use the stream.  NULL: none.
	 */
	int (*poll)(void *arg);
	void *poll_arg;
};

/**
 * Turn a cursor into an Arrow C stream of its rows, from where it stands on.
 *
 * Each array is a struct of the chosen columns; its fields have metadata
 * "meaning" and, where there is one, "unit".  Numbers are uint64, uint32 or
 * uint8, names of things are dictionaries of text.  What is not known is null,
 * never 0.  Values are those that hwtd_events_read() tells, in its order.
 *
 * The rows of an array are made when it is asked for, and no more of them are
 * held.  A read that fails is told by the stream once the rows before it were
 * handed out: as errno and, by get_last_error, in words; and then again by
 * each call that asks for more.  Damage of the trace is rows, as ever.
 *
 * @param[in,out] ev          Open cursor.  On success it belongs to the stream,
 *                            which closes it; on failure it is as it was.
 * @param[in]     opts        NULL: defaults.
 * @param[out]    stream_out  Set on success.
 * @param[out]    err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID  a pointer is NULL, too many rows are asked for, or a
 *                         column that there is not;
 *         HWTD_E_NOMEM    out of memory;
 *         HWTD_E_TOO_NEW  `opts` has fields or columns that this library does
 *                         not know.
 *
 * Units:  in the metadata of each field.
 * Lives:  owned; call its `release`.  Schemas and arrays live until theirs is
 *         called, also after the stream, the trace and the context were given
 *         up.  A stream is used by one thread at a time; schemas and arrays,
 *         and children that were moved out of them, by any.
 * Source: Apache Arrow, "The Arrow C stream interface".
 * Since:  0.1
 */
HWTD_MUST int hwtd_events_export(struct hwtd_events *ev,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err);

/**
 * Turn calls into an Arrow C stream of their rows, as hwtd_events_export() does
 * for events.  Columns are those of struct hwtd_call, each flag one of its own,
 * with `function`, `image`, `pid` and `tid` in place of ids.  What only an ended
 * call has is null in other rows.
 *
 * @param[in,out] calls       Open.  On success they belong to the stream, which
 *                            closes them; on failure they are as they were.
 * @param[in]     opts        NULL: defaults.
 * @param[out]    stream_out  Set on success.
 * @param[out]    err         Filled on failure.  May be NULL.
 *
 * @return as hwtd_events_export().
 *
 * Units:  in the metadata of each field.
 * Lives:  as hwtd_events_export() says.
 * Source: Apache Arrow, "The Arrow C stream interface".
 * Since:  0.1
 */
HWTD_MUST int hwtd_calls_export(struct hwtd_calls *calls,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err);

/**
 * The same of packets: the fields of struct hwtd_packet, `name` in its protocol,
 * and `text`, its fields in words.  What a kind of packet says nothing in is null.
 *
 * @param[in,out] packets     Open.  On success they belong to the stream, which
 *                            closes them; on failure they are as they were.
 * @param[in]     opts        NULL: defaults.
 * @param[out]    stream_out  Set on success.
 * @param[out]    err         Filled on failure.  May be NULL.
 *
 * @return as hwtd_events_export().
 *
 * Units:  in the metadata of each field.
 * Lives:  as hwtd_events_export() says.
 * Source: Apache Arrow, "The Arrow C stream interface".
 * Since:  0.1
 */
HWTD_MUST int hwtd_packets_export(struct hwtd_packets *packets,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err);

/**
 * The same of all records of a trace: the fields of struct hwtd_record.
 *
 * @param[in]  trace       Sealed; kept alive.
 * @param[in]  opts        NULL: defaults.
 * @param[out] stream_out  Set on success.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return as hwtd_events_export(), or HWTD_E_STATE: it is not sealed.
 *
 * Units:  in the metadata of each field.
 * Lives:  as hwtd_events_export() says.
 * Source: Apache Arrow, "The Arrow C stream interface".
 * Since:  0.1
 */
HWTD_MUST int hwtd_records_export(struct hwtd_trace *trace,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err);

/**
 * Why a stream of this library failed: what errno and a text cannot tell.
 *
 * @param[in]     stream  Open.
 * @param[in,out] out     `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END: it has not failed; or
 *         HWTD_E_INVALID  a pointer is NULL, or it is no stream of this library.
 * Since:  0.1
 */
HWTD_API int hwtd_export_failure(const struct ArrowArrayStream *stream,
    struct hwtd_error *out);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_EXPORT_H */
