/*
 * What is known of a perf.data while it is read; of this folder.
 */
#ifndef HWTDI_PERF_FILE_H
#define HWTDI_PERF_FILE_H

#include "base/index.h"
#include "trace/import/perf/perf_events.h"
#include "trace/import/perf/perf_time.h"

/* Texts of the header.  NULL: not told. */
struct hwtdi_perf_texts {
	char *hostname;
	char *release;
	char *version;
	char *arch;
	char *cpu_model;
	/* "GenuineIntel,6,78,3"; of Arm the MIDR. */
	char *cpuid;
	/* How many there are, and in how many sockets. */
	char *cpus;
	char *sockets;
	char *command;
	/* Of the clock of records, beside its name. */
	char *clock;
};

/* The build-id of a file. */
struct hwtdi_perf_build_id {
	char *name;
	uint32_t n;
	uint8_t bytes[HWTD_MAX_BUILD_ID];
};

/* No buffer has as many bytes, and no piece of one. */
#define HWTDI_PERF_MAX_BYTES ((uint64_t)1 << 48)

/* PERF_RECORD_AUXTRACE. */
struct hwtdi_perf_buffer {
	uint64_t data_off;
	uint64_t n_data;
	/* The bytes, where the file has them only compressed. */
	uint8_t *bytes;
	uint64_t n_told;
	/* Place in what the event wrote. */
	uint64_t aux_off;
	uint32_t idx;
	uint32_t tid;
	uint32_t cpu;
	/* Order in the file. */
	uint32_t no;
};

/* PERF_RECORD_AUX: a piece that was written at one go. */
struct hwtdi_perf_piece {
	uint64_t aux_off;
	uint64_t n;
	uint64_t flags;
	uint32_t cpu;
	uint32_t tid;
	/* Its record in the trace. */
	size_t record;
	/* Of its queue, + 1. */
	uint32_t queue_plus_1;
	/* Where its last byte is followed by others, in all bytes of the queue. */
	bool has_end;
	uint64_t end;
};

/* Of PERF_RECORD_AUXTRACE_INFO: a CPU and how it was traced. */
struct hwtdi_perf_traced_cpu {
	uint32_t cpu;
	/* CoreSight. */
	struct hwtd_coresight_config coresight;
	/* Its timestamps count as the clock of records does. */
	bool is_kernel_time;
	/* By PERF_RECORD_AUX_OUTPUT_HW_ID; 0: it has none. */
	uint32_t trace_id;
	bool has_sink;
	uint32_t sink;
	/* SPE. */
	uint32_t midr;
};

struct hwtdi_perf_aux {
	/* PERF_AUXTRACE_*; 0: none. */
	uint32_t kind;
	uint32_t pmu_type;
	bool is_snapshot;
	struct hwtd_pt_config pt;
	/* PT: which bits of the event's config are the period of MTC. */
	uint64_t mtc_bits;
	/* By number. */
	struct hwtdi_perf_traced_cpu *cpus;
	size_t n_cpus, cap_cpus;
	/* Records tell trace IDs. */
	bool has_hw_ids;
	struct hwtdi_perf_buffer *buffers;
	size_t n_buffers, cap_buffers;
	struct hwtdi_perf_piece *pieces;
	size_t n_pieces, cap_pieces;
};

/* Code that the kernel changed, all of it one image. */
struct hwtdi_perf_pokes {
	uint8_t *bytes;
	size_t n, cap;
	/* Records of the trace whose image it is. */
	size_t *records;
	size_t n_records, cap_records;
	/* Of those whose address was not changed before. */
	struct hwtdi_index addresses;
};

/* A function of a BPF program: [off, off + n) of what is kept of all. */
struct hwtdi_perf_function {
	uint64_t address;
	/* Of its program. */
	uint64_t tag;
	uint64_t off;
	uint64_t n;
};

struct hwtdi_perf_bpf {
	uint8_t *bytes;
	size_t n, cap;
	struct hwtdi_perf_function *functions;
	size_t n_functions, cap_functions;
};

struct hwtdi_perf_file {
	struct hwtd_trace *trace;
	const struct hwtd_open_options *opts;
	struct hwtd_error *err;
	bool big;
	/* Of records that do not tell theirs. */
	uint32_t cpu;
	/* What is wrong with a record is an error, and no damage. */
	bool strict;
	bool switches_only;
	/* Threads ended. */
	bool has_exits;
	/* Of the file in memory; NULL: that of the trace. */
	const char *name;
	struct hwtdi_perf_events events;
	struct hwtdi_perf_texts texts;
	struct hwtdi_perf_build_id *build_ids;
	size_t n_build_ids, cap_build_ids;
	/* Where bytes of trace begin. */
	uint64_t *stops;
	size_t n_stops, cap_stops;
	/* How counts of the hardware become time of records, if that is known. */
	struct hwtdi_perf_time time;
	bool has_time;
	struct hwtdi_perf_aux aux;
	struct hwtdi_perf_pokes pokes;
	struct hwtdi_perf_bpf bpf;
};

/* Features: sections of a file, or records. */

/*
 * What a feature says.  What cannot be read of it is noted as damage; `off` is
 * where it lies in the file.
 */
int hwtdi_perf_feature(struct hwtdi_perf_file *f, unsigned feature,
    uint64_t off, struct hwtdi_perf_bytes bytes);

/* PERF_RECORD_HEADER_BUILD_ID, and what the feature is made of. */
int hwtdi_perf_build_id(struct hwtdi_perf_file *f, uint32_t misc,
    struct hwtdi_perf_bytes body);

/* When all records are read: the build-ids of the files that they name. */
void hwtdi_perf_give_build_ids(struct hwtdi_perf_file *f);

/* When all is read: the texts of the trace. */
int hwtdi_perf_give_texts(struct hwtdi_perf_file *f);

/* Records about programs: what the kernel, and perf for it, wrote. */
int hwtdi_perf_sideband(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record);

/* PERF_RECORD_SAMPLE. */
int hwtdi_perf_sample(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record);

/* When all are read: which ends of threads are those of processes. */
int hwtdi_perf_give_exits(struct hwtdi_perf_file *f);

/* Code in files beside it: of the kernel, and made by programs. */
int hwtdi_perf_give_kernel(struct hwtdi_perf_file *f);
int hwtdi_perf_give_jitdumps(struct hwtdi_perf_file *f);
int hwtdi_perf_give_perf_maps(struct hwtdi_perf_file *f);

/* The clock of counts of the hardware; false: not known. */
bool hwtdi_perf_clock(const struct hwtdi_perf_file *f, struct hwtd_clock *out);

/* The feature of BPF programs; and when all is read, their code. */
int hwtdi_perf_bpf_read(struct hwtdi_perf_file *f,
    struct hwtdi_perf_bytes *bytes);
int hwtdi_perf_give_bpf(struct hwtdi_perf_file *f);

/* When all are read: the code that was changed. */
int hwtdi_perf_give_pokes(struct hwtdi_perf_file *f);

/* PERF_RECORD_AUXTRACE_INFO. */
int hwtdi_perf_auxtrace_info(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record);

/* How a CPU was traced; NULL: not told. */
struct hwtdi_perf_traced_cpu *hwtdi_perf_traced_cpu(
    const struct hwtdi_perf_file *f, uint32_t cpu);

/* PERF_RECORD_AUXTRACE, PERF_RECORD_TIME_CONV. */
int hwtdi_perf_auxtrace(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record);
int hwtdi_perf_time_conv(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record);

/* When all is read: the streams. */
int hwtdi_perf_give_streams(struct hwtdi_perf_file *f);

/* A record is not as its type says; `what` names the field. */
int hwtdi_perf_bad_record(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record, const char *what);

/* The name of a type of records, for messages. */
const char *hwtdi_perf_record_name(uint32_t type);

#endif /* HWTDI_PERF_FILE_H */
