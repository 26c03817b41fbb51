/*
 * Divergences of several threads, of code that cannot be compared, and of
 * interrupts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/memory_trace.h"

#define AT 0x1000u
#define LIB 0x9000u
#define HANDLER 0x5000u
#define KERNEL UINT64_C(0xffffffff80000000)

/* nop; nop; jnz to the first; nop; jmp to the first */
static const uint8_t loop[] = { 0x90, 0x90, 0x75, 0xfc, 0x90, 0xeb, 0xf9 };

/* A loop of so many rounds, which goes on from its first instruction. */
static void
put_loop(struct pt_packets *p, unsigned int rounds)
{
	pt_psb_plus(p, AT, 64);
	for (unsigned int i = 0; i < rounds; i++)
		pt_tnt(p, i + 1 < rounds ? "T" : "N");
	pt_leave_at(p, AT);
}

static void
add_thread(struct hwtd_trace *trace, uint32_t tid, const char *name,
    unsigned int rounds)
{
	const struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = 10,
		.tid = tid };
	struct hwtd_record r = mr_record(HWTD_REC_THREAD_NAME, 10, 0, 0);
	struct pt_packets p = { 0 };

	put_loop(&p, rounds);
	(void)mt_stream(trace, &p, &desc);
	pt_free(&p);
	if (name == NULL)
		return;
	r.flags = 0;
	r.tid = tid;
	r.name = name;
	mr_add(trace, &r);
}

static struct hwtd_trace *
new_trace(void)
{
	struct hwtd_trace *trace = mt_create();

	(void)mt_code(trace, AT, loop, sizeof(loop));
	return (trace);
}

/* Rows by kind; the traces are given up. */
static struct hwtd_divergences *
compare(struct hwtd_trace *a, struct hwtd_trace *b,
    const struct hwtd_divergences_options *opts,
    uint64_t rows[HWTD_DIVERGENCE_KINDS])
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_divergence row = { .size = sizeof(row) };
	struct hwtd_divergences *d;
	int rc;

	memset(rows, 0, HWTD_DIVERGENCE_KINDS * sizeof(rows[0]));
	assert_int_equal(hwtd_divergences_open(a, b, opts, &d, &err), HWTD_OK);
	hwtd_trace_close(a);
	hwtd_trace_close(b);
	while ((rc = hwtd_divergences_read(d, &row, &err)) == HWTD_OK)
		rows[row.kind]++;
	assert_int_equal(rc, HWTD_END);
	rows[HWTD_DIVERGENCE_UNKNOWN] = 0;
	return (d);
}

static struct hwtd_divergence_pair
pair_of(const struct hwtd_divergences *d, uint32_t no)
{
	struct hwtd_divergence_pair pair = { .size = sizeof(pair) };

	assert_int_equal(hwtd_divergences_pair(d, no, &pair), HWTD_OK);
	return (pair);
}

static void
threads_are_paired_by_name(void **state)
{
	struct hwtd_trace *a = new_trace(), *b = new_trace();
	struct hwtd_divergences_info info = { .size = sizeof(info) };
	struct hwtd_divergence_pair pair;
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	struct hwtd_divergences *d;

	(void)state;
	add_thread(a, 11, "main", 4);
	add_thread(a, 12, "worker", 5);
	add_thread(b, 21, "worker", 3);
	add_thread(b, 22, "main", 4);
	add_thread(b, 23, "extra", 9);
	d = compare(mt_seal(a), mt_seal(b), NULL, rows);
	assert_int_equal(rows[HWTD_DIVERGENCE_FLOW], 1);
	assert_int_equal(hwtd_divergences_info(d, &info), HWTD_OK);
	assert_int_equal(info.n_pairs, 3);
	assert_int_equal(info.n_done, 2);
	assert_int_equal(info.unpaired[0], 0);
	assert_int_equal(info.unpaired[1], 1);
	pair = pair_of(d, 0);
	assert_int_equal(pair.tid[0], 11);
	assert_int_equal(pair.tid[1], 22);
	assert_string_equal(pair.name[0], "main");
	assert_int_equal(pair.divergences, 0);
	/* The loop, and what is behind it. */
	assert_int_equal(pair.same, 5);
	pair = pair_of(d, 1);
	assert_int_equal(pair.tid[0], 12);
	assert_int_equal(pair.tid[1], 21);
	assert_int_equal(pair.pid[1], 10);
	assert_int_equal(pair.divergences, 1);
	assert_int_equal(pair.same, 3);
	pair = pair_of(d, 2);
	assert_int_equal(pair.flags, HWTD_DIVERGENCE_PAIRF_B);
	assert_int_equal(pair.tid[1], 23);
	assert_int_equal(pair.tid[0], HWTD_NO_ID);
	assert_null(pair.name[0]);
	hwtd_divergences_close(d);
}

static void
threads_without_names_are_paired_by_order(void **state)
{
	struct hwtd_trace *a = new_trace(), *b = new_trace();
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	struct hwtd_divergences *d;

	(void)state;
	add_thread(a, 11, NULL, 4);
	add_thread(a, 12, NULL, 5);
	/* The name is one of its own. */
	add_thread(b, 22, "main", 4);
	add_thread(b, 21, NULL, 5);
	d = compare(mt_seal(a), mt_seal(b), NULL, rows);
	/* 11 is paired with the one without a name, and 12 with what is left. */
	assert_int_equal(pair_of(d, 0).tid[1], 21);
	assert_int_equal(pair_of(d, 1).tid[1], 22);
	assert_int_equal(rows[HWTD_DIVERGENCE_FLOW], 2);
	hwtd_divergences_close(d);
}

static void
threads_can_be_chosen(void **state)
{
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.tid_plus_1 = { 12, 23 } };
	struct hwtd_trace *a = new_trace(), *b = new_trace();
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	struct hwtd_divergences *d;

	(void)state;
	add_thread(a, 11, "main", 4);
	add_thread(a, 12, "worker", 5);
	add_thread(b, 22, "main", 4);
	d = compare(mt_seal(a), mt_seal(b), &opts, rows);
	assert_int_equal(pair_of(d, 0).tid[0], 11);
	assert_int_equal(pair_of(d, 0).tid[1], 22);
	assert_int_equal(rows[HWTD_DIVERGENCE_FLOW], 0);
	hwtd_divergences_close(d);
}

/* A program that calls a library of another build, three times. */

/* call lib; jnz to the call; nop; jmp to the call */
static const uint8_t caller[] = { 0xe8, 0xfb, 0x7f, 0x00, 0x00, 0x75, 0xf9,
	0x90, 0xeb, 0xf6 };

static struct hwtd_trace *
trace_of_builds(const void *lib, size_t n_lib, unsigned int rounds)
{
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = "/lib/lib.so",
		.bytes = lib,
		.n_bytes = n_lib,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = LIB };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)mt_code(trace, AT, caller, sizeof(caller));
	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	pt_psb_plus(&p, AT, 64);
	for (unsigned int i = 0; i < rounds; i++) {
		pt_tip(&p, PT_IP_48, AT + 5);
		pt_tnt(&p, i + 1 < rounds ? "T" : "N");
	}
	pt_leave_at(&p, AT);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	return (mt_seal(trace));
}

static void
code_of_another_build_is_passed_over(void **state)
{
	/* nop; ret, and nop; nop; ret; nop */
	static const uint8_t a[] = { 0x90, 0xc3 };
	static const uint8_t b[] = { 0x90, 0x90, 0xc3, 0x90 };
	struct hwtd_divergence_image image = { .size = sizeof(image) };
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	struct hwtd_divergences *d;

	(void)state;
	d = compare(trace_of_builds(a, sizeof(a), 3),
	    trace_of_builds(b, sizeof(b), 3), NULL, rows);
	assert_int_equal(rows[HWTD_DIVERGENCE_FLOW] +
		rows[HWTD_DIVERGENCE_END],
	    0);
	assert_int_equal(pair_of(d, 0).foreign_insns[0], 6);
	assert_int_equal(pair_of(d, 0).foreign_insns[1], 9);
	/* Three calls, three branches, and the end. */
	assert_int_equal(pair_of(d, 0).same, 7);
	for (uint32_t i = 0; hwtd_divergences_image(d, i, &image) == HWTD_OK;
	     i++)
		assert_int_equal(image.state,
		    strcmp(image.path[0], "code") == 0
			? HWTD_DIVERGENCE_IMAGE_ASSUMED
			: HWTD_DIVERGENCE_IMAGE_DIFFERENT);
	hwtd_divergences_close(d);
	/* What the program does is compared in spite of it. */
	d = compare(trace_of_builds(a, sizeof(a), 3),
	    trace_of_builds(b, sizeof(b), 4), NULL, rows);
	assert_int_equal(rows[HWTD_DIVERGENCE_FLOW], 1);
	assert_int_equal(pair_of(d, 0).same, 6);
	hwtd_divergences_close(d);
}

/* Interrupts. */

/* Of a loop of 8 rounds the third one is interrupted in its second nop. */
static struct hwtd_trace *
trace_with_interrupt(uint64_t handler)
{
	/* nop; iretq */
	static const uint8_t code[] = { 0x90, 0x48, 0xcf };
	struct hwtd_trace *trace = new_trace();
	struct pt_packets p = { 0 };

	if (handler != 0)
		(void)mt_code(trace, handler, code, sizeof(code));
	pt_psb_plus(&p, AT, 64);
	for (unsigned int i = 0; i < 8; i++) {
		if (i == 2 && handler != 0) {
			pt_fup(&p, PT_IP_48, AT + 1);
			pt_tip(&p, PT_IP_64, handler);
			pt_tip(&p, PT_IP_64, AT + 1);
		}
		pt_tnt(&p, i < 7 ? "T" : "N");
	}
	pt_leave_at(&p, AT);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	return (mt_seal(trace));
}

static void
interrupts_are_no_difference_unless_asked_for(void **state)
{
	const struct hwtd_divergences_options all = { .size = sizeof(all),
		.flags = HWTD_DIVERGENCES_KERNEL,
		.max_rows = 9 };
	static const uint64_t handlers[] = { KERNEL, HANDLER };
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	struct hwtd_divergences *d;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		d = compare(trace_with_interrupt(0),
		    trace_with_interrupt(handlers[i]), NULL, rows);
		assert_int_equal(rows[HWTD_DIVERGENCE_FLOW] +
			rows[HWTD_DIVERGENCE_END],
		    0);
		assert_int_equal(pair_of(d, 0).same, 9);
		hwtd_divergences_close(d);
		d = compare(trace_with_interrupt(0),
		    trace_with_interrupt(handlers[i]), &all, rows);
		assert_int_equal(rows[HWTD_DIVERGENCE_FLOW], 1);
		/* The handler, and what was left of the block. */
		assert_int_equal(pair_of(d, 0).other[0], 0);
		assert_int_equal(pair_of(d, 0).other[1], 2);
		assert_int_equal(pair_of(d, 0).same, 9);
		hwtd_divergences_close(d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_paired_by_name),
		cmocka_unit_test(threads_without_names_are_paired_by_order),
		cmocka_unit_test(threads_can_be_chosen),
		cmocka_unit_test(code_of_another_build_is_passed_over),
		cmocka_unit_test(
		    interrupts_are_no_difference_unless_asked_for),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
