/*
 * Rings of hwt(4) that a model of the hardware writes to: what looks hand out was
 * written so by one slice, and what is lost is said to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/trace.h>

#include "ring_model.h"

/* Bytes that were handed out, of one slice for sure, or of any. */
#define SURE 1
#define MIXED 2
/* Bytes that are so by chance, or a slice that nobody can tell from others. */
#define ALIKE 16

struct ring_model ring_model;

static uint64_t
random_u64(void)
{
	ring_model.seed ^= ring_model.seed << 13;
	ring_model.seed ^= ring_model.seed >> 7;
	ring_model.seed ^= ring_model.seed << 17;
	return (ring_model.seed);
}

uint64_t
ring_model_random_to(uint64_t n)
{
	return ((random_u64() >> 11) % n);
}

bool
ring_model_small(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL);
}

uint64_t
ring_model_first_seed(void)
{
	const char *text = getenv("HWTDECODE_TEST_SEED");

	return (text == NULL ? 0 : strtoull(text, NULL, 0) * 1000003);
}

static void copy_and_move(void *to, const void *mapped, uint64_t n);

void
ring_model_begin(uint64_t seed, uint64_t size, enum hwtdi_look_kind kind)
{
	for (size_t i = 0; i < ring_model.n_slices; i++)
		memset(ring_model.slices[i].given, 0, ring_model.slices[i].n);
	for (size_t i = 0; i < SLICES && ring_model.slices[i].bytes == NULL;
	     i++) {
		ring_model.slices[i].bytes = malloc(SLICE_MOST);
		ring_model.slices[i].given = calloc(1, SLICE_MOST);
		assert_non_null(ring_model.slices[i].bytes);
		assert_non_null(ring_model.slices[i].given);
	}
	ring_model.seed = seed * 0x9e3779b97f4a7c15u + 1;
	random_u64();
	ring_model.size = size;
	ring_model.n_slices = 0;
	ring_model.on = false;
	ring_model.told = 0;
	ring_model.switches = 0;
	ring_model.n_records = 0;
	ring_model.shared = 0;
	ring_model.wrong = 0;
	ring_model.n_ends = 0;
	ring_model.chain = 0;
	ring_model.newest = 0;
	ring_model.missing = 0;
	ring_model.said = false;
	memset(ring_model.ring, 0, size);
	assert_int_equal(hwtdi_look_init(&ring_model.look, ring_model.ctx,
			     size, kind, NULL),
	    HWTD_OK);
	ring_model.look.copy = copy_and_move;
	ring_model.moves = 0;
}

void
ring_model_switch_in(void)
{
	assert_true(ring_model.n_slices < SLICES);
	ring_model.slices[ring_model.n_slices++].n = 0;
	ring_model.interrupt = PAGE + ring_model_random_to(600);
	ring_model.on = true;
}

static size_t
position(void)
{
	return (ring_model.slices[ring_model.n_slices - 1].n %
	    ring_model.size);
}

void
ring_model_switch_out(void)
{
	ring_model.told = position();
	if (ring_model.told == 0 &&
	    ring_model.slices[ring_model.n_slices - 1].n > 0 &&
	    ring_model.look.kind == HWTDI_LOOK_RESTARTS)
		ring_model.told = ring_model.size;
	ring_model.switches++;
	ring_model.on = false;
}

void
ring_model_write_bytes(size_t n)
{
	const size_t slice = ring_model.n_slices - 1;
	uint8_t *bytes = ring_model.slices[slice].bytes;

	while (n > 0) {
		const size_t at = ring_model.slices[slice].n,
			     in = at % ring_model.size;
		size_t part = n;

		if (part > ring_model.size - in)
			part = ring_model.size - in;
		if (ring_model.interrupt - at < part)
			part = ring_model.interrupt - at;
		for (size_t i = 0; i < part; i++) {
			if (i % 4 == 0)
				random_u64();
			bytes[at + i] = at + i < ring_model.shared
			    ? (uint8_t)((at + i) * 7 + 1)
			    : (uint8_t)(ring_model.seed >> (8 + 8 * (i % 4)));
		}
		memcpy(ring_model.ring + in, bytes + at, part);
		ring_model.slices[slice].n += part;
		n -= part;
		if (ring_model.slices[slice].n == ring_model.interrupt) {
			ring_model.told = position();
			if (ring_model.n_records < 64)
				ring_model.records
				    [ring_model.n_records++] = ring_model.told;
			ring_model.interrupt = ring_model.slices[slice].n -
			    ring_model.slices[slice].n % PAGE + PAGE +
			    ring_model_random_to(600);
		}
	}
}

static uint64_t
told(void)
{
	if (ring_model.look.kind == HWTDI_LOOK_LIVE)
		return (ring_model.n_slices == 0 ? 0 : position());
	if (ring_model.wrong == 1)
		return (ring_model.told % PAGE);
	if (ring_model.wrong == 2)
		return (ring_model.told % PAGE + ((uint64_t)0x7fffffff << 12));
	return (ring_model.told);
}

static bool
is_given(size_t slice, size_t end)
{
	const uint8_t *given = ring_model.slices[slice].given;

	for (size_t i = end - ring_model.chain; i < end; i++)
		if (given[i] == SURE)
			return (true);
	return (false);
}

/*
 * The chain is over: no byte comes twice.  Where slices are alike it may be of any
 * of them.
 */
void
ring_model_end_chain(void)
{
	const size_t slice = ring_model.ends[0].slice;
	bool fresh = ring_model.n_ends == 0;

	for (size_t i = 0; !fresh && i < ring_model.n_ends; i++)
		fresh = !is_given(ring_model.ends[i].slice,
		    ring_model.ends[i].end);
	assert_true(fresh);
	if (ring_model.n_ends == 1) {
		memset(ring_model.slices[slice].given +
			ring_model.ends[0].end - ring_model.chain,
		    SURE, ring_model.chain);
		if (!ring_model.chain_older && ring_model.chain > ALIKE) {
			assert_true(slice >= ring_model.newest);
			ring_model.newest = slice;
		}
	}
	ring_model.n_ends = 0;
	ring_model.chain = 0;
}

/*
 * Finds all places where a slice wrote the chain: slices that began since the
 * chain did may have begun with the same bytes.
 */
static void
find_chain(void)
{
	ring_model.n_ends = 0;
	for (size_t s = 0; s < ring_model.n_slices; s++)
		for (size_t at = ring_model.chain_at;
		     at + ring_model.chain <= ring_model.slices[s].n;
		     at += ring_model.size) {
			if (ring_model.chain_new && at != 0)
				break;
			if (memcmp(ring_model.slices[s].bytes + at,
				ring_model.chain_bytes, ring_model.chain) != 0)
				continue;
			assert_true(ring_model.n_ends < CANDIDATES);
			ring_model.ends[ring_model.n_ends].slice = s;
			ring_model.ends[ring_model.n_ends++].end = at +
			    ring_model.chain;
		}
	assert_true(ring_model.n_ends > 0);
}

static void
check_mixed(const struct hwtdi_look_piece *piece)
{
	for (size_t i = 0; i < piece->n; i++) {
		bool found = false;

		for (size_t s = 0; s < ring_model.n_slices; s++)
			for (size_t at = piece->at + i;
			     at < ring_model.slices[s].n;
			     at += ring_model.size) {
				if (ring_model.slices[s].bytes[at] !=
				    piece->bytes[i])
					continue;
				found = true;
				if (ring_model.slices[s].given[at] == 0)
					ring_model.slices[s].given[at] = MIXED;
			}
		assert_true(found);
	}
}

static void
check_piece(const struct hwtdi_look_piece *piece)
{
	assert_true(piece->n > 0 && piece->at < ring_model.size);
	assert_true(piece->n <= ring_model.size - piece->at);
	ring_model.handed += piece->n;
	ring_model.joined += piece->joins;
	ring_model.older += piece->older;
	ring_model.mixed += piece->mixed;
	if (piece->joins) {
		assert_false(piece->mixed);
		assert_true(ring_model.n_ends > 0);
		assert_int_equal((ring_model.chain_at + ring_model.chain) %
			ring_model.size,
		    piece->at);
	} else {
		ring_model_end_chain();
		ring_model.chain_at = piece->at;
		ring_model.chain_new = piece->why == HWTD_EXTENT_NEW;
		ring_model.chain_older = piece->older;
	}
	if (piece->mixed) {
		assert_int_equal(piece->why, HWTD_EXTENT_AFTER_LOSS);
		check_mixed(piece);
		return;
	}
	assert_true(ring_model.chain + piece->n <= SLICE_MOST);
	memcpy(ring_model.chain_bytes + ring_model.chain, piece->bytes,
	    piece->n);
	ring_model.chain += piece->n;
	find_chain();
}

/*
 * Bytes that will not come any more: those of slices before the newest one of which
 * bytes were handed out, and those of it before them.
 */
static size_t
missing_bytes(void)
{
	const bool chain = ring_model.n_ends == 1;
	const size_t of = chain ? ring_model.ends[0].slice : SLICES;
	const size_t newest = chain && !ring_model.chain_older &&
		of > ring_model.newest
	    ? of
	    : ring_model.newest;
	size_t n = 0;

	for (size_t s = 0; s <= newest && s < ring_model.n_slices; s++) {
		size_t missing = 0, before_given = 0;

		for (size_t i = 0; i < ring_model.slices[s].n; i++)
			if (ring_model.slices[s].given[i] != 0 ||
			    (of == s && i < ring_model.ends[0].end &&
				i + ring_model.chain >=
				    ring_model.ends[0].end))
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
	const size_t missing = ring_model.shared > 0 || ring_model.wrong != 0
	    ? 0
	    : missing_bytes();
	bool said = ring_model.said || look->lost || look->missed > 0 ||
	    !look->missed_known || look->position_unknown;
	bool newest = false;

	for (size_t i = 0; i < look->n_pieces; i++) {
		said = said ||
		    (!look->pieces[i].joins &&
			look->pieces[i].why == HWTD_EXTENT_AFTER_LOSS);
		newest = newest || !look->pieces[i].older;
	}
	assert_true(said || missing <= ring_model.missing);
	ring_model.missing = missing;
	ring_model.said = said && !(newest && ring_model.n_ends == 1);
}

void
ring_model_check_look(const struct hwtdi_look *look)
{
	assert_true(look->n_pieces <= HWTDI_LOOK_PIECES);
	for (size_t i = 0; i < look->n_pieces; i++)
		check_piece(&look->pieces[i]);
	check_losses(look);
	ring_model.lost += look->lost;
	ring_model.doubted += look->position_doubted;
}

/* Some records get lost, and the last one may come late. */
static size_t
lose_records(uint64_t *out)
{
	const bool late = ring_model.n_records > 0 &&
	    ring_model_random_to(4) == 0;
	size_t n = 0;

	for (size_t i = 0; i + late < ring_model.n_records; i++)
		if (ring_model_random_to(5) != 0)
			out[n++] = ring_model.wrong != 0
			    ? ring_model.records[i] % PAGE
			    : ring_model.records[i];
	if (late)
		ring_model.records[0] = ring_model
					    .records[ring_model.n_records - 1];
	ring_model.n_records = late;
	return (n);
}

void
ring_model_anything_happens(bool switches, uint64_t most)
{
	const size_t n = ring_model_random_to(4) == 0
	    ? ring_model_random_to(most)
	    : ring_model_random_to(2) == 0 ? ring_model_random_to(200)
					   : ring_model_random_to(PAGE);

	if (!ring_model.on)
		ring_model_switch_in();
	if (ring_model.slices[ring_model.n_slices - 1].n + n < SLICE_MOST)
		ring_model_write_bytes(n);
	if (switches && ring_model_random_to(2) == 0)
		ring_model_switch_out();
}

/* The writer goes on between any two bytes that are read. */
static void
copy_and_move(void *to, const void *mapped, uint64_t n)
{
	while (ring_model.moves > 0 && ring_model.move_after < n) {
		const uint64_t part = ring_model.move_after & ~(uint64_t)7;

		hwtdi_look_copy(to, mapped, part);
		to = (uint8_t *)to + part;
		mapped = (const uint8_t *)mapped + part;
		n -= part;
		if (ring_model.n_slices + 3 < SLICES)
			ring_model_anything_happens(!ring_model.one_slice,
			    ring_model_random_to(8) == 0
				? 3 * ring_model.size
				: ring_model.size / 2);
		ring_model.moves--;
		ring_model.move_after = ring_model_random_to(4) == 0
		    ? 0
		    : ring_model_random_to(ring_model.size);
	}
	hwtdi_look_copy(to, mapped, n);
	ring_model.move_after -= ring_model.moves > 0 ? n : 0;
}

/* Whatever is known of the thread, in one of the ways in which it may be. */
static struct hwtdi_look_hints
known(void)
{
	struct hwtdi_look_hints hints = { 0 };

	if (ring_model_random_to(4) != 0)
		hints.state = ring_model.on ? HWTDI_LOOK_ON : HWTDI_LOOK_OFF;
	hints.switches_known = ring_model_random_to(4) != 0;
	hints.switches = ring_model.switches;
	return (hints);
}

/* One look; the writer may go on while the ring is copied. */
void
ring_model_random_look(bool one_slice)
{
	uint64_t records[64];
	const struct hwtdi_look_hints before = known();
	struct hwtdi_look_told both = { .before = told() };
	struct hwtdi_look_hints hints;
	const bool on = ring_model.on;
	const uint64_t switches = ring_model.switches;
	const size_t slices = ring_model.n_slices;
	struct hwtdi_look look;

	ring_model.one_slice = one_slice;
	ring_model.moves = ring_model_random_to(3) == 0
	    ? 1 + ring_model_random_to(3)
	    : 0;
	ring_model.move_after = ring_model_random_to(ring_model.size);
	hwtdi_look_read(&ring_model.look, ring_model.ring, both.before,
	    ring_model_random_to(8) == 0 ? NULL : &before);
	ring_model.moves = 0;
	ring_model.lapped += ring_model.look.lapped;
	both.after = told();
	hints = known();
	if (ring_model.on != on || ring_model.switches != switches ||
	    ring_model.n_slices != slices)
		hints.state = HWTDI_LOOK_UNKNOWN;
	ring_model.switches = 0;
	hints.records = records;
	hints.n_records = lose_records(records);
	hwtdi_look_find(&ring_model.look, &both, &hints, &look);
	ring_model_check_look(&look);
}

void
ring_model_last_look(void)
{
	struct hwtdi_look_hints hints = {
		.switches_known = ring_model_random_to(2) == 0
	};
	struct hwtdi_look look;

	if (ring_model.on && ring_model.look.kind == HWTDI_LOOK_RESTARTS)
		ring_model_switch_out();
	hints.switches = ring_model.switches;
	hwtdi_look_read_all(&ring_model.look, ring_model.ring, told());
	hwtdi_look_last(&ring_model.look, told(), &hints, &look);
	assert_int_equal(look.held_bytes, 0);
	ring_model_check_look(&look);
	/* The newest slice is there to its end, but for bytes that were so before. */
	if (ring_model.wrong == 0 &&
	    ring_model.slices[ring_model.n_slices - 1].n > 0 && !look.lost &&
	    !look.alike && !look.position_doubted) {
		bool found = ring_model.n_ends == 0;

		for (size_t i = 0; i < ring_model.n_ends; i++)
			found = found ||
			    ring_model.ends[i].end + 8 >=
				ring_model.slices[ring_model.ends[i].slice].n;
		assert_true(found);
	}
	ring_model_end_chain();
	hwtdi_look_fini(&ring_model.look);
}
