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
static struct hwtdi_hwt_entry got[64];

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
configured(const struct sim_options *o, const struct sim_step *steps, size_t n,
    uint64_t bufsize, int *node, pid_t *pid)
{
	struct sim_kernel *k = sim_create(o);
	int ident;

	*pid = simkernel_run(k, steps, n, 1);
	assert_int_equal(simkernel_alloc_thread(k, "pt", *pid, bufsize,
			     &ident),
	    0);
	*node = simkernel_node(k, ident, 0);
	assert_true(*node >= 0);
	return (k);
}

static struct sim_kernel *
traced(const struct sim_options *o, const struct sim_step *steps, size_t n,
    uint64_t bufsize, int *node)
{
	pid_t pid;
	struct sim_kernel *k = configured(o, steps, n, bufsize, node, &pid);

	assert_int_equal(simkernel_config(k, *node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, *node, HWTDI_HWT_IOC_START), 0);
	/* That there is a first thread. */
	assert_int_equal(simkernel_records(k, *node, got, 1, false), 1);
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

static void
tracing_begins_at_the_next_switch_in(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .bytes = bytes,
		    .n = 10,
		    .flags = SIM_STAY },
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 20 },
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 30 },
	};
	struct sim_totals totals;
	struct sim_buffer b;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	sim_run(k, 10000000);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, 30);
	sim_totals(k, &totals);
	assert_int_equal(totals.bytes_untraced, 30);
	sim_destroy(k);
}

static void
each_page_is_told_with_the_place_behind_it(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_TRACE,
	    .ns = 1000000,
	    .bytes = bytes,
	    .n = 5 * PAGE + 7 } };
	struct simkernel_position at;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), 4 * PAGE, &node);
	sim_run(k, 10000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(got[i].type, HWTDI_HWT_ENTRY_BUFFER);
		assert_int_equal(got[i].u.buffer.buf_id, 0);
		/* The ring has four pages. */
		assert_int_equal(got[i].u.buffer.curpage, (i + 1) % 4);
		assert_int_equal(got[i].u.buffer.offset, 0);
	}
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.ident, 1);
	assert_int_equal(at.offset, 7);
	assert_int_equal(at.data, 0);
	sim_destroy(k);
}

static void
the_place_told_is_that_of_the_last_pmi_or_switch(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 100 },
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 20,
		    .flags = SIM_STAY },
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = PAGE - 10,
		    .flags = SIM_STAY },
		{ .op = SIM_SWITCH_OUT, .ns = 1000000 },
	};
	static const uint64_t want[] = { 0, 100, 100, PAGE, PAGE + 10 };
	struct simkernel_position at;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	sim_advance(k, 500000);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(simkernel_position(k, node, &at), 0);
		assert_int_equal((uint64_t)at.ident * PAGE + at.offset,
		    want[i]);
		sim_advance(k, 1000000);
	}
	sim_destroy(k);
}

static void
pmis_that_coalesce_tell_the_latest_place(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_TRACE,
	    .ns = 1000000,
	    .bytes = bytes,
	    .n = 3 * PAGE,
	    .flags = SIM_ONE_PMI } };
	struct sim_totals totals;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	sim_run(k, 10000000);
	sim_totals(k, &totals);
	assert_int_equal(totals.pmis, 3);
	assert_int_equal(totals.pmis_coalesced +
		(uint64_t)simkernel_records(k, node, got, 64, false),
	    3);
	assert_int_equal(got[0].u.buffer.curpage, 3);
	sim_destroy(k);
}

static void
a_late_interrupt_tells_of_who_has_the_cpu(void **state)
{
	const struct sim_options o = { .coalesce = true,
		.swi_after_switch = true };
	const struct sim_step steps[] = {
		{ .op = SIM_THREAD_CREATE, .number = 1, .ns = 500000 },
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = PAGE },
		{ .op = SIM_TRACE,
		    .thread = 1,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 10,
		    .flags = SIM_STAY },
		{ .op = SIM_IDLE, .ns = 1000000 },
	};
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(&o, STEPS(steps), KB256, &node);
	sim_advance(k, 10000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 2);
	assert_int_equal(got[0].type, HWTDI_HWT_ENTRY_THREAD_CREATE);
	assert_int_equal(got[1].type, HWTDI_HWT_ENTRY_BUFFER);
	assert_int_equal(got[1].u.buffer.buf_id, 1);
	sim_destroy(k);
}

static void
buffer_records_are_dropped_without_memory(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_TRACE,
	    .ns = 1000000,
	    .bytes = bytes,
	    .n = 3 * PAGE } };
	struct sim_totals totals;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	sim_drop_buffers(k, 2);
	sim_run(k, 10000000);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 1);
	assert_int_equal(got[0].u.buffer.curpage, 3);
	sim_totals(k, &totals);
	assert_int_equal(totals.records_dropped, 2);
	sim_destroy(k);
}

static void
the_page_of_a_place_may_be_lost_or_huge(void **state)
{
	static const struct {
		struct sim_options o;
		int at_pmi, at_switch;
	} cases[] = {
		{ { .positions = SIM_INDEX_LOST }, 0, 0 },
		{ { .positions = SIM_INDEX_LOST,
		      .positions_at_pmi_only = true },
		    0, 2 },
		{ { .positions = SIM_SATURATED }, 0x1ffffff, 0x1ffffff },
		{ { .positions = SIM_SATURATED,
		      .positions_at_pmi_only = true },
		    0x1ffffff, 2 },
	};
	const struct sim_step steps[] = { { .op = SIM_TRACE,
	    .ns = 1000000,
	    .bytes = bytes,
	    .n = 2 * PAGE + 9 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct simkernel_position at;
		struct sim_kernel *k;
		int node;

		k = traced(&cases[i].o, STEPS(steps), KB256, &node);
		sim_run(k, 10000000);
		assert_int_equal(simkernel_records(k, node, got, 64, false),
		    2);
		assert_int_equal(got[1].u.buffer.curpage, cases[i].at_pmi);
		assert_int_equal(got[1].u.buffer.offset, 0);
		assert_int_equal(simkernel_position(k, node, &at), 0);
		assert_int_equal(at.ident, cases[i].at_switch);
		assert_int_equal(at.offset, 9);
		sim_destroy(k);
	}
}

/* A process writes on both CPUs, of which the set is traced; out: node. */
static struct sim_kernel *
traced_cpus(const struct sim_step *steps, size_t n, uint64_t set, int *node)
{
	struct sim_kernel *k = sim_create(NULL);
	int ident;

	simkernel_run(k, steps, n, 1);
	assert_int_equal(simkernel_alloc_cpus(k, "pt", set, 4 * PAGE, -1,
			     &ident),
	    0);
	*node = simkernel_node(k, ident, set & 1 ? 0 : 1);
	assert_int_equal(simkernel_config(k, *node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, *node, HWTDI_HWT_IOC_START), 0);
	simkernel_records(k, *node, got, 64, false);
	return (k);
}

static void
rings_of_cpus_go_on_across_switches_and_wrap(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 3 * PAGE },
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .cpu = 1,
		    .bytes = bytes,
		    .n = 5 },
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes + 3 * PAGE,
		    .n = 2 * PAGE },
	};
	struct sim_buffer b;
	struct sim_kernel *k;
	const uint8_t *ring;
	int node;

	(void)state;
	k = traced_cpus(STEPS(steps), 3, &node);
	ring = map(k, node, 4 * PAGE);
	sim_run(k, 10000000);
	assert_memory_equal(ring, bytes + 4 * PAGE, PAGE);
	assert_memory_equal(ring + PAGE, bytes + PAGE, 3 * PAGE);
	assert_int_equal(simkernel_records(k, node, got, 64, false), 5);
	assert_int_equal(got[4].u.buffer.curpage, 1);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, 5 * PAGE);
	assert_int_equal(b.n_slices, 1);
	sim_buffer(k, 1, &b);
	assert_int_equal(b.n, 5);
	assert_int_equal(b.id, 1);
	sim_destroy(k);
}

static void
a_second_context_of_cpus_is_started_in_vain(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 9 }
	};
	struct sim_buffer b;
	struct sim_kernel *k;
	int node, ident;

	(void)state;
	k = traced_cpus(STEPS(steps), 2, &node);
	assert_int_equal(simkernel_alloc_cpus(k, "pt", 1, 4 * PAGE, -1,
			     &ident),
	    0);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	sim_run(k, 10000000);
	sim_buffer(k, 1, &b);
	assert_int_equal(b.n, 0);
	sim_destroy(k);
}

static void
what_is_overwritten_within_a_call_could_not_be_read(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 40 },
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 30 },
		{ .op = SIM_TRACE, .ns = 1000000, .bytes = bytes, .n = 20 },
	};
	struct sim_buffer b;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	sim_advance(k, 2500000);
	sim_advance(k, 1000000);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, 90);
	for (size_t i = 0; i < 90; i++)
		assert_int_equal(b.fates[i],
		    i < 30	      ? SIM_UNREADABLE
			: i < 40      ? SIM_THERE
			: i < 40 + 20 ? SIM_OVERWRITTEN
				      : SIM_THERE);
	sim_destroy(k);
}

static void
a_target_that_is_stopped_is_switched_out(void **state)
{
	const struct sim_step steps[] = { { .op = SIM_TRACE,
	    .ns = 1000000,
	    .bytes = bytes,
	    .n = 3000,
	    .piece = 100,
	    .piece_ns = 1000000,
	    .flags = SIM_STAY } };
	const struct hwtdi_system *s;
	struct simkernel_position at;
	struct hwtdi_thread t;
	struct sim_kernel *k;
	pid_t pid;
	size_t n;
	int node;

	(void)state;
	k = configured(NULL, STEPS(steps), KB256, &node, &pid);
	s = sim_system(k);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config,
			     sizeof(simkernel_pt_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	sim_advance(k, 2500000);
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.offset, 0);
	assert_int_equal(s->threads(s->state, pid, &t, 1, &n), 0);
	assert_true(t.running);
	assert_int_equal(t.switches, 0);
	assert_int_equal(s->kill(s->state, pid, 19), 0);
	assert_int_equal(s->threads(s->state, pid, &t, 1, &n), 0);
	assert_false(t.running);
	assert_int_equal(t.switches, 1);
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.offset, 200);
	sim_advance(k, 100000000);
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.offset, 200);
	sim_destroy(k);
}

static void
the_buffer_outlives_its_thread(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_TRACE,
		    .ns = 1000000,
		    .bytes = bytes,
		    .n = 50,
		    .flags = SIM_STAY },
		{ .op = SIM_EXIT },
	};
	struct simkernel_position at;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	sim_run(k, 10000000);
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.offset, 50);
	assert_memory_equal(map(k, node, PAGE), bytes, 50);
	sim_destroy(k);
}

static void
stop_and_svc_buf_panic_stock_kernels(void **state)
{
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, NULL, 0, KB256, &node);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_STOP), -ENXIO);
	assert_int_equal(sim_panics(k), 1);
	assert_int_equal(simkernel_svc_buf(k, node, 0, 0), -ENXIO);
	assert_int_equal(sim_panics(k), 2);
	sim_destroy(k);
}

static void
a_start_that_would_panic_is_written_down(void **state)
{
	static const uint32_t no_mtc[4] = { 1, 0x7, 3, 0 };
	static const struct hwtdi_hwt_pt_config cases[] = {
		{ .rtit_ctl = HWTDI_HWT_PT_USER | HWTDI_HWT_PT_MTC },
		{ .rtit_ctl = HWTDI_HWT_PT_USER | HWTDI_HWT_PT_DIS_TNT },
		{ .rtit_ctl = HWTDI_HWT_PT_USER, .nranges = -1 },
	};
	struct sim_kernel *k;
	pid_t pid;
	int node;

	(void)state;
	/* No config; then one that is too short. */
	k = configured(NULL, NULL, 0, KB256, &node, &pid);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START),
	    -ENXIO);
	assert_int_equal(sim_panics(k), 1);
	assert_int_equal(simkernel_config(k, node, &simkernel_pt_config, 71, 1,
			     false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START),
	    -ENXIO);
	assert_int_equal(sim_panics(k), 2);
	sim_destroy(k);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		k = configured(NULL, NULL, 0, KB256, &node, &pid);
		sim_set_cpuid(k, 0x14, 0, no_mtc);
		assert_int_equal(simkernel_config(k, node, &cases[i],
				     sizeof(cases[i]), 1, false),
		    0);
		assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START),
		    -ENXIO);
		assert_int_equal(sim_panics(k), 1);
		print_message("%s\n", sim_panic(k, 0));
		sim_destroy(k);
	}

	/* TSC and the like are dropped without a word. */
	k = configured(NULL, NULL, 0, KB256, &node, &pid);
	assert_int_equal(simkernel_config(k, node,
			     &(struct hwtdi_hwt_pt_config){
				 .rtit_ctl = 0x2c02 | HWTDI_HWT_PT_USER },
			     72, 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	assert_int_equal(sim_panics(k), 0);
	sim_destroy(k);
}

static void
the_place_of_a_cpu_before_start_panics(void **state)
{
	struct simkernel_position at;
	struct sim_kernel *k = sim_create(NULL);
	int ident;

	(void)state;
	assert_int_equal(simkernel_alloc_cpus(k, "pt", 1, KB256, -1, &ident),
	    0);
	assert_int_equal(simkernel_position(k, simkernel_node(k, ident, 0),
			     &at),
	    -ENXIO);
	assert_int_equal(sim_panics(k), 1);
	sim_destroy(k);
}

static void
tables_of_more_than_a_page_are_a_risk(void **state)
{
	static const struct {
		enum sim_flavour flavour;
		uint64_t pages;
		size_t risks;
	} cases[] = { { SIM_STOCK, 511, 0 }, { SIM_STOCK, 512, 1 },
		{ SIM_5BSD, 512, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sim_options o = { .flavour = cases[i].flavour };
		struct sim_kernel *k;
		pid_t pid;
		int node;

		k = configured(&o, NULL, 0, cases[i].pages * PAGE, &node,
		    &pid);
		assert_int_equal(sim_risks(k), cases[i].risks);
		assert_int_equal(sim_panics(k), 0);
		sim_destroy(k);
	}
}

static void
pt_of_5bsd_stops_wants_88_bytes_and_tells_overflows(void **state)
{
	const struct sim_options o = { .flavour = SIM_5BSD };
	const struct sim_step steps[] = {
		{ .op = SIM_SWITCH_IN, .ns = 1000000 },
		{ .op = SIM_PT_ERROR },
		{ .op = SIM_TRACE, .bytes = bytes, .n = 5, .flags = SIM_STAY },
		{ .op = SIM_TRACE, .ns = 2000000, .bytes = bytes, .n = 5 },
	};
	uint64_t config[11] = { HWTDI_HWT_PT_USER | HWTDI_HWT_PT_BRANCH };
	struct simkernel_position at;
	struct hwtdi_hwt_long_entry e[3];
	struct sim_buffer b;
	struct sim_kernel *k;
	pid_t pid;
	int node;

	(void)state;
	k = configured(&o, STEPS(steps), KB256, &node, &pid);
	assert_int_equal(simkernel_config(k, node, config, 72, 1, false), 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START),
	    -ENXIO);
	assert_int_equal(sim_panics(k), 1);
	assert_int_equal(simkernel_config(k, node, config, 88, 1, false), 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	sim_advance(k, 1500000);
	assert_int_equal(simkernel_records(k, node, (void *)e, 3, false), 2);
	assert_int_equal(e[1].type, HWTDI_HWT_ENTRY_OVERFLOW);
	assert_int_equal(e[1].u.buffer.buf_id, 0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_STOP), 0);
	assert_int_equal(simkernel_position(k, node, &at), 0);
	assert_int_equal(at.offset, 5);
	sim_run(k, 10000000);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, 5);
	assert_int_equal(sim_panics(k), 1);
	sim_destroy(k);
}

static void
exec_ends_other_threads_and_tracing_goes_on(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_THREAD_CREATE, .number = 1, .ns = 1000000 },
		{ .op = SIM_EXEC,
		    .path = "/bin/sh",
		    .addr = PAGE,
		    .ns = 1000000 },
		{ .op = SIM_TRACE, .bytes = bytes, .n = 5 },
		{ .op = SIM_TRACE,
		    .thread = 1,
		    .ns = 3000000,
		    .bytes = bytes,
		    .n = 6 },
	};
	struct sim_buffer b;
	struct sim_kernel *k;
	int node;

	(void)state;
	k = traced(NULL, STEPS(steps), KB256, &node);
	sim_run(k, 10000000);
	sim_buffer(k, 0, &b);
	assert_int_equal(b.n, 5);
	sim_buffer(k, 1, &b);
	assert_int_equal(b.n, 0);
	sim_destroy(k);
}

/* Whatever happens when: a ring holds the latest byte of each place. */
static void
rings_hold_what_was_written_last_whatever_the_order(void **state)
{
	const struct sim_step steps[] = {
		{ .op = SIM_THREAD_CREATE, .number = 1, .ns = 100000 },
		{ .op = SIM_TRACE, .bytes = bytes, .n = 2 * PAGE + 5 },
		{ .op = SIM_TRACE,
		    .cpu = 1,
		    .bytes = bytes + PAGE,
		    .n = 700,
		    .flags = SIM_STAY },
		{ .op = SIM_TRACE,
		    .cpu = 1,
		    .bytes = bytes + 3 * PAGE,
		    .n = 6 * PAGE },
		{ .op = SIM_TRACE,
		    .thread = 1,
		    .cpu = 1,
		    .bytes = bytes + 99,
		    .n = 5 * PAGE },
		{ .op = SIM_TRACE, .thread = 1, .bytes = bytes, .n = 17 },
		{ .op = SIM_EXIT },
	};

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		const struct sim_options o = { .seed = seed };
		const struct hwtdi_spawn what = { .path = "/bin/prog" };
		struct sim_kernel *k = sim_create(&o);
		const struct hwtdi_system *s = sim_system(k);
		struct sim_program *program = sim_program(k, what.path);
		int node, gate, ident;
		pid_t pid;

		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			sim_add(program, &steps[i]);
		assert_int_equal(s->spawn(s->state, &what, &pid, &gate), 0);
		assert_int_equal(simkernel_alloc_thread(k, "pt", pid, 4 * PAGE,
				     &ident),
		    0);
		node = simkernel_node(k, ident, 0);
		assert_int_equal(simkernel_config(k, node,
				     &simkernel_pt_config,
				     sizeof(simkernel_pt_config), 1, false),
		    0);
		assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START),
		    0);
		assert_int_equal(s->release(s->state, gate, true), 0);
		for (int i = 0; i < 20; i++)
			simkernel_records(k, node, got, 64, false);
		sim_run(k, 1000000000);
		for (size_t i = 0; i < sim_buffers(k); i++) {
			uint8_t want[4 * PAGE] = { 0 };
			const uint8_t *ring;
			struct sim_buffer b;
			size_t there = 0, n = 0;

			node = simkernel_node(k, 0, (int)i);
			ring = map(k, node, 4 * PAGE);
			sim_buffer(k, i, &b);
			for (size_t j = 0; j < b.n_slices; j++) {
				const struct sim_slice *sl = &b.slices[j];

				assert_int_equal(sl->offset, n);
				for (size_t m = 0; m < sl->n; m++)
					want[(sl->at + m) %
					    sizeof(want)] = b.bytes[n++];
			}
			assert_int_equal(n, b.n);
			assert_memory_equal(ring, want, sizeof(want));
			for (size_t m = 0; m < b.n; m++)
				there += b.fates[m] == SIM_THERE;
			for (size_t m = 0; m < sizeof(want); m++)
				there -= want[m] != 0;
			assert_int_equal(there, 0);
			s->munmap(s->state, ring, 4 * PAGE);
		}
		sim_destroy(k);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ring_begins_anew_with_each_switch),
		cmocka_unit_test(tracing_begins_at_the_next_switch_in),
		cmocka_unit_test(each_page_is_told_with_the_place_behind_it),
		cmocka_unit_test(
		    the_place_told_is_that_of_the_last_pmi_or_switch),
		cmocka_unit_test(pmis_that_coalesce_tell_the_latest_place),
		cmocka_unit_test(a_late_interrupt_tells_of_who_has_the_cpu),
		cmocka_unit_test(buffer_records_are_dropped_without_memory),
		cmocka_unit_test(the_page_of_a_place_may_be_lost_or_huge),
		cmocka_unit_test(rings_of_cpus_go_on_across_switches_and_wrap),
		cmocka_unit_test(a_second_context_of_cpus_is_started_in_vain),
		cmocka_unit_test(
		    what_is_overwritten_within_a_call_could_not_be_read),
		cmocka_unit_test(a_target_that_is_stopped_is_switched_out),
		cmocka_unit_test(the_buffer_outlives_its_thread),
		cmocka_unit_test(stop_and_svc_buf_panic_stock_kernels),
		cmocka_unit_test(a_start_that_would_panic_is_written_down),
		cmocka_unit_test(the_place_of_a_cpu_before_start_panics),
		cmocka_unit_test(tables_of_more_than_a_page_are_a_risk),
		cmocka_unit_test(
		    pt_of_5bsd_stops_wants_88_bytes_and_tells_overflows),
		cmocka_unit_test(exec_ends_other_threads_and_tracing_goes_on),
		cmocka_unit_test(
		    rings_hold_what_was_written_last_whatever_the_order),
	};

	return (cmocka_run_group_tests(tests, set_up, NULL));
}
