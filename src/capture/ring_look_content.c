/*
 * What differs between a ring and what looks came to, and handing it out.
 */
#include <hwtdecode/trace.h>
#include <string.h>

#include "capture/ring_look_internal.h"

/* Bytes in a row that are as they were: nobody wrote them. */
#define LOOK_HOLE 3

/* Where the page of the byte before a place begins, or `from`. */
static uint64_t
page_before(uint64_t place, uint64_t from)
{
	const uint64_t begin = place - 1 - (place - 1) % LOOK_PAGE;

	return (begin > from ? begin : from);
}

bool
hwtdi_look_same(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t to)
{
	while (to > from) {
		const uint64_t at = page_before(to, from);

		if (hwtdi_look_changed(ring, at) &&
		    memcmp(ring->held + at, ring->now + at, to - at) != 0)
			return (false);
		to = at;
	}
	return (true);
}

uint64_t
hwtdi_look_new_end(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t to)
{
	while (to > from) {
		const uint64_t at = page_before(to, from);

		if (hwtdi_look_changed(ring, at))
			for (; to > at; to--)
				if (ring->held[to - 1] != ring->now[to - 1])
					return (to);
		to = at;
	}
	return (from);
}

uint64_t
hwtdi_look_reach(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	const uint64_t straight = ring->size - from;
	uint64_t end;

	if (n > straight) {
		end = hwtdi_look_new_end(ring, 0, n - straight);
		if (end > 0)
			return (straight + end);
		n = straight;
	}
	return (hwtdi_look_new_end(ring, from, from + n) - from);
}

/*
 * How many of `n` bytes from `from` on are new up to the first ones that are not: a
 * writer that runs past the copying leaves a hole in the copy.
 */
uint64_t
hwtdi_look_row(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	uint64_t same = 0;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at = from < ring->size - i
		    ? from + i
		    : from + i - ring->size;

		same = ring->held[at] == ring->now[at] ? same + 1 : 0;
		if (same == LOOK_HOLE)
			return (i + 1 - LOOK_HOLE);
	}
	return (n);
}

uint64_t
hwtdi_look_distance(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t to)
{
	return (to >= from ? to - from : ring->size - from + to);
}

uint64_t
hwtdi_look_move(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	return (n < ring->size - from ? from + n : n - (ring->size - from));
}

struct hwtdi_look_piece *
hwtdi_look_hand_out(struct hwtdi_look_work *look, const uint8_t *copy,
    uint64_t from, uint64_t to)
{
	struct hwtdi_look_piece *piece;

	if (from >= to)
		return (NULL);
	piece = &look->out->pieces[look->out->n_pieces++];
	*piece = (struct hwtdi_look_piece){
		.bytes = copy + from,
		.n = to - from,
		.at = from,
		.why = HWTD_EXTENT_AFTER_LOSS,
	};
	return (piece);
}

void
hwtdi_look_take(struct hwtdi_look_ring *ring, uint64_t to)
{
	ring->taken[0].at = 0;
	ring->taken[0].n = to;
}

void
hwtdi_look_take_round(struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	const uint64_t straight = ring->size - from;

	ring->taken[0].at = from;
	ring->taken[0].n = n < straight ? n : straight;
	ring->taken[1].at = 0;
	ring->taken[1].n = n > straight ? n - straight : 0;
}

void
hwtdi_look_hand_out_round(struct hwtdi_look_work *look, uint64_t from,
    uint64_t n, bool joins, uint32_t why)
{
	struct hwtdi_look_ring *ring = look->ring;
	const uint64_t straight = ring->size - from;
	struct hwtdi_look_piece *piece;

	if (n == 0)
		return;
	piece = hwtdi_look_hand_out(look, ring->now, from,
	    n < straight ? from + n : ring->size);
	piece->joins = joins;
	piece->why = why;
	if (n > straight)
		hwtdi_look_hand_out(look, ring->now, 0, n - straight)
		    ->joins = true;
	hwtdi_look_take_round(ring, from, n);
}

/*
 * A position of the same offset in its page, as content has it: what is new ends
 * `reach` behind `from`.  The writer stopped there, or somewhat behind it.
 * LOOK_NOT_KNOWN: there is none.
 */
uint64_t
hwtdi_look_position_of(const struct hwtdi_look_work *look, uint64_t from,
    uint64_t reach)
{
	const uint64_t end = hwtdi_look_move(look->ring, from, reach);
	/* What the page of the end lacks to that offset, and has beyond it. */
	const uint64_t lacks = (look->told % LOOK_PAGE + LOOK_PAGE -
				   end % LOOK_PAGE) %
	    LOOK_PAGE;
	const uint64_t beyond = lacks == 0 ? 0 : LOOK_PAGE - lacks;

	if (reach == 0)
		return (LOOK_NOT_KNOWN);
	if (look->exact)
		return (lacks <= LOOK_CHANCE &&
			    reach + lacks <= look->ring->size
			? reach + lacks
			: LOOK_NOT_KNOWN);
	return (beyond < reach ? reach - beyond : LOOK_NOT_KNOWN);
}

bool
hwtdi_look_turned(const struct hwtdi_look_work *look)
{
	const struct hwtdi_look_ring *ring = look->ring;
	const bool anew = look->begun != LOOK_NOT_KNOWN && look->begun > 0;

	return ((ring->turned && !anew) ||
	    !hwtdi_look_same(ring, ring->size - LOOK_ALIKE, ring->size) ||
	    ring->placeless || ring->untold > ring->size - ring->position);
}

uint64_t
hwtdi_look_all_new(const struct hwtdi_look_work *look)
{
	const uint64_t end = hwtdi_look_new_end(look->ring, 0,
	    look->ring->size);

	return (look->exact || look->last
		? end
		: hwtdi_look_row(look->ring, 0, end));
}
