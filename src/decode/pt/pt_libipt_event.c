/*
 * The libipt engine: its events as rare events of a flow.
 */
#include <stdio.h>
#include <string.h>

#include "decode/pt/pt_libipt_internal.h"

void
hwtdi_ipt_put_anchor(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t off, uint32_t flags, uint64_t count)
{
	struct hwtdi_anchor *a;

	if (d->anchored && off == d->anchor_off && flags == d->anchor_flags &&
	    count == d->anchor_count)
		return;
	d->anchored = true;
	d->anchor_off = off;
	d->anchor_flags = flags;
	d->anchor_count = count;
	a = &flow->anchors[flow->n_anchors++];
	a->at = (uint32_t)flow->n_tokens;
	a->flags = flags;
	a->stream_off = d->segment.stream_off + off;
	a->count = count;
}

uint32_t
hwtdi_ipt_time_flags(uint32_t lost_mtc, uint32_t lost_cyc)
{
	return (HWTDI_ANCHOR_TIME |
	    (lost_mtc != 0 || lost_cyc != 0 ? HWTDI_ANCHOR_ESTIMATED : 0));
}

static struct hwtdi_rare *
put_rare(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint8_t kind)
{
	struct hwtdi_rare *rare = &flow->rares[flow->n_rares];

	memset(rare, 0, sizeof(*rare));
	rare->at = (uint32_t)flow->n_tokens;
	rare->row.kind = kind;
	rare->row.stream_off = d->segment.stream_off + d->anchor_off;
	flow->anchors_before[flow->n_rares++] = (uint32_t)flow->n_anchors;
	return (rare);
}

static void
set_ip(struct hwtdi_rare *rare, uint64_t ip)
{
	rare->row.ip = ip;
	rare->row.flags |= HWTD_EVF_IP;
}

static void
set_target(struct hwtdi_rare *rare, uint64_t target)
{
	rare->row.target = target;
	rare->row.flags |= HWTD_EVF_TARGET;
}

static void
set_value(struct hwtdi_rare *rare, uint64_t value)
{
	rare->row.value = value;
	rare->row.flags |= HWTD_EVF_VALUE;
}

struct hwtd_gap *
hwtdi_ipt_put_gap(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason, size_t first, size_t end, const char *text)
{
	struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_GAP);
	struct hwtd_gap *gap = &rare->detail.gap;

	rare->row.stream_off = d->segment.stream_off + first;
	gap->reason = reason;
	gap->first = d->segment.stream_off + first;
	gap->end = d->segment.stream_off + end;
	if (d->has_last_ip) {
		gap->ip_before = d->last_ip;
		gap->flags |= HWTD_GAPF_IP_BEFORE;
	}
	(void)snprintf(gap->text, sizeof(gap->text), "%s", text);
	d->loop.chain++;
	return (gap);
}

void
hwtdi_ipt_put_context(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_exec_context *now, uint16_t flags, const uint64_t *ip)
{
	struct hwtdi_rare *rare;

	d->context = *now;
	/* Other code may lie at the same address now. */
	d->span.length = 0;
	rare = put_rare(d, flow, HWTD_EV_CONTEXT);
	rare->detail.context = *now;
	rare->row.flags |= flags;
	if (ip != NULL)
		set_ip(rare, *ip);
}

static void
context_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_exec_context *now, const struct pt_event *ev,
    const uint64_t *ip)
{
	if (!ev->status_update)
		hwtdi_ipt_put_context(d, flow, now, 0,
		    ev->ip_suppressed ? NULL : ip);
	else if (memcmp(now, &d->context, sizeof(*now)) != 0)
		hwtdi_ipt_put_context(d, flow, now, HWTD_EVF_STATUS,
		    ev->ip_suppressed ? NULL : ip);
}

static void
paging_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t cr3,
    bool guest, const struct pt_event *ev, const uint64_t *ip)
{
	struct hwtd_exec_context now = d->context;

	now.cr3 = cr3;
	now.flags |= HWTD_CTXF_CR3;
	now.flags &= ~(uint32_t)HWTD_CTXF_GUEST;
	if (guest)
		now.flags |= HWTD_CTXF_GUEST;
	context_event(d, flow, &now, ev, ip);
}

static void
vmcs_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint64_t base,
    const struct pt_event *ev, const uint64_t *ip)
{
	struct hwtd_exec_context now = d->context;

	now.vmcs = base;
	now.flags |= HWTD_CTXF_VMCS;
	context_event(d, flow, &now, ev, ip);
}

static void
exec_mode_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	uint8_t isa = hwtdi_ipt_isa(ev->variant.exec_mode.mode);
	struct hwtdi_rare *rare;

	if (isa == d->isa)
		return;
	d->isa = isa;
	rare = put_rare(d, flow, HWTD_EV_MODE);
	rare->row.flags |= (uint16_t)(isa << HWTD_EVF_ISA_SHIFT);
	set_value(rare, 0);
	if (!ev->ip_suppressed)
		set_ip(rare, ev->variant.exec_mode.ip);
	if (ev->status_update)
		rare->row.flags |= HWTD_EVF_STATUS;
}

static void
tsx_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	bool now = ev->variant.tsx.speculative != 0;
	struct hwtdi_rare *rare;

	if (ev->status_update && now == d->transaction)
		return;
	d->transaction = now;
	d->aborting = ev->variant.tsx.aborted && !ev->status_update;
	rare = put_rare(d, flow, HWTD_EV_MODE);
	rare->row.flags |= (uint16_t)(d->isa << HWTD_EVF_ISA_SHIFT);
	set_value(rare,
	    HWTD_MODE_IS_TRANSACTION | (now ? HWTD_MODE_TRANSACTION : 0) |
		(ev->variant.tsx.aborted ? HWTD_MODE_ABORTED : 0));
	if (!ev->ip_suppressed)
		set_ip(rare, ev->variant.tsx.ip);
	if (ev->status_update)
		rare->row.flags |= HWTD_EVF_STATUS;
}

static void
marker_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t source,
    uint64_t payload, uint32_t size, const uint64_t *ip)
{
	struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_MARKER);

	rare->detail.marker.source = source;
	rare->detail.marker.size = size;
	rare->detail.marker.payload = payload;
	if (ip != NULL)
		set_ip(rare, *ip);
}

static void
power_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_POWER);
	struct hwtd_power *power = &rare->detail.power;

	switch (ev->type) {
	case ptev_exstop:
		power->what = HWTD_POWER_STOP;
		if (!ev->ip_suppressed)
			set_ip(rare, ev->variant.exstop.ip);
		break;
	case ptev_mwait:
		power->what = HWTD_POWER_MWAIT;
		power->hints = ev->variant.mwait.hints;
		power->extensions = ev->variant.mwait.ext;
		if (!ev->ip_suppressed)
			set_ip(rare, ev->variant.mwait.ip);
		break;
	case ptev_pwre:
		power->what = HWTD_POWER_ENTRY;
		power->state = ev->variant.pwre.state;
		power->sub_state = ev->variant.pwre.sub_state;
		power->by_hardware = ev->variant.pwre.hw;
		break;
	default:
		power->what = HWTD_POWER_EXIT;
		power->state = ev->variant.pwrx.last;
		power->sub_state = ev->variant.pwrx.deepest;
		power->wake = (uint8_t)(ev->variant.pwrx.interrupt |
		    ev->variant.pwrx.store << 1 |
		    ev->variant.pwrx.autonomous << 2);
		break;
	}
}

static void
disable_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_DISABLE);

	switch (ev->type) {
	case ptev_async_disabled:
		rare->row.flags |= HWTD_EVF_ASYNC;
		set_ip(rare, ev->variant.async_disabled.at);
		if (!ev->ip_suppressed)
			set_target(rare, ev->variant.async_disabled.ip);
		break;
	case ptev_stop:
		rare->row.flags |= HWTD_EVF_STOPPED;
		break;
	default:
		if (!ev->ip_suppressed)
			set_target(rare, ev->variant.disabled.ip);
		break;
	}
}

static void
flow_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	struct hwtdi_rare *rare;
	struct hwtd_gap *gap;
	size_t off = (size_t)d->anchor_off;

	switch (ev->type) {
	case ptev_enabled:
		rare = put_rare(d, flow, HWTD_EV_ENABLE);
		set_ip(rare, ev->variant.enabled.ip);
		if (ev->variant.enabled.resumed)
			rare->row.flags |= HWTD_EVF_RESUMED;
		break;
	case ptev_async_branch:
		rare = put_rare(d, flow, HWTD_EV_ASYNC);
		set_ip(rare, ev->variant.async_branch.from);
		if (!ev->ip_suppressed)
			set_target(rare, ev->variant.async_branch.to);
		if (d->aborting) {
			rare->detail.async.type = HWTD_ASYNC_TRANSACTION_ABORT;
			rare->has_detail = true;
			d->aborting = false;
		}
		break;
	case ptev_overflow:
		gap = hwtdi_ipt_put_gap(d, flow, HWTD_GAP_OVERFLOW, off, off,
		    "the CPU dropped packets");
		if (!ev->ip_suppressed) {
			gap->ip_after = ev->variant.overflow.ip;
			gap->flags |= HWTD_GAPF_IP_AFTER;
		}
		break;
	default:
		break;
	}
}

void
hwtdi_ipt_put_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	struct hwtdi_rare *rare;

	if (!ev->status_update)
		d->loop.chain++;
	switch (ev->type) {
	case ptev_enabled:
	case ptev_async_branch:
	case ptev_overflow:
		if (!ev->status_update)
			flow_event(d, flow, ev);
		break;
	case ptev_disabled:
	case ptev_async_disabled:
	case ptev_stop:
		if (!ev->status_update)
			disable_event(d, flow, ev);
		break;
	case ptev_paging:
		paging_event(d, flow, ev->variant.paging.cr3,
		    ev->variant.paging.non_root, ev, NULL);
		break;
	case ptev_async_paging:
		paging_event(d, flow, ev->variant.async_paging.cr3,
		    ev->variant.async_paging.non_root, ev,
		    &ev->variant.async_paging.ip);
		break;
	case ptev_vmcs:
		vmcs_event(d, flow, ev->variant.vmcs.base, ev, NULL);
		break;
	case ptev_async_vmcs:
		vmcs_event(d, flow, ev->variant.async_vmcs.base, ev,
		    &ev->variant.async_vmcs.ip);
		break;
	case ptev_exec_mode:
		exec_mode_event(d, flow, ev);
		break;
	case ptev_tsx:
		tsx_event(d, flow, ev);
		break;
	case ptev_exstop:
	case ptev_mwait:
	case ptev_pwre:
	case ptev_pwrx:
		power_event(d, flow, ev);
		break;
	case ptev_ptwrite:
		marker_event(d, flow, HWTD_MARKER_PTWRITE,
		    ev->variant.ptwrite.payload, ev->variant.ptwrite.size,
		    ev->ip_suppressed ? NULL : &ev->variant.ptwrite.ip);
		break;
	case ptev_mnt:
		marker_event(d, flow, HWTD_MARKER_MNT, ev->variant.mnt.payload,
		    8, NULL);
		break;
	case ptev_cbr:
		if (ev->variant.cbr.ratio == d->ratio)
			break;
		d->ratio = ev->variant.cbr.ratio;
		rare = put_rare(d, flow, HWTD_EV_FREQUENCY);
		set_value(rare, d->ratio);
		if (ev->status_update)
			rare->row.flags |= HWTD_EVF_STATUS;
		break;
	default:
		break;
	}
}
