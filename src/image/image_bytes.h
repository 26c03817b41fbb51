/*
 * The bytes of images: read from a part of a file, or copied.
 */
#ifndef HWTDI_IMAGE_BYTES_H
#define HWTDI_IMAGE_BYTES_H

#include <hwtdecode/image.h>

#include "base/library.h"

/*
 * Bytes [offset, offset + length) of the file; with `length` 0 all from
 * `offset` on.  Owned: give back with hwtdi_free(ctx, bytes, n).
 *
 * HWTD_E_IO, HWTD_E_CORRUPT (the file is shorter), HWTD_E_LIMIT (max_image),
 * HWTD_E_NOMEM.
 */
int hwtdi_image_read(struct hwtd_context *ctx, const char *path,
    uint64_t offset, uint64_t length, uint8_t **bytes_out, uint64_t *n_out,
    struct hwtd_error *err);

/*
 * The first bytes of a file, `most` or as many as there are, into `buf`; *n_out
 * says how many.  HWTD_E_IO.
 */
int hwtdi_image_read_front(const char *path, void *buf, size_t most,
    size_t *n_out, struct hwtd_error *err);

/* A copy of `n` bytes under the same limits. */
int hwtdi_image_copy(struct hwtd_context *ctx, const void *bytes, uint64_t n,
    uint8_t **bytes_out, struct hwtd_error *err);

#endif /* HWTDI_IMAGE_BYTES_H */
