/*
 * Files that are stored compressed.
 *
 * Sources: RFC 8878, "Zstandard Frames" (magic); RFC 1952, "Member format";
 * "The .xz File Format", "Stream Header".
 */
#include "image/packed_file.h"

#include <string.h>

#include "image/unpack.h"

static const struct {
	const char *end;
	enum hwtdi_packing packing;
	uint8_t magic[6];
	size_t n_magic;
} kinds[] = {
	{ ".zst", HWTDI_PACKED_ZSTD, { 0x28, 0xb5, 0x2f, 0xfd }, 4 },
	{ ".xz", HWTDI_PACKED_XZ, { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6 },
	{ ".gz", HWTDI_PACKED_DEFLATE, { 0x1f, 0x8b, 0x08 }, 3 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

size_t
hwtdi_unpacked_name(const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < KINDS; i++) {
		const size_t end = strlen(kinds[i].end);

		if (n > end && strcmp(name + n - end, kinds[i].end) == 0)
			return (n - end);
	}
	return (0);
}

int
hwtdi_unpack(struct hwtd_context *ctx, const char *name, uint8_t **bytes_inout,
    uint64_t *n_inout, struct hwtd_error *err)
{
	struct hwtdi_unpacking what = { .bytes = *bytes_inout,
		.n = *n_inout,
		.most = ctx->max_image < HWTDI_UNPACKED_MAX
		    ? ctx->max_image
		    : HWTDI_UNPACKED_MAX,
		.name = name };
	uint8_t *bytes;
	uint64_t n;
	size_t kind = 0;
	int rc;

	while (kind < KINDS &&
	    (*n_inout < kinds[kind].n_magic ||
		memcmp(*bytes_inout, kinds[kind].magic, kinds[kind].n_magic) !=
		    0))
		kind++;
	if (kind == KINDS)
		return (HWTD_OK);
	what.packing = kinds[kind].packing;
	rc = hwtdi_unpack_bytes(ctx, &what, &bytes, &n, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_free(ctx, *bytes_inout, (size_t)*n_inout);
	*bytes_inout = bytes;
	*n_inout = n;
	return (HWTD_OK);
}
