/*
 * Packets of trace sinks: frames, and what is between them.
 */
#include "base/fail.h"
#include "decode/coresight/cs_packet.h"
#include "decode/coresight/cs_rows.h"
#include "event/packets_internal.h"

static void
put(struct hwtdi_cs_rows *rows, unsigned int number, uint64_t first,
    uint64_t end)
{
	struct hwtd_packet row = {
		.stream_off = first,
		.bytes = (uint32_t)(end - first),
		.code = HWTDI_CS_CODE(HWTDI_CS_SINK, number),
	};

	row.kind = hwtdi_cs_packet_kind(row.code);
	hwtdi_cs_rows_put(rows, &row);
	hwtdi_cs_rows_finish(rows, end);
}

/* Nothing of a frame is there, nor lost: synchronisation, and footers. */
static void
put_between(struct hwtdi_cs_rows *rows, const struct hwtdi_framer *framer,
    uint64_t end)
{
	while (rows->at < end) {
		const uint64_t place = rows->at % HWTDI_DSTREAM_BLOCK;
		const bool in_blocks = framer->framing ==
		    HWTDI_FRAMING_DSTREAM;
		const bool footer = in_blocks && place >= HWTDI_DSTREAM_TRACE;
		uint64_t stop = end;

		if (in_blocks)
			stop = rows->at - place +
			    (footer ? HWTDI_DSTREAM_BLOCK
				    : HWTDI_DSTREAM_TRACE);
		put(rows, footer ? HWTDI_CS_SINK_FOOTER : HWTDI_CS_SINK_SYNC,
		    rows->at, stop < end ? stop : end);
	}
}

/* Up to here, of which so many bytes are in no frame. */
static void
put_lost(struct hwtdi_cs_rows *rows, const struct hwtdi_framer *framer,
    uint64_t lost)
{
	const uint64_t there = framer->off - rows->at;

	hwtdi_cs_rows_finish(rows, rows->at + (lost < there ? lost : there));
	put_between(rows, framer, framer->off);
}

/*
 * Where frames begin, what was before tells, from the start of an extent on.
 */
static const struct hwtdi_engine *
cuts_of_sink(const struct hwtd_packets *p)
{
	static const struct hwtdi_engine nowhere = {
		.name = "sink",
		.find_sync = hwtdi_packets_cut_nowhere,
		.tail_bytes = 1,
	};

	(void)p;
	return (&nowhere);
}

static int
open_sink(struct hwtd_packets *p, const struct hwtd_stream_desc *desc,
    struct hwtd_error *err)
{
	p->cs.protocol = desc->framing;
	return (hwtdi_packets_open_rows(p, err));
}

static bool
begins_nowhere(const struct hwtd_packets *p, const uint8_t *bytes, size_t n)
{
	(void)p;
	(void)bytes;
	(void)n;
	return (false);
}

static void
take_sink(struct hwtd_packets *p, const struct hwtdi_segment *segment,
    bool adjoins)
{
	hwtdi_packets_set_left(p, segment);
	if (!p->cs.open || !adjoins) {
		hwtdi_framer_init(&p->cs.framer,
		    (enum hwtdi_framing)p->cs.protocol, p->left.stream_off);
		hwtdi_cs_rows_begin(p->cs.rows, p->left.stream_off);
	}
	p->cs.open = true;
	p->cs.ends = segment->tail == 0;
}

/* Name bytes up to the end of what comes next; how many. */
static size_t
name_next(struct hwtdi_cs_rows *rows, struct hwtdi_framer *framer,
    const uint8_t *bytes, size_t n)
{
	struct hwtdi_frame frame;
	const size_t took = hwtdi_framer_next(framer, bytes, n, &frame);

	switch (frame.kind) {
	case HWTDI_FRAME_DATA:
	case HWTDI_FRAME_BARRIER:
		put_between(rows, framer, frame.off);
		put(rows,
		    frame.kind == HWTDI_FRAME_DATA ? HWTDI_CS_SINK_FRAME
						   : HWTDI_CS_SINK_BARRIER,
		    frame.off, framer->off);
		break;
	case HWTDI_FRAME_LOST:
		put_lost(rows, framer, frame.lost);
		break;
	default:
		break;
	}
	return (took);
}

static void
name_end(struct hwtdi_cs_rows *rows, struct hwtdi_framer *framer)
{
	struct hwtdi_frame frame;

	hwtdi_framer_end(framer, &frame);
	put_lost(rows, framer,
	    frame.kind == HWTDI_FRAME_LOST ? frame.lost : 0);
}

static void
make_sink_rows(struct hwtd_packets *p)
{
	struct hwtdi_cs_rows *rows = p->cs.rows;

	rows->n = 0;
	while (p->left.n > 0 && rows->n < HWTDI_CS_ROWS_FEED / 2) {
		hwtdi_packets_passed(p,
		    name_next(rows, &p->cs.framer, p->left.bytes, p->left.n));
		if (p->left.n == 0 && p->cs.ends) {
			name_end(rows, &p->cs.framer);
			p->cs.open = false;
		}
		hwtdi_packets_stop_behind(p);
	}
	p->rows = rows->rows;
	p->n_rows = rows->n;
}

const struct hwtdi_packets_class hwtdi_packets_sink = {
	.cuts = cuts_of_sink,
	.open = open_sink,
	.close = hwtdi_packets_close_cs,
	.begins_sync = begins_nowhere,
	.take = take_sink,
	.make_rows = make_sink_rows,
	.complete = hwtdi_packets_set_sink_offs,
	.stats = hwtdi_packets_stats_of_cs,
};
