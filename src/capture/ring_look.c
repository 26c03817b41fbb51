/*
 * What is new in a ring of hwt(4).
 *
 * `held` is what the looks before came to: bytes that were handed out or are held
 * back, as they were; what was never taken is there as it was before.  So bytes
 * that differ between it and the newest copy were written since and not handed out.
 *
 * One writer.  Where counts of switches prove that at most one slice wrote since
 * the last look, or where nothing begins anew at all, what differs is of it and
 * lies in order behind the last position (look_round()).  Fewer bytes than a ring
 * came if the last ones of those that would be overwritten last are as they were.
 *
 * Several slices, of a thread that does not run (look_slices()).  Bytes up to the
 * position are those of the newest slice.  If they begin with all that the last
 * look had, they are taken to go on where that ended: either it is the same slice,
 * or another one of which the same bytes would have been handed out.  What differs
 * behind the position was left over by slices that nobody saw.
 *
 * Torn looks (look_torn()).  Where the thread may run in another slice than the one
 * that the position is of, the copy begins with bytes of the newer slice, and
 * nothing tells how many.  So it is held back.  When the position goes on and the
 * bytes are still there, then a slice wrote all of them, and they are handed out.
 * When it begins anew they are lost, except those more than SLACK behind the start:
 * so far no slice comes without an interrupt, which changes the position; this is
 * believed only where the position was the same before and behind the copying.
 * What this cannot see: two slices that take turns, each torn by the other so that
 * the same bytes come out twice.  Only a thread that does not run shows them.
 */
#include "capture/ring_look.h"

#include <hwtdecode/trace.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"

/* Bytes of a page; an interrupt comes with each. */
#define PAGE ((uint64_t)4096)
/* What is written at most until the interrupt of a page changed the position. */
#define SLACK (2 * PAGE)
/* So many bytes are not written again as they were by chance. */
#define ALIKE ((uint64_t)16)
/* The last bytes written can be as they were before. */
#define CHANCE ((uint64_t)8)
/* Bytes in a row that are as they were: nobody wrote them. */
#define HOLE 3
/* A position is believed if what is new ends so little before it. */
#define NEAR ((uint64_t)64)

#define NOT_KNOWN UINT64_MAX

/* A look at work. */
struct look {
	struct hwtdi_look_ring *ring;
	const struct hwtdi_look_hints *hints;
	struct hwtdi_look *out;
	uint32_t state;
	uint64_t told;
	/* How far behind it the writer may be by now, and in the copy. */
	uint64_t ahead;
	uint64_t beyond;
	/* Nothing of the writer is behind the position. */
	bool exact;
	/* Slices that began since the last look, or NOT_KNOWN. */
	uint64_t begun;
	/* The position was the same before and behind. */
	bool steady;
	bool last;
};

int
hwtdi_look_init(struct hwtdi_look_ring *ring, struct hwtd_context *ctx,
    uint64_t size, enum hwtdi_look_kind kind, struct hwtd_error *err)
{
	memset(ring, 0, sizeof(*ring));
	if (kind < HWTDI_LOOK_RESTARTS || kind > HWTDI_LOOK_LIVE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no kind of ring has number %d", (int)kind));
	if (size == 0 || size % PAGE != 0 || size > SIZE_MAX / 2)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a ring of %llu bytes: give a multiple of 4096",
		    (unsigned long long)size));
	ring->ctx = ctx;
	ring->size = size;
	ring->kind = kind;
	ring->state = HWTDI_LOOK_OFF;
	ring->sure = true;
	ring->begins = true;
	ring->clean = true;
	ring->held = hwtdi_zalloc(ctx, size);
	ring->now = hwtdi_alloc(ctx, size);
	if (ring->held == NULL || ring->now == NULL) {
		hwtdi_look_fini(ring);
		return (hwtdi_fail_nomem(err, size));
	}
	return (HWTD_OK);
}

void
hwtdi_look_fini(struct hwtdi_look_ring *ring)
{
	if (ring->held != NULL)
		hwtdi_free(ring->ctx, ring->held, ring->size);
	if (ring->now != NULL)
		hwtdi_free(ring->ctx, ring->now, ring->size);
	memset(ring, 0, sizeof(*ring));
}

void
hwtdi_look_read(struct hwtdi_look_ring *ring, const void *mapped)
{
	const volatile uint64_t *from = mapped;

	for (size_t i = 0; i < 2; i++) {
		const uint64_t at = ring->taken[i].at;

		memcpy(ring->held + at, ring->now + at, ring->taken[i].n);
		ring->taken[i].n = 0;
	}
	/* Through volatile, so that no compiler makes other loads of them. */
	for (uint64_t i = 0; i < ring->size; i += sizeof(*from)) {
		const uint64_t word = from[i / sizeof(*from)];

		memcpy(ring->now + i, &word, sizeof(word));
	}
	ring->read = true;
}

static bool
is_same(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t to)
{
	return (memcmp(ring->held + from, ring->now + from, to - from) == 0);
}

/* Behind the last byte of [from, to) that differs, or `from`. */
static uint64_t
end_of_new(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t to)
{
	while (to > from && to - from >= PAGE && is_same(ring, to - PAGE, to))
		to -= PAGE;
	while (to > from && ring->held[to - 1] == ring->now[to - 1])
		to--;
	return (to);
}

/* The same for `n` bytes from `from` on, round the end; a distance. */
static uint64_t
reach_of_new(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	const uint64_t straight = ring->size - from;
	uint64_t end;

	if (n > straight) {
		end = end_of_new(ring, 0, n - straight);
		if (end > 0)
			return (straight + end);
		n = straight;
	}
	return (end_of_new(ring, from, from + n) - from);
}

/*
 * How many of `n` bytes from `from` on are new up to the first ones that are not: a
 * writer that runs past the copying leaves a hole in the copy.
 */
static uint64_t
new_in_a_row(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	uint64_t same = 0;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at = from < ring->size - i
		    ? from + i
		    : from + i - ring->size;

		same = ring->held[at] == ring->now[at] ? same + 1 : 0;
		if (same == HOLE)
			return (i + 1 - HOLE);
	}
	return (n);
}

static uint64_t
distance(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t to)
{
	return (to >= from ? to - from : ring->size - from + to);
}

static uint64_t
move(const struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	return (n < ring->size - from ? from + n : n - (ring->size - from));
}

/* The piece, which the caller says more about; NULL: nothing. */
static struct hwtdi_look_piece *
hand_out(struct look *look, const uint8_t *copy, uint64_t from, uint64_t to)
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

/* [0, to) of the newest copy is what the next look compares with. */
static void
take(struct hwtdi_look_ring *ring, uint64_t to)
{
	ring->taken[0].at = 0;
	ring->taken[0].n = to;
}

/* The same for `n` bytes from `from` on, round the end. */
static void
take_round(struct hwtdi_look_ring *ring, uint64_t from, uint64_t n)
{
	const uint64_t straight = ring->size - from;

	ring->taken[0].at = from;
	ring->taken[0].n = n < straight ? n : straight;
	ring->taken[1].at = 0;
	ring->taken[1].n = n > straight ? n - straight : 0;
}

/* `n` bytes from `from` on, which go round the end; said of the first one. */
static void
hand_out_round(struct look *look, uint64_t from, uint64_t n, bool joins,
    uint32_t why)
{
	struct hwtdi_look_ring *ring = look->ring;
	const uint64_t straight = ring->size - from;
	struct hwtdi_look_piece *piece;

	if (n == 0)
		return;
	piece = hand_out(look, ring->now, from,
	    n < straight ? from + n : ring->size);
	piece->joins = joins;
	piece->why = why;
	if (n > straight)
		hand_out(look, ring->now, 0, n - straight)->joins = true;
	take_round(ring, from, n);
}

/*
 * Whether records of interrupts fit one way from the last position to this one.
 * Records come late: first ones may be of what the looks before had.
 */
static bool
records_fit(const struct look *look, uint64_t from, uint64_t n)
{
	const struct hwtdi_look_ring *ring = look->ring;
	const uint64_t earlier = distance(ring, ring->position_before, from);
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
		    distance(ring, ring->position_before,
			record % ring->size) <= earlier)
			continue;
		late = false;
		sum += distance(ring, at, record % ring->size);
		at = record % ring->size;
		if (sum > n + look->ahead)
			return (false);
	}
	return (true);
}

/*
 * A position of the same offset in its page, as content has it: what is new ends
 * `reach` behind `from`.  The writer stopped there, or somewhat behind it.
 * NOT_KNOWN: there is none.
 */
static uint64_t
position_by_content(const struct look *look, uint64_t from, uint64_t reach)
{
	const uint64_t end = move(look->ring, from, reach);
	/* What the page of the end lacks to that offset, and has beyond it. */
	const uint64_t lacks = (look->told % PAGE + PAGE - end % PAGE) % PAGE;
	const uint64_t beyond = lacks == 0 ? 0 : PAGE - lacks;

	if (reach == 0)
		return (NOT_KNOWN);
	if (look->exact)
		return (lacks <= CHANCE && reach + lacks <= look->ring->size
			? reach + lacks
			: NOT_KNOWN);
	return (beyond < reach ? reach - beyond : NOT_KNOWN);
}

/*
 * What cannot be the position of a writer whose new bytes end `reach` behind the
 * last one, and are fewer than the ring (`less`).
 */
static bool
is_doubtful(const struct look *look, uint64_t n, uint64_t reach, bool less)
{
	/* What a wrong page comes to can be near by chance. */
	const uint64_t near = look->ring->pages ? NEAR
	    : look->exact			? CHANCE
						: 0;

	if (look->told > look->ring->size ||
	    (less && look->ring->broken && look->told < PAGE &&
		look->ring->kind == HWTDI_LOOK_ROUND && !look->exact))
		return (true);
	/* Where all is new no byte contradicts a page that is always the first. */
	if (!less && look->told < PAGE && look->ring->size > PAGE &&
	    !look->ring->pages && look->ring->kind != HWTDI_LOOK_LIVE)
		return (true);
	return (less && look->ring->kind != HWTDI_LOOK_LIVE &&
	    ((n > reach + near &&
		 (n > look->ring->untold || !look->ring->pages)) ||
		reach > n + look->beyond + CHANCE));
}

/*
 * How many bytes are new where the position cannot be.  False: nobody knows where
 * the oldest one lies.
 */
static bool
correct(struct look *look, uint64_t from, uint64_t reach, bool less,
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
		reach = new_in_a_row(look->ring, from, reach);
	found = position_by_content(look, from, reach);
	/* What is new may have been overwritten while it was copied. */
	if (!look->steady)
		found = NOT_KNOWN;
	/* Nothing up to there is told from what was before. */
	if (found == NOT_KNOWN && !look->exact)
		found = 0;
	out->position_unknown = found == NOT_KNOWN && reach > 0;
	*n = found == NOT_KNOWN ? reach : found;
	return (true);
}

/* More than a ring is new, or bytes were overwritten while they were copied. */
static void
hand_out_rest(struct look *look, uint64_t from, uint64_t n, bool more)
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
	hand_out_round(look,
	    move(look->ring, move(look->ring, from, n), start), size - start,
	    false, HWTD_EXTENT_AFTER_LOSS);
	/*
	 * What was lost does not come again either.  Behind the position there
	 * may be bytes of the writer, which the next look cannot tell as new.
	 */
	take_round(look->ring, from, size);
	look->ring->untold = look->ahead;
}

/*
 * What was held back and was overwritten since: the bytes that are of one slice
 * for sure are handed out from the copy of the last look.
 */
static void
give_up_held(struct look *look)
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
	piece = hand_out(look, ring->held, from, ring->position);
	piece->older = true;
}

/*
 * Whether the newest slice may have gone round since the last look: the end of the
 * ring was written, or had been when that look was made.
 */
static bool
may_have_turned(const struct hwtdi_look_ring *ring)
{
	return (!is_same(ring, ring->size - ALIKE, ring->size) ||
	    ring->placeless || ring->untold > ring->size - ring->position);
}

/* Behind the last new byte, or the last one before a hole. */
static uint64_t
end_of_all_new(const struct look *look)
{
	const uint64_t end = end_of_new(look->ring, 0, look->ring->size);

	return (look->exact || look->last ? end
					  : new_in_a_row(look->ring, 0, end));
}

/* No page of the position fits: nobody knows where slices begin in what is new. */
static void
look_without_position(struct look *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	const uint64_t end = end_of_all_new(look);
	struct hwtdi_look_piece *piece;

	look->out->position_unknown = true;
	look->out->lost = true;
	give_up_held(look);
	piece = hand_out(look, ring->now, 0, end);
	if (piece != NULL)
		piece->mixed = true;
	take(ring, ring->size);
	ring->position = ring->given = end;
	ring->adjoins = false;
	ring->sure = false;
	ring->begins = false;
	ring->clean = true;
	ring->placeless = true;
	ring->untold = 0;
	look->out->position = end;
}

/* The ring belongs to one writer, whose last byte was the one before `from`. */
static void
look_round(struct look *look, uint64_t from, bool joins, uint32_t why)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look *out = look->out;
	const uint64_t size = ring->size;
	const uint64_t reach = reach_of_new(ring, from, size);
	/* Bytes that would be overwritten last are there still. */
	const bool less = reach + ALIKE <= size;
	uint64_t n = look->told > size
	    ? 0
	    : distance(ring, from, look->told % size);

	/* A slice fills the ring to its end. */
	if (look->told == size && from == 0 && reach > size / 2)
		n = size;
	if (is_doubtful(look, n, reach, less)) {
		if (!correct(look, from, reach, less, &n)) {
			if (look->last || ring->kind == HWTDI_LOOK_RESTARTS)
				look_without_position(look);
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
	if (less && look->ahead <= size - n) {
		const bool fit = records_fit(look, from, n);

		out->wrapped = from + n > size;
		out->lost = !fit;
		hand_out_round(look, from, n, joins && fit,
		    fit ? why : HWTD_EXTENT_AFTER_LOSS);
	} else
		hand_out_rest(look, from, n,
		    !less &&
			(reach > n + look->beyond ||
			    !records_fit(look, from, n)));
	ring->position_before = from;
	ring->position = move(ring, from, n);
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

/*
 * Slices that wrote behind the position of the newest one, besides that: NOT_KNOWN
 * if nobody knows.
 */
static uint64_t
others(const struct look *look)
{
	const struct hwtdi_look_ring *ring = look->ring;

	if (look->begun == NOT_KNOWN || !ring->clean || look->begun == 0)
		return (NOT_KNOWN);
	return (look->begun - 1 + (ring->state == HWTDI_LOOK_OFF ? 0 : 1));
}

/* What slices left over behind the newest one, which is [0, to). */
static void
hand_out_older(struct look *look, uint64_t to, bool turned)
{
	struct hwtdi_look_ring *ring = look->ring;
	const uint64_t last = ring->position, n = others(look);
	const bool mixed = n != 1 || turned;
	uint64_t from = to;
	struct hwtdi_look_piece *piece;

	/* What the last look had and is there still does not come again. */
	if (to < last) {
		const uint64_t end = end_of_new(ring, to, last);

		if (end < last) {
			piece = hand_out(look, ring->now, to, end);
			if (piece != NULL) {
				piece->older = true;
				piece->mixed = mixed;
			}
			from = last;
		}
	}
	piece = hand_out(look, ring->now, from,
	    end_of_new(ring, from, ring->size));
	if (piece == NULL)
		return;
	piece->older = true;
	piece->mixed = mixed;
	/* The slice of the last look went on, and there was no other one. */
	piece->joins = !mixed && look->begun == 1 && ring->sure &&
	    ring->adjoins && from == last && look->out->n_pieces == 1;
}

/* The position is that of the newest slice, others may have been before it. */
static void
look_slices(struct look *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look *out = look->out;
	const uint64_t size = ring->size, last = ring->position;
	const bool turned = may_have_turned(ring);
	const uint64_t end = end_of_all_new(look);
	uint64_t to = look->told, torn = 0;
	bool guessed = false, came = true;
	struct hwtdi_look_piece *piece;

	if ((to > size || (ring->broken && to < PAGE)) && end == 0 &&
	    to % PAGE == last % PAGE) {
		/* Nothing came. */
		out->position_doubted = true;
		to = last;
	} else if (to > size ||
	    (ring->broken && to < PAGE && end > to + CHANCE)) {
		/* What ends with the ring may go on at its start. */
		const uint64_t found = turned
		    ? NOT_KNOWN
		    : position_by_content(look, 0, end);

		out->position_doubted = true;
		if (found == NOT_KNOWN && to > size) {
			ring->broken = true;
			look_without_position(look);
			return;
		}
		if (found != NOT_KNOWN) {
			/* What ends there may be what another slice left. */
			guessed = others(look) != 0;
			to = found;
			ring->broken = true;
		}
	}
	/* The position may be at the end of the ring, and the writer behind it. */
	if (!look->exact && turned && !ring->pages && to < PAGE &&
	    size > PAGE) {
		out->position_doubted = true;
		look_without_position(look);
		return;
	}
	/* What the slice overwrote meanwhile, if it went round. */
	if (look->ahead > size - to)
		torn = look->ahead - (size - to);
	out->position = to;
	if (last > 0 && to >= last &&
	    (torn >= last || is_same(ring, torn, last)) &&
	    (look->begun == NOT_KNOWN || look->begun == 0)) {
		out->alike = look->begun == NOT_KNOWN;
		came = to > ring->given;
		piece = hand_out(look, ring->now,
		    torn > ring->given ? torn : ring->given, to);
		if (piece != NULL) {
			piece->joins = ring->given > 0 && ring->adjoins &&
			    !guessed && torn <= ring->given;
			if (ring->given == 0 && ring->begins && !guessed &&
			    torn == 0)
				piece->why = HWTD_EXTENT_NEW;
			piece->mixed = guessed;
		}
		ring->clean = false;
		take(ring, to);
	} else {
		out->restarted = look->begun != 0;
		out->wrapped = look->begun == 0;
		give_up_held(look);
		if (look->exact && !guessed)
			hand_out_older(look, to, turned);
		piece = hand_out(look, ring->now, torn, to);
		if (piece != NULL) {
			piece->mixed = guessed;
			if (look->begun != 0 && !turned && !guessed &&
			    torn == 0)
				piece->why = HWTD_EXTENT_NEW;
		}
		ring->clean = look->exact && !guessed;
		take(ring, ring->clean ? size : to);
		ring->begins = true;
	}
	if (came)
		ring->adjoins = piece != NULL && !guessed;
	ring->position = ring->given = to;
	if (look->exact || out->restarted)
		ring->untold = 0;
	if (look->exact)
		ring->placeless = false;
	ring->sure = true;
}

/*
 * From where on bytes up to the position are of one slice, though another one may
 * have overwritten the first ones, and were not handed out before: their last one
 * is new.
 */
static uint64_t
start_of_firm(const struct look *look)
{
	const struct hwtdi_look_ring *ring = look->ring;
	const uint64_t last = ring->position, to = look->told;

	if (!look->steady || ring->broken || to <= SLACK ||
	    is_same(ring, to - 1, to))
		return (to);
	if (last > SLACK && last < to && is_same(ring, last - 1, last))
		return (last);
	return (SLACK);
}

/* Nobody knows whether the position is that of the newest slice. */
static void
look_torn(struct look *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	struct hwtdi_look *out = look->out;
	const uint64_t size = ring->size, last = ring->position;
	const uint64_t to = look->told;
	struct hwtdi_look_piece *piece;

	ring->clean = false;
	out->position = to;
	if (to > size) {
		out->position_doubted = true;
		out->position = last;
		ring->broken = true;
		return;
	}
	/* It began anew with the same bytes, or the page is wrong. */
	if (to < last && is_same(ring, 0, last)) {
		out->position = last;
		out->alike = true;
		out->held_bytes = last - ring->given;
		ring->sure = false;
		return;
	}
	if (to >= last && is_same(ring, 0, last)) {
		out->alike = last > 0;
		/* It was written up to here by one slice, unless nothing moved. */
		if (to > last) {
			piece = hand_out(look, ring->now, ring->given, last);
			if (piece != NULL) {
				piece->joins = ring->given > 0 &&
				    ring->adjoins;
				if (ring->given == 0 && ring->begins)
					piece->why = HWTD_EXTENT_NEW;
				ring->adjoins = true;
			}
			if (last == 0)
				ring->begins = !may_have_turned(ring);
			ring->given = last;
			ring->firm = start_of_firm(look);
		}
	} else {
		out->restarted = true;
		give_up_held(look);
		ring->firm = start_of_firm(look);
		ring->begins = !may_have_turned(ring);
		ring->untold = 0;
		ring->given = 0;
	}
	take(ring, to);
	ring->position = to;
	ring->sure = false;
	out->held_bytes = to - ring->given;
}

/* A slice began, and there was no interrupt of it yet. */
static void
await_interrupt(struct look *look)
{
	struct hwtdi_look_ring *ring = look->ring;

	look->out->restarted = !ring->waits;
	look->out->position = 0;
	give_up_held(look);
	ring->position = ring->position_before = ring->given = 0;
	ring->adjoins = ring->sure = false;
	ring->waits = true;
}

static void
look_restarts(struct look *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	/* It goes on, or began and nobody else wrote. */
	const bool same = look->begun == 0 && ring->sure;
	const bool first = (look->begun == 0 && ring->waits) ||
	    (look->begun == 1 && ring->state == HWTDI_LOOK_OFF && ring->sure);
	bool sure = look->exact;

	if (look->begun != NOT_KNOWN) {
		look->out->missed_known = true;
		look->out->missed = look->begun > 1 ? look->begun - 1 : 0;
	}
	/* Without a switch-out only an interrupt of this slice changes it. */
	if (look->state == HWTDI_LOOK_ON && look->begun != NOT_KNOWN &&
	    look->hints->switches == 0) {
		if (first && look->told == ring->told) {
			await_interrupt(look);
			return;
		}
		sure = same || look->told != ring->told;
	}
	ring->waits = false;
	if (!sure)
		look_torn(look);
	else if (same && ring->clean)
		look_round(look, ring->position % ring->size,
		    ring->adjoins && ring->position > 0,
		    ring->position > 0 ? HWTD_EXTENT_AFTER_LOSS
				       : HWTD_EXTENT_NEW);
	else if (first && ring->clean) {
		look->out->restarted = look->begun == 1;
		ring->position = ring->position_before = ring->given = 0;
		ring->adjoins = false;
		ring->begins = true;
		look_round(look, 0, false, HWTD_EXTENT_NEW);
	} else
		look_slices(look);
}

/* How far behind a position the writer may be, once the copy is made. */
static uint64_t
way_of_writer(const struct hwtdi_look_ring *ring,
    const struct hwtdi_look_told *told)
{
	const uint64_t slack = ring->kind == HWTDI_LOOK_LIVE ? 0 : SLACK;
	const bool valid = told->before <= ring->size &&
	    told->after <= ring->size;

	if (told->before == told->after)
		return (slack);
	if (ring->kind != HWTDI_LOOK_LIVE && (!ring->pages || !valid))
		return (slack + PAGE);
	if (!valid)
		return (ring->size);
	return (slack +
	    distance(ring, told->before % ring->size,
		told->after % ring->size));
}

/* A page that is not the first one shows that they are right. */
static void
learn_pages(struct look *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	const struct hwtdi_look_hints *hints = look->hints;

	ring->pages = ring->pages ||
	    (look->told >= PAGE && look->told <= ring->size);
	for (size_t i = 0; !ring->pages && i < hints->n_records; i++)
		ring->pages = hints->records[i] >= PAGE &&
		    hints->records[i] <= ring->size;
}

static void
find(struct look *look, const struct hwtdi_look_told *told)
{
	struct hwtdi_look_ring *ring = look->ring;
	const struct hwtdi_look_hints *hints = look->hints;
	const uint64_t on = look->state == HWTDI_LOOK_ON;
	const uint64_t was_on = ring->state == HWTDI_LOOK_ON;

	memset(look->out, 0, sizeof(*look->out));
	look->out->position = ring->position;
	if (!ring->read)
		return;
	ring->read = false;
	look->told = told->before;
	learn_pages(look);
	look->steady = told->before == told->after;
	look->begun = NOT_KNOWN;
	if (hints->switches_known && look->state != HWTDI_LOOK_UNKNOWN &&
	    ring->state != HWTDI_LOOK_UNKNOWN &&
	    hints->switches < NOT_KNOWN - on && hints->switches + on >= was_on)
		look->begun = hints->switches + on - was_on;
	/* Of the last look content says how far the writer came, if it can. */
	if (!look->exact)
		look->ahead = !look->last ? way_of_writer(ring, told)
		    : ring->untold > 0	  ? SLACK
					  : 0;
	if (!look->exact)
		look->beyond = look->last ? SLACK : look->ahead;
	if (ring->kind == HWTDI_LOOK_RESTARTS)
		look_restarts(look);
	else
		look_round(look, ring->position, ring->adjoins,
		    ring->begins ? HWTD_EXTENT_NEW : HWTD_EXTENT_AFTER_LOSS);
	/* Then nobody knows how far beyond the last interrupt the writer came. */
	if (look->last && look->ahead > 0)
		look->out->lost = true;
	ring->state = look->state;
	ring->told = told->after;
}

static const struct hwtdi_look_hints nothing_known;

void
hwtdi_look_find(struct hwtdi_look_ring *ring,
    const struct hwtdi_look_told *told, const struct hwtdi_look_hints *hints,
    struct hwtdi_look *out)
{
	struct look look = {
		.ring = ring,
		.hints = hints != NULL ? hints : &nothing_known,
		.out = out,
	};

	/* Not off if the position changed, nor if the number is no state. */
	look.state = look.hints->state;
	if (look.state > HWTDI_LOOK_ON ||
	    (look.state == HWTDI_LOOK_OFF && told->before != told->after))
		look.state = HWTDI_LOOK_UNKNOWN;
	look.exact = look.state == HWTDI_LOOK_OFF;
	find(&look, told);
}

void
hwtdi_look_last(struct hwtdi_look_ring *ring, uint64_t told,
    const struct hwtdi_look_hints *hints, struct hwtdi_look *out)
{
	const struct hwtdi_look_told both = { told, told };
	struct look look = {
		.ring = ring,
		.hints = hints != NULL ? hints : &nothing_known,
		.out = out,
		.state = HWTDI_LOOK_OFF,
		.last = true,
	};

	/* Nobody says that tracing of a CPU ended with a new position. */
	look.exact = ring->kind != HWTDI_LOOK_ROUND ||
	    look.hints->state == HWTDI_LOOK_OFF;
	find(&look, &both);
}
