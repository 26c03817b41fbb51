/*
 * The native Intel PT engine: from addresses to nodes of the code graph.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_native.h"

/* The return stack. */

#define BY_ADDRESS UINT32_MAX

void
hwtdi_ptn_clear_calls(struct hwtdi_decoder *d)
{
	/* Below the newest that is not there, none is. */
	if (d->calls[d->top] != 0)
		memset(d->calls, 0, sizeof(d->calls));
	d->top = 0;
}

static uint64_t
address_of(const struct hwtdi_decoder *d, uint32_t unit, uint32_t off)
{
	return (d->places[unit].address + off);
}

bool
hwtdi_ptn_pop(struct hwtdi_decoder *d)
{
	const uint32_t call = d->calls[d->top];
	const struct hwtdi_push *push;

	if (call == 0)
		return (false);
	d->calls[d->top] = 0;
	if (call == BY_ADDRESS) {
		d->ip = d->call_ips[d->top];
		d->node = 0;
		/*
		 * A return in a narrower mode than the call cuts it off; in
		 * 16-bit code addresses hold the base of CS, too.
		 */
		if (d->isa != HWTD_ISA_X86_64)
			d->ip = (uint32_t)d->ip;
	} else {
		d->node = hwtdi_graph_returned(&d->view, call);
		push = hwtdi_graph_push(d->graph, call);
		d->ip = address_of(d, push->unit, push->off);
	}
	d->top = (d->top + HWTDI_PTN_CALLS - 1) % HWTDI_PTN_CALLS;
	return (true);
}

uint64_t
hwtdi_ptn_last_ip(const struct hwtdi_decoder *d)
{
	const struct hwtdi_code_block *b;

	if (d->last_token == 0)
		return (d->last_ip);
	b = hwtdi_graph_block(d->graph, d->last_token);
	return (address_of(d, b->unit,
	    hwtdi_run_last(&b->runs[b->n_runs - 1])));
}

/* Units may lie elsewhere from now on, or be others. */
static void
keep_addresses(struct hwtdi_decoder *d)
{
	uint32_t i = d->top;

	for (uint32_t n = 0; n < HWTDI_PTN_CALLS && d->calls[i] != 0;
	     n++, i = (i + HWTDI_PTN_CALLS - 1) % HWTDI_PTN_CALLS) {
		const struct hwtdi_push *push;

		if (d->calls[i] == BY_ADDRESS)
			continue;
		push = hwtdi_graph_push(d->graph, d->calls[i]);
		d->call_ips[i] = address_of(d, push->unit, push->off);
		d->calls[i] = BY_ADDRESS;
	}
	if (d->node != 0)
		hwtdi_ptn_go(d, hwtdi_ptn_ip(d));
	if (d->last_token != 0) {
		d->last_ip = hwtdi_ptn_last_ip(d);
		d->has_last_ip = true;
		d->last_token = 0;
	}
}

static void
forget_targets(struct hwtdi_decoder *d)
{
	if (++d->epoch == 0) {
		hwtdi_ptn_targets_clear(&d->targets);
		hwtdi_ptn_memo_forget(&d->memo);
		hwtdi_ptn_runs_forget(d->runs);
		d->epoch = 1;
	}
}

void
hwtdi_ptn_forget_code(struct hwtdi_decoder *d)
{
	keep_addresses(d);
	forget_targets(d);
	d->n_spans = 0;
	d->next_span = 0;
}

uint64_t
hwtdi_ptn_ip(const struct hwtdi_decoder *d)
{
	const struct hwtdi_code_block *b;

	if (d->node == 0)
		return (d->ip);
	b = hwtdi_graph_block(d->graph, d->node);
	return (address_of(d, b->unit, b->off));
}

void
hwtdi_ptn_go(struct hwtdi_decoder *d, uint64_t ip)
{
	d->node = 0;
	d->ip = ip;
	d->stale = false;
}

/* Spans. */

static void
query_here(struct hwtdi_decoder *d, struct hwtdi_code_query *out)
{
	memset(out, 0, sizeof(*out));
	out->context = &d->context;
	out->stream_off = d->segment.stream_off + d->at;
	out->moments = d->choice.moments;
	out->chosen = d->choice.chosen;
	out->n_chosen = d->choice.n_chosen;
	out->has_count = d->has_count;
	out->count = d->count;
}

static int
ask(struct hwtdi_decoder *d, uint64_t ip, struct hwtdi_code_span *span)
{
	const struct hwtdi_pt_asker asker = { .library = d->library,
		.code = &d->code,
		.choice = &d->choice,
		.at = d->at,
		.try_out = hwtdi_ptn_try_out,
		.decoder = d };
	struct hwtdi_code_query query;
	int rc;

	query_here(d, &query);
	rc = hwtdi_pt_find_code(&asker, &query, ip, span);
	/* Then what is found narrows down what else can be found. */
	if (rc == HWTD_OK)
		d->narrowed = span->moments.since != 0 ||
		    span->moments.until != UINT64_MAX;
	return (rc);
}

/* The span around `ip`, and its unit if that is known.  NULL: no code. */
static struct hwtdi_code_span *
find_span(struct hwtdi_decoder *d, uint64_t ip, uint32_t **unit_out)
{
	struct hwtdi_code_span span;
	uint32_t i;
	int rc;

	for (i = 0; i < d->n_spans && !d->narrowed; i++)
		if (ip - d->spans[i].address < d->spans[i].length) {
			*unit_out = &d->span_units[i];
			return (&d->spans[i]);
		}
	if (d->narrowed) {
		d->n_spans = 0;
		d->next_span = 0;
	}
	rc = ask(d, ip, &span);
	if (rc != HWTD_OK) {
		d->ambiguous = rc == HWTD_E_STATE;
		d->unread = rc == HWTD_E_UNSUPPORTED;
		d->missing = true;
		d->missing_ip = ip;
		return (NULL);
	}
	i = d->next_span;
	d->next_span = (i + 1) % HWTDI_PTN_SPANS;
	if (d->n_spans < HWTDI_PTN_SPANS)
		d->n_spans++;
	d->spans[i] = span;
	d->span_units[i] = UINT32_MAX;
	*unit_out = &d->span_units[i];
	return (&d->spans[i]);
}

bool
hwtdi_ptn_has_code(struct hwtdi_decoder *d, uint64_t ip)
{
	struct hwtdi_code_query query;
	struct hwtdi_code_span span;
	int rc;

	for (uint32_t i = 0; i < d->n_spans; i++)
		if (ip - d->spans[i].address < d->spans[i].length)
			return (true);
	query_here(d, &query);
	query.moments.space = HWTD_NO_ID;
	rc = d->code.find(d->code.arg, &query, ip, &span);
	return (rc == HWTD_OK || rc == HWTD_END);
}

/* Rows of a unit's code have this address and section from now on. */
static int
set_place(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t unit,
    uint64_t address, uint32_t section, struct hwtd_error *err)
{
	struct hwtdi_unit_place *place;
	int rc;

	rc = hwtdi_places_reserve(d->library, &d->places, &d->cap_places, unit,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	place = &d->places[unit];
	if (hwtdi_place_is(place, address, section))
		return (HWTD_OK);
	if (place->known && place->address != address) {
		uint64_t ip = d->ip;

		/* Targets and calls of the unit where it was. */
		keep_addresses(d);
		forget_targets(d);
		hwtdi_ptn_go(d, ip);
	}
	hwtdi_tell_place(flow, place, unit, address, section);
	return (HWTD_OK);
}

static void
remember(struct hwtdi_decoder *d, uint64_t ip, uint32_t node)
{
	const struct hwtdi_ptn_target t = { ip, node, d->epoch };

	hwtdi_ptn_targets_put(&d->targets, d->library, &t);
}

static int
make_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const uint64_t ip = d->ip;
	struct hwtdi_code_span *span;
	uint32_t *unit, node;
	int rc = HWTD_OK;

	span = find_span(d, ip, &unit);
	if (d->narrowed) {
		keep_addresses(d);
		forget_targets(d);
		hwtdi_ptn_go(d, ip);
	}
	if (span == NULL)
		return (HWTD_E_NOT_FOUND);
	if (*unit == UINT32_MAX)
		rc = hwtdi_graph_unit(d->graph, span->bytes, span->length,
		    d->isa, span->address, unit, err);
	if (rc == HWTD_OK &&
	    ip - span->address >= hwtdi_graph_unit_at(d->graph, *unit)->length)
		return (HWTD_E_NOT_FOUND);
	if (rc == HWTD_OK)
		rc = set_place(d, flow, *unit, span->address, span->section,
		    err);
	if (rc == HWTD_OK)
		rc = hwtdi_graph_node(d->graph, *unit,
		    (uint32_t)(ip - span->address), &node, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_graph_see(d->graph, &d->view);
	d->node = node;
	if (d->narrowed)
		return (HWTD_OK);
	remember(d, ip, node);
	return (HWTD_OK);
}

/*
 * The node of before is that at `ip` still: the code is the same everywhere, and
 * its unit lies where it lay.
 */
static bool
is_still(const struct hwtdi_decoder *d, const struct hwtdi_ptn_target *t,
    uint64_t ip)
{
	const struct hwtdi_unit_place *place;
	const struct hwtdi_code_block *b;

	if (!d->code.fixed || t->ip != ip || t->node == 0)
		return (false);
	b = hwtdi_graph_block(d->graph, t->node);
	place = &d->places[b->unit];
	return (place->address == t->ip - b->off &&
	    hwtdi_graph_unit_at(d->graph, b->unit)->isa == d->isa);
}

uint32_t
hwtdi_ptn_known_node(const struct hwtdi_decoder *d, uint64_t ip)
{
	const struct hwtdi_ptn_target *t = hwtdi_ptn_targets_slot(&d->targets,
	    ip);

	if (t->ip == ip && t->epoch == d->epoch)
		return (t->node);
	/* Where its unit lies has to be told already. */
	return (is_still(d, t, ip) &&
		    d->places[hwtdi_graph_block(d->graph, t->node)->unit].known
		? t->node
		: 0);
}

int
hwtdi_ptn_find_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const struct hwtdi_ptn_target *t = hwtdi_ptn_targets_slot(&d->targets,
	    d->ip);
	uint32_t unit;
	int rc;

	if (t->ip == d->ip && t->epoch == d->epoch) {
		d->node = t->node;
		return (HWTD_OK);
	}
	if (!is_still(d, t, d->ip))
		return (make_node(d, flow, err));
	unit = hwtdi_graph_block(d->graph, t->node)->unit;
	rc = set_place(d, flow, unit, d->places[unit].address,
	    d->places[unit].section, err);
	if (rc != HWTD_OK)
		return (rc);
	/* Which may have begun another epoch. */
	d->node = t->node;
	remember(d, t->ip, t->node);
	return (HWTD_OK);
}

int
hwtdi_ptn_link(struct hwtdi_decoder *d, unsigned int taken,
    struct hwtd_error *err)
{
	const struct hwtdi_code_block *b = hwtdi_graph_block(d->graph,
	    d->node);
	const uint8_t kind = d->view.nodes[d->node].kind;
	uint32_t next = atomic_load_explicit(
	    &d->view.nodes[d->node].next[taken], memory_order_acquire);
	int64_t target;
	int rc = HWTD_OK;

	if (d->stale)
		next = 0;
	else if (next == 0 && kind != HWTDI_NODE_AWAY) {
		rc = hwtdi_graph_link(d->graph, d->node, taken, &next, err);
		hwtdi_graph_see(d->graph, &d->view);
	}
	if (rc != HWTD_OK)
		return (rc);
	if (next == 0) {
		target = taken != 0 || kind == HWTDI_NODE_ON ||
			kind == HWTDI_NODE_AWAY
		    ? b->target
		    : (int64_t)b->end;
		hwtdi_ptn_go(d, d->places[b->unit].address + (uint64_t)target);
	} else
		d->node = next;
	return (HWTD_OK);
}

/* Code that changes while it is traced. */

/*
 * Ask for the time at a byte.  HWTD_OK, HWTD_E_NOT_FOUND: none is known yet;
 * HWTD_E_NOMEM.
 */
static int
time_at(struct hwtdi_decoder *d, uint64_t off)
{
	if (!d->code_timed) {
		const struct hwtdi_pt_stretch s = { .bytes = d->segment.bytes,
			.n = d->segment.n,
			.tail = d->segment.tail,
			.stream_off = d->segment.stream_off };

		d->code_timed = true;
		hwtdi_pt_time_start(&d->code_time, &s, true);
	}
	return (hwtdi_pt_time_pass(&d->code_time, off));
}

/*
 * The first byte behind `off` at which the count is told, or a first count; or
 * `limit`, behind which time is not looked at: it is asked for there, and does not
 * go back.
 */
static int
byte_of_count(struct hwtdi_decoder *d, uint64_t off, uint64_t count,
    uint64_t limit, uint64_t *out)
{
	const struct hwtdi_pt_time *time = &d->code_time;
	const uint64_t last = d->segment.stream_off + d->segment.n;
	const uint64_t end = limit < last ? limit : last;
	int rc;

	for (off++; off < end;) {
		const struct hwtdi_pt_moment *next;

		rc = time_at(d, off);
		if (rc == HWTD_E_NOMEM)
			return (rc);
		if (rc == HWTD_OK && hwtdi_pt_time_told(time, off) >= count)
			break;
		next = hwtdi_pt_time_next(time);
		if (rc == HWTD_OK &&
		    off == hwtdi_pt_time_now(time)->stream_off)
			off++;
		else
			off = next != NULL ? next->stream_off : end;
	}
	*out = off;
	return (HWTD_OK);
}

/* Find out what time it is for code, and until where that and code hold. */
static int
find_horizon(struct hwtdi_decoder *d)
{
	const uint64_t off = d->segment.stream_off + d->at;
	uint64_t until_off, until_count, byte;
	struct hwtdi_code_query query;
	int rc;

	d->has_count = false;
	if (d->timed) {
		rc = time_at(d, off);
		if (rc == HWTD_E_NOMEM)
			return (rc);
		d->has_count = rc == HWTD_OK;
		if (d->has_count)
			d->count = hwtdi_pt_time_told(&d->code_time, off);
	}
	query_here(d, &query);
	d->code.until(d->code.arg, &query, &until_off, &until_count);
	if (d->timed && (!d->has_count || until_count != UINT64_MAX)) {
		rc = byte_of_count(d, off, d->has_count ? until_count : 0,
		    until_off, &byte);
		if (rc != HWTD_OK)
			return (rc);
		if (byte < until_off)
			until_off = byte;
	}
	if (until_off - d->segment.stream_off < SIZE_MAX)
		d->recheck_at = (size_t)(until_off - d->segment.stream_off);
	if (d->recheck_at <= d->at)
		d->recheck_at = d->at + 1;
	return (HWTD_OK);
}

/*
 * What is executed from one packet to the next lies where it lay at the first of
 * them; so the node at hand stays, whatever lies there now.
 */
static int
keep_node(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t node,
    struct hwtd_error *err)
{
	int rc;

	if (node == 0 || !d->on)
		return (HWTD_OK);
	rc = hwtdi_ptn_find_node(d, flow, err);
	if (d->node == node)
		return (HWTD_OK);
	d->node = node;
	d->stale = true;
	return (rc == HWTD_E_NOMEM ? rc : HWTD_OK);
}

int
hwtdi_ptn_recheck(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const bool first = d->recheck_at == 0;
	uint32_t node;
	int rc;

	d->recheck_at = SIZE_MAX;
	if (d->code.fixed)
		return (HWTD_OK);
	if (!hwtdi_ptn_has_room(flow)) {
		d->recheck_at = d->at;
		return (HWTD_AGAIN);
	}
	if (!first && d->on && d->node == 0 && !d->half &&
	    hwtdi_ptn_find_node(d, flow, err) == HWTD_E_NOMEM)
		return (HWTD_E_NOMEM);
	node = d->half ? 0 : d->node;
	hwtdi_ptn_forget_code(d);
	rc = find_horizon(d);
	return (rc != HWTD_OK ? rc : keep_node(d, flow, node, err));
}

/* Instructions in several spans. */

/* With more bytes behind them the first `n` could be an instruction. */
static bool
may_go_on(const uint8_t *bytes, size_t n, uint8_t isa)
{
	/* What can follow an opcode: registers, or memory. */
	static const uint8_t more[] = { 0xc0, 0x00, 0xc8, 0x08 };
	uint8_t longer[HWTDI_X86_MAX_LENGTH];
	struct hwtdi_x86_insn insn;

	memcpy(longer, bytes, n);
	for (size_t i = 0; i < sizeof(more) && n < sizeof(longer); i++) {
		memset(longer + n, more[i], sizeof(longer) - n);
		if (hwtdi_x86_decode(longer, sizeof(longer), isa, 0, &insn))
			return (true);
	}
	return (false);
}

int
hwtdi_ptn_join(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	uint8_t bytes[HWTDI_X86_MAX_LENGTH];
	struct hwtdi_x86_insn insn;
	struct hwtdi_code_span *span;
	uint32_t *unit, joint, section = 0;
	const uint64_t ip = d->ip;
	size_t n = 0;
	int rc;

	while (n < sizeof(bytes)) {
		uint64_t skip, take;

		span = find_span(d, ip + n, &unit);
		if (span == NULL)
			break;
		if (n == 0)
			section = span->section;
		skip = ip + n - span->address;
		take = span->length - skip;
		if (take > sizeof(bytes) - n)
			take = sizeof(bytes) - n;
		memcpy(bytes + n, span->bytes + skip, (size_t)take);
		n += (size_t)take;
	}
	if (!hwtdi_x86_decode(bytes, n, d->isa, ip, &insn))
		return (may_go_on(bytes, n, d->isa) ? HWTD_E_NOT_FOUND
						    : HWTD_END);
	rc = hwtdi_graph_joint(d->graph, bytes, insn.length, d->isa, ip,
	    &joint, err);
	if (rc == HWTD_OK)
		rc = set_place(d, flow, joint, ip, section, err);
	if (rc == HWTD_OK)
		rc = hwtdi_graph_node(d->graph, joint, 0, &d->node, err);
	hwtdi_graph_see(d->graph, &d->view);
	return (rc);
}
