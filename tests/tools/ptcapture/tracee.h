/*
 * Runs a program one instruction at a time and records what it executed.
 */
#ifndef TRACEE_H
#define TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insn_class.h"

/* Executable memory as it was when it came up. */
struct code_range {
	uint64_t start;
	uint64_t end;
	uint8_t *bytes;
	/* The file that is mapped, and from where on; "": none. */
	uint64_t file_off;
	char path[256];
	/* Instructions executed before it was there, and before it went. */
	size_t from;
	size_t until;
	bool executed;
};

struct run {
	uint64_t *ips;
	size_t n;
	size_t cap;
	struct code_range *ranges;
	size_t n_ranges;
	/* Numbers of the system calls, in order. */
	uint32_t *syscalls;
	size_t n_syscalls;
};

/* Run argv to its end, or up to `limit` instructions.  Exits on failure. */
void tracee_run(struct run *, char *const argv[], size_t limit);

/*
 * The code at an address as instruction number `at` saw it; false if the
 * memory is unknown.  Bytes beyond the range are 0.
 */
bool run_code(const struct run *, size_t at, uint64_t ip,
    uint8_t code[INSN_MAX]);

#endif /* TRACEE_H */
