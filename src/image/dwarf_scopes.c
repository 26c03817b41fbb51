/*
 * Functions of a unit of DWARF, and what was inlined into them.
 *
 * Source: DWARF 5, "Subroutine and Entry Point Entries" (3.3).
 */
#include "image/dwarf_scopes.h"

#include <string.h>

#include "base/fail.h"
#include "base/sort.h"

/* An entry that is no scope. */
#define NO_SCOPE UINT32_MAX

/* Scopes of a unit: packed, they can be small. */
#define MOST_SCOPES (UINT32_C(1) << 23)

/* Pieces that are looked at for one that an address is in. */
#define MOST_NESTED 256

struct reading {
	struct hwtdi_dwarf_scopes *scopes;
	const struct hwtdi_dwarf_view *view;
	/* Entries with children that are open: their scope, if they are one. */
	uint32_t *open;
	size_t n_open, cap_open;
	struct hwtd_error *err;
};

static uint32_t
number(const struct hwtdi_dwarf_die *die, enum hwtdi_dwarf_attribute attribute)
{
	const uint64_t v = hwtdi_dwarf_die_number(die, attribute, 0);

	return (v <= UINT32_MAX ? (uint32_t)v : 0);
}

static int
add_piece(struct reading *r, const struct hwtdi_dwarf_range *range,
    uint32_t scope)
{
	struct hwtdi_dwarf_scopes *s = r->scopes;
	int rc;

	rc = hwtdi_array_grow(r->view->file->ctx, &s->pieces, &s->cap_pieces,
	    s->n_pieces + 1, sizeof(*s->pieces), r->err);
	if (rc == HWTD_OK)
		s->pieces[s->n_pieces++] = (struct hwtdi_dwarf_piece){
			.low = range->low,
			.high = range->high,
			.scope = scope
		};
	return (rc);
}

/* What a list says badly is code of nobody; the other functions stay. */
static int
add_ranges(struct reading *r, struct hwtdi_dwarf_scope *scope,
    const struct hwtdi_dwarf_die *die, struct hwtd_error *first)
{
	struct hwtdi_dwarf_ranges *ranges = &r->scopes->ranges;
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc;

	scope->first_range = (uint32_t)ranges->n;
	rc = hwtdi_dwarf_ranges_add(ranges, r->view, die, &inner);
	scope->n_ranges = (uint32_t)ranges->n - scope->first_range;
	if (rc == HWTD_E_CORRUPT) {
		if (first->code == HWTD_OK)
			*first = inner;
		return (HWTD_OK);
	}
	return (rc == HWTD_OK ? rc : hwtdi_fail_pass(r->err, &inner));
}

/* As it says; else where its first range begins. */
static uint64_t
entry_of(const struct reading *r, const struct hwtdi_dwarf_scope *scope,
    const struct hwtdi_dwarf_die *die)
{
	const struct hwtdi_dwarf_value *v = hwtdi_dwarf_die_get(die,
	    HWTDI_DW_ENTRY_PC);
	uint64_t address;

	if (v != NULL && hwtdi_dwarf_address(r->view, v, &address))
		return (address);
	if (scope->n_ranges == 0)
		return (0);
	address = r->scopes->ranges.at[scope->first_range].low;
	return (v != NULL && v->kind == HWTDI_DW_NUMBER ? address + v->v
							: address);
}

/* Its number in *scope_out, or NO_SCOPE: it has no code. */
static int
add_scope(struct reading *r, const struct hwtdi_dwarf_die *die,
    uint32_t *scope_out, struct hwtd_error *first)
{
	struct hwtdi_dwarf_scopes *s = r->scopes;
	struct hwtdi_dwarf_scope new = { .die = die->off };
	int rc;

	*scope_out = NO_SCOPE;
	if (die->tag != HWTDI_DW_TAG_SUBPROGRAM &&
	    die->tag != HWTDI_DW_TAG_INLINED)
		return (HWTD_OK);
	new.inlined = die->tag == HWTDI_DW_TAG_INLINED;
	rc = add_ranges(r, &new, die, first);
	if (rc != HWTD_OK || (!new.inlined &&new.n_ranges == 0))
		return (rc);
	if (s->n == MOST_SCOPES)
		return (hwtdi_fail(r->err, HWTD_E_LIMIT,
		    "%.90s: a unit of more than %u functions",
		    r->view->file->path, MOST_SCOPES));
	new.entry = entry_of(r, &new, die);
	if (new.inlined) {
		new.call_file = number(die, HWTDI_DW_CALL_FILE);
		new.call_line = number(die, HWTDI_DW_CALL_LINE);
		new.call_column = number(die, HWTDI_DW_CALL_COLUMN);
		new.discriminator = number(die, HWTDI_DW_DISCRIMINATOR);
	}
	rc = hwtdi_array_grow(r->view->file->ctx, &s->at, &s->cap, s->n + 1,
	    sizeof(new), r->err);
	if (rc != HWTD_OK)
		return (rc);
	*scope_out = (uint32_t)s->n;
	new.next = *scope_out + 1;
	s->at[s->n++] = new;
	for (uint32_t i = 0; rc == HWTD_OK && !new.inlined &&i < new.n_ranges;
	     i++)
		rc = add_piece(r, &s->ranges.at[new.first_range + i],
		    *scope_out);
	return (rc);
}

static void
close_scope(struct reading *r)
{
	const uint32_t scope = r->open[--r->n_open];

	if (scope != NO_SCOPE)
		r->scopes->at[scope].next = (uint32_t)r->scopes->n;
}

/* All entries of a unit. */
static int
read_dies(struct reading *r, struct hwtd_error *first)
{
	struct hwtdi_dwarf_reader reader = hwtdi_dwarf_unit_reader(
	    r->view->file, r->view->unit, r->view->unit->dies);
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_die die;
	uint64_t n = 0;
	uint32_t scope;
	int rc;

	do {
		rc = hwtdi_poll_each(r->view->file->ctx, n++, r->err);
		if (rc != HWTD_OK)
			return (rc);
		rc = hwtdi_dwarf_die_next(r->view, &reader, &die, &inner);
		if (rc != HWTD_OK) {
			if (first->code == HWTD_OK)
				*first = inner;
			return (HWTD_OK);
		}
		if (die.tag == 0) {
			if (r->n_open > 0)
				close_scope(r);
			continue;
		}
		rc = add_scope(r, &die, &scope, first);
		if (rc == HWTD_OK && die.has_children)
			rc = hwtdi_array_grow(r->view->file->ctx, &r->open,
			    &r->cap_open, r->n_open + 1, sizeof(*r->open),
			    r->err);
		if (rc != HWTD_OK)
			return (rc);
		if (die.has_children)
			r->open[r->n_open++] = scope;
	} while (r->n_open > 0 && reader.at < reader.end);
	return (HWTD_OK);
}

static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_dwarf_piece *a = va, *b = vb;

	if (a->low != b->low)
		return (a->low < b->low ? -1 : 1);
	/* The inner one behind the outer one, which is larger. */
	if (a->high != b->high)
		return (a->high > b->high ? -1 : 1);
	return (a->scope < b->scope ? -1 : a->scope > b->scope);
}

int
hwtdi_dwarf_scopes_init(struct hwtdi_dwarf_scopes *scopes,
    const struct hwtdi_dwarf_view *view, struct hwtd_error *err)
{
	struct hwtd_error first = { .size = sizeof(first) };
	struct reading r = { .scopes = scopes, .view = view, .err = err };
	uint64_t reach = 0;
	int rc;

	memset(scopes, 0, sizeof(*scopes));
	scopes->ranges.left = HWTDI_DWARF_RANGES_MAX;
	rc = read_dies(&r, &first);
	while (r.n_open > 0)
		close_scope(&r);
	hwtdi_array_free(view->file->ctx, r.open, r.cap_open, sizeof(*r.open));
	if (rc == HWTD_OK)
		rc = hwtdi_sort(view->file->ctx, scopes->pieces,
		    scopes->n_pieces, sizeof(*scopes->pieces), by_address,
		    err);
	if (rc != HWTD_OK) {
		hwtdi_dwarf_scopes_fini(scopes, view->file->ctx);
		return (rc);
	}
	for (size_t i = 0; i < scopes->n_pieces; i++) {
		if (scopes->pieces[i].high > reach)
			reach = scopes->pieces[i].high;
		scopes->pieces[i].reach = reach;
	}
	return (first.code == HWTD_OK ? HWTD_OK
				      : hwtdi_fail_pass(err, &first));
}

/* The function that an address is in; NO_SCOPE: none. */
static uint32_t
find_function(const struct hwtdi_dwarf_scopes *s, uint64_t address)
{
	size_t low = 0, high = s->n_pieces;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->pieces[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < MOST_NESTED; i--) {
		const struct hwtdi_dwarf_piece *piece = &s->pieces[i - 1];

		if (address >= piece->reach)
			break;
		if (address < piece->high)
			return (piece->scope);
	}
	return (NO_SCOPE);
}

static bool
contains(const struct hwtdi_dwarf_scopes *s,
    const struct hwtdi_dwarf_scope *scope, uint64_t address)
{
	const struct hwtdi_dwarf_range *range = s->ranges.at +
	    scope->first_range;

	for (uint32_t i = 0; i < scope->n_ranges; i++)
		if (address >= range[i].low && address < range[i].high)
			return (true);
	return (false);
}

size_t
hwtdi_dwarf_scopes_find(const struct hwtdi_dwarf_scopes *scopes,
    uint64_t address, uint32_t chain[HWTDI_DWARF_DEPTH_MAX])
{
	uint32_t at = find_function(scopes, address), end;
	size_t n = 0;

	if (at == NO_SCOPE)
		return (0);
	chain[n++] = at;
	end = scopes->at[at++].next;
	while (at < end && n < HWTDI_DWARF_DEPTH_MAX) {
		const struct hwtdi_dwarf_scope *scope = &scopes->at[at];

		if (!scope->inlined || !contains(scopes, scope, address)) {
			at = scope->next;
			continue;
		}
		chain[n++] = at++;
		end = scope->next;
	}
	for (size_t i = 0; i < n / 2; i++) {
		const uint32_t other = chain[i];

		chain[i] = chain[n - 1 - i];
		chain[n - 1 - i] = other;
	}
	return (n);
}

uint64_t
hwtdi_dwarf_scopes_bytes(const struct hwtdi_dwarf_scopes *scopes)
{
	return (scopes->cap * sizeof(*scopes->at) +
	    scopes->ranges.cap * sizeof(*scopes->ranges.at) +
	    scopes->cap_pieces * sizeof(*scopes->pieces));
}

void
hwtdi_dwarf_scopes_fini(struct hwtdi_dwarf_scopes *scopes,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, scopes->at, scopes->cap, sizeof(*scopes->at));
	hwtdi_dwarf_ranges_fini(&scopes->ranges, ctx);
	hwtdi_array_free(ctx, scopes->pieces, scopes->cap_pieces,
	    sizeof(*scopes->pieces));
	memset(scopes, 0, sizeof(*scopes));
}
