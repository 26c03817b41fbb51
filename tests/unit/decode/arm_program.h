/*
 * Random programs of Arm code, with what their instructions are.
 */
#ifndef TESTS_ARM_PROGRAM_H
#define TESTS_ARM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* What an instruction does; the same in all instruction sets. */
enum arm_does {
	ARM_PLAIN,
	ARM_JUMP,
	ARM_CALL,
	ARM_INDIRECT_JUMP,
	ARM_INDIRECT_CALL,
	ARM_RETURN,
	ARM_SYSTEM_CALL,
	ARM_EXCEPTION_RETURN,
	ARM_ISB,
	ARM_BARRIER,
	ARM_WAIT,
	ARM_N_DOES
};

struct arm_step {
	uint32_t off;
	uint8_t length;
	/* An arm_does. */
	uint8_t does;
	/* Under a condition, its own or of an IT block. */
	bool conditional;
	/* A call into the other instruction set. */
	bool switches;
	/* Of jumps and calls: from the first byte. */
	int64_t target;
};

#define ARM_PROGRAM_STEPS 400
#define ARM_PROGRAM_BYTES (4 * ARM_PROGRAM_STEPS)

struct arm_program {
	uint8_t isa;
	uint64_t address;
	uint8_t bytes[ARM_PROGRAM_BYTES];
	uint32_t length;
	struct arm_step steps[ARM_PROGRAM_STEPS];
	uint32_t n;
};

/* The same for the same seed.  Few branches if `sparse`. */
void arm_program_make(struct arm_program *p, uint8_t isa, uint64_t seed,
    bool sparse);

#endif /* TESTS_ARM_PROGRAM_H */
