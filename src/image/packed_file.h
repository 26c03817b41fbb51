/*
 * Files that are stored compressed, as many systems store kernel modules.
 */
#ifndef HWTDI_PACKED_FILE_H
#define HWTDI_PACKED_FILE_H

#include <stdbool.h>

#include "base/library.h"

/* Bytes of a file that was compressed, at the most. */
#define HWTDI_UNPACKED_MAX ((uint64_t)256 << 20)

/* Bytes of a name without ".zst", ".xz" or ".gz"; 0: it has no such end. */
size_t hwtdi_unpacked_name(const char *name);

/*
 * If the bytes, which are of the library's memory, are those of a compressed
 * file, put what it holds in their place; else they stay.
 *
 * HWTD_E_CORRUPT, HWTD_E_LIMIT, HWTD_E_NOMEM; the bytes stay.  Messages begin with `name`.
 */
int hwtdi_unpack(struct hwtd_context *ctx, const char *name,
    uint8_t **bytes_inout, uint64_t *n_inout, struct hwtd_error *err);

#endif /* HWTDI_PACKED_FILE_H */
