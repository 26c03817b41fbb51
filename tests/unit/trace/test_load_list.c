/*
 * What was loaded, and where: against lists that are copied at each fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/chosen_key.h"
#include "support/failing_allocator.h"
#include "trace/load_list.h"

#define SPACES 8u
#define ADDRESSES 5u

static struct hwtd_context *
new_context(const struct hwtd_allocator *allocator)
{
	const struct hwtd_context_options o = { .size = sizeof(o),
		.allocator = allocator };
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static uint32_t
next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8);
}

/* Which load each space has at each address; 0: none. */
static uint64_t model[SPACES][ADDRESSES];

static int
load(struct hwtdi_load_list *list, struct hwtd_context *ctx, uint32_t space,
    uint64_t addr, uint64_t seq, struct hwtd_error *err)
{
	int rc = hwtdi_load_list_add(list, ctx, space, addr, 0, false, seq,
	    err);

	return (rc == HWTD_OK
		? hwtdi_load_list_add_piece(list, ctx, seq, 1, err)
		: rc);
}

/* The load that is taken; 0: none. */
static int
take(struct hwtdi_load_list *list, struct hwtd_context *ctx, uint32_t space,
    uint64_t addr, uint64_t seq, uint64_t *load_out, struct hwtd_error *err)
{
	const struct hwtdi_load_piece *pieces;
	size_t got;
	int rc;

	*load_out = 0;
	rc = hwtdi_load_list_take(list, ctx, space, addr, seq, &got, err);
	if (rc == HWTD_OK && got != 0 &&
	    hwtdi_load_list_pieces(list, got, &pieces) > 0)
		*load_out = pieces[0].address;
	return (rc);
}

/* Something happens at random; it can be tried again. */
static int
step(struct hwtdi_load_list *list, struct hwtd_context *ctx, uint32_t *random,
    uint64_t seq)
{
	const uint32_t op = next_random(random) % 16;
	const uint32_t space = next_random(random) % SPACES;
	const uint32_t other = next_random(random) % SPACES;
	const uint32_t at = next_random(random) % ADDRESSES;
	uint64_t got;
	int rc = HWTD_OK;

	if (op < 6) {
		rc = load(list, ctx, space, at, seq, NULL);
		if (rc == HWTD_OK)
			model[space][at] = seq;
	} else if (op < 12) {
		rc = take(list, ctx, space, at, seq, &got, NULL);
		if (rc == HWTD_OK) {
			assert_int_equal(got, model[space][at]);
			model[space][at] = 0;
		}
	} else if (op < 14 && space != other) {
		rc = hwtdi_load_list_fork(list, ctx, space, other, seq, NULL);
		if (rc == HWTD_OK)
			memcpy(model[space], model[other],
			    sizeof(model[space]));
	} else if (op == 14) {
		hwtdi_load_list_clear(list, space);
		memset(model[space], 0, sizeof(model[space]));
	}
	return (rc);
}

static void
each_space_unloads_what_it_has(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_load_list list = { 0 };
	uint32_t random = 1;

	(void)state;
	memset(model, 0, sizeof(model));
	for (uint64_t seq = 1; seq < 50000; seq++)
		assert_int_equal(step(&list, ctx, &random, seq), HWTD_OK);
	hwtdi_load_list_fini(&list, ctx);
	hwtd_context_destroy(ctx);
}

static void
without_memory_nothing_changes(void **state)
{
	struct hwtdi_load_list list = { 0 };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	uint32_t random = 2, refused = 0;

	(void)state;
	failing_allocator_init(&f);
	ctx = new_context(&f.allocator);
	memset(model, 0, sizeof(model));
	for (uint64_t seq = 1; seq < 2000; seq++) {
		uint32_t before = random;

		failing_allocator_arm(&f, 1, true);
		if (step(&list, ctx, &random, seq) == HWTD_OK)
			continue;
		refused++;
		random = before;
		failing_allocator_arm(&f, 0, false);
		assert_int_equal(step(&list, ctx, &random, seq), HWTD_OK);
	}
	assert_true(refused > 0);
	hwtdi_load_list_fini(&list, ctx);
	hwtd_context_destroy(ctx);
	assert_int_equal(atomic_load(&f.blocks), 0);
	assert_int_equal(atomic_load(&f.bytes), 0);
}

/* Each has a load of its own, so that none of them can be passed over. */
static void
a_search_goes_back_as_many_forks_as_it_says(void **state)
{
	for (uint32_t forks = HWTDI_LOAD_MAX_FORKS - 1;
	     forks <= HWTDI_LOAD_MAX_FORKS + 1; forks++) {
		struct hwtd_context *ctx = new_context(NULL);
		struct hwtdi_load_list list = { 0 };
		uint64_t seq = 1, got;

		(void)state;
		assert_int_equal(load(&list, ctx, 0, 7, seq, NULL), HWTD_OK);
		for (uint32_t i = 0; i < forks; i++) {
			assert_int_equal(load(&list, ctx, i, 8, ++seq, NULL),
			    HWTD_OK);
			assert_int_equal(hwtdi_load_list_fork(&list, ctx,
					     i + 1, i, ++seq, NULL),
			    HWTD_OK);
		}
		assert_int_equal(take(&list, ctx, forks, 7, ++seq, &got, NULL),
		    HWTD_OK);
		assert_int_equal(got, forks <= HWTDI_LOAD_MAX_FORKS);
		hwtdi_load_list_fini(&list, ctx);
		hwtd_context_destroy(ctx);
	}
}

static void
forks_of_who_loads_nothing_are_no_way(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	struct hwtdi_load_list list = { 0 };
	uint64_t seq = 1, got;

	(void)state;
	assert_int_equal(load(&list, ctx, 0, 7, seq, NULL), HWTD_OK);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(hwtdi_load_list_fork(&list, ctx, i + 1, i,
				     ++seq, NULL),
		    HWTD_OK);
	assert_int_equal(take(&list, ctx, 1000, 7, ++seq, &got, NULL),
	    HWTD_OK);
	assert_int_equal(got, 1);
	hwtdi_load_list_fini(&list, ctx);
	hwtd_context_destroy(ctx);
}

static uint64_t
plain_hash(uint64_t addr)
{
	uint64_t h = addr * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32) * 0x94d049bb133111ebu;
	return (h ^ h >> 29);
}

static void
addresses_that_were_chosen_for_a_hash_are_not_slow(void **state)
{
	struct hwtd_context *ctx = new_context(NULL);
	const double start = cpu_seconds();
	struct hwtdi_load_list list = { 0 };
	uint32_t n = 0;

	(void)state;
	for (uint64_t addr = 0; n < CHOSEN_KEYS; addr++)
		if (is_chosen(plain_hash(addr)))
			assert_int_equal(load(&list, ctx, 0, addr, ++n, NULL),
			    HWTD_OK);
	assert_true(cpu_seconds() - start < chosen_seconds());
	hwtdi_load_list_fini(&list, ctx);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_space_unloads_what_it_has),
		cmocka_unit_test(without_memory_nothing_changes),
		cmocka_unit_test(a_search_goes_back_as_many_forks_as_it_says),
		cmocka_unit_test(forks_of_who_loads_nothing_are_no_way),
		cmocka_unit_test(
		    addresses_that_were_chosen_for_a_hash_are_not_slow),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
