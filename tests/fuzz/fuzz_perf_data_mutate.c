/*
 * Changes of whole records of a perf.data, for libFuzzer: what is told of the rest
 * of the file stays true.
 */
#include <stdlib.h>

#include "fuzz.h"

/* Of libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
    unsigned int seed);

#define MAX_RECORDS 4096
#define HEADER 8u
#define FILE_HEADER 104u
#define PIPE_HEADER 16u
#define AUXTRACE 71u
#define N_FEATURES 64u

struct perf_file {
	uint8_t *data;
	size_t size, max;
	bool big;
	bool is_pipe;
	/* [start, end) of the records, and where each begins; the end last. */
	size_t start, end;
	size_t at[MAX_RECORDS + 1];
	size_t n;
};

static uint64_t
get(const struct perf_file *f, size_t at, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)f->data[at + (f->big ? n - 1 - i : i)]
		    << (8 * i);
	return (v);
}

static void
set(struct perf_file *f, size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->data[at + (f->big ? n - 1 - i : i)] = (uint8_t)(v >>
		    (8 * i));
}

/* Where records lie; false: nowhere that can be found. */
static bool
parse(struct perf_file *f)
{
	uint64_t off = PIPE_HEADER, n;

	if (f->size < PIPE_HEADER + HEADER)
		return (false);
	f->big = f->data[0] == '2';
	f->is_pipe = get(f, 8, 8) == PIPE_HEADER;
	n = f->size - PIPE_HEADER;
	if (!f->is_pipe) {
		if (f->size < FILE_HEADER)
			return (false);
		off = get(f, 40, 8);
		n = get(f, 48, 8);
		if (off < FILE_HEADER || off > f->size)
			return (false);
		if (n == 0 || n > f->size - off)
			n = f->size - off;
	}
	f->start = (size_t)off;
	f->end = (size_t)(off + n);
	f->n = 0;
	while (off < f->end && f->n < MAX_RECORDS) {
		uint64_t size;

		f->at[f->n++] = (size_t)off;
		if (f->end - off < HEADER)
			break;
		size = get(f, (size_t)off + 6, 2);
		if (size < HEADER || size > f->end - off)
			break;
		if (get(f, (size_t)off, 4) == AUXTRACE && size >= 16)
			size += get(f, (size_t)off + 8, 8) & 0xffffff;
		off += size < f->end - off ? size : f->end - off;
	}
	f->at[f->n] = f->end;
	return (f->n > 0);
}

/* Sections of features have moved with the records before them. */
static void
moved(struct perf_file *f, size_t old_end)
{
	size_t at = f->end;
	uint64_t bits;

	if (f->is_pipe)
		return;
	set(f, 48, f->end - f->start, 8);
	bits = get(f, 72, 8);
	for (unsigned i = 0; i < N_FEATURES; i++) {
		if ((bits >> i & 1) == 0)
			continue;
		if (f->size - at < 16)
			break;
		set(f, at, get(f, at, 8) + f->end - old_end, 8);
		at += 16;
	}
}

/* Put `n` bytes at `at`, where `old` bytes are now. */
static bool
replace(struct perf_file *f, size_t at, size_t old, const uint8_t *bytes,
    size_t n)
{
	const size_t old_end = f->end;

	if (n > old && f->max - f->size < n - old)
		return (false);
	memmove(f->data + at + n, f->data + at + old, f->size - at - old);
	memcpy(f->data + at, bytes, n);
	f->size = f->size - old + n;
	f->end = f->end - old + n;
	moved(f, old_end);
	return (true);
}

static uint64_t
number(unsigned int *seed)
{
	static const uint64_t some[] = { 0, 1, 7, 8, 9, 16, 64, 255, 4096,
		65535, 65536, UINT32_MAX, (uint64_t)1 << 32, (uint64_t)1 << 62,
		INT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 7, UINT64_MAX };

	*seed = *seed * 1664525u + 1013904223u;
	return (some[(*seed >> 8) % (sizeof(some) / sizeof(some[0]))]);
}

static size_t
pick(unsigned int *seed, size_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return ((*seed >> 8) % n);
}

/* Bytes of a record, as long as they are. */
static void
change_bytes(struct perf_file *f, size_t at, size_t n, unsigned int *seed)
{
	const size_t words = n / 4;
	size_t word;

	if (n <= HEADER || words <= 2)
		return;
	word = 2 + pick(seed, words - 2);
	switch (pick(seed, 4)) {
	case 0:
		set(f, at + 4 * word, number(seed), 4);
		break;
	case 1:
		if (4 * word + 8 <= n)
			set(f, at + 4 * word, number(seed), 8);
		break;
	case 2:
		if (4 * word + 8 <= n)
			set(f, at + 4 * word,
			    get(f, at + 4 * word, 8) + pick(seed, 65) - 32, 8);
		break;
	default:
		(void)LLVMFuzzerMutate(f->data + at + HEADER, n - HEADER,
		    n - HEADER);
		break;
	}
}

static void
change_records(struct perf_file *f, unsigned int seed)
{
	const size_t i = pick(&seed, f->n), k = pick(&seed, f->n);
	const size_t n = f->at[i + 1] - f->at[i];
	uint8_t *copy = malloc(n + 1);

	FUZZ_CHECK(copy != NULL, "out of memory");
	memcpy(copy, f->data + f->at[i], n);
	switch (pick(&seed, 6)) {
	case 0:
		(void)replace(f, f->at[i], n, copy, 0);
		break;
	case 1:
		(void)replace(f, f->at[k], 0, copy, n);
		break;
	case 2:
		/* To another place. */
		if (replace(f, f->at[k], 0, copy, n) && k > i)
			(void)replace(f, f->at[i], n, copy, 0);
		break;
	case 3:
		set(f, f->at[i], pick(&seed, 96), 4);
		break;
	default:
		change_bytes(f, f->at[i], n, &seed);
		break;
	}
	free(copy);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
    unsigned int seed)
{
	static struct perf_file f;

	f.data = data;
	f.size = size;
	f.max = max_size;
	if (seed % 4 == 0 || !parse(&f))
		return (LLVMFuzzerMutate(data, size, max_size));
	for (unsigned int i = 0; i <= seed / 4 % 3 && parse(&f); i++)
		change_records(&f, seed + i);
	return (f.size);
}
