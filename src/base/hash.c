/*
 * Hashes with a seed, and checksums.  All that uses xxHash.
 */
#include "base/hash.h"

#include <time.h>
#include <unistd.h>

/* From its header alone, so that there is no library to link. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t
hwtdi_hash_seed(const void *object)
{
	struct timespec now = { 0 };
	uint64_t seed, known[4];

#ifdef HWTDI_HAVE_GETENTROPY
	if (getentropy(&seed, sizeof(seed)) == 0)
		return (seed);
#endif
	/* Of no use to who only writes a file for others. */
	(void)clock_gettime(CLOCK_REALTIME, &now);
	known[0] = (uint64_t)now.tv_sec;
	known[1] = (uint64_t)now.tv_nsec;
	known[2] = (uint64_t)(uintptr_t)object;
	known[3] = (uint64_t)(uintptr_t)&now;
	seed = XXH3_64bits(known, sizeof(known));
	return (seed);
}

uint64_t
hwtdi_hash(const struct hwtd_context *ctx, const void *bytes, size_t n)
{
	return (XXH3_64bits_withSeed(bytes, n, ctx->seed));
}

uint64_t
hwtdi_hash_more(uint64_t hash, const void *bytes, size_t n)
{
	return (XXH3_64bits_withSeed(bytes, n, hash));
}

uint64_t
hwtdi_checksum(const void *bytes, size_t n)
{
	return (XXH3_64bits(bytes, n));
}

unsigned int
hwtdi_hash_version(void)
{
	return (XXH_VERSION_NUMBER);
}
