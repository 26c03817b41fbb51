/*
 * How an Intel PT stream was recorded, in libipt's terms.
 *
 * Source: specification updates of the CPUs named here, for their errata.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_config.h"
#include "decode/pt/pt_errata.h"

static struct pt_config
config(const struct hwtd_pt_config *pt)
{
	struct pt_config out;

	memset(&out, 0xa5, sizeof(out));
	hwtdi_pt_config_libipt(&out, pt);
	return (out);
}

static void
blocks_end_at_every_call_and_jump(void **state)
{
	struct pt_config c = config(NULL);

	(void)state;
	assert_int_equal(c.size, sizeof(c));
	assert_int_equal(c.flags.variant.block.end_on_call, 1);
	assert_int_equal(c.flags.variant.block.end_on_jump, 1);
	assert_null(c.begin);
	assert_null(c.end);
}

static void
nothing_is_known_of_an_unknown_stream(void **state)
{
	struct pt_config c = config(NULL);

	(void)state;
	assert_int_equal(c.cpu.vendor, pcv_unknown);
	assert_int_equal(c.mtc_freq, 0);
	assert_int_equal(c.nom_freq, 0);
	assert_int_equal(c.cpuid_0x15_eax, 0);
	assert_int_equal(c.cpuid_0x15_ebx, 0);
	assert_int_equal(c.addr_filter.config.addr_cfg, 0);
}

static void
times_and_cpu_are_passed_on(void **state)
{
	struct hwtd_pt_config pt = {
		.size = sizeof(pt),
		.cpu_family = 6,
		.cpu_model = 0x5e,
		.cpu_stepping = 3,
		.mtc_freq = 9,
		.nom_freq = 35,
		.cpuid_15h_eax = 2,
		.cpuid_15h_ebx = 292,
	};
	struct pt_config c = config(&pt);

	(void)state;
	assert_int_equal(c.cpu.vendor, pcv_intel);
	assert_int_equal(c.cpu.family, 6);
	assert_int_equal(c.cpu.model, 0x5e);
	assert_int_equal(c.cpu.stepping, 3);
	assert_int_equal(c.mtc_freq, 9);
	assert_int_equal(c.nom_freq, 35);
	assert_int_equal(c.cpuid_0x15_eax, 2);
	assert_int_equal(c.cpuid_0x15_ebx, 292);
}

/* BDM70: what it tolerates is illegal otherwise, so it is always tolerated. */
static void
every_cpu_gets_bdm70(void **state)
{
	static const struct {
		uint16_t family;
		uint8_t model;
	} cpus[] = {
		{ 0, 0 },
		{ 6, 0x3d },
		{ 6, 0x56 },
		{ 6, 0x5e },
		{ 6, 0x5c },
		{ 6, 0x7a },
		{ 6, 0x97 },
		{ 6, 0xff },
		{ 6, 0x01 },
		{ 15, 2 },
		{ 19, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct hwtd_pt_config pt = {
			.size = sizeof(pt),
			.cpu_family = cpus[i].family,
			.cpu_model = cpus[i].model,
		};
		struct pt_config c = config(&pt);

		assert_int_equal(c.errata.bdm70, 1);
	}
	assert_int_equal(config(NULL).errata.bdm70, 1);
}

static void
a_known_cpu_gets_its_own_errata(void **state)
{
	struct hwtd_pt_config skylake = {
		.size = sizeof(skylake),
		.cpu_family = 6,
		.cpu_model = 0x5e,
	};
	struct hwtd_pt_config broadwell = {
		.size = sizeof(broadwell),
		.cpu_family = 6,
		.cpu_model = 0x3d,
	};
	struct hwtd_pt_config goldmont = {
		.size = sizeof(goldmont),
		.cpu_family = 6,
		.cpu_model = 0x5c,
	};
	struct pt_config c;

	(void)state;
	c = config(&skylake);
	assert_int_equal(c.errata.skd007, 1);
	assert_int_equal(c.errata.skd022, 1);
	assert_int_equal(c.errata.skl014, 1);
	assert_int_equal(c.errata.bdm64, 0);
	assert_int_equal(c.errata.apl12, 0);
	c = config(&broadwell);
	assert_int_equal(c.errata.bdm64, 1);
	assert_int_equal(c.errata.skd007, 0);
	assert_int_equal(c.errata.skl014, 0);
	c = config(&goldmont);
	assert_int_equal(c.errata.apl12, 1);
	assert_int_equal(c.errata.skd022, 0);
}

/* An unknown CPU is taken for the newest: it has SKD022, not BDM64. */
static void
an_unknown_cpu_is_taken_for_the_newest(void **state)
{
	struct hwtd_pt_config future = {
		.size = sizeof(future),
		.cpu_family = 6,
		.cpu_model = 0xfe,
		.cpu_stepping = 1,
	};
	struct pt_config c = config(&future);
	struct pt_config none = config(NULL);

	(void)state;
	assert_int_equal(c.errata.skd022, 1);
	assert_int_equal(c.errata.bdm64, 0);
	assert_int_equal(c.errata.skd007, 0);
	assert_memory_equal(&c.errata, &none.errata, sizeof(c.errata));
	/* What the user said stays. */
	assert_int_equal(c.cpu.model, 0xfe);
	assert_int_equal(c.cpu.stepping, 1);
}

/* Models that libipt does not know (newer than it) are not compared. */
static void
our_own_errata_are_those_that_libipt_knows(void **state)
{
	size_t known = 0;

	(void)state;
	for (unsigned int model = 0; model < 256; model++) {
		struct hwtd_pt_config pt = {
			.size = sizeof(pt),
			.cpu_family = 6,
			.cpu_model = (uint8_t)model,
		};
		struct pt_cpu cpu = {
			.vendor = pcv_intel,
			.family = 6,
			.model = (uint8_t)model,
		};
		struct hwtdi_pt_errata own = hwtdi_pt_errata_of(&pt);
		struct pt_errata theirs;

		memset(&theirs, 0, sizeof(theirs));
		if (pt_cpu_errata(&theirs, &cpu) < 0)
			continue;
		known++;
		print_message("model %#x\n", model);
		assert_int_equal(own.bdm64, theirs.bdm64);
		assert_int_equal(own.skd007, theirs.skd007);
		assert_int_equal(own.skd022, theirs.skd022);
		assert_int_equal(own.apl12, theirs.apl12);
	}
	assert_true(known >= 20);
}

static void
our_own_errata_of_an_unknown_cpu_are_those_of_the_newest(void **state)
{
	struct hwtd_pt_config amd = {
		.size = sizeof(amd),
		.cpu_family = 25,
		.cpu_model = 0x5e,
	};
	struct hwtdi_pt_errata of_none = hwtdi_pt_errata_of(NULL);
	struct hwtdi_pt_errata of_other = hwtdi_pt_errata_of(&amd);

	(void)state;
	assert_true(of_none.skd022 && of_other.skd022);
	assert_false(of_none.bdm64 || of_other.bdm64);
	assert_false(of_none.skd007 || of_other.skd007);
	assert_false(of_none.apl12 || of_other.apl12);
}

static void
filters_keep_their_place_and_their_kind(void **state)
{
	struct hwtd_pt_config pt = {
		.size = sizeof(pt),
		.filters = {
		    { HWTD_PT_FILTER_TRACE, 0, 0x1000, 0x1fff },
		    { HWTD_PT_FILTER_OFF, 0, 0, 0 },
		    { HWTD_PT_FILTER_STOP, 0, 0xffffffff80000000, UINT64_MAX },
		    { HWTD_PT_FILTER_TRACE, 0, 5, 6 },
		},
	};
	struct pt_config c = config(&pt);

	(void)state;
	/* IA32_RTIT_CTL.ADDRn_CFG: 0 off, 1 filter, 2 stop. */
	assert_int_equal(c.addr_filter.config.ctl.addr0_cfg, 1);
	assert_int_equal(c.addr_filter.config.ctl.addr1_cfg, 0);
	assert_int_equal(c.addr_filter.config.ctl.addr2_cfg, 2);
	assert_int_equal(c.addr_filter.config.ctl.addr3_cfg, 1);
	assert_int_equal(c.addr_filter.addr0_a, 0x1000);
	assert_int_equal(c.addr_filter.addr0_b, 0x1fff);
	assert_int_equal(c.addr_filter.addr1_a, 0);
	assert_int_equal(c.addr_filter.addr1_b, 0);
	assert_true(c.addr_filter.addr2_a == 0xffffffff80000000);
	assert_true(c.addr_filter.addr2_b == UINT64_MAX);
	assert_int_equal(c.addr_filter.addr3_a, 5);
	assert_int_equal(c.addr_filter.addr3_b, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_end_at_every_call_and_jump),
		cmocka_unit_test(nothing_is_known_of_an_unknown_stream),
		cmocka_unit_test(times_and_cpu_are_passed_on),
		cmocka_unit_test(every_cpu_gets_bdm70),
		cmocka_unit_test(a_known_cpu_gets_its_own_errata),
		cmocka_unit_test(an_unknown_cpu_is_taken_for_the_newest),
		cmocka_unit_test(our_own_errata_are_those_that_libipt_knows),
		cmocka_unit_test(
		    our_own_errata_of_an_unknown_cpu_are_those_of_the_newest),
		cmocka_unit_test(filters_keep_their_place_and_their_kind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
