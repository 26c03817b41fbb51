/*
 * The text of instructions.
 */
#ifndef HWTDECODE_CLI_DISASSEMBLY_H
#define HWTDECODE_CLI_DISASSEMBLY_H

#include <stdbool.h>

#include <hwtdecode/hwtdecode.h>

struct disassembly;

/* Longest x86 instruction. */
#define DISASSEMBLY_MAX_CODE 16

/* What is known of one instruction.  Borrowed until the next call. */
struct instruction_text {
	const uint8_t *code;
	uint32_t n_code;
	/* "" when there is none to give. */
	const char *text;
};

/* NULL when out of memory.  Without `want_text` only the code is read. */
struct disassembly *disassembly_create(const struct hwtd_trace *trace,
    bool want_text, bool att_syntax);
void disassembly_destroy(struct disassembly *disassembly);

/* The instruction of a row of kind INSN. */
struct instruction_text disassembly_of(struct disassembly *disassembly,
    const struct hwtd_event *row);

#endif /* HWTDECODE_CLI_DISASSEMBLY_H */
