/*
 * The text of Arm instructions, through Capstone.
 */
#ifndef HWTDECODE_CLI_DISASSEMBLY_ARM_H
#define HWTDECODE_CLI_DISASSEMBLY_ARM_H

#include <capstone/capstone.h>
#include <hwtdecode/hwtdecode.h>

/* Bytes before an instruction that say whether it is in an IT block. */
#define ARM_BYTES_BEFORE 14
#define ARM_MAX_CODE 4

/* Handles by hwtd_isa, opened when the first instruction of it comes. */
struct disassembly_arm {
	csh handles[HWTD_ISA_A64 + 1];
};

/* One instruction: [code, code + n) at `ip`, and what lies before it. */
struct arm_code {
	uint64_t ip;
	uint32_t isa;
	uint8_t n_before;
	uint8_t n;
	/* Those before, then the instruction. */
	uint8_t bytes[ARM_BYTES_BEFORE + ARM_MAX_CODE];
};

void disassembly_arm_fini(struct disassembly_arm *arm);

/* False: no instruction, or out of memory. */
bool disassembly_arm_text(struct disassembly_arm *arm,
    const struct arm_code *code, char *text, size_t n_text);

#endif /* HWTDECODE_CLI_DISASSEMBLY_ARM_H */
