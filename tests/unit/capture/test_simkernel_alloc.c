/*
 * ALLOC, and the ioctls of contexts, of the simulated kernel: the order of what
 * is checked, and who may.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "simkernel_calls.h"

#define BUFSIZE (4 * PAGE)

static const struct sim_step idle[] = { { .op = SIM_IDLE,
    .ns = 10000000000 } };

static uint64_t
address(const void *p)
{
	return ((uint64_t)(uintptr_t)p);
}

/* An ALLOC that nothing is wrong with, for a process that is started. */
static struct hwtdi_hwt_alloc
good(struct sim_kernel *k, int *ident)
{
	*ident = -1;
	return ((struct hwtdi_hwt_alloc){ .bufsize = BUFSIZE,
	    .mode = HWTDI_HWT_THREAD,
	    .pid = simkernel_run(k, STEPS(idle), 1),
	    .backend_name = address("pt"),
	    .ident = address(ident),
	    .kqueue_fd = -1 });
}

/* A context of a process with two threads; out: the node of the first. */
static struct sim_kernel *
with_context(int *ident, int *node)
{
	struct sim_kernel *k = sim_create(NULL);
	const pid_t pid = simkernel_run(k, STEPS(idle), 2);

	assert_int_equal(simkernel_alloc_thread(k, "pt", pid, BUFSIZE, ident),
	    0);
	*node = simkernel_node(k, *ident, 0);
	assert_true(*node >= 0);
	return (k);
}

static void
the_control_node_takes_alloc_only(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const int fd = simkernel_open(k, HWTDI_HWT_DEVICE);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(simkernel_plain(k, fd, HWTDI_HWT_IOC_START), -ENXIO);
	assert_int_equal(simkernel_plain(k, fd, 0x20004299), -ENXIO);
	sim_destroy(k);
}

static void
a_machine_may_have_no_device_or_not_let_it_be_opened(void **state)
{
	struct sim_kernel *k = sim_create(&(struct sim_options){
	    .device_error = ENOENT });

	(void)state;
	assert_int_equal(simkernel_open(k, HWTDI_HWT_DEVICE), -ENOENT);
	sim_destroy(k);
	k = sim_create(&(struct sim_options){ .device_error = EACCES });
	assert_int_equal(simkernel_open(k, HWTDI_HWT_DEVICE), -EACCES);
	assert_int_equal(simkernel_open(k, "/dev/hwt_0_0"), -ENOENT);
	sim_destroy(k);
}

static void
alloc_checks_size_then_name_then_mode(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	char long_name[HWTDI_HWT_BACKEND_ROOM + 1];
	int ident;
	struct hwtdi_hwt_alloc a = good(k, &ident);

	(void)state;
	memset(long_name, 'p', sizeof(long_name));
	a.mode = 3;
	a.backend_name = 0;
	a.bufsize = HWTDI_HWT_MAX_BUFSIZE + PAGE;
	assert_int_equal(simkernel_alloc(k, &a), -EINVAL);
	a.bufsize = PAGE + 1;
	assert_int_equal(simkernel_alloc(k, &a), -EINVAL);
	a.bufsize = BUFSIZE;
	assert_int_equal(simkernel_alloc(k, &a), -EINVAL);
	a.backend_name = 8;
	assert_int_equal(simkernel_alloc(k, &a), -EFAULT);
	a.backend_name = address(long_name);
	assert_int_equal(simkernel_alloc(k, &a), -ENAMETOOLONG);
	a.backend_name = address("spe");
	assert_int_equal(simkernel_alloc(k, &a), -ENODEV);
	a.backend_name = address("pt");
	assert_int_equal(simkernel_alloc(k, &a), -ENXIO);
	assert_int_equal(ident, -1);
	a.mode = HWTDI_HWT_THREAD;
	a.ident = 0;
	assert_int_equal(simkernel_alloc(k, &a), -EFAULT);
	a.ident = address(&ident);
	assert_int_equal(simkernel_alloc(k, &a), 0);
	assert_int_equal(ident, 0);
	assert_int_equal(sim_panics(k), 0);
	sim_destroy(k);
}

static void
backends_are_those_of_the_machine(void **state)
{
	static const struct {
		struct sim_options o;
		int pt, spe, coresight;
	} cases[] = {
		{ { .arch = SIM_AMD64 }, 0, -ENODEV, -ENODEV },
		{ { .arch = SIM_ARM64 }, -ENODEV, 0, -ENODEV },
		{ { .arch = SIM_ARM64, .flavour = SIM_FORK }, -ENODEV, 0, 0 },
		{ { .backends = SIM_NO_BACKEND }, -ENODEV, -ENODEV, -ENODEV },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_kernel *k = sim_create(&cases[i].o);
		int ident;

		assert_int_equal(simkernel_alloc_cpus(k, "pt", 1, BUFSIZE, -1,
				     &ident),
		    cases[i].pt);
		assert_int_equal(simkernel_alloc_cpus(k, "spe", 1, BUFSIZE, -1,
				     &ident),
		    cases[i].spe);
		assert_int_equal(simkernel_alloc_cpus(k, "coresight", 1,
				     BUFSIZE, -1, &ident),
		    cases[i].coresight);
		sim_destroy(k);
	}
}

static void
ident_is_written_before_the_process_is_looked_for(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident;
	struct hwtdi_hwt_alloc a = good(k, &ident);

	(void)state;
	a.pid = 99999;
	assert_int_equal(simkernel_alloc(k, &a), -ENXIO);
	assert_int_equal(ident, 0);
	/* It is nobody's. */
	assert_int_equal(simkernel_node(k, 0, 0), -ENOENT);
	sim_destroy(k);
}

static void
the_superuser_traces_no_process_of_others(void **state)
{
	const struct hwtdi_credentials other = { .euid = 1001,
		.ruid = 1001,
		.svuid = 1001,
		.n_groups = 1 };
	struct sim_kernel *k = sim_create(NULL);
	int ident;
	struct hwtdi_hwt_alloc a = good(k, &ident);

	(void)state;
	sim_set_credentials(k, a.pid, &other);
	assert_int_equal(simkernel_alloc(k, &a), -EPERM);
	assert_int_equal(ident, 0);
	sim_set_credentials(k, 0, &other);
	assert_int_equal(simkernel_alloc(k, &a), 0);
	sim_destroy(k);
}

static void
one_of_three_uids_is_enough_and_all_groups_are_needed(void **state)
{
	const struct hwtdi_credentials self = { .euid = 7,
		.n_groups = 2,
		.groups = { 10, 11 } };
	const struct {
		struct hwtdi_credentials target;
		int want;
	} cases[] = {
		{ { .ruid = 7,
		      .rgid = 10,
		      .svgid = 11,
		      .n_groups = 1,
		      .groups = { 11 } },
		    0 },
		{ { .svuid = 7, .rgid = 10, .svgid = 10 }, 0 },
		{ { .euid = 7, .rgid = 10, .svgid = 12 }, -EPERM },
		{ { .euid = 7, .rgid = 12, .svgid = 10 }, -EPERM },
		{ { .euid = 7,
		      .rgid = 10,
		      .svgid = 10,
		      .n_groups = 3,
		      .groups = { 10, 11, 12 } },
		    -EPERM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_kernel *k = sim_create(NULL);
		int ident;
		struct hwtdi_hwt_alloc a = good(k, &ident);

		sim_set_credentials(k, 0, &self);
		sim_set_credentials(k, a.pid, &cases[i].target);
		assert_int_equal(simkernel_alloc(k, &a), cases[i].want);
		sim_destroy(k);
	}
}

static void
an_owner_has_one_context_of_a_process(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident;
	struct hwtdi_hwt_alloc a = good(k, &ident);

	(void)state;
	assert_int_equal(simkernel_alloc(k, &a), 0);
	ident = -1;
	assert_int_equal(simkernel_alloc(k, &a), -EEXIST);
	assert_int_equal(ident, -1);
	sim_destroy(k);
}

static void
a_thread_without_memory_fails_alloc(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident;
	struct hwtdi_hwt_alloc a = good(k, &ident);

	(void)state;
	sim_fail_threads(k, 1);
	assert_int_equal(simkernel_alloc(k, &a), -ENOMEM);
	assert_int_equal(ident, 0);
	assert_int_equal(simkernel_alloc(k, &a), 0);
	assert_int_equal(ident, 0);
	sim_exit_caller(k);
	assert_int_equal(sim_hangs(k), 0);
	sim_destroy(k);
}

static void
a_new_process_may_inherit_the_trace_of_one_that_ended(void **state)
{
	const struct sim_options o = { .reuse_processes = true };
	const struct sim_step steps[] = { { .op = SIM_EXIT, .ns = 1000000 } };
	struct sim_kernel *k = sim_create(&o);
	const pid_t pid = simkernel_run(k, STEPS(steps), 1);
	int ident;
	struct hwtdi_hwt_alloc a;

	(void)state;
	assert_int_equal(simkernel_alloc_thread(k, "pt", pid, BUFSIZE, &ident),
	    0);
	sim_run(k, 10000000);
	a = good(k, &ident);
	assert_int_equal(simkernel_alloc(k, &a), -EEXIST);
	assert_int_equal(ident, 1);
	/* Until the owner exits. */
	sim_exit_caller(k);
	sim_advance(k, 10000000);
	assert_int_equal(simkernel_alloc(k, &a), 0);
	sim_destroy(k);
}

static void
the_lowest_ident_is_taken_and_256_are_all(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident;

	(void)state;
	for (int i = 0; i < 256; i++) {
		struct hwtdi_hwt_alloc a = good(k, &ident);

		assert_int_equal(simkernel_alloc(k, &a), 0);
		assert_int_equal(ident, i);
	}
	struct hwtdi_hwt_alloc a = good(k, &ident);
	assert_int_equal(simkernel_alloc(k, &a), -ENOMEM);
	assert_int_equal(ident, -1);
	sim_destroy(k);
}

static void
nodes_count_threads_from_0_on(void **state)
{
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);

	(void)state;
	assert_true(simkernel_node(k, ident, 1) >= 0);
	assert_int_equal(simkernel_node(k, ident, 2), -ENOENT);
	sim_destroy(k);
}

static void
unknown_requests_of_contexts_succeed(void **state)
{
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);

	(void)state;
	assert_int_equal(simkernel_plain(k, node, 0x20004299), 0);
	/* Those of an old fork. */
	assert_int_equal(simkernel_plain(k, node, 0x80104203), 0);
	sim_destroy(k);
}

static void
what_runs_is_not_started_and_what_stands_is_not_stopped(void **state)
{
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);

	(void)state;
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_STOP), -ENXIO);
	assert_int_equal(sim_panics(k), 0);
	assert_int_equal(simkernel_svc_buf(k, node, 0, 0), -ENXIO);
	assert_int_equal(sim_panics(k), 0);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START),
	    -ENXIO);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    -ENXIO);
	sim_destroy(k);
}

static void
a_config_has_at_most_a_page(void **state)
{
	static const uint8_t big[PAGE + 1];
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);

	(void)state;
	assert_int_equal(simkernel_config(k, node, big, PAGE, 1, false), 0);
	assert_int_equal(simkernel_config(k, node, big, PAGE + 1, 1, false),
	    -EFBIG);
	assert_int_equal(simkernel_config(k, node, NULL, 72, 1, false),
	    -EFAULT);
	assert_int_equal(simkernel_config(k, node, NULL, 0, 1, true), 0);
	sim_destroy(k);
}

static void
record_get_takes_1_to_1024_entries(void **state)
{
	static struct hwtdi_hwt_entry entries[4];
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);
	struct hwtdi_hwt_record_get get = { .records = address(entries) };

	(void)state;
	assert_int_equal(simkernel_records(k, node, entries, 0, false),
	    -ENXIO);
	assert_int_equal(simkernel_records(k, node, entries, 1025, false),
	    -ENXIO);
	assert_int_equal(simkernel_ioctl(k, node, HWTDI_HWT_IOC_RECORD_GET,
			     &get),
	    -EFAULT);
	/* Two threads: nothing of that took a record. */
	assert_int_equal(simkernel_records(k, node, entries, 4, false), 2);
	sim_destroy(k);
}

static void
a_buffer_is_mapped_from_0_to_its_size_at_most(void **state)
{
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);
	const struct hwtdi_system *s = sim_system(k);
	const void *at;

	(void)state;
	assert_int_equal(s->mmap(s->state, node, 0, &at), -EINVAL);
	assert_int_equal(s->mmap(s->state, 5, BUFSIZE, &at), -EBADF);
	assert_int_equal(s->mmap(s->state, node, BUFSIZE, &at), 0);
	for (size_t i = 0; i < BUFSIZE; i++)
		assert_int_equal(((const uint8_t *)at)[i], 0);
	assert_int_equal(s->munmap(s->state, at, PAGE), -EINVAL);
	assert_int_equal(s->munmap(s->state, at, BUFSIZE), 0);
	assert_int_equal(s->munmap(s->state, at, BUFSIZE), -EINVAL);
	sim_destroy(k);
}

/* Whether a process that does that is ended by a signal. */
static bool
faults(const uint8_t *at, bool write)
{
	const pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		if (write)
			*(volatile uint8_t *)(uintptr_t)at = 1;
		else
			(void)*(const volatile uint8_t *)at;
		_exit(0);
	}
	assert_true(waitpid(pid, &status, 0) == pid);
	return (WIFSIGNALED(status));
}

static void
nobody_writes_to_a_buffer_or_reads_behind_it(void **state)
{
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);
	const struct hwtdi_system *s = sim_system(k);
	const void *at, *longer;

	(void)state;
	assert_int_equal(s->mmap(s->state, node, BUFSIZE, &at), 0);
	assert_int_equal(s->mmap(s->state, node, 2 * BUFSIZE, &longer), 0);
	assert_false(faults(at, false));
	assert_true(faults(at, true));
	assert_false(faults((const uint8_t *)at + BUFSIZE - 1, false));
	assert_true(faults((const uint8_t *)at + BUFSIZE, false));
	assert_true(faults((const uint8_t *)longer + BUFSIZE, false));
	assert_int_equal(s->munmap(s->state, longer, 2 * BUFSIZE), 0);
	sim_destroy(k);
}

static void
a_node_may_not_let_itself_be_opened(void **state)
{
	const struct sim_options o = { .node_error = EACCES };
	struct sim_kernel *k = sim_create(&o);
	int ident;
	struct hwtdi_hwt_alloc a = good(k, &ident);

	(void)state;
	assert_int_equal(simkernel_alloc(k, &a), 0);
	assert_int_equal(simkernel_node(k, ident, 0), -EACCES);
	assert_int_equal(simkernel_node(k, ident, 1), -ENOENT);
	sim_destroy(k);
}

static void
a_context_lives_until_its_owner_exits(void **state)
{
	int ident, node;
	struct sim_kernel *k = with_context(&ident, &node);
	const struct hwtdi_system *s = sim_system(k);
	struct sim_leaks leaks;

	(void)state;
	assert_int_equal(s->close(s->state, node), 0);
	node = simkernel_node(k, ident, 0);
	assert_true(node >= 0);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.fds, 1);
	assert_int_equal(leaks.contexts, 1);
	sim_exit_caller(k);
	sim_leaks(k, &leaks);
	assert_int_equal(leaks.fds, 0);
	assert_int_equal(leaks.contexts, 0);
	assert_int_equal(simkernel_node(k, ident, 0), -ENOENT);
	sim_destroy(k);
}

static void
a_forked_process_owns_nothing_of_its_parent(void **state)
{
	int ident, node, mine, status = 0;
	struct sim_kernel *k = with_context(&ident, &node);
	const struct hwtdi_system *s = sim_system(k);
	struct hwtdi_exit e = { 0 };
	int child;

	(void)state;
	child = s->fork(s->state);
	if (child == 0) {
		const int own = simkernel_node(k, ident, 1);
		struct hwtdi_hwt_alloc a = good(k, &mine);

		if (simkernel_plain(k, node, HWTDI_HWT_IOC_START) != -ENXIO)
			status |= 1;
		if (simkernel_alloc(k, &a) != 0)
			status |= 2;
		if (simkernel_plain(k, node, HWTDI_HWT_IOC_START) != -EPERM ||
		    simkernel_plain(k, own, HWTDI_HWT_IOC_START) != -EPERM)
			status |= 4;
		if (mine == ident || simkernel_node(k, mine, 0) < 0)
			status |= 8;
		s->sleep(s->state, 5000000);
		_exit(status);
	}
	assert_true(child > 0);
	while (!e.ended) {
		assert_int_equal(s->ended(s->state, child, &e), 0);
		s->sleep(s->state, 1000000);
	}
	assert_int_equal(e.status, 0);
	assert_int_equal(e.signal, 0);
	/* Its context went with it, ours is there. */
	assert_int_equal(simkernel_node(k, 1, 0), -ENOENT);
	assert_true(simkernel_node(k, ident, 0) >= 0);
	assert_int_equal(s->ended(s->state, child, &e), -ESRCH);
	sim_destroy(k);
}

/* Each request of nodes, with an argument that nothing is wrong with. */
static int
ask(struct sim_kernel *k, int node, size_t nr)
{
	static struct hwtdi_hwt_entry entry;
	struct simkernel_position position;

	switch (nr) {
	case 1:
		return (simkernel_plain(k, node, HWTDI_HWT_IOC_START));
	case 2:
		return (simkernel_plain(k, node, HWTDI_HWT_IOC_STOP));
	case 3:
		return (simkernel_records(k, node, &entry, 1, false));
	case 4:
		return (simkernel_position(k, node, &position));
	case 5:
		return (simkernel_config(k, node, &simkernel_pt_config,
		    sizeof(simkernel_pt_config), 1, false));
	case 6:
		return (simkernel_plain(k, node, HWTDI_HWT_IOC_WAKEUP));
	case 7:
		return (simkernel_svc_buf(k, node, 0, 0));
	default:
		return (simkernel_plain(k, node, 0x20004299));
	}
}

/* ENXIO who owns nothing, EPERM who owns another context, whatever is asked. */
static void
every_request_is_for_the_owner_only(void **state)
{
	int ident, node, mine, status = 0;
	struct sim_kernel *k = with_context(&ident, &node);
	const struct hwtdi_system *s = sim_system(k);
	static struct hwtdi_hwt_entry entries[4];
	struct hwtdi_exit e = { 0 };
	int child;

	(void)state;
	child = s->fork(s->state);
	if (child == 0) {
		struct hwtdi_hwt_alloc a = good(k, &mine);

		for (size_t nr = 1; nr <= 8; nr++)
			if (ask(k, node, nr) != -ENXIO)
				status = (int)nr;
		if (simkernel_alloc(k, &a) != 0)
			status = 20;
		for (size_t nr = 1; nr <= 8; nr++)
			if (ask(k, node, nr) != -EPERM)
				status = 10 + (int)nr;
		_exit(status);
	}
	assert_true(child > 0);
	while (!e.ended) {
		assert_int_equal(s->ended(s->state, child, &e), 0);
		s->sleep(s->state, 1000000);
	}
	assert_int_equal(e.signal, 0);
	assert_int_equal(e.status, 0);
	assert_int_equal(sim_panics(k), 0);
	/* Nothing was started, and no record was taken. */
	assert_int_equal(ask(k, node, 2), -ENXIO);
	assert_int_equal(simkernel_records(k, node, entries, 4, false), 2);
	sim_destroy(k);
}

static void
a_position_is_written_to_memory_that_is_there(void **state)
{
	int ident, node, page;
	uint64_t offset, data;
	struct sim_kernel *k = with_context(&ident, &node);
	const struct hwtdi_hwt_bufptr_get good_ones = {
		.ident = address(&page),
		.offset = address(&offset),
		.data = address(&data),
	};
	struct hwtdi_hwt_bufptr_get get;

	(void)state;
	for (int i = 0; i < 3; i++) {
		get = good_ones;
		*(i == 0 ? &get.ident : i == 1 ? &get.offset : &get.data) = 8;
		assert_int_equal(simkernel_ioctl(k, node,
				     HWTDI_HWT_IOC_BUFPTR_GET, &get),
		    -EFAULT);
	}
	get = good_ones;
	assert_int_equal(simkernel_ioctl(k, node, HWTDI_HWT_IOC_BUFPTR_GET,
			     &get),
	    0);
	/* None of them has to be there. */
	get = (struct hwtdi_hwt_bufptr_get){ 0 };
	assert_int_equal(simkernel_ioctl(k, node, HWTDI_HWT_IOC_BUFPTR_GET,
			     &get),
	    0);
	sim_destroy(k);
}

static void
sets_of_cpus_are_not_empty_and_readable(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident = -1;
	struct hwtdi_hwt_alloc a = { .bufsize = BUFSIZE,
		.mode = HWTDI_HWT_CPU,
		.backend_name = address("pt"),
		.ident = address(&ident),
		.cpusetsize = 8 };

	(void)state;
	assert_int_equal(simkernel_alloc(k, &a), -EFAULT);
	assert_int_equal(simkernel_alloc_cpus(k, "pt", 0, BUFSIZE, -1, &ident),
	    -ENODEV);
	assert_int_equal(simkernel_alloc_cpus(k, "pt", 2, BUFSIZE, -1, &ident),
	    0);
	assert_int_equal(simkernel_node(k, ident, 0), -ENOENT);
	assert_true(simkernel_node(k, ident, 1) >= 0);
	sim_destroy(k);
}

static void
wakeup_is_refused_in_cpu_mode(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident;

	(void)state;
	assert_int_equal(simkernel_alloc_cpus(k, "pt", 1, BUFSIZE, -1, &ident),
	    0);
	assert_int_equal(simkernel_plain(k, simkernel_node(k, ident, 0),
			     HWTDI_HWT_IOC_WAKEUP),
	    -ENXIO);
	sim_destroy(k);
}

/* A panic is written down once, and nothing of it is done. */
static void
panicked(struct sim_kernel *k, int rc)
{
	assert_int_equal(rc, -ENXIO);
	assert_int_equal(sim_panics(k), 1);
	print_message("%s\n", sim_panic(k, 0));
	sim_destroy(k);
}

static void
what_panics_a_kernel_in_alloc_is_written_down(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident, node;
	struct hwtdi_hwt_alloc a = good(k, &ident);

	(void)state;
	a.bufsize = 0;
	panicked(k, simkernel_alloc(k, &a));

	k = sim_create(NULL);
	panicked(k, simkernel_alloc_cpus(k, "pt", 4, BUFSIZE, -1, &ident));

	/* The nodes of the last owner are there for a while. */
	k = with_context(&ident, &node);
	sim_exit_caller(k);
	a = good(k, &ident);
	panicked(k, simkernel_alloc(k, &a));
	k = with_context(&ident, &node);
	sim_exit_caller(k);
	sim_advance(k, 10000000);
	a = good(k, &ident);
	assert_int_equal(simkernel_alloc(k, &a), 0);
	assert_int_equal(ident, 0);
	sim_destroy(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_control_node_takes_alloc_only),
		cmocka_unit_test(
		    a_machine_may_have_no_device_or_not_let_it_be_opened),
		cmocka_unit_test(alloc_checks_size_then_name_then_mode),
		cmocka_unit_test(backends_are_those_of_the_machine),
		cmocka_unit_test(
		    ident_is_written_before_the_process_is_looked_for),
		cmocka_unit_test(the_superuser_traces_no_process_of_others),
		cmocka_unit_test(
		    one_of_three_uids_is_enough_and_all_groups_are_needed),
		cmocka_unit_test(an_owner_has_one_context_of_a_process),
		cmocka_unit_test(a_thread_without_memory_fails_alloc),
		cmocka_unit_test(
		    a_new_process_may_inherit_the_trace_of_one_that_ended),
		cmocka_unit_test(the_lowest_ident_is_taken_and_256_are_all),
		cmocka_unit_test(nodes_count_threads_from_0_on),
		cmocka_unit_test(unknown_requests_of_contexts_succeed),
		cmocka_unit_test(
		    what_runs_is_not_started_and_what_stands_is_not_stopped),
		cmocka_unit_test(a_config_has_at_most_a_page),
		cmocka_unit_test(record_get_takes_1_to_1024_entries),
		cmocka_unit_test(
		    a_buffer_is_mapped_from_0_to_its_size_at_most),
		cmocka_unit_test(nobody_writes_to_a_buffer_or_reads_behind_it),
		cmocka_unit_test(a_node_may_not_let_itself_be_opened),
		cmocka_unit_test(a_context_lives_until_its_owner_exits),
		cmocka_unit_test(a_forked_process_owns_nothing_of_its_parent),
		cmocka_unit_test(every_request_is_for_the_owner_only),
		cmocka_unit_test(
		    a_position_is_written_to_memory_that_is_there),
		cmocka_unit_test(sets_of_cpus_are_not_empty_and_readable),
		cmocka_unit_test(wakeup_is_refused_in_cpu_mode),
		cmocka_unit_test(
		    what_panics_a_kernel_in_alloc_is_written_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
