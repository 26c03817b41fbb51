/*
 * Text of perf-script(1), of small programs, by hand; and of files with names that
 * nobody would give them.
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
#define FORMAT HWTD_FORMAT_PERF_SCRIPT
#define B(from, to) " 0x" from "/0x" to "/-/-/-/0"
#define MAPPED(pid, at, path)                                                 \
	"PERF_RECORD_MMAP2 " pid "/" pid ": [0x" at                           \
	"(0x1000) @ 0x1000 00:00 0 0]: r-xp " path "\n"

struct fixture {
	struct temp_dir dir;
	struct hwtd_trace *trace;
	struct pt_packets packets;
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

	pt_free(&f->packets);
	hwtd_trace_close(f->trace);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

/* 0: nop; dec %eax; jne 0   5: call 0x10   0xa: jmp *%rax   0x10: ret */
static const uint8_t code[] = { 0x90, 0xff, 0xc8, 0x75, 0xfb, 0xe8, 0x06, 0, 0,
	0, 0xff, 0xe0, 0x90, 0x90, 0x90, 0x90, 0xc3 };
static const uint8_t library_code[] = { 0x90, 0xc3 };
static const struct cc_program program = { 3, 0, 0x50000000, code,
	sizeof(code) };
static const struct cc_program other = { 3, 0, 0x51000000, code,
	sizeof(code) };
static const struct cc_program library = { 3, 0, 0x60000000, library_code,
	sizeof(library_code) };

/* The loop, a call, a return, a jump to the library, a return, a jump; a call. */
static void
make_walk(struct fixture *f)
{
	struct pt_packets *p = &f->packets;

	cc_write(&f->dir, "program", &program);
	cc_write(&f->dir, "library.so", &library);
	cc_map(f->trace, 7, "program", &program);
	cc_map(f->trace, 7, "library.so", &library);
	pt_psb_plus(p, cc_at(&program, 0), 64);
	pt_tnt(p, "TTTN");
	pt_tip(p, PT_IP_32, cc_at(&program, 0xa));
	pt_tip(p, PT_IP_32, cc_at(&library, 0));
	pt_tip(p, PT_IP_32, cc_at(&program, 0xa));
	pt_tip(p, PT_IP_32, cc_at(&program, 0));
	pt_tnt(p, "N");
	pt_leave_at(p, cc_at(&program, 0x10));
	(void)cc_stream(f->trace, p, 7, 7);
	(void)mt_seal(f->trace);
}

#define LOOP B("50003043", "50003040")
#define CALL B("50003045", "50003050")
#define RETURN B("50003050", "5000304a")
#define TO_LIBRARY B("5000304a", "60003040")
#define FROM_LIBRARY B("60003041", "5000304a")
#define JUMP B("5000304a", "50003040")
#define START B("0", "50003040")

static void
branches_are_told_newest_first_where_they_ran(void **state)
{
	struct fixture *f = *state;

	make_walk(f);
	cc_assert(f->trace, FORMAT, ALL,
	    MAPPED("7", "50003000", "/opt/program") MAPPED("7", "60003000",
		"/opt/library.so") "50003050" CALL JUMP FROM_LIBRARY TO_LIBRARY
		RETURN CALL LOOP LOOP LOOP START "\n");
}

static void
of_one_image_others_are_not_told(void **state)
{
	struct fixture *f = *state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	char *got;

	make_walk(f);
	got = cc_export(f->trace, FORMAT, cc_image(f->trace, "library.so"), 0,
	    &info);
	assert_string_equal(got,
	    MAPPED("7", "60003000",
		"/opt/library.so") "5000304a" FROM_LIBRARY TO_LIBRARY "\n");
	free(got);
	assert_int_equal(info.image, cc_image(f->trace, "library.so"));
	assert_int_equal(info.insns, 2);
	assert_int_equal(info.insns_elsewhere, 20);
	assert_int_equal(info.branches, 0);
	assert_int_equal(info.branches_in, 1);
	assert_int_equal(info.branches_out, 1);
	assert_int_equal(info.starts, 0);
	assert_int_equal(info.n_branches, 2);
}

static void
stacks_can_be_short(void **state)
{
	struct fixture *f = *state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	char *got;

	make_walk(f);
	got = cc_export(f->trace, FORMAT, ALL, 2, &info);
	assert_string_equal(got,
	    MAPPED("7", "50003000",
		"/opt/program") "50003040" LOOP START "\n"
				"50003040" LOOP LOOP "\n"
				"50003040" LOOP LOOP "\n"
				"5000304a" RETURN CALL LOOP
				"\n" MAPPED("7", "60003000",
				    "/opt/library.so") "5000304a" FROM_LIBRARY
				    TO_LIBRARY RETURN "\n"
						       "50003050" CALL JUMP
							   FROM_LIBRARY "\n");
	free(got);
	/* Those that are told twice count once. */
	assert_int_equal(info.branches, 9);
	assert_int_equal(info.n_ranges, 6);
	assert_int_equal(info.n_branches, 15);
	assert_int_equal(info.starts, 1);
}

static void
a_process_is_told_of_with_its_own_files(void **state)
{
	struct fixture *f = *state;
	const struct cc_program *places[] = { &program, &other, &program };
	const uint32_t pids[] = { 7, 8, 7 };

	cc_write(&f->dir, "program", &program);
	cc_map(f->trace, 7, "program", &program);
	cc_map(f->trace, 8, "program", &other);
	for (uint32_t i = 0; i < 3; i++) {
		pt_clear(&f->packets);
		pt_psb_plus(&f->packets, cc_at(places[i], 0), 64);
		pt_tnt(&f->packets, "T");
		pt_leave_at(&f->packets, cc_at(places[i], 0));
		(void)cc_stream(f->trace, &f->packets, pids[i], 70 + i);
	}
	(void)mt_seal(f->trace);
	cc_assert(f->trace, FORMAT, ALL,
	    MAPPED("7", "50003000",
		"/opt/program") "50003040" LOOP START "\n" MAPPED("8",
		"51003000", "/opt/program") "51003040" B("51003043",
		"51003040") B("0", "51003040") "\n" MAPPED("7", "50003000",
		"/opt/program") "50003040" LOOP START "\n");
}

static void
names_of_files_break_no_lines(void **state)
{
	static const char name[] = "a b]: r-xp \nPERF_RECORD_MMAP2\t\x7f\"";
	struct fixture *f = *state;

	cc_write(&f->dir, name, &program);
	cc_map(f->trace, 7, name, &program);
	pt_psb_plus(&f->packets, cc_at(&program, 0), 64);
	pt_tnt(&f->packets, "T");
	pt_leave_at(&f->packets, cc_at(&program, 0));
	(void)cc_stream(f->trace, &f->packets, 7, 7);
	(void)mt_seal(f->trace);
	cc_assert(f->trace, FORMAT, ALL,
	    MAPPED("7", "50003000",
		"/opt/a b]: r-xp \\012PERF_RECORD_MMAP2\\011\\177\"") "5000304"
								      "0" LOOP
									  START
								      "\n");
}

/* Of a name of 64 KiB the last part is what readers look at. */
static void
long_names_are_cut_at_their_front(void **state)
{
	struct fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	char *name = malloc(65536), *got;
	struct hwtd_image_desc desc = { .size = sizeof(desc),
		.path = name,
		.bytes = code,
		.n_bytes = sizeof(code),
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = 0x1000 };
	uint32_t image;

	assert_non_null(name);
	memset(name, 'x', 65535);
	memcpy(name + 65535 - 5, "/\xff\x01id", 5);
	name[65535] = '\0';
	assert_int_equal(hwtd_trace_add_image(f->trace, &desc, &image, &err),
	    HWTD_OK);
	pt_psb_plus(&f->packets, 0x1000, 64);
	pt_tnt(&f->packets, "T");
	pt_leave_at(&f->packets, 0x1000);
	(void)cc_stream(f->trace, &f->packets, HWTD_NO_ID, HWTD_NO_ID);
	(void)mt_seal(f->trace);
	got = cc_export(f->trace, FORMAT, ALL, 0, NULL);
	/* No ELF file: where the piece lies is all that is known. */
	assert_memory_equal(got,
	    "PERF_RECORD_MMAP2 -1/0: [0x1000(0x11) @ 0 00:00 0 0]: r-xp xx",
	    61);
	assert_true(strlen(got) < 4300);
	assert_non_null(strstr(got,
	    "x/\xff\\001id\n1000" B("1003", "1000") B("0", "1000") "\n"));
	free(got);
	free(name);
}

static void
code_that_is_not_there_cuts_a_stack(void **state)
{
	struct fixture *f = *state;

	cc_write(&f->dir, "program", &program);
	cc_map(f->trace, 7, "program", &program);
	pt_psb_plus(&f->packets, cc_at(&program, 0), 64);
	pt_tnt(&f->packets, "TN");
	pt_tip(&f->packets, PT_IP_32, cc_at(&program, 0xa));
	pt_tip(&f->packets, PT_IP_32, 0x70000000);
	pt_tip(&f->packets, PT_IP_32, cc_at(&program, 0x10));
	pt_tip(&f->packets, PT_IP_32, cc_at(&program, 0xa));
	pt_leave_at(&f->packets, cc_at(&program, 0xa));
	(void)cc_stream(f->trace, &f->packets, 7, 7);
	(void)mt_seal(f->trace);
	cc_assert(f->trace, FORMAT, ALL,
	    MAPPED("7", "50003000", "/opt/program") "70000000" B("5000304a",
		"70000000") RETURN CALL LOOP START
	    "\n"
	    "5000304a" RETURN B("0", "50003050") "\n");
}

static void
rows_of_single_instructions_give_the_same(void **state)
{
	struct fixture *f = *state;
	const struct hwtd_events_options insns = { .size = sizeof(insns),
		.level = HWTD_LEVEL_INSN };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *events = NULL;
	char *want, *got;

	make_walk(f);
	want = cc_export(f->trace, FORMAT, ALL, 0, NULL);
	assert_int_equal(hwtd_events_open(f->trace, &insns, &events, &err),
	    HWTD_OK);
	got = cc_export_events(events, ALL, 0, NULL);
	assert_string_equal(got, want);
	free(got);
	free(want);
	hwtd_events_close(events);
}

static void
a_depth_of_millions_is_refused(void **state)
{
	struct fixture *f = *state;
	struct hwtd_format_options how = { .size = sizeof(how),
		.format = FORMAT,
		.max_depth = 65537,
		.write = cc_drop };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *events = NULL;
	struct hwtd_export *ex = NULL;

	make_walk(f);
	assert_int_equal(hwtd_events_open(f->trace, NULL, &events, &err),
	    HWTD_OK);
	assert_int_equal(hwtd_export_open_events(events, ALL, &how, &ex, &err),
	    HWTD_E_INVALID);
	assert_string_equal(err.message,
	    "65537 branches in a stack; at most 65536");
	how.max_depth = 65536;
	assert_int_equal(hwtd_export_open_events(events, ALL, &how, &ex, &err),
	    HWTD_OK);
	hwtd_export_stop(ex);
	assert_int_equal(hwtd_export_write(ex, &err), HWTD_END);
	hwtd_export_close(ex);
	hwtd_events_close(events);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(branches_are_told_newest_first_where_they_ran),
		TEST(of_one_image_others_are_not_told),
		TEST(stacks_can_be_short),
		TEST(a_process_is_told_of_with_its_own_files),
		TEST(names_of_files_break_no_lines),
		TEST(long_names_are_cut_at_their_front),
		TEST(code_that_is_not_there_cuts_a_stack),
		TEST(rows_of_single_instructions_give_the_same),
		TEST(a_depth_of_millions_is_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
