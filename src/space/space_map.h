/*
 * One address space at one time: which section lies at which address.
 */
#ifndef HWTDI_SPACE_MAP_H
#define HWTDI_SPACE_MAP_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* Addresses [first, last], so that the top of the space can be named. */
struct hwtdi_mapping {
	uint64_t first;
	uint64_t last;
	/* Byte of the section at `first`. */
	uint64_t section_off;
	uint32_t section;
};

/* Mappings that do not overlap, by address. */
struct hwtdi_space_map {
	struct hwtdi_mapping *at;
	size_t n;
	size_t cap;
};

/*
 * Lay `n` mappings over each other: a later one hides what it overlaps of an
 * earlier one.  What remains of one mapping stays one piece where nothing
 * lies between, and so do mappings that go on in the same section.
 */
int hwtdi_space_map_build(struct hwtd_context *ctx,
    const struct hwtdi_mapping *mappings, size_t n,
    struct hwtdi_space_map *out, struct hwtd_error *err);
void hwtdi_space_map_fini(struct hwtd_context *ctx,
    struct hwtdi_space_map *map);

/* The mapping that holds `address`, or NULL. */
const struct hwtdi_mapping *hwtdi_space_map_find(
    const struct hwtdi_space_map *map, uint64_t address);

#endif /* HWTDI_SPACE_MAP_H */
