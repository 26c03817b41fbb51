/*
 * Records that look like one before: the same packets at the same places.
 *
 * Producers write few shapes of records.  Where the headers lie is compared at
 * once then, and payloads are taken from where they are known to be.
 */
#ifndef HWTDI_SPE_SHAPE_H
#define HWTDI_SPE_SHAPE_H

#include <hwtdecode/sample.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "decode/spe/spe_operation.h"
#include "decode/spe/spe_set.h"

/* A record with a shape is not longer. */
#define HWTDI_SPE_SHAPE_BYTES 64
/* So many bytes have to be there to look for one. */
#define HWTDI_SPE_SHAPE_LOOK (HWTDI_SPE_SHAPE_BYTES + 8)
#define HWTDI_SPE_SHAPES 8

/* What was found of an operation packet. */
struct hwtdi_spe_known_op {
	struct hwtdi_spe_operation op;
	uint8_t raw;
};

/* Payloads of a class that are remembered. */
#define HWTDI_SPE_KNOWN_OPS 32

/* By class and payload. */
struct hwtdi_spe_known_ops {
	struct hwtdi_spe_known_op at[4][HWTDI_SPE_KNOWN_OPS];
};

static inline const struct hwtdi_spe_operation *
hwtdi_spe_know_operation(struct hwtdi_spe_known_ops *ops, uint8_t op_class,
    uint8_t raw)
{
	struct hwtdi_spe_known_op
	    *known = &ops->at[op_class][raw % HWTDI_SPE_KNOWN_OPS];

	if (known->op.op == HWTD_OP_UNKNOWN || known->raw != raw) {
		hwtdi_spe_operation_read(op_class, raw, &known->op);
		known->raw = raw;
	}
	return (&known->op);
}

/* Two words that are compared at once. */
typedef uint64_t hwtdi_spe_words __attribute__((vector_size(16)));
#define HWTDI_SPE_SHAPE_WORDS (HWTDI_SPE_SHAPE_BYTES / 16)

struct hwtdi_spe_shape {
	/* Which bytes are compared, and what they are. */
	hwtdi_spe_words mask[HWTDI_SPE_SHAPE_WORDS];
	hwtdi_spe_words want[HWTDI_SPE_SHAPE_WORDS];
	/* Bits of those two payloads. */
	uint64_t event_bits, source_bits;
	/* HWTD_SAMPLE_* bits. */
	uint32_t present;
	/* How often it was found; not often, if it begins anew with 0. */
	uint32_t hits;
	/* Where the payloads of those that are present are. */
	uint8_t pc, target, prev_target, va, pa, total, issue, xlat, el1, el2,
	    op, events, source, count;
	uint8_t op_class;
	uint8_t event_bytes, source_bytes;
	/* An hwtd_sample_end. */
	uint8_t end;
	/* Of the record; and with all that is compared to be 0 behind it. */
	uint8_t bytes;
	uint8_t all_bytes;
};

struct hwtdi_spe_shapes {
	/* The one with the most hits first, nearly. */
	struct hwtdi_spe_shape at[HWTDI_SPE_SHAPES];
	uint8_t n;
	/* The next to be replaced; so many records are not to be learned from. */
	uint8_t next, rest;
};

/*
 * Remember the shape of the record of n bytes at bytes[0], if it has one; it was
 * read and is whole.  HWTDI_SPE_SHAPE_LOOK bytes are there.
 */
void hwtdi_spe_shape_learn(struct hwtdi_spe_shapes *shapes,
    const uint8_t *bytes, size_t n);

/* Change places with the one before. */
void hwtdi_spe_shape_swap(struct hwtdi_spe_shape *shape);

static inline hwtdi_spe_words
hwtdi_spe_words_at(const uint8_t *bytes)
{
	hwtdi_spe_words words;

	memcpy(&words, bytes, sizeof(words));
	return (words);
}

/*
 * The shape of the record at bytes[0], or NULL; HWTDI_SPE_SHAPE_LOOK bytes are
 * there.
 */
static inline struct hwtdi_spe_shape *
hwtdi_spe_shape_find(struct hwtdi_spe_shapes *shapes, const uint8_t *bytes)
{
	const hwtdi_spe_words a = hwtdi_spe_words_at(bytes);
	const hwtdi_spe_words b = hwtdi_spe_words_at(bytes + 16);
	const hwtdi_spe_words c = hwtdi_spe_words_at(bytes + 32);
	const hwtdi_spe_words d = hwtdi_spe_words_at(bytes + 48);
	struct hwtdi_spe_shape *const end = &shapes->at[shapes->n];

	for (struct hwtdi_spe_shape *s = shapes->at; s < end; s++) {
		const hwtdi_spe_words other = ((a & s->mask[0]) ^ s->want[0]) |
		    ((b & s->mask[1]) ^ s->want[1]) |
		    ((c & s->mask[2]) ^ s->want[2]) |
		    ((d & s->mask[3]) ^ s->want[3]);

		if ((other[0] | other[1]) != 0)
			continue;
		s->hits++;
		if (s > shapes->at && s->hits > s[-1].hits)
			hwtdi_spe_shape_swap(s--);
		return (s);
	}
	return (NULL);
}

/* All of the sample but for its place; `counter_bits` as of a reader. */
static inline void
hwtdi_spe_shape_read(const struct hwtdi_spe_shape *shape,
    struct hwtdi_spe_known_ops *ops, unsigned int counter_bits,
    const uint8_t *bytes, struct hwtd_sample *s)
{
	const uint32_t present = shape->present;
	const uint8_t raw = bytes[shape->op];

	hwtdi_spe_clear(s);
	s->present = present;
	hwtdi_spe_set_pc(s, hwtdi_le64(bytes + shape->pc));
	hwtdi_spe_set_operation(s, raw,
	    hwtdi_spe_know_operation(ops, shape->op_class, raw));
	s->end = shape->end;
	if ((present & HWTD_SAMPLE_TARGET) != 0)
		hwtdi_spe_set_target(s, hwtdi_le64(bytes + shape->target));
	if ((present & HWTD_SAMPLE_PREV_TARGET) != 0)
		hwtdi_spe_set_prev_target(s,
		    hwtdi_le64(bytes + shape->prev_target));
	if ((present & HWTD_SAMPLE_VA) != 0)
		hwtdi_spe_set_va(s, hwtdi_le64(bytes + shape->va));
	if ((present & HWTD_SAMPLE_PA) != 0)
		hwtdi_spe_set_pa(s, hwtdi_le64(bytes + shape->pa));
	if ((present & HWTD_SAMPLE_EVENTS) != 0) {
		s->events = hwtdi_le64(bytes + shape->events) &
		    shape->event_bits;
		s->event_bytes = shape->event_bytes;
	}
	if ((present & HWTD_SAMPLE_SOURCE) != 0) {
		s->source = hwtdi_le64(bytes + shape->source) &
		    shape->source_bits;
		s->source_bytes = shape->source_bytes;
	}
	if ((present & HWTD_SAMPLE_LAT_TOTAL) != 0)
		hwtdi_spe_set_latency(s, &s->lat_total,
		    HWTD_SAMPLEF_TOTAL_SATURATED,
		    hwtdi_le16(bytes + shape->total), counter_bits);
	if ((present & HWTD_SAMPLE_LAT_ISSUE) != 0)
		hwtdi_spe_set_latency(s, &s->lat_issue,
		    HWTD_SAMPLEF_ISSUE_SATURATED,
		    hwtdi_le16(bytes + shape->issue), counter_bits);
	if ((present & HWTD_SAMPLE_LAT_XLAT) != 0)
		hwtdi_spe_set_latency(s, &s->lat_xlat,
		    HWTD_SAMPLEF_XLAT_SATURATED,
		    hwtdi_le16(bytes + shape->xlat), counter_bits);
	if ((present & HWTD_SAMPLE_CONTEXT_EL1) != 0)
		s->context_el1 = hwtdi_le32(bytes + shape->el1);
	if ((present & HWTD_SAMPLE_CONTEXT_EL2) != 0)
		s->context_el2 = hwtdi_le32(bytes + shape->el2);
	if ((present & HWTD_SAMPLE_COUNT) != 0)
		s->count = hwtdi_le64(bytes + shape->count);
}

#endif /* HWTDI_SPE_SHAPE_H */
