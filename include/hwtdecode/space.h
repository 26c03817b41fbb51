/*
 * Address spaces: which code lies where, at every moment of a trace.
 */
#ifndef HWTDECODE_SPACE_H
#define HWTDECODE_SPACE_H

#ifndef HWTD_CDEF
#include <hwtdecode/trace.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_maps;

/** A moment: bytes of a stream, a time, or both.  Nothing: the end. */
struct hwtd_position {
	/** sizeof(struct hwtd_position). */
	size_t size;
	/** HWTD_POSITION_* bits: which fields are known. */
	uint32_t flags;
	/** Stream that `stream_off` speaks of. */
	uint32_t stream;
	/** Bytes from the start of the raw stream. */
	uint64_t stream_off;
	/** ns on the clock of the trace. */
	uint64_t time_ns;
};

#define HWTD_POSITION_OFFSET 0x1
#define HWTD_POSITION_TIME 0x2
/** The start of the trace, before all records. */
#define HWTD_POSITION_START 0x4

/** What lies at an address. */
struct hwtd_mapping {
	size_t size;
	/** Process, or HWTD_NO_ID where it holds for more than one. */
	uint32_t pid;
	/** HWTD_MAPPINGF_* bits. */
	uint32_t flags;
	/** Section id, or HWTD_NO_ID: its bytes are not known. */
	uint32_t section;
	/** Image id, or HWTD_NO_ID. */
	uint32_t image;
	/** Virtual address of the first byte. */
	uint64_t address;
	/** Bytes; 0 stands for 2^64. */
	uint64_t length;
	/** Byte offset in the image's file of the first byte. */
	uint64_t file_off;
	/** Name of the image, or "".  Borrowed while the trace is open. */
	const char *path;
};

#define HWTD_MAPPINGF_KERNEL 0x1
#define HWTD_MAPPINGF_ANONYMOUS 0x2
#define HWTD_MAPPINGF_JIT 0x4
/** Holds in every address space, unless something else lies there. */
#define HWTD_MAPPINGF_EVERYWHERE 0x8
/** Of a kernel module: what its kernel wrote there is not known. */
#define HWTD_MAPPINGF_UNKNOWN 0x10

/**
 * What lies at an address of a process at a moment.
 *
 * Stock hwt(4) records have neither times nor exact places, so that several
 * mappings can be possible.  The newest is told then.
 *
 * @param[in]  trace    Sealed.
 * @param[in]  pid      Process id; HWTD_NO_ID: not known.  Then, as when code
 *                      is decoded, the only process that records speak of, or
 *                      if there are more, the kernel and what holds for all.
 * @param[in]  at       NULL: the end of the trace.
 * @param[in]  address  Virtual address.
 * @param[out] out      `size` set by the caller.
 *
 * @return HWTD_OK, or
 *         HWTD_E_NOT_FOUND  nothing is mapped there, or the trace has no such
 *                           stream as `at` names;
 *         HWTD_E_STATE      ambiguous, `out` is the newest; or the trace is not
 *                           sealed, then `out` has neither section nor image;
 *         HWTD_E_INVALID    a pointer is NULL or a flag not known;
 *         HWTD_E_TOO_NEW    `at` has fields that this library does not know.
 *
 * Lives:  `path` is borrowed while the trace is open.
 * Since:  0.1
 */
HWTD_API int hwtd_space_lookup(const struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, uint64_t address,
    struct hwtd_mapping *out);

/**
 * The same for a context, for instance that of a row: also of a virtual machine
 * or a hypervisor.
 *
 * @param[in]  trace    Sealed.
 * @param[in]  who      `pid`, `vmid`, `level` and the flags that say what is
 *                      known count.  Machine 0 is the host, unless records
 *                      speak of it.
 * @param[in]  at       NULL: the end of the trace.
 * @param[in]  address  Virtual address.
 * @param[out] out      `size` set by the caller.
 *
 * @return As above.
 * Since:  0.1
 */
HWTD_API int hwtd_space_lookup_context(const struct hwtd_trace *trace,
    const struct hwtd_exec_context *who, const struct hwtd_position *at,
    uint64_t address, struct hwtd_mapping *out);

/**
 * All mappings of a process at a moment, by address; with those of the kernel
 * and those that hold everywhere.
 *
 * @param[in]  trace     Sealed.
 * @param[in]  pid       Process id; HWTD_NO_ID: the kernel and what holds
 *                       everywhere alone.
 * @param[in]  at        NULL: the end of the trace.
 * @param[out] maps_out  Set on success.
 * @param[out] err       Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (not sealed),
 *         HWTD_E_NOT_FOUND (the stream of `at`), HWTD_E_NOMEM, HWTD_E_LIMIT,
 *         HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_maps_close().  Keeps the trace alive.
 * Since:  0.1
 */
HWTD_MUST int hwtd_maps_open(struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, struct hwtd_maps **maps_out,
    struct hwtd_error *err);

/** Only what the space itself has mapped. */
#define HWTD_MAPS_OWN 0x1

/**
 * The same for a context; see hwtd_space_lookup_context().  Without a process
 * it is the kernel, that of its machine.  To list many processes, list once
 * what holds for all, HWTD_NO_ID above, then the own of each.
 *
 * @param[in]  trace     Sealed.
 * @param[in]  who       See hwtd_space_lookup_context().
 * @param[in]  flags     HWTD_MAPS_*.
 * @param[in]  at        NULL: the end of the trace.
 * @param[out] maps_out  Set on success.
 * @param[out] err       Filled on failure.  May be NULL.
 *
 * @return As above.
 * Since:  0.1
 */
HWTD_MUST int hwtd_maps_open_context(struct hwtd_trace *trace,
    const struct hwtd_exec_context *who, uint32_t flags,
    const struct hwtd_position *at, struct hwtd_maps **maps_out,
    struct hwtd_error *err);

/**
 * The next mapping.
 *
 * @param[in,out] maps  Of one thread at a time.
 * @param[out]    out   `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID.
 *
 * Lives:  `path` is borrowed while the trace is open.
 * Since:  0.1
 */
HWTD_API int hwtd_maps_read(struct hwtd_maps *maps, struct hwtd_mapping *out);

/**
 * Give up a list.
 *
 * @param[in] maps  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_maps_close(struct hwtd_maps *maps);

/** A process that records speak of. */
struct hwtd_process {
	size_t size;
	uint32_t pid;
	/** HWTD_NO_ID: not known. */
	uint32_t parent;
	/** Programs it started while the trace was made. */
	uint32_t n_execs;
	/** Virtual machine that it runs in; HWTD_NO_ID: the host. */
	uint32_t vmid;
	/** Name of its last program or main thread, or "".  Borrowed. */
	const char *name;
};

/**
 * The processes that records speak of, by pid.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID, HWTD_E_STATE.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_process(const struct hwtd_trace *trace, size_t index,
    struct hwtd_process *out);

/**
 * The virtual machines that records speak of, in their order.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID, HWTD_E_STATE.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_machine(const struct hwtd_trace *trace, size_t index,
    uint32_t *vmid_out);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_SPACE_H */
