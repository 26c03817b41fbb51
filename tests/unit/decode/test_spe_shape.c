/*
 * Records of Arm SPE that look like one before: they are what they are when each is
 * read packet by packet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/spe_bytes.h"

#define RECORDS 400
#define MOST_BYTES (RECORDS * 200)

static uint64_t seed;

static uint64_t
random64(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (seed >> 33 | seed << 31);
}

static size_t
below(size_t n)
{
	return ((size_t)(random64() % n));
}

/* Headers of a record in order, and zeros between them. */
struct shape {
	uint8_t headers[16];
	uint8_t zeros[16];
	size_t n;
	/* It is filled up to this many bytes; 0: it is not. */
	size_t slot;
};

static size_t
size_of(uint8_t header)
{
	return (header < 0x40 ? 1 : 1 + ((size_t)1 << (header >> 4 & 3)));
}

static struct shape
random_shape(bool plain)
{
	static const uint8_t usual[] = { 0x64, 0x65, 0x52, 0x99, 0x98, 0x9a,
		0xb1, 0xb2, 0xb3, 0xb4, 0x43 };
	/* Other sizes and indexes, and what has no field. */
	static const uint8_t others[] = { 0x42, 0x62, 0x72, 0x53, 0x63, 0x73,
		0x66, 0x9b, 0xb5, 0x4b, 0x81, 0xb0 };
	struct shape s = { .headers = { 0xb0 }, .n = 1 };
	size_t bytes = 9;

	s.headers[s.n++] = (uint8_t)(0x48 + below(3));
	for (size_t i = 0; i < sizeof(usual); i++)
		if (below(2) == 0 &&
		    (!plain || bytes + size_of(usual[i]) < 50)) {
			s.headers[s.n++] = usual[i];
			bytes += size_of(usual[i]);
		}
	if (!plain && below(2) == 0)
		s.headers[s.n++] = others[below(sizeof(others))];
	/* In any order. */
	for (size_t i = s.n; !plain && i > 1; i--) {
		const size_t k = below(i);
		const uint8_t header = s.headers[k];

		s.headers[k] = s.headers[i - 1];
		s.headers[i - 1] = header;
	}
	s.headers[s.n++] = below(4) == 0 ? 0x01 : 0x71;
	for (size_t i = 1; !plain && i < s.n; i++)
		s.zeros[i] = below(6) == 0 ? (uint8_t)below(12) : 0;
	s.slot = plain ? 64 : below(2) * 64;
	return (s);
}

static size_t
put_record(uint8_t *to, const struct shape *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const size_t size = size_of(s->headers[i]) - 1;

		memset(to + n, 0, s->zeros[i]);
		n += s->zeros[i];
		to[n++] = s->headers[i];
		/* Limits of latencies among them. */
		hwtdi_put_le(to + n,
		    below(9) == 0 ? UINT64_MAX >> below(64) : random64(),
		    size);
		n += size;
	}
	while (s->slot != 0 && n % s->slot != 0)
		to[n++] = 0;
	return (n);
}

/* A buffer of records of few shapes. */
static size_t
make(uint8_t *bytes, size_t n_shapes, bool plain)
{
	struct shape shapes[20];
	size_t n = 0;

	for (size_t i = 0; i < n_shapes; i++)
		shapes[i] = random_shape(plain);
	for (size_t i = 0; i < RECORDS; i++)
		n += put_record(bytes + n, &shapes[below(n_shapes)]);
	return (n);
}

static void
damage(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < 10; i++)
		bytes[below(n)] = (uint8_t)random64();
}

/* The records, as many as there are room for at once; `forget`: each by itself. */
static size_t
read_all(struct hwtdi_spe_reader *r, const uint8_t *bytes, size_t n,
    bool forget, unsigned int counter_bits, struct hwtd_sample *out)
{
	size_t k = 0, got;

	hwtdi_spe_reader_init(r, counter_bits);
	hwtdi_spe_reader_begin(r, 0);
	do {
		if (forget)
			memset(&r->shapes, 0, sizeof(r->shapes));
		got = hwtdi_spe_read(r, bytes + r->off, n - (size_t)r->off,
		    true, out + k, forget ? 1 : 7);
		k += got;
		assert_true(k <= MOST_BYTES / 9);
	} while (got > 0);
	return (k);
}

/* Returns how many were read at once. */
static uint64_t
compare(const uint8_t *bytes, size_t n, unsigned int counter_bits)
{
	static struct hwtd_sample one[MOST_BYTES / 9 + 7],
	    other[MOST_BYTES / 9 + 7];
	struct hwtdi_spe_reader fast, slow;
	/* Just as large, so that a read past it is noticed. */
	uint8_t *copy = malloc(n);
	uint64_t hits = 0;
	size_t k;

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	memset(one, 0xa5, sizeof(one));
	k = read_all(&slow, copy, n, true, counter_bits, one);
	assert_int_equal(read_all(&fast, copy, n, false, counter_bits, other),
	    k);
	for (size_t i = 0; i < k; i++)
		assert_memory_equal(&one[i], &other[i], sizeof(one[i]));
	assert_int_equal(fast.off, slow.off);
	assert_int_equal(fast.record_bytes, slow.record_bytes);
	assert_int_equal(fast.pad_bytes, slow.pad_bytes);
	for (size_t i = 0; i < fast.shapes.n; i++)
		hits += fast.shapes.at[i].hits;
	free(copy);
	return (hits);
}

static void
the_third_slot_of_a_kind_has_its_own_values(void **state)
{
	uint8_t bytes[8 * SPE_SLOT];
	struct hwtd_sample got[8], want;
	struct hwtdi_spe_reader r;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		uint8_t *slot = bytes + i * SPE_SLOT;

		spe_slot(slot, 0x400000 + 4 * i, 1000 + 17 * i);
		slot[10] = (uint8_t)(0x34 + i);
		slot[28] = (uint8_t)(9 + i);
		slot[31] = (uint8_t)(0x40 + i);
		slot[52] = (uint8_t)(8 + i);
	}
	bytes[6 * SPE_SLOT + 28] = 0xff;
	bytes[6 * SPE_SLOT + 29] = 0xff;
	hwtdi_spe_reader_init(&r, 0);
	hwtdi_spe_reader_begin(&r, 0);
	assert_int_equal(hwtdi_spe_read(&r, bytes, sizeof(bytes), true, got,
			     8),
	    8);
	assert_int_equal(r.shapes.n, 1);
	/* The last one is too near to the end. */
	assert_int_equal(r.shapes.at[0].hits, 6);
	for (size_t i = 0; i < 8; i++) {
		want = got[0];
		want.stream_off = i * SPE_SLOT;
		want.pc = 0x400000 + 4 * i;
		want.count = 1000 + 17 * i;
		want.context_el1 = (uint32_t)(0x34 + i);
		want.lat_total = (uint16_t)(i == 6 ? 0xffff : 9 + i);
		want.flags = i == 6 ? HWTD_SAMPLEF_TOTAL_SATURATED : 0;
		want.va = 0x2040 + i;
		want.source = 8 + i;
		assert_memory_equal(&got[i], &want, sizeof(want));
	}
}

static void
few_shapes_are_read_at_once(void **state)
{
	uint8_t *bytes = malloc(MOST_BYTES);

	(void)state;
	assert_non_null(bytes);
	for (seed = 1; seed < 60; seed++) {
		const uint64_t was = seed;
		const size_t n = make(bytes, 1 + below(6), true);

		assert_true(compare(bytes, n, 0) > RECORDS * 9 / 10);
		assert_true(compare(bytes, n, 12) > RECORDS * 9 / 10);
		damage(bytes, n);
		(void)compare(bytes, n, 16);
		seed = was;
	}
	free(bytes);
}

static void
shapes_of_all_kinds_change_nothing(void **state)
{
	uint8_t *bytes = malloc(MOST_BYTES);

	(void)state;
	assert_non_null(bytes);
	for (seed = 1000; seed < 1300; seed++) {
		const uint64_t was = seed;
		size_t n = make(bytes, 1 + below(20), false);

		(void)compare(bytes, n, 0);
		damage(bytes, n);
		(void)compare(bytes, n, 12);
		/* Cut anywhere, with the end of the memory there. */
		n = 1 + below(n);
		(void)compare(bytes, n, 16);
		seed = was;
	}
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_third_slot_of_a_kind_has_its_own_values),
		cmocka_unit_test(few_shapes_are_read_at_once),
		cmocka_unit_test(shapes_of_all_kinds_change_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
