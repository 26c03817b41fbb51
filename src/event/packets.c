/*
 * Packets of a stream: its segments, one after the other, through what names the
 * bytes of its technology.
 */
#include <string.h>

#include "base/fail.h"
#include "event/packets_internal.h"

static const struct hwtdi_packets_class *
class_of(const struct hwtd_stream_desc *desc)
{
	if (desc->tech == HWTD_TECH_INTEL_PT)
		return (&hwtdi_packets_pt);
	if (desc->tech == HWTD_TECH_SPE)
		return (&hwtdi_packets_spe);
	if (desc->tech != HWTD_TECH_CORESIGHT)
		return (NULL);
	return (desc->framing == HWTD_FRAMING_NONE ? &hwtdi_packets_cs
						   : &hwtdi_packets_sink);
}

static int
check(const struct hwtd_trace *trace, const struct hwtd_packets_options *o,
    struct hwtd_stream_desc *desc, struct hwtd_error *err)
{
	const uint32_t known = HWTD_PACKETS_NO_SYNC | HWTD_PACKETS_TIME |
	    HWTD_PACKETS_SINK | HWTD_PACKETS_PERF_LINES;

	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	if ((o->flags & ~known) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "packets flags %#x are not known", o->flags));
	if (hwtd_trace_stream(trace, o->stream, desc) != HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND, "no stream %u",
		    o->stream));
	if (class_of(desc) == NULL)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "stream %u: packets of its technology are not known",
		    o->stream));
	return (HWTD_OK);
}

/*
 * Go to where reading must begin so that packets are the same as when all are
 * read: a segment that begins with no synchronisation goes on from the one before.
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
		    p->class->begins_sync(p, s->bytes, s->n + s->tail))
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
	if (p->opts.kinds == 0 && p->opts.kinds_from_64 == 0) {
		p->opts.kinds = UINT64_MAX;
		p->opts.kinds_from_64 = UINT64_MAX;
	}
	p->trace = hwtdi_trace_hold(trace);
	p->class = class_of(&desc);
	rc = p->class->open(p, &desc, err);
	if (rc == HWTD_OK)
		rc = hwtdi_segments_init(&p->segments, trace,
		    p->class->cuts(p), o.stream, err);
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
	packets->class->close(packets);
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
	p->lost.count = gap->reason;
	if (gap->first < p->opts.first || gap->first >= p->opts.end || n == 0)
		return;
	p->bytes_lost += n;
	p->has_lost = hwtdi_packets_wants(p, HWTD_PK_LOST);
}

size_t
hwtdi_packets_cut_nowhere(const uint8_t *bytes, size_t n, size_t seen,
    size_t from)
{
	(void)bytes;
	(void)seen;
	(void)from;
	return (n);
}

static void
take_segment(struct hwtd_packets *p, const struct hwtdi_segment *segment)
{
	const bool adjoins = p->begun && segment->stream_off == p->at &&
	    segment->stream_off > p->segments.extent.start;

	/* What is asked for without synchronisation begins in a hole. */
	if (hwtdi_packets_at_first(p) &&
	    segment->stream_off + segment->n <= p->opts.first)
		return;
	/* An extent, and what comes behind a hole, is a stream of its own. */
	p->class->take(p, segment, adjoins);
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

/* Make rows, maybe none.  HWTD_END: there are none left. */
static int
make_rows(struct hwtd_packets *p, struct hwtd_error *err)
{
	int rc = fill(p, err);

	if (rc != HWTD_OK)
		return (rc);
	p->n_told = 0;
	p->n_complete = 0;
	if (p->has_lost) {
		p->rows = &p->lost;
		p->has_lost = false;
		p->n_rows = 1;
		p->n_complete = 1;
		return (HWTD_OK);
	}
	p->class->make_rows(p);
	return (HWTD_OK);
}

int
hwtdi_packets_read_some(struct hwtd_packets *packets,
    struct hwtd_packet_batch *out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	*out = (struct hwtd_packet_batch){ .size = sizeof(*out),
		.stride = sizeof(struct hwtd_packet) };
	/* After a failure, rows may be there that are not complete. */
	if (packets->n_rows == 0)
		rc = make_rows(packets, err);
	if (rc != HWTD_OK || packets->n_rows == 0)
		return (rc);
	rc = packets->class->complete(packets, packets->n_rows, err);
	if (rc != HWTD_OK)
		return (rc);
	out->packets = packets->rows + packets->n_told;
	out->n = packets->n_rows - packets->n_told;
	packets->n_rows = 0;
	return (HWTD_OK);
}

int
hwtd_packets_read(struct hwtd_packets *packets,
    struct hwtd_packet_batch *batch, struct hwtd_error *err)
{
	struct hwtd_packet_batch out;
	int rc;

	if (packets == NULL || batch == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (batch->size < sizeof(batch->size))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "the size of the batch is not set"));
	do {
		rc = hwtdi_poll(hwtdi_trace_library(packets->trace), err);
		if (rc == HWTD_OK)
			rc = hwtdi_packets_read_some(packets, &out, err);
	} while (rc == HWTD_OK && out.n == 0);
	return (rc != HWTD_OK ? rc
			      : hwtdi_result_copy(batch, &out, sizeof(out)));
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

/* Rows that were made, maybe by a call that failed. */
static int
visit_rows(struct hwtd_packets *p, const struct hwtd_packet_visitor *v,
    void *arg, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && p->n_told < p->n_rows) {
		rc = p->class->complete(p, p->n_told + 1, err);
		if (rc == HWTD_OK)
			rc = tell_row(v, arg, &p->rows[p->n_told++]);
	}
	if (p->n_told == p->n_rows) {
		p->n_rows = 0;
		p->n_told = 0;
	}
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
		if (packets->class->visit != NULL) {
			rc = packets->class->visit(packets, &v, arg, err);
			if (rc == HWTD_OK)
				rc = visit_rows(packets, &v, arg, err);
			continue;
		}
		rc = make_rows(packets, err);
		if (rc == HWTD_OK)
			rc = visit_rows(packets, &v, arg, err);
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
	packets->class->stats(packets, &stats);
	stats.bytes_named = stats.bytes - stats.bytes_unknown;
	stats.bytes_lost = packets->bytes_lost;
	return (hwtdi_result_copy(out, &stats, sizeof(stats)));
}
