/*
 * Random x86 programs, whose instructions are known because they were chosen:
 * no decoder of this project had a part in them.
 */
#ifndef TEST_RANDOM_PROGRAM_H
#define TEST_RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANDOM_IMAGES 4
#define RANDOM_INSNS 400
#define RANDOM_IMAGE_BYTES 1200
#define RANDOM_NO_INSN UINT32_MAX

enum random_kind {
	RANDOM_PLAIN,
	RANDOM_COND,
	RANDOM_JUMP,
	RANDOM_CALL,
	RANDOM_JUMP_INDIRECT,
	RANDOM_CALL_INDIRECT,
	RANDOM_RETURN,
	RANDOM_FAR_CALL,
	RANDOM_FAR_RETURN,
	RANDOM_FAR_JUMP,
	RANDOM_WRITE_CR3,
	RANDOM_PTWRITE,
	RANDOM_VMPTRLD,
	RANDOM_MWAIT,
	RANDOM_XBEGIN,
	RANDOM_XEND,
	RANDOM_XABORT,
	RANDOM_KINDS
};

struct random_insn {
	uint64_t ip;
	/* Number of the instruction that a direct branch, or an abort, leads
	 * to. */
	uint32_t target;
	uint8_t length;
	uint8_t kind;
	uint8_t image;
};

/* Code; instructions [first, first + n) are in it, one behind the other. */
struct random_image {
	uint64_t address;
	uint8_t bytes[RANDOM_IMAGE_BYTES];
	size_t n_bytes;
	unsigned int bits;
	uint32_t first, n;
};

struct random_program {
	uint64_t random;
	struct random_image images[RANDOM_IMAGES];
	uint32_t n_images;
	struct random_insn insns[RANDOM_INSNS];
	uint32_t n_insns;
};

/* Pseudo-random numbers below `n`, which is at most 2^32. */
uint32_t random_below(uint64_t *random, uint32_t n);

/*
 * A program.  Direct jumps and calls lead forwards only, so that it makes no
 * loop that a trace says nothing about.
 */
void random_program_make(struct random_program *p, uint64_t seed);

/* Some instruction of code of so many bits; `image`: RANDOM_IMAGES for any. */
uint32_t random_program_any(const struct random_program *p, uint64_t *random,
    unsigned int bits, uint32_t image);

#endif /* TEST_RANDOM_PROGRAM_H */
