/*
 * Flames: what the public interface says.
 */
#include <string.h>

#include "analysis/profile/flame_tree.h"
#include "analysis/profile/profile_store.h"
#include "base/fail.h"

#define DEFAULT_DEPTH 1024u
#define MAX_PPM 1000000u
#define ALL_FLAGS                                                             \
	(HWTD_FLAME_BY_THREAD | HWTD_FLAME_INVERT | HWTD_FLAME_BY_NAME |      \
	    HWTD_FLAME_ABSOLUTE | HWTD_FLAME_OFF_TIME)

static int
check(const struct hwtd_flame_options *o, const struct hwtd_profile *profile,
    struct hwtd_error *err)
{
	if ((o->flags & ~(uint32_t)ALL_FLAGS) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "flags %#x",
		    o->flags));
	if (o->value > HWTD_VALUE_CALLS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u is no value that frames have", o->value));
	if (o->min_ppm > MAX_PPM)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "frames of less than %u of a million", o->min_ppm));
	if (o->base == profile)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a profile is compared with itself"));
	return (HWTD_OK);
}

static int
fill(struct hwtd_flame *f, struct hwtd_profile *profile,
    struct hwtd_error *err)
{
	struct hwtd_profile *const profiles[HWTDI_FLAME_SIDES] = { profile,
		f->options.base };
	uint32_t frame, root;
	int rc;

	rc = hwtdi_flame_frame(f, HWTD_FLAME_ALL, "", "all", "", NULL, &frame,
	    err);
	if (rc == HWTD_OK)
		rc = hwtdi_flame_child(f, HWTD_NO_ID, frame, &root, err);
	if (rc == HWTD_OK)
		rc = hwtdi_flame_feed(f, profiles, err);
	if (rc == HWTD_OK)
		rc = hwtdi_flame_order(f, err);
	f->options.base = NULL;
	f->info.n_nodes = (uint32_t)f->n_nodes;
	f->info.n_frames = (uint32_t)f->n_frames;
	f->info.total = f->total[0];
	f->info.base_total = f->total[1];
	return (rc);
}

int
hwtd_flame_open(struct hwtd_profile *profile,
    const struct hwtd_flame_options *opts, struct hwtd_flame **flame_out,
    struct hwtd_error *err)
{
	struct hwtd_flame_options o;
	struct hwtd_flame *f;
	int rc;

	if (profile == NULL || flame_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no profile or no place for the flame"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = check(&o, profile, err);
	if (rc != HWTD_OK)
		return (rc);
	if (o.max_depth == 0)
		o.max_depth = DEFAULT_DEPTH;
	f = hwtdi_zalloc(profile->library, sizeof(*f));
	if (f == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*f)));
	f->library = hwtdi_context_hold(profile->library);
	f->options = o;
	f->info.size = sizeof(f->info);
	if (o.base != NULL)
		f->info.flags = HWTD_FLAMEF_COMPARED |
		    ((o.flags & HWTD_FLAME_ABSOLUTE) != 0
			    ? 0
			    : HWTD_FLAMEF_SCALED);
	rc = fill(f, profile, err);
	if (rc != HWTD_OK) {
		hwtd_flame_close(f);
		return (rc);
	}
	*flame_out = f;
	return (HWTD_OK);
}

struct hwtd_flame *
hwtdi_flame_hold(struct hwtd_flame *flame)
{
	hwtdi_users_add(&flame->users);
	return (flame);
}

void
hwtd_flame_close(struct hwtd_flame *flame)
{
	struct hwtd_context *library;

	if (flame == NULL || !hwtdi_users_drop(&flame->users))
		return;
	library = flame->library;
	hwtdi_free(library, flame->nodes,
	    flame->nodes == NULL ? 0 : flame->n_nodes * sizeof(*flame->nodes));
	hwtdi_array_free(library, flame->spots, flame->cap_spots,
	    sizeof(*flame->spots));
	hwtdi_index_fini(&flame->spot_index, library);
	hwtdi_array_free(library, flame->frames, flame->cap_frames,
	    sizeof(*flame->frames));
	hwtdi_index_fini(&flame->frame_index, library);
	hwtdi_text_pool_fini(&flame->texts, library);
	hwtdi_free(library, flame, sizeof(*flame));
	hwtd_context_destroy(library);
}

/* Reading. */

int
hwtd_flame_info(const struct hwtd_flame *flame, struct hwtd_flame_info *out)
{
	if (flame == NULL || out == NULL)
		return (HWTD_E_INVALID);
	return (hwtdi_result_copy(out, &flame->info, sizeof(flame->info)));
}

int
hwtd_flame_nodes(const struct hwtd_flame *flame, uint64_t first,
    struct hwtd_flame_node *out, size_t stride, size_t cap, size_t *n_out)
{
	uint8_t *to = (uint8_t *)out;

	if (n_out == NULL)
		return (HWTD_E_INVALID);
	*n_out = 0;
	if (flame == NULL || out == NULL || cap == 0 ||
	    stride < sizeof(*out) || stride % 8 != 0)
		return (HWTD_E_INVALID);
	if (first >= flame->n_nodes)
		return (HWTD_END);
	if (cap > flame->n_nodes - first)
		cap = (size_t)(flame->n_nodes - first);
	for (size_t i = 0; i < cap; i++)
		memcpy(to + i * stride, &flame->nodes[first + i],
		    sizeof(*out));
	*n_out = cap;
	return (HWTD_OK);
}

int
hwtd_flame_frame(const struct hwtd_flame *flame, uint32_t frame,
    struct hwtd_flame_frame *out)
{
	struct hwtd_flame_frame told = { .size = sizeof(told) };
	const struct hwtdi_flame_frame *from;
	const char *name;

	if (flame == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (frame >= flame->n_frames)
		return (HWTD_END);
	from = &flame->frames[frame];
	name = hwtdi_text_pool_get(&flame->texts, from->name);
	told.kind = from->kind;
	told.name = name != NULL ? name : "";
	told.image = hwtdi_text_pool_get(&flame->texts, from->image);
	told.file = hwtdi_text_pool_get(&flame->texts, from->file);
	told.line = from->line;
	return (hwtdi_result_copy(out, &told, sizeof(told)));
}

const char *
hwtd_flame_kind_name(uint32_t kind)
{
	static const char *const names[HWTD_FLAME_KINDS] = {
		[HWTD_FLAME_ALL] = "all",
		[HWTD_FLAME_THREAD] = "thread",
		[HWTD_FLAME_FUNCTION] = "function",
		[HWTD_FLAME_UNKNOWN] = "unknown-function",
		[HWTD_FLAME_UNTRACED] = "untraced",
		[HWTD_FLAME_GAP] = "gap",
		[HWTD_FLAME_OFF] = "off",
		[HWTD_FLAME_OTHERS] = "others",
		[HWTD_FLAME_SMALLER] = "smaller",
		[HWTD_FLAME_DEEPER] = "deeper",
	};

	return (kind < HWTD_FLAME_KINDS ? names[kind] : "unknown");
}

const char *
hwtd_export_value_name(uint32_t value)
{
	static const char *const names[] = { "default", "insns", "time",
		"cycles", "calls" };

	return (value < sizeof(names) / sizeof(names[0]) ? names[value]
							 : "unknown");
}
