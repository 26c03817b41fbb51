/*
 * Mutator of the harness that compares engines.
 */
#include <string.h>

#include "fuzz_pt_pieces.h"

/* Seed, what the trace has, instructions. */
#define HEADER 10

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
    unsigned int seed)
{
	if (size < HEADER || max < HEADER + 8)
		return (LLVMFuzzerMutate(data, size, max));
	if (data[0] == 0)
		return (1 + fuzz_pt_mutate(data + 1, size - 1, max - 1, seed));
	switch (seed % 4) {
	case 0: /* Another trace, unchanged. */
		memcpy(data + 1, &seed, sizeof(seed));
		return (HEADER);
	case 1: /* Of other things. */
		memcpy(data + 5, &seed, 3);
		return (size);
	default: /* Other changes. */
		return (HEADER +
		    LLVMFuzzerMutate(data + HEADER, size - HEADER,
			(max < HEADER + 24 ? max : HEADER + 24) - HEADER));
	}
}
