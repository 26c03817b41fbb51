/*
 * Calls of random traces, and of threads that change processors.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/call_check.h"
#include "support/mapped_trace.h"
#include "support/random_trace.h"
#include "support/slot_size.h"

struct rows {
	struct hwtd_call *at;
	size_t n;
};

static struct hwtd_calls *
open_calls(struct hwtd_trace *trace, uint32_t jobs, bool symbols)
{
	const struct hwtd_events_options events = { .size = sizeof(events),
		.jobs = jobs };
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS |
		    HWTD_CALLS_TIMES | (symbols ? 0 : HWTD_CALLS_NO_SYMBOLS),
		.max_depth = 256,
		.events = &events };
	struct hwtd_calls *calls;

	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, NULL), HWTD_OK);
	return (calls);
}

static void
read_rows(struct hwtd_calls *calls, struct rows *out)
{
	static struct hwtd_call some[100];
	int rc;

	memset(out, 0, sizeof(*out));
	for (;;) {
		struct hwtd_call_batch batch = { .size = sizeof(batch),
			.calls = some,
			.stride = sizeof(some[0]),
			.cap = 100 };

		rc = hwtd_calls_read(calls, &batch, NULL);
		if (rc != HWTD_OK)
			break;
		out->at = realloc(out->at,
		    (out->n + batch.n + 1) * sizeof(*out->at));
		assert_non_null(out->at);
		memcpy(out->at + out->n, some, batch.n * sizeof(some[0]));
		out->n += batch.n;
	}
	assert_int_equal(rc, HWTD_END);
}

/* Rows nest, add up, and are the same with several jobs. */
static void
check(struct hwtd_trace *trace)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_calls *calls = open_calls(trace, 1, true);
	struct call_check c = { .n = 0 };
	struct rows one, several;
	bool right = true;

	read_rows(calls, &one);
	for (size_t i = 0; i < one.n && right; i++)
		right = call_check_row(&c, &one.at[i]);
	right = right && call_check_end(&c, call_check_span(calls));
	if (!right)
		print_error("%s\n", c.text);
	assert_true(right);
	assert_int_equal(hwtd_calls_info(calls, &info), HWTD_OK);
	assert_int_equal(info.calls, c.begun);
	/* Each instruction is of one call. */
	assert_int_equal(info.insns, c.insns);
	hwtd_calls_close(calls);
	calls = open_calls(trace, 3, true);
	read_rows(calls, &several);
	assert_int_equal(several.n, one.n);
	assert_memory_equal(several.at, one.at, one.n * sizeof(*one.at));
	hwtd_calls_close(calls);
	free(one.at);
	free(several.at);
}

static void
random_traces_have_calls_that_nest_and_add_up(void **state)
{
	static const uint64_t slots[] = { 0, 16, 100, 700 };
	const uint64_t seeds = getenv("HWTDECODE_TEST_SMALL") != NULL ? 15
								      : 150;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
			.pid = HWTD_NO_ID,
			.tid = HWTD_NO_ID,
			.clock = { .counts_per = seed % 3 != 0,
			    .ns_per = 1 } };
		struct random_trace truth;
		struct hwtd_trace *trace = mt_create();
		uint64_t random = seed;

		random_trace_make(&truth, seed,
		    random_below(&random, RANDOM_ALL + 1), 3000);
		desc.pt = &truth.config;
		for (uint32_t i = 0; i < truth.program.n_images; i++)
			(void)mt_code(trace, truth.program.images[i].address,
			    truth.program.images[i].bytes,
			    truth.program.images[i].n_bytes);
		(void)mt_stream(trace, &truth.packets, &desc);
		mt_seal(trace);
		slot_bytes = slots[seed % 4];
		/* In too many slots without a PSB a cut is forced. */
		if (slot_bytes != 0 && slot_bytes < truth.packets.n / 60)
			slot_bytes = truth.packets.n / 60;
		print_message("seed %llu\n", (unsigned long long)seed);
		check(trace);
		hwtd_trace_close(trace);
		random_trace_free(&truth);
	}
	slot_bytes = 0;
}

#define MAIN 0x1000u
#define F 0x1010u

/* main calls f, which is a nop and a return. */
static const uint8_t code[] = { 0xe8, 0x0b, 0x00, 0x00, 0x00, 0xeb, 0xf9, 0x90,
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3 };

static void
on_cpu(struct hwtd_trace *trace, uint32_t cpu, uint64_t time_ns, uint32_t tid)
{
	struct hwtd_record r = mr_record(HWTD_REC_SWITCH, 1, 0, 0);

	r.tid = tid;
	r.cpu = cpu;
	mr_time(&r, time_ns);
	mr_add(trace, &r);
}

static void
a_call_goes_on_where_its_thread_does(void **state)
{
	struct hwtd_stream_desc desc = { .cpu = 0,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	struct hwtd_call_thread thread = { .size = sizeof(thread) };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	struct hwtd_calls *calls;
	const struct hwtd_call *f = NULL;
	struct rows rows;

	(void)state;
	(void)mt_code(trace, MAIN, code, sizeof(code));
	/* On the first one main calls f, and an interrupt is at its nop. */
	pt_psb(&p);
	pt_tsc(&p, 1000);
	pt_fup(&p, PT_IP_48, MAIN);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_tsc(&p, 1020);
	pt_fup(&p, PT_IP_48, F);
	pt_pgd(&p, PT_IP_NONE, 0);
	(void)mt_stream(trace, &p, &desc);
	/* On the second one it goes on. */
	pt_clear(&p);
	pt_psb(&p);
	pt_tsc(&p, 1030);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_tsc(&p, 1040);
	pt_pge(&p, PT_IP_48, F);
	pt_tsc(&p, 1050);
	pt_tip(&p, PT_IP_48, MAIN + 5);
	pt_leave_at(&p, MAIN + 5);
	desc.cpu = 1;
	(void)mt_stream(trace, &p, &desc);
	on_cpu(trace, 0, 900, 200);
	on_cpu(trace, 0, 1025, 300);
	on_cpu(trace, 1, 900, 300);
	on_cpu(trace, 1, 1025, 200);
	pt_free(&p);
	calls = open_calls(mt_seal(trace), 1, false);
	hwtd_trace_close(trace);
	read_rows(calls, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		assert_int_equal(hwtd_calls_thread(calls, rows.at[i].thread,
				     &thread),
		    HWTD_OK);
		if (rows.at[i].kind == HWTD_CALL_LEAVE &&
		    rows.at[i].address == F && thread.tid == 200) {
			assert_null(f);
			f = &rows.at[i];
		}
	}
	assert_non_null(f);
	assert_int_equal(f->type, HWTD_CALL_TYPE_CALL);
	assert_int_equal(f->end, HWTD_CALL_END_RETURN);
	assert_int_equal(f->insns, 2);
	assert_int_equal(f->end_ns, 1050);
	assert_true(f->begin_ns <= 1020);
	/* While the interrupt was handled it did not run itself. */
	assert_true(f->self_ns <= f->end_ns - f->begin_ns - 20);
	free(rows.at);
	hwtd_calls_close(calls);
}

/*
 * In f an interrupt, at 1000 and at 2000; before the second time records.  How many
 * calls ended as `end`, and the latest of these; how many were found running.
 */
static void
run_twice(struct hwtd_record *records, size_t n, uint8_t end,
    size_t *ended_out, uint64_t *last_out, size_t *found_out)
{
	const struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = 1,
		.tid = 200,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	struct hwtd_call_thread thread = { .size = sizeof(thread) };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	struct hwtd_calls *calls;
	struct rows rows;

	*ended_out = *found_out = 0;
	*last_out = 0;
	(void)mt_code(trace, MAIN, code, sizeof(code));
	for (uint64_t at = 1000; at <= 2000; at += 1000) {
		if (at == 1000)
			pt_psb(&p);
		pt_tsc(&p, at);
		if (at == 1000) {
			pt_fup(&p, PT_IP_48, MAIN);
			pt_mode_exec(&p, 64);
			pt_psbend(&p);
		} else {
			pt_pge(&p, PT_IP_48, MAIN);
		}
		pt_tsc(&p, at + 20);
		pt_fup(&p, PT_IP_48, F);
		pt_pgd(&p, PT_IP_NONE, 0);
	}
	(void)mt_stream(trace, &p, &desc);
	pt_free(&p);
	for (size_t i = 0; i < n; i++) {
		mr_time(&records[i], 1500 + i);
		mr_add(trace, &records[i]);
	}
	calls = open_calls(mt_seal(trace), 1, false);
	hwtd_trace_close(trace);
	read_rows(calls, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		if (rows.at[i].kind == HWTD_CALL_ENTER)
			*found_out += rows.at[i].type == HWTD_CALL_TYPE_FOUND;
		if (rows.at[i].kind != HWTD_CALL_LEAVE ||
		    rows.at[i].end != end)
			continue;
		(*ended_out)++;
		if (rows.at[i].end_ns > *last_out)
			*last_out = rows.at[i].end_ns;
	}
	assert_int_equal(hwtd_calls_thread(calls, 0, &thread), HWTD_OK);
	assert_int_equal(thread.tid, 200);
	assert_int_equal(hwtd_calls_thread(calls, 1, &thread), HWTD_END);
	free(rows.at);
	hwtd_calls_close(calls);
}

static void
another_program_ends_all_calls(void **state)
{
	struct hwtd_record r = mr_record(HWTD_REC_EXEC, 1, 0, 0);
	size_t ended, found;
	uint64_t last;

	(void)state;
	run_twice(&r, 1, HWTD_CALL_END_EXEC, &ended, &last, &found);
	/* main, f and what interrupted it; main of the other program. */
	assert_int_equal(ended, 3);
	assert_int_equal(last, 1500);
	assert_int_equal(found, 2);
}

static void
a_thread_with_the_number_of_one_that_ended_is_another_one(void **state)
{
	static const uint32_t ends[2] = { HWTD_REC_THREAD_EXIT,
		HWTD_REC_EXIT };
	static const uint32_t begins[2] = { HWTD_REC_THREAD_CREATE,
		HWTD_REC_FORK };
	struct hwtd_record r[2];
	size_t ended, found;
	uint64_t last;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		r[0] = mr_record(ends[i], 1, 0, 0);
		r[1] = mr_record(begins[i], 1, 0, 0);
		r[0].tid = r[1].tid = 200;
		run_twice(r, 2, HWTD_CALL_END_EXIT, &ended, &last, &found);
		assert_int_equal(ended, 3);
		/* It was there up to then, and not up to the records. */
		assert_int_equal(last, 1020);
		assert_int_equal(found, 2);
		/* Only that it begins, late: it is the same. */
		run_twice(&r[1], 1, HWTD_CALL_END_EXIT, &ended, &last, &found);
		assert_int_equal(ended, 0);
		assert_int_equal(found, 1);
		/* One of another process, or another one. */
		r[0].tid = 201;
		run_twice(r, 2, HWTD_CALL_END_EXIT, &ended, &last, &found);
		assert_int_equal(ended, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    random_traces_have_calls_that_nest_and_add_up),
		cmocka_unit_test(a_call_goes_on_where_its_thread_does),
		cmocka_unit_test(another_program_ends_all_calls),
		cmocka_unit_test(
		    a_thread_with_the_number_of_one_that_ended_is_another_one),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
