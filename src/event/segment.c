/*
 * Cutting a stream into segments that decode on their own.
 */
#include "event/segment.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "event/cursor.h"

/* Bytes of a slot to look at first; a sync point mostly is near its start. */
#define FIRST_LOOK 65536

/* A sync point that began up to so many bytes before a slot is no cut of it. */
#define SYNC_BYTES 15

int
hwtdi_segments_init(struct hwtdi_segments *s, const struct hwtd_trace *trace,
    const struct hwtdi_engine *engine, uint32_t stream, struct hwtd_error *err)
{
	memset(s, 0, sizeof(*s));
	s->trace = trace;
	s->engine = engine;
	s->stream = stream;
	s->slot_bytes = HWTDI_SLOT_BYTES;
	return (hwtdi_window_create(trace, stream, &s->window, err));
}

void
hwtdi_segments_fini(struct hwtdi_segments *s)
{
	hwtdi_window_destroy(s->window);
	s->window = NULL;
}

bool
hwtdi_segments_at_cut(const struct hwtdi_segments *s)
{
	return (s->known && !s->damaged && s->at > s->extent.start &&
	    s->at < s->extent.end);
}

void
hwtdi_segments_go(struct hwtdi_segments *s, const struct hwtdi_segments *to)
{
	struct hwtdi_window *window = s->window;

	*s = *to;
	s->window = window;
}

void
hwtdi_segments_rewind(struct hwtdi_segments *s)
{
	s->extent_no = 0;
	s->known = false;
	s->damaged = false;
}

/* Where the file is damaged that bytes of the stream are missing. */
static void
add_file_range(const struct hwtdi_segments *s, struct hwtd_gap *gap)
{
	const struct hwtd_damage *d = hwtdi_trace_find_damage(s->trace,
	    s->stream, gap->first);

	if (d == NULL)
		return;
	hwtdi_gap_set_file(gap, d);
	(void)snprintf(gap->text, sizeof(gap->text), "%.63s", d->text);
}

static void
extent_gap(const struct hwtdi_segments *s, const struct hwtd_extent *before,
    const struct hwtd_extent *now, struct hwtdi_part *out)
{
	struct hwtd_gap *gap = &out->gap;

	out->kind = HWTDI_PART_GAP;
	memset(gap, 0, sizeof(*gap));
	gap->first = before != NULL ? before->end : 0;
	gap->end = now->start;
	if (now->why == HWTD_EXTENT_AFTER_DAMAGE) {
		gap->reason = HWTD_GAP_FILE_DAMAGED;
		(void)snprintf(gap->text, sizeof(gap->text),
		    "chunks of the file are damaged or missing");
		add_file_range(s, gap);
	} else {
		gap->reason = HWTD_GAP_TRUNCATED;
		(void)snprintf(gap->text, sizeof(gap->text),
		    "the collector lost data here");
	}
}

/* Look up the extent at hand.  A gap before it is a part of its own. */
static bool
enter_extent(struct hwtdi_segments *s, struct hwtdi_part *out)
{
	struct hwtd_extent before = { .size = sizeof(before) };
	bool first = s->extent_no == 0 ||
	    hwtd_trace_extent(s->trace, s->stream, s->extent_no - 1,
		&before) != HWTD_OK;

	s->extent.size = sizeof(s->extent);
	if (hwtd_trace_extent(s->trace, s->stream, s->extent_no, &s->extent) !=
	    HWTD_OK) {
		out->kind = HWTDI_PART_END;
		return (false);
	}
	s->known = true;
	s->at = s->extent.start;
	if (s->extent.why == HWTD_EXTENT_NEW &&
	    s->extent.start == (first ? 0 : before.end))
		return (true);
	extent_gap(s, first ? NULL : &before, &s->extent, out);
	return (false);
}

static void
damage_gap(struct hwtdi_segments *s, struct hwtdi_part *out)
{
	struct hwtd_gap *gap = &out->gap;

	out->kind = HWTDI_PART_GAP;
	memset(gap, 0, sizeof(*gap));
	gap->reason = HWTD_GAP_FILE_DAMAGED;
	gap->first = s->damage.first;
	gap->end = s->damage.end;
	hwtdi_gap_set_file(gap, &s->damage);
	(void)snprintf(gap->text, sizeof(gap->text), "%.63s", s->damage.text);
	s->at = s->damage.end;
	s->damaged = false;
}

/*
 * See [off, off + n).  Where that is damaged, *n_inout becomes less, and the
 * damage is the next part.
 */
static int
see(struct hwtdi_segments *s, uint64_t off, size_t *n_inout,
    const uint8_t **bytes_out, bool *cut_off, struct hwtd_error *err)
{
	struct hwtd_damage damage;
	int rc;

	*cut_off = false;
	for (;;) {
		memset(&damage, 0, sizeof(damage));
		damage.size = sizeof(damage);
		rc = hwtdi_window_see(s->window, off, *n_inout, bytes_out,
		    &damage, err);
		if (rc != HWTD_E_CORRUPT)
			return (rc);
		/* Never trust it to lie in the range: no progress otherwise. */
		if (damage.first < off)
			damage.first = off;
		if (damage.first - off >= *n_inout || damage.end <= off)
			return (rc);
		if (damage.end > s->extent.end)
			damage.end = s->extent.end;
		s->damage = damage;
		*cut_off = true;
		*n_inout = (size_t)(damage.first - off);
		if (*n_inout == 0)
			return (HWTD_OK);
	}
}

static uint64_t
slot_start(const struct hwtdi_segments *s, uint64_t slot)
{
	return (s->extent.start + slot * s->slot_bytes);
}

/* Offset of the first sync point in bytes[from..n) that lies at or after
 * `first`, or n. */
static size_t
sync_at_or_after(const struct hwtdi_segments *s, const uint8_t *bytes,
    size_t n, size_t seen, size_t from, size_t first)
{
	size_t at = s->engine->find_sync(bytes, n, seen, from);

	while (at < first && at < n)
		at = s->engine->find_sync(bytes, n, seen, at + SYNC_BYTES + 1);
	return (at);
}

/*
 * Find where the segment that starts at s->at ends, and see its bytes with a
 * tail.  Damage ends it.
 */
static int
cut_segment(struct hwtdi_segments *s, struct hwtdi_segment *out,
    struct hwtd_error *err)
{
	const uint64_t limit = s->extent.end - s->at;
	const uint64_t own = (s->at - s->extent.start) / s->slot_bytes;
	uint64_t slot = own + 1;
	uint64_t look = FIRST_LOOK;
	const uint8_t *bytes = NULL;
	bool cut_off = false;
	size_t n, cut;
	int rc;

	for (;;) {
		uint64_t begin = slot_start(s, slot) - s->at;
		uint64_t end = begin +
		    (look < s->slot_bytes ? look : s->slot_bytes);
		bool whole, slot_done;

		n = (size_t)(end + s->engine->tail_bytes < limit
			? end + s->engine->tail_bytes
			: limit);
		rc = see(s, s->at, &n, &bytes, &cut_off, err);
		if (rc != HWTD_OK)
			return (rc);
		whole = cut_off || n == limit;
		if (begin >= n) {
			/* The extent, or what is whole of it, ends before. */
			cut = n;
			break;
		}
		slot_done = look >= s->slot_bytes || end >= n;
		if (end > n)
			end = n;
		cut = sync_at_or_after(s, bytes, (size_t)end, n,
		    begin > SYNC_BYTES ? (size_t)begin - SYNC_BYTES : 0,
		    (size_t)begin);
		if (cut < end)
			break;
		if (!slot_done) {
			look *= 4;
			continue;
		}
		if (whole && end == n) {
			cut = n;
			break;
		}
		if (slot % HWTDI_MAX_SLOTS == 0 &&
		    slot - own >= HWTDI_MAX_SLOTS) {
			cut = (size_t)begin;
			break;
		}
		slot++;
		look = FIRST_LOOK;
	}
	out->bytes = bytes;
	out->n = cut;
	out->tail = n - cut < s->engine->tail_bytes ? n - cut
						    : s->engine->tail_bytes;
	out->stream_off = s->at;
	s->at += cut;
	s->damaged = cut_off && cut == n;
	return (HWTD_OK);
}

int
hwtdi_segments_next(struct hwtdi_segments *s, struct hwtdi_part *out,
    struct hwtd_error *err)
{
	int rc;

	for (;;) {
		if (!s->known && !enter_extent(s, out))
			return (HWTD_OK);
		if (s->damaged) {
			damage_gap(s, out);
			return (HWTD_OK);
		}
		if (s->at < s->extent.end)
			break;
		s->extent_no++;
		s->known = false;
	}
	if (s->engine == NULL) {
		out->kind = HWTDI_PART_GAP;
		memset(&out->gap, 0, sizeof(out->gap));
		out->gap.reason = HWTD_GAP_UNSUPPORTED;
		out->gap.first = s->at;
		out->gap.end = s->extent.end;
		(void)snprintf(out->gap.text, sizeof(out->gap.text),
		    "no decoder for this kind of stream");
		s->at = s->extent.end;
		return (HWTD_OK);
	}
	rc = cut_segment(s, &out->segment, err);
	if (rc != HWTD_OK)
		return (rc);
	if (out->segment.n == 0) {
		damage_gap(s, out);
		return (HWTD_OK);
	}
	out->kind = HWTDI_PART_SEGMENT;
	return (HWTD_OK);
}

uint64_t
hwtdi_segments_slots(const struct hwtdi_segments *s)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	uint64_t slots = 0;

	for (size_t i = 0;
	     hwtd_trace_extent(s->trace, s->stream, i, &e) == HWTD_OK; i++)
		slots += (e.end - e.start + s->slot_bytes - 1) / s->slot_bytes;
	return (slots);
}

/*
 * Where the cut in a slot of the extent at hand is.  HWTD_E_NOT_FOUND if it
 * has no sync point, HWTD_E_CORRUPT if damage may hide one.
 */
static int
find_cut(struct hwtdi_segments *s, uint64_t slot, uint64_t *cut_out,
    struct hwtd_error *err)
{
	uint64_t begin = slot_start(s, slot);
	uint64_t from = begin > s->extent.start + SYNC_BYTES
	    ? begin - SYNC_BYTES
	    : s->extent.start;
	uint64_t end = s->extent.end - begin > s->slot_bytes
	    ? begin + s->slot_bytes
	    : s->extent.end;
	uint64_t seen = s->extent.end - end > s->engine->tail_bytes
	    ? end + s->engine->tail_bytes
	    : s->extent.end;
	size_t n = (size_t)(seen - from), slot_end = (size_t)(end - from), at;
	const uint8_t *bytes = NULL;
	bool cut_off;
	int rc;

	rc = see(s, from, &n, &bytes, &cut_off, err);
	if (rc != HWTD_OK)
		return (rc);
	cut_off = n < slot_end;
	if (cut_off)
		slot_end = n;
	if (slot_end > begin - from) {
		at = sync_at_or_after(s, bytes, slot_end, n, 0,
		    (size_t)(begin - from));
		if (at < slot_end) {
			*cut_out = from + at;
			return (HWTD_OK);
		}
	}
	return (cut_off ? HWTD_E_CORRUPT : HWTD_E_NOT_FOUND);
}

bool
hwtdi_segments_skip(struct hwtdi_segments *s, uint64_t slots)
{
	uint64_t slot;

	if (!s->known || s->damaged || s->engine == NULL)
		return (false);
	slot = (s->at - s->extent.start) / s->slot_bytes + slots;
	if (slot_start(s, slot) < s->extent.end)
		return (find_cut(s, slot, &s->at, NULL) == HWTD_OK);
	s->at = s->extent.end;
	return (true);
}

/* No sync point in so many slots up to this one: a cut is forced there. */
static int
is_forced(struct hwtdi_segments *s, uint64_t slot, struct hwtd_error *err)
{
	uint64_t cut;
	int rc = HWTD_E_NOT_FOUND;

	if (slot % HWTDI_MAX_SLOTS != 0)
		return (HWTD_E_NOT_FOUND);
	for (uint64_t i = slot - HWTDI_MAX_SLOTS + 1;
	     i < slot && rc == HWTD_E_NOT_FOUND; i++)
		rc = find_cut(s, i, &cut, err);
	if (rc == HWTD_E_NOT_FOUND)
		return (HWTD_OK);
	return (rc == HWTD_OK || rc == HWTD_E_CORRUPT ? HWTD_E_NOT_FOUND : rc);
}

/* Go to the cut in a slot, not the first, of the extent at hand. */
static int
seek_in_extent(struct hwtdi_segments *s, uint64_t slot, struct hwtd_error *err)
{
	int rc = find_cut(s, slot, &s->at, err);

	if (rc == HWTD_E_CORRUPT)
		return (HWTD_E_NOT_FOUND);
	if (rc != HWTD_E_NOT_FOUND)
		return (rc);
	s->at = slot_start(s, slot);
	return (is_forced(s, slot, err));
}

int
hwtdi_segments_seek_slot(struct hwtdi_segments *s, uint64_t slot,
    struct hwtd_error *err)
{
	struct hwtd_extent e = { .size = sizeof(e) };

	for (size_t i = 0;
	     hwtd_trace_extent(s->trace, s->stream, i, &e) == HWTD_OK; i++) {
		uint64_t slots = (e.end - e.start + s->slot_bytes - 1) /
		    s->slot_bytes;

		if (slot >= slots) {
			slot -= slots;
			continue;
		}
		s->extent_no = i;
		s->extent = e;
		/* The gap before an extent comes with its first slot. */
		s->known = slot != 0;
		s->damaged = false;
		if (slot == 0)
			return (HWTD_OK);
		return (seek_in_extent(s, slot, err));
	}
	return (HWTD_E_NOT_FOUND);
}

int
hwtdi_segments_seek(struct hwtdi_segments *s, uint64_t off,
    struct hwtd_error *err)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	uint64_t slot = 0, last = 0;
	int rc;

	if (s->engine == NULL) {
		hwtdi_segments_rewind(s);
		return (HWTD_OK);
	}
	for (size_t i = 0;
	     hwtd_trace_extent(s->trace, s->stream, i, &e) == HWTD_OK &&
	     e.start <= off;
	     i++) {
		last = slot +
		    ((off < e.end ? off : e.end) - e.start) / s->slot_bytes;
		slot += (e.end - e.start + s->slot_bytes - 1) / s->slot_bytes;
	}
	for (;; last--) {
		rc = hwtdi_segments_seek_slot(s, last, err);
		if (last == 0)
			break;
		if (rc == HWTD_OK && (!s->known || s->at <= off))
			break;
		if (rc != HWTD_OK && rc != HWTD_E_NOT_FOUND)
			return (rc);
	}
	if (rc == HWTD_E_NOT_FOUND) {
		hwtdi_segments_rewind(s);
		rc = HWTD_OK;
	}
	return (rc);
}
