/*
 * The packets that nearly all records are made of, quickly: no packet is made of
 * them, and what an operation means is remembered.
 */
#include "decode/spe/spe_plain.h"

#include "base/bytes.h"
#include "decode/spe/spe_packet.h"
#include "decode/spe/spe_set.h"

/* The longest packet. */
#define LONGEST 9

/* A packet of this field; leaves if it is there already. */
#define TAKE(field, payload_bytes)                                            \
	if ((present & (field)) != 0)                                         \
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
	const struct hwtdi_spe_operation *op;
	const uint8_t *v;

	while (stop - at >= LONGEST) {
		switch (*at) {
		case 0x00:
			at += hwtdi_spe_few_zeros(at);
			break;
		case 0xb0:
			TAKE(HWTD_SAMPLE_PC, 8);
			hwtdi_spe_set_pc(s, hwtdi_le64(v));
			break;
		case 0xb1:
			TAKE(HWTD_SAMPLE_TARGET, 8);
			hwtdi_spe_set_target(s, hwtdi_le64(v));
			break;
		case 0xb2:
			TAKE(HWTD_SAMPLE_VA, 8);
			hwtdi_spe_set_va(s, hwtdi_le64(v));
			break;
		case 0xb3:
			TAKE(HWTD_SAMPLE_PA, 8);
			hwtdi_spe_set_pa(s, hwtdi_le64(v));
			break;
		case 0xb4:
			TAKE(HWTD_SAMPLE_PREV_TARGET, 8);
			hwtdi_spe_set_prev_target(s, hwtdi_le64(v));
			break;
		case 0x64:
			TAKE(HWTD_SAMPLE_CONTEXT_EL1, 4);
			s->context_el1 = hwtdi_le32(v);
			break;
		case 0x65:
			TAKE(HWTD_SAMPLE_CONTEXT_EL2, 4);
			s->context_el2 = hwtdi_le32(v);
			break;
		case 0x98:
			TAKE(HWTD_SAMPLE_LAT_TOTAL, 2);
			hwtdi_spe_set_latency(s, &s->lat_total,
			    HWTD_SAMPLEF_TOTAL_SATURATED, hwtdi_le16(v),
			    r->counter_bits);
			break;
		case 0x99:
			TAKE(HWTD_SAMPLE_LAT_ISSUE, 2);
			hwtdi_spe_set_latency(s, &s->lat_issue,
			    HWTD_SAMPLEF_ISSUE_SATURATED, hwtdi_le16(v),
			    r->counter_bits);
			break;
		case 0x9a:
			TAKE(HWTD_SAMPLE_LAT_XLAT, 2);
			hwtdi_spe_set_latency(s, &s->lat_xlat,
			    HWTD_SAMPLEF_XLAT_SATURATED, hwtdi_le16(v),
			    r->counter_bits);
			break;
		case 0x48:
		case 0x49:
		case 0x4a:
			TAKE(HWTD_SAMPLE_OP, 1);
			op = hwtdi_spe_know_operation(&r->ops, v[-1] & 3,
			    v[0]);
			hwtdi_spe_set_operation(s, v[0], op);
			present |= s->present;
			break;
		case 0x42:
			TAKE(HWTD_SAMPLE_EVENTS, 1);
			s->events = v[0];
			s->event_bytes = 1;
			break;
		case 0x52:
			TAKE(HWTD_SAMPLE_EVENTS, 2);
			s->events = hwtdi_le16(v);
			s->event_bytes = 2;
			break;
		case 0x62:
			TAKE(HWTD_SAMPLE_EVENTS, 4);
			s->events = hwtdi_le32(v);
			s->event_bytes = 4;
			break;
		case 0x72:
			TAKE(HWTD_SAMPLE_EVENTS, 8);
			s->events = hwtdi_le64(v);
			s->event_bytes = 8;
			break;
		case 0x43:
			TAKE(HWTD_SAMPLE_SOURCE, 1);
			s->source = v[0];
			s->source_bytes = 1;
			break;
		case 0x53:
			TAKE(HWTD_SAMPLE_SOURCE, 2);
			s->source = hwtdi_le16(v);
			s->source_bytes = 2;
			break;
		case 0x71:
			TAKE(HWTD_SAMPLE_COUNT, 8);
			s->count = hwtdi_le64(v);
			s->end = HWTD_SAMPLE_END_TIMESTAMP;
			goto out;
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
