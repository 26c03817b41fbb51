/*
 * What all engines put into a flow in the same way.
 */
#ifndef HWTDI_FLOW_PUT_H
#define HWTDI_FLOW_PUT_H

#include <string.h>

#include "decode/decoder.h"

/* Where a unit lies. */
struct hwtdi_unit_place {
	uint64_t address;
	uint32_t section;
	/* It was told in this segment. */
	bool known;
};

/* Have the place of a unit; those that are new are not known. */
int hwtdi_places_reserve(struct hwtd_context *library,
    struct hwtdi_unit_place **places_inout, size_t *cap_inout, uint32_t unit,
    struct hwtd_error *err);

/* All of them are to be told anew. */
static inline void
hwtdi_places_forget(struct hwtdi_unit_place *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		places[i].known = false;
}

static inline bool
hwtdi_place_is(const struct hwtdi_unit_place *place, uint64_t address,
    uint32_t section)
{
	return (place->known && place->address == address &&
	    place->section == section);
}

/* Rows of a unit's code have this address and section from now on. */
void hwtdi_tell_place(struct hwtdi_flow *flow, struct hwtdi_unit_place *place,
    uint32_t unit, uint64_t address, uint32_t section);

/*
 * The same, if they do not have them already; `at` of `where` is not used.
 * *moved_out: the unit had other ones in this segment.  May be NULL.
 */
int hwtdi_places_set(struct hwtd_context *library,
    struct hwtdi_unit_place **places_inout, size_t *cap_inout,
    struct hwtdi_flow *flow, const struct hwtdi_placement *where,
    bool *moved_out, struct hwtd_error *err);

static inline void
hwtdi_rare_set_ip(struct hwtdi_rare *rare, uint64_t ip)
{
	rare->row.ip = ip;
	rare->row.flags |= HWTD_EVF_IP;
}

static inline void
hwtdi_rare_set_target(struct hwtdi_rare *rare, uint64_t target)
{
	rare->row.target = target;
	rare->row.flags |= HWTD_EVF_TARGET;
}

static inline void
hwtdi_rare_set_value(struct hwtdi_rare *rare, uint64_t value)
{
	rare->row.value = value;
	rare->row.flags |= HWTD_EVF_VALUE;
}

/*
 * Begin a rare event behind the tokens and anchors that are there; of its
 * details nothing is set.
 */
static inline struct hwtdi_rare *
hwtdi_rare_begin(struct hwtdi_flow *flow, uint8_t kind, uint64_t stream_off)
{
	struct hwtdi_rare *rare = &flow->rares[flow->n_rares];

	memset(&rare->row, 0, sizeof(rare->row));
	rare->row.kind = kind;
	rare->row.stream_off = stream_off;
	rare->has_detail = false;
	rare->has_stop_ip = false;
	rare->at = (uint32_t)flow->n_tokens;
	flow->anchors_before[flow->n_rares++] = (uint32_t)flow->n_anchors;
	return (rare);
}

/* The same with details of its kind that are all 0. */
struct hwtdi_rare *hwtdi_rare_put(struct hwtdi_flow *flow, uint8_t kind,
    uint64_t stream_off);

/* A gap of bytes [first, end) of the stream; `last_ip` may be NULL. */
struct hwtd_gap *hwtdi_rare_gap(struct hwtdi_flow *flow, uint32_t reason,
    uint64_t first, uint64_t end, const uint64_t *last_ip, const char *text);

#endif /* HWTDI_FLOW_PUT_H */
