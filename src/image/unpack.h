/*
 * Bytes that are stored compressed.
 */
#ifndef HWTDI_UNPACK_H
#define HWTDI_UNPACK_H

#include "base/library.h"

enum hwtdi_packing {
	HWTDI_PACKED_ZSTD = 1,
	HWTDI_PACKED_XZ = 2,
	/* With a header of gzip or of zlib. */
	HWTDI_PACKED_DEFLATE = 3
};

/* What to unpack, and how much that may give. */
struct hwtdi_unpacking {
	enum hwtdi_packing packing;
	const uint8_t *bytes;
	uint64_t n;
	/* Bytes that it has when it is unpacked; 0: not known. */
	uint64_t expected;
	uint64_t most;
	/* Messages begin with it. */
	const char *name;
};

/*
 * Unpack; the result is given back with hwtdi_free(ctx, *bytes_out, *n_out).
 *
 * HWTD_E_CORRUPT (with the offset in what is packed), HWTD_E_LIMIT,
 * HWTD_E_NOMEM.
 */
int hwtdi_unpack_bytes(struct hwtd_context *ctx,
    const struct hwtdi_unpacking *what, uint8_t **bytes_out, uint64_t *n_out,
    struct hwtd_error *err);

#endif /* HWTDI_UNPACK_H */
