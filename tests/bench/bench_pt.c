/*
 * Benchmark of Intel PT decoding: tokens and rows against a bare libipt loop,
 * on the same bytes, in the same run; one JSON line for each case and measure.
 */
#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_rows.h"
#include "bench_tokens.h"

/* Shorter traces are not worth several jobs. */
#define JOBS_BYTES 10000000

/* A round is as many runs as take this long. */
#define LEAST_SECONDS 0.0005

enum measure {
	WARM = 1,
	COLD = 2,
	JOBS = 4,
	MEMORY = 8
};
static const char *const measure_names[] = { "warm", "cold", "jobs", "memory",
	NULL };

/* Who decodes. */
enum side {
	PEER,
	PEER_ENDS,
	TOKENS,
	/* The same, counted by run. */
	RUNS,
	ROWS,
	INSNS,
	/* Runs of the public interface; and their edges. */
	COVERAGE,
	EDGES,
	/* Calls of the public interface. */
	CALLS,
	/* A profile by function; and names of all its code alone. */
	REPORT,
	NAMES,
	SIDES
};
static const char *const side_names[] = { "peer", "peer-ends", "tokens",
	"runs", "rows", "insns", "coverage", "edges", "calls", "report",
	"names", NULL };

/* What is counted besides instructions. */
static const char *const item_names[] = { "rows", "rows", "tokens", "tokens",
	"rows", "rows", "runs", "edges", "calls", "functions", "names" };

struct options {
	const char *trace;
	/* What differs from the case's own. */
	struct hwtd_pt_config pt;
	unsigned int rounds;
	/* Bits of the enumerations above. */
	unsigned int measures, sides;
	bool callback;
	const char *first;
	uint64_t first_bytes;
	/* Times that the trace is there, one behind the other. */
	size_t repeat;
};

/* What the rounds of a case share. */
struct work {
	const struct options *o;
	struct bench_case c;
	struct hwtd_pt_config pt;
	struct hwtd_trace *trace;
	char **files;
	/* Kept from round to round when warm. */
	struct bench_tokens *tokens, *runs;
	struct bench_peer *peers[2];
	struct hwtd_events *rows, *insns;
	struct hwtd_runs *counted;
	uint64_t outcomes;
};

struct result {
	struct bench_count count;
	double best;
	bool there;
};

static struct bench_peer_args
peer_args(const struct work *w, enum side side)
{
	return ((struct bench_peer_args){ .at = &w->c,
	    .pt = &w->pt,
	    .end_flags = side == PEER_ENDS,
	    .files = w->files,
	    .trace = w->trace });
}

static void
run_warm(struct work *w, enum side side, struct bench_count *out)
{
	switch (side) {
	case PEER:
	case PEER_ENDS:
		bench_peer_warm(w->peers[side], out);
		return;
	case TOKENS:
		bench_tokens_warm(w->tokens, out);
		return;
	case RUNS:
		bench_tokens_warm(w->runs, out);
		return;
	case ROWS:
		bench_rows_warm(w->rows, out);
		return;
	case COVERAGE:
		bench_coverage_warm(w->trace, out);
		return;
	case EDGES:
		bench_edges_warm(w->trace, out);
		return;
	case CALLS:
		bench_calls_warm(w->trace, out);
		return;
	case REPORT:
		bench_report_warm(w->trace, out);
		return;
	case NAMES:
		bench_names_warm(w->trace, w->counted, out);
		return;
	default:
		bench_insns_warm(w->insns, out);
		return;
	}
}

static void
run_cold(struct work *w, enum side side, struct bench_count *out)
{
	const struct bench_peer_args args = peer_args(w, side);

	switch (side) {
	case PEER:
	case PEER_ENDS:
		bench_peer_cold(&args, out);
		return;
	case TOKENS:
	case RUNS:
		bench_tokens_cold(w->trace, side == RUNS, out);
		return;
	case COVERAGE:
		bench_coverage_cold(w->trace, out);
		return;
	default:
		bench_rows_cold(w->trace, out);
		return;
	}
}

static struct hwtd_events *
learn_rows(const struct work *w, uint32_t level)
{
	struct hwtd_events *ev = bench_rows_open(w->trace, level, 1);
	struct bench_count count;

	bench_rows_read(ev, &count);
	return (ev);
}

/* Open what is kept, and have it know the code. */
static void
warm_up(struct work *w, unsigned int sides)
{
	struct bench_count count;

	for (enum side side = PEER; side <= PEER_ENDS; side++) {
		const struct bench_peer_args args = peer_args(w, side);

		if ((sides >> side & 1) == 0)
			continue;
		w->peers[side] = bench_peer_open(&args);
		bench_peer_learn(w->peers[side]);
	}
	if ((sides >> TOKENS & 1) != 0) {
		w->tokens = bench_tokens_open(w->trace, false);
		bench_tokens_learn(w->tokens);
	}
	if ((sides >> RUNS & 1) != 0) {
		w->runs = bench_tokens_open(w->trace, true);
		bench_tokens_learn(w->runs);
	}
	if ((sides >> ROWS) != 0)
		bench_rows_cold(w->trace, &count);
	if ((sides >> ROWS & 1) != 0)
		w->rows = learn_rows(w, HWTD_LEVEL_BLOCK);
	if ((sides >> INSNS & 1) != 0)
		w->insns = learn_rows(w, HWTD_LEVEL_INSN);
	if ((sides >> NAMES & 1) != 0)
		w->counted = bench_runs_open(w->trace);
}

static void
cool_down(struct work *w)
{
	bench_tokens_close(w->tokens);
	bench_tokens_close(w->runs);
	w->tokens = NULL;
	w->runs = NULL;
	hwtd_events_close(w->rows);
	hwtd_events_close(w->insns);
	w->rows = NULL;
	w->insns = NULL;
	hwtd_runs_close(w->counted);
	w->counted = NULL;
	for (size_t i = 0; i < 2; i++) {
		bench_peer_close(w->peers[i]);
		w->peers[i] = NULL;
	}
}

static void
print_line(const struct work *w, enum side side, const char *how,
    const struct result *ours, const struct result *peer, bool ends,
    const struct result *rows)
{
	const struct bench_count *count = &ours->count;
	char measure[32];

	(void)snprintf(measure, sizeof(measure), "%s %s", side_names[side],
	    how);
	bench_print_head(&w->c, measure);
	(void)printf(",\"insns\":%" PRIu64 ",\"%s\":%" PRIu64
		     ",\"gaps\":%" PRIu64 ",\"cpu_s\":%.6f,\"mb_per_s\":%.1f",
	    count->insns, item_names[side], count->items, count->errors,
	    ours->best, (double)w->c.trace.n / ours->best / 1e6);
	if (side >= COVERAGE && rows->there)
		(void)printf(",\"rows_ratio\":%.4f", ours->best / rows->best);
	if (side <= RUNS)
		(void)printf(",\"outcomes\":%" PRIu64, w->outcomes);
	if (peer != NULL)
		(void)printf(",\"peer\":\"libipt%s%s\",\"peer_insns\":%" PRIu64
			     ",\"peer_errors\":%" PRIu64
			     ",\"peer_cpu_s\":%.6f,\"ratio\":%.4f",
		    w->files != NULL ? "" : " callback", ends ? " ends" : "",
		    peer->count.insns, peer->count.errors, peer->best,
		    ours->best / peer->best);
	(void)printf("}\n");
	(void)fflush(stdout);
}

/* Print a line for each of ours.  False: the peer counts otherwise. */
static bool
print_lines(const struct work *w, const char *how, const struct result *r)
{
	const bool ends = r[PEER_ENDS].there &&
	    (!r[PEER].there || r[PEER_ENDS].best < r[PEER].best);
	const struct result *peer = &r[ends ? PEER_ENDS : PEER];
	bool same = true;

	for (enum side side = TOKENS; side < SIDES; side++) {
		if (!r[side].there)
			continue;
		print_line(w, side, how, &r[side], peer->there ? peer : NULL,
		    ends, &r[ROWS]);
		if (peer->there && peer->count.insns != r[side].count.insns)
			same = false;
	}
	return (same);
}

static void
run(struct work *w, enum side side, bool cold, struct bench_count *out)
{
	if (cold)
		run_cold(w, side, out);
	else
		run_warm(w, side, out);
}

/* Seconds of a run; of a short one, so many that the clock does not count. */
static double
time_run(struct work *w, enum side side, bool cold, struct bench_count *out)
{
	const double start = bench_cpu_seconds();
	unsigned int n = 0, until = 1;
	double took;

	do {
		for (; n < until; n++)
			run(w, side, cold, out);
		until *= 2;
		took = bench_cpu_seconds() - start;
	} while (took < LEAST_SECONDS && w->o->rounds > 1);
	return (took / n);
}

static bool
compare(struct work *w, bool cold)
{
	struct result results[SIDES] = { { .there = false } };
	unsigned int sides = w->o->sides;

	if (!bench_peer_can_end(&w->pt))
		sides &= ~(1u << PEER_ENDS);
	if (cold)
		sides &= ~(1u << INSNS | 1u << EDGES | 1u << CALLS |
		    1u << REPORT | 1u << NAMES);
	else
		warm_up(w, sides);
	for (unsigned int i = 0; i < w->o->rounds; i++)
		for (enum side side = PEER; side < SIDES; side++) {
			struct result *r = &results[side];
			double took;

			if ((sides >> side & 1) == 0)
				continue;
			took = time_run(w, side, cold, &r->count);
			if (!r->there || took < r->best)
				r->best = took;
			r->there = true;
		}
	cool_down(w);
	return (print_lines(w, cold ? "cold" : "warm", results));
}

static int
see_tnt(void *arg, uint64_t off, uint64_t outcomes, uint32_t n)
{
	(void)off;
	(void)outcomes;
	*(uint64_t *)arg += n;
	return (0);
}

static uint64_t
count_outcomes(struct hwtd_trace *trace)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.tnt = see_tnt,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets;
	uint64_t n = 0;

	bench_check(hwtd_packets_open(trace, NULL, &packets, &err), &err);
	if (hwtd_packets_visit(packets, &visitor, &n, &err) != HWTD_END)
		bench_die("%s", err.message);
	hwtd_packets_close(packets);
	return (n);
}

static void
configure(const struct options *o, const char *folder,
    struct hwtd_pt_config *out)
{
	bench_case_config(folder, out);
	if (o->pt.cpu_family != 0) {
		out->cpu_family = o->pt.cpu_family;
		out->cpu_model = o->pt.cpu_model;
		out->cpu_stepping = o->pt.cpu_stepping;
	}
	if (o->pt.filters[0].mode != HWTD_PT_FILTER_OFF)
		memcpy(out->filters, o->pt.filters, sizeof(out->filters));
}

static bool
bench(const char *folder, const struct options *o, struct hwtd_context *ctx)
{
	struct work w = { .o = o };
	bool same = true;

	bench_case_load(folder, o->trace, &w.c);
	bench_case_repeat(&w.c, o->repeat);
	configure(o, folder, &w.pt);
	if (o->first != NULL) {
		bench_first(&w.c, &w.pt, o->first, o->first_bytes);
		bench_case_free(&w.c);
		return (true);
	}
	w.trace = bench_case_trace(&w.c, ctx, &w.pt, 1);
	w.outcomes = count_outcomes(w.trace);
	if (!o->callback)
		w.files = bench_peer_files(&w.c);
	if ((o->measures & WARM) != 0)
		same &= compare(&w, false);
	if ((o->measures & COLD) != 0)
		same &= compare(&w, true);
	bench_peer_files_free(&w.c, w.files);
	hwtd_trace_close(w.trace);
	if ((o->measures & JOBS) != 0 && w.c.trace.n >= JOBS_BYTES)
		bench_jobs(&w.c, &w.pt, o->rounds);
	if ((o->measures & MEMORY) != 0)
		bench_memory(&w.c, &w.pt);
	bench_case_free(&w.c);
	if (!same)
		(void)fprintf(stderr, "bench: %s: instructions differ\n",
		    folder);
	return (same);
}

static _Noreturn void
usage(void)
{
	(void)fputs(
	    "usage: bench_pt [options] folder...\n"
	    "  --rounds N        best of N rounds (9)\n"
	    "  --trace FILE      the trace's name (trace.pt, 0.pt)\n"
	    "  --cpu F/M/S       family/model/stepping\n"
	    "  --filter A-B      IP filter, hexadecimal; up to four\n"
	    "  --measure LIST    of warm,cold,jobs,memory\n"
	    "  --sides LIST      of peer,peer-ends,tokens,runs,rows,insns,\n"
	    "                    coverage,edges,calls,report,names\n"
	    "  --repeat N        the trace N times, one behind the other\n"
	    "  --callback        the peer reads code through a callback\n"
	    "  --first FILE      only: first rows of a long trace, made "
	    "there\n"
	    "  --first-bytes N   so long (1 GiB)\n",
	    stderr);
	exit(2);
}

/* Bits of names that are separated by commas. */
static unsigned int
read_list(const char *text, const char *const *names)
{
	unsigned int bits = 0;

	while (*text != '\0') {
		const size_t n = strcspn(text, ",");
		unsigned int i = 0;

		while (names[i] != NULL &&
		    (strncmp(names[i], text, n) != 0 || names[i][n] != '\0'))
			i++;
		if (names[i] == NULL)
			usage();
		bits |= 1u << i;
		text += n + (text[n] != '\0');
	}
	return (bits);
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

static void
set_value(struct options *o, const char *name, const char *value)
{
	if (value == NULL)
		usage();
	if (strcmp(name, "--rounds") == 0)
		o->rounds = (unsigned int)strtoul(value, NULL, 10);
	else if (strcmp(name, "--trace") == 0)
		o->trace = value;
	else if (strcmp(name, "--cpu") == 0)
		set_cpu(o, value);
	else if (strcmp(name, "--filter") == 0)
		add_filter(o, value);
	else if (strcmp(name, "--measure") == 0)
		o->measures = read_list(value, measure_names);
	else if (strcmp(name, "--sides") == 0)
		o->sides = read_list(value, side_names);
	else if (strcmp(name, "--repeat") == 0)
		o->repeat = strtoull(value, NULL, 10);
	else if (strcmp(name, "--first") == 0)
		o->first = value;
	else if (strcmp(name, "--first-bytes") == 0)
		o->first_bytes = strtoull(value, NULL, 10);
	else
		usage();
}

/*
 * Memory is not given back to the system and asked for again in each round: if
 * that happens depends on what lies at the end of the heap, and it takes more
 * than decoding a short trace.
 */
static void
keep_memory(void)
{
#ifdef __GLIBC__
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
}

int
main(int argc, char **argv)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct options o = { .rounds = 9,
		.measures = WARM | COLD | JOBS | MEMORY,
		.sides = (1u << SIDES) - 1,
		.first_bytes = (uint64_t)1 << 30 };
	struct hwtd_context *ctx;
	bool same = true;
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--callback") == 0) {
			o.callback = true;
			continue;
		}
		set_value(&o, argv[i], argv[i + 1]);
		i++;
	}
	if (i >= argc || o.rounds == 0)
		usage();
	keep_memory();
	bench_check(hwtd_context_create(NULL, &ctx, &err), &err);
	for (; i < argc; i++)
		same &= bench(argv[i], &o, ctx);
	hwtd_context_destroy(ctx);
	return (same ? 0 : 1);
}
