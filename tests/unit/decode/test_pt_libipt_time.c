/*
 * The libipt engine: the time of rows.
 *
 * Source: Intel SDM vol. 3C, "Timestamp Counter (TSC) Packet", "TSC/MTC
 * Alignment (TMA) Packet", "Mini Time Counter (MTC) Packet", "Cycle Count
 * (CYC) Packet".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

/* jne to itself; nops */
static const uint8_t code[] = { 0x75, 0xfe, 0x90, 0x90, 0x90, 0x90 };

static struct hwtd_trace *
trace_of(const struct pt_packets *p, const struct hwtd_clock *clock,
    const struct hwtd_pt_config *pt)
{
	struct hwtd_stream_desc desc = {
		.cpu = 0,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.pt = pt,
	};
	struct hwtd_trace *trace = mt_create();

	if (clock != NULL)
		desc.clock = *clock;
	mt_code(trace, BASE, code, sizeof(code));
	mt_stream(trace, p, &desc);
	return (mt_seal(trace));
}

/* One count is one ns. */
static const struct hwtd_clock plain = { .counts_per = 1, .ns_per = 1 };

static void
psb_at(struct pt_packets *p, uint64_t tsc)
{
	pt_psb(p);
	pt_tsc(p, tsc);
	pt_fup(p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(p, 64);
	pt_psbend(p);
}

#define JNE "block 100000 1/2 conditional ->100000 taken 64 sec0\n"

static void
a_row_has_the_time_of_the_packet_before_it_or_an_estimate(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_at(&p, 100);
	pt_tnt(&p, "TT");
	pt_tsc(&p, 200);
	pt_tnt(&p, "TTT");
	pt_tsc(&p, 300);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, BASE + 3);
	assert_trace(trace_of(&p, &plain, NULL),
	    "t=100 mode value=0 100000 status 64\n"
	    "~t=100 " JNE "~t=100 " JNE "t=200 " JNE "~t=200 " JNE
	    "~t=200 " JNE "t=300 " JNE
	    "~t=300 block 100000 1/2 conditional ->100002 64 sec0\n"
	    "~t=300 block 100002 1/1 ->100003 64 sec0\n"
	    "~t=300 disable 100003 async\n");
	pt_free(&p);
}

static void
without_a_clock_there_is_no_time(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_at(&p, 100);
	pt_tsc(&p, 200);
	pt_leave_at(&p, BASE);
	assert_trace(trace_of(&p, NULL, NULL),
	    "mode value=0 100000 status 64\n"
	    "disable 100000 async\n");
	pt_free(&p);
}

static void
without_a_timing_packet_there_is_no_time_either(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, BASE, 64);
	pt_leave_at(&p, BASE);
	assert_trace(trace_of(&p, &plain, NULL),
	    "mode value=0 100000 status 64\n"
	    "disable 100000 async\n");
	pt_free(&p);
}

static void
time_zero_is_a_time(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_at(&p, 0);
	pt_leave_at(&p, BASE);
	assert_trace(trace_of(&p, &plain, NULL),
	    "t=0 mode value=0 100000 status 64\n"
	    "~t=0 disable 100000 async\n");
	pt_free(&p);
}

static void
counts_become_ns_by_the_clock_of_the_stream(void **state)
{
	static const struct {
		struct hwtd_clock clock;
		uint64_t count, ns;
	} cases[] = {
		{ { 1, 1, 0, 0, 0, 0 }, 12345, 12345 },
		{ { 3, 1, 0, 0, 0, 0 }, 3000, 1000 },
		{ { 3, 10, 1000, 5000, 0, 0 }, 1030, 5100 },
		{ { 3, 10, 1000, 5000, 0, 0 }, 1000, 5000 },
		/* Before the base. */
		{ { 3, 10, 1000, 5000, 0, 0 }, 970, 4900 },
		{ { 3, 10, 1000, 5000, 0, 0 }, 0, 5000 - 3333 },
		/* No time is before the clock of the trace begins. */
		{ { 1, 1, 1000, 10, 0, 0 }, 500, 0 },
		/* Fractions are cut off. */
		{ { 3, 1, 0, 0, 0, 0 }, 2, 0 },
		{ { 7, 5, 0, 0, 0, 0 }, 10, 7 },
		/* 2.5 GHz for half a year, exactly. */
		{ { 2500000000, 1000000000, 0, 0, 0, 0 }, 39420000000000001,
		    15768000000000000 },
		/* Large factors do not overflow. */
		{ { (uint64_t)1 << 40, (uint64_t)1 << 40, 0, 0, 0, 0 },
		    (uint64_t)1 << 55, (uint64_t)1 << 55 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		struct mt_rows rows;

		print_message("case %zu\n", i);
		psb_at(&p, cases[i].count);
		pt_leave_at(&p, BASE);
		trace = trace_of(&p, &cases[i].clock, NULL);
		mt_rows(trace, NULL, &rows);
		assert_int_equal(rows.n, 2);
		for (size_t r = 0; r < rows.n; r++) {
			assert_true((rows.at[r].row.flags & HWTD_EVF_TIME) !=
			    0);
			assert_int_equal(rows.at[r].row.time_ns, cases[i].ns);
		}
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

static void
time_never_goes_back(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	psb_at(&p, 100);
	pt_tnt(&p, "TT");
	pt_tsc(&p, 80);
	pt_tnt(&p, "TTT");
	pt_tsc(&p, 120);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, BASE + 3);
	assert_trace(trace_of(&p, &plain, NULL),
	    "t=100 mode value=0 100000 status 64\n"
	    "~t=100 " JNE "~t=100 " JNE "~t=100 " JNE "~t=100 " JNE
	    "~t=100 " JNE "t=120 " JNE
	    "~t=120 block 100000 1/2 conditional ->100002 64 sec0\n"
	    "~t=120 block 100002 1/1 ->100003 64 sec0\n"
	    "~t=120 disable 100003 async\n");
	pt_free(&p);
}

/* An MTC every 8 crystal ticks; 4 TSC ticks in each of those. */
static const struct hwtd_pt_config with_mtc = {
	.size = sizeof(with_mtc),
	.cpu_family = 6,
	.cpu_model = 0x9e,
	.mtc_freq = 3,
	.nom_freq = 10,
	.cpuid_15h_eax = 1,
	.cpuid_15h_ebx = 4,
};

static void
mtc_counts_crystal_ticks_since_the_tsc(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_tsc(&p, 1000);
	pt_tma(&p, 0x10, 0);
	pt_fup(&p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_tnt(&p, "T");
	pt_mtc(&p, 3); /* 8 ticks after 0x10 */
	pt_tnt(&p, "TT");
	pt_mtc(&p, 5); /* 24 ticks after; MTC 4 is missing */
	pt_tnt(&p, "TT");
	pt_mtc(&p, 6);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, BASE + 3);
	assert_trace(trace_of(&p, &plain, &with_mtc),
	    "t=1000 mode value=0 100000 status 64\n"
	    "~t=1000 " JNE "t=1032 " JNE "~t=1032 " JNE "t=1096 " JNE
	    "~t=1096 " JNE "t=1128 " JNE
	    "~t=1128 block 100000 1/2 conditional ->100002 64 sec0\n"
	    "~t=1128 block 100002 1/1 ->100003 64 sec0\n"
	    "~t=1128 disable 100003 async\n");
	pt_free(&p);
}

static void
cycles_count_at_the_ratio_of_the_core(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_tsc(&p, 1000);
	pt_fup(&p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(&p, 64);
	pt_cbr(&p, 10); /* As fast as the TSC. */
	pt_psbend(&p);
	pt_tnt(&p, "T");
	pt_cyc(&p, 16);
	pt_tnt(&p, "TT");
	pt_cbr(&p, 20); /* Twice as fast. */
	pt_cyc(&p, 100);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, BASE + 3);
	assert_trace(trace_of(&p, &plain, &with_mtc),
	    "t=1000 mode value=0 100000 status 64\n"
	    "~t=1000 frequency value=a status\n"
	    "~t=1000 " JNE "t=1016 " JNE "~t=1016 " JNE
	    "~t=1016 frequency value=14\n"
	    "t=1066 " JNE
	    "~t=1066 block 100000 1/2 conditional ->100002 64 sec0\n"
	    "~t=1066 block 100002 1/1 ->100003 64 sec0\n"
	    "~t=1066 disable 100003 async\n");
	pt_free(&p);
}

/* Without CPUID leaf 15h an MTC says nothing; it must do no harm. */
static void
mtc_without_its_ratio_is_passed_over(void **state)
{
	struct hwtd_pt_config pt = { .size = sizeof(pt), .mtc_freq = 3 };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_tsc(&p, 1000);
	pt_tma(&p, 0x10, 0);
	pt_fup(&p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_mtc(&p, 3);
	pt_cyc(&p, 7);
	pt_mtc(&p, 4);
	pt_leave_at(&p, BASE);
	assert_trace(trace_of(&p, &plain, &pt),
	    "t=1000 mode value=0 100000 status 64\n"
	    "~t=1000 disable 100000 async\n");
	pt_free(&p);
}

/* The nominal ratio times 100 MHz is the rate of the TSC. */
static void
a_clock_is_derived_from_the_nominal_frequency(void **state)
{
	struct hwtd_pt_config pt = { .size = sizeof(pt), .nom_freq = 20 };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	psb_at(&p, 4000);
	pt_leave_at(&p, BASE);
	trace = trace_of(&p, NULL, &pt);
	assert_int_equal(hwtd_trace_stream(trace, 0, &desc), HWTD_OK);
	assert_int_equal(desc.flags & HWTD_STREAMF_CLOCK_DERIVED,
	    HWTD_STREAMF_CLOCK_DERIVED);
	assert_trace(trace,
	    "t=2000 mode value=0 100000 status 64\n"
	    "~t=2000 disable 100000 async\n");
	pt_free(&p);
}

static void
a_gap_tells_the_time_at_both_of_its_ends(void **state)
{
	static const uint8_t unknown[] = { 0x02, 0xff };
	struct pt_packets p = { 0 };

	(void)state;
	psb_at(&p, 100); /* 0 to 23 */
	pt_tnt(&p, "T");
	pt_tsc(&p, 150); /* 24 to 2c */
	pt_tnt(&p, "T");
	pt_raw(&p, unknown, sizeof(unknown)); /* 2d to 2f */
	psb_at(&p, 300);
	pt_leave_at(&p, BASE);
	assert_trace(trace_of(&p, &plain, NULL),
	    "t=100 mode value=0 100000 status 64\n"
	    "~t=100 " JNE "t=150 block 100000 1/2 conditional 64 sec0\n"
	    "~t=150 gap bad-packet [2d,2f) before=100000 after=100000 "
	    "from=150 to=300 @2d\n"
	    "t=300 mode value=0 100000 status 64\n"
	    "~t=300 disable 100000 async\n");
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_row_has_the_time_of_the_packet_before_it_or_an_estimate),
		cmocka_unit_test(without_a_clock_there_is_no_time),
		cmocka_unit_test(
		    without_a_timing_packet_there_is_no_time_either),
		cmocka_unit_test(time_zero_is_a_time),
		cmocka_unit_test(counts_become_ns_by_the_clock_of_the_stream),
		cmocka_unit_test(time_never_goes_back),
		cmocka_unit_test(mtc_counts_crystal_ticks_since_the_tsc),
		cmocka_unit_test(cycles_count_at_the_ratio_of_the_core),
		cmocka_unit_test(mtc_without_its_ratio_is_passed_over),
		cmocka_unit_test(
		    a_clock_is_derived_from_the_nominal_frequency),
		cmocka_unit_test(a_gap_tells_the_time_at_both_of_its_ends),
	};

	mt_use_engine("libipt");
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
