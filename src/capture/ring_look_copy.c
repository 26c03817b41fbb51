/*
 * Copying what a ring of hwt(4) has: only what may have been written since the
 * last copy, because its memory is not cached.
 *
 * Who writes enters a page at its first byte, and leaves it at its last one.  So
 * pages are read from where the writer was on, until one is as it was: it never
 * came further.  A slice that begins anew enters the ring at 0; where one may have,
 * all that its position tells is read as well.  In the other pages probes are
 * read: the first bytes, and others that change with each copy, should what is
 * written be alike.  Where one differs, pages are read up to there from those that
 * were, and on from there.
 *
 * Reading goes the way of the writer, so that what is new in the copy has no holes,
 * and looks last at what a writer that went round overwrites last.
 */
#include <string.h>

#include "capture/ring_look_internal.h"

/* Bytes of a probe. */
#define PROBE ((uint64_t)32)
/* Where the writer was, behind bytes that may not have arrived yet. */
#define BEHIND ((uint64_t)256)

/* Marks of pages: differs from `held`; was read as a whole. */
#define CHANGED 1u
#define WHOLE 2u

void
hwtdi_look_copy(void *to, const void *mapped, uint64_t n)
{
	/* Through volatile, so that no compiler makes other loads of them. */
	const volatile uint64_t *from = mapped;
	uint8_t *at = to;

	for (uint64_t i = 0; i < n; i += sizeof(*from)) {
		const uint64_t word = from[i / sizeof(*from)];

		memcpy(at + i, &word, sizeof(word));
	}
}

bool
hwtdi_look_changed(const struct hwtdi_look_ring *ring, uint64_t at)
{
	return ((ring->marks[at / LOOK_PAGE] & CHANGED) != 0);
}

static void
mark(struct hwtdi_look_ring *ring, uint64_t page)
{
	const uint64_t at = page * LOOK_PAGE;

	ring->marks[page] &= (uint8_t)~CHANGED;
	if (memcmp(ring->held + at, ring->now + at, LOOK_PAGE) != 0)
		ring->marks[page] |= CHANGED;
}

/* What the last look took is what this one compares with. */
static void
settle(struct hwtdi_look_ring *ring)
{
	for (size_t i = 0; i < 2; i++) {
		uint64_t at = ring->taken[i].at, n = ring->taken[i].n;

		while (n > 0) {
			uint64_t part = LOOK_PAGE - at % LOOK_PAGE;

			part = part < n ? part : n;
			if (hwtdi_look_changed(ring, at)) {
				memcpy(ring->held + at, ring->now + at, part);
				mark(ring, at / LOOK_PAGE);
			}
			at += part;
			n -= part;
		}
		ring->taken[i].n = 0;
	}
}

/* A copy at work. */
struct reading {
	struct hwtdi_look_ring *ring;
	const uint8_t *mapped;
	/* Pages of the ring. */
	uint64_t pages;
};

static void
get(struct reading *r, void *to, uint64_t at, uint64_t n)
{
	r->ring->copy(to, r->mapped + at, n);
	r->ring->bytes_read += n;
}

/* Bytes of one page; whether they are not as they were. */
static bool
update(struct reading *r, uint64_t at, uint64_t n)
{
	struct hwtdi_look_ring *ring = r->ring;
	_Alignas(8) uint8_t bytes[LOOK_PAGE];

	get(r, bytes, at, n);
	if (memcmp(bytes, ring->now + at, n) == 0)
		return (false);
	memcpy(ring->now + at, bytes, n);
	mark(ring, at / LOOK_PAGE);
	return (true);
}

static bool
update_page(struct reading *r, uint64_t page)
{
	r->ring->marks[page] |= WHOLE;
	return (update(r, page * LOOK_PAGE, LOOK_PAGE));
}

static bool
is_whole(const struct reading *r, uint64_t page)
{
	return ((r->ring->marks[page] & WHOLE) != 0);
}

/* Pages from one on, `least` of them, until one is as it was; the next one. */
static uint64_t
read_pages(struct reading *r, uint64_t page, uint64_t least)
{
	bool changed = true;
	uint64_t n = 0;

	while (n < r->pages && (n < least || changed)) {
		changed = is_whole(r, page) || update_page(r, page);
		page = page + 1 < r->pages ? page + 1 : 0;
		n++;
	}
	return (page);
}

static bool
is_probe_new(struct reading *r, uint64_t page, uint64_t in)
{
	const uint64_t at = page * LOOK_PAGE + in;
	_Alignas(8) uint8_t bytes[PROBE];

	get(r, bytes, at, PROBE);
	return (memcmp(bytes, r->ring->now + at, PROBE) != 0);
}

/* All pages that were not read, from one on. */
static void
probe_pages(struct reading *r, uint64_t page)
{
	struct hwtdi_look_ring *ring = r->ring;
	const uint64_t in = PROBE +
	    PROBE * (ring->probes++ % (LOOK_PAGE / PROBE - 1));
	/* Pages before this one that were probed only. */
	uint64_t probed = 0;
	bool follow = false;

	for (uint64_t i = 0; i < r->pages; i++) {
		if (is_whole(r, page)) {
			probed = 0;
			follow = false;
		} else if (follow) {
			follow = update_page(r, page);
			probed = 0;
		} else if (is_probe_new(r, page, 0) ||
		    is_probe_new(r, page, in)) {
			/* Who came here wrote those before as well. */
			for (uint64_t k = probed; k > 0; k--)
				update_page(r,
				    (page + r->pages - k) % r->pages);
			follow = update_page(r, page);
			probed = 0;
		} else
			probed++;
		page = page + 1 < r->pages ? page + 1 : 0;
	}
}

/* The bytes before a place, round the end, once more. */
static void
update_before(struct reading *r, uint64_t place)
{
	const uint64_t size = r->ring->size;
	const uint64_t end = place % 8 == 0 ? place : place + 8 - place % 8;
	const uint64_t begin = end >= PROBE ? end - PROBE : 0;

	if (begin / LOOK_PAGE < (end - (end > 0)) / LOOK_PAGE) {
		update(r, begin, end - end % LOOK_PAGE - begin);
		update(r, end - end % LOOK_PAGE, end % LOOK_PAGE);
	} else if (begin < end)
		update(r, begin, end - begin);
	if (end < PROBE)
		update(r, size - PROBE, PROBE);
}

static void
read_all(struct reading *r, uint64_t page)
{
	for (uint64_t i = 0; i < r->pages; i++)
		update_page(r, (page + i) % r->pages);
}

/* A position that says where the writer is, as far as is known. */
static bool
is_usable(const struct hwtdi_look_ring *ring, uint64_t told)
{
	return (told <= ring->size &&
	    (ring->kind == HWTDI_LOOK_LIVE ||
		(!ring->broken && (ring->pages || told >= LOOK_PAGE))));
}

/* No slice began since the last look, as far as is known before the copying. */
static bool
goes_on(const struct hwtdi_look_ring *ring,
    const struct hwtdi_look_hints *before)
{
	const uint64_t on = before->state == HWTDI_LOOK_ON;
	const uint64_t was_on = ring->state == HWTDI_LOOK_ON;

	return (before->switches_known && ring->sure &&
	    before->state != HWTDI_LOOK_UNKNOWN &&
	    before->state <= HWTDI_LOOK_ON &&
	    ring->state != HWTDI_LOOK_UNKNOWN && before->switches <= 1 &&
	    before->switches + on == was_on);
}

static uint64_t
pages_of(uint64_t bytes)
{
	return ((bytes + LOOK_PAGE - 1) / LOOK_PAGE);
}

/* How many pages from one on, round the end, have bytes that were not taken. */
static uint64_t
changed_pages(const struct reading *r, uint64_t page)
{
	uint64_t n = r->pages;

	while (n > 0 &&
	    !hwtdi_look_changed(r->ring,
		(page + n - 1) % r->pages * LOOK_PAGE))
		n--;
	return (n);
}

/*
 * From the position of the last look on: the next page.  The writer may be in a
 * page that was entered before, where no probe shows that it went on: then it was
 * read with bytes that were not taken.
 */
static uint64_t
read_on(struct reading *r, uint64_t told, bool usable)
{
	struct hwtdi_look_ring *ring = r->ring;
	const uint64_t position = ring->position % ring->size;
	const uint64_t page = position / LOOK_PAGE;
	const uint64_t changed = changed_pages(r, page);
	uint64_t n = ring->untold, least;

	if (ring->only && usable)
		n += hwtdi_look_distance(ring, position, told % ring->size) +
		    LOOK_SLACK;
	least = pages_of(position % LOOK_PAGE + n);
	if (ring->only && least < changed)
		least = changed;
	return (read_pages(r, page, least > 0 ? least : 1));
}

/* From the start on, where slices begin: the next page. */
static uint64_t
read_start(struct reading *r, uint64_t told)
{
	struct hwtdi_look_ring *ring = r->ring;
	uint64_t bytes = told <= ring->size && !ring->broken ? told
							     : ring->position;
	uint64_t least, changed;

	if (!ring->sure && bytes < ring->position)
		bytes = ring->position;
	least = pages_of(bytes + LOOK_SLACK);
	/* Of a thread that was off slices only begin. */
	if (ring->state != HWTDI_LOOK_OFF) {
		changed = changed_pages(r, 0);
		least = least > changed ? least : changed;
	}
	return (read_pages(r, 0, least));
}

/* Where bytes lie that are written again when the writer went round. */
static uint64_t
place_behind(const struct hwtdi_look_ring *ring, uint64_t told)
{
	return (hwtdi_look_move(ring, told - told % PROBE,
	    ring->size - BEHIND));
}

/*
 * Positions do not say how far the writer was.  Where it was met by the copying,
 * bytes may be missing, fewer than what tells a hole from bytes that are alike:
 * read it again, now that they are there.
 */
static void
read_again(struct reading *r)
{
	struct hwtdi_look_ring *ring = r->ring;
	const uint64_t position = ring->position % ring->size;
	uint64_t page = position / LOOK_PAGE;

	ring->row = hwtdi_look_row(ring, position, ring->size);
	for (uint64_t n = pages_of(position % LOOK_PAGE + ring->row); n > 0;
	     n--) {
		update_page(r, page);
		page = page + 1 < r->pages ? page + 1 : 0;
	}
}

static void
begin(struct reading *r)
{
	settle(r->ring);
	for (uint64_t i = 0; i < r->pages; i++)
		r->ring->marks[i] &= CHANGED;
	r->ring->bytes_read = 0;
	r->ring->lapped = false;
	r->ring->read = true;
}

void
hwtdi_look_read(struct hwtdi_look_ring *ring, const void *mapped,
    uint64_t told, const struct hwtdi_look_hints *before)
{
	struct reading r = { ring, mapped, ring->size / LOOK_PAGE };
	const bool usable = is_usable(ring, told);
	const uint64_t behind = usable ? place_behind(ring, told) : 0;
	const bool all = ring->whole || ring->placeless;
	const bool round = ring->kind != HWTDI_LOOK_RESTARTS;
	_Alignas(8) uint8_t first[PROBE], again[PROBE];
	uint64_t start, next;

	begin(&r);
	if (usable)
		get(&r, first, behind, PROBE);
	ring->only = !all &&
	    (round || (before != NULL && goes_on(ring, before)));
	ring->whole = false;
	if (all)
		read_all(&r, round ? ring->position / LOOK_PAGE : 0);
	else {
		start = ring->only ? 0 : read_start(&r, told);
		next = read_on(&r, told, usable);
		probe_pages(&r, ring->only ? next : start);
	}
	ring->row = UINT64_MAX;
	if (ring->kind == HWTDI_LOOK_ROUND && !usable)
		read_again(&r);
	update_before(&r, ring->position);
	if (usable) {
		get(&r, again, behind, PROBE);
		ring->lapped = memcmp(first, again, PROBE) != 0;
	}
	ring->watched = usable;
}

void
hwtdi_look_read_all(struct hwtdi_look_ring *ring, const void *mapped,
    uint64_t told)
{
	ring->whole = true;
	hwtdi_look_read(ring, mapped, told, NULL);
}
