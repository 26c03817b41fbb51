/*
 * The fields of a record, each from the payload of its packet.
 */
#ifndef HWTDI_SPE_SET_H
#define HWTDI_SPE_SET_H

#include <hwtdecode/sample.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "decode/spe/spe_operation.h"

#define HWTDI_SPE_CLEAR_BYTES 64

#define HWTDI_SPE_ADDRESS_MASK UINT64_C(0x00ffffffffffffff)

/* An address without its top byte, that which bit 55 says in its place. */
static inline uint64_t
hwtdi_spe_canonical(uint64_t payload)
{
	/* Bit 55 tells the half of the address space in all regimes. */
	return ((uint64_t)((int64_t)(payload << 8) >> 8));
}

static inline uint8_t
hwtdi_spe_security(uint64_t payload)
{
	return ((uint8_t)((payload >> 60 & 1) << 1 | payload >> 63));
}

static inline uint8_t
hwtdi_spe_level(uint64_t payload)
{
	return ((uint8_t)(payload >> 61 & 3));
}

/* The exception level and security state of an address of code, side by side. */
static inline void
hwtdi_spe_set_state(uint8_t *level_out, uint64_t payload)
{
	/* By bits 63 to 60: NS, EL, NSE. */
	static const uint8_t states[16][2] = { { 0, 0 }, { 0, 2 }, { 1, 0 },
		{ 1, 2 }, { 2, 0 }, { 2, 2 }, { 3, 0 }, { 3, 2 }, { 0, 1 },
		{ 0, 3 }, { 1, 1 }, { 1, 3 }, { 2, 1 }, { 2, 3 }, { 3, 1 },
		{ 3, 3 } };

	memcpy(level_out, states[payload >> 60], 2);
}

#define HWTDI_SPE_SIDE_BY_SIDE(level, security)                               \
	_Static_assert(offsetof(struct hwtd_sample, security) ==              \
		offsetof(struct hwtd_sample, level) + 1,                      \
	    "level and security are side by side")
HWTDI_SPE_SIDE_BY_SIDE(pc_el, pc_security);
HWTDI_SPE_SIDE_BY_SIDE(target_el, target_security);
HWTDI_SPE_SIDE_BY_SIDE(prev_target_el, prev_target_security);

/* In parts: of more at once compilers make an instruction that is slow. */
static inline void
hwtdi_spe_clear(struct hwtd_sample *s)
{
	uint8_t *bytes = (uint8_t *)s;

	_Static_assert(sizeof(*s) == 3 * HWTDI_SPE_CLEAR_BYTES,
	    "parts of a sample");
	memset(bytes, 0, HWTDI_SPE_CLEAR_BYTES);
	memset(bytes + HWTDI_SPE_CLEAR_BYTES, 0, HWTDI_SPE_CLEAR_BYTES);
	memset(bytes + 2 * (size_t)HWTDI_SPE_CLEAR_BYTES, 0,
	    HWTDI_SPE_CLEAR_BYTES);
}

static inline void
hwtdi_spe_set_pc(struct hwtd_sample *s, uint64_t v)
{
	s->pc = hwtdi_spe_canonical(v);
	hwtdi_spe_set_state((uint8_t *)s + offsetof(struct hwtd_sample, pc_el),
	    v);
}

static inline void
hwtdi_spe_set_target(struct hwtd_sample *s, uint64_t v)
{
	s->target = hwtdi_spe_canonical(v);
	hwtdi_spe_set_state((uint8_t *)s +
		offsetof(struct hwtd_sample, target_el),
	    v);
}

static inline void
hwtdi_spe_set_va(struct hwtd_sample *s, uint64_t v)
{
	s->va = hwtdi_spe_canonical(v);
	s->va_tag = (uint8_t)(v >> 56);
}

static inline void
hwtdi_spe_set_pa(struct hwtd_sample *s, uint64_t v)
{
	s->pa = v & HWTDI_SPE_ADDRESS_MASK;
	s->pa_tag = v >> 56 & 15;
	s->pa_security = hwtdi_spe_security(v);
	s->pa_checked = v >> 62 & 1;
}

static inline void
hwtdi_spe_set_prev_target(struct hwtd_sample *s, uint64_t v)
{
	s->prev_target = hwtdi_spe_canonical(v);
	hwtdi_spe_set_state((uint8_t *)s +
		offsetof(struct hwtd_sample, prev_target_el),
	    v);
}

/* A latency, and whether it is at its limit, as `flag`. */
static inline void
hwtdi_spe_set_latency(struct hwtd_sample *s, uint16_t *latency, uint32_t flag,
    uint16_t v, unsigned int counter_bits)
{
	*latency = v;
	s->flags &= ~flag;
	if (v < 0xfff)
		return;
	if (v == 0xffff || (counter_bits != 16 && v == 0xfff) ||
	    (counter_bits == 12 && v > 0xfff))
		s->flags |= flag;
}

static inline void
hwtdi_spe_set_operation(struct hwtd_sample *s, uint8_t raw,
    const struct hwtdi_spe_operation *op)
{
	s->op_raw = raw;
	s->op_class = op->op_class;
	s->op = op->op;
	s->op_flags = op->flags;
	s->vector_bits = op->vector_bits;
	s->present = (s->present & ~(uint32_t)HWTD_SAMPLE_VECTOR) |
	    (op->vector_bits != 0 ? HWTD_SAMPLE_VECTOR : 0);
}

#endif /* HWTDI_SPE_SET_H */
