/*
 * Elements of OpenCSD as the versions lay them out, and what is in them.
 *
 * Source: opencsd/trc_gen_elem_types.h of 1.3.3 and 1.8.0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <opencsd/c_api/opencsd_c_api.h>

#include "decode/coresight/cs_library.h"

#define V1_3_3 0x010303
#define V1_4_0 0x010400
#define V1_8_0 0x010800

/* Large enough for all versions; unions are filled by place. */
union element {
	ocsd_generic_trace_elem e;
	uint8_t bytes[128];
	uint64_t align;
};

static struct hwtdi_cs_layout
layout(uint32_t version)
{
	struct hwtdi_cs_layout out;

	assert_int_equal(hwtdi_cs_layout_of(version, &out, NULL), HWTD_OK);
	return (out);
}

static struct hwtdi_cs_element
copy(uint32_t version, const union element *from)
{
	const struct hwtdi_cs_layout l = layout(version);
	struct hwtdi_cs_element out = { .off = 0 };

	hwtdi_cs_copy_element(&l, from, &out);
	return (out);
}

static void
versions_that_are_not_known_are_refused(void **state)
{
	static const uint32_t known[] = { 0x010300, V1_3_3, V1_4_0, V1_8_0,
		0x0108ff };
	static const uint32_t unknown[] = { 0, 0x010200, 0x0102ff, 0x010900,
		0x020000 };
	struct hwtdi_cs_layout out;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(hwtdi_cs_layout_of(known[i], &out, NULL),
		    HWTD_OK);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(hwtdi_cs_layout_of(unknown[i], &out, NULL),
		    HWTD_E_UNSUPPORTED);
}

static void
a_payload_is_where_the_version_has_it(void **state)
{
	static const struct {
		uint32_t version;
		size_t at;
	} cases[] = { { V1_3_3, 80 }, { V1_4_0, 88 }, { V1_8_0, 88 } };
	static const uint8_t payload[4] = { 0x44, 0x33, 0x22, 0x11 };
	const uint8_t *pointer = payload;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union element from;
		struct hwtdi_cs_element got;

		memset(&from, 0, sizeof(from));
		from.e.elem_type = OCSD_GEN_TRC_ELEM_SWTRACE;
		from.e.extended_data = 1;
		from.e.sw_trace_info.swt_payload_pkt_bitsize = 32;
		from.e.sw_trace_info.swt_id_valid = 1;
		from.e.sw_trace_info.swt_master_id = 5;
		from.e.sw_trace_info.swt_channel_id = 6;
		memset(from.bytes + 80, 0, sizeof(from.bytes) - 80);
		memcpy(from.bytes + cases[i].at, &pointer, sizeof(pointer));
		got = copy(cases[i].version, &from);
		assert_int_equal(got.kind, HWTDI_CS_SOFTWARE);
		assert_int_equal(got.software.bits, 32);
		assert_int_equal(got.software.payload, 0x11223344);
		assert_int_equal(got.software.master, 5);
		assert_int_equal(got.software.channel, 6);
	}
}

static void
kinds_that_came_later_are_others_before(void **state)
{
	static const struct {
		uint32_t version, type;
		uint8_t kind;
	} cases[] = {
		{ V1_3_3, 16, HWTDI_CS_TRANSACTION },
		{ V1_3_3, 17, HWTDI_CS_OTHER },
		{ V1_4_0, 17, HWTDI_CS_INSTRUMENTATION },
		{ V1_4_0, 18, HWTDI_CS_OTHER },
		{ V1_8_0, 18, HWTDI_CS_ITM },
		{ V1_8_0, 19, HWTDI_CS_OTHER },
		{ V1_3_3, 99, HWTDI_CS_OTHER },
		{ V1_8_0, 99, HWTDI_CS_OTHER },
		{ V1_8_0, UINT32_MAX, HWTDI_CS_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union element from;

		memset(&from, 0, sizeof(from));
		memcpy(from.bytes, &cases[i].type, sizeof(cases[i].type));
		assert_int_equal(copy(cases[i].version, &from).kind,
		    cases[i].kind);
	}
}

/* As OCSD_INSTR_WFI_WFE once came. */
static void
instructions_that_are_not_known_are_no_error(void **state)
{
	const uint32_t type = 99, n = 7;
	struct hwtdi_cs_element got;
	union element from;

	(void)state;
	memset(&from, 0, sizeof(from));
	from.e.elem_type = OCSD_GEN_TRC_ELEM_INSTR_RANGE;
	from.e.st_addr = 0x1000;
	from.e.en_addr = 0x101c;
	from.e.isa = ocsd_isa_aarch64;
	from.e.last_instr_exec = 1;
	memcpy(from.bytes + offsetof(ocsd_generic_trace_elem, last_i_type),
	    &type, sizeof(type));
	memcpy(from.bytes + offsetof(ocsd_generic_trace_elem, last_i_subtype),
	    &type, sizeof(type));
	memcpy(from.bytes + 72, &n, sizeof(n));
	got = copy(V1_3_3, &from);
	assert_int_equal(got.kind, HWTDI_CS_RANGE);
	assert_int_equal(got.n, 7);
	assert_int_equal(got.st, 0x1000);
	assert_int_equal(got.en, 0x101c);
	assert_int_equal(got.isa, HWTD_ISA_A64);
	assert_int_equal(got.last, HWTDI_CS_LAST_UNKNOWN);
	assert_int_equal(got.last_sub, HWTDI_CS_SUB_NONE);
	assert_int_equal(got.flags, HWTDI_CS_EXECUTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_that_are_not_known_are_refused),
		cmocka_unit_test(a_payload_is_where_the_version_has_it),
		cmocka_unit_test(kinds_that_came_later_are_others_before),
		cmocka_unit_test(instructions_that_are_not_known_are_no_error),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
