/*
 * One address space: mappings over mappings, against a map that is too simple
 * to be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "space/space_map.h"
#include "support/failing_allocator.h"
#include "support/sample_trace.h"

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

/* Mappings in order of time; what remains, in order of addresses. */
static const struct {
	const char *name;
	size_t n;
	struct hwtdi_mapping in[4];
	size_t n_want;
	struct hwtdi_mapping want[5];
} cases[] = {
	{ "nothing", 0, { { 0 } }, 0, { { 0 } } },
	{ "one byte", 1, { { 5, 5, 0, 1 } }, 1, { { 5, 5, 0, 1 } } },
	{ "the whole space", 1, { { 0, UINT64_MAX, 0, 1 } }, 1,
	    { { 0, UINT64_MAX, 0, 1 } } },
	{ "later in the middle", 2, { { 0, 99, 0, 1 }, { 40, 59, 0, 2 } }, 3,
	    { { 0, 39, 0, 1 }, { 40, 59, 0, 2 }, { 60, 99, 60, 1 } } },
	{ "earlier in the middle", 2, { { 40, 59, 0, 2 }, { 0, 99, 0, 1 } }, 1,
	    { { 0, 99, 0, 1 } } },
	{ "later at the front", 2, { { 10, 19, 0, 1 }, { 5, 14, 0, 2 } }, 2,
	    { { 5, 14, 0, 2 }, { 15, 19, 5, 1 } } },
	{ "later at the back", 2, { { 10, 19, 0, 1 }, { 15, 24, 0, 2 } }, 2,
	    { { 10, 14, 0, 1 }, { 15, 24, 0, 2 } } },
	{ "the same range twice", 2, { { 1, 2, 0, 1 }, { 1, 2, 0, 2 } }, 1,
	    { { 1, 2, 0, 2 } } },
	{ "pieces of one section that adjoin", 2,
	    { { 0, 9, 0, 1 }, { 10, 19, 10, 1 } }, 1, { { 0, 19, 0, 1 } } },
	{ "pieces that adjoin but do not go on", 2,
	    { { 0, 9, 0, 1 }, { 10, 19, 11, 1 } }, 2,
	    { { 0, 9, 0, 1 }, { 10, 19, 11, 1 } } },
	{ "the same bytes again in the middle", 2,
	    { { 0, 99, 0, 1 }, { 40, 59, 40, 1 } }, 1, { { 0, 99, 0, 1 } } },
	{ "end of the space", 3,
	    { { UINT64_MAX - 9, UINT64_MAX, 0, 1 },
		{ UINT64_MAX, UINT64_MAX, 0, 2 }, { 0, 0, 0, 3 } },
	    3,
	    { { 0, 0, 0, 3 }, { UINT64_MAX - 9, UINT64_MAX - 1, 0, 1 },
		{ UINT64_MAX, UINT64_MAX, 0, 2 } } },
	{ "stairs", 3, { { 0, 29, 0, 1 }, { 10, 39, 0, 2 }, { 20, 49, 0, 3 } },
	    3, { { 0, 9, 0, 1 }, { 10, 19, 0, 2 }, { 20, 49, 0, 3 } } },
	{ "hidden from both sides", 4,
	    { { 10, 29, 0, 1 }, { 0, 19, 0, 2 }, { 20, 39, 0, 3 },
		{ 15, 15, 0, 4 } },
	    4,
	    { { 0, 14, 0, 2 }, { 15, 15, 0, 4 }, { 16, 19, 16, 2 },
		{ 20, 39, 0, 3 } } },
};

static void
later_mapping_hides_what_it_overlaps(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_space_map map;
		struct hwtdi_mapping in[4];

		print_message("case %s\n", cases[i].name);
		memcpy(in, cases[i].in, sizeof(in));
		assert_int_equal(hwtdi_space_map_build(ctx, in, cases[i].n,
				     &map, NULL),
		    HWTD_OK);
		assert_int_equal(map.n, cases[i].n_want);
		for (size_t k = 0; k < map.n; k++) {
			assert_int_equal(map.at[k].first,
			    cases[i].want[k].first);
			assert_int_equal(map.at[k].last,
			    cases[i].want[k].last);
			assert_int_equal(map.at[k].section_off,
			    cases[i].want[k].section_off);
			assert_int_equal(map.at[k].section,
			    cases[i].want[k].section);
		}
		hwtdi_space_map_fini(ctx, &map);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

/* The latest mapping that holds the address, the slow way. */
static const struct hwtdi_mapping *
slow_find(const struct hwtdi_mapping *mappings, size_t n, uint64_t address)
{
	while (n-- > 0)
		if (mappings[n].first <= address &&
		    address <= mappings[n].last)
			return (&mappings[n]);
	return (NULL);
}

static void
assert_same(const struct hwtdi_space_map *map,
    const struct hwtdi_mapping *mappings, size_t n, uint64_t address)
{
	const struct hwtdi_mapping *want = slow_find(mappings, n, address);
	const struct hwtdi_mapping *got = hwtdi_space_map_find(map, address);

	if (want == NULL) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_true(got->first <= address && address <= got->last);
	assert_int_equal(got->section, want->section);
	assert_int_equal(got->section_off + (address - got->first),
	    want->section_off + (address - want->first));
}

/* Pieces are in order, do not overlap, and do not adjoin without need. */
static void
assert_tidy(const struct hwtdi_space_map *map)
{
	for (size_t i = 1; i < map->n; i++) {
		const struct hwtdi_mapping *a = &map->at[i - 1];
		const struct hwtdi_mapping *b = &map->at[i];

		assert_true(a->first <= a->last && a->last < b->first);
		if (a->last + 1 == b->first && a->section == b->section)
			assert_int_not_equal(a->section_off +
				(b->first - a->first),
			    b->section_off);
	}
}

static void
random_mappings_agree_with_the_slow_way(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	uint64_t seed = 42;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		/* Small spaces make many overlaps; at both ends of 2^64. */
		const uint64_t base = round % 3 == 0 ? 0
		    : round % 3 == 1		     ? UINT64_MAX - 63
						     : 0x7fffffffffffffe0;
		const size_t n = (size_t)(next_random(&seed) % 20);
		struct hwtdi_mapping in[20];
		struct hwtdi_space_map map;

		memset(in, 0, sizeof(in));
		for (size_t i = 0; i < n; i++) {
			uint64_t a = next_random(&seed) % 64;
			uint64_t b = a + next_random(&seed) % (64 - a);

			in[i].first = base + a;
			in[i].last = base + b;
			in[i].section = (uint32_t)(next_random(&seed) % 3);
			/* Often the same address shows the same byte. */
			in[i].section_off = next_random(&seed) % 2 == 0
			    ? a
			    : next_random(&seed) % 100;
		}
		assert_int_equal(hwtdi_space_map_build(ctx, in, n, &map, NULL),
		    HWTD_OK);
		assert_tidy(&map);
		for (uint64_t a = 0; a < 64; a++)
			assert_same(&map, in, n, base + a);
		assert_same(&map, in, n, base - 1);
		assert_same(&map, in, n, base + 64);
		hwtdi_space_map_fini(ctx, &map);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

/* Must not take time that grows with the square. */
static void
hundred_thousand_mappings_are_built(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	const size_t n = 100000;
	struct hwtdi_mapping *in = calloc(n, sizeof(*in));
	struct hwtdi_space_map map;
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		in[i].first = next_random(&seed) >> 20;
		in[i].last = in[i].first + (next_random(&seed) >> 24);
		in[i].section = (uint32_t)i;
	}
	assert_int_equal(hwtdi_space_map_build(ctx, in, n, &map, NULL),
	    HWTD_OK);
	assert_tidy(&map);
	for (int i = 0; i < 50; i++)
		assert_same(&map, in, n, next_random(&seed) >> 20);
	hwtdi_space_map_fini(ctx, &map);
	free(in);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
refused_memory_leaves_nothing_behind(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	struct hwtdi_mapping in[40];
	struct hwtdi_space_map map;
	int rc = HWTD_E_NOMEM;

	(void)state;
	memset(in, 0, sizeof(in));
	for (size_t i = 0; i < 40; i++) {
		in[i].first = 100 * i;
		in[i].last = 100 * i + 20;
	}
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		failing_allocator_arm(&f, n, false);
		rc = hwtdi_space_map_build(ctx, in, 40, &map, NULL);
		if (rc != HWTD_OK) {
			assert_int_equal(rc, HWTD_E_NOMEM);
			assert_int_equal(f.blocks, 1);
		}
	}
	hwtdi_space_map_fini(ctx, &map);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_mapping_hides_what_it_overlaps),
		cmocka_unit_test(random_mappings_agree_with_the_slow_way),
		cmocka_unit_test(hundred_thousand_mappings_are_built),
		cmocka_unit_test(refused_memory_leaves_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
