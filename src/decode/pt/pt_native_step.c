/*
 * The native Intel PT engine: going on without trace, to a place that a packet
 * names.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

static const struct hwtdi_node *
node_at_hand(const struct hwtdi_decoder *d)
{
	return (&d->view.nodes[d->node]);
}

static const struct hwtdi_code_block *
block_at_hand(const struct hwtdi_decoder *d)
{
	return (hwtdi_graph_block(d->graph, d->node));
}

void
hwtdi_ptn_emit(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	const uint8_t kind = node_at_hand(d)->kind;

	hwtdi_ptn_put_node(d, flow, d->node);
	if (kind == HWTDI_NODE_RETURN)
		(void)hwtdi_ptn_pop(d);
}

/* Whether a run ends with a call that is pushed. */
static bool
is_pushed(const struct hwtdi_code_block *b, uint32_t i)
{
	const struct hwtdi_code_run *r = &b->runs[i];
	const int64_t behind = (int64_t)r->off + r->bytes;

	if (r->branch != HWTD_BRANCH_CALL)
		return (false);
	return (i + 1u < b->n_runs ? b->runs[i + 1].off != behind
				   : b->target != behind);
}

/* Only the first instructions of the node at hand. */
static int
emit_part(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t insns,
    struct hwtd_error *err)
{
	const struct hwtdi_node *n = node_at_hand(d);
	const struct hwtdi_code_block *b = block_at_hand(d);
	uint32_t token, calls = 0, left = insns;
	int rc;

	if (insns == 0)
		return (HWTD_OK);
	rc = hwtdi_graph_part(d->graph, d->node, insns, &token, err);
	if (rc != HWTD_OK)
		return (rc);
	for (uint32_t i = 0; i < b->n_runs && left >= b->runs[i].insns; i++) {
		left -= b->runs[i].insns;
		calls += is_pushed(b, i);
	}
	for (uint32_t i = 0; i < calls && i < n->pushes; i++) {
		d->top = (d->top + 1) % HWTDI_PTN_CALLS;
		d->calls[d->top] = n->push + i;
	}
	hwtdi_graph_see(d->graph, &d->view);
	hwtdi_ptn_put_token(d, flow, token, insns);
	return (HWTD_OK);
}

static int
lose_here(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t reason,
    const char *text, const uint64_t *addr)
{
	const uint64_t stop = hwtdi_ptn_ip(d);
	const uint64_t at = addr != NULL ? *addr : 0;
	struct hwtdi_rare *rare;
	size_t i;
	int rc;

	/* It comes before the gap. */
	hwtdi_ptn_tell_detail(d, flow);
	i = flow->n_rares;
	rc = hwtdi_ptn_lose(d, flow, reason, text);
	rare = &flow->rares[i];
	if (addr != NULL) {
		rare->detail.gap.addr = at;
		rare->detail.gap.flags |= HWTD_GAPF_ADDR;
		rare->has_stop_ip = true;
		rare->stop_ip = stop;
	}
	return (rc);
}

/* There is no code at the address at hand. */
static int
lose_code(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	if (d->ambiguous)
		return (lose_here(d, flow, HWTD_GAP_AMBIGUOUS_MAPPING,
		    "several images could lie there, and none fits",
		    &d->missing_ip));
	return (lose_here(d, flow, HWTD_GAP_NO_CODE,
	    d->unread ? "the image that is mapped there is missing"
		      : "no image holds the address",
	    &d->missing_ip));
}

/* Make sure that there is a node at hand. */
static int
resolve(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	int rc;

	if (d->node != 0)
		return (HWTD_OK);
	rc = hwtdi_ptn_find_node(d, flow, err);
	if (rc == HWTD_E_NOT_FOUND)
		return (lose_code(d, flow));
	if (rc == HWTD_E_LIMIT)
		return (lose_here(d, flow, HWTD_GAP_LIMIT,
		    "more code than is kept", NULL));
	return (rc);
}

/* Pass a run of the node at hand; results as of hwtdi_loop_pass(). */
static int
pass_run(struct hwtdi_decoder *d, const struct hwtdi_code_run *r,
    uint64_t address, struct hwtd_error *err)
{
	int rc;

	/* Nodes can end anywhere, so that another branch may be ahead. */
	rc = hwtdi_loop_pass(&d->loop_starts, address + r->off, 0, err);
	return (rc == HWTD_OK ? hwtdi_loop_pass(&d->loop,
				    address + hwtdi_run_last(r), r->insns, err)
			      : rc);
}

/*
 * Pass the node at hand for the rule that no branch, and no place that one leads
 * to, is passed twice without trace in between.
 */
static int
check_loop(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = block_at_hand(d);
	const uint64_t address = d->places[b->unit].address;
	uint32_t insns = 0;
	int rc;

	if (d->loop_at != d->at || d->loop_bits != d->n_bits) {
		d->loop_at = d->at;
		d->loop_bits = d->n_bits;
		d->loop.chain++;
		d->loop_starts.chain++;
	}
	for (uint32_t i = 0; i < b->n_runs; i++) {
		rc = pass_run(d, &b->runs[i], address, err);
		if (rc == HWTD_OK) {
			insns += b->runs[i].insns;
			continue;
		}
		if (rc != HWTD_END && rc != HWTD_E_LIMIT)
			return (rc);
		if (emit_part(d, flow, insns, err) == HWTD_E_NOMEM)
			return (HWTD_E_NOMEM);
		return (rc == HWTD_END
			? lose_here(d, flow, HWTD_GAP_ENDLESS_LOOP,
			      "the code loops for ever without a packet", NULL)
			: lose_here(d, flow, HWTD_GAP_LIMIT,
			      "very much code without a packet", NULL));
	}
	return (HWTD_OK);
}

/* The node at hand ends at what is no instruction. */
static int
at_bad_code(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	const struct hwtdi_code_block *b = block_at_hand(d);
	const uint64_t ip = d->places[b->unit].address + b->end;

	hwtdi_ptn_emit(d, flow);
	hwtdi_ptn_go(d, ip);
	return (lose_here(d, flow, HWTD_GAP_BAD_CODE,
	    "the bytes at the address are no instruction", &ip));
}

/* The next instruction is partly in another span. */
static int
at_cut(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = block_at_hand(d);
	const uint64_t ip = d->places[b->unit].address + b->end;
	int rc;

	hwtdi_ptn_emit(d, flow);
	hwtdi_ptn_go(d, ip);
	rc = hwtdi_ptn_join(d, flow, err);
	if (rc == HWTD_E_NOT_FOUND)
		return (lose_code(d, flow));
	if (rc == HWTD_END)
		return (lose_here(d, flow, HWTD_GAP_BAD_CODE,
		    "the bytes at the address are no instruction", &ip));
	return (rc);
}

/*
 * Go on over one node without trace.  HWTD_E_NOT_FOUND: the one at hand needs
 * trace.
 */
static int
advance(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_node *n;
	int rc;

	if (!hwtdi_ptn_has_room(flow))
		return (HWTD_AGAIN);
	rc = resolve(d, flow, err);
	if (rc != HWTD_OK)
		return (rc);
	n = node_at_hand(d);
	if (hwtdi_ptn_needs_trace(n))
		return (HWTD_E_NOT_FOUND);
	switch (n->kind) {
	case HWTDI_NODE_BAD:
		return (at_bad_code(d, flow));
	case HWTDI_NODE_CUT:
		return (at_cut(d, flow, err));
	case HWTDI_NODE_LOOP:
		hwtdi_ptn_emit(d, flow);
		return (lose_here(d, flow, HWTD_GAP_ENDLESS_LOOP,
		    "the code loops for ever without a packet", NULL));
	default:
		rc = check_loop(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
		hwtdi_ptn_emit(d, flow);
		return (hwtdi_ptn_link(d, 0, err));
	}
}

/*
 * Short ways may be taken from the node at hand: it is the one that lies there,
 * and no branches were passed before it for the rule above.
 */
static bool
may_hurry(const struct hwtdi_decoder *d, const struct hwtdi_flow *flow)
{
	return (d->node != 0 && !d->stale &&
	    (d->loop_at != d->at || d->loop_bits != d->n_bits) &&
	    hwtdi_ptn_has_room(flow));
}

int
hwtdi_ptn_pass(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	struct hwtdi_ptn_way way;
	int rc;

	if (may_hurry(d, flow) && hwtdi_ptn_find_way(d, d->node, &way)) {
		hwtdi_ptn_go_way(d, flow, &way);
		return (HWTD_OK);
	}
	do {
		rc = advance(d, flow, err);
	} while (rc == HWTD_OK);
	return (rc == HWTD_E_NOT_FOUND ? HWTD_OK : rc);
}

/* Tell the node at hand without the branch whose outcome is not known. */
static int
emit_unfinished(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = block_at_hand(d);
	const uint64_t last = d->places[b->unit].address +
	    hwtdi_run_last(&b->runs[b->n_runs - 1]);
	int rc = emit_part(d, flow, node_at_hand(d)->insns - 1u, err);

	hwtdi_ptn_go(d, last);
	return (rc);
}

int
hwtdi_ptn_contradict(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const char *text, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	/* Nor does it matter whether the code was met before. */
	if (d->node == 0 && d->on && !d->half &&
	    hwtdi_ptn_find_node(d, flow, err) == HWTD_E_NOMEM)
		return (HWTD_E_NOMEM);
	if (d->node != 0 && hwtdi_ptn_needs_trace(node_at_hand(d)) && !d->half)
		rc = emit_unfinished(d, flow, err);
	return (rc == HWTD_OK || rc == HWTD_E_LIMIT
		? lose_here(d, flow, HWTD_GAP_BAD_FLOW, text, NULL)
		: rc);
}

int
hwtdi_ptn_run_out(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	int rc;

	if (!d->on || d->half)
		return (HWTD_OK);
	rc = hwtdi_ptn_pass(d, flow, err);
	return (rc == HWTD_OK ? emit_unfinished(d, flow, err) : rc);
}

/* Pass the node at hand if what cannot be decoded begins behind it, at `ip`. */
static bool
stops_at(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip)
{
	const struct hwtdi_code_block *b = block_at_hand(d);
	const uint8_t kind = node_at_hand(d)->kind;

	if ((kind != HWTDI_NODE_BAD && kind != HWTDI_NODE_CUT) ||
	    d->places[b->unit].address + b->end != ip)
		return (false);
	hwtdi_ptn_emit(d, flow);
	hwtdi_ptn_go(d, ip);
	return (true);
}

/* Pass the first instructions of the node at hand, up to the one at `ip`. */
static int
go_inside(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t before,
    uint64_t ip, struct hwtd_error *err)
{
	int rc;

	/* It is its first: stay at the node. */
	if (before == 0 && d->node != 0)
		return (HWTD_OK);
	rc = before != 0 ? emit_part(d, flow, before, err) : HWTD_OK;
	hwtdi_ptn_go(d, ip);
	return (rc);
}

int
hwtdi_ptn_to_ip(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip,
    struct hwtd_error *err)
{
	struct hwtdi_ptn_way way;
	uint32_t before;
	int rc;

	for (;;) {
		if (hwtdi_ptn_ip(d) == ip)
			return (HWTD_OK);
		rc = resolve(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
		if (may_hurry(d, flow) &&
		    hwtdi_ptn_find_way_to(d, d->node, ip, &way) &&
		    way.has_ip) {
			hwtdi_ptn_go_way(d, flow, &way);
			return (go_inside(d, flow, way.before, ip, err));
		}
		if (hwtdi_ptn_before(d, d->node, ip, &before))
			return (go_inside(d, flow, before, ip, err));
		if (stops_at(d, flow, ip))
			continue;
		rc = advance(d, flow, err);
		if (rc == HWTD_E_NOT_FOUND)
			return (hwtdi_ptn_contradict(d, flow,
			    "the code does not lead to the address", err));
		if (rc != HWTD_OK)
			return (rc);
	}
}

/* Instructions in which an address is looked for. */
#define REACH 256

bool
hwtdi_ptn_reaches(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t ip)
{
	const uint32_t node = d->node;
	const uint64_t from = d->ip;
	uint32_t insns = 0, before;
	bool found = false;

	while (!found && insns < REACH) {
		const struct hwtdi_node *n;

		if (hwtdi_ptn_ip(d) == ip) {
			found = true;
			break;
		}
		if (d->node == 0 &&
		    hwtdi_ptn_find_node(d, flow, NULL) != HWTD_OK)
			break;
		n = node_at_hand(d);
		found = hwtdi_ptn_before(d, d->node, ip, &before);
		insns += n->insns + 1u;
		if (found ||
		    (n->kind != HWTDI_NODE_ON && n->kind != HWTDI_NODE_AWAY) ||
		    hwtdi_ptn_link(d, 0, NULL) != HWTD_OK)
			break;
	}
	d->node = node;
	d->ip = from;
	return (found);
}

void
hwtdi_ptn_note_resume(struct hwtdi_decoder *d)
{
	const struct hwtdi_code_block *b;
	const struct hwtdi_code_run *r;

	d->has_resume = false;
	if (d->last_token == 0)
		return;
	b = hwtdi_graph_block(d->graph, d->last_token);
	r = &b->runs[b->n_runs - 1];
	if (r->branch != HWTD_BRANCH_NONE && r->branch != HWTD_BRANCH_CALL &&
	    r->branch != HWTD_BRANCH_INDIRECT_CALL &&
	    r->branch != HWTD_BRANCH_FAR_CALL)
		return;
	/* What is called will return; CR3 may be written back. */
	d->has_resume = true;
	d->resume_ip = d->places[b->unit].address + r->off + r->bytes;
}

int
hwtdi_ptn_one(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_node *n;
	const struct hwtdi_code_block *b;
	uint64_t next;
	int rc;

	for (;;) {
		rc = resolve(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
		n = node_at_hand(d);
		if (n->insns != 0)
			break;
		rc = advance(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	b = block_at_hand(d);
	if (n->insns > 1) {
		next = hwtdi_ptn_ip(d) + b->lengths[0];
		/* A direct jump or call. */
		if (b->runs[0].insns == 1 && b->n_runs > 1)
			next = d->places[b->unit].address + b->runs[1].off;
		rc = emit_part(d, flow, 1, err);
		hwtdi_ptn_go(d, next);
		return (rc);
	}
	if (!hwtdi_ptn_needs_trace(n))
		return (advance(d, flow, err));
	hwtdi_ptn_emit(d, flow);
	hwtdi_ptn_note_resume(d);
	d->half = true;
	d->half_bound = 0;
	return (HWTD_OK);
}

/* Address of an instruction of the node at hand, which has more. */
static uint64_t
insn_at(const struct hwtdi_decoder *d, uint32_t insn)
{
	const struct hwtdi_code_block *b = block_at_hand(d);
	const struct hwtdi_code_run *r = b->runs;
	const uint8_t *length = b->lengths;
	uint64_t ip;

	for (; insn >= r->insns; r++) {
		insn -= r->insns;
		length += r->insns;
	}
	ip = d->places[b->unit].address + r->off;
	while (insn-- > 0)
		ip += *length++;
	return (ip);
}

int
hwtdi_ptn_count(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t insns, struct hwtd_error *err)
{
	int rc;

	while (d->passed < insns) {
		const uint32_t left = insns - d->passed;
		uint64_t ip;

		rc = resolve(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
		if (node_at_hand(d)->insns > left) {
			ip = insn_at(d, left);
			rc = emit_part(d, flow, left, err);
			hwtdi_ptn_go(d, ip);
			return (rc);
		}
		rc = advance(d, flow, err);
		if (rc == HWTD_E_NOT_FOUND)
			return (hwtdi_ptn_contradict(d, flow,
			    "fewer instructions than a trigger counts", err));
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

int
hwtdi_ptn_to_bind(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint16_t binds, bool far_too, struct hwtd_error *err)
{
	int rc;

	for (;;) {
		const struct hwtdi_code_block *b;
		const struct hwtdi_node *n;
		bool fits;

		if (!hwtdi_ptn_has_room(flow))
			return (HWTD_AGAIN);
		rc = resolve(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
		n = node_at_hand(d);
		b = block_at_hand(d);
		fits = n->insns != 0 && (b->binds & binds) != 0;
		if (n->kind == HWTDI_NODE_FAR && (far_too || fits)) {
			d->half_bound = 0;
			hwtdi_ptn_emit(d, flow);
			hwtdi_ptn_note_resume(d);
			d->half = true;
			return (HWTD_OK);
		}
		rc = advance(d, flow, err);
		if (rc == HWTD_OK && fits && n->kind == HWTDI_NODE_ON)
			return (HWTD_OK);
		if (rc == HWTD_E_NOT_FOUND)
			return (hwtdi_ptn_contradict(d, flow,
			    "no instruction for the packet", err));
		if (rc != HWTD_OK)
			return (rc);
	}
}

/* Tracing is on at an address, as far as filters go. */
static bool
is_filtered_in(const struct hwtdi_decoder *d, uint64_t ip)
{
	bool any = false;

	for (size_t i = 0; i < HWTD_PT_MAX_FILTERS; i++) {
		const struct hwtd_pt_filter *f = &d->pt.filters[i];
		const bool in = ip >= f->start && ip <= f->end;

		if (f->mode == HWTD_PT_FILTER_STOP && in)
			return (false);
		if (f->mode != HWTD_PT_FILTER_TRACE)
			continue;
		any = true;
		if (in)
			return (true);
	}
	return (!any);
}

/* Instructions of the node at hand up to a direct branch out of the filters. */
static bool
leaves_filter(const struct hwtdi_decoder *d, uint32_t *insns_out)
{
	const struct hwtdi_code_block *b = block_at_hand(d);
	const uint64_t address = d->places[b->unit].address;
	uint32_t insns = 0;

	for (uint32_t i = 0; d->filtered && i < b->n_runs; i++) {
		const struct hwtdi_code_run *r = &b->runs[i];
		const uint64_t target = address +
		    (uint64_t)(i + 1u < b->n_runs ? (int64_t)b->runs[i + 1].off
						  : b->target);

		insns += r->insns;
		if ((r->branch == HWTD_BRANCH_JUMP ||
			r->branch == HWTD_BRANCH_CALL) &&
		    !is_filtered_in(d, target)) {
			*insns_out = insns;
			return (true);
		}
	}
	return (false);
}

/* Tracing may go off at the end of the node at hand, if no address says so. */
static bool
is_mov_cr3(const struct hwtdi_decoder *d, uint32_t node)
{
	return (d->view.nodes[node].kind == HWTDI_NODE_ON &&
	    (hwtdi_graph_view_block(&d->view, node)->binds &
		HWTDI_X86_MOV_CR3) != 0);
}

/* A short way to where tracing goes off. */
static bool
find_way_off(const struct hwtdi_decoder *d, const struct hwtdi_flow *flow,
    const uint64_t *ip, struct hwtdi_ptn_way *out)
{
	if (!may_hurry(d, flow))
		return (false);
	if (ip != NULL)
		return (hwtdi_ptn_find_way_to(d, d->node, *ip, out));
	if (d->filtered || !hwtdi_ptn_find_way(d, d->node, out))
		return (false);
	for (uint32_t i = 0; i < out->n_passed; i++)
		if (is_mov_cr3(d, out->passed[i]))
			return (false);
	return (true);
}

int
hwtdi_ptn_to_disable(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint64_t *ip, struct hwtd_error *err)
{
	struct hwtdi_ptn_way way;
	uint32_t insns;
	int rc;

	for (;;) {
		bool cr3;

		if (ip != NULL && hwtdi_ptn_ip(d) == *ip)
			return (HWTD_OK);
		rc = resolve(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
		if (find_way_off(d, flow, ip, &way)) {
			hwtdi_ptn_go_way(d, flow, &way);
			if (way.has_ip)
				return (go_inside(d, flow, way.before, *ip,
				    err));
			hwtdi_ptn_emit(d, flow);
			return (HWTD_OK);
		}
		if (ip != NULL && hwtdi_ptn_before(d, d->node, *ip, &insns))
			return (go_inside(d, flow, insns, *ip, err));
		if (ip != NULL && stops_at(d, flow, *ip))
			continue;
		if (ip == NULL && leaves_filter(d, &insns))
			return (emit_part(d, flow, insns, err));
		if (hwtdi_ptn_needs_trace(node_at_hand(d))) {
			hwtdi_ptn_emit(d, flow);
			return (HWTD_OK);
		}
		cr3 = ip == NULL && is_mov_cr3(d, d->node);
		rc = advance(d, flow, err);
		if (rc != HWTD_OK || cr3)
			return (rc);
	}
}
