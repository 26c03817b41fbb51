/*
 * Captures of Intel PT of programs with many threads.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pt_run.h"

#define BIAS 0x200000u
#define START (BIAS + PT_RUN_CODE)
#define MODE "mode value=0 status 64\n"
#define ROWS 8192
#define MS 1000000u

/*
 * Of several threads nobody tells how often each was switched out at last: one of
 * which something came in the last look may have had more slices.
 */
#define NOBODY_KNOWS(n) "unknown=" #n

/* Streams of the file: whose, as numbers of threads; none comes twice. */
static void
assert_streams(const struct pt_run *r, const char *text)
{
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	char got[1000] = "";
	bool seen[100] = { false };
	unsigned nameless = 0;
	size_t n = 0;

	for (uint32_t s = 0; hwtd_trace_stream(trace, s, &desc) == HWTD_OK;
	     s++) {
		const uint32_t number = desc.tid - pt_run_tid(r, 0);

		assert_int_equal(desc.tech, HWTD_TECH_INTEL_PT);
		assert_int_equal(desc.pid, r->run.status.pid);
		assert_int_equal(desc.cpu, HWTD_NO_ID);
		nameless += desc.tid == HWTD_NO_ID;
		if (desc.tid == HWTD_NO_ID)
			continue;
		assert_true(number < 100);
		assert_false(seen[number]);
		seen[number] = true;
	}
	for (unsigned i = 0; i < 100; i++)
		if (seen[i])
			n += (size_t)snprintf(got + n, sizeof(got) - n, " %u",
			    i);
	for (unsigned i = 0; i < nameless; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, " ?");
	assert_string_equal(got, text);
	hwtd_trace_close(trace);
}

static void
each_thread_has_a_stream_of_its_own(void **state)
{
	char rows[3][ROWS] = { MODE, MODE, MODE };
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 4 });
	pt_run_exec(&r, r.path, BIAS);
	pt_run_thread(&r, 0, 1);
	pt_run_thread(&r, 1, 2);
	for (unsigned i = 0; i < 3; i++)
		pt_run_trace(&r, i, (5 + i) * MS,
		    pt_run_flow(&r, START, i + 1));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 40 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_streams(&r, " 0 1 2");
	for (unsigned i = 0; i < 3; i++) {
		pt_run_rows(rows[i], ROWS, START, i + 1, 0);
		pt_run_assert_rows(&r, pt_run_tid(&r, i), rows[i]);
	}
	pt_run_assert_losses(&r, "");
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "thread-create thread 1\n"
	    "thread-create thread 2\n"
	    "thread-name program thread 0\n"
	    "thread-name program thread 1\n"
	    "thread-name program thread 2\n");
	pt_run_fini(&r);
}

static void
a_thread_that_moves_between_cpus_stays_one_stream(void **state)
{
	char rows[ROWS] = "";
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 4 });
	pt_run_exec(&r, r.path, BIAS);
	for (unsigned i = 1; i <= 4; i++) {
		const struct pt_packets *p = pt_run_flow(&r, START, i);

		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_TRACE,
			.ns = 3 * MS,
			.cpu = i % 4,
			.bytes = p->bytes,
			.n = p->n });
		(void)strcat(rows, MODE);
		pt_run_rows(rows, sizeof(rows), START, i, 0);
	}
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_streams(&r, " 0");
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
a_thread_that_ends_keeps_its_last_bytes(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 2 });
	pt_run_exec(&r, r.path, BIAS);
	pt_run_thread(&r, 0, 1);
	pt_run_trace(&r, 1, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_THREAD_EXIT, .thread = 1 });
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 20 * MS });
	pt_run_trace(&r, 0, 0, pt_run_flow(&r, START, 1));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_streams(&r, " 0 1");
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	pt_run_assert_rows(&r, pt_run_tid(&r, 1), rows);
	assert_int_equal(pt_run_check_bytes(&r), 0);
	pt_run_assert_losses(&r, NOBODY_KNOWS(2));
	pt_run_fini(&r);
}

/* Gone before anybody could ask for its name: its bytes are saved nameless. */
static void
a_thread_that_ends_at_once_is_saved_without_its_name(void **state)
{
	struct pt_run r;
	uint64_t n;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 2 });
	pt_run_exec(&r, r.path, BIAS);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_thread(&r, 0, 1);
	pt_run_trace(&r, 1, 0, pt_run_flow(&r, START, 2));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_THREAD_EXIT, .thread = 1 });
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_trace(&r, 0, 0, pt_run_flow(&r, START, 1));
	n = r.packets[0].n + r.packets[1].n;
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_streams(&r, " 0 ?");
	assert_int_equal(r.run.status.n_bytes, n);
	pt_run_fini(&r);
}

static void
fail_one_thread(void *arg, int look, struct hwtdi_engine *engine)
{
	struct pt_run *r = arg;

	(void)engine;
	if (look == 1)
		sim_fail_threads(r->run.kernel, 1);
}

static void
a_thread_that_the_kernel_traces_not_is_counted(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 4 });
	r.run.looked = fail_one_thread;
	r.run.arg = &r;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 10 * MS });
	pt_run_thread(&r, 0, 1);
	pt_run_trace(&r, 1, 5 * MS, pt_run_flow(&r, START, 5));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 40 * MS });
	pt_run_thread(&r, 0, 2);
	pt_run_trace(&r, 2, 20 * MS, pt_run_flow(&r, START, 2));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 60 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_losses(&r, "threads=1");
	/* Number 1 is burnt; number 2 is the third thread for sure. */
	assert_streams(&r, " 2");
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	pt_run_assert_rows(&r, pt_run_tid(&r, 2), rows);
	pt_run_assert_said(&r, "pt.thread.1", NULL);
	pt_run_fini(&r);
}

static void
sixty_threads_are_paired_in_order(void **state)
{
	char streams[400] = "";
	struct pt_run r;
	unsigned n = 0;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 4 });
	r.pt.buffer_bytes = 4 * PT_RUN_PAGE;
	pt_run_exec(&r, r.path, BIAS);
	/* All at once, between two looks. */
	for (unsigned i = 1; i < 60; i++)
		pt_run_thread(&r, 0, i);
	for (unsigned i = 0; i < 60; i++) {
		const struct pt_packets *p = pt_run_flow(&r, START, i % 7 + 1);

		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_TRACE,
			.thread = i,
			.cpu = i,
			.ns = (3 + i / 4) * MS,
			.bytes = p->bytes,
			.n = p->n });
		n += (unsigned)snprintf(streams + n, sizeof(streams) - n,
		    " %u", i);
	}
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 40 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_streams(&r, streams);
	assert_int_equal(pt_run_check_bytes(&r), 0);
	/* Of those that ran during a look it is not known how often they did. */
	r.run.status.losses[HWTD_CAPTURE_LOST_UNKNOWN] = 0;
	pt_run_assert_losses(&r, "");
	for (unsigned i = 0; i < 60; i += 13) {
		char rows[ROWS] = MODE;

		pt_run_rows(rows, sizeof(rows), START, i % 7 + 1, 0);
		pt_run_assert_rows(&r, pt_run_tid(&r, i), rows);
	}
	pt_run_fini(&r);
}

static void
threads_of_a_program_end_with_exec(void **state)
{
	const char *second;
	struct pt_run r;
	char rows[2][ROWS] = { MODE, MODE };

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 2 });
	second = pt_run_file(&r, "second", 3, 9, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_thread(&r, 0, 1);
	pt_run_trace(&r, 1, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 20 * MS });
	pt_run_exec(&r, second, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 3));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 40 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_streams(&r, " 0 1");
	pt_run_rows(rows[0], ROWS, START, 2, 0);
	pt_run_rows(rows[1], ROWS, START, 3, 1);
	pt_run_assert_rows(&r, pt_run_tid(&r, 1), rows[0]);
	pt_run_assert_rows(&r, pt_run_tid(&r, 0), rows[1]);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

/* In any order, in pieces of any size, at any time. */
static void
threads_in_any_order_lose_nothing_unsaid(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 25; seed++) {
		struct pt_run r;
		uint64_t missing;

		pt_run_init(&r,
		    &(struct sim_options){ .n_cpus = 3, .seed = seed });
		r.pt.buffer_bytes = 8 * PT_RUN_PAGE;
		pt_run_exec(&r, r.path, BIAS);
		for (unsigned i = 1; i < 5; i++)
			pt_run_thread(&r, 0, i);
		for (unsigned k = 0; k < 4; k++)
			for (unsigned i = 0; i < 5; i++)
				pt_run_trace(&r, i, (seed % 4) * MS / 2,
				    pt_run_unique(&r, 500 + 700 * i * k));
		pt_run_exit(&r, 0);
		pt_run_ok(&r);
		missing = pt_run_check_bytes(&r);
		if (missing > 0 &&
		    r.run.status.losses[HWTD_CAPTURE_LOST_BYTES] == 0 &&
		    r.run.status.losses[HWTD_CAPTURE_LOST_SLICES] == 0 &&
		    r.run.status.losses[HWTD_CAPTURE_LOST_UNKNOWN] == 0)
			fail_msg("seed %" PRIu64 ": %" PRIu64
				 " bytes are missing without a word",
			    seed, missing);
		pt_run_fini(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_a_stream_of_its_own),
		cmocka_unit_test(
		    a_thread_that_moves_between_cpus_stays_one_stream),
		cmocka_unit_test(a_thread_that_ends_keeps_its_last_bytes),
		cmocka_unit_test(
		    a_thread_that_ends_at_once_is_saved_without_its_name),
		cmocka_unit_test(
		    a_thread_that_the_kernel_traces_not_is_counted),
		cmocka_unit_test(sixty_threads_are_paired_in_order),
		cmocka_unit_test(threads_of_a_program_end_with_exec),
		cmocka_unit_test(threads_in_any_order_lose_nothing_unsaid),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
