/*
 * Mutations of inputs of fuzz_pt.
 */
#ifndef FUZZ_PT_PIECES_H
#define FUZZ_PT_PIECES_H

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
    unsigned int seed);

size_t fuzz_pt_mutate(uint8_t *data, size_t size, size_t max,
    unsigned int seed);

#endif /* FUZZ_PT_PIECES_H */
