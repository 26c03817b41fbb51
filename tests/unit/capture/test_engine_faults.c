/*
 * Captures of Intel PT in which a call of the kernel, or an allocation, fails: each
 * once, in turn.
 */
#include <errno.h>
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
#define MS 1000000u

/* How a capture of a fault is made. */
enum kind {
	LAUNCH,
	ATTACH,
	FILTER,
	/* The program runs on; of 5BSD. */
	STOP,
	KINDS
};

static const char *const filters[] = { "0x1000-0x1007@library.so" };

static void
make(struct pt_run *r, enum kind kind)
{
	const char *library;

	pt_run_init(r,
	    &(struct sim_options){
		.flavour = kind == STOP ? SIM_5BSD : SIM_STOCK });
	r->pt.buffer_bytes = 4 * PT_RUN_PAGE;
	library = pt_run_file(r, "library.so", 3, 5, NULL);
	if (kind == ATTACH) {
		pt_run_attach(r, 2);
		pt_run_has_file(r, r->path, BIAS);
		pt_run_step(r, &(struct sim_step){ .op = SIM_IDLE, .ns = MS });
	} else {
		pt_run_exec(r, r->path, BIAS);
		pt_run_thread(r, 0, 1);
	}
	if (kind == FILTER) {
		r->run.options.filters = filters;
		r->run.options.n_filters = 1;
	}
	pt_run_mmap(r, 0, library, OTHER);
	pt_run_trace(r, 0, MS, pt_run_unique(r, 6000));
	pt_run_trace(r, 1, MS, pt_run_unique(r, 3000));
	if (kind == STOP)
		r->run.options.max_ns = 4 * MS;
	pt_run_step(r,
	    &(struct sim_step){ .op = SIM_IDLE,
		.ns = (kind == STOP ? 50 : 2) * MS });
	pt_run_exit(r, 0);
}

/* What is left after a run that may have failed, and how it did. */
static void
check(struct pt_run *r, int rc, const char *what, bool unmaps)
{
	struct sim_leaks leaks;
	const struct hwtd_error *err = &r->run.err;

	sim_leaks(r->run.kernel, &leaks);
	if (sim_panics(r->run.kernel) > 0)
		fail_msg("%s: %s", what, sim_panic(r->run.kernel, 0));
	if (sim_hangs(r->run.kernel) > 0)
		fail_msg("%s: %s", what, sim_hang(r->run.kernel, 0));
	if (r->run.endless)
		fail_msg("%s: no end", what);
	/* What cannot be unmapped stays. */
	if (leaks.fds + leaks.gates > 0 || (leaks.mappings > 0 && unmaps))
		fail_msg("%s: %zu descriptors and %zu mappings are left", what,
		    leaks.fds, leaks.mappings);
	if (rc != HWTD_OK && (err->code != rc || err->message[0] == '\0'))
		fail_msg("%s: %d, and the error is %d \"%s\"", what, rc,
		    err->code, err->message);
	if (rc != HWTD_OK && strchr(err->message, '\n') != NULL)
		fail_msg("%s: %s", what, err->message);
	/* Either there is no file, or all of it is read. */
	if (temp_dir_count(&r->run.dir) > 2)
		hwtd_trace_close(engine_run_open(&r->run));
	else if (rc == HWTD_OK)
		fail_msg("%s: no file", what);
}

/* A plausible errno of a call. */
static int
errno_of(enum sim_call call)
{
	switch (call) {
	case SIM_CALL_OPEN:
	case SIM_CALL_KQUEUE:
		return (EMFILE);
	case SIM_CALL_SPAWN:
	case SIM_CALL_FORK:
		return (EAGAIN);
	case SIM_CALL_RELEASE:
		return (EPIPE);
	case SIM_CALL_ENDED:
	case SIM_CALL_CLOSE:
	case SIM_CALL_KEVENT_WAIT:
		return (EINTR);
	case SIM_CALL_KILL:
		return (EPERM);
	case SIM_CALL_CPUID:
		return (ENOTSUP);
	case SIM_CALL_START:
	case SIM_CALL_STOP:
	case SIM_CALL_SET_CONFIG:
	case SIM_CALL_WAKEUP:
		return (ENXIO);
	case SIM_CALL_RECORD_GET:
	case SIM_CALL_BUFPTR_GET:
		return (EFAULT);
	default:
		return (ENOMEM);
	}
}

static void
each_call_of_the_kernel_fails_once(void **state)
{
	unsigned failed = 0, went_on = 0;

	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		for (unsigned call = 0; call < SIM_N_CALLS; call++) {
			uint64_t n;
			struct pt_run r;

			if (call == SIM_CALL_TIME || call == SIM_CALL_UNKNOWN)
				continue;
			make(&r, kind);
			pt_run_ok(&r);
			n = sim_call_count(r.run.kernel, call);
			pt_run_fini(&r);
			/* Those that come all the time: some of them. */
			for (uint64_t i = 1; i <= n; i += 1 + i / 8) {
				char what[80];
				int rc;

				make(&r, kind);
				sim_fail(r.run.kernel, call, i,
				    errno_of(call));
				(void)pt_run_begin(&r);
				rc = engine_run(&r.run);
				(void)snprintf(what, sizeof(what),
				    "kind %u, %s %" PRIu64, kind,
				    sim_call_name(call), i);
				check(&r, rc, what, call != SIM_CALL_MUNMAP);
				failed += rc != HWTD_OK;
				went_on += rc == HWTD_OK;
				pt_run_fini(&r);
			}
		}
	}
	/* Some of them nobody can do without, and some of them one can. */
	assert_true(failed > 20);
	assert_true(went_on > 20);
}

static void
entries_that_cannot_be_copied_are_lost_records(void **state)
{
	struct pt_run r;
	uint64_t n;

	(void)state;
	make(&r, 0);
	pt_run_ok(&r);
	n = sim_call_count(r.run.kernel, SIM_CALL_RECORD_GET);
	pt_run_fini(&r);

	/* The last but one, when the capture has run for long. */
	make(&r, 0);
	sim_fail(r.run.kernel, SIM_CALL_RECORD_GET, n - 1, EFAULT);
	(void)pt_run_begin(&r);
	assert_int_equal(engine_run(&r.run), HWTD_OK);
	assert_int_equal(r.run.status.losses[HWTD_CAPTURE_LOST_RECORDS], 1);
	pt_run_fini(&r);

	/* The first one: nothing can begin without it. */
	make(&r, 0);
	sim_fail(r.run.kernel, SIM_CALL_RECORD_GET, 1, EFAULT);
	(void)pt_run_begin(&r);
	assert_int_equal(engine_run(&r.run), HWTD_E_IO);
	assert_int_equal(r.run.err.sys_errno, EFAULT);
	pt_run_fini(&r);
}

static void
each_allocation_fails_once(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		for (uint64_t n = 1;; n++) {
			struct pt_run r;
			char what[60];
			uint64_t last;
			int rc;

			make(&r, kind);
			(void)pt_run_begin(&r);
			failing_allocator_arm(&r.memory, n, false);
			last = r.memory.requests;
			rc = engine_run(&r.run);
			last = r.memory.requests - last;
			failing_allocator_arm(&r.memory, 0, false);
			(void)snprintf(what, sizeof(what),
			    "kind %u, allocation %" PRIu64, kind, n);
			check(&r, rc, what, true);
			if (rc != HWTD_OK && rc != HWTD_E_NOMEM)
				fail_msg("%s: %s", what, r.run.err.message);
			failed += rc == HWTD_E_NOMEM;
			pt_run_fini(&r);
			if (last < n)
				break;
		}
	}
	assert_true(failed > 40);
}

/* All that follow fail too. */
static void
memory_that_is_gone_for_good_ends_a_capture(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 200; n += 3) {
		struct pt_run r;
		char what[60];
		int rc;

		make(&r, LAUNCH);
		failing_allocator_arm(&r.memory, n, true);
		rc = engine_run(&r.run);
		failing_allocator_arm(&r.memory, 0, false);
		(void)snprintf(what, sizeof(what), "from %" PRIu64 " on", n);
		check(&r, rc, what, true);
		pt_run_fini(&r);
	}
}

/* What a user reads, and what he can do. */
static void
errors_name_cause_and_advice(void **state)
{
	static const struct {
		enum sim_call call;
		uint64_t nth;
		int error;
		int rc;
		const char *words[2];
	} kinds[] = {
		{ SIM_CALL_OPEN, 1, EACCES, HWTD_E_IO,
		    { "/dev/hwt", "wheel" } },
		{ SIM_CALL_OPEN, 1, ENOENT, HWTD_E_UNSUPPORTED,
		    { "/dev/hwt", "kldload" } },
		{ SIM_CALL_ALLOC, 1, EEXIST, HWTD_E_STATE,
		    { "traced already", "" } },
		{ SIM_CALL_ALLOC, 1, EPERM, HWTD_E_IO, { "user", "" } },
		{ SIM_CALL_ALLOC, 1, ENODEV, HWTD_E_UNSUPPORTED,
		    { "pt", "" } },
		{ SIM_CALL_SPAWN, 1, EAGAIN, HWTD_E_IO,
		    { "program: cannot start", "" } },
		{ SIM_CALL_START, 1, ENXIO, HWTD_E_STATE, { "START", "" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct pt_run r;
		int rc;

		make(&r, LAUNCH);
		sim_fail(r.run.kernel, kinds[i].call, kinds[i].nth,
		    kinds[i].error);
		rc = engine_run(&r.run);
		check(&r, rc, sim_call_name(kinds[i].call), true);
		if (rc != kinds[i].rc ||
		    r.run.err.sys_errno != kinds[i].error ||
		    strstr(r.run.err.message, kinds[i].words[0]) == NULL ||
		    strstr(r.run.err.message, kinds[i].words[1]) == NULL)
			fail_msg("%zu: %d, errno %d: %s", i, rc,
			    r.run.err.sys_errno, r.run.err.message);
		pt_run_fini(&r);
	}
}

static void
nodes_that_cannot_be_opened_are_told(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &(struct sim_options){ .node_error = EACCES });
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_fails(&r, HWTD_E_IO, "/dev/hwt_0_0");
	assert_int_equal(r.run.err.sys_errno, EACCES);
	pt_run_fini(&r);
}

/* Nothing is held or lost without a word, whatever fails. */
static void
faults_at_any_time_leave_a_file_that_is_read(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct pt_run r;
		char what[40];
		int rc;

		make(&r, (enum kind)(seed % KINDS));
		sim_fault_schedule(r.run.kernel, seed, 5 + seed % 20);
		(void)pt_run_begin(&r);
		rc = engine_run(&r.run);
		(void)snprintf(what, sizeof(what), "seed %" PRIu64, seed);
		check(&r, rc, what, false);
		pt_run_fini(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_of_the_kernel_fails_once),
		cmocka_unit_test(
		    entries_that_cannot_be_copied_are_lost_records),
		cmocka_unit_test(each_allocation_fails_once),
		cmocka_unit_test(memory_that_is_gone_for_good_ends_a_capture),
		cmocka_unit_test(errors_name_cause_and_advice),
		cmocka_unit_test(nodes_that_cannot_be_opened_are_told),
		cmocka_unit_test(faults_at_any_time_leave_a_file_that_is_read),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
