/*
 * The calls of hwt(4), guarded: what can panic or hang a kernel is never asked of it,
 * and what it refuses is told with the cause.
 *
 * A context of the kernel ends when the process that made it ends, and only then:
 * a capture has a process of its own.  Only that process may make these calls, not
 * its children.
 */
#ifndef HWTDI_HWT_CALLS_H
#define HWTDI_HWT_CALLS_H

#include <hwtdecode/context.h>
#include <hwtdecode/error.h>

#include "capture/hwt_abi.h"
#include "capture/system.h"

enum hwtdi_backend {
	HWTDI_BACKEND_PT,
	HWTDI_BACKEND_SPE,
	HWTDI_BACKEND_CORESIGHT
};

#define HWTDI_BACKENDS 3

/* "pt", "spe", "coresight": what ALLOC takes. */
const char *hwtdi_backend_name(enum hwtdi_backend backend);
/* HWTD_E_NOT_FOUND: no such backend; HWTD_E_INVALID: too long for the kernel. */
int hwtdi_backend_find(const char *name, enum hwtdi_backend *out,
    struct hwtd_error *err);

/* Which kernel it is.  Who does not know takes the first. */
enum hwtdi_kernel_kind {
	/* FreeBSD, and the forks with CoreSight. */
	HWTDI_KERNEL_STOCK = 0,
	/* 5BSD: STOP works, tables of PT are contiguous, and its config is longer. */
	HWTDI_KERNEL_5BSD
};

/* What the Intel PT of a CPU can do.  All zero: branches and nothing else. */
struct hwtdi_pt_caps {
	bool cr3_filter;
	bool ip_filter;
	bool mtc;
	bool cyc_psb;
	bool ptwrite;
	bool dis_tnt;
	bool topa;
	bool topa_many;
	uint32_t n_ranges;
	/* Bit n: the value n can be set. */
	uint32_t mtc_periods;
	uint32_t cyc_thresholds;
	uint32_t psb_freqs;
	/* Bits of an address; 0: 48. */
	uint32_t linear_bits;
};

/* HWTD_E_UNSUPPORTED: no Intel PT, or none that a kernel can use. */
int hwtdi_pt_caps_read(const struct hwtdi_system *sys,
    struct hwtdi_pt_caps *out, struct hwtd_error *err);

/* The config of PT of 5BSD. */
#define HWTDI_HWT_PT_LONG_CONFIG_SIZE 88

struct hwtdi_hwt_pt_long_config {
	uint64_t rtit_ctl;
	int64_t cr3_filter;
	int32_t nranges;
	int32_t padding;
	struct {
		uint64_t start;
		uint64_t end;
		/* 0, 1: trace what is inside; 2: stop there. */
		int32_t mode;
		int32_t padding;
	} ip_ranges[HWTDI_HWT_PT_RANGES];
	uint32_t mtc_freq;
	uint32_t cyc_thresh;
	uint32_t psb_freq;
	uint32_t padding2;
};

/* What of IA32_RTIT_CTL 5BSD takes besides HWTDI_HWT_PT_BITS. */
#define HWTDI_HWT_PT_CYC 0x2ULL
#define HWTDI_HWT_PT_FUP_ON_PTW 0x20ULL
#define HWTDI_HWT_PT_TSC 0x400ULL
#define HWTDI_HWT_PT_PTW 0x1000ULL

struct hwtdi_hwt_options {
	enum hwtdi_backend backend;
	enum hwtdi_kernel_kind kernel;
	enum hwtdi_hwt_mode mode;
	/* Thread mode: the process. */
	pid_t pid;
	/* CPU mode: which CPUs, in any order. */
	const uint32_t *cpus;
	size_t n_cpus;
	/* CPUs of the machine: numbers from this on are no CPU. */
	uint32_t machine_cpus;
	/* Bytes for each thread or CPU. */
	uint64_t bufsize;
	/* Of the machine; 0: 4096. */
	uint64_t page_size;
	/* PT, more than 511 pages on a stock kernel: at the caller's own risk. */
	bool allow_large;
	/* PT. */
	struct hwtdi_pt_caps pt;
	/* SPE: a kqueue that its events come to; else not looked at. */
	int kq;
};

enum hwtdi_hwt_state {
	HWTDI_HWT_STOPPED,
	HWTDI_HWT_RUNNING
};

/* CPUs that a set of the kernel has room for. */
#define HWTDI_HWT_SET_CPUS 1024

/* A context of the kernel.  To be read; changed by the calls below only. */
struct hwtdi_hwt {
	struct hwtd_context *library;
	const struct hwtdi_system *sys;
	enum hwtdi_backend backend;
	enum hwtdi_kernel_kind kernel;
	enum hwtdi_hwt_mode mode;
	pid_t pid;
	uint64_t bufsize;
	uint64_t page_size;
	uint32_t machine_cpus;
	uint64_t cpu_set[HWTDI_HWT_SET_CPUS / 64];
	/* The lowest CPU of the set. */
	uint32_t first_cpu;
	struct hwtdi_pt_caps pt;
	int kq;

	/* Number of the context, as in /dev/hwt_<ident>_<index>. */
	int ident;
	enum hwtdi_hwt_state state;
	/* A config was taken by the kernel; START was. */
	bool configured;
	bool started;
	/* Bits of rtit_ctl of the config, and of all that were started with. */
	uint64_t rtit_ctl;
	uint64_t started_rtit_ctl;
	/* PT: a buffer whose table may lie badly; told in the log too. */
	bool small_buffer;

	/* A node for what concerns the whole context. */
	int fd;
	/* Entries, and bytes of each; 0: not known yet. */
	uint8_t *entries;
	size_t entries_bytes;
	size_t stride;
};

/*
 * HWT_IOC_ALLOC.  Records come, and processes are hooked, from here on.
 *
 * HWTD_E_INVALID  an option that the kernel would refuse or break at;
 * HWTD_E_UNSUPPORTED  no hwt(4), no such backend, or not this mode;
 * HWTD_E_NOT_FOUND  no such process;
 * HWTD_E_STATE  the process is traced already; another context is active;
 * HWTD_E_LIMIT  no more contexts; HWTD_E_NOMEM;
 * HWTD_E_IO  all else, for instance EPERM and EACCES.
 * sys_errno is set whenever a call of the kernel failed.  If the first node cannot be
 * opened, the context is there all the same, and this process should end.  With
 * coresight, while another context is active, forks may try until a signal comes.
 */
int hwtdi_hwt_alloc(struct hwtd_context *library,
    const struct hwtdi_system *sys, const struct hwtdi_hwt_options *o,
    struct hwtdi_hwt **out, struct hwtd_error *err);

/* Give back memory and the node.  The kernel goes on.  NULL: nothing. */
void hwtdi_hwt_close(struct hwtdi_hwt *hwt);

/*
 * The node of a thread (by its index from THREAD_CREATE) or CPU; to be closed with
 * hwtdi_hwt_close_node().  HWTD_E_NOT_FOUND: there is none.
 */
int hwtdi_hwt_open_node(struct hwtdi_hwt *hwt, uint32_t index, int *fd_out,
    struct hwtd_error *err);
void hwtdi_hwt_close_node(struct hwtdi_hwt *hwt, int fd);

/*
 * Its buffer: `bufsize` bytes, to be copied in aligned pieces of 8 bytes, for it
 * may be device memory.
 */
int hwtdi_hwt_map_node(struct hwtdi_hwt *hwt, int fd, const void **out,
    struct hwtd_error *err);
void hwtdi_hwt_unmap_node(struct hwtdi_hwt *hwt, const void *buffer);

/*
 * HWT_IOC_SET_CONFIG, while stopped.  Without `size` the config stays and only
 * `pause` is set: whether a thread that maps code waits for hwtdi_hwt_wakeup().
 * HWTD_E_INVALID: no config of this backend, or what the CPU or kernel cannot do.
 */
int hwtdi_hwt_set_config(struct hwtdi_hwt *hwt, bool pause, const void *config,
    size_t size, int version, struct hwtd_error *err);

/*
 * HWT_IOC_START.  HWTD_E_STATE: runs already, or PT has no config.  The events of
 * SPE are registered with the kqueue before.
 */
int hwtdi_hwt_start(struct hwtdi_hwt *hwt, struct hwtd_error *err);

/* HWT_IOC_STOP.  HWTD_E_UNSUPPORTED: the kernel would panic; end the process. */
int hwtdi_hwt_stop(struct hwtdi_hwt *hwt, struct hwtd_error *err);
bool hwtdi_hwt_can_stop(const struct hwtdi_hwt *hwt);

/*
 * HWT_IOC_RECORD_GET without waiting: the next entries, n of them, each
 * hwt->stride bytes, valid until the next call.  n is 0 if there are none now;
 * else ask again, more may be there.  At most `most` of them; 0: 1024.
 *
 * HWTD_E_UNSUPPORTED: the kernel does not know the call, or has entries of a size
 * that this library does not know.
 */
int hwtdi_hwt_records(struct hwtdi_hwt *hwt, size_t most,
    const uint8_t **entries_out, size_t *n_out, struct hwtd_error *err);

/* What BUFPTR_GET tells. */
struct hwtdi_hwt_position {
	/* PT, CoreSight: the page.  SPE: the CPU or index of a thread. */
	int32_t ident;
	/* PT, CoreSight: in the page.  SPE: valid bytes of the half. */
	uint64_t offset;
	/* SPE: HWTDI_HWT_SPE_HALF, _PARTIAL, _FINAL. */
	uint64_t data;
	/* PT, CoreSight: bytes from the start of the buffer. */
	uint64_t at;
	/* It lies outside of the buffer, or of the page: `at` is 0. */
	bool doubtful;
};

/*
 * HWT_IOC_BUFPTR_GET on a node.  HWTD_AGAIN: no half of SPE waits.
 * HWTD_E_STATE: the kernel would panic before START.
 */
int hwtdi_hwt_position(struct hwtdi_hwt *hwt, int fd,
    struct hwtdi_hwt_position *out, struct hwtd_error *err);

/* HWT_IOC_WAKEUP: the thread of this node, if it waits.  Nobody tells if it did. */
int hwtdi_hwt_wakeup(struct hwtdi_hwt *hwt, int fd, struct hwtd_error *err);

/*
 * HWT_IOC_SVC_BUF: half 0 or 1 of SPE was read.  HWTD_E_STATE: it was stopped,
 * which is no harm to who only wants to go on.
 */
int hwtdi_hwt_serve(struct hwtdi_hwt *hwt, uint32_t ident, uint32_t half,
    struct hwtd_error *err);

#endif /* HWTDI_HWT_CALLS_H */
