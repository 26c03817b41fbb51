/*
 * Calls of whole traces and of text, through the public interface.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/memory_trace.h"
#include "support/temp_dir.h"

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

struct rows {
	struct hwtd_call *at;
	size_t n;
};

static void
read_rows(struct hwtd_calls *calls, size_t batch_rows, struct rows *out)
{
	struct hwtd_call *some = calloc(batch_rows, sizeof(*some));
	struct hwtd_error err = { .size = sizeof(err) };
	int rc;

	memset(out, 0, sizeof(*out));
	assert_non_null(some);
	for (;;) {
		struct hwtd_call_batch batch = { .size = sizeof(batch),
			.calls = some,
			.stride = sizeof(*some),
			.cap = batch_rows };

		rc = hwtd_calls_read(calls, &batch, &err);
		if (rc == HWTD_END)
			break;
		assert_int_equal(rc, HWTD_OK);
		out->at = realloc(out->at,
		    (out->n + batch.n + 1) * sizeof(*out->at));
		assert_non_null(out->at);
		memcpy(out->at + out->n, some, batch.n * sizeof(*some));
		out->n += batch.n;
	}
	free(some);
}

/* "+1010 -1010 ...": addresses, or names where there are. */
static void
assert_rows(struct hwtd_calls *calls, const struct rows *rows,
    const char *want)
{
	char got[8192] = "";
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_call *row = &rows->at[i];
		struct hwtd_call_function f = { .size = sizeof(f) };

		(void)hwtd_calls_function(calls, row->function, &f);
		if (row->kind == HWTD_CALL_GAP)
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "%sgap", n != 0 ? " " : "");
		else if (f.name != NULL)
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "%s%c%s", n != 0 ? " " : "",
			    row->kind == HWTD_CALL_ENTER ? '+' : '-', f.name);
		else
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "%s%c%llx", n != 0 ? " " : "",
			    row->kind == HWTD_CALL_ENTER ? '+' : '-',
			    (unsigned long long)row->address);
		if (row->kind == HWTD_CALL_LEAVE &&
		    row->end != HWTD_CALL_END_RETURN)
			n += (size_t)snprintf(got + n, sizeof(got) - n, ".%s",
			    hwtd_call_end_name(row->end));
		assert_true(n < sizeof(got));
	}
	assert_string_equal(got, want);
}

static struct hwtd_trace *
make_trace(struct hwtd_context *ctx, unsigned int rounds,
    unsigned int rounds_of_psb, const struct hwtd_stream_desc *desc)
{
	const struct hwtd_stream_desc plain = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = ctx == NULL ? mt_create()
					       : mt_create_in(ctx);

	for (unsigned int i = 0; i < rounds; i++) {
		if (i % rounds_of_psb == 0) {
			pt_psb(&p);
			pt_tsc(&p, 1000 + 100 * (uint64_t)i);
			pt_fup(&p, PT_IP_48, MAIN);
			pt_mode_exec(&p, 64);
			pt_psbend(&p);
		}
		/* f returns, then f for g. */
		pt_tsc(&p, 1010 + 100 * (uint64_t)i);
		pt_tip(&p, PT_IP_48, MAIN + 5);
		pt_tsc(&p, 1050 + 100 * (uint64_t)i);
		pt_tip(&p, PT_IP_48, MAIN + 10);
	}
	pt_leave_at(&p, MAIN + 10);
	(void)mt_code(trace, MAIN, code, sizeof(code));
	(void)mt_stream(trace, &p, desc != NULL ? desc : &plain);
	pt_free(&p);
	return (trace);
}

static struct hwtd_calls *
open_calls(struct hwtd_trace *trace, uint32_t flags, uint32_t jobs)
{
	const struct hwtd_events_options events = { .size = sizeof(events),
		.jobs = jobs };
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = flags,
		.events = &events };
	struct hwtd_calls *calls;

	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, NULL), HWTD_OK);
	return (calls);
}

static void
calls_of_a_trace_are_told_with_times_and_instructions(void **state)
{
	struct hwtd_trace *trace = mt_seal(make_trace(NULL, 2, 100, NULL));
	struct hwtd_calls *calls = open_calls(trace,
	    HWTD_CALLS_ENTERS | HWTD_CALLS_TIMES, 1);
	struct hwtd_call_thread thread = { .size = sizeof(thread) };
	struct hwtd_call_times times = { .size = sizeof(times) };
	struct hwtd_calls_info info = { .size = sizeof(info) };
	const struct hwtd_call *f;
	uint64_t self = 0, insns = 0;
	struct rows rows;

	(void)state;
	hwtd_trace_close(trace);
	read_rows(calls, 3, &rows);
	assert_rows(calls, &rows,
	    "+1000 +1010 -1010 +1020 -1020.tail +1010 -1010 +1010 -1010 +1020 "
	    "-1020.tail +1010 -1010 +0 -0.open -1000.open");
	/* The first f: nop, ret. */
	f = &rows.at[2];
	assert_int_equal(f->address, F);
	assert_int_equal(f->call_site, MAIN + 4);
	assert_int_equal(f->insns, 2);
	assert_int_equal(f->self_insns, 2);
	assert_int_equal(f->depth, 1);
	/*
	 * TSC says 1010 when the first instruction was executed and 1050 when
	 * four were, of which its return is the third.
	 */
	assert_int_equal(f->begin_ns, 1010);
	assert_int_equal(f->end_ns, 1010 + 40 * 2 / 3);
	assert_int_equal(f->flags &
		(HWTD_CALLF_BEGIN_ESTIMATED | HWTD_CALLF_BEGIN_INTERPOLATED |
		    HWTD_CALLF_END_ESTIMATED | HWTD_CALLF_END_INTERPOLATED),
	    HWTD_CALLF_END_INTERPOLATED);
	assert_int_equal(f->type, HWTD_CALL_TYPE_CALL);
	assert_int_equal(rows.at[5].type, HWTD_CALL_TYPE_TAIL);
	for (size_t i = 0; i < rows.n; i++) {
		if (rows.at[i].kind != HWTD_CALL_LEAVE)
			continue;
		self += rows.at[i].self_ns;
		insns += rows.at[i].self_insns;
	}
	assert_int_equal(hwtd_calls_thread(calls, 0, &thread), HWTD_OK);
	assert_int_equal(thread.stream, 0);
	assert_int_equal(thread.has_time, 1);
	assert_int_equal(self, thread.last_ns - thread.first_ns);
	assert_int_equal(hwtd_calls_info(calls, &info), HWTD_OK);
	assert_int_equal(info.n_threads, 1);
	/* Two rounds: call, nop, ret, call, jmp, nop, ret, and jmp once. */
	assert_int_equal(insns, 15);
	assert_int_equal(info.insns, 15);
	assert_int_equal(hwtd_calls_times(calls, f->function, &times),
	    HWTD_OK);
	assert_int_equal(times.calls, 4);
	assert_int_equal(times.whole, 4);
	assert_int_equal(times.self_insns, 8);
	assert_int_equal(hwtd_calls_times(calls, 1000, &times), HWTD_END);
	free(rows.at);
	hwtd_calls_close(calls);
}

static void
rows_are_the_same_with_any_number_of_jobs(void **state)
{
	struct hwtd_trace *trace = mt_seal(make_trace(NULL, 20000, 50, NULL));
	struct rows one, more;

	(void)state;
	for (uint32_t jobs = 2; jobs <= 4; jobs += 2) {
		struct hwtd_calls *a = open_calls(trace, HWTD_CALLS_ENTERS, 1);
		struct hwtd_calls *b = open_calls(trace, HWTD_CALLS_ENTERS,
		    jobs);

		read_rows(a, 1000, &one);
		read_rows(b, 77, &more);
		assert_true(one.n > 100000);
		assert_int_equal(one.n, more.n);
		assert_memory_equal(one.at, more.at, one.n * sizeof(*one.at));
		free(one.at);
		free(more.at);
		hwtd_calls_close(a);
		hwtd_calls_close(b);
	}
	hwtd_trace_close(trace);
}

/* Text. */

static struct hwtd_calls *
open_text(const char *text, uint32_t flags, struct temp_dir *dir)
{
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = flags };
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

static const char branches[] =
    "# a comment\n"
    "prog name  7/8 [002] 1.000000100:  1 branches:uH: call  1000 main+0x0 "
    "(/bin/p) => 2000 f(int, char (*)[2])+0x0 (/bin/p)\n"
    "prog name  7/8 [002] 1.000000100:  1 branches:uH: jmp   2004 "
    "f(int, char (*)[2])+0x4 (/bin/p) => 3000 g+0x0 (/lib/a (deleted))\n"
    "prog name  7/8 [002] 1.000000140:  1 branches:uH: return 3009 g+0x9 "
    "(/lib/a (deleted)) => 1005 main+0x5 (/bin/p)\n"
    "this is no line\n"
    "prog name  7/9 [002] 1.000000150:  1 branches:uH: tr strt 0 [unknown] "
    "([unknown]) => 5000 h+0x0 (/bin/p)\n"
    "prog name  7/8 [002] 1.000000160:  1 branches:uH: tr end  syscall 1010 "
    "main+0x10 (/bin/p) => 0 [unknown] ([unknown])\n"
    "prog name  7/8 [002] 1.000000190:  1 branches:uH: tr strt 0 [unknown] "
    "([unknown]) => 1012 main+0x12 (/bin/p)\n";

static void
lines_of_perf_script_are_calls(void **state)
{
	struct temp_dir dir;
	struct hwtd_calls *calls = open_text(branches, HWTD_CALLS_ENTERS,
	    &dir);
	struct hwtd_call_thread thread = { .size = sizeof(thread) };
	struct hwtd_call_function function = { .size = sizeof(function) };
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct rows rows;

	(void)state;
	read_rows(calls, 100, &rows);
	assert_rows(calls, &rows,
	    "+main +f(int, char (*)[2]) -f(int, char (*)[2]).tail +g -g +h +0 "
	    "-0.far-return -main.open -h.open");
	/* g began between two times; its end is one. */
	assert_int_equal(rows.at[3].begin_ns, 1000000120);
	assert_true((rows.at[3].flags & HWTD_CALLF_BEGIN_INTERPOLATED) != 0);
	assert_int_equal(rows.at[4].end_ns, 1000000140);
	assert_int_equal(rows.at[4].call_site, 0x2004);
	assert_int_equal(rows.at[7].self_ns, 30);
	assert_true((rows.at[7].flags & HWTD_CALLF_UNTRACED) != 0);
	assert_int_equal(rows.at[7].type, HWTD_CALL_TYPE_SYSCALL);
	assert_int_equal(hwtd_calls_function(calls, rows.at[3].function,
			     &function),
	    HWTD_OK);
	assert_string_equal(function.image, "/lib/a (deleted)");
	assert_int_equal(function.address, 0x3000);
	assert_int_equal(hwtd_calls_thread(calls, 0, &thread), HWTD_OK);
	assert_int_equal(thread.pid, 7);
	assert_int_equal(thread.tid, 8);
	assert_int_equal(hwtd_calls_thread(calls, 2, &thread), HWTD_END);
	assert_int_equal(hwtd_calls_info(calls, &info), HWTD_OK);
	assert_int_equal(info.lines, 8);
	assert_int_equal(info.bad_lines, 1);
	assert_int_equal(info.first_bad_line, 5);
	assert_int_equal(info.n_threads, 2);
	free(rows.at);
	hwtd_calls_close(calls);
	temp_dir_remove(&dir);
}

static void
times_are_not_interpolated_if_that_is_not_wanted(void **state)
{
	struct temp_dir dir;
	struct hwtd_calls *calls = open_text(branches,
	    HWTD_CALLS_ENTERS | HWTD_CALLS_NO_INTERPOLATION, &dir);
	struct rows rows;

	(void)state;
	read_rows(calls, 100, &rows);
	assert_int_equal(rows.at[3].begin_ns, 1000000100);
	assert_true((rows.at[3].flags & HWTD_CALLF_BEGIN_ESTIMATED) != 0);
	free(rows.at);
	hwtd_calls_close(calls);
	temp_dir_remove(&dir);
}

static void
percentiles_are_those_of_whole_calls(void **state)
{
	char text[20000] = "";
	struct hwtd_call_times times = { .size = sizeof(times) };
	struct temp_dir dir;
	struct hwtd_calls *calls;
	unsigned int at = 100;
	struct rows rows;
	size_t n = 0;

	(void)state;
	/* f takes 1, 2, ... 50 ns; in the last one is a gap of 500 ns. */
	for (unsigned int i = 1; i <= 51; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "1/1 1.%09u: 1 branches:u: call 1000 m+0x0 (p) => 2000 "
		    "f+0x0 (p)\n",
		    at);
		at += i;
		if (i == 51) {
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    " instruction trace error type 1 time 1.%09u cpu "
			    "-1 pid 1 tid 1 ip 0x2000 code 7: Overflow "
			    "packet\n",
			    at);
			at += 500;
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "1/1 1.%09u: 1 branches:u: tr strt 0 [unknown] "
			    "([unknown]) => 2004 f+0x4 (p)\n",
			    at);
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "1/1 1.%09u: 1 branches:u: return 2008 f+0x8 (p) => 1005 "
		    "m+0x5 (p)\n",
		    at);
		at += 7;
	}
	calls = open_text(text, HWTD_CALLS_TIMES | HWTD_CALLS_GAPS, &dir);
	read_rows(calls, 100, &rows);
	assert_int_equal(hwtd_calls_times(calls, rows.at[0].function, &times),
	    HWTD_OK);
	assert_int_equal(times.calls, 51);
	assert_int_equal(times.whole, 50);
	assert_int_equal(times.ns, 50 * 51 / 2);
	assert_int_equal(times.min_ns, 1);
	assert_int_equal(times.max_ns, 50);
	assert_int_equal(times.p50_ns, 25);
	assert_int_equal(times.p90_ns, 45);
	assert_int_equal(times.p99_ns, 50);
	/* Time in the gap is nobody's. */
	assert_int_equal(times.all_self_ns, 51 * 52 / 2);
	assert_int_equal(rows.at[50].kind, HWTD_CALL_GAP);
	assert_int_equal(rows.at[50].end_ns - rows.at[50].begin_ns, 500);
	assert_int_equal(rows.at[51].gap_ns, 500);
	assert_int_equal(rows.at[51].gaps, 1);
	free(rows.at);
	hwtd_calls_close(calls);
	temp_dir_remove(&dir);
}

static void
samples_with_callers_are_calls_seen_at_times(void **state)
{
	static const char text[] = "1/2 1.000000100: 5 cycles:u: \n"
				   "\t 2000 f+0x0 (p)\n"
				   "\t 1000 m+0x0 (p)\n"
				   "\n"
				   "1/2 1.000000150: 5 branch-misses:u: \n"
				   "\t 9000 other+0x0 (p)\n"
				   "\n"
				   "1/2 1.000000200: 5 cycles:u: \n"
				   "\t 3000 g+0x0 (p)\n"
				   "\t 1000 m+0x0 (p)\n";
	struct temp_dir dir;
	struct hwtd_calls *calls = open_text(text, HWTD_CALLS_ENTERS, &dir);
	struct rows rows;

	(void)state;
	read_rows(calls, 100, &rows);
	assert_rows(calls, &rows, "+m +f -f.sampled +g -g.open -m.open");
	assert_int_equal(rows.at[2].end_ns, 1000000200);
	assert_int_equal(rows.at[2].type, HWTD_CALL_TYPE_SAMPLED);
	free(rows.at);
	hwtd_calls_close(calls);
	temp_dir_remove(&dir);
}

static void
code_that_compilers_move_away_is_of_its_function(void **state)
{
	static const char text[] =
	    "1/1 1.1: 1 branches:u: call 1000 m+0x0 (p) => 2000 f+0x0 (p)\n"
	    "1/1 1.2: 1 branches:u: jmp 2004 f+0x4 (p) => 9000 f.cold+0x0 "
	    "(p)\n"
	    "1/1 1.3: 1 branches:u: jmp 9004 f.cold+0x4 (p) => 2010 f+0x10 "
	    "(p)\n"
	    "1/1 1.4: 1 branches:u: jmp 2014 f+0x14 (p) => 8000 f.colder+0x0 "
	    "(p)\n"
	    "1/1 1.5: 1 branches:u: return 8004 f.colder+0x4 (p) => 1005 "
	    "m+0x5 (p)\n";
	struct temp_dir dir;
	struct hwtd_calls *calls = open_text(text, HWTD_CALLS_ENTERS, &dir);
	struct rows rows;

	(void)state;
	read_rows(calls, 100, &rows);
	assert_rows(calls, &rows, "+m +f -f.tail +f.colder -f.colder -m.open");
	free(rows.at);
	hwtd_calls_close(calls);
	temp_dir_remove(&dir);
}

static void
too_many_open_calls_end_by_the_limit(void **state)
{
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS,
		.max_depth = 16 };
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_context *ctx;
	struct hwtd_calls *calls;
	struct temp_dir dir;
	struct rows rows;
	char path[300], text[20000];
	int64_t open = 0;
	size_t n = 0;

	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "1/1 1.%09u: 1 branches:u: call %x f+0x%x (p) => 1000 "
		    "f+0x0 (p)\n",
		    i, 0x1000 + 8 * i, 8 * i);
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "text", path), text, n);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_calls_open_text(ctx, path, &opts, &calls, NULL),
	    HWTD_OK);
	read_rows(calls, 100, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		open += rows.at[i].kind == HWTD_CALL_ENTER ? 1 : -1;
		assert_true(open >= 0 && open <= 16);
	}
	assert_int_equal(open, 0);
	assert_int_equal(hwtd_calls_info(calls, &info), HWTD_OK);
	assert_int_equal(info.calls, 101);
	/* 16 at a time: 6 times, and 5 are open at the end. */
	assert_int_equal(info.limited, 96);
	free(rows.at);
	hwtd_calls_close(calls);
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
}

/* Misuse and memory. */

static void
what_is_wrong_is_said(void **state)
{
	const struct hwtd_range range = { 1, 2 };
	const struct hwtd_events_options events = { .size = sizeof(events),
		.addresses = &range,
		.n_addresses = 1 };
	struct hwtd_calls_options opts = { .size = sizeof(opts),
		.events = &events };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = make_trace(NULL, 1, 1, NULL);
	struct hwtd_call row;
	struct hwtd_call_batch batch = { .size = sizeof(batch),
		.calls = &row,
		.stride = sizeof(row),
		.cap = 1 };
	struct hwtd_call_times times = { .size = sizeof(times) };
	struct hwtd_calls *calls;
	struct hwtd_context *ctx;
	struct temp_dir dir;
	char path[300];

	(void)state;
	assert_int_equal(hwtd_calls_open(NULL, NULL, &calls, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_calls_open(trace, NULL, &calls, &err),
	    HWTD_E_STATE);
	(void)mt_seal(trace);
	assert_int_equal(hwtd_calls_open(trace, NULL, NULL, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, &err),
	    HWTD_E_INVALID);
	assert_string_equal(err.message,
	    "calls need all code: addresses cannot be chosen");
	opts.events = NULL;
	opts.flags = 0x8000;
	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, &err),
	    HWTD_E_INVALID);
	opts.flags = 0;
	opts.max_depth = 1;
	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, &err),
	    HWTD_E_INVALID);
	opts.max_depth = 0;
	opts.max_stacks = 1u << 20;
	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_calls_open(trace, NULL, &calls, &err), HWTD_OK);
	batch.cap = 0;
	assert_int_equal(hwtd_calls_read(calls, &batch, &err), HWTD_E_INVALID);
	batch.cap = 1;
	batch.stride = 8;
	assert_int_equal(hwtd_calls_read(calls, &batch, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_calls_times(calls, 0, &times), HWTD_E_STATE);
	assert_int_equal(hwtd_calls_info(calls, NULL), HWTD_E_INVALID);
	assert_int_equal(hwtd_calls_thread(NULL, 0, NULL), HWTD_E_INVALID);
	assert_int_equal(hwtd_calls_function(calls, 0, NULL), HWTD_E_INVALID);
	hwtd_calls_close(calls);
	hwtd_calls_close(NULL);
	hwtd_trace_close(trace);

	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "text", path), "ELF\n", 4);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_calls_open_text(ctx, path, NULL, &calls, &err),
	    HWTD_E_UNRECOGNIZED);
	assert_int_equal(hwtd_calls_open_text(ctx,
			     temp_dir_file(&dir, "no", path), NULL, &calls,
			     &err),
	    HWTD_E_IO);
	assert_int_equal(hwtd_calls_open_text(ctx, NULL, NULL, &calls, &err),
	    HWTD_E_INVALID);
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
	assert_string_equal(hwtd_call_type_name(HWTD_CALL_TYPE_TAIL), "tail");
	assert_string_equal(hwtd_call_type_name(1000), "unknown");
	assert_string_equal(hwtd_call_end_name(HWTD_CALL_END_FAR_RETURN),
	    "far-return");
	assert_string_equal(hwtd_call_end_name(1000), "unknown");
}

static int
read_all(struct hwtd_calls *calls)
{
	struct hwtd_call some[8];
	int rc;

	do {
		struct hwtd_call_batch batch = { .size = sizeof(batch),
			.calls = some,
			.stride = sizeof(some[0]),
			.cap = 8 };

		rc = hwtd_calls_read(calls, &batch, NULL);
	} while (rc == HWTD_OK);
	return (rc);
}

static void
no_memory_is_an_error_at_any_request(void **state)
{
	struct failing_allocator fails;
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_TIMES };
	struct temp_dir dir;
	char path[300];
	int rc = HWTD_E_NOMEM;

	(void)state;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "text", path), branches,
	    strlen(branches));
	failing_allocator_init(&fails);
	for (uint64_t n = 1; rc != HWTD_END; n++) {
		const struct hwtd_context_options how = {
			.size = sizeof(how),
			.allocator = &fails.allocator,
		};
		struct hwtd_calls *calls = NULL;
		struct hwtd_context *ctx;

		failing_allocator_arm(&fails, 0, false);
		assert_int_equal(hwtd_context_create(&how, &ctx, NULL),
		    HWTD_OK);
		failing_allocator_arm(&fails, n, false);
		rc = hwtd_calls_open_text(ctx, path, &opts, &calls, NULL);
		if (rc == HWTD_OK)
			rc = read_all(calls);
		assert_true(rc == HWTD_E_NOMEM || rc == HWTD_END);
		failing_allocator_arm(&fails, 0, false);
		hwtd_calls_close(calls);
		hwtd_context_destroy(ctx);
		assert_int_equal(fails.blocks, 0);
		assert_true(n < 1000);
	}
	temp_dir_remove(&dir);
}

static void
no_memory_of_a_trace_is_an_error_at_any_request(void **state)
{
	struct failing_allocator fails;
	const struct hwtd_context_options how = { .size = sizeof(how),
		.allocator = &fails.allocator };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	int rc = HWTD_E_NOMEM;

	(void)state;
	failing_allocator_init(&fails);
	assert_int_equal(hwtd_context_create(&how, &ctx, NULL), HWTD_OK);
	trace = mt_seal(make_trace(ctx, 3, 2, NULL));
	for (uint64_t n = 1; rc != HWTD_END; n++) {
		struct hwtd_calls *calls = NULL;

		failing_allocator_arm(&fails, n, false);
		rc = hwtd_calls_open(trace, NULL, &calls, NULL);
		if (rc == HWTD_OK)
			rc = read_all(calls);
		assert_true(rc == HWTD_E_NOMEM || rc == HWTD_END);
		failing_allocator_arm(&fails, 0, false);
		hwtd_calls_close(calls);
		assert_true(n < 2000);
	}
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(fails.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    calls_of_a_trace_are_told_with_times_and_instructions),
		cmocka_unit_test(rows_are_the_same_with_any_number_of_jobs),
		cmocka_unit_test(lines_of_perf_script_are_calls),
		cmocka_unit_test(
		    times_are_not_interpolated_if_that_is_not_wanted),
		cmocka_unit_test(percentiles_are_those_of_whole_calls),
		cmocka_unit_test(samples_with_callers_are_calls_seen_at_times),
		cmocka_unit_test(
		    code_that_compilers_move_away_is_of_its_function),
		cmocka_unit_test(too_many_open_calls_end_by_the_limit),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(no_memory_is_an_error_at_any_request),
		cmocka_unit_test(
		    no_memory_of_a_trace_is_an_error_at_any_request),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
