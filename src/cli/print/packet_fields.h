/*
 * The fields of a packet by name, for JSON lines and CSV.
 */
#ifndef HWTDECODE_CLI_PACKET_FIELDS_H
#define HWTDECODE_CLI_PACKET_FIELDS_H

#include <hwtdecode/hwtdecode.h>

/* In the order of the columns of CSV. */
enum packet_field_id {
	PACKET_COUNT,
	PACKET_TNT,
	PACKET_IP_BYTES,
	PACKET_PAYLOAD,
	PACKET_PAYLOAD_SIZE,
	PACKET_IP,
	PACKET_CS_L,
	PACKET_CS_D,
	PACKET_INTERRUPTS,
	PACKET_TRANSACTION,
	PACKET_ABORTED,
	PACKET_CR3,
	PACKET_NON_ROOT,
	PACKET_VMCS,
	PACKET_TSC,
	PACKET_CTC,
	PACKET_FAST_COUNTER,
	PACKET_CYCLES,
	PACKET_RATIO,
	PACKET_HINTS,
	PACKET_EXTENSIONS,
	PACKET_STATE,
	PACKET_SUB_STATE,
	PACKET_DEEPEST_STATE,
	PACKET_BY_HARDWARE,
	PACKET_WAKE,
	PACKET_BLOCK_TYPE,
	PACKET_ITEM,
	PACKET_ITEM_SIZE,
	PACKET_EVENT_TYPE,
	PACKET_VECTOR,
	PACKET_DATA_TYPE,
	PACKET_TRIGGERS,
	PACKET_MULTIPLE,
	PACKET_INSNS,
	PACKET_IP_FOLLOWS,
	PACKET_STATUS,
	PACKET_GUESSED,
	PACKET_RESERVED,
	PACKET_LOSS,
	/* Not of all technologies: no columns of traces that have none of it. */
	PACKET_ATOMS,
	PACKET_ISA,
	PACKET_LEVEL,
	PACKET_SECURITY,
	PACKET_BITS,
	PACKET_HYP,
	PACKET_CONTEXT_ID,
	PACKET_VMID,
	PACKET_REASON,
	PACKET_EXCEPTION,
	PACKET_STAMP,
	PACKET_EVENTS,
	PACKET_ELEMENTS,
	PACKET_MISPREDICTED,
	PACKET_INFO,
	PACKET_MASTER,
	PACKET_CHANNEL,
	PACKET_SOURCE,
	PACKET_HALF,
	PACKET_SINK_OFFSET,
	PACKET_PA,
	PACKET_TAG,
	PACKET_CHECKED,
	PACKET_INDEX,
	PACKET_HEADER,
	PACKET_EVENT_BITS,
	PACKET_EVENT_NAMES,
	PACKET_DATA_SOURCE,
	PACKET_OP_CLASS,
	PACKET_OP,
	PACKET_FIELDS
};

enum packet_form {
	PACKET_NUMBER,
	/* A pattern of up to 64 bits. */
	PACKET_HEX,
	PACKET_BOOL,
	/* `count` of the packet outcomes, the oldest in the top bit. */
	PACKET_OUTCOMES,
	/* An hwtd_gap_reason, by name. */
	PACKET_GAP,
	/* Of an EVENTS packet of SPE, by name. */
	PACKET_EVENT_LIST
};

/* Technologies that have a field; those of all are columns of all traces. */
#define PACKET_OF_ALL 0x1
#define PACKET_OF_CS 0x2
#define PACKET_OF_SPE 0x4

struct packet_field {
	enum packet_field_id id;
	uint64_t value;
};

struct packet_field_kind {
	const char *name;
	enum packet_form form;
	/* PACKET_OF_* bits. */
	unsigned int of;
};

extern const struct packet_field_kind packet_field_kinds[PACKET_FIELDS];

/* Bytes that a packet stands for, which can be lost ones. */
uint64_t packet_size(const struct hwtd_packet *packet);

/* Fields of a packet, each at most once, in order of id; how many. */
size_t packet_fields(const struct hwtd_packet *packet,
    struct packet_field fields[PACKET_FIELDS]);

/* Those of CoreSight, of `n` that are there; how many there are then. */
size_t packet_fields_cs(const struct hwtd_packet *packet,
    struct packet_field fields[PACKET_FIELDS], size_t n);

/* Those of SPE; how many. */
size_t packet_fields_spe(const struct hwtd_packet *packet,
    struct packet_field fields[PACKET_FIELDS]);

#endif /* HWTDECODE_CLI_PACKET_FIELDS_H */
