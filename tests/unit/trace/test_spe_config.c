/*
 * How Arm SPE streams were recorded: kept in saved traces, completed by options,
 * refused where it cannot be; and raw bytes in buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"

static const struct hwtd_spe_config n1 = {
	.size = sizeof(n1),
	.midr = 0x413fd0c1,
	.version = 1,
	.owner = HWTD_SPE_OWNER_PROCESS,
	.counter_bits = 12,
	.interval = 0x123456789a,
};

static int
add_stream(struct hwtd_trace *trace, const struct hwtd_spe_config *spe,
    struct hwtd_error *err)
{
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = 1,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.spe = spe };
	uint32_t id;

	return (hwtd_trace_add_stream(trace, &desc, &id, err));
}

static const struct hwtd_spe_config *
config_of(const struct hwtd_trace *trace)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	assert_int_equal(hwtd_trace_stream(trace, 0, &desc), HWTD_OK);
	return (desc.spe);
}

static void
save_one(const char *path, const struct hwtd_spe_config *spe)
{
	struct hwtd_trace *trace = mt_create();

	assert_int_equal(add_stream(trace, spe, NULL), HWTD_OK);
	(void)mt_seal(trace);
	st_save(trace, path, 0);
	hwtd_trace_close(trace);
}

static struct hwtd_trace *
open_one(const char *path, const struct hwtd_open_options *o)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace = NULL;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	if (hwtd_trace_open(ctx, path, o, &trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	hwtd_context_destroy(ctx);
	return (trace);
}

static void
a_saved_trace_keeps_it(void **state)
{
	struct temp_dir dir;
	struct hwtd_trace *trace;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	save_one(temp_dir_file(&dir, "a.hwt", path), &n1);
	trace = open_one(path, NULL);
	assert_memory_equal(config_of(trace), &n1, sizeof(n1));
	hwtd_trace_close(trace);
	save_one(path, NULL);
	trace = open_one(path, NULL);
	assert_null(config_of(trace));
	hwtd_trace_close(trace);
	temp_dir_remove(&dir);
}

static void
options_tell_what_the_file_does_not(void **state)
{
	const struct hwtd_spe_config half = { .size = sizeof(half),
		.midr = 0x410fd490,
		.interval = 5 };
	const struct hwtd_open_options o = { .size = sizeof(o), .spe = &n1 };
	const struct hwtd_spe_config *c;
	struct temp_dir dir;
	struct hwtd_trace *trace;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	save_one(temp_dir_file(&dir, "a.hwt", path), &half);
	trace = open_one(path, &o);
	c = config_of(trace);
	assert_int_equal(c->midr, 0x410fd490);
	assert_int_equal(c->interval, 5);
	assert_int_equal(c->version, 1);
	assert_int_equal(c->owner, HWTD_SPE_OWNER_PROCESS);
	assert_int_equal(c->counter_bits, 12);
	hwtd_trace_close(trace);
	save_one(path, NULL);
	trace = open_one(path, &o);
	assert_memory_equal(config_of(trace), &n1, sizeof(n1));
	hwtd_trace_close(trace);
	temp_dir_remove(&dir);
}

static void
what_cannot_be_is_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = mt_create();
	struct hwtd_spe_config c = n1;

	(void)state;
	c.owner = 4;
	assert_int_equal(add_stream(trace, &c, &err), HWTD_E_INVALID);
	assert_non_null(strstr(err.message, "owner 4"));
	c = n1;
	c.version = 16;
	assert_int_equal(add_stream(trace, &c, &err), HWTD_E_INVALID);
	c = n1;
	c.counter_bits = 13;
	assert_int_equal(add_stream(trace, &c, &err), HWTD_E_INVALID);
	assert_non_null(strstr(err.message, "13 bits; 12 or 16"));
	c = n1;
	c.size = 4;
	assert_int_equal(add_stream(trace, &c, &err), HWTD_E_INVALID);
	hwtd_trace_close(trace);
}

static void
cpus_have_names_of_both_ways(void **state)
{
	const char *name;
	size_t n = 0;

	(void)state;
	assert_string_equal(hwtd_spe_cpu_name(0x413fd0c1), "neoverse-n1");
	assert_string_equal(hwtd_spe_cpu_name(0x481fd010), "kunpeng-920");
	assert_null(hwtd_spe_cpu_name(0));
	assert_null(hwtd_spe_cpu_name(0x410fd030));
	assert_int_equal(hwtd_spe_cpu_midr("neoverse-n1"), 0x4100d0c0);
	assert_int_equal(hwtd_spe_cpu_midr("Neoverse-V2"), 0x4100d4f0);
	assert_int_equal(hwtd_spe_cpu_midr("neoverse-n"), 0);
	assert_int_equal(hwtd_spe_cpu_midr("neoverse-n12"), 0);
	assert_int_equal(hwtd_spe_cpu_midr(""), 0);
	assert_int_equal(hwtd_spe_cpu_midr(NULL), 0);
	while ((name = hwtd_spe_cpu_at(n)) != NULL) {
		assert_string_equal(hwtd_spe_cpu_name(hwtd_spe_cpu_midr(name)),
		    name);
		n++;
	}
	assert_true(n > 20);
	assert_null(hwtd_spe_cpu_at(SIZE_MAX));
	assert_string_equal(hwtd_spe_owner_name(HWTD_SPE_OWNER_CPU), "cpu");
	assert_string_equal(hwtd_spe_owner_name(0), "unknown");
	assert_string_equal(hwtd_spe_owner_name(4), "unknown");
}

static void
raw_bytes_are_of_buffers(void **state)
{
	uint8_t bytes[100], got[2];
	size_t n;
	static const struct hwtd_buffer buffers[] = { { 0, 0, HWTD_NO_ID },
		{ 10, 1, 7 }, { 64, 0, 3 }, { 99, 1, HWTD_NO_ID } };
	static const struct hwtd_buffer wrong[][2] = {
		{ { 1, 0, 0 }, { 5, 0, 0 } },
		{ { 0, 0, 0 }, { 0, 0, 0 } },
		{ { 0, 0, 0 }, { 100, 0, 0 } },
		{ { 0, 0, 0 }, { 200, 0, 0 } },
		{ { 0, 1, 0 }, { 5, 0, 0 } },
		{ { 0, 0, 0 }, { 5, 2, 0 } },
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_open_options o = { .size = sizeof(o),
		.tech = HWTD_TECH_SPE,
		.spe = &n1,
		.cpu_plus_1 = 2,
		.buffers = buffers,
		.n_buffers = 4 };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct temp_dir dir;
	char path[300];

	(void)state;
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i + 1;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "a.spe", path), bytes, sizeof(bytes));
	trace = open_one(path, &o);
	assert_memory_equal(config_of(trace), &n1, sizeof(n1));
	/* Of two sources: 0 to 10 and 64 to 99, 10 to 64 and 99 to 100. */
	assert_int_equal(hwtd_trace_stream(trace, 0, &desc), HWTD_OK);
	assert_int_equal(desc.cpu, 1);
	assert_int_equal(desc.n_bytes, 45);
	assert_int_equal(hwtd_trace_extent(trace, 0, 1, &e), HWTD_OK);
	assert_int_equal(e.start, 10);
	assert_int_equal(e.end, 45);
	assert_int_equal(e.why, HWTD_EXTENT_NEW);
	assert_int_equal(hwtd_trace_extent(trace, 0, 2, &e), HWTD_END);
	assert_int_equal(hwtd_trace_stream(trace, 1, &desc), HWTD_OK);
	assert_int_equal(desc.cpu, 7);
	assert_int_equal(desc.n_bytes, 55);
	assert_int_equal(hwtd_trace_read_bytes(trace, 1, 53, got, 2, &n, NULL),
	    HWTD_OK);
	assert_int_equal(got[0], 64);
	assert_int_equal(got[1], 100);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	o.n_buffers = 2;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		o.buffers = wrong[i];
		assert_int_equal(hwtd_trace_open(ctx, path, &o, &trace, &err),
		    HWTD_E_INVALID);
		assert_non_null(strstr(err.message,
		    i < 4 ? "no buffer can be at" : "is of source"));
	}
	o.buffers = NULL;
	assert_int_equal(hwtd_trace_open(ctx, path, &o, &trace, &err),
	    HWTD_E_INVALID);
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_saved_trace_keeps_it),
		cmocka_unit_test(options_tell_what_the_file_does_not),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(cpus_have_names_of_both_ways),
		cmocka_unit_test(raw_bytes_are_of_buffers),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
