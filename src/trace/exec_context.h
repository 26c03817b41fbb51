/*
 * Interned execution contexts: equal ones have one id.
 */
#ifndef HWTDI_EXEC_CONTEXT_H
#define HWTDI_EXEC_CONTEXT_H

#include <hwtdecode/trace.h>

#include "base/library.h"

/* A hostile trace could name new contexts for ever. */
#define HWTDI_MAX_EXEC_CONTEXTS (1u << 20)

struct hwtdi_exec_contexts;

int hwtdi_exec_contexts_create(struct hwtd_context *ctx,
    struct hwtdi_exec_contexts **out, struct hwtd_error *err);
void hwtdi_exec_contexts_destroy(struct hwtdi_exec_contexts *contexts);

/* Thread-safe.  HWTD_OK, HWTD_E_NOMEM or HWTD_E_LIMIT. */
int hwtdi_exec_contexts_intern(struct hwtdi_exec_contexts *contexts,
    const struct hwtd_exec_context *context, uint32_t *id_out,
    struct hwtd_error *err);

/* Thread-safe.  False if the id is not in use. */
bool hwtdi_exec_contexts_get(struct hwtdi_exec_contexts *contexts, uint32_t id,
    struct hwtd_exec_context *out);

#endif /* HWTDI_EXEC_CONTEXT_H */
