/*
 * Columns of calls, packets and records are what their rows say; columns that are
 * named come in that order; names of code are those of the symbolizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "support/arrow_rows.h"
#include "support/failing_allocator.h"
#include "support/profile_trace.h"

#define ROWS 3000u

/* A stream that is read array by array. */
struct reader {
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray array;
	int64_t at;
};

static void
begin(struct reader *r)
{
	assert_int_equal(r->stream.get_schema(&r->stream, &r->schema), 0);
	memset(&r->array, 0, sizeof(r->array));
	r->at = 0;
}

/* False: nothing is left. */
static bool
next_row(struct reader *r)
{
	if (r->array.release != NULL && ++r->at < r->array.length)
		return (true);
	if (r->array.release != NULL)
		r->array.release(&r->array);
	r->at = 0;
	assert_int_equal(r->stream.get_next(&r->stream, &r->array), 0);
	return (r->array.release != NULL);
}

static void
end(struct reader *r)
{
	assert_false(next_row(r));
	r->schema.release(&r->schema);
	r->stream.release(&r->stream);
}

static struct ar_value
value(const struct reader *r, const char *name)
{
	for (int64_t i = 0; i < r->schema.n_children; i++)
		if (strcmp(r->schema.children[i]->name, name) == 0)
			return (ar_value(r->schema.children[i],
			    r->array.children[i], r->at));
	fail_msg("no column %s", name);
	return ((struct ar_value){ 0 });
}

static void
assert_number(const struct reader *r, const char *name, bool known,
    uint64_t number)
{
	const struct ar_value v = value(r, name);

	assert_int_equal(v.known, known);
	if (known && v.number != number)
		fail_msg("%s is %llu, not %llu", name,
		    (unsigned long long)v.number, (unsigned long long)number);
}

/* What is null is 0 in the row. */
static void
assert_number_or_none(const struct reader *r, const char *name,
    uint64_t number)
{
	assert_number(r, name, value(r, name).known || number != 0, number);
}

/* NULL: not known. */
static void
assert_text(const struct reader *r, const char *name, const char *text)
{
	const struct ar_value v = value(r, name);

	assert_int_equal(v.known, text != NULL);
	if (text != NULL)
		assert_string_equal(v.text, text);
}

static struct hwtd_trace *
make_trace(struct hwtd_context *ctx)
{
	return (pa_long(ctx, 70, 2, ROWS, true));
}

/* Calls. */

static void
assert_call(const struct reader *r, const struct hwtd_calls *calls,
    const struct hwtd_call *c)
{
	const bool leave = c->kind == HWTD_CALL_LEAVE;
	const bool gap = c->kind == HWTD_CALL_GAP;
	const bool begun = (c->flags & HWTD_CALLF_BEGIN_TIME) != 0;
	const bool over = (leave || gap) &&
	    (c->flags & HWTD_CALLF_END_TIME) != 0;
	struct hwtd_call_function f = { .size = sizeof(f) };
	struct hwtd_call_thread t = { .size = sizeof(t) };

	assert_int_equal(hwtd_calls_thread(calls, c->thread, &t), HWTD_OK);
	if (c->function != HWTD_NO_ID)
		assert_int_equal(hwtd_calls_function(calls, c->function, &f),
		    HWTD_OK);
	assert_text(r, "kind", leave ? "leave" : gap ? "gap" : "enter");
	assert_number(r, "id", !gap, c->id);
	assert_text(r, "function", f.name);
	assert_text(r, "image", f.image);
	assert_text(r, "type", gap ? NULL : hwtd_call_type_name(c->type));
	assert_text(r, "end", leave ? hwtd_call_end_name(c->end) : NULL);
	assert_text(r, "gap_reason",
	    gap ? hwtd_gap_reason_name(c->end) : NULL);
	assert_number(r, "depth", true, (uint32_t)c->depth);
	assert_number(r, "pid", t.pid != HWTD_NO_ID, t.pid);
	assert_number(r, "tid", t.tid != HWTD_NO_ID, t.tid);
	assert_number(r, "begin_ns", begun, c->begin_ns);
	assert_number(r, "end_ns", over, c->end_ns);
	assert_number(r, "ns", leave && begun && over, c->ns);
	assert_number(r, "self_ns", leave && begun && over, c->self_ns);
	assert_number(r, "gap_ns", begun && over, c->gap_ns);
	assert_number(r, "insns", leave, c->insns);
	assert_number(r, "self_insns", leave, c->self_insns);
	assert_number(r, "cycles",
	    leave && (c->flags & HWTD_CALLF_CYCLES) != 0, c->cycles);
	assert_number(r, "address", (c->flags & HWTD_CALLF_ADDRESS) != 0,
	    c->address);
	assert_number(r, "call_site", (c->flags & HWTD_CALLF_SITE) != 0,
	    c->call_site);
	assert_number(r, "unproven", true,
	    (c->flags & HWTD_CALLF_UNPROVEN) != 0);
	assert_number(r, "began_before", true,
	    (c->flags & HWTD_CALLF_BEGAN_BEFORE) != 0);
}

static void
calls_are_what_their_rows_say(void **state)
{
	const struct hwtd_export_options o = { .size = sizeof(o),
		.rows = 700 };
	struct hwtd_trace *trace = make_trace(NULL);
	struct hwtd_calls *calls = pa_open_calls(trace, NULL);
	struct reader r;
	struct hwtd_call rows[64];
	uint64_t kinds[4] = { 0 };
	int rc;

	(void)state;
	assert_int_equal(hwtd_calls_export(pa_open_calls(trace, NULL), &o,
			     &r.stream, NULL),
	    HWTD_OK);
	begin(&r);
	for (;;) {
		struct hwtd_call_batch batch = { .size = sizeof(batch),
			.calls = rows,
			.stride = sizeof(rows[0]),
			.cap = 64 };

		rc = hwtd_calls_read(calls, &batch, NULL);
		if (rc != HWTD_OK)
			break;
		for (size_t i = 0; i < batch.n; i++) {
			assert_true(next_row(&r));
			assert_call(&r, calls, &rows[i]);
			kinds[rows[i].kind]++;
		}
	}
	assert_int_equal(rc, HWTD_END);
	end(&r);
	assert_true(kinds[HWTD_CALL_ENTER] > 100);
	assert_true(kinds[HWTD_CALL_LEAVE] > 100);
	assert_true(kinds[HWTD_CALL_GAP] > 0);
	hwtd_calls_close(calls);
	hwtd_trace_close(trace);
}

/* Packets. */

static void
packets_are_what_their_rows_say(void **state)
{
	static const char *const names[] = { "text", "kind", "stream",
		"stream_off", "bytes", "ip", "value", "count", "time_ns",
		"time_error_ns", "name", "guessed" };
	const struct hwtd_export_options o = { .size = sizeof(o),
		.names = names,
		.n_names = sizeof(names) / sizeof(names[0]),
		.rows = 999 };
	const struct hwtd_packets_options po = { .size = sizeof(po),
		.flags = HWTD_PACKETS_TIME };
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_trace *trace = make_trace(NULL);
	struct hwtd_packets *packets;
	struct reader r;
	size_t n = 0, timed = 0;

	(void)state;
	assert_int_equal(hwtd_packets_open(trace, &po, &packets, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_packets_export(packets, &o, &r.stream, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_packets_open(trace, &po, &packets, NULL),
	    HWTD_OK);
	begin(&r);
	assert_string_equal(r.schema.children[0]->name, "text");
	assert_string_equal(r.schema.children[11]->name, "guessed");
	while (hwtd_packets_read(packets, &batch, NULL) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++, n++) {
			const struct hwtd_packet
			    *p = (const void *)((const char *)batch.packets +
				i * batch.stride);
			const bool has_time = (p->flags & HWTD_PKF_TIME) != 0;
			char text[200] = "";

			timed += has_time;
			(void)hwtd_packet_text(p, text, 80);
			assert_true(next_row(&r));
			assert_text(&r, "text", text);
			assert_text(&r, "kind",
			    hwtd_packet_kind_name(p->kind));
			assert_text(&r, "name", NULL);
			assert_number(&r, "stream", true, p->stream);
			assert_number(&r, "stream_off", true, p->stream_off);
			assert_number(&r, "bytes", true, p->bytes);
			assert_number(&r, "ip", (p->flags & HWTD_PKF_IP) != 0,
			    p->ip);
			assert_number_or_none(&r, "value", p->value);
			assert_number_or_none(&r, "count", p->count);
			assert_number(&r, "time_ns", has_time, p->time_ns);
			assert_number(&r, "time_error_ns",
			    has_time && p->time_error_ns != UINT64_MAX,
			    p->time_error_ns);
			assert_number(&r, "guessed", true,
			    (p->flags & HWTD_PKF_GUESSED) != 0);
		}
	end(&r);
	assert_true(n > 1000);
	assert_true(timed > 0);
	hwtd_packets_close(packets);
	hwtd_trace_close(trace);
}

static void
kinds_of_packets_have_their_names(void **state)
{
	struct hwtd_trace *trace = make_trace(NULL);
	struct hwtd_packets *packets;
	struct ArrowArray *kind;
	struct reader r;

	(void)state;
	assert_int_equal(hwtd_packets_open(trace, NULL, &packets, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_packets_export(packets, NULL, &r.stream, NULL),
	    HWTD_OK);
	begin(&r);
	assert_true(next_row(&r));
	assert_string_equal(r.schema.children[3]->name, "kind");
	kind = r.array.children[3]->dictionary;
	for (uint32_t i = 0; i < HWTD_PACKET_KINDS; i++) {
		const char *name = hwtd_packet_kind_name(i);
		const int32_t *offsets = kind->buffers[1];
		const char *text = kind->buffers[2];
		bool found = false;

		for (int64_t k = 0; k < kind->length; k++)
			found = found ||
			    ((size_t)(offsets[k + 1] - offsets[k]) ==
				    strlen(name) &&
				memcmp(text + offsets[k], name,
				    strlen(name)) == 0);
		if (!found)
			fail_msg("no name %s", name);
	}
	while (next_row(&r))
		;
	r.schema.release(&r.schema);
	r.stream.release(&r.stream);
	hwtd_trace_close(trace);
}

/* Records. */

static struct hwtd_trace *
make_records(struct hwtd_context *ctx)
{
	const struct hwtd_record records[] = {
		{ .size = sizeof(struct hwtd_record),
		    .type = HWTD_REC_EXEC,
		    .flags = HWTD_RECF_TIME | HWTD_RECF_ADDR,
		    .cpu = HWTD_NO_ID,
		    .pid = 7,
		    .tid = HWTD_NO_ID,
		    .stream = HWTD_NO_ID,
		    .image = HWTD_NO_ID,
		    .time_ns = 10,
		    .addr = 0x1000,
		    .name = "a \xff name" },
		{ .size = sizeof(struct hwtd_record),
		    .type = HWTD_REC_MMAP,
		    .flags = HWTD_RECF_ADDR | HWTD_RECF_LEN |
			HWTD_RECF_FILE_OFF | HWTD_RECF_JIT,
		    .cpu = 3,
		    .pid = 7,
		    .tid = 8,
		    .stream = HWTD_NO_ID,
		    .image = HWTD_NO_ID,
		    .n_build_id = 3,
		    .addr = 0x2000,
		    .len = 0x3000,
		    .file_off = 0x40,
		    .name = "/lib/x.so",
		    .build_id = { 0xab, 0x01, 0xff } },
		{ .size = sizeof(struct hwtd_record),
		    .type = HWTD_REC_LOST,
		    .flags = HWTD_RECF_VALUE,
		    .cpu = HWTD_NO_ID,
		    .pid = HWTD_NO_ID,
		    .tid = HWTD_NO_ID,
		    .stream = HWTD_NO_ID,
		    .image = HWTD_NO_ID,
		    .value = UINT64_MAX },
	};
	struct hwtd_trace *trace;

	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		assert_int_equal(hwtd_trace_add_record(trace, &records[i],
				     NULL),
		    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	return (trace);
}

static void
records_are_what_they_say(void **state)
{
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct reader r;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	trace = make_records(ctx);
	hwtd_context_destroy(ctx);
	assert_int_equal(hwtd_records_export(trace, NULL, &r.stream, NULL),
	    HWTD_OK);
	hwtd_trace_close(trace);
	begin(&r);
	assert_true(next_row(&r));
	assert_number(&r, "index", true, 0);
	assert_text(&r, "kind", "exec");
	assert_text(&r, "name", "a \xef\xbf\xbd name");
	assert_number(&r, "time_ns", true, 10);
	assert_number(&r, "cpu", false, 0);
	assert_number(&r, "pid", true, 7);
	assert_number(&r, "tid", false, 0);
	assert_number(&r, "addr", true, 0x1000);
	assert_number(&r, "len", false, 0);
	assert_text(&r, "build_id", NULL);
	assert_number(&r, "jit", true, 0);
	assert_true(next_row(&r));
	assert_text(&r, "kind", "mmap");
	assert_text(&r, "name", "/lib/x.so");
	assert_text(&r, "build_id", "ab01ff");
	assert_number(&r, "time_ns", false, 0);
	assert_number(&r, "cpu", true, 3);
	assert_number(&r, "tid", true, 8);
	assert_number(&r, "len", true, 0x3000);
	assert_number(&r, "file_off", true, 0x40);
	assert_number(&r, "value", false, 0);
	assert_number(&r, "jit", true, 1);
	assert_true(next_row(&r));
	assert_text(&r, "kind", "lost");
	assert_text(&r, "name", NULL);
	assert_number(&r, "index", true, 2);
	assert_number(&r, "value", true, UINT64_MAX);
	assert_number(&r, "pid", false, 0);
	end(&r);
}

static void
names_without_text_are_known(void **state)
{
	static const char *const names[] = { "name" };
	const struct hwtd_export_options o = { .size = sizeof(o),
		.names = names,
		.n_names = 1 };
	const struct hwtd_record record = { .size = sizeof(record),
		.type = HWTD_REC_EXEC,
		.cpu = HWTD_NO_ID,
		.pid = 7,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
		.name = "" };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct reader r;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	for (int i = 0; i < 3; i++)
		assert_int_equal(hwtd_trace_add_record(trace, &record, NULL),
		    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_records_export(trace, &o, &r.stream, NULL),
	    HWTD_OK);
	hwtd_trace_close(trace);
	begin(&r);
	for (int i = 0; i < 3; i++) {
		assert_true(next_row(&r));
		assert_text(&r, "name", "");
	}
	end(&r);
}

/* As many as bits of a byte, of a chunk and of an array do not fit into. */
static void
records_keep_their_places_in_long_arrays(void **state)
{
	static const uint32_t sizes[] = { 1, 1023, 1025, 2050, 0 };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	/* Chunks of which all, none and some are known, in turns. */
	for (uint32_t i = 0; i < 5003; i++) {
		const bool known = i < 2100 || (i > 4000 && i % 3 == 0);
		const struct hwtd_record record = { .size = sizeof(record),
			.type = i % 700 == 0 ? HWTD_REC_EXIT : HWTD_REC_EXEC,
			.flags = (known ? HWTD_RECF_TIME : 0) |
			    (i < 3000 ? HWTD_RECF_JIT : 0),
			.cpu = i < 3000 ? HWTD_NO_ID : i,
			.pid = 7,
			.tid = i,
			.stream = HWTD_NO_ID,
			.image = HWTD_NO_ID,
			.time_ns = 10 + i };

		assert_int_equal(hwtd_trace_add_record(trace, &record, NULL),
		    HWTD_OK);
	}
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		const struct hwtd_export_options o = { .size = sizeof(o),
			.rows = sizes[k] };
		struct reader r;

		assert_int_equal(hwtd_records_export(trace, &o, &r.stream,
				     NULL),
		    HWTD_OK);
		begin(&r);
		for (uint32_t i = 0; i < 5003; i++) {
			assert_true(next_row(&r));
			assert_number(&r, "index", true, i);
			assert_number(&r, "tid", true, i);
			assert_number(&r, "time_ns",
			    i < 2100 || (i > 4000 && i % 3 == 0), 10 + i);
			assert_number(&r, "cpu", i >= 3000, i);
			assert_number(&r, "jit", true, i < 3000);
			assert_text(&r, "kind",
			    i % 700 == 0 ? "exit" : "exec");
		}
		end(&r);
	}
	hwtd_trace_close(trace);
}

static void
records_of_a_trace_that_grows_are_not_read(void **state)
{
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct ArrowArrayStream stream;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	assert_int_equal(hwtd_records_export(trace, NULL, &stream, NULL),
	    HWTD_E_STATE);
	hwtd_trace_close(trace);
}

/* Names of code. */

static void
events_have_names_if_they_are_asked_for(void **state)
{
	static const char *const names[] = { "function", "line", "ip", "image",
		"file" };
	const struct hwtd_export_options o = { .size = sizeof(o),
		.names = names,
		.n_names = 5 };
	struct hwtd_trace *trace = make_trace(NULL);
	struct hwtd_symbolizer *symbolizer;
	struct hwtd_events *events, *again;
	struct hwtd_event row;
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = &row,
		.stride = sizeof(row),
		.cap = 1 };
	struct reader r;
	size_t known = 0;

	(void)state;
	assert_int_equal(hwtd_symbolizer_open(trace, NULL, &symbolizer, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_events_open(trace, NULL, &events, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_events_open(trace, NULL, &again, NULL), HWTD_OK);
	assert_int_equal(hwtd_events_export(events, &o, &r.stream, NULL),
	    HWTD_OK);
	begin(&r);
	assert_int_equal(r.schema.n_children, 5);
	assert_string_equal(r.schema.children[2]->name, "ip");
	while (hwtd_events_read(again, &batch, NULL) == HWTD_OK) {
		const bool has_ip = (row.flags & HWTD_EVF_IP) != 0;
		const struct hwtd_where where = { .flags = HWTD_WHERE_CONTEXT |
			    ((row.flags & HWTD_EVF_SECTION) != 0
				    ? HWTD_WHERE_SECTION
				    : 0),
			.address = row.ip,
			.context = row.context,
			.section = row.section };
		struct hwtd_symbol symbol = { 0 };

		if (batch.n == 0)
			continue;
		assert_true(next_row(&r));
		if (has_ip)
			assert_int_equal(hwtd_symbolize(symbolizer, &where,
					     sizeof(where), 1, &symbol,
					     sizeof(symbol), NULL),
			    HWTD_OK);
		assert_number(&r, "ip", has_ip, row.ip);
		assert_text(&r, "function", symbol.text);
		known += symbol.text != NULL;
	}
	end(&r);
	assert_true(known > 100);
	hwtd_events_close(again);
	hwtd_symbolizer_close(symbolizer);
	hwtd_trace_close(trace);
}

static void
columns_that_are_not_there_are_refused(void **state)
{
	static const char *const near[] = { "ip", "tiem_ns" };
	static const char *const twice[] = { "ip", "kind", "ip" };
	struct hwtd_trace *trace = make_trace(NULL);
	struct hwtd_export_options o = { .size = sizeof(o),
		.names = near,
		.n_names = 2 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct ArrowArrayStream stream;
	struct hwtd_events *events;

	(void)state;
	assert_int_equal(hwtd_events_open(trace, NULL, &events, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_events_export(events, &o, &stream, &err),
	    HWTD_E_INVALID);
	assert_string_equal(err.message, "no column tiem_ns; is it time_ns?");
	o.columns = HWTD_COL_IP;
	assert_int_equal(hwtd_events_export(events, &o, &stream, &err),
	    HWTD_E_INVALID);
	o.columns = 0;
	o.names = twice;
	o.n_names = 3;
	assert_int_equal(hwtd_events_export(events, &o, &stream, &err),
	    HWTD_E_INVALID);
	assert_string_equal(err.message, "column ip is named twice");
	o.names = NULL;
	assert_int_equal(hwtd_events_export(events, &o, &stream, &err),
	    HWTD_E_INVALID);
	o.n_names = SIZE_MAX;
	assert_int_equal(hwtd_events_export(events, &o, &stream, &err),
	    HWTD_E_INVALID);
	hwtd_events_close(events);
	assert_int_equal(hwtd_records_export(trace,
			     &(struct hwtd_export_options){ .size = sizeof(o),
				 .columns = HWTD_COL_IP },
			     &stream, &err),
	    HWTD_E_TOO_NEW);
	hwtd_trace_close(trace);
}

/* Allocations. */

enum what {
	CALLS,
	PACKETS,
	RECORDS,
	NAMES,
	WHATS
};

/* HWTD_OK: all was read; else something failed, with its code or as errno. */
static int
read_all(struct hwtd_trace *trace, enum what what)
{
	static const char *const names[] = { "function", "file" };
	const struct hwtd_export_options o = { .size = sizeof(o),
		.rows = 500 };
	const struct hwtd_export_options named = { .size = sizeof(named),
		.names = names,
		.n_names = 2 };
	const struct hwtd_calls_options co = { .size = sizeof(co),
		.flags = HWTD_CALLS_ENTERS };
	struct ArrowArrayStream stream;
	struct ArrowArray array;
	struct hwtd_calls *calls = NULL;
	struct hwtd_packets *packets = NULL;
	struct hwtd_events *events = NULL;
	int rc;

	switch (what) {
	case CALLS:
		rc = hwtd_calls_open(trace, &co, &calls, NULL);
		if (rc == HWTD_OK)
			rc = hwtd_calls_export(calls, &o, &stream, NULL);
		if (rc != HWTD_OK)
			hwtd_calls_close(calls);
		break;
	case PACKETS:
		rc = hwtd_packets_open(trace, NULL, &packets, NULL);
		if (rc == HWTD_OK)
			rc = hwtd_packets_export(packets, &o, &stream, NULL);
		if (rc != HWTD_OK)
			hwtd_packets_close(packets);
		break;
	case RECORDS:
		rc = hwtd_records_export(trace, &o, &stream, NULL);
		break;
	default:
		rc = hwtd_events_open(trace, NULL, &events, NULL);
		if (rc == HWTD_OK)
			rc = hwtd_events_export(events, &named, &stream, NULL);
		if (rc != HWTD_OK)
			hwtd_events_close(events);
		break;
	}
	while (rc == HWTD_OK) {
		rc = stream.get_next(&stream, &array);
		if (rc == 0 && array.release == NULL)
			break;
		if (rc == 0)
			array.release(&array);
	}
	if (rc >= 0)
		stream.release(&stream);
	return (rc);
}

static void
allocations_that_fail_are_told(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	trace = make_trace(ctx);
	hwtd_context_destroy(ctx);
	for (enum what what = CALLS; what < WHATS; what++) {
		const int64_t blocks = f.blocks;
		uint64_t requests = f.requests, step;

		assert_int_equal(read_all(trace, what), HWTD_OK);
		requests = f.requests - requests;
		assert_true(requests > 0);
		step = requests / 200 + 1;
		for (uint64_t i = 1; i <= requests; i += i < 60 ? 1 : step) {
			failing_allocator_arm(&f, i, false);
			/* Some memory is only to be faster. */
			(void)read_all(trace, what);
			failing_allocator_arm(&f, 0, false);
			assert_true(f.blocks <= blocks + 64);
		}
		failing_allocator_arm(&f, 1, true);
		assert_int_not_equal(read_all(trace, what), HWTD_OK);
		failing_allocator_arm(&f, 0, false);
	}
	hwtd_trace_close(trace);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_what_their_rows_say),
		cmocka_unit_test(packets_are_what_their_rows_say),
		cmocka_unit_test(kinds_of_packets_have_their_names),
		cmocka_unit_test(records_are_what_they_say),
		cmocka_unit_test(names_without_text_are_known),
		cmocka_unit_test(records_keep_their_places_in_long_arrays),
		cmocka_unit_test(records_of_a_trace_that_grows_are_not_read),
		cmocka_unit_test(events_have_names_if_they_are_asked_for),
		cmocka_unit_test(columns_that_are_not_there_are_refused),
		cmocka_unit_test(allocations_that_fail_are_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
