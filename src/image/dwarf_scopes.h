/*
 * Functions of a unit of DWARF, and what was inlined into them.
 */
#ifndef HWTDI_DWARF_SCOPES_H
#define HWTDI_DWARF_SCOPES_H

#include "image/dwarf_ranges.h"

/* A function, or one that was inlined. */
struct hwtdi_dwarf_scope {
	/* Its DIE. */
	uint64_t die;
	/* Where it is entered. */
	uint64_t entry;
	/* Scopes in it are the ones behind it up to this one. */
	uint32_t next;
	uint32_t first_range, n_ranges;
	bool inlined;
	/* Where it was called, of one that was inlined. */
	uint32_t call_file, call_line, call_column, discriminator;
};

/* A piece of a function that was not inlined. */
struct hwtdi_dwarf_piece {
	uint64_t low, high;
	/* The highest end of it and of those before. */
	uint64_t reach;
	uint32_t scope;
};

/* All zero: none. */
struct hwtdi_dwarf_scopes {
	struct hwtdi_dwarf_scope *at;
	size_t n, cap;
	struct hwtdi_dwarf_ranges ranges;
	/* By address. */
	struct hwtdi_dwarf_piece *pieces;
	size_t n_pieces, cap_pieces;
};

/* Scopes that are nested; further ones are cut off. */
#define HWTDI_DWARF_DEPTH_MAX 256u

/*
 * Read all of a unit.  HWTD_E_NOMEM, HWTD_E_LIMIT; HWTD_E_CORRUPT: what came
 * before the damage is there.
 */
int hwtdi_dwarf_scopes_init(struct hwtdi_dwarf_scopes *scopes,
    const struct hwtdi_dwarf_view *view, struct hwtd_error *err);

/*
 * The scopes that an address is in, the innermost first; how many.  The last one
 * is a function.
 */
size_t hwtdi_dwarf_scopes_find(const struct hwtdi_dwarf_scopes *scopes,
    uint64_t address, uint32_t chain[HWTDI_DWARF_DEPTH_MAX]);

/* Bytes of memory. */
uint64_t hwtdi_dwarf_scopes_bytes(const struct hwtdi_dwarf_scopes *scopes);

void hwtdi_dwarf_scopes_fini(struct hwtdi_dwarf_scopes *scopes,
    struct hwtd_context *ctx);

#endif /* HWTDI_DWARF_SCOPES_H */
