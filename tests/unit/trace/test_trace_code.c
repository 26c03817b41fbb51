/*
 * Which code is decoded: by process and by time; that of missing images.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/library_calls.h"

static void
code_made_at_run_time_counts_from_its_time(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	lc_timed_calls(&p, 1000, NULL);
	lc_timed_calls(&p, 2000, "T");
	lc_timed_calls(&p, 3000, NULL);
	trace = lc_program(&p, 5);
	r = mr_record(HWTD_REC_CODE, 5, LC_LIBRARY, 0x100);
	r.image = mr_image(trace, "method 1", lc_straight,
	    sizeof(lc_straight));
	mr_time(&r, 900);
	mr_add(trace, &r);
	r.image = mr_image(trace, "method 2", lc_branches,
	    sizeof(lc_branches));
	mr_time(&r, 1900);
	mr_add(trace, &r);
	r.image = mr_image(trace, "method 3", lc_straight,
	    sizeof(lc_straight));
	mr_time(&r, 2900);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	lc_assert_images(trace,
	    "code method 1 code method 2 method 2 code method 3");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* Two programs of one process, at the same addresses. */
static void
after_exec_code_is_that_of_the_new_program(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_record exec = mr_record(HWTD_REC_EXEC, 5, 0, 0);

	(void)state;
	lc_timed_calls(&p, 1000, NULL);
	lc_timed_calls(&p, 2000, "T");
	trace = lc_program(&p, 5);
	mr_mmap_at(trace, 10, 5, LC_LIBRARY, 0x1000,
	    mr_image(trace, "old", lc_straight, sizeof(lc_straight)));
	exec.flags = 0;
	mr_time(&exec, 1500);
	mr_add(trace, &exec);
	mr_mmap_at(trace, 1501, 5, LC_LIBRARY, 0x1000,
	    mr_image(trace, "new", lc_branches, sizeof(lc_branches)));
	(void)mt_seal(trace);
	lc_assert_images(trace, "code old code new new");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static const struct {
	const char *name;
	uint32_t stream_pid;
	bool second_process;
	const char *want;
} processes[] = {
	{ "the process itself", 5, true, "code library" },
	{ "another process", 6, true, "code [no-code 800000]" },
	{ "a process that no record names", 7, false,
	    "code [no-code 800000]" },
	{ "unknown, and there is one", HWTD_NO_ID, false, "code library" },
	{ "unknown, and there are two", HWTD_NO_ID, true,
	    "code [no-code 800000]" },
};

static void
code_is_that_of_the_process_of_the_stream(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
		struct hwtd_mapping m = { .size = sizeof(m) };
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		int rc;

		print_message("%s\n", processes[i].name);
		lc_calls(&p, NULL, 1);
		trace = lc_program(&p, processes[i].stream_pid);
		mr_mmap_at(trace, 0, 5, LC_LIBRARY, 0x1000,
		    mr_image(trace, "library", lc_straight,
			sizeof(lc_straight)));
		if (processes[i].second_process)
			mr_mmap_at(trace, 0, 6, 0x900000, 0x1000, 0);
		(void)mt_seal(trace);
		lc_assert_images(trace, processes[i].want);
		/* Asked by hand, the same code lies there. */
		rc = hwtd_space_lookup(trace, processes[i].stream_pid, NULL,
		    LC_LIBRARY, &m);
		if (strstr(processes[i].want, "library") != NULL) {
			assert_int_equal(rc, HWTD_OK);
			assert_string_equal(m.path, "library");
			assert_int_equal(m.pid, 5);
		} else {
			assert_int_equal(rc, HWTD_E_NOT_FOUND);
		}
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

static void
a_gap_tells_that_the_image_is_missing(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = mr_create("/nonexistent");
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, LC_LIBRARY, 0x1000);
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct mt_rows rows;
	size_t n_gaps = 0;

	(void)state;
	lc_calls(&p, NULL, 1);
	(void)mt_code(trace, LC_MAIN, lc_jump, sizeof(lc_jump));
	(void)mt_stream(trace, &p,
	    &(struct hwtd_stream_desc){ .cpu = HWTD_NO_ID,
		.pid = 5,
		.tid = HWTD_NO_ID });
	r.name = "/lib/gone.so";
	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = 0x3000;
	mr_add(trace, &r);
	(void)mt_seal(trace);
	mt_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		if (rows.at[i].row.kind != HWTD_EV_GAP)
			continue;
		n_gaps++;
		assert_int_equal(rows.at[i].detail.gap.reason,
		    HWTD_GAP_NO_CODE);
		assert_int_equal(rows.at[i].detail.gap.addr, LC_LIBRARY);
		assert_string_equal(rows.at[i].detail.gap.text,
		    "the image that is mapped there is missing");
	}
	assert_int_equal(n_gaps, 1);
	mt_rows_free(&rows);
	assert_int_equal(hwtd_trace_image(trace, 1, &info), HWTD_OK);
	assert_int_equal(info.state, HWTD_IMAGE_MISSING);
	assert_string_equal(info.path, "/lib/gone.so");
	assert_string_equal(info.file, "");
	assert_int_equal(info.n_bytes, 0);
	assert_true(strlen(info.text) > 0);
	/* It is known where it is mapped all the same. */
	mr_assert(trace, 5, NULL, LC_LIBRARY + 4, "/lib/gone.so", 0x3004);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
code_given_by_hand_stands_in_for_a_missing_image(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = mr_create("/nonexistent");
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, LC_LIBRARY, 0x1000);

	(void)state;
	lc_calls(&p, NULL, 1);
	(void)mt_code(trace, LC_MAIN, lc_jump, sizeof(lc_jump));
	(void)mt_code(trace, LC_LIBRARY, lc_straight, sizeof(lc_straight));
	(void)mt_stream(trace, &p,
	    &(struct hwtd_stream_desc){ .cpu = HWTD_NO_ID,
		.pid = 5,
		.tid = HWTD_NO_ID });
	r.name = "/lib/gone.so";
	mr_add(trace, &r);
	(void)mt_seal(trace);
	lc_assert_images(trace, "code code");
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_made_at_run_time_counts_from_its_time),
		cmocka_unit_test(after_exec_code_is_that_of_the_new_program),
		cmocka_unit_test(code_is_that_of_the_process_of_the_stream),
		cmocka_unit_test(a_gap_tells_that_the_image_is_missing),
		cmocka_unit_test(
		    code_given_by_hand_stands_in_for_a_missing_image),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
