/*
 * Trace-and-debug snapshots, written to a folder and opened.
 */
#include "support/snapshot_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/frame_writer.h"

static void
keep_log(void *arg, const struct hwtd_log_record *record)
{
	struct snapshot_folder *f = arg;
	const size_t n = strlen(f->log);

	(void)snprintf(f->log + n, sizeof(f->log) - n, "%s\n",
	    record->message);
}

void
snapshot_put_bytes(struct snapshot_folder *f, const char *name,
    const void *bytes, size_t n)
{
	char path[300];

	write_file(temp_dir_file(&f->dir, name, path), bytes, n);
}

void
snapshot_put(struct snapshot_folder *f, const char *name, const char *text)
{
	snapshot_put_bytes(f, name, text, strlen(text));
}

static void
put_text(struct frame_writer *w, uint8_t id, const char *text, size_t *at,
    size_t n)
{
	while (n-- > 0 && text[*at] != '\0')
		frame_writer_put(w, id, (uint8_t)text[(*at)++]);
}

/* The bytes of three sources by turns. */
static void
put_sink(struct snapshot_folder *f)
{
	size_t etm = 0, stm = 0, other = 0;
	struct frame_writer w;
	uint8_t frames[512];

	frame_writer_init(&w, frames, sizeof(frames));
	for (size_t i = 0; i < 40; i++) {
		put_text(&w, 0x12, SNAPSHOT_ETM_BYTES, &etm, 5);
		put_text(&w, 0x20, SNAPSHOT_STM_BYTES, &stm, 2);
		put_text(&w, 0x33, SNAPSHOT_OTHER_BYTES, &other, 1);
	}
	frame_writer_finish(&w);
	snapshot_put_bytes(f, "etb.bin", frames, w.n);
}

int
snapshot_set_up(void **state)
{
	struct snapshot_folder *f = calloc(1, sizeof(*f));
	struct hwtd_context_options o = { .size = sizeof(o) };

	f->err.size = sizeof(f->err);
	temp_dir_create(&f->dir);
	failing_allocator_init(&f->allocator);
	o.allocator = &f->allocator.allocator;
	o.log = keep_log;
	o.log_arg = f;
	assert_int_equal(hwtd_context_create(&o, &f->ctx, NULL), HWTD_OK);
	snapshot_put(f, "snapshot.ini", SNAPSHOT_ROOT);
	snapshot_put(f, "cpu_0.ini", SNAPSHOT_CORE0);
	snapshot_put(f, "cpu_1.ini", SNAPSHOT_CORE1);
	snapshot_put(f, "etm.ini", SNAPSHOT_ETM);
	snapshot_put(f, "stm.ini", SNAPSHOT_STM);
	snapshot_put(f, "trace.ini", SNAPSHOT_TRACE);
	snapshot_put(f, "mem.bin", SNAPSHOT_MEMORY);
	put_sink(f);
	*state = f;
	return (0);
}

int
snapshot_tear_down(void **state)
{
	struct snapshot_folder *f = *state;
	uint64_t now = 1;

	hwtd_context_memory(f->ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(f->ctx);
	assert_int_equal(f->allocator.blocks, 0);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

int
snapshot_try_open(struct snapshot_folder *f, const char *name,
    struct hwtd_trace **out)
{
	char path[300];

	f->log[0] = '\0';
	if (name == NULL)
		return (hwtd_trace_open(f->ctx, f->dir.path, NULL, out,
		    &f->err));
	return (hwtd_trace_open(f->ctx, temp_dir_file(&f->dir, name, path),
	    NULL, out, &f->err));
}

struct hwtd_trace *
snapshot_must_open(struct snapshot_folder *f)
{
	struct hwtd_trace *trace = NULL;
	int rc = snapshot_try_open(f, NULL, &trace);

	if (rc != HWTD_OK)
		fail_msg("%d %s", rc, f->err.message);
	return (trace);
}

struct hwtd_stream_desc
snapshot_stream_at(const struct hwtd_trace *trace, uint32_t id)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_stream(trace, id, &d), HWTD_OK);
	return (d);
}

void
snapshot_assert_bytes(const struct hwtd_trace *trace, uint32_t stream,
    const char *bytes)
{
	char got[512];
	size_t n = 0;

	assert_int_equal(hwtd_trace_read_bytes(trace, stream, 0, got,
			     sizeof(got), &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, strlen(bytes));
	assert_memory_equal(got, bytes, n);
}

void
snapshot_assert_counts(const struct hwtd_trace *trace, uint32_t streams,
    uint32_t damages)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(info.n_streams, streams);
	assert_int_equal(info.n_damages, damages);
}

void
snapshot_assert_all(const struct hwtd_trace *trace)
{
	struct hwtd_stream_desc d = snapshot_stream_at(trace, 0);
	struct hwtd_sink_info sink = { .size = sizeof(sink) };

	snapshot_assert_counts(trace, 3, 0);
	assert_int_equal(d.tech, HWTD_TECH_CORESIGHT);
	assert_int_equal(d.framing, HWTD_FRAMING_MEMORY);
	assert_string_equal(d.name, "ETB_0");
	assert_int_equal(d.cpu, HWTD_NO_ID);
	assert_null(d.coresight);
	d = snapshot_stream_at(trace, 1);
	assert_int_equal(d.sink_plus_1, 1);
	assert_string_equal(d.name, "ETM_1");
	assert_int_equal(d.cpu, 1);
	assert_int_equal(d.pid, HWTD_NO_ID);
	assert_int_equal(d.coresight->protocol, HWTD_CS_ETMV4);
	assert_int_equal(d.coresight->arch, HWTD_ARM_ARCH_V8_3);
	assert_int_equal(d.coresight->profile, HWTD_ARM_PROFILE_A);
	assert_int_equal(d.coresight->trace_id, 0x12);
	assert_int_equal(d.coresight->configr, 0x8c1);
	assert_int_equal(d.coresight->idr[0], 0x28000ea1);
	assert_int_equal(d.coresight->idr[1], 0x4100f403);
	assert_int_equal(d.coresight->idr[2], 0x488);
	assert_int_equal(d.coresight->idr[8], 0);
	snapshot_assert_bytes(trace, 1, SNAPSHOT_ETM_BYTES);
	d = snapshot_stream_at(trace, 2);
	assert_int_equal(d.sink_plus_1, 1);
	assert_string_equal(d.name, "STM_0");
	assert_int_equal(d.cpu, HWTD_NO_ID);
	assert_int_equal(d.coresight->protocol, HWTD_CS_STM);
	assert_int_equal(d.coresight->trace_id, 0x20);
	assert_int_equal(d.coresight->stmtcsr, 0x200007);
	snapshot_assert_bytes(trace, 2, SNAPSHOT_STM_BYTES);
	assert_int_equal(hwtd_trace_sink(trace, 0, &sink), HWTD_OK);
	assert_int_equal(sink.id_bytes[0x12], strlen(SNAPSHOT_ETM_BYTES));
	assert_int_equal(sink.id_bytes[0x33], strlen(SNAPSHOT_OTHER_BYTES));
	assert_int_equal(sink.lost_bytes, 0);
}
