/*
 * Names of code by address: lists of runtimes and of kernels, and which name
 * counts where several do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "image/name_table.h"
#include "support/failing_allocator.h"

typedef int reader(struct hwtdi_name_table *table, struct hwtd_context *ctx,
    const void *text, size_t n, struct hwtd_error *err);

static struct hwtd_context *
new_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static void
read_text(struct hwtdi_name_table *t, struct hwtd_context *ctx, reader *read,
    const char *text, size_t n)
{
	/* Just as large, so that a read past the end is noticed. */
	char *copy = malloc(n != 0 ? n : 1);

	assert_non_null(copy);
	memcpy(copy, text, n);
	memset(t, 0, sizeof(*t));
	assert_int_equal(read(t, ctx, copy, n, NULL), HWTD_OK);
	free(copy);
	assert_int_equal(hwtdi_name_table_finish(t, ctx, NULL), HWTD_OK);
}

static void
assert_name(const struct hwtdi_name_table *t, uint64_t address,
    const char *want, uint64_t start)
{
	struct hwtdi_name_found found = { .text = NULL };
	const bool any = hwtdi_name_table_find(t, address, &found);

	assert_int_equal(any, want != NULL);
	if (want == NULL)
		return;
	assert_string_equal(found.text, want);
	assert_int_equal(found.address, start);
}

static void
names_of_a_perf_map_are_by_range(void **state)
{
	static const char text[] = "7f0000001000 20 one\n"
				   "0x7F0000001040 0x8 two words, more\n"
				   "\n"
				   "7f0000001048\t8\t\ttabs\r\n"
				   "fffffffffffffff0 10 last";
	struct hwtd_context *ctx = new_context();
	struct hwtdi_name_table t;

	(void)state;
	read_text(&t, ctx, hwtdi_name_table_add_perf_map, text,
	    sizeof(text) - 1);
	assert_int_equal(t.n_bad, 0);
	assert_name(&t, 0x7f0000000fff, NULL, 0);
	assert_name(&t, 0x7f0000001000, "one", 0x7f0000001000);
	assert_name(&t, 0x7f000000101f, "one", 0x7f0000001000);
	assert_name(&t, 0x7f0000001020, NULL, 0);
	assert_name(&t, 0x7f0000001047, "two words, more", 0x7f0000001040);
	assert_name(&t, 0x7f0000001048, "tabs", 0x7f0000001048);
	assert_name(&t, UINT64_MAX, "last", UINT64_MAX - 15);
	assert_name(&t, 0, NULL, 0);
	hwtdi_name_table_fini(&t, ctx);
	hwtd_context_destroy(ctx);
}

static void
lines_that_cannot_be_read_are_left_out(void **state)
{
	static const struct {
		reader *read;
		const char *line;
	} bad[] = {
		{ hwtdi_name_table_add_perf_map, "1000" },
		{ hwtdi_name_table_add_perf_map, "1000 10" },
		{ hwtdi_name_table_add_perf_map, "1000 10 " },
		{ hwtdi_name_table_add_perf_map, "name 10 x" },
		{ hwtdi_name_table_add_perf_map, "0x 10 x" },
		{ hwtdi_name_table_add_perf_map, "-1000 10 x" },
		{ hwtdi_name_table_add_perf_map, "1000,10 x" },
		{ hwtdi_name_table_add_perf_map, "11112222333344445 10 x" },
		{ hwtdi_name_table_add_perf_map, "1000 11112222333344445 x" },
		{ hwtdi_name_table_add_perf_map, "ffffffffffffffff 2 x" },
		{ hwtdi_name_table_add_kallsyms, "1000" },
		{ hwtdi_name_table_add_kallsyms, "1000 T" },
		{ hwtdi_name_table_add_kallsyms, "1000 TT x" },
		{ hwtdi_name_table_add_kallsyms, "x T x" },
	};
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hwtdi_name_table t;
		char text[100];
		int n;

		print_message("%s\n", bad[i].line);
		n = snprintf(text, sizeof(text), "\n%s\n%s good\n",
		    bad[i].line,
		    bad[i].read == hwtdi_name_table_add_kallsyms ? "2000 T"
								 : "2000 8");
		read_text(&t, ctx, bad[i].read, text, (size_t)n);
		assert_int_equal(t.n_bad, 1);
		assert_int_equal(t.first_bad, 2);
		assert_int_equal(t.n, 1);
		assert_name(&t, 0x2007, "good", 0x2000);
		hwtdi_name_table_fini(&t, ctx);
	}
	hwtd_context_destroy(ctx);
}

/* Code can be made where other code was. */
static void
of_names_that_overlap_the_newest_counts(void **state)
{
	static const char text[] = "1000 100 old\n"
				   "1040 20 inside\n"
				   "10c0 80 over its end\n"
				   "f80 a0 over its begin\n"
				   "1048 8 inside of inside\n"
				   "2000 10 same\n"
				   "2000 8 same again\n"
				   "3000 0 no size\n"
				   "2008 2000 long, before it\n";
	static const struct {
		uint64_t at;
		const char *want;
		uint64_t start;
	} points[] = {
		{ 0xf7f, NULL, 0 },
		{ 0xf80, "over its begin", 0xf80 },
		{ 0x101f, "over its begin", 0xf80 },
		{ 0x1020, "old", 0x1000 },
		{ 0x103f, "old", 0x1000 },
		{ 0x1040, "inside", 0x1040 },
		{ 0x1048, "inside of inside", 0x1048 },
		{ 0x1050, "inside", 0x1040 },
		{ 0x1060, "old", 0x1000 },
		{ 0x10bf, "old", 0x1000 },
		{ 0x10c0, "over its end", 0x10c0 },
		{ 0x113f, "over its end", 0x10c0 },
		{ 0x1140, NULL, 0 },
		{ 0x2007, "same again", 0x2000 },
		{ 0x2008, "long, before it", 0x2008 },
		{ 0x3000, "long, before it", 0x2008 },
		{ 0x4007, "long, before it", 0x2008 },
		{ 0x4008, NULL, 0 },
	};
	struct hwtd_context *ctx = new_context();
	struct hwtdi_name_table t;

	(void)state;
	read_text(&t, ctx, hwtdi_name_table_add_perf_map, text,
	    sizeof(text) - 1);
	assert_int_equal(t.n_bad, 0);
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		assert_name(&t, points[i].at, points[i].want, points[i].start);
	hwtdi_name_table_fini(&t, ctx);
	hwtd_context_destroy(ctx);
}

static void
symbols_of_a_kernel_reach_to_the_next_one(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "0000000000000000 T hidden\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000000 t local_alias\n"
				   "ffffffff81000100 t later_alias\n"
				   "ffffffff81000100 W weak_alias\n"
				   "ffffffff81000080 D data_is_no_code\n"
				   "ffffffff81000200 t $x\n"
				   "ffffffff81000300 T last_of_kernel\n"
				   "ffffffffc0000000 t first\t[mod]\n"
				   "ffffffffc0000010 t second\t[mod]\n"
				   "ffffffffc0000040 t other  [next]\n"
				   "ffffffffc0100000 t bpf_prog\t[bpf]\n";
	struct hwtd_context *ctx = new_context();
	struct hwtdi_name_found found;
	struct hwtdi_name_table t;

	(void)state;
	read_text(&t, ctx, hwtdi_name_table_add_kallsyms, text,
	    sizeof(text) - 1);
	assert_int_equal(t.n_bad, 0);
	assert_name(&t, 0, NULL, 0);
	assert_name(&t, 0xffffffff81000000, "_text", 0xffffffff81000000);
	assert_name(&t, 0xffffffff810000ff, "_text", 0xffffffff81000000);
	assert_name(&t, 0xffffffff81000100, "weak_alias", 0xffffffff81000100);
	assert_name(&t, 0xffffffff81000250, "weak_alias", 0xffffffff81000100);
	/* To the end of its page and one more, and not to the modules. */
	assert_name(&t, 0xffffffff81001fff, "last_of_kernel",
	    0xffffffff81000300);
	assert_name(&t, 0xffffffff81002000, NULL, 0);
	assert_name(&t, 0xffffffffc000000f, "first", 0xffffffffc0000000);
	assert_name(&t, 0xffffffffc000003f, "second", 0xffffffffc0000010);
	assert_true(hwtdi_name_table_find(&t, 0xffffffffc0000041, &found));
	assert_string_equal(found.text, "other");
	assert_string_equal(found.group, "[next]");
	assert_true(hwtdi_name_table_find(&t, 0xffffffffc0100fff, &found));
	assert_string_equal(found.group, "[bpf]");
	assert_true(hwtdi_name_table_find(&t, 0xffffffff81000000, &found));
	assert_string_equal(found.group, "");
	hwtdi_name_table_fini(&t, ctx);
	hwtd_context_destroy(ctx);
}

static void
names_without_end_are_cut(void **state)
{
	const size_t n = 70000;
	char *text = malloc(n + 100);
	struct hwtd_context *ctx = new_context();
	struct hwtdi_name_found found;
	struct hwtdi_name_table t;
	size_t at;

	(void)state;
	assert_non_null(text);
	at = (size_t)snprintf(text, 100, "1000 10 ");
	memset(text + at, 'x', n);
	at += n;
	at += (size_t)snprintf(text + at, 90, "\n2000 10 behind\n3000 10 a");
	/* A NUL ends a name, not the text. */
	memcpy(text + at, "\0b\n4000 10 c", 12);
	at += 12;
	read_text(&t, ctx, hwtdi_name_table_add_perf_map, text, at);
	assert_true(hwtdi_name_table_find(&t, 0x1008, &found));
	assert_int_equal(strlen(found.text), HWTDI_NAME_BYTES_MAX);
	assert_name(&t, 0x2008, "behind", 0x2000);
	assert_name(&t, 0x3008, "a", 0x3000);
	assert_name(&t, 0x4008, "c", 0x4000);
	free(text);
	hwtdi_name_table_fini(&t, ctx);
	hwtd_context_destroy(ctx);
}

/* The same as looking at all names, the newest first. */
static void
random_names_are_what_a_search_of_all_finds(void **state)
{
	struct hwtd_context *ctx = new_context();
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct {
			uint64_t address, size;
		} names[40];
		struct hwtdi_name_table t = { 0 };
		const size_t n = 1 + (size_t)round % 40;

		for (size_t i = 0; i < n; i++) {
			char text[16];
			int len;

			seed = seed * 6364136223846793005u +
			    1442695040888963407u;
			names[i].address = seed >> 33 & 0xff;
			names[i].size = 1 + (seed >> 50 & 0x3f);
			len = snprintf(text, sizeof(text), "n%zu", i);
			assert_int_equal(hwtdi_name_table_add(&t, ctx,
					     &(struct hwtdi_name){
						 .address = names[i].address,
						 .size = names[i].size },
					     text, (size_t)len, NULL, 0, NULL),
			    HWTD_OK);
		}
		assert_int_equal(hwtdi_name_table_finish(&t, ctx, NULL),
		    HWTD_OK);
		assert_true(t.n_pieces <= 2 * n);
		for (uint64_t at = 0; at < 0x140; at++) {
			size_t i = n;
			char want[16];

			while (i > 0 &&
			    at - names[i - 1].address >= names[i - 1].size)
				i--;
			(void)snprintf(want, sizeof(want), "n%zu", i - 1);
			assert_name(&t, at, i > 0 ? want : NULL,
			    i > 0 ? names[i - 1].address : 0);
		}
		hwtdi_name_table_fini(&t, ctx);
	}
	hwtd_context_destroy(ctx);
}

/* All begin one behind the other and end together, or the other way round. */
static void
many_names_inside_of_others_take_no_time(void **state)
{
	const uint64_t n = getenv("HWTDECODE_TEST_SMALL") != NULL ? 5000
								  : 300000;
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (int down = 0; down < 2; down++) {
		struct hwtdi_name_table t = { 0 };
		const clock_t start = clock();

		for (uint64_t i = 0; i < n; i++) {
			const uint64_t k = down ? n - 1 - i : i;

			assert_int_equal(hwtdi_name_table_add(&t, ctx,
					     &(struct hwtdi_name){
						 .address = 0x1000 + k,
						 .size = 2 * (n - k) },
					     "x", 1, NULL, 0, NULL),
			    HWTD_OK);
		}
		assert_int_equal(hwtdi_name_table_finish(&t, ctx, NULL),
		    HWTD_OK);
		print_message("%.2f s\n",
		    (double)(clock() - start) / CLOCKS_PER_SEC);
		assert_name(&t, 0x1000, "x", 0x1000);
		hwtdi_name_table_fini(&t, ctx);
	}
	hwtd_context_destroy(ctx);
}

static void
failed_allocations_leave_nothing_behind(void **state)
{
	static const char text[] = "1000 10 one\n1008 20 two\n1004 0 three\n";
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	int rc = HWTD_E_NOMEM;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtdi_name_table t = { 0 };

		failing_allocator_arm(&f, n, false);
		rc = hwtdi_name_table_add_perf_map(&t, ctx, text,
		    sizeof(text) - 1, NULL);
		if (rc == HWTD_OK)
			rc = hwtdi_name_table_finish(&t, ctx, NULL);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		hwtdi_name_table_fini(&t, ctx);
		assert_int_equal(f.blocks, 1);
	}
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_a_perf_map_are_by_range),
		cmocka_unit_test(lines_that_cannot_be_read_are_left_out),
		cmocka_unit_test(of_names_that_overlap_the_newest_counts),
		cmocka_unit_test(symbols_of_a_kernel_reach_to_the_next_one),
		cmocka_unit_test(names_without_end_are_cut),
		cmocka_unit_test(random_names_are_what_a_search_of_all_finds),
		cmocka_unit_test(many_names_inside_of_others_take_no_time),
		cmocka_unit_test(failed_allocations_leave_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
