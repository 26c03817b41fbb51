/*
 * Histograms of calls: making them, their rows, and merging.
 */
#include "analysis/histogram/histogram_store.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

_Static_assert(sizeof(struct hwtdi_histogram_key) == 48,
    "keys have no padding");

bool
hwtdi_histogram_matches(const char *pattern, const char *text)
{
	/* Where to go on if what follows the last "*" does not fit. */
	const char *star = NULL, *from = NULL;

	while (*text != '\0') {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		if (*pattern == '?') {
			pattern++;
			text++;
			continue;
		}
		if (*pattern == '\\' && pattern[1] != '\0' &&
		    pattern[1] == *text) {
			pattern += 2;
			text++;
			continue;
		}
		if (*pattern != '\\' && *pattern == *text) {
			pattern++;
			text++;
			continue;
		}
		if (star == NULL)
			return (false);
		pattern = star;
		text = ++from;
	}
	while (*pattern == '*')
		pattern++;
	return (*pattern == '\0');
}

/* Making and giving up. */

static int
check(struct hwtd_histogram_options *o, struct hwtd_error *err)
{
	if (o->value == HWTD_HISTOGRAM_UNKNOWN)
		o->value = o->to != NULL ? HWTD_HISTOGRAM_BETWEEN
					 : HWTD_HISTOGRAM_TIME;
	if (o->value >= HWTD_HISTOGRAM_VALUES ||
	    (o->flags & ~(uint32_t)HWTD_HISTOGRAM_EXACT) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "value %u, flags %#x",
		    o->value, o->flags));
	if ((o->value == HWTD_HISTOGRAM_BETWEEN) != (o->to != NULL) ||
	    (o->to != NULL && o->function == NULL))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "of value %s it has to be said %s",
		    hwtd_histogram_value_name(o->value),
		    o->value == HWTD_HISTOGRAM_BETWEEN
			? "where it begins and where it ends"
			: "of which function, and not up to which one"));
	return (HWTD_OK);
}

static int
copy_text(struct hwtd_histogram *h, const char *text, char **out,
    struct hwtd_error *err)
{
	if (text == NULL)
		return (HWTD_OK);
	*out = hwtdi_strdup(h->library, text);
	return (*out != NULL ? HWTD_OK
			     : hwtdi_fail_nomem(err, strlen(text) + 1));
}

int
hwtd_histogram_create(struct hwtd_context *ctx,
    const struct hwtd_histogram_options *opts,
    struct hwtd_histogram **histogram_out, struct hwtd_error *err)
{
	struct hwtd_histogram_options o;
	struct hwtd_histogram *h;
	int rc;

	if (ctx == NULL || histogram_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no context or no place for the histogram"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = check(&o, err);
	if (rc != HWTD_OK)
		return (rc);
	h = hwtdi_zalloc(ctx, sizeof(*h));
	if (h == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*h)));
	h->library = hwtdi_context_hold(ctx);
	h->value = o.value;
	h->flags = o.flags;
	rc = copy_text(h, o.function, &h->function, err);
	if (rc == HWTD_OK)
		rc = copy_text(h, o.to, &h->to, err);
	if (rc != HWTD_OK) {
		hwtd_histogram_destroy(h);
		return (rc);
	}
	*histogram_out = h;
	return (HWTD_OK);
}

void
hwtd_histogram_destroy(struct hwtd_histogram *h)
{
	struct hwtd_context *library;

	if (h == NULL)
		return;
	library = h->library;
	hwtdi_histogram_end_calls(h);
	for (size_t i = 0; i < h->n; i++)
		hwtdi_latency_fini(library, &h->at[i].spread);
	hwtdi_latency_fini(library, &h->all.spread);
	hwtdi_array_free(library, h->at, h->cap, sizeof(*h->at));
	hwtdi_array_free(library, h->order, h->cap_order, sizeof(*h->order));
	hwtdi_index_fini(&h->index, library);
	hwtdi_text_pool_fini(&h->names, library);
	hwtdi_strfree(library, h->function);
	hwtdi_strfree(library, h->to);
	hwtdi_free(library, h, sizeof(*h));
	hwtd_context_destroy(library);
}

/* Rows. */

int
hwtdi_histogram_row(struct hwtd_histogram *h,
    const struct hwtdi_histogram_key *key, size_t *row_out,
    struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash(h->library, key, sizeof(*key));
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&h->index, hash, &tries, &no)) {
		if (memcmp(&h->at[no].key, key, sizeof(*key)) == 0) {
			*row_out = no;
			return (HWTD_OK);
		}
	}
	rc = hwtdi_index_reserve(&h->index, h->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(h->library, &h->at, &h->cap, h->n + 1,
		    sizeof(*h->at), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&h->index, hash, (uint32_t)h->n);
	memset(&h->at[h->n], 0, sizeof(h->at[h->n]));
	h->at[h->n].key = *key;
	*row_out = h->n++;
	return (HWTD_OK);
}

static int
put_in(struct hwtd_histogram *h, struct hwtdi_histogram_data *data,
    uint64_t value, enum hwtdi_histogram_worth worth, struct hwtd_error *err)
{
	struct hwtdi_histogram_counts *c = &data->counts;

	c->calls++;
	switch (worth) {
	case HWTDI_WORTH_UNSEEN:
		c->unseen++;
		return (HWTD_OK);
	case HWTDI_WORTH_GAPPED:
		c->gapped++;
		return (HWTD_OK);
	case HWTDI_WORTH_SWITCHED:
		c->switched++;
		return (HWTD_OK);
	case HWTDI_WORTH_UNKNOWN:
		c->unknown++;
		return (HWTD_OK);
	case HWTDI_WORTH_ESTIMATED:
		c->estimated++;
		break;
	case HWTDI_WORTH_INTERPOLATED:
		c->interpolated++;
		break;
	case HWTDI_WORTH_EXACT:
		break;
	}
	if (worth != HWTDI_WORTH_EXACT &&
	    (h->flags & HWTD_HISTOGRAM_EXACT) != 0) {
		c->inexact++;
		return (HWTD_OK);
	}
	return (hwtdi_latency_add(h->library, &data->spread, value, false,
	    err));
}

int
hwtdi_histogram_put(struct hwtd_histogram *h, size_t row, uint64_t value,
    enum hwtdi_histogram_worth worth, struct hwtd_error *err)
{
	int rc = put_in(h, &h->at[row], value, worth, err);

	return (rc != HWTD_OK ? rc : put_in(h, &h->all, value, worth, err));
}

/* Merging. */

static int
merge_data(struct hwtd_histogram *h, struct hwtdi_histogram_data *into,
    const struct hwtdi_histogram_data *from, struct hwtd_error *err)
{
	struct hwtdi_histogram_counts *a = &into->counts;
	const struct hwtdi_histogram_counts *b = &from->counts;

	a->calls += b->calls;
	a->unseen += b->unseen;
	a->gapped += b->gapped;
	a->switched += b->switched;
	a->unknown += b->unknown;
	a->inexact += b->inexact;
	a->estimated += b->estimated;
	a->interpolated += b->interpolated;
	return (hwtdi_latency_merge(h->library, &into->spread, &from->spread,
	    err));
}

/* The same place, by numbers of texts of `into`. */
static int
translate(struct hwtd_histogram *into, const struct hwtd_histogram *from,
    struct hwtdi_histogram_place *place, struct hwtd_error *err)
{
	int rc = hwtdi_text_pool_add(&into->names, into->library,
	    hwtdi_text_pool_get(&from->names, place->name), &place->name, err);

	return (rc != HWTD_OK
		? rc
		: hwtdi_text_pool_add(&into->names, into->library,
		      hwtdi_text_pool_get(&from->names, place->image),
		      &place->image, err));
}

static int
merge_row(struct hwtd_histogram *into, const struct hwtd_histogram *from,
    const struct hwtdi_histogram_data *data, struct hwtd_error *err)
{
	struct hwtdi_histogram_key key = data->key;
	size_t row;
	int rc = translate(into, from, &key.at, err);

	if (rc == HWTD_OK)
		rc = translate(into, from, &key.to, err);
	if (rc == HWTD_OK)
		rc = hwtdi_histogram_row(into, &key, &row, err);
	return (rc != HWTD_OK ? rc
			      : merge_data(into, &into->at[row], data, err));
}

static void
merge_info(struct hwtd_histogram_info *a, const struct hwtd_histogram_info *b)
{
	a->restarted += b->restarted;
	a->unfinished += b->unfinished;
	a->bytes += b->bytes;
	a->insns += b->insns;
	a->limited += b->limited;
	a->gap_bytes += b->gap_bytes;
	a->file_gap_bytes += b->file_gap_bytes;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		a->gaps[i] += b->gaps[i];
}

int
hwtd_histogram_merge(struct hwtd_histogram *into,
    const struct hwtd_histogram *from, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (into == NULL || from == NULL || into == from)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "there have to be two histograms"));
	if (into->value != from->value || into->flags != from->flags)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "value %s, flags %#x, and value %s, flags %#x",
		    hwtd_histogram_value_name(into->value), into->flags,
		    hwtd_histogram_value_name(from->value), from->flags));
	if (into->failed || from->failed || into->calls != NULL ||
	    from->calls != NULL)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "calls are not at their end, or adding failed"));
	into->sorted = false;
	for (size_t i = 0; rc == HWTD_OK && i < from->n; i++)
		rc = merge_row(into, from, &from->at[i], err);
	if (rc == HWTD_OK)
		rc = merge_data(into, &into->all, &from->all, err);
	if (rc == HWTD_OK)
		merge_info(&into->info, &from->info);
	into->failed = rc != HWTD_OK;
	return (rc);
}
