/*
 * Flows to rows: the one place where tokens, rare events and anchors become
 * what the user reads.
 */
#ifndef HWTDI_EXPAND_H
#define HWTDI_EXPAND_H

#include "base/ratio.h"
#include "decode/decoder.h"
#include "event/record_lane.h"
#include "event/rows.h"
#include "trace/clock.h"

/* Where the code of a unit lies, and what rows of it have. */
struct hwtdi_expand_place {
	uint64_t address;
	uint32_t section;
	/* The ISA. */
	uint16_t flags;
};

struct hwtdi_expander {
	const struct hwtd_trace *trace;
	const struct hwtdi_filter *filter;
	struct hwtd_clock clock;
	/* ns per count; per 0: the clock is not so simple. */
	struct hwtdi_ratio clock_ratio;
	uint32_t stream;
	/* The stream's own context. */
	struct hwtd_exec_context base;

	/* Who is asked for times. */
	const struct hwtdi_engine *engine;
	struct hwtdi_decoder *decoder;
	/* Where the units of the code graph lie. */
	struct hwtdi_expand_place *places_of;
	size_t cap_places_of;
	/* Inside of a transaction. */
	bool transaction;

	/* How far the flow at hand is used up. */
	size_t i_token, i_rare, i_anchor;
	/* The next run of the token at hand. */
	uint32_t i_run;
	/* The next place of a unit. */
	size_t i_placed;
	/* The next instruction of the token at hand, at instruction level. */
	uint32_t i_insn;
	uint64_t insn_ip;

	/* What holds for the next row. */
	struct hwtd_exec_context context;
	bool context_new;
	/* Who runs, by records or as the owner; a sample can say another. */
	uint32_t run_pid, run_tid;
	/* The last answer to that: what was asked, and who it is. */
	struct hwtdi_sampled {
		uint32_t context_el1, context_el2, run_pid, run_tid;
		uint32_t pid, tid;
	} sampled;
	uint64_t stream_off;
	bool has_time, fresh_time, estimated;
	uint64_t time_ns;
	/* The count that none is above was this one, which is so many ns. */
	bool has_most;
	uint64_t most, most_ns;
	/* Anchors before this byte have the time at hand, or none. */
	uint64_t same_off;
	/* Of `whens`: the one that holds; those behind it are to come. */
	size_t i_when, n_whens;
	bool all_whens;

	/* From this time or offset on another thread runs; UINT64_MAX: never. */
	uint64_t until;

	/* Records with a place in the stream; those below i_place came. */
	const struct hwtdi_record_place *places;
	size_t n_places, i_place;
	/* While there are some to come: the latest time of a row. */
	uint64_t last_ns;

	/* The code row at hand, which waits for where execution goes. */
	bool pending;
	struct hwtd_event row;
	bool has_target;
	uint64_t target;

	/*
	 * What the engine told, with ns in place of counts; in front of them all
	 * is one that tells no time.  The others are set when they are told.
	 */
	struct hwtdi_when whens[1 + HWTDI_WHENS];
};

void hwtdi_expander_init(struct hwtdi_expander *x,
    const struct hwtd_trace *trace, const struct hwtdi_filter *filter,
    uint32_t stream, const struct hwtd_clock *clock,
    const struct hwtd_exec_context *base);

/* Give back memory; what was told of places does not hold any more. */
void hwtdi_expander_rest(struct hwtdi_expander *x);

/* A new segment begins: nothing that was known before holds. */
void hwtdi_expander_start(struct hwtdi_expander *x);

enum hwtdi_expand_result {
	/* The rows are full; call again with more room. */
	HWTDI_EXPAND_FULL,
	/* The flow is used up but for what was moved to its front. */
	HWTDI_EXPAND_MORE,
	HWTDI_EXPAND_NOMEM
};

/*
 * Turn as much of a flow into rows as there is room for.  `last`: no flow
 * follows in this segment.  When it is used up, what cannot be decided without
 * the next flow stays in it, and the decoder appends to that.
 */
enum hwtdi_expand_result hwtdi_expand(struct hwtdi_expander *x,
    struct hwtdi_flow *flow, bool last, struct hwtdi_rows *rows);

/*
 * Have samples of the decoder and make rows of them, with nothing in the flow;
 * there is room for some.  HWTD_OK; HWTD_AGAIN: it is to be read; HWTD_E_NOMEM.
 */
int hwtdi_expand_samples(struct hwtdi_expander *x,
    const struct hwtdi_flow *flow, struct hwtdi_rows *rows);

/* Add a gap that no decoder told of. */
enum hwtdi_expand_result hwtdi_expand_gap(struct hwtdi_expander *x,
    const struct hwtd_gap *gap, struct hwtdi_rows *rows);

/* No row follows: mark the records that are left. */
enum hwtdi_expand_result hwtdi_expand_end(struct hwtdi_expander *x,
    struct hwtdi_rows *rows);

#endif /* HWTDI_EXPAND_H */
