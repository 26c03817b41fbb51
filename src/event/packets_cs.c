/*
 * Packets of CoreSight sources.
 */
#include "base/fail.h"
#include "decode/coresight/cs_lexer.h"
#include "event/packets_internal.h"

static const struct hwtdi_engine *
cuts_of_cs(const struct hwtd_packets *p)
{
	return (hwtdi_cs_cuts(p->cs.protocol));
}

void
hwtdi_packets_close_cs(struct hwtd_packets *p)
{
	hwtdi_window_destroy(p->cs.window);
	hwtdi_cs_lexer_destroy(p->cs.lexer);
	hwtdi_free(hwtdi_trace_library(p->trace), p->cs.rows,
	    sizeof(*p->cs.rows));
}

int
hwtdi_packets_open_rows(struct hwtd_packets *p, struct hwtd_error *err)
{
	p->cs.rows = hwtdi_zalloc(hwtdi_trace_library(p->trace),
	    sizeof(*p->cs.rows));
	if (p->cs.rows == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*p->cs.rows)));
	p->cs.rows->stream = p->opts.stream;
	p->cs.rows->first = p->opts.first;
	p->cs.rows->end = p->opts.end;
	p->cs.rows->kinds = p->opts.kinds;
	return (HWTD_OK);
}

static int
open_cs(struct hwtd_packets *p, const struct hwtd_stream_desc *desc,
    struct hwtd_error *err)
{
	const struct hwtd_coresight_config
	    *config = hwtdi_trace_coresight_config(p->trace, p->opts.stream);
	int rc;

	if (config == NULL || config->protocol == HWTD_CS_UNKNOWN)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "stream %u: its CoreSight protocol is not known",
		    p->opts.stream));
	p->cs.protocol = config->protocol;
	rc = hwtdi_packets_open_rows(p, err);
	if (rc == HWTD_OK)
		rc = hwtdi_cs_lexer_create(hwtdi_trace_library(p->trace),
		    config, p->cs.rows, &p->cs.lexer, err);
	if (rc == HWTD_OK && desc->sink_plus_1 != 0 &&
	    (p->opts.flags & HWTD_PACKETS_SINK) != 0)
		rc = hwtdi_window_create(p->trace, p->opts.stream,
		    &p->cs.window, err);
	return (rc);
}

static bool
begins_cs(const struct hwtd_packets *p, const uint8_t *bytes, size_t n)
{
	return (hwtdi_cs_begins_sync(p->cs.protocol, bytes, n));
}

/* What is to be named, and where it begins. */
void
hwtdi_packets_set_left(struct hwtd_packets *p,
    const struct hwtdi_segment *segment)
{
	size_t skip = 0;

	if (hwtdi_packets_at_first(p) && p->opts.first > segment->stream_off)
		skip = (size_t)(p->opts.first - segment->stream_off);
	p->begun = true;
	p->at = segment->stream_off + segment->n;
	p->left.bytes = segment->bytes + skip;
	p->left.n = segment->n - skip;
	p->left.tail = segment->tail;
	p->left.stream_off = segment->stream_off + skip;
}

static void
take_cs(struct hwtd_packets *p, const struct hwtdi_segment *segment,
    bool adjoins)
{
	hwtdi_packets_set_left(p, segment);
	if (!p->cs.open || !adjoins)
		hwtdi_cs_lexer_restart(p->cs.lexer, p->left.stream_off);
	p->cs.open = true;
	p->cs.ends = segment->tail == 0 ||
	    begins_cs(p, segment->bytes + segment->n, segment->tail);
}

void
hwtdi_packets_passed(struct hwtd_packets *p, size_t n)
{
	p->left.bytes += n;
	p->left.n -= n;
	p->left.stream_off += n;
}

/* Nothing that comes is asked for. */
void
hwtdi_packets_stop_behind(struct hwtd_packets *p)
{
	if (!p->cs.rows->past_end)
		return;
	p->left.n = 0;
	p->done = true;
}

static void
make_cs_rows(struct hwtd_packets *p)
{
	struct hwtdi_cs_rows *rows = p->cs.rows;

	rows->n = 0;
	while (p->left.n > 0 && rows->n < HWTDI_CS_ROWS_FEED / 2) {
		const size_t n = p->left.n < HWTDI_CS_ROWS_FEED
		    ? p->left.n
		    : HWTDI_CS_ROWS_FEED;

		hwtdi_cs_lexer_feed(p->cs.lexer, p->left.stream_off,
		    p->left.bytes, n);
		hwtdi_packets_passed(p, n);
		if (p->left.n == 0 && p->cs.ends) {
			hwtdi_cs_lexer_end(p->cs.lexer, p->left.stream_off);
			p->cs.open = false;
		}
		hwtdi_packets_stop_behind(p);
	}
	p->rows = rows->rows;
	p->n_rows = rows->n;
}

/* Where packets lie in the sink. */
int
hwtdi_packets_set_sink_offs(struct hwtd_packets *p, size_t n,
    struct hwtd_error *err)
{
	for (; p->cs.window != NULL && p->n_complete < n; p->n_complete++) {
		struct hwtd_packet *row = &p->rows[p->n_complete];
		struct hwtd_error inner = { .size = sizeof(inner) };
		/* Behind the byte that has its first half. */
		const bool half = (row->flags & HWTD_PKF_HALF) != 0;
		const int rc = hwtdi_window_sink_off(p->cs.window,
		    row->stream_off - half, &row->sink_off, &inner);

		if (rc == HWTD_OK) {
			row->flags |= HWTD_PKF_SINK;
			row->sink_off += half;
		}
		if (rc != HWTD_OK && rc != HWTD_E_NOT_FOUND)
			return (hwtdi_fail_pass(err, &inner));
	}
	return (HWTD_OK);
}

void
hwtdi_packets_stats_of_cs(const struct hwtd_packets *p,
    struct hwtd_packets_stats *out)
{
	out->bytes = p->cs.rows->bytes;
	out->bytes_unknown = p->cs.rows->bytes_unknown;
}

const struct hwtdi_packets_class hwtdi_packets_cs = {
	.cuts = cuts_of_cs,
	.open = open_cs,
	.close = hwtdi_packets_close_cs,
	.begins_sync = begins_cs,
	.take = take_cs,
	.make_rows = make_cs_rows,
	.complete = hwtdi_packets_set_sink_offs,
	.stats = hwtdi_packets_stats_of_cs,
};
