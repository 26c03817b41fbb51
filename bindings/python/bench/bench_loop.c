/*
 * The rows of a trace as a C program reads them: instructions are added up, and
 * rows that are one, as bench_batches.py does it with columns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hwtdecode/hwtdecode.h>

#define ROWS 1024

static double
seconds(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}

static int
fail(const struct hwtd_error *err)
{
	(void)fprintf(stderr, "bench_loop: %s\n", err->message);
	return (1);
}

/* One pass over at most so many rows, as a line of JSON. */
static int
run(struct hwtd_trace *trace, uint64_t most, uint32_t jobs)
{
	static struct hwtd_event rows[ROWS];
	const struct hwtd_events_options o = { .size = sizeof(o),
		.level = HWTD_LEVEL_INSN,
		.jobs = jobs };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	double wall = seconds(CLOCK_MONOTONIC);
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t n = 0, insns = 0, code = 0;
	struct hwtd_events *ev;
	int rc = hwtd_events_open(trace, &o, &ev, &err);

	if (rc != HWTD_OK)
		return (fail(&err));
	while (rc == HWTD_OK && n < most) {
		rc = hwtd_events_read(ev, &batch, &err);
		for (size_t i = 0; i < batch.n; i++) {
			insns += rows[i].insns;
			code += rows[i].kind == HWTD_EV_INSN;
		}
		n += batch.n;
	}
	hwtd_events_close(ev);
	if (rc < 0)
		return (fail(&err));
	(void)printf("{\"rows\": %" PRIu64 ", \"insns\": %" PRIu64
		     ", \"code\": %" PRIu64
		     ", \"wall\": %.4f, \"cpu\": %.4f}\n",
	    n, insns, code, seconds(CLOCK_MONOTONIC) - wall,
	    seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	(void)fflush(stdout);
	return (0);
}

int
main(int argc, char *argv[])
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	char line[64];

	if (argc != 4) {
		(void)fprintf(stderr,
		    "usage: bench_loop TRACE ROWS JOBS\n"
		    "One pass for each line of the input.\n");
		return (2);
	}
	if (hwtd_context_create(NULL, &ctx, &err) != HWTD_OK ||
	    hwtd_trace_open(ctx, argv[1], NULL, &trace, &err) != HWTD_OK)
		return (fail(&err));
	while (fgets(line, sizeof(line), stdin) != NULL)
		if (run(trace, strtoull(argv[2], NULL, 0),
			(uint32_t)strtoul(argv[3], NULL, 0)) != 0)
			return (1);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (0);
}
