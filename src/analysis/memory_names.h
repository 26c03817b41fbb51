/*
 * Names that outlive the trace they come from: each text once, by number.
 */
#ifndef HWTDI_MEMORY_NAMES_H
#define HWTDI_MEMORY_NAMES_H

#include "base/index.h"

/* All zero: none.  Number 0 stands for no name. */
struct hwtdi_memory_names {
	char **at;
	size_t n, cap;
	struct hwtdi_index index;
};

/* The number of a text; 0 of NULL and "".  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_memory_names_add(struct hwtdi_memory_names *names,
    struct hwtd_context *ctx, const char *text, uint32_t *number_out,
    struct hwtd_error *err);

/* NULL of 0. */
const char *hwtdi_memory_name(const struct hwtdi_memory_names *names,
    uint32_t number);

void hwtdi_memory_names_fini(struct hwtdi_memory_names *names,
    struct hwtd_context *ctx);

#endif /* HWTDI_MEMORY_NAMES_H */
