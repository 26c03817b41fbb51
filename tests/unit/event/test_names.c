/*
 * Short stable names: what users' scripts compare with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

static void
check(const char *(*name)(uint32_t), const char *const *want, uint32_t n)
{
	static const uint32_t outside[] = { 1000, 0x7fffffff, 0x80000000,
		UINT32_MAX };

	for (uint32_t i = 0; i < n; i++)
		assert_string_equal(name(i), want[i]);
	assert_string_equal(name(n), "unknown");
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_string_equal(name(outside[i]), "unknown");
}

static void
kinds_have_their_names(void **state)
{
	static const char *const want[] = { "unknown", "block", "insn",
		"async", "enable", "disable", "gap", "context", "mode", "time",
		"cycles", "frequency", "marker", "power", "sample", "record" };

	(void)state;
	assert_int_equal(sizeof(want) / sizeof(want[0]), HWTD_EV_KINDS);
	check(hwtd_event_kind_name, want, HWTD_EV_KINDS);
}

static void
branches_have_their_names(void **state)
{
	static const char *const want[] = { "none", "conditional", "jump",
		"indirect-jump", "call", "indirect-call", "return", "far-call",
		"far-return", "far-jump" };

	(void)state;
	check(hwtd_branch_name, want, sizeof(want) / sizeof(want[0]));
}

static void
instruction_sets_have_their_names(void **state)
{
	static const char *const want[] = { "unknown", "x86-16", "x86-32",
		"x86-64", "a32", "t32", "t32ee", "a64" };

	(void)state;
	check(hwtd_isa_name, want, sizeof(want) / sizeof(want[0]));
}

static void
reasons_have_their_names(void **state)
{
	static const char *const want[] = { "unknown", "unsynced", "overflow",
		"bad-packet", "bad-flow", "no-code", "bad-code",
		"endless-loop", "ambiguous-mapping", "truncated",
		"file-damaged", "unsupported", "engine", "limit" };

	(void)state;
	assert_int_equal(sizeof(want) / sizeof(want[0]), HWTD_GAP_REASONS);
	check(hwtd_gap_reason_name, want, HWTD_GAP_REASONS);
}

static void
details_have_their_names(void **state)
{
	static const char *const sources[] = { "unknown", "ptwrite", "mnt",
		"stm", "itm", "event", "trigger", "instrumentation" };
	static const char *const power[] = { "unknown", "stop", "mwait",
		"entry", "exit" };
	static const char *const types[] = { "unknown", "interrupt",
		"exception", "transaction-abort", "vm-exit",
		"system-management", "startup", "init", "shutdown",
		"user-interrupt" };
	static const char *const instructions[] = { "return", "user-return",
		"management-return", "vm-entry", "software-interrupt",
		"system-call" };

	(void)state;
	check(hwtd_marker_source_name, sources,
	    sizeof(sources) / sizeof(sources[0]));
	check(hwtd_power_what_name, power, sizeof(power) / sizeof(power[0]));
	check(hwtd_async_type_name, types, sizeof(types) / sizeof(types[0]));
	/* What instructions do has numbers of its own. */
	for (uint32_t i = 0; i < 6; i++)
		assert_string_equal(hwtd_async_type_name(HWTD_ASYNC_RETURN +
					i),
		    instructions[i]);
	assert_string_equal(hwtd_async_type_name(HWTD_ASYNC_RETURN - 1),
	    "unknown");
	assert_string_equal(hwtd_async_type_name(HWTD_ASYNC_RETURN + 6),
	    "unknown");
}

/* Numbers are pinned for ever: what was stored must be read the same. */
static void
numbers_are_pinned(void **state)
{
	(void)state;
	assert_int_equal(HWTD_EV_BLOCK, 1);
	assert_int_equal(HWTD_EV_GAP, 6);
	assert_int_equal(HWTD_EV_RECORD, 15);
	assert_int_equal(HWTD_BRANCH_FAR_JUMP, 9);
	assert_int_equal(HWTD_ISA_A64, 7);
	assert_int_equal(HWTD_GAP_LIMIT, 13);
	assert_int_equal(sizeof(struct hwtd_event), 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_their_names),
		cmocka_unit_test(branches_have_their_names),
		cmocka_unit_test(instruction_sets_have_their_names),
		cmocka_unit_test(reasons_have_their_names),
		cmocka_unit_test(details_have_their_names),
		cmocka_unit_test(numbers_are_pinned),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
