/*
 * Chunks of .hwt files: headers to and from bytes, payloads unpacked.
 */
#ifndef HWTDI_HWT_CHUNK_H
#define HWTDI_HWT_CHUNK_H

#include "base/library.h"
#include "trace/container/hwt_format.h"

struct hwtdi_trace_file;

struct hwtdi_hwt_header {
	/* An hwtdi_hwt_type, or one that is not known. */
	uint16_t type;
	/* HWTDI_HWT_ZSTD, HWTDI_HWT_CRITICAL */
	uint16_t flags;
	uint32_t id;
	uint32_t raw_size;
	uint32_t stored_size;
	uint32_t detail;
	uint64_t sequence;
	uint64_t position;
	uint64_t file_off;
	uint64_t payload_sum;
};

void hwtdi_hwt_header_put(const struct hwtdi_hwt_header *header,
    uint8_t bytes[HWTDI_HWT_HEADER_SIZE]);

/* False unless `bytes` are a header that was written for `file_off`. */
bool hwtdi_hwt_header_get(const uint8_t bytes[HWTDI_HWT_HEADER_SIZE],
    uint64_t file_off, struct hwtdi_hwt_header *out);

/* NULL, or what about the sizes breaks the rules. */
const char *hwtdi_hwt_header_fault(const struct hwtdi_hwt_header *header);

/*
 * Unpacked bytes that a reader keeps in memory: all but DATA.  A few kilobytes
 * of zstd can stand for gigabytes, so a file may have only so many of them.
 * Readers and writers count alike.
 */
struct hwtdi_hwt_kept {
	uint64_t tables;
	uint64_t images;
};

/*
 * Count a chunk.  HWTD_E_LIMIT: no file may have that much, whatever its size;
 * the chunk is counted all the same.
 */
int hwtdi_hwt_keep(struct hwtdi_hwt_kept *kept,
    const struct hwtdi_hwt_header *header, const struct hwtd_context *ctx,
    struct hwtd_error *err);

/* Whether a file of `size` bytes may unpack to this. */
bool hwtdi_hwt_kept_fits(const struct hwtdi_hwt_kept *kept, uint64_t size);

/* Unpacks one chunk after the other; one thread at a time. */
struct hwtdi_hwt_unpacker {
	struct hwtd_context *library;
	/* Of hwt_zstd.c. */
	void *zstd;
	/* The last payload: `raw_size` bytes. */
	uint8_t *raw;
	uint32_t raw_room;
	uint8_t *stored;
	uint32_t stored_room;
};

void hwtdi_hwt_unpacker_init(struct hwtdi_hwt_unpacker *unpacker,
    struct hwtd_context *ctx);
void hwtdi_hwt_unpacker_fini(struct hwtdi_hwt_unpacker *unpacker);

/*
 * Read the chunk at want->file_off, check that its header agrees with `want`
 * (all but flags, detail, sequence and payload_sum) and unpack its payload to
 * unpacker->raw.  HWTD_E_CORRUPT, HWTD_E_IO or HWTD_E_NOMEM.
 */
int hwtdi_hwt_unpack(struct hwtdi_hwt_unpacker *unpacker,
    const struct hwtdi_trace_file *file, const struct hwtdi_hwt_header *want,
    struct hwtd_error *err);

#endif /* HWTDI_HWT_CHUNK_H */
