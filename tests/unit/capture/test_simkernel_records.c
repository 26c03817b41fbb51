/*
 * Records of the simulated kernel: which there are, what they hold and hide, and
 * how threads and readers wait for one another.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simkernel_calls.h"

#define BUFSIZE (4 * PAGE)
#define PROG "/usr/local/bin/prog"
#define LIB "/lib/libc.so.7"

static struct hwtdi_hwt_entry got[64];

static const struct sim_step exec_and_map[] = {
	{ .op = SIM_EXEC,
	    .path = PROG,
	    .addr = 0x400000,
	    .base = 0x800000,
	    .interp = "/libexec/ld-elf.so.1",
	    .len = PAGE },
	{ .op = SIM_MMAP,
	    .path = LIB,
	    .addr = 0x900000,
	    .len = 2 * PAGE,
	    .off = PAGE },
	{ .op = SIM_MMAP,
	    .path = LIB,
	    .addr = 0xa00000,
	    .len = PAGE,
	    .prot = HWTDI_PROT_READ },
	{ .op = SIM_MMAP, .addr = 0xb00000, .len = PAGE },
	{ .op = SIM_MMAP,
	    .path = LIB,
	    .addr = 0xc00000,
	    .len = PAGE,
	    .flags = SIM_NO_PATH },
	{ .op = SIM_MUNMAP, .addr = 0x900000, .len = PAGE },
	{ .op = SIM_EXIT, .status = 3 },
};

/* A context of a process with these steps; out: its first node. */
static struct sim_kernel *
with_context(const struct sim_options *o, const struct sim_step *steps,
    size_t n, pid_t *pid, int *node)
{
	/* Time for what is called before. */
	const struct sim_step before = { .op = SIM_IDLE, .ns = 100000 };
	struct sim_kernel *k = sim_create(o);
	struct sim_program *program = sim_program(k, NULL);
	int ident;

	sim_add(program, &before);
	for (size_t i = 0; i < n; i++)
		sim_add(program, &steps[i]);
	*pid = sim_start(k, program, "target", 1);
	assert_int_equal(simkernel_alloc_thread(k, "pt", *pid, BUFSIZE,
			     &ident),
	    0);
	*node = simkernel_node(k, ident, 0);
	assert_true(*node >= 0);
	memset(got, 0xee, sizeof(got));
	return (k);
}

static void
a_program_that_is_started_tells_of_its_thread_then_its_image(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *s = sim_system(k);
	struct sim_program *program = sim_program(k, PROG);
	const struct hwtdi_spawn what = { .path = "prog" };
	struct hwtdi_exit e;
	int gate, ident, node;
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		sim_add(program, &exec_and_map[i]);
	assert_int_equal(s->spawn(s->state, &what, &pid, &gate), 0);
	s->sleep(s->state, 1000000000);
	assert_int_equal(s->ended(s->state, pid, &e), 0);
	assert_false(e.ended);
	assert_int_equal(simkernel_alloc_thread(k, "pt", pid, BUFSIZE, &ident),
	    0);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 1);
	assert_int_equal(got[0].type, HWTDI_HWT_ENTRY_THREAD_CREATE);
	assert_int_equal(got[0].u.thread_id, 0);

	assert_int_equal(s->release(s->state, gate, true), 0);
	assert_int_equal(s->release(s->state, gate, true), -EBADF);
	s->sleep(s->state, 1000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 3);
	assert_int_equal(got[0].type, HWTDI_HWT_ENTRY_EXECUTABLE);
	assert_string_equal(got[0].u.path.fullpath, PROG);
	assert_int_equal(got[0].u.path.addr, 0x400000);
	assert_int_equal(got[0].u.path.baseaddr, 0x800000);
	assert_int_equal(s->ended(s->state, pid, &e), 0);
	assert_true(e.ended);
	assert_int_equal(e.status, 3);
	assert_int_equal(s->ended(s->state, pid, &e), -ESRCH);
	sim_destroy(k);
}

static void
only_executable_mappings_of_files_with_a_path_are_told(void **state)
{
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(exec_and_map), &pid, &node);
	sim_run(k, 1000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 4);
	assert_int_equal(got[1].type, HWTDI_HWT_ENTRY_EXECUTABLE);
	assert_int_equal(got[2].type, HWTDI_HWT_ENTRY_MMAP);
	assert_int_equal(got[2].u.path.addr, 0x900000);
	assert_string_equal(got[2].u.path.fullpath, LIB);
	assert_int_equal(got[3].type, HWTDI_HWT_ENTRY_MUNMAP);
	sim_destroy(k);
}

static void
munmap_is_all_zero_and_base_of_mmap_is_garbage(void **state)
{
	static const uint8_t zero[HWTDI_HWT_ENTRY_SIZE - 4];
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(exec_and_map), &pid, &node);
	sim_run(k, 1000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 4);
	assert_memory_equal((uint8_t *)&got[3] + 4, zero, sizeof(zero));
	assert_true(got[2].u.path.baseaddr >> 40 != 0);
	/* Nothing but the entries is written. */
	assert_int_equal(*(uint8_t *)&got[4], 0xee);
	sim_destroy(k);
}

static void
entries_of_5bsd_are_longer_and_tell_more(void **state)
{
	const struct sim_options o = { .flavour = SIM_5BSD };
	const struct hwtdi_hwt_long_entry *entries = (const void *)got;
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(&o, STEPS(exec_and_map), &pid, &node);
	sim_run(k, 1000000);
	assert_int_equal(simkernel_records(k, node, got, 16, false), 4);
	assert_int_equal(entries[2].type, HWTDI_HWT_ENTRY_MMAP);
	assert_int_equal(entries[2].pgoff, PAGE);
	assert_int_equal(entries[2].len, 2 * PAGE);
	assert_int_equal(entries[3].type, HWTDI_HWT_ENTRY_MUNMAP);
	assert_int_equal(entries[3].u.path.addr, 0x900000);
	assert_int_equal(entries[3].len, 0);
	assert_int_equal(((const uint8_t *)got)[4 * 1072], 0xee);
	sim_destroy(k);
}

static void
one_entry_shows_the_stride(void **state)
{
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	for (int long_one = 0; long_one < 2; long_one++) {
		const struct sim_options o = {
			.flavour = long_one ? SIM_5BSD : SIM_STOCK
		};
		const size_t want = long_one ? 1072 : 1056;

		k = with_context(&o, STEPS(exec_and_map), &pid, &node);
		assert_int_equal(simkernel_records(k, node, got, 1, false), 1);
		assert_int_equal(((const uint8_t *)got)[want - 1], 0);
		assert_int_equal(((const uint8_t *)got)[want], 0xee);
		sim_destroy(k);
	}
}

static void
reading_takes_records_away_whoever_reads(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_THREAD_CREATE,
	    .number = 1 } };
	struct sim_kernel *k;
	int node, other;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(steps), &pid, &node);
	sim_run(k, 1000000);
	other = simkernel_node(k, 0, 1);
	assert_int_equal(simkernel_records(k, other, got, 1, false), 1);
	assert_int_equal(got[0].u.thread_id, 0);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 1);
	assert_int_equal(got[0].u.thread_id, 1);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 0);
	sim_destroy(k);
}

static void
entries_that_cannot_be_copied_are_lost(void **state)
{
	struct sim_totals totals;
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(exec_and_map), &pid, &node);
	sim_run(k, 1000000);
	assert_int_equal(simkernel_records(k, node, NULL, 2, false), -EFAULT);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 2);
	assert_int_equal(got[0].type, HWTDI_HWT_ENTRY_MMAP);
	sim_totals(k, &totals);
	assert_int_equal(totals.records_lost, 2);
	assert_int_equal(totals.records_queued, 4);
	sim_destroy(k);
}

static void
a_path_of_1024_bytes_has_no_end(void **state)
{
	char path[1025];
	const struct sim_step steps[] = {
		{ .op = SIM_MMAP, .path = path, .addr = PAGE, .len = PAGE }
	};
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	memset(path, 'p', 1024);
	path[1024] = '\0';
	k = with_context(NULL, STEPS(steps), &pid, &node);
	sim_run(k, 1000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 2);
	assert_memory_equal(got[1].u.path.fullpath, path, 1024);
	assert_int_equal(got[1].u.path.addr, PAGE);
	sim_destroy(k);
}

static void
kernel_files_come_last_loaded_first_and_only_in_cpu_mode(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident, node;

	(void)state;
	sim_add_module(k, "zfs.ko", "/boot/kernel/zfs.ko", 0x83000000, PAGE);
	assert_int_equal(simkernel_alloc_cpus(k, "pt", 1, BUFSIZE, -1, &ident),
	    0);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 4);
	assert_int_equal(got[0].type, HWTDI_HWT_ENTRY_KERNEL);
	assert_string_equal(got[0].u.path.fullpath, "zfs.ko");
	assert_int_equal(got[0].u.path.addr, 0x83000000);
	assert_int_equal(got[0].u.path.baseaddr, 0);
	assert_string_equal(got[3].u.path.fullpath, "kernel");
	/* What is loaded later is not told. */
	sim_add_module(k, "late.ko", NULL, 0x84000000, PAGE);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 0);
	sim_destroy(k);
}

static void
a_wait_lasts_until_a_record_comes(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_MMAP,
	    .path = LIB,
	    .addr = PAGE,
	    .len = PAGE,
	    .ns = 7000000 } };
	const struct hwtdi_system *s;
	struct sim_kernel *k;
	uint64_t begin;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(steps), &pid, &node);
	s = sim_system(k);
	begin = s->now(s->state);
	assert_int_equal(simkernel_records(k, node, got, 9, true), 1);
	assert_true(s->now(s->state) - begin < 1000000);
	assert_int_equal(simkernel_records(k, node, got, 9, true), 1);
	assert_int_equal(got[0].type, HWTDI_HWT_ENTRY_MMAP);
	assert_true(s->now(s->state) - begin > 5000000);
	assert_int_equal(sim_hangs(k), 0);
	sim_destroy(k);
}

static void
a_signal_ends_a_wait_with_no_records_and_no_error(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_IDLE,
	    .ns = 1000000000 } };
	const struct hwtdi_system *s;
	struct sim_kernel *k;
	uint64_t begin;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(steps), &pid, &node);
	s = sim_system(k);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 1);
	begin = s->now(s->state);
	sim_signal_caller(k, 3000000);
	assert_int_equal(simkernel_records(k, node, got, 9, true), 0);
	assert_true(s->now(s->state) - begin < 5000000);
	assert_int_equal(sim_hangs(k), 0);
	sim_destroy(k);
}

static void
a_wait_for_nothing_is_a_hang(void **state)
{
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, NULL, 0, &pid, &node);
	assert_int_equal(simkernel_records(k, node, got, 9, true), 1);
	assert_int_equal(sim_hangs(k), 0);
	assert_int_equal(simkernel_records(k, node, got, 9, true), 0);
	assert_int_equal(sim_hangs(k), 1);
	sim_destroy(k);
}

static void
a_wakeup_can_be_lost_until_the_next_record(void **state)
{
	const struct sim_options o = { .lose_wakeups = true };
	const struct sim_step steps[] = {
		{ .op = SIM_MMAP,
		    .path = LIB,
		    .addr = PAGE,
		    .len = PAGE,
		    .ns = 1000000 },
		{ .op = SIM_MUNMAP,
		    .addr = PAGE,
		    .len = PAGE,
		    .ns = 50000000 },
	};
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(&o, STEPS(steps), &pid, &node);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 1);
	assert_int_equal(simkernel_records(k, node, got, 9, true), 2);
	sim_destroy(k);
}

static const struct sim_step mmap_twice[] = {
	{ .op = SIM_MMAP,
	    .path = LIB,
	    .addr = PAGE,
	    .len = PAGE,
	    .ns = 1000000 },
	{ .op = SIM_MMAP,
	    .path = LIB,
	    .addr = 2 * PAGE,
	    .len = PAGE,
	    .ns = 1000000 },
	{ .op = SIM_IDLE, .ns = 1000000000 },
};

static const char *
wmesg(struct sim_kernel *k, pid_t pid, size_t i)
{
	static struct hwtdi_thread threads[4];
	const struct hwtdi_system *s = sim_system(k);
	size_t n;

	assert_int_equal(s->threads(s->state, pid, threads, 4, &n), 0);
	assert_true(i < n);
	return (threads[i].wmesg);
}

static void
a_thread_sleeps_after_its_record_until_its_node_wakes_it(void **state)
{
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(mmap_twice), &pid, &node);
	assert_int_equal(simkernel_config(k, node, NULL, 0, 0, true), 0);
	sim_advance(k, 100000000);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 2);
	assert_string_equal(wmesg(k, pid, 0), "hwt-mmap");
	sim_advance(k, 100000000);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_WAKEUP), 0);
	sim_advance(k, 100000000);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 1);
	assert_string_equal(wmesg(k, pid, 0), "hwt-mmap");
	/* The exit of the owner wakes it too. */
	sim_exit_caller(k);
	assert_string_not_equal(wmesg(k, pid, 0), "hwt-mmap");
	sim_destroy(k);
}

static void
a_wakeup_before_the_sleep_is_lost(void **state)
{
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(mmap_twice), &pid, &node);
	assert_int_equal(simkernel_config(k, node, NULL, 0, 0, true), 0);
	assert_int_equal(simkernel_records(k, node, got, 9, true), 1);
	/* The record is there, the thread sleeps not yet. */
	assert_int_equal(simkernel_records(k, node, got, 9, true), 1);
	assert_string_not_equal(wmesg(k, pid, 0), "hwt-mmap");
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_WAKEUP), 0);
	sim_advance(k, 100000000);
	assert_string_equal(wmesg(k, pid, 0), "hwt-mmap");
	assert_int_equal(simkernel_records(k, node, got, 9, true), 0);
	assert_int_equal(sim_hangs(k), 1);
	sim_destroy(k);
}

static void
a_signal_that_is_caught_ends_the_sleep(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_MMAP, .path = LIB, .addr = PAGE, .len = PAGE },
		{ .op = SIM_MMAP, .path = LIB, .addr = 2 * PAGE, .len = PAGE },
		{ .op = SIM_THREAD_CREATE, .thread = 1, .number = 2 },
		{ .op = SIM_CAUGHT, .thread = 1, .ns = 50000000, .number = 0 },
	};
	struct sim_program *program;
	struct sim_kernel *k = sim_create(NULL);
	int ident, node;
	pid_t pid;

	(void)state;
	program = sim_program(k, NULL);
	sim_add(program, &(struct sim_step){ .op = SIM_IDLE, .ns = 100000 });
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		sim_add(program, &steps[i]);
	pid = sim_start(k, program, "target", 2);
	assert_int_equal(simkernel_alloc_thread(k, "pt", pid, BUFSIZE, &ident),
	    0);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_config(k, node, NULL, 0, 0, true), 0);
	sim_advance(k, 10000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 3 + 1);
	assert_string_equal(wmesg(k, pid, 0), "hwt-mmap");
	sim_advance(k, 50000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 1);
	assert_int_equal(got[0].u.path.addr, 2 * PAGE);
	sim_destroy(k);
}

static void
a_node_wakes_its_own_thread_only(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_THREAD_CREATE, .number = 1 },
		{ .op = SIM_MMAP,
		    .thread = 1,
		    .path = LIB,
		    .addr = PAGE,
		    .len = PAGE },
		{ .op = SIM_IDLE, .ns = 1000000000 },
	};
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(steps), &pid, &node);
	assert_int_equal(simkernel_config(k, node, NULL, 0, 0, true), 0);
	sim_advance(k, 1000000);
	assert_string_equal(wmesg(k, pid, 1), "hwt-mmap");
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_WAKEUP), 0);
	assert_string_equal(wmesg(k, pid, 1), "hwt-mmap");
	node = simkernel_node(k, 0, 1);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_WAKEUP), 0);
	assert_string_not_equal(wmesg(k, pid, 1), "hwt-mmap");
	sim_destroy(k);
}

static void
a_thread_without_memory_burns_an_index_and_runs_untraced(void **state)
{
	static const uint8_t byte = 7;
	const struct sim_step steps[] = {
		{ .op = SIM_THREAD_CREATE, .number = 1, .ns = 1000000 },
		{ .op = SIM_THREAD_CREATE, .number = 2, .ns = 1000000 },
		{ .op = SIM_TRACE, .thread = 1, .bytes = &byte, .n = 1 },
		{ .op = SIM_EXIT },
	};
	struct sim_totals totals;
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(steps), &pid, &node);
	sim_fail_threads(k, 1);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	sim_run(k, 10000000);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 2);
	assert_int_equal(got[0].u.thread_id, 0);
	assert_int_equal(got[1].u.thread_id, 2);
	assert_int_equal(simkernel_node(k, 0, 1), -ENOENT);
	assert_true(simkernel_node(k, 0, 2) >= 0);
	sim_totals(k, &totals);
	assert_int_equal(totals.bytes_untraced, 1);
	assert_int_equal(totals.threads_failed, 1);
	/* The owner never gets rid of the context. */
	assert_int_equal(sim_hangs(k), 0);
	sim_exit_caller(k);
	assert_int_equal(sim_hangs(k), 1);
	sim_destroy(k);
}

static void
children_of_the_target_and_its_exit_are_not_told(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_FORK_CHILD, .path = PROG },
		{ .op = SIM_IDLE, .ns = 1000000 },
		{ .op = SIM_EXIT, .ns = 1000000 },
	};
	struct sim_program *child;
	struct sim_kernel *k;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, STEPS(steps), &pid, &node);
	child = sim_program(k, PROG);
	sim_add(child, &exec_and_map[0]);
	sim_add(child, &exec_and_map[1]);
	sim_run(k, 1000000000);
	assert_int_equal(simkernel_records(k, node, got, 9, false), 1);
	/* The node outlives the thread. */
	assert_true(simkernel_node(k, 0, 0) >= 0);
	sim_destroy(k);
}

static void
mappings_are_what_was_mapped_and_not_cut_out(void **state)
{
	struct hwtdi_vm_entry maps[8];
	const struct hwtdi_system *s;
	struct sim_kernel *k;
	size_t n;
	int node;
	pid_t pid;

	(void)state;
	k = with_context(NULL, exec_and_map, 6, &pid, &node);
	s = sim_system(k);
	sim_run(k, 1000000);
	assert_int_equal(s->mappings(s->state, pid, maps, 1, &n), 0);
	assert_int_equal(n, 6);
	assert_string_equal(maps[0].path, PROG);
	assert_int_equal(s->mappings(s->state, pid, maps, 8, &n), 0);
	assert_string_equal(maps[1].path, "/libexec/ld-elf.so.1");
	assert_int_equal(maps[1].start, 0x800000);
	/* Its first page is gone. */
	for (size_t i = 0; i < n; i++) {
		assert_true(maps[i].start != 0x900000);
		if (maps[i].start == 0x901000) {
			assert_int_equal(maps[i].end, 0x902000);
			assert_int_equal(maps[i].file_off, 2 * PAGE);
		}
	}
	sim_destroy(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_program_that_is_started_tells_of_its_thread_then_its_image),
		cmocka_unit_test(
		    only_executable_mappings_of_files_with_a_path_are_told),
		cmocka_unit_test(
		    munmap_is_all_zero_and_base_of_mmap_is_garbage),
		cmocka_unit_test(entries_of_5bsd_are_longer_and_tell_more),
		cmocka_unit_test(one_entry_shows_the_stride),
		cmocka_unit_test(reading_takes_records_away_whoever_reads),
		cmocka_unit_test(entries_that_cannot_be_copied_are_lost),
		cmocka_unit_test(a_path_of_1024_bytes_has_no_end),
		cmocka_unit_test(
		    kernel_files_come_last_loaded_first_and_only_in_cpu_mode),
		cmocka_unit_test(a_wait_lasts_until_a_record_comes),
		cmocka_unit_test(
		    a_signal_ends_a_wait_with_no_records_and_no_error),
		cmocka_unit_test(a_wait_for_nothing_is_a_hang),
		cmocka_unit_test(a_wakeup_can_be_lost_until_the_next_record),
		cmocka_unit_test(
		    a_thread_sleeps_after_its_record_until_its_node_wakes_it),
		cmocka_unit_test(a_wakeup_before_the_sleep_is_lost),
		cmocka_unit_test(a_signal_that_is_caught_ends_the_sleep),
		cmocka_unit_test(a_node_wakes_its_own_thread_only),
		cmocka_unit_test(
		    a_thread_without_memory_burns_an_index_and_runs_untraced),
		cmocka_unit_test(
		    children_of_the_target_and_its_exit_are_not_told),
		cmocka_unit_test(mappings_are_what_was_mapped_and_not_cut_out),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
