/*
 * The native engine: 16-bit code, in which addresses hold the base of CS, and
 * branches of 16 bits in other code.
 *
 * Source: Intel SDM vol. 1, "Modes of Operation" and "Calling Procedures Using
 * CALL and RET"; vol. 2, "JMP - Jump": IP is cut to 16 bits, then comes the base.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

static const struct hwtd_events_options native = { .size = sizeof(native),
	.engine = "native" };

static void
check(uint64_t base, const void *code, size_t n, struct pt_packets *p,
    const char *lines)
{
	struct hwtd_trace *trace = mt_nops_after(base, code, n, p);

	assert_rows(trace, &native, lines);
	hwtd_trace_close(trace);
	pt_free(p);
}

/* CS 1fff: its base is no multiple of 64 KiB. */
static void
a_segment_lies_on_both_sides_of_64_kib(void **state)
{
	/* 1fff0: jmp 20002; 1fff2: nops; 20000: jne 1fffa */
	static const uint8_t code[] = { 0xeb, 0x10, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x75, 0xf6 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 0x1fff0, 16);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, 0x20005);
	check(0x1fff0, code, sizeof(code), &p,
	    "mode value=0 1fff0 status 16\n"
	    "block 1fff0 1/2 jump ->20002 taken 16 sec0\n"
	    "block 20002 1/2 conditional ->1fffa taken 16 sec0\n"
	    "block 1fffa 9/10 conditional ->20004 16 sec0\n"
	    "block 20004 1/1 ->20005 16 sec0\n"
	    "disable 20005 async\n");
}

static void
calls_return_on_the_other_side_of_64_kib(void **state)
{
	/* 1fffc: call 20001; 1ffff: nop; 20000: nop; 20001: ret */
	static const uint8_t code[] = { 0xe8, 0x02, 0x00, 0x90, 0x90, 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 0x1fffc, 16);
	pt_tnt(&p, "T");
	pt_leave_at(&p, 0x20000);
	check(0x1fffc, code, sizeof(code), &p,
	    "mode value=0 1fffc status 16\n"
	    "block 1fffc 1/3 call ->20001 taken 16 sec0\n"
	    "block 20001 1/1 return ->1ffff taken 16 sec0\n"
	    "block 1ffff 1/1 ->20000 16 sec0\n"
	    "disable 20000 async\n");
}

/* CS 0: below address 0 there is nothing, so IP wraps. */
static void
ip_wraps_where_the_address_would_be_below_0(void **state)
{
	struct hwtd_trace *trace = mt_create();
	/* 4: jmp fff6 */
	static const uint8_t low[] = { 0xeb, 0xf0 }, high[] = { 0x90, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 4, 16);
	pt_leave_at(&p, 0xfff7);
	(void)mt_code(trace, 4, low, sizeof(low));
	(void)mt_code(trace, 0xfff6, high, sizeof(high));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 4 status 16\n"
	    "block 4 1/2 jump ->fff6 taken 16 sec0\n"
	    "block fff6 1/1 ->fff7 16 sec1\n"
	    "disable fff7 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* CS f000: IP wraps from ffff to 10, but the trace does not tell of CS. */
static void
an_ip_that_wraps_elsewhere_is_a_gap(void **state)
{
	struct hwtd_trace *trace = mt_create();
	/* ffffe: jmp f0010, as it is; 100010, as if CS went on there */
	static const uint8_t end[] = { 0xeb, 0x10 }, begin[] = { 0x75, 0xfe };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 0xffffe, 16); /* to 1b */
	pt_tnt(&p, "N"); /* to 1c */
	pt_fup(&p, PT_IP_32, 0xf0012); /* to 21 */
	pt_tip(&p, PT_IP_16, 0xf0012); /* to 24 */
	pt_leave_at(&p, 0xf0013);
	(void)mt_code(trace, 0xffffe, end, sizeof(end));
	(void)mt_code(trace, 0xf0010, begin, sizeof(begin));
	(void)mt_code(trace, 0xf0012, "\x90\x90", 2);
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 ffffe status 16\n"
	    "block ffffe 1/2 jump ->100010 taken 16 sec0\n"
	    "gap no-code [1b,1c) before=ffffe after=f0012 addr=100010 @1c\n"
	    "async f0012 ->f0012\n"
	    "block f0012 1/1 ->f0013 16 sec2\n"
	    "disable f0013 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* Prefix 66: what goes on at an address of 32 bits, and what at one of 16. */
static const uint8_t in_32[] = {
	0x66, 0x75, 0x02, /* 18000: jne 8005 */
	0x66, 0xe8, 0x01, 0x00, /* 18003: call 8008 */
};
static const uint8_t at_16[] = {
	0x66, 0xe2, 0x00, /* 8005: loop 8008 */
	0x66, 0xc3, /* 8008: ret */
	0x90, 0x90, /* 800a */
	0x66, 0xe8, 0xf8, 0xff, /* 800c: call 8008 */
	0x90, /* 8010 */
};

static void
operand_size_16_cuts_branches_of_32_bit_code(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 0x18000, 32);
	pt_tnt(&p, "N");
	/* It pops 16 bits of 18007, and does not match that. */
	pt_tip(&p, PT_IP_32, 0x800c);
	/* It matches 8010. */
	pt_tnt(&p, "T");
	pt_leave_at(&p, 0x8010);
	pt_pge(&p, PT_IP_32, 0x18000);
	pt_tnt(&p, "TN");
	pt_tip(&p, PT_IP_32, 0x800a);
	pt_leave_at(&p, 0x800b);
	(void)mt_code(trace, 0x18000, in_32, sizeof(in_32));
	(void)mt_code(trace, 0x8005, at_16, sizeof(at_16));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 18000 status 32\n"
	    "block 18000 1/3 conditional ->18003 32 sec0\n"
	    "block 18003 1/4 call ->8008 taken 32 sec0\n"
	    "block 8008 1/2 return ->800c taken 32 sec1\n"
	    "block 800c 1/4 call ->8008 taken 32 sec1\n"
	    "block 8008 1/2 return ->8010 taken 32 sec1\n"
	    "disable 8010 async\n"
	    "enable 18000\n"
	    "block 18000 1/3 conditional ->8005 taken 32 sec0\n"
	    "block 8005 1/3 conditional ->8008 32 sec1\n"
	    "block 8008 1/2 return ->800a 32 sec1\n"
	    "block 800a 1/1 ->800b 32 sec1\n"
	    "disable 800b async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* "In 64-bit mode the operand size of near branches is 64 bits." */
static void
operand_size_16_does_nothing_in_64_bit_code(void **state)
{
	/* 18000: jne 18008; 18007: nop; 18008: ret */
	static const uint8_t code[] = { 0x66, 0x0f, 0x85, 0x01, 0x00, 0x00,
		0x00, 0x90, 0x66, 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 0x18000, 64);
	pt_tnt(&p, "T");
	pt_tip(&p, PT_IP_16, 0x18007);
	pt_leave_at(&p, 0x18008);
	check(0x18000, code, sizeof(code), &p,
	    "mode value=0 18000 status 64\n"
	    "block 18000 1/7 conditional ->18008 taken 64 sec0\n"
	    "block 18008 1/2 return ->18007 taken 64 sec0\n"
	    "block 18007 1/1 ->18008 64 sec0\n"
	    "disable 18008 async\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_segment_lies_on_both_sides_of_64_kib),
		cmocka_unit_test(calls_return_on_the_other_side_of_64_kib),
		cmocka_unit_test(ip_wraps_where_the_address_would_be_below_0),
		cmocka_unit_test(an_ip_that_wraps_elsewhere_is_a_gap),
		cmocka_unit_test(operand_size_16_cuts_branches_of_32_bit_code),
		cmocka_unit_test(operand_size_16_does_nothing_in_64_bit_code),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
