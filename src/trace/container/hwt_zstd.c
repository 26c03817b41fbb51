/*
 * zstd frames of chunks.
 */
#include "trace/container/hwt_zstd.h"

#include <inttypes.h>
#include <zstd.h>

#include "base/fail.h"

static int
no_memory(struct hwtd_error *err)
{
	return (hwtdi_fail(err, HWTD_E_NOMEM, "no memory for a zstd context"));
}

int
hwtdi_hwt_zstd_max(void)
{
	return (ZSTD_maxCLevel());
}

int
hwtdi_hwt_packer_create(void **packer_out, struct hwtd_error *err)
{
	*packer_out = ZSTD_createCCtx();
	return (*packer_out != NULL ? HWTD_OK : no_memory(err));
}

void
hwtdi_hwt_packer_destroy(void *packer)
{
	(void)ZSTD_freeCCtx(packer);
}

size_t
hwtdi_hwt_pack(void *packer, const void *raw, size_t n, int level, void *to,
    size_t room)
{
	const size_t got = ZSTD_compressCCtx(packer, to, room, raw, n, level);

	return (ZSTD_isError(got) ? 0 : got);
}

int
hwtdi_hwt_inflate(void **state_inout, const void *frame, size_t n, void *raw,
    size_t raw_size, uint64_t file_off, struct hwtd_error *err)
{
	size_t got;

	if (*state_inout == NULL)
		*state_inout = ZSTD_createDCtx();
	if (*state_inout == NULL)
		return (no_memory(err));
	got = ZSTD_findFrameCompressedSize(frame, n);
	if (ZSTD_isError(got) || got != n)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, file_off,
		    "chunk at %" PRIu64 ": payload is not one zstd frame",
		    file_off));
	got = ZSTD_decompressDCtx(*state_inout, raw, raw_size, frame, n);
	if (ZSTD_isError(got))
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, file_off,
		    "chunk at %" PRIu64 ": zstd: %s", file_off,
		    ZSTD_getErrorName(got)));
	if (got != raw_size)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, file_off,
		    "chunk at %" PRIu64 ": payload gives %zu bytes, not %zu",
		    file_off, got, raw_size));
	return (HWTD_OK);
}

void
hwtdi_hwt_inflate_end(void *state)
{
	(void)ZSTD_freeDCtx(state);
}
