/*
 * Benchmark of CoreSight decoding: rows against a bare OpenCSD loop on the same
 * trace, in the same run; two jobs against two processes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cs_peer.h"
#include "bench_rows.h"

struct side {
	struct bench_count count;
	/* CPU seconds of the best round. */
	double best;
};

static void
keep_best(double took, double *best)
{
	if (*best == 0 || took < *best)
		*best = took;
}

static void
run_peer(struct hwtd_trace *trace, struct side *side)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	double cpu = 0;

	memset(&side->count, 0, sizeof(side->count));
	(void)hwtd_trace_info(trace, &info);
	for (uint32_t i = 0; i < info.n_streams; i++) {
		struct bench_cs_input input;
		double start;

		if (!bench_cs_input_load(trace, i, &input))
			continue;
		start = bench_cpu_seconds();
		bench_cs_peer(&input, &side->count);
		cpu += bench_cpu_seconds() - start;
		bench_cs_input_free(&input);
	}
	keep_best(cpu, &side->best);
}

static void
run_rows(struct hwtd_trace *trace, struct side *side)
{
	const double start = bench_cpu_seconds();

	bench_rows_cold(trace, &side->count);
	keep_best(bench_cpu_seconds() - start, &side->best);
}

static void
print_rows(const char *name, const struct side *ours, const struct side *peer)
{
	(void)printf("{\"case\":");
	bench_print_text(name);
	(void)printf(",\"measure\":\"coresight rows\",\"bytes\":0,"
		     "\"insns\":%" PRIu64 ",\"rows\":%" PRIu64
		     ",\"gaps\":%" PRIu64 ",\"cpu_s\":%.6f,"
		     "\"peer\":\"OpenCSD\",\"peer_insns\":%" PRIu64
		     ",\"peer_errors\":%" PRIu64
		     ",\"peer_cpu_s\":%.6f,\"ratio\":%.4f}\n",
	    ours->count.insns, ours->count.items, ours->count.errors,
	    ours->best, peer->count.insns, peer->count.errors, peer->best,
	    ours->best / peer->best);
	(void)fflush(stdout);
}

/* The sources of one trace with two jobs, and two processes with one each. */
static void
bench_two(const char *name, struct hwtd_trace *trace, unsigned int rounds)
{
	double cpu = 0, jobs = 0, processes = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		keep_best(bench_rows_time(trace, 2, &cpu), &jobs);
		keep_best(bench_processes_time(trace, 2, &cpu), &processes);
	}
	(void)printf("{\"case\":");
	bench_print_text(name);
	(void)printf(",\"measure\":\"coresight jobs\",\"bytes\":0,"
		     "\"jobs_2_s\":%.6f,\"processes_2_s\":%.6f,"
		     "\"throughput_ratio\":%.3f}\n",
	    jobs, processes, processes / (2 * jobs));
	(void)fflush(stdout);
}

static bool
bench(const char *path, unsigned int rounds, bool jobs,
    struct hwtd_context *ctx)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct side ours = { .best = 0 };
	struct side peer = { .best = 0 };
	struct hwtd_trace *trace;
	bool same;

	bench_check(hwtd_trace_open(ctx, path, NULL, &trace, &err), &err);
	for (unsigned int i = 0; i < rounds; i++) {
		run_peer(trace, &peer);
		run_rows(trace, &ours);
	}
	print_rows(path, &ours, &peer);
	if (jobs)
		bench_two(path, trace, rounds);
	hwtd_trace_close(trace);
	same = ours.count.insns == peer.count.insns;
	if (!same)
		(void)fprintf(stderr, "bench: %s: instructions differ\n",
		    path);
	return (same);
}

int
main(int argc, char **argv)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	unsigned int rounds = 9;
	bool jobs = false, same = true;
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++)
		if (strcmp(argv[i], "--jobs") == 0)
			jobs = true;
		else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
			rounds = (unsigned int)strtoul(argv[++i], NULL, 10);
		else
			break;
	if (i >= argc || rounds == 0 || argv[i][0] == '-') {
		(void)fputs("usage: bench_coresight [--rounds N] [--jobs] "
			    "trace...\n",
		    stderr);
		return (2);
	}
	bench_check(hwtd_context_create(NULL, &ctx, &err), &err);
	for (; i < argc; i++)
		same &= bench(argv[i], rounds, jobs, ctx);
	hwtd_context_destroy(ctx);
	return (same ? 0 : 1);
}
