/*
 * Captures of CoreSight from the first call to the flow of each source.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arm_run.h"
#include "simkernel/sim_internal.h"
#include "simkernel_calls.h"
#include "support/cs_case.h"
#include "support/frame_writer.h"
#include "support/mapped_trace.h"

#define MS UINT64_C(1000000)
#define FRAME 16u
/* A program of branches at 0x80001000, and a trace of running it. */
#define CASE                                                                  \
	TEST_FIXTURES                                                         \
	"/cs-good/atoms-of-every-format-are-branches-oldest-first"
#define CODE 0x80001000u

struct cs_run {
	struct arm_run *r;
	struct cs_case c;
	char path[300];
	struct frame_writer frames;
	uint8_t buffer[1 << 16];
	/* Of these: in steps. */
	size_t traced;
};

static char warning[300];
/* The ioctl(2) of the simulated kernel. */
static int (*small_pages)(void *, int, unsigned long, void *);

static void
keep_warning(void *arg, const struct hwtd_log_record *record)
{
	(void)arg;
	(void)snprintf(warning, sizeof(warning), "%s", record->message);
}

/* CoreSight without what the case has not. */
static struct cs_run *
cs_run_new(const struct sim_options *sim)
{
	const struct hwtd_context_options log = {
		.size = sizeof(log),
		.log = keep_warning,
		.log_level = HWTD_LOG_WARNING,
	};
	struct sim_options o = { .n_cpus = 2 };
	struct cs_run *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	if (sim != NULL)
		o = *sim;
	o.flavour = SIM_FORK;
	t->r = arm_run_new(&o);
	hwtd_context_destroy(t->r->run.ctx);
	assert_int_equal(hwtd_context_create(&log, &t->r->run.ctx, NULL),
	    HWTD_OK);
	warning[0] = '\0';
	t->r->run.options.spe = NULL;
	t->r->run.options.coresight = &t->r->cs;
	t->r->cs.buffer_bytes = 4 * ARM_RUN_PAGE;
	t->r->cs.flags = HWTD_CAPTURE_CSF_NO_RETURN_STACK |
	    HWTD_CAPTURE_CSF_NO_TIMESTAMPS | HWTD_CAPTURE_CSF_NO_CONTEXT;
	cs_case_load(CASE, &t->c);
	frame_writer_init(&t->frames, t->buffer, sizeof(t->buffer));
	return (t);
}

static void
cs_run_free(struct cs_run *t)
{
	cs_case_free(&t->c);
	arm_run_free(t->r);
	free(t);
}

/* The program is there as a file, and mapped where the trace has it. */
static void
exec_case(struct cs_run *t)
{
	const struct small_elf elf = {
		.type = 3,
		.code = t->c.code[0].bytes,
		.n_code = t->c.code[0].n,
	};

	assert_int_equal(t->c.code[0].address, CODE);
	(void)temp_dir_file(&t->r->run.dir, "program", t->path);
	small_elf_write(&elf, t->path);
	arm_run_step(t->r,
	    &(struct sim_step){ .op = SIM_EXEC,
		.path = t->path,
		.addr = CODE - 0x1000,
		.off = 0x1000,
		.len = 0x1000 });
}

/* Running the program, as the source `id` tells it. */
static void
put_case(struct cs_run *t, uint8_t id)
{
	for (size_t i = 0; i < t->c.n; i++)
		frame_writer_put(&t->frames, id, t->c.bytes[i]);
}

/* What was put since the last time is written, in whole frames. */
static void
trace_frames(struct cs_run *t, unsigned thread, unsigned cpu, uint64_t ns)
{
	const size_t first = t->traced;

	frame_writer_finish(&t->frames);
	t->traced = t->frames.n;
	arm_run_step(t->r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.thread = thread,
		.cpu = cpu,
		.ns = ns,
		.bytes = t->buffer + first,
		.n = t->frames.n - first });
}

/* Frames of one source whose bytes differ from all others. */
static void
trace_unique(struct cs_run *t, uint64_t ns, size_t frames, uint64_t piece_ns)
{
	uint8_t *bytes = t->r->bytes + t->r->n_bytes;

	assert_true(t->r->n_bytes + frames * FRAME <= sizeof(t->r->bytes));
	for (size_t i = 0; i < frames; i++) {
		const uint64_t word = 1 + (t->r->n_bytes / FRAME);

		bytes = t->r->bytes + t->r->n_bytes;
		memset(bytes, 0x40, FRAME);
		bytes[0] = 1 << 1 | 1;
		for (unsigned k = 0; k < 4; k++)
			bytes[3 + 2 * k] = (uint8_t)(word >> 8 * k);
		bytes[15] = 0;
		t->r->n_bytes += FRAME;
	}
	arm_run_step(t->r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.ns = ns,
		.bytes = bytes + FRAME - frames * FRAME,
		.n = frames * FRAME,
		.piece = 1024,
		.piece_ns = piece_ns });
}

/* The flow of a source is `times` times that of the case. */
static void
assert_flow(const struct cs_run *t, struct hwtd_trace *trace, uint32_t stream,
    unsigned times)
{
	struct hwtd_trace *alone = cs_case_trace(&t->c, 0);
	struct mt_rows want, got;
	size_t n = 0, at = 0;

	mt_rows(alone, NULL, &want);
	mt_rows(trace, NULL, &got);
	for (size_t i = 0; i < want.n; i++)
		n += want.at[i].row.kind == HWTD_EV_BLOCK;
	assert_true(n > 20);
	n *= times;
	for (size_t i = 0, k = 0; i < got.n; i++) {
		const struct hwtd_event *a = &got.at[i].row, *b;

		if (a->stream != stream || a->kind != HWTD_EV_BLOCK)
			continue;
		while (want.at[k % want.n].row.kind != HWTD_EV_BLOCK)
			k++;
		b = &want.at[k++ % want.n].row;
		assert_int_equal(a->ip, b->ip);
		assert_int_equal(a->insns, b->insns);
		assert_int_equal(a->bytes, b->bytes);
		at++;
	}
	assert_int_equal(at, n);
	mt_rows_free(&got);
	mt_rows_free(&want);
	hwtd_trace_close(alone);
}

static void
threads_share_one_ring_and_their_flows_are_told_apart(void **state)
{
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct cs_run *t = cs_run_new(NULL);
	uint32_t stream, sink, tids[2];

	(void)state;
	exec_case(t);
	arm_run_step(t->r,
	    &(struct sim_step){ .op = SIM_THREAD_CREATE, .number = 1 });
	put_case(t, 1);
	trace_frames(t, 0, 0, MS);
	put_case(t, 2);
	trace_frames(t, 1, 1, 3 * MS);
	/* A thread keeps its ID on another CPU. */
	put_case(t, 1);
	trace_frames(t, 0, 1, 4 * MS);
	arm_run_exit(t->r);
	arm_run_ok(t->r);
	arm_run_assert_losses(t->r, "");
	for (size_t i = 0; i < 2; i++) {
		struct sim_buffer b;

		sim_buffer(t->r->run.kernel, i, &b);
		tids[i] = b.tid;
		/* Only the ring of the first one is ever written. */
		assert_int_equal(b.n, i == 0 ? t->frames.n : 0);
	}
	trace = engine_run_open(&t->r->run);
	sink = arm_run_stream(trace, "ETR", &desc);
	assert_int_equal(desc.framing, HWTD_FRAMING_MEMORY);
	assert_int_equal(desc.n_bytes, t->frames.n);
	stream = arm_run_stream(trace, "ID 1", &desc);
	assert_int_equal(desc.sink_plus_1, sink + 1);
	assert_int_equal(desc.tid, tids[0]);
	assert_int_equal(desc.coresight->trace_id, 1);
	assert_int_equal(desc.coresight->configr, 0);
	assert_int_equal(desc.coresight->idr[0], 0x28000ea1);
	assert_flow(t, trace, stream, 2);
	stream = arm_run_stream(trace, "ID 2", &desc);
	assert_int_equal(desc.tid, tids[1]);
	assert_int_equal(desc.coresight->trace_id, 2);
	assert_flow(t, trace, stream, 1);
	hwtd_trace_close(trace);
	cs_run_free(t);
}

static void
sources_of_cpus_have_the_registers_of_their_unit(void **state)
{
	static const uint32_t idr1 = 0x4100f442;
	static const uint32_t cpus[] = { 2, 1 };
	const struct sim_options o = { .n_cpus = 3 };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct cs_run *t = cs_run_new(&o);

	(void)state;
	t->r->run.options.mode = HWTD_CAPTURE_CPUS;
	t->r->run.options.cpus = cpus;
	t->r->run.options.n_cpus = 2;
	sim_set_sysctl(t->r->run.kernel, "dev.coresight_etm4x.2.idr1", &idr1,
	    sizeof(idr1));
	exec_case(t);
	put_case(t, 2);
	trace_frames(t, 0, 1, MS);
	put_case(t, 3);
	trace_frames(t, 0, 2, MS);
	arm_run_exit(t->r);
	arm_run_ok(t->r);
	arm_run_assert_losses(t->r, "");
	/* Forks have no stop of it, and would panic. */
	assert_int_equal(sim_call_count(t->r->run.kernel, SIM_CALL_STOP), 0);
	assert_int_equal(sim_call_count(t->r->run.kernel, SIM_CALL_MMAP), 1);
	assert_int_equal(t->r->run.status.n_bytes, t->frames.n);
	trace = engine_run_open(&t->r->run);
	(void)arm_run_stream(trace, "ID 2", &desc);
	assert_int_equal(desc.cpu, 1);
	assert_int_equal(desc.tid, HWTD_NO_ID);
	assert_int_equal(desc.coresight->idr[1], 0x4100f403);
	assert_true(desc.n_bytes >= t->c.n);
	(void)arm_run_stream(trace, "ID 3", &desc);
	assert_int_equal(desc.cpu, 2);
	assert_int_equal(desc.coresight->idr[1], idr1);
	assert_true(desc.n_bytes >= t->c.n);
	hwtd_trace_close(trace);
	cs_run_free(t);
}

static void
registers_that_cannot_be_read_are_a_warning(void **state)
{
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct cs_run *t = cs_run_new(NULL);

	(void)state;
	sim_set_sysctl(t->r->run.kernel, "dev.coresight_etm4x.0.idr8", NULL,
	    0);
	exec_case(t);
	put_case(t, 1);
	trace_frames(t, 0, 0, MS);
	arm_run_exit(t->r);
	arm_run_ok(t->r);
	arm_run_assert_losses(t->r, "");
	if (strstr(warning, "dev.coresight_etm4x") == NULL)
		fail_msg("\"%s\"", warning);
	trace = engine_run_open(&t->r->run);
	(void)arm_run_stream(trace, "ID 1", &desc);
	assert_int_equal(desc.coresight->trace_id, 1);
	assert_int_equal(desc.coresight->idr[8], 0);
	hwtd_trace_close(trace);
	cs_run_free(t);
}

/* Extents of the sink: "[0,1000) new\n", one a line. */
static void
assert_extents(const struct cs_run *t, const char *text)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace = engine_run_open(&t->r->run);
	char out[600] = "";
	size_t n = 0;

	for (size_t i = 0;
	     hwtd_trace_extent(trace, arm_run_stream(trace, "ETR", &desc), i,
		 &e) == HWTD_OK;
	     i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n,
		    "[%" PRIu64 ",%" PRIu64 ") %s\n", e.start, e.end,
		    e.why == HWTD_EXTENT_NEW ? "new" : "after-loss");
	assert_string_equal(out, text);
	hwtd_trace_close(trace);
}

static void
a_ring_that_goes_round_is_one_piece_while_looks_keep_up(void **state)
{
	struct cs_run *t = cs_run_new(NULL);

	(void)state;
	exec_case(t);
	/* 10 pages, 2 ms for each, in a ring of 4. */
	trace_unique(t, MS, 2560, 500000);
	arm_run_exit(t->r);
	arm_run_ok(t->r);
	arm_run_assert_losses(t->r, "");
	assert_extents(t, "[0,40960) new\n");
	cs_run_free(t);
}

/* Positions are told in pages of the machine. */
static int
ask_in_large_pages(void *state, int fd, unsigned long request, void *arg)
{
	struct hwtdi_hwt_bufptr_get call;
	int32_t page;
	uint64_t offset;
	const int rc = small_pages(state, fd, request, arg);

	if (rc < 0 || request != HWTDI_HWT_IOC_BUFPTR_GET)
		return (rc);
	memcpy(&call, arg, sizeof(call));
	memcpy(&page, (const void *)(uintptr_t)call.ident, sizeof(page));
	memcpy(&offset, (const void *)(uintptr_t)call.offset, sizeof(offset));
	offset += (uint64_t)(page % 4) * ARM_RUN_PAGE;
	page /= 4;
	memcpy((void *)(uintptr_t)call.ident, &page, sizeof(page));
	memcpy((void *)(uintptr_t)call.offset, &offset, sizeof(offset));
	return (rc);
}

static void
positions_are_in_pages_of_the_machine(void **state)
{
	static const uint32_t page = 4 * ARM_RUN_PAGE;
	struct cs_run *t = cs_run_new(NULL);
	struct hwtdi_system *sys = (struct hwtdi_system *)(uintptr_t)
	    sim_system(t->r->run.kernel);

	(void)state;
	sim_set_sysctl(t->r->run.kernel, "hw.pagesize", &page, sizeof(page));
	small_pages = sys->ioctl;
	sys->ioctl = ask_in_large_pages;
	t->r->cs.buffer_bytes = 4 * (uint64_t)page;
	exec_case(t);
	trace_unique(t, MS, 2560 * 2, 500000);
	arm_run_exit(t->r);
	arm_run_ok(t->r);
	arm_run_assert_losses(t->r, "");
	assert_extents(t, "[0,81920) new\n");
	cs_run_free(t);
}

static void
what_was_written_over_is_told_and_the_rest_begins_with_a_frame(void **state)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct cs_run *t = cs_run_new(NULL);
	uint32_t sink;
	size_t n;

	(void)state;
	exec_case(t);
	/* 10 pages between two looks, in a ring of 4; then a page. */
	trace_unique(t, MS, 2560, 10);
	trace_unique(t, 5 * MS, 256, 10);
	arm_run_exit(t->r);
	arm_run_ok(t->r);
	assert_true(t->r->run.status.losses[HWTD_CAPTURE_LOST_BYTES] > 0 ||
	    t->r->run.status.losses[HWTD_CAPTURE_LOST_UNKNOWN] > 0);
	trace = engine_run_open(&t->r->run);
	sink = arm_run_stream(trace, "ETR", &desc);
	/* What is there was there last. */
	assert_true(desc.n_bytes >= 4096 && desc.n_bytes <= 5 * 4096);
	assert_int_equal(hwtd_trace_extent(trace, sink, 0, &e), HWTD_OK);
	assert_int_equal(e.why, HWTD_EXTENT_AFTER_LOSS);
	for (uint64_t at = e.start; at < e.end; at += FRAME) {
		uint8_t frame[FRAME];

		assert_int_equal(hwtd_trace_read_bytes(trace, sink, at, frame,
				     FRAME, &n, NULL),
		    HWTD_OK);
		assert_int_equal(n, FRAME);
		assert_int_equal(frame[0], 1 << 1 | 1);
		assert_int_equal(frame[15], 0);
	}
	hwtd_trace_close(trace);
	cs_run_free(t);
}

static void
threads_without_a_trace_id_are_told(void **state)
{
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct cs_run *t = cs_run_new(NULL);
	struct sim_program *script = sim_program(t->r->run.kernel, NULL);
	struct hwtd_trace_info info = { .size = sizeof(info) };

	(void)state;
	/* Numbers 0 to 111 are IDs 1 to 112, of which the last is reserved. */
	sim_add(script, &(struct sim_step){ .op = SIM_EXIT, .ns = 20 * MS });
	t->r->run.options.argv = NULL;
	t->r->run.options.pid = (uint32_t)sim_start(t->r->run.kernel, script,
	    "program", 112);
	if (engine_run(&t->r->run) != HWTD_OK)
		fail_msg("%s", t->r->run.err.message);
	engine_run_check(&t->r->run);
	arm_run_assert_losses(t->r, "threads=1");
	if (strstr(warning, "number 111 has no trace ID") == NULL)
		fail_msg("\"%s\"", warning);
	trace = engine_run_open(&t->r->run);
	(void)arm_run_stream(trace, "ID 111", &desc);
	assert_int_equal(desc.coresight->trace_id, 0x6f);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(info.n_streams, 112);
	hwtd_trace_close(trace);
	cs_run_free(t);
}

/* What the kernel was given; `text` says it. */
static void
config_is(uint32_t flags, uint32_t threshold, const char *text)
{
	struct cs_run *t = cs_run_new(NULL);
	const struct sim_context *kernel;
	struct hwtdi_hwt_cs_config c;
	char got[200];

	t->r->cs.flags = flags;
	t->r->cs.cycle_threshold = threshold;
	exec_case(t);
	arm_run_exit(t->r);
	arm_run_ok(t->r);
	kernel = t->r->run.kernel->contexts[0];
	assert_int_equal(kernel->config_size, 816);
	assert_int_equal(kernel->config_version, 1);
	memcpy(&c, kernel->config, sizeof(c));
	(void)snprintf(got, sizeof(got),
	    "cfg %#x sync %u cycles %u vinst %#x ranges %#x", c.cfg,
	    c.syncfreq, c.ccctlr, c.vinst_ctrl, c.viiectlr);
	assert_string_equal(got, text);
	(void)snprintf(got, sizeof(got), "coresight.trcconfigr=%#x", c.cfg);
	arm_run_assert_said(t->r, got);
	cs_run_free(t);
}

static void
the_config_has_all_of_its_bytes(void **state)
{
	(void)state;
	/* RS 12, TS 11, VMID 7, CID 6. */
	config_is(0, 0, "cfg 0x18c0 sync 12 cycles 256 vinst 0x201 ranges 0");
	/* CCI 4, BB 3. */
	config_is(HWTD_CAPTURE_CSF_CYCLES | HWTD_CAPTURE_CSF_BRANCH_BROADCAST |
		HWTD_CAPTURE_CSF_NO_CONTEXT,
	    12, "cfg 0x1818 sync 12 cycles 12 vinst 0x201 ranges 0");
}

static void
configs_that_cannot_be_are_refused_before_anything_is_made(void **state)
{
	struct cs_run *t = cs_run_new(NULL);

	(void)state;
	exec_case(t);
	t->r->cs.cycle_threshold = 0x1000;
	arm_run_fails(t->r, HWTD_E_INVALID, "threshold of 4096");
	t->r->cs.cycle_threshold = 0;
	t->r->cs.flags = 0x100;
	arm_run_fails(t->r, HWTD_E_INVALID, "0x100");
	t->r->cs.flags = 0;
	t->r->cs.buffer_bytes = 5000;
	arm_run_fails(t->r, HWTD_E_INVALID, "5000");
	assert_int_equal(sim_call_count(t->r->run.kernel, SIM_CALL_ALLOC), 0);
	assert_int_not_equal(access(t->r->run.output, F_OK), 0);
	cs_run_free(t);
}

static void
another_capture_of_coresight_that_runs_is_told(void **state)
{
	struct cs_run *t = cs_run_new(NULL);

	(void)state;
	exec_case(t);
	/* The call was tried again until a signal came. */
	sim_fail(t->r->run.kernel, SIM_CALL_ALLOC, 1, EINTR);
	arm_run_fails(t->r, HWTD_E_STATE, "another context of coresight");
	assert_int_not_equal(access(t->r->run.output, F_OK), 0);
	cs_run_free(t);
}

static void
a_machine_without_coresight_says_so(void **state)
{
	const struct sim_options o = { .backends = SIM_SPE };
	struct cs_run *t = cs_run_new(&o);

	(void)state;
	exec_case(t);
	arm_run_fails(t->r, HWTD_E_UNSUPPORTED, "coresight");
	cs_run_free(t);
}

static void
the_fifo_in_front_of_the_ring_may_have_the_last_frames(void **state)
{
	const struct sim_options o = { .etf_bytes = 256 };
	struct engine_account account;
	struct cs_run *t = cs_run_new(&o);

	(void)state;
	exec_case(t);
	trace_unique(t, MS, 512, 100000);
	arm_run_exit(t->r);
	if (engine_run(&t->r->run) != HWTD_OK)
		fail_msg("%s", t->r->run.err.message);
	engine_run_check(&t->r->run);
	engine_account(&t->r->run, false, &account);
	assert_string_equal(account.wrong, "");
	/* 512 frames but 16, which nobody can read. */
	assert_extents(t, "[0,7936) new\n");
	cs_run_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    threads_share_one_ring_and_their_flows_are_told_apart),
		cmocka_unit_test(
		    sources_of_cpus_have_the_registers_of_their_unit),
		cmocka_unit_test(registers_that_cannot_be_read_are_a_warning),
		cmocka_unit_test(
		    a_ring_that_goes_round_is_one_piece_while_looks_keep_up),
		cmocka_unit_test(positions_are_in_pages_of_the_machine),
		cmocka_unit_test(
		    what_was_written_over_is_told_and_the_rest_begins_with_a_frame),
		cmocka_unit_test(threads_without_a_trace_id_are_told),
		cmocka_unit_test(the_config_has_all_of_its_bytes),
		cmocka_unit_test(
		    configs_that_cannot_be_are_refused_before_anything_is_made),
		cmocka_unit_test(
		    another_capture_of_coresight_that_runs_is_told),
		cmocka_unit_test(a_machine_without_coresight_says_so),
		cmocka_unit_test(
		    the_fifo_in_front_of_the_ring_may_have_the_last_frames),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
