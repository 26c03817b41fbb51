/*
 * What a coverage keeps and says, put together by hand and at random: parts
 * merged in any order are the whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/coverage/coverage_internal.h"
#include "support/coverage_text.h"
#include "support/failing_allocator.h"
#include "support/mapped_trace.h"

/* Counts by byte. */

#define PLACES 400

static struct hwtd_coverage *
create(struct hwtd_context *ctx)
{
	struct hwtd_coverage *c;

	assert_int_equal(hwtd_coverage_create(ctx, NULL, &c, NULL), HWTD_OK);
	return (c);
}

static uint32_t
image(struct hwtd_coverage *c, const char *name)
{
	uint32_t no;

	assert_int_equal(hwtdi_cov_image_add(&c->store, name, NULL, 0, &no,
			     NULL),
	    HWTD_OK);
	return (no);
}

static uint32_t
text(struct hwtd_coverage *c, const char *value)
{
	uint32_t no;

	assert_int_equal(hwtdi_text_pool_add(&c->store.texts, c->library,
			     value, &no, NULL),
	    HWTD_OK);
	return (no);
}

static void
add(struct hwtd_coverage *c, uint32_t no, enum hwtdi_cov_kind kind,
    const void *entry)
{
	assert_int_equal(hwtdi_cov_add(&c->store, no, kind, entry, NULL),
	    HWTD_OK);
}

static uint32_t
func(struct hwtd_coverage *c, const char *name, const char *file,
    uint32_t line)
{
	const struct hwtdi_cov_func f = { .name = text(c, name),
		.file = text(c, file),
		.line = line,
		.image = HWTD_NO_ID };
	uint32_t no;

	assert_int_equal(hwtdi_cov_func_add(&c->store, &f, false, &no, NULL),
	    HWTD_OK);
	return (no);
}

static void
counts_are_added_byte_by_byte(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		uint64_t model[PLACES] = { 0 };
		const struct hwtdi_cov_count *counts;
		struct hwtd_context *ctx;
		struct hwtd_coverage *c;
		size_t n;

		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		c = create(ctx);
		(void)image(c, "a");
		for (int i = rand() % 40; i >= 0; i--) {
			struct hwtdi_cov_count count = {
				.off = (uint64_t)(rand() % (PLACES - 50)),
				.count = (uint64_t)(rand() % 3)
			};

			count.end = count.off + 1 + (uint64_t)(rand() % 49);
			for (uint64_t k = count.off; k < count.end; k++)
				model[k] += count.count;
			add(c, 0, HWTDI_COV_COUNTS, &count);
			if (rand() % 8 == 0)
				assert_int_equal(hwtdi_cov_tidy(&c->store, 0,
						     HWTDI_COV_COUNTS, NULL),
				    HWTD_OK);
		}
		assert_int_equal(hwtdi_cov_tidy(&c->store, 0, HWTDI_COV_COUNTS,
				     NULL),
		    HWTD_OK);
		counts = hwtdi_cov_list(&c->store, 0, HWTDI_COV_COUNTS, &n);
		for (uint64_t k = 0; k < PLACES; k++) {
			bool ran = false;

			assert_int_equal(hwtdi_cov_count_at(counts, n, k),
			    model[k]);
			for (uint64_t e = k; e < k + 5 && e < PLACES; e++)
				ran |= model[e] != 0;
			assert_int_equal(hwtdi_cov_ran(counts, n, k, k + 5),
			    ran);
		}
		for (size_t i = 1; i < n; i++)
			assert_true(counts[i - 1].end < counts[i].off ||
			    counts[i - 1].count != counts[i].count);
		hwtd_coverage_close(c);
		hwtd_context_destroy(ctx);
	}
}

/* A piece of a line in a body. */
static void
piece(struct hwtd_coverage *c, uint64_t off, uint64_t end, uint32_t file,
    uint32_t line, uint32_t function, uint64_t body, uint32_t flags)
{
	const struct hwtdi_cov_piece p = { .off = off,
		.end = end,
		.body_off = body,
		.file = file,
		.line = line,
		.func = function,
		.flags = flags };
	const struct hwtdi_cov_line l = { file, line };

	add(c, 0, HWTDI_COV_PIECES, &p);
	add(c, 0, HWTDI_COV_LINES, &l);
}

static void
ran(struct hwtd_coverage *c, uint64_t off, uint64_t end, uint64_t count)
{
	const struct hwtdi_cov_count counted = { off, end, count };

	add(c, 0, HWTDI_COV_COUNTS, &counted);
}

static uint64_t
count_of(struct hwtd_coverage *c, uint64_t no)
{
	struct hwtd_coverage_line l;
	size_t n;

	assert_int_equal(hwtd_coverage_lines(c, no, &l, sizeof(l), 1, &n,
			     NULL),
	    HWTD_OK);
	return (l.count);
}

/* Of pieces in one body the largest counts, bodies are added. */
static void
a_line_is_the_sum_of_its_bodies_and_of_each_the_greatest(void **state)
{
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	uint32_t f, a, b;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	c = create(ctx);
	(void)image(c, "a");
	f = text(c, "f.c");
	a = func(c, "a", "f.c", 1);
	b = func(c, "b", "f.c", 9);
	ran(c, 10, 20, 1);
	ran(c, 20, 30, 11);
	ran(c, 30, 40, 10);
	ran(c, 50, 60, 5);
	ran(c, 60, 70, 7);
	ran(c, 70, 80, 100);
	/* A loop: its begin, its condition, its step. */
	piece(c, 10, 14, f, 2, a, 10, 0);
	piece(c, 20, 30, f, 2, a, 10, 0);
	piece(c, 36, 40, f, 2, a, 10, 0);
	/* The same, inlined at two places, of which one has two pieces. */
	piece(c, 50, 55, f, 2, a, 50, HWTDI_COV_INLINED);
	piece(c, 60, 62, f, 2, a, 60, HWTDI_COV_INLINED);
	piece(c, 55, 58, f, 2, a, 60, HWTDI_COV_INLINED);
	/* Over several blocks; and moved ahead of its condition. */
	piece(c, 10, 40, f, 3, b, 10, 0);
	piece(c, 70, 80, f, 3, b, 10, HWTDI_COV_SHADOW);
	assert_int_equal(count_of(c, 0), 11 + 5 + 7);
	assert_int_equal(count_of(c, 1), 11);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

static void
branches_and_edges_are_counted(void **state)
{
	const struct hwtdi_cov_site sites[] = {
		{ .off = 10,
		    .to = 4,
		    .branch = HWTD_BRANCH_CONDITIONAL,
		    .length = 2,
		    .is_direct = true },
		{ .off = 20,
		    .to = 40,
		    .branch = HWTD_BRANCH_CONDITIONAL,
		    .length = 6,
		    .is_direct = true },
		{ .off = 30,
		    .to = 60,
		    .branch = HWTD_BRANCH_CALL,
		    .length = 5,
		    .is_direct = true },
		{ .off = 36, .branch = HWTD_BRANCH_RETURN, .length = 1 },
		/* To the next instruction: nobody knows which way it went. */
		{ .off = 50,
		    .to = 52,
		    .branch = HWTD_BRANCH_CONDITIONAL,
		    .length = 2,
		    .is_direct = true },
	};
	const struct hwtdi_cov_edge edges[] = {
		{ .from = 10, .to = 4, .count = 9, .branch = 1 },
		{ .from = 10, .to = 12, .count = 1, .branch = 1 },
		{ .from = 36,
		    .to = 0x1234,
		    .count = 3,
		    .to_image = HWTD_NO_ID,
		    .branch = HWTD_BRANCH_RETURN },
		{ .from = 50, .to = 52, .count = 2, .branch = 1 },
	};
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	struct hwtd_coverage_branch branch[4];
	struct hwtd_coverage_edge edge[9];
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	size_t n;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	c = create(ctx);
	(void)image(c, "a");
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		add(c, 0, HWTDI_COV_SITES, &sites[i]);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		add(c, 0, HWTDI_COV_EDGES, &edges[i]);
	assert_int_equal(hwtd_coverage_branches(c, 0, branch,
			     sizeof(branch[0]), 4, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, 3);
	assert_int_equal(branch[0].taken, 9);
	assert_int_equal(branch[0].not_taken, 1);
	assert_int_equal(branch[0].flags, HWTD_COVERAGE_BRANCH_REACHED);
	assert_int_equal(branch[1].flags, 0);
	assert_int_equal(branch[2].not_taken, 2);
	assert_int_equal(hwtd_coverage_edges(c, 0, edge, sizeof(edge[0]), 9,
			     &n, NULL),
	    HWTD_OK);
	/* Two of each conditional branch but the last, the call, the return. */
	assert_int_equal(n, 7);
	assert_int_equal(edge[2].from, 20);
	assert_int_equal(edge[2].to, 26);
	assert_int_equal(edge[3].to, 40);
	assert_int_equal(edge[3].flags, HWTD_COVERAGE_EDGE_KNOWN);
	assert_int_equal(edge[5].to_image, HWTD_NO_ID);
	assert_int_equal(edge[5].flags, 0);
	assert_int_equal(hwtd_coverage_info(c, &info, NULL), HWTD_OK);
	assert_int_equal(info.n_edges, 7);
	assert_int_equal(info.edges.total, 7);
	assert_int_equal(info.edges.hit, 3);
	assert_int_equal(info.bare_branches.total, 6);
	assert_int_equal(info.bare_branches.hit, 3);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

/* A function that was entered in the middle is hit. */
static void
functions_are_hit_if_any_of_them_ran(void **state)
{
	const struct hwtdi_cov_body bodies[] = {
		{ .off = 10, .func = 0, .flags = HWTDI_COV_HIT },
		/* Its loop goes back to its first instruction. */
		{ .off = 50, .func = 1, .again = 7, .flags = HWTDI_COV_HIT },
		{ .off = 90, .func = 2 },
		{ .off = HWTDI_COV_NOWHERE,
		    .func = 3,
		    .flags = HWTDI_COV_INLINED },
	};
	const struct hwtdi_cov_line line = { 1, 1 };
	struct hwtd_coverage_function f[5];
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	size_t n;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	c = create(ctx);
	(void)image(c, "a");
	for (uint32_t i = 0; i < 4; i++)
		(void)func(c, (const char *[]){ "a", "b", "c", "d" }[i], "f.c",
		    i + 1);
	for (size_t i = 0; i < 4; i++)
		add(c, 0, HWTDI_COV_BODIES, &bodies[i]);
	add(c, 0, HWTDI_COV_LINES, &line);
	ran(c, 20, 30, 3);
	ran(c, 50, 54, 10);
	assert_int_equal(hwtd_coverage_functions(c, 0, f, sizeof(f[0]), 5, &n,
			     NULL),
	    HWTD_OK);
	assert_int_equal(n, 4);
	assert_int_equal(f[0].count, 0);
	assert_int_equal(f[0].flags,
	    HWTD_COVERAGE_FUNCTION_HIT | HWTD_COVERAGE_FUNCTION_OFF);
	assert_int_equal(f[1].count, 3);
	assert_int_equal(f[2].flags, HWTD_COVERAGE_FUNCTION_OFF);
	assert_int_equal(f[2].file_off, 90);
	assert_int_equal(f[3].flags, HWTD_COVERAGE_FUNCTION_INLINED);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

/* Anything, over few names and places, so that much of it is the same. */
static void
add_anything(struct hwtd_coverage *c)
{
	static const char *const names[] = { "a", "b", "a,b", "a\nb",
		"\xff\xfe", "_ZN3foo3barEv", "c d", "" };
	const uint8_t id[2] = { 7, (uint8_t)(rand() % 2) };
	const uint64_t off = (uint64_t)(rand() % 60), end = off + 1 + off % 7;
	const uint32_t file = text(c, names[rand() % 8]);
	const uint32_t line = (uint32_t)(rand() % 5) + 1;
	struct hwtdi_cov_func f = { .name = text(c, names[rand() % 8]),
		.linkage = text(c, names[rand() % 8]),
		.file = file,
		.line = line,
		.image = HWTD_NO_ID };
	uint32_t to, im, fn;

	assert_int_equal(hwtdi_cov_image_add(&c->store, names[rand() % 3], id,
			     rand() % 2 != 0 ? 2 : 0, &to, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_cov_image_add(&c->store, names[rand() % 3],
			     NULL, 0, &im, NULL),
	    HWTD_OK);
	if (rand() % 20 == 0)
		assert_int_equal(hwtdi_cov_image_fault(&c->store, im,
				     names[rand() % 8], NULL),
		    HWTD_OK);
	if (file == 0)
		f.image = im;
	assert_int_equal(hwtdi_cov_func_add(&c->store, &f, false, &fn, NULL),
	    HWTD_OK);
	const struct hwtdi_cov_count count = { off, end,
		(uint64_t)(rand() % 4) };
	const struct hwtdi_cov_edge edge = { off, end, 1 + off % 3,
		rand() % 5 != 0 ? to : HWTD_NO_ID, 1 + line };
	const struct hwtdi_cov_site site = { .off = off,
		.to = end,
		.file = file,
		.line = file != 0 ? line : 0,
		.branch = (uint8_t)line,
		.length = 3,
		.is_direct = off % 3 == 0 };
	const struct hwtdi_cov_line l = { file, line };
	const struct hwtdi_cov_piece p = { off, end, off % 5, file, line, fn,
		off % 4 == 0 ? HWTDI_COV_SHADOW : 0 };
	const struct hwtdi_cov_body body = { off, off % 3, fn,
		(uint32_t)(rand() % 4) };

	add(c, im, HWTDI_COV_COUNTS, &count);
	add(c, im, HWTDI_COV_EDGES, &edge);
	add(c, im, HWTDI_COV_SITES, &site);
	if (file != 0) {
		add(c, im, HWTDI_COV_LINES, &l);
		add(c, im, HWTDI_COV_PIECES, &p);
	}
	add(c, im, HWTDI_COV_BODIES, &body);
	c->store.sums.bytes += off;
	c->store.sums.insns += end;
	c->store.sums.gap_bytes += off % 2;
	c->store.sums.gaps[off % HWTD_GAP_REASONS]++;
}

/* cmocka cuts long texts off: where they part is what matters. */
static void
assert_same(const char *a, const char *b, unsigned int seed)
{
	size_t n = 0;

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	if (a[n] != b[n])
		fail_msg("seed %u:\n%.300s\nbut\n%.300s", seed,
		    a + (n < 150 ? 0 : n - 150), b + (n < 150 ? 0 : n - 150));
}

static char *
told(struct hwtd_coverage *c)
{
	return (coverage_text(c));
}

/*
 * The same things go into the whole and into a random one of the parts; these
 * are merged in random order, each into a random other one.
 */
static void
parts_merged_in_any_order_are_the_whole(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 150; seed++) {
		struct hwtd_coverage *part[6], *whole;
		struct hwtd_context *ctx, *other;
		size_t n = 6;
		char *a, *b;

		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_context_create(NULL, &other, NULL),
		    HWTD_OK);
		whole = create(ctx);
		for (size_t i = 0; i < n; i++)
			part[i] = create(i % 2 == 0 ? ctx : other);
		for (unsigned int i = 0; i < seed % 90; i++) {
			srand(seed * 1000 + i);
			add_anything(whole);
			srand(seed * 1000 + i);
			add_anything(part[(seed + i * 7) % n]);
		}
		srand(seed);
		while (n > 1) {
			const size_t from = (size_t)rand() % n;
			const size_t into = (from + 1 +
						(size_t)rand() % (n - 1)) %
			    n;

			/* What was read before does not stay. */
			if (rand() % 3 == 0)
				free(told(part[into]));
			assert_int_equal(hwtd_coverage_merge(part[into],
					     part[from], NULL),
			    HWTD_OK);
			hwtd_coverage_close(part[from]);
			part[from] = part[--n];
		}
		a = told(whole);
		b = told(part[0]);
		assert_same(a, b, seed);
		free(a);
		free(b);
		hwtd_coverage_close(whole);
		hwtd_coverage_close(part[0]);
		hwtd_context_destroy(ctx);
		hwtd_context_destroy(other);
	}
}

static void
a_merge_without_memory_changes_nothing(void **state)
{
	struct failing_allocator memory;
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_coverage *into, *from;
	struct hwtd_context *ctx;
	char *before, *after, *want;
	int rc = HWTD_E_NOMEM;

	(void)state;
	failing_allocator_init(&memory);
	opts.allocator = &memory.allocator;
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	from = create(ctx);
	srand(3);
	for (int i = 0; i < 60; i++)
		add_anything(from);
	into = create(ctx);
	srand(4);
	for (int i = 0; i < 20; i++)
		add_anything(into);
	before = told(into);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		failing_allocator_arm(&memory, n, false);
		rc = hwtd_coverage_merge(into, from, NULL);
		failing_allocator_arm(&memory, 0, false);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		if (rc == HWTD_OK)
			break;
		after = told(into);
		assert_string_equal(before, after);
		free(after);
	}
	/* And it can be made again. */
	want = told(into);
	assert_string_not_equal(want, before);
	free(want);
	free(before);
	hwtd_coverage_close(into);
	hwtd_coverage_close(from);
	hwtd_context_destroy(ctx);
	assert_int_equal(memory.blocks, 0);
}

static void
tables_without_memory_can_be_asked_for_again(void **state)
{
	struct failing_allocator memory;
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_coverage_edge e;
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	char *want;
	size_t n;

	(void)state;
	failing_allocator_init(&memory);
	opts.allocator = &memory.allocator;
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	c = create(ctx);
	srand(5);
	for (int i = 0; i < 50; i++)
		add_anything(c);
	want = told(c);
	for (uint64_t at = 1;; at++) {
		int rc;

		hwtdi_cov_sums_fini(&c->sums);
		failing_allocator_arm(&memory, at, false);
		rc = hwtd_coverage_edges(c, 0, &e, sizeof(e), 1, &n, NULL);
		failing_allocator_arm(&memory, 0, false);
		if (rc == HWTD_OK)
			break;
		assert_int_equal(rc, HWTD_E_NOMEM);
		assert_int_equal(n, 0);
		char *again = told(c);

		assert_string_equal(again, want);
		free(again);
	}
	free(want);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
	assert_int_equal(memory.blocks, 0);
}

static void
images_are_one_by_build_id_else_by_path(void **state)
{
	const uint8_t id[] = { 1, 2, 3, 4 }, other[] = { 1, 2, 3, 5 };
	struct hwtd_coverage_image i[4];
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;
	uint32_t a, b;
	size_t n;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	c = create(ctx);
	assert_int_equal(hwtdi_cov_image_add(&c->store, "/b/x", id, 4, &a,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_cov_image_add(&c->store, "/a/x", id, 4, &b,
			     NULL),
	    HWTD_OK);
	assert_int_equal(a, b);
	assert_int_equal(hwtdi_cov_image_add(&c->store, "/a/x", other, 4, &b,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_cov_image_add(&c->store, "/a/x", NULL, 0, &b,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_coverage_images(c, 0, i, sizeof(i[0]), 4, &n,
			     NULL),
	    HWTD_OK);
	assert_int_equal(n, 3);
	assert_null(i[0].build_id);
	assert_string_equal(i[1].name, "/a/x");
	assert_memory_equal(i[1].build_id, id, 4);
	assert_memory_equal(i[2].build_id, other, 4);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

static void
what_is_lost_is_guessed_by_what_is_not(void **state)
{
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	struct hwtd_context *ctx;
	struct hwtd_coverage *c;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	c = create(ctx);
	c->store.sums.bytes = 1000;
	c->store.sums.gap_bytes = 200;
	c->store.sums.insns = 4000;
	assert_int_equal(hwtd_coverage_info(c, &info, NULL), HWTD_OK);
	assert_int_equal(info.lost_insns, 1000);
	hwtd_coverage_close(c);
	c = create(ctx);
	c->store.sums.bytes = c->store.sums.gap_bytes = 10;
	assert_int_equal(hwtd_coverage_info(c, &info, NULL), HWTD_OK);
	assert_int_equal(info.lost_insns, 0);
	hwtd_coverage_close(c);
	hwtd_context_destroy(ctx);
}

static void
names_are_written_as_asked_for(void **state)
{
	struct hwtd_coverage_function f;
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (int raw = 0; raw < 2; raw++) {
		struct hwtd_coverage *c = create(ctx);
		const struct hwtdi_cov_func fn = { .name = text(c, "bar"),
			.linkage = text(c, "_ZN3foo3barEv"),
			.image = image(c, "a") };
		struct hwtdi_cov_body body = { .off = 1 };
		size_t n;

		assert_int_equal(hwtdi_cov_func_add(&c->store, &fn, raw != 0,
				     &body.func, NULL),
		    HWTD_OK);
		add(c, 0, HWTDI_COV_BODIES, &body);
		assert_int_equal(hwtd_coverage_functions(c, 0, &f, sizeof(f),
				     1, &n, NULL),
		    HWTD_OK);
		assert_string_equal(f.name,
		    raw != 0 ? "_ZN3foo3barEv" : "foo::bar()");
		assert_string_equal(f.linkage_name, "_ZN3foo3barEv");
		hwtd_coverage_close(c);
	}
	hwtd_context_destroy(ctx);
}

static void
misuse_is_refused(void **state)
{
	struct hwtd_coverage_options o = { .size = sizeof(o), .flags = 8 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	struct hwtd_coverage_line line;
	const char *const nothing[] = { NULL };
	struct hwtd_coverage *c = NULL, *d;
	struct hwtd_context *ctx;
	size_t n = 7;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_coverage_create(NULL, NULL, &c, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_create(ctx, NULL, NULL, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_create(ctx, &o, &c, &err),
	    HWTD_E_INVALID);
	assert_string_equal(err.message,
	    "coverage flags 0x8, 0 are not known");
	o.flags = 0;
	o.n_images = 1;
	assert_int_equal(hwtd_coverage_create(ctx, &o, &c, &err),
	    HWTD_E_INVALID);
	o.images = nothing;
	assert_int_equal(hwtd_coverage_create(ctx, &o, &c, &err),
	    HWTD_E_INVALID);
	assert_null(c);
	c = create(ctx);
	d = create(ctx);
	assert_int_equal(hwtd_coverage_add_runs(c, NULL, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_merge(c, c, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_merge(c, NULL, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_info(NULL, &info, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_info(c, NULL, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_lines(c, 0, &line, sizeof(line) - 1, 1,
			     &n, &err),
	    HWTD_E_INVALID);
	assert_int_equal(n, 0);
	assert_int_equal(hwtd_coverage_lines(c, 0, &line, sizeof(line) + 1, 1,
			     &n, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_lines(c, 0, &line, sizeof(line), 0, &n,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_lines(c, 0, NULL, sizeof(line), 1, &n,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_lines(NULL, 0, &line, sizeof(line), 1,
			     &n, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_lines(c, 0, &line, sizeof(line), 1,
			     NULL, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_coverage_lines(c, 0, &line, sizeof(line), 1, &n,
			     &err),
	    HWTD_END);
	hwtd_coverage_close(NULL);
	hwtd_coverage_close(c);
	hwtd_coverage_close(d);
	hwtd_context_destroy(ctx);
}

static void
an_image_is_left_out_if_it_is_everywhere(void **state)
{
	struct hwtd_coverage_image i;
	struct hwtd_context *ctx;
	size_t n;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (unsigned int k = 0; k < 4; k++) {
		struct hwtd_coverage *a = create(ctx), *b = create(ctx);
		const uint32_t out = HWTD_COVERAGE_IMAGE_LEFT_OUT;

		(void)image(a, "x");
		(void)image(b, "x");
		a->store.images[0].flags = (k & 1) != 0 ? out : 0;
		b->store.images[0].flags = HWTD_COVERAGE_IMAGE_MISSING |
		    ((k & 2) != 0 ? out : 0);
		assert_int_equal(hwtd_coverage_merge(a, b, NULL), HWTD_OK);
		assert_int_equal(hwtd_coverage_images(a, 0, &i, sizeof(i), 1,
				     &n, NULL),
		    HWTD_OK);
		assert_int_equal(i.flags,
		    HWTD_COVERAGE_IMAGE_MISSING | (k == 3 ? out : 0));
		hwtd_coverage_close(a);
		hwtd_coverage_close(b);
	}
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_added_byte_by_byte),
		cmocka_unit_test(
		    a_line_is_the_sum_of_its_bodies_and_of_each_the_greatest),
		cmocka_unit_test(branches_and_edges_are_counted),
		cmocka_unit_test(functions_are_hit_if_any_of_them_ran),
		cmocka_unit_test(parts_merged_in_any_order_are_the_whole),
		cmocka_unit_test(a_merge_without_memory_changes_nothing),
		cmocka_unit_test(tables_without_memory_can_be_asked_for_again),
		cmocka_unit_test(images_are_one_by_build_id_else_by_path),
		cmocka_unit_test(what_is_lost_is_guessed_by_what_is_not),
		cmocka_unit_test(names_are_written_as_asked_for),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(an_image_is_left_out_if_it_is_everywhere),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
