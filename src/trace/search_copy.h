/*
 * A copy of the caller's search options that lives as long as the trace.
 */
#ifndef HWTDI_SEARCH_COPY_H
#define HWTDI_SEARCH_COPY_H

#include <hwtdecode/image.h>

#include "base/library.h"

struct hwtdi_search {
	struct hwtd_search o;
};

/* `user` may be NULL: defaults. */
int hwtdi_search_init(struct hwtdi_search *search, struct hwtd_context *ctx,
    const struct hwtd_search *user, struct hwtd_error *err);
void hwtdi_search_fini(struct hwtdi_search *search, struct hwtd_context *ctx);

#endif /* HWTDI_SEARCH_COPY_H */
