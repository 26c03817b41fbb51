/*
 * Fuzz harness of the text of perf: an input is a file.  What is read of it is
 * written down again as perf lists it, and read as the same.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_rows.h"

#define MAX_INPUT ((size_t)1 << 16)
#define MAX_ROWS 100000
/* Holes can be large: streams are read up to here. */
#define MAX_BYTES ((uint64_t)1 << 18)

struct text {
	char *at;
	size_t n, cap;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->cap - t->n < 256) {
		t->cap = 2 * t->cap + 4096;
		t->at = realloc(t->at, t->cap);
		FUZZ_CHECK(t->at != NULL, "out of memory");
	}
	va_start(ap, fmt);
	n = vsnprintf(t->at + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
	FUZZ_CHECK(n >= 0 && (size_t)n < t->cap - t->n, "a long line");
	t->n += (size_t)n;
}

static int
open_text(struct hwtd_context *ctx, const void *bytes, size_t n,
    struct hwtd_trace **out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_file file;
	int rc;

	fuzz_file_open(&file, bytes, n);
	rc = hwtd_trace_open(ctx, file.path, NULL, out, &err);
	fuzz_file_close(&file);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED ||
		rc == HWTD_E_CORRUPT || rc == HWTD_E_LIMIT ||
		rc == HWTD_E_UNSUPPORTED,
	    "open: %d %s", rc, err.message);
	return (rc);
}

/* The bytes of an extent, as lines of perf. */
static void
list_extent(const struct hwtd_trace *trace, uint32_t stream,
    const struct hwtd_extent *e, struct text *out)
{
	uint8_t line[16];

	add(out, ". ... ARM SPE data: size %#" PRIx64 " bytes\n",
	    e->end - e->start);
	for (uint64_t off = e->start; off < e->end;) {
		const size_t n = e->end - off < sizeof(line)
		    ? (size_t)(e->end - off)
		    : sizeof(line);
		size_t got = 0;

		FUZZ_CHECK(hwtd_trace_read_bytes(trace, stream, off, line, n,
			       &got, NULL) == HWTD_OK &&
			got == n,
		    "%zu bytes of an extent at %" PRIu64, got, off);
		add(out, ".  %08" PRIx64 ": ", off - e->start);
		for (size_t i = 0; i < n; i++)
			add(out, " %02x", line[i]);
		add(out, "%*s PAD\n", (int)(3 * (sizeof(line) - n)), "");
		off += n;
	}
}

/* All extents of a stream, in order and with their bytes. */
static uint64_t
list_stream(const struct hwtd_trace *trace, uint32_t stream, uint64_t n_bytes,
    struct text *out)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	uint64_t end = 0, sum = 0;

	for (size_t i = 0; fuzz_extent(trace, stream, i, n_bytes, &end, &e);
	     i++) {
		sum += e.end - e.start;
		if (e.end > e.start)
			list_extent(trace, stream, &e, out);
	}
	return (sum);
}

/* Damage that names bytes of a stream names those that are not there. */
static uint64_t
lost_of(const struct hwtd_trace *trace, uint32_t stream)
{
	struct hwtd_damage d = { .size = sizeof(d) };
	uint64_t sum = 0;

	for (size_t i = 0; hwtd_trace_damage(trace, i, &d) == HWTD_OK; i++)
		if (d.stream == stream)
			sum += d.end - d.first;
	return (sum);
}

static void
check_rows(struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_rows rows = { 0 };
	struct hwtd_events *ev;

	FUZZ_CHECK(hwtd_events_open(trace, NULL, &ev, &err) == HWTD_OK, "%s",
	    err.message);
	fuzz_rows_read(ev, 100, MAX_ROWS, &rows);
	hwtd_events_close(ev);
	fuzz_rows_free(&rows);
}

static void
check_again(struct hwtd_context *ctx, const struct text *want)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct text have = { NULL, 0, 0 };
	struct hwtd_trace *trace;

	FUZZ_CHECK(open_text(ctx, want->at, want->n, &trace) == HWTD_OK,
	    "what was written is not read");
	(void)hwtd_trace_info(trace, &info);
	FUZZ_CHECK(info.n_streams == 1 && info.n_damages == 0,
	    "%u streams, %u damages", info.n_streams, info.n_damages);
	FUZZ_CHECK(hwtd_trace_stream(trace, 0, &desc) == HWTD_OK, "no stream");
	(void)list_stream(trace, 0, desc.n_bytes, &have);
	FUZZ_CHECK(have.n == want->n && memcmp(have.at, want->at, have.n) == 0,
	    "what was written reads as something else");
	free(have.at);
	hwtd_trace_close(trace);
}

static void
check_trace(struct hwtd_context *ctx, struct hwtd_trace *trace, size_t size)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct text text = { NULL, 0, 0 };
	uint64_t sum = 0, all = 0;

	(void)hwtd_trace_info(trace, &info);
	if (strcmp(info.format, "perf-text") != 0)
		return;
	for (uint32_t i = 0; i < info.n_streams; i++) {
		struct hwtd_stream_desc desc = { .size = sizeof(desc) };
		uint64_t there;

		FUZZ_CHECK(hwtd_trace_stream(trace, i, &desc) == HWTD_OK &&
			desc.tech == HWTD_TECH_SPE,
		    "stream %u", i);
		there = list_stream(trace, i, desc.n_bytes, &text);
		FUZZ_CHECK(there + lost_of(trace, i) == desc.n_bytes,
		    "stream %u: %" PRIu64 " bytes of %" PRIu64, i, there,
		    desc.n_bytes);
		sum += there;
		all += desc.n_bytes;
	}
	/* Two digits each. */
	FUZZ_CHECK(sum <= size / 2, "%" PRIu64 " bytes", sum);
	if (all <= MAX_BYTES)
		check_rows(trace);
	if (sum > 0)
		check_again(ctx, &text);
	free(text.at);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_context_options opts = { .size = sizeof(opts),
		.max_memory = (uint64_t)1 << 28 };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t held = 0;

	if (size > MAX_INPUT)
		return (0);
	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, NULL) == HWTD_OK,
	    "no context");
	if (open_text(ctx, data, size, &trace) == HWTD_OK) {
		check_trace(ctx, trace, size);
		hwtd_trace_close(trace);
	}
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
