/*
 * A simulated kernel with hwt(4), to run the capture code against.
 *
 * It stands behind struct hwtdi_system and does what the kernel's sources say,
 * quirks and error numbers included.  Time is virtual: it passes when the
 * program under test sleeps or waits, and a little with each call.  Scripts of
 * programs go on as it passes.  What would panic a kernel is written down
 * instead.
 *
 * All of a kernel lies in memory that is shared across fork(2), so that a
 * process which the program under test forks sees the same kernel.  Strings and
 * bytes that are given to the functions below have to outlive the kernel.
 */
#ifndef HWTDECODE_TESTS_SIMKERNEL_H
#define HWTDECODE_TESTS_SIMKERNEL_H

#include "capture/system.h"

struct sim_kernel;
struct sim_program;

enum sim_arch {
	SIM_AMD64,
	SIM_ARM64
};

enum sim_flavour {
	/* Entries of 1056 bytes; pt can neither STOP nor SVC_BUF. */
	SIM_STOCK,
	/* Entries of 1072 bytes; OVERFLOW; pt can STOP. */
	SIM_5BSD,
	/* Stock, with coresight on arm64. */
	SIM_FORK
};

#define SIM_PT 0x1U
#define SIM_SPE 0x2U
#define SIM_CORESIGHT 0x4U
#define SIM_NO_BACKEND 0x80000000U

/* What the kernel tells of the place in a ring of PT. */
enum sim_positions {
	SIM_RIGHT,
	/* The page is always 0. */
	SIM_INDEX_LOST,
	/* The page is huge. */
	SIM_SATURATED
};

struct sim_options {
	enum sim_arch arch;
	enum sim_flavour flavour;
	/* 0: 2 */
	unsigned n_cpus;
	/* SIM_PT...; 0: what the flavour has on `arch` */
	unsigned backends;
	/* What opening /dev/hwt fails with; 0: it can be opened. */
	int device_error;
	/* The same of nodes of contexts. */
	int node_error;
	/*
	 * 0: scripts go on only as time passes, in the order of their steps.
	 * Else also between any two calls, threads of a process in any order.
	 */
	uint64_t seed;
	enum sim_positions positions;
	/* Only positions of PMIs are wrong; those of switches are right. */
	bool positions_at_pmi_only;
	/* Software interrupts run late, so that PMIs coalesce. */
	bool coalesce;
	/* So late that another thread has the CPU, or none. */
	bool swi_after_switch;
	/* Who waits for a record misses the first that comes. */
	bool lose_wakeups;
	/* SPE: what buffers have to be a multiple of, by PMBIDR; 0: 64. */
	uint32_t spe_align;
	/* SPE as it was before it could trace threads. */
	bool spe_cpu_mode_only;
	/* CoreSight: bytes that stay in the FIFO in front of the ring. */
	uint32_t etf_bytes;
	/*
	 * A new process gets the memory of one that ended, with what the kernel
	 * believes of that one.
	 */
	bool reuse_processes;
	/* Time of a call, ns; 0: 1000. */
	uint64_t call_ns;
};

/* Options may be NULL.  Ends the program if there is no memory. */
struct sim_kernel *sim_create(const struct sim_options *options);
void sim_destroy(struct sim_kernel *k);
const struct hwtdi_system *sim_system(struct sim_kernel *k);

/*
 * The machine.  sim_create() sets what a machine of that kind has; these add to
 * that or replace it.
 */
void sim_set_sysctl(struct sim_kernel *k, const char *name, const void *value,
    size_t size);
void sim_set_sysctl_text(struct sim_kernel *k, const char *name,
    const char *text);
void sim_set_cpuid(struct sim_kernel *k, uint32_t leaf, uint32_t subleaf,
    const uint32_t out[4]);
/* In the order in which they were loaded. */
void sim_add_module(struct sim_kernel *k, const char *name, const char *path,
    uint64_t addr, uint64_t len);
/* pid 0: the caller.  New processes have those of who starts them. */
void sim_set_credentials(struct sim_kernel *k, pid_t pid,
    const struct hwtdi_credentials *credentials);

/*
 * Programs: steps, done by threads.  A thread does its steps in the order in
 * which they were added.
 */
enum sim_op {
	/* Nothing, for `ns`. */
	SIM_IDLE,
	/*
	 * execve: image `path`, bias `addr`, rtld at `base` (with path
	 * `interp` if it is to be in the list of mappings); [addr + off, len) is
	 * mapped executable.  Other threads end.
	 */
	SIM_EXEC,
	/*
	 * mmap: `path` (NULL: no vnode), `addr`, `len`, `off`, `prot` (0:
	 * read and execute).
	 */
	SIM_MMAP,
	/* munmap: `addr`, `len`. */
	SIM_MUNMAP,
	/* Create thread number `number`, and end this one. */
	SIM_THREAD_CREATE,
	SIM_THREAD_EXIT,
	/* The hardware writes `n` bytes while the thread is on `cpu`. */
	SIM_TRACE,
	/* Be switched in on `cpu` without writing; be switched out. */
	SIM_SWITCH_IN,
	SIM_SWITCH_OUT,
	/* PT reports an error to the PMI: OVERFLOW of 5BSD. */
	SIM_PT_ERROR,
	/* SPE reports an error: all is switched off. */
	SIM_SPE_ERROR,
	/* A module is loaded: `path`, `addr`, `len`. */
	SIM_KLDLOAD,
	/* fork; the child does the steps of the program `path` (or none). */
	SIM_FORK_CHILD,
	/* A signal that is caught: ends a sleep. */
	SIM_CAUGHT,
	/* End of the process when all steps before this one are done. */
	SIM_EXIT,
	SIM_N_OPS
};

/* The CPU it has, else any. */
#define SIM_ANY_CPU 0xffffffffU

/* The thread stays on its CPU after the step. */
#define SIM_STAY 0x1U
/* One PMI for all pages of the step. */
#define SIM_ONE_PMI 0x2U
/* The kernel finds no path of the vnode. */
#define SIM_NO_PATH 0x4U
/* SPE: a record was cut. */
#define SIM_PARTIAL 0x8U
/* SIM_EXIT without looking at other threads. */
#define SIM_AT_ONCE 0x10U

struct sim_step {
	enum sim_op op;
	/* Who does it; 0 is the first thread. */
	unsigned thread;
	unsigned cpu;
	/* Time before it is done, ns. */
	uint64_t ns;
	const char *path;
	const char *interp;
	uint64_t addr;
	uint64_t base;
	uint64_t len;
	uint64_t off;
	uint32_t prot;
	const void *bytes;
	size_t n;
	/* Bytes that are written at once; 0: up to the end of a page. */
	size_t piece;
	/* Time between pieces. */
	uint64_t piece_ns;
	unsigned number;
	int status;
	int signal;
	unsigned flags;
};

/* `path` NULL: only for sim_start(). */
struct sim_program *sim_program(struct sim_kernel *k, const char *path);
void sim_add(struct sim_program *program, const struct sim_step *step);
/* A process that runs already, with threads 0 to n_threads - 1. */
pid_t sim_start(struct sim_kernel *k, struct sim_program *program,
    const char *name, unsigned n_threads);
/* A mapping that it has already. */
void sim_add_mapping(struct sim_kernel *k, pid_t pid,
    const struct hwtdi_vm_entry *mapping);

/* Let time pass. */
void sim_advance(struct sim_kernel *k, uint64_t ns);
/* Let it pass until no script has anything to do; at most `ns`. */
void sim_run(struct sim_kernel *k, uint64_t ns);
/* The caller gets a signal after `ns`: waits of it end. */
void sim_signal_caller(struct sim_kernel *k, uint64_t ns);
/* The caller exits, as owner of contexts; what calls next is another process. */
void sim_exit_caller(struct sim_kernel *k);
/*
 * The caller goes on without asking this kernel for anything, or only for what
 * does not wait: nobody waits for it.
 */
void sim_step_aside(struct sim_kernel *k);
/* What waitpid(2) knows a process as that the caller forked. */
pid_t sim_host_pid(struct sim_kernel *k, pid_t pid);

/* Faults. */
enum sim_call {
	SIM_CALL_OPEN,
	SIM_CALL_CLOSE,
	SIM_CALL_MMAP,
	SIM_CALL_MUNMAP,
	SIM_CALL_KQUEUE,
	SIM_CALL_KEVENT_ADD,
	SIM_CALL_KEVENT_WAIT,
	SIM_CALL_SPAWN,
	SIM_CALL_RELEASE,
	SIM_CALL_ENDED,
	SIM_CALL_KILL,
	SIM_CALL_FORK,
	SIM_CALL_SYSCTL,
	SIM_CALL_THREADS,
	SIM_CALL_MAPPINGS,
	SIM_CALL_MODULES,
	SIM_CALL_CREDENTIALS,
	SIM_CALL_CPUID,
	SIM_CALL_COUNTER,
	/* sleep, now, real_time: they cannot fail. */
	SIM_CALL_TIME,
	/* The ioctls, in the order of their numbers, and unknown ones. */
	SIM_CALL_ALLOC,
	SIM_CALL_START,
	SIM_CALL_STOP,
	SIM_CALL_RECORD_GET,
	SIM_CALL_BUFPTR_GET,
	SIM_CALL_SET_CONFIG,
	SIM_CALL_WAKEUP,
	SIM_CALL_SVC_BUF,
	SIM_CALL_UNKNOWN,
	SIM_N_CALLS
};

const char *sim_call_name(enum sim_call call);
/* The nth call (from 1 on) of that kind fails with `error`, once. */
void sim_fail(struct sim_kernel *k, enum sim_call call, uint64_t nth,
    int error);
/*
 * Random faults: each call fails, and records, PMIs and processes get lost, with
 * this probability.
 */
void sim_fault_schedule(struct sim_kernel *k, uint64_t seed,
    unsigned per_mille);
uint64_t sim_call_count(const struct sim_kernel *k, enum sim_call call);
/* The next `n` BUFFER records are dropped for want of memory. */
void sim_drop_buffers(struct sim_kernel *k, unsigned n);
/* The kernel has no memory for the next `n` threads that are created. */
void sim_fail_threads(struct sim_kernel *k, unsigned n);

/* What went wrong.  Texts live as long as the kernel. */
size_t sim_panics(const struct sim_kernel *k);
const char *sim_panic(const struct sim_kernel *k, size_t i);
/* What may go wrong on real machines, and need not. */
size_t sim_risks(const struct sim_kernel *k);
const char *sim_risk(const struct sim_kernel *k, size_t i);
/* Calls that would never have returned. */
size_t sim_hangs(const struct sim_kernel *k);
const char *sim_hang(const struct sim_kernel *k, size_t i);

/*
 * What was written.  Buffers are numbered over all contexts, in the order in
 * which they were made, and are known after their context is gone.
 */
enum sim_fate {
	/* Still in the buffer. */
	SIM_THERE,
	/* Overwritten before anybody could read it. */
	SIM_UNREADABLE,
	/* Overwritten after it could have been read. */
	SIM_OVERWRITTEN,
	/* Never in the buffer: the hardware had no room. */
	SIM_DROPPED
};

/* Bytes without a switch, or a change of half, in between. */
struct sim_slice {
	/* Into the bytes of the buffer. */
	size_t offset;
	size_t n;
	unsigned cpu;
	/* Where in the buffer it began; and when. */
	uint64_t at;
	uint64_t ns;
};

struct sim_buffer {
	int ident;
	/* As told to user space: index of the thread, or the CPU. */
	int id;
	/* Of the thread; 0: of a CPU. */
	uint32_t tid;
	uint64_t bufsize;
	/* All that was written, in order, and what became of it. */
	const uint8_t *bytes;
	const uint8_t *fates;
	size_t n;
	const struct sim_slice *slices;
	size_t n_slices;
};

size_t sim_buffers(const struct sim_kernel *k);
void sim_buffer(const struct sim_kernel *k, size_t i, struct sim_buffer *out);

struct sim_totals {
	uint64_t records_queued;
	uint64_t records_dropped;
	/* Taken from the queue, and lost on the way to the caller. */
	uint64_t records_lost;
	uint64_t pmis;
	/* PMIs that were told with a later one. */
	uint64_t pmis_coalesced;
	/* Bytes that no context was there for. */
	uint64_t bytes_untraced;
	/* Threads without a buffer, for want of memory. */
	uint64_t threads_failed;
	/* Faults that were made. */
	uint64_t faults;
};

void sim_totals(const struct sim_kernel *k, struct sim_totals *out);

/* What the caller, and processes that it forked, did not give back. */
struct sim_leaks {
	size_t fds;
	size_t mappings;
	/* Children that ended and were not asked for, or that run. */
	size_t children;
	size_t gates;
	/* Contexts of processes that live. */
	size_t contexts;
};

void sim_leaks(struct sim_kernel *k, struct sim_leaks *out);

#endif /* HWTDECODE_TESTS_SIMKERNEL_H */
