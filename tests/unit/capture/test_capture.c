/*
 * Captures as their users see them, with a real process of the capture on the
 * simulated kernel.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture_run.h"

static void
a_capture_ends_with_its_program(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;
	size_t n;

	(void)state;
	capture_run_begin(&r, NULL);
	n = capture_run_program(&r, true);
	c = capture_run_start(&r);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	assert_int_not_equal(r.run.status.ended, 0);
	assert_int_equal(r.run.status.n_bytes, n);
	assert_int_equal(r.run.status.n_streams, 1);
	assert_int_not_equal(r.run.status.program_ended, 0);
	assert_int_equal(r.run.status.exit_status, 3);
	/* It stays so. */
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	assert_int_equal(r.run.status.exit_status, 3);
	assert_int_equal(hwtd_capture_wait(c, 0, NULL, NULL), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_assert_gone(capture_run_keeper);
	capture_run_assert_flow(&r);
	capture_run_assert_complete(&r, true);
	capture_run_end(&r);
}

static void
a_status_moves_while_it_is_waited_for(void **state)
{
	struct hwtd_capture_status before = { .size = sizeof(before) };
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	assert_int_equal(hwtd_capture_wait(c, 0, &before, NULL), HWTD_AGAIN);
	assert_int_equal(before.ended, 0);
	assert_int_equal(before.program_ended, 0);
	r.run.status = before;
	while (r.run.status.n_looks == before.n_looks)
		assert_int_equal(hwtd_capture_wait(c, 1000000, &r.run.status,
				     NULL),
		    HWTD_AGAIN);
	assert_true(r.run.status.time_ns > before.time_ns);
	hwtd_capture_close(c);
	capture_run_end(&r);
}

static void
who_asks_rarely_hears_how_it_stands_now(void **state)
{
	struct timespec pause = { .tv_nsec = 300000000 };
	struct hwtd_capture *c;
	struct pt_run r;
	int rc;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	/* Many words come meanwhile; the last one is that it has ended. */
	(void)nanosleep(&pause, NULL);
	hwtd_capture_stop(c);
	for (int i = 0; i < 60000; i++) {
		siginfo_t info = { .si_pid = 0 };

		(void)waitid(P_PID, (id_t)capture_run_keeper, &info,
		    WEXITED | WNOHANG | WNOWAIT);
		if (info.si_pid != 0)
			break;
		pause.tv_nsec = 1000000;
		(void)nanosleep(&pause, NULL);
	}
	r.run.status.size = sizeof(r.run.status);
	rc = hwtd_capture_wait(c, 0, &r.run.status, NULL);
	assert_int_equal(rc, HWTD_OK);
	assert_int_not_equal(r.run.status.ended, 0);
	hwtd_capture_close(c);
	capture_run_end(&r);
}

static void
a_capture_that_is_stopped_is_complete(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;
	size_t n;

	(void)state;
	capture_run_begin(&r, NULL);
	n = capture_run_program(&r, false);
	c = capture_run_start(&r);
	capture_run_until(&r, c, n);
	hwtd_capture_stop(c);
	hwtd_capture_stop(c);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	assert_int_equal(r.run.status.program_ended, 0);
	/* Nothing to stop any more. */
	hwtd_capture_stop(c);
	hwtd_capture_close(c);
	capture_run_assert_flow(&r);
	capture_run_assert_complete(&r, true);
	capture_run_end(&r);
}

static void
what_comes_too_late_hides_no_last_word(void **state)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct hwtd_capture *c;
	siginfo_t info = { .si_pid = 0 };
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	/* It reads the first of these words, and ends. */
	assert_int_equal(kill(capture_run_keeper, SIGSTOP), 0);
	hwtd_capture_stop(c);
	hwtd_capture_stop(c);
	assert_int_equal(kill(capture_run_keeper, SIGCONT), 0);
	while (info.si_pid == 0) {
		(void)waitid(P_PID, (id_t)capture_run_keeper, &info,
		    WEXITED | WNOHANG | WNOWAIT);
		(void)nanosleep(&pause, NULL);
	}
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_end(&r);
}

static struct hwtd_capture *stopped_by_handler;

static void
on_alarm(int number)
{
	(void)number;
	hwtd_capture_stop(stopped_by_handler);
}

static void
a_signal_handler_may_stop_it(void **state)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	struct hwtd_capture *c;
	struct pt_run r;
	int rc;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	stopped_by_handler = c;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	errno = 0;
	(void)raise(SIGALRM);
	assert_int_equal(errno, 0);
	do
		rc = hwtd_capture_wait(c, UINT64_MAX, NULL, NULL);
	while (rc == HWTD_AGAIN);
	assert_int_equal(rc, HWTD_OK);
	hwtd_capture_close(c);
	stopped_by_handler = NULL;
	/* Of nothing it does nothing. */
	(void)raise(SIGALRM);
	capture_run_assert_complete(&r, true);
	capture_run_end(&r);
}

static void *
stop_soon(void *capture)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	(void)nanosleep(&pause, NULL);
	hwtd_capture_stop(capture);
	return (NULL);
}

static void
another_thread_may_stop_it(void **state)
{
	struct hwtd_capture *c;
	pthread_t thread;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	assert_int_equal(pthread_create(&thread, NULL, stop_soon, c), 0);
	assert_int_equal(hwtd_capture_wait(c, UINT64_MAX, NULL, NULL),
	    HWTD_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	hwtd_capture_close(c);
	capture_run_end(&r);
}

static void
closing_stops_it(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;
	size_t n;

	(void)state;
	capture_run_begin(&r, NULL);
	n = capture_run_program(&r, false);
	c = capture_run_start(&r);
	capture_run_until(&r, c, n);
	hwtd_capture_close(c);
	capture_run_assert_gone(capture_run_keeper);
	capture_run_assert_flow(&r);
	capture_run_assert_complete(&r, true);
	capture_run_end(&r);
}

static void
a_parent_that_dies_leaves_a_complete_file(void **state)
{
	struct pt_run r;
	pid_t parent, pids[2] = { 0 };
	int ends[2], status;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, false);
	assert_int_equal(pipe(ends), 0);
	parent = fork();
	if (parent == 0) {
		struct hwtd_capture *c = capture_run_start(&r);

		capture_run_until(&r, c, 1);
		pids[0] = capture_run_keeper;
		/* It has the socket too, and lives on. */
		pids[1] = capture_run_fork_sibling();
		if (write(ends[1], pids, sizeof(pids)) != sizeof(pids))
			_exit(2);
		(void)kill(getpid(), SIGKILL);
	}
	assert_true(parent > 0);
	assert_int_equal(read(ends[0], pids, sizeof(pids)), sizeof(pids));
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_true(WIFSIGNALED(status));
	(void)close(ends[0]);
	(void)close(ends[1]);
	capture_run_assert_gone(pids[0]);
	assert_int_equal(kill(pids[1], SIGKILL), 0);
	capture_run_assert_flow(&r);
	capture_run_assert_complete(&r, true);
	capture_run_end(&r);
}

static void
a_capture_process_that_is_killed_is_an_error(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	assert_int_equal(kill(capture_run_keeper, SIGKILL), 0);
	assert_int_equal(capture_run_wait(&r, c), HWTD_E_ENGINE);
	assert_int_equal(r.run.err.code, HWTD_E_ENGINE);
	assert_non_null(strstr(r.run.err.message, "ended by signal 9"));
	assert_int_equal(r.run.status.ended, 0);
	/* It is no zombie. */
	capture_run_assert_gone(capture_run_keeper);
	assert_int_equal(capture_run_wait(&r, c), HWTD_E_ENGINE);
	hwtd_capture_close(c);
	capture_run_assert_complete(&r, false);
	capture_run_end(&r);
}

static void
its_end_is_seen_though_others_have_the_socket(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, false);
	capture_run_with_sibling = true;
	c = capture_run_start(&r);
	capture_run_with_sibling = false;
	assert_int_equal(kill(capture_run_keeper, SIGKILL), 0);
	assert_int_equal(capture_run_wait(&r, c), HWTD_E_ENGINE);
	assert_non_null(strstr(r.run.err.message, "ended by signal 9"));
	hwtd_capture_close(c);
	capture_run_end_sibling(capture_run_sibling);
	capture_run_end(&r);
}

static void
children_that_are_ignored_are_waited_for_all_the_same(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before;
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, true);
	assert_int_equal(sigaction(SIGCHLD, &ignore, &before), 0);
	c = capture_run_start(&r);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	assert_int_equal(r.run.status.exit_status, 3);
	hwtd_capture_close(c);
	assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
	capture_run_assert_flow(&r);
	capture_run_end(&r);
}

static void
keys_of_a_terminal_do_not_end_it(void **state)
{
	static const int keys[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM };
	struct hwtd_capture *c;
	struct pt_run r;
	size_t n;

	(void)state;
	capture_run_begin(&r, NULL);
	n = capture_run_program(&r, false);
	c = capture_run_start(&r);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(kill(capture_run_keeper, keys[i]), 0);
	capture_run_until(&r, c, n);
	hwtd_capture_stop(c);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_assert_flow(&r);
	capture_run_end(&r);
}

static void
a_context_may_be_given_up_before_its_capture(void **state)
{
	struct hwtd_context *ctx;
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, true);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_capture_start(ctx, &r.run.options, &c, NULL),
	    HWTD_OK);
	hwtd_context_destroy(ctx);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_assert_flow(&r);
	capture_run_end(&r);
}

static void
archives_hold_the_code(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, true);
	r.run.options.flags = HWTD_CAPTUREF_ARCHIVE;
	c = capture_run_start(&r);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	assert_int_equal(unlink(r.path), 0);
	capture_run_assert_flow(&r);
	capture_run_end(&r);
}

static int
ask_here(void *arg)
{
	const pid_t *here = arg;

	if (getpid() != *here)
		_exit(9);
	return (0);
}

static void
nobody_is_asked_in_the_process_of_a_capture(void **state)
{
	pid_t here = getpid();
	const struct hwtd_context_options asking = { .size = sizeof(asking),
		.poll = ask_here,
		.poll_arg = &here };
	struct hwtd_context *ctx;
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, true);
	r.run.options.flags = HWTD_CAPTUREF_ARCHIVE;
	assert_int_equal(hwtd_context_create(&asking, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_capture_start(ctx, &r.run.options, &c, NULL),
	    HWTD_OK);
	hwtd_context_destroy(ctx);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_assert_flow(&r);
	capture_run_end(&r);
}

static void
two_captures_run_side_by_side(void **state)
{
	struct hwtd_capture *a, *b;
	struct pt_run r;
	char other[300];
	pid_t first;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, false);
	a = capture_run_start(&r);
	first = capture_run_keeper;
	r.run.options.output = temp_dir_file(&r.run.dir, "b.hwt", other);
	b = capture_run_start(&r);
	assert_int_not_equal(first, capture_run_keeper);
	hwtd_capture_stop(a);
	assert_int_equal(hwtd_capture_wait(a, UINT64_MAX, NULL, NULL),
	    HWTD_OK);
	capture_run_assert_gone(first);
	r.run.status.size = sizeof(r.run.status);
	assert_int_equal(hwtd_capture_wait(b, 0, &r.run.status, NULL),
	    HWTD_AGAIN);
	hwtd_capture_close(b);
	hwtd_capture_close(a);
	capture_run_end(&r);
}

/* Between two signals, of which the second never comes. */
static int
stop_and_die(void *state, pid_t pid, int number)
{
	const int rc = capture_run_kernel()->kill(state, pid, number);

	if (number == SIGSTOP)
		(void)kill(getpid(), SIGKILL);
	return (rc);
}

static void
a_process_that_it_had_stopped_goes_on_without_it(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_host.kill = stop_and_die;
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_KILL), 0);
	hwtd_capture_stop(c);
	assert_int_equal(capture_run_wait(&r, c), HWTD_E_ENGINE);
	/* SIGSTOP, and SIGCONT of this process. */
	assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_KILL), 2);
	assert_int_equal(capture_run_wait(&r, c), HWTD_E_ENGINE);
	hwtd_capture_close(c);
	assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_KILL), 2);
	capture_run_assert_complete(&r, false);
	capture_run_end(&r);
}

/* What a child of this process gives up is its copy. */
static void
a_forked_child_does_not_stop_it(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;
	pid_t child;
	int status;

	(void)state;
	capture_run_begin(&r, NULL);
	capture_run_until(&r,
	    (capture_run_program(&r, false), c = capture_run_start(&r)), 1);
	child = fork();
	if (child == 0) {
		const int rc = hwtd_capture_wait(c, UINT64_MAX, NULL, NULL);

		hwtd_capture_stop(c);
		hwtd_capture_close(c);
		_exit(rc == HWTD_E_STATE ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	r.run.status.size = sizeof(r.run.status);
	assert_int_equal(hwtd_capture_wait(c, 100000000, &r.run.status, NULL),
	    HWTD_AGAIN);
	hwtd_capture_stop(c);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_assert_complete(&r, true);
	capture_run_end(&r);
}

/* A file may have a largest size, at which the system sends a signal. */
static void
a_limit_of_files_does_not_end_it_at_once(void **state)
{
	struct hwtd_capture *c;
	struct pt_run r;
	size_t n;

	(void)state;
	capture_run_begin(&r, NULL);
	n = capture_run_program(&r, false);
	c = capture_run_start(&r);
	assert_int_equal(kill(capture_run_keeper, SIGXFSZ), 0);
	capture_run_until(&r, c, n);
	hwtd_capture_stop(c);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_assert_complete(&r, true);
	capture_run_end(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_capture_ends_with_its_program),
		cmocka_unit_test(a_status_moves_while_it_is_waited_for),
		cmocka_unit_test(who_asks_rarely_hears_how_it_stands_now),
		cmocka_unit_test(a_capture_that_is_stopped_is_complete),
		cmocka_unit_test(what_comes_too_late_hides_no_last_word),
		cmocka_unit_test(a_signal_handler_may_stop_it),
		cmocka_unit_test(another_thread_may_stop_it),
		cmocka_unit_test(closing_stops_it),
		cmocka_unit_test(a_parent_that_dies_leaves_a_complete_file),
		cmocka_unit_test(a_capture_process_that_is_killed_is_an_error),
		cmocka_unit_test(
		    its_end_is_seen_though_others_have_the_socket),
		cmocka_unit_test(
		    children_that_are_ignored_are_waited_for_all_the_same),
		cmocka_unit_test(keys_of_a_terminal_do_not_end_it),
		cmocka_unit_test(a_context_may_be_given_up_before_its_capture),
		cmocka_unit_test(archives_hold_the_code),
		cmocka_unit_test(nobody_is_asked_in_the_process_of_a_capture),
		cmocka_unit_test(two_captures_run_side_by_side),
		cmocka_unit_test(
		    a_process_that_it_had_stopped_goes_on_without_it),
		cmocka_unit_test(a_forked_child_does_not_stop_it),
		cmocka_unit_test(a_limit_of_files_does_not_end_it_at_once),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
