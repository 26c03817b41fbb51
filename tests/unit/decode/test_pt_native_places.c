/*
 * The native engine: one unit of code that lies at two addresses, and branches
 * from there to code that does not.  The same packets lead to other code then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_native.h"
#include "support/memory_trace.h"
#include "support/native_flows.h"
#include "trace/trace_model.h"

/* The code that is mapped twice, what it leads to, and a hub. */
#define HERE UINT64_C(0x100000)
#define THERE UINT64_C(0x200000)
#define AWAY 0x1000u
#define HUB UINT64_C(0x300000)

#define JUMP 0xff, 0xe0
/* 0: a branch to AWAY, which is not in it; then jmp *%rax */
static const uint8_t by_branch[] = { 0x0f, 0x85, 0xfa, 0x0f, 0x00, 0x00,
	JUMP };
/* 0: jne 4; 2: jmp *%rax; 4: jmp to AWAY */
static const uint8_t by_jump[] = { 0x75, 0x02, JUMP, 0xe9, 0xf7, 0x0f, 0x00,
	0x00 };
/* 0: jne 0; 2: jmp *%rax; of each address by itself */
static const uint8_t here_spins[] = { 0x75, 0xfe, JUMP };
static const uint8_t there_spins[] = { 0x75, 0xfe, JUMP };
static const uint8_t hub[] = { JUMP };

struct code {
	const uint8_t *bytes;
	size_t n;
};

static bool
span_of(const uint8_t *bytes, size_t n, uint64_t at, uint32_t section,
    uint64_t address, struct hwtdi_code_span *out)
{
	if (address - at >= n)
		return (false);
	memset(out, 0, sizeof(*out));
	out->bytes = bytes;
	out->length = n;
	out->address = at;
	out->section = section;
	out->moments.space = HWTD_NO_ID;
	out->moments.until = UINT64_MAX;
	return (true);
}

static struct code twice;

static int
find_code(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	(void)arg;
	(void)query;
	if (span_of(twice.bytes, twice.n, HERE, 0, address, out) ||
	    span_of(twice.bytes, twice.n, THERE, 1, address, out) ||
	    span_of(here_spins, sizeof(here_spins), HERE + AWAY, 2, address,
		out) ||
	    span_of(there_spins, sizeof(there_spins), THERE + AWAY, 3, address,
		out) ||
	    span_of(hub, sizeof(hub), HUB, 4, address, out))
		return (HWTD_OK);
	return (HWTD_E_NOT_FOUND);
}

static void
until(void *arg, const struct hwtdi_code_query *query, uint64_t *off_out,
    uint64_t *count_out)
{
	(void)arg;
	(void)query;
	*off_out = UINT64_MAX;
	*count_out = UINT64_MAX;
}

static void
outcomes(struct pt_packets *p, unsigned int n, bool taken)
{
	for (; n >= 6; n -= 6)
		pt_tnt_bits(p, taken ? 0x3f : 0, 6);
	if (n != 0)
		pt_tnt_bits(p, taken ? (1u << n) - 1 : 0, n);
}

/* Go through it; all that is known where it lies `here` is known `there`, too. */
static void
visit(struct pt_packets *p, uint64_t address)
{
	/* Here its unit comes to lie. */
	pt_tip(p, PT_IP_48, address);
	outcomes(p, 1, false);
	pt_tip(p, PT_IP_48, HERE + AWAY);
	outcomes(p, 1, false);
	pt_tip(p, PT_IP_48, HUB);
	/* And these packets are soon a run. */
	pt_tip(p, PT_IP_48, address);
	outcomes(p, 1, true);
	outcomes(p, 6 * 40, true);
	outcomes(p, 1, false);
	pt_tip(p, PT_IP_48, HUB);
}

static void
with_runs(struct hwtdi_decoder *d, uint64_t *random)
{
	(void)random;
	assert_true(hwtdi_ptn_memo_wake(&d->memo, d->library));
	assert_true(hwtdi_ptn_runs_wake(d->runs, d->library));
	d->runs->sparse = false;
}

/* How often the jump behind what spins was executed. */
static size_t
jumps_of(const struct native_flows *f, const struct hwtdi_code_graph *graph,
    const uint8_t *bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_tokens; i++) {
		const struct hwtdi_code_block *b = hwtdi_graph_block(graph,
		    f->tokens[i]);

		n += hwtdi_graph_unit_at(graph, b->unit)->bytes == bytes &&
		    b->off == 2;
	}
	return (n);
}

static void
try_code(const void *bytes, size_t n, bool runs)
{
	struct hwtd_trace *trace = mt_create();
	struct hwtdi_code_graph *graph;
	struct native_flows got = { 0 };
	struct pt_packets p = { 0 };
	struct native_reader r;
	size_t there = 0;

	twice = (struct code){ bytes, n };
	pt_psb_plus(&p, HUB, 64);
	for (size_t i = 0; i < 200; i++) {
		const bool is_there = i > 20 && (i % 7 == 3 || i % 5 == 4);

		visit(&p, is_there ? THERE : HERE);
		there += is_there;
	}
	pt_tip(&p, PT_IP_48, HUB);
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	assert_int_equal(hwtdi_graph_create(hwtdi_trace_library(trace), &graph,
			     NULL),
	    HWTD_OK);
	native_open(&r, trace, graph, NULL, 1, runs);
	r.decoder->code.find = find_code;
	r.decoder->code.until = until;
	if (runs)
		r.prepare = with_runs;
	native_read(&r, p.bytes, p.n, false, &got);
	assert_int_equal(jumps_of(&got, graph, there_spins), there);
	assert_int_equal(jumps_of(&got, graph, here_spins), 400 - there);
	for (size_t i = 0; i < got.n_rares; i++)
		assert_int_not_equal(got.rares[i].row.kind, HWTD_EV_GAP);
	/* Runs were told. */
	assert_true(!runs || got.n_told < got.n_tokens / 2);
	native_free(&got);
	native_close(&r);
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
a_branch_leads_from_where_its_unit_lies(void **state)
{
	(void)state;
	for (unsigned int runs = 0; runs < 2; runs++) {
		try_code(by_branch, sizeof(by_branch), runs != 0);
		try_code(by_jump, sizeof(by_jump), runs != 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_branch_leads_from_where_its_unit_lies),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
