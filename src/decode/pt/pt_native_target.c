/*
 * Branch targets that were found before.
 */
#include "decode/pt/pt_native_target.h"

#include <string.h>

/* How much bigger it gets at once. */
#define GROWTH 4

/* So many of the slots may be fought for before. */
#define CROWDED 16

void
hwtdi_ptn_targets_init(struct hwtdi_ptn_targets *targets)
{
	/* A hash of 64 bits, shifted, has one left. */
	static const struct hwtdi_ptn_target none[2];

	memset(targets, 0, sizeof(*targets));
	targets->slots = none;
	targets->shift = 63;
}

void
hwtdi_ptn_targets_fini(struct hwtdi_ptn_targets *targets,
    struct hwtd_context *library)
{
	hwtdi_array_free(library, targets->room, targets->n_room,
	    sizeof(*targets->room));
	hwtdi_ptn_targets_init(targets);
}

static struct hwtdi_ptn_target *
slot_to_fill(struct hwtdi_ptn_targets *targets, uint64_t ip)
{
	return (&targets->room[hwtdi_ptn_targets_slot(targets, ip) -
	    targets->slots]);
}

static void
grow(struct hwtdi_ptn_targets *targets, struct hwtd_context *library)
{
	struct hwtdi_ptn_target *const old = targets->room;
	const size_t n_old = targets->n_room;
	const size_t n = n_old == 0 ? HWTDI_PTN_FIRST_TARGETS : n_old * GROWTH;
	struct hwtdi_ptn_target *room;

	/* Nor is it tried again soon. */
	targets->driven_out = 0;
	if (n > HWTDI_PTN_MOST_TARGETS)
		return;
	room = hwtdi_zalloc(library, n * sizeof(*room));
	if (room == NULL)
		return;
	targets->room = room;
	targets->slots = room;
	targets->n_room = n;
	targets->shift = 64u - (unsigned int)__builtin_ctzll(n);
	for (size_t i = 0; i < n_old; i++)
		if (old[i].node != 0)
			*slot_to_fill(targets, old[i].ip) = old[i];
	hwtdi_array_free(library, old, n_old, sizeof(*old));
}

void
hwtdi_ptn_targets_put(struct hwtdi_ptn_targets *targets,
    struct hwtd_context *library, const struct hwtdi_ptn_target *target)
{
	struct hwtdi_ptn_target *slot;

	if (targets->room == NULL)
		grow(targets, library);
	if (targets->room == NULL)
		return;
	slot = slot_to_fill(targets, target->ip);
	if (slot->node != 0 && slot->ip != target->ip &&
	    ++targets->driven_out > targets->n_room / CROWDED) {
		grow(targets, library);
		slot = slot_to_fill(targets, target->ip);
	}
	*slot = *target;
}

void
hwtdi_ptn_targets_clear(struct hwtdi_ptn_targets *targets)
{
	if (targets->room != NULL)
		memset(targets->room, 0,
		    targets->n_room * sizeof(*targets->room));
}
