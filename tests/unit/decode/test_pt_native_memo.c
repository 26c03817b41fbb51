/*
 * The native engine: what it remembers of outcomes changes nothing, be they taken
 * from a memo or told as runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_native.h"
#include "support/memory_trace.h"
#include "support/native_flows.h"
#include "support/random_trace.h"
#include "trace/trace_model.h"

#define BASE 0x100000u

/* With a graph of its own. */
static struct hwtdi_code_graph *
seal(struct hwtd_trace *trace)
{
	struct hwtdi_code_graph *graph;

	mt_seal(trace);
	assert_int_equal(hwtdi_graph_create(hwtdi_trace_library(trace), &graph,
			     NULL),
	    HWTD_OK);
	return (graph);
}

/* How a decoder remembers. */

static void
without_memo(struct hwtdi_decoder *d, uint64_t *random)
{
	(void)random;
	d->memo.on = false;
	d->memo.rest = 0;
}

static void
with_memo(struct hwtdi_decoder *d, uint64_t *random)
{
	(void)random;
	assert_true(hwtdi_ptn_memo_wake(&d->memo, d->library));
}

/* Two entries, so that most are driven out, and at times a bit more. */
static void
with_tiny_memo(struct hwtdi_decoder *d, uint64_t *random)
{
	if (random_below(random, 3) == 0) {
		hwtdi_ptn_memo_fini(&d->memo, d->library);
		d->memo.log = 1;
		d->memo.entries = hwtdi_zalloc(d->library,
		    sizeof(d->memo.entries[0]) << 1);
		assert_non_null(d->memo.entries);
	}
	with_memo(d, random);
}

static void
with_runs(struct hwtdi_decoder *d, uint64_t *random)
{
	with_memo(d, random);
	assert_true(hwtdi_ptn_runs_wake(d->runs, d->library));
	d->runs->sparse = false;
	d->runs->credit = UINT32_MAX;
}

/* Of all lengths, and often begun anew. */
static void
with_short_lived_runs(struct hwtdi_decoder *d, uint64_t *random)
{
	static const uint32_t most[] = { 32, 40, 64, 200 };

	with_runs(d, random);
	d->runs->most = most[random_below(random, 4)];
	if (random_below(random, 3) == 0)
		d->runs->refused = HWTDI_RUNS;
}

static uint32_t
any_record(const struct hwtdi_ptn_runs *r, uint64_t *random)
{
	return (r->at[random_below(random, (uint32_t)r->n)].record);
}

/* All bytes are found in one of few places, and the wrong run is expected. */
static void
with_colliding_runs(struct hwtdi_decoder *d, uint64_t *random)
{
	struct hwtdi_ptn_runs *r = d->runs;

	with_runs(d, random);
	if (r->n == 0)
		return;
	for (size_t i = 0; (i >> r->log) == 0; i++) {
		r->slots[i].tag = r->slots[random_below(random, 8)].tag;
		r->slots[i].record = any_record(r, random);
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].record != 0)
			hwtdi_ptn_run_at(r, r->at[i].record)
			    ->next = any_record(r, random);
}

/* Epochs come round to where they began. */
static void
with_late_epochs(struct hwtdi_decoder *d, uint64_t *random)
{
	with_runs(d, random);
	if (random_below(random, 4) == 0 && d->epoch < UINT32_MAX / 2) {
		d->epoch = UINT32_MAX - 2;
		hwtdi_ptn_targets_clear(&d->targets);
		hwtdi_ptn_memo_forget(&d->memo);
	}
}

struct way {
	const char *name;
	void (*prepare)(struct hwtdi_decoder *d, uint64_t *random);
	bool runs;
};

static const struct way ways[] = {
	{ "memo", with_memo, false },
	{ "tiny memo", with_tiny_memo, false },
	{ "runs", with_runs, true },
	{ "short-lived runs", with_short_lived_runs, true },
	{ "colliding runs", with_colliding_runs, true },
	{ "late epochs", with_late_epochs, true },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))
/* What is met three times is found out, and then used. */
#define PASSES 8

/* What was saved, so that a test knows that it tests something. */
static size_t n_nodes, n_told, n_over, n_off;

static void
try_way(struct hwtd_trace *trace, struct hwtdi_code_graph *graph,
    const struct way *way, const struct hwtd_pt_config *pt, uint64_t horizon,
    const struct pt_packets *packets, bool cut,
    const struct native_flows *expected, const char *what)
{
	struct native_reader r;

	native_open(&r, trace, graph, pt, horizon, way->runs);
	r.prepare = way->prepare;
	for (int i = 0; i < PASSES; i++) {
		struct native_flows got = { 0 };
		char text[240];

		native_read(&r, packets->bytes, packets->n, cut, &got);
		if (!native_same(expected, &got, !way->runs, text,
			sizeof(text)))
			fail_msg("%s, %s, pass %d: %s", what, way->name, i,
			    text);
		if (way->runs) {
			n_nodes += got.n_tokens;
			n_told += got.n_told;
			n_over += got.n_over;
			n_off += got.n_off;
		}
		native_free(&got);
	}
	native_close(&r);
}

/* All ways tell what is told without; the caller frees that. */
static void
try_ways(struct hwtd_trace *trace, struct hwtdi_code_graph *graph,
    const struct hwtd_pt_config *pt, uint64_t horizon,
    const struct pt_packets *packets, bool cut, const char *what,
    struct native_flows *plain)
{
	struct native_reader r;

	memset(plain, 0, sizeof(*plain));
	native_open(&r, trace, graph, pt, horizon, false);
	r.prepare = without_memo;
	native_read(&r, packets->bytes, packets->n, cut, plain);
	native_close(&r);
	for (size_t i = 0; i < WAYS; i++)
		try_way(trace, graph, &ways[i], pt, horizon, packets, cut,
		    plain, what);
}

/* Random programs. */

static void
add_code(struct hwtd_trace *trace, const struct random_program *p)
{
	for (uint32_t i = 0; i < p->n_images; i++) {
		const struct random_image *im = &p->images[i];
		/* Units end in the middle of code. */
		const size_t cut = im->n_bytes / 2;

		(void)mt_code(trace, im->address, im->bytes, cut);
		(void)mt_code(trace, im->address + cut, im->bytes + cut,
		    im->n_bytes - cut);
	}
}

static void
try_random(uint64_t seed, unsigned int has, size_t insns)
{
	struct random_trace truth;
	struct hwtdi_code_graph *graph;
	struct hwtd_trace *trace;

	random_trace_make(&truth, seed, has, insns);
	trace = mt_create();
	add_code(trace, &truth.program);
	(void)mt_stream(trace, &truth.packets, NULL);
	graph = seal(trace);
	for (unsigned int i = 0; i < 4; i++) {
		const uint64_t horizon = (i & 1) != 0 ? 400 : 0;
		struct native_flows plain;
		char what[96];

		(void)snprintf(what, sizeof(what), "seed %llu, %x, try %u",
		    (unsigned long long)seed, has, i);
		try_ways(trace, graph, &truth.config, horizon, &truth.packets,
		    (i & 2) != 0, what, &plain);
		native_free(&plain);
	}
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	random_trace_free(&truth);
}

static void
random_traces_are_told_as_without_memory(void **state)
{
	const bool small = getenv("HWTDECODE_TEST_SMALL") != NULL;

	(void)state;
	n_nodes = n_told = n_over = n_off = 0;
	for (uint64_t seed = 1; seed <= (small ? 20 : 120); seed++) {
		uint64_t random = seed;
		unsigned int has = random_below(&random, RANDOM_ALL + 1);

		/* Every second one is all packets of branches. */
		if ((seed & 1) == 0)
			has &= RANDOM_COMPRESS_RETURNS | RANDOM_COMPRESS_IPS |
			    RANDOM_LONG_TNT | RANDOM_TIMES | RANDOM_DEFERS |
			    RANDOM_DEFERS_RETURNS | RANDOM_FILTERS;
		/* Time does not repeat itself. */
		if ((seed & 3) == 0) {
			has &= ~RANDOM_TIMES;
			has |= RANDOM_REPEATS;
		}
		try_random(seed, has, 3000);
	}
	/* Runs were made, and made anew. */
	assert_true(n_told < n_nodes);
	assert_true(n_over > 0);
	assert_true(n_off > 0);
}

/* A machine of one function that calls itself, and its truth. */

/* 0: jne 7; 2: call 0; 7: ret */
static const uint8_t recursive[] = { 0x75, 0x05, 0xe8, 0xf9, 0xff, 0xff, 0xff,
	0xc3 };

struct machine {
	struct pt_packets packets;
	/* Addresses that were executed, less BASE. */
	uint8_t *ips;
	size_t n, cap;
	/* Outcomes that wait, the newest in bit 0. */
	uint64_t bits;
	unsigned int n_bits, most_bits;
	/* Calls that the hardware remembers. */
	unsigned int calls;
};

static void
execute(struct machine *m, uint8_t ip)
{
	if (m->n == m->cap) {
		m->cap = m->cap == 0 ? 1024 : m->cap * 2;
		m->ips = realloc(m->ips, m->cap);
		assert_non_null(m->ips);
	}
	m->ips[m->n++] = ip;
}

static void
flush(struct machine *m)
{
	if (m->n_bits > 6)
		pt_long_tnt_bits(&m->packets, m->bits, m->n_bits);
	else if (m->n_bits != 0)
		pt_tnt_bits(&m->packets, m->bits, m->n_bits);
	m->bits = 0;
	m->n_bits = 0;
}

static void
outcome(struct machine *m, bool taken)
{
	m->bits = m->bits << 1 | taken;
	if (++m->n_bits == m->most_bits)
		flush(m);
}

/* Calls of that depth, and back again; then a return to the start. */
static void
recurse(struct machine *m, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++) {
		outcome(m, false);
		execute(m, 0);
		execute(m, 2);
		m->calls += m->calls < HWTDI_PTN_CALLS;
	}
	outcome(m, true);
	execute(m, 0);
	for (unsigned int i = 0; i < depth; i++) {
		execute(m, 7);
		if (m->calls != 0) {
			m->calls--;
			outcome(m, true);
		} else {
			flush(m);
			pt_tip(&m->packets, PT_IP_16, BASE + 7);
		}
	}
	execute(m, 7);
	if (m->calls != 0)
		fail_msg("calls are left");
	flush(m);
	pt_tip(&m->packets, PT_IP_16, BASE);
}

/* Where a unit lies when a token is told. */
static uint64_t
place_of(const struct native_flows *f, uint32_t unit, size_t token)
{
	for (size_t i = f->n_places; i-- > 0;)
		if (f->places[i].unit == unit && f->places[i].at <= token)
			return (f->places[i].address);
	fail_msg("unit %u is nowhere", (unsigned int)unit);
	return (0);
}

/* Addresses of instructions that tokens stand for, in order; to be freed. */
static uint64_t *
ips_of(const struct native_flows *f, const struct hwtdi_code_graph *graph,
    size_t *n_out)
{
	uint64_t *ips = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < f->n_tokens; i++) {
		const struct hwtdi_code_block *b = hwtdi_graph_block(graph,
		    f->tokens[i]);
		const uint64_t base = place_of(f, b->unit, i);
		const uint8_t *length = b->lengths;

		if (cap - n < HWTDI_BLOCK_INSNS) {
			cap = 2 * cap + HWTDI_BLOCK_INSNS;
			ips = realloc(ips, cap * sizeof(ips[0]));
			assert_non_null(ips);
		}
		for (uint32_t r = 0; r < b->n_runs; r++) {
			uint64_t ip = base + b->runs[r].off;

			for (uint32_t k = 0; k < b->runs[r].insns; k++) {
				ips[n++] = ip;
				ip += *length++;
			}
		}
	}
	*n_out = n;
	return (ips);
}

static void
check_ips(const struct machine *m, const struct hwtdi_code_graph *graph,
    const struct native_flows *f)
{
	size_t n;
	uint64_t *ips = ips_of(f, graph, &n);

	/* Behind the last TIP there is nothing that the trace tells. */
	assert_int_equal(n, m->n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ips[i], BASE + m->ips[i]);
	free(ips);
}

static void
try_recursion(unsigned int most_bits, bool resync, size_t split)
{
	struct machine m = { .most_bits = most_bits };
	struct hwtdi_code_graph *graph;
	struct native_flows plain;
	struct hwtd_trace *trace;

	pt_psb_plus(&m.packets, BASE, 64);
	for (unsigned int i = 0; i < 40; i++) {
		/* Deeper than what is remembered, and not. */
		recurse(&m, i % 4 == 3 ? 100 : 20 + i % 4);
		if (resync && i % 5 == 4)
			pt_psb_plus(&m.packets, BASE, 64);
	}
	trace = mt_create();
	(void)mt_code(trace, BASE, recursive, split);
	if (split < sizeof(recursive))
		(void)mt_code(trace, BASE + split, recursive + split,
		    sizeof(recursive) - split);
	(void)mt_stream(trace, &m.packets, NULL);
	graph = seal(trace);
	for (unsigned int i = 0; i < 4; i++) {
		try_ways(trace, graph, NULL, (i & 1) != 0 ? 30 : 0, &m.packets,
		    (i & 2) != 0, "recursion", &plain);
		check_ips(&m, graph, &plain);
		native_free(&plain);
	}
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	pt_free(&m.packets);
	free(m.ips);
}

static void
returns_of_deep_recursion_are_known_again(void **state)
{
	(void)state;
	for (size_t split = 1; split <= sizeof(recursive); split++) {
		/* In one image, or a branch leads from one to the other. */
		if (split != 2 && split != 7 && split != sizeof(recursive))
			continue;
		try_recursion(6, false, split);
		try_recursion(6, true, split);
		try_recursion(5, true, split);
		try_recursion(47, false, split);
	}
}

/* Two images, of which bytes of packets alone do not say which is meant. */

#define OTHER_BASE 0x200000u
#define SPIN 8
#define FAR_OFF 0x40

/* 0: jne 8; 2: jmp *%rax; 8: jne 8; 10: jmp *%rax; 64: jmp *%rax */
static const uint8_t spin[FAR_OFF + 2] = { 0x75, 0x06, 0xff,
	0xe0, [SPIN] = 0x75, 0xfe, 0xff, 0xe0, [FAR_OFF] = 0xff, 0xe0 };
/* 0: jne 8 of the first one; 6: jmp *%rax; 64: jmp *%rax */
static const uint8_t other[FAR_OFF + 2] = { 0x0f, 0x85, 0x02, 0x00, 0xf0, 0xff,
	0xff, 0xe0, [FAR_OFF] = 0xff, 0xe0 };

static void
outcomes(struct pt_packets *p, unsigned int n, bool taken)
{
	for (; n >= 6; n -= 6)
		pt_tnt_bits(p, taken ? 0x3f : 0, 6);
	if (n != 0)
		pt_tnt_bits(p, taken ? (1u << n) - 1 : 0, n);
}

/* How often code at an address was executed, by tokens. */
static size_t
executed(const struct native_flows *f, const struct hwtdi_code_graph *graph,
    uint64_t ip)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_tokens; i++) {
		const struct hwtdi_code_block *b = hwtdi_graph_block(graph,
		    f->tokens[i]);

		n += place_of(f, b->unit, i) + b->off == ip;
	}
	return (n);
}

/* The packets are told all ways, and tell of so many executions of an address. */
static void
try_images(const struct pt_packets *packets, uint64_t ip, size_t n)
{
	struct hwtdi_code_graph *graph;
	struct native_flows plain;
	struct hwtd_trace *trace = mt_create();

	(void)mt_code(trace, BASE, spin, sizeof(spin));
	(void)mt_code(trace, OTHER_BASE, other, sizeof(other));
	(void)mt_stream(trace, packets, NULL);
	graph = seal(trace);
	for (unsigned int i = 0; i < 4; i++) {
		try_ways(trace, graph, NULL, (i & 1) != 0 ? 2000 : 0, packets,
		    (i & 2) != 0, "images", &plain);
		assert_int_equal(executed(&plain, graph, ip), n);
		native_free(&plain);
	}
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
}

/* Its upper bits are those of an address before the run. */
static void
compressed_addresses_depend_on_what_was_before(void **state)
{
	struct pt_packets p = { 0 };
	size_t n = 0;

	(void)state;
	n_nodes = n_told = 0;
	pt_psb_plus(&p, BASE + FAR_OFF, 64);
	for (unsigned int i = 0; i < 400; i++) {
		const bool there = i % 7 == 3 || i % 5 == 4;

		/* Looked for behind the CBR, where the node is the same. */
		pt_tip(&p, PT_IP_48, there ? OTHER_BASE : BASE);
		outcomes(&p, 1, true);
		pt_cbr(&p, 8);
		outcomes(&p, 6 * 40, true);
		outcomes(&p, 1, false);
		pt_tip(&p, PT_IP_16, FAR_OFF);
		n += there;
	}
	pt_tip(&p, PT_IP_48, BASE);
	try_images(&p, OTHER_BASE + FAR_OFF, n);
	assert_true(n_told < n_nodes / 2);
	pt_free(&p);
}

/* A segment begins with a run that leads to code that is still to be told of. */
static void
places_are_told_before_runs(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	n_nodes = n_told = 0;
	for (unsigned int i = 0; i < 50; i++) {
		pt_psb_plus(&p, BASE + SPIN, 64);
		for (unsigned int k = 0; k < 10; k++) {
			outcomes(&p, 1, false);
			pt_tip(&p, PT_IP_48, OTHER_BASE + FAR_OFF);
			pt_tip(&p, PT_IP_48, BASE + SPIN);
			outcomes(&p, 6 * 40, true);
			outcomes(&p, 1, false);
			pt_tip(&p, PT_IP_48, BASE + SPIN);
		}
	}
	try_images(&p, OTHER_BASE + FAR_OFF, 500);
	assert_true(n_told < n_nodes / 2);
	pt_free(&p);
}

/* How often the instruction at an address was executed, by tokens. */
static size_t
passed(const struct native_flows *f, const struct hwtdi_code_graph *graph,
    uint64_t address)
{
	size_t all, n = 0;
	uint64_t *ips = ips_of(f, graph, &all);

	for (size_t i = 0; i < all; i++)
		n += ips[i] == address;
	free(ips);
	return (n);
}

/* Tracing goes off between two instructions, or with a branch. */

#define LAND 0x300000u

/* nop; nop; jmp *%rax */
static const uint8_t land[] = { 0x90, 0x90, 0xff, 0xe0 };

static void
tracing_that_goes_off_before_a_branch_is_not_passed_with_it(void **state)
{
	struct hwtdi_code_graph *graph;
	struct native_flows plain;
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	size_t whole = 0;

	(void)state;
	n_nodes = n_told = n_off = 0;
	pt_psb_plus(&p, BASE + SPIN, 64);
	for (unsigned int i = 0; i < 400; i++) {
		const bool branch = i % 3 == 1 || i % 7 == 6;

		outcomes(&p, 6 * 40, true);
		outcomes(&p, 1, false);
		pt_tip(&p, PT_IP_48, LAND);
		pt_pgd(&p, PT_IP_48, branch ? 0x400000 : LAND + 1);
		pt_pge(&p, PT_IP_48, BASE + SPIN);
		outcomes(&p, 6 * 40, true);
		outcomes(&p, 1, false);
		pt_tip(&p, PT_IP_48, BASE + SPIN);
		whole += branch;
	}
	(void)mt_code(trace, BASE, spin, sizeof(spin));
	(void)mt_code(trace, LAND, land, sizeof(land));
	(void)mt_stream(trace, &p, NULL);
	graph = seal(trace);
	for (unsigned int i = 0; i < 4; i++) {
		try_ways(trace, graph, NULL, (i & 1) != 0 ? 2000 : 0, &p,
		    (i & 2) != 0, "off", &plain);
		assert_int_equal(passed(&plain, graph, LAND), 400);
		assert_int_equal(passed(&plain, graph, LAND + 1), whole);
		assert_int_equal(passed(&plain, graph, LAND + 2), whole);
		native_free(&plain);
	}
	assert_true(n_told < n_nodes / 2);
	assert_true(n_off > 0);
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* An interrupt whose branch does not come is told before tracing goes off. */
static void
an_event_that_waits_is_told_before_tracing_goes_off(void **state)
{
	struct hwtdi_code_graph *graph;
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	size_t events = 0;

	(void)state;
	n_nodes = n_told = n_off = 0;
	pt_psb_plus(&p, BASE + SPIN, 64);
	for (unsigned int i = 0; i < 400; i++) {
		if (i > 20 && i % 7 == 3) {
			pt_cfe(&p, 1, 32, true);
			pt_fup(&p, PT_IP_48, BASE + SPIN);
			events++;
		}
		outcomes(&p, 6 * 40, true);
		outcomes(&p, 1, false);
		/* From here on packets are a run. */
		pt_tip(&p, PT_IP_48, LAND);
		pt_pgd(&p, PT_IP_48, 0x400000);
		pt_pge(&p, PT_IP_48, BASE + SPIN);
		outcomes(&p, 6 * 40, true);
		outcomes(&p, 1, false);
		pt_tip(&p, PT_IP_48, BASE + SPIN);
	}
	(void)mt_code(trace, BASE, spin, sizeof(spin));
	(void)mt_code(trace, LAND, land, sizeof(land));
	(void)mt_stream(trace, &p, NULL);
	graph = seal(trace);
	for (unsigned int i = 0; i < 2; i++) {
		struct native_flows plain;
		size_t n = 0;

		try_ways(trace, graph, NULL, i != 0 ? 2000 : 0, &p, false,
		    "events", &plain);
		for (size_t k = 0; k < plain.n_rares; k++) {
			if (plain.rares[k].row.kind != HWTD_EV_ASYNC)
				continue;
			assert_int_equal(plain.rares[k + 1].row.kind,
			    HWTD_EV_DISABLE);
			assert_int_equal(plain.rares[k + 1].at,
			    plain.rares[k].at);
			n++;
		}
		assert_int_equal(n, events);
		native_free(&plain);
	}
	assert_true(n_told < n_nodes / 2);
	assert_true(n_off > 0);
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* What a run depends on, by hand. */
static void
a_unit_that_lies_elsewhere_is_noticed(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtdi_code_graph *graph;
	struct native_flows got = { 0 };
	struct native_reader r;
	struct hwtd_trace *trace = mt_create();
	struct hwtdi_unit_place *place;
	uint32_t node;

	(void)state;
	pt_psb_plus(&p, BASE + SPIN, 64);
	outcomes(&p, 6, true);
	(void)mt_code(trace, BASE, spin, sizeof(spin));
	(void)mt_stream(trace, &p, NULL);
	graph = seal(trace);
	native_open(&r, trace, graph, NULL, 0, true);
	native_read(&r, p.bytes, p.n, false, &got);
	assert_true(got.n_tokens != 0);
	node = got.tokens[0];
	place = &r.decoder->places[hwtdi_graph_block(graph, node)->unit];
#define STILL(ip) hwtdi_ptn_still_at(r.decoder, node | HWTDI_PTN_PLACED, (ip))
	assert_true(STILL(BASE + SPIN));
	assert_false(STILL(BASE + SPIN + 1));
	place->address += 0x1000;
	assert_false(STILL(BASE + SPIN));
	assert_true(STILL(BASE + SPIN + 0x1000));
	place->known = false;
	assert_false(STILL(BASE + SPIN + 0x1000));
#undef STILL
	native_free(&got);
	native_close(&r);
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* A trace of which nothing repeats itself, and then all. */

static void
what_does_not_repeat_itself_is_hardly_looked_up(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtdi_code_graph *graph;
	struct native_flows got = { 0 };
	struct native_reader r;
	struct hwtd_trace *trace = mt_create();
	const struct hwtdi_ptn_runs *runs;
	uint64_t random = 1;

	(void)state;
	pt_psb_plus(&p, BASE + SPIN, 64);
	for (unsigned int i = 0; i < 20000; i++) {
		for (unsigned int k = 0; k < 8; k++)
			outcomes(&p, 1 + random_below(&random, 6), true);
		outcomes(&p, 1, false);
		pt_tip(&p, PT_IP_16, BASE + SPIN);
	}
	(void)mt_code(trace, BASE, spin, sizeof(spin));
	(void)mt_stream(trace, &p, NULL);
	graph = seal(trace);
	native_open(&r, trace, graph, NULL, 0, true);
	runs = r.decoder->runs;
	native_read(&r, p.bytes, p.n, false, &got);
	assert_true(runs->sparse);
	/* And it rested, and would for longer. */
	assert_true(runs->rest != 0 && runs->next_rest > 1);
	/* Those of a memo have no record. */
	assert_int_equal(runs->n_records, 1);
	native_free(&got);
	pt_free(&p);
	/* The same again and again is soon known. */
	pt_psb_plus(&p, BASE + SPIN, 64);
	for (unsigned int i = 0; i < 30000; i++) {
		outcomes(&p, 6 * 40, true);
		outcomes(&p, 1, false);
		pt_tip(&p, PT_IP_16, BASE + (i % 3 == 0 ? 0 : SPIN));
		if (i % 3 == 0)
			outcomes(&p, 1, true);
	}
	native_read(&r, p.bytes, p.n, false, &got);
	assert_false(runs->sparse);
	assert_true(got.n_told * 2 < got.n_tokens);
	native_free(&got);
	native_close(&r);
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traces_are_told_as_without_memory),
		cmocka_unit_test(returns_of_deep_recursion_are_known_again),
		cmocka_unit_test(
		    compressed_addresses_depend_on_what_was_before),
		cmocka_unit_test(places_are_told_before_runs),
		cmocka_unit_test(
		    tracing_that_goes_off_before_a_branch_is_not_passed_with_it),
		cmocka_unit_test(
		    an_event_that_waits_is_told_before_tracing_goes_off),
		cmocka_unit_test(a_unit_that_lies_elsewhere_is_noticed),
		cmocka_unit_test(
		    what_does_not_repeat_itself_is_hardly_looked_up),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
