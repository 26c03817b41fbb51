/*
 * .hwt files put together byte by byte from hwtdecode-trace(5), without the
 * library's writer, so that the two cannot agree on one mistake; and so that
 * files can lie.
 */
#ifndef TEST_HAND_WRITTEN_H
#define TEST_HAND_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAND_META 1
#define HAND_STREAM 2
#define HAND_DATA 3
#define HAND_RECORDS 4
#define HAND_IMAGE 5
#define HAND_IMAGE_DATA 6
#define HAND_INDEX 7
#define HAND_END 8
#define HAND_DAMAGE 9

#define HAND_ZSTD 1
#define HAND_CRITICAL 2

#define HAND_FILE_HEADER 32
#define HAND_HEADER 64

/* A file that grows. */
struct hand {
	uint8_t *bytes;
	size_t n;
	size_t cap;
	/* Number of the next chunk. */
	uint64_t sequence;
	/* Where chunks begin. */
	size_t at[64];
	size_t n_chunks;
};

/* What a chunk header says. */
struct hand_chunk {
	uint16_t type;
	uint16_t flags;
	uint32_t id;
	uint32_t detail;
	uint64_t position;
	/* Added to the true sizes, number and place: 0 is the truth. */
	int64_t raw_lie;
	int64_t stored_lie;
	int64_t sequence_lie;
	int64_t place_lie;
};

void hand_init(struct hand *file, uint16_t major, uint16_t minor);
void hand_free(struct hand *file);

void hand_bytes(struct hand *file, const void *bytes, size_t n);
void hand_number(struct hand *file, uint64_t value, size_t n);

/* A chunk with a stored payload; with HAND_ZSTD `raw_n` is its raw size. */
void hand_chunk(struct hand *file, const struct hand_chunk *chunk,
    const void *payload, size_t n, size_t raw_n);

/* A DATA chunk without compression. */
void hand_data(struct hand *file, uint32_t stream, uint64_t position,
    const void *bytes, size_t n);

/* A STREAM chunk: Intel PT, a CPU, a name. */
void hand_stream(struct hand *file, uint32_t stream, uint32_t cpu,
    const char *name);

/* INDEX and END over all chunks so far. */
void hand_finish(struct hand *file);

/* True checksums again after payload bytes of an uncompressed chunk changed. */
void hand_resum_payload(struct hand *file, size_t header_off);

/* A true header checksum again after bytes of a header were changed. */
void hand_resum(struct hand *file, size_t header_off);

void hand_save(const struct hand *file, const char *path);

#endif /* TEST_HAND_WRITTEN_H */
