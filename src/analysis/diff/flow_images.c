/*
 * Images of two traces, brought together by build-id, then by name and size.
 */
#include "analysis/diff/flow_images.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* An image on its way to a counterpart. */
struct candidate {
	const char *name;
	uint32_t image;
	uint32_t n_build_id;
	uint8_t build_id[HWTD_MAX_BUILD_ID];
	uint64_t bytes;
	bool taken;
};

struct list {
	struct candidate *at;
	size_t n;
};

static const char *
last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL ? slash + 1 : path);
}

/* By name, build-id, then in the order of the trace. */
static int
compare_builds(const struct candidate *a, const struct candidate *b)
{
	int order = strcmp(a->name, b->name);

	if (order != 0)
		return (order);
	if (a->n_build_id != b->n_build_id)
		return (a->n_build_id < b->n_build_id ? -1 : 1);
	return (memcmp(a->build_id, b->build_id, sizeof(a->build_id)));
}

static int
compare(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;
	const int order = compare_builds(a, b);

	if (order != 0)
		return (order);
	return (a->image < b->image ? -1 : a->image > b->image);
}

static void
fill(struct hwtd_trace *trace, struct list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct hwtd_image_info info = { .size = sizeof(info) };
		struct candidate *c = &list->at[i];

		memset(c, 0, sizeof(*c));
		c->image = i;
		c->name = "";
		if (hwtd_trace_image(trace, i, &info) != HWTD_OK)
			continue;
		if (info.path != NULL)
			c->name = last_name(info.path);
		c->n_build_id = info.n_build_id;
		memcpy(c->build_id, info.build_id, info.n_build_id);
		c->bytes = info.n_bytes;
	}
	if (list->n > 1)
		qsort(list->at, list->n, sizeof(*list->at), compare);
}

/* A pair, or one without a counterpart; there is room. */
static void
put(struct hwtdi_flow_images *images, uint32_t state, struct candidate *a,
    struct candidate *b)
{
	struct candidate *both[2] = { a, b };
	struct hwtdi_flow_image *at = &images->at[images->n];

	memset(at, 0, sizeof(*at));
	at->state = state;
	for (unsigned int side = 0; side < 2; side++) {
		struct hwtd_image_info info = { .size = sizeof(info) };

		at->image[side] = HWTD_NO_ID;
		if (both[side] == NULL)
			continue;
		both[side]->taken = true;
		at->image[side] = both[side]->image;
		images->numbers[side][both[side]->image] = (uint32_t)images->n;
		if (hwtd_trace_image(images->trace[side], both[side]->image,
			&info) == HWTD_OK)
			at->path[side] = info.path;
	}
	images->n++;
}

static uint32_t
state_of(const struct candidate *a, const struct candidate *b)
{
	if (a->n_build_id != 0 && b->n_build_id != 0)
		return (HWTD_DIVERGENCE_IMAGE_DIFFERENT);
	return (a->bytes != 0 && b->bytes != 0 && a->bytes != b->bytes
		? HWTD_DIVERGENCE_IMAGE_DIFFERENT
		: HWTD_DIVERGENCE_IMAGE_ASSUMED);
}

/* Two sorted lists; `by_build`: only what has equal build-ids. */
static void
merge(struct hwtdi_flow_images *images, struct list lists[2], bool by_build)
{
	size_t i = 0, j = 0;

	while (i < lists[0].n && j < lists[1].n) {
		struct candidate *a = &lists[0].at[i], *b = &lists[1].at[j];
		int order;

		if (a->taken || (by_build && a->n_build_id == 0)) {
			i++;
			continue;
		}
		if (b->taken || (by_build && b->n_build_id == 0)) {
			j++;
			continue;
		}
		order = by_build ? compare_builds(a, b)
				 : strcmp(a->name, b->name);
		if (order == 0)
			put(images,
			    by_build ? HWTD_DIVERGENCE_IMAGE_SAME
				     : state_of(a, b),
			    a, b);
		i += order <= 0;
		j += order >= 0;
	}
}

static int
match(struct hwtdi_flow_images *images, struct list lists[2],
    struct hwtd_error *err)
{
	struct hwtd_context *ctx = images->library;
	int rc;

	for (unsigned int side = 0; side < 2; side++) {
		struct hwtd_trace_info info = { .size = sizeof(info) };
		size_t n;

		(void)hwtd_trace_info(images->trace[side], &info);
		n = (size_t)info.n_images;
		lists[side].at = hwtdi_zalloc(ctx,
		    (n + 1) * sizeof(*lists[side].at));
		images->numbers[side] = hwtdi_zalloc(ctx,
		    (n + 1) * sizeof(uint32_t));
		lists[side].n = images->n_numbers[side] = n;
		if (lists[side].at == NULL || images->numbers[side] == NULL)
			return (hwtdi_fail_nomem(err,
			    (n + 1) * sizeof(*lists[side].at)));
		fill(images->trace[side], &lists[side]);
	}
	rc = hwtdi_array_grow(ctx, &images->at, &images->cap,
	    lists[0].n + lists[1].n + 1, sizeof(*images->at), err);
	if (rc != HWTD_OK)
		return (rc);
	merge(images, lists, true);
	merge(images, lists, false);
	for (size_t i = 0; i < lists[0].n; i++)
		if (!lists[0].at[i].taken)
			put(images, HWTD_DIVERGENCE_IMAGE_ONLY_A,
			    &lists[0].at[i], NULL);
	for (size_t i = 0; i < lists[1].n; i++)
		if (!lists[1].at[i].taken)
			put(images, HWTD_DIVERGENCE_IMAGE_ONLY_B, NULL,
			    &lists[1].at[i]);
	return (HWTD_OK);
}

int
hwtdi_flow_images_init(struct hwtdi_flow_images *images,
    struct hwtd_context *library, struct hwtd_trace *a, struct hwtd_trace *b,
    struct hwtd_error *err)
{
	struct list lists[2] = { { NULL, 0 }, { NULL, 0 } };
	int rc;

	memset(images, 0, sizeof(*images));
	images->library = library;
	images->trace[0] = a;
	images->trace[1] = b;
	rc = match(images, lists, err);
	for (unsigned int side = 0; side < 2; side++)
		hwtdi_free(library, lists[side].at,
		    (lists[side].n + 1) * sizeof(*lists[side].at));
	return (rc);
}

void
hwtdi_flow_images_fini(struct hwtdi_flow_images *images)
{
	struct hwtd_context *ctx = images->library;

	for (unsigned int side = 0; side < 2; side++) {
		hwtdi_free(ctx, images->numbers[side],
		    (images->n_numbers[side] + 1) * sizeof(uint32_t));
		hwtdi_array_free(ctx, images->sections[side],
		    images->cap_sections[side],
		    sizeof(*images->sections[side]));
	}
	hwtdi_array_free(ctx, images->at, images->cap, sizeof(*images->at));
}

static void
look_up(struct hwtdi_flow_images *images, unsigned int side, uint32_t section,
    struct hwtdi_flow_section *out)
{
	struct hwtd_section s = { .size = sizeof(s) };

	out->known = true;
	out->image = HWTD_NO_ID;
	if (hwtd_trace_section(images->trace[side], section, &s) != HWTD_OK ||
	    s.image >= images->n_numbers[side])
		return;
	out->image = images->numbers[side][s.image];
	out->foreign = images->at[out->image].state ==
	    HWTD_DIVERGENCE_IMAGE_DIFFERENT;
	out->delta = s.file_off - s.address;
}

int
hwtdi_flow_images_section(struct hwtdi_flow_images *images, unsigned int side,
    uint32_t section, const struct hwtdi_flow_section **out,
    struct hwtd_error *err)
{
	const size_t need = (size_t)section + 1;
	size_t *n = &images->n_sections[side];

	if (need > *n) {
		const int rc = hwtdi_array_grow(images->library,
		    &images->sections[side], &images->cap_sections[side], need,
		    sizeof(*images->sections[side]), err);

		if (rc != HWTD_OK)
			return (rc);
		memset(images->sections[side] + *n, 0,
		    (need - *n) * sizeof(*images->sections[side]));
		*n = need;
	}
	if (!images->sections[side][section].known)
		look_up(images, side, section,
		    &images->sections[side][section]);
	*out = &images->sections[side][section];
	return (HWTD_OK);
}
