/*
 * Captures of Intel PT of processes that run already, and how captures end while
 * their process runs on.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pt_run.h"

#define BIAS 0x200000u
#define START (BIAS + PT_RUN_CODE)
#define OTHER 0x7f0000u
#define MODE "mode value=0 status 64\n"
#define ROWS 8192
#define MS 1000000u

/* What runs on a process, that is not asked about any more. */
static bool
is_stopped(const struct pt_run *r)
{
	const struct hwtdi_system *sys = sim_system(r->run.kernel);
	struct hwtdi_exit how;

	/* One that is stopped gets no further. */
	sim_run(r->run.kernel, 100000000000);
	return (sys->ended(sys->state, (pid_t)r->run.status.pid, &how) == 0 &&
	    !how.ended);
}

static void
what_is_mapped_already_is_decoded(void **state)
{
	char rows[ROWS] = MODE;
	const char *library;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	library = pt_run_file(&r, "library.so", 3, 5, NULL);
	pt_run_attach(&r, 1);
	pt_run_has_file(&r, r.path, BIAS);
	pt_run_has_file(&r, library, OTHER);
	pt_run_has(&r, "", 0x900000, 2 * PT_RUN_PAGE, 0,
	    HWTDI_PROT_READ | HWTDI_PROT_EXEC);
	pt_run_has(&r, "", 0x1000000, PT_RUN_PAGE, 0,
	    HWTDI_PROT_READ | HWTDI_PROT_WRITE);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, OTHER + PT_RUN_CODE, 1));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	(void)strcat(rows, MODE);
	pt_run_rows(rows, sizeof(rows), OTHER + PT_RUN_CODE, 1, 1);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "thread-name program thread 0\n"
	    "mmap 201000+1000 off=1000 $/program id=07*20\n"
	    "mmap 7f1000+1000 off=1000 $/library.so id=05*20\n"
	    "mmap 900000+2000\n");
	pt_run_assert_losses(&r, "");
	assert_int_equal(r.run.status.pid, r.run.options.pid);
	assert_int_equal(r.run.status.program_ended, 1);
	pt_run_assert_said(&r, "argv.0", NULL);
	pt_run_fini(&r);
}

/* It maps code while its mappings are listed. */
static void
what_is_mapped_meanwhile_is_told_once_at_its_place(void **state)
{
	unsigned n = 0;

	(void)state;
	for (uint64_t ns = 10000; ns <= 200000; ns += 5000) {
		struct hwtd_trace *trace;
		struct hwtd_record rec = { .size = sizeof(rec) };
		const char *one, *two, *last = NULL;
		struct pt_run r;
		int rc;

		pt_run_init(&r, NULL);
		one = pt_run_file(&r, "one.so", 3, 1, NULL);
		two = pt_run_file(&r, "two.so", 3, 2, NULL);
		pt_run_attach(&r, 1);
		pt_run_has_file(&r, r.path, BIAS);
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_IDLE, .ns = ns });
		for (int i = 0; i < 5; i++) {
			pt_run_mmap(&r, 0, one, OTHER);
			pt_run_step(&r,
			    &(struct sim_step){ .op = SIM_IDLE, .ns = 3000 });
			pt_run_mmap(&r, 0, two, OTHER);
		}
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
		pt_run_exit(&r, 0);
		(void)pt_run_begin(&r);
		rc = engine_run(&r.run);
		engine_run_check(&r.run);
		/* It may be over before it is traced. */
		if (rc == HWTD_E_NOT_FOUND) {
			pt_run_fini(&r);
			continue;
		}
		assert_int_equal(rc, HWTD_OK);
		n++;
		trace = engine_run_open(&r.run);
		for (uint64_t i = 0;
		     hwtd_trace_record(trace, i, &rec) == HWTD_OK; i++)
			if (rec.type == HWTD_REC_MMAP &&
			    rec.addr == OTHER + PT_RUN_CODE)
				last = rec.name;
		/* In the end the second one is there. */
		if (last != NULL)
			assert_string_equal(last, two);
		hwtd_trace_close(trace);
		pt_run_fini(&r);
	}
	assert_true(n > 5);
}

static void
threads_that_exist_are_followed_and_new_ones_too(void **state)
{
	char rows[4][ROWS] = { MODE, MODE, MODE, MODE };
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 4 });
	pt_run_attach(&r, 3);
	pt_run_has_file(&r, r.path, BIAS);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 10 * MS });
	pt_run_thread(&r, 0, 3);
	for (unsigned i = 0; i < 4; i++)
		pt_run_trace(&r, i, (20 + i) * MS,
		    pt_run_flow(&r, START, i + 1));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 20 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_streams, 4);
	for (unsigned i = 0; i < 4; i++) {
		pt_run_rows(rows[i], ROWS, START, i + 1, 0);
		pt_run_assert_rows(&r, pt_run_tid(&r, i), rows[i]);
	}
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
sixty_threads_that_exist_are_paired(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .n_cpus = 4 });
	r.pt.buffer_bytes = 4 * PT_RUN_PAGE;
	pt_run_attach(&r, 60);
	pt_run_has_file(&r, r.path, BIAS);
	for (unsigned i = 0; i < 60; i++)
		pt_run_trace(&r, i, (5 + i) * MS,
		    pt_run_flow(&r, START, i % 5 + 1));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 99 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_streams, 60);
	assert_int_equal(pt_run_check_bytes(&r), 0);
	assert_int_equal(r.run.status.losses[HWTD_CAPTURE_LOST_THREADS], 0);
	pt_run_fini(&r);
}

/* The capture stops the process for the last look, and lets it go on. */
static void
a_capture_that_is_over_leaves_its_process_running(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.run.options.max_ns = 30 * MS;
	pt_run_attach(&r, 1);
	pt_run_has_file(&r, r.path, BIAS);
	{
		const struct pt_packets *p = pt_run_flow(&r, START, 4);

		/* It is on its CPU when the end comes. */
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_TRACE,
			.ns = 20 * MS,
			.bytes = p->bytes,
			.n = p->n,
			.flags = SIM_STAY });
	}
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 500 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.program_ended, 0);
	pt_run_rows(rows, sizeof(rows), START, 4, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_losses(&r, "");
	assert_false(is_stopped(&r));
	pt_run_fini(&r);
}

/* KILL is for programs that were started only. */
static void
a_process_that_was_there_is_not_killed(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.run.options.max_ns = 30 * MS;
	r.run.options.flags = HWTD_CAPTUREF_KILL;
	pt_run_attach(&r, 1);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 500 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.program_ended, 0);
	assert_false(is_stopped(&r));
	pt_run_fini(&r);
}

static void
a_program_is_killed_with_its_capture_if_asked_for(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.run.options.max_ns = 30 * MS;
	r.run.options.flags = HWTD_CAPTUREF_KILL;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 10 * MS, pt_run_flow(&r, START, 4));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_IDLE, .ns = 500000 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.program_ended, 1);
	assert_int_equal(r.run.status.exit_signal, SIGTERM);
	pt_run_rows(rows, sizeof(rows), START, 4, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_fini(&r);
}

static void
a_process_that_is_not_there_is_named(void **state)
{
	struct pt_run r;
	char words[64];

	(void)state;
	pt_run_init(&r, NULL);
	r.run.options.argv = NULL;
	r.run.options.pid = 4711;
	(void)snprintf(words, sizeof(words), "4711");
	pt_run_fails(&r, HWTD_E_NOT_FOUND, words);
	/* No file without a capture. */
	assert_int_equal(temp_dir_count(&r.run.dir), 1);
	pt_run_fini(&r);
}

static void
a_process_that_is_traced_already_is_refused(void **state)
{
	struct engine_run other;
	struct hwtdi_engine engine;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_attach(&r, 1);
	pt_run_has_file(&r, r.path, BIAS);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 500 * MS });
	(void)pt_run_begin(&r);
	other = r.run;
	(void)temp_dir_file(&r.run.dir, "first.hwt", other.output);
	other.options.output = other.output;
	assert_int_equal(hwtdi_engine_begin(&engine, r.run.ctx,
			     sim_system(r.run.kernel), &other.options,
			     &other.err),
	    HWTD_OK);
	assert_int_equal(engine_run(&r.run), HWTD_E_STATE);
	assert_non_null(strstr(r.run.err.message, "traced already"));
	assert_int_equal(hwtdi_engine_end(&engine, NULL), HWTD_OK);
	hwtdi_engine_fini(&engine);
	/* The program, and the file of the first one. */
	assert_int_equal(temp_dir_count(&r.run.dir), 2);
	pt_run_fini(&r);
}

static void
a_process_of_another_user_is_refused_with_the_rule(void **state)
{
	static const struct hwtdi_credentials other = {
		.euid = 1001,
		.ruid = 1001,
		.svuid = 1001,
		.n_groups = 1,
		.groups = { 1001 },
	};
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_attach(&r, 1);
	r.credentials = &other;
	pt_run_fails(&r, HWTD_E_IO, "");
	assert_int_equal(r.run.err.sys_errno, 1 /* EPERM */);
	/* Also root; so what helps is to be that user. */
	assert_non_null(strstr(r.run.err.message, "user"));
	assert_int_equal(temp_dir_count(&r.run.dir), 1);
	pt_run_fini(&r);
}

static void
a_process_may_end_at_any_time(void **state)
{
	unsigned before = 0, behind = 0;
	struct pt_run r;

	(void)state;
	for (uint64_t ns = 5000; ns < 300000; ns += 5000) {
		int rc;

		pt_run_init(&r, NULL);
		pt_run_attach(&r, 1);
		pt_run_has_file(&r, r.path, BIAS);
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_EXIT, .ns = ns });
		(void)pt_run_begin(&r);
		rc = engine_run(&r.run);
		engine_run_check(&r.run);
		if (rc != HWTD_OK && rc != HWTD_E_NOT_FOUND)
			fail_msg("after %" PRIu64 " ns: %s", ns,
			    r.run.err.message);
		before += rc == HWTD_E_NOT_FOUND;
		behind += rc == HWTD_OK;
		if (rc == HWTD_OK) {
			assert_int_equal(r.run.status.program_ended, 1);
			assert_int_equal(r.run.status.n_bytes, 0);
			hwtd_trace_close(engine_run_open(&r.run));
		}
		assert_int_equal(temp_dir_count(&r.run.dir),
		    rc == HWTD_OK ? 2 : 1);
		pt_run_fini(&r);
	}
	assert_true(before > 0 && behind > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_mapped_already_is_decoded),
		cmocka_unit_test(
		    what_is_mapped_meanwhile_is_told_once_at_its_place),
		cmocka_unit_test(
		    threads_that_exist_are_followed_and_new_ones_too),
		cmocka_unit_test(sixty_threads_that_exist_are_paired),
		cmocka_unit_test(
		    a_capture_that_is_over_leaves_its_process_running),
		cmocka_unit_test(a_process_that_was_there_is_not_killed),
		cmocka_unit_test(
		    a_program_is_killed_with_its_capture_if_asked_for),
		cmocka_unit_test(a_process_that_is_not_there_is_named),
		cmocka_unit_test(a_process_that_is_traced_already_is_refused),
		cmocka_unit_test(
		    a_process_of_another_user_is_refused_with_the_rule),
		cmocka_unit_test(a_process_may_end_at_any_time),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
