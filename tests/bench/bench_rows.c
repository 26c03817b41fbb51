/*
 * Rows as a user of the library reads them: their time, with several jobs, and
 * their memory.
 */
#include "bench_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_tokens.h"
#include "trace/trace_model.h"

#define ROWS 1024

double
bench_wall_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}

void
bench_print_head(const struct bench_case *c, const char *measure)
{
	(void)printf("{\"case\":");
	bench_print_text(c->name);
	(void)printf(",\"measure\":\"%s\",\"bytes\":%zu", measure, c->trace.n);
}

struct hwtd_events *
bench_rows_open(struct hwtd_trace *trace, uint32_t level, unsigned int jobs)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.level = level,
		.jobs = jobs };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev;

	bench_check(hwtd_events_open(trace, &opts, &ev, &err), &err);
	return (ev);
}

void
bench_rows_read(struct hwtd_events *ev, struct bench_count *out)
{
	static struct hwtd_event rows[ROWS];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_batch batch = { .size = sizeof(batch) };
	int rc = HWTD_OK;

	memset(out, 0, sizeof(*out));
	batch.events = rows;
	batch.stride = sizeof(rows[0]);
	batch.cap = ROWS;
	while (rc == HWTD_OK) {
		rc = hwtd_events_read(ev, &batch, &err);
		out->items += batch.n;
	}
	if (rc != HWTD_END)
		bench_die("%s", err.message);
	(void)hwtd_events_stats(ev, &stats);
	out->insns = stats.insns;
	out->errors = stats.kinds[HWTD_EV_GAP];
}

/* From opening to closing. */
static void
read_once(struct hwtd_trace *trace, unsigned int jobs, struct bench_count *out)
{
	struct hwtd_events *ev = bench_rows_open(trace, HWTD_LEVEL_BLOCK,
	    jobs);

	bench_rows_read(ev, out);
	hwtd_events_close(ev);
}

/* The peer keeps its decoder as well, and synchronises it anew. */
static void
read_again(struct hwtd_events *ev, struct bench_count *out)
{
	struct hwtd_error err = { .size = sizeof(err) };

	bench_check(hwtd_events_seek_offset(ev, 0, 0, &err), &err);
	bench_rows_read(ev, out);
}

BENCH_NOINLINE void
bench_rows_warm(struct hwtd_events *ev, struct bench_count *out)
{
	struct bench_count count;

	/* No tail call: callgrind would not see the end. */
	read_again(ev, &count);
	*out = count;
}

BENCH_NOINLINE void
bench_insns_warm(struct hwtd_events *ev, struct bench_count *out)
{
	struct bench_count count;

	read_again(ev, &count);
	*out = count;
}

void
bench_forget_code(struct hwtd_trace *trace)
{
	/* The code graph, and decoders that know it. */
	hwtdi_trace_forget(trace);
}

BENCH_NOINLINE void
bench_rows_cold(struct hwtd_trace *trace, struct bench_count *out)
{
	struct bench_count count;

	bench_forget_code(trace);
	read_once(trace, 1, &count);
	*out = count;
}

double
bench_cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}

double
bench_rows_time(struct hwtd_trace *trace, unsigned int jobs, double *cpu_least)
{
	double start = bench_wall_seconds(), cpu = bench_cpu_seconds();
	struct bench_count count;

	read_once(trace, jobs, &count);
	cpu = bench_cpu_seconds() - cpu;
	if (*cpu_least == 0 || cpu < *cpu_least)
		*cpu_least = cpu;
	return (bench_wall_seconds() - start);
}

/* CPU seconds of all processes that were waited for. */
static double
children_cpu_seconds(void)
{
	struct rusage r;

	(void)getrusage(RUSAGE_CHILDREN, &r);
	return ((double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	    (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6);
}

double
bench_processes_time(struct hwtd_trace *trace, unsigned int n,
    double *cpu_least)
{
	double start = bench_wall_seconds(), cpu = children_cpu_seconds();
	struct bench_count count;
	int status;

	(void)fflush(stdout);
	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			bench_die("cannot fork");
		if (pid == 0) {
			read_once(trace, 1, &count);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < n; i++)
		if (wait(&status) < 0 || status != 0)
			bench_die("a process failed");
	cpu = children_cpu_seconds() - cpu;
	if (*cpu_least == 0 || cpu < *cpu_least)
		*cpu_least = cpu;
	return (bench_wall_seconds() - start);
}

void
bench_jobs(const struct bench_case *c, const struct hwtd_pt_config *pt,
    unsigned int rounds)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *one, *two;
	struct hwtd_context *ctx;
	/* One stream with 1 and 2 jobs, two with 2, and processes. */
	double best[4] = { 0 };
	double cpu[4] = { 0 };

	bench_check(hwtd_context_create(NULL, &ctx, &err), &err);
	one = bench_case_trace(c, ctx, pt, 1);
	two = bench_case_trace(c, ctx, pt, 2);
	(void)bench_rows_time(one, 1, &cpu[0]);
	(void)bench_rows_time(two, 1, &cpu[2]);
	cpu[2] = 0;
	for (unsigned int i = 0; i < rounds; i++) {
		const double took[4] = { bench_rows_time(one, 1, &cpu[0]),
			bench_rows_time(one, 2, &cpu[1]),
			bench_rows_time(two, 2, &cpu[2]),
			bench_processes_time(one, 2, &cpu[3]) };

		for (size_t j = 0; j < 4; j++)
			if (i == 0 || took[j] < best[j])
				best[j] = took[j];
	}
	bench_print_head(c, "jobs");
	(void)printf(",\"stream_1_job_s\":%.6f,\"stream_2_jobs_s\":%.6f,"
		     "\"streams_2_jobs_s\":%.6f,\"processes_2_s\":%.6f,"
		     "\"ratio\":%.3f,\"stream_ratio\":%.3f,"
		     "\"stream_1_job_cpu_s\":%.6f,"
		     "\"stream_2_jobs_cpu_s\":%.6f,"
		     "\"streams_2_jobs_cpu_s\":%.6f,"
		     "\"processes_2_cpu_s\":%.6f}\n",
	    best[0], best[1], best[2], best[3], best[2] / best[3],
	    2 * best[1] / best[3], cpu[0], cpu[1], cpu[2], cpu[3]);
	(void)fflush(stdout);
	hwtd_trace_close(one);
	hwtd_trace_close(two);
	hwtd_context_destroy(ctx);
}

enum what {
	TOKENS,
	ROWS_1_JOB,
	ROWS_2_JOBS
};

/* The most that was held at a time, without the trace and its code. */
static uint64_t
peak(const struct bench_case *c, const struct hwtd_pt_config *pt,
    enum what what)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct bench_count count;
	uint64_t now, most;

	bench_check(hwtd_context_create(NULL, &ctx, &err), &err);
	trace = bench_case_trace(c, ctx, pt, 1);
	if (what == TOKENS)
		bench_tokens_cold(trace, false, &count);
	else
		read_once(trace, what == ROWS_2_JOBS ? 2 : 1, &count);
	hwtd_context_memory(ctx, &now, &most);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (most - c->trace.n - c->image_bytes);
}

void
bench_memory(const struct bench_case *c, const struct hwtd_pt_config *pt)
{
	bench_print_head(c, "memory");
	(void)printf(",\"image_bytes\":%" PRIu64
		     ",\"tokens_peak_bytes\":%" PRIu64
		     ",\"rows_peak_bytes\":%" PRIu64
		     ",\"rows_2_jobs_peak_bytes\":%" PRIu64 "}\n",
	    c->image_bytes, peak(c, pt, TOKENS), peak(c, pt, ROWS_1_JOB),
	    peak(c, pt, ROWS_2_JOBS));
	(void)fflush(stdout);
}
