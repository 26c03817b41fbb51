/*
 * The file of a capture: streams, records and losses go straight into it, and are
 * counted.
 */
#ifndef HWTDI_CAPTURE_FILE_H
#define HWTDI_CAPTURE_FILE_H

#include <hwtdecode/capture.h>

#include "trace/container/hwt_writer.h"

struct hwtdi_capture_file {
	struct hwtd_context *library;
	struct hwtdi_writer *writer;
	/* Counts: streams, bytes, records, losses. */
	struct hwtd_capture_status *status;
	/* Bytes of each stream. */
	uint64_t *ends;
	size_t cap_ends;
	/* Of the last record with a time, and when records were flushed. */
	uint64_t marked_ns;
	uint64_t flushed_ns;
	bool unflushed;
};

/* `path` is written from the start.  HWTD_E_IO with EEXIST unless `replace`. */
int hwtdi_capture_file_open(struct hwtdi_capture_file *file,
    struct hwtd_context *library, const char *path, int32_t level,
    bool replace, struct hwtd_capture_status *status, struct hwtd_error *err);

/* Without finishing it; all zero is fine. */
void hwtdi_capture_file_close(struct hwtdi_capture_file *file);

int hwtdi_capture_file_stream(struct hwtdi_capture_file *file,
    const struct hwtd_stream_desc *desc, uint32_t *id_out,
    struct hwtd_error *err);

/*
 * Append bytes; what does not join begins an extent, `why` is an
 * hwtd_extent_start.
 */
int hwtdi_capture_file_bytes(struct hwtdi_capture_file *file, uint32_t stream,
    const void *bytes, size_t n, bool joins, uint32_t why,
    struct hwtd_error *err);

int hwtdi_capture_file_record(struct hwtdi_capture_file *file,
    const struct hwtd_record *record, struct hwtd_error *err);

/*
 * Records before this happened before that time, records behind it later:
 * written only if records came since the last one.
 */
int hwtdi_capture_file_mark(struct hwtdi_capture_file *file, uint64_t time_ns,
    struct hwtd_error *err);

/*
 * Count a loss (an hwtd_capture_loss) and say so in a record.  `stream`
 * HWTD_NO_ID: of none.  `count` is 1 or more.
 */
int hwtdi_capture_file_loss(struct hwtdi_capture_file *file, uint32_t loss,
    uint32_t stream, uint64_t count, struct hwtd_error *err);

/* Write what waits, if that was not done for a while. */
int hwtdi_capture_file_flush(struct hwtdi_capture_file *file, uint64_t now_ns,
    struct hwtd_error *err);

int hwtdi_capture_file_finish(struct hwtdi_capture_file *file,
    struct hwtd_error *err);

#endif /* HWTDI_CAPTURE_FILE_H */
