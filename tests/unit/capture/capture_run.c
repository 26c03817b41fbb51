/*
 * Captures with a process of their own on the simulated kernel.
 */
#include "capture_run.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define BIAS 0x200000u
#define NS_PER_S UINT64_C(1000000000)
/* What does not come in that time never comes. */
#define PATIENCE_NS (60 * NS_PER_S)
#define FOR_EVER_NS UINT64_C(100000000000000000)

static struct sim_kernel *kernel;
struct hwtdi_system capture_run_host;
/* The process of the capture that was started last. */
volatile pid_t capture_run_keeper;
/* Another child, which has open what there is when a capture begins. */
bool capture_run_with_sibling;
pid_t capture_run_sibling;

pid_t
capture_run_fork_sibling(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return (pid);
}

void
capture_run_end_sibling(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)waitpid(pid, NULL, 0);
}

const struct hwtdi_system *
capture_run_kernel(void)
{
	return (sim_system(kernel));
}

/* This process goes on without the kernel. */
static int
fork_aside(void *state)
{
	int pid;

	if (capture_run_with_sibling)
		capture_run_sibling = capture_run_fork_sibling();
	pid = sim_system(kernel)->fork(state);
	if (pid <= 0)
		return (pid);
	sim_step_aside(kernel);
	capture_run_keeper = sim_host_pid(kernel, pid);
	return (capture_run_keeper);
}

/* In place of the system that the library is built for. */
const struct hwtdi_system *
hwtdi_system_host(void)
{
	return (&capture_run_host);
}

void
capture_run_begin(struct pt_run *r, const struct sim_options *options)
{
	pt_run_init(r, options);
	kernel = r->run.kernel;
	capture_run_host = *sim_system(kernel);
	capture_run_host.fork = fork_aside;
}

void
capture_run_end(struct pt_run *r)
{
	if (sim_panics(kernel) > 0)
		fail_msg("%s", sim_panic(kernel, 0));
	pt_run_fini(r);
}

/* A program that goes through its code three times, and then ends or does not. */
size_t
capture_run_program(struct pt_run *r, bool ends)
{
	const struct pt_packets *p;

	pt_run_exec(r, r->path, BIAS);
	p = pt_run_flow(r, BIAS + PT_RUN_CODE, 3);
	pt_run_trace(r, 0, 5000000, p);
	if (!ends)
		pt_run_step(r,
		    &(struct sim_step){ .op = SIM_IDLE, .ns = FOR_EVER_NS });
	pt_run_exit(r, 3);
	return (p->n);
}

struct hwtd_capture *
capture_run_start(struct pt_run *r)
{
	struct hwtd_capture *c = NULL;

	if (hwtd_capture_start(r->run.ctx, &r->run.options, &c, &r->run.err) !=
	    HWTD_OK)
		fail_msg("%s", r->run.err.message);
	assert_non_null(c);
	return (c);
}

int
capture_run_wait(struct pt_run *r, struct hwtd_capture *c)
{
	r->run.status.size = sizeof(r->run.status);
	return (hwtd_capture_wait(c, PATIENCE_NS, &r->run.status,
	    &r->run.err));
}

/* Until so many bytes are in the file, by what the capture says. */
void
capture_run_until(struct pt_run *r, struct hwtd_capture *c, uint64_t n)
{
	r->run.status.size = sizeof(r->run.status);
	while (r->run.status.n_bytes < n)
		assert_int_equal(hwtd_capture_wait(c, 10000000, &r->run.status,
				     &r->run.err),
		    HWTD_AGAIN);
}

void
capture_run_assert_flow(const struct pt_run *r)
{
	char text[2048] = "mode value=0 status 64\n";

	pt_run_rows(text, sizeof(text), BIAS + PT_RUN_CODE, 3, 0);
	pt_run_assert_rows(r, 0, text);
}

void
capture_run_assert_gone(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < 60000; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return;
		(void)nanosleep(&pause, NULL);
	}
	fail_msg("process %d does not end", (int)pid);
}

/* Whether a capture ended as it should, by what the file says of it. */
void
capture_run_assert_complete(const struct pt_run *r, bool complete)
{
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(strstr(info.capture, "ended_ns=") != NULL, complete);
	hwtd_trace_close(trace);
}
