/*
 * One address space at one time: built by a sweep over addresses, searched by
 * bisection.
 */
#include "space/space_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Where a mapping begins, for the sweep. */
struct start {
	uint64_t first;
	size_t index;
};

static int
by_first(const void *a, const void *b)
{
	const struct start *x = a;
	const struct start *y = b;

	if (x->first != y->first)
		return (x->first < y->first ? -1 : 1);
	return (x->index < y->index ? -1 : x->index > y->index);
}

/* A heap of indexes, greatest on top: the latest mapping is on top. */
static void
heap_push(size_t *heap, size_t *n, size_t index)
{
	size_t at = (*n)++;

	while (at > 0 && heap[(at - 1) / 2] < index) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = index;
}

static void
heap_pop(size_t *heap, size_t *n)
{
	size_t last = heap[--*n];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= *n)
			break;
		if (child + 1 < *n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= last)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
}

/* Append [first, last] of a mapping, or make the piece before it longer. */
static int
append(struct hwtd_context *ctx, struct hwtdi_space_map *map,
    const struct hwtdi_mapping *mapping, uint64_t first, uint64_t last,
    struct hwtd_error *err)
{
	uint64_t section_off = mapping->section_off + (first - mapping->first);
	struct hwtdi_mapping *piece;
	int rc;

	if (map->n > 0) {
		piece = &map->at[map->n - 1];
		if (piece->section == mapping->section &&
		    piece->last + 1 == first &&
		    piece->section_off + (first - piece->first) ==
			section_off) {
			piece->last = last;
			return (HWTD_OK);
		}
	}
	rc = hwtdi_array_grow(ctx, &map->at, &map->cap, map->n + 1,
	    sizeof(*map->at), err);
	if (rc != HWTD_OK)
		return (rc);
	piece = &map->at[map->n++];
	memset(piece, 0, sizeof(*piece));
	piece->first = first;
	piece->last = last;
	piece->section_off = section_off;
	piece->section = mapping->section;
	return (HWTD_OK);
}

/*
 * At every address where something begins or ends, the latest of the mappings
 * there shows until the next such address.
 */
static int
sweep(struct hwtd_context *ctx, const struct hwtdi_mapping *mappings,
    const struct start *starts, size_t *heap, size_t n,
    struct hwtdi_space_map *map, struct hwtd_error *err)
{
	size_t next = 0, active = 0;
	uint64_t at = 0;
	int rc;

	for (;;) {
		const struct hwtdi_mapping *top;
		uint64_t last;

		/* Drop what ended; nothing below the top matters yet. */
		while (active > 0 && mappings[heap[0]].last < at)
			heap_pop(heap, &active);
		if (active == 0) {
			if (next == n)
				return (HWTD_OK);
			at = starts[next].first;
		}
		while (next < n && starts[next].first <= at)
			heap_push(heap, &active, starts[next++].index);
		top = &mappings[heap[0]];
		if (top->last < at)
			continue;
		last = top->last;
		if (next < n && starts[next].first <= last)
			last = starts[next].first - 1;
		rc = append(ctx, map, top, at, last, err);
		if (rc != HWTD_OK)
			return (rc);
		if (last == UINT64_MAX)
			return (HWTD_OK);
		at = last + 1;
	}
}

int
hwtdi_space_map_build(struct hwtd_context *ctx,
    const struct hwtdi_mapping *mappings, size_t n,
    struct hwtdi_space_map *out, struct hwtd_error *err)
{
	struct hwtdi_space_map map = { 0 };
	struct start *starts;
	size_t *heap;
	int rc = HWTD_OK;

	memset(out, 0, sizeof(*out));
	if (n == 0)
		return (HWTD_OK);
	if (n > SIZE_MAX / sizeof(*starts))
		return (hwtdi_fail_nomem(err, SIZE_MAX));
	starts = hwtdi_alloc(ctx, n * sizeof(*starts));
	heap = hwtdi_alloc(ctx, n * sizeof(*heap));
	if (starts == NULL || heap == NULL)
		rc = hwtdi_fail_nomem(err, n * sizeof(*starts));
	if (rc == HWTD_OK) {
		for (size_t i = 0; i < n; i++) {
			starts[i].first = mappings[i].first;
			starts[i].index = i;
		}
		qsort(starts, n, sizeof(*starts), by_first);
		rc = sweep(ctx, mappings, starts, heap, n, &map, err);
	}
	hwtdi_free(ctx, starts, n * sizeof(*starts));
	hwtdi_free(ctx, heap, n * sizeof(*heap));
	if (rc != HWTD_OK) {
		hwtdi_space_map_fini(ctx, &map);
		return (rc);
	}
	*out = map;
	return (HWTD_OK);
}

void
hwtdi_space_map_fini(struct hwtd_context *ctx, struct hwtdi_space_map *map)
{
	hwtdi_array_free(ctx, map->at, map->cap, sizeof(*map->at));
	memset(map, 0, sizeof(*map));
}

const struct hwtdi_mapping *
hwtdi_space_map_find(const struct hwtdi_space_map *map, uint64_t address)
{
	size_t low = 0, high = map->n;

	/* The first piece that ends at or after `address`. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (map->at[mid].last < address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == map->n || map->at[low].first > address)
		return (NULL);
	return (&map->at[low]);
}
