/*
 * Benchmark of Intel PT decoding: ours against a bare libipt loop, on the
 * same bytes, in the same run; one JSON line for each case.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench_peer.h"

#define ROWS 1024

/* A row reader may not be inlined: callgrind finds it by its name. */
#define NOINLINE __attribute__((noinline))

struct options {
	const char *trace;
	struct hwtd_pt_config pt;
	unsigned int rounds;
	unsigned int jobs;
	bool insns;
	bool ours, peer, end_flags, files;
};

static double
cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}

void bench_ours(struct hwtd_trace *trace, const struct options *o,
    struct bench_count *out);

NOINLINE void
bench_ours(struct hwtd_trace *trace, const struct options *o,
    struct bench_count *out)
{
	static struct hwtd_event rows[ROWS];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options opts = { .size = sizeof(opts) };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_batch batch = { .size = sizeof(batch) };
	struct hwtd_events *ev;
	int rc;

	memset(out, 0, sizeof(*out));
	batch.events = rows;
	batch.stride = sizeof(rows[0]);
	batch.cap = ROWS;
	opts.level = o->insns ? HWTD_LEVEL_INSN : HWTD_LEVEL_BLOCK;
	opts.jobs = o->jobs;
	rc = hwtd_events_open(trace, &opts, &ev, &err);
	while (rc == HWTD_OK) {
		rc = hwtd_events_read(ev, &batch, &err);
		out->rows += batch.n;
	}
	if (rc != HWTD_END)
		bench_die("%s", err.message);
	(void)hwtd_events_stats(ev, &stats);
	out->insns = stats.insns;
	out->errors = stats.kinds[HWTD_EV_GAP];
	hwtd_events_close(ev);
}

static void
run_ours(struct hwtd_trace *trace, const struct options *o,
    struct bench_count *count, double *best)
{
	double start = cpu_seconds(), took;

	bench_ours(trace, o, count);
	took = cpu_seconds() - start;
	if (*best == 0 || took < *best)
		*best = took;
}

static void
run_peer(const struct bench_peer *peer, struct bench_count *count,
    double *best)
{
	double start = cpu_seconds(), took;

	bench_peer(peer, count);
	took = cpu_seconds() - start;
	if (*best == 0 || took < *best)
		*best = took;
}

static void
print_seconds(const char *key, double seconds)
{
	if (seconds > 0)
		(void)printf(",\"%s\":%.6f", key, seconds);
}

static void
bench(const char *folder, const struct options *o, struct hwtd_context *ctx)
{
	struct bench_count ours = { 0 }, peer = { 0 };
	struct bench_peer p = { .pt = &o->pt, .end_flags = o->end_flags };
	double ours_s = 0, peer_s = 0;
	struct bench_case c;
	struct rusage usage;
	struct hwtd_trace *trace;
	char **files = NULL;

	bench_case_load(folder, o->trace, &c);
	trace = bench_case_trace(&c, ctx, &o->pt);
	if (o->files)
		files = bench_peer_files(&c);
	p.trace = trace;
	p.at = &c;
	p.files = files;
	for (unsigned int i = 0; i < o->rounds; i++) {
		if (o->peer)
			run_peer(&p, &peer, &peer_s);
		if (o->ours)
			run_ours(trace, o, &ours, &ours_s);
	}
	(void)getrusage(RUSAGE_SELF, &usage);
	(void)printf("{\"case\":");
	bench_print_text(c.name);
	(void)printf(",\"bytes\":%zu,\"insns\":%" PRIu64 ",\"rows\":%" PRIu64,
	    c.trace.n, o->ours ? ours.insns : peer.insns,
	    o->ours ? ours.rows : peer.rows);
	if (o->ours)
		(void)printf(",\"gaps\":%" PRIu64, ours.errors);
	print_seconds("ours_cpu_s", ours_s);
	if (o->peer)
		(void)printf(",\"peer\":\"libipt%s%s\",\"peer_insns\":%" PRIu64
			     ",\"peer_errors\":%" PRIu64,
		    o->files ? " sections" : " callback",
		    o->end_flags ? "" : " long-blocks", peer.insns,
		    peer.errors);
	print_seconds("peer_cpu_s", peer_s);
	if (o->ours && o->peer && peer_s > 0)
		(void)printf(",\"ratio\":%.3f", ours_s / peer_s);
	if (o->ours && ours_s > 0)
		(void)printf(",\"mb_per_s\":%.2f",
		    (double)c.trace.n / ours_s / 1e6);
	(void)printf(",\"peak_rss\":%ld}\n", usage.ru_maxrss * 1024);
	(void)fflush(stdout);
	bench_peer_files_free(&c, files);
	hwtd_trace_close(trace);
	bench_case_free(&c);
}

static _Noreturn void
usage(void)
{
	(void)fputs(
	    "usage: bench_pt [options] folder...\n"
	    "  --rounds N        best of N rounds (5)\n"
	    "  --trace FILE      the trace's name (trace.pt, 0.pt)\n"
	    "  --cpu F/M/S       family/model/stepping\n"
	    "  --filter A-B      IP filter, hexadecimal; up to four\n"
	    "  --insn            rows of instructions instead of blocks\n"
	    "  --jobs N          threads of ours\n"
	    "  --only ours|peer  run one of the two\n"
	    "  --no-end-flags    the peer's blocks run on after calls, jumps\n"
	    "  --sections        the peer reads code from files and caches\n",
	    stderr);
	exit(2);
}

static void
set_cpu(struct options *o, const char *text)
{
	unsigned int family, model, stepping;

	if (sscanf(text, "%u/%u/%u", &family, &model, &stepping) != 3)
		usage();
	o->pt.cpu_family = (uint16_t)family;
	o->pt.cpu_model = (uint8_t)model;
	o->pt.cpu_stepping = (uint8_t)stepping;
}

static void
add_filter(struct options *o, const char *text)
{
	for (size_t i = 0; i < HWTD_PT_MAX_FILTERS; i++) {
		struct hwtd_pt_filter *f = &o->pt.filters[i];

		if (f->mode != HWTD_PT_FILTER_OFF)
			continue;
		if (sscanf(text, "%" SCNx64 "-%" SCNx64, &f->start, &f->end) !=
		    2)
			usage();
		f->mode = HWTD_PT_FILTER_TRACE;
		return;
	}
	usage();
}

/* Options without a value.  False if it is not one of them. */
static bool
set_flag(struct options *o, const char *name)
{
	if (strcmp(name, "--insn") == 0)
		o->insns = true;
	else if (strcmp(name, "--no-end-flags") == 0)
		o->end_flags = false;
	else if (strcmp(name, "--sections") == 0)
		o->files = true;
	else
		return (false);
	return (true);
}

static void
set_value(struct options *o, const char *name, const char *value)
{
	if (value == NULL)
		usage();
	if (strcmp(name, "--rounds") == 0)
		o->rounds = (unsigned int)strtoul(value, NULL, 10);
	else if (strcmp(name, "--jobs") == 0)
		o->jobs = (unsigned int)strtoul(value, NULL, 10);
	else if (strcmp(name, "--trace") == 0)
		o->trace = value;
	else if (strcmp(name, "--cpu") == 0)
		set_cpu(o, value);
	else if (strcmp(name, "--filter") == 0)
		add_filter(o, value);
	else if (strcmp(name, "--only") == 0) {
		o->ours = strcmp(value, "ours") == 0;
		o->peer = strcmp(value, "peer") == 0;
	} else
		usage();
}

int
main(int argc, char **argv)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct options o = { .rounds = 5,
		.ours = true,
		.peer = true,
		.end_flags = true };
	struct hwtd_context *ctx;
	int i = 1;

	o.pt.size = sizeof(o.pt);
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++)
		if (!set_flag(&o, argv[i])) {
			set_value(&o, argv[i], argv[i + 1]);
			i++;
		}
	if (i >= argc || o.rounds == 0 || (!o.ours && !o.peer))
		usage();
	if (hwtd_context_create(NULL, &ctx, &err) != HWTD_OK)
		bench_die("%s", err.message);
	for (; i < argc; i++)
		bench(argv[i], &o, ctx);
	hwtd_context_destroy(ctx);
	return (0);
}
