/*
 * Faults, processes, time and the machine of the simulated kernel; and that it
 * stands whatever happens, in little time.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "simkernel_calls.h"

#define BUFSIZE (2 * PAGE)
#define PROG "/usr/bin/prog"

static uint8_t bytes[8 * PAGE];

static const struct sim_step prog[] = {
	{ .op = SIM_EXEC, .path = PROG, .addr = 0x200000, .len = PAGE },
	{ .op = SIM_MMAP,
	    .path = "/lib/libc.so.7",
	    .addr = 0x300000,
	    .len = PAGE },
	{ .op = SIM_TRACE, .bytes = bytes, .n = 700, .flags = SIM_STAY },
	{ .op = SIM_THREAD_CREATE, .number = 1 },
	{ .op = SIM_TRACE, .bytes = bytes + 700, .n = 2 * PAGE },
	{ .op = SIM_TRACE,
	    .thread = 1,
	    .cpu = 1,
	    .bytes = bytes,
	    .n = PAGE + 5 },
	{ .op = SIM_MUNMAP, .addr = 0x300000, .len = PAGE },
	{ .op = SIM_THREAD_EXIT, .thread = 1 },
	{ .op = SIM_IDLE, .ns = 1000000 },
	{ .op = SIM_EXIT, .status = 7 },
};

static int
set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(1 + i % 251);
	return (0);
}

static struct sim_kernel *
with_program(const struct sim_options *o, const struct sim_step *steps,
    size_t n)
{
	struct sim_kernel *k = sim_create(o);
	struct sim_program *program = sim_program(k, PROG);

	for (size_t i = 0; i < n; i++)
		sim_add(program, &steps[i]);
	return (k);
}

static int
spawn(struct sim_kernel *k, const char *path, pid_t *pid, int *gate)
{
	const struct hwtdi_system *s = sim_system(k);
	const struct hwtdi_spawn what = { .path = path };

	return (s->spawn(s->state, &what, pid, gate));
}

static struct hwtdi_exit
run_to_end(struct sim_kernel *k, pid_t pid)
{
	const struct hwtdi_system *s = sim_system(k);
	struct hwtdi_exit e = { 0 };

	for (int i = 0; i < 1000 && !e.ended; i++) {
		s->sleep(s->state, 1000000);
		assert_int_equal(s->ended(s->state, pid, &e), 0);
	}
	return (e);
}

static void
the_nth_call_of_a_kind_fails_once(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	char text[64];
	size_t size = sizeof(text);

	(void)state;
	sim_fail(k, SIM_CALL_SYSCTL, 2, ENOMEM);
	assert_int_equal(s->sysctl(s->state, "kern.ostype", text, &size), 0);
	size = sizeof(text);
	assert_int_equal(s->sysctl(s->state, "kern.ostype", text, &size),
	    -ENOMEM);
	assert_int_equal(s->sysctl(s->state, "kern.ostype", text, &size), 0);
	assert_int_equal(sim_call_count(k, SIM_CALL_SYSCTL), 3);
	sim_destroy(k);
}

static void
each_ioctl_fails_apart_and_alloc_after_its_ident(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const pid_t pid = simkernel_run(k, NULL, 0, 1);
	int ident = -1, node;

	(void)state;
	sim_fail(k, SIM_CALL_ALLOC, 1, ENOMEM);
	sim_fail(k, SIM_CALL_SET_CONFIG, 1, EFAULT);
	assert_int_equal(simkernel_alloc_thread(k, "pt", pid, BUFSIZE, &ident),
	    -ENOMEM);
	assert_int_equal(ident, 0);
	assert_int_equal(simkernel_alloc_thread(k, "pt", pid, BUFSIZE, &ident),
	    0);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_WAKEUP), 0);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config, 72, 1,
			     false),
	    -EFAULT);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config, 72, 1,
			     false),
	    0);
	assert_int_equal(sim_call_count(k, SIM_CALL_ALLOC), 2);
	assert_int_equal(sim_call_count(k, SIM_CALL_WAKEUP), 1);
	sim_destroy(k);
}

static void
a_descriptor_is_closed_also_by_a_close_that_fails(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	const int fd = simkernel_open(k, HWTDI_HWT_DEVICE);

	(void)state;
	sim_fail(k, SIM_CALL_CLOSE, 1, EINTR);
	assert_int_equal(s->close(s->state, fd), -EINTR);
	assert_int_equal(s->close(s->state, fd), -EBADF);
	sim_destroy(k);
}

static void
a_child_runs_once_it_is_let_through(void **state)
{
	struct sim_kernel *k = with_program(NULL, STEPS(prog));
	struct hwtdi_exit e;
	pid_t pid;
	int gate;

	(void)state;
	assert_int_equal(spawn(k, "prog", &pid, &gate), 0);
	assert_int_equal(sim_system(k)->release(k, gate, true), 0);
	e = run_to_end(k, pid);
	assert_true(e.ended);
	assert_int_equal(e.status, 7);
	assert_int_equal(e.signal, 0);
	sim_destroy(k);
}

static void
a_child_that_is_not_let_through_ends_without_having_run(void **state)
{
	struct sim_kernel *k = with_program(NULL, STEPS(prog));
	const struct hwtdi_system *s = sim_system(k);
	struct sim_leaks leaks;
	struct hwtdi_exit e;
	pid_t pid;
	int gate;

	(void)state;
	assert_int_equal(spawn(k, PROG, &pid, &gate), 0);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.gates, 1);
	assert_int_equal(leaks.children, 1);
	assert_int_equal(s->release(s->state, gate, false), 0);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.gates, 0);
	/* It is to be asked for. */
	assert_int_equal(leaks.children, 1);
	assert_int_equal(s->ended(s->state, pid, &e), 0);
	assert_true(e.ended);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.children, 0);
	sim_destroy(k);
}

static void
a_program_that_is_not_there_ends_with_127(void **state)
{
	struct sim_kernel *k = with_program(NULL, STEPS(prog));
	const struct hwtdi_system *s = sim_system(k);
	struct hwtdi_exit e;
	pid_t pid;
	int gate;

	(void)state;
	assert_int_equal(spawn(k, "./prog", &pid, &gate), 0);
	assert_int_equal(s->release(s->state, gate, true), 0);
	e = run_to_end(k, pid);
	assert_int_equal(e.status, 127);
	sim_destroy(k);
}

static void
a_signal_ends_a_process(void **state)
{
	struct sim_kernel *k = with_program(NULL, STEPS(prog));
	const struct hwtdi_system *s = sim_system(k);
	struct hwtdi_exit e;
	pid_t pid;
	int gate;

	(void)state;
	assert_int_equal(spawn(k, PROG, &pid, &gate), 0);
	assert_int_equal(s->kill(s->state, pid, 0), 0);
	assert_int_equal(s->kill(s->state, pid, SIGKILL), 0);
	assert_int_equal(s->release(s->state, gate, true), -EPIPE);
	assert_int_equal(s->ended(s->state, pid, &e), 0);
	assert_true(e.ended);
	assert_int_equal(e.signal, SIGKILL);
	assert_int_equal(s->kill(s->state, pid, 0), -ESRCH);
	sim_destroy(k);
}

static void
a_process_that_is_no_child_is_no_more_or_a_zombie_for_a_while(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_EXIT, .status = 3, .ns = 1000000 }
	};
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s;
	const pid_t pid = simkernel_run(k, STEPS(steps), 1);
	struct hwtdi_exit e = { .status = 1 };

	(void)state;
	s = sim_system(k);
	assert_int_equal(s->ended(s->state, pid, &e), 0);
	assert_false(e.ended);
	s->sleep(s->state, 2000000);
	assert_int_equal(s->ended(s->state, pid, &e), -ESRCH);
	sim_destroy(k);
	k = sim_create(&(struct sim_options){ .seed = 1 + (uint64_t)pid });
	s = sim_system(k);
	assert_int_equal(simkernel_run(k, STEPS(steps), 1), pid);
	s->sleep(s->state, 2000000);
	assert_int_equal(s->ended(s->state, pid, &e), 0);
	assert_true(e.ended);
	assert_int_equal(e.status, 0);
	sim_destroy(k);
}

static void
time_passes_by_sleeping_and_a_little_by_each_call(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	const uint64_t begin = s->now(s->state);
	const uint64_t real = s->real_time(s->state);
	uint64_t end;

	(void)state;
	s->sleep(s->state, 3600000000000);
	end = s->now(s->state);
	assert_true(end - begin >= 3600000000000);
	assert_true(end - begin < 3600001000000);
	assert_true(s->real_time(s->state) - real >= 3600000000000);
	sim_destroy(k);
}

static void
processes_take_turns_by_virtual_time(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	const uint64_t begin = s->now(s->state);
	struct hwtdi_exit e = { 0 };
	unsigned polls = 0;
	int child;

	(void)state;
	child = s->fork(s->state);
	if (child == 0) {
		uint64_t before = s->now(s->state);

		for (int i = 0; i < 30; i++)
			s->sleep(s->state, 1000000);
		/* The other one did not let time fly. */
		_exit(s->now(s->state) - before < 60000000 ? 5 : 6);
	}
	assert_true(child > 0);
	while (!e.ended) {
		s->sleep(s->state, 10000000);
		assert_int_equal(s->ended(s->state, child, &e), 0);
		polls++;
	}
	assert_int_equal(e.status, 5);
	assert_in_range(polls, 2, 8);
	assert_true(s->now(s->state) - begin < 100000000);
	sim_destroy(k);
}

static void
who_waits_elsewhere_holds_nobody_up(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	const pid_t target = simkernel_run(k, NULL, 0, 1);
	struct timespec begin, end;
	struct sim_leaks leaks;
	int ends[2], child, ident, status;
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	child = s->fork(s->state);
	if (child == 0) {
		simkernel_alloc_thread(k, "pt", target, BUFSIZE, &ident);
		for (int i = 0; i < 5000; i++)
			s->sleep(s->state, 1000000);
		_exit(write(ends[1], "x", 1) == 1 ? 9 : 10);
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	clock_gettime(CLOCK_MONOTONIC, &end);
	/* A millisecond for each sleep would be five seconds. */
	assert_true((end.tv_sec - begin.tv_sec) * 1000 +
		(end.tv_nsec - begin.tv_nsec) / 1000000 <
	    4000);
	/* Its contexts go with it, whoever takes its status. */
	assert_true(wait(&status) > 0);
	assert_int_equal(WEXITSTATUS(status), 9);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.contexts, 0);
	assert_int_equal(leaks.children, 0);
	close(ends[0]);
	close(ends[1]);
	sim_destroy(k);
}

static void
a_thread_on_any_cpu_takes_one_that_is_free(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_SWITCH_IN, .cpu = SIM_ANY_CPU },
		{ .op = SIM_SWITCH_IN,
		    .thread = 1,
		    .cpu = SIM_ANY_CPU,
		    .ns = 1000 },
		{ .op = SIM_SWITCH_IN, .cpu = SIM_ANY_CPU, .ns = 2000 },
	};
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	const pid_t pid = simkernel_run(k, STEPS(steps), 2);
	struct hwtdi_thread t[2];
	size_t n;

	(void)state;
	sim_run(k, 1000000);
	assert_int_equal(s->threads(s->state, pid, t, 2, &n), 0);
	assert_true(t[0].running && t[1].running);
	assert_int_equal(t[0].switches + t[1].switches, 0);
	sim_destroy(k);
}

static void
a_forked_process_can_be_killed(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	struct hwtdi_exit e = { 0 };
	struct sim_leaks leaks;
	int child;

	(void)state;
	child = s->fork(s->state);
	if (child == 0) {
		simkernel_open(k, HWTDI_HWT_DEVICE);
		for (;;)
			s->sleep(s->state, 1000000);
	}
	s->sleep(s->state, 5000000);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.fds, 1);
	assert_int_equal(leaks.children, 1);
	assert_int_equal(s->kill(s->state, child, SIGKILL), 0);
	while (!e.ended) {
		assert_int_equal(s->ended(s->state, child, &e), 0);
		s->sleep(s->state, 1000000);
	}
	assert_int_equal(e.signal, SIGKILL);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.fds, 0);
	assert_int_equal(leaks.children, 0);
	sim_destroy(k);
}

static void
sysctls_tell_their_size_and_refuse_less_room(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	char text[4096];
	uint32_t number;
	size_t size = 0;

	(void)state;
	assert_int_equal(s->sysctl(s->state, "kern.ostype", NULL, &size), 0);
	assert_int_equal(size, 8);
	size = 4;
	assert_int_equal(s->sysctl(s->state, "kern.ostype", text, &size),
	    -ENOMEM);
	size = sizeof(number);
	assert_int_equal(s->sysctl(s->state, "hw.ncpu", &number, &size), 0);
	assert_int_equal(number, 2);
	size = sizeof(text);
	assert_int_equal(s->sysctl(s->state, "kern.conftxt", text, &size), 0);
	assert_non_null(strstr(text, "options\tHWT_HOOKS\n"));
	assert_int_equal(s->sysctl(s->state, "no.such", text, &size), -ENOENT);
	sim_set_sysctl_text(k, "kern.conftxt", NULL);
	assert_int_equal(s->sysctl(s->state, "kern.conftxt", text, &size),
	    -ENOENT);
	sim_destroy(k);
}

static void
cpuid_is_there_on_amd64_only(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const uint32_t mine[4] = { 1, 2, 3, 4 };
	uint32_t out[4];

	(void)state;
	assert_int_equal(sim_system(k)->cpuid(k, 0x14, 0, out), 0);
	assert_int_equal(out[1] & 4, 4);
	sim_set_cpuid(k, 0x14, 0, mine);
	assert_int_equal(sim_system(k)->cpuid(k, 0x14, 0, out), 0);
	assert_memory_equal(out, mine, sizeof(out));
	sim_destroy(k);
	k = sim_create(&(struct sim_options){ .arch = SIM_ARM64 });
	assert_int_equal(sim_system(k)->cpuid(k, 0x14, 0, out), -ENOTSUP);
	sim_destroy(k);
}

static void
what_happens_to_a_process_shows_in_its_lists(void **state)
{
	const struct hwtdi_vm_entry before = { .start = 0x10000,
		.end = 0x12000,
		.prot = HWTDI_PROT_READ,
		.path = "/etc/data" };
	const struct sim_step steps[] = {
		{ .op = SIM_KLDLOAD,
		    .path = "new.ko",
		    .interp = "/boot/kernel/new.ko",
		    .addr = PAGE,
		    .len = PAGE,
		    .ns = 1000000 },
		{ .op = SIM_IDLE, .thread = 1, .ns = 1000000000 },
		{ .op = SIM_EXIT, .flags = SIM_AT_ONCE, .ns = 1000000 },
	};
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	const pid_t pid = simkernel_run(k, STEPS(steps), 2);
	struct hwtdi_vm_entry m;
	static struct hwtdi_module modules[8];
	struct hwtdi_exit e;
	size_t n;

	(void)state;
	sim_add_mapping(k, pid, &before);
	assert_int_equal(s->mappings(s->state, pid, &m, 1, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(m.end, 0x12000);
	assert_string_equal(m.path, "/etc/data");
	sim_advance(k, 1500000);
	assert_int_equal(s->modules(s->state, modules, 8, &n), 0);
	assert_string_equal(modules[n - 1].name, "new.ko");
	assert_string_equal(modules[n - 1].path, "/boot/kernel/new.ko");
	/* The other thread is not waited for. */
	sim_advance(k, 2000000);
	assert_int_equal(s->ended(s->state, pid, &e), -ESRCH);
	assert_int_equal(s->threads(s->state, pid, NULL, 0, &n), -ESRCH);
	sim_destroy(k);
}

static void
lists_tell_how_many_there_are_and_write_what_fits(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	const pid_t pid = simkernel_run(k, NULL, 0, 3);
	struct hwtdi_thread threads[3];
	static struct hwtdi_module modules[3];
	size_t n;

	(void)state;
	memset(threads, 0xee, sizeof(threads));
	assert_int_equal(s->threads(s->state, pid, threads, 2, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(threads[1].tid, threads[0].tid + 1);
	assert_int_equal(threads[2].tid, 0xeeeeeeee);
	assert_string_equal(threads[0].name, "target");
	assert_int_equal(s->threads(s->state, 4711, threads, 2, &n), -ESRCH);
	sim_add_module(k, "last.ko", "/boot/last.ko", 7, 8);
	assert_int_equal(s->modules(s->state, modules, 3, &n), 0);
	assert_int_equal(n, 4);
	assert_string_equal(modules[0].name, "kernel");
	assert_string_equal(modules[1].name, "hwt.ko");
	sim_destroy(k);
}

/* A capture that does the least, and takes what comes. */
static void
capture(struct sim_kernel *k)
{
	const struct hwtdi_system *s = sim_system(k);
	static struct hwtdi_hwt_long_entry entries[64];
	struct simkernel_position p;
	struct hwtdi_exit e = { 0 };
	const void *ring = NULL;
	int ident = -1, node = -1, gate = -1;
	pid_t pid;

	if (spawn(k, PROG, &pid, &gate) != 0)
		return;
	if (simkernel_alloc_thread(k, "pt", pid, BUFSIZE, &ident) == 0)
		node = simkernel_node(k, ident, 0);
	if (node >= 0 && s->mmap(s->state, node, BUFSIZE, &ring) != 0)
		ring = NULL;
	if (node >= 0 &&
	    simkernel_config(k, node, &simkernel_pt_config, 72, 1, false) == 0)
		simkernel_plain(k, node, HWTDI_HWT_IOC_START);
	s->release(s->state, gate, true);
	for (int i = 0; i < 40 && !e.ended; i++) {
		simkernel_records(k, node, (void *)entries, 64, false);
		simkernel_position(k, node, &p);
		s->sleep(s->state, 50000);
		s->ended(s->state, pid, &e);
	}
	if (ring != NULL)
		s->munmap(s->state, ring, BUFSIZE);
	if (node >= 0)
		s->close(s->state, node);
}

static size_t
schedules(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL ? 300 : 10000);
}

static void
ten_thousand_schedules_with_faults_panic_nothing(void **state)
{
	uint64_t faults = 0, queued = 0, dropped = 0, killed = 0;

	(void)state;
	for (size_t i = 0; i < schedules(); i++) {
		const struct sim_options o = { .seed = i + 1,
			.coalesce = i % 5 == 0,
			.positions = (enum sim_positions)(i % 3) };
		struct sim_kernel *k = with_program(&o, STEPS(prog));
		struct sim_totals t;

		sim_fault_schedule(k, i, 20);
		capture(k);
		for (size_t p = 0; p < sim_panics(k); p++)
			fail_msg("seed %zu: %s", i, sim_panic(k, p));
		for (size_t b = 0; b < sim_buffers(k); b++) {
			struct sim_buffer u;
			size_t n = 0;

			sim_buffer(k, b, &u);
			for (size_t sl = 0; sl < u.n_slices; sl++)
				n += u.slices[sl].n;
			assert_int_equal(n, u.n);
		}
		sim_totals(k, &t);
		faults += t.faults;
		queued += t.records_queued;
		dropped += t.records_dropped;
		killed += t.threads_failed;
		sim_destroy(k);
	}
	print_message("%llu faults, %llu records, %llu dropped, %llu threads "
		      "without a buffer\n",
	    (unsigned long long)faults, (unsigned long long)queued,
	    (unsigned long long)dropped, (unsigned long long)killed);
	assert_true(faults > schedules() / 10);
	assert_true(dropped > 0 && killed > 0);
}

static void
a_seed_gives_the_same_run_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct sim_buffer b[2];
		struct sim_kernel *k[2];
		struct sim_totals t[2];

		for (int i = 0; i < 2; i++) {
			const struct sim_options o = { .seed = seed };

			k[i] = with_program(&o, STEPS(prog));
			sim_fault_schedule(k[i], seed, 10);
			capture(k[i]);
			sim_totals(k[i], &t[i]);
		}
		assert_memory_equal(&t[0], &t[1], sizeof(t[0]));
		assert_int_equal(sim_buffers(k[0]), sim_buffers(k[1]));
		for (size_t i = 0; i < sim_buffers(k[0]); i++) {
			sim_buffer(k[0], i, &b[0]);
			sim_buffer(k[1], i, &b[1]);
			assert_int_equal(b[0].n, b[1].n);
			assert_int_equal(b[0].n_slices, b[1].n_slices);
			if (b[0].n != 0)
				assert_memory_equal(b[0].fates, b[1].fates,
				    b[0].n);
		}
		sim_destroy(k[0]);
		sim_destroy(k[1]);
	}
}

static void
each_call_of_a_capture_can_fail_once(void **state)
{
	uint64_t n[SIM_N_CALLS];
	unsigned tried = 0;
	struct sim_kernel *k = with_program(NULL, STEPS(prog));

	(void)state;
	capture(k);
	for (unsigned c = 0; c < SIM_N_CALLS; c++)
		n[c] = sim_call_count(k, (enum sim_call)c);
	sim_destroy(k);
	for (unsigned c = 0; c < SIM_N_CALLS; c++) {
		for (uint64_t i = 1; c != SIM_CALL_TIME && i <= n[c]; i++) {
			struct sim_totals t;

			k = with_program(NULL, STEPS(prog));
			sim_fail(k, (enum sim_call)c, i, ENOMEM);
			capture(k);
			sim_totals(k, &t);
			assert_int_equal(t.faults, 1);
			assert_int_equal(sim_panics(k), 0);
			sim_destroy(k);
			tried++;
		}
	}
	assert_true(tried > 20);
}

static void
what_is_not_given_back_is_counted(void **state)
{
	struct sim_kernel *k = with_program(NULL, STEPS(prog));
	struct sim_leaks leaks;

	(void)state;
	capture(k);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.fds, 0);
	assert_int_equal(leaks.mappings, 0);
	assert_int_equal(leaks.children, 0);
	assert_int_equal(leaks.gates, 0);
	assert_int_equal(leaks.contexts, 1);
	simkernel_open(k, HWTDI_HWT_DEVICE);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.fds, 1);
	sim_destroy(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nth_call_of_a_kind_fails_once),
		cmocka_unit_test(
		    each_ioctl_fails_apart_and_alloc_after_its_ident),
		cmocka_unit_test(
		    a_descriptor_is_closed_also_by_a_close_that_fails),
		cmocka_unit_test(a_child_runs_once_it_is_let_through),
		cmocka_unit_test(
		    a_child_that_is_not_let_through_ends_without_having_run),
		cmocka_unit_test(a_program_that_is_not_there_ends_with_127),
		cmocka_unit_test(a_signal_ends_a_process),
		cmocka_unit_test(
		    a_process_that_is_no_child_is_no_more_or_a_zombie_for_a_while),
		cmocka_unit_test(
		    time_passes_by_sleeping_and_a_little_by_each_call),
		cmocka_unit_test(processes_take_turns_by_virtual_time),
		cmocka_unit_test(who_waits_elsewhere_holds_nobody_up),
		cmocka_unit_test(a_thread_on_any_cpu_takes_one_that_is_free),
		cmocka_unit_test(a_forked_process_can_be_killed),
		cmocka_unit_test(sysctls_tell_their_size_and_refuse_less_room),
		cmocka_unit_test(cpuid_is_there_on_amd64_only),
		cmocka_unit_test(what_happens_to_a_process_shows_in_its_lists),
		cmocka_unit_test(
		    lists_tell_how_many_there_are_and_write_what_fits),
		cmocka_unit_test(
		    ten_thousand_schedules_with_faults_panic_nothing),
		cmocka_unit_test(a_seed_gives_the_same_run_again),
		cmocka_unit_test(each_call_of_a_capture_can_fail_once),
		cmocka_unit_test(what_is_not_given_back_is_counted),
	};

	return (cmocka_run_group_tests(tests, set_up, NULL));
}
