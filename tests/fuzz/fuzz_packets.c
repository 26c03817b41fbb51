/*
 * Fuzz harness of packets.  An input is: 16 bytes of choices, then the bytes
 * of a stream.
 *
 *	0 flags: bit 0 no sync, bit 1 a CPU with errata, bit 2 two extents,
 *	  bit 3 a range, bits 4-7 the frequency of MTC
 *	1 bytes of a slot, by a table
 *	2-3 where the second extent begins
 *	4-5, 6-7 first and end of the range
 *	8-15 kinds
 *
 * Rows tile the stream, the visitor is told the same, bytes of packets and all
 * others add up, a range has the rows that begin in it, and segments of another
 * size or a begin at any row change nothing.  Times do not go back and are the
 * same in a range.
 */
#include "fuzz.h"
#include "fuzz_columns.h"

#include <hwtdecode/hwtdecode.h>
#include <stdlib.h>

#include "slot_bytes.h"

#define HEADER 16

uint64_t fuzz_slot_bytes = (uint64_t)1 << 20;

struct rows {
	struct hwtd_packet *at;
	size_t n;
	size_t cap;
};

static void
add(struct rows *rows, const struct hwtd_packet *row)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap == 0 ? 256 : 2 * rows->cap;
		rows->at = realloc(rows->at, rows->cap * sizeof(*rows->at));
		FUZZ_CHECK(rows->at != NULL, "no memory");
	}
	rows->at[rows->n++] = *row;
}

static void
clear(struct rows *rows)
{
	free(rows->at);
	memset(rows, 0, sizeof(*rows));
}

static bool
has_function(const struct hwtd_packet *row)
{
	return ((row->kind >= HWTD_PK_PT_TNT_8 &&
		    row->kind <= HWTD_PK_PT_FUP) ||
	    row->kind == HWTD_PK_PT_CYC);
}

/* Rows that a visitor is checked against, one after the other. */
struct expected {
	const struct rows *rows;
	size_t i;
};

static const struct hwtd_packet *
next(struct expected *e, uint64_t off)
{
	const struct hwtd_packet *row;

	FUZZ_CHECK(e->i < e->rows->n, "the visitor is told more than rows");
	row = &e->rows->at[e->i++];
	FUZZ_CHECK(row->stream_off == off, "visitor at %llu, row at %llu",
	    (unsigned long long)off, (unsigned long long)row->stream_off);
	return (row);
}

static int
see_tnt(void *arg, uint64_t off, uint64_t outcomes, uint32_t n)
{
	const struct hwtd_packet *row = next(arg, off);

	FUZZ_CHECK((row->kind == HWTD_PK_PT_TNT_8 ||
		       row->kind == HWTD_PK_PT_TNT_64) &&
		row->value == outcomes && row->count == n,
	    "another TNT");
	return (0);
}

static int
see_ip(void *arg, uint64_t off, uint32_t kind, uint64_t ip, int known)
{
	const struct hwtd_packet *row = next(arg, off);

	FUZZ_CHECK(row->kind == kind && row->ip == ip &&
		(known != 0) == ((row->flags & HWTD_PKF_IP) != 0),
	    "another IP");
	return (0);
}

static int
see_cyc(void *arg, uint64_t off, uint64_t cycles)
{
	const struct hwtd_packet *row = next(arg, off);

	FUZZ_CHECK(row->kind == HWTD_PK_PT_CYC && row->value == cycles,
	    "another CYC");
	return (0);
}

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	const struct hwtd_packet *row = next(arg, packet->stream_off);

	FUZZ_CHECK(!has_function(packet) &&
		memcmp(packet, row, sizeof(*row)) == 0,
	    "another packet");
	return (0);
}

static const struct hwtd_packet_visitor visitor = {
	.size = sizeof(visitor),
	.tnt = see_tnt,
	.ip = see_ip,
	.cyc = see_cyc,
	.packet = see_packet,
};

static struct hwtd_packets *
open_packets(struct hwtd_trace *trace, const struct hwtd_packets_options *o)
{
	struct hwtd_packets *packets = NULL;

	FUZZ_CHECK(hwtd_packets_open(trace, o, &packets, NULL) == HWTD_OK,
	    "cannot open packets");
	return (packets);
}

static void
check_stats(const struct hwtd_packets *packets, const struct rows *rows)
{
	struct hwtd_packets_stats s = { .size = sizeof(s) };
	uint64_t named = 0, unknown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (rows->at[i].kind == HWTD_PK_LOST)
			continue;
		if (rows->at[i].kind < HWTD_PK_PT_PAD)
			unknown += rows->at[i].bytes;
		else
			named += rows->at[i].bytes;
	}
	FUZZ_CHECK(hwtd_packets_stats(packets, &s) == HWTD_OK, "no counts");
	FUZZ_CHECK(s.bytes_named + s.bytes_unknown == s.bytes,
	    "bytes do not add up");
	FUZZ_CHECK(s.bytes_named == named && s.bytes_unknown == unknown,
	    "bytes are not those of the rows");
}

/* All rows; checked against the visitor and the counts if of all kinds. */
static void
read_rows(struct hwtd_trace *trace, const struct hwtd_packets_options *o,
    struct rows *out)
{
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets *packets = open_packets(trace, o);
	struct expected e = { .rows = out };
	int rc;

	while ((rc = hwtd_packets_read(packets, &batch, NULL)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++)
			add(out, &batch.packets[i]);
	FUZZ_CHECK(rc == HWTD_END, "reading failed: %d", rc);
	if (o->kinds == 0)
		check_stats(packets, out);
	hwtd_packets_close(packets);

	packets = open_packets(trace, o);
	rc = hwtd_packets_visit(packets, &visitor, &e, NULL);
	FUZZ_CHECK(rc == HWTD_END && e.i == out->n,
	    "the visitor is told less than rows");
	if (o->kinds == 0)
		check_stats(packets, out);
	hwtd_packets_close(packets);
}

static void
check_text(const struct hwtd_packet *row)
{
	char whole[128], *part;
	size_t n, room;

	n = hwtd_packet_text(row, whole, sizeof(whole));
	FUZZ_CHECK(n < sizeof(whole) && strlen(whole) == n, "a long text");
	room = row->stream_off % (n + 2);
	part = malloc(room == 0 ? 1 : room);
	FUZZ_CHECK(part != NULL, "no memory");
	FUZZ_CHECK(hwtd_packet_text(row, part, room) == n,
	    "its length depends on the buffer");
	if (room > 0)
		FUZZ_CHECK(memcmp(part, whole, strlen(part)) == 0 &&
			(strlen(part) == n || strlen(part) == room - 1),
		    "its begin depends on the buffer");
	free(part);
}

static void
check_tiles(const struct rows *rows, uint64_t n)
{
	uint64_t end = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_packet *r = &rows->at[i];

		FUZZ_CHECK(r->stream_off == end && r->bytes > 0,
		    "row %zu does not follow the one before", i);
		end += r->kind == HWTD_PK_LOST ? r->value : r->bytes;
		check_text(r);
	}
	FUZZ_CHECK(end == n, "the rows end too early or too late");
}

static void
check_same(const struct hwtd_packet *a, size_t n_a,
    const struct hwtd_packet *b, size_t n_b, const char *what)
{
	FUZZ_CHECK(n_a == n_b, "%s: %zu rows, not %zu", what, n_b, n_a);
	for (size_t i = 0; i < n_a; i++)
		FUZZ_CHECK(memcmp(&a[i], &b[i], sizeof(a[i])) == 0,
		    "%s: row %zu differs", what, i);
}

/* Rows of a range and of some kinds are those of all that are in it. */
static void
check_range(struct hwtd_trace *trace, const struct rows *all,
    struct hwtd_packets_options *o)
{
	struct rows want = { NULL, 0, 0 }, got = { NULL, 0, 0 };

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].stream_off >= o->first &&
		    (o->end == 0 || all->at[i].stream_off < o->end) &&
		    (o->kinds == 0 || (o->kinds >> all->at[i].kind & 1) != 0))
			add(&want, &all->at[i]);
	read_rows(trace, o, &got);
	check_same(want.at, want.n, got.at, got.n, "range");
	clear(&want);
	clear(&got);
}

/* What a begin does not know: addresses, up to the next PSB. */
static size_t
forget_addresses(struct rows *rows, size_t i)
{
	const size_t first = i;

	for (; i < rows->n && rows->at[i].kind != HWTD_PK_PT_PSB; i++) {
		rows->at[i].flags &= (uint16_t)~HWTD_PKF_IP;
		rows->at[i].ip = 0;
	}
	return (i - first);
}

/*
 * A begin at a row without a synchronisation.  Where the state is that of a
 * begin, outside of PSB+, of guesses and of blocks, all is the same.
 */
static void
check_begin(struct hwtd_trace *trace, const struct rows *all, uint8_t choice)
{
	static const struct hwtd_packets_options from = {
		.size = sizeof(from),
		.flags = HWTD_PACKETS_NO_SYNC,
	};
	bool in_block = false;
	size_t budget = 3;

	for (size_t i = 0; i < all->n && budget > 0; i++) {
		const struct hwtd_packet *row = &all->at[i];
		struct rows want = { NULL, 0, 0 }, got = { NULL, 0, 0 };
		struct hwtd_packets_options o = from;
		const bool was_in_block = in_block;

		if (row->kind == HWTD_PK_PT_BBP)
			in_block = true;
		else if (row->kind == HWTD_PK_PT_BEP ||
		    row->kind == HWTD_PK_PT_OVF || row->kind == HWTD_PK_PT_PSB)
			in_block = false;
		if (row->kind < HWTD_PK_PT_PAD ||
		    (row->kind != HWTD_PK_PT_PSB &&
			(was_in_block || i % 16 != choice % 16 ||
			    (row->flags &
				(HWTD_PKF_STATUS | HWTD_PKF_GUESSED)) != 0)))
			continue;
		budget--;
		o.first = row->stream_off;
		read_rows(trace, &o, &got);
		for (size_t j = i; j < all->n; j++)
			add(&want, &all->at[j]);
		FUZZ_CHECK(forget_addresses(&want, 0) ==
			forget_addresses(&got, 0),
		    "begin: another number of rows");
		check_same(want.at, want.n, got.at, got.n, "begin");
		clear(&want);
		clear(&got);
	}
}

/* Times are beside what rows say without them. */
static void
check_times(struct hwtd_trace *trace, const struct rows *all,
    struct hwtd_packets_options o, uint64_t extent)
{
	const uint16_t told = HWTD_PKF_TIME | HWTD_PKF_TIME_ESTIMATED;
	struct rows timed = { NULL, 0, 0 };
	uint64_t last = 0;

	o.flags |= HWTD_PACKETS_TIME;
	read_rows(trace, &o, &timed);
	FUZZ_CHECK(timed.n == all->n, "times change the number of rows");
	for (size_t i = 0; i < timed.n; i++) {
		struct hwtd_packet row = timed.at[i];

		/* What comes before a PSB or in another extent does not count. */
		if (row.kind == HWTD_PK_PT_PSB || row.stream_off == extent)
			last = 0;
		FUZZ_CHECK((row.flags & HWTD_PKF_TIME) != 0 ||
			(row.time_ns == 0 && row.time_error_ns == 0),
		    "a time that is not known");
		row.flags &= (uint16_t)~told;
		row.time_ns = 0;
		row.time_error_ns = 0;
		FUZZ_CHECK(memcmp(&row, &all->at[i], sizeof(row)) == 0,
		    "times change row %zu", i);
		if ((timed.at[i].flags & HWTD_PKF_TIME) == 0)
			continue;
		FUZZ_CHECK(timed.at[i].time_ns >= last,
		    "time goes back at row %zu", i);
		last = timed.at[i].time_ns;
	}
	clear(&timed);
}

/* Where the second extent begins; `n`: there is one. */
static size_t
second_extent(const uint8_t *head, size_t n)
{
	if ((head[0] & 4) == 0 || n == 0)
		return (n);
	return ((size_t)(head[2] | head[3] << 8) % n);
}

static struct hwtd_trace *
make_trace(struct hwtd_context *ctx, const uint8_t *head, const uint8_t *bytes,
    size_t n)
{
	struct hwtd_pt_config config = {
		.size = sizeof(config),
		.cpu_family = 6,
		.cpu_model = 0x4e,
		.mtc_freq = head[0] >> 4,
		.nom_freq = head[14],
		.cpuid_15h_eax = head[15] & 7,
		.cpuid_15h_ebx = head[15],
	};
	struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_INTEL_PT,
		.pt = (head[0] & 2) != 0 ? &config : NULL,
		.clock = { .counts_per = 3, .ns_per = 1 },
	};
	struct hwtd_trace *trace = NULL;
	const size_t first = second_extent(head, n);
	uint32_t id;
	int rc;

	rc = hwtd_trace_create(ctx, NULL, &trace, NULL);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_stream(trace, &desc, &id, NULL);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_bytes(trace, id, bytes, first, NULL);
	if (rc == HWTD_OK && first < n)
		rc = hwtd_trace_start_extent(trace, id, HWTD_EXTENT_NEW, NULL);
	if (rc == HWTD_OK && first < n)
		rc = hwtd_trace_add_bytes(trace, id, bytes + first, n - first,
		    NULL);
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, NULL);
	FUZZ_CHECK(rc == HWTD_OK, "cannot make a trace: %d", rc);
	return (trace);
}

/* Runs that a forced cut divides are one again. */
static void
join_runs(struct rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		struct hwtd_packet *last = n > 0 ? &rows->at[n - 1] : NULL;
		struct hwtd_packet *r = &rows->at[i];

		if (last != NULL && r->kind == HWTD_PK_PT_PAD &&
		    last->kind == r->kind) {
			last->bytes += r->bytes;
			last->count += r->count;
			continue;
		}
		rows->at[n++] = *r;
	}
	rows->n = n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t slots[] = { 64, 100, 256, 1000, 4096, 16384 };
	struct hwtd_packets_options o = { .size = sizeof(o) };
	struct hwtd_context *ctx = NULL;
	struct rows all = { NULL, 0, 0 }, small = { NULL, 0, 0 };
	struct hwtd_trace *trace;
	struct fuzz_in in;
	uint8_t head[HEADER] = { 0 };

	in.at = data;
	in.left = size;
	for (size_t i = 0; i < HEADER; i++)
		head[i] = (uint8_t)fuzz_take(&in, 1);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK,
	    "no context");
	trace = make_trace(ctx, head, in.at, in.left);

	fuzz_slot_bytes = (uint64_t)1 << 20;
	o.flags = (head[0] & 1) != 0 ? HWTD_PACKETS_NO_SYNC : 0;
	read_rows(trace, &o, &all);
	check_tiles(&all, in.left);
	check_times(trace, &all, o, second_extent(head, in.left));
	check_begin(trace, &all, head[8]);
	fuzz_packet_columns(trace, &o, all.n);

	fuzz_slot_bytes = slots[head[1] % (sizeof(slots) / sizeof(slots[0]))];
	/* Without a PSB in so many slots cuts are forced. */
	if (in.left < 64 * fuzz_slot_bytes) {
		read_rows(trace, &o, &small);
		join_runs(&small);
		check_same(all.at, all.n, small.at, small.n, "slots");
		check_begin(trace, &all, head[8]);
	}
	clear(&small);
	clear(&all);
	if ((head[0] & 8) != 0) {
		/* Of the same segments: forced cuts divide runs. */
		o.flags = 0;
		read_rows(trace, &o, &all);
		o.first = (uint64_t)head[4] | (uint64_t)head[5] << 8;
		o.end = (uint64_t)head[6] | (uint64_t)head[7] << 8;
		memcpy(&o.kinds, head + 8, sizeof(o.kinds));
		check_range(trace, &all, &o);
		clear(&all);
	}
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (0);
}
