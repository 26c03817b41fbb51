/*
 * Files of code that was made at run time: bytes by hand, and what lies where
 * and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/mapped_trace.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"
#include "trace/import/jitdump.h"

/* A file, written number by number in either byte order. */
struct dump {
	bool big;
	uint8_t *bytes;
	size_t n, cap;
};

static void
put(struct dump *d, uint64_t v, size_t n)
{
	if (d->n + n > d->cap) {
		d->cap = d->cap != 0 ? d->cap * 2 : 4096;
		d->bytes = realloc(d->bytes, d->cap);
		assert_non_null(d->bytes);
	}
	for (size_t i = 0; i < n; i++)
		d->bytes[d->n + (d->big ? n - 1 - i : i)] = (uint8_t)(v >>
		    (8 * i));
	d->n += n;
}

static void
put_text(struct dump *d, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(d, (uint8_t)text[i], 1);
}

static void
put_head(struct dump *d, bool big, uint64_t flags)
{
	memset(d, 0, sizeof(*d));
	d->big = big;
	put(d, 0x4a695444, 4);
	put(d, 1, 4);
	put(d, 40, 4);
	put(d, 62, 4);
	put(d, 0, 4);
	put(d, 77, 4);
	put(d, 1000, 8);
	put(d, flags, 8);
}

static void
put_record(struct dump *d, uint32_t id, size_t size, uint64_t stamp)
{
	put(d, id, 4);
	put(d, size, 4);
	put(d, stamp, 8);
}

static void
put_load(struct dump *d, uint64_t stamp, uint64_t addr, uint64_t no,
    const char *name, const char *code)
{
	const size_t n = strlen(name) + 1;

	put_record(d, 0, 56 + n + strlen(code), stamp);
	put(d, 77, 4);
	put(d, 78, 4);
	put(d, addr + 0x1000000, 8);
	put(d, addr, 8);
	put(d, strlen(code), 8);
	put(d, no, 8);
	put_text(d, name, n);
	put_text(d, code, strlen(code));
}

static void
put_move(struct dump *d, uint64_t stamp, uint64_t from, uint64_t to,
    uint64_t no)
{
	put_record(d, 1, 64, stamp);
	put(d, 77, 4);
	put(d, 78, 4);
	put(d, to, 8);
	put(d, from, 8);
	put(d, to, 8);
	put(d, 4, 8);
	put(d, no, 8);
}

static const struct hwtdi_jitdump_how by_time = { .pid = HWTD_NO_ID,
	.same_clock = true };

static int
add(struct hwtd_trace *trace, struct dump *d,
    const struct hwtdi_jitdump_how *how, struct hwtdi_jitdump_sum *sum,
    struct hwtd_error *err)
{
	/* Just as large, so that a read past the end is noticed. */
	uint8_t *bytes = malloc(d->n);
	int rc;

	assert_non_null(bytes);
	memcpy(bytes, d->bytes, d->n);
	rc = hwtdi_jitdump_add(trace, "jit-77.dump", bytes, d->n, how, sum,
	    err);
	free(bytes);
	free(d->bytes);
	return (rc);
}

/* The code at an address of a process at a time; "": none is known. */
static void
assert_code(const struct hwtd_trace *trace, uint32_t pid, uint64_t time,
    uint64_t address, const char *want)
{
	const struct hwtd_position at = mr_at_time(time);
	struct hwtd_mapping m = { .size = sizeof(m) };
	char got[16] = "";
	size_t n = 0;

	if (hwtd_space_lookup(trace, pid, &at, address, &m) == HWTD_OK) {
		assert_string_equal(m.path, "jit-77.dump");
		assert_int_equal(m.flags & HWTD_MAPPINGF_JIT,
		    HWTD_MAPPINGF_JIT);
		(void)hwtd_trace_read_code(trace, m.section, address, got, 4,
		    &n);
	}
	assert_string_equal(got, want);
}

static void
code_is_where_it_was_loaded_and_moved(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct hwtdi_jitdump_sum sum;
		struct hwtd_trace *trace = mt_create();
		struct hwtd_record r = { .size = sizeof(r) };
		struct dump d;

		put_head(&d, big != 0, 0);
		/* Debug and unwinding information, and what is not known. */
		put_record(&d, 2, 40, 1);
		put_text(&d, "123456789012345678901234", 24);
		put_record(&d, 4, 18, 1);
		put_text(&d, "xy", 2);
		put_load(&d, 2000, 0x7000, 5, "one", "AAAA");
		put_record(&d, 99, 16, 1);
		/* Where the first was, and then further on. */
		put_load(&d, 3000, 0x7000, 6, "two", "BBBB");
		put_move(&d, 4000, 0x7000, 0x8000, 6);
		put_load(&d, 5000, 0x7000, 7, "", "CCCC");
		put_load(&d, 5000, 0x9000, 8, "empty", "");
		put_record(&d, 3, 16, 6000);
		put_text(&d, "behind the end", 14);
		assert_int_equal(add(trace, &d, &by_time, &sum, NULL),
		    HWTD_OK);
		assert_int_equal(sum.pid, 77);
		assert_int_equal(sum.machine, 62);
		assert_int_equal(sum.n_loads, 3);
		assert_int_equal(sum.n_moves, 1);
		assert_int_equal(sum.n_bad, 0);
		(void)mt_seal(trace);
		assert_code(trace, 77, 1999, 0x7000, "");
		assert_code(trace, 77, 2000, 0x7000, "AAAA");
		assert_code(trace, 77, 3500, 0x7000, "BBBB");
		assert_code(trace, 77, 3999, 0x8000, "");
		assert_code(trace, 77, 4500, 0x8000, "BBBB");
		assert_code(trace, 77, 6000, 0x7000, "CCCC");
		assert_code(trace, 77, 6000, 0x8000, "BBBB");
		assert_code(trace, 77, 6000, 0x9000, "");
		assert_code(trace, 76, 6000, 0x7000, "");
		assert_int_equal(hwtd_trace_record(trace, 2, &r), HWTD_OK);
		assert_int_equal(r.type, HWTD_REC_CODE);
		assert_int_equal(r.tid, 78);
		assert_string_equal(r.name, "two");
		assert_int_equal(hwtd_trace_record(trace, 3, &r), HWTD_OK);
		assert_null(r.name);
		hwtd_trace_close(trace);
	}
}

static void
stamps_tell_times_if_their_clock_is_known(void **state)
{
	/* 2 counts are 1 ns; count 1000 is at 500000 ns. */
	const struct hwtd_clock clock = { .counts_per = 2,
		.ns_per = 1,
		.base_count = 1000,
		.base_ns = 500000 };
	const struct {
		uint64_t flags;
		struct hwtdi_jitdump_how how;
		/* 0: not known. */
		uint64_t want;
	} cases[] = {
		{ 0, { 5, true, &clock }, 3000 },
		{ 0, { 5, false, &clock }, 0 },
		{ 1, { 5, true, &clock }, 501000 },
		{ 1, { 5, true, NULL }, 0 },
		/* Flags that are not known say nothing. */
		{ 2, { 5, true, NULL }, 3000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_record r = { .size = sizeof(r) };
		struct hwtdi_jitdump_sum sum;
		struct hwtd_trace *trace = mt_create();
		struct dump d;

		put_head(&d, false, cases[i].flags);
		put_load(&d, 3000, 0x7000, 5, "one", "AAAA");
		assert_int_equal(add(trace, &d, &cases[i].how, &sum, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_record(trace, 0, &r), HWTD_OK);
		assert_int_equal(r.pid, 5);
		assert_int_equal((r.flags & HWTD_RECF_TIME) != 0,
		    cases[i].want != 0);
		assert_int_equal(r.time_ns, cases[i].want);
		hwtd_trace_close(trace);
	}
}

/* Each is spoilt at one place, counted from the end of the head. */
static const struct {
	const char *what;
	size_t at;
	uint64_t value;
	size_t n;
	/* Bytes of the file; 0: all. */
	size_t cut;
	const char *text;
	/* Code of the two that are there is still known. */
	bool first, second;
} bad[] = {
	{ "nothing", 0, 0, 4, 0, NULL, true, true },
	{ "no size", 4, 15, 4, 0, "byte 0x28: record of 15 bytes", false,
	    false },
	{ "too large", 4, 200, 4, 0,
	    "byte 0x28: record of 200 bytes, there are 128", false, false },
	{ "no fields", 4, 40, 4, 80,
	    "byte 0x28: code of 40 bytes has no fields", false, false },
	{ "more code than there is", 40, 5, 8, 0,
	    "byte 0x28: 5 bytes of code, there are 4", false, true },
	{ "a lot more code", 40, UINT64_MAX, 8, 0,
	    "byte 0x28: 18446744073709551615 bytes of code", false, true },
	{ "an address too high", 32, UINT64_MAX - 2, 8, 0,
	    "byte 0x28: code goes past the last address", false, true },
	{ "a name without end", 59, 'x', 1, 0,
	    "byte 0x28: name of code does not end", false, true },
	{ "the last record cut off", 0, 0, 4, 40 + 127,
	    "byte 0x68: record of 64 bytes, there are 63", true, false },
	{ "a piece of a record", 0, 0, 4, 40 + 64 + 3,
	    "byte 0x68: 3 bytes are no record", true, false },
	{ "only a head", 0, 0, 4, 40, NULL, false, false },
};

static void
damage_is_told_and_the_rest_is_used(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hwtd_damage damage = { .size = sizeof(damage) };
		struct hwtdi_jitdump_sum sum;
		struct hwtd_trace *trace = mt_create();
		struct dump d;

		print_message("%s\n", bad[i].what);
		put_head(&d, false, 0);
		put_load(&d, 10, 0x7000, 5, "one", "AAAA");
		put_load(&d, 10, 0x8000, 6, "two", "BBBB");
		assert_int_equal(d.n, 40 + 64 + 64);
		for (size_t k = 0; k < bad[i].n; k++)
			d.bytes[40 + bad[i].at + k] = (uint8_t)(bad[i].value >>
			    (8 * k));
		/* What follows the name must not end it. */
		if (bad[i].n == 1)
			d.bytes[40 + 60] = 'x';
		if (bad[i].cut != 0)
			d.n = bad[i].cut;
		assert_int_equal(add(trace, &d, &by_time, &sum, NULL),
		    HWTD_OK);
		if (bad[i].text != NULL) {
			assert_int_equal(hwtd_trace_damage(trace, 0, &damage),
			    HWTD_OK);
			print_message("  %s\n", damage.text);
			assert_non_null(strstr(damage.text, "jit-77.dump: "));
			assert_non_null(strstr(damage.text, bad[i].text));
		}
		assert_int_equal(hwtd_trace_damage(trace, bad[i].text != NULL,
				     &damage),
		    HWTD_END);
		(void)mt_seal(trace);
		assert_code(trace, 77, 20, 0x7000, bad[i].first ? "AAAA" : "");
		assert_code(trace, 77, 20, 0x8000,
		    bad[i].second ? "BBBB" : "");
		hwtd_trace_close(trace);
	}
}

static void
files_that_are_none_are_refused(void **state)
{
	static const struct {
		size_t at, n;
		uint8_t value;
		int rc;
		uint64_t offset;
	} heads[] = {
		{ 0, 40, 'x', HWTD_E_UNRECOGNIZED, UINT64_MAX },
		{ 4, 40, 2, HWTD_E_UNSUPPORTED, 4 },
		{ 8, 40, 39, HWTD_E_CORRUPT, 8 },
		{ 8, 40, 41, HWTD_E_CORRUPT, 8 },
		{ 12, 39, 0, HWTD_E_CORRUPT, 39 },
		{ 12, 4, 0, HWTD_E_CORRUPT, 4 },
		{ 0, 1, 'D', HWTD_E_UNRECOGNIZED, UINT64_MAX },
	};
	struct hwtd_trace *trace = mt_create();

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_jitdump_sum sum;
		struct dump d;

		put_head(&d, false, 0);
		d.bytes[heads[i].at] = heads[i].value;
		d.n = heads[i].n;
		assert_int_equal(add(trace, &d, &by_time, &sum, &err),
		    heads[i].rc);
		print_message("%s\n", err.message);
		assert_int_equal(err.offset, heads[i].offset);
	}
	hwtd_trace_close(trace);
}

/* A move of what was not loaded, and more of them than are told. */
static void
few_of_many_damages_are_told(void **state)
{
	struct hwtd_damage damage = { .size = sizeof(damage) };
	struct hwtdi_jitdump_sum sum;
	struct hwtd_trace *trace = mt_create();
	struct dump d;

	(void)state;
	put_head(&d, false, 0);
	for (size_t i = 0; i < 100; i++)
		put_move(&d, 10, 0x7000, 0x8000, 5);
	put_load(&d, 20, 0x7000, 5, "one", "AAAA");
	assert_int_equal(add(trace, &d, &by_time, &sum, NULL), HWTD_OK);
	assert_int_equal(sum.n_bad, 100);
	assert_int_equal(hwtd_trace_damage(trace, HWTDI_JITDUMP_MAX_NOTES - 1,
			     &damage),
	    HWTD_OK);
	assert_string_equal(damage.text,
	    "jit-77.dump: byte 0x3e8: move of code 5, which was not loaded");
	assert_int_equal(hwtd_trace_damage(trace, HWTDI_JITDUMP_MAX_NOTES,
			     &damage),
	    HWTD_END);
	(void)mt_seal(trace);
	assert_code(trace, 77, 20, 0x7000, "AAAA");
	hwtd_trace_close(trace);
}

/* As many functions as a large program has: as long for each as for few. */
static void
many_functions_take_no_time(void **state)
{
	const uint64_t n = getenv("HWTDECODE_TEST_SMALL") != NULL ? 5000
								  : 100000;
	struct hwtdi_jitdump_sum sum;
	struct hwtd_trace *trace = mt_create();
	struct hwtd_trace_info info = { .size = sizeof(info) };
	const clock_t start = clock();
	struct dump d;

	(void)state;
	put_head(&d, false, 0);
	for (uint64_t i = 0; i < n; i++)
		put_load(&d, 10 + i, 0x7000 + 16 * i, i, "function", "AAAA");
	for (uint64_t i = 0; i < n; i++)
		put_move(&d, 10 + n + i, 0x7000 + 16 * i, 0x70007000 + 16 * i,
		    i);
	assert_int_equal(add(trace, &d, &by_time, &sum, NULL), HWTD_OK);
	assert_int_equal(sum.n_moves, n);
	(void)mt_seal(trace);
	print_message("%.2f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(info.n_images, 1);
	assert_code(trace, 77, 10 + 3 * n, 0x7000 + 16 * (n - 1), "AAAA");
	assert_code(trace, 77, 10 + 3 * n, 0x70007000 + 16 * (n - 1), "AAAA");
	hwtd_trace_close(trace);
}

/* A file elsewhere is used like a program: its code is saved as well. */
static void
a_file_is_read_and_saved_wherever_it_lies(void **state)
{
	const struct hwtd_open_options how = { .size = sizeof(how),
		.tech = HWTD_TECH_INTEL_PT,
		.unsealed = 1 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct temp_dir here, there;
	struct hwtdi_jitdump_sum sum;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct dump d;
	char path[300], file[300];

	(void)state;
	temp_dir_create(&here);
	temp_dir_create(&there);
	write_file(temp_dir_file(&here, "run.pt", path), "\0\0", 2);
	put_head(&d, false, 0);
	put_load(&d, 2000, 0x7000, 5, "one", "AAAA");
	write_file(temp_dir_file(&there, "jit-77.dump", file), d.bytes, d.n);
	write_file(temp_dir_file(&there, "perf-77.map", file), "1 1 a\n", 6);
	free(d.bytes);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_open(ctx, path, &how, &trace, &err),
	    HWTD_OK);
	hwtd_context_destroy(ctx);
	assert_int_equal(hwtdi_trace_read_perf_map(trace, 77, file, &err),
	    HWTD_OK);
	(void)temp_dir_file(&there, "jit-77.dump", file);
	assert_int_equal(hwtdi_jitdump_read(trace, file, &by_time, &sum, &err),
	    HWTD_OK);
	assert_string_equal(hwtd_trace_file(trace, 2), file);
	assert_int_equal(hwtdi_jitdump_read(trace, "no.dump", &by_time, &sum,
			     &err),
	    HWTD_E_IO);
	(void)mt_seal(trace);
	temp_dir_remove(&there);
	st_save(trace, temp_dir_file(&here, "a.hwt", path), HWTD_SAVE_IMAGES);
	hwtd_trace_close(trace);
	trace = st_open(path, here.path);
	assert_int_equal(st_code(trace, 77, 0x7003), 'A');
	hwtd_trace_close(trace);
	temp_dir_remove(&here);
}

static void
failed_allocations_are_no_memory(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	int rc = HWTD_E_NOMEM;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtdi_jitdump_sum sum;
		struct hwtd_trace *trace = mt_create_in(ctx);
		struct hwtd_error err = { .size = sizeof(err) };
		struct dump d;

		put_head(&d, false, 0);
		put_load(&d, 10, 0x7000, 5, "one", "AAAA");
		put_move(&d, 10, 0x7000, 0x8000, 5);
		put_move(&d, 10, 0x7000, 0x8000, 6);
		failing_allocator_arm(&f, n, false);
		rc = add(trace, &d, &by_time, &sum, &err);
		failing_allocator_arm(&f, 0, false);
		if (rc != HWTD_OK)
			assert_int_equal(rc, HWTD_E_NOMEM);
		else
			assert_true(n > 4);
		hwtd_trace_close(trace);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_where_it_was_loaded_and_moved),
		cmocka_unit_test(stamps_tell_times_if_their_clock_is_known),
		cmocka_unit_test(damage_is_told_and_the_rest_is_used),
		cmocka_unit_test(files_that_are_none_are_refused),
		cmocka_unit_test(few_of_many_damages_are_told),
		cmocka_unit_test(many_functions_take_no_time),
		cmocka_unit_test(a_file_is_read_and_saved_wherever_it_lies),
		cmocka_unit_test(failed_allocations_are_no_memory),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
