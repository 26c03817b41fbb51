/*
 * Tables of samples: what the files behind hwtdecode/memory.h share.
 */
#ifndef HWTDI_MEMORY_INTERNAL_H
#define HWTDI_MEMORY_INTERNAL_H

#include "analysis/memory/memory_access.h"
#include "analysis/memory/memory_producer.h"

struct hwtd_memory {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	struct hwtd_memory_options options;
	struct hwtdi_memory_code code;
	struct hwtdi_text_pool names;
	struct hwtdi_memory_rows tables[HWTD_MEMORY_TABLES];
	struct hwtdi_accesses accesses;
	struct hwtd_memory_info info;
};

static inline bool
hwtdi_memory_has(const struct hwtd_memory *memory, uint32_t table)
{
	return (table < HWTD_MEMORY_TABLES &&
	    (memory->options.tables >> table & 1) != 0);
}

/* What a sample adds to rows. */
void hwtdi_memory_digest(const struct hwtdi_memory_producer *producer,
    const struct hwtd_sample *sample, struct hwtdi_memory_digest *out);

/* Name of a data source to a family of CPUs; NULL: none is known. */
const char *hwtdi_memory_source_name(uint32_t family, bool of_stores,
    uint64_t source);

#endif /* HWTDI_MEMORY_INTERNAL_H */
