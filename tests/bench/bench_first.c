/*
 * A long trace: how soon its first rows are there, and those after a seek.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_rows.h"

#define ROWS 1024
#define SEEKS 16

/* TSC packets of the case, of which copies have to go on in time. */
struct times {
	struct times_at {
		uint64_t off;
		uint64_t tsc;
	} * at;
	size_t n;
};

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	struct times *times = arg;

	if (packet->kind != HWTD_PK_PT_TSC)
		return (0);
	times->at = realloc(times->at, (times->n + 1) * sizeof(*times->at));
	if (times->at == NULL)
		bench_die("out of memory");
	times->at[times->n].off = packet->stream_off;
	times->at[times->n++].tsc = packet->value;
	return (0);
}

static void
find_times(const struct bench_case *c, const struct hwtd_pt_config *pt,
    struct hwtd_context *ctx, struct times *out)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.packet = see_packet,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = bench_case_trace(c, ctx, pt, 1);
	struct hwtd_packets *packets;

	bench_check(hwtd_packets_open(trace, NULL, &packets, &err), &err);
	if (hwtd_packets_visit(packets, &visitor, out, &err) != HWTD_END)
		bench_die("%s", err.message);
	hwtd_packets_close(packets);
	hwtd_trace_close(trace);
}

/*
 * Ticks from one copy to the next.  The 16 bits of the crystal's count that TMA
 * and MTC packets have must be the same ones in all copies.
 */
static uint64_t
ticks_of_copy(const struct times *times, const struct hwtd_pt_config *pt)
{
	uint64_t round = 65536, first, last;

	if (times->n == 0)
		return (0);
	if (pt->cpuid_15h_eax != 0)
		round = round * pt->cpuid_15h_ebx / pt->cpuid_15h_eax;
	first = times->at[0].tsc;
	last = times->at[times->n - 1].tsc;
	return (((last - first) / round + 2) * round);
}

static void
move_times(struct bench_case *c, const struct times *times, uint64_t by)
{
	for (size_t i = 0; i < times->n; i++) {
		const uint64_t tsc = times->at[i].tsc + by;

		for (unsigned int j = 0; j < 7; j++)
			c->trace.at[times->at[i].off + 1 +
			    j] = (uint8_t)(tsc >> 8 * j);
	}
}

static void
make_file(struct bench_case *c, const struct hwtd_pt_config *pt,
    struct hwtd_context *ctx, const char *path, uint64_t bytes)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_save_options save = { .size = sizeof(save), .level = -1 };
	struct hwtd_trace *trace = bench_case_images(c, ctx);
	struct times times = { .n = 0 };
	uint64_t ticks, n = 1;
	uint32_t id;

	find_times(c, pt, ctx, &times);
	ticks = ticks_of_copy(&times, pt);
	id = bench_case_stream(c, trace, pt);
	for (; (n + 1) * c->trace.n <= bytes; n++) {
		move_times(c, &times, n * ticks);
		bench_check(hwtd_trace_add_bytes(trace, id, c->trace.at,
				c->trace.n, &err),
		    &err);
	}
	move_times(c, &times, 0);
	free(times.at);
	bench_check(hwtd_trace_seal(trace, &err), &err);
	save.flags = HWTD_SAVE_IMAGES | HWTD_SAVE_ANY_FILE;
	bench_check(hwtd_trace_save(trace, path, &save, &err), &err);
	hwtd_trace_close(trace);
}

/* The next rows; the time of the last, if it has one. */
static void
read_some(struct hwtd_events *ev, uint64_t *ns_out)
{
	static struct hwtd_event rows[ROWS];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_batch batch = { .size = sizeof(batch) };
	int rc;

	batch.events = rows;
	batch.stride = sizeof(rows[0]);
	batch.cap = ROWS;
	do
		rc = hwtd_events_read(ev, &batch, &err);
	while (rc == HWTD_OK && batch.n == 0);
	if (rc < 0)
		bench_die("%s", err.message);
	for (size_t i = 0; i < batch.n; i++)
		if ((rows[i].flags & HWTD_EVF_TIME) != 0)
			*ns_out = rows[i].time_ns;
}

struct seeks {
	double worst, sum;
};

static void
add_seek(struct seeks *s, double took)
{
	if (took > s->worst)
		s->worst = took;
	s->sum += took;
}

static void
print_seeks(const char *key, const struct seeks *s)
{
	(void)printf(",\"%s_s\":%.6f,\"%s_worst_s\":%.6f", key, s->sum / SEEKS,
	    key, s->worst);
}

/* One of 1000 parts of the trace, far from the one before. */
static uint64_t
place(uint64_t i)
{
	return ((i + 1) * 617 % 1000);
}

/* Seeks to places spread over the trace, and the rows that are there. */
static void
time_seeks(struct hwtd_events *ev, uint64_t bytes, uint64_t first_ns)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct seeks by_offset = { 0 }, by_time = { 0 };
	uint64_t last_ns = first_ns, ns = 0;

	for (uint64_t i = 0; i < SEEKS; i++) {
		const uint64_t at = bytes / 1000 * place(i);
		double start = bench_wall_seconds();

		bench_check(hwtd_events_seek_offset(ev, 0, at, &err), &err);
		read_some(ev, &ns);
		add_seek(&by_offset, bench_wall_seconds() - start);
		if (ns > last_ns)
			last_ns = ns;
	}
	print_seeks("seek_offset", &by_offset);
	for (uint64_t i = 0; i < SEEKS && last_ns > first_ns; i++) {
		const uint64_t at = first_ns +
		    (last_ns - first_ns) / 1000 * place(i);
		double start = bench_wall_seconds();

		bench_check(hwtd_events_seek_ns(ev, at, &err), &err);
		read_some(ev, &ns);
		add_seek(&by_time, bench_wall_seconds() - start);
	}
	if (last_ns > first_ns)
		print_seeks("seek_time", &by_time);
}

void
bench_first(struct bench_case *c, const struct hwtd_pt_config *pt,
    const char *path, uint64_t bytes)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct hwtd_events *ev;
	uint64_t now, most, ns = 0;
	double start, opened, first;

	opts.max_alloc = 3 * bytes + ((uint64_t)1 << 30);
	bench_check(hwtd_context_create(&opts, &ctx, &err), &err);
	make_file(c, pt, ctx, path, bytes);
	hwtd_context_destroy(ctx);
	bench_check(hwtd_context_create(NULL, &ctx, &err), &err);
	start = bench_wall_seconds();
	bench_check(hwtd_trace_open(ctx, path, NULL, &trace, &err), &err);
	opened = bench_wall_seconds() - start;
	bench_check(hwtd_events_open(trace, NULL, &ev, &err), &err);
	read_some(ev, &ns);
	first = bench_wall_seconds() - start;
	(void)hwtd_trace_stream(trace, 0, &desc);
	bench_print_head(c, "first");
	(void)printf(",\"stream_bytes\":%" PRIu64
		     ",\"open_s\":%.6f,\"first_rows_s\":%.6f",
	    desc.n_bytes, opened, first);
	time_seeks(ev, desc.n_bytes, ns);
	hwtd_context_memory(ctx, &now, &most);
	(void)printf(",\"peak_bytes\":%" PRIu64 "}\n", most - c->image_bytes);
	(void)fflush(stdout);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	(void)unlink(path);
}
