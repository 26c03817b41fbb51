/*
 * Writing the code of mapped files into a saved trace.
 */
#ifndef HWTDI_TRACE_ARCHIVE_H
#define HWTDI_TRACE_ARCHIVE_H

#include "trace/container/hwt_writer.h"
#include "trace/trace_internal.h"

/*
 * Write what records map of a named file, and its headers, as parts from which
 * a reader makes the file again.
 */
int hwtdi_trace_archive(const struct hwtd_trace *trace, uint32_t image,
    struct hwtdi_writer *w, struct hwtd_error *err);

#endif /* HWTDI_TRACE_ARCHIVE_H */
