/*
 * Damage in Arm SPE: it costs the record that it is in, and no other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/spe_bytes.h"

#define BAD                                                                   \
	(HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_DUPLICATE |                      \
	    HWTD_SAMPLEF_TRUNCATED)
#define SLOTS 100

static void
fill(uint8_t *bytes, size_t n_slots)
{
	for (size_t i = 0; i < n_slots; i++)
		spe_slot(bytes + i * SPE_SLOT, 0x400000 + 4 * i,
		    1000000000 + 17 * i);
}

/* Without what is told of the first of a buffer. */
static void
check_same(const struct hwtd_sample *got, const struct hwtd_sample *want)
{
	assert_memory_equal(got, want, sizeof(*got));
}

/* Every other value of every byte of a slot. */
static void
a_changed_byte_costs_one_record_of_100(void **state)
{
	uint8_t bytes[SLOTS * SPE_SLOT];
	struct hwtd_sample want[SLOTS], got[SLOTS + 4];
	const size_t at = SLOTS / 2;

	(void)state;
	fill(bytes, SLOTS);
	assert_int_equal(spe_records(bytes, sizeof(bytes), want, SLOTS + 1),
	    SLOTS);
	for (size_t i = 0; i < SPE_SLOT; i++)
		for (unsigned int x = 1; x < 256; x++) {
			uint8_t *byte = &bytes[at * SPE_SLOT + i];
			struct hwtdi_spe_reader r;
			size_t n;

			*byte ^= (uint8_t)x;
			hwtdi_spe_reader_init(&r, 0);
			hwtdi_spe_reader_begin(&r, 0);
			n = hwtdi_spe_read(&r, bytes, sizeof(bytes), true, got,
			    SLOTS + 4);
			if (n != SLOTS)
				print_message("byte %zu: %#x\n", i, *byte);
			assert_int_equal(n, SLOTS);
			for (size_t k = 0; k < SLOTS; k++) {
				/* Next to a count that is wrong. */
				if (k == at + 1)
					got[k].flags = want[k].flags;
				if (k != at)
					check_same(&got[k], &want[k]);
			}
			assert_int_equal(got[at].stream_off / SPE_SLOT, at);
			*byte ^= (uint8_t)x;
		}
}

static void
a_bad_byte_marks_its_record(void **state)
{
	uint8_t bytes[SLOTS * SPE_SLOT];
	struct hwtd_sample got[SLOTS + 4];

	(void)state;
	/* In all slots, also before it is known that there are any. */
	for (size_t i = 0; i < SLOTS; i++) {
		fill(bytes, SLOTS);
		bytes[i * SPE_SLOT + 53] = 0x30;
		bytes[i * SPE_SLOT + 54] = 0x30;
		assert_int_equal(spe_records(bytes, sizeof(bytes), got,
				     SLOTS + 4),
		    SLOTS);
		for (size_t k = 0; k < SLOTS; k++) {
			assert_int_equal(got[k].flags & BAD,
			    k == i ? HWTD_SAMPLEF_DAMAGED : 0);
			assert_int_equal(got[k].stream_off, k * SPE_SLOT);
			assert_int_equal(got[k].bytes, SPE_SLOT);
			assert_int_equal(got[k].pc, 0x400000 + 4 * k);
		}
	}
}

static void
a_lost_end_costs_one_record_where_there_are_slots(void **state)
{
	uint8_t bytes[10 * SPE_SLOT];
	struct hwtd_sample got[12];

	(void)state;
	fill(bytes, 10);
	memset(bytes + 5 * SPE_SLOT + 55, 0, 9);
	assert_int_equal(spe_records(bytes, sizeof(bytes), got, 12), 10);
	for (size_t k = 0; k < 10; k++) {
		assert_int_equal(got[k].flags & BAD,
		    k == 5 ? HWTD_SAMPLEF_DAMAGED : 0);
		assert_int_equal(got[k].pc, 0x400000 + 4 * k);
	}
	assert_int_equal(got[5].end, HWTD_SAMPLE_END_NONE);
}

static void
a_lost_end_is_noticed_by_the_packet_that_records_begin_with(void **state)
{
	static const uint8_t bytes[] = {
		0x48, 0, 0xb0, 4, 0, 0, 0, 0, 0, 0, 0x80, 0x01, /* */
		0x48, 0, 0xb0, 8, 0, 0, 0, 0, 0, 0, 0x80, 0x00, /* */
		0x48, 0, 0xb0, 12, 0, 0, 0, 0, 0, 0, 0x80, 0x01, /* */
		0x48, 0, 0xb0, 16, 0, 0, 0, 0, 0, 0, 0x80, 0x01, /* */
	};
	struct hwtd_sample got[8];

	(void)state;
	assert_int_equal(spe_records(bytes, sizeof(bytes), got, 8), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(got[i].flags & BAD,
		    i == 1 ? HWTD_SAMPLEF_DAMAGED : 0);
		assert_int_equal(got[i].stream_off, 12 * i);
		assert_int_equal(got[i].bytes, i == 1 ? 11 : 12);
		assert_int_equal(got[i].pc, 4 + 4 * i);
	}
}

/* Any other can be a sign of that too: the last one counts. */
static void
a_packet_that_comes_twice_is_told(void **state)
{
	static const uint8_t bytes[] = {
		0x48, 0, 0xb0, 4, 0, 0, 0, 0, 0, 0, 0x80, /* */
		0xb0, 8, 0, 0, 0, 0, 0, 0, 0x80, 0x01, /* */
		0x48, 0, 0xb0, 16, 0, 0, 0, 0, 0, 0, 0x80, 0x01, /* */
	};
	struct hwtd_sample got[8];

	(void)state;
	assert_int_equal(spe_records(bytes, sizeof(bytes), got, 8), 2);
	assert_int_equal(got[0].flags & BAD, HWTD_SAMPLEF_DUPLICATE);
	assert_int_equal(got[0].pc, 8);
	assert_int_equal(got[1].flags & BAD, 0);
}

/* Cut in a packet, and the next buffer without a sign of it. */
static void
a_record_that_is_cut_costs_one_more_where_buffers_are_glued(void **state)
{
	uint8_t bytes[12 * SPE_SLOT];
	struct hwtd_sample got[16];

	(void)state;
	for (size_t cut = 1; cut < SPE_SLOT; cut++) {
		size_t k;

		fill(bytes, 6);
		fill(bytes + 5 * SPE_SLOT + cut, 6);
		k = spe_records(bytes, 11 * SPE_SLOT + cut, got, 16);
		for (size_t i = 0; i < k; i++)
			if (got[i].stream_off < 5 * SPE_SLOT ||
			    got[i].stream_off >= 6 * SPE_SLOT + cut)
				assert_int_equal(got[i].flags & BAD, 0);
		assert_in_range(k, 11, 12);
	}
}

static void
two_records_can_be_cut_at_every_byte(void **state)
{
	uint8_t bytes[2 * SPE_SLOT];
	struct hwtd_sample got[4];

	(void)state;
	fill(bytes, 2);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		const size_t k = spe_records(bytes, n, got, 4);
		const size_t part = n % SPE_SLOT;

		assert_int_equal(k, (n + SPE_SLOT - 1) / SPE_SLOT);
		for (size_t i = 0; i < k; i++)
			assert_int_equal(got[i].flags & BAD,
			    part != 0 && i + 1 == k ? HWTD_SAMPLEF_TRUNCATED
						    : 0);
		if (part == 0)
			continue;
		/* What is whole is there; padding is not counted. */
		assert_int_equal((got[k - 1].present & HWTD_SAMPLE_PC) != 0,
		    part >= 9);
		assert_int_equal((got[k - 1].present & HWTD_SAMPLE_PA) != 0,
		    part >= 51);
		assert_int_equal(got[k - 1].end, HWTD_SAMPLE_END_NONE);
		assert_int_equal(got[k - 1].bytes,
		    part == 54 || part == 55 ? 53 : part);
	}
}

static void
two_records_can_begin_at_every_byte(void **state)
{
	uint8_t bytes[4 * SPE_SLOT];
	struct hwtd_sample got[8];

	(void)state;
	fill(bytes, 4);
	for (size_t cut = 0; cut <= SPE_SLOT; cut++) {
		const size_t k = spe_records(bytes + cut, sizeof(bytes) - cut,
		    got, 8);

		/*
		 * The latency of 1 at byte 40 looks like an end; what is left
		 * of the count like packets without meaning, or padding.
		 */
		if (cut >= 56)
			assert_in_range(k, 3, 4);
		else
			assert_int_equal(k, cut == 40 ? 5 : 4);
		assert_int_equal((got[0].flags & HWTD_SAMPLEF_HEADLESS) != 0,
		    (got[0].present & HWTD_SAMPLE_PC) == 0);
		assert_int_equal(got[0].present & HWTD_SAMPLE_PC,
		    cut == 0 || k == 3 ? HWTD_SAMPLE_PC : 0);
		for (size_t i = k - 3; i < k; i++) {
			/* With that before it, the first can be damaged. */
			if (i > 0)
				assert_int_equal(got[i].flags & BAD, 0);
			assert_int_equal(got[i].pc,
			    0x400000 + 4 * (4 - k + i));
		}
	}
}

static void
buffers_are_not_glued(void **state)
{
	uint8_t bytes[2 * SPE_SLOT];
	struct hwtdi_spe_reader r;
	struct hwtd_sample got[4];

	(void)state;
	fill(bytes, 2);
	hwtdi_spe_reader_init(&r, 0);
	for (size_t n = 1; n < SPE_SLOT; n++) {
		hwtdi_spe_reader_begin(&r, 0);
		assert_int_equal(hwtdi_spe_read(&r, bytes, n, true, got, 4),
		    1);
		assert_int_equal(got[0].flags & BAD, HWTD_SAMPLEF_TRUNCATED);
		/* The rest of it is another buffer. */
		hwtdi_spe_reader_begin(&r, 1000);
		assert_int_equal(hwtdi_spe_read(&r, bytes + SPE_SLOT, SPE_SLOT,
				     true, got, 4),
		    1);
		assert_int_equal(got[0].flags & BAD, 0);
		assert_int_equal(got[0].stream_off, 1000);
		assert_int_equal(got[0].pc, 0x400004);
	}
}

static void
garbage_is_one_damaged_record(void **state)
{
	const size_t garbage = 100000;
	uint8_t *bytes = malloc(garbage + 4 * SPE_SLOT);
	struct hwtd_sample got[16];

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0xff, garbage);
	fill(bytes + garbage, 4);
	assert_int_equal(spe_records(bytes, garbage + 4 * SPE_SLOT, got, 16),
	    5);
	assert_int_equal(got[0].flags & BAD, HWTD_SAMPLEF_DAMAGED);
	assert_int_equal(got[0].bytes, garbage);
	for (size_t i = 1; i < 5; i++)
		assert_int_equal(got[i].flags & BAD, 0);
	assert_int_equal(spe_records(bytes, garbage, got, 16), 1);
	assert_int_equal(got[0].bytes, garbage);
	free(bytes);
}

/* Begun, and then nothing for long: it is no part of the next one. */
static void
a_record_is_not_endless(void **state)
{
	uint8_t *bytes = calloc(20000, 1);
	struct hwtd_sample got[4];

	(void)state;
	assert_non_null(bytes);
	bytes[0] = 0x48;
	spe_slot(bytes + 10000, 0x1000, 5);
	assert_int_equal(spe_records(bytes, 20000, got, 4), 2);
	assert_int_equal(got[0].bytes, 2);
	assert_int_equal(got[0].flags & BAD, HWTD_SAMPLEF_DAMAGED);
	assert_int_equal(got[1].stream_off, 10000);
	assert_int_equal(got[1].flags & BAD, 0);
	free(bytes);
}

static void
a_producer_of_other_lengths_is_not_taken_for_one_of_slots(void **state)
{
	uint8_t bytes[1000];
	struct hwtd_sample got[40];
	size_t n = 0, k;

	(void)state;
	/* Two of 64 bytes, and then ever longer and shorter ones. */
	for (k = 0; k < 20; k++) {
		static const size_t lengths[] = { 64, 64, 46, 34, 64, 46, 12,
			64, 64, 34 };
		const size_t length = lengths[k % 10];

		if (n + length > sizeof(bytes))
			break;
		memset(bytes + n, 0, length);
		bytes[n] = 0xb0;
		bytes[n + 1] = (uint8_t)(4 * k);
		bytes[n + 8] = 0x80;
		bytes[n + length - 3] = 0x48;
		bytes[n + length - 1] = 0x01;
		n += length;
	}
	assert_int_equal(spe_records(bytes, n, got, 40), k);
	for (size_t i = 0; i < k; i++) {
		assert_int_equal(got[i].flags & BAD, 0);
		assert_int_equal(got[i].pc, 4 * i);
	}
}

/* A record of as many bytes as told, with its padding before the end. */
static size_t
put_long(uint8_t *bytes, size_t length, size_t pc)
{
	memset(bytes, 0, length);
	bytes[0] = 0xb0;
	bytes[1] = (uint8_t)pc;
	bytes[8] = 0x80;
	bytes[9] = 0x48;
	if (length >= 40) {
		bytes[11] = 0xb2;
		bytes[12] = 1;
		bytes[20] = 0x9a;
	}
	bytes[length - 9] = 0x71;
	bytes[length - 8] = 1;
	return (length);
}

/* Two of 64 bytes are no proof: what comes next may end, or begin, elsewhere. */
static void
two_records_of_64_bytes_do_not_make_slots(void **state)
{
	static const size_t lengths[][4] = {
		/* Together they are as long as a slot. */
		{ 64, 64, 32, 32 },
		{ 64, 64, 20, 44 },
		/* The next one is across the end of it. */
		{ 64, 64, 32, 96 },
		{ 64, 64, 44, 76 },
		/* It has its end behind that of a slot. */
		{ 64, 64, 68, 60 },
		{ 64, 64, 72, 56 },
		{ 64, 64, 100, 28 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t bytes[512];
		struct hwtd_sample got[8];
		size_t n = 0, at = 0;

		for (size_t k = 0; k < 4; k++)
			n += put_long(bytes + n, lengths[i][k], 4 * k);
		assert_int_equal(spe_records(bytes, n, got, 8), 4);
		for (size_t k = 0; k < 4; k++) {
			print_message("case %zu: %zu\n", i, k);
			assert_int_equal(got[k].flags & BAD, 0);
			assert_int_equal(got[k].stream_off, at);
			assert_int_equal(got[k].bytes, lengths[i][k]);
			assert_int_equal(got[k].pc, 4 * k);
			at += lengths[i][k];
		}
	}
}

/* A record of it lacks its operation, and begins as others do. */
static void
what_is_not_whole_may_follow_what_is_in_no_slot(void **state)
{
	/* Of the third record, and of the fourth one, which lacks it. */
	static const size_t lengths[][2] = { { 32, 32 }, { 20, 44 },
		{ 32, 96 }, { 44, 76 }, { 68, 60 }, { 72, 56 }, { 100, 28 } };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (size_t lacks = 2; lacks < 4; lacks++) {
			uint8_t bytes[512];
			struct hwtd_sample got[8];
			size_t n = 0, at = 0;

			for (size_t k = 0; k < 4; k++) {
				const size_t length = k < 2
				    ? 64
				    : lengths[i][k - 2];

				(void)put_long(bytes + n, length, 4 * k);
				if (k == lacks)
					bytes[n + 9] = 0;
				n += length;
			}
			print_message("case %zu: %zu\n", i, lacks);
			assert_int_equal(spe_records(bytes, n, got, 8), 4);
			for (size_t k = 0; k < 4; k++) {
				assert_int_equal(got[k].flags & BAD, 0);
				assert_int_equal(got[k].stream_off, at);
				assert_int_equal((got[k].present &
						     HWTD_SAMPLE_OP) != 0,
				    k != lacks);
				at += got[k].bytes;
			}
			assert_int_equal(at, n);
		}
}

/* Where there are slots for long, it is what is left of one. */
static void
a_false_end_costs_one_record_where_there_are_slots(void **state)
{
	uint8_t bytes[10 * SPE_SLOT];
	struct hwtd_sample got[12];

	(void)state;
	fill(bytes, 10);
	/* The issue latency is 0xb0, and its header is an END. */
	bytes[7 * SPE_SLOT + 24] = 0x01;
	bytes[7 * SPE_SLOT + 25] = 0xb0;
	assert_int_equal(spe_records(bytes, sizeof(bytes), got, 12), 10);
	for (size_t k = 0; k < 10; k++) {
		assert_int_equal(got[k].flags & BAD,
		    k == 7 ? HWTD_SAMPLEF_DAMAGED : 0);
		assert_int_equal(got[k].pc, 0x400000 + 4 * k);
	}
}

/*
 * Two branches of a Kunpeng 920, without slots.  Its time is made so that the upper
 * bytes of a timestamp are a data source of 0, and those above are padding.
 */
static void
a_timestamp_that_is_cut_gives_no_packets(void **state)
{
	static const uint8_t record[44] = { 0xb0, 0x00, 0xe1, 0x20, 0x2a, 0xee,
		0xb7, 0xff, 0xc0, 0x99, 0x02, 0x00, 0x98, 0x03, 0x00, 0x52,
		0xc2, 0x00, 0x4a, 0x01, 0xb1, 0x04, 0xe1, 0x20, 0x2a, 0xee,
		0xb7, 0xff, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x71,
		0x3f, 0xe9, 0x51, 0xb9, 0xa9, 0x43, 0x00, 0x00 };
	uint8_t bytes[3 * sizeof(record)];
	struct hwtd_sample got[5];

	(void)state;
	for (size_t cut = 36; cut <= sizeof(record); cut++) {
		const size_t left = sizeof(record) - cut;
		const size_t n = left > 2 ? 3 : 2;

		for (size_t i = 0; i < 3; i++)
			memcpy(bytes + i * sizeof(record), record,
			    sizeof(record));
		/* 100,000,000 counts later, and 2 more. */
		bytes[44 + 36] = 0x3f;
		bytes[44 + 37] = 0xca;
		bytes[44 + 38] = 0x47;
		bytes[44 + 39] = 0xbf;
		bytes[88 + 36] = 0x41;
		bytes[88 + 37] = 0xca;
		bytes[88 + 38] = 0x47;
		bytes[88 + 39] = 0xbf;
		print_message("%zu bytes are left\n", left);
		assert_int_equal(spe_records(bytes + cut, sizeof(bytes) - cut,
				     got, 5),
		    n);
		if (n == 3) {
			assert_int_equal(got[0].stream_off, 0);
			assert_int_equal(got[0].bytes, left);
			assert_int_equal(got[0].present, 0);
			assert_int_equal(got[0].flags,
			    HWTD_SAMPLEF_HEADLESS | HWTD_SAMPLEF_TRUNCATED);
		}
		for (size_t i = n - 2; i < n; i++) {
			assert_int_equal(got[i].bytes, sizeof(record));
			assert_int_equal(got[i].flags, 0);
			assert_int_equal(got[i].present &
				(HWTD_SAMPLE_SOURCE | HWTD_SAMPLE_PC |
				    HWTD_SAMPLE_OP),
			    HWTD_SAMPLE_PC | HWTD_SAMPLE_OP);
		}
		assert_int_equal(got[n - 2].count, UINT64_C(0x43a9bf47ca3f));
	}
}

/* The same bytes where the time is not theirs: they are what they look like. */
static void
a_record_may_begin_as_a_timestamp_could_end(void **state)
{
	static const uint8_t bytes[] = { 0x43, 0, 0, 0xb0, 4, 0, 0, 0, 0, 0, 0,
		0x80, 0x49, 0, 0x71, 1, 2, 3, 4, 5, 0x44, 0, 0 };
	const struct hwtd_sample s = spe_record(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(s.flags, 0);
	assert_int_equal(s.bytes, sizeof(bytes));
	assert_true((s.present & HWTD_SAMPLE_SOURCE) != 0);
}

/* Bytes of an address look like the header of one; what follows fits too. */
static void
parts_of_a_record_are_no_place_to_begin(void **state)
{
	static const uint8_t record[44] = { 0xb0, 0x10, 0xb0, 0x49, 0xd2, 0, 0,
		0, 0x80, 0x99, 0x10, 0, 0x98, 0x12, 0, 0x52, 2, 0, 0x4a, 1,
		0xb1, 0x14, 0xb0, 0x49, 0xd2, 0, 0, 0, 0x80, [35] = 0x71, 1 };
	uint8_t bytes[8 * sizeof(record)];
	const size_t n = sizeof(bytes);

	(void)state;
	for (size_t i = 0; i < 8; i++)
		memcpy(bytes + i * sizeof(record), record, sizeof(record));
	/* As if a record began there. */
	assert_true(hwtdi_spe_begins_record(bytes + 2, n - 2));
	for (size_t from = 0; from < 4 * sizeof(record); from++) {
		const size_t at = hwtdi_spe_find_sync(bytes, n, n, from);

		assert_int_equal(at % sizeof(record), 0);
		assert_in_range(at, from + 1, from + 2 * sizeof(record));
	}
	/* What is seen may be more than where it has to be. */
	assert_int_equal(hwtdi_spe_find_sync(bytes, sizeof(record), n, 0),
	    sizeof(record));
	assert_int_equal(hwtdi_spe_find_sync(bytes, sizeof(record) + 1, n, 0),
	    sizeof(record));
}

/* A record of the payload of which a part was taken for the end. */
static void
empty_slots_and_slots_of_another_place_are_read(void **state)
{
	uint8_t bytes[12 * SPE_SLOT] = { 0 };
	struct hwtd_sample got[12];

	(void)state;
	fill(bytes, 3);
	/* Bytes were lost: slots lie elsewhere from here on. */
	fill(bytes + 4 * SPE_SLOT + 20, 3);
	memset(bytes + 6 * SPE_SLOT + 20 + 51, 0xff, 3);
	fill(bytes + 8 * SPE_SLOT + 20, 3);
	assert_int_equal(spe_records(bytes, sizeof(bytes), got, 12), 9);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(got[i].flags & BAD,
		    i == 5 ? HWTD_SAMPLEF_DAMAGED : 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_byte_costs_one_record_of_100),
		cmocka_unit_test(a_bad_byte_marks_its_record),
		cmocka_unit_test(
		    a_lost_end_costs_one_record_where_there_are_slots),
		cmocka_unit_test(
		    a_lost_end_is_noticed_by_the_packet_that_records_begin_with),
		cmocka_unit_test(a_packet_that_comes_twice_is_told),
		cmocka_unit_test(
		    a_record_that_is_cut_costs_one_more_where_buffers_are_glued),
		cmocka_unit_test(two_records_can_be_cut_at_every_byte),
		cmocka_unit_test(two_records_can_begin_at_every_byte),
		cmocka_unit_test(buffers_are_not_glued),
		cmocka_unit_test(garbage_is_one_damaged_record),
		cmocka_unit_test(a_record_is_not_endless),
		cmocka_unit_test(
		    a_producer_of_other_lengths_is_not_taken_for_one_of_slots),
		cmocka_unit_test(parts_of_a_record_are_no_place_to_begin),
		cmocka_unit_test(two_records_of_64_bytes_do_not_make_slots),
		cmocka_unit_test(
		    what_is_not_whole_may_follow_what_is_in_no_slot),
		cmocka_unit_test(
		    a_false_end_costs_one_record_where_there_are_slots),
		cmocka_unit_test(a_timestamp_that_is_cut_gives_no_packets),
		cmocka_unit_test(a_record_may_begin_as_a_timestamp_could_end),
		cmocka_unit_test(
		    empty_slots_and_slots_of_another_place_are_read),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
