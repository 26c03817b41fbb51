/*
 * Benchmark of Arm SPE: records in full and packets against copying the same
 * bytes, in the same run; two jobs against two processes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_input.h"
#include "bench_rows.h"

#define ROWS 1024
#define GIB ((uint64_t)1 << 30)

struct found {
	uint64_t records, packets, gaps;
	/* Of all records or packets, so that all of it has to be made. */
	uint64_t sum;
};

struct side {
	struct found found;
	/* CPU seconds of the best round. */
	double best;
};

struct work {
	/* `n` bytes, a trace of the same, and room for as many. */
	struct bench_bytes bytes;
	uint8_t *copy;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct side memcpy_, records, packets;
};

static void
keep_best(double start, double *best)
{
	const double took = bench_cpu_seconds() - start;

	if (*best == 0 || took < *best)
		*best = took;
}

static void
run_memcpy(struct work *w)
{
	const double start = bench_cpu_seconds();

	memcpy(w->copy, w->bytes.at, w->bytes.n);
	keep_best(start, &w->memcpy_.best);
}

static void
read_records(struct hwtd_trace *trace, unsigned int jobs, struct found *out)
{
	static struct hwtd_event rows[ROWS];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	struct hwtd_events *ev = bench_rows_open(trace, HWTD_LEVEL_BLOCK,
	    jobs);
	int rc = HWTD_OK;

	memset(out, 0, sizeof(*out));
	while (rc == HWTD_OK) {
		rc = hwtd_events_read(ev, &batch, &err);
		out->gaps += batch.n - batch.n_samples;
		out->records += batch.n_samples;
		for (size_t i = 0; i < batch.n_samples; i++) {
			const struct hwtd_sample *
			    s = (const void *)((const uint8_t *)batch.samples +
				i * batch.sample_stride);

			out->sum += s->pc ^ s->va ^ s->count;
		}
	}
	if (rc != HWTD_END)
		bench_die("%s", err.message);
	hwtd_events_close(ev);
}

static void
run_records(struct work *w)
{
	const double start = bench_cpu_seconds();

	read_records(w->trace, 1, &w->records.found);
	keep_best(start, &w->records.best);
}

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	struct found *found = arg;

	found->packets++;
	found->sum += packet->value;
	return (0);
}

static int
see_payload(void *arg, uint64_t off, uint32_t kind, uint32_t header,
    uint64_t value)
{
	struct found *found = arg;

	(void)off;
	(void)kind;
	(void)header;
	found->packets++;
	found->sum += value;
	return (0);
}

static void
run_packets(struct work *w)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.packet = see_packet,
		.payload = see_payload,
	};
	const double start = bench_cpu_seconds();
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets;

	memset(&w->packets.found, 0, sizeof(w->packets.found));
	bench_check(hwtd_packets_open(w->trace, NULL, &packets, &err), &err);
	if (hwtd_packets_visit(packets, &visitor, &w->packets.found, &err) !=
	    HWTD_END)
		bench_die("%s", err.message);
	hwtd_packets_close(packets);
	keep_best(start, &w->packets.best);
}

static void
load(struct work *w, char **paths, int n_paths, uint64_t bytes)
{
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	struct hwtd_error err = { .size = sizeof(err) };
	uint32_t id;

	w->bytes.at = malloc(bytes);
	w->copy = malloc(bytes);
	if (w->bytes.at == NULL || w->copy == NULL)
		bench_die("out of memory");
	/* So that no page is new when it is copied to. */
	memset(w->copy, 1, bytes);
	for (int i = 0; w->bytes.n < bytes; i = (i + 1) % n_paths) {
		struct bench_bytes file;
		size_t n;

		if (!bench_read(paths[i], &file))
			bench_die("no file %s", paths[i]);
		n = file.n < bytes - w->bytes.n ? file.n : bytes - w->bytes.n;
		if (n == 0)
			bench_die("%s is empty", paths[i]);
		memcpy(w->bytes.at + w->bytes.n, file.at, n);
		w->bytes.n += n;
		free(file.at);
	}
	bench_check(hwtd_context_create(NULL, &w->ctx, &err), &err);
	bench_check(hwtd_trace_create(w->ctx, NULL, &w->trace, &err), &err);
	bench_check(hwtd_trace_add_stream(w->trace, &desc, &id, &err), &err);
	bench_check(hwtd_trace_add_bytes(w->trace, id, w->bytes.at, w->bytes.n,
			&err),
	    &err);
	bench_check(hwtd_trace_seal(w->trace, &err), &err);
}

/* The most that was held while all records were read, but for the trace. */
static uint64_t
peak(struct work *w)
{
	uint64_t before, most;
	struct found found;

	hwtd_context_memory(w->ctx, &before, &most);
	read_records(w->trace, 1, &found);
	hwtd_context_memory(w->ctx, &before, &most);
	return (most - before);
}

static void
bench_two(struct work *w, unsigned int rounds)
{
	double cpu = 0, jobs = 0, processes = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		const double two = bench_rows_time(w->trace, 2, &cpu);
		const double apart = bench_processes_time(w->trace, 2, &cpu);

		jobs = i == 0 || two < jobs ? two : jobs;
		processes = i == 0 || apart < processes ? apart : processes;
	}
	(void)printf("{\"case\":\"spe\",\"measure\":\"spe jobs\","
		     "\"bytes\":%zu,\"jobs_2_s\":%.6f,\"processes_2_s\":%.6f,"
		     "\"throughput_ratio\":%.3f}\n",
	    w->bytes.n, jobs, processes, processes / (2 * jobs));
}

int
main(int argc, char **argv)
{
	struct work w = { .bytes = { NULL, 0 } };
	uint64_t bytes = GIB;
	unsigned int rounds = 5;
	bool jobs = false;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++)
		if (strcmp(argv[i], "--jobs") == 0)
			jobs = true;
		else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0)
			rounds = (unsigned int)atoi(argv[++i]);
		else if (i + 1 < argc && strcmp(argv[i], "--bytes") == 0)
			bytes = strtoull(argv[++i], NULL, 10);
		else
			break;
	if (i == argc || argv[i][0] == '-' || rounds == 0 || bytes == 0) {
		(void)
		    fputs("usage: bench_spe [--rounds N] [--bytes N] [--jobs] "
			  "FILE...\n"
			  "  The raw bytes of FILEs (or FILE.zst), over and "
			  "over.\n",
			stderr);
		return (2);
	}
	load(&w, argv + i, argc - i, bytes);
	for (unsigned int r = 0; r < rounds; r++) {
		run_memcpy(&w);
		run_records(&w);
		run_packets(&w);
	}
	(void)printf("{\"case\":\"spe\",\"measure\":\"spe\",\"bytes\":%zu,"
		     "\"records\":%" PRIu64 ",\"packets\":%" PRIu64
		     ",\"gaps\":%" PRIu64 ",\"memcpy_cpu_s\":%.6f,"
		     "\"records_cpu_s\":%.6f,\"packets_cpu_s\":%.6f,"
		     "\"records_ratio\":%.2f,\"packets_ratio\":%.2f,"
		     "\"peak_bytes\":%" PRIu64 "}\n",
	    w.bytes.n, w.records.found.records, w.packets.found.packets,
	    w.records.found.gaps, w.memcpy_.best, w.records.best,
	    w.packets.best, w.records.best / w.memcpy_.best,
	    w.packets.best / w.memcpy_.best, peak(&w));
	(void)fflush(stdout);
	if (jobs)
		bench_two(&w, rounds);
	hwtd_trace_close(w.trace);
	hwtd_context_destroy(w.ctx);
	free(w.bytes.at);
	free(w.copy);
	return (0);
}
