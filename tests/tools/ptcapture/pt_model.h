/*
 * The tracing hardware: turns executed instructions into packets, and keeps
 * the truth about them.  User mode only, one thread, 64-bit code.
 */
#ifndef PT_MODEL_H
#define PT_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pt_encode.h"
#include "tracee.h"

#define PT_NOM_FREQ 30
#define PT_CORE_RATIO 32
#define PT_CPUID_15_EAX 2
#define PT_CPUID_15_EBX 250

struct model_options {
	/* Bytes from one PSB to the next. */
	uint64_t psb;
	bool ret_compression;
	bool long_tnt;
	bool ip_compression;
	bool tsc;
	/* MTC period as in IA32_RTIT_CTL; negative: off. */
	int mtc_freq;
	bool cyc;
	/* An interrupt every so many instructions; 0: none. */
	uint64_t interrupts;
};

struct model_counts {
	uint64_t insns;
	uint64_t tnt;
	uint64_t tip;
	uint64_t syscalls;
	uint64_t interrupts;
	uint64_t psbs;
	uint64_t hash;
};

/*
 * Encode a run.  `truth` gets a line for each PSB, enable, disable and the
 * end; `position[i]` is where in the stream range i came up, `gone[i]` where
 * it went.
 */
void model_encode(const struct run *, const struct model_options *,
    struct pt_out *, FILE *truth, uint64_t *position, uint64_t *gone,
    struct model_counts *);

#endif /* PT_MODEL_H */
