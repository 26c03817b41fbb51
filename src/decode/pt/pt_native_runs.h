/*
 * The native Intel PT engine: runs of nodes as tokens.
 *
 * For who only counts: where a trace repeats itself, its bytes are compared and
 * not walked again, and what they lead over is one token.
 *
 * From a node on, the same bytes lead over the same nodes if their compressed
 * addresses are the same, the newest calls are the same, and the same nodes lie
 * at the addresses.  A run begins and ends behind packets, mostly behind a TIP:
 * so stretches of a trace that are alike are soon divided alike.
 */
#ifndef HWTDI_PT_NATIVE_RUNS_H
#define HWTDI_PT_NATIVE_RUNS_H

#include "base/library.h"
#include "decode/pt/pt_native_foresee.h"

struct hwtdi_decoder;
struct hwtdi_flow;

/* Bytes of a run, at least and at the most. */
#define HWTDI_PTN_RUN_LEAST 32u
#define HWTDI_PTN_RUN_MOST 128u
/* Tokens of a run, and addresses, at the most. */
#define HWTDI_PTN_RUN_TOKENS 256u
#define HWTDI_PTN_RUN_TARGETS 32u
/* Words of all runs at the most, of 8 and of 4 bytes. */
#define HWTDI_PTN_RUN_RECORDS ((size_t)1 << 19)
#define HWTDI_PTN_RUN_WORDS ((size_t)1 << 20)

/*
 * What has to be looked at to know whether a run comes next, and what it does.
 * Its bytes are behind it, and then its calls.
 */
struct hwtdi_ptn_run {
	/* Bits of last IP that count, and what they are to be. */
	uint64_t ip_mask, ip;
	/* Last IP behind it, if it has addresses. */
	uint64_t ip_end;
	uint32_t node;
	/* Where it leads. */
	uint32_t end;
	/* What it is in flows. */
	uint32_t token;
	/* The nodes are at the addresses in this epoch. */
	uint32_t epoch;
	/* The record of the run that was next, the last time; 0: none. */
	uint32_t next;
	/* Words: tokens, and HWTDI_TOKEN_OFF with an address; then targets. */
	uint32_t first;
	uint16_t n_tokens;
	uint8_t n_targets, n_calls, n_bytes;
	/* Bytes of its last packet. */
	uint8_t n_last;
	struct hwtdi_ptn_calls_effect effect;
	/* Tracing goes off in it, and on again. */
	bool goes_off;
};

/* What a run stands for in flows: words, as they are counted. */
struct hwtdi_ptn_run_words {
	uint32_t first, n;
	/* 0: it is of a memo. */
	uint32_t record;
};

struct hwtdi_ptn_run_slot {
	uint32_t tag;
	/* Of a record; 0: none. */
	uint32_t record;
};

struct hwtdi_ptn_runs {
	/* Records, found by their first word.  Of word 0 there is none. */
	uint64_t *records;
	size_t n_records, cap_records;
	uint32_t *words;
	size_t n_words, cap_words;
	/* Each run. */
	struct hwtdi_ptn_run_words *at;
	size_t n, cap;
	/* An open-addressed index, of 2 to the power of `log`; NULL at first. */
	struct hwtdi_ptn_run_slot *slots;
	uint8_t log;
	/* Hashes of what was met, and is no run yet. */
	uint16_t *met;
	/* The run that was just taken, and that which came behind it before. */
	uint32_t last, next;
	/* Bytes behind which a run ends at any packet; smaller in tests. */
	uint32_t most;
	/* Runs that may be made before others were of use. */
	uint32_t credit;
	/* Since it was looked at last how it does. */
	uint32_t lookups, of_use;
	/* It does badly: only some nodes begin a run. */
	bool sparse;
	/* Times that this is to be of use until all nodes do, and the next time. */
	uint32_t wait, next_wait;
	/* Flows that were begun. */
	uint32_t turn;
	/* Flows for which nothing is looked for, and for which it would be then. */
	uint32_t rest, next_rest;
	/* Runs there was no room for; all are to begin anew. */
	uint32_t refused;
	bool over;
};

/* HWTD_OK or HWTD_E_NOMEM. */
int hwtdi_ptn_runs_open(struct hwtd_context *library,
    struct hwtdi_ptn_runs **out, struct hwtd_error *err);
void hwtdi_ptn_runs_close(struct hwtd_context *library,
    struct hwtdi_ptn_runs *runs);
/* Bytes of memory that they take; of NULL none. */
size_t hwtdi_ptn_runs_bytes(const struct hwtdi_ptn_runs *runs);

/* It does not rest any more.  False: there is no memory. */
bool hwtdi_ptn_runs_wake(struct hwtdi_ptn_runs *runs,
    struct hwtd_context *library);

/* A flow begins, and ends.  True: all runs are forgotten. */
bool hwtdi_ptn_runs_begin(struct hwtdi_ptn_runs *runs,
    struct hwtd_context *library);
void hwtdi_ptn_runs_end(struct hwtdi_ptn_runs *runs, struct hwtdi_flow *flow);
/* Epochs begin anew. */
void hwtdi_ptn_runs_forget(struct hwtdi_ptn_runs *runs);

const uint32_t *hwtdi_ptn_runs_expand(const struct hwtdi_ptn_runs *runs,
    uint32_t number, size_t *n_out);

/*
 * It is to be looked for a run that begins with a node.  Where only few do, they
 * are always the same ones, so that it shows when a trace begins to repeat
 * itself; and now and then all do, for loops in which these do not come.  Where
 * that is of no use it rests.
 */
static inline bool
hwtdi_ptn_runs_begin_with(const struct hwtdi_ptn_runs *runs, uint32_t node)
{
	const uint32_t part = node * 0x9e3779b1u >> 26;

	return (runs->rest == 0 &&
	    (!runs->sparse || part == 0 || runs->turn % 32 == 0));
}

static inline struct hwtdi_ptn_run *
hwtdi_ptn_run_at(const struct hwtdi_ptn_runs *runs, uint32_t record)
{
	return ((struct hwtdi_ptn_run *)(void *)(runs->records + record));
}

/* The last node of a run. */
static inline uint32_t
hwtdi_ptn_runs_last(const struct hwtdi_ptn_runs *runs, uint32_t number)
{
	const struct hwtdi_ptn_run_words *at = &runs->at[number];

	return (runs->words[at->first + at->n - 1u]);
}

/*
 * One token for nodes, which stand for a packet that is remembered elsewhere.
 * 0: there is no room for it.
 */
uint32_t hwtdi_ptn_runs_name(struct hwtdi_ptn_runs *runs,
    struct hwtd_context *library, const uint32_t *nodes, uint32_t n);

/*
 * The run of packets at `p`, before `stop`, from a node on.  Its effect on calls
 * and on last IP is done then.  NULL: none is known.
 */
const struct hwtdi_ptn_run *hwtdi_ptn_runs_take(struct hwtdi_decoder *d,
    uint32_t node, uint32_t *top_inout, const uint8_t *p, const uint8_t *stop);

#endif /* HWTDI_PT_NATIVE_RUNS_H */
