/*
 * Numbers for address spaces, by what identifies them.
 */
#ifndef HWTDI_SPACE_TABLE_H
#define HWTDI_SPACE_TABLE_H

#include "space/timeline.h"

/* Two ways to go by one bit of a key: to another branch or to a key. */
struct hwtdi_space_branch {
	uint32_t bit;
	uint32_t to[2];
};

/*
 * A binary trie: whatever the keys are, a search looks at no more branches
 * than a key has bits.
 */
struct hwtdi_space_table {
	struct hwtdi_space_key *keys;
	size_t n;
	size_t cap;
	/* n - 1 of them. */
	struct hwtdi_space_branch *branches;
	size_t cap_branches;
	uint32_t root;
};

bool hwtdi_space_table_find(const struct hwtdi_space_table *table,
    const struct hwtdi_space_key *key, uint32_t *number_out);

/* As above; a key that is not there gets the next number. */
int hwtdi_space_table_intern(struct hwtd_context *ctx,
    struct hwtdi_space_table *table, const struct hwtdi_space_key *key,
    uint32_t *number_out, struct hwtd_error *err);

void hwtdi_space_table_fini(struct hwtd_context *ctx,
    struct hwtdi_space_table *table);

#endif /* HWTDI_SPACE_TABLE_H */
