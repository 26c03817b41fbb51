/*
 * What layers above have to know of open calls, beside the public interface.
 */
#ifndef HWTDI_CALL_SOURCE_H
#define HWTDI_CALL_SOURCE_H

#include <hwtdecode/calls.h>

#include "base/library.h"

struct hwtd_context *hwtdi_calls_library(const struct hwtd_calls *calls);

/* NULL: they are of text. */
struct hwtd_trace *hwtdi_calls_trace(const struct hwtd_calls *calls);

/* The flags that they were opened with: HWTD_CALLS_*. */
uint32_t hwtdi_calls_flags(const struct hwtd_calls *calls);

#endif /* HWTDI_CALL_SOURCE_H */
