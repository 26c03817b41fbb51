/*
 * Where the functions of a profile lie.
 */
#include "export/stacks/profile_addresses.h"

#include <string.h>

#include "base/fail.h"

#define PAGE UINT64_C(4096)
#define BATCH 64

static bool
has_place(const struct hwtd_profile_function *f)
{
	return ((f->flags &
		    (HWTD_PROFILE_FUNCTIONF_OFFSET |
			HWTD_PROFILE_FUNCTIONF_ADDRESS)) != 0 &&
	    (f->flags & HWTD_PROFILE_FUNCTIONF_INLINED) == 0);
}

static void
add_range(struct hwtdi_profile_addresses *map, uint32_t image, uint64_t off,
    uint64_t bytes)
{
	struct hwtdi_profile_range *range;
	uint64_t end;

	if (image >= map->n_images)
		return;
	range = &map->ranges[image];
	if (bytes == 0)
		bytes = 1;
	end = off > UINT64_MAX - bytes ? UINT64_MAX : off + bytes;
	end = end > UINT64_MAX - (PAGE - 1) ? UINT64_MAX & ~(PAGE - 1)
					    : (end + PAGE - 1) & ~(PAGE - 1);
	off &= ~(PAGE - 1);
	if (!range->used || off < range->first)
		range->first = off;
	if (!range->used || end > range->end)
		range->end = end;
	range->used = true;
}

static int
add_functions(struct hwtdi_profile_addresses *map, uint32_t n,
    struct hwtd_error *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hwtd_profile_function f = { .size = sizeof(f) };
		const int rc = hwtd_profile_function(map->profile, i, &f);

		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc < 0 ? rc : HWTD_E_INVALID,
			    "function %u of the profile cannot be read", i));
		if (!has_place(&f))
			continue;
		add_range(map, f.image, f.file_off, f.bytes);
		if (f.image >= map->n_images || map->ranges[f.image].shifted ||
		    (f.flags & HWTD_PROFILE_FUNCTIONF_LINKED) == 0)
			continue;
		map->ranges[f.image].shift = f.link_address - f.file_off;
		map->ranges[f.image].shifted = true;
	}
	return (HWTD_OK);
}

static int
add_blocks(struct hwtdi_profile_addresses *map, uint64_t n_blocks,
    struct hwtd_error *err)
{
	struct hwtd_profile_block blocks[BATCH];
	size_t n;

	for (uint64_t at = 0; at < n_blocks; at += n) {
		const int rc = hwtd_profile_blocks(map->profile, at, blocks,
		    sizeof(*blocks), BATCH, &n);

		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc < 0 ? rc : HWTD_E_INVALID,
			    "code of the profile cannot be read"));
		for (size_t i = 0; i < n; i++)
			add_range(map, blocks[i].image, blocks[i].file_off,
			    blocks[i].bytes);
	}
	return (HWTD_OK);
}

int
hwtdi_profile_addresses_open(struct hwtdi_profile_addresses *map,
    struct hwtd_context *ctx, struct hwtd_profile *profile,
    const struct hwtd_profile_info *info, struct hwtd_error *err)
{
	int rc;

	map->ctx = ctx;
	map->profile = profile;
	map->n_images = info->n_images;
	map->ranges = hwtdi_zalloc(ctx,
	    ((size_t)info->n_images + 1) * sizeof(*map->ranges));
	if (map->ranges == NULL)
		return (hwtdi_fail_nomem(err,
		    ((size_t)info->n_images + 1) * sizeof(*map->ranges)));
	rc = add_functions(map, info->n_functions, err);
	if (rc == HWTD_OK)
		rc = add_blocks(map, info->n_blocks, err);
	if (rc != HWTD_OK)
		hwtdi_profile_addresses_close(map);
	return (rc);
}

void
hwtdi_profile_addresses_close(struct hwtdi_profile_addresses *map)
{
	if (map->ranges != NULL)
		hwtdi_free(map->ctx, map->ranges,
		    ((size_t)map->n_images + 1) * sizeof(*map->ranges));
	map->ranges = NULL;
}

uint64_t
hwtdi_profile_address(const struct hwtdi_profile_addresses *map,
    uint32_t image, uint64_t off)
{
	return (image < map->n_images ? off + map->ranges[image].shift : off);
}

uint64_t
hwtdi_profile_function_address(const struct hwtdi_profile_addresses *map,
    const struct hwtd_profile_function *function)
{
	if (!has_place(function))
		return (0);
	if ((function->flags & HWTD_PROFILE_FUNCTIONF_LINKED) != 0)
		return (function->link_address);
	return (hwtdi_profile_address(map, function->image,
	    function->file_off));
}
