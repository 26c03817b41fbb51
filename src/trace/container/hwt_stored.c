/*
 * Bytes of images that a file holds already.
 */
#include "trace/container/hwt_stored.h"

#include <string.h>

#include "base/fail.h"

/* Slots that are tried; sums that were made to collide cost no more. */
#define TRIES 64u

/* The slot after `tries` others for a sum. */
static uint32_t *
slot(const struct hwtdi_hwt_stored *stored, uint64_t sum, uint32_t tries)
{
	return (&stored->slots[(sum + tries) & (stored->n_slots - 1)]);
}

/* Without a free slot near by an image is not remembered. */
static void
enter(struct hwtdi_hwt_stored *stored, uint32_t no)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		uint32_t *at = slot(stored, stored->images[no].sum, i);

		if (*at == 0) {
			*at = no + 1;
			return;
		}
	}
}

static int
grow(struct hwtdi_hwt_stored *stored, struct hwtd_context *ctx,
    struct hwtd_error *err)
{
	size_t n = stored->n_slots == 0 ? 2 * TRIES : stored->n_slots * 2;
	uint32_t *slots;

	if (stored->n * 2 < stored->n_slots)
		return (HWTD_OK);
	slots = hwtdi_zalloc(ctx, n * sizeof(*slots));
	if (slots == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*slots)));
	hwtdi_array_free(ctx, stored->slots, stored->n_slots, sizeof(*slots));
	stored->slots = slots;
	stored->n_slots = n;
	for (size_t i = 0; i < stored->n; i++)
		enter(stored, (uint32_t)i);
	return (HWTD_OK);
}

bool
hwtdi_hwt_stored_find(const struct hwtdi_hwt_stored *stored,
    const struct hwtdi_hwt_stored_image *image, uint32_t *id_out)
{
	for (uint32_t i = 0; i < TRIES && stored->n_slots > 0; i++) {
		const struct hwtdi_hwt_stored_image *have;
		uint32_t no = *slot(stored, image->sum, i);

		if (no == 0)
			return (false);
		have = &stored->images[no - 1];
		if (have->sum != image->sum ||
		    have->n_bytes != image->n_bytes ||
		    memcmp(have->bytes, image->bytes,
			(size_t)image->n_bytes) != 0)
			continue;
		*id_out = have->id;
		return (true);
	}
	return (false);
}

int
hwtdi_hwt_stored_add(struct hwtdi_hwt_stored *stored, struct hwtd_context *ctx,
    const struct hwtdi_hwt_stored_image *image, struct hwtd_error *err)
{
	int rc = grow(stored, ctx, err);

	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &stored->images, &stored->cap,
		    stored->n + 1, sizeof(*stored->images), err);
	if (rc != HWTD_OK)
		return (rc);
	stored->images[stored->n] = *image;
	enter(stored, (uint32_t)stored->n++);
	return (HWTD_OK);
}

void
hwtdi_hwt_stored_fini(struct hwtdi_hwt_stored *stored,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, stored->images, stored->cap,
	    sizeof(*stored->images));
	hwtdi_array_free(ctx, stored->slots, stored->n_slots,
	    sizeof(*stored->slots));
	memset(stored, 0, sizeof(*stored));
}
