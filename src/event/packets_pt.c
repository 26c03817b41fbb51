/*
 * Packets of Intel PT: segments through its lexer, and their times.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_sync.h"
#include "event/expand.h"
#include "event/packets_internal.h"

/* So many bytes were named; with the last packet, some of the next segment. */
static void
advance(struct hwtd_packets *p, size_t used)
{
	const size_t n = used < p->left.n ? used : p->left.n;

	p->pt.taken = used - n;
	p->left.bytes += n;
	p->left.n -= n;
	p->left.stream_off += n;
	if (p->left.beyond > p->left.n)
		p->left.beyond = p->left.n;
}

/* Bytes of the segment that were told already, or that are not asked for. */
static size_t
bytes_before(const struct hwtd_packets *p, const struct hwtdi_segment *segment,
    bool at_first)
{
	size_t skip = 0;

	if (at_first && p->opts.first > segment->stream_off)
		skip = (size_t)(p->opts.first - segment->stream_off);
	else
		skip = p->pt.taken;
	return (skip < segment->n ? skip : segment->n);
}

/* Pass over packets that begin before what is asked for. */
static void
pass_over(struct hwtd_packets *p)
{
	static const struct hwtd_packet_visitor nobody;
	struct hwtdi_pt_stretch before = p->left;
	const uint64_t bytes = p->pt.lexer.bytes;
	const uint64_t unknown = p->pt.lexer.bytes_unknown;
	size_t used;

	if (p->opts.first - p->left.stream_off < p->left.n)
		before.beyond = p->left.n -
		    (size_t)(p->opts.first - p->left.stream_off);
	before.visitor = &nobody;
	(void)hwtdi_pt_lexer_visit(&p->pt.lexer, &before, &used);
	p->pt.lexer.bytes = bytes;
	p->pt.lexer.bytes_unknown = unknown;
	advance(p, used);
}

static void
start_time(struct hwtd_packets *p, const struct hwtdi_segment *segment,
    bool synced)
{
	const struct hwtdi_pt_stretch s = { .bytes = segment->bytes,
		.n = segment->n,
		.tail = segment->tail,
		.stream_off = segment->stream_off };

	hwtdi_pt_time_start(&p->pt.time, &s, synced);
}

static void
take_pt(struct hwtd_packets *p, const struct hwtdi_segment *segment,
    bool adjoins)
{
	const bool at_first = hwtdi_packets_at_first(p);
	size_t skip;

	if (!adjoins) {
		hwtdi_pt_lexer_restart(&p->pt.lexer, at_first);
		p->pt.taken = 0;
	}
	skip = bytes_before(p, segment, at_first);
	p->begun = true;
	p->pt.taken = 0;
	p->at = segment->stream_off + segment->n;
	p->left.bytes = segment->bytes + skip;
	p->left.n = segment->n - skip;
	p->left.tail = segment->tail;
	p->left.beyond = 0;
	p->left.stream_off = segment->stream_off + skip;
	p->left.stream = p->opts.stream;
	p->left.kinds = p->opts.kinds;
	if (p->pt.timed)
		start_time(p, segment,
		    at_first && p->opts.first <= segment->stream_off);
	if (p->left.stream_off < p->opts.first)
		pass_over(p);
	if (p->at >= p->opts.end) {
		const uint64_t over = p->at - p->opts.end;

		p->left.beyond = over < p->left.n ? (size_t)over : p->left.n;
		p->done = true;
	}
}

/* An error in counts, in ns that are not less. */
static uint64_t
error_ns(const struct hwtd_clock *clock, uint64_t counts)
{
	uint64_t ns;

	if (counts == 0 || counts == UINT64_MAX)
		return (counts);
	ns = hwtdi_pt_scale(counts, clock->ns_per, clock->counts_per);
	/* Both ends are rounded. */
	return (hwtdi_pt_add(ns, clock->counts_per != clock->ns_per));
}

/* Tell the time of a packet. */
static int
set_time(struct hwtd_packets *p, struct hwtd_packet *row)
{
	struct hwtdi_pt_moment now;
	int rc = hwtdi_pt_time_at(&p->pt.time, row->stream_off, &now);

	if (p->pt.time.mtc_ignored && !p->pt.warned) {
		p->pt.warned = true;
		hwtdi_log(hwtdi_trace_library(p->trace), HWTD_LOG_WARNING,
		    "packets",
		    "stream %u: MTC packets tell no time without CPUID 15h",
		    p->opts.stream);
	}
	if (rc != HWTD_OK)
		return (rc == HWTD_E_NOT_FOUND ? HWTD_OK : rc);
	if (now.count != p->pt.count) {
		p->pt.count = now.count;
		p->pt.count_ns = hwtdi_clock_ns(&p->pt.clock, now.count);
	}
	row->time_ns = p->pt.count_ns;
	row->time_error_ns = error_ns(&p->pt.clock, now.error);
	row->flags |= HWTD_PKF_TIME;
	if (now.estimated || row->time_ns == UINT64_MAX)
		row->flags |= HWTD_PKF_TIME_ESTIMATED;
	return (HWTD_OK);
}

/* So many rows have their times. */
static int
set_times(struct hwtd_packets *p, size_t n, struct hwtd_error *err)
{
	for (; p->pt.timed && p->n_complete < n; p->n_complete++)
		if (set_time(p, &p->rows[p->n_complete]) != HWTD_OK)
			return (hwtdi_fail_nomem(err,
			    sizeof(struct hwtdi_pt_ref)));
	return (HWTD_OK);
}

/* A visitor that is told times: what it has of packets goes through these. */
struct timed_visit {
	struct hwtd_packets *packets;
	const struct hwtd_packet_visitor *visitor;
	void *arg;
	int rc;
};

static int
visit_tnt(void *arg, uint64_t off, uint64_t outcomes, uint32_t n)
{
	const struct timed_visit *t = arg;

	return (t->visitor->tnt(t->arg, off, outcomes, n));
}

static int
visit_ip(void *arg, uint64_t off, uint32_t kind, uint64_t ip, int known)
{
	const struct timed_visit *t = arg;

	return (t->visitor->ip(t->arg, off, kind, ip, known));
}

static int
visit_cyc(void *arg, uint64_t off, uint64_t cycles)
{
	const struct timed_visit *t = arg;

	return (t->visitor->cyc(t->arg, off, cycles));
}

static int
visit_packet(void *arg, const struct hwtd_packet *packet)
{
	struct timed_visit *t = arg;
	struct hwtd_packet row = *packet;

	t->rc = set_time(t->packets, &row);
	if (t->rc == HWTD_OK)
		return (t->visitor->packet(t->arg, &row));
	/* The next call begins with it. */
	t->packets->pt.rows[0] = *packet;
	t->packets->rows = t->packets->pt.rows;
	t->packets->n_rows = 1;
	t->packets->n_told = 0;
	t->packets->n_complete = 0;
	return (t->rc);
}

static int
visit_stretch(struct hwtd_packets *p, const struct hwtd_packet_visitor *v,
    void *arg, struct hwtd_error *err)
{
	const struct hwtd_packet_visitor through = {
		.size = sizeof(through),
		.tnt = v->tnt != NULL ? visit_tnt : NULL,
		.ip = v->ip != NULL ? visit_ip : NULL,
		.cyc = v->cyc != NULL ? visit_cyc : NULL,
		.packet = visit_packet,
	};
	struct timed_visit timed = { .packets = p, .visitor = v, .arg = arg };
	const bool times = p->pt.timed && v->packet != NULL;
	size_t used;
	int rc;

	p->left.visitor = times ? &through : v;
	p->left.arg = times ? &timed : arg;
	rc = hwtdi_pt_lexer_visit(&p->pt.lexer, &p->left, &used);
	p->left.visitor = NULL;
	p->left.arg = NULL;
	advance(p, used);
	if (timed.rc != HWTD_OK)
		return (hwtdi_fail_nomem(err, sizeof(struct hwtdi_pt_ref)));
	return (rc);
}

static const struct hwtdi_engine *
cuts_of_pt(const struct hwtd_packets *p)
{
	(void)p;
	return (hwtdi_engine_find(HWTD_TECH_INTEL_PT, NULL));
}

static int
open_pt(struct hwtd_packets *p, const struct hwtd_stream_desc *desc,
    struct hwtd_error *err)
{
	const struct hwtd_pt_config *config = hwtdi_trace_pt_config(p->trace,
	    p->opts.stream);

	(void)err;
	hwtdi_pt_lexer_init(&p->pt.lexer, config);
	p->pt.clock = desc->clock;
	if (desc->clock.counts_per != 0)
		p->pt.count_ns = hwtdi_clock_ns(&p->pt.clock, p->pt.count);
	p->pt.timed = (p->opts.flags & HWTD_PACKETS_TIME) != 0 &&
	    desc->clock.counts_per != 0;
	hwtdi_pt_time_init(&p->pt.time, hwtdi_trace_library(p->trace), config,
	    desc->clock.base_count);
	return (HWTD_OK);
}

static void
close_pt(struct hwtd_packets *p)
{
	hwtdi_pt_time_fini(&p->pt.time);
}

static bool
begins_psb(const struct hwtd_packets *p, const uint8_t *bytes, size_t n)
{
	(void)p;
	return (hwtdi_pt_next_psb(bytes, 0, n) == 0);
}

static void
make_pt_rows(struct hwtd_packets *p)
{
	size_t used;

	p->rows = p->pt.rows;
	p->n_rows = hwtdi_pt_lexer_rows(&p->pt.lexer, &p->left, p->pt.rows,
	    HWTDI_PACKET_ROWS, &used);
	advance(p, used);
}

static void
stats_of_pt(const struct hwtd_packets *p, struct hwtd_packets_stats *out)
{
	out->bytes = p->pt.lexer.bytes;
	out->bytes_unknown = p->pt.lexer.bytes_unknown;
}

const struct hwtdi_packets_class hwtdi_packets_pt = {
	.cuts = cuts_of_pt,
	.open = open_pt,
	.close = close_pt,
	.begins_sync = begins_psb,
	.take = take_pt,
	.make_rows = make_pt_rows,
	.complete = set_times,
	.visit = visit_stretch,
	.stats = stats_of_pt,
};
