/*
 * Much is sorted in parts as little is at once, and sorting can be ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sort.h"

/* More than two parts, of which the last is not whole. */
#define N ((size_t)100003)

/* Of a size that no word has. */
struct element {
	uint32_t key;
	uint32_t number;
	uint8_t more[4];
};

static uint64_t left;

static int
poll_left(void *arg)
{
	(void)arg;
	if (left == 0)
		return (1);
	left--;
	return (0);
}

static int
by_key(const void *va, const void *vb)
{
	const struct element *a = va, *b = vb;

	return (a->key < b->key ? -1 : a->key > b->key);
}

static struct element *
elements(size_t n, uint32_t keys)
{
	struct element *at = calloc(n + 1, sizeof(*at));
	uint32_t random = 12345;

	assert_non_null(at);
	for (size_t i = 0; i < n; i++) {
		random = random * 1664525 + 1013904223;
		at[i].key = (random >> 8) % keys;
		at[i].number = (uint32_t)i;
		at[i].more[0] = (uint8_t)i;
	}
	return (at);
}

/* Each number is there once, with what belongs to it. */
static void
check_all_there(const struct element *at, size_t n, uint32_t keys)
{
	struct element *want = elements(n, keys);
	uint8_t *seen = calloc(n + 1, 1);

	assert_non_null(seen);
	for (size_t i = 0; i < n; i++) {
		assert_true(at[i].number < n);
		assert_int_equal(seen[at[i].number]++, 0);
		assert_memory_equal(&at[i], &want[at[i].number],
		    sizeof(at[i]));
	}
	free(seen);
	free(want);
}

static struct hwtd_context *
context(uint64_t max_memory)
{
	const struct hwtd_context_options o = { .size = sizeof(o),
		.poll = poll_left,
		.max_memory = max_memory };
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static void
check_sorted(struct hwtd_context *ctx, size_t n, uint32_t keys)
{
	struct element *at = elements(n, keys);

	assert_int_equal(hwtdi_sort(ctx, at, n, sizeof(*at), by_key, NULL),
	    HWTD_OK);
	for (size_t i = 1; i < n; i++)
		assert_true(at[i - 1].key <= at[i].key);
	check_all_there(at, n, keys);
	free(at);
}

static void
any_number_is_sorted(void **state)
{
	static const size_t counts[] = { 0, 1, 2, 3, 16383, 16384, 16385,
		32768, 32769, 49152, 65537, N };
	struct hwtd_context *ctx = context(0);

	(void)state;
	left = UINT64_MAX;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		check_sorted(ctx, counts[i], UINT32_MAX);
		check_sorted(ctx, counts[i], 7);
	}
	hwtd_context_destroy(ctx);
}

static void
each_question_may_be_the_last(void **state)
{
	struct hwtd_context *ctx = context(0);
	int rc = HWTD_E_CANCELED;
	uint64_t n, now;

	(void)state;
	for (n = 0; rc != HWTD_OK; n++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct element *at = elements(N, 1000);

		left = n;
		rc = hwtdi_sort(ctx, at, N, sizeof(*at), by_key, &err);
		if (rc != HWTD_OK) {
			assert_int_equal(rc, HWTD_E_CANCELED);
			assert_int_equal(err.code, HWTD_E_CANCELED);
		}
		check_all_there(at, N, 1000);
		hwtd_context_memory(ctx, &now, NULL);
		assert_int_equal(now, 0);
		free(at);
	}
	/* Parts, and merging them three times. */
	assert_true(n > 7 + 3 * 6);
	hwtd_context_destroy(ctx);
}

static void
without_memory_all_is_as_it_was(void **state)
{
	struct hwtd_context *ctx = context(N);
	struct element *at = elements(N, 1000), *was = elements(N, 1000);

	(void)state;
	left = UINT64_MAX;
	assert_int_equal(hwtdi_sort(ctx, at, N, sizeof(*at), by_key, NULL),
	    HWTD_E_NOMEM);
	assert_memory_equal(at, was, N * sizeof(*at));
	free(was);
	free(at);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_is_sorted),
		cmocka_unit_test(each_question_may_be_the_last),
		cmocka_unit_test(without_memory_all_is_as_it_was),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
