/*
 * Packets of Arm SPE: names and fields of hand-written bytes, times of records,
 * and the same rows in segments of any size and from anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/packet_rows.h"
#include "support/slot_size.h"
#include "support/spe_bytes.h"

static const struct hwtd_packets_options perf = {
	.size = sizeof(perf),
	.flags = HWTD_PACKETS_PERF_LINES,
};

static void
assert_text(const uint8_t *bytes, size_t n,
    const struct hwtd_packets_options *opts, const char *want)
{
	struct hwtd_trace *trace = mt_seal(spe_trace(HWTD_NO_ID, bytes, n));

	pk_assert_text(trace, opts, want);
	hwtd_trace_close(trace);
}

#define TEXT(bytes, opts, want) assert_text(bytes, sizeof(bytes), opts, want)

static void
each_packet_has_its_kind_and_its_fields(void **state)
{
	static const uint8_t bytes[] = {
		/* PC at EL1 of a kernel; the top byte is no part of it. */
		0xb0, 0x10, 0x20, 0x30, 0x00, 0x00, 0x00, 0xff, 0xa0,
		/* Target in Realm EL0, of two header bytes. */
		0x20, 0xb1, 0x04, 0, 0, 0, 0, 0, 0, 0x90,
		/* VA of tag 0xff, PA with a tag, target of the branch before. */
		0xb2, 0x01, 0, 0, 0, 0, 0, 0, 0xff, 0xb3, 0x00, 0x70, 0, 0, 0,
		0, 0, 0xca, 0xb4, 0x08, 0, 0, 0, 0, 0, 0, 0xc0,
		/* An address of index 24; latencies; a counter of index 6. */
		0x23, 0xb0, 0x99, 0, 0, 0, 0, 0, 0, 0, 0x98, 0x09, 0x01, 0x99,
		0x04, 0x00, 0x9a, 0xff, 0xff, 0x9e, 0x10, 0x00,
		/* Context of EL2, events, a data source, operations. */
		0x65, 0x78, 0x56, 0x34, 0x12, 0x62, 0x42, 0x10, 0x08, 0x04,
		0x43, 0x0c, 0x49, 0x1b, 0x48, 0x1e, 0x4a, 0x0b, 0x49, 0xff,
		/* Two zeros, a timestamp of 1005, an end. */
		0x00, 0x00, 0x71, 0xed, 0x03, 0, 0, 0, 0, 0, 0, 0x01
	};

	(void)state;
	TEXT(bytes, NULL,
	    "0 spe.pc el1, nonsecure @ffff000000302010\n"
	    "9 spe.target el0, realm @4\n"
	    "19 spe.va tag ff @1\n"
	    "28 spe.pa 7000, nonsecure, checked, tag a\n"
	    "37 spe.previous el2, nonsecure @8\n"
	    "46 spe.address index 24, 99\n"
	    "56 spe.total 265 cycles\n"
	    "59 spe.issue 4 cycles\n"
	    "62 spe.xlat 65535 cycles\n"
	    "65 spe.counter index 6, 16\n"
	    "68 spe.context el2, 12345678\n"
	    "73 spe.events retired, not-taken, bit 12, l2d-access, bit 26\n"
	    "78 spe.source 12\n"
	    "80 spe.operation store, extended, exclusive, acquire-release\n"
	    "82 spe.operation other, sve, fp, predicated, 64 bits\n"
	    "84 spe.operation branch, conditional, indirect, link\n"
	    "86 spe.operation store, reserved ff\n"
	    "88 spe.pad 2 times\n"
	    "90 spe.timestamp 1005\n"
	    "99 spe.end\n");
}

static void
unknown_packets_are_whole_and_damage_is_shown(void **state)
{
	/* 90 has two bytes of payload by its size bits; 30 begins nothing. */
	static const uint8_t bytes[] = { 0x49, 0x00, 0x90, 0xbb, 0xaa, 0x01,
		0x30, 0x31, 0x30, 0x49, 0x00, 0x01, 0x49, 0x01, 0xb0, 0x11 };

	(void)state;
	TEXT(bytes, NULL,
	    "0 spe.operation load, general\n"
	    "2 spe.unknown header 90, aabb\n"
	    "5 spe.end\n"
	    "6 unknown 2 bytes\n"
	    "8 spe.unknown header 30, 0 guessed\n"
	    "9 spe.operation load, general guessed\n"
	    "11 spe.end guessed\n"
	    "12 spe.operation store, general\n"
	    "14 truncated 2 bytes\n");
}

static void
lines_of_perf_are_short_and_bad_bytes_are_alone(void **state)
{
	static const uint8_t bytes[] = {
		/* A header of no meaning, and its two bytes on their own. */
		0x90, 0x49, 0x00,
		/* 18 zeros. */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		/* Alignment to 8 at 21, then zeros up to 16 bytes. */
		0x22, 0, 0x12, 0, 0, 0, 0, 0,
		/* What is cut off can be packets of its own. */
		0xb0, 0x01, 0x49, 0x01
	};

	(void)state;
	TEXT(bytes, &perf,
	    "0 unknown 1 bytes\n"
	    "1 spe.operation load, general guessed\n"
	    "3 spe.pad 16 times guessed\n"
	    "19 spe.pad 2 times guessed\n"
	    "21 spe.alignment 8 bytes guessed\n"
	    "29 unknown 1 bytes guessed\n"
	    "30 spe.end guessed\n"
	    "31 spe.operation store, general\n");
}

static void
packets_of_a_record_have_its_time(void **state)
{
	uint8_t bytes[3 * SPE_SLOT];
	struct hwtd_packets_options timed = { .size = sizeof(timed),
		.flags = HWTD_PACKETS_TIME };
	struct hwtd_trace *trace;
	struct pk_rows rows;

	(void)state;
	spe_slot(bytes, 0x400000, 1000);
	spe_slot(bytes + SPE_SLOT, 0x400004, 1010);
	spe_slot(bytes + 2 * SPE_SLOT, 0x400008, 1020);
	/* The second has no end with a time. */
	bytes[SPE_SLOT + 55] = 0x01;
	memset(bytes + SPE_SLOT + 56, 0, 8);
	trace = mt_seal(spe_trace(HWTD_NO_ID, bytes, sizeof(bytes)));
	pk_rows(trace, &timed, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_packet *r = &rows.at[i];
		const uint64_t slot = r->stream_off / SPE_SLOT;

		if (slot == 1) {
			assert_false((r->flags & HWTD_PKF_TIME) != 0);
			continue;
		}
		assert_true((r->flags & HWTD_PKF_TIME) != 0);
		assert_int_equal(r->time_ns, slot == 0 ? 1000 : 1080);
		assert_int_equal(r->time_error_ns, 0);
	}
	pk_free(&rows);
	hwtd_trace_close(trace);
}

/* Slots with damage here and there. */
static size_t
make_long(uint8_t *bytes, size_t n_slots)
{
	for (size_t i = 0; i < n_slots; i++) {
		uint8_t *slot = bytes + i * SPE_SLOT;

		spe_slot(slot, 0x400000 + 4 * i, 1000 + 5 * i);
		if (i % 7 == 3)
			slot[21] = 0x17;
		if (i % 11 == 5)
			slot[51] = 0x90;
	}
	return (n_slots * SPE_SLOT);
}

static void
rows_are_the_same_in_segments_and_from_anywhere(void **state)
{
	static const uint64_t sizes[] = { 0, 64, 200, 1000 };
	static uint8_t bytes[300 * SPE_SLOT];
	const size_t n = make_long(bytes, 300);
	struct hwtd_trace *trace = mt_seal(spe_trace(HWTD_NO_ID, bytes, n));
	struct hwtd_packets_options o = { .size = sizeof(o) };
	struct pk_rows all;

	(void)state;
	for (unsigned int lines = 0; lines < 2; lines++) {
		o.flags = lines != 0 ? HWTD_PACKETS_PERF_LINES
				     : HWTD_PACKETS_TIME;
		o.first = o.end = 0;
		slot_bytes = 0;
		pk_rows(trace, &o, &all);
		for (size_t s = 0; s < 4; s++) {
			struct pk_rows other;
			size_t first = 0, end;

			slot_bytes = sizes[s];
			o.first = o.end = 0;
			pk_rows(trace, &o, &other);
			pk_assert_same(other.at, other.n, all.at, all.n);
			pk_free(&other);
			o.first = 1000 + 377 * s;
			o.end = 9000 + 211 * s;
			while (all.at[first].stream_off < o.first)
				first++;
			for (end = first; all.at[end].stream_off < o.end;)
				end++;
			pk_rows(trace, &o, &other);
			pk_assert_same(other.at, other.n, all.at + first,
			    end - first);
			pk_free(&other);
		}
		pk_free(&all);
	}
	slot_bytes = 0;
	hwtd_trace_close(trace);
}

/* Not for each line all that follow. */
static void
lines_of_zeros_are_looked_at_once(void **state)
{
	const size_t n = (size_t)4 << 20;
	uint8_t *bytes = calloc(n, 1);
	struct hwtd_packets_options few = perf;
	struct hwtd_trace *trace;
	struct pk_rows rows;

	(void)state;
	assert_non_null(bytes);
	trace = mt_seal(spe_trace(HWTD_NO_ID, bytes, n));
	few.first = n - 100 * 16;
	pk_rows(trace, &few, &rows);
	assert_int_equal(rows.n, 100);
	assert_int_equal(rows.at[99].bytes, 16);
	pk_free(&rows);
	hwtd_trace_close(trace);
	free(bytes);
}

static void
kinds_from_64_on_can_be_chosen(void **state)
{
	uint8_t bytes[2 * SPE_SLOT];
	const struct hwtd_packets_options o = { .size = sizeof(o),
		.kinds_from_64 = UINT64_C(1) << (HWTD_PK_SPE_PC - 64) };
	const struct hwtd_packets_options low = { .size = sizeof(low),
		.kinds = UINT64_C(1) << HWTD_PK_UNKNOWN };
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets *packets;
	struct hwtd_trace *trace;

	(void)state;
	spe_slot(bytes, 0x400000, 1000);
	spe_slot(bytes + SPE_SLOT, 0x400004, 1010);
	trace = mt_seal(spe_trace(HWTD_NO_ID, bytes, sizeof(bytes)));
	packets = pk_open(trace, &o);
	assert_int_equal(hwtd_packets_read(packets, &batch, NULL), HWTD_OK);
	assert_int_equal(batch.n, 2);
	assert_int_equal(batch.packets[1].ip, 0x400004);
	hwtd_packets_close(packets);
	packets = pk_open(trace, &low);
	assert_int_equal(hwtd_packets_read(packets, &batch, NULL), HWTD_END);
	hwtd_packets_close(packets);
	hwtd_trace_close(trace);
}

static void
buffers_are_read_each_on_its_own(void **state)
{
	/* The address is not finished by the bytes of the next buffer. */
	static const uint8_t head[] = { 0x49, 0x00, 0xb0, 0x11, 0x22 };
	static const uint8_t rest[] = { 0x21, 0x00, 0x01, 0x01, 0x01 };
	struct hwtd_trace *trace = spe_trace(HWTD_NO_ID, head, sizeof(head));

	(void)state;
	mt_extent(trace, 0, HWTD_EXTENT_NEW, rest, sizeof(rest));
	/* Alignment to 4 is counted from the start of its buffer. */
	pk_assert_text(mt_seal(trace), NULL,
	    "0 spe.operation load, general\n"
	    "2 truncated 3 bytes\n"
	    "5 spe.alignment 4 bytes\n"
	    "9 spe.end\n");
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_packet_has_its_kind_and_its_fields),
		cmocka_unit_test(
		    unknown_packets_are_whole_and_damage_is_shown),
		cmocka_unit_test(
		    lines_of_perf_are_short_and_bad_bytes_are_alone),
		cmocka_unit_test(packets_of_a_record_have_its_time),
		cmocka_unit_test(
		    rows_are_the_same_in_segments_and_from_anywhere),
		cmocka_unit_test(lines_of_zeros_are_looked_at_once),
		cmocka_unit_test(kinds_from_64_on_can_be_chosen),
		cmocka_unit_test(buffers_are_read_each_on_its_own),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
