/*
 * The native engine: where it starts, goes on behind lost packets, and starts
 * again.
 *
 * Source: Intel SDM vol. 3C, "Packet Stream Boundary (PSB) Packet", "Overflow
 * (OVF) Packet"; the specification updates of the processors for errata.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

#define SKYLAKE 0x5e
#define APOLLO_LAKE 0x5c
#define BROADWELL 0x3d

static const struct hwtd_events_options native = { .size = sizeof(native),
	.engine = "native" };

/* Nops with something at their start, traced on a CPU of a model. */
static void
check_on(unsigned int model, const void *code, size_t n, struct pt_packets *p,
    const char *lines)
{
	struct hwtd_pt_config config = { .size = sizeof(config),
		.cpu_family = 6,
		.cpu_model = (uint8_t)model };
	struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.pt = &config };
	struct hwtd_trace *trace = mt_create();
	uint8_t bytes[64];

	memset(bytes, 0x90, sizeof(bytes));
	if (n > 0)
		memcpy(bytes, code, n);
	(void)mt_code(trace, BASE, bytes, sizeof(bytes));
	(void)mt_stream(trace, p, &desc);
	mt_seal(trace);
	assert_rows(trace, &native, lines);
	hwtd_trace_close(trace);
	pt_free(p);
}

static void
check(const void *code, size_t n, struct pt_packets *p, const char *lines)
{
	check_on(SKYLAKE, code, n, p, lines);
}

/* jne to itself: a bit for each pass. */
static const uint8_t jne[] = { 0x75, 0xfe };

static void
a_whole_pge_is_a_start_without_psb(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_tsc(&p, 5);
	pt_mode_exec(&p, 64);
	pt_pge(&p, PT_IP_48_SIGNED, BASE);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "enable 100000\n"
	    "block 100000 1/2 conditional ->100000 taken 64 sec0\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

static void
outcomes_are_no_start_without_psb(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_tnt(&p, "TN");
	pt_pge(&p, PT_IP_48_SIGNED, BASE);
	check(jne, sizeof(jne), &p, "gap unsynced [0,8) @0\n");
}

static void
psb_plus_without_its_end_ends_where_tracing_begins(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_mode_exec(&p, 64);
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 9);
	pt_tsc(&p, 5);
	pt_cbr(&p, 8);
	pt_pge(&p, PT_IP_16, BASE);
	pt_tnt(&p, "N");
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 status 64\n"
	    "frequency value=8 status\n"
	    "enable 100000\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

static void
a_damaged_psb_plus_is_lost_up_to_the_next_psb(void **state)
{
	static const uint8_t unknown[] = { 0x02, 0xff };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_fup(&p, PT_IP_48_SIGNED, BASE); /* 10 to 17 */
	pt_raw(&p, unknown, sizeof(unknown)); /* to 19 */
	pt_psb_plus(&p, BASE + 2, 64);
	pt_leave_at(&p, BASE + 3);
	check(NULL, 0, &p,
	    "gap bad-packet [0,19) after=100002 @0\n"
	    "mode value=0 100002 status 64\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

static void
psb_plus_elsewhere_than_the_code_leads_contradicts(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tnt(&p, "T");
	pt_psb_plus(&p, BASE + 0x10, 64);
	pt_leave_at(&p, BASE + 0x11);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional 64 sec0\n"
	    "gap bad-flow [1c,1c) before=100000 after=100010 @1c\n"
	    "mode value=0 100010 status 64\n"
	    "block 100010 1/1 ->100011 64 sec0\n"
	    "disable 100011 async\n");
}

static void
a_fup_in_psb_plus_while_tracing_is_off_is_no_address(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE + 9, 64);
	pt_pge(&p, PT_IP_16, BASE + 2);
	pt_leave_at(&p, BASE + 3);
	check(NULL, 0, &p,
	    "mode value=0 status 64\n"
	    "enable 100002\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Overflows. */

static void
addresses_behind_an_overflow_are_compared_with_0(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	uint8_t bytes[16];

	(void)state;
	memset(bytes, 0x90, sizeof(bytes));
	pt_psb_plus(&p, 0x7ffff0000000, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_fup(&p, PT_IP_32, BASE); /* to 22 */
	pt_leave_at(&p, BASE + 1);
	(void)mt_code(trace, BASE, bytes, sizeof(bytes));
	(void)mt_code(trace, 0x7ffff0000000, jne, sizeof(jne));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 7ffff0000000 status 64\n"
	    "gap overflow [22,22) after=100000 @22\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
psb_plus_can_end_with_an_overflow(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_mode_exec(&p, 64);
	pt_ovf(&p); /* to 14 */
	pt_fup(&p, PT_IP_48_SIGNED, BASE); /* to 1b */
	pt_leave_at(&p, BASE + 1);
	check(NULL, 0, &p,
	    "mode value=0 status 64\n"
	    "gap overflow [1b,1b) after=100000 @1b\n"
	    "block 100000 1/1 ->100001 64 sec0\n"
	    "disable 100001 async\n");
}

static void
what_is_between_an_overflow_and_its_fup_is_told(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_mnt(&p, 0x77); /* to 28 */
	pt_cbr(&p, 9); /* to 2c */
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 2); /* to 33 */
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "marker mnt 8:77\n"
	    "frequency value=9\n"
	    "gap overflow [33,33) after=100002 @33\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* What the first OVF leaves open the second one says. */
static void
behind_a_second_overflow_a_psb_is_led_to(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_ovf(&p); /* to 1f */
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 2); /* to 26 */
	pt_psb_plus(&p, BASE + 4, 64);
	pt_leave_at(&p, BASE + 5);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap overflow [1d,1d) @1d\n"
	    "gap overflow [26,26) after=100002 @26\n"
	    "block 100002 3/3 ->100005 64 sec0\n"
	    "disable 100005 async\n");
}

/* The same of what is lost behind an OVF, and where decoding goes on. */
static void
behind_a_gap_a_psb_is_led_to(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_tnt(&p, "N"); /* to 1e */
	pt_tip(&p, PT_IP_48_SIGNED, BASE + 2); /* to 25 */
	pt_psb_plus(&p, BASE + 4, 64);
	pt_leave_at(&p, BASE + 5);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap overflow [1d,1d) @1d\n"
	    "gap bad-flow [1d,25) after=100002 @1e\n"
	    "block 100002 3/3 ->100005 64 sec0\n"
	    "disable 100005 async\n");
}

/* Erratum SKD010: the FUP behind an OVF is lost. */
static void
a_context_before_the_tip_behind_an_overflow_holds(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_pip(&p, 0x3000, 0); /* to 25 */
	pt_tip(&p, PT_IP_48_SIGNED, BASE + 2); /* to 2c */
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "context cr3=3000\n"
	    "gap overflow [2c,2c) after=100002 @2c\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Erratum SKD010: the FUP behind an OVF is lost. */
static void
a_tip_tells_where_execution_is_behind_an_overflow(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_tip(&p, PT_IP_48_SIGNED, BASE + 2); /* to 24 */
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap overflow [24,24) after=100002 @24\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Errata SKD010 and APL11. */
static void
behind_an_overflow_and_a_pgd_tracing_is_off(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p);
	pt_pgd(&p, PT_IP_NONE, 0); /* to 1e */
	pt_pge(&p, PT_IP_48_SIGNED, BASE + 2);
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap overflow [1e,1e) @1e\n"
	    "enable 100002\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

static void
outcomes_behind_an_overflow_are_of_unknown_code(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_tnt(&p, "TT"); /* to 1e */
	pt_tip(&p, PT_IP_48_SIGNED, BASE + 2); /* to 25 */
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap overflow [1d,1d) @1d\n"
	    "gap bad-flow [1d,25) after=100002 @1e\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Erratum APL12: a FUP behind an OVF though tracing is off. */
static void
a_pge_behind_an_overflow_and_fup_takes_the_fup_back(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 9); /* to 24 */
	pt_pge(&p, PT_IP_16, BASE + 2);
	pt_leave_at(&p, BASE + 3);
	check_on(APOLLO_LAKE, jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap overflow [24,24) @24\n"
	    "enable 100002\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Erratum SKD010, and what else tells of the time that was lost. */
static void
markers_between_an_overflow_and_a_tip_are_told(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_ptw(&p, 4, 0x11, 0);
	pt_trig(&p, 3, PT_TRIG_COUNT, 2);
	pt_mwait(&p, 0x20, 1);
	pt_exstop(&p, 0);
	pt_pwre(&p, 3, 2, 0);
	pt_pwrx(&p, 2, 3, PT_WAKE_STORE);
	pt_mode_tsx(&p, PT_TSX_BEGIN);
	pt_ptw(&p, 8, 0x22, 1); /* to 4b */
	pt_tip(&p, PT_IP_48_SIGNED, BASE + 2); /* to 52 */
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "marker ptwrite 4:11\n"
	    "marker trigger 1:3\n"
	    "power mwait hints=20 extensions=1\n"
	    "power stop\n"
	    "power entry state=3 sub=2 hw=0 wake=0\n"
	    "power exit state=2 sub=3 hw=0 wake=2\n"
	    "marker ptwrite 8:22\n"
	    "gap overflow [52,52) after=100002 @52\n"
	    "mode value=5 64\n"
	    "block 100002 1/1 ->100003 speculative 64 sec0\n"
	    "disable 100003 async\n");
}

static void
markers_between_an_overflow_and_a_pgd_are_told(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_ptw(&p, 4, 0x11, 0); /* to 23 */
	pt_exstop(&p, 1); /* to 25 */
	pt_pgd(&p, PT_IP_NONE, 0); /* to 26 */
	pt_pge(&p, PT_IP_48_SIGNED, BASE + 2);
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "marker ptwrite 4:11\n"
	    "power stop\n"
	    "gap overflow [26,26) @26\n"
	    "enable 100002\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* The FUP is that of PTW and EXSTOP: it says where execution was. */
static void
markers_behind_an_overflow_have_the_address_of_their_fup(void **state)
{
	/* 0: jne 0; 2: ptwrite %eax; 6: nop... */
	static const uint8_t code[] = { 0x75, 0xfe, 0xf3, 0x0f, 0xae, 0xe0 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_pwrx(&p, 2, 3, PT_WAKE_INTERRUPT); /* to 24 */
	pt_ptw(&p, 4, 0x22, 1); /* to 2a */
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 2); /* to 31 */
	pt_leave_at(&p, BASE + 7);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "power exit state=2 sub=3 hw=0 wake=1\n"
	    "gap overflow [2a,2a) after=100002 @2a\n"
	    "block 100002 1/4 ->100006 64 sec0\n"
	    "marker ptwrite 4:22 100002\n"
	    "block 100006 1/1 ->100007 64 sec0\n"
	    "disable 100007 async\n");
}

/* A page fault behind an OVF: the FUP is that of the CFE, and of the branch. */
static void
an_event_behind_an_overflow_has_the_address_of_its_fup(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_cfe(&p, 7, 0, 0); /* VM entry, to 21 */
	pt_evd(&p, 0, 0x1234); /* to 2c */
	pt_cfe(&p, 1, 14, 1); /* to 30 */
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 2); /* to 37 */
	pt_tip(&p, PT_IP_16, BASE + 8);
	pt_leave_at(&p, BASE + 9);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "async vm-entry\n"
	    "gap overflow [30,30) after=100002 @30\n"
	    "async interrupt number=14 fault=1234 100002 ->100008\n"
	    "block 100008 1/1 ->100009 64 sec0\n"
	    "disable 100009 async\n");
}

/* What says nothing of a FUP has no address, and data need not have a CFE. */
static void
events_between_an_overflow_and_a_tip_are_told(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ovf(&p); /* to 1d */
	pt_evd(&p, 0, 0x1234); /* to 28 */
	pt_evd(&p, 1, 0x55); /* to 33 */
	pt_evd(&p, 2, 0x30); /* to 3e */
	pt_cfe(&p, 8, 0, 0); /* to 42 */
	pt_cfe(&p, 1, 32, 1); /* to 46 */
	pt_bep(&p, 1); /* to 48 */
	pt_tip(&p, PT_IP_48_SIGNED, BASE + 2); /* to 4f */
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "async interrupt fault=1234\n"
	    "async vm-exit qualification=55 reason=30\n"
	    "async interrupt number=32\n"
	    "gap overflow [4f,4f) after=100002 @4f\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* A PTW whose FUP was dropped, while tracing was on. */
static void
a_marker_that_waits_at_an_overflow_has_no_address(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_ptw(&p, 4, 0x22, 1); /* to 21 */
	pt_ovf(&p); /* to 23 */
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 2); /* to 2a */
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "marker ptwrite 4:22\n"
	    "gap overflow [2a,2a) after=100002 @2a\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Erratum SKZ84: reserved bits of TMA are set, and a byte more follows. */
static void
a_corrupt_tma_and_a_byte_are_passed(void **state)
{
	static const uint8_t tma[] = { 0x02, 0x73, 1, 1, 1, 1, 0, 0x04 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_fup(&p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(&p, 64);
	pt_raw(&p, tma, sizeof(tma));
	pt_psbend(&p);
	pt_tnt(&p, "T");
	pt_raw(&p, tma, sizeof(tma));
	pt_tnt(&p, "N");
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100000 taken 64 sec0\n"
	    "block 100000 1/2 conditional ->100002 64 sec0\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

static void
bytes_like_a_corrupt_tma_with_no_packet_behind_are_lost(void **state)
{
	static const uint8_t bytes[] = { 0x02, 0x73, 1, 1, 1, 1, 0, 0x04, 0x02,
		0xff };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_raw(&p, bytes, sizeof(bytes)); /* to 25 */
	pt_psb_plus(&p, BASE + 2, 64);
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap bad-packet [1b,25) after=100002 @1b\n"
	    "mode value=0 100002 status 64\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* The second half of the eight bytes begins a PSB. */
static void
a_corrupt_tma_does_not_reach_into_a_psb(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_raw(&p, "\x02\x73\x01\x01", 4); /* to 1f */
	pt_psb_plus(&p, BASE + 2, 64);
	pt_leave_at(&p, BASE + 3);
	check(jne, sizeof(jne), &p,
	    "mode value=0 100000 status 64\n"
	    "gap bad-packet [1b,1f) after=100002 @1b\n"
	    "mode value=0 100002 status 64\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
}

/* Erratum SKD022: a FUP before the TIP.PGD of VMRESUME. */
static void
vmresume_ends_tracing_itself(void **state)
{
	static const uint8_t code[] = { 0x90, 0x0f, 0x01, 0xc3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_pgd(&p, PT_IP_NONE, 0);
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 2/4 far-return 64 sec0\n"
	    "disable\n");
}

/* Erratum BDM64: the branch before an abort may be told wrongly. */
static void
an_abort_elsewhere_than_the_branch_led_is_believed(void **state)
{
	/* jne 20 */
	static const uint8_t code[] = { 0x75, 0x1e };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_fup(&p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(&p, 64);
	pt_mode_tsx(&p, PT_TSX_BEGIN);
	pt_psbend(&p);
	pt_tnt(&p, "T");
	pt_mode_tsx(&p, PT_TSX_ABORT);
	pt_fup(&p, PT_IP_16, BASE + 2);
	pt_tip(&p, PT_IP_16, BASE + 0x30);
	pt_leave_at(&p, BASE + 0x31);
	check_on(BROADWELL, code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "mode value=5 100000 status 64\n"
	    "block 100000 1/2 conditional ->100002 speculative 64 sec0\n"
	    "mode value=6 100002 64\n"
	    "async abort 100002 ->100030\n"
	    "block 100030 1/1 ->100031 64 sec0\n"
	    "disable 100031 async\n");
}

/* Errors. */

static void
behind_an_error_decoding_goes_on_at_a_tip(void **state)
{
	/* jne 20; at 20 begins what is no code; 10: nop... */
	static const uint8_t code[] = { 0x75, 0x0e };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	uint8_t bytes[16];

	(void)state;
	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes, code, sizeof(code));
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tnt(&p, "TTT"); /* to 1c */
	pt_tip(&p, PT_IP_16, BASE + 2); /* to 1f */
	pt_leave_at(&p, BASE + 3);
	(void)mt_code(trace, BASE, bytes, sizeof(bytes));
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_rows(trace, &native,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/2 conditional ->100010 taken 64 sec0\n"
	    "gap no-code [1b,1f) before=100000 after=100002 addr=100010 @1c\n"
	    "block 100002 1/1 ->100003 64 sec0\n"
	    "disable 100003 async\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
calls_before_an_error_are_not_returned_to(void **state)
{
	/* 0: call 8; 8: jmp *%rax; 10: ret */
	uint8_t code[0x11];
	struct pt_packets p = { 0 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, "\xe8\x03\x00\x00\x00", 5);
	memcpy(code + 8, "\xff\xe0", 2);
	code[0x10] = 0xc3;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_tnt(&p, "T"); /* to 1c */
	pt_pge(&p, PT_IP_16, BASE + 0x10); /* to 1f */
	pt_tnt(&p, "T"); /* to 20 */
	check(code, sizeof(code), &p,
	    "mode value=0 100000 status 64\n"
	    "block 100000 1/5 call ->100008 taken 64 sec0\n"
	    "gap bad-flow [1b,1c) before=100000 @1c\n"
	    "enable 100010\n"
	    "gap bad-flow [1f,20) @20\n");
}

static void
a_psb_may_not_come_before_an_address_that_is_waited_for(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64); /* to 1b */
	pt_fup(&p, PT_IP_16, BASE + 1); /* to 1e */
	pt_psb_plus(&p, BASE + 1, 64);
	pt_leave_at(&p, BASE + 2);
	check(NULL, 0, &p,
	    "mode value=0 100000 status 64\n"
	    "gap bad-packet [1b,1e) after=100001 @1e\n"
	    "mode value=0 100001 status 64\n"
	    "block 100001 1/1 ->100002 64 sec0\n"
	    "disable 100002 async\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_pge_is_a_start_without_psb),
		cmocka_unit_test(outcomes_are_no_start_without_psb),
		cmocka_unit_test(
		    psb_plus_without_its_end_ends_where_tracing_begins),
		cmocka_unit_test(
		    a_damaged_psb_plus_is_lost_up_to_the_next_psb),
		cmocka_unit_test(
		    psb_plus_elsewhere_than_the_code_leads_contradicts),
		cmocka_unit_test(
		    a_fup_in_psb_plus_while_tracing_is_off_is_no_address),
		cmocka_unit_test(
		    addresses_behind_an_overflow_are_compared_with_0),
		cmocka_unit_test(psb_plus_can_end_with_an_overflow),
		cmocka_unit_test(
		    what_is_between_an_overflow_and_its_fup_is_told),
		cmocka_unit_test(behind_a_second_overflow_a_psb_is_led_to),
		cmocka_unit_test(behind_a_gap_a_psb_is_led_to),
		cmocka_unit_test(
		    a_context_before_the_tip_behind_an_overflow_holds),
		cmocka_unit_test(
		    a_tip_tells_where_execution_is_behind_an_overflow),
		cmocka_unit_test(behind_an_overflow_and_a_pgd_tracing_is_off),
		cmocka_unit_test(
		    outcomes_behind_an_overflow_are_of_unknown_code),
		cmocka_unit_test(
		    a_pge_behind_an_overflow_and_fup_takes_the_fup_back),
		cmocka_unit_test(
		    markers_between_an_overflow_and_a_tip_are_told),
		cmocka_unit_test(
		    markers_between_an_overflow_and_a_pgd_are_told),
		cmocka_unit_test(
		    markers_behind_an_overflow_have_the_address_of_their_fup),
		cmocka_unit_test(
		    an_event_behind_an_overflow_has_the_address_of_its_fup),
		cmocka_unit_test(
		    events_between_an_overflow_and_a_tip_are_told),
		cmocka_unit_test(
		    a_marker_that_waits_at_an_overflow_has_no_address),
		cmocka_unit_test(a_corrupt_tma_and_a_byte_are_passed),
		cmocka_unit_test(
		    bytes_like_a_corrupt_tma_with_no_packet_behind_are_lost),
		cmocka_unit_test(a_corrupt_tma_does_not_reach_into_a_psb),
		cmocka_unit_test(vmresume_ends_tracing_itself),
		cmocka_unit_test(
		    an_abort_elsewhere_than_the_branch_led_is_believed),
		cmocka_unit_test(behind_an_error_decoding_goes_on_at_a_tip),
		cmocka_unit_test(calls_before_an_error_are_not_returned_to),
		cmocka_unit_test(
		    a_psb_may_not_come_before_an_address_that_is_waited_for),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
