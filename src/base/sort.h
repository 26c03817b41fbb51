/*
 * Sorting that the caller can end: as qsort(), but much is sorted in parts.
 */
#ifndef HWTDI_SORT_H
#define HWTDI_SORT_H

#include "base/library.h"

typedef int (*hwtdi_compare_fn)(const void *a, const void *b);

/*
 * On failure all elements are there, in no order.  HWTD_OK, HWTD_E_NOMEM or
 * HWTD_E_CANCELED.
 */
int hwtdi_sort(struct hwtd_context *ctx, void *array, size_t n, size_t size,
    hwtdi_compare_fn compare, struct hwtd_error *err);

#endif /* HWTDI_SORT_H */
