/*
 * Formats for compilers, of small programs whose counts are worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/compiler_case.h"
#include "support/mapped_trace.h"

#define ALL HWTD_NO_ID

struct fixture {
	struct temp_dir dir;
	struct hwtd_trace *trace;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return (-1);
	temp_dir_create(&f->dir);
	f->trace = mr_create(f->dir.path);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtd_trace_close(f->trace);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

/*
 * 0: nop; dec %eax; jne 0   5: call 0x10   0xa: jmp *%rax   0x10: ret
 */
static const uint8_t program_code[] = { 0x90, 0xff, 0xc8, 0x75, 0xfb, 0xe8,
	0x06, 0, 0, 0, 0xff, 0xe0, 0x90, 0x90, 0x90, 0x90, 0xc3 };
/* 0: nop; ret */
static const uint8_t library_code[] = { 0x90, 0xc3 };

static const struct cc_program library = { 3, 0, 0x60000000, library_code,
	sizeof(library_code) };
static const struct cc_program moved = { 3, 0, 0x50000000, program_code,
	sizeof(program_code) };
static const struct cc_program fixed = { 2, 0x400000, 0, program_code,
	sizeof(program_code) };

/*
 * The loop four times, call, return, a jump to the library, which returns to the
 * jump; that leads to the loop, which is not repeated; call, and an interrupt.
 */
static void
walk(const struct cc_program *p, const struct cc_program *lib,
    struct pt_packets *packets)
{
	pt_psb_plus(packets, cc_at(p, 0), 64);
	pt_tnt(packets, "TTTN");
	pt_tip(packets, PT_IP_32, cc_at(p, 0xa));
	pt_tip(packets, PT_IP_32, cc_at(lib, 0));
	pt_tip(packets, PT_IP_32, cc_at(p, 0xa));
	pt_tip(packets, PT_IP_32, cc_at(p, 0));
	pt_tnt(packets, "N");
	pt_leave_at(packets, cc_at(p, 0x10));
}

static void
make_walk(struct fixture *f, const struct cc_program *p)
{
	struct pt_packets packets = { 0 };

	cc_write(&f->dir, "program", p);
	cc_write(&f->dir, "library.so", &library);
	cc_map(f->trace, 7, "program", p);
	cc_map(f->trace, 7, "library.so", &library);
	walk(p, &library, &packets);
	(void)cc_stream(f->trace, &packets, 7, 7);
	pt_free(&packets);
	(void)mt_seal(f->trace);
}

/* What llvm-profgen and create_llvm_prof read is the same wherever it ran. */
static const char want_unsymbolized[] = "4\n"
					"40-43:5\n"
					"45-45:2\n"
					"4a-4a:2\n"
					"50-50:1\n"
					"5\n"
					"43->40:3\n"
					"45->50:2\n"
					"4a->40:1\n"
					"50->4a:1\n";

static void
assert_unsymbolized(struct fixture *f, const char *last)
{
	char want[300];

	(void)snprintf(want, sizeof(want), "%s%s", want_unsymbolized, last);
	cc_assert(f->trace, HWTD_FORMAT_LLVM_UNSYMBOLIZED, ALL, want);
}

static const char want_autofdo[] = "4\n"
				   "3040-3043:3\n"
				   "3040-3045:2\n"
				   "304a-304a:2\n"
				   "3050-3050:1\n"
				   "0\n"
				   "4\n"
				   "3043->3040:3\n"
				   "3045->3050:2\n"
				   "304a->3040:1\n"
				   "3050->304a:1\n";

static void
profgen_counts_from_the_page_of_the_first_code(void **state)
{
	struct fixture *f = *state;

	make_walk(f, &moved);
	/* 1 - 0x3000: from elsewhere. */
	assert_unsymbolized(f, "ffffffffffffd001->4a:1\n");
}

static void
profgen_counts_so_also_what_is_not_moved(void **state)
{
	struct fixture *f = *state;

	make_walk(f, &fixed);
	assert_unsymbolized(f, "ffffffffffbfd001->4a:1\n");
}

static void
autofdo_counts_from_the_lowest_segment(void **state)
{
	struct fixture *f = *state;

	make_walk(f, &moved);
	cc_assert(f->trace, HWTD_FORMAT_AUTOFDO, ALL, want_autofdo);
}

static void
autofdo_counts_so_also_what_is_not_moved(void **state)
{
	struct fixture *f = *state;

	make_walk(f, &fixed);
	cc_assert(f->trace, HWTD_FORMAT_AUTOFDO, ALL, want_autofdo);
}

static void
bolt_has_addresses_of_the_file(void **state)
{
	struct fixture *f = *state;

	make_walk(f, &moved);
	cc_assert(f->trace, HWTD_FORMAT_BOLT, ALL,
	    "T 3043 3040 3043 3\n"
	    "T 3045 3050 3050 1\n"
	    "B 3045 3050 1 0\n"
	    "T 304a 3040 3045 1\n"
	    "R 3050 304a 304a 1\n"
	    "R 0 304a 304a 1\n"
	    "F 3040 3045 1\n"
	    "B 304a 0 1 0\n");
}

static void
old_versions_of_bolt_have_branches_and_ranges(void **state)
{
	struct fixture *f = *state;

	make_walk(f, &fixed);
	cc_assert(f->trace, HWTD_FORMAT_BOLT_LEGACY, ALL,
	    "B 403043 403040 3 0\n"
	    "B 403045 403050 2 0\n"
	    "B 40304a 403040 1 0\n"
	    "B 40304a 0 1 0\n"
	    "B 403050 40304a 1 0\n"
	    "B 0 40304a 1 0\n"
	    "f 40304a 40304a 2\n"
	    "F 403040 403043 3\n"
	    "F 403040 403045 2\n"
	    "F 403050 403050 1\n");
}

static void
what_is_left_out_is_counted(void **state)
{
	struct fixture *f = *state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };

	make_walk(f, &fixed);
	free(cc_export(f->trace, HWTD_FORMAT_LLVM_UNSYMBOLIZED, ALL, 0,
	    &info));
	assert_int_equal(info.image, cc_image(f->trace, "program"));
	assert_int_equal(info.flags, HWTD_COMPILERF_FIXED);
	assert_int_equal(info.base, 0x403000);
	assert_int_equal(info.insns, 20);
	assert_int_equal(info.insns_elsewhere, 2);
	assert_int_equal(info.branches, 7);
	assert_int_equal(info.branches_in, 1);
	assert_int_equal(info.branches_out, 1);
	assert_int_equal(info.branches_elsewhere, 0);
	assert_int_equal(info.branches_far, 0);
	assert_int_equal(info.starts, 1);
	assert_int_equal(info.n_ranges, 4);
	assert_int_equal(info.n_branches, 5);
}

static void
another_image_is_exported_if_it_is_named(void **state)
{
	struct fixture *f = *state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	char *got;

	make_walk(f, &moved);
	got = cc_export(f->trace, HWTD_FORMAT_BOLT,
	    cc_image(f->trace, "library.so"), 0, &info);
	/* Of returns to elsewhere there is nothing to tell. */
	assert_string_equal(got, "T 0 3040 3041 1\n");
	free(got);
	assert_int_equal(info.insns, 2);
	assert_int_equal(info.insns_elsewhere, 20);
	assert_int_equal(info.branches_elsewhere, 9);
}

/* Two processes, with the program at two places, and two threads of one. */
static void
all_processes_and_threads_add_up(void **state)
{
	struct fixture *f = *state;
	const struct cc_program other = { 3, 0, 0x51000000, program_code,
		sizeof(program_code) };
	const struct cc_program *places[] = { &moved, &moved, &other };
	const uint32_t pids[] = { 7, 7, 8 }, tids[] = { 7, 70, 8 };
	struct pt_packets packets = { 0 };

	cc_write(&f->dir, "program", &moved);
	cc_write(&f->dir, "library.so", &library);
	cc_map(f->trace, 7, "program", &moved);
	cc_map(f->trace, 8, "program", &other);
	cc_map(f->trace, 7, "library.so", &library);
	cc_map(f->trace, 8, "library.so", &library);
	for (size_t i = 0; i < 3; i++) {
		pt_clear(&packets);
		walk(places[i], &library, &packets);
		(void)cc_stream(f->trace, &packets, pids[i], tids[i]);
	}
	pt_free(&packets);
	(void)mt_seal(f->trace);
	cc_assert(f->trace, HWTD_FORMAT_BOLT, ALL,
	    "T 3043 3040 3043 9\n"
	    "T 3045 3050 3050 3\n"
	    "B 3045 3050 3 0\n"
	    "T 304a 3040 3045 3\n"
	    "R 3050 304a 304a 3\n"
	    "R 0 304a 304a 3\n"
	    "F 3040 3045 3\n"
	    "B 304a 0 3 0\n");
}

/*
 * 0: nop; syscall; nop; je 0   6: nop (a handler of signals); ret
 * The kernel: 0: nop; sysretq; iretq
 */
static const uint8_t caller_code[] = { 0x90, 0x0f, 0x05, 0x90, 0x74, 0xfa,
	0x90, 0xc3 };
static const uint8_t kernel_code[] = { 0x90, 0x48, 0x0f, 0x07, 0x48, 0xcf };
static const struct cc_program caller = { 3, 0, 0x50000000, caller_code,
	sizeof(caller_code) };
static const struct cc_program kernel = { 2, 0xffffffff81000000, 0,
	kernel_code, sizeof(kernel_code) };

/* A system call; an interrupt behind it, of which a signal comes. */
static void
make_system_calls(struct fixture *f)
{
	struct hwtd_record r = mr_record(HWTD_REC_KERNEL, HWTD_NO_ID,
	    0xffffffff81000000, 0);
	struct pt_packets p = { 0 };

	cc_write(&f->dir, "program", &caller);
	cc_write(&f->dir, "kernel", &kernel);
	cc_map(f->trace, 7, "program", &caller);
	r.name = "/opt/kernel";
	mr_add(f->trace, &r);
	pt_psb_plus(&p, cc_at(&caller, 0), 64);
	pt_tip(&p, PT_IP_64, cc_at(&kernel, 0));
	pt_tip(&p, PT_IP_64, cc_at(&caller, 3));
	pt_tnt(&p, "T");
	pt_tip(&p, PT_IP_64, cc_at(&kernel, 0));
	pt_tip(&p, PT_IP_64, cc_at(&caller, 3));
	/* In front of the jump. */
	pt_fup(&p, PT_IP_32, cc_at(&caller, 4));
	pt_tip(&p, PT_IP_64, cc_at(&kernel, 4));
	/* To the handler. */
	pt_tip(&p, PT_IP_64, cc_at(&caller, 6));
	pt_leave_at(&p, cc_at(&caller, 7));
	(void)cc_stream(f->trace, &p, 7, 7);
	pt_free(&p);
	(void)mt_seal(f->trace);
}

static void
system_calls_and_interrupts_are_no_branches_of_the_program(void **state)
{
	struct fixture *f = *state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	char *got;

	make_system_calls(f);
	/* The range goes on over the call; the handler is entered. */
	got = cc_export(f->trace, HWTD_FORMAT_BOLT,
	    cc_image(f->trace, "program"), 0, &info);
	assert_string_equal(got,
	    "T 3044 3040 3043 1\n"
	    "T 0 3046 3046 1\n"
	    "F 3040 3044 1\n");
	free(got);
	assert_int_equal(info.branches, 1);
	assert_int_equal(info.branches_far, 5);
	cc_assert(f->trace, HWTD_FORMAT_LLVM_UNSYMBOLIZED,
	    cc_image(f->trace, "program"),
	    "4\n40-41:2\n43-43:2\n44-44:1\n46-46:1\n"
	    "2\n44->40:1\nffffffffffffd001->46:1\n");
}

static void
a_kernel_is_entered_from_elsewhere(void **state)
{
	struct fixture *f = *state;

	make_system_calls(f);
	cc_assert(f->trace, HWTD_FORMAT_BOLT, cc_image(f->trace, "kernel"),
	    "T 0 ffffffff81003040 ffffffff81003041 2\n"
	    "F ffffffff81003044 ffffffff81003044 1\n");
}

/* The program is what is run, even if others executed more. */
static void
the_program_is_what_is_exported(void **state)
{
	struct fixture *f = *state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	struct pt_packets p = { 0 };

	cc_write(&f->dir, "program", &fixed);
	cc_write(&f->dir, "library.so", &moved);
	cc_map(f->trace, 7, "program", &fixed);
	cc_map(f->trace, 7, "library.so", &moved);
	pt_psb_plus(&p, cc_at(&moved, 0), 64);
	pt_tnt(&p, "TTTTTN");
	pt_tip(&p, PT_IP_32, cc_at(&fixed, 0x10));
	pt_tip(&p, PT_IP_32, cc_at(&fixed, 0xa));
	pt_leave_at(&p, cc_at(&fixed, 0xa));
	(void)cc_stream(f->trace, &p, 7, 7);
	pt_free(&p);
	(void)mt_seal(f->trace);
	free(cc_export(f->trace, HWTD_FORMAT_BOLT, ALL, 0, &info));
	assert_int_equal(info.image, cc_image(f->trace, "program"));
	assert_int_equal(info.insns, 1);
	assert_int_equal(info.insns_elsewhere, 20);
}

/* 0: jmp *%rax   2: call 7   7: je 9   9: ret */
static const uint8_t next_code[] = { 0xff, 0xe0, 0xe8, 0, 0, 0, 0, 0x74, 0,
	0xc3 };

static void
a_branch_to_the_next_instruction_is_taken_unless_it_may_not_be(void **state)
{
	static const struct cc_program p = { 3, 0, 0x50000000, next_code,
		sizeof(next_code) };
	struct fixture *f = *state;
	struct pt_packets packets = { 0 };

	cc_write(&f->dir, "program", &p);
	cc_map(f->trace, 7, "program", &p);
	pt_psb_plus(&packets, cc_at(&p, 0), 64);
	pt_tip(&packets, PT_IP_32, cc_at(&p, 2));
	pt_tnt(&packets, "T");
	pt_tip(&packets, PT_IP_32, cc_at(&p, 7));
	pt_tnt(&packets, "N");
	pt_leave_at(&packets, cc_at(&p, 9));
	(void)cc_stream(f->trace, &packets, 7, 7);
	pt_free(&packets);
	(void)mt_seal(f->trace);
	cc_assert(f->trace, HWTD_FORMAT_BOLT, ALL,
	    "T 3040 3042 3042 1\n"
	    "T 3042 3047 3047 1\n"
	    "R 3049 3047 3049 1\n"
	    "F 3040 3040 1\n");
}

/* Two rounds of the loop; packets are lost; a return. */
static void
no_range_goes_on_over_a_gap(void **state)
{
	struct fixture *f = *state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	struct pt_packets p = { 0 };
	char *got;

	cc_write(&f->dir, "program", &moved);
	cc_map(f->trace, 7, "program", &moved);
	pt_psb_plus(&p, cc_at(&moved, 0), 64);
	pt_tnt(&p, "TT");
	pt_ovf(&p);
	pt_fup(&p, PT_IP_48_SIGNED, cc_at(&moved, 0x10));
	pt_tip(&p, PT_IP_32, cc_at(&moved, 0xa));
	pt_leave_at(&p, cc_at(&moved, 0xa));
	(void)cc_stream(f->trace, &p, 7, 7);
	pt_free(&p);
	(void)mt_seal(f->trace);
	got = cc_export(f->trace, HWTD_FORMAT_BOLT, ALL, 0, &info);
	assert_string_equal(got,
	    "T 3043 3040 3043 1\n"
	    "F 3040 3043 1\n"
	    "F 3050 3050 1\n");
	free(got);
	assert_int_equal(info.starts, 2);
}

static void
what_is_no_elf_file_is_refused(void **state)
{
	struct fixture *f = *state;
	struct pt_packets p = { 0 };

	(void)mt_code(f->trace, 0x1000, program_code, sizeof(program_code));
	pt_psb_plus(&p, 0x1000, 64);
	pt_tnt(&p, "TTTN");
	pt_leave_at(&p, 0x1005);
	(void)cc_stream(f->trace, &p, 7, 7);
	pt_free(&p);
	(void)mt_seal(f->trace);
	cc_assert_fails(f->trace, HWTD_FORMAT_BOLT, ALL, HWTD_E_UNSUPPORTED,
	    "code: no ELF file");
	cc_assert_fails(f->trace, HWTD_FORMAT_BOLT, 0, HWTD_E_UNSUPPORTED,
	    "code: no ELF file");
	cc_assert_fails(f->trace, HWTD_FORMAT_BOLT, 1, HWTD_E_NOT_FOUND,
	    "no image 1");
	cc_assert_fails(f->trace, HWTD_FORMAT_PERF_SCRIPT, 1, HWTD_E_NOT_FOUND,
	    "no image 1");
}

static void
an_image_that_did_not_run_is_refused(void **state)
{
	struct fixture *f = *state;
	struct pt_packets p = { 0 };

	cc_write(&f->dir, "program", &moved);
	cc_write(&f->dir, "library.so", &library);
	cc_map(f->trace, 7, "program", &moved);
	cc_map(f->trace, 7, "library.so", &library);
	pt_psb_plus(&p, cc_at(&moved, 0x10), 64);
	pt_tip(&p, PT_IP_32, cc_at(&moved, 0xa));
	pt_leave_at(&p, cc_at(&moved, 0xa));
	(void)cc_stream(f->trace, &p, 7, 7);
	pt_free(&p);
	(void)mt_seal(f->trace);
	cc_assert_fails(f->trace, HWTD_FORMAT_AUTOFDO,
	    cc_image(f->trace, "library.so"), HWTD_E_NOT_FOUND,
	    "/opt/library.so: nothing of it was executed");
}

static void
nothing_that_ran_is_nothing_to_export(void **state)
{
	struct fixture *f = *state;
	struct pt_packets p = { 0 };

	pt_psb_plus_off(&p, 64);
	(void)cc_stream(f->trace, &p, 7, 7);
	pt_free(&p);
	(void)mt_seal(f->trace);
	cc_assert_fails(f->trace, HWTD_FORMAT_LLVM_UNSYMBOLIZED, ALL,
	    HWTD_E_NOT_FOUND, "nothing was executed");
	cc_assert(f->trace, HWTD_FORMAT_PERF_SCRIPT, ALL, "");
}

static void
what_cannot_be_opened_is_told(void **state)
{
	struct fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	struct hwtd_format_options how = { .size = sizeof(how),
		.format = HWTD_FORMAT_BOLT };
	struct hwtd_export *ex = NULL;
	struct hwtd_events *events = NULL;
	struct hwtd_runs *runs = NULL;

	make_walk(f, &moved);
	assert_int_equal(hwtd_runs_open(f->trace, NULL, &runs, &err), HWTD_OK);
	assert_int_equal(hwtd_events_open(f->trace, NULL, &events, &err),
	    HWTD_OK);
	assert_int_equal(hwtd_export_open_runs(runs, ALL, &how, &ex, &err),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_export_open_runs(NULL, ALL, &how, &ex, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_open_runs(runs, ALL, NULL, &ex, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_open_runs(runs, ALL, &how, NULL, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_open_events(NULL, ALL, &how, &ex, &err),
	    HWTD_E_INVALID);
	/* Not a format of events. */
	assert_int_equal(hwtd_export_open_events(events, ALL, &how, &ex, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_compiler_info(NULL, &info),
	    HWTD_E_INVALID);
	assert_null(ex);
	hwtd_events_close(events);
	hwtd_runs_close(runs);
}

static int
refuse(void *arg, const void *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	(void)n;
	return (28);
}

static void
counting_that_is_stopped_writes_nothing(void **state)
{
	struct fixture *f = *state;
	const struct hwtd_runs_options edges = { .size = sizeof(edges),
		.flags = HWTD_RUNS_EDGES };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	const struct hwtd_format_options how = { .size = sizeof(how),
		.format = HWTD_FORMAT_BOLT,
		.write = refuse };
	struct hwtd_export *ex = NULL;
	struct hwtd_runs *runs = NULL;

	make_walk(f, &moved);
	assert_int_equal(hwtd_runs_open(f->trace, &edges, &runs, &err),
	    HWTD_OK);
	assert_int_equal(hwtd_export_open_runs(runs, ALL, &how, &ex, &err),
	    HWTD_OK);
	assert_int_equal(hwtd_export_compiler_info(ex, &info), HWTD_OK);
	assert_int_equal(hwtd_export_compiler_info(ex, NULL), HWTD_E_INVALID);
	hwtd_export_stop(ex);
	assert_int_equal(hwtd_export_write(ex, &err), HWTD_E_STATE);
	hwtd_export_close(ex);
	hwtd_runs_close(runs);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(profgen_counts_from_the_page_of_the_first_code),
		TEST(profgen_counts_so_also_what_is_not_moved),
		TEST(autofdo_counts_from_the_lowest_segment),
		TEST(autofdo_counts_so_also_what_is_not_moved),
		TEST(bolt_has_addresses_of_the_file),
		TEST(old_versions_of_bolt_have_branches_and_ranges),
		TEST(what_is_left_out_is_counted),
		TEST(another_image_is_exported_if_it_is_named),
		TEST(all_processes_and_threads_add_up),
		TEST(
		    system_calls_and_interrupts_are_no_branches_of_the_program),
		TEST(a_kernel_is_entered_from_elsewhere),
		TEST(the_program_is_what_is_exported),
		TEST(
		    a_branch_to_the_next_instruction_is_taken_unless_it_may_not_be),
		TEST(no_range_goes_on_over_a_gap),
		TEST(what_is_no_elf_file_is_refused),
		TEST(an_image_that_did_not_run_is_refused),
		TEST(nothing_that_ran_is_nothing_to_export),
		TEST(what_cannot_be_opened_is_told),
		TEST(counting_that_is_stopped_writes_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
