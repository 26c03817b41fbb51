/*
 * Allocation that fails, at every request in turn: the call says so, nothing
 * leaks, nothing is left on disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/sample_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_model.h"

struct fixture {
	struct temp_dir dir;
	struct failing_allocator f;
	char path[300];
	char cut[300];
	char saved[300];
	char raw[300];
};

static int
new_context(struct fixture *x, struct hwtd_context **out)
{
	struct hwtd_context_options o = { .size = sizeof(o) };

	o.allocator = &x->f.allocator;
	return (hwtd_context_create(&o, out, NULL));
}

/* What is tried: each returns the first code that is not HWTD_OK. */
static int
build(struct fixture *x, struct hwtd_context *ctx)
{
	struct hwtd_trace *trace;
	int rc = sample_trace_build(ctx, &trace, NULL);

	(void)x;
	if (rc != HWTD_OK)
		return (rc);
	rc = trace_read_all(trace);
	hwtd_trace_close(trace);
	return (rc);
}

static int
save(struct fixture *x, struct hwtd_context *ctx)
{
	const struct hwtd_save_options so = {
		.size = sizeof(so),
		.flags = HWTD_SAVE_IMAGES,
		.chunk_bytes = 128,
	};
	struct hwtd_trace *trace;
	int rc = sample_trace_build(ctx, &trace, NULL);

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_trace_save(trace, x->saved, &so, NULL);
	hwtd_trace_close(trace);
	return (rc);
}

static int
open_path(struct hwtd_context *ctx, const char *path)
{
	const struct hwtd_image_desc image = {
		.size = sizeof(image),
		.path = path,
		.length = 10,
	};
	const struct hwtd_open_options oo = {
		.size = sizeof(oo),
		.images = &image,
		.n_images = 1,
	};
	struct hwtd_trace *trace;
	int rc = hwtd_trace_open(ctx, path, &oo, &trace, NULL);

	if (rc != HWTD_OK)
		return (rc);
	rc = trace_read_all(trace);
	hwtd_trace_close(trace);
	return (rc);
}

static int
open_whole(struct fixture *x, struct hwtd_context *ctx)
{
	return (open_path(ctx, x->path));
}

static int
open_cut(struct fixture *x, struct hwtd_context *ctx)
{
	return (open_path(ctx, x->cut));
}

static int
open_raw(struct fixture *x, struct hwtd_context *ctx)
{
	return (open_path(ctx, x->raw));
}

static int
intern(struct fixture *x, struct hwtd_context *ctx)
{
	struct hwtd_exec_context row = { .size = sizeof(row) };
	struct hwtd_trace *trace;
	uint32_t id;
	int rc = hwtd_trace_create(ctx, NULL, &trace, NULL);

	(void)x;
	if (rc != HWTD_OK)
		return (rc);
	for (uint32_t i = 0; rc == HWTD_OK && i < 100; i++) {
		row.pid = i;
		rc = hwtdi_trace_intern_context(trace, &row, &id, NULL);
		if (rc == HWTD_OK)
			assert_int_equal(id, i);
	}
	hwtd_trace_close(trace);
	return (rc);
}

static const struct {
	const char *name;
	int (*run)(struct fixture *x, struct hwtd_context *ctx);
} scripts[] = {
	{ "build", build },
	{ "save", save },
	{ "open", open_whole },
	{ "open a cut file", open_cut },
	{ "open raw bytes", open_raw },
	{ "intern", intern },
};

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		for (int for_ever = 0; for_ever < 2; for_ever++) {
			int rc = HWTD_E_NOMEM;
			uint64_t n;

			for (n = 1; rc != HWTD_OK; n++) {
				struct hwtd_context *ctx;
				uint64_t now = 1;
				const size_t files = temp_dir_count(&x->dir);

				failing_allocator_arm(&x->f, 0, false);
				assert_int_equal(new_context(x, &ctx),
				    HWTD_OK);
				failing_allocator_arm(&x->f, n, for_ever != 0);
				rc = scripts[i].run(x, ctx);
				if (rc != HWTD_OK && rc != HWTD_E_NOMEM)
					fail_msg("%s, request %d: code %d",
					    scripts[i].name, (int)n, rc);
				if (rc != HWTD_OK)
					assert_int_equal(
					    temp_dir_count(&x->dir), files);
				hwtd_context_memory(ctx, &now, NULL);
				assert_int_equal(now, 0);
				hwtd_context_destroy(ctx);
				assert_int_equal(x->f.blocks, 0);
				assert_int_equal(x->f.bytes, 0);
			}
			print_message("%s: %d requests\n", scripts[i].name,
			    (int)n - 2);
		}
	}
}

/* A trace that could not take bytes is as it was before. */
static void
failed_add_bytes_changes_nothing(void **state)
{
	struct fixture *x = *state;
	const struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_extent extent = { .size = sizeof(extent) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint8_t bytes[3000] = { 7 };
	uint8_t got[6000];
	uint32_t id;
	size_t n;
	int rc = HWTD_E_NOMEM;

	failing_allocator_arm(&x->f, 0, false);
	assert_int_equal(new_context(x, &ctx), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, "abc", 3, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_start_extent(trace, id,
			     HWTD_EXTENT_AFTER_LOSS, NULL),
	    HWTD_OK);
	for (uint64_t k = 1; rc != HWTD_OK; k++) {
		failing_allocator_arm(&x->f, k, true);
		rc = hwtd_trace_add_bytes(trace, id, bytes, sizeof(bytes),
		    NULL);
		if (rc != HWTD_OK) {
			assert_int_equal(rc, HWTD_E_NOMEM);
			assert_int_equal(hwtd_trace_extent(trace, id, 1,
					     &extent),
			    HWTD_END);
		}
	}
	failing_allocator_arm(&x->f, 0, false);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_extent(trace, id, 1, &extent), HWTD_OK);
	assert_int_equal(extent.why, HWTD_EXTENT_AFTER_LOSS);
	assert_int_equal(hwtd_trace_read_bytes(trace, id, 0, got, sizeof(got),
			     &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, 3003);
	assert_memory_equal(got, "abc\7", 4);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(x->f.blocks, 0);
}

static void
memory_limit_is_a_limit_not_a_crash(void **state)
{
	struct fixture *x = *state;
	struct hwtd_context_options o = { .size = sizeof(o) };
	const struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint8_t *bytes = calloc(1, 100000);
	uint32_t id;
	uint64_t peak;

	(void)x;
	o.max_memory = 50000;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, bytes, 100000, &err),
	    HWTD_E_LIMIT);
	assert_non_null(strstr(err.message, "max_memory"));
	assert_int_equal(hwtd_trace_add_bytes(trace, id, bytes, 1000, &err),
	    HWTD_OK);
	hwtd_context_memory(ctx, NULL, &peak);
	assert_true(peak <= 50000);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	free(bytes);
}

static int
set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	uint8_t raw[300];
	struct hwtd_context *ctx;
	uint8_t *bytes;
	size_t n;

	temp_dir_create(&x->dir);
	(void)temp_dir_file(&x->dir, "a.hwt", x->path);
	(void)temp_dir_file(&x->dir, "cut.hwt", x->cut);
	(void)temp_dir_file(&x->dir, "saved.hwt", x->saved);
	(void)temp_dir_file(&x->dir, "raw.pt", x->raw);
	failing_allocator_init(&x->f);
	assert_int_equal(new_context(x, &ctx), HWTD_OK);
	assert_int_equal(save(x, ctx), HWTD_OK);
	hwtd_context_destroy(ctx);
	bytes = read_file(x->saved, &n);
	write_file(x->path, bytes, n);
	write_file(x->cut, bytes, n - 100);
	free(bytes);
	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = i % 2 == 0 ? 0x02 : 0x82;
	write_file(x->raw, raw, sizeof(raw));
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
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(each_refused_request_is_reported_and_leaks_nothing),
		T(failed_add_bytes_changes_nothing),
		T(memory_limit_is_a_limit_not_a_crash),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
