/*
 * Exports of calls through the public interface: what is refused, files, what
 * fails on the way, and memory.  What is in the files is looked at by tests/exports.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "support/failing_allocator.h"
#include "support/json_check.h"
#include "support/slices.h"
#include "support/temp_dir.h"

/* f takes 40 ns, in it g 10; a gap of 100 ns; then h. */
static const char text[] =
    "7/8 1.000000100: 1 branches:u: call 1000 m+0x0 (p) => 2000 f+0x0 (p)\n"
    "7/8 1.000000110: 1 branches:u: call 2004 f+0x4 (p) => 3000 g+0x0 (q)\n"
    "7/8 1.000000120: 1 branches:u: return 3008 g+0x8 (q) => 2009 f+0x9 (p)\n"
    "7/8 1.000000140: 1 branches:u: return 200c f+0xc (p) => 1005 m+0x5 (p)\n"
    " instruction trace error type 1 time 1.000000150 cpu -1 pid 7 tid 8 ip 0 "
    "code 7: Overflow packet\n"
    "7/8 1.000000250: 1 branches:u: tr strt 0 [unknown] ([unknown]) => 1010 "
    "m+0x10 (p)\n"
    "7/8 1.000000260: 1 branches:u: jmp 1014 m+0x14 (p) => 4000 h+0x0 (p)\n";

static const uint32_t formats[] = { HWTD_FORMAT_PERFETTO, HWTD_FORMAT_CHROME,
	HWTD_FORMAT_SPEEDSCOPE, HWTD_FORMAT_FIREFOX };

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

static struct temp_dir dir;
static char path[300];
static struct failing_allocator memory;
static struct hwtd_context *ctx;

/* What is written, and what is to fail. */
struct out {
	char bytes[1 << 16];
	size_t n;
	unsigned int writes, nexts;
	int error;
	bool next_fails;
};

static struct out out;

static int
take(void *arg, const void *bytes, size_t n)
{
	struct out *o = arg;

	o->writes++;
	if (o->error != 0 && !o->next_fails)
		return (o->error);
	assert_true(o->n + n <= sizeof(o->bytes));
	memcpy(o->bytes + o->n, bytes, n);
	o->n += n;
	return (0);
}

static int
next(void *arg)
{
	struct out *o = arg;

	o->nexts++;
	return (o->next_fails ? o->error : 0);
}

static struct hwtd_format_options
options_of(uint32_t format)
{
	memset(&out, 0, sizeof(out));
	return ((struct hwtd_format_options){
	    .size = sizeof(struct hwtd_format_options),
	    .format = format,
	    .write = take,
	    .write_arg = &out,
	    .title = "t" });
}

static struct hwtd_calls *
open_calls(uint32_t flags)
{
	const struct hwtd_calls_options how = { .size = sizeof(how),
		.flags = flags };
	struct hwtd_calls *calls;

	assert_int_equal(hwtd_calls_open_text(ctx, path, &how, &calls, NULL),
	    HWTD_OK);
	return (calls);
}

#define ROWS (HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS)

/* To the end; what hwtd_export_write() said last. */
static int
write_all(struct hwtd_export *ex, struct hwtd_error *err)
{
	int rc;

	do
		rc = hwtd_export_write(ex, err);
	while (rc == HWTD_OK);
	return (rc);
}

static int
set_up(void **state)
{
	const struct hwtd_context_options o = { .size = sizeof(o),
		.allocator = &memory.allocator };

	(void)state;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "text", path), text, sizeof(text) - 1);
	failing_allocator_init(&memory);
	return (hwtd_context_create(&o, &ctx, NULL));
}

static int
tear_down(void **state)
{
	(void)state;
	hwtd_context_destroy(ctx);
	assert_int_equal(memory.blocks, 0);
	temp_dir_remove(&dir);
	return (0);
}

static void
every_format_is_listed_once(void **state)
{
	struct hwtd_export_format_info f = { .size = sizeof(f) };
	uint64_t seen = 0;
	size_t n = 0;

	(void)state;
	for (; hwtd_export_format_info(n, &f) == HWTD_OK; n++) {
		assert_true(f.format < 64);
		assert_int_equal(seen >> f.format & 1, 0);
		seen |= UINT64_C(1) << f.format;
		assert_true(strlen(f.name) > 0 && strlen(f.viewer) > 0);
		assert_int_equal(f.suffixes[0], '.');
	}
	for (size_t i = 0; i < N_FORMATS; i++)
		assert_int_equal(seen >> formats[i] & 1, 1);
	assert_int_equal(hwtd_export_format_info(n + 1, &f), HWTD_END);
	assert_int_equal(hwtd_export_format_info(SIZE_MAX, &f), HWTD_END);
	assert_int_equal(hwtd_export_format_info(0, NULL), HWTD_E_INVALID);
}

static void
options_that_are_wrong_are_refused(void **state)
{
	struct hwtd_format_options o = options_of(HWTD_FORMAT_CHROME);
	struct hwtd_calls *calls = open_calls(ROWS);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_export *ex;
	struct {
		struct hwtd_format_options o;
		uint64_t more;
	} newer;

	(void)state;
#define REFUSED(code)                                                         \
	assert_int_equal(hwtd_export_open_calls(calls, &o, &ex, &err), code)
	o.format = 7;
	REFUSED(HWTD_E_INVALID);
	assert_string_equal(err.message, "no format 7");
	o = options_of(HWTD_FORMAT_CHROME);
	o.write = NULL;
	REFUSED(HWTD_E_INVALID);
	o = options_of(HWTD_FORMAT_CHROME);
	o.flags = 0x1000;
	REFUSED(HWTD_E_INVALID);
	o = options_of(HWTD_FORMAT_CHROME);
	o.value = HWTD_VALUE_CYCLES;
	REFUSED(HWTD_E_INVALID);
	o.value = 99;
	REFUSED(HWTD_E_INVALID);
	o = options_of(HWTD_FORMAT_CHROME);
	o.split_bytes = 1000;
	REFUSED(HWTD_E_INVALID);
	memset(&newer, 0, sizeof(newer));
	newer.o = options_of(HWTD_FORMAT_CHROME);
	newer.o.size = sizeof(newer);
	newer.more = 1;
	assert_int_equal(hwtd_export_open_calls(calls, &newer.o, &ex, &err),
	    HWTD_E_TOO_NEW);
	o = options_of(HWTD_FORMAT_CHROME);
	assert_int_equal(hwtd_export_open_calls(NULL, &o, &ex, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_open_calls(calls, NULL, &ex, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_export_open_calls(calls, &o, NULL, &err),
	    HWTD_E_INVALID);
	hwtd_calls_close(calls);

	/* Begins of calls have to be among the rows. */
	calls = open_calls(HWTD_CALLS_GAPS);
	REFUSED(HWTD_E_STATE);
	hwtd_calls_close(calls);

	/* What was read would be missing. */
	calls = open_calls(ROWS);
	assert_int_equal(hwtd_export_open_calls(calls, &o, &ex, &err),
	    HWTD_OK);
	assert_int_equal(write_all(ex, &err), HWTD_END);
	hwtd_export_close(ex);
	REFUSED(HWTD_E_STATE);
	hwtd_calls_close(calls);
	assert_int_equal(hwtd_export_write(NULL, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_export_info(NULL, NULL), HWTD_E_INVALID);
	hwtd_export_stop(NULL);
	hwtd_export_close(NULL);
}

static void
all_is_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		const struct hwtd_format_options o = options_of(formats[i]);
		struct hwtd_export_info info = { .size = sizeof(info) };
		struct hwtd_calls *calls = open_calls(ROWS);
		struct hwtd_export *ex;

		assert_int_equal(hwtd_export_open_calls(calls, &o, &ex, NULL),
		    HWTD_OK);
		assert_int_equal(write_all(ex, NULL), HWTD_END);
		assert_int_equal(hwtd_export_write(ex, NULL), HWTD_END);
		assert_int_equal(hwtd_export_info(ex, &info), HWTD_OK);
		assert_int_equal(info.format, formats[i]);
		assert_int_equal(info.bytes, out.n);
		assert_int_equal(info.largest_file, out.n);
		assert_int_equal(info.files, 1);
		/* m, f, g, h and the gap. */
		assert_int_equal(info.rows, 5);
		assert_int_equal(info.dropped, 0);
		assert_int_equal(info.merged, 0);
		assert_int_equal(info.flags & ~HWTD_EXPORTF_TIME_MOVED, 0);
		assert_true(info.viewer_bytes >= 50000000);
		hwtd_export_close(ex);
		hwtd_calls_close(calls);
	}
}

static void
what_is_left_out_is_counted(void **state)
{
	struct hwtd_format_options o = options_of(HWTD_FORMAT_CHROME);
	struct hwtd_export_info info = { .size = sizeof(info) };
	struct hwtd_calls *calls = open_calls(ROWS);
	struct hwtd_export *ex;

	(void)state;
	/* g takes 10 ns and h none. */
	o.min_ns = 1;
	o.resolution_ns = 20;
	assert_int_equal(hwtd_export_open_calls(calls, &o, &ex, NULL),
	    HWTD_OK);
	assert_int_equal(write_all(ex, NULL), HWTD_END);
	assert_int_equal(hwtd_export_info(ex, &info), HWTD_OK);
	/* A call that is short alone is what it is. */
	assert_int_equal(info.rows, 4);
	assert_int_equal(info.dropped, 1);
	assert_int_equal(info.merged, 0);
	hwtd_export_close(ex);
	hwtd_calls_close(calls);
}

static void
stopping_leaves_a_file_that_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		const struct hwtd_format_options o = options_of(formats[i]);
		struct hwtd_calls *calls = open_calls(ROWS);
		struct slices s = { 0 };
		struct hwtd_export *ex;
		size_t at;

		assert_int_equal(hwtd_export_open_calls(calls, &o, &ex, NULL),
		    HWTD_OK);
		hwtd_export_stop(ex);
		assert_int_equal(hwtd_export_write(ex, NULL), HWTD_END);
		assert_true(out.n > 0);
		if (formats[i] == HWTD_FORMAT_PERFETTO)
			assert_true(slices_of_perfetto(&s,
			    (const uint8_t *)out.bytes, out.n));
		else
			assert_true(json_check(out.bytes, out.n, &at));
		assert_true(slices_nest(&s));
		hwtd_export_close(ex);
		hwtd_calls_close(calls);
	}
}

static void
a_file_that_cannot_be_written_is_a_failure(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		struct hwtd_format_options o = options_of(formats[i]);
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_calls *calls = open_calls(ROWS);
		struct hwtd_export *ex;

		out.error = ENOSPC;
		assert_int_equal(hwtd_export_open_calls(calls, &o, &ex, NULL),
		    HWTD_OK);
		assert_int_equal(write_all(ex, &err), HWTD_E_IO);
		assert_int_equal(err.sys_errno, ENOSPC);
		assert_int_equal(hwtd_export_write(ex, &err), HWTD_E_STATE);
		hwtd_export_close(ex);

		/* Nor can a further one be begun. */
		hwtd_calls_close(calls);
		calls = open_calls(ROWS);
		o = options_of(formats[i]);
		o.next = next;
		o.split_bytes = 1;
		out.error = EACCES;
		out.next_fails = true;
		assert_int_equal(hwtd_export_open_calls(calls, &o, &ex, NULL),
		    HWTD_OK);
		assert_int_equal(write_all(ex, &err), HWTD_E_IO);
		assert_int_equal(err.sys_errno, EACCES);
		assert_int_equal(out.nexts, 1);
		hwtd_export_close(ex);
		hwtd_calls_close(calls);
	}
}

/* HWTD_END, or what failed. */
static int
try_all(uint32_t format, struct hwtd_error *err)
{
	struct hwtd_format_options o = options_of(format);
	const struct hwtd_calls_options how = { .size = sizeof(how),
		.flags = ROWS };
	struct hwtd_export *ex = NULL;
	struct hwtd_calls *calls;
	int rc = hwtd_calls_open_text(ctx, path, &how, &calls, err);

	if (rc != HWTD_OK)
		return (rc);
	o.flags = HWTD_EXPORT_GZIP | HWTD_EXPORT_DETAILS |
	    HWTD_EXPORT_COUNTERS;
	o.next = next;
	o.split_bytes = 700;
	rc = hwtd_export_open_calls(calls, &o, &ex, err);
	if (rc == HWTD_OK)
		rc = write_all(ex, err);
	hwtd_export_close(ex);
	hwtd_calls_close(calls);
	return (rc);
}

static void
memory_that_is_refused_is_an_error_and_no_leak(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		int rc = HWTD_E_NOMEM;
		uint64_t n = 0;

		while (rc == HWTD_E_NOMEM) {
			struct hwtd_error err = { .size = sizeof(err) };
			const int64_t before = memory.blocks;

			assert_true(++n < 1000);
			failing_allocator_arm(&memory, n, false);
			rc = try_all(formats[i], &err);
			failing_allocator_arm(&memory, 0, false);
			assert_int_equal(memory.blocks, before);
		}
		assert_int_equal(rc, HWTD_END);
		assert_true(n > 20);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_is_listed_once),
		cmocka_unit_test_setup_teardown(
		    options_that_are_wrong_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_is_counted, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(what_is_left_out_is_counted,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    stopping_leaves_a_file_that_is_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_file_that_cannot_be_written_is_a_failure, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    memory_that_is_refused_is_an_error_and_no_leak, set_up,
		    tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
