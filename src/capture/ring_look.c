/*
 * What is new in a ring of hwt(4).
 *
 * `held` is what the looks before came to: bytes that were handed out or are held
 * back, as they were; what was never taken is there as it was before.  So bytes
 * that differ between it and the newest copy were written since and not handed out.
 *
 * One writer (ring_look_round.c).  Where counts of switches prove that at most one
 * slice wrote since the last look, or where nothing begins anew at all, what
 * differs is of it and lies in order behind the last position.  Fewer bytes than a
 * ring came if the last ones of those that would be overwritten last are as they
 * were.
 *
 * Several slices, of a thread that does not run (ring_look_slices.c).  Bytes up to
 * the position are those of the newest slice.  If they begin with all that the last
 * look had, they are taken to go on where that ended: either it is the same slice,
 * or another one of which the same bytes would have been handed out.  What differs
 * behind the position was left over by slices that nobody saw.
 *
 * Torn looks (hwtdi_look_torn()).  Where the thread may run in another slice than
 * the one that the position is of, the copy begins with bytes of the newer slice,
 * and nothing tells how many.  So it is held back.  When the position goes on
 * behind the copying and the bytes are still there, then a slice wrote all of them,
 * and they are handed out.
 * When it begins anew they are lost, except those more than LOOK_SLACK behind the
 * start: so far no slice comes without an interrupt, which changes the position;
 * this is believed only where the position was the same before and behind the
 * copying.
 * What this cannot see: two slices that take turns, each torn by the other so that
 * the same bytes come out twice.  Only a thread that does not run shows them.
 *
 * A copy in which the writer went round as a whole says nothing: of CPUs and sinks
 * the next look begins with what is in the ring then, of threads it is as if that
 * look had not been (look_void()).
 */
#include "capture/ring_look.h"

#include <hwtdecode/trace.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"
#include "capture/ring_look_internal.h"

int
hwtdi_look_init(struct hwtdi_look_ring *ring, struct hwtd_context *ctx,
    uint64_t size, enum hwtdi_look_kind kind, struct hwtd_error *err)
{
	memset(ring, 0, sizeof(*ring));
	if (kind < HWTDI_LOOK_RESTARTS || kind > HWTDI_LOOK_LIVE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no kind of ring has number %d", (int)kind));
	if (size == 0 || size % LOOK_PAGE != 0 || size > SIZE_MAX / 2)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a ring of %llu bytes: give a multiple of 4096",
		    (unsigned long long)size));
	ring->ctx = ctx;
	ring->size = size;
	ring->kind = kind;
	ring->copy = hwtdi_look_copy;
	ring->state = HWTDI_LOOK_OFF;
	ring->sure = true;
	ring->begins = true;
	ring->clean = true;
	ring->held = hwtdi_zalloc(ctx, size);
	ring->now = hwtdi_zalloc(ctx, size);
	ring->marks = hwtdi_zalloc(ctx, size / LOOK_PAGE);
	if (ring->held == NULL || ring->now == NULL || ring->marks == NULL) {
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
	if (ring->marks != NULL)
		hwtdi_free(ring->ctx, ring->marks, ring->size / LOOK_PAGE);
	memset(ring, 0, sizeof(*ring));
}

/* The slice of the last look went on, and others overwrote what it wrote. */
static bool
is_end_lost(const struct hwtdi_look_work *look)
{
	const struct hwtdi_look *out = look->out;

	if (look->begun == LOOK_NOT_KNOWN || look->begun == 0 ||
	    look->ring->state != HWTDI_LOOK_ON)
		return (false);
	for (size_t i = 0; i < out->n_pieces; i++)
		if (out->pieces[i].older && out->pieces[i].joins)
			return (false);
	return (true);
}

static void
look_restarts(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	/* It goes on, or began and nobody else wrote. */
	const bool same = look->begun == 0 && ring->sure;
	const bool first = (look->begun == 0 && ring->waits) ||
	    (look->begun == 1 && ring->state == HWTDI_LOOK_OFF && ring->sure);
	bool sure = look->exact;

	if (look->begun != LOOK_NOT_KNOWN) {
		look->out->missed_known = true;
		look->out->missed = look->begun > 1 ? look->begun - 1 : 0;
	}
	/* Without a switch-out only an interrupt of this slice changes it. */
	if (look->state == HWTDI_LOOK_ON && look->begun != LOOK_NOT_KNOWN &&
	    look->hints->switches == 0) {
		if (first && look->told == ring->told) {
			hwtdi_look_await(look);
			return;
		}
		sure = same || look->told != ring->told;
	}
	ring->waits = false;
	if (!sure)
		hwtdi_look_torn(look);
	else if (same && ring->clean)
		hwtdi_look_round(look, ring->position % ring->size,
		    ring->adjoins && ring->position > 0,
		    ring->position > 0 || !ring->begins
			? HWTD_EXTENT_AFTER_LOSS
			: HWTD_EXTENT_NEW);
	else if (first && ring->clean) {
		look->out->restarted = look->begun == 1;
		ring->position = ring->position_before = ring->given = 0;
		ring->adjoins = ring->turned = false;
		ring->begins = true;
		hwtdi_look_round(look, 0, false, HWTD_EXTENT_NEW);
	} else
		hwtdi_look_slices(look);
	look->out->lost = look->out->lost || is_end_lost(look);
}

/*
 * The copy is of no use: it lacks what a slice wrote that began meanwhile, or its
 * bytes were overwritten while they were copied.
 */
static void
look_void(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;

	if (!look->last)
		look->out->held_bytes = ring->position - ring->given;
	look->out->lost = ring->lapped || look->last;
	look->state = HWTDI_LOOK_UNKNOWN;
	ring->waits = ring->clean = ring->sure = false;
	ring->whole = true;
}

/* How far behind a position the writer may be, once the copy is made. */
static uint64_t
way_of_writer(const struct hwtdi_look_ring *ring,
    const struct hwtdi_look_told *told)
{
	const uint64_t slack = ring->kind == HWTDI_LOOK_LIVE ? 0 : LOOK_SLACK;
	const bool valid = told->before <= ring->size &&
	    told->after <= ring->size;

	if (told->before == told->after)
		return (slack);
	if (ring->kind != HWTDI_LOOK_LIVE && (!ring->pages || !valid))
		return (slack + LOOK_PAGE);
	if (!valid)
		return (ring->size);
	return (slack +
	    hwtdi_look_distance(ring, told->before % ring->size,
		told->after % ring->size));
}

/* A page that is not the first one shows that they are right. */
static void
learn_pages(struct hwtdi_look_work *look)
{
	struct hwtdi_look_ring *ring = look->ring;
	const struct hwtdi_look_hints *hints = look->hints;
	bool right = look->told >= LOOK_PAGE && look->told <= ring->size;

	for (size_t i = 0; !right && i < hints->n_records; i++)
		right = hints->records[i] >= LOOK_PAGE &&
		    hints->records[i] <= ring->size;
	ring->pages = ring->pages || right;
	/* It was content that was alike. */
	ring->broken = ring->broken && !right;
}

static void
find(struct hwtdi_look_work *look, const struct hwtdi_look_told *told)
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
	look->begun = LOOK_NOT_KNOWN;
	if (hints->switches_known && look->state != HWTDI_LOOK_UNKNOWN &&
	    ring->state != HWTDI_LOOK_UNKNOWN &&
	    hints->switches < LOOK_NOT_KNOWN - on &&
	    hints->switches + on >= was_on)
		look->begun = hints->switches + on - was_on;
	/* Of the last look content says how far the writer came, if it can. */
	if (!look->exact)
		look->ahead = !look->last ? way_of_writer(ring, told)
		    : ring->untold > 0	  ? LOOK_SLACK
					  : 0;
	if (!look->exact)
		look->beyond = look->last ? LOOK_SLACK : look->ahead;
	if (ring->kind == HWTDI_LOOK_RESTARTS &&
	    (ring->lapped || (ring->only && look->begun != 0)))
		look_void(look);
	else if (ring->kind == HWTDI_LOOK_RESTARTS)
		look_restarts(look);
	else
		hwtdi_look_round(look, ring->position, ring->adjoins,
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
	struct hwtdi_look_work look = {
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
	struct hwtdi_look_work look = {
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
