/*
 * Records as columns.
 */
#include <string.h>

#include "base/fail.h"
#include "export/columns/column_batch.h"
#include "trace/trace_model.h"

/* Sources. */
enum {
	FROM_RECORD,
	SOURCES
};

struct row {
	struct hwtd_record record;
	uint64_t index;
	/* In hex; "": not known. */
	char build_id[2 * HWTD_MAX_BUILD_ID + 1];
};

struct record_rows {
	struct hwtdi_rows head;
	struct hwtd_trace *trace;
	uint64_t next, n_records;
	struct row rows[HWTDI_CHUNK];
};

#define RECORD(t, m)                                                          \
	.source = FROM_RECORD, .type = (t), .field = HWTDI_FIELD(row, m)
#define IF_FLAGS(set)                                                         \
	{                                                                     \
		HWTDI_IF_BITS, HWTDI_FIELD(row, record.flags), (set)          \
	}
#define IF_ID(member)                                                         \
	{                                                                     \
		HWTDI_IF_ID, HWTDI_FIELD(row, member), 0                      \
	}
#define IF_SET(member)                                                        \
	{                                                                     \
		HWTDI_IF_SET, HWTDI_FIELD(row, member), 0                     \
	}
#define FLAG(name_, bit, meaning_)                                            \
	{                                                                     \
		name_, 0, RECORD(HWTDI_BOOL, record.flags),                   \
		    .bits = (bit), .meaning = (meaning_)                      \
	}

static const struct hwtdi_column columns[] = {
	{ "index", 0, RECORD(HWTDI_U64, index),
	    .meaning = "number of the record, from 0" },
	{ "kind", 0, RECORD(HWTDI_NAME, record.type),
	    .name_of = hwtd_record_type_name, .meaning = "what it says" },
	{ "time_ns", 0, RECORD(HWTDI_U64, record.time_ns),
	    .conditions = { IF_FLAGS(HWTD_RECF_TIME) },
	    .meaning = "time on the clock of the trace", .unit = "ns" },
	{ "cpu", 0, RECORD(HWTDI_U32, record.cpu),
	    .conditions = { IF_ID(record.cpu) }, .meaning = "CPU" },
	{ "pid", 0, RECORD(HWTDI_U32, record.pid),
	    .conditions = { IF_ID(record.pid) }, .meaning = "process id" },
	{ "tid", 0, RECORD(HWTDI_U32, record.tid),
	    .conditions = { IF_ID(record.tid) }, .meaning = "thread id" },
	{ "name", 0, RECORD(HWTDI_STRING, record.name),
	    .conditions = { IF_SET(record.name) }, .meaning = "path or name" },
	{ "addr", 0, RECORD(HWTDI_U64, record.addr),
	    .conditions = { IF_FLAGS(HWTD_RECF_ADDR) },
	    .meaning = "virtual address" },
	{ "len", 0, RECORD(HWTDI_U64, record.len),
	    .conditions = { IF_FLAGS(HWTD_RECF_LEN) },
	    .meaning = "from addr on", .unit = "bytes" },
	{ "file_off", 0, RECORD(HWTDI_U64, record.file_off),
	    .conditions = { IF_FLAGS(HWTD_RECF_FILE_OFF) },
	    .meaning = "place in the file of the image", .unit = "bytes" },
	{ "base", 0, RECORD(HWTDI_U64, record.base),
	    .conditions = { IF_FLAGS(HWTD_RECF_BASE) },
	    .meaning = "virtual address where the interpreter was loaded" },
	{ "value", 0, RECORD(HWTDI_U64, record.value),
	    .conditions = { IF_FLAGS(HWTD_RECF_VALUE) },
	    .meaning = "a number, by kind" },
	{ "stream", 0, RECORD(HWTDI_U32, record.stream),
	    .conditions = { IF_ID(record.stream) },
	    .meaning = "id of the stream that stream_off speaks of" },
	{ "stream_off", 0, RECORD(HWTDI_U64, record.stream_off),
	    .conditions = { IF_FLAGS(HWTD_RECF_STREAM_OFF) },
	    .meaning = "it holds from this byte of the stream on",
	    .unit = "bytes" },
	{ "image", 0, RECORD(HWTDI_U32, record.image),
	    .conditions = { IF_ID(record.image) },
	    .meaning = "id of the image" },
	{ "build_id", 0, RECORD(HWTDI_TEXT, build_id),
	    .conditions = { IF_SET(record.n_build_id) },
	    .meaning = "of the file, in hexadecimal" },
	{ "vmid", 0, RECORD(HWTDI_U32, record.vmid),
	    .conditions = { IF_FLAGS(HWTD_RECF_VMID) },
	    .meaning = "id of the virtual machine" },
	FLAG("kernel_space", HWTD_RECF_KERNEL_SPACE,
	    "addr is of kernel space, whatever the process"),
	FLAG("hypervisor_space", HWTD_RECF_HYPERVISOR_SPACE,
	    "addr is of a hypervisor's space, whatever the process"),
	FLAG("anonymous", HWTD_RECF_ANONYMOUS, "the mapping is not of a file"),
	FLAG("jit", HWTD_RECF_JIT, "addr holds code made at run time"),
	FLAG("switch_out", HWTD_RECF_SWITCH_OUT,
	    "pid and tid are those that stop running"),
};

static const struct hwtdi_column_table table = { columns,
	sizeof(columns) / sizeof(columns[0]), 0, 0 };

static void
set_build_id(struct row *row)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = row->record.n_build_id;

	if (n > HWTD_MAX_BUILD_ID)
		n = HWTD_MAX_BUILD_ID;
	for (size_t i = 0; i < n; i++) {
		row->build_id[2 * i] = digits[row->record.build_id[i] >> 4];
		row->build_id[2 * i + 1] = digits[row->record.build_id[i] &
		    15];
	}
	row->build_id[2 * n] = '\0';
}

static int
read_rows(struct hwtdi_rows *head, size_t most, size_t *n_out,
    struct hwtd_error *err)
{
	struct record_rows *r = (struct record_rows *)(void *)head;
	size_t n = 0;

	if (r->next == r->n_records)
		return (HWTD_END);
	for (; n < most && r->next < r->n_records; n++) {
		struct row *row = &r->rows[n];
		int rc;

		row->index = r->next++;
		row->record.size = sizeof(row->record);
		rc = hwtd_trace_record(r->trace, row->index, &row->record);
		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc, "no record %llu",
			    (unsigned long long)row->index));
		set_build_id(row);
	}
	head->n = *n_out = n;
	return (HWTD_OK);
}

static int
gather(struct hwtdi_rows *head, unsigned int source,
    struct hwtdi_column_filler *filler, struct hwtd_error *err)
{
	struct record_rows *r = (struct record_rows *)(void *)head;

	(void)source;
	(void)err;
	hwtdi_rows_put_all(filler, r->rows, sizeof(r->rows[0]), head->n);
	return (HWTD_OK);
}

static void
close_rows(struct hwtdi_rows *head)
{
	struct record_rows *r = (struct record_rows *)(void *)head;
	struct hwtd_trace *trace = r->trace;

	hwtdi_rows_destroy(head, sizeof(*r));
	hwtd_trace_close(trace);
}

static const struct hwtdi_rows_ops ops = {
	.table = &table,
	.n_sources = SOURCES,
	.read = read_rows,
	.gather = gather,
	.close = close_rows,
};

int
hwtd_records_export(struct hwtd_trace *trace,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_export_options o;
	struct record_rows *r;
	int rc;

	if (trace == NULL || stream_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no trace or no place for the stream"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK && !hwtdi_trace_sealed(trace))
		rc = hwtdi_fail(err, HWTD_E_STATE, "the trace is not sealed");
	if (rc != HWTD_OK)
		return (rc);
	r = hwtdi_rows_create(hwtdi_trace_library(trace), &ops, sizeof(*r),
	    err);
	if (r == NULL)
		return (HWTD_E_NOMEM);
	(void)hwtd_trace_info(trace, &info);
	r->trace = trace;
	r->n_records = info.n_records;
	rc = hwtdi_column_stream(&r->head, &o, stream_out, err);
	if (rc == HWTD_OK)
		(void)hwtdi_trace_hold(trace);
	else
		hwtdi_rows_destroy(&r->head, sizeof(*r));
	return (rc);
}
