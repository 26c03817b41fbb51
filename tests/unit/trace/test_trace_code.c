/*
 * Which code is decoded: by process, by time, and by what the packets allow
 * where records leave several mappings possible.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"

#define MAIN 0x500000u
#define LIBRARY 0x800000u

/* jmp *%rax: a TIP packet says where to. */
static const uint8_t jump[] = { 0xff, 0xe0 };
/* A branch that needs a TNT packet, then a jump. */
static const uint8_t branches[] = { 0x75, 0x00, 0xff, 0xe0 };
/* No branch before the jump. */
static const uint8_t straight[] = { 0x90, 0x90, 0x90, 0xff, 0xe0 };

/* Into the library and back, `rounds` times; `tnt` before the way back. */
static void
calls(struct pt_packets *p, const char *tnt, unsigned int rounds)
{
	pt_psb_plus(p, MAIN, 64);
	for (unsigned int i = 0; i < rounds; i++) {
		pt_tip(p, PT_IP_32, LIBRARY);
		if (tnt != NULL)
			pt_tnt(p, tnt);
		pt_tip(p, PT_IP_32, MAIN);
	}
	pt_fup(p, PT_IP_32, MAIN);
	pt_pgd(p, PT_IP_NONE, 0);
}

static struct hwtd_trace *
program(const struct pt_packets *p, uint32_t pid)
{
	struct hwtd_trace *trace = mt_create();
	const struct hwtd_stream_desc d = {
		.cpu = HWTD_NO_ID,
		.pid = pid,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 },
	};

	(void)mt_code(trace, MAIN, jump, sizeof(jump));
	(void)mt_stream(trace, p, &d);
	return (trace);
}

/*
 * Rows of a sealed trace by image: "code newer older ...", a gap as its
 * reason and address.
 */
static void
assert_images(struct hwtd_trace *trace, const char *want)
{
	struct mt_rows rows;
	char got[4096] = "";
	size_t n = 0;

	mt_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_event *e = &rows.at[i].row;
		struct hwtd_section s = { .size = sizeof(s) };

		assert_true(sizeof(got) - n > 64);
		if (e->kind == HWTD_EV_BLOCK) {
			assert_int_equal(hwtd_trace_section(trace, e->section,
					     &s),
			    HWTD_OK);
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "%.40s ", s.path);
		} else if (e->kind == HWTD_EV_GAP) {
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "[%s %llx] ",
			    hwtd_gap_reason_name(rows.at[i].detail.gap.reason),
			    (unsigned long long)rows.at[i].detail.gap.addr);
		}
	}
	if (n > 0)
		got[n - 1] = '\0';
	mt_rows_free(&rows);
	assert_string_equal(got, want);
}

/* "older" and then "newer" at one address, without time. */
static struct hwtd_trace *
two_libraries(const struct pt_packets *p, const void *older, size_t n_older,
    const void *newer, size_t n_newer)
{
	struct hwtd_trace *trace = program(p, 5);
	struct hwtd_record gone = mr_record(HWTD_REC_MUNMAP, 5, LIBRARY,
	    0x1000);

	mr_mmap(trace, 5, LIBRARY, 0x1000,
	    mr_image(trace, "older", older, n_older));
	mr_add(trace, &gone);
	mr_mmap(trace, 5, LIBRARY, 0x1000,
	    mr_image(trace, "newer", newer, n_newer));
	return (mt_seal(trace));
}

static const struct {
	const char *name;
	/* The newer library has the branch. */
	bool newer_branches;
	const char *tnt;
	const char *want;
} libraries[] = {
	{ "only the newer fits", true, "T",
	    "code newer newer code newer newer" },
	{ "only the older fits", false, "T",
	    "code older older code older older" },
	{ "only the newer fits, straight", false, NULL,
	    "code newer code newer" },
	{ "only the older fits, straight", true, NULL,
	    "code older code older" },
	{ "none fits", false, "TTTT", NULL },
};

/* dlclose() and dlopen(): hwt(4) does not tell when. */
static void
packets_decide_between_libraries_at_one_address(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		const bool b = libraries[i].newer_branches;
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		struct mt_rows rows;
		bool ambiguous = false;

		print_message("%s\n", libraries[i].name);
		calls(&p, libraries[i].tnt, 2);
		trace = two_libraries(&p, b ? straight : branches,
		    b ? sizeof(straight) : sizeof(branches),
		    b ? branches : straight,
		    b ? sizeof(branches) : sizeof(straight));
		if (libraries[i].want != NULL) {
			assert_images(trace, libraries[i].want);
		} else {
			mt_rows(trace, NULL, &rows);
			for (size_t k = 0; k < rows.n; k++) {
				const struct mt_row *r = &rows.at[k];

				if (r->row.kind != HWTD_EV_GAP)
					continue;
				ambiguous |= r->detail.gap.reason ==
				    HWTD_GAP_AMBIGUOUS_MAPPING;
				if (ambiguous)
					assert_int_equal(r->detail.gap.addr,
					    LIBRARY);
			}
			assert_true(ambiguous);
			mt_rows_free(&rows);
		}
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

static void
packets_that_fit_both_are_of_the_newer(void **state)
{
	/* The same length, other bytes. */
	static const uint8_t other[] = { 0x0f, 0x1f, 0x00, 0xff, 0xe0 };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	calls(&p, NULL, 1);
	trace = two_libraries(&p, straight, sizeof(straight), other,
	    sizeof(other));
	assert_images(trace, "code newer");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
equal_bytes_leave_no_doubt(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	/* These would fit neither, so that a doubt would be told. */
	calls(&p, NULL, 1);
	trace = two_libraries(&p, straight, sizeof(straight), straight,
	    sizeof(straight));
	assert_images(trace, "code newer");
	hwtd_trace_close(trace);
	pt_clear(&p);
	calls(&p, "TTTT", 1);
	trace = two_libraries(&p, straight, sizeof(straight), straight,
	    sizeof(straight));
	assert_images(trace, "code newer [bad-flow 0]");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* Two versions of a library that differ far behind the asked address. */
static void
bytes_that_differ_further_on_are_told_apart(void **state)
{
	/* jmp .+0x3000: no packet comes on the way. */
	static const uint8_t far_jump[] = { 0xe9, 0xfb, 0x2f, 0x00, 0x00 };
	uint8_t older[0x4000], newer[0x4000];
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	memset(older, 0x90, sizeof(older));
	memcpy(older, far_jump, sizeof(far_jump));
	memcpy(newer, older, sizeof(newer));
	memcpy(older + 0x3000, branches, sizeof(branches));
	memcpy(newer + 0x3000, straight, sizeof(straight));
	pt_psb_plus(&p, MAIN, 64);
	pt_tip(&p, PT_IP_32, LIBRARY);
	pt_tnt(&p, "T");
	pt_tip(&p, PT_IP_32, MAIN);
	pt_fup(&p, PT_IP_32, MAIN);
	pt_pgd(&p, PT_IP_NONE, 0);
	trace = program(&p, 5);
	mr_mmap(trace, 5, LIBRARY, sizeof(older),
	    mr_image(trace, "older", older, sizeof(older)));
	mr_mmap(trace, 5, LIBRARY, sizeof(newer),
	    mr_image(trace, "newer", newer, sizeof(newer)));
	(void)mt_seal(trace);
	/* The same bytes are the newer's. */
	assert_images(trace, "code newer older older");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* A buffer position between them says which one it is. */
static void
buffer_positions_leave_no_doubt(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	uint64_t half;

	(void)state;
	pt_psb_plus(&p, MAIN, 64);
	pt_tip(&p, PT_IP_32, LIBRARY);
	pt_tnt(&p, "T");
	pt_tip(&p, PT_IP_32, MAIN);
	half = p.n;
	calls(&p, NULL, 1);
	trace = program(&p, 5);
	mr_mmap(trace, 5, LIBRARY, 0x1000,
	    mr_image(trace, "first", branches, sizeof(branches)));
	mr_buffer(trace, 0, half);
	mr_mmap(trace, 5, LIBRARY, 0x1000,
	    mr_image(trace, "second", straight, sizeof(straight)));
	mr_buffer(trace, 0, half);
	(void)mt_seal(trace);
	assert_images(trace, "code first first code second");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* PSB+ with a time. */
static void
timed_calls(struct pt_packets *p, uint64_t tsc, const char *tnt)
{
	pt_psb(p);
	pt_tsc(p, tsc);
	pt_fup(p, PT_IP_64, MAIN);
	pt_mode_exec(p, 64);
	pt_psbend(p);
	pt_tip(p, PT_IP_32, LIBRARY);
	if (tnt != NULL)
		pt_tnt(p, tnt);
	pt_tip(p, PT_IP_32, MAIN);
}

static void
code_made_at_run_time_counts_from_its_time(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	timed_calls(&p, 1000, NULL);
	timed_calls(&p, 2000, "T");
	timed_calls(&p, 3000, NULL);
	trace = program(&p, 5);
	r = mr_record(HWTD_REC_CODE, 5, LIBRARY, 0x100);
	r.image = mr_image(trace, "method 1", straight, sizeof(straight));
	mr_time(&r, 900);
	mr_add(trace, &r);
	r.image = mr_image(trace, "method 2", branches, sizeof(branches));
	mr_time(&r, 1900);
	mr_add(trace, &r);
	r.image = mr_image(trace, "method 3", straight, sizeof(straight));
	mr_time(&r, 2900);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	assert_images(trace,
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
	timed_calls(&p, 1000, NULL);
	timed_calls(&p, 2000, "T");
	trace = program(&p, 5);
	mr_mmap_at(trace, 10, 5, LIBRARY, 0x1000,
	    mr_image(trace, "old", straight, sizeof(straight)));
	exec.flags = 0;
	mr_time(&exec, 1500);
	mr_add(trace, &exec);
	mr_mmap_at(trace, 1501, 5, LIBRARY, 0x1000,
	    mr_image(trace, "new", branches, sizeof(branches)));
	(void)mt_seal(trace);
	assert_images(trace, "code old code new new");
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
		calls(&p, NULL, 1);
		trace = program(&p, processes[i].stream_pid);
		mr_mmap_at(trace, 0, 5, LIBRARY, 0x1000,
		    mr_image(trace, "library", straight, sizeof(straight)));
		if (processes[i].second_process)
			mr_mmap_at(trace, 0, 6, 0x900000, 0x1000, 0);
		(void)mt_seal(trace);
		assert_images(trace, processes[i].want);
		/* Asked by hand, the same code lies there. */
		rc = hwtd_space_lookup(trace, processes[i].stream_pid, NULL,
		    LIBRARY, &m);
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
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, LIBRARY, 0x1000);
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct mt_rows rows;
	size_t n_gaps = 0;

	(void)state;
	calls(&p, NULL, 1);
	(void)mt_code(trace, MAIN, jump, sizeof(jump));
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
		assert_int_equal(rows.at[i].detail.gap.addr, LIBRARY);
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
	mr_assert(trace, 5, NULL, LIBRARY + 4, "/lib/gone.so", 0x3004);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
code_given_by_hand_stands_in_for_a_missing_image(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = mr_create("/nonexistent");
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, LIBRARY, 0x1000);

	(void)state;
	calls(&p, NULL, 1);
	(void)mt_code(trace, MAIN, jump, sizeof(jump));
	(void)mt_code(trace, LIBRARY, straight, sizeof(straight));
	(void)mt_stream(trace, &p,
	    &(struct hwtd_stream_desc){ .cpu = HWTD_NO_ID,
		.pid = 5,
		.tid = HWTD_NO_ID });
	r.name = "/lib/gone.so";
	mr_add(trace, &r);
	(void)mt_seal(trace);
	assert_images(trace, "code code");
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    packets_decide_between_libraries_at_one_address),
		cmocka_unit_test(packets_that_fit_both_are_of_the_newer),
		cmocka_unit_test(equal_bytes_leave_no_doubt),
		cmocka_unit_test(bytes_that_differ_further_on_are_told_apart),
		cmocka_unit_test(buffer_positions_leave_no_doubt),
		cmocka_unit_test(code_made_at_run_time_counts_from_its_time),
		cmocka_unit_test(after_exec_code_is_that_of_the_new_program),
		cmocka_unit_test(code_is_that_of_the_process_of_the_stream),
		cmocka_unit_test(a_gap_tells_that_the_image_is_missing),
		cmocka_unit_test(
		    code_given_by_hand_stands_in_for_a_missing_image),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
