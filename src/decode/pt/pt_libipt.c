/*
 * The libipt engine: drives libipt's block decoder over one segment and turns
 * its blocks and events into a flow.
 *
 * libipt is the reference, so there are no workarounds here, but for two
 * rules: an endless loop without trace ends in a gap, and no error of libipt
 * leaves this file as anything but a gap.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_config.h"
#include "decode/pt/pt_engines.h"
#include "decode/pt/pt_libipt_internal.h"

/* What one step may add to a flow at the most. */
#define ROOM_TOKENS 16
#define ROOM_RARES 8
#define ROOM_ANCHORS 16
#define ROOM_PLACES 8

/* Bytes after PSB+ that libipt may look at (erratum BDM70). */
#define TAIL_BYTES 4096

/* PSB+ is shorter than this but for a flood of PAD. */
#define MAX_PSB_PLUS 4096

static bool
has_room(const struct hwtdi_flow *flow)
{
	return (flow->n_tokens + ROOM_TOKENS <= HWTDI_FLOW_TOKENS &&
	    flow->n_rares + ROOM_RARES <= HWTDI_FLOW_RARES &&
	    flow->n_anchors + ROOM_ANCHORS <= HWTDI_FLOW_ANCHORS &&
	    flow->n_places + ROOM_PLACES <= HWTDI_FLOW_PLACES);
}

/* Where libipt stands, inside the bytes that it was given. */
static size_t
position(struct hwtdi_decoder *d)
{
	uint64_t off = d->sync_off;

	(void)pt_blk_get_offset(d->blk, &off);
	return (off > d->segment.n + d->segment.tail
		? d->segment.n + d->segment.tail
		: (size_t)off);
}

static void
anchor_here(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	uint32_t lost_mtc = 0, lost_cyc = 0;
	uint64_t count = 0;
	size_t off = position(d);

	d->here = off;
	if (off > d->segment.n)
		off = d->segment.n;
	if (d->timed && pt_blk_time(d->blk, &count, &lost_mtc, &lost_cyc) == 0)
		hwtdi_ipt_put_anchor(d, flow, off,
		    hwtdi_ipt_time_flags(lost_mtc, lost_cyc), count);
	else
		hwtdi_ipt_put_anchor(d, flow, off, d->anchor_flags,
		    d->anchor_count);
}

static uint32_t
reason_of(const struct hwtdi_decoder *d, int status)
{
	switch (pt_errcode(status)) {
	case pte_bad_opc:
	case pte_bad_packet:
	case pte_bad_context:
	case pte_overflow:
		return (HWTD_GAP_BAD_PACKET);
	case pte_nomap:
		return (d->ambiguous ? HWTD_GAP_AMBIGUOUS_MAPPING
				     : HWTD_GAP_NO_CODE);
	case pte_bad_insn:
		return (d->missing ? HWTD_GAP_NO_CODE : HWTD_GAP_BAD_CODE);
	case pte_nosync:
		return (HWTD_GAP_UNSYNCED);
	case pte_internal:
	case pte_nomem:
	case pte_invalid:
	case pte_bad_config:
	case pte_bad_image:
	case pte_bad_lock:
	case pte_not_supported:
	case pte_bad_file:
	case pte_bad_cpu:
		return (HWTD_GAP_ENGINE);
	default:
		return (HWTD_GAP_BAD_FLOW);
	}
}

static const char *
text_of(const struct hwtdi_decoder *d, uint32_t reason, int status)
{
	switch (reason) {
	case HWTD_GAP_ENDLESS_LOOP:
		return ("the code loops for ever without a packet");
	case HWTD_GAP_LIMIT:
		return (hwtdi_graph_is_full(d->graph)
			? "more code than is kept"
			: "very much code without a packet");
	case HWTD_GAP_NO_CODE:
		return (d->unread ? "the image that is mapped there is missing"
				  : "no image holds the address");
	case HWTD_GAP_AMBIGUOUS_MAPPING:
		return ("several images could lie there, and none fits");
	case HWTD_GAP_BAD_CODE:
		return ("the bytes at the address are no instruction");
	default:
		return (pt_errstr(pt_errcode(status)));
	}
}

/*
 * The segment is read to its end; what libipt says of the next is not ours.
 * At the end of the bytes it stands at a packet that is cut off, if any.
 */
static void
finish(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	size_t at = d->synced ? position(d) : d->segment.n;

	d->done = true;
	if (at < d->segment.n)
		(void)hwtdi_ipt_put_gap(d, flow, HWTD_GAP_TRUNCATED, at,
		    d->segment.n, "the last packet is cut off");
	else if (d->has_next_psb && d->next_psb.has_ip) {
		flow->has_next_ip = true;
		flow->next_ip = d->next_psb.ip;
	}
}

/* libipt has read PSB+ behind the segment; only a PSB with a FUP is read. */
static bool
in_tail(struct hwtdi_decoder *d)
{
	return (d->has_next_psb && d->next_psb.has_ip &&
	    position(d) > d->segment.n);
}

/* The last PSB that libipt has read in this segment. */
static size_t
last_psb(struct hwtdi_decoder *d)
{
	size_t end = position(d), last = d->sync_off, at;

	if (end > d->segment.n)
		end = d->segment.n;
	at = end > MAX_PSB_PLUS ? end - MAX_PSB_PLUS : 0;
	if (at < last + HWTDI_PT_PSB_BYTES)
		at = last + HWTDI_PT_PSB_BYTES;
	while (at < end) {
		at = hwtdi_pt_find_psb(d->segment.bytes, end, at);
		if (at < end)
			last = at;
		at += HWTDI_PT_PSB_BYTES;
	}
	return (last);
}

/*
 * Where to try again after an error.  libipt reads PSB+ before the flow has
 * reached its address, so that PSB is the one to go back to.
 */
static size_t
next_try(struct hwtdi_decoder *d)
{
	size_t at = position(d), last = last_psb(d);
	struct hwtdi_pt_psb psb;

	if (at > d->segment.n)
		at = d->segment.n;
	if (last > d->reached_psb &&
	    hwtdi_pt_read_psb(d->segment.bytes + last, d->segment.n - last,
		&psb) &&
	    psb.has_ip && psb.has_mode)
		return (last);
	if (at < d->sync_off + HWTDI_PT_PSB_BYTES)
		at = d->sync_off + HWTDI_PT_PSB_BYTES;
	return (at < d->segment.n
		? hwtdi_pt_find_psb(d->segment.bytes, d->segment.n, at)
		: d->segment.n);
}

/* The PSB+ at `psb_off`, if there is one, tells where decoding goes on. */
static void
set_ip_after(struct hwtdi_decoder *d, struct hwtd_gap *gap, size_t psb_off)
{
	struct hwtdi_pt_psb psb;

	if (psb_off >= d->segment.n)
		return;
	(void)hwtdi_pt_read_psb(d->segment.bytes + psb_off,
	    d->segment.n - psb_off, &psb);
	if (psb.has_ip) {
		gap->ip_after = psb.ip;
		gap->flags |= HWTD_GAPF_IP_AFTER;
	}
}

/*
 * Give up what follows, up to the next PSB of the segment, where decoding is
 * tried again.
 */
static void
lose(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t reason,
    int status)
{
	size_t first = position(d), end;
	struct hwtdi_rare *rare;
	struct hwtd_gap *gap;

	if (in_tail(d) && first > d->segment.n + d->next_psb.bytes) {
		/* The next segment will say so. */
		finish(d, flow);
		return;
	}
	hwtdi_pt_choice_lost(&d->choice, first, reason);
	/* What was read for a step that led nowhere gave nothing. */
	if (d->before_off < first)
		first = d->before_off;
	end = next_try(d);
	if (first > end)
		first = end;
	d->synced = false;
	d->status = 0;
	d->search_off = end;
	gap = hwtdi_ipt_put_gap(d, flow, reason, first, end,
	    text_of(d, reason, status));
	if (reason == HWTD_GAP_NO_CODE ||
	    reason == HWTD_GAP_AMBIGUOUS_MAPPING) {
		gap->addr = d->missing_ip;
		gap->flags |= HWTD_GAPF_ADDR;
	} else if (reason == HWTD_GAP_BAD_CODE) {
		gap->addr = d->read_ip;
		gap->flags |= HWTD_GAPF_ADDR;
	}
	set_ip_after(d, gap, end);
	if ((gap->flags & HWTD_GAPF_ADDR) != 0) {
		rare = &flow->rares[flow->n_rares - 1];
		rare->has_stop_ip = true;
		rare->stop_ip = d->left_ip;
	}
	d->has_last_ip = false;
}

/* Enter at the next PSB; the bytes before it are a gap. */
static void
enter(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	struct hwtdi_pt_psb psb;
	struct hwtd_gap *gap;
	size_t at;

	at = hwtdi_pt_find_psb(d->segment.bytes, d->segment.n, d->search_off);
	if (at > d->search_off) {
		gap = hwtdi_ipt_put_gap(d, flow, HWTD_GAP_UNSYNCED,
		    d->search_off, at, "no PSB before these bytes");
		set_ip_after(d, gap, at);
	}
	if (at == d->segment.n) {
		d->done = true;
		return;
	}
	d->sync_off = at;
	d->reached_psb = at;
	d->tried_again = false;
	d->before_off = at;
	d->search_off = at;
	d->span.length = 0;
	hwtdi_pt_choice_begin(&d->choice);
	d->anchor_flags = 0;
	d->isa = HWTD_ISA_UNKNOWN;
	d->transaction = false;
	d->has_async = false;
	d->ratio = 0;
	d->loop.chain++;
	hwtdi_ipt_put_anchor(d, flow, at, 0, 0);
	if (memcmp(&d->context, &d->base, sizeof(d->base)) != 0)
		hwtdi_ipt_put_context(d, flow, &d->base, HWTD_EVF_STATUS,
		    NULL);
	d->status = pt_blk_sync_set(d->blk, at);
	d->synced = true;
	d->here = position(d);
	if (d->status >= 0)
		return;
	if (pt_errcode(d->status) == pte_eos &&
	    hwtdi_pt_read_psb(d->segment.bytes + at, d->segment.n - at, &psb))
		/* A whole PSB+, and nothing behind it. */
		d->done = true;
	else
		lose(d, flow,
		    pt_errcode(d->status) == pte_eos ? HWTD_GAP_TRUNCATED
						     : reason_of(d, d->status),
		    d->status);
}

/* What the status of libipt's last call asks for. */
static void
after_call(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	if (d->status >= 0)
		return;
	if (pt_errcode(d->status) == pte_eos)
		finish(d, flow);
	else
		lose(d, flow, reason_of(d, d->status), d->status);
}

/*
 * An event in the tail at which execution has reached the next PSB.  Of those
 * in PSB+, MODE.Exec is bound to its address and the others may come earlier.
 */
static bool
ends_segment(struct hwtdi_decoder *d, const struct pt_event *ev)
{
	if (position(d) > d->segment.n + d->next_psb.bytes)
		return (true);
	return (ev->status_update && ev->type == ptev_exec_mode);
}

/* Pass on the events that libipt holds. */
static void
drain(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	while (d->status >= 0 && (d->status & pts_event_pending) != 0) {
		struct pt_event ev;

		if (!has_room(flow))
			return;
		d->before_off = position(d);
		d->status = pt_blk_event(d->blk, &ev, sizeof(ev));
		if (d->status < 0)
			break;
		if (in_tail(d) && ends_segment(d, &ev)) {
			finish(d, flow);
			return;
		}
		if (in_tail(d) && ev.status_update)
			continue;
		if (ev.status_update && ev.type == ptev_exec_mode)
			d->reached_psb = last_psb(d);
		if (ev.has_tsc) {
			d->here = position(d);
			hwtdi_ipt_put_anchor(d, flow,
			    in_tail(d) ? d->segment.n : d->here,
			    hwtdi_ipt_time_flags(ev.lost_mtc, ev.lost_cyc),
			    ev.tsc);
		} else
			anchor_here(d, flow);
		hwtdi_ipt_put_event(d, flow, &ev);
	}
	after_call(d, flow);
}

/* The code of the next block is what lies there now. */
static void
ask_here(struct hwtdi_decoder *d)
{
	if (d->asked_off == d->anchor_off &&
	    d->asked_flags == d->anchor_flags &&
	    d->asked_count == d->anchor_count)
		return;
	if (!d->code.fixed)
		d->span.length = 0;
	d->asked_off = d->anchor_off;
	d->asked_flags = d->anchor_flags;
	d->asked_count = d->anchor_count;
}

/* Pass on the block at hand, or fetch one. */
static int
step(struct hwtdi_decoder *d, struct hwtdi_flow *flow, struct hwtd_error *err)
{
	uint32_t reason = HWTD_GAP_UNKNOWN;
	int rc = HWTD_OK;
	bool off;

	if (d->left == 0) {
		d->missing = false;
		d->ambiguous = false;
		if (!d->tried_again)
			d->before_off = d->here;
		off = (d->status & pts_ip_suppressed) != 0;
		ask_here(d);
		d->status = pt_blk_next(d->blk, &d->block, sizeof(d->block));
		if (off && d->block.ninsn > 0) {
			/* Code without tracing: a PSB+ that is not its own. */
			lose(d, flow, HWTD_GAP_BAD_FLOW,
			    -pte_bad_status_update);
			return (HWTD_OK);
		}
		d->unfinished = d->status < 0;
		d->left = d->block.ninsn;
		d->left_ip = d->block.ip;
		anchor_here(d, flow);
	}
	if (d->left > 0)
		rc = hwtdi_ipt_put_block(d, flow, &reason, err);
	if (rc == HWTD_E_LIMIT)
		reason = HWTD_GAP_LIMIT;
	if (rc == HWTD_END || rc == HWTD_E_LIMIT) {
		d->left = 0;
		lose(d, flow, reason, 0);
		return (HWTD_OK);
	}
	if (rc != HWTD_OK || d->left > 0)
		return (rc);
	/* libipt reads ahead: bits before a bad packet are still to come. */
	if (d->status < 0 && !d->tried_again &&
	    reason_of(d, d->status) == HWTD_GAP_BAD_PACKET) {
		d->tried_again = true;
		d->status = 0;
		return (HWTD_OK);
	}
	d->tried_again = false;
	after_call(d, flow);
	return (HWTD_OK);
}

/* The interface. */

int
hwtdi_ipt_read(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	int rc;

	flow->graph = d->graph;
	flow->has_last_count = d->next_psb.has_tsc;
	flow->last_count = d->next_psb.tsc;
	/* A trial has its answer when something is lost. */
	while (!d->done && has_room(flow) &&
	    !(d->choice.trial && d->choice.lost)) {
		if (!d->synced) {
			if (d->search_off >= d->segment.n)
				finish(d, flow);
			else
				enter(d, flow);
			continue;
		}
		if ((d->status & pts_event_pending) != 0) {
			drain(d, flow);
			continue;
		}
		if ((d->status & pts_eos) != 0) {
			finish(d, flow);
			continue;
		}
		rc = step(d, flow, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (d->done ? HWTD_END : HWTD_OK);
}

int
hwtdi_ipt_start(struct hwtdi_decoder *d, const struct hwtdi_segment *segment,
    struct hwtd_error *err)
{
	int rc;

	pt_blk_free_decoder(d->blk);
	d->blk = NULL;
	d->segment = *segment;
	d->has_next_psb = false;
	memset(&d->next_psb, 0, sizeof(d->next_psb));
	/* libipt binds MODE of the next PSB+ to its address; that stops it. */
	if (segment->tail >= HWTDI_PT_PSB_BYTES &&
	    hwtdi_pt_read_psb(segment->bytes + segment->n, segment->tail,
		&d->next_psb))
		d->has_next_psb = !d->next_psb.has_ip || d->next_psb.has_mode;
	if (!d->has_next_psb)
		d->segment.tail = 0;
	/*
	 * While tracing is off there is no code up to the next PSB, so libipt
	 * shall not read its PSB+: events of one before could not be told from
	 * those in it.  A PSB there tells it that the last one is whole.
	 */
	else if (!d->next_psb.has_ip)
		d->segment.tail = HWTDI_PT_PSB_BYTES;
	d->config.begin = (uint8_t *)(uintptr_t)segment->bytes;
	d->config.end = d->config.begin + segment->n + d->segment.tail;
	d->synced = false;
	d->done = false;
	d->status = 0;
	d->sync_off = 0;
	d->search_off = 0;
	d->left = 0;
	d->tried_again = false;
	d->anchored = false;
	d->anchor_off = 0;
	d->anchor_flags = 0;
	d->anchor_count = 0;
	d->has_last_ip = false;
	d->context = d->base;
	d->span.length = 0;
	/* Where units lie is told anew: what was told can have been lost. */
	hwtdi_places_forget(d->places, d->cap_places);
	if (segment->n == 0) {
		d->done = true;
		return (HWTD_OK);
	}
	d->blk = pt_blk_alloc_decoder(&d->config);
	if (d->blk == NULL)
		return (hwtdi_fail(err, HWTD_E_NOMEM,
		    "libipt made no block decoder"));
	rc = pt_image_set_callback(pt_blk_get_image(d->blk),
	    hwtdi_ipt_read_memory, d);
	if (rc < 0)
		return (hwtdi_fail(err, HWTD_E_ENGINE, "libipt: %s",
		    pt_errstr(pt_errcode(rc))));
	return (HWTD_OK);
}

void
hwtdi_ipt_close(struct hwtdi_decoder *d)
{
	if (d == NULL)
		return;
	pt_blk_free_decoder(d->blk);
	hwtdi_loop_fini(&d->loop);
	hwtdi_array_free(d->library, d->places, d->cap_places,
	    sizeof(*d->places));
	hwtdi_free(d->library, d, sizeof(*d));
}

static int
ipt_open(const struct hwtdi_decoder_args *args, struct hwtdi_decoder **out,
    struct hwtd_error *err)
{
	struct hwtdi_decoder *d;

	d = hwtdi_zalloc(args->library, sizeof(*d));
	if (d == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*d)));
	d->library = args->library;
	d->code = args->code;
	d->graph = args->graph;
	d->base = args->context;
	d->timed = args->timed;
	hwtdi_loop_init(&d->loop, args->library);
	hwtdi_pt_config_libipt(&d->config, args->pt);
	*out = d;
	return (HWTD_OK);
}

const struct hwtdi_engine hwtdi_pt_libipt = {
	.name = "libipt",
	.tech = HWTD_TECH_INTEL_PT,
	.open = ipt_open,
	.start = hwtdi_ipt_start,
	.read = hwtdi_ipt_read,
	.close = hwtdi_ipt_close,
	.find_sync = hwtdi_pt_find_sync,
	.tail_bytes = TAIL_BYTES,
};
