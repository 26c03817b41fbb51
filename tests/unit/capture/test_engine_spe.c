/*
 * Captures of Arm SPE from the first call to the samples.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arm_run.h"
#include "simkernel/sim_internal.h"
#include "simkernel_calls.h"

#define ROOM 2048
#define MS UINT64_C(1000000)
/* Counts at which the simulated machine has been up for a second. */
#define COUNT UINT64_C(100000000)

static struct arm_sample samples[ROOM];

static void
samples_of_cpus_are_saved_to_the_last_half(void **state)
{
	static const uint32_t cpus[] = { 1, 0 };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(NULL);
	uint32_t stream;
	size_t at = 0, n;

	(void)state;
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	r->run.options.cpus = cpus;
	r->run.options.n_cpus = 2;
	arm_run_exec(r);
	/* A half and 10 more; then on the other CPU less than a half. */
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, ARM_RUN_HALF + 10);
	arm_run_sample(r, 0, 1, MS, 0x9000, COUNT + 500, 3);
	arm_run_sample(r, 0, 0, MS, 0x5000, COUNT + 1000, 5);
	arm_run_exit(r);
	arm_run_ok(r);
	arm_run_assert_losses(r, "");
	trace = engine_run_open(&r->run);
	stream = arm_run_stream(trace, "spe CPU 0", &desc);
	assert_int_equal(desc.cpu, 0);
	assert_int_equal(desc.tid, HWTD_NO_ID);
	assert_int_equal(desc.clock.counts_per, 100000000);
	n = arm_run_samples(trace, stream, samples, ROOM);
	assert_int_equal(n, ARM_RUN_HALF + 15);
	arm_run_assert_samples(samples, &at, ARM_RUN_HALF + 10, 0x1000, COUNT,
	    HWTD_NO_ID, 0);
	arm_run_assert_samples(samples, &at, 5, 0x5000, COUNT + 1000,
	    HWTD_NO_ID, 0);
	stream = arm_run_stream(trace, "spe CPU 1", &desc);
	assert_int_equal(desc.cpu, 1);
	at = 0;
	assert_int_equal(arm_run_samples(trace, stream, samples, ROOM), 3);
	arm_run_assert_samples(samples, &at, 3, 0x9000, COUNT + 500,
	    HWTD_NO_ID, 1);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
samples_of_threads_are_theirs_on_whatever_cpu(void **state)
{
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(NULL);
	uint32_t stream, tids[2];
	size_t at = 0;

	(void)state;
	arm_run_exec(r);
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_THREAD_CREATE, .number = 1 });
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, 40);
	arm_run_sample(r, 1, 0, 2 * MS, 0x9000, COUNT + 100, 70);
	/* The buffer goes with it from CPU to CPU. */
	arm_run_sample(r, 0, 1, MS, 0x2000, COUNT + 200, 40);
	arm_run_exit(r);
	arm_run_ok(r);
	arm_run_assert_losses(r, "");
	for (size_t i = 0; i < 2; i++) {
		struct sim_buffer b;

		sim_buffer(r->run.kernel, i, &b);
		tids[i] = b.tid;
	}
	trace = engine_run_open(&r->run);
	stream = arm_run_stream(trace, "spe thread 0", &desc);
	assert_int_equal(desc.tid, tids[0]);
	assert_int_equal(desc.pid, r->run.status.pid);
	assert_int_equal(arm_run_samples(trace, stream, samples, ROOM), 80);
	arm_run_assert_samples(samples, &at, 40, 0x1000, COUNT, HWTD_NO_ID,
	    HWTD_NO_ID);
	arm_run_assert_samples(samples, &at, 40, 0x2000, COUNT + 200,
	    HWTD_NO_ID, HWTD_NO_ID);
	at = 0;
	stream = arm_run_stream(trace, "spe thread 1", &desc);
	assert_int_equal(desc.tid, tids[1]);
	assert_int_equal(arm_run_samples(trace, stream, samples, ROOM), 70);
	arm_run_assert_samples(samples, &at, 70, 0x9000, COUNT + 100,
	    HWTD_NO_ID, HWTD_NO_ID);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
halves_are_given_back_before_the_other_one_is_full(void **state)
{
	struct arm_run *r = arm_run_new(NULL);

	(void)state;
	arm_run_exec(r);
	/* 12 halves without a rest: 1 us for a record. */
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, 12 * ARM_RUN_HALF);
	arm_run_exit(r);
	arm_run_ok(r);
	arm_run_assert_losses(r, "");
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_SVC_BUF), 12);
	assert_int_equal(r->run.status.n_bytes, 12 * ARM_RUN_HALF * SPE_SLOT);
	arm_run_free(r);
}

static void
what_sampling_missed_while_both_halves_were_full_is_told(void **state)
{
	/* Calls are so slow that a half is full before one was given back. */
	const struct sim_options o = { .n_cpus = 1, .call_ns = 100000 };
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(&o);
	uint32_t stream;
	size_t at = 0, n;

	(void)state;
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	arm_run_exec(r);
	/* Two halves, 20 that nobody sees; long after that 5. */
	arm_run_sample(r, 0, 0, 5 * MS, 0x1000, COUNT, 2 * ARM_RUN_HALF + 20);
	arm_run_sample(r, 0, 0, 50 * MS, 0x8000, COUNT + 1000, 5);
	arm_run_exit(r);
	arm_run_ok(r);
	arm_run_assert_losses(r, "stalls=1");
	trace = engine_run_open(&r->run);
	stream = arm_run_stream(trace, "spe CPU 0", &desc);
	n = arm_run_samples(trace, stream, samples, ROOM);
	assert_int_equal(n, 2 * ARM_RUN_HALF + 5);
	arm_run_assert_samples(samples, &at, 2 * ARM_RUN_HALF, 0x1000, COUNT,
	    HWTD_NO_ID, 0);
	arm_run_assert_samples(samples, &at, 5, 0x8000, COUNT + 1000,
	    HWTD_NO_ID, 0);
	/* The loss lies behind the second half. */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(hwtd_trace_extent(trace, stream, i, &e),
		    HWTD_OK);
		assert_int_equal(e.start, i * ARM_RUN_PAGE);
		assert_int_equal(e.why,
		    i == 2 ? HWTD_EXTENT_AFTER_LOSS : HWTD_EXTENT_NEW);
	}
	hwtd_trace_close(trace);
	arm_run_free(r);
}

/* A half may be full between the last question for it and giving back the other. */
static void
whenever_halves_become_full_what_is_missing_is_told(void **state)
{
	uint64_t missing = 0;

	(void)state;
	for (uint64_t us = 1; us <= 90; us++) {
		const struct sim_options o = { .n_cpus = 1,
			.call_ns = us * 1000 };
		struct engine_account account;
		struct arm_run *r = arm_run_new(&o);

		r->run.options.mode = HWTD_CAPTURE_CPUS;
		arm_run_exec(r);
		/* 1 us for a record. */
		arm_run_sample(r, 0, 0, 10 * MS, 0x1000, COUNT,
		    20 * ARM_RUN_HALF);
		arm_run_exit(r);
		arm_run_ok(r);
		engine_account(&r->run, false, &account);
		missing += account.missing;
		arm_run_free(r);
	}
	/* Nor is that so for want of losses. */
	assert_true(missing > 0);
}

static void
a_cut_record_is_told_once_though_the_flag_stays(void **state)
{
	struct hwtd_record rec = { .size = sizeof(rec) };
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(NULL);
	unsigned flagged = 0, marks = 0;

	(void)state;
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	arm_run_exec(r);
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, ARM_RUN_HALF);
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.ns = 3 * MS,
		.bytes = arm_run_records(r, 7, 0x2000, COUNT + 100,
		    ARM_RUN_HALF),
		.n = ARM_RUN_HALF * SPE_SLOT,
		.piece = SPE_SLOT,
		.flags = SIM_PARTIAL });
	arm_run_sample(r, 0, 0, 3 * MS, 0x3000, COUNT + 200, ARM_RUN_HALF);
	arm_run_exit(r);
	arm_run_ok(r);
	arm_run_assert_losses(r, "samples=1");
	trace = engine_run_open(&r->run);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &rec) == HWTD_OK;
	     i++) {
		if (rec.type != HWTD_REC_BUFFER || rec.len == 0)
			continue;
		marks++;
		flagged += (rec.value & HWTD_BUFFERF_PARTIAL) != 0;
	}
	assert_int_equal(marks, 3);
	assert_int_equal(flagged, 2);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
halves_of_an_earlier_capture_are_passed_over(void **state)
{
	static const uint64_t cpus = 1;
	struct sim_options o = { .n_cpus = 1 };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(&o);
	struct sim_step steps[] = {
		{ .op = SIM_TRACE, .ns = MS, .piece = SPE_SLOT },
		{ .op = SIM_EXIT },
	};
	struct sim_kernel *k = r->run.kernel;
	const struct hwtdi_system *sys = sim_system(k);
	int ident, node, kq;
	size_t at = 0;

	(void)state;
	steps[0].bytes = arm_run_records(r, 9, 0x7000, COUNT,
	    2 * ARM_RUN_HALF);
	steps[0].n = 2 * ARM_RUN_HALF * SPE_SLOT;
	(void)simkernel_run(k, STEPS(steps), 1);
	kq = sys->kqueue(sys->state);
	assert_int_equal(sys->kevent_add(sys->state, kq,
			     HWTDI_HWT_SPE_EVENT_BUF),
	    0);
	assert_int_equal(simkernel_alloc_cpus(k, "spe", cpus, 2 * PAGE, kq,
			     &ident),
	    0);
	node = simkernel_node(k, ident, 0);
	assert_int_equal(simkernel_config(k, node, &simkernel_spe_config,
			     sizeof(simkernel_spe_config), 1, false),
	    0);
	assert_int_equal(simkernel_plain(k, node, HWTDI_HWT_IOC_START), 0);
	sim_advance(k, 10 * MS);
	/* Its owner goes, and nobody took the two. */
	sim_exit_caller(k);
	sim_advance(k, 10 * MS);
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	arm_run_exec(r);
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, 3);
	arm_run_exit(r);
	if (engine_run(&r->run) != HWTD_OK)
		fail_msg("%s", r->run.err.message);
	engine_run_check(&r->run);
	arm_run_assert_losses(r, "");
	trace = engine_run_open(&r->run);
	assert_int_equal(arm_run_samples(trace,
			     arm_run_stream(trace, "spe CPU 0", &desc),
			     samples, ROOM),
	    3);
	arm_run_assert_samples(samples, &at, 3, 0x1000, COUNT, HWTD_NO_ID, 0);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
a_half_that_is_refused_is_given_back_later(void **state)
{
	struct arm_run *r = arm_run_new(NULL);

	(void)state;
	arm_run_exec(r);
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, ARM_RUN_HALF);
	arm_run_sample(r, 0, 0, 5 * MS, 0x2000, COUNT + 100, ARM_RUN_HALF);
	arm_run_sample(r, 0, 0, 5 * MS, 0x3000, COUNT + 200, ARM_RUN_HALF);
	arm_run_exit(r);
	sim_fail(r->run.kernel, SIM_CALL_SVC_BUF, 1, ENXIO);
	arm_run_ok(r);
	arm_run_assert_losses(r, "");
	assert_int_equal(r->run.status.n_bytes, 3 * ARM_RUN_HALF * SPE_SLOT);
	arm_run_free(r);
}

static void
sampling_that_the_kernel_ends_is_an_error_and_what_came_before_is_saved(void *
	*state)
{
	struct engine_account account;
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(NULL);
	size_t at = 0;

	(void)state;
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	arm_run_exec(r);
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, ARM_RUN_HALF + 6);
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_SWITCH_IN, .cpu = 0, .ns = MS });
	arm_run_step(r, &(struct sim_step){ .op = SIM_SPE_ERROR, .ns = MS });
	/* The program would go on for long. */
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_IDLE, .ns = 10000 * MS });
	arm_run_exit(r);
	arm_run_fails(r, HWTD_E_IO, "the kernel ended sampling");
	assert_true(r->run.status.time_ns < 100 * MS);
	/* The last half of each CPU is not told. */
	arm_run_assert_losses(r, "unknown=2");
	engine_account(&r->run, true, &account);
	assert_string_equal(account.wrong, "");
	trace = engine_run_open(&r->run);
	assert_int_equal(arm_run_samples(trace,
			     arm_run_stream(trace, "spe CPU 0", &desc),
			     samples, ROOM),
	    ARM_RUN_HALF);
	arm_run_assert_samples(samples, &at, ARM_RUN_HALF, 0x1000, COUNT,
	    HWTD_NO_ID, 0);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
several_last_halves_are_taken_once_each(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		const struct sim_options o = { .n_cpus = 2, .seed = seed };
		struct hwtd_stream_desc desc;
		struct hwtd_trace *trace;
		struct arm_run *r = arm_run_new(&o);
		size_t at = 0;

		r->run.options.mode = HWTD_CAPTURE_CPUS;
		/* Much room, so that no half is full. */
		r->spe.buffer_bytes = 16 * ARM_RUN_PAGE;
		arm_run_exec(r);
		arm_run_sample(r, 0, 1, MS, 0x1000, COUNT, 30);
		arm_run_exit(r);
		arm_run_ok(r);
		arm_run_assert_losses(r, "");
		trace = engine_run_open(&r->run);
		assert_int_equal(arm_run_samples(trace,
				     arm_run_stream(trace, "spe CPU 1", &desc),
				     samples, ROOM),
		    30);
		arm_run_assert_samples(samples, &at, 30, 0x1000, COUNT,
		    HWTD_NO_ID, 1);
		hwtd_trace_close(trace);
		arm_run_free(r);
	}
}

static void
events_are_there_before_sampling_starts(void **state)
{
	struct arm_run *r = arm_run_new(NULL);

	(void)state;
	arm_run_exec(r);
	arm_run_exit(r);
	/* The second of two cannot be registered. */
	sim_fail(r->run.kernel, SIM_CALL_KEVENT_ADD, 2, ENOMEM);
	arm_run_fails(r, HWTD_E_IO, "event 139");
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_START), 0);
	assert_int_not_equal(access(r->run.output, F_OK), 0);
	arm_run_free(r);
}

/* The config that the kernel has; `text` says it. */
static void
config_is(const struct hwtd_capture_spe *spe, const char *text)
{
	struct arm_run *r = arm_run_new(NULL);
	struct hwtdi_hwt_spe_config c;
	char got[80];

	r->spe.interval = spe->interval;
	r->spe.who = spe->who;
	r->spe.flags = spe->flags;
	arm_run_exec(r);
	arm_run_exit(r);
	arm_run_ok(r);
	memcpy(&c, r->run.kernel->contexts[0]->config, sizeof(c));
	(void)snprintf(got, sizeof(got), "%u level %u context %u", c.interval,
	    c.level, c.ctx_field);
	assert_string_equal(got, text);
	(void)snprintf(got, sizeof(got), "spe.interval=%u", c.interval);
	arm_run_assert_said(r, got);
	arm_run_free(r);
}

static void
configs_are_as_asked_for(void **state)
{
	(void)state;
	config_is(&(struct hwtd_capture_spe){ .interval = 0 },
	    "4096 level 0 context 1");
	config_is(&(struct hwtd_capture_spe){ .interval = 0xffffff,
		      .who = HWTD_CAPTURE_USER },
	    "16777215 level 2 context 1");
	config_is(&(struct hwtd_capture_spe){ .interval = 300,
		      .who = HWTD_CAPTURE_KERNEL,
		      .flags = HWTD_CAPTURE_SPEF_CPU_CONTEXT },
	    "300 level 1 context 2");
	config_is(&(struct hwtd_capture_spe){ .who = HWTD_CAPTURE_KERNEL |
			  HWTD_CAPTURE_USER,
		      .flags = HWTD_CAPTURE_SPEF_NO_CONTEXT },
	    "4096 level 0 context 0");
}

static void
refused(const struct hwtd_capture_spe *spe, int code, const char *words)
{
	static const char *const filters[] = { "main@program" };
	struct arm_run *r = arm_run_new(NULL);

	r->spe.interval = spe->interval;
	r->spe.who = spe->who;
	r->spe.flags = spe->flags;
	if (spe->buffer_bytes != 0)
		r->spe.buffer_bytes = spe->buffer_bytes;
	if (code == HWTD_E_UNSUPPORTED) {
		r->run.options.filters = filters;
		r->run.options.n_filters = 1;
	}
	arm_run_exec(r);
	arm_run_exit(r);
	arm_run_fails(r, code, words);
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_ALLOC), 0);
	assert_int_not_equal(access(r->run.output, F_OK), 0);
	arm_run_free(r);
}

static void
configs_that_cannot_be_are_refused_before_anything_is_made(void **state)
{
	(void)state;
	/* 24 bits hold it not, and the kernel would take 0. */
	refused(&(struct hwtd_capture_spe){ .interval = 0x1000000 },
	    HWTD_E_INVALID, "16777216");
	refused(
	    &(struct hwtd_capture_spe){ .flags = HWTD_CAPTURE_SPEF_NO_CONTEXT |
		    HWTD_CAPTURE_SPEF_CPU_CONTEXT },
	    HWTD_E_INVALID, "not both");
	refused(&(struct hwtd_capture_spe){ .flags = 0x10 }, HWTD_E_INVALID,
	    "0x10");
	refused(&(struct hwtd_capture_spe){ .who = 4 }, HWTD_E_INVALID, "0x4");
	refused(&(struct hwtd_capture_spe){ .buffer_bytes = 3 * ARM_RUN_PAGE },
	    HWTD_E_INVALID, "3 pages");
	refused(&(struct hwtd_capture_spe){ .interval = 0 },
	    HWTD_E_UNSUPPORTED, "no filters by address");
}

static void
contexts_that_are_cpus_name_no_process(void **state)
{
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(NULL);

	(void)state;
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	r->spe.flags = HWTD_CAPTURE_SPEF_CPU_CONTEXT;
	arm_run_exec(r);
	arm_run_sample(r, 0, 1, MS, 0x1000, COUNT, 1);
	arm_run_exit(r);
	arm_run_ok(r);
	trace = engine_run_open(&r->run);
	assert_int_equal(arm_run_samples(trace,
			     arm_run_stream(trace, "spe CPU 1", &desc),
			     samples, ROOM),
	    1);
	assert_int_equal(samples[0].pid, HWTD_NO_ID);
	assert_int_equal(samples[0].cpu, 1);
	assert_int_equal(desc.spe->owner, HWTD_SPE_OWNER_CPU);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
the_cpu_is_told_by_its_model(void **state)
{
	static const struct {
		const char *model;
		uint32_t midr;
	} models[] = {
		/* Implementer, and the part number. */
		{ "ARM Neoverse-N1 r3p1", 0x4100d0c0 },
		{ "ARM Neoverse-V2 r0p1", 0x4100d4f0 },
		{ "Some CPU", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct hwtd_stream_desc desc;
		struct hwtd_trace *trace;
		struct arm_run *r = arm_run_new(NULL);

		sim_set_sysctl_text(r->run.kernel, "hw.model",
		    models[i].model);
		arm_run_exec(r);
		arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, 1);
		arm_run_exit(r);
		arm_run_ok(r);
		trace = engine_run_open(&r->run);
		(void)arm_run_stream(trace, "spe thread 0", &desc);
		assert_int_equal(desc.spe->midr & 0xff00fff0, models[i].midr);
		assert_int_equal(desc.spe->interval, 4096);
		assert_int_equal(desc.spe->owner, HWTD_SPE_OWNER_PROCESS);
		hwtd_trace_close(trace);
		arm_run_free(r);
	}
}

static void
threads_with_numbers_of_no_cpu_are_not_served_and_stalls_are_told(void **state)
{
	const struct sim_options o = { .n_cpus = 1 };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(&o);

	(void)state;
	arm_run_exec(r);
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_THREAD_CREATE, .number = 1 });
	arm_run_sample(r, 1, 0, 2 * MS, 0x1000, COUNT, 3 * ARM_RUN_HALF);
	arm_run_exit(r);
	arm_run_ok(r);
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_SVC_BUF), 0);
	arm_run_assert_losses(r, "stalls=1");
	trace = engine_run_open(&r->run);
	assert_int_equal(arm_run_samples(trace,
			     arm_run_stream(trace, "spe thread 1", &desc),
			     samples, ROOM),
	    2 * ARM_RUN_HALF);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
kernels_that_sample_cpus_only_say_so(void **state)
{
	const struct sim_options o = { .n_cpus = 1,
		.spe_cpu_mode_only = true };
	struct arm_run *r = arm_run_new(&o);

	(void)state;
	arm_run_exec(r);
	arm_run_exit(r);
	arm_run_fails(r, HWTD_E_UNSUPPORTED, "CPU");
	arm_run_free(r);
}

static void
a_program_that_runs_on_is_sampled_up_to_the_end_of_the_capture(void **state)
{
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(NULL);
	size_t at = 0;

	(void)state;
	r->run.options.max_ns = 20 * MS;
	arm_run_exec(r);
	arm_run_sample(r, 0, 0, MS, 0x1000, COUNT, 9);
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_IDLE, .ns = 10000 * MS });
	arm_run_ok(r);
	arm_run_assert_losses(r, "");
	assert_int_equal(r->run.status.program_ended, 0);
	trace = engine_run_open(&r->run);
	assert_int_equal(arm_run_samples(trace,
			     arm_run_stream(trace, "spe thread 0", &desc),
			     samples, ROOM),
	    9);
	arm_run_assert_samples(samples, &at, 9, 0x1000, COUNT, HWTD_NO_ID,
	    HWTD_NO_ID);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_cpus_are_saved_to_the_last_half),
		cmocka_unit_test(
		    samples_of_threads_are_theirs_on_whatever_cpu),
		cmocka_unit_test(
		    halves_are_given_back_before_the_other_one_is_full),
		cmocka_unit_test(
		    what_sampling_missed_while_both_halves_were_full_is_told),
		cmocka_unit_test(
		    whenever_halves_become_full_what_is_missing_is_told),
		cmocka_unit_test(
		    a_cut_record_is_told_once_though_the_flag_stays),
		cmocka_unit_test(halves_of_an_earlier_capture_are_passed_over),
		cmocka_unit_test(a_half_that_is_refused_is_given_back_later),
		cmocka_unit_test(
		    sampling_that_the_kernel_ends_is_an_error_and_what_came_before_is_saved),
		cmocka_unit_test(several_last_halves_are_taken_once_each),
		cmocka_unit_test(events_are_there_before_sampling_starts),
		cmocka_unit_test(configs_are_as_asked_for),
		cmocka_unit_test(
		    configs_that_cannot_be_are_refused_before_anything_is_made),
		cmocka_unit_test(contexts_that_are_cpus_name_no_process),
		cmocka_unit_test(the_cpu_is_told_by_its_model),
		cmocka_unit_test(
		    threads_with_numbers_of_no_cpu_are_not_served_and_stalls_are_told),
		cmocka_unit_test(kernels_that_sample_cpus_only_say_so),
		cmocka_unit_test(
		    a_program_that_runs_on_is_sampled_up_to_the_end_of_the_capture),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
