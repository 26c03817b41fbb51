/*
 * Going through the bytes of a .hwt file, apart from the library's reader.
 *
 * Source: hwtdecode-trace(5).
 */
#ifndef HWT_LAYOUT_H
#define HWT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HWT_FILE_HEADER 32
#define HWT_HEADER 64
#define HWT_MAGIC "\x8bhwc"

static inline uint64_t
hwt_le(const uint8_t *at, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return (v);
}

static inline void
hwt_put(uint8_t *at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

/* Where the next thing that starts like a chunk is, from `at` on, or n. */
static inline size_t
hwt_next(const uint8_t *bytes, size_t n, size_t at)
{
	for (; at + HWT_HEADER <= n; at++)
		if (memcmp(bytes + at, HWT_MAGIC, 4) == 0)
			return (at);
	return (n);
}

/* Bytes of the chunk at `at`, as many as the file has of it. */
static inline size_t
hwt_size(const uint8_t *bytes, size_t n, size_t at)
{
	uint64_t stored = hwt_le(bytes + at + 16, 4);

	return (stored <= n - at - HWT_HEADER ? HWT_HEADER + (size_t)stored
					      : n - at);
}

#endif /* HWT_LAYOUT_H */
