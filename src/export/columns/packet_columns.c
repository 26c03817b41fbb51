/*
 * Packets as columns, and which of their fields a kind of packet has.
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

/* Fields that a kind of packet may say nothing in; they are 0 then. */
#define KNOWN_VALUE 0x1
#define KNOWN_COUNT 0x2
#define KNOWN_STAMP 0x4
#define KNOWN_AUX 0x8

struct row {
	struct hwtd_packet packet;
	const char *name;
	/* KNOWN_* bits. */
	uint8_t known;
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
#define IF_KNOWN(set)                                                         \
	{                                                                     \
		{                                                             \
			HWTDI_IF_BITS, HWTDI_FIELD(row, known), (set)         \
		}                                                             \
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
	    .conditions = IF_KNOWN(KNOWN_VALUE),
	    .meaning = "payload, by kind" },
	{ "count", 0, PACKET(HWTDI_U32, packet.count),
	    .conditions = IF_KNOWN(KNOWN_COUNT),
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
	    .conditions = IF_KNOWN(KNOWN_STAMP),
	    .meaning = "raw timestamp; of SPE by kind" },
	{ "aux", 0, PACKET(HWTDI_U32, packet.aux),
	    .conditions = IF_KNOWN(KNOWN_AUX),
	    .meaning = "cycles, a source of data or a header, by kind" },
	{ "text", HWTDI_NAMED_ONLY, .source = FROM_TEXT, .type = HWTDI_TEXT,
	    .field = HWTDI_FIELD(text, text),
	    .meaning = "fields of the packet in words" },
};

static const struct hwtdi_column_table table = { columns,
	sizeof(columns) / sizeof(columns[0]), 0, 0 };

/* When a field of a kind is known. */
enum when {
	NEVER,
	ALWAYS,
	/* It is not 0, which says that it is not known, or not there. */
	IF_SET,
	/* A payload has bytes: `count` is how it is compressed. */
	IF_COMPRESSED,
	/* Events of some types have a vector. */
	IF_VECTOR,
	/* HWTD_PKF_TRIG_COUNT, HWTD_PKF_COUNT, HWTD_PKF_STAMP, HWTD_PKF_CYCLES. */
	IF_TRIG_COUNT,
	IF_COUNT,
	IF_STAMP,
	IF_CYCLES,
	/* `count` tells a context, with the ID of one. */
	IF_CONTEXT,
	IF_CONTEXT_ID,
	/* The number of an exception, or that. */
	IF_EXCEPTION,
	/* Software wrote something. */
	IF_DATA,
	/* Whose data they are is told by all protocols but one. */
	IF_WHOSE,
	IF_STM,
	IF_NUMBERED
};

struct rules {
	uint8_t value, count, stamp, aux;
};

#define PT(value_, count_)                                                    \
	{                                                                     \
		.value = (value_), .count = (count_)                          \
	}
/* Any packet of CoreSight may have a timestamp and cycles. */
#define CS(value_, count_)                                                    \
	{                                                                     \
		.value = (value_), .count = (count_), .stamp = IF_STAMP,      \
		.aux = IF_CYCLES                                              \
	}
#define SPE(value_, count_, stamp_)                                           \
	{                                                                     \
		.value = (value_), .count = (count_), .stamp = (stamp_),      \
		.aux = ALWAYS                                                 \
	}

/* As packet.h says of each kind. */
static const struct rules rules[HWTD_PACKET_KINDS] = {
	[HWTD_PK_UNKNOWN] = PT(NEVER, NEVER),
	[HWTD_PK_UNSYNCED] = PT(NEVER, NEVER),
	[HWTD_PK_TRUNCATED] = PT(NEVER, NEVER),
	[HWTD_PK_LOST] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_PAD] = PT(NEVER, ALWAYS),
	[HWTD_PK_PT_PSB] = PT(NEVER, NEVER),
	[HWTD_PK_PT_PSBEND] = PT(NEVER, NEVER),
	[HWTD_PK_PT_OVF] = PT(NEVER, NEVER),
	[HWTD_PK_PT_STOP] = PT(NEVER, NEVER),
	[HWTD_PK_PT_TNT_8] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_TNT_64] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_TIP] = PT(IF_COMPRESSED, ALWAYS),
	[HWTD_PK_PT_TIP_PGE] = PT(IF_COMPRESSED, ALWAYS),
	[HWTD_PK_PT_TIP_PGD] = PT(IF_COMPRESSED, ALWAYS),
	[HWTD_PK_PT_FUP] = PT(IF_COMPRESSED, ALWAYS),
	[HWTD_PK_PT_MODE_EXEC] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_MODE_TSX] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_PIP] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_VMCS] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_TSC] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_TMA] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_MTC] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_CYC] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_CBR] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_MNT] = PT(ALWAYS, NEVER),
	[HWTD_PK_PT_PTW] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_EXSTOP] = PT(NEVER, NEVER),
	[HWTD_PK_PT_MWAIT] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_PWRE] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_PWRX] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_BBP] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_BIP] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_BEP] = PT(NEVER, NEVER),
	[HWTD_PK_PT_CFE] = PT(IF_VECTOR, ALWAYS),
	[HWTD_PK_PT_EVD] = PT(ALWAYS, ALWAYS),
	[HWTD_PK_PT_TRIG] = PT(ALWAYS, IF_TRIG_COUNT),
	[HWTD_PK_CS_ASYNC] = CS(NEVER, NEVER),
	[HWTD_PK_CS_INFO] = CS(ALWAYS, IF_SET),
	[HWTD_PK_CS_TRACE_ON] = CS(NEVER, NEVER),
	[HWTD_PK_CS_ATOM] = CS(ALWAYS, ALWAYS),
	[HWTD_PK_CS_ADDRESS] = CS(IF_EXCEPTION, IF_CONTEXT),
	[HWTD_PK_CS_CONTEXT] = CS(IF_CONTEXT_ID, IF_CONTEXT),
	[HWTD_PK_CS_ISYNC] = CS(IF_CONTEXT_ID, ALWAYS),
	[HWTD_PK_CS_EXCEPTION] = CS(ALWAYS, NEVER),
	[HWTD_PK_CS_EXCEPTION_RETURN] = CS(NEVER, NEVER),
	[HWTD_PK_CS_TIMESTAMP] = CS(NEVER, IF_SET),
	[HWTD_PK_CS_CYCLES] = CS(IF_COUNT, IF_SET),
	[HWTD_PK_CS_EVENT] = CS(ALWAYS, NEVER),
	[HWTD_PK_CS_SPECULATION] = CS(ALWAYS, ALWAYS),
	[HWTD_PK_CS_Q] = CS(IF_COUNT, IF_SET),
	[HWTD_PK_CS_OVERFLOW] = CS(IF_STM, NEVER),
	[HWTD_PK_CS_DISCARD] = CS(NEVER, NEVER),
	[HWTD_PK_CS_TRANSACTION] = CS(NEVER, NEVER),
	[HWTD_PK_CS_MARKER] = CS(IF_NUMBERED, NEVER),
	[HWTD_PK_CS_CHANNEL] = CS(ALWAYS, NEVER),
	[HWTD_PK_CS_DATA] = { IF_DATA, IF_SET, IF_STAMP, IF_WHOSE },
	[HWTD_PK_CS_TRIGGER] = CS(IF_STM, NEVER),
	[HWTD_PK_CS_IGNORE] = CS(NEVER, NEVER),
	[HWTD_PK_CS_OTHER] = CS(IF_STM, NEVER),
	[HWTD_PK_CS_FRAME] = CS(NEVER, NEVER),
	[HWTD_PK_SPE_PAD] = SPE(NEVER, ALWAYS, NEVER),
	[HWTD_PK_SPE_END] = SPE(NEVER, NEVER, NEVER),
	[HWTD_PK_SPE_ALIGNMENT] = SPE(NEVER, NEVER, NEVER),
	[HWTD_PK_SPE_PC] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_TARGET] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_VA] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_PA] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_PREV_TARGET] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_ADDRESS] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_TOTAL] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_ISSUE] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_XLAT] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_COUNTER] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_CONTEXT] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_TIMESTAMP] = SPE(ALWAYS, NEVER, ALWAYS),
	/* Who wrote them is not always known. */
	[HWTD_PK_SPE_EVENTS] = SPE(ALWAYS, IF_SET, IF_SET),
	[HWTD_PK_SPE_SOURCE] = SPE(ALWAYS, NEVER, IF_SET),
	[HWTD_PK_SPE_OPERATION] = SPE(ALWAYS, ALWAYS, NEVER),
	[HWTD_PK_SPE_UNKNOWN] = SPE(ALWAYS, NEVER, NEVER),
};

/* Markers of time are counted by nobody. */
#define TIME_MARKER ((uint32_t)HWTD_CS_ETMV4 << 16 | 0x88)

/* Bit n: events of type n have a vector. */
#define VECTOR_TYPES (1u << 1 | 1u << 5 | 1u << 9 | 1u << 12 | 1u << 14)

static bool
has_vector(const struct hwtd_packet *p)
{
	return (p->count < 32 && (VECTOR_TYPES >> p->count & 1) != 0);
}

static bool
has_context_id(const struct hwtd_packet *p)
{
	return ((p->flags & HWTD_PKF_CONTEXT) != 0 &&
	    (p->count & (HWTD_PKC_CONTEXT_ID | HWTD_PKC_VMID)) != 0);
}

static bool
is_known(unsigned int when, const struct hwtd_packet *p, uint64_t field)
{
	const uint32_t protocol = p->code >> 16;

	switch (when) {
	case ALWAYS:
		return (true);
	case IF_SET:
		return (field != 0);
	case IF_COMPRESSED:
		return (p->count != 0);
	case IF_VECTOR:
		return (field != 0 || has_vector(p));
	case IF_TRIG_COUNT:
		return ((p->flags & HWTD_PKF_TRIG_COUNT) != 0);
	case IF_COUNT:
		return ((p->flags & HWTD_PKF_COUNT) != 0);
	case IF_STAMP:
		return ((p->flags & HWTD_PKF_STAMP) != 0);
	case IF_CYCLES:
		return ((p->flags & HWTD_PKF_CYCLES) != 0);
	case IF_CONTEXT:
		return (field != 0 || (p->flags & HWTD_PKF_CONTEXT) != 0);
	case IF_CONTEXT_ID:
		return (has_context_id(p));
	case IF_EXCEPTION:
		return ((p->flags & HWTD_PKF_EXCEPTION) != 0 ||
		    has_context_id(p));
	case IF_DATA:
		return (p->count != 0);
	case IF_WHOSE:
		return (p->count != 0 && protocol != HWTD_CS_ETMV3);
	case IF_STM:
		return (protocol == HWTD_CS_STM);
	case IF_NUMBERED:
		return (protocol == HWTD_CS_ETMV4 && p->code != TIME_MARKER);
	default:
		return (false);
	}
}

static uint8_t
known_of(const struct hwtd_packet *p)
{
	const struct rules
	    *r = &rules[p->kind < HWTD_PACKET_KINDS ? p->kind : 0];
	unsigned int known = 0;

	known |= is_known(r->value, p, p->value) ? KNOWN_VALUE : 0;
	known |= is_known(r->count, p, p->count) ? KNOWN_COUNT : 0;
	known |= is_known(r->stamp, p, p->stamp) ? KNOWN_STAMP : 0;
	known |= is_known(r->aux, p, p->aux) ? KNOWN_AUX : 0;
	return ((uint8_t)known);
}

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
		rc = hwtdi_packets_read_some(r->packets, &r->batch, err);
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
		r->rows[i].known = known_of(&r->rows[i].packet);
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
