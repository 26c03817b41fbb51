/*
 * Looks at a ring that one writer goes round in.
 */
#include <hwtdecode/trace.h>

#include "capture/ring_look_internal.h"

/* A position is believed if what is new ends so little before it. */
#define LOOK_NEAR ((uint64_t)64)

/*
 * Whether records of interrupts fit one way from the last position to this one.
 * Records come late: first ones may be of what the looks before had.
 */
static bool
records_fit(const struct hwtdi_look_work *look, uint64_t from, uint64_t n)
{
	const struct hwtdi_look_ring *ring = look->ring;
	const uint64_t earlier = hwtdi_look_distance(ring,
	    ring->position_before, from);
	uint64_t at = from, sum = 0;
	bool late = true;

	/* Of threads they may be of slices before, and prove only a wrap. */
	if (ring->kind == HWTDI_LOOK_RESTARTS && from + n <= ring->size)
		return (true);

	for (size_t i = 0; !ring->broken && i < look->hints->n_records; i++) {
		const uint64_t record = look->hints->records[i];

		if (record > ring->size)
			continue;
		if (late &&
		    hwtdi_look_distance(ring, ring->position_before,
			record % ring->size) <= earlier)
			continue;
		late = false;
		sum += hwtdi_look_distance(ring, at, record % ring->size);
		at = record % ring->size;
		if (sum > n + look->ahead)
			return (false);
	}
	return (true);
}

/*
 * What cannot be the position of a writer whose new bytes end `reach` behind the
 * last one, and are fewer than the ring (`less`).
 */
static bool
is_doubtful(const struct hwtdi_look_work *look, uint64_t n, uint64_t reach,
    bool less)
{
	/* What a wrong page comes to can be near by chance. */
	const uint64_t near = look->ring->pages ? LOOK_NEAR
	    : look->exact			? LOOK_CHANCE
						: 0;

	/* A slice that wrote the same bytes again: nothing of it is new. */
	const bool again = look->exact &&
	    look->ring->kind == HWTDI_LOOK_RESTARTS &&
	    (look->ring->pages || n <= look->ring->told);

	if (look->told > look->ring->size ||
	    (less && look->ring->broken && look->told < LOOK_PAGE &&
		!look->exact))
		return (true);
	/* It lies behind a hole. */
	if (less && !look->exact && !look->last && n > look->ring->row)
		return (true);
	/* Where all is new no byte contradicts a page that is always the first. */
	if (!less && look->told < LOOK_PAGE && look->ring->size > LOOK_PAGE &&
	    !look->ring->pages && look->ring->kind != HWTDI_LOOK_LIVE)
		return (true);
	return (less && look->ring->kind != HWTDI_LOOK_LIVE &&
	    ((n > reach + near && !again &&
		 (n > look->ring->untold || !look->ring->pages)) ||
		reach > n + look->beyond + LOOK_CHANCE));
}

/*
 * How many bytes are new where the position cannot be.  False: nobody knows where
 * the oldest one lies.
 */
static bool
correct(struct hwtdi_look_work *look, uint64_t from, uint64_t reach, bool less,
    uint64_t *n)
{
	struct hwtdi_look *out = look->out;
	uint64_t found;

	out->position_doubted = true;
	/* Wrong pages are all the first one, or none of the ring. */
	if (look->told > look->ring->size || !look->ring->pages)
		look->ring->broken = true;
	if (!less) {
		out->position_unknown = true;
		out->lost = true;
		return (false);
	}
	if (!look->exact && !look->last)
		reach = hwtdi_look_row(look->ring, from, reach);
	/* What came since may have holes that are too small to be seen. */
	if (!look->exact && !look->last && reach > look->ring->row)
		reach = look->ring->row;
	found = hwtdi_look_position_of(look, from, reach);
	/* What is new may have been overwritten while it was copied. */
	if (!look->steady)
		found = LOOK_NOT_KNOWN;
	/* Nothing up to there is told from what was before. */
	if (found == LOOK_NOT_KNOWN && !look->exact)
		found = 0;
	out->position_unknown = found == LOOK_NOT_KNOWN && reach > 0;
	*n = found == LOOK_NOT_KNOWN ? reach : found;
	return (true);
}

/* More than a ring is new, or bytes were overwritten while they were copied. */
static void
hand_out_rest(struct hwtdi_look_work *look, uint64_t from, uint64_t n,
    bool more)
{
	const uint64_t size = look->ring->size;
	const uint64_t came = n + (more ? size : 0);
	/* Of the ring that begins at the position: what is not old, or torn. */
	uint64_t start = more ? 0 : size - n;

	if (start < look->ahead)
		start = look->ahead < size ? look->ahead : size;
	look->out->wrapped = more || from + n > size;
	look->out->lost = true;
	look->out->lost_bytes = came - (size - start);
	hwtdi_look_hand_out_round(look,
	    hwtdi_look_move(look->ring, hwtdi_look_move(look->ring, from, n),
		start),
	    size - start, false, HWTD_EXTENT_AFTER_LOSS);
	/*
	 * What was lost does not come again either.  Behind the position there
	 * may be bytes of the writer, which the next look cannot tell as new.
	 */
	hwtdi_look_take_round(look->ring, from, size);
	look->ring->untold = look->ahead;
}

/*
 * The writer went round while it was copied, or had before: what of the copy was
 * written in which lap is not known, or how much was lost.  False: it is known.
 */
static bool
look_astray(struct hwtdi_look_work *look, bool less)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look *out = look->out;
	const uint64_t size = ring->size;
	/* Where all is new, it may have been while it was copied. */
	const bool lapped = ring->lapped ||
	    (!less && !ring->watched && !look->exact && !look->last);
	uint64_t n;

	if (!lapped && !ring->astray)
		return (false);
	out->lost = true;
	ring->adjoins = false;
	ring->begins = false;
	ring->whole = true;
	/* Slices that begin anew are told by what the next look has. */
	if (lapped && ring->kind == HWTDI_LOOK_RESTARTS) {
		look->state = HWTDI_LOOK_UNKNOWN;
		ring->clean = ring->sure = false;
		return (true);
	}
	if (lapped) {
		out->wrapped = true;
		ring->astray = true;
		return (true);
	}
	if (look->told > size || !ring->pages || ring->broken) {
		out->position_doubted = true;
		if (look->last)
			hwtdi_look_placeless(look);
		return (true);
	}
	n = hwtdi_look_distance(ring, ring->position, look->told % size);
	/* Where all is new, content does not say how far the writer came. */
	if (look->ahead < look->beyond)
		look->ahead = look->beyond;
	/* It was nearly a ring, or more. */
	hand_out_rest(look, ring->position, n, n < size - LOOK_PAGE);
	out->lost_bytes = 0;
	ring->astray = false;
	ring->position = look->told % size;
	ring->position_before = ring->given = ring->position;
	ring->adjoins = out->n_pieces > 0;
	ring->sure = true;
	out->position = ring->position;
	return (true);
}

void
hwtdi_look_round(struct hwtdi_look_work *look, uint64_t from, bool joins,
    uint32_t why)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look *out = look->out;
	const uint64_t size = ring->size;
	const uint64_t reach = hwtdi_look_reach(ring, from, size);
	/* Bytes that would be overwritten last are there still. */
	const bool less = reach + LOOK_ALIKE <= size;
	uint64_t n = look->told > size
	    ? 0
	    : hwtdi_look_distance(ring, from, look->told % size);

	if (look_astray(look, less))
		return;
	/* A slice fills the ring to its end. */
	if (look->told == size && from == 0 && reach > size / 2)
		n = size;
	if (is_doubtful(look, n, reach, less)) {
		if (!correct(look, from, reach, less, &n)) {
			if (look->last || ring->kind == HWTDI_LOOK_RESTARTS)
				hwtdi_look_placeless(look);
			return;
		}
		joins = joins && !out->position_unknown;
		if (out->position_unknown)
			why = HWTD_EXTENT_AFTER_LOSS;
	}
	if (n == 0 && less && !look->last) {
		ring->sure = true;
		out->position = ring->position;
		return;
	}
	/* The last look goes as far as anything is new. */
	if (look->last && less && reach > n)
		n = reach;

	/* Where all is new it does not say how far the writer came. */
	if (!less && look->ahead < look->beyond)
		look->ahead = look->beyond;
	ring->untold = ring->untold > n ? ring->untold - n : 0;
	if (less) {
		const bool fit = records_fit(look, from, n);

		out->wrapped = from + n > size;
		out->lost = !fit;
		hwtdi_look_hand_out_round(look, from, n, joins && fit,
		    fit ? why : HWTD_EXTENT_AFTER_LOSS);
	} else
		hand_out_rest(look, from, n, reach > n + look->beyond);
	ring->turned = ring->turned || out->wrapped || !less;
	ring->position_before = from;
	ring->position = hwtdi_look_move(ring, from, n);
	if (n > 0 && ring->position == 0 && ring->kind == HWTDI_LOOK_RESTARTS)
		ring->position = size;
	ring->given = ring->position;
	if (n > 0 || out->lost) {
		ring->adjoins = out->n_pieces > 0;
		ring->begins = false;
	}
	ring->sure = true;
	out->position = ring->position;
}
