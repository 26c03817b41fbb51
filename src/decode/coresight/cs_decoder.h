/*
 * The engine for CoreSight: what its files share.
 */
#ifndef HWTDI_CS_DECODER_H
#define HWTDI_CS_DECODER_H

#include "decode/coresight/cs_tail.h"
#include "decode/coresight/itm_decoder.h"
#include "decode/decoder.h"
#include "decode/flow_put.h"

/* Instructions of a range that are taken for real. */
#define HWTDI_CS_RANGE_MAX 65536u

/* Ranges whose token is remembered; a power of 2. */
#define HWTDI_CS_RANGES 4096u

/* Rare events and anchors that one element may make. */
#define HWTDI_CS_RARES 7
#define HWTDI_CS_ANCHORS 2

/* A range of the library, and the token for all of it. */
struct hwtdi_cs_range {
	uint64_t st, end;
	uint64_t last_ip;
	uint32_t n;
	uint32_t token;
	/* It holds while the decoder's is the same; 0: nothing is there. */
	uint32_t epoch;
	uint8_t isa;
	uint8_t last;
};

struct hwtdi_decoder {
	struct hwtd_context *library;
	struct hwtd_coresight_config config;
	struct hwtdi_code_source code;
	struct hwtdi_code_graph *graph;
	bool timed;
	/* What makes elements: OpenCSD, or for ITM our own. */
	struct hwtdi_cs_tree *tree;
	uint32_t n_trees;
	/* It has decoded nothing yet. */
	bool tree_is_new;
	struct hwtdi_itm itm;
	/* Neither does, and why: the stream cannot be decoded. */
	char refusal[64];
	struct hwtdi_cs_tail tail;
	struct hwtdi_cs_queue queue;
	/* STM, where the library does not tell its time. */
	struct hwtdi_cs_reader reader;

	struct hwtdi_segment segment;
	/* Bytes of it that were fed, and up to where answers about code hold. */
	size_t fed;
	uint64_t until;
	/* Where the library last began anew, and before the element at hand. */
	uint64_t reset_off, begun_off;
	bool ended;

	/* Of the stream itself, at the element at hand, and where it is fed. */
	struct hwtd_exec_context base, context, front;
	struct hwtdi_code_span front_span;
	uint32_t n_contexts;

	/* Code of the element at hand, and up to where it holds. */
	struct hwtdi_code_span span;
	uint64_t rows_until;
	bool has_unit;
	uint8_t unit_isa;
	uint32_t unit;
	struct hwtdi_unit_place *places;
	size_t cap_places;
	struct hwtdi_cs_range *ranges;
	uint32_t epoch;

	/* The range at hand: instructions that are left, and the next one. */
	uint32_t left;
	uint8_t left_isa;
	/* An hwtdi_cs_last. */
	uint8_t left_last;
	uint64_t left_ip;
	uint64_t left_end;
	uint64_t last_ip;
	bool has_last_ip;
	/* Cycles that come behind it. */
	bool has_cycles;
	uint32_t cycles;

	/* Where the element at hand comes from, and what was told. */
	uint64_t off;
	uint64_t anchor_off;
	bool anchored;
	/* A gap that goes on up to the next element that says something. */
	bool in_gap;
	struct hwtd_gap gap;
	/* Instructions are traced; where they begin is to be told. */
	bool on, to_enable;
	uint16_t enable_flags;
	/* An exception whose target the next element tells. */
	bool has_exception;
	struct hwtdi_cs_element exception;
	/* The time stamp to come is that of an earlier place in the flow. */
	bool has_marker;
	/* Where an exception will return to, if no code came since. */
	bool has_off_ip, off_by_call;
	uint64_t off_ip;
	bool transaction;
};

/* There is room for what one element can make. */
static inline bool
hwtdi_cs_has_room(const struct hwtdi_flow *flow)
{
	return (flow->n_tokens < HWTDI_FLOW_TOKENS &&
	    flow->n_rares + HWTDI_CS_RARES <= HWTDI_FLOW_RARES &&
	    flow->n_anchors + HWTDI_CS_ANCHORS <= HWTDI_FLOW_ANCHORS &&
	    flow->n_places + 2 <= HWTDI_FLOW_PLACES);
}

/* Where a range is remembered. */
static inline struct hwtdi_cs_range *
hwtdi_cs_range_at(const struct hwtdi_decoder *d, uint64_t st, uint32_t n)
{
	const uint64_t hash = (st ^ (uint64_t)n << 40) * 0x9e3779b97f4a7c15;

	return (&d->ranges[hash >> 32 & (HWTDI_CS_RANGES - 1)]);
}

/* A range that came before, in the same place; NULL: it did not. */
static inline const struct hwtdi_cs_range *
hwtdi_cs_known_range(const struct hwtdi_decoder *d,
    const struct hwtdi_cs_element *e)
{
	const struct hwtdi_cs_range *r = hwtdi_cs_range_at(d, e->st, e->n);

	return (r->epoch == d->epoch && r->st == e->st && r->n == e->n &&
		    r->isa == e->isa && r->last == e->last && r->end == e->en
		? r
		: NULL);
}

/* cs_code.c */
/* Code is looked up anew: another context, or another time. */
void hwtdi_cs_forget_code(struct hwtdi_decoder *d);
/* Answers about code do not change between a byte and this one. */
uint64_t hwtdi_cs_code_until(const struct hwtdi_decoder *d,
    const struct hwtd_exec_context *who, uint64_t off);
/* The element at hand is of a byte, if that is not before. */
void hwtdi_cs_go_to(struct hwtdi_decoder *d, uint64_t off);
/* For the library. */
size_t hwtdi_cs_read_code_at(void *arg, uint64_t address, uint8_t *buf,
    size_t n);
/*
 * Put what there is room for of the range at hand.  HWTD_OK; HWTD_END: code
 * is not as the library says, *reason_out; HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_cs_put_range(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t *reason_out, struct hwtd_error *err);
/*
 * Code of a range was the same where its element is as where the library read it.
 * HWTD_OK or HWTD_E_NOMEM.
 */
int hwtdi_cs_code_stayed(const struct hwtdi_decoder *d,
    const struct hwtdi_cs_element *e, bool *stayed_out);
/* Why there is no code at an address: an hwtd_gap_reason. */
uint32_t hwtdi_cs_why_no_code(struct hwtdi_decoder *d, uint64_t address);

/* cs_flow.c */
/* What the trace tells of a context, and what is known of the stream. */
void hwtdi_cs_set_context(const struct hwtdi_decoder *d,
    struct hwtd_exec_context *out, const struct hwtdi_cs_element *told);
/*
 * Put an element that is not finished by it; the time stamp of it is `stamp`, if
 * that is not 0.  HWTD_OK or an error.
 */
int hwtdi_cs_put_element(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, uint64_t stamp, struct hwtd_error *err);
/*
 * Put what waits of ranges that came before, where nothing else is to be told.
 * False: there is none.
 */
bool hwtdi_cs_put_again(struct hwtdi_decoder *d, struct hwtdi_flow *flow);
/* Begin a gap at a byte of the stream. */
void hwtdi_cs_begin_gap(struct hwtdi_decoder *d, uint32_t reason,
    uint64_t first, const char *text);
/* All of the range at hand was put. */
void hwtdi_cs_end_range(struct hwtdi_decoder *d, struct hwtdi_flow *flow);
/* What waits for a next element does so in vain. */
int hwtdi_cs_put_end(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err);

/* cs_exception.c */
/* An hwtd_async_type. */
uint32_t hwtdi_cs_exception_type(const struct hwtd_coresight_config *config,
    uint32_t number);

/* cs_sync.c */
/* Offset of the first synchronisation in [from, n), or n. */
size_t hwtdi_cs_find_sync(uint32_t protocol, const uint8_t *bytes, size_t n,
    size_t from);

#endif /* HWTDI_CS_DECODER_H */
