/*
 * Frames and spots of a flame: each once, found by an index.
 */
#include "analysis/profile/flame_tree.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/ratio.h"

#define MILLION 1000000u

const char *
hwtdi_flame_base_name(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	if (path == NULL)
		return ("");
	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

void
hwtdi_flame_add(struct hwtd_flame *f, uint64_t *to, uint64_t n)
{
	if (*to > UINT64_MAX - n) {
		*to = UINT64_MAX;
		f->info.flags |= HWTD_FLAMEF_SATURATED;
	} else {
		*to += n;
	}
}

/* Frames. */

static int
add_text(struct hwtd_flame *f, const char *open, const char *name,
    const char *close, uint32_t *no_out, struct hwtd_error *err)
{
	const size_t n_open = strlen(open), n = strlen(name),
		     n_close = strlen(close);
	char *text;
	int rc;

	if (n_open + n_close == 0)
		return (hwtdi_text_pool_add(&f->texts, f->library, name,
		    no_out, err));
	text = hwtdi_alloc(f->library, n_open + n + n_close + 1);
	if (text == NULL)
		return (hwtdi_fail_nomem(err, n_open + n + n_close + 1));
	memcpy(text, open, n_open);
	memcpy(text + n_open, name, n);
	memcpy(text + n_open + n, close, n_close + 1);
	rc = hwtdi_text_pool_add(&f->texts, f->library, text, no_out, err);
	hwtdi_free(f->library, text, n_open + n + n_close + 1);
	return (rc);
}

static int
find_frame(struct hwtd_flame *f, const struct hwtdi_flame_frame *frame,
    uint32_t *no_out, struct hwtd_error *err)
{
	const uint32_t key[3] = { frame->kind, frame->name, frame->base };
	const uint64_t hash = hwtdi_hash(f->library, key, sizeof(key));
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&f->frame_index, hash, &tries, no_out)) {
		const struct hwtdi_flame_frame *there = &f->frames[*no_out];

		if (there->kind == frame->kind && there->name == frame->name &&
		    there->base == frame->base)
			return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&f->frame_index, f->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(f->library, &f->frames, &f->cap_frames,
		    f->n_frames + 1, sizeof(*f->frames), err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)f->n_frames;
	f->frames[f->n_frames++] = *frame;
	hwtdi_index_put(&f->frame_index, hash, *no_out);
	return (HWTD_OK);
}

int
hwtdi_flame_frame(struct hwtd_flame *f, uint32_t kind, const char *open,
    const char *name, const char *close, const char *image,
    uint32_t *frame_out, struct hwtd_error *err)
{
	struct hwtdi_flame_frame frame = { .kind = kind };
	int rc = add_text(f, open, name, close, &frame.name, err);

	if (rc == HWTD_OK)
		rc = hwtdi_text_pool_add(&f->texts, f->library, image,
		    &frame.image, err);
	if (rc == HWTD_OK)
		rc = hwtdi_text_pool_add(&f->texts, f->library,
		    hwtdi_flame_base_name(image), &frame.base, err);
	return (rc != HWTD_OK ? rc : find_frame(f, &frame, frame_out, err));
}

/* Spots. */

int
hwtdi_flame_child(struct hwtd_flame *f, uint32_t parent, uint32_t frame,
    uint32_t *spot_out, struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash_pair(f->library->seed, parent, frame);
	const uint32_t kind = f->frames[frame].kind;
	struct hwtdi_flame_spot *spot;
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&f->spot_index, hash, &tries, spot_out))
		if (f->spots[*spot_out].parent == parent &&
		    f->spots[*spot_out].frame == frame)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&f->spot_index, f->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(f->library, &f->spots, &f->cap_spots,
		    f->n_spots + 1, sizeof(*f->spots), err);
	if (rc != HWTD_OK)
		return (rc);
	spot = &f->spots[f->n_spots];
	memset(spot, 0, sizeof(*spot));
	spot->parent = parent;
	spot->frame = frame;
	if (parent != HWTD_NO_ID)
		spot->depth = f->spots[parent].depth +
		    (kind != HWTD_FLAME_THREAD);
	*spot_out = (uint32_t)f->n_spots++;
	hwtdi_index_put(&f->spot_index, hash, *spot_out);
	return (HWTD_OK);
}

int
hwtdi_flame_special(struct hwtd_flame *f, uint32_t parent, uint32_t kind,
    uint32_t *spot_out, struct hwtd_error *err)
{
	static const char *const names[HWTD_FLAME_KINDS] = {
		[HWTD_FLAME_ALL] = "all",
		[HWTD_FLAME_UNKNOWN] = "[unknown]",
		[HWTD_FLAME_UNTRACED] = "[untraced]",
		[HWTD_FLAME_GAP] = "[gap]",
		[HWTD_FLAME_OFF] = "[not running]",
		[HWTD_FLAME_OTHERS] = "[other calls]",
		[HWTD_FLAME_SMALLER] = "[smaller]",
		[HWTD_FLAME_DEEPER] = "[deeper]",
	};
	uint32_t frame;
	const int rc = hwtdi_flame_frame(f, kind, "", names[kind], "", NULL,
	    &frame, err);

	return (rc != HWTD_OK
		? rc
		: hwtdi_flame_child(f, parent, frame, spot_out, err));
}

bool
hwtdi_flame_small(const struct hwtd_flame *f,
    const struct hwtdi_flame_spot *spot)
{
	const uint32_t kind = f->frames[spot->frame].kind;

	if (f->options.min_ppm == 0 || kind == HWTD_FLAME_ALL ||
	    kind == HWTD_FLAME_THREAD || kind == HWTD_FLAME_SMALLER)
		return (false);
	for (unsigned int side = 0; side < HWTDI_FLAME_SIDES; side++)
		if (f->total[side] != 0 &&
		    (hwtdi_uint128)spot->total[side] * MILLION >=
			(hwtdi_uint128)f->total[side] * f->options.min_ppm)
			return (false);
	return (true);
}

int
hwtdi_flame_drop(struct hwtd_flame *f, uint32_t spot, uint32_t *smaller_out,
    struct hwtd_error *err)
{
	const int rc = hwtdi_flame_special(f, f->spots[spot].parent,
	    HWTD_FLAME_SMALLER, smaller_out, err);

	if (rc != HWTD_OK || f->spots[spot].dropped)
		return (rc);
	f->spots[spot].dropped = true;
	f->spots[*smaller_out].merged++;
	f->info.smaller++;
	return (HWTD_OK);
}
