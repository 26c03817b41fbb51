/*
 * Fuzz harness of LLDB's trace bundles: a text, up to the first NUL, and
 * behind that the bytes of the files "t" and "s" beside it.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_rows.h"

#define MAX_INPUT ((size_t)1 << 16)
#define MAX_ROWS 20000

static char dir[] = P_tmpdir "/fuzz_lldb.XXXXXX";
static const char *const names[] = { "bundle", "s", "t" };

static const char *
path_of(size_t i)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
	return (path);
}

static void
clean_up(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(path_of(i));
	(void)rmdir(dir);
}

static void
put(size_t i, const uint8_t *bytes, size_t n)
{
	FILE *file = fopen(path_of(i), "wb");

	FUZZ_CHECK(file != NULL && fwrite(bytes, 1, n, file) == n &&
		fclose(file) == 0,
	    "cannot write %s", path_of(i));
}

/* Some stream is of this CPU. */
static bool
has_cpu(const struct hwtd_trace *trace, uint32_t n_streams, uint32_t cpu)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };

	for (uint32_t i = 0; i < n_streams; i++)
		if (hwtd_trace_stream(trace, i, &d) == HWTD_OK && d.cpu == cpu)
			return (true);
	return (false);
}

static void
check_record(const struct hwtd_trace *trace, uint32_t n_streams,
    const struct hwtd_record *r)
{
	FUZZ_CHECK((r->flags & HWTD_RECF_TIME) != 0, "record without time");
	switch (r->type) {
	case HWTD_REC_SWITCH:
		FUZZ_CHECK(has_cpu(trace, n_streams, r->cpu),
		    "switch on CPU %u, of which nothing is traced", r->cpu);
		break;
	case HWTD_REC_THREAD_CREATE:
		FUZZ_CHECK(r->pid != HWTD_NO_ID && r->tid != HWTD_NO_ID,
		    "thread without ids");
		break;
	case HWTD_REC_MODULE_LOAD:
	case HWTD_REC_KERNEL:
		FUZZ_CHECK(r->name != NULL && strchr(r->name, '/') != NULL,
		    "module without a path");
		break;
	default:
		fuzz_fail(__FILE__, __LINE__, "record of type %u", r->type);
	}
}

static void
check_events(struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_rows rows;
	struct hwtd_events *ev;
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = FUZZ_KINDS };
	int rc = hwtd_events_open(trace, &opts, &ev, &err);

	FUZZ_CHECK(rc == HWTD_OK, "events: %d %s", rc, err.message);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rows);
	hwtd_events_close(ev);
	fuzz_rows_free(&rows);
}

static void
check_trace(struct hwtd_trace *trace, size_t n_bytes)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_record r = { .size = sizeof(r) };

	(void)hwtd_trace_info(trace, &info);
	if (strcmp(info.format, "lldb") != 0)
		return;
	for (uint32_t i = 0; i < info.n_streams; i++) {
		FUZZ_CHECK(hwtd_trace_stream(trace, i, &d) == HWTD_OK,
		    "no stream %u", i);
		FUZZ_CHECK(d.cpu != HWTD_NO_ID || d.tid != HWTD_NO_ID,
		    "stream %u is of nobody", i);
		FUZZ_CHECK((strcmp(d.name, "t") != 0 &&
			       strcmp(d.name, "s") != 0) ||
			d.n_bytes == n_bytes,
		    "stream %u has %" PRIu64 " of %zu bytes", i, d.n_bytes,
		    n_bytes);
	}
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &r) == HWTD_OK; i++)
		check_record(trace, info.n_streams, &r);
	if (info.n_streams <= 4)
		check_events(trace);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
	size_t n_text = end != NULL ? (size_t)(end - data) : size;
	size_t n_bytes = end != NULL ? size - n_text - 1 : 0;
	static bool ready;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t held = 0;
	int rc;

	if (size > MAX_INPUT)
		return (0);
	if (!ready) {
		FUZZ_CHECK(mkdtemp(dir) != NULL, "no temporary folder");
		(void)atexit(clean_up);
		ready = true;
	}
	put(0, data, n_text);
	put(1, data + size - n_bytes, n_bytes);
	put(2, data + size - n_bytes, n_bytes);
	opts.max_memory = (uint64_t)1 << 28;
	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	rc = hwtd_trace_open(ctx, path_of(0), NULL, &trace, &err);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED ||
		rc == HWTD_E_CORRUPT || rc == HWTD_E_IO || rc == HWTD_E_LIMIT,
	    "open: %d %s", rc, err.message);
	if (rc == HWTD_OK) {
		check_trace(trace, n_bytes);
		hwtd_trace_close(trace);
	}
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
