/*
 * Files of raw trace bytes: one stream without anything beside it.
 */
#ifndef HWTDI_RAW_H
#define HWTDI_RAW_H

#include "trace/trace_internal.h"

/*
 * Make the file of `trace` one stream.  HWTD_E_UNRECOGNIZED if nothing in it
 * says which technology it is and opts->tech does not either.
 */
int hwtdi_raw_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err);

#endif /* HWTDI_RAW_H */
