/*
 * The simulated driver of Intel PT does what its sources say.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simkernel_calls.h"

#define KB256 (64 * PAGE)

/* Bytes that differ from one another, and from 0. */
static uint8_t bytes[16 * PAGE];

static int
set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(1 + i % 251);
	return (0);
}

/* A process with these steps is traced; out: its node. */
static struct sim_kernel *
traced(const struct sim_options *o, const struct sim_step *steps, size_t n,
    uint64_t bufsize, int *node)
{
	struct sim_kernel *k = sim_create(o);
	const pid_t pid = simkernel_run(k, steps, n, 1);
	int ident;

	assert_int_equal(simkernel_alloc_thread(k, "pt", pid, bufsize, &ident),
	    0);
	*node = simkernel_node(k, ident, 0);
	assert_true(*node >= 0);
	assert_int_equal(simkernel_config(k, *node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, *node, HWTDI_HWT_IOC_START), 0);
	return (k);
}

static const uint8_t *
map(struct sim_kernel *k, int node, size_t len)
{
	const struct hwtdi_system *s = sim_system(k);
	const void *at;

	assert_int_equal(s->mmap(s->state, node, len, &at), 0);
	return (at);
}

static void
the_ring_begins_anew_with_each_switch(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 300 },
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes + 1000,
		    .n = 100 },
		{ .op = SIM_IDLE, .ns = 1000000000 },
	};
	struct simkernel_position at;
	struct sim_buffer b;
	struct sim_kernel *k;
	const uint8_t *ring;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	ring = map(k, node, KB256);
	sim_advance(k, 1500000);
	assert_memory_equal(ring, bytes, 300);
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.ident, 0);
	assert_int_equal(at.offset, 300);

	sim_advance(k, 1000000);
	assert_memory_equal(ring, bytes + 1000, 100);
	/* The tail of the longer slice before. */
	assert_memory_equal(ring + 100, bytes + 100, 200);
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.offset, 100);

	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, 400);
	assert_int_equal(b.n_slices, 2);
	assert_int_equal(b.fates[0], SIM_OVERWRITTEN);
	assert_int_equal(b.fates[99], SIM_OVERWRITTEN);
	assert_int_equal(b.fates[100], SIM_THERE);
	assert_int_equal(sim_panics(k), 0);
	sim_destroy(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ring_begins_anew_with_each_switch),
	};

	return (cmocka_run_group_tests(tests, set_up, NULL));
}
