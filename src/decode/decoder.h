/*
 * The one interface between decoders and the rest: raw bytes of a segment and
 * code go in; tokens, rare events and anchors come out.
 *
 * A decoder does no I/O and knows no symbols, processes or files.  What it
 * hands out is a *flow*: tokens (u32, each a node of the code graph), and beside
 * them small arrays that say between which tokens something happened: rare
 * events, anchors of time and offset, and where code lies.  Shared code in
 * event/ turns flows into rows.
 */
#ifndef HWTDI_DECODER_H
#define HWTDI_DECODER_H

#include <hwtdecode/event.h>
#include <hwtdecode/sample.h>

#include "base/library.h"
#include "decode/code/code_graph.h"
#include "space/timeline.h"

/* Where code bytes come from. */
struct hwtdi_code_span {
	/* Valid as long as the decoder is. */
	const uint8_t *bytes;
	uint64_t address;
	uint64_t length;
	uint32_t section;
	/* When it can have been there. */
	struct hwtdi_moments moments;
};

/* Where code is asked for. */
struct hwtdi_code_query {
	const struct hwtd_exec_context *context;
	uint64_t stream_off;
	/* Raw count of the stream's clock. */
	bool has_count;
	uint64_t count;
	/* When it can be, by what was found before. */
	struct hwtdi_moments moments;
	/* Sections that were found to fit; the first that is possible holds. */
	const uint32_t *chosen;
	size_t n_chosen;
	/* Else which of several that are possible: 0 is the newest. */
	uint32_t choice;
};

struct hwtdi_code_source {
	/*
	 * The span that holds `address`.  HWTD_OK; HWTD_END: this one, but
	 * there may be others, see `choice`; HWTD_E_NOT_FOUND: nothing (more)
	 * is mapped; HWTD_E_UNSUPPORTED: something is, but its bytes are
	 * missing; HWTD_E_STATE: what can be there contradicts `moments`.
	 */
	int (*find)(void *arg, const struct hwtdi_code_query *query,
	    uint64_t address, struct hwtdi_code_span *out);
	void *arg;
	/*
	 * Answers to `query` do not change before a byte of the stream and a
	 * count of its clock.
	 */
	void (*until)(void *arg, const struct hwtdi_code_query *query,
	    uint64_t *off_out, uint64_t *count_out);
	/* Answers are the same at every place of the stream, in every context. */
	bool fixed;
};

/* Something that happened before token number `at` of the flow. */
struct hwtdi_rare {
	uint32_t at;
	/* kind, branch, flags (ip, target, value), ip, target, value, off. */
	struct hwtd_event row;
	union {
		struct hwtd_gap gap;
		struct hwtd_marker marker;
		struct hwtd_power power;
		struct hwtd_async async;
		struct hwtd_sample sample;
		/* CONTEXT: the fields that the trace tells. */
		struct hwtd_exec_context context;
	} detail;
	/* ASYNC: `detail.async` counts. */
	bool has_detail;
	/* GAP: execution went on at this address, but no further. */
	bool has_stop_ip;
	uint64_t stop_ip;
};

/* From token `at` on: where the decoder stands and what time it is. */
struct hwtdi_anchor {
	uint32_t at;
	/* HWTDI_ANCHOR_* */
	uint32_t flags;
	uint64_t stream_off;
	/* With HWTDI_ANCHOR_TIME: raw count of the stream's clock. */
	uint64_t count;
};

#define HWTDI_ANCHOR_TIME 0x1
#define HWTDI_ANCHOR_ESTIMATED 0x2
/* The engine tells the time when it is asked. */
#define HWTDI_ANCHOR_ASK 0x4

/* From token `at` on: where the code of a unit lies. */
struct hwtdi_placement {
	uint32_t at;
	uint32_t unit;
	uint32_t section;
	uint64_t address;
};

/*
 * Of a decoder that was opened for runs: a token with this bit is no node, but a
 * run of nodes, whose number is in the other bits; see `run` of the engine.
 */
#define HWTDI_TOKEN_RUN HWTDI_GRAPH_USER_BIT
/* Numbers of runs are below this, and words of a run. */
#define HWTDI_RUNS 32768u
#define HWTDI_RUN_WORDS 256u
/*
 * Between nodes of a run: tracing goes off with the node before, and on with the
 * next one, which rare events do not tell then.  Two words follow, the lower and
 * the upper half of the address to which execution went meanwhile.
 */
#define HWTDI_TOKEN_OFF HWTDI_TOKEN_RUN
#define HWTDI_TOKEN_OFF_WORDS 3u

#define HWTDI_FLOW_TOKENS 4096
#define HWTDI_FLOW_RARES 128
#define HWTDI_FLOW_ANCHORS 4096
#define HWTDI_FLOW_PLACES 64

/* Samples that are asked for at once, at most. */
#define HWTDI_FLOW_SAMPLES 32

/*
 * One batch.  Before rare event i, the anchors with an index below
 * anchors_before[i] have been passed, also those at the same token.
 */
struct hwtdi_flow {
	/* What tokens are nodes of. */
	const struct hwtdi_code_graph *graph;
	size_t n_places;
	struct hwtdi_placement places[HWTDI_FLOW_PLACES];
	size_t n_tokens;
	size_t n_rares;
	size_t n_anchors;
	uint32_t tokens[HWTDI_FLOW_TOKENS];
	struct hwtdi_anchor anchors[HWTDI_FLOW_ANCHORS];
	uint32_t anchors_before[HWTDI_FLOW_RARES];
	struct hwtdi_rare rares[HWTDI_FLOW_RARES];
	/* After HWTD_END: the last block goes on at this address. */
	bool has_next_ip;
	uint64_t next_ip;
	/* Counts in this segment are not above this one. */
	bool has_last_count;
	uint64_t last_count;
	/* Numbers of runs are below this; they stand for others after it, if so. */
	uint32_t n_runs;
	bool runs_over;
};

/* Nothing is in it then; what arrays hold does not count. */
static inline void
hwtdi_flow_clear(struct hwtdi_flow *flow)
{
	flow->n_places = 0;
	flow->n_tokens = 0;
	flow->n_rares = 0;
	flow->n_anchors = 0;
	flow->has_next_ip = false;
	flow->n_runs = 0;
	flow->runs_over = false;
}

/* The same of a new one, in memory that is not set: it is a lot. */
static inline void
hwtdi_flow_init(struct hwtdi_flow *flow)
{
	hwtdi_flow_clear(flow);
	flow->graph = NULL;
	flow->next_ip = 0;
	flow->has_last_count = false;
	flow->last_count = 0;
}

/* A piece of one extent that is decoded from its own bytes alone. */
struct hwtdi_segment {
	/* [bytes, bytes + n): the segment; `tail` more bytes follow in place
	 * to look at, which belong to the next segment. */
	const uint8_t *bytes;
	size_t n;
	size_t tail;
	/* Offset of bytes[0] in the stream. */
	uint64_t stream_off;
};

struct hwtdi_decoder_args {
	struct hwtd_context *library;
	/* Copied; may be NULL. */
	const struct hwtd_pt_config *pt;
	const struct hwtd_coresight_config *coresight;
	const struct hwtd_spe_config *spe;
	/* The stream's own context; the base of what the trace tells. */
	struct hwtd_exec_context context;
	/* The stream has a clock: anchors shall have the time. */
	bool timed;
	struct hwtdi_code_source code;
	/* Shared by all decoders of the trace. */
	struct hwtdi_code_graph *graph;
	/* Counts are those of 64 bits that are nearest to this one. */
	uint64_t near_count;
	/* As of hwtd_clock: where counts begin again; a mask of 0: nowhere. */
	uint64_t wrap_base;
	uint64_t wrap_mask;
	/*
	 * Tokens may be runs, in which tracing may go off and on again, and
	 * there are no anchors but those that rare events need.  An engine that has no `run` does as without it.
	 */
	bool runs;
};

/* The time of packets that end at a byte or behind it, up to the next such. */
struct hwtdi_when {
	uint64_t from_off;
	/* Raw count of the stream's clock. */
	uint64_t count;
	/* HWTDI_ANCHOR_TIME, and HWTDI_ANCHOR_ESTIMATED if it is so. */
	uint32_t flags;
};

/* So many of them are told at a time, at most. */
#define HWTDI_WHENS 64

struct hwtdi_decoder;

struct hwtdi_engine {
	const char *name;
	uint32_t tech;
	int (*open)(const struct hwtdi_decoder_args *args,
	    struct hwtdi_decoder **out, struct hwtd_error *err);
	/* Begin a segment; what was known before is forgotten. */
	int (*start)(struct hwtdi_decoder *decoder,
	    const struct hwtdi_segment *segment, struct hwtd_error *err);
	/*
	 * Append to a flow what there is room for.  HWTD_OK, or HWTD_END with
	 * a last flow that may hold something: the whole segment is accounted
	 * for by tokens and gaps.
	 */
	int (*read)(struct hwtdi_decoder *decoder, struct hwtdi_flow *flow,
	    struct hwtd_error *err);
	/*
	 * Samples in place of read(), where they are wanted: at most `cap` that
	 * follow one another and of which nothing has to be told beside, and
	 * what branches they are.  Returns how many; 0: read() goes on.  Only as
	 * long as there is nothing in the flow.  NULL: it has no samples.
	 */
	size_t (*samples)(struct hwtdi_decoder *decoder,
	    struct hwtd_sample *out, uint8_t *branches_out, size_t cap);
	void (*close)(struct hwtdi_decoder *decoder);
	/*
	 * Nobody uses it for now: `code` is not asked any more, and what is soon
	 * had again is given up.  Bytes that it keeps.  Next it is closed, or bound.
	 */
	size_t (*rest)(struct hwtdi_decoder *decoder);
	/*
	 * Go on for another user, with the library, graph and `runs` that it was
	 * opened with.  What it found out stays, and makes no difference to what
	 * it tells.  False: the configuration of packets is another one; it rests.
	 * NULL, as `rest` then: its decoders are for one user only.
	 */
	bool (*rebind)(struct hwtdi_decoder *decoder,
	    const struct hwtdi_decoder_args *args);
	/*
	 * For anchors that say so: the next times of the segment at hand, in
	 * order from its first byte on, however far it was read.  None: there
	 * are no more.  HWTD_OK, HWTD_E_NOMEM.
	 */
	int (*times)(struct hwtdi_decoder *decoder,
	    struct hwtdi_when out[HWTDI_WHENS], size_t *n_out);
	/*
	 * The nodes that a run stands for, in order, and HWTDI_TOKEN_OFF, with
	 * which it neither begins nor ends.  They stay up to the next call of read() after a flow that says `runs_over`, so
	 * also over start().  NULL: there are no runs.
	 */
	const uint32_t *(*run)(const struct hwtdi_decoder *decoder,
	    uint32_t number, size_t *n_out);
	/*
	 * Offset of the first sync point that lies in [from, n), or n; `seen`
	 * bytes are there to look at.  A segment may start there.
	 */
	size_t (*find_sync)(const uint8_t *bytes, size_t n, size_t seen,
	    size_t from);
	/* Bytes to look at after the end of a segment. */
	size_t tail_bytes;
};

/* The engine of that name, or the default one of the technology; NULL. */
const struct hwtdi_engine *hwtdi_engine_find(uint32_t tech, const char *name);

/* Some technology has an engine of that name. */
bool hwtdi_engine_exists(const char *name);

#endif /* HWTDI_DECODER_H */
