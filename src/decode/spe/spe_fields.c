/*
 * Packets of Arm SPE into the fields of a record.
 */
#include "decode/spe/spe_fields.h"

#include "decode/spe/spe_set.h"

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
	switch (p->index) {
	case HWTDI_SPE_PC:
		hwtdi_spe_set_pc(s, p->payload);
		break;
	case HWTDI_SPE_TARGET:
		hwtdi_spe_set_target(s, p->payload);
		break;
	case HWTDI_SPE_VA:
		hwtdi_spe_set_va(s, p->payload);
		break;
	case HWTDI_SPE_PA:
		hwtdi_spe_set_pa(s, p->payload);
		break;
	default:
		hwtdi_spe_set_prev_target(s, p->payload);
		break;
	}
}

static void
add_counter(struct hwtd_sample *s, const struct hwtdi_spe_packet *p,
    unsigned int bits)
{
	const uint16_t v = (uint16_t)p->payload;

	switch (p->index) {
	case HWTDI_SPE_TOTAL:
		hwtdi_spe_set_latency(s, &s->lat_total,
		    HWTD_SAMPLEF_TOTAL_SATURATED, v, bits);
		break;
	case HWTDI_SPE_ISSUE:
		hwtdi_spe_set_latency(s, &s->lat_issue,
		    HWTD_SAMPLEF_ISSUE_SATURATED, v, bits);
		break;
	default:
		hwtdi_spe_set_latency(s, &s->lat_xlat,
		    HWTD_SAMPLEF_XLAT_SATURATED, v, bits);
		break;
	}
}

static void
add_operation(struct hwtd_sample *s, const struct hwtdi_spe_packet *p)
{
	struct hwtdi_spe_operation op;

	hwtdi_spe_operation_read(p->index, (uint8_t)p->payload, &op);
	hwtdi_spe_set_operation(s, (uint8_t)p->payload, &op);
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

uint32_t
hwtdi_spe_header_field(uint8_t header)
{
	const uint8_t kind = HWTDI_SPE_HEADER_KIND(hwtdi_spe_headers[header]);
	const bool eight = kind == HWTDI_SPE_COUNTER ||
	    kind == HWTDI_SPE_ADDRESS;
	const struct hwtdi_spe_packet p = {
		.kind = kind,
		.index = header & (eight ? 7 : 3),
	};

	return (hwtdi_spe_field(&p));
}
