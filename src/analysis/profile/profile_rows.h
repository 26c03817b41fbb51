/*
 * What readers of a profile share.
 */
#ifndef HWTDI_PROFILE_ROWS_H
#define HWTDI_PROFILE_ROWS_H

#include "analysis/profile/profile_store.h"

/* A product that stays at the greatest number. */
static inline uint64_t
hwtdi_profile_times(uint64_t count, uint64_t n)
{
	return (n != 0 && count > UINT64_MAX / n ? UINT64_MAX : count * n);
}

/* Check what a reader of an array was given, and settle; *n_out is 0 then. */
int hwtdi_profile_check_read(struct hwtd_profile *p, const void *out,
    size_t stride, size_t elem, size_t cap, size_t *n_out);
/* Element `i` of the caller's array. */
void hwtdi_profile_store(void *out, size_t stride, size_t i, const void *elem,
    size_t bytes);
/* A block as readers have it, by number of arrival. */
void hwtdi_profile_block_at(const struct hwtd_profile *p, uint32_t no,
    struct hwtd_profile_block *out);

#endif /* HWTDI_PROFILE_ROWS_H */
