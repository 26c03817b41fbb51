/*
 * Two sequences of executed code: where they are the same.
 */
#include "analysis/diff/flow_block.h"

#include <string.h>

#include "base/hash.h"

/* One of both may begin later in the other, or end earlier, where it is cut. */
static bool
lies_in(const struct hwtdi_flow_block *part,
    const struct hwtdi_flow_block *whole)
{
	const struct hwtd_flow_block *p = &part->told, *w = &whole->told;
	const uint64_t before = p->file_off - w->file_off;

	if (before != 0 &&
	    ((part->cut & HWTDI_FLOW_CUT_BEGIN) == 0 || before >= w->bytes))
		return (false);
	return (before + p->bytes == w->bytes ||
	    ((part->cut & HWTDI_FLOW_CUT_END) != 0 &&
		before + p->bytes < w->bytes));
}

bool
hwtdi_flow_same(const struct hwtdi_flow_block *a,
    const struct hwtdi_flow_block *b)
{
	const struct hwtd_flow_block *x = &a->told, *y = &b->told;

	if (a->kind != b->kind || x->image != y->image ||
	    a->kind == HWTDI_FLOW_GAP)
		return (false);
	if (a->kind == HWTDI_FLOW_FOREIGN)
		return (true);
	if (((x->flags ^ y->flags) & HWTD_EVF_ISA_MASK) != 0)
		return (false);
	if (x->file_off == y->file_off && x->bytes == y->bytes)
		return (true);
	return ((a->cut | b->cut) != 0 && (lies_in(a, b) || lies_in(b, a)));
}

/* How long the begin of a sequence is that is at each of its places again. */
static void
begins_of(const struct hwtdi_flow_block *x, size_t n, size_t *out)
{
	size_t left = 0, right = 0;

	if (n != 0)
		out[0] = n;
	for (size_t i = 1; i < n; i++) {
		size_t same = 0;

		if (i < right)
			same = out[i - left] < right - i ? out[i - left]
							 : right - i;
		while (i + same < n && hwtdi_flow_same(&x[same], &x[i + same]))
			same++;
		if (i + same > right) {
			left = i;
			right = i + same;
		}
		out[i] = same;
	}
}

struct hwtdi_flow_fit
hwtdi_flow_fit(const struct hwtdi_flow_block *x, size_t n_x,
    const struct hwtdi_flow_block *y, size_t n_y, size_t *scratch)
{
	struct hwtdi_flow_fit best = { .at = 0 };
	size_t left = 0, right = 0;

	begins_of(x, n_x, scratch);
	for (size_t i = 0; i < n_y && n_x != 0; i++) {
		size_t same = 0;

		if (i < right)
			same = scratch[i - left] < right - i
			    ? scratch[i - left]
			    : right - i;
		while (same < n_x && i + same < n_y &&
		    hwtdi_flow_same(&x[same], &y[i + same]))
			same++;
		if (i + same > right) {
			left = i;
			right = i + same;
		}
		if (same > best.n)
			best = (struct hwtdi_flow_fit){ .at = i, .n = same };
		else if (same == best.n && same != 0)
			best.ambiguous = true;
	}
	return (best);
}

static uint64_t
hash_block(const struct hwtdi_flow_block *b, uint64_t seed)
{
	const uint64_t what = b->kind == HWTDI_FLOW_CODE
	    ? b->told.file_off
	    : UINT64_MAX - b->kind;

	return (hwtdi_hash_pair(seed, what,
	    (uint64_t)b->told.image << 32 |
		(b->kind == HWTDI_FLOW_CODE ? b->told.bytes : 0)));
}

/* Odd, so that a block that leaves takes just its share with it. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static size_t
n_slots(size_t n_x)
{
	size_t n = 16;

	while (n < 2 * n_x)
		n *= 2;
	return (n);
}

size_t
hwtdi_flow_meet_room(size_t n_x)
{
	/* A place and a hash. */
	return (2 * n_slots(n_x));
}

/* Hashes of `n` blocks in a row, one place after the other. */
struct rolling {
	const struct hwtdi_flow_block *at;
	size_t n;
	uint64_t seed, hash, last_factor;
};

static void
roll_begin(struct rolling *r, const struct hwtdi_flow_block *at, size_t n,
    uint64_t seed)
{
	*r = (struct rolling){ .at = at,
		.n = n,
		.seed = seed,
		.last_factor = 1 };
	for (size_t i = 0; i < n; i++) {
		r->hash = r->hash * FACTOR + hash_block(&at[i], seed);
		if (i != 0)
			r->last_factor *= FACTOR;
	}
}

static void
roll_on(struct rolling *r)
{
	r->hash -= hash_block(r->at, r->seed) * r->last_factor;
	r->hash = r->hash * FACTOR + hash_block(&r->at[r->n], r->seed);
	r->at++;
}

/* The slot of a hash, or the free one where it would be. */
static size_t *
slot_of(size_t *slots, size_t mask, uint64_t hash)
{
	size_t at = (size_t)(hash ^ hash >> 32) & mask;

	while (slots[2 * at] != 0 && slots[2 * at + 1] != (size_t)hash)
		at = (at + 1) & mask;
	return (&slots[2 * at]);
}

static bool
all_same(const struct hwtdi_flow_block *x, const struct hwtdi_flow_block *y,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!hwtdi_flow_same(&x[i], &y[i]))
			return (false);
	return (true);
}

/* Slots hold places of `x`, plus 1; of equal ones the first. */
static void
fill_slots(const struct hwtdi_flow_block *x, size_t n_x, size_t n,
    uint64_t seed, size_t *slots, size_t mask)
{
	struct rolling r;

	memset(slots, 0, 2 * (mask + 1) * sizeof(*slots));
	roll_begin(&r, x, n, seed);
	for (size_t i = 0; i + n <= n_x; i++) {
		size_t *slot = slot_of(slots, mask, r.hash);

		if (slot[0] == 0) {
			slot[0] = i + 1;
			slot[1] = (size_t)r.hash;
		}
		if (i + n < n_x)
			roll_on(&r);
	}
}

bool
hwtdi_flow_meet(const struct hwtdi_flow_block *x, size_t n_x,
    const struct hwtdi_flow_block *y, size_t n_y, size_t n, uint64_t seed,
    size_t *scratch, size_t *i_out, size_t *j_out)
{
	const size_t mask = n_slots(n_x) - 1;
	size_t best = SIZE_MAX;
	struct rolling r;

	if (n == 0 || n_x < n || n_y < n)
		return (false);
	fill_slots(x, n_x, n, seed, scratch, mask);
	roll_begin(&r, y, n, seed);
	for (size_t j = 0; j + n <= n_y && j < best; j++) {
		const size_t slot = *slot_of(scratch, mask, r.hash);

		if (slot != 0 && slot - 1 + j < best &&
		    all_same(&x[slot - 1], &y[j], n)) {
			best = slot - 1 + j;
			*i_out = slot - 1;
			*j_out = j;
		}
		if (j + n < n_y)
			roll_on(&r);
	}
	return (best != SIZE_MAX);
}
