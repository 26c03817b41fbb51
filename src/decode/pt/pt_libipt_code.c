/*
 * The libipt engine: code bytes for libipt, and its blocks as tokens.
 */
#include <string.h>

#include "decode/code/x86_insn.h"
#include "decode/pt/pt_libipt_internal.h"

uint8_t
hwtdi_ipt_isa(enum pt_exec_mode mode)
{
	switch (mode) {
	case ptem_16bit:
		return (HWTD_ISA_X86_16);
	case ptem_32bit:
		return (HWTD_ISA_X86_32);
	case ptem_64bit:
		return (HWTD_ISA_X86_64);
	default:
		return (HWTD_ISA_UNKNOWN);
	}
}

static int
ask(struct hwtdi_decoder *d, uint64_t ip)
{
	const struct hwtdi_pt_asker asker = { .library = d->library,
		.code = &d->code,
		.choice = &d->choice,
		.at = d->here - d->sync_off,
		.try_out = hwtdi_ipt_try_out,
		.decoder = d };
	struct hwtdi_code_query query = {
		.context = &d->context,
		.stream_off = d->segment.stream_off + d->asked_off,
		.has_count = (d->asked_flags & HWTDI_ANCHOR_TIME) != 0,
		.count = d->asked_count,
		.moments = d->choice.moments,
		.chosen = d->choice.chosen,
		.n_chosen = d->choice.n_chosen,
	};

	d->has_unit = false;
	return (hwtdi_pt_find_code(&asker, &query, ip, &d->span));
}

bool
hwtdi_ipt_find_span(struct hwtdi_decoder *d, uint64_t ip)
{
	int rc;

	if (ip - d->span.address < d->span.length)
		return (true);
	rc = ask(d, ip);
	if (rc == HWTD_OK)
		return (true);
	d->span.length = 0;
	d->ambiguous = rc == HWTD_E_STATE;
	d->unread = rc == HWTD_E_UNSUPPORTED;
	d->missing = true;
	d->missing_ip = ip;
	return (false);
}

size_t
hwtdi_ipt_read_code(struct hwtdi_decoder *d, uint64_t ip, uint8_t *buf,
    size_t n)
{
	size_t have = 0;

	while (have < n && hwtdi_ipt_find_span(d, ip + have)) {
		uint64_t skip = ip + have - d->span.address;
		uint64_t left = d->span.length - skip;
		size_t take = n - have < left ? n - have : (size_t)left;

		memcpy(buf + have, d->span.bytes + skip, take);
		have += take;
	}
	return (have);
}

int
hwtdi_ipt_read_memory(uint8_t *buf, size_t n, const struct pt_asid *asid,
    uint64_t ip, void *context)
{
	struct hwtdi_decoder *d = context;
	uint64_t skip = ip - d->span.address;
	size_t have;

	(void)asid;
	d->read_ip = ip;
	d->missing = false;
	if (skip < d->span.length && d->span.length - skip >= n) {
		const uint8_t *bytes = d->span.bytes + skip;

		/* What libipt asks for most, without a call. */
		if (n == HWTDI_X86_MAX_LENGTH)
			memcpy(buf, bytes, HWTDI_X86_MAX_LENGTH);
		else
			memcpy(buf, bytes, n);
		return ((int)n);
	}
	have = hwtdi_ipt_read_code(d, ip, buf, n);
	return (have == 0 ? -pte_nomap : (int)have);
}

/* Blocks. */

/* Rows of a unit's code have this address and section from now on. */
static int
set_place(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t unit,
    uint64_t address, uint32_t section, struct hwtd_error *err)
{
	const struct hwtdi_placement where = { .unit = unit,
		.section = section,
		.address = address };

	return (hwtdi_places_set(d->library, &d->places, &d->cap_places, flow,
	    &where, NULL, err));
}

/* The instruction at `ip`, whose bytes are in several spans, as a node. */
static int
join(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip,
    uint32_t *node_out, struct hwtd_error *err)
{
	const uint8_t isa = hwtdi_ipt_isa(d->block.mode);
	const uint32_t section = d->span.section;
	uint8_t bytes[HWTDI_X86_MAX_LENGTH];
	struct hwtdi_x86_insn insn;
	uint32_t unit;
	size_t n;
	int rc;

	n = hwtdi_ipt_read_code(d, ip, bytes, sizeof(bytes));
	if (!hwtdi_x86_decode(bytes, n, isa, ip, &insn))
		return (HWTD_E_NOT_FOUND);
	rc = hwtdi_graph_joint(d->graph, bytes, insn.length, isa, ip, &unit,
	    err);
	if (rc == HWTD_OK)
		rc = set_place(d, flow, unit, ip, section, err);
	return (rc == HWTD_OK
		? hwtdi_graph_node(d->graph, unit, 0, node_out, err)
		: rc);
}

/* The unit of the span at hand, in the mode of the block. */
static int
find_unit(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	const uint8_t isa = hwtdi_ipt_isa(d->block.mode);
	int rc;

	if (d->has_unit && d->unit_isa == isa)
		return (HWTD_OK);
	rc = hwtdi_graph_unit(d->graph, d->span.bytes, d->span.length, isa,
	    d->span.address, &d->unit, err);
	d->unit_isa = isa;
	d->has_unit = rc == HWTD_OK;
	return (rc);
}

/* The node at `ip`.  HWTD_E_NOT_FOUND: there is no code. */
static int
find_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip,
    uint32_t *node_out, struct hwtd_error *err)
{
	uint64_t off;
	int rc;

	if (!hwtdi_ipt_find_span(d, ip))
		return (HWTD_E_NOT_FOUND);
	rc = find_unit(d, err);
	if (rc != HWTD_OK)
		return (rc);
	off = ip - d->span.address;
	if (off >= hwtdi_graph_unit_at(d->graph, d->unit)->length)
		return (HWTD_E_NOT_FOUND);
	rc = set_place(d, flow, d->unit, d->span.address, d->span.section,
	    err);
	if (rc == HWTD_OK)
		rc = hwtdi_graph_node(d->graph, d->unit, (uint32_t)off,
		    node_out, err);
	if (rc != HWTD_OK ||
	    hwtdi_graph_block(d->graph, *node_out)->n_runs > 0)
		return (rc);
	return (join(d, flow, ip, node_out, err));
}

static const struct hwtdi_code_run *
last_run(const struct hwtdi_code_block *b)
{
	return (&b->runs[b->n_runs - 1]);
}

/*
 * Pass the runs of a token by the loop rule.  *insns_out: instructions up to
 * where it holds; HWTD_END, HWTD_E_LIMIT: that is not all.
 */
static int
check_loop(struct hwtdi_decoder *d, uint32_t token, uint32_t *insns_out,
    struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(d->graph, token);
	const uint64_t address = d->places[b->unit].address;

	*insns_out = 0;
	for (uint32_t i = 0; i < b->n_runs; i++) {
		const struct hwtdi_code_run *r = &b->runs[i];
		const uint64_t last_ip = address + hwtdi_run_last(r);
		int rc = hwtdi_loop_step(&d->loop, last_ip, r->branch,
		    r->insns, err);

		if (rc != HWTD_OK)
			return (rc);
		*insns_out += r->insns;
		d->last_ip = last_ip;
		d->has_last_ip = true;
	}
	return (HWTD_OK);
}

/* The first `n` instructions of a node; the last may lack its outcome. */
static int
part_of(struct hwtdi_decoder *d, uint32_t node, uint32_t *n_inout,
    uint32_t *token_out, struct hwtd_error *err)
{
	const struct hwtdi_code_block *b;
	int rc;

	rc = hwtdi_graph_part(d->graph, node, *n_inout, token_out, err);
	if (rc != HWTD_OK || !d->unfinished || d->left != 0)
		return (rc);
	b = hwtdi_graph_block(d->graph, *token_out);
	if (!hwtdi_loop_needs_trace(last_run(b)->branch))
		return (HWTD_OK);
	d->left_ip = d->places[b->unit].address + b->end;
	return (--*n_inout == 0
		? HWTD_OK
		: hwtdi_graph_part(d->graph, node, *n_inout, token_out, err));
}

/* Put what the block at hand has of a node into the flow. */
static int
put_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t node,
    uint32_t *reason_out, struct hwtd_error *err)
{
	const struct hwtdi_code_block *b;
	struct hwtdi_graph_view view;
	uint32_t token = node, n, passed;
	int rc = HWTD_OK, looped;

	hwtdi_graph_see(d->graph, &view);
	n = view.nodes[node].insns;
	if (n > d->left)
		n = d->left;
	d->left -= n;
	if (n < view.nodes[node].insns || d->unfinished)
		rc = part_of(d, node, &n, &token, err);
	if (rc != HWTD_OK || n == 0)
		return (rc);
	looped = check_loop(d, token, &passed, err);
	if (looped == HWTD_E_NOMEM)
		return (looped);
	if (looped != HWTD_OK && passed > 0)
		rc = hwtdi_graph_part(d->graph, node, passed, &token, err);
	if (rc != HWTD_OK)
		return (rc);
	if (passed > 0)
		flow->tokens[flow->n_tokens++] = token;
	if (looped != HWTD_OK) {
		*reason_out = looped == HWTD_END ? HWTD_GAP_ENDLESS_LOOP
						 : HWTD_GAP_LIMIT;
		return (HWTD_END);
	}
	b = hwtdi_graph_block(d->graph, token);
	d->left_ip = d->places[b->unit].address +
	    (last_run(b)->branch == HWTD_BRANCH_JUMP ||
			last_run(b)->branch == HWTD_BRANCH_CALL
		    ? (uint64_t)b->target
		    : b->end);
	return (HWTD_OK);
}

int
hwtdi_ipt_put_block(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t *reason_out, struct hwtd_error *err)
{
	uint32_t node;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && d->left > 0 &&
	    flow->n_tokens < HWTDI_FLOW_TOKENS &&
	    flow->n_places + 2 <= HWTDI_FLOW_PLACES) {
		rc = find_node(d, flow, d->left_ip, &node, err);
		if (rc == HWTD_E_NOT_FOUND) {
			d->read_ip = d->left_ip;
			*reason_out = d->span.length == 0 ? HWTD_GAP_NO_CODE
							  : HWTD_GAP_BAD_CODE;
			return (HWTD_END);
		}
		if (rc == HWTD_OK)
			rc = put_node(d, flow, node, reason_out, err);
	}
	if (rc == HWTD_OK && d->left == 0 && !d->unfinished &&
	    d->last_ip != d->block.end_ip) {
		/* Another length than libipt's: not to be trusted. */
		d->read_ip = d->block.end_ip;
		*reason_out = HWTD_GAP_BAD_CODE;
		rc = HWTD_END;
	}
	return (rc);
}
