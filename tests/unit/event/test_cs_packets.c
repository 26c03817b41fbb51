/*
 * Packets of CoreSight streams that were written by hand.
 *
 * Source: IHI 0064 (ETMv4), DDI 0487 (ETE), IHI 0014 (ETMv3), IHI 0035 (PFT),
 * MIPI STPv2, DDI 0403 (ITM), IHI 0029 (frames): the encodings of packets.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "support/frame_writer.h"
#include "support/memory_trace.h"
#include "support/packet_rows.h"
#include "support/slot_size.h"

#define ZEROS_5 0, 0, 0, 0, 0
#define ZEROS_11 ZEROS_5, ZEROS_5, 0
#define ONES_10 255, 255, 255, 255, 255, 255, 255, 255, 255, 255

/* What a packet has to be; fields that are 0 are so. */
struct want {
	const char *name;
	uint32_t kind;
	uint32_t bytes;
	uint64_t value;
	uint32_t count;
	uint64_t ip;
	uint64_t stamp;
	uint32_t aux;
	uint16_t flags;
};

struct source {
	struct hwtd_coresight_config config;
	const uint8_t *bytes;
	size_t n;
	const struct want *want;
	size_t n_want;
};

#define CONTEXT(isa, more) ((uint32_t)(isa) << HWTD_PKC_ISA_SHIFT | (more))

static const uint8_t etmv4_bytes[] = {
	0xf7, 0xf7, /* before any sync */
	ZEROS_11, 0x80, /* A-sync */
	0x01, 0x01, 0x00, /* trace info */
	0x04, /* trace on */
	0x81, 0x30, /* non-secure EL0, AArch64 */
	0x9d, 0x00, 0x00, 1, 0, 0, 0, 0, 0, /* 0x10000 */
	0xf7, /* E */
	0xd9, /* E N */
	0xc3, /* 6 E, and one more */
	0xe0, /* 3 E, N */
	0x95, 0x04, /* short: 0x10010 */
	0x06, 0x05, 0x9d, 0x05, 0x00, 1, 0, 0, 0, 0, 0, /* exception 2 */
	0x02, 0xaa, 0x01, /* timestamp */
	0x71, /* event 0 */
	0x70, /* ignore */
	0x00, 0x05, /* overflow */
	0x00, 0x03, /* discard */
	0x9d, 0x01, /* cut off */
};

static const struct want etmv4_want[] = {
	{ "I_NOT_SYNC", HWTD_PK_UNSYNCED, 2, 0, 0, 0, 0, 0, 0 },
	{ "I_ASYNC", HWTD_PK_CS_ASYNC, 12, 0, 0, 0, 0, 0, 0 },
	{ "I_TRACE_INFO", HWTD_PK_CS_INFO, 3, 0, 0, 0, 0, 0, 0 },
	{ "I_TRACE_ON", HWTD_PK_CS_TRACE_ON, 1, 0, 0, 0, 0, 0, 0 },
	{ "I_CTXT", HWTD_PK_CS_CONTEXT, 2, 0,
	    1u << HWTD_PKC_SECURITY_SHIFT | HWTD_PKC_64_BIT, 0, 0, 0,
	    HWTD_PKF_CONTEXT },
	{ "I_ADDR_L_64IS0", HWTD_PK_CS_ADDRESS, 9, 0, CONTEXT(HWTD_ISA_A64, 0),
	    0x10000, 0, 0, HWTD_PKF_IP },
	{ "I_ATOM_F1", HWTD_PK_CS_ATOM, 1, 1, 1, 0, 0, 0, 0 },
	{ "I_ATOM_F2", HWTD_PK_CS_ATOM, 1, 2, 2, 0, 0, 0, 0 },
	{ "I_ATOM_F6", HWTD_PK_CS_ATOM, 1, 0x7f, 7, 0, 0, 0, 0 },
	{ "I_ATOM_F6", HWTD_PK_CS_ATOM, 1, 0xe, 4, 0, 0, 0, 0 },
	{ "I_ADDR_S_IS0", HWTD_PK_CS_ADDRESS, 2, 0, CONTEXT(HWTD_ISA_A64, 0),
	    0x10010, 0, 0, HWTD_PKF_IP },
	{ "I_EXCEPT", HWTD_PK_CS_EXCEPTION, 2, 2, 0, 0, 0, 0, 0 },
	{ "I_ADDR_L_64IS0", HWTD_PK_CS_ADDRESS, 9, 0, CONTEXT(HWTD_ISA_A64, 0),
	    0x10014, 0, 0, HWTD_PKF_IP },
	{ "I_TIMESTAMP", HWTD_PK_CS_TIMESTAMP, 3, 0, 0, 0, 0xaa, 0,
	    HWTD_PKF_STAMP },
	{ "I_EVENT", HWTD_PK_CS_EVENT, 1, 1, 0, 0, 0, 0, 0 },
	{ "I_IGNORE", HWTD_PK_CS_IGNORE, 1, 0, 0, 0, 0, 0, 0 },
	{ "I_OVERFLOW", HWTD_PK_CS_OVERFLOW, 2, 0, 0, 0, 0, 0, 0 },
	{ "I_DISCARD", HWTD_PK_CS_DISCARD, 2, 0, 0, 0, 0, 0, 0 },
	{ "I_INCOMPLETE_EOT", HWTD_PK_TRUNCATED, 2, 0, 0, 0, 0, 0, 0 },
};

static const uint8_t ete_bytes[] = {
	ZEROS_11, 0x80, 0x01, 0x01, 0x00, /* sync */
	0x0a, /* transaction begins */
	0x0b, /* and is committed */
	0x88, /* marker of a timestamp */
	0x2d, 0x03, /* commit 3 */
	0x2e, 0x02, /* cancel 2 */
	0x95, 0x04, /* 0x10: trace info made all addresses 0 */
	0x9a, 0x00, 0x00, 1, 0, /* 0x10000, in no context */
	0x80, /* the context is as before, when there was none */
};

static const struct want ete_want[] = {
	{ "I_ASYNC", HWTD_PK_CS_ASYNC, 12, 0, 0, 0, 0, 0, 0 },
	{ "I_TRACE_INFO", HWTD_PK_CS_INFO, 3, 0, 0, 0, 0, 0, 0 },
	{ "I_TRANS_ST", HWTD_PK_CS_TRANSACTION, 1, 0, 0, 0, 0, 0, 0 },
	{ "I_TRANS_COMMIT", HWTD_PK_CS_TRANSACTION, 1, 0, 0, 0, 0, 0, 0 },
	{ "I_TS_MARKER", HWTD_PK_CS_MARKER, 1, 0, 0, 0, 0, 0, 0 },
	{ "I_COMMIT", HWTD_PK_CS_SPECULATION, 2, 3, 0, 0, 0, 0, 0 },
	{ "I_CANCEL_F1", HWTD_PK_CS_SPECULATION, 2, 2, 0, 0, 0, 0, 0 },
	{ "I_ADDR_S_IS0", HWTD_PK_CS_ADDRESS, 2, 0, 0, 0x10, 0, 0,
	    HWTD_PKF_IP },
	{ "I_ADDR_L_32IS0", HWTD_PK_CS_ADDRESS, 5, 0, 0, 0x10000, 0, 0,
	    HWTD_PKF_IP },
	{ "I_CTXT", HWTD_PK_CS_CONTEXT, 1, 0, 0, 0, 0, 0, 0 },
};

static const uint8_t ptm_bytes[] = {
	ZEROS_5, 0x80, /* A-sync */
	0x09, /* a few bits of an address; no others are known */
	0x08, 0x00, 0x80, 0x00, 0x00, 0x29, /* trace on at 0x8000, NS */
	0x84, /* E */
	0x8a, /* E N: the oldest is the highest */
	0x76, /* return from an exception */
	0x66, /* ignore */
	0x0c, /* trigger */
};

static const struct want ptm_want[] = {
	{ "ASYNC", HWTD_PK_CS_ASYNC, 6, 0, 0, 0, 0, 0, 0 },
	{ "BRANCH_ADDRESS", HWTD_PK_CS_ADDRESS, 1, 0, 0, 0, 0, 0, 0 },
	{ "ISYNC", HWTD_PK_CS_ISYNC, 6, 0,
	    CONTEXT(HWTD_ISA_A32,
		1u << HWTD_PKC_SECURITY_SHIFT | 1u << HWTD_PKC_REASON_SHIFT),
	    0x8000, 0, 0, HWTD_PKF_IP | HWTD_PKF_CONTEXT },
	{ "ATOM", HWTD_PK_CS_ATOM, 1, 1, 1, 0, 0, 0, 0 },
	{ "ATOM", HWTD_PK_CS_ATOM, 1, 2, 2, 0, 0, 0, 0 },
	{ "ERET", HWTD_PK_CS_EXCEPTION_RETURN, 1, 0, 0, 0, 0, 0, 0 },
	{ "IGNORE", HWTD_PK_CS_IGNORE, 1, 0, 0, 0, 0, 0, 0 },
	{ "TRIGGER", HWTD_PK_CS_TRIGGER, 1, 0, 0, 0, 0, 0, 0 },
};

static const uint8_t etmv3_bytes[] = {
	ZEROS_5, 0x80, /* A-sync */
	0x08, 0x29, 0x00, 0x80, 0x00, 0x00, /* trace on at 0x8000, NS */
	0x84, /* one E */
	0x76, /* return from an exception */
	0x66, /* ignore */
	0x0c, /* trigger */
};

static const struct want etmv3_want[] = {
	{ "A_SYNC", HWTD_PK_CS_ASYNC, 6, 0, 0, 0, 0, 0, 0 },
	{ "I_SYNC", HWTD_PK_CS_ISYNC, 6, 0,
	    CONTEXT(HWTD_ISA_A32,
		1u << HWTD_PKC_SECURITY_SHIFT | 1u << HWTD_PKC_REASON_SHIFT),
	    0x8000, 0, 0, HWTD_PKF_IP | HWTD_PKF_CONTEXT },
	{ "P_HDR", HWTD_PK_CS_ATOM, 1, 1, 1, 0, 0, 0, 0 },
	{ "EXCEPTION_EXIT", HWTD_PK_CS_EXCEPTION_RETURN, 1, 0, 0, 0, 0, 0, 0 },
	{ "IGNORE", HWTD_PK_CS_IGNORE, 1, 0, 0, 0, 0, 0, 0 },
	{ "TRIGGER", HWTD_PK_CS_TRIGGER, 1, 0, 0, 0, 0, 0, 0 },
};

/* The lower half of a byte comes first. */
static const uint8_t stm_bytes[] = {
	ONES_10, 0x0f, /* 21 f and a 0 */
	0x0f, 0x30, /* f 0 0 3: version 3 */
	0x41, 0x41, 0xba, /* 1 4 1: master 0x41; 4 a b: 8 bits of data */
	0x53, 0xf6, /* 3 5 6: channel 0x56; and half of what comes */
	0xfe, /* f e: a flag; and half of what comes */
	0x20, /* f 0 2 .. is no packet */
};

static const struct want stm_want[] = {
	{ "ASYNC", HWTD_PK_CS_ASYNC, 11, 0, 0, 0, 0, 0, 0 },
	{ "VERSION", HWTD_PK_CS_INFO, 2, 3, 0, 0, 0, 0, 0 },
	{ "M8", HWTD_PK_CS_CHANNEL, 2, 0x41, 0, 0, 0, 0x41, 0 },
	{ "D8", HWTD_PK_CS_DATA, 1, 0xab, 8, 0, 0, 0x41, HWTD_PKF_HALF },
	{ "C8", HWTD_PK_CS_CHANNEL, 2, 0x56, 0, 0, 0, 0x560041, 0 },
	{ "FLAG", HWTD_PK_CS_MARKER, 1, 0, 0, 0, 0, 0x560041, HWTD_PKF_HALF },
	{ "RESERVED", HWTD_PK_UNKNOWN, 1, 0, 0, 0, 0, 0, 0 },
};

/* Of version 4: timestamps in Gray code, which neighbours differ in one bit of. */
static const uint8_t gray_bytes[] = {
	ONES_10, 0x0f, /* 21 f and a 0 */
	0x0f, 0x40, /* f 0 0 4: version 4 */
	0x4f, 0xba, 0x19, 0x04, 0, 0, 0x10, /* f 4 a b; 9 halves: 140000001 */
	0x1e, 0x33, 0x65, /* e; one half: 3; and 3 5 6: channel 0x56 */
};

static const struct want gray_want[] = {
	{ "ASYNC", HWTD_PK_CS_ASYNC, 11, 0, 0, 0, 0, 0, 0 },
	{ "VERSION", HWTD_PK_CS_INFO, 2, 4, 0, 0, 0, 0, 0 },
	{ "D8TS", HWTD_PK_CS_DATA, 7, 0xab, 8, 0, 0x180000001, 0,
	    HWTD_PKF_STAMP },
	{ "FLAGTS", HWTD_PK_CS_MARKER, 2, 0, 0, 0, 0x180000002, 0,
	    HWTD_PKF_STAMP },
	{ "C8", HWTD_PK_CS_CHANNEL, 1, 0x56, 0, 0, 0, 0x560000,
	    HWTD_PKF_HALF },
};

static const uint8_t itm_bytes[] = {
	0x11, 0x22, 0x33, /* before any sync */
	ZEROS_5, 0x80, /* sync */
	0x70, /* overflow */
	0x19, 0xbb, /* port 3, 8 bits */
	0x0b, 0x23, 0x01, 0x89, 0x67, /* port 1, 32 bits */
	0x0e, 0x04, 0x10, /* exception trace */
	0xc0, 0x82, 0x01, /* local: 130 */
	0x20, /* local: 2 */
	0x94, 0x85, 0x01, /* global, bits 0 to 13 */
	0xb4, 0x81, 0x80, 0x80, 0x00, /* global, bits 26 on */
	0x28, /* page 2 */
	0x04, /* reserved */
	0x19, 0xbb, /* no longer synchronised */
	ZEROS_5, 0, 0x80, /* a longer sync */
	0x0b, 0x23, /* cut off */
};

static const struct want itm_want[] = {
	{ "ITM_NOTSYNC", HWTD_PK_UNSYNCED, 3, 0, 0, 0, 0, 0, 0 },
	{ "ITM_ASYNC", HWTD_PK_CS_ASYNC, 6, 0, 0, 0, 0, 0, 0 },
	{ "ITM_OVERFLOW", HWTD_PK_CS_OVERFLOW, 1, 0, 0, 0, 0, 0, 0 },
	{ "ITM_SWIT", HWTD_PK_CS_DATA, 2, 0xbb, 8, 0, 0, 3, 0 },
	{ "ITM_SWIT", HWTD_PK_CS_DATA, 5, 0x67890123, 32, 0, 0, 1, 0 },
	{ "ITM_DWT", HWTD_PK_CS_DATA, 3, 0x1004, 16, 0, 0, 1, 0 },
	{ "ITM_TS_LOCAL", HWTD_PK_CS_CYCLES, 3, 130, 0, 0, 0, 0,
	    HWTD_PKF_COUNT },
	{ "ITM_TS_LOCAL", HWTD_PK_CS_CYCLES, 1, 2, 0, 0, 0, 0,
	    HWTD_PKF_COUNT },
	{ "ITM_GTS_1", HWTD_PK_CS_TIMESTAMP, 3, 0, 14, 0, 0x85, 0,
	    HWTD_PKF_STAMP },
	{ "ITM_GTS_2", HWTD_PK_CS_TIMESTAMP, 5, 0, 22, 0, 1, 0,
	    HWTD_PKF_STAMP },
	{ "ITM_EXTENSION", HWTD_PK_CS_CHANNEL, 1, 2, 0, 0, 0, 0, 0 },
	{ "ITM_RESERVED", HWTD_PK_UNKNOWN, 1, 0, 0, 0, 0, 0, 0 },
	{ "ITM_NOTSYNC", HWTD_PK_UNSYNCED, 2, 0, 0, 0, 0, 0, 0 },
	{ "ITM_ASYNC", HWTD_PK_CS_ASYNC, 7, 0, 0, 0, 0, 0, 0 },
	{ "ITM_INCOMPLETE_EOT", HWTD_PK_TRUNCATED, 2, 0, 0, 0, 0, 0, 0 },
};

#define SOURCE(p, of, ...)                                                    \
	{                                                                     \
		{ .size = sizeof(struct hwtd_coresight_config),               \
			.protocol = (p),                                      \
			.profile = HWTD_ARM_PROFILE_A,                        \
			.trace_id = 0x10,                                     \
			__VA_ARGS__ },                                        \
		    of##_bytes, sizeof(of##_bytes), of##_want,                \
		    sizeof(of##_want) / sizeof(of##_want[0])                  \
	}

static const struct source sources[] = {
	SOURCE(HWTD_CS_ETMV4, etmv4, .configr = 0x801,
	    .idr = { 0x28000ea1, 0x4100f443, 0x10000488 }),
	SOURCE(HWTD_CS_ETE, ete, .devarch = 0x47705a13,
	    .idr = { 0x2801cea1, 0x4100fff0, 0xd0001088 }),
	SOURCE(HWTD_CS_PTM, ptm, .etmidr = 0x411cf300),
	SOURCE(HWTD_CS_ETMV3, etmv3, .etmidr = 0x410cf250),
	SOURCE(HWTD_CS_STM, stm, .stmtcsr = 0x100001),
	SOURCE(HWTD_CS_STM, gray, .stmtcsr = 0x100001),
	SOURCE(HWTD_CS_ITM, itm, .itmtcr = 0x100001),
};

#define N_SOURCES (sizeof(sources) / sizeof(sources[0]))

static const struct hwtd_stream_desc plain = {
	.size = sizeof(plain),
	.tech = HWTD_TECH_CORESIGHT,
	.cpu = HWTD_NO_ID,
	.pid = HWTD_NO_ID,
	.tid = HWTD_NO_ID,
};

/* A stream of so many copies of a source, given in pieces of `piece` bytes. */
static struct hwtd_trace *
make_trace(const struct source *source, size_t copies, size_t piece)
{
	struct hwtd_trace *trace = mt_create();
	struct hwtd_stream_desc desc = plain;
	uint32_t id = HWTD_NO_ID;

	desc.coresight = &source->config;
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	for (size_t c = 0; c < copies; c++)
		for (size_t i = 0; i < source->n; i += piece)
			assert_int_equal(hwtd_trace_add_bytes(trace, id,
					     source->bytes + i,
					     piece < source->n - i
						 ? piece
						 : source->n - i,
					     NULL),
			    HWTD_OK);
	return (mt_seal(trace));
}

static struct pk_rows
all_rows(struct hwtd_trace *trace, const struct hwtd_packets_options *o)
{
	struct pk_rows rows = { NULL, 0, 0 };

	pk_rows(trace, o, &rows);
	return (rows);
}

static void
packets_are_those_that_were_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SOURCES; i++) {
		const struct source *s = &sources[i];
		struct hwtd_trace *trace = make_trace(s, 1, s->n);
		struct pk_rows rows = all_rows(trace, NULL);
		uint64_t off = 0;

		print_message("protocol %u\n", s->config.protocol);
		for (size_t k = 0; k < rows.n && k < s->n_want; k++) {
			const struct hwtd_packet *row = &rows.at[k];
			const struct want *want = &s->want[k];

			print_message("packet %s\n", want->name);
			assert_non_null(hwtd_packet_code_name(row->code));
			assert_string_equal(hwtd_packet_code_name(row->code),
			    want->name);
			assert_int_equal(row->stream_off, off);
			assert_int_equal(row->kind, want->kind);
			assert_int_equal(row->bytes, want->bytes);
			assert_int_equal(row->value, want->value);
			assert_int_equal(row->count, want->count);
			assert_int_equal(row->ip, want->ip);
			assert_int_equal(row->stamp, want->stamp);
			assert_int_equal(row->aux, want->aux);
			assert_int_equal(row->flags, want->flags);
			off += row->bytes;
		}
		assert_int_equal(rows.n, s->n_want);
		assert_int_equal(off, s->n);
		pk_free(&rows);
		hwtd_trace_close(trace);
	}
}

static void
pieces_of_any_size_give_the_same_packets(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SOURCES; i++) {
		struct hwtd_trace *whole = make_trace(&sources[i], 40,
		    sources[i].n);
		struct pk_rows want;

		slot_bytes = 0;
		want = all_rows(whole, NULL);
		for (size_t piece = 1; piece < 12; piece += 3) {
			struct hwtd_trace *trace = make_trace(&sources[i], 40,
			    piece);
			struct pk_rows got = all_rows(trace, NULL);

			pk_assert_same(want.at, want.n, got.at, got.n);
			pk_free(&got);
			hwtd_trace_close(trace);
		}
		pk_free(&want);
		hwtd_trace_close(whole);
	}
}

/* Rows that begin in a range. */
static void
check_range(struct hwtd_trace *trace, const struct pk_rows *all,
    uint64_t first, uint64_t end)
{
	const struct hwtd_packets_options o = { .size = sizeof(o),
		.first = first,
		.end = end };
	struct pk_rows got = all_rows(trace, &o);
	size_t from = 0, to;

	while (from < all->n && all->at[from].stream_off < first)
		from++;
	to = from;
	while (to < all->n && all->at[to].stream_off < end)
		to++;
	pk_assert_same(all->at + from, to - from, got.at, got.n);
	pk_free(&got);
}

static void
a_range_has_the_packets_that_begin_in_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SOURCES; i++) {
		const uint64_t n = 40 * sources[i].n;
		struct hwtd_trace *trace = make_trace(&sources[i], 40, 100);

		for (slot_bytes = 64; slot_bytes < 1024; slot_bytes *= 3) {
			struct pk_rows all = all_rows(trace, NULL);

			for (uint64_t off = 0; off < n; off += 37)
				check_range(trace, &all, off,
				    off + 1 + off / 7);
			pk_free(&all);
		}
		slot_bytes = 0;
		hwtd_trace_close(trace);
	}
}

static int
collect(void *arg, const struct hwtd_packet *packet)
{
	pk_add(arg, packet);
	return (0);
}

static void
a_visitor_is_told_all_and_counts_add_up(void **state)
{
	const struct hwtd_packet_visitor visitor = { .size = sizeof(visitor),
		.packet = collect };

	(void)state;
	for (size_t i = 0; i < N_SOURCES; i++) {
		struct hwtd_packets_stats stats = { .size = sizeof(stats) };
		struct hwtd_trace *trace = make_trace(&sources[i], 3, 7);
		struct pk_rows want = all_rows(trace, NULL);
		struct pk_rows got = { NULL, 0, 0 };
		struct hwtd_packets *packets = pk_open(trace, NULL);
		uint64_t unknown = 0;

		assert_int_equal(hwtd_packets_visit(packets, &visitor, &got,
				     NULL),
		    HWTD_END);
		pk_assert_same(want.at, want.n, got.at, got.n);
		for (size_t k = 0; k < want.n; k++)
			if (want.at[k].kind < HWTD_PK_LOST)
				unknown += want.at[k].bytes;
		assert_int_equal(hwtd_packets_stats(packets, &stats), HWTD_OK);
		assert_int_equal(stats.bytes, 3 * sources[i].n);
		assert_int_equal(stats.bytes_unknown, unknown);
		assert_int_equal(stats.bytes_named + unknown, stats.bytes);
		hwtd_packets_close(packets);
		pk_free(&want);
		pk_free(&got);
		hwtd_trace_close(trace);
	}
}

/* Two extents: what comes behind is a stream of its own. */
static void
extents_do_not_join(void **state)
{
	const struct source *s = &sources[0];
	struct hwtd_trace *trace = mt_create();
	struct hwtd_stream_desc desc = plain;
	struct pk_rows rows;
	uint32_t id;

	(void)state;
	desc.coresight = &s->config;
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, s->bytes + 2, 16,
			     NULL),
	    HWTD_OK);
	mt_extent(trace, id, HWTD_EXTENT_AFTER_LOSS, s->bytes + 18, 2);
	rows = all_rows(mt_seal(trace), NULL);
	/* A-sync, trace info, trace on; and a context that is none there. */
	assert_int_equal(rows.n, 4);
	assert_int_equal(rows.at[3].kind, HWTD_PK_UNSYNCED);
	assert_int_equal(rows.at[3].stream_off, 16);
	pk_free(&rows);
	hwtd_trace_close(trace);
}

static void
packets_of_a_sink_are_frames_and_tell_where_sources_are(void **state)
{
	static const uint8_t barrier[] = { 0xff, 0xff, 0xff, 0x7f };
	const struct source *s = &sources[0];
	const struct hwtd_packets_options of_source = {
		.size = sizeof(of_source),
		.stream = 1,
		.flags = HWTD_PACKETS_SINK,
	};
	struct hwtd_trace *trace = mt_create();
	struct hwtd_stream_desc desc = plain;
	struct frame_writer w;
	uint8_t frames[1024];
	struct pk_rows rows;
	uint32_t sink, id;

	(void)state;
	frame_writer_init(&w, frames, sizeof(frames));
	for (size_t i = 2; i < s->n - 2; i++)
		frame_writer_put(&w, 0x10, s->bytes[i]);
	frame_writer_finish(&w);
	for (size_t i = 0; i < 4; i++)
		frame_writer_raw(&w, barrier, sizeof(barrier));
	frame_writer_raw(&w, barrier, 3);
	desc.framing = HWTD_FRAMING_MEMORY;
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &sink, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, sink, frames, w.n, NULL),
	    HWTD_OK);
	desc.framing = HWTD_FRAMING_NONE;
	desc.sink_plus_1 = sink + 1;
	desc.coresight = &s->config;
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	mt_seal(trace);

	rows = all_rows(trace, NULL);
	assert_true(rows.n > 3);
	for (size_t i = 0; i < rows.n; i++)
		assert_int_equal(rows.at[i].stream_off, 16 * i);
	assert_string_equal(hwtd_packet_code_name(rows.at[0].code), "FRAME");
	assert_int_equal(rows.at[0].kind, HWTD_PK_CS_FRAME);
	assert_string_equal(hwtd_packet_code_name(rows.at[rows.n - 2].code),
	    "BARRIER");
	assert_int_equal(rows.at[rows.n - 1].kind, HWTD_PK_UNKNOWN);
	assert_int_equal(rows.at[rows.n - 1].bytes, 3);
	pk_free(&rows);

	/* The first byte is the ID; so 14 of the stream are in the frame. */
	rows = all_rows(trace, &of_source);
	assert_int_equal(rows.at[0].kind, HWTD_PK_CS_ASYNC);
	assert_int_equal(rows.at[0].sink_off, 0);
	assert_int_equal(rows.at[0].flags, HWTD_PKF_SINK);
	assert_int_equal(rows.at[1].sink_off, 12);
	/* Trace on: byte 15, the second of the next frame. */
	assert_int_equal(rows.at[2].stream_off, 15);
	assert_int_equal(rows.at[2].sink_off, 17);
	pk_free(&rows);
	hwtd_trace_close(trace);
}

#define THREADS 4

struct reading {
	struct hwtd_trace *trace;
	struct pk_rows rows;
};

/* Making, using and ending of the library's decoders in several threads. */
static void *
read_often(void *arg)
{
	struct reading *r = arg;

	for (int i = 0; i < 8; i++) {
		struct hwtd_packet_batch batch = { .size = sizeof(batch) };
		struct hwtd_packets *packets = NULL;

		pk_free(&r->rows);
		if (hwtd_packets_open(r->trace, NULL, &packets, NULL) !=
		    HWTD_OK)
			return (NULL);
		while (hwtd_packets_read(packets, &batch, NULL) == HWTD_OK)
			for (size_t k = 0; k < batch.n; k++)
				pk_add(&r->rows, &batch.packets[k]);
		hwtd_packets_close(packets);
	}
	return (NULL);
}

static void
threads_read_the_same_packets(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SOURCES; i++) {
		struct hwtd_trace *trace = make_trace(&sources[i], 40, 100);
		struct pk_rows want = all_rows(trace, NULL);
		struct reading readings[THREADS];
		pthread_t threads[THREADS];

		memset(readings, 0, sizeof(readings));
		for (size_t k = 0; k < THREADS; k++) {
			readings[k].trace = trace;
			assert_int_equal(pthread_create(&threads[k], NULL,
					     read_often, &readings[k]),
			    0);
		}
		for (size_t k = 0; k < THREADS; k++) {
			assert_int_equal(pthread_join(threads[k], NULL), 0);
			pk_assert_same(want.at, want.n, readings[k].rows.at,
			    readings[k].rows.n);
			pk_free(&readings[k].rows);
		}
		pk_free(&want);
		hwtd_trace_close(trace);
	}
}

/* Bytes that the process has allocated; 0: not known. */
static uint64_t
allocated(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	const struct mallinfo2 info = mallinfo2();

	return (info.uordblks + info.hblkhd);
#else
	return (0);
#endif
}

/*
 * A packet without an end, of so many bytes, is no packet and takes no memory; what
 * synchronises behind it has a name again.
 */
static void
a_packet_without_an_end_is_told_in_pieces(void **state)
{
	static const struct {
		uint32_t protocol;
		uint8_t before[16];
		size_t n_before;
		uint8_t again;
	} endless[] = {
		/* Trace Info; Trigger; a branch; STM: a version of many 0xf. */
		{ HWTD_CS_ETMV4, { ZEROS_11, 0x80, 0x01 }, 13, 0x81 },
		{ HWTD_CS_ETE, { ZEROS_11, 0x80, 0x01 }, 13, 0x81 },
		{ HWTD_CS_ETMV3, { ZEROS_5, 0x80, 0x81 }, 7, 0x81 },
		{ HWTD_CS_PTM, { ZEROS_5, 0x80, 0x81 }, 7, 0x81 },
		{ HWTD_CS_STM, { ONES_10, 0x0f }, 11, 0xff },
		{ HWTD_CS_ETMV3, { ZEROS_5, 0x80 }, 6, 0 },
		{ HWTD_CS_PTM, { ZEROS_5, 0x80 }, 6, 0 },
		{ HWTD_CS_ETMV4, { ZEROS_11, 0x80 }, 12, 0 },
		/* Not synchronised. */
		{ HWTD_CS_ETMV4, { 0 }, 0, 0 },
		{ HWTD_CS_ETMV3, { 0 }, 0, 0 },
		{ HWTD_CS_PTM, { 0 }, 0, 0 },
		{ HWTD_CS_STM, { 0 }, 0, 0x55 },
		{ HWTD_CS_STM, { 0 }, 0, 0xff },
	};
	const size_t n = (size_t)3 << 20;
	uint8_t *bytes = malloc(n);

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++) {
		struct source s = { .config = { .size = sizeof(s.config),
					.protocol = endless[i].protocol,
					.trace_id = 0x10 },
			.bytes = bytes,
			.n = n };
		const struct hwtd_packets_options o = { .size = sizeof(o) };
		struct hwtd_packet_batch batch = { .size = sizeof(batch) };
		const size_t n_before = endless[i].n_before;
		uint64_t before, sum = 0, most = 0;
		struct hwtd_packets *packets = NULL;
		struct hwtd_packet last = { 0 };
		struct hwtd_trace *trace;

		memset(bytes, endless[i].again, n);
		memcpy(bytes, endless[i].before, n_before);
		memcpy(bytes + n - n_before, endless[i].before, n_before);
		trace = make_trace(&s, 1, n);
		before = allocated();
		assert_int_equal(hwtd_packets_open(trace, &o, &packets, NULL),
		    HWTD_OK);
		while (hwtd_packets_read(packets, &batch, NULL) == HWTD_OK) {
			for (size_t k = 0; k < batch.n; k++)
				sum += batch.packets[k].bytes;
			last = batch.packets[batch.n - 1];
			if (allocated() > before + most)
				most = allocated() - before;
		}
		print_message("%zu: %zu bytes more\n", i, (size_t)most);
		assert_int_equal(sum, n);
		assert_true(most < (uint64_t)1 << 20);
		assert_true(last.stream_off + last.bytes == n);
		hwtd_packets_close(packets);
		hwtd_trace_close(trace);
	}
	free(bytes);
}

/* However far behind bytes that are none of a packet. */
static void
what_synchronises_is_found_anywhere(void **state)
{
	uint8_t bytes[8192];

	(void)state;
	for (size_t i = 0; i < N_SOURCES; i++)
		for (size_t n = 4070; n < 4110; n++) {
			struct source s = sources[i];
			struct pk_rows rows;
			struct hwtd_trace *trace;
			bool found = false;

			if (s.config.protocol == HWTD_CS_ITM)
				continue;
			s.bytes = bytes;
			s.n = n + sources[i].n;
			memset(bytes, 0x55, n);
			memcpy(bytes + n, sources[i].bytes, sources[i].n);
			trace = make_trace(&s, 1, s.n);
			rows = all_rows(trace, NULL);
			for (size_t k = 0; k < rows.n; k++)
				found = found ||
				    rows.at[k].kind == HWTD_PK_CS_ASYNC;
			if (!found)
				fail_msg("protocol %u, %zu bytes",
				    s.config.protocol, n);
			pk_free(&rows);
			hwtd_trace_close(trace);
		}
}

static void
what_cannot_be_named_is_refused(void **state)
{
	static const struct hwtd_coresight_config nothing = {
		.size = sizeof(nothing),
		.trace_id = 1,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets = NULL;
	struct hwtd_trace *trace = mt_create();
	struct hwtd_stream_desc desc = plain;
	uint32_t id;

	(void)state;
	desc.coresight = &nothing;
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	mt_seal(trace);
	assert_int_equal(hwtd_packets_open(trace, NULL, &packets, &err),
	    HWTD_E_UNSUPPORTED);
	hwtd_trace_close(trace);
	assert_null(hwtd_packet_code_name(0));
	assert_null(hwtd_packet_code_name(UINT32_MAX));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_those_that_were_written),
		cmocka_unit_test(pieces_of_any_size_give_the_same_packets),
		cmocka_unit_test(a_range_has_the_packets_that_begin_in_it),
		cmocka_unit_test(a_visitor_is_told_all_and_counts_add_up),
		cmocka_unit_test(extents_do_not_join),
		cmocka_unit_test(
		    packets_of_a_sink_are_frames_and_tell_where_sources_are),
		cmocka_unit_test(threads_read_the_same_packets),
		cmocka_unit_test(a_packet_without_an_end_is_told_in_pieces),
		cmocka_unit_test(what_synchronises_is_found_anywhere),
		cmocka_unit_test(what_cannot_be_named_is_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
