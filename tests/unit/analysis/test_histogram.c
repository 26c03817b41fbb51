/*
 * Histograms of calls: distributions that are known by hand.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/histogram/histogram_store.h"
#include "support/call_lines.h"
#include "support/failing_allocator.h"
#include "support/temp_dir.h"

/* Ten calls of f: 10, 20 to 90 ns, and 2^40 ns. */
static void
ten_calls(struct call_lines *t)
{
	uint64_t now = 1000;

	for (uint64_t i = 1; i <= 10; i++) {
		cl_branch(t, 8, now, "call", "1000 main+0x0", "2000 f+0x0");
		now += i < 10 ? 10 * i : UINT64_C(1) << 40;
		cl_branch(t, 8, now, "return", "2009 f+0x9", "1005 main+0x5");
		now += 7;
		cl_branch(t, 8, now, "jmp", "1009 main+0x9", "1000 main+0x0");
		now += 1;
	}
}

static void
times_of_calls_are_told_as_they_are(void **state)
{
	struct hwtd_histogram *h = cl_histogram(NULL);
	struct hwtd_histogram_bucket buckets[20];
	struct hwtd_histogram_info info = { .size = sizeof(info) };
	struct hwtd_histogram_row row;
	struct call_lines t = { 0 };
	uint64_t value;
	size_t n;

	(void)state;
	ten_calls(&t);
	cl_add_text(h, t.at, t.n);
	cl_row_of(h, "f", &row);
	assert_string_equal(row.image, "p");
	assert_int_equal(row.flags, HWTD_HISTOGRAM_ROWF_ADDRESS);
	assert_int_equal(row.address, 0x2000);
	assert_int_equal(row.calls, 10);
	assert_int_equal(row.n, 10);
	assert_int_equal(row.min, 10);
	assert_true(row.max == UINT64_C(1) << 40);
	assert_true(row.sum == 450 + (UINT64_C(1) << 40));
	assert_int_equal(row.p50, 50);
	assert_int_equal(row.p90, 90);
	assert_true(row.p99 == UINT64_C(1) << 40 && row.p999 == row.p99);
	assert_int_equal(row.estimated + row.interpolated, 0);
	assert_int_equal(row.n_buckets, 10);
	/* main was found running, and did not end. */
	cl_row_of(h, "main", &row);
	assert_int_equal(row.calls, 1);
	assert_int_equal(row.unseen, 1);
	assert_int_equal(row.n + row.max + row.sum, 0);
	/* By name: f, then main; f has the buckets. */
	assert_int_equal(hwtd_histogram_buckets(h, 0, 0, buckets,
			     sizeof(buckets[0]), 20, &n),
	    HWTD_OK);
	assert_int_equal(n, 10);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(buckets[i].first, 10 * (i + 1));
		assert_int_equal(buckets[i].last, 10 * (i + 1));
		assert_int_equal(buckets[i].n, 1);
	}
	assert_true(buckets[9].first == UINT64_C(1) << 40 &&
	    buckets[9].last == (UINT64_C(1) << 40) + (UINT64_C(1) << 33) - 1);
	assert_int_equal(hwtd_histogram_buckets(h, 0, 10, buckets,
			     sizeof(buckets[0]), 20, &n),
	    HWTD_END);
	assert_int_equal(hwtd_histogram_quantile(h, 0, 200001, &value),
	    HWTD_OK);
	assert_int_equal(value, 30);
	assert_int_equal(hwtd_histogram_quantile(h, 0, 0, &value), HWTD_OK);
	assert_int_equal(value, 10);
	cl_row(h, HWTD_HISTOGRAM_ALL, &row);
	assert_null(row.function);
	assert_int_equal(row.calls, 11);
	assert_int_equal(row.unseen, 1);
	assert_int_equal(row.p50, 50);
	assert_int_equal(hwtd_histogram_info(h, &info), HWTD_OK);
	assert_int_equal(info.value, HWTD_HISTOGRAM_TIME);
	assert_int_equal(info.n_rows, 2);
	assert_int_equal(info.bytes, t.n);
	hwtd_histogram_destroy(h);
	free(t.at);
}

static const char not_whole[] =
    "7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)\n"
    "7/8 1.000000110: 1 branches:u: call 2004 f+0x4 (p) => 3000 g+0x0 (p)\n"
    "7/8 1.000000120: 1 branches:u: return 3009 g+0x9 (p) => 2009 f+0x9 (p)\n"
    " instruction trace error type 1 time 1.000000130 cpu -1 pid 7 tid 8 ip 0 "
    "code 7: Overflow packet\n"
    "7/8 1.000000230: 1 branches:u: tr strt 0 [unknown] ([unknown]) => "
    "200b f+0xb (p)\n"
    "7/8 1.000000240: 1 branches:u: return 200c f+0xc (p) => 1005 main+0x5 "
    "(p)\n"
    "7/8 1.000000250: 1 branches:u: call 1006 main+0x6 (p) => 3000 g+0x0 (p)\n"
    /* The time is that of the line before: an estimate. */
    "7/8 1.000000250: 1 branches:u: return 3009 g+0x9 (p) => 100b main+0xb "
    "(p)\n"
    "7/8 1.000000260: 1 branches:u: tr end syscall 1010 main+0x10 (p) => 0 "
    "[unknown] ([unknown])\n"
    "7/8 1.000000300: 1 branches:u: tr strt 0 [unknown] ([unknown]) => 1012 "
    "main+0x12 (p)\n"
    "7/8 1.000000310: 1 branches:u: call 1012 main+0x12 (p) => 2000 f+0x0 "
    "(p)\n";

static void
what_is_not_whole_is_counted_apart(void **state)
{
	struct hwtd_histogram_row row;
	struct hwtd_histogram *h = cl_histogram(NULL);

	(void)state;
	cl_add_text(h, not_whole, strlen(not_whole));
	/* One with a gap in it, one that is open. */
	cl_row_of(h, "f", &row);
	assert_int_equal(row.calls, 2);
	assert_int_equal(row.gapped, 1);
	assert_int_equal(row.unseen, 1);
	assert_int_equal(row.n, 0);
	/* One of 10 ns, and one of which nobody knows when it ended. */
	cl_row_of(h, "g", &row);
	assert_int_equal(row.calls, 2);
	assert_int_equal(row.n, 2);
	assert_int_equal(row.estimated + row.interpolated, 1);
	assert_int_equal(row.max, 10);
	/* A system call that was not traced: 40 ns. */
	cl_row_of(h, NULL, &row);
	assert_int_equal(row.flags, HWTD_HISTOGRAM_ROWF_UNTRACED);
	assert_int_equal(row.type, HWTD_CALL_TYPE_SYSCALL);
	assert_int_equal(row.n, 1);
	assert_int_equal(row.max, 40);
	hwtd_histogram_destroy(h);
}

static void
what_is_estimated_can_be_left_out(void **state)
{
	const struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.flags = HWTD_HISTOGRAM_EXACT };
	struct hwtd_histogram *h = cl_histogram(&opts);
	struct hwtd_histogram_row row;

	(void)state;
	cl_add_text(h, not_whole, strlen(not_whole));
	cl_row_of(h, "g", &row);
	assert_int_equal(row.calls, 2);
	assert_int_equal(row.n, 1);
	assert_int_equal(row.inexact, 1);
	assert_int_equal(row.min, 10);
	hwtd_histogram_destroy(h);
}

/* Text has no instructions, and no cycles here. */
static void
what_is_not_known_is_no_zero(void **state)
{
	static const uint32_t values[] = { HWTD_HISTOGRAM_CYCLES,
		HWTD_HISTOGRAM_SELF_CYCLES, HWTD_HISTOGRAM_INSNS,
		HWTD_HISTOGRAM_SELF_INSNS };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct hwtd_histogram_options opts = {
			.size = sizeof(opts),
			.value = values[i]
		};
		struct hwtd_histogram *h = cl_histogram(&opts);
		struct hwtd_histogram_row row;

		cl_add_text(h, not_whole, strlen(not_whole));
		cl_row_of(h, "g", &row);
		assert_int_equal(row.unknown, 2);
		assert_int_equal(row.n, 0);
		hwtd_histogram_destroy(h);
	}
}

static void
names_are_chosen_by_patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool fits;
	} cases[] = {
		{ "f", "f", true },
		{ "f", "ff", false },
		{ "", "", true },
		{ "", "f", false },
		{ "*", "", true },
		{ "f*", "f", true },
		{ "*f", "g::f", true },
		{ "*f", "g::fg", false },
		{ "a*b*c", "a-b-b-c-c", true },
		{ "a*b*c", "a-c-b", false },
		{ "??", "ab", true },
		{ "??", "a", false },
		{ "f(char \\*)", "f(char *)", true },
		{ "f(char \\*)", "f(char x)", false },
		{ "f\\?", "f?", true },
		{ "f\\?", "fx", false },
		{ "a\\\\b", "a\\b", true },
		{ "a\\", "a", false },
		{ "a\\", "a\\", false },
		{ "*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		    false },
		{ "[syscall]", "[syscall]", true },
		{ "[syscall]", "s", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s %s\n", cases[i].pattern, cases[i].text);
		assert_int_equal(hwtdi_histogram_matches(cases[i].pattern,
				     cases[i].text),
		    cases[i].fits);
	}
}

static void
only_chosen_functions_are_added(void **state)
{
	struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.function = "[s?s*l]" };
	struct hwtd_histogram *h = cl_histogram(&opts);
	struct hwtd_histogram_info info = { .size = sizeof(info) };
	struct hwtd_histogram_row row;

	(void)state;
	cl_add_text(h, not_whole, strlen(not_whole));
	assert_int_equal(hwtd_histogram_info(h, &info), HWTD_OK);
	assert_int_equal(info.n_rows, 1);
	cl_row(h, HWTD_HISTOGRAM_ALL, &row);
	assert_int_equal(row.calls, 1);
	assert_int_equal(row.max, 40);
	hwtd_histogram_destroy(h);
}

/* From begins of f to begins of g. */
static const char ways[] =
    "7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)\n"
    /* Another thread has its own. */
    "7/9 1.000000101: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)\n"
    "7/8 1.000000110: 1 branches:u: call 2004 f+0x4 (p) => 3000 g+0x0 (p)\n"
    "7/8 1.000000120: 1 branches:u: return 3009 g+0x9 (p) => 2009 f+0x9 (p)\n"
    /* No f before this one. */
    "7/8 1.000000125: 1 branches:u: call 2009 f+0x9 (p) => 3000 g+0x0 (p)\n"
    "7/8 1.000000126: 1 branches:u: return 3009 g+0x9 (p) => 200e f+0xe (p)\n"
    "7/8 1.000000130: 1 branches:u: return 200f f+0xf (p) => 1005 main+0x5 "
    "(p)\n"
    /* The second f begins it anew. */
    "7/8 1.000000140: 1 branches:u: call 1005 main+0x5 (p) => 2000 f+0x0 (p)\n"
    "7/8 1.000000150: 1 branches:u: return 200f f+0xf (p) => 100a main+0xa "
    "(p)\n"
    "7/8 1.000000160: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)\n"
    "7/8 1.000000190: 1 branches:u: jmp 2004 f+0x4 (p) => 3000 g+0x0 (p)\n"
    "7/8 1.000000200: 1 branches:u: return 3009 g+0x9 (p) => 1005 main+0x5 "
    "(p)\n"
    /* A gap between both. */
    "7/8 1.000000210: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)\n"
    " instruction trace error type 1 time 1.000000220 cpu -1 pid 7 tid 8 ip 0 "
    "code 7: Overflow packet\n"
    "7/8 1.000000230: 1 branches:u: tr strt 0 [unknown] ([unknown]) => "
    "2002 f+0x2 (p)\n"
    "7/8 1.000000240: 1 branches:u: call 2004 f+0x4 (p) => 3000 g+0x0 (p)\n";

static void
ways_between_two_functions_are_measured(void **state)
{
	const struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.function = "f",
		.to = "g" };
	struct hwtd_histogram *h = cl_histogram(&opts);
	struct hwtd_histogram_info info = { .size = sizeof(info) };
	struct hwtd_histogram_row row;

	(void)state;
	cl_add_text(h, ways, strlen(ways));
	assert_int_equal(hwtd_histogram_info(h, &info), HWTD_OK);
	assert_int_equal(info.value, HWTD_HISTOGRAM_BETWEEN);
	assert_int_equal(info.n_rows, 1);
	assert_int_equal(info.restarted, 1);
	/* That of thread 9. */
	assert_int_equal(info.unfinished, 1);
	cl_row_of(h, "f", &row);
	assert_string_equal(row.to_function, "g");
	assert_int_equal(row.to_address, 0x3000);
	/* 10 ns, 30 ns, and one with a gap. */
	assert_int_equal(row.calls, 3);
	assert_int_equal(row.gapped, 1);
	assert_int_equal(row.n, 2);
	assert_int_equal(row.min, 10);
	assert_int_equal(row.max, 30);
	hwtd_histogram_destroy(h);
}

static void
begins_of_one_function_are_how_often_it_comes(void **state)
{
	const struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.function = "g",
		.to = "g" };
	struct hwtd_histogram *h = cl_histogram(&opts);
	struct hwtd_histogram_row row;

	(void)state;
	cl_add_text(h, ways, strlen(ways));
	cl_row_of(h, "g", &row);
	/* 110 to 125, to 190, and with a gap to 240. */
	assert_int_equal(row.calls, 3);
	assert_int_equal(row.n, 2);
	assert_int_equal(row.min, 15);
	assert_int_equal(row.max, 65);
	hwtd_histogram_destroy(h);
}

/* Misuse. */

static void
what_makes_no_sense_is_refused(void **state)
{
	struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.value = HWTD_HISTOGRAM_VALUES };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = cl_context();
	struct hwtd_histogram *h = NULL, *other;
	struct hwtd_histogram_row row;
	uint64_t value;
	size_t n;

	(void)state;
	assert_int_equal(hwtd_histogram_create(ctx, &opts, &h, &err),
	    HWTD_E_INVALID);
	opts.value = HWTD_HISTOGRAM_BETWEEN;
	assert_int_equal(hwtd_histogram_create(ctx, &opts, &h, &err),
	    HWTD_E_INVALID);
	opts.to = "g";
	assert_int_equal(hwtd_histogram_create(ctx, &opts, &h, &err),
	    HWTD_E_INVALID);
	opts.function = "f";
	opts.value = HWTD_HISTOGRAM_SELF;
	assert_int_equal(hwtd_histogram_create(ctx, &opts, &h, &err),
	    HWTD_E_INVALID);
	opts.value = 0;
	opts.flags = 2;
	assert_int_equal(hwtd_histogram_create(ctx, &opts, &h, &err),
	    HWTD_E_INVALID);
	assert_null(h);
	h = cl_histogram(NULL);
	opts.flags = 0;
	other = cl_histogram(&opts);
	assert_int_equal(hwtd_histogram_merge(h, other, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_histogram_merge(h, h, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_histogram_rows(h, 0, &row, sizeof(row), 1, &n),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_histogram_sort(h, HWTD_HISTOGRAM_SORTS, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_histogram_sort(h, 0, &err), HWTD_OK);
	assert_int_equal(hwtd_histogram_rows(h, 0, &row, sizeof(row), 1, &n),
	    HWTD_END);
	assert_int_equal(hwtd_histogram_rows(h, 0, &row, 7, 1, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_histogram_quantile(h, 0, 1000001, &value),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_histogram_quantile(h, HWTD_HISTOGRAM_ALL, 10,
			     &value),
	    HWTD_OK);
	assert_int_equal(value, 0);
	assert_string_equal(
	    hwtd_histogram_value_name(HWTD_HISTOGRAM_SELF_CYCLES),
	    "self-cycles");
	assert_string_equal(hwtd_histogram_value_name(HWTD_HISTOGRAM_VALUES),
	    "unknown");
	assert_string_equal(hwtd_histogram_sort_name(HWTD_HISTOGRAM_BY_P99),
	    "p99");
	assert_string_equal(hwtd_histogram_sort_name(HWTD_HISTOGRAM_SORTS),
	    "unknown");
	hwtd_histogram_destroy(other);
	hwtd_histogram_destroy(h);
	hwtd_histogram_destroy(NULL);
	hwtd_context_destroy(ctx);
}

/* Calls one after the other; ways need the rows of begins. */
static void
calls_are_added_one_after_the_other(void **state)
{
	const struct hwtd_histogram_options ways_of = {
		.size = sizeof(ways_of),
		.function = "f",
		.to = "g"
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_histogram *h = cl_histogram(NULL);
	struct hwtd_histogram *other = cl_histogram(NULL);
	struct hwtd_histogram_info info = { .size = sizeof(info) };
	struct hwtd_histogram_row row;
	struct hwtd_context *ctx = cl_context();
	struct hwtd_calls *a, *b;
	struct temp_dir dir;
	char path[300];
	size_t n;

	(void)state;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "text", path), ways, strlen(ways));
	assert_int_equal(hwtd_calls_open_text(ctx, path, NULL, &a, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_calls_open_text(ctx, path, NULL, &b, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_histogram_add_calls(h, a, &err), HWTD_OK);
	assert_int_equal(hwtd_histogram_add_calls(h, b, &err), HWTD_E_STATE);
	assert_int_equal(hwtd_histogram_merge(h, other, &err), HWTD_E_STATE);
	/* What there is can be read, and how much of the text it is of. */
	assert_int_equal(hwtd_histogram_info(h, &info), HWTD_OK);
	assert_int_equal(info.bytes, strlen(ways));
	assert_int_equal(hwtd_histogram_sort(h, 0, &err), HWTD_OK);
	assert_int_equal(hwtd_histogram_rows(h, HWTD_HISTOGRAM_ALL, &row,
			     sizeof(row), 1, &n),
	    HWTD_OK);
	/* Nothing was spoilt. */
	cl_add(h, a);
	cl_add(h, b);
	assert_int_equal(hwtd_histogram_info(h, &info), HWTD_OK);
	assert_int_equal(info.bytes, 2 * strlen(ways));
	hwtd_histogram_destroy(other);
	hwtd_histogram_destroy(h);
	h = cl_histogram(&ways_of);
	assert_int_equal(hwtd_calls_open_text(ctx, path, NULL, &a, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_histogram_add_calls(h, a, &err), HWTD_E_INVALID);
	hwtd_calls_close(a);
	hwtd_histogram_destroy(h);
	temp_dir_remove(&dir);
	hwtd_context_destroy(ctx);
}

/* Everything, with an allocator that may fail; the code of what failed. */
static int
try_all(struct hwtd_context *ctx, const char *path)
{
	const struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.function = "*",
		.to = "*" };
	const struct hwtd_calls_options how = { .size = sizeof(how),
		.flags = CL_CALLS };
	struct hwtd_histogram *h = NULL, *other = NULL;
	struct hwtd_calls *calls = NULL;
	int rc = hwtd_histogram_create(ctx, &opts, &h, NULL);

	if (rc == HWTD_OK)
		rc = hwtd_histogram_create(ctx, &opts, &other, NULL);
	if (rc == HWTD_OK)
		rc = hwtd_calls_open_text(ctx, path, &how, &calls, NULL);
	while (rc == HWTD_OK)
		rc = hwtd_histogram_add_calls(h, calls, NULL);
	if (rc == HWTD_END)
		rc = hwtd_histogram_merge(other, h, NULL);
	if (rc == HWTD_OK)
		rc = hwtd_histogram_sort(other, HWTD_HISTOGRAM_BY_P50, NULL);
	hwtd_histogram_destroy(h);
	hwtd_histogram_destroy(other);
	hwtd_calls_close(calls);
	return (rc);
}

static void
no_memory_is_an_error_and_no_leak(void **state)
{
	struct failing_allocator fails;
	struct temp_dir dir;
	char path[300];
	uint64_t n = 0;
	int rc;

	(void)state;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "text", path), ways, strlen(ways));
	failing_allocator_init(&fails);
	do {
		const struct hwtd_context_options opts = {
			.size = sizeof(opts),
			.allocator = &fails.allocator
		};
		struct hwtd_context *ctx;

		failing_allocator_arm(&fails, 0, false);
		assert_int_equal(hwtd_context_create(&opts, &ctx, NULL),
		    HWTD_OK);
		failing_allocator_arm(&fails, ++n, false);
		rc = try_all(ctx, path);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		failing_allocator_arm(&fails, 0, false);
		hwtd_context_destroy(ctx);
		assert_int_equal(fails.blocks, 0);
	} while (rc != HWTD_OK);
	assert_true(n > 20);
	temp_dir_remove(&dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_calls_are_told_as_they_are),
		cmocka_unit_test(what_is_not_whole_is_counted_apart),
		cmocka_unit_test(what_is_estimated_can_be_left_out),
		cmocka_unit_test(what_is_not_known_is_no_zero),
		cmocka_unit_test(names_are_chosen_by_patterns),
		cmocka_unit_test(only_chosen_functions_are_added),
		cmocka_unit_test(ways_between_two_functions_are_measured),
		cmocka_unit_test(
		    begins_of_one_function_are_how_often_it_comes),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(calls_are_added_one_after_the_other),
		cmocka_unit_test(no_memory_is_an_error_and_no_leak),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
