/*
 * What a coverage says: tables made of what it keeps.
 */
#include "analysis/coverage/coverage_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/ratio.h"
#include "base/sort.h"

#define ORDER(field)                                                          \
	if (a->field != b->field)                                             \
	return (a->field < b->field ? -1 : 1)

/* Rows of a table between two looks at whether the caller wants an end. */
#define POLL_ROWS 4096

/* How often a line was executed in a body. */
struct part {
	uint64_t body_off, count;
	uint32_t file, line, func, flags;
};

/* The greatest of any stretch of counts. */
struct tree {
	uint64_t *at;
	size_t n;
};

int
hwtdi_cov_table_add(struct hwtdi_cov_table *table,
    struct hwtd_context *library, const void *entry, size_t size,
    struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(library, &table->at, &table->cap,
	    table->n + 1, size, err);

	if (rc == HWTD_OK && table->n % POLL_ROWS == 0)
		rc = hwtdi_poll(library, err);
	if (rc == HWTD_OK)
		memcpy((char *)table->at + table->n++ * size, entry, size);
	return (rc);
}

/* Order of texts and images. */

struct ranked {
	const char *text;
	const uint8_t *build_id;
	uint32_t n_build_id, no;
};

static int
by_text(const void *va, const void *vb)
{
	const struct ranked *a = va, *b = vb;
	const int order = strcmp(a->text, b->text);

	if (order != 0)
		return (order);
	ORDER(n_build_id);
	return (a->n_build_id == 0
		? 0
		: memcmp(a->build_id, b->build_id, a->n_build_id));
}

static int
rank_texts(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    struct hwtd_error *err)
{
	const size_t n = store->texts.n;
	struct ranked *texts = hwtdi_zalloc(sums->library,
	    (n + 1) * sizeof(*texts));

	sums->n_texts = n + 1;
	sums->text_ranks = hwtdi_zalloc(sums->library,
	    (n + 1) * sizeof(uint32_t));
	sums->file_ranks = hwtdi_zalloc(sums->library,
	    (n + 1) * sizeof(uint32_t));
	if (texts == NULL || sums->text_ranks == NULL ||
	    sums->file_ranks == NULL) {
		hwtdi_free(sums->library, texts, (n + 1) * sizeof(*texts));
		return (hwtdi_fail_nomem(err, (n + 1) * sizeof(*texts)));
	}
	for (uint32_t i = 0; i < n; i++)
		texts[i] = (struct ranked){ .text = store->texts.at[i],
			.no = i + 1 };
	if (n > 1)
		qsort(texts, n, sizeof(*texts), by_text);
	for (uint32_t i = 0; i < n; i++)
		sums->text_ranks[texts[i].no] = i + 1;
	hwtdi_free(sums->library, texts, (n + 1) * sizeof(*texts));
	return (HWTD_OK);
}

static int
rank_images(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    struct hwtd_error *err)
{
	const size_t n = store->n_images;
	struct ranked *images = hwtdi_zalloc(sums->library,
	    (n + 1) * sizeof(*images));
	int rc = HWTD_OK;

	sums->n_image_ranks = n;
	sums->image_ranks = hwtdi_zalloc(sums->library,
	    n * sizeof(*sums->image_ranks));
	if (images == NULL || (sums->image_ranks == NULL && n != 0))
		rc = hwtdi_fail_nomem(err, (n + 1) * sizeof(*images));
	for (uint32_t i = 0; rc == HWTD_OK && i < n; i++)
		images[i] = (struct ranked){
			.text = hwtdi_text_pool_get(&store->texts,
			    store->images[i].name),
			.build_id = store->images[i].build_id,
			.n_build_id = store->images[i].n_build_id,
			.no = i
		};
	if (rc == HWTD_OK && n > 1)
		qsort(images, n, sizeof(*images), by_text);
	for (uint32_t i = 0; rc == HWTD_OK && i < n; i++) {
		const struct hwtdi_cov_image
		    *from = &store->images[images[i].no];
		const struct hwtd_coverage_image row = {
			.name = images[i].text,
			.build_id = from->n_build_id != 0 ? from->build_id
							  : NULL,
			.n_build_id = from->n_build_id,
			.flags = from->flags,
			.fault = hwtdi_text_pool_get(&store->texts,
			    from->fault)
		};

		sums->image_ranks[images[i].no] = i;
		rc = hwtdi_cov_table_add(&sums->images, sums->library, &row,
		    sizeof(row), err);
	}
	hwtdi_free(sums->library, images, (n + 1) * sizeof(*images));
	return (rc);
}

struct hwtd_coverage_image *
hwtdi_cov_image_row(const struct hwtdi_cov_sums *sums, uint32_t image)
{
	return ((struct hwtd_coverage_image *)sums->images.at +
	    sums->image_ranks[image]);
}

/* Files. */

static int
by_rank(const void *va, const void *vb)
{
	const uint32_t *a = va, *b = vb;

	return (*a < *b ? -1 : *a > *b);
}

/* All texts that are files of something; `file_ranks` counts them first. */
static void
mark_files(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store)
{
	for (uint32_t i = 0; i < store->n_images; i++) {
		const struct hwtdi_cov_line *lines;
		size_t n;

		lines = hwtdi_cov_list(store, i, HWTDI_COV_LINES, &n);
		for (size_t k = 0; k < n; k++)
			sums->file_ranks[lines[k].file] = 1;
		for (size_t k = 0;
		     k < store->images[i].lists[HWTDI_COV_BODIES].n; k++) {
			const struct hwtdi_cov_body
			    *bodies = store->images[i]
					  .lists[HWTDI_COV_BODIES]
					  .at;

			sums->file_ranks[store->funcs[bodies[k].func]
					     .file] = 1;
		}
	}
	sums->file_ranks[0] = 0;
}

static int
make_files(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    struct hwtd_error *err)
{
	struct hwtdi_cov_table ranks = { NULL, 0, 0 };
	uint32_t *by_text_rank;
	int rc = HWTD_OK;

	mark_files(sums, store);
	by_text_rank = hwtdi_zalloc(sums->library,
	    sums->n_texts * sizeof(*by_text_rank));
	if (by_text_rank == NULL)
		return (hwtdi_fail_nomem(err,
		    sums->n_texts * sizeof(*by_text_rank)));
	for (size_t i = 1; rc == HWTD_OK && i < sums->n_texts; i++) {
		by_text_rank[sums->text_ranks[i]] = (uint32_t)i;
		if (sums->file_ranks[i] != 0)
			rc = hwtdi_cov_table_add(&ranks, sums->library,
			    &sums->text_ranks[i], sizeof(uint32_t), err);
		sums->file_ranks[i] = HWTD_NO_ID;
	}
	sums->file_ranks[0] = HWTD_NO_ID;
	if (rc == HWTD_OK && ranks.n > 1)
		qsort(ranks.at, ranks.n, sizeof(uint32_t), by_rank);
	for (size_t i = 0; rc == HWTD_OK && i < ranks.n; i++) {
		const uint32_t text = by_text_rank[((uint32_t *)ranks.at)[i]];
		const struct hwtd_coverage_file row = {
			.path = hwtdi_text_pool_get(&store->texts, text)
		};

		sums->file_ranks[text] = (uint32_t)i;
		rc = hwtdi_cov_table_add(&sums->files, sums->library, &row,
		    sizeof(row), err);
	}
	hwtdi_array_free(sums->library, ranks.at, ranks.cap, sizeof(uint32_t));
	hwtdi_free(sums->library, by_text_rank,
	    sums->n_texts * sizeof(*by_text_rank));
	return (rc);
}

/* Lines. */

static int
by_line(const void *va, const void *vb)
{
	const struct hwtd_coverage_line *a = va, *b = vb;

	ORDER(file);
	ORDER(line);
	return (0);
}

static int
make_lines(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    struct hwtd_error *err)
{
	struct hwtd_coverage_line *rows;
	size_t n = 0;
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < store->n_images; i++) {
		const struct hwtdi_cov_line *lines;
		size_t n_lines;

		lines = hwtdi_cov_list(store, i, HWTDI_COV_LINES, &n_lines);
		hwtdi_cov_image_row(sums, i)->lines.total = n_lines;
		for (size_t k = 0; rc == HWTD_OK && k < n_lines; k++) {
			const struct hwtd_coverage_line row = {
				.file = sums->file_ranks[lines[k].file],
				.line = lines[k].line
			};

			rc = hwtdi_cov_table_add(&sums->lines, sums->library,
			    &row, sizeof(row), err);
		}
	}
	if (rc != HWTD_OK || sums->lines.n == 0)
		return (rc);
	rows = sums->lines.at;
	rc = hwtdi_sort(sums->library, rows, sums->lines.n, sizeof(*rows),
	    by_line, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < sums->lines.n; i++)
		if (n == 0 || by_line(&rows[n - 1], &rows[i]) != 0)
			rows[n++] = rows[i];
	sums->lines.n = n;
	return (HWTD_OK);
}

/* How often lines were executed. */

static int
tree_init(struct tree *tree, struct hwtd_context *library,
    const struct hwtdi_cov_count *counts, size_t n, struct hwtd_error *err)
{
	tree->n = n;
	tree->at = hwtdi_alloc(library, (2 * n + 1) * sizeof(*tree->at));
	if (tree->at == NULL)
		return (hwtdi_fail_nomem(err,
		    (2 * n + 1) * sizeof(*tree->at)));
	for (size_t i = 0; i < n; i++)
		tree->at[n + i] = counts[i].count;
	for (size_t i = n; i-- > 1;)
		tree->at[i] = tree->at[2 * i] > tree->at[2 * i + 1]
		    ? tree->at[2 * i]
		    : tree->at[2 * i + 1];
	return (HWTD_OK);
}

/* Of [low, high). */
static uint64_t
tree_max(const struct tree *tree, size_t low, size_t high)
{
	uint64_t most = 0;

	for (low += tree->n, high += tree->n; low < high;
	     low /= 2, high /= 2) {
		if ((low & 1) != 0 && tree->at[low++] > most)
			most = tree->at[low - 1];
		if ((high & 1) != 0 && tree->at[--high] > most)
			most = tree->at[high];
	}
	return (most);
}

static int
by_part(const void *va, const void *vb)
{
	const struct part *a = va, *b = vb;

	ORDER(file);
	ORDER(line);
	ORDER(body_off);
	ORDER(func);
	ORDER(flags);
	return (0);
}

/* The counts of the pieces of an image, by line and body. */
static int
make_parts(const struct hwtdi_cov_sums *sums,
    const struct hwtdi_cov_store *store, uint32_t image,
    struct hwtdi_cov_table *parts, struct hwtd_error *err)
{
	const struct hwtdi_cov_piece *pieces;
	const struct hwtdi_cov_count *counts;
	size_t n, n_counts;
	struct tree tree;
	int rc;

	pieces = hwtdi_cov_list(store, image, HWTDI_COV_PIECES, &n);
	counts = hwtdi_cov_list(store, image, HWTDI_COV_COUNTS, &n_counts);
	rc = tree_init(&tree, sums->library, counts, n_counts, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		const struct hwtdi_cov_piece *p = &pieces[i];
		const struct part part = { .body_off = p->body_off,
			.file = p->file,
			.line = p->line,
			.func = p->func,
			.flags = p->flags,
			.count = tree_max(&tree,
			    hwtdi_cov_counts_find(counts, n_counts, p->off),
			    hwtdi_cov_counts_find(counts, n_counts,
				p->end - 1) +
				hwtdi_cov_ran(counts, n_counts, p->end - 1,
				    p->end)) };

		if ((p->flags & HWTDI_COV_SHADOW) == 0)
			rc = hwtdi_cov_table_add(parts, sums->library, &part,
			    sizeof(part), err);
	}
	if (rc == HWTD_OK)
		rc = hwtdi_sort(sums->library, parts->at, parts->n,
		    sizeof(struct part), by_part, err);
	hwtdi_free(sums->library, tree.at,
	    (2 * tree.n + 1) * sizeof(*tree.at));
	return (rc);
}

static void
add_to_line(struct hwtdi_cov_sums *sums, const struct part *part,
    uint64_t count)
{
	const struct hwtd_coverage_line key = {
		.file = sums->file_ranks[part->file],
		.line = part->line
	};
	struct hwtd_coverage_line *row = bsearch(&key, sums->lines.at,
	    sums->lines.n, sizeof(key), by_line);

	if (row != NULL)
		row->count = hwtdi_cov_sum(row->count, count);
}

/* Of each body the greatest, of all bodies the sum. */
static int
count_lines(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    uint32_t image, struct hwtd_error *err)
{
	struct hwtdi_cov_table table = { NULL, 0, 0 };
	const struct part *parts;
	uint64_t sum = 0, most = 0;
	int rc;

	rc = make_parts(sums, store, image, &table, err);
	parts = table.at;
	for (size_t i = 0; rc == HWTD_OK && i < table.n; i++) {
		const struct part *next = i + 1 < table.n ? &parts[i + 1]
							  : NULL;
		const bool same = next != NULL &&
		    next->file == parts[i].file && next->line == parts[i].line;

		if (parts[i].count > most)
			most = parts[i].count;
		if (same && by_part(&parts[i], next) == 0)
			continue;
		sum = hwtdi_cov_sum(sum, most);
		most = 0;
		if (same)
			continue;
		add_to_line(sums, &parts[i], sum);
		hwtdi_cov_image_row(sums, image)->lines.hit += sum != 0;
		sum = 0;
	}
	hwtdi_array_free(sums->library, table.at, table.cap,
	    sizeof(struct part));
	return (rc);
}

/* Bytes that ran, and those of them that no line has. */
static void
count_bytes(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    uint32_t image)
{
	struct hwtd_coverage_image *row = hwtdi_cov_image_row(sums, image);
	const struct hwtdi_cov_piece *pieces;
	const struct hwtdi_cov_count *counts;
	size_t n, n_counts, first = 0;
	uint64_t told = 0, reach = 0;

	pieces = hwtdi_cov_list(store, image, HWTDI_COV_PIECES, &n);
	counts = hwtdi_cov_list(store, image, HWTDI_COV_COUNTS, &n_counts);
	for (size_t i = 0; i < n_counts; i++)
		row->code_bytes += counts[i].end - counts[i].off;
	for (size_t i = 0; i < n; i++) {
		const uint64_t from = pieces[i].off > reach ? pieces[i].off
							    : reach;

		if (pieces[i].end <= from)
			continue;
		reach = pieces[i].end;
		while (first < n_counts && counts[first].end <= from)
			first++;
		for (size_t k = first; k < n_counts && counts[k].off < reach;
		     k++) {
			const uint64_t low = counts[k].off > from
			    ? counts[k].off
			    : from;
			const uint64_t high = counts[k].end < reach
			    ? counts[k].end
			    : reach;

			told += high - low;
		}
	}
	row->bare_bytes = row->code_bytes - told;
}

/* Branches. */

static int
by_branch(const void *va, const void *vb)
{
	const struct hwtd_coverage_branch *a = va, *b = vb;

	ORDER(file);
	ORDER(line);
	ORDER(image);
	ORDER(file_off);
	return (0);
}

static int
make_branches(struct hwtdi_cov_sums *sums, const struct hwtdi_cov_store *store,
    uint32_t image, struct hwtd_error *err)
{
	struct hwtdi_cov_ways ways = { .store = store, .image = image };
	struct hwtd_coverage_image *to = hwtdi_cov_image_row(sums, image);
	struct hwtdi_cov_way way;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && hwtdi_cov_ways_next(&ways, &way)) {
		const struct hwtd_coverage_share
		    edges = hwtdi_cov_way_share(&way);
		const struct hwtd_coverage_branch row = {
			.file_off = way.site->off,
			.taken = way.taken,
			.not_taken = way.not_taken,
			.file = sums->file_ranks[way.site->file],
			.line = way.site->line,
			.image = sums->image_ranks[image],
			.flags = way.reached ? HWTD_COVERAGE_BRANCH_REACHED : 0
		};

		to->edges.total += edges.total;
		to->edges.hit += edges.hit;
		sums->info.n_edges += hwtdi_cov_way_rows(&way, image);
		if (way.site->branch != HWTD_BRANCH_CONDITIONAL)
			continue;
		to->branches.total += edges.total;
		to->branches.hit += edges.hit;
		rc = hwtdi_cov_table_add(&sums->branches, sums->library, &row,
		    sizeof(row), err);
	}
	return (rc);
}

/* Sums of sums. */

static struct hwtd_coverage_file *
file_row(const struct hwtdi_cov_sums *sums, uint32_t file)
{
	return (file == HWTD_NO_ID
		? NULL
		: (struct hwtd_coverage_file *)sums->files.at + file);
}

static void
sum_files(struct hwtdi_cov_sums *sums)
{
	const struct hwtd_coverage_line *lines = sums->lines.at;
	const struct hwtd_coverage_function *functions = sums->functions.at;
	const struct hwtd_coverage_branch *branches = sums->branches.at;
	struct hwtd_coverage_info *info = &sums->info;

	for (size_t i = 0; i < sums->lines.n; i++) {
		struct hwtd_coverage_file *f = file_row(sums, lines[i].file);

		if (f->n_lines++ == 0)
			f->first_line = i;
		f->n_lines_hit += lines[i].count != 0;
		info->lines.total++;
		info->lines.hit += lines[i].count != 0;
	}
	for (size_t i = 0; i < sums->functions.n; i++) {
		struct hwtd_coverage_file *f = file_row(sums,
		    functions[i].file);
		struct hwtd_coverage_share *share = f != NULL
		    ? &info->functions
		    : &info->bare_functions;
		const bool hit = (functions[i].flags &
				     HWTD_COVERAGE_FUNCTION_HIT) != 0;

		share->total++;
		share->hit += hit;
		if (f == NULL)
			continue;
		if (f->n_functions++ == 0)
			f->first_function = i;
		f->n_functions_hit += hit;
	}
	for (size_t i = 0; i < sums->branches.n; i++) {
		struct hwtd_coverage_file *f = file_row(sums,
		    branches[i].file);
		struct hwtd_coverage_share *share = f != NULL
		    ? &info->branches
		    : &info->bare_branches;
		const uint64_t hit = (uint64_t)(branches[i].taken != 0) +
		    (branches[i].not_taken != 0);

		share->total += 2;
		share->hit += hit;
		if (f == NULL)
			continue;
		if (f->n_branches++ == 0)
			f->first_branch = i;
		f->n_ways_hit += hit;
	}
}

static void
sum_images(struct hwtdi_cov_sums *sums)
{
	const struct hwtd_coverage_image *images = sums->images.at;
	struct hwtd_coverage_info *info = &sums->info;

	for (size_t i = 0; i < sums->images.n; i++) {
		info->code_bytes += images[i].code_bytes;
		info->bare_bytes += images[i].bare_bytes;
		info->edges.hit += images[i].edges.hit;
		info->edges.total += images[i].edges.total;
		info->images_damaged += images[i].fault != NULL;
		if ((images[i].flags & HWTD_COVERAGE_IMAGE_MISSING) != 0)
			info->images_missing++;
		else if ((images[i].flags &
			     (HWTD_COVERAGE_IMAGE_LINES |
				 HWTD_COVERAGE_IMAGE_LEFT_OUT)) == 0)
			info->images_without_lines++;
	}
}

/* What ran unseen, if it was as dense as the rest. */
static uint64_t
guess_lost(const struct hwtd_coverage_info *info)
{
	const uint64_t seen = info->bytes > info->gap_bytes
	    ? info->bytes - info->gap_bytes
	    : 0;
	hwtdi_uint128 lost;

	if (seen == 0)
		return (0);
	lost = (hwtdi_uint128)info->gap_bytes * info->insns / seen;
	return (lost > UINT64_MAX ? UINT64_MAX : (uint64_t)lost);
}

static int
make_all(struct hwtdi_cov_sums *sums, struct hwtdi_cov_store *store,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < store->n_images; i++)
		for (unsigned int k = 0; rc == HWTD_OK && k < HWTDI_COV_KINDS;
		     k++)
			rc = hwtdi_cov_tidy(store, i, (enum hwtdi_cov_kind)k,
			    err);
	sums->info = store->sums;
	if (rc == HWTD_OK)
		rc = rank_texts(sums, store, err);
	if (rc == HWTD_OK)
		rc = rank_images(sums, store, err);
	if (rc == HWTD_OK)
		rc = make_files(sums, store, err);
	if (rc == HWTD_OK)
		rc = make_lines(sums, store, err);
	for (uint32_t i = 0; rc == HWTD_OK && i < store->n_images; i++) {
		count_bytes(sums, store, i);
		rc = count_lines(sums, store, i, err);
		if (rc == HWTD_OK)
			rc = make_branches(sums, store, i, err);
	}
	if (rc == HWTD_OK)
		rc = hwtdi_cov_make_functions(sums, store, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_sort(sums->library, sums->branches.at, sums->branches.n,
	    sizeof(struct hwtd_coverage_branch), by_branch, err);
	if (rc != HWTD_OK)
		return (rc);
	sum_files(sums);
	sum_images(sums);
	sums->info.lost_insns = guess_lost(&sums->info);
	sums->info.n_images = sums->images.n;
	sums->info.n_files = sums->files.n;
	sums->info.n_functions = sums->functions.n;
	sums->info.n_lines = sums->lines.n;
	sums->info.n_branches = sums->branches.n;
	return (HWTD_OK);
}

int
hwtdi_cov_sums_make(struct hwtdi_cov_sums *sums, struct hwtdi_cov_store *store,
    struct hwtd_error *err)
{
	int rc;

	if (sums->made)
		return (HWTD_OK);
	sums->library = store->library;
	rc = make_all(sums, store, err);
	if (rc != HWTD_OK)
		hwtdi_cov_sums_fini(sums);
	sums->made = rc == HWTD_OK;
	return (rc);
}

static void
free_table(struct hwtdi_cov_sums *sums, struct hwtdi_cov_table *table,
    size_t size)
{
	hwtdi_array_free(sums->library, table->at, table->cap, size);
}

void
hwtdi_cov_sums_fini(struct hwtdi_cov_sums *sums)
{
	if (sums->library == NULL)
		return;
	free_table(sums, &sums->images, sizeof(struct hwtd_coverage_image));
	free_table(sums, &sums->files, sizeof(struct hwtd_coverage_file));
	free_table(sums, &sums->functions,
	    sizeof(struct hwtd_coverage_function));
	free_table(sums, &sums->lines, sizeof(struct hwtd_coverage_line));
	free_table(sums, &sums->branches, sizeof(struct hwtd_coverage_branch));
	free_table(sums, &sums->edges, sizeof(struct hwtd_coverage_edge));
	hwtdi_free(sums->library, sums->image_ranks,
	    sums->n_image_ranks * sizeof(*sums->image_ranks));
	hwtdi_free(sums->library, sums->text_ranks,
	    sums->n_texts * sizeof(*sums->text_ranks));
	hwtdi_free(sums->library, sums->file_ranks,
	    sums->n_texts * sizeof(*sums->file_ranks));
	memset(sums, 0, sizeof(*sums));
}
