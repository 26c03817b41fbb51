/*
 * A long Intel PT trace of a small program, made by simulating it, with the
 * truth: the address of every instruction that is traced.
 */
#ifndef TEST_LONG_TRACE_H
#define TEST_LONG_TRACE_H

#include <hwtdecode/hwtdecode.h>

#include "support/pt_packets.h"

#define LONG_TRACE_BASE 0x400000u

struct long_trace_options {
	/* For the pseudo-random choices. */
	uint64_t seed;
	/* Instructions to execute. */
	size_t insns;
	/* A PSB+ after so many bytes, more or less. */
	size_t psb_bytes;
	/* TSC packets; `tsc` is the first one. */
	bool timed;
	uint64_t tsc;
	/* One of so many branches is followed by...; 0: none. */
	unsigned int overflow_of;
	unsigned int interrupt_of;
	unsigned int pause_of;
	/* Garbage up to the next PSB+, which follows at once. */
	unsigned int garbage_of;
};

struct long_trace {
	struct pt_packets packets;
	/* Addresses of the instructions, in order. */
	uint64_t *ips;
	size_t n_ips;
	/* Offsets of the PSBs. */
	size_t *psbs;
	size_t n_psbs;
	size_t n_overflows, n_interrupts, n_pauses, n_garbage;
	/* Bytes of garbage. */
	size_t garbage_bytes;
};

void long_trace_make(struct long_trace *t,
    const struct long_trace_options *opts);
void long_trace_free(struct long_trace *t);

/* The program, to be mapped at LONG_TRACE_BASE. */
uint32_t long_trace_code(struct hwtd_trace *trace);

#endif /* TEST_LONG_TRACE_H */
