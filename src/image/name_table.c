/*
 * Names of code by address that come from no ELF file.
 */
#include "image/name_table.h"

#include <string.h>

#include "base/fail.h"
#include "base/sort.h"

int
hwtdi_name_table_add(struct hwtdi_name_table *table, struct hwtd_context *ctx,
    const struct hwtdi_name *name, const char *text, size_t n_text,
    const char *group, size_t n_group, struct hwtd_error *err)
{
	struct hwtdi_name new = *name;
	const struct hwtdi_name *last;
	const char *end;
	int rc;

	end = n_text != 0 ? memchr(text, 0, n_text) : NULL;
	if (end != NULL)
		n_text = (size_t)(end - text);
	if (n_text > HWTDI_NAME_BYTES_MAX)
		n_text = HWTDI_NAME_BYTES_MAX;
	if (n_group > HWTDI_NAME_BYTES_MAX)
		n_group = HWTDI_NAME_BYTES_MAX;
	if (n_text == 0 || table->n == HWTDI_NAMES_MAX ||
	    (name->size != 0 && name->size - 1 > UINT64_MAX - name->address)) {
		table->n_bad++;
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(ctx, &table->names, &table->cap, table->n + 1,
	    sizeof(*table->names), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &table->strings,
		    &table->cap_strings,
		    table->n_strings + n_text + n_group + 3, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	if (table->n_strings + n_text + n_group + 3 > UINT32_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "names of more than %u bytes", UINT32_MAX));
	if (table->n_strings == 0)
		table->strings[table->n_strings++] = '\0';
	new.no = (uint32_t)table->n;
	new.group = 0;
	last = table->n > 0 ? &table->names[table->n - 1] : NULL;
	/* Those of a group come one behind the other. */
	if (n_group != 0 && last != NULL &&
	    strncmp(table->strings + last->group, group, n_group) == 0 &&
	    table->strings[last->group + n_group] == '\0') {
		new.group = last->group;
	} else if (n_group != 0) {
		new.group = (uint32_t)table->n_strings;
		memcpy(table->strings + new.group, group, n_group);
		table->strings[new.group + n_group] = '\0';
		table->n_strings += n_group + 1;
	}
	new.text = (uint32_t)table->n_strings;
	memcpy(table->strings + new.text, text, n_text);
	table->strings[new.text + n_text] = '\0';
	table->n_strings += n_text + 1;
	table->names[table->n++] = new;
	return (HWTD_OK);
}

/* Names without a size. */

/* Those without a size behind the others; then by address, and the best. */
static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_name *a = va, *b = vb;

	if ((a->size == 0) != (b->size == 0))
		return (a->size == 0 ? 1 : -1);
	if (a->address != b->address)
		return (a->address < b->address ? -1 : 1);
	if (a->size == 0 && a->rank != b->rank)
		return (a->rank < b->rank ? -1 : 1);
	return (a->no < b->no ? -1 : a->no > b->no);
}

/*
 * Give a size to names that have none.  One whose next is of another group is
 * not taken to reach there: between a kernel and its modules, and between
 * these, is much that has no name.
 */
static void
find_sizes(struct hwtdi_name *names, size_t n)
{
	size_t next;

	for (size_t i = 0; i < n; i = next) {
		uint64_t left = HWTDI_NAME_PAGE;

		left += -names[i].address & (HWTDI_NAME_PAGE - 1);
		if (left - 1 > UINT64_MAX - names[i].address)
			left = 0 - names[i].address;
		next = i + 1;
		while (next < n && names[next].address == names[i].address)
			next++;
		if (next < n &&
		    (names[next].group == names[i].group ||
			names[next].address - names[i].address < left))
			left = names[next].address - names[i].address;
		names[i].size = left;
	}
}

/* Overlaps. */

/* A heap of the names that begin before a place; the newest is the first. */
struct heap {
	uint32_t *at;
	size_t n;
};

static bool
is_before(const struct hwtdi_name *names, uint32_t a, uint32_t b)
{
	return (names[a].no > names[b].no);
}

static void
push(struct heap *h, const struct hwtdi_name *names, uint32_t name)
{
	size_t i = h->n++;

	while (i > 0 && is_before(names, name, h->at[(i - 1) / 2])) {
		h->at[i] = h->at[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->at[i] = name;
}

static void
pop(struct heap *h, const struct hwtdi_name *names)
{
	const uint32_t name = h->at[--h->n];
	size_t i = 0;

	for (size_t k = 1; k < h->n; k = 2 * i + 1) {
		if (k + 1 < h->n && is_before(names, h->at[k + 1], h->at[k]))
			k++;
		if (!is_before(names, h->at[k], name))
			break;
		h->at[i] = h->at[k];
		i = k;
	}
	h->at[i] = name;
}

static uint64_t
last_of(const struct hwtdi_name *name)
{
	return (name->address + (name->size - 1));
}

static int
add_piece(struct hwtdi_name_table *t, struct hwtd_context *ctx, uint64_t first,
    uint64_t last, uint32_t name, struct hwtd_error *err)
{
	int rc;

	if (t->n_pieces > 0 && t->pieces[t->n_pieces - 1].name == name &&
	    t->pieces[t->n_pieces - 1].last == first - 1) {
		t->pieces[t->n_pieces - 1].last = last;
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(ctx, &t->pieces, &t->cap_pieces, t->n_pieces + 1,
	    sizeof(*t->pieces), err);
	if (rc == HWTD_OK)
		t->pieces[t->n_pieces++] = (struct hwtdi_name_piece){ first,
			last, name };
	return (rc);
}

/* Go over all begins and ends; names that begin are sorted. */
static int
sweep(struct hwtdi_name_table *t, struct hwtd_context *ctx, size_t n,
    struct heap *h, struct hwtd_error *err)
{
	const struct hwtdi_name *names = t->names;
	uint64_t at = 0;
	size_t next = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && (next < n || h->n > 0)) {
		uint64_t last;

		if (h->n == 0 && names[next].address > at)
			at = names[next].address;
		while (next < n && names[next].address <= at)
			push(h, names, (uint32_t)next++);
		while (h->n > 0 && last_of(&names[h->at[0]]) < at)
			pop(h, names);
		if (h->n == 0)
			continue;
		last = last_of(&names[h->at[0]]);
		if (next < n && names[next].address <= last)
			last = names[next].address - 1;
		rc = add_piece(t, ctx, at, last, h->at[0], err);
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(ctx, t->n_pieces, err);
		if (last == UINT64_MAX)
			break;
		at = last + 1;
	}
	return (rc);
}

/* What [0, n) leaves free of names that have got a size of their own. */
static int
merge_sized(struct hwtdi_name_table *t, struct hwtd_context *ctx, size_t sized,
    struct hwtd_error *err)
{
	struct hwtdi_name_piece *pieces = t->pieces;
	const size_t n = t->n_pieces, cap = t->cap_pieces;
	size_t k = 0;
	int rc = HWTD_OK;

	if (sized == t->n)
		return (HWTD_OK);
	t->pieces = NULL;
	t->n_pieces = t->cap_pieces = 0;
	for (size_t i = sized; i < t->n && rc == HWTD_OK; i++) {
		uint64_t at = t->names[i].address, last;
		bool done = t->names[i].size == 0;

		rc = hwtdi_poll_each(ctx, i, err);
		while (!done && rc == HWTD_OK) {
			last = last_of(&t->names[i]);
			while (k < n && pieces[k].last < at && rc == HWTD_OK) {
				rc = add_piece(t, ctx, pieces[k].first,
				    pieces[k].last, pieces[k].name, err);
				k++;
			}
			if (rc == HWTD_OK && k < n && pieces[k].first <= at) {
				done = pieces[k].last >= last;
				at = pieces[k].last + 1;
				continue;
			}
			if (k < n && pieces[k].first <= last)
				last = pieces[k].first - 1;
			if (rc == HWTD_OK)
				rc = add_piece(t, ctx, at, last, (uint32_t)i,
				    err);
			done = last == last_of(&t->names[i]);
			at = last + 1;
		}
	}
	for (; k < n && rc == HWTD_OK; k++)
		rc = add_piece(t, ctx, pieces[k].first, pieces[k].last,
		    pieces[k].name, err);
	hwtdi_array_free(ctx, pieces, cap, sizeof(*pieces));
	return (rc);
}

int
hwtdi_name_table_finish(struct hwtdi_name_table *table,
    struct hwtd_context *ctx, struct hwtd_error *err)
{
	struct heap heap = { 0 };
	size_t sized = 0, room;
	int rc;

	table->n_pieces = 0;
	if (table->n == 0)
		return (HWTD_OK);
	rc = hwtdi_sort(ctx, table->names, table->n, sizeof(*table->names),
	    by_address, err);
	if (rc != HWTD_OK)
		return (rc);
	while (sized < table->n && table->names[sized].size != 0)
		sized++;
	find_sizes(table->names + sized, table->n - sized);
	room = (sized + 1) * sizeof(*heap.at);
	heap.at = hwtdi_alloc(ctx, room);
	if (heap.at == NULL)
		return (hwtdi_fail_nomem(err, room));
	rc = sweep(table, ctx, sized, &heap, err);
	hwtdi_free(ctx, heap.at, room);
	return (rc == HWTD_OK ? merge_sized(table, ctx, sized, err) : rc);
}

bool
hwtdi_name_table_find(const struct hwtdi_name_table *table, uint64_t address,
    struct hwtdi_name_found *out)
{
	const struct hwtdi_name *name;
	size_t low = 0, high = table->n_pieces;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (table->pieces[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || table->pieces[low - 1].last < address)
		return (false);
	name = &table->names[table->pieces[low - 1].name];
	out->text = table->strings + name->text;
	out->group = table->strings + name->group;
	out->address = name->address;
	return (true);
}

void
hwtdi_name_table_fini(struct hwtdi_name_table *table, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, table->names, table->cap, sizeof(*table->names));
	hwtdi_array_free(ctx, table->pieces, table->cap_pieces,
	    sizeof(*table->pieces));
	hwtdi_array_free(ctx, table->strings, table->cap_strings, 1);
	memset(table, 0, sizeof(*table));
}
