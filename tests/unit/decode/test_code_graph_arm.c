/*
 * The code graph of A64, A32 and T32: superblocks of small programs by hand, and
 * of random ones against going one instruction at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arm_program.h"
#include "decode/code/arm_insn.h"
#include "decode/code/code_graph.h"
#include "graph_fixture.h"
#include "support/failing_allocator.h"

#define A64 HWTD_ISA_A64
#define A32 HWTD_ISA_A32
#define T32 HWTD_ISA_T32
#define BASE 0x10000u
#define IF HWTDI_ARM_CONDITIONAL

/* Halfwords, low ones first; A64 and A32 have two for each instruction. */
static const struct {
	const char *name;
	uint8_t isa;
	uint16_t code[10];
	/* Bytes. */
	uint32_t n;
	uint8_t kind;
	uint16_t insns, runs;
	uint8_t pushes;
	int64_t target;
	uint32_t end;
	/* Of the last run and instruction. */
	uint8_t branch;
	uint16_t binds;
	uint8_t target_isa;
} ends[] = {
	/* nop; b.ne .+8 */
	{ "conditional", A64, { 0x201f, 0xd503, 0x0041, 0x5400 }, 20,
	    HWTDI_NODE_COND, 2, 1, 0, 12, 8, HWTD_BRANCH_CONDITIONAL, IF, 0 },
	/* b .+8; .; ret */
	{ "jump, then a return", A64, { 2, 0x1400, 0, 0, 0x03c0, 0xd65f }, 20,
	    HWTDI_NODE_RETURN, 2, 2, 0, 0, 12, HWTD_BRANCH_RETURN, 0, 0 },
	/* bl .+4; cbz x0, . */
	{ "call of what is behind it", A64, { 1, 0x9400, 0, 0xb400 }, 20,
	    HWTDI_NODE_COND_PUSH, 2, 2, 1, 4, 8, HWTD_BRANCH_CONDITIONAL, IF,
	    0 },
	{ "indirect call", A64, { 0x0100, 0xd63f }, 20, HWTDI_NODE_INDIRECT, 1,
	    1, 1, 0, 4, HWTD_BRANCH_INDIRECT_CALL, 0, 0 },
	{ "system call", A64, { 0x0001, 0xd400 }, 20, HWTDI_NODE_FAR, 1, 1, 0,
	    0, 4, HWTD_BRANCH_FAR_CALL, 0, 0 },
	{ "exception return", A64, { 0x03e0, 0xd69f }, 20, HWTDI_NODE_FAR, 1,
	    1, 0, 0, 4, HWTD_BRANCH_FAR_RETURN, 0, 0 },
	{ "ISB", A64, { 0x3fdf, 0xd503 }, 20, HWTDI_NODE_ON, 1, 1, 0, 4, 4,
	    HWTD_BRANCH_NONE, HWTDI_ARM_ISB, 0 },
	{ "WFI", A64, { 0x207f, 0xd503 }, 20, HWTDI_NODE_ON, 1, 1, 0, 4, 4,
	    HWTD_BRANCH_NONE, HWTDI_ARM_WAIT, 0 },
	{ "jump to itself", A64, { 0x201f, 0xd503, 0, 0x1400 }, 20,
	    HWTDI_NODE_LOOP, 2, 1, 0, 4, 4, HWTD_BRANCH_JUMP, 0, 0 },
	{ "jump before the unit", A64, { 0xffff, 0x17ff }, 20, HWTDI_NODE_AWAY,
	    1, 1, 0, -4, 4, HWTD_BRANCH_JUMP, 0, 0 },
	{ "end of the unit", A64, { 0x201f, 0xd503 }, 4, HWTDI_NODE_AWAY, 1, 1,
	    0, 4, 4, HWTD_BRANCH_NONE, 0, 0 },
	{ "half an instruction", A64, { 0x201f, 0xd503, 0x201f }, 6,
	    HWTDI_NODE_CUT, 1, 1, 0, 4, 4, HWTD_BRANCH_NONE, 0, 0 },
	{ "UDF", A64, { 0x201f, 0xd503, 0, 0 }, 20, HWTDI_NODE_BAD, 1, 1, 0, 4,
	    4, HWTD_BRANCH_NONE, 0, 0 },

	{ "conditional call", A32, { 0, 0x0b00 }, 20, HWTDI_NODE_COND_CALL, 1,
	    1, 1, 8, 4, HWTD_BRANCH_CONDITIONAL, IF, 0 },
	/* bl .+8; .; bleq .+8 */
	{ "call, then a conditional one", A32, { 0, 0xeb00, 0, 0, 0, 0x0b00 },
	    20, HWTDI_NODE_COND_CALL, 2, 2, 2, 16, 12, HWTD_BRANCH_CONDITIONAL,
	    IF, 0 },
	{ "conditional return", A32, { 0xff1e, 0x012f }, 20, HWTDI_NODE_RETURN,
	    1, 1, 0, 0, 4, HWTD_BRANCH_RETURN, IF, 0 },
	{ "conditional indirect call", A32, { 0xff33, 0x012f }, 20,
	    HWTDI_NODE_INDIRECT, 1, 1, 1, 0, 4, HWTD_BRANCH_INDIRECT_CALL, IF,
	    0 },
	{ "conditional system call", A32, { 0, 0x0f00 }, 20, HWTDI_NODE_FAR, 1,
	    1, 0, 0, 4, HWTD_BRANCH_FAR_CALL, IF, 0 },
	/* moveq; bx lr */
	{ "conditional instructions go on", A32, { 1, 0x01a0, 0xff1e, 0xe12f },
	    20, HWTDI_NODE_RETURN, 2, 1, 0, 0, 8, HWTD_BRANCH_RETURN, 0, 0 },
	{ "call into T32", A32, { 0, 0xfa00 }, 20, HWTDI_NODE_AWAY, 1, 1, 1, 8,
	    4, HWTD_BRANCH_CALL, 0, T32 },

	/* nop; bne.n .+4 */
	{ "short conditional", T32, { 0xbf00, 0xd100 }, 20, HWTDI_NODE_COND, 2,
	    1, 0, 6, 4, HWTD_BRANCH_CONDITIONAL, IF, 0 },
	/* bl .+8; .; pop {pc} */
	{ "call, then a return", T32, { 0xf000, 0xf802, 0, 0, 0xbd00 }, 20,
	    HWTDI_NODE_RETURN, 2, 2, 1, 0, 10, HWTD_BRANCH_RETURN, 0, 0 },
	/* blx .+4, which is aligned; nop; blx .+6 */
	{ "call into A32", T32, { 0xf000, 0xe800 }, 20, HWTDI_NODE_AWAY, 1, 1,
	    1, 4, 4, HWTD_BRANCH_CALL, 0, A32 },
	{ "call into A32, not aligned", T32, { 0xbf00, 0xf000, 0xe802 }, 20,
	    HWTDI_NODE_AWAY, 2, 1, 1, 8, 6, HWTD_BRANCH_CALL, 0, A32 },
	/* it ne; b.n .+4 */
	{ "jump of an IT block", T32, { 0xbf18, 0xe000 }, 20, HWTDI_NODE_COND,
	    2, 1, 0, 6, 4, HWTD_BRANCH_CONDITIONAL, IF, 0 },
	/* itt ne; mov; bl .+4 */
	{ "call of an IT block", T32, { 0xbf1c, 0x4608, 0xf000, 0xf800 }, 20,
	    HWTDI_NODE_COND_CALL, 3, 1, 1, 8, 8, HWTD_BRANCH_CONDITIONAL, IF,
	    0 },
	/* it ne; mov; b.n .+4; .; bx lr */
	{ "jump behind an IT block", T32,
	    { 0xbf18, 0x4608, 0xe000, 0, 0x4770 }, 20, HWTDI_NODE_RETURN, 4, 2,
	    0, 0, 10, HWTD_BRANCH_RETURN, 0, 0 },
	/* it ne; blx .+4 */
	{ "call into A32 of an IT block", T32, { 0xbf18, 0xf000, 0xe802 }, 20,
	    HWTDI_NODE_COND_CALL, 2, 1, 1, 8, 6, HWTD_BRANCH_CONDITIONAL, IF,
	    A32 },
	/* le lr, .-0 */
	{ "end of a loop", T32, { 0xbf00, 0xf00f, 0xc803 }, 20,
	    HWTDI_NODE_COND, 2, 1, 0, 0, 6, HWTD_BRANCH_CONDITIONAL, IF, 0 },
	{ "a halfword of two", T32, { 0xbf00, 0xf000 }, 4, HWTDI_NODE_CUT, 1,
	    1, 0, 2, 2, HWTD_BRANCH_NONE, 0, 0 },
	{ "a byte", T32, { 0xbf00, 0xbf00 }, 3, HWTDI_NODE_CUT, 1, 1, 0, 2, 2,
	    HWTD_BRANCH_NONE, 0, 0 },
	{ "short UDF at the end", T32, { 0xbf00, 0xde00 }, 4, HWTDI_NODE_BAD,
	    1, 1, 0, 2, 2, HWTD_BRANCH_NONE, 0, 0 },
};

static void
put_halves(uint8_t *bytes, const uint16_t *halves, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bytes[2 * i] = (uint8_t)halves[i];
		bytes[2 * i + 1] = (uint8_t)(halves[i] >> 8);
	}
}

static void
superblocks_end_where_the_trace_has_to_speak(void **state)
{
	struct graph_fixture *f = *state;
	uint8_t bytes[sizeof(ends) / sizeof(ends[0])][20];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const struct hwtdi_code_block *b;
		const struct hwtdi_node *n;
		uint32_t node;

		print_message("%u %s\n", ends[i].isa, ends[i].name);
		put_halves(bytes[i], ends[i].code, 10);
		node = graph_node_at(f->graph,
		    graph_unit_of(f->graph, bytes[i], ends[i].n, ends[i].isa,
			BASE),
		    0);
		n = graph_see(f->graph, node);
		b = hwtdi_graph_block(f->graph, node);
		assert_int_equal(n->kind, ends[i].kind);
		assert_int_equal(n->insns, ends[i].insns);
		assert_int_equal(n->pushes, ends[i].pushes);
		assert_int_equal(b->n_runs, ends[i].runs);
		assert_int_equal(b->target, ends[i].target);
		assert_int_equal(b->end, ends[i].end);
		assert_int_equal(b->runs[b->n_runs - 1].branch,
		    ends[i].branch);
		assert_int_equal(b->binds, ends[i].binds);
		assert_int_equal(b->target_isa, ends[i].target_isa);
	}
}

static uint32_t
link_of(struct graph_fixture *f, uint32_t node, unsigned int taken)
{
	uint32_t next = UINT32_MAX;

	assert_int_equal(hwtdi_graph_link(f->graph, node, taken, &next, NULL),
	    HWTD_OK);
	return (next);
}

static uint32_t
off_of(struct graph_fixture *f, uint32_t node)
{
	assert_int_not_equal(node, 0);
	return (hwtdi_graph_block(f->graph, node)->off);
}

static void
what_has_a_condition_can_go_on_behind_it(void **state)
{
	/* bleq .+8; bxeq lr; blxeq r3; svceq 0; bx lr */
	static const uint16_t code[] = { 0, 0x0b00, 0xff1e, 0x012f, 0xff33,
		0x012f, 0, 0x0f00, 0xff1e, 0xe12f };
	struct graph_fixture *f = *state;
	uint8_t bytes[20];
	uint32_t unit, call, back = 0;

	put_halves(bytes, code, 10);
	unit = graph_unit_of(f->graph, bytes, 20, A32, BASE);
	for (uint32_t off = 0; off < 16; off += 4)
		assert_int_equal(off_of(f,
				     link_of(f,
					 graph_node_at(f->graph, unit, off),
					 0)),
		    off + 4);
	call = graph_node_at(f->graph, unit, 0);
	assert_int_equal(off_of(f, link_of(f, call, 1)), 8);
	assert_int_equal(hwtdi_graph_return(f->graph,
			     graph_see(f->graph, call)->push, &back, NULL),
	    HWTD_OK);
	assert_int_equal(off_of(f, back), 4);
}

static void
other_instruction_sets_are_other_units(void **state)
{
	/* it ne; blxne .+6, into A32 that lies in the same bytes. */
	static const uint16_t code[] = { 0xbf18, 0xf000, 0xe802, 0x4770,
		0xff1e, 0xe12f };
	struct graph_fixture *f = *state;
	uint8_t bytes[12];
	uint32_t t32, a32, node, part = 0;

	put_halves(bytes, code, 6);
	t32 = graph_unit_of(f->graph, bytes, 12, T32, BASE);
	a32 = graph_unit_of(f->graph, bytes, 12, A32, BASE);
	assert_int_not_equal(t32, a32);
	node = graph_node_at(f->graph, t32, 0);
	assert_int_equal(hwtdi_graph_block(f->graph, node)->target, 8);
	assert_int_equal(link_of(f, node, 1), 0);
	assert_int_equal(off_of(f, link_of(f, node, 0)), 6);
	assert_int_equal(graph_see(f->graph, graph_node_at(f->graph, a32, 8))
			     ->kind,
	    HWTDI_NODE_RETURN);
	/* A part of it does not go there. */
	assert_int_equal(hwtdi_graph_part(f->graph, node, 1, &part, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_graph_block(f->graph, part)->target_isa, 0);
	assert_int_equal(hwtdi_graph_block(f->graph, part)->end, 2);
}

static void
code_of_64_bits_is_one_unit_wherever_it_lies(void **state)
{
	static const uint8_t code[20] = { 0x1f, 0x20, 0x03, 0xd5 };
	struct graph_fixture *f = *state;

	assert_int_equal(graph_unit_of(f->graph, code, 20, A64, BASE),
	    graph_unit_of(f->graph, code, 20, A64, 2 * BASE));
	assert_int_not_equal(graph_unit_of(f->graph, code, 20, T32, BASE),
	    graph_unit_of(f->graph, code, 20, T32, BASE + 2));
	assert_int_not_equal(graph_unit_of(f->graph, code, 20, A32, BASE),
	    graph_unit_of(f->graph, code, 20, A64, BASE));
}

/* Random programs. */

/* A superblock, one instruction at a time. */
struct walk {
	uint32_t insns;
	uint8_t lengths[HWTDI_BLOCK_INSNS + 1];
	uint32_t offs[HWTDI_BLOCK_INSNS + 1];
	/* Instructions behind which a run ends. */
	uint32_t cuts[HWTDI_BLOCK_RUNS + 1];
	uint32_t n_cuts;
	uint32_t pushes[HWTDI_BLOCK_RUNS + 1];
	uint32_t n_pushes;
	uint8_t kind;
	int64_t target;
	uint32_t end;
	uint8_t target_isa;
};

static const struct arm_step *
step_at(const struct arm_program *p, int64_t off)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->steps[i].off == off)
			return (&p->steps[i]);
	return (NULL);
}

static void
end_walk(struct walk *w, uint8_t kind, int64_t target, uint32_t end)
{
	w->kind = kind;
	w->target = target;
	w->end = end;
}

/* What does not go on; true: it is one. */
static bool
ends_walk(struct walk *w, const struct arm_program *p,
    const struct arm_step *s)
{
	const uint32_t behind = s->off + s->length;

	switch (s->does) {
	case ARM_JUMP:
		if (!s->conditional)
			return (false);
		end_walk(w,
		    w->n_pushes != 0 ? HWTDI_NODE_COND_PUSH : HWTDI_NODE_COND,
		    s->target, behind);
		return (true);
	case ARM_CALL:
		if (!s->conditional)
			return (false);
		w->pushes[w->n_pushes++] = behind;
		end_walk(w, HWTDI_NODE_COND_CALL, s->target, behind);
		if (s->switches)
			w->target_isa = p->isa == T32 ? A32 : T32;
		return (true);
	case ARM_INDIRECT_CALL:
		w->pushes[w->n_pushes++] = behind;
		end_walk(w, HWTDI_NODE_INDIRECT, 0, behind);
		return (true);
	case ARM_INDIRECT_JUMP:
		end_walk(w, HWTDI_NODE_INDIRECT, 0, behind);
		return (true);
	case ARM_RETURN:
		end_walk(w, HWTDI_NODE_RETURN, 0, behind);
		return (true);
	case ARM_SYSTEM_CALL:
	case ARM_EXCEPTION_RETURN:
		end_walk(w, HWTDI_NODE_FAR, 0, behind);
		return (true);
	case ARM_ISB:
	case ARM_BARRIER:
	case ARM_WAIT:
		end_walk(w, HWTDI_NODE_ON, behind, behind);
		return (true);
	default:
		return (false);
	}
}

/* The same jump or call as one before: the run is taken back. */
static bool
loops(struct walk *w)
{
	const uint32_t first = w->n_cuts == 0 ? 0 : w->cuts[w->n_cuts - 1];
	const uint32_t last = w->offs[w->insns - 1];

	for (uint32_t i = 0; i < w->n_cuts; i++)
		if (w->offs[w->cuts[i] - 1] == last) {
			w->insns = first;
			end_walk(w, HWTDI_NODE_LOOP, w->offs[first],
			    w->offs[first]);
			return (true);
		}
	return (false);
}

/* A direct jump or call; false: the walk is at its end. */
static bool
goes_on(struct walk *w, const struct arm_program *p, const struct arm_step *s)
{
	if (loops(w))
		return (false);
	w->cuts[w->n_cuts++] = w->insns;
	if (s->does == ARM_CALL)
		w->pushes[w->n_pushes++] = s->off + s->length;
	if (s->switches)
		w->target_isa = p->isa == T32 ? A32 : T32;
	if (s->switches || s->target < 0 || s->target >= (int64_t)p->length)
		end_walk(w, HWTDI_NODE_AWAY, s->target, s->off + s->length);
	else if (w->n_cuts == HWTDI_BLOCK_RUNS)
		end_walk(w, HWTDI_NODE_ON, s->target, s->off + s->length);
	else
		return (true);
	return (false);
}

static void
walk(struct walk *w, const struct arm_program *p, const struct arm_step *s)
{
	memset(w, 0, sizeof(*w));
	for (;;) {
		w->offs[w->insns] = s->off;
		w->lengths[w->insns++] = s->length;
		if (ends_walk(w, p, s))
			return;
		if (s->does == ARM_JUMP || s->does == ARM_CALL) {
			if (!goes_on(w, p, s))
				return;
			s = step_at(p, s->target);
		} else if (s + 1 < p->steps + p->n &&
		    w->insns < HWTDI_BLOCK_INSNS)
			s++;
		else {
			end_walk(w,
			    s + 1 < p->steps + p->n ||
				    w->insns == HWTDI_BLOCK_INSNS
				? HWTDI_NODE_ON
				: HWTDI_NODE_AWAY,
			    s->off + s->length, s->off + s->length);
			return;
		}
		assert_non_null(s);
		if (w->insns == HWTDI_BLOCK_INSNS) {
			end_walk(w, HWTDI_NODE_ON, s->off, s->off);
			return;
		}
	}
}

/* What the step shows in a row. */
static uint8_t
class_of(const struct arm_step *s)
{
	static const uint8_t classes[ARM_N_DOES] = {
		[ARM_JUMP] = HWTD_BRANCH_JUMP,
		[ARM_CALL] = HWTD_BRANCH_CALL,
		[ARM_INDIRECT_JUMP] = HWTD_BRANCH_INDIRECT_JUMP,
		[ARM_INDIRECT_CALL] = HWTD_BRANCH_INDIRECT_CALL,
		[ARM_RETURN] = HWTD_BRANCH_RETURN,
		[ARM_SYSTEM_CALL] = HWTD_BRANCH_FAR_CALL,
		[ARM_EXCEPTION_RETURN] = HWTD_BRANCH_FAR_RETURN,
	};

	if (s->conditional && (s->does == ARM_JUMP || s->does == ARM_CALL))
		return (HWTD_BRANCH_CONDITIONAL);
	return (classes[s->does]);
}

static uint16_t
binds_of(const struct arm_step *s)
{
	static const uint16_t binds[ARM_N_DOES] = {
		[ARM_ISB] = HWTDI_ARM_ISB,
		[ARM_BARRIER] = HWTDI_ARM_BARRIER,
		[ARM_WAIT] = HWTDI_ARM_WAIT,
	};

	return (binds[s->does] | (s->conditional ? IF : 0));
}

static void
compare_runs(const struct arm_program *p, const struct hwtdi_code_block *b,
    const struct walk *w)
{
	uint32_t at = 0;

	for (uint32_t r = 0; r < b->n_runs; r++) {
		const struct hwtdi_code_run *run = &b->runs[r];
		uint32_t bytes = 0;

		assert_int_equal(run->off, w->offs[at]);
		assert_int_equal(run->insns,
		    (r < w->n_cuts ? w->cuts[r] : w->insns) - at);
		for (uint32_t k = 0; k < run->insns; k++, at++) {
			assert_int_equal(run->off + bytes, w->offs[at]);
			assert_int_equal(b->lengths[at], w->lengths[at]);
			bytes += w->lengths[at];
		}
		assert_int_equal(run->bytes, bytes);
		assert_int_equal(hwtdi_run_last(run), w->offs[at - 1]);
		assert_int_equal(run->branch,
		    class_of(step_at(p, w->offs[at - 1])));
	}
	assert_int_equal(at, w->insns);
}

static void
compare(struct graph_fixture *f, const struct arm_program *p, uint32_t unit,
    const struct arm_step *s)
{
	const uint32_t node = graph_node_at(f->graph, unit, s->off);
	const struct hwtdi_node *n = graph_see(f->graph, node);
	const struct hwtdi_code_block *b = hwtdi_graph_block(f->graph, node);
	struct walk w;

	walk(&w, p, s);
	assert_int_equal(n->kind, w.kind);
	assert_int_equal(n->insns, w.insns);
	assert_int_equal(b->target, w.target);
	assert_int_equal(b->end, w.end);
	assert_int_equal(b->target_isa, w.target_isa);
	assert_int_equal(n->pushes, w.n_pushes);
	for (uint32_t i = 0; i < w.n_pushes; i++)
		assert_int_equal(hwtdi_graph_push(f->graph, n->push + i)->off,
		    w.pushes[i]);
	compare_runs(p, b, &w);
	if (w.kind != HWTDI_NODE_LOOP)
		assert_int_equal(b->binds,
		    binds_of(step_at(p, w.offs[w.insns - 1])));
}

static void
nodes_are_what_single_instructions_make(void **state)
{
	static const uint8_t isas[] = { A64, A32, T32 };
	const uint64_t seeds = getenv("HWTDECODE_TEST_SMALL") != NULL ? 6 : 60;
	struct graph_fixture *f = *state;
	struct arm_program *p = malloc(sizeof(*p));

	assert_non_null(p);
	for (uint64_t seed = 0; seed < 3 * seeds; seed++) {
		uint8_t *bytes;
		uint32_t unit;

		arm_program_make(p, isas[seed % 3], seed, seed % 2 == 0);
		/* Nothing may be read behind it. */
		bytes = malloc(p->length);
		assert_non_null(bytes);
		memcpy(bytes, p->bytes, p->length);
		hwtdi_graph_drop(f->graph);
		assert_int_equal(hwtdi_graph_create(f->library, &f->graph,
				     NULL),
		    HWTD_OK);
		unit = graph_unit_of(f->graph, bytes, p->length, p->isa,
		    p->address);
		for (uint32_t i = 0; i < p->n; i++)
			compare(f, p, unit, &p->steps[i]);
		free(bytes);
	}
	/* What it was made of is gone. */
	hwtdi_graph_drop(f->graph);
	assert_int_equal(hwtdi_graph_create(f->library, &f->graph, NULL),
	    HWTD_OK);
	free(p);
}

/* Whatever the bytes are, nodes end, inside of the unit. */
static void
any_bytes_make_nodes(void **state)
{
	static const uint8_t isas[] = { A64, A32, T32 };
	struct graph_fixture *f = *state;
	uint64_t seed = 1;
	uint8_t *bytes = malloc(3001);

	assert_non_null(bytes);
	for (size_t i = 0; i < 3001; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		/* Half of it are IT instructions and long ones. */
		bytes[i] = i % 2 == 0 || seed >> 63 == 0
		    ? (uint8_t)(seed >> 40)
		    : (seed >> 62 & 1) != 0 ? 0xbf
					    : 0xf0;
	}
	for (size_t i = 0; i < 3; i++) {
		const uint32_t unit = graph_unit_of(f->graph, bytes, 3001,
		    isas[i], BASE);

		for (uint32_t off = 0; off < 3001; off++) {
			const uint32_t node = graph_node_at(f->graph, unit,
			    off);
			const struct hwtdi_code_block
			    *b = hwtdi_graph_block(f->graph, node);
			uint32_t insns = 0;

			for (uint32_t r = 0; r < b->n_runs; r++) {
				insns += b->runs[r].insns;
				assert_true(b->runs[r].insns != 0);
				assert_true(b->runs[r].off +
					b->runs[r].bytes <=
				    3001);
			}
			assert_int_equal(graph_see(f->graph, node)->insns,
			    insns);
			assert_true(b->end <= 3001);
		}
	}
	hwtdi_graph_drop(f->graph);
	assert_int_equal(hwtdi_graph_create(f->library, &f->graph, NULL),
	    HWTD_OK);
	free(bytes);
}

/* All that a graph does; false: no memory, *rc says so. */
static bool
use_graph(struct hwtd_context *library, const struct arm_program *p, int *rc)
{
	struct hwtdi_code_graph *graph = NULL;
	uint32_t unit = 0, joint = 0, node = 0, next = 0, part = 0;

	*rc = hwtdi_graph_create(library, &graph, NULL);
	if (*rc == HWTD_OK)
		*rc = hwtdi_graph_unit(graph, p->bytes, p->length, p->isa,
		    p->address, &unit, NULL);
	if (*rc == HWTD_OK)
		*rc = hwtdi_graph_joint(graph, p->bytes, p->steps[0].length,
		    p->isa, p->address, &joint, NULL);
	for (uint32_t i = 0; *rc == HWTD_OK && i < p->n; i++) {
		*rc = hwtdi_graph_node(graph, unit, p->steps[i].off, &node,
		    NULL);
		for (unsigned int taken = 0; *rc == HWTD_OK && taken < 2;
		     taken++)
			*rc = hwtdi_graph_link(graph, node, taken, &next,
			    NULL);
		if (*rc == HWTD_OK)
			*rc = hwtdi_graph_part(graph, node, 1, &part, NULL);
	}
	hwtdi_graph_drop(graph);
	return (*rc == HWTD_OK);
}

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	struct failing_allocator memory;
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_context *library = NULL;
	struct arm_program *p = malloc(sizeof(*p));
	uint64_t now = 1, n = 1;
	bool good = false;
	int rc;

	(void)state;
	assert_non_null(p);
	arm_program_make(p, T32, 2, false);
	failing_allocator_init(&memory);
	opts.allocator = &memory.allocator;
	assert_int_equal(hwtd_context_create(&opts, &library, NULL), HWTD_OK);
	for (; !good; n++) {
		failing_allocator_arm(&memory, n, n % 2 == 0);
		good = use_graph(library, p, &rc);
		failing_allocator_arm(&memory, 0, false);
		hwtd_context_memory(library, &now, NULL);
		assert_int_equal(now, 0);
		if (!good)
			assert_int_equal(rc, HWTD_E_NOMEM);
	}
	assert_true(n > 8);
	hwtd_context_destroy(library);
	free(p);
}

int
main(void)
{
#define TEST(name)                                                            \
	cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)
	const struct CMUnitTest tests[] = {
		TEST(superblocks_end_where_the_trace_has_to_speak),
		TEST(what_has_a_condition_can_go_on_behind_it),
		TEST(other_instruction_sets_are_other_units),
		TEST(code_of_64_bits_is_one_unit_wherever_it_lies),
		TEST(nodes_are_what_single_instructions_make),
		TEST(any_bytes_make_nodes),
		cmocka_unit_test(
		    each_refused_request_is_reported_and_leaks_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
