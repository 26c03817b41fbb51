/*
 * Bytes of images that a file holds already, so that they are stored once.
 */
#ifndef HWTDI_HWT_STORED_H
#define HWTDI_HWT_STORED_H

#include "base/index.h"

struct hwtdi_hwt_stored_image {
	/* Of the bytes, of base/hash.h. */
	uint64_t hash;
	uint64_t n_bytes;
	const uint8_t *bytes;
	uint32_t id;
};

struct hwtdi_hwt_stored {
	struct hwtdi_hwt_stored_image *images;
	size_t n, cap;
	struct hwtdi_index index;
};

/* Whether these bytes are there; then *id_out is the image that has them. */
bool hwtdi_hwt_stored_find(const struct hwtdi_hwt_stored *stored,
    const struct hwtdi_hwt_stored_image *image, uint32_t *id_out);

/* The bytes are borrowed until the end. */
int hwtdi_hwt_stored_add(struct hwtdi_hwt_stored *stored,
    struct hwtd_context *ctx, const struct hwtdi_hwt_stored_image *image,
    struct hwtd_error *err);
void hwtdi_hwt_stored_fini(struct hwtdi_hwt_stored *stored,
    struct hwtd_context *ctx);

#endif /* HWTDI_HWT_STORED_H */
