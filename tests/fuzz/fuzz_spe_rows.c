/*
 * Fuzz harness of Arm SPE through the library.  An input is: 4 bytes of choices,
 * then the bytes of one or two buffers.
 *
 *	0 what to try, by bits
 *	1 size of segments
 *	2 where the second buffer begins, in parts of 32; 0: there is none
 *	3 how it was recorded
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_columns.h"
#include "fuzz_rows.h"
#include "slot_bytes.h"

#define MAX_STREAM 8192
#define MAX_ROWS 40000
#define MAX_PACKETS 20000
#define MAX_BUFFERS 256

uint64_t fuzz_slot_bytes = (uint64_t)1 << 20;

#define TRY_BATCH 0x01
#define TRY_JOBS 0x02
#define TRY_PERF 0x04
#define TRY_RANGE 0x08
#define TRY_BUFFERS 0x10

struct input {
	uint8_t tries;
	uint64_t slot;
	size_t second;
	uint8_t how;
	const uint8_t *bytes;
	size_t n;
};

struct packets {
	struct hwtd_packet at[MAX_PACKETS];
	size_t n;
};

static void
parse(struct fuzz_in from, struct input *in)
{
	static const uint64_t slots[] = { 1 << 20, 64, 100, 256, 1000, 4096 };

	in->tries = (uint8_t)fuzz_take(&from, 1);
	in->slot = slots[fuzz_take(&from, 1) %
	    (sizeof(slots) / sizeof(slots[0]))];
	in->second = (size_t)fuzz_take(&from, 1) * 32;
	in->how = (uint8_t)fuzz_take(&from, 1);
	in->bytes = from.at;
	in->n = from.left < MAX_STREAM ? from.left : MAX_STREAM;
	if (in->second >= in->n)
		in->second = 0;
}

static void
ok(int rc, const struct hwtd_error *err)
{
	FUZZ_CHECK(rc == HWTD_OK, "%d %s", rc, err->message);
}

static struct hwtd_trace *
build(struct hwtd_context *ctx, const struct input *in)
{
	static const uint32_t midrs[] = { 0, 0x413fd0c1, 0xc00fac30,
		0x480fd060 };
	const struct hwtd_spe_config spe = { .size = sizeof(spe),
		.midr = midrs[in->how & 3],
		.version = in->how >> 2 & 7,
		.counter_bits = (in->how & 0x20) != 0 ? 12 : 0,
		.owner = (in->how & 0x40) != 0 ? HWTD_SPE_OWNER_CPU : 0 };
	struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.spe = &spe };
	const size_t first = in->second != 0 ? in->second : in->n;
	const struct hwtd_image_desc code = { .size = sizeof(code),
		.path = "code",
		.bytes = in->bytes,
		.n_bytes = in->n,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = 0x400000 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;
	uint32_t id;

	if ((in->how & 0x80) != 0)
		desc.clock = (struct hwtd_clock){ .counts_per = 1,
			.ns_per = 40 };
	ok(hwtd_trace_create(ctx, NULL, &trace, &err), &err);
	ok(hwtd_trace_add_stream(trace, &desc, &id, &err), &err);
	ok(hwtd_trace_add_bytes(trace, id, in->bytes, first, &err), &err);
	if (first < in->n) {
		ok(hwtd_trace_start_extent(trace, id, HWTD_EXTENT_NEW, &err),
		    &err);
		ok(hwtd_trace_add_bytes(trace, id, in->bytes + first,
		       in->n - first, &err),
		    &err);
	}
	/* Branches ask for code: any will do. */
	if (in->n > 0)
		ok(hwtd_trace_add_image(trace, &code, NULL, &err), &err);
	ok(hwtd_trace_seal(trace, &err), &err);
	return (trace);
}

static void
read_rows(struct hwtd_trace *trace, uint32_t jobs, size_t batch,
    struct fuzz_rows *out)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.level = HWTD_LEVEL_BLOCK,
		.jobs = jobs,
		.kinds = FUZZ_KINDS };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev;

	ok(hwtd_events_open(trace, &opts, &ev, &err), &err);
	fuzz_rows_read(ev, batch, MAX_ROWS, out);
	hwtd_events_close(ev);
}

/* Samples and gaps are of bytes that no other has, but for their own gap. */
static void
check_samples(const struct fuzz_rows *rows, const struct input *in)
{
	uint64_t end = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_sample *s = &rows->at[i].detail.sample;

		if (rows->at[i].e.kind != HWTD_EV_SAMPLE)
			continue;
		FUZZ_CHECK(s->stream_off >= end && s->bytes > 0 &&
			s->stream_off + s->bytes <= in->n,
		    "a record of %" PRIu64 " bytes at %" PRIu64
		    ", behind %" PRIu64,
		    s->bytes, s->stream_off, end);
		end = s->stream_off + s->bytes;
		FUZZ_CHECK(in->second == 0 || s->stream_off >= in->second ||
			end <= in->second,
		    "a record at %" PRIu64 " is of two buffers",
		    s->stream_off);
	}
}

static void
try_again(struct hwtd_trace *trace, const char *what, uint32_t jobs,
    size_t batch, const struct fuzz_rows *rows)
{
	struct fuzz_rows again;

	read_rows(trace, jobs, batch, &again);
	fuzz_rows_same(what, rows, 0, &again);
	fuzz_rows_free(&again);
}

static void
check_rows(struct hwtd_trace *trace, const struct input *in)
{
	struct fuzz_rows rows;

	read_rows(trace, 1, 1024, &rows);
	FUZZ_CHECK(!rows.cut && rows.n <= 3 * in->n + 4,
	    "%zu rows of %zu bytes", rows.n, in->n);
	fuzz_rows_check(&rows, in->n, false);
	check_samples(&rows, in);
	if ((in->tries & TRY_BATCH) != 0)
		try_again(trace, "small batches", 1, 3, &rows);
	if ((in->tries & TRY_JOBS) != 0)
		try_again(trace, "two jobs", 2, 1024, &rows);
	fuzz_rows_free(&rows);
}

static void
read_packets(struct hwtd_trace *trace, const struct hwtd_packets_options *o,
    struct packets *out)
{
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets_stats stats = { .size = sizeof(stats) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets;
	uint64_t bytes = 0;
	int rc;

	out->n = 0;
	ok(hwtd_packets_open(trace, o, &packets, &err), &err);
	while ((rc = hwtd_packets_read(packets, &batch, &err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++) {
			FUZZ_CHECK(out->n < MAX_PACKETS, "too many packets");
			out->at[out->n++] = batch.packets[i];
			bytes += batch.packets[i].bytes;
		}
	FUZZ_CHECK(rc == HWTD_END, "%d %s", rc, err.message);
	FUZZ_CHECK(hwtd_packets_stats(packets, &stats) == HWTD_OK &&
		stats.bytes == bytes &&
		stats.bytes_named + stats.bytes_unknown == bytes,
	    "%" PRIu64 " bytes in rows, %" PRIu64 " told", bytes, stats.bytes);
	hwtd_packets_close(packets);
}

/* Rows tile the buffers, and none is of two; texts fit. */
static void
check_tiles(const struct packets *p, const struct input *in, bool lines)
{
	uint64_t end = 0;
	char text[768];

	for (size_t i = 0; i < p->n; i++) {
		const struct hwtd_packet *r = &p->at[i];

		FUZZ_CHECK(r->stream_off == end && r->bytes > 0,
		    "row %zu at %" PRIu64 ", not %" PRIu64, i, r->stream_off,
		    end);
		end += r->bytes;
		FUZZ_CHECK(in->second == 0 || r->stream_off >= in->second ||
			end <= in->second,
		    "row %zu is of two buffers", i);
		FUZZ_CHECK(!lines || r->bytes <= 16, "a line of %u bytes",
		    r->bytes);
		FUZZ_CHECK(hwtd_packet_text(r, text, sizeof(text)) <
			sizeof(text),
		    "a long text");
	}
	FUZZ_CHECK(end == in->n, "rows up to %" PRIu64 " of %zu", end, in->n);
}

static void
check_range(struct hwtd_trace *trace, const struct packets *all,
    struct hwtd_packets_options o)
{
	static struct packets got;
	size_t first = 0, end;

	o.first = all->n > 4 ? all->at[all->n / 4].stream_off + 1 : 1;
	o.end = all->n > 4 ? all->at[all->n / 2].stream_off + 1 : 2;
	while (first < all->n && all->at[first].stream_off < o.first)
		first++;
	for (end = first; end < all->n && all->at[end].stream_off < o.end;)
		end++;
	read_packets(trace, &o, &got);
	FUZZ_CHECK(got.n == end - first &&
		memcmp(got.at, all->at + first, got.n * sizeof(got.at[0])) ==
		    0,
	    "a range has %zu rows, not %zu", got.n, end - first);
}

static void
check_packets(struct hwtd_trace *trace, const struct input *in)
{
	static struct packets all;
	struct hwtd_packets_options o = { .size = sizeof(o),
		.flags = (in->tries & TRY_PERF) != 0 ? HWTD_PACKETS_PERF_LINES
						     : HWTD_PACKETS_TIME };

	read_packets(trace, &o, &all);
	check_tiles(&all, in, (in->tries & TRY_PERF) != 0);
	fuzz_packet_columns(trace, &o, all.n);
	if ((in->tries & TRY_RANGE) != 0)
		check_range(trace, &all, o);
}

static void
check_buffers(struct hwtd_trace *trace, const struct input *in)
{
	static struct hwtd_buffer buffers[MAX_BUFFERS];
	struct hwtd_error err = { .size = sizeof(err) };
	uint32_t n_sources = 0;
	size_t n = 0;

	ok(hwtd_spe_find_buffers(trace, 0, buffers, MAX_BUFFERS, &n, &err),
	    &err);
	FUZZ_CHECK(n > 0 && n <= in->n + 1, "%zu buffers", n);
	for (size_t i = 0; i < n && i < MAX_BUFFERS; i++) {
		const struct hwtd_buffer *b = &buffers[i];

		FUZZ_CHECK(i == 0 ? b->off == 0
				  : b->off > b[-1].off && b->off < in->n,
		    "buffer %zu at %" PRIu64, i, b->off);
		FUZZ_CHECK(b->source <= n_sources, "source %u", b->source);
		n_sources += b->source == n_sources;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t held = 0;
	struct input in;

	parse((struct fuzz_in){ data, size }, &in);
	fuzz_slot_bytes = in.slot;
	ok(hwtd_context_create(NULL, &ctx, &err), &err);
	trace = build(ctx, &in);
	check_rows(trace, &in);
	check_packets(trace, &in);
	if ((in.tries & TRY_BUFFERS) != 0)
		check_buffers(trace, &in);
	hwtd_trace_close(trace);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
