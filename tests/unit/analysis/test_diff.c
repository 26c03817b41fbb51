/*
 * Differences of two profiles that were put together by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/profile/profile_store.h"
#include "support/failing_allocator.h"

#include <hwtdecode/diff.h>

static struct hwtd_context *
new_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static struct hwtd_profile *
new_profile(struct hwtd_context *ctx)
{
	struct hwtd_profile *p;

	assert_int_equal(hwtd_profile_create(ctx, NULL, &p, NULL), HWTD_OK);
	return (p);
}

static uint32_t
add_image(struct hwtd_profile *p, const char *name, uint8_t build)
{
	struct hwtd_profile_image image = { .name = name,
		.n_build_id = build != 0 ? 4 : 0 };
	uint32_t no;

	memset(image.build_id, build, 4);
	assert_int_equal(hwtdi_profile_add_image(p, &image, &no, NULL),
	    HWTD_OK);
	return (no);
}

static uint32_t
add_function(struct hwtd_profile *p, uint32_t image, uint64_t off,
    const char *name)
{
	const struct hwtd_profile_function f = { .name = name,
		.image = image,
		.file_off = off,
		.flags = HWTD_PROFILE_FUNCTIONF_OFFSET };
	uint32_t no;

	assert_int_equal(hwtdi_profile_add_function(p, &f, &no, NULL),
	    HWTD_OK);
	return (no);
}

/* `insns` instructions of one byte, at the begin of a function. */
static void
add_code(struct hwtd_profile *p, uint32_t image, uint64_t off, uint32_t insns,
    uint64_t count, uint32_t function)
{
	const struct hwtdi_profile_code code = { .off = off,
		.count = count,
		.image = image,
		.function = function,
		.inlined = HWTD_NO_ID,
		.line = HWTD_NO_ID,
		.insns = insns,
		.bytes = insns,
		.isa = HWTD_ISA_X86_64,
		.branch = HWTD_BRANCH_RETURN };
	uint8_t lengths[16];

	memset(lengths, 1, sizeof(lengths));
	assert_true(insns <= sizeof(lengths));
	assert_int_equal(hwtdi_profile_add_code(p, &code, lengths, NULL),
	    HWTD_OK);
}

static void
add_edge(struct hwtd_profile *p, uint32_t image, uint32_t from, uint64_t off,
    uint32_t to, uint64_t to_off, uint32_t branch, bool to_start,
    uint64_t count)
{
	const struct hwtd_profile_edge edge = { .from_image = image,
		.to_image = image,
		.from_off = off,
		.to_off = to_off,
		.count = count,
		.from_function = from,
		.to_function = to,
		.branch = branch,
		.flags = to_start ? HWTD_PROFILE_EDGEF_TO_START : 0 };

	assert_int_equal(hwtdi_profile_add_edge(p, &edge, NULL), HWTD_OK);
}

static uint32_t
add_node(struct hwtd_profile *p, uint32_t parent, uint32_t function,
    uint64_t calls, uint64_t ns)
{
	const struct hwtd_profile_node node = { .parent = parent,
		.function = function,
		.thread = HWTD_NO_ID,
		.type = HWTD_CALL_TYPE_CALL,
		.self = { .calls = calls, .ns = ns, .insns = ns } };
	uint32_t no;

	assert_int_equal(hwtdi_profile_add_node(p, &node, &no, NULL), HWTD_OK);
	return (no);
}

static void
add_seen(struct hwtd_profile *p, enum hwtd_profile_source source,
    uint64_t bytes, uint64_t gap_bytes)
{
	struct hwtd_profile_seen seen = { .added = 1,
		.bytes = bytes,
		.gap_bytes = gap_bytes };

	seen.gaps[HWTD_GAP_OVERFLOW] = gap_bytes != 0;
	hwtdi_profile_add_seen(p, source, &seen);
}

/* main, f that changes, g that only A has; of a build. */
static struct hwtd_profile *
profile_a(struct hwtd_context *ctx, uint8_t build)
{
	struct hwtd_profile *p = new_profile(ctx);
	const uint32_t image = add_image(p, "/a/prog", build);
	const uint32_t main_no = add_function(p, image, 0x0, "main");
	const uint32_t f = add_function(p, image, 0x10, "f");
	const uint32_t g = add_function(p, image, 0x20, "g");

	add_code(p, image, 0x0, 4, 10, main_no);
	add_code(p, image, 0x10, 2, 30, f);
	add_code(p, image, 0x20, 3, 5, g);
	add_edge(p, image, main_no, 0x2, f, 0x10, HWTD_BRANCH_CALL, true, 30);
	add_edge(p, image, main_no, 0x3, g, 0x20, HWTD_BRANCH_JUMP, true, 5);
	/* In one function: no call. */
	add_edge(p, image, f, 0x11, f, 0x10, HWTD_BRANCH_CONDITIONAL, true, 7);
	add_seen(p, HWTD_PROFILE_RUNS, 1000, 10);
	return (p);
}

/* f is executed more often, and h is new; all lies elsewhere. */
static struct hwtd_profile *
profile_b(struct hwtd_context *ctx, uint8_t build, uint64_t at)
{
	struct hwtd_profile *p = new_profile(ctx);
	const uint32_t image = add_image(p, "/b/prog", build);
	const uint32_t h = add_function(p, image, at + 0x40, "h");
	const uint32_t f = add_function(p, image, at + 0x10, "f");
	const uint32_t main_no = add_function(p, image, at + 0x0, "main");

	add_code(p, image, at + 0x0, 4, 10, main_no);
	add_code(p, image, at + 0x10, 2, 50, f);
	add_code(p, image, at + 0x40, 1, 3, h);
	add_edge(p, image, main_no, at + 0x2, f, at + 0x10, HWTD_BRANCH_CALL,
	    true, 50);
	add_edge(p, image, f, at + 0x11, f, at + 0x10, HWTD_BRANCH_CONDITIONAL,
	    true, 7);
	add_edge(p, image, f, at + 0x11, h, at + 0x40, HWTD_BRANCH_CALL, true,
	    3);
	add_seen(p, HWTD_PROFILE_RUNS, 2000, 0);
	return (p);
}

static struct hwtd_diff *
compare(struct hwtd_context *ctx, struct hwtd_profile *a,
    struct hwtd_profile *b, uint32_t by, uint32_t flags)
{
	const struct hwtd_diff_options opts = { .size = sizeof(opts),
		.flags = flags,
		.by = by };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_diff *d = NULL;
	const int rc = hwtd_diff_create(ctx, a, b, &opts, &d, &err);

	if (rc != HWTD_OK)
		print_message("%s\n", err.message);
	assert_int_equal(rc, HWTD_OK);
	/* It keeps nothing of them. */
	hwtd_profile_destroy(a);
	hwtd_profile_destroy(b);
	return (d);
}

/* "f 60/100 ..." in order. */
static void
assert_functions(const struct hwtd_diff *d, const char *want)
{
	struct hwtd_diff_function f;
	char got[1024] = "";
	size_t at = 0, n;

	for (uint64_t i = 0;
	     hwtd_diff_functions(d, i, &f, sizeof(f), 1, &n) == HWTD_OK; i++)
		at += (size_t)snprintf(got + at, sizeof(got) - at,
		    "%s%s %llu/%llu%s%s %.1f", i == 0 ? "" : ", ",
		    f.name != NULL ? f.name : "-",
		    (unsigned long long)f.insns[0],
		    (unsigned long long)f.insns[1],
		    (f.flags & HWTD_DIFF_ONLY_A) != 0 ? " A" : "",
		    (f.flags & HWTD_DIFF_ONLY_B) != 0 ? " B" : "", f.change);
	assert_string_equal(got, want);
}

static void
functions_are_matched_by_name_whatever_the_build(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtd_diff *d = compare(ctx, profile_a(ctx, 1),
	    profile_b(ctx, 2, 0x1000), HWTD_DIFF_BY_INSNS, 0);
	struct hwtd_diff_info info = { .size = sizeof(info) };
	struct hwtd_diff_function f;
	size_t n;

	(void)state;
	/* f: 2 instructions, 30 and 50 times. */
	assert_functions(d,
	    "f 60/100 40.0, g 15/0 A -15.0, h 0/3 B 3.0, main 40/40 0.0");
	assert_int_equal(hwtd_diff_functions(d, 0, &f, sizeof(f), 1, &n),
	    HWTD_OK);
	assert_string_equal(f.image, "/a/prog");
	assert_int_equal(f.entered[0], 30);
	assert_int_equal(f.entered[1], 50);
	assert_int_equal(f.n[0] + f.n[1], 2);
	assert_int_equal(hwtd_diff_functions(d, 4, &f, sizeof(f), 1, &n),
	    HWTD_END);
	assert_int_equal(hwtd_diff_info(d, &info), HWTD_OK);
	assert_int_equal(info.n_functions, 4);
	assert_int_equal(info.n_only[0], 1);
	assert_int_equal(info.n_only[1], 1);
	assert_int_equal(info.total[0], 115);
	assert_int_equal(info.total[1], 143);
	assert_int_equal(info.bytes[1], 2000);
	assert_int_equal(info.gap_bytes[0], 10);
	assert_int_equal(info.gaps[0], 1);
	assert_int_equal(info.gaps[1], 0);
	assert_int_equal(info.different_images, 1);
	/* Places mean nothing in another build. */
	assert_int_equal(info.n_branches, 0);
	hwtd_diff_destroy(d);
	hwtd_context_destroy(ctx);
}

/* 115 of 143 stand for one: 100 is 80.4, 40 is 32.2, 3 is 2.4. */
static void
shares_are_compared_if_that_is_wanted(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtd_diff *d = compare(ctx, profile_a(ctx, 1),
	    profile_b(ctx, 2, 0x1000), HWTD_DIFF_BY_INSNS,
	    HWTD_DIFF_NORMALIZE);

	(void)state;
	assert_functions(d,
	    "f 60/100 20.4, g 15/0 A -15.0, main 40/40 -7.8, h 0/3 B 2.4");
	hwtd_diff_destroy(d);
	hwtd_context_destroy(ctx);
}

static void
calls_between_functions_are_compared(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtd_diff *d = compare(ctx, profile_a(ctx, 1),
	    profile_b(ctx, 2, 0x1000), HWTD_DIFF_BY_CALLS, 0);
	struct hwtd_diff_edge e[4];
	size_t n;

	(void)state;
	assert_int_equal(hwtd_diff_edges(d, 0, e, sizeof(e[0]), 4, &n),
	    HWTD_OK);
	assert_int_equal(n, 3);
	assert_string_equal(e[0].from, "main");
	assert_string_equal(e[0].to, "f");
	assert_int_equal(e[0].branches[0], 30);
	assert_int_equal(e[0].branches[1], 50);
	assert_int_equal(e[0].flags, 0);
	assert_string_equal(e[1].to, "g");
	assert_int_equal(e[1].flags, HWTD_DIFF_ONLY_A);
	assert_true(e[1].change == -5);
	assert_string_equal(e[2].from, "f");
	assert_string_equal(e[2].to, "h");
	assert_int_equal(e[2].flags, HWTD_DIFF_ONLY_B);
	assert_int_equal(hwtd_diff_edges(d, 3, e, sizeof(e[0]), 4, &n),
	    HWTD_END);
	hwtd_diff_destroy(d);
	hwtd_context_destroy(ctx);
}

static void
branches_are_compared_in_equal_builds(void **state)
{
	/* Equal build-ids, and none. */
	static const uint8_t builds[] = { 7, 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hwtd_context *ctx = new_context();
		struct hwtd_diff *d = compare(ctx, profile_a(ctx, builds[i]),
		    profile_b(ctx, builds[i], 0), HWTD_DIFF_BY_INSNS, 0);
		struct hwtd_diff_info info = { .size = sizeof(info) };
		struct hwtd_diff_branch b[5];
		size_t n;

		assert_int_equal(hwtd_diff_info(d, &info), HWTD_OK);
		assert_int_equal(info.same_images, i == 0);
		assert_int_equal(info.assumed_images, i == 1);
		assert_int_equal(hwtd_diff_branches(d, 0, b, sizeof(b[0]), 5,
				     &n),
		    HWTD_OK);
		assert_int_equal(n, 4);
		assert_int_equal(b[0].from_off, 0x2);
		assert_int_equal(b[0].to_off, 0x10);
		assert_string_equal(b[0].function, "main");
		assert_string_equal(b[0].to_function, "f");
		assert_string_equal(b[0].image, "/a/prog");
		assert_int_equal(b[0].branch, HWTD_BRANCH_CALL);
		assert_int_equal(b[0].count[0], 30);
		assert_int_equal(b[0].count[1], 50);
		assert_int_equal(b[1].flags, HWTD_DIFF_ONLY_A);
		assert_int_equal(b[2].flags, HWTD_DIFF_ONLY_B);
		/* The loop of f did not change. */
		assert_int_equal(b[3].from_off, 0x11);
		assert_int_equal(b[3].to_off, 0x10);
		assert_true(b[3].change == 0);
		hwtd_diff_destroy(d);
		hwtd_context_destroy(ctx);
	}
}

/* Stacks: main calls f; with time, and in B also f itself. */
static struct hwtd_profile *
stacks(struct hwtd_context *ctx, uint64_t calls, uint64_t ns, bool again)
{
	struct hwtd_profile *p = new_profile(ctx);
	const uint32_t image = add_image(p, "prog", 0);
	const uint32_t main_no = add_function(p, image, 0x0, "main");
	const uint32_t f = add_function(p, image, 0x10, "f");
	uint32_t root, top, below;

	assert_int_equal(hwtdi_profile_add_root(p, HWTD_NO_ID, &root, NULL),
	    HWTD_OK);
	top = add_node(p, root, main_no, 1, 100);
	below = add_node(p, top, f, calls, ns);
	if (again)
		(void)add_node(p, below, f, 4, 9);
	add_seen(p, HWTD_PROFILE_CALLS, 50, 0);
	return (p);
}

static void
time_is_that_of_calls(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtd_diff *d = compare(ctx, stacks(ctx, 3, 30, false),
	    stacks(ctx, 5, 20, true), HWTD_DIFF_BY_TOTAL_TIME, 0);
	struct hwtd_diff_function f[3];
	struct hwtd_diff_edge e[3];
	size_t n;

	(void)state;
	assert_int_equal(hwtd_diff_functions(d, 0, f, sizeof(f[0]), 3, &n),
	    HWTD_OK);
	/* What main takes with f: 130, and 100 + 20 + 9. */
	assert_int_equal(n, 2);
	assert_string_equal(f[0].name, "f");
	assert_int_equal(f[0].total_ns[0], 30);
	assert_int_equal(f[0].total_ns[1], 29);
	assert_int_equal(f[0].self_ns[1], 29);
	assert_int_equal(f[0].calls[0], 3);
	assert_int_equal(f[0].calls[1], 9);
	assert_string_equal(f[1].name, "main");
	assert_int_equal(f[1].total_ns[0], 130);
	assert_int_equal(f[1].total_ns[1], 129);
	assert_int_equal(hwtd_diff_edges(d, 0, e, sizeof(e[0]), 3, &n),
	    HWTD_OK);
	assert_int_equal(n, 2);
	assert_string_equal(e[0].from, "f");
	assert_string_equal(e[0].to, "f");
	assert_int_equal(e[0].calls[1], 4);
	assert_int_equal(e[1].calls[0], 3);
	assert_int_equal(e[1].calls[1], 5);
	hwtd_diff_destroy(d);
	hwtd_context_destroy(ctx);
}

/* Code that no function is known of is told by image. */
static void
code_without_functions_is_told_by_image(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtd_profile *p[2];
	struct hwtd_diff *d;
	struct hwtd_diff_function f[3];
	size_t n;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t images[2];

		p[i] = new_profile(ctx);
		images[0] = add_image(p[i], "/a/x", 0);
		images[1] = add_image(p[i], "/a/y", 0);
		add_code(p[i], images[0], 0x10, 1, 5 + i, HWTD_NO_ID);
		add_code(p[i], images[1], 0x10, 1, 9 - 3 * i, HWTD_NO_ID);
		add_seen(p[i], HWTD_PROFILE_RUNS, 10, 0);
	}
	d = compare(ctx, p[0], p[1], HWTD_DIFF_BY_INSNS, 0);
	assert_int_equal(hwtd_diff_functions(d, 0, f, sizeof(f[0]), 3, &n),
	    HWTD_OK);
	assert_int_equal(n, 2);
	assert_null(f[0].name);
	assert_string_equal(f[0].image, "/a/y");
	assert_int_equal(f[0].flags, HWTD_DIFF_NO_FUNCTION);
	assert_int_equal(f[0].insns[0], 9);
	assert_int_equal(f[0].insns[1], 6);
	assert_string_equal(f[1].image, "/a/x");
	assert_true(f[1].change == 1);
	hwtd_diff_destroy(d);
	hwtd_context_destroy(ctx);
}

static void
what_makes_no_sense_is_refused(void **state)
{
	struct hwtd_diff_options opts = { .size = sizeof(opts),
		.by = HWTD_DIFF_BYS };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = new_context();
	struct hwtd_profile *a = profile_a(ctx, 1), *b = stacks(ctx, 1, 1, 0);
	struct hwtd_diff *d = NULL;

	(void)state;
	assert_int_equal(hwtd_diff_create(ctx, a, NULL, NULL, &d, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_diff_create(ctx, a, a, &opts, &d, &err),
	    HWTD_E_INVALID);
	opts.by = 0;
	opts.flags = 2;
	assert_int_equal(hwtd_diff_create(ctx, a, a, &opts, &d, &err),
	    HWTD_E_INVALID);
	opts.flags = 0;
	opts.by = HWTD_DIFF_BY_TIME;
	assert_int_equal(hwtd_diff_create(ctx, a, a, &opts, &d, &err),
	    HWTD_E_NOT_FOUND);
	/* Counts of code cannot be compared with calls. */
	opts.by = HWTD_DIFF_BY_INSNS;
	assert_int_equal(hwtd_diff_create(ctx, a, b, &opts, &d, &err),
	    HWTD_E_INVALID);
	assert_null(d);
	/* With itself nothing differs. */
	assert_int_equal(hwtd_diff_create(ctx, a, a, NULL, &d, &err), HWTD_OK);
	assert_functions(d, "f 60/60 0.0, g 15/15 0.0, main 40/40 0.0");
	hwtd_diff_destroy(d);
	hwtd_diff_destroy(NULL);
	hwtd_profile_destroy(a);
	hwtd_profile_destroy(b);
	hwtd_context_destroy(ctx);
	assert_string_equal(hwtd_diff_by_name(HWTD_DIFF_BY_TOTAL_TIME),
	    "total-time");
	assert_string_equal(hwtd_diff_by_name(HWTD_DIFF_BYS), "unknown");
}

static void
no_memory_is_an_error_and_no_leak(void **state)
{
	struct failing_allocator fails;
	struct hwtd_context *plain = new_context();
	struct hwtd_profile *a = profile_a(plain, 7);
	struct hwtd_profile *b = profile_b(plain, 7, 0);
	uint64_t n = 0;
	int rc;

	(void)state;
	failing_allocator_init(&fails);
	do {
		const struct hwtd_context_options opts = {
			.size = sizeof(opts),
			.allocator = &fails.allocator
		};
		struct hwtd_context *ctx;
		struct hwtd_diff *d = NULL;

		failing_allocator_arm(&fails, 0, false);
		assert_int_equal(hwtd_context_create(&opts, &ctx, NULL),
		    HWTD_OK);
		failing_allocator_arm(&fails, ++n, false);
		rc = hwtd_diff_create(ctx, a, b, NULL, &d, NULL);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		failing_allocator_arm(&fails, 0, false);
		hwtd_diff_destroy(d);
		hwtd_context_destroy(ctx);
		assert_int_equal(fails.blocks, 0);
	} while (rc != HWTD_OK);
	assert_true(n > 10);
	hwtd_profile_destroy(a);
	hwtd_profile_destroy(b);
	hwtd_context_destroy(plain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    functions_are_matched_by_name_whatever_the_build),
		cmocka_unit_test(shares_are_compared_if_that_is_wanted),
		cmocka_unit_test(calls_between_functions_are_compared),
		cmocka_unit_test(branches_are_compared_in_equal_builds),
		cmocka_unit_test(time_is_that_of_calls),
		cmocka_unit_test(code_without_functions_is_told_by_image),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(no_memory_is_an_error_and_no_leak),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
