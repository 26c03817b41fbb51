/*
 * The native Intel PT engine: which of several possible mappings the packets
 * allow.
 *
 * Records without time leave open whether a mapping was already there when
 * code ran.  A second decoder goes over the packets since decoding was entered
 * last with each candidate in turn, newest first; the first that gets well past
 * the place in question is it.  If none does, because other code is missing or
 * in doubt as well, it is the one that got furthest.  A mapping whose bytes are
 * missing is it only when no other can be.
 */
#include <string.h>

#include "decode/pt/pt_native.h"

/* Bytes of packets behind the place that a candidate has to bear out. */
#define EVIDENCE_BYTES 64

/* How far a candidate is borne out: to the end, or up to a byte. */
#define TO_THE_END SIZE_MAX
#define NOT_AT_ALL 0

/* Nothing is said against the code that was decoded before. */
static bool
ends_evidence(uint32_t reason)
{
	return (reason == HWTD_GAP_NO_CODE || reason == HWTD_GAP_TRUNCATED);
}

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
	t->moments = e->moments;
}

/* Decode with the choices of `t` up to `until`. */
static size_t
try_out(struct hwtdi_decoder *t, const struct hwtdi_decoder *d, size_t until,
    struct hwtdi_flow *flow)
{
	int rc;

	enter_like(t, d);
	hwtdi_flow_init(flow);
	do {
		hwtdi_flow_clear(flow);
		rc = hwtdi_ptn_read(t, flow, NULL);
	} while (rc == HWTD_OK && !t->lost && t->at < until);
	if (rc < 0)
		return (NOT_AT_ALL);
	if (!t->lost || t->lost_at >= until)
		return (TO_THE_END);
	/* What it met there may be at fault. */
	if (t->doubted)
		return (t->doubt_at);
	return (ends_evidence(t->lost_reason) ? t->lost_at : NOT_AT_ALL);
}

static size_t
try_section(struct hwtdi_decoder *d, uint32_t section, struct hwtdi_decoder *t,
    struct hwtdi_flow *flow)
{
	size_t got;

	memset(t, 0, sizeof(*t));
	t->library = d->library;
	t->code = d->code;
	t->graph = d->graph;
	t->base = d->base;
	t->context = d->base;
	t->pt = d->pt;
	t->errata = d->errata;
	t->filtered = d->filtered;
	t->epoch = 1;
	t->trial = true;
	t->question = d->at;
	/* Times were told already, for all of the segment up to here. */
	t->timed = d->timed;
	memcpy(t->chosen, d->chosen, d->n_chosen * sizeof(d->chosen[0]));
	t->n_chosen = d->n_chosen;
	t->chosen[t->n_chosen++] = section;
	t->near_count = d->near_count;
	hwtdi_ptn_init(t);
	got = try_out(t, d, d->at + EVIDENCE_BYTES, flow);
	hwtdi_ptn_fini(t);
	return (got);
}

int
hwtdi_ptn_choose(struct hwtdi_decoder *d, const struct hwtdi_code_query *query,
    uint64_t ip)
{
	struct hwtdi_code_query q = *query;
	struct hwtdi_code_span span;
	struct hwtdi_decoder *t;
	struct hwtdi_flow *flow;
	size_t got, best = NOT_AT_ALL;
	uint32_t section = HWTD_NO_ID;
	int rc = HWTD_E_STATE;

	/* A trial takes the newest where it meets another such place. */
	if (d->trial) {
		if (!d->doubted)
			d->doubt_at = d->at;
		d->doubted = true;
		return (HWTD_OK);
	}
	if (d->n_chosen == HWTDI_PTN_CHOICES)
		return (HWTD_E_STATE);
	t = hwtdi_alloc(d->library, sizeof(*t));
	flow = hwtdi_alloc(d->library, sizeof(*flow));
	while (t != NULL && flow != NULL && best != TO_THE_END) {
		rc = d->code.find(d->code.arg, &q, ip, &span);
		if (rc != HWTD_END)
			break;
		got = try_section(d, span.section, t, flow);
		if (got > best) {
			best = got;
			section = span.section;
		}
		q.choice++;
	}
	hwtdi_free(d->library, flow, sizeof(*flow));
	hwtdi_free(d->library, t, sizeof(*t));
	if (best == NOT_AT_ALL)
		return (rc == HWTD_E_UNSUPPORTED ? rc : HWTD_E_STATE);
	d->chosen[d->n_chosen++] = section;
	return (HWTD_OK);
}
