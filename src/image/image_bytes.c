/*
 * The bytes of images: read from a part of a file, or copied.
 */
#include "image/image_bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"

static int
take(struct hwtd_context *ctx, uint64_t n, uint8_t **bytes_out,
    struct hwtd_error *err)
{
	if (n > ctx->max_image)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "image of %" PRIu64 " bytes is over max_image %" PRIu64, n,
		    ctx->max_image));
	if (n > ctx->max_alloc)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "image of %" PRIu64 " bytes is over max_alloc %" PRIu64, n,
		    ctx->max_alloc));
	if (n > SIZE_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "image of %" PRIu64 " bytes does not fit this machine",
		    n));
	*bytes_out = hwtdi_alloc(ctx, (size_t)n);
	if (*bytes_out == NULL)
		return (hwtdi_fail_nomem(err, (size_t)n));
	return (HWTD_OK);
}

int
hwtdi_image_copy(struct hwtd_context *ctx, const void *bytes, uint64_t n,
    uint8_t **bytes_out, struct hwtd_error *err)
{
	int rc;

	rc = take(ctx, n, bytes_out, err);
	if (rc == HWTD_OK && n != 0)
		memcpy(*bytes_out, bytes, (size_t)n);
	return (rc);
}

/* Fill `n` bytes from `offset` on. */
static int
fill(int fd, uint64_t offset, uint8_t *bytes, uint64_t n,
    struct hwtd_error *err)
{
	uint64_t done = 0;

	while (done < n) {
		/* One call may not move more than SSIZE_MAX bytes. */
		size_t part = n - done < ((uint64_t)1 << 30)
		    ? (size_t)(n - done)
		    : (size_t)1 << 30;
		ssize_t got = pread(fd, bytes + done, part,
		    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return (hwtdi_fail_sys(err, errno, "cannot read: %s",
			    strerror(errno)));
		if (got == 0)
			return (hwtdi_fail_at(err, HWTD_E_CORRUPT,
			    offset + done, "image became shorter"));
		done += (uint64_t)got;
	}
	return (HWTD_OK);
}

static int
read_part(struct hwtd_context *ctx, int fd, uint64_t bytes, uint64_t offset,
    uint64_t length, uint8_t **bytes_out, uint64_t *n_out,
    struct hwtd_error *err)
{
	int rc;

	if (offset > bytes || length > bytes - offset)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, bytes,
		    "has %" PRIu64 " bytes, too few for %" PRIu64
		    " from %" PRIu64 " on",
		    bytes, length, offset));
	if (length == 0)
		length = bytes - offset;
	rc = take(ctx, length, bytes_out, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = fill(fd, offset, *bytes_out, length, err);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, *bytes_out, (size_t)length);
		*bytes_out = NULL;
		return (rc);
	}
	*n_out = length;
	return (HWTD_OK);
}

int
hwtdi_image_read(struct hwtd_context *ctx, const char *path, uint64_t offset,
    uint64_t length, uint8_t **bytes_out, uint64_t *n_out,
    struct hwtd_error *err)
{
	uint64_t bytes = 0;
	int fd = -1, rc;

	rc = hwtdi_regular_file_open(path, &fd, &bytes, err);
	if (rc != HWTD_OK) {
		hwtdi_fail_prefix(err, "%.120s: cannot open image", path);
		return (rc);
	}
	rc = read_part(ctx, fd, bytes, offset, length, bytes_out, n_out, err);
	(void)close(fd);
	if (rc != HWTD_OK && !hwtdi_fail_is_final(rc))
		hwtdi_fail_prefix(err, "%.120s", path);
	return (rc);
}

int
hwtdi_image_read_front(const char *path, void *buf, size_t most, size_t *n_out,
    struct hwtd_error *err)
{
	uint64_t bytes = 0;
	int fd = -1, rc;

	rc = hwtdi_regular_file_open(path, &fd, &bytes, err);
	if (rc != HWTD_OK)
		return (rc);
	*n_out = bytes < most ? (size_t)bytes : most;
	rc = fill(fd, 0, buf, *n_out, err);
	(void)close(fd);
	return (rc);
}
