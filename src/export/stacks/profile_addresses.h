/*
 * Where the functions of a profile lie, for formats that have addresses.
 *
 * Addresses are those that the file says its code has (link addresses), as far as
 * symbols tell them; readers look code up in the file by them, whether it was
 * loaded somewhere else (PIE) or not.
 */
#ifndef HWTDI_PROFILE_ADDRESSES_H
#define HWTDI_PROFILE_ADDRESSES_H

#include <hwtdecode/profile.h>

#include "base/library.h"

/* Code of an image that is used. */
struct hwtdi_profile_range {
	/* False: nothing of it. */
	bool used;
	/* Offsets in the file, in whole pages: [first, end). */
	uint64_t first, end;
	/* What is added to an offset in the file to get an address. */
	uint64_t shift;
	bool shifted;
};

struct hwtdi_profile_addresses {
	struct hwtd_context *ctx;
	struct hwtd_profile *profile;
	/* Shape [n_images]. */
	struct hwtdi_profile_range *ranges;
	uint32_t n_images;
};

/* HWTD_E_NOMEM, or what reading the profile returns. */
int hwtdi_profile_addresses_open(struct hwtdi_profile_addresses *map,
    struct hwtd_context *ctx, struct hwtd_profile *profile,
    const struct hwtd_profile_info *info, struct hwtd_error *err);
void hwtdi_profile_addresses_close(struct hwtdi_profile_addresses *map);

/* The address of a byte of an image; of a function, its first one. */
uint64_t hwtdi_profile_address(const struct hwtdi_profile_addresses *map,
    uint32_t image, uint64_t off);
uint64_t hwtdi_profile_function_address(const struct hwtdi_profile_addresses
					    *map,
    const struct hwtd_profile_function *function);

#endif /* HWTDI_PROFILE_ADDRESSES_H */
