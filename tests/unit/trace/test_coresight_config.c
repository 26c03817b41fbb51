/*
 * Configurations of CoreSight sources as text, processors by name, and raw
 * bytes that are opened with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/snapshot_folder.h"
#include "trace/import/arm_core.h"
#include "trace/import/coresight_config.h"
#include "trace/import/ini.h"

static void
lines_are_sections_or_values(void **state)
{
	static const char text[] = "\xef\xbb\xbf# head\n\n [ a b ] ; x\r\n"
				   "k (id:1) = v w \t\nlast=";
	struct hwtdi_ini ini = { .at = text, .left = sizeof(text) - 1 };
	struct hwtdi_ini_line line;

	(void)state;
	assert_int_equal(hwtdi_ini_next(&ini, &line, NULL), HWTD_OK);
	assert_true(line.is_section);
	assert_int_equal(line.line, 3);
	assert_int_equal(line.n_key, 3);
	assert_memory_equal(line.key, "a b", 3);
	assert_int_equal(hwtdi_ini_next(&ini, &line, NULL), HWTD_OK);
	assert_false(line.is_section);
	assert_int_equal(line.n_key, 1);
	assert_memory_equal(line.key, "k", 1);
	assert_int_equal(line.n_value, 3);
	assert_memory_equal(line.value, "v w", 3);
	assert_int_equal(hwtdi_ini_next(&ini, &line, NULL), HWTD_OK);
	assert_int_equal(line.line, 5);
	assert_int_equal(line.n_value, 0);
	assert_int_equal(hwtdi_ini_next(&ini, &line, NULL), HWTD_END);
}

static void
numbers_have_prefixes_as_in_c(void **state)
{
	static const struct {
		const char *text;
		bool is_number;
		uint64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "10", true, 10 },
		{ "010", true, 8 },
		{ "0x1F", true, 31 },
		{ "0XffffFFFFffffFFFF", true, UINT64_MAX },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "0x10000000000000000", false, 0 },
		{ "", false, 0 },
		{ "0x", false, 0 },
		{ "08", false, 0 },
		{ "-1", false, 0 },
		{ "1 ", false, 0 },
		{ "1g", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t got = 0;

		print_message("case '%s'\n", cases[i].text);
		assert_int_equal(hwtdi_ini_number(cases[i].text,
				     strlen(cases[i].text), &got),
		    cases[i].is_number);
		if (cases[i].is_number)
			assert_true(got == cases[i].value);
	}
}

static void
processors_have_an_architecture(void **state)
{
	static const struct {
		const char *name;
		uint32_t arch, profile;
	} cases[] = {
		{ "Cortex-A7", HWTD_ARM_ARCH_V7, HWTD_ARM_PROFILE_A },
		{ "cortex-a15", HWTD_ARM_ARCH_V7, HWTD_ARM_PROFILE_A },
		{ "Cortex-A53", HWTD_ARM_ARCH_V8, HWTD_ARM_PROFILE_A },
		{ "Cortex-A710", HWTD_ARM_ARCH_V8_3, HWTD_ARM_PROFILE_A },
		{ "Cortex-R5", HWTD_ARM_ARCH_V7, HWTD_ARM_PROFILE_R },
		{ "Cortex-M4", HWTD_ARM_ARCH_V7, HWTD_ARM_PROFILE_M },
		{ "Cortex-M55", HWTD_ARM_ARCH_V8, HWTD_ARM_PROFILE_M },
		{ "ARMv7-A", HWTD_ARM_ARCH_V7, HWTD_ARM_PROFILE_A },
		{ "armv7-m", HWTD_ARM_ARCH_V7, HWTD_ARM_PROFILE_M },
		{ "ARMv8-R", HWTD_ARM_ARCH_V8, HWTD_ARM_PROFILE_R },
		{ "ARMv8.2-A", HWTD_ARM_ARCH_V8, HWTD_ARM_PROFILE_A },
		{ "ARMv8.3-A", HWTD_ARM_ARCH_V8_3, HWTD_ARM_PROFILE_A },
		{ "ARMv8.1-M", HWTD_ARM_ARCH_V8, HWTD_ARM_PROFILE_M },
		{ "ARMv9.4-A", HWTD_ARM_ARCH_V8_3, HWTD_ARM_PROFILE_A },
		{ "ARM-AA64", HWTD_ARM_ARCH_V8_3, HWTD_ARM_PROFILE_A },
		{ "arm-aa64-R", HWTD_ARM_ARCH_V8_3, HWTD_ARM_PROFILE_R },
		{ "ARM-AA64-X", 0, 0 },
		{ "ARM-AA64R", 0, 0 },
		{ "ARMv6-M", 0, 0 },
		{ "ARMv8", 0, 0 },
		{ "ARMv8.-A", 0, 0 },
		{ "ARMv8.2", 0, 0 },
		{ "ARMv99999999999999999999-A", 0, 0 },
		{ "ARMv", 0, 0 },
		{ "Cortex-A530", 0, 0 },
		{ "Cortex-A5", HWTD_ARM_ARCH_V7, HWTD_ARM_PROFILE_A },
		{ "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t arch = 9, profile = 9;

		print_message("case '%s'\n", cases[i].name);
		assert_int_equal(hwtdi_arm_core_find(cases[i].name,
				     strlen(cases[i].name), &arch, &profile),
		    cases[i].arch != 0);
		assert_int_equal(arch, cases[i].arch);
		assert_int_equal(profile, cases[i].profile);
	}
}

static void
source_types_are_protocols(void **state)
{
	static const struct {
		const char *type;
		uint32_t protocol;
	} cases[] = {
		{ "ETM3.5", HWTD_CS_ETMV3 },
		{ "ETM4", HWTD_CS_ETMV4 },
		{ "ETM4.2", HWTD_CS_ETMV4 },
		{ "ETE", HWTD_CS_ETE },
		{ "ete.1", HWTD_CS_ETE },
		{ "PFT1.0", HWTD_CS_PTM },
		{ "PTM1.1", HWTD_CS_PTM },
		{ "STM", HWTD_CS_STM },
		{ "STM.500", HWTD_CS_STM },
		{ "ITM", HWTD_CS_ITM },
		{ "ETM5", HWTD_CS_UNKNOWN },
		{ "ETM", HWTD_CS_UNKNOWN },
		{ "", HWTD_CS_UNKNOWN },
		{ ".", HWTD_CS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(hwtdi_coresight_protocol(cases[i].type,
				     strlen(cases[i].type)),
		    cases[i].protocol);
}

static int
parse(const char *text, struct hwtd_coresight_config *c,
    struct hwtd_error *err)
{
	memset(c, 0, sizeof(*c));
	c->size = sizeof(*c);
	memset(err, 0, sizeof(*err));
	err->size = sizeof(*err);
	return (hwtd_coresight_parse(text, strlen(text), c, err));
}

static void
a_text_is_a_configuration(void **state)
{
	struct hwtd_coresight_config c;
	struct hwtd_error err;
	const char *name;
	uint32_t value;

	(void)state;
	assert_int_equal(parse("protocol=ete\narch=v8.3\nprofile=R\n"
			       "trace_id=0x6f\nTRCTRACEIDR=1\nTRCIDR13=5\n"
			       "TRCACVR1=0x123456789abc\n",
			     &c, &err),
	    HWTD_OK);
	assert_int_equal(c.protocol, HWTD_CS_ETE);
	assert_int_equal(c.arch, HWTD_ARM_ARCH_V8_3);
	assert_int_equal(c.profile, HWTD_ARM_PROFILE_R);
	assert_int_equal(c.trace_id, 0x6f);
	assert_int_equal(c.idr[13], 5);
	assert_int_equal(c.devarch, 0x47705a13);
	assert_int_equal(hwtd_coresight_register(&c, 1, &name, &value),
	    HWTD_OK);
	assert_string_equal(name, "TRCDEVARCH");
	assert_int_equal(value, 0x47705a13);
	assert_int_equal(hwtd_coresight_register(&c, 11, &name, &value),
	    HWTD_END);
	assert_int_equal(hwtd_coresight_register(NULL, 0, &name, &value),
	    HWTD_E_INVALID);
	/* A device of a snapshot. */
	assert_int_equal(parse(SNAPSHOT_ETM "arch=Cortex-M55\n", &c, &err),
	    HWTD_OK);
	assert_int_equal(c.protocol, HWTD_CS_ETMV4);
	assert_int_equal(c.trace_id, 0x12);
	assert_int_equal(c.configr, 0x8c1);
	assert_int_equal(c.profile, HWTD_ARM_PROFILE_M);
	assert_int_equal(hwtd_coresight_register(&c, 10, &name, &value),
	    HWTD_END);
	assert_int_equal(parse("protocol=itm\nCONTROL_REGISTER=0x00330001\n",
			     &c, &err),
	    HWTD_OK);
	assert_int_equal(c.trace_id, 0x33);
	assert_int_equal(hwtd_coresight_register(&c, 0, &name, &value),
	    HWTD_OK);
	assert_string_equal(name, "ITMTCR");
	assert_int_equal(value, 0x330001);
	assert_string_equal(hwtd_cs_protocol_name(HWTD_CS_PTM), "ptm");
	assert_string_equal(hwtd_cs_protocol_name(7), "unknown");
	assert_string_equal(hwtd_arm_arch_name(HWTD_ARM_ARCH_V8), "v8");
	assert_string_equal(hwtd_arm_profile_name(HWTD_ARM_PROFILE_M), "M");
	assert_string_equal(hwtd_framing_name(HWTD_FRAMING_TPIU), "tpiu");
	assert_string_equal(hwtd_framing_name(UINT32_MAX), "unknown");
}

static void
registers_that_contradict_each_other_are_doubtful(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "protocol=etmv4\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100f403\n"
		  "TRCIDR2=0x488\nTRCCONFIGR=0xc1\n",
		    "" },
		{ "protocol=etmv4\nTRCIDR0=0xa0\nTRCIDR2=0x8\n"
		  "TRCCONFIGR=0x38d9\n",
		    "TRCCONFIGR TRCCONFIGR TRCCONFIGR TRCCONFIGR "
		    "TRCCONFIGR " },
		{ "protocol=etmv4\nTRCIDR1=0x4100f303\n",
		    "TRCIDR0 TRCIDR1 TRCIDR2 " },
		{ "protocol=ete\nTRCIDR0=1\nTRCIDR2=4\nTRCDEVARCH=0x4a13\n"
		  "TRCCONFIGR=0x30001\n",
		    "TRCDEVARCH TRCCONFIGR " },
		{ "protocol=etmv3\nETMIDR=0x411cf312\nETMCR=1\n",
		    "ETMIDR ETMCR " },
		{ "protocol=ptm\nETMIDR=0x411cf312\nETMCR=0x30000000\n"
		  "ETMCCER=0x34c01ac2\n",
		    "" },
		{ "protocol=ptm\nETMIDR=0x411cf312\nETMCR=0x30000000\n",
		    "ETMCR ETMCR " },
		{ "protocol=stm\nSTMTCSR=0x100002\nSTMFEAT1R=0x6587f0\n",
		    "STMFEAT1R STMTCSR " },
		{ "protocol=itm\nITMTCR=0x10000\n", "ITMTCR " },
	};
	struct hwtd_error err = { .size = sizeof(err) };
	const char *name = "";
	const char *text = "";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_coresight_config c = { .size = sizeof(c) };
		char found[128] = "";

		assert_int_equal(parse(cases[i].text, &c, &err), HWTD_OK);
		for (size_t k = 0;
		     hwtd_coresight_doubt(&c, k, &name, &text) == HWTD_OK;
		     k++) {
			assert_int_not_equal(text[0], '\0');
			strncat(found, name, 32);
			strncat(found, " ", 2);
		}
		assert_string_equal(found, cases[i].want);
	}
	assert_int_equal(hwtd_coresight_doubt(NULL, 0, &name, &text),
	    HWTD_E_INVALID);
}

static void
a_text_that_says_something_else_is_refused(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "does not say which protocol" },
		{ "protocol=pt", "line 1: protocol: 'pt' is no protocol" },
		{ "protocol=unknown", "is no protocol" },
		{ "\narch=v9x", "line 2: arch: 'v9x' is no architecture" },
		{ "profile=B", "line 1: profile: 'B' is no profile" },
		{ "trace_id=0", "'0' is no trace ID" },
		{ "trace_id=one", "'one' is no trace ID" },
		{ "trace_id=0x70", "'0x70' is no trace ID" },
		{ "TRCIDR0=x", "TRCIDR0: 'x' is no number" },
		{ "TRCIDR0=0x1ffffffff", "has more than 32 bits" },
		{ "tracid=1", "line 1: tracid is no register" },
		{ "protocol=etmv4\nTRCTRACEIDR=0x7f", "trace ID 0x7f" },
		{ "what", "line 1: neither [section] nor key=value" },
		/* Another value for what was told. */
		{ "TRCIDR0=1\nTRCIDR0=0x1\nTRCIDR0=2",
		    "line 3: TRCIDR0: '2' is not what a line before says" },
		{ "ITMTCR=1\nCONTROL_REGISTER=3", "line 2: CONTROL_REGISTER" },
		{ "protocol=etmv4\ntype=ETM4.2\ntype=ETE",
		    "line 3: type: 'ETE' is not what a line before says" },
		{ "arch=v8\narch=v7", "line 2: arch: 'v7' is not what" },
		{ "profile=A\nprofile=M", "line 2: profile: 'M' is not what" },
		{ "trace_id=1\ntrace_id=others",
		    "line 2: trace_id: 'others'" },
		{ "trace_id=others\ntrace_id=1", "line 2: trace_id: '1'" },
	};
	struct hwtd_coresight_config c;
	struct hwtd_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("case '%s'\n", cases[i].text);
		assert_int_equal(parse(cases[i].text, &c, &err),
		    HWTD_E_CORRUPT);
		if (strstr(err.message, cases[i].want) == NULL)
			fail_msg("says: %s", err.message);
	}
	assert_int_equal(hwtd_coresight_parse(NULL, 1, &c, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coresight_parse("", 2 << 20, &c, &err),
	    HWTD_E_LIMIT);
	c.size = 0;
	assert_int_equal(hwtd_coresight_parse("protocol=ete", 12, &c, &err),
	    HWTD_E_INVALID);
	assert_non_null(strstr(err.message, "size of the configuration"));
}

static void
raw_frames_are_opened_with_configurations(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_coresight_config c[2];
	struct hwtd_open_options o = { .size = sizeof(o),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu_plus_1 = 4,
		.coresight = c,
		.n_coresight = 2,
		.framing = HWTD_FRAMING_MEMORY };
	struct hwtd_trace *trace;
	char path[300];

	(void)temp_dir_file(&f->dir, "etb.bin", path);
	assert_int_equal(parse(SNAPSHOT_ETM, &c[0], &f->err), HWTD_OK);
	assert_int_equal(parse(SNAPSHOT_STM, &c[1], &f->err), HWTD_OK);
	assert_int_equal(hwtd_trace_open(f->ctx, path, &o, &trace, &f->err),
	    HWTD_OK);
	snapshot_assert_counts(trace, 3, 0);
	assert_string_equal(snapshot_stream_at(trace, 0).name, "etb.bin");
	assert_int_equal(snapshot_stream_at(trace, 1).cpu, 3);
	snapshot_assert_bytes(trace, 1, SNAPSHOT_ETM_BYTES);
	snapshot_assert_bytes(trace, 2, SNAPSHOT_STM_BYTES);
	hwtd_trace_close(trace);
	c[1].trace_id = c[0].trace_id;
	assert_int_equal(hwtd_trace_open(f->ctx, path, &o, &trace, &f->err),
	    HWTD_E_INVALID);
	o.framing = HWTD_FRAMING_NONE;
	assert_int_equal(hwtd_trace_open(f->ctx, path, &o, &trace, &f->err),
	    HWTD_E_INVALID);
	assert_non_null(strstr(f->err.message, "2 sources of bytes without"));
	o.n_coresight = 1;
	assert_int_equal(hwtd_trace_open(f->ctx, path, &o, &trace, &f->err),
	    HWTD_OK);
	snapshot_assert_counts(trace, 1, 0);
	assert_int_equal(snapshot_stream_at(trace, 0).coresight->trace_id,
	    0x12);
	hwtd_trace_close(trace);
	o.framing = HWTD_FRAMING_DSTREAM + 1;
	assert_int_equal(hwtd_trace_open(f->ctx, path, &o, &trace, &f->err),
	    HWTD_E_INVALID);
	o.framing = 0;
	o.coresight = NULL;
	assert_int_equal(hwtd_trace_open(f->ctx, path, &o, &trace, &f->err),
	    HWTD_E_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_sections_or_values),
		cmocka_unit_test(numbers_have_prefixes_as_in_c),
		cmocka_unit_test(processors_have_an_architecture),
		cmocka_unit_test(source_types_are_protocols),
		cmocka_unit_test(a_text_is_a_configuration),
		cmocka_unit_test(
		    registers_that_contradict_each_other_are_doubtful),
		cmocka_unit_test(a_text_that_says_something_else_is_refused),
		cmocka_unit_test_setup_teardown(
		    raw_frames_are_opened_with_configurations, snapshot_set_up,
		    snapshot_tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
