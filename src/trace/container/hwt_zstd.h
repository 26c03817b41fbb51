/*
 * zstd frames of chunks.  Nothing else of the container knows zstd, so that what
 * writes and reads chunks that are not compressed can do without it.
 */
#ifndef HWTDI_HWT_ZSTD_H
#define HWTDI_HWT_ZSTD_H

#include <stddef.h>
#include <stdint.h>

#include <hwtdecode/error.h>

/* The highest level. */
int hwtdi_hwt_zstd_max(void);

/* State of who compresses.  NULL has no effect on the second. */
int hwtdi_hwt_packer_create(void **packer_out, struct hwtd_error *err);
void hwtdi_hwt_packer_destroy(void *packer);

/* Bytes of the frame at `to`; 0: it has no room in `room` bytes. */
size_t hwtdi_hwt_pack(void *packer, const void *raw, size_t n, int level,
    void *to, size_t room);

/*
 * One frame of `n` bytes that gives exactly `raw_size`.  *state_inout starts as
 * NULL and is kept for the next one.  Errors name the chunk at `file_off`.
 */
int hwtdi_hwt_inflate(void **state_inout, const void *frame, size_t n,
    void *raw, size_t raw_size, uint64_t file_off, struct hwtd_error *err);
void hwtdi_hwt_inflate_end(void *state);

#endif /* HWTDI_HWT_ZSTD_H */
