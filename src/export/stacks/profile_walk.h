/*
 * Going through the stacks of a profile, for formats that tell functions apart:
 * each node has a place, which is a function or stands for what is none.
 */
#ifndef HWTDI_PROFILE_WALK_H
#define HWTDI_PROFILE_WALK_H

#include <hwtdecode/profile.h>

#include "base/library.h"

/* What is no function; its place is n_functions and this. */
enum hwtdi_place_kind {
	HWTDI_PLACE_UNKNOWN,
	HWTDI_PLACE_UNTRACED,
	HWTDI_PLACE_SYSCALL,
	HWTDI_PLACE_INTERRUPT,
	HWTDI_PLACE_EXCEPTION,
	HWTDI_PLACE_OTHERS,
	HWTDI_PLACE_DEEPER,
	HWTDI_PLACE_ROOT
};

#define HWTDI_PLACES 8u

struct hwtdi_profile_walk {
	struct hwtd_context *ctx;
	struct hwtd_profile *profile;
	struct hwtd_profile_info info;
	/* Of the node that was read: places from its root on. */
	uint32_t *path;
	size_t cap_path;
	/* Thread of its root, or HWTD_NO_ID. */
	uint32_t thread;
	/* Nodes that were read, and those of them that are not told yet. */
	struct hwtd_profile_node *batch;
	size_t n_batch, at_batch;
	uint64_t next;
};

/* HWTD_E_NOMEM, or what reading the profile returns. */
int hwtdi_profile_walk_open(struct hwtdi_profile_walk *walk,
    struct hwtd_context *ctx, struct hwtd_profile *profile,
    struct hwtd_error *err);

/*
 * The next node; walk->path[node->depth] is its place.  HWTD_OK, HWTD_END,
 * HWTD_E_NOMEM, or what reading the profile returns.
 */
int hwtdi_profile_walk_next(struct hwtdi_profile_walk *walk,
    struct hwtd_profile_node *out, struct hwtd_error *err);

void hwtdi_profile_walk_close(struct hwtdi_profile_walk *walk);

/* The name of what is no function, in brackets. */
const char *hwtdi_place_name(uint32_t kind);

/* Text that tells a thread, cut to what there is room for. */
void hwtdi_thread_text(struct hwtd_profile *profile, uint32_t thread,
    char *text, size_t room);

/* How much of a trace was not seen: one line. */
void hwtdi_unseen_text(const struct hwtd_profile_info *info, char *text,
    size_t room);

#endif /* HWTDI_PROFILE_WALK_H */
