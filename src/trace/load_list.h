/*
 * What was loaded as a whole, and where: an unload only names the address.
 */
#ifndef HWTDI_LOAD_LIST_H
#define HWTDI_LOAD_LIST_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* Forks that a search for what a parent had loaded goes back. */
#define HWTDI_LOAD_MAX_FORKS 64u

struct hwtdi_load_piece {
	uint64_t address;
	uint64_t length;
};

/* Loaded at `addr` by record `from`, gone with record `to`. */
struct hwtdi_load {
	uint32_t space;
	/* Image of the file. */
	uint32_t image;
	/* The one at this place before belongs to it. */
	bool joined;
	uint64_t addr;
	uint64_t from;
	uint64_t to;
	/* [piece, piece + n_pieces) of the list. */
	size_t piece;
	size_t n_pieces;
	/* Index + 1 of the load at this place before; of this space before. */
	size_t before;
	size_t before_in_space;
};

/* What is known of a space. */
struct hwtdi_load_space {
	/* Index + 1 of the last load. */
	size_t last;
	/* Where it came from, with that many records; HWTD_NO_ID: nowhere. */
	uint32_t parent;
	uint64_t forked;
};

/* All zero: none. */
struct hwtdi_load_list {
	struct hwtdi_load *loads;
	size_t n, cap;
	struct hwtdi_load_piece *pieces;
	size_t n_pieces, cap_pieces;
	struct hwtdi_load_space *spaces;
	size_t n_spaces, cap_spaces;
	/* Open-addressed index of the last load at a place: index + 1. */
	size_t *slots;
	size_t n_slots;
};

/*
 * Record `seq` loaded a file at `addr`; what was loaded there before is taken
 * for gone, or with `join`, if it is the same file, for a part of it.  Its
 * pieces are added next.  HWTD_E_NOMEM.
 */
int hwtdi_load_list_add(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t space, uint64_t addr, uint32_t image, bool join, uint64_t seq,
    struct hwtd_error *err);

/* A piece of the load that was added last. */
int hwtdi_load_list_add_piece(struct hwtdi_load_list *list,
    struct hwtd_context *ctx, uint64_t address, uint64_t length,
    struct hwtd_error *err);

/* Record `seq` unloads what is at `addr`; NULL: nothing that is known. */
const struct hwtdi_load *hwtdi_load_list_take(struct hwtdi_load_list *list,
    uint32_t space, uint64_t addr, uint64_t seq);

/* What else belongs to a load; NULL: no more. */
const struct hwtdi_load *hwtdi_load_list_next(
    const struct hwtdi_load_list *list, const struct hwtdi_load *load);

/* With record `seq` the space is empty: exec, exit. */
void hwtdi_load_list_clear(struct hwtdi_load_list *list, uint32_t space,
    uint64_t seq);

/* With record `seq` `child` has what `parent` has.  HWTD_E_NOMEM. */
int hwtdi_load_list_fork(struct hwtdi_load_list *list,
    struct hwtd_context *ctx, uint32_t child, uint32_t parent, uint64_t seq,
    struct hwtd_error *err);

void hwtdi_load_list_fini(struct hwtdi_load_list *list,
    struct hwtd_context *ctx);

#endif /* HWTDI_LOAD_LIST_H */
