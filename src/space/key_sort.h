/*
 * A stable sort of numbers that takes the same time whatever they are.
 */
#ifndef HWTDI_KEY_SORT_H
#define HWTDI_KEY_SORT_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* What to sort by, and what it is of. */
struct hwtdi_keyed {
	uint64_t key;
	size_t index;
};

/* Lowest key first; equal keys stay in order.  HWTD_E_NOMEM. */
int hwtdi_key_sort(struct hwtd_context *ctx, struct hwtdi_keyed *items,
    size_t n, struct hwtd_error *err);

#endif /* HWTDI_KEY_SORT_H */
