/*
 * The code table: interned runs of instructions, found by where they start
 * and end.
 */
#include "decode/code/code_table.h"

#include <string.h>

#include "base/fail.h"

/* Tokens stay below this, so that a hostile trace cannot fill the memory. */
#define MAX_RUNS ((size_t)1 << 24)

void
hwtdi_code_table_init(struct hwtdi_code_table *table,
    struct hwtd_context *library)
{
	memset(table, 0, sizeof(*table));
	table->library = library;
	table->seed = library->seed;
}

void
hwtdi_code_table_fini(struct hwtdi_code_table *table)
{
	struct hwtd_context *library = table->library;

	hwtdi_array_free(library, table->runs, table->cap_runs,
	    sizeof(*table->runs));
	hwtdi_array_free(library, table->lengths, table->cap_lengths, 1);
	hwtdi_array_free(library, table->slots, table->n_slots,
	    sizeof(*table->slots));
	memset(table, 0, sizeof(*table));
}

void
hwtdi_code_table_clear(struct hwtdi_code_table *table)
{
	table->n_runs = 0;
	table->n_lengths = 0;
	if (table->slots != NULL)
		memset(table->slots, 0,
		    table->n_slots * sizeof(*table->slots));
}

static void
place(struct hwtdi_code_table *table, uint32_t token)
{
	const struct hwtdi_run *run = &table->runs[token];
	size_t mask = table->n_slots - 1;
	size_t i = hwtdi_code_table_hash(table, run->ip, run->last_ip) & mask;

	while (table->slots[i] != 0)
		i = (i + 1) & mask;
	table->slots[i] = token + 1;
}

/* Keep at least half of the slots free. */
static int
grow_slots(struct hwtdi_code_table *table, struct hwtd_error *err)
{
	uint32_t *slots;
	size_t n = table->n_slots == 0 ? 1024 : table->n_slots * 2;

	if (table->n_runs * 2 < table->n_slots)
		return (HWTD_OK);
	slots = hwtdi_zalloc(table->library, n * sizeof(*slots));
	if (slots == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*slots)));
	hwtdi_array_free(table->library, table->slots, table->n_slots,
	    sizeof(*slots));
	table->slots = slots;
	table->n_slots = n;
	for (size_t i = 0; i < table->n_runs; i++)
		place(table, (uint32_t)i);
	return (HWTD_OK);
}

int
hwtdi_code_table_add(struct hwtdi_code_table *table,
    const struct hwtdi_run *run, const uint8_t *lengths, uint32_t *token_out,
    struct hwtd_error *err)
{
	struct hwtdi_run *r;
	int rc;

	if (table->n_runs >= MAX_RUNS)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %zu different runs of code", MAX_RUNS));
	rc = hwtdi_array_grow(table->library, &table->runs, &table->cap_runs,
	    table->n_runs + 1, sizeof(*table->runs), err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_array_grow(table->library, &table->lengths,
	    &table->cap_lengths, table->n_lengths + run->insns, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = grow_slots(table, err);
	if (rc != HWTD_OK)
		return (rc);
	r = &table->runs[table->n_runs];
	*r = *run;
	r->lengths = (uint32_t)table->n_lengths;
	memcpy(table->lengths + table->n_lengths, lengths, run->insns);
	table->n_lengths += run->insns;
	*token_out = (uint32_t)table->n_runs++;
	place(table, *token_out);
	return (HWTD_OK);
}
