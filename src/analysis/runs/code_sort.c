/*
 * Stretches in order, each once.
 */
#include <string.h>

#include "analysis/runs/code_counts.h"
#include "base/fail.h"
#include "space/key_sort.h"

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

static int
by_content(const struct hwtdi_stretch *a, const struct hwtdi_stretch *b)
{
	ORDER(a->bytes, b->bytes);
	ORDER(a->insns, b->insns);
	ORDER(a->branch, b->branch);
	return (memcmp(a->lengths, b->lengths, a->insns));
}

static uint64_t
group_of(const struct hwtdi_stretch *s)
{
	return ((uint64_t)s->section << 8 | s->isa);
}

/* How often each byte comes, where keys differ. */
static unsigned int
count_bytes(const struct hwtdi_keyed *keys, size_t n, size_t (*counts)[256],
    uint8_t *shifts)
{
	uint64_t differs = 0;
	unsigned int n_shifts = 0;

	for (size_t i = 1; i < n; i++)
		differs |= keys[i].key ^ keys[0].key;
	for (uint8_t shift = 0; shift < 64; shift = (uint8_t)(shift + 8))
		if ((differs >> shift & 0xff) != 0) {
			memset(counts[n_shifts], 0, sizeof(counts[0]));
			shifts[n_shifts++] = shift;
		}
	for (size_t i = 0; i < n; i++)
		for (unsigned int k = 0; k < n_shifts; k++)
			counts[k][keys[i].key >> shifts[k] & 0xff]++;
	return (n_shifts);
}

struct hwtdi_keyed *
hwtdi_code_sort_keys(struct hwtdi_keyed *keys, struct hwtdi_keyed *other,
    size_t n)
{
	struct hwtdi_keyed *from = keys, *to = other;
	size_t counts[8][256];
	uint8_t shifts[8];
	const unsigned int n_shifts = count_bytes(keys, n, counts, shifts);

	for (unsigned int k = 0; k < n_shifts; k++) {
		struct hwtdi_keyed *const swap = from;
		size_t *const starts = counts[k];
		size_t at = 0;

		for (size_t i = 0; i < 256; i++) {
			const size_t here = starts[i];

			starts[i] = at;
			at += here;
		}
		for (size_t i = 0; i < n; i++)
			to[starts[from[i].key >> shifts[k] &
			    0xff]++] = from[i];
		from = to;
		to = swap;
	}
	return (from);
}

/* What is in the order of addresses is put in the order of sections. */
static int
sort_groups(const struct hwtdi_code_counts *c, struct hwtdi_keyed *order,
    struct hwtdi_keyed *out, struct hwtd_error *err)
{
	const struct hwtdi_stretch *all = c->stretches;
	const size_t n = c->n_stretches;
	struct hwtdi_keyed *spans = NULL;
	size_t n_spans = 0, cap = 0, k = 0;
	int rc = HWTD_OK;

	/* Mostly a section is one span of addresses. */
	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		const uint64_t group = group_of(&all[order[i].index]);

		if (n_spans > 0 && spans[n_spans - 1].key == group)
			continue;
		rc = hwtdi_array_grow(c->library, &spans, &cap, n_spans + 1,
		    sizeof(*spans), err);
		if (rc == HWTD_OK)
			spans[n_spans++] = (struct hwtdi_keyed){ group, i };
	}
	if (rc == HWTD_OK)
		rc = hwtdi_key_sort(c->library, spans, n_spans, err);
	for (size_t i = 0; i < n_spans && rc == HWTD_OK; i++)
		for (size_t at = spans[i].index;
		     at < n && group_of(&all[order[at].index]) == spans[i].key;
		     at++)
			out[k++] = order[at];
	hwtdi_array_free(c->library, spans, cap, sizeof(*spans));
	return (rc);
}

/* Of those that begin at the same place there are few. */
static void
sort_content(const struct hwtdi_code_counts *c, struct hwtdi_keyed *order)
{
	const struct hwtdi_stretch *all = c->stretches;

	for (size_t i = 1; i < c->n_stretches; i++) {
		const struct hwtdi_keyed item = order[i];
		const struct hwtdi_stretch *s = &all[item.index];
		size_t k = i;

		for (; k > 0 && order[k - 1].key == item.key; k--) {
			const struct hwtdi_stretch
			    *before = &all[order[k - 1].index];

			if (group_of(before) != group_of(s) ||
			    by_content(before, s) <= 0)
				break;
			order[k] = order[k - 1];
		}
		order[k] = item;
	}
}

/* Take stretches in this order, equal ones together. */
static int
rearrange(struct hwtdi_code_counts *c, const struct hwtdi_keyed *order,
    struct hwtd_error *err)
{
	struct hwtdi_stretch *sorted = hwtdi_alloc(c->library,
	    c->n_stretches * sizeof(*sorted));
	size_t n = 0;

	if (sorted == NULL)
		return (hwtdi_fail_nomem(err,
		    c->n_stretches * sizeof(*sorted)));
	for (size_t i = 0; i < c->n_stretches; i++) {
		const struct hwtdi_stretch *s = &c->stretches[order[i].index];

		if (n > 0 && sorted[n - 1].ip == s->ip &&
		    group_of(&sorted[n - 1]) == group_of(s) &&
		    by_content(&sorted[n - 1], s) == 0)
			sorted[n - 1].count += s->count;
		else
			sorted[n++] = *s;
	}
	hwtdi_array_free(c->library, c->stretches, c->cap_stretches,
	    sizeof(*c->stretches));
	c->stretches = sorted;
	c->cap_stretches = c->n_stretches;
	c->n_stretches = n;
	c->n_sorted = n;
	return (HWTD_OK);
}

int
hwtdi_code_counts_order(const struct hwtdi_code_counts *c,
    struct hwtdi_keyed **order_out, struct hwtd_error *err)
{
	const size_t n = c->n_stretches;
	struct hwtdi_keyed *order, *sorted, *other;
	int rc;

	order = hwtdi_alloc(c->library, 2 * n * sizeof(*order));
	if (order == NULL)
		return (hwtdi_fail_nomem(err, 2 * n * sizeof(*order)));
	for (size_t i = 0; i < n; i++)
		order[i] = (struct hwtdi_keyed){ c->stretches[i].ip, i };
	*order_out = order;
	if (n == c->n_sorted)
		return (HWTD_OK);
	sorted = hwtdi_code_sort_keys(order, order + n, n);
	other = sorted == order ? order + n : order;
	rc = sort_groups(c, sorted, other, err);
	if (rc != HWTD_OK) {
		hwtdi_free(c->library, order, 2 * n * sizeof(*order));
		return (rc);
	}
	sort_content(c, other);
	if (other != order)
		memcpy(order, other, n * sizeof(*order));
	return (HWTD_OK);
}

int
hwtdi_code_counts_sort(struct hwtdi_code_counts *c, struct hwtd_error *err)
{
	const size_t n = c->n_stretches;
	struct hwtdi_keyed *order;
	int rc;

	if (n == c->n_sorted)
		return (HWTD_OK);
	rc = hwtdi_code_counts_order(c, &order, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = rearrange(c, order, err);
	hwtdi_free(c->library, order, 2 * n * sizeof(*order));
	return (rc == HWTD_OK ? hwtdi_code_counts_tidy(c, err) : rc);
}
