/*
 * Stands in for hwt_zstd.c where there is no zstd: chunks stay as they are, and
 * compressed ones cannot be read.
 */
#include "trace/container/hwt_zstd.h"

#include <inttypes.h>

#include "base/fail.h"

int
hwtdi_hwt_zstd_max(void)
{
	return (0);
}

int
hwtdi_hwt_packer_create(void **packer_out, struct hwtd_error *err)
{
	*packer_out = NULL;
	return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
	    "there is no zstd; write without compression"));
}

void
hwtdi_hwt_packer_destroy(void *packer)
{
	(void)packer;
}

size_t
hwtdi_hwt_pack(void *packer, const void *raw, size_t n, int level, void *to,
    size_t room)
{
	(void)packer;
	(void)raw;
	(void)n;
	(void)level;
	(void)to;
	(void)room;
	return (0);
}

int
hwtdi_hwt_inflate(void **state_inout, const void *frame, size_t n, void *raw,
    size_t raw_size, uint64_t file_off, struct hwtd_error *err)
{
	(void)state_inout;
	(void)frame;
	(void)n;
	(void)raw;
	(void)raw_size;
	return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED, file_off,
	    "chunk at %" PRIu64 ": there is no zstd to unpack it", file_off));
}

void
hwtdi_hwt_inflate_end(void *state)
{
	(void)state;
}
