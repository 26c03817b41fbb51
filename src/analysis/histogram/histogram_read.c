/*
 * Histograms of calls: order, rows, quantiles and buckets.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/histogram/histogram_store.h"
#include "base/fail.h"
#include "base/sort.h"

/* Order. */

struct sorted {
	uint64_t key;
	const struct hwtdi_histogram_data *data;
	const struct hwtdi_text_pool *names;
	size_t no;
};

static uint64_t
quantile(const struct hwtdi_latency *l, uint32_t millionths)
{
	bool none;

	/* Of the last bucket the end is known. */
	if (millionths >= 1000000)
		return (l->max);
	return (hwtdi_latency_quantile(l, millionths, &none));
}

static uint64_t
key_of(const struct hwtdi_histogram_data *data, uint32_t sort)
{
	const struct hwtdi_latency *l = &data->spread;

	switch (sort) {
	case HWTD_HISTOGRAM_BY_SUM:
		return (l->sum);
	case HWTD_HISTOGRAM_BY_CALLS:
		return (data->counts.calls);
	case HWTD_HISTOGRAM_BY_MEAN:
		return (l->n != 0 ? l->sum / l->n : 0);
	case HWTD_HISTOGRAM_BY_MAX:
		return (l->max);
	case HWTD_HISTOGRAM_BY_P50:
		return (quantile(l, 500000));
	case HWTD_HISTOGRAM_BY_P99:
		return (quantile(l, 990000));
	default:
		return (0);
	}
}

#define COMPARE(a, b)                                                         \
	do {                                                                  \
		if ((a) != (b))                                               \
			return ((a) < (b) ? -1 : 1);                          \
	} while (0)

static int
compare_places(const struct hwtdi_text_pool *names,
    const struct hwtdi_histogram_place *a,
    const struct hwtdi_histogram_place *b)
{
	int order = hwtdi_text_pool_compare(names, a->name, b->name);

	if (order == 0)
		order = hwtdi_text_pool_compare(names, a->image, b->image);
	if (order != 0)
		return (order);
	COMPARE(a->address, b->address);
	COMPARE(a->flags, b->flags);
	COMPARE(a->type, b->type);
	return (0);
}

static int
compare(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;
	int order;

	COMPARE(b->key, a->key);
	order = compare_places(a->names, &a->data->key.at, &b->data->key.at);
	return (order != 0 ? order
			   : compare_places(a->names, &a->data->key.to,
				 &b->data->key.to));
}

int
hwtd_histogram_sort(struct hwtd_histogram *histogram, uint32_t sort,
    struct hwtd_error *err)
{
	struct hwtd_histogram *h = histogram;
	struct sorted *s;
	int rc;

	if (h == NULL || sort >= HWTD_HISTOGRAM_SORTS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no histogram, or no order %u", sort));
	if (h->failed)
		return (hwtdi_fail(err, HWTD_E_STATE, "adding failed"));
	h->sorted = h->n == 0;
	h->n_order = h->n;
	if (h->n == 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(h->library, &h->order, &h->cap_order, h->n,
	    sizeof(*h->order), err);
	if (rc != HWTD_OK)
		return (rc);
	s = hwtdi_zalloc(h->library, h->n * sizeof(*s));
	if (s == NULL)
		return (hwtdi_fail_nomem(err, h->n * sizeof(*s)));
	for (size_t i = 0; i < h->n; i++)
		s[i] = (struct sorted){ key_of(&h->at[i], sort), &h->at[i],
			&h->names, i };
	rc = hwtdi_sort(h->library, s, h->n, sizeof(*s), compare, err);
	for (size_t i = 0; i < h->n; i++)
		h->order[i] = s[i].no;
	hwtdi_free(h->library, s, h->n * sizeof(*s));
	h->sorted = rc == HWTD_OK;
	return (rc);
}

/* Reading. */

void
hwtdi_histogram_add_reading(const struct hwtd_histogram *h,
    struct hwtd_histogram_info *info)
{
	const struct hwtd_calls_info *reading = &h->reading;

	info->bytes += reading->bytes;
	info->insns += reading->insns;
	info->limited += reading->limited;
	info->gap_bytes += reading->gap_bytes;
	info->file_gap_bytes += reading->file_gap_bytes;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		info->gaps[i] += reading->gaps[i];
}

int
hwtd_histogram_info(const struct hwtd_histogram *histogram,
    struct hwtd_histogram_info *out)
{
	struct hwtd_histogram_info info;

	if (histogram == NULL || out == NULL)
		return (HWTD_E_INVALID);
	info = histogram->info;
	hwtdi_histogram_add_reading(histogram, &info);
	info.size = sizeof(info);
	info.value = histogram->value;
	info.n_rows = histogram->n;
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

/* HWTD_OK, and the row if there is one. */
static int
find_row(const struct hwtd_histogram *h, uint64_t row,
    const struct hwtdi_histogram_data **out)
{
	if (h == NULL)
		return (HWTD_E_INVALID);
	if (row == HWTD_HISTOGRAM_ALL) {
		*out = &h->all;
		return (HWTD_OK);
	}
	if (!h->sorted)
		return (HWTD_E_STATE);
	if (row >= h->n_order)
		return (HWTD_END);
	*out = &h->at[h->order[row]];
	return (HWTD_OK);
}

/* Into the caller's element, which may be of another version. */
static void
put(void *out, size_t stride, size_t i, const void *from, size_t n)
{
	char *at = (char *)out + i * stride;

	memset(at, 0, stride);
	memcpy(at, from, n < stride ? n : stride);
}

static void
fill(const struct hwtd_histogram *h, const struct hwtdi_histogram_data *data,
    struct hwtd_histogram_row *out)
{
	const struct hwtdi_histogram_place *at = &data->key.at;
	const struct hwtdi_histogram_place *to = &data->key.to;
	const struct hwtdi_latency *l = &data->spread;

	memset(out, 0, sizeof(*out));
	out->function = hwtdi_text_pool_get(&h->names, at->name);
	out->image = hwtdi_text_pool_get(&h->names, at->image);
	out->to_function = hwtdi_text_pool_get(&h->names, to->name);
	out->to_image = hwtdi_text_pool_get(&h->names, to->image);
	out->address = at->address;
	out->to_address = to->address;
	out->flags = at->flags;
	if ((to->flags & HWTD_HISTOGRAM_ROWF_FILE_OFF) != 0)
		out->flags |= HWTD_HISTOGRAM_ROWF_TO_FILE_OFF;
	if ((to->flags & HWTD_HISTOGRAM_ROWF_ADDRESS) != 0)
		out->flags |= HWTD_HISTOGRAM_ROWF_TO_ADDRESS;
	if ((to->flags & HWTD_HISTOGRAM_ROWF_UNTRACED) != 0)
		out->flags |= HWTD_HISTOGRAM_ROWF_TO_UNTRACED;
	out->type = at->type;
	out->calls = data->counts.calls;
	out->n = l->n;
	out->unseen = data->counts.unseen;
	out->gapped = data->counts.gapped;
	out->switched = data->counts.switched;
	out->unknown = data->counts.unknown;
	out->inexact = data->counts.inexact;
	out->estimated = data->counts.estimated;
	out->interpolated = data->counts.interpolated;
	out->min = l->min;
	out->max = l->max;
	out->sum = l->sum;
	out->p50 = quantile(l, 500000);
	out->p90 = quantile(l, 900000);
	out->p99 = quantile(l, 990000);
	out->p999 = quantile(l, 999000);
	out->n_buckets = l->n_buckets;
}

static bool
has_room(const void *out, size_t stride, size_t cap, size_t *n_out)
{
	if (n_out != NULL)
		*n_out = 0;
	return (out != NULL && n_out != NULL && cap != 0 && stride != 0 &&
	    stride % 8 == 0);
}

int
hwtd_histogram_rows(const struct hwtd_histogram *histogram, uint64_t first,
    struct hwtd_histogram_row *out, size_t stride, size_t cap, size_t *n_out)
{
	const struct hwtdi_histogram_data *data;
	struct hwtd_histogram_row row;
	int rc;

	if (!has_room(out, stride, cap, n_out))
		return (HWTD_E_INVALID);
	rc = find_row(histogram, first, &data);
	if (rc != HWTD_OK)
		return (rc);
	do {
		fill(histogram, data, &row);
		put(out, stride, (*n_out)++, &row, sizeof(row));
	} while (first != HWTD_HISTOGRAM_ALL && *n_out < cap &&
	    find_row(histogram, first + *n_out, &data) == HWTD_OK);
	return (HWTD_OK);
}

int
hwtd_histogram_quantile(const struct hwtd_histogram *histogram, uint64_t row,
    uint32_t millionths, uint64_t *value_out)
{
	const struct hwtdi_histogram_data *data;
	int rc;

	if (value_out == NULL || millionths > 1000000)
		return (HWTD_E_INVALID);
	rc = find_row(histogram, row, &data);
	if (rc == HWTD_OK)
		*value_out = quantile(&data->spread, millionths);
	return (rc);
}

int
hwtd_histogram_buckets(const struct hwtd_histogram *histogram, uint64_t row,
    uint64_t first, struct hwtd_histogram_bucket *out, size_t stride,
    size_t cap, size_t *n_out)
{
	const struct hwtdi_histogram_data *data;
	const struct hwtdi_latency *l;
	int rc;

	if (!has_room(out, stride, cap, n_out))
		return (HWTD_E_INVALID);
	rc = find_row(histogram, row, &data);
	if (rc != HWTD_OK)
		return (rc);
	l = &data->spread;
	if (first >= l->n_buckets)
		return (HWTD_END);
	while (*n_out < cap && first + *n_out < l->n_buckets) {
		const struct hwtdi_latency_bucket
		    *b = &l->buckets[first + *n_out];
		struct hwtd_histogram_bucket bucket = { .n = b->n };

		hwtdi_latency_range(b->bucket, &bucket.first, &bucket.last);
		put(out, stride, (*n_out)++, &bucket, sizeof(bucket));
	}
	return (HWTD_OK);
}

/* Names. */

const char *
hwtd_histogram_value_name(uint32_t value)
{
	static const char *const names[HWTD_HISTOGRAM_VALUES] = { "unknown",
		"time", "running", "self", "cycles", "self-cycles", "insns",
		"self-insns", "between" };

	return (value < HWTD_HISTOGRAM_VALUES ? names[value] : "unknown");
}

const char *
hwtd_histogram_sort_name(uint32_t sort)
{
	static const char *const names[HWTD_HISTOGRAM_SORTS] = { "name", "sum",
		"calls", "mean", "max", "p50", "p99" };

	return (sort < HWTD_HISTOGRAM_SORTS ? names[sort] : "unknown");
}
