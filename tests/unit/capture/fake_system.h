/*
 * A table of system calls that answers as it is told, and writes down what it was
 * asked.
 */
#ifndef TEST_FAKE_SYSTEM_H
#define TEST_FAKE_SYSTEM_H

#include "capture/hwt_calls.h"
#include "support/failing_allocator.h"

#define FAKE_CALLS 4096

enum fake_what {
	FAKE_OPEN,
	FAKE_CLOSE,
	FAKE_IOCTL,
	FAKE_MMAP,
	FAKE_MUNMAP,
	FAKE_KEVENT_ADD
};

struct fake_call {
	enum fake_what what;
	int fd;
	unsigned long request;
	/* OPEN. */
	char path[64];
	/* MMAP: its length; KEVENT_ADD: the ident. */
	uint64_t number;
	/* IOCTL: the struct, and what it points to: config, SVC_BUF, CPUs, name. */
	uint8_t arg[64];
	uint8_t blob[1024];
	char backend[16];
};

struct fake_system {
	struct hwtdi_system table;
	struct hwtd_context *library;
	struct failing_allocator memory;
	struct fake_call calls[FAKE_CALLS];
	size_t n_calls;
	int next_fd;
	int open_fds;
	int mapped;

	/* Answers: of opening the device and nodes, of mmap, of kevent_add. */
	int device_rc, node_rc, mmap_rc, kevent_rc;
	/* By the number of the ioctl: what comes first `signals` times is EINTR. */
	int rc[8];
	int signals[8];
	int open_signals;
	/* It says it is done and does nothing. */
	bool deaf[8];

	/* ALLOC. */
	int32_t ident;
	/* RECORD_GET: entries of `stride` bytes that are left. */
	const uint8_t *entries;
	size_t stride, n_entries;
	/* What it says instead of how many there are, with `lie`. */
	bool lie;
	int32_t lie_n;
	/* BUFPTR_GET; data is not written without `has_data`. */
	int32_t ptr_ident;
	uint64_t ptr_offset, ptr_data;
	bool has_data;

	/* CPUID: leaves 0, 7, 0x14, 0x14.1, 0x80000000, 0x80000008. */
	uint32_t cpuid[6][4];
	int cpuid_rc[6];
	/* What mmap gives. */
	uint64_t memory_mapped[8];
};

/* All calls succeed; context 3. */
void fake_system_init(struct fake_system *f);
/* Checks that memory, files and mappings were given back. */
void fake_system_fini(struct fake_system *f);

/* How often an ioctl was asked, and the last such call; NULL: never. */
size_t fake_asked(const struct fake_system *f, unsigned long request);
const struct fake_call *fake_last(const struct fake_system *f,
    unsigned long request);
const struct fake_call *fake_last_open(const struct fake_system *f);

/* Options that are fine: process 77; CPUs 0 and 2 of 4. */
struct hwtdi_hwt_options fake_thread_options(enum hwtdi_backend backend);
struct hwtdi_hwt_options fake_cpu_options(enum hwtdi_backend backend);
/* A context, which has to come. */
struct hwtdi_hwt *fake_alloc(struct fake_system *f,
    const struct hwtdi_hwt_options *o);
/* A config that each CPU takes, and one of spe. */
struct hwtdi_hwt_pt_config fake_pt_config(void);
struct hwtdi_hwt_spe_config fake_spe_config(void);
/* Set it, and start. */
void fake_start(struct hwtdi_hwt *hwt);

#endif /* TEST_FAKE_SYSTEM_H */
