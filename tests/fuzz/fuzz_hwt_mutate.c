/*
 * Mutator of the .hwt harness: besides libFuzzer's own mutations it copies,
 * removes and swaps whole chunks and changes fields of their headers.
 */
#include "fuzz.h"
#include "hwt_layout.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
    unsigned int seed);

#define MAX_CHUNKS 64
#define MAX_CHUNK 4096

static uint64_t state;

static uint32_t
pick(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ((uint32_t)(state >> 33) % n);
}

static void
change_field(uint8_t *h)
{
	static const uint8_t at[] = { 4, 6, 8, 12, 16, 20, 24, 32 };
	static const uint8_t bytes[] = { 2, 2, 4, 4, 4, 4, 8, 8 };
	static const uint64_t values[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 40,
		64, 96, 0x0100, 0x0201, 0xffff, 0x10000, 0x1000000, 0x1000001,
		0x7fffffff, 0xffffffff, (uint64_t)1 << 40, (uint64_t)1 << 63,
		UINT64_MAX - 15, UINT64_MAX };
	uint32_t field = pick(8);
	uint64_t v = hwt_le(h + at[field], bytes[field]);

	switch (pick(3)) {
	case 0:
		v += pick(9);
		v -= 4;
		break;
	case 1:
		v ^= (uint64_t)1 << pick(8 * bytes[field]);
		break;
	default:
		v = values[pick(sizeof(values) / sizeof(values[0]))];
		break;
	}
	hwt_put(h + at[field], v, bytes[field]);
}

/* Change the payload of a chunk, also its length. */
static size_t
change_payload(uint8_t *file, size_t n, size_t max, size_t at)
{
	uint8_t payload[MAX_CHUNK];
	size_t size = hwt_size(file, n, at) - HWT_HEADER, new;
	uint8_t *h = file + at;

	if (size > sizeof(payload))
		return (n);
	memcpy(payload, h + HWT_HEADER, size);
	new = LLVMFuzzerMutate(payload, size, sizeof(payload));
	if (n - size + new > max)
		return (n);
	memmove(h + HWT_HEADER + new, h + HWT_HEADER + size,
	    n - at - HWT_HEADER - size);
	memcpy(h + HWT_HEADER, payload, new);
	hwt_put(h + 16, new, 4);
	if ((h[6] & 1) == 0)
		hwt_put(h + 12, new, 4);
	return (n - size + new);
}

/* Copy chunk `from` before chunk `to`. */
static size_t
copy_chunk(uint8_t *file, size_t n, size_t max, size_t from, size_t to)
{
	uint8_t chunk[MAX_CHUNK];
	size_t size = hwt_size(file, n, from);

	if (size > sizeof(chunk) || size > max - n)
		return (n);
	memcpy(chunk, file + from, size);
	memmove(file + to + size, file + to, n - to);
	memcpy(file + to, chunk, size);
	return (n + size);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
    unsigned int seed)
{
	size_t chunks[MAX_CHUNKS], n_chunks = 0, n, at, len;
	uint8_t *file = data + 1;

	state = seed;
	(void)pick(1);
	if (size > 1)
		for (at = hwt_next(file, size - 1, 0);
		     at < size - 1 && n_chunks < MAX_CHUNKS;
		     at = hwt_next(file, size - 1, at + 4))
			chunks[n_chunks++] = at;
	if (n_chunks == 0 || pick(4) == 0)
		return (LLVMFuzzerMutate(data, size, max));
	n = size - 1;
	at = chunks[pick((uint32_t)n_chunks)];
	switch (pick(6)) {
	case 0:
		n = copy_chunk(file, n, max - 1, at,
		    chunks[pick((uint32_t)n_chunks)]);
		break;
	case 1:
		len = hwt_size(file, n, at);
		memmove(file + at, file + at + len, n - at - len);
		n -= len;
		break;
	case 2:
		n = change_payload(file, n, max - 1, at);
		break;
	case 3:
		data[0] ^= (uint8_t)(1u << pick(3));
		change_field(file + at);
		break;
	default:
		for (uint32_t i = pick(3); i < 3; i++)
			change_field(file + at);
		break;
	}
	return (n + 1);
}
