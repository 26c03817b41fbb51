/*
 * Names by number.
 */
#include "analysis/memory_names.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

int
hwtdi_memory_names_add(struct hwtdi_memory_names *names,
    struct hwtd_context *ctx, const char *text, uint32_t *number_out,
    struct hwtd_error *err)
{
	size_t tries = 0;
	uint64_t hash;
	char *copy;
	int rc;

	*number_out = 0;
	if (text == NULL || text[0] == '\0')
		return (HWTD_OK);
	hash = hwtdi_hash(ctx, text, strlen(text));
	while (hwtdi_index_next(&names->index, hash, &tries, number_out))
		if (strcmp(names->at[*number_out - 1], text) == 0)
			return (HWTD_OK);
	rc = hwtdi_index_reserve(&names->index, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &names->at, &names->cap,
		    names->n + 1, sizeof(*names->at), err);
	if (rc != HWTD_OK)
		return (rc);
	copy = hwtdi_strdup(ctx, text);
	if (copy == NULL)
		return (hwtdi_fail_nomem(err, strlen(text) + 1));
	names->at[names->n++] = copy;
	*number_out = (uint32_t)names->n;
	hwtdi_index_put(&names->index, hash, *number_out);
	return (HWTD_OK);
}

const char *
hwtdi_memory_name(const struct hwtdi_memory_names *names, uint32_t number)
{
	return (number == 0 ? NULL : names->at[number - 1]);
}

void
hwtdi_memory_names_fini(struct hwtdi_memory_names *names,
    struct hwtd_context *ctx)
{
	for (size_t i = 0; i < names->n; i++)
		hwtdi_strfree(ctx, names->at[i]);
	hwtdi_array_free(ctx, names->at, names->cap, sizeof(*names->at));
	hwtdi_index_fini(&names->index, ctx);
	memset(names, 0, sizeof(*names));
}
