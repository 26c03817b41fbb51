/*
 * ITM: packets by hand, and sources cut in pieces, damaged, cut off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/coresight/itm_decoder.h"

static void
packets_are_read(void **state)
{
	static const struct {
		uint8_t bytes[8];
		size_t n;
		struct hwtdi_itm_packet want;
	} cases[] = {
		{ { 0x70 }, 1, { HWTDI_ITM_OVERFLOW, 0, 0, 0, 1, 0 } },
		/* Port 3; the second byte is the payload. */
		{ { 0x19, 0xbb }, 2,
		    { HWTDI_ITM_SOFTWARE, 3, 0, 8, 2, 0xbb } },
		{ { 0x0a, 0x45, 0x23 }, 3,
		    { HWTDI_ITM_SOFTWARE, 1, 0, 16, 3, 0x2345 } },
		{ { 0xfb, 0x23, 0x01, 0x89, 0x67 }, 5,
		    { HWTDI_ITM_SOFTWARE, 31, 0, 32, 5, 0x67890123 } },
		/* A PC sample, and an exception that is entered. */
		{ { 0x17, 0x80, 0x10, 0x00, 0x00 }, 5,
		    { HWTDI_ITM_HARDWARE, 2, 0, 32, 5, 0x1080 } },
		{ { 0x0e, 0x04, 0x10 }, 3,
		    { HWTDI_ITM_HARDWARE, 1, 0, 16, 3, 0x1004 } },
		/* Local timestamps of one byte, and of more. */
		{ { 0x20 }, 1, { HWTDI_ITM_LOCAL, 0, 0, 3, 1, 2 } },
		{ { 0xc0, 0x78 }, 2, { HWTDI_ITM_LOCAL, 0, 0, 7, 2, 0x78 } },
		{ { 0xf0, 0xde, 0xfe, 0xd0, 0x3a }, 5,
		    { HWTDI_ITM_LOCAL, 0,
			HWTDI_ITM_TIME_DELAYED | HWTDI_ITM_DATA_DELAYED, 28, 5,
			0x07543f5e } },
		/* Bits 25 to 0 with both flags; 63 to 26; 47 to 26. */
		{ { 0x94, 0x82, 0xcf, 0xfa, 0x77 }, 5,
		    { HWTDI_ITM_GLOBAL_1, 0,
			HWTDI_ITM_CLOCK_CHANGED | HWTDI_ITM_WRAPPED, 26, 5,
			0x02fea782 } },
		{ { 0x94, 0x7a }, 2,
		    { HWTDI_ITM_GLOBAL_1, 0, 0, 7, 2, 0x7a } },
		{ { 0xb4, 0x93, 0x98, 0xa0, 0xa0, 0x80, 0x00 }, 7,
		    { HWTDI_ITM_GLOBAL_2, 0, 0, 38, 7, 0x4080c13 } },
		{ { 0xb4, 0x96, 0x9a, 0x92, 0x00 }, 5,
		    { HWTDI_ITM_GLOBAL_2, 0, 0, 22, 5, 0x48d16 } },
		{ { 0x28 }, 1, { HWTDI_ITM_PAGE, 0, 0, 3, 1, 2 } },
		/* Of the DWT no extension is known; nor what is else. */
		{ { 0x0c }, 1, { HWTDI_ITM_RESERVED, 0, 0, 3, 1, 0 } },
		{ { 0x84 }, 1, { HWTDI_ITM_RESERVED, 0, 0, 0, 1, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtdi_itm_packet *want = &cases[i].want;
		struct hwtdi_itm_packet got;

		hwtdi_itm_read(cases[i].bytes, cases[i].n, &got);
		assert_int_equal(got.kind, want->kind);
		assert_int_equal(got.source, want->source);
		assert_int_equal(got.flags, want->flags);
		assert_int_equal(got.bits, want->bits);
		assert_int_equal(got.bytes, want->bytes);
		assert_int_equal(got.value, want->value);
		for (size_t n = 0; n < cases[i].n; n++) {
			hwtdi_itm_read(cases[i].bytes, n, &got);
			assert_int_equal(got.kind, HWTDI_ITM_NONE);
		}
	}
}

struct want {
	uint8_t kind;
	uint64_t off;
	/* Payload, ticks, timestamp or reason. */
	uint64_t value;
	uint16_t channel;
};

static void
check(const uint8_t *bytes, size_t n, const struct want *want, size_t n_want)
{
	struct hwtd_context *library = NULL;
	struct hwtdi_cs_queue queue;
	struct hwtdi_itm itm;

	assert_int_equal(hwtd_context_create(NULL, &library, NULL), HWTD_OK);
	for (size_t step = 1; step <= n; step++) {
		size_t i = 0;

		hwtdi_cs_queue_init(&queue, library);
		hwtdi_itm_reset(&itm, &queue, 100);
		for (size_t at = 0; at < n; at += step)
			hwtdi_itm_feed(&itm, 100 + at, bytes + at,
			    n - at < step ? n - at : step);
		hwtdi_itm_end(&itm, 100 + n);
		for (const struct hwtdi_cs_element *e;
		     (e = hwtdi_cs_queue_at(&queue, 0)) != NULL;
		     hwtdi_cs_queue_drop(&queue), i++) {
			uint64_t value = e->kind == HWTDI_CS_ITM
			    ? e->software.payload
			    : e->kind == HWTDI_CS_CYCLES    ? e->cycles
			    : e->kind == HWTDI_CS_TIMESTAMP ? e->timestamp
							    : e->reason;

			assert_true(i < n_want);
			assert_int_equal(e->kind, want[i].kind);
			assert_int_equal(e->off, 100 + want[i].off);
			assert_int_equal(value, want[i].value);
			assert_int_equal(e->software.channel, want[i].channel);
		}
		assert_int_equal(i, n_want);
		hwtdi_cs_queue_fini(&queue);
	}
	hwtd_context_destroy(library);
}

#define CHECK(bytes, want)                                                    \
	check(bytes, sizeof(bytes), want, sizeof(want) / sizeof((want)[0]))

static void
sources_are_told_in_any_pieces(void **state)
{
	static const uint8_t bytes[] = { 0x11, 0, 0, 0x22,
		/* SYNC; port 1 of page 2; ticks; a PC; an overflow. */
		0, 0, 0, 0, 0, 0x80, 0x28, 0x09, 0xac, 0xc0, 0x85, 0x01, 0x17,
		1, 2, 3, 4, 0x70,
		/* SYNC again, with more zeros than need be. */
		0, 0, 0, 0, 0, 0, 0, 0x80,
		/* Low bits without high ones tell nothing; then both. */
		0x94, 0x7a, 0xb4, 0x81, 0x80, 0x80, 0x00, 0x94, 0x05 };
	static const struct want want[] = {
		{ HWTDI_CS_NO_SYNC, 0, HWTDI_CS_UNSYNCED_START, 0 },
		{ HWTDI_CS_ITM, 11, 0xac, 65 },
		{ HWTDI_CS_CYCLES, 13, 0x85, 0 },
		{ HWTDI_CS_ITM, 16, 0x04030201, 2 },
		{ HWTDI_CS_NO_SYNC, 21, HWTDI_CS_UNSYNCED_OVERFLOW, 0 },
		{ HWTDI_CS_TIMESTAMP, 32, (1u << 26) | 0x7a, 0 },
		{ HWTDI_CS_TIMESTAMP, 37, (1u << 26) | 0x05, 0 },
		{ HWTDI_CS_END, 39, 0, 0 },
	};

	(void)state;
	CHECK(bytes, want);
}

static void
high_bits_that_changed_are_waited_for(void **state)
{
	static const uint8_t bytes[] = { 0, 0, 0, 0, 0, 0x80, 0xb4, 0x81, 0x80,
		0x80, 0x00, 0x94, 0x81, 0x80, 0x80, 0x40, 0x94, 0x07, 0xb4,
		0x82, 0x80, 0x80, 0x00 };
	static const struct want want[] = {
		{ HWTDI_CS_TIMESTAMP, 6, 1u << 26, 0 },
		{ HWTDI_CS_TIMESTAMP, 18, (2u << 26) | 0x07, 0 },
		{ HWTDI_CS_END, 23, 0, 0 },
	};

	(void)state;
	CHECK(bytes, want);
}

static void
damage_costs_what_is_up_to_the_next_sync(void **state)
{
	/* A reserved header; zeros that are no SYNC; a packet that is cut off. */
	static const uint8_t bytes[] = { 0, 0, 0, 0, 0, 0x80, 0x09, 1, 0x84,
		0x09, 2, 0, 0, 0, 0, 0, 0x80, 0x09, 3, 0, 0, 0x09, 4, 0, 0, 0,
		0, 0, 0x80, 0x0b, 5, 5 };
	static const struct want want[] = {
		{ HWTDI_CS_ITM, 6, 1, 1 },
		{ HWTDI_CS_NO_SYNC, 8, HWTDI_CS_UNSYNCED_BAD_PACKET, 0 },
		{ HWTDI_CS_ITM, 17, 3, 1 },
		{ HWTDI_CS_NO_SYNC, 19, HWTDI_CS_UNSYNCED_BAD_PACKET, 0 },
		{ HWTDI_CS_NO_SYNC, 29, HWTDI_CS_UNSYNCED_END, 0 },
		{ HWTDI_CS_END, 32, 0, 0 },
	};

	(void)state;
	CHECK(bytes, want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_read),
		cmocka_unit_test(sources_are_told_in_any_pieces),
		cmocka_unit_test(high_bits_that_changed_are_waited_for),
		cmocka_unit_test(damage_costs_what_is_up_to_the_next_sync),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
