/*
 * The libipt engine: its events as rare events of a flow.
 */
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
	return (hwtdi_rare_put(flow, kind,
	    d->segment.stream_off + d->anchor_off));
}

struct hwtd_gap *
hwtdi_ipt_put_gap(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason, size_t first, size_t end, const char *text)
{
	d->loop.chain++;
	return (hwtdi_rare_gap(flow, reason, d->segment.stream_off + first,
	    d->segment.stream_off + end, d->has_last_ip ? &d->last_ip : NULL,
	    text));
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
		hwtdi_rare_set_ip(rare, *ip);
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
	hwtdi_rare_set_value(rare, 0);
	if (!ev->ip_suppressed)
		hwtdi_rare_set_ip(rare, ev->variant.exec_mode.ip);
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
	if (ev->variant.tsx.aborted && !ev->status_update) {
		memset(&d->async, 0, sizeof(d->async));
		d->async.type = HWTD_ASYNC_TRANSACTION_ABORT;
		d->has_async = true;
	}
	rare = put_rare(d, flow, HWTD_EV_MODE);
	rare->row.flags |= (uint16_t)(d->isa << HWTD_EVF_ISA_SHIFT);
	hwtdi_rare_set_value(rare,
	    HWTD_MODE_IS_TRANSACTION | (now ? HWTD_MODE_TRANSACTION : 0) |
		(ev->variant.tsx.aborted ? HWTD_MODE_ABORTED : 0));
	if (!ev->ip_suppressed)
		hwtdi_rare_set_ip(rare, ev->variant.tsx.ip);
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
		hwtdi_rare_set_ip(rare, *ip);
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
			hwtdi_rare_set_ip(rare, ev->variant.exstop.ip);
		break;
	case ptev_mwait:
		power->what = HWTD_POWER_MWAIT;
		power->hints = ev->variant.mwait.hints;
		power->extensions = ev->variant.mwait.ext;
		if (!ev->ip_suppressed)
			hwtdi_rare_set_ip(rare, ev->variant.mwait.ip);
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
		hwtdi_rare_set_ip(rare, ev->variant.async_disabled.at);
		if (!ev->ip_suppressed)
			hwtdi_rare_set_target(rare,
			    ev->variant.async_disabled.ip);
		break;
	case ptev_stop:
		rare->row.flags |= HWTD_EVF_STOPPED;
		break;
	default:
		if (!ev->ip_suppressed)
			hwtdi_rare_set_target(rare, ev->variant.disabled.ip);
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

	/* What is not traced in between can start another program. */
	if (ev->type == ptev_enabled || ev->type == ptev_overflow)
		d->choice.moments.until = UINT64_MAX;
	switch (ev->type) {
	case ptev_enabled:
		rare = put_rare(d, flow, HWTD_EV_ENABLE);
		hwtdi_rare_set_ip(rare, ev->variant.enabled.ip);
		if (ev->variant.enabled.resumed)
			rare->row.flags |= HWTD_EVF_RESUMED;
		break;
	case ptev_async_branch:
		rare = put_rare(d, flow, HWTD_EV_ASYNC);
		hwtdi_rare_set_ip(rare, ev->variant.async_branch.from);
		if (!ev->ip_suppressed)
			hwtdi_rare_set_target(rare,
			    ev->variant.async_branch.to);
		if (d->has_async) {
			rare->detail.async = d->async;
			rare->has_detail = true;
			d->has_async = false;
		}
		break;
	case ptev_overflow:
		/* No row behind a gap is in a transaction before it is told. */
		d->transaction = false;
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

#if LIBIPT_VERSION >= 0x201
/* An ASYNC row that tells of a transfer in the rows around it. */
static void
put_async(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_async *async, const uint64_t *ip)
{
	struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_ASYNC);

	rare->detail.async = *async;
	rare->has_detail = true;
	if (ip != NULL)
		hwtdi_rare_set_ip(rare, *ip);
}

/* Which of the event trace it is, and the address that goes with it. */
static uint32_t
trace_event_type(const struct pt_event *ev, uint64_t *ip)
{
	switch (ev->type) {
	case ptev_interrupt:
		*ip = ev->variant.interrupt.ip;
		return (HWTD_ASYNC_INTERRUPT);
	case ptev_vmexit:
		*ip = ev->variant.vmexit.ip;
		return (HWTD_ASYNC_VM_EXIT);
	case ptev_uintr:
		*ip = ev->variant.uintr.ip;
		return (HWTD_ASYNC_USER_INTERRUPT);
	case ptev_smi:
		*ip = ev->variant.smi.ip;
		return (HWTD_ASYNC_SYSTEM_MANAGEMENT);
	case ptev_init:
		*ip = ev->variant.init.ip;
		return (HWTD_ASYNC_INIT);
	case ptev_shutdown:
		*ip = ev->variant.shutdown.ip;
		return (HWTD_ASYNC_SHUTDOWN);
	case ptev_iret:
		*ip = ev->variant.iret.ip;
		return (HWTD_ASYNC_RETURN);
	case ptev_uiret:
		*ip = ev->variant.uiret.ip;
		return (HWTD_ASYNC_USER_RETURN);
	case ptev_rsm:
		*ip = ev->variant.rsm.ip;
		return (HWTD_ASYNC_SYSTEM_MANAGEMENT_RETURN);
	case ptev_vmentry:
		*ip = ev->variant.vmentry.ip;
		return (HWTD_ASYNC_VM_ENTRY);
#if LIBIPT_VERSION >= 0x202
	case ptev_swintr:
		*ip = ev->variant.swintr.ip;
		return (HWTD_ASYNC_SOFTWARE_INTERRUPT);
	case ptev_syscall:
		*ip = ev->variant.syscall.ip;
		return (HWTD_ASYNC_SYSTEM_CALL);
#endif
	default:
		return (HWTD_ASYNC_STARTUP);
	}
}

static void
set_number(struct hwtd_async *async, uint32_t number)
{
	async->number = number;
	async->flags |= HWTD_ASYNCF_NUMBER;
}

static void
fill_vm_exit(const struct pt_event *ev, struct hwtd_async *async)
{
	if (ev->variant.vmexit.has_vector)
		set_number(async, ev->variant.vmexit.vector);
	if (ev->variant.vmexit.has_vmxr) {
		async->exit_reason = ev->variant.vmexit.vmxr;
		async->flags |= HWTD_ASYNCF_EXIT_REASON;
	}
	if (ev->variant.vmexit.has_vmxq) {
		async->exit_qualification = ev->variant.vmexit.vmxq;
		async->flags |= HWTD_ASYNCF_EXIT_QUALIFICATION;
	}
}

/* An event of the event trace (CFE and EVD packets). */
static void
trace_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	bool has_ip = !ev->ip_suppressed && ev->type != ptev_sipi;
	struct hwtd_async async;
	uint64_t ip = 0;

	memset(&async, 0, sizeof(async));
	async.type = trace_event_type(ev, &ip);
	switch (ev->type) {
	case ptev_interrupt:
		set_number(&async, ev->variant.interrupt.vector);
		if (ev->variant.interrupt.has_cr2) {
			async.fault_addr = ev->variant.interrupt.cr2;
			async.flags |= HWTD_ASYNCF_FAULT_ADDR;
		}
		break;
	case ptev_vmexit:
		fill_vm_exit(ev, &async);
		break;
	case ptev_uintr:
		set_number(&async, ev->variant.uintr.vector);
		break;
	case ptev_sipi:
		set_number(&async, ev->variant.sipi.vector);
		break;
#if LIBIPT_VERSION >= 0x202
	case ptev_swintr:
		set_number(&async, ev->variant.swintr.vector);
		break;
#endif
	default:
		break;
	}
	/* An asynchronous branch may follow, to which this belongs. */
	if (async.type < HWTD_ASYNC_RETURN && has_ip) {
		d->async = async;
		d->async_ip = ip;
		d->has_async = true;
	} else
		put_async(d, flow, &async, has_ip ? &ip : NULL);
}

static void
iflags_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	struct hwtdi_rare *rare = put_rare(d, flow, HWTD_EV_MODE);

	rare->row.flags |= (uint16_t)(d->isa << HWTD_EVF_ISA_SHIFT);
	hwtdi_rare_set_value(rare,
	    HWTD_MODE_HAS_INTERRUPTS |
		(ev->variant.iflags.iflag ? HWTD_MODE_INTERRUPTS : 0));
	if (!ev->ip_suppressed)
		hwtdi_rare_set_ip(rare, ev->variant.iflags.ip);
	if (ev->status_update)
		rare->row.flags |= HWTD_EVF_STATUS;
}
#endif

/*
 * Events that only newer versions of libipt know.  What is known of an
 * asynchronous branch that did not come is told before anything else.
 */
static void
newer_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
#if LIBIPT_VERSION >= 0x201
	if (d->has_async && ev->type != ptev_async_branch) {
		d->has_async = false;
		if (d->async.type != HWTD_ASYNC_TRANSACTION_ABORT)
			put_async(d, flow, &d->async, &d->async_ip);
	}
	switch (ev->type) {
	case ptev_iflags:
		iflags_event(d, flow, ev);
		break;
	case ptev_interrupt:
	case ptev_iret:
	case ptev_smi:
	case ptev_rsm:
	case ptev_sipi:
	case ptev_init:
	case ptev_vmentry:
	case ptev_vmexit:
	case ptev_shutdown:
	case ptev_uintr:
	case ptev_uiret:
		trace_event(d, flow, ev);
		break;
#if LIBIPT_VERSION >= 0x202
	case ptev_swintr:
	case ptev_syscall:
		trace_event(d, flow, ev);
		break;
	case ptev_trig:
		marker_event(d, flow, HWTD_MARKER_TRIGGER,
		    ev->variant.trig.trbv, 1,
		    ev->ip_suppressed ? NULL : &ev->variant.trig.ip);
		if (ev->variant.trig.mult)
			flow->rares[flow->n_rares - 1]
			    .detail.marker.flags |= HWTD_MARKERF_MULTIPLE;
		break;
#endif
	default:
		break;
	}
#else
	(void)flow;
	if (ev->type != ptev_async_branch)
		d->has_async = false;
#endif
}

void
hwtdi_ipt_put_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct pt_event *ev)
{
	struct hwtdi_rare *rare;

	if (!ev->status_update)
		d->loop.chain++;
	newer_event(d, flow, ev);
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
		hwtdi_rare_set_value(rare, d->ratio);
		if (ev->status_update)
			rare->row.flags |= HWTD_EVF_STATUS;
		break;
	default:
		break;
	}
}
