/*
 * The native Intel PT engine: decoding on trial, see pt_choice.h.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

/* Begin where `d` was entered last. */
static void
enter_like(struct hwtdi_decoder *t, const struct hwtdi_decoder *d)
{
	const struct hwtdi_ptn_entry *e = &d->entry;

	(void)hwtdi_ptn_start(t, &d->segment);
	t->at = e->at;
	if (e->at_psb)
		return;
	t->synced = true;
	t->on = e->on;
	hwtdi_ptn_go(t, e->ip);
	t->isa = e->isa;
	t->lex = e->lex;
	t->context = e->context;
	t->choice.moments = e->moments;
}

int
hwtdi_ptn_try_out(struct hwtdi_decoder *d, size_t until,
    struct hwtdi_flow *flow, struct hwtdi_pt_choice *choice_inout)
{
	struct hwtdi_decoder *t = hwtdi_ptn_new(d->library);
	int rc;

	if (t == NULL)
		return (HWTD_E_NOMEM);
	t->code = d->code;
	t->graph = d->graph;
	t->base = d->base;
	t->context = d->base;
	t->pt = d->pt;
	t->errata = d->errata;
	t->filtered = d->filtered;
	t->epoch = 1;
	t->choice = *choice_inout;
	/* Times were told already, for all of the segment up to here. */
	t->timed = d->timed;
	t->near_count = d->near_count;
	hwtdi_ptn_init(t);
	enter_like(t, d);
	do {
		hwtdi_flow_clear(flow);
		rc = hwtdi_ptn_read(t, flow, NULL);
	} while (rc == HWTD_OK && !t->choice.lost && t->at < until);
	*choice_inout = t->choice;
	hwtdi_ptn_fini(t);
	hwtdi_free(d->library, t, sizeof(*t));
	return (rc);
}
