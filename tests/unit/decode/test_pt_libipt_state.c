/*
 * The libipt engine: rows of context, mode, transactions, frequency, markers
 * and power.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

/* PSB+ up to PSBEND: tracing is on at BASE in 64-bit code. */
static void
psb_open(struct pt_packets *p)
{
	pt_psb(p);
	pt_fup(p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(p, 64);
}

static void
a_sync_point_restates_the_address_space(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_open(&p);
	pt_pip(&p, 0x123000, 0);
	pt_psbend(&p);
	pt_leave_at(&p, BASE + 1);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "context cr3=123000 100000 status\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
	pt_free(&p);
}

static void
writing_cr3_changes_the_context_from_the_next_instruction_on(void **state)
{
	/* mov %rax, %cr3 */
	static const uint8_t code[] = { 0x0f, 0x22, 0xd8 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pip(&p, 0xffffffffff000, 0);
	pt_leave_at(&p, BASE + 4);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/3 ->100003 64 sec0\n"
	    "context cr3=ffffffffff000\n"
	    "block 100003 1/1 ->100004 64 sec0\n"
	    "disable 100004 async\n");
	pt_free(&p);
}

static void
rows_carry_the_context_that_holds_for_them(void **state)
{
	static const uint8_t code[] = { 0x0f, 0x22, 0xd8 };
	struct hwtd_stream_desc desc = { .cpu = 3, .pid = 70, .tid = 71 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	struct mt_rows rows;
	uint8_t bytes[16];

	(void)state;
	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes, code, sizeof(code));
	psb_open(&p);
	pt_pip(&p, 0x1000, 0);
	pt_psbend(&p);
	pt_pip(&p, 0x2000, 0);
	pt_leave_at(&p, BASE + 4);
	mt_code(trace, BASE, bytes, sizeof(bytes));
	mt_stream(trace, &p, &desc);
	mt_seal(trace);
	mt_rows(trace, NULL, &rows);
	/* mode, context, block; context, block, disable. */
	assert_int_equal(rows.n, 6);
	for (size_t i = 1; i < rows.n; i++) {
		struct hwtd_exec_context c = { .size = sizeof(c) };

		assert_int_equal(hwtd_trace_exec_context(trace,
				     rows.at[i].row.context, &c),
		    HWTD_OK);
		assert_int_equal(c.cr3, i < 3 ? 0x1000 : 0x2000);
		assert_int_equal(c.flags, HWTD_CTXF_CR3);
		assert_int_equal(c.cpu, 3);
		assert_int_equal(c.pid, 70);
		assert_int_equal(c.tid, 71);
	}
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
an_interrupt_into_another_address_space_changes_it_at_the_target(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_open(&p);
	pt_pip(&p, 0x1000, 0);
	pt_psbend(&p);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_pip(&p, 0x2000, 0);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_leave_at(&p, BASE + 0x11);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "context cr3=1000 100000 status\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "async 100001 ->100010\n"
	    "context cr3=2000 100010\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "disable 100011 async\n");
	pt_free(&p);
}

static void
a_vm_exit_leaves_the_guest(void **state)
{
	/* 10: vmresume */
	uint8_t code[0x13];
	struct pt_packets p = { 0 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[0x10] = 0x0f;
	code[0x11] = 0x01;
	code[0x12] = 0xc3;
	psb_open(&p);
	pt_pip(&p, 0x1000, 1);
	pt_vmcs(&p, 0x5000);
	pt_psbend(&p);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_pip(&p, 0x9000, 0);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_vmcs(&p, 0x6000);
	pt_pip(&p, 0x1000, 1);
	pt_tip(&p, PT_IP_16, BASE + 1);
	pt_leave_at(&p, BASE + 2);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "context cr3=1000 guest 100000 status\n"
	    "context cr3=1000 vmcs=5000 guest 100000 status\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "async 100001 ->100010\n"
	    "context cr3=9000 vmcs=5000 100010\n"
	    "block 100010 1/3 far-return ->100001 taken 64 sec0\n"
	    "context cr3=9000 vmcs=6000\n"
	    "context cr3=1000 vmcs=6000 guest\n"
	    "block 100001 1/1 ->100002 64 sec0\n"
	    "disable 100002 async\n");
	pt_free(&p);
}

static void
the_mode_changes_where_the_far_branch_goes(void **state)
{
	static const uint8_t code[] = { 0x90, 0xff, 0x28 }; /* ljmp *(rax) */
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mode_exec(&p, 32);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_fup(&p, PT_IP_16, BASE + 0x11);
	/* The mode is said again; that is no row. */
	pt_mode_exec(&p, 32);
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	pt_leave_at(&p, BASE + 0x21);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/3 far-jump ->100010 taken 64 sec0\n"
	    "mode value=0 100010 32\n"
	    "block 100010 1/1 ->100011 32 sec0\n"
	    "async 100011 ->100020\n"
	    "block 100020 1/1 ->100021 32 sec0\n"
	    "disable 100021 async\n");
	pt_free(&p);
}

/* xbegin 10; nop; nop...; xend at 9; 10: nop */
static const uint8_t transaction[] = { 0xc7, 0xf8, 0x0a, 0x00, 0x00, 0x00,
	0x90, 0x90, 0x90, 0x0f, 0x01, 0xd5, 0x90 };

static void
a_transaction_that_commits_is_speculative_up_to_there(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mode_tsx(&p, PT_TSX_BEGIN);
	pt_fup(&p, PT_IP_16, BASE + 6);
	pt_mode_tsx(&p, PT_TSX_COMMIT);
	pt_fup(&p, PT_IP_16, BASE + 0xc);
	pt_leave_at(&p, BASE + 0xd);
	assert_trace(mt_nops_after(BASE, transaction, sizeof(transaction), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/6 ->100006 64 sec0\n"
	    "mode value=5 100006 64\n"
	    "block 100006 4/6 ->10000c speculative 64 sec0\n"
	    "mode value=4 10000c 64\n"
	    "block 10000c 1/1 ->10000d 64 sec0\n"
	    "disable 10000d async\n");
	pt_free(&p);
}

static void
a_transaction_that_aborts_goes_to_its_fallback(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mode_tsx(&p, PT_TSX_BEGIN);
	pt_fup(&p, PT_IP_16, BASE + 6);
	pt_mode_tsx(&p, PT_TSX_ABORT);
	pt_fup(&p, PT_IP_16, BASE + 8);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_leave_at(&p, BASE + 0x11);
	assert_trace(mt_nops_after(BASE, transaction, sizeof(transaction), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/6 ->100006 64 sec0\n"
	    "mode value=5 100006 64\n"
	    "block 100006 2/2 ->100008 speculative 64 sec0\n"
	    "mode value=6 100008 64\n"
	    "async abort 100008 ->100010\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "disable 100011 async\n");
	pt_free(&p);
}

static void
a_sync_point_inside_a_transaction_says_so(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_open(&p);
	pt_mode_tsx(&p, PT_TSX_BEGIN);
	pt_psbend(&p);
	pt_leave_at(&p, BASE + 1);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "mode value=5 100000 status 64\n"
	    "block 100000 1/1 ->100001 speculative 64 sec0\n"
	    "disable 100001 async\n");
	pt_free(&p);
}

static void
a_frequency_is_a_row_when_it_is_new(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_open(&p);
	pt_cbr(&p, 20);
	pt_psbend(&p);
	pt_cbr(&p, 20);
	pt_cbr(&p, 36);
	pt_leave_at(&p, BASE + 1);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "frequency value=14 status\n"
	    "frequency value=24\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
	pt_free(&p);
}

/* ptwrite %eax; ptwrite %rax; nop */
static const uint8_t ptwrites[] = { 0xf3, 0x0f, 0xae, 0xe0, 0xf3, 0x48, 0x0f,
	0xae, 0xe0 };

static void
markers_of_four_and_eight_bytes_keep_their_payload(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_ptw(&p, 4, 0xfedcba98, 1);
	pt_fup(&p, PT_IP_16, BASE);
	pt_ptw(&p, 8, 0xfedcba9876543210, 1);
	pt_fup(&p, PT_IP_16, BASE + 4);
	pt_leave_at(&p, BASE + 0xa);
	assert_trace(mt_nops_after(BASE, ptwrites, sizeof(ptwrites), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/4 ->100004 64 sec0\n"
	    "marker ptwrite 4:fedcba98 100000\n"
	    "block 100004 1/5 ->100009 64 sec0\n"
	    "marker ptwrite 8:fedcba9876543210 100004\n"
	    "block 100009 1/1 ->10000a 64 sec0\n"
	    "disable 10000a async\n");
	pt_free(&p);
}

static void
markers_without_address_belong_to_the_next_ptwrite(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_ptw(&p, 4, 0, 0);
	pt_ptw(&p, 8, 1, 0);
	pt_leave_at(&p, BASE + 0xa);
	assert_trace(mt_nops_after(BASE, ptwrites, sizeof(ptwrites), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/4 ->100004 64 sec0\n"
	    "marker ptwrite 4:0 100000\n"
	    "block 100004 1/5 ->100009 64 sec0\n"
	    "marker ptwrite 8:1 100004\n"
	    "block 100009 1/1 ->10000a 64 sec0\n"
	    "disable 10000a async\n");
	pt_free(&p);
}

static void
a_maintenance_packet_is_a_marker_without_address(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mnt(&p, 0x8877665544332211);
	pt_leave_at(&p, BASE + 1);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "marker mnt 8:8877665544332211\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
	pt_free(&p);
}

/* PWRE belongs to no instruction and comes as soon as it can. */
static void
a_sleep_is_mwait_entry_stop_and_exit(void **state)
{
	static const uint8_t code[] = { 0x90, 0x0f, 0x01, 0xc9 }; /* mwait */
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_mwait(&p, 0x20, 1);
	pt_pwre(&p, 3, 1, 0);
	pt_exstop(&p, 1);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_pwrx(&p, 2, 6, PT_WAKE_INTERRUPT);
	pt_leave_at(&p, BASE + 5);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "power entry state=3 sub=1 hw=0 wake=0\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "power mwait hints=20 extensions=1 100001\n"
	    "power stop 100001\n"
	    "power exit state=2 sub=6 hw=0 wake=1\n"
	    "block 100001 2/4 ->100005 64 sec0\n"
	    "disable 100005 async\n");
	pt_free(&p);
}

static void
every_reason_to_wake_has_its_bit(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_pwrx(&p, 1, 2, PT_WAKE_INTERRUPT);
	pt_pwrx(&p, 3, 4, PT_WAKE_STORE);
	pt_pwrx(&p, 5, 6, PT_WAKE_AUTONOMOUS);
	pt_pwrx(&p, 0, 15, 0);
	pt_exstop(&p, 0);
	pt_leave_at(&p, BASE + 1);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "mode value=0 100000 status 64\n"
	    "power exit state=1 sub=2 hw=0 wake=1\n"
	    "power exit state=3 sub=4 hw=0 wake=2\n"
	    "power exit state=5 sub=6 hw=0 wake=4\n"
	    "power exit state=0 sub=15 hw=0 wake=0\n"
	    "power stop\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sync_point_restates_the_address_space),
		cmocka_unit_test(
		    writing_cr3_changes_the_context_from_the_next_instruction_on),
		cmocka_unit_test(rows_carry_the_context_that_holds_for_them),
		cmocka_unit_test(
		    an_interrupt_into_another_address_space_changes_it_at_the_target),
		cmocka_unit_test(a_vm_exit_leaves_the_guest),
		cmocka_unit_test(the_mode_changes_where_the_far_branch_goes),
		cmocka_unit_test(
		    a_transaction_that_commits_is_speculative_up_to_there),
		cmocka_unit_test(
		    a_transaction_that_aborts_goes_to_its_fallback),
		cmocka_unit_test(a_sync_point_inside_a_transaction_says_so),
		cmocka_unit_test(a_frequency_is_a_row_when_it_is_new),
		cmocka_unit_test(
		    markers_of_four_and_eight_bytes_keep_their_payload),
		cmocka_unit_test(
		    markers_without_address_belong_to_the_next_ptwrite),
		cmocka_unit_test(
		    a_maintenance_packet_is_a_marker_without_address),
		cmocka_unit_test(a_sleep_is_mwait_entry_stop_and_exit),
		cmocka_unit_test(every_reason_to_wake_has_its_bit),
	};

	mt_use_engine("libipt");
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
