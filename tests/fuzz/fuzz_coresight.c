/*
 * Fuzz harness of CoreSight: one input holds a configuration, code and the bytes
 * of a stream.
 *
 * Layout: 12 bytes of choices, see parse(); then 40 bytes of registers, if the
 * input brings its own; then `code_bytes` of code, then the stream.  Code may be
 * mapped and unmapped while it runs.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_rows.h"
#include "slot_bytes.h"

#define MAX_CODE 1024
#define MAX_STREAM 4096
#define MAX_ROWS 400000
#define MAX_IMAGE ((size_t)1 << 18)

uint64_t fuzz_slot_bytes = (uint64_t)1 << 20;

/* By bits of the input. */
#define OWN_REGISTERS 0x08
#define TRY_EXTENTS 0x10
#define TRY_BATCH 0x20
#define TRY_JOBS 0x40
#define TRY_TIMED 0x80

/* By bits of where code lies. */
#define OWN_BASE 0x08
#define CHANGES 0x10

struct input {
	uint8_t tries;
	/* Code changes each so many bytes of the stream; 0: it stays. */
	uint8_t step;
	struct hwtd_coresight_config config;
	uint64_t base;
	const uint8_t *code;
	size_t n_code;
	/* The code comes again and again, up to so many bytes. */
	size_t n_image;
	const uint8_t *bytes;
	size_t n_bytes;
};

/* Registers of sources as there are. */
static const struct hwtd_coresight_config known[] = {
	{ .protocol = HWTD_CS_ETMV4,
	    .configr = 0x1001,
	    .idr = { 0x28000ea1, 0x4100f443, 0x10000488 } },
	/* Speculation, cycle counts, no return stack. */
	{ .protocol = HWTD_CS_ETMV4,
	    .configr = 0x18d9,
	    .idr = { 0x08000eb1, 0x4100f424, 0x10000488, 0, 0, 0, 0, 0, 8 } },
	/* Q elements, 32-bit addresses. */
	{ .protocol = HWTD_CS_ETMV4,
	    .configr = 0xe8d1,
	    .idr = { 0x0801fea1, 0x4100f403, 0x00000484, 0, 0, 0, 0, 0, 78 } },
	{ .protocol = HWTD_CS_ETE,
	    .devarch = 0x47705a13,
	    .configr = 0x18d9,
	    .idr = { 0x68c01eb1, 0x4100fff3, 0x10000488, 0, 0, 0, 0, 0, 0 } },
	{ .protocol = HWTD_CS_ETE,
	    .devarch = 0x47715a13,
	    .configr = 0x10c1,
	    .idr = { 0x28c1fea1, 0x4100fff3, 0x90000488, 0, 0, 0, 0, 0, 78 } },
	{ .protocol = HWTD_CS_ETMV3,
	    .etmcr = 0x10001000,
	    .etmidr = 0x4114f250,
	    .etmccer = 0x344008f2 },
	{ .protocol = HWTD_CS_ETMV3,
	    .etmcr = 0x1000d000,
	    .etmidr = 0x411cf312,
	    .etmccer = 0x34c008f2 },
	{ .protocol = HWTD_CS_PTM,
	    .etmcr = 0x30001000,
	    .etmidr = 0x411cf312,
	    .etmccer = 0x34c01ac2 },
	{ .protocol = HWTD_CS_PTM,
	    .etmcr = 0x2000d000,
	    .etmidr = 0x411cf312,
	    .etmccer = 0x34c01ac2 },
	{ .protocol = HWTD_CS_STM, .stmtcsr = 0x00a00005 },
};

/* Where code lies: usual places, and the ends of address spaces. */
static const uint64_t bases[] = { 0x10000, 0, 0xffffff80, 0x400000000000,
	0xffff800000080000, 0xfffffffffffff000, 0xffffffffffffff00,
	0x7fffffffffffff80 };

static void
parse_config(struct fuzz_in *from, struct input *in)
{
	const uint8_t who = (uint8_t)fuzz_take(from, 1);
	const uint8_t set = (uint8_t)fuzz_take(from, 1);

	in->config = known[set % (sizeof(known) / sizeof(known[0]))];
	in->config.size = sizeof(in->config);
	in->config.arch = who & 3;
	in->config.profile = who >> 2 & 3;
	in->config.trace_id = who >> 4;
}

static void
parse_registers(struct fuzz_in *from, struct input *in)
{
	struct hwtd_coresight_config *c = &in->config;

	if ((in->tries & OWN_REGISTERS) == 0)
		return;
	c->configr = (uint32_t)fuzz_take(from, 4);
	c->devarch = (uint32_t)fuzz_take(from, 4);
	c->idr[0] = (uint32_t)fuzz_take(from, 4);
	c->idr[1] = (uint32_t)fuzz_take(from, 4);
	c->idr[2] = (uint32_t)fuzz_take(from, 4);
	c->idr[8] = (uint32_t)fuzz_take(from, 4);
	c->etmcr = (uint32_t)fuzz_take(from, 4);
	c->etmidr = (uint32_t)fuzz_take(from, 4);
	c->etmccer = (uint32_t)fuzz_take(from, 4);
	c->stmtcsr = (uint32_t)fuzz_take(from, 4);
}

static void
parse(struct fuzz_in from, struct input *in)
{
	uint8_t place, size;
	uint64_t base;

	memset(in, 0, sizeof(*in));
	in->tries = (uint8_t)fuzz_take(&from, 1);
	parse_config(&from, in);
	in->n_code = fuzz_take(&from, 2);
	place = (uint8_t)fuzz_take(&from, 1);
	size = (uint8_t)fuzz_take(&from, 1);
	base = fuzz_take(&from, 4) << 12;
	in->step = (uint8_t)fuzz_take(&from, 1);
	if ((place & CHANGES) == 0)
		in->step = 0;
	parse_registers(&from, in);
	in->base = (place & OWN_BASE) != 0 ? base : bases[place & 7];
	if (in->n_code > from.left)
		in->n_code = from.left;
	in->code = from.at;
	in->bytes = from.at + in->n_code;
	in->n_bytes = from.left - in->n_code;
	if (in->n_code > MAX_CODE)
		in->n_code = MAX_CODE;
	if (in->n_bytes > MAX_STREAM)
		in->n_bytes = MAX_STREAM;
	in->n_image = in->n_code << (size & 15);
	if (in->n_image > MAX_IMAGE)
		in->n_image = MAX_IMAGE;
}

static void
ok(int rc, const struct hwtd_error *err)
{
	FUZZ_CHECK(rc == HWTD_OK, "%d %s", rc,
	    err != NULL ? err->message : "");
}

static void
add_image(struct hwtd_trace *trace, const struct input *in)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_image_desc image = { .size = sizeof(image) };
	static uint8_t bytes[MAX_IMAGE];
	int rc;

	for (size_t i = 0; i < in->n_image; i++)
		bytes[i] = in->code[i % in->n_code];
	image.path = "code";
	image.bytes = bytes;
	image.n_bytes = in->n_image;
	image.flags = in->step == 0 ? HWTD_IMAGEF_ADDRESS : 0;
	image.address = in->step == 0 ? in->base : 0;
	rc = hwtd_trace_add_image(trace, &image, NULL, &err);
	FUZZ_CHECK(rc == HWTD_OK || in->n_image > UINT64_MAX - in->base,
	    "%d %s", rc, err.message);
}

/*
 * The image begins at its first byte, at its third instruction, is gone, in turns:
 * each holds for a few bytes of the stream.
 */
static void
add_changes(struct hwtd_trace *trace, const struct input *in, uint32_t stream)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_record r = { .size = sizeof(r),
		.cpu = HWTD_NO_ID,
		.pid = 1,
		.tid = HWTD_NO_ID,
		.stream = stream,
		.addr = in->base,
		.len = in->n_image };
	unsigned int turn = 0;

	for (uint64_t at = 0; at < in->n_bytes; at += in->step, turn++) {
		const bool gone = turn % 3 == 2;
		int rc;

		r.type = gone ? HWTD_REC_MUNMAP : HWTD_REC_MMAP;
		r.flags = HWTD_RECF_STREAM_OFF | HWTD_RECF_ADDR |
		    HWTD_RECF_LEN | (gone ? 0 : HWTD_RECF_FILE_OFF);
		r.image = gone ? HWTD_NO_ID : 0;
		r.file_off = gone ? 0 : turn % 3 * 8;
		r.stream_off = at;
		rc = hwtd_trace_add_record(trace, &r, &err);
		FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_INVALID, "%d %s", rc,
		    err.message);
	}
}

static struct hwtd_trace *
build(struct hwtd_context *ctx, const struct input *in)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	const size_t n = in->n_bytes;
	const size_t half = (in->tries & TRY_EXTENTS) != 0 ? n / 2 : n;
	struct hwtd_trace *trace;
	uint32_t id;

	desc.tech = HWTD_TECH_CORESIGHT;
	desc.cpu = HWTD_NO_ID;
	desc.pid = in->step != 0 ? 1 : HWTD_NO_ID;
	desc.tid = HWTD_NO_ID;
	desc.coresight = &in->config;
	if ((in->tries & TRY_TIMED) != 0)
		desc.clock = (struct hwtd_clock){ .counts_per = 1,
			.ns_per = 1 };
	ok(hwtd_trace_create(ctx, NULL, &trace, &err), &err);
	ok(hwtd_trace_add_stream(trace, &desc, &id, &err), &err);
	ok(hwtd_trace_add_bytes(trace, id, in->bytes, half, &err), &err);
	if (half < n) {
		ok(hwtd_trace_start_extent(trace, id, 0, &err), &err);
		ok(hwtd_trace_add_bytes(trace, id, in->bytes + half, n - half,
		       &err),
		    &err);
	}
	if (in->n_image > 0)
		add_image(trace, in);
	if (in->n_image > 0 && in->step != 0)
		add_changes(trace, in, id);
	ok(hwtd_trace_seal(trace, &err), &err);
	return (trace);
}

static void
read_rows(struct hwtd_trace *trace, uint32_t jobs, size_t batch,
    struct fuzz_rows *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options opts = { .size = sizeof(opts) };
	struct hwtd_events *ev;

	opts.level = HWTD_LEVEL_BLOCK;
	opts.jobs = jobs;
	opts.kinds = FUZZ_KINDS;
	ok(hwtd_events_open(trace, &opts, &ev, &err), &err);
	fuzz_rows_read(ev, batch, MAX_ROWS, out);
	hwtd_events_close(ev);
}

/* Bytes are those of the stream; what gave nothing lies in it, in order. */
static void
check_rows(const struct fuzz_rows *rows, uint64_t bytes)
{
	uint64_t off = 0, gap_end = 0, gap_bytes = 0, insns = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_event *e = &rows->at[i].e;
		const struct hwtd_gap *gap = &rows->at[i].detail.gap;

		FUZZ_CHECK(e->stream_off >= off && e->stream_off <= bytes,
		    "row %zu: offset %" PRIu64 " after %" PRIu64, i,
		    e->stream_off, off);
		off = e->stream_off;
		insns += e->insns;
		if (e->kind != HWTD_EV_GAP)
			continue;
		FUZZ_CHECK(gap->first >= gap_end && gap->first <= gap->end &&
			gap->end <= bytes,
		    "gap [%" PRIu64 ", %" PRIu64 ") after %" PRIu64,
		    gap->first, gap->end, gap_end);
		FUZZ_CHECK(gap->reason < HWTD_GAP_REASONS &&
			memchr(gap->text, '\0', sizeof(gap->text)) != NULL,
		    "gap of reason %u", gap->reason);
		gap_end = gap->end;
		gap_bytes += gap->end - gap->first;
	}
	FUZZ_CHECK(rows->stats.bytes == bytes &&
		rows->stats.gap_bytes == gap_bytes,
	    "%" PRIu64 " bytes, %" PRIu64 " in gaps, not %" PRIu64
	    " and %" PRIu64,
	    rows->stats.bytes, rows->stats.gap_bytes, bytes, gap_bytes);
	FUZZ_CHECK(rows->stats.insns == insns, "%" PRIu64 " instructions",
	    rows->stats.insns);
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
run(struct hwtd_context *ctx, const struct input *in)
{
	struct hwtd_trace *trace = build(ctx, in);
	struct fuzz_rows rows;

	read_rows(trace, 1, 1024, &rows);
	/* A byte has 24 atoms at most; each can pass all of the code. */
	FUZZ_CHECK(rows.n <= (32 * in->n_bytes + 64) * (in->n_image + 8),
	    "%zu rows of %zu bytes", rows.n, in->n_bytes);
	if (!rows.cut) {
		check_rows(&rows, in->n_bytes);
		if ((in->tries & TRY_BATCH) != 0)
			try_again(trace, "small batches", 1, 3, &rows);
		if ((in->tries & TRY_JOBS) != 0)
			try_again(trace, "two jobs", 2, 1024, &rows);
	}
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
	ok(hwtd_context_create(NULL, &ctx, &err), &err);
	run(ctx, &in);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
