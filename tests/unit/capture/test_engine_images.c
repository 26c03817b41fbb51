/*
 * What captures of Intel PT tell of address spaces: programs, libraries, and files
 * that are not there.
 */
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

static void
exec_makes_an_address_space_anew(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;
	const char *second;

	(void)state;
	pt_run_init(&r, NULL);
	second = pt_run_file(&r, "second", 3, 9, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exec(&r, second, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 3));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	(void)strcat(rows, MODE);
	pt_run_rows(rows, sizeof(rows), START, 3, 1);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "thread-name program thread 0\n"
	    "exec 200000 $/second id=09*20\n"
	    "thread-name second thread 0\n");
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
a_library_is_decoded_from_when_it_was_mapped(void **state)
{
	char rows[ROWS] = MODE;
	const char *library;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	library = pt_run_file(&r, "library.so", 3, 5, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 1));
	pt_run_mmap(&r, 0, library, OTHER);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, OTHER + PT_RUN_CODE, 2));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 1, 0);
	(void)strcat(rows, MODE);
	pt_run_rows(rows, sizeof(rows), OTHER + PT_RUN_CODE, 2, 1);
	pt_run_assert_rows(&r, 0, rows);
	/* Kernels tell neither length nor place in the file. */
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "thread-name program thread 0\n"
	    "mmap 7f1000 $/library.so id=05*20\n");
	pt_run_fini(&r);
}

static void
two_libraries_at_one_address_are_told_apart(void **state)
{
	char rows[ROWS] = MODE;
	const char *one, *two;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	one = pt_run_file(&r, "one.so", 3, 1, NULL);
	two = pt_run_file(&r, "two.so", 3, 2, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_mmap(&r, 0, one, OTHER);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, OTHER + PT_RUN_CODE, 2));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_MUNMAP,
		.ns = 5 * MS,
		.addr = OTHER + PT_RUN_CODE,
		.len = PT_RUN_PAGE });
	pt_run_mmap(&r, 0, two, OTHER);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, OTHER + PT_RUN_CODE, 3));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), OTHER + PT_RUN_CODE, 2, 1);
	(void)strcat(rows, MODE);
	pt_run_rows(rows, sizeof(rows), OTHER + PT_RUN_CODE, 3, 2);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "mmap 7f1000 $/one.so id=01*20\n"
	    "thread-name program thread 0\n"
	    "munmap\n"
	    "mmap 7f1000 $/two.so id=02*20\n");
	pt_run_fini(&r);
}

static void
a_program_without_bias_is_decoded(void **state)
{
	char rows[ROWS] = MODE;
	const char *path;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	path = pt_run_file(&r, "static", 2, 4, NULL);
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_EXEC,
		.path = path,
		.off = 0x401000,
		.len = PT_RUN_PAGE });
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, 0x401000, 2));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), 0x401000, 2, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 0 $/static id=04*20\n"
	    "thread-name static thread 0\n");
	pt_run_fini(&r);
}

/* The dynamic linker has no record of its own. */
static void
the_interpreter_of_a_program_is_decoded(void **state)
{
	char rows[ROWS] = MODE;
	const char *linker, *path;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	linker = pt_run_file(&r, "linker", 3, 3, NULL);
	path = pt_run_file(&r, "dynamic", 3, 8, linker);
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_EXEC,
		.path = path,
		.addr = BIAS,
		.base = OTHER,
		.off = PT_RUN_CODE,
		.len = PT_RUN_PAGE });
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, OTHER + PT_RUN_CODE, 2));
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 1));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), OTHER + PT_RUN_CODE, 2, 1);
	(void)strcat(rows, MODE);
	pt_run_rows(rows, sizeof(rows), START, 1, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 base=7f0000 $/dynamic id=08*20\n"
	    "thread-name dynamic thread 0\n");
	pt_run_fini(&r);
}

/* The kernel names what runs the script. */
static void
a_script_is_decoded_as_what_runs_it(void **state)
{
	char rows[ROWS] = MODE, script[300];
	const char *shell;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	shell = pt_run_file(&r, "shell", 3, 6, NULL);
	(void)temp_dir_file(&r.run.dir, "script", script);
	write_file(script, "#!/bin/shell\n", 13);
	r.script = sim_program(r.run.kernel, script);
	r.argv[0] = script;
	pt_run_exec(&r, shell, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_fini(&r);
}

static void
files_that_are_not_there_are_recorded_all_the_same(void **state)
{
	struct pt_run r;
	char rows[ROWS] = MODE;
	char junk[300];

	(void)state;
	pt_run_init(&r, NULL);
	(void)temp_dir_file(&r.run.dir, "junk.so", junk);
	write_file(junk, "no ELF file", 11);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_mmap(&r, 0, "/no/such/library.so.1", OTHER);
	pt_run_mmap(&r, 0, junk, OTHER + 0x10000);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "mmap 7f1000 /no/such/library.so.1\n"
	    "mmap 801000 $/junk.so\n"
	    "thread-name program thread 0\n");
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

/* Without room for its end no kernel writes one. */
static void
a_path_that_fills_its_field_ends_there(void **state)
{
	char path[1100], line[1300];
	struct pt_run r;

	(void)state;
	memset(path, 'x', sizeof(path));
	memcpy(path, "/dir/", 5);
	path[1060] = '\0';
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_mmap(&r, 0, path, OTHER);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	path[1024] = '\0';
	(void)snprintf(line, sizeof(line),
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "mmap 7f1000 %s\n",
	    path);
	pt_run_assert_records(&r, line);
	pt_run_fini(&r);
}

static void
a_mapping_that_the_kernel_cannot_name_has_no_record(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_MMAP,
		.path = "/x",
		.addr = OTHER,
		.len = PT_RUN_PAGE,
		.flags = SIM_NO_PATH });
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_MMAP,
		.addr = OTHER + 0x10000,
		.len = PT_RUN_PAGE });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n");
	pt_run_fini(&r);
}

static void
replace_program(void *arg, int look, struct hwtdi_engine *engine)
{
	struct pt_run *r = arg;

	(void)engine;
	if (look == 3)
		(void)pt_run_file(r, "program", 3, 0x11, NULL);
}

static void
a_program_that_was_replaced_has_its_new_build_id(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.run.looked = replace_program;
	r.run.arg = &r;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 20 * MS });
	pt_run_exec(&r, r.path, BIAS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program id=07*20\n"
	    "thread-name program thread 0\n"
	    "exec 200000 $/program id=11*20\n");
	pt_run_fini(&r);
}

/* Addresses of the kernel are decoded with what kldstat(8) lists. */
static void
the_kernel_is_described_where_its_code_is_traced(void **state)
{
	struct pt_run r;
	const char *kernel;

	(void)state;
	pt_run_init(&r, NULL);
	kernel = pt_run_file(&r, "kernel", 2, 0x22, NULL);
	r.pt.who = HWTD_CAPTURE_USER | HWTD_CAPTURE_KERNEL;
	sim_add_module(r.run.kernel, "special.ko", kernel, 0xffffffff82000000,
	    0x3000);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	{
		struct hwtd_trace *trace = engine_run_open(&r.run);
		struct hwtd_record rec = { .size = sizeof(rec) };
		unsigned n = 0;

		for (uint64_t i = 0;
		     hwtd_trace_record(trace, i, &rec) == HWTD_OK; i++) {
			if (rec.addr != 0xffffffff82000000)
				continue;
			n++;
			assert_int_equal(rec.type, HWTD_REC_MODULE_LOAD);
			assert_string_equal(rec.name, kernel);
			assert_int_equal(rec.len, 0x3000);
			assert_int_equal(rec.n_build_id, 20);
		}
		assert_int_equal(n, 1);
		hwtd_trace_close(trace);
	}
	pt_run_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exec_makes_an_address_space_anew),
		cmocka_unit_test(a_library_is_decoded_from_when_it_was_mapped),
		cmocka_unit_test(two_libraries_at_one_address_are_told_apart),
		cmocka_unit_test(a_program_without_bias_is_decoded),
		cmocka_unit_test(the_interpreter_of_a_program_is_decoded),
		cmocka_unit_test(a_script_is_decoded_as_what_runs_it),
		cmocka_unit_test(
		    files_that_are_not_there_are_recorded_all_the_same),
		cmocka_unit_test(a_path_that_fills_its_field_ends_there),
		cmocka_unit_test(
		    a_mapping_that_the_kernel_cannot_name_has_no_record),
		cmocka_unit_test(
		    a_program_that_was_replaced_has_its_new_build_id),
		cmocka_unit_test(
		    the_kernel_is_described_where_its_code_is_traced),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
