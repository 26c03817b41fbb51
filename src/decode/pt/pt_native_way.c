/*
 * The native Intel PT engine: short ways without trace, along what is known.
 *
 * Nearly every place that a packet names is a few nodes away at most.  What is
 * farther, or not known yet, is found step by step: see pt_native_step.c.
 */
#include "decode/pt/pt_native.h"

bool
hwtdi_ptn_before(const struct hwtdi_decoder *d, uint32_t node, uint64_t ip,
    uint32_t *out)
{
	const struct hwtdi_code_block *b = hwtdi_graph_view_block(&d->view,
	    node);
	const uint64_t off = ip - d->places[b->unit].address;
	const uint8_t *length = b->lengths;
	uint32_t before = 0;

	for (uint32_t i = 0; i < b->n_runs; i++) {
		const struct hwtdi_code_run *r = &b->runs[i];

		if (off >= r->off && off <= hwtdi_run_last(r)) {
			uint32_t at = r->off, k = 0;

			while (at < off)
				at += length[k++];
			if (at == off) {
				*out = before + k;
				return (true);
			}
		}
		before += r->insns;
		length += r->insns;
	}
	return (false);
}

HWTDI_PT_INLINE bool
find(const struct hwtdi_decoder *d, uint32_t node, const uint64_t *ip,
    struct hwtdi_ptn_way *out)
{
	uint32_t n = 0;

	out->has_ip = false;
	for (;;) {
		const struct hwtdi_node *at = &d->view.nodes[node];

		if (ip != NULL &&
		    hwtdi_ptn_before(d, node, *ip, &out->before)) {
			out->has_ip = true;
			break;
		}
		if (hwtdi_ptn_needs_trace(at))
			break;
		if (n == HWTDI_PTN_WAY)
			return (false);
		out->passed[n++] = node;
		if (at->kind == HWTDI_NODE_AWAY) {
			const struct hwtdi_code_block
			    *b = hwtdi_graph_view_block(&d->view, node);
			const uint64_t to = d->places[b->unit].address +
			    (uint64_t)b->target;

			node = hwtdi_ptn_known(d, to);
			if (ip != NULL && to == *ip) {
				/* Its node is for who goes on there. */
				node = 0;
				out->has_ip = true;
				out->before = 0;
				break;
			}
		} else if (at->kind == HWTDI_NODE_ON)
			node = atomic_load_explicit(&at->next[0],
			    memory_order_acquire);
		else
			return (false);
		if (node == 0)
			return (false);
	}
	out->n_passed = n;
	out->node = node;
	return (true);
}

bool
hwtdi_ptn_find_way(const struct hwtdi_decoder *d, uint32_t node,
    struct hwtdi_ptn_way *out)
{
	return (find(d, node, NULL, out));
}

bool
hwtdi_ptn_find_way_to(const struct hwtdi_decoder *d, uint32_t node,
    uint64_t ip, struct hwtdi_ptn_way *out)
{
	return (find(d, node, &ip, out));
}

void
hwtdi_ptn_go_way(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_way *way)
{
	for (uint32_t i = 0; i < way->n_passed; i++) {
		d->node = way->passed[i];
		hwtdi_ptn_emit(d, flow);
	}
	d->node = way->node;
}
