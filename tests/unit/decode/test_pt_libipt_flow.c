/*
 * The libipt engine: rows of tracing going on and off, and of interrupts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

static void
tracing_resumes_where_it_had_ended(void **state)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_pge(&p, PT_IP_16, BASE + 2);
	pt_leave_at(&p, BASE + 3);
	assert_trace(mt_nops_after(BASE, syscall, sizeof(syscall), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 far-call 64 sec0\n"
	    "disable\n"
	    "enable 100002 resumed\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
	pt_free(&p);
}

static void
tracing_goes_on_at_another_address(void **state)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_pge(&p, PT_IP_16, BASE + 0x10);
	pt_leave_at(&p, BASE + 0x11);
	assert_trace(mt_nops_after(BASE, syscall, sizeof(syscall), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 far-call 64 sec0\n"
	    "disable\n"
	    "enable 100010\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "disable 100011 async\n");
	pt_free(&p);
}

static void
a_stream_can_start_with_tracing_off(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus_off(&p, 64);
	pt_pge(&p, PT_IP_48_SIGNED, BASE + 1);
	pt_leave_at(&p, BASE + 3);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 status 64\n"
	    "enable 100001\n"
	    "block 100001 2/2 ->100003 64 sec0\n"
	    "disable 100003 async\n");
	pt_free(&p);
}

static void
leaving_a_filter_names_where_execution_went(void **state)
{
	static const struct {
		const char *kind;
		uint8_t code[3];
		uint8_t length;
		const char *rows;
	} cases[] = {
		{ "direct", { 0xeb, 0x1e }, 2,
		    "mode value=0 100000 status 64\n"
		    "block 100000 1/2 jump ->100020 taken 64 sec0\n"
		    "disable ->100020\n" },
		{ "conditional", { 0x75, 0x1e }, 2,
		    "mode value=0 100000 status 64\n"
		    "block 100000 1/2 conditional ->100020 taken 64 sec0\n"
		    "disable ->100020\n" },
		{ "indirect", { 0xff, 0xe0 }, 2,
		    "mode value=0 100000 status 64\n"
		    "block 100000 1/2 indirect-jump ->100020 taken 64 sec0\n"
		    "disable ->100020\n" },
		{ "return", { 0xc3 }, 1,
		    "mode value=0 100000 status 64\n"
		    "block 100000 1/1 return ->100020 taken 64 sec0\n"
		    "disable ->100020\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pt_packets p = { 0 };

		print_message("%s\n", cases[i].kind);
		pt_psb_plus(&p, BASE, 64);
		pt_pgd(&p, PT_IP_16, BASE + 0x20);
		assert_trace(mt_nops_after(BASE, cases[i].code,
				 cases[i].length, &p),
		    cases[i].rows);
		pt_free(&p);
	}
}

static void
without_its_address_a_branch_out_of_a_filter_has_no_target(void **state)
{
	static const uint8_t ret[] = { 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pgd(&p, PT_IP_NONE, 0);
	assert_trace(mt_nops_after(BASE, ret, sizeof(ret), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 return 64 sec0\n"
	    "disable\n");
	pt_free(&p);
}

static void
an_asynchronous_disable_tells_both_ends_if_it_can(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE + 2);
	pt_pgd(&p, PT_IP_16, BASE + 0x30);
	pt_pge(&p, PT_IP_16, BASE + 2);
	pt_leave_at(&p, BASE + 4);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/2 ->100002 64 sec0\n"
	    "disable 100002 ->100030 async\n"
	    "enable 100002 resumed\n"
	    "block 100002 2/2 ->100004 64 sec0\n"
	    "disable 100004 async\n");
	pt_free(&p);
}

static void
trace_stop_is_a_row_of_its_own(void **state)
{
	static const uint8_t jump[] = { 0xeb, 0x1e };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pgd(&p, PT_IP_16, BASE + 0x20);
	pt_stop(&p);
	assert_trace(mt_nops_after(BASE, jump, sizeof(jump), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 jump ->100020 taken 64 sec0\n"
	    "disable ->100020\n"
	    "disable stopped\n");
	pt_free(&p);
}

static void
an_interrupt_goes_from_its_address_to_its_handler(void **state)
{
	static const uint8_t nop[] = { 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE + 2);
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	pt_leave_at(&p, BASE + 0x22);
	assert_trace(mt_nops_after(BASE, nop, sizeof(nop), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/2 ->100002 64 sec0\n"
	    "async 100002 ->100020\n"
	    "block 100020 2/2 ->100022 64 sec0\n"
	    "disable 100022 async\n");
	pt_free(&p);
}

static void
an_interrupt_can_come_before_the_first_instruction(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE);
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	pt_fup(&p, PT_IP_16, BASE + 0x20);
	pt_tip(&p, PT_IP_16, BASE + 0x30);
	pt_leave_at(&p, BASE + 0x31);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "async 100000 ->100020\n"
	    "async 100020 ->100030\n"
	    "block 100030 1/1 ->100031 64 sec0\n"
	    "disable 100031 async\n");
	pt_free(&p);
}

static void
an_interrupt_right_after_a_branch_keeps_its_target(void **state)
{
	static const uint8_t jump[] = { 0xeb, 0x0e };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE + 0x10);
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	pt_leave_at(&p, BASE + 0x21);
	assert_trace(mt_nops_after(BASE, jump, sizeof(jump), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 jump ->100010 taken 64 sec0\n"
	    "async 100010 ->100020\n"
	    "block 100020 1/1 ->100021 64 sec0\n"
	    "disable 100021 async\n");
	pt_free(&p);
}

static void
an_interrupted_loop_goes_on_with_the_instruction_that_waited(void **state)
{
	/* 0: nop; loop 0.  8: iretq */
	static const uint8_t code[] = { 0x90, 0xe2, 0xfd, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x48, 0xcf };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "T");
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_tip(&p, PT_IP_16, BASE + 8);
	pt_tip(&p, PT_IP_16, BASE + 1);
	pt_tnt(&p, "N");
	pt_leave_at(&p, BASE + 4);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/3 conditional ->100000 taken 64 sec0\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "async 100001 ->100008\n"
	    "block 100008 1/2 far-return ->100001 taken 64 sec0\n"
	    "block 100001 1/2 conditional ->100003 64 sec0\n"
	    "block 100003 1/1 ->100004 64 sec0\n"
	    "disable 100004 async\n");
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracing_resumes_where_it_had_ended),
		cmocka_unit_test(tracing_goes_on_at_another_address),
		cmocka_unit_test(a_stream_can_start_with_tracing_off),
		cmocka_unit_test(leaving_a_filter_names_where_execution_went),
		cmocka_unit_test(
		    without_its_address_a_branch_out_of_a_filter_has_no_target),
		cmocka_unit_test(
		    an_asynchronous_disable_tells_both_ends_if_it_can),
		cmocka_unit_test(trace_stop_is_a_row_of_its_own),
		cmocka_unit_test(
		    an_interrupt_goes_from_its_address_to_its_handler),
		cmocka_unit_test(
		    an_interrupt_can_come_before_the_first_instruction),
		cmocka_unit_test(
		    an_interrupt_right_after_a_branch_keeps_its_target),
		cmocka_unit_test(
		    an_interrupted_loop_goes_on_with_the_instruction_that_waited),
	};

	mt_use_engine("libipt");
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
