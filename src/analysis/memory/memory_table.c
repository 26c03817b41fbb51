/*
 * A table of samples.
 */
#include "analysis/memory/memory_table.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

_Static_assert(HWTDI_MEMORY_COUNTS <= 64, "a digest has a bit for each");
_Static_assert(sizeof(struct hwtdi_memory_key) == 40, "keys have no padding");

static int
make(struct hwtdi_memory_rows *rows, struct hwtd_context *ctx,
    const struct hwtdi_memory_key *key, struct hwtdi_memory_data **out,
    struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_array_grow(ctx, &rows->at, &rows->cap, rows->n + 1,
	    sizeof(*rows->at), err);
	if (rc != HWTD_OK)
		return (rc);
	*out = &rows->at[rows->n++];
	memset(*out, 0, sizeof(**out));
	(*out)->key = *key;
	(*out)->address = UINT64_MAX;
	return (HWTD_OK);
}

static int
other(struct hwtdi_memory_rows *rows, struct hwtd_context *ctx,
    struct hwtdi_memory_data **out, struct hwtd_error *err)
{
	const struct hwtdi_memory_key key = { .flags = HWTD_MEMORY_ROW_OTHER };
	int rc = HWTD_OK;

	if (rows->other_plus_1 != 0) {
		*out = &rows->at[rows->other_plus_1 - 1];
		return (HWTD_OK);
	}
	rc = make(rows, ctx, &key, out, err);
	if (rc == HWTD_OK)
		rows->other_plus_1 = rows->n;
	return (rc);
}

int
hwtdi_memory_row(struct hwtdi_memory_rows *rows, struct hwtd_context *ctx,
    const struct hwtdi_memory_key *key, uint32_t max,
    struct hwtdi_memory_data **out, struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash(ctx, key, sizeof(*key));
	size_t tries = 0;
	uint32_t no;
	int rc;

	rows->sorted = false;
	if ((key->flags & HWTD_MEMORY_ROW_OTHER) != 0)
		return (other(rows, ctx, out, err));
	while (hwtdi_index_next(&rows->index, hash, &tries, &no)) {
		*out = &rows->at[no];
		if (memcmp(&(*out)->key, key, sizeof(*key)) == 0)
			return (HWTD_OK);
	}
	if (rows->n - (rows->other_plus_1 != 0) >= max)
		return (other(rows, ctx, out, err));
	rc = hwtdi_index_reserve(&rows->index, ctx, err);
	if (rc == HWTD_OK)
		rc = make(rows, ctx, key, out, err);
	if (rc == HWTD_OK)
		hwtdi_index_put(&rows->index, hash, (uint32_t)(rows->n - 1));
	return (rc);
}

int
hwtdi_memory_row_add(struct hwtd_context *ctx, struct hwtdi_memory_data *row,
    const struct hwtdi_memory_digest *digest, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < HWTD_MEMORY_LATENCIES; i++)
		if ((digest->told >> i & 1) != 0)
			rc = hwtdi_latency_add(ctx, &row->latency[i],
			    digest->cycles[i],
			    (digest->saturated >> i & 1) != 0, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < HWTDI_MEMORY_COUNTS; i++)
		row->counts[i] += digest->counts >> i & 1;
	row->weight += digest->weight;
	return (HWTD_OK);
}

int
hwtdi_memory_row_merge(struct hwtd_context *ctx, struct hwtdi_memory_data *row,
    const struct hwtdi_memory_data *from, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < HWTD_MEMORY_LATENCIES; i++)
		rc = hwtdi_latency_merge(ctx, &row->latency[i],
		    &from->latency[i], err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < HWTDI_MEMORY_COUNTS; i++)
		row->counts[i] += from->counts[i];
	row->weight += from->weight;
	return (HWTD_OK);
}

void
hwtdi_memory_row_place(struct hwtdi_memory_data *row, uint64_t address,
    const struct hwtdi_memory_place *place)
{
	if (address > row->address)
		return;
	row->address = address;
	row->place = *place;
}

void
hwtdi_memory_rows_fini(struct hwtdi_memory_rows *rows,
    struct hwtd_context *ctx)
{
	for (size_t i = 0; i < rows->n; i++)
		for (size_t k = 0; k < HWTD_MEMORY_LATENCIES; k++)
			hwtdi_latency_fini(ctx, &rows->at[i].latency[k]);
	hwtdi_array_free(ctx, rows->at, rows->cap, sizeof(*rows->at));
	hwtdi_array_free(ctx, rows->order, rows->cap_order,
	    sizeof(*rows->order));
	hwtdi_index_fini(&rows->index, ctx);
	memset(rows, 0, sizeof(*rows));
}
