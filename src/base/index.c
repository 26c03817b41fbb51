/*
 * An index: an open-addressed table of hashes and numbers.
 */
#include "base/index.h"

#include <string.h>

#include "base/fail.h"

#define FIRST_SLOTS 64u
/* More would not be told apart by half a hash. */
#define MAX_SLOTS ((size_t)1 << 31)

int
hwtdi_index_reserve(struct hwtdi_index *index, struct hwtd_context *ctx,
    struct hwtd_error *err)
{
	struct hwtdi_index grown = { .n = index->n };

	/* Half of the slots stay free, so that searches end soon. */
	if (index->n < index->n_slots / 2)
		return (HWTD_OK);
	if (index->n_slots >= MAX_SLOTS)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %zu things in one index", MAX_SLOTS / 2));
	grown.n_slots = index->n_slots == 0 ? FIRST_SLOTS : index->n_slots * 2;
	grown.slots = hwtdi_zalloc(ctx, grown.n_slots * sizeof(*grown.slots));
	if (grown.slots == NULL)
		return (hwtdi_fail_nomem(err,
		    grown.n_slots * sizeof(*grown.slots)));
	for (size_t i = 0; i < index->n_slots; i++) {
		size_t at = index->slots[i].hash;

		if (index->slots[i].number == 0)
			continue;
		while (grown.slots[at & (grown.n_slots - 1)].number != 0)
			at++;
		grown.slots[at & (grown.n_slots - 1)] = index->slots[i];
	}
	hwtdi_index_fini(index, ctx);
	*index = grown;
	return (HWTD_OK);
}

void
hwtdi_index_put(struct hwtdi_index *index, uint64_t hash, uint32_t number)
{
	size_t at = (uint32_t)hash;

	while (index->slots[at & (index->n_slots - 1)].number != 0)
		at++;
	index->slots[at & (index->n_slots - 1)].hash = (uint32_t)hash;
	index->slots[at & (index->n_slots - 1)].number = number + 1;
	index->n++;
}

bool
hwtdi_index_next(const struct hwtdi_index *index, uint64_t hash,
    size_t *tries_inout, uint32_t *number_out)
{
	while (index->n_slots > 0) {
		const size_t at = ((uint32_t)hash + (*tries_inout)++) &
		    (index->n_slots - 1);

		if (index->slots[at].number == 0)
			return (false);
		if (index->slots[at].hash != (uint32_t)hash)
			continue;
		*number_out = index->slots[at].number - 1;
		return (true);
	}
	return (false);
}

void
hwtdi_index_fini(struct hwtdi_index *index, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, index->slots, index->n_slots,
	    sizeof(*index->slots));
	memset(index, 0, sizeof(*index));
}
