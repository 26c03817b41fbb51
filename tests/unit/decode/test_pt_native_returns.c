/*
 * The native engine: which call a compressed return goes back to.
 *
 * Source: Intel SDM vol. 3C, "Indirect Transfer Compression for Returns (RET)".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

static void
check(const void *code, size_t n, struct pt_packets *p, const char *lines)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.engine = "native" };
	struct hwtd_trace *trace = mt_nops_after(BASE, code, n, p);

	assert_rows(trace, &opts, lines);
	hwtd_trace_close(trace);
	pt_free(p);
}

/* 0: call 8; 8: call f; d: jmp d; f: ret; 11: ret */
static const uint8_t thunk[] = { 0xe8, 0x03, 0x00, 0x00, 0x00, 0x90, 0x90,
	0x90, 0xe8, 0x02, 0x00, 0x00, 0x00, 0xeb, 0xfe, 0xc3, 0x90, 0xc3 };

static void
a_return_that_is_told_takes_its_call_off(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_16, BASE + 0x11);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 6);
	check(thunk, sizeof(thunk), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/5 call ->10000f taken 64 sec0\n"
	    "block 10000f 1/1 return ->100011 taken 64 sec0\n"
	    "block 100011 1/1 return ->100005 taken 64 sec0\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

static void
calls_before_a_psb_are_not_returned_to(void **state)
{
	/* 0: call 8; 8: jne 8; a: ret */
	static const uint8_t code[] = { 0xe8, 0x03, 0x00, 0x00, 0x00, 0x90,
		0x90, 0x90, 0x75, 0xfe, 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tnt(&p, "T");
	pt_psb_plus(&p, BASE + 8, 64); /* 1c to 37 */
	pt_tnt(&p, "NT");
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/2 conditional ->100008 taken 64 sec0\n"
	    "block 100008 1/2 conditional 64 sec0\n"
	    "gap bad-flow [37,38) before=100008 @38\n");
}

static void
a_call_of_the_next_instruction_is_none(void **state)
{
	/* 0: call 8; 8: call d; d: pop %rax; e: ret */
	static const uint8_t code[] = { 0xe8, 0x03, 0x00, 0x00, 0x00, 0x90,
		0x90, 0x90, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x58, 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/5 call ->10000d 64 sec0\n"
	    "block 10000d 2/2 return ->100005 taken 64 sec0\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

static void
far_transfers_leave_the_calls_alone(void **state)
{
	/* 0: call 8; 8: lcall *(%rax); 10: lret; 20: ret */
	uint8_t code[0x21];
	struct pt_packets p = { 0 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, "\xe8\x03\x00\x00\x00", 5);
	memcpy(code + 8, "\xff\x18", 2);
	code[0x10] = 0xcb;
	code[0x20] = 0xc3;
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/2 far-call ->100010 taken 64 sec0\n"
	    "block 100010 1/1 far-return ->100020 taken 64 sec0\n"
	    "block 100020 1/1 return ->100005 taken 64 sec0\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

/* A call that itself calls: 0: call 0 by way of jne, so that it ends. */
static void
the_oldest_of_too_many_calls_is_forgotten(void **state)
{
	/* 0: jne 7; 2: call 0; 7: ret */
	static const uint8_t code[] = { 0x75, 0x05, 0xe8, 0xf9, 0xff, 0xff,
		0xff, 0xc3 };
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.engine = "native" };
	struct hwtd_trace *trace;
	struct pt_packets p = { 0 };
	struct mt_rows rows;
	size_t returns = 0;

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	for (int i = 0; i < 65; i++)
		pt_tnt(&p, "N");
	pt_tnt(&p, "T");
	for (int i = 0; i < 65; i++)
		pt_tnt(&p, "T");
	trace = mt_nops_after(BASE, code, sizeof(code), &p);
	mt_rows(trace, &opts, &rows);
	for (size_t i = 0; i < rows.n; i++)
		returns += rows.at[i].row.kind == HWTD_EV_BLOCK &&
		    rows.at[i].row.branch == HWTD_BRANCH_RETURN;
	assert_int_equal(returns, 64);
	assert_int_equal(rows.at[rows.n - 1].row.kind, HWTD_EV_GAP);
	assert_int_equal(rows.at[rows.n - 1].detail.gap.reason,
	    HWTD_GAP_BAD_FLOW);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
a_return_in_a_narrower_mode_cuts_the_address_off(void **state)
{
	/* At 7:00001000: call, then ljmp *(%rax); at 2000: ret; 1005: nop. */
	static const uint8_t wide[] = { 0xe8, 0x00, 0x01, 0x00, 0x00 };
	static const uint8_t jump[] = { 0xff, 0x28 };
	static const uint8_t narrow[] = { 0xc3 };
	static const uint8_t nops[] = { 0x90, 0x90, 0x90 };
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.engine = "native" };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 0x700001000, 64);
	pt_mode_exec(&p, 32);
	pt_tip(&p, PT_IP_48_SIGNED, 0x2000);
	pt_tnt(&p, "T");
	pt_leave_at(&p, 0x1006);
	(void)mt_code(trace, 0x700001000, wide, sizeof(wide));
	(void)mt_code(trace, 0x700001105, jump, sizeof(jump));
	(void)mt_code(trace, 0x2000, narrow, sizeof(narrow));
	(void)mt_code(trace, 0x1005, nops, sizeof(nops));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &opts,
	    "mode value=0 700001000 status 64\n"
	    "block 700001000 1/5 call ->700001105 taken 64 sec0\n"
	    "block 700001105 1/2 far-jump ->2000 taken 64 sec1\n"
	    "mode value=0 2000 32\n"
	    "block 2000 1/1 return ->1005 taken 32 sec2\n"
	    "block 1005 1/1 ->1006 32 sec3\n"
	    "disable 1006 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
a_return_that_is_not_taken_contradicts(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tnt(&p, "N");
	check(thunk, sizeof(thunk), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/5 call ->10000f taken 64 sec0\n"
	    "gap bad-flow [1b,1c) before=100008 @1c\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_that_is_told_takes_its_call_off),
		cmocka_unit_test(calls_before_a_psb_are_not_returned_to),
		cmocka_unit_test(a_call_of_the_next_instruction_is_none),
		cmocka_unit_test(far_transfers_leave_the_calls_alone),
		cmocka_unit_test(the_oldest_of_too_many_calls_is_forgotten),
		cmocka_unit_test(
		    a_return_in_a_narrower_mode_cuts_the_address_off),
		cmocka_unit_test(a_return_that_is_not_taken_contradicts),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
