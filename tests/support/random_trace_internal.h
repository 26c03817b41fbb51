/*
 * The machine of random traces, shared by its files.
 */
#ifndef TEST_RANDOM_TRACE_INTERNAL_H
#define TEST_RANDOM_TRACE_INTERNAL_H

#include "support/random_trace.h"

/* Calls that the hardware compares returns with. */
#define CALLS 64
#define FRAMES 64
#define DEFERRED 6

struct machine {
	struct random_trace *t;
	const struct random_program *p;
	struct pt_packets *out;
	unsigned int has;
	uint64_t random;
	/* Number of the next instruction. */
	uint32_t at;
	bool on;
	/* The image that is traced, or RANDOM_IMAGES. */
	uint32_t traced;

	/* Outcomes that wait for a packet, and TIPs that wait for them. */
	uint64_t outcomes;
	unsigned int n_outcomes;
	uint64_t deferred[DEFERRED];
	unsigned int n_deferred;
	/* Instructions up to the last outcome; those the packets tell of. */
	size_t spoken, told;
	/* `told` after a PIP of MOV CR3: a TIP.PGD would be taken for its own. */
	size_t told_cr3;

	uint64_t calls[CALLS];
	unsigned int n_calls;
	/* Calls that a decoder has which the hardware has not. */
	bool more_calls;
	/* What the program itself would return to, and interrupts. */
	uint32_t frames[FRAMES], interrupted[FRAMES];
	unsigned int n_frames, n_interrupted;

	uint64_t last_ip;
	/* The mode, as packets told it, and whether it is to be told again. */
	unsigned int bits_told;
	bool tell_again;
	bool transaction;
	uint32_t fallback;
	uint64_t cr3, vmcs;
	bool guest;
	unsigned int ratio;
	uint64_t tsc;

	/* Where tracing went off, if that is sure. */
	bool has_resume, sure_resume;
	uint64_t resume_ip;
};

static inline uint32_t
below(struct machine *m, uint32_t n)
{
	return (random_below(&m->random, n));
}

static inline bool
has(const struct machine *m, unsigned int what)
{
	return ((m->has & what) != 0);
}

static inline const struct random_insn *
here(const struct machine *m)
{
	return (&m->p->insns[m->at]);
}

static inline unsigned int
bits_at(const struct machine *m, uint32_t insn)
{
	return (m->p->images[m->p->insns[insn].image].bits);
}

static inline uint16_t
isa_of(unsigned int bits)
{
	return ((uint16_t)((bits == 64 ? HWTD_ISA_X86_64 : HWTD_ISA_X86_32)
	    << HWTD_EVF_ISA_SHIFT));
}

/* random_trace_packets.c */
struct random_trace_event *rm_event(struct machine *m, uint8_t kind);
void rm_set_ip(struct random_trace_event *e, uint64_t ip);
void rm_set_target(struct random_trace_event *e, uint64_t target);
void rm_execute(struct machine *m);
/* The packets tell of all that was executed. */
void rm_tell_all(struct machine *m);
void rm_tell_context(struct machine *m, const uint64_t *ip);
struct random_trace_event *rm_tell_async_disable(struct machine *m,
    uint64_t ip);
void rm_tell_mode(struct machine *m, unsigned int bits, uint64_t ip);
void rm_tell_transaction(struct machine *m, uint64_t value, uint64_t ip);
void rm_noise(struct machine *m);
void rm_tell_ratio(struct machine *m, unsigned int before);
/* Noise where a change of frequency is a row of its own. */
void rm_times(struct machine *m);
void rm_put_ip(struct machine *m,
    void (*put)(struct pt_packets *, enum pt_ip_mode, uint64_t), uint64_t ip);
/* Tell the outcomes that wait, and what waits for them. */
void rm_flush(struct machine *m);
void rm_outcome(struct machine *m, bool taken);
void rm_target(struct machine *m, bool can_wait);
/* PIP and VMCS of a transfer; `ip` as rm_tell_context(). */
void rm_put_contexts(struct machine *m, const uint64_t *ip);
/* MODE.Exec, if it is needed or by chance. */
void rm_put_mode(struct machine *m, unsigned int bits);

#endif /* TEST_RANDOM_TRACE_INTERNAL_H */
