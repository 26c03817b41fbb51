/*
 * What analyses that are made of calls ask them besides.
 */
#ifndef HWTDI_CALLS_INTERNAL_H
#define HWTDI_CALLS_INTERNAL_H

#include <hwtdecode/calls.h>
#include <hwtdecode/symbol.h>

/* NULL: they are of text. */
struct hwtd_trace *hwtdi_calls_trace(const struct hwtd_calls *calls);
/* The one that named their functions, without lines; NULL: there is none. */
struct hwtd_symbolizer *hwtdi_calls_symbolizer(const struct hwtd_calls *calls);
/* HWTD_CALLS_* bits. */
uint32_t hwtdi_calls_flags(const struct hwtd_calls *calls);
/* Rows were made already. */
bool hwtdi_calls_begun(const struct hwtd_calls *calls);

#endif /* HWTDI_CALLS_INTERNAL_H */
