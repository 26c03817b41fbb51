/*
 * The native Intel PT engine: runs of nodes as tokens.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_native.h"

/* Entries of the index, and of what was met, at first. */
#define FIRST_LOG 9u
#define MET_LOG 14u
/* Places of the index that are looked at. */
#define PROBES 8u

/* Times that bytes are met again before they are made a run. */
#define MEETINGS 2
/* Times that what could not be made is met before it is tried again. */
#define PATIENCE 7

/* Lookups after which it is looked at how they do. */
#define LOOKUPS 128u
/* So many times that is to be good at the most before all are looked for. */
#define MOST_WAIT 16u
/* Flows for which it rests at the most. */
#define MOST_REST 32u

/* Runs that may be made at first, and how many hits are to pay for one. */
#define FIRST_CREDIT 2048u
#define MOST_CREDIT 8192u
#define PRICE 3u

/* Words of an address, and words of a run at the most. */
#define TARGET_WORDS 3u
_Static_assert(HWTDI_PTN_RUN_TOKENS <= HWTDI_RUN_WORDS, "words of a run");
#define MOST_WORDS                                                            \
	(HWTDI_PTN_RUN_TOKENS + TARGET_WORDS * HWTDI_PTN_RUN_TARGETS)
/* Of a record, of 8 bytes. */
#define RUN_WORDS (sizeof(struct hwtdi_ptn_run) / 8)
#define MOST_RECORD                                                           \
	(RUN_WORDS + UINT8_MAX / 8 + 1 + HWTDI_PTN_FORESEE_STACK / 2)

/* Memory. */

static size_t
slots_bytes(unsigned int log)
{
	return (sizeof(struct hwtdi_ptn_run_slot) << log);
}

int
hwtdi_ptn_runs_open(struct hwtd_context *library, struct hwtdi_ptn_runs **out,
    struct hwtd_error *err)
{
	struct hwtdi_ptn_runs *r = hwtdi_zalloc(library, sizeof(*r));

	if (r == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*r)));
	r->log = FIRST_LOG;
	r->most = HWTDI_PTN_RUN_MOST;
	r->credit = FIRST_CREDIT;
	r->next_wait = 1;
	r->next_rest = 1;
	r->n_records = 1;
	/* The first flow goes without: many streams are no longer. */
	r->rest = 2;
	*out = r;
	return (HWTD_OK);
}

bool
hwtdi_ptn_runs_wake(struct hwtdi_ptn_runs *r, struct hwtd_context *library)
{
	if (r->slots == NULL)
		r->slots = hwtdi_zalloc(library, slots_bytes(r->log));
	if (r->met == NULL)
		r->met = hwtdi_zalloc(library, sizeof(r->met[0]) << MET_LOG);
	r->rest = r->slots != NULL && r->met != NULL ? 0 : MOST_REST;
	return (r->rest == 0);
}

void
hwtdi_ptn_runs_close(struct hwtd_context *library, struct hwtdi_ptn_runs *r)
{
	if (r == NULL)
		return;
	hwtdi_free(library, r->slots, slots_bytes(r->log));
	hwtdi_free(library, r->met, sizeof(r->met[0]) << MET_LOG);
	hwtdi_array_free(library, r->at, r->cap, sizeof(r->at[0]));
	hwtdi_array_free(library, r->words, r->cap_words, sizeof(r->words[0]));
	hwtdi_array_free(library, r->records, r->cap_records,
	    sizeof(r->records[0]));
	hwtdi_free(library, r, sizeof(*r));
}

size_t
hwtdi_ptn_runs_bytes(const struct hwtdi_ptn_runs *r)
{
	if (r == NULL)
		return (0);
	return (sizeof(*r) + (r->slots != NULL ? slots_bytes(r->log) : 0) +
	    (r->met != NULL ? sizeof(r->met[0]) << MET_LOG : 0) +
	    r->cap * sizeof(r->at[0]) + r->cap_words * sizeof(r->words[0]) +
	    r->cap_records * sizeof(r->records[0]));
}

/* Of a node and HWTDI_PTN_RUN_LEAST bytes.  Its upper bits are the better ones. */
HWTDI_PT_INLINE uint64_t
hash_of(uint32_t node, const uint8_t *p)
{
	return (((hwtdi_pt_load(p, 8) ^ node * 0xd6e8feb86659fd93u) *
		    0x9e3779b97f4a7c15u) +
	    (hwtdi_pt_load(p + 8, 8) * 0xbf58476d1ce4e5b9u) +
	    (hwtdi_pt_load(p + 16, 8) * 0x94d049bb133111ebu) +
	    (hwtdi_pt_load(p + 24, 8) * 0xff51afd7ed558ccdu));
}

static uint32_t
tag_of(uint64_t hash)
{
	return ((uint32_t)(hash >> 24));
}

HWTDI_PT_INLINE struct hwtdi_ptn_run_slot *
slot_of(const struct hwtdi_ptn_runs *r, uint64_t hash, uint32_t i)
{
	return (
	    &r->slots[((hash >> (64 - r->log)) + i) & ((1u << r->log) - 1)]);
}

static bool
put_slot(struct hwtdi_ptn_runs *r, uint64_t hash, uint32_t record)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct hwtdi_ptn_run_slot *slot = slot_of(r, hash, i);

		if (slot->record != 0)
			continue;
		slot->tag = tag_of(hash);
		slot->record = record;
		return (true);
	}
	return (false);
}

/* What is behind a record. */

static uint8_t *
bytes_of(struct hwtdi_ptn_run *run)
{
	return ((uint8_t *)(run + 1));
}

static uint32_t *
calls_of(struct hwtdi_ptn_run *run)
{
	return ((uint32_t *)(void *)(bytes_of(run) +
	    (run->n_bytes + 7) / 8 * 8));
}

static size_t
record_words(const struct hwtdi_ptn_run *run)
{
	return (RUN_WORDS + (run->n_bytes + 7u) / 8 + (run->n_calls + 1u) / 2);
}

/* Half of the index is free.  Without memory it stays as it is. */
static void
grow_slots(struct hwtdi_ptn_runs *r, struct hwtd_context *library)
{
	struct hwtdi_ptn_run_slot *slots;

	if (r->n < (size_t)1 << (r->log - 1))
		return;
	slots = hwtdi_zalloc(library, slots_bytes(r->log + 2u));
	if (slots == NULL)
		return;
	hwtdi_free(library, r->slots, slots_bytes(r->log));
	r->slots = slots;
	r->log = (uint8_t)(r->log + 2);
	/* What finds no place is not found any more, but stays. */
	for (uint32_t i = 0; i < r->n; i++) {
		const uint32_t record = r->at[i].record;
		struct hwtdi_ptn_run *run = hwtdi_ptn_run_at(r, record);

		if (record != 0)
			(void)put_slot(r, hash_of(run->node, bytes_of(run)),
			    record);
	}
}

/* Room for one more run, of so many words; false: there is none. */
static bool
reserve_words(struct hwtdi_ptn_runs *r, struct hwtd_context *library,
    uint32_t n)
{
	if (r->n == HWTDI_RUNS || r->n_words + n > HWTDI_PTN_RUN_WORDS) {
		r->refused++;
		return (false);
	}
	return (hwtdi_array_grow(library, &r->at, &r->cap, r->n + 1,
		    sizeof(r->at[0]), NULL) == HWTD_OK &&
	    hwtdi_array_grow(library, &r->words, &r->cap_words, r->n_words + n,
		sizeof(r->words[0]), NULL) == HWTD_OK);
}

/* The same, with a record. */
static bool
reserve(struct hwtdi_ptn_runs *r, struct hwtd_context *library)
{
	if (r->n_records + MOST_RECORD > HWTDI_PTN_RUN_RECORDS) {
		r->refused++;
		return (false);
	}
	grow_slots(r, library);
	return (reserve_words(r, library, MOST_WORDS) &&
	    hwtdi_array_grow(library, &r->records, &r->cap_records,
		r->n_records + MOST_RECORD, sizeof(r->records[0]),
		NULL) == HWTD_OK);
}

/* The words that were written last are a run. */
static uint32_t
put_words(struct hwtdi_ptn_runs *r, uint32_t n, uint32_t record)
{
	r->at[r->n] = (struct hwtdi_ptn_run_words){
		.first = (uint32_t)r->n_words,
		.n = n,
		.record = record
	};
	r->n_words += n;
	return (HWTDI_TOKEN_RUN | (uint32_t)r->n++);
}

uint32_t
hwtdi_ptn_runs_name(struct hwtdi_ptn_runs *r, struct hwtd_context *library,
    const uint32_t *nodes, uint32_t n)
{
	if (!reserve_words(r, library, n))
		return (0);
	memcpy(r->words + r->n_words, nodes, n * sizeof(nodes[0]));
	return (put_words(r, n, 0));
}

/* How it does. */

/*
 * A lookup costs half of what a hit saves, where caches are of little use.  Where
 * looking for all was of no use it is longer until that is tried again.
 */
static void
judge(struct hwtdi_ptn_runs *r)
{
	const bool good = r->of_use >= LOOKUPS / 2;

	r->lookups = 0;
	r->of_use = 0;
	if (r->sparse) {
		if (good && --r->wait == 0)
			r->sparse = false;
		r->rest = good ? 0 : r->next_rest;
		r->next_rest = good ? 1 : r->next_rest * 2;
		if (r->next_rest > MOST_REST)
			r->next_rest = MOST_REST;
		return;
	}
	r->sparse = !good;
	r->wait = r->next_wait;
	r->next_wait = good ? 1 : r->next_wait * 2;
	if (r->next_wait > MOST_WAIT)
		r->next_wait = MOST_WAIT;
}

bool
hwtdi_ptn_runs_begin(struct hwtdi_ptn_runs *r, struct hwtd_context *library)
{
	if (r == NULL)
		return (false);
	if (r->rest == 0)
		r->turn++;
	else if (--r->rest == 0)
		(void)hwtdi_ptn_runs_wake(r, library);
	if (!r->over)
		return (false);
	r->over = false;
	r->refused = 0;
	r->n = 0;
	r->n_words = 0;
	r->n_records = 1;
	r->last = 0;
	r->next = 0;
	if (r->slots != NULL)
		memset(r->slots, 0, slots_bytes(r->log));
	return (true);
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
		if (r->at[i].record != 0)
			hwtdi_ptn_run_at(r, r->at[i].record)->epoch = 0;
}

const uint32_t *
hwtdi_ptn_runs_expand(const struct hwtdi_ptn_runs *r, uint32_t number,
    size_t *n_out)
{
	*n_out = r->at[number].n;
	return (r->words + r->at[number].first);
}

/* Making one. */

/* What is known of packets that are to be a run. */
struct making {
	struct hwtdi_ptn_foresight f;
	struct hwtdi_pt_lex_state lex;
	/* Bits of last IP that count, and that were replaced. */
	uint64_t ip_mask, replaced;
	const uint8_t *p;
	uint32_t n_last;
	/* Tracing went on with the last packet. */
	bool entered;
	/* It is a good place to end. */
	bool ends;
};

static bool
make_outcomes(struct making *m, const struct hwtdi_decoder *d, uint64_t bits,
    uint32_t n, uint32_t bytes)
{
	/* None may be left for who comes later. */
	if (m->f.node == 0 ||
	    !hwtdi_ptn_foresee(&m->f, d, bits << (64 - n), &n) || n != 0)
		return (false);
	m->p += bytes;
	m->n_last = bytes;
	m->ends = m->entered;
	m->entered = false;
	return (true);
}

static bool
make_address(struct making *m, const struct hwtdi_decoder *d)
{
	const struct hwtdi_pt_ip_mode *mode = &hwtdi_pt_ip_modes[m->p[0] >> 5];
	struct hwtdi_pt_packet packet;
	bool known = false;

	hwtdi_pt_lex_ip(&m->lex, m->p, &packet);
	if ((packet.flags & HWTD_PKF_IP) == 0)
		return (false);
	m->ends = false;
	switch (packet.kind) {
	case HWTD_PK_PT_TIP:
		known = hwtdi_ptn_foresee_target(&m->f, d, packet.ip);
		m->ends = true;
		break;
	case HWTD_PK_PT_TIP_PGD:
		known = hwtdi_ptn_foresee_off(&m->f, d, packet.ip);
		break;
	case HWTD_PK_PT_TIP_PGE:
		known = hwtdi_ptn_foresee_on(&m->f, d, packet.ip);
		m->entered = true;
		break;
	default:
		break;
	}
	m->ip_mask |= ~mode->replaced & ~m->replaced;
	m->replaced |= mode->replaced;
	m->p += packet.bytes;
	m->n_last = packet.bytes;
	return (known);
}

/* Bytes of a packet of timing, or padding, at `p`; 0: there is none. */
static size_t
skip_timing(const struct hwtdi_decoder *d, const uint8_t *p,
    const uint8_t *stop)
{
	switch (hwtdi_pt_classes[p[0]]) {
	case HWTDI_PT_CYC:
		if (((hwtdi_pt_load(p, 2) | d->lex.skd007) &
			HWTDI_PT_CYC_LONG) == HWTDI_PT_CYC_LONG)
			return (0);
		return (1u + (p[0] >> 2 & 1));
	case HWTDI_PT_MTC:
		return (2);
	case HWTDI_PT_PAD:
		return (hwtdi_pt_pad_run(p, stop));
	default:
		return (0);
	}
}

/* Add the next packet, and timing before it.  False: it is of no run. */
static bool
make_packet(struct making *m, const struct hwtdi_decoder *d,
    const uint8_t *stop)
{
	uint64_t v;
	size_t n;

	while (m->p < stop && (n = skip_timing(d, m->p, stop)) != 0)
		m->p += n;
	if (m->p >= stop)
		return (false);
	switch (hwtdi_pt_classes[m->p[0]]) {
	case HWTDI_PT_TNT:
		return (make_outcomes(m, d, m->p[0] >> 1,
		    hwtdi_pt_stop_bit(m->p[0]) - 1, 1));
	case HWTDI_PT_IP:
		return (make_address(m, d));
	case HWTDI_PT_EXT:
		v = hwtdi_pt_load(m->p + 2, 6);
		return (m->p[1] == 0xa3 && v > 1 &&
		    make_outcomes(m, d, v, hwtdi_pt_stop_bit(v), 8));
	default:
		return (false);
	}
}

/*
 * From `p` on, up to an address; or up to where it gets too much, or what comes
 * is not known.  False: that is too near.
 */
static bool
make(struct making *m, const struct hwtdi_decoder *d, const uint8_t *stop)
{
	const uint8_t *const first = m->p;
	struct making last = { .p = NULL };

	if ((size_t)(stop - first) > UINT8_MAX)
		stop = first + UINT8_MAX;
	while (make_packet(m, d, stop) && m->p <= stop) {
		/* It ends with a node. */
		if ((size_t)(m->p - first) < HWTDI_PTN_RUN_LEAST ||
		    m->f.node == 0 || m->entered)
			continue;
		if (m->ends || (size_t)(m->p - first) >= d->runs->most)
			return (true);
		if (last.p == NULL)
			last = *m;
	}
	*m = last;
	return (m->p != NULL);
}

/* Write it down behind the words of all runs. */
static void
put_run(struct hwtdi_decoder *d, uint32_t node, const uint8_t *p,
    const struct making *m, struct hwtdi_ptn_run *run)
{
	struct hwtdi_ptn_runs *r = d->runs;
	uint32_t *to;

	memset(run, 0, sizeof(*run));
	run->ip_mask = m->ip_mask;
	run->ip = d->lex.last_ip & m->ip_mask;
	run->ip_end = m->lex.last_ip;
	run->node = node;
	run->end = m->f.node;
	run->token = m->f.n_tokens == 1 ? m->f.tokens[0]
					: HWTDI_TOKEN_RUN | (uint32_t)r->n;
	run->epoch = d->epoch;
	run->first = (uint32_t)r->n_words;
	run->n_tokens = (uint16_t)m->f.n_tokens;
	run->n_bytes = (uint8_t)(m->p - p);
	run->n_last = (uint8_t)m->n_last;
	run->goes_off = m->f.goes_off;
	memcpy(bytes_of(run), p, run->n_bytes);
	run->effect = hwtdi_ptn_foreseen(&m->f, calls_of(run));
	run->n_calls = (uint8_t)(run->effect.pops + run->effect.pushes);
	to = r->words + r->n_words + run->n_tokens;
	for (uint32_t i = 0; i < m->f.n_targets; i++) {
		const struct hwtdi_ptn_foreseen_target *t = &m->f.targets[i];

		*to++ = t->node;
		*to++ = (uint32_t)t->ip;
		*to++ = (uint32_t)(t->ip >> 32);
	}
	run->n_targets = (uint8_t)m->f.n_targets;
}

/* Find out where packets lead.  NULL: it is not known, or there is no room. */
static struct hwtdi_ptn_run *
learn(struct hwtdi_decoder *d, uint32_t node, uint32_t top, const uint8_t *p,
    const uint8_t *stop, uint64_t hash)
{
	struct hwtdi_ptn_foreseen_target targets[HWTDI_PTN_RUN_TARGETS];
	struct hwtdi_ptn_runs *r = d->runs;
	struct hwtdi_ptn_run *run;
	struct making m;

	if (r->credit < PRICE || !reserve(r, d->library))
		return (NULL);
	m = (struct making){ .f = { .node = node,
				 .tokens = r->words + r->n_words,
				 .max_tokens = HWTDI_PTN_RUN_TOKENS,
				 .max_stack = HWTDI_PTN_FORESEE_STACK,
				 .top = top,
				 .targets = targets,
				 .max_targets = HWTDI_PTN_RUN_TARGETS },
		.lex = d->lex,
		.p = p };
	if (!make(&m, d, stop) || m.f.n_tokens == 0)
		return (NULL);
	if (!put_slot(r, hash, (uint32_t)r->n_records)) {
		r->refused++;
		return (NULL);
	}
	run = hwtdi_ptn_run_at(r, (uint32_t)r->n_records);
	put_run(d, node, p, &m, run);
	(void)put_words(r, run->n_tokens, (uint32_t)r->n_records);
	r->n_words += TARGET_WORDS * (size_t)run->n_targets;
	r->n_records += record_words(run);
	r->credit -= PRICE;
	r->of_use++;
	return (run);
}

/* Finding one. */

/*
 * Where a hash that was met is remembered, with how often it is to be met again
 * in the lowest bits; NULL: it is from now on, and was not.  Each hash has two
 * places, so that two do not drive out each other.
 */
static uint16_t *
meet(struct hwtdi_ptn_runs *r, uint64_t hash)
{
	uint16_t *met = &r->met[hash >> (64 - MET_LOG)];
	uint16_t *other = &r->met[(hash >> (64 - MET_LOG)) ^ 1];
	const uint16_t what = (uint16_t)(hash >> 16) & ~(uint16_t)PATIENCE;

	if (*met != 0 && (*met & ~PATIENCE) == what)
		return (met);
	if (*other != 0 && (*other & ~PATIENCE) == what)
		return (other);
	*other = *met;
	*met = what | MEETINGS;
	return (NULL);
}

/* At least HWTDI_PTN_RUN_LEAST bytes. */
HWTDI_PT_INLINE bool
same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint64_t differs = hwtdi_pt_load(a + n - 8, 8) ^
	    hwtdi_pt_load(b + n - 8, 8);

	for (size_t i = 0; i + 8 < n; i += 8)
		differs |= hwtdi_pt_load(a + i, 8) ^ hwtdi_pt_load(b + i, 8);
	return (differs == 0);
}

/* In this epoch too the nodes are at the addresses, as far as is known. */
static bool
still_leads(const struct hwtdi_decoder *d, struct hwtdi_ptn_run *run)
{
	const uint32_t *t = d->runs->words + run->first + run->n_tokens;

	for (uint32_t i = 0; i < run->n_targets; i++, t += TARGET_WORDS)
		if (!hwtdi_ptn_still_at(d, t[0], t[1] | (uint64_t)t[2] << 32))
			return (false);
	run->epoch = d->epoch;
	return (true);
}

/* What a run does besides to calls. */
HWTDI_PT_INLINE void
do_beside(struct hwtdi_decoder *d, const struct hwtdi_ptn_run *run)
{
	if (run->n_targets != 0)
		d->lex.last_ip = run->ip_end;
	if (!run->goes_off)
		return;
	/* See hwtdi_ptn_quick(); before it and behind it tracing is on. */
	d->choice.moments.until = UINT64_MAX;
	d->fresh = false;
	d->weak = false;
	d->lex.place = 0;
}

/* The run is what comes next.  Do what it does, then. */
HWTDI_PT_INLINE bool
take_if(struct hwtdi_decoder *d, struct hwtdi_ptn_run *run, uint32_t node,
    uint32_t *top_inout, const uint8_t *p, const uint8_t *stop)
{
	if (run->node != node ||
	    ((d->lex.last_ip ^ run->ip) & run->ip_mask) != 0 ||
	    (size_t)(stop - p) < run->n_bytes ||
	    !same_bytes(p, bytes_of(run), run->n_bytes))
		return (false);
	/* What waits would be told where tracing goes off. */
	if ((run->goes_off && d->has_detail) ||
	    (run->epoch != d->epoch && !still_leads(d, run)))
		return (false);
	if (!hwtdi_ptn_calls_apply(d->calls, top_inout, run->effect,
		calls_of(run)))
		return (false);
	do_beside(d, run);
	return (true);
}

/* The record of the run of packets, which is taken then; 0: none is known. */
static uint32_t
find(struct hwtdi_decoder *d, uint32_t node, uint32_t *top_inout,
    const uint8_t *p, const uint8_t *stop)
{
	struct hwtdi_ptn_runs *r = d->runs;
	const uint64_t hash = hash_of(node, p);
	const uint32_t tag = tag_of(hash);
	struct hwtdi_ptn_run *made;
	uint16_t *met;

	for (uint32_t i = 0; i < PROBES; i++) {
		const struct hwtdi_ptn_run_slot *slot = slot_of(r, hash, i);

		if (slot->record == 0)
			break;
		if (slot->tag == tag &&
		    take_if(d, hwtdi_ptn_run_at(r, slot->record), node,
			top_inout, p, stop)) {
			r->of_use++;
			r->credit += r->credit < MOST_CREDIT;
			return (slot->record);
		}
	}
	met = meet(r, hash);
	if (met == NULL || (--*met & PATIENCE) != 0)
		return (0);
	made = learn(d, node, *top_inout, p, stop, hash);
	if (made == NULL) {
		*met |= PATIENCE;
		return (0);
	}
	(void)hwtdi_ptn_calls_apply(d->calls, top_inout, made->effect,
	    calls_of(made));
	do_beside(d, made);
	return (r->at[r->n - 1].record);
}

const struct hwtdi_ptn_run *
hwtdi_ptn_runs_take(struct hwtdi_decoder *d, uint32_t node,
    uint32_t *top_inout, const uint8_t *p, const uint8_t *stop)
{
	struct hwtdi_ptn_runs *r = d->runs;
	const uint32_t next = r->next;
	struct hwtdi_ptn_run *run;
	uint32_t record;

	/* Where a trace repeats itself, what comes is what came before. */
	if (next != 0 &&
	    take_if(d, hwtdi_ptn_run_at(r, next), node, top_inout, p, stop)) {
		record = next;
		r->of_use++;
		r->credit += r->credit < MOST_CREDIT;
	} else {
		record = find(d, node, top_inout, p, stop);
		if (r->last != 0)
			hwtdi_ptn_run_at(r, r->last)->next = record;
	}
	if (++r->lookups == LOOKUPS)
		judge(r);
	r->last = record;
	r->next = 0;
	if (record == 0)
		return (NULL);
	run = hwtdi_ptn_run_at(r, record);
	r->next = run->next;
	__builtin_prefetch(r->records + run->next);
	__builtin_prefetch(r->records + run->next + 8);
	return (run);
}
