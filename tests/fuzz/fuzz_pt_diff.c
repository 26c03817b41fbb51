/*
 * Fuzz harness that compares the engines of Intel PT: `native` with `libipt`,
 * and with the truth where that is known.
 *
 * An input is a byte, then
 *  0: an input of fuzz_pt: configuration, code and packets;
 *  else: seed (4 bytes), what the trace has (3), instructions (2), and changes
 *  to its bytes (see change()).
 *
 * Rows are compared from a PSB up to the first gap of either engine, then from
 * the next PSB on as a stream of its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/pt/pt_sync.h"
#include "fuzz.h"
#include "fuzz_pt_diff.h"
#include "slot_bytes.h"
#include "support/random_trace.h"

#define MAX_INSNS 600
#define MAX_CODE 1024
#define MAX_ROWS 20000
#define MAX_PIECES 6

uint64_t fuzz_slot_bytes = (uint64_t)1 << 20;

static void
ok(int rc, const struct hwtd_error *err)
{
	FUZZ_CHECK(rc == HWTD_OK, "%d %s", rc, err->message);
}

static struct hwtd_trace *
build(struct hwtd_context *ctx, const struct diff_input *in,
    const uint8_t *packets, size_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.pt = &in->pt };
	struct hwtd_trace *trace;
	uint32_t id;

	ok(hwtd_trace_create(ctx, NULL, &trace, &err), &err);
	ok(hwtd_trace_add_stream(trace, &desc, &id, &err), &err);
	ok(hwtd_trace_add_bytes(trace, id, packets, n, &err), &err);
	for (size_t i = 0; i < in->n_images; i++) {
		struct hwtd_image_desc image = { .size = sizeof(image),
			.path = "code",
			.bytes = in->images[i].bytes,
			.n_bytes = in->images[i].n,
			.flags = HWTD_IMAGEF_ADDRESS,
			.address = in->images[i].address };

		if (hwtd_trace_add_image(trace, &image, NULL, &err) != HWTD_OK)
			FUZZ_CHECK(image.n_bytes > UINT64_MAX - image.address,
			    "%s", err.message);
	}
	ok(hwtd_trace_seal(trace, &err), &err);
	return (trace);
}

static void
read_rows(struct hwtd_trace *trace, const char *engine, uint32_t level,
    struct fuzz_rows *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.level = level,
		.engine = engine };
	struct hwtd_events *ev;

	ok(hwtd_events_open(trace, &opts, &ev, &err), &err);
	fuzz_rows_read(ev, 1024, MAX_ROWS, out);
	hwtd_events_close(ev);
}

/* Up to the first gap both engines tell the same; where the gap is, or SIZE_MAX. */
static size_t
compare_piece(struct hwtd_context *ctx, const struct diff_input *in,
    size_t from)
{
	const uint8_t *packets = in->packets + from;
	const size_t n = in->n_packets - from;
	struct hwtd_trace *trace = build(ctx, in, packets, n);
	struct fuzz_rows native, libipt;
	size_t gap;

	read_rows(trace, "native", HWTD_LEVEL_BLOCK, &native);
	read_rows(trace, "libipt", HWTD_LEVEL_BLOCK, &libipt);
	gap = diff_rows(in, packets, n, &native, &libipt);
	fuzz_rows_free(&native);
	fuzz_rows_free(&libipt);
	hwtd_trace_close(trace);
	return (gap == SIZE_MAX ? gap : from + gap);
}

static void
compare(struct hwtd_context *ctx, const struct diff_input *in)
{
	size_t from = hwtdi_pt_find_psb(in->packets, in->n_packets, 0), gap;

	for (size_t i = 0; i < MAX_PIECES && from < in->n_packets; i++) {
		gap = compare_piece(ctx, in, from);
		if (gap >= in->n_packets)
			break;
		if (gap < from + HWTDI_PT_PSB_BYTES)
			gap = from + HWTDI_PT_PSB_BYTES;
		from = hwtdi_pt_find_psb(in->packets, in->n_packets, gap);
	}
}

/* The truth. */

static void
check_truth(struct hwtd_context *ctx, const struct diff_input *in,
    const struct random_trace *truth)
{
	struct hwtd_trace *trace = build(ctx, in, in->packets, in->n_packets);
	struct random_trace_cursor c;
	struct fuzz_rows rows;
	bool same = true;

	read_rows(trace, "native", HWTD_LEVEL_INSN, &rows);
	random_trace_start(&c, truth, trace);
	for (size_t i = 0; same && i < rows.n; i++)
		same = random_trace_next(&c, &rows.at[i].e,
		    &rows.at[i].detail);
	FUZZ_CHECK(same && random_trace_end(&c), "truth: %s", c.text);
	fuzz_rows_free(&rows);
	hwtd_trace_close(trace);
}

/* Change some bytes. */
static void
change(struct pt_packets *p, struct fuzz_in *from)
{
	const size_t at = (size_t)fuzz_take(from, 2) % (p->n + 1);
	const uint8_t how = (uint8_t)fuzz_take(from, 1);
	size_t n = 1 + (how >> 2 & 15);
	struct pt_packets rest = { 0 };

	switch (how & 3) {
	case 0: /* Put bytes over what is there. */
		while (n-- > 0 && at + n < p->n)
			p->bytes[at + n] = (uint8_t)fuzz_take(from, 1);
		break;
	case 1: /* Take bytes out. */
		if (n > p->n - at)
			n = p->n - at;
		memmove(p->bytes + at, p->bytes + at + n, p->n - at - n);
		p->n -= n;
		break;
	default: /* Put bytes before what is there, or some again. */
		pt_raw(&rest, p->bytes + at, p->n - at);
		p->n = at;
		for (size_t i = 0; i < n; i++) {
			uint8_t b = (how & 3) == 2 || i >= rest.n
			    ? (uint8_t)fuzz_take(from, 1)
			    : rest.bytes[i];

			pt_raw(p, &b, 1);
		}
		pt_append(p, &rest);
		pt_free(&rest);
		break;
	}
}

static void
run_generated(struct hwtd_context *ctx, struct fuzz_in from)
{
	static struct random_trace truth;
	static struct diff_input in;
	const uint64_t seed = fuzz_take(&from, 4);
	const unsigned int has = (unsigned int)fuzz_take(&from, 3) &
	    RANDOM_ALL;
	const size_t insns = (size_t)fuzz_take(&from, 2) % MAX_INSNS;
	bool changed = false;
	random_trace_make(&truth, seed, has, insns);
	memset(&in, 0, sizeof(in));
	in.pt = truth.config;
	in.has = has;
	in.n_images = truth.program.n_images;
	for (size_t i = 0; i < in.n_images; i++) {
		in.images[i].address = truth.program.images[i].address;
		in.images[i].bytes = truth.program.images[i].bytes;
		in.images[i].n = truth.program.images[i].n_bytes;
	}
	while (from.left > 0 && truth.packets.n < MAX_PACKETS) {
		change(&truth.packets, &from);
		changed = true;
	}
	in.packets = truth.packets.bytes;
	in.n_packets = truth.packets.n;
	in.consistent = !changed;
	fuzz_slot_bytes = (uint64_t)1 << 20;
	if (!changed) {
		check_truth(ctx, &in, &truth);
		fuzz_slot_bytes = 64 + in.n_packets / 50;
		check_truth(ctx, &in, &truth);
		fuzz_slot_bytes = (uint64_t)1 << 20;
	}
	/* libipt fails in any way where the TIP of a return is deferred. */
	if ((has & RANDOM_DEFERS_RETURNS) == 0)
		compare(ctx, &in);
	random_trace_free(&truth);
}

/* Take an input of fuzz_pt apart. */
static void
parse(struct fuzz_in from, struct diff_input *out)
{
	static const uint8_t models[8] = { 0, 0x3d, 0x47, 0x4e, 0x5c, 0x6a,
		0x7d, 0x97 };
	size_t n_code, split, shift;
	uint8_t cpu, filter;
	uint64_t base;

	/* Choices, size of segments. */
	(void)fuzz_take(&from, 2);
	cpu = (uint8_t)fuzz_take(&from, 1);
	(void)fuzz_take(&from, 1);
	filter = (uint8_t)fuzz_take(&from, 1);
	(void)fuzz_take(&from, 2);
	split = (size_t)fuzz_take(&from, 1);
	base = fuzz_take(&from, 6);
	base = (uint64_t)((int64_t)(base << 16) >> 16);
	n_code = (size_t)fuzz_take(&from, 2);
	if (n_code > from.left)
		n_code = from.left;
	out->packets = from.at + n_code;
	out->n_packets = from.left - n_code;
	if (n_code > MAX_CODE)
		n_code = MAX_CODE;
	if (out->n_packets > MAX_PACKETS)
		out->n_packets = MAX_PACKETS;
	shift = (split & 0x80) != 0 ? 0 : 3;
	split &= 0x7f;
	if (split > n_code || split == 0)
		split = n_code;
	out->images[0] = (struct diff_image){ base, from.at, split };
	out->images[1] = (struct diff_image){ base + split + shift,
		from.at + split, n_code - split };
	out->n_images = split < n_code ? 2 : 1;
	out->pt.size = sizeof(out->pt);
	out->pt.cpu_model = models[cpu & 7];
	out->pt.cpu_family = out->pt.cpu_model != 0 ? 6 : 0;
	out->pt.filters[0].mode = (filter & 3) == 3 ? HWTD_PT_FILTER_OFF
						    : filter & 3;
	out->pt.filters[0].start = base;
	out->pt.filters[0].end = base + (uint64_t)(filter >> 2) * 4;
}

static void
run_raw(struct hwtd_context *ctx, struct fuzz_in from)
{
	static struct diff_input in;

	memset(&in, 0, sizeof(in));
	parse(from, &in);
	fuzz_slot_bytes = (uint64_t)1 << 20;
	compare(ctx, &in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_in from = { data, size };
	struct hwtd_context *ctx;
	uint64_t held = 0;

	ok(hwtd_context_create(NULL, &ctx, &err), &err);
	if (fuzz_take(&from, 1) == 0)
		run_raw(ctx, from);
	else
		run_generated(ctx, from);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
