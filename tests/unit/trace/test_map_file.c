/*
 * Files that say what lay where: what lines become, and with which words they are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/lldb_bundle.h"
#include "support/temp_dir.h"

#define PROCSTAT                                                              \
	"  PID              START                END PRT  RES PRES REF SHD "  \
	"FLAG  TP PATH\n"

static int
try_open_as(struct bundle_fixture *f, struct hwtd_context *ctx,
    const char *maps, size_t n, const struct hwtd_open_options *how,
    struct hwtd_trace **out)
{
	struct hwtd_open_options opts = *how;
	char path[300];

	bundle_put(f, "maps", maps, n);
	opts.size = sizeof(opts);
	opts.map_file = temp_dir_file(&f->dir, "maps", path);
	if (opts.tech == 0)
		opts.tech = HWTD_TECH_INTEL_PT;
	/* Also a frame of a sink, of ID 2. */
	write_file(f->path,
	    "\x05\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02"
	    "\x82\x02",
	    16);
	return (hwtd_trace_open(ctx, f->path, &opts, out, &f->err));
}

static struct hwtd_trace *
open_as(struct bundle_fixture *f, const char *maps,
    const struct hwtd_open_options *how)
{
	struct hwtd_trace *trace = NULL;
	int rc = try_open_as(f, f->ctx, maps, strlen(maps), how, &trace);

	if (rc != HWTD_OK)
		fail_msg("%d %s", rc, f->err.message);
	return (trace);
}

static struct hwtd_trace *
open_maps(struct bundle_fixture *f, const char *maps)
{
	const struct hwtd_open_options none = { 0 };

	return (open_as(f, maps, &none));
}

static uint64_t
n_records(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_string_equal(info.format, "raw");
	return (info.n_records);
}

static void
facts_become_records(void **state)
{
	static const struct {
		const char *line;
		const char *name;
		uint32_t type, flags, pid, tid;
		uint64_t addr, len, other;
	} cases[] = {
		{ "exec /bin/a bias=0x1000 interp=0x2000", "/bin/a",
		    HWTD_REC_EXEC, HWTD_RECF_ADDR | HWTD_RECF_BASE, 7,
		    HWTD_NO_ID, 0x1000, 0, 0x2000 },
		{ "exec a bias=0", "a", HWTD_REC_EXEC, HWTD_RECF_ADDR, 7,
		    HWTD_NO_ID, 0, 0, 0 },
		{ "mmap /l addr=4096", "/l", HWTD_REC_MMAP, HWTD_RECF_ADDR, 7,
		    HWTD_NO_ID, 4096, 0, 0 },
		{ "mmap /l addr=0XfF len=1", "/l", HWTD_REC_MMAP,
		    HWTD_RECF_ADDR | HWTD_RECF_LEN, 7, HWTD_NO_ID, 255, 1, 0 },
		{ "mmap\t/l  off=0x3000 len=16\taddr=0x1000 # all", "/l",
		    HWTD_REC_MMAP,
		    HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_FILE_OFF, 7,
		    HWTD_NO_ID, 0x1000, 16, 0x3000 },
		{ "  mmap \"/a b#\\\"c\\\\\" addr=1\r", "/a b#\"c\\",
		    HWTD_REC_MMAP, HWTD_RECF_ADDR, 7, HWTD_NO_ID, 1, 0, 0 },
		{ "mmap /a#b addr=0xffffffffffffffff len=1", "/a#b",
		    HWTD_REC_MMAP, HWTD_RECF_ADDR | HWTD_RECF_LEN, 7,
		    HWTD_NO_ID, UINT64_MAX, 1, 0 },
		{ "munmap addr=0x1000", NULL, HWTD_REC_MUNMAP, HWTD_RECF_ADDR,
		    7, HWTD_NO_ID, 0x1000, 0, 0 },
		{ "munmap addr=0x1000 len=2", NULL, HWTD_REC_MUNMAP,
		    HWTD_RECF_ADDR | HWTD_RECF_LEN, 7, HWTD_NO_ID, 0x1000, 2,
		    0 },
		{ "munmap", NULL, HWTD_REC_MUNMAP, 0, 7, HWTD_NO_ID, 0, 0, 0 },
		{ "load /rtld addr=5", "/rtld", HWTD_REC_MODULE_LOAD,
		    HWTD_RECF_ADDR, 7, HWTD_NO_ID, 5, 0, 0 },
		{ "interp /rtld addr=5", "/rtld", HWTD_REC_MODULE_LOAD,
		    HWTD_RECF_ADDR, 7, HWTD_NO_ID, 5, 0, 0 },
		{ "kernel kernel addr=0xffffffff80200000 len=0x1000", "kernel",
		    HWTD_REC_KERNEL, HWTD_RECF_ADDR | HWTD_RECF_LEN,
		    HWTD_NO_ID, HWTD_NO_ID, 0xffffffff80200000u, 0x1000, 0 },
		{ "module zfs.ko addr=9", "zfs.ko", HWTD_REC_KERNEL,
		    HWTD_RECF_ADDR, HWTD_NO_ID, HWTD_NO_ID, 9, 0, 0 },
		{ "thread 3", NULL, HWTD_REC_THREAD_CREATE, 0, 7, 3, 0, 0, 0 },
		{ "thread 3 tid=100123", NULL, HWTD_REC_THREAD_CREATE, 0, 7,
		    100123, 0, 0, 0 },
	};
	struct bundle_fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace;
		struct hwtd_record r;
		char text[300];

		print_message("case %s\n", cases[i].line);
		(void)snprintf(text, sizeof(text), "# first\n\npid 7\n%s",
		    cases[i].line);
		trace = open_maps(f, text);
		assert_int_equal(n_records(trace), 1);
		r = bundle_record_at(trace, 0);
		assert_int_equal(r.type, cases[i].type);
		assert_int_equal(r.flags, cases[i].flags);
		assert_int_equal(r.pid, cases[i].pid);
		assert_int_equal(r.tid, cases[i].tid);
		assert_true(r.addr == cases[i].addr);
		assert_true(r.len == cases[i].len);
		assert_int_equal(r.type == HWTD_REC_EXEC ? r.base : r.file_off,
		    cases[i].other);
		if (cases[i].name == NULL)
			assert_null(r.name);
		else
			assert_string_equal(r.name, cases[i].name);
		assert_int_equal(bundle_stream_at(trace, 0).pid, 7);
		hwtd_trace_close(trace);
	}
}

static void
wrong_lines_are_refused_with_what_is_expected(void **state)
{
	static const struct {
		const char *line;
		const char *said;
	} cases[] = {
		{ "foo", "'foo' is not known; expected exec, mmap" },
		{ "exec", "a path is missing; expected exec PATH bias=" },
		{ "exec \"\" bias=0", "a path is missing" },
		{ "exec /a", "bias= is missing; expected exec PATH" },
		{ "exec /a bias", "'bias' is not known" },
		{ "exec /a 0x1000", "'0x1000' is not known" },
		{ "exec /a bias=", "bias= has '', which is no number" },
		{ "exec /a bias=0x", "'0x', which is no number" },
		{ "exec /a bias=-1", "'-1', which is no number" },
		{ "exec /a bias=0x1g", "'0x1g', which is no number" },
		{ "exec /a bias=18446744073709551616", "is no number" },
		{ "exec /a bias=0 bias=0", "bias= is there twice" },
		{ "exec /a bias=0 addr=0", "'addr' is not known" },
		{ "exec \"/a bias=0", "a quote has no end" },
		{ "exec /a bias=\"0", "a quote has no end" },
		{ "\"exec", "a quote has no end" },
		{ "mmap /a", "addr= is missing; expected mmap PATH addr=" },
		{ "mmap /a addr=1 len=0", "len=0; expected 1 or more" },
		{ "mmap /a addr=0xffffffffffffffff len=2",
		    "more than there are addresses" },
		{ "munmap len=1", "len= without addr=" },
		{ "munmap 0x1000", "'0x1000' is not known" },
		{ "kernel /k", "addr= is missing" },
		{ "pid", "expected pid NUMBER" },
		{ "pid x", "pid 'x' is no number" },
		{ "pid 4294967295", "is no number up to" },
		{ "pid 1 2", "expected pid NUMBER" },
		{ "numbers", "expected numbers threads|cpus" },
		{ "numbers pids", "'pids' is not known" },
		{ "thread", "a number is missing; expected thread INDEX" },
		{ "thread x", "thread 'x' is no number" },
		{ "thread 1 tid=x", "tid 'x' is no number" },
		{ "thread 1 name", "'name' is not known" },
		{ "1 0x1000",
		    "column 3 is missing; expected a line of "
		    "procstat -v" },
		{ "1 0x2000 0x1000 r-x 1 1 1 1 C vn /a",
		    "no range is at '0x2000' to '0x1000'" },
		{ "1 0x2000 end r-x 1 1 1 1 C vn /a", "no range" },
		{ "9999999999 0x1000 0x2000 r-x 1 1 1 1 C vn /a",
		    "PID '9999999999' is no number" },
	};
	struct bundle_fixture *f = *state;
	const struct hwtd_open_options none = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace;
		char text[300];
		int rc;

		print_message("case %s\n", cases[i].line);
		(void)snprintf(text, sizeof(text), "# first\nthread 9\n%s\n",
		    cases[i].line);
		rc = try_open_as(f, f->ctx, text, strlen(text), &none, &trace);
		assert_int_equal(rc, HWTD_E_CORRUPT);
		assert_non_null(strstr(f->err.message, "maps: line 3: "));
		if (strstr(f->err.message, cases[i].said) == NULL)
			fail_msg("'%s' does not say '%s'", f->err.message,
			    cases[i].said);
	}
	{
		struct hwtd_trace *trace;

		assert_int_equal(try_open_as(f, f->ctx, "pid 1\0\n", 7, &none,
				     &trace),
		    HWTD_E_CORRUPT);
		assert_non_null(strstr(f->err.message, "line 1: a NUL"));
		assert_int_equal(try_open_as(f, f->ctx, "thread 1\nthread 1\n",
				     18, &none, &trace),
		    HWTD_E_CORRUPT);
		assert_non_null(strstr(f->err.message,
		    "line 2: thread 1 is in line 1 already"));
	}
}

static void
rows_of_procstat_are_mappings(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = open_maps(f,
	    PROCSTAT
	    " 812           0x200000           0x206000 r--    6   14   4   1 "
	    "CN--- vn /bin/sleep\n"
	    " 812           0x206000           0x20d000 r-x    7   14   4   1 "
	    "CN--- vn /bin/a b c \n"
	    " 812           0x20d000           0x20e000 rw-    1    0   1   0 "
	    "C---- vn /bin/sleep\n"
	    " 812        0x800000000        0x800001000 r-x    1    1  33   0 "
	    "----- ph \n"
	    " 813     7ffffffdf000     7ffffffff000 rwx    4    4   1   0 "
	    "---D- vn /x\n"
	    "mmap /y addr=1\n");
	struct hwtd_record r;

	assert_int_equal(n_records(trace), 3);
	r = bundle_record_at(trace, 0);
	assert_int_equal(r.type, HWTD_REC_MMAP);
	assert_int_equal(r.flags, HWTD_RECF_ADDR | HWTD_RECF_LEN);
	assert_int_equal(r.pid, 812);
	assert_int_equal(r.addr, 0x206000);
	assert_int_equal(r.len, 0x7000);
	assert_string_equal(r.name, "/bin/a b c");
	r = bundle_record_at(trace, 1);
	assert_int_equal(r.pid, 813);
	assert_true(r.addr == 0x7ffffffdf000u);
	/* Facts are of whom facts name. */
	assert_int_equal(bundle_record_at(trace, 2).pid, HWTD_NO_ID);
	assert_int_equal(bundle_stream_at(trace, 0).pid, 812);
	hwtd_trace_close(trace);
}

static void
rows_of_kldstat_are_kernels(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = open_maps(f,
	    "Id Refs Address                Size Name\n"
	    " 1   17 0xffffffff80200000  1f3c6e0 kernel\n"
	    " 2    1 0xffffffff82319000     3218 intpm.ko\n");
	const struct hwtd_open_options none = { 0 };
	struct hwtd_record r = bundle_record_at(trace, 0);

	assert_int_equal(n_records(trace), 2);
	assert_int_equal(r.type, HWTD_REC_KERNEL);
	assert_int_equal(r.pid, HWTD_NO_ID);
	assert_true(r.addr == 0xffffffff80200000u);
	assert_int_equal(r.len, 0x1f3c6e0);
	assert_string_equal(r.name, "kernel");
	assert_string_equal(bundle_record_at(trace, 1).name, "intpm.ko");
	hwtd_trace_close(trace);
	for (size_t i = 0; i < 3; i++) {
		static const char *const wrong[] = {
			"Id Refs Address Size Name\n1 x 0x1 1 kernel\n",
			"Id Refs Address Size Name\n1 1 0x1 zz kernel\n",
			"Id Refs Address Size Name\n1 1 0x1 1\n",
		};

		assert_int_equal(try_open_as(f, f->ctx, wrong[i],
				     strlen(wrong[i]), &none, &trace),
		    HWTD_E_CORRUPT);
		assert_non_null(strstr(f->err.message,
		    "line 2: expected a line of kldstat"));
	}
}

static void
processes_follow_their_lines(void **state)
{
	const struct hwtd_open_options given = { .pid_plus_1 = 6 };
	static const char
	    text[] = "munmap\npid 7\nmunmap\npid 8\nmunmap addr=1\n";
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = open_maps(f, text);

	assert_int_equal(bundle_record_at(trace, 0).pid, HWTD_NO_ID);
	assert_int_equal(bundle_record_at(trace, 1).pid, 7);
	assert_int_equal(bundle_record_at(trace, 2).pid, 8);
	assert_int_equal(bundle_stream_at(trace, 0).pid, 7);
	hwtd_trace_close(trace);
	trace = open_as(f, text, &given);
	assert_int_equal(bundle_record_at(trace, 0).pid, 5);
	assert_int_equal(bundle_record_at(trace, 1).pid, 7);
	assert_int_equal(bundle_stream_at(trace, 0).pid, 5);
	hwtd_trace_close(trace);
	trace = open_maps(f, "");
	assert_int_equal(n_records(trace), 0);
	hwtd_trace_close(trace);
}

static void
threads_are_known_by_number(void **state)
{
	struct bundle_fixture *f = *state;
	static const char
	    text[] = "thread 0 tid=100\nthread 1 name=\"a b\" tid=101\n";
	struct hwtd_open_options how = { .thread_plus_1 = 2 };
	struct hwtd_trace *trace = open_as(f, text, &how);

	assert_int_equal(n_records(trace), 3);
	assert_int_equal(bundle_record_at(trace, 2).type,
	    HWTD_REC_THREAD_NAME);
	assert_int_equal(bundle_record_at(trace, 2).tid, 101);
	assert_string_equal(bundle_record_at(trace, 2).name, "a b");
	assert_int_equal(bundle_stream_at(trace, 0).tid, 101);
	hwtd_trace_close(trace);
	how.thread_plus_1 = 5;
	trace = open_as(f, text, &how);
	assert_int_equal(bundle_stream_at(trace, 0).tid, 4);
	hwtd_trace_close(trace);
	how.tid_plus_1 = 78;
	trace = open_as(f, text, &how);
	assert_int_equal(bundle_stream_at(trace, 0).tid, 77);
	hwtd_trace_close(trace);
	how.tid_plus_1 = 0;
	trace = open_as(f, "numbers cpus\n", &how);
	assert_int_equal(bundle_stream_at(trace, 0).tid, HWTD_NO_ID);
	assert_int_equal(bundle_stream_at(trace, 0).cpu, 4);
	hwtd_trace_close(trace);
	trace = open_maps(f, text);
	assert_int_equal(bundle_stream_at(trace, 0).tid, HWTD_NO_ID);
	hwtd_trace_close(trace);
}

static void
sources_of_a_sink_are_threads(void **state)
{
	static const struct hwtd_coresight_config config = {
		.size = sizeof(config),
		.protocol = HWTD_CS_ETMV4,
		.trace_id = 2,
	};
	struct bundle_fixture *f = *state;
	struct hwtd_coresight_config others = config;
	struct hwtd_open_options how = { .tech = HWTD_TECH_CORESIGHT,
		.framing = HWTD_FRAMING_MEMORY,
		.coresight = &config,
		.n_coresight = 1 };
	struct hwtd_trace *trace = open_as(f, "thread 1 tid=101\npid 3\n",
	    &how);

	assert_int_equal(bundle_stream_at(trace, 1).tid, 101);
	assert_int_equal(bundle_stream_at(trace, 1).pid, 3);
	hwtd_trace_close(trace);
	/* Or CPUs. */
	trace = open_as(f, "thread 1 tid=101\nnumbers cpus\n", &how);
	assert_int_equal(bundle_stream_at(trace, 1).tid, HWTD_NO_ID);
	hwtd_trace_close(trace);
	trace = open_as(f, "pid 3\n", &how);
	assert_int_equal(bundle_stream_at(trace, 1).tid, HWTD_NO_ID);
	hwtd_trace_close(trace);
	/* Also those that only the bytes tell of. */
	others.trace_id = 0;
	others.ids = HWTD_CS_IDS_OTHERS;
	how.coresight = &others;
	trace = open_as(f, "thread 1 tid=101\n", &how);
	assert_int_equal(bundle_stream_at(trace, 1).coresight->trace_id, 2);
	assert_int_equal(bundle_stream_at(trace, 1).tid, 101);
	hwtd_trace_close(trace);
	/* What the user says of all is so. */
	how.tid_plus_1 = 6;
	trace = open_as(f, "thread 1 tid=101\n", &how);
	assert_int_equal(bundle_stream_at(trace, 1).tid, 5);
	hwtd_trace_close(trace);
}

static void
names_with_numbers_are_opened_together(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_open_options how = { .size = sizeof(how) };
	struct hwtd_trace *trace;
	char path[300];

	bundle_put(f, "dump2", "22", 2);
	bundle_put(f, "dump11", "11111", 5);
	bundle_put(f, "dump02", "x", 1);
	bundle_put(f, "dumpx", "x", 1);
	bundle_put(f, "dump1234567890", "x", 1);
	(void)temp_dir_file(&f->dir, "dump", path);
	assert_int_equal(hwtd_trace_open(f->ctx, path, NULL, &trace, &f->err),
	    HWTD_OK);
	assert_int_equal(bundle_stream_at(trace, 0).tid, 2);
	assert_int_equal(bundle_stream_at(trace, 0).n_bytes, 2);
	assert_string_equal(bundle_stream_at(trace, 0).name, "dump2");
	assert_int_equal(bundle_stream_at(trace, 1).tid, 11);
	assert_int_equal(bundle_stream_at(trace, 1).n_bytes, 5);
	assert_non_null(strstr(hwtd_trace_file(trace, 0), "/dump2"));
	assert_non_null(strstr(hwtd_trace_file(trace, 1), "/dump11"));
	hwtd_trace_close(trace);
	/* Other technologies are written to one file. */
	how.tech = HWTD_TECH_SPE;
	assert_int_equal(hwtd_trace_open(f->ctx, path, &how, &trace, NULL),
	    HWTD_E_IO);
	/* A folder is no beginning of names. */
	(void)snprintf(path, sizeof(path), "%s/none/", f->dir.path);
	assert_int_equal(hwtd_trace_open(f->ctx, path, NULL, &trace, NULL),
	    HWTD_E_IO);
}

static void
every_refused_allocation_is_told(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	const struct hwtd_open_options none = { 0 };
	static const char
	    text[] = "pid 1\nexec /p bias=0\nthread 1 name=x\n" PROCSTAT
		     "812 0x206000 0x20d000 r-x 7 14 4 1 CN--- vn /bin/a\n";
	struct failing_allocator failing;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	size_t n = 0;
	int rc;

	failing_allocator_init(&failing);
	opts.allocator = &failing.allocator;
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	do {
		failing_allocator_arm(&failing, ++n, false);
		rc = try_open_as(f, ctx, text, sizeof(text) - 1, &none,
		    &trace);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
	} while (rc != HWTD_OK && n < 1000);
	assert_int_equal(rc, HWTD_OK);
	assert_true(n > 20);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(failing.blocks, 0);
}

static void
file_that_cannot_be_read_is_an_error(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_open_options opts = { .size = sizeof(opts),
		.tech = HWTD_TECH_INTEL_PT,
		.map_file = "/no/such/file" };
	struct hwtd_trace *trace;

	write_file(f->path, "x", 1);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &opts, &trace,
			     &f->err),
	    HWTD_E_IO);
	assert_non_null(strstr(f->err.message, "/no/such/file"));
}

int
main(void)
{
#define TEST(name)                                                            \
	cmocka_unit_test_setup_teardown(name, bundle_set_up, bundle_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(facts_become_records),
		TEST(wrong_lines_are_refused_with_what_is_expected),
		TEST(rows_of_procstat_are_mappings),
		TEST(rows_of_kldstat_are_kernels),
		TEST(processes_follow_their_lines),
		TEST(threads_are_known_by_number),
		TEST(sources_of_a_sink_are_threads),
		TEST(names_with_numbers_are_opened_together),
		TEST(every_refused_allocation_is_told),
		TEST(file_that_cannot_be_read_is_an_error),
	};
#undef TEST

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
