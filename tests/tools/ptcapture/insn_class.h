/*
 * What Intel PT has to say about an instruction of 64-bit code.
 */
#ifndef INSN_CLASS_H
#define INSN_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_MAX 15

enum insn_kind {
	INSN_OTHER,
	INSN_COND,
	INSN_JUMP,
	INSN_CALL,
	INSN_INDIRECT_JUMP,
	INSN_INDIRECT_CALL,
	INSN_RETURN,
	INSN_SYSCALL,
	/* A far transfer that this tool does not model. */
	INSN_FAR
};

struct insn_class {
	enum insn_kind kind;
	/* A string instruction that repeats at the same address. */
	bool repeats;
	/* Of branches only: the address behind it. */
	uint64_t next;
	/* Of direct branches only. */
	uint64_t target;
};

/* Zero bytes stand for code that cannot be read. */
struct insn_class insn_classify(uint64_t ip, const uint8_t code[INSN_MAX]);

#endif /* INSN_CLASS_H */
