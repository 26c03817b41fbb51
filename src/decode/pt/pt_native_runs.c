/*
 * The native Intel PT engine: runs of nodes as tokens.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_native.h"

/* Entries of the index, and of what was met, at first. */
#define FIRST_LOG 9u
#define MET_LOG 13u
/* Places of the index that are looked at. */
#define PROBES 8u
/* Tokens of a run at the most. */
#define MAX_TOKENS 96u

/* Lookups after which it is looked at how they do. */
#define LOOKUPS 256u
/* Outcomes found for a lookup that are worth it. */
#define WORTH 28u
/* Flows for which it rests at first, and at the most. */
#define FIRST_REST 4u
#define LAST_REST 128u

/* Memory. */

static size_t
slots_bytes(unsigned int log)
{
	return (sizeof(uint32_t) << log);
}

int
hwtdi_ptn_runs_open(struct hwtd_context *library, struct hwtdi_ptn_runs **out,
    struct hwtd_error *err)
{
	struct hwtdi_ptn_runs *r = hwtdi_zalloc(library, sizeof(*r));

	if (r == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*r)));
	r->log = FIRST_LOG;
	r->most = HWTDI_PTN_RUN_BITS;
	r->next_rest = FIRST_REST;
	r->slots = hwtdi_zalloc(library, slots_bytes(r->log));
	r->met = hwtdi_zalloc(library, sizeof(r->met[0]) << MET_LOG);
	if (r->slots == NULL || r->met == NULL) {
		hwtdi_ptn_runs_close(library, r);
		return (hwtdi_fail_nomem(err, slots_bytes(MET_LOG)));
	}
	*out = r;
	return (HWTD_OK);
}

void
hwtdi_ptn_runs_close(struct hwtd_context *library, struct hwtdi_ptn_runs *r)
{
	if (r == NULL)
		return;
	hwtdi_free(library, r->slots, slots_bytes(r->log));
	hwtdi_free(library, r->met, sizeof(r->met[0]) << MET_LOG);
	hwtdi_array_free(library, r->at, r->cap, sizeof(r->at[0]));
	hwtdi_array_free(library, r->tokens, r->cap_tokens,
	    sizeof(r->tokens[0]));
	hwtdi_free(library, r, sizeof(*r));
}

/* Its upper bits are the better ones. */
HWTDI_PT_INLINE uint64_t
hash_of(uint32_t node, uint64_t bits)
{
	return ((bits ^ node * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u);
}

HWTDI_PT_INLINE uint32_t *
slot_of(const struct hwtdi_ptn_runs *r, uint64_t hash, uint32_t i)
{
	return (
	    &r->slots[((hash >> (64 - r->log)) + i) & ((1u << r->log) - 1)]);
}

static bool
put_slot(struct hwtdi_ptn_runs *r, uint64_t hash, uint32_t number)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t *slot = slot_of(r, hash, i);

		if (*slot == 0) {
			*slot = number + 1;
			return (true);
		}
	}
	return (false);
}

/* Half of the index is free.  Without memory it stays as it is. */
static void
grow_slots(struct hwtdi_ptn_runs *r, struct hwtd_context *library)
{
	uint32_t *slots;

	if (r->n < (size_t)1 << (r->log - 1))
		return;
	slots = hwtdi_zalloc(library, slots_bytes(r->log + 1u));
	if (slots == NULL)
		return;
	hwtdi_free(library, r->slots, slots_bytes(r->log));
	r->slots = slots;
	r->log++;
	/* What finds no place is not found any more, but stays. */
	for (uint32_t i = 0; i < r->n; i++)
		(void)put_slot(r, hash_of(r->at[i].node, r->at[i].bits), i);
}

/* Room for one more run; false: there is none. */
static bool
reserve(struct hwtdi_ptn_runs *r, struct hwtd_context *library)
{
	if (r->n == HWTDI_RUNS ||
	    r->n_tokens + MAX_TOKENS > HWTDI_PTN_RUN_TOKENS) {
		r->refused++;
		return (false);
	}
	grow_slots(r, library);
	return (hwtdi_array_grow(library, &r->at, &r->cap, r->n + 1,
		    sizeof(r->at[0]), NULL) == HWTD_OK &&
	    hwtdi_array_grow(library, &r->tokens, &r->cap_tokens,
		r->n_tokens + MAX_TOKENS, sizeof(r->tokens[0]),
		NULL) == HWTD_OK);
}

/* How it does. */

/* Go on with it, or let it rest. */
static void
judge(struct hwtdi_ptn_runs *r)
{
	if (r->outcomes < WORTH * r->lookups) {
		r->rest = r->next_rest;
		if (r->next_rest < LAST_REST)
			r->next_rest *= 2;
	} else if (r->next_rest > FIRST_REST)
		r->next_rest /= 2;
	r->lookups = 0;
	r->outcomes = 0;
}

void
hwtdi_ptn_runs_begin(struct hwtdi_ptn_runs *r)
{
	if (r == NULL)
		return;
	if (r->rest != 0)
		r->rest--;
	if (!r->over)
		return;
	r->over = false;
	r->refused = 0;
	r->n = 0;
	r->n_tokens = 0;
	memset(r->slots, 0, slots_bytes(r->log));
}

void
hwtdi_ptn_runs_end(struct hwtdi_ptn_runs *r, struct hwtdi_flow *flow)
{
	if (r == NULL)
		return;
	r->over = r->refused >= HWTDI_RUNS / 4;
	flow->n_runs = (uint32_t)r->n;
	flow->runs_over = r->over;
}

void
hwtdi_ptn_runs_forget(struct hwtdi_ptn_runs *r)
{
	/* No epoch is 0. */
	for (size_t i = 0; r != NULL && i < r->n; i++)
		r->at[i].epoch = 0;
}

const uint32_t *
hwtdi_ptn_runs_expand(const struct hwtdi_ptn_runs *r, uint32_t number,
    size_t *n_out)
{
	*n_out = r->at[number].n_tokens;
	return (r->tokens + r->at[number].first);
}

/* Packets. */

/* TNT packets, and timing between them. */
struct gathered {
	/* With a 1 in front. */
	uint64_t bits;
	uint32_t n;
	/* Of the last packet. */
	uint32_t n_last, bytes_last;
	/* Behind it. */
	const uint8_t *end;
};

/* Outcomes of the long TNT packet at `p`, with a 1 in front; 0: it is none. */
static uint64_t
read_long(const uint8_t *p, const uint8_t *bytes_end)
{
	const uint64_t v = hwtdi_pt_load(p + 2, 6);

	return (p[1] != 0xa3 || v <= 1 || bytes_end - p < 8 ? 0 : v);
}

/* Bytes of a packet of timing, or padding, at `p`; 0: there is none. */
static size_t
skip_timing(const struct hwtdi_decoder *d, const uint8_t *p,
    const uint8_t *stop)
{
	switch (hwtdi_pt_classes[p[0]]) {
	case HWTDI_PT_CYC:
		if (stop - p < 2 ||
		    ((hwtdi_pt_load(p, 2) | d->lex.skd007) &
			HWTDI_PT_CYC_LONG) == HWTDI_PT_CYC_LONG)
			return (0);
		return (1u + (p[0] >> 2 & 1));
	case HWTDI_PT_MTC:
		return (stop - p < 2 ? 0 : 2);
	case HWTDI_PT_PAD:
		return (hwtdi_pt_pad_run(p, stop));
	default:
		return (0);
	}
}

HWTDI_PT_INLINE void
gather(const struct hwtdi_decoder *d, const struct hwtdi_ptn_known *k,
    const uint8_t *bytes_end, struct gathered *g)
{
	const uint32_t most = d->runs->most;
	const uint8_t *p = k->p, *end = p;
	uint64_t bits = 1;
	uint32_t total = 0, last = 0, bytes = 0;

	while (p < k->stop) {
		const uint8_t class = hwtdi_pt_classes[p[0]];
		uint64_t v = p[0] >> 1;
		uint32_t n, size = 1;

		if (class != HWTDI_PT_TNT) {
			size = (uint32_t)skip_timing(d, p, k->stop);
			p += size;
			if (size != 0)
				continue;
			v = class == HWTDI_PT_EXT ? read_long(p, bytes_end)
						  : 0;
			if (v == 0)
				break;
			size = 8;
		}
		n = hwtdi_pt_stop_bit(v);
		if (total + n > most && total != 0)
			break;
		/* The 1 in front of `v` is taken from what is before it. */
		bits = ((bits - 1) << n) + v;
		total += n;
		last = n;
		bytes = size;
		p += size;
		end = p;
	}
	g->bits = bits;
	g->n = total;
	g->n_last = last;
	g->bytes_last = bytes;
	g->end = end;
}

/* Runs. */

/* It was met before.  It is from now on. */
static bool
meet(struct hwtdi_ptn_runs *r, uint64_t hash)
{
	uint16_t *met = &r->met[hash >> (64 - MET_LOG)];
	const uint16_t what = (uint16_t)(hash >> 16 | 1);
	const bool was = *met == what;

	*met = what;
	return (was);
}

/*
 * What was foreseen, as the next run; its tokens are behind those of all.
 * False: it is not known.
 */
static bool
make_run(const struct hwtdi_decoder *d, const struct hwtdi_ptn_known *k,
    const struct gathered *g, struct hwtdi_ptn_run *out)
{
	const struct hwtdi_ptn_runs *r = d->runs;
	struct hwtdi_ptn_foresight f = { .node = k->node,
		.tokens = r->tokens + r->n_tokens,
		.max_tokens = MAX_TOKENS,
		.max_stack = HWTDI_PTN_RUN_STACK,
		.top = k->top };
	uint32_t left = g->n;

	if (!hwtdi_ptn_foresee(&f, d, g->bits << (64 - g->n), &left))
		return (false);
	memset(out, 0, sizeof(*out));
	out->bits = g->bits;
	out->node = k->node;
	out->end = f.node;
	out->token = f.n_tokens == 1 ? f.tokens[0]
				     : HWTDI_TOKEN_RUN | (uint32_t)r->n;
	out->first = (uint32_t)r->n_tokens;
	out->n_tokens = (uint16_t)f.n_tokens;
	out->left = (uint8_t)left;
	out->epoch = d->epoch;
	out->effect = hwtdi_ptn_foreseen(&f, out->stack);
	/* Of a packet before the last none can be left. */
	if (left >= g->n_last || f.n_tokens == 0)
		out->what |= HWTDI_PTN_RUN_NONE;
	if (left != 0)
		out->what |= HWTDI_PTN_RUN_LEFT;
	if ((out->effect.pops | out->effect.writes) != 0)
		out->what |= HWTDI_PTN_RUN_CALLS;
	if (f.away)
		out->what |= HWTDI_PTN_RUN_AWAY;
	return (true);
}

/* Both do the same. */
static bool
is_same(const struct hwtdi_ptn_runs *r, const struct hwtdi_ptn_run *a,
    const struct hwtdi_ptn_run *b)
{
	return (a->end == b->end && a->what == b->what && a->left == b->left &&
	    a->n_tokens == b->n_tokens &&
	    memcmp(&a->effect, &b->effect, sizeof(a->effect)) == 0 &&
	    memcmp(a->stack, b->stack, sizeof(a->stack)) == 0 &&
	    memcmp(r->tokens + a->first, r->tokens + b->first,
		a->n_tokens * sizeof(r->tokens[0])) == 0);
}

/*
 * Find out where outcomes lead; run number `old` did so before units lay
 * elsewhere, if it is one.  NULL: it is not known, or there is no room.
 */
static const struct hwtdi_ptn_run *
learn(struct hwtdi_decoder *d, const struct hwtdi_ptn_known *k,
    const struct gathered *g, uint64_t hash, size_t old)
{
	struct hwtdi_ptn_runs *r = d->runs;
	struct hwtdi_ptn_run *run;

	if (!reserve(r, d->library))
		return (NULL);
	run = &r->at[r->n];
	if (!make_run(d, k, g, run))
		return (NULL);
	if (old < r->n && is_same(r, &r->at[old], run)) {
		r->at[old].epoch = d->epoch;
		return (&r->at[old]);
	}
	if (!put_slot(r, hash, (uint32_t)r->n)) {
		r->refused++;
		return (NULL);
	}
	r->n++;
	r->n_tokens += run->n_tokens;
	return (run);
}

/* Do to calls what a run does; false: they are others. */
static bool
apply(struct hwtdi_decoder *d, struct hwtdi_ptn_known *k,
    const struct hwtdi_ptn_run *run)
{
	return ((run->what & HWTDI_PTN_RUN_CALLS) == 0 ||
	    (run->what & HWTDI_PTN_RUN_NONE) != 0 ||
	    hwtdi_ptn_calls_apply(d->calls, &k->top, run->effect, run->stack));
}

/* The run of outcomes, whose effect on calls is done; NULL: none is known. */
static const struct hwtdi_ptn_run *
find(struct hwtdi_decoder *d, struct hwtdi_ptn_known *k,
    const struct gathered *g, uint64_t hash)
{
	struct hwtdi_ptn_runs *r = d->runs;
	const struct hwtdi_ptn_run *run;
	size_t old = SIZE_MAX;

	for (uint32_t i = 0; i < PROBES; i++) {
		const uint32_t no = *slot_of(r, hash, i);

		if (no == 0)
			break;
		run = &r->at[no - 1];
		if (run->bits != g->bits || run->node != k->node)
			continue;
		if ((run->what & HWTDI_PTN_RUN_AWAY) != 0 &&
		    run->epoch != d->epoch)
			old = no - 1;
		else if (apply(d, k, run))
			return (run);
	}
	if (old == SIZE_MAX && !meet(r, hash))
		return (NULL);
	run = learn(d, k, g, hash, old);
	if (run != NULL)
		(void)apply(d, k, run);
	return (run);
}

/* The same of a run that needs no closer look, if it is there. */
HWTDI_PT_INLINE const struct hwtdi_ptn_run *
find_first(struct hwtdi_decoder *d, struct hwtdi_ptn_known *k,
    const struct gathered *g)
{
	const struct hwtdi_ptn_runs *r = d->runs;
	const uint64_t hash = hash_of(k->node, g->bits);
	const uint32_t no = *slot_of(r, hash, 0);

	if (no != 0) {
		const struct hwtdi_ptn_run *run = &r->at[no - 1];

		if (run->bits == g->bits && run->node == k->node &&
		    run->what <= HWTDI_PTN_RUN_LEFT)
			return (run);
	}
	return (find(d, k, g, hash));
}

bool
hwtdi_ptn_runs_take(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_ptn_known *k, const uint8_t *bytes_end)
{
	struct hwtdi_ptn_runs *r = d->runs;
	const struct hwtdi_ptn_run *run;
	struct gathered g;

	gather(d, k, bytes_end, &g);
	if (g.n == 0)
		return (false);
	if (r->lookups++ == LOOKUPS)
		judge(r);
	run = find_first(d, k, &g);
	if (run == NULL || (run->what & HWTDI_PTN_RUN_NONE) != 0) {
		r->by_hand = k->base + (uint64_t)(uintptr_t)g.end;
		return (false);
	}
	r->outcomes += g.n;
	flow->tokens[k->n++] = run->token;
	k->node = run->end;
	k->p = g.end;
	k->n_bits = run->left;
	k->bits = run->left != 0 ? g.bits << (64 - run->left) : 0;
	d->tnt_bytes = g.bytes_last;
	flow->anchors[flow->n_anchors].stream_off = k->base +
	    (uint64_t)(uintptr_t)g.end;
	return (true);
}
