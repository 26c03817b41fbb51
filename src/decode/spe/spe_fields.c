/*
 * Packets of Arm SPE into the fields of a record.
 */
#include "decode/spe/spe_fields.h"

#include "decode/spe/spe_operation.h"

#define ADDRESS_MASK UINT64_C(0x00ffffffffffffff)

uint64_t
hwtdi_spe_canonical(uint64_t payload)
{
	/* Bit 55 tells the half of the address space in all regimes. */
	return ((payload & ADDRESS_MASK) |
	    ((payload >> 55 & 1) != 0 ? ~ADDRESS_MASK : 0));
}

static uint8_t
security(uint64_t payload)
{
	return ((uint8_t)((payload >> 60 & 1) << 1 | payload >> 63));
}

static uint8_t
level(uint64_t payload)
{
	return ((uint8_t)(payload >> 61 & 3));
}

static void
add_extra(struct hwtd_sample *s, const struct hwtdi_spe_packet *p)
{
	const uint8_t is_unknown = p->kind == HWTDI_SPE_UNKNOWN;
	uint32_t i = 0;

	/* Of a kind and index the last counts; unknown ones are all kept. */
	for (; i < s->n_extras; i++)
		if (!is_unknown && s->extras[i].is_unknown == 0 &&
		    (s->extras[i].header & 0xf8) == (p->header & 0xf8) &&
		    s->extras[i].index == p->index) {
			s->flags |= HWTD_SAMPLEF_DUPLICATE;
			break;
		}
	if (i == HWTD_SAMPLE_EXTRAS) {
		s->flags |= HWTD_SAMPLEF_MORE_EXTRAS;
		return;
	}
	s->extras[i].payload = p->payload;
	s->extras[i].header = p->header;
	s->extras[i].index = p->index;
	s->extras[i].bytes = p->payload_bytes;
	s->extras[i].is_unknown = is_unknown;
	s->extras[i].reserved = 0;
	if (i == s->n_extras)
		s->n_extras++;
}

static void
add_address(struct hwtd_sample *s, const struct hwtdi_spe_packet *p)
{
	const uint64_t v = p->payload;

	switch (p->index) {
	case HWTDI_SPE_PC:
		s->pc = hwtdi_spe_canonical(v);
		s->pc_el = level(v);
		s->pc_security = security(v);
		break;
	case HWTDI_SPE_TARGET:
		s->target = hwtdi_spe_canonical(v);
		s->target_el = level(v);
		s->target_security = security(v);
		break;
	case HWTDI_SPE_VA:
		s->va = hwtdi_spe_canonical(v);
		s->va_tag = (uint8_t)(v >> 56);
		break;
	case HWTDI_SPE_PA:
		s->pa = v & ADDRESS_MASK;
		s->pa_tag = v >> 56 & 15;
		s->pa_security = security(v);
		s->pa_checked = v >> 62 & 1;
		break;
	default:
		s->prev_target = hwtdi_spe_canonical(v);
		s->prev_target_el = level(v);
		s->prev_target_security = security(v);
		break;
	}
}

static void
add_counter(struct hwtd_sample *s, const struct hwtdi_spe_packet *p,
    unsigned int counter_bits)
{
	const uint16_t v = (uint16_t)p->payload;
	const bool saturated = v == 0xffff ||
	    (counter_bits == 0 && v == 0xfff) ||
	    (counter_bits == 12 && v >= 0xfff);
	uint32_t flag;

	switch (p->index) {
	case HWTDI_SPE_TOTAL:
		s->lat_total = v;
		flag = HWTD_SAMPLEF_TOTAL_SATURATED;
		break;
	case HWTDI_SPE_ISSUE:
		s->lat_issue = v;
		flag = HWTD_SAMPLEF_ISSUE_SATURATED;
		break;
	default:
		s->lat_xlat = v;
		flag = HWTD_SAMPLEF_XLAT_SATURATED;
		break;
	}
	s->flags = (s->flags & ~flag) | (saturated ? flag : 0);
}

static void
add_operation(struct hwtd_sample *s, const struct hwtdi_spe_packet *p)
{
	struct hwtdi_spe_operation op;

	hwtdi_spe_operation_read(p->index, (uint8_t)p->payload, &op);
	s->op_raw = (uint8_t)p->payload;
	s->op_class = op.op_class;
	s->op = op.op;
	s->op_flags = op.flags;
	s->vector_bits = op.vector_bits;
	s->present &= ~(uint32_t)HWTD_SAMPLE_VECTOR;
	if (op.vector_bits != 0)
		s->present |= HWTD_SAMPLE_VECTOR;
}

uint32_t
hwtdi_spe_field(const struct hwtdi_spe_packet *p)
{
	static const uint32_t addresses[] = { HWTD_SAMPLE_PC,
		HWTD_SAMPLE_TARGET, HWTD_SAMPLE_VA, HWTD_SAMPLE_PA,
		HWTD_SAMPLE_PREV_TARGET };

	switch (p->kind) {
	case HWTDI_SPE_ADDRESS:
		return (p->index <= HWTDI_SPE_PREV_TARGET ? addresses[p->index]
							  : 0);
	case HWTDI_SPE_COUNTER:
		return (p->index <= HWTDI_SPE_XLAT
			? (uint32_t)HWTD_SAMPLE_LAT_TOTAL << p->index
			: 0);
	case HWTDI_SPE_CONTEXT:
		return (p->index <= 1
			? (uint32_t)HWTD_SAMPLE_CONTEXT_EL1 << p->index
			: 0);
	case HWTDI_SPE_OPERATION:
		return (HWTD_SAMPLE_OP);
	case HWTDI_SPE_EVENTS:
		return (HWTD_SAMPLE_EVENTS);
	case HWTDI_SPE_SOURCE:
		return (HWTD_SAMPLE_SOURCE);
	case HWTDI_SPE_TIMESTAMP:
		return (HWTD_SAMPLE_COUNT);
	default:
		return (0);
	}
}

void
hwtdi_spe_add(struct hwtd_sample *s, const struct hwtdi_spe_packet *p,
    unsigned int counter_bits)
{
	const uint32_t field = hwtdi_spe_field(p);

	if (field == 0) {
		add_extra(s, p);
		return;
	}
	if ((s->present & field) != 0)
		s->flags |= HWTD_SAMPLEF_DUPLICATE;
	s->present |= field;
	switch (p->kind) {
	case HWTDI_SPE_ADDRESS:
		add_address(s, p);
		break;
	case HWTDI_SPE_COUNTER:
		add_counter(s, p, counter_bits);
		break;
	case HWTDI_SPE_CONTEXT:
		if (p->index == 0)
			s->context_el1 = (uint32_t)p->payload;
		else
			s->context_el2 = (uint32_t)p->payload;
		break;
	case HWTDI_SPE_OPERATION:
		add_operation(s, p);
		break;
	case HWTDI_SPE_EVENTS:
		s->events = p->payload;
		s->event_bytes = p->payload_bytes;
		break;
	case HWTDI_SPE_SOURCE:
		s->source = p->payload;
		s->source_bytes = p->payload_bytes;
		break;
	default:
		s->count = p->payload;
		break;
	}
}
