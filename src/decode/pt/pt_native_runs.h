/*
 * The native Intel PT engine: runs of nodes as tokens.
 *
 * For who only counts: the outcomes of several TNT packets are looked up at once,
 * and what they lead over is one token.
 */
#ifndef HWTDI_PT_NATIVE_RUNS_H
#define HWTDI_PT_NATIVE_RUNS_H

#include "base/library.h"
#include "decode/pt/pt_native_foresee.h"

struct hwtdi_decoder;
struct hwtdi_flow;

/* Outcomes that are looked up at once. */
#define HWTDI_PTN_RUN_BITS 48u
#define HWTDI_PTN_RUN_STACK 7u
/* Tokens of all runs at the most. */
#define HWTDI_PTN_RUN_TOKENS ((size_t)1 << 20)

/* Outcomes are left. */
#define HWTDI_PTN_RUN_LEFT 0x1u
/* Calls are to be compared, or change. */
#define HWTDI_PTN_RUN_CALLS 0x2u
/* It depends on where units lie: it counts in its epoch. */
#define HWTDI_PTN_RUN_AWAY 0x4u
/* It is for someone else. */
#define HWTDI_PTN_RUN_NONE 0x8u

struct hwtdi_ptn_run {
	/* Outcomes, with a 1 in front. */
	uint64_t bits;
	uint32_t node;
	/* Where they lead. */
	uint32_t end;
	/* What it is in flows. */
	uint32_t token;
	/* HWTDI_PTN_RUN_* bits. */
	uint8_t what;
	/* Outcomes that are left. */
	uint8_t left;
	uint16_t n_tokens;
	/* Of the tokens of all runs. */
	uint32_t first;
	uint32_t epoch;
	struct hwtdi_ptn_calls_effect effect;
	uint32_t stack[HWTDI_PTN_RUN_STACK];
};

struct hwtdi_ptn_runs {
	struct hwtdi_ptn_run *at;
	size_t n, cap;
	uint32_t *tokens;
	size_t n_tokens, cap_tokens;
	/* An open-addressed index of numbers + 1, of 2 to the power of `log`. */
	uint32_t *slots;
	uint8_t log;
	/* Hashes of what was met, and is no run yet. */
	uint16_t *met;
	/* Outcomes that are looked up at once. */
	uint32_t most;
	/* Since it was looked at last how it does. */
	uint32_t lookups, outcomes;
	/* Flows for which it rests, and those for which it would then. */
	uint32_t rest, next_rest;
	/* Runs there was no room for; all are to begin anew. */
	uint32_t refused;
	bool over;
	/* Packets before this byte of the stream were looked up and not found. */
	uint64_t by_hand;
};

/* HWTD_OK or HWTD_E_NOMEM. */
int hwtdi_ptn_runs_open(struct hwtd_context *library,
    struct hwtdi_ptn_runs **out, struct hwtd_error *err);
void hwtdi_ptn_runs_close(struct hwtd_context *library,
    struct hwtdi_ptn_runs *runs);

/* A flow begins, and ends. */
void hwtdi_ptn_runs_begin(struct hwtdi_ptn_runs *runs);
void hwtdi_ptn_runs_end(struct hwtdi_ptn_runs *runs, struct hwtdi_flow *flow);
/* Epochs begin anew. */
void hwtdi_ptn_runs_forget(struct hwtdi_ptn_runs *runs);

const uint32_t *hwtdi_ptn_runs_expand(const struct hwtdi_ptn_runs *runs,
    uint32_t number, size_t *n_out);

/* The last node of a run. */
static inline uint32_t
hwtdi_ptn_runs_last(const struct hwtdi_ptn_runs *runs, uint32_t number)
{
	const struct hwtdi_ptn_run *run = &runs->at[number];

	return (runs->tokens[run->first + run->n_tokens - 1u]);
}

/* See pt_native_memo.h. */
struct hwtdi_ptn_known;

/*
 * Take TNT packets, and timing between them, as a run; `bytes_end` is behind the
 * segment.  False: it is for someone else.
 */
bool hwtdi_ptn_runs_take(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_known *k, const uint8_t *bytes_end);

#endif /* HWTDI_PT_NATIVE_RUNS_H */
