/*
 * Which records can have happened at a byte of trace, and their order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "space/key_sort.h"
#include "space/position.h"
#include "support/failing_allocator.h"
#include "support/sample_trace.h"

#define T HWTD_RECF_TIME
#define O HWTD_RECF_STREAM_OFF

static struct hwtd_context *
new_context(struct failing_allocator *f)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_context *ctx;

	failing_allocator_init(f);
	o.allocator = &f->allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static struct hwtdi_position *
new_position(struct hwtd_context *ctx, const struct hwtd_record *records,
    size_t n)
{
	struct hwtdi_position *p;

	assert_int_equal(hwtdi_position_create(ctx, records, n, &p, NULL),
	    HWTD_OK);
	return (p);
}

/* Records with only what matters here; 0 in `flags` is a plain record. */
static struct hwtd_record
record(uint32_t flags, uint64_t time_ns, uint32_t stream, uint64_t off)
{
	struct hwtd_record r = { .size = sizeof(r) };

	r.type = HWTD_REC_MMAP;
	r.flags = flags;
	r.time_ns = time_ns;
	r.stream = stream;
	r.stream_off = off;
	r.cpu = r.pid = r.tid = r.image = HWTD_NO_ID;
	return (r);
}

static void
assert_range(const struct hwtdi_position *p, uint32_t stream, uint64_t off,
    bool has_time, uint64_t time_ns, uint64_t want_lo, uint64_t want_hi)
{
	uint64_t lo, hi;

	hwtdi_position_range(p, stream, off, has_time, time_ns, &lo, &hi);
	assert_int_equal(lo, want_lo);
	assert_int_equal(hi, want_hi);
}

static void
nothing_known_leaves_all_open(void **state)
{
	const struct hwtd_record r[3] = { record(0, 0, HWTD_NO_ID, 0),
		record(0, 0, HWTD_NO_ID, 0), record(O, 0, 7, 5) };
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_position *p;
	size_t n;

	(void)state;
	p = new_position(ctx, NULL, 0);
	(void)hwtdi_position_order(p, &n);
	assert_int_equal(n, 0);
	assert_range(p, 0, 99, true, 99, 0, 0);
	hwtdi_position_destroy(p);
	p = new_position(ctx, r, 3);
	assert_int_equal(hwtdi_position_start(p), 0);
	assert_range(p, 0, 99, false, 0, 0, 3);
	/* Times do not help where records have none. */
	assert_range(p, 0, 99, true, 99, 0, 3);
	hwtdi_position_destroy(p);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

/* Stock hwt(4): only BUFFER records say where the trace stood. */
static void
buffers_bound_records_without_time(void **state)
{
	const struct hwtd_record r[] = {
		record(0, 0, HWTD_NO_ID, 0), /* 0: exec */
		record(0, 0, HWTD_NO_ID, 0), /* 1: mmap */
		record(O, 0, 4, 4096), /* 2: BUFFER */
		record(0, 0, HWTD_NO_ID, 0), /* 3: mmap */
		record(O, 0, 5, 8192), /* 4: BUFFER of another stream */
		record(0, 0, HWTD_NO_ID, 0), /* 5: mmap */
		record(O, 0, 4, 12288), /* 6: BUFFER */
		record(0, 0, HWTD_NO_ID, 0), /* 7: mmap */
	};
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_position *p = new_position(ctx, r, 8);

	(void)state;
	assert_range(p, 4, 0, false, 0, 0, 2);
	assert_range(p, 4, 4095, false, 0, 0, 2);
	assert_range(p, 4, 4096, false, 0, 3, 6);
	assert_range(p, 4, 12287, false, 0, 3, 6);
	assert_range(p, 4, 12288, false, 0, 7, 8);
	assert_range(p, 4, UINT64_MAX, false, 0, 7, 8);
	assert_range(p, 5, 0, false, 0, 0, 4);
	assert_range(p, 5, 9000, false, 0, 5, 8);
	assert_range(p, 6, 9000, false, 0, 0, 8);
	hwtdi_position_destroy(p);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
records_with_bytes_are_exact(void **state)
{
	const struct hwtd_record r[] = { record(O, 0, 1, 10),
		record(O, 0, 1, 10), record(O, 0, 1, 20),
		record(O, 0, 2, 15) };
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_position *p = new_position(ctx, r, 4);

	(void)state;
	assert_range(p, 1, 9, false, 0, 0, 0);
	assert_range(p, 1, 10, false, 0, 2, 2);
	assert_range(p, 1, 19, false, 0, 2, 2);
	assert_range(p, 1, 20, false, 0, 3, 4);
	hwtdi_position_destroy(p);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
bytes_that_go_back_leave_all_between_open(void **state)
{
	const struct hwtd_record r[] = { record(O, 0, 1, 100),
		record(0, 0, HWTD_NO_ID, 0), record(O, 0, 1, 50),
		record(O, 0, 1, 200) };
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_position *p = new_position(ctx, r, 4);

	(void)state;
	assert_range(p, 1, 40, false, 0, 0, 0);
	assert_range(p, 1, 70, false, 0, 0, 3);
	assert_range(p, 1, 150, false, 0, 3, 3);
	hwtdi_position_destroy(p);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
times_give_the_order(void **state)
{
	const struct hwtd_record r[] = {
		record(0, 0, HWTD_NO_ID, 0), /* 0: before record 1 */
		record(T, 30, HWTD_NO_ID, 0), /* 1 */
		record(0, 0, HWTD_NO_ID, 0), /* 2: behind record 1 */
		record(T, 10, HWTD_NO_ID, 0), /* 3 */
		record(T, 0, HWTD_NO_ID, 0), /* 4: the beginning */
		record(T, 30, HWTD_NO_ID, 0), /* 5 */
		record(T, 0, HWTD_NO_ID, 0), /* 6: the beginning */
		record(0, 0, HWTD_NO_ID, 0), /* 7: behind record 6 */
	};
	static const size_t want[] = { 4, 6, 7, 3, 0, 1, 2, 5 };
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_position *p = new_position(ctx, r, 8);
	const size_t *order;
	size_t n;

	(void)state;
	order = hwtdi_position_order(p, &n);
	assert_int_equal(n, 8);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(order[i], want[i]);
	assert_int_equal(hwtdi_position_start(p), 2);
	/* A record without time may or may not have happened. */
	assert_range(p, 0, 0, true, 0, 2, 3);
	assert_range(p, 0, 0, true, 9, 2, 3);
	assert_range(p, 0, 0, true, 10, 4, 5);
	assert_range(p, 0, 0, true, 29, 4, 5);
	assert_range(p, 0, 0, true, 30, 8, 8);
	assert_range(p, 0, 0, true, UINT64_MAX, 8, 8);
	/* Without a time, at least the beginning has happened. */
	assert_range(p, 0, 0, false, 0, 2, 8);
	hwtdi_position_destroy(p);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
times_and_bytes_are_used_together(void **state)
{
	const struct hwtd_record r[] = { record(T, 10, HWTD_NO_ID, 0),
		record(0, 0, HWTD_NO_ID, 0), record(O, 0, 1, 100),
		record(0, 0, HWTD_NO_ID, 0), record(T, 20, HWTD_NO_ID, 0),
		record(T, 30, HWTD_NO_ID, 0) };
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_position *p = new_position(ctx, r, 6);

	(void)state;
	assert_range(p, 1, 99, true, 15, 1, 2);
	assert_range(p, 1, 100, true, 15, 3, 4);
	assert_range(p, 2, 100, true, 15, 1, 4);
	/* They contradict each other. */
	assert_range(p, 1, 99, true, 25, 0, 5);
	hwtdi_position_destroy(p);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

#define RECORDS 30

/* The definition, one record after the other. */
static void
assert_range_by_definition(const struct hwtdi_position *p,
    const struct hwtd_record *r, const size_t *order, size_t n,
    uint32_t stream, uint64_t off, bool has_time, uint64_t t)
{
	uint64_t lo = 0, hi = n, byte_lo = 0, byte_hi = n, start = 0;

	for (size_t seq = 0; seq < n; seq++) {
		const struct hwtd_record *x = &r[order[seq]];

		if ((x->flags & T) != 0 && x->time_ns == 0)
			start = seq + 1;
		if (has_time && (x->flags & T) != 0) {
			if (x->time_ns <= t)
				lo = seq + 1;
			else if (hi == n)
				hi = seq;
		}
		if ((x->flags & O) != 0 && x->stream == stream) {
			if (x->stream_off <= off)
				byte_lo = seq + 1;
			else if (byte_hi == n)
				byte_hi = seq;
		}
	}
	if (byte_lo > byte_hi) {
		uint64_t swap = byte_lo;

		byte_lo = byte_hi;
		byte_hi = swap;
	}
	if (lo > byte_hi || byte_lo > hi) {
		lo = lo < byte_lo ? lo : byte_lo;
		hi = hi > byte_hi ? hi : byte_hi;
	} else {
		lo = lo > byte_lo ? lo : byte_lo;
		hi = hi < byte_hi ? hi : byte_hi;
	}
	assert_int_equal(start, hwtdi_position_start(p));
	assert_range(p, stream, off, has_time, t, lo > start ? lo : start,
	    hi > start ? hi : start);
}

static void
assert_order_by_definition(const struct hwtd_record *r, const size_t *order,
    size_t n)
{
	bool seen[RECORDS] = { false };
	size_t first = 0, before = SIZE_MAX;

	while (first < n && (r[first].flags & T) == 0)
		first++;
	for (size_t seq = 0; seq < n; seq++) {
		const size_t i = order[seq];

		assert_true(i < n && !seen[i]);
		seen[i] = true;
		if ((r[i].flags & T) == 0) {
			if (i < first && i + 1 < n)
				assert_int_equal(order[seq + 1], i + 1);
			if (i >= first && i > 0)
				assert_int_equal(order[seq - 1], i - 1);
			continue;
		}
		if (before != SIZE_MAX)
			assert_true(r[before].time_ns < r[i].time_ns ||
			    (r[before].time_ns == r[i].time_ns && before < i));
		before = i;
	}
}

static void
random_records_agree_with_the_definition(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	uint64_t seed = 21;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		const size_t n = (size_t)(next_random(&seed) % (RECORDS + 1));
		/* Often all go on, or none has a time. */
		const bool steady = round % 2 == 0;
		const uint64_t timed = next_random(&seed) % 5;
		struct hwtd_record r[RECORDS];
		struct hwtdi_position *p;
		const size_t *order;
		size_t n_order;

		for (size_t i = 0; i < n; i++) {
			uint32_t flags = 0;

			if (next_random(&seed) % 4 < timed)
				flags |= T;
			if (next_random(&seed) % 2 == 0)
				flags |= O;
			r[i] = record(flags,
			    steady ? i / 2 : next_random(&seed) % 20,
			    (uint32_t)(next_random(&seed) % 3),
			    steady ? i : next_random(&seed) % 20);
		}
		p = new_position(ctx, r, n);
		order = hwtdi_position_order(p, &n_order);
		assert_int_equal(n_order, n);
		assert_order_by_definition(r, order, n);
		for (uint32_t stream = 0; stream < 4; stream++)
			for (uint64_t off = 0; off < 24; off += 1 + stream)
				assert_range_by_definition(p, r, order, n,
				    stream, off, next_random(&seed) % 2 == 0,
				    next_random(&seed) % 22);
		hwtdi_position_destroy(p);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
equal_keys_stay_in_order(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_keyed items[300];
	uint64_t seed = 4;

	(void)state;
	for (size_t n = 0; n < 300; n++) {
		for (size_t i = 0; i < n; i++) {
			items[i].key = next_random(&seed) % (1 + n / 3);
			items[i].index = i;
		}
		assert_int_equal(hwtdi_key_sort(ctx, items, n, NULL), HWTD_OK);
		for (size_t i = 1; i < n; i++)
			assert_true(items[i - 1].key < items[i].key ||
			    (items[i - 1].key == items[i].key &&
				items[i - 1].index < items[i].index));
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
refused_memory_leaves_nothing_behind(void **state)
{
	struct hwtd_record r[20];
	int rc = HWTD_E_NOMEM;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		r[i] = record(T | O, 20 - i, 5 - i % 5, i);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct failing_allocator f;
		struct hwtd_context *ctx = new_context(&f);
		struct hwtdi_position *p = NULL;

		failing_allocator_arm(&f, n, false);
		rc = hwtdi_position_create(ctx, r, 20, &p, NULL);
		if (rc != HWTD_OK)
			assert_int_equal(rc, HWTD_E_NOMEM);
		hwtdi_position_destroy(p);
		assert_int_equal(f.blocks, 1);
		hwtd_context_destroy(ctx);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_known_leaves_all_open),
		cmocka_unit_test(buffers_bound_records_without_time),
		cmocka_unit_test(records_with_bytes_are_exact),
		cmocka_unit_test(bytes_that_go_back_leave_all_between_open),
		cmocka_unit_test(times_give_the_order),
		cmocka_unit_test(times_and_bytes_are_used_together),
		cmocka_unit_test(random_records_agree_with_the_definition),
		cmocka_unit_test(equal_keys_stay_in_order),
		cmocka_unit_test(refused_memory_leaves_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
