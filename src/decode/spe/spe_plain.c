/*
 * The packets that nearly all records are made of, quickly: no packet is made of
 * them, and what an operation means is remembered.
 */
#include "decode/spe/spe_plain.h"

#include "decode/spe/spe_set.h"

/* Compilers make one load of each. */
static inline uint16_t
load2(const uint8_t *p)
{
	return ((uint16_t)(p[0] | p[1] << 8));
}

static inline uint32_t
load4(const uint8_t *p)
{
	return ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	    (uint32_t)p[3] << 24);
}

static inline uint64_t
load8(const uint8_t *p)
{
	return ((uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	    (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
	    (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	    (uint64_t)p[7] << 56);
}

/* How many of the bytes from the first on are 0, which it is; at most 8. */
static inline unsigned int
zeros(const uint8_t *p)
{
	const uint64_t v = load8(p);

	return (v == 0 ? 8 : (unsigned int)__builtin_ctzll(v) / 8);
}

static struct hwtdi_spe_known_op *
know_operation(struct hwtdi_spe_reader *r, uint8_t op_class, uint8_t raw)
{
	struct hwtdi_spe_known_op
	    *known = &r->ops[op_class][raw % HWTDI_SPE_KNOWN_OPS];

	if (known->op.op == HWTD_OP_UNKNOWN || known->raw != raw) {
		hwtdi_spe_operation_read(op_class, raw, &known->op);
		known->raw = raw;
	}
	return (known);
}

/* A packet of this field; leaves if it is there already, or is cut off. */
#define TAKE(field, payload_bytes)                                            \
	if ((present & (field)) != 0 || stop - at < (payload_bytes) + 1)      \
		goto out;                                                     \
	present |= (field);                                                   \
	v = at + 1;                                                           \
	at += (payload_bytes) + 1;                                            \
	end = at

const uint8_t *
hwtdi_spe_plain(struct hwtdi_spe_reader *r, const uint8_t *at,
    const uint8_t *stop, struct hwtd_sample *s, const uint8_t **end_out)
{
	const uint8_t *end = *end_out;
	uint32_t present = s->present;
	struct hwtdi_spe_known_op *op;
	const uint8_t *v;

	while (at < stop) {
		switch (*at) {
		case 0x00:
			at += zeros(at);
			break;
		case 0xb0:
			TAKE(HWTD_SAMPLE_PC, 8);
			hwtdi_spe_set_pc(s, load8(v));
			break;
		case 0xb1:
			TAKE(HWTD_SAMPLE_TARGET, 8);
			hwtdi_spe_set_target(s, load8(v));
			break;
		case 0xb2:
			TAKE(HWTD_SAMPLE_VA, 8);
			hwtdi_spe_set_va(s, load8(v));
			break;
		case 0xb3:
			TAKE(HWTD_SAMPLE_PA, 8);
			hwtdi_spe_set_pa(s, load8(v));
			break;
		case 0xb4:
			TAKE(HWTD_SAMPLE_PREV_TARGET, 8);
			hwtdi_spe_set_prev_target(s, load8(v));
			break;
		case 0x64:
			TAKE(HWTD_SAMPLE_CONTEXT_EL1, 4);
			s->context_el1 = load4(v);
			break;
		case 0x65:
			TAKE(HWTD_SAMPLE_CONTEXT_EL2, 4);
			s->context_el2 = load4(v);
			break;
		case 0x98:
			TAKE(HWTD_SAMPLE_LAT_TOTAL, 2);
			hwtdi_spe_set_latency(s, &s->lat_total,
			    HWTD_SAMPLEF_TOTAL_SATURATED, load2(v),
			    r->counter_bits);
			break;
		case 0x99:
			TAKE(HWTD_SAMPLE_LAT_ISSUE, 2);
			hwtdi_spe_set_latency(s, &s->lat_issue,
			    HWTD_SAMPLEF_ISSUE_SATURATED, load2(v),
			    r->counter_bits);
			break;
		case 0x9a:
			TAKE(HWTD_SAMPLE_LAT_XLAT, 2);
			hwtdi_spe_set_latency(s, &s->lat_xlat,
			    HWTD_SAMPLEF_XLAT_SATURATED, load2(v),
			    r->counter_bits);
			break;
		case 0x48:
		case 0x49:
		case 0x4a:
			TAKE(HWTD_SAMPLE_OP, 1);
			op = know_operation(r, v[-1] & 3, v[0]);
			hwtdi_spe_set_operation(s, v[0], &op->op);
			present |= s->present;
			break;
		case 0x42:
			TAKE(HWTD_SAMPLE_EVENTS, 1);
			s->events = v[0];
			s->event_bytes = 1;
			break;
		case 0x52:
			TAKE(HWTD_SAMPLE_EVENTS, 2);
			s->events = load2(v);
			s->event_bytes = 2;
			break;
		case 0x62:
			TAKE(HWTD_SAMPLE_EVENTS, 4);
			s->events = load4(v);
			s->event_bytes = 4;
			break;
		case 0x72:
			TAKE(HWTD_SAMPLE_EVENTS, 8);
			s->events = load8(v);
			s->event_bytes = 8;
			break;
		case 0x43:
			TAKE(HWTD_SAMPLE_SOURCE, 1);
			s->source = v[0];
			s->source_bytes = 1;
			break;
		case 0x53:
			TAKE(HWTD_SAMPLE_SOURCE, 2);
			s->source = load2(v);
			s->source_bytes = 2;
			break;
		default:
			goto out;
		}
	}
out:
	s->present = present;
	*end_out = end;
	/* Padding goes on behind it. */
	return (at < stop ? at : stop);
}
