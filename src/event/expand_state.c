/*
 * Flows to rows: what is known between rows, and between flows.
 */
#include <string.h>

#include "event/expand_internal.h"

void
hwtdi_expander_init(struct hwtdi_expander *x, const struct hwtd_trace *trace,
    const struct hwtdi_filter *filter, uint32_t stream,
    const struct hwtd_clock *clock, const struct hwtd_exec_context *base)
{
	memset(x, 0, offsetof(struct hwtdi_expander, whens));
	x->trace = trace;
	x->filter = filter;
	x->stream = stream;
	hwtdi_expand_clock_init(x, clock);
	x->base = *base;
	hwtdi_expander_start(x);
}

void
hwtdi_expander_start(struct hwtdi_expander *x)
{
	x->i_token = 0;
	x->i_rare = 0;
	x->i_anchor = 0;
	x->i_run = 0;
	x->i_placed = 0;
	x->i_insn = 0;
	x->transaction = false;
	x->context = x->base;
	x->context_new = true;
	x->run_pid = x->base.pid;
	x->run_tid = x->base.tid;
	/* Of no sample. */
	x->sampled.context_el1 = x->sampled.context_el2 = 0;
	x->until = 0;
	x->has_time = false;
	x->same_off = 0;
	x->i_when = 0;
	x->n_whens = 1;
	x->all_whens = false;
	memset(&x->whens[0], 0, sizeof(x->whens[0]));
	x->fresh_time = false;
	x->estimated = false;
	x->stream_off = 0;
	x->pending = false;
}

void
hwtdi_expander_rest(struct hwtdi_expander *x)
{
	hwtdi_array_free(hwtdi_trace_library(x->trace), x->places_of,
	    x->cap_places_of, sizeof(*x->places_of));
	x->places_of = NULL;
	x->cap_places_of = 0;
}

int
hwtdi_expand_places(struct hwtdi_expander *x, const struct hwtdi_flow *flow)
{
	while (x->i_placed < flow->n_places &&
	    flow->places[x->i_placed].at <= x->i_token) {
		const struct hwtdi_placement *p = &flow->places[x->i_placed];
		struct hwtdi_expand_place *place;

		if (hwtdi_array_grow(hwtdi_trace_library(x->trace),
			&x->places_of, &x->cap_places_of, (size_t)p->unit + 1,
			sizeof(*x->places_of), NULL) != HWTD_OK)
			return (HWTD_E_NOMEM);
		place = &x->places_of[p->unit];
		place->address = p->address;
		place->section = p->section;
		place->flags = (uint16_t)(hwtdi_graph_unit_at(flow->graph,
					      p->unit)
					      ->isa
		    << HWTD_EVF_ISA_SHIFT);
		x->i_placed++;
	}
	return (HWTD_OK);
}

void
hwtdi_expand_keep(struct hwtdi_expander *x, struct hwtdi_flow *flow)
{
	size_t rares = flow->n_rares - x->i_rare;
	size_t anchors = flow->n_anchors - x->i_anchor;

	memmove(flow->rares, flow->rares + x->i_rare,
	    rares * sizeof(flow->rares[0]));
	memmove(flow->anchors_before, flow->anchors_before + x->i_rare,
	    rares * sizeof(flow->anchors_before[0]));
	memmove(flow->anchors, flow->anchors + x->i_anchor,
	    anchors * sizeof(flow->anchors[0]));
	for (size_t i = 0; i < rares; i++) {
		flow->rares[i].at = 0;
		flow->anchors_before[i] -= (uint32_t)x->i_anchor;
	}
	for (size_t i = 0; i < anchors; i++)
		flow->anchors[i].at = 0;
	flow->n_rares = rares;
	flow->n_anchors = anchors;
	flow->n_tokens = 0;
	x->i_token = 0;
	x->i_rare = 0;
	x->i_anchor = 0;
	x->i_placed = 0;
	flow->n_places = 0;
}
