/*
 * Trace bundles of LLDB, written to a folder and opened.
 */
#include "support/lldb_bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/elf_writer.h"

void
bundle_put(struct bundle_fixture *f, const char *name, const void *bytes,
    size_t n)
{
	char path[300];

	write_file(temp_dir_file(&f->dir, name, path), bytes, n);
}

int
bundle_set_up(void **state)
{
	struct bundle_fixture *f = calloc(1, sizeof(*f));

	f->err.size = sizeof(f->err);
	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "any.name", f->path);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	bundle_put(f, "t", "trace", 5);
	bundle_put(f, "none", "", 0);
	*state = f;
	return (0);
}

int
bundle_tear_down(void **state)
{
	struct bundle_fixture *f = *state;
	uint64_t now = 1;

	hwtd_context_memory(f->ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

int
bundle_try_open(struct bundle_fixture *f, const char *text,
    const struct hwtd_open_options *opts, struct hwtd_trace **out)
{
	write_file(f->path, text, strlen(text));
	return (hwtd_trace_open(f->ctx, f->path, opts, out, &f->err));
}

struct hwtd_trace *
bundle_must_open(struct bundle_fixture *f, const char *text)
{
	struct hwtd_trace *trace = NULL;
	int rc = bundle_try_open(f, text, NULL, &trace);

	if (rc != HWTD_OK)
		fail_msg("%d %s", rc, f->err.message);
	return (trace);
}

struct hwtd_stream_desc
bundle_stream_at(const struct hwtd_trace *trace, uint32_t id)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_stream(trace, id, &d), HWTD_OK);
	return (d);
}

struct hwtd_record
bundle_record_at(const struct hwtd_trace *trace, uint64_t index)
{
	struct hwtd_record r = { .size = sizeof(r) };

	assert_int_equal(hwtd_trace_record(trace, index, &r), HWTD_OK);
	return (r);
}

/* A shared object whose code lies at its first byte, address 0. */
void
bundle_put_module(struct bundle_fixture *f, const char *name, const void *code,
    size_t n)
{
	struct elf_writer w;
	struct elf_writer_segment load = { .type = 1,
		.flags = 5,
		.align = 0x1000 };

	elf_writer_init(&w, true, false, 3, 62);
	load.off = elf_writer_put(&w, code, n, 0x1000);
	load.file_bytes = load.memory_bytes = n;
	(void)elf_writer_segment(&w, &load);
	elf_writer_finish(&w);
	bundle_put(f, name, w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

/* Append a record; `type` 14 has no other thread in it. */
size_t
bundle_put_switch(uint8_t *at, uint32_t type, uint32_t misc, uint32_t pid,
    uint32_t tid, uint64_t time_ns)
{
	size_t body = type == 14 ? 0 : 8;

	hwtdi_put_le(at, type, 4);
	hwtdi_put_le(at + 4, misc, 2);
	hwtdi_put_le(at + 6, 24 + body, 2);
	/* The other thread is none, as of one that exits. */
	memset(at + 8, 0xff, body);
	hwtdi_put_le(at + 8 + body, pid, 4);
	hwtdi_put_le(at + 12 + body, tid, 4);
	hwtdi_put_le(at + 16 + body, time_ns, 8);
	return (24 + body);
}
