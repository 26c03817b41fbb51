/*
 * Length and class of x86 instructions.
 */
#ifndef HWTDI_X86_INSN_H
#define HWTDI_X86_INSN_H

#include <hwtdecode/event.h>

#define HWTDI_X86_MAX_LENGTH 15

struct hwtdi_x86_insn {
	/* Bytes. */
	uint8_t length;
	/* An hwtd_branch. */
	uint8_t branch;
	/* `target` is known from the instruction alone. */
	bool direct;
	/* Virtual address, cut to the width of the mode. */
	uint64_t target;
};

/*
 * Decode the instruction in bytes[0..n) that lies at `address`.  False if it
 * is none that the disassembler knows, or longer than `n`.
 */
bool hwtdi_x86_decode(const uint8_t *bytes, size_t n, uint8_t isa,
    uint64_t address, struct hwtdi_x86_insn *out);

#endif /* HWTDI_X86_INSN_H */
