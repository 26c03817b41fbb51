/*
 * Files that are stored compressed.
 *
 * Sources: RFC 8878, "Zstandard Frames" (magic); RFC 1952, "Member format";
 * "The .xz File Format", "Stream Header".
 */
#include "image/packed_file.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "base/fail.h"

/* Programs shrink to about a third. */
#define FIRST_GUESS 4

static const struct {
	const char *end;
	const char *what;
	uint8_t magic[6];
	size_t n_magic;
} kinds[] = {
	{ ".zst", "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4 },
	{ ".xz", "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6 },
	{ ".gz", "gzip", { 0x1f, 0x8b, 0x08 }, 3 },
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

/* The rest of a file, in memory that grows as it comes. */
struct unpacking {
	struct hwtd_context *ctx;
	const char *name;
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	uint8_t *bytes;
	size_t n, room;
	struct hwtd_error *err;
};

static int
make_room(struct unpacking *u)
{
	const uint64_t most = u->ctx->max_image < HWTDI_UNPACKED_MAX
	    ? u->ctx->max_image
	    : HWTDI_UNPACKED_MAX;
	uint64_t room = u->room != 0 ? (uint64_t)u->room * 2
				     : (uint64_t)u->in.size * FIRST_GUESS;
	uint8_t *bytes;

	if (room > most)
		room = most;
	if (room <= u->n)
		return (hwtdi_fail(u->err, HWTD_E_LIMIT,
		    "%.120s: more than %" PRIu64 " bytes when it is unpacked",
		    u->name, most));
	bytes = hwtdi_resize(u->ctx, u->bytes, u->room, (size_t)room);
	if (bytes == NULL)
		return (hwtdi_fail_nomem(u->err, (size_t)room));
	u->bytes = bytes;
	u->room = (size_t)room;
	return (HWTD_OK);
}

static int
unpack_all(struct unpacking *u)
{
	size_t left = 1;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && (left != 0 || u->in.pos < u->in.size)) {
		ZSTD_outBuffer out;
		const size_t in = u->in.pos, n = u->n;

		if (u->n == u->room)
			rc = make_room(u);
		if (rc != HWTD_OK)
			break;
		out = (ZSTD_outBuffer){ u->bytes, u->room, u->n };
		left = ZSTD_decompressStream(u->stream, &out, &u->in);
		u->n = out.pos;
		if (ZSTD_isError(left))
			rc = hwtdi_fail_at(u->err, HWTD_E_CORRUPT, u->in.pos,
			    "%.120s: zstd: %s", u->name,
			    ZSTD_getErrorName(left));
		else if (left != 0 && u->in.pos == in && u->n == n)
			rc = hwtdi_fail_at(u->err, HWTD_E_CORRUPT, u->in.pos,
			    "%.120s: zstd: the end is missing", u->name);
	}
	return (rc);
}

int
hwtdi_unpack(struct hwtd_context *ctx, const char *name, uint8_t **bytes_inout,
    uint64_t *n_inout, struct hwtd_error *err)
{
	struct unpacking u = { .ctx = ctx, .name = name, .err = err };
	uint8_t *fit;
	size_t kind = 0;
	int rc;

	while (kind < KINDS &&
	    (*n_inout < kinds[kind].n_magic ||
		memcmp(*bytes_inout, kinds[kind].magic, kinds[kind].n_magic) !=
		    0))
		kind++;
	if (kind == KINDS)
		return (HWTD_OK);
	if (kind != 0)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%.120s: compressed by %s, unpack it", name,
		    kinds[kind].what));
	u.in = (ZSTD_inBuffer){ *bytes_inout, (size_t)*n_inout, 0 };
	u.stream = ZSTD_createDStream();
	if (u.stream == NULL)
		return (hwtdi_fail_nomem(err, 0));
	rc = unpack_all(&u);
	(void)ZSTD_freeDStream(u.stream);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, u.bytes, u.room);
		return (rc);
	}
	/* Memory is given back by the number of bytes that there are. */
	fit = hwtdi_resize(ctx, u.bytes, u.room, u.n);
	if (fit == NULL) {
		hwtdi_free(ctx, u.bytes, u.room);
		return (hwtdi_fail_nomem(err, u.n));
	}
	hwtdi_free(ctx, *bytes_inout, (size_t)*n_inout);
	*bytes_inout = fit;
	*n_inout = u.n;
	return (HWTD_OK);
}
