/*
 * The fields of packets of CoreSight by name.
 */
#include <stdbool.h>

#include "cli/print/packet_fields.h"

struct adding {
	const struct hwtd_packet *packet;
	struct packet_field *fields;
	size_t n;
};

static void
add(struct adding *a, enum packet_field_id id, uint64_t value)
{
	a->fields[a->n++] = (struct packet_field){ id, value };
}

static bool
has(const struct adding *a, unsigned int flag)
{
	return ((a->packet->flags & flag) != 0);
}

static bool
has_address(const struct hwtd_packet *p)
{
	return (p->kind == HWTD_PK_CS_ADDRESS || p->kind == HWTD_PK_CS_ISYNC ||
	    p->kind == HWTD_PK_CS_Q);
}

/* What comes before the fields that only CoreSight has. */
static void
add_common(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;
	const bool atoms = p->kind == HWTD_PK_CS_ATOM;

	if (atoms)
		add(a, PACKET_COUNT, p->count);
	if (p->kind == HWTD_PK_CS_DATA && p->count != 0) {
		add(a, PACKET_PAYLOAD, p->value);
		add(a, PACKET_PAYLOAD_SIZE, (p->count + 7) / 8);
	}
	if (has(a, HWTD_PKF_IP))
		add(a, PACKET_IP, p->ip);
	if (p->kind == HWTD_PK_CS_CYCLES && has(a, HWTD_PKF_COUNT))
		add(a, PACKET_CYCLES, p->value);
	else if (has(a, HWTD_PKF_CYCLES))
		add(a, PACKET_CYCLES, p->aux);
	if (p->kind == HWTD_PK_CS_Q && has(a, HWTD_PKF_COUNT))
		add(a, PACKET_INSNS, p->value);
	if (atoms)
		add(a, PACKET_ATOMS, p->value);
}

static void
add_context(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;

	if (has_address(p) && (p->count & HWTD_PKC_ISA) != 0)
		add(a, PACKET_ISA,
		    (p->count & HWTD_PKC_ISA) >> HWTD_PKC_ISA_SHIFT);
	if (has(a, HWTD_PKF_CONTEXT)) {
		const bool levels = p->code >> 16 == HWTD_CS_ETMV4;

		if (levels)
			add(a, PACKET_LEVEL, p->count & HWTD_PKC_LEVEL);
		add(a, PACKET_SECURITY,
		    (p->count & HWTD_PKC_SECURITY) >> HWTD_PKC_SECURITY_SHIFT);
		if (levels)
			add(a, PACKET_BITS,
			    (p->count & HWTD_PKC_64_BIT) != 0 ? 64 : 32);
		else
			add(a, PACKET_HYP, (p->count & HWTD_PKC_HYP) != 0);
		if ((p->count & HWTD_PKC_CONTEXT_ID) != 0)
			add(a, PACKET_CONTEXT_ID, (uint32_t)p->value);
		if ((p->count & HWTD_PKC_VMID) != 0)
			add(a, PACKET_VMID, p->value >> 32);
	}
	if (p->kind == HWTD_PK_CS_ISYNC)
		add(a, PACKET_REASON,
		    (p->count & HWTD_PKC_REASON) >> HWTD_PKC_REASON_SHIFT);
	if (p->kind == HWTD_PK_CS_EXCEPTION || has(a, HWTD_PKF_EXCEPTION))
		add(a, PACKET_EXCEPTION, p->value);
}

/* Masters and channels; of data, whose they are. */
static void
add_source(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;
	const uint32_t protocol = p->code >> 16;

	if (p->kind == HWTD_PK_CS_CHANNEL)
		add(a, PACKET_CHANNEL, p->value);
	if (p->kind != HWTD_PK_CS_DATA || p->count == 0)
		return;
	if (protocol == HWTD_CS_STM) {
		add(a, PACKET_MASTER, p->aux & 0xffff);
		add(a, PACKET_CHANNEL, p->aux >> 16);
	} else if (protocol == HWTD_CS_ITM || protocol == HWTD_CS_ETMV4) {
		add(a, PACKET_SOURCE, p->aux);
	}
}

static void
add_rest(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;

	if (has(a, HWTD_PKF_STAMP))
		add(a, PACKET_STAMP, p->stamp);
	switch (p->kind) {
	case HWTD_PK_CS_EVENT:
		add(a, PACKET_EVENTS, p->value);
		break;
	case HWTD_PK_CS_CYCLES:
		if (p->count != 0)
			add(a, PACKET_ELEMENTS, p->count);
		break;
	case HWTD_PK_CS_SPECULATION:
		add(a, PACKET_ELEMENTS, p->value);
		add(a, PACKET_MISPREDICTED, p->count);
		break;
	case HWTD_PK_CS_INFO:
	case HWTD_PK_CS_MARKER:
	case HWTD_PK_CS_TRIGGER:
	case HWTD_PK_CS_OVERFLOW:
	case HWTD_PK_CS_OTHER:
		add(a, PACKET_INFO, p->value);
		break;
	default:
		break;
	}
	add_source(a);
}

size_t
packet_fields_cs(const struct hwtd_packet *packet,
    struct packet_field fields[PACKET_FIELDS], size_t n)
{
	struct adding a = { packet, fields, n };

	if (packet->kind >= HWTD_PK_CS_ASYNC) {
		add_common(&a);
		add_context(&a);
		add_rest(&a);
		if (has(&a, HWTD_PKF_HALF))
			add(&a, PACKET_HALF, 1);
	}
	if (has(&a, HWTD_PKF_SINK))
		add(&a, PACKET_SINK_OFFSET, packet->sink_off);
	return (a.n);
}
