/*
 * Divergences of two runs of a program: a model that runs it knows what both
 * execute, and so where they differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/branch_program.h"
#include "support/failing_allocator.h"
#include "support/random_program.h"

/* All rows of a comparison, and its one pair. */

#define MOST_ROWS 1000u

struct found {
	struct hwtd_divergence rows[MOST_ROWS];
	/* The last common block, and the next ones, which are borrowed. */
	struct hwtd_flow_block common[MOST_ROWS][2], next[MOST_ROWS][2];
	size_t n;
	struct hwtd_divergence_pair pair;
	struct hwtd_divergences_info info;
};

static void
read_all(struct hwtd_divergences *d, struct found *out)
{
	struct hwtd_error err = { .size = sizeof(err) };

	memset(out, 0, sizeof(*out));
	for (;;) {
		struct hwtd_divergence row = { .size = sizeof(row) };
		const int rc = hwtd_divergences_read(d, &row, &err);

		if (rc == HWTD_END)
			break;
		if (rc != HWTD_OK)
			print_message("%s\n", err.message);
		assert_int_equal(rc, HWTD_OK);
		if (row.kind == HWTD_DIVERGENCE_UNKNOWN)
			continue;
		assert_true(out->n < MOST_ROWS);
		assert_int_equal(row.stride, sizeof(struct hwtd_flow_block));
		for (unsigned int i = 0; i < 2; i++) {
			if (row.n_common != 0)
				out->common[out->n]
					   [i] = row.common[i]
							   [row.n_common - 1];
			if (row.n_next[i] != 0)
				out->next[out->n][i] = row.next[i][0];
		}
		out->rows[out->n++] = row;
	}
	out->pair.size = sizeof(out->pair);
	assert_int_equal(hwtd_divergences_pair(d, 0, &out->pair), HWTD_OK);
	out->info.size = sizeof(out->info);
	assert_int_equal(hwtd_divergences_info(d, &out->info), HWTD_OK);
	assert_int_equal(out->info.n_pairs, 1);
	assert_true(out->info.bytes <= out->info.all_bytes);
}

static void
compare(struct hwtd_trace *a, struct hwtd_trace *b,
    const struct hwtd_divergences_options *opts, struct found *out)
{
	struct hwtd_divergences *d;

	assert_int_equal(hwtd_divergences_open(a, b, opts, &d, NULL), HWTD_OK);
	hwtd_trace_close(a);
	hwtd_trace_close(b);
	read_all(d, out);
	hwtd_divergences_close(d);
}

static void
compare_runs(const struct branch_run *a, const struct branch_plan *plan_a,
    const struct branch_run *b, const struct branch_plan *plan_b,
    const struct hwtd_divergences_options *opts, struct found *out)
{
	compare(bp_trace(a, plan_a), bp_trace(b, plan_b), opts, out);
}

static bool
same_block(const struct branch_block *a, const struct branch_block *b)
{
	return (a->start == b->start && a->end == b->end);
}

static void
assert_block(const struct hwtd_flow_block *got,
    const struct branch_block *want, uint64_t base)
{
	assert_int_equal(got->file_off, want->start);
	assert_int_equal(got->address, base + want->start);
	assert_int_equal(got->address + got->bytes, base + want->end);
	assert_int_equal(got->image, 0);
}

static struct branch_run runs[2];
static struct found found;

static void
free_runs(void)
{
	pt_free(&runs[0].packets);
	pt_free(&runs[1].packets);
}

static void
one_run_differs_from_itself_nowhere(void **state)
{
	const struct branch_plan plan = { .seed = 1,
		.steps = 20000,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	const struct branch_plan moved = { .seed = 1,
		.steps = 20000,
		.flip = UINT32_MAX,
		.base = 0x7f0000001000 };

	(void)state;
	bp_run(&runs[0], &plan);
	bp_run(&runs[1], &moved);
	compare_runs(&runs[0], &plan, &runs[1], &moved, NULL, &found);
	assert_int_equal(found.n, 0);
	assert_int_equal(found.pair.same, runs[0].n);
	assert_int_equal(found.pair.insns[0], found.pair.insns[1]);
	assert_int_equal(found.pair.same_insns, found.pair.insns[0]);
	assert_int_equal(found.pair.flags,
	    HWTD_DIVERGENCE_PAIRF_A | HWTD_DIVERGENCE_PAIRF_B |
		HWTD_DIVERGENCE_PAIRF_DONE);
	assert_int_equal(found.pair.stream[0], 0);
	assert_int_equal(found.pair.tid[1], HWTD_NO_ID);
	assert_int_equal(found.info.n_done, 1);
	free_runs();
}

/* Runs that are the same up to a branch; `gapped`: with a gap before it. */
static void
check_flip(uint64_t seed, bool gapped)
{
	struct branch_plan a = { .seed = seed,
		.steps = 900,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct branch_plan b = a;
	uint64_t random = seed;
	size_t first = 0;

	b.base = seed % 2 == 0 ? 0x1000 : 0x55550000;
	b.flip = 400 + random_below(&random, 200);
	/* A direct jump has no other way. */
	bp_run(&runs[0], &a);
	bp_run(&runs[1], &b);
	while (first < runs[0].n && first < runs[1].n &&
	    same_block(&runs[0].blocks[first], &runs[1].blocks[first]))
		first++;
	if (first == runs[0].n || first == runs[1].n) {
		free_runs();
		return;
	}
	if (gapped) {
		struct branch_plan *lossy = seed % 3 == 0 ? &a : &b;

		free_runs();
		lossy->gap = 100 + random_below(&random, 100);
		lossy->gap_end = lossy->gap + 1 + random_below(&random, 60);
		bp_run(&runs[0], &a);
		bp_run(&runs[1], &b);
	}
	compare_runs(&runs[0], &a, &runs[1], &b, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].kind, HWTD_DIVERGENCE_FLOW);
	assert_int_equal(found.rows[0].flags & HWTD_DIVERGENCEF_BEHIND_GAP,
	    gapped ? HWTD_DIVERGENCEF_BEHIND_GAP : 0);
	assert_block(&found.common[0][0], &runs[0].blocks[first - 1], a.base);
	assert_block(&found.common[0][1], &runs[1].blocks[first - 1], b.base);
	assert_block(&found.next[0][0], &runs[0].blocks[first], a.base);
	assert_block(&found.next[0][1], &runs[1].blocks[first], b.base);
	if (!gapped)
		assert_int_equal(found.rows[0].same, first);
	assert_int_equal(found.pair.divergences, 1);
	assert_true((found.pair.flags & HWTD_DIVERGENCE_PAIRF_MORE) != 0);
	free_runs();
}

static void
one_branch_that_goes_elsewhere_is_found(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++)
		check_flip(seed, false);
}

static void
it_is_found_behind_a_gap_too(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++)
		check_flip(seed, true);
}

/* What was executed in a gap of one is passed over in the other. */
static void
gaps_are_no_difference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct branch_plan plans[2];
		uint64_t random = seed;
		const unsigned int lossy = random_below(&random, 2);

		plans[0] = (struct branch_plan){ .seed = seed,
			.steps = 3000,
			.flip = UINT32_MAX,
			.base = 0x1000 };
		plans[1] = plans[0];
		plans[lossy].gap = 10 + random_below(&random, 1000);
		plans[lossy].gap_end = plans[lossy].gap + 1 +
		    random_below(&random, 1500);
		bp_run(&runs[0], &plans[0]);
		bp_run(&runs[1], &plans[1]);
		compare_runs(&runs[0], &plans[0], &runs[1], &plans[1], NULL,
		    &found);
		assert_int_equal(found.n, 0);
		assert_int_equal(found.pair.gaps[lossy], 1);
		assert_int_equal(found.pair.gaps[1 - lossy], 0);
		assert_int_equal(found.pair.passed[lossy], 0);
		/* That in which it begins may be told, or not. */
		assert_in_range(runs[lossy].lost_end - runs[lossy].lost -
			found.pair.passed[1 - lossy] + 1,
		    0, 2);
		assert_int_equal(found.pair.same +
			found.pair.passed[1 - lossy],
		    runs[0].n);
		free_runs();
	}
}

/* Both have gaps, at different places or at the same. */
static void
gaps_of_both_are_no_difference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct branch_plan plans[2];
		uint64_t random = seed;

		for (unsigned int i = 0; i < 2; i++) {
			plans[i] = (struct branch_plan){ .seed = seed,
				.steps = 3000,
				.flip = UINT32_MAX,
				.base = 0x1000 };
			plans[i].gap = 10 + random_below(&random, 1000);
			plans[i].gap_end = plans[i].gap + 1 +
			    random_below(&random, 1500);
			bp_run(&runs[i], &plans[i]);
		}
		compare_runs(&runs[0], &plans[0], &runs[1], &plans[1], NULL,
		    &found);
		assert_int_equal(found.n, 0);
		assert_true(found.pair.same > 0);
		free_runs();
	}
}

/* Detours of B: each is a row, and behind it all is the same again. */
static void
all_differences_are_found_if_asked_for(void **state)
{
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.max_rows = MOST_ROWS };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct branch_plan a = { .seed = seed,
			.steps = 5000,
			.flip = UINT32_MAX,
			.base = 0x1000 };
		struct branch_plan b = a;
		size_t i = 0, j = 0, n = 0;

		b.detour_of = 7;
		bp_run(&runs[0], &a);
		bp_run(&runs[1], &b);
		compare_runs(&runs[0], &a, &runs[1], &b, &opts, &found);
		while (i < runs[0].n) {
			if (same_block(&runs[0].blocks[i],
				&runs[1].blocks[j])) {
				i++;
				j++;
				continue;
			}
			assert_true(n < found.n);
			assert_int_equal(found.rows[n].kind,
			    HWTD_DIVERGENCE_FLOW);
			assert_block(&found.common[n][0],
			    &runs[0].blocks[i - 1], a.base);
			assert_block(&found.next[n][0], &runs[0].blocks[i],
			    a.base);
			assert_block(&found.next[n][1], &runs[1].blocks[j],
			    b.base);
			n++;
			j += 3;
		}
		assert_true(n > 20);
		assert_int_equal(found.n, n);
		assert_int_equal(found.pair.other[0], 0);
		assert_int_equal(found.pair.other[1], 3 * n);
		assert_int_equal(found.pair.same, runs[0].n);
		free_runs();
	}
}

/* B goes on behind where A ends. */
static void
one_that_ends_before_the_other_is_told(void **state)
{
	const struct branch_plan a = { .seed = 5,
		.steps = 500,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct branch_plan b = a;
	size_t n;

	(void)state;
	b.steps = 700;
	bp_run(&runs[0], &a);
	bp_run(&runs[1], &b);
	n = runs[0].n;
	compare_runs(&runs[0], &a, &runs[1], &b, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].kind, HWTD_DIVERGENCE_END);
	assert_int_equal(found.rows[0].ended, HWTD_SIDE_A);
	assert_int_equal(found.rows[0].n_next[0], 0);
	assert_true(found.rows[0].n_next[1] > 0);
	assert_true(found.rows[0].same >= n);
	assert_int_equal(found.pair.divergences, 0);
	compare_runs(&runs[1], &b, &runs[0], &a, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].ended, HWTD_SIDE_B);
	free_runs();
}

/* The bytes of the program were changed, and nobody says that it is another. */
static void
code_that_is_not_the_same_is_said(void **state)
{
	const struct branch_plan a = { .seed = 3,
		.steps = 300,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct branch_plan b = a;
	uint8_t code[2][BP_CODE_BYTES];

	(void)state;
	b.flip = 100;
	bp_run(&runs[0], &a);
	bp_run(&runs[1], &b);
	bp_code(code[0]);
	bp_code(code[1]);
	/* The nop in the middle of node 0, and so on. */
	for (uint32_t node = 0; node < BP_NODES; node++)
		code[1][node * BP_NODE_BYTES + 12] = 0xf8; /* clc */
	compare(bp_trace_in(NULL, &runs[0], a.base, "/a/prog", code[0]),
	    bp_trace_in(NULL, &runs[1], b.base, "/b/prog", code[1]), NULL,
	    &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].flags & HWTD_DIVERGENCEF_CODE_DIFFERS,
	    found.common[0][0].bytes > 4 ? HWTD_DIVERGENCEF_CODE_DIFFERS : 0);
	free_runs();
}

/* Images of other names have nothing in common. */
static void
other_images_are_a_difference_at_the_start(void **state)
{
	const struct branch_plan a = { .seed = 3,
		.steps = 300,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct hwtd_divergence_image image = { .size = sizeof(image) };
	struct hwtd_trace *traces[2];
	struct hwtd_divergences *d;
	uint8_t code[BP_CODE_BYTES];

	(void)state;
	bp_run(&runs[0], &a);
	bp_run(&runs[1], &a);
	bp_code(code);
	traces[0] = bp_trace_in(NULL, &runs[0], a.base, "prog", code);
	traces[1] = bp_trace_in(NULL, &runs[1], a.base, "other", code);
	assert_int_equal(hwtd_divergences_open(traces[0], traces[1], NULL, &d,
			     NULL),
	    HWTD_OK);
	hwtd_trace_close(traces[0]);
	hwtd_trace_close(traces[1]);
	read_all(d, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].kind, HWTD_DIVERGENCE_FLOW);
	assert_true((found.rows[0].flags & HWTD_DIVERGENCEF_AT_START) != 0);
	assert_int_equal(found.rows[0].n_common, 0);
	assert_int_equal(hwtd_divergences_image(d, 0, &image), HWTD_OK);
	assert_int_equal(image.state, HWTD_DIVERGENCE_IMAGE_ONLY_A);
	assert_string_equal(image.path[0], "prog");
	assert_int_equal(image.image[1], HWTD_NO_ID);
	assert_int_equal(hwtd_divergences_image(d, 1, &image), HWTD_OK);
	assert_int_equal(image.state, HWTD_DIVERGENCE_IMAGE_ONLY_B);
	assert_int_equal(hwtd_divergences_image(d, 2, &image), HWTD_END);
	hwtd_divergences_close(d);
	free_runs();
}

static void
results_do_not_depend_on_jobs(void **state)
{
	const struct hwtd_events_options four = { .size = sizeof(four),
		.jobs = 4 };
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.max_rows = MOST_ROWS,
		.window = 64,
		.events = { &four, &four } };
	const struct hwtd_divergences_options plain = { .size = sizeof(plain),
		.max_rows = MOST_ROWS,
		.window = 64 };
	static struct found one;
	const struct branch_plan a = { .seed = 9,
		.steps = 15000,
		.flip = UINT32_MAX,
		.detour_of = 40,
		.base = 0x1000 };
	struct branch_plan b = a;

	(void)state;
	b.detour_of = 50;
	bp_run(&runs[0], &a);
	bp_run(&runs[1], &b);
	compare_runs(&runs[0], &a, &runs[1], &b, &plain, &one);
	compare_runs(&runs[0], &a, &runs[1], &b, &opts, &found);
	assert_true(one.n > 10);
	assert_int_equal(one.n, found.n);
	assert_memory_equal(one.common, found.common, sizeof(one.common));
	assert_memory_equal(one.next, found.next, sizeof(one.next));
	free_runs();
}

static void
what_makes_no_sense_is_refused(void **state)
{
	const struct branch_plan a = { .seed = 3,
		.steps = 30,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.flags = 2 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_divergence row = { .size = sizeof(row) };
	struct hwtd_divergences *d = NULL;
	struct hwtd_trace *trace, *open = mt_create();
	int rc;

	(void)state;
	bp_run(&runs[0], &a);
	trace = bp_trace(&runs[0], &a);
	pt_free(&runs[0].packets);
	assert_int_equal(hwtd_divergences_open(trace, NULL, NULL, &d, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_divergences_open(trace, open, NULL, &d, &err),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_E_INVALID);
	opts.flags = 0;
	opts.window = 63;
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_E_INVALID);
	opts.window = 0;
	opts.n_blocks = 2000;
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_E_INVALID);
	assert_null(d);
	opts.n_blocks = 0;
	opts.tid_plus_1[1] = 8;
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_OK);
	do {
		rc = hwtd_divergences_read(d, &row, &err);
	} while (rc == HWTD_OK);
	assert_int_equal(rc, HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_divergences_read(d, &row, &err), HWTD_E_STATE);
	hwtd_divergences_close(d);
	hwtd_divergences_close(NULL);
	hwtd_trace_close(trace);
	hwtd_trace_close(open);
	assert_string_equal(hwtd_divergence_kind_name(HWTD_DIVERGENCE_LOST),
	    "lost");
	assert_string_equal(hwtd_divergence_kind_name(HWTD_DIVERGENCE_KINDS),
	    "unknown");
	assert_string_equal(
	    hwtd_divergence_image_state_name(HWTD_DIVERGENCE_IMAGE_ONLY_B),
	    "only-b");
	assert_string_equal(
	    hwtd_divergence_image_state_name(HWTD_DIVERGENCE_IMAGE_STATES),
	    "unknown");
}

static int
try_all(struct hwtd_trace *a, struct hwtd_trace *b)
{
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.max_rows = 5,
		.window = 64 };
	struct hwtd_divergence row = { .size = sizeof(row) };
	struct hwtd_divergences *d = NULL;
	int rc = hwtd_divergences_open(a, b, &opts, &d, NULL);

	while (rc == HWTD_OK)
		rc = hwtd_divergences_read(d, &row, NULL);
	hwtd_divergences_close(d);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static void
no_memory_is_an_error_and_no_leak(void **state)
{
	const struct branch_plan a = { .seed = 2,
		.steps = 400,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct branch_plan b = a;
	struct failing_allocator fails;
	uint8_t code[BP_CODE_BYTES];
	uint64_t n = 0;
	int rc;

	(void)state;
	b.detour_of = 9;
	b.gap = 50;
	b.gap_end = 90;
	bp_run(&runs[0], &a);
	bp_run(&runs[1], &b);
	bp_code(code);
	failing_allocator_init(&fails);
	do {
		const struct hwtd_context_options opts = {
			.size = sizeof(opts),
			.allocator = &fails.allocator
		};
		struct hwtd_trace *traces[2];
		struct hwtd_context *ctx;

		failing_allocator_arm(&fails, 0, false);
		assert_int_equal(hwtd_context_create(&opts, &ctx, NULL),
		    HWTD_OK);
		traces[0] = bp_trace_in(ctx, &runs[0], a.base, "prog", code);
		traces[1] = bp_trace_in(ctx, &runs[1], b.base, "prog", code);
		failing_allocator_arm(&fails, ++n, false);
		rc = try_all(traces[0], traces[1]);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		failing_allocator_arm(&fails, 0, false);
		hwtd_trace_close(traces[0]);
		hwtd_trace_close(traces[1]);
		hwtd_context_destroy(ctx);
		assert_int_equal(fails.blocks, 0);
	} while (rc != HWTD_OK);
	assert_true(n > 30);
	free_runs();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_differs_from_itself_nowhere),
		cmocka_unit_test(one_branch_that_goes_elsewhere_is_found),
		cmocka_unit_test(it_is_found_behind_a_gap_too),
		cmocka_unit_test(gaps_are_no_difference),
		cmocka_unit_test(gaps_of_both_are_no_difference),
		cmocka_unit_test(all_differences_are_found_if_asked_for),
		cmocka_unit_test(one_that_ends_before_the_other_is_told),
		cmocka_unit_test(code_that_is_not_the_same_is_said),
		cmocka_unit_test(other_images_are_a_difference_at_the_start),
		cmocka_unit_test(results_do_not_depend_on_jobs),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(no_memory_is_an_error_and_no_leak),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
