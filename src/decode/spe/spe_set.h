/*
 * The fields of a record, each from the payload of its packet.
 */
#ifndef HWTDI_SPE_SET_H
#define HWTDI_SPE_SET_H

#include <hwtdecode/sample.h>
#include <stdbool.h>

#include "decode/spe/spe_operation.h"

#define HWTDI_SPE_ADDRESS_MASK UINT64_C(0x00ffffffffffffff)

/* An address without its top byte, that which bit 55 says in its place. */
static inline uint64_t
hwtdi_spe_canonical(uint64_t payload)
{
	/* Bit 55 tells the half of the address space in all regimes. */
	return ((payload & HWTDI_SPE_ADDRESS_MASK) |
	    (0 - (payload >> 55 & 1)) << 56);
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

static inline void
hwtdi_spe_set_pc(struct hwtd_sample *s, uint64_t v)
{
	s->pc = hwtdi_spe_canonical(v);
	s->pc_el = hwtdi_spe_level(v);
	s->pc_security = hwtdi_spe_security(v);
}

static inline void
hwtdi_spe_set_target(struct hwtd_sample *s, uint64_t v)
{
	s->target = hwtdi_spe_canonical(v);
	s->target_el = hwtdi_spe_level(v);
	s->target_security = hwtdi_spe_security(v);
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
	s->prev_target_el = hwtdi_spe_level(v);
	s->prev_target_security = hwtdi_spe_security(v);
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
