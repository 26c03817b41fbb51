/*
 * Traces in memory for tests.
 */
#include "support/memory_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_ROWS_AT_ONCE 4096

static void
expect_ok(int rc, const struct hwtd_error *err)
{
	if (rc != HWTD_OK)
		fail_msg("%d %s: %s", rc, hwtd_code_text(rc), err->message);
}

struct hwtd_trace *
mt_create_in(struct hwtd_context *ctx)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = NULL;

	expect_ok(hwtd_trace_create(ctx, NULL, &trace, &err), &err);
	return (trace);
}

struct hwtd_trace *
mt_create(void)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace;

	expect_ok(hwtd_context_create(NULL, &ctx, &err), &err);
	trace = mt_create_in(ctx);
	hwtd_context_destroy(ctx);
	return (trace);
}

uint32_t
mt_code(struct hwtd_trace *trace, uint64_t address, const void *bytes,
    size_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_image_desc desc = {
		.size = sizeof(desc),
		.path = "code",
		.bytes = bytes,
		.n_bytes = n,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = address,
	};
	uint32_t id = HWTD_NO_ID;

	expect_ok(hwtd_trace_add_image(trace, &desc, &id, &err), &err);
	return (id);
}

uint32_t
mt_stream(struct hwtd_trace *trace, const struct pt_packets *packets,
    const struct hwtd_stream_desc *desc)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc d = {
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
	};
	uint32_t id = HWTD_NO_ID;

	if (desc != NULL)
		d = *desc;
	d.size = sizeof(d);
	d.tech = HWTD_TECH_INTEL_PT;
	expect_ok(hwtd_trace_add_stream(trace, &d, &id, &err), &err);
	expect_ok(hwtd_trace_add_bytes(trace, id, packets->bytes, packets->n,
		      &err),
	    &err);
	return (id);
}

void
mt_extent(struct hwtd_trace *trace, uint32_t stream, uint32_t why,
    const void *bytes, size_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };

	expect_ok(hwtd_trace_start_extent(trace, stream, why, &err), &err);
	expect_ok(hwtd_trace_add_bytes(trace, stream, bytes, n, &err), &err);
}

struct hwtd_trace *
mt_seal(struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };

	expect_ok(hwtd_trace_seal(trace, &err), &err);
	return (trace);
}

struct hwtd_trace *
mt_simple(uint64_t address, const void *code, size_t n,
    const struct pt_packets *packets)
{
	struct hwtd_trace *trace = mt_create();

	if (n > 0)
		(void)mt_code(trace, address, code, n);
	(void)mt_stream(trace, packets, NULL);
	return (mt_seal(trace));
}

struct hwtd_trace *
mt_nops_after(uint64_t address, const void *start, size_t n,
    const struct pt_packets *packets)
{
	uint8_t code[64];

	memset(code, 0x90, sizeof(code));
	if (n > 0)
		memcpy(code, start, n);
	return (mt_simple(address, code, sizeof(code), packets));
}

static const char *engine;

void
mt_use_engine(const char *name)
{
	engine = name;
}

struct hwtd_events *
mt_events(struct hwtd_trace *trace, const struct hwtd_events_options *opts)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options o = { .size = sizeof(o) };
	struct hwtd_events *ev = NULL;

	if (opts != NULL)
		o = *opts;
	if (o.engine == NULL)
		o.engine = engine;
	expect_ok(hwtd_events_open(trace, &o, &ev, &err), &err);
	return (ev);
}

static struct mt_row *
room_for_one(struct mt_rows *rows)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap == 0 ? 64 : rows->cap * 2;
		rows->at = realloc(rows->at, rows->cap * sizeof(*rows->at));
		assert_non_null(rows->at);
	}
	memset(&rows->at[rows->n], 0, sizeof(rows->at[0]));
	return (&rows->at[rows->n++]);
}

static void
copy_detail(struct mt_row *out, const void *details, size_t n, size_t stride,
    size_t size)
{
	assert_true(out->row.value < n);
	assert_true(stride >= size);
	memcpy(&out->detail,
	    (const uint8_t *)details + (size_t)out->row.value * stride, size);
	out->row.value = 0;
}

static void
keep(struct mt_rows *rows, const struct hwtd_batch *b, size_t i)
{
	struct mt_row *out = room_for_one(rows);

	memcpy(&out->row, (const uint8_t *)b->events + i * b->stride,
	    sizeof(out->row));
	switch (out->row.kind) {
	case HWTD_EV_GAP:
		copy_detail(out, b->gaps, b->n_gaps, b->gap_stride,
		    sizeof(*b->gaps));
		break;
	case HWTD_EV_MARKER:
		copy_detail(out, b->markers, b->n_markers, b->marker_stride,
		    sizeof(*b->markers));
		break;
	case HWTD_EV_POWER:
		copy_detail(out, b->powers, b->n_powers, b->power_stride,
		    sizeof(*b->powers));
		break;
	case HWTD_EV_SAMPLE:
		copy_detail(out, b->samples, b->n_samples, b->sample_stride,
		    sizeof(*b->samples));
		break;
	case HWTD_EV_ASYNC:
		if ((out->row.flags & HWTD_EVF_VALUE) != 0)
			copy_detail(out, b->asyncs, b->n_asyncs,
			    b->async_stride, sizeof(*b->asyncs));
		break;
	default:
		break;
	}
}

/* Read `batch` rows at a time until there are `most` more, or all. */
static void
read_rows(struct hwtd_events *ev, size_t batch, size_t most,
    struct mt_rows *out)
{
	static _Thread_local struct hwtd_event buf[MOST_ROWS_AT_ONCE];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = buf,
		.stride = sizeof(buf[0]),
	};
	int rc = HWTD_OK;

	assert_true(batch > 0 && batch <= MOST_ROWS_AT_ONCE);
	while (rc == HWTD_OK && most > 0) {
		b.cap = batch < most ? batch : most;
		rc = hwtd_events_read(ev, &b, &err);
		assert_true(b.n <= b.cap);
		for (size_t i = 0; i < b.n; i++)
			keep(out, &b, i);
		most -= b.n;
	}
	if (rc != HWTD_OK && rc != HWTD_END)
		expect_ok(rc, &err);
	if (rc == HWTD_END)
		assert_int_equal(b.n, 0);
}

void
mt_read(struct hwtd_events *ev, size_t batch, struct mt_rows *out)
{
	read_rows(ev, batch, SIZE_MAX, out);
}

void
mt_read_some(struct hwtd_events *ev, size_t most, struct mt_rows *out)
{
	read_rows(ev, MOST_ROWS_AT_ONCE, most, out);
}

void
mt_rows(struct hwtd_trace *trace, const struct hwtd_events_options *opts,
    struct mt_rows *out)
{
	struct hwtd_events *ev = mt_events(trace, opts);

	memset(out, 0, sizeof(*out));
	mt_read(ev, MOST_ROWS_AT_ONCE, out);
	hwtd_events_close(ev);
}

void
mt_rows_free(struct mt_rows *rows)
{
	free(rows->at);
	memset(rows, 0, sizeof(*rows));
}

void
mt_assert_same(const struct mt_rows *a, size_t first, const struct mt_rows *b)
{
	assert_true(first <= a->n);
	for (size_t i = 0; i < a->n - first && i < b->n; i++)
		if (memcmp(&a->at[first + i], &b->at[i], sizeof(b->at[i])) !=
		    0)
			fail_msg("row %zu (from %zu on) differs", i, first);
	assert_int_equal(a->n - first, b->n);
}

void
mt_assert_next(struct hwtd_events *ev, const struct mt_rows *a, size_t first,
    size_t most)
{
	struct mt_rows rows = { 0 };
	struct mt_rows part = *a;

	assert_true(first <= a->n);
	mt_read_some(ev, most, &rows);
	if (part.n - first > most)
		part.n = first + most;
	mt_assert_same(&part, first, &rows);
	mt_rows_free(&rows);
}
