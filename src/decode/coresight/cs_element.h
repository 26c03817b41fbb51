/*
 * What a CoreSight source says happened, one thing at a time, whichever version
 * of OpenCSD or decoder of our own found it.
 */
#ifndef HWTDI_CS_ELEMENT_H
#define HWTDI_CS_ELEMENT_H

#include <hwtdecode/event.h>

#include "base/library.h"

enum hwtdi_cs_kind {
	/* A kind that a newer library has; only its place is known. */
	HWTDI_CS_OTHER = 0,
	/* Nothing is known up to the next synchronisation; `reason`. */
	HWTDI_CS_NO_SYNC,
	/* Tracing goes on; `reason`. */
	HWTDI_CS_TRACE_ON,
	HWTDI_CS_END,
	HWTDI_CS_CONTEXT,
	/* `n` instructions in [st, en) were executed. */
	HWTDI_CS_RANGE,
	/* The same, and by which way is not known; n may be 0: not known. */
	HWTDI_CS_RANGE_NO_PATH,
	/* No code at `st`. */
	HWTDI_CS_NO_ACCESS,
	HWTDI_CS_ADDRESS_UNKNOWN,
	HWTDI_CS_EXCEPTION,
	HWTDI_CS_EXCEPTION_RETURN,
	HWTDI_CS_TIMESTAMP,
	HWTDI_CS_CYCLES,
	HWTDI_CS_EVENT,
	/* STM. */
	HWTDI_CS_SOFTWARE,
	/* A time stamp to come is that of this place. */
	HWTDI_CS_SYNC_MARKER,
	HWTDI_CS_TRANSACTION,
	HWTDI_CS_INSTRUMENTATION,
	HWTDI_CS_ITM
};

/* Reasons of NO_SYNC. */
enum hwtdi_cs_unsynced {
	HWTDI_CS_UNSYNCED_UNKNOWN = 0,
	HWTDI_CS_UNSYNCED_START,
	HWTDI_CS_UNSYNCED_RESET,
	HWTDI_CS_UNSYNCED_OVERFLOW,
	HWTDI_CS_UNSYNCED_DISCARD,
	HWTDI_CS_UNSYNCED_BAD_PACKET,
	HWTDI_CS_UNSYNCED_END,
	HWTDI_CS_UNSYNCED_BAD_IMAGE,
	/* The library gave up; it says nothing of it itself. `value`. */
	HWTDI_CS_UNSYNCED_GIVEN_UP,
	/* The same of the last packet, which cannot be. */
	HWTDI_CS_UNSYNCED_LAST_BAD
};

/* Reasons of TRACE_ON. */
enum hwtdi_cs_trace_on {
	HWTDI_CS_ON_NORMAL = 0,
	HWTDI_CS_ON_OVERFLOW,
	HWTDI_CS_ON_DEBUG
};

/* What the last instruction of a RANGE is. */
enum hwtdi_cs_last {
	HWTDI_CS_LAST_OTHER = 0,
	HWTDI_CS_LAST_BRANCH,
	HWTDI_CS_LAST_INDIRECT,
	HWTDI_CS_LAST_ISB,
	HWTDI_CS_LAST_BARRIER,
	HWTDI_CS_LAST_WAIT,
	HWTDI_CS_LAST_TSTART,
	/* A newer library knows more. */
	HWTDI_CS_LAST_UNKNOWN
};

enum hwtdi_cs_last_sub {
	HWTDI_CS_SUB_NONE = 0,
	HWTDI_CS_SUB_LINK,
	HWTDI_CS_SUB_RETURN,
	HWTDI_CS_SUB_EXCEPTION_RETURN,
	/* Armv7: maybe a return. */
	HWTDI_CS_SUB_IMPLIED_RETURN
};

enum hwtdi_cs_transaction {
	HWTDI_CS_TRANSACTION_INSIDE = 0,
	HWTDI_CS_TRANSACTION_START,
	HWTDI_CS_TRANSACTION_COMMIT,
	HWTDI_CS_TRANSACTION_FAIL
};

/* RANGE: the last instruction was executed, or is conditional. */
#define HWTDI_CS_EXECUTED 0x0001
#define HWTDI_CS_CONDITIONAL 0x0002
/* `cycles` is known. */
#define HWTDI_CS_HAS_CYCLES 0x0004
/* The frequency of the processor has changed. */
#define HWTDI_CS_FREQUENCY 0x0008
/* EXCEPTION: `en` is where it returns to, and the target of the branch before. */
#define HWTDI_CS_HAS_RETURN 0x0010
#define HWTDI_CS_RETURN_IS_TARGET 0x0020
/* EXCEPTION: only marks data on the stack; it tail-chains. */
#define HWTDI_CS_DATA_MARKER 0x0040
#define HWTDI_CS_TAIL_CHAIN 0x0080
/* `timestamp` is known. */
#define HWTDI_CS_HAS_TIMESTAMP 0x0100
/* EVENT: a trigger. */
#define HWTDI_CS_TRIGGER 0x0200
/* CONTEXT: 64-bit state; that fields are known. */
#define HWTDI_CS_BITS64 0x0400
#define HWTDI_CS_HAS_CONTEXT_ID 0x0800
#define HWTDI_CS_HAS_VMID 0x1000
#define HWTDI_CS_HAS_LEVEL 0x2000

#define HWTDI_CS_PAYLOAD_MAX 8

/* Of SOFTWARE and ITM. */
struct hwtdi_cs_software {
	/* STM: master and channel.  ITM: port, or what the DWT says. */
	uint16_t master;
	uint16_t channel;
	/* Of the payload. */
	uint16_t bits;
	/* HWTD_MARKERF_* bits. */
	uint16_t flags;
	uint64_t payload;
};

struct hwtdi_cs_element {
	/* First byte in the stream of the packet that it comes of. */
	uint64_t off;
	uint64_t st;
	uint64_t en;
	uint64_t timestamp;
	uint32_t cycles;
	/*
	 * RANGE: instructions.  EXCEPTION: number.  EVENT: numbers, as bits.
	 * NO_SYNC: an hwtdi_cs_why of a packet at `off` that was not fed.
	 */
	uint32_t n;
	/* An hwtdi_cs_kind. */
	uint8_t kind;
	/* An hwtd_isa. */
	uint8_t isa;
	/* HWTDI_CS_* bits. */
	uint16_t flags;
	/* By kind. */
	uint8_t reason;
	/* Hwtdi_cs_last, hwtdi_cs_last_sub, bytes of the last instruction. */
	uint8_t last;
	uint8_t last_sub;
	uint8_t last_bytes;
	/* CONTEXT, INSTRUMENTATION: exception level; security as in contexts. */
	uint8_t level;
	uint8_t security;
	uint16_t reserved;
	uint32_t context_id;
	uint32_t vmid;
	/*
	 * INSTRUMENTATION: the value.  NO_ACCESS: the memory space.  NO_SYNC
	 * where the library gave up: the byte at which it begins anew.  RANGE:
	 * code is that of this byte, where what committed it was fed.
	 */
	uint64_t value;
	struct hwtdi_cs_software software;
};

/* Elements that wait to be taken, in order. */
struct hwtdi_cs_queue {
	struct hwtd_context *library;
	struct hwtdi_cs_element *at;
	size_t first, n, cap;
	/* The last CONTEXT that was put, and how many were. */
	struct hwtdi_cs_element context;
	uint32_t n_contexts;
	/* The time of STM is told by packets, and not by elements. */
	bool has_stamp;
	uint64_t stamp;
	/* One could not be kept. */
	bool failed;
};

void hwtdi_cs_queue_init(struct hwtdi_cs_queue *queue,
    struct hwtd_context *library);
void hwtdi_cs_queue_fini(struct hwtdi_cs_queue *queue);

/* Room for one more, all zero; NULL: `failed` says so. */
struct hwtdi_cs_element *hwtdi_cs_queue_put(struct hwtdi_cs_queue *queue);

/* Room for one more behind others, not set; NULL: use hwtdi_cs_queue_put(). */
static inline struct hwtdi_cs_element *
hwtdi_cs_queue_room(struct hwtdi_cs_queue *queue)
{
	return (queue->first != queue->n && queue->n < queue->cap
		? &queue->at[queue->n++]
		: NULL);
}

/* The one that is `i` places behind the first that waits; NULL: none is. */
static inline const struct hwtdi_cs_element *
hwtdi_cs_queue_at(const struct hwtdi_cs_queue *queue, size_t i)
{
	return (i < queue->n - queue->first ? &queue->at[queue->first + i]
					    : NULL);
}

static inline void
hwtdi_cs_queue_drop(struct hwtdi_cs_queue *queue)
{
	queue->first++;
}

static inline void
hwtdi_cs_queue_clear(struct hwtdi_cs_queue *queue)
{
	queue->first = 0;
	queue->n = 0;
}

#endif /* HWTDI_CS_ELEMENT_H */
