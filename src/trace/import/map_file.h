/*
 * Files that users write to say what lay where while raw bytes were recorded:
 * a fact in each line, or tables as procstat(1) and kldstat(8) print them.
 */
#ifndef HWTDI_MAP_FILE_H
#define HWTDI_MAP_FILE_H

#include "trace/trace_internal.h"

/* Bytes of one at the most. */
#define HWTDI_MAP_MAX_TEXT ((uint64_t)64 << 20)

/* A thread that hwt(4) counts by `index`. */
struct hwtdi_map_thread {
	uint32_t index;
	/* HWTD_NO_ID: not told. */
	uint32_t tid;
	uint32_t line;
};

/* All zero: none. */
struct hwtdi_map_file {
	/* Names borrow from it. */
	char *text;
	size_t room;
	/* In the order of lines. */
	struct hwtd_record *records;
	size_t n_records, cap_records;
	struct hwtdi_map_thread *threads;
	size_t n_threads, cap_threads;
	/* Whose raw bytes they are: plus 1; 0: not told. */
	uint32_t pid_plus_1;
	/* Numbers of files and sources are those of CPUs. */
	bool by_cpu;
};

/*
 * Read the file at `path` and note it in the trace.  `pid_plus_1` is whose the
 * first lines are, where they do not tell; 0: nobody knows.
 *
 * HWTD_E_CORRUPT: a line is not understood; the message names file and line and
 * says what is expected.  HWTD_E_IO, HWTD_E_LIMIT, HWTD_E_NOMEM.
 */
int hwtdi_map_file_read(struct hwtdi_map_file *map, struct hwtd_trace *trace,
    const char *path, uint32_t pid_plus_1, struct hwtd_error *err);
void hwtdi_map_file_fini(struct hwtdi_map_file *map, struct hwtd_context *ctx);

/* The thread that is counted by `index`: its id, or HWTD_NO_ID. */
uint32_t hwtdi_map_file_tid(const struct hwtdi_map_file *map, uint32_t index);

/* Add its records.  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_map_file_add(const struct hwtdi_map_file *map,
    struct hwtd_trace *trace, struct hwtd_error *err);

#endif /* HWTDI_MAP_FILE_H */
