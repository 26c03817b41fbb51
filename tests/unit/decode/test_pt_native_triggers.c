/*
 * The native engine: where triggers are.
 *
 * Source: Intel SDM vol. 3C (newer editions), packet TRIG; intel-pt.h of libipt
 * 2.2: the count is of instructions since the last FUP, TIP, TNT or TRIG packet.
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

static void
instructions_are_counted_over_direct_jumps(void **state)
{
	/* 0: nop; 1: jmp 4; 4: nop; 5: nop */
	static const uint8_t code[] = { 0x90, 0xeb, 0x01, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_trig(&p, 0x1a, PT_TRIG_COUNT, 3);
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/3 jump ->100004 taken 64 sec0\n"
	    "block 100004 1/1 ->100005 64 sec0\n"
	    "marker trigger 1:1a 100005\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

static void
they_are_counted_from_outcomes_and_addresses_on(void **state)
{
	/* 0: jne 0; 2: nop; 3: jmp *%rax; 10: nop... */
	static const uint8_t code[] = { 0x75, 0xfe, 0x90, 0xff, 0xe0 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "TN");
	pt_cyc(&p, 5);
	pt_trig(&p, 1, PT_TRIG_COUNT, 1);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_trig(&p, 2, PT_TRIG_COUNT, 0);
	pt_leave_at(&p, BASE + 0x11);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100000 taken 64 sec0\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "marker trigger 1:1 100003\n"
	    "block 100003 1/2 indirect-jump ->100010 taken 64 sec0\n"
	    "marker trigger 1:2 100010\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "disable 100011 async\n");
}

static void
they_are_counted_from_the_last_trigger_on(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_trig(&p, 1, PT_TRIG_COUNT, 2);
	pt_mtc(&p, 3);
	pt_trig(&p, 2, PT_TRIG_COUNT, 1);
	pt_trig(&p, 4, PT_TRIG_COUNT | PT_TRIG_MULTIPLE, 0);
	pt_leave_at(&p, BASE + 4);
	check(NULL, 0, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/2 ->100002 64 sec0\n"
	    "marker trigger 1:1 100002\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "marker trigger 1:2 100003\n"
	    "marker trigger 1:4 multiple 100003\n"
	    "block 100003 1/1 ->100004 64 sec0\n"
	    "disable 100004 async\n");
}

/* What a PTW has passed is counted, and its FUP counts anew. */
static void
instructions_that_a_ptw_passes_are_counted(void **state)
{
	/* 0: nop; 1: ptwrite %eax; 5: nop; 6: ptwrite %eax; a: nop... */
	static const uint8_t code[] = { 0x90, 0xf3, 0x0f, 0xae, 0xe0, 0x90,
		0xf3, 0x0f, 0xae, 0xe0 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_ptw(&p, 4, 0x11, 0);
	pt_pad(&p, 3);
	pt_trig(&p, 1, PT_TRIG_COUNT, 3);
	pt_ptw(&p, 4, 0x22, 1);
	pt_fup(&p, PT_IP_16, BASE + 6);
	pt_trig(&p, 2, PT_TRIG_COUNT, 2);
	pt_leave_at(&p, BASE + 0xc);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/5 ->100005 64 sec0\n"
	    "marker ptwrite 4:11 100001\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "marker trigger 1:1 100006\n"
	    "block 100006 1/4 ->10000a 64 sec0\n"
	    "marker ptwrite 4:22 100006\n"
	    "block 10000a 1/1 ->10000b 64 sec0\n"
	    "marker trigger 1:2 10000b\n"
	    "block 10000b 1/1 ->10000c 64 sec0\n"
	    "disable 10000c async\n");
}

/* However many were passed before, and whatever is between. */
static void
what_was_passed_before_an_address_is_not_counted(void **state)
{
	/* 0: nop; 1: ptwrite %eax; 5: jmp *%rax; 10: nop... */
	static const uint8_t code[] = { 0x90, 0xf3, 0x0f, 0xae, 0xe0, 0xff,
		0xe0 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_ptw(&p, 4, 0x11, 0);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_cbr(&p, 8);
	pt_trig(&p, 1, PT_TRIG_COUNT, 1);
	pt_fup(&p, PT_IP_16, BASE + 0x13);
	pt_trig(&p, 2, PT_TRIG_COUNT, 0);
	pt_tip(&p, PT_IP_16, BASE);
	pt_ptw(&p, 4, 0x22, 0);
	pt_fup(&p, PT_IP_16, BASE + 5);
	pt_trig(&p, 4, PT_TRIG_COUNT, 0);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_leave_at(&p, BASE + 0x11);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/5 ->100005 64 sec0\n"
	    "marker ptwrite 4:11 100001\n"
	    "block 100005 1/2 indirect-jump ->100010 taken 64 sec0\n"
	    "frequency value=8\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "marker trigger 1:1 100011\n"
	    "block 100011 2/2 ->100013 64 sec0\n"
	    "marker trigger 1:2 100013\n"
	    "async 100013 ->100000\n"
	    "block 100000 2/5 ->100005 64 sec0\n"
	    "marker ptwrite 4:22 100001\n"
	    "marker trigger 1:4 100005\n"
	    "async 100005 ->100010\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "disable 100011 async\n");
}

static void
calls_that_are_counted_are_returned_to(void **state)
{
	/* 0: call 8; 5: nop; 8: nop; 9: ret */
	static const uint8_t code[] = { 0xe8, 0x03, 0x00, 0x00, 0x00, 0x90,
		0x90, 0x90, 0x90, 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_trig(&p, 1, PT_TRIG_COUNT, 2);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 6);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "block 100008 1/1 ->100009 64 sec0\n"
	    "marker trigger 1:1 100009\n"
	    "block 100009 1/1 return ->100005 taken 64 sec0\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
}

static void
a_trigger_with_an_address_is_there(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_trig(&p, 1, PT_TRIG_COUNT | PT_TRIG_IP, 0);
	pt_fup(&p, PT_IP_16, BASE + 2);
	pt_trig(&p, 2, PT_TRIG_COUNT, 1);
	pt_leave_at(&p, BASE + 4);
	check(NULL, 0, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/2 ->100002 64 sec0\n"
	    "marker trigger 1:1 100002\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "marker trigger 1:2 100003\n"
	    "block 100003 1/1 ->100004 64 sec0\n"
	    "disable 100004 async\n");
}

/* A FUP of an interrupt, and its TIP: triggers are at both addresses. */
static void
triggers_of_an_interrupt_are_at_its_addresses(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_trig(&p, 1, PT_TRIG_COUNT, 0);
	pt_tip(&p, PT_IP_16, BASE + 0x10);
	pt_trig(&p, 2, PT_TRIG_COUNT, 1);
	pt_leave_at(&p, BASE + 0x12);
	check(NULL, 0, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "marker trigger 1:1 100001\n"
	    "async 100001 ->100010\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "marker trigger 1:2 100011\n"
	    "block 100011 1/1 ->100012 64 sec0\n"
	    "disable 100012 async\n");
}

static void
without_a_count_or_tracing_the_place_is_not_known(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus_off(&p, 64);
	pt_trig(&p, 1, PT_TRIG_COUNT, 0);
	pt_trig(&p, 2, PT_TRIG_MULTIPLE, 0);
	pt_pge(&p, PT_IP_48_SIGNED, BASE);
	pt_trig(&p, 4, 0, 0);
	pt_leave_at(&p, BASE + 1);
	check(NULL, 0, &p,
	    "mode value=0 status 64\n"
	    "marker trigger 1:1\n"
	    "marker trigger 1:2 multiple\n"
	    "enable 100000\n"
	    "marker trigger 1:4\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

/* More instructions than come before the next outcome. */
static void
a_count_that_the_code_does_not_reach_contradicts(void **state)
{
	/* 0: nop; 1: jne 1 */
	static const uint8_t code[] = { 0x90, 0x75, 0xfe };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_trig(&p, 1, PT_TRIG_COUNT, 3); /* to 20 */
	pt_leave_at(&p, BASE + 4);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 64 sec0\n"
	    "gap bad-flow [1b,20) before=100000 after=100004 @20\n"
	    "disable 100004 async\n");
}

/* A count of 65535, over many flows. */
static void
a_large_count_is_counted_to_its_end(void **state)
{
	static uint8_t code[5 * 13108];
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev;
	struct hwtd_event rows[64];
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 64 };
	uint64_t insns = 0;
	bool found = false;
	int rc;

	(void)state;
	memset(code, 0x90, sizeof(code));
	/* jmp over one nop, and two nops: three instructions in five bytes. */
	for (size_t i = 0; i + 5 <= sizeof(code); i += 5)
		memcpy(code + i, "\xeb\x01\x90\x90\x90", 5);
	pt_psb_plus(&p, BASE, 64);
	pt_trig(&p, 1, PT_TRIG_COUNT, 30000);
	pt_leave_at(&p, BASE + 50003);
	(void)mt_code(trace, BASE, code, sizeof(code));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_int_equal(hwtd_events_open(trace, &native, &ev, &err), HWTD_OK);
	while ((rc = hwtd_events_read(ev, &batch, &err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++) {
			insns += rows[i].insns;
			if (rows[i].kind == HWTD_EV_GAP)
				fail_msg("%s", batch.gaps[rows[i].value].text);
			if (rows[i].kind != HWTD_EV_MARKER)
				continue;
			found = true;
			assert_int_equal(insns, 30000);
			assert_int_equal(rows[i].ip, BASE + 50000);
		}
	assert_int_equal(rc, HWTD_END);
	assert_true(found);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_counted_over_direct_jumps),
		cmocka_unit_test(
		    they_are_counted_from_outcomes_and_addresses_on),
		cmocka_unit_test(they_are_counted_from_the_last_trigger_on),
		cmocka_unit_test(instructions_that_a_ptw_passes_are_counted),
		cmocka_unit_test(
		    what_was_passed_before_an_address_is_not_counted),
		cmocka_unit_test(calls_that_are_counted_are_returned_to),
		cmocka_unit_test(a_trigger_with_an_address_is_there),
		cmocka_unit_test(
		    triggers_of_an_interrupt_are_at_its_addresses),
		cmocka_unit_test(
		    without_a_count_or_tracing_the_place_is_not_known),
		cmocka_unit_test(
		    a_count_that_the_code_does_not_reach_contradicts),
		cmocka_unit_test(a_large_count_is_counted_to_its_end),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
