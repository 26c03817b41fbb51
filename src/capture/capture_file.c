/*
 * Writing the file of a capture while it runs.
 */
#include "capture/capture_file.h"

#include <string.h>

#include "base/fail.h"
#include "record/record_list.h"

/* What a killed capture may miss of its records. */
#define FLUSH_NS ((uint64_t)100000000)

int
hwtdi_capture_file_open(struct hwtdi_capture_file *file,
    struct hwtd_context *library, const char *path, int32_t level,
    bool replace, struct hwtd_capture_status *status, struct hwtd_error *err)
{
	const struct hwtdi_writer_options options = {
		.level = level,
		.in_place = true,
		.only_new = !replace,
	};

	memset(file, 0, sizeof(*file));
	file->library = library;
	file->status = status;
	return (hwtdi_writer_create(library, path, &options, &file->writer,
	    err));
}

void
hwtdi_capture_file_close(struct hwtdi_capture_file *file)
{
	if (file->library == NULL)
		return;
	hwtdi_writer_destroy(file->writer);
	hwtdi_array_free(file->library, file->ends, file->cap_ends,
	    sizeof(*file->ends));
	memset(file, 0, sizeof(*file));
}

int
hwtdi_capture_file_stream(struct hwtdi_capture_file *file,
    const struct hwtd_stream_desc *desc, uint32_t *id_out,
    struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_array_grow(file->library, &file->ends, &file->cap_ends,
	    (size_t)file->status->n_streams + 1, sizeof(*file->ends), err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_stream(file->writer, desc, id_out, err);
	if (rc != HWTD_OK)
		return (rc);
	file->ends[*id_out] = 0;
	file->status->n_streams++;
	return (HWTD_OK);
}

int
hwtdi_capture_file_bytes(struct hwtdi_capture_file *file, uint32_t stream,
    const void *bytes, size_t n, bool joins, uint32_t why,
    struct hwtd_error *err)
{
	const uint64_t end = file->ends[stream];
	int rc = HWTD_OK;

	/* The first extent needs no word if nothing is special. */
	if (!joins && (end != 0 || why != HWTD_EXTENT_NEW))
		rc = hwtdi_writer_extent(file->writer, stream, end, why, err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_bytes(file->writer, stream, bytes, n, err);
	if (rc != HWTD_OK)
		return (rc);
	file->ends[stream] += n;
	file->status->n_bytes += n;
	return (HWTD_OK);
}

int
hwtdi_capture_file_record(struct hwtdi_capture_file *file,
    const struct hwtd_record *record, struct hwtd_error *err)
{
	const int rc = hwtdi_writer_record(file->writer, record, err);

	if (rc != HWTD_OK)
		return (rc);
	file->unflushed = true;
	file->status->n_records++;
	if ((record->flags & HWTD_RECF_TIME) != 0)
		file->marked_ns = record->time_ns;
	return (HWTD_OK);
}

int
hwtdi_capture_file_mark(struct hwtdi_capture_file *file, uint64_t time_ns,
    struct hwtd_error *err)
{
	struct hwtd_record record = hwtdi_record_of(HWTD_REC_CLOCK);

	record.flags = HWTD_RECF_TIME;
	record.time_ns = time_ns;
	/* Times of records never go back. */
	if (time_ns <= file->marked_ns)
		return (HWTD_OK);
	return (hwtdi_capture_file_record(file, &record, err));
}

int
hwtdi_capture_file_loss(struct hwtdi_capture_file *file, uint32_t loss,
    uint32_t stream, uint64_t count, struct hwtd_error *err)
{
	struct hwtd_record record = hwtdi_record_of(HWTD_REC_LOST);

	record.flags = HWTD_RECF_VALUE;
	record.stream = stream;
	record.value = count;
	record.name = hwtd_capture_loss_name(loss);
	file->status->losses[loss] += count;
	return (hwtdi_capture_file_record(file, &record, err));
}

int
hwtdi_capture_file_flush(struct hwtdi_capture_file *file, uint64_t now_ns,
    struct hwtd_error *err)
{
	int rc;

	if (!file->unflushed || now_ns - file->flushed_ns < FLUSH_NS)
		return (HWTD_OK);
	rc = hwtdi_writer_flush(file->writer, err);
	if (rc == HWTD_OK) {
		file->flushed_ns = now_ns;
		file->unflushed = false;
	}
	return (rc);
}

int
hwtdi_capture_file_finish(struct hwtdi_capture_file *file,
    struct hwtd_error *err)
{
	int rc = hwtdi_writer_flush(file->writer, err);

	for (uint32_t i = 0; rc == HWTD_OK && i < file->status->n_streams; i++)
		rc = hwtdi_writer_end_stream(file->writer, i, err);
	return (rc == HWTD_OK ? hwtdi_writer_finish(file->writer, err) : rc);
}
