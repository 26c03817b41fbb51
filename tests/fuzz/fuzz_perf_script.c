/*
 * Fuzz harness of calls of text.  An input is a byte of choices (bits 0 and 1: how
 * many calls may be open; bit 2: no interpolation) and a file.
 *
 * Rows nest, each call ends once, times add up; small batches give the same rows;
 * each line is counted once; memory is given back.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support/call_check.h"

#define MAX_INPUT ((size_t)1 << 16)

struct rows {
	struct hwtd_call *at;
	size_t n, cap;
};

static void
keep(struct rows *rows, const struct hwtd_call *some, size_t n)
{
	if (n == 0)
		return;
	if (rows->n + n > rows->cap) {
		rows->cap = 2 * rows->cap + n;
		rows->at = realloc(rows->at, rows->cap * sizeof(*rows->at));
		FUZZ_CHECK(rows->at != NULL, "out of memory");
	}
	memcpy(rows->at + rows->n, some, n * sizeof(*some));
	rows->n += n;
}

/* All rows; false: it is no text that is known. */
static bool
read_all(struct hwtd_context *ctx, const char *path,
    const struct hwtd_calls_options *opts, size_t batch_rows, struct rows *out,
    uint64_t *span_out, struct hwtd_calls_info *info)
{
	struct hwtd_call some[64];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_calls *calls;
	int rc = hwtd_calls_open_text(ctx, path, opts, &calls, &err);

	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED, "open: %d %s",
	    rc, err.message);
	if (rc != HWTD_OK)
		return (false);
	for (;;) {
		struct hwtd_call_batch batch = { .size = sizeof(batch),
			.calls = some,
			.stride = sizeof(some[0]),
			.cap = batch_rows };

		rc = hwtd_calls_read(calls, &batch, &err);
		if (rc != HWTD_OK)
			break;
		keep(out, some, batch.n);
	}
	FUZZ_CHECK(rc == HWTD_END, "read: %d %s", rc, err.message);
	*span_out = call_check_span(calls);
	FUZZ_CHECK(hwtd_calls_info(calls, info) == HWTD_OK, "no info");
	for (uint32_t i = 0; i < info->n_functions; i++) {
		struct hwtd_call_function f = { .size = sizeof(f) };
		struct hwtd_call_times t = { .size = sizeof(t) };

		FUZZ_CHECK(hwtd_calls_function(calls, i, &f) == HWTD_OK &&
			hwtd_calls_times(calls, i, &t) == HWTD_OK &&
			t.whole <= t.calls && t.p50_ns <= t.p90_ns &&
			t.p90_ns <= t.p99_ns,
		    "function %u", i);
	}
	hwtd_calls_close(calls);
	return (true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS |
		    HWTD_CALLS_TIMES,
		.max_stacks = 4 };
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_calls_info again = { .size = sizeof(again) };
	struct rows one = { 0 }, more = { 0 };
	struct call_check calls = { 0 };
	struct hwtd_context *ctx;
	struct fuzz_file file;
	uint64_t span, lines = 0;

	if (size < 1 || size > MAX_INPUT)
		return (0);
	opts.max_depth = 16u << (data[0] & 3);
	if ((data[0] & 4) != 0)
		opts.flags |= HWTD_CALLS_NO_INTERPOLATION;
	fuzz_file_open(&file, data + 1, size - 1);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK,
	    "no context");
	if (read_all(ctx, file.path, &opts, 64, &one, &span, &info)) {
		for (size_t i = 0; i < one.n; i++)
			FUZZ_CHECK(call_check_row(&calls, &one.at[i]), "%s",
			    calls.text);
		FUZZ_CHECK(info.calls == calls.begun, "calls");
		FUZZ_CHECK(call_check_end(&calls, span), "%s", calls.text);
		for (size_t i = 1; i < size; i++)
			lines += data[i] == '\n';
		lines += data[size - 1] != '\n';
		FUZZ_CHECK(info.lines == lines && info.bad_lines <= lines &&
			info.bytes == size - 1,
		    "%llu lines of %llu", (unsigned long long)info.lines,
		    (unsigned long long)lines);
		FUZZ_CHECK(read_all(ctx, file.path, &opts, 3, &more, &span,
			       &again) &&
			one.n == more.n &&
			(one.n == 0 ||
			    memcmp(one.at, more.at, one.n * sizeof(*one.at)) ==
				0),
		    "other rows in small batches");
	}
	free(one.at);
	free(more.at);
	hwtd_context_destroy(ctx);
	fuzz_file_close(&file);
	return (0);
}
