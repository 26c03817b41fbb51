/*
 * Texts that are kept: each once, by number.
 */
#ifndef HWTDI_TEXT_POOL_H
#define HWTDI_TEXT_POOL_H

#include "base/index.h"

/* All zero: none.  Number 0 stands for no text. */
struct hwtdi_text_pool {
	char **at;
	size_t n, cap;
	struct hwtdi_index index;
};

/* The number of a text; 0 of NULL and "".  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_text_pool_add(struct hwtdi_text_pool *pool, struct hwtd_context *ctx,
    const char *text, uint32_t *number_out, struct hwtd_error *err);

/* NULL of 0. */
const char *hwtdi_text_pool_get(const struct hwtdi_text_pool *pool,
    uint32_t number);

/* As strcmp(), of two of them; what is no text is last. */
int hwtdi_text_pool_compare(const struct hwtdi_text_pool *pool, uint32_t a,
    uint32_t b);

void hwtdi_text_pool_fini(struct hwtdi_text_pool *pool,
    struct hwtd_context *ctx);

#endif /* HWTDI_TEXT_POOL_H */
