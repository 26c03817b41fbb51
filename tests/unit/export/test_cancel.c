/*
 * The caller asks for an end, at every time that it is asked: the call says so,
 * nothing leaks, and nothing is left on disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "support/temp_dir.h"

#define PERF_DATA TEST_FIXTURES "/perf-data/"

struct asked {
	/*
	 * So often the answer is to go on; then, once, the caller wants an end.
	 * Who does not pass that on is not saved by the next question.
	 */
	uint64_t left;
	uint64_t n;
	bool wanted_an_end;
};

struct fixture {
	struct temp_dir dir;
	char path[300];
	struct asked asked;
	size_t n_packets;
};

static int
poll_asked(void *arg)
{
	struct asked *asked = arg;

	asked->n++;
	if (asked->left == 0) {
		asked->wanted_an_end = true;
		asked->left = UINT64_MAX;
		return (1);
	}
	asked->left--;
	return (0);
}

static int
take_bytes(void *arg, const void *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	(void)n;
	return (0);
}

static int
open_case(struct hwtd_context *ctx, const char *name,
    struct hwtd_trace **trace_out)
{
	char path[400], root[400];
	const char *roots = root;
	const struct hwtd_search search = { .size = sizeof(search),
		.roots = &roots,
		.n_roots = 1 };
	const struct hwtd_open_options o = { .size = sizeof(o),
		.search = &search };

	(void)snprintf(path, sizeof(path), PERF_DATA "%s/perf.data", name);
	(void)snprintf(root, sizeof(root), PERF_DATA "%s/root", name);
	return (hwtd_trace_open(ctx, path, &o, trace_out, NULL));
}

static int
open_and_close(struct hwtd_context *ctx, const char *name)
{
	struct hwtd_trace *trace;
	const int rc = open_case(ctx, name, &trace);

	if (rc == HWTD_OK)
		hwtd_trace_close(trace);
	return (rc);
}

/* What is tried: each returns the first code that is a failure. */

static int
open_files(struct fixture *x, struct hwtd_context *ctx)
{
	static const char *const names[] = {
		"cycles-and-mtc-tell-times-between",
		"compressed-records-are-one-stream",
		"snapshots-that-overlap-are-read-once",
		"one-sink-holds-trace-of-several-processors",
		"record-shorter-than-its-header-ends-the-data",
	};
	int rc = HWTD_OK;

	(void)x;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && rc == 0;
	     i++)
		rc = open_and_close(ctx, names[i]);
	return (rc);
}

static int
open_text(struct fixture *x, struct hwtd_context *ctx)
{
	static const char text[] = ".  00000000:  71 01 02 03 04 05 06 07 08"
				   "    TS 578437695752307201\n"
				   ".  00000009:  00    PAD\n";
	struct hwtd_trace *trace;
	int rc;

	write_file(x->path, (const uint8_t *)text, sizeof(text) - 1);
	rc = hwtd_trace_open(ctx, x->path, NULL, &trace, NULL);
	if (rc == HWTD_OK)
		hwtd_trace_close(trace);
	(void)remove(x->path);
	return (rc);
}

/* Code of a file beside the trace: its file has a name as long as this one. */
static int
open_jitdump(struct fixture *x, struct hwtd_context *ctx)
{
	static const char was[] = "/tmp/jitted-100-1.so";
	static const char name[] = "/tmp/jit-100000.dump";
	static const uint32_t head[10] = { 0x4a695444, 1, 40, 62, 0, 100 };
	/* A record of code that is over, and one that ends the file. */
	static const uint32_t records[8] = { 2, 16, 0, 0, 3, 16 };
	char dump[300];
	uint8_t bytes[sizeof(head) + sizeof(records)], *data;
	struct hwtd_trace *trace;
	size_t n, n_names = 0;
	int rc;

	memcpy(bytes, head, sizeof(head));
	memcpy(bytes + sizeof(head), records, sizeof(records));
	(void)temp_dir_file(&x->dir, strrchr(name, '/') + 1, dump);
	write_file(dump, bytes, sizeof(bytes));
	data = read_file(PERF_DATA "anonymous-mapping-does-not-hide-jitted-"
				   "code/perf.data",
	    &n);
	for (size_t i = 0; i + sizeof(was) <= n; i++)
		if (memcmp(data + i, was, sizeof(was)) == 0) {
			memcpy(data + i, name, sizeof(name));
			n_names++;
		}
	assert_int_equal(n_names, 1);
	write_file(x->path, data, n);
	free(data);
	rc = hwtd_trace_open(ctx, x->path, NULL, &trace, NULL);
	if (rc == HWTD_OK)
		hwtd_trace_close(trace);
	(void)remove(x->path);
	(void)remove(dump);
	return (rc);
}

static int
save_and_open(struct fixture *x, struct hwtd_context *ctx)
{
	const struct hwtd_save_options so = { .size = sizeof(so),
		.flags = HWTD_SAVE_IMAGES,
		.chunk_bytes = 128 };
	struct hwtd_trace *trace;
	uint8_t *bytes;
	size_t n;
	int rc = open_case(ctx, "cycles-and-mtc-tell-times-between", &trace);

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_trace_save(trace, x->path, &so, NULL);
	hwtd_trace_close(trace);
	if (rc != HWTD_OK)
		return (rc);
	/* Without its end, chunks are searched. */
	bytes = read_file(x->path, &n);
	memset(bytes + n / 2, 0xff, 64);
	write_file(x->path, bytes, n - 50);
	free(bytes);
	rc = hwtd_trace_open(ctx, x->path, NULL, &trace, NULL);
	if (rc == HWTD_OK)
		hwtd_trace_close(trace);
	(void)remove(x->path);
	return (rc);
}

static int
add_runs(struct hwtd_trace *trace, struct hwtd_profile *profile,
    struct hwtd_coverage *coverage)
{
	const struct hwtd_runs_options ro = { .size = sizeof(ro),
		.flags = HWTD_RUNS_EDGES };
	struct hwtd_symbolizer *symbolizer;
	struct hwtd_runs *runs;
	int rc = hwtd_symbolizer_open(trace, NULL, &symbolizer, NULL);

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_runs_open(trace, &ro, &runs, NULL);
	while (rc == HWTD_OK)
		rc = profile != NULL
		    ? hwtd_profile_add_runs(profile, runs, symbolizer, NULL)
		    : hwtd_coverage_add_runs(coverage, runs, NULL);
	hwtd_runs_close(runs);
	hwtd_symbolizer_close(symbolizer);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
add_calls(struct hwtd_trace *trace, struct hwtd_profile *profile)
{
	const struct hwtd_calls_options co = { .size = sizeof(co),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS };
	struct hwtd_calls *calls;
	int rc = hwtd_calls_open(trace, &co, &calls, NULL);

	while (rc == HWTD_OK)
		rc = hwtd_profile_add_calls(profile, calls, NULL);
	hwtd_calls_close(calls);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
write_all(struct hwtd_export *ex)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK)
		rc = hwtd_export_write(ex, NULL);
	/* A file that has a hole is not gone on with. */
	if (rc != HWTD_END)
		assert_int_equal(hwtd_export_write(ex, NULL), HWTD_E_STATE);
	hwtd_export_close(ex);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
export_profile(struct hwtd_profile *profile)
{
	static const uint32_t formats[] = { HWTD_FORMAT_FOLDED,
		HWTD_FORMAT_PPROF, HWTD_FORMAT_CALLGRIND,
		HWTD_FORMAT_SPEEDSCOPE_SAMPLED, HWTD_FORMAT_FLAME_SVG };
	struct hwtd_export *ex;
	int rc = HWTD_OK;

	for (size_t i = 0;
	     i < sizeof(formats) / sizeof(formats[0]) && rc == HWTD_OK; i++) {
		const struct hwtd_format_options fo = { .size = sizeof(fo),
			.format = formats[i],
			.write = take_bytes };

		rc = hwtd_export_open_profile(profile, &fo, &ex, NULL);
		if (rc == HWTD_OK)
			rc = write_all(ex);
	}
	return (rc);
}

static int
compare(struct hwtd_context *ctx, struct hwtd_profile *profile)
{
	struct hwtd_diff *diff;
	const int rc = hwtd_diff_create(ctx, profile, profile, NULL, &diff,
	    NULL);

	if (rc == HWTD_OK)
		hwtd_diff_destroy(diff);
	return (rc);
}

static int
profile(struct fixture *x, struct hwtd_context *ctx)
{
	struct hwtd_profile *p;
	struct hwtd_trace *trace;
	int rc = open_case(ctx, "cycles-and-mtc-tell-times-between", &trace);

	(void)x;
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_profile_create(ctx, NULL, &p, NULL);
	if (rc == HWTD_OK)
		rc = add_runs(trace, p, NULL);
	if (rc == HWTD_OK)
		rc = add_calls(trace, p);
	if (rc == HWTD_OK)
		rc = compare(ctx, p);
	if (rc == HWTD_OK)
		rc = export_profile(p);
	hwtd_profile_destroy(p);
	hwtd_trace_close(trace);
	return (rc);
}

static int
coverage(struct fixture *x, struct hwtd_context *ctx)
{
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	struct hwtd_coverage *c;
	struct hwtd_trace *trace;
	int rc = open_case(ctx, "cycles-and-mtc-tell-times-between", &trace);

	(void)x;
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_coverage_create(ctx, NULL, &c, NULL);
	if (rc == HWTD_OK)
		rc = add_runs(trace, NULL, c);
	if (rc == HWTD_OK)
		rc = hwtd_coverage_info(c, &info, NULL);
	/* It can be asked once more. */
	if (rc == HWTD_E_CANCELED) {
		x->asked.left = 1000000;
		assert_int_equal(hwtd_coverage_info(c, &info, NULL), HWTD_OK);
		assert_true(info.n_functions > 0);
	}
	hwtd_coverage_close(c);
	hwtd_trace_close(trace);
	return (rc);
}

static int
export_calls(struct fixture *x, struct hwtd_context *ctx)
{
	static const uint32_t formats[] = { HWTD_FORMAT_SPEEDSCOPE,
		HWTD_FORMAT_FIREFOX, HWTD_FORMAT_PERFETTO,
		HWTD_FORMAT_CHROME };
	struct hwtd_trace *trace;
	int rc = open_case(ctx, "cycles-and-mtc-tell-times-between", &trace);

	(void)x;
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0;
	     i < sizeof(formats) / sizeof(formats[0]) && rc == HWTD_OK; i++) {
		const struct hwtd_format_options fo = { .size = sizeof(fo),
			.format = formats[i],
			.write = take_bytes };
		const struct hwtd_calls_options co = { .size = sizeof(co),
			.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS };
		struct hwtd_calls *calls;
		struct hwtd_export *ex;

		rc = hwtd_calls_open(trace, &co, &calls, NULL);
		if (rc != HWTD_OK)
			break;
		rc = hwtd_export_open_calls(calls, &fo, &ex, NULL);
		if (rc == HWTD_OK)
			rc = write_all(ex);
		hwtd_calls_close(calls);
	}
	hwtd_trace_close(trace);
	return (rc);
}

/* A read that ended goes on: no packet is missing. */
static int
packets(struct fixture *x, struct hwtd_context *ctx)
{
	const struct hwtd_packets_options po = { .size = sizeof(po) };
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets *p;
	struct hwtd_trace *trace;
	bool ended = false;
	size_t n = 0;
	int rc = open_case(ctx, "cycles-and-mtc-tell-times-between", &trace);

	if (rc != HWTD_OK)
		return (rc);
	assert_int_equal(hwtd_packets_open(trace, &po, &p, NULL), HWTD_OK);
	while ((rc = hwtd_packets_read(p, &batch, NULL)) != HWTD_END) {
		if (rc == HWTD_OK) {
			n += batch.n;
			continue;
		}
		assert_int_equal(rc, HWTD_E_CANCELED);
		ended = true;
		x->asked.left = 1000000;
	}
	assert_true(n > 0);
	if (x->n_packets == 0)
		x->n_packets = n;
	assert_int_equal(n, x->n_packets);
	hwtd_packets_close(p);
	hwtd_trace_close(trace);
	return (ended ? HWTD_E_CANCELED : HWTD_OK);
}

static const struct {
	const char *name;
	int (*run)(struct fixture *x, struct hwtd_context *ctx);
} scripts[] = {
	{ "open", open_files },
	{ "open text", open_text },
	{ "open code made at run time", open_jitdump },
	{ "save, and open what is damaged", save_and_open },
	{ "profile", profile },
	{ "coverage", coverage },
	{ "calls", export_calls },
	{ "packets", packets },
};

static void
each_question_may_be_the_last(void **state)
{
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		int rc = HWTD_E_CANCELED;
		uint64_t n;

		for (n = 0; rc != HWTD_OK; n++) {
			const struct hwtd_context_options o = {
				.size = sizeof(o),
				.poll = poll_asked,
				.poll_arg = &x->asked,
			};
			struct hwtd_context *ctx;
			uint64_t now = 1;

			x->asked = (struct asked){ .left = n };
			assert_int_equal(hwtd_context_create(&o, &ctx, NULL),
			    HWTD_OK);
			rc = scripts[i].run(x, ctx);
			if (rc != HWTD_OK && rc != HWTD_E_CANCELED)
				fail_msg("%s, question %d: code %d",
				    scripts[i].name, (int)n, rc);
			/* Nobody takes it for something else that fails. */
			if (x->asked.wanted_an_end != (rc != HWTD_OK))
				fail_msg("%s, question %d: code %d is not "
					 "what was asked for",
				    scripts[i].name, (int)n, rc);
			assert_int_equal(temp_dir_count(&x->dir), 0);
			hwtd_context_memory(ctx, &now, NULL);
			assert_int_equal(now, 0);
			hwtd_context_destroy(ctx);
		}
		print_message("%s: %d questions\n", scripts[i].name,
		    (int)n - 1);
		assert_true(n > 1);
	}
}

static int
set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return (-1);
	temp_dir_create(&x->dir);
	(void)temp_dir_file(&x->dir, "saved.hwt", x->path);
	*state = x;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *x = *state;

	temp_dir_remove(&x->dir);
	free(x);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_question_may_be_the_last,
		    set_up, tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
