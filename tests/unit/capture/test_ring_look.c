/*
 * Rings of hwt(4) that a model of the hardware writes to: what looks hand out was
 * written so by one slice, and what is lost is said to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/trace.h>

#include "capture/ring_look.h"

#define PAGE 4096
#define SIZE_MOST (8 * PAGE)
#define SLICES 24
#define SLICE_MOST (16 * SIZE_MOST)
#define CANDIDATES 128
/* Bytes that were handed out, of one slice for sure, or of any. */
#define SURE 1
#define MIXED 2
/* Bytes that are so by chance, or a slice that nobody can tell from others. */
#define ALIKE 16

/* What the hardware did. */
static struct model {
	uint64_t seed;
	uint64_t size;
	/* Each slice, as a whole. */
	struct {
		uint8_t *bytes;
		size_t n;
		/* By byte: SURE or MIXED, if it was handed out. */
		uint8_t *given;
	} slices[SLICES];
	size_t n_slices;
	bool on;
	uint64_t told;
	/* Bytes of a slice until its next interrupt. */
	size_t interrupt;
	uint64_t switches;
	uint64_t records[64];
	size_t n_records;
	size_t shared;
	/* 0: right; else the page is always the first, or none. */
	unsigned wrong;
	_Alignas(8) uint8_t ring[SIZE_MOST];

	struct hwtd_context *ctx;
	struct hwtdi_look_ring look;
	/* Slices and offsets where the chain of joined pieces may end. */
	struct {
		size_t slice;
		size_t end;
	} ends[CANDIDATES];
	size_t n_ends;
	/* The chain, and how its first piece was. */
	size_t chain;
	size_t chain_at;
	bool chain_older;
	bool chain_new;
	uint8_t chain_bytes[SLICE_MOST];
	size_t newest;
	/* Bytes that never came, as of the last look. */
	size_t missing;
	/* It was said that there are, since bytes came last. */
	bool said;
	/* Totals, so that a test sees that something happened. */
	uint64_t handed, joined, older, mixed, lost, doubted, lapped;

	/* What happens while the ring is copied: how often, and after what. */
	uint64_t moves;
	uint64_t move_after;
	bool one_slice;
} model;

static uint64_t
random_u64(void)
{
	model.seed ^= model.seed << 13;
	model.seed ^= model.seed >> 7;
	model.seed ^= model.seed << 17;
	return (model.seed);
}

static uint64_t
random_to(uint64_t n)
{
	return ((random_u64() >> 11) % n);
}

static bool
small(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL);
}

/* Other seeds: HWTDECODE_TEST_SEED is the first one, instead of 0. */
static uint64_t
first_seed(void)
{
	const char *text = getenv("HWTDECODE_TEST_SEED");

	return (text == NULL ? 0 : strtoull(text, NULL, 0) * 1000003);
}

static void copy_and_move(void *to, const void *mapped, uint64_t n);

static void
model_begin(uint64_t seed, uint64_t size, enum hwtdi_look_kind kind)
{
	for (size_t i = 0; i < model.n_slices; i++)
		memset(model.slices[i].given, 0, model.slices[i].n);
	for (size_t i = 0; i < SLICES && model.slices[i].bytes == NULL; i++) {
		model.slices[i].bytes = malloc(SLICE_MOST);
		model.slices[i].given = calloc(1, SLICE_MOST);
		assert_non_null(model.slices[i].bytes);
		assert_non_null(model.slices[i].given);
	}
	model.seed = seed * 0x9e3779b97f4a7c15u + 1;
	random_u64();
	model.size = size;
	model.n_slices = 0;
	model.on = false;
	model.told = 0;
	model.switches = 0;
	model.n_records = 0;
	model.shared = 0;
	model.wrong = 0;
	model.n_ends = 0;
	model.chain = 0;
	model.newest = 0;
	model.missing = 0;
	model.said = false;
	memset(model.ring, 0, size);
	assert_int_equal(hwtdi_look_init(&model.look, model.ctx, size, kind,
			     NULL),
	    HWTD_OK);
	model.look.copy = copy_and_move;
	model.moves = 0;
}

static void
switch_in(void)
{
	assert_true(model.n_slices < SLICES);
	model.slices[model.n_slices++].n = 0;
	model.interrupt = PAGE + random_to(600);
	model.on = true;
}

static size_t
position(void)
{
	return (model.slices[model.n_slices - 1].n % model.size);
}

static void
switch_out(void)
{
	model.told = position();
	if (model.told == 0 && model.slices[model.n_slices - 1].n > 0 &&
	    model.look.kind == HWTDI_LOOK_RESTARTS)
		model.told = model.size;
	model.switches++;
	model.on = false;
}

static void
write_bytes(size_t n)
{
	const size_t slice = model.n_slices - 1;
	uint8_t *bytes = model.slices[slice].bytes;

	while (n > 0) {
		const size_t at = model.slices[slice].n, in = at % model.size;
		size_t part = n;

		if (part > model.size - in)
			part = model.size - in;
		if (model.interrupt - at < part)
			part = model.interrupt - at;
		for (size_t i = 0; i < part; i++) {
			if (i % 4 == 0)
				random_u64();
			bytes[at + i] = at + i < model.shared
			    ? (uint8_t)((at + i) * 7 + 1)
			    : (uint8_t)(model.seed >> (8 + 8 * (i % 4)));
		}
		memcpy(model.ring + in, bytes + at, part);
		model.slices[slice].n += part;
		n -= part;
		if (model.slices[slice].n == model.interrupt) {
			model.told = position();
			if (model.n_records < 64)
				model.records[model.n_records++] = model.told;
			model.interrupt = model.slices[slice].n -
			    model.slices[slice].n % PAGE + PAGE +
			    random_to(600);
		}
	}
}

static uint64_t
told(void)
{
	if (model.look.kind == HWTDI_LOOK_LIVE)
		return (model.n_slices == 0 ? 0 : position());
	if (model.wrong == 1)
		return (model.told % PAGE);
	if (model.wrong == 2)
		return (model.told % PAGE + ((uint64_t)0x7fffffff << 12));
	return (model.told);
}

static bool
is_given(size_t slice, size_t end)
{
	const uint8_t *given = model.slices[slice].given;

	for (size_t i = end - model.chain; i < end; i++)
		if (given[i] == SURE)
			return (true);
	return (false);
}

/*
 * The chain is over: no byte comes twice.  Where slices are alike it may be of any
 * of them.
 */
static void
end_chain(void)
{
	const size_t slice = model.ends[0].slice;
	bool fresh = model.n_ends == 0;

	for (size_t i = 0; !fresh && i < model.n_ends; i++)
		fresh = !is_given(model.ends[i].slice, model.ends[i].end);
	assert_true(fresh);
	if (model.n_ends == 1) {
		memset(model.slices[slice].given + model.ends[0].end -
			model.chain,
		    SURE, model.chain);
		if (!model.chain_older && model.chain > ALIKE) {
			assert_true(slice >= model.newest);
			model.newest = slice;
		}
	}
	model.n_ends = 0;
	model.chain = 0;
}

/*
 * Finds all places where a slice wrote the chain: slices that began since the
 * chain did may have begun with the same bytes.
 */
static void
find_chain(void)
{
	model.n_ends = 0;
	for (size_t s = 0; s < model.n_slices; s++)
		for (size_t at = model.chain_at;
		     at + model.chain <= model.slices[s].n; at += model.size) {
			if (model.chain_new && at != 0)
				break;
			if (memcmp(model.slices[s].bytes + at,
				model.chain_bytes, model.chain) != 0)
				continue;
			assert_true(model.n_ends < CANDIDATES);
			model.ends[model.n_ends].slice = s;
			model.ends[model.n_ends++].end = at + model.chain;
		}
	assert_true(model.n_ends > 0);
}

static void
check_mixed(const struct hwtdi_look_piece *piece)
{
	for (size_t i = 0; i < piece->n; i++) {
		bool found = false;

		for (size_t s = 0; s < model.n_slices; s++)
			for (size_t at = piece->at + i; at < model.slices[s].n;
			     at += model.size) {
				if (model.slices[s].bytes[at] !=
				    piece->bytes[i])
					continue;
				found = true;
				if (model.slices[s].given[at] == 0)
					model.slices[s].given[at] = MIXED;
			}
		assert_true(found);
	}
}

static void
check_piece(const struct hwtdi_look_piece *piece)
{
	assert_true(piece->n > 0 && piece->at < model.size);
	assert_true(piece->n <= model.size - piece->at);
	model.handed += piece->n;
	model.joined += piece->joins;
	model.older += piece->older;
	model.mixed += piece->mixed;
	if (piece->joins) {
		assert_false(piece->mixed);
		assert_true(model.n_ends > 0);
		assert_int_equal((model.chain_at + model.chain) % model.size,
		    piece->at);
	} else {
		end_chain();
		model.chain_at = piece->at;
		model.chain_new = piece->why == HWTD_EXTENT_NEW;
		model.chain_older = piece->older;
	}
	if (piece->mixed) {
		assert_int_equal(piece->why, HWTD_EXTENT_AFTER_LOSS);
		check_mixed(piece);
		return;
	}
	assert_true(model.chain + piece->n <= SLICE_MOST);
	memcpy(model.chain_bytes + model.chain, piece->bytes, piece->n);
	model.chain += piece->n;
	find_chain();
}

/*
 * Bytes that will not come any more: those of slices before the newest one of which
 * bytes were handed out, and those of it before them.
 */
static size_t
missing_bytes(void)
{
	const bool chain = model.n_ends == 1;
	const size_t of = chain ? model.ends[0].slice : SLICES;
	const size_t newest = chain && !model.chain_older && of > model.newest
	    ? of
	    : model.newest;
	size_t n = 0;

	for (size_t s = 0; s <= newest && s < model.n_slices; s++) {
		size_t missing = 0, before_given = 0;

		for (size_t i = 0; i < model.slices[s].n; i++)
			if (model.slices[s].given[i] != 0 ||
			    (of == s && i < model.ends[0].end &&
				i + model.chain >= model.ends[0].end))
				before_given = missing;
			else
				missing++;
		missing = s == newest ? before_given : missing;
		n += missing > ALIKE ? missing : 0;
	}
	return (n);
}

/*
 * Whatever will not come any more is said to be missing, when that shows or when
 * it was to come.
 */
static void
check_losses(const struct hwtdi_look *look)
{
	const size_t missing = model.shared > 0 || model.wrong != 0
	    ? 0
	    : missing_bytes();
	bool said = model.said || look->lost || look->missed > 0 ||
	    !look->missed_known || look->position_unknown;
	bool newest = false;

	for (size_t i = 0; i < look->n_pieces; i++) {
		said = said ||
		    (!look->pieces[i].joins &&
			look->pieces[i].why == HWTD_EXTENT_AFTER_LOSS);
		newest = newest || !look->pieces[i].older;
	}
	assert_true(said || missing <= model.missing);
	model.missing = missing;
	model.said = said && !(newest && model.n_ends == 1);
}

static void
check_look(const struct hwtdi_look *look)
{
	assert_true(look->n_pieces <= HWTDI_LOOK_PIECES);
	for (size_t i = 0; i < look->n_pieces; i++)
		check_piece(&look->pieces[i]);
	check_losses(look);
	model.lost += look->lost;
	model.doubted += look->position_doubted;
}

/* Some records get lost, and the last one may come late. */
static size_t
lose_records(uint64_t *out)
{
	const bool late = model.n_records > 0 && random_to(4) == 0;
	size_t n = 0;

	for (size_t i = 0; i + late < model.n_records; i++)
		if (random_to(5) != 0)
			out[n++] = model.wrong != 0 ? model.records[i] % PAGE
						    : model.records[i];
	if (late)
		model.records[0] = model.records[model.n_records - 1];
	model.n_records = late;
	return (n);
}

static void
anything_happens(bool switches, uint64_t most)
{
	const size_t n = random_to(4) == 0 ? random_to(most)
	    : random_to(2) == 0		   ? random_to(200)
					   : random_to(PAGE);

	if (!model.on)
		switch_in();
	if (model.slices[model.n_slices - 1].n + n < SLICE_MOST)
		write_bytes(n);
	if (switches && random_to(2) == 0)
		switch_out();
}

/* The writer goes on between any two bytes that are read. */
static void
copy_and_move(void *to, const void *mapped, uint64_t n)
{
	while (model.moves > 0 && model.move_after < n) {
		const uint64_t part = model.move_after & ~(uint64_t)7;

		hwtdi_look_copy(to, mapped, part);
		to = (uint8_t *)to + part;
		mapped = (const uint8_t *)mapped + part;
		n -= part;
		if (model.n_slices + 3 < SLICES)
			anything_happens(!model.one_slice,
			    random_to(8) == 0 ? 3 * model.size
					      : model.size / 2);
		model.moves--;
		model.move_after = random_to(4) == 0 ? 0
						     : random_to(model.size);
	}
	hwtdi_look_copy(to, mapped, n);
	model.move_after -= model.moves > 0 ? n : 0;
}

/* Whatever is known of the thread, in one of the ways in which it may be. */
static struct hwtdi_look_hints
known(void)
{
	struct hwtdi_look_hints hints = { 0 };

	if (random_to(4) != 0)
		hints.state = model.on ? HWTDI_LOOK_ON : HWTDI_LOOK_OFF;
	hints.switches_known = random_to(4) != 0;
	hints.switches = model.switches;
	return (hints);
}

/* One look; the writer may go on while the ring is copied. */
static void
random_look(bool one_slice)
{
	uint64_t records[64];
	const struct hwtdi_look_hints before = known();
	struct hwtdi_look_told both = { .before = told() };
	struct hwtdi_look_hints hints;
	const bool on = model.on;
	const uint64_t switches = model.switches;
	const size_t slices = model.n_slices;
	struct hwtdi_look look;

	model.one_slice = one_slice;
	model.moves = random_to(3) == 0 ? 1 + random_to(3) : 0;
	model.move_after = random_to(model.size);
	hwtdi_look_read(&model.look, model.ring, both.before,
	    random_to(8) == 0 ? NULL : &before);
	model.moves = 0;
	model.lapped += model.look.lapped;
	both.after = told();
	hints = known();
	if (model.on != on || model.switches != switches ||
	    model.n_slices != slices)
		hints.state = HWTDI_LOOK_UNKNOWN;
	model.switches = 0;
	hints.records = records;
	hints.n_records = lose_records(records);
	hwtdi_look_find(&model.look, &both, &hints, &look);
	check_look(&look);
}

static void
last_look(void)
{
	struct hwtdi_look_hints hints = { .switches_known = random_to(2) ==
		    0 };
	struct hwtdi_look look;

	if (model.on && model.look.kind == HWTDI_LOOK_RESTARTS)
		switch_out();
	hints.switches = model.switches;
	hwtdi_look_read_all(&model.look, model.ring, told());
	hwtdi_look_last(&model.look, told(), &hints, &look);
	assert_int_equal(look.held_bytes, 0);
	check_look(&look);
	/* The newest slice is there to its end, but for bytes that were so before. */
	if (model.wrong == 0 && model.slices[model.n_slices - 1].n > 0 &&
	    !look.lost && !look.alike && !look.position_unknown) {
		bool found = model.n_ends == 0;

		for (size_t i = 0; i < model.n_ends; i++)
			found = found ||
			    model.ends[i].end + 8 >=
				model.slices[model.ends[i].slice].n;
		assert_true(found);
	}
	end_chain();
	hwtdi_look_fini(&model.look);
}

static void
random_slices_come_out_as_they_were_written(void **state)
{
	const uint64_t runs = small() ? 2000 : 20000;

	(void)state;
	for (uint64_t run = 0; run < runs; run++) {
		model_begin(first_seed() + run, (2 + run % 3) * PAGE,
		    HWTDI_LOOK_RESTARTS);
		if (run % 4 == 1)
			model.shared = random_to(600);
		if (run % 8 == 2)
			model.wrong = 1 + (unsigned)random_to(2);
		for (int i = 0; i < 6; i++) {
			for (uint64_t k = random_to(3); k > 0; k--)
				anything_happens(true, 2 * model.size);
			random_look(false);
		}
		anything_happens(true, 2 * model.size);
		last_look();
	}
	assert_true(model.joined > runs / 20 && model.older > 0);
	assert_true(model.mixed > 0 && model.lost > 0 && model.doubted > 0);
	assert_true(model.lapped > 0);
}

static void
rings_that_go_round(enum hwtdi_look_kind kind)
{
	const uint64_t runs = small() ? 500 : 4000;

	for (uint64_t run = 0; run < runs; run++) {
		model_begin(first_seed() + run + 7, (4 + run % 5) * PAGE,
		    kind);
		if (run % 8 == 2 && kind == HWTDI_LOOK_ROUND)
			model.wrong = 1 + (unsigned)random_to(2);
		switch_in();
		for (int i = 0; i < 6; i++) {
			anything_happens(false, model.size);
			random_look(true);
		}
		anything_happens(false, PAGE);
		last_look();
	}
	assert_true(model.joined > runs && model.lost > runs / 10);
}

static void
rings_of_cpus_come_out_as_they_were_written(void **state)
{
	(void)state;
	rings_that_go_round(HWTDI_LOOK_ROUND);
}

static void
live_positions_come_out_as_they_were_written(void **state)
{
	(void)state;
	rings_that_go_round(HWTDI_LOOK_LIVE);
}

/* A look whose state and counts are known. */
static struct hwtdi_look
look_at(uint32_t state, uint64_t told_before, uint64_t told_after,
    uint64_t switches)
{
	const struct hwtdi_look_told both = { told_before, told_after };
	const struct hwtdi_look_hints hints = {
		.state = state,
		.switches_known = true,
		.switches = switches,
	};
	struct hwtdi_look look;

	hwtdi_look_read(&model.look, model.ring, told_before, &hints);
	hwtdi_look_find(&model.look, &both, &hints, &look);
	return (look);
}

static void
each_slice_comes_out_once_if_the_thread_is_off(void **state)
{
	(void)state;
	model_begin(1, 2 * PAGE, HWTDI_LOOK_RESTARTS);
	for (size_t i = 0; i < 20; i++) {
		struct hwtdi_look look;
		size_t n = 100 + i * 350;

		switch_in();
		write_bytes(n);
		switch_out();
		look = look_at(HWTDI_LOOK_OFF, n, n, 1);
		assert_int_equal(look.n_pieces, 1);
		assert_int_equal(look.pieces[0].n, n);
		assert_int_equal(look.pieces[0].why, HWTD_EXTENT_NEW);
		assert_false(look.pieces[0].joins || look.lost);
		assert_true(look.restarted && look.missed_known);
		assert_int_equal(look.missed, 0);
		check_look(&look);
		/* And not again. */
		look = look_at(HWTDI_LOOK_OFF, n, n, 0);
		assert_int_equal(look.n_pieces, 0);
	}
	end_chain();
	hwtdi_look_fini(&model.look);
}

static void
a_slice_goes_round_and_joins(void **state)
{
	struct hwtdi_look look;

	(void)state;
	model_begin(2, 8 * PAGE, HWTDI_LOOK_RESTARTS);
	switch_in();
	write_bytes(7 * PAGE + 1000);
	look = look_at(HWTDI_LOOK_ON, model.told, model.told, 0);
	check_look(&look);
	assert_int_equal(look.n_pieces, 1);
	write_bytes(2 * PAGE);
	switch_out();
	look = look_at(HWTDI_LOOK_OFF, PAGE + 1000, PAGE + 1000, 1);
	check_look(&look);
	assert_int_equal(look.n_pieces, 2);
	assert_true(look.pieces[0].joins && look.pieces[1].joins);
	assert_true(look.wrapped && !look.restarted);
	end_chain();
	hwtdi_look_fini(&model.look);
}

static void
a_torn_look_is_held_back_and_its_end_is_handed_out(void **state)
{
	struct hwtdi_look look;
	size_t n;

	(void)state;
	model_begin(3, 8 * PAGE, HWTDI_LOOK_RESTARTS);
	switch_in();
	write_bytes(6 * PAGE);
	switch_out();
	switch_in();
	write_bytes(500);
	look = look_at(HWTDI_LOOK_UNKNOWN, 6 * PAGE, 6 * PAGE, 1);
	assert_int_equal(look.n_pieces, 0);
	assert_int_equal(look.held_bytes, 6 * PAGE);
	write_bytes(300);
	switch_out();
	hwtdi_look_read_all(&model.look, model.ring, 800);
	hwtdi_look_last(&model.look, 800, NULL, &look);
	check_look(&look);
	/* From two pages on it is of the first slice, whatever happened. */
	assert_true(look.lost && look.n_pieces >= 2);
	assert_int_equal(look.pieces[0].at, 2 * PAGE);
	assert_int_equal(look.pieces[0].n, 4 * PAGE);
	assert_true(look.pieces[0].older && !look.pieces[0].joins);
	n = look.n_pieces - 1;
	assert_int_equal(look.pieces[n].at, 0);
	assert_int_equal(look.pieces[n].n, 800);
	end_chain();
	hwtdi_look_fini(&model.look);
}

static void
the_page_of_a_position_is_found_by_what_changed(void **state)
{
	struct hwtdi_look look;

	(void)state;
	model_begin(4, 4 * PAGE, HWTDI_LOOK_RESTARTS);
	switch_in();
	write_bytes(2 * PAGE + 77);
	switch_out();
	look = look_at(HWTDI_LOOK_OFF, 77, 77, 1);
	check_look(&look);
	assert_true(look.position_doubted && !look.position_unknown);
	assert_int_equal(look.position, 2 * PAGE + 77);
	assert_int_equal(look.pieces[0].n, 2 * PAGE + 77);
	switch_in();
	write_bytes(PAGE + 5);
	switch_out();
	/* A position that no page fits, and the largest one. */
	look = look_at(HWTDI_LOOK_OFF, UINT64_MAX, UINT64_MAX, 1);
	check_look(&look);
	assert_true(look.position_doubted && look.position_unknown);
	assert_int_equal(look.pieces[0].n, PAGE + 5);
	assert_int_equal(look.pieces[0].why, HWTD_EXTENT_AFTER_LOSS);
	end_chain();
	hwtdi_look_fini(&model.look);
}

static void
what_cannot_be_a_ring_is_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_look_ring ring;

	(void)state;
	assert_int_equal(hwtdi_look_init(&ring, model.ctx, 0, HWTDI_LOOK_ROUND,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_look_init(&ring, model.ctx, 4097,
			     HWTDI_LOOK_ROUND, &err),
	    HWTD_E_INVALID);
	assert_non_null(strstr(err.message, "4097"));
	assert_int_equal(hwtdi_look_init(&ring, model.ctx, 4096,
			     (enum hwtdi_look_kind)4, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_look_init(&ring, model.ctx, (uint64_t)1 << 62,
			     HWTDI_LOOK_ROUND, &err),
	    HWTD_E_NOMEM);
	hwtdi_look_fini(&ring);
}

static int
set_up(void **state)
{
	(void)state;
	return (hwtd_context_create(NULL, &model.ctx, NULL));
}

static int
tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < SLICES; i++) {
		free(model.slices[i].bytes);
		free(model.slices[i].given);
	}
	hwtd_context_destroy(model.ctx);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_slices_come_out_as_they_were_written),
		cmocka_unit_test(rings_of_cpus_come_out_as_they_were_written),
		cmocka_unit_test(live_positions_come_out_as_they_were_written),
		cmocka_unit_test(
		    each_slice_comes_out_once_if_the_thread_is_off),
		cmocka_unit_test(a_slice_goes_round_and_joins),
		cmocka_unit_test(
		    a_torn_look_is_held_back_and_its_end_is_handed_out),
		cmocka_unit_test(
		    the_page_of_a_position_is_found_by_what_changed),
		cmocka_unit_test(what_cannot_be_a_ring_is_refused),
	};

	return (cmocka_run_group_tests(tests, set_up, tear_down));
}
