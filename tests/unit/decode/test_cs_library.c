/*
 * What versions of OpenCSD hand out: elements made byte by byte, as each of them
 * lays them out, and versions that are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decode/coresight/cs_library.h"

#define V(major, minor, patch)                                                \
	((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/*
 * Numbers of kinds, and places of fields that are the same in all versions.
 * Source: trc_gen_elem_types.h and ocsd_if_types.h of 1.3.0 to 1.8.0.
 */
enum {
	NO_SYNC = 1,
	END = 3,
	RANGE = 5,
	EXCEPTION = 9,
	SOFTWARE = 14,
	KIND_16 = 16,
	KIND_17 = 17,
	KIND_18 = 18,
	KIND_19 = 19
};
enum {
	ISA_AT = 4,
	ST_AT = 8,
	EN_AT = 16,
	TIMESTAMP_AT = 48,
	CYCLES_AT = 56,
	LAST_AT = 60,
	LAST_SUB_AT = 64,
	FLAGS_AT = 68,
	PAYLOAD_AT = 72
};

struct bytes {
	_Alignas(8) uint8_t at[96];
};

static void
put(struct bytes *b, size_t at, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		b->at[at + i] = (uint8_t)(value >> 8 * i);
}

static struct hwtdi_cs_element
copy(uint32_t version, const struct bytes *b)
{
	struct hwtdi_cs_element e = { .off = 77 };
	struct hwtdi_cs_layout layout;

	assert_int_equal(hwtdi_cs_layout_of(version, &layout, NULL), HWTD_OK);
	hwtdi_cs_copy_element(&layout, b->at, &e);
	assert_int_equal(e.off, 77);
	return (e);
}

static void
versions_that_are_not_known_are_refused(void **state)
{
	static const uint32_t good[] = { V(1, 3, 0), V(1, 3, 3), V(1, 4, 1),
		V(1, 5, 6), V(1, 7, 1), V(1, 8, 0), V(1, 8, 9) };
	static const uint32_t bad[] = { 0, V(0, 14, 4), V(1, 2, 9), V(1, 9, 0),
		V(2, 0, 0), UINT32_MAX };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_cs_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(hwtdi_cs_layout_of(good[i], &layout, &err),
		    HWTD_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(hwtdi_cs_layout_of(bad[i], &layout, &err),
		    HWTD_E_UNSUPPORTED);
	assert_int_equal(hwtdi_cs_layout_of(V(1, 9, 2), &layout, &err),
	    HWTD_E_UNSUPPORTED);
	assert_non_null(strstr(err.message, "OpenCSD 1.9.2"));
}

static void
kinds_mean_what_the_version_says(void **state)
{
	static const struct {
		uint32_t version, kind;
		uint8_t want;
	} cases[] = {
		{ V(1, 3, 3), KIND_16, HWTDI_CS_TRANSACTION },
		{ V(1, 3, 3), KIND_17, HWTDI_CS_OTHER },
		{ V(1, 4, 0), KIND_17, HWTDI_CS_INSTRUMENTATION },
		{ V(1, 4, 0), KIND_18, HWTDI_CS_OTHER },
		{ V(1, 6, 1), KIND_18, HWTDI_CS_OTHER },
		{ V(1, 7, 1), KIND_18, HWTDI_CS_ITM },
		{ V(1, 8, 0), KIND_19, HWTDI_CS_OTHER },
		{ V(1, 8, 0), 0, HWTDI_CS_OTHER },
		{ V(1, 8, 0), UINT32_MAX, HWTDI_CS_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes b = { { 0 } };

		put(&b, 0, 4, cases[i].kind);
		assert_int_equal(copy(cases[i].version, &b).kind,
		    cases[i].want);
	}
}

static void
the_end_of_trace_has_two_numbers(void **state)
{
	static const struct {
		uint32_t version, number;
		uint8_t want;
	} cases[] = {
		{ V(1, 3, 3), 5, HWTDI_CS_UNSYNCED_BAD_PACKET },
		{ V(1, 3, 3), 6, HWTDI_CS_UNSYNCED_END },
		{ V(1, 5, 3), 6, HWTDI_CS_UNSYNCED_END },
		{ V(1, 3, 3), 7, HWTDI_CS_UNSYNCED_UNKNOWN },
		{ V(1, 5, 4), 6, HWTDI_CS_UNSYNCED_BAD_IMAGE },
		{ V(1, 8, 0), 7, HWTDI_CS_UNSYNCED_END },
		{ V(1, 8, 0), 3, HWTDI_CS_UNSYNCED_OVERFLOW },
		{ V(1, 8, 0), 8, HWTDI_CS_UNSYNCED_UNKNOWN },
		{ V(1, 8, 0), 0x10003, HWTDI_CS_UNSYNCED_UNKNOWN },
	};
	struct bytes b = { { 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(&b, PAYLOAD_AT, 4, cases[i].number);
		put(&b, 0, 4, NO_SYNC);
		assert_int_equal(copy(cases[i].version, &b).reason,
		    cases[i].want);
		put(&b, 0, 4, END);
		assert_int_equal(copy(cases[i].version, &b).reason,
		    cases[i].want);
	}
}

/* The payload of STM lies behind a pointer, whose place has changed. */
static void
payloads_are_found_in_both_layouts(void **state)
{
	static const uint8_t payload[] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
		0x77, 0x88, 0x99 };
	static const struct {
		uint32_t version;
		size_t at;
	} cases[] = { { V(1, 3, 3), 80 }, { V(1, 4, 0), 88 },
		{ V(1, 8, 0), 88 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_cs_element e;
		struct bytes b = { { 0 } };

		put(&b, 0, 4, SOFTWARE);
		/* A time stamp, and more data. */
		put(&b, FLAGS_AT, 4, 1u << 9 | 1u << 8);
		put(&b, TIMESTAMP_AT, 8, 0x1234567890);
		put(&b, PAYLOAD_AT, 2, 0x81);
		put(&b, PAYLOAD_AT + 2, 2, 0x42);
		/* 32 bits, a marker packet, an ID that is valid. */
		put(&b, PAYLOAD_AT + 4, 4, 32 | 1u << 16 | 1u << 23);
		put(&b, cases[i].at, 8, (uint64_t)(uintptr_t)payload);
		e = copy(cases[i].version, &b);
		assert_int_equal(e.kind, HWTDI_CS_SOFTWARE);
		assert_int_equal(e.software.master, 0x81);
		assert_int_equal(e.software.channel, 0x42);
		assert_int_equal(e.software.bits, 32);
		assert_int_equal(e.software.payload, 0x44332211);
		assert_int_equal(e.software.flags, HWTD_MARKERF_MARKED);
		assert_int_equal(e.timestamp, 0x1234567890);
		/* Bits beyond what there is are not read. */
		put(&b, PAYLOAD_AT + 4, 1, 255);
		assert_int_equal(copy(cases[i].version, &b).software.payload,
		    0x8877665544332211);
		put(&b, cases[i].at, 8, 0);
		assert_int_equal(copy(cases[i].version, &b).software.bits, 0);
	}
}

static void
ranges_and_exceptions_are_alike_in_all(void **state)
{
	static const uint32_t versions[] = { V(1, 3, 3), V(1, 8, 0) };
	struct hwtdi_cs_element e;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct bytes b = { { 0 } };

		put(&b, 0, 4, RANGE);
		put(&b, ISA_AT, 4, 2);
		put(&b, ST_AT, 8, 0xffff000000001000);
		put(&b, EN_AT, 8, 0xffff000000001010);
		put(&b, CYCLES_AT, 4, 99);
		put(&b, LAST_AT, 4, 2);
		put(&b, LAST_SUB_AT, 4, 2);
		put(&b, FLAGS_AT, 4, 1 | 4 << 1 | 1u << 4 | 1u << 10);
		put(&b, PAYLOAD_AT, 4, 4);
		e = copy(versions[i], &b);
		assert_int_equal(e.kind, HWTDI_CS_RANGE);
		assert_int_equal(e.isa, HWTD_ISA_A64);
		assert_int_equal(e.st, 0xffff000000001000);
		assert_int_equal(e.en, 0xffff000000001010);
		assert_int_equal(e.n, 4);
		assert_int_equal(e.cycles, 99);
		assert_int_equal(e.last, HWTDI_CS_LAST_INDIRECT);
		assert_int_equal(e.last_sub, HWTDI_CS_SUB_RETURN);
		assert_int_equal(e.last_bytes, 4);
		assert_int_equal(e.flags,
		    HWTDI_CS_EXECUTED | HWTDI_CS_HAS_CYCLES |
			HWTDI_CS_CONDITIONAL);
		/* What a newer library may have. */
		put(&b, ISA_AT, 4, 200);
		put(&b, LAST_AT, 4, 99);
		put(&b, LAST_SUB_AT, 4, UINT32_MAX);
		e = copy(versions[i], &b);
		assert_int_equal(e.isa, HWTD_ISA_UNKNOWN);
		assert_int_equal(e.last, HWTDI_CS_LAST_UNKNOWN);
		assert_int_equal(e.last_sub, HWTDI_CS_SUB_NONE);
		put(&b, 0, 4, EXCEPTION);
		put(&b, FLAGS_AT, 4, 1u << 6 | 1u << 12);
		e = copy(versions[i], &b);
		assert_int_equal(e.n, 4);
		assert_int_equal(e.flags,
		    HWTDI_CS_HAS_RETURN | HWTDI_CS_TAIL_CHAIN);
	}
}

static void
instrumentation_has_a_level_and_a_value(void **state)
{
	struct hwtdi_cs_element e;
	struct bytes b = { { 0 } };

	(void)state;
	put(&b, 0, 4, KIND_17);
	put(&b, PAYLOAD_AT, 1, 2);
	put(&b, PAYLOAD_AT + 8, 8, 0x123456789abcdef0);
	e = copy(V(1, 8, 0), &b);
	assert_int_equal(e.kind, HWTDI_CS_INSTRUMENTATION);
	assert_int_equal(e.level, 2);
	assert_int_equal(e.value, 0x123456789abcdef0);
}

static void
the_library_that_runs_is_known(void **state)
{
	struct hwtdi_cs_layout layout;
	char text[16];

	(void)state;
	assert_int_equal(hwtdi_cs_layout_of(hwtdi_cs_library_version(),
			     &layout, NULL),
	    HWTD_OK);
	hwtdi_cs_library_text(V(1, 3, 3), text);
	assert_string_equal(text, "1.3.3");
	hwtdi_cs_library_text(UINT32_MAX, text);
	assert_string_equal(text, "4095.255.255");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_that_are_not_known_are_refused),
		cmocka_unit_test(kinds_mean_what_the_version_says),
		cmocka_unit_test(the_end_of_trace_has_two_numbers),
		cmocka_unit_test(payloads_are_found_in_both_layouts),
		cmocka_unit_test(ranges_and_exceptions_are_alike_in_all),
		cmocka_unit_test(instrumentation_has_a_level_and_a_value),
		cmocka_unit_test(the_library_that_runs_is_known),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
