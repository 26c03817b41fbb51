/*
 * Packets of a stream: its segments, one after the other, through the lexer.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_lexer.h"
#include "decode/pt/pt_sync.h"
#include "decode/pt/pt_time.h"
#include "event/expand.h"
#include "event/segment.h"

#define ROWS 256

struct hwtd_packets {
	struct hwtd_trace *trace;
	struct hwtd_packets_options opts;
	struct hwtdi_segments segments;
	struct hwtdi_pt_lexer lexer;
	/* With HWTD_PACKETS_TIME, and if the stream has a clock. */
	bool timed, warned;
	struct hwtdi_pt_time time;
	struct hwtd_clock clock;
	/* The last count that was turned into ns. */
	uint64_t count, count_ns;
	/* What is left of the segment at hand. */
	struct hwtdi_pt_stretch left;
	/* Bytes of the next segment that a packet before it took. */
	size_t taken;
	/* Offset behind the last segment. */
	uint64_t at;
	bool begun, done;
	/* A part that is not there, to be told next. */
	struct hwtd_packet lost;
	bool has_lost;
	uint64_t bytes_lost;
	struct hwtd_packet rows[ROWS];
	/* Rows that were made; those of them that were told, that have times. */
	size_t n_rows, n_told, n_timed;
};

/* So many bytes were named; with the last packet, some of the next segment. */
static void
advance(struct hwtd_packets *p, size_t used)
{
	const size_t n = used < p->left.n ? used : p->left.n;

	p->taken = used - n;
	p->left.bytes += n;
	p->left.n -= n;
	p->left.stream_off += n;
	if (p->left.beyond > p->left.n)
		p->left.beyond = p->left.n;
}

static int
check(const struct hwtd_trace *trace, const struct hwtd_packets_options *o,
    struct hwtd_stream_desc *desc, struct hwtd_error *err)
{
	const uint32_t known = HWTD_PACKETS_NO_SYNC | HWTD_PACKETS_TIME;

	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	if ((o->flags & ~known) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "packets flags %#x are not known", o->flags));
	if (hwtd_trace_stream(trace, o->stream, desc) != HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND, "no stream %u",
		    o->stream));
	if (desc->tech != HWTD_TECH_INTEL_PT)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "stream %u: packets of its technology are not known",
		    o->stream));
	return (HWTD_OK);
}

/*
 * Go to where reading must begin so that packets are the same as when all are
 * read: a segment that begins with no PSB goes on from the one before.
 */
static int
seek(struct hwtd_packets *p, struct hwtd_error *err)
{
	const struct hwtdi_segment *s;
	struct hwtdi_part part;
	uint64_t off = p->opts.first;
	int rc;

	for (;;) {
		rc = hwtdi_segments_seek(&p->segments, off, err);
		if (rc != HWTD_OK || !p->segments.known ||
		    (p->opts.flags & HWTD_PACKETS_NO_SYNC) != 0)
			return (rc);
		rc = hwtdi_segments_next(&p->segments, &part, err);
		if (rc != HWTD_OK)
			return (rc);
		s = &part.segment;
		if (part.kind != HWTDI_PART_SEGMENT ||
		    hwtdi_pt_next_psb(s->bytes, 0, s->n + s->tail) == 0)
			return (hwtdi_segments_seek(&p->segments, off, err));
		off = s->stream_off - 1;
	}
}

int
hwtd_packets_open(struct hwtd_trace *trace,
    const struct hwtd_packets_options *opts, struct hwtd_packets **packets_out,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_packets_options o;
	struct hwtd_packets *p;
	int rc;

	if (trace == NULL || packets_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = check(trace, &o, &desc, err);
	if (rc != HWTD_OK)
		return (rc);
	p = hwtdi_zalloc(hwtdi_trace_library(trace), sizeof(*p));
	if (p == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*p)));
	p->opts = o;
	if (p->opts.end == 0)
		p->opts.end = UINT64_MAX;
	if (p->opts.kinds == 0)
		p->opts.kinds = UINT64_MAX;
	p->trace = hwtdi_trace_hold(trace);
	hwtdi_pt_lexer_init(&p->lexer, hwtdi_trace_pt_config(trace, o.stream));
	p->clock = desc.clock;
	if (desc.clock.counts_per != 0)
		p->count_ns = hwtdi_clock_ns(&p->clock, p->count);
	p->timed = (o.flags & HWTD_PACKETS_TIME) != 0 &&
	    desc.clock.counts_per != 0;
	hwtdi_pt_time_init(&p->time, hwtdi_trace_library(trace),
	    hwtdi_trace_pt_config(trace, o.stream), desc.clock.base_count);
	rc = hwtdi_segments_init(&p->segments, trace,
	    hwtdi_engine_find(desc.tech, NULL), o.stream, err);
	if (rc == HWTD_OK && o.first > 0)
		rc = seek(p, err);
	if (rc != HWTD_OK) {
		hwtd_packets_close(p);
		return (rc);
	}
	*packets_out = p;
	return (HWTD_OK);
}

void
hwtd_packets_close(struct hwtd_packets *packets)
{
	struct hwtd_trace *trace;

	if (packets == NULL)
		return;
	trace = packets->trace;
	hwtdi_pt_time_fini(&packets->time);
	hwtdi_segments_fini(&packets->segments);
	hwtdi_free(hwtdi_trace_library(trace), packets, sizeof(*packets));
	hwtd_trace_close(trace);
}

/* A part of the stream that is not there. */
static void
take_gap(struct hwtd_packets *p, const struct hwtd_gap *gap)
{
	const uint64_t n = gap->end - gap->first;

	memset(&p->lost, 0, sizeof(p->lost));
	p->lost.kind = HWTD_PK_LOST;
	p->lost.stream = p->opts.stream;
	p->lost.stream_off = gap->first;
	p->lost.bytes = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	p->lost.value = n;
	if (gap->first < p->opts.first || gap->first >= p->opts.end || n == 0)
		return;
	p->bytes_lost += n;
	p->has_lost = (p->opts.kinds >> HWTD_PK_LOST & 1) != 0;
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
		skip = p->taken;
	return (skip < segment->n ? skip : segment->n);
}

/* Pass over packets that begin before what is asked for. */
static void
pass_over(struct hwtd_packets *p)
{
	static const struct hwtd_packet_visitor nobody;
	struct hwtdi_pt_stretch before = p->left;
	const uint64_t bytes = p->lexer.bytes;
	const uint64_t unknown = p->lexer.bytes_unknown;
	size_t used;

	if (p->opts.first - p->left.stream_off < p->left.n)
		before.beyond = p->left.n -
		    (size_t)(p->opts.first - p->left.stream_off);
	before.visitor = &nobody;
	(void)hwtdi_pt_lexer_visit(&p->lexer, &before, &used);
	p->lexer.bytes = bytes;
	p->lexer.bytes_unknown = unknown;
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

	hwtdi_pt_time_start(&p->time, &s, synced);
}

static void
take_segment(struct hwtd_packets *p, const struct hwtdi_segment *segment)
{
	const bool at_first = !p->begun &&
	    (p->opts.flags & HWTD_PACKETS_NO_SYNC) != 0;
	const bool adjoins = p->begun && segment->stream_off == p->at &&
	    segment->stream_off > p->segments.extent.start;
	size_t skip;

	/* What is asked for without synchronisation begins in a hole. */
	if (at_first && segment->stream_off + segment->n <= p->opts.first)
		return;
	/* An extent, and what comes behind a hole, is a stream of its own. */
	if (!adjoins) {
		hwtdi_pt_lexer_restart(&p->lexer, at_first);
		p->taken = 0;
	}
	skip = bytes_before(p, segment, at_first);
	p->begun = true;
	p->taken = 0;
	p->at = segment->stream_off + segment->n;
	p->left.bytes = segment->bytes + skip;
	p->left.n = segment->n - skip;
	p->left.tail = segment->tail;
	p->left.beyond = 0;
	p->left.stream_off = segment->stream_off + skip;
	p->left.stream = p->opts.stream;
	p->left.kinds = p->opts.kinds;
	if (p->timed)
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

/* Get more bytes.  HWTD_END: there are none. */
static int
fill(struct hwtd_packets *p, struct hwtd_error *err)
{
	struct hwtdi_part part;
	int rc;

	while (p->left.n == p->left.beyond && !p->has_lost) {
		if (p->done)
			return (HWTD_END);
		rc = hwtdi_segments_next(&p->segments, &part, err);
		if (rc != HWTD_OK)
			return (rc);
		if (part.kind == HWTDI_PART_SEGMENT)
			take_segment(p, &part.segment);
		else if (part.kind == HWTDI_PART_GAP)
			take_gap(p, &part.gap);
		else
			p->done = true;
	}
	return (HWTD_OK);
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
	int rc = hwtdi_pt_time_at(&p->time, row->stream_off, &now);

	if (p->time.mtc_ignored && !p->warned) {
		p->warned = true;
		hwtdi_log(hwtdi_trace_library(p->trace), HWTD_LOG_WARNING,
		    "packets",
		    "stream %u: MTC packets tell no time without CPUID 15h",
		    p->opts.stream);
	}
	if (rc != HWTD_OK)
		return (rc == HWTD_E_NOT_FOUND ? HWTD_OK : rc);
	if (now.count != p->count) {
		p->count = now.count;
		p->count_ns = hwtdi_clock_ns(&p->clock, now.count);
	}
	row->time_ns = p->count_ns;
	row->time_error_ns = error_ns(&p->clock, now.error);
	row->flags |= HWTD_PKF_TIME;
	if (now.estimated || row->time_ns == UINT64_MAX)
		row->flags |= HWTD_PKF_TIME_ESTIMATED;
	return (HWTD_OK);
}

/* Make rows.  HWTD_END: there are none. */
static int
make_rows(struct hwtd_packets *p, struct hwtd_error *err)
{
	size_t used;
	int rc = fill(p, err);

	if (rc != HWTD_OK)
		return (rc);
	p->n_told = 0;
	p->n_timed = 0;
	if (p->has_lost) {
		p->rows[0] = p->lost;
		p->has_lost = false;
		p->n_rows = 1;
		p->n_timed = 1;
		return (HWTD_OK);
	}
	p->n_rows = hwtdi_pt_lexer_rows(&p->lexer, &p->left, p->rows, ROWS,
	    &used);
	advance(p, used);
	return (HWTD_OK);
}

/* So many rows have their times. */
static int
set_times(struct hwtd_packets *p, size_t n, struct hwtd_error *err)
{
	for (; p->timed && p->n_timed < n; p->n_timed++)
		if (set_time(p, &p->rows[p->n_timed]) != HWTD_OK)
			return (hwtdi_fail_nomem(err,
			    sizeof(struct hwtdi_pt_ref)));
	return (HWTD_OK);
}

int
hwtd_packets_read(struct hwtd_packets *packets,
    struct hwtd_packet_batch *batch, struct hwtd_error *err)
{
	struct hwtd_packet_batch out = { .size = sizeof(out),
		.packets = NULL,
		.stride = sizeof(struct hwtd_packet) };
	int rc = HWTD_OK;

	if (packets == NULL || batch == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (batch->size < sizeof(batch->size))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "the size of the batch is not set"));
	/* After a failure, rows may be there that lack their time. */
	while (rc == HWTD_OK && packets->n_rows == 0)
		rc = make_rows(packets, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = set_times(packets, packets->n_rows, err);
	if (rc != HWTD_OK)
		return (rc);
	out.packets = packets->rows + packets->n_told;
	out.n = packets->n_rows - packets->n_told;
	packets->n_rows = 0;
	return (hwtdi_result_copy(batch, &out, sizeof(out)));
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
	t->packets->rows[0] = *packet;
	t->packets->n_rows = 1;
	t->packets->n_told = 0;
	t->packets->n_timed = 0;
	return (t->rc);
}

static int
tell_row(const struct hwtd_packet_visitor *v, void *arg,
    const struct hwtd_packet *row)
{
	switch (hwtdi_pt_class_of(row->kind)) {
	case HWTDI_PT_TNT:
		if (v->tnt != NULL)
			return (v->tnt(arg, row->stream_off, row->value,
			    row->count));
		break;
	case HWTDI_PT_IP:
		if (v->ip != NULL)
			return (v->ip(arg, row->stream_off, row->kind, row->ip,
			    row->flags & HWTD_PKF_IP));
		break;
	case HWTDI_PT_CYC:
		if (v->cyc != NULL)
			return (v->cyc(arg, row->stream_off, row->value));
		break;
	default:
		break;
	}
	return (v->packet != NULL ? v->packet(arg, row) : 0);
}

/* Rows that were made by a call that failed. */
static int
visit_rows(struct hwtd_packets *p, const struct hwtd_packet_visitor *v,
    void *arg, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && p->n_told < p->n_rows) {
		rc = set_times(p, p->n_told + 1, err);
		if (rc == HWTD_OK)
			rc = tell_row(v, arg, &p->rows[p->n_told++]);
	}
	if (p->n_told == p->n_rows) {
		p->n_rows = 0;
		p->n_told = 0;
	}
	return (rc);
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
	const bool times = p->timed && v->packet != NULL;
	size_t used;
	int rc;

	p->left.visitor = times ? &through : v;
	p->left.arg = times ? &timed : arg;
	rc = hwtdi_pt_lexer_visit(&p->lexer, &p->left, &used);
	p->left.visitor = NULL;
	p->left.arg = NULL;
	advance(p, used);
	if (timed.rc != HWTD_OK)
		return (hwtdi_fail_nomem(err, sizeof(struct hwtdi_pt_ref)));
	return (rc);
}

int
hwtd_packets_visit(struct hwtd_packets *packets,
    const struct hwtd_packet_visitor *visitor, void *arg,
    struct hwtd_error *err)
{
	struct hwtd_packet_visitor v;
	int rc;

	if (packets == NULL || visitor == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_options_copy(&v, sizeof(v), visitor, err);
	if (rc == HWTD_OK)
		rc = visit_rows(packets, &v, arg, err);
	while (rc == HWTD_OK && (rc = fill(packets, err)) == HWTD_OK) {
		if (packets->has_lost) {
			packets->has_lost = false;
			if (v.packet != NULL)
				rc = v.packet(arg, &packets->lost);
			continue;
		}
		rc = visit_stretch(packets, &v, arg, err);
	}
	return (rc);
}

int
hwtd_packets_stats(const struct hwtd_packets *packets,
    struct hwtd_packets_stats *out)
{
	struct hwtd_packets_stats stats = { .size = sizeof(stats) };

	if (packets == NULL || out == NULL)
		return (HWTD_E_INVALID);
	stats.bytes = packets->lexer.bytes;
	stats.bytes_unknown = packets->lexer.bytes_unknown;
	stats.bytes_named = stats.bytes - stats.bytes_unknown;
	stats.bytes_lost = packets->bytes_lost;
	return (hwtdi_result_copy(out, &stats, sizeof(stats)));
}
