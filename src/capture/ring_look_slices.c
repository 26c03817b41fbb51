/*
 * Looks at a ring that slices begin anew in: several of them, and torn looks.
 */
#include <hwtdecode/trace.h>
#include <string.h>

#include "capture/ring_look_internal.h"

/*
 * What was held back and was overwritten since: the bytes that are of one slice
 * for sure are handed out from the copy of the last look.
 */
static void
give_up_held(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	const uint64_t from = ring->firm > ring->given ? ring->firm
						       : ring->given;
	struct hwtdi_look_piece *piece;

	if (ring->given >= ring->position)
		return;
	look->out->lost = true;
	if (from >= ring->position) {
		look->out->lost_bytes += ring->position - ring->given;
		return;
	}
	look->out->lost_bytes += from - ring->given;
	piece = hwtdi_look_hand_out(look, ring->held, from, ring->position);
	piece->older = true;
}

void
hwtdi_look_placeless(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	const uint64_t end = hwtdi_look_all_new(look);
	struct hwtdi_look_piece *piece;

	look->out->position_unknown = true;
	look->out->lost = true;
	give_up_held(look);
	piece = hwtdi_look_hand_out(look, ring->now, 0, end);
	if (piece != NULL)
		piece->mixed = true;
	hwtdi_look_take(ring, ring->size);
	ring->position = ring->given = end;
	ring->adjoins = false;
	ring->sure = false;
	ring->begins = false;
	ring->clean = true;
	ring->placeless = true;
	ring->untold = 0;
	look->out->position = end;
}

/*
 * Slices that wrote behind the position of the newest one, besides that:
 * LOOK_NOT_KNOWN if nobody knows.
 */
static uint64_t
others(const struct hwtdi_look_work *look)
{
	const struct hwtdi_look_ring *ring = look->ring;

	if (look->begun == LOOK_NOT_KNOWN || !ring->clean || look->begun == 0)
		return (LOOK_NOT_KNOWN);
	return (look->begun - 1 + (ring->state == HWTDI_LOOK_OFF ? 0 : 1));
}

/* What slices left over behind the newest one, which is [0, to). */
static void
hand_out_older(struct hwtdi_look_work *look, uint64_t to, bool turned)
{
	struct hwtdi_look_ring *ring = look->ring;
	const uint64_t last = ring->position, n = others(look);
	const uint64_t end = hwtdi_look_new_end(ring, 0, ring->size);
	/* Pages of positions that are always the first one may be wrong. */
	const bool mixed = n != 1 || turned ||
	    (!ring->pages && end + LOOK_CHANCE >= to + LOOK_PAGE);
	uint64_t from = to;
	struct hwtdi_look_piece *piece;

	/* What the last look had and is there still does not come again. */
	if (to < last) {
		const uint64_t part = hwtdi_look_new_end(ring, to, last);

		if (part < last) {
			piece = hwtdi_look_hand_out(look, ring->now, to, part);
			if (piece != NULL) {
				piece->older = true;
				piece->mixed = mixed;
			}
			from = last;
		}
	}
	piece = hwtdi_look_hand_out(look, ring->now, from,
	    hwtdi_look_new_end(ring, from, ring->size));
	if (piece == NULL)
		return;
	piece->older = true;
	piece->mixed = mixed;
	/* The slice of the last look went on, and there was no other one. */
	piece->joins = !mixed && look->begun == 1 && ring->sure &&
	    ring->adjoins && from == last && look->out->n_pieces == 1;
}

/* The position fell, but all bytes up to the last one are as they were. */
static void
look_alike(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look_piece *piece;

	look->out->position = ring->position;
	look->out->alike = true;
	ring->clean = ring->sure = false;
	if (look->last) {
		piece = hwtdi_look_hand_out(look, ring->now, ring->given,
		    ring->position);
		if (piece != NULL)
			piece->mixed = true;
		ring->given = ring->position;
		ring->adjoins = false;
	}
	look->out->held_bytes = ring->position - ring->given;
}

void
hwtdi_look_slices(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look *out = look->out;
	const uint64_t size = ring->size, last = ring->position;
	const bool turned = hwtdi_look_turned(look);
	const uint64_t end = hwtdi_look_all_new(look);
	uint64_t to = look->told, torn = 0, written = last;
	bool guessed = false, came = true;
	struct hwtdi_look_piece *piece;

	if ((to > size || (ring->broken && to < LOOK_PAGE)) &&
	    hwtdi_look_new_end(ring, 0, size) == 0 &&
	    to % LOOK_PAGE == last % LOOK_PAGE) {
		/* Nothing came, or a slice began of which that holds. */
		out->position_doubted = true;
		if (look->begun != LOOK_NOT_KNOWN && look->begun > 0) {
			look_alike(look);
			return;
		}
		to = last;
	} else if (to > size ||
	    (ring->broken && to < LOOK_PAGE && end > to + LOOK_CHANCE)) {
		/* What ends with the ring may go on at its start. */
		const uint64_t found = turned
		    ? LOOK_NOT_KNOWN
		    : hwtdi_look_position_of(look, 0, end);

		out->position_doubted = true;
		if (found == LOOK_NOT_KNOWN && to > size) {
			ring->broken = true;
			hwtdi_look_placeless(look);
			return;
		}
		if (found != LOOK_NOT_KNOWN) {
			/* What ends there may be what another slice left. */
			guessed = others(look) != 0;
			to = found;
			ring->broken = true;
		}
	}
	/* It may have gone round while it was copied. */
	if (!look->exact && turned && !ring->watched) {
		out->position_doubted = true;
		hwtdi_look_placeless(look);
		return;
	}
	/* It began anew with the same bytes, or the page is wrong. */
	if ((look->begun == LOOK_NOT_KNOWN || look->begun == 0) && to < last &&
	    (!ring->pages || ring->broken) && hwtdi_look_same(ring, 0, last)) {
		out->position_doubted = look->begun == 0;
		look_alike(look);
		return;
	}
	/* What the slice overwrote meanwhile, if it went round. */
	if (look->ahead > size - to)
		torn = look->ahead - (size - to);
	out->position = to;
	/* Up to a guess nobody may have written. */
	if (guessed && written < end)
		written = end;
	if (!guessed || written > to)
		written = to;
	if (to >= last && torn < last && hwtdi_look_same(ring, torn, last) &&
	    (look->begun == LOOK_NOT_KNOWN || look->begun == 0)) {
		out->alike = look->begun == LOOK_NOT_KNOWN;
		came = to > ring->given;
		piece = hwtdi_look_hand_out(look, ring->now,
		    torn > ring->given ? torn : ring->given, written);
		if (piece != NULL) {
			piece->joins = ring->given > 0 && ring->adjoins &&
			    !guessed && torn <= ring->given;
			if (ring->given == 0 && ring->begins && !guessed &&
			    torn == 0)
				piece->why = HWTD_EXTENT_NEW;
			piece->mixed = guessed;
		}
		ring->clean = false;
		hwtdi_look_take(ring, to);
	} else {
		out->restarted = look->begun != 0;
		out->wrapped = look->begun == 0;
		give_up_held(look);
		if (look->exact && !guessed)
			hand_out_older(look, to, turned);
		piece = hwtdi_look_hand_out(look, ring->now, torn, written);
		if (piece != NULL) {
			piece->mixed = guessed;
			if (look->begun != 0 && !turned && !guessed &&
			    torn == 0)
				piece->why = HWTD_EXTENT_NEW;
		}
		ring->clean = look->exact && !guessed;
		hwtdi_look_take(ring, ring->clean ? size : to);
		ring->begins = look->begun != 0 && !turned && !guessed;
	}
	if (came)
		ring->adjoins = piece != NULL && !guessed;
	ring->position = ring->given = to;
	if (look->exact || out->restarted)
		ring->untold = 0;
	if (look->exact)
		ring->placeless = false;
	ring->turned = !look->exact && turned;
	ring->sure = !guessed;
}

/*
 * From where on bytes up to the position are of one slice, though another one may
 * have overwritten the first ones, and were not handed out before: their last one
 * is new.
 */
static uint64_t
start_of_firm(const struct hwtdi_look_work *look)
{
	const struct hwtdi_look_ring *ring = look->ring;
	const uint64_t last = ring->position, to = look->told;

	if (!look->steady || ring->broken || to <= LOOK_SLACK ||
	    hwtdi_look_same(ring, to - 1, to))
		return (to);
	if (last > LOOK_SLACK && last < to &&
	    hwtdi_look_same(ring, last - 1, last))
		return (last);
	return (LOOK_SLACK);
}

void
hwtdi_look_torn(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look *out = look->out;
	const uint64_t size = ring->size, last = ring->position;
	const uint64_t to = look->told;
	const bool turned = hwtdi_look_turned(look);
	struct hwtdi_look_piece *piece;

	ring->clean = false;
	ring->sure = false;
	out->position = to;
	if (to > size) {
		out->position_doubted = true;
		out->position = last;
		ring->broken = true;
		return;
	}
	/* It began anew with the same bytes, or the page is wrong. */
	if (to < last && hwtdi_look_same(ring, 0, last)) {
		look_alike(look);
		return;
	}
	if (to >= last && hwtdi_look_same(ring, 0, last)) {
		out->alike = last > 0;
		/*
		 * It was written up to here by one slice, unless nothing moved,
		 * or the position did before the last copy was made.
		 */
		if (to > last && (last == 0 || to != ring->told)) {
			piece = hwtdi_look_hand_out(look, ring->now,
			    ring->given, last);
			if (piece != NULL) {
				piece->joins = ring->given > 0 &&
				    ring->adjoins;
				if (ring->given == 0 && ring->begins)
					piece->why = HWTD_EXTENT_NEW;
				ring->adjoins = true;
			}
			if (last == 0)
				ring->begins = !turned;
			ring->given = last;
		}
		if (to > last)
			ring->firm = start_of_firm(look);
	} else {
		out->restarted = true;
		give_up_held(look);
		ring->firm = start_of_firm(look);
		ring->begins = !turned;
		ring->untold = 0;
		ring->given = 0;
	}
	hwtdi_look_take(ring, to);
	ring->turned = turned;
	ring->position = to;
	out->held_bytes = to - ring->given;
}

void
hwtdi_look_await(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;

	look->out->restarted = !ring->waits;
	look->out->position = 0;
	give_up_held(look);
	ring->position = ring->position_before = ring->given = 0;
	ring->adjoins = ring->sure = false;
	ring->turned = false;
	ring->waits = true;
}
