/*
 * The native Intel PT engine: what it puts into a flow beside tokens.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

struct hwtdi_rare *
hwtdi_ptn_rare(struct hwtdi_decoder *d, struct hwtdi_flow *flow, uint8_t kind)
{
	return (hwtdi_rare_put(flow, kind,
	    d->segment.stream_off + d->anchor_off));
}

struct hwtd_gap *
hwtdi_ptn_gap(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t reason, size_t first, size_t end, const char *text)
{
	const bool known = d->last_token != 0 || d->has_last_ip;
	const uint64_t last_ip = known ? hwtdi_ptn_last_ip(d) : 0;

	return (hwtdi_rare_gap(flow, reason, d->segment.stream_off + first,
	    d->segment.stream_off + end, known ? &last_ip : NULL, text));
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
		hwtdi_rare_set_ip(rare, *ip);
}

void
hwtdi_ptn_stamp(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint64_t count)
{
	hwtdi_rare_set_value(hwtdi_ptn_rare(d, flow, HWTD_EV_TIME), count);
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
	hwtdi_rare_set_value(rare, 0);
	if (ip != NULL)
		hwtdi_rare_set_ip(rare, *ip);
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
	hwtdi_rare_set_value(rare, HWTD_MODE_IS_TRANSACTION | bits);
	if (ip != NULL)
		hwtdi_rare_set_ip(rare, *ip);
}
