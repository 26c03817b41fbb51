/*
 * Random Intel PT traces of random programs, with the truth: a simple machine
 * runs the program and tells what the hardware would tell.
 *
 * Source: Intel SDM vol. 3C, "Intel Processor Trace".
 */
#ifndef TEST_RANDOM_TRACE_H
#define TEST_RANDOM_TRACE_H

#include <hwtdecode/hwtdecode.h>

#include "support/pt_packets.h"
#include "support/random_program.h"

/* What a trace has. */
#define RANDOM_COMPRESS_RETURNS 0x1u
#define RANDOM_COMPRESS_IPS 0x2u
#define RANDOM_LONG_TNT 0x4u
#define RANDOM_TIMES 0x8u
#define RANDOM_SYNCS 0x10u
#define RANDOM_OVERFLOWS 0x20u
#define RANDOM_INTERRUPTS 0x40u
#define RANDOM_PAUSES 0x80u
#define RANDOM_CONTEXTS 0x100u
#define RANDOM_TRANSACTIONS 0x200u
#define RANDOM_PTWRITES 0x400u
#define RANDOM_POWERS 0x800u
/* TIP packets behind outcomes that are newer. */
#define RANDOM_DEFERS 0x1000u
/* Only one image is traced. */
#define RANDOM_FILTERS 0x2000u
/* The first packet is a TIP.PGE, not a PSB. */
#define RANDOM_NO_PSB 0x4000u
/* TIP packets of returns without calls are deferred, too. */
#define RANDOM_DEFERS_RETURNS 0x8000u
/* Tracing that goes on forgets the calls of before. */
#define RANDOM_FORGETS_CALLS 0x10000u
/* A direct branch out of the filter leaves the address out (SKL014). */
#define RANDOM_SKL014 0x20000u
#define RANDOM_MARKERS 0x40000u
#define RANDOM_ALL 0x7ffffu
/* What happens from some places on is what happened there before. */
#define RANDOM_REPEATS 0x80000u

struct random_trace_insn {
	uint64_t ip;
	/* HWTD_EVF_SPECULATIVE and the ISA. */
	uint16_t flags;
};

/* An event, between instructions. */
struct random_trace_event {
	/* Instructions before it. */
	size_t at;
	/* kind, ip, target, flags, value. */
	struct hwtd_event row;
	/* HWTD_EVF_* bits that may be either way. */
	uint16_t open;
	/* It need not be told. */
	bool maybe;
	/* CONTEXT. */
	uint64_t cr3, vmcs;
	bool guest;
	/* MARKER, POWER. */
	struct hwtd_marker marker;
	struct hwtd_power power;
	/* ASYNC: the abort of a transaction. */
	bool abort;
};

struct random_trace {
	struct random_program program;
	struct hwtd_pt_config config;
	struct pt_packets packets;
	struct random_trace_insn *insns;
	size_t n_insns, cap_insns;
	struct random_trace_event *events;
	size_t n_events, cap_events;
	size_t n_psbs;
};

/* `has`: RANDOM_* bits.  Instructions to execute: about `insns`. */
void random_trace_make(struct random_trace *t, uint64_t seed, unsigned int has,
    size_t insns);
void random_trace_free(struct random_trace *t);

/* How far rows were compared with the truth. */
struct random_trace_cursor {
	const struct random_trace *truth;
	struct hwtd_trace *trace;
	size_t insn, event;
	char text[256];
};

void random_trace_start(struct random_trace_cursor *c,
    const struct random_trace *truth, struct hwtd_trace *trace);

/*
 * Compare the next row, at instruction level, and its detail, of a stream that is
 * read from its start.  False: it is not what happened; `text` says why.  Rows
 * that only restate what holds are not looked at.
 */
bool random_trace_next(struct random_trace_cursor *c,
    const struct hwtd_event *row, const void *detail);
/* No row follows. */
bool random_trace_end(struct random_trace_cursor *c);

#endif /* TEST_RANDOM_TRACE_H */
