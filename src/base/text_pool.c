/*
 * Texts by number.
 */
#include "base/text_pool.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

int
hwtdi_text_pool_add(struct hwtdi_text_pool *pool, struct hwtd_context *ctx,
    const char *text, uint32_t *number_out, struct hwtd_error *err)
{
	size_t tries = 0;
	uint64_t hash;
	char *copy;
	int rc;

	*number_out = 0;
	if (text == NULL || text[0] == '\0')
		return (HWTD_OK);
	hash = hwtdi_hash(ctx, text, strlen(text));
	while (hwtdi_index_next(&pool->index, hash, &tries, number_out))
		if (strcmp(pool->at[*number_out - 1], text) == 0)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&pool->index, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &pool->at, &pool->cap, pool->n + 1,
		    sizeof(*pool->at), err);
	if (rc != HWTD_OK)
		return (rc);
	copy = hwtdi_strdup(ctx, text);
	if (copy == NULL)
		return (hwtdi_fail_nomem(err, strlen(text) + 1));
	pool->at[pool->n++] = copy;
	*number_out = (uint32_t)pool->n;
	hwtdi_index_put(&pool->index, hash, *number_out);
	return (HWTD_OK);
}

const char *
hwtdi_text_pool_get(const struct hwtdi_text_pool *pool, uint32_t number)
{
	return (number == 0 ? NULL : pool->at[number - 1]);
}

int
hwtdi_text_pool_compare(const struct hwtdi_text_pool *pool, uint32_t a,
    uint32_t b)
{
	if (a == b)
		return (0);
	if (a == 0 || b == 0)
		return (a == 0 ? 1 : -1);
	return (strcmp(hwtdi_text_pool_get(pool, a),
	    hwtdi_text_pool_get(pool, b)));
}

void
hwtdi_text_pool_fini(struct hwtdi_text_pool *pool, struct hwtd_context *ctx)
{
	for (size_t i = 0; i < pool->n; i++)
		hwtdi_strfree(ctx, pool->at[i]);
	hwtdi_array_free(ctx, pool->at, pool->cap, sizeof(*pool->at));
	hwtdi_index_fini(&pool->index, ctx);
	memset(pool, 0, sizeof(*pool));
}
