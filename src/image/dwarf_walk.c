/*
 * All code of an image by its DWARF, unit by unit.
 */
#include "image/dwarf_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/dwarf_image_internal.h"

/* A range of a scope. */
struct span {
	uint64_t low, high;
	uint32_t scope;
};

/* Those that an address is in: a heap, the last scope first. */
struct heap {
	const struct span *spans;
	uint32_t *at;
	size_t n;
};

static int
by_low(const void *va, const void *vb)
{
	const struct span *a = va, *b = vb;

	if (a->low != b->low)
		return (a->low < b->low ? -1 : 1);
	return (a->scope < b->scope ? -1 : a->scope > b->scope);
}

static bool
is_inner(const struct heap *h, size_t a, size_t b)
{
	return (h->spans[h->at[a]].scope > h->spans[h->at[b]].scope);
}

static void
swap(struct heap *h, size_t a, size_t b)
{
	const uint32_t other = h->at[a];

	h->at[a] = h->at[b];
	h->at[b] = other;
}

static void
heap_push(struct heap *h, uint32_t span)
{
	size_t i = h->n++;

	h->at[i] = span;
	for (; i > 0 && is_inner(h, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(h, i, (i - 1) / 2);
}

static void
heap_pop(struct heap *h)
{
	size_t i = 0;

	h->at[0] = h->at[--h->n];
	for (;;) {
		size_t most = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < h->n; k++)
			if (is_inner(h, k, most))
				most = k;
		if (most == i)
			return;
		swap(h, i, most);
		i = most;
	}
}

static int
add_region(struct hwtdi_dwarf_walk *w, uint64_t low, uint64_t high,
    uint32_t scope, struct hwtd_error *err)
{
	struct hwtdi_dwarf_region *last = w->n_regions > 0
	    ? &w->regions[w->n_regions - 1]
	    : NULL;
	int rc;

	if (last != NULL && last->scope == scope && last->high == low) {
		last->high = high;
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(w->image->ctx, &w->regions, &w->cap_regions,
	    w->n_regions + 1, sizeof(*w->regions), err);
	if (rc == HWTD_OK)
		w->regions[w->n_regions++] = (struct hwtdi_dwarf_region){ low,
			high, scope };
	return (rc);
}

/*
 * Scopes are numbered from the outer to the inner ones, so of those that an
 * address is in the last is the innermost.
 */
static int
flatten(struct hwtdi_dwarf_walk *w, const struct span *spans, size_t n,
    uint32_t *room, struct hwtd_error *err)
{
	struct heap h = { .spans = spans, .at = room };
	uint64_t at = 0, end;
	size_t next = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && (next < n || h.n > 0)) {
		if (h.n == 0)
			at = spans[next].low;
		while (next < n && spans[next].low <= at)
			heap_push(&h, (uint32_t)next++);
		while (h.n > 0 && spans[h.at[0]].high <= at)
			heap_pop(&h);
		if (h.n == 0)
			continue;
		end = spans[h.at[0]].high;
		if (next < n && spans[next].low < end)
			end = spans[next].low;
		rc = add_region(w, at, end, spans[h.at[0]].scope, err);
		at = end;
	}
	return (rc);
}

static int
make_regions(struct hwtdi_dwarf_walk *w, struct hwtd_error *err)
{
	const struct hwtdi_dwarf_scopes *s = w->scopes;
	const size_t most = s->ranges.n;
	struct span *spans = hwtdi_alloc(w->image->ctx, most * sizeof(*spans));
	uint32_t *room = hwtdi_alloc(w->image->ctx, most * sizeof(*room));
	size_t n = 0;
	int rc;

	if (most != 0 && (spans == NULL || room == NULL)) {
		rc = hwtdi_fail_nomem(err, most * sizeof(*spans));
	} else {
		for (uint32_t i = 0; i < s->n; i++)
			for (uint32_t k = 0; k < s->at[i].n_ranges; k++) {
				const struct hwtdi_dwarf_range
				    *r = &s->ranges
					      .at[s->at[i].first_range + k];

				if (r->low < r->high)
					spans[n++] = (struct span){ r->low,
						r->high, i };
			}
		if (n > 1)
			qsort(spans, n, sizeof(*spans), by_low);
		rc = flatten(w, spans, n, room, err);
	}
	hwtdi_free(w->image->ctx, spans, most * sizeof(*spans));
	hwtdi_free(w->image->ctx, room, most * sizeof(*room));
	return (rc);
}

size_t
hwtdi_dwarf_walk_units(const struct hwtdi_dwarf_image *image)
{
	return (image->n_units);
}

int
hwtdi_dwarf_walk_init(struct hwtdi_dwarf_walk *walk,
    struct hwtdi_dwarf_image *image, uint32_t unit, struct hwtd_error *err)
{
	struct hwtdi_dwarf_entry *entry = &image->units[unit];
	const struct hwtdi_dwarf_loaded *l;
	int rc;

	memset(walk, 0, sizeof(*walk));
	walk->image = image;
	walk->unit = unit;
	if (!entry->usable)
		return (HWTD_E_NOT_FOUND);
	rc = hwtdi_dwarf_image_load_scopes(image, entry, err);
	if (rc == HWTD_OK)
		rc = hwtdi_dwarf_image_load_lines(image, entry, err);
	if (rc == HWTD_OK) {
		l = entry->loaded;
		walk->scopes = &l->scopes;
		walk->lines = &l->lines;
		walk->fault = &l->fault;
		walk->work = l->abbrevs.n + l->split_abbrevs.n + l->scopes.n +
		    l->scopes.ranges.n + l->lines.n_rows + l->lines.n_files +
		    l->lines.n_dirs;
		walk->row = l->lines.n_sequences > 0
		    ? l->lines.sequences[0].first
		    : 0;
		rc = make_regions(walk, err);
	}
	if (rc != HWTD_OK)
		hwtdi_dwarf_walk_fini(walk);
	return (rc);
}

static uint32_t
scope_at(const struct hwtdi_dwarf_walk *w, uint64_t address)
{
	size_t low = 0, high = w->n_regions;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (w->regions[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low > 0 && address < w->regions[low - 1].high
		? w->regions[low - 1].scope
		: HWTDI_DWARF_NO_SCOPE);
}

/* Of rows at one address the last has the code; any can begin a statement. */
static bool
begins_statement(const struct hwtdi_dwarf_lines *l,
    const struct hwtdi_dwarf_sequence *s, size_t row)
{
	const struct hwtdi_dwarf_row *last = &l->rows[row];

	for (size_t i = row + 1; i > s->first; i--) {
		const struct hwtdi_dwarf_row *r = &l->rows[i - 1];

		if (r->address != last->address)
			break;
		if (r->is_statement && r->file == last->file &&
		    r->line == last->line)
			return (true);
	}
	return (false);
}

bool
hwtdi_dwarf_walk_next(struct hwtdi_dwarf_walk *walk,
    struct hwtdi_dwarf_seg *out)
{
	const struct hwtdi_dwarf_lines *l = walk->lines;

	while (walk->sequence < l->n_sequences) {
		const struct hwtdi_dwarf_sequence
		    *s = &l->sequences[walk->sequence];
		const struct hwtdi_dwarf_row *row = &l->rows[walk->row];
		const size_t no = walk->row++;
		const uint64_t end = no + 1 < s->end ? row[1].address
						     : s->high;

		if (no + 1 >= s->end && ++walk->sequence < l->n_sequences)
			walk->row = l->sequences[walk->sequence].first;
		if (end <= row->address)
			continue;
		*out = (struct hwtdi_dwarf_seg){ .low = row->address,
			.high = end,
			.file = row->file,
			.line = row->line,
			.scope = scope_at(walk, row->address),
			.is_statement = begins_statement(l, s, no) };
		if (walk->last.is_statement && walk->last.high == out->low &&
		    walk->last.file == out->file &&
		    walk->last.line == out->line)
			out->is_statement = true;
		walk->last = *out;
		return (true);
	}
	return (false);
}

int
hwtdi_dwarf_walk_function(struct hwtdi_dwarf_walk *walk, uint32_t scope,
    struct hwtdi_dwarf_frame *out, struct hwtd_error *err)
{
	struct hwtdi_dwarf_entry *entry = &walk->image->units[walk->unit];

	memset(out, 0, sizeof(*out));
	return (hwtdi_dwarf_image_names(walk->image, entry,
	    walk->scopes->at[scope].die, out, &entry->loaded->fault, err));
}

void
hwtdi_dwarf_walk_file(const struct hwtdi_dwarf_walk *walk, uint32_t file,
    struct hwtdi_dwarf_frame *out)
{
	memset(out, 0, sizeof(*out));
	hwtdi_dwarf_image_set_file(&walk->image->units[walk->unit], file, out);
}

void
hwtdi_dwarf_walk_fini(struct hwtdi_dwarf_walk *walk)
{
	struct hwtdi_dwarf_image *image = walk->image;

	hwtdi_array_free(image->ctx, walk->regions, walk->cap_regions,
	    sizeof(*walk->regions));
	hwtdi_dwarf_image_unload(image, &image->units[walk->unit]);
	memset(walk, 0, sizeof(*walk));
}

const char *
hwtdi_dwarf_frame_path(const struct hwtdi_dwarf_frame *frame, char *buf,
    size_t cap)
{
	const char *dir = frame->dir != NULL ? frame->dir : "";
	const char *comp = frame->comp_dir != NULL ? frame->comp_dir : "";
	int n;

	if (frame->file == NULL || frame->file[0] == '/' ||
	    (dir[0] == '\0' && comp[0] == '\0'))
		return (frame->file);
	if (dir[0] == '/' || comp[0] == '\0')
		n = snprintf(buf, cap, "%s/%s", dir[0] != '\0' ? dir : comp,
		    frame->file);
	else
		n = snprintf(buf, cap, "%s%s%s/%s", comp,
		    dir[0] != '\0' ? "/" : "", dir, frame->file);
	return (n > 0 && (size_t)n < cap ? buf : frame->file);
}
