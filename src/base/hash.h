/*
 * Hashes that whoever wrote the input cannot foresee, since they depend on a
 * seed of the context; and the checksum of files, which has none.
 */
#ifndef HWTDI_HASH_H
#define HWTDI_HASH_H

#include "base/library.h"

/* A seed that is hard to guess; not for secrets. */
uint64_t hwtdi_hash_seed(const void *object);

uint64_t hwtdi_hash(const struct hwtd_context *ctx, const void *bytes,
    size_t n);

/* The hash of these bytes behind those that have `hash`. */
uint64_t hwtdi_hash_more(uint64_t hash, const void *bytes, size_t n);

/* XXH3, 64 bits, with seed 0. */
uint64_t hwtdi_checksum(const void *bytes, size_t n);

/* Version of the xxHash that this is made of: major * 10000 + minor * 100 + patch. */
unsigned int hwtdi_hash_version(void);

/* Of two numbers, for tables in which each block of code is looked up. */
static inline uint64_t
hwtdi_hash_pair(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ seed) * 0x9e3779b97f4a7c15u;

	h = ((h ^ h >> 32) + b) * 0xbf58476d1ce4e5b9u;
	return (h ^ h >> 32);
}

#endif /* HWTDI_HASH_H */
