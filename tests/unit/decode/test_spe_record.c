/*
 * Records of Arm SPE: fields, ends, and what is kept of what is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decode/spe/spe_names.h"
#include "support/spe_bytes.h"

#define BAD                                                                   \
	(HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_DUPLICATE |                      \
	    HWTD_SAMPLEF_TRUNCATED)

#define RECORD(...)                                                           \
	spe_record((const uint8_t[]){ __VA_ARGS__ },                          \
	    sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void
all_fields_of_a_slot_are_read(void **state)
{
	uint8_t bytes[SPE_SLOT];
	struct hwtd_sample s;

	(void)state;
	spe_slot(bytes, 0x400654, 1000);
	s = spe_record(bytes, sizeof(bytes));
	assert_int_equal(s.present,
	    HWTD_SAMPLE_PC | HWTD_SAMPLE_VA | HWTD_SAMPLE_PA |
		HWTD_SAMPLE_LAT_TOTAL | HWTD_SAMPLE_LAT_ISSUE |
		HWTD_SAMPLE_LAT_XLAT | HWTD_SAMPLE_CONTEXT_EL1 |
		HWTD_SAMPLE_CONTEXT_EL2 | HWTD_SAMPLE_OP | HWTD_SAMPLE_EVENTS |
		HWTD_SAMPLE_SOURCE | HWTD_SAMPLE_COUNT);
	assert_int_equal(s.flags, 0);
	assert_int_equal(s.stream_off, 0);
	assert_int_equal(s.bytes, 64);
	assert_int_equal(s.end, HWTD_SAMPLE_END_TIMESTAMP);
	assert_int_equal(s.pc, 0x400654);
	assert_int_equal(s.pc_el, 0);
	assert_int_equal(s.pc_security, HWTD_SECURITY_NONSECURE);
	assert_int_equal(s.va, 0x2040);
	assert_int_equal(s.pa, 0x7740);
	assert_int_equal(s.pa_security, HWTD_SECURITY_NONSECURE);
	assert_int_equal(s.op_class, HWTD_OP_CLASS_MEMORY);
	assert_int_equal(s.op, HWTD_OP_MEM_GENERAL);
	assert_int_equal(s.op_flags, 0);
	assert_int_equal(s.events, 0x16);
	assert_int_equal(s.event_bytes, 2);
	assert_int_equal(s.lat_issue, 4);
	assert_int_equal(s.lat_total, 9);
	assert_int_equal(s.lat_xlat, 1);
	assert_int_equal(s.source, 8);
	assert_int_equal(s.source_bytes, 1);
	assert_int_equal(s.count, 1000);
}

static void
addresses_are_canonical_by_bit_55(void **state)
{
	struct hwtd_sample s;

	(void)state;
	/* The top byte of a VA may be 0 in the upper half too. */
	s = RECORD(0xb2, 0x28, 0x6b, 0x09, 0x03, 0x37, 0x0e, 0xff, 0, 0x01);
	assert_int_equal(s.va, UINT64_C(0xffff0e3703096b28));
	assert_int_equal(s.va_tag, 0);
	s = RECORD(0xb2, 0x28, 0x6b, 0x09, 0x03, 0x37, 0x0e, 0xff, 0xff, 0x01);
	assert_int_equal(s.va, UINT64_C(0xffff0e3703096b28));
	assert_int_equal(s.va_tag, 0xff);
	/* A tag of a user's pointer is none of the address. */
	s = RECORD(0xb2, 0x28, 0x6b, 0x09, 0x03, 0x37, 0x0e, 0x00, 0xa5, 0x01);
	assert_int_equal(s.va, UINT64_C(0xe3703096b28));
	assert_int_equal(s.va_tag, 0xa5);
	/* EL2 does not make an address one of the upper half. */
	s = RECORD(0xb0, 0, 0x10, 0x20, 0x40, 0, 0, 0, 0xc0, 0x01);
	assert_int_equal(s.pc, 0x40201000);
	assert_int_equal(s.pc_el, 2);
	assert_int_equal(s.pc_security, HWTD_SECURITY_NONSECURE);
	/* Realm EL1, Secure EL1, Root EL3. */
	s = RECORD(0xb0, 0, 0x10, 0x20, 0, 0x80, 0, 0xff, 0xb0, 0x01);
	assert_int_equal(s.pc, UINT64_C(0xffff008000201000));
	assert_int_equal(s.pc_el, 1);
	assert_int_equal(s.pc_security, HWTD_SECURITY_REALM);
	s = RECORD(0xb0, 0, 0x10, 0x20, 0, 0x80, 0, 0xff, 0x20, 0x01);
	assert_int_equal(s.pc, UINT64_C(0xffff008000201000));
	assert_int_equal(s.pc_el, 1);
	assert_int_equal(s.pc_security, HWTD_SECURITY_SECURE);
	s = RECORD(0xb0, 0, 0x10, 0x20, 0, 0, 0, 0, 0x70, 0x01);
	assert_int_equal(s.pc, 0x201000);
	assert_int_equal(s.pc_el, 3);
	assert_int_equal(s.pc_security, HWTD_SECURITY_ROOT);
	/* Bits 59 to 56 are ignored. */
	s = RECORD(0xb0, 0, 0x10, 0x20, 0, 0, 0, 0, 0x8f, 0x01);
	assert_int_equal(s.pc, 0x201000);
}

static void
physical_addresses_have_tags_and_security(void **state)
{
	struct hwtd_sample s;

	(void)state;
	s = RECORD(0xb3, 0x40, 0x77, 1, 2, 3, 4, 0x85, 0xc7, 0x01);
	assert_int_equal(s.pa, UINT64_C(0x85040302017740));
	assert_int_equal(s.pa_tag, 7);
	assert_int_equal(s.pa_checked, 1);
	assert_int_equal(s.pa_security, HWTD_SECURITY_NONSECURE);
	s = RECORD(0xb3, 0x40, 0x77, 1, 2, 3, 4, 0, 0x95, 0x01);
	assert_int_equal(s.pa_tag, 5);
	assert_int_equal(s.pa_checked, 0);
	assert_int_equal(s.pa_security, HWTD_SECURITY_REALM);
}

static void
a_branch_that_is_not_taken_may_have_a_target_of_0(void **state)
{
	/* A model's record; the operation comes first, the PC near the end. */
	const struct hwtd_sample s = RECORD(0x4a, 0x01, 0xb1, 0, 0, 0, 0, 0, 0,
	    0, 0x80, 0x42, 0x42, 0xb0, 0x20, 0x41, 0xc0, 0xad, 0xff, 0xff, 0,
	    0x80, 0x98, 0, 0, 0x71, 0x80, 0x3e, 0xf7, 0x46, 0xe9, 0x01, 0, 0);

	(void)state;
	assert_int_equal(s.present,
	    HWTD_SAMPLE_OP | HWTD_SAMPLE_TARGET | HWTD_SAMPLE_EVENTS |
		HWTD_SAMPLE_PC | HWTD_SAMPLE_LAT_TOTAL | HWTD_SAMPLE_COUNT);
	assert_int_equal(s.flags, 0);
	assert_int_equal(s.target, 0);
	assert_int_equal(s.target_security, HWTD_SECURITY_NONSECURE);
	assert_int_equal(s.pc, UINT64_C(0xffffadc04120));
	assert_int_equal(s.op, HWTD_OP_BRANCH);
	assert_int_equal(s.op_flags, HWTD_OPF_CONDITIONAL);
	assert_int_equal(s.events, 0x42);
	assert_int_equal(s.bytes, 34);
}

static void
ends_and_timestamps_end_records_in_one_buffer(void **state)
{
	static const uint8_t bytes[] = { 0x48, 0, 0x01, 0, 0x49, 1, 0x71, 1, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0x4a, 0, 0x01, 0x4a, 1, 0x01, 0, 0 };
	static const struct {
		uint64_t off, bytes;
		uint8_t end, op_class;
	} want[] = {
		{ 0, 3, HWTD_SAMPLE_END_END, HWTD_OP_CLASS_OTHER },
		{ 4, 11, HWTD_SAMPLE_END_TIMESTAMP, HWTD_OP_CLASS_MEMORY },
		{ 17, 3, HWTD_SAMPLE_END_END, HWTD_OP_CLASS_BRANCH },
		{ 20, 3, HWTD_SAMPLE_END_END, HWTD_OP_CLASS_BRANCH },
	};
	struct hwtd_sample s[8];

	(void)state;
	assert_int_equal(spe_records(bytes, sizeof(bytes), s, 8), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(s[i].stream_off, want[i].off);
		assert_int_equal(s[i].bytes, want[i].bytes);
		assert_int_equal(s[i].end, want[i].end);
		assert_int_equal(s[i].op_class, want[i].op_class);
		assert_int_equal(s[i].flags & BAD, 0);
		assert_int_equal((s[i].flags & HWTD_SAMPLEF_HEADLESS) != 0,
		    i == 0);
	}
}

static void
events_have_up_to_64_bits(void **state)
{
	struct hwtd_sample s;

	(void)state;
	s = RECORD(0x62, 0, 0, 0xf8, 0x03, 0x01);
	assert_int_equal(s.events, 0x3f80000);
	assert_int_equal(s.event_bytes, 4);
	s = RECORD(0x72, 2, 0, 0, 0, 0, 0, 0, 0x80, 0x01);
	assert_int_equal(s.events, UINT64_C(0x8000000000000002));
	assert_int_equal(s.event_bytes, 8);
	s = RECORD(0x42, 0, 0x01);
	assert_int_equal(s.present, HWTD_SAMPLE_EVENTS);
	assert_int_equal(s.event_bytes, 1);
}

static void
indexes_without_meaning_are_kept(void **state)
{
	struct hwtd_sample s;

	(void)state;
	s = RECORD(0x9e, 0x0c, 0x01, 0x21, 0x98, 7, 0, 0x67, 1, 2, 3, 4, 0x23,
	    0xb7, 1, 2, 3, 4, 5, 6, 7, 8, 0x01);
	assert_int_equal(s.present, 0);
	assert_int_equal(s.flags & BAD, 0);
	assert_int_equal(s.n_extras, 4);
	assert_int_equal(s.extras[0].header, 0x9e);
	assert_int_equal(s.extras[0].index, 6);
	assert_int_equal(s.extras[0].bytes, 2);
	assert_int_equal(s.extras[0].payload, 0x10c);
	assert_int_equal(s.extras[1].header, 0x98);
	assert_int_equal(s.extras[1].index, 8);
	assert_int_equal(s.extras[1].payload, 7);
	assert_int_equal(s.extras[2].header, 0x67);
	assert_int_equal(s.extras[2].index, 3);
	assert_int_equal(s.extras[2].payload, 0x04030201);
	assert_int_equal(s.extras[3].header, 0xb7);
	assert_int_equal(s.extras[3].index, 31);
	assert_int_equal(s.extras[3].payload, UINT64_C(0x0807060504030201));
	/* Of one index the last counts; there is room for four. */
	s = RECORD(0x9b, 1, 0, 0x9c, 2, 0, 0x9d, 3, 0, 0x9e, 4, 0, 0x9f, 5, 0,
	    0x9c, 6, 0, 0x01);
	assert_int_equal(s.n_extras, 4);
	assert_int_equal(s.extras[1].payload, 6);
	assert_int_equal(s.flags & BAD, HWTD_SAMPLEF_DUPLICATE);
	assert_true((s.flags & HWTD_SAMPLEF_MORE_EXTRAS) != 0);
	/* An extended header with an index below 8 is the short one. */
	s = RECORD(0x20, 0xb0, 0, 0x10, 0, 0, 0, 0, 0, 0x80, 0x01);
	assert_int_equal(s.present, HWTD_SAMPLE_PC);
	assert_int_equal(s.pc, 0x1000);
}

static void
both_contexts_are_kept(void **state)
{
	const struct hwtd_sample s = RECORD(0x64, 1, 0, 0, 0, 0x65, 0, 0, 0,
	    0x80, 0x01);

	(void)state;
	assert_int_equal(s.present,
	    HWTD_SAMPLE_CONTEXT_EL1 | HWTD_SAMPLE_CONTEXT_EL2);
	assert_int_equal(s.context_el1, 1);
	assert_int_equal(s.context_el2, 0x80000000);
	assert_int_equal(s.flags & BAD, 0);
}

static void
no_data_source_is_not_source_0(void **state)
{
	struct hwtd_sample s;

	(void)state;
	s = RECORD(0x49, 0, 0xb2, 1, 0, 0, 0, 0, 0, 0, 0, 0x01);
	assert_int_equal(s.present & HWTD_SAMPLE_SOURCE, 0);
	s = RECORD(0x49, 0, 0x43, 0, 0x01);
	assert_int_equal(s.present & HWTD_SAMPLE_SOURCE, HWTD_SAMPLE_SOURCE);
	assert_int_equal(s.source, 0);
	s = RECORD(0x49, 0, 0x53, 0x0c, 0x80, 0x01);
	assert_int_equal(s.source, 0x800c);
	assert_int_equal(s.source_bytes, 2);
	s = RECORD(0x73, 1, 2, 3, 4, 5, 6, 7, 8, 0x01);
	assert_int_equal(s.source, UINT64_C(0x0807060504030201));
}

static void
the_target_of_the_branch_before_is_kept(void **state)
{
	const struct hwtd_sample s = RECORD(0xb4, 0x70, 0x08, 0x40, 0, 0, 0,
	    0x80, 0xc0, 0x01);

	(void)state;
	assert_int_equal(s.present, HWTD_SAMPLE_PREV_TARGET);
	assert_int_equal(s.prev_target, UINT64_C(0xff80000000400870));
	assert_int_equal(s.prev_target_el, 2);
	assert_int_equal(s.prev_target_security, HWTD_SECURITY_NONSECURE);
}

static struct hwtd_sample
counters(unsigned int bits, uint8_t low, uint8_t high)
{
	const uint8_t bytes[] = { 0x98, low, high, 0x99, 1, 0, 0x9a, low, high,
		0x01 };
	struct hwtdi_spe_reader r;
	struct hwtd_sample s;

	hwtdi_spe_reader_init(&r, bits);
	hwtdi_spe_reader_begin(&r, 0);
	assert_int_equal(hwtdi_spe_read(&r, bytes, sizeof(bytes), true, &s, 1),
	    1);
	assert_int_equal(s.lat_total, low | high << 8);
	assert_int_equal(s.lat_xlat, low | high << 8);
	assert_int_equal(s.lat_issue, 1);
	return (s);
}

static void
counters_say_that_they_are_at_their_limit(void **state)
{
	const uint32_t both = HWTD_SAMPLEF_TOTAL_SATURATED |
	    HWTD_SAMPLEF_XLAT_SATURATED;
	const uint32_t all = both | HWTD_SAMPLEF_ISSUE_SATURATED;

	(void)state;
	assert_int_equal(counters(12, 0xff, 0x0f).flags & all, both);
	assert_int_equal(counters(12, 0xfe, 0x0f).flags & all, 0);
	assert_int_equal(counters(16, 0xff, 0x0f).flags & all, 0);
	assert_int_equal(counters(16, 0xff, 0xff).flags & all, both);
	/* Not known: either. */
	assert_int_equal(counters(0, 0xff, 0x0f).flags & all, both);
	assert_int_equal(counters(0, 0xff, 0xff).flags & all, both);
	assert_int_equal(counters(0, 0, 0x10).flags & all, 0);
}

static void
reserved_payloads_and_headers_keep_the_record(void **state)
{
	struct hwtd_sample s;

	(void)state;
	s = RECORD(0xb0, 4, 0, 0, 0, 0, 0, 0, 0x80, 0x48, 0x09, 0x01);
	assert_int_equal(s.op_class, HWTD_OP_CLASS_OTHER);
	assert_int_equal(s.op, HWTD_OP_RESERVED);
	assert_int_equal(s.op_raw, 9);
	assert_int_equal(s.flags & BAD, 0);
	s = RECORD(0x49, 0xff, 0xb0, 4, 0, 0, 0, 0, 0, 0, 0x80, 0x01);
	assert_int_equal(s.op_class, HWTD_OP_CLASS_MEMORY);
	assert_int_equal(s.op, HWTD_OP_RESERVED);
	assert_int_equal(s.op_flags, HWTD_OPF_STORE);
	assert_int_equal(s.op_raw, 0xff);
	assert_int_equal(s.pc, 4);
	assert_int_equal(s.flags & BAD, 0);
	s = RECORD(0x4b, 0x00, 0xb0, 4, 0, 0, 0, 0, 0, 0, 0x80, 0x01);
	assert_int_equal(s.op_class, HWTD_OP_CLASS_RESERVED);
	assert_int_equal(s.op_raw, 0);
	assert_int_equal(s.pc, 4);
	assert_int_equal(s.flags & BAD, 0);
	s = RECORD(0x90, 0xaa, 0xbb, 0xb0, 4, 0, 0, 0, 0, 0, 0, 0x80, 0x02,
	    0x01);
	assert_int_equal(s.pc, 4);
	assert_int_equal(s.flags & BAD, 0);
	assert_int_equal(s.n_extras, 2);
	assert_int_equal(s.extras[0].header, 0x90);
	assert_int_equal(s.extras[0].payload, 0xbbaa);
	assert_int_equal(s.extras[0].bytes, 2);
	assert_int_equal(s.extras[0].is_unknown, 1);
	assert_int_equal(s.extras[1].header, 0x02);
	assert_int_equal(s.extras[1].bytes, 0);
}

/* Where data came from is not told of what has none. */
static void
branches_and_arithmetic_are_no_accesses(void **state)
{
	static const struct {
		uint8_t header, payload, op_class;
	} cases[] = {
		{ 0x4a, 0x08, HWTD_OP_CLASS_BRANCH },
		{ 0x4a, 0x10, HWTD_OP_CLASS_BRANCH },
		{ 0x4a, 0x1b, HWTD_OP_CLASS_BRANCH },
		{ 0x48, 0x06, HWTD_OP_CLASS_OTHER },
		{ 0x48, 0x0c, HWTD_OP_CLASS_OTHER },
	};
	const struct hwtdi_spe_producer n1 = { 0x413fd0c1, 0 };
	struct hwtdi_spe_origin origin;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* With events and a source that a load would have. */
		const struct hwtd_sample s = RECORD(cases[i].header,
		    cases[i].payload, 0x52, 0x16, 0, 0x43, 0, 0x01);

		assert_int_equal(s.op_class, cases[i].op_class);
		assert_int_equal(s.op_raw, cases[i].payload);
		assert_int_equal(s.op_flags & HWTD_OPF_STORE, 0);
		assert_false(hwtdi_spe_origin(&n1, &s, &origin));
	}
}

static void
a_predicate_is_empty_if_both_events_are_there(void **state)
{
	struct hwtd_sample s;

	(void)state;
	s = RECORD(0x49, 0x3c, 0x62, 2, 0, 2, 0, 0x01);
	assert_int_equal(hwtdi_spe_predicate(&s), HWTDI_SPE_PREDICATE_PARTIAL);
	s = RECORD(0x49, 0x3c, 0x62, 2, 0, 6, 0, 0x01);
	assert_int_equal(hwtdi_spe_predicate(&s), HWTDI_SPE_PREDICATE_EMPTY);
	s = RECORD(0x49, 0x3c, 0x62, 2, 0, 0, 0, 0x01);
	assert_int_equal(hwtdi_spe_predicate(&s), HWTDI_SPE_PREDICATE_FULL);
}

static void
a_part_of_an_address_is_no_small_one(void **state)
{
	const struct hwtd_sample s = RECORD(0x48, 0, 0xb0, 0x11, 0x22);

	(void)state;
	assert_int_equal(s.present, HWTD_SAMPLE_OP);
	assert_int_equal(s.flags & BAD, HWTD_SAMPLEF_TRUNCATED);
	assert_int_equal(s.bytes, 5);
	assert_int_equal(s.pc, 0);
}

static void
timestamps_may_be_equal_go_back_and_be_large(void **state)
{
	static const uint64_t counts[] = { 7, 7, 6, UINT64_C(1) << 63,
		UINT64_MAX, 0 };
	static const bool back[] = { false, false, true, false, false, true };
	struct hwtd_sample s[8];
	uint8_t bytes[6 * SPE_SLOT];

	(void)state;
	for (size_t i = 0; i < 6; i++)
		spe_slot(bytes + i * SPE_SLOT, 0x1000, counts[i]);
	assert_int_equal(spe_records(bytes, sizeof(bytes), s, 8), 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(s[i].count, counts[i]);
		assert_int_equal(s[i].flags & BAD, 0);
		assert_int_equal((s[i].flags & HWTD_SAMPLEF_COUNT_BACK) != 0,
		    back[i]);
	}
}

/*
 * A counter of 16 bits.  Counts are whole from 0xfff0 on, so up to 0x1ffef: 5 is
 * 0x10005, 3 is 0x10003 and back, 0xfff0 is where it all begins and back, and
 * 0xffef is the last, 0x1ffef.
 */
static void
timestamps_that_begin_again_are_not_back(void **state)
{
	static const uint64_t counts[] = { 0xfff0, 0xffff, 5, 3, 0xffef,
		0xfff0, 0xfff0 };
	static const bool back[] = { false, false, false, true, false, true,
		false };
	static const bool raw_back[] = { false, false, true, true, false,
		false, false };
	struct hwtdi_spe_reader r;
	struct hwtd_sample s[8];
	uint8_t bytes[7 * SPE_SLOT];

	(void)state;
	for (size_t i = 0; i < 7; i++)
		spe_slot(bytes + i * SPE_SLOT, 0x1000, counts[i]);
	for (unsigned int wraps = 0; wraps < 2; wraps++) {
		hwtdi_spe_reader_init(&r, 0);
		hwtdi_spe_reader_wrap(&r, 0xfff0, wraps ? 0xffff : 0);
		hwtdi_spe_reader_begin(&r, 0);
		assert_int_equal(hwtdi_spe_read(&r, bytes, sizeof(bytes), true,
				     s, 8),
		    7);
		for (size_t i = 0; i < 7; i++) {
			/* What is told is the count as it was read. */
			assert_int_equal(s[i].count, counts[i]);
			assert_int_equal(s[i].flags & BAD, 0);
			assert_int_equal((s[i].flags &
					     HWTD_SAMPLEF_COUNT_BACK) != 0,
			    (wraps ? back : raw_back)[i]);
		}
	}
}

static void
alignment_and_padding_change_nothing(void **state)
{
	struct hwtd_sample s[2];
	const uint8_t bytes[] = { 0x22, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x48, 0, 0, 0x22, 0, 0xff, 0xff, 0xff, 0x42, 2, 0x01 };

	(void)state;
	assert_int_equal(spe_records(bytes, sizeof(bytes), s, 2), 1);
	assert_int_equal(s[0].present, HWTD_SAMPLE_OP | HWTD_SAMPLE_EVENTS);
	assert_int_equal(s[0].stream_off, 8);
	assert_int_equal(s[0].bytes, 11);
	assert_int_equal(s[0].flags, HWTD_SAMPLEF_HEADLESS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_of_a_slot_are_read),
		cmocka_unit_test(addresses_are_canonical_by_bit_55),
		cmocka_unit_test(physical_addresses_have_tags_and_security),
		cmocka_unit_test(
		    a_branch_that_is_not_taken_may_have_a_target_of_0),
		cmocka_unit_test(
		    ends_and_timestamps_end_records_in_one_buffer),
		cmocka_unit_test(events_have_up_to_64_bits),
		cmocka_unit_test(indexes_without_meaning_are_kept),
		cmocka_unit_test(both_contexts_are_kept),
		cmocka_unit_test(no_data_source_is_not_source_0),
		cmocka_unit_test(the_target_of_the_branch_before_is_kept),
		cmocka_unit_test(counters_say_that_they_are_at_their_limit),
		cmocka_unit_test(
		    reserved_payloads_and_headers_keep_the_record),
		cmocka_unit_test(branches_and_arithmetic_are_no_accesses),
		cmocka_unit_test(
		    a_predicate_is_empty_if_both_events_are_there),
		cmocka_unit_test(a_part_of_an_address_is_no_small_one),
		cmocka_unit_test(timestamps_may_be_equal_go_back_and_be_large),
		cmocka_unit_test(timestamps_that_begin_again_are_not_back),
		cmocka_unit_test(alignment_and_padding_change_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
