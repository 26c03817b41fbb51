/*
 * The fields of packets of Arm SPE by name.
 */
#include <stdbool.h>

#include "cli/print/packet_fields.h"

struct adding {
	struct packet_field *fields;
	size_t n;
};

static void
add(struct adding *a, enum packet_field_id id, uint64_t value)
{
	a->fields[a->n++] = (struct packet_field){ id, value };
}

static bool
is_latency(const struct hwtd_packet *p)
{
	return (p->kind == HWTD_PK_SPE_TOTAL || p->kind == HWTD_PK_SPE_ISSUE ||
	    p->kind == HWTD_PK_SPE_XLAT);
}

/* An address of instructions: it has an exception level. */
static bool
is_instruction(const struct hwtd_packet *p)
{
	return (p->kind == HWTD_PK_SPE_PC || p->kind == HWTD_PK_SPE_TARGET ||
	    p->kind == HWTD_PK_SPE_PREV_TARGET);
}

/* What other technologies have as well. */
static void
add_common(struct adding *a, const struct hwtd_packet *p)
{
	/* A header, or two of them, and the payload. */
	const bool extended = (p->bytes & 1) == 0 && p->bytes > 2;
	const uint32_t headers = extended ? 2 : 1;

	if (p->kind == HWTD_PK_SPE_PAD)
		add(a, PACKET_COUNT, p->count);
	if (p->kind > HWTD_PK_SPE_ALIGNMENT && p->bytes > headers) {
		add(a, PACKET_PAYLOAD, p->value);
		add(a, PACKET_PAYLOAD_SIZE, p->bytes - headers);
	}
	if ((p->flags & HWTD_PKF_IP) != 0)
		add(a, PACKET_IP, p->ip);
	if (is_latency(p))
		add(a, PACKET_CYCLES, p->value);
	if ((p->flags & HWTD_PKF_GUESSED) != 0)
		add(a, PACKET_GUESSED, 1);
	if (is_instruction(p))
		add(a, PACKET_LEVEL, p->value >> 61 & 3);
	if (p->kind == HWTD_PK_SPE_CONTEXT)
		add(a, PACKET_LEVEL, (p->count & 3) + 1);
	if (is_instruction(p) || p->kind == HWTD_PK_SPE_PA)
		add(a, PACKET_SECURITY,
		    (p->value >> 60 & 1) << 1 | p->value >> 63);
	if (p->kind == HWTD_PK_SPE_CONTEXT)
		add(a, PACKET_CONTEXT_ID, p->value);
	if ((p->flags & HWTD_PKF_STAMP) != 0)
		add(a, PACKET_STAMP, p->stamp);
}

static void
add_own(struct adding *a, const struct hwtd_packet *p)
{
	switch (p->kind) {
	case HWTD_PK_SPE_VA:
		add(a, PACKET_TAG, p->value >> 56);
		break;
	case HWTD_PK_SPE_PA:
		add(a, PACKET_PA, p->value & UINT64_MAX >> 8);
		add(a, PACKET_TAG, p->value >> 56 & 15);
		add(a, PACKET_CHECKED, p->value >> 62 & 1);
		break;
	case HWTD_PK_SPE_ADDRESS:
	case HWTD_PK_SPE_COUNTER:
		add(a, PACKET_INDEX, p->count);
		break;
	case HWTD_PK_SPE_UNKNOWN:
		add(a, PACKET_HEADER, p->aux);
		break;
	case HWTD_PK_SPE_EVENTS:
		add(a, PACKET_EVENT_BITS, p->value);
		add(a, PACKET_EVENT_NAMES, p->value);
		break;
	case HWTD_PK_SPE_SOURCE:
		add(a, PACKET_DATA_SOURCE, p->value);
		break;
	case HWTD_PK_SPE_OPERATION:
		add(a, PACKET_OP_CLASS, p->count);
		add(a, PACKET_OP, p->value);
		break;
	default:
		break;
	}
}

size_t
packet_fields_spe(const struct hwtd_packet *packet,
    struct packet_field fields[PACKET_FIELDS])
{
	struct adding a = { fields, 0 };

	add_common(&a, packet);
	add_own(&a, packet);
	return (a.n);
}
