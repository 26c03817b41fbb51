/*
 * What was loaded as a whole, and where: an unload only names the address.
 */
#ifndef HWTDI_LOAD_LIST_H
#define HWTDI_LOAD_LIST_H

#include <hwtdecode/error.h>

#include "base/index.h"

/*
 * Forks that a search for what a parent had loaded goes back; those of
 * parents that loaded and unloaded nothing do not count.
 */
#define HWTDI_LOAD_MAX_FORKS 64u

struct hwtdi_load_piece {
	uint64_t address;
	uint64_t length;
};

/* From record `from` on this is at a place, until the next one is there. */
struct hwtdi_load {
	/* Image of the file. */
	uint32_t image;
	/* The one at this place before belongs to it. */
	bool joined;
	bool gone;
	uint64_t from;
	/* [piece, piece + n_pieces) of the list; none: nothing is there. */
	size_t piece;
	size_t n_pieces;
	/* At this place: index + 1 of the one before, of one long before. */
	size_t before;
	size_t jump;
	/* How many there are before it. */
	size_t depth;
};

/* An address in a life of a space; index of what is there last. */
struct hwtdi_load_place {
	uint32_t life;
	uint64_t addr;
	size_t last;
};

/*
 * A space from the record that emptied it to the next that does.  What no
 * place of it tells is as it was in `parent` when record `forked` came.
 */
struct hwtdi_load_life {
	/* Index + 1; 0: it began empty. */
	uint32_t parent;
	uint64_t forked;
	bool has_places;
};

/* All zero: none. */
struct hwtdi_load_list {
	struct hwtdi_load *loads;
	size_t n, cap;
	struct hwtdi_load_piece *pieces;
	size_t n_pieces, cap_pieces;
	struct hwtdi_load_place *places;
	size_t n_places, cap_places;
	struct hwtdi_index place_index;
	struct hwtdi_load_life *lives;
	size_t n_lives, cap_lives;
	/* Of each space: index + 1 of its life; 0: it is empty. */
	uint32_t *spaces;
	size_t n_spaces, cap_spaces;
};

/*
 * The numbers of records must not fall from call to call.
 *
 * Record `seq` loaded a file at `addr`; what was loaded there before is taken
 * for gone, or with `join`, if it is the same file, for a part of it.  Its
 * pieces are added next.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_load_list_add(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t space, uint64_t addr, uint32_t image, bool join, uint64_t seq,
    struct hwtd_error *err);

/* A piece of the load that was added last. */
int hwtdi_load_list_add_piece(struct hwtdi_load_list *list,
    struct hwtd_context *ctx, uint64_t address, uint64_t length,
    struct hwtd_error *err);

/*
 * Record `seq` unloads what is at `addr`.  HWTD_OK and its number, from 1 on;
 * 0: nothing is known there.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_load_list_take(struct hwtdi_load_list *list,
    struct hwtd_context *ctx, uint32_t space, uint64_t addr, uint64_t seq,
    size_t *load_out, struct hwtd_error *err);

/* Its pieces; valid until the list changes. */
size_t hwtdi_load_list_pieces(const struct hwtdi_load_list *list, size_t load,
    const struct hwtdi_load_piece **pieces_out);

/* What else belongs to a load; 0: no more. */
size_t hwtdi_load_list_next(const struct hwtdi_load_list *list, size_t load);

/* The space is empty from now on: exec, exit. */
void hwtdi_load_list_clear(struct hwtdi_load_list *list, uint32_t space);

/* With record `seq` `child` has what `parent` has.  HWTD_E_NOMEM. */
int hwtdi_load_list_fork(struct hwtdi_load_list *list,
    struct hwtd_context *ctx, uint32_t child, uint32_t parent, uint64_t seq,
    struct hwtd_error *err);

void hwtdi_load_list_fini(struct hwtdi_load_list *list,
    struct hwtd_context *ctx);

#endif /* HWTDI_LOAD_LIST_H */
