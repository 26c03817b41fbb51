/*
 * Checks of traces that were read of what Linux perf records.
 */
#include "fuzz_perf.h"

#include <inttypes.h>

#include "fuzz.h"
#include "fuzz_rows.h"

#define MAX_ROWS 20000
/* Streams of more bytes are looked at, and not decoded. */
#define MAX_BYTES ((uint64_t)1 << 16)

struct hwtd_context *
fuzz_perf_context(void)
{
	const struct hwtd_context_options opts = { .size = sizeof(opts),
		.max_memory = (uint64_t)1 << 28 };
	struct hwtd_context *ctx;

	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, NULL) == HWTD_OK,
	    "no context");
	return (ctx);
}

void
fuzz_perf_context_end(struct hwtd_context *ctx)
{
	uint64_t held = 0;

	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
}

void
fuzz_perf_check_result(int rc, const struct hwtd_error *err)
{
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED ||
		rc == HWTD_E_CORRUPT || rc == HWTD_E_LIMIT ||
		rc == HWTD_E_NOMEM || rc == HWTD_E_UNSUPPORTED,
	    "open: %d %s", rc, err->message);
	FUZZ_CHECK(rc == HWTD_OK || err->message[0] != '\0',
	    "error %d without a message", rc);
}

static void
check_record(uint64_t no, const struct hwtd_record *r, uint32_t n_streams)
{
	const uint32_t range = HWTD_RECF_ADDR | HWTD_RECF_LEN;

	FUZZ_CHECK(r->stream == HWTD_NO_ID || r->stream < n_streams,
	    "record %" PRIu64 " of stream %u", no, r->stream);
	switch (r->type) {
	case HWTD_REC_MMAP:
	case HWTD_REC_MUNMAP:
		FUZZ_CHECK((r->flags & range) == range && r->name != NULL,
		    "record %" PRIu64 ": a mapping of nothing", no);
		FUZZ_CHECK(r->len == 0 || r->len - 1 <= UINT64_MAX - r->addr,
		    "record %" PRIu64 ": a mapping over the end", no);
		break;
	case HWTD_REC_CODE:
		FUZZ_CHECK((r->flags & range) == range &&
			r->image != HWTD_NO_ID,
		    "record %" PRIu64 ": code without bytes", no);
		FUZZ_CHECK(r->len - 1 <= UINT64_MAX - r->addr,
		    "record %" PRIu64 ": code over the end", no);
		break;
	case HWTD_REC_KERNEL:
	case HWTD_REC_MODULE_LOAD:
	case HWTD_REC_THREAD_NAME:
	case HWTD_REC_UNKNOWN:
		FUZZ_CHECK(r->name != NULL,
		    "record %" PRIu64 " without a name", no);
		break;
	case HWTD_REC_FORK:
	case HWTD_REC_LOST:
	case HWTD_REC_BUFFER:
		FUZZ_CHECK((r->flags & HWTD_RECF_VALUE) != 0,
		    "record %" PRIu64 " without a value", no);
		break;
	case HWTD_REC_EXEC:
	case HWTD_REC_EXIT:
	case HWTD_REC_SWITCH:
	case HWTD_REC_THREAD_CREATE:
	case HWTD_REC_THREAD_EXIT:
		break;
	default:
		fuzz_fail(__FILE__, __LINE__, "record of type %u", r->type);
	}
}

static void
check_bytes(const struct hwtd_trace *trace, uint32_t stream,
    const struct hwtd_extent *e)
{
	uint8_t part[4096];

	for (uint64_t off = e->start; off < e->end;) {
		const size_t n = e->end - off < sizeof(part)
		    ? (size_t)(e->end - off)
		    : sizeof(part);
		size_t got = 0;
		int rc = hwtd_trace_read_bytes(trace, stream, off, part, n,
		    &got, NULL);

		FUZZ_CHECK(rc == HWTD_OK && got == n,
		    "%zu of %zu bytes of an extent at %" PRIu64 ": %d", got, n,
		    off, rc);
		off += n;
	}
}

/* Returns bytes of the stream that are there. */
static uint64_t
check_extents(const struct hwtd_trace *trace, uint32_t stream,
    uint64_t n_bytes)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	uint64_t end = 0, sum = 0;

	for (size_t i = 0; fuzz_extent(trace, stream, i, n_bytes, &end, &e);
	     i++) {
		sum += e.end - e.start;
		check_bytes(trace, stream, &e);
	}
	return (sum);
}

static void
check_streams(const struct hwtd_trace *trace, uint32_t n_streams,
    bool *is_small)
{
	for (uint32_t i = 0; i < n_streams; i++) {
		struct hwtd_stream_desc d = { .size = sizeof(d) };
		struct hwtd_damage damage = { .size = sizeof(damage) };
		uint64_t there, lost = 0;

		FUZZ_CHECK(hwtd_trace_stream(trace, i, &d) == HWTD_OK &&
			d.name[0] != '\0',
		    "stream %u", i);
		*is_small = *is_small && d.n_bytes <= MAX_BYTES;
		/* What frames hold is checked where they are. */
		if (d.sink_plus_1 != 0)
			continue;
		there = check_extents(trace, i, d.n_bytes);
		for (size_t k = 0;
		     hwtd_trace_damage(trace, k, &damage) == HWTD_OK; k++)
			if (damage.stream == i)
				lost += damage.end - damage.first;
		FUZZ_CHECK(there + lost == d.n_bytes,
		    "stream %u: %" PRIu64 " bytes and %" PRIu64
		    " lost ones of %" PRIu64,
		    i, there, lost, d.n_bytes);
	}
}

static void
check_damage(const struct hwtd_trace *trace, uint64_t size)
{
	struct hwtd_damage d = { .size = sizeof(d) };

	for (size_t i = 0; hwtd_trace_damage(trace, i, &d) == HWTD_OK; i++) {
		FUZZ_CHECK(d.text[0] != '\0' && d.file_off <= size &&
			d.file_bytes <= size - d.file_off,
		    "damage of %" PRIu64 " at %" PRIu64 ": %s", d.file_bytes,
		    d.file_off, d.text);
		FUZZ_CHECK(d.first <= d.end, "damage ends before it begins");
	}
}

static void
check_rows(struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = FUZZ_KINDS | (uint32_t)1 << HWTD_EV_RECORD };
	struct fuzz_rows rows;
	struct hwtd_events *ev;
	int rc = hwtd_events_open(trace, &opts, &ev, &err);

	/* What memory is left is not for every trace enough. */
	if (rc == HWTD_E_NOMEM || rc == HWTD_E_LIMIT)
		return;
	FUZZ_CHECK(rc == HWTD_OK, "events: %d %s", rc, err.message);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rows);
	hwtd_events_close(ev);
	fuzz_rows_free(&rows);
}

void
fuzz_perf_check(struct hwtd_trace *trace, uint64_t size)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_record r = { .size = sizeof(r) };
	bool is_small = true;

	(void)hwtd_trace_info(trace, &info);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &r) == HWTD_OK; i++)
		check_record(i, &r, info.n_streams);
	check_streams(trace, info.n_streams, &is_small);
	check_damage(trace, size);
	if (is_small && info.n_streams <= 8 && info.n_records < 10000)
		check_rows(trace);
}
