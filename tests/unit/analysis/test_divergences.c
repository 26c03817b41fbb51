/*
 * Divergences of two runs of a program: a model that runs it knows what both
 * execute, and so where they differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/memory_trace.h"
#include "support/random_program.h"

/*
 * A program of nodes of 16 bytes.  Those that are not jumps have a conditional
 * branch of 6 bytes, and nop behind that.  Every fifth one leads to a detour of
 * three blocks, which ends behind the branch.
 */
#define NODES 40u
#define NODE_BYTES 16u
#define DETOURS (NODES * NODE_BYTES)
#define DETOUR_BYTES 16u
#define CODE_BYTES (DETOURS + NODES * DETOUR_BYTES)
#define COND_BYTES 6u
#define MOST_BLOCKS 40000u

struct block {
	uint32_t start, end;
};

enum node {
	COND,
	DETOUR,
	INDIRECT,
	DIRECT
};

static enum node
kind_of(uint32_t node)
{
	if (node == NODES - 1 || node % 7 == 3)
		return (INDIRECT);
	if (node % 7 == 5)
		return (DIRECT);
	return (node % 5 == 0 ? DETOUR : COND);
}

static uint32_t
target_of(uint32_t node)
{
	switch (kind_of(node)) {
	case DETOUR:
		return (DETOURS + node * DETOUR_BYTES);
	case DIRECT:
		return ((node + 3 < NODES ? node + 3 : NODES - 1) *
		    NODE_BYTES);
	default:
		return ((node * 7 + 3) % NODES * NODE_BYTES);
	}
}

static void
put_rel32(uint8_t *code, uint32_t at, uint32_t to)
{
	const uint32_t rel = to - (at + 4);

	for (unsigned int i = 0; i < 4; i++)
		code[at + i] = (uint8_t)(rel >> (8 * i));
}

static void
make_code(uint8_t code[CODE_BYTES])
{
	memset(code, 0x90, CODE_BYTES);
	for (uint32_t node = 0; node < NODES; node++) {
		const uint32_t at = node * NODE_BYTES;
		const uint32_t detour = DETOURS + node * DETOUR_BYTES;

		switch (kind_of(node)) {
		case INDIRECT: /* jmp *%rax */
			code[at] = 0xff;
			code[at + 1] = 0xe0;
			break;
		case DIRECT: /* jmp */
			code[at] = 0xe9;
			put_rel32(code, at + 1, target_of(node));
			break;
		default: /* jnz */
			code[at] = 0x0f;
			code[at + 1] = 0x85;
			put_rel32(code, at + 2, target_of(node));
			break;
		}
		/* jnz .+2; jnz .+2; jmp to behind the branch */
		code[detour] = code[detour + 2] = 0x75;
		code[detour + 1] = code[detour + 3] = 0;
		code[detour + 4] = 0xe9;
		put_rel32(code, detour + 5, at + COND_BYTES);
	}
}

/* What a run does. */
struct plan {
	uint64_t seed;
	/* Branches, with those of detours not counted. */
	uint32_t steps;
	/* The branch that goes elsewhere; UINT32_MAX: none. */
	uint32_t flip;
	/* One of so many branches to a detour takes it; 0: none does. */
	uint32_t detour_of;
	/* Of branches [gap, gap_end) packets are lost. */
	uint32_t gap, gap_end;
	uint64_t base;
};

struct run {
	struct block blocks[MOST_BLOCKS];
	size_t n;
	/* Blocks that lie in the gap, [lost, lost_end). */
	size_t lost, lost_end;
	struct pt_packets packets;
	/* Outcomes that wait for a packet. */
	char tnt[7];
	size_t n_tnt;
	bool dark;
};

static void
flush(struct run *r)
{
	if (r->n_tnt != 0)
		pt_tnt(&r->packets, r->tnt);
	r->n_tnt = 0;
}

static void
outcome(struct run *r, bool taken)
{
	if (r->dark)
		return;
	r->tnt[r->n_tnt++] = taken ? 'T' : 'N';
	r->tnt[r->n_tnt] = '\0';
	if (r->n_tnt == 6)
		flush(r);
}

static void
executed(struct run *r, uint32_t start, uint32_t end)
{
	assert_true(r->n < MOST_BLOCKS);
	r->blocks[r->n++] = (struct block){ start, end };
}

static uint64_t
choice_of(const struct plan *plan, uint32_t step)
{
	uint64_t random = plan->seed * 1000003 + step;

	(void)random_below(&random, 2);
	return (random_below(&random, UINT32_C(1) << 30));
}

static void
begin(struct run *r, uint64_t ip)
{
	pt_psb(&r->packets);
	pt_tsc(&r->packets, 1000);
	pt_fup(&r->packets, PT_IP_48, ip);
	pt_mode_exec(&r->packets, 64);
	pt_psbend(&r->packets);
}

/* The begin of the gap and its end, where the run is at `ip`. */
static void
set_dark(struct run *r, const struct plan *plan, uint32_t step, uint32_t ip)
{
	if (plan->gap == plan->gap_end)
		return;
	if (step == plan->gap) {
		flush(r);
		r->dark = true;
		r->lost = r->n;
	}
	if (step == plan->gap_end) {
		r->dark = false;
		r->lost_end = r->n;
		pt_ovf(&r->packets);
		pt_fup(&r->packets, PT_IP_48, plan->base + ip);
	}
}

static void
make_run(struct run *r, const struct plan *plan)
{
	uint32_t ip = 0, quiet = 0;

	memset(r, 0, sizeof(*r));
	begin(r, plan->base);
	for (uint32_t step = 0; step < plan->steps; step++) {
		const uint64_t choice = choice_of(plan, step);
		const bool flip = step == plan->flip;
		const uint32_t node = (ip + NODE_BYTES - 1) / NODE_BYTES;
		const uint32_t at = node * NODE_BYTES;
		bool taken = (choice & 1) != 0;

		set_dark(r, plan, step, ip);
		switch (kind_of(node)) {
		case INDIRECT:
			executed(r, ip, at + 2);
			ip = (uint32_t)((choice + flip) % NODES) * NODE_BYTES;
			if (r->dark)
				break;
			flush(r);
			pt_tip(&r->packets, PT_IP_48, plan->base + ip);
			break;
		case DIRECT:
			executed(r, ip, at + 5);
			ip = target_of(node);
			break;
		case DETOUR:
			executed(r, ip, at + COND_BYTES);
			taken = flip ||
			    (plan->detour_of != 0 && step >= quiet &&
				choice / 2 % plan->detour_of == 0);
			/* The next one is not too near. */
			if (taken)
				quiet = step + 8;
			outcome(r, taken);
			ip = at + COND_BYTES;
			if (!taken)
				break;
			executed(r, target_of(node), target_of(node) + 2);
			outcome(r, false);
			executed(r, target_of(node) + 2, target_of(node) + 4);
			outcome(r, false);
			executed(r, target_of(node) + 4, target_of(node) + 9);
			break;
		default:
			executed(r, ip, at + COND_BYTES);
			taken = taken != flip;
			outcome(r, taken);
			ip = taken ? target_of(node) : at + COND_BYTES;
			break;
		}
	}
	flush(r);
	pt_leave_at(&r->packets, plan->base + ip);
}

static struct hwtd_trace *
make_trace_in(struct hwtd_context *ctx, const struct run *r, uint64_t base,
    const char *name, const uint8_t code[CODE_BYTES])
{
	const struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = name,
		.bytes = code,
		.n_bytes = CODE_BYTES,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = base };
	struct hwtd_trace *trace = ctx != NULL ? mt_create_in(ctx)
					       : mt_create();

	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	(void)mt_stream(trace, &r->packets, &desc);
	return (mt_seal(trace));
}

static struct hwtd_trace *
make_trace(const struct run *r, const struct plan *plan)
{
	uint8_t code[CODE_BYTES];

	make_code(code);
	return (make_trace_in(NULL, r, plan->base, "prog", code));
}

/* All rows of a comparison, and its one pair. */

#define MOST_ROWS 1000u

struct found {
	struct hwtd_divergence rows[MOST_ROWS];
	/* The last common block, and the next ones, which are borrowed. */
	struct hwtd_flow_block common[MOST_ROWS][2], next[MOST_ROWS][2];
	size_t n;
	struct hwtd_divergence_pair pair;
	struct hwtd_divergences_info info;
};

static void
read_all(struct hwtd_divergences *d, struct found *out)
{
	struct hwtd_error err = { .size = sizeof(err) };

	memset(out, 0, sizeof(*out));
	for (;;) {
		struct hwtd_divergence row = { .size = sizeof(row) };
		const int rc = hwtd_divergences_read(d, &row, &err);

		if (rc == HWTD_END)
			break;
		if (rc != HWTD_OK)
			print_message("%s\n", err.message);
		assert_int_equal(rc, HWTD_OK);
		if (row.kind == HWTD_DIVERGENCE_UNKNOWN)
			continue;
		assert_true(out->n < MOST_ROWS);
		assert_int_equal(row.stride, sizeof(struct hwtd_flow_block));
		for (unsigned int i = 0; i < 2; i++) {
			if (row.n_common != 0)
				out->common[out->n]
					   [i] = row.common[i]
							   [row.n_common - 1];
			if (row.n_next[i] != 0)
				out->next[out->n][i] = row.next[i][0];
		}
		out->rows[out->n++] = row;
	}
	out->pair.size = sizeof(out->pair);
	assert_int_equal(hwtd_divergences_pair(d, 0, &out->pair), HWTD_OK);
	out->info.size = sizeof(out->info);
	assert_int_equal(hwtd_divergences_info(d, &out->info), HWTD_OK);
	assert_int_equal(out->info.n_pairs, 1);
	assert_true(out->info.bytes <= out->info.all_bytes);
}

static void
compare(struct hwtd_trace *a, struct hwtd_trace *b,
    const struct hwtd_divergences_options *opts, struct found *out)
{
	struct hwtd_divergences *d;

	assert_int_equal(hwtd_divergences_open(a, b, opts, &d, NULL), HWTD_OK);
	hwtd_trace_close(a);
	hwtd_trace_close(b);
	read_all(d, out);
	hwtd_divergences_close(d);
}

static void
compare_runs(const struct run *a, const struct plan *plan_a,
    const struct run *b, const struct plan *plan_b,
    const struct hwtd_divergences_options *opts, struct found *out)
{
	compare(make_trace(a, plan_a), make_trace(b, plan_b), opts, out);
}

static bool
same_block(const struct block *a, const struct block *b)
{
	return (a->start == b->start && a->end == b->end);
}

static void
assert_block(const struct hwtd_flow_block *got, const struct block *want,
    uint64_t base)
{
	assert_int_equal(got->file_off, want->start);
	assert_int_equal(got->address, base + want->start);
	assert_int_equal(got->address + got->bytes, base + want->end);
	assert_int_equal(got->image, 0);
}

static struct run runs[2];
static struct found found;

static void
free_runs(void)
{
	pt_free(&runs[0].packets);
	pt_free(&runs[1].packets);
}

static void
one_run_differs_from_itself_nowhere(void **state)
{
	const struct plan plan = { .seed = 1,
		.steps = 20000,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	const struct plan moved = { .seed = 1,
		.steps = 20000,
		.flip = UINT32_MAX,
		.base = 0x7f0000001000 };

	(void)state;
	make_run(&runs[0], &plan);
	make_run(&runs[1], &moved);
	compare_runs(&runs[0], &plan, &runs[1], &moved, NULL, &found);
	assert_int_equal(found.n, 0);
	assert_int_equal(found.pair.same, runs[0].n);
	assert_int_equal(found.pair.insns[0], found.pair.insns[1]);
	assert_int_equal(found.pair.same_insns, found.pair.insns[0]);
	assert_int_equal(found.pair.flags,
	    HWTD_DIVERGENCE_PAIRF_A | HWTD_DIVERGENCE_PAIRF_B |
		HWTD_DIVERGENCE_PAIRF_DONE);
	assert_int_equal(found.pair.stream[0], 0);
	assert_int_equal(found.pair.tid[1], HWTD_NO_ID);
	assert_int_equal(found.info.n_done, 1);
	free_runs();
}

/* Runs that are the same up to a branch; `gapped`: with a gap before it. */
static void
check_flip(uint64_t seed, bool gapped)
{
	struct plan a = { .seed = seed,
		.steps = 900,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct plan b = a;
	uint64_t random = seed;
	size_t first = 0;

	b.base = seed % 2 == 0 ? 0x1000 : 0x55550000;
	b.flip = 400 + random_below(&random, 200);
	/* A direct jump has no other way. */
	make_run(&runs[0], &a);
	make_run(&runs[1], &b);
	while (first < runs[0].n && first < runs[1].n &&
	    same_block(&runs[0].blocks[first], &runs[1].blocks[first]))
		first++;
	if (first == runs[0].n || first == runs[1].n) {
		free_runs();
		return;
	}
	if (gapped) {
		struct plan *lossy = seed % 3 == 0 ? &a : &b;

		free_runs();
		lossy->gap = 100 + random_below(&random, 100);
		lossy->gap_end = lossy->gap + 1 + random_below(&random, 60);
		make_run(&runs[0], &a);
		make_run(&runs[1], &b);
	}
	compare_runs(&runs[0], &a, &runs[1], &b, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].kind, HWTD_DIVERGENCE_FLOW);
	assert_int_equal(found.rows[0].flags & HWTD_DIVERGENCEF_BEHIND_GAP,
	    gapped ? HWTD_DIVERGENCEF_BEHIND_GAP : 0);
	assert_block(&found.common[0][0], &runs[0].blocks[first - 1], a.base);
	assert_block(&found.common[0][1], &runs[1].blocks[first - 1], b.base);
	assert_block(&found.next[0][0], &runs[0].blocks[first], a.base);
	assert_block(&found.next[0][1], &runs[1].blocks[first], b.base);
	if (!gapped)
		assert_int_equal(found.rows[0].same, first);
	assert_int_equal(found.pair.divergences, 1);
	assert_true((found.pair.flags & HWTD_DIVERGENCE_PAIRF_MORE) != 0);
	free_runs();
}

static void
one_branch_that_goes_elsewhere_is_found(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++)
		check_flip(seed, false);
}

static void
it_is_found_behind_a_gap_too(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++)
		check_flip(seed, true);
}

/* What was executed in a gap of one is passed over in the other. */
static void
gaps_are_no_difference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct plan plans[2];
		uint64_t random = seed;
		const unsigned int lossy = random_below(&random, 2);

		plans[0] = (struct plan){ .seed = seed,
			.steps = 3000,
			.flip = UINT32_MAX,
			.base = 0x1000 };
		plans[1] = plans[0];
		plans[lossy].gap = 10 + random_below(&random, 1000);
		plans[lossy].gap_end = plans[lossy].gap + 1 +
		    random_below(&random, 1500);
		make_run(&runs[0], &plans[0]);
		make_run(&runs[1], &plans[1]);
		compare_runs(&runs[0], &plans[0], &runs[1], &plans[1], NULL,
		    &found);
		assert_int_equal(found.n, 0);
		assert_int_equal(found.pair.gaps[lossy], 1);
		assert_int_equal(found.pair.gaps[1 - lossy], 0);
		assert_int_equal(found.pair.passed[lossy], 0);
		/* That in which it begins may be told, or not. */
		assert_in_range(runs[lossy].lost_end - runs[lossy].lost -
			found.pair.passed[1 - lossy] + 1,
		    0, 2);
		assert_int_equal(found.pair.same +
			found.pair.passed[1 - lossy],
		    runs[0].n);
		free_runs();
	}
}

/* Both have gaps, at different places or at the same. */
static void
gaps_of_both_are_no_difference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct plan plans[2];
		uint64_t random = seed;

		for (unsigned int i = 0; i < 2; i++) {
			plans[i] = (struct plan){ .seed = seed,
				.steps = 3000,
				.flip = UINT32_MAX,
				.base = 0x1000 };
			plans[i].gap = 10 + random_below(&random, 1000);
			plans[i].gap_end = plans[i].gap + 1 +
			    random_below(&random, 1500);
			make_run(&runs[i], &plans[i]);
		}
		compare_runs(&runs[0], &plans[0], &runs[1], &plans[1], NULL,
		    &found);
		assert_int_equal(found.n, 0);
		assert_true(found.pair.same > 0);
		free_runs();
	}
}

/* Detours of B: each is a row, and behind it all is the same again. */
static void
all_differences_are_found_if_asked_for(void **state)
{
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.max_rows = MOST_ROWS };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct plan a = { .seed = seed,
			.steps = 5000,
			.flip = UINT32_MAX,
			.base = 0x1000 };
		struct plan b = a;
		size_t i = 0, j = 0, n = 0;

		b.detour_of = 7;
		make_run(&runs[0], &a);
		make_run(&runs[1], &b);
		compare_runs(&runs[0], &a, &runs[1], &b, &opts, &found);
		while (i < runs[0].n) {
			if (same_block(&runs[0].blocks[i],
				&runs[1].blocks[j])) {
				i++;
				j++;
				continue;
			}
			assert_true(n < found.n);
			assert_int_equal(found.rows[n].kind,
			    HWTD_DIVERGENCE_FLOW);
			assert_block(&found.common[n][0],
			    &runs[0].blocks[i - 1], a.base);
			assert_block(&found.next[n][0], &runs[0].blocks[i],
			    a.base);
			assert_block(&found.next[n][1], &runs[1].blocks[j],
			    b.base);
			n++;
			j += 3;
		}
		assert_true(n > 20);
		assert_int_equal(found.n, n);
		assert_int_equal(found.pair.other[0], 0);
		assert_int_equal(found.pair.other[1], 3 * n);
		assert_int_equal(found.pair.same, runs[0].n);
		free_runs();
	}
}

/* B goes on behind where A ends. */
static void
one_that_ends_before_the_other_is_told(void **state)
{
	const struct plan a = { .seed = 5,
		.steps = 500,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct plan b = a;
	size_t n;

	(void)state;
	b.steps = 700;
	make_run(&runs[0], &a);
	make_run(&runs[1], &b);
	n = runs[0].n;
	compare_runs(&runs[0], &a, &runs[1], &b, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].kind, HWTD_DIVERGENCE_END);
	assert_int_equal(found.rows[0].ended, HWTD_SIDE_A);
	assert_int_equal(found.rows[0].n_next[0], 0);
	assert_true(found.rows[0].n_next[1] > 0);
	assert_true(found.rows[0].same >= n);
	assert_int_equal(found.pair.divergences, 0);
	compare_runs(&runs[1], &b, &runs[0], &a, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].ended, HWTD_SIDE_B);
	free_runs();
}

/* The bytes of the program were changed, and nobody says that it is another. */
static void
code_that_is_not_the_same_is_said(void **state)
{
	const struct plan a = { .seed = 3,
		.steps = 300,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct plan b = a;
	uint8_t code[2][CODE_BYTES];

	(void)state;
	b.flip = 100;
	make_run(&runs[0], &a);
	make_run(&runs[1], &b);
	make_code(code[0]);
	make_code(code[1]);
	/* The nop in the middle of node 0, and so on. */
	for (uint32_t node = 0; node < NODES; node++)
		code[1][node * NODE_BYTES + 12] = 0xf8; /* clc */
	compare(make_trace_in(NULL, &runs[0], a.base, "/a/prog", code[0]),
	    make_trace_in(NULL, &runs[1], b.base, "/b/prog", code[1]), NULL,
	    &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].flags & HWTD_DIVERGENCEF_CODE_DIFFERS,
	    found.common[0][0].bytes > 4 ? HWTD_DIVERGENCEF_CODE_DIFFERS : 0);
	free_runs();
}

/* Images of other names have nothing in common. */
static void
other_images_are_a_difference_at_the_start(void **state)
{
	const struct plan a = { .seed = 3,
		.steps = 300,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct hwtd_divergence_image image = { .size = sizeof(image) };
	struct hwtd_trace *traces[2];
	struct hwtd_divergences *d;
	uint8_t code[CODE_BYTES];

	(void)state;
	make_run(&runs[0], &a);
	make_run(&runs[1], &a);
	make_code(code);
	traces[0] = make_trace_in(NULL, &runs[0], a.base, "prog", code);
	traces[1] = make_trace_in(NULL, &runs[1], a.base, "other", code);
	assert_int_equal(hwtd_divergences_open(traces[0], traces[1], NULL, &d,
			     NULL),
	    HWTD_OK);
	hwtd_trace_close(traces[0]);
	hwtd_trace_close(traces[1]);
	read_all(d, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.rows[0].kind, HWTD_DIVERGENCE_FLOW);
	assert_true((found.rows[0].flags & HWTD_DIVERGENCEF_AT_START) != 0);
	assert_int_equal(found.rows[0].n_common, 0);
	assert_int_equal(hwtd_divergences_image(d, 0, &image), HWTD_OK);
	assert_int_equal(image.state, HWTD_DIVERGENCE_IMAGE_ONLY_A);
	assert_string_equal(image.path[0], "prog");
	assert_int_equal(image.image[1], HWTD_NO_ID);
	assert_int_equal(hwtd_divergences_image(d, 1, &image), HWTD_OK);
	assert_int_equal(image.state, HWTD_DIVERGENCE_IMAGE_ONLY_B);
	assert_int_equal(hwtd_divergences_image(d, 2, &image), HWTD_END);
	hwtd_divergences_close(d);
	free_runs();
}

static void
results_do_not_depend_on_jobs(void **state)
{
	const struct hwtd_events_options four = { .size = sizeof(four),
		.jobs = 4 };
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.max_rows = MOST_ROWS,
		.window = 64,
		.events = { &four, &four } };
	const struct hwtd_divergences_options plain = { .size = sizeof(plain),
		.max_rows = MOST_ROWS,
		.window = 64 };
	static struct found one;
	const struct plan a = { .seed = 9,
		.steps = 15000,
		.flip = UINT32_MAX,
		.detour_of = 40,
		.base = 0x1000 };
	struct plan b = a;

	(void)state;
	b.detour_of = 50;
	make_run(&runs[0], &a);
	make_run(&runs[1], &b);
	compare_runs(&runs[0], &a, &runs[1], &b, &plain, &one);
	compare_runs(&runs[0], &a, &runs[1], &b, &opts, &found);
	assert_true(one.n > 10);
	assert_int_equal(one.n, found.n);
	assert_memory_equal(one.common, found.common, sizeof(one.common));
	assert_memory_equal(one.next, found.next, sizeof(one.next));
	free_runs();
}

static void
what_makes_no_sense_is_refused(void **state)
{
	const struct plan a = { .seed = 3,
		.steps = 30,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.flags = 2 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_divergence row = { .size = sizeof(row) };
	struct hwtd_divergences *d = NULL;
	struct hwtd_trace *trace, *open = mt_create();
	int rc;

	(void)state;
	make_run(&runs[0], &a);
	trace = make_trace(&runs[0], &a);
	pt_free(&runs[0].packets);
	assert_int_equal(hwtd_divergences_open(trace, NULL, NULL, &d, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_divergences_open(trace, open, NULL, &d, &err),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_E_INVALID);
	opts.flags = 0;
	opts.window = 63;
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_E_INVALID);
	opts.window = 0;
	opts.n_blocks = 2000;
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_E_INVALID);
	assert_null(d);
	opts.n_blocks = 0;
	opts.tid_plus_1[1] = 8;
	assert_int_equal(hwtd_divergences_open(trace, trace, &opts, &d, &err),
	    HWTD_OK);
	do {
		rc = hwtd_divergences_read(d, &row, &err);
	} while (rc == HWTD_OK);
	assert_int_equal(rc, HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_divergences_read(d, &row, &err), HWTD_E_STATE);
	hwtd_divergences_close(d);
	hwtd_divergences_close(NULL);
	hwtd_trace_close(trace);
	hwtd_trace_close(open);
	assert_string_equal(hwtd_divergence_kind_name(HWTD_DIVERGENCE_LOST),
	    "lost");
	assert_string_equal(hwtd_divergence_kind_name(HWTD_DIVERGENCE_KINDS),
	    "unknown");
	assert_string_equal(
	    hwtd_divergence_image_state_name(HWTD_DIVERGENCE_IMAGE_ONLY_B),
	    "only-b");
	assert_string_equal(
	    hwtd_divergence_image_state_name(HWTD_DIVERGENCE_IMAGE_STATES),
	    "unknown");
}

static int
try_all(struct hwtd_trace *a, struct hwtd_trace *b)
{
	const struct hwtd_divergences_options opts = { .size = sizeof(opts),
		.max_rows = 5,
		.window = 64 };
	struct hwtd_divergence row = { .size = sizeof(row) };
	struct hwtd_divergences *d = NULL;
	int rc = hwtd_divergences_open(a, b, &opts, &d, NULL);

	while (rc == HWTD_OK)
		rc = hwtd_divergences_read(d, &row, NULL);
	hwtd_divergences_close(d);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static void
no_memory_is_an_error_and_no_leak(void **state)
{
	const struct plan a = { .seed = 2,
		.steps = 400,
		.flip = UINT32_MAX,
		.base = 0x1000 };
	struct plan b = a;
	struct failing_allocator fails;
	uint8_t code[CODE_BYTES];
	uint64_t n = 0;
	int rc;

	(void)state;
	b.detour_of = 9;
	b.gap = 50;
	b.gap_end = 90;
	make_run(&runs[0], &a);
	make_run(&runs[1], &b);
	make_code(code);
	failing_allocator_init(&fails);
	do {
		const struct hwtd_context_options opts = {
			.size = sizeof(opts),
			.allocator = &fails.allocator
		};
		struct hwtd_trace *traces[2];
		struct hwtd_context *ctx;

		failing_allocator_arm(&fails, 0, false);
		assert_int_equal(hwtd_context_create(&opts, &ctx, NULL),
		    HWTD_OK);
		traces[0] = make_trace_in(ctx, &runs[0], a.base, "prog", code);
		traces[1] = make_trace_in(ctx, &runs[1], b.base, "prog", code);
		failing_allocator_arm(&fails, ++n, false);
		rc = try_all(traces[0], traces[1]);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		failing_allocator_arm(&fails, 0, false);
		hwtd_trace_close(traces[0]);
		hwtd_trace_close(traces[1]);
		hwtd_context_destroy(ctx);
		assert_int_equal(fails.blocks, 0);
	} while (rc != HWTD_OK);
	assert_true(n > 30);
	free_runs();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_differs_from_itself_nowhere),
		cmocka_unit_test(one_branch_that_goes_elsewhere_is_found),
		cmocka_unit_test(it_is_found_behind_a_gap_too),
		cmocka_unit_test(gaps_are_no_difference),
		cmocka_unit_test(gaps_of_both_are_no_difference),
		cmocka_unit_test(all_differences_are_found_if_asked_for),
		cmocka_unit_test(one_that_ends_before_the_other_is_told),
		cmocka_unit_test(code_that_is_not_the_same_is_said),
		cmocka_unit_test(other_images_are_a_difference_at_the_start),
		cmocka_unit_test(results_do_not_depend_on_jobs),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(no_memory_is_an_error_and_no_leak),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
