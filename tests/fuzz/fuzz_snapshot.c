/*
 * Fuzz harness of trace-and-debug snapshots: texts that end with a NUL each,
 * of snapshot.ini, of the devices "c" and "s", and of the trace "t"; behind
 * them the bytes of the file "b" beside them.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_sink.h"

#define MAX_INPUT ((size_t)1 << 16)

static char dir[] = P_tmpdir "/fuzz_snapshot.XXXXXX";
static const char *const names[] = { "snapshot.ini", "c", "s", "t", "b" };

#define N_NAMES (sizeof(names) / sizeof(names[0]))

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
	for (size_t i = 0; i < N_NAMES; i++)
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

static void
check_trace(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_record r = { .size = sizeof(r) };

	(void)hwtd_trace_info(trace, &info);
	if (strcmp(info.format, "snapshot") != 0)
		return;
	for (uint32_t i = 0; i < info.n_streams; i++)
		fuzz_check_sink_stream(trace, i);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &r) == HWTD_OK; i++)
		FUZZ_CHECK(r.type == HWTD_REC_MMAP && r.name != NULL &&
			(r.flags & HWTD_RECF_TIME) != 0,
		    "record %" PRIu64 " of type %u", i, r.type);
}

static void
check_config(const uint8_t *text, size_t n)
{
	struct hwtd_coresight_config c = { .size = sizeof(c) };
	int rc = hwtd_coresight_parse((const char *)text, n, &c, NULL);
	const char *name;
	uint32_t value;
	size_t i = 0;

	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_CORRUPT, "config: %d", rc);
	if (rc != HWTD_OK)
		return;
	FUZZ_CHECK(c.protocol != HWTD_CS_UNKNOWN &&
		c.trace_id <= HWTD_CS_LAST_ID,
	    "protocol %u of ID %u", c.protocol, c.trace_id);
	while (hwtd_coresight_register(&c, i, &name, &value) == HWTD_OK)
		i++;
	FUZZ_CHECK(i > 0, "protocol %u without registers", c.protocol);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	static bool ready;
	uint64_t held = 0;
	int rc;

	if (size > MAX_INPUT)
		return (0);
	if (!ready) {
		FUZZ_CHECK(mkdtemp(dir) != NULL, "no temporary folder");
		(void)atexit(clean_up);
		ready = true;
	}
	for (size_t i = 0; i < N_NAMES; i++) {
		const uint8_t *end = size > 0 && i + 1 < N_NAMES
		    ? memchr(data, 0, size)
		    : NULL;
		const size_t n = end != NULL ? (size_t)(end - data) : size;

		put(i, data, n);
		if (i == 2)
			check_config(data, n);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	opts.max_memory = (uint64_t)1 << 28;
	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	rc = hwtd_trace_open(ctx, path_of(0), NULL, &trace, &err);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED ||
		rc == HWTD_E_CORRUPT || rc == HWTD_E_IO ||
		rc == HWTD_E_UNSUPPORTED || rc == HWTD_E_LIMIT,
	    "open: %d %s", rc, err.message);
	if (rc == HWTD_OK) {
		check_trace(trace);
		hwtd_trace_close(trace);
	}
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
