/*
 * What the parts of hwtdecode-flow share: sinks, each of which sees every row
 * of one decode and writes or checks one thing.
 */
#ifndef HWTDECODE_CONFORMANCE_FLOW_H
#define HWTDECODE_CONFORMANCE_FLOW_H

#include <hwtdecode/hwtdecode.h>

#include <stdio.h>

struct flow_sink {
	/* See the rows of one batch. */
	void (*rows)(struct flow_sink *sink, const struct hwtd_batch *batch);
	/* All rows were seen.  False: a check failed. */
	bool (*end)(struct flow_sink *sink);
	struct flow_sink *next;
};

/* How far the time of a row may be from the truth. */
enum flow_time_rule {
	FLOW_TIME_NONE,
	/* At most `ticks` away. */
	FLOW_TIME_TICKS,
	/* At most `ticks` outside the sync records around it. */
	FLOW_TIME_ANCHORS,
	/* That of the time stamp before, and exact where one is. */
	FLOW_TIME_STAMPS
};

struct flow_time {
	enum flow_time_rule rule;
	uint64_t ticks;
};

/* Allocate or leave the program. */
void *flow_alloc(size_t bytes);
void *flow_grow(void *old, size_t bytes);
/* Print a message and leave the program with exit code 2. */
_Noreturn void flow_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Runs of consecutive instructions: s, b and x lines. */
struct flow_sink *flow_runs(FILE *out);
/* Address, size and mode of each instruction. */
struct flow_sink *flow_insns(FILE *out);
/* Name of the instruction set of a row, as flow.txt has it. */
const char *flow_mode_of(const struct hwtd_event *row);
/* Hash over the executed addresses: h lines. */
struct flow_sink *flow_hash(FILE *out);
/* Taken and not taken branches with counts. */
struct flow_sink *flow_edges(FILE *out);
/* All rows that are not code, one a line. */
struct flow_sink *flow_events(FILE *out, const struct hwtd_trace *trace,
    bool cycles);
/* Reason and bytes of all gaps. */
struct flow_sink *flow_gaps(FILE *out);
/* Compare every executed address with a list. */
struct flow_sink *flow_sequence(const char *path, FILE *out);
/* Compare with a list of truth records, as to times also their packets. */
struct flow_sink *flow_truth(const char *path, struct flow_time time,
    struct hwtd_trace *trace, uint32_t stream, FILE *out);

/* A place of known time, and what the engine told. */
struct flow_times_record {
	uint64_t off;
	uint64_t truth;
	/* What is right within the tolerance, and what is exact. */
	uint64_t low;
	uint64_t high;
	uint64_t from;
	uint64_t to;
	uint64_t engine;
};

/* The same of packets: collect places, and then compare. */
struct flow_times;

struct flow_times *flow_times_create(void);
void flow_times_add(struct flow_times *times,
    const struct flow_times_record *record);
bool flow_times_end(struct flow_times *times, struct hwtd_trace *trace,
    uint32_t stream, uint64_t ticks, FILE *out);

#define FLOW_CORESIGHT_SOURCES 16

/* What options say of CoreSight streams. */
struct flow_coresight {
	uint32_t framing;
	size_t n_sources;
	struct hwtd_coresight_config sources[FLOW_CORESIGHT_SOURCES];
};

/* Take in "NAME=VALUE". */
void flow_coresight_set(struct flow_coresight *coresight, char *text);
/*
 * Add a stream for each source, with frames behind one for the sink; else they
 * are like `like`.  Returns the stream whose bytes are to be added.
 */
uint32_t flow_coresight_add(struct hwtd_trace *trace,
    const struct flow_coresight *coresight,
    const struct hwtd_stream_desc *like);

/* Add records of mappings that a file tells. */
void flow_add_maps(struct hwtd_trace *trace, uint32_t stream, uint32_t pid,
    const char *path);

/* Write a row that is not code, without a newline. */
void flow_put_row(FILE *out, const struct hwtd_trace *trace,
    const struct hwtd_event *row, const struct hwtd_batch *batch);

/*
 * Decode with two engines, `how` says what, and write where their rows differ.
 * False: they do.
 */
bool flow_compare(struct hwtd_trace *trace,
    const struct hwtd_events_options *how, const char *const engines[2],
    FILE *out);

/* The gap detail of a row of kind HWTD_EV_GAP, or NULL. */
const struct hwtd_gap *flow_gap_of(const struct hwtd_batch *batch,
    const struct hwtd_event *row);

#endif /* HWTDECODE_CONFORMANCE_FLOW_H */
