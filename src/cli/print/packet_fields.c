/*
 * The fields of a packet by name: what `value`, `count` and the flags mean in
 * each kind.
 */
#include <stdbool.h>

#include "cli/print/packet_fields.h"

const struct packet_field_kind packet_field_kinds[PACKET_FIELDS] = {
	[PACKET_COUNT] = { "count", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_TNT] = { "tnt", PACKET_OUTCOMES, PACKET_OF_ALL },
	[PACKET_IP_BYTES] = { "ip_bytes", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_PAYLOAD] = { "payload", PACKET_HEX, PACKET_OF_ALL },
	[PACKET_PAYLOAD_SIZE] = { "payload_size", PACKET_NUMBER,
	    PACKET_OF_ALL },
	[PACKET_IP] = { "ip", PACKET_HEX, PACKET_OF_ALL },
	[PACKET_CS_L] = { "cs_l", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_CS_D] = { "cs_d", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_INTERRUPTS] = { "interrupts", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_TRANSACTION] = { "transaction", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_ABORTED] = { "aborted", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_CR3] = { "cr3", PACKET_HEX, PACKET_OF_ALL },
	[PACKET_NON_ROOT] = { "non_root", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_VMCS] = { "vmcs", PACKET_HEX, PACKET_OF_ALL },
	[PACKET_TSC] = { "tsc", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_CTC] = { "ctc", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_FAST_COUNTER] = { "fast_counter", PACKET_NUMBER,
	    PACKET_OF_ALL },
	[PACKET_CYCLES] = { "cycles", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_RATIO] = { "ratio", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_HINTS] = { "hints", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_EXTENSIONS] = { "extensions", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_STATE] = { "state", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_SUB_STATE] = { "sub_state", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_DEEPEST_STATE] = { "deepest_state", PACKET_NUMBER,
	    PACKET_OF_ALL },
	[PACKET_BY_HARDWARE] = { "by_hardware", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_WAKE] = { "wake", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_BLOCK_TYPE] = { "block_type", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_ITEM] = { "item", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_ITEM_SIZE] = { "item_size", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_EVENT_TYPE] = { "event_type", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_VECTOR] = { "vector", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_DATA_TYPE] = { "data_type", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_TRIGGERS] = { "triggers", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_MULTIPLE] = { "multiple", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_INSNS] = { "insns", PACKET_NUMBER, PACKET_OF_ALL },
	[PACKET_IP_FOLLOWS] = { "ip_follows", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_STATUS] = { "status", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_GUESSED] = { "guessed", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_RESERVED] = { "reserved", PACKET_BOOL, PACKET_OF_ALL },
	[PACKET_LOSS] = { "gap_reason", PACKET_GAP, PACKET_OF_ALL },
	[PACKET_ATOMS] = { "atoms", PACKET_OUTCOMES, PACKET_OF_CS },
	[PACKET_ISA] = { "isa", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_LEVEL] = { "level", PACKET_NUMBER,
	    PACKET_OF_CS | PACKET_OF_SPE },
	[PACKET_SECURITY] = { "security", PACKET_NUMBER,
	    PACKET_OF_CS | PACKET_OF_SPE },
	[PACKET_BITS] = { "bits", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_HYP] = { "hyp", PACKET_BOOL, PACKET_OF_CS },
	[PACKET_CONTEXT_ID] = { "context_id", PACKET_NUMBER,
	    PACKET_OF_CS | PACKET_OF_SPE },
	[PACKET_VMID] = { "vmid", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_REASON] = { "reason", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_EXCEPTION] = { "exception", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_STAMP] = { "timestamp", PACKET_NUMBER,
	    PACKET_OF_CS | PACKET_OF_SPE },
	[PACKET_EVENTS] = { "events", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_ELEMENTS] = { "elements", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_MISPREDICTED] = { "mispredicted", PACKET_BOOL, PACKET_OF_CS },
	[PACKET_INFO] = { "info", PACKET_HEX, PACKET_OF_CS },
	[PACKET_MASTER] = { "master", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_CHANNEL] = { "channel", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_SOURCE] = { "source", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_HALF] = { "half", PACKET_BOOL, PACKET_OF_CS },
	[PACKET_SINK_OFFSET] = { "sink_offset", PACKET_NUMBER, PACKET_OF_CS },
	[PACKET_PA] = { "pa", PACKET_HEX, PACKET_OF_SPE },
	[PACKET_TAG] = { "tag", PACKET_NUMBER, PACKET_OF_SPE },
	[PACKET_CHECKED] = { "checked", PACKET_BOOL, PACKET_OF_SPE },
	[PACKET_INDEX] = { "index", PACKET_NUMBER, PACKET_OF_SPE },
	[PACKET_HEADER] = { "header", PACKET_HEX, PACKET_OF_SPE },
	[PACKET_EVENT_BITS] = { "event_bits", PACKET_HEX, PACKET_OF_SPE },
	[PACKET_EVENT_NAMES] = { "event_names", PACKET_EVENT_LIST,
	    PACKET_OF_SPE },
	[PACKET_DATA_SOURCE] = { "data_source", PACKET_NUMBER, PACKET_OF_SPE },
	[PACKET_OP_CLASS] = { "op_class", PACKET_NUMBER, PACKET_OF_SPE },
	[PACKET_OP] = { "op", PACKET_HEX, PACKET_OF_SPE },
};

/* Fields that are added one after the other. */
struct adding {
	const struct hwtd_packet *packet;
	struct packet_field *fields;
	size_t n;
};

uint64_t
packet_size(const struct hwtd_packet *packet)
{
	return (packet->kind == HWTD_PK_LOST ? packet->value : packet->bytes);
}

static void
add(struct adding *a, enum packet_field_id id, uint64_t value)
{
	a->fields[a->n++] = (struct packet_field){ id, value };
}

static void
add_flag(struct adding *a, enum packet_field_id id, unsigned int flag)
{
	add(a, id, (a->packet->flags & flag) != 0);
}

/* What holds of few packets: it is there when it holds. */
static void
add_if(struct adding *a, enum packet_field_id id, unsigned int flag)
{
	if ((a->packet->flags & flag) != 0)
		add(a, id, 1);
}

static void
add_address(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;

	add(a, PACKET_IP_BYTES, p->count);
	if (p->count != 0)
		add(a, PACKET_PAYLOAD, p->value);
	if ((p->flags & HWTD_PKF_IP) != 0)
		add(a, PACKET_IP, p->ip);
}

/* The bits of `wake` are those of rows of power. */
static uint64_t
wakes(const struct hwtd_packet *p)
{
	return (((p->flags & HWTD_PKF_WAKE_INTERRUPT) != 0 ? 1 : 0) |
	    ((p->flags & HWTD_PKF_WAKE_STORE) != 0 ? 2 : 0) |
	    ((p->flags & HWTD_PKF_WAKE_AUTONOMOUS) != 0 ? 4 : 0));
}

static void
add_power(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;

	switch (p->kind) {
	case HWTD_PK_PT_MWAIT:
		add(a, PACKET_HINTS, p->value);
		add(a, PACKET_EXTENSIONS, p->count);
		break;
	case HWTD_PK_PT_PWRE:
		add(a, PACKET_STATE, p->value);
		add(a, PACKET_SUB_STATE, p->count);
		add_flag(a, PACKET_BY_HARDWARE, HWTD_PKF_HARDWARE);
		break;
	default:
		add(a, PACKET_STATE, p->value);
		add(a, PACKET_DEEPEST_STATE, p->count);
		add(a, PACKET_WAKE, wakes(p));
		break;
	}
}

/* Blocks, events and triggers. */
static void
add_event(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;

	switch (p->kind) {
	case HWTD_PK_PT_BBP:
		add(a, PACKET_BLOCK_TYPE, p->value);
		add(a, PACKET_ITEM_SIZE, p->count);
		break;
	case HWTD_PK_PT_BIP:
		add(a, PACKET_PAYLOAD, p->value);
		add(a, PACKET_ITEM, p->count);
		break;
	case HWTD_PK_PT_CFE:
		add(a, PACKET_EVENT_TYPE, p->count);
		add(a, PACKET_VECTOR, p->value);
		add_flag(a, PACKET_IP_FOLLOWS, HWTD_PKF_FUP_FOLLOWS);
		break;
	case HWTD_PK_PT_EVD:
		add(a, PACKET_PAYLOAD, p->value);
		add(a, PACKET_DATA_TYPE, p->count);
		break;
	default:
		add(a, PACKET_TRIGGERS, p->value);
		add_flag(a, PACKET_MULTIPLE, HWTD_PKF_TRIG_MULTIPLE);
		if ((p->flags & HWTD_PKF_TRIG_COUNT) != 0)
			add(a, PACKET_INSNS, p->count);
		add_flag(a, PACKET_IP_FOLLOWS, HWTD_PKF_FUP_FOLLOWS);
		break;
	}
}

/* Flow, modes and time. */
static void
add_fields(struct adding *a)
{
	const struct hwtd_packet *p = a->packet;

	switch (p->kind) {
	case HWTD_PK_PT_PAD:
		add(a, PACKET_COUNT, p->count);
		break;
	case HWTD_PK_PT_TNT_8:
	case HWTD_PK_PT_TNT_64:
		add(a, PACKET_COUNT, p->count);
		add(a, PACKET_TNT, p->value);
		break;
	case HWTD_PK_PT_TIP:
	case HWTD_PK_PT_TIP_PGE:
	case HWTD_PK_PT_TIP_PGD:
	case HWTD_PK_PT_FUP:
		add_address(a);
		break;
	case HWTD_PK_PT_MODE_EXEC:
		add(a, PACKET_CS_L, p->value & 1);
		add(a, PACKET_CS_D, p->value >> 1 & 1);
		add(a, PACKET_INTERRUPTS, p->value >> 2 & 1);
		break;
	case HWTD_PK_PT_MODE_TSX:
		add(a, PACKET_TRANSACTION, p->value & 1);
		add(a, PACKET_ABORTED, p->value >> 1 & 1);
		break;
	case HWTD_PK_PT_PIP:
		add(a, PACKET_CR3, p->value);
		add_flag(a, PACKET_NON_ROOT, HWTD_PKF_NON_ROOT);
		break;
	case HWTD_PK_PT_VMCS:
		add(a, PACKET_VMCS, p->value);
		break;
	case HWTD_PK_PT_TSC:
		add(a, PACKET_TSC, p->value);
		break;
	case HWTD_PK_PT_TMA:
		add(a, PACKET_CTC, p->value);
		add(a, PACKET_FAST_COUNTER, p->count);
		break;
	case HWTD_PK_PT_MTC:
		add(a, PACKET_CTC, p->value);
		break;
	case HWTD_PK_PT_CYC:
		add(a, PACKET_CYCLES, p->value);
		break;
	case HWTD_PK_PT_CBR:
		add(a, PACKET_RATIO, p->value);
		break;
	case HWTD_PK_PT_MNT:
		add(a, PACKET_PAYLOAD, p->value);
		break;
	case HWTD_PK_PT_PTW:
		add(a, PACKET_PAYLOAD, p->value);
		add(a, PACKET_PAYLOAD_SIZE, p->count);
		add_flag(a, PACKET_IP_FOLLOWS, HWTD_PKF_FUP_FOLLOWS);
		break;
	case HWTD_PK_PT_EXSTOP:
	case HWTD_PK_PT_BEP:
		add_flag(a, PACKET_IP_FOLLOWS, HWTD_PKF_FUP_FOLLOWS);
		break;
	case HWTD_PK_PT_MWAIT:
	case HWTD_PK_PT_PWRE:
	case HWTD_PK_PT_PWRX:
		add_power(a);
		break;
	case HWTD_PK_PT_BBP:
	case HWTD_PK_PT_BIP:
	case HWTD_PK_PT_CFE:
	case HWTD_PK_PT_EVD:
	case HWTD_PK_PT_TRIG:
		add_event(a);
		break;
	default:
		break;
	}
}

size_t
packet_fields(const struct hwtd_packet *packet,
    struct packet_field fields[PACKET_FIELDS])
{
	struct adding a = { packet, fields, 0 };

	if (packet->kind >= HWTD_PK_SPE_PAD)
		return (packet_fields_spe(packet, fields));
	if (packet->kind >= HWTD_PK_CS_ASYNC || packet->code != 0 ||
	    (packet->flags & HWTD_PKF_SINK) != 0)
		return (packet_fields_cs(packet, fields, 0));
	add_fields(&a);
	add_if(&a, PACKET_STATUS, HWTD_PKF_STATUS);
	add_if(&a, PACKET_GUESSED, HWTD_PKF_GUESSED);
	add_if(&a, PACKET_RESERVED, HWTD_PKF_RESERVED);
	if (packet->kind == HWTD_PK_LOST)
		add(&a, PACKET_LOSS, packet->count);
	return (a.n);
}
