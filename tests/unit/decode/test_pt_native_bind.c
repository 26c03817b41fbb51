/*
 * The native engine: which instruction a packet belongs to.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions" (each packet's "Dependencies"
 * and "Application").
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

/* PTW. */

static const uint8_t ptwrites[] = { 0x90, 0xf3, 0x0f, 0xae, 0xe0, 0x90, 0xf3,
	0x0f, 0xae, 0xe0 };

static void
ptw_is_of_the_next_ptwrite(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_ptw(&p, 4, 0x11, 0);
	pt_ptw(&p, 8, 0x22, 0);
	pt_leave_at(&p, BASE + 0xb);
	check(ptwrites, sizeof(ptwrites), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/5 ->100005 64 sec0\n"
	    "marker ptwrite 4:11 100001\n"
	    "block 100005 2/5 ->10000a 64 sec0\n"
	    "marker ptwrite 8:22 100006\n"
	    "block 10000a 1/1 ->10000b 64 sec0\n"
	    "disable 10000b async\n");
}

static void
ptw_with_an_address_is_of_the_ptwrite_there(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_ptw(&p, 4, 0x22, 1);
	pt_fup(&p, PT_IP_16, BASE + 6);
	pt_leave_at(&p, BASE + 0xb);
	check(ptwrites, sizeof(ptwrites), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 4/10 ->10000a 64 sec0\n"
	    "marker ptwrite 4:22 100006\n"
	    "block 10000a 1/1 ->10000b 64 sec0\n"
	    "disable 10000b async\n");
}

static void
a_ptwrite_in_two_images_is_passed_as_a_whole(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	uint8_t bytes[16];

	(void)state;
	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes, ptwrites, 5);
	pt_psb_plus(&p, BASE + 1, 64);
	pt_ptw(&p, 4, 0x11, 1);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_leave_at(&p, BASE + 6);
	(void)mt_code(trace, BASE, bytes, 3);
	(void)mt_code(trace, BASE + 3, bytes + 3, sizeof(bytes) - 3);
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 100001 status 64\n"
	    "block 100001 1/4 ->100005 64 sec0\n"
	    "marker ptwrite 4:11 100001\n"
	    "block 100005 1/1 ->100006 64 sec1\n"
	    "disable 100006 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* PIP and TIP.PGD. */

static void
a_pgd_behind_a_pip_is_of_the_mov_to_cr3(void **state)
{
	/* mov %rax, %cr3; nop; jmp *%rax */
	static const uint8_t code[] = { 0x0f, 0x22, 0xd8, 0x90, 0xff, 0xe0 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pip(&p, 0x1000, 0);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_pge(&p, PT_IP_16, BASE + 3);
	pt_pgd(&p, PT_IP_NONE, 0);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/3 64 sec0\n"
	    "context cr3=1000\n"
	    "disable\n"
	    "enable 100003 resumed\n"
	    "block 100003 2/3 indirect-jump 64 sec0\n"
	    "disable\n");
}

/* The same in a region that stops tracing, where a TIP.PGE tells it. */
static void
a_pge_between_a_pip_and_a_stop_is_of_the_mov_to_cr3(void **state)
{
	/* 0: jne 2; 2: mov %rax, %cr3; 5: nop */
	static const uint8_t code[] = { 0x75, 0x00, 0x0f, 0x22, 0xd8, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "N");
	pt_pip(&p, 0x1000, 0);
	pt_pge(&p, PT_IP_16, BASE + 5);
	pt_stop(&p);
	pt_pge(&p, PT_IP_16, BASE + 5);
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/3 ->100005 64 sec0\n"
	    "context cr3=1000\n"
	    "disable ->100005\n"
	    "disable stopped\n"
	    "enable 100005 resumed\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

/* Behind a TIP.PGE a TraceStop is at the last address that is known. */
static void
a_stop_while_tracing_is_on_turns_it_off(void **state)
{
	/* 0: jne 4; 4: nop... */
	static const uint8_t code[] = { 0x75, 0x02, 0x90, 0x90, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE);
	pt_pge(&p, PT_IP_16, BASE);
	pt_stop(&p);
	pt_pge(&p, PT_IP_16, BASE);
	pt_tnt(&p, "T");
	pt_stop(&p);
	pt_pge(&p, PT_IP_16, BASE + 4);
	pt_leave_at(&p, BASE + 5);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "disable 100000 async\n"
	    "enable 100000 resumed\n"
	    "disable ->100000 stopped\n"
	    "enable 100000\n"
	    "block 100000 1/2 conditional ->100004 taken 64 sec0\n"
	    "disable ->100004 stopped\n"
	    "enable 100004\n"
	    "block 100004 1/1 ->100005 64 sec0\n"
	    "disable 100005 async\n");
}

/* Between a FUP and its TIP it cannot stand. */
static void
a_stop_inside_of_a_branch_is_damage(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_fup(&p, PT_IP_16, BASE); /* to 1e */
	pt_stop(&p); /* to 20 */
	pt_tip(&p, PT_IP_16, BASE); /* to 23 */
	pt_leave_at(&p, BASE + 1);
	check(ptwrites, sizeof(ptwrites), &p,
	    "mode value=0 100000 status 64\n"
	    "gap bad-packet [1b,23) after=100000 @20\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

static void
a_pgd_without_address_is_of_the_next_branch_that_needs_trace(void **state)
{
	/* jmp 4; 4: nop; syscall */
	static const uint8_t code[] = { 0xeb, 0x02, 0x90, 0x90, 0x90, 0x0f,
		0x05 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_pge(&p, PT_IP_16, BASE + 7);
	pt_leave_at(&p, BASE + 8);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 jump ->100004 taken 64 sec0\n"
	    "block 100004 2/3 far-call 64 sec0\n"
	    "disable\n"
	    "enable 100007 resumed\n"
	    "block 100007 1/1 ->100008 64 sec0\n"
	    "disable 100008 async\n");
}

static void
a_call_out_of_the_filter_comes_back_behind_it(void **state)
{
	/* 0: call 20; 20 is not traced. */
	static const uint8_t code[] = { 0xe8, 0x1b, 0x00, 0x00, 0x00 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pgd(&p, PT_IP_16, BASE + 0x20);
	pt_pge(&p, PT_IP_16, BASE + 5);
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100020 taken 64 sec0\n"
	    "disable ->100020\n"
	    "enable 100005 resumed\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

/* FUP. */

/* An exception at an instruction that does not exist. */
static void
a_fup_can_be_at_what_is_no_instruction(void **state)
{
	static const uint8_t code[] = { 0x90, 0x06 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_leave_at(&p, BASE + 0x11);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "async 100001 ->100010\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "disable 100011 async\n");
}

static void
a_fup_can_be_where_the_code_ends(void **state)
{
	static const uint8_t code[] = { 0x90, 0x48, 0x89 };
	struct hwtd_trace *trace;
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE + 1);
	trace = mt_simple(BASE, code, sizeof(code), &p);
	assert_rows(trace, &native,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* MODE.Exec. */

static void
a_mode_that_is_said_again_does_not_use_a_fup(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mode_exec(&p, 64);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_pgd(&p, PT_IP_NONE, 0);
	check(NULL, 0, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

static void
a_mode_that_is_said_again_stands_in_nobodys_way(void **state)
{
	static const uint8_t jne[] = { 0x75, 0xfe };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mode_exec(&p, 64);
	pt_tnt(&p, "N");
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Power. */

static void
mwait_without_an_address_is_told_at_once(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mwait(&p, 0x20, 1);
	pt_exstop(&p, 0);
	pt_leave_at(&p, BASE + 1);
	check(NULL, 0, &p,
	    "mode value=0 100000 status 64\n"
	    "power mwait hints=20 extensions=1\n"
	    "power stop\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

/* TIP packets behind outcomes that are newer. */

static void
two_deferred_tips_are_no_endless_loop(void **state)
{
	/* 0: jmp 4; 4: jmp *%rax; 8: jne 0; a: nop */
	static const uint8_t code[] = { 0xeb, 0x02, 0x90, 0x90, 0xff, 0xe0,
		0x90, 0x90, 0x75, 0xf6 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "N");
	pt_tip(&p, PT_IP_16, BASE);
	pt_tip(&p, PT_IP_16, BASE);
	pt_tip(&p, PT_IP_16, BASE + 8);
	pt_leave_at(&p, BASE + 0xb);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 jump ->100004 taken 64 sec0\n"
	    "block 100004 1/2 indirect-jump ->100000 taken 64 sec0\n"
	    "block 100000 1/2 jump ->100004 taken 64 sec0\n"
	    "block 100004 1/2 indirect-jump ->100000 taken 64 sec0\n"
	    "block 100000 1/2 jump ->100004 taken 64 sec0\n"
	    "block 100004 1/2 indirect-jump ->100008 taken 64 sec0\n"
	    "block 100008 1/2 conditional ->10000a 64 sec0\n"
	    "block 10000a 1/1 ->10000b 64 sec0\n"
	    "disable 10000b async\n");
}

/* Endless loops. */

static void
a_long_loop_is_told_once(void **state)
{
	/* 600 nops; jmp to the first */
	static uint8_t code[605];
	struct hwtd_trace *trace;
	struct pt_packets p = { 0 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 600, "\xe9\xa3\xfd\xff\xff", 5);
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tnt(&p, "T");
	trace = mt_simple(BASE, code, sizeof(code), &p);
	assert_rows(trace, &native,
	    "mode value=0 100000 status 64\n"
	    "block 100000 601/605 jump ->100000 taken 64 sec0\n"
	    "gap endless-loop [1b,1c) before=100258 @1c\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ptw_is_of_the_next_ptwrite),
		cmocka_unit_test(ptw_with_an_address_is_of_the_ptwrite_there),
		cmocka_unit_test(a_ptwrite_in_two_images_is_passed_as_a_whole),
		cmocka_unit_test(a_pgd_behind_a_pip_is_of_the_mov_to_cr3),
		cmocka_unit_test(
		    a_pge_between_a_pip_and_a_stop_is_of_the_mov_to_cr3),
		cmocka_unit_test(a_stop_while_tracing_is_on_turns_it_off),
		cmocka_unit_test(a_stop_inside_of_a_branch_is_damage),
		cmocka_unit_test(
		    a_pgd_without_address_is_of_the_next_branch_that_needs_trace),
		cmocka_unit_test(
		    a_call_out_of_the_filter_comes_back_behind_it),
		cmocka_unit_test(a_fup_can_be_at_what_is_no_instruction),
		cmocka_unit_test(a_fup_can_be_where_the_code_ends),
		cmocka_unit_test(a_mode_that_is_said_again_does_not_use_a_fup),
		cmocka_unit_test(
		    a_mode_that_is_said_again_stands_in_nobodys_way),
		cmocka_unit_test(mwait_without_an_address_is_told_at_once),
		cmocka_unit_test(two_deferred_tips_are_no_endless_loop),
		cmocka_unit_test(a_long_loop_is_told_once),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
