/*
 * Rows as a user of the library reads them.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "bench_peer.h"

/* A cursor over the only stream of a trace, and what is left in it. */
struct hwtd_events *bench_rows_open(struct hwtd_trace *trace, uint32_t level,
    unsigned int jobs);
void bench_rows_read(struct hwtd_events *ev, struct bench_count *out);

/* All rows once more, of a cursor that has read them before. */
void bench_rows_warm(struct hwtd_events *ev, struct bench_count *out);
/* The same at instruction level. */
void bench_insns_warm(struct hwtd_events *ev, struct bench_count *out);
/* Rows, with a new code graph. */
void bench_rows_cold(struct hwtd_trace *trace, struct bench_count *out);

/* Runs of a trace: what coverage takes; and edges besides. */
void bench_coverage_warm(struct hwtd_trace *trace, struct bench_count *out);
void bench_edges_warm(struct hwtd_trace *trace, struct bench_count *out);
/* Calls of a trace, with symbols. */
void bench_calls_warm(struct hwtd_trace *trace, struct bench_count *out);
/*
 * A profile of all code of a trace by function, from opening to closing; and only
 * its names: where each run begins.
 */
void bench_report_warm(struct hwtd_trace *trace, struct bench_count *out);
void bench_names_warm(struct hwtd_trace *trace, struct hwtd_runs *runs,
    struct bench_count *out);
/* Runs that names are asked for. */
struct hwtd_runs *bench_runs_open(struct hwtd_trace *trace);
void bench_coverage_cold(struct hwtd_trace *trace, struct bench_count *out);

/* Forget the code graph of a trace. */
void bench_forget_code(struct hwtd_trace *trace);

/* Two jobs against two processes; a line is printed. */
void bench_jobs(const struct bench_case *c, const struct hwtd_pt_config *pt,
    unsigned int rounds);

/* Memory beyond that of the trace and its code; a line is printed. */
void bench_memory(const struct bench_case *c, const struct hwtd_pt_config *pt);

/*
 * The first rows of a long trace, and seeking in it.  `path` is made, of the
 * trace of the case over and over, and removed.  A line is printed.
 */
void bench_first(struct bench_case *c, const struct hwtd_pt_config *pt,
    const char *path, uint64_t bytes);

/* Print the beginning of a line. */
void bench_print_head(const struct bench_case *c, const char *measure);

double bench_wall_seconds(void);
/* Of all threads. */
double bench_cpu_seconds(void);

/*
 * Wall seconds to read the rows of a trace, from opening to closing a cursor;
 * the same of so many processes that do it at the same time.  The least CPU
 * seconds are kept.
 */
double bench_rows_time(struct hwtd_trace *trace, unsigned int jobs,
    double *cpu_least);
double bench_processes_time(struct hwtd_trace *trace, unsigned int n,
    double *cpu_least);

#endif /* BENCH_ROWS_H */
