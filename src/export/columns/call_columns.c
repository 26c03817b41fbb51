/*
 * Calls as columns.
 */
#include <string.h>

#include "analysis/calls/call_source.h"
#include "base/fail.h"
#include "export/columns/column_batch.h"

/* Sources. */
enum {
	FROM_CALL,
	SOURCES
};

struct row {
	struct hwtd_call call;
	const char *function;
	const char *image;
	uint32_t pid;
	uint32_t tid;
	uint32_t stream;
	/* COUNTED: instructions are known. */
	uint32_t known;
};

#define COUNTED 0x1

struct call_rows {
	struct hwtdi_rows head;
	struct hwtd_calls *calls;
	bool counted;
	struct row rows[HWTDI_CHUNK];
	struct hwtd_call chunk[HWTDI_CHUNK];
};

static const char *
kind_name(uint32_t kind)
{
	static const char *const names[] = { "unknown", "enter", "leave",
		"gap" };

	return (kind < sizeof(names) / sizeof(names[0]) ? names[kind]
							: names[0]);
}

#define CALL(t, m)                                                            \
	.source = FROM_CALL, .type = (t), .field = HWTDI_FIELD(row, m)
#define BIT(n) (UINT32_C(1) << (n))
#define IF_KIND(set)                                                          \
	{                                                                     \
		HWTDI_IF_ONE_OF, HWTDI_FIELD(row, call.kind), (set)           \
	}
#define IF_FLAGS(set)                                                         \
	{                                                                     \
		HWTDI_IF_BITS, HWTDI_FIELD(row, call.flags), (set)            \
	}
#define IF_ID(member)                                                         \
	{                                                                     \
		HWTDI_IF_ID, HWTDI_FIELD(row, member), 0                      \
	}
#define IF_SET(member)                                                        \
	{                                                                     \
		HWTDI_IF_SET, HWTDI_FIELD(row, member), 0                     \
	}
#define IF_COUNTED                                                            \
	{                                                                     \
		HWTDI_IF_BITS, HWTDI_FIELD(row, known), COUNTED               \
	}
/* An ended call, or a gap: times and sums are those of it. */
#define IF_OVER IF_KIND(BIT(HWTD_CALL_LEAVE) | BIT(HWTD_CALL_GAP))
#define IF_CALL IF_KIND(BIT(HWTD_CALL_ENTER) | BIT(HWTD_CALL_LEAVE))
#define IF_ENDED IF_KIND(BIT(HWTD_CALL_LEAVE))
#define IF_TIMED                                                              \
	IF_OVER, IF_FLAGS(HWTD_CALLF_BEGIN_TIME), IF_FLAGS(HWTD_CALLF_END_TIME)
#define IF_CALL_TIMED                                                         \
	IF_ENDED, IF_FLAGS(HWTD_CALLF_BEGIN_TIME),                            \
	    IF_FLAGS(HWTD_CALLF_END_TIME)

#define FLAG(name_, bit, meaning_)                                            \
	{                                                                     \
		name_, 0, CALL(HWTDI_BOOL, call.flags), .bits = (bit),        \
							.meaning = (meaning_) \
	}

static const struct hwtdi_column columns[] = {
	{ "id", 0, CALL(HWTDI_U64, call.id), .conditions = { IF_CALL },
	    .meaning = "number of the call; its begin and its end have the "
		       "same" },
	{ "kind", 0, CALL(HWTDI_NAME, call.kind), .name_of = kind_name,
	    .meaning = "what the row says: a call began, is over, or a gap" },
	{ "function", 0, CALL(HWTDI_STRING, function),
	    .conditions = { IF_SET(function) },
	    .meaning = "function that was called" },
	{ "image", 0, CALL(HWTDI_STRING, image),
	    .conditions = { IF_SET(image) },
	    .meaning = "file that has the function" },
	{ "type", 0, CALL(HWTDI_NAME, call.type), .conditions = { IF_CALL },
	    .name_of = hwtd_call_type_name, .meaning = "what made the call" },
	{ "end", 0, CALL(HWTDI_NAME, call.end), .conditions = { IF_ENDED },
	    .name_of = hwtd_call_end_name, .meaning = "how it ended" },
	{ "gap_reason", 0, CALL(HWTDI_NAME, call.end),
	    .conditions = { IF_KIND(BIT(HWTD_CALL_GAP)) },
	    .name_of = hwtd_gap_reason_name,
	    .meaning = "why nothing is known" },
	{ "depth", 0, CALL(HWTDI_I32, call.depth),
	    .meaning = "level: 0 for the first call of a stack, below 0 for "
		       "its callers" },
	{ "pid", 0, CALL(HWTDI_U32, pid), .conditions = { IF_ID(pid) },
	    .meaning = "process id" },
	{ "tid", 0, CALL(HWTDI_U32, tid), .conditions = { IF_ID(tid) },
	    .meaning = "thread id" },
	{ "thread", 0, CALL(HWTDI_U32, call.thread),
	    .meaning = "number of the thread, from 0" },
	{ "stack", 0, CALL(HWTDI_U32, call.stack),
	    .meaning = "stack of the thread, from 0" },
	{ "stream", 0, CALL(HWTDI_U32, stream),
	    .conditions = { IF_ID(stream) },
	    .meaning = "id of the stream, where nothing else tells threads "
		       "apart" },
	{ "begin_ns", 0, CALL(HWTDI_U64, call.begin_ns),
	    .conditions = { IF_FLAGS(HWTD_CALLF_BEGIN_TIME) },
	    .meaning = "when it began, on the clock of the trace",
	    .unit = "ns" },
	{ "end_ns", 0, CALL(HWTDI_U64, call.end_ns),
	    .conditions = { IF_OVER, IF_FLAGS(HWTD_CALLF_END_TIME) },
	    .meaning = "when it ended", .unit = "ns" },
	{ "ns", 0, CALL(HWTDI_U64, call.ns), .conditions = { IF_CALL_TIMED },
	    .meaning = "time in it and what it called, without gaps and "
		       "while the thread did not run",
	    .unit = "ns" },
	{ "self_ns", 0, CALL(HWTDI_U64, call.self_ns),
	    .conditions = { IF_CALL_TIMED }, .meaning = "time in itself only",
	    .unit = "ns" },
	{ "gap_ns", 0, CALL(HWTDI_U64, call.gap_ns),
	    .conditions = { IF_TIMED }, .meaning = "time in gaps",
	    .unit = "ns" },
	{ "off_ns", 0, CALL(HWTDI_U64, call.off_ns),
	    .conditions = { IF_CALL_TIMED },
	    .meaning = "time while the thread did not run", .unit = "ns" },
	{ "self_gap_ns", 0, CALL(HWTDI_U64, call.self_gap_ns),
	    .conditions = { IF_CALL_TIMED },
	    .meaning = "time in gaps, in itself only", .unit = "ns" },
	{ "self_off_ns", 0, CALL(HWTDI_U64, call.self_off_ns),
	    .conditions = { IF_CALL_TIMED },
	    .meaning = "time while the thread did not run, in itself only",
	    .unit = "ns" },
	{ "insns", 0, CALL(HWTDI_U64, call.insns),
	    .conditions = { IF_ENDED, IF_COUNTED },
	    .meaning = "executed in it and in what it called",
	    .unit = "instructions" },
	{ "self_insns", 0, CALL(HWTDI_U64, call.self_insns),
	    .conditions = { IF_ENDED, IF_COUNTED },
	    .meaning = "executed in itself only", .unit = "instructions" },
	{ "cycles", 0, CALL(HWTDI_U64, call.cycles),
	    .conditions = { IF_ENDED, IF_FLAGS(HWTD_CALLF_CYCLES) },
	    .meaning = "CPU cycles in it and in what it called",
	    .unit = "cycles" },
	{ "self_cycles", 0, CALL(HWTDI_U64, call.self_cycles),
	    .conditions = { IF_ENDED, IF_FLAGS(HWTD_CALLF_CYCLES) },
	    .meaning = "CPU cycles in itself only", .unit = "cycles" },
	{ "gaps", 0, CALL(HWTDI_U32, call.gaps), .conditions = { IF_ENDED },
	    .meaning = "gaps in it and in what it called" },
	{ "gap_bytes", 0, CALL(HWTDI_U64, call.gap_bytes),
	    .conditions = { IF_OVER }, .meaning = "trace in gaps",
	    .unit = "bytes" },
	{ "address", 0, CALL(HWTDI_U64, call.address),
	    .conditions = { IF_FLAGS(HWTD_CALLF_ADDRESS) },
	    .meaning = "virtual address at which it began" },
	{ "call_site", 0, CALL(HWTDI_U64, call.call_site),
	    .conditions = { IF_FLAGS(HWTD_CALLF_SITE) },
	    .meaning = "virtual address in the instruction that called" },
	{ "section", 0, CALL(HWTDI_U32, call.section),
	    .conditions = { IF_ID(call.section) },
	    .meaning = "id of the piece of an image that address lies in" },
	{ "call_section", 0, CALL(HWTDI_U32, call.call_section),
	    .conditions = { IF_ID(call.call_section) },
	    .meaning = "the same of call_site" },
	{ "context", 0, CALL(HWTDI_U32, call.context),
	    .conditions = { IF_ID(call.context) },
	    .meaning = "id of who executed when it began" },
	{ "begin_insns", 0, CALL(HWTDI_U64, call.begin_insns),
	    .conditions = { IF_COUNTED },
	    .meaning = "executed by its thread before it began",
	    .unit = "instructions" },
	{ "end_insns", 0, CALL(HWTDI_U64, call.end_insns),
	    .conditions = { IF_OVER, IF_COUNTED },
	    .meaning = "executed by its thread before it ended",
	    .unit = "instructions" },
	FLAG("begin_estimated", HWTD_CALLF_BEGIN_ESTIMATED,
	    "begin_ns is that of the last timing packet before"),
	FLAG("end_estimated", HWTD_CALLF_END_ESTIMATED,
	    "end_ns is that of the last timing packet before"),
	FLAG("begin_interpolated", HWTD_CALLF_BEGIN_INTERPOLATED,
	    "begin_ns lies between two times of the hardware, by "
	    "instructions"),
	FLAG("end_interpolated", HWTD_CALLF_END_INTERPOLATED,
	    "end_ns lies between two times of the hardware, by "
	    "instructions"),
	FLAG("began_before", HWTD_CALLF_BEGAN_BEFORE,
	    "it began before what was decoded of its thread"),
	FLAG("began_unseen", HWTD_CALLF_BEGAN_UNSEEN,
	    "it began in a gap, or while nothing was traced"),
	FLAG("unproven", HWTD_CALLF_UNPROVEN,
	    "there was a gap in it, and nothing showed that it was still "
	    "there"),
	FLAG("untraced", HWTD_CALLF_UNTRACED, "what it did was not traced"),
	FLAG("guessed", HWTD_CALLF_GUESSED,
	    "several stacks waited to go on here, and one was taken"),
	FLAG("switched", HWTD_CALLF_SWITCHED,
	    "other stacks of the thread ran in between, too"),
};

static const struct hwtdi_column_table table = { columns,
	sizeof(columns) / sizeof(columns[0]), 0, 0 };

static void
set_row(struct call_rows *r, const struct hwtd_call *call, struct row *row)
{
	struct hwtd_call_function function = { .size = sizeof(function) };
	struct hwtd_call_thread thread = { .size = sizeof(thread),
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID };

	row->call = *call;
	row->known = r->counted ? COUNTED : 0;
	if (call->function != HWTD_NO_ID)
		(void)hwtd_calls_function(r->calls, call->function, &function);
	row->function = function.name;
	row->image = function.image;
	(void)hwtd_calls_thread(r->calls, call->thread, &thread);
	row->pid = thread.pid;
	row->tid = thread.tid;
	row->stream = thread.stream;
}

static int
read_rows(struct hwtdi_rows *head, size_t most, size_t *n_out,
    struct hwtd_error *err)
{
	struct call_rows *r = (struct call_rows *)(void *)head;
	struct hwtd_call_batch batch = { .size = sizeof(batch),
		.calls = r->chunk,
		.stride = sizeof(r->chunk[0]),
		.cap = most };
	int rc = hwtd_calls_read(r->calls, &batch, err);

	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < batch.n; i++)
		set_row(r, &r->chunk[i], &r->rows[i]);
	head->n = *n_out = batch.n;
	return (HWTD_OK);
}

static int
gather(struct hwtdi_rows *head, unsigned int source,
    struct hwtdi_column_filler *filler, struct hwtd_error *err)
{
	struct call_rows *r = (struct call_rows *)(void *)head;

	(void)source;
	(void)err;
	hwtdi_rows_put_all(filler, r->rows, sizeof(r->rows[0]), head->n);
	return (HWTD_OK);
}

static void
close_rows(struct hwtdi_rows *head)
{
	struct call_rows *r = (struct call_rows *)(void *)head;
	struct hwtd_calls *calls = r->calls;

	hwtdi_rows_destroy(head, sizeof(*r));
	hwtd_calls_close(calls);
}

static const struct hwtdi_rows_ops ops = {
	.table = &table,
	.n_sources = SOURCES,
	.read = read_rows,
	.gather = gather,
	.close = close_rows,
};

int
hwtd_calls_export(struct hwtd_calls *calls,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err)
{
	struct hwtd_export_options o;
	struct call_rows *r;
	int rc;

	if (calls == NULL || stream_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no calls or no place for the stream"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	r = hwtdi_rows_create(hwtdi_calls_library(calls), &ops, sizeof(*r),
	    err);
	if (r == NULL)
		return (HWTD_E_NOMEM);
	r->calls = calls;
	r->counted = hwtdi_calls_trace(calls) != NULL;
	rc = hwtdi_column_stream(&r->head, &o, stream_out, err);
	if (rc != HWTD_OK)
		hwtdi_rows_destroy(&r->head, sizeof(*r));
	return (rc);
}
