/*
 * Chunks of .hwt files: headers to and from bytes, payloads unpacked.
 */
#include "trace/container/hwt_chunk.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"
#include "trace/container/hwt_zstd.h"
#include "trace/trace_internal.h"

/* Bytes of a header that its checksum covers. */
#define SUMMED (HWTDI_HWT_HEADER_SIZE - 8)

/* Descriptions and records of one file. */
#define MAX_TABLE_BYTES ((uint64_t)2 << 30)

/* What is kept of a file, by its size: more is a bomb. */
#define KEPT_FREE ((uint64_t)64 << 20)
#define KEPT_PER_BYTE 256u

void
hwtdi_hwt_header_put(const struct hwtdi_hwt_header *h,
    uint8_t bytes[HWTDI_HWT_HEADER_SIZE])
{
	memcpy(bytes, HWTDI_HWT_CHUNK_MAGIC, HWTDI_HWT_CHUNK_MAGIC_SIZE);
	hwtdi_put_le(bytes + 4, h->type, 2);
	hwtdi_put_le(bytes + 6, h->flags, 2);
	hwtdi_put_le(bytes + 8, h->id, 4);
	hwtdi_put_le(bytes + 12, h->raw_size, 4);
	hwtdi_put_le(bytes + 16, h->stored_size, 4);
	hwtdi_put_le(bytes + 20, h->detail, 4);
	hwtdi_put_le(bytes + 24, h->sequence, 8);
	hwtdi_put_le(bytes + 32, h->position, 8);
	hwtdi_put_le(bytes + 40, h->file_off, 8);
	hwtdi_put_le(bytes + 48, h->payload_sum, 8);
	hwtdi_put_le(bytes + 56, hwtdi_checksum(bytes, SUMMED), 8);
}

bool
hwtdi_hwt_header_get(const uint8_t bytes[HWTDI_HWT_HEADER_SIZE],
    uint64_t file_off, struct hwtdi_hwt_header *out)
{
	if (memcmp(bytes, HWTDI_HWT_CHUNK_MAGIC, HWTDI_HWT_CHUNK_MAGIC_SIZE) !=
		0 ||
	    hwtdi_le(bytes + 40, 8) != file_off ||
	    hwtdi_le(bytes + 56, 8) != hwtdi_checksum(bytes, SUMMED))
		return (false);
	memset(out, 0, sizeof(*out));
	out->type = (uint16_t)hwtdi_le(bytes + 4, 2);
	out->flags = (uint16_t)hwtdi_le(bytes + 6, 2);
	out->id = (uint32_t)hwtdi_le(bytes + 8, 4);
	out->raw_size = (uint32_t)hwtdi_le(bytes + 12, 4);
	out->stored_size = (uint32_t)hwtdi_le(bytes + 16, 4);
	out->detail = (uint32_t)hwtdi_le(bytes + 20, 4);
	out->sequence = hwtdi_le(bytes + 24, 8);
	out->position = hwtdi_le(bytes + 32, 8);
	out->file_off = file_off;
	out->payload_sum = hwtdi_le(bytes + 48, 8);
	return (true);
}

const char *
hwtdi_hwt_header_fault(const struct hwtdi_hwt_header *h)
{
	if (h->raw_size > HWTDI_HWT_RAW_MAX)
		return ("raw size is over the limit of 16 MiB");
	if (h->flags & HWTDI_HWT_ZSTD) {
		if (h->stored_size > HWTDI_HWT_STORED_MAX)
			return ("stored size is over the limit");
	} else if (h->stored_size != h->raw_size) {
		return ("stored and raw size differ without compression");
	}
	return (NULL);
}

int
hwtdi_hwt_keep(struct hwtdi_hwt_kept *kept, const struct hwtdi_hwt_header *h,
    const struct hwtd_context *ctx, struct hwtd_error *err)
{
	if (h->type == HWTDI_HWT_IMAGE_DATA) {
		kept->images += h->raw_size;
		if (kept->images <= ctx->max_image)
			return (HWTD_OK);
		return (hwtdi_fail_at(err, HWTD_E_LIMIT, h->file_off,
		    "images of more than max_image %" PRIu64 " bytes in all",
		    ctx->max_image));
	}
	if (h->type != HWTDI_HWT_DATA)
		kept->tables += h->raw_size;
	if (kept->tables <= MAX_TABLE_BYTES)
		return (HWTD_OK);
	return (hwtdi_fail_at(err, HWTD_E_LIMIT, h->file_off,
	    "records and descriptions of more than %" PRIu64 " bytes",
	    MAX_TABLE_BYTES));
}

bool
hwtdi_hwt_kept_fits(const struct hwtdi_hwt_kept *kept, uint64_t size)
{
	const uint64_t n = kept->tables + kept->images;

	return (n <= KEPT_FREE || (n - KEPT_FREE - 1) / KEPT_PER_BYTE < size);
}

void
hwtdi_hwt_unpacker_init(struct hwtdi_hwt_unpacker *u, struct hwtd_context *ctx)
{
	memset(u, 0, sizeof(*u));
	u->library = ctx;
}

void
hwtdi_hwt_unpacker_fini(struct hwtdi_hwt_unpacker *u)
{
	hwtdi_hwt_inflate_end(u->zstd);
	hwtdi_free(u->library, u->raw, u->raw_room);
	hwtdi_free(u->library, u->stored, u->stored_room);
	memset(u, 0, sizeof(*u));
}

/* Room for `n` bytes; what was there is not kept. */
static int
room(struct hwtd_context *ctx, uint8_t **bytes, uint32_t *have, uint32_t n,
    struct hwtd_error *err)
{
	if (*bytes != NULL && n <= *have)
		return (HWTD_OK);
	hwtdi_free(ctx, *bytes, *have);
	*have = 0;
	*bytes = hwtdi_alloc(ctx, n);
	if (*bytes == NULL)
		return (hwtdi_fail_nomem(err, n));
	*have = n;
	return (HWTD_OK);
}

static int
check_header(const uint8_t bytes[HWTDI_HWT_HEADER_SIZE],
    const struct hwtdi_hwt_header *want, struct hwtdi_hwt_header *h,
    struct hwtd_error *err)
{
	const char *fault;

	if (!hwtdi_hwt_header_get(bytes, want->file_off, h))
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, want->file_off,
		    "chunk at %" PRIu64 ": header is damaged",
		    want->file_off));
	fault = hwtdi_hwt_header_fault(h);
	if (fault != NULL)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, want->file_off,
		    "chunk at %" PRIu64 ": %s", want->file_off, fault));
	if (h->type != want->type || h->id != want->id ||
	    h->position != want->position || h->raw_size != want->raw_size ||
	    h->stored_size != want->stored_size)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, want->file_off,
		    "chunk at %" PRIu64 ": header and index disagree",
		    want->file_off));
	return (HWTD_OK);
}

int
hwtdi_hwt_unpack(struct hwtdi_hwt_unpacker *u,
    const struct hwtdi_trace_file *file, const struct hwtdi_hwt_header *want,
    struct hwtd_error *err)
{
	uint8_t bytes[HWTDI_HWT_HEADER_SIZE];
	struct hwtdi_hwt_header h;
	uint8_t *payload;
	int rc;

	rc = hwtdi_trace_file_read(file, want->file_off, bytes, sizeof(bytes),
	    err);
	if (rc == HWTD_OK)
		rc = check_header(bytes, want, &h, err);
	if (rc == HWTD_OK)
		rc = room(u->library, &u->raw, &u->raw_room, h.raw_size, err);
	if (rc == HWTD_OK && (h.flags & HWTDI_HWT_ZSTD))
		rc = room(u->library, &u->stored, &u->stored_room,
		    h.stored_size, err);
	if (rc != HWTD_OK)
		return (rc);
	payload = (h.flags & HWTDI_HWT_ZSTD) ? u->stored : u->raw;
	rc = hwtdi_trace_file_read(file, h.file_off + HWTDI_HWT_HEADER_SIZE,
	    payload, h.stored_size, err);
	if (rc != HWTD_OK)
		return (rc);
	if (hwtdi_checksum(payload, h.stored_size) != h.payload_sum)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, h.file_off,
		    "chunk at %" PRIu64 ": payload does not match its "
		    "checksum",
		    h.file_off));
	if (h.flags & HWTDI_HWT_ZSTD)
		return (hwtdi_hwt_inflate(&u->zstd, u->stored, h.stored_size,
		    u->raw, h.raw_size, h.file_off, err));
	return (HWTD_OK);
}
