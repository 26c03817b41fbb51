/*
 * The libipt engine: rows of code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

static void
blocks_end_after_every_branch_whether_taken_or_not(void **state)
{
	static const uint8_t code[] = {
		0x90, 0x75, 0x01, 0x90, /* nop; jne +1; nop */
		0x90, 0x74, 0x01, /* nop; je +1 */
		0x90, 0xeb, 0x02, /* nop; jmp +2 */
		0x90, 0x90, 0xff, 0xe0, /* nop; nop; jmp *%rax */
		0x90, 0x90 /* nop; nop */
	};
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "TN");
	pt_tip(&p, PT_IP_16, BASE + 0xe);
	pt_leave_at(&p, BASE + 0xf);
	/* The indirect jump goes to the next instruction: not "taken". */
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/3 conditional ->100004 taken 64 sec0\n"
	    "block 100004 2/3 conditional ->100007 64 sec0\n"
	    "block 100007 2/3 jump ->10000c taken 64 sec0\n"
	    "block 10000c 1/2 indirect-jump ->10000e 64 sec0\n"
	    "block 10000e 1/1 ->10000f 64 sec0\n"
	    "disable 10000f async\n");
	pt_free(&p);
}

static void
every_kind_of_branch_with_a_tip_has_its_name(void **state)
{
	static const struct {
		const char *name;
		uint8_t bytes[8];
		uint8_t length;
	} cases[] = {
		{ "indirect-jump", { 0xff, 0xe0 }, 2 },
		{ "indirect-jump", { 0xff, 0x25, 0, 0, 0, 0 }, 6 },
		{ "indirect-call", { 0xff, 0xd0 }, 2 },
		{ "indirect-call", { 0xff, 0x15, 0, 0, 0, 0 }, 6 },
		{ "return", { 0xc3 }, 1 },
		{ "return", { 0xc2, 0x08, 0x00 }, 3 },
		{ "return", { 0xf3, 0xc3 }, 2 },
		{ "far-call", { 0x0f, 0x05 }, 2 },
		{ "far-call", { 0x0f, 0x34 }, 2 },
		{ "far-call", { 0xcc }, 1 },
		{ "far-call", { 0xcd, 0x80 }, 2 },
		{ "far-call", { 0xff, 0x18 }, 2 },
		{ "far-call", { 0x0f, 0x01, 0xc1 }, 3 },
		{ "far-jump", { 0xff, 0x28 }, 2 },
		{ "far-return", { 0xcb }, 1 },
		{ "far-return", { 0x48, 0xcb }, 2 },
		{ "far-return", { 0xcf }, 1 },
		{ "far-return", { 0x48, 0xcf }, 2 },
		{ "far-return", { 0x0f, 0x07 }, 2 },
		{ "far-return", { 0x0f, 0x35 }, 2 },
		{ "far-return", { 0x0f, 0x01, 0xc2 }, 3 },
		{ "far-return", { 0x0f, 0x01, 0xc3 }, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t code[0x40];
		struct pt_packets p = { 0 };
		char want[512];

		memset(code, 0x90, sizeof(code));
		memcpy(code + 1, cases[i].bytes, cases[i].length);
		pt_psb_plus(&p, BASE, 64);
		pt_tip(&p, PT_IP_16, BASE + 0x20);
		pt_leave_at(&p, BASE + 0x22);
		(void)snprintf(want, sizeof(want),
		    "mode value=0 100000 status 64\n"
		    "block 100000 2/%u %s ->100020 taken 64 sec0\n"
		    "block 100020 2/2 ->100022 64 sec0\n"
		    "disable 100022 async\n",
		    1u + cases[i].length, cases[i].name);
		assert_trace(mt_simple(BASE, code, sizeof(code), &p), want);
		pt_free(&p);
	}
}

static void
direct_branches_need_no_packet_and_end_blocks_all_the_same(void **state)
{
	static const uint8_t code[] = {
		0xeb, 0x01, 0x90, /* jmp 3; nop */
		0xe9, 0x01, 0x00, 0x00, 0x00, /* 3: jmp 9 */
		0x90, /* nop */
		0xe8, 0x02, 0x00, 0x00, 0x00, /* 9: call 10 */
		0x90, 0x90, /* e: nop; nop */
		0xc3 /* 10: ret */
	};
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "T"); /* The return is compressed. */
	pt_leave_at(&p, BASE + 0xf);
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 jump ->100003 taken 64 sec0\n"
	    "block 100003 1/5 jump ->100009 taken 64 sec0\n"
	    "block 100009 1/5 call ->100010 taken 64 sec0\n"
	    "block 100010 1/1 return ->10000e taken 64 sec0\n"
	    "block 10000e 1/1 ->10000f 64 sec0\n"
	    "disable 10000f async\n");
	pt_free(&p);
}

static void
jumps_and_calls_to_the_next_instruction_are_not_taken(void **state)
{
	static const uint8_t code[] = {
		0xeb, 0x00, /* jmp 2 */
		0xe8, 0x00, 0x00, 0x00, 0x00, /* call 7 */
		0x75, 0x00, /* jne 9 */
		0x90, 0x90 /* nop; nop */
	};
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 0xa);
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 jump ->100002 64 sec0\n"
	    "block 100002 1/5 call ->100007 64 sec0\n"
	    "block 100007 1/2 conditional ->100009 64 sec0\n"
	    "block 100009 1/1 ->10000a 64 sec0\n"
	    "disable 10000a async\n");
	pt_free(&p);
}

static void
each_pass_of_a_loop_is_a_block(void **state)
{
	static const uint8_t code[] = {
		0x90, 0x90, 0xe2, 0xfc, 0x90, 0x90 /* nop; nop; loop; nop */
	};
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "TTN");
	pt_leave_at(&p, BASE + 5);
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 3/4 conditional ->100000 taken 64 sec0\n"
	    "block 100000 3/4 conditional ->100000 taken 64 sec0\n"
	    "block 100000 3/4 conditional ->100004 64 sec0\n"
	    "block 100004 1/1 ->100005 64 sec0\n"
	    "disable 100005 async\n");
	pt_free(&p);
}

static void
at_instruction_level_only_the_last_of_a_block_has_the_branch(void **state)
{
	static const struct hwtd_events_options opts = {
		.size = sizeof(opts),
		.level = HWTD_LEVEL_INSN,
	};
	static const uint8_t code[] = {
		0x90, 0x48, 0x89, 0xc3, 0x75, 0x01, /* nop; mov; jne +1 */
		0x90, 0x0f, 0x1f, 0x00, 0x90 /* nop; nopl; nop */
	};
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE + 0xa);
	trace = mt_simple(BASE, code, sizeof(code), &p);
	assert_rows(trace, &opts,
	    "mode value=0 100000 status 64\n"
	    "insn 100000 1/1 64 sec0\n"
	    "insn 100001 1/3 64 sec0\n"
	    "insn 100004 1/2 conditional ->100007 taken 64 sec0\n"
	    "insn 100007 1/3 ->10000a 64 sec0\n"
	    "disable 10000a async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* libipt ends a block after 65535 instructions; that is no end of ours. */
static void
a_long_straight_run_is_one_block(void **state)
{
	const size_t n = 200000;
	uint8_t *code = malloc(n + 3);
	struct pt_packets p = { 0 };

	(void)state;
	assert_non_null(code);
	memset(code, 0x90, n + 3);
	code[n] = 0xff;
	code[n + 1] = 0xe0;
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_32, BASE);
	pt_leave_at(&p, BASE + 100000);
	assert_trace(mt_simple(BASE, code, n + 3, &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 200001/200002 indirect-jump ->100000 taken 64 sec0\n"
	    "block 100000 100000/100000 ->1186a0 64 sec0\n"
	    "disable 1186a0 async\n");
	pt_free(&p);
	free(code);
}

static void
a_change_of_section_ends_a_block(void **state)
{
	static const uint8_t first[] = { 0x90, 0x90, 0x90 };
	static const uint8_t second[] = { 0x90, 0x90, 0xff, 0xe0 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_32, BASE);
	pt_leave_at(&p, BASE + 4);
	mt_code(trace, BASE + 3, second, sizeof(second));
	mt_code(trace, BASE, first, sizeof(first));
	mt_stream(trace, &p, NULL);
	assert_trace(mt_seal(trace),
	    "mode value=0 100000 status 64\n"
	    "block 100000 3/3 ->100003 64 sec1\n"
	    "block 100003 3/4 indirect-jump ->100000 taken 64 sec0\n"
	    "block 100000 3/3 ->100003 64 sec1\n"
	    "block 100003 1/1 ->100004 64 sec0\n"
	    "disable 100004 async\n");
	pt_free(&p);
}

static void
an_instruction_across_two_sections_belongs_to_the_first(void **state)
{
	static const uint8_t first[] = { 0x90, 0x48, 0x89 }; /* nop; mov... */
	static const uint8_t second[] = { 0xc3, 0x90, 0x90 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE + 5);
	mt_code(trace, BASE, first, sizeof(first));
	mt_code(trace, BASE + 3, second, sizeof(second));
	mt_stream(trace, &p, NULL);
	assert_trace(mt_seal(trace),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/4 ->100004 64 sec0\n"
	    "block 100004 1/1 ->100005 64 sec1\n"
	    "disable 100005 async\n");
	pt_free(&p);
}

static void
a_later_image_hides_what_it_overlaps(void **state)
{
	static const uint8_t first[] = { 0x90, 0x90, 0xcc, 0xcc, 0x90, 0x90 };
	static const uint8_t second[] = { 0x66, 0x90 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE + 5);
	mt_code(trace, BASE, first, sizeof(first));
	mt_code(trace, BASE + 2, second, sizeof(second));
	mt_stream(trace, &p, NULL);
	assert_trace(mt_seal(trace),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/2 ->100002 64 sec0\n"
	    "block 100002 1/2 ->100004 64 sec1\n"
	    "block 100004 1/1 ->100005 64 sec0\n"
	    "disable 100005 async\n");
	pt_free(&p);
}

static void
a_psb_inside_straight_code_ends_no_block(void **state)
{
	static const uint8_t code[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_psb_plus(&p, BASE + 3, 64);
	pt_leave_at(&p, BASE + 5);
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 5/5 ->100005 64 sec0\n"
	    "disable 100005 async\n");
	pt_free(&p);
}

static void
a_marker_inside_straight_code_ends_a_block(void **state)
{
	/* nop; ptwrite eax; nop; nop */
	static const uint8_t code[] = { 0x90, 0xf3, 0x0f, 0xae, 0xe0, 0x90,
		0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_ptw(&p, 4, 0x12345678, 0);
	pt_leave_at(&p, BASE + 6);
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/5 ->100005 64 sec0\n"
	    "marker ptwrite 4:12345678 100001\n"
	    "block 100005 1/1 ->100006 64 sec0\n"
	    "disable 100006 async\n");
	pt_free(&p);
}

static void
code_of_16_and_32_bits_has_its_own_lengths(void **state)
{
	/*
	 * 16 bits: mov $0x9090, %ax; call 6; nop
	 * 32 bits: mov $0xe89090, %eax; nop...
	 */
	static const uint8_t code16[] = { 0xb8, 0x90, 0x90, 0xe8, 0x00, 0x00,
		0x90, 0x90 };
	static const uint8_t code32[] = { 0xb8, 0x90, 0x90, 0xe8, 0x00, 0x40,
		0x90, 0x90 };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = mt_create();

	(void)state;
	pt_psb_plus(&p, 0x1000, 16);
	pt_leave_at(&p, 0x1007);
	pt_mode_exec(&p, 32);
	pt_pge(&p, PT_IP_32, 0x80001000);
	pt_leave_at(&p, 0x80001007);
	mt_code(trace, 0x1000, code16, sizeof(code16));
	mt_code(trace, 0x80001000, code32, sizeof(code32));
	mt_stream(trace, &p, NULL);
	/* 40 is "inc %eax" in 32-bit code. */
	assert_trace(mt_seal(trace),
	    "mode value=0 1000 status 16\n"
	    "block 1000 2/6 call ->1006 16 sec0\n"
	    "block 1006 1/1 ->1007 16 sec0\n"
	    "disable 1007 async\n"
	    "enable 80001000\n"
	    "mode value=0 80001000 32\n"
	    "block 80001000 3/7 ->80001007 32 sec1\n"
	    "disable 80001007 async\n");
	pt_free(&p);
}

static void
a_string_instruction_counts_once(void **state)
{
	static const uint8_t code[] = { 0x90, 0xf3, 0xa4, 0x90, 0x90 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE + 4);
	assert_trace(mt_simple(BASE, code, sizeof(code), &p),
	    "mode value=0 100000 status 64\n"
	    "block 100000 3/4 ->100004 64 sec0\n"
	    "disable 100004 async\n");
	pt_free(&p);
}

static void
the_top_of_the_address_space_is_an_address(void **state)
{
	static const uint8_t code[] = { 0x90, 0x90, 0xff, 0xe0 };
	const uint64_t top = UINT64_MAX - 3;
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, top, 64);
	pt_tip(&p, PT_IP_64, top);
	pt_leave_at(&p, top + 1);
	assert_trace(mt_simple(top, code, sizeof(code), &p),
	    "mode value=0 fffffffffffffffc status 64\n"
	    "block fffffffffffffffc 3/4 indirect-jump ->fffffffffffffffc "
	    "taken 64 sec0\n"
	    "block fffffffffffffffc 1/1 ->fffffffffffffffd 64 sec0\n"
	    "disable fffffffffffffffd async\n");
	pt_free(&p);
}

static void
address_zero_is_an_address(void **state)
{
	static const uint8_t code[] = { 0x90, 0xff, 0xe0 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, 0, 64);
	pt_tip(&p, PT_IP_16, 0);
	pt_leave_at(&p, 1);
	assert_trace(mt_simple(0, code, sizeof(code), &p),
	    "mode value=0 0 status 64\n"
	    "block 0 2/3 indirect-jump ->0 taken 64 sec0\n"
	    "block 0 1/1 ->1 64 sec0\n"
	    "disable 1 async\n");
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    blocks_end_after_every_branch_whether_taken_or_not),
		cmocka_unit_test(every_kind_of_branch_with_a_tip_has_its_name),
		cmocka_unit_test(
		    direct_branches_need_no_packet_and_end_blocks_all_the_same),
		cmocka_unit_test(
		    jumps_and_calls_to_the_next_instruction_are_not_taken),
		cmocka_unit_test(each_pass_of_a_loop_is_a_block),
		cmocka_unit_test(
		    at_instruction_level_only_the_last_of_a_block_has_the_branch),
		cmocka_unit_test(a_long_straight_run_is_one_block),
		cmocka_unit_test(a_change_of_section_ends_a_block),
		cmocka_unit_test(
		    an_instruction_across_two_sections_belongs_to_the_first),
		cmocka_unit_test(a_later_image_hides_what_it_overlaps),
		cmocka_unit_test(a_psb_inside_straight_code_ends_no_block),
		cmocka_unit_test(a_marker_inside_straight_code_ends_a_block),
		cmocka_unit_test(code_of_16_and_32_bits_has_its_own_lengths),
		cmocka_unit_test(a_string_instruction_counts_once),
		cmocka_unit_test(the_top_of_the_address_space_is_an_address),
		cmocka_unit_test(address_zero_is_an_address),
	};

	mt_use_engine("libipt");
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
