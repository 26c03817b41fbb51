/*
 * Fuzz harness of exports of calls.  An input is four bytes of choices (what is left
 * out, how deep, where files are split, which flags) and text of perf-script(1).
 *
 * In each format: files are JSON or packets, and UTF-8, whatever names there are;
 * begins and ends nest; bytes and files are counted; stopping early leaves files
 * that are whole; memory is given back.
 */
#include <stdlib.h>
#include <string.h>

#include <hwtdecode/format.h>

#include "fuzz.h"
#include "fuzz_columns.h"
#include "support/json_check.h"
#include "support/slices.h"

#define MAX_INPUT ((size_t)1 << 16)
/* A chosen one takes this. */
#define FILES_MOST 100000u

struct out {
	uint32_t format;
	char *bytes;
	size_t n, cap;
	uint64_t written;
	uint32_t files;
};

static void
check_file(struct out *out)
{
	struct slices s = { 0 };
	size_t at = 0;
	bool read = true;

	if (out->format == HWTD_FORMAT_PERFETTO) {
		read = slices_of_perfetto(&s, (const uint8_t *)out->bytes,
		    out->n);
	} else {
		FUZZ_CHECK(json_check(out->bytes, out->n, &at),
		    "format %u: no JSON from byte %zu on", out->format, at);
		if (out->format == HWTD_FORMAT_CHROME)
			read = slices_of_chrome(&s, out->bytes, out->n);
		if (out->format == HWTD_FORMAT_SPEEDSCOPE)
			read = slices_of_speedscope(&s, out->bytes, out->n);
	}
	FUZZ_CHECK(read, "format %u: not as it should be", out->format);
	FUZZ_CHECK(slices_nest(&s), "format %u: does not nest", out->format);
	out->n = 0;
	out->files++;
}

static int
take(void *arg, const void *bytes, size_t n)
{
	struct out *out = arg;

	FUZZ_CHECK(n > 0, "nothing is written");
	if (out->n + n > out->cap) {
		out->cap = 2 * (out->n + n);
		out->bytes = realloc(out->bytes, out->cap);
		FUZZ_CHECK(out->bytes != NULL, "out of memory");
	}
	memcpy(out->bytes + out->n, bytes, n);
	out->n += n;
	out->written += n;
	return (0);
}

static int
next(void *arg)
{
	check_file(arg);
	return (0);
}

/* False: it is no text that is known. */
static bool
export_one(struct hwtd_context *ctx, const char *path, uint32_t format,
    const uint8_t choices[4])
{
	struct hwtd_calls_options how = { .size = sizeof(how),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS,
		.max_depth = 16u << (choices[3] >> 6),
		.max_stacks = 4 };
	struct out out = { .format = format };
	struct hwtd_format_options o = { .size = sizeof(o),
		.format = format,
		.flags = (choices[3] & 1 ? HWTD_EXPORT_DETAILS : 0) |
		    (choices[3] & 2 ? HWTD_EXPORT_COUNTERS : 0),
		.value = choices[3] & 4 ? HWTD_VALUE_INSNS
					: HWTD_VALUE_DEFAULT,
		.write = take,
		.next = next,
		.write_arg = &out,
		.min_ns = (uint64_t)(choices[0] & 15) * (choices[0] >> 4),
		.resolution_ns = (uint64_t)(choices[1] & 15) *
		    (choices[1] >> 4),
		.max_depth = choices[2] & 7,
		.split_bytes = (uint64_t)(choices[2] >> 3) * 200,
		.title = path };
	struct hwtd_export_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_calls *calls;
	struct hwtd_export *ex;
	int rc = hwtd_calls_open_text(ctx, path, &how, &calls, &err);

	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED, "open: %d %s",
	    rc, err.message);
	if (rc != HWTD_OK)
		return (false);
	rc = hwtd_export_open_calls(calls, &o, &ex, &err);
	FUZZ_CHECK(rc == HWTD_OK, "open: %d %s", rc, err.message);
	for (unsigned int i = 0; rc == HWTD_OK; i++) {
		rc = hwtd_export_write(ex, &err);
		if ((choices[3] & 8) != 0 && i == 0)
			hwtd_export_stop(ex);
	}
	FUZZ_CHECK(rc == HWTD_END, "write: %d %s", rc, err.message);
	check_file(&out);
	FUZZ_CHECK(hwtd_export_info(ex, &info) == HWTD_OK &&
		info.bytes == out.written && info.files == out.files &&
		info.files < FILES_MOST,
	    "%llu bytes and %u files, of %llu and %u",
	    (unsigned long long)info.bytes, info.files,
	    (unsigned long long)out.written, out.files);
	hwtd_export_close(ex);
	hwtd_calls_close(calls);
	free(out.bytes);
	return (true);
}

/* Calls as columns, with names of anybody's making. */
static void
export_columns(struct hwtd_context *ctx, const char *path)
{
	const struct hwtd_calls_options how = { .size = sizeof(how),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS };
	struct ArrowArrayStream stream;
	struct hwtd_calls *calls;

	if (hwtd_calls_open_text(ctx, path, &how, &calls, NULL) != HWTD_OK)
		return;
	FUZZ_CHECK(hwtd_calls_export(calls, NULL, &stream, NULL) == HWTD_OK,
	    "no columns of calls");
	(void)fuzz_columns_read(&stream);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t formats[] = { HWTD_FORMAT_PERFETTO,
		HWTD_FORMAT_CHROME, HWTD_FORMAT_SPEEDSCOPE,
		HWTD_FORMAT_FIREFOX };
	struct hwtd_context *ctx;
	struct fuzz_file file;
	uint64_t now, peak;

	if (size < 4 || size > MAX_INPUT)
		return (0);
	fuzz_file_open(&file, data + 4, size - 4);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK,
	    "no context");
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!export_one(ctx, file.path, formats[i], data))
			break;
	export_columns(ctx, file.path);
	hwtd_context_memory(ctx, &now, &peak);
	FUZZ_CHECK(now == 0, "%llu bytes are held", (unsigned long long)now);
	hwtd_context_destroy(ctx);
	fuzz_file_close(&file);
	return (0);
}
