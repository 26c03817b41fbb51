/*
 * The tree of a flame while it is made: frames by what they are called, and spots,
 * which are frames at places of the tree, each with what it weighs.
 */
#ifndef HWTDI_FLAME_TREE_H
#define HWTDI_FLAME_TREE_H

#include <hwtdecode/flame.h>

#include "base/text_pool.h"
#include "base/users.h"

/* What is looked at, and what it is compared with. */
#define HWTDI_FLAME_SIDES 2

struct hwtdi_flame_frame {
	uint32_t kind;
	/* Texts of the pool; 0: none.  `base` is the last part of `image`. */
	uint32_t name, image, base;
	uint32_t file, line;
};

struct hwtdi_flame_spot {
	uint32_t parent;
	uint32_t frame;
	/* Without threads: levels of calls. */
	uint32_t depth;
	/* Of another one now: that of all that is too small. */
	bool dropped;
	uint64_t merged;
	uint64_t self[HWTDI_FLAME_SIDES];
	uint64_t total[HWTDI_FLAME_SIDES];
	/* Where it is told: its place among all by parent, its number there. */
	uint32_t place, number;
	/* Place of its first child; HWTD_NO_ID: it has none. */
	uint32_t first;
};

struct hwtd_flame {
	struct hwtd_context *library;
	struct hwtdi_users users;
	struct hwtd_flame_options options;
	struct hwtd_flame_info info;
	uint64_t total[HWTDI_FLAME_SIDES];

	struct hwtdi_text_pool texts;
	struct hwtdi_flame_frame *frames;
	size_t n_frames, cap_frames;
	struct hwtdi_index frame_index;

	/* Until it is in order; parents are before their children. */
	struct hwtdi_flame_spot *spots;
	size_t n_spots, cap_spots;
	struct hwtdi_index spot_index;

	struct hwtd_flame_node *nodes;
	size_t n_nodes;
};

/*
 * The frame of a name; `open` and `close`, "" if there is nothing, stand around
 * it.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_flame_frame(struct hwtd_flame *f, uint32_t kind, const char *open,
    const char *name, const char *close, const char *image,
    uint32_t *frame_out, struct hwtd_error *err);

/* A frame at a place: that of `frame` below `parent`. */
int hwtdi_flame_child(struct hwtd_flame *f, uint32_t parent, uint32_t frame,
    uint32_t *spot_out, struct hwtd_error *err);

/* The same for a kind that has one frame only. */
int hwtdi_flame_special(struct hwtd_flame *f, uint32_t parent, uint32_t kind,
    uint32_t *spot_out, struct hwtd_error *err);

/* Sums stay at their greatest. */
void hwtdi_flame_add(struct hwtd_flame *f, uint64_t *to, uint64_t n);

/* So little that it is to be summed up. */
bool hwtdi_flame_small(const struct hwtd_flame *f,
    const struct hwtdi_flame_spot *spot);

/*
 * Sum up at `parent` what is too small to be a spot: `spot`, or all that was in
 * it already.  Its own numbers are for who calls to add.
 */
int hwtdi_flame_drop(struct hwtd_flame *f, uint32_t spot,
    uint32_t *smaller_out, struct hwtd_error *err);

/* The last part of a path; "" of NULL. */
const char *hwtdi_flame_base_name(const char *path);

/* Closed once more. */
struct hwtd_flame *hwtdi_flame_hold(struct hwtd_flame *flame);

/* Read profiles into the tree: profiles[1] may be NULL. */
int hwtdi_flame_feed(struct hwtd_flame *f,
    struct hwtd_profile *const profiles[HWTDI_FLAME_SIDES],
    struct hwtd_error *err);

/* Make nodes of spots, which are given up. */
int hwtdi_flame_order(struct hwtd_flame *f, struct hwtd_error *err);

#endif /* HWTDI_FLAME_TREE_H */
