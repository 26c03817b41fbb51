/*
 * An index of numbers by hash, and the hashes for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/index.h"
#include "support/failing_allocator.h"

static struct hwtd_context *
new_context(const struct hwtd_allocator *allocator)
{
	const struct hwtd_context_options o = { .size = sizeof(o),
		.allocator = allocator };
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static void
add(struct hwtdi_index *index, struct hwtd_context *ctx, uint64_t hash,
    uint32_t number)
{
	assert_int_equal(hwtdi_index_reserve(index, ctx, NULL), HWTD_OK);
	hwtdi_index_put(index, hash, number);
}

/* How often a search for `hash` offers `number`; and what it offers at all. */
static size_t
count(const struct hwtdi_index *index, uint64_t hash, uint32_t number,
    size_t *all_out)
{
	size_t tries = 0, n = 0, all = 0;
	uint32_t got;

	while (hwtdi_index_next(index, hash, &tries, &got)) {
		n += got == number;
		all++;
	}
	*all_out = all;
	return (n);
}

static void
an_empty_index_has_nothing(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_index index = { 0 };
	size_t all;

	(void)state;
	assert_int_equal(count(&index, 0, 0, &all), 0);
	assert_int_equal(all, 0);
	hwtdi_index_fini(&index, ctx);
	hwtd_context_destroy(ctx);
}

static void
all_numbers_are_found_while_it_grows(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_index index = { 0 };
	uint32_t n = 0;

	(void)state;
	for (uint32_t step = 1; step < 20000; step *= 3) {
		for (; n < step; n++)
			add(&index, ctx, hwtdi_hash(ctx, &n, sizeof(n)), n);
		for (uint32_t i = 0; i < n; i++) {
			size_t all;

			assert_int_equal(count(&index,
					     hwtdi_hash(ctx, &i, sizeof(i)), i,
					     &all),
			    1);
		}
		assert_int_equal(index.n, n);
		assert_true(index.n * 2 <= index.n_slots);
	}
	hwtdi_index_fini(&index, ctx);
	assert_null(index.slots);
	hwtd_context_destroy(ctx);
}

/* The last slot, so that the search goes on in the first. */
static void
things_of_one_hash_are_all_offered(void **state)
{
	const uint64_t hash = UINT64_MAX;
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_index index = { 0 };
	size_t all;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		add(&index, ctx, hash, i);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(count(&index, hash, i, &all), 1);
		assert_int_equal(all, 1000);
	}
	/* Beside them, and not one of them. */
	assert_int_equal(count(&index, 0, 0, &all), 0);
	assert_int_equal(all, 0);
	hwtdi_index_fini(&index, ctx);
	hwtd_context_destroy(ctx);
}

static void
without_memory_it_stays_as_it_was(void **state)
{
	struct hwtdi_index index = { 0 };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	uint32_t n = 0;
	size_t all;

	(void)state;
	failing_allocator_init(&f);
	ctx = new_context(&f.allocator);
	failing_allocator_arm(&f, 1, true);
	assert_int_equal(hwtdi_index_reserve(&index, ctx, NULL), HWTD_E_NOMEM);
	failing_allocator_arm(&f, 0, false);
	for (; n < 1000; n++)
		add(&index, ctx, n, n);
	failing_allocator_arm(&f, 1, true);
	while (hwtdi_index_reserve(&index, ctx, NULL) == HWTD_OK) {
		hwtdi_index_put(&index, n, n);
		n++;
	}
	assert_int_equal(index.n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(count(&index, i, i, &all), 1);
	failing_allocator_arm(&f, 0, false);
	add(&index, ctx, n, n);
	assert_int_equal(count(&index, n, n, &all), 1);
	hwtdi_index_fini(&index, ctx);
	hwtd_context_destroy(ctx);
	assert_int_equal(atomic_load(&f.blocks), 0);
	assert_int_equal(atomic_load(&f.bytes), 0);
}

static void
each_context_has_a_seed_of_its_own(void **state)
{
	struct hwtd_context *a = new_context(NULL), *b = new_context(NULL);

	(void)state;
	assert_true(a->seed != b->seed);
	assert_true(hwtdi_hash(a, "name", 4) != hwtdi_hash(b, "name", 4));
	assert_true(hwtdi_hash(a, "name", 4) == hwtdi_hash(a, "name", 4));
	assert_true(hwtdi_hash_pair(a->seed, 1, 2) !=
	    hwtdi_hash_pair(b->seed, 1, 2));
	assert_true(hwtdi_hash_pair(a->seed, 1, 2) !=
	    hwtdi_hash_pair(a->seed, 2, 1));
	hwtd_context_destroy(a);
	hwtd_context_destroy(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_index_has_nothing),
		cmocka_unit_test(all_numbers_are_found_while_it_grows),
		cmocka_unit_test(things_of_one_hash_are_all_offered),
		cmocka_unit_test(without_memory_it_stays_as_it_was),
		cmocka_unit_test(each_context_has_a_seed_of_its_own),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
