/*
 * Recording traces with hwt(4) of FreeBSD.
 *
 * A capture runs in a process of its own, which owns what the kernel allocates
 * and writes the .hwt file: the kernel frees it when that process is gone.  The
 * file is readable up to its last whole chunk at any time, also when all is
 * killed.
 *
 * Everywhere but on FreeBSD starting a capture fails with HWTD_E_UNSUPPORTED.
 */
#ifndef HWTDECODE_CAPTURE_H
#define HWTDECODE_CAPTURE_H

#ifndef HWTD_CDEF
#include <hwtdecode/trace.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_capture;

/** What is traced.  Numbers are pinned for ever. */
enum hwtd_capture_mode {
	/** The threads of a program. */
	HWTD_CAPTURE_THREADS = 1,
	/** CPUs, whatever they run. */
	HWTD_CAPTURE_CPUS = 2
};

/** Whose code.  Neither: that of programs, or of the kernel on CPUs. */
#define HWTD_CAPTURE_USER 0x1
#define HWTD_CAPTURE_KERNEL 0x2

/**
 * How Intel PT records.  All zero: branches, into buffers of 511 pages, the
 * largest that kernels are known to handle.
 *
 * Kernels of FreeBSD itself record no times: what needs a kernel that does
 * (5BSD) is refused elsewhere.
 */
struct hwtd_capture_pt {
	/** sizeof(struct hwtd_capture_pt). */
	size_t size;
	/** Of each thread or CPU; whole pages.  0: 511 pages. */
	uint64_t buffer_bytes;
	/** HWTD_CAPTURE_USER, HWTD_CAPTURE_KERNEL or both. */
	uint32_t who;
	/** HWTD_CAPTURE_PTF_* bits. */
	uint32_t flags;
	/** IA32_RTIT_CTL.MTCFreq, CycThresh and PSBFreq; 5BSD only. */
	uint8_t mtc_freq;
	uint8_t cyc_threshold;
	uint8_t psb_freq;
	uint8_t reserved;
	uint32_t reserved2;
};

/** No branches: PTWRITE and times only. */
#define HWTD_CAPTURE_PTF_NO_BRANCHES 0x01
/** Branches without conditional ones (IA32_RTIT_CTL.DisTNT). */
#define HWTD_CAPTURE_PTF_NO_TNT 0x02
/** Times; 5BSD only. */
#define HWTD_CAPTURE_PTF_TSC 0x04
#define HWTD_CAPTURE_PTF_MTC 0x08
#define HWTD_CAPTURE_PTF_CYC 0x10
/** Values of PTWRITE instructions; 5BSD only. */
#define HWTD_CAPTURE_PTF_PTWRITE 0x20
/**
 * Buffers of any size: kernels without the mend of 5BSD may write over memory
 * that is not theirs when the buffer has more than 511 pages.
 */
#define HWTD_CAPTURE_PTF_ANY_BUFFER 0x40

/** How Arm SPE samples.  All zero: each 4096th operation, of whom `who` says. */
struct hwtd_capture_spe {
	/** sizeof(struct hwtd_capture_spe). */
	size_t size;
	/** Of each thread or CPU; an even number of pages.  0: 256 pages. */
	uint64_t buffer_bytes;
	/** HWTD_CAPTURE_USER, HWTD_CAPTURE_KERNEL; 0: both. */
	uint32_t who;
	/** HWTD_CAPTURE_SPEF_* bits. */
	uint32_t flags;
	/** Operations for one sample; below 2^24.  0: 4096. */
	uint32_t interval;
	uint32_t reserved;
};

/** Contexts of samples are numbers of CPUs instead of processes. */
#define HWTD_CAPTURE_SPEF_CPU_CONTEXT 0x1
/** Samples have no context. */
#define HWTD_CAPTURE_SPEF_NO_CONTEXT 0x2

/**
 * How CoreSight ETMv4 records, on kernels that have it (CheriBSD and other forks
 * of FreeBSD).  All zero: branches, times, contexts.
 */
struct hwtd_capture_coresight {
	/** sizeof(struct hwtd_capture_coresight). */
	size_t size;
	/** Of all together; whole pages.  0: 1024 pages. */
	uint64_t buffer_bytes;
	/** HWTD_CAPTURE_CSF_* bits. */
	uint32_t flags;
	/** Least count of cycles to tell (TRCCCCTLR); 0: 256. */
	uint32_t cycle_threshold;
};

/** Cycles between instructions. */
#define HWTD_CAPTURE_CSF_CYCLES 0x1
/** Addresses of all branches that are taken. */
#define HWTD_CAPTURE_CSF_BRANCH_BROADCAST 0x2
#define HWTD_CAPTURE_CSF_NO_RETURN_STACK 0x4
#define HWTD_CAPTURE_CSF_NO_TIMESTAMPS 0x8
#define HWTD_CAPTURE_CSF_NO_CONTEXT 0x10

/** Options of a capture. */
struct hwtd_capture_options {
	/** sizeof(struct hwtd_capture_options). */
	size_t size;
	/** File to write, which must not exist unless flags say so. */
	const char *output;
	/** An hwtd_capture_mode; 0: THREADS with a program, else CPUS. */
	uint32_t mode;
	/** HWTD_CAPTUREF_* bits. */
	uint32_t flags;
	/**
	 * Program to start: its path, or a name that is looked for in PATH;
	 * ends with NULL, as of execvp(3).  With CPUS it only says how long.
	 */
	const char *const *argv;
	/** Or a process that runs; 0: none. */
	uint32_t pid;
	uint32_t reserved;
	/** For CPUS: shape [n_cpus], those to trace.  NULL: all. */
	const uint32_t *cpus;
	size_t n_cpus;
	/**
	 * What records, each that is not NULL.  All NULL: what the machine has, with
	 * defaults.
	 */
	const struct hwtd_capture_pt *pt;
	const struct hwtd_capture_spe *spe;
	const struct hwtd_capture_coresight *coresight;
	/**
	 * Shape [n_filters]: trace only these, each "FUNCTION@IMAGE",
	 * "0xFIRST-0xLAST@IMAGE" (addresses of the file) or "@IMAGE".
	 */
	const char *const *filters;
	size_t n_filters;
	/** Time between two looks at the kernel, in ns.  0: 1 ms. */
	uint64_t interval_ns;
	/** End after so many bytes of trace, or ns; 0: never. */
	uint64_t max_bytes;
	uint64_t max_ns;
	/** Where images are looked for.  NULL: defaults. */
	const struct hwtd_search *search;
	/** For the file: a zstd level, see hwtd_save_options. */
	int32_t level;
	uint32_t reserved2;
};

/** Write into the file the code of everything that was mapped. */
#define HWTD_CAPTUREF_ARCHIVE 0x1
/** An existing file is replaced. */
#define HWTD_CAPTUREF_REPLACE 0x2
/** The program ends when the capture does; else it runs on. */
#define HWTD_CAPTUREF_KILL 0x4

/** What a capture could not save, by kind. */
enum hwtd_capture_loss {
	/** Bytes that were written over before they were read, at least. */
	HWTD_CAPTURE_LOST_BYTES = 0,
	/** Times that a thread ran of which nothing was seen. */
	HWTD_CAPTURE_LOST_SLICES = 1,
	/** Buffers behind which bytes may be missing, nobody knows how many. */
	HWTD_CAPTURE_LOST_UNKNOWN = 2,
	/** Times that sampling stood still for want of room. */
	HWTD_CAPTURE_LOST_STALLS = 3,
	/** Buffers of which the kernel says that samples are missing. */
	HWTD_CAPTURE_LOST_SAMPLES = 4,
	/** Records of the kernel that could not be understood, or were lost. */
	HWTD_CAPTURE_LOST_RECORDS = 5,
	/** Threads that the kernel traced not, or whose buffer could not be had. */
	HWTD_CAPTURE_LOST_THREADS = 6,
	/** Positions of which the kernel told the wrong page; no loss. */
	HWTD_CAPTURE_DOUBTED = 7
};

#define HWTD_CAPTURE_LOSSES 8

/** How a capture stands. */
struct hwtd_capture_status {
	/** Set by the caller: sizeof(struct hwtd_capture_status). */
	size_t size;
	/** Not 0: the file is complete. */
	uint32_t ended;
	/** The program, or HWTD_NO_ID. */
	uint32_t pid;
	/** It has ended: its exit status, or the signal that ended it. */
	uint32_t program_ended;
	uint32_t exit_status;
	uint32_t exit_signal;
	uint32_t n_streams;
	/** Of trace, in the file. */
	uint64_t n_bytes;
	uint64_t n_records;
	/** Looks at the kernel. */
	uint64_t n_looks;
	/** ns since the capture was started. */
	uint64_t time_ns;
	/** By hwtd_capture_loss. */
	uint64_t losses[HWTD_CAPTURE_LOSSES];
};

/**
 * Short stable name of a loss: "bytes", "slices"; "unknown" out of range.
 *
 * Since:  0.1
 */
HWTD_API const char *hwtd_capture_loss_name(uint32_t loss);

/**
 * Start a capture.
 *
 * When this returns the program runs, or its threads are traced as soon as they
 * are switched to.
 *
 * @param[in]  ctx          A context; kept alive by the capture.
 * @param[in]  opts         `output` is needed.
 * @param[out] capture_out  Set on success.
 * @param[out] err          Filled on failure.  May be NULL.
 *
 * The calling process is forked.  Other threads of it may not hold locks that an
 * allocator or a log sink of `ctx` needs in the child.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID      options contradict each other or the hardware;
 *         HWTD_E_UNSUPPORTED  this system, kernel or CPU cannot do that;
 *         HWTD_E_NOT_FOUND    no such process;
 *         HWTD_E_STATE        it is traced already;
 *         HWTD_E_IO           the kernel refused, or the file cannot be
 *                             written; see sys_errno;
 *         HWTD_E_LIMIT, HWTD_E_NOMEM, HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_capture_close().
 * Source: hwt(4), hwtdecode-record(1).
 * Since:  0.1
 */
HWTD_MUST int hwtd_capture_start(struct hwtd_context *ctx,
    const struct hwtd_capture_options *opts, struct hwtd_capture **capture_out,
    struct hwtd_error *err);

/**
 * Wait until a capture has ended: its program did, a limit was reached, or it
 * was stopped.
 *
 * @param[in]  capture     A capture.
 * @param[in]  ns          Wait no longer.  UINT64_MAX: for ever.
 * @param[out] status_out  How it stands now.  May be NULL.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK (it ended, and the file is complete), HWTD_AGAIN (not yet; also
 *         when a signal came), HWTD_E_STATE (in a process that the one which
 *         started it has forked), or why it failed: what was saved before is
 *         readable.
 * Since:  0.1
 */
HWTD_MUST int hwtd_capture_wait(struct hwtd_capture *capture, uint64_t ns,
    struct hwtd_capture_status *status_out, struct hwtd_error *err);

/**
 * Ask a capture to end.  It takes what is in the buffers and completes the file;
 * hwtd_capture_wait() tells when that is done.  May be called by any thread, and
 * by a signal handler.  Does nothing in a process that was forked since the start.
 *
 * @param[in] capture  A capture.
 * Since:  0.1
 */
HWTD_API void hwtd_capture_stop(struct hwtd_capture *capture);

/**
 * Stop a capture that has not ended, wait for it, and give it up.  In a process that
 * was forked since the start this gives back memory only, and the capture goes on.
 *
 * @param[in] capture  NULL does nothing.
 * Since:  0.1
 */
HWTD_API void hwtd_capture_close(struct hwtd_capture *capture);

#define HWTD_CAPTURE_TEXT 224

/** What a machine can record with, or why it cannot. */
struct hwtd_capture_backend {
	/** Set by the caller: sizeof(struct hwtd_capture_backend). */
	size_t size;
	/** An hwtd_tech. */
	uint32_t tech;
	/** Not 0: a capture can be started. */
	uint32_t usable;
	/** Bytes that a buffer may have, and has by default. */
	uint64_t least_bytes;
	uint64_t most_bytes;
	uint64_t default_bytes;
	/** Ranges that filters may have together; 0: none. */
	uint32_t n_ranges;
	/** HWTD_CAPTURE_MODEF_* bits. */
	uint32_t modes;
	/** What it records by default; or why it cannot, one line. */
	char text[HWTD_CAPTURE_TEXT];
	/** A command, or what else would help; "": nothing. */
	char help[HWTD_CAPTURE_TEXT];
};

/** Bit of an hwtd_capture_mode in `modes`. */
#define HWTD_CAPTURE_MODEF_THREADS 0x1
#define HWTD_CAPTURE_MODEF_CPUS 0x2

/**
 * The `index`th way to record, whether this machine has it or not.  Nothing is
 * allocated in the kernel to find out.
 *
 * @param[in]  ctx    A context.
 * @param[in]  index  From 0.
 * @param[out] out    Its `size` is set by the caller.
 * @param[out] err    Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID, HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_MUST int hwtd_capture_backend(struct hwtd_context *ctx, size_t index,
    struct hwtd_capture_backend *out, struct hwtd_error *err);

/**
 * Whether the calling process may trace another one, by the rules of hwt(4).
 *
 * @param[in]  ctx   A context.
 * @param[in]  pid   The process; 0: whether it may trace at all.
 * @param[out] text  Shape [HWTD_CAPTURE_TEXT]; why, one line.  May be NULL.
 * @param[out] err   Filled on failure.  May be NULL.
 *
 * @return HWTD_OK (it may), HWTD_END (it may not), HWTD_E_NOT_FOUND,
 *         HWTD_E_UNSUPPORTED, HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_MUST int hwtd_capture_allowed(struct hwtd_context *ctx, uint32_t pid,
    char *text, struct hwtd_error *err);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_CAPTURE_H */
