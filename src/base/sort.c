/*
 * Sorted parts are merged, from one half of the memory to the other and back.
 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Elements that are sorted or merged before the caller is asked. */
#define PART ((size_t)1 << 14)

struct sorting {
	struct hwtd_context *ctx;
	size_t n, size;
	hwtdi_compare_fn compare;
	struct hwtd_error *err;
};

static int
sort_parts(const struct sorting *s, char *array)
{
	for (size_t i = 0; i < s->n; i += PART) {
		const int rc = hwtdi_poll(s->ctx, s->err);

		if (rc != HWTD_OK)
			return (rc);
		qsort(array + i * s->size, s->n - i < PART ? s->n - i : PART,
		    s->size, s->compare);
	}
	return (HWTD_OK);
}

/* Merge each two neighbours of `width` elements. */
static int
merge_all(const struct sorting *s, const char *from, char *to, size_t width)
{
	size_t done = 0;

	for (size_t i = 0; i < s->n; i += width * 2) {
		const size_t middle = s->n - i < width ? s->n : i + width;
		const size_t end = s->n - middle < width ? s->n
							 : middle + width;
		const char *a = from + i * s->size;
		const char *b = from + middle * s->size;
		const char *const a_end = b,
				  *const b_end = from + end * s->size;

		while (a < a_end || b < b_end) {
			const bool left = b == b_end ||
			    (a < a_end && s->compare(a, b) <= 0);
			const char **next = left ? &a : &b;

			memcpy(to, *next, s->size);
			to += s->size;
			*next += s->size;
			if (++done % PART == 0) {
				const int rc = hwtdi_poll(s->ctx, s->err);

				if (rc != HWTD_OK)
					return (rc);
			}
		}
	}
	return (HWTD_OK);
}

int
hwtdi_sort(struct hwtd_context *ctx, void *array, size_t n, size_t size,
    hwtdi_compare_fn compare, struct hwtd_error *err)
{
	const struct sorting s = { ctx, n, size, compare, err };
	char *from = array, *to, *spare;
	int rc = HWTD_OK;

	if (n <= PART) {
		if (n > 1)
			qsort(array, n, size, compare);
		return (HWTD_OK);
	}
	spare = hwtdi_alloc(ctx, n * size);
	if (spare == NULL)
		return (hwtdi_fail_nomem(err, n * size));
	rc = sort_parts(&s, array);
	to = spare;
	for (size_t width = PART; width < n && rc == HWTD_OK; width *= 2) {
		char *const was = from;

		rc = merge_all(&s, from, to, width);
		if (rc != HWTD_OK)
			break;
		from = to;
		to = was;
	}
	if (from != array)
		memcpy(array, from, n * size);
	hwtdi_free(ctx, spare, n * size);
	return (rc);
}
