/*
 * Captures of programs that are started for it, by Intel PT: from the first call to
 * the decoded flow, and how they end.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pt_run.h"

#define BIAS 0x200000u
#define START (BIAS + PT_RUN_CODE)
#define MODE "mode value=0 status 64\n"
#define ROWS 4096

static void
a_program_is_traced_to_its_last_byte(void **state)
{
	const struct pt_packets *flow;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	flow = pt_run_flow(&r, START, 3);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5000000, flow);
	pt_run_exit(&r, 3);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_bytes, flow->n);
	assert_int_equal(r.run.status.n_streams, 1);
	assert_int_equal(r.run.status.program_ended, 1);
	assert_int_equal(r.run.status.exit_status, 3);
	assert_int_equal(r.run.status.exit_signal, 0);
	pt_run_assert_losses(&r, "");
	pt_run_assert_rows(&r, 0,
	    MODE "enable 201000\n"
		 "block 201000 1/2 jump ->201002 64 sec0\n"
		 "block 201002 1/2 jump ->201004 64 sec0\n"
		 "block 201004 2/3 indirect-jump ->201000 taken 64 sec0\n"
		 "block 201000 1/2 jump ->201002 64 sec0\n"
		 "block 201002 1/2 jump ->201004 64 sec0\n"
		 "block 201004 2/3 indirect-jump ->201000 taken 64 sec0\n"
		 "block 201000 1/2 jump ->201002 64 sec0\n"
		 "block 201002 1/2 jump ->201004 64 sec0\n"
		 "block 201004 2/3 indirect-jump 64 sec0\n"
		 "disable\n");
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "thread-name program thread 0\n");
	pt_run_fini(&r);
}

static void
a_signal_that_ended_the_program_is_told(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 1000, pt_run_flow(&r, START, 1));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_EXIT, .signal = SIGSEGV });
	pt_run_ok(&r);
	assert_int_equal(r.run.status.program_ended, 1);
	assert_int_equal(r.run.status.exit_signal, SIGSEGV);
	pt_run_assert_said(&r, "program.signal", "11");
	pt_run_assert_said(&r, "program.status", NULL);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
a_program_that_ends_before_the_first_look_is_saved(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 0, pt_run_flow(&r, START, 2));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
a_program_that_was_never_switched_in_has_no_stream(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_streams, 0);
	assert_int_equal(r.run.status.n_bytes, 0);
	pt_run_assert_losses(&r, "");
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n");
	pt_run_fini(&r);
}

static void
a_program_that_cannot_be_run_ends_with_127(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.argv[0] = "/nowhere/at-all";
	pt_run_ok(&r);
	assert_int_equal(r.run.status.program_ended, 1);
	assert_int_equal(r.run.status.exit_status, 127);
	pt_run_assert_said(&r, "argv.0", "/nowhere/at-all");
	pt_run_assert_said(&r, "program.status", "127");
	pt_run_assert_records(&r, "thread-create thread 0\n");
	pt_run_fini(&r);
}

/* Longer than its buffer, in one go: the ring goes round. */
static void
a_slice_longer_than_the_buffer_ends_with_its_last_bytes(void **state)
{
	const size_t n = 3 * PT_RUN_BUFFER + 777;
	struct pt_run r;
	uint64_t missing;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 1000, pt_run_unique(&r, n));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	missing = pt_run_check_bytes(&r);
	assert_int_equal(missing + r.run.status.n_bytes, n);
	/* What is lost is told. */
	assert_true(missing == 0 ||
	    r.run.status.losses[HWTD_CAPTURE_LOST_BYTES] > 0 ||
	    r.run.status.losses[HWTD_CAPTURE_LOST_UNKNOWN] > 0);
	assert_true(r.run.status.n_bytes >= PT_RUN_BUFFER - PT_RUN_PAGE);
	pt_run_fini(&r);
}

static void
a_program_is_looked_for_by_its_name(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.script = sim_program(r.run.kernel, "/usr/bin/named");
	r.argv[0] = "named";
	r.argv[1] = "an argument";
	pt_run_exec(&r, "/usr/bin/named", BIAS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.exit_status, 0);
	pt_run_assert_said(&r, "argv.0", "named");
	pt_run_assert_said(&r, "argv.1", "an argument");
	pt_run_fini(&r);
}

static void
a_capture_ends_after_so_many_bytes(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.run.options.max_bytes = 10000;
	r.run.options.flags = HWTD_CAPTUREF_KILL;
	pt_run_exec(&r, r.path, BIAS);
	for (int i = 0; i < 20; i++)
		pt_run_trace(&r, 0, 3000000, pt_run_unique(&r, 3000));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_EXIT, .ns = 60000000000 });
	pt_run_ok(&r);
	assert_in_range(r.run.status.n_bytes, 12000, 15000);
	assert_int_equal(pt_run_check_bytes(&r), 0);
	assert_int_equal(r.run.status.exit_signal, SIGTERM);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
a_capture_ends_after_so_long_and_the_program_runs_on(void **state)
{
	struct sim_leaks leaks;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.run.options.max_ns = 50000000;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 1000000, pt_run_flow(&r, START, 1));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 200000000 });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.program_ended, 0);
	assert_in_range(r.run.status.time_ns, 50000000, 60000000);
	pt_run_assert_losses(&r, "");
	/* It was stopped for the last look, and goes on to its end. */
	sim_leaks(r.run.kernel, &leaks);
	assert_int_equal(leaks.children, 1);
	sim_run(r.run.kernel, 1000000000);
	{
		const struct hwtdi_system *sys = sim_system(r.run.kernel);
		struct hwtdi_exit how;

		assert_int_equal(sys->ended(sys->state,
				     (pid_t)r.run.status.pid, &how),
		    0);
		assert_true(how.ended);
		assert_int_equal(how.signal, 0);
	}
	pt_run_fini(&r);
}

static void
a_child_of_the_program_is_not_traced(void **state)
{
	struct sim_program *child;
	struct pt_run r;
	char rows[ROWS] = MODE;
	const struct pt_packets *flow;

	(void)state;
	pt_run_init(&r, NULL);
	flow = pt_run_flow(&r, START, 1);
	child = sim_program(r.run.kernel, "child");
	sim_add(child,
	    &(struct sim_step){ .op = SIM_TRACE,
		.bytes = flow->bytes,
		.n = flow->n });
	pt_run_exec(&r, r.path, BIAS);
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_FORK_CHILD, .path = "child" });
	pt_run_trace(&r, 0, 5000000, flow);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 1, 0);
	pt_run_assert_rows(&r, 0, rows);
	assert_int_equal(r.run.status.n_streams, 1);
	pt_run_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_traced_to_its_last_byte),
		cmocka_unit_test(a_signal_that_ended_the_program_is_told),
		cmocka_unit_test(
		    a_program_that_ends_before_the_first_look_is_saved),
		cmocka_unit_test(
		    a_program_that_was_never_switched_in_has_no_stream),
		cmocka_unit_test(a_program_that_cannot_be_run_ends_with_127),
		cmocka_unit_test(
		    a_slice_longer_than_the_buffer_ends_with_its_last_bytes),
		cmocka_unit_test(a_program_is_looked_for_by_its_name),
		cmocka_unit_test(a_capture_ends_after_so_many_bytes),
		cmocka_unit_test(
		    a_capture_ends_after_so_long_and_the_program_runs_on),
		cmocka_unit_test(a_child_of_the_program_is_not_traced),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
