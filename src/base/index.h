/*
 * An index: numbers of things, found by a hash of what they are known by.
 *
 * Who keeps the things compares them.  Hashes have to come from base/hash.h,
 * or chosen input makes every search a long one.
 */
#ifndef HWTDI_INDEX_H
#define HWTDI_INDEX_H

#include <hwtdecode/error.h>

#include "base/library.h"

struct hwtdi_index_slot {
	/* The low half of the hash. */
	uint32_t hash;
	/* Number + 1; 0: free. */
	uint32_t number;
};

/* All zero: empty. */
struct hwtdi_index {
	struct hwtdi_index_slot *slots;
	size_t n, n_slots;
};

/*
 * Make room for one hwtdi_index_put(), which then cannot fail.
 * HWTD_E_NOMEM, HWTD_E_LIMIT (2^30 numbers).
 */
int hwtdi_index_reserve(struct hwtdi_index *index, struct hwtd_context *ctx,
    struct hwtd_error *err);

void hwtdi_index_put(struct hwtdi_index *index, uint64_t hash,
    uint32_t number);

/*
 * The next number whose thing may be the sought one; false: there is none.
 * *tries_inout begins with 0.
 */
bool hwtdi_index_next(const struct hwtdi_index *index, uint64_t hash,
    size_t *tries_inout, uint32_t *number_out);

void hwtdi_index_fini(struct hwtdi_index *index, struct hwtd_context *ctx);

#endif /* HWTDI_INDEX_H */
