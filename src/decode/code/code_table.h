/*
 * The code table: runs of instructions that were decoded once and are named by
 * tokens from then on.
 *
 * One table belongs to one decoder and its expander, so it needs no lock.
 */
#ifndef HWTDI_CODE_TABLE_H
#define HWTDI_CODE_TABLE_H

#include <hwtdecode/event.h>

#include "base/hash.h"

/* Instructions at consecutive addresses with at most one branch, the last. */
struct hwtdi_run {
	uint64_t ip;
	/* Address of the last instruction. */
	uint64_t last_ip;
	/* Target of a direct branch; valid if `direct`. */
	uint64_t target;
	uint32_t insns;
	uint32_t bytes;
	uint32_t section;
	/*
	 * 0, or of which bytes the last instruction is, if not all of them are
	 * of the section.
	 */
	uint32_t split;
	/* Where the instruction lengths start in the table's `lengths`. */
	uint32_t lengths;
	uint8_t branch;
	uint8_t isa;
	/* HWTDI_RUN_* */
	uint8_t flags;
};

#define HWTDI_RUN_DIRECT 0x1
/* Executed in a transaction. */
#define HWTDI_RUN_SPECULATIVE 0x2
/*
 * No code, but a name for several runs: `lengths` holds their tokens, `insns`
 * is the size of those in bytes.  Never in a flow.
 */
#define HWTDI_RUN_CHAIN 0x4

struct hwtdi_code_table {
	struct hwtd_context *library;
	/* That of the context, near at hand. */
	uint64_t seed;
	struct hwtdi_run *runs;
	size_t n_runs, cap_runs;
	/* Length of each instruction of each run. */
	uint8_t *lengths;
	size_t n_lengths, cap_lengths;
	/* Open-addressed index: token + 1, 0 empty. */
	uint32_t *slots;
	size_t n_slots;
};

void hwtdi_code_table_init(struct hwtdi_code_table *table,
    struct hwtd_context *library);
void hwtdi_code_table_fini(struct hwtdi_code_table *table);
/* Forget everything; tokens handed out before are void. */
void hwtdi_code_table_clear(struct hwtdi_code_table *table);

/* Where a search begins; code can be laid out to be slow for a known hash. */
static inline size_t
hwtdi_code_table_hash(const struct hwtdi_code_table *table, uint64_t ip,
    uint64_t last_ip)
{
	return ((size_t)hwtdi_hash_pair(table->seed, ip, last_ip));
}

/* The token of the run that starts and ends so, or UINT32_MAX. */
static inline uint32_t
hwtdi_code_table_find(const struct hwtdi_code_table *table, uint64_t ip,
    uint64_t last_ip, uint32_t section, uint32_t split, uint8_t isa,
    uint8_t flags)
{
	const uint8_t key = HWTDI_RUN_SPECULATIVE | HWTDI_RUN_CHAIN;
	size_t mask = table->n_slots - 1;

	if (table->n_slots == 0)
		return (UINT32_MAX);
	for (size_t i = hwtdi_code_table_hash(table, ip, last_ip) & mask;
	     table->slots[i] != 0; i = (i + 1) & mask) {
		const struct hwtdi_run *run = &table
						   ->runs[table->slots[i] - 1];

		if (run->ip == ip && run->last_ip == last_ip &&
		    run->section == section && run->split == split &&
		    run->isa == isa && (run->flags & key) == flags)
			return (table->slots[i] - 1);
	}
	return (UINT32_MAX);
}

/*
 * Add a run with the lengths of its instructions.
 * HWTD_OK, HWTD_E_NOMEM, or HWTD_E_LIMIT.
 */
int hwtdi_code_table_add(struct hwtdi_code_table *table,
    const struct hwtdi_run *run, const uint8_t *lengths, uint32_t *token_out,
    struct hwtd_error *err);

#endif /* HWTDI_CODE_TABLE_H */
