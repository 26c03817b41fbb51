/*
 * Maps of ranges of which every version stays readable, against arrays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "space/version_tree.h"
#include "support/failing_allocator.h"
#include "support/sample_trace.h"

#define WIDTH 48
#define VERSIONS 64

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

/* Heights are right and differ by at most one; addresses go up. */
static uint32_t
assert_balanced(const struct hwtdi_version_tree *tree, uint32_t root,
    uint64_t first, uint64_t last)
{
	const struct hwtdi_version_node *x;
	uint32_t l = 0, r = 0;

	if (root == 0)
		return (0);
	x = &tree->chunks[root / 1024][root % 1024];
	assert_true(x->first >= first && x->first <= last);
	if (x->left != 0)
		l = assert_balanced(tree, x->left, first, x->first - 1);
	if (x->right != 0)
		r = assert_balanced(tree, x->right, x->first + 1, last);
	assert_true(l <= r + 1 && r <= l + 1);
	assert_int_equal(x->height, (l > r ? l : r) + 1);
	return (x->height);
}

static void
every_version_stays_as_it_was(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 500; round++) {
		const uint64_t base = round % 3 == 0 ? 0
		    : round % 3 == 1		     ? UINT64_MAX - (WIDTH - 1)
						     : 0x123456789abcdef0;
		struct hwtdi_version_tree tree = { 0 };
		uint32_t want[VERSIONS][WIDTH], root[VERSIONS];

		memset(want, 0, sizeof(want));
		root[0] = 0;
		for (uint32_t v = 1; v < VERSIONS; v++) {
			/* Often the newest, as a fork also an older one. */
			uint32_t of = next_random(&seed) % 4 == 0
			    ? (uint32_t)(next_random(&seed) % v)
			    : v - 1;
			uint64_t a = next_random(&seed) % WIDTH;
			uint64_t b = a + next_random(&seed) % (WIDTH - a);

			memcpy(want[v], want[of], sizeof(want[v]));
			for (uint64_t i = a; i <= b; i++)
				want[v][i] = v;
			assert_int_equal(hwtdi_version_tree_reserve(ctx, &tree,
					     NULL),
			    HWTD_OK);
			root[v] = hwtdi_version_tree_set(&tree, root[of],
			    base + a, base + b, v);
		}
		for (uint32_t v = 0; v < VERSIONS; v++) {
			(void)assert_balanced(&tree, root[v], 0, UINT64_MAX);
			for (uint64_t i = 0; i < WIDTH; i++) {
				struct hwtdi_version_range
				    r = hwtdi_version_tree_find(&tree, root[v],
					base + i);

				assert_int_equal(r.value, want[v][i]);
				assert_true(r.first <= base + i);
				assert_true(r.last >= base + i);
				if (i > 0 && want[v][i - 1] != want[v][i])
					assert_true(r.first == base + i);
				if (i + 1 < WIDTH &&
				    want[v][i + 1] != want[v][i])
					assert_true(r.last == base + i);
			}
		}
		hwtdi_version_tree_fini(ctx, &tree);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

/* Few nodes for each change, also where the order is the worst. */
static void
trees_stay_low(void **state)
{
	struct failing_allocator f;
	struct hwtd_context *ctx = new_context(&f);
	static const char *const orders[] = { "up", "down", "inwards",
		"random" };
	const uint64_t n = 20000;
	uint64_t seed = 5;

	(void)state;
	for (int order = 0; order < 4; order++) {
		struct hwtdi_version_tree tree = { 0 };
		uint32_t root = 0, most = 0;

		for (uint64_t i = 0; i < n; i++) {
			uint64_t a = order == 0 ? i
			    : order == 1	? n - i
			    : order == 2	? (i % 2 == 0 ? i : 2 * n - i)
						: next_random(&seed) % n;
			uint32_t before;

			assert_int_equal(hwtdi_version_tree_reserve(ctx, &tree,
					     NULL),
			    HWTD_OK);
			before = tree.n;
			root = hwtdi_version_tree_set(&tree, root, 10 * a,
			    10 * a + 4, (uint32_t)i + 1);
			if (tree.n - before > most)
				most = tree.n - before;
		}
		print_message("%s: height %u, %u nodes for a change, at most "
			      "%u\n",
		    orders[order],
		    (unsigned int)assert_balanced(&tree, root, 0, UINT64_MAX),
		    (unsigned int)(tree.n / n), (unsigned int)most);
		assert_true(most < 200);
		assert_true(assert_balanced(&tree, root, 0, UINT64_MAX) < 24);
		hwtdi_version_tree_fini(ctx, &tree);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_stays_as_it_was),
		cmocka_unit_test(trees_stay_low),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
