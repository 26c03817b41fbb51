/*
 * Trace bundles of LLDB: a JSON text that names files of Intel PT, files of
 * context switches and modules, in a folder.
 */
#ifndef HWTDI_LLDB_H
#define HWTDI_LLDB_H

#include "trace/trace_internal.h"

/* Bytes of a JSON text at the most. */
#define HWTDI_LLDB_MAX_TEXT ((uint64_t)16 << 20)

/* Say whether the file of `trace` looks like the text of a bundle. */
int hwtdi_lldb_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err);

/*
 * Fill `trace` with what the text and the files it names hold.
 *
 * HWTD_E_CORRUPT: the text breaks the schema, or a file of context switches is
 * damaged; HWTD_E_UNRECOGNIZED: it is of another type of trace; HWTD_E_IO: a
 * file of a trace cannot be read; HWTD_E_LIMIT, HWTD_E_NOMEM.
 */
int hwtdi_lldb_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err);

#endif /* HWTDI_LLDB_H */
