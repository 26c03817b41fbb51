/*
 * The native Intel PT engine: what it puts into a flow beside tokens.
 */
#include <stdio.h>
#include <string.h>

#include "decode/pt/pt_native.h"

/* Clear what is read of the details of a kind: a gap is much bigger. */
static void
clear_detail(struct hwtdi_rare *rare, uint8_t kind)
{
	switch (kind) {
	case HWTD_EV_GAP:
		memset(&rare->detail.gap, 0, sizeof(rare->detail.gap));
		break;
	case HWTD_EV_MARKER:
		memset(&rare->detail.marker, 0, sizeof(rare->detail.marker));
		break;
	case HWTD_EV_POWER:
		memset(&rare->detail.power, 0, sizeof(rare->detail.power));
		break;
	case HWTD_EV_ASYNC:
		memset(&rare->detail.async, 0, sizeof(rare->detail.async));
		break;
	default:
		break;
	}
}

struct hwtdi_rare *
hwtdi_ptn_rare(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint8_t kind)
{
	struct hwtdi_rare *rare = hwtdi_ptn_bare(d, flow, kind);

	clear_detail(rare, kind);
	return (rare);
}

struct hwtd_gap *
hwtdi_ptn_gap(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason, size_t first, size_t end, const char *text)
{
	struct hwtdi_rare *rare = hwtdi_ptn_rare(d, flow, HWTD_EV_GAP);
	struct hwtd_gap *gap = &rare->detail.gap;

	rare->row.stream_off = d->segment.stream_off + first;
	gap->reason = reason;
	gap->first = d->segment.stream_off + first;
	gap->end = d->segment.stream_off + end;
	if (d->last_token != 0 || d->has_last_ip) {
		gap->ip_before = hwtdi_ptn_last_ip(d);
		gap->flags |= HWTD_GAPF_IP_BEFORE;
	}
	(void)snprintf(gap->text, sizeof(gap->text), "%s", text);
	return (gap);
}

void
hwtdi_ptn_context(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_exec_context *now, uint16_t flags, const uint64_t *ip)
{
	struct hwtdi_rare *rare;

	if ((flags & HWTD_EVF_STATUS) != 0 &&
	    memcmp(now, &d->context, sizeof(*now)) == 0)
		return;
	d->context = *now;
	/* Other code may lie at the same address now. */
	if (!d->code.fixed)
		hwtdi_ptn_forget_code(d);
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_CONTEXT);
	rare->detail.context = *now;
	rare->row.flags |= flags;
	if (ip != NULL)
		hwtdi_ptn_set_ip(rare, *ip);
}

void
hwtdi_ptn_stamp(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t count)
{
	hwtdi_ptn_set_value(hwtdi_ptn_rare(d, flow, HWTD_EV_TIME), count);
}

void
hwtdi_ptn_mode(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint8_t isa,
    uint16_t flags, const uint64_t *ip)
{
	struct hwtdi_rare *rare;

	if (isa == d->isa)
		return;
	hwtdi_ptn_forget_code(d);
	d->isa = isa;
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_MODE);
	rare->row.flags |= (uint16_t)(isa << HWTD_EVF_ISA_SHIFT) | flags;
	hwtdi_ptn_set_value(rare, 0);
	if (ip != NULL)
		hwtdi_ptn_set_ip(rare, *ip);
}

void
hwtdi_ptn_transaction(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t bits, uint16_t flags, const uint64_t *ip)
{
	const bool now = (bits & HWTD_MODE_TRANSACTION) != 0;
	struct hwtdi_rare *rare;

	if ((flags & HWTD_EVF_STATUS) != 0 && now == d->transaction)
		return;
	d->transaction = now;
	rare = hwtdi_ptn_rare(d, flow, HWTD_EV_MODE);
	rare->row.flags |= (uint16_t)(d->isa << HWTD_EVF_ISA_SHIFT) | flags;
	hwtdi_ptn_set_value(rare, HWTD_MODE_IS_TRANSACTION | bits);
	if (ip != NULL)
		hwtdi_ptn_set_ip(rare, *ip);
}
