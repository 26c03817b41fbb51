/*
 * The time at packets of Intel PT.
 *
 * Source: Intel SDM vol. 3C, "Timestamp Counter (TSC) Packet", "TSC/MTC
 * Alignment (TMA) Packet", "Mini Time Counter (MTC) Packet", "Cycle Count
 * (CYC) Packet", "Core:Bus Ratio (CBR) Packet".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/packet_clock.h"

static void
check_at(struct packet_clock *w, size_t off, uint64_t count, bool estimated)
{
	const struct hwtdi_pt_moment m = pc_at(w, off);

	assert_int_equal(m.count, count);
	assert_int_equal(m.estimated, estimated);
}

/* One packet after the other. */

static void
tsc_tells_the_time_of_its_psb_and_of_what_follows(void **state)
{
	struct packet_clock w;
	size_t tnt;

	(void)state;
	pc_begin(&w);
	pt_tnt(&w.p, "T");
	assert_int_equal(pc_put_psb(&w, 5000), 17);
	pt_psbend(&w.p);
	tnt = pc_put_tnt(&w);
	pc_start(&w);
	assert_int_equal(pc_at(&w, 0).count, PC_NO_TIME);
	check_at(&w, 1, 5000, false);
	assert_int_equal(pc_at(&w, 1).error, 0);
	check_at(&w, 17, 5000, false);
	check_at(&w, tnt, 5000, true);
	/* How late it is, nobody knows. */
	assert_int_equal(pc_at(&w, tnt).error, UINT64_MAX);
	pc_end(&w);
}

static void
between_two_tsc_the_error_says_how_far_they_are(void **state)
{
	struct packet_clock w;
	size_t first, tnt, last;

	(void)state;
	pc_begin(&w);
	first = pc_put_psb(&w, 1000);
	pt_pad(&w.p, 4);
	tnt = pc_put_tnt(&w);
	pt_pad(&w.p, 3);
	last = w.p.n;
	pt_tsc(&w.p, 1160);
	pc_start(&w);
	check_at(&w, first, 1000, false);
	/* 12 of 16 bytes. */
	assert_int_equal(last - first, 16);
	check_at(&w, tnt, 1120, true);
	assert_int_equal(pc_at(&w, tnt).error, 120);
	check_at(&w, last, 1160, false);
	assert_int_equal(pc_at(&w, last).error, 0);
	pc_end(&w);
}

static void
tma_says_which_edge_an_mtc_is(void **state)
{
	static const struct {
		unsigned int mtc_freq, ctc, fast;
		uint32_t eax, ebx;
		unsigned int mtc[2];
		uint64_t after[2];
	} cases[] = {
		/* Next edge of bit 0: 8 counts after the last, which was 3 ago. */
		{ 0, 0x1234, 3, 2, 16, { 0x35, 0x36 }, { 5, 13 } },
		/* Bits 11:4 are 23; 12 more ticks to 24, then 16. */
		{ 4, 0x1234, 3, 2, 16, { 0x24, 0x25 }, { 93, 221 } },
		/* A ratio that is no whole number: 83 * 1.6, 131 * 1.6. */
		{ 0, 0x0000, 0, 5, 8, { 83, 131 }, { 132, 209 } },
		/* Bits come round, of MTC and of all. */
		{ 0, 0x00ff, 0, 2, 16, { 0x00, 0x01 }, { 8, 16 } },
		{ 8, 0xffff, 7, 2, 16, { 0x00, 0x01 }, { 1, 2049 } },
		/* One is missing, 255 are. */
		{ 0, 0x0010, 0, 2, 16, { 0x12, 0x13 }, { 16, 24 } },
		{ 0, 0x0010, 0, 2, 16, { 0x0f, 0x10 }, { 255 * 8, 2048 } },
		/* TMA lacks upper bits: bits 15:12 are e; of MTC f is next. */
		{ 12, 0xe020, 8, 2, 1, { 0xaf, 0xb0 }, { 2024, 4072 } },
		{ 12, 0xf020, 8, 2, 1, { 0xa0, 0xa1 }, { 2024, 4072 } },
		/* Bit 15 only. */
		{ 15, 0x8000, 0, 1, 1, { 0x54, 0x55 }, { 32768, 65536 } },
		{ 15, 0x7fff, 0, 1, 1, { 0x01, 0x02 }, { 1, 32769 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct packet_clock w;
		size_t mtc[2];

		print_message("case %zu\n", i);
		pc_begin(&w);
		w.config.mtc_freq = (uint8_t)cases[i].mtc_freq;
		w.config.cpuid_15h_eax = cases[i].eax;
		w.config.cpuid_15h_ebx = cases[i].ebx;
		pc_put_psb(&w, 100000);
		pt_tma(&w.p, cases[i].ctc, cases[i].fast);
		pt_cbr(&w.p, 20);
		pt_psbend(&w.p);
		for (size_t k = 0; k < 2; k++)
			mtc[k] = pc_put_mtc(&w, cases[i].mtc[k]);
		pt_tsc(&w.p, 100000 + cases[i].after[1]);
		pc_start(&w);
		for (size_t k = 0; k < 2; k++) {
			check_at(&w, mtc[k], 100000 + cases[i].after[k],
			    false);
			assert_in_range(pc_at(&w, mtc[k]).error, 0, 2);
		}
		pc_end(&w);
	}
}

/* Two that are missing leave no sign, if TMA has one bit of their number. */
static void
an_mtc_of_unknown_number_is_known_by_the_tsc_behind(void **state)
{
	(void)state;
	for (int is_behind = 0; is_behind < 2; is_behind++) {
		struct packet_clock w;
		size_t mtc;

		pc_begin(&w);
		w.config.mtc_freq = 15;
		pc_put_psb(&w, 1000000);
		pt_tma(&w.p, 0, 0);
		pt_psbend(&w.p);
		mtc = pc_put_mtc(&w, 3);
		if (is_behind)
			pt_tsc(&w.p, 1000000 + 3 * 8 * 32768 + 100);
		pc_start(&w);
		assert_in_range(pc_at(&w, mtc).error,
		    is_behind ? 2 * 8 * 32768 : UINT64_MAX,
		    is_behind ? 3 * 8 * 32768 : UINT64_MAX);
		assert_true(pc_at(&w, mtc).estimated);
		pc_end(&w);
	}
}

static void
an_mtc_without_tma_or_cpuid_15h_tells_nothing(void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct packet_clock w;
		size_t mtc;

		(void)state;
		pc_begin(&w);
		if (i == 1)
			w.config.cpuid_15h_eax = 0;
		if (i == 2)
			w.config.cpuid_15h_ebx = 0;
		pc_put_psb(&w, 1000);
		if (i > 0)
			pt_tma(&w.p, 0, 0);
		mtc = pc_put_mtc(&w, 1);
		pc_start(&w);
		check_at(&w, mtc, 1000, true);
		assert_int_equal(w.time.mtc_ignored, i > 0);
		pc_end(&w);
	}
}

static void
mtcs_missing_for_more_than_a_round_are_found_by_the_next_tsc(void **state)
{
	struct packet_clock w;
	size_t before, behind, last;

	(void)state;
	pc_begin(&w);
	pc_put_psb(&w, 0);
	pt_tma(&w.p, 0, 0);
	before = pc_put_mtc(&w, 1);
	pt_ovf(&w.p);
	/* 2 rounds and 9 periods later. */
	behind = pc_put_mtc(&w, 10);
	last = w.p.n;
	pt_tsc(&w.p, (512 + 11) * 8);
	pc_start(&w);
	assert_int_equal(pc_at(&w, before).count, 8);
	check_at(&w, behind, (512 + 10) * 8, true);
	/* But it could also have been before the first. */
	assert_in_range(pc_at(&w, behind).error, 512 * 8, 512 * 8 + 2);
	check_at(&w, last, (512 + 11) * 8, false);
	pc_end(&w);
}

static void
cyc_lies_between_those_around_it(void **state)
{
	struct packet_clock w;
	size_t cyc[4], tnt, mtc;

	(void)state;
	pc_begin(&w);
	w.config.mtc_freq = 3;
	pc_put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	pt_psbend(&w.p);
	/* 64 counts to the edge, 128 cycles: 2 are a count. */
	cyc[0] = pc_put_cyc(&w, 32);
	tnt = pc_put_tnt(&w);
	cyc[1] = pc_put_cyc(&w, 6);
	pc_put_tnt(&w);
	cyc[2] = pc_put_cyc(&w, 90);
	mtc = pc_put_mtc(&w, 1);
	cyc[3] = pc_put_cyc(&w, 10);
	pc_start(&w);
	check_at(&w, cyc[0], 1016, false);
	check_at(&w, tnt, 1016, true);
	check_at(&w, cyc[1], 1019, false);
	/* Not before the TSC nor behind the MTC. */
	assert_in_range(pc_at(&w, cyc[1]).error, 45, 47);
	check_at(&w, cyc[2], 1064, false);
	check_at(&w, mtc, 1064, false);
	/* As long as before, but nothing says so. */
	check_at(&w, cyc[3], 1069, true);
	assert_int_equal(pc_at(&w, cyc[3]).error, UINT64_MAX);
	pc_end(&w);
}

static void
an_mtc_that_was_written_late_is_known_by_its_cycles(void **state)
{
	struct packet_clock w;
	size_t cyc, mtc, tnt, next;

	(void)state;
	pc_begin(&w);
	w.config.mtc_freq = 3;
	pc_put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	pt_psbend(&w.p);
	/* A cycle is a count long, and 64 counts a period. */
	for (unsigned int i = 1; i <= 2; i++) {
		pc_put_cyc(&w, 64);
		pc_put_mtc(&w, i);
	}
	cyc = pc_put_cyc(&w, 100);
	mtc = pc_put_mtc(&w, 3);
	tnt = pc_put_tnt(&w);
	next = pc_put_cyc(&w, 10);
	pc_put_tnt(&w);
	pc_put_cyc(&w, 18);
	pc_put_mtc(&w, 4);
	pc_start(&w);
	/* Time does not go back: the MTC tells of 1192. */
	check_at(&w, cyc, 1192, false);
	check_at(&w, mtc, 1192, false);
	check_at(&w, tnt, 1228, true);
	assert_in_range(pc_at(&w, tnt).error, 36, 38);
	check_at(&w, next, 1238, false);
	pc_end(&w);
}

static void
an_mtc_may_lie_between_two_cyc(void **state)
{
	struct packet_clock w;
	size_t cyc[4];

	(void)state;
	pc_begin(&w);
	w.config.mtc_freq = 3;
	pc_put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	pt_psbend(&w.p);
	/* A cycle is a count long. */
	cyc[0] = pc_put_cyc(&w, 50);
	pc_put_tnt(&w);
	pc_put_mtc(&w, 1);
	cyc[1] = pc_put_cyc(&w, 50);
	pc_put_tnt(&w);
	pc_put_mtc(&w, 2);
	cyc[2] = pc_put_cyc(&w, 60);
	pc_put_tnt(&w);
	cyc[3] = pc_put_cyc(&w, 32);
	pt_tsc(&w.p, 1192);
	pc_start(&w);
	check_at(&w, cyc[0], 1050, false);
	check_at(&w, cyc[1], 1100, false);
	check_at(&w, cyc[2], 1160, false);
	check_at(&w, cyc[3], 1192, false);
	pc_end(&w);
}

static void
cycles_are_weighted_by_their_ratio(void **state)
{
	struct packet_clock w;
	size_t cyc[3];

	(void)state;
	pc_begin(&w);
	pc_put_psb(&w, 1000);
	pt_cbr(&w.p, 10);
	pt_psbend(&w.p);
	/* At ratio 10 a cycle is as long as two at ratio 20. */
	cyc[0] = pc_put_cyc(&w, 50);
	pc_put_tnt(&w);
	cyc[1] = pc_put_cyc(&w, 50);
	pt_cbr(&w.p, 20);
	cyc[2] = pc_put_cyc(&w, 100);
	pc_put_tnt(&w);
	pc_put_cyc(&w, 100);
	pt_tsc(&w.p, 1400);
	pc_start(&w);
	assert_in_range(pc_at(&w, cyc[0]).count, 1099, 1101);
	assert_in_range(pc_at(&w, cyc[1]).count, 1199, 1201);
	assert_in_range(pc_at(&w, cyc[2]).count, 1299, 1301);
	pc_end(&w);
}

static void
cyc_without_another_reference_goes_by_the_nominal_ratio(void **state)
{
	struct packet_clock w;
	size_t cyc[2];

	(void)state;
	pc_begin(&w);
	w.config.nom_freq = 30;
	pc_put_psb(&w, 1000);
	pt_cbr(&w.p, 20);
	pt_psbend(&w.p);
	/* 30 counts in 20 cycles. */
	cyc[0] = pc_put_cyc(&w, 40);
	pc_put_tnt(&w);
	cyc[1] = pc_put_cyc(&w, 2);
	pc_start(&w);
	assert_in_range(pc_at(&w, cyc[0]).count, 1059, 1060);
	assert_in_range(pc_at(&w, cyc[1]).count, 1062, 1063);
	assert_true(pc_at(&w, cyc[1]).estimated);
	pc_end(&w);
}

static void
cyc_of_unknown_length_has_no_time(void **state)
{
	struct packet_clock w;
	size_t early, late;

	(void)state;
	pc_begin(&w);
	early = pc_put_cyc(&w, 7);
	pc_put_psb(&w, 1000);
	late = pc_put_cyc(&w, 100);
	pc_start(&w);
	assert_int_equal(pc_at(&w, early).count, PC_NO_TIME);
	check_at(&w, late, 1000, true);
	pc_end(&w);
}

static void
cycles_stand_still_while_the_core_sleeps(void **state)
{
	struct packet_clock w;
	size_t cyc[4];

	(void)state;
	pc_begin(&w);
	w.config.nom_freq = 20;
	pc_put_psb(&w, 1000);
	pt_cbr(&w.p, 10);
	pt_psbend(&w.p);
	cyc[0] = pc_put_cyc(&w, 10);
	pc_put_tnt(&w);
	cyc[1] = pc_put_cyc(&w, 10);
	pc_put_tnt(&w);
	pt_pwre(&w.p, 6, 0, 0);
	pt_exstop(&w.p, 0);
	pt_pwrx(&w.p, 6, 6, PT_WAKE_INTERRUPT);
	cyc[2] = pc_put_cyc(&w, 10);
	pc_put_tnt(&w);
	cyc[3] = pc_put_cyc(&w, 10);
	pt_tsc(&w.p, 9000);
	pc_start(&w);
	assert_in_range(pc_at(&w, cyc[0]).count, 1019, 1020);
	assert_in_range(pc_at(&w, cyc[1]).count, 1039, 1040);
	assert_in_range(pc_at(&w, cyc[2]).count, 8980, 8981);
	assert_int_equal(pc_at(&w, cyc[3]).count, 9000);
	pc_end(&w);
}

static void
cyc_at_an_overflow_is_its_length(void **state)
{
	struct packet_clock w;
	size_t before, at_ovf;

	(void)state;
	pc_begin(&w);
	w.config.nom_freq = 10;
	pc_put_psb(&w, 1000);
	pt_cbr(&w.p, 10);
	pt_psbend(&w.p);
	before = pc_put_cyc(&w, 100);
	pc_put_tnt(&w);
	/* It lasted longer than the cycles say. */
	at_ovf = pc_put_cyc(&w, 700);
	pt_ovf(&w.p);
	pt_fup(&w.p, PT_IP_48, 0x1000);
	pt_tsc(&w.p, 2000);
	pc_start(&w);
	assert_in_range(pc_at(&w, before).count, 1099, 1100);
	assert_int_equal(pc_at(&w, at_ovf).count, 2000);
	pc_end(&w);
}

static void
time_does_not_go_back(void **state)
{
	struct packet_clock w;
	size_t second, third, fourth;

	(void)state;
	pc_begin(&w);
	pc_put_psb(&w, 1000);
	second = w.p.n;
	pt_tsc(&w.p, 900);
	third = pc_put_psb(&w, 950);
	fourth = w.p.n;
	pt_tsc(&w.p, 2000);
	pc_start(&w);
	/* The next PSB says 950: so high may counts be. */
	check_at(&w, 0, 950, true);
	check_at(&w, second, 950, true);
	assert_in_range(pc_at(&w, second).error, 50, UINT64_MAX);
	check_at(&w, third, 950, false);
	check_at(&w, fourth, 2000, false);
	pc_end(&w);

	pc_begin(&w);
	pc_put_psb(&w, 1000);
	pc_put_psb(&w, 1100);
	third = pc_put_psb(&w, 900);
	fourth = w.p.n;
	pt_tsc(&w.p, 2000);
	pc_start(&w);
	check_at(&w, 0, 1000, false);
	/* 1100 is above the 900 behind, and that below what was told. */
	check_at(&w, 24, 1000, true);
	check_at(&w, third, 1000, true);
	check_at(&w, fourth, 2000, false);
	pc_end(&w);
}

static void
tsc_of_56_bits_goes_round(void **state)
{
	const uint64_t round = (uint64_t)1 << 56;
	struct packet_clock w;
	size_t second;

	(void)state;
	pc_begin(&w);
	pc_put_psb(&w, round - 10);
	second = w.p.n;
	pt_tsc(&w.p, 20);
	pc_start(&w);
	check_at(&w, 0, round - 10, false);
	check_at(&w, second, round + 20, false);
	pc_end(&w);

	/* The clock says which round it is. */
	pc_begin(&w);
	w.near = 5 * round + 3;
	pc_put_psb(&w, round - 10);
	pt_psbend(&w.p);
	second = pc_put_psb(&w, 20);
	pc_start(&w);
	check_at(&w, 0, 5 * round - 10, false);
	check_at(&w, second, 5 * round + 20, false);
	pc_end(&w);
}

static void
a_damaged_tma_tells_nothing(void **state)
{
	struct packet_clock w;
	size_t mtc;

	(void)state;
	pc_begin(&w);
	pc_put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	/* Reserved bits are set, and a byte follows. */
	w.p.bytes[w.p.n - 1] = 0xff;
	pt_pad(&w.p, 1);
	mtc = pc_put_mtc(&w, 1);
	pc_start(&w);
	check_at(&w, mtc, 1000, true);
	pc_end(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    tsc_tells_the_time_of_its_psb_and_of_what_follows),
		cmocka_unit_test(
		    between_two_tsc_the_error_says_how_far_they_are),
		cmocka_unit_test(tma_says_which_edge_an_mtc_is),
		cmocka_unit_test(
		    an_mtc_of_unknown_number_is_known_by_the_tsc_behind),
		cmocka_unit_test(
		    an_mtc_without_tma_or_cpuid_15h_tells_nothing),
		cmocka_unit_test(
		    mtcs_missing_for_more_than_a_round_are_found_by_the_next_tsc),
		cmocka_unit_test(cyc_lies_between_those_around_it),
		cmocka_unit_test(
		    an_mtc_that_was_written_late_is_known_by_its_cycles),
		cmocka_unit_test(an_mtc_may_lie_between_two_cyc),
		cmocka_unit_test(cycles_are_weighted_by_their_ratio),
		cmocka_unit_test(
		    cyc_without_another_reference_goes_by_the_nominal_ratio),
		cmocka_unit_test(cyc_of_unknown_length_has_no_time),
		cmocka_unit_test(cycles_stand_still_while_the_core_sleeps),
		cmocka_unit_test(cyc_at_an_overflow_is_its_length),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(tsc_of_56_bits_goes_round),
		cmocka_unit_test(a_damaged_tma_tells_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
