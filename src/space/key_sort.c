/*
 * A stable sort of numbers: runs are merged, twice as long each time.
 */
#include "space/key_sort.h"

#include <string.h>

#include "base/fail.h"

/* Merge items[0, middle) and items[middle, n) into `out`. */
static void
merge(const struct hwtdi_keyed *items, size_t middle, size_t n,
    struct hwtdi_keyed *out)
{
	size_t a = 0, b = middle;

	while (a < middle && b < n)
		*out++ = items[b].key < items[a].key ? items[b++] : items[a++];
	memcpy(out, items + a, (middle - a) * sizeof(*out));
	memcpy(out + (middle - a), items + b, (n - b) * sizeof(*out));
}

int
hwtdi_key_sort(struct hwtd_context *ctx, struct hwtdi_keyed *items, size_t n,
    struct hwtd_error *err)
{
	struct hwtdi_keyed *scratch, *from = items, *to;
	size_t i = 1;

	while (i < n && items[i - 1].key <= items[i].key)
		i++;
	/* Records mostly are in order. */
	if (i >= n)
		return (HWTD_OK);
	scratch = hwtdi_alloc(ctx, n * sizeof(*scratch));
	if (scratch == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*scratch)));
	to = scratch;
	for (size_t width = 1; width < n; width *= 2) {
		struct hwtdi_keyed *swap = from;

		for (size_t at = 0; at < n;) {
			const size_t left = n - at;
			const size_t middle = left < width ? left : width;
			const size_t both = left - middle < width
			    ? left
			    : middle + width;

			merge(from + at, middle, both, to + at);
			at += both;
		}
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	hwtdi_free(ctx, scratch, n * sizeof(*scratch));
	return (HWTD_OK);
}
