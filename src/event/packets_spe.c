/*
 * Packets of Arm SPE: rows one after the other, and the times of their records.
 */
#include "event/packets_internal.h"

#include <string.h>

#include "base/fail.h"
#include "decode/spe/spe_packet.h"
#include "decode/spe/spe_record.h"
#include "decode/spe/spe_set.h"
#include "decode/spe/spe_walk.h"
#include "event/expand.h"

/* The most bytes of padding in a line of perf. */
#define PERF_LINE 16

/* What a line is of lies in so many bytes: padding is not looked through. */
#define PERF_LOOK 32

/* A record without an end in so many packets tells no time. */
#define TIME_LOOK 64

static bool
is_perf(const struct hwtd_packets *p)
{
	return ((p->opts.flags & HWTD_PACKETS_PERF_LINES) != 0);
}

/* Lines of perf do not depend on where records begin. */
static const struct hwtdi_engine *
cuts_of_spe(const struct hwtd_packets *p)
{
	static const struct hwtdi_engine nowhere = {
		.name = "spe-lines",
		.find_sync = hwtdi_packets_cut_nowhere,
		.tail_bytes = PERF_LINE,
	};

	return (is_perf(p) ? &nowhere
			   : hwtdi_engine_find(HWTD_TECH_SPE, NULL));
}

static int
open_spe(struct hwtd_packets *p, const struct hwtd_stream_desc *desc,
    struct hwtd_error *err)
{
	(void)err;
	if (desc->spe != NULL) {
		p->spe.who.midr = desc->spe->midr;
		p->spe.who.version = desc->spe->version;
	}
	if (is_perf(p))
		p->spe.read_flags = HWTDI_SPE_ONE_BYTE_UNKNOWN;
	p->spe.clock = desc->clock;
	p->spe.timed = (p->opts.flags & HWTD_PACKETS_TIME) != 0 &&
	    desc->clock.counts_per != 0;
	return (HWTD_OK);
}

static void
close_spe(struct hwtd_packets *p)
{
	(void)p;
}

static bool
begins_record(const struct hwtd_packets *p, const uint8_t *bytes, size_t n)
{
	return (!is_perf(p) && n > 0 && hwtdi_spe_begins_record(bytes, n));
}

static void
take_spe(struct hwtd_packets *p, const struct hwtdi_segment *segment,
    bool adjoins)
{
	size_t skip = 0;

	if (hwtdi_packets_at_first(p) && p->opts.first > segment->stream_off)
		skip = (size_t)(p->opts.first - segment->stream_off);
	else if (adjoins)
		skip = p->spe.taken;
	if (skip > segment->n)
		skip = segment->n;
	p->spe.taken = 0;
	/* A cut is the begin of a record, or is taken for one. */
	if (!adjoins || !is_perf(p)) {
		p->spe.in_record = false;
		p->spe.guessed = false;
	}
	p->begun = true;
	p->at = segment->stream_off + segment->n;
	p->left.bytes = segment->bytes + skip;
	p->left.n = segment->n - skip;
	p->left.tail = segment->tail;
	p->left.stream_off = segment->stream_off + skip;
}

static uint16_t
address_kind(unsigned int index)
{
	static const uint16_t kinds[] = {
		[HWTDI_SPE_PC] = HWTD_PK_SPE_PC,
		[HWTDI_SPE_TARGET] = HWTD_PK_SPE_TARGET,
		[HWTDI_SPE_VA] = HWTD_PK_SPE_VA,
		[HWTDI_SPE_PA] = HWTD_PK_SPE_PA,
		[HWTDI_SPE_PREV_TARGET] = HWTD_PK_SPE_PREV_TARGET,
	};

	return (index < sizeof(kinds) / sizeof(kinds[0])
		? kinds[index]
		: (uint16_t)HWTD_PK_SPE_ADDRESS);
}

static uint16_t
counter_kind(unsigned int index)
{
	static const uint16_t kinds[] = {
		[HWTDI_SPE_TOTAL] = HWTD_PK_SPE_TOTAL,
		[HWTDI_SPE_ISSUE] = HWTD_PK_SPE_ISSUE,
		[HWTDI_SPE_XLAT] = HWTD_PK_SPE_XLAT,
	};

	return (index < sizeof(kinds) / sizeof(kinds[0])
		? kinds[index]
		: (uint16_t)HWTD_PK_SPE_COUNTER);
}

/* What a packet says. */
static void
set_fields(const struct hwtd_packets *p, const struct hwtdi_spe_packet *packet,
    struct hwtd_packet *row)
{
	static const uint16_t kinds[] = {
		[HWTDI_SPE_NONE] = HWTD_PK_TRUNCATED,
		[HWTDI_SPE_PAD] = HWTD_PK_SPE_PAD,
		[HWTDI_SPE_END] = HWTD_PK_SPE_END,
		[HWTDI_SPE_EVENTS] = HWTD_PK_SPE_EVENTS,
		[HWTDI_SPE_SOURCE] = HWTD_PK_SPE_SOURCE,
		[HWTDI_SPE_OPERATION] = HWTD_PK_SPE_OPERATION,
		[HWTDI_SPE_CONTEXT] = HWTD_PK_SPE_CONTEXT,
		[HWTDI_SPE_TIMESTAMP] = HWTD_PK_SPE_TIMESTAMP,
		[HWTDI_SPE_COUNTER] = HWTD_PK_SPE_COUNTER,
		[HWTDI_SPE_ADDRESS] = HWTD_PK_SPE_ADDRESS,
		[HWTDI_SPE_ALIGNMENT] = HWTD_PK_SPE_ALIGNMENT,
		[HWTDI_SPE_UNKNOWN] = HWTD_PK_SPE_UNKNOWN,
		[HWTDI_SPE_BAD] = HWTD_PK_UNKNOWN,
	};

	row->kind = kinds[packet->kind];
	row->value = packet->payload;
	row->aux = packet->header;
	row->count = packet->index;
	switch (packet->kind) {
	case HWTDI_SPE_PAD:
		row->count = (uint32_t)packet->bytes;
		break;
	case HWTDI_SPE_ADDRESS:
		row->kind = address_kind(packet->index);
		if (row->kind == HWTD_PK_SPE_PA ||
		    row->kind == HWTD_PK_SPE_ADDRESS)
			break;
		row->ip = hwtdi_spe_canonical(packet->payload);
		row->flags |= HWTD_PKF_IP;
		break;
	case HWTDI_SPE_COUNTER:
		row->kind = counter_kind(packet->index);
		break;
	case HWTDI_SPE_TIMESTAMP:
		row->stamp = packet->payload;
		row->flags |= HWTD_PKF_STAMP;
		break;
	case HWTDI_SPE_EVENTS:
		row->count = p->spe.who.version;
		row->stamp = p->spe.who.midr;
		break;
	case HWTDI_SPE_SOURCE:
		row->stamp = p->spe.who.midr;
		break;
	case HWTDI_SPE_NONE:
	case HWTDI_SPE_BAD:
		row->aux = 0;
		row->count = 0;
		row->value = 0;
		break;
	default:
		break;
	}
}

static bool
is_bad(const struct hwtdi_spe_packet *packet)
{
	return (packet->kind == HWTDI_SPE_BAD ||
	    packet->kind == HWTDI_SPE_NONE);
}

static void
read_packet(const struct hwtd_packets *p, const uint8_t *bytes, size_t n,
    uint64_t off, struct hwtdi_spe_packet *out)
{
	/* A buffer begins where its extent does. */
	hwtdi_spe_packet_read(bytes, n, off - p->segments.extent.start,
	    p->spe.read_flags, out);
}

/* The count of the timestamp that ends the record of these bytes. */
static bool
find_count(const struct hwtd_packets *p, const uint8_t *bytes, size_t n,
    uint64_t off, uint64_t *count_out)
{
	for (int i = 0; i < TIME_LOOK && n > 0; i++) {
		struct hwtdi_spe_packet packet;

		read_packet(p, bytes, n, off, &packet);
		if (packet.kind == HWTDI_SPE_TIMESTAMP) {
			*count_out = packet.payload;
			return (true);
		}
		if (is_bad(&packet) || packet.kind == HWTDI_SPE_END)
			return (false);
		bytes += packet.bytes;
		n -= packet.bytes;
		off += packet.bytes;
	}
	return (false);
}

static void
begin_record(struct hwtd_packets *p, size_t n)
{
	uint64_t count;

	p->spe.in_record = true;
	p->spe.has_time = p->spe.timed &&
	    find_count(p, p->left.bytes, n, p->left.stream_off, &count);
	if (p->spe.has_time)
		p->spe.time_ns = hwtdi_clock_ns(&p->spe.clock, count);
}

/* Where in its record a packet stands, and so which time it has. */
static void
follow_record(struct hwtd_packets *p, const struct hwtdi_spe_packet *packet,
    size_t n, struct hwtd_packet *row)
{
	const bool between = packet->kind == HWTDI_SPE_PAD ||
	    packet->kind == HWTDI_SPE_ALIGNMENT;

	if (!p->spe.in_record && between)
		return;
	if (!p->spe.in_record)
		begin_record(p, n);
	if (p->spe.guessed)
		row->flags |= HWTD_PKF_GUESSED;
	/* Behind bytes of no packet the end may be that of another record. */
	if (is_bad(packet)) {
		p->spe.guessed = true;
		p->spe.has_time = false;
	}
	if (packet->kind == HWTDI_SPE_TIMESTAMP && p->spe.timed) {
		p->spe.has_time = true;
		p->spe.time_ns = hwtdi_clock_ns(&p->spe.clock,
		    packet->payload);
	}
	if (p->spe.has_time) {
		row->time_ns = p->spe.time_ns;
		row->flags |= HWTD_PKF_TIME;
		/* As for all technologies: what does not fit. */
		if (row->time_ns == UINT64_MAX)
			row->flags |= HWTD_PKF_TIME_ESTIMATED;
	}
	if (packet->kind == HWTDI_SPE_TIMESTAMP ||
	    packet->kind == HWTDI_SPE_END) {
		p->spe.in_record = false;
		p->spe.guessed = false;
	}
}

/* What perf makes of the packet: its lines are short, and full of zeros. */
static void
make_line(const struct hwtd_packets *p, size_t n,
    struct hwtdi_spe_packet *packet)
{
	size_t most = n < PERF_LINE ? n : PERF_LINE;

	if (packet->kind == HWTDI_SPE_NONE) {
		packet->kind = HWTDI_SPE_BAD;
		packet->bytes = 1;
	} else if (packet->kind == HWTDI_SPE_PAD) {
		if (packet->bytes > most)
			packet->bytes = most;
	} else if (packet->kind == HWTDI_SPE_ALIGNMENT) {
		while (packet->bytes < most &&
		    p->left.bytes[packet->bytes] == 0)
			packet->bytes++;
	}
}

/* Bytes of no packet that follow one another are one row. */
static void
join_bad(const struct hwtd_packets *p, size_t n,
    struct hwtdi_spe_packet *packet)
{
	struct hwtdi_spe_packet next = *packet;

	while (packet->bytes < n) {
		read_packet(p, p->left.bytes + packet->bytes,
		    n - packet->bytes, p->left.stream_off + packet->bytes,
		    &next);
		if (next.kind != HWTDI_SPE_BAD)
			break;
		packet->bytes += next.bytes;
	}
}

static void
put_row(struct hwtd_packets *p, const struct hwtd_packet *row)
{
	if (row->stream_off < p->opts.first)
		return;
	p->spe.bytes += row->bytes;
	if (row->kind < HWTD_PK_LOST)
		p->spe.bytes_unknown += row->bytes;
	if (!hwtdi_packets_wants(p, row->kind))
		return;
	p->spe.rows[p->n_rows++] = *row;
}

/* One packet, which begins at what is left. */
static void
name_next(struct hwtd_packets *p)
{
	const size_t all = p->left.n + (is_perf(p) ? p->left.tail : 0);
	const size_t n = is_perf(p) && all > PERF_LOOK ? PERF_LOOK : all;
	struct hwtd_packet row = { .stream_off = p->left.stream_off,
		.stream = p->opts.stream };
	struct hwtdi_spe_packet packet;
	size_t here;

	read_packet(p, p->left.bytes, n, p->left.stream_off, &packet);
	if (is_perf(p))
		make_line(p, n, &packet);
	else if (packet.kind == HWTDI_SPE_BAD)
		join_bad(p, n, &packet);
	set_fields(p, &packet, &row);
	follow_record(p, &packet, n, &row);
	row.bytes = (uint32_t)packet.bytes;
	put_row(p, &row);
	here = packet.bytes < p->left.n ? packet.bytes : p->left.n;
	p->spe.taken = packet.bytes - here;
	hwtdi_packets_passed(p, here);
}

static void
make_spe_rows(struct hwtd_packets *p)
{
	p->rows = p->spe.rows;
	p->n_rows = 0;
	while (p->left.n > 0 && p->n_rows < HWTDI_PACKET_ROWS) {
		if (p->left.stream_off >= p->opts.end) {
			p->left.n = 0;
			p->done = true;
			return;
		}
		name_next(p);
	}
}

/* Nothing is to be known of packets but what is in them, and all are told. */
static bool
can_walk(const struct hwtd_packets *p)
{
	return (!is_perf(p) && !p->spe.timed && !p->spe.guessed &&
	    p->left.stream_off >= p->opts.first && p->at <= p->opts.end &&
	    p->opts.kinds == UINT64_MAX &&
	    p->opts.kinds_from_64 == UINT64_MAX);
}

static int
visit_spe(struct hwtd_packets *p, const struct hwtd_packet_visitor *v,
    void *arg, struct hwtd_error *err)
{
	(void)err;
	if (v->payload != NULL && can_walk(p) &&
	    p->left.n > HWTDI_SPE_WALK_SPARE) {
		struct hwtdi_spe_walk walk = { .see = v->payload,
			.arg = arg,
			.in_record = p->spe.in_record };
		const size_t n = hwtdi_spe_walk(&walk, p->left.bytes,
		    p->left.n - HWTDI_SPE_WALK_SPARE, p->left.stream_off);

		p->spe.in_record = walk.in_record;
		p->spe.bytes += n;
		hwtdi_packets_passed(p, n);
		if (n > 0)
			return (walk.rc);
	}
	/* The next one is not for that. */
	p->rows = p->spe.rows;
	p->n_rows = 0;
	p->n_complete = 0;
	if (p->left.stream_off >= p->opts.end) {
		p->left.n = 0;
		p->done = true;
	} else {
		name_next(p);
	}
	return (HWTD_OK);
}

static int
complete_spe(struct hwtd_packets *p, size_t n, struct hwtd_error *err)
{
	(void)err;
	p->n_complete = n;
	return (HWTD_OK);
}

static void
stats_of_spe(const struct hwtd_packets *p, struct hwtd_packets_stats *out)
{
	out->bytes = p->spe.bytes;
	out->bytes_unknown = p->spe.bytes_unknown;
}

const struct hwtdi_packets_class hwtdi_packets_spe = {
	.cuts = cuts_of_spe,
	.open = open_spe,
	.close = close_spe,
	.begins_sync = begins_record,
	.take = take_spe,
	.make_rows = make_spe_rows,
	.complete = complete_spe,
	.visit = visit_spe,
	.stats = stats_of_spe,
};
