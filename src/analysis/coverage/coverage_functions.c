/*
 * Functions of a coverage: bodies added up.
 */
#include <stdlib.h>

#include "analysis/coverage/coverage_sums.h"
#include "base/fail.h"
#include "base/sort.h"

#define ORDER(field)                                                          \
	if (a->field != b->field)                                             \
	return (a->field < b->field ? -1 : 1)

/* A function that is being added up. */
struct tally {
	struct hwtd_coverage_function row;
	/* Places of its names among all texts. */
	uint32_t text, linkage, name;
	/* Bodies that are not inlined, and the image of the first. */
	uint32_t bodies, image;
	/* Number of an image + 1 for which it was counted, as there, and as hit. */
	uint32_t counted, counted_hit;
	bool seen;
};

static void
add_body(struct tally *t, const struct hwtdi_cov_body *body, uint32_t image,
    uint64_t count)
{
	const bool inlined = (body->flags & HWTDI_COV_INLINED) != 0;

	if (!t->seen || image < t->row.image)
		t->row.image = image;
	t->seen = true;
	if ((body->flags & HWTDI_COV_HIT) != 0)
		t->row.flags |= HWTD_COVERAGE_FUNCTION_HIT;
	if (inlined)
		t->row.flags |= HWTD_COVERAGE_FUNCTION_INLINED;
	if (!inlined && (body->flags & HWTDI_COV_PART) == 0 &&
	    body->off != HWTDI_COV_NOWHERE && t->bodies++ == 0) {
		t->row.file_off = body->off;
		t->image = image;
	}
	if ((body->flags & HWTDI_COV_PART) != 0)
		return;
	t->row.count = hwtdi_cov_sum(t->row.count,
	    count > body->again ? count - body->again : 0);
}

static void
tally_bodies(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    struct tally *tallies, uint32_t image)
{
	struct hwtd_coverage_image *row = hwtdi_cov_image_row(sums, image);
	const struct hwtdi_cov_count *counts;
	const struct hwtdi_cov_body *bodies;
	size_t n, n_counts;

	bodies = hwtdi_cov_list(store, image, HWTDI_COV_BODIES, &n);
	counts = hwtdi_cov_list(store, image, HWTDI_COV_COUNTS, &n_counts);
	for (size_t i = 0; i < n; i++)
		add_body(&tallies[bodies[i].func], &bodies[i],
		    sums->image_ranks[image],
		    bodies[i].off == HWTDI_COV_NOWHERE
			? 0
			: hwtdi_cov_count_at(counts, n_counts, bodies[i].off));
	/* Each function of the image once. */
	for (size_t i = 0; i < n; i++) {
		struct tally *t = &tallies[bodies[i].func];

		row->functions.total += t->counted != image + 1;
		t->counted = image + 1;
		if ((bodies[i].flags & HWTDI_COV_HIT) == 0)
			continue;
		row->functions.hit += t->counted_hit != image + 1;
		t->counted_hit = image + 1;
	}
}

static int
by_function(const void *va, const void *vb)
{
	const struct tally *a = va, *b = vb;

	ORDER(row.file);
	ORDER(row.line);
	ORDER(text);
	ORDER(linkage);
	ORDER(name);
	ORDER(row.image);
	ORDER(row.file_off);
	return (0);
}

static int
list_functions(struct hwtdi_cov_sums *sums,
    const struct hwtdi_cov_store *store, struct tally *tallies,
    struct hwtd_error *err)
{
	size_t n = 0;
	int rc = HWTD_OK;

	for (size_t i = 0; i < store->n_funcs; i++) {
		const struct hwtdi_cov_func *f = &store->funcs[i];
		struct tally t = tallies[i];

		if (!t.seen)
			continue;
		t.row.name = hwtdi_text_pool_get(&store->texts, f->text);
		t.row.linkage_name = hwtdi_text_pool_get(&store->texts,
		    f->linkage);
		t.row.file = sums->file_ranks[f->file];
		t.row.line = f->line;
		if (t.bodies == 1) {
			t.row.flags |= HWTD_COVERAGE_FUNCTION_OFF;
			t.row.image = t.image;
		} else {
			t.row.file_off = 0;
		}
		t.text = sums->text_ranks[f->text];
		t.linkage = sums->text_ranks[f->linkage];
		t.name = sums->text_ranks[f->name];
		tallies[n++] = t;
	}
	rc = hwtdi_sort(sums->library, tallies, n, sizeof(*tallies),
	    by_function, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		rc = hwtdi_cov_table_add(&sums->functions, sums->library,
		    &tallies[i].row, sizeof(tallies[i].row), err);
	return (rc);
}

int
hwtdi_cov_make_functions(struct hwtdi_cov_sums *sums,
    const struct hwtdi_cov_store *store, struct hwtd_error *err)
{
	const size_t bytes = store->n_funcs * sizeof(struct tally);
	struct tally *tallies = hwtdi_zalloc(sums->library, bytes);
	int rc;

	if (tallies == NULL && bytes != 0)
		return (hwtdi_fail_nomem(err, bytes));
	for (uint32_t i = 0; i < store->n_images; i++)
		tally_bodies(sums, store, tallies, i);
	rc = list_functions(sums, store, tallies, err);
	hwtdi_free(sums->library, tallies, bytes);
	return (rc);
}
