/*
 * What was loaded as a whole, and where.
 *
 * Loads stay in the list when they are gone: a child that was forked before
 * still has them.
 */
#include "trace/load_list.h"

#include <hwtdecode/record.h>
#include <string.h>

#include "base/fail.h"

/* Loads at one place that a child's search goes back. */
#define MAX_STEPS 64u

static size_t
find_slot(const struct hwtdi_load_list *list, uint32_t space, uint64_t addr)
{
	uint64_t h = (addr ^ (uint64_t)space << 40) * 0x9e3779b97f4a7c15u;
	size_t at;

	h = (h ^ h >> 32) * 0x94d049bb133111ebu;
	at = (size_t)(h ^ h >> 29) & (list->n_slots - 1);
	while (list->slots[at] != 0 &&
	    (list->loads[list->slots[at] - 1].space != space ||
		list->loads[list->slots[at] - 1].addr != addr))
		at = (at + 1) & (list->n_slots - 1);
	return (at);
}

static int
grow_slots(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    struct hwtd_error *err)
{
	struct hwtdi_load_list grown = *list;

	if (list->n * 2 < list->n_slots)
		return (HWTD_OK);
	grown.n_slots = list->n_slots == 0 ? 64 : list->n_slots * 2;
	grown.slots = hwtdi_zalloc(ctx, grown.n_slots * sizeof(*grown.slots));
	if (grown.slots == NULL)
		return (hwtdi_fail_nomem(err,
		    grown.n_slots * sizeof(*grown.slots)));
	/* Later loads at a place take its slot. */
	for (size_t i = 0; i < list->n; i++)
		grown.slots[find_slot(&grown, list->loads[i].space,
		    list->loads[i].addr)] = i + 1;
	hwtdi_array_free(ctx, list->slots, list->n_slots,
	    sizeof(*list->slots));
	*list = grown;
	return (HWTD_OK);
}

static int
grow_spaces(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t space, struct hwtd_error *err)
{
	int rc;

	if (space < list->n_spaces)
		return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, &list->spaces, &list->cap_spaces,
	    (size_t)space + 1, sizeof(*list->spaces), err);
	while (rc == HWTD_OK && list->n_spaces <= space) {
		memset(&list->spaces[list->n_spaces], 0,
		    sizeof(*list->spaces));
		list->spaces[list->n_spaces++].parent = HWTD_NO_ID;
	}
	return (rc);
}

int
hwtdi_load_list_add(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t space, uint64_t addr, uint32_t image, bool join, uint64_t seq,
    struct hwtd_error *err)
{
	struct hwtdi_load *load, *before = NULL;
	size_t slot;
	int rc;

	rc = grow_spaces(list, ctx, space, err);
	if (rc == HWTD_OK)
		rc = grow_slots(list, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &list->loads, &list->cap,
		    list->n + 1, sizeof(*list->loads), err);
	if (rc != HWTD_OK)
		return (rc);
	slot = find_slot(list, space, addr);
	load = &list->loads[list->n++];
	load->space = space;
	load->image = image;
	load->joined = false;
	load->addr = addr;
	load->from = seq;
	load->to = UINT64_MAX;
	load->piece = list->n_pieces;
	load->n_pieces = 0;
	load->before = list->slots[slot];
	if (load->before != 0 && list->loads[load->before - 1].to > seq)
		before = &list->loads[load->before - 1];
	if (before != NULL && join && before->image == image)
		load->joined = true;
	else if (before != NULL)
		before->to = seq;
	load->before_in_space = list->spaces[space].last;
	list->spaces[space].last = list->n;
	list->slots[slot] = list->n;
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

/* The load at a place that is there when record `seq` comes. */
static struct hwtdi_load *
find(const struct hwtdi_load_list *list, uint32_t space, uint64_t addr,
    uint64_t seq)
{
	size_t at = list->slots[find_slot(list, space, addr)];

	for (unsigned int i = 0; at != 0 && i < MAX_STEPS; i++) {
		struct hwtdi_load *load = &list->loads[at - 1];

		if (load->from < seq)
			return (load->to >= seq ? load : NULL);
		at = load->before;
	}
	return (NULL);
}

const struct hwtdi_load *
hwtdi_load_list_take(struct hwtdi_load_list *list, uint32_t space,
    uint64_t addr, uint64_t seq)
{
	const uint32_t own = space;
	struct hwtdi_load *load;

	for (unsigned int i = 0;
	     list->n_slots != 0 && i <= HWTDI_LOAD_MAX_FORKS; i++) {
		if (space >= list->n_spaces)
			break;
		load = find(list, space, addr, seq);
		if (load != NULL) {
			/* A parent keeps what its child unloads. */
			if (space == own)
				load->to = seq;
			return (load);
		}
		seq = list->spaces[space].forked;
		space = list->spaces[space].parent;
	}
	return (NULL);
}

const struct hwtdi_load *
hwtdi_load_list_next(const struct hwtdi_load_list *list,
    const struct hwtdi_load *load)
{
	return (load->joined ? &list->loads[load->before - 1] : NULL);
}

void
hwtdi_load_list_clear(struct hwtdi_load_list *list, uint32_t space,
    uint64_t seq)
{
	size_t at;

	if (space >= list->n_spaces)
		return;
	for (at = list->spaces[space].last; at != 0;
	     at = list->loads[at - 1].before_in_space)
		if (list->loads[at - 1].to > seq)
			list->loads[at - 1].to = seq;
	list->spaces[space].last = 0;
	list->spaces[space].parent = HWTD_NO_ID;
}

int
hwtdi_load_list_fork(struct hwtdi_load_list *list, struct hwtd_context *ctx,
    uint32_t child, uint32_t parent, uint64_t seq, struct hwtd_error *err)
{
	int rc;

	/* Nothing was loaded that could be unloaded. */
	if (list->n == 0)
		return (HWTD_OK);
	rc = grow_spaces(list, ctx, child > parent ? child : parent, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_load_list_clear(list, child, seq);
	list->spaces[child].parent = parent;
	list->spaces[child].forked = seq;
	return (HWTD_OK);
}

void
hwtdi_load_list_fini(struct hwtdi_load_list *list, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, list->loads, list->cap, sizeof(*list->loads));
	hwtdi_array_free(ctx, list->pieces, list->cap_pieces,
	    sizeof(*list->pieces));
	hwtdi_array_free(ctx, list->spaces, list->cap_spaces,
	    sizeof(*list->spaces));
	hwtdi_array_free(ctx, list->slots, list->n_slots,
	    sizeof(*list->slots));
	memset(list, 0, sizeof(*list));
}
