/*
 * Fuzz harness of Intel PT: one input holds a configuration, code and packets.
 *
 * Layout: struct of 16 bytes, see parse(); then `code_bytes` of code, then
 * packets.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_pt_runs.h"
#include "fuzz_rows.h"
#include "fuzz_runs.h"
#include "slot_bytes.h"

#define MAX_CODE 1024
#define MAX_PACKETS 4096
#define MAX_ROWS 50000

uint64_t fuzz_slot_bytes = (uint64_t)1 << 20;

/* What to compare, by bits of the input. */
#define TRY_LEVELS 0x01
#define TRY_SEEK 0x02
#define TRY_JOBS 0x04
#define TRY_BATCH 0x08
#define TRY_SEEK_NS 0x10
#define TRY_EXTENTS 0x20
#define TRY_FILTER 0x40
#define TRY_STRICT 0x80

struct input {
	uint8_t tries;
	uint8_t slot;
	struct hwtd_pt_config pt;
	bool has_pt;
	struct hwtd_clock clock;
	uint64_t base;
	const uint8_t *code;
	size_t n_code;
	/* The second part of the code is an image of its own, elsewhere. */
	size_t split;
	uint64_t shift;
	const uint8_t *packets;
	size_t n_packets;
	uint64_t seek;
};

static void
parse_config(struct input *in, uint8_t cpu, uint8_t timing, uint8_t filter)
{
	static const uint8_t models[8] = { 0, 0x3d, 0x47, 0x4e, 0x5c, 0x6a,
		0x7d, 0x97 };

	in->has_pt = (cpu & 0x80) == 0;
	in->pt.size = sizeof(in->pt);
	in->pt.cpu_model = models[cpu & 7];
	in->pt.cpu_family = in->pt.cpu_model != 0 ? 6 : 0;
	in->pt.cpu_stepping = cpu >> 3 & 15;
	in->pt.mtc_freq = timing & 15;
	if ((timing & 0x10) != 0) {
		in->pt.nom_freq = 30;
		in->pt.cpuid_15h_eax = 2;
		in->pt.cpuid_15h_ebx = 250;
	}
	if ((timing & 0x20) != 0)
		in->clock = (struct hwtd_clock){ .counts_per = 3,
			.ns_per = 1 };
	if ((timing & 0x40) != 0) {
		/* Counts before the base, too. */
		in->clock.base_count = 2000;
		in->clock.base_ns = 100;
	}
	if ((timing & 0x80) != 0) {
		/* Products over 64 bits. */
		in->clock.counts_per = UINT64_MAX / 3;
		in->clock.ns_per = UINT64_MAX;
	}
	in->pt.filters[0].mode = filter & 3;
	if (in->pt.filters[0].mode == 3)
		in->pt.filters[0].mode = HWTD_PT_FILTER_OFF;
	in->pt.filters[0].start = in->base;
	in->pt.filters[0].end = in->base + (uint64_t)(filter >> 2) * 4;
}

static void
parse(struct fuzz_in from, struct input *in)
{
	uint8_t cpu, timing, filter;

	memset(in, 0, sizeof(*in));
	in->tries = (uint8_t)fuzz_take(&from, 1);
	in->slot = (uint8_t)fuzz_take(&from, 1);
	cpu = (uint8_t)fuzz_take(&from, 1);
	timing = (uint8_t)fuzz_take(&from, 1);
	filter = (uint8_t)fuzz_take(&from, 1);
	in->seek = fuzz_take(&from, 2);
	in->split = fuzz_take(&from, 1);
	in->base = fuzz_take(&from, 6);
	/* Canonical addresses, as they are in packets. */
	in->base = (uint64_t)((int64_t)(in->base << 16) >> 16);
	in->n_code = fuzz_take(&from, 2);
	parse_config(in, cpu, timing, filter);
	if (in->n_code > from.left)
		in->n_code = from.left;
	in->code = from.at;
	in->packets = from.at + in->n_code;
	in->n_packets = from.left - in->n_code;
	if (in->n_code > MAX_CODE)
		in->n_code = MAX_CODE;
	if (in->n_packets > MAX_PACKETS)
		in->n_packets = MAX_PACKETS;
	/* Most inputs have one image; the second then adjoins or not. */
	in->shift = in->split & 0x80 ? 0 : 3;
	in->split &= 0x7f;
	if (in->split > in->n_code)
		in->split = in->n_code;
	if (in->split == 0)
		in->split = in->n_code;
}

static bool
one_segment(const struct input *in)
{
	return (fuzz_slot_bytes > MAX_PACKETS &&
	    (in->tries & TRY_EXTENTS) == 0);
}

static void
ok(int rc, const struct hwtd_error *err)
{
	FUZZ_CHECK(rc == HWTD_OK, "%d %s", rc,
	    err != NULL ? err->message : "");
}

static void
add_image(struct hwtd_trace *trace, uint64_t address, const uint8_t *bytes,
    size_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_image_desc image = { .size = sizeof(image) };
	int rc;

	image.path = "code";
	image.bytes = bytes;
	image.n_bytes = n;
	image.flags = HWTD_IMAGEF_ADDRESS;
	image.address = address;
	rc = hwtd_trace_add_image(trace, &image, NULL, &err);
	FUZZ_CHECK(rc == HWTD_OK || n > UINT64_MAX - address, "%d %s", rc,
	    err.message);
}

static void
add_stream(struct hwtd_trace *trace, const struct input *in)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	size_t half = in->n_packets / 2;
	uint32_t id;

	desc.tech = HWTD_TECH_INTEL_PT;
	desc.cpu = HWTD_NO_ID;
	desc.pid = HWTD_NO_ID;
	desc.tid = HWTD_NO_ID;
	desc.pt = in->has_pt ? &in->pt : NULL;
	desc.clock = in->clock;
	ok(hwtd_trace_add_stream(trace, &desc, &id, &err), &err);
	if ((in->tries & TRY_EXTENTS) == 0)
		half = in->n_packets;
	ok(hwtd_trace_add_bytes(trace, id, in->packets, half, &err), &err);
	if (half == in->n_packets)
		return;
	ok(hwtd_trace_start_extent(trace, id, in->slot % 3, &err), &err);
	ok(hwtd_trace_add_bytes(trace, id, in->packets + half,
	       in->n_packets - half, &err),
	    &err);
}

static struct hwtd_trace *
build(struct hwtd_context *ctx, const struct input *in, unsigned int streams)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;

	ok(hwtd_trace_create(ctx, NULL, &trace, &err), &err);
	for (unsigned int i = 0; i < streams; i++)
		add_stream(trace, in);
	add_image(trace, in->base, in->code, in->split);
	if (in->split < in->n_code)
		add_image(trace, in->base + in->split + in->shift,
		    in->code + in->split, in->n_code - in->split);
	ok(hwtd_trace_seal(trace, &err), &err);
	return (trace);
}

static struct hwtd_events *
open_rows(struct hwtd_trace *trace, uint32_t level, uint32_t jobs)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options opts = { .size = sizeof(opts) };
	struct hwtd_events *ev;

	opts.level = level;
	opts.jobs = jobs;
	opts.kinds = FUZZ_KINDS;
	ok(hwtd_events_open(trace, &opts, &ev, &err), &err);
	return (ev);
}

static void
read_rows(struct hwtd_trace *trace, uint32_t level, uint32_t jobs,
    size_t batch, struct fuzz_rows *out)
{
	struct hwtd_events *ev = open_rows(trace, level, jobs);

	fuzz_rows_read(ev, batch, MAX_ROWS, out);
	hwtd_events_close(ev);
}

/* Rows of all, from the first that a seek asks for, and rows after a seek. */
static void
try_seek(struct hwtd_trace *trace, const struct input *in,
    const struct fuzz_rows *all)
{
	struct hwtd_error err = { .size = sizeof(err) };
	uint64_t off = in->n_packets == 0 ? 0 : in->seek % in->n_packets;
	struct hwtd_events *ev = open_rows(trace, HWTD_LEVEL_BLOCK, 1);
	struct fuzz_rows rest;
	size_t from = 0;

	while (from < all->n && all->at[from].e.stream_off < off)
		from++;
	ok(hwtd_events_seek_offset(ev, 0, off, &err), &err);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rest);
	fuzz_rows_same("seek by offset", all, from, &rest);
	fuzz_rows_free(&rest);
	/* And again from the front. */
	ok(hwtd_events_seek_offset(ev, 0, 0, &err), &err);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rest);
	fuzz_rows_same("seek to the front", all, 0, &rest);
	fuzz_rows_free(&rest);
	hwtd_events_close(ev);
}

static void
try_seek_ns(struct hwtd_trace *trace, const struct input *in,
    const struct fuzz_rows *all)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev;
	struct fuzz_rows rest;
	size_t from = 0, pick;
	uint64_t ns;

	if (all->n == 0 || !fuzz_rows_ordered(all))
		return;
	pick = in->seek % all->n;
	if ((all->at[pick].e.flags & HWTD_EVF_TIME) == 0)
		return;
	ns = all->at[pick].e.time_ns;
	while (ns != 0 &&
	    ((all->at[from].e.flags & HWTD_EVF_TIME) == 0 ||
		all->at[from].e.time_ns < ns))
		from++;
	ev = open_rows(trace, HWTD_LEVEL_BLOCK, 1);
	ok(hwtd_events_seek_ns(ev, ns, &err), &err);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rest);
	fuzz_rows_same("seek by time", all, from, &rest);
	fuzz_rows_free(&rest);
	hwtd_events_close(ev);
}

/* Order between streams: (time, stream); those without time come last. */
static void
check_order(const struct hwtd_trace *trace, const struct fuzz_rows *rows)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	bool timed;

	ok(hwtd_trace_stream(trace, 0, &desc), NULL);
	timed = desc.clock.counts_per != 0;
	for (size_t i = 1; i < rows->n; i++) {
		const struct hwtd_event *a = &rows->at[i - 1].e;
		const struct hwtd_event *b = &rows->at[i].e;

		FUZZ_CHECK(timed || a->stream <= b->stream,
		    "stream %u after stream %u", b->stream, a->stream);
		if (timed && (a->flags & b->flags & HWTD_EVF_TIME) != 0)
			FUZZ_CHECK(a->time_ns <= b->time_ns,
			    "time %" PRIu64 " after %" PRIu64, b->time_ns,
			    a->time_ns);
	}
}

static void
try_jobs(struct hwtd_context *ctx, const struct input *in)
{
	struct hwtd_trace *trace = build(ctx, in, 2);
	struct fuzz_rows one, two, first, second;

	read_rows(trace, HWTD_LEVEL_BLOCK, 1, 1024, &one);
	read_rows(trace, HWTD_LEVEL_BLOCK, 2, 1024, &two);
	if (!one.cut) {
		fuzz_rows_same("two jobs", &one, 0, &two);
		fuzz_rows_of(&one, 0, &first);
		fuzz_rows_of(&one, 1, &second);
		if (fuzz_rows_ordered(&first))
			check_order(trace, &one);
		fuzz_rows_same("two equal streams", &first, 0, &second);
		fuzz_rows_free(&first);
		fuzz_rows_free(&second);
	}
	fuzz_rows_free(&one);
	fuzz_rows_free(&two);
	hwtd_trace_close(trace);
}

static bool
same_row(const struct fuzz_row *a, const struct fuzz_row *b)
{
	return (memcmp(a, b, sizeof(*a)) == 0);
}

/* What a filter leaves are rows of the whole, in their order. */
static void
try_filter(struct hwtd_trace *trace, const struct input *in,
    const struct fuzz_rows *all)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options opts = { .size = sizeof(opts) };
	struct hwtd_range range;
	struct hwtd_events *ev;
	struct fuzz_rows some;
	size_t at = 0, n_kinds = 0;

	opts.kinds = in->seek & FUZZ_KINDS;
	if (opts.kinds == 0)
		opts.kinds = FUZZ_KINDS;
	range.start = in->base + in->seek % 32;
	range.end = range.start + 1 + in->slot % 64;
	if ((in->slot & 0x40) != 0) {
		opts.addresses = &range;
		opts.n_addresses = 1;
	}
	ok(hwtd_events_open(trace, &opts, &ev, &err), &err);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &some);
	hwtd_events_close(ev);
	for (size_t i = 0; i < some.n; i++, at++) {
		while (at < all->n && !same_row(&all->at[at], &some.at[i]))
			at++;
		if (at == all->n)
			fuzz_row_print("filtered", &some.at[i]);
		FUZZ_CHECK(at < all->n, "row %zu of kind %u: not of the whole",
		    i, some.at[i].e.kind);
	}
	FUZZ_CHECK(memcmp(&some.stats, &all->stats, sizeof(some.stats)) == 0,
	    "a filter changes what is counted");
	for (size_t i = 0; i < all->n; i++)
		n_kinds += (opts.kinds >> all->at[i].e.kind & 1) != 0;
	FUZZ_CHECK(opts.n_addresses != 0 || some.n == n_kinds,
	    "%zu rows of %zu", some.n, n_kinds);
	fuzz_rows_free(&some);
}

/* A strict cursor ends with the first gap. */
static void
try_strict(struct hwtd_trace *trace, const struct fuzz_rows *all)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options opts = { .size = sizeof(opts) };
	static struct hwtd_event events[64];
	struct hwtd_batch batch = { .size = sizeof(batch) };
	struct hwtd_events *ev;
	size_t want = 0, n = 0;
	int rc;

	while (want < all->n && all->at[want].e.kind != HWTD_EV_GAP)
		want++;
	opts.flags = HWTD_DECODE_STRICT;
	opts.kinds = FUZZ_KINDS;
	batch.events = events;
	batch.stride = sizeof(events[0]);
	batch.cap = 64;
	ok(hwtd_events_open(trace, &opts, &ev, &err), &err);
	while ((rc = hwtd_events_read(ev, &batch, &err)) == HWTD_OK)
		n += batch.n;
	FUZZ_CHECK(rc == (want < all->n ? HWTD_E_CORRUPT : HWTD_END),
	    "strict: %d after %zu of %zu rows", rc, n, all->n);
	FUZZ_CHECK(n == want || n == want + 1,
	    "strict: %zu rows, the first gap is row %zu", n, want);
	hwtd_events_close(ev);
}

static void
try_levels(struct hwtd_trace *trace, const struct input *in,
    const struct fuzz_rows *blocks)
{
	struct fuzz_rows insns;

	read_rows(trace, HWTD_LEVEL_INSN, 1, 1024, &insns);
	if (!insns.cut) {
		fuzz_rows_check(&insns, in->n_packets, one_segment(in));
		fuzz_rows_check_code(trace, &insns);
		fuzz_rows_check_levels(blocks, &insns);
		fuzz_runs_check(trace);
	}
	fuzz_rows_free(&insns);
}

/* Everything that the input asks for. */
static void
try_all(struct hwtd_context *ctx, struct hwtd_trace *trace,
    const struct input *in, const struct fuzz_rows *rows)
{
	struct fuzz_rows again;

	fuzz_rows_check(rows, in->n_packets, one_segment(in));
	fuzz_rows_check_code(trace, rows);
	if (one_segment(in))
		fuzz_rows_check_loops(rows);
	fuzz_pt_runs(trace, in->has_pt ? &in->pt : NULL, in->packets,
	    in->n_packets);
	if ((in->tries & TRY_LEVELS) != 0)
		try_levels(trace, in, rows);
	if ((in->tries & TRY_SEEK) != 0)
		try_seek(trace, in, rows);
	if ((in->tries & TRY_SEEK_NS) != 0)
		try_seek_ns(trace, in, rows);
	if ((in->tries & TRY_BATCH) != 0) {
		read_rows(trace, HWTD_LEVEL_BLOCK, 1, 1 + in->seek % 7,
		    &again);
		fuzz_rows_same("small batches", rows, 0, &again);
		fuzz_rows_free(&again);
	}
	if ((in->tries & TRY_FILTER) != 0)
		try_filter(trace, in, rows);
	if ((in->tries & TRY_STRICT) != 0)
		try_strict(trace, rows);
	if ((in->tries & TRY_JOBS) != 0)
		try_jobs(ctx, in);
}

static void
run(struct hwtd_context *ctx, const struct input *in)
{
	struct hwtd_trace *trace = build(ctx, in, 1);
	struct fuzz_rows rows;

	read_rows(trace, HWTD_LEVEL_BLOCK, 1, 1024, &rows);
	/* A bit of the trace can pass the whole code, but no more. */
	FUZZ_CHECK(rows.n <= (8 * in->n_packets + 64) * (in->n_code + 8),
	    "%zu rows of %zu bytes", rows.n, in->n_packets);
	if (!rows.cut)
		try_all(ctx, trace, in, &rows);
	fuzz_rows_free(&rows);
	hwtd_trace_close(trace);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	uint64_t held = 0;
	struct input in;

	parse((struct fuzz_in){ data, size }, &in);
	fuzz_slot_bytes = in.slot < 0x80 ? (uint64_t)1 << 20
					 : (uint64_t)16 << (in.slot & 7);
	ok(hwtd_context_create(NULL, &ctx, &err), &err);
	run(ctx, &in);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
