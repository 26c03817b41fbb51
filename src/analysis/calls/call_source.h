/*
 * What layers above have to know of open calls, beside the public interface.
 */
#ifndef HWTDI_CALL_SOURCE_H
#define HWTDI_CALL_SOURCE_H

#include <hwtdecode/calls.h>
#include <hwtdecode/symbol.h>

#include "base/library.h"

/* Closed once more. */
struct hwtd_calls *hwtdi_calls_hold(struct hwtd_calls *calls);

struct hwtd_context *hwtdi_calls_library(const struct hwtd_calls *calls);

/* NULL: they are of text. */
struct hwtd_trace *hwtdi_calls_trace(const struct hwtd_calls *calls);

/* The one that named their functions, without lines; NULL: there is none. */
struct hwtd_symbolizer *hwtdi_calls_symbolizer(const struct hwtd_calls *calls);

/* The flags that they were opened with: HWTD_CALLS_*. */
uint32_t hwtdi_calls_flags(const struct hwtd_calls *calls);

/* Rows were made already. */
bool hwtdi_calls_begun(const struct hwtd_calls *calls);

#endif /* HWTDI_CALL_SOURCE_H */
