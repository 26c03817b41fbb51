/*
 * Benchmark of the packets of Intel PT: visitor and rows against the packet
 * decoder of libipt, on the same bytes, in the same run; one JSON line for
 * each trace.
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_input.h"
#include "decode/pt/pt_config.h"

/* What one round found: the same on all sides, but for errors. */
struct count {
	uint64_t packets;
	uint64_t outcomes;
	uint64_t cycles;
	uint64_t ips;
	uint64_t errors;
};

struct side {
	const char *name;
	void (*run)(struct hwtd_trace *trace, const struct bench_bytes *bytes,
	    struct count *out);
	struct count count;
	double best;
};

static double
cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}

static struct hwtd_packets *
open_packets(struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets;

	if (hwtd_packets_open(trace, NULL, &packets, &err) != HWTD_OK)
		bench_die("%s", err.message);
	return (packets);
}

static int
see_tnt(void *arg, uint64_t off, uint64_t outcomes, uint32_t n)
{
	struct count *c = arg;

	(void)off;
	(void)outcomes;
	c->packets++;
	c->outcomes += n;
	return (0);
}

static int
see_ip(void *arg, uint64_t off, uint32_t kind, uint64_t ip, int known)
{
	struct count *c = arg;

	(void)off;
	(void)kind;
	(void)ip;
	(void)known;
	c->packets++;
	c->ips++;
	return (0);
}

static int
see_cyc(void *arg, uint64_t off, uint64_t cycles)
{
	struct count *c = arg;

	(void)off;
	c->packets++;
	c->cycles += cycles;
	return (0);
}

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	struct count *c = arg;

	/* libipt has a packet for each padding. */
	if (packet->kind < HWTD_PK_PT_PAD)
		c->errors++;
	else
		c->packets += packet->kind == HWTD_PK_PT_PAD ? packet->count
							     : 1;
	return (0);
}

static void
run_visitor(struct hwtd_trace *trace, const struct bench_bytes *bytes,
    struct count *out)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.tnt = see_tnt,
		.ip = see_ip,
		.cyc = see_cyc,
		.packet = see_packet,
	};
	struct hwtd_packets *packets = open_packets(trace);

	(void)bytes;
	if (hwtd_packets_visit(packets, &visitor, out, NULL) != HWTD_END)
		bench_die("the visit came to no end");
	hwtd_packets_close(packets);
}

/* Sums by kind: no branches, because nobody can foresee the kind. */
struct sums {
	uint64_t rows[HWTD_PACKET_KINDS];
	uint64_t values[HWTD_PACKET_KINDS];
	uint64_t counts[HWTD_PACKET_KINDS];
};

static void
see_rows(struct sums *sums, const struct hwtd_packet *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sums->rows[rows[i].kind]++;
		sums->values[rows[i].kind] += rows[i].value;
		sums->counts[rows[i].kind] += rows[i].count;
	}
}

static void
add_up(const struct sums *sums, struct count *out)
{
	for (size_t i = 0; i < HWTD_PK_PT_PAD; i++)
		out->errors += sums->rows[i];
	out->packets = sums->counts[HWTD_PK_PT_PAD];
	for (size_t i = HWTD_PK_PT_PSB; i < HWTD_PACKET_KINDS; i++)
		out->packets += sums->rows[i];
	out->outcomes = sums->counts[HWTD_PK_PT_TNT_8] +
	    sums->counts[HWTD_PK_PT_TNT_64];
	out->cycles = sums->values[HWTD_PK_PT_CYC];
	out->ips = sums->rows[HWTD_PK_PT_TIP] + sums->rows[HWTD_PK_PT_FUP] +
	    sums->rows[HWTD_PK_PT_TIP_PGE] + sums->rows[HWTD_PK_PT_TIP_PGD];
}

static void
run_rows(struct hwtd_trace *trace, const struct bench_bytes *bytes,
    struct count *out)
{
	struct hwtd_packets *packets = open_packets(trace);
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct sums sums = { .rows = { 0 } };
	int rc;

	(void)bytes;
	while ((rc = hwtd_packets_read(packets, &batch, NULL)) == HWTD_OK)
		see_rows(&sums, batch.packets, batch.n);
	if (rc != HWTD_END)
		bench_die("the rows came to no end");
	add_up(&sums, out);
	hwtd_packets_close(packets);
}

static void
see_peer(struct count *c, const struct pt_packet *packet)
{
	c->packets++;
	switch (packet->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		c->outcomes += packet->payload.tnt.bit_size;
		break;
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
	case ppt_fup:
		c->ips++;
		break;
	case ppt_cyc:
		c->cycles += packet->payload.cyc.value;
		break;
	default:
		break;
	}
}

static void
run_peer(struct hwtd_trace *trace, const struct bench_bytes *bytes,
    struct count *out)
{
	static const struct hwtd_pt_config none = { .size = sizeof(none) };
	struct pt_packet_decoder *d;
	struct pt_packet packet;
	struct pt_config config;

	(void)trace;
	hwtdi_pt_config_libipt(&config, &none);
	config.begin = bytes->at;
	config.end = config.begin + bytes->n;
	d = pt_pkt_alloc_decoder(&config);
	if (d == NULL)
		bench_die("libipt made no packet decoder");
	while (pt_pkt_sync_forward(d) >= 0) {
		int status;

		while ((status = pt_pkt_next(d, &packet, sizeof(packet))) >= 0)
			see_peer(out, &packet);
		if (pt_errcode(status) == pte_eos)
			break;
		out->errors++;
	}
	pt_pkt_free_decoder(d);
}

static void
bench(const char *path, unsigned int rounds, struct hwtd_context *ctx)
{
	struct side sides[] = {
		{ .name = "peer", .run = run_peer },
		{ .name = "visitor", .run = run_visitor },
		{ .name = "rows", .run = run_rows },
	};
	const size_t n = sizeof(sides) / sizeof(sides[0]);
	struct bench_case c = { .n_images = 0 };
	struct hwtd_trace *trace;

	if (!bench_read(path, &c.trace))
		bench_die("%s: not there", path);
	trace = bench_case_trace(&c, ctx, NULL, 1);
	for (unsigned int i = 0; i < rounds; i++)
		for (size_t j = 0; j < n; j++) {
			struct side *s = &sides[j];
			double took, start = cpu_seconds();

			memset(&s->count, 0, sizeof(s->count));
			s->run(trace, &c.trace, &s->count);
			took = cpu_seconds() - start;
			if (s->best == 0 || took < s->best)
				s->best = took;
		}
	(void)printf("{\"case\":");
	bench_print_text(path);
	(void)printf(",\"bytes\":%zu", c.trace.n);
	for (size_t j = 0; j < n; j++) {
		const struct side *s = &sides[j];

		(void)printf(",\"%s_packets\":%" PRIu64
			     ",\"%s_outcomes\":%" PRIu64
			     ",\"%s_cycles\":%" PRIu64 ",\"%s_ips\":%" PRIu64
			     ",\"%s_errors\":%" PRIu64 ",\"%s_cpu_s\":%.6f",
		    s->name, s->count.packets, s->name, s->count.outcomes,
		    s->name, s->count.cycles, s->name, s->count.ips, s->name,
		    s->count.errors, s->name, s->best);
		if (s->count.packets > 0)
			(void)printf(",\"%s_ns\":%.2f", s->name,
			    s->best * 1e9 / (double)s->count.packets);
		if (j > 0 && sides[0].best > 0)
			(void)printf(",\"%s_ratio\":%.3f", s->name,
			    s->best / sides[0].best);
	}
	(void)printf("}\n");
	(void)fflush(stdout);
	hwtd_trace_close(trace);
	bench_case_free(&c);
}

static _Noreturn void
usage(void)
{
	(void)fputs("usage: bench_packets [--rounds N] file...\n", stderr);
	exit(2);
}

int
main(int argc, char **argv)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	unsigned int rounds = 5;
	int i = 1;

	if (argc > 2 && strcmp(argv[1], "--rounds") == 0) {
		rounds = (unsigned int)strtoul(argv[2], NULL, 10);
		i = 3;
	}
	if (i >= argc || rounds == 0)
		usage();
	if (hwtd_context_create(NULL, &ctx, &err) != HWTD_OK)
		bench_die("%s", err.message);
	for (; i < argc; i++)
		bench(argv[i], rounds, ctx);
	hwtd_context_destroy(ctx);
	return (0);
}
