/*
 * The mapping timeline against a model that keeps every address of every
 * space at every moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "space/timeline.h"
#include "support/failing_allocator.h"
#include "support/sample_trace.h"

#define WIDTH 24
#define RECORDS 40
#define SPACES 8
/* Users of the host are 2 to 5; 6 is a guest's kernel, 7 its user. */
#define FIRST_USER 2
#define GUEST_KERNEL 6
#define GUEST 7

struct cell {
	struct hwtdi_piece rest;
	struct hwtdi_piece jit;
};

struct moment {
	struct cell at[SPACES][WIDTH];
};

struct world {
	struct hwtdi_timeline *tl;
	uint64_t base;
	uint64_t n_start;
	/* Moment t is after t records; those before n_start are not used. */
	struct moment moments[RECORDS + 1];
	bool own[SPACES];
	bool inherited[SPACES];
};

/* Of the round that runs, to be told when it fails. */
static uint64_t round_seed;

static const struct hwtdi_piece nothing = { HWTD_NO_ID, HWTDI_PIECE_NOTHING,
	0 };

static bool
is(const struct hwtdi_piece *piece, uint32_t flag)
{
	return ((piece->flags & flag) != 0);
}

static void
clear(struct moment *m, uint32_t space)
{
	for (int i = 0; i < WIDTH; i++) {
		m->at[space][i].rest = nothing;
		m->at[space][i].jit = nothing;
	}
}

static void
model_put(struct world *w, struct moment *m, bool at_start, uint32_t space,
    uint64_t a, uint64_t n, const struct hwtdi_piece *piece)
{
	if (n == 0)
		return;
	if (at_start) {
		if (w->inherited[space])
			clear(m, space);
		w->inherited[space] = false;
		w->own[space] = true;
	}
	for (uint64_t i = a; i < a + n; i++) {
		struct cell *c = &m->at[space][i];
		struct hwtdi_piece p = *piece;

		if (p.section != HWTD_NO_ID)
			p.section_off += i - a;
		if (is(&p, HWTDI_PIECE_JIT)) {
			c->jit = p;
			continue;
		}
		if (!is(&p, HWTDI_PIECE_ANONYMOUS))
			c->jit = nothing;
		c->rest = p;
	}
}

static struct hwtdi_piece
model_own(const struct moment *m, uint32_t space, uint64_t i)
{
	const struct cell *c = &m->at[space][i];

	return (is(&c->jit, HWTDI_PIECE_NOTHING) ? c->rest : c->jit);
}

static struct hwtdi_piece
model_see(const struct world *w, uint64_t t, uint32_t space, uint64_t i)
{
	const struct moment *m = &w->moments[t < w->n_start ? w->n_start
		: t > RECORDS				    ? RECORDS
							    : t];
	struct hwtdi_piece p = model_own(m, space, i);
	uint32_t others[2] = { space, HWTDI_SPACE_ANY };

	if (space >= FIRST_USER && space < GUEST_KERNEL)
		others[0] = HWTDI_SPACE_KERNEL;
	if (space == GUEST)
		others[0] = GUEST_KERNEL;
	for (int k = 0; k < 2; k++) {
		struct hwtdi_piece jit = m->at[others[k]][i].jit;

		if (others[k] == space)
			continue;
		if (is(&p, HWTDI_PIECE_NOTHING))
			p = model_own(m, others[k], i);
		else if (is(&p, HWTDI_PIECE_ANONYMOUS) &&
		    !is(&p, HWTDI_PIECE_JIT) && !is(&jit, HWTDI_PIECE_NOTHING))
			p = jit;
	}
	return (p);
}

static bool
same(const struct hwtdi_piece *a, const struct hwtdi_piece *b)
{
	return (a->section == b->section && a->flags == b->flags &&
	    a->section_off == b->section_off);
}

/* All answers, newest first. */
static size_t
model_find(const struct world *w, uint32_t space, uint64_t lo, uint64_t hi,
    uint64_t i, struct hwtdi_piece *out)
{
	size_t n = 0;

	for (uint64_t t = hi + 1; t-- > lo;) {
		struct hwtdi_piece p = model_see(w, t, space, i);
		size_t k = 0;

		while (k < n && !same(&out[k], &p))
			k++;
		if (k == n)
			out[n++] = p;
	}
	return (n);
}

static struct hwtdi_piece
random_piece(uint64_t *seed, uint64_t a)
{
	struct hwtdi_piece p = { 0 };

	switch (next_random(seed) % 6) {
	case 0:
		p.section = HWTD_NO_ID;
		p.flags = HWTDI_PIECE_ANONYMOUS;
		break;
	case 1:
		p.section = 100 + (uint32_t)(next_random(seed) % 3);
		p.flags = HWTDI_PIECE_JIT;
		break;
	default:
		p.section = (uint32_t)(next_random(seed) % 3);
		break;
	}
	/* Often the same address shows the same byte. */
	if (p.section != HWTD_NO_ID)
		p.section_off = next_random(seed) % 2 == 0
		    ? a
		    : next_random(seed) % 50;
	return (p);
}

/* One record, told to the timeline and to the model. */
static void
random_record(struct world *w, uint64_t seq, uint64_t *seed)
{
	struct moment *m = &w->moments[seq + 1];
	const bool at_start = seq < w->n_start;
	const uint32_t space = (uint32_t)(next_random(seed) % SPACES);
	const uint32_t other = (uint32_t)(next_random(seed) % SPACES);
	const uint64_t a = next_random(seed) % WIDTH;
	const uint64_t n = next_random(seed) % (WIDTH - a + 1);
	const uint64_t dice = next_random(seed) % 100;
	const struct hwtdi_piece p = random_piece(seed, a);
	uint64_t len = n;
	int rc;

	*m = w->moments[seq];
	/* What is over the end of the space is cut off. */
	if (n != 0 && w->base + a + (n - 1) == UINT64_MAX)
		len = n + next_random(seed) % 100;
	if (dice < 55) {
		rc = hwtdi_timeline_map(w->tl, seq, space, w->base + a, len,
		    &p, NULL);
		model_put(w, m, at_start, space, a, n, &p);
	} else if (dice < 75) {
		rc = hwtdi_timeline_unmap(w->tl, seq, space, w->base + a, len,
		    NULL);
		model_put(w, m, at_start, space, a, n, &nothing);
	} else if (dice < 82) {
		rc = dice % 2 == 0
		    ? hwtdi_timeline_exec(w->tl, seq, space, NULL)
		    : hwtdi_timeline_exit(w->tl, seq, space, NULL);
		clear(m, space);
		w->inherited[space] = false;
	} else {
		rc = hwtdi_timeline_fork(w->tl, seq, space, other, NULL);
		if (space != other && !(at_start && w->own[space])) {
			memcpy(m->at[space], m->at[other],
			    sizeof(m->at[space]));
			if (at_start)
				w->inherited[space] = true;
		}
	}
	assert_int_equal(rc, HWTD_OK);
}

static void
make_world(struct world *w, struct hwtd_context *ctx, uint64_t *seed)
{
	static const struct hwtdi_space_key keys[SPACES] = {
		{ HWTDI_SPACE_KIND_ANY, 5, 6 },
		{ HWTDI_SPACE_KIND_KERNEL, 7, HWTD_NO_ID },
		{ HWTDI_SPACE_KIND_USER, 1, HWTD_NO_ID },
		{ HWTDI_SPACE_KIND_USER, 2, HWTD_NO_ID },
		{ HWTDI_SPACE_KIND_USER, 0, HWTD_NO_ID },
		{ HWTDI_SPACE_KIND_USER, HWTD_NO_ID, HWTD_NO_ID },
		{ HWTDI_SPACE_KIND_KERNEL, 0, 9 },
		{ HWTDI_SPACE_KIND_USER, 1, 9 },
	};
	uint32_t space;

	w->n_start = next_random(seed) % 3 == 0 ? 0 : next_random(seed) % 20;
	memset(w->own, 0, sizeof(w->own));
	memset(w->inherited, 0, sizeof(w->inherited));
	assert_int_equal(hwtdi_timeline_create(ctx, w->n_start, &w->tl, NULL),
	    HWTD_OK);
	for (uint32_t i = 0; i < SPACES; i++) {
		if (i >= FIRST_USER)
			assert_false(hwtdi_timeline_space_find(w->tl, &keys[i],
			    &space));
		assert_int_equal(hwtdi_timeline_space(w->tl, &keys[i], &space,
				     NULL),
		    HWTD_OK);
		assert_int_equal(space, i);
		assert_true(hwtdi_timeline_space_find(w->tl, &keys[i],
		    &space));
		assert_int_equal(space, i);
		clear(&w->moments[0], i);
	}
	for (uint64_t i = next_random(seed) % 3; i-- > 0;) {
		const uint64_t a = next_random(seed) % WIDTH;
		const uint64_t n = next_random(seed) % (WIDTH - a + 1);
		const struct hwtdi_piece p = random_piece(seed, a);

		assert_int_equal(hwtdi_timeline_map(w->tl, HWTDI_SEQ_START,
				     HWTDI_SPACE_ANY, w->base + a, n, &p,
				     NULL),
		    HWTD_OK);
		model_put(w, &w->moments[0], true, HWTDI_SPACE_ANY, a, n, &p);
	}
	for (uint64_t seq = 0; seq < RECORDS; seq++)
		random_record(w, seq, seed);
}

/* The answers are the model's, at all addresses of the run. */
static void
check_find(const struct world *w, uint32_t space, uint64_t lo, uint64_t hi,
    uint64_t i, size_t max)
{
	struct hwtdi_piece want[RECORDS + 1];
	struct hwtdi_place got[RECORDS + 1];
	size_t n_want = model_find(w, space, lo, hi, i, want), n;
	int rc;

	rc = hwtdi_timeline_find(w->tl, space, lo, hi, w->base + i, got, max,
	    &n);
	assert_int_equal(rc, n_want <= max ? HWTD_OK : HWTD_E_LIMIT);
	assert_int_equal(n, n_want <= max ? n_want : max);
	for (size_t k = 0; k < n; k++) {
		assert_true(got[k].first <= w->base + i);
		assert_true(got[k].last >= w->base + i);
		assert_true(got[k].first == got[0].first);
		assert_true(got[k].last == got[0].last);
	}
	for (uint64_t j = 0; n != 0 && j < WIDTH; j++) {
		if (w->base + j < got[0].first || w->base + j > got[0].last)
			continue;
		(void)model_find(w, space, lo, hi, j, want);
		for (size_t k = 0; k < n; k++) {
			struct hwtdi_piece p = got[k].piece;

			if (p.section != HWTD_NO_ID)
				p.section_off += w->base + j - got[k].first;
			assert_true(same(&p, &want[k]));
		}
	}
}

struct walked {
	const struct world *w;
	uint64_t t;
	uint32_t space;
	bool through;
	/* Addresses told so far. */
	uint64_t next;
	struct hwtdi_place before;
	bool any;
};

static struct hwtdi_piece
walk_want(const struct walked *x, uint64_t i)
{
	if (x->through)
		return (model_see(x->w, x->t, x->space, i));
	return (model_own(
	    &x->w->moments[x->t < x->w->n_start ? x->w->n_start : x->t],
	    x->space, i));
}

static void
assert_nothing_until(struct walked *x, uint64_t end)
{
	for (; x->next < end; x->next++) {
		const struct hwtdi_piece p = walk_want(x, x->next);

		assert_true(is(&p, HWTDI_PIECE_NOTHING));
	}
}

static int
check_place(void *arg, const struct hwtdi_place *place)
{
	struct walked *x = arg;

	assert_true(place->first - x->w->base < WIDTH);
	assert_true(place->last - x->w->base < WIDTH);
	assert_nothing_until(x, place->first - x->w->base);
	for (; x->next <= place->last - x->w->base; x->next++) {
		const struct hwtdi_piece want = walk_want(x, x->next);
		struct hwtdi_piece p = place->piece;

		if (p.section != HWTD_NO_ID)
			p.section_off += x->w->base + x->next - place->first;
		assert_true(same(&p, &want));
	}
	/* What goes on is told as one. */
	if (x->any && x->before.last + 1 == place->first) {
		struct hwtdi_piece p = x->before.piece;

		if (p.section != HWTD_NO_ID)
			p.section_off += place->first - x->before.first;
		assert_false(same(&p, &place->piece));
	}
	x->before = *place;
	x->any = true;
	return (0);
}

static void
check_walk(const struct world *w, uint32_t space, uint64_t t, bool through)
{
	struct walked x = { .w = w, .t = t, .space = space };

	x.through = through;
	assert_int_equal(hwtdi_timeline_walk(w->tl, space, t, through,
			     check_place, &x),
	    0);
	assert_nothing_until(&x, WIDTH);
}

static void
random_records_agree_with_the_model(void **state)
{
	struct failing_allocator f;
	struct hwtd_context_options o = { .size = sizeof(o) };
	const int rounds = getenv("HWTDECODE_TEST_SMALL") != NULL ? 150 : 2000;
	struct world *w = calloc(1, sizeof(*w));
	struct hwtd_context *ctx;

	(void)state;
	assert_non_null(w);
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (int round = 0; round < rounds; round++) {
		uint64_t seed = 1000 + (uint64_t)round;

		round_seed = seed;
		w->base = round % 3 == 0 ? 0
		    : round % 3 == 1	 ? UINT64_MAX - (WIDTH - 1)
					 : 0x7ffffffffffffff0;
		make_world(w, ctx, &seed);
		for (uint32_t s = 0; s < SPACES; s++) {
			for (uint64_t t = 0; t <= RECORDS; t++) {
				uint64_t i = next_random(&seed) % WIDTH;
				uint64_t lo = next_random(&seed) % (t + 1);

				check_find(w, s, t, t, i, 1);
				check_find(w, s, lo, t, i, RECORDS + 1);
				check_find(w, s, lo, t, i,
				    next_random(&seed) % 4);
				check_walk(w, s, t, t % 2 == 0);
			}
			for (uint64_t i = 0; i < WIDTH; i++)
				check_find(w, s, 0, RECORDS, i, RECORDS + 1);
		}
		hwtdi_timeline_destroy(w->tl);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
	free(w);
}

static int
tell_seed(void **state)
{
	(void)state;
	print_message("the last seed was %d\n", (int)round_seed);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(random_records_agree_with_the_model,
		    tell_seed),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
