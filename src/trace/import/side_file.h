/*
 * Files beside the one that was opened, named by it.
 */
#ifndef HWTDI_SIDE_FILE_H
#define HWTDI_SIDE_FILE_H

#include "trace/trace_internal.h"

/* All bytes of a regular file. */
struct hwtdi_side_file {
	uint8_t *bytes;
	size_t n;
};

/*
 * "name" in the folder of `beside`, or `name` itself if it starts with '/'; in
 * either case with a '/' in it.  Owned: hwtdi_strfree().
 */
int hwtdi_side_path(struct hwtd_context *ctx, const char *beside,
    const char *name, char **out, struct hwtd_error *err);

/*
 * Read a file named like that and note it in the trace.  HWTD_E_IO (missing,
 * no regular file, not as empty as it claims), HWTD_E_LIMIT (larger than
 * `most`, max_alloc or max_memory), HWTD_E_NOMEM.
 */
int hwtdi_side_file_read(struct hwtdi_side_file *file,
    struct hwtd_trace *trace, const char *name, uint64_t most,
    struct hwtd_error *err);

/*
 * The same of code that a program made, or of names of code, at a path as it is:
 * wherever it lies, it may be saved with the trace, as that of programs may.
 */
int hwtdi_side_code_read(struct hwtdi_side_file *file,
    struct hwtd_trace *trace, const char *path, uint64_t most,
    struct hwtd_error *err);

/* The same of a path that is not named by the file that was opened. */
int hwtdi_side_file_read_as(struct hwtdi_side_file *file,
    struct hwtd_trace *trace, const char *path, struct hwtd_error *err);
void hwtdi_side_file_fini(struct hwtdi_side_file *file,
    struct hwtd_context *ctx);

/*
 * Open a file at a path as it is, for stretches, and note it in the trace; it
 * stays open.  `no_out` is the `room` of stretches in it.  HWTD_E_IO,
 * HWTD_E_NOMEM.
 */
int hwtdi_side_bytes_open(struct hwtd_trace *trace, const char *path,
    uint32_t *no_out, struct hwtd_error *err);

/* All bytes of such a file, 0: of that of the trace, behind those of a stream. */
int hwtdi_side_bytes_place(struct hwtd_trace *trace, uint32_t stream,
    uint32_t no, struct hwtd_error *err);

/* Whether a file is in the folder of another; links count for what they name. */
bool hwtdi_side_is_beside(const char *beside, const char *path);

#endif /* HWTDI_SIDE_FILE_H */
