/*
 * The libipt engine: decoding on trial, see pt_choice.h.
 */
#include "decode/pt/pt_libipt_internal.h"

int
hwtdi_ipt_try_out(struct hwtdi_decoder *d, size_t until,
    struct hwtdi_flow *flow, struct hwtdi_pt_choice *choice_inout)
{
	struct hwtdi_decoder *t = hwtdi_zalloc(d->library, sizeof(*t));
	struct hwtdi_segment part = d->segment;
	int rc;

	if (t == NULL)
		return (HWTD_E_NOMEM);
	t->library = d->library;
	t->code = d->code;
	t->graph = d->graph;
	t->base = d->base;
	t->config = d->config;
	t->timed = d->timed;
	t->choice = *choice_inout;
	hwtdi_loop_init(&t->loop, d->library);
	/* That is a PSB. */
	part.bytes += d->sync_off;
	part.n -= d->sync_off;
	part.stream_off += d->sync_off;
	rc = hwtdi_ipt_start(t, &part, NULL);
	while (rc == HWTD_OK && !t->choice.lost && t->anchor_off < until) {
		hwtdi_flow_clear(flow);
		rc = hwtdi_ipt_read(t, flow, NULL);
	}
	*choice_inout = t->choice;
	hwtdi_ipt_close(t);
	return (rc);
}
