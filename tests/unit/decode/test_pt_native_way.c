/*
 * The native engine: ways that are known by now lead where they led when they
 * were not, and PSB+ that is the same again tells what is new about it.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions" (TIP.PGD, FUP, PSB).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u
/* Other images, a page each. */
#define IMAGE(n) (BASE + 0x1000u * (n))

static const struct hwtd_events_options native = { .size = sizeof(native),
	.engine = "native" };

static void
check(struct hwtd_trace *trace, struct pt_packets *p, const char *lines)
{
	(void)mt_stream(trace, p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native, lines);
	hwtd_trace_close(trace);
	pt_free(p);
}

/* jmp to the start of the next image. */
static void
put_jump(struct hwtd_trace *trace, unsigned int image)
{
	static const uint8_t jump[] = { 0xe9, 0xfb, 0x0f, 0x00, 0x00 };

	(void)mt_code(trace, IMAGE(image), jump, sizeof(jump));
}

static void
put_nops(struct hwtd_trace *trace, unsigned int image, const char *end)
{
	uint8_t code[16];

	memset(code, 0x90, sizeof(code));
	memcpy(code + 2, end, strlen(end));
	(void)mt_code(trace, IMAGE(image), code, sizeof(code));
}

/* Ways to where tracing goes off. */

static void
a_branch_out_of_the_filter_is_passed_each_time(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_jump(trace, 0);
	put_nops(trace, 1, "\xff\xe0"); /* jmp *%rax */
	pt_psb_plus(&p, BASE, 64);
	for (unsigned int i = 0; i < 3; i++) {
		pt_pgd(&p, PT_IP_32, 0x200000);
		pt_pge(&p, PT_IP_32, BASE);
	}
	pt_pgd(&p, PT_IP_32, 0x300000);
#define ROUND                                                                 \
	"block 100000 1/5 jump ->101000 taken 64 sec0\n"                      \
	"block 101000 3/4 indirect-jump ->200000 taken 64 sec1\n"             \
	"disable ->200000\n"                                                  \
	"enable 100000\n"
	check(trace, &p,
	    "mode value=0 100000 status 64\n" ROUND ROUND ROUND
	    "block 100000 1/5 jump ->101000 taken 64 sec0\n"
	    "block 101000 3/4 indirect-jump ->300000 taken 64 sec1\n"
	    "disable ->300000\n");
#undef ROUND
}

/* nop; nop; call *%rax; jmp to BASE */
static void
a_call_out_of_the_filter_comes_back_each_time(void **state)
{
	static const uint8_t code[] = { 0x90, 0x90, 0xff, 0xd0, 0xe9, 0xf7,
		0xef, 0xff, 0xff };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_jump(trace, 0);
	(void)mt_code(trace, IMAGE(1), code, sizeof(code));
	pt_psb_plus(&p, BASE, 64);
	for (unsigned int i = 0; i < 3; i++) {
		pt_pgd(&p, PT_IP_32, 0x200000);
		pt_pge(&p, PT_IP_32, IMAGE(1) + 4);
	}
	pt_leave_at(&p, BASE);
#define CALL                                                                  \
	"block 100000 1/5 jump ->101000 taken 64 sec0\n"                      \
	"block 101000 3/4 indirect-call ->200000 taken 64 sec1\n"             \
	"disable ->200000\n"                                                  \
	"enable 101004 resumed\n"
#define BACK "block 101004 1/5 jump ->100000 taken 64 sec1\n"
	check(trace, &p,
	    "mode value=0 100000 status 64\n" CALL BACK CALL BACK CALL BACK
	    "disable 100000 async\n");
#undef CALL
#undef BACK
}

/* The address is where the code at hand goes on in another image. */
static void
a_jump_to_the_address_is_the_branch_out(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_jump(trace, 0);
	put_nops(trace, 1, "\xff\xe0");
	pt_psb_plus(&p, BASE, 64);
	/* Make the other image known. */
	pt_tip(&p, PT_IP_32, BASE);
	for (unsigned int i = 0; i < 2; i++) {
		pt_pgd(&p, PT_IP_32, IMAGE(1));
		pt_pge(&p, PT_IP_32, BASE);
	}
	pt_leave_at(&p, BASE);
#define ROUND                                                                 \
	"block 100000 1/5 jump ->101000 taken 64 sec0\n"                      \
	"disable ->101000\n"                                                  \
	"enable 100000\n"
	check(trace, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 jump ->101000 taken 64 sec0\n"
	    "block 101000 3/4 indirect-jump ->100000 taken 64 sec1\n" ROUND
		ROUND "disable 100000 async\n");
#undef ROUND
}

/* The address is behind the branch, in code that goes on there. */
static void
a_call_that_is_followed_ends_at_the_address(void **state)
{
	/* 0: nop; 1: call 8; 8: nop; 9: jmp *%rax */
	static const uint8_t code[] = { 0x90, 0xe8, 0x02, 0x00, 0x00, 0x00,
		0x90, 0x90, 0x90, 0xff, 0xe0 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	(void)mt_code(trace, BASE, code, sizeof(code));
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_16, BASE);
	for (unsigned int i = 0; i < 2; i++) {
		pt_pgd(&p, PT_IP_16, BASE + 8);
		pt_pge(&p, PT_IP_16, BASE + 6);
		pt_pgd(&p, PT_IP_32, 0x200000);
		pt_pge(&p, PT_IP_32, BASE);
	}
	pt_leave_at(&p, BASE + 1);
#define ROUND                                                                 \
	"block 100000 2/6 call ->100008 taken 64 sec0\n"                      \
	"disable ->100008\n"                                                  \
	"enable 100006 resumed\n"                                             \
	"block 100006 4/5 indirect-jump ->200000 taken 64 sec0\n"             \
	"disable ->200000\n"                                                  \
	"enable 100000\n"
	check(trace, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/6 call ->100008 taken 64 sec0\n"
	    "block 100008 2/3 indirect-jump ->100000 taken 64 sec0\n" ROUND
		ROUND "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
#undef ROUND
}

static void
a_long_way_is_passed_each_time(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 7; i++)
		put_jump(trace, i);
	put_nops(trace, 7, "\xff\xe0");
	pt_psb_plus(&p, BASE, 64);
	pt_pgd(&p, PT_IP_32, 0x200000);
	pt_pge(&p, PT_IP_32, BASE);
	pt_pgd(&p, PT_IP_32, 0x200000);
#define ROUND                                                                 \
	"block 100000 1/5 jump ->101000 taken 64 sec0\n"                      \
	"block 101000 1/5 jump ->102000 taken 64 sec1\n"                      \
	"block 102000 1/5 jump ->103000 taken 64 sec2\n"                      \
	"block 103000 1/5 jump ->104000 taken 64 sec3\n"                      \
	"block 104000 1/5 jump ->105000 taken 64 sec4\n"                      \
	"block 105000 1/5 jump ->106000 taken 64 sec5\n"                      \
	"block 106000 1/5 jump ->107000 taken 64 sec6\n"                      \
	"block 107000 3/4 indirect-jump ->200000 taken 64 sec7\n"             \
	"disable ->200000\n"
	check(trace, &p,
	    "mode value=0 100000 status 64\n" ROUND "enable 100000\n" ROUND);
#undef ROUND
}

static void
tracing_goes_off_at_the_same_mov_to_cr3_again(void **state)
{
	/* mov %rax, %cr3; nop; jmp *%rax */
	static const uint8_t code[] = { 0x0f, 0x22, 0xd8, 0x90, 0xff, 0xe0 };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	(void)mt_code(trace, BASE, code, sizeof(code));
	pt_psb_plus(&p, BASE, 64);
	/* All of it is known then. */
	pt_tip(&p, PT_IP_16, BASE);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_pge(&p, PT_IP_16, BASE);
	pt_pgd(&p, PT_IP_NONE, 0);
	check(trace, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 3/6 indirect-jump ->100000 taken 64 sec0\n"
	    "block 100000 1/3 64 sec0\n"
	    "disable\n"
	    "enable 100000\n"
	    "block 100000 1/3 64 sec0\n"
	    "disable\n");
}

/* Ways to an address. */

static void
interrupts_in_another_image_are_where_they_were(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_jump(trace, 0);
	put_nops(trace, 1, "\xff\xe0");
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_32, BASE);
	for (unsigned int i = 0; i < 2; i++) {
		pt_fup(&p, PT_IP_32, IMAGE(1) + 1);
		pt_tip(&p, PT_IP_32, BASE);
	}
	pt_fup(&p, PT_IP_32, IMAGE(1));
	pt_tip(&p, PT_IP_32, BASE);
	pt_leave_at(&p, BASE);
#define ROUND                                                                 \
	"block 100000 1/5 jump ->101000 taken 64 sec0\n"                      \
	"block 101000 1/1 ->101001 64 sec1\n"                                 \
	"async 101001 ->100000\n"
	check(trace, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 jump ->101000 taken 64 sec0\n"
	    "block 101000 3/4 indirect-jump ->100000 taken 64 sec1\n" ROUND
		ROUND "block 100000 1/5 jump ->101000 taken 64 sec0\n"
	    "async 101000 ->100000\n"
	    "disable 100000 async\n");
#undef ROUND
}

static void
a_known_way_that_misses_the_address_is_a_gap(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_jump(trace, 0);
	put_nops(trace, 1, "\xff\xe0");
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tip(&p, PT_IP_32, BASE); /* to 20 */
	pt_fup(&p, PT_IP_32, IMAGE(1) + 0xc); /* to 25 */
	pt_tip(&p, PT_IP_32, BASE); /* to 2a */
	pt_leave_at(&p, BASE);
	check(trace, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 jump ->101000 taken 64 sec0\n"
	    "block 101000 3/4 indirect-jump ->100000 taken 64 sec1\n"
	    "block 100000 1/5 jump ->101000 taken 64 sec0\n"
	    "block 101000 2/2 64 sec1\n"
	    "gap bad-flow [20,2a) before=101001 after=100000 @2a\n"
	    "disable 100000 async\n");
}

/* PSB+ again. */

static void
put_status(struct pt_packets *p)
{
	pt_psb(p);
	pt_mode_exec(p, 64);
	pt_mode_tsx(p, PT_TSX_COMMIT);
	pt_pip(p, 0x1000, 0);
	pt_vmcs(p, 0x5000);
	pt_cbr(p, 16);
	pt_psbend(p);
}

static void
the_same_psb_restates_what_has_changed(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_nops(trace, 0, "\xff\xe0");
	put_status(&p);
	put_status(&p);
	pt_pip(&p, 0x2000, 0);
	put_status(&p);
	pt_cbr(&p, 20);
	pt_mode_tsx(&p, PT_TSX_BEGIN);
	put_status(&p);
	pt_vmcs(&p, 0x6000);
	put_status(&p);
	put_status(&p);
	check(trace, &p,
	    "mode value=0 status 64\n"
	    "context cr3=1000 vmcs=5000 status\n"
	    "frequency value=10 status\n"
	    "context cr3=2000 vmcs=5000\n"
	    "context cr3=1000 vmcs=5000 status\n"
	    "frequency value=14\n"
	    "mode value=5 64\n"
	    "mode value=4 status 64\n"
	    "frequency value=10 status\n"
	    "context cr3=1000 vmcs=6000\n"
	    "context cr3=1000 vmcs=5000 status\n");
}

/* The address is compressed against that of the PSB+, which is the same. */
static void
addresses_behind_the_same_psb_are_based_on_it(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_nops(trace, 0, "\xff\xe0");
	put_nops(trace, 1, "\xff\xe0");
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_32, IMAGE(1));
	pt_tip(&p, PT_IP_32, BASE);
	pt_psb_plus(&p, BASE, 64);
	pt_tip(&p, PT_IP_16, BASE + 2);
	pt_tip(&p, PT_IP_16, BASE);
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE + 1);
	check(trace, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 3/4 indirect-jump ->101000 taken 64 sec0\n"
	    "block 101000 3/4 indirect-jump ->100000 taken 64 sec1\n"
	    "block 100000 3/4 indirect-jump ->100002 taken 64 sec0\n"
	    "block 100002 1/2 indirect-jump ->100000 taken 64 sec0\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

/* Erratum BDM70: tracing is off all the same if a TIP.PGE is behind it. */
static void
what_is_behind_the_same_psb_counts(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)state;
	put_nops(trace, 0, "\xff\xe0");
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE + 1);
	pt_psb_plus(&p, BASE, 64);
	pt_pge(&p, PT_IP_16, BASE);
	pt_leave_at(&p, BASE + 1);
	check(trace, &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n"
	    "enable 100000\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

static void
the_same_psb_may_be_cut_off(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	size_t first;

	(void)state;
	put_nops(trace, 0, "\xff\xe0");
	put_status(&p);
	first = p.n;
	put_status(&p);
	assert_int_equal(first, 0x29);
	p.n--;
	check(trace, &p,
	    "mode value=0 status 64\n"
	    "context cr3=1000 vmcs=5000 status\n"
	    "frequency value=10 status\n"
	    "gap truncated [29,51) @29\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_branch_out_of_the_filter_is_passed_each_time),
		cmocka_unit_test(
		    a_call_out_of_the_filter_comes_back_each_time),
		cmocka_unit_test(a_jump_to_the_address_is_the_branch_out),
		cmocka_unit_test(a_call_that_is_followed_ends_at_the_address),
		cmocka_unit_test(a_long_way_is_passed_each_time),
		cmocka_unit_test(
		    tracing_goes_off_at_the_same_mov_to_cr3_again),
		cmocka_unit_test(
		    interrupts_in_another_image_are_where_they_were),
		cmocka_unit_test(a_known_way_that_misses_the_address_is_a_gap),
		cmocka_unit_test(the_same_psb_restates_what_has_changed),
		cmocka_unit_test(
		    addresses_behind_the_same_psb_are_based_on_it),
		cmocka_unit_test(what_is_behind_the_same_psb_counts),
		cmocka_unit_test(the_same_psb_may_be_cut_off),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
