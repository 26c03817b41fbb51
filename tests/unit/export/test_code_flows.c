/*
 * Flows of random counts: whatever was counted, each piece of code and each branch
 * has its count in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/compilers/code_flows.h"

#define PIECES 40
#define EDGES 120
#define ROUNDS 400

static uint64_t random_state;

static uint32_t
below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u +
	    1442695040888963407u;
	return ((uint32_t)((random_state >> 33) % n));
}

struct model {
	struct hwtd_context *ctx;
	struct hwtdi_code_piece pieces[PIECES];
	size_t n_pieces;
	struct hwtdi_code_edge edges[EDGES];
	size_t n_edges;
};

/* Some pieces behind each other, some not, at two places. */
static void
make_pieces(struct model *m)
{
	uint64_t at = 0x1000, bias = 0;

	m->n_pieces = 2 + below(PIECES - 2);
	for (size_t i = 0; i < m->n_pieces; i++) {
		struct hwtdi_code_piece *p = &m->pieces[i];
		const uint64_t bytes = 1 + below(20);

		if (i == m->n_pieces / 2) {
			at = 0x1000;
			bias = 0x10000;
		}
		if (below(4) == 0)
			at += 1 + below(5);
		*p = (struct hwtdi_code_piece){
			.code = { .start = at,
			    .last = at + below((uint32_t)bytes),
			    .end = at + bytes,
			    .count = below(50),
			    .isa = HWTD_ISA_X86_64,
			    .branch = (uint8_t)below(HWTD_BRANCH_FAR_JUMP +
				1) },
			.bias = bias
		};
		if (p->code.branch == HWTD_BRANCH_CONDITIONAL)
			p->not_taken = below(60);
		at += bytes;
	}
}

static void
make_edges(struct model *m)
{
	m->n_edges = below(EDGES);
	for (size_t i = 0; i < m->n_edges; i++) {
		const struct hwtdi_code_piece
		    *from = &m->pieces[below((uint32_t)m->n_pieces)],
		    *to = &m->pieces[below((uint32_t)m->n_pieces)];
		struct hwtdi_code_edge *e = &m->edges[i];

		*e = (struct hwtdi_code_edge){
			.branch = { .from = from->code.last,
			    .to = to->code.start + (below(5) == 0),
			    .count = 1 + below(20),
			    .branch = (uint8_t)(1 +
				below(HWTD_BRANCH_FAR_JUMP)) },
			.bias = to->bias
		};
		if (below(6) == 0) {
			e->branch.from = 0;
			e->branch.from_side = HWTDI_CODE_ELSEWHERE;
		} else if (below(6) == 0) {
			e->branch.to = 0;
			e->branch.to_side = HWTDI_CODE_ELSEWHERE;
		}
	}
}

static void
make_flows(struct model *m, struct hwtdi_code_profile *out)
{
	struct hwtdi_code_pieces code = { .pieces = m->pieces,
		.n_pieces = m->n_pieces,
		.edges = m->edges,
		.n_edges = m->n_edges };

	memset(out, 0, sizeof(*out));
	out->ctx = m->ctx;
	assert_int_equal(hwtdi_code_flows_make(out, &code, true, NULL),
	    HWTD_OK);
}

/* Flows of one bias are those of another, too, where addresses are the same. */
static uint64_t
passes(const struct hwtdi_code_profile *p, uint64_t last)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_flows; i++)
		if (!p->flows[i].bare && p->flows[i].to <= last &&
		    p->flows[i].last >= last)
			sum += p->flows[i].count;
	return (sum);
}

static uint64_t
executed(const struct model *m, uint64_t last)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n_pieces; i++)
		if (m->pieces[i].code.start <= last &&
		    last < m->pieces[i].code.end)
			sum += m->pieces[i].code.count;
	return (sum);
}

static void
assert_pieces(const struct model *m, const struct hwtdi_code_profile *p)
{
	for (size_t i = 0; i < m->n_pieces; i++) {
		const uint64_t last = m->pieces[i].code.last;

		/* Where both places have the same pieces. */
		if (executed(m, last) == m->pieces[i].code.count)
			assert_int_equal(passes(p, last),
			    m->pieces[i].code.count);
	}
}

/* How often a branch is told: by flows, and with flows behind returns. */
static void
assert_branches(const struct model *m, const struct hwtdi_code_profile *p)
{
	uint64_t given = 0, told = 0, far = 0, flows = 0;

	for (size_t i = 0; i < m->n_edges; i++)
		if (m->edges[i].branch.branch != HWTD_BRANCH_FAR_RETURN ||
		    m->edges[i].branch.to_side != HWTDI_CODE_INSIDE)
			given += m->edges[i].branch.count;
	for (size_t i = 0; i < p->n_branches; i++)
		if (p->branches[i].branch == HWTD_BRANCH_FAR_RETURN &&
		    p->branches[i].to_side == HWTDI_CODE_INSIDE)
			far += p->branches[i].count;
		else
			told += p->branches[i].count;
	assert_int_equal(told, given);
	for (size_t i = 0; i < p->n_branches; i++)
		if (p->branches[i].to_side != HWTDI_CODE_INSIDE)
			told -= p->branches[i].count;
	for (size_t i = 0; i < p->n_flows; i++)
		if (p->flows[i].origin != HWTDI_FLOW_UNKNOWN)
			flows += p->flows[i].count;
	assert_int_equal(flows, told + far);
}

static void
counts_are_kept_whatever_they_are(void **state)
{
	struct model *m = *state;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct hwtdi_code_profile p;

		random_state = round * 7919 + 1;
		make_pieces(m);
		make_edges(m);
		make_flows(m, &p);
		assert_pieces(m, &p);
		assert_branches(m, &p);
		/* As many as is promised. */
		assert_true(p.n_flows <= 2 * m->n_edges + 3 * m->n_pieces);
		hwtdi_code_profile_fini(&p);
	}
}

/* Counts of all the bits that there are. */
static void
sums_stay_at_the_largest_number(void **state)
{
	struct model *m = *state;
	struct hwtdi_code_profile p;

	m->n_pieces = m->n_edges = 2;
	for (size_t i = 0; i < 2; i++) {
		m->pieces[i] = (struct hwtdi_code_piece){
			.code = { .start = 0x10 * i,
			    .last = 0x10 * i + 8,
			    .end = 0x10 * i + 0x10,
			    .count = UINT64_MAX,
			    .branch = HWTD_BRANCH_CONDITIONAL },
			.not_taken = UINT64_MAX
		};
		m->edges[i] = (struct hwtdi_code_edge){
			.branch = { .from = 0x18,
			    .to = 0,
			    .count = UINT64_MAX,
			    .branch = HWTD_BRANCH_CONDITIONAL }
		};
	}
	make_flows(m, &p);
	for (size_t i = 0; i < p.n_flows; i++)
		assert_true(p.flows[i].count > 0);
	hwtdi_code_profile_fini(&p);
	assert_true(hwtdi_sum(UINT64_MAX, 1) == UINT64_MAX);
	assert_true(hwtdi_sum(UINT64_MAX - 1, 1) == UINT64_MAX);
	assert_true(hwtdi_product(UINT64_MAX, 2) == UINT64_MAX);
	assert_true(hwtdi_product(UINT64_MAX, 0) == 0);
	assert_true(hwtdi_product(3, 4) == 12);
}

static int
set_up(void **state)
{
	struct model *m = calloc(1, sizeof(*m));

	*state = m;
	return (m == NULL ? -1 : hwtd_context_create(NULL, &m->ctx, NULL));
}

static int
tear_down(void **state)
{
	struct model *m = *state;

	hwtd_context_destroy(m->ctx);
	free(m);
	return (0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(counts_are_kept_whatever_they_are),
		TEST(sums_stay_at_the_largest_number),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
