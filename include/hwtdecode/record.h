/*
 * Sideband records: typed facts about programs, mappings and buffers that
 * travel beside the raw trace bytes.
 */
#ifndef HWTDECODE_RECORD_H
#define HWTDECODE_RECORD_H

#ifndef HWTD_CDEF
#include <hwtdecode/context.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/** "None" for ids of streams, CPUs, images, processes and threads. */
#define HWTD_NO_ID 0xffffffffu

/** Record types.  Own stable codes, never a kernel's. */
enum hwtd_record_type {
	/**
	 * What decoding does not need; `name` says it, `value` may be the number of
	 * its type where it comes from.
	 */
	HWTD_REC_UNKNOWN = 0,
	/**
	 * A process started a program: an address space starts anew.  `name`
	 * is the program, `addr` its load bias, `base` where its interpreter
	 * (the dynamic linker) was loaded.
	 */
	HWTD_REC_EXEC = 1,
	/**
	 * [addr, addr + len) of the process shows `image`, or the file `name`,
	 * from `file_off` on.  Without `len` or `file_off` it is an executable
	 * segment of the ELF file `name`, or all of `image` that there is.
	 */
	HWTD_REC_MMAP = 2,
	/**
	 * [addr, addr + len) is gone; without `len` the file or the mapping
	 * that starts at `addr`, else the one that lies there; without both
	 * nobody knows what.
	 */
	HWTD_REC_MUNMAP = 3,
	/** Protection of [addr, addr + len) is now `value`. */
	HWTD_REC_PROTECT = 4,
	/**
	 * The kernel, or a module of it: the ELF file `name` at `addr`.  Of
	 * Linux, which lies elsewhere at each start, `value` is where its
	 * symbol _text is, or `base` where _stext is.  The file may also be a
	 * copy of its memory (ET_CORE), for instance of /proc/kcore.
	 */
	HWTD_REC_KERNEL = 5,
	/**
	 * The whole ELF file `name` was loaded; its lowest segment at `addr`,
	 * or an object (a kernel module) as its kernel lays it out from there.
	 */
	HWTD_REC_MODULE_LOAD = 6,
	/** What was loaded at `addr` is gone. */
	HWTD_REC_MODULE_UNLOAD = 7,
	HWTD_REC_THREAD_CREATE = 8,
	HWTD_REC_THREAD_NAME = 9,
	HWTD_REC_THREAD_EXIT = 10,
	/** `value` is the parent process. */
	HWTD_REC_FORK = 11,
	HWTD_REC_EXIT = 12,
	/**
	 * From here on the CPU runs `pid`/`tid`; or, with HWTD_RECF_SWITCH_OUT, runs
	 * them no more, but the thread `value`, if that is known.
	 */
	HWTD_REC_SWITCH = 13,
	/**
	 * The write position of a buffer: `stream_off`.  The last `len` bytes before
	 * it were written since the one before; `value`: HWTD_BUFFERF_* bits.
	 */
	HWTD_REC_BUFFER = 14,
	/** `value` records or bytes were lost. */
	HWTD_REC_LOST = 15,
	/**
	 * Code at [addr, addr + len) became `image` at `file_off`; `name` is
	 * that of the function, if it is one.
	 */
	HWTD_REC_CODE = 16,
	/** `value` ticks are `time_ns`. */
	HWTD_REC_CLOCK = 17
};

#define HWTD_REC_TYPES 18

/**
 * Which fields of a record are known.  The library takes the others for 0 and
 * hands them out so, whatever was in them.
 */
#define HWTD_RECF_TIME 0x0001
#define HWTD_RECF_STREAM_OFF 0x0002
#define HWTD_RECF_ADDR 0x0004
#define HWTD_RECF_LEN 0x0008
#define HWTD_RECF_FILE_OFF 0x0010
#define HWTD_RECF_VALUE 0x0020
/** addr is of kernel space, whatever the process. */
#define HWTD_RECF_KERNEL_SPACE 0x0040
/** The mapping is not of a file. */
#define HWTD_RECF_ANONYMOUS 0x0080
/** base is known. */
#define HWTD_RECF_BASE 0x0100
/** addr holds code that was made at run time. */
#define HWTD_RECF_JIT 0x0200
/** pid, tid: the one that stops running (SWITCH). */
#define HWTD_RECF_SWITCH_OUT 0x0400
/** `vmid` is known: the record speaks of that virtual machine. */
#define HWTD_RECF_VMID 0x0800
/** addr is of a hypervisor's space (EL2), whatever the process. */
#define HWTD_RECF_HYPERVISOR_SPACE 0x1000

/**
 * `value` of HWTD_REC_BUFFER: what happened to the bytes.
 *
 * Source: perf_event_open(2), PERF_AUX_FLAG_*.
 */
/** Bytes behind these were lost, for want of room. */
#define HWTD_BUFFERF_TRUNCATED 0x1
/** A snapshot: older bytes were overwritten. */
#define HWTD_BUFFERF_OVERWRITE 0x2
/** Bytes were lost somewhere: tracing was interrupted. */
#define HWTD_BUFFERF_PARTIAL 0x4
/** Samples collided: of two operations that were chosen, one was not sampled. */
#define HWTD_BUFFERF_COLLISION 0x8

/** Bytes of a build-id at the most. */
#define HWTD_MAX_BUILD_ID 32

/** One record.  Unknown ids are HWTD_NO_ID. */
struct hwtd_record {
	/** sizeof(struct hwtd_record) as the caller knows it. */
	size_t size;
	/** An hwtd_record_type. */
	uint32_t type;
	/** HWTD_RECF_* bits. */
	uint32_t flags;
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	/** Stream that `stream_off` speaks of. */
	uint32_t stream;
	/** Image id, for mappings and code. */
	uint32_t image;
	/** Bytes of `build_id`; 0: not known. */
	uint32_t n_build_id;
	/** ns on the clock of the trace. */
	uint64_t time_ns;
	/** The record holds from this byte of the stream on. */
	uint64_t stream_off;
	/** Virtual address. */
	uint64_t addr;
	/** Bytes. */
	uint64_t len;
	/** Byte offset in the image's file. */
	uint64_t file_off;
	/** EXEC: where the interpreter was loaded. */
	uint64_t base;
	/** By type. */
	uint64_t value;
	/** Path or name; NULL when there is none. */
	const char *name;
	/** Of the file `name`. */
	uint8_t build_id[HWTD_MAX_BUILD_ID];
	/** Virtual machine; pid and tid are those of its kernel. */
	uint32_t vmid;
	uint32_t reserved;
};

/**
 * Short stable name of a record type, for instance "mmap".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_record_type_name(uint32_t type);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_RECORD_H */
