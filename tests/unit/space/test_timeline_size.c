/*
 * Many mappings in shapes that are meant to hurt: neither time nor memory
 * grows with the square.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "space/timeline.h"
#include "support/failing_allocator.h"
#include "support/sample_trace.h"

#define BASE 0x400000u

struct load {
	struct hwtdi_timeline *tl;
	/* Records, and how many there are to be. */
	uint64_t seq;
	uint64_t n;
	uint64_t seed;
	/* The space to ask. */
	uint32_t space;
};

static uint32_t
user(struct load *x, uint32_t pid)
{
	const struct hwtdi_space_key key = { HWTDI_SPACE_KIND_USER, pid,
		HWTD_NO_ID };
	uint32_t space;

	assert_int_equal(hwtdi_timeline_space(x->tl, &key, &space, NULL),
	    HWTD_OK);
	return (space);
}

/* One record.  Sections have numbers of their own. */
static void
map(struct load *x, uint32_t space, uint64_t addr, uint64_t len,
    uint32_t flags)
{
	const struct hwtdi_piece piece = { (uint32_t)x->seq, flags, 0 };

	assert_int_equal(hwtdi_timeline_map(x->tl, x->seq++, space, addr, len,
			     &piece, NULL),
	    HWTD_OK);
}

static void
unmap(struct load *x, uint32_t space, uint64_t addr, uint64_t len)
{
	assert_int_equal(hwtdi_timeline_unmap(x->tl, x->seq++, space, addr,
			     len, NULL),
	    HWTD_OK);
}

static void
fork_of(struct load *x, uint32_t child, uint32_t parent)
{
	assert_int_equal(hwtdi_timeline_fork(x->tl, x->seq++, child, parent,
			     NULL),
	    HWTD_OK);
}

static void
one_after_the_other(struct load *x)
{
	while (x->seq < x->n)
		map(x, x->space, BASE + x->seq * 0x2000, 0x1000, 0);
}

static void
anywhere(struct load *x)
{
	while (x->seq < x->n)
		map(x, x->space, next_random(&x->seed) >> 20,
		    next_random(&x->seed) >> 30, 0);
}

static void
all_at_one_place(struct load *x)
{
	while (x->seq < x->n)
		map(x, x->space, BASE, 0x1000, 0);
}

static void
each_inside_the_one_before(struct load *x)
{
	while (x->seq < x->n)
		map(x, x->space, BASE + x->seq, 2 * (x->n - x->seq), 0);
}

static void
each_around_the_one_before(struct load *x)
{
	while (x->seq < x->n)
		map(x, x->space, BASE + x->n - x->seq, 1 + 2 * x->seq, 0);
}

/* Pages, and now and then something over all of them. */
static void
pages_under_whole_ranges(struct load *x)
{
	for (uint64_t i = 0; x->seq < x->n; i++) {
		if (i % 100 == 99)
			unmap(x, x->space, 0, UINT64_MAX);
		else if (i % 100 == 49)
			map(x, x->space, 0, UINT64_MAX, 0);
		else
			map(x, x->space,
			    BASE + (next_random(&x->seed) % 1000) * 0x1000,
			    0x1000, 0);
	}
}

/* Anonymous memory over the same hundred thousand pieces of JIT code. */
static void
jit_under_anonymous(struct load *x)
{
	while (x->seq < x->n / 2)
		map(x, x->space, BASE + x->seq * 0x40, 0x20, HWTDI_PIECE_JIT);
	while (x->seq < x->n)
		map(x, x->space, BASE + x->seq % 7, x->n * 0x40,
		    HWTDI_PIECE_ANONYMOUS);
}

/* One process with many mappings has many children. */
static void
many_children(struct load *x)
{
	while (x->seq < x->n / 2)
		map(x, x->space, BASE + x->seq * 0x2000, 0x1000, 0);
	for (uint32_t pid = 2; x->seq + 1 < x->n; pid++) {
		const uint32_t child = user(x, pid);

		fork_of(x, child, x->space);
		map(x, child, next_random(&x->seed) % (x->n * 0x2000), 0x3000,
		    0);
	}
}

/* A child of a child of a child, each with a mapping more. */
static void
chain_of_children(struct load *x)
{
	while (x->seq < x->n / 2)
		map(x, x->space, BASE + x->seq * 0x2000, 0x1000, 0);
	for (uint32_t pid = 2; x->seq + 1 < x->n; pid++) {
		const uint32_t child = user(x, pid);

		fork_of(x, child, x->space);
		map(x, child, next_random(&x->seed) % (x->n * 0x2000), 0x3000,
		    0);
		x->space = child;
	}
}

/* Two processes that are each other's children in turn. */
static void
two_in_turn(struct load *x)
{
	const uint32_t other[2] = { x->space, user(x, 2) };

	for (size_t i = 0; x->seq + 1 < x->n; i++) {
		map(x, other[i % 2], BASE + x->seq * 0x2000, 0x1000, 0);
		fork_of(x, other[(i + 1) % 2], other[i % 2]);
	}
}

static const struct {
	const char *name;
	void (*load)(struct load *x);
} shapes[] = {
	{ "one after the other", one_after_the_other },
	{ "anywhere", anywhere },
	{ "all at one place", all_at_one_place },
	{ "each inside the one before", each_inside_the_one_before },
	{ "each around the one before", each_around_the_one_before },
	{ "pages under whole ranges", pages_under_whole_ranges },
	{ "JIT code under anonymous memory", jit_under_anonymous },
	{ "many children", many_children },
	{ "chain of children", chain_of_children },
	{ "two in turn", two_in_turn },
};

static double
cpu_seconds(void)
{
	return ((double)clock() / CLOCKS_PER_SEC);
}

/* Questions of one moment and of all moments; the time of one in us. */
static double
ask(struct load *x, bool wide, uint64_t n)
{
	const double begin = cpu_seconds();

	for (uint64_t i = 0; i < n; i++) {
		/* Any moment, and the last ones. */
		const uint64_t t = x->n -
		    next_random(&x->seed) % (i % 4 < 2 ? x->n : 4);
		const uint64_t addr = BASE +
		    next_random(&x->seed) % (x->n * 0x2000);
		struct hwtdi_place got[8];
		size_t n_got;
		int rc;

		rc = hwtdi_timeline_find(x->tl, x->space, wide ? 0 : t, t,
		    i % 2 == 0 ? addr : BASE + x->n, got, 8, &n_got);
		assert_true(rc == HWTD_OK || (wide && rc == HWTD_E_LIMIT));
		assert_true(n_got >= 1);
		assert_true(wide || n_got == 1);
	}
	return ((cpu_seconds() - begin) / (double)n * 1e6);
}

static int
count(void *arg, const struct hwtdi_place *place)
{
	uint64_t *n = arg;

	(void)place;
	(*n)++;
	return (0);
}

static void
hostile_shapes_cost_little(void **state)
{
	const uint64_t n = getenv("HWTDECODE_TEST_SMALL") != NULL ? 20000
								  : 200000;
	const size_t n_shapes = sizeof(shapes) / sizeof(shapes[0]);

	(void)state;
	for (size_t i = 0; i < n_shapes; i++) {
		struct load x = { .n = n, .seed = 7 };
		struct hwtd_context *ctx;
		uint64_t now, peak, mapped = 0;
		double begin, built, one, wide, walk;

		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		begin = cpu_seconds();
		assert_int_equal(hwtdi_timeline_create(ctx, 0, &x.tl, NULL),
		    HWTD_OK);
		x.space = user(&x, 1);
		shapes[i].load(&x);
		built = cpu_seconds() - begin;
		hwtd_context_memory(ctx, &now, &peak);
		one = ask(&x, false, n);
		wide = ask(&x, true, n / 10);
		begin = cpu_seconds();
		assert_int_equal(hwtdi_timeline_walk(x.tl, x.space, x.seq,
				     true, count, &mapped),
		    0);
		walk = cpu_seconds() - begin;
		print_message("%s: %u records in %.3f s CPU, %u bytes each; "
			      "find %.2f us, of all moments %.2f us; walk "
			      "over %u in %.3f s\n",
		    shapes[i].name, (unsigned int)x.seq, built,
		    (unsigned int)(now / n), one, wide, (unsigned int)mapped,
		    walk);
		assert_true(built < 10);
		assert_true(one < 100);
		assert_true(wide < 2000);
		assert_true(walk < 10);
		assert_true(now / n < 4096);
		hwtdi_timeline_destroy(x.tl);
		hwtd_context_destroy(ctx);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_shapes_cost_little),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
