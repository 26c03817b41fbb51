/*
 * Lines of branches as perf-script(1) writes them, and histograms of their calls.
 */
#include "support/call_lines.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/temp_dir.h"

void
cl_say(struct call_lines *t, const char *fmt, ...)
{
	va_list args;

	if (t->cap - t->n < 512) {
		t->cap = 2 * t->cap + 4096;
		t->at = realloc(t->at, t->cap);
		assert_non_null(t->at);
	}
	va_start(args, fmt);
	t->n += (size_t)vsnprintf(t->at + t->n, t->cap - t->n, fmt, args);
	va_end(args);
	assert_true(t->n < t->cap);
}

void
cl_append(struct call_lines *t, const struct call_lines *more)
{
	for (size_t at = 0; at < more->n; at += 256)
		cl_say(t, "%.*s",
		    (int)(more->n - at < 256 ? more->n - at : 256),
		    more->at + at);
}

/* A line of a branch of thread `tid`. */
void
cl_branch(struct call_lines *t, unsigned int tid, uint64_t ns, const char *how,
    const char *from, const char *to)
{
	cl_say(t,
	    "7/%u %" PRIu64 ".%09" PRIu64
	    ": 1 branches:u: %s %s (p) => %s (p)\n",
	    tid, ns / 1000000000, ns % 1000000000, how, from, to);
}

struct hwtd_context *
cl_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

struct hwtd_histogram *
cl_histogram(const struct hwtd_histogram_options *opts)
{
	struct hwtd_context *ctx = cl_context();
	struct hwtd_histogram *h;

	assert_int_equal(hwtd_histogram_create(ctx, opts, &h, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	return (h);
}

void
cl_add(struct hwtd_histogram *h, struct hwtd_calls *calls)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int rc;

	do {
		rc = hwtd_histogram_add_calls(h, calls, &err);
	} while (rc == HWTD_OK);
	if (rc != HWTD_END)
		print_message("%s\n", err.message);
	assert_int_equal(rc, HWTD_END);
	hwtd_calls_close(calls);
}

void
cl_add_text(struct hwtd_histogram *h, const char *bytes, size_t n)
{
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = CL_CALLS };
	struct hwtd_context *ctx = cl_context();
	struct hwtd_calls *calls;
	struct temp_dir dir;
	char path[300];

	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "text", path), bytes, n);
	assert_int_equal(hwtd_calls_open_text(ctx, path, &opts, &calls, NULL),
	    HWTD_OK);
	cl_add(h, calls);
	temp_dir_remove(&dir);
	hwtd_context_destroy(ctx);
}

void
cl_row(struct hwtd_histogram *h, uint64_t no, struct hwtd_histogram_row *out)
{
	size_t n;

	assert_int_equal(hwtd_histogram_rows(h, no, out, sizeof(*out), 1, &n),
	    HWTD_OK);
	assert_int_equal(n, 1);
}

void
cl_row_of(struct hwtd_histogram *h, const char *function,
    struct hwtd_histogram_row *out)
{
	struct hwtd_histogram_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_histogram_sort(h, HWTD_HISTOGRAM_BY_NAME, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_histogram_info(h, &info), HWTD_OK);
	for (uint64_t i = 0; i < info.n_rows; i++) {
		cl_row(h, i, out);
		if (function == NULL ? out->function == NULL
				     : out->function != NULL &&
			    strcmp(out->function, function) == 0)
			return;
	}
	fail_msg("no row of %s",
	    function != NULL ? function : "what has no name");
}
