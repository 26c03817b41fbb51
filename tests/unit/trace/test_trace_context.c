/*
 * Who runs by an id that the hardware put into the trace (CONTEXTIDR), against what
 * records say of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "trace/trace_model.h"

static uint32_t
add_stream(struct hwtd_trace *trace, uint32_t pid, uint32_t tid)
{
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = pid,
		.tid = tid };
	uint32_t stream;

	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &stream, NULL),
	    HWTD_OK);
	return (stream);
}

static void
add_switch(struct hwtd_trace *trace, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct hwtd_record r = mr_record(HWTD_REC_SWITCH, pid, 0, 0);

	r.tid = tid;
	r.cpu = 0;
	mr_time(&r, time);
	mr_add(trace, &r);
}

static struct hwtd_trace *
make(bool with_records)
{
	struct hwtd_trace *trace = mr_create(NULL);

	(void)add_stream(trace, HWTD_NO_ID, HWTD_NO_ID);
	if (with_records) {
		/* The first thread of process 70 has its number. */
		add_switch(trace, 10, 70, 70);
		add_switch(trace, 20, 70, 71);
		add_switch(trace, 30, 80, 81);
	}
	return (mt_seal(trace));
}

static const struct {
	const char *name;
	bool has_records;
	bool has_id;
	uint32_t id;
	/* Before, and after. */
	uint32_t pid, tid;
	uint32_t want_pid, want_tid;
} cases[] = {
	{ "a thread of another process", true, true, 81, 70, 71, 80, 81 },
	{ "another thread of the process", true, true, 71, 70, 70, 70, 71 },
	{ "nobody was known", true, true, 71, HWTD_NO_ID, HWTD_NO_ID, 70, 71 },
	{ "the same thread", true, true, 71, 70, 71, 70, 71 },
	{ "the process of the thread", true, true, 70, 70, 71, 70, 71 },
	{ "the first thread of the process, which alone is known", true, true,
	    70, 70, HWTD_NO_ID, 70, 70 },
	{ "an id that no record knows", true, true, 99, 70, 71, 70, 71 },
	{ "none", true, true, 0, 70, 71, 70, 71 },
	{ "not told", true, false, 81, 70, 71, 70, 71 },
	{ "no records", false, true, 81, 70, 71, 70, 71 },
};

static void
context_tells_the_thread_if_records_know_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_exec_context context = {
			.flags = cases[i].has_id ? HWTD_CTXF_CONTEXTIDR : 0,
			.contextidr = cases[i].id,
		};
		struct hwtd_trace *trace = make(cases[i].has_records);
		uint32_t pid = cases[i].pid, tid = cases[i].tid;

		print_message("case %s\n", cases[i].name);
		hwtdi_trace_in_context(trace, 0, &context, &pid, &tid);
		assert_int_equal(pid, cases[i].want_pid);
		assert_int_equal(tid, cases[i].want_tid);
		hwtd_trace_close(trace);
	}
}

static void
stream_of_a_process_tells_that_of_its_threads(void **state)
{
	const struct hwtd_exec_context context = {
		.flags = HWTD_CTXF_CONTEXTIDR,
		.contextidr = 72,
	};
	struct hwtd_record r = mr_record(HWTD_REC_SWITCH, HWTD_NO_ID, 0, 0);
	struct hwtd_trace *trace = mr_create(NULL);
	uint32_t pid = HWTD_NO_ID, tid = HWTD_NO_ID;

	(void)state;
	(void)add_stream(trace, 70, HWTD_NO_ID);
	(void)add_stream(trace, 70, 71);
	/* A thread of no known process. */
	r.tid = 72;
	r.cpu = 0;
	mr_time(&r, 10);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	hwtdi_trace_in_context(trace, 0, &context, &pid, &tid);
	assert_int_equal(pid, 70);
	assert_int_equal(tid, 72);
	/* It is not the thread of this stream. */
	pid = tid = HWTD_NO_ID;
	hwtdi_trace_in_context(trace, 1, &context, &pid, &tid);
	assert_int_equal(pid, HWTD_NO_ID);
	assert_int_equal(tid, 72);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_tells_the_thread_if_records_know_it),
		cmocka_unit_test(
		    stream_of_a_process_tells_that_of_its_threads),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
