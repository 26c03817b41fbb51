/*
 * The mapping timeline: what programs, loaders and recorders do, one case
 * each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "space/timeline.h"
#include "support/failing_allocator.h"

struct fixture {
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct hwtdi_timeline *tl;
	/* Two processes. */
	uint32_t a;
	uint32_t b;
	struct hwtdi_place got[8];
	size_t n;
};

static uint32_t
user(struct hwtdi_timeline *tl, uint32_t pid)
{
	const struct hwtdi_space_key key = { HWTDI_SPACE_KIND_USER, pid,
		HWTD_NO_ID };
	uint32_t space;

	assert_int_equal(hwtdi_timeline_space(tl, &key, &space, NULL),
	    HWTD_OK);
	return (space);
}

static void
begin(struct fixture *x, uint64_t n_start)
{
	struct hwtd_context_options o = { .size = sizeof(o) };

	memset(x, 0, sizeof(*x));
	failing_allocator_init(&x->f);
	o.allocator = &x->f.allocator;
	assert_int_equal(hwtd_context_create(&o, &x->ctx, NULL), HWTD_OK);
	assert_int_equal(hwtdi_timeline_create(x->ctx, n_start, &x->tl, NULL),
	    HWTD_OK);
	x->a = user(x->tl, 1);
	x->b = user(x->tl, 2);
}

static void
end(struct fixture *x)
{
	hwtdi_timeline_destroy(x->tl);
	hwtd_context_destroy(x->ctx);
	assert_int_equal(x->f.blocks, 0);
}

static void
map(struct fixture *x, uint64_t seq, uint32_t space, uint64_t addr,
    uint64_t len, uint32_t section, uint32_t flags)
{
	const struct hwtdi_piece piece = { section, flags, 0 };

	assert_int_equal(hwtdi_timeline_map(x->tl, seq, space, addr, len,
			     &piece, NULL),
	    HWTD_OK);
}

static void
find(struct fixture *x, uint32_t space, uint64_t lo, uint64_t hi,
    uint64_t addr)
{
	assert_int_equal(hwtdi_timeline_find(x->tl, space, lo, hi, addr,
			     x->got, 8, &x->n),
	    HWTD_OK);
	assert_true(x->n >= 1);
}

/* The section at one moment; HWTD_NO_ID: none. */
static uint32_t
section(struct fixture *x, uint32_t space, uint64_t t, uint64_t addr)
{
	find(x, space, t, t, addr);
	assert_int_equal(x->n, 1);
	return (x->got[0].piece.section);
}

static bool
nothing(struct fixture *x, uint32_t space, uint64_t t, uint64_t addr)
{
	find(x, space, t, t, addr);
	assert_int_equal(x->n, 1);
	return (x->got[0].piece.flags == HWTDI_PIECE_NOTHING);
}

static void
ends_of_the_space_can_be_mapped(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 0);
	assert_true(nothing(&x, x.a, 0, 0));
	assert_true(x.got[0].first == 0 && x.got[0].last == UINT64_MAX);
	map(&x, 0, x.a, UINT64_MAX, 1, 1, 0);
	map(&x, 1, x.a, 0, 1, 2, 0);
	/* Over the end. */
	map(&x, 2, x.a, UINT64_MAX - 9, UINT64_MAX, 3, 0);
	map(&x, 3, x.a, 5, 0, 4, 0);
	assert_int_equal(section(&x, x.a, 1, UINT64_MAX), 1);
	assert_true(nothing(&x, x.a, 1, 0));
	assert_true(nothing(&x, x.a, 1, UINT64_MAX - 1));
	assert_int_equal(section(&x, x.a, 2, 0), 2);
	assert_true(x.got[0].first == 0 && x.got[0].last == 0);
	assert_int_equal(section(&x, x.a, 3, UINT64_MAX), 3);
	assert_true(x.got[0].first == UINT64_MAX - 9);
	assert_true(x.got[0].last == UINT64_MAX);
	assert_int_equal(x.got[0].piece.section_off, 0);
	assert_true(nothing(&x, x.a, UINT64_MAX, 5));
	assert_int_equal(hwtdi_timeline_unmap(x.tl, 4, x.a, 0, UINT64_MAX,
			     NULL),
	    HWTD_OK);
	assert_true(nothing(&x, x.a, 5, 0));
	assert_int_equal(section(&x, x.a, 5, UINT64_MAX), 3);
	assert_int_equal(x.got[0].piece.section_off, 9);
	end(&x);
}

static void
unmapping_splits(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 0);
	map(&x, 0, x.a, 0x1000, 0x3000, 1, 0);
	assert_int_equal(hwtdi_timeline_unmap(x.tl, 1, x.a, 0x2000, 0x1000,
			     NULL),
	    HWTD_OK);
	assert_int_equal(section(&x, x.a, 2, 0x1fff), 1);
	assert_true(x.got[0].first == 0x1000 && x.got[0].last == 0x1fff);
	assert_true(nothing(&x, x.a, 2, 0x2000));
	assert_true(nothing(&x, x.a, 2, 0x2fff));
	assert_int_equal(section(&x, x.a, 2, 0x3004), 1);
	assert_true(x.got[0].first == 0x3000 && x.got[0].last == 0x3fff);
	assert_int_equal(x.got[0].piece.section_off, 0x2000);
	/* Before, it was one. */
	assert_int_equal(section(&x, x.a, 1, 0x1000), 1);
	assert_true(x.got[0].first == 0x1000 && x.got[0].last == 0x3fff);
	/* During both, it is as long as it is in both. */
	find(&x, x.a, 1, 2, 0x1000);
	assert_int_equal(x.n, 1);
	assert_true(x.got[0].last == 0x1fff);
	end(&x);
}

/* Two libraries after each other at one place, no time known. */
static void
reloading_gives_candidates_newest_first(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 0);
	map(&x, 0, x.a, 0x1000, 0x2000, 1, 0);
	map(&x, 1, x.a, 0x1000, 0x1000, 2, 0);
	find(&x, x.a, 1, 2, 0x1800);
	assert_int_equal(x.n, 2);
	assert_int_equal(x.got[0].piece.section, 2);
	assert_int_equal(x.got[1].piece.section, 1);
	for (size_t i = 0; i < 2; i++)
		assert_true(x.got[i].first == 0x1000 &&
		    x.got[i].last == 0x1fff);
	/* Before the first, nothing is a candidate too. */
	find(&x, x.a, 0, 2, 0x1800);
	assert_int_equal(x.n, 3);
	assert_int_equal(x.got[2].piece.flags, HWTDI_PIECE_NOTHING);
	assert_int_equal(x.got[2].piece.section, HWTD_NO_ID);
	/* The tail of the first is not in doubt. */
	find(&x, x.a, 1, 2, 0x2800);
	assert_int_equal(x.n, 1);
	assert_int_equal(x.got[0].piece.section, 1);
	/* Too little room: the newest ones. */
	assert_int_equal(hwtdi_timeline_find(x.tl, x.a, 0, 2, 0x1800, x.got, 2,
			     &x.n),
	    HWTD_E_LIMIT);
	assert_int_equal(x.n, 2);
	assert_int_equal(x.got[1].piece.section, 1);
	end(&x);
}

/* Recorders tell the same mapping once for each thread. */
static void
same_mapping_again_is_one_candidate(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 0);
	for (uint64_t seq = 0; seq < 1000; seq++)
		map(&x, seq, x.a, 0x1000, 0x1000, 1, 0);
	find(&x, x.a, 1, 1000, 0x1800);
	assert_int_equal(x.n, 1);
	/* Also when something else was between. */
	for (uint64_t seq = 1000; seq < 1020; seq++)
		map(&x, seq, x.a, 0x1000, 0x1000, (uint32_t)seq % 2, 0);
	find(&x, x.a, 1, 1020, 0x1800);
	assert_int_equal(x.n, 2);
	assert_int_equal(x.got[0].piece.section, 1);
	assert_int_equal(x.got[1].piece.section, 0);
	end(&x);
}

static void
anonymous_memory_does_not_hide_jit_code(void **state)
{
	struct fixture x;
	const uint32_t jit = HWTDI_PIECE_JIT, anon = HWTDI_PIECE_ANONYMOUS;

	(void)state;
	begin(&x, 0);
	map(&x, 0, x.a, 0x1000, 0x4000, HWTD_NO_ID, anon);
	map(&x, 1, x.a, 0x2000, 0x800, 7, jit);
	map(&x, 2, x.a, 0x1000, 0x4000, HWTD_NO_ID, anon);
	assert_int_equal(section(&x, x.a, 3, 0x2004), 7);
	assert_true(x.got[0].first == 0x2000 && x.got[0].last == 0x27ff);
	assert_int_equal(section(&x, x.a, 3, 0x2800), HWTD_NO_ID);
	assert_int_equal(x.got[0].piece.flags, anon);
	/* A new version of the code at the same place. */
	map(&x, 3, x.a, 0x2000, 0x800, 8, jit);
	assert_int_equal(section(&x, x.a, 3, 0x2004), 7);
	assert_int_equal(section(&x, x.a, 4, 0x2004), 8);
	/* A file hides it, and it does not come back. */
	map(&x, 4, x.a, 0x2000, 0x400, 9, 0);
	map(&x, 5, x.a, 0x2000, 0x400, HWTD_NO_ID, anon);
	assert_int_equal(section(&x, x.a, 5, 0x2004), 9);
	assert_int_equal(section(&x, x.a, 6, 0x2004), HWTD_NO_ID);
	assert_int_equal(section(&x, x.a, 6, 0x2404), 8);
	assert_int_equal(x.got[0].piece.section_off + 0x2404 - x.got[0].first,
	    0x404);
	/* Unmapping ends it. */
	assert_int_equal(hwtdi_timeline_unmap(x.tl, 6, x.a, 0, 0x10000, NULL),
	    HWTD_OK);
	assert_true(nothing(&x, x.a, 7, 0x2404));
	end(&x);
}

static void
spaces_look_through_to_kernel_and_any(void **state)
{
	const struct hwtdi_space_key guest_key = { HWTDI_SPACE_KIND_USER, 1,
		3 };
	struct fixture x;
	uint32_t guest;

	(void)state;
	begin(&x, 0);
	assert_int_equal(hwtdi_timeline_space(x.tl, &guest_key, &guest, NULL),
	    HWTD_OK);
	map(&x, HWTDI_SEQ_START, HWTDI_SPACE_ANY, 0x1000, 0x3000, 1, 0);
	map(&x, HWTDI_SEQ_START, HWTDI_SPACE_ANY, 0x8000, 0x100, 9,
	    HWTDI_PIECE_JIT);
	map(&x, 0, HWTDI_SPACE_KERNEL, 0x2000, 0x2000, 2, 0);
	map(&x, 1, x.a, 0x3000, 0x1000, 3, 0);
	assert_int_equal(section(&x, x.a, 2, 0x1000), 1);
	assert_int_equal(section(&x, x.a, 2, 0x2000), 2);
	assert_int_equal(section(&x, x.a, 2, 0x3000), 3);
	assert_int_equal(section(&x, x.b, 2, 0x3000), 2);
	assert_int_equal(section(&x, HWTDI_SPACE_KERNEL, 2, 0x3000), 2);
	assert_int_equal(section(&x, HWTDI_SPACE_ANY, 2, 0x3000), 1);
	/* A guest has another kernel. */
	assert_int_equal(section(&x, guest, 2, 0x3000), 1);
	/* What always was there was there at moment 0. */
	assert_int_equal(section(&x, x.a, 0, 0x3000), 1);
	/* An exec does not end what is not the process's own. */
	assert_int_equal(hwtdi_timeline_exec(x.tl, 2, x.a, NULL), HWTD_OK);
	assert_int_equal(section(&x, x.a, 3, 0x3000), 2);
	/* Code that is known shows through anonymous memory. */
	map(&x, 3, x.a, 0x8000, 0x1000, HWTD_NO_ID, HWTDI_PIECE_ANONYMOUS);
	map(&x, 4, x.a, 0x1000, 0x1000, HWTD_NO_ID, HWTDI_PIECE_ANONYMOUS);
	assert_int_equal(section(&x, x.a, 5, 0x8010), 9);
	assert_int_equal(section(&x, x.a, 5, 0x8110), HWTD_NO_ID);
	assert_int_equal(section(&x, x.a, 5, 0x1010), HWTD_NO_ID);
	end(&x);
}

static void
exec_and_exit_end_all_mappings(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 0);
	map(&x, 0, x.a, 0x1000, 0x1000, 1, 0);
	map(&x, 1, x.a, 0x3000, 0x1000, 2, HWTDI_PIECE_JIT);
	assert_int_equal(hwtdi_timeline_exec(x.tl, 2, x.a, NULL), HWTD_OK);
	map(&x, 3, x.a, 0x1000, 0x800, 3, 0);
	assert_int_equal(hwtdi_timeline_exit(x.tl, 4, x.a, NULL), HWTD_OK);
	assert_int_equal(section(&x, x.a, 2, 0x1000), 1);
	assert_int_equal(section(&x, x.a, 2, 0x3000), 2);
	assert_true(nothing(&x, x.a, 3, 0x1000));
	assert_true(nothing(&x, x.a, 3, 0x3000));
	assert_int_equal(section(&x, x.a, 4, 0x1000), 3);
	assert_true(nothing(&x, x.a, 4, 0x1800));
	assert_true(nothing(&x, x.a, 5, 0x1000));
	find(&x, x.a, 2, 4, 0x1000);
	assert_int_equal(x.n, 3);
	assert_int_equal(x.got[0].piece.section, 3);
	assert_int_equal(x.got[1].piece.flags, HWTDI_PIECE_NOTHING);
	assert_int_equal(x.got[2].piece.section, 1);
	end(&x);
}

static void
child_has_what_the_parent_had(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 0);
	map(&x, 0, x.a, 0x1000, 0x2000, 1, 0);
	map(&x, 1, x.a, 0x5000, 0x1000, 2, HWTDI_PIECE_JIT);
	map(&x, 2, x.b, 0x9000, 0x1000, 3, 0);
	assert_int_equal(hwtdi_timeline_fork(x.tl, 3, x.b, x.a, NULL),
	    HWTD_OK);
	/* Neither sees what the other does afterwards. */
	map(&x, 4, x.a, 0x1000, 0x1000, 4, 0);
	map(&x, 5, x.b, 0x2000, 0x1000, 5, 0);
	assert_int_equal(section(&x, x.b, 6, 0x1000), 1);
	assert_int_equal(section(&x, x.b, 6, 0x2000), 5);
	assert_int_equal(section(&x, x.b, 6, 0x5000), 2);
	assert_int_equal(section(&x, x.a, 6, 0x1000), 4);
	assert_int_equal(section(&x, x.a, 6, 0x2000), 1);
	/* A process id used again: nothing is left of the first one. */
	assert_int_equal(section(&x, x.b, 3, 0x9000), 3);
	assert_true(nothing(&x, x.b, 4, 0x9000));
	assert_true(nothing(&x, x.b, 3, 0x1000));
	find(&x, x.b, 3, 4, 0x1000);
	assert_int_equal(x.n, 2);
	assert_int_equal(x.got[0].piece.section, 1);
	assert_int_equal(x.got[1].piece.flags, HWTDI_PIECE_NOTHING);
	/* A thread is no new space. */
	assert_int_equal(hwtdi_timeline_fork(x.tl, 6, x.b, x.b, NULL),
	    HWTD_OK);
	assert_int_equal(section(&x, x.b, 7, 0x2000), 5);
	end(&x);
}

/* Records of a start describe one moment, whatever their order. */
static void
fork_at_the_start_does_not_replace_own_mappings(void **state)
{
	for (int order = 0; order < 3; order++) {
		struct fixture x;
		uint32_t c;

		(void)state;
		begin(&x, 6);
		c = user(x.tl, 3);
		map(&x, 0, x.a, 0x1000, 0x2000, 1, 0);
		if (order == 0)
			map(&x, 1, x.b, 0x1000, 0x1000, 2, 0);
		assert_int_equal(hwtdi_timeline_fork(x.tl, 2, x.b, x.a, NULL),
		    HWTD_OK);
		/* Only told whose child it is. */
		assert_int_equal(hwtdi_timeline_fork(x.tl, 3, c, x.a, NULL),
		    HWTD_OK);
		if (order == 1)
			map(&x, 4, x.b, 0x1000, 0x1000, 2, 0);
		if (order == 2)
			map(&x, 6, x.b, 0x1000, 0x1000, 2, 0);
		for (uint64_t t = 0; t < 9; t += 8) {
			if (order == 2 && t == 0)
				continue;
			assert_int_equal(section(&x, x.b, t, 0x1000), 2);
			if (order == 2)
				assert_int_equal(section(&x, x.b, t, 0x2000),
				    1);
			else
				assert_true(nothing(&x, x.b, t, 0x2000));
			assert_int_equal(section(&x, c, t, 0x1000), 1);
		}
		/* A fork that happened replaces all. */
		assert_int_equal(hwtdi_timeline_fork(x.tl, 8, x.b, x.a, NULL),
		    HWTD_OK);
		assert_int_equal(section(&x, x.b, 9, 0x1000), 1);
		end(&x);
	}
}

static void
start_holds_at_every_moment(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 2);
	map(&x, 0, x.a, 0x1000, 0x1000, 1, 0);
	map(&x, 1, x.a, 0x3000, 0x1000, 2, 0);
	map(&x, 2, x.a, 0x5000, 0x1000, 3, 0);
	for (uint64_t t = 0; t <= 2; t++) {
		assert_int_equal(section(&x, x.a, t, 0x1000), 1);
		assert_int_equal(section(&x, x.a, t, 0x3000), 2);
		assert_true(nothing(&x, x.a, t, 0x5000));
	}
	assert_int_equal(section(&x, x.a, 3, 0x5000), 3);
	end(&x);
}

static void
wrong_calls_change_nothing(void **state)
{
	const struct hwtdi_piece piece = { 1, 0, 0 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct fixture x;

	(void)state;
	begin(&x, 0);
	map(&x, 5, x.a, 0x1000, 0x1000, 1, 0);
	assert_int_equal(hwtdi_timeline_map(x.tl, 4, x.a, 0x1000, 1, &piece,
			     &err),
	    HWTD_E_INVALID);
	assert_string_equal(err.message, "record 4 comes after record 5");
	assert_int_equal(hwtdi_timeline_map(x.tl, HWTDI_SEQ_START, x.a, 0x1000,
			     1, &piece, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_timeline_map(x.tl, 6, 99, 0x1000, 1, &piece,
			     NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_timeline_fork(x.tl, 6, x.b, 99, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_timeline_fork(x.tl, 6, 99, x.a, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_timeline_exec(x.tl, 3, x.a, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_timeline_find(x.tl, 99, 0, 0, 0, x.got, 8,
			     &x.n),
	    HWTD_E_INVALID);
	assert_int_equal(x.n, 0);
	map(&x, 5, x.a, 0x4000, 0x1000, 2, 0);
	assert_int_equal(section(&x, x.a, 6, 0x1000), 1);
	assert_int_equal(section(&x, x.a, 6, 0x4000), 2);
	end(&x);
}

static int
stop_at_second(void *arg, const struct hwtdi_place *place)
{
	int *n = arg;

	(void)place;
	return (++*n == 2 ? 42 : 0);
}

static void
walk_can_be_stopped(void **state)
{
	struct fixture x;
	int n = 0;

	(void)state;
	begin(&x, 0);
	for (uint64_t i = 0; i < 4; i++)
		map(&x, i, x.a, i * 0x2000, 0x1000, (uint32_t)i, 0);
	assert_int_equal(hwtdi_timeline_walk(x.tl, x.a, 4, true,
			     stop_at_second, &n),
	    42);
	assert_int_equal(n, 2);
	n = 2;
	assert_int_equal(hwtdi_timeline_walk(x.tl, x.a, 4, true,
			     stop_at_second, &n),
	    0);
	assert_int_equal(n, 6);
	end(&x);
}

/* Everything that can be done, each time with one allocation refused. */
static void
refused_memory_leaves_nothing_behind(void **state)
{
	int rc = HWTD_E_NOMEM;

	(void)state;
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtd_context_options o = { .size = sizeof(o) };
		struct hwtdi_timeline *tl = NULL;
		struct failing_allocator f;
		struct hwtd_context *ctx;

		failing_allocator_init(&f);
		o.allocator = &f.allocator;
		assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
		failing_allocator_arm(&f, n, n % 2 == 0);
		rc = hwtdi_timeline_create(ctx, 1, &tl, NULL);
		for (uint32_t i = 0; rc == HWTD_OK && i < 600; i++) {
			const struct hwtdi_space_key key = {
				HWTDI_SPACE_KIND_USER, i / 10, i % 2
			};
			const struct hwtdi_piece piece = { i, i % 4, 0 };
			uint32_t s = 0;

			rc = hwtdi_timeline_space(tl, &key, &s, NULL);
			if (rc == HWTD_OK)
				rc = hwtdi_timeline_map(tl, i, s,
				    (i * 37) % 999, 50, &piece, NULL);
			if (rc == HWTD_OK && i % 5 == 0)
				rc = hwtdi_timeline_fork(tl, i, s, s / 2,
				    NULL);
			if (rc == HWTD_OK && i % 50 == 0)
				rc = hwtdi_timeline_exec(tl, i, s, NULL);
			if (rc == HWTD_OK)
				rc = hwtdi_timeline_unmap(tl, i, s,
				    (i * 77) % 999, 9, NULL);
		}
		if (rc != HWTD_OK)
			assert_int_equal(rc, HWTD_E_NOMEM);
		hwtdi_timeline_destroy(tl);
		assert_int_equal(f.blocks, 1);
		hwtd_context_destroy(ctx);
		assert_int_equal(f.blocks, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_the_space_can_be_mapped),
		cmocka_unit_test(unmapping_splits),
		cmocka_unit_test(reloading_gives_candidates_newest_first),
		cmocka_unit_test(same_mapping_again_is_one_candidate),
		cmocka_unit_test(anonymous_memory_does_not_hide_jit_code),
		cmocka_unit_test(spaces_look_through_to_kernel_and_any),
		cmocka_unit_test(exec_and_exit_end_all_mappings),
		cmocka_unit_test(child_has_what_the_parent_had),
		cmocka_unit_test(
		    fork_at_the_start_does_not_replace_own_mappings),
		cmocka_unit_test(start_holds_at_every_moment),
		cmocka_unit_test(wrong_calls_change_nothing),
		cmocka_unit_test(walk_can_be_stopped),
		cmocka_unit_test(refused_memory_leaves_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
