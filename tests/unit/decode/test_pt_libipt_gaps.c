/*
 * The libipt engine: gaps of every reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

/* A second PSB+ after which all is well; it starts at `*at`. */
static void
good_part(struct pt_packets *p, size_t *at)
{
	*at = p->n;
	pt_psb_plus(p, BASE + 0x30, 64);
	pt_leave_at(p, BASE + 0x31);
}

static void
an_empty_stream_has_no_rows(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	assert_trace(mt_nops_after(BASE, NULL, 0, &p), "");
}

static void
bytes_before_the_first_psb_are_unsynced(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_pad(&p, 3);
	pt_tnt(&p, "TNT");
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE + 1);
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "gap unsynced [0,4) after=100000 @0\n"
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
	pt_free(&p);
}

static void
a_stream_without_psb_is_one_gap(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_pge(&p, PT_IP_48_SIGNED, BASE);
	pt_tnt(&p, "TNT");
	assert_trace(mt_nops_after(BASE, NULL, 0, &p),
	    "gap unsynced [0,8) @0\n");
	pt_free(&p);
}

/* libipt reads ahead: an overflow lies at its packet or some packets behind. */
static void
assert_overflow(const struct mt_row *r, uint64_t at, uint64_t ip_after)
{
	assert_int_equal(r->row.kind, HWTD_EV_GAP);
	assert_int_equal(r->detail.gap.reason, HWTD_GAP_OVERFLOW);
	assert_int_equal(r->detail.gap.first, r->detail.gap.end);
	assert_int_equal(r->row.stream_off, r->detail.gap.first);
	assert_in_range(r->detail.gap.first, at, at + 24);
	assert_int_equal((r->detail.gap.flags & HWTD_GAPF_IP_AFTER) != 0,
	    ip_after != 0);
	assert_int_equal(r->detail.gap.ip_after, ip_after);
}

static void
after_an_overflow_tracing_goes_on_at_the_fup(void **state)
{
	struct hwtd_trace *trace;
	struct pt_packets p = { 0 };
	struct mt_rows rows;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_ovf(&p);
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 8);
	pt_leave_at(&p, BASE + 9);
	trace = mt_nops_after(BASE, NULL, 0, &p);
	mt_rows(trace, NULL, &rows);
	/* mode, gap, block, disable */
	assert_int_equal(rows.n, 4);
	assert_overflow(&rows.at[1], 0x1b, BASE + 8);
	assert_int_equal(rows.at[2].row.ip, BASE + 8);
	assert_int_equal(rows.at[2].row.insns, 1);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
after_an_overflow_tracing_can_be_off(void **state)
{
	struct hwtd_trace *trace;
	struct pt_packets p = { 0 };
	struct mt_rows rows;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_ovf(&p);
	pt_pge(&p, PT_IP_48_SIGNED, BASE + 8);
	pt_leave_at(&p, BASE + 9);
	trace = mt_nops_after(BASE, NULL, 0, &p);
	mt_rows(trace, NULL, &rows);
	/* mode, gap, enable, block, disable */
	assert_int_equal(rows.n, 5);
	assert_overflow(&rows.at[1], 0x1b, 0);
	assert_int_equal(rows.at[2].row.kind, HWTD_EV_ENABLE);
	assert_int_equal(rows.at[2].row.ip, BASE + 8);
	assert_int_equal(rows.at[3].row.ip, BASE + 8);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/*
 * jne to itself: a bit for each pass.  Before a gap libipt does not tell where
 * the last one went.
 */
static const uint8_t jne[] = { 0x75, 0xfe };

static void
bytes_that_are_no_packet_are_lost_up_to_the_next_psb(void **state)
{
	static const uint8_t unknown[] = { 0x02, 0xff };
	struct pt_packets p = { 0 };
	size_t at;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tnt(&p, "T");
	pt_raw(&p, unknown, sizeof(unknown)); /* 1c to 1e */
	pt_tnt(&p, "TT");
	good_part(&p, &at);
	assert_int_equal(at, 0x1f);
	assert_trace(mt_nops_after(BASE, jne, sizeof(jne), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional 64 sec0\n"
	    "gap bad-packet [1c,1f) before=100000 after=100030 @1c\n"
	    "mode value=0 100030 status 64\n"
	    "block 100030 1/1 ->100031 64 sec0\n"
	    "disable 100031 async\n");
	pt_free(&p);
}

/* The branch itself is not shown: its outcome is not known. */
static void
a_tip_where_a_bit_is_due_is_a_contradiction(void **state)
{
	static const uint8_t jcc[] = { 0x90, 0x75, 0x10 };
	struct pt_packets p = { 0 };
	size_t at;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tip(&p, PT_IP_16, BASE + 0x20); /* to 1e */
	good_part(&p, &at);
	assert_trace(mt_nops_after(BASE, jcc, sizeof(jcc), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 64 sec0\n"
	    "gap bad-flow [1b,1e) before=100000 after=100030 @1b\n"
	    "mode value=0 100030 status 64\n"
	    "block 100030 1/1 ->100031 64 sec0\n"
	    "disable 100031 async\n");
	pt_free(&p);
}

static void
missing_code_is_a_gap_with_its_address(void **state)
{
	static const uint8_t jump[] = { 0x90, 0xff, 0xe0 };
	struct pt_packets p = { 0 };
	size_t at;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tip(&p, PT_IP_32, 0x7ff00000);
	pt_tnt(&p, "TTNN"); /* 20 to 21 */
	good_part(&p, &at);
	assert_int_equal(at, 0x21);
	assert_trace(mt_nops_after(BASE, jump, sizeof(jump), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/3 indirect-jump ->7ff00000 taken 64 sec0\n"
	    "gap no-code [20,21) before=100001 after=100030 addr=7ff00000 "
	    "@20\n"
	    "mode value=0 100030 status 64\n"
	    "block 100030 1/1 ->100031 64 sec0\n"
	    "disable 100031 async\n");
	pt_free(&p);
}

static void
code_that_ends_inside_an_instruction_is_missing_at_its_end(void **state)
{
	static const uint8_t code[] = { 0x90, 0x48, 0x89 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tnt(&p, "TTTT");
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "gap no-code [1b,1c) before=100000 addr=100003 @1b\n");
	pt_free(&p);
}

static void
bytes_that_are_no_instruction_are_a_gap_with_their_address(void **state)
{
	static const uint8_t code[] = { 0x90, 0x90, 0x06 }; /* push %es */
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tnt(&p, "TTTT");
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/2 ->100002 64 sec0\n"
	    "gap bad-code [1b,1c) before=100001 addr=100002 @1b\n");
	pt_free(&p);
}

static void
a_jump_to_itself_is_an_endless_loop(void **state)
{
	static const uint8_t code[] = { 0x90, 0xeb, 0xfe };
	struct pt_packets p = { 0 };
	size_t at;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	good_part(&p, &at);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/3 jump ->100001 taken 64 sec0\n"
	    "gap endless-loop [1b,1e) before=100001 after=100030 @1b\n"
	    "mode value=0 100030 status 64\n"
	    "block 100030 1/1 ->100031 64 sec0\n"
	    "disable 100031 async\n");
	pt_free(&p);
}

static void
a_ring_of_jumps_and_calls_is_an_endless_loop(void **state)
{
	static const uint8_t code[] = {
		0x90, 0xeb, 0x02, /* nop; jmp 5 */
		0x90, 0x90, /* nop; nop */
		0xe8, 0xf6, 0xff, 0xff, 0xff, /* 5: call 0 */
	};
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/3 jump ->100005 taken 64 sec0\n"
	    "block 100005 1/5 call ->100000 taken 64 sec0\n"
	    "gap endless-loop [1b,1e) before=100005 @1b\n");
	pt_free(&p);
}

static void
an_interrupt_ends_a_loop_without_packets(void **state)
{
	static const uint8_t code[] = { 0x90, 0xeb, 0xfd };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_tip(&p, PT_IP_16, BASE + 0x20);
	pt_leave_at(&p, BASE + 0x21);
	assert_trace(mt_nops_after(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "async 100001 ->100020\n"
	    "block 100020 1/1 ->100021 64 sec0\n"
	    "disable 100021 async\n");
	pt_free(&p);
}

static void
a_packet_cut_by_the_end_of_the_stream_is_a_gap(void **state)
{
	static const uint8_t jump[] = { 0x90, 0xff, 0xe0 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tip(&p, PT_IP_48_SIGNED, BASE);
	p.n = 0x1e;
	assert_trace(mt_nops_after(BASE, jump, sizeof(jump), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 64 sec0\n"
	    "gap truncated [1b,1e) before=100000 @1b\n");
	pt_free(&p);
}

static void
a_psb_inside_garbage_is_found(void **state)
{
	static const uint8_t garbage[] = { 0x02, 0xff, 0x02, 0x82, 0x02, 0x82,
		0x02 };
	struct pt_packets p = { 0 };
	size_t at;

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* 0 to 1b */
	pt_tnt(&p, "T");
	pt_raw(&p, garbage, sizeof(garbage)); /* 1c to 23 */
	good_part(&p, &at);
	assert_trace(mt_nops_after(BASE, jne, sizeof(jne), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional 64 sec0\n"
	    "gap bad-packet [1c,23) before=100000 after=100030 @1c\n"
	    "mode value=0 100030 status 64\n"
	    "block 100030 1/1 ->100031 64 sec0\n"
	    "disable 100031 async\n");
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_stream_has_no_rows),
		cmocka_unit_test(bytes_before_the_first_psb_are_unsynced),
		cmocka_unit_test(a_stream_without_psb_is_one_gap),
		cmocka_unit_test(after_an_overflow_tracing_goes_on_at_the_fup),
		cmocka_unit_test(after_an_overflow_tracing_can_be_off),
		cmocka_unit_test(
		    bytes_that_are_no_packet_are_lost_up_to_the_next_psb),
		cmocka_unit_test(a_tip_where_a_bit_is_due_is_a_contradiction),
		cmocka_unit_test(missing_code_is_a_gap_with_its_address),
		cmocka_unit_test(
		    code_that_ends_inside_an_instruction_is_missing_at_its_end),
		cmocka_unit_test(
		    bytes_that_are_no_instruction_are_a_gap_with_their_address),
		cmocka_unit_test(a_jump_to_itself_is_an_endless_loop),
		cmocka_unit_test(a_ring_of_jumps_and_calls_is_an_endless_loop),
		cmocka_unit_test(an_interrupt_ends_a_loop_without_packets),
		cmocka_unit_test(
		    a_packet_cut_by_the_end_of_the_stream_is_a_gap),
		cmocka_unit_test(a_psb_inside_garbage_is_found),
	};

	mt_use_engine("libipt");
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
