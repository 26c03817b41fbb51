/*
 * Arm SPE out of the text of perf: what `perf report -D` lists.
 */
#ifndef HWTDI_SPE_TEXT_H
#define HWTDI_SPE_TEXT_H

#include "trace/trace_internal.h"

/* Whether the file of `trace` is such a text. */
int hwtdi_spe_text_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err);

/*
 * Make streams of it: one for each CPU or thread, with an extent for each buffer.
 * Bytes that the text does not have are damage.
 */
int hwtdi_spe_text_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err);

#endif /* HWTDI_SPE_TEXT_H */
