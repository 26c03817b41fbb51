/*
 * Bytes of Arm SPE by hand, and records out of them.
 */
#include "support/spe_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

void
spe_slot(uint8_t out[SPE_SLOT], uint64_t pc, uint64_t count)
{
	static const uint8_t slot[SPE_SLOT] = {
		[0] = 0xb0,
		[9] = 0x64,
		[10] = 0x34,
		[14] = 0x65,
		[15] = 0x12,
		[19] = 0x49,
		[21] = 0x52,
		[22] = 0x16,
		[24] = 0x99,
		[25] = 4,
		[27] = 0x98,
		[28] = 9,
		[30] = 0xb2,
		[31] = 0x40,
		[32] = 0x20,
		[39] = 0x9a,
		[40] = 1,
		[42] = 0xb3,
		[43] = 0x40,
		[44] = 0x77,
		[50] = 0x80,
		[51] = 0x43,
		[52] = 8,
		[55] = 0x71,
	};

	memcpy(out, slot, sizeof(slot));
	hwtdi_put_le(out + 1, pc | UINT64_C(1) << 63, 8);
	hwtdi_put_le(out + 56, count, 8);
}

/* With room for `room` records, and `piece` more bytes at a time. */
static size_t
read_pieces(const uint8_t *bytes, size_t n, size_t piece, size_t room,
    struct hwtd_sample *out, size_t cap)
{
	struct hwtdi_spe_reader r;
	size_t k = 0, seen = 0;

	hwtdi_spe_reader_init(&r, 0);
	hwtdi_spe_reader_begin(&r, 0);
	for (;;) {
		const size_t want = room < cap - k ? room : cap - k;
		size_t got;
		uint8_t *copy;

		assert_true(want > 0);
		/* Just as large, so that a read past it is noticed. */
		copy = malloc(seen - (size_t)r.off + 1);
		assert_non_null(copy);
		if (seen > r.off)
			memcpy(copy, bytes + r.off, seen - (size_t)r.off);
		got = hwtdi_spe_read(&r, copy, seen - (size_t)r.off, seen == n,
		    out + k, want);
		free(copy);
		assert_true(got <= want && r.off <= seen);
		k += got;
		if (got == want)
			continue;
		if (seen == n)
			break;
		seen += n - seen < piece ? n - seen : piece;
	}
	assert_int_equal(r.off, n);
	assert_int_equal(r.record_bytes + r.pad_bytes, n);
	return (k);
}

size_t
spe_records(const uint8_t *bytes, size_t n, struct hwtd_sample *out,
    size_t cap)
{
	static const size_t pieces[] = { 1, 61, 1000, 8192 };
	const size_t bytes_out = cap * sizeof(*out);
	struct hwtd_sample *again = malloc(bytes_out);
	size_t k = read_pieces(bytes, n, n, cap, out, cap);
	uint64_t before = 0;

	assert_non_null(again);
	for (size_t i = 0; i < k; i++) {
		assert_true(out[i].stream_off >= before);
		assert_true(out[i].bytes > 0);
		before = out[i].stream_off + out[i].bytes;
	}
	assert_true(before <= n);
	assert_int_equal(read_pieces(bytes, n, n, 1, again, cap), k);
	assert_memory_equal(again, out, k * sizeof(*out));
	/* All of this takes its time. */
	for (size_t i = n > 10000 ? 3 : n > 300 ? 1 : 0; i < 4; i++) {
		assert_int_equal(read_pieces(bytes, n, pieces[i], 7, again,
				     cap),
		    k);
		assert_memory_equal(again, out, k * sizeof(*out));
	}
	free(again);
	return (k);
}

struct hwtd_sample
spe_record(const uint8_t *bytes, size_t n)
{
	struct hwtd_sample out[4];

	assert_int_equal(spe_records(bytes, n, out, 4), 1);
	return (out[0]);
}

struct hwtd_trace *
spe_trace(uint32_t cpu, const uint8_t *bytes, size_t n)
{
	struct hwtd_trace *trace = mt_create();
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = cpu,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { 1, 4, 1000, 1000 },
	};
	uint32_t id;

	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, bytes, n, NULL),
	    HWTD_OK);
	return (trace);
}
