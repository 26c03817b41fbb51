/*
 * The libipt engine: which of several possible mappings the packets allow.
 *
 * Records without time leave open whether a mapping was already there when
 * code ran.  A second decoder goes over the packets since the last
 * synchronisation with each candidate in turn, newest first; the first that
 * gets well past the place in question is it.  If none does, because other code
 * is missing or in doubt as well, it is the one that got furthest.  A mapping
 * whose bytes are missing is it only when no other can be.
 */
#include <string.h>

#include "decode/pt/pt_libipt_internal.h"

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

/* Decode with the choices of `t` up to `until`. */
static size_t
try_out(struct hwtdi_decoder *t, const struct hwtdi_segment *segment,
    size_t from, uint64_t until, struct hwtdi_flow *flow)
{
	struct hwtdi_segment part = *segment;
	int rc;

	part.bytes += from;
	part.n -= from;
	part.stream_off += from;
	if (hwtdi_ipt_start(t, &part, NULL) != HWTD_OK)
		return (NOT_AT_ALL);
	do {
		hwtdi_flow_clear(flow);
		rc = hwtdi_ipt_read(t, flow, NULL);
	} while (rc == HWTD_OK && !t->lost && t->anchor_off < until);
	if (rc < 0)
		return (NOT_AT_ALL);
	if (!t->lost || t->lost_off >= until)
		return (TO_THE_END);
	/* What it met there may be at fault. */
	if (t->doubted)
		return (t->doubt_off);
	return (ends_evidence(t->lost_reason) ? t->lost_off : NOT_AT_ALL);
}

static size_t
try_section(const struct hwtdi_decoder *d, uint32_t section,
    struct hwtdi_decoder *t, struct hwtdi_flow *flow)
{
	uint64_t until = d->here - d->sync_off + EVIDENCE_BYTES;
	size_t got;

	memset(t, 0, sizeof(*t));
	t->library = d->library;
	t->code = d->code;
	t->graph = d->graph;
	t->base = d->base;
	t->config = d->config;
	t->timed = d->timed;
	t->trial = true;
	t->question = d->here - d->sync_off;
	memcpy(t->chosen, d->chosen, d->n_chosen * sizeof(d->chosen[0]));
	t->n_chosen = d->n_chosen;
	t->chosen[t->n_chosen++] = section;
	hwtdi_loop_init(&t->loop, d->library);
	got = try_out(t, &d->segment, d->sync_off, until, flow);
	pt_blk_free_decoder(t->blk);
	hwtdi_loop_fini(&t->loop);
	hwtdi_array_free(t->library, t->places, t->cap_places,
	    sizeof(*t->places));
	return (got);
}

int
hwtdi_ipt_choose(struct hwtdi_decoder *d, const struct hwtdi_code_query *query,
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
			d->doubt_off = d->here;
		d->doubted = true;
		return (HWTD_OK);
	}
	if (d->n_chosen == HWTDI_IPT_CHOICES)
		return (HWTD_E_STATE);
	t = hwtdi_alloc(d->library, sizeof(*t));
	flow = hwtdi_zalloc(d->library, sizeof(*flow));
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
