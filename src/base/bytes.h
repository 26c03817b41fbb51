/*
 * Checked reads from untrusted bytes, and writes; little-endian where nothing else is
 * said.
 */
#ifndef HWTDI_BYTES_H
#define HWTDI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HWTDI_IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static inline uint64_t
hwtdi_le(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return (v);
}

/* The same in the byte order of a file. */
static inline uint64_t
hwtdi_uint(bool big, const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	if (!big)
		return (hwtdi_le(p, n));
	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return (v);
}

/* Little-endian ones of fixed sizes, each one load. */
static inline uint16_t
hwtdi_le16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return (HWTDI_IS_LITTLE ? v : __builtin_bswap16(v));
}

static inline uint32_t
hwtdi_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return (HWTDI_IS_LITTLE ? v : __builtin_bswap32(v));
}

static inline uint64_t
hwtdi_le64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return (HWTDI_IS_LITTLE ? v : __builtin_bswap64(v));
}

static inline void
hwtdi_put_le(uint8_t *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

/* Reads off the front; after a read past the end `bad` stays set. */
struct hwtdi_bytes {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static inline uint64_t
hwtdi_bytes_le(struct hwtdi_bytes *b, size_t n)
{
	uint64_t v;

	if (b->left < n) {
		b->bad = true;
		b->left = 0;
		return (0);
	}
	v = hwtdi_le(b->at, n);
	b->at += n;
	b->left -= n;
	return (v);
}

/* The next `n` bytes in place, or NULL. */
static inline const uint8_t *
hwtdi_bytes_take(struct hwtdi_bytes *b, size_t n)
{
	const uint8_t *at = b->at;

	if (b->left < n) {
		b->bad = true;
		b->left = 0;
		return (NULL);
	}
	b->at += n;
	b->left -= n;
	return (at);
}

#endif /* HWTDI_BYTES_H */
