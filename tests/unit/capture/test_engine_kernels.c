/*
 * Captures of Intel PT on the kernels that there are, and what files tell of how
 * they were made.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pt_run.h"

#define BIAS 0x200000u
#define START (BIAS + PT_RUN_CODE)
#define OTHER 0x7f0000u
#define MODE "mode value=0 status 64\n"
#define ROWS 8192
#define MS 1000000u

static const struct sim_options bsd = { .flavour = SIM_5BSD };

static void
records_of_5bsd_tell_lengths_and_places(void **state)
{
	char rows[ROWS] = MODE;
	const char *library;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, &bsd);
	library = pt_run_file(&r, "library.so", 3, 5, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_mmap(&r, 0, library, OTHER);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, OTHER + PT_RUN_CODE, 2));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_MUNMAP,
		.ns = 5 * MS,
		.addr = OTHER + PT_RUN_CODE,
		.len = PT_RUN_PAGE });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), OTHER + PT_RUN_CODE, 2, 1);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "mmap 7f1000+1000 off=1000 $/library.so id=05*20\n"
	    "thread-name program thread 0\n"
	    "munmap 7f1000\n");
	pt_run_assert_said(&r, "pt.kernel", "5bsd");
	pt_run_assert_said(&r, "pt.entry_bytes", "1072");
	pt_run_fini(&r);
}

static void
an_overflow_is_a_loss_of_its_stream(void **state)
{
	struct pt_run r;
	const struct pt_packets *p;

	(void)state;
	pt_run_init(&r, &bsd);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	p = pt_run_flow(&r, START, 3);
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.ns = 5 * MS,
		.bytes = p->bytes,
		.n = p->n,
		.flags = SIM_STAY });
	pt_run_step(&r, &(struct sim_step){ .op = SIM_PT_ERROR });
	pt_run_step(&r, &(struct sim_step){ .op = SIM_SWITCH_OUT });
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_losses(&r, "unknown=1");
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "thread-name program thread 0\n"
	    "lost value=1 unknown stream 0\n");
	assert_int_equal(pt_run_check_bytes(&r), 0);
	pt_run_fini(&r);
}

static void
tracing_is_stopped_only_where_kernels_can(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		char rows[ROWS] = MODE;
		const struct pt_packets *p;
		struct pt_run r;

		pt_run_init(&r, i == 0 ? NULL : &bsd);
		r.run.options.max_ns = 30 * MS;
		pt_run_exec(&r, r.path, BIAS);
		/* It is on its CPU when the capture ends. */
		p = pt_run_flow(&r, START, 6);
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_TRACE,
			.ns = 5 * MS,
			.bytes = p->bytes,
			.n = p->n,
			.flags = SIM_STAY });
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_IDLE, .ns = 500 * MS });
		pt_run_exit(&r, 0);
		pt_run_ok(&r);
		pt_run_rows(rows, sizeof(rows), START, 6, 0);
		pt_run_assert_rows(&r, 0, rows);
		pt_run_assert_losses(&r, "");
		assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_STOP),
		    i);
		pt_run_fini(&r);
	}
}

static void
times_are_recorded_where_kernels_can(void **state)
{
	static const struct {
		uint32_t flags;
		uint8_t mtc, cyc, psb;
		const char *ctl;
	} kinds[] = {
		/* TraceEn, User, ToPA, DisRETC not set, BranchEn. */
		{ HWTD_CAPTURE_PTF_TSC, 0, 0, 0, "0x2509" },
		{ HWTD_CAPTURE_PTF_MTC, 3, 0, 0, "0x2709" },
		{ HWTD_CAPTURE_PTF_CYC, 0, 2, 0, "0x250b" },
		{ HWTD_CAPTURE_PTF_PTWRITE, 0, 0, 0, "0x3129" },
		{ 0, 0, 0, 3, "0x2109" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		/* With PTWRITE too, which the simulated CPU has not. */
		static const uint32_t leaf[4] = { 1, 0x1f, 7, 0 };
		struct pt_run r;

		for (int stock = 0; stock < 2; stock++) {
			pt_run_init(&r, stock ? NULL : &bsd);
			sim_set_cpuid(r.run.kernel, 0x14, 0, leaf);
			r.pt.flags = kinds[i].flags;
			r.pt.mtc_freq = kinds[i].mtc;
			r.pt.cyc_threshold = kinds[i].cyc;
			r.pt.psb_freq = kinds[i].psb;
			pt_run_exec(&r, r.path, BIAS);
			pt_run_trace(&r, 0, MS, pt_run_flow(&r, START, 1));
			pt_run_exit(&r, 0);
			if (stock) {
				pt_run_fails(&r, HWTD_E_UNSUPPORTED, "5BSD");
				/* And nothing was run. */
				assert_int_equal(sim_call_count(r.run.kernel,
						     SIM_CALL_START),
				    0);
				assert_int_equal(temp_dir_count(&r.run.dir),
				    1);
			} else {
				pt_run_ok(&r);
				pt_run_assert_said(&r, "pt.rtit_ctl",
				    kinds[i].ctl);
			}
			pt_run_fini(&r);
		}
	}
}

static void
what_a_cpu_cannot_do_is_refused_before_it_panics(void **state)
{
	static const struct {
		uint32_t flags;
		uint8_t mtc;
		uint32_t ebx;
		const char *words;
	} kinds[] = {
		/* Not in EBX of CPUID.14H. */
		{ HWTD_CAPTURE_PTF_PTWRITE, 0, 0x0f, "PTW" },
		{ HWTD_CAPTURE_PTF_CYC, 0, 0x1d, "CYC" },
		{ HWTD_CAPTURE_PTF_MTC, 0, 0x17, "MTC" },
		{ HWTD_CAPTURE_PTF_NO_TNT, 0, 0x0f, "TNT" },
		/* Not in the map of frequencies. */
		{ HWTD_CAPTURE_PTF_MTC, 1, 0x0f, "mtc_freq 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const uint32_t leaf[4] = { 1, kinds[i].ebx, 7, 0 };
		struct pt_run r;
		int rc;

		pt_run_init(&r, &bsd);
		sim_set_cpuid(r.run.kernel, 0x14, 0, leaf);
		r.pt.flags = kinds[i].flags;
		r.pt.mtc_freq = kinds[i].mtc;
		pt_run_exec(&r, r.path, BIAS);
		pt_run_exit(&r, 0);
		rc = engine_run(&r.run);
		engine_run_check(&r.run);
		if ((rc != HWTD_E_INVALID && rc != HWTD_E_UNSUPPORTED) ||
		    strstr(r.run.err.message, kinds[i].words) == NULL)
			fail_msg("%zu: %d %s", i, rc, r.run.err.message);
		assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_START),
		    0);
		pt_run_fini(&r);
	}
}

static void
a_machine_without_pt_says_why(void **state)
{
	static const uint32_t none[4] = { 0 };
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	sim_set_cpuid(r.run.kernel, 7, 0, none);
	pt_run_fails(&r, HWTD_E_UNSUPPORTED, "Intel PT");
	pt_run_fini(&r);

	pt_run_init(&r, &(struct sim_options){ .backends = SIM_NO_BACKEND });
	pt_run_fails(&r, HWTD_E_UNSUPPORTED, "pt");
	pt_run_fini(&r);

	pt_run_init(&r, &(struct sim_options){ .device_error = 2 });
	pt_run_fails(&r, HWTD_E_UNSUPPORTED, "/dev/hwt");
	pt_run_fini(&r);

	/* EACCES */
	pt_run_init(&r, &(struct sim_options){ .device_error = 13 });
	pt_run_fails(&r, HWTD_E_IO, "/dev/hwt");
	assert_int_equal(r.run.err.sys_errno, 13);
	pt_run_fini(&r);
}

static void
default_buffers_are_the_largest_that_are_safe(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.run.options.pt = NULL;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_said(&r, "pt.buffer_bytes", "2093056");
	assert_int_equal(sim_risks(r.run.kernel), 0);
	pt_run_fini(&r);

	pt_run_init(&r, NULL);
	r.pt.buffer_bytes = 512 * PT_RUN_PAGE;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_fails(&r, HWTD_E_INVALID, "511");
	pt_run_fini(&r);

	pt_run_init(&r, NULL);
	r.pt.buffer_bytes = 512 * PT_RUN_PAGE;
	r.pt.flags = HWTD_CAPTURE_PTF_ANY_BUFFER;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_fini(&r);
}

/* What is needed to decode it elsewhere, or to judge it. */
static void
the_file_says_how_it_was_made(void **state)
{
	struct pt_run r;
	struct hwtd_trace *trace;
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	(void)state;
	pt_run_init(&r, NULL);
	r.argv[1] = "one\ntwo";
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_said(&r, "mode", "threads");
	pt_run_assert_said(&r, "pid", "101");
	pt_run_assert_said(&r, "argv.0", r.path);
	/* A line stays one. */
	pt_run_assert_said(&r, "argv.1", "one two");
	pt_run_assert_said(&r, "os", "FreeBSD 15.0-RELEASE");
	pt_run_assert_said(&r, "arch", "amd64");
	pt_run_assert_said(&r, "cpus", "2");
	pt_run_assert_said(&r, "page_bytes", "4096");
	pt_run_assert_said(&r, "cpuid.signature",
	    "family 6 model 158 stepping 10");
	pt_run_assert_said(&r, "cpuid.14h.0", "0x1 0xf 0x7 0");
	pt_run_assert_said(&r, "cpuid.14h.1", "0x2490002 0x3f3fff 0 0");
	pt_run_assert_said(&r, "cpuid.15h", "0x2 0xd8 0x16e3600");
	pt_run_assert_said(&r, "module.0",
	    "0xffffffff80200000 0x1d52000 kernel /boot/kernel/kernel");
	pt_run_assert_said(&r, "pt.ident", "0");
	pt_run_assert_said(&r, "pt.buffer_bytes", "1048576");
	pt_run_assert_said(&r, "pt.entry_bytes", "1056");
	pt_run_assert_said(&r, "pt.kernel", "stock");
	pt_run_assert_said(&r, "pt.records",
	    "branches of programs, without times");
	pt_run_assert_said(&r, "pt.rtit_ctl", "0x2109");
	pt_run_assert_said(&r, "program.status", "0");

	trace = engine_run_open(&r.run);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_string_equal(info.format, "hwt");
	assert_string_equal(info.abi, "FreeBSD amd64");
	assert_string_equal(info.clock, "CLOCK_MONOTONIC");
	assert_non_null(strstr(info.cpu_model, "Core(TM)"));
	assert_non_null(strstr(info.origin, "hwt(4)"));
	assert_int_equal(info.n_damages, 0);
	assert_int_equal(hwtd_trace_stream(trace, 0, &desc), HWTD_OK);
	assert_string_equal(desc.name, "pt thread 0");
	assert_int_equal(desc.pid, 101);
	assert_int_equal(desc.pt->cpu_family, 6);
	assert_int_equal(desc.pt->cpu_model, 158);
	assert_int_equal(desc.pt->cpu_stepping, 10);
	assert_int_equal(desc.pt->cpuid_15h_eax, 2);
	assert_int_equal(desc.pt->cpuid_15h_ebx, 0xd8);
	hwtd_trace_close(trace);
	pt_run_fini(&r);
}

/* A line that does not fit is left out, and the others are there. */
static void
what_is_too_long_to_be_said_is_left_out(void **state)
{
	static char endless[80000];
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	memset(endless, 'x', sizeof(endless) - 1);
	r.argv[1] = endless;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_said(&r, "argv.0", r.path);
	pt_run_assert_said(&r, "argv.1", NULL);
	pt_run_assert_said(&r, "os", "FreeBSD 15.0-RELEASE");
	pt_run_assert_said(&r, "program.status", "0");
	pt_run_assert_said(&r, "left_out", "1 lines");
	pt_run_fini(&r);
}

/* "cc *.c" has thousands of words, and a kernel has hundreds of modules. */
static void
long_lists_leave_out_nothing_else(void **state)
{
	static const char *argv[6001];
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	for (size_t i = 0; i < 6000; i++)
		argv[i] = "some/folder/with/a/file.c";
	argv[0] = r.path;
	r.run.options.argv = argv;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_said(&r, "os", "FreeBSD 15.0-RELEASE");
	pt_run_assert_said(&r, "pt.kernel", "stock");
	pt_run_assert_said(&r, "pt.rtit_ctl", "0x2109");
	pt_run_assert_said(&r, "program.status", "0");
	pt_run_assert_said(&r, "argv.5", argv[5]);
	pt_run_assert_said(&r, "argv.5999", NULL);
	pt_run_fini(&r);
}

/* Each look that took bytes says how many, and when. */
static void
positions_have_times_and_lengths(void **state)
{
	struct hwtd_record rec = { .size = sizeof(rec) };
	struct hwtd_trace *trace;
	struct pt_run r;
	uint64_t ends[4] = { 0 }, times[4] = { 0 };
	unsigned n = 0;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	for (unsigned i = 0; i < 3; i++)
		pt_run_trace(&r, 0, 10 * MS, pt_run_unique(&r, 100 + i));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	trace = engine_run_open(&r.run);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &rec) == HWTD_OK;
	     i++) {
		if (rec.type != HWTD_REC_BUFFER || rec.stream != 0)
			continue;
		assert_true(n < 4);
		assert_int_equal(rec.len, 100 + n);
		assert_true((rec.flags & HWTD_RECF_STREAM_OFF) != 0);
		assert_true((rec.flags & HWTD_RECF_TIME) != 0);
		ends[n] = rec.stream_off;
		times[n++] = rec.time_ns;
	}
	assert_int_equal(n, 3);
	assert_int_equal(ends[0], 100);
	assert_int_equal(ends[1], 201);
	assert_int_equal(ends[2], 303);
	/* A slice each 10 ms, looks each ms. */
	assert_in_range(times[1] - times[0], 9 * MS, 11 * MS);
	assert_in_range(times[2] - times[1], 9 * MS, 11 * MS);
	hwtd_trace_close(trace);
	pt_run_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_5bsd_tell_lengths_and_places),
		cmocka_unit_test(an_overflow_is_a_loss_of_its_stream),
		cmocka_unit_test(tracing_is_stopped_only_where_kernels_can),
		cmocka_unit_test(times_are_recorded_where_kernels_can),
		cmocka_unit_test(
		    what_a_cpu_cannot_do_is_refused_before_it_panics),
		cmocka_unit_test(a_machine_without_pt_says_why),
		cmocka_unit_test(
		    default_buffers_are_the_largest_that_are_safe),
		cmocka_unit_test(the_file_says_how_it_was_made),
		cmocka_unit_test(what_is_too_long_to_be_said_is_left_out),
		cmocka_unit_test(long_lists_leave_out_nothing_else),
		cmocka_unit_test(positions_have_times_and_lengths),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
