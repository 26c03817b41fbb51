/*
 * What a capture refuses, and how its callers hear of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture_run.h"

/* What begin() refuses, as whoever starts a capture hears it. */
static void
refused(struct pt_run *r, int code, int sys_errno, const char *words)
{
	struct hwtd_capture *c = (void *)r;

	r->run.err = (struct hwtd_error){ .size = sizeof(r->run.err) };
	assert_int_equal(hwtd_capture_start(r->run.ctx, &r->run.options, &c,
			     &r->run.err),
	    code);
	assert_int_equal(r->run.err.code, code);
	assert_int_equal(r->run.err.sys_errno, sys_errno);
	if (strstr(r->run.err.message, words) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", r->run.err.message, words);
	assert_ptr_equal(c, (void *)r);
	assert_int_equal(access(r->run.output, F_OK), -1);
}

static void
errors_of_the_beginning_reach_the_caller(void **state)
{
	static const struct {
		enum sim_call call;
		int e;
		int code;
		const char *words;
	} cases[] = {
		{ SIM_CALL_ALLOC, EPERM, HWTD_E_IO, "may not trace process" },
		{ SIM_CALL_ALLOC, EEXIST, HWTD_E_STATE, "is traced already" },
		{ SIM_CALL_ALLOC, ENOMEM, HWTD_E_LIMIT, "no memory for" },
		{ SIM_CALL_SPAWN, EAGAIN, HWTD_E_IO, "cannot start" },
		{ SIM_CALL_FORK, ENOMEM, HWTD_E_IO, "cannot make a process" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pt_run r;

		capture_run_begin(&r, NULL);
		(void)capture_run_program(&r, true);
		sim_fail(r.run.kernel, cases[i].call, 1, cases[i].e);
		refused(&r, cases[i].code, cases[i].e, cases[i].words);
		capture_run_end(&r);
	}
}

static void
files_that_cannot_be_written_are_an_error(void **state)
{
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, true);
	r.run.options.output = "/nonexistent/run.hwt";
	refused(&r, HWTD_E_IO, ENOENT, "/nonexistent/run.hwt");
	capture_run_end(&r);
}

static void
a_file_is_replaced_if_that_is_asked_for(void **state)
{
	struct hwtd_capture *c = NULL;
	struct pt_run r;
	uint8_t *bytes;
	size_t n;

	(void)state;
	for (uint32_t replace = 0; replace < 2; replace++) {
		capture_run_begin(&r, NULL);
		(void)capture_run_program(&r, true);
		write_file(r.run.output, "precious", 8);
		if (replace != 0) {
			r.run.options.flags = HWTD_CAPTUREF_REPLACE;
			c = capture_run_start(&r);
			assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
			hwtd_capture_close(c);
			capture_run_assert_flow(&r);
			capture_run_end(&r);
			continue;
		}
		assert_int_equal(hwtd_capture_start(r.run.ctx, &r.run.options,
				     &c, &r.run.err),
		    HWTD_E_IO);
		assert_int_equal(r.run.err.sys_errno, EEXIST);
		bytes = read_file(r.run.output, &n);
		assert_int_equal(n, 8);
		assert_memory_equal(bytes, "precious", 8);
		free(bytes);
		capture_run_end(&r);
	}
}

static void
there_is_no_process_where_there_is_no_hwt(void **state)
{
	static const struct {
		int e;
		int code;
	} cases[] = {
		{ ENOENT, HWTD_E_UNSUPPORTED },
		{ ENOSYS, HWTD_E_UNSUPPORTED },
		{ EACCES, HWTD_E_IO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sim_options options = {
			.device_error = cases[i].e,
		};
		struct pt_run r;

		capture_run_begin(&r, &options);
		capture_run_keeper = 0;
		refused(&r, cases[i].code, cases[i].e, "hwt");
		assert_int_equal(capture_run_keeper, 0);
		capture_run_end(&r);
	}
}

static void
misuse_is_refused(void **state)
{
	struct hwtd_capture_status none = { .size = 0 };
	struct hwtd_capture *c = NULL;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, true);
	assert_int_equal(hwtd_capture_start(NULL, &r.run.options, &c, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_capture_start(r.run.ctx, NULL, &c, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_capture_start(r.run.ctx, &r.run.options, NULL,
			     NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_capture_wait(NULL, 0, NULL, &r.run.err),
	    HWTD_E_INVALID);
	assert_int_equal(r.run.err.code, HWTD_E_INVALID);
	hwtd_capture_stop(NULL);
	hwtd_capture_close(NULL);
	r.run.options.flags = 0x80;
	refused(&r, HWTD_E_INVALID, 0, "0x80");
	r.run.options.flags = 0;
	r.run.options.argv = NULL;
	r.run.options.mode = HWTD_CAPTURE_THREADS;
	refused(&r, HWTD_E_INVALID, 0, "no program to trace");
	r.run.options.argv = r.argv;
	c = capture_run_start(&r);
	assert_int_equal(hwtd_capture_wait(c, 0, &none, NULL), HWTD_E_INVALID);
	hwtd_capture_close(c);
	capture_run_end(&r);
}

static void
options_of_other_versions_are_understood(void **state)
{
	struct {
		struct hwtd_capture_options known;
		uint64_t newer;
	} options;
	struct hwtd_capture *c = NULL;
	struct pt_run r;

	(void)state;
	capture_run_begin(&r, NULL);
	(void)capture_run_program(&r, true);
	memset(&options, 0, sizeof(options));
	options.known = r.run.options;
	options.known.size = sizeof(options);
	options.newer = 1;
	assert_int_equal(hwtd_capture_start(r.run.ctx, &options.known, &c,
			     &r.run.err),
	    HWTD_E_TOO_NEW);
	assert_null(c);
	/* An older one has fewer. */
	options.known.size = offsetof(struct hwtd_capture_options, level);
	options.known.level = 99;
	assert_int_equal(hwtd_capture_start(r.run.ctx, &options.known, &c,
			     &r.run.err),
	    HWTD_OK);
	assert_int_equal(capture_run_wait(&r, c), HWTD_OK);
	hwtd_capture_close(c);
	capture_run_assert_flow(&r);
	capture_run_end(&r);
}

static void
memory_that_cannot_be_had_is_told(void **state)
{
	unsigned refused_at_start = 0, failed_later = 0, good = 0;

	(void)state;
	for (uint64_t nth = 1; nth < 60; nth++) {
		struct hwtd_capture *c = NULL;
		struct pt_run r;
		int rc;

		capture_run_begin(&r, NULL);
		(void)capture_run_program(&r, true);
		/* Refused in this process, or in that of the capture. */
		failing_allocator_arm(&r.memory, nth, true);
		rc = hwtd_capture_start(r.run.ctx, &r.run.options, &c,
		    &r.run.err);
		if (rc == HWTD_OK) {
			rc = capture_run_wait(&r, c);
			hwtd_capture_close(c);
			failed_later += rc != HWTD_OK;
			good += rc == HWTD_OK;
		} else {
			assert_null(c);
			refused_at_start++;
		}
		if (rc != HWTD_OK) {
			assert_int_equal(rc, HWTD_E_NOMEM);
			assert_int_equal(r.run.err.code, HWTD_E_NOMEM);
			assert_string_not_equal(r.run.err.message, "");
		}
		failing_allocator_arm(&r.memory, 0, false);
		capture_run_end(&r);
	}
	assert_true(refused_at_start > 0);
	print_message("%u refused, %u failed later, %u good\n",
	    refused_at_start, failed_later, good);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_the_beginning_reach_the_caller),
		cmocka_unit_test(files_that_cannot_be_written_are_an_error),
		cmocka_unit_test(a_file_is_replaced_if_that_is_asked_for),
		cmocka_unit_test(there_is_no_process_where_there_is_no_hwt),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(options_of_other_versions_are_understood),
		cmocka_unit_test(memory_that_cannot_be_had_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
