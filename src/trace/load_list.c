/*
 * What was loaded as a whole, and where.
 *
 * Loads stay in the list when they are gone: a child that was forked before
 * still has them.
 */
#include "trace/load_list.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

/* The place at an address in a life; NULL: nothing was done there. */
static struct hwtdi_load_place *
find_place(const struct hwtdi_load_list *list, uint32_t life, uint64_t addr,
    uint64_t hash)
{
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&list->place_index, hash, &tries, &no))
		if (list->places[no].life == life &&
		    list->places[no].addr == addr)
			return (&list->places[no]);
	return (NULL);
}

static uint64_t
hash_of(const struct hwtd_context *ctx, uint32_t life, uint64_t addr)
{
	return (hwtdi_hash_pair(ctx->seed, addr, life));
}

/* The life of a space that is to have a place; a new one if it is empty. */
static int
life_of(struct hwtdi_load_list *list, struct hwtd_context *ctx, uint32_t space,
    uint32_t *out, struct hwtd_error *err)
{
	struct hwtdi_load_life *life;
	int rc;

	rc = hwtdi_array_grow(ctx, &list->spaces, &list->cap_spaces,
	    (size_t)space + 1, sizeof(*list->spaces), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &list->lives, &list->cap_lives,
		    list->n_lives + 1, sizeof(*list->lives), err);
	if (rc != HWTD_OK)
		return (rc);
	while (list->n_spaces <= space)
		list->spaces[list->n_spaces++] = 0;
	if (list->spaces[space] == 0) {
		life = &list->lives[list->n_lives++];
		memset(life, 0, sizeof(*life));
		list->spaces[space] = (uint32_t)list->n_lives;
	}
	*out = list->spaces[space] - 1;
	return (HWTD_OK);
}

/* Make room for one put(), which then cannot fail. */
static int
reserve(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_index_reserve(&list->place_index, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &list->places, &list->cap_places,
		    list->n_places + 1, sizeof(*list->places), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &list->loads, &list->cap,
		    list->n + 1, sizeof(*list->loads), err);
	return (rc);
}

/*
 * Where the jump of the load behind `load` leads: the distances of jumps grow
 * so that any load before is reached by O(log n) of them.
 */
static size_t
next_jump(const struct hwtdi_load_list *list, size_t load)
{
	const struct hwtdi_load *loads = list->loads;
	size_t jump = loads[load].jump;

	if (jump == 0 || loads[jump - 1].jump == 0 ||
	    loads[load].depth - loads[jump - 1].depth !=
		loads[jump - 1].depth - loads[loads[jump - 1].jump - 1].depth)
		return (load + 1);
	return (loads[jump - 1].jump);
}

/* What record `seq` leaves at a place; there is room for it. */
static struct hwtdi_load *
put(struct hwtdi_load_list *list, const struct hwtd_context *ctx,
    uint32_t life, uint64_t addr, uint64_t seq)
{
	const uint64_t hash = hash_of(ctx, life, addr);
	struct hwtdi_load_place *place = find_place(list, life, addr, hash);
	struct hwtdi_load *load = &list->loads[list->n];

	memset(load, 0, sizeof(*load));
	load->from = seq;
	load->piece = list->n_pieces;
	if (place == NULL) {
		hwtdi_index_put(&list->place_index, hash,
		    (uint32_t)list->n_places);
		place = &list->places[list->n_places++];
		place->life = life;
		place->addr = addr;
		list->lives[life].has_places = true;
	} else {
		load->before = place->last + 1;
		load->jump = next_jump(list, place->last);
		load->depth = list->loads[place->last].depth + 1;
	}
	place->last = list->n++;
	return (load);
}

int
hwtdi_load_list_add(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t space, uint64_t addr, uint32_t image, bool join, uint64_t seq,
    struct hwtd_error *err)
{
	const struct hwtdi_load *before;
	struct hwtdi_load *load;
	uint32_t life;
	int rc;

	rc = reserve(list, ctx, err);
	if (rc == HWTD_OK)
		rc = life_of(list, ctx, space, &life, err);
	if (rc != HWTD_OK)
		return (rc);
	load = put(list, ctx, life, addr, seq);
	load->image = image;
	if (join && load->before != 0) {
		before = &list->loads[load->before - 1];
		load->joined = !before->gone && before->image == image;
	}
	return (HWTD_OK);
}

int
hwtdi_load_list_add_piece(struct hwtdi_load_list *list,
    struct hwtd_context *ctx, uint64_t address, uint64_t length,
    struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_array_grow(ctx, &list->pieces, &list->cap_pieces,
	    list->n_pieces + 1, sizeof(*list->pieces), err);
	if (rc != HWTD_OK)
		return (rc);
	list->pieces[list->n_pieces].address = address;
	list->pieces[list->n_pieces++].length = length;
	list->loads[list->n - 1].n_pieces++;
	return (HWTD_OK);
}

/* The last load of a place that is there when record `seq` comes. */
static const struct hwtdi_load *
find_at(const struct hwtdi_load_list *list,
    const struct hwtdi_load_place *place, uint64_t seq)
{
	const struct hwtdi_load *loads = list->loads;
	const struct hwtdi_load *load = &loads[place->last];

	while (load->from >= seq) {
		if (load->before == 0)
			return (NULL);
		load = load->jump != 0 && loads[load->jump - 1].from >= seq
		    ? &loads[load->jump - 1]
		    : &loads[load->before - 1];
	}
	return (load);
}

/*
 * What is at an address when record `seq` comes; NULL: nothing is known.
 * *own_out says whether that is what the life itself has there.
 */
static const struct hwtdi_load *
find(const struct hwtdi_load_list *list, const struct hwtd_context *ctx,
    uint32_t life, uint64_t addr, uint64_t seq, bool *own_out)
{
	for (unsigned int i = 0; i <= HWTDI_LOAD_MAX_FORKS; i++) {
		const struct hwtdi_load_place *place = find_place(list, life,
		    addr, hash_of(ctx, life, addr));
		const struct hwtdi_load *load = NULL;

		if (place != NULL)
			load = find_at(list, place, seq);
		*own_out = load != NULL && i == 0;
		if (load != NULL)
			return (load);
		if (list->lives[life].parent == 0)
			return (NULL);
		seq = list->lives[life].forked;
		life = list->lives[life].parent - 1;
	}
	return (NULL);
}

int
hwtdi_load_list_take(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t space, uint64_t addr, uint64_t seq, size_t *load_out,
    struct hwtd_error *err)
{
	const struct hwtdi_load *load;
	uint32_t life;
	bool own;
	int rc;

	*load_out = 0;
	if (space >= list->n_spaces || list->spaces[space] == 0)
		return (HWTD_OK);
	life = list->spaces[space] - 1;
	load = find(list, ctx, life, addr, seq, &own);
	if (load != NULL && !load->gone)
		*load_out = (size_t)(load - list->loads) + 1;
	/* A parent keeps what its child unloads, and is not asked again. */
	if (load == NULL ? list->lives[life].parent == 0 : own && load->gone)
		return (HWTD_OK);
	rc = reserve(list, ctx, err);
	if (rc == HWTD_OK)
		put(list, ctx, life, addr, seq)->gone = true;
	return (rc);
}

size_t
hwtdi_load_list_pieces(const struct hwtdi_load_list *list, size_t load,
    const struct hwtdi_load_piece **pieces_out)
{
	const struct hwtdi_load *l = &list->loads[load - 1];

	*pieces_out = l->n_pieces > 0 ? &list->pieces[l->piece] : NULL;
	return (l->n_pieces);
}

size_t
hwtdi_load_list_next(const struct hwtdi_load_list *list, size_t load)
{
	return (list->loads[load - 1].joined ? list->loads[load - 1].before
					     : 0);
}

void
hwtdi_load_list_clear(struct hwtdi_load_list *list, uint32_t space)
{
	if (space < list->n_spaces)
		list->spaces[space] = 0;
}

int
hwtdi_load_list_fork(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t child, uint32_t parent, uint64_t seq, struct hwtd_error *err)
{
	uint32_t from, life;
	int rc;

	hwtdi_load_list_clear(list, child);
	/* Nothing was loaded that could be unloaded. */
	if (parent >= list->n_spaces || list->spaces[parent] == 0)
		return (HWTD_OK);
	from = list->spaces[parent];
	/* Who did nothing has what its own parent had. */
	while (from != 0 && !list->lives[from - 1].has_places) {
		seq = list->lives[from - 1].forked;
		from = list->lives[from - 1].parent;
	}
	if (from == 0)
		return (HWTD_OK);
	rc = life_of(list, ctx, child, &life, err);
	if (rc != HWTD_OK)
		return (rc);
	list->lives[life].parent = from;
	list->lives[life].forked = seq;
	return (HWTD_OK);
}

void
hwtdi_load_list_fini(struct hwtdi_load_list *list, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, list->loads, list->cap, sizeof(*list->loads));
	hwtdi_array_free(ctx, list->pieces, list->cap_pieces,
	    sizeof(*list->pieces));
	hwtdi_array_free(ctx, list->places, list->cap_places,
	    sizeof(*list->places));
	hwtdi_array_free(ctx, list->lives, list->cap_lives,
	    sizeof(*list->lives));
	hwtdi_array_free(ctx, list->spaces, list->cap_spaces,
	    sizeof(*list->spaces));
	hwtdi_index_fini(&list->place_index, ctx);
	memset(list, 0, sizeof(*list));
}
