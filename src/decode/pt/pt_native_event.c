/*
 * The native Intel PT engine: events that packets tell, and the addresses to
 * which they belong.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

int
hwtdi_ptn_pend(struct hwtdi_decoder *d,
    const struct hwtdi_ptn_pending *pending)
{
	if (d->n_pending == HWTDI_PTN_PENDING)
		return (HWTD_E_LIMIT);
	d->pending[d->n_pending++] = *pending;
	return (HWTD_OK);
}

/* An ASYNC row that tells of a transfer in the rows around it. */
static void
put_async(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_async *async, const uint64_t *ip)
{
	struct hwtdi_rare *rare = hwtdi_ptn_rare(d, flow, HWTD_EV_ASYNC);

	rare->detail.async = *async;
	rare->has_detail = true;
	if (ip != NULL)
		hwtdi_rare_set_ip(rare, *ip);
}

void
hwtdi_ptn_tell_detail(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	if (!d->has_detail)
		return;
	d->has_detail = false;
	if (d->detail.type != HWTD_ASYNC_TRANSACTION_ABORT)
		put_async(d, flow, &d->detail, &d->detail_ip);
}

void
hwtdi_ptn_iflag(struct hwtdi_decoder *d, struct hwtdi_flow *flow, bool set,
    uint16_t flags, const uint64_t *ip)
{
	struct hwtdi_rare *rare;

	/* Without event trace the bit is always 0. */
	if (!d->has_iflag ? !set : set == d->iflag)
		return;
	d->has_iflag = true;
	d->iflag = set;
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_MODE);
	rare->row.flags |= (uint16_t)(d->isa << HWTD_EVF_ISA_SHIFT) | flags;
	hwtdi_rare_set_value(rare,
	    HWTD_MODE_HAS_INTERRUPTS | (set ? HWTD_MODE_INTERRUPTS : 0));
	if (ip != NULL)
		hwtdi_rare_set_ip(rare, *ip);
}

static void
put_row(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, const uint64_t *ip)
{
	struct hwtdi_rare *rare = hwtdi_ptn_rare(d, flow, e->kind);

	switch (e->kind) {
	case HWTD_EV_MARKER:
		rare->detail.marker = e->detail.marker;
		break;
	case HWTD_EV_POWER:
		rare->detail.power = e->detail.power;
		break;
	default:
		break;
	}
	if (ip != NULL && e->value == 0)
		hwtdi_rare_set_ip(rare, *ip);
}

static void
put_trace_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, const uint64_t *ip)
{
	/* These use a FUP, but are not at its address. */
	if (e->detail.async.type == HWTD_ASYNC_SYSTEM_MANAGEMENT_RETURN ||
	    e->detail.async.type == HWTD_ASYNC_STARTUP)
		ip = NULL;
	/* An asynchronous branch may follow, to which this belongs. */
	if (e->detail.async.type < HWTD_ASYNC_RETURN && ip != NULL) {
		d->detail = e->detail.async;
		d->detail_ip = *ip;
		d->has_detail = true;
	} else
		put_async(d, flow, &e->detail.async, ip);
}

static void
put_context(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, const uint64_t *ip)
{
	struct hwtd_exec_context now = d->context;

	if (e->what == HWTDI_PTN_VMCS) {
		now.vmcs = e->value;
		now.flags |= HWTD_CTXF_VMCS;
	} else {
		now.cr3 = e->value;
		now.flags |= HWTD_CTXF_CR3;
		now.flags &= ~(uint32_t)HWTD_CTXF_GUEST;
		if (e->kind != 0)
			now.flags |= HWTD_CTXF_GUEST;
	}
	hwtdi_ptn_context(d, flow, &now, 0, ip);
}

static void
put_transaction(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, const uint64_t *ip)
{
	if ((e->value & HWTD_MODE_ABORTED) != 0) {
		memset(&d->detail, 0, sizeof(d->detail));
		d->detail.type = HWTD_ASYNC_TRANSACTION_ABORT;
		d->has_detail = true;
	}
	hwtdi_ptn_transaction(d, flow, e->value, 0, ip);
}

/* An event that belongs behind an instruction: which instruction it can be. */
static int
pass_instruction(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, uint64_t *ip_out,
    struct hwtd_error *err)
{
	int rc;

	if (e->what == HWTDI_PTN_ROW_AFTER)
		rc = hwtdi_ptn_to_bind(d, flow, HWTDI_X86_PTWRITE, false, err);
	else
		rc = hwtdi_ptn_to_bind(d, flow, 0, true, err);
	if (rc == HWTD_OK)
		*ip_out = hwtdi_ptn_last_ip(d);
	return (rc);
}

/* INT n is at the address of its FUP, from which the branch starts. */
static bool
is_after(const struct hwtdi_ptn_pending *e)
{
	return (e->what == HWTDI_PTN_ROW_AFTER ||
	    (e->what == HWTDI_PTN_TRACE_EVENT &&
		e->detail.async.type >= HWTD_ASYNC_RETURN &&
		e->detail.async.type != HWTD_ASYNC_SOFTWARE_INTERRUPT &&
		e->detail.async.type != HWTD_ASYNC_SYSTEM_MANAGEMENT_RETURN));
}

/* Go to where the event belongs. */
static int
go_to_place(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, const uint64_t **ip_inout,
    uint64_t *found, struct hwtd_error *err)
{
	int rc;

	if (!d->on)
		return (HWTD_OK);
	if (*ip_inout != NULL) {
		if (e->what == HWTDI_PTN_TSX && d->errata.bdm64 &&
		    (e->value & HWTD_MODE_ABORTED) != 0 &&
		    !hwtdi_ptn_reaches(d, flow, **ip_inout))
			hwtdi_ptn_go(d, **ip_inout);
		rc = hwtdi_ptn_to_ip(d, flow, **ip_inout, err);
		if (rc == HWTD_OK)
			d->passed = 0;
		if (rc == HWTD_OK && is_after(e))
			rc = hwtdi_ptn_one(d, flow, err);
		return (rc);
	}
	if (!is_after(e))
		return (HWTD_OK);
	rc = pass_instruction(d, flow, e, found, err);
	*ip_inout = found;
	return (rc);
}

int
hwtdi_ptn_tell(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_ptn_pending *e, const uint64_t *ip,
    struct hwtd_error *err)
{
	uint64_t found = 0;
	int rc;

	if (e->what == HWTDI_PTN_NOTHING) {
		/* Triggers count from a place that is not gone to. */
		d->passed = UINT32_MAX;
		return (HWTD_OK);
	}
	rc = go_to_place(d, flow, e, &ip, &found, err);
	if (rc != HWTD_OK)
		return (rc);
	if (e->what != HWTDI_PTN_IFLAG)
		hwtdi_ptn_tell_detail(d, flow);
	switch (e->what) {
	case HWTDI_PTN_ISA:
		hwtdi_ptn_mode(d, flow, (uint8_t)e->value, 0, ip);
		break;
	case HWTDI_PTN_IFLAG:
		hwtdi_ptn_iflag(d, flow, e->value != 0, 0, ip);
		break;
	case HWTDI_PTN_TSX:
		put_transaction(d, flow, e, ip);
		break;
	case HWTDI_PTN_PAGING:
	case HWTDI_PTN_VMCS:
		put_context(d, flow, e, ip);
		break;
	case HWTDI_PTN_TRACE_EVENT:
		put_trace_event(d, flow, e, ip);
		break;
	default:
		put_row(d, flow, e, ip);
		break;
	}
	return (HWTD_OK);
}

/* Packets of events. */

static bool
follows(const struct hwtdi_pt_packet *p)
{
	return ((p->flags & HWTD_PKF_FUP_FOLLOWS) != 0);
}

/* Tell now, or wait for a FUP. */
static int
tell_or_pend(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_pending *e, bool wait, struct hwtd_error *err)
{
	if (!wait)
		return (hwtdi_ptn_tell(d, flow, e, NULL, err));
	e->wait = HWTDI_PTN_FUP_BOUND;
	return (hwtdi_ptn_pend(d, e));
}

static int
mode_exec(struct hwtdi_decoder *d, const struct hwtdi_pt_packet *p)
{
	const bool set = (p->value & 4) != 0;
	const bool changes = set != (d->has_iflag && d->iflag);
	struct hwtdi_ptn_pending e = { .wait = HWTDI_PTN_TIP,
		.what = HWTDI_PTN_ISA };
	int rc;

	/* Only if IF changes a FUP can be its own. */
	if (changes)
		e.wait |= HWTDI_PTN_FUP_BOUND;
	e.value = hwtdi_ptn_isa(p->value);
	rc = hwtdi_ptn_pend(d, &e);
	if (rc != HWTD_OK || !changes)
		return (rc);
	e.what = HWTDI_PTN_IFLAG;
	e.value = set;
	return (hwtdi_ptn_pend(d, &e));
}

static int
mode_tsx(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	const bool abort = (p->value & 2) != 0;
	struct hwtdi_ptn_pending e = { .what = HWTDI_PTN_TSX,
		.value = ((p->value & 1) != 0 ? HWTD_MODE_TRANSACTION : 0) |
		    (abort ? HWTD_MODE_ABORTED : 0) };

	if (!d->on)
		return (hwtdi_ptn_tell(d, flow, &e, NULL, err));
	e.wait = abort ? HWTDI_PTN_FUP : HWTDI_PTN_FUP_BOUND;
	return (hwtdi_ptn_pend(d, &e));
}

/* PIP or VMCS, which belong to the transfer that is under way, or to MOV CR3
 * or VMPTRLD. */
static int
context_packet(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	const bool vmcs = p->kind == HWTD_PK_PT_VMCS;
	const uint8_t bound = vmcs ? HWTDI_PTN_BOUND_VMCS
				   : HWTDI_PTN_BOUND_PIP;
	struct hwtdi_ptn_pending e = { .what = vmcs ? HWTDI_PTN_VMCS
						    : HWTDI_PTN_PAGING,
		.kind = (p->flags & HWTD_PKF_NON_ROOT) != 0,
		.value = p->value };
	int rc = HWTD_OK;

	if (d->async) {
		e.wait = HWTDI_PTN_TIP;
		rc = hwtdi_ptn_pend(d, &e);
		/* VMCS goes before PIP. */
		for (uint32_t i = d->n_pending; rc == HWTD_OK && vmcs &&
		     i-- > 1 && d->pending[i - 1].what == HWTDI_PTN_PAGING;) {
			d->pending[i] = d->pending[i - 1];
			d->pending[i - 1] = e;
		}
		return (rc);
	}
	if (d->on && (!d->half || (d->half_bound & bound) != 0)) {
		if (d->half)
			return (hwtdi_ptn_contradict(d, flow,
			    "two packets for one instruction", err));
		rc = hwtdi_ptn_to_bind(d, flow,
		    vmcs ? HWTDI_X86_VMPTRLD : HWTDI_X86_MOV_CR3, true, err);
	}
	if (rc != HWTD_OK)
		return (rc);
	d->half_bound |= bound;
	hwtdi_ptn_tell_detail(d, flow);
	put_context(d, flow, &e, NULL);
	d->wrote_cr3 = !vmcs && !d->half;
	return (HWTD_OK);
}

static int
marker(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	struct hwtdi_ptn_pending e = { .what = HWTDI_PTN_ROW,
		.kind = HWTD_EV_MARKER };

	e.detail.marker.payload = p->value;
	if (p->kind == HWTD_PK_PT_PTW) {
		e.what = HWTDI_PTN_ROW_AFTER;
		e.detail.marker.source = HWTD_MARKER_PTWRITE;
		e.detail.marker.size = p->count;
	} else {
		e.detail.marker.source = HWTD_MARKER_MNT;
		e.detail.marker.size = 8;
	}
	return (tell_or_pend(d, flow, &e, follows(p), err));
}

/* Instructions were passed since a packet with an address or an outcome. */
static bool
is_counted(const struct hwtdi_decoder *d)
{
	struct hwtdi_ptn_ahead a;

	if (d->passed_at > d->at)
		return (false);
	hwtdi_ptn_look(d, &a, d->passed_at);
	while (a.at < d->at) {
		if (!hwtdi_ptn_peek(d, &a) ||
		    !hwtdi_ptn_is_timing(a.packet.kind))
			return (false);
		a.at += a.packet.bytes;
	}
	return (true);
}

void
hwtdi_ptn_count_on(struct hwtdi_decoder *d)
{
	if (!is_counted(d))
		d->passed = 0;
}

/*
 * Where a trigger is that counts instructions from the last FUP, TIP, TNT or
 * trigger on; *known_out is false where that cannot be told.
 */
static int
find_trigger(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint32_t insns,
    bool *known_out, struct hwtd_error *err)
{
	int rc;

	d->passed_at = d->at;
	*known_out = d->on && !d->half && d->passed <= insns &&
	    (!d->async || insns == 0);
	if (!*known_out)
		return (HWTD_OK);
	rc = d->async ? hwtdi_ptn_to_ip(d, flow, d->async_ip, err)
		      : hwtdi_ptn_count(d, flow, insns, err);
	if (rc == HWTD_OK)
		d->passed = 0;
	return (rc);
}

/* TRIG, of trigger tracing; its count is that of find_trigger(). */
static int
trigger(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	struct hwtdi_ptn_pending e = { .what = HWTDI_PTN_ROW,
		.kind = HWTD_EV_MARKER };
	bool known = false;
	uint64_t ip;
	int rc;

	e.detail.marker.source = HWTD_MARKER_TRIGGER;
	e.detail.marker.size = 1;
	e.detail.marker.payload = p->value;
	if ((p->flags & HWTD_PKF_TRIG_MULTIPLE) != 0)
		e.detail.marker.flags |= HWTD_MARKERF_MULTIPLE;
	if (follows(p) || (p->flags & HWTD_PKF_TRIG_COUNT) == 0) {
		/* If it counts from its FUP on, it is not at that address. */
		e.value = p->count;
		return (tell_or_pend(d, flow, &e, follows(p), err));
	}
	rc = find_trigger(d, flow, p->count, &known, err);
	if (rc != HWTD_OK)
		return (rc);
	ip = hwtdi_ptn_ip(d);
	return (hwtdi_ptn_tell(d, flow, &e, known ? &ip : NULL, err));
}

/* MWAIT: the EXSTOP behind it says whether an address comes. */
static int
settle_mwaits(struct hwtdi_decoder *d, struct hwtdi_flow *flow, bool address,
    struct hwtd_error *err)
{
	for (uint32_t i = 0; i < d->n_pending;) {
		struct hwtdi_ptn_pending e = d->pending[i];

		if ((e.wait & HWTDI_PTN_EXSTOP) == 0) {
			i++;
			continue;
		}
		if (address) {
			d->pending[i++].wait = HWTDI_PTN_FUP_BOUND;
			continue;
		}
		memmove(&d->pending[i], &d->pending[i + 1],
		    (d->n_pending - i - 1) * sizeof(d->pending[0]));
		d->n_pending--;
		if (hwtdi_ptn_tell(d, flow, &e, NULL, err) != HWTD_OK)
			return (HWTD_E_NOMEM);
	}
	return (HWTD_OK);
}

static int
power(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	struct hwtdi_ptn_pending e = { .what = HWTDI_PTN_ROW,
		.kind = HWTD_EV_POWER };
	struct hwtd_power *power = &e.detail.power;
	int rc;

	switch (p->kind) {
	case HWTD_PK_PT_MWAIT:
		power->what = HWTD_POWER_MWAIT;
		power->hints = (uint32_t)p->value;
		power->extensions = p->count;
		e.wait = HWTDI_PTN_EXSTOP | HWTDI_PTN_FUP_BOUND;
		return (hwtdi_ptn_pend(d, &e));
	case HWTD_PK_PT_EXSTOP:
		power->what = HWTD_POWER_STOP;
		rc = settle_mwaits(d, flow, follows(p), err);
		if (rc != HWTD_OK)
			return (rc);
		break;
	case HWTD_PK_PT_PWRE:
		power->what = HWTD_POWER_ENTRY;
		power->state = (uint8_t)p->value;
		power->sub_state = (uint8_t)p->count;
		power->by_hardware = (p->flags & HWTD_PKF_HARDWARE) != 0;
		break;
	default:
		power->what = HWTD_POWER_EXIT;
		power->state = (uint8_t)p->value;
		power->sub_state = (uint8_t)p->count;
		power->wake = (uint8_t)(((p->flags &
					     HWTD_PKF_WAKE_INTERRUPT) != 0) |
		    ((p->flags & HWTD_PKF_WAKE_STORE) != 0) << 1 |
		    ((p->flags & HWTD_PKF_WAKE_AUTONOMOUS) != 0) << 2);
		break;
	}
	return (tell_or_pend(d, flow, &e, follows(p), err));
}

static int
frequency(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p)
{
	struct hwtdi_rare *rare;

	if (p->value == d->ratio)
		return (HWTD_OK);
	d->ratio = (uint32_t)p->value;
	hwtdi_ptn_tell_detail(d, flow);
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_FREQUENCY);
	hwtdi_rare_set_value(rare, d->ratio);
	return (HWTD_OK);
}

/* The event trace. */

struct cfe {
	uint32_t type;
	/* It starts an asynchronous branch. */
	bool branch;
	bool numbered;
};

/* By type of CFE; Intel SDM vol. 3C, "Control Flow Event (CFE) Packet". */
static const struct cfe cfes[] = {
	[1] = { HWTD_ASYNC_INTERRUPT, true, true },
	[2] = { HWTD_ASYNC_RETURN, false, false },
	[3] = { HWTD_ASYNC_SYSTEM_MANAGEMENT, true, false },
	[4] = { HWTD_ASYNC_SYSTEM_MANAGEMENT_RETURN, true, false },
	[5] = { HWTD_ASYNC_STARTUP, true, true },
	[6] = { HWTD_ASYNC_INIT, true, false },
	[7] = { HWTD_ASYNC_VM_ENTRY, false, false },
	[8] = { HWTD_ASYNC_VM_EXIT, true, false },
	[9] = { HWTD_ASYNC_VM_EXIT, true, true },
	[10] = { HWTD_ASYNC_SHUTDOWN, false, false },
	[12] = { HWTD_ASYNC_USER_INTERRUPT, true, true },
	[13] = { HWTD_ASYNC_USER_RETURN, false, false },
	[14] = { HWTD_ASYNC_SOFTWARE_INTERRUPT, true, true },
	[15] = { HWTD_ASYNC_SYSTEM_CALL, false, false },
};

/* What an EVD tells, by type; Intel SDM vol. 3C, "Event Data (EVD) Packet". */
static const struct {
	uint32_t type, flag;
} evds[] = {
	{ HWTD_ASYNC_INTERRUPT, HWTD_ASYNCF_FAULT_ADDR },
	{ HWTD_ASYNC_VM_EXIT, HWTD_ASYNCF_EXIT_QUALIFICATION },
	{ HWTD_ASYNC_VM_EXIT, HWTD_ASYNCF_EXIT_REASON },
};

#define N_CFES (sizeof(cfes) / sizeof(cfes[0]))
#define N_EVDS (sizeof(evds) / sizeof(evds[0]))

/* The CFE or EVD is of a kind that is known. */
static bool
is_known(const struct hwtdi_pt_packet *p)
{
	return (p->kind == HWTD_PK_PT_CFE
		? p->count < N_CFES && cfes[p->count].type != 0
		: p->count < N_EVDS);
}

bool
hwtdi_ptn_fits_data(const struct hwtdi_decoder *d,
    const struct hwtdi_pt_packet *p)
{
	const bool cfe = p->kind == HWTD_PK_PT_CFE;

	if (!is_known(p))
		return (true);
	for (uint32_t i = 0; i < d->n_pending; i++) {
		const struct hwtdi_ptn_pending *e = &d->pending[i];

		if (e->wait == HWTDI_PTN_CFE)
			return (cfe
				? e->detail.async.type == cfes[p->count].type
				: e->detail.async.type ==
					evds[p->count].type &&
				    (e->detail.async.flags &
					evds[p->count].flag) == 0);
	}
	return (true);
}

/* What EVD packets told of the event that this is; else a new one. */
static struct hwtdi_ptn_pending
take_data(struct hwtdi_decoder *d, uint32_t type)
{
	struct hwtdi_ptn_pending e = { .what = HWTDI_PTN_TRACE_EVENT };

	e.detail.async.type = type;
	for (uint32_t i = 0; i < d->n_pending; i++) {
		if (d->pending[i].wait != HWTDI_PTN_CFE)
			continue;
		e = d->pending[i];
		memmove(&d->pending[i], &d->pending[i + 1],
		    (d->n_pending - i - 1) * sizeof(d->pending[0]));
		d->n_pending--;
		break;
	}
	return (e);
}

static int
control_flow_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	struct hwtdi_ptn_pending e;

	if (!is_known(p)) {
		struct hwtdi_ptn_pending nothing = {
			.what = HWTDI_PTN_NOTHING
		};

		return (tell_or_pend(d, flow, &nothing, follows(p), err));
	}
	if (!hwtdi_ptn_fits_data(d, p))
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "data of another event before a CFE"));
	e = take_data(d, cfes[p->count].type);
	if (cfes[p->count].numbered) {
		e.detail.async.number = (uint32_t)p->value;
		e.detail.async.flags |= HWTD_ASYNCF_NUMBER;
	}
	if (follows(p) || !d->on || !cfes[p->count].branch)
		return (tell_or_pend(d, flow, &e, follows(p), err));
	e.wait = HWTDI_PTN_FUP;
	return (hwtdi_ptn_pend(d, &e));
}

static int
event_data(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p)
{
	struct hwtdi_ptn_pending e;
	struct hwtd_async *async = &e.detail.async;

	if (!is_known(p))
		return (HWTD_OK);
	if (!hwtdi_ptn_fits_data(d, p))
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "data of two events before a CFE"));
	e = take_data(d, evds[p->count].type);
	async->flags |= evds[p->count].flag;
	if (p->count == 0)
		async->fault_addr = p->value;
	else if (p->count == 1)
		async->exit_qualification = p->value;
	else
		async->exit_reason = p->value;
	e.wait = HWTDI_PTN_CFE;
	return (hwtdi_ptn_pend(d, &e));
}

/*
 * TraceStop: while tracing is off, and behind a TIP.PGE, too, where it "should
 * be applied at the last known IP" (Intel SDM vol. 3C, "TraceStop Packet").
 */
static int
stopped(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	struct hwtdi_rare *rare;

	if (d->weak)
		d->async = false;
	if (d->on && (d->n_pending != 0 || d->async || d->half))
		return (hwtdi_ptn_lose(d, flow, HWTD_GAP_BAD_PACKET,
		    "TraceStop between packets that belong together"));
	hwtdi_ptn_tell_detail(d, flow);
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_DISABLE);
	rare->row.flags |= HWTD_EVF_STOPPED;
	if (d->on) {
		hwtdi_rare_set_target(rare, hwtdi_ptn_ip(d));
		d->has_resume = false;
	}
	d->on = false;
	return (HWTD_OK);
}

static int
block_end(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	struct hwtdi_ptn_pending nothing = { .what = HWTDI_PTN_NOTHING };

	return (tell_or_pend(d, flow, &nothing, follows(p), err));
}

int
hwtdi_ptn_event(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_pt_packet *p, struct hwtd_error *err)
{
	switch (p->kind) {
	case HWTD_PK_PT_MODE_EXEC:
		return (mode_exec(d, p));
	case HWTD_PK_PT_MODE_TSX:
		return (mode_tsx(d, flow, p, err));
	case HWTD_PK_PT_PIP:
	case HWTD_PK_PT_VMCS:
		return (context_packet(d, flow, p, err));
	case HWTD_PK_PT_PTW:
	case HWTD_PK_PT_MNT:
		return (marker(d, flow, p, err));
	case HWTD_PK_PT_TRIG:
		return (trigger(d, flow, p, err));
	case HWTD_PK_PT_MWAIT:
	case HWTD_PK_PT_EXSTOP:
	case HWTD_PK_PT_PWRE:
	case HWTD_PK_PT_PWRX:
		return (power(d, flow, p, err));
	case HWTD_PK_PT_TSC:
		hwtdi_ptn_stamp(d, flow, p->value);
		return (HWTD_OK);
	case HWTD_PK_PT_CBR:
		return (frequency(d, flow, p));
	case HWTD_PK_PT_STOP:
		return (stopped(d, flow));
	case HWTD_PK_PT_CFE:
		return (control_flow_event(d, flow, p, err));
	case HWTD_PK_PT_EVD:
		return (event_data(d, flow, p));
	case HWTD_PK_PT_BEP:
		return (block_end(d, flow, p, err));
	default:
		return (HWTD_OK);
	}
}
