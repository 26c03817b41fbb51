/*
 * Trace-and-debug snapshots: a folder of texts that describe devices and trace
 * buffers, of the buffers, and of memory dumps.
 */
#ifndef HWTDI_SNAPSHOT_H
#define HWTDI_SNAPSHOT_H

#include "trace/trace_internal.h"

/* The text that lists the others. */
#define HWTDI_SNAPSHOT_NAME "snapshot.ini"

/* What one may list at the most. */
#define HWTDI_SNAPSHOT_MAX_DEVICES 4096u
#define HWTDI_SNAPSHOT_MAX_BUFFERS 1024u
#define HWTDI_SNAPSHOT_MAX_FILES 4096u

/* Warnings of one that are told; how many more there are is told behind them. */
#define HWTDI_SNAPSHOT_MAX_WARNINGS 32u

/*
 * The path of the text if `path` is a folder that has one; else NULL.
 * Owned: hwtdi_strfree().  HWTD_E_NOMEM.
 */
int hwtdi_snapshot_path(struct hwtd_context *ctx, const char *path, char **out,
    struct hwtd_error *err);

/* Say whether the file of `trace` looks like that text. */
int hwtdi_snapshot_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err);

/*
 * Fill `trace` with what the text and the files it names hold.  A file that is
 * not there is a damage, or a missing image.
 *
 * HWTD_E_CORRUPT: a text is not understood; HWTD_E_UNSUPPORTED: another
 * version; HWTD_E_LIMIT, HWTD_E_NOMEM.
 */
int hwtdi_snapshot_import(struct hwtd_trace *trace, struct hwtd_error *err);

#endif /* HWTDI_SNAPSHOT_H */
