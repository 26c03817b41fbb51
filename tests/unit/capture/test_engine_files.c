/*
 * Options of captures, and the files that they write: which are not touched, and
 * what is left where they cannot be written on.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pt_run.h"

#define BIAS 0x200000u
#define START (BIAS + PT_RUN_CODE)
#define MODE "mode value=0 status 64\n"
#define ROWS 8192
#define MS 1000000u

static void
add_short_program(struct pt_run *r)
{
	pt_run_exec(r, r->path, BIAS);
	pt_run_trace(r, 0, 5 * MS, pt_run_flow(r, START, 2));
	pt_run_exit(r, 0);
}

static void
a_file_that_exists_is_not_touched(void **state)
{
	struct pt_run r;
	uint8_t *bytes;
	size_t n;

	(void)state;
	pt_run_init(&r, NULL);
	add_short_program(&r);
	write_file(r.run.output, "precious", 8);
	pt_run_fails(&r, HWTD_E_IO, "out.hwt");
	assert_int_equal(r.run.err.sys_errno, EEXIST);
	bytes = read_file(r.run.output, &n);
	assert_int_equal(n, 8);
	assert_memory_equal(bytes, "precious", 8);
	free(bytes);
	/* The program did not run. */
	assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_START), 0);
	pt_run_fini(&r);
}

static void
a_file_that_exists_is_replaced_if_asked_for(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	add_short_program(&r);
	write_file(r.run.output, "precious", 8);
	r.run.options.flags = HWTD_CAPTUREF_REPLACE;
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_fini(&r);
}

/* Another name of the old one, or what it is a link to, stays as it is. */
static void
a_file_that_is_replaced_is_another_one(void **state)
{
	struct pt_run r;
	char other[300];
	uint8_t *bytes;
	size_t n;

	(void)state;
	for (int i = 0; i < 2; i++) {
		pt_run_init(&r, NULL);
		add_short_program(&r);
		write_file(temp_dir_file(&r.run.dir, "other", other),
		    "precious", 8);
		if (i == 0)
			assert_int_equal(symlink(other, r.run.output), 0);
		else
			assert_int_equal(link(other, r.run.output), 0);
		r.run.options.flags = HWTD_CAPTUREF_REPLACE;
		pt_run_ok(&r);
		bytes = read_file(other, &n);
		assert_int_equal(n, 8);
		assert_memory_equal(bytes, "precious", 8);
		free(bytes);
		pt_run_fini(&r);
	}
}

static void
the_program_is_not_replaced_by_its_trace(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	add_short_program(&r);
	assert_int_equal(link(r.path, r.run.output), 0);
	r.run.options.flags = HWTD_CAPTUREF_REPLACE;
	pt_run_fails(&r, HWTD_E_INVALID, "is the program");
	assert_int_equal(access(r.run.output, F_OK), 0);
	pt_run_fini(&r);
}

/* Neither is it removed. */
static void
what_is_no_file_is_not_written(void **state)
{
	struct pt_run r;
	struct stat st;
	char path[400];

	(void)state;
	for (int i = 0; i < 3; i++) {
		pt_run_init(&r, NULL);
		add_short_program(&r);
		r.run.options.flags = HWTD_CAPTUREF_REPLACE;
		(void)snprintf(path, sizeof(path), "%s/odd", r.run.dir.path);
		if (i == 0)
			assert_int_equal(mkfifo(path, 0600), 0);
		else if (i == 1)
			assert_int_equal(symlink("/dev/null", path), 0);
		else
			assert_int_equal(mkdir(path, 0700), 0);
		r.run.options.output = path;
		pt_run_fails(&r, HWTD_E_IO, "not a regular file");
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(remove(path), 0);
		pt_run_fini(&r);
	}
}

static void
a_folder_that_is_not_there_is_named(void **state)
{
	struct pt_run r;
	char path[400];

	(void)state;
	pt_run_init(&r, NULL);
	add_short_program(&r);
	(void)snprintf(path, sizeof(path), "%s/absent/out.hwt",
	    r.run.dir.path);
	r.run.options.output = path;
	pt_run_fails(&r, HWTD_E_IO, "absent/out.hwt");
	assert_int_equal(r.run.err.sys_errno, ENOENT);
	/* A file is no folder. */
	(void)snprintf(path, sizeof(path), "%s/program/out.hwt",
	    r.run.dir.path);
	pt_run_fails(&r, HWTD_E_IO, "program/out.hwt");
	assert_int_equal(r.run.err.sys_errno, ENOTDIR);
	assert_int_equal(temp_dir_count(&r.run.dir), 1);
	pt_run_fini(&r);
}

/* From now on the disk has no room for the file. */
static void
fill_the_disk(void *arg, int look, struct hwtdi_engine *engine)
{
	const struct pt_run *r = arg;
	struct stat file, st;
	const int full = look == 60 ? open("/dev/full", O_WRONLY) : -1;

	(void)engine;
	if (look != 60)
		return;
	assert_true(full >= 0);
	assert_int_equal(stat(r->run.output, &file), 0);
	for (int fd = 3; fd < 1000; fd++)
		if (fstat(fd, &st) == 0 && st.st_dev == file.st_dev &&
		    st.st_ino == file.st_ino)
			assert_int_equal(dup2(full, fd), fd);
	(void)close(full);
}

/* What was saved before is read. */
static void
a_file_that_cannot_grow_is_readable(void **state)
{
	struct pt_run r;
	struct hwtd_trace *trace;
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_record rec = { .size = sizeof(rec) };

	(void)state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	pt_run_init(&r, NULL);
	r.run.options.level = -1;
	r.run.looked = fill_the_disk;
	r.run.arg = &r;
	pt_run_exec(&r, r.path, BIAS);
	for (int i = 0; i < 40; i++)
		pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 60000));
	pt_run_exit(&r, 0);
	pt_run_fails(&r, HWTD_E_IO, "out.hwt");
	assert_int_equal(r.run.err.sys_errno, ENOSPC);
	trace = engine_run_open(&r.run);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_in_range(info.n_bytes, 100000, 1000000);
	assert_int_equal(hwtd_trace_record(trace, 0, &rec), HWTD_OK);
	hwtd_trace_close(trace);
	pt_run_fini(&r);
}

static void
copy_the_file(void *arg, int look, struct hwtdi_engine *engine)
{
	struct pt_run *r = arg;
	uint8_t *bytes;
	size_t n;

	(void)engine;
	if (look != 300)
		return;
	/* As it would be if all were killed now. */
	bytes = read_file(r->run.output, &n);
	write_file(r->paths[1], bytes, n);
	free(bytes);
}

static void
a_capture_that_is_killed_leaves_what_it_has(void **state)
{
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	(void)temp_dir_file(&r.run.dir, "killed.hwt", r.paths[1]);
	r.run.looked = copy_the_file;
	r.run.arg = &r;
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 500 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	(void)snprintf(r.run.output, sizeof(r.run.output), "%s", r.paths[1]);
	assert_int_equal(pt_run_check_bytes(&r), 0);
	pt_run_assert_said(&r, "mode", "threads");
	pt_run_assert_said(&r, "pt.rtit_ctl", "0x2109");
	/* It did not end. */
	pt_run_assert_said(&r, "looks", NULL);
	pt_run_fini(&r);
}

/* Options */

static void
refuse(const struct hwtd_capture_options *options, int rc, const char *words)
{
	struct pt_run r;

	pt_run_init(&r, NULL);
	{
		const char *output = r.run.options.output;

		r.run.options = *options;
		if (options->output == NULL)
			r.run.options.output = output;
	}
	pt_run_fails(&r, rc, words);
	assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_ALLOC), 0);
	assert_int_equal(temp_dir_count(&r.run.dir), 1);
	pt_run_fini(&r);
}

static void
options_that_contradict_are_refused(void **state)
{
	static const char *const argv[] = { "program", NULL };
	static const char *const nobody[] = { NULL };
	static const uint32_t cpus[] = { 0 };
	static const struct hwtd_capture_pt pt = { .size = sizeof(pt) };
	static const struct hwtd_capture_pt odd = { .size = sizeof(odd),
		.flags = 0x4000 };
	static const struct hwtd_capture_pt whose = { .size = sizeof(whose),
		.who = 0x10 };
	static const struct hwtd_capture_pt pages = { .size = sizeof(pages),
		.buffer_bytes = 5000 };
	static const struct hwtd_capture_spe spe = { .size = sizeof(spe) };
	const struct {
		struct hwtd_capture_options o;
		int rc;
		const char *words;
	} kinds[] = {
		{ { .output = "", .argv = argv }, HWTD_E_INVALID, "`output`" },
		{ { .argv = argv, .flags = 0x80 }, HWTD_E_INVALID, "0x80" },
		{ { .argv = argv, .mode = 3 }, HWTD_E_INVALID, "mode 3" },
		{ { .argv = nobody }, HWTD_E_INVALID, "no program" },
		{ { .argv = argv, .pid = 5 }, HWTD_E_INVALID, "take one" },
		{ { .pid = 0x80000000 }, HWTD_E_INVALID, "2147483648" },
		{ { .mode = HWTD_CAPTURE_THREADS }, HWTD_E_INVALID,
		    "no program to trace" },
		{ { .argv = argv, .cpus = cpus, .n_cpus = 1 }, HWTD_E_INVALID,
		    "CPUs" },
		{ { .argv = argv, .pt = &pt, .spe = &spe }, HWTD_E_UNSUPPORTED,
		    "one" },
		{ { .argv = argv, .pt = &odd }, HWTD_E_INVALID, "0x4000" },
		{ { .argv = argv, .pt = &whose }, HWTD_E_INVALID, "0x10" },
		{ { .argv = argv, .pt = &pages }, HWTD_E_INVALID, "5000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hwtd_capture_options o = kinds[i].o;

		o.size = sizeof(o);
		refuse(&o, kinds[i].rc, kinds[i].words);
	}
}

/* Of a library that is older: what it does not know is left alone. */
static void
options_of_callers_that_are_older_or_newer_are_taken(void **state)
{
	struct {
		struct hwtd_capture_options o;
		uint64_t more;
	} newer;
	struct pt_run r;

	(void)state;
	memset(&newer, 0, sizeof(newer));
	pt_run_init(&r, NULL);
	add_short_program(&r);
	newer.o = r.run.options;
	newer.o.size = sizeof(newer);
	{
		struct hwtdi_engine engine;

		newer.more = 1;
		assert_int_equal(hwtdi_engine_begin(&engine, r.run.ctx,
				     sim_system(r.run.kernel), &newer.o,
				     &r.run.err),
		    HWTD_E_TOO_NEW);
		hwtdi_engine_fini(&engine);
		newer.more = 0;
		assert_int_equal(hwtdi_engine_begin(&engine, r.run.ctx,
				     sim_system(r.run.kernel), &newer.o,
				     &r.run.err),
		    HWTD_OK);
		assert_int_equal(hwtdi_engine_end(&engine, &r.run.err),
		    HWTD_OK);
		hwtdi_engine_fini(&engine);
	}
	pt_run_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_exists_is_not_touched),
		cmocka_unit_test(a_file_that_exists_is_replaced_if_asked_for),
		cmocka_unit_test(a_file_that_is_replaced_is_another_one),
		cmocka_unit_test(the_program_is_not_replaced_by_its_trace),
		cmocka_unit_test(what_is_no_file_is_not_written),
		cmocka_unit_test(a_folder_that_is_not_there_is_named),
		cmocka_unit_test(a_file_that_cannot_grow_is_readable),
		cmocka_unit_test(a_capture_that_is_killed_leaves_what_it_has),
		cmocka_unit_test(options_that_contradict_are_refused),
		cmocka_unit_test(
		    options_of_callers_that_are_older_or_newer_are_taken),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
