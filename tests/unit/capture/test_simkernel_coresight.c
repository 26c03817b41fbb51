/*
 * The simulated driver of CoreSight, as forks have it: one ring for all.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simkernel_calls.h"

#define BUFSIZE (4 * PAGE)

static uint8_t bytes[16 * PAGE];
static const uint8_t config[816];

static int
set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(1 + i % 251);
	return (0);
}

/* Of CPUs, or (0) of the process; out: its context. */
static struct sim_kernel *
configured(const struct sim_options *o, const struct sim_step *steps, size_t n,
    uint64_t cpus, int *ident)
{
	struct sim_options options = { 0 };
	struct sim_kernel *k;
	pid_t pid;

	if (o != NULL)
		options = *o;
	options.arch = SIM_ARM64;
	options.flavour = SIM_FORK;
	k = sim_create(&options);
	pid = simkernel_run(k, steps, n, 2);
	if (cpus != 0)
		assert_int_equal(simkernel_alloc_cpus(k, "coresight", cpus,
				     BUFSIZE, -1, ident),
		    0);
	else
		assert_int_equal(simkernel_alloc_thread(k, "coresight", pid,
				     BUFSIZE, ident),
		    0);
	return (k);
}

static struct sim_kernel *
started(const struct sim_options *o, const struct sim_step *steps, size_t n,
    uint64_t cpus, int *ident)
{
	struct sim_kernel *k = configured(o, steps, n, cpus, ident);
	const int node = simkernel_node(k, *ident, cpus & 2 ? 1 : 0);

	assert_int_equal(simkernel_config(k, node, config, 816, 1, false), 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	return (k);
}

static const struct sim_step two_threads[] = {
	{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 64 },
	{ .op = SIM_TRACE,
	    .ns = 2000000,
	    .thread = 1,
	    .cpu = 1,
	    .bytes = bytes + 64,
	    .n = 64 },
	{ .op = SIM_TRACE, .ns = 3000000, .bytes = bytes + 128, .n = PAGE },
};

static void
all_threads_write_to_the_node_of_the_first(void **state)
{
	struct simkernel_position p;
	const struct hwtdi_system *s;
	struct sim_kernel *k;
	struct sim_buffer b;
	const void *ring;
	int ident;

	(void)state;
	k = started(NULL, STEPS(two_threads), 0, &ident);
	s = sim_system(k);
	sim_run(k, 100000000);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, 128 + PAGE);
	assert_memory_equal(b.bytes, bytes, b.n);
	sim_buffer(k, 1, &b);
	assert_int_equal(b.n, 0);
	assert_int_equal(s->mmap(s->state, simkernel_node(k, ident, 0),
			     BUFSIZE, &ring),
	    0);
	assert_memory_equal(ring, bytes, 128 + PAGE);
	assert_int_equal(simkernel_position(k, simkernel_node(k, ident, 0),
			     &p),
	    0);
	assert_int_equal(p.ident, 1);
	assert_int_equal(p.offset, 128);
	assert_int_equal(p.data, 0);
	assert_int_equal(simkernel_position(k, simkernel_node(k, ident, 1),
			     &p),
	    -ENOENT);
	sim_destroy(k);
}

static void
all_cpus_write_to_the_node_of_the_first_of_the_set(void **state)
{
	struct sim_buffer b;
	struct sim_kernel *k;
	int ident;

	(void)state;
	k = started(NULL, STEPS(two_threads), 3, &ident);
	sim_run(k, 100000000);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.id, 0);
	assert_int_equal(b.n, 128 + PAGE);
	sim_destroy(k);
	k = started(NULL, STEPS(two_threads), 2, &ident);
	sim_run(k, 100000000);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.id, 1);
	assert_int_equal(b.n, 64);
	sim_destroy(k);
}

static void
the_pointer_is_live_and_wraps(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 160,
		    .piece = 16,
		    .piece_ns = 1000000,
		    .flags = SIM_STAY },
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes + 160,
		    .n = BUFSIZE },
	};
	struct simkernel_position p;
	struct sim_kernel *k;
	struct sim_buffer b;
	int ident, node;

	(void)state;
	k = configured(NULL, STEPS(steps), 0, &ident);
	node = simkernel_node(k, ident, 0);
	/* It points nowhere yet. */
	assert_int_equal(simkernel_position(k, node, &p), -ENOENT);
	assert_int_equal(simkernel_config(k, node, config, 816, 1, false), 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	sim_advance(k, 2500000);
	assert_int_equal(simkernel_position(k, node, &p), 0);
	assert_int_equal(p.offset, 32);
	sim_advance(k, 1000000);
	assert_int_equal(simkernel_position(k, node, &p), 0);
	assert_int_equal(p.offset, 48);
	sim_run(k, 100000000);
	assert_int_equal(simkernel_position(k, node, &p), 0);
	assert_int_equal(p.ident, 0);
	assert_int_equal(p.offset, 160);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.fates[0], SIM_OVERWRITTEN);
	/* These came and went during one call. */
	assert_int_equal(b.fates[159], SIM_UNREADABLE);
	assert_int_equal(b.fates[160], SIM_THERE);
	sim_destroy(k);
}

static void
the_fifo_keeps_the_last_bytes_until_the_end(void **state)
{
	const struct sim_options o = { .etf_bytes = 64 };
	struct simkernel_position p;
	struct sim_kernel *k;
	struct sim_buffer b;
	int ident;

	(void)state;
	k = started(&o, STEPS(two_threads), 0, &ident);
	sim_run(k, 100000000);
	assert_int_equal(simkernel_position(k, simkernel_node(k, ident, 0),
			     &p),
	    0);
	assert_int_equal(p.ident, 1);
	assert_int_equal(p.offset, 64);
	sim_exit_caller(k);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, PAGE + 128);
	assert_memory_equal(b.bytes, bytes, b.n);
	assert_int_equal(b.fates[PAGE + 63], SIM_THERE);
	assert_int_equal(b.fates[PAGE + 64], SIM_DROPPED);
	sim_destroy(k);
}

static void
a_second_context_never_gets_there(void **state)
{
	struct sim_kernel *k;
	int ident;

	(void)state;
	k = configured(NULL, NULL, 0, 0, &ident);
	assert_int_equal(simkernel_alloc_cpus(k, "coresight", 1, BUFSIZE, -1,
			     &ident),
	    -ENXIO);
	assert_int_equal(sim_hangs(k), 1);
	sim_destroy(k);
}

static void
a_config_of_another_size_or_version_is_a_risk(void **state)
{
	static const struct {
		size_t size;
		int version;
		size_t risks;
	} cases[] = { { 816, 1, 0 }, { 815, 1, 1 }, { 816, 2, 1 },
		{ 0, 1, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_kernel *k;
		int ident, node;

		k = configured(NULL, NULL, 0, 0, &ident);
		node = simkernel_node(k, ident, 0);
		assert_int_equal(simkernel_config(k, node, config,
				     cases[i].size, cases[i].version, false),
		    0);
		assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START),
		    0);
		assert_int_equal(sim_risks(k), cases[i].risks);
		assert_int_equal(sim_panics(k), 0);
		sim_destroy(k);
	}
}

static void
stop_and_svc_buf_panic(void **state)
{
	struct sim_kernel *k;
	int ident, node;

	(void)state;
	k = started(NULL, NULL, 0, 0, &ident);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_STOP), -ENXIO);
	assert_int_equal(simkernel_svc_buf(k, node, 0, 0), -ENXIO);
	assert_int_equal(sim_panics(k), 2);
	sim_destroy(k);
}

static void
frames_are_never_cut(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 50; seed++) {
		const struct sim_options o = { .seed = seed };
		struct simkernel_position p;
		struct sim_kernel *k;
		int ident, node;

		k = started(&o, STEPS(two_threads), 3, &ident);
		node = simkernel_node(k, ident, 0);
		for (int i = 0; i < 50; i++) {
			assert_int_equal(simkernel_position(k, node, &p), 0);
			assert_int_equal(p.offset % 16, 0);
			sim_advance(k, 100000);
		}
		sim_destroy(k);
	}
}

static void
id_registers_are_sysctls_of_each_unit(void **state)
{
	struct sim_kernel *k;
	const struct hwtdi_system *s;
	uint32_t value;
	size_t size = sizeof(value);
	int ident;

	(void)state;
	k = configured(NULL, NULL, 0, 0, &ident);
	s = sim_system(k);
	assert_int_equal(s->sysctl(s->state, "dev.coresight_etm4x.1.idr13",
			     &value, &size),
	    0);
	assert_int_equal(size, 4);
	assert_int_equal(s->sysctl(s->state, "dev.coresight_etm4x.2.idr0",
			     &value, &size),
	    -ENOENT);
	sim_destroy(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_threads_write_to_the_node_of_the_first),
		cmocka_unit_test(
		    all_cpus_write_to_the_node_of_the_first_of_the_set),
		cmocka_unit_test(the_pointer_is_live_and_wraps),
		cmocka_unit_test(the_fifo_keeps_the_last_bytes_until_the_end),
		cmocka_unit_test(a_second_context_never_gets_there),
		cmocka_unit_test(
		    a_config_of_another_size_or_version_is_a_risk),
		cmocka_unit_test(stop_and_svc_buf_panic),
		cmocka_unit_test(frames_are_never_cut),
		cmocka_unit_test(id_registers_are_sysctls_of_each_unit),
	};

	return (cmocka_run_group_tests(tests, set_up, NULL));
}
