/*
 * The native Intel PT engine: outcomes that were walked before.
 *
 * From a node on, the same outcomes lead over the same nodes, as long as units
 * lie where they lay, and with compressed returns, if the newest calls are the
 * same.  So short TNT packets that were walked before are not walked again.
 *
 * The table begins small, because one that does not stay in the caches is slower
 * than walking, and grows while what is needed is driven out; and it rests while a
 * trace does not repeat itself.  With runs what a packet leads over is one token.
 */
#ifndef HWTDI_PT_NATIVE_MEMO_H
#define HWTDI_PT_NATIVE_MEMO_H

#include "base/library.h"
#include "decode/pt/pt_native_foresee.h"
#include "decode/pt/pt_packet.h"

struct hwtdi_decoder;
struct hwtdi_flow;

#define HWTDI_PTN_MEMO_TOKENS 8u
/* Bytes below this have so few that walking them is as fast. */
#define HWTDI_PTN_MEMO_WORTH 0x40u
#define HWTDI_PTN_MEMO_STACK 3u
/* Tokens before it is made: many streams are no longer, or read in places only. */
#define HWTDI_PTN_MEMO_BEFORE 64u
/* Entries at first, and at the most. */
#define HWTDI_PTN_MEMO_FIRST_LOG 8u
#define HWTDI_PTN_MEMO_LAST_LOG 14u

/* The number of tokens is below this. */
#define HWTDI_PTN_MEMO_COUNT 0x10u
/* Outcomes are left. */
#define HWTDI_PTN_MEMO_LEFT 0x10u
/* Calls are to be compared, or change. */
#define HWTDI_PTN_MEMO_CALLS 0x20u
/* It depends on where units lie. */
#define HWTDI_PTN_MEMO_AWAY 0x40u
/* It was met, but where it leads was not found out. */
#define HWTDI_PTN_MEMO_MET 0x80u

/* It has a line of the cache for itself. */
struct hwtdi_ptn_memo_entry {
	/* The node and the byte of a short TNT packet; 0: none. */
	uint32_t key;
	/* Where they lead. */
	uint32_t end;
	/* HWTDI_PTN_MEMO_* bits. */
	uint16_t what;
	/* Outcomes that are left. */
	uint8_t left;
	struct hwtdi_ptn_calls_effect effect;
	/* It counts if this is the decoder's. */
	uint32_t epoch;
	uint32_t tokens[HWTDI_PTN_MEMO_TOKENS];
	uint32_t stack[HWTDI_PTN_MEMO_STACK];
};

struct hwtdi_ptn_memo {
	/* In use; else it rests, or there is none. */
	bool on;
	/* Of 2 to the power of `log` entries. */
	uint8_t log;
	struct hwtdi_ptn_memo_entry *entries;
	/* Of all flows. */
	size_t tokens;
	/* Since it was looked at last how it does. */
	size_t lookups;
	uint32_t misses, fresh, evictions;
	/* Calls, and packets that were found in them. */
	uint32_t calls, found;
	/* Flows for which it would rest if these are few. */
	uint32_t next_break;
	/* Flows for which it rests, and those for which it would then. */
	uint32_t rest, next_rest;
};

void hwtdi_ptn_memo_init(struct hwtdi_ptn_memo *memo);
void hwtdi_ptn_memo_fini(struct hwtdi_ptn_memo *memo,
    struct hwtd_context *library);

static inline size_t
hwtdi_ptn_memo_bytes(const struct hwtdi_ptn_memo *memo)
{
	return (memo->entries != NULL ? sizeof(*memo->entries) << memo->log
				      : 0);
}

/* Epochs begin anew. */
void hwtdi_ptn_memo_forget(struct hwtdi_ptn_memo *memo);

/* It does not rest any more.  False: there is no memory. */
bool hwtdi_ptn_memo_wake(struct hwtdi_ptn_memo *memo,
    struct hwtd_context *library);

/* A flow begins. */
static inline void
hwtdi_ptn_memo_begin(struct hwtdi_ptn_memo *memo, struct hwtd_context *library)
{
	if (memo->rest != 0 && memo->tokens >= HWTDI_PTN_MEMO_BEFORE &&
	    --memo->rest == 0)
		(void)hwtdi_ptn_memo_wake(memo, library);
}

/* A flow of so many tokens ends. */
static inline void
hwtdi_ptn_memo_end(struct hwtdi_ptn_memo *memo, size_t tokens)
{
	memo->tokens += tokens;
}

/* Where the walk stands. */
struct hwtdi_ptn_known {
	/* The next packet, and behind the last one that may be used. */
	const uint8_t *p, *stop;
	/* Of offsets in the stream: they are this and an address. */
	uint64_t base;
	/* Tokens of the flow. */
	size_t n;
	uint32_t node, top;
	/* Outcomes that are left, the next in the top bit. */
	uint64_t bits;
	uint32_t n_bits;
	/* With runs: behind the last packet that was taken. */
	const uint8_t *behind;
};

/*
 * Take short TNT packets as far as known; outcomes of the last one can be left.
 */
void hwtdi_ptn_memo_packets(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_known *k);

/* The same with runs, without anchors. */
void hwtdi_ptn_memo_runs(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_known *k);

#endif /* HWTDI_PT_NATIVE_MEMO_H */
