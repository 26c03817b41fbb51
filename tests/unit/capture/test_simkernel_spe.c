/*
 * The simulated driver of Arm SPE: halves of buffers, the queue that is one for
 * all, and events.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simkernel_calls.h"

#define BUFSIZE (2 * PAGE)
#define HALF PAGE

static uint8_t bytes[8 * PAGE];

static int
set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(1 + i % 251);
	return (0);
}

struct capture {
	struct sim_kernel *k;
	const struct hwtdi_system *s;
	pid_t pid;
	int ident;
	int node;
	int kq;
	const uint8_t *ring;
};

/* Of the CPUs, or (0) of the process that does the steps; started. */
static struct capture
started(const struct sim_options *o, const struct sim_step *steps, size_t n,
    uint64_t cpus)
{
	struct sim_options options = { .arch = SIM_ARM64 };
	struct capture c = { 0 };
	const void *ring;

	if (o != NULL)
		options = *o;
	options.arch = SIM_ARM64;
	c.k = sim_create(&options);
	c.s = sim_system(c.k);
	c.pid = simkernel_run(c.k, steps, n, 1);
	c.kq = c.s->kqueue(c.s->state);
	assert_true(c.kq >= 0);
	assert_int_equal(c.s->kevent_add(c.s->state, c.kq, 138), 0);
	assert_int_equal(c.s->kevent_add(c.s->state, c.kq, 139), 0);
	if (cpus != 0) {
		assert_int_equal(simkernel_alloc_cpus(c.k, "spe", cpus,
				     BUFSIZE, c.kq, &c.ident),
		    0);
	} else {
		static const char name[] = "spe";
		struct hwtdi_hwt_alloc a = { .bufsize = BUFSIZE,
			.mode = HWTDI_HWT_THREAD,
			.pid = c.pid,
			.backend_name = (uint64_t)(uintptr_t)name,
			.ident = (uint64_t)(uintptr_t)&c.ident,
			.kqueue_fd = c.kq };

		assert_int_equal(simkernel_alloc(c.k, &a), 0);
	}
	c.node = simkernel_node(c.k, c.ident, 0);
	assert_int_equal(c.s->mmap(c.s->state, c.node, BUFSIZE, &ring), 0);
	c.ring = ring;
	assert_int_equal(simkernel_config(c.k, c.node, &simkernel_spe_config,
			     sizeof(simkernel_spe_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(c.k, c.node, HWTDI_HWT_IOC_START), 0);
	return (c);
}

static void
entry(struct capture *c, int ident, uint64_t n, uint64_t data)
{
	struct simkernel_position p;

	assert_int_equal(simkernel_position(c->k, c->node, &p), 0);
	assert_int_equal(p.ident, ident);
	assert_int_equal(p.offset, n);
	assert_int_equal(p.data, data);
}

static void
no_entry(struct capture *c)
{
	struct simkernel_position p;

	assert_int_equal(simkernel_position(c->k, c->node, &p), -ENOENT);
}

static int
events(struct capture *c, struct hwtdi_kevent out[4])
{
	return (c->s->kevent_wait(c->s->state, c->kq, out, 4, 0));
}

static void
a_buffer_has_two_pages_and_is_aligned(void **state)
{
	const struct sim_options o = { .arch = SIM_ARM64, .spe_align = 8192 };
	struct sim_kernel *k = sim_create(&o);
	int ident;

	(void)state;
	assert_int_equal(simkernel_alloc_cpus(k, "spe", 1, PAGE, -1, &ident),
	    -EINVAL);
	assert_int_equal(simkernel_alloc_cpus(k, "spe", 1, 3 * PAGE, -1,
			     &ident),
	    -EINVAL);
	assert_int_equal(simkernel_alloc_cpus(k, "spe", 1, 4 * PAGE, -1,
			     &ident),
	    0);
	sim_destroy(k);
}

static void
older_kernels_trace_cpus_only(void **state)
{
	const struct sim_options o = { .arch = SIM_ARM64,
		.spe_cpu_mode_only = true };
	struct sim_kernel *k = sim_create(&o);
	const pid_t pid = simkernel_run(k, NULL, 0, 1);
	int ident;

	(void)state;
	assert_int_equal(simkernel_alloc_thread(k, "spe", pid, BUFSIZE,
			     &ident),
	    -ENOTSUP);
	assert_int_equal(simkernel_alloc_cpus(k, "spe", 1, BUFSIZE, -1,
			     &ident),
	    0);
	sim_destroy(k);
}

static void
a_half_that_is_full_is_queued_and_told(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_TRACE,
	    .ns = 1000000,
	    .bytes = bytes,
	    .n = HALF + 64,
	    .piece = 64 } };
	struct hwtdi_kevent e[4];
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 1);
	no_entry(&c);
	assert_int_equal(events(&c, e), 0);
	sim_run(c.k, 10000000);
	assert_int_equal(events(&c, e), 1);
	assert_int_equal(e[0].ident, 138);
	assert_int_equal(e[0].data, 1);
	/* It is cleared. */
	assert_int_equal(events(&c, e), 0);
	entry(&c, 0, HALF, 0);
	no_entry(&c);
	assert_memory_equal(c.ring, bytes, HALF + 64);
	sim_destroy(c.k);
}

static void
a_record_that_does_not_fit_ends_the_half(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_TRACE,
	    .ns = 1000000,
	    .bytes = bytes,
	    .n = 5 * 1000,
	    .piece = 1000 } };
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 1);
	sim_run(c.k, 10000000);
	entry(&c, 0, 4000, 0);
	assert_memory_equal(c.ring + HALF, bytes + 4000, 1000);
	sim_destroy(c.k);
}

static void
sampling_stands_while_both_halves_wait(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 2 * HALF + 100 },
		{ .op = SIM_TRACE,
		    .ns = 10000000,
		    .bytes = bytes + 3 * HALF,
		    .n = 10 },
	};
	struct sim_buffer b;
	struct hwtdi_kevent e[4];
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 1);
	sim_advance(c.k, 5000000);
	/* Events are one. */
	assert_int_equal(events(&c, e), 1);
	assert_int_equal(e[0].data, 2);
	entry(&c, 0, HALF, 0);
	entry(&c, 0, HALF, 1);
	no_entry(&c);
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 0, 0), 0);
	sim_run(c.k, 100000000);
	assert_memory_equal(c.ring, bytes + 3 * HALF, 10);
	sim_buffer(c.k, 0, &b);
	assert_int_equal(b.n, 2 * HALF + 110);
	assert_int_equal(b.fates[2 * HALF], SIM_DROPPED);
	assert_int_equal(b.fates[2 * HALF + 99], SIM_DROPPED);
	assert_int_equal(b.fates[2 * HALF + 100], SIM_THERE);
	assert_int_equal(b.fates[0], SIM_OVERWRITTEN);
	sim_destroy(c.k);
}

static void
service_in_time_loses_nothing(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 4 * HALF,
		    .piece = 256,
		    .piece_ns = 100000 },
	};
	struct sim_buffer b;
	struct capture c;
	unsigned n = 0;

	(void)state;
	c = started(NULL, STEPS(steps), 1);
	while (n < 4) {
		struct hwtdi_kevent e[4];

		assert_int_equal(c.s->kevent_wait(c.s->state, c.kq, e, 4,
				     1000000000),
		    1);
		entry(&c, 0, HALF, n % 2);
		assert_memory_equal(c.ring + n % 2 * HALF, bytes + n * HALF,
		    HALF);
		assert_int_equal(simkernel_svc_buf(c.k, c.node, 0, n % 2), 0);
		n++;
	}
	sim_buffer(c.k, 0, &b);
	for (size_t i = 0; i < b.n; i++)
		assert_true(b.fates[i] != SIM_DROPPED &&
		    b.fates[i] != SIM_UNREADABLE);
	sim_destroy(c.k);
}

static void
stop_queues_what_is_left_of_each_cpu_then_tells(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 64 },
		{ .op = SIM_TRACE, .cpu = 1, .bytes = bytes, .n = HALF + 128 },
		{ .op = SIM_TRACE, .ns = 50000000, .bytes = bytes, .n = 64 },
	};
	struct sim_totals totals;
	struct hwtdi_kevent e[4];
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 3);
	sim_advance(c.k, 10000000);
	assert_int_equal(events(&c, e), 1);
	assert_int_equal(simkernel_plain(c.k, c.node, HWTDI_HWT_IOC_STOP), 0);
	assert_int_equal(events(&c, e), 1);
	assert_int_equal(e[0].ident, 139);
	entry(&c, 1, HALF, 0);
	entry(&c, 0, 64, 4);
	entry(&c, 1, 128, 4 | 1);
	no_entry(&c);
	/* No service after that. */
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 1, 0), -ENXIO);
	assert_int_equal(simkernel_plain(c.k, c.node, HWTDI_HWT_IOC_STOP),
	    -ENXIO);
	sim_run(c.k, 100000000);
	sim_totals(c.k, &totals);
	assert_int_equal(totals.bytes_untraced, 64);
	assert_int_equal(sim_panics(c.k), 0);
	sim_destroy(c.k);
}

static void
there_may_be_several_last_entries(void **state)
{
	unsigned more = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 64; seed++) {
		const struct sim_options o = { .seed = seed };
		struct capture c = started(&o, NULL, 0, 1);
		struct simkernel_position p;
		unsigned n = 0;

		assert_int_equal(simkernel_plain(c.k, c.node,
				     HWTDI_HWT_IOC_STOP),
		    0);
		while (simkernel_position(c.k, c.node, &p) == 0) {
			assert_true((p.data & 4) != 0);
			n++;
		}
		assert_true(n >= 1);
		more += n > 1;
		sim_destroy(c.k);
	}
	assert_true(more > 0 && more < 64);
}

static void
a_cut_record_marks_all_entries_from_then_on(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = HALF,
		    .flags = SIM_PARTIAL },
	};
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 1);
	sim_run(c.k, 10000000);
	entry(&c, 0, HALF, 2);
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 0, 0), 0);
	assert_int_equal(simkernel_plain(c.k, c.node, HWTDI_HWT_IOC_STOP), 0);
	entry(&c, 0, 0, 4 | 2 | 1);
	sim_destroy(c.k);
}

static void
entries_outlive_their_context(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = HALF }
	};
	struct capture c;
	int ident;

	(void)state;
	c = started(NULL, STEPS(steps), 1);
	sim_run(c.k, 10000000);
	sim_exit_caller(c.k);
	sim_advance(c.k, 10000000);
	assert_int_equal(simkernel_alloc_cpus(c.k, "spe", 2, BUFSIZE, -1,
			     &ident),
	    0);
	c.node = simkernel_node(c.k, ident, 1);
	entry(&c, 0, HALF, 0);
	no_entry(&c);
	sim_destroy(c.k);
}

static void
service_is_refused_for_what_there_is_not(void **state)
{
	const struct hwtdi_hwt_spe_svc_buf data = { .ident = 0 };
	struct hwtdi_hwt_svc_buf svc = { .data = (uint64_t)(uintptr_t)&data,
		.data_version = 1 };
	const struct {
		uint64_t size;
		int version;
		int want;
	} cases[] = { { 0, 1, -EINVAL }, { PAGE + 1, 1, -EINVAL },
		{ 7, 2, -E2BIG }, { 9, 1, -E2BIG }, { 8, 2, -EINVAL },
		{ 8, 1, 0 } };
	struct capture c;

	(void)state;
	c = started(NULL, NULL, 0, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		svc.data_size = cases[i].size;
		svc.data_version = cases[i].version;
		assert_int_equal(simkernel_ioctl(c.k, c.node,
				     HWTDI_HWT_IOC_SVC_BUF, &svc),
		    cases[i].want);
	}
	svc.data = 0;
	assert_int_equal(simkernel_ioctl(c.k, c.node, HWTDI_HWT_IOC_SVC_BUF,
			     &svc),
	    -EFAULT);
	/* CPU 2 is not there; CPU 1 is not traced. */
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 2, 0), -EINVAL);
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 1, 0), -ENXIO);
	sim_destroy(c.k);
	c = started(NULL, NULL, 0, 0);
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 0, 0), 0);
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 5, 0), -ENOENT);
	sim_destroy(c.k);
}

static void
threads_go_on_where_they_were(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 64 },
		{ .op = SIM_TRACE, .cpu = 1, .bytes = bytes + 64, .n = 64 },
	};
	struct sim_buffer b;
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 0);
	sim_run(c.k, 10000000);
	assert_memory_equal(c.ring, bytes, 128);
	sim_buffer(c.k, 0, &b);
	assert_int_equal(b.n_slices, 2);
	assert_int_equal(b.slices[1].at, 64);
	assert_int_equal(b.slices[1].cpu, 1);
	assert_int_equal(simkernel_plain(c.k, c.node, HWTDI_HWT_IOC_STOP), 0);
	entry(&c, 0, 128, 4);
	sim_destroy(c.k);
}

static void
service_of_a_thread_wakes_the_cpu_with_its_number(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .cpu = 1,
		    .bytes = bytes,
		    .n = 2 * HALF,
		    .flags = SIM_STAY },
		{ .op = SIM_TRACE,
		    .ns = 10000000,
		    .cpu = 1,
		    .bytes = bytes,
		    .n = 10 },
		{ .op = SIM_TRACE,
		    .ns = 10000000,
		    .cpu = 1,
		    .bytes = bytes,
		    .n = 20 },
	};
	struct sim_buffer b;
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 0);
	sim_advance(c.k, 5000000);
	assert_int_equal(simkernel_svc_buf(c.k, c.node, 0, 0), 0);
	sim_run(c.k, 100000000);
	sim_buffer(c.k, 0, &b);
	assert_int_equal(b.n, 2 * HALF + 30);
	/* It was another CPU, so the switch did it. */
	assert_int_equal(b.fates[2 * HALF + 9], SIM_DROPPED);
	assert_int_equal(b.fates[2 * HALF + 10], SIM_THERE);
	sim_destroy(c.k);
}

static void
tracing_is_aborted_without_a_knote(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = HALF },
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 5 },
	};
	struct sim_totals totals;
	struct capture c;
	int ident;

	(void)state;
	c.k = sim_create(&(struct sim_options){ .arch = SIM_ARM64 });
	simkernel_run(c.k, STEPS(steps), 1);
	assert_int_equal(simkernel_alloc_cpus(c.k, "spe", 1, BUFSIZE, -1,
			     &ident),
	    0);
	c.node = simkernel_node(c.k, ident, 0);
	assert_int_equal(simkernel_config(c.k, c.node, &simkernel_spe_config,
			     sizeof(simkernel_spe_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(c.k, c.node, HWTDI_HWT_IOC_START), 0);
	sim_run(c.k, 10000000);
	sim_totals(c.k, &totals);
	assert_int_equal(totals.bytes_untraced, 5);
	sim_destroy(c.k);
}

static void
an_error_ends_all_with_no_last_entry(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 64,
		    .flags = SIM_STAY },
		{ .op = SIM_SPE_ERROR },
		{ .op = SIM_TRACE, .bytes = bytes, .n = 64 },
	};
	struct hwtdi_kevent e[4];
	struct capture c;

	(void)state;
	c = started(NULL, STEPS(steps), 1);
	sim_run(c.k, 10000000);
	assert_int_equal(events(&c, e), 1);
	assert_int_equal(e[0].ident, 139);
	assert_int_equal(simkernel_plain(c.k, c.node, HWTDI_HWT_IOC_STOP), 0);
	no_entry(&c);
	sim_destroy(c.k);
}

static void
a_config_that_is_wrong_is_a_risk_and_no_error(void **state)
{
	struct sim_kernel *k = sim_create(&(struct sim_options){
	    .arch = SIM_ARM64 });
	int ident, node;

	(void)state;
	assert_int_equal(simkernel_alloc_cpus(k, "spe", 1, BUFSIZE, -1,
			     &ident),
	    0);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_config(k, node, &simkernel_spe_config,
			     sizeof(simkernel_spe_config), 2, false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	assert_int_equal(sim_risks(k), 1);
	assert_int_equal(sim_panics(k), 0);
	sim_destroy(k);
}

static void
a_wait_for_events_ends_with_time_or_a_signal(void **state)
{
	struct hwtdi_kevent e[4];
	struct capture c = started(NULL, NULL, 0, 1);
	const uint64_t begin = c.s->now(c.s->state);

	(void)state;
	assert_int_equal(c.s->kevent_wait(c.s->state, c.kq, e, 4, 7000000), 0);
	assert_true(c.s->now(c.s->state) - begin >= 7000000);
	sim_signal_caller(c.k, 1000);
	assert_int_equal(c.s->kevent_wait(c.s->state, c.kq, e, 4, 7000000),
	    -EINTR);
	sim_destroy(c.k);
}

/* Take the oldest entry of the queue; false: there is none. */
static bool
take(struct capture *c, uint8_t *saved[2], size_t n[2],
    const uint8_t *rings[2], bool serve)
{
	struct simkernel_position p;
	unsigned half;

	if (simkernel_position(c->k, c->node, &p) != 0)
		return (false);
	half = p.data & 1;
	memcpy(saved[p.ident] + n[p.ident], rings[p.ident] + half * HALF,
	    (size_t)p.offset);
	n[p.ident] += (size_t)p.offset;
	if (serve && (p.data & 4) == 0)
		assert_int_equal(simkernel_svc_buf(c->k, c->node,
				     (uint32_t)p.ident, half),
		    0);
	return (true);
}

/* In any order of things, and with slow readers. */
static void
all_bytes_are_taken_but_those_that_were_dropped(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 6 * PAGE,
		    .piece = 96,
		    .piece_ns = 10000 },
		{ .op = SIM_TRACE,
		    .thread = 1,
		    .cpu = 1,
		    .ns = 500000,
		    .bytes = bytes + 77,
		    .n = 7 * PAGE,
		    .piece = 64,
		    .piece_ns = 3000 },
	};
	size_t dropped = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		const struct sim_options o = { .seed = seed };
		static uint8_t room[2][16 * PAGE];
		uint8_t *saved[2] = { room[0], room[1] };
		struct sim_program *program;
		const uint8_t *rings[2];
		size_t n[2] = { 0, 0 };
		const void *ring;
		struct capture c;

		c = started(&o, NULL, 0, 3);
		program = sim_program(c.k, NULL);
		sim_add(program, &steps[0]);
		sim_add(program, &steps[1]);
		sim_start(c.k, program, "target", 2);
		rings[0] = c.ring;
		assert_int_equal(c.s->mmap(c.s->state,
				     simkernel_node(c.k, c.ident, 1), BUFSIZE,
				     &ring),
		    0);
		rings[1] = ring;
		for (int i = 0; i < 200; i++) {
			struct hwtdi_kevent e[4];

			c.s->kevent_wait(c.s->state, c.kq, e, 4, seed * 1000);
			c.s->sleep(c.s->state, seed * 4000);
			while (take(&c, saved, n, rings, true))
				;
		}
		assert_int_equal(simkernel_plain(c.k, c.node,
				     HWTDI_HWT_IOC_STOP),
		    0);
		while (take(&c, saved, n, rings, false))
			;
		for (size_t i = 0; i < 2; i++) {
			struct sim_buffer b;
			size_t at = 0;

			sim_buffer(c.k, i, &b);
			for (size_t j = 0; j < b.n; j++) {
				if (b.fates[j] == SIM_DROPPED) {
					dropped++;
					continue;
				}
				assert_true(at < n[i]);
				assert_int_equal(saved[i][at++], b.bytes[j]);
			}
			assert_int_equal(at, n[i]);
		}
		sim_destroy(c.k);
	}
	assert_true(dropped > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_has_two_pages_and_is_aligned),
		cmocka_unit_test(older_kernels_trace_cpus_only),
		cmocka_unit_test(a_half_that_is_full_is_queued_and_told),
		cmocka_unit_test(a_record_that_does_not_fit_ends_the_half),
		cmocka_unit_test(sampling_stands_while_both_halves_wait),
		cmocka_unit_test(service_in_time_loses_nothing),
		cmocka_unit_test(
		    stop_queues_what_is_left_of_each_cpu_then_tells),
		cmocka_unit_test(there_may_be_several_last_entries),
		cmocka_unit_test(a_cut_record_marks_all_entries_from_then_on),
		cmocka_unit_test(entries_outlive_their_context),
		cmocka_unit_test(service_is_refused_for_what_there_is_not),
		cmocka_unit_test(threads_go_on_where_they_were),
		cmocka_unit_test(
		    service_of_a_thread_wakes_the_cpu_with_its_number),
		cmocka_unit_test(tracing_is_aborted_without_a_knote),
		cmocka_unit_test(an_error_ends_all_with_no_last_entry),
		cmocka_unit_test(
		    a_config_that_is_wrong_is_a_risk_and_no_error),
		cmocka_unit_test(
		    all_bytes_are_taken_but_those_that_were_dropped),
		cmocka_unit_test(a_wait_for_events_ends_with_time_or_a_signal),
	};

	return (cmocka_run_group_tests(tests, set_up, NULL));
}
