/*
 * Writing the code of mapped files into a saved trace.
 */
#ifndef HWTDI_TRACE_ARCHIVE_H
#define HWTDI_TRACE_ARCHIVE_H

#include "trace/container/hwt_writer.h"
#include "trace/trace_internal.h"

/*
 * Write what records map of named files, and their headers, as parts from which
 * a reader makes the files again.  Files of equal bytes are written once.
 * Files that are no programs are left out if `any_file` is false.
 */
int hwtdi_trace_archive(const struct hwtd_trace *trace, bool any_file,
    struct hwtdi_writer *w, struct hwtd_error *err);

#endif /* HWTDI_TRACE_ARCHIVE_H */
