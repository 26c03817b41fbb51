/*
 * Coverage of traces of a small compiled object: what of it ran is known by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/compiled_program.h"
#include "support/coverage_text.h"
#include "support/memory_trace.h"

#define BASE 0x10000000u

/* pick() has one branch; other() is never called. */
static const char source[] = "int pick(int x)\n"
			     "{\n"
			     "	if (x > 3)\n"
			     "		return (1);\n"
			     "	return (2);\n"
			     "}\n"
			     "\n"
			     "int other(int x)\n"
			     "{\n"
			     "	return (x + 1);\n"
			     "}\n";

struct object {
	struct program p;
	uint64_t pick;
};

/* Not linked, as modules of kernels are, each function in its section. */
static void
build(struct object *o, const char *flags)
{
	char name[300];

	memset(o, 0, sizeof(*o));
	temp_dir_create(&o->p.dir);
	write_file(temp_dir_file(&o->p.dir, "program.c", name), source,
	    sizeof(source) - 1);
	temp_dir_file(&o->p.dir, "program", o->p.path);
	cp_run(&o->p,
	    HWTDECODE_TEST_CC
	    " -O0 -fcf-protection=none -fno-pie -ffunction-sections %s -c "
	    "-o program program.c",
	    flags);
	o->pick = cp_section_off(&o->p, ".text.pick");
}

/* It ran `times` times, with x > 3 or not as `ways` says: N or T of jle. */
static struct hwtd_trace *
trace_of(const struct object *o, struct hwtd_context *ctx, const char *ways)
{
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = o->p.path,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = BASE };
	struct pt_packets p = { .bytes = NULL };
	struct hwtd_trace *trace;

	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	pt_psb(&p);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	for (const char *way = ways; *way != '\0'; way++) {
		const char one[] = { *way, '\0' };

		pt_pge(&p, PT_IP_48, BASE + o->pick);
		pt_tnt(&p, one);
		pt_pgd(&p, PT_IP_NONE, 0);
	}
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	return (mt_seal(trace));
}

static struct hwtd_runs *
runs_of(struct hwtd_trace *trace, uint32_t flags)
{
	const struct hwtd_runs_options o = { .size = sizeof(o),
		.flags = flags };
	struct hwtd_runs *runs;

	assert_int_equal(hwtd_runs_open(trace, &o, &runs, NULL), HWTD_OK);
	return (runs);
}

static void
add_all(struct hwtd_coverage *c, struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs = runs_of(trace, HWTD_RUNS_EDGES);
	int rc;

	while ((rc = hwtd_coverage_add_runs(c, runs, &err)) == HWTD_OK)
		;
	if (rc != HWTD_END)
		fail_msg("%d: %s", rc, err.message);
	hwtd_runs_close(runs);
}

static struct hwtd_coverage *
create(struct hwtd_context *ctx, uint32_t flags)
{
	const struct hwtd_coverage_options o = { .size = sizeof(o),
		.flags = flags };
	struct hwtd_coverage *c;

	assert_int_equal(hwtd_coverage_create(ctx, &o, &c, NULL), HWTD_OK);
	return (c);
}

static void
assert_lines(struct hwtd_coverage *c, const uint64_t *want, size_t n_want)
{
	struct hwtd_coverage_line lines[20];
	size_t n;

	assert_int_equal(hwtd_coverage_lines(c, 0, lines, sizeof(lines[0]), 20,
			     &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, n_want);
	for (size_t i = 0; i < n; i++) {
		print_message("line %u\n", lines[i].line);
		assert_int_equal(lines[i].line, want[2 * i]);
		assert_int_equal(lines[i].count, want[2 * i + 1]);
	}
}

static void
assert_function(struct hwtd_coverage *c, uint64_t no, const char *name,
    uint32_t line, uint64_t count, bool hit)
{
	struct hwtd_coverage_function f;
	size_t n;

	assert_int_equal(hwtd_coverage_functions(c, no, &f, sizeof(f), 1, &n,
			     NULL),
	    HWTD_OK);
	assert_string_equal(f.name, name);
	assert_int_equal(f.line, line);
	assert_int_equal(f.count, count);
	assert_int_equal((f.flags & HWTD_COVERAGE_FUNCTION_HIT) != 0, hit);
	assert_int_not_equal(f.flags & HWTD_COVERAGE_FUNCTION_OFF, 0);
}

static void
assert_branch(struct hwtd_coverage *c, uint32_t line, uint64_t taken,
    uint64_t not_taken)
{
	struct hwtd_coverage_branch b[2];
	size_t n;

	assert_int_equal(hwtd_coverage_branches(c, 0, b, sizeof(b[0]), 2, &n,
			     NULL),
	    HWTD_OK);
	assert_int_equal(n, 1);
	assert_int_equal(b[0].line, line);
	assert_int_equal(b[0].taken, taken);
	assert_int_equal(b[0].not_taken, not_taken);
	assert_int_equal(b[0].flags, HWTD_COVERAGE_BRANCH_REACHED);
}

static void
objects_have_lines_functions_and_branches(void **state)
{
	static const uint64_t want[] = { 2, 3, 3, 3, 4, 1, 5, 2, 6, 3, 9, 0,
		10, 0, 11, 0 };
	static const char *const flags[] = { "-g", "-g -gdwarf-4",
		"-g -gdwarf-2 -gstrict-dwarf", "-g -gz", "-g -gsplit-dwarf" };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct hwtd_coverage_info info = { .size = sizeof(info) };
		struct hwtd_context *ctx;
		struct hwtd_coverage *c;
		struct hwtd_trace *trace;
		struct object o;

		build(&o, flags[i]);
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		trace = trace_of(&o, ctx, "NTT");
		c = create(ctx, 0);
		add_all(c, trace);
		/* All of it stays when the trace and its files are gone. */
		hwtd_trace_close(trace);
		temp_dir_remove(&o.p.dir);
		assert_lines(c, want, 8);
		assert_function(c, 0, "pick", 1, 3, true);
		assert_function(c, 1, "other", 8, 0, false);
		assert_branch(c, 3, 2, 1);
		assert_int_equal(hwtd_coverage_info(c, &info, NULL), HWTD_OK);
		assert_int_equal(info.traces, 1);
		assert_int_equal(info.lines.hit, 5);
		assert_int_equal(info.functions.hit, 1);
		assert_int_equal(info.bare_bytes, 0);
		assert_int_equal(info.images_damaged, 0);
		/* The jump over "return (2)" is a direct one. */
		assert_int_equal(info.edges.total, 3);
		assert_int_equal(info.edges.hit, 3);
		hwtd_coverage_close(c);
		hwtd_context_destroy(ctx);
	}
}

static void
without_lines_there_are_symbols(void **state)
{
	static const struct {
		const char *flags;
		uint32_t how;
	} cases[] = {
		{ "-g0", 0 },
		{ "-g", HWTD_COVERAGE_NO_LINES },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hwtd_coverage_info info = { .size = sizeof(info) };
		struct hwtd_context *ctx;
		struct hwtd_coverage *c;
		struct hwtd_trace *trace;
		struct object o;

		build(&o, cases[i].flags);
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		trace = trace_of(&o, ctx, "NNT");
		c = create(ctx, cases[i].how);
		add_all(c, trace);
		hwtd_trace_close(trace);
		temp_dir_remove(&o.p.dir);
		assert_function(c, 0, "other", 0, 0, false);
		assert_function(c, 1, "pick", 0, 3, true);
		assert_branch(c, 0, 1, 2);
		assert_int_equal(hwtd_coverage_info(c, &info, NULL), HWTD_OK);
		assert_int_equal(info.lines.total, 0);
		assert_int_equal(info.bare_functions.hit, 1);
		assert_int_equal(info.bare_functions.total, 2);
		assert_int_equal(info.images_without_lines, 1);
		assert_int_equal(info.bare_bytes, info.code_bytes);
		hwtd_coverage_close(c);
		hwtd_context_destroy(ctx);
	}
}

/* Where the trace begins behind its first instruction. */
static void
a_function_entered_in_the_middle_is_hit(void **state)
{
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	struct hwtd_trace *trace;
	struct object o;

	(void)state;
	build(&o, "-g");
	/* Behind "push %rbp". */
	o.pick++;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	trace = trace_of(&o, ctx, "T");
	c = create(ctx, 0);
	add_all(c, trace);
	assert_function(c, 0, "pick", 1, 0, true);
	hwtd_trace_close(trace);
	temp_dir_remove(&o.p.dir);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

/* Text of the same, merged or added one after the other. */
static void
merging_is_adding(void **state)
{
	struct hwtd_trace *a, *b;
	struct hwtd_coverage *both, *one, *two;
	struct hwtd_context *ctx;
	struct object o;
	char *want, *got;

	(void)state;
	build(&o, "-g");
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	a = trace_of(&o, ctx, "NNT");
	b = trace_of(&o, ctx, "T");
	both = create(ctx, 0);
	add_all(both, a);
	add_all(both, b);
	one = create(ctx, 0);
	two = create(ctx, 0);
	add_all(one, a);
	add_all(two, b);
	assert_int_equal(hwtd_coverage_merge(two, one, NULL), HWTD_OK);
	want = coverage_text(both);
	got = coverage_text(two);
	assert_string_equal(want, got);
	free(want);
	free(got);
	hwtd_coverage_close(both);
	hwtd_coverage_close(one);
	hwtd_coverage_close(two);
	hwtd_trace_close(a);
	hwtd_trace_close(b);
	temp_dir_remove(&o.p.dir);
	hwtd_context_destroy(ctx);
}

static void
nothing_is_told_while_a_trace_is_added(void **state)
{
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs, *others, *plain;
	struct hwtd_coverage *c, *d;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct object o;

	(void)state;
	build(&o, "-g");
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	trace = trace_of(&o, ctx, "NNT");
	runs = runs_of(trace, HWTD_RUNS_EDGES);
	others = runs_of(trace, HWTD_RUNS_EDGES);
	plain = runs_of(trace, 0);
	c = create(ctx, 0);
	d = create(ctx, 0);
	assert_int_equal(hwtd_coverage_add_runs(c, plain, &err),
	    HWTD_E_INVALID);
	assert_string_equal(err.message,
	    "the runs have no edges; open them with HWTD_RUNS_EDGES");
	assert_int_equal(hwtd_coverage_add_runs(c, runs, &err), HWTD_OK);
	assert_int_equal(hwtd_coverage_add_runs(c, others, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_info(c, &info, &err), HWTD_E_STATE);
	assert_int_equal(hwtd_coverage_merge(c, d, &err), HWTD_E_STATE);
	assert_int_equal(hwtd_coverage_merge(d, c, &err), HWTD_E_STATE);
	while (hwtd_coverage_add_runs(c, runs, &err) == HWTD_OK)
		;
	assert_int_equal(hwtd_coverage_info(c, &info, &err), HWTD_OK);
	assert_int_equal(info.traces, 1);
	/* Counted runs can be added again, and given up on the way. */
	assert_int_equal(hwtd_coverage_add_runs(d, runs, &err), HWTD_OK);
	hwtd_coverage_close(d);
	hwtd_coverage_close(c);
	hwtd_runs_close(runs);
	hwtd_runs_close(others);
	hwtd_runs_close(plain);
	hwtd_trace_close(trace);
	temp_dir_remove(&o.p.dir);
	hwtd_context_destroy(ctx);
}

static void
every_allocation_of_adding_can_fail(void **state)
{
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	const char *small = getenv("HWTDECODE_TEST_SMALL");
	struct failing_allocator memory;
	struct hwtd_context *ctx, *own;
	struct hwtd_trace *trace;
	struct hwtd_coverage *c;
	struct hwtd_runs *runs;
	char *empty, *want;
	struct object o;
	int rc;

	(void)state;
	build(&o, "-g");
	failing_allocator_init(&memory);
	opts.allocator = &memory.allocator;
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_context_create(NULL, &own, NULL), HWTD_OK);
	trace = trace_of(&o, ctx, "NNT");
	c = create(own, 0);
	empty = coverage_text(c);
	add_all(c, trace);
	want = coverage_text(c);
	hwtd_coverage_close(c);
	runs = runs_of(trace, HWTD_RUNS_EDGES);
	while (hwtd_runs_count(runs, NULL) == HWTD_OK)
		;
	c = create(ctx, 0);
	for (uint64_t n = 1;; n += small != NULL ? 3 : 1) {
		struct hwtd_error err = { .size = sizeof(err) };

		failing_allocator_arm(&memory, n, false);
		while ((rc = hwtd_coverage_add_runs(c, runs, &err)) == HWTD_OK)
			;
		failing_allocator_arm(&memory, 0, false);
		if (rc == HWTD_END)
			break;
		if (rc != HWTD_E_NOMEM)
			fail_msg("%llu: %d %s", (unsigned long long)n, rc,
			    err.message);
		char *now = coverage_text(c);

		assert_string_equal(now, empty);
		free(now);
	}
	char *now = coverage_text(c);

	assert_string_equal(now, want);
	free(now);
	free(empty);
	free(want);
	hwtd_coverage_close(c);
	hwtd_runs_close(runs);
	hwtd_trace_close(trace);
	temp_dir_remove(&o.p.dir);
	hwtd_context_destroy(ctx);
	hwtd_context_destroy(own);
	assert_int_equal(memory.blocks, 0);
}

/* A byte of .debug_line is changed: what comes before it stays. */
static void
damage_is_told_and_the_rest_is_covered(void **state)
{
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	struct hwtd_coverage_image image;
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	struct hwtd_trace *trace;
	struct object o;
	size_t n;

	(void)state;
	build(&o, "-g");
	/* A version of the table that there is not. */
	poke_file(o.p.path, cp_section_off(&o.p, ".debug_line") + 4,
	    "\xff\xff", 2);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	trace = trace_of(&o, ctx, "NNT");
	c = create(ctx, 0);
	add_all(c, trace);
	assert_int_equal(hwtd_coverage_info(c, &info, NULL), HWTD_OK);
	assert_int_equal(info.images_damaged, 1);
	assert_int_equal(info.lines.total, 0);
	assert_int_equal(info.functions.total + info.bare_functions.total, 2);
	assert_int_equal(info.functions.hit + info.bare_functions.hit, 1);
	assert_int_equal(hwtd_coverage_images(c, 0, &image, sizeof(image), 1,
			     &n, NULL),
	    HWTD_OK);
	assert_non_null(strstr(image.fault, ".debug_line+0x"));
	hwtd_coverage_close(c);
	hwtd_trace_close(trace);
	temp_dir_remove(&o.p.dir);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_have_lines_functions_and_branches),
		cmocka_unit_test(without_lines_there_are_symbols),
		cmocka_unit_test(a_function_entered_in_the_middle_is_hit),
		cmocka_unit_test(merging_is_adding),
		cmocka_unit_test(nothing_is_told_while_a_trace_is_added),
		cmocka_unit_test(every_allocation_of_adding_can_fail),
		cmocka_unit_test(damage_is_told_and_the_rest_is_covered),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
