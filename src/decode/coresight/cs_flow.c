/*
 * Elements of CoreSight sources as tokens, rare events and anchors.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "decode/coresight/cs_decoder.h"
#include "decode/coresight/cs_skim.h"
#include "decode/coresight/cs_guard.h"

/* The flow stands at the packet of the element at hand. */
static void
put_anchor(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	struct hwtdi_anchor *a;

	if (d->anchored && d->off <= d->anchor_off)
		return;
	d->anchored = true;
	d->anchor_off = d->off;
	a = &flow->anchors[flow->n_anchors++];
	a->at = (uint32_t)flow->n_tokens;
	a->flags = 0;
	a->stream_off = d->off;
	a->count = 0;
}

/* The flow stands at a time. */
static void
put_time(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t stamp,
    uint32_t flags)
{
	struct hwtdi_anchor *a;

	if (!d->timed || stamp == 0)
		return;
	a = &flow->anchors[flow->n_anchors++];
	a->at = (uint32_t)flow->n_tokens;
	a->flags = HWTDI_ANCHOR_TIME | flags;
	a->stream_off = d->off;
	a->count = stamp;
}

static struct hwtdi_rare *
put_rare(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint8_t kind)
{
	return (hwtdi_rare_put(flow, kind, d->off));
}

/* Gaps. */

void
hwtdi_cs_begin_gap(struct hwtdi_decoder *d, uint32_t reason, uint64_t first,
    const char *text)
{
	struct hwtd_gap *gap = &d->gap;

	/* The first reason is the cause of those that follow. */
	if (d->in_gap)
		return;
	/* What is in one gap is not in the next. */
	if (first < gap->end)
		first = gap->end;
	memset(gap, 0, sizeof(*gap));
	gap->reason = reason;
	gap->first = first;
	gap->end = first;
	if (d->has_last_ip) {
		gap->ip_before = d->last_ip;
		gap->flags |= HWTD_GAPF_IP_BEFORE;
	}
	(void)snprintf(gap->text, sizeof(gap->text), "%s", text);
	d->in_gap = true;
	d->on = false;
}

static void
put_gap(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t end)
{
	struct hwtdi_rare *rare;

	if (!d->in_gap)
		return;
	d->in_gap = false;
	d->has_last_ip = false;
	d->gap.end = end > d->gap.first ? end : d->gap.first;
	rare = put_rare(d, flow, HWTD_EV_GAP);
	rare->row.stream_off = d->gap.first;
	rare->detail.gap = d->gap;
}

static bool
is_of_code(const struct hwtd_gap *gap)
{
	return (gap->reason == HWTD_GAP_NO_CODE ||
	    gap->reason == HWTD_GAP_AMBIGUOUS_MAPPING ||
	    gap->reason == HWTD_GAP_BAD_CODE ||
	    (gap->reason == HWTD_GAP_LIMIT &&
		(gap->flags & HWTD_GAPF_ADDR) != 0));
}

/* Offset of the first synchronisation from a byte on, or of the element. */
static uint64_t
find_sync(const struct hwtdi_decoder *d, uint64_t from)
{
	const uint64_t base = d->segment.stream_off;

	return (base +
	    hwtdi_cs_find_sync(d->config.protocol, d->segment.bytes,
		(size_t)(d->off - base), (size_t)(from - base)));
}

/*
 * Packets from a byte on gave no element up to now.  The library passes over those
 * that cannot be, while it waits for what it needs to begin: up to the next
 * synchronisation all is lost with them.
 */
static int
put_passed_over(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t from, struct hwtd_error *err)
{
	const uint64_t base = d->segment.stream_off;
	int rc;

	if (d->tree == NULL || from >= d->off)
		return (HWTD_OK);
	/* A synchronisation there is to be seen, too. */
	rc = hwtdi_cs_tail_look(&d->tail, base, d->segment.bytes,
	    (size_t)(d->off - base), (size_t)(from - base) + 1, err);
	if (rc != HWTD_OK || !d->tail.bad)
		return (rc);
	hwtdi_cs_begin_gap(d, HWTD_GAP_BAD_PACKET, d->tail.bad_off,
	    "a packet that cannot be");
	put_gap(d, flow, find_sync(d, d->tail.last_bad_off));
	return (HWTD_OK);
}

/* The gap ends: bytes before the next synchronisation gave nothing. */
static int
end_gap(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	uint64_t end;

	if (!d->in_gap)
		return (HWTD_OK);
	/* Code, or a stream that is not decoded at all. */
	if (is_of_code(&d->gap) ||
	    (d->gap.reason == HWTD_GAP_UNSUPPORTED && d->tree == NULL)) {
		put_gap(d, flow, d->off);
		return (HWTD_OK);
	}
	/* Of the stream nothing is lost. */
	end = d->gap.reason == HWTD_GAP_OVERFLOW ? d->gap.first
						 : find_sync(d, d->gap.first);
	if (d->gap.reason == HWTD_GAP_UNSYNCED && end == d->gap.first)
		d->in_gap = false;
	put_gap(d, flow, end);
	return (put_passed_over(d, flow, end, err));
}

/* What an element that executes code says of those before. */

/* Tracing is on at an address, if it was not before. */
static void
put_on(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip)
{
	struct hwtdi_rare *rare;

	if (d->on)
		return;
	rare = put_rare(d, flow, HWTD_EV_ENABLE);
	hwtdi_rare_set_ip(rare, ip);
	/* Where no packet says that tracing went on, it had been on. */
	rare->row.flags |= d->to_enable ? 0 : HWTD_EVF_STATUS;
	if (d->has_off_ip && d->off_ip == ip)
		rare->row.flags |= HWTD_EVF_RESUMED;
	d->has_off_ip = false;
	d->on = true;
	d->to_enable = false;
}

static void
put_exception(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const uint64_t *target)
{
	const struct hwtdi_cs_element *e = &d->exception;
	struct hwtdi_rare *rare;
	struct hwtd_async *async;

	if (!d->has_exception)
		return;
	d->has_exception = false;
	/* It came before any instruction, where tracing had gone on. */
	if (d->to_enable && (e->flags & HWTDI_CS_HAS_RETURN) != 0)
		put_on(d, flow, e->en);
	rare = put_rare(d, flow, HWTD_EV_ASYNC);
	rare->has_detail = true;
	async = &rare->detail.async;
	async->type = hwtdi_cs_exception_type(&d->config, e->n);
	async->number = e->n;
	async->flags = HWTD_ASYNCF_NUMBER;
	if ((e->flags & HWTDI_CS_HAS_RETURN) != 0) {
		async->return_addr = e->en;
		async->flags |= HWTD_ASYNCF_RETURN_ADDR;
		hwtdi_rare_set_ip(rare, e->en);
	}
	/* A call was done by an instruction, the others came before one. */
	d->has_off_ip = target == NULL &&
	    (e->flags & HWTDI_CS_HAS_RETURN) != 0;
	d->off_ip = e->en;
	d->off_by_call = async->type == HWTD_ASYNC_SYSTEM_CALL;
	if (target != NULL)
		hwtdi_rare_set_target(rare, *target);
}

/* Execution is at an address. */
static int
arrive(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t ip,
    struct hwtd_error *err)
{
	const int rc = end_gap(d, flow, err);

	put_exception(d, flow, &ip);
	put_on(d, flow, ip);
	return (rc);
}

static int
put_code(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, uint64_t stamp, struct hwtd_error *err)
{
	const uint64_t bytes = e->en - e->st;
	int rc = arrive(d, flow, e->st, err);
	bool stayed;

	put_time(d, flow, stamp, 0);
	if (e->en <= e->st || e->n == 0 || e->n > HWTDI_CS_RANGE_MAX ||
	    bytes < (uint64_t)e->n * 2 || bytes > (uint64_t)e->n * 4) {
		hwtdi_cs_begin_gap(d, HWTD_GAP_BAD_FLOW, e->off,
		    "a range of code that cannot be");
		return (rc);
	}
	if (hwtdi_cs_code_stayed(d, e, &stayed) != HWTD_OK)
		return (hwtdi_fail_nomem(err, sizeof(struct hwtdi_code_span)));
	if (!stayed) {
		hwtdi_cs_begin_gap(d, HWTD_GAP_BAD_FLOW, e->off,
		    "code changed before this was committed");
		d->gap.addr = e->st;
		d->gap.flags |= HWTD_GAPF_ADDR;
		return (rc);
	}
	d->left = e->n;
	d->left_isa = e->isa;
	d->left_last = e->last;
	d->left_ip = e->st;
	d->left_end = e->en;
	return (rc);
}

static int
put_no_path(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, struct hwtd_error *err)
{
	const int rc = arrive(d, flow, e->st, err);
	struct hwtdi_rare *rare;

	rare = put_rare(d, flow, HWTD_EV_BLOCK);
	rare->row.branch = HWTD_BRANCH_NO_PATH;
	rare->row.insns = e->n;
	rare->row.flags |= (uint16_t)(e->isa << HWTD_EVF_ISA_SHIFT);
	hwtdi_rare_set_ip(rare, e->st);
	hwtdi_rare_set_target(rare, e->en);
	return (rc);
}

static int
put_no_access(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, struct hwtd_error *err)
{
	const uint32_t reason = hwtdi_cs_why_no_code(d, e->st);
	int rc;

	/* Code ended before, in an instruction that the library has read. */
	if (d->in_gap && d->gap.reason == HWTD_GAP_NO_CODE &&
	    d->gap.first == d->off)
		return (HWTD_OK);
	rc = arrive(d, flow, e->st, err);
	hwtdi_cs_begin_gap(d, reason, e->off,
	    reason == HWTD_GAP_NO_CODE	   ? "no code at the address"
		: reason == HWTD_GAP_LIMIT ? "too much code without a packet"
					   : "several images could lie there");
	d->gap.addr = e->st;
	d->gap.flags |= HWTD_GAPF_ADDR;
	return (rc);
}

/* Of STM the library gives up with packets alone. */
static void
put_given_up(struct hwtdi_decoder *d, const struct hwtdi_cs_element *e)
{
	d->begun_off = e->value;
	if (d->config.protocol == HWTD_CS_STM)
		hwtdi_cs_begin_gap(d, HWTD_GAP_BAD_PACKET, e->off,
		    "a packet that cannot be");
	else
		hwtdi_cs_begin_gap(d, HWTD_GAP_ENGINE, e->off,
		    "OpenCSD gives up");
}

/* The library tells of a packet that cannot be with the one behind it. */
static int
put_bad_packet(struct hwtdi_decoder *d, const struct hwtdi_cs_element *e,
    struct hwtd_error *err)
{
	const struct hwtdi_segment *s = &d->segment;
	uint64_t first = e->off;
	int rc;

	if (d->tree != NULL && !d->in_gap && e->off >= s->stream_off &&
	    e->off - s->stream_off <= s->n) {
		rc = hwtdi_cs_tail_look(&d->tail, s->stream_off, s->bytes,
		    (size_t)(e->off - s->stream_off),
		    (size_t)(e->off - s->stream_off), err);
		if (rc != HWTD_OK)
			return (rc);
		if (d->tail.bad)
			first = d->tail.bad_off;
	}
	hwtdi_cs_begin_gap(d, HWTD_GAP_BAD_PACKET, first,
	    "a packet that cannot be");
	return (HWTD_OK);
}

static int
put_no_sync(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	put_exception(d, flow, NULL);
	if (e->n != HWTDI_CS_WHY_NOTHING) {
		/* What was decoded before it made no row. */
		if (d->in_gap && !is_of_code(&d->gap) &&
		    find_sync(d, d->gap.first) < d->off)
			rc = end_gap(d, flow, err);
		/* Rows that were not held back may be behind what waited. */
		hwtdi_cs_begin_gap(d, hwtdi_cs_why_reason(e->n), d->off,
		    hwtdi_cs_why_text(e->n));
		return (rc);
	}
	switch (e->reason) {
	case HWTDI_CS_UNSYNCED_OVERFLOW:
		hwtdi_cs_begin_gap(d, HWTD_GAP_OVERFLOW, e->off,
		    "the trace unit dropped data");
		break;
	case HWTDI_CS_UNSYNCED_DISCARD:
		hwtdi_cs_begin_gap(d, HWTD_GAP_TRUNCATED, e->off,
		    "the trace unit discarded what it had not committed");
		break;
	case HWTDI_CS_UNSYNCED_BAD_PACKET:
		return (put_bad_packet(d, e, err));
	case HWTDI_CS_UNSYNCED_LAST_BAD:
		hwtdi_cs_begin_gap(d, HWTD_GAP_BAD_PACKET, e->off,
		    "a packet that cannot be");
		break;
	case HWTDI_CS_UNSYNCED_BAD_IMAGE:
		hwtdi_cs_begin_gap(d, HWTD_GAP_BAD_FLOW, e->off,
		    "the code does not fit the trace");
		break;
	case HWTDI_CS_UNSYNCED_END:
		/* Without elements the packets before it were none, but right. */
		if (d->in_gap && !is_of_code(&d->gap) &&
		    find_sync(d, d->gap.first) < d->off)
			rc = end_gap(d, flow, err);
		hwtdi_cs_begin_gap(d, HWTD_GAP_TRUNCATED, e->off,
		    "the last packet is cut off");
		break;
	case HWTDI_CS_UNSYNCED_GIVEN_UP:
		put_given_up(d, e);
		break;
	case HWTDI_CS_UNSYNCED_START:
	case HWTDI_CS_UNSYNCED_RESET:
		/* Where the library was when it noticed is not where it began. */
		hwtdi_cs_begin_gap(d, HWTD_GAP_UNSYNCED, d->begun_off,
		    "no synchronisation before");
		break;
	default:
		hwtdi_cs_begin_gap(d, HWTD_GAP_UNSYNCED, e->off,
		    "no synchronisation before");
		break;
	}
	return (rc);
}

/* Tracing went off, for instance with an exception. */
static void
put_off(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	struct hwtdi_rare *rare;

	if (!d->on)
		return;
	d->on = false;
	rare = put_rare(d, flow, HWTD_EV_DISABLE);
	if (!d->has_off_ip || d->off_by_call)
		return;
	hwtdi_rare_set_ip(rare, d->off_ip);
	rare->row.flags |= HWTD_EVF_ASYNC;
}

/*
 * Between an exception and a Trace On packet is where it returns to, and where its
 * handler is if that is not traced: of the second the library says nothing.
 */
static int
find_handler(struct hwtdi_decoder *d, const struct hwtdi_cs_element *e,
    bool *found_out, uint64_t *address_out, struct hwtd_error *err)
{
	const struct hwtdi_segment *s = &d->segment;
	const uint64_t from = d->exception.off - s->stream_off;
	const uint64_t end = e->off - s->stream_off;
	uint64_t at;
	size_t length;
	int rc;

	*found_out = false;
	if (!d->has_exception || d->in_gap ||
	    (d->exception.flags & HWTDI_CS_HAS_RETURN) == 0 ||
	    (d->config.protocol != HWTD_CS_ETMV4 &&
		d->config.protocol != HWTD_CS_ETE) ||
	    end > s->n || from + 2 >= end)
		return (HWTD_OK);
	/* Mostly there is no more than the first: that is soon seen. */
	at = from + 2 + (s->bytes[from + 1] >> 7);
	if (at < end)
		at += hwtdi_cs_skim_address(s->bytes + at, (size_t)(end - at));
	if (at >= end)
		return (HWTD_OK);
	/* Behind the address of the return it is mostly told in all bits. */
	length = hwtdi_cs_skim_long_address(s->bytes + at, (size_t)(end - at),
	    d->exception.en, address_out);
	if (length != 0 && at + length == end) {
		*found_out = true;
		return (HWTD_OK);
	}
	rc = hwtdi_cs_tail_addresses(&d->tail, s->stream_off, s->bytes,
	    (size_t)end, (size_t)from, err);
	*found_out = rc == HWTD_OK && d->tail.n_addresses > 1;
	*address_out = d->tail.address;
	return (rc);
}

static int
put_trace_on(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, struct hwtd_error *err)
{
	uint64_t handler = 0;
	bool found;
	int rc;

	rc = find_handler(d, e, &found, &handler, err);
	if (rc != HWTD_OK)
		return (rc);
	put_exception(d, flow, found ? &handler : NULL);
	/* No code of it is executed. */
	d->has_off_ip = d->has_off_ip || found;
	if (e->reason == HWTDI_CS_ON_OVERFLOW && !d->in_gap)
		hwtdi_cs_begin_gap(d, HWTD_GAP_OVERFLOW, e->off,
		    "the trace unit dropped data");
	rc = end_gap(d, flow, err);
	put_off(d, flow);
	d->to_enable = true;
	d->has_last_ip = false;
	return (rc);
}

/* Everything else. */

/*
 * A kernel at EL2 has its ids in CONTEXTIDR_EL2, which is traced as a VMID then.
 * Source: Arm IHI 0064, TRCCONFIGR.VMIDOPT.
 */
#define CONFIGR_VMIDOPT 0x8000u

void
hwtdi_cs_set_context(const struct hwtdi_decoder *d,
    struct hwtd_exec_context *out, const struct hwtdi_cs_element *told)
{
	*out = d->base;
	out->security = told->security;
	out->flags |= HWTD_CTXF_SECURITY;
	if ((told->flags & HWTDI_CS_HAS_LEVEL) != 0) {
		out->level = told->level;
		out->flags |= HWTD_CTXF_LEVEL;
	}
	if ((told->flags & HWTDI_CS_HAS_CONTEXT_ID) != 0) {
		out->contextidr = told->context_id;
		out->flags |= HWTD_CTXF_CONTEXTIDR;
	}
	if ((told->flags & HWTDI_CS_HAS_VMID) == 0)
		return;
	if ((d->config.configr & CONFIGR_VMIDOPT) != 0) {
		out->contextidr = told->vmid;
		out->flags |= HWTD_CTXF_CONTEXTIDR;
	} else {
		out->vmid = told->vmid;
		out->flags |= HWTD_CTXF_VMID;
	}
}

static void
put_context(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e)
{
	struct hwtd_exec_context now;
	struct hwtdi_rare *rare;

	hwtdi_cs_set_context(d, &now, e);
	if (memcmp(&now, &d->context, sizeof(now)) == 0)
		return;
	d->context = now;
	hwtdi_cs_forget_code(d);
	rare = put_rare(d, flow, HWTD_EV_CONTEXT);
	rare->detail.context = now;
}

static void
put_timestamp(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e)
{
	struct hwtdi_rare *rare;

	/* The source has no time to tell. */
	if (e->timestamp == 0)
		return;
	put_time(d, flow, e->timestamp,
	    d->has_marker ? HWTDI_ANCHOR_ESTIMATED : 0);
	d->has_marker = false;
	rare = put_rare(d, flow, HWTD_EV_TIME);
	hwtdi_rare_set_value(rare, e->timestamp);
}

static void
put_cycles(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t cycles)
{
	hwtdi_rare_set_value(put_rare(d, flow, HWTD_EV_CYCLES), cycles);
}

static bool
tells_cycles(const struct hwtdi_decoder *d, const struct hwtdi_cs_element *e)
{
	/* The count of a time stamp is not of the sum. */
	if ((e->flags & HWTDI_CS_HAS_CYCLES) == 0 ||
	    e->kind == HWTDI_CS_TIMESTAMP)
		return (false);
	/* A count that is not known, as after an overflow; none else is 0. */
	return (e->cycles != 0 ||
	    (d->config.protocol != HWTD_CS_ETMV4 &&
		d->config.protocol != HWTD_CS_ETE));
}

static void
put_transaction(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e)
{
	const bool inside = e->reason == HWTDI_CS_TRANSACTION_START ||
	    e->reason == HWTDI_CS_TRANSACTION_INSIDE;
	struct hwtdi_rare *rare;

	if (inside == d->transaction &&
	    e->reason == HWTDI_CS_TRANSACTION_INSIDE)
		return;
	d->transaction = inside;
	rare = put_rare(d, flow, HWTD_EV_MODE);
	hwtdi_rare_set_value(rare,
	    (uint64_t)HWTD_MODE_IS_TRANSACTION |
		(inside ? HWTD_MODE_TRANSACTION : 0) |
		(e->reason == HWTDI_CS_TRANSACTION_FAIL ? HWTD_MODE_ABORTED
							: 0));
	if (e->reason == HWTDI_CS_TRANSACTION_INSIDE)
		rare->row.flags |= HWTD_EVF_STATUS;
}

static struct hwtd_marker *
put_marker(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t source,
    uint64_t payload, uint32_t size)
{
	struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_MARKER);
	struct hwtd_marker *marker = &rare->detail.marker;

	marker->source = source;
	marker->payload = payload;
	marker->size = size;
	return (marker);
}

static void
put_software(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e)
{
	const struct hwtdi_cs_software *s = &e->software;
	struct hwtd_marker *marker;

	/* A NULL packet of STM only has a time. */
	if (s->bits != 0 || (s->flags & ~HWTD_MARKERF_NO_CHANNEL) != 0) {
		marker = put_marker(d, flow,
		    e->kind == HWTDI_CS_ITM ? HWTD_MARKER_ITM
					    : HWTD_MARKER_STM,
		    s->payload, (s->bits + 7u) / 8);
		marker->flags = s->flags;
		/* Else the library tells what it had in mind, of any trace. */
		if ((s->flags & HWTD_MARKERF_NO_CHANNEL) == 0) {
			marker->master = s->master;
			marker->channel = s->channel;
		}
	}
	if ((e->flags & HWTDI_CS_HAS_TIMESTAMP) != 0)
		put_timestamp(d, flow, e);
}

/* Where there is no code, whatever is said ends a gap. */
static int
end_gap_of_software(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, struct hwtd_error *err)
{
	if (!d->in_gap || e->kind == HWTDI_CS_NO_SYNC ||
	    e->kind == HWTDI_CS_END ||
	    (d->config.protocol != HWTD_CS_STM &&
		d->config.protocol != HWTD_CS_ITM))
		return (HWTD_OK);
	return (end_gap(d, flow, err));
}

/* A range whose time is that of what comes behind it, if times are told. */
static bool
is_range(const struct hwtdi_cs_element *e)
{
	return (e->kind == HWTDI_CS_RANGE &&
	    (e->flags & HWTDI_CS_HAS_CYCLES) == 0);
}

/* Tokens that there is room for, each with an anchor. */
static size_t
token_room(const struct hwtdi_flow *flow)
{
	const size_t tokens = HWTDI_FLOW_TOKENS - flow->n_tokens;
	const size_t anchors = HWTDI_FLOW_ANCHORS - flow->n_anchors;

	return (tokens < anchors ? tokens : anchors);
}

bool
hwtdi_cs_put_again(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	struct hwtdi_cs_queue *queue = &d->queue;
	const size_t room = token_room(flow);
	/* The time of the last one is not known yet. */
	const size_t end = queue->n - (d->timed && queue->n > 0 ? 1 : 0);
	size_t n = 0;

	if (d->left > 0 || !d->on || d->in_gap || d->has_exception)
		return (false);
	for (; n < room && queue->first < end; n++) {
		const struct hwtdi_cs_element *e = &queue->at[queue->first];
		const struct hwtdi_cs_range *r;

		if (!is_range(e) || (d->timed && !is_range(e + 1)))
			break;
		if (e->off >= d->rows_until || e->value >= d->rows_until)
			break;
		r = hwtdi_cs_known_range(d, e);
		if (r == NULL)
			break;
		if (e->off > d->off)
			d->off = e->off;
		put_anchor(d, flow);
		flow->tokens[flow->n_tokens++] = r->token;
		d->last_ip = r->last_ip;
		queue->first++;
	}
	if (n == 0)
		return (false);
	d->has_last_ip = true;
	return (true);
}

int
hwtdi_cs_put_element(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, uint64_t stamp, struct hwtd_error *err)
{
	int rc;

	hwtdi_cs_go_to(d, e->off);
	put_anchor(d, flow);
	rc = end_gap_of_software(d, flow, e, err);
	if (rc != HWTD_OK)
		return (rc);
	switch (e->kind) {
	case HWTDI_CS_NO_SYNC:
		rc = put_no_sync(d, flow, e, err);
		break;
	case HWTDI_CS_TRACE_ON:
		rc = put_trace_on(d, flow, e, err);
		break;
	case HWTDI_CS_CONTEXT:
		put_context(d, flow, e);
		break;
	case HWTDI_CS_RANGE:
		rc = put_code(d, flow, e, stamp, err);
		break;
	case HWTDI_CS_RANGE_NO_PATH:
		rc = put_no_path(d, flow, e, err);
		break;
	case HWTDI_CS_NO_ACCESS:
		rc = put_no_access(d, flow, e, err);
		break;
	case HWTDI_CS_ADDRESS_UNKNOWN:
		hwtdi_cs_begin_gap(d, HWTD_GAP_UNSYNCED, e->off,
		    "the address is not known");
		break;
	case HWTDI_CS_EXCEPTION:
		put_exception(d, flow, NULL);
		if ((e->flags & HWTDI_CS_DATA_MARKER) == 0) {
			d->exception = *e;
			d->has_exception = true;
		}
		break;
	case HWTDI_CS_EXCEPTION_RETURN: {
		struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_ASYNC);

		rare->has_detail = true;
		rare->detail.async.type = HWTD_ASYNC_RETURN;
		break;
	}
	case HWTDI_CS_TIMESTAMP:
		put_timestamp(d, flow, e);
		break;
	case HWTDI_CS_SYNC_MARKER:
		d->has_marker = true;
		break;
	case HWTDI_CS_EVENT:
		put_marker(d, flow, HWTD_MARKER_EVENT, e->n, 4)
		    ->flags = (e->flags & HWTDI_CS_TRIGGER) != 0
		    ? HWTD_MARKERF_TRIGGER
		    : 0;
		break;
	case HWTDI_CS_SOFTWARE:
	case HWTDI_CS_ITM:
		put_software(d, flow, e);
		break;
	case HWTDI_CS_TRANSACTION:
		put_transaction(d, flow, e);
		break;
	case HWTDI_CS_INSTRUMENTATION:
		put_marker(d, flow, HWTD_MARKER_INSTRUMENTATION, e->value, 8)
		    ->channel = e->level;
		break;
	default:
		break;
	}
	if (!tells_cycles(d, e))
		return (rc);
	if (e->kind != HWTDI_CS_RANGE)
		put_cycles(d, flow, e->cycles);
	d->has_cycles = e->kind == HWTDI_CS_RANGE;
	d->cycles = e->cycles;
	return (rc);
}

void
hwtdi_cs_end_range(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	if (d->has_cycles)
		put_cycles(d, flow, d->cycles);
	d->has_cycles = false;
}

int
hwtdi_cs_put_end(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	d->off = d->segment.stream_off + d->segment.n;
	put_exception(d, flow, NULL);
	return (end_gap(d, flow, err));
}
