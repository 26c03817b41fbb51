/*
 * What all engines put into a flow in the same way.
 */
#include "decode/flow_put.h"

#include <stdio.h>
#include <string.h>

int
hwtdi_places_reserve(struct hwtd_context *library,
    struct hwtdi_unit_place **places_inout, size_t *cap_inout, uint32_t unit,
    struct hwtd_error *err)
{
	const size_t cap = *cap_inout;
	int rc;

	rc = hwtdi_array_grow(library, places_inout, cap_inout,
	    (size_t)unit + 1, sizeof(**places_inout), err);
	if (rc == HWTD_OK && *cap_inout > cap)
		memset(*places_inout + cap, 0,
		    (*cap_inout - cap) * sizeof(**places_inout));
	return (rc);
}

void
hwtdi_tell_place(struct hwtdi_flow *flow, struct hwtdi_unit_place *place,
    uint32_t unit, uint64_t address, uint32_t section)
{
	struct hwtdi_placement *told = &flow->places[flow->n_places++];

	place->known = true;
	place->address = address;
	place->section = section;
	told->at = (uint32_t)flow->n_tokens;
	told->unit = unit;
	told->section = section;
	told->address = address;
}

int
hwtdi_places_set(struct hwtd_context *library,
    struct hwtdi_unit_place **places_inout, size_t *cap_inout,
    struct hwtdi_flow *flow, const struct hwtdi_placement *where,
    bool *moved_out, struct hwtd_error *err)
{
	struct hwtdi_unit_place *place;
	int rc;

	if (moved_out != NULL)
		*moved_out = false;
	rc = hwtdi_places_reserve(library, places_inout, cap_inout,
	    where->unit, err);
	if (rc != HWTD_OK)
		return (rc);
	place = &(*places_inout)[where->unit];
	if (hwtdi_place_is(place, where->address, where->section))
		return (HWTD_OK);
	if (moved_out != NULL)
		*moved_out = place->known;
	hwtdi_tell_place(flow, place, where->unit, where->address,
	    where->section);
	return (HWTD_OK);
}

/* Clear what is read of the details of a kind: a gap is much bigger. */
static void
clear_detail(struct hwtdi_rare *rare, uint8_t kind)
{
	switch (kind) {
	case HWTD_EV_GAP:
		memset(&rare->detail.gap, 0, sizeof(rare->detail.gap));
		break;
	case HWTD_EV_MARKER:
		memset(&rare->detail.marker, 0, sizeof(rare->detail.marker));
		break;
	case HWTD_EV_POWER:
		memset(&rare->detail.power, 0, sizeof(rare->detail.power));
		break;
	case HWTD_EV_SAMPLE:
		memset(&rare->detail.sample, 0, sizeof(rare->detail.sample));
		break;
	case HWTD_EV_ASYNC:
		memset(&rare->detail.async, 0, sizeof(rare->detail.async));
		break;
	default:
		break;
	}
}

struct hwtdi_rare *
hwtdi_rare_put(struct hwtdi_flow *flow, uint8_t kind, uint64_t stream_off)
{
	struct hwtdi_rare *rare = hwtdi_rare_begin(flow, kind, stream_off);

	clear_detail(rare, kind);
	return (rare);
}

struct hwtd_gap *
hwtdi_rare_gap(struct hwtdi_flow *flow, uint32_t reason, uint64_t first,
    uint64_t end, const uint64_t *last_ip, const char *text)
{
	struct hwtdi_rare *rare = hwtdi_rare_put(flow, HWTD_EV_GAP, first);
	struct hwtd_gap *gap = &rare->detail.gap;

	gap->reason = reason;
	gap->first = first;
	gap->end = end;
	if (last_ip != NULL) {
		gap->ip_before = *last_ip;
		gap->flags |= HWTD_GAPF_IP_BEFORE;
	}
	(void)snprintf(gap->text, sizeof(gap->text), "%s", text);
	return (gap);
}
