/*
 * perf.data put together number by number, in either byte order, so that what a
 * test knows is what is in the file; and so that files can lie.
 */
#ifndef TEST_PERF_WRITER_H
#define TEST_PERF_WRITER_H

#include <hwtdecode/hwtdecode.h>

/* Types of records and bits that tests name. */
enum {
	PW_MMAP = 1,
	PW_LOST = 2,
	PW_COMM = 3,
	PW_EXIT = 4,
	PW_FORK = 7,
	PW_SAMPLE = 9,
	PW_MMAP2 = 10,
	PW_AUX = 11,
	PW_ITRACE_START = 12,
	PW_LOST_SAMPLES = 13,
	PW_SWITCH = 14,
	PW_SWITCH_CPU_WIDE = 15,
	PW_NAMESPACES = 16,
	PW_KSYMBOL = 17,
	PW_BPF_EVENT = 18,
	PW_CGROUP = 19,
	PW_TEXT_POKE = 20,
	PW_HW_ID = 21,
	PW_HEADER_ATTR = 64,
	PW_TRACING_DATA = 66,
	PW_BUILD_ID = 67,
	PW_ID_INDEX = 69,
	PW_AUXTRACE_INFO = 70,
	PW_AUXTRACE = 71,
	PW_TIME_CONV = 79,
	PW_HEADER_FEATURE = 80,
	PW_COMPRESSED = 81,
	PW_COMPRESSED2 = 83
};

#define PW_IP 0x1u
#define PW_TID 0x2u
#define PW_TIME 0x4u
#define PW_ADDR 0x8u
#define PW_ID 0x40u
#define PW_CPU 0x80u
#define PW_STREAM_ID 0x200u
#define PW_IDENTIFIER 0x10000u

/* What most files have. */
#define PW_USUAL (PW_TID | PW_TIME | PW_CPU | PW_IDENTIFIER)

/* misc. */
#define PW_KERNEL 1u
#define PW_USER 2u
#define PW_GUEST_KERNEL 4u
#define PW_COMM_EXEC 0x2000u
#define PW_SWITCH_OUT 0x2000u
#define PW_MMAP_BUILD_ID 0x4000u
#define PW_BUILD_ID_SIZE 0x8000u

/* Flags of AUX. */
#define PW_TRUNCATED 0x1u
#define PW_OVERWRITE 0x2u
#define PW_PARTIAL 0x4u
#define PW_RAW 0x100u

/* Who wrote a record, and when. */
struct pw_who {
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t id;
	uint32_t cpu;
};

struct pw {
	bool big;
	uint8_t *bytes;
	size_t n, cap;
	/* Of the record that is being written. */
	size_t record;
	/* What records end with, where pw_end() writes it. */
	uint64_t sample_type;
	/* Where the records of a file begin. */
	size_t data;
	/* Features of the header: pw_finish() puts them behind the records. */
	struct {
		unsigned no;
		uint8_t *bytes;
		size_t n;
	} features[8];
	size_t n_features;
};

/* Records alone. */
void pw_init(struct pw *w, bool big, uint64_t sample_type);
void pw_fini(struct pw *w);

/* The header of a file of one event, ID 1, which is of PMU 8. */
void pw_file(struct pw *w, bool big, uint64_t sample_type);

/* The header of what comes through a pipe, and one event as pw_file() has it. */
void pw_pipe(struct pw *w, bool big, uint64_t sample_type);

/*
 * A feature of the header of a file, which is what another one holds; in the order
 * of their numbers.
 */
void pw_feature(struct pw *w, unsigned no, const struct pw *content);
/* One that is a text. */
void pw_text_feature(struct pw *w, unsigned no, const char *text);

/* All records of a file are written. */
void pw_finish(struct pw *w);

/* perf_event_attr of `n` bytes. */
void pw_attr(struct pw *w, size_t n, uint32_t type, uint64_t config,
    uint64_t sample_type);

void pw_put(struct pw *w, uint64_t v, size_t n);
void pw_bytes(struct pw *w, const void *bytes, size_t n);
/* A text filled up to 8 bytes. */
void pw_text(struct pw *w, const char *text);
/* Change what was written. */
void pw_set(struct pw *w, size_t at, uint64_t v, size_t n);

/* A record; pw_end() sets its size, behind what it ends with (NULL: nothing). */
size_t pw_begin(struct pw *w, uint32_t type, uint32_t misc);
void pw_end(struct pw *w, const struct pw_who *who);
/* What records end with, by a sample type. */
void pw_who(struct pw *w, uint64_t sample_type, const struct pw_who *who);

/* Records that many tests need. */
void pw_mmap(struct pw *w, const struct pw_who *who, uint32_t misc,
    uint32_t pid, uint64_t addr, uint64_t len, const char *name);
void pw_comm(struct pw *w, const struct pw_who *who, uint32_t misc,
    uint32_t pid, uint32_t tid, const char *name);
void pw_task(struct pw *w, const struct pw_who *who, uint32_t type,
    uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid);
void pw_switch(struct pw *w, const struct pw_who *who, bool is_out);
void pw_aux(struct pw *w, const struct pw_who *who, uint64_t off, uint64_t n,
    uint64_t flags);
/* PERF_RECORD_AUXTRACE_INFO of Intel PT, CoreSight (no CPU) and Arm SPE. */
void pw_info_pt(struct pw *w, bool is_snapshot);
void pw_info_spe(struct pw *w);

/*
 * PERF_RECORD_AUXTRACE that says `told` bytes, and the `n` bytes behind it.
 * `cpu`, `tid`: HWTD_NO_ID where it is not of one.
 */
void pw_auxtrace(struct pw *w, uint64_t told, uint64_t off, uint32_t idx,
    uint32_t cpu, uint32_t tid, const void *bytes, size_t n);

/* Write a file and open it; NULL `opts`: defaults.  The code of opening. */
int pw_open_in(struct hwtd_context *ctx, const struct pw *w,
    const struct hwtd_open_options *opts, struct hwtd_trace **out,
    struct hwtd_error *err);

/* It is to succeed. */
struct hwtd_trace *pw_open(const struct pw *w,
    const struct hwtd_open_options *opts);

/* Records of a trace, and damage: its place and text. */
size_t pw_n_records(const struct hwtd_trace *trace);
struct hwtd_record pw_record(const struct hwtd_trace *trace, uint64_t no);
void pw_assert_no_damage(const struct hwtd_trace *trace);
/* The only one.  `text`: a part of it. */
void pw_assert_damage(const struct hwtd_trace *trace, uint64_t off,
    const char *text);

#endif /* TEST_PERF_WRITER_H */
