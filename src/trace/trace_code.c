/*
 * Code lookup: from an address at a place of the trace to bytes.
 */
#include <string.h>

#include "trace/trace_internal.h"

/* Mappings that can lie at one address at one place, and are compared. */
#define MAX_PLACES 8

/* Programs of one process that can run at one place, and are looked at. */
#define MAX_EPOCHS 4

/* Pages of two mappings are compared to find out if they differ. */
#define COMPARED 4096

/* The bytes of a mapping around `address`; false if it has none. */
static bool
span_of(const struct hwtd_trace *trace, const struct hwtdi_place *place,
    uint64_t address, struct hwtdi_span *out)
{
	const struct hwtd_section *section;
	const struct hwtdi_image *image;
	const uint8_t *code;
	uint64_t at, left;

	if (place->piece.section == HWTD_NO_ID)
		return (false);
	section = &trace->sections[place->piece.section];
	image = &trace->images[section->image];
	code = trace->section_code[place->piece.section];
	if (code == NULL)
		code = image->bytes;
	/* Byte of the image at the first address of the place. */
	at = section->file_off + place->piece.section_off - image->offset;
	if (code == NULL || code == hwtdi_no_code || at >= image->n_bytes)
		return (false);
	left = image->n_bytes - at;
	if (left - 1 > place->last - place->first)
		left = place->last - place->first + 1;
	if (address - place->first >= left)
		return (false);
	out->bytes = code + at;
	out->address = place->first;
	out->length = left;
	out->section = place->piece.section;
	return (true);
}

/*
 * The bytes around `address` are the same; then `a` is cut to those that were
 * compared.
 */
static bool
same_code(struct hwtdi_span *a, const struct hwtdi_span *b, uint64_t address)
{
	uint64_t first = address & ~(uint64_t)(COMPARED - 1);
	uint64_t n;

	if (a->bytes + (address - a->address) ==
	    b->bytes + (address - b->address))
		return (true);
	if (first < a->address)
		first = a->address;
	if (first < b->address)
		first = b->address;
	n = a->length - (first - a->address);
	if (b->length - (first - b->address) < n)
		n = b->length - (first - b->address);
	if (n > 2 * COMPARED)
		n = 2 * COMPARED;
	if (memcmp(a->bytes + (first - a->address),
		b->bytes + (first - b->address), (size_t)n) != 0)
		return (false);
	a->bytes += first - a->address;
	a->address = first;
	a->length = n;
	return (true);
}

/*
 * Code that was given for every space stands in for images that are missing:
 * for the run of addresses of `missing`.
 */
static bool
stand_in(const struct hwtd_trace *trace, uint64_t seq, uint64_t address,
    const struct hwtdi_place *missing, struct hwtdi_span *out)
{
	struct hwtdi_place place;
	size_t n = 0;

	(void)hwtdi_timeline_find(trace->space.timeline, HWTDI_SPACE_ANY, seq,
	    seq, address, &place, 1, &n);
	if (n == 0 || (place.piece.flags & HWTDI_PIECE_NOTHING) != 0)
		return (false);
	if (place.first < missing->first) {
		place.piece.section_off += missing->first - place.first;
		place.first = missing->first;
	}
	if (place.last > missing->last)
		place.last = missing->last;
	return (span_of(trace, &place, address, out));
}

/* What can lie at an address, newest first. */
struct candidates {
	struct hwtdi_place places[MAX_PLACES];
	size_t n_places;
	/* Each with other bytes. */
	struct hwtdi_span spans[MAX_PLACES];
	size_t n;
	/* There are older ones; and some of which the bytes are not known. */
	bool more, unread;
	struct hwtdi_moments moments;
};

/* When it is, by the records and by what is known already. */
static void
find_moments(const struct hwtd_trace *trace,
    const struct hwtdi_code_place *where, struct hwtdi_moments *out)
{
	const struct hwtdi_trace_space *space = &trace->space;
	const struct hwtdi_moments *known = &where->moments;

	out->space = hwtdi_trace_space_see(space, where->context).space;
	hwtdi_position_range(space->positions, where->stream,
	    where->stream_off, where->has_time, where->time_ns, &out->since,
	    &out->until);
	/* Positions of records are rough, but they hold for sure later on. */
	if (known->space != out->space || known->since > out->until ||
	    known->until < out->since)
		return;
	if (known->since > out->since)
		out->since = known->since;
	if (known->until < out->until)
		out->until = known->until;
}

static void
find_candidates(const struct hwtd_trace *trace,
    const struct hwtdi_moments *moments, uint64_t address,
    struct candidates *c)
{
	struct hwtdi_place places[MAX_PLACES];
	size_t n = 0;
	int rc;

	rc = hwtdi_timeline_find(trace->space.timeline, moments->space,
	    moments->since, moments->until, address, places, MAX_PLACES, &n);
	c->moments = *moments;
	c->n_places = 0;
	c->n = 0;
	c->more = rc != HWTD_OK;
	c->unread = false;
	for (size_t i = 0; i < n; i++) {
		bool known = false;

		if ((places[i].piece.flags & HWTDI_PIECE_NOTHING) != 0)
			continue;
		c->places[c->n_places++] = places[i];
		if (!span_of(trace, &places[i], address, &c->spans[c->n])) {
			c->unread = true;
			continue;
		}
		for (size_t k = 0; k < c->n && !known; k++)
			known = same_code(&c->spans[k], &c->spans[c->n],
			    address);
		if (!known)
			c->n++;
	}
}

/* The place that was found to fit elsewhere, or NULL. */
static const struct hwtdi_place *
chosen_place(const struct hwtdi_code_place *where, const struct candidates *c)
{
	for (size_t k = 0; k < where->n_chosen; k++)
		for (size_t i = 0; i < c->n_places; i++)
			if (c->places[i].piece.section == where->chosen[k])
				return (&c->places[i]);
	return (NULL);
}

/* The same code can be at the address at one of these moments. */
static bool
occurs(const struct hwtd_trace *trace, const struct hwtdi_moments *moments,
    uint64_t address, const struct hwtdi_span *span)
{
	struct candidates c;

	find_candidates(trace, moments, address, &c);
	for (size_t i = 0; i < c.n; i++) {
		struct hwtdi_span a = *span;

		if (same_code(&a, &c.spans[i], address))
			return (true);
	}
	return (c.more);
}

/* Records say nothing of an address at these moments. */
static bool
is_unknown(const struct hwtd_trace *trace, const struct hwtdi_moments *moments,
    uint64_t address)
{
	struct candidates c;

	find_candidates(trace, moments, address, &c);
	return (c.n_places == 0);
}

/*
 * An exec is a barrier: code of the old program runs before it, code of the
 * new one after it.  Of the moments that were possible those stay whose program
 * has the code; what that tells is added to what is known.
 *
 * A program that ran before the records began can have had mappings that they
 * do not know: where they say nothing of it, it is not ruled out.
 */
static void
add_moments(const struct hwtd_trace *trace, uint64_t address,
    const struct hwtdi_span *span, const struct hwtdi_moments *moments,
    struct hwtdi_moments *known)
{
	const struct hwtdi_timeline *timeline = trace->space.timeline;
	struct hwtdi_moments epoch = *moments;
	uint64_t since = 0, until = UINT64_MAX;
	bool newest = true, weak = false;

	if (known->space != moments->space) {
		known->space = moments->space;
		known->since = 0;
		known->until = UINT64_MAX;
	}
	for (unsigned int i = 0; i < MAX_EPOCHS; i++) {
		const uint64_t start = hwtdi_timeline_epoch(timeline,
		    epoch.space, epoch.until);

		/* Mostly all of it is one epoch. */
		if (i == 0 && start <= moments->since)
			return;
		epoch.since = start > moments->since ? start : moments->since;
		if (occurs(trace, &epoch, address, span)) {
			if (newest && i > 0)
				until = epoch.until;
			newest = false;
			since = epoch.since;
		} else if (start == 0) {
			weak = is_unknown(trace, &epoch, address);
		}
		if (epoch.since <= moments->since)
			break;
		epoch.until = epoch.since - 1;
		/* There are older ones, which may have it too. */
		weak |= i == MAX_EPOCHS - 1;
	}
	if (!weak && since > known->since)
		known->since = since;
	if (until < known->until)
		known->until = until;
}

/* Nothing that is possible lies there; would it without what is known? */
static int
not_found(const struct hwtd_trace *trace, const struct hwtdi_code_place *where,
    uint64_t address)
{
	struct hwtdi_code_place open = *where;
	struct hwtdi_moments moments;
	struct candidates c;

	open.moments.space = HWTD_NO_ID;
	find_moments(trace, &open, &moments);
	find_candidates(trace, &moments, address, &c);
	return (c.n_places == 0 ? HWTD_E_NOT_FOUND : HWTD_E_STATE);
}

static int
find_code(const struct hwtd_trace *trace, const struct hwtdi_code_place *where,
    const struct hwtdi_moments *moments, uint64_t address,
    struct hwtdi_span *out)
{
	const struct hwtdi_place *place = NULL;
	struct candidates c;
	int rc = HWTD_OK;

	find_candidates(trace, moments, address, &c);
	if (c.n_places == 0)
		return (not_found(trace, where, address));
	if (c.n == 1 && !c.more && !c.unread)
		*out = c.spans[0];
	else
		place = c.n == 0 ? &c.places[0] : chosen_place(where, &c);
	if (place != NULL) {
		if (!span_of(trace, place, address, out) &&
		    !stand_in(trace, moments->until, address, place, out))
			return (HWTD_E_UNSUPPORTED);
	} else if (c.n != 1 || c.more || c.unread) {
		if (where->choice >= c.n)
			return (c.unread ? HWTD_E_UNSUPPORTED
					 : HWTD_E_NOT_FOUND);
		*out = c.spans[where->choice];
		rc = HWTD_END;
	}
	out->moments = where->moments;
	add_moments(trace, address, out, moments, &out->moments);
	return (rc);
}

static bool
same_moments(const struct hwtdi_moments *a, const struct hwtdi_moments *b)
{
	return (a->space == b->space && a->since == b->since &&
	    a->until == b->until);
}

/*
 * An answer holds for its span, as long as the question is the same; sections
 * that were found to fit later do not change it.
 */
static bool
is_answer(const struct hwtdi_code_answer *a,
    const struct hwtdi_code_place *where, const struct hwtdi_moments *moments,
    uint64_t address)
{
	return (address - a->span.address < a->span.length &&
	    same_moments(&a->moments, moments) &&
	    same_moments(&a->known, &where->moments) &&
	    a->n_chosen <= where->n_chosen &&
	    (a->n_chosen == 0 ||
		memcmp(a->chosen, where->chosen,
		    a->n_chosen * sizeof(a->chosen[0])) == 0));
}

int
hwtdi_trace_find_code(const struct hwtd_trace *trace,
    const struct hwtdi_code_place *where, uint64_t address,
    struct hwtdi_span *out)
{
	const unsigned int i = (address >> 6 ^ address >> 12) %
	    HWTDI_CODE_ANSWERS;
	struct hwtdi_code_answer *answer = NULL;
	struct hwtdi_moments moments;
	int rc;

	find_moments(trace, where, &moments);
	if (where->answers != NULL && where->choice == 0 &&
	    where->n_chosen <= HWTDI_CODE_CHOSEN)
		answer = &where->answers->at[i];
	if (answer != NULL && (where->answers->given >> i & 1) != 0 &&
	    is_answer(answer, where, &moments, address)) {
		*out = answer->span;
		return (HWTD_OK);
	}
	rc = find_code(trace, where, &moments, address, out);
	if (rc == HWTD_OK && answer != NULL) {
		where->answers->given |= (uint64_t)1 << i;
		answer->span = *out;
		answer->moments = moments;
		answer->known = where->moments;
		answer->n_chosen = where->n_chosen;
		if (where->n_chosen > 0)
			memcpy(answer->chosen, where->chosen,
			    where->n_chosen * sizeof(answer->chosen[0]));
	}
	return (rc);
}

bool
hwtdi_trace_is_fixed(const struct hwtd_trace *trace)
{
	return (trace->records.n == 0);
}

void
hwtdi_trace_runner(const struct hwtd_trace *trace,
    const struct hwtdi_code_place *place, uint32_t *pid_inout,
    uint32_t *tid_inout, uint64_t *until_out)
{
	const struct hwtd_stream_desc *desc = &trace->streams[place->stream]
						   ->desc;
	const struct hwtdi_switches *switches = trace->space.switches;
	struct hwtdi_runner runner = { .until = UINT64_MAX };
	bool known = false;

	if (desc->tid == HWTD_NO_ID && trace->records.n != 0)
		known = place->has_time && desc->cpu != HWTD_NO_ID
		    ? hwtdi_switches_at_time(switches, desc->cpu,
			  place->time_ns, &runner)
		    : hwtdi_switches_at_offset(switches, place->stream,
			  place->stream_off, &runner);
	if (known && runner.pid != HWTD_NO_ID)
		*pid_inout = runner.pid;
	if (known && runner.tid != HWTD_NO_ID)
		*tid_inout = runner.tid;
	if (until_out != NULL)
		*until_out = runner.until;
}

void
hwtdi_trace_until(const struct hwtd_trace *trace,
    const struct hwtdi_code_place *place, uint64_t *off_out,
    uint64_t *time_out)
{
	const uint32_t cpu = trace->streams[place->stream]->desc.cpu;
	uint32_t pid, tid;
	uint64_t until, *of;

	hwtdi_position_until(trace->space.positions, place->stream,
	    place->stream_off, place->has_time, place->time_ns, off_out,
	    time_out);
	hwtdi_trace_runner(trace, place, &pid, &tid, &until);
	of = place->has_time && cpu != HWTD_NO_ID ? time_out : off_out;
	if (until < *of)
		*of = until;
}

int
hwtd_trace_read_code(const struct hwtd_trace *trace, uint32_t section,
    uint64_t address, void *buf, size_t n, size_t *n_out)
{
	struct hwtdi_place place;
	struct hwtdi_span span;
	uint64_t skip;

	if (trace == NULL || (buf == NULL && n != 0) || n_out == NULL)
		return (HWTD_E_INVALID);
	*n_out = 0;
	if (section >= trace->n_sections)
		return (HWTD_E_NOT_FOUND);
	memset(&place, 0, sizeof(place));
	place.first = trace->sections[section].address;
	place.last = place.first + (trace->sections[section].length - 1);
	place.piece.section = section;
	if (address < place.first || address > place.last ||
	    !span_of(trace, &place, address, &span))
		return (HWTD_E_NOT_FOUND);
	skip = address - span.address;
	if (n > span.length - skip)
		n = (size_t)(span.length - skip);
	if (n != 0)
		memcpy(buf, span.bytes + skip, n);
	*n_out = n;
	return (HWTD_OK);
}
