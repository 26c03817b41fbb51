/*
 * Differences of two profiles: how much changed, in order.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/diff/diff_store.h"
#include "base/fail.h"

uint64_t
hwtdi_diff_weight(const struct hwtd_diff *d,
    const struct hwtd_diff_function *row, unsigned int side)
{
	switch (d->options.by) {
	case HWTD_DIFF_BY_TIME:
		return (row->self_ns[side]);
	case HWTD_DIFF_BY_TOTAL_TIME:
		return (row->total_ns[side]);
	case HWTD_DIFF_BY_CYCLES:
		return (row->self_cycles[side]);
	case HWTD_DIFF_BY_CALLS:
		return (d->with_runs ? row->entered[side] : row->calls[side]);
	default:
		return (d->with_runs ? row->insns[side]
				     : row->self_insns[side]);
	}
}

/* Changes. */

static double
change_of(const uint64_t values[2], double scale)
{
	return ((double)values[1] * scale - (double)values[0]);
}

static double
scale_of(const struct hwtd_diff *d, const uint64_t totals[2])
{
	return ((d->options.flags & HWTD_DIFF_NORMALIZE) != 0 && totals[1] != 0
		? (double)totals[0] / (double)totals[1]
		: 1);
}

static void
sum(uint64_t totals[2], const uint64_t values[2])
{
	for (unsigned int i = 0; i < 2; i++)
		totals[i] = totals[i] + values[i] < totals[i]
		    ? UINT64_MAX
		    : totals[i] + values[i];
}

static void
set_functions(struct hwtd_diff *d)
{
	double scale;

	for (size_t i = 0; i < d->n_functions; i++) {
		const struct hwtd_diff_function *row = &d->functions[i].row;
		const uint64_t values[2] = { hwtdi_diff_weight(d, row, 0),
			hwtdi_diff_weight(d, row, 1) };

		/* What functions call is in their time, too. */
		sum(d->info.total,
		    d->options.by == HWTD_DIFF_BY_TOTAL_TIME ? row->self_ns
							     : values);
		d->info.n_only[0] += d->functions[i].in == 1;
		d->info.n_only[1] += d->functions[i].in == 2;
		d->info.n_functions += d->functions[i].in != 0;
	}
	scale = scale_of(d, d->info.total);
	for (size_t i = 0; i < d->n_functions; i++) {
		struct hwtd_diff_function *row = &d->functions[i].row;
		const uint64_t values[2] = { hwtdi_diff_weight(d, row, 0),
			hwtdi_diff_weight(d, row, 1) };

		row->change = change_of(values, scale);
	}
}

static const uint64_t *
count_of(const struct hwtd_diff *d, const struct hwtdi_diff_edge *edge)
{
	return (d->with_branches ? edge->branches : edge->calls);
}

static void
set_edges(struct hwtd_diff *d)
{
	uint64_t totals[2] = { 0, 0 };
	double scale;

	for (size_t i = 0; i < d->n_edges; i++)
		sum(totals, count_of(d, &d->edges[i]));
	scale = scale_of(d, totals);
	for (size_t i = 0; i < d->n_edges; i++)
		d->edges[i].change = change_of(count_of(d, &d->edges[i]),
		    scale);
	totals[0] = totals[1] = 0;
	for (size_t i = 0; i < d->n_branches; i++)
		sum(totals, d->branches[i].count);
	scale = scale_of(d, totals);
	for (size_t i = 0; i < d->n_branches; i++)
		d->branches[i].change = change_of(d->branches[i].count, scale);
	d->info.n_edges = d->n_edges;
	d->info.n_branches = d->n_branches;
}

/* Order. */

struct sorted {
	double key;
	const struct hwtd_diff *d;
	uint32_t no;
};

#define COMPARE(a, b)                                                         \
	do {                                                                  \
		if ((a) != (b))                                               \
			return ((a) < (b) ? -1 : 1);                          \
	} while (0)

static int
compare_functions(const struct hwtd_diff *d, uint32_t a, uint32_t b)
{
	const struct hwtdi_diff_name *x = &d->functions[a].key;
	const struct hwtdi_diff_name *y = &d->functions[b].key;
	int order = hwtdi_text_pool_compare(&d->texts, x->name, y->name);

	if (order == 0)
		order = hwtdi_text_pool_compare(&d->texts, x->image, y->image);
	if (order != 0)
		return (order);
	COMPARE(x->file_off, y->file_off);
	return (0);
}

static int
by_function(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;

	COMPARE(b->key, a->key);
	return (compare_functions(a->d, a->no, b->no));
}

static int
by_edge(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;
	const struct hwtdi_diff_edge *x = &a->d->edges[a->no];
	const struct hwtdi_diff_edge *y = &b->d->edges[b->no];
	int order;

	COMPARE(b->key, a->key);
	order = compare_functions(a->d, x->from, y->from);
	return (order != 0 ? order : compare_functions(a->d, x->to, y->to));
}

static int
by_branch(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;
	const struct hwtdi_diff_way *x = &a->d->branches[a->no].key;
	const struct hwtdi_diff_way *y = &b->d->branches[b->no].key;
	int order;

	COMPARE(b->key, a->key);
	order = hwtdi_text_pool_compare(&a->d->texts,
	    a->d->images[x->image].name, a->d->images[y->image].name);
	if (order != 0)
		return (order);
	COMPARE(x->from_off, y->from_off);
	order = hwtdi_text_pool_compare(&a->d->texts,
	    a->d->images[x->to_image].name, a->d->images[y->to_image].name);
	if (order != 0)
		return (order);
	COMPARE(x->to_off, y->to_off);
	return (0);
}

static double
size_of(double change)
{
	return (change < 0 ? -change : change);
}

static int
sort(struct hwtd_diff *d, unsigned int table, size_t n,
    double (*change)(const struct hwtd_diff *, size_t),
    int (*compare)(const void *, const void *), struct hwtd_error *err)
{
	struct sorted *s = hwtdi_zalloc(d->library, (n + 1) * sizeof(*s));

	d->order[table] = hwtdi_zalloc(d->library, (n + 1) * sizeof(uint32_t));
	if (s == NULL || d->order[table] == NULL) {
		hwtdi_free(d->library, s, (n + 1) * sizeof(*s));
		return (hwtdi_fail_nomem(err, (n + 1) * sizeof(*s)));
	}
	for (size_t i = 0; i < n; i++)
		s[i] = (struct sorted){ size_of(change(d, i)), d,
			(uint32_t)i };
	if (n > 1)
		qsort(s, n, sizeof(*s), compare);
	for (size_t i = 0; i < n; i++)
		d->order[table][i] = s[i].no;
	hwtdi_free(d->library, s, (n + 1) * sizeof(*s));
	return (HWTD_OK);
}

static double
change_of_function(const struct hwtd_diff *d, size_t i)
{
	return (d->functions[i].row.change);
}

static double
change_of_edge(const struct hwtd_diff *d, size_t i)
{
	return (d->edges[i].change);
}

static double
change_of_branch(const struct hwtd_diff *d, size_t i)
{
	return (d->branches[i].change);
}

/* Functions that edges alone speak of have no row. */
static void
drop_empty(struct hwtd_diff *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_functions; i++)
		if (d->functions[d->order[0][i]].in != 0)
			d->order[0][n++] = d->order[0][i];
}

int
hwtdi_diff_order(struct hwtd_diff *d, struct hwtd_error *err)
{
	int rc;

	set_functions(d);
	set_edges(d);
	rc = sort(d, 0, d->n_functions, change_of_function, by_function, err);
	if (rc == HWTD_OK)
		rc = sort(d, 1, d->n_edges, change_of_edge, by_edge, err);
	if (rc == HWTD_OK)
		rc = sort(d, 2, d->n_branches, change_of_branch, by_branch,
		    err);
	if (rc == HWTD_OK)
		drop_empty(d);
	return (rc);
}

/* Reading. */

int
hwtd_diff_info(const struct hwtd_diff *diff, struct hwtd_diff_info *out)
{
	struct hwtd_diff_info info;

	if (diff == NULL || out == NULL)
		return (HWTD_E_INVALID);
	info = diff->info;
	info.size = sizeof(info);
	info.by = diff->options.by;
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

static int
check(const struct hwtd_diff *d, const void *out, size_t stride, size_t cap,
    size_t *n_out)
{
	if (n_out != NULL)
		*n_out = 0;
	return (d != NULL && out != NULL && n_out != NULL && cap != 0 &&
		    stride != 0 && stride % 8 == 0
		? HWTD_OK
		: HWTD_E_INVALID);
}

/* Into the caller's element, which may be of another version. */
static void
put(void *out, size_t stride, size_t i, const void *from, size_t n)
{
	char *at = (char *)out + i * stride;

	memset(at, 0, stride);
	memcpy(at, from, n < stride ? n : stride);
}

static const char *
text(const struct hwtd_diff *d, uint32_t no)
{
	return (hwtdi_text_pool_get(&d->texts, no));
}

static uint32_t
flags_of(uint32_t in)
{
	return (in == 1 ? HWTD_DIFF_ONLY_A : in == 2 ? HWTD_DIFF_ONLY_B : 0);
}

int
hwtd_diff_functions(const struct hwtd_diff *diff, uint64_t first,
    struct hwtd_diff_function *out, size_t stride, size_t cap, size_t *n_out)
{
	int rc = check(diff, out, stride, cap, n_out);

	if (rc != HWTD_OK)
		return (rc);
	if (first >= diff->info.n_functions)
		return (HWTD_END);
	while (*n_out < cap && first + *n_out < diff->info.n_functions) {
		const struct hwtdi_diff_function
		    *f = &diff->functions[diff->order[0][first + *n_out]];
		struct hwtd_diff_function row = f->row;

		row.name = text(diff, f->key.name);
		row.image = text(diff, f->image_path);
		row.file_off = f->key.file_off;
		row.flags = flags_of(f->in);
		if (row.file_off == HWTDI_DIFF_NO_FUNCTION) {
			row.file_off = 0;
			row.flags |= HWTD_DIFF_NO_FUNCTION;
		}
		put(out, stride, (*n_out)++, &row, sizeof(row));
	}
	return (HWTD_OK);
}

static uint64_t
off_of(const struct hwtdi_diff_function *f)
{
	return (f->key.file_off == HWTDI_DIFF_NO_FUNCTION ? 0
							  : f->key.file_off);
}

int
hwtd_diff_edges(const struct hwtd_diff *diff, uint64_t first,
    struct hwtd_diff_edge *out, size_t stride, size_t cap, size_t *n_out)
{
	int rc = check(diff, out, stride, cap, n_out);

	if (rc != HWTD_OK)
		return (rc);
	if (first >= diff->n_edges)
		return (HWTD_END);
	while (*n_out < cap && first + *n_out < diff->n_edges) {
		const struct hwtdi_diff_edge
		    *e = &diff->edges[diff->order[1][first + *n_out]];
		const struct hwtdi_diff_function
		    *from = &diff->functions[e->from];
		const struct hwtdi_diff_function *to = &diff->functions[e->to];
		const struct hwtd_diff_edge row = { .from = text(diff,
							from->key.name),
			.from_image = text(diff, from->image_path),
			.to = text(diff, to->key.name),
			.to_image = text(diff, to->image_path),
			.flags = flags_of(e->in),
			.from_off = off_of(from),
			.to_off = off_of(to),
			.branches = { e->branches[0], e->branches[1] },
			.calls = { e->calls[0], e->calls[1] },
			.change = e->change };

		put(out, stride, (*n_out)++, &row, sizeof(row));
	}
	return (HWTD_OK);
}

int
hwtd_diff_branches(const struct hwtd_diff *diff, uint64_t first,
    struct hwtd_diff_branch *out, size_t stride, size_t cap, size_t *n_out)
{
	int rc = check(diff, out, stride, cap, n_out);

	if (rc != HWTD_OK)
		return (rc);
	if (first >= diff->n_branches)
		return (HWTD_END);
	while (*n_out < cap && first + *n_out < diff->n_branches) {
		const struct hwtdi_diff_branch
		    *b = &diff->branches[diff->order[2][first + *n_out]];
		const struct hwtd_diff_branch row = {
			.image = text(diff, diff->images[b->key.image].path),
			.to_image = text(diff,
			    diff->images[b->key.to_image].path),
			.function = text(diff,
			    diff->functions[b->from].key.name),
			.to_function = text(diff,
			    diff->functions[b->to].key.name),
			.from_off = b->key.from_off,
			.to_off = b->key.to_off,
			.branch = b->branch,
			.flags = flags_of(b->in),
			.count = { b->count[0], b->count[1] },
			.change = b->change
		};

		put(out, stride, (*n_out)++, &row, sizeof(row));
	}
	return (HWTD_OK);
}

const char *
hwtd_diff_by_name(uint32_t by)
{
	static const char *const names[HWTD_DIFF_BYS] = { "insns", "time",
		"total-time", "cycles", "calls" };

	return (by < HWTD_DIFF_BYS ? names[by] : "unknown");
}
