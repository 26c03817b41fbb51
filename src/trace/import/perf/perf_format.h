/*
 * Numbers of perf.data, and reads in either byte order.
 *
 * Source: Linux, include/uapi/linux/perf_event.h and
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef HWTDI_PERF_FORMAT_H
#define HWTDI_PERF_FORMAT_H

#include "base/bytes.h"

enum {
	/* Written by the kernel. */
	PERF_RECORD_MMAP = 1,
	PERF_RECORD_LOST = 2,
	PERF_RECORD_COMM = 3,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_MMAP2 = 10,
	PERF_RECORD_AUX = 11,
	PERF_RECORD_ITRACE_START = 12,
	PERF_RECORD_LOST_SAMPLES = 13,
	PERF_RECORD_SWITCH = 14,
	PERF_RECORD_SWITCH_CPU_WIDE = 15,
	PERF_RECORD_NAMESPACES = 16,
	PERF_RECORD_KSYMBOL = 17,
	PERF_RECORD_BPF_EVENT = 18,
	PERF_RECORD_CGROUP = 19,
	PERF_RECORD_TEXT_POKE = 20,
	PERF_RECORD_AUX_OUTPUT_HW_ID = 21,
	/* Of the kernel are numbers below this. */
	PERF_RECORD_USER = 64,
	/* Written by perf. */
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_HEADER_TRACING_DATA = 66,
	PERF_RECORD_HEADER_BUILD_ID = 67,
	PERF_RECORD_ID_INDEX = 69,
	PERF_RECORD_AUXTRACE_INFO = 70,
	PERF_RECORD_AUXTRACE = 71,
	PERF_RECORD_AUXTRACE_ERROR = 72,
	PERF_RECORD_THREAD_MAP = 73,
	PERF_RECORD_EVENT_UPDATE = 78,
	PERF_RECORD_TIME_CONV = 79,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_COMPRESSED2 = 83,
	/* No record has such a number. */
	PERF_RECORD_BEYOND = 128
};

#define PERF_RECORD_HEADER_BYTES 8u

/* perf_event_header.misc. */
#define PERF_MISC_CPUMODE 0x0007u
#define PERF_MISC_KERNEL 1u
#define PERF_MISC_GUEST_KERNEL 4u
#define PERF_MISC_GUEST_USER 5u
#define PERF_MISC_COMM_EXEC 0x2000u
#define PERF_MISC_SWITCH_OUT 0x2000u
#define PERF_MISC_MMAP_BUILD_ID 0x4000u

/* perf_event_attr.sample_type: what a trailer of a record has, in this order. */
#define PERF_SAMPLE_IP 0x1u
#define PERF_SAMPLE_TID 0x2u
#define PERF_SAMPLE_TIME 0x4u
#define PERF_SAMPLE_ADDR 0x8u
#define PERF_SAMPLE_ID 0x40u
#define PERF_SAMPLE_CPU 0x80u
#define PERF_SAMPLE_STREAM_ID 0x200u
#define PERF_SAMPLE_IDENTIFIER 0x10000u

/* PERF_RECORD_AUX.flags. */
#define PERF_AUX_TRUNCATED 0x01u
#define PERF_AUX_OVERWRITE 0x02u
#define PERF_AUX_PARTIAL 0x04u
#define PERF_AUX_COLLISION 0x08u
#define PERF_AUX_FORMAT 0xff00u
/* Of CoreSight: bytes of one source, without frames. */
#define PERF_AUX_FORMAT_RAW 0x0100u

/* PERF_RECORD_AUXTRACE_INFO.type. */
enum {
	PERF_AUXTRACE_INTEL_PT = 1,
	PERF_AUXTRACE_INTEL_BTS = 2,
	PERF_AUXTRACE_CS_ETM = 3,
	PERF_AUXTRACE_ARM_SPE = 4,
	PERF_AUXTRACE_S390_CPUMSF = 5,
	PERF_AUXTRACE_HISI_PTT = 6
};

/* Sections behind the records, and PERF_RECORD_HEADER_FEATURE. */
enum {
	PERF_HEADER_TRACING_DATA = 1,
	PERF_HEADER_BUILD_ID = 2,
	PERF_HEADER_HOSTNAME = 3,
	PERF_HEADER_OSRELEASE = 4,
	PERF_HEADER_VERSION = 5,
	PERF_HEADER_ARCH = 6,
	PERF_HEADER_NRCPUS = 7,
	PERF_HEADER_CPUDESC = 8,
	PERF_HEADER_CPUID = 9,
	PERF_HEADER_CMDLINE = 11,
	PERF_HEADER_EVENT_DESC = 12,
	PERF_HEADER_CPU_TOPOLOGY = 13,
	PERF_HEADER_AUXTRACE = 18,
	PERF_HEADER_CLOCKID = 23,
	PERF_HEADER_BPF_PROG_INFO = 25,
	PERF_HEADER_COMPRESSED = 27,
	PERF_HEADER_CLOCK_DATA = 29,
	PERF_HEADER_FEATURES = 256
};

/* Reads off the front, in the byte order of a file. */
struct hwtdi_perf_bytes {
	struct hwtdi_bytes rest;
	bool big;
};

static inline uint64_t
hwtdi_perf_get(struct hwtdi_perf_bytes *b, size_t n)
{
	const uint8_t *p = hwtdi_bytes_take(&b->rest, n);

	return (p == NULL ? 0 : hwtdi_uint(b->big, p, n));
}

static inline uint32_t
hwtdi_perf_u32(struct hwtdi_perf_bytes *b)
{
	return ((uint32_t)hwtdi_perf_get(b, 4));
}

static inline uint64_t
hwtdi_perf_u64(struct hwtdi_perf_bytes *b)
{
	return (hwtdi_perf_get(b, 8));
}

/*
 * The next `n` bytes as a text: up to its NUL.  NULL: they are not there, or have
 * none.
 */
const char *hwtdi_perf_text(struct hwtdi_perf_bytes *b, size_t n);

#endif /* HWTDI_PERF_FORMAT_H */
