/*
 * What a coverage keeps: images, functions, lists; and merging them.
 */
#include "analysis/coverage/coverage_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/sort.h"
#include "image/symbol_text.h"

#define MOST_IMAGES (1u << 20)

/* Entries that are added to a list before it is put in order again. */
#define MOST_LOOSE 65536u

static const size_t sizes[HWTDI_COV_KINDS] = {
	[HWTDI_COV_COUNTS] = sizeof(struct hwtdi_cov_count),
	[HWTDI_COV_EDGES] = sizeof(struct hwtdi_cov_edge),
	[HWTDI_COV_SITES] = sizeof(struct hwtdi_cov_site),
	[HWTDI_COV_LINES] = sizeof(struct hwtdi_cov_line),
	[HWTDI_COV_PIECES] = sizeof(struct hwtdi_cov_piece),
	[HWTDI_COV_BODIES] = sizeof(struct hwtdi_cov_body)
};

/* Images. */

static bool
same_image(const struct hwtdi_cov_store *s, const struct hwtdi_cov_image *a,
    const char *name, const uint8_t *build_id, size_t n_build_id)
{
	if (a->n_build_id != n_build_id)
		return (false);
	if (n_build_id != 0)
		return (memcmp(a->build_id, build_id, n_build_id) == 0);
	return (strcmp(hwtdi_text_pool_get(&s->texts, a->name), name) == 0);
}

/* Of two texts the first by content; none is behind all. */
static uint32_t
first_text(const struct hwtdi_cov_store *s, uint32_t a, uint32_t b)
{
	if (a == 0 || b == 0)
		return (a == 0 ? b : a);
	return (strcmp(hwtdi_text_pool_get(&s->texts, a),
		    hwtdi_text_pool_get(&s->texts, b)) <= 0
		? a
		: b);
}

int
hwtdi_cov_image_add(struct hwtdi_cov_store *store, const char *name,
    const uint8_t *build_id, size_t n_build_id, uint32_t *no_out,
    struct hwtd_error *err)
{
	struct hwtdi_cov_image *image;
	size_t tries = 0;
	uint64_t hash;
	uint32_t text;
	int rc;

	if (name == NULL || name[0] == '\0')
		name = "?";
	if (n_build_id > HWTD_MAX_BUILD_ID)
		n_build_id = 0;
	rc = hwtdi_text_pool_add(&store->texts, store->library, name, &text,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	hash = n_build_id != 0
	    ? hwtdi_hash(store->library, build_id, n_build_id)
	    : hwtdi_hash(store->library, name, strlen(name));
	while (hwtdi_index_next(&store->image_index, hash, &tries, no_out)) {
		/* Those that were taken back are still in it. */
		if (*no_out >= store->n_images)
			continue;
		image = &store->images[*no_out];
		if (!same_image(store, image, name, build_id, n_build_id))
			continue;
		image->name = first_text(store, image->name, text);
		return (HWTD_OK);
	}
	if (store->n_images == MOST_IMAGES)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "a coverage of more than %u images", MOST_IMAGES));
	rc = hwtdi_index_reserve(&store->image_index, store->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(store->library, &store->images,
		    &store->cap_images, store->n_images + 1, sizeof(*image),
		    err);
	if (rc != HWTD_OK)
		return (rc);
	image = &store->images[store->n_images];
	memset(image, 0, sizeof(*image));
	image->name = text;
	image->n_build_id = (uint32_t)n_build_id;
	if (n_build_id != 0)
		memcpy(image->build_id, build_id, n_build_id);
	*no_out = (uint32_t)store->n_images++;
	hwtdi_index_put(&store->image_index, hash, *no_out);
	return (HWTD_OK);
}

int
hwtdi_cov_image_fault(struct hwtdi_cov_store *store, uint32_t image,
    const char *fault, struct hwtd_error *err)
{
	uint32_t text;
	int rc = hwtdi_text_pool_add(&store->texts, store->library, fault,
	    &text, err);

	if (rc == HWTD_OK)
		store->images[image].fault = first_text(store,
		    store->images[image].fault, text);
	return (rc);
}

/* Functions. */

static int
set_text(struct hwtdi_cov_store *s, struct hwtdi_cov_func *f, bool raw,
    struct hwtd_error *err)
{
	const uint32_t mangled = f->linkage != 0 ? f->linkage : f->name;
	const char *name = hwtdi_text_pool_get(&s->texts, mangled);
	char *text;
	int rc = HWTD_OK;

	f->text = raw || f->name == 0 ? mangled : f->name;
	if (raw || name == NULL)
		return (HWTD_OK);
	text = hwtdi_alloc(s->library, HWTDI_SYMBOL_TEXT_MAX);
	if (text == NULL)
		return (hwtdi_fail_nomem(err, HWTDI_SYMBOL_TEXT_MAX));
	if (hwtdi_symbol_text(name, text, HWTDI_SYMBOL_TEXT_MAX))
		rc = hwtdi_text_pool_add(&s->texts, s->library, text, &f->text,
		    err);
	hwtdi_free(s->library, text, HWTDI_SYMBOL_TEXT_MAX);
	return (rc);
}

int
hwtdi_cov_func_add(struct hwtdi_cov_store *store,
    const struct hwtdi_cov_func *func, bool raw, uint32_t *no_out,
    struct hwtd_error *err)
{
	const uint32_t key[5] = { func->name, func->linkage, func->file,
		func->line, func->image };
	const uint64_t hash = hwtdi_hash(store->library, key, sizeof(key));
	struct hwtdi_cov_func *f;
	size_t tries = 0;
	int rc;

	while (hwtdi_index_next(&store->func_index, hash, &tries, no_out)) {
		f = &store->funcs[*no_out];
		if (f->name == func->name && f->linkage == func->linkage &&
		    f->file == func->file && f->line == func->line &&
		    f->image == func->image)
			return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&store->func_index, store->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(store->library, &store->funcs,
		    &store->cap_funcs, store->n_funcs + 1, sizeof(*f), err);
	if (rc != HWTD_OK)
		return (rc);
	f = &store->funcs[store->n_funcs];
	*f = *func;
	if (f->text == 0)
		rc = set_text(store, f, raw, err);
	if (rc != HWTD_OK)
		return (rc);
	*no_out = (uint32_t)store->n_funcs++;
	hwtdi_index_put(&store->func_index, hash, *no_out);
	return (HWTD_OK);
}

/* Lists. */

int
hwtdi_cov_add(struct hwtdi_cov_store *store, uint32_t image,
    enum hwtdi_cov_kind kind, const void *entry, struct hwtd_error *err)
{
	struct hwtdi_cov_list *l = &store->images[image].lists[kind];
	int rc;

	rc = hwtdi_array_grow(store->library, &l->at, &l->cap, l->n + 1,
	    sizes[kind], err);
	if (rc == HWTD_OK)
		memcpy((char *)l->at + l->n++ * sizes[kind], entry,
		    sizes[kind]);
	return (rc);
}

#define ORDER(field)                                                          \
	if (a->field != b->field)                                             \
	return (a->field < b->field ? -1 : 1)

static int
by_count(const void *va, const void *vb)
{
	const struct hwtdi_cov_count *a = va, *b = vb;

	ORDER(off);
	return (0);
}

static int
by_edge(const void *va, const void *vb)
{
	const struct hwtdi_cov_edge *a = va, *b = vb;

	ORDER(from);
	ORDER(to_image);
	ORDER(to);
	ORDER(branch);
	return (0);
}

static int
by_site(const void *va, const void *vb)
{
	const struct hwtdi_cov_site *a = va, *b = vb;

	ORDER(off);
	return (0);
}

static int
by_line(const void *va, const void *vb)
{
	const struct hwtdi_cov_line *a = va, *b = vb;

	ORDER(file);
	ORDER(line);
	return (0);
}

static int
by_piece(const void *va, const void *vb)
{
	const struct hwtdi_cov_piece *a = va, *b = vb;

	ORDER(off);
	ORDER(end);
	ORDER(body_off);
	ORDER(func);
	ORDER(file);
	ORDER(line);
	ORDER(flags);
	return (0);
}

static int
by_body(const void *va, const void *vb)
{
	const struct hwtdi_cov_body *a = va, *b = vb;

	ORDER(off);
	ORDER(func);
	if ((a->flags & HWTDI_COV_INLINED) != (b->flags & HWTDI_COV_INLINED))
		return ((a->flags & HWTDI_COV_INLINED) != 0 ? 1 : -1);
	return (0);
}

static int (*const orders[HWTDI_COV_KINDS])(const void *,
    const void *) = { [HWTDI_COV_COUNTS] = by_count,
	[HWTDI_COV_EDGES] = by_edge,
	[HWTDI_COV_SITES] = by_site,
	[HWTDI_COV_LINES] = by_line,
	[HWTDI_COV_PIECES] = by_piece,
	[HWTDI_COV_BODIES] = by_body };

/* Two that say where a branch is: the one that knows more, else by content. */
static void
fold_site(const struct hwtdi_cov_store *s, struct hwtdi_cov_site *a,
    const struct hwtdi_cov_site *b)
{
	const uint32_t file = first_text(s, a->file, b->file);

	if (a->file != b->file ? a->file != file : b->line < a->line) {
		a->file = b->file;
		a->line = b->line;
	}
	if (b->is_direct && (!a->is_direct || b->to < a->to)) {
		a->is_direct = true;
		a->to = b->to;
	}
	if (b->branch < a->branch)
		a->branch = b->branch;
	if (b->length < a->length)
		a->length = b->length;
}

static void
fold(const struct hwtdi_cov_store *s, enum hwtdi_cov_kind kind, void *to,
    const void *from)
{
	struct hwtdi_cov_body *body = to;
	struct hwtdi_cov_edge *edge = to;

	switch (kind) {
	case HWTDI_COV_EDGES:
		edge->count = hwtdi_cov_sum(edge->count,
		    ((const struct hwtdi_cov_edge *)from)->count);
		break;
	case HWTDI_COV_SITES:
		fold_site(s, to, from);
		break;
	case HWTDI_COV_BODIES:
		body->again = hwtdi_cov_sum(body->again,
		    ((const struct hwtdi_cov_body *)from)->again);
		body->flags |= ((const struct hwtdi_cov_body *)from)->flags;
		break;
	default:
		break;
	}
}

/*
 * Stretches that may overlap become some that do not: at each begin the count goes
 * up, at each end down.
 */
static int
tidy_counts(struct hwtdi_cov_store *s, struct hwtdi_cov_list *l,
    struct hwtd_error *err)
{
	const size_t most = 2 * l->n;
	const struct hwtdi_cov_count *old = l->at;
	struct hwtdi_cov_count *steps, *out = NULL;
	size_t n = 0, cap = 0;
	uint64_t count = 0;
	int rc;

	steps = hwtdi_alloc(s->library, most * sizeof(*steps));
	if (steps == NULL)
		return (hwtdi_fail_nomem(err, most * sizeof(*steps)));
	for (size_t i = 0; i < l->n; i++) {
		steps[2 * i] = (struct hwtdi_cov_count){ .off = old[i].off,
			.count = old[i].count };
		steps[2 * i + 1] = (struct hwtdi_cov_count){ .off = old[i].end,
			.count = 0 - old[i].count };
	}
	rc = hwtdi_sort(s->library, steps, most, sizeof(*steps), by_count,
	    err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(s->library, &out, &cap, most,
		    sizeof(*out), err);
	for (size_t i = 0; rc == HWTD_OK && i < most; i++) {
		count += steps[i].count;
		if (i + 1 == most || steps[i + 1].off == steps[i].off ||
		    count == 0)
			continue;
		if (n > 0 && out[n - 1].end == steps[i].off &&
		    out[n - 1].count == count)
			out[n - 1].end = steps[i + 1].off;
		else
			out[n++] = (struct hwtdi_cov_count){ steps[i].off,
				steps[i + 1].off, count };
	}
	hwtdi_free(s->library, steps, most * sizeof(*steps));
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_array_free(s->library, l->at, l->cap, sizeof(*out));
	*l = (struct hwtdi_cov_list){ out, n, cap, n };
	return (HWTD_OK);
}

int
hwtdi_cov_tidy(struct hwtdi_cov_store *store, uint32_t image,
    enum hwtdi_cov_kind kind, struct hwtd_error *err)
{
	struct hwtdi_cov_list *l = &store->images[image].lists[kind];
	const size_t size = sizes[kind];
	char *at = l->at;
	size_t n = 0;
	int rc;

	if (l->n == l->n_tidy)
		return (HWTD_OK);
	if (kind == HWTDI_COV_COUNTS)
		return (tidy_counts(store, l, err));
	rc = hwtdi_sort(store->library, at, l->n, size, orders[kind], err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < l->n; i++) {
		if (n > 0 &&
		    orders[kind](at + (n - 1) * size, at + i * size) == 0) {
			fold(store, kind, at + (n - 1) * size, at + i * size);
		} else {
			if (n != i)
				memcpy(at + n * size, at + i * size, size);
			n++;
		}
	}
	l->n = l->n_tidy = n;
	return (HWTD_OK);
}

size_t
hwtdi_cov_counts_find(const struct hwtdi_cov_count *counts, size_t n,
    uint64_t off)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (counts[middle].end <= off)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

bool
hwtdi_cov_ran(const struct hwtdi_cov_count *counts, size_t n, uint64_t off,
    uint64_t end)
{
	const size_t i = hwtdi_cov_counts_find(counts, n, off);

	return (i < n && counts[i].off < end);
}

uint64_t
hwtdi_cov_count_at(const struct hwtdi_cov_count *counts, size_t n,
    uint64_t off)
{
	const size_t i = hwtdi_cov_counts_find(counts, n, off);

	return (i < n && counts[i].off <= off ? counts[i].count : 0);
}

/* Merging. */

struct before {
	size_t n[HWTDI_COV_KINDS];
	uint32_t name;
};

/* What numbers of one store are in another. */
struct move {
	struct hwtdi_cov_store *into;
	const struct hwtdi_cov_store *from;
	uint32_t *texts, *images, *funcs;
	/* How images were before. */
	struct before *had;
	size_t n_had;
	struct hwtd_error *err;
};

static int
move_texts(struct move *m)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < m->from->texts.n; i++)
		rc = hwtdi_text_pool_add(&m->into->texts, m->into->library,
		    m->from->texts.at[i], &m->texts[i + 1], m->err);
	return (rc);
}

static int
move_images(struct move *m)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < m->from->n_images; i++) {
		const struct hwtdi_cov_image *a = &m->from->images[i];

		rc = hwtdi_cov_image_add(m->into,
		    hwtdi_text_pool_get(&m->from->texts, a->name), a->build_id,
		    a->n_build_id, &m->images[i], m->err);
	}
	return (rc);
}

static int
move_funcs(struct move *m)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < m->from->n_funcs; i++) {
		struct hwtdi_cov_func f = m->from->funcs[i];

		f.name = m->texts[f.name];
		f.linkage = m->texts[f.linkage];
		f.text = m->texts[f.text];
		f.file = m->texts[f.file];
		if (f.image != HWTD_NO_ID)
			f.image = m->images[f.image];
		rc = hwtdi_cov_func_add(m->into, &f, false, &m->funcs[i],
		    m->err);
	}
	return (rc);
}

/* Numbers in an entry. */
static void
move_entry(const struct move *m, enum hwtdi_cov_kind kind, void *entry)
{
	struct hwtdi_cov_piece *piece = entry;
	struct hwtdi_cov_edge *edge = entry;
	struct hwtdi_cov_body *body = entry;
	struct hwtdi_cov_site *site = entry;
	struct hwtdi_cov_line *line = entry;

	switch (kind) {
	case HWTDI_COV_EDGES:
		if (edge->to_image != HWTD_NO_ID)
			edge->to_image = m->images[edge->to_image];
		break;
	case HWTDI_COV_SITES:
		site->file = m->texts[site->file];
		break;
	case HWTDI_COV_LINES:
		line->file = m->texts[line->file];
		break;
	case HWTDI_COV_PIECES:
		piece->file = m->texts[piece->file];
		if (piece->func != HWTD_NO_ID)
			piece->func = m->funcs[piece->func];
		break;
	case HWTDI_COV_BODIES:
		body->func = m->funcs[body->func];
		break;
	default:
		break;
	}
}

static int
move_lists(struct move *m)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < m->from->n_images; i++)
		for (unsigned int k = 0; rc == HWTD_OK && k < HWTDI_COV_KINDS;
		     k++) {
			const struct hwtdi_cov_list *from = &m->from->images[i]
								 .lists[k];
			struct hwtdi_cov_list
			    *to = &m->into->images[m->images[i]].lists[k];

			if (from->n == 0)
				continue;
			rc = hwtdi_array_grow(m->into->library, &to->at,
			    &to->cap, to->n + from->n, sizes[k], m->err);
			if (rc != HWTD_OK)
				break;
			memcpy((char *)to->at + to->n * sizes[k], from->at,
			    from->n * sizes[k]);
			for (size_t e = to->n; e < to->n + from->n; e++)
				move_entry(m, (enum hwtdi_cov_kind)k,
				    (char *)to->at + e * sizes[k]);
			to->n += from->n;
		}
	return (rc);
}

static void
take_back(struct move *m)
{
	for (size_t i = 0; i < m->n_had; i++) {
		m->into->images[i].name = m->had[i].name;
		for (unsigned int k = 0; k < HWTDI_COV_KINDS; k++)
			m->into->images[i].lists[k].n = m->had[i].n[k];
	}
	for (size_t i = m->n_had; i < m->into->n_images; i++)
		for (unsigned int k = 0; k < HWTDI_COV_KINDS; k++)
			hwtdi_array_free(m->into->library,
			    m->into->images[i].lists[k].at,
			    m->into->images[i].lists[k].cap, sizes[k]);
	m->into->n_images = m->n_had;
	/* Functions of images that are not there are of nobody. */
}

static void
add_sums(struct hwtd_coverage_info *to, const struct hwtd_coverage_info *from)
{
	to->traces += from->traces;
	to->insns = hwtdi_cov_sum(to->insns, from->insns);
	to->bytes = hwtdi_cov_sum(to->bytes, from->bytes);
	to->gap_bytes = hwtdi_cov_sum(to->gap_bytes, from->gap_bytes);
	to->file_gap_bytes = hwtdi_cov_sum(to->file_gap_bytes,
	    from->file_gap_bytes);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++) {
		to->gaps[i] = hwtdi_cov_sum(to->gaps[i], from->gaps[i]);
		to->gap_bytes_by_reason[i] = hwtdi_cov_sum(
		    to->gap_bytes_by_reason[i], from->gap_bytes_by_reason[i]);
	}
}

/* What is left to do cannot fail. */
static void
finish(struct move *m)
{
	for (size_t i = 0; i < m->from->n_images; i++) {
		const struct hwtdi_cov_image *from = &m->from->images[i];
		struct hwtdi_cov_image *to = &m->into->images[m->images[i]];

		const uint32_t left_out = HWTD_COVERAGE_IMAGE_LEFT_OUT;
		const uint32_t was = m->images[i] < m->n_had ? to->flags
							     : left_out;

		to->flags |= from->flags;
		if ((was & from->flags & left_out) == 0)
			to->flags &= ~left_out;
		to->fault = first_text(m->into, to->fault,
		    m->texts[from->fault]);
	}
	add_sums(&m->into->sums, &m->from->sums);
	/* Else lists grow with each merge; without memory or time they do. */
	for (uint32_t i = 0; i < m->into->n_images; i++)
		for (unsigned int k = 0; k < HWTDI_COV_KINDS; k++) {
			const struct hwtdi_cov_list *l = &m->into->images[i]
							      .lists[k];

			if (l->n - l->n_tidy > l->n_tidy + MOST_LOOSE)
				(void)hwtdi_cov_tidy(m->into, i,
				    (enum hwtdi_cov_kind)k, NULL);
		}
}

int
hwtdi_cov_store_merge(struct hwtdi_cov_store *into,
    const struct hwtdi_cov_store *from, struct hwtd_error *err)
{
	struct move m = { .into = into,
		.from = from,
		.n_had = into->n_images,
		.err = err };
	const size_t n_texts = from->texts.n + 1;
	int rc = HWTD_OK;

	m.texts = hwtdi_zalloc(into->library, n_texts * sizeof(*m.texts));
	m.images = hwtdi_zalloc(into->library,
	    (from->n_images + 1) * sizeof(*m.images));
	m.funcs = hwtdi_zalloc(into->library,
	    (from->n_funcs + 1) * sizeof(*m.funcs));
	m.had = hwtdi_zalloc(into->library, (m.n_had + 1) * sizeof(*m.had));
	if (m.texts == NULL || m.images == NULL || m.funcs == NULL ||
	    m.had == NULL)
		rc = hwtdi_fail_nomem(err, n_texts * sizeof(*m.texts));
	if (rc == HWTD_OK) {
		for (size_t i = 0; i < m.n_had; i++) {
			m.had[i].name = into->images[i].name;
			for (unsigned int k = 0; k < HWTDI_COV_KINDS; k++)
				m.had[i].n[k] = into->images[i].lists[k].n;
		}
		rc = move_texts(&m);
		if (rc == HWTD_OK)
			rc = move_images(&m);
		if (rc == HWTD_OK)
			rc = move_funcs(&m);
		if (rc == HWTD_OK)
			rc = move_lists(&m);
		if (rc == HWTD_OK)
			finish(&m);
		else
			take_back(&m);
	}
	hwtdi_free(into->library, m.texts, n_texts * sizeof(*m.texts));
	hwtdi_free(into->library, m.images,
	    (from->n_images + 1) * sizeof(*m.images));
	hwtdi_free(into->library, m.funcs,
	    (from->n_funcs + 1) * sizeof(*m.funcs));
	hwtdi_free(into->library, m.had, (m.n_had + 1) * sizeof(*m.had));
	return (rc);
}

void
hwtdi_cov_store_fini(struct hwtdi_cov_store *store)
{
	struct hwtd_context *library = store->library;

	for (size_t i = 0; i < store->n_images; i++)
		for (unsigned int k = 0; k < HWTDI_COV_KINDS; k++)
			hwtdi_array_free(library, store->images[i].lists[k].at,
			    store->images[i].lists[k].cap, sizes[k]);
	hwtdi_array_free(library, store->images, store->cap_images,
	    sizeof(*store->images));
	hwtdi_array_free(library, store->funcs, store->cap_funcs,
	    sizeof(*store->funcs));
	hwtdi_index_fini(&store->image_index, library);
	hwtdi_index_fini(&store->func_index, library);
	hwtdi_text_pool_fini(&store->texts, library);
	memset(store, 0, sizeof(*store));
	store->library = library;
}
