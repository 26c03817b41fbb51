/*
 * The interface of FreeBSD's hwt(4): numbers and layouts, in our own words.
 *
 * Pointers are 64-bit numbers, so that layouts are the same on any machine that
 * this is compiled on.  Where the kernel's own header is at hand,
 * hwt_abi_host.c compares them.
 *
 * Source: hwt(4); sys/hwt.h and sys/hwt_record.h of FreeBSD 15.
 */
#ifndef HWTDI_HWT_ABI_H
#define HWTDI_HWT_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define HWTDI_HWT_DEVICE "/dev/hwt"

enum hwtdi_hwt_mode {
	HWTDI_HWT_THREAD = 1,
	HWTDI_HWT_CPU = 2
};

#define HWTDI_HWT_MAX_BUFSIZE ((uint64_t)32 << 30)
/* Names of backends, with the NUL. */
#define HWTDI_HWT_BACKEND_ROOM 256
#define HWTDI_HWT_MAX_ENTRIES 1024
#define HWTDI_HWT_PATH_ROOM 1024
/* Contexts of a machine. */
#define HWTDI_HWT_MAX_CONTEXTS 256
/* What a config or a serviced buffer may have, on machines with pages of 4 KiB. */
#define HWTDI_HWT_MAX_BLOB 4096

/* _IOW('B', number, size) of sys/ioccom.h. */
#define HWTDI_HWT_IOW(number, size)                                           \
	(0x80000000UL | (((unsigned long)(size)&0x1fffUL) << 16) | 0x4200UL | \
	    (unsigned long)(number))

#define HWTDI_HWT_IOC_ALLOC HWTDI_HWT_IOW(0, 64)
#define HWTDI_HWT_IOC_START HWTDI_HWT_IOW(1, 16)
#define HWTDI_HWT_IOC_STOP HWTDI_HWT_IOW(2, 16)
#define HWTDI_HWT_IOC_RECORD_GET HWTDI_HWT_IOW(3, 32)
#define HWTDI_HWT_IOC_BUFPTR_GET HWTDI_HWT_IOW(4, 32)
#define HWTDI_HWT_IOC_SET_CONFIG HWTDI_HWT_IOW(5, 32)
#define HWTDI_HWT_IOC_WAKEUP HWTDI_HWT_IOW(6, 16)
#define HWTDI_HWT_IOC_SVC_BUF HWTDI_HWT_IOW(7, 32)

struct hwtdi_hwt_alloc {
	uint64_t bufsize;
	int32_t mode;
	int32_t pid;
	/* const cpuset_t * */
	uint64_t cpu_map;
	uint64_t cpusetsize;
	/* const char * */
	uint64_t backend_name;
	/* int *; written, also by a call that fails later */
	uint64_t ident;
	int32_t kqueue_fd;
	uint8_t reserved[12];
};

/* Of START, STOP and WAKEUP. */
struct hwtdi_hwt_plain {
	int32_t reserved;
	uint8_t padding[12];
};

struct hwtdi_hwt_record_get {
	/* struct hwtdi_hwt_entry *, with the stride of the kernel */
	uint64_t records;
	/* int *; room, then how many there were */
	uint64_t nentries;
	int32_t wait;
	uint8_t reserved[12];
};

struct hwtdi_hwt_bufptr_get {
	/* int *, uint64_t *, uint64_t *; 0: not wanted */
	uint64_t ident;
	uint64_t offset;
	uint64_t data;
	uint8_t reserved[8];
};

struct hwtdi_hwt_set_config {
	int32_t pause_on_mmap;
	int32_t padding;
	/* const void * */
	uint64_t config;
	uint64_t config_size;
	int32_t config_version;
	int32_t padding2;
};

struct hwtdi_hwt_svc_buf {
	/* const void * */
	uint64_t data;
	uint64_t data_size;
	int32_t data_version;
	uint8_t reserved[12];
};

/* Types of entries.  5BSD has the last one. */
enum hwtdi_hwt_entry_type {
	HWTDI_HWT_ENTRY_MMAP = 0,
	HWTDI_HWT_ENTRY_MUNMAP = 1,
	HWTDI_HWT_ENTRY_EXECUTABLE = 2,
	HWTDI_HWT_ENTRY_KERNEL = 3,
	HWTDI_HWT_ENTRY_THREAD_CREATE = 4,
	HWTDI_HWT_ENTRY_THREAD_SET_NAME = 5,
	HWTDI_HWT_ENTRY_BUFFER = 6,
	HWTDI_HWT_ENTRY_OVERFLOW = 7
};

struct hwtdi_hwt_entry_path {
	char fullpath[HWTDI_HWT_PATH_ROOM];
	uint64_t addr;
	uint64_t baseaddr;
};

struct hwtdi_hwt_entry_buffer {
	int32_t buf_id;
	/* The position: curpage * 4096 + offset. */
	int32_t curpage;
	uint64_t offset;
};

/* An entry of FreeBSD: HWTDI_HWT_ENTRY_SIZE bytes. */
struct hwtdi_hwt_entry {
	uint32_t type;
	uint32_t padding;
	union {
		struct hwtdi_hwt_entry_path path;
		struct hwtdi_hwt_entry_buffer buffer;
		int32_t thread_id;
	} u;
	uint8_t padding2[8];
};

/* One of 5BSD, which tells more of a mapping. */
struct hwtdi_hwt_long_entry {
	uint32_t type;
	uint32_t padding;
	union {
		struct hwtdi_hwt_entry_path path;
		struct hwtdi_hwt_entry_buffer buffer;
		int32_t thread_id;
	} u;
	int64_t pgoff;
	uint64_t len;
	uint8_t padding2[8];
};

#define HWTDI_HWT_ENTRY_SIZE 1056
#define HWTDI_HWT_LONG_ENTRY_SIZE 1072

static_assert(sizeof(struct hwtdi_hwt_alloc) == 64, "ALLOC");
static_assert(offsetof(struct hwtdi_hwt_alloc, mode) == 8, "ALLOC");
static_assert(offsetof(struct hwtdi_hwt_alloc, pid) == 12, "ALLOC");
static_assert(offsetof(struct hwtdi_hwt_alloc, cpu_map) == 16, "ALLOC");
static_assert(offsetof(struct hwtdi_hwt_alloc, cpusetsize) == 24, "ALLOC");
static_assert(offsetof(struct hwtdi_hwt_alloc, backend_name) == 32, "ALLOC");
static_assert(offsetof(struct hwtdi_hwt_alloc, ident) == 40, "ALLOC");
static_assert(offsetof(struct hwtdi_hwt_alloc, kqueue_fd) == 48, "ALLOC");
static_assert(sizeof(struct hwtdi_hwt_plain) == 16, "START, STOP, WAKEUP");
static_assert(sizeof(struct hwtdi_hwt_record_get) == 32, "RECORD_GET");
static_assert(offsetof(struct hwtdi_hwt_record_get, nentries) == 8,
    "RECORD_GET");
static_assert(offsetof(struct hwtdi_hwt_record_get, wait) == 16, "RECORD_GET");
static_assert(sizeof(struct hwtdi_hwt_bufptr_get) == 32, "BUFPTR_GET");
static_assert(offsetof(struct hwtdi_hwt_bufptr_get, offset) == 8,
    "BUFPTR_GET");
static_assert(offsetof(struct hwtdi_hwt_bufptr_get, data) == 16, "BUFPTR_GET");
static_assert(sizeof(struct hwtdi_hwt_set_config) == 32, "SET_CONFIG");
static_assert(offsetof(struct hwtdi_hwt_set_config, config) == 8,
    "SET_CONFIG");
static_assert(offsetof(struct hwtdi_hwt_set_config, config_size) == 16,
    "SET_CONFIG");
static_assert(offsetof(struct hwtdi_hwt_set_config, config_version) == 24,
    "SET_CONFIG");
static_assert(sizeof(struct hwtdi_hwt_svc_buf) == 32, "SVC_BUF");
static_assert(offsetof(struct hwtdi_hwt_svc_buf, data_size) == 8, "SVC_BUF");
static_assert(offsetof(struct hwtdi_hwt_svc_buf, data_version) == 16,
    "SVC_BUF");
static_assert(sizeof(struct hwtdi_hwt_entry) == HWTDI_HWT_ENTRY_SIZE, "entry");
static_assert(offsetof(struct hwtdi_hwt_entry, u) == 8, "entry");
static_assert(offsetof(struct hwtdi_hwt_entry, u.path.addr) == 1032, "entry");
static_assert(offsetof(struct hwtdi_hwt_entry, u.path.baseaddr) == 1040,
    "entry");
static_assert(offsetof(struct hwtdi_hwt_entry, u.buffer.curpage) == 12,
    "entry");
static_assert(offsetof(struct hwtdi_hwt_entry, u.buffer.offset) == 16,
    "entry");
static_assert(sizeof(struct hwtdi_hwt_long_entry) == HWTDI_HWT_LONG_ENTRY_SIZE,
    "entry of 5BSD");
static_assert(offsetof(struct hwtdi_hwt_long_entry, pgoff) == 1048,
    "entry of 5BSD");
static_assert(offsetof(struct hwtdi_hwt_long_entry, len) == 1056,
    "entry of 5BSD");
static_assert(HWTDI_HWT_IOC_ALLOC == 0x80404200UL, "ALLOC");
static_assert(HWTDI_HWT_IOC_START == 0x80104201UL, "START");
static_assert(HWTDI_HWT_IOC_STOP == 0x80104202UL, "STOP");
static_assert(HWTDI_HWT_IOC_RECORD_GET == 0x80204203UL, "RECORD_GET");
static_assert(HWTDI_HWT_IOC_BUFPTR_GET == 0x80204204UL, "BUFPTR_GET");
static_assert(HWTDI_HWT_IOC_SET_CONFIG == 0x80204205UL, "SET_CONFIG");
static_assert(HWTDI_HWT_IOC_WAKEUP == 0x80104206UL, "WAKEUP");
static_assert(HWTDI_HWT_IOC_SVC_BUF == 0x80204207UL, "SVC_BUF");

/* Intel PT.  config_version is not looked at. */
#define HWTDI_HWT_PT_RANGES 2

struct hwtdi_hwt_pt_config {
	/* IA32_RTIT_CTL: the HWTDI_HWT_PT_BITS of it. */
	uint64_t rtit_ctl;
	int64_t cr3_filter;
	int32_t nranges;
	int32_t padding;
	/* Both ends are inside. */
	struct {
		uint64_t start;
		uint64_t end;
	} ip_ranges[HWTDI_HWT_PT_RANGES];
	uint32_t mtc_freq;
	uint32_t cyc_thresh;
	uint32_t psb_freq;
	uint32_t padding2;
};

/* IA32_RTIT_CTL.  Source: Intel SDM, "IA32_RTIT_CTL MSR". */
#define HWTDI_HWT_PT_OS 0x4ULL
#define HWTDI_HWT_PT_USER 0x8ULL
#define HWTDI_HWT_PT_CR3_FILTER 0x80ULL
#define HWTDI_HWT_PT_MTC 0x200ULL
#define HWTDI_HWT_PT_BRANCH 0x2000ULL
#define HWTDI_HWT_PT_DIS_TNT (1ULL << 55)
/* Those that the kernel takes; it drops others without a word. */
#define HWTDI_HWT_PT_BITS                                                     \
	(HWTDI_HWT_PT_OS | HWTDI_HWT_PT_USER | HWTDI_HWT_PT_CR3_FILTER |      \
	    HWTDI_HWT_PT_MTC | HWTDI_HWT_PT_BRANCH | HWTDI_HWT_PT_DIS_TNT)

static_assert(sizeof(struct hwtdi_hwt_pt_config) == 72, "config of PT");
static_assert(offsetof(struct hwtdi_hwt_pt_config, ip_ranges) == 24,
    "config of PT");
static_assert(offsetof(struct hwtdi_hwt_pt_config, mtc_freq) == 56,
    "config of PT");

/* Arm SPE, config_version 1. */
#define HWTDI_HWT_SPE_VERSION 1

enum hwtdi_hwt_spe_level {
	HWTDI_HWT_SPE_KERNEL_AND_USER = 0,
	HWTDI_HWT_SPE_KERNEL_ONLY = 1,
	HWTDI_HWT_SPE_USER_ONLY = 2
};

enum hwtdi_hwt_spe_ctx {
	HWTDI_HWT_SPE_CTX_NONE = 0,
	HWTDI_HWT_SPE_CTX_PID = 1,
	HWTDI_HWT_SPE_CTX_CPU = 2
};

struct hwtdi_hwt_spe_config {
	uint32_t interval;
	uint32_t level;
	uint32_t ctx_field;
};

struct hwtdi_hwt_spe_svc_buf {
	uint32_t ident;
	/* Bit 0: which half. */
	uint8_t buf_idx;
	uint8_t padding[3];
};

static_assert(sizeof(struct hwtdi_hwt_spe_config) == 12, "config of SPE");
static_assert(sizeof(struct hwtdi_hwt_spe_svc_buf) == 8, "SVC_BUF of SPE");

/* `data` of BUFPTR_GET of SPE. */
#define HWTDI_HWT_SPE_HALF 0x1ULL
#define HWTDI_HWT_SPE_PARTIAL 0x2ULL
#define HWTDI_HWT_SPE_FINAL 0x4ULL

/* Idents of EVFILT_USER. */
#define HWTDI_HWT_SPE_EVENT_BUF 138
#define HWTDI_HWT_SPE_EVENT_SHUTDOWN 139

/* CoreSight (forks of FreeBSD), config_version 1: only what is used of it. */
#define HWTDI_HWT_CS_VERSION 1
#define HWTDI_HWT_CS_CONFIG_SIZE 816
#define HWTDI_HWT_CS_RANGES 8

struct hwtdi_hwt_cs_config {
	uint32_t mode;
	uint32_t pe_sel;
	/* TRCCONFIGR */
	uint32_t cfg;
	uint32_t eventctrl0;
	uint32_t eventctrl1;
	uint32_t stall_ctrl;
	uint32_t ts_ctrl;
	uint32_t syncfreq;
	uint32_t ccctlr;
	uint32_t bb_ctrl;
	uint32_t vinst_ctrl;
	uint32_t viiectlr;
	uint32_t vissctlr;
	uint32_t vipcssctlr;
	uint8_t unused[320];
	uint64_t addr_val[2 * HWTDI_HWT_CS_RANGES];
	uint64_t addr_acc[2 * HWTDI_HWT_CS_RANGES];
	uint8_t addr_type[2 * HWTDI_HWT_CS_RANGES];
	uint8_t unused2[164];
	uint8_t s_ex_level;
	uint8_t padding[3];
};

static_assert(sizeof(struct hwtdi_hwt_cs_config) == HWTDI_HWT_CS_CONFIG_SIZE,
    "config of CoreSight");
static_assert(offsetof(struct hwtdi_hwt_cs_config, cfg) == 8,
    "config of CoreSight");
static_assert(offsetof(struct hwtdi_hwt_cs_config, vipcssctlr) == 52,
    "config of CoreSight");
static_assert(offsetof(struct hwtdi_hwt_cs_config, addr_val) == 376,
    "config of CoreSight");
static_assert(offsetof(struct hwtdi_hwt_cs_config, addr_acc) == 504,
    "config of CoreSight");
static_assert(offsetof(struct hwtdi_hwt_cs_config, addr_type) == 632,
    "config of CoreSight");
static_assert(offsetof(struct hwtdi_hwt_cs_config, s_ex_level) == 812,
    "config of CoreSight");

#endif /* HWTDI_HWT_ABI_H */
