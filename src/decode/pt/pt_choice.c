/*
 * Which of several possible mappings the packets allow.
 *
 * Records without time leave open whether a mapping was already there when
 * code ran.  A second decoder goes over the packets since decoding was entered
 * last with each candidate in turn, newest first; the first that gets well past
 * the place in question is it.  If none does, because other code is missing or
 * in doubt as well, it is the one that got furthest.  A mapping whose bytes are
 * missing is it only when no other can be.
 */
#include "decode/pt/pt_choice.h"

#include <string.h>

/* Bytes of packets behind the place that a candidate has to bear out. */
#define EVIDENCE_BYTES 64

/* How far a candidate is borne out: to the end, or up to a byte. */
#define TO_THE_END SIZE_MAX
#define NOT_AT_ALL 0

void
hwtdi_pt_choice_begin(struct hwtdi_pt_choice *choice)
{
	choice->moments.space = HWTD_NO_ID;
	if (!choice->trial)
		choice->n_chosen = 0;
}

void
hwtdi_pt_choice_lost(struct hwtdi_pt_choice *choice, size_t at,
    uint32_t reason)
{
	if (choice->lost)
		return;
	choice->lost = true;
	choice->lost_at = at;
	choice->lost_reason = reason;
}

/* Nothing is said against the code that was decoded before. */
static bool
ends_evidence(uint32_t reason)
{
	return (reason == HWTD_GAP_NO_CODE || reason == HWTD_GAP_TRUNCATED);
}

/* How far decoding gets with one more choice. */
static size_t
try_section(const struct hwtdi_pt_asker *asker, uint32_t section,
    struct hwtdi_flow *flow)
{
	const struct hwtdi_pt_choice *now = asker->choice;
	const size_t until = asker->at + EVIDENCE_BYTES;
	struct hwtdi_pt_choice with;

	memset(&with, 0, sizeof(with));
	memcpy(with.chosen, now->chosen,
	    now->n_chosen * sizeof(now->chosen[0]));
	with.n_chosen = now->n_chosen;
	with.chosen[with.n_chosen++] = section;
	with.trial = true;
	with.question = asker->at;
	hwtdi_flow_init(flow);
	if (asker->try_out(asker->decoder, until, flow, &with) < 0)
		return (NOT_AT_ALL);
	if (!with.lost || with.lost_at >= until)
		return (TO_THE_END);
	/* What it met there may be at fault. */
	if (with.doubted)
		return (with.doubt_at);
	return (ends_evidence(with.lost_reason) ? with.lost_at : NOT_AT_ALL);
}

/* HWTD_E_STATE: none, or too many.  HWTD_E_UNSUPPORTED: its bytes are missing. */
static int
choose(const struct hwtdi_pt_asker *asker,
    const struct hwtdi_code_query *query, uint64_t ip)
{
	struct hwtdi_pt_choice *choice = asker->choice;
	struct hwtdi_code_query q = *query;
	struct hwtdi_code_span span;
	struct hwtdi_flow *flow;
	size_t got, best = NOT_AT_ALL;
	uint32_t section = HWTD_NO_ID;
	int rc = HWTD_E_STATE;

	/* A trial takes the newest where it meets another such place. */
	if (choice->trial) {
		if (!choice->doubted)
			choice->doubt_at = asker->at;
		choice->doubted = true;
		return (HWTD_OK);
	}
	if (choice->n_chosen == HWTDI_PT_CHOICES)
		return (HWTD_E_STATE);
	flow = hwtdi_alloc(asker->library, sizeof(*flow));
	while (flow != NULL && best != TO_THE_END) {
		rc = asker->code->find(asker->code->arg, &q, ip, &span);
		if (rc != HWTD_END)
			break;
		got = try_section(asker, span.section, flow);
		if (got > best) {
			best = got;
			section = span.section;
		}
		q.choice++;
	}
	hwtdi_free(asker->library, flow, sizeof(*flow));
	if (best == NOT_AT_ALL)
		return (rc == HWTD_E_UNSUPPORTED ? rc : HWTD_E_STATE);
	choice->chosen[choice->n_chosen++] = section;
	return (HWTD_OK);
}

static bool
is_kernel(uint64_t ip)
{
	return (ip >> 63 != 0);
}

int
hwtdi_pt_find_code(const struct hwtdi_pt_asker *asker,
    struct hwtdi_code_query *query, uint64_t ip, struct hwtdi_code_span *out)
{
	const struct hwtdi_code_source *code = asker->code;
	struct hwtdi_pt_choice *choice = asker->choice;
	int rc;

	rc = code->find(code->arg, query, ip, out);
	if (rc == HWTD_E_STATE &&
	    (!choice->trial || asker->at < choice->question)) {
		/* Records can be incomplete; what was known is not sure. */
		choice->moments.space = HWTD_NO_ID;
		query->moments = choice->moments;
		rc = code->find(code->arg, query, ip, out);
	}
	if (rc == HWTD_END) {
		rc = choose(asker, query, ip);
		if (rc != HWTD_OK)
			return (rc);
		query->n_chosen = choice->n_chosen;
		rc = code->find(code->arg, query, ip, out);
	}
	if (rc != HWTD_OK && rc != HWTD_END)
		return (rc);
	choice->moments = out->moments;
	/* The kernel can start another program. */
	if (is_kernel(ip))
		choice->moments.until = UINT64_MAX;
	return (HWTD_OK);
}
