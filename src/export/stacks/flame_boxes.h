/*
 * What is drawn of a flame: its frames in their order, those that are too narrow
 * together.
 */
#ifndef HWTDI_FLAME_BOXES_H
#define HWTDI_FLAME_BOXES_H

#include "export/stacks/flame_source.h"

struct hwtdi_flame_box {
	/* What stands left of it weighs so much. */
	uint64_t off;
	uint64_t value, base;
	uint32_t depth;
	/* HWTD_NO_ID: several that are too narrow. */
	uint32_t frame;
	/* How many are summed up in it; 0: none. */
	uint64_t frames;
};

/* Narrow frames beside one another, at a level. */
struct hwtdi_flame_run {
	/* Where the next frame of the level is. */
	uint64_t next;
	uint64_t off, value, base, frames;
};

struct hwtdi_flame_boxes {
	struct hwtd_context *ctx;
	const struct hwtdi_flame_source *source;
	/* A frame is narrow if it weighs less than min of per of all. */
	uint64_t min, per;
	uint64_t total, base_total;

	/* Shape [n_runs]: by level. */
	struct hwtdi_flame_run *runs;
	size_t n_runs;
	uint32_t at;
	/* Levels at which narrow frames may wait. */
	uint32_t deepest;

	/* All was gone through once, and counted: */
	bool counted;
	/* Levels that are drawn; the greatest change of a frame. */
	uint32_t rows;
	uint64_t most_change;
	/* Frames that are drawn together, or not at all. */
	uint64_t narrow;
	/* Frames of what it is compared with only, and what they weigh. */
	uint64_t gone_frames, gone;
};

/* HWTD_E_NOMEM. */
int hwtdi_flame_boxes_open(struct hwtdi_flame_boxes *boxes,
    struct hwtd_context *ctx, const struct hwtdi_flame_source *source,
    uint64_t min, uint64_t per, struct hwtd_error *err);

/* False: that was all. */
bool hwtdi_flame_boxes_next(struct hwtdi_flame_boxes *boxes,
    struct hwtdi_flame_box *out);

void hwtdi_flame_boxes_close(struct hwtdi_flame_boxes *boxes);

#endif /* HWTDI_FLAME_BOXES_H */
