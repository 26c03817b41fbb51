/*
 * Mutator of the Intel PT harness.
 */
#include "fuzz_pt_pieces.h"

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
    unsigned int seed)
{
	return (fuzz_pt_mutate(data, size, max, seed));
}
