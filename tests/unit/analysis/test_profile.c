/*
 * Profiles of traces and of text: what goes into them is what calls, runs and
 * rows say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/call_check.h"
#include "support/failing_allocator.h"
#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "support/memory_trace.h"
#include "support/profile_text.h"
#include "support/profile_trace.h"
#include "support/run_sums.h"
#include "support/temp_dir.h"
#include "trace/trace_model.h"
#include "trace/trace_names.h"

#define MAIN 0x1000u
#define F 0x1010u
#define G 0x1020u

/* main calls f and g for ever; g jumps to f. */
static const uint8_t code[] = {
	/* 1000 */ 0xe8, 0x0b, 0x00, 0x00, 0x00, /* call f */
	/* 1005 */ 0xe8, 0x16, 0x00, 0x00, 0x00, /* call g */
	/* 100a */ 0xeb, 0xf4, /* jmp main */
	/* 100c */ 0x90, 0x90, 0x90, 0x90,
	/* 1010 */ 0x90, 0xc3, /* nop; ret */
	/* 1012 */ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0x90, 0x90, 0x90, 0x90,
	/* 1020 */ 0xe9, 0xeb, 0xff, 0xff, 0xff, /* jmp f */
};

#define ROUNDS 3u

/* Rounds of main; tracing ends behind the last call of g. */
static struct hwtd_trace *
make_trace(struct hwtd_context *ctx, uint32_t pid, uint32_t tid)
{
	const struct hwtd_stream_desc desc = { .cpu = 3,
		.pid = pid,
		.tid = tid,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = ctx == NULL ? mt_create()
					       : mt_create_in(ctx);

	pt_psb(&p);
	pt_tsc(&p, 1000);
	pt_fup(&p, PT_IP_48, MAIN);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		pt_tsc(&p, 1010 + 100 * (uint64_t)i);
		pt_tip(&p, PT_IP_48, MAIN + 5);
		pt_tsc(&p, 1050 + 100 * (uint64_t)i);
		pt_tip(&p, PT_IP_48, MAIN + 10);
	}
	pt_leave_at(&p, MAIN + 10);
	(void)mt_code(trace, MAIN, code, sizeof(code));
	(void)mt_stream(trace, &p, &desc);
	pa_name(trace, MAIN, 12, "main");
	pa_name(trace, F, 2, "_Z1fi");
	pa_name(trace, G, 5, "g");
	pt_free(&p);
	return (trace);
}

/* Rows as "name insns/entered calls self/total", by function. */
static void
assert_functions(struct hwtd_profile *p, const char *want)
{
	struct hwtd_profile_row row;
	char got[2048] = "";
	size_t at = 0, n;

	for (uint64_t i = 0; hwtd_profile_rows(p, HWTD_PROFILE_BY_FUNCTION, i,
				 &row, sizeof(row), 1, &n) == HWTD_OK;
	     i++) {
		struct hwtd_profile_function f = { .size = sizeof(f) };

		(void)hwtd_profile_function(p, row.function, &f);
		at += (size_t)snprintf(got + at, sizeof(got) - at,
		    "%s%s %llu/%llu %llu %llu/%llu", i == 0 ? "" : "; ",
		    f.name != NULL ? f.name : "-",
		    (unsigned long long)row.insns,
		    (unsigned long long)row.entered,
		    (unsigned long long)row.self.calls,
		    (unsigned long long)row.self.insns,
		    (unsigned long long)row.total.insns);
		assert_true(at < sizeof(got));
	}
	assert_string_equal(got, want);
}

/*
 * By hand: main has 3 calls of f, 3 of g and, after each but the last round, a
 * jump: 8 instructions; and the last jump, after which tracing ends, is not
 * executed.  f has 2 for each of 6 calls, g 1 for each of 3.
 */
static void
runs_are_named_and_counted(void **state)
{
	struct hwtd_trace *trace = mt_seal(make_trace(NULL, HWTD_NO_ID,
	    HWTD_NO_ID));
	struct hwtd_profile *p = pa_create(trace, 0);
	struct hwtd_profile_function f = { .size = sizeof(f) };
	struct hwtd_profile_relative r;
	struct hwtd_profile_info info = { .size = sizeof(info) };
	size_t n;

	(void)state;
	pa_runs(p, trace, HWTD_RUNS_EDGES, NULL);
	hwtd_trace_close(trace);
	assert_functions(p, "main 8/3 0 0/0; f(int) 12/6 0 0/0; g 3/3 0 0/0");
	assert_int_equal(hwtd_profile_function(p, 1, &f), HWTD_OK);
	assert_string_equal(f.linkage_name, "_Z1fi");
	assert_int_equal(f.file_off, F - MAIN);
	assert_int_equal(f.flags, HWTD_PROFILE_FUNCTIONF_OFFSET);
	/* f is called by main, and g jumps to it. */
	assert_int_equal(hwtd_profile_relatives(p, 1, HWTD_PROFILE_CALLERS, 0,
			     &r, sizeof(r), 1, &n),
	    HWTD_OK);
	assert_int_equal(r.function, 0);
	assert_int_equal(r.type, HWTD_CALL_TYPE_CALL);
	assert_int_equal(r.branches, 3);
	assert_int_equal(hwtd_profile_relatives(p, 1, HWTD_PROFILE_CALLERS, 1,
			     &r, sizeof(r), 1, &n),
	    HWTD_OK);
	assert_int_equal(r.function, 2);
	assert_int_equal(r.type, HWTD_CALL_TYPE_TAIL);
	assert_int_equal(r.branches, 3);
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
	assert_int_equal(info.seen[HWTD_PROFILE_RUNS].insns, 23);
	assert_int_equal(info.without_function, 0);
	hwtd_profile_destroy(p);
}

static void
calls_are_trees_with_their_instructions(void **state)
{
	struct hwtd_trace *trace = mt_seal(make_trace(NULL, HWTD_NO_ID,
	    HWTD_NO_ID));
	struct hwtd_profile *p = pa_create(trace, 0);
	struct hwtd_profile_info info = { .size = sizeof(info) };

	(void)state;
	pa_calls(p, trace, NULL);
	/* And runs: functions are the same. */
	pa_runs(p, trace, 0, NULL);
	hwtd_trace_close(trace);
	/* What main led to when tracing ended is no function. */
	assert_functions(p,
	    "main 8/3 1 8/23; f(int) 12/6 6 12/12; "
	    "g 3/3 3 3/3; - 0/0 1 0/0");
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
	/* A root, main, f and g and what is not traced, f for g. */
	assert_int_equal(info.n_nodes, 6);
	assert_int_equal(info.total.insns, 23);
	assert_int_equal(info.seen[HWTD_PROFILE_CALLS].added, 1);
	assert_int_equal(info.seen[HWTD_PROFILE_RUNS].added, 1);
	hwtd_profile_destroy(p);
}

static void
rows_are_those_of_threads_and_cpus(void **state)
{
	struct hwtd_trace *trace = make_trace(NULL, 7, 8);
	struct hwtd_record r = mr_record(HWTD_REC_THREAD_NAME, 7, 0, 0);
	struct hwtd_profile_thread thread = { .size = sizeof(thread) };
	struct hwtd_profile *p;
	struct hwtd_profile_row row;
	size_t n;

	(void)state;
	r.tid = 8;
	r.name = "old name";
	mr_add(trace, &r);
	r.name = "worker";
	mr_add(trace, &r);
	(void)mt_seal(trace);
	p = pa_create(trace, HWTD_PROFILE_THREADS);
	pa_events(p, trace, NULL);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_profile_rows(p, HWTD_PROFILE_BY_THREAD, 0, &row,
			     sizeof(row), 1, &n),
	    HWTD_OK);
	assert_int_equal(row.insns, 23);
	assert_int_equal(row.self.insns, 0);
	assert_int_equal(hwtd_profile_thread(p, row.thread, &thread), HWTD_OK);
	assert_int_equal(thread.pid, 7);
	assert_int_equal(thread.tid, 8);
	assert_string_equal(thread.name, "worker");
	assert_int_equal(hwtd_profile_rows(p, HWTD_PROFILE_BY_CPU, 0, &row,
			     sizeof(row), 1, &n),
	    HWTD_OK);
	assert_int_equal(row.cpu, 3);
	assert_int_equal(row.insns, 23);
	hwtd_profile_destroy(p);
}

/* Lists of names are of one process; which one ran code is not in its counts. */
static void
code_made_at_run_time_has_the_name_of_its_process(void **state)
{
	static const char list[] = "1000 c jit main\n1010 2 jit f\n";
	struct hwtd_trace *trace = mt_create();
	struct hwtd_symbolizer *symbolizer;
	struct pt_packets p = { 0 };
	struct hwtd_runs *runs;
	struct hwtd_profile *profile;
	int rc;

	(void)state;
	pt_psb(&p);
	pt_fup(&p, PT_IP_48, MAIN);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_tip(&p, PT_IP_48, MAIN + 5);
	pt_leave_at(&p, MAIN + 5);
	(void)mr_image(trace, "jit", code, sizeof(code));
	for (uint32_t pid = 6; pid < 9; pid++) {
		struct hwtd_record r = mr_record(HWTD_REC_THREAD_NAME, pid, 0,
		    0);

		r.tid = pid;
		r.name = "x";
		mr_add(trace, &r);
	}
	mr_mmap(trace, 7, MAIN, sizeof(code), 0);
	(void)mt_stream(trace, &p,
	    &(const struct hwtd_stream_desc){ .cpu = 0, .pid = 7, .tid = 7 });
	/* What another process has there is something else. */
	assert_int_equal(hwtdi_trace_add_perf_map(trace, 6, "perf-6.map",
			     "1000 c other\n", 13, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_trace_add_perf_map(trace, 7, "perf-7.map", list,
			     sizeof(list) - 1, NULL),
	    HWTD_OK);
	(void)mt_seal(trace);
	pt_free(&p);
	profile = pa_create(trace, 0);
	assert_int_equal(hwtd_symbolizer_open(trace, NULL, &symbolizer, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_runs_open(trace, NULL, &runs, NULL), HWTD_OK);
	while ((rc = hwtd_profile_add_runs(profile, runs, symbolizer, NULL)) ==
	    HWTD_OK)
		continue;
	assert_int_equal(rc, HWTD_END);
	assert_functions(profile, "jit main 1/1 0 0/0; jit f 2/1 0 0/0");
	hwtd_runs_close(runs);
	hwtd_symbolizer_close(symbolizer);
	hwtd_profile_destroy(profile);
	hwtd_trace_close(trace);
}

/* Text. */

static struct hwtd_calls *
open_text(const char *text, struct temp_dir *dir)
{
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS };
	struct hwtd_context *ctx;
	struct hwtd_calls *calls;
	char path[300];

	temp_dir_create(dir);
	write_file(temp_dir_file(dir, "text", path), text, strlen(text));
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_calls_open_text(ctx, path, &opts, &calls, NULL),
	    HWTD_OK);
	hwtd_context_destroy(ctx);
	return (calls);
}

/* "0- 1main 2f ...": the tree, with calls. */
static void
assert_tree(struct hwtd_profile *p, const char *want)
{
	struct hwtd_profile_node node;
	char got[2048] = "";
	size_t at = 0, n;

	for (uint64_t i = 0;
	     hwtd_profile_nodes(p, i, &node, sizeof(node), 1, &n) == HWTD_OK;
	     i++) {
		struct hwtd_profile_function f = { .size = sizeof(f) };

		(void)hwtd_profile_function(p, node.function, &f);
		at += (size_t)snprintf(got + at, sizeof(got) - at,
		    "%s%u%s:%llu", i == 0 ? "" : " ", node.depth,
		    f.name != NULL ? f.name : "-",
		    (unsigned long long)node.self.calls);
		assert_true(at < sizeof(got));
	}
	assert_string_equal(got, want);
}

/* g is found running, returns to f, which calls h and returns to main. */
static const char returns[] =
    "p 7/8 [002] 1.000000100:  1 branches:uH: jmp 3000 g+0x0 (/bin/p) => "
    "3004 g+0x4 (/bin/p)\n"
    "p 7/8 [002] 1.000000110:  1 branches:uH: return 3009 g+0x9 (/bin/p) => "
    "2005 f+0x5 (/bin/p)\n"
    "p 7/8 [002] 1.000000120:  1 branches:uH: call 2010 f+0x10 (/bin/p) => "
    "4000 h+0x0 (/bin/p)\n"
    "p 7/8 [002] 1.000000130:  1 branches:uH: return 4009 h+0x9 (/bin/p) => "
    "2015 f+0x15 (/bin/p)\n"
    "p 7/8 [002] 1.000000140:  1 branches:uH: return 2019 f+0x19 (/bin/p) => "
    "1005 main+0x5 (/bin/p)\n"
    "p 7/8 [002] 1.000000150:  1 branches:uH: call 1010 main+0x10 (/bin/p) => "
    "2000 f+0x0 (/bin/p)\n"
    "p 7/8 [002] 1.000000160:  1 branches:uH: return 2019 f+0x19 (/bin/p) => "
    "1015 main+0x15 (/bin/p)\n";

static void
callers_that_become_known_late_are_around_what_there_was(void **state)
{
	struct temp_dir dir;
	struct hwtd_calls *calls = open_text(returns, &dir);
	struct hwtd_call_thread thread = { .size = sizeof(thread) };
	struct hwtd_profile_info info = { .size = sizeof(info) };
	struct hwtd_profile *p;
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_profile_create(ctx, NULL, &p, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	pa_calls_of(p, calls);
	/* The f that was found later was called, the other one found. */
	assert_tree(p, "0-:0 1main:1 2f:1 3g:1 3h:1 2f:1");
	assert_int_equal(hwtd_calls_thread(calls, 0, &thread), HWTD_OK);
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
	assert_int_equal(info.total.ns + info.total.gap_ns +
		info.total.off_ns + info.idle_ns,
	    thread.last_ns - thread.first_ns);
	assert_int_equal(hwtd_profile_add_calls(p, calls, NULL),
	    HWTD_E_INVALID);
	hwtd_profile_destroy(p);
	hwtd_calls_close(calls);
	temp_dir_remove(&dir);
}

/* Threads with gaps, interrupts and pauses. */

#define STREAMS 4u

/* Nodes add up to what calls say of all threads. */
static void
check_sums(struct hwtd_trace *trace, uint32_t flags)
{
	struct hwtd_calls *calls = pa_open_calls(trace, NULL);
	struct hwtd_profile *p = pa_create(trace, flags);
	struct hwtd_call_thread thread = { .size = sizeof(thread) };
	struct hwtd_calls_info seen = { .size = sizeof(seen) };
	struct hwtd_profile_info info = { .size = sizeof(info) };
	uint64_t span = 0, insns = 0;
	struct hwtd_profile_row row;
	size_t n;

	pa_calls_of(p, calls);
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
	assert_int_equal(hwtd_calls_info(calls, &seen), HWTD_OK);
	for (uint32_t i = 0; hwtd_calls_thread(calls, i, &thread) == HWTD_OK;
	     i++)
		if (thread.has_time != 0)
			span += thread.last_ns - thread.first_ns;
	assert_int_equal(info.total.ns + info.total.gap_ns +
		info.total.off_ns + info.idle_ns,
	    span);
	assert_int_equal(info.total.calls, seen.calls);
	assert_int_equal(info.total.insns, seen.insns);
	assert_true(info.total.gaps > 0 && info.total.gap_bytes > 0);
	assert_true(info.total.gap_bytes <= seen.gap_bytes);
	/* So do rows, whatever they are of. */
	for (uint64_t i = 0; hwtd_profile_rows(p, HWTD_PROFILE_BY_FUNCTION, i,
				 &row, sizeof(row), 1, &n) == HWTD_OK;
	     i++)
		insns += row.self.insns;
	assert_int_equal(insns, seen.insns);
	hwtd_profile_destroy(p);
	hwtd_calls_close(calls);
}

static void
nodes_add_up_to_what_calls_say(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct hwtd_trace *trace = pa_long(NULL, seed * 10, STREAMS,
		    1500, seed % 2 == 0);

		check_sums(trace, 0);
		check_sums(trace, HWTD_PROFILE_THREADS);
		hwtd_trace_close(trace);
	}
}

/* With room for few nodes, also before stacks are over. */
static void
few_nodes_have_all_there_was(void **state)
{
	const struct hwtd_profile_options few = { .size = sizeof(few),
		.max_nodes = 4 };
	struct hwtd_trace *trace = pa_long(NULL, 10, STREAMS, 6000, true);
	struct hwtd_profile_info a = { .size = sizeof(a) };
	struct hwtd_profile_info b = { .size = sizeof(b) };
	struct hwtd_profile *p, *all = pa_create(trace, 0);

	(void)state;
	assert_int_equal(hwtd_profile_create(hwtdi_trace_library(trace), &few,
			     &p, NULL),
	    HWTD_OK);
	pa_calls(p, trace, NULL);
	pa_calls(all, trace, NULL);
	assert_int_equal(hwtd_profile_info(p, &a), HWTD_OK);
	assert_int_equal(hwtd_profile_info(all, &b), HWTD_OK);
	assert_true(b.n_nodes > 50 && a.n_nodes <= 8);
	assert_true(a.others > 0 && b.others == 0);
	assert_memory_equal(&a.total, &b.total, sizeof(a.total));
	assert_int_equal(a.idle_ns, b.idle_ns);
	hwtd_profile_destroy(p);
	hwtd_profile_destroy(all);
	hwtd_trace_close(trace);
}

/* The row of an instruction; NULL: it was not executed. */
static const struct run_sum *
sum_at(const struct run_sums *sums, uint64_t address)
{
	size_t low = 0, high = sums->insns.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (sums->insns.at[middle].a < address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low < sums->insns.n && sums->insns.at[low].a == address
		? &sums->insns.at[low]
		: NULL);
}

/* Each instruction of blocks is as often in rows, and none is missing. */
static void
check_blocks(struct hwtd_trace *trace, const struct hwtd_events_options *o)
{
	struct hwtd_profile *p = pa_create(trace, 0);
	struct hwtd_profile_block b;
	struct run_sums sums;
	uint64_t insns = 0;
	size_t n;

	run_sums_make(trace, o, &sums);
	pa_runs(p, trace, HWTD_RUNS_EDGES, o);
	for (uint64_t i = 0;
	     hwtd_profile_blocks(p, i, &b, sizeof(b), 1, &n) == HWTD_OK; i++) {
		uint64_t at = LONG_TRACE_BASE + b.file_off;

		for (uint32_t k = 0; k < b.insns; k++) {
			const struct run_sum *sum = sum_at(&sums, at);

			assert_non_null(sum);
			assert_int_equal(sum->count, b.count);
			if (k + 1 == b.insns)
				assert_int_equal(sum->b, b.last_bytes);
			at += sum->b;
			insns++;
		}
		assert_int_equal(at, LONG_TRACE_BASE + b.file_off + b.bytes);
	}
	assert_int_equal(insns, sums.insns.n);
	run_sums_free(&sums);
	hwtd_profile_destroy(p);
}

static void
blocks_are_the_instructions_of_rows(void **state)
{
	static const struct hwtd_range times[] = { { 200, 500 },
		{ 900, 1000 } };
	struct hwtd_events_options o = { .size = sizeof(o) };
	struct hwtd_trace *trace = pa_long(NULL, 40, STREAMS, 1500, true);

	(void)state;
	check_blocks(trace, &o);
	o.jobs = 3;
	check_blocks(trace, &o);
	o.times_ns = times;
	o.n_times = 2;
	check_blocks(trace, &o);
	hwtd_trace_close(trace);
}

static void
traces_are_added_up(void **state)
{
	struct hwtd_trace *trace = mt_seal(make_trace(NULL, HWTD_NO_ID,
	    HWTD_NO_ID));
	struct hwtd_profile *p = pa_create(trace, 0), *q = pa_create(trace, 0);

	(void)state;
	pa_runs(p, trace, 0, NULL);
	pa_calls(p, trace, NULL);
	pa_calls(q, trace, NULL);
	pa_runs(q, trace, 0, NULL);
	assert_int_equal(hwtd_profile_merge(p, q, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	assert_functions(p,
	    "main 16/6 2 16/46; f(int) 24/12 12 24/24; "
	    "g 6/6 6 6/6; - 0/0 2 0/0");
	hwtd_profile_destroy(p);
	hwtd_profile_destroy(q);
}

/* What is begun ends where something else is done. */
static void
calls_that_are_given_up_are_counted_as_far_as_they_ended(void **state)
{
	struct hwtd_trace *trace = mt_seal(make_trace(NULL, HWTD_NO_ID,
	    HWTD_NO_ID));
	struct hwtd_profile *p = pa_create(trace, 0);
	struct hwtd_calls *calls = pa_open_calls(trace, NULL);
	struct hwtd_profile_info info = { .size = sizeof(info) };

	(void)state;
	assert_int_equal(hwtd_profile_add_calls(p, calls, NULL), HWTD_OK);
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
	assert_true(info.total.calls > 0 && info.total.insns < 23);
	assert_int_equal(hwtd_profile_add_calls(p, calls, NULL),
	    HWTD_E_INVALID);
	pa_runs(p, trace, 0, NULL);
	hwtd_calls_close(calls);
	calls = pa_open_calls(trace, NULL);
	assert_int_equal(hwtd_profile_add_calls(p, calls, NULL), HWTD_OK);
	hwtd_profile_destroy(p);
	hwtd_calls_close(calls);
	hwtd_trace_close(trace);
}

/* However far it came: seen is what the blocks have, and all edges are there. */
static void
code_is_added_as_a_whole_or_not_at_all(void **state)
{
	const struct hwtd_runs_options opts = { .size = sizeof(opts),
		.flags = HWTD_RUNS_EDGES };
	struct hwtd_profile_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace = mt_seal(make_trace(NULL, HWTD_NO_ID,
	    HWTD_NO_ID));
	uint64_t edges = 0;
	int rc = HWTD_OK;

	(void)state;
	for (unsigned int steps = 1; rc == HWTD_OK; steps++) {
		struct hwtd_profile *p = pa_create(trace, 0);
		struct hwtd_profile_block block;
		struct hwtd_runs *runs;
		uint64_t insns = 0;
		size_t n;

		assert_int_equal(hwtd_runs_open(trace, &opts, &runs, NULL),
		    HWTD_OK);
		for (unsigned int i = 0; i < steps && rc == HWTD_OK; i++)
			rc = hwtd_profile_add_runs(p, runs, NULL, NULL);
		assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
		for (uint64_t i = 0; hwtd_profile_blocks(p, i, &block,
					 sizeof(block), 1, &n) == HWTD_OK;
		     i++)
			insns += block.count * block.insns;
		assert_int_equal(insns, info.seen[HWTD_PROFILE_RUNS].insns);
		assert_true(insns == 0 || insns == 23);
		assert_true(insns == 0 || edges == 0 || info.n_edges == edges);
		edges = info.n_edges;
		hwtd_profile_destroy(p);
		hwtd_runs_close(runs);
	}
	assert_int_equal(rc, HWTD_END);
	assert_true(edges != 0);
	hwtd_trace_close(trace);
}

/* Memory that is refused. */

static int
add_once(struct hwtd_context *ctx, struct hwtd_trace *trace)
{
	const struct hwtd_profile_options opts = { .size = sizeof(opts),
		.flags = HWTD_PROFILE_THREADS | HWTD_PROFILE_LINES };
	const struct hwtd_runs_options runs_opts = { .size = sizeof(runs_opts),
		.flags = HWTD_RUNS_EDGES };
	const struct hwtd_calls_options calls_opts = {
		.size = sizeof(calls_opts),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS
	};
	struct hwtd_profile *p = NULL;
	struct hwtd_runs *runs = NULL;
	struct hwtd_calls *calls = NULL;
	struct hwtd_events *events = NULL;
	int rc = hwtd_profile_create(ctx, &opts, &p, NULL);

	if (rc == HWTD_OK)
		rc = hwtd_runs_open(trace, &runs_opts, &runs, NULL);
	while (rc == HWTD_OK)
		rc = hwtd_profile_add_runs(p, runs, NULL, NULL);
	if (rc == HWTD_END)
		rc = hwtd_calls_open(trace, &calls_opts, &calls, NULL);
	while (rc == HWTD_OK)
		rc = hwtd_profile_add_calls(p, calls, NULL);
	if (rc == HWTD_END)
		rc = hwtd_events_open(trace, NULL, &events, NULL);
	while (rc == HWTD_OK)
		rc = hwtd_profile_add_events(p, events, NULL);
	if (rc == HWTD_END) {
		struct hwtd_profile_info info = { .size = sizeof(info) };

		rc = hwtd_profile_info(p, &info);
	}
	hwtd_profile_destroy(p);
	hwtd_runs_close(runs);
	hwtd_calls_close(calls);
	hwtd_events_close(events);
	return (rc);
}

static void
memory_that_is_refused_is_an_error(void **state)
{
	struct failing_allocator f;
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t n = 0, requests;
	int rc;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	trace = mt_seal(make_trace(ctx, 7, 8));
	do {
		failing_allocator_arm(&f, ++n, false);
		rc = add_once(ctx, trace);
		requests = f.requests;
		failing_allocator_arm(&f, 0, false);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		/* Some are of what can be done without. */
	} while (requests >= n && n < 10000);
	assert_int_equal(rc, HWTD_OK);
	assert_true(n > 60 && n < 10000);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_named_and_counted),
		cmocka_unit_test(calls_are_trees_with_their_instructions),
		cmocka_unit_test(rows_are_those_of_threads_and_cpus),
		cmocka_unit_test(
		    code_made_at_run_time_has_the_name_of_its_process),
		cmocka_unit_test(
		    callers_that_become_known_late_are_around_what_there_was),
		cmocka_unit_test(nodes_add_up_to_what_calls_say),
		cmocka_unit_test(code_is_added_as_a_whole_or_not_at_all),
		cmocka_unit_test(few_nodes_have_all_there_was),
		cmocka_unit_test(blocks_are_the_instructions_of_rows),
		cmocka_unit_test(traces_are_added_up),
		cmocka_unit_test(
		    calls_that_are_given_up_are_counted_as_far_as_they_ended),
		cmocka_unit_test(memory_that_is_refused_is_an_error),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
