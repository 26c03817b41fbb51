/*
 * The native Intel PT engine: short ways without trace, along what is known.
 *
 * Nearly every place that a packet names is a few nodes away at most.  What is
 * farther, or not known yet, is found step by step: see pt_native_step.c.
 */
#include "decode/pt/pt_native.h"

HWTDI_PT_INLINE bool
before(const struct hwtdi_decoder *d, uint32_t node, uint64_t ip,
    uint32_t *out)
{
	const struct hwtdi_code_block *b = hwtdi_graph_view_block(&d->view,
	    node);
	const uint64_t off = ip - d->places[b->unit].address;
	const uint8_t *length = b->lengths;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_runs; i++) {
		const struct hwtdi_code_run *r = &b->runs[i];

		if (off - r->off <= r->to_last) {
			uint32_t at = r->off, k = 0;

			while (at < off)
				at += length[k++];
			if (at == off) {
				*out = n + k;
				return (true);
			}
		}
		n += r->insns;
		length += r->insns;
	}
	return (false);
}

bool
hwtdi_ptn_before(const struct hwtdi_decoder *d, uint32_t node, uint64_t ip,
    uint32_t *out)
{
	return (before(d, node, ip, out));
}

/* The node goes on at the address, in another unit. */
HWTDI_PT_INLINE bool
leads_to(const struct hwtdi_decoder *d, uint32_t node, uint64_t ip)
{
	const struct hwtdi_code_block *b = hwtdi_graph_view_block(&d->view,
	    node);

	return (d->view.nodes[node].kind == HWTDI_NODE_AWAY &&
	    d->places[b->unit].address + (uint64_t)b->target == ip);
}

HWTDI_PT_INLINE bool
find(const struct hwtdi_decoder *d, uint32_t node, const uint64_t *ip,
    struct hwtdi_ptn_way *out)
{
	uint32_t n = 0;

	out->has_ip = false;
	for (;;) {
		const struct hwtdi_node *at = &d->view.nodes[node];

		if (ip != NULL && before(d, node, *ip, &out->before)) {
			out->has_ip = true;
			break;
		}
		if (hwtdi_ptn_needs_trace(at))
			break;
		if (n == HWTDI_PTN_WAY)
			return (false);
		out->passed[n++] = node;
		if (ip != NULL && leads_to(d, node, *ip)) {
			/* Its node is for who goes on there. */
			node = 0;
			out->has_ip = true;
			out->before = 0;
			break;
		}
		node = hwtdi_ptn_next(d, node);
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
	for (uint32_t i = 0; i < way->n_passed; i++)
		hwtdi_ptn_put_node(d, flow, way->passed[i]);
	d->node = way->node;
}
