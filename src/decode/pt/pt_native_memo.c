/*
 * The native Intel PT engine: short TNT packets that were walked before.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_native.h"

/* Misses after which it is looked at how the memo does. */
#define MISSES 128u
/* So many lookups for a miss are worth it. */
#define WORTH 16u
/* Calls after which that is looked at as well, and packets that each should find. */
#define CALLS 256u
#define FEW 3u
/* Flows for which it rests at first, and at the most. */
#define FIRST_REST 32u
#define LAST_REST 1024u
/* The same after too many such calls. */
#define FIRST_BREAK 2u

static size_t
memo_bytes(unsigned int log)
{
	return (sizeof(struct hwtdi_ptn_memo_entry) << log);
}

void
hwtdi_ptn_memo_init(struct hwtdi_ptn_memo *memo)
{
	memset(memo, 0, sizeof(*memo));
	memo->log = HWTDI_PTN_MEMO_FIRST_LOG;
	memo->rest = 1;
	memo->next_rest = FIRST_REST;
	memo->next_break = FIRST_BREAK;
}

bool
hwtdi_ptn_memo_wake(struct hwtdi_ptn_memo *memo, struct hwtd_context *library)
{
	if (memo->entries == NULL)
		memo->entries = hwtdi_zalloc(library, memo_bytes(memo->log));
	memo->on = memo->entries != NULL;
	memo->rest = memo->on ? 0 : LAST_REST;
	return (memo->on);
}

void
hwtdi_ptn_memo_fini(struct hwtdi_ptn_memo *memo, struct hwtd_context *library)
{
	hwtdi_free(library, memo->entries, memo_bytes(memo->log));
	memo->entries = NULL;
	memo->on = false;
}

HWTDI_PT_INLINE struct hwtdi_ptn_memo_entry *
memo_at(const struct hwtdi_ptn_memo *memo, uint32_t key)
{
	return (&memo->entries[key * 0x9e3779b1u >> (32u - memo->log)]);
}

/* Without memory it stays as it is. */
static bool
memo_grow(struct hwtdi_ptn_memo *memo, struct hwtd_context *library)
{
	const uint8_t old_log = memo->log;
	struct hwtdi_ptn_memo_entry *old = memo->entries;

	if (old_log >= HWTDI_PTN_MEMO_LAST_LOG)
		return (false);
	memo->entries = hwtdi_zalloc(library, memo_bytes(old_log + 2u));
	if (memo->entries == NULL) {
		memo->entries = old;
		return (false);
	}
	memo->log = (uint8_t)(old_log + 2);
	for (size_t i = 0; i >> old_log == 0; i++)
		if (old[i].key != 0)
			*memo_at(memo, old[i].key) = old[i];
	hwtdi_free(library, old, memo_bytes(old_log));
	return (true);
}

/* Go on with it, have more of it, or let it rest. */
static void
memo_judge(struct hwtdi_ptn_memo *memo, struct hwtd_context *library)
{
	if (memo->lookups >= WORTH * memo->misses) {
		if (memo->next_rest > FIRST_REST)
			memo->next_rest /= 2;
	} else if (memo->lookups < memo->misses ||
	    (memo->fresh < memo->misses / 4 &&
		(memo->evictions < memo->misses / 4 ||
		    !memo_grow(memo, library)))) {
		memo->on = false;
		memo->rest = memo->next_rest;
		if (memo->next_rest < LAST_REST)
			memo->next_rest *= 2;
	}
	memo->lookups = 0;
	memo->misses = 0;
	memo->fresh = 0;
	memo->evictions = 0;
}

/*
 * A call found so many packets, up to one that is not for it.  Where they come one
 * by one, what it takes to ask is more than what it saves; a trace can have such
 * places, or be so.
 */
static void
memo_count_call(struct hwtdi_ptn_memo *memo, uint32_t found)
{
	memo->found += found;
	if (++memo->calls != CALLS)
		return;
	if (memo->found >= FEW * CALLS)
		memo->next_break = FIRST_BREAK;
	else {
		memo->on = false;
		memo->rest = memo->next_break;
		if (memo->next_break < LAST_REST)
			memo->next_break *= 2;
	}
	memo->calls = 0;
	memo->found = 0;
}

void
hwtdi_ptn_memo_forget(struct hwtdi_ptn_memo *memo)
{
	if (memo->entries != NULL)
		memset(memo->entries, 0, memo_bytes(memo->log));
}

static uint32_t
key_of(uint32_t node, uint8_t byte)
{
	return (node << 8 | byte);
}

/* Who counts runs is told one token.  The number of tokens. */
static uint32_t
shorten(const struct hwtdi_decoder *d, uint32_t *tokens, uint32_t n)
{
	const uint32_t token = d->runs != NULL && n > 1
	    ? hwtdi_ptn_runs_name(d->runs, d->library, tokens, n)
	    : 0;

	if (token == 0)
		return (n);
	tokens[0] = token;
	return (1);
}

/* Find out where a packet leads.  False: that is for someone else. */
static bool
learn(const struct hwtdi_decoder *d, const struct hwtdi_ptn_known *k,
    uint8_t byte, struct hwtdi_ptn_memo_entry *e)
{
	const unsigned int stop = hwtdi_pt_stop_bit(byte);
	uint32_t left = stop - 1;
	struct hwtdi_ptn_foresight f = { .node = k->node,
		.tokens = e->tokens,
		.max_tokens = HWTDI_PTN_MEMO_TOKENS,
		.max_stack = HWTDI_PTN_MEMO_STACK,
		.top = k->top };

	e->what = HWTDI_PTN_MEMO_MET;
	if (!hwtdi_ptn_foresee(&f, d, (uint64_t)byte << (64 - stop), &left))
		return (false);
	e->end = f.node;
	e->epoch = d->epoch;
	e->left = (uint8_t)left;
	e->effect = hwtdi_ptn_foreseen(&f, e->stack);
	e->what = (uint16_t)(shorten(d, e->tokens, f.n_tokens) |
	    (left != 0 ? HWTDI_PTN_MEMO_LEFT : 0) |
	    ((e->effect.pops | e->effect.writes) != 0 ? HWTDI_PTN_MEMO_CALLS
						      : 0) |
	    (f.away ? HWTDI_PTN_MEMO_AWAY : 0));
	return (true);
}

/* It is known where this leads; its effect on calls is done then. */
static bool
counts(struct hwtdi_decoder *d, struct hwtdi_ptn_known *k, uint32_t key,
    const struct hwtdi_ptn_memo_entry *e)
{
	return (e->key == key && (e->what & HWTDI_PTN_MEMO_MET) == 0 &&
	    ((e->what & HWTDI_PTN_MEMO_AWAY) == 0 || e->epoch == d->epoch) &&
	    hwtdi_ptn_calls_apply(d->calls, &k->top, e->effect, e->stack));
}

/* An entry that does not count as it is: NULL, or it does now. */
static const struct hwtdi_ptn_memo_entry *
look_closer(struct hwtdi_decoder *d, struct hwtdi_ptn_known *k, uint8_t byte,
    struct hwtdi_ptn_memo_entry *e)
{
	struct hwtdi_ptn_memo *const memo = &d->memo;
	const uint32_t key = key_of(k->node, byte);

	if (counts(d, k, key, e))
		return (e);
	/* Where code that is called from all over returns to. */
	if (e->key == key && e->effect.pops != 0 &&
	    (e->what & HWTDI_PTN_MEMO_MET) == 0) {
		e = memo_at(memo, key ^ d->calls[k->top] * 0x85ebca6bu);
		if (counts(d, k, key, e))
			return (e);
	}
	if (++memo->misses == MISSES) {
		memo_judge(memo, d->library);
		return (NULL);
	}
	/* Many are met only once. */
	if (e->key != key) {
		memo->fresh += e->key == 0;
		memo->evictions += e->key != 0;
		e->key = key;
		e->what = HWTDI_PTN_MEMO_MET;
		return (NULL);
	}
	if (!learn(d, k, byte, e))
		return (NULL);
	(void)hwtdi_ptn_calls_apply(d->calls, &k->top, e->effect, e->stack);
	return (e);
}

/* What is known of a packet; NULL: nothing. */
HWTDI_PT_INLINE const struct hwtdi_ptn_memo_entry *
look_up(struct hwtdi_decoder *d, struct hwtdi_ptn_known *k, uint32_t node,
    uint8_t byte)
{
	const uint32_t key = key_of(node, byte);
	struct hwtdi_ptn_memo_entry *e = memo_at(&d->memo, key);

	if (e->key == key &&
	    e->what < HWTDI_PTN_MEMO_COUNT + HWTDI_PTN_MEMO_LEFT)
		return (e);
	k->node = node;
	return (look_closer(d, k, byte, e));
}

/* Behind the last byte whose packets there is room for. */
HWTDI_PT_INLINE const uint8_t *
end_of_room(const struct hwtdi_flow *flow, const struct hwtdi_ptn_known *k,
    bool runs)
{
	const size_t n = (size_t)(k->stop - k->p);
	size_t room = 1 +
	    (HWTDI_FLOW_TOKENS - HWTDI_PTN_ROOM_TOKENS - k->n) /
		HWTDI_PTN_MEMO_TOKENS;
	const size_t anchors = 1 + HWTDI_FLOW_ANCHORS -
	    HWTDI_PTN_ROOM_ANCHORS - flow->n_anchors;

	if (!runs && room > anchors)
		room = anchors;
	return (k->p + (n < room ? n : room));
}

HWTDI_PT_INLINE void
take_packets(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_known *k, bool runs)
{
	const uint32_t flags = d->timed ? HWTDI_ANCHOR_ASK : 0;
	const uint64_t base = k->base;
	uint32_t *const tokens = flow->tokens;
	struct hwtdi_anchor *anchor = flow->anchors + flow->n_anchors;
	const uint8_t *p = k->p, *const stop = end_of_room(flow, k, runs);
	uint32_t node = k->node;
	size_t n = k->n, lookups = 0;
	bool missed = false;

	while (p < stop) {
		const uint8_t byte = *p;
		const struct hwtdi_ptn_memo_entry *e;

		if (hwtdi_pt_classes[byte] != HWTDI_PT_TNT) {
			/* One or two bytes; else see the walk. */
			if (hwtdi_pt_classes[byte] != HWTDI_PT_CYC ||
			    d->lex.skd007 != 0 || stop - p < 2 ||
			    (byte >> 2 & p[1] & 1) != 0)
				break;
			p += 1 + (byte >> 2 & 1);
			continue;
		}
		e = look_up(d, k, node, byte);
		if (e == NULL) {
			missed = true;
			break;
		}
		p++;
		if (runs)
			k->behind = p;
		else {
			anchor->at = (uint32_t)n;
			anchor->flags = flags;
			anchor->stream_off = base + (uint64_t)(uintptr_t)p;
			anchor++;
		}
		lookups++;
		memcpy(tokens + n, e->tokens, sizeof(e->tokens));
		n += e->what % HWTDI_PTN_MEMO_COUNT;
		node = e->end;
		if ((e->what & HWTDI_PTN_MEMO_LEFT) != 0) {
			k->n_bits = e->left;
			k->bits = (uint64_t)byte << (63 - e->left);
			break;
		}
	}
	d->memo.lookups += lookups;
	if (!missed)
		memo_count_call(&d->memo, (uint32_t)lookups);
	k->p = p;
	k->node = node;
	k->n = n;
	flow->n_anchors = (size_t)(anchor - flow->anchors);
}

void
hwtdi_ptn_memo_packets(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_known *k)
{
	take_packets(d, flow, k, false);
}

void
hwtdi_ptn_memo_runs(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_known *k)
{
	take_packets(d, flow, k, true);
}
