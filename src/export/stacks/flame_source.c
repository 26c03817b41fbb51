/*
 * Formats that are made of a flame, and opening exports of profiles and flames.
 */
#include "export/stacks/flame_source.h"

#include <string.h>

#include "analysis/profile/flame_tree.h"
#include "analysis/profile/profile_store.h"
#include "base/fail.h"

/* Opening exports. */

int
hwtd_export_open_profile(struct hwtd_profile *profile,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err)
{
	const struct hwtdi_export_source source = { .profile = profile };

	if (profile == NULL || opts == NULL || export_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no profile, no options, or no place for the export"));
	return (hwtdi_export_open(profile->library, HWTD_SOURCE_PROFILE,
	    &source, opts, export_out, err));
}

int
hwtd_export_open_flame(struct hwtd_flame *flame,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err)
{
	const struct hwtdi_export_source source = { .flame = flame };

	if (flame == NULL || opts == NULL || export_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no flame, no options, or no place for the export"));
	return (hwtdi_export_open(flame->library, HWTD_SOURCE_PROFILE, &source,
	    opts, export_out, err));
}

/* Reading. */

static int
make_path(struct hwtd_export *ex, struct hwtdi_flame_source *source,
    struct hwtd_error *err)
{
	size_t n = 1;

	for (uint32_t i = 0; i < source->info.n_nodes; i++)
		if (source->flame->nodes[i].depth >= n)
			n = (size_t)source->flame->nodes[i].depth + 1;
	source->path = hwtdi_alloc(ex->ctx, n * sizeof(*source->path));
	if (source->path == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*source->path)));
	source->n_path = n;
	return (HWTD_OK);
}

int
hwtdi_flame_source_open(struct hwtd_export *ex,
    struct hwtdi_flame_source *source, uint32_t flags, struct hwtd_error *err)
{
	const struct hwtd_flame_options how = { .size = sizeof(how),
		.flags = flags,
		.value = ex->options.value,
		.max_depth = ex->options.max_depth };
	int rc = HWTD_OK;

	source->flame = ex->source.flame;
	if (source->flame == NULL) {
		rc = hwtd_flame_open(ex->source.profile, &how, &source->own,
		    err);
		source->flame = source->own;
	}
	if (rc == HWTD_OK) {
		source->info.size = sizeof(source->info);
		(void)hwtd_flame_info(source->flame, &source->info);
		ex->info.merged = source->info.smaller + source->info.deeper;
		rc = make_path(ex, source, err);
	}
	if (rc != HWTD_OK)
		hwtdi_flame_source_close(ex, source);
	return (rc);
}

void
hwtdi_flame_source_close(struct hwtd_export *ex,
    struct hwtdi_flame_source *source)
{
	hwtdi_array_free(ex->ctx, source->path, source->n_path,
	    sizeof(*source->path));
	hwtd_flame_close(source->own);
	source->path = NULL;
	source->n_path = 0;
	source->own = NULL;
}

bool
hwtdi_flame_source_next(struct hwtdi_flame_source *source, uint32_t end,
    struct hwtd_flame_node *out)
{
	if (source->at >= end)
		return (false);
	*out = source->flame->nodes[source->at++];
	source->path[out->depth] = out->frame;
	return (true);
}

void
hwtdi_flame_source_node(const struct hwtdi_flame_source *source, uint32_t no,
    struct hwtd_flame_node *out)
{
	*out = source->flame->nodes[no];
}

void
hwtdi_flame_source_frame(const struct hwtdi_flame_source *source,
    uint32_t frame, struct hwtd_flame_frame *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	(void)hwtd_flame_frame(source->flame, frame, out);
}
