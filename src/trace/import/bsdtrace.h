/*
 * Recordings of bsdtrace: NAME.pt with bytes of Intel PT, NAME.meta with what
 * was recorded beside them, and the same of further threads as NAME-tidN.
 */
#ifndef HWTDI_BSDTRACE_H
#define HWTDI_BSDTRACE_H

#include "trace/trace_internal.h"

/* Bytes of a text at the most. */
#define HWTDI_BSDTRACE_MAX_TEXT ((uint64_t)256 << 20)

/*
 * NAME.meta, if `path` is NAME.pt and such a text is there; else NULL.  Owned:
 * hwtdi_strfree().  HWTD_E_NOMEM.
 */
int hwtdi_bsdtrace_path(struct hwtd_context *ctx, const char *path, char **out,
    struct hwtd_error *err);

/* Whether the file of `trace` is such a text. */
int hwtdi_bsdtrace_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err);

/*
 * Fill `trace`.  Lines that are damaged or not known are damage, as is a file
 * of a further thread that cannot be read.
 *
 * HWTD_E_IO: NAME.pt cannot be read; HWTD_E_LIMIT, HWTD_E_NOMEM.
 */
int hwtdi_bsdtrace_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err);

#endif /* HWTDI_BSDTRACE_H */
