/*
 * What of an ETMv4 or ETE stream is not committed yet, as OpenCSD keeps it.
 */
#include "decode/coresight/cs_speculation.h"

#include <string.h>

void
hwtdi_cs_speculation_init(struct hwtdi_cs_speculation *s,
    struct hwtd_context *library, uint32_t max_depth)
{
	memset(s, 0, sizeof(*s));
	s->library = library;
	s->max_depth = max_depth;
}

void
hwtdi_cs_speculation_fini(struct hwtdi_cs_speculation *s)
{
	hwtdi_array_free(s->library, s->at, s->cap, sizeof(*s->at));
	s->at = NULL;
	s->cap = 0;
}

void
hwtdi_cs_speculation_begin(struct hwtdi_cs_speculation *s, uint32_t depth)
{
	s->first = 0;
	s->n = 0;
	s->depth = depth;
	s->awaits_address = false;
	s->failed = false;
	s->was_first = 0;
	s->was_begun = false;
}

static size_t
count(const struct hwtdi_cs_speculation *s)
{
	return (s->n - s->first);
}

void
hwtdi_cs_speculation_packet(struct hwtdi_cs_speculation *s, uint64_t off)
{
	s->off = off;
	s->was_first = s->first;
	s->was_begun = s->first < s->n && s->at[s->first].begun;
}

void
hwtdi_cs_speculation_put(struct hwtdi_cs_speculation *s, uint8_t kind,
    uint8_t atoms)
{
	if (s->first == s->n) {
		s->first = 0;
		s->n = 0;
	} else if (s->first > 64 && s->first > count(s)) {
		memmove(s->at, s->at + s->first, count(s) * sizeof(*s->at));
		s->n -= s->first;
		s->first = 0;
	}
	/* Before anything is resolved: none of what was there is gone. */
	s->was_first = s->first;
	if (s->n == s->cap &&
	    hwtdi_array_grow(s->library, &s->at, &s->cap, s->n + 1,
		sizeof(*s->at), NULL) != HWTD_OK) {
		s->failed = true;
		return;
	}
	s->at[s->n++] = (struct hwtdi_cs_pending_element){ .off = s->off,
		.kind = kind,
		.atoms = atoms };
	switch (kind) {
	case HWTDI_CS_PENDING_ATOM:
		s->depth += atoms;
		break;
	case HWTDI_CS_PENDING_EXCEPTION:
		s->awaits_address = true;
		break;
	case HWTDI_CS_PENDING_P0:
	case HWTDI_CS_PENDING_SOURCE:
	case HWTDI_CS_PENDING_Q:
		s->depth++;
		break;
	case HWTDI_CS_PENDING_ADDRESS:
		s->depth += s->awaits_address ? 1 : 0;
		s->awaits_address = false;
		break;
	default:
		break;
	}
}

/* The oldest elements are an exception and what belongs to it: drop them. */
static bool
drop_exception(struct hwtdi_cs_speculation *s)
{
	s->first++;
	if (count(s) > 0 && s->at[s->first].kind == HWTDI_CS_PENDING_CONTEXT)
		s->first++;
	if (count(s) == 0 || s->at[s->first].kind != HWTDI_CS_PENDING_ADDRESS)
		return (false);
	s->first++;
	return (true);
}

static uint8_t
commit(struct hwtdi_cs_speculation *s, int64_t n)
{
	s->depth -= n;
	while (n > 0) {
		struct hwtdi_cs_pending_element *oldest;

		if (count(s) == 0)
			return (HWTDI_CS_WHY_COMMIT);
		oldest = &s->at[s->first];
		switch (oldest->kind) {
		case HWTDI_CS_PENDING_ATOM: {
			const int64_t take = oldest->atoms < n ? oldest->atoms
							       : n;

			oldest->atoms -= (uint8_t)take;
			oldest->begun = true;
			n -= take;
			s->first += oldest->atoms == 0 ? 1 : 0;
			break;
		}
		case HWTDI_CS_PENDING_EXCEPTION:
			if (!drop_exception(s))
				return (HWTDI_CS_WHY_NO_ADDRESS);
			n--;
			break;
		case HWTDI_CS_PENDING_Q:
			s->first += count(s) > 1 ? 2 : 1;
			n--;
			break;
		case HWTDI_CS_PENDING_P0:
		case HWTDI_CS_PENDING_SOURCE:
			s->first++;
			n--;
			break;
		default:
			s->first++;
			break;
		}
	}
	return (HWTDI_CS_WHY_NOTHING);
}

static bool
is_counted(const struct hwtdi_cs_pending_element *e)
{
	return (e->kind == HWTDI_CS_PENDING_EXCEPTION ||
	    e->kind == HWTDI_CS_PENDING_P0 || e->kind == HWTDI_CS_PENDING_Q);
}

static uint8_t
cancel(struct hwtdi_cs_speculation *s, int64_t n)
{
	size_t at = s->n;

	s->depth -= n;
	while (n > 0) {
		struct hwtdi_cs_pending_element *newest;

		if (at == s->first)
			return (HWTDI_CS_WHY_CANCEL);
		newest = &s->at[at - 1];
		if (newest->kind == HWTDI_CS_PENDING_ATOM) {
			const int64_t take = newest->atoms < n ? newest->atoms
							       : n;

			newest->atoms -= (uint8_t)take;
			n -= take;
			at -= newest->atoms == 0 ? 1 : 0;
			continue;
		}
		n -= is_counted(newest) ? 1 : 0;
		at--;
	}
	for (size_t i = at; i < s->n; i++)
		if (s->at[i].kind == HWTDI_CS_PENDING_KEPT)
			s->at[at++] = s->at[i];
	s->n = at;
	return (HWTDI_CS_WHY_NOTHING);
}

/*
 * The newest atom was wrong, and addresses behind it with it.  The library takes
 * those out while it walks over them: what is next it only finds if it does so in
 * the newer half.
 */
static uint8_t
mispredict(struct hwtdi_cs_speculation *s)
{
	size_t at = s->n;

	while (at > s->first && s->at[at - 1].kind != HWTDI_CS_PENDING_ATOM) {
		const size_t newer = s->n - at;

		if (s->at[at - 1].kind != HWTDI_CS_PENDING_ADDRESS) {
			at--;
			continue;
		}
		if (newer >= count(s) / 2)
			return (HWTDI_CS_WHY_MISPREDICT);
		if (s->lost == HWTDI_CS_LOST_MAX)
			return (HWTDI_CS_WHY_LIMIT);
		s->lost++;
		memmove(&s->at[at - 1], &s->at[at], newer * sizeof(*s->at));
		s->n--;
		at--;
	}
	return (at > s->first ? HWTDI_CS_WHY_NOTHING
			      : HWTDI_CS_WHY_MISPREDICT);
}

uint8_t
hwtdi_cs_speculation_resolve(struct hwtdi_cs_speculation *s,
    const struct hwtdi_cs_resolution *what)
{
	int64_t n = what->commit;
	uint8_t why;

	if (count(s) > HWTDI_CS_PENDING_MAX)
		return (HWTDI_CS_WHY_LIMIT);
	/* More than there may be open are committed. */
	if (s->depth > s->max_depth)
		n = s->depth - s->max_depth;
	why = commit(s, n);
	if (why == HWTDI_CS_WHY_NOTHING)
		why = cancel(s, what->cancel);
	if (why == HWTDI_CS_WHY_NOTHING && what->mispredict)
		why = mispredict(s);
	return (why);
}

/* A row is made of it when it is committed. */
static bool
makes_row(const struct hwtdi_cs_pending_element *e)
{
	return (e->kind != HWTDI_CS_PENDING_OTHER &&
	    e->kind != HWTDI_CS_PENDING_ADDRESS &&
	    e->kind != HWTDI_CS_PENDING_CONTEXT);
}

uint64_t
hwtdi_cs_speculation_lost(const struct hwtdi_cs_speculation *s)
{
	for (size_t i = s->was_first; i < s->n; i++) {
		const struct hwtdi_cs_pending_element *e = &s->at[i];

		if (e->off >= s->off)
			break;
		/* Of that one something was told. */
		if (makes_row(e) && !(s->was_begun && i == s->was_first))
			return (e->off);
	}
	return (s->off);
}
