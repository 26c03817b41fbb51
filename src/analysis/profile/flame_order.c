/*
 * Spots of a flame as nodes: what all weighs, what is too small summed up, and an
 * order that follows from names and weights.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/flame_tree.h"
#include "base/fail.h"
#include "base/ratio.h"
#include "base/sort.h"

/* All that an order needs; sorting hands on nothing else. */
struct place {
	uint32_t parent;
	uint32_t spot;
	/* What is no name comes last. */
	bool last;
	uint64_t weight, base;
	const char *name, *image;
	uint32_t kind;
};

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

static int
by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order;

	ORDER(x->parent, y->parent);
	ORDER(x->last, y->last);
	order = strcmp(x->name, y->name);
	if (order == 0)
		order = strcmp(x->image, y->image);
	ORDER(order, 0);
	ORDER(x->kind, y->kind);
	return (0);
}

static int
by_weight(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	ORDER(x->parent, y->parent);
	ORDER(x->last, y->last);
	ORDER(y->weight, x->weight);
	ORDER(y->base, x->base);
	return (by_name(a, b));
}

static void
add_up(struct hwtd_flame *f)
{
	for (size_t i = 0; i < f->n_spots; i++)
		memcpy(f->spots[i].total, f->spots[i].self,
		    sizeof(f->spots[i].total));
	/* Children have higher numbers. */
	for (size_t i = f->n_spots; i-- > 1;) {
		struct hwtdi_flame_spot
		    *parent = &f->spots[f->spots[i].parent];

		for (unsigned int side = 0; side < HWTDI_FLAME_SIDES; side++)
			hwtdi_flame_add(f, &parent->total[side],
			    f->spots[i].total[side]);
	}
}

/*
 * What is below a spot that is too small is in its numbers already, and is one
 * more that is summed up; `number` says where.
 */
static int
drop_small(struct hwtd_flame *f, struct hwtd_error *err)
{
	const size_t n = f->n_spots;

	for (size_t i = 1; i < n; i++) {
		const uint32_t parent = f->spots[i].parent;
		uint32_t smaller;
		int rc;

		/* As it was made: nothing below it was followed. */
		if (f->spots[i].dropped)
			continue;
		if (f->spots[parent].dropped) {
			smaller = f->spots[parent].number;
			f->spots[i].dropped = true;
			f->spots[i].number = smaller;
			f->spots[smaller].merged++;
			f->info.smaller++;
			continue;
		}
		if (!hwtdi_flame_small(f, &f->spots[i]))
			continue;
		rc = hwtdi_flame_drop(f, (uint32_t)i, &smaller, err);
		if (rc != HWTD_OK)
			return (rc);
		f->spots[i].number = smaller;
		for (unsigned int side = 0; side < HWTDI_FLAME_SIDES; side++) {
			const uint64_t total = f->spots[i].total[side];

			hwtdi_flame_add(f, &f->spots[smaller].self[side],
			    total);
			hwtdi_flame_add(f, &f->spots[smaller].total[side],
			    total);
		}
	}
	return (HWTD_OK);
}

/* Spots that are told, by parent. */
static int
make_places(struct hwtd_flame *f, struct place **places_out, size_t *n_out,
    struct hwtd_error *err)
{
	struct place *places = hwtdi_alloc(f->library,
	    f->n_spots * sizeof(*places));
	size_t n = 0;
	int rc;

	if (places == NULL)
		return (hwtdi_fail_nomem(err, f->n_spots * sizeof(*places)));
	for (size_t i = 1; i < f->n_spots; i++) {
		const struct hwtdi_flame_spot *spot = &f->spots[i];
		const struct hwtdi_flame_frame
		    *frame = &f->frames[spot->frame];
		const char *name = hwtdi_text_pool_get(&f->texts, frame->name);
		const char *base = hwtdi_text_pool_get(&f->texts, frame->base);

		if (spot->dropped || (spot->total[0] | spot->total[1]) == 0)
			continue;
		places[n++] = (struct place){ .parent = spot->parent,
			.spot = (uint32_t)i,
			.last = frame->kind >= HWTD_FLAME_OTHERS,
			.weight = spot->total[0],
			.base = spot->total[1],
			.name = name != NULL ? name : "",
			.image = base != NULL ? base : "",
			.kind = frame->kind };
	}
	rc = hwtdi_sort(f->library, places, n, sizeof(*places),
	    (f->options.flags & HWTD_FLAME_BY_NAME) != 0 ? by_name : by_weight,
	    err);
	if (rc != HWTD_OK) {
		hwtdi_free(f->library, places, f->n_spots * sizeof(*places));
		return (rc);
	}
	for (size_t i = 0; i < f->n_spots; i++)
		f->spots[i].first = HWTD_NO_ID;
	for (size_t i = n; i-- > 0;) {
		f->spots[places[i].spot].place = (uint32_t)i;
		f->spots[places[i].parent].first = (uint32_t)i;
	}
	*places_out = places;
	*n_out = n;
	return (HWTD_OK);
}

static uint64_t
scaled(const struct hwtd_flame *f, uint64_t base)
{
	if ((f->options.flags & HWTD_FLAME_ABSOLUTE) != 0)
		return (base);
	/* A part of the whole, unless that had no room. */
	if (f->total[1] == 0 || base > f->total[1])
		return (base == 0 ? 0 : f->total[0]);
	return ((uint64_t)((hwtdi_uint128)base * f->total[0] / f->total[1]));
}

static void
tell(struct hwtd_flame *f, uint32_t no)
{
	struct hwtdi_flame_spot *spot = &f->spots[no];
	struct hwtd_flame_node *node = &f->nodes[f->n_nodes];

	spot->number = (uint32_t)f->n_nodes++;
	memset(node, 0, sizeof(*node));
	node->parent = HWTD_NO_ID;
	if (spot->parent != HWTD_NO_ID) {
		node->parent = f->spots[spot->parent].number;
		node->depth = f->nodes[node->parent].depth + 1;
	}
	node->frame = spot->frame;
	node->value = spot->total[0];
	node->self = spot->self[0];
	node->base = scaled(f, spot->total[1]);
	node->base_self = scaled(f, spot->self[1]);
	node->merged = spot->merged;
}

/* A node, then its children with all that is below them. */
static void
tell_all(struct hwtd_flame *f, const struct place *places, size_t n)
{
	uint32_t at = 0;

	tell(f, 0);
	for (;;) {
		if (f->spots[at].first != HWTD_NO_ID) {
			at = places[f->spots[at].first].spot;
			tell(f, at);
			continue;
		}
		/* The next one beside it, or beside one that it is in. */
		for (;;) {
			const struct hwtdi_flame_spot *spot = &f->spots[at];
			const size_t next = (size_t)spot->place + 1;

			f->nodes[spot->number].next = (uint32_t)f->n_nodes;
			if (at == 0)
				return;
			if (next < n && places[next].parent == spot->parent) {
				at = places[next].spot;
				break;
			}
			at = spot->parent;
		}
		tell(f, at);
	}
}

int
hwtdi_flame_order(struct hwtd_flame *f, struct hwtd_error *err)
{
	struct place *places = NULL;
	size_t n = 0, n_spots;
	int rc;

	add_up(f);
	rc = drop_small(f, err);
	if (rc != HWTD_OK)
		return (rc);
	n_spots = f->n_spots;
	rc = make_places(f, &places, &n, err);
	if (rc != HWTD_OK)
		return (rc);
	f->nodes = hwtdi_alloc(f->library, (n + 1) * sizeof(*f->nodes));
	if (f->nodes != NULL)
		tell_all(f, places, n);
	hwtdi_free(f->library, places, n_spots * sizeof(*places));
	hwtdi_array_free(f->library, f->spots, f->cap_spots,
	    sizeof(*f->spots));
	f->spots = NULL;
	f->n_spots = f->cap_spots = 0;
	hwtdi_index_fini(&f->spot_index, f->library);
	return (f->nodes != NULL
		? HWTD_OK
		: hwtdi_fail_nomem(err, (n + 1) * sizeof(*f->nodes)));
}
