/*
 * Runs and edges of small programs whose counts are known, with both engines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/run_sums.h"

#define AT 0x1000u

static const char *const engines[] = { "native", "libipt" };

/* With the section's number in place of the section. */
struct want_run {
	uint64_t address, count;
	uint32_t bytes, insns, section;
	uint8_t branch;
};
struct want_edge {
	uint64_t from, to, count;
	uint32_t from_section, to_section;
	uint32_t branch;
};

struct want {
	const struct want_run *runs;
	size_t n_runs;
	const struct want_edge *edges;
	size_t n_edges;
};

#define WANT(runs, edges)                                                     \
	((struct want){ runs, sizeof(runs) / sizeof((runs)[0]), edges,        \
	    sizeof(edges) / sizeof((edges)[0]) })

static void
assert_runs(const struct hwtd_runs *runs, const struct want *want)
{
	struct hwtd_run got[64];
	size_t n = 0;

	(void)hwtd_runs_read(runs, 0, got, sizeof(got[0]), 64, &n);
	for (size_t i = 0; i < n && i < want->n_runs; i++) {
		const struct want_run *w = &want->runs[i];

		assert_int_equal(got[i].address, w->address);
		assert_int_equal(got[i].count, w->count);
		assert_int_equal(got[i].bytes, w->bytes);
		assert_int_equal(got[i].insns, w->insns);
		assert_int_equal(got[i].section, w->section);
		assert_int_equal(got[i].branch, w->branch);
		assert_int_equal(got[i].isa, HWTD_ISA_X86_64);
	}
	assert_int_equal(n, want->n_runs);
}

static void
assert_edges(const struct hwtd_runs *runs, const struct want *want)
{
	struct hwtd_edge got[64];
	size_t n = 0;

	(void)hwtd_runs_edges(runs, 0, got, sizeof(got[0]), 64, &n);
	for (size_t i = 0; i < n && i < want->n_edges; i++) {
		const struct want_edge *w = &want->edges[i];

		assert_int_equal(got[i].from, w->from);
		assert_int_equal(got[i].to, w->to);
		assert_int_equal(got[i].count, w->count);
		assert_int_equal(got[i].from_section, w->from_section);
		assert_int_equal(got[i].to_section, w->to_section);
		assert_int_equal(got[i].branch, w->branch);
	}
	assert_int_equal(n, want->n_edges);
}

static void
check(struct hwtd_trace *trace, const char *engine, const struct want *want)
{
	const struct hwtd_events_options o = { .size = sizeof(o),
		.engine = engine };
	struct hwtd_runs *runs = run_sums_count(trace, HWTD_RUNS_EDGES, &o);
	struct run_sums sums;

	print_message("  %s\n", engine);
	assert_runs(runs, want);
	assert_edges(runs, want);
	run_sums_make(trace, &o, &sums);
	run_sums_assert(&sums, runs, true);
	run_sums_free(&sums);
	hwtd_runs_close(runs);
}

/* Check a trace of 64 bytes of code at AT: nop behind what is given. */
static void
check_code(const void *code, size_t n, struct pt_packets *p,
    const struct want *want)
{
	struct hwtd_trace *trace = mt_nops_after(AT, code, n, p);

	for (size_t i = 0; i < 2; i++)
		check(trace, engines[i], want);
	hwtd_trace_close(trace);
	pt_free(p);
}

/* nop; dec %eax; jne back to the nop; nop... */
static const uint8_t loop[] = { 0x90, 0xff, 0xc8, 0x75, 0xfb };

static void
loop_counts_its_rounds(void **state)
{
	static const struct want_run runs[] = {
		{ AT, 4, 5, 3, 0, HWTD_BRANCH_CONDITIONAL },
		{ AT + 5, 1, 2, 2, 0, HWTD_BRANCH_NONE },
	};
	static const struct want_edge edges[] = {
		{ AT + 3, AT, 3, 0, 0, HWTD_BRANCH_CONDITIONAL },
		{ AT + 3, AT + 5, 1, 0, 0, HWTD_BRANCH_CONDITIONAL },
	};
	const struct want want = WANT(runs, edges);
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_tnt(&p, "TTTN");
	pt_leave_at(&p, AT + 7);
	check_code(loop, sizeof(loop), &p, &want);
}

/* jmp *%rax at the start, and behind two nops at 0x10. */
static const uint8_t jumps[] = { 0xff, 0xe0, 0x90, 0x90, 0x90, 0x90, 0x90,
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff,
	0xe0 };

static void
code_entered_in_the_middle_is_cut_there(void **state)
{
	static const struct want_run runs[] = {
		{ AT, 3, 2, 1, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT + 0x10, 1, 1, 1, 0, HWTD_BRANCH_NONE },
		{ AT + 0x11, 3, 3, 2, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT + 0x20, 1, 1, 1, 0, HWTD_BRANCH_NONE },
	};
	static const struct want_edge edges[] = {
		{ AT, AT + 0x10, 1, 0, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT, AT + 0x11, 2, 0, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT + 0x12, AT, 2, 0, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT + 0x12, AT + 0x20, 1, 0, 0, HWTD_BRANCH_INDIRECT_JUMP },
	};
	const struct want want = WANT(runs, edges);
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_tip(&p, PT_IP_32, AT + 0x11);
	pt_tip(&p, PT_IP_32, AT);
	pt_tip(&p, PT_IP_32, AT + 0x10);
	pt_tip(&p, PT_IP_32, AT);
	pt_tip(&p, PT_IP_32, AT + 0x11);
	pt_tip(&p, PT_IP_32, AT + 0x20);
	pt_leave_at(&p, AT + 0x21);
	check_code(jumps, sizeof(jumps), &p, &want);
}

/* lock cmpxchg %ecx,(%rdx); jmp *%rax: with the prefix, or entered behind it. */
static void
code_inside_of_an_instruction_is_a_run_of_its_own(void **state)
{
	static const uint8_t code[] = { 0xf0, 0x0f, 0xb1, 0x0a, 0xff, 0xe0 };
	static const struct want_run runs[] = {
		{ AT, 2, 4, 1, 0, HWTD_BRANCH_NONE },
		{ AT + 1, 1, 3, 1, 0, HWTD_BRANCH_NONE },
		{ AT + 4, 3, 2, 1, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT + 0x20, 1, 1, 1, 0, HWTD_BRANCH_NONE },
	};
	static const struct want_edge edges[] = {
		{ AT + 4, AT, 1, 0, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT + 4, AT + 1, 1, 0, 0, HWTD_BRANCH_INDIRECT_JUMP },
		{ AT + 4, AT + 0x20, 1, 0, 0, HWTD_BRANCH_INDIRECT_JUMP },
	};
	const struct want want = WANT(runs, edges);
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_tip(&p, PT_IP_32, AT + 1);
	pt_tip(&p, PT_IP_32, AT);
	pt_tip(&p, PT_IP_32, AT + 0x20);
	pt_leave_at(&p, AT + 0x21);
	check_code(code, sizeof(code), &p, &want);
}

/* call 0x10, twice; jmp 0x20 ahead of the second; ret at 0x10. */
static void
direct_branches_and_returns_are_edges(void **state)
{
	static const uint8_t code[] = { 0xe8, 0x0b, 0, 0, 0, 0xeb, 0x19, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x90, 0x90, 0xe8, 0xeb, 0xff, 0xff, 0xff };
	static const struct want_run runs[] = {
		{ AT, 1, 5, 1, 0, HWTD_BRANCH_CALL },
		{ AT + 5, 1, 2, 1, 0, HWTD_BRANCH_JUMP },
		{ AT + 0x10, 2, 1, 1, 0, HWTD_BRANCH_RETURN },
		{ AT + 0x20, 1, 5, 1, 0, HWTD_BRANCH_CALL },
		{ AT + 0x25, 1, 1, 1, 0, HWTD_BRANCH_NONE },
	};
	static const struct want_edge edges[] = {
		{ AT, AT + 0x10, 1, 0, 0, HWTD_BRANCH_CALL },
		{ AT + 5, AT + 0x20, 1, 0, 0, HWTD_BRANCH_JUMP },
		{ AT + 0x10, AT + 5, 1, 0, 0, HWTD_BRANCH_RETURN },
		{ AT + 0x10, AT + 0x25, 1, 0, 0, HWTD_BRANCH_RETURN },
		{ AT + 0x20, AT + 0x10, 1, 0, 0, HWTD_BRANCH_CALL },
	};
	const struct want want = WANT(runs, edges);
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_tnt(&p, "TT");
	pt_leave_at(&p, AT + 0x26);
	check_code(code, sizeof(code), &p, &want);
}

/* iretq at 0x20 is the handler. */
static void
an_interrupt_is_no_edge(void **state)
{
	static const uint8_t code[] = { 0x90, 0xff, 0xc8, 0x75, 0xfb, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0xcf };
	/* One comes behind the nop, one where a round ends. */
	static const struct want_run runs[] = {
		{ AT, 3, 5, 3, 0, HWTD_BRANCH_CONDITIONAL },
		{ AT + 5, 1, 1, 1, 0, HWTD_BRANCH_NONE },
		{ AT + 0x20, 2, 2, 1, 0, HWTD_BRANCH_FAR_RETURN },
	};
	static const struct want_edge edges[] = {
		{ AT + 3, AT, 2, 0, 0, HWTD_BRANCH_CONDITIONAL },
		{ AT + 3, AT + 5, 1, 0, 0, HWTD_BRANCH_CONDITIONAL },
		{ AT + 0x20, AT, 1, 0, 0, HWTD_BRANCH_FAR_RETURN },
		{ AT + 0x20, AT + 1, 1, 0, 0, HWTD_BRANCH_FAR_RETURN },
	};
	const struct want want = WANT(runs, edges);
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_fup(&p, PT_IP_32, AT + 1);
	pt_tip(&p, PT_IP_32, AT + 0x20);
	pt_tip(&p, PT_IP_32, AT + 1);
	pt_tnt(&p, "T");
	pt_fup(&p, PT_IP_32, AT);
	pt_tip(&p, PT_IP_32, AT + 0x20);
	pt_tip(&p, PT_IP_32, AT);
	pt_tnt(&p, "TN");
	pt_leave_at(&p, AT + 6);
	check_code(code, sizeof(code), &p, &want);
}

static void
a_gap_is_no_edge_but_is_told(void **state)
{
	static const struct want_run runs[] = {
		{ AT, 2, 5, 3, 0, HWTD_BRANCH_CONDITIONAL },
		{ AT + 5, 1, 2, 2, 0, HWTD_BRANCH_NONE },
	};
	static const struct want_edge edges[] = {
		{ AT + 3, AT, 1, 0, 0, HWTD_BRANCH_CONDITIONAL },
	};
	/* How the round before the gap ended is in no row. */
	const struct want want = WANT(runs, edges);
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_tnt(&p, "TT");
	pt_ovf(&p);
	pt_fup(&p, PT_IP_32, AT + 5);
	pt_leave_at(&p, AT + 7);
	trace = mt_nops_after(AT, loop, sizeof(loop), &p);
	for (size_t i = 0; i < 2; i++) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.engine = engines[i] };
		struct hwtd_runs_info info = { .size = sizeof(info) };
		struct hwtd_runs *runs_of = run_sums_count(trace,
		    HWTD_RUNS_EDGES, &o);

		assert_runs(runs_of, &want);
		assert_edges(runs_of, &want);
		assert_int_equal(hwtd_runs_info(runs_of, &info), HWTD_OK);
		assert_int_equal(info.gaps[HWTD_GAP_OVERFLOW], 1);
		assert_int_equal(info.bytes, p.n);
		assert_int_equal(info.insns, 8);
		hwtd_runs_close(runs_of);
	}
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* Two processes take turns on one CPU, and map one image at two places. */
static void
code_at_two_places_is_counted_at_each(void **state)
{
	enum {
		A = 0x1000,
		B = 0x7000
	};
	static const struct want_run runs[] = {
		{ A, 5, 5, 3, 0, HWTD_BRANCH_CONDITIONAL },
		{ A + 5, 2, 2, 2, 0, HWTD_BRANCH_NONE },
		{ B, 5, 5, 3, 1, HWTD_BRANCH_CONDITIONAL },
		{ B + 5, 2, 2, 2, 1, HWTD_BRANCH_NONE },
	};
	static const struct want_edge edges[] = {
		{ A + 3, A, 3, 0, 0, HWTD_BRANCH_CONDITIONAL },
		{ A + 3, A + 5, 2, 0, 0, HWTD_BRANCH_CONDITIONAL },
		{ B + 3, B, 3, 1, 1, HWTD_BRANCH_CONDITIONAL },
		{ B + 3, B + 5, 2, 1, 1, HWTD_BRANCH_CONDITIONAL },
	};
	const struct want want = WANT(runs, edges);
	const struct hwtd_stream_desc desc = { .cpu = 0,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = mt_create();
	struct hwtd_record r;
	uint8_t code[64];
	uint64_t at[4];

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, loop, sizeof(loop));
	pt_psb_plus_off(&p, 64);
	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t base = i % 2 == 0 ? A : B;

		at[i] = p.n;
		pt_pge(&p, PT_IP_32, base);
		pt_tnt(&p, i < 2 ? "TN" : "TTN");
		pt_leave_at(&p, base + 7);
		pt_pad(&p, 4);
	}
	assert_int_equal(mt_stream(trace, &p, &desc), 0);
	assert_int_equal(mr_image(trace, "code", code, sizeof(code)), 0);
	mr_mmap(trace, 10, A, sizeof(code), 0);
	mr_mmap(trace, 11, B, sizeof(code), 0);
	for (uint32_t i = 0; i < 4; i++) {
		r = mr_record(HWTD_REC_SWITCH, 10 + i % 2, 0, 0);
		r.tid = 20 + i % 2;
		r.cpu = 0;
		mr_place(&r, 0, at[i]);
		mr_add(trace, &r);
	}
	mt_seal(trace);
	/* Flows of the other one have no places. */
	check(trace, "native", &want);
	for (uint32_t i = 0; i < 2; i++) {
		struct hwtd_section s = { .size = sizeof(s) };

		assert_int_equal(hwtd_trace_section(trace, i, &s), HWTD_OK);
		assert_int_equal(s.image, 0);
		assert_int_equal(s.file_off, 0);
		assert_int_equal(s.address, i == 0 ? A : B);
	}
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* What is asked for of rows is asked for of runs. */
static void
chosen_rows_alone_are_counted(void **state)
{
	static const struct want_run runs[] = {
		{ AT + 1, 4, 2, 1, 0, HWTD_BRANCH_NONE },
		{ AT + 5, 1, 1, 1, 0, HWTD_BRANCH_NONE },
	};
	static const struct hwtd_range ranges[] = { { AT + 1, AT + 2 },
		{ AT + 5, AT + 6 } };
	static const uint32_t nobody[] = { 77 };
	struct hwtd_events_options o = { .size = sizeof(o),
		.level = HWTD_LEVEL_INSN,
		.kinds = 1u << HWTD_EV_MODE,
		.addresses = ranges,
		.n_addresses = 2 };
	const struct want want = { runs, 2, NULL, 0 };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_runs *got;

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_tnt(&p, "TTTN");
	pt_leave_at(&p, AT + 7);
	trace = mt_nops_after(AT, loop, sizeof(loop), &p);
	got = run_sums_count(trace, HWTD_RUNS_EDGES, &o);
	assert_runs(got, &want);
	assert_edges(got, &want);
	hwtd_runs_close(got);
	o.n_addresses = 0;
	o.pids = nobody;
	o.n_pids = 1;
	got = run_sums_count(trace, 0, &o);
	assert_runs(got, &(struct want){ 0 });
	hwtd_runs_close(got);
	o.n_pids = 0;
	o.cpus = nobody;
	o.n_cpus = 1;
	got = run_sums_count(trace, 0, &o);
	assert_runs(got, &(struct want){ 0 });
	hwtd_runs_close(got);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static int
count(struct hwtd_trace *trace, const struct hwtd_events_options *o)
{
	const struct hwtd_runs_options opts = { .size = sizeof(opts),
		.events = o };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs;
	int rc;

	assert_int_equal(hwtd_runs_open(trace, &opts, &runs, NULL), HWTD_OK);
	while ((rc = hwtd_runs_count(runs, &err)) == HWTD_OK)
		continue;
	if (rc < 0) {
		assert_int_equal(err.code, rc);
		assert_int_equal(hwtd_runs_count(runs, NULL), HWTD_E_STATE);
	}
	hwtd_runs_close(runs);
	return (rc);
}

static void
a_gap_ends_strict_counting(void **state)
{
	struct hwtd_events_options o = { .size = sizeof(o),
		.flags = HWTD_DECODE_STRICT };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	pt_psb_plus(&p, AT, 64);
	pt_tnt(&p, "TT");
	pt_ovf(&p);
	pt_fup(&p, PT_IP_32, AT + 5);
	pt_leave_at(&p, AT + 7);
	trace = mt_nops_after(AT, loop, sizeof(loop), &p);
	for (size_t i = 0; i < 2; i++)
		for (o.jobs = 0; o.jobs < 4; o.jobs++) {
			o.engine = engines[i];
			assert_int_equal(count(trace, &o), HWTD_E_CORRUPT);
		}
	o.flags = 0;
	assert_int_equal(count(trace, &o), HWTD_END);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
misuse_is_told(void **state)
{
	static const uint32_t missing[] = { 1 };
	struct hwtd_events_options events = { .size = sizeof(events) };
	struct hwtd_runs_options o = { .size = sizeof(o), .events = &events };
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	struct hwtd_runs *runs = NULL;
	struct hwtd_run run[2];
	struct hwtd_edge edge;
	size_t n = 9;

	(void)state;
	assert_int_equal(hwtd_runs_open(trace, NULL, &runs, NULL),
	    HWTD_E_STATE);
	hwtd_trace_close(trace);
	pt_psb_plus(&p, AT, 64);
	trace = mt_nops_after(AT, loop, sizeof(loop), &p);
	assert_int_equal(hwtd_runs_open(NULL, NULL, &runs, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_open(trace, NULL, NULL, NULL),
	    HWTD_E_INVALID);
	o.flags = 2;
	assert_int_equal(hwtd_runs_open(trace, &o, &runs, NULL),
	    HWTD_E_INVALID);
	o.flags = 0;
	events.engine = "nobody";
	assert_int_equal(hwtd_runs_open(trace, &o, &runs, NULL),
	    HWTD_E_NOT_FOUND);
	events.engine = NULL;
	events.streams = missing;
	events.n_streams = 1;
	assert_int_equal(hwtd_runs_open(trace, &o, &runs, NULL),
	    HWTD_E_NOT_FOUND);
	events.n_streams = 0;
	events.jobs = 5000;
	assert_int_equal(hwtd_runs_open(trace, &o, &runs, NULL),
	    HWTD_E_INVALID);
	assert_null(runs);
	assert_int_equal(hwtd_runs_open(trace, NULL, &runs, NULL), HWTD_OK);
	assert_int_equal(hwtd_runs_read(runs, 0, run, sizeof(run[0]), 2, &n),
	    HWTD_E_STATE);
	assert_int_equal(n, 0);
	assert_int_equal(hwtd_runs_info(runs, &info), HWTD_OK);
	assert_int_equal(info.done, 0);
	while (hwtd_runs_count(runs, NULL) == HWTD_OK)
		continue;
	assert_int_equal(hwtd_runs_count(runs, NULL), HWTD_END);
	assert_int_equal(hwtd_runs_read(runs, 0, run, 31, 2, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_read(runs, 0, run, 36, 2, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_read(runs, 0, run, sizeof(run[0]), 0, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_read(runs, 0, NULL, sizeof(run[0]), 2, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_read(runs, 0, run, sizeof(run[0]), 2, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_read(NULL, 0, run, sizeof(run[0]), 2, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_read(runs, UINT64_MAX, run, sizeof(run[0]),
			     2, &n),
	    HWTD_END);
	assert_int_equal(hwtd_runs_edges(runs, 0, &edge, sizeof(edge), 1, &n),
	    HWTD_END);
	assert_int_equal(hwtd_runs_info(NULL, &info), HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_info(runs, NULL), HWTD_E_INVALID);
	assert_int_equal(hwtd_runs_count(NULL, NULL), HWTD_E_INVALID);
	hwtd_runs_close(runs);
	hwtd_runs_close(NULL);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* jne over a nop, so often that each flow has nodes that are new. */
#define MANY 20000u

static void
code_that_is_new_all_the_time_is_counted(void **state)
{
	static uint8_t code[3 * MANY + 16];
	static struct hwtd_edge edges[MANY + 1];
	struct hwtd_runs_info info = { .size = sizeof(info) };
	const struct hwtd_events_options o = { .size = sizeof(o),
		.engine = "native" };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_runs *runs;
	size_t n = 0;

	(void)state;
	memset(code, 0x90, sizeof(code));
	for (size_t i = 0; i < MANY; i++)
		memcpy(code + 3 * i, (const uint8_t[]){ 0x75, 0x01 }, 2);
	pt_psb_plus(&p, AT, 64);
	for (size_t i = 0; i < MANY / 5; i++)
		pt_tnt(&p, "TTTTT");
	pt_leave_at(&p, AT + 3 * MANY + 1);
	trace = mt_simple(AT, code, sizeof(code), &p);
	runs = run_sums_count(trace, HWTD_RUNS_EDGES, &o);
	assert_int_equal(hwtd_runs_info(runs, &info), HWTD_OK);
	assert_int_equal(info.insns, MANY + 1);
	assert_int_equal(info.n_runs, MANY + 1);
	(void)hwtd_runs_edges(runs, 0, edges, sizeof(edges[0]), MANY + 1, &n);
	assert_int_equal(n, MANY);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(edges[i].from, AT + 3 * i);
		assert_int_equal(edges[i].to, AT + 3 * i + 3);
		assert_int_equal(edges[i].count, 1);
	}
	hwtd_runs_close(runs);
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loop_counts_its_rounds),
		cmocka_unit_test(code_entered_in_the_middle_is_cut_there),
		cmocka_unit_test(
		    code_inside_of_an_instruction_is_a_run_of_its_own),
		cmocka_unit_test(direct_branches_and_returns_are_edges),
		cmocka_unit_test(an_interrupt_is_no_edge),
		cmocka_unit_test(a_gap_is_no_edge_but_is_told),
		cmocka_unit_test(code_at_two_places_is_counted_at_each),
		cmocka_unit_test(chosen_rows_alone_are_counted),
		cmocka_unit_test(a_gap_ends_strict_counting),
		cmocka_unit_test(code_that_is_new_all_the_time_is_counted),
		cmocka_unit_test(misuse_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
