/*
 * Packets as columns.
 */
#include <string.h>

#include "base/fail.h"
#include "event/packets_internal.h"
#include "export/columns/column_batch.h"

/* Sources. */
enum {
	FROM_PACKET,
	FROM_TEXT,
	SOURCES
};

/* Of the fields of a packet in words; what is longer is cut. */
#define TEXT_BYTES 192u

struct row {
	struct hwtd_packet packet;
	const char *name;
};

struct text {
	char text[TEXT_BYTES];
};

struct packet_rows {
	struct hwtdi_rows head;
	struct hwtd_packets *packets;
	/* What was read, and how much of it was handed out. */
	struct hwtd_packet_batch batch;
	size_t done;
	struct row rows[HWTDI_CHUNK];
	struct text texts[HWTDI_CHUNK];
};

#define PACKET(t, m)                                                          \
	.source = FROM_PACKET, .type = (t), .field = HWTDI_FIELD(row, m)
#define IF_FLAGS(set)                                                         \
	{                                                                     \
		HWTDI_IF_BITS, HWTDI_FIELD(row, packet.flags), (set)          \
	}
#define FLAG(name_, bit, meaning_)                                            \
	{                                                                     \
		name_, 0, PACKET(HWTDI_BOOL, packet.flags),                   \
		    .bits = (bit), .meaning = (meaning_)                      \
	}

static const struct hwtdi_column columns[] = {
	{ "stream", 0, PACKET(HWTDI_U32, packet.stream),
	    .meaning = "id of the stream" },
	{ "stream_off", 0, PACKET(HWTDI_U64, packet.stream_off),
	    .meaning = "first byte of the packet in the stream",
	    .unit = "bytes" },
	{ "bytes", 0, PACKET(HWTDI_U32, packet.bytes),
	    .meaning = "of the packet, or of a run of them", .unit = "bytes" },
	{ "kind", 0, PACKET(HWTDI_NAME, packet.kind),
	    .name_of = hwtd_packet_kind_name, .meaning = "what it is" },
	{ "name", 0, PACKET(HWTDI_STRING, name),
	    .conditions = { { HWTDI_IF_SET, HWTDI_FIELD(row, name), 0 } },
	    .meaning = "its name in its protocol, of CoreSight" },
	{ "ip", 0, PACKET(HWTDI_U64, packet.ip),
	    .conditions = { IF_FLAGS(HWTD_PKF_IP) },
	    .meaning = "virtual address with all its bits" },
	{ "value", 0, PACKET(HWTDI_U64, packet.value),
	    .meaning = "payload, by kind" },
	{ "count", 0, PACKET(HWTDI_U32, packet.count),
	    .meaning = "a number, by kind" },
	{ "time_ns", 0, PACKET(HWTDI_U64, packet.time_ns),
	    .conditions = { IF_FLAGS(HWTD_PKF_TIME) },
	    .meaning = "time on the clock of the trace", .unit = "ns" },
	{ "time_error_ns", 0, PACKET(HWTDI_U64, packet.time_error_ns),
	    .conditions = { IF_FLAGS(HWTD_PKF_TIME),
		{ HWTDI_IF_NOT_MAX, HWTDI_FIELD(row, packet.time_error_ns),
		    0 } },
	    .meaning = "time_ns is not off by more than this", .unit = "ns" },
	FLAG("time_estimated", HWTD_PKF_TIME_ESTIMATED,
	    "time_ns was not told at this packet"),
	FLAG("guessed", HWTD_PKF_GUESSED,
	    "where packets begin was guessed here"),
	FLAG("reserved", HWTD_PKF_RESERVED,
	    "a reserved bit is set that should not be"),
	{ "flags", 0, PACKET(HWTDI_U32, packet.flags),
	    .meaning = "bits HWTD_PKF_*" },
	{ "sink_off", 0, PACKET(HWTDI_U64, packet.sink_off),
	    .conditions = { IF_FLAGS(HWTD_PKF_SINK) },
	    .meaning = "where it begins in what the sink wrote",
	    .unit = "bytes" },
	{ "stamp", 0, PACKET(HWTDI_U64, packet.stamp),
	    .meaning = "raw timestamp; of SPE by kind" },
	{ "aux", 0, PACKET(HWTDI_U32, packet.aux),
	    .meaning = "cycles, a source of data or a header, by kind" },
	{ "text", HWTDI_NAMED_ONLY, .source = FROM_TEXT, .type = HWTDI_TEXT,
	    .field = HWTDI_FIELD(text, text),
	    .meaning = "fields of the packet in words" },
};

static const struct hwtdi_column_table table = { columns,
	sizeof(columns) / sizeof(columns[0]), 0, 0 };

/* Batches of packets may be larger than a chunk. */
static int
read_rows(struct hwtdi_rows *head, size_t most, size_t *n_out,
    struct hwtd_error *err)
{
	struct packet_rows *r = (struct packet_rows *)(void *)head;
	size_t n;

	if (r->done == r->batch.n) {
		int rc;

		r->done = 0;
		r->batch = (struct hwtd_packet_batch){
			.size = sizeof(r->batch)
		};
		rc = hwtd_packets_read(r->packets, &r->batch, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	n = r->batch.n - r->done < most ? r->batch.n - r->done : most;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *from = (const uint8_t *)r->batch.packets +
		    (r->done + i) * r->batch.stride;

		memcpy(&r->rows[i].packet, from, sizeof(r->rows[i].packet));
		r->rows[i]
		    .name = hwtd_packet_code_name(r->rows[i].packet.code);
	}
	r->done += n;
	head->n = *n_out = n;
	return (HWTD_OK);
}

static int
gather(struct hwtdi_rows *head, unsigned int source,
    struct hwtdi_column_filler *filler, struct hwtd_error *err)
{
	struct packet_rows *r = (struct packet_rows *)(void *)head;

	(void)err;
	if (source == FROM_PACKET) {
		hwtdi_rows_put_all(filler, r->rows, sizeof(r->rows[0]),
		    head->n);
		return (HWTD_OK);
	}
	for (size_t i = 0; i < head->n; i++) {
		r->texts[i].text[0] = '\0';
		(void)hwtd_packet_text(&r->rows[i].packet, r->texts[i].text,
		    sizeof(r->texts[i].text));
	}
	hwtdi_rows_put_all(filler, r->texts, sizeof(r->texts[0]), head->n);
	return (HWTD_OK);
}

static void
close_rows(struct hwtdi_rows *head)
{
	struct packet_rows *r = (struct packet_rows *)(void *)head;
	struct hwtd_packets *packets = r->packets;

	hwtdi_rows_destroy(head, sizeof(*r));
	hwtd_packets_close(packets);
}

static const struct hwtdi_rows_ops ops = {
	.table = &table,
	.n_sources = SOURCES,
	.read = read_rows,
	.gather = gather,
	.close = close_rows,
};

int
hwtd_packets_export(struct hwtd_packets *packets,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err)
{
	struct hwtd_export_options o;
	struct packet_rows *r;
	int rc;

	if (packets == NULL || stream_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no packets or no place for the stream"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	r = hwtdi_rows_create(hwtdi_trace_library(packets->trace), &ops,
	    sizeof(*r), err);
	if (r == NULL)
		return (HWTD_E_NOMEM);
	r->packets = packets;
	rc = hwtdi_column_stream(&r->head, &o, stream_out, err);
	if (rc != HWTD_OK)
		hwtdi_rows_destroy(&r->head, sizeof(*r));
	return (rc);
}
