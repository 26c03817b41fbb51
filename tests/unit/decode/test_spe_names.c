/*
 * Events and data sources of Arm SPE by the CPU that wrote them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decode/spe/spe_names.h"

#define N1 0x413fd0c1
#define AMPERE_ONE 0xc00fac31
#define HIP12 0x480fd060

static const char *
event(uint32_t midr, uint32_t version, unsigned int bit)
{
	const struct hwtdi_spe_producer who = { midr, version };

	return (hwtdi_spe_event_name(&who, bit));
}

static void
events_have_names_by_version_and_cpu(void **state)
{
	(void)state;
	assert_string_equal(event(0, 0, 1), "retired");
	assert_string_equal(event(0, HWTDI_SPE_V1P0, 7), "mispredicted");
	/* Since 1.1; before it is the implementation's own. */
	assert_null(event(0, HWTDI_SPE_V1P0, 11));
	assert_string_equal(event(0, HWTDI_SPE_V1P1, 11), "misaligned");
	/* Since 1.4; named also where the version is not known. */
	assert_null(event(0, HWTDI_SPE_V1P3, 21));
	assert_string_equal(event(0, HWTDI_SPE_V1P4, 21), "modified");
	assert_string_equal(event(0, 0, 21), "modified");
	/* Of one core only. */
	assert_string_equal(event(N1, 0, 12), "late-prefetch");
	assert_null(event(0x410fd490, 0, 12));
	assert_null(event(0, 0, 12));
	for (unsigned int i = 13; i < 16; i++)
		assert_null(event(N1, HWTDI_SPE_V1P4, i));
	assert_string_equal(event(0, 0, 16), "transaction");
	assert_string_equal(event(0, 0, 17), "partial-predicate");
	assert_string_equal(event(0, 0, 25), "smcu");
	for (unsigned int i = 26; i < 200; i++)
		assert_null(event(N1, HWTDI_SPE_V1P4, i));
}

static uint64_t
known(uint32_t midr, uint32_t version)
{
	const struct hwtdi_spe_producer who = { midr, version };

	return (hwtdi_spe_events_known(&who));
}

static void
events_that_are_not_sure_are_named_but_not_used(void **state)
{
	(void)state;
	assert_int_equal(known(0, HWTDI_SPE_V1P0), 0x107ff);
	assert_int_equal(known(0, HWTDI_SPE_V1P1), 0x70fff);
	assert_int_equal(known(0, 0), 0x70fff);
	assert_int_equal(known(0, HWTDI_SPE_V1P4), 0x3ff0fff);
	assert_int_equal(known(N1, HWTDI_SPE_V1P1), 0x71fff);
}

static void
an_empty_predicate_is_not_a_partial_one(void **state)
{
	struct hwtd_sample s = { .op_flags = HWTD_OPF_PREDICATED };

	(void)state;
	assert_int_equal(hwtdi_spe_predicate(&s), HWTDI_SPE_PREDICATE_FULL);
	s.events = UINT64_C(1) << 17;
	assert_int_equal(hwtdi_spe_predicate(&s), HWTDI_SPE_PREDICATE_PARTIAL);
	s.events = UINT64_C(3) << 17;
	assert_int_equal(hwtdi_spe_predicate(&s), HWTDI_SPE_PREDICATE_EMPTY);
	s.events = 0;
	s.op_flags = 0;
	assert_int_equal(hwtdi_spe_predicate(&s), HWTDI_SPE_PREDICATE_NONE);
}

static void
sources_are_named_by_cpu(void **state)
{
	(void)state;
	assert_string_equal(hwtd_sample_source_name(N1, 8), "l2");
	assert_string_equal(hwtd_sample_source_name(AMPERE_ONE, 8), "l1d");
	assert_string_equal(hwtd_sample_source_name(HIP12, 8), "local-memory");
	assert_null(hwtd_sample_source_name(0, 8));
	assert_null(hwtd_sample_source_name(N1, 1));
	assert_null(hwtd_sample_source_name(N1, UINT64_C(1) << 32));
	/* Kunpeng 920 has none that is known. */
	assert_null(hwtd_sample_source_name(0x481fd010, 0));
	assert_int_equal(hwtdi_spe_family(0x410fd8e0),
	    HWTDI_SPE_FAMILY_ARM_ASSUMED);
	assert_string_equal(hwtd_sample_source_name(0x410fd8e0, 12),
	    "peer-cluster");
}

static bool
origin(uint32_t midr, uint32_t version, const struct hwtd_sample *s,
    struct hwtdi_spe_origin *out)
{
	const struct hwtdi_spe_producer who = { midr, version };

	return (hwtdi_spe_origin(&who, s, out));
}

static void
an_origin_is_by_source_where_it_means_something(void **state)
{
	struct hwtd_sample s = { .present = HWTD_SAMPLE_OP |
		    HWTD_SAMPLE_EVENTS | HWTD_SAMPLE_SOURCE,
		.op_class = HWTD_OP_CLASS_MEMORY,
		.op = HWTD_OP_MEM_GENERAL,
		.events = 0x316,
		.source = 12 };
	struct hwtdi_spe_origin o;

	(void)state;
	/* Altra: the last level is missed, a peer cluster has it. */
	assert_true(origin(N1, 0, &s, &o));
	assert_int_equal(o.level, HWTDI_SPE_LEVEL_L3);
	assert_int_equal(o.snoop, HWTDI_SPE_SNOOP_PEER);
	assert_true(o.by_source);
	assert_false(o.remote);
	s.source = 13;
	assert_true(origin(N1, 0, &s, &o));
	assert_true(o.remote);
	assert_int_equal(o.level, HWTDI_SPE_LEVEL_UNKNOWN);
	/* The source of a store says nothing: events do. */
	s.source = 0;
	s.op_flags = HWTD_OPF_STORE;
	assert_true(origin(N1, 0, &s, &o));
	assert_false(o.by_source);
	assert_true(o.missed);
	assert_int_equal(o.level, HWTDI_SPE_LEVEL_L3);
	/* A CPU that is not known. */
	s.op_flags = 0;
	s.events = 0x16;
	assert_true(origin(0, 0, &s, &o));
	assert_false(o.by_source);
	assert_int_equal(o.level, HWTDI_SPE_LEVEL_L1);
}

static void
no_source_is_not_l1(void **state)
{
	struct hwtd_sample s = { .present = HWTD_SAMPLE_OP,
		.op_class = HWTD_OP_CLASS_MEMORY,
		.op = HWTD_OP_MEM_GENERAL };
	struct hwtdi_spe_origin o;

	(void)state;
	assert_false(origin(N1, 0, &s, &o));
	assert_int_equal(o.level, HWTDI_SPE_LEVEL_UNKNOWN);
	/* Nor is arithmetic memory, or a branch. */
	s.events = 0x4;
	assert_true(origin(N1, 0, &s, &o));
	s.op_class = HWTD_OP_CLASS_OTHER;
	assert_false(origin(N1, 0, &s, &o));
	s.op_class = HWTD_OP_CLASS_BRANCH;
	assert_false(origin(N1, 0, &s, &o));
}

static void
levels_by_events(void **state)
{
	static const struct {
		uint64_t events;
		bool store;
		uint8_t level;
		bool missed;
	} cases[] = {
		{ 0x4, false, HWTDI_SPE_LEVEL_L1, false },
		{ 0x8, false, HWTDI_SPE_LEVEL_L1, true },
		{ 0xc, false, HWTDI_SPE_LEVEL_L1, true },
		{ 0x40000c, false, HWTDI_SPE_LEVEL_BUFFER, false },
		{ 0x400004, false, HWTDI_SPE_LEVEL_L1, false },
		{ 0x8000c, false, HWTDI_SPE_LEVEL_L2, false },
		{ 0x18000c, false, HWTDI_SPE_LEVEL_L2, true },
		{ 0x18010c, false, HWTDI_SPE_LEVEL_L3, false },
		{ 0x18030c, false, HWTDI_SPE_LEVEL_L3, true },
		{ 0x4, true, HWTDI_SPE_LEVEL_L1, false },
		{ 0x8000c, true, HWTDI_SPE_LEVEL_L2, false },
		{ 0x18000c, true, HWTDI_SPE_LEVEL_L2, true },
		{ 0x18010c, true, HWTDI_SPE_LEVEL_L3, false },
	};
	struct hwtdi_spe_origin o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtd_sample s = {
			.op_class = HWTD_OP_CLASS_MEMORY,
			.op_flags = cases[i].store ? HWTD_OPF_STORE : 0,
			.events = cases[i].events,
		};

		print_message("case %zu\n", i);
		assert_true(origin(0, HWTDI_SPE_V1P4, &s, &o));
		assert_int_equal(o.level, cases[i].level);
		assert_int_equal(o.missed, cases[i].missed);
		assert_false(o.by_source);
	}
}

static void
snoops_and_remotes_by_events(void **state)
{
	struct hwtd_sample s = { .op_class = HWTD_OP_CLASS_MEMORY,
		.events = UINT64_C(0x800400) };
	struct hwtdi_spe_origin o;

	(void)state;
	assert_true(origin(0, HWTDI_SPE_V1P4, &s, &o));
	assert_int_equal(o.snoop, HWTDI_SPE_SNOOP_HIT);
	assert_true(o.remote);
	s.events |= UINT64_C(1) << 21;
	assert_true(origin(0, HWTDI_SPE_V1P4, &s, &o));
	assert_int_equal(o.snoop, HWTDI_SPE_SNOOP_MODIFIED);
	/* Bits of before 1.4 mean something else. */
	assert_true(origin(0, 0, &s, &o));
	assert_int_equal(o.snoop, HWTDI_SPE_SNOOP_UNKNOWN);
}

static void
names_are_stable(void **state)
{
	(void)state;
	assert_string_equal(hwtd_op_name(HWTD_OP_MEM_SVE_SME), "sve-sme");
	assert_string_equal(hwtd_op_name(15), "unknown");
	assert_string_equal(hwtd_op_name(1000), "unknown");
	assert_string_equal(hwtd_op_class_name(HWTD_OP_CLASS_MEMORY),
	    "memory");
	assert_string_equal(hwtd_security_name(HWTD_SECURITY_REALM), "realm");
	assert_string_equal(hwtdi_spe_level_name(HWTDI_SPE_LEVEL_SYSTEM),
	    "system-cache");
	assert_string_equal(hwtdi_spe_snoop_name(HWTDI_SPE_SNOOP_PEER),
	    "peer");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_have_names_by_version_and_cpu),
		cmocka_unit_test(
		    events_that_are_not_sure_are_named_but_not_used),
		cmocka_unit_test(an_empty_predicate_is_not_a_partial_one),
		cmocka_unit_test(sources_are_named_by_cpu),
		cmocka_unit_test(
		    an_origin_is_by_source_where_it_means_something),
		cmocka_unit_test(no_source_is_not_l1),
		cmocka_unit_test(levels_by_events),
		cmocka_unit_test(snoops_and_remotes_by_events),
		cmocka_unit_test(names_are_stable),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
