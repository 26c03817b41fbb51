/*
 * Code for OpenCSD, and its ranges as tokens.
 */
#include <string.h>

#include "decode/coresight/cs_decoder.h"

/* Instructions are at most as many bytes long. */
#define INSN_BYTES 4

/* Of T32: the five highest bits of the first halfword, where there are two. */
#define T32_WIDE 0x1d

void
hwtdi_cs_forget_code(struct hwtdi_decoder *d)
{
	d->span.length = 0;
	d->has_unit = false;
	d->epoch++;
}

uint64_t
hwtdi_cs_code_until(const struct hwtdi_decoder *d,
    const struct hwtd_exec_context *who, uint64_t off)
{
	const struct hwtdi_code_query query = {
		.context = who,
		.stream_off = off,
	};
	uint64_t until = UINT64_MAX, count;

	if (!d->code.fixed && d->code.until != NULL)
		d->code.until(d->code.arg, &query, &until, &count);
	return (until);
}

/* What waited since before more was fed is of code of before. */
void
hwtdi_cs_go_to(struct hwtdi_decoder *d, uint64_t off)
{
	if (off > d->off)
		d->off = off;
	if (d->off < d->rows_until)
		return;
	d->rows_until = hwtdi_cs_code_until(d, &d->context, d->off);
	hwtdi_cs_forget_code(d);
}

static int
find_span(const struct hwtdi_decoder *d, const struct hwtd_exec_context *who,
    uint64_t off, uint64_t address, struct hwtdi_code_span *out)
{
	const struct hwtdi_code_query query = {
		.context = who,
		.stream_off = off,
		.moments = { HWTD_NO_ID, 0, UINT64_MAX },
	};
	int rc;

	if (out->length != 0 && address - out->address < out->length)
		return (HWTD_OK);
	rc = d->code.find(d->code.arg, &query, address, out);
	if (rc != HWTD_OK)
		out->length = 0;
	return (rc);
}

/*
 * The library asks for four bytes of an instruction of T32 although it may have
 * two.  Where code ends with one of two, two more bytes follow that are no code:
 * nothing can begin at them, since of the next four bytes there are only two.
 */
static size_t
pad(const struct hwtdi_decoder *d, uint8_t *buf, size_t have, size_t n,
    uint64_t address)
{
	const size_t missing = 2;

	if ((d->queue.context.flags & HWTDI_CS_BITS64) != 0 || have < 2 ||
	    n - have < missing || (address + have) % 2 != 0 ||
	    buf[have - 1] >> 3 >= T32_WIDE)
		return (0);
	memset(buf + have, 0, missing);
	return (missing);
}

size_t
hwtdi_cs_read_code_at(void *arg, uint64_t address, uint8_t *buf, size_t n)
{
	struct hwtdi_decoder *d = arg;
	size_t have = 0;

	if (d->n_contexts != d->queue.n_contexts) {
		d->n_contexts = d->queue.n_contexts;
		hwtdi_cs_set_context(d, &d->front, &d->queue.context);
		d->front_span.length = 0;
	}
	while (have < n &&
	    find_span(d, &d->front, d->segment.stream_off + d->fed,
		address + have, &d->front_span) == HWTD_OK) {
		const uint64_t skip = address + have - d->front_span.address;
		const uint64_t left = d->front_span.length - skip;
		const size_t take = n - have < left ? n - have : (size_t)left;

		memcpy(buf + have, d->front_span.bytes + skip, take);
		have += take;
	}
	return (have + pad(d, buf, have, n, address));
}

int
hwtdi_cs_code_stayed(const struct hwtdi_decoder *d,
    const struct hwtdi_cs_element *e, bool *stayed_out)
{
	struct hwtdi_code_span then = { .length = 0 }, later = then;

	*stayed_out = e->value < d->rows_until;
	if (*stayed_out)
		return (HWTD_OK);
	for (uint64_t at = e->st; at < e->en;) {
		uint64_t n = e->en - at, a, b;
		int rc = find_span(d, &d->context, d->off, at, &then);

		if (rc == HWTD_OK)
			rc = find_span(d, &d->context, e->value, at, &later);
		if (rc != HWTD_OK)
			return (rc == HWTD_E_NOMEM ? rc : HWTD_OK);
		a = at - then.address;
		b = at - later.address;
		if (n > then.length - a)
			n = then.length - a;
		if (n > later.length - b)
			n = later.length - b;
		if (memcmp(then.bytes + a, later.bytes + b, (size_t)n) != 0)
			return (HWTD_OK);
		at += n;
	}
	*stayed_out = true;
	return (HWTD_OK);
}

uint32_t
hwtdi_cs_why_no_code(struct hwtdi_decoder *d, uint64_t address)
{
	struct hwtdi_code_span span = { .length = 0 };

	switch (find_span(d, &d->context, d->off, address, &span)) {
	case HWTD_END:
	case HWTD_E_STATE:
		return (HWTD_GAP_AMBIGUOUS_MAPPING);
	case HWTD_OK:
		/* There is an instruction, and the library was not given it. */
		if (span.length - (address - span.address) >= INSN_BYTES)
			return (HWTD_GAP_LIMIT);
		return (HWTD_GAP_NO_CODE);
	default:
		return (HWTD_GAP_NO_CODE);
	}
}

/* Rows of a unit's code have this address and section from now on. */
static int
set_place(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t unit,
    uint64_t address, uint32_t section, struct hwtd_error *err)
{
	const struct hwtdi_placement where = { .unit = unit,
		.section = section,
		.address = address };
	bool moved;
	int rc = hwtdi_places_set(d->library, &d->places, &d->cap_places, flow,
	    &where, &moved, err);

	/* Ranges that are remembered may have lain elsewhere. */
	d->epoch += moved;
	return (rc);
}

/* An instruction whose bytes are in two spans, as a node. */
static int
join(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t *node_out,
    struct hwtd_error *err)
{
	struct hwtdi_code_span next = { .length = 0 };
	const uint64_t left = d->span.address + d->span.length - d->left_ip;
	uint8_t bytes[INSN_BYTES];
	uint32_t unit;
	int rc;

	if (left >= INSN_BYTES ||
	    find_span(d, &d->context, d->off, d->span.address + d->span.length,
		&next) != HWTD_OK ||
	    next.length < INSN_BYTES - left)
		return (HWTD_E_NOT_FOUND);
	memcpy(bytes, d->span.bytes + (d->left_ip - d->span.address),
	    (size_t)left);
	memcpy(bytes + left, next.bytes, INSN_BYTES - (size_t)left);
	rc = hwtdi_graph_joint(d->graph, bytes, INSN_BYTES, d->left_isa,
	    d->left_ip, &unit, err);
	if (rc == HWTD_OK)
		rc = set_place(d, flow, unit, d->left_ip, d->span.section,
		    err);
	return (rc == HWTD_OK
		? hwtdi_graph_node(d->graph, unit, 0, node_out, err)
		: rc);
}

static int
find_unit(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	int rc;

	if (d->has_unit && d->unit_isa == d->left_isa)
		return (HWTD_OK);
	rc = hwtdi_graph_unit(d->graph, d->span.bytes, d->span.length,
	    d->left_isa, d->span.address, &d->unit, err);
	d->unit_isa = d->left_isa;
	d->has_unit = rc == HWTD_OK;
	return (rc);
}

/* The node at the next instruction.  HWTD_E_NOT_FOUND: there is no code. */
static int
find_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t *node_out,
    struct hwtd_error *err)
{
	const uint64_t before = d->span.address, length = d->span.length;
	uint64_t off;
	int rc;

	if (find_span(d, &d->context, d->off, d->left_ip, &d->span) != HWTD_OK)
		return (HWTD_E_NOT_FOUND);
	if (d->span.address != before || d->span.length != length)
		d->has_unit = false;
	rc = find_unit(d, err);
	if (rc != HWTD_OK)
		return (rc);
	off = d->left_ip - d->span.address;
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
	return (join(d, flow, node_out, err));
}

/* Put the first `n` instructions of a node. */
static int
put_part(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t node,
    struct hwtd_error *err)
{
	const struct hwtdi_code_block *b;
	const struct hwtdi_code_run *last;
	struct hwtdi_graph_view view;
	uint32_t token = node, n;
	uint64_t address;
	int rc = HWTD_OK;

	hwtdi_graph_see(d->graph, &view);
	/* Ranges do not follow jumps, also where one of them is in the middle. */
	n = hwtdi_graph_block(d->graph, node)->runs[0].insns;
	if (n > d->left)
		n = d->left;
	if (n < view.nodes[node].insns)
		rc = hwtdi_graph_part(d->graph, node, n, &token, err);
	if (rc != HWTD_OK)
		return (rc);
	b = hwtdi_graph_block(d->graph, token);
	last = &b->runs[b->n_runs - 1];
	address = d->places[b->unit].address;
	flow->tokens[flow->n_tokens++] = token;
	d->last_ip = address + hwtdi_run_last(last);
	d->has_last_ip = true;
	d->left -= n;
	d->left_ip = address + last->off + last->bytes;
	return (HWTD_OK);
}

/* Why there is no instruction where the library says that one is. */
static uint32_t
why_not_found(struct hwtdi_decoder *d)
{
	const struct hwtdi_code_span *s = &d->span;

	if (s->length == 0)
		return (hwtdi_cs_why_no_code(d, d->left_ip));
	/* Of the last one there is a part. */
	return (s->address + s->length - d->left_ip < INSN_BYTES
		? HWTD_GAP_NO_CODE
		: HWTD_GAP_BAD_CODE);
}

/* The last instruction of the range is a branch, if the library says so. */
static bool
ends_as_told(const struct hwtdi_decoder *d, uint32_t token)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(d->graph, token);

	return ((d->left_last != HWTDI_CS_LAST_BRANCH &&
		    d->left_last != HWTDI_CS_LAST_INDIRECT) ||
	    b->runs[b->n_runs - 1].branch != HWTD_BRANCH_NONE);
}

int
hwtdi_cs_put_range(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t *reason_out, struct hwtd_error *err)
{
	const uint64_t st = d->left_ip;
	const uint32_t n = d->left;
	uint32_t node = 0;
	size_t first = flow->n_tokens;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && d->left > 0 &&
	    flow->n_tokens < HWTDI_FLOW_TOKENS &&
	    flow->n_places + 2 <= HWTDI_FLOW_PLACES) {
		rc = find_node(d, flow, &node, err);
		if (rc == HWTD_OK)
			rc = put_part(d, flow, node, err);
	}
	if (rc == HWTD_E_NOT_FOUND) {
		*reason_out = why_not_found(d);
		return (HWTD_END);
	}
	if (rc != HWTD_OK || d->left > 0)
		return (rc);
	if (d->left_ip != d->left_end ||
	    !ends_as_told(d, flow->tokens[flow->n_tokens - 1])) {
		/* The library saw other code: not to be trusted. */
		*reason_out = HWTD_GAP_BAD_CODE;
		return (HWTD_END);
	}
	if (flow->n_tokens == first + 1) {
		*hwtdi_cs_range_at(d, st,
		    n) = (struct hwtdi_cs_range){ .st = st,
			.end = d->left_end,
			.last_ip = d->last_ip,
			.n = n,
			.token = flow->tokens[first],
			.epoch = d->epoch,
			.isa = d->left_isa,
			.last = d->left_last };
	}
	return (HWTD_OK);
}
