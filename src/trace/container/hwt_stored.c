/*
 * Bytes of images that a file holds already.
 */
#include "trace/container/hwt_stored.h"

#include <string.h>

#include "base/fail.h"

bool
hwtdi_hwt_stored_find(const struct hwtdi_hwt_stored *stored,
    const struct hwtdi_hwt_stored_image *image, uint32_t *id_out)
{
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&stored->index, image->hash, &tries, &no)) {
		const struct hwtdi_hwt_stored_image *have = &stored
								 ->images[no];

		if (have->hash != image->hash ||
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
	int rc = hwtdi_index_reserve(&stored->index, ctx, err);

	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &stored->images, &stored->cap,
		    stored->n + 1, sizeof(*stored->images), err);
	if (rc != HWTD_OK)
		return (rc);
	stored->images[stored->n] = *image;
	hwtdi_index_put(&stored->index, image->hash, (uint32_t)stored->n++);
	return (HWTD_OK);
}

void
hwtdi_hwt_stored_fini(struct hwtdi_hwt_stored *stored,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, stored->images, stored->cap,
	    sizeof(*stored->images));
	hwtdi_index_fini(&stored->index, ctx);
	memset(stored, 0, sizeof(*stored));
}
