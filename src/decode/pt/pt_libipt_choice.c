/*
 * The libipt engine: which of several possible mappings the packets allow.
 *
 * Records without time leave open whether a mapping was already there when
 * code ran.  A second decoder goes over the packets since the last
 * synchronisation with each candidate in turn, newest first; the first that
 * gets past the place in question is it.
 */
#include <string.h>

#include "decode/pt/pt_libipt_internal.h"

/* Bytes of packets behind the place that a candidate has to bear out. */
#define EVIDENCE_BYTES 64

/* Candidates that are tried at one place. */
#define MAX_CANDIDATES 8

static bool
is_known(const struct hwtdi_decoder *d, uint64_t ip, uint32_t *choice_out)
{
	for (size_t i = 0; i < d->n_choices; i++) {
		if (ip < d->choices[i].first || ip > d->choices[i].last)
			continue;
		*choice_out = d->choices[i].choice;
		return (true);
	}
	return (false);
}

static bool
remember(struct hwtdi_decoder *d, uint32_t choice)
{
	struct hwtdi_ipt_choice *c;

	if (d->n_choices == HWTDI_IPT_CHOICES)
		return (false);
	c = &d->choices[d->n_choices++];
	c->first = d->span.address;
	c->last = d->span.address + (d->span.length - 1);
	c->choice = choice;
	return (true);
}

/* Decode with the choices of `t` up to `until`; true if nothing is lost. */
static bool
try_out(struct hwtdi_decoder *t, const struct hwtdi_segment *segment,
    size_t from, uint64_t until, struct hwtdi_flow *flow)
{
	struct hwtdi_segment part = *segment;
	int rc;

	part.bytes += from;
	part.n -= from;
	part.stream_off += from;
	t->lost = false;
	if (hwtdi_ipt_start(t, &part, NULL) != HWTD_OK)
		return (false);
	do {
		flow->n_tokens = 0;
		flow->n_rares = 0;
		flow->n_anchors = 0;
		rc = hwtdi_ipt_read(t, flow, NULL);
	} while (rc == HWTD_OK && !t->lost && t->anchor_off < until);
	return (rc >= 0 && (!t->lost || t->lost_off >= until));
}

bool
hwtdi_ipt_choose(struct hwtdi_decoder *d, uint64_t ip, uint32_t *choice_out)
{
	struct hwtdi_code_table table;
	struct hwtdi_decoder *t;
	struct hwtdi_flow *flow;
	struct hwtdi_code_span span = d->span;
	uint64_t until = d->here - d->sync_off + EVIDENCE_BYTES;
	bool fits = false;

	if (is_known(d, ip, choice_out))
		return (true);
	/* A trial takes the newest where it meets another such place. */
	*choice_out = 0;
	if (d->trial)
		return (true);
	t = hwtdi_alloc(d->library, sizeof(*t));
	flow = hwtdi_zalloc(d->library, sizeof(*flow));
	hwtdi_code_table_init(&table, d->library);
	for (uint32_t i = 0;
	     t != NULL && flow != NULL && !fits && i < MAX_CANDIDATES; i++) {
		memset(t, 0, sizeof(*t));
		t->library = d->library;
		t->code = d->code;
		t->table = &table;
		t->base = d->base;
		t->config = d->config;
		t->timed = d->timed;
		t->trial = true;
		memcpy(t->choices, d->choices, sizeof(t->choices));
		t->n_choices = d->n_choices;
		t->span = span;
		hwtdi_loop_init(&t->loop, d->library);
		if (remember(t, i))
			fits = try_out(t, &d->segment, d->sync_off, until,
			    flow);
		pt_blk_free_decoder(t->blk);
		hwtdi_loop_fini(&t->loop);
		*choice_out = i;
	}
	hwtdi_code_table_fini(&table);
	hwtdi_free(d->library, flow, sizeof(*flow));
	hwtdi_free(d->library, t, sizeof(*t));
	d->span = span;
	return (fits && remember(d, *choice_out));
}
