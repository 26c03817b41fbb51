/*
 * Packing with gzip.
 *
 * Source: RFC 1952; zlib.h, "deflateInit2".
 */
#include "export/gzip_sink.h"

#include <string.h>
#include <zlib.h>

#include "base/fail.h"

#define PACKED_BYTES 65536u
/* deflate() takes 32 bits. */
#define PIECE_BYTES (1u << 30)
/* 15 bits of window, and 16 for the header of gzip. */
#define GZIP_WINDOW (15 + 16)
#define MEMORY_LEVEL 8
/* Twice as fast as the default, for files a tenth larger. */
#define LEVEL 4

struct hwtdi_gzip {
	struct hwtd_context *ctx;
	z_stream z;
	uint8_t packed[PACKED_BYTES];
};

/* zlib gives no sizes back, so they stand before what it gets. */
union header {
	size_t bytes;
	max_align_t align;
};

static voidpf
take(voidpf arg, uInt n, uInt each)
{
	const size_t bytes = (size_t)n * each + sizeof(union header);
	union header *at = hwtdi_alloc(arg, bytes);

	if (at == NULL)
		return (Z_NULL);
	at->bytes = bytes;
	return (at + 1);
}

static void
give_back(voidpf arg, voidpf memory)
{
	union header *at = memory;

	at--;
	hwtdi_free(arg, at, at->bytes);
}

int
hwtdi_gzip_create(struct hwtd_context *ctx, struct hwtdi_gzip **out,
    struct hwtd_error *err)
{
	struct hwtdi_gzip *gzip = hwtdi_alloc(ctx, sizeof(*gzip));

	if (gzip == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*gzip)));
	gzip->ctx = ctx;
	memset(&gzip->z, 0, sizeof(gzip->z));
	gzip->z.zalloc = take;
	gzip->z.zfree = give_back;
	gzip->z.opaque = ctx;
	if (deflateInit2(&gzip->z, LEVEL, Z_DEFLATED, GZIP_WINDOW,
		MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		hwtdi_free(ctx, gzip, sizeof(*gzip));
		return (hwtdi_fail(err, HWTD_E_NOMEM,
		    "no memory to pack with gzip"));
	}
	*out = gzip;
	return (HWTD_OK);
}

void
hwtdi_gzip_destroy(struct hwtdi_gzip *gzip)
{
	if (gzip == NULL)
		return;
	(void)deflateEnd(&gzip->z);
	hwtdi_free(gzip->ctx, gzip, sizeof(*gzip));
}

/* One call of deflate() for each full buffer. */
static int
pack(struct hwtdi_gzip *gzip, int flush, hwtdi_packed_fn put, void *arg,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;
	int z;

	do {
		gzip->z.next_out = gzip->packed;
		gzip->z.avail_out = PACKED_BYTES;
		z = deflate(&gzip->z, flush);
		if (z == Z_STREAM_ERROR)
			return (hwtdi_fail(err, HWTD_E_ENGINE,
			    "zlib: the stream is not consistent"));
		rc = put(arg, gzip->packed, PACKED_BYTES - gzip->z.avail_out,
		    err);
	} while (rc == HWTD_OK && gzip->z.avail_out == 0 && z != Z_STREAM_END);
	return (rc);
}

int
hwtdi_gzip_put(struct hwtdi_gzip *gzip, const void *bytes, size_t n, bool last,
    hwtdi_packed_fn put, void *arg, struct hwtd_error *err)
{
	const uint8_t *at = bytes;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && n > 0) {
		const size_t piece = n < PIECE_BYTES ? n : PIECE_BYTES;
		/* zlib does not write there; not all versions say so. */
		union {
			const uint8_t *in;
			Bytef *out;
		} const from = { .in = at };

		gzip->z.next_in = from.out;
		gzip->z.avail_in = (uInt)piece;
		rc = pack(gzip, Z_NO_FLUSH, put, arg, err);
		at += piece;
		n -= piece;
	}
	if (rc != HWTD_OK || !last)
		return (rc);
	gzip->z.next_in = NULL;
	gzip->z.avail_in = 0;
	rc = pack(gzip, Z_FINISH, put, arg, err);
	if (rc == HWTD_OK && deflateReset(&gzip->z) != Z_OK)
		rc = hwtdi_fail(err, HWTD_E_ENGINE,
		    "zlib: the stream cannot begin anew");
	return (rc);
}
