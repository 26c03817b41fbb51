/*
 * Branch targets that were found before: addresses to nodes.
 *
 * What is not in it is found another way, so it may forget: every address has
 * one slot.  It begins small, because many streams are short, and grows when
 * addresses drive each other out.
 */
#ifndef HWTDI_PT_NATIVE_TARGET_H
#define HWTDI_PT_NATIVE_TARGET_H

#include "base/library.h"

/* Slots, at first and at the most. */
#define HWTDI_PTN_FIRST_TARGETS ((size_t)1 << 6)
#define HWTDI_PTN_MOST_TARGETS ((size_t)1 << 14)

struct hwtdi_ptn_target {
	uint64_t ip;
	/* 0: the slot is free. */
	uint32_t node;
	/* It counts if this is the decoder's. */
	uint32_t epoch;
};

struct hwtdi_ptn_targets {
	/* There always are some to look at. */
	const struct hwtdi_ptn_target *slots;
	/* From a hash of 64 bits to a slot. */
	unsigned int shift;
	/* The same slots, once there are some to be filled; else NULL. */
	struct hwtdi_ptn_target *room;
	size_t n_room;
	/* Addresses that were driven out since it grew. */
	size_t driven_out;
};

void hwtdi_ptn_targets_init(struct hwtdi_ptn_targets *targets);
void hwtdi_ptn_targets_fini(struct hwtdi_ptn_targets *targets,
    struct hwtd_context *library);
/* If there is no memory it is not remembered. */
void hwtdi_ptn_targets_put(struct hwtdi_ptn_targets *targets,
    struct hwtd_context *library, const struct hwtdi_ptn_target *target);
/* Free all slots. */
void hwtdi_ptn_targets_clear(struct hwtdi_ptn_targets *targets);

static inline size_t
hwtdi_ptn_targets_bytes(const struct hwtdi_ptn_targets *targets)
{
	return (targets->n_room * sizeof(*targets->room));
}

/* The slot of an address, which may have another one. */
static inline const struct hwtdi_ptn_target *
hwtdi_ptn_targets_slot(const struct hwtdi_ptn_targets *targets, uint64_t ip)
{
	return (&targets->slots[(ip * 0x9e3779b97f4a7c15u) >> targets->shift]);
}

#endif /* HWTDI_PT_NATIVE_TARGET_H */
