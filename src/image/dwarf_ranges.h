/*
 * Addresses that a DIE of DWARF covers.
 */
#ifndef HWTDI_DWARF_RANGES_H
#define HWTDI_DWARF_RANGES_H

#include "image/dwarf_die.h"

/* [low, high). */
struct hwtdi_dwarf_range {
	uint64_t low, high;
};

/* All zero: none. */
struct hwtdi_dwarf_ranges {
	struct hwtdi_dwarf_range *at;
	size_t n, cap;
	/* Entries of lists that may still be read: many DIEs can name one list. */
	uint64_t left;
};

#define HWTDI_DWARF_RANGES_MAX (UINT64_C(1) << 24)

/*
 * Add the ranges of a DIE; a DIE without code has none.
 * HWTD_E_CORRUPT, HWTD_E_LIMIT, HWTD_E_NOMEM.
 */
int hwtdi_dwarf_ranges_add(struct hwtdi_dwarf_ranges *ranges,
    const struct hwtdi_dwarf_view *view, const struct hwtdi_dwarf_die *die,
    struct hwtd_error *err);

void hwtdi_dwarf_ranges_fini(struct hwtdi_dwarf_ranges *ranges,
    struct hwtd_context *ctx);

#endif /* HWTDI_DWARF_RANGES_H */
