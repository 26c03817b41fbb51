/*
 * Bytes that are stored compressed.
 *
 * Sources: RFC 8878 (zstd), RFC 1950 and 1952 (zlib, gzip), "The .xz File
 * Format"; what reads them are the libraries of these formats.
 */
#include "image/unpack.h"

#include <inttypes.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/fail.h"

/* Programs shrink to about a third. */
#define FIRST_GUESS 4u
#define LEAST_ROOM 4096u

/* Memory that the dictionary of xz may take. */
#define XZ_MEMORY_MAX (UINT64_C(256) << 20)

/* Bytes that come out before the caller is asked; zlib counts with unsigned int. */
#define STEP_MAX (UINT32_C(1) << 20)

struct unpacking {
	struct hwtd_context *ctx;
	const struct hwtdi_unpacking *what;
	uint64_t in;
	uint8_t *bytes;
	size_t n, room;
	/* The end was seen. */
	bool done;
	union {
		ZSTD_DStream *zstd;
		lzma_stream xz;
		z_stream deflate;
	} stream;
	struct hwtd_error *err;
};

static int
damaged(struct unpacking *u, const char *format, const char *why)
{
	return (hwtdi_fail_at(u->err, HWTD_E_CORRUPT, u->in, "%.120s: %s: %s",
	    u->what->name, format, why));
}

static int
make_room(struct unpacking *u)
{
	uint64_t room = u->room != 0 ? (uint64_t)u->room * 2
	    : u->what->expected != 0 ? u->what->expected
				     : u->what->n * FIRST_GUESS + LEAST_ROOM;
	uint8_t *bytes;

	if (room > u->what->most)
		room = u->what->most;
	if (room <= u->n)
		return (hwtdi_fail(u->err, HWTD_E_LIMIT,
		    "%.120s: more than %" PRIu64 " bytes when it is unpacked",
		    u->what->name, u->what->most));
	bytes = hwtdi_resize(u->ctx, u->bytes, u->room, (size_t)room);
	if (bytes == NULL)
		return (hwtdi_fail_nomem(u->err, (size_t)room));
	u->bytes = bytes;
	u->room = (size_t)room;
	return (HWTD_OK);
}

static size_t
step_room(const struct unpacking *u)
{
	const size_t left = u->room - u->n;

	return (left < STEP_MAX ? left : STEP_MAX);
}

static int
step_zstd(struct unpacking *u)
{
	ZSTD_inBuffer in = { u->what->bytes, (size_t)u->what->n,
		(size_t)u->in };
	ZSTD_outBuffer out = { u->bytes, u->n + step_room(u), u->n };
	size_t left;

	left = ZSTD_decompressStream(u->stream.zstd, &out, &in);
	u->in = in.pos;
	u->n = out.pos;
	if (ZSTD_isError(left))
		return (damaged(u, "zstd", ZSTD_getErrorName(left)));
	/* Frames may follow one another. */
	u->done = left == 0 && in.pos == in.size;
	return (HWTD_OK);
}

static const char *
xz_text(lzma_ret ret)
{
	switch (ret) {
	case LZMA_FORMAT_ERROR:
		return ("not of this format");
	case LZMA_OPTIONS_ERROR:
		return ("has options that are not known");
	case LZMA_MEMLIMIT_ERROR:
		return ("needs too much memory");
	default:
		return ("damaged");
	}
}

static int
step_xz(struct unpacking *u)
{
	lzma_stream *xz = &u->stream.xz;
	lzma_ret ret;

	xz->next_in = u->what->bytes + u->in;
	xz->avail_in = (size_t)(u->what->n - u->in);
	xz->next_out = u->bytes + u->n;
	xz->avail_out = step_room(u);
	ret = lzma_code(xz, LZMA_FINISH);
	u->in = u->what->n - xz->avail_in;
	u->n = (size_t)(xz->next_out - u->bytes);
	if (ret == LZMA_MEM_ERROR)
		return (hwtdi_fail_nomem(u->err, 0));
	if (ret != LZMA_OK && ret != LZMA_STREAM_END && ret != LZMA_BUF_ERROR)
		return (damaged(u, "xz", xz_text(ret)));
	u->done = ret == LZMA_STREAM_END;
	return (HWTD_OK);
}

static int
step_deflate(struct unpacking *u)
{
	z_stream *z = &u->stream.deflate;
	const uint64_t in = u->what->n - u->in;
	const uInt n_in = in < STEP_MAX ? (uInt)in : STEP_MAX;
	const uInt n_out = (uInt)step_room(u);
	int ret;

	/* It is not written; the library knows no const. */
	z->next_in = (Bytef *)(uintptr_t)(u->what->bytes + u->in);
	z->avail_in = n_in;
	z->next_out = u->bytes + u->n;
	z->avail_out = n_out;
	ret = inflate(z, Z_NO_FLUSH);
	u->in += n_in - z->avail_in;
	u->n += n_out - z->avail_out;
	if (ret == Z_MEM_ERROR)
		return (hwtdi_fail_nomem(u->err, 0));
	if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
		return (damaged(u, "deflate",
		    z->msg != NULL ? z->msg : "damaged"));
	u->done = ret == Z_STREAM_END;
	return (HWTD_OK);
}

static int
begin(struct unpacking *u)
{
	memset(&u->stream, 0, sizeof(u->stream));
	switch (u->what->packing) {
	case HWTDI_PACKED_ZSTD:
		u->stream.zstd = ZSTD_createDStream();
		return (u->stream.zstd != NULL ? HWTD_OK
					       : hwtdi_fail_nomem(u->err, 0));
	case HWTDI_PACKED_XZ:
		return (lzma_stream_decoder(&u->stream.xz, XZ_MEMORY_MAX, 0) ==
			    LZMA_OK
			? HWTD_OK
			: hwtdi_fail_nomem(u->err, 0));
	default:
		/* 32: gzip or zlib, as the header says. */
		return (inflateInit2(&u->stream.deflate, 15 + 32) == Z_OK
			? HWTD_OK
			: hwtdi_fail_nomem(u->err, 0));
	}
}

static void
end(struct unpacking *u)
{
	switch (u->what->packing) {
	case HWTDI_PACKED_ZSTD:
		(void)ZSTD_freeDStream(u->stream.zstd);
		break;
	case HWTDI_PACKED_XZ:
		lzma_end(&u->stream.xz);
		break;
	default:
		(void)inflateEnd(&u->stream.deflate);
		break;
	}
}

static int
unpack_all(struct unpacking *u)
{
	int (*const step)(struct unpacking * u) = u->what->packing ==
		HWTDI_PACKED_ZSTD
	    ? step_zstd
	    : u->what->packing == HWTDI_PACKED_XZ ? step_xz
						  : step_deflate;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && !u->done) {
		const uint64_t in = u->in;
		const size_t n = u->n;

		if (u->n == u->room)
			rc = make_room(u);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(u->ctx, u->err);
		if (rc == HWTD_OK)
			rc = step(u);
		if (rc == HWTD_OK && !u->done && u->in == in && u->n == n &&
		    u->n < u->room)
			rc = damaged(u,
			    u->what->packing == HWTDI_PACKED_ZSTD ? "zstd"
				: u->what->packing == HWTDI_PACKED_XZ
				? "xz"
				: "deflate",
			    "the end is missing");
	}
	return (rc);
}

int
hwtdi_unpack_bytes(struct hwtd_context *ctx,
    const struct hwtdi_unpacking *what, uint8_t **bytes_out, uint64_t *n_out,
    struct hwtd_error *err)
{
	struct unpacking u = { .ctx = ctx, .what = what, .err = err };
	uint8_t *fit;
	int rc;

	rc = begin(&u);
	if (rc != HWTD_OK)
		return (rc);
	rc = unpack_all(&u);
	end(&u);
	/* Memory is given back by the number of bytes that there are. */
	fit = rc == HWTD_OK ? hwtdi_resize(ctx, u.bytes, u.room, u.n) : NULL;
	if (fit == NULL) {
		hwtdi_free(ctx, u.bytes, u.room);
		return (rc != HWTD_OK ? rc : hwtdi_fail_nomem(err, u.n));
	}
	*bytes_out = fit;
	*n_out = u.n;
	return (HWTD_OK);
}
