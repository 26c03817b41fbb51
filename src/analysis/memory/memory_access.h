/*
 * Who touched which byte of a cache line, and what that says of the line.
 */
#ifndef HWTDI_MEMORY_ACCESS_H
#define HWTDI_MEMORY_ACCESS_H

#include "analysis/memory/memory_table.h"

/* What accesses that are counted as one have in common. */
struct hwtdi_access_key {
	/* Row of the table of lines, and the byte of the line. */
	uint32_t line, offset;
	uint32_t pid, tid, cpu;
	/* HWTD_MEMORY_ROW_ADDRESS, HWTD_MEMORY_ROW_SOURCE. */
	uint32_t flags;
	uint64_t pc, source;
	/* An hwtdi_spe_family, which says what sources mean. */
	uint32_t family, reserved;
};

struct hwtdi_access {
	struct hwtdi_access_key key;
	uint64_t loads, stores, transfers, latency;
	struct hwtdi_memory_place place;
};

/* All zero: none. */
struct hwtdi_accesses {
	struct hwtdi_access *at;
	size_t n, cap;
	struct hwtdi_index index;
	/* By line, then as users read them. */
	uint32_t *order;
	size_t n_order, cap_order;
	/* Those that there was no room for. */
	uint64_t lost;
};

/* Add what `access` counts; HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_access_add(struct hwtdi_accesses *accesses, struct hwtd_context *ctx,
    const struct hwtdi_access *access, uint32_t max, struct hwtd_error *err);

/* Sort them, and say of each line how it is shared.  HWTD_E_NOMEM. */
int hwtdi_accesses_judge(struct hwtdi_accesses *accesses,
    struct hwtd_context *ctx, struct hwtdi_memory_rows *lines,
    struct hwtd_error *err);

void hwtdi_accesses_fini(struct hwtdi_accesses *accesses,
    struct hwtd_context *ctx);

#endif /* HWTDI_MEMORY_ACCESS_H */
