/*
 * The native engine: two page tables with different code at the same addresses.
 * What was found in one of them, walked before or remembered of outcomes is not
 * taken for the other, be it told as tokens or as runs.
 *
 * The truth is what a machine of a few instructions did.
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
#include "support/random_program.h"
#include "trace/trace_model.h"

/* Of both; kernel and library are the same in both. */
#define USER 0x400000u
#define LIBRARY 0x600000u
#define KERNEL 0x800000u
#define CR3(space) (0x1000u + 0x1000u * (space))

/* jne 0; nop; jne a; nops; call *%rax; jmp LIBRARY */
static const uint8_t first[] = { 0x75, 0xfe, 0x90, 0x75, 0x05, 0x90, 0x90,
	0x90, 0xff, 0xd0, 0xe9, 0xf1, 0xff, 0x1f, 0x00 };
/* nop; jne 4; nop; jne a; nops; call *%rax; nop; jmp LIBRARY */
static const uint8_t second[] = { 0x90, 0x75, 0x01, 0x90, 0x75, 0x04, 0x90,
	0x90, 0xff, 0xd0, 0x90, 0xe9, 0xf0, 0xff, 0x1f, 0x00 };
/* mov %rax, %cr3; jne 6; ret; jmp USER */
static const uint8_t kernel[] = { 0x0f, 0x22, 0xd8, 0x75, 0x01, 0xc3, 0xe9,
	0xf5, 0xff, 0xbf, 0xff };
/* jne 2; jmp USER */
static const uint8_t library[] = { 0x75, 0x00, 0xe9, 0xf9, 0xff, 0xdf, 0xff };

/* What the machine knows of its instructions, from their first byte. */
enum op {
	NOTHING,
	PLAIN,
	BRANCH,
	CALL,
	WRITE,
	RETURN,
	TO_LIBRARY,
	TO_USER
};

struct insn {
	enum op op;
	uint8_t bytes, target;
};

static const struct insn insns[4][16] = {
	{ [0] = { BRANCH, 2, 0 },
	    [2] = { PLAIN, 1, 0 },
	    [3] = { BRANCH, 2, 10 },
	    [5] = { PLAIN, 1, 0 },
	    [6] = { PLAIN, 1, 0 },
	    [7] = { PLAIN, 1, 0 },
	    [8] = { CALL, 2, 0 },
	    [10] = { TO_LIBRARY, 5, 0 } },
	{ [0] = { PLAIN, 1, 0 },
	    [1] = { BRANCH, 2, 4 },
	    [3] = { PLAIN, 1, 0 },
	    [4] = { BRANCH, 2, 10 },
	    [6] = { PLAIN, 1, 0 },
	    [7] = { PLAIN, 1, 0 },
	    [8] = { CALL, 2, 0 },
	    [10] = { PLAIN, 1, 0 },
	    [11] = { TO_LIBRARY, 5, 0 } },
	{ [0] = { WRITE, 3, 0 },
	    [3] = { BRANCH, 2, 6 },
	    [5] = { RETURN, 1, 0 },
	    [6] = { TO_USER, 5, 0 } },
	{ [0] = { BRANCH, 2, 2 }, [2] = { TO_USER, 5, 0 } },
};

#define INSNS 6000

struct machine {
	struct pt_packets packets;
	/* Outcomes that no packet has yet. */
	char outcomes[8];
	size_t n_outcomes;
	/* Where instructions were executed, and in which code. */
	uint64_t ips[INSNS];
	uint8_t code[INSNS];
	uint64_t random;
};

static void
flush(struct machine *m)
{
	m->outcomes[m->n_outcomes] = '\0';
	if (m->n_outcomes != 0)
		pt_tnt(&m->packets, m->outcomes);
	m->n_outcomes = 0;
}

static void
put_outcome(struct machine *m, bool taken)
{
	m->outcomes[m->n_outcomes++] = taken ? 'T' : 'N';
	if (m->n_outcomes == 6)
		flush(m);
}

static void
run(struct machine *m)
{
	uint64_t ip = USER, back = 0;
	unsigned int space = 0;

	pt_psb(&m->packets);
	pt_mode_exec(&m->packets, 64);
	pt_pip(&m->packets, CR3(space), 0);
	pt_fup(&m->packets, PT_IP_48_SIGNED, ip);
	pt_psbend(&m->packets);
	for (size_t i = 0; i < INSNS; i++) {
		const uint64_t base = ip & ~(uint64_t)0xff;
		const uint8_t code = base == KERNEL ? 2
		    : base == LIBRARY		    ? 3
						    : (uint8_t)space;
		const struct insn *insn = &insns[code][ip - base];

		m->ips[i] = ip;
		m->code[i] = code;
		ip += insn->bytes;
		switch (insn->op) {
		case PLAIN:
			break;
		case BRANCH: {
			const bool taken = random_below(&m->random, 2) == 0;

			put_outcome(m, taken);
			if (taken)
				ip = base + insn->target;
			break;
		}
		case CALL:
			back = ip;
			ip = KERNEL;
			flush(m);
			pt_tip(&m->packets, PT_IP_48_SIGNED, ip);
			break;
		case WRITE:
			if (random_below(&m->random, 3) != 0)
				space = 1 - space;
			pt_pip(&m->packets, CR3(space), 0);
			break;
		case RETURN:
			/* In the other code, maybe. */
			put_outcome(m, true);
			ip = back;
			break;
		case TO_LIBRARY:
			ip = LIBRARY;
			break;
		case TO_USER:
			ip = USER;
			break;
		default:
			fail_msg("no instruction at %llx",
			    (unsigned long long)m->ips[i]);
		}
	}
	flush(m);
	pt_leave_at(&m->packets, ip);
}

static void
span_of(const uint8_t *bytes, size_t n, uint64_t address, uint32_t section,
    struct hwtdi_code_span *out)
{
	memset(out, 0, sizeof(*out));
	out->bytes = bytes;
	out->address = address;
	out->length = n;
	out->section = section;
	out->moments.space = HWTD_NO_ID;
	out->moments.until = UINT64_MAX;
}

static int
find_code(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	const uint64_t cr3 = query->context->cr3;

	(void)arg;
	assert_true((query->context->flags & HWTD_CTXF_CR3) != 0);
	if (address - KERNEL < sizeof(kernel))
		span_of(kernel, sizeof(kernel), KERNEL, 2, out);
	else if (address - LIBRARY < sizeof(library))
		span_of(library, sizeof(library), LIBRARY, 3, out);
	else if (cr3 == CR3(0) && address - USER < sizeof(first))
		span_of(first, sizeof(first), USER, 0, out);
	else if (cr3 == CR3(1) && address - USER < sizeof(second))
		span_of(second, sizeof(second), USER, 1, out);
	else
		return (HWTD_E_NOT_FOUND);
	return (HWTD_OK);
}

/* Only a context can change what is found. */
static void
until(void *arg, const struct hwtdi_code_query *query, uint64_t *off_out,
    uint64_t *count_out)
{
	(void)arg;
	(void)query;
	*off_out = UINT64_MAX;
	*count_out = UINT64_MAX;
}

/* Decoders that remember more and more. */

static void
with_nothing(struct hwtdi_decoder *d, uint64_t *random)
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

static void
with_runs(struct hwtdi_decoder *d, uint64_t *random)
{
	with_memo(d, random);
	assert_true(hwtdi_ptn_runs_wake(d->runs, d->library));
}

static const struct {
	const char *name;
	void (*prepare)(struct hwtdi_decoder *d, uint64_t *random);
	bool runs;
} ways[] = {
	{ "nothing", with_nothing, false },
	{ "memo", with_memo, false },
	{ "runs", with_runs, true },
};

#define UNITS 16

/* Every instruction of the flow, where its unit lies by then. */
static void
check_flow(const struct native_reader *r, const struct native_flows *f,
    const struct machine *m, struct hwtdi_placement *places, const char *what)
{
	size_t next = 0, i = 0;

	for (size_t at = 0; at < f->n_tokens; at++) {
		const struct hwtdi_code_block *b = hwtdi_graph_block(r->graph,
		    f->tokens[at]);
		const uint8_t *length = b->lengths;

		for (; next < f->n_places && f->places[next].at <= at;
		     next++) {
			assert_true(f->places[next].unit < UNITS);
			places[f->places[next].unit] = f->places[next];
		}
		for (size_t k = 0; k < b->n_runs; k++) {
			uint64_t ip = places[b->unit].address + b->runs[k].off;

			for (uint32_t j = 0; j < b->runs[k].insns; j++, i++) {
				if (i == INSNS || m->ips[i] != ip ||
				    m->code[i] != places[b->unit].section)
					fail_msg("%s: instruction %zu at %llx",
					    what, i, (unsigned long long)ip);
				ip += *length++;
			}
		}
	}
	assert_int_equal(i, INSNS);
	for (size_t k = 0; k < f->n_rares; k++)
		assert_int_not_equal(f->rares[k].row.kind, HWTD_EV_GAP);
}

static void
code_of_another_page_table_is_never_taken(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct hwtdi_code_graph *graph;
	struct machine m = { .random = 7 };

	(void)state;
	run(&m);
	(void)mt_stream(trace, &m.packets, NULL);
	mt_seal(trace);
	/* One graph for all, as for the streams of a trace. */
	assert_int_equal(hwtdi_graph_create(hwtdi_trace_library(trace), &graph,
			     NULL),
	    HWTD_OK);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct hwtdi_placement places[UNITS];
		struct native_reader r;

		memset(places, 0, sizeof(places));
		native_open(&r, trace, graph, NULL, 1, ways[i].runs);
		r.prepare = ways[i].prepare;
		r.decoder->code.find = find_code;
		r.decoder->code.until = until;
		for (int pass = 0; pass < 4; pass++) {
			struct native_flows got = { 0 };

			native_read(&r, m.packets.bytes, m.packets.n, false,
			    &got);
			check_flow(&r, &got, &m, places, ways[i].name);
			/* Runs were told. */
			assert_true(!ways[i].runs || pass == 0 ||
			    got.n_told < got.n_tokens);
			native_free(&got);
		}
		native_close(&r);
	}
	hwtdi_graph_drop(graph);
	hwtd_trace_close(trace);
	pt_free(&m.packets);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_of_another_page_table_is_never_taken),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
