/*
 * A table of samples: rows by key, and what they count.
 */
#ifndef HWTDI_MEMORY_TABLE_H
#define HWTDI_MEMORY_TABLE_H

#include <hwtdecode/memory.h>

#include "analysis/histogram/latency.h"
#include "analysis/memory/memory_code.h"

/* What a row counts.  Those of levels are the first of as many. */
enum hwtdi_memory_count {
	HWTDI_MC_SAMPLES,
	HWTDI_MC_LOADS,
	HWTDI_MC_STORES,
	HWTDI_MC_ATOMICS,
	HWTDI_MC_BRANCHES,
	HWTDI_MC_OTHERS,
	HWTDI_MC_TAKEN,
	HWTDI_MC_MISPREDICTED,
	HWTDI_MC_NOT_RETIRED,
	HWTDI_MC_EXCEPTIONS,
	HWTDI_MC_L1_ACCESSES,
	HWTDI_MC_L1_MISSES,
	HWTDI_MC_L2_ACCESSES,
	HWTDI_MC_L2_MISSES,
	HWTDI_MC_LLC_ACCESSES,
	HWTDI_MC_LLC_MISSES,
	HWTDI_MC_TLB_ACCESSES,
	HWTDI_MC_TLB_MISSES,
	HWTDI_MC_MISALIGNED,
	HWTDI_MC_REMOTE,
	HWTDI_MC_TRANSFERS,
	HWTDI_MC_MODIFIED,
	HWTDI_MC_AT_LEVEL,
	HWTDI_MC_MISSED_LEVEL = HWTDI_MC_AT_LEVEL + HWTD_MEMORY_LEVELS,
	HWTDI_MEMORY_COUNTS = HWTDI_MC_MISSED_LEVEL + HWTD_MEMORY_LEVELS
};

/* What one sample adds to each row that it belongs to. */
struct hwtdi_memory_digest {
	/* Bits by hwtdi_memory_count. */
	uint64_t counts;
	uint64_t weight;
	/* Bit n: latency n is told, and is at its limit. */
	uint32_t told, saturated;
	uint32_t cycles[HWTD_MEMORY_LATENCIES];
	/* It is a load or store and something tells where data was. */
	bool has_origin;
	uint8_t family;
};

/*
 * What makes a row: numbers whose meaning depends on the table, the same bytes
 * for the same row.  Of tables of code `name` is the image; of SYMBOL `a` is
 * the name of the symbol.
 */
struct hwtdi_memory_key {
	uint64_t a, b, c;
	uint32_t name, d, e;
	/* HWTD_MEMORY_ROW_* bits. */
	uint32_t flags;
};

struct hwtdi_memory_line {
	uint32_t sharing, users, writers, cpus;
	/* Its accesses as they are sorted, [first, end). */
	uint32_t first, end;
};

struct hwtdi_memory_data {
	struct hwtdi_memory_key key;
	uint64_t counts[HWTDI_MEMORY_COUNTS];
	uint64_t weight;
	struct hwtdi_latency latency[HWTD_MEMORY_LATENCIES];
	/* Code: of the lowest address. */
	uint64_t address;
	struct hwtdi_memory_place place;
	/* When sorted by sharing. */
	struct hwtdi_memory_line line;
};

/* All zero: empty. */
struct hwtdi_memory_rows {
	struct hwtdi_memory_data *at;
	size_t n, cap;
	struct hwtdi_index index;
	/* The row of what has no room, plus 1; 0: none. */
	size_t other_plus_1;
	/* Rows as they are sorted; fewer than there are: not sorted. */
	uint32_t *order;
	size_t n_order, cap_order;
	bool sorted;
};

/*
 * The row of a key, made if it is not there; when `max` are there, the one of
 * what has no room.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_memory_row(struct hwtdi_memory_rows *rows, struct hwtd_context *ctx,
    const struct hwtdi_memory_key *key, uint32_t max,
    struct hwtdi_memory_data **out, struct hwtd_error *err);

/* HWTD_E_NOMEM. */
int hwtdi_memory_row_add(struct hwtd_context *ctx,
    struct hwtdi_memory_data *row, const struct hwtdi_memory_digest *digest,
    struct hwtd_error *err);
int hwtdi_memory_row_merge(struct hwtd_context *ctx,
    struct hwtdi_memory_data *row, const struct hwtdi_memory_data *from,
    struct hwtd_error *err);

/* The code of a row at `address`: that of the lowest one stays. */
void hwtdi_memory_row_place(struct hwtdi_memory_data *row, uint64_t address,
    const struct hwtdi_memory_place *place);

void hwtdi_memory_rows_fini(struct hwtdi_memory_rows *rows,
    struct hwtd_context *ctx);

#endif /* HWTDI_MEMORY_TABLE_H */
