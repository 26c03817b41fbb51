/*
 * The native engine: inputs of public reports about decoders of Intel PT.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

static const struct hwtd_events_options native = { .size = sizeof(native),
	.engine = "native" };

static void
check(const void *code, size_t n, struct pt_packets *p, const char *lines)
{
	struct hwtd_trace *trace = mt_nops_after(BASE, code, n, p);

	assert_rows(trace, &native, lines);
	hwtd_trace_close(trace);
	pt_free(p);
}

/*
 * A retpoline: the return of a call goes elsewhere.  A decoder that leaves that
 * call on its stack ends up in the loop behind it.
 */
static void
a_retpoline_is_left_by_its_return(void **state)
{
	/* 0: call 8; 5: nop; 8: call f; d: pause...; f: ret; 20: ret */
	uint8_t code[0x21];
	struct pt_packets p = { 0 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, "\xe8\x03\x00\x00\x00", 5);
	memcpy(code + 8, "\xe8\x02\x00\x00\x00\xeb\xfe\xc3", 8);
	code[0x20] = 0xc3;
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/5 call ->10000f taken 64 sec0\n"
	    "block 10000f 1/1 return ->100020 taken 64 sec0\n"
	    "block 100020 1/1 return ->100005 taken 64 sec0\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

static void
a_jump_to_itself_ends_at_the_next_address(void **state)
{
	static const uint8_t code[] = { 0xeb, 0xfe };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tip(&p, PT_IP_16, BASE + 2); /* to 1e */
	pt_leave_at(&p, BASE + 3);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 jump ->100000 taken 64 sec0\n"
	    "gap endless-loop [1b,1e) before=100000 after=100002 @1e\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* https://github.com/intel/libipt/issues/118 */
static void
a_return_without_a_call_takes_the_tip_behind_the_bits(void **state)
{
	/* 0: jne 0; 2: ret; 4: jne 7; 7: nop */
	static const uint8_t code[] = { 0x75, 0xfe, 0xc3, 0x90, 0x75, 0x01,
		0x90, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "NT");
	pt_tip(&p, PT_IP_16, BASE + 4);
	pt_leave_at(&p, BASE + 8);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 return ->100004 taken 64 sec0\n"
	    "block 100004 1/2 conditional ->100007 taken 64 sec0\n"
	    "block 100007 1/1 ->100008 64 sec0\n"
	    "disable 100008 async\n");
}

/* https://github.com/nyx-fuzz/libxdc/pull/11 */
static void
outcomes_before_a_pgd_without_address_are_used(void **state)
{
	/* 0: jne 4; 2: jne 4; 4: syscall */
	static const uint8_t code[] = { 0x75, 0x02, 0x75, 0x00, 0x0f, 0x05 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus_off(&p, 64);
	pt_mode_exec(&p, 64);
	pt_pge(&p, PT_IP_48_SIGNED, BASE);
	pt_tnt(&p, "NN");
	pt_pgd(&p, PT_IP_NONE, 0);
	check(code, sizeof(code), &p,
	    "mode value=0 status 64\n"
	    "enable 100000\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/2 conditional ->100004 64 sec0\n"
	    "block 100004 1/2 far-call 64 sec0\n"
	    "disable\n");
}

/* https://github.com/nyx-fuzz/libxdc/issues/7 */
static void
six_bytes_can_leave_the_upper_two_as_they_are(void **state)
{
	static const uint8_t jump[] = { 0xff, 0xe0 }, nops[] = { 0x90, 0x90 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_fup(&p, PT_IP_64, 0xff11000000100000);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_tip(&p, PT_IP_48, 0xff11800000200000);
	pt_leave_at(&p, 0xff11800000200001);
	(void)mt_code(trace, 0xff11000000100000, jump, sizeof(jump));
	(void)mt_code(trace, 0xff11800000200000, nops, sizeof(nops));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 ff11000000100000 status 64\n"
	    "block ff11000000100000 1/2 indirect-jump ->ff11800000200000 "
	    "taken 64 sec0\n"
	    "block ff11800000200000 1/1 ->ff11800000200001 64 sec1\n"
	    "disable ff11800000200001 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* https://github.com/intel/libipt/issues/90 */
static void
a_first_psb_without_its_end_is_read(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_mode_exec(&p, 64);
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 8);
	pt_tsc(&p, 1000);
	pt_cbr(&p, 8);
	pt_pge(&p, PT_IP_48_SIGNED, BASE);
	pt_leave_at(&p, BASE + 1);
	check(NULL, 0, &p,
	    "mode value=0 status 64\n"
	    "frequency value=8 status\n"
	    "enable 100000\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

/* https://github.com/intel/libipt/issues/64 */
static void
behind_a_hole_in_the_code_the_next_address_is_taken(void **state)
{
	static const uint8_t jump[] = { 0xff, 0xe0 };
	static const uint8_t jne[] = { 0x75, 0xfe, 0x90, 0x90 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tip(&p, PT_IP_32, BASE + 0x5000); /* to 20 */
	pt_tnt(&p, "TT"); /* to 21 */
	pt_tip(&p, PT_IP_32, BASE + 0x100); /* to 26 */
	pt_tnt(&p, "N");
	pt_leave_at(&p, BASE + 0x103);
	(void)mt_code(trace, BASE, jump, sizeof(jump));
	(void)mt_code(trace, BASE + 0x100, jne, sizeof(jne));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 indirect-jump ->105000 taken 64 sec0\n"
	    "gap no-code [20,26) before=100000 after=100100 addr=105000 @21\n"
	    "block 100100 1/2 conditional ->100102 64 sec1\n"
	    "block 100102 1/1 ->100103 64 sec1\n"
	    "disable 100103 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* Linux, commit edff7809c80b: items of a block look like outcomes outside. */
static void
items_of_pebs_blocks_are_no_outcomes(void **state)
{
	static const uint8_t jne[] = { 0x75, 0xfe };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_bbp(&p, 4, 8);
	pt_bip(&p, 0, 0x1122334455667788, 8);
	pt_bip(&p, 1, 0x06060606, 8);
	pt_bep(&p, 0);
	pt_tnt(&p, "N");
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/*
 * https://github.com/intel/libipt/issues/59: the hardware remembers calls of the
 * CPU, whoever makes them.
 */
static void
calls_are_remembered_in_another_address_space(void **state)
{
	/* 0: call 8; 8: mov %rax, %cr3; b: ret */
	static const uint8_t code[] = { 0xe8, 0x03, 0x00, 0x00, 0x00, 0x90,
		0x90, 0x90, 0x0f, 0x22, 0xd8, 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pip(&p, 0x1000, 0);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/3 ->10000b 64 sec0\n"
	    "context cr3=1000\n"
	    "block 10000b 1/1 return ->100005 taken 64 sec0\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

/* https://reviews.llvm.org/D126394: nothing is dropped behind a switch. */
static void
the_bytes_of_a_psb_serve_more_than_one_thread(void **state)
{
	static const uint8_t jne[] = { 0x75, 0xfe };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "N");
	pt_fup(&p, PT_IP_16, BASE + 3);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_tsc(&p, 1000);
	pt_pge(&p, PT_IP_16, BASE);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n"
	    "enable 100000\n"
	    "block 100000 1/2 conditional ->100000 taken 64 sec0\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/*
 * https://github.com/DynamoRIO/dynamorio/issues/6486: code that was made while
 * the kernel ran.
 */
static void
code_that_is_nowhere_is_stepped_over(void **state)
{
	/* 0: call *%rax; 2: nop */
	static const uint8_t code[] = { 0xff, 0xd0, 0x90, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tip(&p, PT_IP_48_SIGNED, 0xffffffffc0000000); /* to 22 */
	pt_tnt(&p, "TN"); /* to 23 */
	pt_tip(&p, PT_IP_48_SIGNED, BASE + 2); /* to 2a */
	pt_leave_at(&p, BASE + 3);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 indirect-call ->ffffffffc0000000 taken 64 sec0\n"
	    "gap no-code [22,2a) before=100000 after=100002 "
	    "addr=ffffffffc0000000 @23\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Code up to the branch was executed, be it for the first time or not. */
static void
code_before_a_contradiction_is_told_each_time(void **state)
{
	/* 0: jmp *%rax; 2: nop; nop; jne 2 */
	static const uint8_t code[] = { 0xff, 0xe0, 0x90, 0x90, 0x75, 0xfc };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	for (unsigned int i = 0; i < 3; i++) {
		/* An EVD with no CFE behind it. */
		pt_tip(&p, PT_IP_16, BASE + 2);
		pt_evd(&p, 0, 1);
		pt_tnt(&p, "T");
		pt_tip(&p, PT_IP_16, BASE);
	}
	pt_leave_at(&p, BASE);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 indirect-jump ->100002 64 sec0\n"
	    "block 100002 2/2 64 sec0\n"
	    "gap bad-flow [29,2d) before=100003 after=100000 @2a\n"
	    "block 100000 1/2 indirect-jump ->100002 64 sec0\n"
	    "block 100002 2/2 64 sec0\n"
	    "gap bad-flow [3b,3f) before=100003 after=100000 @3c\n"
	    "block 100000 1/2 indirect-jump ->100002 64 sec0\n"
	    "block 100002 2/2 64 sec0\n"
	    "gap bad-flow [4d,51) before=100003 after=100000 @4e\n"
	    "disable 100000 async\n");
}

/* An interrupt whose branch does not come; then code that is nowhere. */
static void
an_event_before_code_that_is_nowhere_is_told_as_it_is(void **state)
{
	/* 0: jne 0; 2: jmp *%rax */
	static const uint8_t code[] = { 0x75, 0xfe, 0xff, 0xe0 };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct mt_rows rows;
	size_t n = 0;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_cfe(&p, 1, 32, 1); /* to 1f */
	pt_fup(&p, PT_IP_16, BASE); /* to 22 */
	pt_tnt(&p, "TN"); /* to 23 */
	pt_tip(&p, PT_IP_48, 0x500000); /* to 2a */
	pt_tnt(&p, "T"); /* to 2b */
	pt_tip(&p, PT_IP_48, BASE + 4); /* to 32 */
	pt_leave_at(&p, BASE + 5);
	trace = mt_nops_after(BASE, code, sizeof(code), &p);
	mt_rows(trace, &native, &rows);
	for (size_t i = 0; i + 1 < rows.n; i++) {
		const struct mt_row *r = &rows.at[i];

		if (r->row.kind != HWTD_EV_ASYNC)
			continue;
		assert_int_equal(r->detail.async.flags, HWTD_ASYNCF_NUMBER);
		assert_int_equal(r->detail.async.number, 32);
		assert_int_equal(r->detail.async.fault_addr, 0);
		r++;
		assert_int_equal(r->row.kind, HWTD_EV_GAP);
		assert_int_equal(r->detail.gap.reason, HWTD_GAP_NO_CODE);
		assert_true((r->detail.gap.flags & HWTD_GAPF_ADDR) != 0);
		assert_int_equal(r->detail.gap.addr, 0x500000);
		n++;
	}
	assert_int_equal(n, 1);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_retpoline_is_left_by_its_return),
		cmocka_unit_test(a_jump_to_itself_ends_at_the_next_address),
		cmocka_unit_test(
		    a_return_without_a_call_takes_the_tip_behind_the_bits),
		cmocka_unit_test(
		    outcomes_before_a_pgd_without_address_are_used),
		cmocka_unit_test(
		    six_bytes_can_leave_the_upper_two_as_they_are),
		cmocka_unit_test(a_first_psb_without_its_end_is_read),
		cmocka_unit_test(
		    behind_a_hole_in_the_code_the_next_address_is_taken),
		cmocka_unit_test(items_of_pebs_blocks_are_no_outcomes),
		cmocka_unit_test(
		    calls_are_remembered_in_another_address_space),
		cmocka_unit_test(
		    the_bytes_of_a_psb_serve_more_than_one_thread),
		cmocka_unit_test(code_that_is_nowhere_is_stepped_over),
		cmocka_unit_test(
		    code_before_a_contradiction_is_told_each_time),
		cmocka_unit_test(
		    an_event_before_code_that_is_nowhere_is_told_as_it_is),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
