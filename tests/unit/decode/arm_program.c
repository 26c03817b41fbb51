/*
 * Random programs of Arm code: what each instruction is comes first, then its
 * encoding.
 */
#include "arm_program.h"

#include <string.h>

#include <hwtdecode/event.h>

struct maker {
	struct arm_program *p;
	uint64_t seed;
	bool sparse;
	/* Steps left in an IT block; the first of one can be jumped to. */
	uint32_t left;
	bool in_block[ARM_PROGRAM_STEPS];
};

/* A number below `n`. */
static uint32_t
below(struct maker *m, uint32_t n)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return ((uint32_t)(m->seed >> 33) % n);
}

static void
put_half(struct arm_program *p, uint32_t *at, uint32_t half)
{
	p->bytes[(*at)++] = (uint8_t)half;
	p->bytes[(*at)++] = (uint8_t)(half >> 8);
}

static void
put_word(struct arm_program *p, uint32_t at, uint32_t word)
{
	if (p->isa == HWTD_ISA_T32)
		word = word << 16 | word >> 16;
	put_half(p, &at, word & 0xffff);
	put_half(p, &at, word >> 16);
}

static uint32_t
signed_bits(int64_t value, unsigned int bits)
{
	return ((uint32_t)value & (((uint32_t)1 << bits) - 1));
}

static uint32_t
a64_word(const struct arm_step *s)
{
	static const uint32_t words[ARM_N_DOES] = {
		[ARM_PLAIN] = 0x910003fd,
		[ARM_INDIRECT_JUMP] = 0xd61f0220,
		[ARM_INDIRECT_CALL] = 0xd63f0100,
		[ARM_RETURN] = 0xd65f03c0,
		[ARM_SYSTEM_CALL] = 0xd4000001,
		[ARM_EXCEPTION_RETURN] = 0xd69f03e0,
		[ARM_ISB] = 0xd5033fdf,
		[ARM_BARRIER] = 0xd5033bbf,
		[ARM_WAIT] = 0xd503207f,
	};
	const int64_t words_on = (s->target - (int64_t)s->off) / 4;

	if (s->does == ARM_JUMP && s->conditional)
		return (0x54000001 | signed_bits(words_on, 19) << 5);
	if (s->does == ARM_JUMP || s->does == ARM_CALL)
		return ((s->does == ARM_CALL ? 0x94000000 : 0x14000000) |
		    signed_bits(words_on, 26));
	return (words[s->does]);
}

static uint32_t
a32_word(const struct arm_step *s)
{
	/* Without their conditions. */
	static const uint32_t words[ARM_N_DOES] = {
		[ARM_PLAIN] = 0x01a00001,
		[ARM_JUMP] = 0x0a000000,
		[ARM_CALL] = 0x0b000000,
		[ARM_INDIRECT_JUMP] = 0x012fff13,
		[ARM_INDIRECT_CALL] = 0x012fff33,
		[ARM_RETURN] = 0x012fff1e,
		[ARM_SYSTEM_CALL] = 0x0f000000,
		[ARM_EXCEPTION_RETURN] = 0x025ef004,
		[ARM_ISB] = 0x0e070f95,
		[ARM_BARRIER] = 0x0e070fba,
		[ARM_WAIT] = 0x0320f003,
	};
	const int64_t words_on = (s->target - (int64_t)s->off - 8) / 4;
	const uint32_t condition = s->conditional ? 0x10000000 : 0xe0000000;

	if (s->switches)
		return (0xfa000000 | signed_bits(words_on, 24));
	if (s->does == ARM_JUMP || s->does == ARM_CALL)
		return (condition | words[s->does] |
		    signed_bits(words_on, 24));
	return (condition | words[s->does]);
}

/* B, BL and BLX: `from` is what their offset is added to. */
static uint32_t
t32_far(uint32_t word, int64_t offset)
{
	const uint32_t v = (uint32_t)offset;
	const uint32_t s = v >> 24 & 1;
	const uint32_t j1 = (v >> 23 & 1) ^ s ^ 1, j2 = (v >> 22 & 1) ^ s ^ 1;

	return (word | s << 26 | (v >> 12 & 0x3ff) << 16 | j1 << 13 |
	    j2 << 11 | (v >> 1 & 0x7ff));
}

static uint32_t
t32_word(const struct arm_program *p, const struct arm_step *s, bool in_block)
{
	static const uint32_t words[ARM_N_DOES] = {
		[ARM_PLAIN] = 0xf8d01004,
		[ARM_RETURN] = 0xe8bd8010,
		[ARM_INDIRECT_JUMP] = 0xf8d0f000,
		[ARM_SYSTEM_CALL] = 0xf7e08001,
		[ARM_EXCEPTION_RETURN] = 0xf3de8f04,
		[ARM_ISB] = 0xf3bf8f6f,
		[ARM_BARRIER] = 0xf3bf8f5b,
		[ARM_WAIT] = 0xf3af8003,
	};
	const int64_t offset = s->target - (int64_t)s->off - 4;
	const uint32_t v = (uint32_t)offset;

	if (s->does == ARM_JUMP && s->conditional && !in_block)
		return (0xf0408000 | (v >> 20 & 1) << 26 |
		    (v >> 19 & 1) << 11 | (v >> 18 & 1) << 13 |
		    (v >> 12 & 0x3f) << 16 | (v >> 1 & 0x7ff));
	if (s->switches)
		/* From where PC is, without its bit 1. */
		return (t32_far(0xf000c000,
		    offset + (int64_t)((p->address + s->off) & 2)));
	if (s->does == ARM_JUMP)
		return (t32_far(0xf0009000, offset));
	if (s->does == ARM_CALL)
		return (t32_far(0xf000d000, offset));
	return (words[s->does]);
}

static uint32_t
t32_half(const struct arm_step *s)
{
	static const uint16_t halves[ARM_N_DOES] = {
		[ARM_PLAIN] = 0x4608,
		[ARM_INDIRECT_JUMP] = 0x4718,
		[ARM_INDIRECT_CALL] = 0x4798,
		[ARM_RETURN] = 0x4770,
		[ARM_SYSTEM_CALL] = 0xdf00,
		[ARM_WAIT] = 0xbf30,
	};

	return (halves[s->does]);
}

static struct arm_step *
add(struct maker *m, uint8_t does, uint8_t length)
{
	struct arm_program *p = m->p;
	struct arm_step *s = &p->steps[p->n];

	memset(s, 0, sizeof(*s));
	s->off = p->length;
	s->length = length;
	s->does = does;
	p->length += length;
	p->n++;
	return (s);
}

static uint8_t
choose(struct maker *m)
{
	static const uint8_t often[] = { ARM_JUMP, ARM_JUMP, ARM_CALL,
		ARM_CALL };

	if (below(m, m->sparse ? 40 : 3) != 0)
		return (ARM_PLAIN);
	if (below(m, 2) == 0)
		return (often[below(m, 4)]);
	return ((uint8_t)(1 + below(m, ARM_N_DOES - 1)));
}

static uint8_t
length_of(struct maker *m, uint8_t does)
{
	if (m->p->isa != HWTD_ISA_T32)
		return (4);
	switch (does) {
	case ARM_PLAIN:
	case ARM_INDIRECT_JUMP:
	case ARM_RETURN:
	case ARM_WAIT:
		return (below(m, 2) == 0 ? 4 : 2);
	case ARM_INDIRECT_CALL:
	case ARM_SYSTEM_CALL:
		return (2);
	default:
		return (4);
	}
}

/* What branches do only the last of an IT block does. */
static bool
is_for_the_last(uint8_t does)
{
	return (does != ARM_PLAIN && does != ARM_ISB && does != ARM_BARRIER &&
	    does != ARM_WAIT && does != ARM_SYSTEM_CALL);
}

static void
add_block(struct maker *m)
{
	static const uint8_t masks[4] = { 0x8, 0x4, 0x2, 0x1 };
	const uint32_t n = 1 + below(m, 4);
	struct arm_program *p = m->p;
	uint32_t at = add(m, ARM_PLAIN, 2)->off;

	/* IT NE, with ELSE or not: any bits above the lowest one. */
	put_half(p, &at,
	    0xbf10 | masks[n - 1] |
		(below(m, 8) << (5 - n) & 0xf & ~(masks[n - 1] * 2u - 1)));
	for (uint32_t i = 0; i < n; i++) {
		uint8_t does = choose(m);
		struct arm_step *s;

		if (i + 1 < n && is_for_the_last(does))
			does = ARM_PLAIN;
		m->in_block[p->n] = true;
		s = add(m, does, length_of(m, does));
		s->conditional = true;
	}
}

static void
add_any(struct maker *m)
{
	const uint8_t does = choose(m);
	struct arm_step *s = add(m, does, length_of(m, does));
	const bool can = m->p->isa == HWTD_ISA_A32 || does == ARM_JUMP;

	s->conditional = can && below(m, 3) == 0;
}

/* Now that it is known where all steps are. */
static void
aim(struct maker *m, uint32_t i)
{
	struct arm_program *p = m->p;
	struct arm_step *s = &p->steps[i];
	uint32_t to;

	if (s->does != ARM_JUMP && s->does != ARM_CALL)
		return;
	do
		to = below(m, p->n);
	while (m->in_block[to]);
	s->target = p->steps[to].off;
	if (below(m, 8) == 0)
		s->target = (int64_t)p->length + 4 * (int64_t)below(m, 100);
	else if (below(m, 8) == 0)
		s->target = -4 - 4 * (int64_t)below(m, 100);
	else if (below(m, 8) == 0 && i + 1 < p->n && !m->in_block[i + 1])
		s->target = p->steps[i + 1].off;
	if (s->does != ARM_CALL || p->isa == HWTD_ISA_A64 ||
	    below(m, 4) != 0 || (p->isa == HWTD_ISA_A32 && s->conditional))
		return;
	s->switches = true;
	s->target -= (int64_t)((p->address + (uint64_t)s->target) & 3);
}

void
arm_program_make(struct arm_program *p, uint8_t isa, uint64_t seed,
    bool sparse)
{
	struct maker m = { .p = p, .seed = seed, .sparse = sparse };

	memset(p, 0, sizeof(*p));
	p->isa = isa;
	p->address = 0x10000 + (isa == HWTD_ISA_T32 ? 2 * below(&m, 2) : 0);
	while (p->n + 5 <= ARM_PROGRAM_STEPS)
		if (isa == HWTD_ISA_T32 && below(&m, 4) == 0)
			add_block(&m);
		else
			add_any(&m);
	for (uint32_t i = 0; i < p->n; i++) {
		struct arm_step *s = &p->steps[i];
		uint32_t at = s->off;

		aim(&m, i);
		/* IT is there. */
		if (isa == HWTD_ISA_T32 && s->length == 2) {
			if (i + 1 == p->n || !m.in_block[i + 1] ||
			    m.in_block[i])
				put_half(p, &at, t32_half(s));
		} else if (isa == HWTD_ISA_T32)
			put_word(p, at, t32_word(p, s, m.in_block[i]));
		else
			put_word(p, at,
			    isa == HWTD_ISA_A64 ? a64_word(s) : a32_word(s));
	}
}
