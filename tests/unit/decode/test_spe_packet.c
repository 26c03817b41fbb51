/*
 * Packets of Arm SPE: bytes by hand, every cut of them, and every first byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/spe/spe_packet.h"

#define MANY ((size_t)1 << 26)

static const struct {
	const char *name;
	uint8_t bytes[16];
	size_t n;
	struct hwtdi_spe_packet want;
} cases[] = {
	{ "pad", { 0 }, 1, { HWTDI_SPE_PAD, 0, 0, 0, false, 1, 0 } },
	{ "end", { 0x01 }, 1, { HWTDI_SPE_END, 1, 0, 0, false, 1, 0 } },
	{ "events of 1", { 0x42, 0x16 }, 2,
	    { HWTDI_SPE_EVENTS, 0x42, 0, 1, false, 2, 0x16 } },
	{ "events of 2", { 0x52, 0x16, 0x03 }, 3,
	    { HWTDI_SPE_EVENTS, 0x52, 0, 2, false, 3, 0x316 } },
	{ "events of 4", { 0x62, 0, 0, 0xf8, 0x03 }, 5,
	    { HWTDI_SPE_EVENTS, 0x62, 0, 4, false, 5, 0x3f80000 } },
	{ "events of 8", { 0x72, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 9,
	    { HWTDI_SPE_EVENTS, 0x72, 0, 8, false, 9,
		UINT64_C(0x8000000000000001) } },
	{ "source of 1", { 0x43, 0x0c }, 2,
	    { HWTDI_SPE_SOURCE, 0x43, 0, 1, false, 2, 12 } },
	{ "source of 2", { 0x53, 0x0c, 0x01 }, 3,
	    { HWTDI_SPE_SOURCE, 0x53, 0, 2, false, 3, 0x10c } },
	{ "source of 4", { 0x63, 1, 2, 3, 4 }, 5,
	    { HWTDI_SPE_SOURCE, 0x63, 0, 4, false, 5, 0x04030201 } },
	{ "source of 8", { 0x73, 1, 2, 3, 4, 5, 6, 7, 8 }, 9,
	    { HWTDI_SPE_SOURCE, 0x73, 0, 8, false, 9,
		UINT64_C(0x0807060504030201) } },
	{ "other", { 0x48, 0x06 }, 2,
	    { HWTDI_SPE_OPERATION, 0x48, 0, 1, false, 2, 6 } },
	{ "memory", { 0x49, 0x25 }, 2,
	    { HWTDI_SPE_OPERATION, 0x49, 1, 1, false, 2, 0x25 } },
	{ "branch", { 0x4a, 0x10 }, 2,
	    { HWTDI_SPE_OPERATION, 0x4a, 2, 1, false, 2, 0x10 } },
	{ "reserved class", { 0x4b, 0x00 }, 2,
	    { HWTDI_SPE_OPERATION, 0x4b, 3, 1, false, 2, 0 } },
	{ "context EL1", { 0x64, 0x68, 0x10, 0, 0 }, 5,
	    { HWTDI_SPE_CONTEXT, 0x64, 0, 4, false, 5, 0x1068 } },
	{ "context EL2", { 0x65, 0x80, 0x5f, 0, 0xff }, 5,
	    { HWTDI_SPE_CONTEXT, 0x65, 1, 4, false, 5, 0xff005f80 } },
	{ "context 3", { 0x67, 1, 0, 0, 0 }, 5,
	    { HWTDI_SPE_CONTEXT, 0x67, 3, 4, false, 5, 1 } },
	{ "timestamp", { 0x71, 0x2e, 0x65, 0x2f, 0x6a, 0x0a, 0, 0, 0x80 }, 9,
	    { HWTDI_SPE_TIMESTAMP, 0x71, 0, 8, false, 9,
		UINT64_C(0x8000000a6a2f652e) } },
	{ "total", { 0x98, 0x0c, 0x01 }, 3,
	    { HWTDI_SPE_COUNTER, 0x98, 0, 2, false, 3, 0x10c } },
	{ "counter 6", { 0x9e, 0x0c, 0 }, 3,
	    { HWTDI_SPE_COUNTER, 0x9e, 6, 2, false, 3, 12 } },
	{ "counter 7", { 0x9f, 0xff, 0xff }, 3,
	    { HWTDI_SPE_COUNTER, 0x9f, 7, 2, false, 3, 0xffff } },
	{ "pc", { 0xb0, 0xd0, 0xc2, 0xa1, 0xed, 0x66, 0xba, 0xff, 0xc0 }, 9,
	    { HWTDI_SPE_ADDRESS, 0xb0, 0, 8, false, 9,
		UINT64_C(0xc0ffba66eda1c2d0) } },
	{ "address 7", { 0xb7, 1, 0, 0, 0, 0, 0, 0, 0 }, 9,
	    { HWTDI_SPE_ADDRESS, 0xb7, 7, 8, false, 9, 1 } },
	{ "extended address 2", { 0x20, 0xb2, 1, 0, 0, 0, 0, 0, 0, 2 }, 10,
	    { HWTDI_SPE_ADDRESS, 0xb2, 2, 8, true, 10,
		UINT64_C(0x0200000000000001) } },
	{ "extended address 31", { 0x23, 0xb7, 1, 0, 0, 0, 0, 0, 0, 0 }, 10,
	    { HWTDI_SPE_ADDRESS, 0xb7, 31, 8, true, 10, 1 } },
	{ "extended counter 8", { 0x21, 0x98, 5, 1 }, 4,
	    { HWTDI_SPE_COUNTER, 0x98, 8, 2, true, 4, 0x105 } },
	{ "extended counter 22", { 0x22, 0x9e, 5, 1 }, 4,
	    { HWTDI_SPE_COUNTER, 0x9e, 22, 2, true, 4, 0x105 } },
	/* Each size of what is not known. */
	{ "unknown 1", { 0x40, 7 }, 2,
	    { HWTDI_SPE_UNKNOWN, 0x40, 0, 1, false, 2, 7 } },
	{ "unknown 2", { 0x90, 7, 1 }, 3,
	    { HWTDI_SPE_UNKNOWN, 0x90, 0, 2, false, 3, 0x107 } },
	{ "unknown 4", { 0xe0, 7, 1, 0, 0x80 }, 5,
	    { HWTDI_SPE_UNKNOWN, 0xe0, 0, 4, false, 5, 0x80000107 } },
	{ "unknown 8", { 0xff, 7, 1, 0, 0x80, 0, 0, 0, 0 }, 9,
	    { HWTDI_SPE_UNKNOWN, 0xff, 0, 8, false, 9, 0x80000107 } },
	{ "reserved without payload", { 0x02 }, 1,
	    { HWTDI_SPE_UNKNOWN, 0x02, 0, 0, false, 1, 0 } },
	{ "alignment to 2", { 0x20, 0x00 }, 2,
	    { HWTDI_SPE_ALIGNMENT, 0x20, 0, 0, false, 2, 0 } },
	{ "alignment to 8", { 0x22, 0x00, 0xff, 0, 0, 0, 0, 0xff }, 8,
	    { HWTDI_SPE_ALIGNMENT, 0x22, 0, 0, false, 8, 0 } },
};

static void
read_at(const uint8_t *bytes, size_t n, uint64_t off, unsigned int flags,
    struct hwtdi_spe_packet *out)
{
	/* Just as large, so that a read past it is noticed. */
	uint8_t *copy = malloc(n == 0 ? 1 : n);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	hwtdi_spe_packet_read(copy, n, off, flags, out);
	free(copy);
}

static void
check(const struct hwtdi_spe_packet *got, const struct hwtdi_spe_packet *want)
{
	assert_int_equal(got->kind, want->kind);
	assert_int_equal(got->header, want->header);
	assert_int_equal(got->index, want->index);
	assert_int_equal(got->payload_bytes, want->payload_bytes);
	assert_int_equal(got->extended, want->extended);
	assert_int_equal(got->bytes, want->bytes);
	assert_int_equal(got->payload, want->payload);
}

static void
packets_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_spe_packet got;
		uint8_t next[32] = { 0 };

		print_message("case %s\n", cases[i].name);
		read_at(cases[i].bytes, cases[i].n, 0, 0, &got);
		check(&got, &cases[i].want);
		/* What follows is not a part of it. */
		memcpy(next, cases[i].bytes, cases[i].n);
		next[cases[i].n] = 0xb0;
		read_at(next, sizeof(next), 0, 0, &got);
		check(&got, &cases[i].want);
	}
}

static void
a_payload_that_is_cut_off_has_no_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t n = 1; n < cases[i].n; n++) {
			struct hwtdi_spe_packet got;

			print_message("case %s: %zu\n", cases[i].name, n);
			read_at(cases[i].bytes, n, 0, 0, &got);
			assert_int_equal(got.kind, HWTDI_SPE_NONE);
			assert_int_equal(got.bytes, n);
			assert_int_equal(got.payload, 0);
		}
}

static void
an_extended_header_needs_an_address_or_a_counter(void **state)
{
	(void)state;
	for (unsigned int second = 1; second < 256; second++) {
		const uint8_t bytes[10] = { 0x21, (uint8_t)second };
		struct hwtdi_spe_packet got;

		read_at(bytes, sizeof(bytes), 0, 0, &got);
		if (second >= 0x98 && second <= 0x9f) {
			assert_int_equal(got.kind, HWTDI_SPE_COUNTER);
			assert_int_equal(got.index, 8 + second - 0x98);
			continue;
		}
		if (second >= 0xb0 && second <= 0xb7) {
			assert_int_equal(got.kind, HWTDI_SPE_ADDRESS);
			assert_int_equal(got.index, 8 + second - 0xb0);
			continue;
		}
		assert_int_equal(got.kind, HWTDI_SPE_BAD);
		assert_int_equal(got.bytes, 1);
	}
}

/* Every first byte but those of packets has the size of its bits 5 and 4. */
static void
unknown_packets_are_skipped_whole(void **state)
{
	(void)state;
	for (unsigned int h = 1; h < 256; h++) {
		if ((h & 0xfc) == 0x20)
			continue;
		const size_t size = h < 0x40 ? 1
					     : 1 + ((size_t)1 << (h >> 4 & 3));
		uint8_t bytes[12] = { (uint8_t)h, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
		struct hwtdi_spe_packet got;

		bytes[size] = 0xb0;
		read_at(bytes, sizeof(bytes), 0, 0, &got);
		if (got.kind == HWTDI_SPE_END || got.kind == HWTDI_SPE_BAD)
			assert_int_equal(got.bytes, 1);
		else
			assert_int_equal(got.bytes, size);
		if (got.kind != HWTDI_SPE_UNKNOWN)
			continue;
		/* Not if no packet can follow. */
		bytes[size] = 0xff;
		read_at(bytes, sizeof(bytes), 0, 0, &got);
		assert_int_equal(got.kind, HWTDI_SPE_BAD);
		assert_int_equal(got.bytes, 1);
		/* And not as perf does it. */
		bytes[size] = 0xb0;
		read_at(bytes, sizeof(bytes), 0, HWTDI_SPE_ONE_BYTE_UNKNOWN,
		    &got);
		assert_int_equal(got.kind, HWTDI_SPE_BAD);
		assert_int_equal(got.bytes, 1);
	}
}

static void
headers_that_may_follow_are_those_of_the_list(void **state)
{
	static const char *const list = "00 01 20 21 22 23 42 43 48 49 4a 52 "
					"53 62 64 65 71 72 98 99 9a 9b 9c 9d "
					"9e 9f b0 b1 b2 b3 b4 b5 b6 b7";
	char name[8];

	(void)state;
	for (unsigned int h = 0; h < 256; h++) {
		(void)snprintf(name, sizeof(name), "%02x", h);
		assert_int_equal(hwtdi_spe_is_header((uint8_t)h),
		    strstr(list, name) != NULL);
	}
}

static void
alignment_counts_from_the_begin_of_the_buffer(void **state)
{
	static const struct {
		uint8_t header;
		uint64_t off;
		size_t bytes;
	} wants[] = {
		{ 0x20, 0, 2 },
		{ 0x20, 1, 1 },
		{ 0x21, 1, 3 },
		{ 0x22, 15, 1 },
		{ 0x23, 3, 13 },
		{ 0x23, 16, 16 },
	};
	uint8_t bytes[64] = { 0 };
	struct hwtdi_spe_packet got;

	(void)state;
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		bytes[0] = wants[i].header;
		read_at(bytes, sizeof(bytes), wants[i].off, 0, &got);
		assert_int_equal(got.kind, HWTDI_SPE_ALIGNMENT);
		assert_int_equal(got.bytes, wants[i].bytes);
	}
	/* Wider ones only if asked for. */
	bytes[0] = 0x24;
	read_at(bytes, sizeof(bytes), 8, 0, &got);
	assert_int_equal(got.kind, HWTDI_SPE_UNKNOWN);
	assert_int_equal(got.bytes, 1);
	read_at(bytes, sizeof(bytes), 8, HWTDI_SPE_WIDE_ALIGNMENT, &got);
	assert_int_equal(got.kind, HWTDI_SPE_ALIGNMENT);
	assert_int_equal(got.bytes, 24);
	bytes[0] = 0x2f;
	read_at(bytes, sizeof(bytes), 8, HWTDI_SPE_WIDE_ALIGNMENT, &got);
	assert_int_equal(got.kind, HWTDI_SPE_NONE);
	assert_int_equal(got.bytes, sizeof(bytes));
}

static void
zeros_are_one_packet(void **state)
{
	uint8_t *bytes = calloc(MANY, 1);
	struct hwtdi_spe_packet got;

	(void)state;
	assert_non_null(bytes);
	hwtdi_spe_packet_read(bytes, MANY, 0, 0, &got);
	assert_int_equal(got.kind, HWTDI_SPE_PAD);
	assert_int_equal(got.bytes, MANY);
	for (size_t n = 1; n < 100; n++) {
		bytes[n] = 1;
		hwtdi_spe_packet_read(bytes, MANY, 0, 0, &got);
		assert_int_equal(got.bytes, n);
		assert_int_equal(hwtdi_spe_zeros(bytes, n), n);
		bytes[n] = 0;
	}
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_read),
		cmocka_unit_test(a_payload_that_is_cut_off_has_no_value),
		cmocka_unit_test(
		    an_extended_header_needs_an_address_or_a_counter),
		cmocka_unit_test(unknown_packets_are_skipped_whole),
		cmocka_unit_test(
		    headers_that_may_follow_are_those_of_the_list),
		cmocka_unit_test(
		    alignment_counts_from_the_begin_of_the_buffer),
		cmocka_unit_test(zeros_are_one_packet),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
