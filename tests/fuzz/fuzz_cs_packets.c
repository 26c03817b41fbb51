/*
 * Fuzz harness of CoreSight packets.  An input is: 8 bytes of choices, then the
 * bytes of a stream.
 *
 *	0 protocol, an hwtd_cs_protocol; 7 and up: a sink, framed in memory, by a
 *	  TPIU or a DSTREAM, with sources of ETMv4, STM and ITM in it
 *	1 bytes of a slot, by a table
 *	2-3, 4-5 first and end of a range
 *	6 bytes that are added at a time
 *	7 where the second extent begins, in parts of 256; 0: there is none
 *
 * Rows tile the stream, bytes of packets and all others add up, a visitor is told
 * the same, and a range has the rows that begin in it.
 */
#include "fuzz.h"
#include "fuzz_columns.h"

#include <hwtdecode/hwtdecode.h>
#include <stdlib.h>

#include "slot_bytes.h"

#define HEADER 8

uint64_t fuzz_slot_bytes = (uint64_t)1 << 20;

struct rows {
	struct hwtd_packet *at;
	size_t n;
	size_t cap;
};

static int
add(void *arg, const struct hwtd_packet *row)
{
	struct rows *rows = arg;

	if (rows->n == rows->cap) {
		rows->cap = rows->cap == 0 ? 256 : 2 * rows->cap;
		rows->at = realloc(rows->at, rows->cap * sizeof(*rows->at));
		FUZZ_CHECK(rows->at != NULL, "no memory");
	}
	rows->at[rows->n++] = *row;
	return (0);
}

static void
clear(struct rows *rows)
{
	free(rows->at);
	memset(rows, 0, sizeof(*rows));
}

static void
check_row(const struct hwtd_packet *a, const struct hwtd_packet *b, size_t i,
    const char *what)
{
	char text_a[128], text_b[128];

	if (memcmp(a, b, sizeof(*a)) == 0)
		return;
	(void)hwtd_packet_text(a, text_a, sizeof(text_a));
	(void)hwtd_packet_text(b, text_b, sizeof(text_b));
	fuzz_fail(__FILE__, __LINE__,
	    "%s: row %zu: %s of %u bytes at %llu (%s, %#llx) is %s of %u at "
	    "%llu (%s, %#llx)",
	    what, i, hwtd_packet_kind_name(a->kind), a->bytes,
	    (unsigned long long)a->stream_off, text_a,
	    (unsigned long long)a->ip, hwtd_packet_kind_name(b->kind),
	    b->bytes, (unsigned long long)b->stream_off, text_b,
	    (unsigned long long)b->ip);
}

static void
check_same(const struct hwtd_packet *a, size_t n_a,
    const struct hwtd_packet *b, size_t n_b, const char *what)
{
	for (size_t i = 0; i < n_a && i < n_b; i++)
		check_row(&a[i], &b[i], i, what);
	FUZZ_CHECK(n_a == n_b, "%s: %zu rows, not %zu", what, n_b, n_a);
}

static void
check_stats(const struct hwtd_packets *packets, const struct rows *rows)
{
	struct hwtd_packets_stats s = { .size = sizeof(s) };
	uint64_t named = 0, unknown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (rows->at[i].kind < HWTD_PK_LOST)
			unknown += rows->at[i].bytes;
		else if (rows->at[i].kind != HWTD_PK_LOST)
			named += rows->at[i].bytes;
	}
	FUZZ_CHECK(hwtd_packets_stats(packets, &s) == HWTD_OK, "no counts");
	FUZZ_CHECK(s.bytes_named + s.bytes_unknown == s.bytes &&
		s.bytes_named == named && s.bytes_unknown == unknown,
	    "bytes are not those of the rows");
}

static void
read_rows(struct hwtd_trace *trace, const struct hwtd_packets_options *o,
    struct rows *out)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.packet = add,
	};
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets *packets = NULL;
	struct rows told = { NULL, 0, 0 };
	int rc;

	rc = hwtd_packets_open(trace, o, &packets, NULL);
	if (rc == HWTD_E_UNSUPPORTED)
		return;
	FUZZ_CHECK(rc == HWTD_OK, "cannot open packets: %d", rc);
	while ((rc = hwtd_packets_read(packets, &batch, NULL)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++)
			(void)add(out, &batch.packets[i]);
	FUZZ_CHECK(rc == HWTD_END, "reading failed: %d", rc);
	check_stats(packets, out);
	hwtd_packets_close(packets);

	FUZZ_CHECK(hwtd_packets_open(trace, o, &packets, NULL) == HWTD_OK,
	    "cannot open again");
	rc = hwtd_packets_visit(packets, &visitor, &told, NULL);
	FUZZ_CHECK(rc == HWTD_END, "visiting failed: %d", rc);
	check_same(out->at, out->n, told.at, told.n, "visitor");
	hwtd_packets_close(packets);
	clear(&told);
}

static void
check_tiles(const struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_packet *r = &rows->at[i];
		const uint64_t before = i == 0 ? 0
					       : r[-1].stream_off +
			(r[-1].kind == HWTD_PK_LOST ? r[-1].value
						    : r[-1].bytes);
		char text[128];

		FUZZ_CHECK(r->stream_off == before,
		    "row %zu does not follow the one before", i);
		FUZZ_CHECK(r->bytes > 0 || (r->flags & HWTD_PKF_HALF) != 0,
		    "row %zu has nothing", i);
		FUZZ_CHECK(hwtd_packet_text(r, text, sizeof(text)) <
			sizeof(text),
		    "a long text");
	}
}

static void
check_stream(struct hwtd_trace *trace, uint32_t stream, uint64_t first,
    uint64_t end)
{
	struct hwtd_packets_options o = { .size = sizeof(o),
		.stream = stream,
		.flags = HWTD_PACKETS_SINK };
	struct rows all = { NULL, 0, 0 }, got = { NULL, 0, 0 };
	size_t from = 0, to;

	read_rows(trace, &o, &all);
	check_tiles(&all);
	/* Maybe of no protocol that is known. */
	if (all.n == 0)
		return;
	fuzz_packet_columns(trace, &o, all.n);
	o.first = first;
	o.end = end > first ? end : first + 1;
	while (from < all.n && all.at[from].stream_off < o.first)
		from++;
	to = from;
	while (to < all.n && all.at[to].stream_off < o.end)
		to++;
	read_rows(trace, &o, &got);
	check_same(all.at + from, to - from, got.at, got.n, "range");
	clear(&got);
	o.flags |= HWTD_PACKETS_NO_SYNC;
	read_rows(trace, &o, &got);
	clear(&got);
	clear(&all);
}

static uint32_t
add_stream(struct hwtd_trace *trace, uint32_t protocol, uint32_t framing,
    uint32_t sink_plus_1)
{
	const struct hwtd_coresight_config config = {
		.size = sizeof(config),
		.protocol = protocol,
		.profile = HWTD_ARM_PROFILE_A,
		.trace_id = 0x10 + protocol,
		.configr = 0x8d1,
		.devarch = 0x47705a13,
		.idr = { 0x28000ea1, 0x4100f443, 0x10000488 },
		.etmidr = 0x411cf250,
	};
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.framing = framing,
		.sink_plus_1 = sink_plus_1,
		.coresight = framing == HWTD_FRAMING_NONE ? &config : NULL,
	};
	uint32_t id = HWTD_NO_ID;

	FUZZ_CHECK(hwtd_trace_add_stream(trace, &desc, &id, NULL) == HWTD_OK,
	    "cannot add a stream");
	return (id);
}

static void
add_bytes(struct hwtd_trace *trace, const uint8_t *bytes, size_t n,
    size_t piece, size_t cut)
{
	for (size_t i = 0; i < n;) {
		size_t k = piece < n - i ? piece : n - i;

		if (i < cut && k > cut - i)
			k = cut - i;
		if (i != 0 && i == cut)
			FUZZ_CHECK(hwtd_trace_start_extent(trace, 0,
				       HWTD_EXTENT_AFTER_LOSS,
				       NULL) == HWTD_OK,
			    "no extent");
		FUZZ_CHECK(hwtd_trace_add_bytes(trace, 0, bytes + i, k,
			       NULL) == HWTD_OK,
		    "cannot add bytes");
		i += k;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t slots[] = { 64, 128, 256, 512, 1024, 4096, 48,
		32768 };
	struct fuzz_in in = { data, size };
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	const uint32_t kind = (uint32_t)fuzz_take(&in, 1) % 10;
	const size_t slot = (size_t)fuzz_take(&in, 1) % 8;
	const uint64_t first = fuzz_take(&in, 2), end = fuzz_take(&in, 2);
	const size_t piece = (size_t)fuzz_take(&in, 1) + 1;
	const size_t part = (size_t)fuzz_take(&in, 1);
	uint32_t n = 1;

	if (in.left > 16384)
		in.left = 16384;
	fuzz_slot_bytes = slots[slot];
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK &&
		hwtd_trace_create(ctx, NULL, &trace, NULL) == HWTD_OK,
	    "no trace");
	(void)add_stream(trace, kind, kind >= 7 ? kind - 6 : HWTD_FRAMING_NONE,
	    0);
	if (kind >= 7) {
		(void)add_stream(trace, HWTD_CS_ETMV4, 0, 1);
		(void)add_stream(trace, HWTD_CS_STM, 0, 1);
		n += add_stream(trace, HWTD_CS_ITM, 0, 1);
	}
	add_bytes(trace, in.at, in.left, piece, in.left * part / 256);
	FUZZ_CHECK(hwtd_trace_seal(trace, NULL) == HWTD_OK, "cannot seal");
	for (uint32_t i = 0; i < n; i++)
		check_stream(trace, i, first, end);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (0);
}
