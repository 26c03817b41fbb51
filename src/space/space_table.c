/*
 * Numbers for address spaces: a trie over an array of keys.
 */
#include "space/space_table.h"

#include <string.h>

#include "base/fail.h"

#define MAX_SPACES (1u << 28)
/* Set in a way of a branch that leads to a key. */
#define KEY 0x80000000u
#define KEY_BITS 96u

/* What does not count is made equal. */
static struct hwtdi_space_key
normal(const struct hwtdi_space_key *key)
{
	struct hwtdi_space_key k = *key;

	if (k.kind != HWTDI_SPACE_KIND_USER)
		k.pid = HWTD_NO_ID;
	if (k.kind == HWTDI_SPACE_KIND_ANY)
		k.vmid = HWTD_NO_ID;
	return (k);
}

/* 32 bits of it. */
static uint32_t
word_of(const struct hwtdi_space_key *key, uint32_t word)
{
	return (word == 0 ? key->kind : word == 1 ? key->vmid : key->pid);
}

static unsigned int
bit_of(const struct hwtdi_space_key *key, uint32_t bit)
{
	return (word_of(key, bit / 32) >> (31 - bit % 32) & 1);
}

/* The only key of the table that can be this one; there is at least one. */
static uint32_t
nearest(const struct hwtdi_space_table *table,
    const struct hwtdi_space_key *key)
{
	uint32_t at = table->root;

	while ((at & KEY) == 0) {
		const struct hwtdi_space_branch *b = &table->branches[at];

		at = b->to[bit_of(key, b->bit)];
	}
	return (at & ~KEY);
}

/* The first bit that differs; KEY_BITS if none does. */
static uint32_t
first_difference(const struct hwtdi_space_key *a,
    const struct hwtdi_space_key *b)
{
	for (uint32_t word = 0; word < KEY_BITS / 32; word++) {
		const uint32_t differs = word_of(a, word) ^ word_of(b, word);

		if (differs != 0)
			return (word * 32 + (uint32_t)__builtin_clz(differs));
	}
	return (KEY_BITS);
}

bool
hwtdi_space_table_find(const struct hwtdi_space_table *table,
    const struct hwtdi_space_key *key, uint32_t *number_out)
{
	const struct hwtdi_space_key k = normal(key);
	uint32_t number;

	if (table->n == 0)
		return (false);
	number = nearest(table, &k);
	if (first_difference(&table->keys[number], &k) != KEY_BITS)
		return (false);
	*number_out = number;
	return (true);
}

/* A new branch where the new key leaves the way of the old ones. */
static void
insert(struct hwtdi_space_table *table, uint32_t number, uint32_t bit)
{
	const struct hwtdi_space_key *key = &table->keys[number];
	const uint32_t added = number - 1;
	const unsigned int side = bit_of(key, bit);
	uint32_t *way = &table->root;

	while ((*way & KEY) == 0 && table->branches[*way].bit < bit) {
		struct hwtdi_space_branch *b = &table->branches[*way];

		way = &b->to[bit_of(key, b->bit)];
	}
	table->branches[added].bit = bit;
	table->branches[added].to[side] = number | KEY;
	table->branches[added].to[1 - side] = *way;
	*way = added;
}

int
hwtdi_space_table_intern(struct hwtd_context *ctx,
    struct hwtdi_space_table *table, const struct hwtdi_space_key *key,
    uint32_t *number_out, struct hwtd_error *err)
{
	const uint32_t number = (uint32_t)table->n;
	int rc;

	if (hwtdi_space_table_find(table, key, number_out))
		return (HWTD_OK);
	if (table->n >= MAX_SPACES)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u address spaces", MAX_SPACES));
	rc = hwtdi_array_grow(ctx, &table->keys, &table->cap, table->n + 1,
	    sizeof(*table->keys), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &table->branches,
		    &table->cap_branches, table->n + 1,
		    sizeof(*table->branches), err);
	if (rc != HWTD_OK)
		return (rc);
	table->keys[number] = normal(key);
	if (number == 0)
		table->root = KEY;
	else
		insert(table, number,
		    first_difference(&table->keys[number],
			&table->keys[nearest(table, &table->keys[number])]));
	table->n++;
	*number_out = number;
	return (HWTD_OK);
}

void
hwtdi_space_table_fini(struct hwtd_context *ctx,
    struct hwtdi_space_table *table)
{
	hwtdi_array_free(ctx, table->keys, table->cap, sizeof(*table->keys));
	hwtdi_array_free(ctx, table->branches, table->cap_branches,
	    sizeof(*table->branches));
	memset(table, 0, sizeof(*table));
}
