/*
 * The names of kinds, branches, instruction sets, gaps and records: users'
 * scripts filter by them, so they are as stable as the numbers.
 */
#include <hwtdecode/hwtdecode.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Numbers that are asked for: more than any of the enums has. */
#define ASKED 256

static const struct {
	const char *what;
	const char *(*name)(uint32_t number);
	/* The names from 0 on, separated by spaces. */
	const char *want;
} cases[] = {
	{ "event kinds", hwtd_event_kind_name,
	    "unknown block insn async enable disable gap context mode time "
	    "cycles frequency marker power sample record" },
	{ "branches", hwtd_branch_name,
	    "none conditional jump indirect-jump call indirect-call return "
	    "far-call far-return far-jump" },
	{ "instruction sets", hwtd_isa_name,
	    "unknown x86-16 x86-32 x86-64 a32 t32 t32ee a64" },
	{ "gap reasons", hwtd_gap_reason_name,
	    "unknown unsynced overflow bad-packet bad-flow no-code bad-code "
	    "endless-loop ambiguous-mapping truncated file-damaged "
	    "unsupported engine limit" },
	{ "record types", hwtd_record_type_name,
	    "unknown exec mmap munmap protect kernel module-load "
	    "module-unload thread-create thread-name thread-exit fork exit "
	    "switch buffer lost code clock" },
	{ "classes of operations", hwtd_op_class_name,
	    "unknown other memory branch reserved" },
	{ "security states", hwtd_security_name,
	    "secure nonsecure root realm" },
	{ "what made a call", hwtd_call_type_name,
	    "found call tail interrupt exception syscall untraced signal "
	    "sampled" },
	{ "how a call ended", hwtd_call_end_name,
	    "unknown return tail unwound far-return gap open limit exec "
	    "sampled exit" },
	{ "tables of profiles", hwtd_profile_by_name,
	    "function line image thread inline block cpu" },
	{ "kinds of frames", hwtd_flame_kind_name,
	    "all thread function unknown-function untraced gap off others "
	    "smaller deeper" },
	{ "what frames weigh", hwtd_export_value_name,
	    "default insns time cycles calls" },
	{ "tables of samples", hwtd_memory_table_name,
	    "symbol insn address page line source cpu thread branch path" },
	{ "levels of memory", hwtd_memory_level_name,
	    "unknown l1 fill-buffer l2 l3 system-cache memory device" },
	{ "sharing of lines", hwtd_memory_sharing_name,
	    "none false true mixed" },
	{ "orders of tables of samples", hwtd_memory_sort_name,
	    "samples weight latency max mean l1-misses llc-misses tlb-misses "
	    "remote mispredicted transfers sharing key" },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void
names_are_those_of_before(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		char got[1024] = "";
		const char *name;

		print_message("case %s\n", cases[i].what);
		for (uint32_t n = 0; n < ASKED; n++) {
			name = cases[i].name(n);
			assert_non_null(name);
			if (n > 0 && strcmp(name, "unknown") == 0)
				break;
			if (n > 0)
				strncat(got, " ",
				    sizeof(got) - strlen(got) - 1);
			strncat(got, name, sizeof(got) - strlen(got) - 1);
		}
		assert_string_equal(got, cases[i].want);
	}
}

static void
numbers_out_of_range_are_unknown(void **state)
{
	static const uint32_t numbers[] = { 100, 255, 256, 65536, 0x7fffffff,
		0x80000000, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]);
		     n++)
			assert_string_equal(cases[i].name(numbers[n]),
			    "unknown");
}

static void
codes_have_a_text(void **state)
{
	static const int codes[] = { HWTD_OK, HWTD_END, HWTD_AGAIN,
		HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_IO, HWTD_E_LIMIT,
		HWTD_E_TOO_NEW, HWTD_E_NOT_FOUND, HWTD_E_STATE, HWTD_E_CORRUPT,
		HWTD_E_UNRECOGNIZED, HWTD_E_UNSUPPORTED, HWTD_E_ENGINE };
	const char *unknown = hwtd_code_text(-10000);
	const size_t n = sizeof(codes) / sizeof(codes[0]);

	(void)state;
	assert_non_null(unknown);
	for (size_t i = 0; i < n; i++) {
		assert_string_not_equal(hwtd_code_text(codes[i]), unknown);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(hwtd_code_text(codes[i]),
			    hwtd_code_text(codes[j]));
	}
}

static void
versions_of_header_and_library_agree(void **state)
{
	struct hwtd_component component;
	char version[32];
	size_t n = 0;

	(void)state;
	(void)snprintf(version, sizeof(version), "%d.%d.%d",
	    HWTD_VERSION_MAJOR, HWTD_VERSION_MINOR, HWTD_VERSION_PATCH);
	assert_string_equal(hwtd_version(), version);
	while (hwtd_version_component(n, &component) == HWTD_OK) {
		assert_true(component.name[0] != '\0');
		assert_true(component.version[0] != '\0');
		n++;
	}
	assert_true(n > 0);
	assert_int_equal(hwtd_version_component(n, &component), HWTD_END);
	assert_int_equal(hwtd_version_component(0, NULL), HWTD_E_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_before),
		cmocka_unit_test(numbers_out_of_range_are_unknown),
		cmocka_unit_test(codes_have_a_text),
		cmocka_unit_test(versions_of_header_and_library_agree),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
