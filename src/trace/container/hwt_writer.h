/*
 * Writing .hwt files: chunk after chunk, in bounded memory.
 *
 * What was written is readable from then on, also if the writer never
 * finishes; only its index is missing then.  A writer keeps 40 bytes for each
 * chunk.
 */
#ifndef HWTDI_HWT_WRITER_H
#define HWTDI_HWT_WRITER_H

#include "trace/trace_internal.h"

struct hwtdi_writer;

struct hwtdi_writer_options {
	/* zstd level; 0: 3; negative: no compression. */
	int32_t level;
	/* Raw bytes of a stream in one chunk; 0: 1 MiB. */
	uint32_t chunk_bytes;
	/* Write under the final name from the start, for captures; else the
	 * file appears when it is finished. */
	bool in_place;
	/* Then: fail with EEXIST if there is such a file. */
	bool only_new;
};

/* Keeps `ctx` alive.  HWTD_E_INVALID, HWTD_E_IO or HWTD_E_NOMEM. */
int hwtdi_writer_create(struct hwtd_context *ctx, const char *path,
    const struct hwtdi_writer_options *opts, struct hwtdi_writer **out,
    struct hwtd_error *err);

/* Gives up what is not finished: a file that has not appeared is removed. */
void hwtdi_writer_destroy(struct hwtdi_writer *writer);

int hwtdi_writer_meta(struct hwtdi_writer *writer,
    const struct hwtdi_trace_text *text, struct hwtd_error *err);

/* The next stream; ids count from 0. */
int hwtdi_writer_stream(struct hwtdi_writer *writer,
    const struct hwtd_stream_desc *desc, uint32_t *id_out,
    struct hwtd_error *err);

/*
 * What comes next in the stream starts an extent at `start`, which is at or
 * after the end of the last one; bytes between are missing.
 */
int hwtdi_writer_extent(struct hwtdi_writer *writer, uint32_t stream,
    uint64_t start, uint32_t why, struct hwtd_error *err);

/* Append bytes to a stream; they are in the file when this returns. */
int hwtdi_writer_bytes(struct hwtdi_writer *writer, uint32_t stream,
    const void *bytes, size_t n, struct hwtd_error *err);

/* Write extents that were announced and got no bytes. */
int hwtdi_writer_end_stream(struct hwtdi_writer *writer, uint32_t stream,
    struct hwtd_error *err);

/*
 * The next image; `with_bytes` writes them too, unless the file has them: they
 * are borrowed until the writer is destroyed.  `id_out` may be NULL.
 */
int hwtdi_writer_image(struct hwtdi_writer *writer,
    const struct hwtdi_image *image, bool with_bytes, uint32_t *id_out,
    struct hwtd_error *err);

/* Say that the file of an image is that of a part that was written. */
int hwtdi_writer_same_file(struct hwtdi_writer *writer,
    const struct hwtdi_image *image, uint32_t part, struct hwtd_error *err);

/* Append a record; its ids are not checked.  It is in the file after hwtdi_writer_flush(). */
int hwtdi_writer_record(struct hwtdi_writer *writer,
    const struct hwtd_record *record, struct hwtd_error *err);
/* The same of damage that is no hole of a stream. */
int hwtdi_writer_damage(struct hwtdi_writer *writer,
    const struct hwtd_damage *damage, struct hwtd_error *err);
int hwtdi_writer_flush(struct hwtdi_writer *writer, struct hwtd_error *err);

/* Write index and end, make it durable, let the file appear. */
int hwtdi_writer_finish(struct hwtdi_writer *writer, struct hwtd_error *err);

#endif /* HWTDI_HWT_WRITER_H */
