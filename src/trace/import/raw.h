/*
 * Files of raw trace bytes: one stream without anything beside it, or one for
 * each file of a thread.
 */
#ifndef HWTDI_RAW_H
#define HWTDI_RAW_H

#include "trace/import/file_family.h"
#include "trace/trace_internal.h"

/* Which files they are. */
struct hwtdi_raw_how {
	/* Of more than one: their names without the number; the first is open. */
	const char *prefix;
	const struct hwtdi_file_family *family;
};

/*
 * Make streams of the file of `trace`, or of its family.  HWTD_E_UNRECOGNIZED if
 * nothing in it says which technology it is and opts->tech does not either;
 * HWTD_E_CORRUPT: opts->map_file is not understood.
 */
int hwtdi_raw_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, const struct hwtdi_raw_how *how,
    struct hwtd_error *err);

#endif /* HWTDI_RAW_H */
